"""Until when a note says that it is true, where that is plain; and what must not be read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reconciler import Action, Memory
from reconciler.domain.values.ends import said_end
from reconciler.errors import InvalidNoteError
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)

PLAIN = [
    ("The offer is valid until 30 November.", "2026-12-01"),
    ("The offer is valid until 30 November 2027.", "2027-12-01"),
    ("Valid until November 30th, 2027", "2027-12-01"),
    ("Her discount code is good till the 1st of May.", "2026-05-02"),
    ("The office is closed through 31 March.", "2026-04-01"),
    ("She's in Oslo until 14 February.", "2027-02-15"),
    ("Until 20 April she is on leave.", "2026-04-21"),
    ("The price applies until 2026-06-30.", "2026-07-01"),
    ("Is away until 9 March.", "2026-03-10"),
    ("Works from Lyon until 2 Sept.", "2026-09-03"),
    ("The offer is valid until 1 March 2026.", "2026-03-02"),
    ("The price applies until 2025-06-30.", "2025-07-01"),
    ("Is still travelling until 30 November.", "2026-12-01"),
    ("The parking permit is valid until 30 November.", "2026-12-01"),
    ("She's fully booked until 30 November.", "2026-12-01"),
    ("Is on part-time leave until 30 November.", "2026-12-01"),
    ("Das Angebot gilt bis 14. Februar.", "2027-02-15"),
    ("Sie ist bis zum 14. April 2026 im Urlaub.", "2026-04-15"),
    ("L'offre est valable jusqu'au 30 novembre.", "2026-12-01"),
    ("Elle est absente jusqu'au 1er mai 2026.", "2026-05-02"),
]

NOT_PLAIN = [
    "The shop does not open until 14 April.",
    "The shop isn't open until 14 April.",
    "No deliveries until 14 April.",
    "Is not available until 14 April.",
    "Worked at Globex until 14 April.",
    "Was in Oslo until 14 February.",
    "Has been on leave until 5 March.",
    "The offer was valid until 30 November.",
    "Is in Oslo until 14 April and in Rome after that.",
    "Is in Oslo until 14 April, then in Rome.",
    "Is in Oslo until 14 April. Lives in Pune.",
    "Is away from 1 April until 14 April.",
    "Has until 14 April to pay the invoice.",
    "Wants an offer until 14 April.",
    "The invoice is due until 14 April.",
    "The contract is with Globex until they merge on 14 April.",
    "If it rains she is here until 14 April.",
    "Is allergic to nuts - on leave until 30 November.",
    "Is allergic to nuts – on leave until 30 November.",
    "Is allergic to nuts—on leave until 30 November.",
    "Is hardly ever home until 30 November.",
    "He's barely well until 30 November.",
    "Is a diabetic travelling until 30 November.",
    "Is a nurse employed at Acme until 30 November.",
    "Is the man she dated until 30 November.",
    "Is a friend of the man she met until 30 November.",
    "Is born in Pune where they stay until 30 November.",
    "Is a doctor since her studies lasted until 30 November.",
    "Is allergic to penicillin with leave until 30 November.",
    "The offer is valid until 9999-12-31.",
    "Is away until further notice.",
    "Is away until 31 February.",
    "Is open until 8 in the evening.",
    "Sie ist erst bis 14. April zu erreichen.",
    "Sie ist nicht bis 14. April da.",
    "Sie war bis 14. April im Urlaub.",
    "Elle n'est pas absente jusqu'au 14 avril.",
    "Lives in Pune.",
]


@every(("text", "day"), PLAIN)
def test_a_plain_last_day_is_read_and_counts_whole(text: str, day: str) -> None:
    assert said_end(text, NOON) == datetime.fromisoformat(day).replace(tzinfo=UTC)


@every("text", NOT_PLAIN)
def test_what_is_no_plain_end_is_not_read(text: str) -> None:
    assert said_end(text, NOON) is None


def test_29_february_without_a_year_has_an_end_in_a_leap_year_only() -> None:
    assert said_end("Is away until 29 February.", NOON) is None
    leap = datetime(2028, 1, 5, tzinfo=UTC)
    assert said_end("Is away until 29 February.", leap) == datetime(2028, 3, 1, tzinfo=UTC)


def test_a_note_ends_on_the_day_that_it_says(tmp_path: Path) -> None:
    now = [NOON]
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: now[0]) as memory:
        contact = memory.contact("crm", "lena")
        contact.note("Her discount code is valid until 30 November.")
        contact.note(
            "The office is closed until 30 June.", valid_to=datetime(2026, 5, 1, tzinfo=UTC)
        )

        def known() -> list[str]:
            return sorted(hit.fact.text for hit in contact.recall())

        code, office = known()
        now[0] = datetime(2026, 5, 2, tzinfo=UTC)
        assert known() == [code]  # what the caller says goes before what the words say
        now[0] = datetime(2026, 11, 30, 23, tzinfo=UTC)
        assert known() == [code]
        now[0] = datetime(2026, 12, 1, tzinfo=UTC)
        assert known() == []
        assert office.startswith("The office")


def test_what_the_words_say_is_over_is_refused_or_kept_as_history(tmp_path: Path) -> None:
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: NOON) as memory:
        contact = memory.contact("crm", "lena")
        with pytest.raises(InvalidNoteError, match="over on 2026-03-02; leave it, or give a valid"):
            contact.note("The offer is valid until 1 March 2026.")
        contact.note(
            "The offer is valid until 1 March 2026.", valid_from=datetime(2026, 2, 1, tzinfo=UTC)
        )
        contact.note("Her code is valid until 5 March.", said_at=datetime(2026, 3, 1, tzinfo=UTC))
        assert list(contact.recall()) == []
        kept = [fact.valid_to for chain in contact.history() for fact in chain.facts]
        assert sorted(at.day for at in kept if at) == [2, 6]


@every(
    ("text", "end"),
    [
        (None, "2026-12-01"),
        ("Is diabetic.", None),
        ("Is in hospital until 24 December.", "2026-12-25"),
        ("Was in hospital until 1 March.", None),
    ],
)
def test_a_yes_in_other_words_has_the_end_that_they_name(
    tmp_path: Path, text: str | None, end: str | None
) -> None:
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: NOON) as memory:
        contact = memory.contact("crm", str(text))
        held = contact.note("Is in hospital until 30 November.", source_kind="tool_output")
        assert held.action is Action.HOLD
        contact.confirm(held.decision_id, "contact", text=text)
        [hit] = contact.recall()
        assert hit.fact.valid_to == (end and datetime.fromisoformat(end).replace(tzinfo=UTC))


def test_an_amendment_ends_on_the_day_that_it_says(tmp_path: Path) -> None:
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: NOON) as memory:
        contact = memory.contact("crm", "lena")
        office = contact.note("Is at the office.")
        contact.amend(
            "Is on leave until 30 November.", fact_id=office.fact_id, by="dana", reason="Told."
        )
        [hit] = contact.recall()
        assert hit.fact.valid_to == datetime(2026, 12, 1, tzinfo=UTC)
