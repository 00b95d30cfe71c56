"""Reads and reports an open memory for the people who run it, and imports another system's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.bound_memory import BoundMemory, ContactMemory
from reconciler.domain.records.kinds import AnySourceKind, Progress, SourceKind
from reconciler.domain.records.notes import check_callable, check_flags, source_kind_of
from reconciler.errors import InvalidRequestError
from reconciler.ops.parts import parts_of

if TYPE_CHECKING:
    from pathlib import Path

    from reconciler.ops.review.health import HealthReport
    from reconciler.ports.peer_memory import PeerSystem
    from reconciler.service.writing.note_import import ImportReport


def health(
    memory: BoundMemory, *, check_records: bool = False, on_progress: Progress = lambda _: None
) -> HealthReport:
    """The health of this memory in numbers: duplicates, stale facts, open questions.

    Each contact's live facts are compared with each other, so this takes a while.

    Args:
        memory: an agent's or a contact's.
        check_records: also read every record, and count those that are damaged; this takes
            about ten times as long.
        on_progress: called with how many more contacts were read.

    Raises:
        InvalidRequestError: ``check_records`` is not true or false.
    """
    from reconciler.bootstrap.chosen_models import file_bytes, file_of_memory
    from reconciler.ops.review.health import Health

    check_flags(check_records=check_records)
    check_callable(on_progress=on_progress)
    services = parts_of(memory, BoundMemory)
    measured = services.made(
        Health,
        embedding_model=services.embedder.model_id,
        near_min=services.policy.cosine_update_min,
        file_bytes=lambda: file_bytes(file_of_memory(services.settings)),
    )
    return measured.report(
        memory._scope, memory._scopes(), on_progress, checks_records=check_records
    )


def report(memory: BoundMemory) -> str:
    """One HTML document with the timelines of facts, for an analyst.

    It also has disputes, questions and refusals. It needs no network and holds no script. It shows
    at most 2,000 facts and 100 contacts, those of the latest decisions, and says what it left out.

    Args:
        memory: an agent's or a contact's.

    Raises:
        UnknownContactError: nothing is known of the contact, or the agent has none.
    """
    from reconciler.ops.pages.report import Report

    services = parts_of(memory, BoundMemory)
    memory.check_known()
    contacts = services.records.contacts(memory._scopes())
    return services.made(Report).html(memory._scope, contacts)


def contact_page(memory: ContactMemory) -> str:
    """All that is stored about the contact, as one HTML page that a person can read and print.

    It has current and past facts, the words that they rest on, decisions in plain words, open
    questions, conversations and tasks. It needs no network and holds no script.

    Args:
        memory: the contact's.

    Raises:
        InvalidRequestError: nothing is known of the contact.
    """
    from reconciler.ops.pages.report import ContactPage

    services = parts_of(memory, ContactMemory)
    return services.made(ContactPage).html(memory.scope)


def import_from(
    memory: BoundMemory,
    system: PeerSystem,
    source: str | Path,
    *,
    contact_from: str | None = None,
    source_kind: AnySourceKind = SourceKind.OPERATOR,
    username: str = "neo4j",
    password: str = "",
    database: str | None = None,
    on_progress: Progress = lambda _: None,
) -> ImportReport:
    """Import the records of another memory system, through gate and reconciler.

    A contact's memory takes all records as its own; an agent's needs the contact in each.

    The whole source is read before anything is written. Records are imported oldest first; what
    has ended there is kept as history. Another run imports only what is new or has changed.

    Args:
        memory: an agent's or a contact's.
        system: ``mem0``, ``graphiti``, ``neo4j-agent-memory`` or ``langmem``.
        source: its export, or the URI of the Neo4j that it writes to.
        contact_from: the key of a record that names the contact, with dots between keys; None
            for ``user_id``, ``group_id``, ``user`` or ``namespace.last``, as the system has it.
        source_kind: the source that a record counts as; it decides the trust.
        username: for the Neo4j source.
        password: for the Neo4j source.
        database: of the Neo4j source; None for its default.
        on_progress: called with how many more records were processed.

    Raises:
        InvalidRequestError: the system is unknown, the source is not its export or is cut off,
            or a record does not name its contact; nothing was written.
        ConfigurationError: the Neo4j source cannot be reached.
    """
    from reconciler.ops.peers.readers import Login, import_records, peer_records
    from reconciler.ops.peers.systems import Translation

    check_callable(on_progress=on_progress)
    services, scope = parts_of(memory, BoundMemory), memory._scope
    contact_id = memory._contact_id
    if contact_id is not None and contact_from is not None:
        raise InvalidRequestError("give either a contact or contact_from, not both")
    if contact_from is not None and not isinstance(contact_from, str):
        raise InvalidRequestError(f"contact_from must be a key, not {type(contact_from).__name__}")
    how = Translation(
        contact_id=contact_id,
        contact_from=contact_from or "",
        source_kind=source_kind_of(source_kind),
        now=services.clock(),
    )
    login = Login(username, password, database)
    records = peer_records(system, str(source), how, login)
    defaults = {"tenant": scope.tenant, "agent_id": scope.agent_id}
    if contact_id is not None:
        defaults["contact_id"] = contact_id
    return import_records(services.note_import, records, defaults, on_progress)
