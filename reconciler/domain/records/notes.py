"""Notes: what a caller wants to remember, checked before anything is read or written. Pure.

A note belongs to a scope, its contact; a scope never holds the contents of notes. Its slot is the
question that it answers about a person. Slots are only compared here, in normalised form:
``reconciler.domain.values.attributes`` names the attributes and says whether each holds one value,
and ``reconciler.domain.values`` normalises values. A keyed value gives the state of one numbered
thing, such as "T-1 open". A thing has one state at a time, so "T-1 closed" replaces it; other
statements about the thing, such as "T-1 reported by Paula", hold together with its state.

The checks of a caller's other choices are here too, because nearly every record needs one: a word
of a list, true or false, a file, a function, our objects. Their errors repeat only a short excerpt
of the refused value. Never here: the contents of a file, or what a note does to a fact.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from reconciler.domain.records.kinds import AnyCategory, AnySourceKind, SourceKind
from reconciler.errors import (
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
    ReconcilerError,
)
from reconciler.frozen import Strings, frozen, in_order, is_number, uncompared
from reconciler.reading.canonical import unaccented
from reconciler.reading.kinds import Category, RecallSemantics as RecallSemantics, Speech as Speech
from reconciler.reading.visible_text import without_widthless

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

NOT_UTF_8 = (
    "not valid UTF-8, but perhaps Latin-1; save the file as UTF-8, such as with "
    "iconv -f LATIN1 -t UTF-8"
)
"""The error about a file in another encoding, with the remedy."""

_NUMBER_MAX = 1_000_000
_NAMED_MAX = 5
_EXCERPT_LENGTH_MAX = 60
"""The most characters of a refused value that an error repeats."""


def one_of(
    kind: type[E], name: str, value: object, error: type[ReconcilerError] = InvalidRequestError
) -> E:
    """Return the member of the kind that the value names.

    Args:
        kind: the words there are.
        name: the caller's name for the value.
        value: the value that the caller gave.
        error: raised if there is no such word; its text lists the words.
    """
    if type(value) is kind:
        return value
    try:
        return kind(str(value))
    except ValueError:
        raise error(not_one_of(name, value, kind)) from None


def not_one_of(name: str, value: object, known: Iterable[str]) -> str:
    """Make the text of a refusal: the given value, and the allowed ones."""
    return f"{name} {excerpt(value)} is not one of {', '.join(known)}"


def excerpt(value: object) -> str:
    """Quote a value for an error, at most 60 characters of it."""
    try:
        said = str(value)
    except ValueError:  # Python writes out no number of more than 4,300 digits
        said = "so long a number"
    return repr(said if len(said) <= _EXCERPT_LENGTH_MAX else said[:_EXCERPT_LENGTH_MAX] + "…")


def first_of(ids: Sequence[str]) -> str:
    """Name the first of these; "…" stands for the others."""
    return ", ".join(ids[:_NAMED_MAX]) + (", …" if len(ids) > _NAMED_MAX else "")


def check_flags(**flags: object) -> None:
    """Refuse a flag that is not True or False: in Python the text "false" counts as true.

    Args:
        flags: the flags by the caller's names for them.

    Raises:
        InvalidRequestError: a flag has another value.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidRequestError(
                f"{name} must be True or False, not {type(value).__name__} {excerpt(value)}"
            )


