"""Disputes: facts that contradict each other, the question about them, and what settles them.

Pure. A dispute is a set of live facts joined by open conflicts; no code guesses which side is
right. A dispute has no node, so it ends when a side ends, and cannot disagree with the facts.
Contested values are marked: a value that comes back, and a second contradiction. In some
attributes a system or an operator outranks the contact, so the contact's word ends no fact of
theirs.

A contradiction is no dispute if one value only suspends the other: a value with an end does not
end a value that lasts longer, and both are kept. "Lives in Zurich" stays while "Is in London until
6 December" holds. Readers leave it out until then (``recalling.recalled``), and afterwards it is
the value again. Only a lasting value that begins later than the temporary one ends it. Never here:
the rules that reach a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain

from reconciler.domain.reconciling.verdicts import (
    Unread,
    add,
    all_read,
    are_of_several_matters,
    match_of,
    neighbour_of,
)
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import (
    Conflict,
    Dispute,
    Fact,
    Facts,
    FactsById,
    Neighbour,
    Predecessor,
    Relations,
)
from reconciler.domain.records.kinds import Action, DecidedBy, SourceKind, newest_first
from reconciler.domain.records.notes import Note, Scope, SlotMatch, compare_slots
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.guard import (
    denies_value,
    differ_only_in,
    find_changes,
    find_differences,
    find_unreadable,
    is_english,
    only_ends,
    tells_of_change,
    tells_of_end,
)
from reconciler.reading.guard.reading import lowered
from reconciler.reading.kinds import Category
from reconciler.reading.quoting import in_quotes, unmarked
from reconciler.reading.sensitive_data import VALUE_TOKEN


def rules(note: Note, policy: ReconcilePolicy) -> bool:
    """True if a system of the builder gives the value of an attribute that is listed for it."""
    listed = policy.systems.get(note.artefact or "", frozenset())
    return note.trust is SourceKind.APPROVED_DOC and _attribute(note) in listed


def is_ruled(fact: Fact | Neighbour, policy: ReconcilePolicy) -> bool:
    """True if the contact may not change a fact, such as a credit limit.

    The fact is the word of a system in an attribute that is listed for it, or the word of an
    operator in an attribute that the book does not list; or its attribute waits for a person.
    """
    if waits_for_a_person(fact, policy):
        return True
    if fact.word is SourceKind.OPERATOR:
        return fact.slot is not None and not fact.slot.is_known
    listed = {*chain(*policy.systems.values())}
    return fact.word is SourceKind.APPROVED_DOC and _attribute(fact) in listed


def waits_for_a_person(fact: Fact | Neighbour, policy: ReconcilePolicy) -> bool:
    """True if the book says that only a person changes the value of the fact's attribute."""
    return _attribute(fact) in policy.confirmed


def _attribute(said: Note | Fact | Neighbour) -> str:
    return (said.slot and said.slot.attribute) or ""


def as_ruled(note: Note, policy: ReconcilePolicy) -> Note:
    """Return the note; a system's value of an unlisted attribute counts as its only value."""
    slot = note.slot
    if slot is None or not slot.is_open or not rules(note, policy):
        return note
    if slot.thing and slot.thing.state:
        return note
    return replace(note, slot=replace(slot, is_single_valued=True, is_open=False))


def yields(
    note: Note, fact: Fact | Neighbour, policy: ReconcilePolicy, *, is_again: bool = False
) -> bool:
    """True if the note may not end the fact.

    The contact's word cannot end a fact that ``is_ruled``, even if it is later: an operator
    decides.

    Args:
        note: what is said.
        fact: what is known.
        policy: it lists the attributes of systems.
        is_again: whether the note says the fact again.
    """
    is_ruling = rules(note, policy)
    if is_ruled(fact, policy) and not (is_ruling or is_again):
        return note.trust is not SourceKind.OPERATOR
    if is_ruling and fact.word is SourceKind.USER_EXPLICIT:
        return False
    return note.trust.is_trusted_less_than(fact.word)


WHOSE: Mapping[SourceKind, str] = {
    SourceKind.USER_EXPLICIT: "the user's own word",
    SourceKind.OPERATOR: "an operator's word",
    SourceKind.APPROVED_DOC: "an approved document",
    SourceKind.EXTRACTOR: "read out of a conversation",
    SourceKind.TOOL_OUTPUT: "a tool's output",
    SourceKind.MODEL_GUESS: "a model's guess",
}
"""The kind of source, in words for a person."""

