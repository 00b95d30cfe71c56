"""``reconciler value`` and ``profile``, and the filters of ``recall``, as a person types them."""

from __future__ import annotations

import pytest

from tests.command_line import Run, json_of

SCOPE = ("--agent", "crm", "--contact", "alice")


@pytest.fixture
def told(run: Run) -> Run:
    """A memory that knows a city, and a ban."""
    for words in (
        ["Lives in Pune.", "--attribute", "city", "--value", "Pune"],
        ["Never call before nine."],
    ):
        assert run("add", *SCOPE, *words)[0] == 0
    return run


def test_value_says_what_since_when_and_whose_word(told: Run) -> None:
    [found] = json_of(told, "value", "Home city", *SCOPE)
    assert (found["value"], found["word"], found["observations"]) == ("Pune", "operator", 1)
    code, out, _ = told("value", "city", *SCOPE)
    assert (code, "Pune" in out, "operator" in out, "1×" in out) == (0, True, True, True)


def test_what_nobody_said_has_no_value(told: Run) -> None:
    assert "No value is known." in told("value", "birthday", *SCOPE)[1]
    assert json_of(told, "value", "birthday", *SCOPE) == []


def test_profile_lists_the_current_values(told: Run) -> None:
    assert [each["attribute"] for each in json_of(told, "profile", *SCOPE)] == ["city"]
    code, out, _ = told("profile", *SCOPE)
    assert (code, "city" in out, "Pune" in out) == (0, True, True)


def test_on_a_narrow_terminal_a_long_value_has_most_of_the_room(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    employer = "Brightwave International Logistics and Warehousing Private Limited"
    slot = ("--attribute", "employer", "--value", employer, "--subject", "wife")
    assert run("add", *SCOPE, f"Works at {employer}.", *slot)[0] == 0
    assert (
        run("add", *SCOPE, "Call her.", "--attribute", "contact_preference", "--value", "x")[0] == 0
    )
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("profile", *SCOPE)[1].splitlines()
    assert max(map(len, shown)) <= 80
    assert sum("logistics" in line.lower() or "limited" in line.lower() for line in shown) == 2
    assert employer in " ".join(" ".join(shown).split())
    assert any("of wife" in line for line in shown)


def test_recall_takes_filters_and_marks_what_stands(told: Run) -> None:
    assert json_of(told, "recall", *SCOPE, "--attribute", "birthday") == []
    assert "standing, whatever is asked" in told("recall", *SCOPE, "--limit", "1")[1]


def test_a_naive_time_or_unknown_attribute_is_refused(told: Run) -> None:
    code, _, err = told("recall", *SCOPE, "--since", "2026-01-01T09:00")
    assert (code, "has no time zone; write 2026-01-01T09:00:00+00:00 for UTC" in err) == (2, True)
    code, _, err = told("value", "none", *SCOPE)
    assert (code, "is not the name of an attribute" in err) == (2, True)


def test_a_day_alone_begins_in_utc(told: Run) -> None:
    """A day is what a person types, and what an agent's tool takes, too."""
    assert json_of(told, "recall", *SCOPE, "--since", "2026-01-01", "--limit", "1")
    assert json_of(told, "history", *SCOPE, "--at", "2020-01-01") == []


def test_a_briefing_holds_at_most_so_many_facts(run: Run) -> None:
    who = ("--agent", "crm", "--contact", "bob")
    for text in ("Lives in Pune.", "Plays the cello.", "Drinks green tea."):
        assert run("add", *who, text)[0] == 0
    assert len(json_of(run, "briefing", *who, "--limit", "2")["facts"]) == 2
