"""The obligations of the graph port, each by its number in ``reconciler/ports/graph.py``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone
from threading import Barrier
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler.domain.records.kinds import LASTING
from reconciler.domain.records.notes import Scope
from reconciler.errors import (
    GraphClosedError,
    GraphConflictError,
    QueryError,
    QueryFileError,
)
from reconciler.ports.graph import Graph, Row
from reconciler.queries import load_queries, newest_schema_version
from reconciler.service.stores.fact_store import FactStore
from tests import raw_store
from tests.commit_maps import (
    ALICE,
    DIMENSION,
    EAST,
    MODEL,
    NOON,
    by_row,
    commit,
    contacts,
    decision,
    skip,
    update,
)
from tests.engines import EngineUnderTest, opened, wipe_schema
from tests.kept_stores import KeptStore

MOVING = re.compile(r"list_whole_|restore_|find_whole_|list_\w+_links$|list_contact_keys")
"""What moves whole nodes and links: ``tests/integration/test_moving.py`` compares all of them."""

TO_ANOTHER_MODEL = {
    *("begin_move", "cancel_move", "end_move", "switch_model", "settle_vectors"),
    *("find_move", "count_moved", "count_restoring", "list_unmoved", "list_next_ids"),
    *("put_next_vectors", "clear_next_vectors"),
}
"""What is of use on the way from one model to another alone: ``test_model_store.py`` goes it."""

NAMES = sorted(
    name
    for name in load_queries("embedded")
    if not MOVING.match(name) and name not in TO_ANOTHER_MODEL
)

Vectors = NDArray[np.float32]
Ask = Callable[..., list[Row]]


CONTACT = {"contact_key": ALICE.contact_key}


def neighbourhood(graph: Graph, **changes: Any) -> list[Row]:
    asked = CONTACT | {"embedding_model": MODEL, "states": [*LASTING]} | changes
    return by_row(graph.run("list_neighbourhood", asked))


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


@pytest.mark.new_schema
def test_migrating_brings_an_empty_store_from_version_0_to_the_newest(
    engine: EngineUnderTest,
) -> None:
    wipe_schema(engine)
    with closing(opened(engine)) as graph:
        assert graph.schema_version() == 0
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


def test_a_closed_graph_says_so(engine: EngineUnderTest) -> None:
    graph = opened(engine)
    graph.close()
    with pytest.raises(GraphClosedError, match="closed"):
        facts(graph)


def test_a_graph_tells_its_engine_version_and_place_and_no_password(kept: KeptStore) -> None:
    found, settings = kept.graph.describe(), kept.engine.settings_arguments
    assert found.engine == kept.graph.engine == settings["graph"]
    assert str(settings.get("embedded_path") or settings["neo4j"]["uri"]) in found.location
    assert any(map(str.isdigit, found.version))
    assert settings.get("neo4j", {}).get("password", "no password at all") not in repr(found)


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
    assert [(row["state"], row["valid_to"]) for row in facts(graph)] == [("live", None)]
    assert version(graph) == 1


def test_the_store_works_on_after_a_write_that_failed(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    with pytest.raises(GraphConflictError):
        commit(graph, decision(version=1, decision_id=first["decision_id"]))
    assert commit(graph, decision(version=1))
    assert version(graph) == 2


# 2: exactly the parameters in the text


def test_no_query_takes_other_parameters_than_its_text_names(graph: Graph) -> None:
    for name, query in load_queries(graph.engine).items():
        wrong_sets = [dict.fromkeys(query.params | {"unheard_of"})]
        wrong_sets += [dict.fromkeys(query.params - {left_out}) for left_out in query.params]
        for wrong in wrong_sets:
            with pytest.raises(QueryFileError, match=f"query {name}: missing"):
                graph.run(name, wrong)


def test_wrong_parameters_are_refused_before_anything_is_sent(engine: EngineUnderTest) -> None:
    right = {"contacts": contacts(decision()), "embedding_model": None}
    missing = {"embedding_model": None}
    graph = opened(engine)
    graph.close()
    for wrong in (missing, right | {"contact": []}, missing | {"contact": []}):
        # A graph that is closed can send nothing; were anything sent, this were another error.
        with pytest.raises(QueryFileError):
            graph.run("commit_decisions", wrong)
    with pytest.raises(GraphClosedError):
        graph.run("commit_decisions", right)


def test_an_unknown_query_is_refused(graph: Graph) -> None:
    with pytest.raises(QueryFileError, match="no query file is named delete_everything"):
        graph.run("delete_everything", {})


# 3: columns and times

FIRST = decision(contact_name="Alice", span="Prefers email")
SECOND = update(FIRST)
THIRD = decision(
    version=2,
    conflicting_ids=[SECOND["fact_id"]],
    expires_at=NOON + timedelta(days=9),
    subject="contact",
)
HELD = decision(
    version=3,
    action="HOLD",
    decided_by="gate",
    disposal="confirm",
    gate_reason="not_literal",
    fact_id=None,
    lapses_at=NOON + timedelta(days=30),
)
REFUSED = decision(version=4, action="REJECT", decided_by="gate", disposal="reject", fact_id=None)
LATER = decision(version=5)
REVOKED = decision(
    version=6, action="REVOKE", fact_id=None, superseded_ids=[LATER["fact_id"]], door="operator"
)
CITED = decision(
    Scope("acme", "crm", "cora"),
    action="CITE",
    fact_id=None,
    neighbours={FIRST["fact_id"]: 1.0},
    door="answer",
)
ALL_DECISIONS = {
    "contact_keys": [ALICE.contact_key],
    "disposal": "",
    "gate_reason": "",
    "door": "",
    "since": NOON - timedelta(days=9),
    "until": NOON + timedelta(days=9),
    "after_at": NOON + timedelta(days=9),
    "after_id": "",
}
NEAREST = {
    "contact_keys": [ALICE.contact_key],
    "embedding": EAST,
    "embedding_model": MODEL,
    "limit": 5,
}
INDEXED = {
    "agent_key": ALICE.agent_key,
    "embedding": EAST,
    "embedding_model": MODEL,
    "limit": 5,
}
NEAR = {"find_nearest": INDEXED, "list_nearest": NEAREST}
SESSION_KEY = ALICE.session_key("chat-1")
WEBHOOK = {"name": "crm", "lease_id": "w1"}


def placing(decision_id: str, last_place: int, next_place: int) -> dict[str, Any]:
    changes = [{"decision_id": decision_id, "place": last_place + 1}]
    return {"last_place": last_place, "next_place": next_place, "changes": changes}


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
OTHER_SESSION = TURNS | {
    "session_id": "chat-2",
    "session_key": ALICE.session_key("chat-2"),
    "episode_ids": ["turn-7", "turn-8"],
    "job_id": "ended",
}
LEASE = {"job_id": "leased", "lease_id": "lease-1"}
LEASING = LEASE | {"now": NOON, "until": NOON + timedelta(minutes=1)}
CLEANING = {
    "episode_ids": ["turn-1"],
    "texts_before": ["Lives in Pune."],
    "references_before": ["message-1"],
    "texts": ["Lives somewhere."],
    "references": [""],
    "are_cleaned": [True],
}
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
    "session_key": SESSION_KEY,
    "at": NOON,
}
TASK_SESSION = TASK | {
    "session_key": SESSION_KEY,
    "session_id": "chat-1",
    "channel": "task",
    "at": NOON,
}
ERASURE = {
    "erasure_id": "erasure-1",
    **{name: TURNS[name] for name in ("tenant", "agent_id", "contact_key")},
    "target_kind": "contact",
    "target": "{}",
    "state": "pending",
    "by": "contact",
    "reason": "Asked to.",
    "started_at": NOON,
    "plan": "{}",
}
MARKING = CONTACT | {
    "version": 7,
    "next_version": 8,
    "is_whole": False,
    "erasure": ERASURE,
    "fact_ids": ["nobody's"],
    "tombstones": [{"tombstone_key": "ab", "contact_key": ALICE.contact_key}],
    "ended_keys": [OTHER_SESSION["session_key"]],
    "rewound_keys": [OTHER_SESSION["session_key"]],
    "episodes": [{"episode_id": "turn-7", "text": "[erased]"}],
    "at": NOON,
}
ABOUT_FACT = {"fact_ids": [FIRST["fact_id"]]}
PLAIN = {"contact_keys": [ALICE.contact_key], "after": "", "limit": 10}
OF_SOME = CONTACT | {"is_whole": False, "limit": 10}
ABOUT_EPISODE = OF_SOME | {"episode_ids": [FIRST["episode_id"]]}
ERASING: dict[str, dict[str, Any]] = {
    "mark_erasure": MARKING
    | {"version": 8, "next_version": 9, "erasure": ERASURE | {"erasure_id": "erasure-2"}},
    "move_erasure": {
        **{name: ERASURE[name] for name in ("erasure_id", "target", "reason", "plan")},
        "state": "done",
        "receipt": "{}",
        "finished_at": NOON,
        "is_whole": True,
    },
    "list_erasures": {"contact_keys": [ALICE.contact_key], "is_unfinished": True},
    "list_erased_sessions": CONTACT,
    "list_emptied_episodes": CONTACT,
    "list_judged_words": CONTACT,
    "list_revoked": {"decision_ids": [REVOKED["decision_id"]]},
    "list_scope_episodes": CONTACT,
    "list_scope_jobs": CONTACT,
    "list_scope_sessions": CONTACT,
    "list_scope_tasks": CONTACT,
    "list_tombstones": CONTACT,
    "remove_conflict_reasons": OF_SOME | {"fact_ids": [SECOND["fact_id"]]},
    "remove_contact_words": CONTACT | {"erased": "[erased]", "is_whole": True},
    "remove_decision_spans": ABOUT_EPISODE,
    "put_fact_ends": {
        "ends": [{"fact_id": THIRD["fact_id"], "valid_to": NOON, "expires_at": None}]
    },
    "remove_decisions": {
        "decisions": [
            {
                "decision_id": FIRST["decision_id"],
                **dict.fromkeys(("text", "reason", "arbiter_reasoning", "record"), "[erased]"),
                "inference_key": None,
                "lapses_at": NOON,
            }
        ]
    },
    "remove_episodes": {"episodes": [{"episode_id": FIRST["episode_id"], "text": "[erased]"}]},
    "remove_fact_spans": ABOUT_EPISODE,
    "remove_facts": ABOUT_FACT | {"at": NOON},
    "remove_job_words": {"job_ids": ["waiting"], "is_ended": True, "at": NOON},
    "remove_session_words": {"session_keys": [SESSION_KEY]},
    "remove_answer_links": OF_SOME | ABOUT_FACT,
    "remove_supersession_reasons": OF_SOME | ABOUT_FACT,
    "remove_task_words": {"task_keys": [TASK["task_key"]]},
    "revive_facts": ABOUT_FACT,
}
CALLS: dict[str, dict[str, Any]] = ERASING | {
    "add_done_subtask": TASK | {"subtask_id": "one", "at": NOON},
    "add_task_decisions": TASK | {"decided": ["Calls first."], "at": NOON},
    "find_task": TASK,
    "link_task_session": TASK_SESSION,
    "list_tasks": {"contact_keys": [ALICE.contact_key], "states": ["start"], "limit": 5},
    "list_task_sessions": TASK,
    "set_task_blocker": TASK | {"blocker": "No answer yet.", "at": NOON},
    "set_task_outcome": TASK | {"outcome_id": "decision-1", "at": NOON},
    "set_task_state": TASK | {"state": "deciding", "session_id": "chat-1", "at": NOON},
    "upsert_task": TASK_BEGUN,
    "append_episodes": TURNS | {"job_id": "third", "episode_ids": ["turn-5", "turn-6"]},
    "clean_episodes": CLEANING,
    "count_jobs": {},
    "find_unfinished_job": {"leased_until": NOON, "due_until": NOON},
    "find_job": {"job_id": "waiting", **asdict(ALICE)},
    "find_proposals": {"job_id": "waiting"},
    "find_session": {"session_key": SESSION_KEY},
    "find_jobs_of_episodes": {"episode_ids": ["turn-1"]},
    "finish_job": LEASE | {"at": NOON} | NO_OUTCOMES,
    "give_job_back": LEASE
    | {"state": "waiting", "attempts": 1, "due_at": NOON, "last_error": "no answer"},
    "keep_proposals": LEASE | READ | CLEANING,
    "lease_job": LEASING | {"job_id": "waiting"},
    "list_due_jobs": {"now": NOON},
    "list_jobs": {
        "tenant": ALICE.tenant,
        "agent_id": "",
        "contact_id": "",
        "state": "",
        "after_at": NOON,
        "after_id": "",
        "limit": 5,
    },
    "list_session_episodes": {"session_key": SESSION_KEY},
    "list_last_sessions": {"contact_key": ALICE.contact_key, "beginning": "chat", "limit": 5},
    "renew_lease": LEASE | {"until": NOON},
    "retry_job": {"job_id": "waiting", **asdict(ALICE), "at": NOON},
    "claim_store": {"embedding_model": MODEL, "id_key": "ab", "at": NOON},
    "claim_hash_key": {"check": "ab", "at": NOON},
    "release_hash_key": {"at": NOON},
    "commit_decisions": {"contacts": contacts(decision(version=8)), "embedding_model": MODEL},
    "bind_store": {"id_key": "ab", "at": NOON},
    "put_tokens": {"before": "", "after": "{}"},
    "put_remains": {
        "label": "Task",
        "rows": [{"node_id": TASK["task_key"], "node": {"goal": "[erased]"}}],
    },
    "finish_contact": CONTACT | {"version": 8, "node": {"version": 6}},
    "count_contacts": {},
    "count_actions": {"contact_keys": [ALICE.contact_key]},
    "count_episodes": {"contact_keys": [ALICE.contact_key]},
    "count_refusals": {"contact_keys": [ALICE.contact_key]},
    **{
        name: {"agent_key": ALICE.agent_key}
        for name in (
            *("count_actions_of_agent", "count_episodes_of_agent", "count_refusals_of_agent"),
            *("list_contacts_of_agent", "list_disputing"),
        )
    },
    "count_states_of_agent": {"agent_key": ALICE.agent_key, "now": NOON},
    "find_contact_version": CONTACT,
    "list_versions": {"contact_keys": [ALICE.contact_key]},
    "list_given_ids": CONTACT | {"keys": [ALICE.contact_key]},
    "find_decisions": CONTACT | {"decision_ids": [SECOND["decision_id"]]},
    "find_decided": {"decision_ids": [FIRST["decision_id"], SECOND["decision_id"]]},
    "find_records": {"decision_ids": [FIRST["decision_id"], SECOND["decision_id"]]},
    "find_episodes": CONTACT | {"episode_ids": [FIRST["episode_id"]]},
    "find_facts": CONTACT | {"fact_ids": [FIRST["fact_id"]]},
    "find_agents_facts": {"agent_key": ALICE.agent_key, "fact_ids": [FIRST["fact_id"]]},
    "find_nearest": INDEXED,
    "list_nearest": NEAREST,
    "find_named_contacts": {"agent_key": ALICE.agent_key, "word": "ali", "limit": 5},
    "list_mentions": {
        "agent_key": ALICE.agent_key,
        "word": "a",
        "other": "a",
        "offset": 0,
        "limit": 5,
    },
    "find_resting": {"episode_id": FIRST["episode_id"]},
    "find_schema_version": {},
    "find_store": {},
    "find_tokens": {},
    "list_answers": ABOUT_FACT,
    "list_comparisons": {"decision_ids": [SECOND["decision_id"]]},
    "list_contact_comparisons": CONTACT,
    "list_contact_decisions": CONTACT,
    "list_conflict_links": CONTACT,
    "list_conflicts": CONTACT | {"states": [*LASTING]},
    "count_keyless": {},
    "list_agents": {},
    "count_states": {"contact_keys": [ALICE.contact_key], "now": NOON},
    "list_contact_ids": {"agent_key": ALICE.agent_key, "after": "", "limit": 5},
    "list_contacts": {"contact_keys": [ALICE.contact_key]},
    "list_disputed": {"contact_keys": [ALICE.contact_key]},
    "list_newest_facts": CONTACT
    | {"confirmed_before": NOON, "recorded_before": NOON, "after_id": "", "limit": 5},
    "list_expiring": {
        "contact_keys": [ALICE.contact_key],
        "now": NOON,
        "until": NOON + timedelta(days=30),
        "also_expired": True,
        "limit": 5,
    },
    "list_expiring_of_agent": {
        "agent_key": ALICE.agent_key,
        "now": NOON,
        "until": NOON + timedelta(days=30),
        "also_expired": True,
        "limit": 5,
    },
    "find_expiry": {"now": NOON, "until": NOON + timedelta(days=30), "offset": 0},
    "list_pending_ids_of_agent": {
        **{"agent_key": ALICE.agent_key, "now": NOON, "until": NOON, "limit": 5}
    },
    "list_disputed_of_agent": {"agent_key": ALICE.agent_key},
    "list_decision_ids": ALL_DECISIONS | {"limit": 5},
    "list_evidence": {"decision_id": SECOND["decision_id"]},
    "list_fact_evidence": {"fact_ids": [FIRST["fact_id"]]},
    "list_judged": {"episode_ids": [FIRST["episode_id"]]},
    "list_facts": CONTACT,
    "list_uses": CONTACT,
    "list_filed_facts": {"agent_key": ALICE.agent_key, "subject": "contact"},
    "list_made_ids": CONTACT,
    "list_revocation_ids": CONTACT | {"door": ""},
    "list_neighbourhood": CONTACT | {"embedding_model": MODEL, "states": [*LASTING]},
    **dict.fromkeys(("list_plain_decisions", "list_plain_episodes", "list_plain_facts"), PLAIN),
    "list_pending_ids": {"contact_keys": [ALICE.contact_key], "now": NOON},
    "list_precedents": CONTACT | {"inference_key": "inference-1"},
    "list_live_facts": {
        **{"contact_keys": [ALICE.contact_key], "embedding_model": MODEL, "now": NOON}
    },
    "list_said_since": {
        "contact_keys": [ALICE.contact_key],
        "since": NOON - timedelta(days=9),
        "is_plain": True,
    },
    "list_vectors": {"contact_keys": [ALICE.contact_key], "embedding_model": MODEL},
    "list_predecessors": {"fact_ids": [SECOND["fact_id"]], "embedding": EAST},
    "list_supersessions": CONTACT,
    "record_correction": CONTACT
    | {
        "decision_id": FIRST["decision_id"],
        "correction": "same",
        "at": NOON,
    },
    "record_use": {"used": [{"fact_id": FIRST["fact_id"], "recalls": 2, "at": NOON}]},
    "lease_webhook": {**WEBHOOK, "now": NOON, "until": NOON},
    "keep_webhook": {**WEBHOOK, "state": "{}", "until": NOON},
    "list_webhooks": {},
    "list_unplaced": {"limit": 5},
    "place_changes": placing(SECOND["decision_id"], 2, 4),
    "list_changes": {"agent_key": ALICE.agent_key, "first": 1, "window": 5},
    "record_recalls": {
        "asked": [{"contact_key": ALICE.contact_key, "recalls": 2, "empty_recalls": 1}]
    },
    "record_schema_version": {"schema_version": 1, "embedding_dimension": DIMENSION},
}


READS = [name for name in NAMES if load_queries("embedded")[name].mode == "read"]
WRITES = [name for name in NAMES if name not in READS]


def tell(graph: Graph) -> None:
    """Write into an empty store that in which each of ``CALLS`` finds or writes something."""
    commit(graph, FIRST)
    commit(graph, SECOND)
    commit(graph, THIRD)
    commit(graph, HELD)
    commit(graph, REFUSED)
    commit(graph, LATER)
    commit(graph, REVOKED)
    commit(graph, CITED)
    graph.run("append_episodes", OTHER_SESSION)
    graph.run("mark_erasure", MARKING)
    graph.run("append_episodes", WAITING_JOB)
    graph.run("append_episodes", LEASED_JOB)
    graph.run("lease_job", LEASING)
    graph.run("upsert_task", TASK_BEGUN)
    graph.run("link_task_session", TASK_SESSION)
    graph.run("place_changes", placing(FIRST["decision_id"], 0, 2))
    graph.run("lease_webhook", CALLS["lease_webhook"])


def assert_as_declared(graph: Graph, name: str, rows: list[Row]) -> None:
    query = load_queries(graph.engine)[name]
    assert {tuple(row) for row in rows} == {query.returns}, name
    rows = by_row(rows) if query.is_by_column else rows
    lists = [value for row in rows for value in row.values() if isinstance(value, list)]
    assert all(isinstance(each, str) for value in lists for each in value), name
    told_by = {type(value).__module__ for row in rows for value in row.values()}
    assert told_by <= {"builtins", "datetime", "decimal"}, f"{name}: a type of the driver's own"


def test_rows_that_are_read_have_exactly_the_declared_columns_and_no_vector(graph: Graph) -> None:
    tell(graph)
    wait_for_index(graph)
    for name in READS:
        assert_as_declared(graph, name, graph.run(name, CALLS[name]))


def test_rows_of_a_write_have_exactly_the_declared_columns_and_no_vector(kept: KeptStore) -> None:
    names = WRITES
    while names:
        tell(kept.empty())
        without_row = []
        for name in names:
            if rows := kept.graph.run(name, CALLS[name]):
                assert_as_declared(kept.graph, name, rows)
            else:  # a write before it may have taken away what it needs: once more without that
                without_row.append(name)
        assert without_row != names
        names = without_row


def test_a_query_by_column_gives_what_rows_would(graph: Graph) -> None:
    commit(graph, *(decision(version=n, text=f"Fact {n}") for n in range(3)))
    asked = CONTACT | {"embedding_model": MODEL, "states": [*LASTING]}
    [columns] = graph.run("list_neighbourhood", asked)
    told = {row["fact_id"]: row for row in by_row([columns])}
    assert {len(held) for held in columns.values()} == {3}
    assert {row["fact_id"]: told[row["fact_id"]] | row for row in facts(graph)} == told


ABOUT_THE_STORE = {
    "count_contacts",
    "count_keyless",
    "find_schema_version",
    "find_store",
    "find_tokens",
}


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


def test_a_time_with_any_offset_comes_back_in_utc_to_the_microsecond(graph: Graph) -> None:
    said = [decision(version=n, said_at=at, at=at) for n, at in enumerate(TIMES)]
    commit(graph, *said)
    told = {fact["fact_id"]: fact for fact in facts(graph)}
    for at, given in zip(TIMES, said, strict=True):
        for name in ("recorded_at", "valid_from", "last_confirmed_at"):
            found = told[given["fact_id"]][name]
            assert found.isoformat() == at.astimezone(UTC).isoformat()
            assert found.tzinfo is UTC


def test_times_are_compared_as_instants_not_as_they_are_written(graph: Graph) -> None:
    first = decision(said_at=datetime(2026, 3, 9, 12, tzinfo=UTC))
    later = datetime(2026, 3, 9, 9, tzinfo=timezone(timedelta(hours=-5)))
    commit(graph, first)
    commit(graph, update(first, said_at=later))
    assert {row["valid_to"] for row in facts(graph)} == {None, datetime(2026, 3, 9, 14, tzinfo=UTC)}


@pytest.mark.parametrize("times", [(None, TIMES[1]), (TIMES[1], None), (None, None), TIMES[:2]])
def test_of_decisions_that_are_emptied_together_some_lapse(
    graph: Graph, times: Sequence[datetime | None]
) -> None:
    said = [decision(version=n, lapses_at=NOON) for n in range(2)]
    commit(graph, *said)
    same = {"text": "-", "reason": "-", "record": "{}", "arbiter_reasoning": None}
    ids = [each["decision_id"] for each in said]
    for told in (times, tuple(reversed(times))):  # the second on the plan of the first
        lapsing = zip(ids, told, strict=True)
        given = [
            same | {"decision_id": key, "inference_key": None, "lapses_at": at}
            for key, at in lapsing
        ]
        graph.run("remove_decisions", {"decisions": given})
        [columns] = graph.run("list_plain_decisions", PLAIN)
        assert dict(zip(columns["node_id"], columns["lapses_at"], strict=True)) == {
            key: at and at.astimezone(UTC) for key, at in zip(ids, told, strict=True)
        }


TEXTS = [
    'It\'s "quoted", \\ and $dollar {braces}; DROP',
    "Zoë 李 👩‍👩‍👧 ﷺ",
    "line\nend\ttab",
    "a" * 2000,
    "' OR 1=1 //",
]


def test_a_text_comes_back_to_the_letter(graph: Graph) -> None:
    commit(graph, *(decision(version=n, text=text) for n, text in enumerate(TEXTS)))
    assert {fact["text"] for fact in facts(graph)} == set(TEXTS)


def test_a_node_that_is_returned_whole_is_a_map_of_what_it_holds(graph: Graph) -> None:
    given = decision(text="Likes tea.")
    commit(graph, given)
    asked = {"contact_keys": [ALICE.contact_key], "after": "", "limit": 10, "with_vectors": True}
    [row] = graph.run("list_whole_facts", asked)
    assert row["node_id"] == row["node"]["fact_id"] == given["fact_id"]
    assert (row["node"]["text"], row["node"]["recorded_at"].tzinfo) == ("Likes tea.", UTC)
    assert None not in row["node"].values()
    assert not [name for name in row["node"] if name.startswith("_")]


def test_a_link_that_is_returned_whole_is_a_map_of_what_it_holds(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    commit(graph, update(first))
    asked = {**CONTACT, "after": "", "until": "\U0010ffff"}
    [row] = graph.run("list_supersedes_links", asked)
    assert row["to_id"] == first["fact_id"]
    assert row["link"]["at"].tzinfo is UTC
    assert {"decided_by", "reason", "at"} <= row["link"].keys()


# 4: raw cosine


def predecessors(graph: Graph, vector: list[float]) -> list[Row]:
    """What lies beneath the only live fact."""
    [head] = [row["fact_id"] for row in facts(graph) if row["state"] == "live"]
    return graph.run("list_predecessors", {"fact_ids": [head], "embedding": vector})


def store_as_live_facts(graph: Graph, vectors: list[list[float]]) -> None:
    commit(graph, *(decision(text=str(n), embedding=each) for n, each in enumerate(vectors)))


def store_beneath_a_fact(graph: Graph, vectors: list[list[float]]) -> None:
    said = [decision(text=str(n), embedding=each) for n, each in enumerate(vectors)]
    head = update(said[-1], superseded_ids=[each["fact_id"] for each in said], restated_id=None)
    commit(graph, *said, head)


def test_a_cosine_agrees_with_numpy_over_random_vectors(graph: Graph) -> None:
    stored = unit_vectors(20)
    store_beneath_a_fact(graph, stored.tolist())
    for asked in unit_vectors(5):
        told = predecessors(graph, asked.tolist())
        assert len(told) == len(stored)
        for row in told:
            wanted = cosine(stored[int(row["text"])], asked)
            assert row["cosine"] == pytest.approx(wanted, abs=1e-6)


def test_a_cosine_across_contacts_is_raw_and_the_nearest_come_first(graph: Graph) -> None:
    wanted = [0.9501, 0.5, 0.0, -0.5]
    store_as_live_facts(graph, [at_cosine(value) for value in wanted])
    wait_for_index(graph)
    for name, asked in NEAR.items():
        found = [row["cosine"] for row in graph.run(name, asked | {"limit": 3})]
        assert found == pytest.approx(wanted[:3], abs=1e-6)


@pytest.mark.new_schema
def test_a_query_makes_the_index_that_it_goes_by_and_finds_nothing_until_it_is_built(
    engine: EngineUnderTest,
) -> None:
    with closing(opened(engine)) as graph:
        graph.migrate(DIMENSION)
        store_as_live_facts(graph, [EAST])
        for _ in range(2):  # the second time the graph knows it, and another caller drops it
            if has_index(graph):
                raw_store.query(engine, "DROP INDEX fact_embedding IF EXISTS")
            assert len(graph.run("find_nearest", INDEXED)) == (not has_index(graph))
            wait_for_index(graph)
            assert len(graph.run("find_nearest", INDEXED)) == 1


def wait_for_index(graph: Graph) -> None:
    """Until the engine, where it keeps an index of vectors, has built it. Some fact is near."""
    give_up_at = monotonic() + 60
    while has_index(graph) and not graph.run("find_nearest", INDEXED):
        assert monotonic() < give_up_at, "the index was not built"
        sleep(0.05)


def has_index(graph: Graph) -> bool:
    """Whether the engine keeps an index of vectors."""
    return graph.engine == "neo4j"


def test_another_agents_facts_are_near_to_nobody(graph: Graph) -> None:
    store_as_live_facts(graph, [EAST])
    wait_for_index(graph)
    assert graph.run("find_nearest", INDEXED | {"agent_key": "another"}) == []
    assert graph.run("list_nearest", NEAREST | {"contact_keys": ["another"]}) == []


def test_a_cosine_is_raw_from_identical_to_opposite(graph: Graph) -> None:
    store_beneath_a_fact(graph, [EAST])
    for value in (1.0, 0.9999, 0.9501, 0.9499, 0.5, 0.0, -0.5, -1.0):
        [told] = predecessors(graph, at_cosine(value))
        assert told["cosine"] == pytest.approx(value, abs=1e-6)


def test_a_cosine_never_leaves_its_range(graph: Graph) -> None:
    vectors = unit_vectors(30).tolist()
    store_beneath_a_fact(graph, vectors)
    opposite = [[-each for each in vector] for vector in vectors]
    told = [row["cosine"] for asked in vectors + opposite for row in predecessors(graph, asked)]
    assert min(told) >= -1
    assert max(told) <= 1


def test_vectors_leave_a_neighbourhood_as_they_came_bit_for_bit(graph: Graph) -> None:
    vectors = unit_vectors(7)
    store_as_live_facts(graph, vectors.tolist())
    told = neighbourhood(graph)
    assert {row["text"] for row in told} == set(map(str, range(7)))
    for row in told:
        assert bytes(row["embedding_bytes"]) == vectors[int(row["text"])].tobytes()


PUNE = {
    "subject": "contact",
    "attribute": "city",
    "value": "Pune",
    "value_key": "pune",
    "is_single_valued": True,
    "slot_key": "contact/city/pune/",
}


def test_a_neighbourhood_comes_with_the_version_it_was_seen_at(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    commit(graph, update(first))
    assert [row["version"] for row in neighbourhood(graph)] == [2]


def test_an_expired_fact_is_in_its_neighbourhood(graph: Graph) -> None:
    commit(graph, decision(expires_at=NOON))
    assert len(neighbourhood(graph)) == 1


def test_one_contacts_facts_are_never_compared_with_anothers(graph: Graph) -> None:
    for other in (
        Scope("acme", "crm", "bob"),
        Scope("acme", "support", "alice"),
        Scope("globex", "crm", "alice"),
        Scope("acme", "crm/alice", "alice"),
    ):
        commit(graph, decision(other))
    assert neighbourhood(graph) == []
    commit(graph, decision(text="Mine"))
    assert [row["text"] for row in neighbourhood(graph)] == ["Mine"]


def test_a_superseded_fact_is_not_compared(graph: Graph) -> None:
    first = decision()
    second = update(first, embedding=at_cosine(0.1))
    commit(graph, first)
    commit(graph, second)
    assert [row["fact_id"] for row in neighbourhood(graph)] == [second["fact_id"]]


def test_a_fact_of_another_model_is_not_compared(graph: Graph) -> None:
    commit(graph, decision(embedding_model="model@2"))
    assert neighbourhood(graph) == []
    assert len(neighbourhood(graph, embedding_model="model@2")) == 1


def test_a_fact_without_a_vector_is_not_compared(graph: Graph) -> None:
    commit(graph, decision(embedding=None, embedding_model="noop"))
    assert neighbourhood(graph) == []


# What a decision leaves behind


def conflicts(graph: Graph) -> set[frozenset[str]]:
    rows = graph.run("list_conflicts", CONTACT | {"states": [*LASTING]})
    return {frozenset((row["new_id"], row["old_id"])) for row in rows}


def links(graph: Graph) -> dict[tuple[str, str], bool]:
    rows = graph.run("list_supersessions", CONTACT)
    return {(row["new_id"], row["old_id"]): row["is_restatement"] for row in rows}


def rests_on(graph: Graph, of: dict[str, Any]) -> set[str]:
    """Which of all these tests' episodes the fact of a decision rests on."""
    rows = graph.run("list_decision_ids", ALL_DECISIONS | {"limit": 99})
    ids = [each["decision_id"] for each in rows]
    told = [row for each in ids for row in graph.run("list_evidence", {"decision_id": each})]
    asked = {row["episode_id"] for row in told}
    store = FactStore(graph)
    return {each for each in asked if store.rests_on(ALICE, of["fact_id"], each)}


