"""Suspending: a value with an end ends no value that lasts longer; both are kept. Pure.

"Lives in Zurich" stays while "Is in London until 6 December" holds, is left out by readers until
then (``recalling.suspended``), and is the value again afterwards. Only a lasting value that begins
later than the temporary one ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from reconciler.domain.guard import only_ends, tells_of_change, tells_of_end
from reconciler.domain.reconciling.neighbours import match_of
from reconciler.domain.reconciling.verdicts import add
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Fact, Neighbour
from reconciler.domain.records.kinds import Action, Category, DecidedBy
from reconciler.domain.records.notes import Note
from reconciler.domain.records.relations import Relations
from reconciler.domain.records.slots import SlotMatch


def standing_beside(
    note: Note,
    ends_at: datetime | None,
    known: Iterable[tuple[Neighbour, Fact]],
    told: Relations | None,
    own: Callable[[Fact], Fact],
) -> list[Neighbour]:
    """The facts with another value of the note's slot that it neither ends nor disputes.

    Args:
        note: the note.
        ends_at: its end (UTC); None for a lasting note.
        known: the facts that it is compared with.
        told: its relations, as a model says.
        own: gives a fact with the end that it has by itself, and not by a plan.
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
            and not (note.is_hedged or note.trust.is_trusted_less_than(seen.word))
        ]
    said_again = [fact for seen, fact in pairs if match_of(note, seen) is SlotMatch.EQUAL]
    return [seen for seen, fact in rivals if _suspends(fact, note, said_again)]


def is_replaced(
    fact: Fact | Neighbour, note: str, ends_at: datetime | None, told: Relations | None
) -> bool:
    """Whether a note replaces a fact, as a model says.

    So does a note with an end if the fact is over, unless the note says only that, or that
    something has ended.
    """
    if told is None or fact.fact_id in told.replaces:
        return told is not None
    is_over = fact.fact_id in told.ends and ends_at is not None
    return is_over and not (tells_of_end(note) or only_ends(note, fact.text))


def end_of_known(note: Note, known: Iterable[tuple[Neighbour, Fact]]) -> datetime | None:
    """The end of the temporary value that a note without an end says again; None for no such.

    Only if it suspends a lasting value, and the note tells of no change; else it has become one.
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
    """Whether a note with an end only suspends a fact, or is over before the fact begins."""
    if fact.category is Category.VOLATILE:
        return False
    begins = note.holds_from
    if fact.valid_from >= ends_at or (fact.valid_to is not None and fact.valid_to <= begins):
        return True
    outlasts = fact.valid_to is None or fact.valid_to > ends_at
    return outlasts and fact.holds_since <= begins


def _suspends(fact: Fact, note: Note, said_again: Iterable[Fact]) -> bool:
    """Whether a fact with an end suspends a lasting note, or what the note says again."""
    if fact.valid_to is None:
        return False
    is_outside = not fact.valid_from < note.holds_from < fact.valid_to
    return is_outside or _holds_back(fact, note, said_again)


def _holds_back(fact: Fact, note: Note, others: Iterable[Fact]) -> bool:
    """Whether a fact suspends one of the others, and the note does not say that this is over."""
    return not tells_of_change(note.text) and any(
        other.valid_to is None and other.holds_since <= fact.valid_from for other in others
    )


def with_suspended(
    verdict: Verdict,
    note: Note,
    ends_at: datetime | None,
    facts: Mapping[str, Fact],
    beside: Iterable[Neighbour],
    over_ids: Collection[str],
) -> Verdict:
    """The verdict of a note with an end: what it would end and only suspends stays, as it says.

    Args:
        verdict: what ``decide`` concluded.
        note: the note.
        ends_at: its end (UTC); None for a lasting note, of which the verdict stays as it is.
        facts: the facts that it was compared with, by id.
        beside: those that it was not decided on, from ``standing_beside``.
        over_ids: the facts that are over, as a model says.
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