_PLAIN = ReconcilePolicy()


def disputes_of(
    scope: Scope, facts: Iterable[Fact], conflicts: Iterable[Conflict], now: datetime
) -> list[Dispute]:
    """The open disputes, newest first; facts that are linked, also indirectly, make one question.

    Args:
        scope: the contact.
        facts: the contact's facts; ended and expired facts are never in a dispute.
        conflicts: the open conflicts.
        now: the time now (UTC).
    """
    known = {fact.fact_id: fact for fact in facts if fact.as_of(now).is_live}
    open_ = [conflict for conflict in conflicts if conflict.ids <= known.keys()]
    sides: dict[str, frozenset[str]] = {}
    for conflict in open_:
        joined = frozenset().union(*(sides.get(i, {i}) for i in conflict.pair))
        sides |= dict.fromkeys(joined, joined)
    disputes = []
    for joined in set(sides.values()):
        between = [conflict for conflict in open_ if conflict.new_id in joined]
        disputes.append(_dispute(scope, [known[fact_id] for fact_id in joined], between))
    return sorted(disputes, key=lambda dispute: newest_first(*dispute.place))


def settle(
    verdict: Verdict,
    note: Note,
    disputed: Mapping[str, Facts],
    policy: ReconcilePolicy = _PLAIN,
) -> Verdict:
    """Return the verdict; if the note repeats one side of a dispute, the other side may end.

    It ends only by a plain note that is at least as trusted as the other side, and later. Their
    slot, or texts that differ in nothing else, must still show that one side is wrong. An uncertain
    link of the guard waits for an answer: when any difference could settle such a link, three of
    three in full memories were settled wrongly.

    Args:
        verdict: what ``decide`` concluded.
        note: the note.
        disputed: the other sides of each fact's disputes, by the fact's id.
        policy: it lists the attributes of systems.
    """
    known = verdict.target
    says_again = verdict.is_restatement or verdict.action is Action.SKIP
    if known is None or not says_again or verdict.is_history or note.is_hedged:
        return verdict
    ended_ids = {target.fact_id for target in verdict.targets}
    settled = tuple(
        neighbour_of(fact, 0.0)
        for fact in disputed.get(known.fact_id, ())
        if fact.fact_id not in ended_ids and _is_settled_by(note, known, fact, policy)
    )
    if not settled or are_of_several_matters(settled):
        return verdict
    kept_apart = tuple(conflict for conflict in verdict.conflicts if conflict not in settled)
    texts = ", ".join(f'"{fact.text}"' for fact in settled)
    reason = f"{verdict.reason}; that settles the dispute with {texts}"
    return replace(verdict, settled=settled, conflicts=kept_apart, reason=reason)


def _is_settled_by(note: Note, known: Neighbour, other: Fact, policy: ReconcilePolicy) -> bool:
    """True if the note, which repeats a known fact, ends the other side of its dispute.

    Without a slot that both answer, the two sides may differ in nothing else, and the guard must be
    able to read both.
    """
    is_later = note.said_at > other.last_confirmed_at and note.holds_from >= other.valid_from
    if yields(note, other, policy) or not (note.is_undated or is_later):
        return False
    if match_of(note, other) is SlotMatch.CHANGED:
        return True
    if other.category is Category.DECISION and note.category is not Category.DECISION:
        return False
    if not (is_english(note.text) and is_english(other.text)):
        return False
    still = find_changes(note.text, other.text)
    return bool(still) and differ_only_in(
        find_differences(known.text, other.text), known.text, other.text
    )


def _dispute(scope: Scope, facts: Iterable[Fact], conflicts: Sequence[Conflict]) -> Dispute:
    sides = tuple(sorted(facts, key=lambda fact: (fact.valid_from, fact.recorded_at, fact.fact_id)))
    *first, last = (
        f"{in_quotes(unmarked(' '.join(_readable(side).split())))} "
        f"({f'the word of {side.system}' if side.system else WHOSE[side.word]}, "
        f"since {side.valid_from:%Y-%m-%d})"
        for side in sides
    )
    return Dispute(
        scope=scope,
        facts=sides,
        question=f"Which one holds: {', '.join(first)} or {last}?",
        reasons=tuple(dict.fromkeys(conflict.reason for conflict in conflicts)),
        opened_at=max(conflict.at for conflict in conflicts),
    )


