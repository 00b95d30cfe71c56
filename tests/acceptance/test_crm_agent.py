"""The CRM agent of the examples: twelve conversations, held again with a model's recorded answers.

What should be known after each one was written before any answer was recorded.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.crm_recordings import Held, RecordedClaude, RecordingClaude, Story
from tests.tables import every
from tools.write_crm_page import PAGE, written

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("crm")]  # held once, not by each worker
EXAMPLE: Any = sys.modules[Held.__module__]
STORY = Story.read()
DAYS = [f"{each.at:%Y-%m-%d}" for each in STORY.conversations]
TO_RECORD = "record it with: python -m tests.crm_recordings FOLDER"


@pytest.fixture(scope="module")
def claude() -> RecordedClaude:
    return RecordedClaude()


class Ran(NamedTuple):
    """The example after its end: its status, what it printed, and what it held."""

    status: int
    printed: list[str]
    held: list[Held]


@pytest.fixture(scope="module")
def ran(claude: RecordedClaude) -> Ran:
    """The example as it is started without a key."""
    held: list[Held] = []
    printed = io.StringIO()
    hold_all = EXAMPLE.hold_all

    def watched(*given: Any) -> Iterator[Held]:
        for each in hold_all(*given):
            held.append(each)
            yield each

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(sys, "argv", ["crm_agent.py"])
        patch.setattr(EXAMPLE, "hold_all", watched)
        patch.setattr(EXAMPLE, "RecordedClaude", lambda: claude)
        try:
            status = EXAMPLE.main()
        except SystemExit as missing:
            pytest.fail(f"{missing}; {TO_RECORD}", pytrace=False)
    return Ran(status, printed.getvalue().splitlines(), held)


@pytest.fixture(scope="module")
def held(ran: Ran) -> dict[str, Held]:
    """All conversations, by day."""
    return {f"{each.conversation.at:%Y-%m-%d}": each for each in ran.held}


def test_there_are_twelve_conversations_over_eight_months() -> None:
    at = [each.at for each in STORY.conversations]
    assert at == sorted(at)
    assert len(set(DAYS)) == 12
    assert (at[-1] - at[0]).days > 240


@pytest.mark.parametrize("day", DAYS)
def test_a_conversation_leaves_what_a_careful_reader_expects(
    held: dict[str, Held], day: str
) -> None:
    assert held[day].faults == []


def test_the_model_saw_what_it_would_see_today(
    held: dict[str, Held], claude: RecordedClaude
) -> None:
    assert claude.stale == [], TO_RECORD


def test_the_page_shows_what_the_calls_return(held: dict[str, Held]) -> None:
    shown = PAGE.read_text(encoding="utf-8")
    assert written(shown, held.values()) == shown, "python tools/write_crm_page.py writes it"


def test_the_example_runs_without_a_key(ran: Ran) -> None:
    assert ran.printed[-1] == "12 of 12 conversations left what they should"
    assert ran.status == 0


def test_an_empty_memory_is_not_what_any_conversation_should_leave() -> None:
    assert [each.at for each in STORY.conversations if not each.faults([], "")] == []


@every(
    ("day", "line"),
    [
        ("2026-02-16", "Is in a foul mood."),
        ("2026-03-09", "Henk Aldous decides on anything above the budget."),
        ("2026-03-09", "contact budget: 1,800 EUR a month"),
        ("2026-03-30", "Wants a second delivery on Saturdays."),
        ("2026-06-08", "Deliveries go to the kitchen in the old Tannery."),
        ("2026-06-29", "Deliveries are late because of the roadworks at the bridge."),
        ("2026-07-20", "Accepts a handling surcharge of 12 %."),
        ("2026-08-17", "Is vegetarian."),
        ("2026-08-17", "contact delivery_day: Friday, every week"),
        ("2026-09-14", "Her sous-chef Bram is badly allergic to peanuts."),
    ],
)
def test_what_is_over_is_a_fault_while_it_is_known(day: str, line: str) -> None:
    [conversation] = [each for each in STORY.conversations if f"{each.at:%Y-%m-%d}" == day]
    assert f"still known: {line}" in conversation.faults([line], "")
    assert f"still known: No longer: {line}" not in conversation.faults([f"No longer: {line}"], "")


def test_a_question_is_asked_again_once_the_model_would_see_other_words(tmp_path: Path) -> None:
    asked = {"system": "Today is 2026-01-12.", "tools": [], "messages": []}
    with RecordingClaude(tmp_path, tmp_path / "answers.json") as recording:
        with pytest.raises(LookupError, match=r"write .*2026-01-12\.01\.answer\.json"):
            recording.find("2026-01-12", 0, asked)
        answer = tmp_path / "2026-01-12.01.answer.json"
        answer.write_text('{"text": "Good morning.", "calls": []}', encoding="utf-8")
        assert recording.find("2026-01-12", 0, asked)["text"] == "Good morning."
        with pytest.raises(LookupError, match="write"):
            recording.find("2026-01-12", 0, asked | {"system": "Today is 2026-01-12. Be brief."})
