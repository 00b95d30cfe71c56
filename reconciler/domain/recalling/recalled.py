"""Recalled: the facts that answer a question, the kind of answer, and the values that hold. Pure.

Some facts are in every answer: those that no budget cuts, because they keep the contact safe, and
those that hold although they are in dispute. Other facts are suspended: lasting values that a
temporary one of the same slot holds back. Nothing is written when a value is suspended or holds
again: its readers compare by the clock, and the time is an argument here.

A contact's current values, one line a value, follow from the same facts: a limit holds while it is
in dispute, and a value that a fact denies is left out. All answers and the profile must agree on
that, so it is one module. Never here: the choice and the order of facts (``ranking``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import chain

from reconciler.domain.records.facts import Fact, RankedFact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import CONTACT_SUBJECT, Slot, keyed
from reconciler.domain.values.attributes import MATTERS_MOST, AttributeBook
from reconciler.frozen import Strings, StringSet, frozen, grouped
from reconciler.reading.guard import (
    deny_each_other,
    holds_no_more,
    is_lifted,
    is_over,
    is_over_itself,
    is_plainly_denied,
    tells_of_end,
)
from reconciler.reading.guard.reading import read, stems_of
from reconciler.reading.guard.tokens import words_of
from reconciler.reading.kinds import Category
from reconciler.reading.lexicon import lexicon
from reconciler.reading.sensitive_data import TOKEN

ALLERGY = "allergy"
_FOR_GOOD = re.compile(
    r"\b(?:never|must not|no(?:thing|body|-one| one| exceptions?))\b", re.IGNORECASE
)
_ALLERGY = re.compile(r"\b(?:allergic|allerg(?:y|ies)|anaphyla|intoleran)")


def _keeps_safe(fact: Fact) -> bool:
    """True if a fact keeps the contact safe: an allergy, or a lasting standing constraint.

    An allergy counts in any words, with or without that attribute.
    """
    if fact.is_standing and _FOR_GOOD.search(fact.text):
        return True
    if fact.slot is not None and fact.slot.attribute == ALLERGY:
        return True
    return tells_of_allergy(fact.text) and not _lifts(fact)


def tells_of_allergy(text: str) -> bool:
    """True if the words speak of an allergy or an intolerance, even if they deny it."""
    said = text.lower()
    # All facts of a contact are looked at when it is read: most need no pattern.
    may_tell = "allerg" in said or "anaphyla" in said or "intoleran" in said
    return may_tell and _ALLERGY.search(said) is not None


def is_never_cut(fact: Fact) -> bool:
    """True if no budget cuts a fact: it keeps the contact safe, or is as important."""
    return fact.importance >= MATTERS_MOST or _keeps_safe(fact)


def holds_always(hit: RankedFact) -> bool:
    """True if every answer contains a fact: it is a standing constraint, or no budget cuts it."""
    return hit.is_standing or is_never_cut(hit.fact)


def holds_until_settled(fact: Fact, others: Collection[Fact]) -> bool:
    """True if a side of a dispute holds until the contact or an operator answers.

    It holds if it is never cut, or if it is the only standing constraint of the dispute; otherwise
    no side would hold, and the limit would be lost. A fact that says that a limit has ended is not
    a limit.

    Args:
        fact: the side that is asked about.
        others: the other sides; empty if the fact is not in a dispute.
    """
    if not others or _lifts(fact):
        return False
    return is_never_cut(fact) or (
        fact.is_standing and not any(other.is_standing for other in others)
    )


def _lifts(fact: Fact) -> bool:
    """True if the fact says that its limit ended: "no longer allergic", "may eat nuts again"."""
    said = read(fact.text)
    denied = {stem for denial in (*said.negated, *said.ceased) for stem in denial.reach}
    value = fact.slot_value
    return any(stem.startswith("allerg") for stem in denied) or is_lifted(fact.text, value)


FITTING_MAX = 8
"""The most facts in an answer; the answer says if there are more."""

CLEAREST_SHARE = 0.5
"""A standing limit does not touch the question if its similarity is below this share of the best
fact's. Other facts are not cut in this way: three facts answer 122 of 153 CRM questions, and eight
facts answer 130."""


class RecallOutcome(StrEnum):
    """The outcomes of a recall."""

    FITS = "fits"
    """The recall contains all facts that fit the question."""

    NOTHING_FITS = "nothing_fits"
    """No fact fits the question; ``Recalled.known`` names the known attributes."""

    CUT = "cut"
    """More facts fit than the recall contains; ``Recalled.left_out`` says how many."""


class Recalled(list[RankedFact]):
    """The facts that fit, the best first, then the standing constraints: a list with more fields.

    Args:
        hits: the facts.
        fitting: how many facts fit in all, those left out included; None if all are in the list.
        standing: how many standing constraints there are in all; None if all are in the list.
        held: how many facts the contact has, whether they fit or not; None if all are in the list.
        known: if nothing fits, the known attributes, those with most values first.
        passing: how many facts pass the filters, whether they fit or not; None for all.

    Attributes:
        over_budget: how many tokens its lines take beyond a budget, because of facts that no budget
            cuts.
        waiting: the ids of the decisions that hold notes about the attribute that was asked for.

    ``recall_id`` names what the recall showed, for ``record_answer``; a caller's own list has none.
    """

    def __init__(
        self,
        hits: Iterable[RankedFact] = (),
        *,
        fitting: int | None = None,
        standing: int | None = None,
        held: int | None = None,
        known: Iterable[str] = (),
        passing: int | None = None,
    ) -> None:
        super().__init__(hits)
        self.fitting = self._fitting_here if fitting is None else fitting
        self.standing = self._standing_here if standing is None else standing
        self.held = len(self) if held is None else held
        self.known = tuple(known)
        self.passing = self.held if passing is None else passing
        self.over_budget = 0
        self.waiting: Strings = ()
        self.recall_id = ""

    @property
    def outcome(self) -> RecallOutcome:
        """The kind of answer.

        A standing constraint that does not fit the question is not an answer.
        """
        if not self.fitting:
            return RecallOutcome.NOTHING_FITS
        return RecallOutcome.CUT if self.left_out else RecallOutcome.FITS

    @property
    def left_out(self) -> int:
        """The number of facts that fit and are not in the list."""
        return max(self.fitting - self._fitting_here, 0)

    @property
    def standing_left_out(self) -> int:
        """The number of standing constraints that are not in the list."""
        return max(self.standing - self._standing_here, 0)

    def clearest(self, share: float) -> Recalled:
        """The same answer; standing constraints that fit much less than the best do not fit.

        Args:
            share: the share of the best fact's similarity that a constraint must reach, 0 to 1.
        """
        least = share * max((hit.similarity or 0.0 for hit in self), default=0.0)
        cut = copy(self)
        cut[:] = [
            replace(hit, fits=False) if hit.is_standing and (hit.similarity or 0.0) < least else hit
            for hit in self
        ]
        cut.fitting += cut._fitting_here - self._fitting_here
        return cut

    def touching(self, told: Collection[str] = ()) -> Recalled:
        """The same answer without the standing constraints that do not touch the question.

        Facts that keep the contact safe stay, unless the conversation was already told them.

        Args:
            told: the ids of the facts that the conversation was told.
        """
        return self.only(
            {
                hit.fact.fact_id
                for hit in self
                if hit.fits or (is_never_cut(hit.fact) and hit.fact.fact_id not in told)
            },
            self.over_budget,
        )

    def only(self, fact_ids: Container[str], over_budget: int = 0) -> Recalled:
        """The same answer cut down to these facts."""
        cut = copy(self)
        cut[:] = [hit for hit in self if hit.fact.fact_id in fact_ids]
        cut.over_budget = over_budget
        return cut

    def as_whole(self) -> Recalled:
        """The same answer without the number of facts that were left out.

        For a reader who cannot ask for the rest. Standing constraints stay counted.
        """
        whole = copy(self)
        whole.fitting = self._fitting_here
        return whole

    @property
    def _fitting_here(self) -> int:
        return sum(hit.fits for hit in self)

    @property
    def _standing_here(self) -> int:
        return sum(hit.is_standing for hit in self)


def with_accounts(own: Recalled, accounts: Iterable[str], told: Sequence[Recalled]) -> Recalled:
    """One answer: the contact's own facts first, then those of each account, which names it.

    Args:
        own: the answer of the contact's own facts.
        accounts: the names of the contact's accounts.
        told: the answer of the facts of each account.
    """
    if not told:
        return own
    whole = (own, *told)
    counts = {
        name: sum(getattr(each, name) for each in whole)
        for name in ("fitting", "standing", "held", "passing")
    }
    known = [] if counts["fitting"] else chain(*(each.known for each in whole))
    hits = (
        replace(hit, account=name)
        for name, each in zip(accounts, told, strict=True)
        for hit in each
    )
    return Recalled((*own, *hits), known=dict.fromkeys(known), **counts)


def suspended_ids(
    facts: Iterable[Fact], now: datetime, disputes: Mapping[str, Collection[str]]
) -> set[str]:
    """The ids of the facts that a temporary value of the same slot suspends.

    A fact that is in dispute with it, or that began later, is not suspended.

    Args:
        facts: the facts that may be returned at this time.
        now: the time (UTC).
        disputes: by the id of each fact in dispute, the ids of the other sides.
    """
    slots = grouped((asked, fact) for fact in facts if (asked := _question(fact)))
    return {
        fact.fact_id
        for same in slots.values()
        for temporary in same
        if temporary.valid_to is not None and temporary.valid_from <= now < temporary.valid_to
        for fact in same
        if suspends(temporary, fact) and fact.fact_id not in disputes.get(temporary.fact_id, ())
    }


def suspends(temporary: Fact, fact: Fact) -> bool:
    """True if a fact, while it holds, suspends one with another value of its slot."""
    question = _question(temporary)
    if temporary.valid_to is None or question is None or question != _question(fact):
        return False
    outlasts = fact.valid_to is None or fact.valid_to > temporary.valid_to
    is_earlier = (fact.holds_since, not outlasts) < (temporary.valid_from, True)
    is_said_again = fact.observations > 1 and fact.last_confirmed_at > temporary.valid_from
    if not is_earlier or (is_said_again and not outlasts) or _value(temporary) == _value(fact):
        return False
    # The guard, which compares texts, is loaded only if there is such a pair.
    from reconciler.domain.reconciling.verdicts import are_other_matters

    return not are_other_matters(temporary, fact)


def _question(fact: Fact) -> tuple[str, str | None] | None:
    """The question of a slot that holds one value; None for any other slot."""
    if fact.slot is None or not fact.slot.is_single_valued or _value(fact) is None:
        return None
    return fact.slot.subject, fact.slot.attribute


def _value(fact: Fact) -> str | None:
    return fact.slot.value_key if fact.slot else None


_TAKEN_OUT = "hidden"
"""A word that replaces a token; the marks around it limit the reach of a denial."""

_CLAUSE = re.compile(r"[,;.] |: (?=\S+ \S)")
"""The marks between the clauses of a text; "Nut allergy: over" is one clause."""

_BEGINNING = 5
"""Letters at the beginning that the forms of a word share: "allergic" and "allergy"."""


@frozen
class SlotValue:
    """One value that a slot holds now, and how well it is known.

    Attributes:
        subject: about whom; ``contact`` for the contact itself.
        attribute: what is said, by its canonical name.
        value: as it was said.
        since: the time from which the value is true, as far as known (UTC).
        word: the kind of source; the contact's own word if they confirmed it.
        observations: how often it was said.
        last_confirmed_at: when it was last said (UTC).
        is_disputed: whether another fact contradicts it, in an open dispute.
        holds_until_settled: whether it is a limit, such as an allergy, that holds despite the
            dispute.
        is_contested: whether it replaced a value that changes back and forth.
        may_be_outdated: whether the lifetime of all facts that say it has ended, or the person it
            is about has left.
        is_single_valued: whether the attribute holds one value at a time.
        fact_id, text: the fact that it is a part of.
    """

    subject: str
    attribute: str
    value: str
    since: datetime
    word: SourceKind
    observations: int
    last_confirmed_at: datetime
    is_disputed: bool
    holds_until_settled: bool
    is_contested: bool
    may_be_outdated: bool
    is_single_valued: bool
    fact_id: str
    text: str


def current_values(
    facts: Iterable[Fact], disputes: Mapping[str, Collection[Fact]], attributes: AttributeBook
) -> list[SlotValue]:
    """The values of these facts: the contact's own first, by attribute, the newest of each first.

    Procedures are left out. A value that a live fact denies is left out, too: its own value, as in
    "No longer works at Globex" with the value Globex, or the value of an older fact, as "No longer
    allergic to nuts" denies the nuts. While the two are in dispute, a limit holds. Facts with the
    same value become one. If an attribute has one value, a lasting value hides a temporary one. A
    fact without a slot gives the value that its words show.

    Args:
        facts: the facts that may be returned.
        disputes: by the id of each fact in dispute, the other sides.
        attributes: the known attributes of slots.
    """
    live = sorted(
        facts,
        key=lambda fact: (fact.valid_from, fact.last_confirmed_at, fact.fact_id),
        reverse=True,
    )
    denials = [fact for fact in live if _may_deny(fact.text, attributes)]
    held: dict[str, list[tuple[Fact, Slot]]] = {}
    for fact in live:
        slot = fact.slot or attributes.shown_slot(fact.text)
        if not slot or not slot.key or fact.category is Category.PROCEDURE:
            continue
        sides = disputes.get(fact.fact_id, ())
        spared = sides if holds_until_settled(fact, sides) else ()
        others = live if _may_deny(fact.text, attributes) else denials
        if _is_denied(fact, slot, attributes) or any(
            _denies(other, fact, slot, attributes) for other in others if other not in spared
        ):
            continue
        held.setdefault(slot.key, []).append((fact, slot))
    lasting = {_asked(slot) for same in held.values() for fact, slot in same if not _passes(fact)}
    lasting.discard(None)
    told = (
        same
        for same in held.values()
        if not (all(_passes(fact) for fact, _ in same) and _asked(same[0][1]) in lasting)
    )
    values = (_value_said(same, disputes) for same in told)
    firms = [slot.value or "" for _, slot in chain(*held.values()) if slot.attribute == "employer"]
    return sorted(
        (_of_who_left(value, denials, firms) for value in values),
        key=lambda value: (value.subject != CONTACT_SUBJECT, value.subject, value.attribute),
    )


def _of_who_left(value: SlotValue, denials: Iterable[Fact], firms: Collection[str]) -> SlotValue:
    """Return the value.

    It is marked as perhaps outdated if a later fact says that its person has left.
    """
    known = stems_of(" ".join(words_of("relative")))
    has_gone = value.subject != CONTACT_SUBJECT and any(
        is_over_itself(_without(other.text, firms), value.subject, known)
        for other in denials
        if other.fact_id != value.fact_id and other.last_confirmed_at >= value.last_confirmed_at
    )
    return replace(value, may_be_outdated=True) if has_gone else value


def _without(text: str, firms: Iterable[str]) -> str:
    """Text with "the company" in place of the contact's employer: "Bob has left Nordlys"."""
    for firm in firms:
        text = text.replace(firm, "the company")
    return text