def _readable(fact: Fact) -> str:
    """Return a fact's text with the value that its slot keeps in place of the token."""
    told = fact.slot.value if fact.slot and fact.slot.is_personal else None
    is_one = len(VALUE_TOKEN.findall(fact.text)) == 1
    return VALUE_TOKEN.sub(lambda _: str(told), fact.text) if told and is_one else fact.text


def contest(
    verdict: Verdict,
    note: Note,
    predecessors: Iterable[Predecessor],
    policy: ReconcilePolicy,
    unread: Unread = all_read,
) -> Verdict:
    """Return the verdict, marked as contested if the value goes back and forth.

    It does if the note returns to a superseded value (A, B, A), or is the second contradiction
    within the policy's window. The note is written in either case. These do not count: an end or a
    denial, which names no value; a value that was said again; a value that was followed only by the
    denial of another value; and a value that was never live. A replacement that the contact's agent
    states is a correction, however soon it comes.

    Args:
        verdict: what ``decide`` concluded.
        note: the note.
        predecessors: the facts beneath the verdict's targets, in any order.
        policy: the window, and the least cosine at which two texts say the same.
        unread: as ``decide`` takes it.
    """
    if not verdict.is_replacement or denies_value(note.text, note.slot_value):
        return verdict
    earlier = [
        each for each in predecessors if each.was_live and not _has_stayed(each, verdict.targets)
    ]
    if any(_says_again(note, predecessor, policy, unread) for predecessor in earlier):
        return _contested(verdict, "it repeats a superseded value")
    flips = [predecessor for predecessor in earlier if predecessor.was_contradicted]
    is_correction = verdict.decided_by is DecidedBy.AGENT and note.trust is SourceKind.USER_EXPLICIT
    is_known = verdict.decided_by is not DecidedBy.MIDPOINT and not is_correction
    if is_known and any(
        note.holds_from - flip.followed_from <= policy.contested_window for flip in flips
    ):
        days = policy.contested_window / timedelta(days=1)
        return _contested(verdict, f"the second contradiction within {days:g} days")
    return verdict


def _has_stayed(earlier: Predecessor, targets: Iterable[Neighbour]) -> bool:
    """True if a value never ended: a live fact has it too, or only denies another value."""
    for fact in targets:
        match, value = compare_slots(earlier.slot, fact.slot), fact.slot_value
        is_denial = bool(value) and denies_value(fact.text, value)
        if match is (SlotMatch.CHANGED if is_denial else SlotMatch.EQUAL):
            return True
    return False


def _says_again(note: Note, earlier: Predecessor, policy: ReconcilePolicy, unread: Unread) -> bool:
    match = compare_slots(note.slot, earlier.slot)
    if match is not SlotMatch.UNKNOWN:
        return match is SlotMatch.EQUAL
    if lowered(note.text) == lowered(earlier.text):
        return True
    return earlier.cosine >= policy.cosine_update_min and not (
        find_differences(note.text, earlier.text)
        or find_unreadable(note.text, earlier.text, unread)
    )


def _contested(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, is_contested=True, reason=f"{verdict.reason}; contested: {why}")


def standing_beside(
    note: Note,
    ends_at: datetime | None,
    known: Iterable[tuple[Neighbour, Fact]],
    told: Relations | None,
    own: Callable[[Fact], Fact],
    policy: ReconcilePolicy,
) -> list[Neighbour]:
    """Facts with another value of the note's slot that it neither ends nor disputes.

    Args:
        note: the note.
        ends_at: its end (UTC); None for a lasting note.
        known: the facts that it is compared with.
        told: its relations, from a model.
        own: returns a fact with its own end, without a plan's.
        policy: it says which facts the note may not suspend.
    """
    pairs = [(seen, fact) for seen, fact in known if not seen.is_expired]
    rivals = [
        (seen, own(fact))
        for seen, fact in pairs
        if match_of(note, seen) is SlotMatch.CHANGED or is_replaced(seen, note.text, ends_at, told)
        if ends_at is not None or fact.valid_to is not None
    ]
    if ends_at is not None:
        return [
            seen
            for seen, fact in rivals
            if is_suspended(note, ends_at, fact)
            and not (note.is_hedged or yields(note, fact, policy))
        ]
    said_again = [fact for seen, fact in pairs if match_of(note, seen) is SlotMatch.EQUAL]
    return [seen for seen, fact in rivals if _suspends(fact, note, said_again)]


