"""An operator's first hour: compose's commands as they stand, run without Docker beside a Neo4j.

Only hosts and ports are others: the loopback, and free ones. The services have processes of their
own; the commands that come to an end run in this one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from reconciler.serve.access.tokens import TokenFile
from tests.command_line import Run, environment_of
from tests.engines import EngineUnderTest, embedded_engine
from tests.mcp_server import HttpServer, called

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
SERVICES = yaml.safe_load(COMPOSE)["services"]
RECIPE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PRIYA = {"contact_id": "priya"}
HASH_KEY = "sixteen characters and more"


def test_from_compose_to_a_memory_that_is_served_read_scraped_and_moved(
    one_neo4j: EngineUnderTest, tmp_path: Path, command_line: Run
) -> None:
    def run(environment: dict[str, str], *arguments: str) -> str:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            code, out, err = command_line(*arguments)
        assert code == 0, err
        return out

    image = dict(re.findall(r"(RECONCILER_\w+)=(\S+)", RECIPE))
    own = {"RECONCILER_GATE__HASH_KEY": HASH_KEY, "RECONCILER_EMBEDDER__MODEL": "noop"}
    everywhere = image | own | {"XDG_DATA_HOME": str(tmp_path), "COLUMNS": "200"}
    environment = everywhere | environment_of(one_neo4j)
    run(environment, "init")
    [create] = re.findall(r"run --rm mcp (token create .+)", COMPOSE)
    token = run(environment, *create.split()).strip()

    with started(environment, "mcp", "--json") as mcp, started(environment, "worker") as worker:
        url = json.loads(line_of(mcp.stdout, lambda _: True))["url"]
        told = line_of(worker.stderr, lambda line: "metrics at" in line)
        metrics = json.loads(told)["message"].rpartition(" ")[2]
        server = HttpServer(url, TokenFile(tmp_path / "reconciler" / "tokens.json"))
        lives = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
        assert not server.asked(token, called("add_contact_note", lives | PRIYA))[1]
        said = [{"role": "user", "content": "Please remember that I am allergic to nuts."}]
        assert not server.asked(token, called("hand_over_session", {"messages": said} | PRIYA))[1]
        wait_for(lambda: 'reconciler_jobs{state="done"} 1.0' in scraped(metrics))
        assert 'door="extractor"' in scraped(metrics)
        assert "Lives in Pune." in server.asked(token, called("recall_contact", PRIYA))[0]

    copy = str(tmp_path / "copy.jsonl")
    made = json.loads(run(environment, "export", "--out", copy, "--keys", "--json"))
    elsewhere = everywhere | environment_of(embedded_engine(tmp_path))
    assert json.loads(run(elsewhere, "restore", copy, "--json"))["nodes"] == made["nodes"]
    assert made["nodes"]["Contact"] == 1
    who = ("--agent", "crm", "--contact", "priya", "--json")
    assert facts(run(elsewhere, "history", *who)) == facts(run(environment, "history", *who))
    assert "Lives in Pune." in run(elsewhere, "recall", *who)


@contextmanager
def started(
    environment: dict[str, str], service: str, *more: str
) -> Iterator[subprocess.Popen[str]]:
    """A service's command as compose has it, until the block ends; it must end in order."""
    words = [{"0.0.0.0": "127.0.0.1"}.get(each, each) for each in SERVICES[service]["command"]]
    free = ["0" if each.isdigit() else each for each in words]
    with subprocess.Popen(
        [sys.executable, "-m", "reconciler", *free, *more],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


def line_of(stream, is_wanted: Callable[[str], bool]) -> str:
    lines = []
    for line in stream:
        lines.append(line)
        if is_wanted(line):
            return line
    raise AssertionError("".join(lines))


def scraped(url: str) -> str:
    with urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def wait_for(outcome: Callable[[], bool], seconds_max: float = 60) -> None:
    deadline = time.monotonic() + seconds_max
    while not outcome():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def facts(history: str) -> list[list[tuple[str, str]]]:
    chains = json.loads(history)
    return sorted([(each["fact_id"], each["text"]) for each in chain["facts"]] for chain in chains)
