"""Planning: everything that is erased with a fact, a session or an attribute. Pure.

A fact is erased with all that says the same: its restatements, newer and older, and the decisions
about them. Facts that it replaced, and facts that replaced it, say something else and stay; the
reason of the replacement is erased, because it quotes both. ``sayings`` gives the form in which
records say the same; by its hash, a tombstone, a repetition of erased words is recognised later.

A redacted record has no word of its content. Ids, actions, numbers and times stay. ``STAYS`` names
the words that stay; all others go. So a new field that holds words is erased, and looked for
afterwards, unless it is named there. Never here: a hash, or the erasure itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import MISSING, Field, field, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any

from reconciler.domain.reconciling.ahead import Plans
from reconciler.domain.reconciling.reverting import undone_by
from reconciler.domain.records.candidates import Assessment, CheckFinding, ScorePart
from reconciler.domain.records.decisions import (
    Decision,
    PlannedEnd,
    Proposal,
    RecordedOpinion,
    RecordedPolicy,
    Resting,
    Timings,
    Undo,
    Verdict,
)
from reconciler.domain.records.erasures import (
    ERASED,
    ErasureKind,
    ErasurePlan,
    ErasureTarget,
    FactEnd,
)
from reconciler.domain.records.facts import (
    Conflict,
    Fact,
    Facts,
    Relations,
    Standing,
    Supersession,
    by_fact_id,
)
from reconciler.domain.records.kinds import SPANS_JOINED, Action, FactState, Sensitivity
from reconciler.domain.records.notes import Note, Remembered, Scope
from reconciler.errors import ErasedError
from reconciler.frozen import StringSet, frozen
from reconciler.reading.kinds import RecallSemantics
from reconciler.reading.question_words import about_the_contact
from reconciler.reading.values.look_alikes import as_seen
from reconciler.reading.values.text import text


def in_one_form(words: str) -> str:
    """Normalise words to one case, width and punctuation: "New-York!" is ``new york``.

    A Cyrillic or Greek letter that looks like a Latin letter becomes that letter. Differences that
    count in a slot's value stay: C and C++, 15 and -15, 10 and 1.0. Words are not joined either:
    co-op is not coop. A text without a subject is about the contact, so "The contact likes tea" is
    ``likes tea``.
    """
    return text(as_seen(words)).removeprefix("the contact ")


def sayings(scope: Scope, said: Remembered) -> set[str]:
    """The forms of what a note or a fact says: its slot's value, and its words.

    Words in the first person have a form in the third person as well.

    A slot without a value says nothing. An erased record says nothing at all.
    """
    return {f"{scope.contact_key}\0{key}" for key in _keys(said)}


_LINK = frozenset({"new_id", "old_id", "decided_by"})

STAYS: Mapping[type, StringSet] = {
    Assessment: frozenset({"policy_version", "domain"}),
    CheckFinding: frozenset({"check"}),
    Conflict: _LINK,
    Decision: frozenset(
        {"decision_id", "door", "episode_id", "fact_id", "closed_ids", "expired_ids"}
    ),
    Fact: frozenset({"fact_id"}),
    Note: frozenset({"session_id"}),
    PlannedEnd: frozenset({"fact_id", "plan_id"}),
    Proposal: frozenset({"proposed_by", "answered_by", "settles_id", "held_id"}),
    RecordedOpinion: frozenset({"arbiter"}),
    RecordedPolicy: frozenset({"profile", "embedding_model"}),
    Relations: frozenset({"replaces", "repeats", "ends", "both_hold"}),
    Resting: frozenset({"fact_id", "decision_id"}),
    Scope: frozenset({"tenant", "agent_id", "contact_id"}),
    ScorePart: frozenset({"name"}),
    Standing: frozenset({"fact_id"}),
    Supersession: _LINK,
    Timings: frozenset(),
    Undo: frozenset({"decision_ids"}),
    Verdict: frozenset({"targets", "conflicts", "settled", "voided"}),
}
"""The strings of a record that stay: ids, and names from our own lists. Numbers, times and
enumerations always stay. A record of a class that is not listed here is erased as a whole."""

_Getter = Callable[[Any], tuple[Any, ...]]

_WORDLESS = (NoneType, bool, int, float, datetime, Enum)

_WORD = re.compile(r"\w[\w'’-]*")
_TELLING_LENGTH_MIN = 4
_NAME_LENGTH_MIN = 2
_IN_A_ROW = re.compile(rf"{re.escape(ERASED)}(?:[\s,]+{re.escape(ERASED)})+")


def is_erased(decision: Decision) -> bool:
    """True if the record has no words left, so that no later decision can use it."""
    return decision.note.text == ERASED


def check_not_erased(decision: Decision) -> None:
    """Check that a decision can be used: it must not be erased.

    Raises:
        ErasedError: the decision was erased.
    """
    if is_erased(decision):
        raise ErasedError(
            f"decision {decision.decision_id} was erased, so it can no longer be reverted or "
            "committed"
        )


def without_words(decision: Decision, at: datetime) -> Decision:
    """Return the record without any words; a second call changes nothing.

    Args:
        decision: as it is kept.
        at: the time of the erasure (UTC): an open question lapses then, and facts that the decision
            would have ended on a later day do not end.
    """
    left: Decision = _emptied(
        decision,
        note=_emptied(decision.note, is_cleaned=True),
        gate=decision.gate and _assessment(decision.gate, at),
        planned_ends=tuple(
            _emptied(end, is_released=end.is_released or end.day > at)
            for end in decision.planned_ends
        ),
    )
    return left


def without_argument(decision: Decision, gone_ids: Set[str]) -> Decision:
    """Return the record without the reasons about its note and other facts, which may quote them.

    A question asks for its note alone then.

    Args:
        decision: as it is kept.
        gone_ids: the facts that are forgotten; the earlier states of other facts stay, so that a
            decision can be undone.
    """
    return replace(
        decision,
        verdict=_emptied(decision.verdict),
        gate=decision.gate
        and replace(decision.gate, question=decision.gate.question and decision.text),
        undo=decision.undo and _undo(decision.undo, gone_ids),
        opinion=_emptied(decision.opinion),
    )


def without_telling(reason: str, texts: Set[str], names: Set[str]) -> str:
    """Return the reason of an erasure, without words that would repeat what was erased.

    The forgotten texts are removed from it, and each part of a name, and each word with a capital
    letter or a digit that a forgotten text contains. Other words are kept, because they are common
    words.

    Args:
        reason: as a person gave it.
        texts: the forgotten texts, and the values of their slots.
        names: the names of the contact.
    """
    # The longest first: a value stands in the sentence that says it.
    for said in sorted(texts, key=len, reverse=True):
        if len(said) >= _TELLING_LENGTH_MIN and said.casefold() in reason.casefold():
            left = re.sub(re.escape(said), ERASED, reason, flags=re.IGNORECASE)
            reason = ERASED if left == reason else left
    telling = {
        word.casefold()
        for said in texts
        for word in _WORD.findall(said)
        if len(word) >= _TELLING_LENGTH_MIN and not (word.islower() and word.isalpha())
    }
    parts = (part for name in names for part in _WORD.findall(name))
    telling |= {part.casefold() for part in parts if len(part) >= _NAME_LENGTH_MIN}
    kept = reason.split(ERASED)  # what stands for what went is no word of it
    kept = [_WORD.sub(lambda match: _unless(telling, match.group()), part) for part in kept]
    return _IN_A_ROW.sub(ERASED, ERASED.join(kept))


def _unless(telling: Set[str], word: str) -> str:
    heard = word.casefold()
    return ERASED if heard in telling or heard.removesuffix("'s") in telling else word


def words_of(record: Any) -> list[str]:
    """Return all words of a record that an erasure removes, and the marks that replaced words."""
    words: list[str] = []
    _collect(_worded_values(record), words)
    return words


def _collect(values: Iterable[Any], words: list[str]) -> None:
    """Add the words of these values.

    Without generators, because an erasure reads millions of values.
    """
    for value in values:
        kind = value.__class__
        if kind is str:
            words.append(value)
        elif kind is tuple:
            _collect(value, words)
        elif not _is_wordless(kind):
            if is_dataclass(kind):
                _collect(_worded_values(value), words)
            else:
                words.append(str(value))


@cache
def _worded(kind: type) -> tuple[Field[Any], ...]:
    """Fields of a record that may hold words."""
    stays = STAYS.get(kind, frozenset())
    return tuple(described for described in fields(kind) if described.name not in stays)


def _worded_values(record: Any) -> tuple[Any, ...]:
    """Values of these fields, in their order."""
    return _worded_getter(record.__class__)(record)


@cache
def _worded_getter(kind: type) -> _Getter:
    """Return a getter of all fields at once: an erasure reads hundreds of thousands of records."""
    names = [described.name for described in _worded(kind)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


@cache
def _is_wordless(kind: type) -> bool:
    return issubclass(kind, _WORDLESS)


def _emptied(record: Any, **given: Any) -> Any:
    """Return a record without words: a field with words gets its default, or else ``[erased]``.

    The given fields have the given values instead.
    """
    left = given
    for described, value in zip(_worded(record.__class__), _worded_values(record), strict=True):
        if _is_wordless(value.__class__) or described.name in given:
            continue
        kept = _without_words(value, described)
        if kept is not value:
            left[described.name] = kept
    return replace(record, **left) if left else record


def _without_words(value: Any, described: Field[Any]) -> Any:
    kind = value.__class__
    if kind is tuple:
        kinds = {item.__class__ for item in value}
        if all(map(_is_wordless, kinds)):
            return value
        if kinds <= STAYS.keys():
            return tuple(map(_emptied, value))
    elif kind in STAYS:
        return _emptied(value)
    if described.default_factory is not MISSING:
        return described.default_factory()
    return ERASED if described.default is MISSING else described.default


def _undo(undo: Undo, gone_ids: Set[str]) -> Undo:
    before = tuple(_emptied(e) if e.fact_id in gone_ids else e for e in undo.before)
    left: Undo = _emptied(undo, before=before)
    return left


def _assessment(gate: Assessment, at: datetime) -> Any:
    """Return the judgement without words about its note; an open question lapses."""
    return _emptied(
        gate,
        sensitivity=Sensitivity.NONE,
        recall_semantics=RecallSemantics.DEFAULT,
        question=ERASED if gate.question else None,
        lapses_at=min(gate.lapses_at or at, at) if gate.is_held else None,
    )


_WORD_LENGTH_MIN = 4
"""Shorter texts are not searched for in other texts, because other words may contain them."""

_OPERATORS = (Action.REVOKE, Action.RESOLVE)


@frozen
class Judged:
    """An episode that a decision rests on, and the cited words; None if the whole text is cited."""

    decision_id: str
    episode_id: str
    session_id: str
    span: str | None = None
    text: str


@frozen
class ContactRecords:
    """All records of a contact from which a plan is made.

    Attributes:
        facts: live and ended.
        links: the supersessions.
        decisions: all decisions, with comparisons.
        judged: the episodes that the decisions rest on.
        session_keys: the sessions' ids by their keys.
    """

    facts: Facts
    links: Sequence[Supersession]
    decisions: Sequence[Decision]
    judged: Sequence[Judged]
    session_keys: Mapping[str, str] = field(default_factory=dict)


def plan_of(target: ErasureTarget, known: ContactRecords, now: datetime) -> ErasurePlan:
    """Ids of everything that an erasure removes.

    Args:
        target: a fact, a session or an attribute. A whole contact needs no plan.
        known: the contact's records at one version.
        now: the time now (UTC); an erased fact with a later start never began.
    """
    if target.kind is ErasureKind.CONTACT:
        return ErasurePlan()
    is_session = target.kind is ErasureKind.SESSION
    plan = _plan_of_session(str(target.session_id), known) if is_session else _of(target, known)
    return replace(plan, ends=_ends(plan, known, now))


def _of(target: ErasureTarget, known: ContactRecords) -> ErasurePlan:
    """Ids that are erased with a fact or an attribute."""
    facts = _same_facts(_named(target, known.facts), known)
    said = {key for fact in facts for key in _keys(fact)}
    own = {
        decision.decision_id
        for decision in known.decisions
        if _is_about(decision, {fact.fact_id for fact in facts})
        or said & _keys(decision.note)
        or _is_filed(target, decision.note)
    }
    own |= _connected(own, known.decisions)
    rows = [episode for episode in known.judged if episode.decision_id in own]
    return _plan(facts, own, _left(rows, own, known.judged), {e.session_id for e in rows}, known)


def said_by(facts: Iterable[Fact], decisions: Iterable[Decision]) -> set[str]:
    """Texts and values of these records that are long enough to search for."""
    words: set[str] = set()
    for item in (*facts, *(decision.note for decision in decisions)):
        words |= {item.text, item.slot_value}
    return {word.casefold() for word in words - {ERASED} if len(word) >= _WORD_LENGTH_MIN}


def _plan_of_session(session_id: str, known: ContactRecords) -> ErasurePlan:
    in_session = [episode for episode in known.judged if episode.session_id == session_id]
    first = {decision.decision_id: decision.episode_id for decision in known.decisions}
    own = {
        episode.decision_id
        for episode in in_session
        if first.get(episode.decision_id) == episode.episode_id
    }
    own |= {
        decision.decision_id
        for decision in known.decisions
        if decision.note.session_id == session_id
    }
    own |= _connected(own, known.decisions)
    written = {
        decision.fact_id
        for decision in known.decisions
        if decision.decision_id in own and decision.action.writes_a_fact
    }
    facts = [fact for fact in known.facts if fact.fact_id in written]
    episodes = {episode.episode_id: ERASED for episode in in_session}
    # A live fact held, and all that it restates says the same, down to the first that stays.
    beneath = {link.new_id: link.old_id for link in known.links if link.is_restatement}
    held = {fact.fact_id for fact in facts if fact.state is FactState.LIVE}
    while more := {beneath.get(each, each) for each in held & written} - held:
        held |= more
    return replace(
        _plan(facts, own, episodes, {session_id}, known),
        revived_ids=tuple(
            fact.fact_id
            for fact in known.facts
            if fact.fact_id in held - written and fact.state is FactState.SUPERSEDED
        ),
        retold_ids=tuple(
            decision.decision_id
            for decision in known.decisions[::-1]
            if decision.action is Action.SKIP and decision.fact_id in held & written
            if decision.decision_id not in own and not undone_by(decision, known.decisions)
        ),
    )


def _plan(
    facts: Collection[Fact],
    own: Set[str],
    episodes: Mapping[str, str],
    session_ids: Set[str],
    known: ContactRecords,
) -> ErasurePlan:
    gone = {fact.fact_id for fact in facts}
    words = said_by(
        facts, (decision for decision in known.decisions if decision.decision_id in own)
    )
    quoting = [
        decision.decision_id
        for decision in known.decisions
        if decision.decision_id not in own and may_quote(decision, gone, words)
    ]
    return ErasurePlan(
        fact_ids=tuple(sorted(gone)),
        decision_ids=tuple(sorted(own)),
        quoting_ids=tuple(quoting),
        episodes=dict(episodes),
        session_keys=tuple(
            sorted(key for key, each in known.session_keys.items() if each in session_ids)
        ),
    )


def _ends(plan: ErasurePlan, known: ContactRecords, now: datetime) -> tuple[FactEnd, ...]:
    """Compute the new ends of facts, without the plans of erased decisions."""
    facts = by_fact_id(known.facts)
    own = {*plan.decision_ids}
    left = [without_words(e, now) if e.decision_id in own else e for e in known.decisions]
    plans = Plans(left, facts)
    gone_ids = {fact_id for fact_id in plan.fact_ids if facts[fact_id].is_upcoming(now)}
    going = (decision for decision in known.decisions if decision.decision_id in own)
    plan_ids = {end.plan_id for decision in going for end in decision.planned_ends}
    concerned = by_fact_id(plans.ended_by(gone_ids | plan_ids))
    for fact_id in plan.revived_ids:
        concerned[fact_id] = replace(facts[fact_id], state=FactState.LIVE, valid_to=None)
    standing = {fact_id: plans.standing(fact, gone_ids) for fact_id, fact in concerned.items()}
    return tuple(
        FactEnd(fact_id=fact_id, valid_to=fact.valid_to, expires_at=fact.expires_at)
        for fact_id, fact in sorted(standing.items())
        if fact_id not in plan.fact_ids and fact != concerned[fact_id]
    )


def _named(target: ErasureTarget, facts: Iterable[Fact]) -> list[Fact]:
    if target.fact_id is not None:
        return [fact for fact in facts if fact.fact_id == target.fact_id]
    return [fact for fact in facts if _is_filed(target, fact)]


def _is_filed(target: ErasureTarget, said: Remembered) -> bool:
    slot = said.slot
    if target.attribute is None or slot is None:
        return False
    return (slot.subject, slot.attribute) == (target.about, target.attribute)


def _same_facts(named: Facts, known: ContactRecords) -> list[Fact]:
    """These facts and all that say the same, by restatement, by slot or by words."""
    by_id = by_fact_id(known.facts)
    pairs = [(link.new_id, link.old_id) for link in known.links if link.is_restatement]
    same_ids = {fact.fact_id for fact in named}
    while True:
        said = {key for fact_id in same_ids for key in _keys(by_id[fact_id])}
        more = {fact_id for pair in pairs if same_ids & set(pair) for fact_id in pair}
        more |= {fact.fact_id for fact in known.facts if said & _keys(fact)}
        more &= by_id.keys()
        if more <= same_ids:
            return [by_id[fact_id] for fact_id in same_ids]
        same_ids |= more


def _keys(said: Remembered) -> set[str]:
    """The keys that two records share if they say the same: slot with value, or words."""
    if said.text == ERASED:
        return set()
    slot = {f"slot\0{as_seen(said.slot_key)}"} if said.slot_key else set()
    forms = (said.text, about_the_contact(said.text))
    return {f"text\0{in_one_form(words)}" for words in forms} | slot


def _is_about(decision: Decision, gone: Set[str]) -> bool:
    """True if a decision wrote, counted or, by a person, ended one of these facts."""
    if decision.fact_id in gone:
        return True
    ended = {*decision.superseded_ids, *decision.closed_ids}
    return decision.action in _OPERATORS and bool(ended & gone)


def _connected(own: Set[str], decisions: Sequence[Decision]) -> set[str]:
    """The questions and answers that belong to these decisions, and the reverts of all of them."""
    links = [
        {decision.decision_id, linked}
        for decision in decisions
        for linked in (decision.proposal.settles_id, decision.proposal.held_id)
        if linked is not None
    ]
    undone = {e.decision_id: set(e.undo.decision_ids) for e in decisions if e.undo}
    connected = set(own)
    while True:
        more = {decision_id for link in links if link & connected for decision_id in link}
        more |= {decision_id for decision_id, ids in undone.items() if ids & connected}
        if more <= connected:
            return connected
        connected |= more


def may_quote(decision: Decision, gone: Set[str], words: Set[str]) -> bool:
    """True if the reasons of a decision, or its question, may quote these facts or words."""
    undo = decision.changes
    named = {comparison.fact_id for comparison in decision.compared_with}
    named |= {*decision.superseded_ids, *decision.conflicting_ids, *decision.closed_ids}
    named |= {fact.fact_id for fact in undo.before}
    parts = (decision.verdict, decision.opinion, *undo.unlinked, *undo.linked, *undo.conflicts)
    argued = [decision.question or "", *(word for part in parts for word in words_of(part))]
    said = "\n".join(argued).casefold()
    return bool(named & gone) or any(word in said for word in words)


def _left(rows: Sequence[Judged], own: Set[str], judged: Iterable[Judged]) -> dict[str, str]:
    """The rest of each episode: empty, or the uncited words if other decisions need them."""
    shared = {episode.episode_id for episode in judged if episode.decision_id not in own}
    left: dict[str, str] = {}
    for row in rows:
        is_shared = row.episode_id in shared
        before = left.get(row.episode_id, row.text)
        left[row.episode_id] = _without(before, row) if is_shared else ERASED
    return left


def _without(left: str, row: Judged) -> str:
    """The text without the words that a decision cites; empty if the decision cites all words."""
    parts = row.span.split(SPANS_JOINED) if row.span else []
    if not parts or any(part not in row.text for part in parts):
        return ERASED
    for part in parts:
        left = left.replace(part, ERASED)
    return left