def _passes(fact: Fact) -> bool:
    return fact.category is Category.VOLATILE


def _asked(slot: Slot) -> tuple[str, str] | None:
    """Question that a slot of one value answers; None for a slot of many values."""
    return (slot.subject, slot.attribute or "") if slot.is_single_valued else None


def _value_said(
    same: Sequence[tuple[Fact, Slot]], disputes: Mapping[str, Collection[Fact]]
) -> SlotValue:
    """Join the facts that say a value; the newest comes first, and gives the words."""
    fact, slot = same[0]
    facts = [fact for fact, _ in same]
    return SlotValue(
        subject=slot.subject,
        attribute=slot.attribute or "",
        value=slot.value or "",
        since=min(each.holds_since for each in facts),
        word=min((each.word for each in facts), key=tuple(SourceKind).index),
        observations=sum(each.observations for each in facts),
        last_confirmed_at=max(each.last_confirmed_at for each in facts),
        is_disputed=any(each.fact_id in disputes for each in facts),
        holds_until_settled=any(
            holds_until_settled(each, disputes.get(each.fact_id, ())) for each in facts
        ),
        is_contested=any(each.is_contested for each in facts),
        may_be_outdated=all(each.may_be_outdated for each in facts),
        is_single_valued=slot.is_single_valued,
        fact_id=fact.fact_id,
        text=fact.text,
    )


