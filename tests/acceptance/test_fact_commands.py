"""Commands about what is known, as a person meets them: what expires, undoing, histories."""

from __future__ import annotations

import re

from tests.command_line import Run, json_of

AGENT = ("--agent", "crm")
SCOPE = (*AGENT, "--contact", "alice")
SAID = ("--by", "dana", "--reason", "A mix-up.")


def lives_in(run: Run, city: str) -> dict[str, str]:
    text = f"Lives in {city}."
    made = json_of(run, "add", *SCOPE, text, "--attribute", "city", "--value", city)
    return {"decision": made["decision_id"], "fact": made["fact_id"]}


def revoked(run: Run, fact_id: str) -> str:
    return str(json_of(run, "revoke", fact_id, *SCOPE, *SAID)["decision_id"])


def test_revert_puts_back_what_was_ended_and_says_what_it_undid(run: Run) -> None:
    wrong = revoked(run, lives_in(run, "Pune")["fact"])
    assert json_of(run, "recall", *SCOPE) == []
    code, out, _ = run("revert", wrong, *SCOPE, *SAID)
    assert (code, "REVERT" in out, f"undoes decision: {wrong}" in out) == (0, True, True)
    assert [each["fact"]["text"] for each in json_of(run, "recall", *SCOPE)] == ["Lives in Pune."]


def test_revert_lists_what_rests_on_a_decision_and_takes_it_too_where_asked(run: Run) -> None:
    first = lives_in(run, "Pune")
    later = revoked(run, first["fact"])
    code, _, err = run("revert", first["decision"], *SCOPE, *SAID)
    assert (code, later in err, "--and-later" in err) == (2, True, True)
    assert run("revert", first["decision"], *SCOPE, *SAID, "--and-later")[0] == 0
    assert json_of(run, "recall", *SCOPE) == []


def test_history_says_who_revoked_and_that_it_never_held(run: Run) -> None:
    fact_id = lives_in(run, "Pune")["fact"]
    code, out, _ = run("revoke", fact_id, *SCOPE, *SAID, "--never")
    assert (code, f"revokes fact: {fact_id}" in out, "supersedes" in out) == (0, True, False)
    shown = run("history", *SCOPE)[1]
    assert re.search(r"Lives in Pune\.\n +[0-9a-f-]{36}  never held", shown)
    assert "REVOKE by dana" in shown


def test_the_history_of_a_contact_nobody_knows_says_so(run: Run) -> None:
    lives_in(run, "Pune")
    for more in ((), ("--json",)):
        code, out, err = run("history", *AGENT, "--contact", "alise", *more)
        assert (code, out) == (1, "")
        assert "nothing is known about contact alise of agent crm; check both names" in err


def test_an_answer_is_kept_and_found_when_its_fact_is_corrected(run: Run) -> None:
    fact = lives_in(run, "Pune")["fact"]
    shown = json_of(run, "recall", *SCOPE, "--prompt")["recall_id"]
    code, out, _ = run("answer", shown, "ticket-17", "--used", fact, *SCOPE)
    assert (code, "CITE" in out, "ticket-17" in out) == (0, True, True)
    assert json_of(run, "answer", shown, "ticket-17", "--used", fact, *SCOPE)["replayed"]
    code, out, _ = run("impact", fact, *SCOPE)
    assert (code, bool(re.fullmatch(r"ticket-17, .* UTC: Lives in Pune\.\n", out))) == (0, True)
    [found] = json_of(run, "impact", "--decision", revoked(run, fact), *SCOPE)
    assert (found["reference"], found["fact_id"]) == ("ticket-17", fact)
    assert "No answer is concerned." in run("impact", lives_in(run, "Goa")["fact"], *SCOPE)[1]
    for wrong in ((), (fact, "--decision", "x"), ("nothing",)):
        code, out, err = run("impact", *wrong, *SCOPE)
        assert (code, out, "error:" in err) == (2, "", True)


def test_expiring_asks_whether_it_is_still_true(run: Run) -> None:
    run("add", *SCOPE, "Their stand is in hall 7.", "--lifetime-days", "180")
    code, out, _ = run("expiring", *AGENT, "--days", "200")
    assert (code, "“Their stand is in hall 7”: is that still true" in out) == (0, True)
    assert "Nothing expires so soon." in run("expiring", *AGENT)[1]
