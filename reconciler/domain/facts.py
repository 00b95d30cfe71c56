"""Facts: durable memories, how they are seen by a note, by a recall and by their history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reconciler.domain.notes import SourceKind
from reconciler.domain.slots import Slot

__all__ = [
    "Conflict",
    "Contact",
    "Fact",
    "FactHistory",
    "Neighbour",
    "Predecessor",
    "RankedFact",
    "Supersession",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A durable memory. Live until another fact supersedes it; kept for ever either way.

    Attributes:
        observations: how often it was said, counting its own restatements; 1 or more.
        recorded_at: when the graph learned it (UTC).
        valid_from: when it became true in the world, as far as anybody said (UTC).
        valid_to: when it stopped being true, None while live (UTC).
        last_confirmed_at: when it was last said (UTC).
        is_contested: whether it took the place of a fact in a to and fro.
        slot: what it answers about whom; None where nobody said.
    """

    fact_id: str
    text: str
    importance: float
    trust: SourceKind
    observations: int
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    last_confirmed_at: datetime
    is_live: bool
    is_contested: bool = False
    slot: Slot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A live fact in scope with its raw cosine to a note, in [-1, 1]."""

    fact_id: str
    text: str
    cosine: float
    valid_from: datetime
    trust: SourceKind = SourceKind.USER_EXPLICIT
    slot: Slot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    """An ended fact beneath a live one, which the live one took the place of sooner or later.

    Attributes:
        cosine: raw cosine to the note, in [-1, 1].
        slot: what it answered about whom; None where nobody said.
        was_contradicted: whether what followed it said something else, by its slot or in an
            arbiter's judgement; a midpoint does not know.
        followed_from: from when that held (UTC).
    """

    fact_id: str
    text: str
    cosine: float
    slot: Slot | None
    was_contradicted: bool
    followed_from: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedFact:
    """A recalled fact with the parts of its score, each in [0, 1] before weighting.

    ``similarity`` is None where nothing was asked for: then recency and importance rank alone.
    """

    fact: Fact
    score: float
    similarity: float | None
    recency: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """Why one fact took another's place: who decided, when, at which cosine."""

    new_id: str
    old_id: str
    cosine: float | None
    decided_by: str
    reason: str
    at: datetime
    is_restatement: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two live facts that may contradict each other, and were kept side by side."""

    new_id: str
    old_id: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FactHistory:
    """A fact that nothing superseded, and all that lies beneath it.

    Invariant: ``facts[0]`` is the head; ``supersessions[i]`` says which fact took the place of
    ``facts[i + 1]``, and why. Where one fact took the place of two, both lie beneath it.
    ``conflicts`` are those that the head is part of.
    """

    facts: tuple[Fact, ...]
    supersessions: tuple[Supersession, ...]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A contact of an agent with what is known about it, in numbers."""

    tenant: str
    agent_id: str
    contact_id: str
    name: str | None
    live_facts: int
    facts: int
    last_decision_at: datetime | None
