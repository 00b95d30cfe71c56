"""Notes: what a caller wants remembered, checked before anything is read or written."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import cast

from reconciler.domain.records.choices import one_of
from reconciler.domain.records.kinds import AnyCategory, AnySourceKind, Category, SourceKind
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.domain.records.slots import Slot
from reconciler.domain.visible_text import without_widthless
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.frozen import frozen

TEXT_LENGTH_MAX = 2000
"""Characters in a note as it comes in. A note is one fact; a document belongs elsewhere. A token
counts like any text: a discount for what looks like one let 396,815 characters in."""

LIFETIME_DAYS_MAX = 3_650
"""The longest lifetime of a note; a fact that lasts longer lasts until it is changed."""

CLEANED_GROWTH_MAX = 8
"""How many times longer cleaning may make a text: a token has at most 29 characters, and the value
that it replaces at least four."""

ARTEFACT_LENGTH_MAX = 500
"""Characters in a reference to what is kept elsewhere."""

_TAG_COUNT_MAX = 100
_OF_THE_DAY = re.compile(r"(live|confirmations)-\d{4}-\d{2}-\d{2}")
_SURROGATE = re.compile("[\ud800-\udfff]")
CLOCK_SKEW_MAX = timedelta(minutes=5)
"""How far ahead another machine's clock may be; a later date lies in the future."""


@frozen
class Remembered:
    """The part of a note that the fact made of it keeps.

    A field that is added here comes with a note, is kept on its fact, and is taken over by a
    restatement that leaves it None.

    Args:
        text: 1 to 2,000 characters, not blank, no null bytes. A typed token counts like any other
            text.
        importance: 0 to 1.
        slot: what it answers about whom, normalised; None if unknown.
        tags: words to find it by.
        artefact: a document or a row that it points to, as a reference: a URI, a path, a key; up to
            500 characters on one line. It is kept and shown, never fetched.
    """

    text: str
    importance: float | None = 0.5
    slot: Slot | None = None
    tags: tuple[str, ...] = ()
    artefact: str | None = None


@frozen
class Note(Remembered):
    """The text to remember, with what came with it.

    A note that exists can be stored: everything about it was checked when it was made.

    Args, beside those of ``Remembered``:
        scope: the contact's.
        importance: None leaves it to the gate's reading of the text.
        said_at: when it was said; time-zone aware, kept in UTC.
        is_dated: whether the caller said when. An undated note is as new as the moment in which it
            is compared, and never older than what it is compared with.
        valid_from: from when it is true in the world, time-zone aware; None for ``said_at``.
        category: what kind of thing it says; None leaves it to the gate's reading of the text.
        topic: a broad field of life, for example ``work``; None if unknown.
        lifetime_days: after how many days it may have changed; None leaves it to the policy.
        source_kind: the kind of source.
        source_reference: where it can be looked up (a call, a ticket), or None.
        contact_name: how a person would call the contact, or None.
        slot_read_from: the words that the slot was read from; None if it was given.
        session_id: the session that the evidence belongs to; None makes one per UTC day.
        idempotency_key: the same key in a scope returns the first decision; None for no key.
        is_hedged: whether it only guesses, as the gate reads it; one guess ends no fact that was
            confirmed or often said.
        is_cleaned: whether the gate has cleaned it, or it comes from the store. Its texts may be up
            to eight times as long: they were measured before tokens took the place of values.

    Raises:
        InvalidNoteError: any of the above does not hold.
    """

    scope: Scope
    importance: float | None = None
    said_at: datetime
    source_kind: AnySourceKind = SourceKind.USER_EXPLICIT
    source_reference: str | None = None
    contact_name: str | None = None
    slot_read_from: str | None = None
    session_id: str | None = None
    idempotency_key: str | None = None
    is_dated: bool = True
    valid_from: datetime | None = None
    category: AnyCategory | None = None
    topic: str | None = None
    lifetime_days: int | None = None
    is_hedged: bool = False
    is_cleaned: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        _check_parts(self.scope, self.slot)
        length_max = TEXT_LENGTH_MAX * (CLEANED_GROWTH_MAX if self.is_cleaned else 1)
        check_text("text", self.text, length_max)
        object.__setattr__(self, "text", without_widthless(self.text))
        object.__setattr__(self, "said_at", utc("said_at", self.said_at))
        if self.valid_from is not None:
            object.__setattr__(self, "valid_from", utc("valid_from", self.valid_from))
        object.__setattr__(self, "importance", _importance(self.importance))
        object.__setattr__(self, "source_kind", source_kind_of(self.source_kind))
        if self.category is not None:
            object.__setattr__(self, "category", _category(self.category))
        _check_lifetime(self.lifetime_days)
        object.__setattr__(self, "tags", _tags(self.tags))
        _check_artefact(self.artefact, is_cleaned=self.is_cleaned)
        for name in ("source_reference", "contact_name", "slot_read_from"):
            if getattr(self, name) is not None:
                check_text(name, getattr(self, name), length_max)
        for name in ("session_id", "idempotency_key", "topic"):
            if getattr(self, name) is not None:
                check_identifier(name, getattr(self, name), InvalidNoteError)

    @property
    def holds_from(self) -> datetime:
        """From when it is true, as far as known (UTC)."""
        return self.valid_from or self.said_at

    def is_ahead(self, now: datetime) -> bool:
        """Whether it starts to be true later: after it was said and after now, by any clock."""
        return self.holds_from - max(self.said_at, now) > CLOCK_SKEW_MAX

    @property
    def is_undated(self) -> bool:
        """Whether both its time of saying and its start are unknown."""
        return not self.is_dated and self.valid_from is None

    def no_earlier_than(self, times: Iterable[datetime]) -> Note:
        """The same note; an undated one counts as said no earlier than the latest of these times.

        Clocks step back, and two hosts' clocks differ. Undated notes count in the order in which
        they arrive.
        """
        if not self.is_undated:
            return self
        return replace(self, said_at=max((self.said_at, *times)))

    @property
    def trust(self) -> SourceKind:
        """The kind of source."""
        return cast("SourceKind", self.source_kind)  # since it was made

    @property
    def session(self) -> str:
        """The session that the evidence is filed under."""
        return self.session_id or f"live-{self.said_at:%Y-%m-%d}"


