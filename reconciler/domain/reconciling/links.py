"""The links of a new fact: what a reader would ask about. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from reconciler.domain.guard import answer_one_question, says_it_changed
from reconciler.domain.reconciling.neighbours import match_of, may_both_hold
from reconciler.domain.reconciling.verdicts import LINK_COSINE_MIN, RuleInput, denials_of
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import CONTACT_SUBJECT, SlotMatch


def _owning_to(note: Note, seen: RuleInput, verdict: Verdict) -> Verdict | None:
    """The verdict of a cosine, its reason saying how much of the note the model could not read."""
    unread = seen.unread(note.text)
    if not unread:
        return None
    share = len(unread) / max(1, sum(map(str.isalnum, note.text)))
    how = f"; the embedding model could not read {min(share, 1):.0%} of the note"
    return replace(verdict, reason=verdict.reason + how)


def _with_denied(note: Note, seen: RuleInput, verdict: Verdict) -> Verdict | None:
    """A note without a value ends nothing; what it denies in its own slot is linked to it."""
    if note.slot is None or note.slot.value_key is not None or verdict.action is not Action.ADD:
        return None
    denied = tuple(
        neighbour
        for neighbour in seen.neighbours
        if neighbour.slot
        and (neighbour.slot.subject, neighbour.slot.attribute)
        == (note.slot.subject, note.slot.attribute)
        and neighbour not in verdict.conflicts
        and denials_of(note, neighbour, seen.policy)
    )
    return replace(verdict, conflicts=verdict.conflicts + denied) if denied else None


def _with_open(note: Note, seen: RuleInput, verdict: Verdict) -> Verdict | None:
    """A note beside other values of an attribute of which nothing says how many it holds.

    Only a reader can tell whether they still hold, so without one they are linked.
    """
    if verdict.action is not Action.ADD or not seen.policy.guard or note.slot is None:
        return None
    others = tuple(
        fact
        for fact in seen.neighbours
        if match_of(note, fact) is SlotMatch.OPEN
        and not fact.is_expired
        and fact not in verdict.conflicts
    )
    if not others:
        return None
    values = ", ".join(fact.slot.shown_value or "" for fact in others if fact.slot)
    what = f"{note.slot.subject}'s {note.slot.attribute} was {values}, and both may hold"
    return replace(
        verdict,
        reason=f"{verdict.reason}; {what}",
        conflicts=verdict.conflicts + others,
        can_be_arbitrated=True,
    )


def _with_changed(note: Note, seen: RuleInput, verdict: Verdict) -> Verdict | None:
    """A note that says it is a change is linked to the nearest fact about the same matter."""
    if verdict.action is not Action.ADD or verdict.conflicts or not seen.policy.guard:
        return None
    matter = _matter(note)
    for fact in seen.neighbours:
        if fact.is_expired:
            continue
        if says_it_changed(matter, fact.text, fact.cosine):
            why = f'it says that it is a change, maybe of "{fact.text}"'
        elif fact.cosine >= LINK_COSINE_MIN and answer_one_question(note.text, fact.text):
            why = f'it answers the question that "{fact.text}" answers'
        else:
            continue
        if match_of(note, fact) is not SlotMatch.APART and not may_both_hold(note, fact):
            return replace(verdict, reason=f"{verdict.reason}; {why}", conflicts=(fact,))
    return None


def _matter(note: Note) -> str:
    """The note without the name of whom it is about: that two facts share it is no matter."""
    if note.slot is None or note.slot.subject == CONTACT_SUBJECT:
        return note.text
    return re.sub(re.escape(note.slot.subject), "", note.text, flags=re.IGNORECASE)


LINKS = (_owning_to, _with_denied, _with_open, _with_changed)
"""The links of a note that a cosine decided about, and the words for them, in order."""