def positive(name: str, value: int, least: int = 1) -> int:
    """Check the largest number of items to return; every read has a limit.

    Raises:
        InvalidRequestError: the limit is not a whole number from the least on.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _NUMBER_MAX:
        raise InvalidRequestError(f"{name} must be a whole number from {least} to {_NUMBER_MAX}")
    return value


def check_callable(**functions: object) -> None:
    """Refuse a callback that cannot be called, before its work begins.

    Args:
        functions: the functions by the caller's names for them.

    Raises:
        InvalidRequestError: a function cannot be called, such as None; leave it out instead.
    """
    for name, function in functions.items():
        if not callable(function):
            raise InvalidRequestError(
                f"{name} must be a function, not {type(function).__name__}; leave it out for none"
            )


def check_kind(
    name: str, value: object, kind: type, error: type[ReconcilerError] = InvalidRequestError
) -> None:
    """Refuse anything but an object of this class.

    Args:
        name: the caller's name for the value.
        value: the value that the caller gave.
        kind: the class that it must have.
        error: what is raised otherwise; its text names both classes.
    """
    if not isinstance(value, kind):
        raise error(f"{name} must be a {kind.__name__}, not {type(value).__name__}")


def list_of(kind: type[T], name: str, values: Iterable[T]) -> list[T]:
    """Return the values, all of this class.

    Raises:
        InvalidRequestError: a value has another class; the text names the class that it must have.
    """
    if not isinstance(values, Iterable):
        raise InvalidRequestError(
            f"{name} must be a list of {kind.__name__} objects, not {type(values).__name__}"
        )
    listed = list(values)
    for value in listed:
        check_kind(f"each of {name}", value, kind)
    return listed


def file_path(name: str, given: object) -> Path:
    """Return the file that a caller names.

    Raises:
        InvalidRequestError: the value is not the name of a file.
    """
    if not isinstance(given, str | PathLike):
        raise InvalidRequestError(f"{name} must be a path, not {type(given).__name__}")
    try:
        path = Path(given)
    except TypeError:  # a path in bytes
        raise InvalidRequestError(f"{name} must be a path of text, not of bytes") from None
    if "\0" in str(path):
        raise InvalidRequestError(f"{name} {excerpt(str(path))} holds a null character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidRequestError(
            f"{name} {excerpt(str(path))} holds half of a surrogate pair, which no file's name can "
            "hold; remove it"
        ) from None
    return path


_CODE = re.compile(
    r"((?:\w+ ){0,3}?)"
    r"(#?(?:[A-Z]{1,5} (?=\d))?(?=[\w/-]*\d)[^\W_]+(?:[-/_][^\W_]+)*)(?![\w/-]|[.,]\d)"
)
"""A number or a code, perhaps after the words for the numbered thing: "support ticket T-1"."""

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d+(?:st|nd|rd|th)")
_COPULA = re.compile(
    r"[ :,(]*((?:is|was|are|were|has|have|had|been|got|now|again|still|ist|wurde|est|está)\b[ ,]*)*"
)
_WHEN = re.compile(r"[ ,]+(?:(?:on|since|due|until) )?(?:\d{1,2}\.? [A-Z]\w+|\d{4}-\d\d-\d\d)$")
_DETAIL = re.compile(r"\d|\bby\b|^(?:about|for|from|of|to)\b|^(?!a?waits)\w+s \w|^[^a-zß-ÿ]")
"""Words that give no state: a number, a doer, a topic, or a verb with an object: "runs three
years"."""

_STATE_WORDS_MAX = 5


class KeyedValue(NamedTuple):
    """A numbered thing and its state.

    Attributes:
        noun: the words before its number.
        number: its number or code, as it was said.
        code: the letters and digits of that number, in small letters.
        state: the state in words; empty if there is none.
        is_certain: whether the code cannot be an amount: it has more than digits.
        is_stated: whether words such as "is" come before the state, as in a sentence.
    """

    noun: str
    number: str
    code: str
    state: str
    is_certain: bool
    is_stated: bool


@lru_cache(maxsize=4096)
def keyed(said: str) -> KeyedValue | None:
    """The numbered thing at the beginning of a value or a sentence; None if there is none."""
    found = _CODE.match(said)
    number = found and found[2]
    if not found or not number or _DATE.fullmatch(number) or len(number) < len("T1"):
        return None
    if number.isdigit() and len(number) < len("100"):
        return None
    rest = said[found.end() :].strip(" .!)")
    copula = _COPULA.match(rest)
    state = _WHEN.sub("", rest[copula.end() :] if copula else rest)
    is_state = not _DETAIL.search(state) and len(state.split()) <= _STATE_WORDS_MAX
    code = "".join(filter(str.isalnum, number.casefold()))
    return KeyedValue(
        noun=found[1],
        number=number,
        code=code,
        state=state if is_state else "",
        is_certain=not number.isdigit(),
        is_stated=bool(copula and copula[1]),
    )


CONTACT_SUBJECT = "contact"
"""The subject of a slot that is about the contact itself."""

ACCOUNT = "account:"
"""How the contact id of an account begins: the facts of account acme are those of contact
``account:acme``."""

