"""The command that moves a memory to another embedding model, as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Run
from tests.tables import every

pytestmark = pytest.mark.usefixtures("own_file")  # a store that moves is not one to lend
WHO = ("--agent", "crm", "--contact", "priya")
MINILM = "all-MiniLM-L6-v2@53aa5117"


@pytest.fixture
def noop_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A memory without vectors of two facts."""
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
    assert run("add", *WHO, "Is allergic to peanuts.")[0] == 0
    assert run("add", *WHO, "Plays the cello.")[0] == 0


@pytest.mark.usefixtures("noop_store")
def test_a_store_moves_and_says_what_to_set(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = run("reembed", "--model", "minilm")
    assert code == 0, err
    assert "2 facts were embedded" in out
    assert "RECONCILER_EMBEDDER__MODEL=minilm" in out
    assert "RECONCILER_RECONCILE__PROFILE=minilm" in out
    code, out, err = run("recall", *WHO, "What is she allergic to?")
    assert code == 5
    assert f"holds vectors of {MINILM}" in err
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "minilm")
    monkeypatch.setenv("RECONCILER_RECONCILE__PROFILE", "minilm")
    code, out, _ = run("recall", *WHO, "What is she allergic to?", "--json")
    assert code == 0
    assert json.loads(out)[0]["fact"]["text"] == "Is allergic to peanuts."


@pytest.mark.usefixtures("noop_store")
def test_json_says_what_was_done_and_how_a_store_stands(run: Run) -> None:
    _, out, _ = run("reembed", "--status", "--json")
    assert json.loads(out)["state"] == "none"
    code, out, err = run("reembed", "--model", "minilm", "--batch", "1", "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["old_model"], told["model"], told["embedded"]) == ("noop", MINILM, 2)
    assert told["is_calibrated"] is True
    _, out, _ = run("reembed", "--status", "--json")
    assert json.loads(out)["model"] == MINILM


BAD = {
    "nothing": ((), "give either --model, --status or --cancel"),
    "two things": (("--status", "--cancel"), "give either --model, --status or --cancel"),
    "no name": (("--model", ""), "give either --model"),
    "no embedder": (("--model", "noop"), "makes no vectors"),
    "no such model": (("--model", "no-such/model"), "no-such/model"),
    "a batch of none": (("--model", "minilm", "--batch", "0"), "whole number from 1 to"),
    "another model's profile": (
        ("--model", "minilm", "--profile", "seed"),
        "no profile has thresholds",
    ),
    "no such profile": (("--model", "minilm", "--profile", "none"), "no profile none"),
    "nothing to cancel": (("--cancel",), "no move is in progress"),
}


@every("case", BAD)
@pytest.mark.usefixtures("noop_store")
def test_bad_input_is_told_and_changes_nothing(run: Run, case: str) -> None:
    given, said = BAD[case]
    code, out, err = run("reembed", *given)
    assert code in (2, 3)
    assert said in " ".join(err.split())
    assert out == ""
    _, out, _ = run("reembed", "--status", "--json")
    assert (json.loads(out)["model"], json.loads(out)["state"]) == ("noop", "none")
