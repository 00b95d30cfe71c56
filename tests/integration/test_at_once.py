"""Several commands at once, each a process of its own, on one store, with the default settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from reconciler import Memory
from reconciler.adapters.noop_embedder import NoopEmbedder
from tests.command_line import environment_of
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest, embedded_engine


def started(engine: EngineUnderTest, count: int) -> list[subprocess.Popen[str]]:
    patience = ("RECONCILER_NEO4J__CONNECT", "RECONCILER_NEO4J__SILENCE")
    chosen = {
        name: value
        for name, value in environment_of(engine).items()
        if not name.startswith(patience)
    }
    env = os.environ | chosen | {"RECONCILER_EMBEDDER__MODEL": "noop"}
    command = [sys.executable, "-m", "reconciler", "add", "--agent", "crm", "--contact"]
    return [
        subprocess.Popen(
            [*command, f"contact-{number}", "Likes tea."],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]


def ended(processes: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    found: list[Any] = []
    for each in processes:
        _, errors = each.communicate(timeout=300)
        found.append((each.returncode, errors))
    return found


@ON_ANY_ONE
def test_commands_at_once_do_their_work_or_are_told_who_has_the_file(
    one_of_each: EngineUnderTest,
) -> None:
    is_server = one_of_each.name != "embedded"
    found = ended(started(one_of_each, 8 if is_server else 3))
    refused = [" ".join(text.split()) for code, text in found if code != 0]
    assert refused == [] if is_server else len(refused) < 3
    assert all("is open in another process" in text for text in refused)
    with Memory.open(embedder=NoopEmbedder(), **one_of_each.settings_arguments) as memory:
        assert sum(each.live_facts for each in memory.agent("crm").contacts()) == len(found) - len(
            refused
        )


def test_while_one_process_has_the_embedded_file_others_are_told_at_once(tmp_path: Path) -> None:
    engine = embedded_engine(tmp_path)
    with Memory.open(embedder=NoopEmbedder(), **engine.settings_arguments):
        [(code, text)] = ended(started(engine, 1))
    assert code == 4
    assert "is open in another process" in " ".join(text.split())