MEMBERSHIP = "belongs to"
"""The attribute of a fact that the contact belongs to an account. No name that a caller gives is
stored with a space, so only the call of an operator writes such a fact."""


@frozen
class Slot:
    """Subject, attribute and value of a note, normalised so that equal means equal.

    Attributes:
        subject: the person or thing that it is about, normalised; ``contact`` for the contact
            itself, else for example ``wife``.
        attribute: the canonical name of the attribute, for example ``city``; None if only the
            subject is known.
        value: the value as it was said; None if the note has no value.
        value_key: the normalised value, which is compared; None exactly if ``value`` is None.
        is_single_valued: whether the attribute holds one value at a time.
        is_open: whether it is unknown how many values the attribute holds, so that another value
            may end this one or hold together with it; never stored with a fact.
        is_known: whether the book lists the attribute, so that its name is unique; a made-up name
            may be a synonym of another.
        said_subject, said_attribute: the words as they were said, until the gate has checked them;
            never stored.
        is_personal: whether the value is personal data, which no reason or prompt repeats.
    """

    subject: str
    attribute: str | None = None
    value: str | None = None
    value_key: str | None = None
    is_single_valued: bool
    is_open: bool = False
    is_known: bool = False
    is_personal: bool = False
    said_subject: str | None = uncompared(None)
    said_attribute: str | None = uncompared(None)

    @property
    def account(self) -> str | None:
        """Return the account that the contact belongs to by this slot; None for any other slot."""
        return (self.value or "").removeprefix(ACCOUNT) if self.attribute == MEMBERSHIP else None

    @property
    def attribute_in_words(self) -> str:
        """Return the attribute's name with spaces between its words; empty without one."""
        return (self.attribute or "").replace("_", " ")

    @property
    def shown_value(self) -> str | None:
        """Return the value as a reason or a prompt may show it."""
        return "(personal data)" if self.is_personal else self.value

    @property
    def key(self) -> str | None:
        """Return subject, attribute and value in one, the key of facts; None without a value."""
        if self.attribute is None or self.value_key is None:
            return None
        return f"{self.question}{_join(self.value_key)}/"

    @property
    def rival_prefix(self) -> str | None:
        """The key prefix of the facts that this slot is compared with; None without a value.

        If only one value holds, or may hold, these are all answers to the question; else only equal
        answers.
        """
        if self.value_key is None:
            return None
        return self.question if self.is_single_valued or self.is_open else self.key

    def decides_about(self, other: Slot) -> bool:
        """True if the slots are compared, even if the texts are very different."""
        prefix, key = self.rival_prefix, other.key
        if prefix is None or key is None:
            return False
        return key.startswith(prefix) or (
            self.question == other.question and _compare_things(self, other) is SlotMatch.CHANGED
        )

    @property
    def thing(self) -> KeyedValue | None:
        """Return the numbered thing that the value is about; None if there can be none.

        Among the book's attributes only those that hold identifiers can have one: their keys have
        no spaces.
        """
        is_one = self.is_single_valued or self.value_key is None or self.is_personal
        if is_one or (self.is_known and " " in (self.value_key or "")):
            return None
        return keyed(self.value or "")

    @property
    def question(self) -> str:
        """Return the key prefix of all answers to its question."""
        return f"{_join(self.subject, self.attribute or '')}/"


class SlotMatch(StrEnum):
    """How a note's slot relates to a fact's."""

    UNKNOWN = "unknown"
    """The slots do not decide; the texts do."""

    EQUAL = "equal"
    """The same answer to the same question: a restatement at any cosine."""

    CHANGED = "changed"
    """Another answer to a question that has only one answer: a contradiction at any cosine."""

    OPEN = "open"
    """Another answer to a question that may have one answer or several: only a reader can
    decide."""

    APART = "apart"
    """Both hold; neither may replace the other, even if they sound alike."""


