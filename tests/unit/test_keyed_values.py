"""Values that name a thing by its number: one state at a time, and all else beside it."""

from __future__ import annotations

from reconciler.config_files import load_attribute_book
from reconciler.domain.records.notes import SlotMatch, compare_slots, keyed
from tests.tables import every

BOOK = load_attribute_book(None)


@every(
    ("said", "code", "state"),
    [
        ("K-9 pending", "k9", "pending"),
        ("#4410 reopened", "4410", "reopened"),
        ("BIL 88 unpaid", "bil88", "unpaid"),
        ("77/2031: with the notary", "772031", "with the notary"),
        ("5210 delivered 3 June", "5210", "delivered"),
        ("The complaint K-9 has been upheld.", "k9", "upheld"),
        ("K-9 waits for spare parts", "k9", "waits for spare parts"),
        ("K-9 covers two machines", "k9", ""),
        ("K-9 from Ghent", "k9", ""),
        ("K-9 raised by Odile", "k9", ""),
        ("K-9 1,250 euros", "k9", ""),
        ("K-9", "k9", ""),
    ],
)
def test_a_thing_has_a_number_and_perhaps_a_state(said: str, code: str, state: str) -> None:
    found = keyed(said)
    assert found is not None
    assert (found.code, found.state) == (code, state)


@every("said", ["gold", "30 days", "10%", "EUR 35,000", "2026-03-31", "12/05/2026", "8th"])
def test_an_amount_or_a_date_numbers_nothing(said: str) -> None:
    assert keyed(said) is None


@every(
    ("attribute", "note", "fact", "match"),
    [
        ("ticket", "K-9 solved", "K-9 open", SlotMatch.CHANGED),
        ("ticket", "K-9 open", "K-9 open", SlotMatch.EQUAL),
        ("ticket", "K-90 open", "K-9 open", SlotMatch.APART),
        ("ticket", "K-9 covers two machines", "K-9 open", SlotMatch.APART),
        ("invoice", "4410 paid", "4410 unpaid", SlotMatch.CHANGED),
        ("invoice", "4410 paid", "4401 unpaid", SlotMatch.APART),
        ("permit", "P-3 granted", "P-3 applied for", SlotMatch.CHANGED),
        ("permit", "P-3 granted", "P-4 applied for", SlotMatch.APART),
        ("storey", "300 seats", "200 seats", SlotMatch.OPEN),
        ("hobby", "M8 spotting", "M8 painting", SlotMatch.APART),
    ],
)
def test_the_states_of_one_thing_exclude_each_other(
    attribute: str, note: str, fact: str, match: SlotMatch
) -> None:
    one, other = (BOOK.slot(attribute=attribute, value=value) for value in (note, fact))
    assert compare_slots(one, other) is match
    assert one is not None
    assert other is not None
    assert one.decides_about(other) or match is SlotMatch.APART


def test_of_an_attribute_with_one_value_no_value_is_keyed() -> None:
    seats = [
        BOOK.slot(attribute="seat", value=value, is_single_valued=True)
        for value in ("B-12 booked", "C-14 booked")
    ]
    assert compare_slots(*seats) is SlotMatch.CHANGED
