"""Import on Ray: a cluster of two nodes on the loopback; its processes are killed in the middle.

Ray is large and no part of what all tests install: ``pip install -c constraints.txt '.[ray]'``.
Without it they are skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

# Before Ray is imported: both nodes, and their clients, stay on 127.0.0.1.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
pytest.importorskip("ray.data", reason="Ray is not installed: pip install '.[ray]'")

from ray.cluster_utils import Cluster

from reconciler import Memory
from reconciler.errors import ConfigurationError
from reconciler.integrations.ray_backfill import import_on_ray
from reconciler.service.writing.note_import import ImportReport
from tests import faults, raw_store
from tests.command_line import environment_of
from tests.engines import EngineUnderTest, embedded_engine

NODE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}
CONTACTS = 20
MONTH = datetime(2025, 1, 1, tzinfo=UTC)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own
    pytest.mark.xdist_group("ray"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(initialize_head=True, head_node_args=NODE | {"include_dashboard": False})
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


def notes(count: int) -> list[str]:
    """Lines about a few contacts, of which no two say the same."""
    return [
        json.dumps(
            {
                "agent_id": "crm",
                "contact_id": f"contact-{number % CONTACTS}",
                "text": f"Ordered part {number} for the {('boat', 'van', 'shed')[number % 3]}.",
            }
        )
        for number in range(count)
    ]


def texts(lines: list[str]) -> Counter[str]:
    return Counter(json.loads(line)["text"] for line in lines)


def decided(engine: EngineUnderTest) -> Counter[str]:
    """How often each text was decided about."""
    return Counter(text for [text] in raw_store.query(engine, "MATCH (x:Decision) RETURN x.text"))


def imported(engine: EngineUnderTest, cluster: Cluster, lines: list[str]) -> ImportReport:
    with Memory.open(**engine.settings_arguments) as memory:
        return import_on_ray(memory, lines, address=cluster.address, source="notes")


def facts(engine: EngineUnderTest) -> list[list[Any]]:
    found = "MATCH (x:Fact)-[:ABOUT]->(c:Contact) RETURN c.contact_id, x.text, x.state"
    return sorted(raw_store.query(engine, found))


def test_it_leaves_what_a_plain_import_leaves(
    one_neo4j: EngineUnderTest, cluster: Cluster, tmp_path: Path
) -> None:
    lines, plain = notes(100), embedded_engine(tmp_path)
    imported(one_neo4j, cluster, lines)
    with Memory.open(**plain.settings_arguments) as memory:
        memory.import_notes(lines)
    assert facts(one_neo4j) == facts(plain)


def test_its_report_adds_up_and_names_lines_by_their_numbers_in_the_file(
    one_neo4j: EngineUnderTest, cluster: Cluster
) -> None:
    lines = notes(30)
    lines[4], lines[17], lines[21] = "{not JSON", '{"text": "About nobody."}', "\udcff"
    report = imported(one_neo4j, cluster, lines)
    assert [error.line_number for error in report.errors] == [5, 18, 22]
    assert report.added + report.merged + report.held + report.refused == 27


def test_what_was_imported_on_ray_is_recognised_by_a_plain_import_and_again_on_ray(
    one_neo4j: EngineUnderTest, cluster: Cluster
) -> None:
    lines = [*notes(30), *notes(10)]  # ten of them twice
    imported(one_neo4j, cluster, lines)
    assert imported(one_neo4j, cluster, lines).resumed == 40
    with Memory.open(**one_neo4j.settings_arguments) as memory:
        assert memory.import_notes(lines, source="notes").resumed == 40


def test_the_notes_of_a_contact_are_written_in_the_order_of_time(
    one_neo4j: EngineUnderTest, cluster: Cluster
) -> None:
    moves = [
        {
            "agent_id": "crm",
            "contact_id": "priya",
            "text": f"Lives in {city}.",
            "said_at": (MONTH + timedelta(days=day)).isoformat(),
        }
        for day, city in enumerate(("Pune", "Mumbai", "Goa", "Chennai"))
    ]
    imported(one_neo4j, cluster, [json.dumps(each) for each in reversed(moves)])
    decisions = "MATCH (x:Decision) RETURN x.action, x.text ORDER BY x.at"
    found = raw_store.query(one_neo4j, decisions)
    assert found == [["ADD", moves[0]["text"]], *(["UPDATE", each["text"]] for each in moves[1:])]


def test_the_embedded_engine_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the embedded engine serves one process"):
        imported(embedded_engine(tmp_path), cluster, notes(1))


def test_a_node_with_another_hash_key_writes_nothing(
    one_neo4j: EngineUnderTest,
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # the nodes keep theirs elsewhere
    with pytest.raises(ConfigurationError, match="another hash key"):
        imported(one_neo4j, cluster, notes(3))
    assert decided(one_neo4j) == Counter()


def _raylet_pids(cluster: Cluster) -> set[int]:
    return {
        info.process.pid
        for node in cluster.list_all_nodes()
        for info in node.all_processes.get("raylet", [])
    }


def writers(cluster: Cluster) -> list[int]:
    """The processes of this cluster that write."""
    raylets = _raylet_pids(cluster)
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if b"_Writer" in name and parent in raylets:
            found.append(int(folder.name))
    return found


def until_decided(engine: EngineUnderTest, count: int) -> None:
    deadline = time.monotonic() + 300
    while decided(engine).total() < count:
        assert time.monotonic() < deadline, "nothing was written"
        time.sleep(0.05)


def while_importing(
    engine: EngineUnderTest, cluster: Cluster, lines: list[str], break_it: Callable[[], None]
) -> None:
    """Import, and break something when a sixth is written; run again where that ended the run."""
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(imported, engine, cluster, lines)
        until_decided(engine, len(lines) // 6)
        break_it()
        assert decided(engine).total() < len(lines), "it was broken too late"
        try:
            report = run.result()
        except ConfigurationError:  # Ray gave up
            report = imported(engine, cluster, lines)
    counted = report.added + report.merged + report.held + report.refused + report.resumed
    assert counted == len(lines)


@pytest.mark.faults(only=True)
def test_a_writer_that_is_killed_loses_nothing_and_repeats_nothing(
    one_neo4j: EngineUnderTest, cluster: Cluster
) -> None:
    def kill() -> None:
        os.kill(writers(cluster)[0], signal.SIGKILL)
        faults.count("importing on Ray")

    while_importing(one_neo4j, cluster, lines := notes(600), kill)
    assert decided(one_neo4j) == texts(lines)


@pytest.mark.faults(only=True)
def test_a_node_that_is_killed_loses_nothing_and_repeats_nothing(
    one_neo4j: EngineUnderTest, cluster: Cluster
) -> None:
    def kill() -> None:
        [node] = cluster.worker_nodes
        cluster.remove_node(node, allow_graceful=False)
        faults.count("importing on Ray, a whole node")

    try:
        while_importing(one_neo4j, cluster, lines := notes(600), kill)
    finally:
        cluster.add_node(**NODE)
    assert decided(one_neo4j) == texts(lines)


@pytest.mark.faults(only=True)
def test_a_command_that_is_killed_and_run_again_loses_nothing_and_repeats_nothing(
    one_neo4j: EngineUnderTest, cluster: Cluster, tmp_path: Path
) -> None:
    lines = notes(600)
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "reconciler", "import", str(file), "--json"]
    command += ["--ray", cluster.address]
    environment = os.environ | environment_of(one_neo4j)
    first = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    until_decided(one_neo4j, len(lines) // 6)
    first.kill()
    first.wait(60)
    faults.count("importing on Ray, the command")
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    assert report["resumed"] >= len(lines) // 6
    assert report["added"] + report["merged"] + report["resumed"] == len(lines)
    assert decided(one_neo4j) == texts(lines)
