"""Many decisions in one transaction: in order, all of a contact or none, and nothing of a loser."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from reconciler.domain.records.kinds import LASTING
from reconciler.domain.records.notes import Scope
from reconciler.errors import GraphConflictError
from reconciler.ports.graph import Graph
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from tests import raw_store
from tests.commit_maps import ALICE, DIMENSION, EAST, NOON, by_row, commit, decision, skip, update
from tests.commits import committed
from tests.engines import EngineUnderTest, opened
from tests.kept_stores import KeptStore

BOB, CAROL = Scope("acme", "crm", "bob"), Scope("acme", "crm", "carol")
CROWD = [Scope("acme", "crm", f"contact {number}") for number in range(6)]


def versions(graph: Graph, *scopes: Scope) -> list[int]:
    return [FactStore(graph).contact_version(scope) for scope in scopes]


def live(graph: Graph, scope: Scope = ALICE) -> dict[str, int]:
    facts = FactStore(graph).list_facts(scope)
    return {fact.fact_id: fact.observations for fact in facts if fact.is_live}


def links(graph: Graph, scope: Scope = ALICE) -> set[tuple[str, str, bool]]:
    found = FactStore(graph).list_supersessions(scope)
    return {(each.new_id, each.old_id, each.is_restatement) for each in found}


def conflicts(graph: Graph) -> list[set[str]]:
    """Every link between live facts, as often as it is there."""
    return [{each.new_id, each.old_id} for each in FactStore(graph).list_conflicts(ALICE)]


def made(graph: Graph, *scopes: Scope) -> list[str]:
    """The ids of the decisions about some contacts, the newest first."""
    asked = {"contact_keys": [scope.contact_key for scope in scopes], "limit": 99}
    anything = {"disposal": "", "gate_reason": "", "door": ""}
    ahead = NOON + timedelta(days=9)
    ever = {"since": NOON - timedelta(days=9), "until": ahead, "after_at": ahead, "after_id": ""}
    rows = graph.run("list_decision_ids", asked | anything | ever)
    return [row["decision_id"] for row in rows]


def resting(graph: Graph, fact: dict[str, Any], *said: dict[str, Any]) -> list[bool]:
    store = FactStore(graph)
    return [store.rests_on(ALICE, fact["fact_id"], each["episode_id"]) for each in said]


# In order


def test_decisions_about_one_contact_take_one_version_check_and_come_out_in_order(
    graph: Graph,
) -> None:
    said = [decision(version=n, at=NOON + timedelta(seconds=n)) for n in range(9)]
    assert [row["contact_key"] for row in commit(graph, *said)] == [ALICE.contact_key]
    assert versions(graph, ALICE) == [9]
    assert made(graph, ALICE) == [each["decision_id"] for each in reversed(said)]
    assert set(live(graph)) == {each["fact_id"] for each in said}


def test_the_version_of_the_first_is_what_counts(graph: Graph) -> None:
    commit(graph, decision())
    assert commit(graph, decision(version=0), decision(version=1)) == []
    assert commit(graph, decision(version=1), decision(version=7))
    assert versions(graph, ALICE) == [3]


def test_a_fact_that_was_written_in_the_same_transaction_may_be_superseded(graph: Graph) -> None:
    first = decision()
    second = update(first, observations=2)
    third = update(second, observations=3)
    commit(graph, first, second, third)
    assert live(graph) == {third["fact_id"]: 3}
    assert links(graph) == {
        (third["fact_id"], second["fact_id"], True),
        (second["fact_id"], first["fact_id"], True),
    }
    assert resting(graph, third, first, second, third) == [True] * 3


def test_a_fact_that_was_written_in_the_same_transaction_may_be_said_once_more(
    graph: Graph,
) -> None:
    first = decision()
    second = skip(first)
    commit(graph, first, second)
    assert live(graph) == {first["fact_id"]: 2}
    assert resting(graph, first, first, second) == [True, True]


def test_a_fact_that_was_written_in_the_same_transaction_may_be_revoked(graph: Graph) -> None:
    first = decision()
    commit(graph, first, update(first, action="REVOKE", fact_id=None))
    assert live(graph) == {}
    assert versions(graph, ALICE) == [2]


def test_an_older_note_may_lie_beneath_a_fact_of_the_same_transaction(graph: Graph) -> None:
    newer = decision()
    beneath = {"history_of_id": newer["fact_id"], "restated_id": newer["fact_id"]}
    gained = skip(newer)["kept"]
    older = decision(version=1, state="superseded", valid_to=NOON, kept=gained, **beneath)
    commit(graph, newer, older)
    assert live(graph) == {newer["fact_id"]: 2}
    assert links(graph) == {(newer["fact_id"], older["fact_id"], True)}


def test_a_question_may_be_answered_in_the_transaction_that_holds_it(graph: Graph) -> None:
    held = decision(action="HOLD", fact_id=None, lapses_at=NOON + timedelta(days=1))
    commit(graph, held, decision(version=1, settles_id=held["decision_id"]))
    pending = {"contact_keys": [ALICE.contact_key], "now": NOON}
    assert graph.run("list_pending_ids", pending) == []


def test_each_of_many_facts_keeps_its_own_vector(graph: Graph) -> None:
    vectors = [EAST[n:] + EAST[:n] for n in range(DIMENSION)]
    said = [decision(version=n, embedding=each) for n, each in enumerate(vectors)]
    commit(graph, *said)
    asked = {"contact_key": ALICE.contact_key, "embedding_model": said[0]["embedding_model"]}
    asked |= {"states": [*LASTING]}
    told = {row["fact_id"]: row for row in by_row(graph.run("list_neighbourhood", asked))}
    for each, vector in zip(said, vectors, strict=True):
        kept = np.frombuffer(told[each["fact_id"]]["embedding_bytes"], dtype=np.float32)
        assert kept.tolist() == vector


def test_one_session_of_many_decisions_is_kept_once(kept: KeptStore) -> None:
    commit(kept.graph, *(decision(version=n, session_id=f"call-{n % 2}") for n in range(6)))
    found = raw_store.counts(kept.engine)
    assert (found["Session"], found["Episode"], found["Decision"]) == (2, 6, 6)


def test_one_episode_of_many_decisions_is_kept_once(kept: KeptStore) -> None:
    commit(kept.graph, *(decision(version=n, episode_id="turn-1") for n in range(3)))
    found = raw_store.counts(kept.engine)
    assert (found["Session"], found["Episode"], found["Fact"]) == (1, 1, 3)


# Conflicts


def test_conflicts_are_carried_along_from_decision_to_decision(graph: Graph) -> None:
    """Two facts stand against each other; each is then restated, in one transaction."""
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    commit(graph, one, two)
    three = update(one, version=2)
    four = update(two, version=3)
    commit(graph, three, four)
    assert set(live(graph)) == {three["fact_id"], four["fact_id"]}
    assert conflicts(graph) == [{three["fact_id"], four["fact_id"]}]


def test_conflicts_that_begin_in_the_same_transaction_are_carried_along(graph: Graph) -> None:
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    three = update(one, version=2)
    four = update(two, version=3)
    five = update(three, version=4)
    commit(graph, one, two, three, four, five)
    assert conflicts(graph) == [{four["fact_id"], five["fact_id"]}]


def test_a_conflict_of_which_both_facts_end_at_once_is_closed(graph: Graph) -> None:
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    both = update(two, superseded_ids=[one["fact_id"], two["fact_id"]])
    after = update(both)
    commit(graph, one, two, both, after)
    assert set(live(graph)) == {after["fact_id"]}
    assert conflicts(graph) == []


def test_a_conflict_with_a_fact_that_is_revoked_is_closed(graph: Graph) -> None:
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    gone = update(one, version=2, action="REVOKE", fact_id=None)
    three = update(two, version=3)
    commit(graph, one, two, gone, three)
    assert set(live(graph)) == {three["fact_id"]}
    assert conflicts(graph) == []


# Times


def test_every_time_that_a_commit_writes_is_kept_as_a_time(kept: KeptStore) -> None:
    later = {"lapses_at": NOON, "expires_at": NOON, "valid_to": NOON}
    one = decision(**later)
    two = decision(version=1, conflicting_ids=[one["fact_id"]], is_new=True)
    said_again = update(one, version=2)
    counted = skip(two, version=3)
    counted["kept"] |= {"expires_at": NOON, "last_confirmed_at": NOON + timedelta(hours=1)}
    gone = update(said_again, version=4, action="REVOKE", fact_id=None)
    commit(kept.graph, one, two, said_again, counted, gone)
    texts = "MATCH (n) RETURN n UNION ALL MATCH ()-[n]->() RETURN n"
    rows = [row for text in texts.split(" UNION ALL ") for row in _rows(kept.engine, text)]
    times = [
        (name, each[name])
        for each in (dict(node) for [node] in rows)
        for name in each
        if _is_time(name)
    ]
    assert len({name for name, value in times if value is not None}) == 11
    assert [name for name, value in times if isinstance(value, str)] == []


def _rows(engine: EngineUnderTest, text: str) -> list[list[Any]]:
    return raw_store.query(engine, text)


def _is_time(name: str) -> bool:
    return name == "at" or name.endswith(("_at", "_from", "_to"))


# Contacts


def test_a_contact_that_moved_on_writes_nothing_and_the_others_stand(
    kept: KeptStore,
) -> None:
    late = [decision(BOB, version=0), decision(BOB, version=1)]
    commit(kept.graph, decision(BOB))
    rows = commit(kept.graph, decision(ALICE), *late, decision(CAROL), decision(CAROL, version=1))
    assert {row["contact_key"] for row in rows} == {ALICE.contact_key, CAROL.contact_key}
    assert versions(kept.graph, ALICE, BOB, CAROL) == [1, 1, 2]
    assert not {each["decision_id"] for each in late} & set(made(kept.graph, ALICE, BOB, CAROL))
    assert raw_store.counts(kept.engine) == {
        "Agent": 1,
        "Contact": 3,
        "Session": 3,
        "Episode": 4,
        "Decision": 4,
        "Fact": 4,
    }


def test_a_transaction_in_which_all_moved_on_writes_nothing(kept: KeptStore) -> None:
    commit(kept.graph, decision(ALICE), decision(BOB))
    assert commit(kept.graph, decision(ALICE), decision(BOB)) == []
    assert raw_store.counts(kept.engine)["Decision"] == 2


def test_nothing_of_any_contact_is_written_where_one_decision_fails(
    kept: KeptStore,
) -> None:
    first = decision(BOB)
    commit(kept.graph, first)
    before = raw_store.everything(kept.engine)
    broken = decision(BOB, version=2, decision_id=first["decision_id"])
    with pytest.raises(GraphConflictError):
        commit(kept.graph, decision(ALICE), decision(BOB, version=1), broken, decision(CAROL))
    assert raw_store.everything(kept.engine) == before


# Hints


def test_what_is_new_is_written_without_a_look(graph: Graph) -> None:
    more = [{"episode_id": "turn-2", "session_id": "call-2", "is_new": True}]
    first, second = decision(is_new=True), decision(version=1, is_new=True, evidence=more)
    commit(graph, first, second)
    told = DecisionStore(graph).list_evidence(second["decision_id"], ALICE)
    assert {each.episode_id for each in told} == {second["episode_id"], "turn-2"}
    assert resting(graph, second, first, second) == [False, True]
    assert resting(graph, second, more[0]) == [True]


def test_a_session_that_is_known_grows_with_what_is_said_in_it(kept: KeptStore) -> None:
    said = [NOON, NOON + timedelta(hours=1), NOON - timedelta(hours=1)]
    for version, at in enumerate(said):
        known = ["call-1"] if version and at > NOON else []  # a known session began no later
        assert commit(kept.graph, decision(version=version, said_at=at, knows=known))
    rows = raw_store.query(kept.engine, "MATCH (s:Session) RETURN s.started_at, s.ended_at")
    assert [[_hour(time) for time in row] for row in rows] == [[11, 13]]


def _hour(time: Any) -> int:
    return int(time.hour)


def test_a_note_from_two_sessions_that_are_known_moves_the_contact_on(graph: Graph) -> None:
    commit(graph, decision(session_id="call-1"), decision(version=1, session_id="call-2"))
    more = [{"episode_id": "turn-2", "session_id": "call-2", "is_new": True}]
    said = decision(version=2, is_new=True, knows=["call-1", "call-2"], evidence=more)
    assert commit(graph, said)
    assert len(DecisionStore(graph).list_evidence(said["decision_id"], ALICE)) == 2
    assert versions(graph, ALICE) == [3]


@pytest.mark.parametrize("gone", ["call-1", "call-2"])
def test_where_a_known_session_is_gone_all_is_written_or_nothing(graph: Graph, gone: str) -> None:
    kept = {"call-1": "call-2", "call-2": "call-1"}[gone]
    commit(graph, decision(session_id=kept), decision(BOB))
    more = [{"episode_id": "turn-2", "session_id": "call-2", "is_new": True}]
    said = decision(version=1, is_new=True, knows=["call-1", "call-2"], evidence=more)
    rows = commit(graph, said, decision(BOB, version=1))
    is_written = ALICE.contact_key in {row["contact_key"] for row in rows}
    told = DecisionStore(graph).list_evidence(said["decision_id"], ALICE)
    assert len(told) == (2 if is_written else 0)
    assert len(live(graph)) == (2 if is_written else 1)
    assert versions(graph, ALICE, BOB) == [2 if is_written else 1, 2]


# Writers at once


def test_writers_that_name_the_same_contacts_in_any_order_never_wait_in_a_circle(
    engine: EngineUnderTest,
) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(closing(opened(engine)))
        first.migrate(DIMENSION)
        is_file = engine.name == "embedded"
        second = first if is_file else stack.enter_context(closing(opened(engine)))
        DecisionStore(first).commit_decisions([committed(scope, 0, EAST) for scope in CROWD])
        rounds, start = 10, Barrier(2)

        def write(graph: Graph) -> int:
            store, drawn, written = DecisionStore(graph), random.Random(7), 0
            for _ in range(rounds):
                waiting = drawn.sample(CROWD, len(CROWD))
                start.wait(60)
                while waiting:
                    known = FactStore(graph)
                    given = {s: committed(s, known.contact_version(s), EAST) for s in waiting}
                    done = store.commit_decisions(list(given.values()))
                    waiting = [s for s in waiting if given[s].decision.decision_id not in done]
                    written += len(done)
            return written

        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(write, [first, second])) == [rounds * len(CROWD)] * 2
        assert versions(first, *CROWD) == [1 + 2 * rounds] * len(CROWD)
