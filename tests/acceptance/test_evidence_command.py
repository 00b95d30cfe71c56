"""`reconciler evidence`, as a person meets it."""

from __future__ import annotations

from tests.command_line import Run, json_of

SCOPE = ("--agent", "crm", "--contact", "alice")


def test_evidence_says_whose_words_a_fact_rests_on(run: Run) -> None:
    made = json_of(run, "add", *SCOPE, "Likes green tea.", "--source-kind", "user_explicit")
    fact_id = made["fact_id"]
    code, out, _ = run("evidence", *SCOPE, "--fact", fact_id)
    assert (code, "The contact said so on" in out, made["decision_id"] in out) == (0, True, True)
    [found] = json_of(run, "evidence", *SCOPE, "--about", "tea")
    assert (found["fact"]["fact_id"], found["turns"][0]["speaker"]) == (fact_id, "contact")


def test_evidence_says_so_where_nothing_is_known(run: Run) -> None:
    json_of(run, "add", *SCOPE, "Likes green tea.")
    assert "Nothing is known that says so." in run("evidence", *SCOPE, "--about", "coffee")[1]
    code, _, err = run("evidence", *SCOPE, "--fact", "none")
    assert (code, "has no fact none" in err) == (2, True)


def test_evidence_wants_one_fact_or_words(run: Run) -> None:
    run("init")
    assert run("evidence", *SCOPE)[0] == 2
    assert run("evidence", *SCOPE, "--fact", "a", "--about", "b")[0] == 2
