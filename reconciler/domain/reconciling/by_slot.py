"""The rule of a slot: note and fact answer the same question about the same subject. Pure.

The values decide, at any cosine. A slot that was only read from words ends a fact only if nothing
in the words speaks against it. ``holders_of`` finds the facts that a caller means by an attribute
and a value. Never here: a cosine, or a model's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from reconciler.domain.reconciling.verdicts import (
    Rule,
    RuleInput,
    Ruling,
    add,
    are_of_several_matters,
    denials_of,
    differences_of,
    is_conflict,
    kept_apart,
    listed,
    live_first,
    losses_of,
    match_of,
    named_of,
    sparing,
    without_loss,
)
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.domain.records.notes import Note, Slot, SlotMatch, compare_slots
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.findings import Difference, Finding, Findings
from reconciler.reading.guard import (
    are_of_other_people,
    denies_value,
    differ_beside,
    differ_in_head,
    find_left_out,
    is_over,
    is_repeated_in,
    says_beside,
    says_it_changed,
    stems_of,
    tell_of_two_things,
    tells_of_change,
    tells_of_more,
    without_start,
)
from reconciler.reading.guard.reading import read
from reconciler.reading.sensitive_data import TOKEN


def holders_of(slot: Slot, facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Facts that hold a slot's value, and those of its attribute that hold another value.

    A fact may hold the value under another name that a caller made up, or in fewer or more words:
    "Bangalore" and "Bangalore, India". A slot without a value means the only fact of its attribute.
    If there are several, it means none of them.

    Args:
        slot: an attribute, with the value or without.
        facts: the live facts of the contact.
    """
    own = [(fact, fact.slot) for fact in facts if fact.slot and fact.slot.subject == slot.subject]
    equal = [
        fact
        for fact, held in own
        if held.value_key == slot.value_key is not None
        if held.attribute == slot.attribute or not (held.is_known and slot.is_known)
    ]
    filed = [(fact, held.value or "") for fact, held in own if held.attribute == slot.attribute]
    alike = [fact for fact, value in filed if slot.value is None or _is_shorter(slot.value, value)]
    others = [fact for fact, _ in filed if fact not in (*equal, *alike)]
    return equal or (alike if len(alike) == 1 else []), others


def _is_shorter(one: str, other: str) -> bool:
    """True if one of two values holds all words of the other."""
    words, others = stems_of(one), stems_of(other)
    return bool(words and others) and (words <= others or others <= words)


def by_slot(note: Note, seen: RuleInput) -> Ruling:
    """The same question about the same subject: the values decide, at any cosine.

    A slot that was read from the words is a guess, which a judge may overrule.
    """
    verdict = slot_alone(note, seen.neighbours, seen.policy, is_state=seen.is_state)
    if verdict is None:
        return None
    is_left_open = verdict.decided_by is DecidedBy.SLOT and not (
        verdict.targets or verdict.conflicts
    )
    is_open = note.slot_read_from is not None or is_left_open
    return replace(verdict, can_be_arbitrated=seen.is_asked and is_open)


def slot_alone(
    note: Note, neighbours: Sequence[Neighbour], policy: ReconcilePolicy, *, is_state: bool
) -> Ruling:
    """Decide by two values of one slot, before a judge or a person is asked."""
    if note.slot is None:
        return None
    matches = [
        (match, neighbour)
        for neighbour in live_first(neighbours)
        if (match := match_of(note, neighbour)) in (SlotMatch.EQUAL, SlotMatch.CHANGED)
        and (note.slot_read_from is None or not _is_of_another_matter(note, neighbour))
    ]
    equal = tuple(neighbour for match, neighbour in matches if match is SlotMatch.EQUAL)
    changed = tuple(neighbour for match, neighbour in matches if match is SlotMatch.CHANGED)
    if not (equal or changed):
        return None
    what = f"{note.slot.subject}'s {note.slot.attribute}"
    refuted = {
        neighbour: denials
        for neighbour in equal
        if (denials := _refutations(note, neighbour, policy))
    }
    again = tuple(neighbour for neighbour in equal if neighbour not in refuted)
    if policy.guard and any(_leaves_open(note, fact, is_state=is_state) for fact in again):
        named = f"{what} is {note.slot.shown_value}"
        return add(DecidedBy.SLOT, f"{named}, and the note does not say that it still holds")
    findings = tuple(chain.from_iterable(refuted.values()))
    if again:
        reason = f"{what} is {note.slot.shown_value} already" + listed(findings)
    elif refuted:
        reason = f"{what}: {note.slot.shown_value}" + listed(findings)
    elif note.slot.is_personal:
        reason = f"{what} is another one now"
    else:
        old = changed[0].slot.shown_value if changed[0].slot else None
        reason = f"{what} is {note.slot.shown_value}, and was {old}"
    verdict = Verdict(
        Action.UPDATE,
        DecidedBy.SLOT,
        reason,
        targets=again + tuple(refuted) + changed,
        is_restatement=bool(again),
        findings=findings,
    )
    verdict = _sparing_details(note, again, verdict, policy)
    doubt = _why_both_may_hold(note, changed)
    if doubt and verdict.action is Action.UPDATE:
        return sparing(changed, verdict, DecidedBy.SLOT, f"{verdict.reason}; {doubt}")
    return _sparing_what_is_beside(note, changed, verdict)