def compare_slots(note: Slot | None, fact: Slot | None) -> SlotMatch:
    """Compare the note's slot with the fact's.

    A note without a value never touches a fact that has one; two values of a many-valued attribute
    are siblings.
    """
    if note is None and fact is None:
        return SlotMatch.UNKNOWN
    # What is filed without a subject counts as about the contact.
    about = note.subject if note else CONTACT_SUBJECT
    if about != (fact.subject if fact else CONTACT_SUBJECT):
        return SlotMatch.APART
    if note is None or fact is None:
        return SlotMatch.UNKNOWN
    if note.attribute is None or fact.attribute is None:
        return SlotMatch.UNKNOWN
    if note.value_key is None and fact.value_key is not None:
        return SlotMatch.APART
    if note.attribute != fact.attribute:
        # One thing may have two names, unless both are the book's; then two values are two things.
        are_two = note.is_known and fact.is_known and note.value_key != fact.value_key
        return SlotMatch.APART if are_two else SlotMatch.UNKNOWN
    return _compare_values(note, fact)


def _compare_values(note: Slot, fact: Slot) -> SlotMatch:
    if note.value_key is None or fact.value_key is None:
        return SlotMatch.UNKNOWN
    if note.value_key == fact.value_key or _differ_in_accents(note.value_key, fact.value_key):
        return SlotMatch.EQUAL
    if note.is_single_valued:
        return SlotMatch.CHANGED
    otherwise = SlotMatch.OPEN if note.is_open else SlotMatch.APART
    return _compare_things(note, fact) or otherwise


def _differ_in_accents(one: str, other: str) -> bool:
    """True if two Latin values differ only in accents: Malmö and Malmo.

    In other scripts a mark makes another letter, so no mark is ignored there.
    """
    if one.isascii() and other.isascii():
        return False
    bare = unaccented(one)
    return bare.isascii() and bare == unaccented(other)


def _compare_things(note: Slot, fact: Slot) -> SlotMatch | None:
    """How two values relate if each names a thing by its number; None if that is not clear."""
    one, other = note.thing, fact.thing
    if one is None or other is None:
        return None
    if one.code != other.code:
        return SlotMatch.APART if one.is_certain and other.is_certain else None
    return SlotMatch.CHANGED if one.state and other.state else SlotMatch.APART


SCOPE_PART_LENGTH_MAX = 200
"""Characters in a tenant, agent or contact id. Source: longest e-mail local part and domain fit."""


@in_order
class Scope:
    """Tenant, agent and contact: the only facts a note may be compared with.

    A scope that exists is complete; without one nothing is read and nothing is written.

    Args:
        tenant: the deployment, 1 to 200 characters.
        agent_id: the agent that remembers, 1 to 200 characters.
        contact_id: the contact that the facts are about, 1 to 200 characters.

    Raises:
        InvalidScopeError: a part is missing, blank, over-long, or holds control characters or
            surrounding white space (which would silently make a second contact).
    """

    tenant: str
    agent_id: str
    contact_id: str

    def __post_init__(self) -> None:
        for name in ("tenant", "agent_id", "contact_id"):
            check_identifier(name, getattr(self, name), InvalidScopeError)

    @property
    def agent_key(self) -> str:
        """Return the agent's unique key in the graph: its parts, escaped, joined by a slash."""
        return _join(self.tenant, self.agent_id)

    @property
    def contact_key(self) -> str:
        """Contact's unique key in the graph; two scopes share it only when they are equal."""
        return _join(self.tenant, self.agent_id, self.contact_id)

    def account(self, name: str) -> Scope:
        """The scope of an account of the same agent that a caller names; its facts are kept there.

        Raises:
            InvalidScopeError: the name cannot be used, or is the id of the account's contact.
        """
        check_identifier("account", name, InvalidScopeError)
        if name.startswith(ACCOUNT):
            raise InvalidScopeError(
                f"{name} is the id of an account's contact; name the account without {ACCOUNT!r}"
            )
        return self.known_account(name)

    def known_account(self, name: str) -> Scope:
        """The scope of an account that a membership names."""
        return replace(self, contact_id=ACCOUNT + name)

    @property
    def columns(self) -> dict[str, str]:
        """Ids and keys of agent and contact: the parameters of a query that may create both."""
        return {
            "tenant": self.tenant,
            "agent_id": self.agent_id,
            "agent_key": self.agent_key,
            "contact_id": self.contact_id,
            "contact_key": self.contact_key,
        }

    def as_options(self) -> str:
        """Return the scope as options of the command line."""
        return (
            f"--agent {shlex.quote(self.agent_id)} --contact {shlex.quote(self.contact_id)} "
            f"--tenant {shlex.quote(self.tenant)}"
        )

    def session_key(self, session_id: str) -> str:
        """Return the unique key of a session of this contact."""
        return f"{self.contact_key}/{_join(session_id)}"


