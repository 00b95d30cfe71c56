"""Facts: durable memories, how they are seen by a note, by a recall and by their history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reconciler.domain.notes import SourceKind

__all__ = ["Contact", "Fact", "FactHistory", "Neighbour", "RankedFact", "Supersession"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A durable memory. Live until another fact supersedes it; kept for ever either way.

    Attributes:
        observations: how often it was said, counting its own restatements; 1 or more.
        recorded_at: when the graph learned it (UTC).
        valid_from: when it became true in the world, as far as anybody said (UTC).
        valid_to: when it stopped being true, None while live (UTC).
        last_confirmed_at: when it was last said (UTC).
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A live fact in scope with its raw cosine to a note, in [-1, 1]."""

    fact_id: str
    text: str
    cosine: float
    valid_from: datetime


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FactHistory:
    """One chain of supersession, newest fact first.

    Invariant: ``supersessions[i]`` says why ``facts[i]`` took the place of ``facts[i + 1]``.
    """

    facts: tuple[Fact, ...]
    supersessions: tuple[Supersession, ...]


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
