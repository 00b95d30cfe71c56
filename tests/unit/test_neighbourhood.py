"""A contact's live facts in this process: which ones a note is compared with, and how exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from reconciler import Action, Fact, Note, Scope
from reconciler.domain.recalling.filtering import EVERYTHING
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.reconciling.restating import observed
from reconciler.domain.reconciling.verdicts import NEIGHBOUR_COUNT_MAX
from reconciler.domain.records.notes import Slot
from reconciler.domain.records.policies import RankingPolicy
from reconciler.reading.kinds import Category
from reconciler.service.stores.commits import Commit
from reconciler.service.writing.neighbourhoods import Neighbourhood
from tests.commits import NOON, committed
from tests.records import changed
from tests.tables import every

ALICE = Scope("acme", "crm", "alice")
TICK = timedelta(microseconds=1)
DIMENSION = 8
EAST = [1.0] + [0.0] * (DIMENSION - 1)

BY_CLOSENESS = Recalling(
    ranking=RankingPolicy(
        weight_similarity=1, weight_recency=0, weight_importance=0, weight_words=0
    )
)
Vectors = NDArray[np.float32]


def at_cosine(value: float) -> list[float]:
    """A unit vector at that cosine to ``EAST``."""
    return [value, float(np.sqrt(1 - value**2))] + [0.0] * (DIMENSION - 2)


def unit_vectors(count: int, dimension: int = DIMENSION) -> Vectors:
    drawn = np.random.default_rng(count).standard_normal((count, dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def fact(fact_id: str, **given: Any) -> Fact:
    made = committed(ALICE, 0, fact_id=fact_id, text=f"Text of {fact_id}").fact
    assert made is not None
    return replace(made, **given)


def of(vectors: Sequence[Sequence[float]], **given: Any) -> Neighbourhood:
    """A neighbourhood at version 7, of the facts "0", "1" and so on."""
    held = np.asarray(vectors or np.empty((0, 0)), dtype=np.float32)
    return Neighbourhood(7, [fact(str(n), **given) for n in range(len(vectors))], held)


def add(version: int, vector: Sequence[float] = EAST, **given: Any) -> Commit:
    return committed(ALICE, version, vector, **given)


def said(slot: Slot | None = None) -> Note:
    return Note(scope=ALICE, text="Prefers email", said_at=NOON, slot=slot)


def seen(known: Neighbourhood, vector: Sequence[float] = EAST, **given: Any) -> list[str]:
    """The ids of the neighbours that a note is decided on, nearest first."""
    asked = np.asarray(vector, dtype=np.float32)
    note, now = given.get("note", said()), given.get("now", NOON)
    return [each.fact_id for each in known.look(note, asked, now)[1]]


def recalled(known: Neighbourhood, vector: Vectors) -> list[str]:
    """The ids of the facts that answer a question, nearest first."""
    return asked_of(known.recallable(), vector)


def asked_of(known: Recallable, vector: Vectors) -> list[str]:
    question = RecallQuery("Which?", vector)
    found = known.answer(question, EVERYTHING, BY_CLOSENESS, NOON, 1000)
    return [each.fact.fact_id for each in sorted(found, key=lambda each: -(each.cosine or 0.0))]


def city(value: str) -> Slot:
    return Slot(
        subject="contact",
        attribute="city",
        value=value,
        value_key=value.lower(),
        is_single_valued=True,
        is_known=True,
    )


# Which, and how near


def test_a_contact_without_facts_has_no_neighbours() -> None:
    known = Neighbourhood(0, [], np.empty((0, 0), dtype=np.float32))
    assert known.look(said(), np.asarray(EAST, dtype=np.float32), NOON) == (0, (), {})


def test_neighbours_come_nearest_first_with_their_facts_and_the_version() -> None:
    known = of([at_cosine(value) for value in (0.2, 0.9, -0.4, 0.6)])
    version, neighbours, facts = known.look(said(), np.asarray(EAST, dtype=np.float32), NOON)
    assert (version, [each.fact_id for each in neighbours]) == (7, ["1", "3", "0", "2"])
    assert facts == {str(n): fact(str(n)) for n in range(4)}


def test_a_cosine_agrees_with_numpy_in_double_precision() -> None:
    stored, dimension = unit_vectors(40, 384), 384
    known = of(stored.tolist())
    for asked in unit_vectors(20, dimension):
        for each in known.look(said(), asked, NOON)[1]:
            one, other = stored[int(each.fact_id)].astype(np.float64), asked.astype(np.float64)
            exact = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
            assert each.cosine == pytest.approx(exact, abs=1e-15)


@every("value", [1.0, 0.9501, 0.95, 0.9499, 0.5, 0.0, -0.5, -1.0])
def test_a_cosine_is_raw_from_identical_to_opposite(value: float) -> None:
    [found] = of([at_cosine(value)]).look(said(), np.asarray(EAST, dtype=np.float32), NOON)[1]
    assert found.cosine == pytest.approx(value, abs=1e-7)
    assert -1 <= found.cosine <= 1


def test_identical_vectors_have_a_cosine_of_exactly_1() -> None:
    for vector in unit_vectors(50, 384):
        [found] = of([vector.tolist()]).look(said(), vector, NOON)[1]
        assert found.cosine == pytest.approx(1.0, abs=1e-15)
        assert found.cosine <= 1


@every(
    ("expires_at", "is_expired"),
    [(None, False), (NOON + TICK, False), (NOON, True), (NOON - TICK, True)],
)
def test_a_fact_that_expired_is_compared_and_known_as_expired(
    expires_at: Any, is_expired: bool
) -> None:
    asked = np.asarray(EAST, dtype=np.float32)
    [found] = of([EAST], expires_at=expires_at).look(said(), asked, NOON)[1]
    assert (found.fact_id, found.is_expired) == ("0", is_expired)


def test_a_fact_that_ended_is_not_compared_also_where_others_expired() -> None:
    known = of([EAST, EAST], expires_at=NOON)
    ended = changed(add(7).decision, action=Action.REVOKE, targets=("0",), fact_id=None)
    known.apply(replace(add(7), decision=ended, fact=None))
    assert seen(known) == ["1"]


def test_facts_that_expired_take_no_place_of_those_that_hold() -> None:
    gone = [fact(str(n), expires_at=NOON) for n in range(NEIGHBOUR_COUNT_MAX)]
    held = np.asarray([EAST] * NEIGHBOUR_COUNT_MAX + [at_cosine(0.1)] * 5, dtype=np.float32)
    holding = [fact(f"holds {n}") for n in range(5)]
    found = seen(Neighbourhood(7, [*gone, *holding], held))
    assert (len(found), set(found) >= {each.fact_id for each in holding}) == (7, True)


def test_what_expired_is_told_until_it_is_written_as_expired() -> None:
    known = of([EAST, EAST], expires_at=NOON)
    assert (known.lapsed(NOON - TICK), known.lapsed(NOON)) == ({}, {"0": None, "1": None})
    known.apply(replace(add(7), lapsed={"0": None, "1": None}))
    assert known.lapsed(NOON + TICK) == {}


@every(("slot", "is_found"), [(city("Pune"), True), (city("Goa"), True), (None, False)])
def test_a_fact_in_the_notes_slot_is_found_behind_nearer_ones(
    slot: Slot | None, is_found: bool
) -> None:
    nearer = [fact(f"near {n}") for n in range(3 * NEIGHBOUR_COUNT_MAX)]
    held = np.asarray([EAST] * len(nearer) + [at_cosine(-0.9)], dtype=np.float32)
    known = Neighbourhood(7, [*nearer, fact("rival", slot=city("Pune"))], held)
    assert ("rival" in seen(known, note=said(slot))) is is_found


@every("expires_at", [None, NOON])
def test_what_came_of_tasks_takes_no_place_of_what_is_known(expires_at: datetime | None) -> None:
    came_of = [fact(str(n), category=Category.OUTCOME) for n in range(2 * NEIGHBOUR_COUNT_MAX)]
    came_of = [replace(each, expires_at=expires_at) for each in came_of]
    held = np.asarray([EAST] * len(came_of) + [at_cosine(0.1)], dtype=np.float32)
    known = Neighbourhood(7, [*came_of, fact("known", expires_at=expires_at)], held)
    assert seen(known) == ["known"]


def test_five_neighbours_are_kept_where_no_slot_asks_for_more() -> None:
    assert len(seen(of([EAST] * 30))) == 5


# What this process committed


def test_an_added_fact_is_a_neighbour_from_then_on() -> None:
    known = of([at_cosine(0.1)])
    assert known.apply(add(7, at_cosine(0.9), fact_id="new"))
    assert (known.version, seen(known)) == (8, ["new", "0"])


def test_a_fact_that_was_superseded_is_no_neighbour_any_more() -> None:
    known = of([EAST, at_cosine(0.1)])
    update = {"action": Action.UPDATE, "targets": ("0",)}
    known.apply(add(7, at_cosine(0.9), fact_id="new", **update))
    assert seen(known) == ["new", "1"]


def test_a_fact_that_was_revoked_is_no_neighbour_any_more() -> None:
    known = of([EAST, at_cosine(0.1)])
    known.apply(add(7, action=Action.REVOKE, fact_id=None, targets=("0",)))
    assert (known.version, seen(known)) == (8, ["1"])


def test_a_fact_that_was_said_once_more_is_as_the_commit_leaves_it() -> None:
    known, kept = of([EAST]), observed(fact("0"))
    known.apply(replace(add(7, action=Action.SKIP, fact_id="0"), kept=kept))
    _, _, facts = known.look(said(), np.asarray(EAST, dtype=np.float32), NOON)
    assert facts == {"0": kept}


def test_a_refusal_moves_the_version_alone() -> None:
    known = of([EAST])
    assert known.apply(add(7, action=Action.REJECT, fact_id=None))
    assert (known.version, seen(known)) == (8, ["0"])


def test_what_is_written_as_history_is_no_neighbour() -> None:
    known = of([EAST])
    known.apply(add(7, fact_id="old", targets=("0",), is_history=True))
    assert seen(known) == ["0"]


def test_what_has_no_vector_is_no_neighbour() -> None:
    known = of([EAST])
    known.apply(add(7, [], fact_id="raw words"))
    assert (known.version, seen(known)) == (8, ["0"])


@every("version", [6, 8])
def test_what_was_committed_on_another_version_is_not_taken_over(version: int) -> None:
    known = of([EAST])
    assert not known.apply(add(version, fact_id="new"))
    assert (known.version, seen(known)) == (7, ["0"])


def test_rows_of_facts_that_ended_are_given_up() -> None:
    known = of([EAST])
    for version in range(7, 2007):
        ended = known.look(said(), np.asarray(EAST, dtype=np.float32), NOON)[2]
        update = {"action": Action.UPDATE, "targets": tuple(ended)}
        assert known.apply(add(version, **update))
    assert len(seen(known)) == 1
    assert known.size < 50


def test_a_fork_is_of_the_same_version_and_leaves_its_original_alone() -> None:
    known = of([EAST, at_cosine(0.1)])
    known.apply(add(7, action=Action.REVOKE, fact_id=None, targets=("0",)))
    fork = known.fork()
    assert (fork.version, seen(fork)) == (8, ["1"])
    fork.apply(add(8, at_cosine(0.9), fact_id="planned"))
    assert (seen(fork), seen(known)) == (["planned", "1"], ["1"])
    assert known.apply(add(8, at_cosine(0.8), fact_id="written"))


STEPS = st.lists(st.tuples(st.sampled_from(["add", "update", "revoke", "refuse"]), st.integers(0)))


@given(STEPS, st.integers(0, 3))
def test_what_is_taken_over_in_place_is_what_a_new_look_would_find(
    steps: list[tuple[str, int]], count: int
) -> None:
    vectors = unit_vectors(count + len(steps) + 1)
    known = of(vectors[:count].tolist())
    nearest = taken_over(known, steps, count, vectors)
    assert seen(known, vectors[-1].tolist()) == nearest[:5]


@given(STEPS, st.integers(0, 3))
def test_what_is_taken_over_in_place_is_recalled_as_from_a_new_look(
    steps: list[tuple[str, int]], count: int
) -> None:
    vectors = unit_vectors(count + len(steps) + 1)
    known = of(vectors[:count].tolist())
    recalled(known, vectors[-1])
    nearest = taken_over(known, steps, count, vectors)
    assert recalled(known, vectors[-1]) == nearest


SLOTS = (None, city("Pune"), city("Goa"), city("Rome"), replace(city("Pune"), subject="wife"))
KINDS = (Category.FACT, Category.FACT, Category.OUTCOME)
TOLD = ("Lives in Goa", "Likes tea in Rome", "Went to Pune", "Goa is where the wife lives")
SAID = st.tuples(st.sampled_from(SLOTS), st.sampled_from(KINDS), st.sampled_from(TOLD))
CHANGES = st.lists(st.tuples(st.sampled_from(["add", "end", "keep"]), st.integers(0), SAID))


@given(st.lists(SAID, max_size=12), CHANGES, SAID, st.booleans())
def test_slots_and_words_are_found_as_from_a_new_look(
    first: list[Any], changes: list[Any], asked: Any, is_asked_before: bool
) -> None:
    vectors = unit_vectors(len(first) + len(changes) + 1)
    facts = {str(n): told_fact(str(n), *given_) for n, given_ in enumerate(first)}
    known = Neighbourhood(7, list(facts.values()), vectors[: len(first)])
    places = {fact_id: row for row, fact_id in enumerate(facts)}
    if is_asked_before:
        answered(known, asked, vectors[-1])
    for number, (change, drawn, given_) in enumerate(changes, start=len(first)):
        one = told_fact(str(number), *given_)
        commit = add(known.version, vectors[number].tolist(), fact_id=one.fact_id)
        commit = replace(commit, fact=one)
        live = list(facts)
        if change == "add" or not live:
            facts[one.fact_id], places[one.fact_id] = one, number
        elif change == "end":
            del facts[live[drawn % len(live)]]
            ended = changed(
                commit.decision, action=Action.UPDATE, targets=(live[drawn % len(live)],)
            )
            commit = replace(commit, decision=ended, fact=None)
        else:
            kept = replace(one, fact_id=live[drawn % len(live)])
            facts[kept.fact_id] = kept
            commit = replace(commit, kept=kept, fact=None)
        assert known.apply(commit)
    rows = np.array([places[fact_id] for fact_id in facts], dtype=np.intp)
    new_look = Neighbourhood(known.version, list(facts.values()), vectors[rows])
    assert answered(known, asked, vectors[-1]) == answered(new_look, asked, vectors[-1])


def told_fact(fact_id: str, slot: Slot | None, category: Category, text: str) -> Fact:
    return fact(fact_id, slot=slot, category=category, text=text)


def answered(known: Neighbourhood, asked: Any, vector: Vectors) -> Any:
    """What a note is compared with, and what answers a question of the same words."""
    slot, category, text = asked
    neighbours = known.look(replace(said(slot), text=text, category=category), vector, NOON)[1]
    ranking = Recalling(ranking=RankingPolicy())
    found = known.recallable().answer(RecallQuery(text, vector), EVERYTHING, ranking, NOON, 1000)
    hits = [(each.fact, pytest.approx(each.score), each.words) for each in found]
    return [(each.fact_id, each.cosine) for each in neighbours], hits


def test_a_fact_that_was_said_once_more_is_recalled_as_what_it_is_since() -> None:
    known, vector = of([EAST]), np.asarray(EAST, dtype=np.float32)
    assert recalled(known, vector) == ["0"]
    kept = replace(fact("0"), expires_at=NOON, category=Category.VOLATILE)
    assert known.apply(replace(add(7, action=Action.SKIP, fact_id="0"), kept=kept, fact=None))
    assert recalled(known, vector) == []


def test_what_answered_before_a_write_answers_as_before() -> None:
    known, vector = of([EAST]), np.asarray(EAST, dtype=np.float32)
    before = known.recallable()
    update = {"action": Action.UPDATE, "targets": ("0",)}
    known.apply(add(7, at_cosine(0.9), fact_id="new", **update))
    assert (asked_of(before, vector), recalled(known, vector)) == (["0"], ["new"])


def taken_over(
    known: Neighbourhood, steps: list[tuple[str, int]], count: int, vectors: Vectors
) -> list[str]:
    """The ids of the facts that are live after these steps, the nearest to the last one first."""
    live = {str(n): vectors[n] for n in range(count)}
    for number, (step, drawn) in enumerate(steps, start=count):
        commit = _commit(step, known.version, sorted(live), number, drawn, vectors[number])
        assert known.apply(commit)
        for ended in commit.decision.superseded_ids:
            del live[ended]
        if commit.fact:
            live[commit.fact.fact_id] = vectors[number]
    cosines = {fact_id: float(vector @ vectors[-1]) for fact_id, vector in live.items()}
    return sorted(cosines, key=lambda fact_id: -cosines[fact_id])


def _commit(
    step: str, version: int, live: list[str], number: int, drawn: int, vector: Vectors
) -> Commit:
    ended = (live[drawn % len(live)],) if live and step in ("update", "revoke") else ()
    action = {"add": Action.ADD, "update": Action.UPDATE, "revoke": Action.REVOKE}.get(step)
    made = add(version, vector.tolist(), fact_id=str(number), action=action or Action.REJECT)
    return replace(made, decision=changed(made.decision, targets=ended))
