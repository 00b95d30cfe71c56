"""Forgetting from the command line: a receipt, a dry run, and what was cut off."""

from __future__ import annotations

import pytest

from tests.command_line import Run, json_of

AGENT = ("--agent", "crm")
SCOPE = (*AGENT, "--contact", "alice")
SAID = ("--by", "contact", "--reason", "I asked for it.")


def lives_in(run: Run, city: str) -> str:
    text = f"Lives in {city}."
    made = json_of(run, "add", *SCOPE, text, "--attribute", "city", "--value", city)
    return str(made["fact_id"])


def test_forget_prints_a_receipt_and_leaves_no_word(run: Run) -> None:
    lives_in(run, "Quixotia")
    code, out, _ = run("forget", *SCOPE, *SAID)
    assert (code, "1 Fact" in out, "nothing of it found" in out) == (0, True, True)
    assert "Quixotia" not in run("history", *SCOPE)[1] + run("decisions", *SCOPE)[1]
    [kept] = json_of(run, "erasures", *AGENT)
    assert (kept["state"], kept["receipt"]["remaining_ids"]) == ("done", [])


def test_a_dry_run_changes_nothing(run: Run) -> None:
    fact_id = lives_in(run, "Pune")
    told = json_of(run, "forget", *SCOPE, *SAID, "--fact", fact_id, "--dry-run")
    assert (told["receipt"]["is_dry_run"], told["receipt"]["removed"]["Fact"]) == (True, 1)
    assert [each["fact"]["text"] for each in json_of(run, "recall", *SCOPE)] == ["Lives in Pune."]
    assert json_of(run, "erasures", "--finish") == []


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (("--fact", "nobody's"), "has no fact"),
        (("--fact", "one", "--session", "two"), "name one of"),
    ],
)
def test_what_cannot_be_forgotten_is_wrong_input(
    run: Run, wrong: tuple[str, ...], why: str
) -> None:
    lives_in(run, "Pune")
    code, _, err = run("forget", *SCOPE, *SAID, *wrong)
    assert (code, why in " ".join(err.split())) == (2, True)