@lru_cache(maxsize=4096)
def _may_deny(text: str, attributes: AttributeBook) -> bool:
    said = read(text)
    is_end = tells_of_end(text) or bool(attributes.reader.ends(text))
    return is_end or bool(said.negated or said.ceased)


def _is_denied(fact: Fact, slot: Slot, attributes: AttributeBook) -> bool:
    """True if the fact denies its own value: the value does not hold, or no longer holds.

    If one of the book's phrasings fits the words, it decides; else the words of denial decide.
    """
    read_slot = None if slot.is_single_valued else attributes.read_slot(fact.text)
    if read_slot is not None and read_slot.attribute == slot.attribute:
        if read_slot.is_denied:
            return True
        if read_slot.value == slot.value and not read(read_slot.value).ceased:
            return False
    return ends_own_value(fact.text, slot)


@lru_cache(maxsize=4096)
def ends_own_value(text: str, slot: Slot) -> bool:
    """True if a text denies the value of its slot: it does not hold, or no longer holds.

    If a denial can affirm a value of the attribute, as with an allergy, the text must name the
    attribute, and deny it plainly. "Closed" is the state of a ticket, not a denial.
    """
    if slot.thing and slot.thing.state:
        return False
    if not _is_affirmed_by_denial(slot):
        return _says_no_more(text, slot)
    return _says_so_itself(text, slot) or is_lifted(text, slot.value or "")