_REMEDIES = {
    "by": "say who decides: 'contact', or an operator's name",
    **dict.fromkeys(
        ("idempotency_key", "Idempotency-Key"), "give each note its own key, or leave the key out"
    ),
    **dict.fromkeys(
        ("tenant", "agent_id", "contact_id"), "give the id under which this memory is kept"
    ),
}


def check_identifier(name: str, value: object, error: type[Exception]) -> None:
    """Raise ``error`` unless the value is usable as an identifier; the text names the remedy."""
    if not isinstance(value, str):
        raise error(f"{name} must be a string, not {type(value).__name__}")
    if len(value) > SCOPE_PART_LENGTH_MAX:
        raise error(
            f"{name} has {len(value):,} characters, but at most {SCOPE_PART_LENGTH_MAX} are allowed"
        )
    if not value.strip():
        remedy = _REMEDIES.get(name, "give it a value, or leave it out")
        raise error(f"{name} is empty; {remedy}")
    if value != value.strip():
        raise error(f"{name} {value!r} has white space around it; strip it first")
    if not value.isprintable() and any(map(_is_control, value)):
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            raise error(f"{name} {value!r} is not valid UTF-8; encode it as UTF-8")
        raise error(f"{name} {value!r} holds control characters; remove them")


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"}


@lru_cache(maxsize=4096)  # the same few keys are made ten times for a note
def _join(*parts: str) -> str:
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


TEXT_LENGTH_MAX = 2000
"""Characters in a new note. A note is one fact; a document belongs elsewhere. A token counts like
any text: when texts like tokens counted less, a note of 396,815 characters was accepted."""

LIFETIME_DAYS_MAX = 3_650
"""The longest lifetime of a note; a fact that lasts longer lasts until it is changed."""

CLEANED_GROWTH_MAX = 8
"""How many times longer cleaning may make a text: a token has at most 29 characters, and the value
that it replaces at least four."""

ARTEFACT_LENGTH_MAX = 500
"""Characters in a reference to a document or a row elsewhere."""

_TAG_COUNT_MAX = 100
_OF_THE_DAY = re.compile(r"(live|confirmations)-\d{4}-\d{2}-\d{2}")
_SURROGATE = re.compile("[\ud800-\udfff]")
CLOCK_SKEW_MAX = timedelta(minutes=5)
"""How far ahead another machine's clock may be; a later date is in the future."""


@frozen
class Remembered:
    """The part of a note that its fact keeps.

    A field that is added here comes with a note, is kept on its fact, and is inherited by a
    restatement that has None there.

    Args:
        text: 1 to 2,000 characters, not blank, no null bytes. A typed token counts like any other
            text.
        importance: 0 to 1.
        slot: its subject, attribute and value, normalised; None if unknown.
        tags: words by which it can be found.
        artefact: a reference to a document or a row: a URI, a path, a key; up to 500 characters on
            one line. It is kept and shown, never fetched.
    """

    text: str
    importance: float | None = 0.5
    slot: Slot | None = None
    tags: Strings = ()
    artefact: str | None = None

    @property
    def slot_value(self) -> str:
        """Return the value as it was said; empty without one."""
        return (self.slot and self.slot.value) or ""

    @property
    def slot_key(self) -> str | None:
        """Return the key of the slot; None without a slot with a value."""
        return self.slot.key if self.slot else None