def is_left_open(note: Note, verdict: Verdict | Verdict[str], fact: Neighbour) -> bool:
    """True if it stays open whether a note with a fact's value says that the value holds."""
    is_open = verdict.action is Action.ADD and verdict.decided_by is DecidedBy.SLOT
    return is_open and compare_slots(note.slot, fact.slot) is SlotMatch.EQUAL


def _leaves_open(note: Note, fact: Neighbour, *, is_state: bool) -> bool:
    """True if a note of a fact's value may say that the value has ended, or was never true.

    It does not if a clause has only words of the fact, and denies nothing. It may if it denies
    something that the fact does not deny, if its meaning is not a plain statement, if it says that
    something changed without words of the fact, or if it denies the opposite.
    """
    slot, said, known = note.slot, read(note.text), read(fact.text)
    filed = f"{slot.value} {(slot.attribute or '').replace('_', ' ')}" if slot else ""
    words = known.stems | read(filed).stems
    if is_repeated_in(note.text, f"{fact.text} {filed}") or any(
        clause.is_plain and clause.stems and words.issuperset(clause.stems)
        for clause in said.clauses
    ):
        return False
    denies, denied = (bool(each.negated or each.ceased) for each in (said, known))
    is_other = denies is not denied or not named_of(note, fact)
    return (denies and not denied) or (is_other and tells_of_change(note.text)) or not is_state


def _is_of_another_matter(note: Note, fact: Neighbour) -> bool:
    """True if the words speak against one question, although a slot was read from them.

    "He" or "she" is not the contact, two events have different dates, and a further word before
    "is" or after "for" names another thing.
    """
    if are_of_other_people(note.text, fact.text):
        return True
    match, texts = compare_slots(note.slot, fact.slot), (note.text, fact.text)
    if match is SlotMatch.CHANGED:  # each value has its own start
        texts = without_start(note.text), without_start(fact.text)
    if tell_of_two_things(*texts, note.slot_value, fact.slot_value):
        return True
    if match is SlotMatch.CHANGED and differ_in_head(note.text, fact.text):
        return True
    if match is SlotMatch.EQUAL and note.slot is not None and not note.slot.is_single_valued:
        return bool(_beside_slot(fact, note) and _beside_slot(note, fact))
    return False


def _beside_slot(one: Note | Neighbour, other: Note | Neighbour) -> frozenset[str]:
    """The words, without the slot, that only one text has."""
    slots = [slot for slot in (one.slot, other.slot) if slot]
    said = [said for slot in slots for said in (slot.value or "", slot.attribute or "")]
    texts = (_with_value(one), _with_value(other))
    return says_beside(*texts, *(each.replace("_", " ") for each in said))


def _with_value(told: Note | Neighbour) -> str:
    """Write a text with its slot's value instead of the words for it."""
    value = told.slot.value if told.slot and told.slot.is_personal else None
    return told.text if value is None else TOKEN.sub(lambda _: value, told.text)


