"""Procedures: an approved way to do something, written as a note and read from a fact. Pure.

A procedure is a fact with a special subject, and one value under its name, so that a new version
replaces the old one. A person decides elsewhere if it is applied. It is kept with the contact with
whom it was learned, so that an erasure of that contact removes its evidence, too. It is not
offered for another contact if it mentions the first one.

Mentions of a person or thing are found here for that, and for recall by name. Only whole words
count, not similarity: a question about "ACME" does not find the dog, even if the two are similar
for a model. Never here: a graph, or a model; a cosine is an argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice, pairwise
from typing import TypeVar

from reconciler.domain.records.facts import Fact, Facts, FiledFact, FoundIn
from reconciler.domain.records.kinds import Sensitivity
from reconciler.domain.records.notes import (
    SCOPE_PART_LENGTH_MAX,
    Slot,
    check_text,
)
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.frozen import Strings, frozen, grouped
from reconciler.reading.kinds import Category
from reconciler.reading.question_words import DATED, content_words
from reconciler.reading.sensitive_data import TOKEN
from reconciler.reading.values.text import organisation, text

T = TypeVar("T")

_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"(?<!^)\b(?:[^\W\d_a-z]\w+(?:[ -](?=[^\W\d_a-z])\w+)*|\w*\d\w*)")


def needles(name: str) -> Strings:
    """The spellings of a name in a text: itself, and an organisation without its legal form.

    Empty if the name holds no letter or digit.
    """
    said = _POSSESSIVE.sub("", name)
    return tuple(
        dict.fromkeys(spelling for spelling in (text(said), organisation(said)) if _holds(spelling))
    )


def mentioning(
    items: Iterable[T], name: str, fact_of: Callable[[T], Fact]
) -> list[tuple[T, FoundIn]]:
    """Items with facts that mention a name, each with the place where.

    Facts about the name come first, then facts with the name as their value, then facts that only
    mention it; among equals the fact that was said last.

    Args:
        items: objects with a fact each.
        name: the name as people write it.
        fact_of: returns the fact of an item.

    Raises:
        InvalidRequestError: the name holds no letter or digit.
    """
    wanted = needles(name)
    if not wanted:
        raise InvalidRequestError(f"the name {name!r} has no letter or digit; give another one")
    order = tuple(FoundIn)
    hits = [(item, place) for item in items if (place := found_in(fact_of(item), wanted))]
    hits.sort(key=lambda hit: fact_of(hit[0]).last_confirmed_at, reverse=True)
    return sorted(hits, key=lambda hit: order.index(hit[1]))


def names_in(query: str) -> list[str]:
    """The names in a question: words with a capital letter inside a sentence, and numbers.

    The first word of a question does not count, nor do months and days of the week; a name in small
    letters is not seen.
    """
    names = (name for name in dict.fromkeys(_NAME.findall(query.strip())) if name not in DATED)
    return [name for name in names if needles(name) and content_words(name)]


def longest_words(name: str) -> Strings:
    """The two longest words of a name, in small letters: each text that mentions it contains both.

    Words of a legal form are none of them, since a text may leave the form out.
    """
    words = sorted(_WORD.findall(_POSSESSIVE.sub("", name).lower()), key=len, reverse=True)
    *_, shortest = needles(name) or ("",)
    return tuple([word for word in words if word in shortest] or words)[:2]


def found_in(fact: Fact, wanted: Strings) -> FoundIn | None:
    """The place where a fact mentions one of the needles as whole words; None if it does not.

    The fact's subject comes first, then the value of its slot, then its words.
    """
    slot = fact.slot
    places = (
        (FoundIn.SUBJECT, slot.subject if slot else None),
        (FoundIn.VALUE, slot.value if slot else None),
        (FoundIn.TEXT, fact.text),
    )
    return next((place for place, said in places if said and mentions(said, wanted)), None)


def mentions(said: str, wanted: Strings) -> bool:
    """True if a text holds one of the needles as whole words."""
    words = f" {text(_POSSESSIVE.sub('', said))} "
    return any(f" {name} " in words for name in wanted)


def _holds(needle: str) -> bool:
    return any(map(str.isalnum, needle))


SUBJECT = "(procedure)"
"""The subject of a procedure's slot. A caller's subject is never equal to it, because it loses its
brackets. So a passing remark never replaces an approved procedure."""

_SUFFIX = "_steps"
_STEP_COUNT_MAX = 100
_WORD_LENGTH_MIN = 3
"""A shorter word says nothing about a purpose."""

_NEAR_MIN = 0.35
"""Any two short texts may have a cosine below this."""

_NOT_IN_A_NAME = re.compile(r"[\W_]+")


@frozen
class Procedure:
    """An approved way to do something.

    Attributes:
        name: in snake_case.
        version: its place among the versions of that name, from 1.
        steps: what is done, in order.
        fact_id: the fact that it is kept as.
    """

    name: str
    version: int
    steps: Strings
    fact_id: str

    @property
    def purpose(self) -> str:
        """Its purpose and its steps, in one text."""
        return f"{self.name.replace('_', ' ')}: {' '.join(self.steps)}"


def procedure_slot(name: str, steps: Sequence[str]) -> Slot:
    """Slot of a procedure: its name as the attribute, its steps as the value.

    One name has one procedure; another name is another slot, even if the two sound alike.

    Raises:
        InvalidNoteError: the name says nothing, there is no step, or a step cannot be kept.
    """
    check_text("a procedure's name", name, SCOPE_PART_LENGTH_MAX)
    if isinstance(steps, str) or not isinstance(steps, Sequence) or not steps:
        raise InvalidNoteError("steps must be a list of at least one sentence")
    for step in islice(steps, _STEP_COUNT_MAX + 1):
        check_text("a step", step)
    if len(steps) > _STEP_COUNT_MAX:
        raise InvalidNoteError(
            f"the procedure has {len(steps):,} steps, but at most {_STEP_COUNT_MAX} are allowed; "
            "give fewer"
        )
    own_name = _NOT_IN_A_NAME.sub("_", name.casefold()).strip("_")
    if not own_name:
        raise InvalidNoteError(
            f"the procedure's name {name!r} has no letter or digit; name what the procedure does"
        )
    value = "\n".join(" ".join(step.split()) for step in steps)
    return Slot(
        subject=SUBJECT,
        # Without an ending of its own, how to reset a password would pass for a password.
        attribute=f"{own_name}{_SUFFIX}",
        value=value,
        value_key=text(f"{own_name} {value}"),
        is_single_valued=True,
        is_known=True,
    )


def procedure_text(slot: Slot) -> str:
    """Write a procedure as a sentence for each step, for the question to a person."""
    name = (slot.attribute or "").removesuffix(_SUFFIX).replace("_", " ")
    steps = (slot.value or "").split("\n")
    listed = " ".join(f"{place}. {step.rstrip('.')}." for place, step in enumerate(steps, 1))
    # Not "how to", which a short name makes read like a command to the agent.
    return f"The way to {name}: {listed}"


def procedures_of(facts: Iterable[Fact], now: datetime) -> list[Procedure]:
    """The procedures that apply, by name: the version that was approved last, if it still holds.

    A live fact of this category was approved: the gate admits none without approval. The contact
    with whom it was learned makes no difference; a later version always counts.

    Args:
        facts: the facts with the procedures' subject that may be offered, live and ended, in the
            order of their recording.
        now: the time now (UTC).
    """
    named = grouped(
        (fact.slot.attribute or "", fact)
        for fact in facts
        if fact.category is Category.PROCEDURE and not fact.is_void
        if fact.slot and fact.slot.subject == SUBJECT
    )
    procedures = [_procedure(name, versions) for name, versions in sorted(named.items())]
    live = {
        fact.fact_id for versions in named.values() for fact in versions if fact.as_of(now).is_live
    }
    return [procedure for procedure in procedures if procedure.fact_id in live]


def may_be_offered(filed: FiledFact, contact_id: str) -> bool:
    """True if a procedure may be shown to an agent that works for this contact.

    It may always be shown for the contact with whom it was learned. For another contact it may be
    shown only if nothing in it is about the first contact: no personal data was removed from it, it
    is not sensitive, and no step names that contact.
    """
    return filed.contact_id == contact_id or not _is_personal(filed)


def by_fit(procedures: Sequence[Procedure], goal: str, cosines: Sequence[float]) -> list[Procedure]:
    """Procedures that share a word with a goal, or are near it in meaning, the best first.

    Args:
        procedures: by name.
        goal: what is to be achieved.
        cosines: the cosine of each procedure's purpose to the goal, in [-1, 1].
    """
    wanted = _long_words(goal)

    def fit(place: int) -> float:
        shared = wanted & _long_words(procedures[place].purpose)
        near = cosines[place] if cosines[place] >= _NEAR_MIN else 0.0
        return (len(shared) / len(wanted) if wanted else 0.0) + near

    fits = {place: fit(place) for place in range(len(procedures))}
    return [
        procedures[place] for place in sorted(fits, key=lambda place: -fits[place]) if fits[place]
    ]


def _procedure(name: str, versions: Facts) -> Procedure:
    keys = [fact.slot.value_key for fact in versions if fact.slot]
    changes = sum(one != other for one, other in pairwise(keys))
    last = versions[-1]
    return Procedure(
        name=name.removesuffix(_SUFFIX),
        version=1 + changes,
        steps=tuple(last.slot_value.split("\n")),
        fact_id=last.fact_id,
    )


def _is_personal(filed: FiledFact) -> bool:
    fact = filed.fact
    # The steps are cleaned before the gate sees them, which then finds nothing to take out.
    is_cleaned = fact.is_redacted or TOKEN.search(fact.text) is not None
    if is_cleaned or fact.sensitivity is not Sensitivity.NONE or fact.slot is None:
        return True
    told = replace(fact, text=f"{fact.slot.attribute} {fact.slot.value}".replace("_", " "))
    return found_in(told, _called(filed)) is not None


def _called(filed: FiledFact) -> Strings:
    """The names of a contact: id and name, and each word of either that may be a name."""
    names = (filed.contact_id, filed.contact_name or "")
    words = (word for name in names for word in _NOT_IN_A_NAME.split(name))
    parts = [word for word in words if len(word) >= _WORD_LENGTH_MIN and not word.isdigit()]
    return tuple(needle for name in (*names, *parts) for needle in needles(name))


def _long_words(text_: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text_.casefold()) if len(word) >= _WORD_LENGTH_MIN}
