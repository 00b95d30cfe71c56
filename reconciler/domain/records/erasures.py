"""Erasures: requests to forget, what each removes, and its receipt. Pure.

The results of a backup, an export and a restore are here too, never their contents.
``check_person`` decides by the name who may answer for the contact or the agent's operator: a
person may order an erasure, and an agent may not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from reconciler.domain.records.candidates import CONTACT
from reconciler.domain.records.notes import CONTACT_SUBJECT, Scope, check_identifier
from reconciler.errors import InvalidAnswerError, InvalidRequestError
from reconciler.frozen import Json, Strings, frozen, present

ERASED = "[erased]"
"""Replaces erased words."""


class ErasureKind(StrEnum):
    """The size of an erasure: a fact, a session, an attribute or a contact."""

    CONTACT = "contact"
    FACT = "fact"
    SESSION = "session"
    ATTRIBUTE = "attribute"


class ErasureState(StrEnum):
    """The state of an erasure; an interrupted erasure continues from it."""

    PENDING = "pending"
    """Marked: no new fact is derived from the records that will be removed."""
    REMOVED = "removed"
    """Removed from the graph; the engine's files may still hold bytes of it."""
    DONE = "done"


@frozen
class ErasureTarget:
    """The target of an erasure: one fact, session or attribute of a contact, or all of it.

    Args:
        fact_id, session_id, attribute: at most one of them; none means the whole contact.
        subject: about whom the attribute is; None for the contact.

    Raises:
        InvalidRequestError: more than one is given, a subject has no attribute, or a value cannot
            be used.
    """

    fact_id: str | None = None
    session_id: str | None = None
    attribute: str | None = None
    subject: str | None = None

    def __post_init__(self) -> None:
        given = present(asdict(self))
        for name, value in given.items():
            check_identifier(name, value, InvalidRequestError)
        if len(given.keys() - {"subject"}) > 1:
            raise InvalidRequestError(
                f"{' and '.join(sorted(given))} are given; name one of fact_id, session_id and "
                "attribute, or none of them to forget the whole contact"
            )
        if self.subject is not None and self.attribute is None:
            raise InvalidRequestError("a subject needs an attribute; give both, or neither")

    @property
    def kind(self) -> ErasureKind:
        """Return the kind of the target."""
        if self.fact_id is not None:
            return ErasureKind.FACT
        if self.session_id is not None:
            return ErasureKind.SESSION
        return ErasureKind.CONTACT if self.attribute is None else ErasureKind.ATTRIBUTE

    @property
    def about(self) -> str:
        """Return the subject of an attribute."""
        return CONTACT_SUBJECT if self.subject is None else self.subject

    @property
    def kept(self) -> ErasureTarget:
        """Return the target as a finished erasure's record keeps it: ids, no words."""
        return ErasureTarget(fact_id=self.fact_id, session_id=self.session_id)


@frozen
class FactEnd:
    """How a fact ends, as in ``Fact``."""

    fact_id: str
    valid_to: datetime | None
    expires_at: datetime | None


@frozen
class ErasurePlan:
    """The ids that an erasure removes or changes. A whole contact loses everything.

    Attributes:
        fact_ids: facts to remove.
        revived_ids: facts that hold again, because their successors are removed.
        retold_ids: decisions of other sessions that only counted a removed fact, oldest first;
            their own words are decided again.
        ends: the new ends of facts that hold again, or that a removed fact would have ended.
        decision_ids: decisions that lose all words.
        quoting_ids: other decisions, which lose their reasoning because it may quote removed words.
        episodes: what is left of each episode that loses words.
        session_keys: sessions that lose their summary; their jobs lose what was read for them.
    """

    fact_ids: Strings = ()
    revived_ids: Strings = ()
    retold_ids: Strings = ()
    ends: tuple[FactEnd, ...] = ()
    decision_ids: Strings = ()
    quoting_ids: Strings = ()
    episodes: Mapping[str, str] = field(default_factory=dict)
    session_keys: Strings = ()


@frozen
class ErasureReceipt:
    """The receipt of an erasure: what was removed and checked, in numbers.

    Attributes:
        removed: how many nodes lost their words, by label.
        verified: how many texts were read again afterwards and hold no removed words.
        remaining_ids: nodes in scope that still hold words to be removed; empty if all went well.
        elsewhere_ids: nodes that stay although they hold a removed text word for word, because it
            was also said separately; the contact may want to forget those, too.
        traces: where bytes of removed texts may still be, for how long, and what to do; for a
            person.
        searched_texts: for how many removed texts the engine's own files were searched; 0 if the
            engine has no own files.
        shared_texts: how many of these are in the files because a kept record has them too, in
            whole or in part.
        texts_in_files: how many are still in the files although no kept record says them; 0 if all
            went well. Until then the erasure is not finished.
        rewrites: how many times the files were written again.
        tombstones: how many statements are held if they come again.
        is_dry_run: whether it only reports what would be removed.
    """

    removed: Mapping[str, int] = field(default_factory=dict)
    verified: int = 0
    remaining_ids: Strings = ()
    elsewhere_ids: Strings = ()
    traces: Strings = ()
    searched_texts: int = 0
    shared_texts: int = 0
    texts_in_files: int = 0
    rewrites: int = 0
    tombstones: int = 0
    is_dry_run: bool = False

    @property
    def is_clean(self) -> bool:
        """True if the checks found nothing left to remove."""
        return not (self.remaining_ids or self.texts_in_files)


