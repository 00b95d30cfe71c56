"""The example that a newcomer runs: killed after its ninth step, gone on with, its facts gated."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler import Memory, load_settings
from tests import raw_store
from tests.engines import EngineUnderTest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PIANO_STUDIO = "The contact's studio is in the old dairy in Holm."
RAMP = "The ramp at the contact's studio carries 300 kilos at most."


class Ran(NamedTuple):
    """The example after its end: how it ended, and what it left behind."""

    status: int
    printed: list[str]
    log: list[list[str]]
    memory_path: Path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("example")
    command = [sys.executable, ROOT / "examples" / "agent_loop.py", "--noop", "--path", folder]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    ended = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    log = (folder / "desk.log").read_text(encoding="utf-8").splitlines()
    return Ran(
        status=ended.returncode,
        printed=ended.stdout.splitlines(),
        log=[line.split() for line in log],
        memory_path=folder / "memory.lbug",
    )


@pytest.fixture
def memory(ran: Ran) -> Iterator[Memory]:
    settings = load_settings(embedded_path=ran.memory_path, embedder={"model": "noop"})
    with Memory.open(settings) as opened:
        yield opened


def test_the_example_ends_well_and_says_what_became_of_everything(ran: Ran) -> None:
    assert ran.status == 0
    assert ran.printed[-1] == "done: 15 of 15 steps, 3 facts, 1 waiting, 2 refused"


def test_its_first_process_is_killed_outright_after_the_ninth_step(ran: Ran) -> None:
    killed = ran.printed.index("killed after step 9: exit status -9")
    assert [line for line in ran.printed[:killed] if line.startswith(" 9  ask-depot")]
    assert not [line for line in ran.printed[:killed] if line.startswith("10")]


def test_every_step_is_done_once_nine_in_the_one_process_and_six_in_the_other(ran: Ran) -> None:
    processes = [process for process, *_ in ran.log]
    assert len({subtask for _, subtask, _ in ran.log}) == len(ran.log) == 15
    assert len(set(processes)) == 2
    assert len(set(processes[:9])) == len(set(processes[9:])) == 1


def test_it_finds_progress_and_blocker_again_after_the_kill(ran: Ran) -> None:
    found = ran.printed.index("found the task move-piano interrupted: 9 of 15 steps done")
    assert ran.printed[found + 2].strip() == (
        "blocked: The depot's list for Tuesday is open until noon."
    )


def test_an_operation_that_the_state_forbids_is_named_once(ran: Ran) -> None:
    said = [line for line in ran.printed if "recall is not legal in state deciding" in line]
    assert len(said) == 1


def test_what_the_gate_admitted_of_the_task_is_remembered(memory: Memory) -> None:
    known = {each.fact.text for each in memory.contact("dispatch", "vera").recall(limit=50)}
    assert {PIANO_STUDIO, RAMP} <= known
    assert len([each for each in known if not each.startswith("Achieved: ")]) == 5


def test_what_came_of_the_task_is_remembered(memory: Memory) -> None:
    known = [each.fact.text for each in memory.contact("dispatch", "vera").recall(limit=50)]
    [came_of_it] = [each for each in known if each.startswith("Achieved: ")]
    assert "read-request; find-order; check-friday" in came_of_it


def test_its_procedure_waits_for_a_yes(memory: Memory) -> None:
    waiting = [each.text for each in memory.contact("dispatch", "vera").pending()]
    assert [text[:20] for text in waiting] == ["The way to move a de"]


def test_the_gate_refuses_words_never_said_and_what_the_agent_said_itself(memory: Memory) -> None:
    refused = {str(each.reason) for each in memory.contact("dispatch", "vera").refusals()}
    assert refused == {"span_not_in_evidence", "model_guess"}


def test_what_the_agent_merely_supposed_was_held_and_is_nowhere_in_the_store(ran: Ran) -> None:
    engine = EngineUnderTest("embedded", {"embedded_path": ran.memory_path})
    stored = "\n".join(raw_store.everything(engine))
    assert [line for line in ran.printed if "Perhaps the lock of van 12 still jams." in line]
    assert "Van 12 is free" in stored
    assert "jams" not in stored


def test_the_chat_says_what_it_needs_before_it_makes_a_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["chat.py", "priya"])
    with pytest.raises(SystemExit, match=r"^Set ANTHROPIC_API_KEY first: this chat asks Claude\.$"):
        runpy.run_path(str(ROOT / "examples" / "chat.py"), run_name="__main__")
    assert capsys.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