def is_replaced(
    fact: Fact | Neighbour, note: str, ends_at: datetime | None, told: Relations | None
) -> bool:
    """True if a note replaces a fact, as a model says.

    A note with an end also replaces a fact that has ended, unless the note only says that something
    has ended.
    """
    if told is None or fact.fact_id in told.replaces:
        return told is not None
    is_over = fact.fact_id in told.ends and ends_at is not None
    return is_over and not (tells_of_end(note) or only_ends(note, fact.text))


def end_of_known(note: Note, known: Iterable[tuple[Neighbour, Fact]]) -> datetime | None:
    """The end of the temporary value that a note without an end repeats; None if there is none.

    It counts only if the value suspends a lasting value, and the note says no change; otherwise the
    value has become lasting.
    """
    by_match: dict[SlotMatch, list[Fact]] = {SlotMatch.EQUAL: [], SlotMatch.CHANGED: []}
    for seen, fact in known:
        if not seen.is_expired:
            by_match.setdefault(match_of(note, seen), []).append(fact)
    ends = (
        fact.valid_to
        for fact in by_match[SlotMatch.EQUAL]
        if fact.valid_to is not None and fact.valid_from < note.holds_from < fact.valid_to
        if _holds_back(fact, note, by_match[SlotMatch.CHANGED])
    )
    return next(ends, None)


def is_suspended(note: Note, ends_at: datetime, fact: Fact) -> bool:
    """True if a note with an end only suspends a fact, or ends before the fact begins."""
    if fact.category is Category.VOLATILE:
        return False
    begins = note.holds_from
    if fact.valid_from >= ends_at or (fact.valid_to is not None and fact.valid_to <= begins):
        return True
    return fact.valid_to is None or fact.valid_to > ends_at


def _suspends(fact: Fact, note: Note, said_again: Iterable[Fact]) -> bool:
    """True if a fact with an end suspends a lasting note, or the fact that the note repeats."""
    if fact.valid_to is None:
        return False
    is_outside = not fact.valid_from < note.holds_from < fact.valid_to
    return is_outside or _holds_back(fact, note, said_again)


def _holds_back(fact: Fact, note: Note, others: Iterable[Fact]) -> bool:
    """True if a fact suspends one of the others, and the note does not say that it has ended."""
    return not tells_of_change(note.text) and any(
        other.valid_to is None and other.holds_since <= fact.valid_from for other in others
    )


def with_suspended(
    verdict: Verdict,
    note: Note,
    ends_at: datetime | None,
    facts: FactsById,
    beside: Iterable[Neighbour],
    over_ids: Collection[str],
) -> Verdict:
    """The verdict of a note with an end: a fact that it only suspends stays.

    Args:
        verdict: what ``decide`` concluded.
        note: the note.
        ends_at: its end (UTC); None for a lasting note, of which the verdict stays as it is.
        facts: the facts that it was compared with, by id.
        beside: the facts that did not decide, from ``standing_beside``.
        over_ids: the facts that have ended, as a model says.
    """
    if ends_at is None:
        return verdict
    may_end = verdict.targets[verdict.is_restatement :] if verdict.action is Action.UPDATE else ()
    spared = [
        fact
        for fact in may_end
        if fact.fact_id not in over_ids and is_suspended(note, ends_at, facts[fact.fact_id])
    ]
    waiting = [fact for fact in (*spared, *beside) if fact.valid_from <= note.holds_from]
    if waiting:
        shown = ((fact.slot and fact.slot.shown_value) or fact.text for fact in waiting)
        reason = f"{verdict.reason}; suspends {', '.join(shown)} until {ends_at:%Y-%m-%d}"
        verdict = replace(verdict, reason=reason)
    targets = tuple(fact for fact in verdict.targets if fact not in spared)
    if targets == verdict.targets:
        return verdict
    return replace(verdict, targets=targets) if targets else add(DecidedBy.ORDER, verdict.reason)