@frozen
class Erasure:
    """One request to forget something, and how far it got.

    Attributes:
        erasure_id: its id; empty for a dry run, which leaves no record.
        scope: the contact's.
        target: what is forgotten. A finished erasure keeps only its ids: an attribute's name is a
            word, too.
        kind: its size.
        state: its progress.
        by: who asked for it, ``contact`` or an operator.
        reason: why; ``[erased]`` if it repeated erased words.
        started_at, finished_at: when (UTC).
        receipt: what was removed.
        plan: the records that must still be removed; None if all are removed.
    """

    erasure_id: str
    scope: Scope
    target: ErasureTarget
    kind: ErasureKind
    state: ErasureState
    by: str
    reason: str
    started_at: datetime
    finished_at: datetime | None = None
    receipt: ErasureReceipt = field(default_factory=ErasureReceipt)
    plan: ErasurePlan | None = field(default=None, repr=False)

    @property
    def is_finished(self) -> bool:
        """True if the erasure is finished."""
        return self.state is ErasureState.DONE

    def to_dict(self) -> Json:
        """As plain values, without the plan."""
        own = asdict(self)
        del own["plan"]
        return own


@frozen
class Backup:
    """The contents of a backup.

    Attributes:
        path: the archive, or the store that came out of it.
        store_bytes: how long the store's file is.
        archive_bytes: how long the archive is.
        schema_version: the version of the store's schema.
        made_at: when it was made, ISO 8601.
        hash_key: where the key of the hashes is. ``file``: in the backup. ``setting``: only in a
            setting, so a restored store needs the same setting. ``none``: the store had no key yet.
    """

    path: Path
    store_bytes: int
    archive_bytes: int
    schema_version: int
    made_at: str
    hash_key: str


@frozen
class ExportReport:
    """The counts of an export.

    Attributes:
        nodes: how many of each label.
        links: how many of each type.
        damaged_ids: records that cannot be read, each with its label. The export holds what is left
            of them without their words, so that it can be restored.
        with_keys: whether it holds the keys of the store.
    """

    nodes: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    with_keys: bool = False
    damaged_ids: list[str] = field(default_factory=list)

    @property
    def contacts(self) -> int:
        """Return the number of contacts."""
        return self.nodes["Contact"]

    def add(self, other: ExportReport) -> None:
        """Add the counts of another report."""
        self.nodes.update(other.nodes)
        self.links.update(other.links)
        self.damaged_ids.extend(other.damaged_ids)


@dataclass(slots=True, kw_only=True)
class RestoreReport:
    """The counts of a restore.

    Attributes:
        contacts: how many were written by this run.
        already_there: how many an earlier run had written.
        nodes: how many of each label this run wrote.
        links: how many of each type.
        embedded: how many facts were embedded again.
        keeps_ids: whether the store has the export's key of ids, so that it recognises earlier
            idempotency keys and turns.
        keeps_hashes: whether the store has the export's key of hashes, so that a redacted value
            gets the same token as before; None if the export does not say.
    """

    contacts: int = 0
    already_there: int = 0
    nodes: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    keeps_ids: bool = True
    keeps_hashes: bool | None = None


def plain_name(name: str) -> str:
    """Return a name without case, width, spaces and punctuation, which could hide another name."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", name).casefold())


def is_agent(name: str, scope: Scope) -> bool:
    """True if it is an agent's name; an agent may not answer for a person."""
    return plain_name(name).startswith("agent") or plain_name(name) == plain_name(scope.agent_id)


def check_person(name: str, scope: Scope) -> None:
    """Refuse a name that is neither the contact's nor an operator's.

    Args:
        name: the name of the person who is said to have answered.
        scope: the contact's and the agent's.

    Raises:
        InvalidAnswerError: the name cannot be used, is an agent's, or is another spelling of
            ``contact``.
    """
    check_identifier("by", name, InvalidAnswerError)
    if plain_name(name) == CONTACT and name != CONTACT:
        raise InvalidAnswerError(f"if the contact answered, give by={CONTACT!r}, not by={name!r}")
    if is_agent(name, scope):
        raise InvalidAnswerError(
            f"{name} is an agent, and no agent may decide this; give by={CONTACT!r} if the contact "
            "answered, else by= with an operator's name"
        )