def test_one_decision_may_end_several_facts_and_restate_one(graph: Graph) -> None:
    one, two = decision(), decision(version=1)
    both = [one["fact_id"], two["fact_id"]]
    new = update(two, superseded_ids=both, restated_id=one["fact_id"])
    for each in (one, two, new):
        commit(graph, each)
    assert links(graph) == {(new["fact_id"], both[0]): True, (new["fact_id"], both[1]): False}
    assert [row["fact_id"] for row in facts(graph) if row["state"] == "live"] == [new["fact_id"]]
    assert rests_on(graph, new) == {new["episode_id"], one["episode_id"]}


def test_a_conflict_stays_open_until_one_decision_ends_both_facts(graph: Graph) -> None:
    one = decision()
    two = decision(version=1, conflicting_ids=[one["fact_id"]])
    three = update(two, restated_id=None)
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
    newer, early = decision(), NOON - timedelta(days=9)
    beneath = {"history_of_id": newer["fact_id"], "restated_id": newer["fact_id"]}
    gained = skip(newer)["kept"]
    commit(graph, newer)
    older = decision(
        version=1, said_at=early, valid_to=NOON, state="superseded", kept=gained, **beneath
    )
    commit(graph, older)
    assert links(graph) == {(newer["fact_id"], older["fact_id"]): True}
    told = {row["fact_id"]: row for row in facts(graph)}
    below, above = told[older["fact_id"]], told[newer["fact_id"]]
    assert (below["state"], below["valid_from"], below["valid_to"]) == ("superseded", early, NOON)
    assert (above["state"], above["valid_to"], above["observations"]) == ("live", None, 2)
    assert rests_on(graph, newer) == {newer["episode_id"], older["episode_id"]}
    assert rests_on(graph, older) == {older["episode_id"]}


