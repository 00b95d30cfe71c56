"""Calibration as a person does it: labelled pairs in, a profile out, then in use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Run

SCOPE = ("--agent", "crm", "--contact", "alice")
CITIES = (
    *("Pune", "Oslo", "Lima", "Cairo", "Quito", "Hanoi", "Turin", "Porto", "Lagos", "Osaka"),
    *("Malmö", "Ghent", "Delhi", "Accra", "Kyoto", "Leeds", "Tunis", "Basel", "Dakar", "Perth"),
    *("Nice", "Bonn", "Cork", "Graz", "Lyon"),
)


@pytest.fixture
def run(command_line: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder with a store of its own and the real model."""
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return command_line


def pair(fact: str, note: str, label: str) -> dict[str, Any]:
    return {"fact": fact, "note": note, "label": label}


def pairs() -> list[dict[str, Any]]:
    same = [pair(f"Lives in {c}.", f"She lives in {c}", "same") for c in CITIES]
    update = [pair(f"Has {n} dogs.", f"Has {n + 1} dogs.", "update") for n in range(2, 27)]
    brothers = (f"Has a brother in {c}." for c in CITIES)
    more = " who paints, sails and runs a bakery by the sea"
    distinct = [pair(each, each.replace(".", more), "distinct") for each in brothers]
    return same + update + distinct


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_profile_is_calibrated_then_used(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "pairs.jsonl", pairs())
    options = ("--name", "mine", "--bound", "0.2")
    code, out, err = run("calibrate", str(file), *options)
    assert code == 0, err
    assert "mine" in out
    assert [each.name for each in tmp_path.glob("*.toml")] == ["mine.toml"]

    code, _, err = run("calibrate", str(file), *options)
    assert (code, "exists; give --overwrite" in err) == (2, True)

    run("add", *SCOPE, "Needs an early breakfast.")
    added = json.loads(run("add", *SCOPE, "Needs an early meal", "--json")[1])
    assert added["verdict"]["action"] == "ADD"
    profile = str(tmp_path / "mine.toml")
    monkeypatch.setenv("RECONCILER_RECONCILE__PROFILE", profile)
    decision = json.loads(run("add", *SCOPE, "Needs an early meal!", "--json")[1])
    assert decision["policy"]["profile"] == "mine"


def test_pairs_that_cannot_show_where_to_stop_make_no_profile(run: Run, tmp_path: Path) -> None:
    far = [pair(f"Lives in {c}.", "Plays the trumpet.", "distinct") for c in CITIES]
    near = [each for each in pairs() if each["label"] != "distinct"]
    code, _, err = run("calibrate", str(write(tmp_path / "pairs.jsonl", near + far)))
    assert (code, "are too few, or too unlike" in " ".join(err.split())) == (2, True)
    assert list(tmp_path.glob("*.toml")) == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no labelled pair"),
        (["not an object"], "line 1"),
        ([pair("a b", "a c", "alike")], "line 1"),
        ([{"fact": "a b", "label": "same"}], "line 1"),
        ([pair("a b", " ", "same")], "line 1"),
    ],
)
def test_pairs_that_cannot_be_used_are_refused_by_line(
    run: Run, tmp_path: Path, lines: list[Any], message: str
) -> None:
    file = write(tmp_path / "pairs.jsonl", lines)
    code, out, err = run("calibrate", str(file))
    assert (code, out, message in err) == (2, "", True)
    assert list(tmp_path.glob("*.toml")) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("calibrate",), 2, "either a file of labelled pairs or --from-decisions"),
        (("calibrate", "--from-decisions"), 2, "needs --agent"),
        (("calibrate", "gone.jsonl"), 2, "gone.jsonl"),
        (("calibrate", "--from-decisions", "--agent", "crm"), 2, "pairs"),
        (("calibrate", "--from-decisions", "--agent", "crm", "--bound", "7"), 2, "bound"),
    ],
)
def test_what_cannot_be_calibrated_is_said(
    run: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    run("init")
    ended, out, err = run(*arguments)
    assert (ended, out) == (code, "")
    assert message in err


def test_decisions_that_were_corrected_become_labels(run: Run) -> None:
    for text in ("Lives in Pune.", "She lives in Pune"):
        last = json.loads(run("add", *SCOPE, text, "--json")[1])["decision_id"]
    assert run("correct", last, "same", *SCOPE)[0] == 0
    code, _, err = run("calibrate", "--from-decisions", "--agent", "crm")
    assert code == 2
    assert "1 same" in err  # too few of them, and how many there are