def _is_affirmed_by_denial(slot: Slot) -> bool:
    return not lexicon("values").word_set("affirmed_by_denial").isdisjoint(_name(slot))


def _says_so_itself(text: str, slot: Slot) -> bool:
    """True if one clause both names the attribute and says that the value no longer holds.

    False for "Allergic to peanuts: must not be given peanuts", because the first clause affirms it.
    False for "has never been tested for a nut allergy", because an unclear limit stays.
    """
    return any(
        _says_no_more(clause, slot) and _names(clause, _name(slot)) and _is_plain(clause, slot)
        for clause in _CLAUSE.split(text)
    )


def _is_plain(clause: str, slot: Slot) -> bool:
    """True if a clause denies a limit's value plainly, or says that it has ended."""
    if not _is_affirmed_by_denial(slot) or is_over(clause, slot.value or ""):
        return True
    hidden = TOKEN.sub(_TAKEN_OUT, clause)
    said = (slot.value or "", slot.subject, _TAKEN_OUT)
    return is_plainly_denied(hidden, slot.attribute_in_words, *said)


def _contradict(text: str, fact: Fact, slot: Slot) -> bool:
    """True if a text and a fact deny each other; for a limit only if the denial is plain."""
    said = read(text)
    if _is_affirmed_by_denial(slot) and (said.negated or said.ceased):
        return _says_so_itself(text, slot)
    return deny_each_other(text, fact.text)