CITY = {
    **{"subject": "contact", "attribute": "city", "value": "Pune", "value_key": "pune"},
    **{"is_single_valued": True, "is_known": True, "is_personal": False},
}
KEPT = {
    "observations": 300,
    "confidence": 0.123456789,
    "is_confirmed_by_user": True,
    "expires_at": NOON + timedelta(days=9, microseconds=1),
    "last_confirmed_at": NOON + timedelta(microseconds=1),
}


def test_a_fact_that_is_said_once_more_becomes_what_the_commit_says(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    [before] = facts(graph)
    again = skip(first)
    again["kept"] |= KEPT
    commit(graph, again)
    assert facts(graph) == [before | KEPT]
    assert rests_on(graph, first) == {first["episode_id"], again["episode_id"]}


def test_a_fact_that_is_said_once_more_may_get_a_slot_and_keeps_the_one_it_has(
    graph: Graph,
) -> None:
    first = decision()
    commit(graph, first)
    filled = skip(first)
    filled["kept"] |= CITY | {"slot_key": "contact/city/pune"}
    commit(graph, filled)
    assert CITY.items() <= facts(graph)[0].items()
    commit(graph, skip(filled))
    assert CITY.items() <= facts(graph)[0].items()


def test_a_skip_that_counts_no_episode_changes_no_fact(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    before = facts(graph)
    commit(graph, skip(first, kept=None))
    assert facts(graph) == before
    assert rests_on(graph, first) == {first["episode_id"]}


def test_all_evidence_of_a_decision_is_its_facts_each_with_its_words(graph: Graph) -> None:
    more = {"episode_id": "turn-2", "session_id": "call-2", "text": "Only email", "span": "email"}
    said = decision(span="by email", evidence=[more])
    commit(graph, said)
    told = graph.run("list_evidence", {"decision_id": said["decision_id"]})
    assert {(row["episode_id"], row["session_id"], row["span"]) for row in told} == {
        (said["episode_id"], "call-1", "by email"),
        ("turn-2", "call-2", "email"),
    }
    assert rests_on(graph, said) == {said["episode_id"], "turn-2"}


@pytest.mark.parametrize("is_whole", [False, True], ids=["of some", "of all"])
def test_cited_words_are_taken_away_some_at_a_time_beside_decisions_that_cite_none(
    graph: Graph, *, is_whole: bool
) -> None:
    for number in range(3):
        said = {"version": 2 * number, "episode_id": f"turn-{number}"}
        commit(graph, decision(**said))
        commit(graph, decision(**said | {"version": 2 * number + 1, "span": "email"}))
    episode_ids = [f"turn-{number}" for number in range(3)]
    named = {"is_whole": is_whole, "episode_ids": [] if is_whole else episode_ids}
    given = CONTACT | named | {"limit": 2}
    cited = [row["span"] for row in graph.run("list_judged_words", CONTACT)]
    assert sorted(map(str, cited)) == 3 * ["None"] + 3 * ["email"]
    for name in ("remove_fact_spans", "remove_decision_spans"):
        taken = [graph.run(name, given) for _ in range(3)]
        assert [len(rows) for rows in taken] == [2, 1, 0]
        assert {row["episode_id"] for rows in taken for row in rows} == {*episode_ids}
    assert {row["span"] for row in graph.run("list_judged_words", CONTACT)} == {None}


def test_an_episode_that_is_stored_stays_as_it_was_told_first(graph: Graph) -> None:
    first = decision()
    commit(graph, first)
    commit(graph, update(first, episode_id=first["episode_id"], text="Other words"))
    [told] = graph.run(
        "find_episodes", CALLS["find_episodes"] | {"episode_ids": [first["episode_id"]]}
    )
    assert told["text"] == first["text"]


def test_what_is_revoked_ends_and_nothing_takes_its_place(graph: Graph) -> None:
    first = decision()
    revoking = update(first, action="REVOKE", fact_id=None, valid_from=NOON + timedelta(days=1))
    commit(graph, first)
    commit(graph, revoking)
    [told] = facts(graph)
    assert (told["state"], told["valid_to"]) == ("revoked", NOON + timedelta(days=1))
    assert links(graph) == {}


def test_an_answer_settles_the_question_that_was_held(graph: Graph) -> None:
    pending = {"contact_keys": [ALICE.contact_key], "now": NOON}
    held = HELD | {"version": 0}
    commit(graph, held)
    assert [row["decision_id"] for row in graph.run("list_pending_ids", pending)] == [
        held["decision_id"]
    ]
    commit(graph, decision(version=1, settles_id=held["decision_id"]))
    assert graph.run("list_pending_ids", pending) == []


def test_all_that_lies_beneath_a_fact_is_found_with_its_cosine(graph: Graph) -> None:
    one = decision(embedding=at_cosine(0.3), **PUNE)
    two = update(one, restated_id=None, decided_by="slot")
    three = update(two)
    for each in (one, two, three):
        commit(graph, each)
    asked = {"fact_ids": [three["fact_id"]], "embedding": EAST}
    found = {row["fact_id"]: row for row in graph.run("list_predecessors", asked)}
    assert set(found) == {one["fact_id"], two["fact_id"]}
    assert {row["head_id"] for row in found.values()} == {three["fact_id"]}
    first = found[one["fact_id"]]
    assert first["cosine"] == pytest.approx(0.3, abs=1e-6)
    assert (first["value_key"], first["decided_by"], first["is_restatement"]) == (
        "pune",
        "slot",
        False,
    )
    assert found[two["fact_id"]]["is_restatement"]


RECORDS = [
    '{"text":"It\'s \\"quoted\\", \\\\ and $dollar {braces}; DROP // no comment"}',
    "Zoë 李 👩‍👩‍👧 ﷺ\u2028\u0085 line\nend\ttab",
    "$commit.decision.record $decision__record \\u0041 \\n",
    "9" * 100_000,
]


def test_a_record_comes_back_to_the_letter(graph: Graph) -> None:
    given = [decision(version=n, record=record) for n, record in enumerate(RECORDS)]
    commit(graph, *given)
    told = graph.run(
        "find_decisions", CONTACT | {"decision_ids": [d["decision_id"] for d in given]}
    )
    found = {row["decision_id"]: (row["record"], row["correction"], row["at"]) for row in told}
    assert found == {d["decision_id"]: (d["record"], None, d["at"]) for d in given}


@pytest.mark.parametrize("is_given", [True, False], ids=["given", "null"])
def test_everything_about_a_fact_comes_back(graph: Graph, is_given: bool) -> None:
    values = PUNE | {"topic": "work", "tags": ["a", "b"], "expires_at": NOON, "is_known": True}
    kept = {name: value if is_given else None for name, value in values.items()} | {
        "importance": 0.25,
        "confidence": 0.123456789,
        "observations": 70_000,
        "is_contested": is_given,
        "is_redacted": is_given,
        "sensitivity": "personal",
        "recall_semantics": "binding",
        "yields_to_live_intent": is_given,
        "is_confirmed_by_user": is_given,
        "category": "decision",
        "trust": "operator",
    }
    given = decision(**kept)
    commit(graph, given)
    [told] = graph.run("find_facts", CONTACT | {"fact_ids": [given["fact_id"]]})
    kept.pop("slot_key")
    assert {name: told[name] for name in kept} == kept


# 5: one writer a version


def test_a_decision_on_another_version_gives_no_row_and_writes_nothing(kept: KeptStore) -> None:
    commit(kept.graph, decision())
    before = _without_locks(raw_store.everything(kept.engine))
    for given in (0, 2, -1):
        assert commit(kept.graph, decision(version=given)) == []
        assert _without_locks(raw_store.everything(kept.engine)) == before


def test_a_decision_on_a_contact_that_does_not_exist_yet_must_expect_version_0(
    kept: KeptStore,
) -> None:
    assert commit(kept.graph, decision(version=1)) == []
    found = raw_store.counts(kept.engine)
    assert (found["Decision"], found["Fact"], found["Episode"], found["Agent"]) == (0, 0, 0, 0)


@pytest.mark.parametrize("known", [False, True], ids=["new contact", "known contact"])
def test_of_many_writers_at_one_version_exactly_one_wins(kept: KeptStore, known: bool) -> None:
    if known:
        commit(kept.graph, decision())
    outcomes = _at_once(16, lambda _: _outcome(kept.graph, decision(version=int(known))))
    assert version(kept.graph) == int(known) + 1
    assert outcomes.count("won") == 1
    assert set(outcomes) <= {"won", "no row", "conflict"}
    assert raw_store.counts(kept.engine)["Decision"] == int(known) + 1


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


def test_what_the_engine_rejects_is_a_query_error_with_its_cause(graph: Graph) -> None:
    commit(graph, decision())
    for wrong in ("many", -1):
        with pytest.raises(QueryError) as raised:
            graph.run("list_decision_ids", ALL_DECISIONS | {"limit": wrong})
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
        told = [neighbourhood(graph, contact_key=scope.contact_key) for _ in range(5)]
        return {row["text"] for rows in told for row in rows}

    assert _at_once(8, read) == [{str(number)} for number in range(8)]
