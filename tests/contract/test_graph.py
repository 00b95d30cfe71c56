"""The obligations of the graph port, each by its number in ``reconciler/ports/graph.py``."""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler.bootstrap import open_graph
from reconciler.domain.scope import Scope
from reconciler.errors import (
    GraphConflictError,
    GraphError,
    QueryError,
    QueryFileError,
)
from reconciler.ports.graph import Graph, Row
from reconciler.queries import load_queries, newest_schema_version
from reconciler.settings import load_settings
from tests import raw_store
from tests.engines import EngineUnderTest, wipe_schema

DIMENSION = 8
MODEL = "model@1"
ALICE = Scope("acme", "crm", "alice")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
EAST = [1.0] + [0.0] * (DIMENSION - 1)
NAMES = sorted(load_queries("embedded"))

Vectors = NDArray[np.float32]
Compare = Callable[..., list[Row]]


CONTACT = {"contact_key": ALICE.contact_key}
NO_SLOT = {"slot_prefix": "/"}


GATE: dict[str, Any] = {
    "disposal": "admit",
    "gate_reason": "admitted",
    "gate_findings": ["source: admit: the word of user_explicit"],
    "score_parts": ["said directly +0.10"],
    "confidence": 0.9,
    "category": "fact",
    "topic": None,
    "tags": None,
    "sensitivity": "none",
    "is_redacted": False,
    "recall_semantics": "default",
    "yields_to_live_intent": False,
    "lifetime_days": 180,
    "expires_at": NOON + timedelta(days=180),
    "question": None,
    "lapses_at": None,
    "policy_version": "1",
    "domain": "general",
    "inference_key": "inference-1",
    "proposed_by": "agent:crm",
    "answered_by": None,
    "is_confirmed_by_user": False,
    "settles_id": None,
    "held_id": None,
    "confirming_confidence": 0.9,
}
MORE_EVIDENCE = (
    "more_episode_ids",
    "more_episode_texts",
    "more_episode_times",
    "more_episode_sources",
    "more_episode_references",
    "more_episode_spans",
    "more_session_ids",
    "more_session_keys",
)


def opened(engine: EngineUnderTest) -> Graph:
    return open_graph(load_settings(**engine.settings_arguments))


@pytest.fixture
def graph(engine: EngineUnderTest) -> Iterator[Graph]:
    """An empty store at the newest schema."""
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        yield graph


def decision(scope: Scope = ALICE, **changes: Any) -> dict[str, Any]:
    """All parameters of ``commit_decision``: an ADD on a contact that nothing is known of."""
    new = {name: str(uuid.uuid4()) for name in ("decision_id", "fact_id", "episode_id")}
    usual = {
        "tenant": scope.tenant,
        "agent_id": scope.agent_id,
        "agent_key": scope.agent_key,
        "contact_id": scope.contact_id,
        "contact_key": scope.contact_key,
        "contact_name": None,
        "version": 0,
        "session_id": "call-1",
        "session_key": scope.session_key("call-1"),
        "text": "Prefers email",
        "episode_text": "Prefers email",
        "episode_source": "user_explicit",
        "episode_reference": None,
        "span": None,
        "said_at": NOON,
        "subject": None,
        "attribute": None,
        "value": None,
        "value_key": None,
        "is_single_valued": None,
        "is_known": None,
        "is_personal": None,
        "slot_key": None,
        "source_kind": "user_explicit",
        "source_reference": None,
        "action": "ADD",
        "decided_by": "threshold",
        "cosine": None,
        "reason": "the first fact about this contact",
        "cosine_update_min": 0.95,
        "cosine_add_max": 0.8,
        "cosine_cut": 0.875,
        "profile_name": "seed",
        "guard": True,
        "findings": None,
        "embedding_model": MODEL,
        "arbiter": None,
        "arbiter_reasoning": None,
        "arbiter_error": None,
        "arbiter_relation": None,
        "arbiter_action": None,
        "arbiter_target": None,
        "arbiter_confidence": None,
        "arbiter_cost_usd": None,
        "arbiter_is_cached": False,
        "door": "live",
        "idempotency_key": None,
        "attempts": 1,
        "embed_ms": 1.5,
        "compare_ms": 2.5,
        "arbitrate_ms": 0.0,
        "at": NOON,
        "superseded_ids": None,
        "conflicting_ids": None,
        "history_of_id": None,
        "history_to": None,
        "restated_id": None,
        "is_restatement": False,
        "is_contested": False,
        "importance": 0.5,
        "embedding": EAST,
        "neighbour_ids": [],
        "neighbour_cosines": [],
        **GATE,
        **dict.fromkeys(MORE_EVIDENCE),
    }
    usual |= new | changes
    said = usual["said_at"]
    return {"valid_from": said, "episode_said_at": said, **usual}


