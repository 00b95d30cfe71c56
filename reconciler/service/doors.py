"""The doors: where notes come in from agents. Checks the input, decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from reconciler.domain.decisions import Decision
from reconciler.domain.notes import Note, SourceKind, utc
from reconciler.domain.scope import Scope
from reconciler.errors import InvalidNoteError
from reconciler.service.memory_reconciler import MemoryReconciler

__all__ = ["LIVE_DOOR", "MemoryToolset"]

LIVE_DOOR = "live"
_CLOCK_SKEW_MAX = timedelta(minutes=5)


class MemoryToolset:
    """The live door: the tools that an agent calls in the middle of a conversation.

    Args:
        reconciler: what every note goes through.
        default_tenant: the tenant of calls that name none.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        reconciler: MemoryReconciler,
        default_tenant: str,
        clock: Callable[[], datetime],
    ) -> None:
        self._reconciler = reconciler
        self._default_tenant = default_tenant
        self._clock = clock

    def add_contact_note(
        self,
        agent_id: str,
        contact_id: str,
        text: str,
        *,
        tenant: str | None = None,
        contact_name: str | None = None,
        source_kind: SourceKind | str = SourceKind.USER_EXPLICIT,
        source_reference: str | None = None,
        said_at: datetime | None = None,
        importance: float = 0.5,
        session_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Decision:
        """Remember something about a contact; the decision says what became of it.

        Args:
            agent_id: which agent remembers.
            contact_id: whom the note is about.
            text: one fact, 1 to 2,000 characters.
            tenant: whose deployment; None for the configured one.
            contact_name: how a person would call the contact.
            source_kind: whose word it is, one of ``SourceKind``.
            source_reference: where it can be looked up, for example a call or a ticket.
            said_at: when it was said, time-zone aware; None for now.
            importance: 0 to 1.
            session_id: the session that the evidence belongs to; None for one per UTC day.
            idempotency_key: the same key in a scope returns the first decision, as a replay.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used; nothing was written.
            InvalidNoteError: the note cannot be used; nothing was written.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed away; call again with the same key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        scope = Scope(self._default_tenant if tenant is None else tenant, agent_id, contact_id)
        note = Note(
            scope=scope,
            text=text,
            said_at=self._said_at(said_at),
            importance=importance,
            source_kind=source_kind,
            source_reference=source_reference,
            contact_name=contact_name,
            session_id=session_id,
            idempotency_key=idempotency_key,
        )
        return self._reconciler.reconcile(note, LIVE_DOOR)

    def _said_at(self, said_at: datetime | None) -> datetime:
        now = self._clock()
        return now if said_at is None else not_in_the_future(utc("said_at", said_at), now)


def not_in_the_future(said_at: datetime, now: datetime) -> datetime:
    """The same time, unless it has not come yet: then its zone is probably wrong.

    Raises:
        InvalidNoteError: it is more than five minutes ahead.
    """
    if said_at > now + _CLOCK_SKEW_MAX:
        raise InvalidNoteError(
            f"said_at {said_at.isoformat()} has not come yet (it is {now.isoformat()}); "
            "check its time zone"
        )
    return said_at
