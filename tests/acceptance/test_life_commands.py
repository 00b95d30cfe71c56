"""What is to be resumed, what has faded, and the past, as a person meets them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.command_line import Run, json_of

AGENT = ("--agent", "crm")
SCOPE = (*AGENT, "--contact", "alice")
LONG_AGO = (datetime.now(UTC) - timedelta(days=900)).isoformat()


def test_archive_says_what_faded_and_puts_it_by_until_it_is_taken_up_again(run: Run) -> None:
    said = json_of(run, "add", *SCOPE, "Likes green tea.", "--importance", "0.1")
    code, out, _ = run("archive", *AGENT, "--floor", "1", "--dry-run")
    assert (code, "Likes green tea." in out, "would be archived" in out) == (0, True, True)
    [done] = json_of(run, "archive", *AGENT, "--floor", "1", "--by", "anna")
    assert (done["contact_id"], done["decision"]["verdict"]["action"]) == ("alice", "ARCHIVE")
    assert json_of(run, "recall", *SCOPE) == []
    assert "Likes green tea." in run("history", *SCOPE)[1]
    code, out, _ = run("unarchive", said["fact_id"], *SCOPE)
    assert (code, "UNARCHIVE" in out) == (0, True)
    assert len(json_of(run, "recall", *SCOPE)) == 1


def test_archive_says_so_where_nothing_faded(run: Run) -> None:
    json_of(run, "add", *SCOPE, "Likes green tea.")
    assert "Nothing has faded so far." in run("archive", *AGENT)[1]
    assert run("archive", *AGENT, "--floor", "2")[0] == 2


def test_recall_and_history_take_an_instant(run: Run) -> None:
    pune = ("Lives in Pune.", "--attribute", "city", "--value", "Pune")
    json_of(run, "add", *SCOPE, *pune, "--valid-from", LONG_AGO)
    now = datetime.now(UTC).isoformat()
    assert len(json_of(run, "recall", *SCOPE, "--valid-at", LONG_AGO)) == 1
    assert json_of(run, "recall", *SCOPE, "--as-of", LONG_AGO) == []
    assert json_of(run, "history", *SCOPE, "--at", LONG_AGO) == []
    assert len(json_of(run, "history", *SCOPE, "--at", now)) == 1
    assert "Nothing was known of contact alice" in run("history", *SCOPE, "--at", LONG_AGO)[1]
    assert "Nothing known of contact alice" in run("recall", *SCOPE, "--as-of", LONG_AGO)[1]
    assert run("recall", *SCOPE, "--as-of", "2024-03-09T09:00")[0] == 2


def test_recall_says_what_kind_of_answer_it_is(run: Run) -> None:
    for number, drink in enumerate(("green tea", "black tea", "white tea")):
        said_at = ("--valid-from", f"2024-03-0{number + 1}T09:00:00+00:00")
        json_of(run, "add", *SCOPE, f"Likes {drink}.", *said_at)
    json_of(run, "add", *SCOPE, "Lives in Pune.", "--attribute", "city", "--value", "Pune")
    assert "2 of 3 that fit" in run("recall", *SCOPE, "tea", "--limit", "2")[1]
    assert "that fit" not in run("recall", *SCOPE, "tea")[1]
    out = " ".join(run("recall", *SCOPE, "submarines")[1].split())
    assert "of agent crm fits; known: city." in out
    out = " ".join(run("recall", *SCOPE, "tea", "--attribute", "diet")[1].split())
    assert "of agent crm fits; known: city." in out


def test_recall_says_what_is_still_to_come(run: Run) -> None:
    day = datetime.now(UTC) + timedelta(days=40)
    pune = ("Moves to Pune.", "--attribute", "city", "--value", "Pune")
    json_of(run, "add", *SCOPE, *pune, "--valid-from", day.isoformat())
    assert f"not yet, from {day:%Y-%m-%d}" in run("recall", *SCOPE)[1]


def test_find_takes_the_filters_of_recall(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECONCILER_EMBEDDER__MODEL")
    json_of(run, "add", *SCOPE, "Likes green tea.", "--tag", "drinks", "--topic", "food")
    json_of(run, "add", *SCOPE, "Lives in Pune.", "--attribute", "city", "--value", "Pune")

    def found(*options: str, query: str = "tea") -> list[str]:
        return [each["fact"]["text"] for each in json_of(run, "find", query, *AGENT, *options)]

    assert found("--tag", "drinks", "--topic", "food") == ["Likes green tea."]
    assert found("--attribute", "city", "--trust", "operator", query="city") == ["Lives in Pune."]
    assert found("--until", LONG_AGO) == found("--min-score", "1") == []
    assert run("find", "tea", *AGENT, "--since", "2024-03-09T09:00")[0] == 2


def test_tasks_are_listed_by_state(run: Run) -> None:
    json_of(run, "add", *SCOPE, "Likes green tea.")
    assert json_of(run, "tasks", *AGENT, "--state", "open") == []
    assert "There is no task." in run("tasks", *AGENT)[1]
    code, _, err = run("tasks", *AGENT, "--state", "sleeping")
    assert (code, "is not one of open" in err) == (2, True)


def test_a_contact_joins_and_leaves_an_account(run: Run) -> None:
    by = ("acme", *SCOPE, "--by", "anna")
    assert "first add a fact" in " ".join(run("join-account", *by)[2].split())
    json_of(run, "add", *AGENT, "--contact", "account:acme", "Never call in August.")
    json_of(run, "add", *SCOPE, "Lives in Pune.")
    assert "belongs to no account" in run("accounts", *SCOPE)[1]
    assert json_of(run, "join-account", *by, "--until", "2099-12-31")["fact_id"]
    assert "account acme" in run("accounts", *SCOPE)[1]
    assert "of account acme" in run("recall", *SCOPE)[1]
    assert json_of(run, "accounts", *SCOPE, "--at", "2100-01-01") == []
    assert json_of(run, "leave-account", *by)["verdict"]["action"] == "REVOKE"
    assert json_of(run, "accounts", *SCOPE) == []