def _sparing_what_is_beside(note: Note, changed: Sequence[Neighbour], verdict: Verdict) -> Verdict:
    """Verdict of a slot that was read, without the facts that say more than their slot."""
    if note.slot_read_from is None or verdict.action is not Action.UPDATE:
        return verdict
    # Since when it holds ends with the fact.
    richer = tuple(
        fact for fact in changed if _beside_slot(replace(fact, text=without_start(fact.text)), note)
    )
    if not richer:
        return verdict
    reason = f"{verdict.reason}; yet it says more: {richer[0].text}"
    spared = sparing(richer, verdict, DecidedBy.SLOT, reason)
    # Where the note says other things of its own as well, no reader would ask which one holds.
    apart = {
        fact
        for fact in richer
        if _beside_slot(note, fact) and not says_it_changed(note.text, fact.text, 1.0)
    }
    return replace(spared, conflicts=tuple(fact for fact in spared.conflicts if fact not in apart))


def _why_both_may_hold(note: Note, changed: Sequence[Neighbour]) -> str:
    """Say why facts of another value may hold together with the note; empty if nothing says so."""
    if changed and tells_of_more(note.text):
        return 'yet an "also" says that both may hold'
    if are_of_several_matters(changed):
        return "yet it does not say which of several is meant"
    return ""


def _sparing_details(
    note: Note, again: Sequence[Neighbour], verdict: Verdict, policy: ReconcilePolicy
) -> Verdict:
    """The verdict of a slot, without the facts of the same value that would lose other details.

    Such a fact says more than the note, or gives another date, number or name besides the value.
    """
    differing = {
        neighbour: findings
        for neighbour in again
        if (findings := _differ_beside(note, neighbour, policy))
    }
    richer = tuple(
        neighbour
        for neighbour in again
        if neighbour not in differing and policy.guard and _says_more(neighbour, note)
    )
    ended = tuple(target for target in verdict.targets if target not in (*differing, *richer))
    if len(ended) == len(verdict.targets):
        return verdict
    if not ended and richer:
        return without_loss(note, replace(verdict, targets=richer), policy)
    spared, findings = next(iter(differing.items()), (again[0], ()))
    if not ended:
        return kept_apart(note, spared, findings, verdict.reason)
    stays = "; ".join(map(str, findings or losses_of(note, richer[0])))
    return replace(
        verdict,
        targets=ended,
        conflicts=tuple(
            neighbour
            for neighbour in differing
            if is_conflict(note, neighbour, differing[neighbour])
        ),
        is_restatement=any(neighbour in ended for neighbour in again),
        reason=f"{verdict.reason}, and one with other details stays: {stays}",
    )


def _says_more(fact: Neighbour, note: Note) -> bool:
    """True if a fact of the same value holds a detail that would be lost with it.

    A name alone is not a detail, unless the note only leaves it out: "Moved from Pune to
    Bangalore", then "Lives in Bangalore".
    """
    losses = losses_of(note, fact)
    has_value = any(loss.kind is not Difference.NAME for loss in losses)
    return has_value or (bool(losses) and is_repeated_in(note.text, fact.text))


def _differ_beside(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Differences of a note of the same value: another date, number or name, or other things."""
    values = (note.slot_value, fact.slot_value)
    findings = tuple(
        difference
        for difference in differences_of(note, fact, policy)
        if difference.kind is not Difference.SUBJECT and differ_beside(difference, *values)
    )
    return findings + find_left_out(note.text, fact.text) if policy.guard else ()


def _refutations(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Say why a note of the same value does not restate the fact: a denial, or another count.

    If there are two counts of one thing, the later count holds.
    """
    value = note.slot_value
    denials = denials_of(note, fact, policy)
    if any(denial.is_change for denial in denials) or (
        denials and denies_value(note.text, value) != denies_value(fact.text, value)
    ):
        return denials
    if policy.guard and is_over(note.text, value) and not is_over(fact.text, value):
        return (Finding(Difference.CESSATION, value, "", is_change=True),)
    findings = _differ_beside(note, fact, policy)
    are_counts = all(
        difference.is_change and difference.kind is not Difference.ROLES for difference in findings
    )
    return findings if are_counts else ()


SLOT = Rule(
    "slot",
    "a live fact answers the same question: same subject, same single-valued attribute, same "
    "matter",
    "UPDATE at any cosine; an equal value is a restatement if the note says that it holds, "
    "else ADD without a value, and the reply asks; another value is a contradiction; a value that "
    "was read from words ends a fact only if nothing speaks against it",
    why="Note and fact answer one question, so their values decide.",
    apply=by_slot,
)
"""The values of one slot."""
