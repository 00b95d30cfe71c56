from __future__ import annotations

import math
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Note, Scope
from reconciler.errors import InvalidNoteError
from reconciler.reading.canonical import canonical_text
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


class NoOffset(tzinfo):
    """A time zone that does not know its offset: such a time is as naive as one without."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        return None

    def dst(self, when: datetime | None) -> timedelta | None:
        return None

    def tzname(self, when: datetime | None) -> str | None:
        return None


def note(**given_values: Any) -> Note:
    usual = {"scope": Scope("acme", "crm", "alice"), "text": "Prefers email", "said_at": NOON}
    return Note(**usual | given_values)


UNUSABLE_TEXTS = [
    pytest.param("", id="empty"),
    pytest.param(" \t\r\n\u00a0\u3000", id="white space only"),
    pytest.param("...", id="full stops only"),
    pytest.param("\u200b\u200d", id="invisible characters only"),
    pytest.param("a\0b", id="null byte"),
    pytest.param("\0", id="null byte only"),
    pytest.param("\ud83d", id="half a surrogate pair only"),
    pytest.param("a\udc80b", id="half a surrogate pair"),
    pytest.param("a" * (TEXT_LENGTH_MAX + 1), id="one character too long"),
    pytest.param(None, id="missing"),
    pytest.param(b"Prefers email", id="bytes"),
    pytest.param(["Prefers email"], id="a list"),
]


@every("text", UNUSABLE_TEXTS)
def test_a_note_with_an_unusable_text_is_refused(text: Any) -> None:
    with pytest.raises(InvalidNoteError, match=r"^text "):
        note(text=text)


@every("name", ["source_reference", "contact_name"])
@every("text", [param for param in UNUSABLE_TEXTS if param.id != "missing"])
def test_so_is_one_with_an_unusable_reference_or_name(name: str, text: Any) -> None:
    with pytest.raises(InvalidNoteError, match=f"^{name} "):
        note(**{name: text})


@every("name", ["session_id", "idempotency_key"])
@every("value", ["", " ", " key", "key\n", "k" * 201, "k\0y", 7])
def test_so_is_one_with_an_unusable_session_or_key(name: str, value: Any) -> None:
    with pytest.raises(InvalidNoteError, match=f"^{name} "):
        note(**{name: value})


@every("name", [each.name for each in fields(Note) if "str" in str(each.type)])
@every("value", ["a\0b", "a\udc80b", "a" * (TEXT_LENGTH_MAX + 1), 7])
def test_whatever_comes_with_a_note_in_words_is_checked(name: str, value: Any) -> None:
    with pytest.raises(InvalidNoteError):
        note(**{name: [value] if name == "tags" else value})


@every("text", ["a", "7", "€", "👍", "好", "a" * TEXT_LENGTH_MAX, "  two\nlines. "])
def test_any_other_text_is_kept_to_the_letter(text: str) -> None:
    assert note(text=text).text == text


@pytest.mark.parametrize(
    "said_at",
    [
        pytest.param(datetime(2026, 3, 9, 12), id="naive"),
        pytest.param(datetime(2026, 3, 9, 12, tzinfo=NoOffset()), id="zone without offset"),
    ],
)
def test_a_time_without_an_offset_is_refused_with_the_mend(said_at: datetime) -> None:
    with pytest.raises(InvalidNoteError, match=r"^said_at .* has no time zone; add one"):
        note(said_at=said_at)


@every("said_at", [None, "2026-03-09T12:00:00+00:00", NOON.date(), 1773057600])
def test_what_is_no_datetime_is_refused(said_at: Any) -> None:
    with pytest.raises(InvalidNoteError, match=r"^said_at must be a datetime"):
        note(said_at=said_at)


@every(
    "said_at",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_a_time_that_has_no_date_in_utc_is_refused(said_at: datetime) -> None:
    with pytest.raises(InvalidNoteError, match=r"^said_at "):
        note(said_at=said_at)


@given(
    st.datetimes(
        timezones=st.sampled_from(
            [UTC, *(timezone(timedelta(minutes=m)) for m in (-720, -210, 345, 840))]
        ),
        min_value=datetime(1900, 1, 1),
    )
)
def test_a_note_keeps_the_instant_in_utc_to_the_microsecond(said_at: datetime) -> None:
    kept = note(said_at=said_at).said_at
    assert kept == said_at
    assert kept.tzinfo is UTC


@every("importance", [-0.001, 1.001, math.nan, math.inf, "0.5", True])
def test_an_importance_outside_0_to_1_is_refused(importance: Any) -> None:
    with pytest.raises(InvalidNoteError, match=r"^importance must be a number from 0 to 1"):
        note(importance=importance)


@every("importance", [0, 0.0, -0.0, 0.5, 1, 1.0])
def test_an_importance_from_0_to_1_is_kept_as_a_positive_float(importance: float) -> None:
    kept = note(importance=importance).importance
    assert (kept, type(kept), math.copysign(1, kept)) == (importance, float, 1)


@every("kind", ["gossip", "", "USER_EXPLICIT", None, 3])
def test_an_unknown_source_kind_is_refused_and_the_known_ones_listed(kind: Any) -> None:
    with pytest.raises(InvalidNoteError, match=r"source_kind .* user_explicit, operator"):
        note(source_kind=kind)


@every("kind", list(SourceKind))
def test_a_source_kind_may_be_given_as_its_word(kind: SourceKind) -> None:
    assert note(source_kind=str(kind)).source_kind is kind


def test_a_note_without_a_session_belongs_to_that_of_its_utc_day() -> None:
    just_before_midnight_in_utc = datetime(2026, 3, 10, 1, 59, tzinfo=timezone(timedelta(hours=2)))
    assert note(said_at=just_before_midnight_in_utc).session == "live-2026-03-09"


def test_a_note_with_a_session_belongs_to_that() -> None:
    assert note(session_id="call-7").session == "call-7"


@every(
    ("text", "canonical"),
    [
        ("Prefers email", "Prefers email"),
        ("Prefers email.", "Prefers email"),
        ("Prefers email . . .", "Prefers email"),
        ("Prefers email…", "Prefers email"),
        ("メールがいい。", "メールがいい"),
        ("  Prefers \t\n email ", "Prefers email"),
        ("Prefers\u00a0email", "Prefers email"),
        ("Ｐｒｅｆｅｒｓ email", "Prefers email"),
        ("A plot of 10² m", "A plot of 10² m"),
        ("Waits 2½ days", "Waits 2½ days"),
        ("Zoe\u0308", "Zoë"),
        ("Is it e-mail?", "Is it e-mail?"),
        ("v1.2.3", "v1.2.3"),
        ("prefers EMAIL", "prefers EMAIL"),
        ("...", "..."),
        ("", ""),
    ],
)
def test_canonical_text_drops_what_carries_no_meaning_and_nothing_else(
    text: str, canonical: str
) -> None:
    assert canonical_text(text) == canonical


@given(st.text() | st.text(" .。…｡\n\u00a0ab\u0308", max_size=12))
@example("a.\u2026 . \u3002")
def test_canonical_text_of_a_canonical_text_is_itself(text: str) -> None:
    assert canonical_text(canonical_text(text)) == canonical_text(text)


@given(
    st.text(min_size=1).filter(lambda text: any(map(str.isalnum, text))),
    st.sampled_from([".", " .", "...", "\n", "  "]),
)
def test_what_is_put_at_the_end_of_a_sentence_does_not_change_it(text: str, end: str) -> None:
    assert canonical_text(text + end) == canonical_text(text)


@every("slot", ["city", 0, {"attribute": "city"}])
def test_what_is_no_slot_is_refused(slot: Any) -> None:
    with pytest.raises(InvalidNoteError, match=r"^slot must be"):
        note(slot=slot)