def _says_no_more(text: str, slot: Slot) -> bool:
    """True if a text denies the slot's value; the text may hold it as a token for personal data."""
    value, said, attribute = slot.value or "", read(text), slot.attribute or ""
    meant = read(value)
    if any(end.reach for end in meant.ceased):
        return True  # "no longer sailing" is no value, and "retired" is one
    if holds_no_more(text, value, attribute):
        return True
    if slot.is_personal:
        # Which token stands for the value is not known here: "no longer [phone:1] but [phone:2]".
        hidden = [text.replace(token, _TAKEN_OUT) for token in {*TOKEN.findall(text)}] or [text]
        if all(holds_no_more(each, _TAKEN_OUT, attribute) for each in hidden):
            return True
    if meant.stems or meant.negated:
        return False  # "no" is the value of "Does not want e-mails", which has its letters
    return bool(said.negated or said.ceased) and value.casefold() in text.casefold()


def _denies(other: Fact, fact: Fact, slot: Slot, attributes: AttributeBook) -> bool:
    """True if another fact denies a fact's value; it must be as new, from as good a source.

    A denial by a less trusted source is a dispute, and both facts stay.
    """
    if other.fact_id == fact.fact_id or other.word.is_trusted_less_than(fact.word):
        return False
    if other.last_confirmed_at < fact.last_confirmed_at:
        return False
    thing = keyed(other.text) if slot.thing else None
    if slot.thing and thing and thing.code != slot.thing.code:
        return False
    told = other.slot
    subject = told.subject if told else CONTACT_SUBJECT
    if subject == slot.subject == CONTACT_SUBJECT and attributes.is_told_over(other.text, slot):
        return True
    if told is None:
        return _contradict(other.text, fact, slot) or (
            _is_about(other.text, slot.subject) and _ends(other, fact, slot, attributes)
        )
    return told.subject == slot.subject and _denies_by_slot(other, told, fact, slot, attributes)


