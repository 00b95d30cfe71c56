"""Filtering: the caller's filters for the facts of a recall. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from functools import partial
from typing import Any, TypedDict

from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import AnyCategory, AnySourceKind, SourceKind
from reconciler.domain.records.notes import (
    CONTACT_SUBJECT,
    Slot,
    one_of,
    tags_in,
    unit_interval,
    utc,
)
from reconciler.errors import InvalidRequestError
from reconciler.frozen import Strings, frozen
from reconciler.reading.kinds import Category


class FilterFields(TypedDict, total=False):
    """The filters of a recall, each optional. Standing constraints pass all of them.

    Attributes:
        attribute: only facts about this attribute, for example ``city``. A fact without an
            attribute passes if its words name it.
        category: only facts of this category.
        topic: only facts on this topic.
        tags: only facts with all of these tags.
        subject: only facts about this subject; ``contact`` for the contact itself.
        min_score: only facts with at least this score in this recall.
        min_confidence: only facts with at least this confidence, 0 to 1.
        since: only facts last said at or after this time, time-zone aware.
        until: only facts last said before this time, time-zone aware.
        trust: only facts from a source that is trusted at least this much.
    """

    attribute: str | None
    category: AnyCategory | None
    topic: str | None
    tags: list[str] | Strings | None
    subject: str | None
    min_score: float | None
    min_confidence: float | None
    since: datetime | None
    until: datetime | None
    trust: AnySourceKind | None


@frozen
class RecallFilter:
    """The filters of ``FilterFields``, checked; a fact must pass all of them.

    ``subject`` is kept as all subjects of one person; each of them passes.

    Raises:
        InvalidRequestError: a filter cannot be used; the text says what to do.
    """

    attribute: str | None = None
    category: Category | None = None
    topic: str | None = None
    tags: Strings = ()
    subject: str | Strings | None = None
    min_score: float | None = None
    min_confidence: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    trust: SourceKind | None = None

    def __post_init__(self) -> None:
        for name, checked in _CHECKS.items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked(name, given))
        if self.since and self.until and self.since >= self.until:
            raise InvalidRequestError(
                f"since {self.since.isoformat()} is not before until {self.until.isoformat()}; "
                "swap them, or leave one out"
            )

    @property
    def is_empty(self) -> bool:
        """True if every fact passes; the score does not count."""
        asked = (field.name for field in fields(self) if field.name != "min_score")
        return not any(getattr(self, name) not in (None, ()) for name in asked)

    def fits(self, fact: Fact) -> bool:
        """True if the fact passes all filters; ``min_score`` is not checked here."""
        return (
            self.is_about(fact.slot, fact.text)
            and self.category in (None, fact.category)
            and self.topic in (None, fact.topic)
            and set(self.tags) <= set(fact.tags)
            and self._fits_evidence(fact)
        )

    def is_about(self, slot: Slot | None, text: str) -> bool:
        """True if a slot answers the question, or, if the fact has no attribute, its text."""
        attribute = slot.attribute if slot else None
        subject = slot.subject if slot else CONTACT_SUBJECT
        if self.subject is not None and subject not in self.subject:
            return False
        if self.attribute is not None and attribute is None:
            return _is_named(self.attribute, text)
        return self.attribute in (None, attribute)

    def _fits_evidence(self, fact: Fact) -> bool:
        if self.min_confidence is not None and fact.confidence < self.min_confidence:
            return False
        if self.trust is not None and fact.word.is_trusted_less_than(self.trust):
            return False
        said_at = fact.last_confirmed_at
        is_early = self.since is not None and said_at < self.since
        return not is_early and (self.until is None or said_at < self.until)


def _is_named(attribute: str, text: str) -> bool:
    if attribute == "allergy":
        from reconciler.domain.recalling.recalled import tells_of_allergy

        return tells_of_allergy(text)
    words = map(re.escape, attribute.split("_"))
    return all(re.search(rf"\b{word}s?\b", text, re.IGNORECASE) for word in words)


def _name(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise InvalidRequestError(f"{name} must be a string, not {type(given).__name__}")
    if not given.strip():
        raise InvalidRequestError(f"{name} is blank; leave it out to recall facts of any {name}")
    return given.strip()


def _subjects(name: str, given: object) -> Strings:
    """Subjects of one person; a caller gives one."""
    return given if isinstance(given, tuple) else (_name(name, given),)


def _tags(_: str, given: object) -> Strings:
    return tuple(_name("a tag", tag) for tag in tags_in(given))


_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "attribute": _name,
    "category": partial(one_of, Category),
    "topic": _name,
    "tags": _tags,
    "subject": _subjects,
    "min_score": unit_interval,
    "min_confidence": unit_interval,
    "since": utc,
    "until": utc,
    "trust": partial(one_of, SourceKind),
}

EVERYTHING = RecallFilter()
