"""Clocks that step back or disagree: what is said last is what holds, and nothing ends unbegun."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from reconciler import Action, Decision, Fact, Memory, SourceKind, Turn
from reconciler.domain.records.kinds import DecidedBy
from reconciler.errors import InvalidSessionError
from reconciler.testing import HashingEmbedder, ScriptedArbiter, TableEmbedder
from tests.clocks import Clock
from tests.engines import EngineUnderTest, embedded_engine

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SECONDS, MINUTES, HOUR = timedelta(seconds=2), timedelta(minutes=4), timedelta(hours=1)
CITIES = ("Pune", "Goa", "Delhi", "Agra")
DIMENSION = 8


def leaning(cosine: float, axis: int) -> list[float]:
    """A unit vector at that cosine to the first axis."""
    vector = [0.0] * DIMENSION
    vector[0], vector[axis] = cosine, sqrt(1 - cosine**2)
    return vector


TEXTS = {
    "Likes tea": leaning(1, 1),
    "Enjoys tea": leaning(0.96, 1),
    "She likes tea": leaning(0.9, 2),
    **{f"Lives in {city}": leaning(0.0, 3 + number) for number, city in enumerate(CITIES)},
}
SENTENCES = {f"The contact's city is {city}.": TEXTS[f"Lives in {city}"] for city in CITIES}
WAYS = {
    "slot": [{"text": f"Lives in {city}", "attribute": "city", "value": city} for city in CITIES],
    "threshold": [{"text": "Likes tea"}, {"text": "Enjoys tea"}],
    "midpoint": [{"text": "Likes tea"}, {"text": "She likes tea"}],
}


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def engine(kept_engine: EngineUnderTest) -> EngineUnderTest:
    """The embedded engine, and one Neo4j where the marker says so: the facade is in front."""
    return kept_engine


def opened(engine: EngineUnderTest, clock: Clock, **given: Any) -> Memory:
    embedder = TableEmbedder(TEXTS | SENTENCES, DIMENSION)
    return Memory.open(embedder=embedder, clock=clock, **engine.settings_arguments | given)


@pytest.fixture
def memory(engine: EngineUnderTest, clock: Clock) -> Iterator[Memory]:
    with opened(engine, clock) as memory:
        yield memory


def say(memory: Memory, said: dict[str, Any], contact_id: str = "alice", **given: Any) -> Decision:
    return memory.add_contact_note("crm", contact_id, **said | given)


def live(memory: Memory, contact_id: str = "alice") -> list[str]:
    return [each.fact.text for each in memory.contact("crm", contact_id).recall(limit=100)]


def chain(memory: Memory, contact_id: str = "alice") -> Sequence[Fact]:
    [only] = memory.contact("crm", contact_id).history()
    return only.facts


def unbegun(memory: Memory) -> list[Fact]:
    """Facts of any contact that end before they begin."""
    contacts = (each.contact_id for each in memory.agent("crm").contacts())
    histories = (
        history
        for contact_id in contacts
        for history in memory.contact("crm", contact_id).history()
    )
    facts = (fact for history in histories for fact in history.facts)
    return [fact for fact in facts if fact.valid_to and fact.valid_to < fact.valid_from]


PUNE, GOA, DELHI, AGRA = WAYS["slot"]


# Notes without a date


@pytest.mark.parametrize("step", [SECONDS, HOUR], ids=["two seconds", "an hour"])
def test_what_is_said_last_holds_although_the_clock_stepped_back(
    memory: Memory, clock: Clock, step: timedelta
) -> None:
    for way, notes in WAYS.items():
        first = say(memory, notes[0], way)
        clock.now -= step
        last = say(memory, notes[1], way)
        assert (last.action, last.superseded_ids) == (Action.UPDATE, (first.fact_id,))
        assert live(memory, way) == [last.text]
    assert not unbegun(memory)


def test_each_host_may_end_what_the_other_said_four_minutes_ahead(engine: EngineUnderTest) -> None:
    hosts = [Clock(NOON + MINUTES), Clock(NOON)]
    for number in range(4):
        host = hosts[number % 2]
        host.now += timedelta(seconds=10)
        with opened(engine, host) as memory:
            said = say(memory, WAYS["slot"][number % 4])
            assert live(memory) == [said.text]
            assert not unbegun(memory)


def test_two_hosts_at_once_on_one_server(neo4j_engine: EngineUnderTest) -> None:
    with ExitStack() as stack:
        fast, slow = (
            stack.enter_context(opened(neo4j_engine, Clock(at))) for at in (NOON + MINUTES, NOON)
        )
        for number, memory in enumerate([fast, slow] * 4):
            decided = say(memory, WAYS["slot"][number % 4])
            assert (decided.is_history, live(fast)) == (False, [decided.text])
        assert not unbegun(slow)


def test_the_decision_says_which_time_was_used(memory: Memory, clock: Clock) -> None:
    say(memory, PUNE)
    clock.now -= HOUR
    last = say(memory, GOA)
    assert (last.note.said_at, last.note.holds_from, last.at) == (NOON, NOON, clock.now)
    [new, old] = chain(memory)
    assert (new.valid_from, old.valid_to, new.last_confirmed_at) == (NOON, NOON, NOON)
    assert memory.contact("crm", "alice").decision(last.decision_id) == last


def test_a_fact_that_is_dated_ahead_within_the_allowance_is_ended_all_the_same(
    memory: Memory, clock: Clock
) -> None:
    say(memory, PUNE, valid_from=NOON + MINUTES)
    clock.now += timedelta(seconds=10)
    assert say(memory, GOA).note.holds_from == NOON + MINUTES
    assert live(memory) == [GOA["text"]]
    assert not unbegun(memory)


def test_facts_with_different_beginnings_end_together_after_the_latest(
    memory: Memory, clock: Clock
) -> None:
    say(memory, PUNE)
    say(memory, GOA, source_kind=SourceKind.APPROVED_DOC, said_at=NOON + MINUTES)
    clock.now -= HOUR
    last = say(memory, AGRA)
    assert (len(last.superseded_ids), live(memory)) == (2, [AGRA["text"]])
    spans = {(fact.text, fact.valid_from, fact.valid_to) for fact in chain(memory)}
    assert spans == {
        (AGRA["text"], NOON + MINUTES, None),
        (GOA["text"], NOON + MINUTES, NOON + MINUTES),
        (PUNE["text"], NOON, NOON + MINUTES),
    }


def test_an_arbiter_is_told_of_no_note_that_is_older_than_what_it_is_shown(
    tmp_path: Path, clock: Clock
) -> None:
    arbiter = ScriptedArbiter([])
    with opened(embedded_engine(tmp_path), clock, arbiter=arbiter) as memory:
        say(memory, WAYS["midpoint"][0])
        clock.now -= timedelta(days=1)
        say(memory, WAYS["midpoint"][1])
    [(note, shown)] = arbiter.calls
    assert note.holds_from == shown[0].valid_from == NOON


def test_whatever_the_clock_does_the_last_word_holds_and_the_chain_is_in_order_of_arrival(
    memory: Memory, clock: Clock
) -> None:
    contacts = (f"contact {number}" for number in count())

    @settings(max_examples=15)
    @given(
        way=st.sampled_from(sorted(WAYS)),
        told=st.lists(
            st.tuples(st.integers(0, 3), st.integers(-5000, 5000)), min_size=2, max_size=8
        ),
    )
    def check(way: str, told: list[tuple[int, int]]) -> None:
        contact_id, texts = next(contacts), []
        for which, seconds in told:
            clock.now = NOON + timedelta(seconds=seconds)
            texts.append(say(memory, WAYS[way][which % len(WAYS[way])], contact_id).text)
            assert live(memory, contact_id) == texts[-1:]
        facts = chain(memory, contact_id)
        assert [fact.text for fact in facts] == texts[::-1]
        assert [fact.valid_to for fact in facts[1:]] == [fact.valid_from for fact in facts[:-1]]
        assert all(new.valid_from >= old.valid_from for new, old in pairwise(facts))

    check()


# Notes with a date


def test_what_the_caller_dates_keeps_its_place_and_the_answer_says_so(
    memory: Memory, clock: Clock
) -> None:
    say(memory, PUNE)
    clock.now += HOUR
    older = say(memory, GOA, said_at=NOON - HOUR)
    assert (older.decided_by, live(memory)) == (DecidedBy.ORDER, [PUNE["text"]])
    assert older.answer.startswith("Kept as history, not as what holds now")
    assert not unbegun(memory)


# Answers, ends, imports


def test_a_yes_holds_from_then_on_although_the_clock_stepped_back(
    memory: Memory, clock: Clock
) -> None:
    held = say(memory, GOA, source_kind=SourceKind.TOOL_OUTPUT)
    say(memory, PUNE)
    clock.now -= HOUR
    yes = memory.contact("crm", "alice").confirm(held.decision_id, "contact")
    assert (held.action, yes.action, live(memory)) == (Action.HOLD, Action.UPDATE, [GOA["text"]])
    assert not unbegun(memory)


def test_what_agrees_with_a_faster_hosts_fact_is_not_asked_about(
    memory: Memory, clock: Clock
) -> None:
    say(memory, PUNE)
    clock.now -= MINUTES
    again = say(memory, PUNE, source_kind=SourceKind.TOOL_OUTPUT)
    assert (again.action, again.note.said_at) == (Action.SKIP, NOON)


def test_a_fact_is_not_revoked_before_it_began(memory: Memory, clock: Clock) -> None:
    known = say(memory, PUNE)
    clock.now -= HOUR
    assert known.fact_id is not None
    ended = memory.contact("crm", "alice").revoke(known.fact_id, by="kim", reason="Another person.")
    [fact] = chain(memory)
    assert (fact.is_live, fact.valid_to, ended.note.holds_from, ended.at) == (
        False,
        NOON,
        NOON,
        clock.now,
    )


def test_lines_of_an_import_that_nobody_dated_count_in_their_order(
    memory: Memory, clock: Clock
) -> None:
    say(memory, PUNE)
    clock.now -= HOUR
    lines = [json.dumps(said) for said in (GOA, DELHI)]
    memory.import_notes(lines, agent_id="crm", contact_id="alice")
    assert [fact.text for fact in chain(memory)] == [each["text"] for each in (DELHI, GOA, PUNE)]


# Conversations without dates


def turns(city: str, **given: Any) -> list[Turn]:
    return [Turn(role="contact", text=f"Remember that my city is {city}.", **given)]


def test_of_two_sessions_the_one_that_was_handed_over_last_holds(
    memory: Memory, clock: Clock
) -> None:
    memory.contact("crm", "alice").submit_session("first", turns("Pune"))
    clock.now -= HOUR
    memory.contact("crm", "alice").submit_session("second", turns("Goa"))
    clock.now += 2 * HOUR
    jobs = memory.drain()
    assert [job.outcomes.added + job.outcomes.superseding for job in jobs] == [1, 1]
    told = [f"The contact's city is {city}." for city in ("Goa", "Pune")]
    assert [fact.text for fact in chain(memory)] == told
    assert not unbegun(memory)


def test_what_was_said_live_after_the_hand_over_is_newer_than_the_session(
    memory: Memory, clock: Clock
) -> None:
    memory.contact("crm", "alice").submit_session("first", turns("Pune"))
    clock.now += HOUR
    say(memory, GOA, source_kind=SourceKind.USER_EXPLICIT)
    memory.drain()
    assert live(memory) == [GOA["text"]]


def test_turns_that_somebody_dated_keep_their_date(memory: Memory, clock: Clock) -> None:
    say(memory, PUNE)
    memory.contact("crm", "alice").submit_session("chat", turns("Goa", said_at=NOON - HOUR))
    memory.drain()
    assert [fact.valid_from for fact in chain(memory)] == [NOON, NOON - HOUR]


def test_turns_from_the_future_are_refused_also_where_another_host_is_ahead(
    memory: Memory, clock: Clock
) -> None:
    say(memory, PUNE)
    clock.now -= HOUR
    with pytest.raises(InvalidSessionError, match="is in the future"):
        memory.contact("crm", "alice").submit_session("chat", turns("Goa", said_at=NOON))


def test_what_a_task_logs_is_newer_than_what_it_loaded(memory: Memory, clock: Clock) -> None:
    say(memory, PUNE)
    clock.now -= HOUR
    goal = "Move the delivery"
    task = memory.contact("crm", "alice").task("move", goal=goal, keeps_outcome=False)
    task.observed()
    [first, second] = [task.log_episode(turn) for turn in turns("Goa") * 2]
    assert NOON < first.said_at < second.said_at
    task.succeed()
    [proposed] = task.propose_durable(task.episodes())
    assert task.commit(proposed.candidate, proposed.decision).decided_by is DecidedBy.SLOT


def test_a_session_that_came_by_a_clock_far_ahead_is_read_at_once(
    memory: Memory, clock: Clock
) -> None:
    ahead = timedelta(days=10)
    clock.now += ahead
    memory.contact("crm", "alice").submit_session("chat-1", [{"role": "user", "content": "Hello."}])
    clock.now -= ahead
    [job] = memory.drain()
    assert job.state == "done"


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_a_job_that_is_due_by_a_clock_far_ahead_keeps_no_one_waiting(
    memory: Memory, clock: Clock, state: str
) -> None:
    memory.contact("crm", "alice").submit_session("chat-1", [{"role": "user", "content": "Hello."}])
    due = "MATCH (job:Job) SET job.state = $state, job.attempts = 1, job.due_at = $at"
    graph = memory._services._graph
    with graph._connections.for_writing() as connection:
        at = (clock.now + timedelta(days=1)).replace(tzinfo=None)
        connection.rows(due, {"state": state, "at": at})
    assert memory.drain() == []


def test_at_the_end_of_all_times_nothing_runs_over(tmp_path: Path) -> None:
    clock = Clock(datetime(9999, 12, 31, 23, 58, tzinfo=UTC))
    own = embedded_engine(tmp_path).settings_arguments
    with Memory.open(clock=clock, embedder=HashingEmbedder(16), **own) as memory:
        contact = memory.contact("crm", "priya")
        contact.note("Likes tea", lifetime_days=30)
        contact.note("Likes tea")
        contact.note("Is said to like tea", source_kind=SourceKind.MODEL_GUESS)
        contact.submit_session("call", [{"role": "user", "content": "My city is Pune."}])
        memory.drain()
        for days in (0.5, 30, 36_500):
            contact.expiring(days=days)
            memory.agent("crm").expiring(days=days)
        contact.recall("tea")
        assert contact.briefing()
        assert contact.profile() is not None
        assert contact.history()


def test_a_line_of_the_first_or_last_day_stops_no_import(tmp_path: Path) -> None:
    dated = [
        {"text": "Is in Oslo until 5 December.", "said_at": "0001-01-01T00:00:00Z"},
        {"text": "Only for today, use the gate.", "valid_from": "9999-12-31T23:59:00Z"},
    ]
    lines = [json.dumps(said) for said in (*dated, {"text": "Likes tea."})]
    own = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(16), **own) as memory:
        outcome = memory.import_notes(lines, agent_id="crm", contact_id="alice")
    assert (outcome.added, list(outcome.errors)) == (3, [])
