"""Sessions: what was said in a conversation, turn by turn. Nothing is derived from it here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from reconciler.domain.records.candidates import Evidence
from reconciler.domain.records.jobs import Outcomes
from reconciler.domain.records.messages import turns_of
from reconciler.domain.records.notes import utc
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.domain.records.turns import Role, Turn
from reconciler.errors import InvalidSessionError
from reconciler.frozen import frozen

__all__ = ["Episode", "Session", "SessionRecord", "Turn", "time_of_saying"]

_MOMENT = timedelta(microseconds=1)
"""The least difference between two times that both engines keep."""


@frozen
class Session:
    """A conversation as it is handed over, whole or as far as it went.

    Args:
        scope: the contact's.
        session_id: its id; a second hand-over under the same id adds only what is new.
        turns: in their order, at least one. A message as a dictionary, in the form of chat APIs,
            works too; it becomes one or more turns.
        channel: how it was held, for example ``chat``.
        started_at: when it began, time-zone aware; None for its first turn's time, or now.

    Raises:
        InvalidSessionError: any of the above does not hold.
    """

    scope: Scope
    session_id: str
    turns: Sequence[Turn]
    channel: str = "chat"
    started_at: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scope, Scope):
            raise InvalidSessionError("a session needs a scope: tenant, agent and contact")
        check_identifier("session_id", self.session_id, InvalidSessionError)
        check_identifier("channel", self.channel, InvalidSessionError)
        object.__setattr__(self, "turns", tuple(turns_of(self.turns or ())))
        if not self.turns:
            raise InvalidSessionError("the session is empty: hand over at least one turn")
        if self.started_at is not None:
            began = utc("started_at", self.started_at, InvalidSessionError)
            object.__setattr__(self, "started_at", began)

    @property
    def is_dated(self) -> bool:
        """Whether a caller said when it began, or when any of it was said."""
        return self.started_at is not None or any(turn.said_at for turn in self.turns)

    @property
    def character_count(self) -> int:
        """Characters of all turns together."""
        return sum(len(turn.text) for turn in self.turns)


def time_of_saying(now: datetime, heard_at: datetime | None) -> datetime:
    """When an undated statement was said: now, and after all that was heard before it.

    Clocks step back, and hosts' clocks differ. A session is read some time after it was handed
    over, so its place in the order of arrival has to be kept in its turns' times.

    Args:
        now: the time now (UTC), by this host's clock.
        heard_at: when the contact's last statement was said (UTC), by whatever clock; None for
            never.
    """
    return now if heard_at is None else max(now, heard_at + _MOMENT)


@frozen
class Episode:
    """One turn as it is kept: append-only evidence, with an id of its own.

    Attributes:
        episode_id: the same for the same turn of the same session, whenever it is handed over.
        session_id: its session.
        role: who speaks.
        text: what was said.
        said_at: when (UTC).
        position: its place in the session, from 0.
        reference: how the caller finds it again, or None.
        job_id: the job that brought it; None if none did.
        is_cleaned: whether personal data and secrets were taken out of the text.
    """

    episode_id: str
    session_id: str
    role: Role
    text: str
    said_at: datetime
    position: int
    reference: str | None = None
    job_id: str | None = None
    is_cleaned: bool = False

    def evidence(self, scope: Scope, spans: Sequence[str] = ()) -> Evidence:
        """The episode as evidence, with the words in it that support a claim."""
        return Evidence(
            episode_id=self.episode_id,
            session_id=self.session_id,
            scope=scope,
            text=self.text,
            said_at=self.said_at,
            spans=tuple(spans),
            source_kind=self.role.source_kind,
            source_reference=self.reference,
            is_cleaned=self.is_cleaned,
        )


@frozen
class SessionRecord:
    """A session as it is kept, without its turns.

    Attributes:
        session_id: its id.
        channel: how it was held.
        started_at: when its first turn was said (UTC).
        ended_at: when its last one was (UTC).
        summary: a digest by the extractor, never recalled as a fact; None if there is none.
        outcomes: what became of the candidates that all of its jobs gave.
    """

    session_id: str
    channel: str
    started_at: datetime
    ended_at: datetime
    summary: str | None
    outcomes: Outcomes
