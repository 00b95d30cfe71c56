"""No statement on a hot path reads a whole table of the embedded engine, small or grown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler.adapters.embedded_graph import EmbeddedGraph
from reconciler.adapters.embedded_statements import bound, bound_together
from reconciler.queries import Statement, load_queries
from tests.embedded_plans import scanned_tables
from tests.sent_maps import Tree, sent_trees
from tests.tables import every

QUERIES = load_queries("embedded")
LARGE = {"Fact", "Decision", "Episode", "Session"}
COLD = {
    *("count_jobs", "list_jobs", "list_due_jobs"),
    *("find_unfinished_job",),
    *("link_task_session", "list_contact_keys", "count_contacts"),
    *("list_unplaced", "list_changes"),
    *("begin_move", "switch_model", "count_moved", "list_unmoved", "list_next_ids"),
    *("find_nearest", "list_mentions", "find_expiry", "list_expiring_of_agent"),
    *("list_pending_ids_of_agent", "list_disputed_of_agent", "list_given_ids"),
    *("count_actions_of_agent", "count_states_of_agent", "count_episodes_of_agent"),
    *("count_refusals_of_agent", "list_disputing"),
}
"""What an operator asks for now and then, or a task once. One pass over few columns of a table is
faster than a look at each contact of an agent that has many."""

SCANS_WHILE_SMALL = ("[links:SUPERSEDES*", "[conflict:CONFLICTS_WITH]-(other")
"""What reads a table of some dozen rows; it is planned again as the store grows."""

OF_A_SPLIT = "$each__unquoted"
"""What a split alone sends: its statement may read the decisions or episodes of the store, once."""

UNWOUND = re.compile(r"UNWIND \$([\w.]+)")
KEYED = re.compile(r"CREATE \(\w+:(\w+) .*\$row\.node")
CHANGED = re.compile(r"MATCH \(\w+:(\w+) .*\s+SET \w+ \+= \$row\.node")
CHANGED_OF = {
    **{"Session": "channel", "Episode": "text", "Fact": "text", "Job": "state"},
    **{"Decision": "text", "Task": "goal", "Erasure": "reason", "Tombstone": "contact_key"},
}
"""A property of each label that is no key."""

KEY_OF = {
    **{"Session": "session_key", "Episode": "episode_id", "Fact": "fact_id", "Job": "job_id"},
    **{"Decision": "decision_id", "Task": "task_key", "Erasure": "erasure_id"},
    "Tombstone": "tombstone_key",
}
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
GROW = """
UNWIND $rows AS row
CREATE (contact:Contact {contact_key: row, contact_id: row, version: 1})
CREATE (session:Session {session_key: row, session_id: row, ended_at: $at})-[:`WITH`]->(contact)
CREATE (episode:Episode {episode_id: row, text: row, said_at: $at, role: 'contact'})
  -[:`IN`]->(session)
CREATE (decision:Decision {decision_id: row, action: 'ADD', inference_key: row, at: $at})
  -[:`FOR`]->(contact)
CREATE (fact:Fact {fact_id: row, text: row, state: 'live', embedding_model: 'model'})
  -[:ABOUT]->(contact)