@frozen
class Note(Remembered):
    """The text to remember, with its fields.

    Every note can be stored, because all fields are checked when it is made.

    Args, beside those of ``Remembered``:
        scope: the contact's.
        importance: None leaves it to the gate's reading of the text.
        said_at: when it was said; time-zone aware, kept in UTC.
        is_dated: whether the caller gave that time. An undated note is as new as the moment in
            which it is compared, and never older than the facts that it is compared with.
        valid_from: the time from which it is true in the world, time-zone aware; None for
            ``said_at``.
        category: its kind; None leaves it to the gate's reading of the text.
        topic: a broad field of life, for example ``work``; None if unknown.
        lifetime_days: the number of days after which it may have changed; None leaves it to the
            policy.
        source_kind: the kind of source.
        source_reference: where the source can be looked up (a call, a ticket), or None.
        contact_name: the contact's name, or None.
        slot_read_from: the words that the slot was read from; None if it was given.
        session_id: the session that the evidence belongs to; None makes one session per UTC day.
        idempotency_key: the same key in a scope returns the first decision; None for no key.
        is_hedged: whether it is a guess, as the gate reads it; one guess cannot end a fact that was
            confirmed or often said.
        is_cleaned: whether the gate has cleaned it, or it comes from the store. Its texts may be up
            to eight times as long: they were measured before tokens replaced values.

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
    is_cleaned: bool = uncompared(False)

    def __post_init__(self) -> None:
        _check_parts(self.scope, self.slot)
        length_max = TEXT_LENGTH_MAX * (CLEANED_GROWTH_MAX if self.is_cleaned else 1)
        check_text("text", self.text, length_max)
        object.__setattr__(self, "text", without_widthless(self.text))
        object.__setattr__(self, "said_at", utc("said_at", self.said_at))
        if self.valid_from is not None:
            object.__setattr__(self, "valid_from", utc("valid_from", self.valid_from))
        if self.importance is not None:
            object.__setattr__(self, "importance", unit_interval("importance", self.importance))
        object.__setattr__(self, "source_kind", source_kind_of(self.source_kind))
        if self.category is not None:
            category = one_of(Category, "category", self.category, InvalidNoteError)
            object.__setattr__(self, "category", category)
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
    def called(self) -> Strings:
        """Return the contact's names, as far as the note has them."""
        return (self.contact_name or self.scope.contact_id, self.scope.contact_id)

    @property
    def holds_from(self) -> datetime:
        """Return the time from which it is true, as far as known (UTC)."""
        return self.valid_from or self.said_at

    def is_ahead(self, now: datetime) -> bool:
        """True if it starts to be true later: after it was said and after now, by any clock."""
        return self.holds_from - max(self.said_at, now) > CLOCK_SKEW_MAX

    @property
    def is_undated(self) -> bool:
        """True if both its time of saying and its start are unknown."""
        return not self.is_dated and self.valid_from is None

    def no_earlier_than(self, times: Iterable[datetime]) -> Note:
        """The same note; an undated one counts as said no earlier than the latest of these times.

        Clocks step back, and two hosts' clocks differ. Undated notes count in the order in which
        they arrive.
        """
        if not self.is_undated:
            return self
        latest = max((self.said_at, *times))
        return self if latest == self.said_at else replace(self, said_at=latest)

    @property
    def trust(self) -> SourceKind:
        """Return the kind of source."""
        return cast("SourceKind", self.source_kind)  # since it was made

    @property
    def session(self) -> str:
        """Return the session that the evidence is filed under."""
        return self.session_id or f"live-{self.said_at:%Y-%m-%d}"


def _check_lifetime(days: object) -> None:
    """Raise ``InvalidNoteError`` unless the number of days is a valid lifetime, or None."""
    if days is None:
        return
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= LIFETIME_DAYS_MAX:
        raise InvalidNoteError(
            f"lifetime_days must be a whole number from 1 to {LIFETIME_DAYS_MAX:,}, not {days!r}; "
            "leave it out if the fact lasts, and give valid_to if its end is known"
        )


def is_of_the_day(session_id: str) -> bool:
    """True if a session is the default session for the notes and answers of a day."""
    return _OF_THE_DAY.fullmatch(session_id) is not None


