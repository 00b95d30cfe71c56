"""Disputes and amendments as an operator meets them on the command line."""

from __future__ import annotations

import pytest

from reconciler.bootstrap import services
from reconciler.domain.records.facts import handle_of
from reconciler.entrypoints import doctor
from reconciler.testing import HashingEmbedder
from tests.command_line import Run, json_of

AGENT = ("--agent", "crm")
SCOPE = (*AGENT, "--contact", "alice")
COLUMNS = 240
CITY = ("--attribute", "city", "--value")


@pytest.fixture
def sides(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the contact said, and what an operator noted of it later; a small embedder compares."""
    for module in (services, doctor):
        monkeypatch.setattr(module, "build_embedder", lambda _: HashingEmbedder())
    said = json_of(
        run, "add", *SCOPE, "Lives in [Pune]", *CITY, "Pune", "--source-kind", "user_explicit"
    )
    noted = json_of(run, "add", *SCOPE, "Lives in Mumbai", *CITY, "Mumbai")
    return [said["fact_id"], noted["fact_id"]]


def test_disputes_are_listed_with_question_ids_and_reason(run: Run, sides: list[str]) -> None:
    code, out, _ = run("disputes", *AGENT)
    printed = " ".join(out.split())
    assert (code, [each in out for each in sides]) == (0, [True, True])
    for told in (
        "Which one holds:",
        "Lives in [Pune]",
        "operator does not supersede user_explicit",
    ):
        assert told in printed


def test_what_is_in_dispute_waits_for_an_answer_beside_what_is_held(
    run: Run, sides: list[str]
) -> None:
    tool = ("--source-kind", "tool_output")
    held = json_of(run, "add", *SCOPE, "Prefers calls", *tool, "--category", "preference")
    [first, dispute] = json_of(run, "pending", *SCOPE)
    assert (first["decision_id"], [each["fact_id"] for each in dispute["facts"]]) == (
        held["decision_id"],
        sides,
    )
    printed = " ".join(run("pending", *AGENT)[1].split())
    assert all(question in printed for question in ("Which one holds:", first["question"]))


def test_resolve_ends_the_other_side_and_says_so(run: Run, sides: list[str]) -> None:
    answer = ("--by", "contact", "--reason", "She moved.")
    made = json_of(run, "resolve", *SCOPE, sides[1], *answer)
    assert (made["verdict"]["action"], made["superseded_ids"]) == ("RESOLVE", [sides[0]])
    assert json_of(run, "disputes", *SCOPE) == []
    assert "Nothing is in dispute." in run("disputes", *AGENT)[1]


def test_resolve_says_that_neither_holds(run: Run, sides: list[str]) -> None:
    named = [word for each in sides for word in ("--neither", each)]
    made = json_of(run, "resolve", *SCOPE, *named, "--by", "anna", "--reason", "She moved.")
    assert (made["verdict"]["action"], sorted(made["superseded_ids"])) == ("REVOKE", sorted(sides))
    assert json_of(run, "disputes", *SCOPE) == []
    code, _, err = run("resolve", *SCOPE, "--by", "anna", "--reason", "She moved.")
    assert (code, "give the facts that hold with keep=" in err) == (2, True)


def test_relate_says_how_facts_relate_and_what_may_not_change(run: Run, sides: list[str]) -> None:
    code, _, err = run("relate", *SCOPE, sides[1])
    assert (code, "say how the facts relate" in err) == (2, True)
    made = json_of(run, "relate", *SCOPE, sides[1], "--both-hold", handle_of(sides[0]))
    assert (made["verdict"]["action"], made["verdict"]["decided_by"]) == ("RESOLVE", "agent")
    assert json_of(run, "disputes", *SCOPE) == []
    code, _, err = run("relate", *SCOPE, sides[1], "--ends", "#zzzz")
    assert (code, "#zzzz" in err) == (2, True)


def test_amend_puts_a_fact_right(run: Run, sides: list[str]) -> None:
    why = ("--by", "anna", "--reason", "Typed wrongly.")
    made = json_of(run, "amend", *SCOPE, "Lives in Goa", *CITY, "Goa", *why)
    assert (made["verdict"]["decided_by"], sorted(made["superseded_ids"])) == (
        "amendment",
        sorted(sides),
    )
    explained = json_of(run, "explain", *SCOPE, made["decision_id"])
    assert "The note was amended by anna: Typed wrongly." in explained["remarks"]


def test_recall_marks_what_is_in_dispute(run: Run, sides: list[str]) -> None:
    found = json_of(run, "recall", *SCOPE, "Where does she live?")
    others = {each["fact"]["fact_id"]: each["disputed_with"][0]["fact_id"] for each in found}
    assert others == {sides[0]: sides[1], sides[1]: sides[0]}
    assert run("recall", *SCOPE, "--prompt")[1].count("disputed: see") == 2