def update(old: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The parameters of an UPDATE that supersedes the fact of an earlier decision."""
    given = {
        "version": old["version"] + 1,
        "action": "UPDATE",
        "cosine": 0.96,
        "superseded_ids": [old["fact_id"]],
        "restated_id": old["fact_id"],
        "is_restatement": True,
        "neighbour_ids": [old["fact_id"]],
        "neighbour_cosines": [0.96],
    }
    return decision(**given | changes)


def commit(graph: Graph, parameters: dict[str, Any]) -> list[Row]:
    return graph.run("commit_decision", parameters)


def neighbours(graph: Graph, vector: list[float] = EAST, **changes: Any) -> list[Row]:
    asked = CONTACT | NO_SLOT | {"embedding_model": MODEL, "embedding": vector, "now": NOON}
    return graph.run("find_neighbours", asked | changes)


def live_facts(graph: Graph, vector: list[float] = EAST, **changes: Any) -> list[Row]:
    asked = {
        "contact_key": ALICE.contact_key,
        "embedding_model": MODEL,
        "embedding": vector,
        "now": NOON,
    }
    return graph.run("compare_live_facts", asked | changes)


@pytest.fixture(params=[neighbours, live_facts])
def compared(request: pytest.FixtureRequest) -> Compare:
    """Either query that compares vectors: for a decision, and for a recall."""
    return request.param


def facts(graph: Graph) -> list[Row]:
    return graph.run("list_facts", {"contact_key": ALICE.contact_key})


def version(graph: Graph, scope: Scope = ALICE) -> int:
    rows = graph.run("find_contact_version", {"contact_key": scope.contact_key})
    return rows[0]["version"] if rows else 0


def unit_vectors(count: int) -> Vectors:
    drawn = np.random.default_rng(count).standard_normal((count, DIMENSION))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def cosine(one: Vectors, other: Vectors) -> float:
    wide, broad = one.astype(np.float64), other.astype(np.float64)
    return float(wide @ broad / np.linalg.norm(wide) / np.linalg.norm(broad))


def at_cosine(value: float) -> list[float]:
    """A unit vector at that cosine to ``EAST``."""
    return [value, float(np.sqrt(1 - value**2))] + [0.0] * (DIMENSION - 2)


# The store itself


def test_an_empty_store_has_schema_version_0(engine: EngineUnderTest) -> None:
    wipe_schema(engine)
    with closing(opened(engine)) as graph:
        assert graph.schema_version() == 0


def test_migrating_brings_an_empty_store_to_the_newest_version(engine: EngineUnderTest) -> None:
    wipe_schema(engine)
    with closing(opened(engine)) as graph:
        newest = newest_schema_version(graph.engine)
        assert graph.migrate(DIMENSION) == graph.schema_version() == newest


def test_migrating_again_is_harmless(engine: EngineUnderTest) -> None:
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        commit(graph, decision())
    before = raw_store.everything(engine)
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
    assert raw_store.everything(engine) == before


def test_closing_again_is_harmless(engine: EngineUnderTest) -> None:
    graph = opened(engine)
    graph.close()
    graph.close()


def test_a_closed_graph_says_so(graph: Graph) -> None:
    graph.close()
    with pytest.raises(GraphError, match="closed"):
        facts(graph)


def test_a_graph_tells_its_engine_version_and_place(engine: EngineUnderTest, graph: Graph) -> None:
    found = graph.describe()
    place = (
        engine.settings_arguments.get("embedded_path") or engine.settings_arguments["neo4j"]["uri"]
    )
    assert found.engine == graph.engine == engine.settings_arguments["graph"]
    assert str(place) in found.location
    assert any(map(str.isdigit, found.version))


def test_what_it_tells_holds_no_password(engine: EngineUnderTest, graph: Graph) -> None:
    password = engine.settings_arguments.get("neo4j", {}).get("password", "no password at all")
    assert password not in repr(graph.describe())


# 1: atomic


@pytest.mark.parametrize("duplicate", ["decision_id", "fact_id"])
def test_a_write_that_fails_in_the_middle_leaves_nothing(
    engine: EngineUnderTest, duplicate: str
) -> None:
    first = decision()
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        commit(graph, first)
    before = raw_store.everything(engine)
    for scope, at_version in ((ALICE, 1), (Scope("acme", "other", "bob"), 0)):
        broken = decision(scope, version=at_version, **{duplicate: first[duplicate]})
        with closing(opened(engine)) as graph, pytest.raises(GraphConflictError):
            commit(graph, broken)
        assert raw_store.everything(engine) == before


def test_an_update_that_fails_in_the_middle_leaves_the_old_fact_live(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    with pytest.raises(GraphConflictError):
        commit(graph, update(first, decision_id=first["decision_id"]))
    assert [(row["is_live"], row["valid_to"]) for row in facts(graph)] == [(True, None)]
    assert version(graph) == 1


def test_the_store_works_on_after_a_write_that_failed(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    with pytest.raises(GraphConflictError):
        commit(graph, decision(version=1, decision_id=first["decision_id"]))
    assert commit(graph, decision(version=1))
    assert version(graph) == 2


# 2: exactly the declared parameters


def test_no_query_takes_other_parameters_than_it_declares(graph: Graph) -> None:
    for name, query in load_queries(graph.engine).items():
        wrong_sets = [dict.fromkeys(query.params | {"unheard_of"})]
        wrong_sets += [dict.fromkeys(query.params - {left_out}) for left_out in query.params]
        for wrong in wrong_sets:
            with pytest.raises(QueryFileError, match=f"query {name}: missing"):
                graph.run(name, wrong)


@pytest.mark.parametrize("wrong", ["missing", "unknown", "misspelt"])
def test_wrong_parameters_are_refused_before_anything_is_sent(
    engine: EngineUnderTest, wrong: str
) -> None:
    given = decision()
    if wrong != "unknown":
        del given["session_id"]
    if wrong != "missing":
        given["sesion_id"] = "call-1"
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        graph.close()
        # A graph that is closed can send nothing; were anything sent, this were another error.
        with pytest.raises(QueryFileError):
            commit(graph, given)


def test_an_unknown_query_is_refused(graph: Graph) -> None:
    with pytest.raises(QueryFileError, match="no query file is named delete_everything"):
        graph.run("delete_everything", {})


# 3: columns and times

FIRST = decision(contact_name="Alice", neighbour_ids=[], neighbour_cosines=[])
SECOND = update(FIRST)
THIRD = decision(version=2, conflicting_ids=[SECOND["fact_id"]], findings=["number: 2, new"])
HELD = decision(
    version=3,
    action="HOLD",
    decided_by="gate",
    disposal="confirm",
    gate_reason="not_literal",
    fact_id=None,
    question="May I remember it?",
    lapses_at=NOON + timedelta(days=30),
)
REFUSED = decision(version=4, action="REJECT", decided_by="gate", disposal="reject", fact_id=None)
NOT_OF_A_DECISION = {"expires_at", "is_confirmed_by_user", "confirming_confidence"}
ALL_DECISIONS = {
    "contact_keys": [ALICE.contact_key],
    "disposal": "",
    "gate_reason": "",
    "door": "",
    "since": NOON - timedelta(days=9),
    "until": NOON + timedelta(days=9),
}
SESSION_KEY = ALICE.session_key("chat-1")
NO_OUTCOMES = dict.fromkeys(("added", "superseding", "known", "held", "refused", "left_out"), 0)
TURNS = {
    "tenant": ALICE.tenant,
    "agent_id": ALICE.agent_id,
    "agent_key": ALICE.agent_key,
    "contact_id": ALICE.contact_id,
    "contact_key": ALICE.contact_key,
    "session_id": "chat-1",
    "session_key": SESSION_KEY,
    "channel": "chat",
    "started_at": NOON,
    "ended_at": NOON,
    "episode_ids": ["turn-1", "turn-2"],
    "roles": ["contact", "agent"],
    "texts": ["Lives in Pune.", "Noted."],
    "times": [NOON, NOON],
    "sources": ["user_explicit", "model_guess"],
    "references": ["message-1", ""],
    "positions": [0, 1],
    "at": NOON,
}
WAITING_JOB = TURNS | {"job_id": "waiting"}
LEASED_JOB = WAITING_JOB | {"job_id": "leased", "episode_ids": ["turn-3", "turn-4"]}
LEASE = {"job_id": "leased", "lease_id": "lease-1"}
LEASING = LEASE | {"now": NOON, "until": NOON + timedelta(minutes=1)}
READ = {"extractor": "nobody-v1", "proposals": "[]", "summary": "A summary."}
TASK = {"task_key": ALICE.session_key("task-1")}
TASK_BEGUN = TASK | {
    **{name: TURNS[name] for name in ("tenant", "agent_id", "agent_key", "contact_id")},
    "contact_key": ALICE.contact_key,
    "task_id": "task-1",
    "name": "Answer",
    "goal": "Answer",
    "state": "start",
    "session_id": "chat-1",
    "at": NOON,
}
TASK_SESSION = TASK | {
    "session_key": SESSION_KEY,
    "session_id": "chat-1",
    "channel": "task",
    "at": NOON,
}
CALLS: dict[str, dict[str, Any]] = {
    "add_done_subtask": TASK | {"subtask_id": "one", "at": NOON},
    "add_task_decisions": TASK | {"decided": ["Calls first."], "at": NOON},
    "find_task": TASK,
    "link_task_session": TASK_SESSION,
    "list_task_sessions": TASK,
    "set_task_blocker": TASK | {"blocker": "No answer yet.", "at": NOON},
    "set_task_state": TASK | {"state": "deciding", "session_id": "chat-1", "at": NOON},
    "upsert_task": TASK_BEGUN,
    "append_episodes": TURNS | {"job_id": "third", "episode_ids": ["turn-5", "turn-6"]},
    "clean_episodes": {
        "episode_ids": ["turn-1"],
        "texts_before": ["Lives in Pune."],
        "texts": ["Lives somewhere."],
        "references": [""],
    },
    "count_jobs": {},
    "find_job": {"job_id": "waiting", **asdict(ALICE)},
    "find_proposals": {"job_id": "waiting"},
    "find_session": {"session_key": SESSION_KEY},
    "find_jobs_of_episodes": {"episode_ids": ["turn-1"]},
    "finish_job": LEASE | {"at": NOON} | NO_OUTCOMES,
    "give_job_back": LEASE
    | {"state": "waiting", "attempts": 1, "due_at": NOON, "last_error": "no answer"},
    "keep_proposals": LEASE | READ,
    "lease_job": LEASING | {"job_id": "waiting"},
    "list_due_jobs": {"now": NOON},
    "list_jobs": {
        "tenant": ALICE.tenant,
        "agent_id": "",
        "contact_id": "",
        "state": "",
        "limit": 5,
    },
    "list_session_episodes": {"session_key": SESSION_KEY},
    "renew_lease": LEASE | {"until": NOON},
    "retry_job": {"job_id": "waiting", **asdict(ALICE), "at": NOON},
    "claim_store": {"embedding_model": MODEL, "id_key": "ab", "at": NOON},
    "commit_decision": decision(version=5),
    "compare_live_facts": CONTACT | {"embedding_model": MODEL, "embedding": EAST, "now": NOON},
    "count_refusals": {"contact_keys": [ALICE.contact_key]},
    "find_contact_version": CONTACT,
    "find_decisions": CONTACT | {"decision_ids": [SECOND["decision_id"]]},
    "find_last_said": CONTACT,
    "find_decision_ids": {"decision_ids": [FIRST["decision_id"], SECOND["decision_id"]]},
    "find_episodes": {
        "contact_key": FIRST["contact_key"],
        "episode_ids": [FIRST["episode_id"]],
    },
    "find_neighbours": CONTACT
    | NO_SLOT
    | {"embedding_model": MODEL, "embedding": EAST, "now": NOON},
    "find_schema_version": {},
    "find_store": {},
    "list_comparisons": {"decision_ids": [SECOND["decision_id"]]},
    "list_conflicts": CONTACT,
    "list_contacts": {"agent_key": ALICE.agent_key},
    "list_decision_ids": ALL_DECISIONS | {"limit": 5},
    "list_evidence": {"decision_id": SECOND["decision_id"]},
    "list_facts": CONTACT,
    "list_pending_ids": {"contact_keys": [ALICE.contact_key], "now": NOON},
    "list_precedents": CONTACT | {"inference_key": "inference-1"},
    "list_predecessors": {"fact_ids": [SECOND["fact_id"]], "embedding": EAST},
    "list_supersessions": CONTACT,
    "record_correction": CONTACT
    | {
        "decision_id": FIRST["decision_id"],
        "correction": "same",
        "at": NOON,
    },
    "record_schema_version": {"schema_version": 1, "embedding_dimension": DIMENSION},
}


READS = [name for name in NAMES if load_queries("embedded")[name].mode == "read"]
WRITES = [name for name in NAMES if name not in READS]


@pytest.fixture
def told(graph: Graph) -> Graph:
    """A store in which each of ``CALLS`` finds or writes something."""
    commit(graph, FIRST)
    commit(graph, SECOND)
    commit(graph, THIRD)
    commit(graph, HELD)
    commit(graph, REFUSED)
    graph.run("append_episodes", WAITING_JOB)
    graph.run("append_episodes", LEASED_JOB)
    graph.run("lease_job", LEASING)
    graph.run("upsert_task", TASK_BEGUN)
    graph.run("link_task_session", TASK_SESSION)
    return graph


def assert_as_declared(graph: Graph, name: str, rows: list[Row]) -> None:
    assert {tuple(row) for row in rows} == {load_queries(graph.engine)[name].returns}, name
    lists = [value for row in rows for value in row.values() if isinstance(value, list)]
    assert all(isinstance(each, str) for value in lists for each in value), name


def test_rows_that_are_read_have_exactly_the_declared_columns_and_no_vector(told: Graph) -> None:
    for name in READS:
        assert_as_declared(told, name, told.run(name, CALLS[name]))


@pytest.mark.parametrize("name", WRITES)
def test_rows_of_a_write_have_exactly_the_declared_columns_and_no_vector(
    told: Graph, name: str
) -> None:
    assert_as_declared(told, name, told.run(name, CALLS[name]))


ABOUT_THE_STORE = {"find_schema_version", "find_store"}


def test_a_query_about_nothing_gives_no_row(graph: Graph) -> None:
    found = {name: graph.run(name, CALLS[name]) for name in READS if name not in ABOUT_THE_STORE}
    assert {name: rows for name, rows in found.items() if rows} == {}


TIMES = [
    datetime(2026, 3, 9, 14, 5, 6, 123456, tzinfo=UTC),
    datetime(2026, 3, 9, 14, 5, 6, 1, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    datetime(2026, 1, 1, 1, 30, 0, 999999, tzinfo=timezone(timedelta(hours=14))),
    datetime(2025, 12, 31, 23, 30, 0, 999999, tzinfo=timezone(timedelta(hours=-12))),
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1900, 1, 1, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
    datetime(2100, 2, 28, 23, 59, 59, 1, tzinfo=UTC),
]


@pytest.mark.parametrize("said_at", TIMES, ids=datetime.isoformat)
def test_a_time_with_any_offset_comes_back_in_utc_to_the_microsecond(
    graph: Graph, said_at: datetime
) -> None:
    commit(graph, decision(said_at=said_at, at=said_at))
    [fact] = facts(graph)
    for name in ("recorded_at", "valid_from", "last_confirmed_at"):
        assert fact[name].isoformat() == said_at.astimezone(UTC).isoformat()
        assert fact[name].tzinfo is UTC


def test_times_are_compared_as_instants_not_as_they_are_written(graph: Graph) -> None:
    first = decision(said_at=datetime(2026, 3, 9, 12, tzinfo=UTC))
    later = datetime(2026, 3, 9, 9, tzinfo=timezone(timedelta(hours=-5)))
    commit(graph, first)
    commit(graph, update(first, said_at=later))
    assert {row["valid_to"] for row in facts(graph)} == {None, datetime(2026, 3, 9, 14, tzinfo=UTC)}


@pytest.mark.parametrize(
    "text",
    [
        'It\'s "quoted", \\ and $dollar {braces}; DROP',
        "Zoë 李 👩‍👩‍👧 ﷺ",
        "line\nend\ttab",
        "a" * 2000,
        "' OR 1=1 //",
    ],
)
def test_a_text_comes_back_to_the_letter(graph: Graph, text: str) -> None:
    commit(graph, decision(text=text))
    assert facts(graph)[0]["text"] == text


# 4: raw cosine


def test_a_cosine_agrees_with_numpy_over_random_vectors(graph: Graph, compared: Compare) -> None:
    stored = unit_vectors(20)
    for number, vector in enumerate(stored):
        commit(graph, decision(version=number, text=str(number), embedding=vector.tolist()))
    for asked in unit_vectors(5):
        found = compared(graph, asked.tolist())
        assert len(found) == (10 if compared is neighbours else len(stored))
        for row in found:
            wanted = cosine(stored[int(row["text"])], asked)
            assert row["cosine"] == pytest.approx(wanted, abs=1e-6)


def test_a_cosine_is_raw_from_identical_to_opposite(graph: Graph, compared: Compare) -> None:
    commit(graph, decision())
    for value in (1.0, 0.9999, 0.9501, 0.9499, 0.5, 0.0, -0.5, -1.0):
        [found] = compared(graph, at_cosine(value))
        assert found["cosine"] == pytest.approx(value, abs=1e-6)


def test_a_cosine_never_leaves_its_range(graph: Graph, compared: Compare) -> None:
    vectors = unit_vectors(30).tolist()
    for number, vector in enumerate(vectors):
        commit(graph, decision(version=number, embedding=vector))
    opposite = [[-each for each in vector] for vector in vectors]
    found = [row["cosine"] for asked in vectors + opposite for row in compared(graph, asked)]
    assert min(found) >= -1
    assert max(found) <= 1


@pytest.mark.parametrize(("value", "is_above"), [(0.9501, True), (0.9499, False)])
def test_a_ten_thousandth_beside_the_update_bound_is_told_apart(
    graph: Graph, value: float, is_above: bool
) -> None:
    commit(graph, decision())
    [found] = neighbours(graph, at_cosine(value))
    assert (found["cosine"] >= 0.95) is is_above


def test_a_cosine_of_one_half_is_exactly_that(graph: Graph) -> None:
    commit(graph, decision())
    [found] = neighbours(graph, [0.5] * 4 + [0.0] * (DIMENSION - 4))
    assert found["cosine"] == 0.5


def test_the_ten_nearest_neighbours_come_nearest_first(graph: Graph) -> None:
    values = [0.2, 0.9, -0.4, 0.6, 0.1, -0.9, 0.7, 0.3, 0.4, 0.8, -0.2, 0.5]
    for number, value in enumerate(values):
        commit(graph, decision(version=number, embedding=at_cosine(value)))
    found = neighbours(graph)
    assert [round(row["cosine"], 6) for row in found] == sorted(values, reverse=True)[:10]


PUNE = {
    "subject": "contact",
    "attribute": "city",
    "value": "Pune",
    "value_key": "pune",
    "is_single_valued": True,
    "slot_key": "contact/city/pune/",
}


@pytest.mark.parametrize(
    ("prefix", "is_found"),
    [
        ("contact/city/", True),
        ("contact/city/pune/", True),
        ("contact/city/delhi/", False),
        ("wife/city/", False),
        ("contact/city/pun/", False),
        ("/", False),
    ],
)
def test_a_fact_whose_slot_is_asked_for_is_found_behind_nearer_ones(
    graph: Graph, prefix: str, is_found: bool
) -> None:
    commit(graph, decision(**PUNE, embedding=at_cosine(-0.9)))
    for number in range(1, 12):
        commit(graph, decision(version=number))
    found = neighbours(graph, slot_prefix=prefix)
    assert len(found) == 10
    assert (found[-1]["value"] == "Pune") is is_found
    assert found == sorted(found, key=lambda row: -row["cosine"])


def test_neighbours_come_with_the_version_they_were_seen_at(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    commit(graph, update(first))
    assert [row["version"] for row in neighbours(graph)] == [2]


@pytest.mark.parametrize(
    "other",
    [
        Scope("acme", "crm", "bob"),
        Scope("acme", "support", "alice"),
        Scope("globex", "crm", "alice"),
        Scope("acme", "crm/alice", "alice"),
    ],
)
def test_neighbours_of_one_contact_never_include_anothers(
    graph: Graph, compared: Compare, other: Scope
) -> None:
    commit(graph, decision(other))
    assert compared(graph) == []
    commit(graph, decision(text="Mine"))
    assert [row["text"] for row in compared(graph)] == ["Mine"]


def test_a_superseded_fact_is_no_neighbour(graph: Graph, compared: Compare) -> None:
    first = decision()
    second = update(first, embedding=at_cosine(0.1))
    commit(graph, first)
    commit(graph, second)
    assert [row["fact_id"] for row in compared(graph)] == [second["fact_id"]]


def test_a_fact_of_another_model_is_no_neighbour(graph: Graph, compared: Compare) -> None:
    commit(graph, decision(embedding_model="model@2"))
    assert compared(graph) == []
    assert len(compared(graph, embedding_model="model@2")) == 1


def test_a_fact_without_a_vector_is_no_neighbour(graph: Graph, compared: Compare) -> None:
    commit(graph, decision(embedding=None, embedding_model="noop"))
    assert compared(graph) == []


# What a decision leaves behind


def conflicts(graph: Graph) -> set[frozenset[str]]:
    rows = graph.run("list_conflicts", CONTACT)
    return {frozenset((row["new_id"], row["old_id"])) for row in rows}


def links(graph: Graph) -> dict[tuple[str, str], bool]:
    rows = graph.run("list_supersessions", CONTACT)
    return {(row["new_id"], row["old_id"]): row["is_restatement"] for row in rows}


def test_one_decision_may_end_several_facts_and_restate_one(graph: Graph) -> None:
    one, two = decision(), decision(version=1)
    both = [one["fact_id"], two["fact_id"]]
    new = update(two, superseded_ids=both, restated_id=one["fact_id"])
    for each in (one, two, new):
        commit(graph, each)
    assert links(graph) == {(new["fact_id"], both[0]): True, (new["fact_id"], both[1]): False}
    assert [(row["fact_id"], row["observations"]) for row in facts(graph) if row["is_live"]] == [
        (new["fact_id"], 2)
    ]


def test_a_conflict_stays_open_until_one_decision_ends_both_facts(graph: Graph) -> None:
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    three = update(two, is_restatement=False, restated_id=None)
    for each in (one, two):
        commit(graph, each)
    assert conflicts(graph) == {frozenset((one["fact_id"], two["fact_id"]))}
    commit(graph, three)
    assert conflicts(graph) == {frozenset((one["fact_id"], three["fact_id"]))}


@pytest.mark.parametrize("restated", [0, 1])
def test_a_restatement_takes_the_open_conflicts_along(graph: Graph, restated: int) -> None:
    pair = [decision()]
    pair.append(decision(version=1, conflicting_ids=[pair[0]["fact_id"]]))
    new = update(pair[restated], version=2)
    for each in (*pair, new):
        commit(graph, each)
    assert conflicts(graph) == {frozenset((new["fact_id"], pair[1 - restated]["fact_id"]))}


def test_a_restatement_that_ends_the_conflicting_fact_too_leaves_no_conflict(graph: Graph) -> None:
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    new = update(two, superseded_ids=[two["fact_id"], one["fact_id"]])
    for each in (one, two, new):
        commit(graph, each)
    assert conflicts(graph) == set()


def test_an_older_note_lies_beneath_the_newer_fact_and_is_not_live(graph: Graph) -> None:
    newer = decision(said_at=NOON)
    early = NOON - timedelta(days=9)
    older = decision(
        version=1,
        said_at=early,
        history_of_id=newer["fact_id"],
        history_to=NOON,
        is_restatement=True,
    )
    commit(graph, newer)
    commit(graph, older)
    assert links(graph) == {(newer["fact_id"], older["fact_id"]): True}
    found = {row["fact_id"]: row for row in facts(graph)}
    beneath, above = found[older["fact_id"]], found[newer["fact_id"]]
    assert (beneath["is_live"], beneath["valid_from"], beneath["valid_to"]) == (False, early, NOON)
    assert (above["is_live"], above["valid_to"], above["observations"]) == (True, None, 2)


@pytest.mark.parametrize(
    ("is_read_again", "confidences", "observations", "confidence"),
    [
        pytest.param(False, (0.6, 0.5), 2, 0.8, id="another episode"),
        pytest.param(True, (0.6, 0.5), 1, 0.6, id="the same and less sure"),
        pytest.param(True, (0.5, 0.6), 1, 0.6, id="the same and surer"),
        pytest.param(True, (0.6, 0.6), 1, 0.6, id="the same and as sure"),
    ],
)
def test_a_restatement_makes_surer_only_by_another_episode(
    graph: Graph,
    is_read_again: bool,
    confidences: tuple[float, float],
    observations: int,
    confidence: float,
) -> None:
    first = decision(confidence=confidences[0])
    own = {"episode_id": first["episode_id"]} if is_read_again else {}
    for each in (first, update(first, confidence=confidences[1], **own)):
        assert commit(graph, each)
    [live] = [row for row in facts(graph) if row["is_live"]]
    assert live["observations"] == observations
    assert live["confidence"] == pytest.approx(confidence)


def test_a_restatement_counts_no_episode_that_an_earlier_one_took_along(graph: Graph) -> None:
    first = decision()
    second = update(first)
    third = update(second, episode_id=first["episode_id"])
    for each in (first, second, third):
        assert commit(graph, each)
    assert sorted(row["observations"] for row in facts(graph)) == [1, 2, 2]


@pytest.mark.parametrize(("is_read_again", "observations"), [(True, 1), (False, 2)])
def test_an_older_note_counts_only_by_an_episode_that_the_newer_fact_lacks(
    graph: Graph, is_read_again: bool, observations: int
) -> None:
    newer = decision()
    own = {"episode_id": newer["episode_id"]} if is_read_again else {}
    early = {"valid_from": NOON - timedelta(days=9), "history_to": NOON}
    beneath = {"version": 1, "history_of_id": newer["fact_id"], "is_restatement": True}
    for each in (newer, decision(**early, **beneath, **own)):
        assert commit(graph, each)
    assert {row["fact_id"]: row["observations"] for row in facts(graph)}[
        newer["fact_id"]
    ] == observations


def test_all_that_lies_beneath_a_fact_is_found_with_its_cosine(graph: Graph) -> None:
    one = decision(embedding=at_cosine(0.3), **PUNE)
    two = update(one, is_restatement=False, restated_id=None, decided_by="slot")
    three = update(two)
    for each in (one, two, three):
        commit(graph, each)
    asked = {"fact_ids": [three["fact_id"]], "embedding": EAST}
    found = {row["fact_id"]: row for row in graph.run("list_predecessors", asked)}
    assert set(found) == {one["fact_id"], two["fact_id"]}
    first = found[one["fact_id"]]
    assert first["cosine"] == pytest.approx(0.3, abs=1e-6)
    assert (first["value_key"], first["decided_by"], first["is_restatement"]) == (
        "pune",
        "slot",
        False,
    )
    assert found[two["fact_id"]]["is_restatement"]


def test_everything_about_a_decision_comes_back(graph: Graph) -> None:
    kept = {
        "findings": ["number: 2, new", "negation: not"],
        "profile_name": "minilm",
        "guard": True,
        "cosine_cut": 0.9,
        "is_contested": True,
        "arbiter_relation": "replaces",
        "arbiter_target": 3,
        "arbiter_confidence": 0.75,
        "arbiter_cost_usd": 0.0012,
        "arbiter_is_cached": True,
        **PUNE,
        **{name: value for name, value in GATE.items() if name not in NOT_OF_A_DECISION},
        "topic": "work",
        "tags": ["a", "b"],
        "is_redacted": True,
        "is_personal": True,
        "question": "Is it so?",
        "lapses_at": NOON,
        "settles_id": "decision-0",
        "held_id": "decision-1",
        "answered_by": "contact",
        "session_id": "call-1",
        "importance": 0.25,
        "source_reference": "call 7",
        "agent_id": "crm",
        "tenant": "acme",
    }
    given = decision(**kept, arbiter_action="UPDATE", said_at=NOON)
    commit(graph, given)
    [found] = graph.run("find_decisions", CONTACT | {"decision_ids": [given["decision_id"]]})
    kept.pop("slot_key")
    assert {name: found[name] for name in kept} == kept


# 5: one writer a version


@pytest.mark.parametrize("given", [0, 2, -1])
def test_a_decision_on_another_version_gives_no_row_and_writes_nothing(
    engine: EngineUnderTest, given: int
) -> None:
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        commit(graph, decision())
    before = raw_store.everything(engine)
    with closing(opened(engine)) as graph:
        assert commit(graph, decision(version=given)) == []
    assert _without_locks(raw_store.everything(engine)) == _without_locks(before)


def test_a_decision_on_a_contact_that_does_not_exist_yet_must_expect_version_0(
    engine: EngineUnderTest,
) -> None:
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        assert commit(graph, decision(version=1)) == []
    found = raw_store.counts(engine)
    assert (found["Decision"], found["Fact"], found["Episode"], found["Agent"]) == (0, 0, 0, 0)


@pytest.mark.parametrize("known", [False, True], ids=["new contact", "known contact"])
def test_of_many_writers_at_one_version_exactly_one_wins(
    engine: EngineUnderTest, known: bool
) -> None:
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        if known:
            commit(graph, decision())
        outcomes = _at_once(16, lambda _: _outcome(graph, decision(version=int(known))))
        assert version(graph) == int(known) + 1
    assert outcomes.count("won") == 1
    assert set(outcomes) <= {"won", "no row", "conflict"}
    assert raw_store.counts(engine)["Decision"] == int(known) + 1


def _without_locks(entities: list[str]) -> list[str]:
    """Taking the contact's lock writes to it; that trace is no change."""
    return sorted(re.sub(r"\('locked_by', '[^']*'\)", "", entity) for entity in entities)


def _outcome(graph: Graph, parameters: dict[str, Any]) -> str:
    try:
        return "won" if commit(graph, parameters) else "no row"
    except GraphConflictError:
        return "conflict"


def _at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    start = Barrier(count)

    def waiting(number: int) -> Any:
        start.wait(30)
        return call(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(waiting, range(count)))


# 6: errors


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("list_decision_ids", ALL_DECISIONS | {"limit": "many"}),
        ("list_decision_ids", ALL_DECISIONS | {"limit": -1}),
        ("find_neighbours", CALLS["find_neighbours"] | {"embedding": "east"}),
        ("find_neighbours", CALLS["find_neighbours"] | {"embedding": EAST[:-1]}),
    ],
)
def test_what_the_engine_rejects_is_a_query_error_with_its_cause(
    graph: Graph, name: str, wrong: dict[str, Any]
) -> None:
    commit(graph, decision())
    with pytest.raises(QueryError) as raised:
        graph.run(name, wrong)
    assert raised.value.__cause__ is not None
    assert not raised.value.retryable


