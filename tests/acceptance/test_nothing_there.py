"""A command that only reads makes no memory: it says that there is none, and leaves no file."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from typer.main import get_command

from reconciler.entrypoints.cli import app
from tests.command_line import Run

AGENT = ("--agent", "crm")
WHO = (*AGENT, "--contact", "priya")
READING = {
    "recall": WHO,
    "history": WHO,
    "decisions": AGENT,
    "changes": AGENT,
    "digest": AGENT,
    "resend": ("crm",),
    "explain": (str(uuid4()), *WHO),
    "calibrate": ("--from-decisions", *AGENT),
    "contacts": AGENT,
    "pending": AGENT,
    "refusals": AGENT,
    "expiring": AGENT,
    "disputes": AGENT,
    "erasures": (),
    "about": ("Acme", *WHO),
    "accounts": WHO,
    "check": ("city", *WHO),
    "briefing": WHO,
    "impact": (str(uuid4()), *WHO),
    "evidence": ("--fact", str(uuid4()), *WHO),
    "export": ("--out", "-", *AGENT),
    "find": ("anything", *AGENT),
    "health": AGENT,
    "profile": WHO,
    "reembed": ("--status",),
    "report": (*WHO, "--out", "report.html"),
    "tasks": AGENT,
    "value": ("city", *WHO),
    "jobs": (),
    "job": (str(uuid4()), *WHO),
}
WRITING = {
    *("add", "import", "extract", "init", "demo", "drain", "worker", "retry", "mcp"),
    *("serve", "join-account", "leave-account"),
    *("confirm", "reject", "withdraw", "revoke", "correct", "rejudge"),
    *(
        "answer",
        "revert",
        "merge",
        "rename",
        "split",
        "resolve",
        "relate",
        "amend",
        "forget",
        "archive",
        "unarchive",
        "backup",
        "restore",
    ),
}


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Path:
    """A folder that is not there, which the settings name for the memory."""
    folder = tmp_path / "not there"
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(folder / "memory.lbug"))
    return folder


@pytest.mark.parametrize("command", READING)
def test_a_reading_command_says_that_there_is_no_memory(
    run: Run, command: str, nowhere: Path
) -> None:
    code, out, err = run(command, *READING[command])
    assert (code, out) == (3, "")
    assert "there is no memory at" in err
    assert "reconciler init" in err
    assert not nowhere.exists()


def test_the_doctor_says_so_too_and_finds_the_rest_in_order(run: Run, nowhere: Path) -> None:
    code, out, _ = run("doctor")
    assert code == 0
    assert "there is no memory at" in out
    assert "extractor" in out
    assert not nowhere.exists()


def test_every_command_is_known_to_read_or_to_write() -> None:
    known = {*READING, *WRITING, "doctor", "policy", "token", "browser"}
    assert set(get_command(app).commands) == known  # type: ignore[attr-defined]
