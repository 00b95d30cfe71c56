"""Forgetting from the command line: a receipt, a dry run, and what was cut off."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.adapters.embedded_files import EmbeddedFiles
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
    assert (code, "Fact: 1" in out, "verified: " in out) == (0, True, True)
    assert "Quixotia" not in run("history", *SCOPE)[1] + run("decisions", *SCOPE)[1]
    [kept] = json_of(run, "erasures", *AGENT)
    assert (kept["state"], kept["receipt"]["remaining_ids"]) == ("done", [])


def test_words_that_stay_in_the_files_are_said_and_can_be_gone_on_with(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place = EmbeddedFiles.put_in_place

    def spoiling(self: EmbeddedFiles, *given: Any) -> None:
        put_in_place(self, *given)
        with self.main.open("rb+") as file:
            file.seek(2000)  # behind what the engine reads of its first page
            file.write(b"Lives in Quixotia.")

    lives_in(run, "Quixotia")
    with monkeypatch.context() as spoilt:
        spoilt.setattr(EmbeddedFiles, "put_in_place", spoiling)
        for asked in (("forget", *SCOPE, *SAID), ("erasures", "--finish")):
            code, out, _ = run(*asked)
            assert (code, "STILL THERE" in out) == (1, True)
    code, out, _ = run("erasures", "--finish")
    assert (code, "state: done" in out) == (0, True)


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


def test_nothing_is_left_to_finish_after_an_erasure_that_is_finished(run: Run) -> None:
    assert run("add", "Lives in Pune.", *SCOPE)[0] == 0
    assert run("forget", *SCOPE, "--by", "contact", "--reason", "She asked.")[0] == 0
    code, out, _ = run("erasures", "--finish")
    assert (code, out.strip()) == (0, "No erasure is left to finish.")


def test_a_receipt_says_why_the_files_still_hold_words_that_others_use(run: Run) -> None:
    for contact in ("alice", "ben"):
        assert run("add", "Lives in Quixotia.", *AGENT, "--contact", contact)[0] == 0
    code, out, _ = run("forget", *SCOPE, "--by", "contact", "--reason", "She asked.")
    said = " ".join(word for word in out.split() if word != "│")
    assert (code, "other records or the memory itself use too" in said) == (0, True), said