def test_a_conflict_is_worth_another_try_and_has_its_cause(graph: Graph) -> None:
    commit(graph, FIRST)
    with pytest.raises(GraphConflictError) as raised:
        commit(graph, FIRST | {"version": 1})
    assert raised.value.retryable
    assert raised.value.__cause__ is not None


# 7 is tested in test_graph_failures.py. 8: threads


def test_a_graph_may_be_shared_by_threads(graph: Graph) -> None:
    scopes = [Scope("acme", "crm", f"contact {number}") for number in range(16)]

    def write_and_read(number: int) -> list[int]:
        seen = []
        for at_version in range(5):
            commit(graph, decision(scopes[number], version=at_version, text=str(number)))
            seen.append(version(graph, scopes[number]))
        return seen

    assert _at_once(16, write_and_read) == [[1, 2, 3, 4, 5]] * 16


def test_threads_see_their_own_contacts_only(graph: Graph) -> None:
    pairs = itertools.product(range(8), range(3))
    for number, at_version in pairs:
        scope = Scope("acme", "crm", f"contact {number}")
        commit(graph, decision(scope, version=at_version, text=str(number)))

    def read(number: int) -> set[str]:
        scope = Scope("acme", "crm", f"contact {number}")
        found = [neighbours(graph, contact_key=scope.contact_key) for _ in range(5)]
        return {row["text"] for rows in found for row in rows}

    assert _at_once(8, read) == [{str(number)} for number in range(8)]