def utc(name: str, value: object, error: type[InvalidRequestError] = InvalidNoteError) -> datetime:
    """Return the same instant in UTC.

    Raises:
        error: not a datetime, or a naive one, which names no certain instant.
    """
    if not isinstance(value, datetime):
        raise error(
            f"{name} must be a datetime, not {type(value).__name__}; datetime.fromisoformat makes "
            "one from a text"
        )
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise error(
            f"{name} {value.isoformat()} has no time zone; add one: for UTC write "
            f"{value.isoformat()}+00:00, or in Python give the datetime tzinfo=timezone.utc"
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
    """Refuse a time in the future, because its zone is probably wrong.

    Raises:
        error: it is more than five minutes ahead.
    """
    if at - now > CLOCK_SKEW_MAX:
        raise error(
            f"{name} {at.isoformat()} is in the future (now is {now.isoformat()}); check its time "
            "zone"
        )
    return at


def check_text(name: str, value: object, length_max: int = TEXT_LENGTH_MAX) -> None:
    """Refuse a text that cannot be stored or says nothing, such as marks alone.

    Raises:
        InvalidNoteError: the text is not a string, blank, too long, or cannot be stored.
    """
    check_utterance(name, value, length_max)
    if not has_words(str(value)):
        raise InvalidNoteError(
            f"{name} is blank: it holds no letter, digit or symbol; give it words"
        )


def has_words(text: str) -> bool:
    """True if a text holds a letter, a digit or a symbol: "?" says nothing."""
    return any(unicodedata.category(character)[0] in "LNS" for character in text)


def storable(text: str) -> str:
    """Replace each half of a surrogate pair and each null byte with a sign."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def check_utterance(name: str, value: object, length_max: int) -> None:
    """Refuse a text that cannot be stored as it was said. It may be "…", which says nothing.

    The length is checked first: it is known without reading the text, and bounds its bytes, at four
    for each character. No other check reads a text that is too long.

    Raises:
        InvalidNoteError: the text is not a string, blank, too long, or cannot be stored.
    """
    if not isinstance(value, str):
        raise InvalidNoteError(f"{name} must be a string, not {type(value).__name__}")
    if len(value) > length_max:
        raise InvalidNoteError(
            f"{name} has {len(value):,} characters, but at most {length_max:,} are allowed"
            + ("; split it into one note for each fact" if name == "text" else "")
        )
    if value.isascii() and value.isprintable() and value.strip():
        return  # most texts, in a tenth of the time
    if is_blank(value):
        raise InvalidNoteError(f"{name} is blank: it holds no visible character; give it words")
    check_storable(name, value)


def check_storable(name: str, text: str) -> None:
    """Refuse a text with a sign that no engine stores.

    Raises:
        InvalidNoteError: the text holds such a sign; the message names it.
    """
    if "\0" in text:
        raise InvalidNoteError(f"{name} holds a null byte; remove it")
    if _SURROGATE.search(text):
        raise InvalidNoteError(f"{name} holds half a surrogate pair (such as \\ud83d); remove it")


def is_blank(text: str) -> bool:
    """True if a text is empty, or white space and characters without a width."""
    return all(unicodedata.category(character)[0] in "CZ" for character in text)


def _check_parts(scope: object, slot: object) -> None:
    if not isinstance(scope, Scope):
        raise InvalidNoteError("a note needs a scope: tenant, agent and contact")
    if slot is not None and not isinstance(slot, Slot):
        raise InvalidNoteError("slot must be a Slot(...), or None")


def unit_interval(name: str, value: object) -> float:
    """Check that a number is from 0 to 1, and return it.

    Raises:
        InvalidNoteError: the value is not a number from 0 to 1.
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise InvalidNoteError(f"{name} must be a number from 0 to 1")
    return math.fabs(float(value))


def _tags(value: object) -> Strings:
    tags = tags_in(value)
    for tag in tags:
        check_identifier("a tag", tag, InvalidNoteError)
    return tags


def tags_in(value: object) -> tuple[Any, ...]:
    """Return the tags in a list of them; each is still to be checked.

    Raises:
        InvalidNoteError: the value is not a list, or is too long.
    """
    if not isinstance(value, list | tuple):
        raise InvalidNoteError("tags must be a list of strings")
    if len(value) > _TAG_COUNT_MAX:
        raise InvalidNoteError(
            f"{len(value):,} tags are given, but at most {_TAG_COUNT_MAX} are allowed; give fewer"
        )
    return tuple(value)


def _check_artefact(value: object, *, is_cleaned: bool) -> None:
    """Refuse an artefact that is not a reference; the gate judges its words.

    Raises:
        InvalidNoteError: the artefact is not a reference.
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
    """Return the source with that name.

    Raises:
        InvalidNoteError: no source has that name.
    """
    return one_of(SourceKind, "source_kind", value, InvalidNoteError)
