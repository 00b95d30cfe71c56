"""A file that never ends, or holds one endless line, is refused in bounded time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reconciler.ops.peers import readers
from tests.command_line import Run

WHO = ("--agent", "crm", "--contact", "priya")
ENDLESS = "/dev/zero"
DEEP = "a = " + "[" * 100_000


def test_an_endless_transcript_is_refused(run: Run) -> None:
    code, _, err = run("extract", ENDLESS, *WHO)
    assert code == 2
    assert "which is the limit" in err


def test_so_is_an_export_of_another_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_BYTES_MAX", 1 << 20)
    code, _, err = run("import", ENDLESS, "--from", "mem0", *WHO)
    assert code == 2
    assert "which is the limit" in err.replace("\n", " ")


@pytest.mark.parametrize(
    "name",
    [
        "RECONCILER_CONFIG_FILE",
        "RECONCILER_GATE__POLICY_FILE",
        "RECONCILER_RECONCILE__ATTRIBUTES_FILE",
    ],
)
@pytest.mark.parametrize("content", [None, DEEP], ids=["endless", "deep"])
def test_so_is_a_configuration(
    run: Run, name: str, content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    if content is None:
        file.symlink_to(ENDLESS)
    else:
        file.write_text(content)
    monkeypatch.setenv(name, str(file))
    code, _, err = run("add", "Lives here.", "--agent", "crm", "--contact", "priya")
    assert code == 3
    assert str(file) in err.replace("\n", "")


@pytest.mark.parametrize("command", ["import", "calibrate"])
def test_a_line_that_is_too_long_is_refused_by_its_number(
    run: Run, command: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b'{"text": "Likes tea."}\n{"text": "' + b"x" * 20_000_000 + b'"}\n')
    code, _, err = run(command, str(file), *(WHO if command == "import" else ()))
    assert code == (1 if command == "import" else 2)
    assert "line 2" in err or command == "calibrate"


def test_a_server_that_is_away_is_told_of_once_and_not_by_its_driver() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "reconciler", "contacts", "--agent", "crm"],
        env=os.environ
        | {"NEO4J_URI": "neo4j://127.0.0.1:1", "NEO4J_PASSWORD": "any", "COLUMNS": "500"}
        | {"RECONCILER_EMBEDDER__MODEL": "noop"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 4
    [line] = ran.stderr.splitlines()
    assert line.startswith("error: Neo4j at neo4j://127.0.0.1:1 does not answer; check that")
    assert "routing information" not in line
    assert "bolt://127.0.0.1:1" in line