def _check_lifetime(days: object) -> None:
    """Raise ``InvalidNoteError`` unless they are days that a note may last, or None."""
    if days is None:
        return
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= LIFETIME_DAYS_MAX:
        raise InvalidNoteError(
            f"lifetime_days {days!r} is no number of whole days from 1 to {LIFETIME_DAYS_MAX:,}; "
            "leave it out for what lasts, and give valid_to where the end is known"
        )


def is_of_the_day(session_id: str) -> bool:
    """Whether a session is the one that a day's notes and answers are filed in by default."""
    return _OF_THE_DAY.fullmatch(session_id) is not None


_SPACES = re.compile(r"\s+")


@lru_cache(maxsize=4096)
def canonical_text(text: str) -> str:
    """The text as it is embedded: one Unicode form, single spaces, no closing full stops.

    A closing full stop alone moves a cosine of all-MiniLM-L6-v2 by 0.05, half the width that
    separates an UPDATE from a guess. The stored text keeps every character.
    """
    folded = text  # which ASCII is already, and most texts are
    if not text.isascii():
        folded = unicodedata.normalize("NFC", "".join(map(_without_forms, text)))
    collapsed = _SPACES.sub(" ", folded).strip()
    return collapsed.rstrip(" .。…") or collapsed


def utc(name: str, value: object, error: type[InvalidRequestError] = InvalidNoteError) -> datetime:
    """The same instant in UTC.

    Raises:
        error: not a datetime, or a naive one, which names no certain instant.
    """
    if not isinstance(value, datetime):
        raise error(
            f"{name} must be a datetime, not {type(value).__name__}; "
            "datetime.fromisoformat makes one of a text"
        )
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise error(
            f"{name} {value.isoformat()} has no time zone; add one, for example "
            "datetime.now(timezone.utc), or 2026-01-31T09:00:00+00:00"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError as overflow:
        raise error(f"{name} {value.isoformat()} has no date in UTC") from overflow


def not_in_the_future(
    at: datetime,
    now: datetime,
    name: str = "said_at",
    error: type[InvalidRequestError] = InvalidNoteError,
) -> datetime:
    """The same time, unless it has not come yet: then its zone is probably wrong.

    Raises:
        error: it is more than five minutes ahead.
    """
    if at - now > CLOCK_SKEW_MAX:
        raise error(
            f"{name} {at.isoformat()} has not come yet (it is {now.isoformat()}); "
            "check its time zone"
        )
    return at


def _without_forms(character: str) -> str:
    """Its plain form, except for superscripts and fractions: 10² is not 102."""
    if unicodedata.category(character) == "No":
        return character
    return unicodedata.normalize("NFKC", character)


def check_text(name: str, value: object, length_max: int) -> None:
    """Refuse a text that cannot be stored or says nothing, such as marks alone.

    Raises:
        InvalidNoteError: it is no string, blank, over-long, or holds what no engine stores.
    """
    check_utterance(name, value, length_max)
    if not has_words(str(value)):
        raise InvalidNoteError(
            f"{name} is blank: it holds no letter, digit or symbol; give it words"
        )


def has_words(text: str) -> bool:
    """Whether it holds a letter, a digit or a symbol: "?" says nothing."""
    return any(unicodedata.category(character)[0] in "LNS" for character in text)


def storable(text: str) -> str:
    """The text with a sign in the place of each half of a surrogate pair and each null byte."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def check_utterance(name: str, value: object, length_max: int) -> None:
    """Refuse a text that cannot be stored as it was said. It may be "…", which says nothing.

    The length is checked first: it is known without reading the text, and bounds its bytes, at four
    for each character. No other check reads a text that is too long.

    Raises:
        InvalidNoteError: it is no string, blank, over-long, or holds what no engine stores.
    """
    if not isinstance(value, str):
        raise InvalidNoteError(f"{name} must be a string, not {type(value).__name__}")
    if len(value) > length_max:
        raise InvalidNoteError(
            f"{name} has {len(value):,} characters, at most {length_max:,} are allowed"
            + ("; split it into one note for each fact" if name == "text" else "")
        )
    if value.isascii() and value.isprintable() and value.strip():
        return  # most texts, in a tenth of the time
    if is_blank(value):
        raise InvalidNoteError(f"{name} is blank: nothing in it can be seen; give it words")
    check_storable(name, value)


def check_storable(name: str, text: str) -> None:
    """Refuse a text with a sign that no engine stores.

    Raises:
        InvalidNoteError: it holds one; the text says which.
    """
    if "\0" in text:
        raise InvalidNoteError(f"{name} holds a null byte; remove it")
    if _SURROGATE.search(text):
        raise InvalidNoteError(f"{name} holds half a surrogate pair (such as \\ud83d); remove it")


def is_blank(text: str) -> bool:
    """Whether a text is empty, or white space and characters without a width."""
    return all(unicodedata.category(character)[0] in "CZ" for character in text)


def _check_parts(scope: object, slot: object) -> None:
    if not isinstance(scope, Scope):
        raise InvalidNoteError("a note needs a scope: tenant, agent and contact")
    if slot is not None and not isinstance(slot, Slot):
        raise InvalidNoteError("slot must be a Slot(...), or None")


def unit_interval(name: str, value: object) -> float:
    """The number, from 0 to 1.

    Raises:
        InvalidNoteError: it is no number from 0 to 1.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidNoteError(f"{name} must be a number from 0 to 1")
    return math.fabs(float(value))


def _importance(value: object) -> float | None:
    return None if value is None else unit_interval("importance", value)


def _category(value: object) -> Category:
    return one_of(Category, "category", value, InvalidNoteError)


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise InvalidNoteError("tags must be a list of strings")
    if len(value) > _TAG_COUNT_MAX:
        raise InvalidNoteError(f"a note has {len(value):,} tags, at most {_TAG_COUNT_MAX} are kept")
    for tag in value:
        check_identifier("a tag", tag, InvalidNoteError)
    return tuple(value)


def _check_artefact(value: object, *, is_cleaned: bool) -> None:
    """Refuse an artefact that is no reference; the gate judges what it says.

    Raises:
        InvalidNoteError: it is no reference.
    """
    if value is None:
        return
    length_max = ARTEFACT_LENGTH_MAX * (CLEANED_GROWTH_MAX if is_cleaned else 1)
    check_text("artefact", value, length_max)
    if not str(value).isprintable():
        raise InvalidNoteError(
            "artefact holds line breaks or other control characters; give a reference such as "
            "s3://bucket/quote-7.pdf or crm:orders/1042"
        )


def source_kind_of(value: object) -> SourceKind:
    """The source of that name.

    Raises:
        InvalidNoteError: no source has that name.
    """
    return one_of(SourceKind, "source_kind", value, InvalidNoteError)