def _denies_by_slot(
    other: Fact, told: Slot, fact: Fact, slot: Slot, attributes: AttributeBook
) -> bool:
    """True if a fact with a slot of the same subject denies the slot's value."""
    if told.key == slot.key:
        return _is_denied(other, told, attributes)
    if told.key is not None and told.attribute != slot.attribute:
        # A name that the caller made up may be another word for the other one.
        is_same = told.value_key == slot.value_key and not (told.is_known and slot.is_known)
        return is_same and _is_denied(other, told, attributes)
    if _is_of_another_value(other.text, told, slot):
        return False
    return _contradict(other.text, fact, slot) or _ends(other, fact, slot, attributes)


def _is_of_another_value(text: str, told: Slot, slot: Slot) -> bool:
    """True if a text names its own value of the attribute, and not the slot's.

    "Merrow Place has been sold, and she no longer manages it" says nothing of Sorrel Court.
    """
    if told.attribute != slot.attribute or not told.value or not slot.value:
        return False
    words = text.casefold()
    own, others = stems_of(told.value), stems_of(slot.value)
    if own <= others or others <= own:
        return False  # "No longer lives in Bangalore" is about "Bangalore, India"
    return told.value.casefold() in words and slot.value.casefold() not in words


def _ends(other: Fact, fact: Fact, slot: Slot, attributes: AttributeBook) -> bool:
    """True if another fact says that the value of the slot no longer holds, or never did."""
    if _says_so_itself(other.text, slot):
        return True
    if _is_wish_no_more(other.text, fact.text, slot):
        return True
    known = read(fact.text).stems | _called(other.text, slot, attributes)
    if slot.is_single_valued and is_over_itself(other.text, slot.attribute_in_words, known):
        return True  # "The budget is cancelled."
    return is_over_itself(other.text, slot.value or "", known)


def _is_wish_no_more(said: str, wish: str, slot: Slot) -> bool:
    """True if a text only withdraws a wish for the value: not "no emails on Sundays"."""
    wishes, told = words_of("wish"), read(said)
    if not told.ceased or wishes.isdisjoint(told.stems) or wishes.isdisjoint(read(wish).stems):
        return False
    denial = " ".join(each.text for each in (*told.negated, *told.ceased))
    light = wishes | words_of("light") | stems_of(f"{denial} {slot.value}")
    return told.stems <= light and _says_no_more(said, slot)


def _called(text: str, slot: Slot, attributes: AttributeBook) -> StringSet:
    """The stems of the attribute's names: its own, and those in the text."""
    words = [word.text for word in read(text).words]
    attributes_named = ((word, attributes.find(word)) for word in words)
    other_names = (
        word for word, known in attributes_named if known and known.name == slot.attribute
    )
    return stems_of(" ".join((*_name(slot), *other_names)))


def _is_about(text: str, subject: str) -> bool:
    """True if a text without a subject of its own may speak of the subject."""
    if subject == CONTACT_SUBJECT:
        return not read(text).subject
    return all(_names(text, [word]) for word in subject.split())


def _name(slot: Slot) -> list[str]:
    return (slot.attribute or "").split("_")


def _names(text: str, name: Collection[str]) -> bool:
    """True if a text has a word of the attribute's name, in some form: "allergic", "allergy"."""
    words = [word.text.casefold() for word in read(text).words]
    beginnings = tuple(word[:_BEGINNING] for word in name if len(word) >= _BEGINNING)
    return not set(words).isdisjoint(name) or any(word.startswith(beginnings) for word in words)
