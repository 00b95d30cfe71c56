"""Conversations as plain text with names: dates are read, or refused."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from reconciler.errors import InvalidSessionError
from reconciler.service.sessions.transcripts import read_conversations
from tests.tables import every

BERLIN = ZoneInfo("Europe/Berlin")


def times(text: str) -> list[datetime | None]:
    [chat] = read_conversations(text.split("\n"), BERLIN)
    return [turn.said_at for turn in chat.turns()]


@every(
    ("line", "at"),
    [
        ("[31/12/2026, 10:11:12] Ana: Hi.", datetime(2026, 12, 31, 9, 11, 12)),
        ("[12/31/26, 10:11:12 PM] Ana: Hi.", datetime(2026, 12, 31, 21, 11, 12)),
        ("[12/31/26, 10:11:12\u202fPM] Ana: Hi.", datetime(2026, 12, 31, 21, 11, 12)),
        ("31.12.26, 10:11 - Ana: Hi.", datetime(2026, 12, 31, 9, 11)),
        ("31/12/26, 12:11 a. m. - Ana: Hi.", datetime(2026, 12, 30, 23, 11)),
        ("2026-12-31, 10:11 - Ana: Hi.", datetime(2026, 12, 31, 9, 11)),
        ("31-12-26 10:11:12: Ana: Hi.", datetime(2026, 12, 31, 9, 11, 12)),
        ("03/03/26, 10:11 - Ana: Hi.", datetime(2026, 3, 3, 9, 11)),
        ("31/07/26, 10:11 - Ana: Hi.", datetime(2026, 7, 31, 8, 11)),
    ],
)
def test_a_date_of_whatsapp_is_read_in_the_phones_zone(line: str, at: datetime) -> None:
    assert times(line) == [at.replace(tzinfo=UTC)]


def test_one_late_day_says_the_order_of_all_dates() -> None:
    first, _ = times("01/03/26, 10:11 - Ana: Hi.\n13/03/26, 10:11 - Ana: Hi.")
    assert first == datetime(2026, 3, 1, 9, 11, tzinfo=UTC)


@every(
    ("lines", "complaint"),
    [
        ("01/03/26, 10:11 - Ana: Hi.", "01/03/26.*2026-12-31"),
        ("13/03/26, 10:11 - A: Hi.\n03/13/26, 10:11 - A: Hi.", "2026-12-31"),
        ("31/02/26, 10:11 - Ana: Hi.", "2026-12-31"),
        ("31/12/26, 25:11 - Ana: Hi.", "31/12/26"),
    ],
)
def test_a_date_that_is_open_or_no_date_is_refused(lines: str, complaint: str) -> None:
    with pytest.raises(InvalidSessionError, match=complaint):
        times(lines)


def test_local_times_need_a_zone() -> None:
    with pytest.raises(InvalidSessionError, match=r"no time zone.*--time-zone"):
        read_conversations(["31/12/26, 10:11 - Ana: Hi."])
