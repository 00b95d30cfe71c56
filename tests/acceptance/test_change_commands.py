"""Changes, digest and resend as commands: a person's, and a program's that follows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import Run, json_of

ROOT = Path(__file__).resolve().parents[2]
AGENT = ("--agent", "crm")
WHO = (*AGENT, "--contact", "priya")


def noted(run: Run, text: str) -> str:
    return str(json_of(run, "add", text, *WHO)["decision_id"])


def listed(run: Run, *more: str) -> list[dict[str, str]]:
    code, out, err = run("changes", *AGENT, "--json", *more)
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def test_changes_are_one_line_each_and_go_on_after_a_cursor(run: Run) -> None:
    ids = [noted(run, f"word{number}") for number in range(3)]
    changes = listed(run, "--limit", "2")
    assert [change["decision_id"] for change in changes] == ids[:2]
    [last] = listed(run, "--after", changes[-1]["cursor"])
    assert last["decision_id"] == ids[2]
    code, out, _ = run("changes", *AGENT)
    assert code == 0
    assert "contact id: priya" in out
    assert "word0" not in out


@pytest.mark.parametrize("cursor", ["1~gone", "nonsense"])
def test_a_wrong_cursor_says_what_to_do(run: Run, cursor: str) -> None:
    noted(run, "word1")
    code, out, err = run("changes", *AGENT, "--after", cursor)
    assert (code, out) == (2, "")
    assert "give one that this list has given" in " ".join(err.split())


def test_who_follows_ends_at_a_signal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_GRAPH", "embedded")
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "own" / "memory.lbug"))
    decision_id = noted(run, "word1")
    command = [sys.executable, "-m", "reconciler", "changes", *AGENT, "--json", "--follow"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["decision_id"] == decision_id
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_digest_names_what_waits(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    noted(run, "word1")
    assert run("digest", *AGENT)[1] == "Nothing waits.\n"
    monkeypatch.setenv("RECONCILER_PAGE_URL", "https://memory.example.com")
    held = noted(run, "Is diabetic.")
    found = json_of(run, "digest", *AGENT)
    assert found["counts"] == {"question": 1}
    assert [each["item_id"] for each in found["oldest"]] == [held]
    code, out, _ = run("digest", *AGENT)
    assert code == 0
    assert held in out
    assert "https://memory.example.com/questions?agent=crm" in out
    assert "diabetic" not in out


def test_to_resend_needs_a_webhook_of_the_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(run, "word1")
    code, _, err = run("resend", "crm")
    assert code == 2
    assert "no webhook 'crm'" in err
    monkeypatch.setenv("RECONCILER_WEBHOOKS", '{"crm": {"command": ["true"]}}')
    assert run("resend", "crm")[:2] == (0, "All were taken.\n")