CREATE (old:Fact {fact_id: 'old ' + row, state: 'superseded'})-[:ABOUT]->(contact)
CREATE (job:Job {job_id: row, state: 'done', due_at: $at})-[:READS]->(session)
CREATE (task:Task {task_key: row})-[:CONCERNS]->(contact)
CREATE (session)-[:PART_OF]->(task)
CREATE (decision)-[:JUDGED]->(episode)
CREATE (decision)-[:WROTE]->(fact)
CREATE (decision)-[:REVOKED]->(old)
CREATE (decision)-[:COMPARED_WITH {rank: 1}]->(old)
CREATE (fact)-[:EVIDENCED_BY]->(episode)
CREATE (fact)-[:SUPERSEDES]->(old)
CREATE (fact)-[:CONFLICTS_WITH]->(old)
"""
ADDED = """
UNWIND $rows AS row
CREATE (contact:Contact {contact_key: row, contact_id: row, version: 1})
CREATE (session:Session {session_key: row, session_id: row})-[:`WITH`]->(contact)
CREATE (episode:Episode {episode_id: row, text: row, said_at: $at})-[:`IN`]->(session)
CREATE (decision:Decision {decision_id: row, action: 'ADD', at: $at})-[:`FOR`]->(contact)
CREATE (fact:Fact {fact_id: row, text: row, state: 'live'})-[:ABOUT]->(contact)
CREATE (decision)-[:JUDGED]->(episode)
CREATE (decision)-[:WROTE]->(fact)
CREATE (decision)-[:COMPARED_WITH {rank: 1}]->(fact)
CREATE (fact)-[:EVIDENCED_BY]->(episode)
"""
"""Notes of which none changed another: what the engine expects to find no link of, it looks for
among all nodes."""

NUMBERS = {
    *(
        "recalls",
        "empty_recalls",
        "offset",
        "version",
        "next_version",
        "observations",
        "rank",
        "limit",
        "attempts",
        *("first", "window", "place", "last_place", "next_place"),
        "lifetime_days",
    ),
    *("schema_version", "embedding_dimension", "dimension"),
    *("added", "superseding", "known", "held", "refused", "left_out", "arbiter_target"),
}
LISTS: dict[str, list[Any]] = {
    "embedding": [0.5] * 8,
    "times": [NOON.replace(tzinfo=None)],
    "more_episode_times": [NOON.replace(tzinfo=None)],
    "positions": [1],
    "neighbour_cosines": [0.5],
    **{
        name: ["1"]
        for name in ("tags", "findings", "score_parts", "decided", "proposals", "states")
    },
}


SIZES = {"60": (60, GROW), "2000": (2000, GROW), "2000 added": (2000, ADDED)}


@pytest.fixture(scope="module", params=SIZES)
def graph(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedGraph]:
    """A store with so many rows in each table."""
    path: Path = tmp_path_factory.mktemp("plans") / "memory.lbug"
    count, each = SIZES[request.param]
    with closing(EmbeddedGraph(path)) as graph:
        graph.migrate(8)
        grow(graph, count, each)
        yield graph


def test_contacts_are_first_compared_with_the_least_and_the_greatest_key() -> None:
    [statement] = QUERIES["list_disputed"].statements
    text, given = bound(statement, {"contact_keys": ["b", "ab", "c"]})
    assert "WHERE contact.contact_key >= $least_contact_key AND contact.contact_key <=" in text
    assert (given["least_contact_key"], given["greatest_contact_key"]) == ("ab", "c")


def grow(graph: EmbeddedGraph, count: int, each: str = GROW) -> None:
    """So many contacts, each with a note of its own, and what comes of one."""
    rows = [str(number) for number in range(count)]
    with graph._writer() as connection:
        connection.rows(each, {"rows": rows, "at": NOON.replace(tzinfo=None)})


FLAGS = ("guard", "also_expired", "yields_to_live_intent", "arbiter_is_cached")


def sample(name: str) -> Any:
    """A value of the type that a parameter of that name has, of what is in the store."""
    if name in LISTS:
        return LISTS[name]
    if name.startswith("are_"):
        return [True]
    if name == "embedding_bytes":
        return b"1"
    if name in NUMBERS:
        return 1
    if name.endswith("_at") or name in ("at", "now", "since", "until", "valid_from", "valid_to"):
        return NOON
    if name.startswith(("is_", "with_")) or name in (
        "guard",
        "also_expired",
        "yields_to_live_intent",
        "arbiter_is_cached",
    ):
        return True
    if "cosine" in name or "confidence" in name or name.endswith(("_ms", "_usd", "importance")):
        return 0.5
    is_list = name.endswith(("_ids", "_keys")) or name in (
        "keys",
        "texts",
        "texts_before",
        "roles",
        "states",
    )
    is_list |= name in ("sources", "references") or name.startswith("more_")
    return ["1"] if is_list else "1"


def sample_of(name: str, held: Tree, looped: set[str]) -> Any:
    """A value of a parameter, or of a key in a map; a list where a loop goes over it."""
    keys = {key: sample_of(key, inner, looped) for key, inner in held.items()}
    value = keys or sample(name)
    return [value] if name in looped and not isinstance(value, list) else value


def statements(name: str) -> Iterator[tuple[Statement, Mapping[str, Any]]]:
    """Each statement of a query, as if no condition left it out, with parameters for one run."""
    query = QUERIES[name]
    loops = [loop for statement in query.statements for loop in statement.loops]
    paths = [loop.path for loop in (*loops, *filter(None, [query.loop]))]
    paths += [path for statement in query.statements for path in UNWOUND.findall(statement.text)]
    looped = {path.split(".")[-1] for path in paths}
    trees = sent_trees().get(name, {})
    given = {each: sample_of(each, trees.get(each, {}), looped) for each in query.params}
    for scope in query.repetitions(given):
        for statement in query.statements:
            once = replace(statement, condition=None)
            yield from ((once, _with_key(once, each)) for each in once.repetitions(scope))


def _with_key(statement: Statement, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters, a node that may be of any label with the key that this one's has."""
    if made := KEYED.search(statement.text):
        return {**given, "row": {**given["row"], "node": {KEY_OF[made[1]]: "1"}}}
    if "UNWIND $links" in statement.text:
        link = {"span": "1", "cosine": 0.5, "rank": 1}
        return {**given, "links": [{"from_id": "1", "to_id": "1", "link": link}]}
    if "$row.link" in statement.text:
        return {**given, "row": {**given["row"], "link": {}}}
    if changed := CHANGED.search(statement.text):
        return {**given, "row": {**given["row"], "node": {CHANGED_OF[changed[1]]: "1"}}}
    return {**given, "node": {"name": "1"}} if "+= $node" in statement.text else given


@every("name", sorted(set(QUERIES) - COLD))
def test_no_statement_reads_a_whole_table_however_large_the_store_is(
    graph: EmbeddedGraph, name: str, request: pytest.FixtureRequest
) -> None:
    is_small = request.node.callspec.params["graph"] == "60"
    with graph._writer() as connection:
        for statement, given in statements(name):
            texts = [bound(statement, given)]
            if statement.is_together:
                texts += bound_together(statement, [given, given])
            for text, values in texts:
                if is_small and any(each in text for each in SCANS_WHILE_SMALL):
                    continue
                if OF_A_SPLIT in text:
                    continue
                assert not LARGE & set(scanned_tables(connection, text, values)), text


def test_a_scan_of_a_whole_table_is_seen(graph: EmbeddedGraph) -> None:
    scanning = "MATCH (fact:Fact) WHERE fact.text = $text RETURN fact.fact_id"
    by_key = "MATCH (fact:Fact {fact_id: $text}) RETURN fact.text"
    with graph._writer() as connection:
        assert scanned_tables(connection, scanning, {"text": "1"}) == ["Fact"]
        assert scanned_tables(connection, by_key, {"text": "1"}) == []


def test_whatever_the_engine_plans_on_a_growing_store_ends_no_process(tmp_path: Path) -> None:
    """Where plans are kept, a statement that the engine cannot plan is met by luck alone."""
    told = (
        "from reconciler.adapters.embedded_connections import PlanningConnection\n"
        "from reconciler.__main__ import main\n"
        "PlanningConnection._keep = lambda self, key, plan: None\n"
        "import sys; sys.argv = ['reconciler', 'demo']\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", told],
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
