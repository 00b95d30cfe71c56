"""What a memory held at an instant, against what it was seen to hold when that instant was now."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory, SourceKind
from reconciler.domain.records.facts import FactHistory
from reconciler.domain.records.kinds import FactState
from reconciler.errors import InvalidRequestError, ReconcilerError, UnknownFactError
from reconciler.testing import HashingEmbedder
from tests.clocks import Clock
from tests.tables import every

NOON = datetime(2024, 3, 9, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
INSTANTS = int(os.environ.get("INSTANTS", "72"))
"""How many random instants are compared; 1,000 take a minute or two."""
STEPS_IN_A_HISTORY = 24
BY = {"by": "dana", "reason": "She said so."}


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


def say(memory: Memory, text: str, contact_id: str = "alice", **given: Any) -> Decision:
    return memory.add_contact_note("crm", contact_id, text, **given)


def lives_in(memory: Memory, city: str, contact_id: str = "alice", **given: Any) -> Decision:
    return say(memory, f"Lives in {city}.", contact_id, attribute="city", value=city, **given)


def told(memory: Memory, at: datetime | None = None) -> dict[str, str]:
    chains = memory.contact("crm", "alice").history(at=at)
    return {fact.text: str(fact.state) for chain in chains for fact in chain.facts}


def test_at_the_very_instant_of_a_decision_it_was_made(memory: Memory, clock: Clock) -> None:
    made = lives_in(memory, "Pune")
    assert told(memory, made.at) == {"Lives in Pune.": "live"}
    assert told(memory, made.at - timedelta(microseconds=1)) == {}


@pytest.mark.on_neo4j_too
def test_a_lifetime_ends_at_its_instant(memory: Memory, clock: Clock) -> None:
    say(memory, "Is on holiday this week.", category="volatile")
    [chain] = memory.contact("crm", "alice").history()
    ends = chain.facts[0].expires_at
    assert ends is not None
    clock.on(400 * DAY)
    assert list(told(memory, ends - HOUR).values()) == [FactState.LIVE]
    assert list(told(memory, ends).values()) == [FactState.EXPIRED]


def test_the_chain_of_a_fact_that_came_later_is_not_known_then(
    memory: Memory, clock: Clock
) -> None:
    then = clock.on()
    clock.on()
    later = lives_in(memory, "Pune")
    with pytest.raises(UnknownFactError, match=r"has no fact .* at 2024"):
        memory.contact("crm", "alice").history(fact_id=later.fact_id, at=then)


@every("at", [datetime(2024, 3, 9), NOON + 2 * DAY])
def test_an_instant_has_a_zone_and_has_come(memory: Memory, at: datetime) -> None:
    with pytest.raises(InvalidRequestError):
        memory.contact("crm", "alice").history(at=at)


# What was recalled then, and what was true then


def recalled(memory: Memory, query: str = "", **at: datetime) -> list[str]:
    return [each.fact.text for each in memory.contact("crm", "alice").recall(query, **at)]


@pytest.mark.parametrize("query", ["", "Where does she live?"])
def test_a_recall_as_of_an_instant_gives_what_was_recalled_then(
    memory: Memory, clock: Clock, query: str
) -> None:
    lives_in(memory, "Pune")
    say(memory, "Never call before nine.")
    then, before = clock.on(), memory.contact("crm", "alice").recall(query)
    clock.on(40 * DAY)
    lives_in(memory, "Goa")
    assert memory.contact("crm", "alice").recall(query, as_of=then) == before
    assert "Lives in Goa." in recalled(memory, query)


def test_a_recall_of_the_past_names_the_disputes_that_were_open_then(
    memory: Memory, clock: Clock
) -> None:
    sides = [lives_in(memory, "Pune"), lives_in(memory, "Goa", source_kind=SourceKind.OPERATOR)]
    then = clock.on()
    clock.on()
    alice = memory.contact("crm", "alice")
    alice.resolve([str(each.fact_id) for each in sides], **BY)
    now = clock.on()
    assert [len(hit.disputed_with) for hit in alice.recall(as_of=then)] == [1, 1]
    assert [len(hit.disputed_with) for hit in alice.recall(as_of=now)] == [0, 0]


def test_what_was_true_at_an_instant_is_recalled_although_it_has_ended(
    memory: Memory, clock: Clock
) -> None:
    lives_in(memory, "Pune", valid_from=NOON - 100 * DAY)
    clock.on(10 * DAY)
    lives_in(memory, "Goa", valid_from=NOON - 20 * DAY)
    for query in ("", "Lives in which city?"):
        assert recalled(memory, query, valid_at=NOON - 50 * DAY) == ["Lives in Pune."]
        assert recalled(memory, query, valid_at=NOON - 20 * DAY) == ["Lives in Goa."]
    assert recalled(memory, valid_at=NOON - 101 * DAY) == []


def test_what_was_known_then_of_what_was_true_then(memory: Memory, clock: Clock) -> None:
    lives_in(memory, "Pune", valid_from=NOON - 100 * DAY)
    knew = clock.on(DAY)
    clock.on(DAY)
    lives_in(memory, "Goa", valid_from=NOON - 20 * DAY)
    then = NOON - 10 * DAY
    assert recalled(memory, valid_at=then) == ["Lives in Goa."]
    assert recalled(memory, valid_at=then, as_of=knew) == ["Lives in Pune."]


def test_what_never_was_is_true_at_no_instant(memory: Memory, clock: Clock) -> None:
    wrong = lives_in(memory, "Pune")
    then = clock.on()
    clock.on()
    memory.contact("crm", "alice").revoke(
        str(wrong.fact_id), by="dana", reason="Her sister.", never=True
    )
    assert recalled(memory, valid_at=then) == []
    assert recalled(memory, as_of=then) == ["Lives in Pune."]


def test_what_was_put_by_since_was_true_all_the_same(memory: Memory, clock: Clock) -> None:
    say(memory, "Likes green tea", category="preference", importance=0.1)
    then = clock.on()
    clock.on(300 * DAY)
    assert memory.contact("crm", "alice").archive(floor=1.0)
    assert (recalled(memory, "tea"), recalled(memory, "tea", valid_at=then)) == (
        *([], ["Likes green tea"]),
    )


def test_filters_and_limits_hold_for_the_past_too(memory: Memory, clock: Clock) -> None:
    lives_in(memory, "Pune")
    say(memory, "Likes green tea")
    then = clock.on()
    found = memory.contact("crm", "alice").recall(as_of=then, attribute="city")
    assert [each.fact.text for each in found] == ["Lives in Pune."]
    assert len(memory.contact("crm", "alice").recall(as_of=then, limit=1)) == 1


@every(
    ("name", "at"),
    [
        ("as_of", datetime(2024, 3, 9)),
        ("valid_at", datetime(2024, 3, 9)),
        ("as_of", NOON + 2 * DAY),
    ],
)
def test_an_instant_of_a_recall_has_a_zone_and_what_was_known_has_come(
    memory: Memory, name: str, at: datetime
) -> None:
    with pytest.raises(InvalidRequestError, match=name):
        recalled(memory, **{name: at})


# Random histories, seen at random instants while they went on, and asked about afterwards


def living(memory: Memory, contact_id: str) -> list[str]:
    chains = memory.contact("crm", contact_id).history()
    return [fact.fact_id for chain in chains for fact in chain.facts if fact.is_live]


class History:
    """A contact about whom all kinds of decisions are made, one after the other."""

    def __init__(self, memory: Memory, clock: Clock, drawn: random.Random, contact_id: str) -> None:
        self.memory, self.clock, self.drawn, self.contact_id = memory, clock, drawn, contact_id
        self.made: list[Decision] = []
        self.seen: list[tuple[datetime, list[FactHistory], list[str]]] = []

    def go_on(self) -> None:
        self.clock.on(self.drawn.choice([timedelta(seconds=1), HOUR, DAY, 9 * DAY]))
        try:
            self.made.append(self.drawn.choice(self.steps)())
        except (ReconcilerError, ValueError):
            return  # nothing to revoke, settle or undo just now

    def look(self) -> None:
        """Note what holds at this instant, some time after the last decision."""
        self.clock.on(
            self.drawn.choice([timedelta(microseconds=1), *5 * [HOUR], 8 * DAY, 100 * DAY])
        )
        recalled = self.memory.contact("crm", self.contact_id).recall(limit=1000)
        chains = self.memory.contact("crm", self.contact_id).history()
        self.seen.append((self.clock.now, chains, sorted(e.fact.fact_id for e in recalled)))

    @property
    def steps(self) -> list[Callable[[], Decision]]:
        memory, contact, drawn = self.memory, self.contact_id, self.drawn
        city = drawn.choice(["Pune", "Goa", "Agra"])
        long_ago = self.clock.now - drawn.choice([3, 40, 300]) * DAY
        peanuts = {"attribute": "allergy", "value": "peanuts"}
        return [
            lambda: lives_in(memory, city, contact),
            lambda: lives_in(memory, city, contact, source_kind=SourceKind.OPERATOR),
            lambda: lives_in(memory, city, contact, valid_from=long_ago),
            lambda: say(memory, "Is severely allergic to peanuts.", contact, **peanuts),
            lambda: say(memory, "Is allergic to peanuts.", contact, **peanuts),
            lambda: say(memory, "Likes green tea", contact),
            lambda: say(memory, "Likes green tea", contact, valid_from=long_ago),
            lambda: say(memory, "Is on holiday this week.", contact, category="volatile"),
            lambda: memory.contact("crm", contact).amend(
                f"Lives in {city}.", attribute="city", value=city, **BY
            ),
            lambda: memory.contact("crm", contact).revoke(
                drawn.choice(living(memory, contact) or ["none"]),
                by="dana",
                reason="She left.",
                never=drawn.random() < 0.3,
            ),
            self.resolve,
            self.archive,
            self.unarchive,
            lambda: self.undo(and_later=False),
            lambda: self.undo(and_later=True),
        ]

    def resolve(self) -> Decision:
        sides = [
            f.fact_id
            for d in self.memory.contact("crm", self.contact_id).disputes()
            for f in d.facts
        ]
        keep = self.drawn.sample(sides, min(len(sides), self.drawn.choice([1, 1, 2])))
        return self.memory.contact("crm", self.contact_id).resolve(keep, **BY)

    def archive(self) -> Decision:
        [done] = self.memory.contact("crm", self.contact_id).archive(
            floor=self.drawn.choice([0.9, 0.99])
        )
        assert done.decision is not None
        return done.decision

    def unarchive(self) -> Decision:
        chains = self.memory.contact("crm", self.contact_id).history()
        found = [f.fact_id for c in chains for f in c.facts if f.state is FactState.ARCHIVED]
        return self.memory.contact("crm", self.contact_id).unarchive(
            self.drawn.choice(found or ["none"])
        )

    def undo(self, *, and_later: bool) -> Decision:
        wrong = self.drawn.choice(self.made[-6:] or [lives_in(self.memory, "Pune")])
        return self.memory.contact("crm", self.contact_id).revert(
            wrong.decision_id, and_later=and_later, **BY
        )


def test_at_random_instants_the_memory_held_what_it_was_seen_to_hold(tmp_path: Path) -> None:
    clock, drawn = Clock(NOON), random.Random(os.environ.get("INSTANTS_SEED", "15"))
    given: dict[str, Any] = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    given |= {"life": {"use_flush_seconds": 0}}  # how often a fact was recalled is as it is now
    with Memory.open(embedder=HashingEmbedder(), clock=clock, **given) as memory:
        compared, actions = 0, set()
        while compared < INSTANTS:
            history = History(memory, clock, drawn, f"contact-{compared}")
            for _ in range(STEPS_IN_A_HISTORY):
                history.go_on()
                history.look()
            clock.on(500 * DAY)
            for at, chains, recalled in history.seen[: INSTANTS - compared]:
                held = memory.contact("crm", history.contact_id).history(at=at)
                assert held == chains
                told = [f.fact_id for chain in held for f in chain.facts if f.is_told()]
                assert sorted(told) == recalled
                then = memory.contact("crm", history.contact_id).recall(limit=1000, as_of=at)
                assert sorted(each.fact.fact_id for each in then) == recalled
            compared += len(history.seen)
            actions |= {each.action for each in history.made}
        assert {Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE, Action.REVERT} <= actions
        assert {Action.RESOLVE, Action.ARCHIVE, Action.UNARCHIVE} <= actions
