"""The rules of words: what a note takes back, names as over, or says in the same words. Pure."""

from __future__ import annotations

from dataclasses import replace

from reconciler.domain.guard import (
    answers_anew,
    denial_in,
    ends,
    find_changes,
    say_the_same_words,
    takes_back,
)
from reconciler.domain.reconciling.judging import replaceable
from reconciler.domain.reconciling.neighbours import match_of
from reconciler.domain.reconciling.verdicts import Rule, Seen, cosine_of, unlike, update
from reconciler.domain.records.decisions import Action, DecidedBy, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import SlotMatch

__all__ = ["CHANGE", "RETRACTION", "SAME_WORDS"]

_CHANGE_COSINE_MIN = 0.3
"""Below it a note ends nothing by its words: too little says that both are about one thing."""

_SAME_WORDS_MIN = 0.6
"""From here on two statements of the same words are one. Source: benchmarks/natural.py; below it
sentences whose few shared words say different things."""


def _by_retraction(note: Note, seen: Seen, _: Verdict | None) -> Verdict | None:
    """What a note takes back ends, however far its words are; a guess takes back nothing."""
    if not seen.policy.guard or note.is_hedged or denial_in(note.text) is None:
        return None
    targets = tuple(
        fact
        for fact in seen.neighbours
        if match_of(note, fact) is not SlotMatch.APART and takes_back(note.text, fact.text)
    )
    if not targets:
        return None
    return Verdict(
        action=Action.UPDATE,
        decided_by=DecidedBy.RETRACTION,
        reason="it takes back what was said before",
        targets=targets,
    )


def _by_change(note: Note, seen: Seen, _: Verdict | None) -> Verdict | None:
    """What a note says is otherwise now ends, where it names all that the fact says."""
    if not seen.policy.guard or note.is_hedged:
        return None
    near = [
        fact
        for fact in seen.neighbours
        if fact.cosine >= _CHANGE_COSINE_MIN and match_of(note, fact) is not SlotMatch.APART
    ]
    targets = tuple(fact for fact in near if _is_over(note, fact))
    if not targets:
        return None
    return Verdict(
        action=Action.UPDATE,
        decided_by=DecidedBy.CHANGE,
        reason=f'it says that "{targets[0].text}" is over',
        targets=targets,
        can_be_arbitrated=seen.is_asked or targets[0].cosine >= seen.policy.cosine_add_max,
    )


def _is_over(note: Note, fact: Neighbour) -> bool:
    if ends(note.text, fact.text):
        return True
    return answers_anew(note.text, fact.text, find_changes(note.text, fact.text))


def _in_the_same_words(note: Note, seen: Seen, _: Verdict | None) -> Verdict | None:
    policy = seen.policy
    if not policy.guard:
        return None
    for fact in replaceable(note, seen.neighbours):
        is_near = _SAME_WORDS_MIN <= fact.cosine < policy.cosine_update_min
        if (
            is_near
            and say_the_same_words(note.text, fact.text)
            and not unlike(note, fact, policy, seen.unread)
        ):
            reason = f"{cosine_of(fact)}, and both say the same words"
            verdict = update(DecidedBy.THRESHOLD, fact, reason, is_restatement=True)
            is_in_band = fact.cosine >= policy.cosine_add_max
            return replace(verdict, can_be_arbitrated=seen.is_asked or is_in_band)
    return None


RETRACTION = Rule(
    decided_by="retraction",
    when="the note says that it was a mistake to say what a fact says, and denies that and no more",
    what="REVOKE: the fact was never true, and nothing takes its place",
    apply=_by_retraction,
)
CHANGE = Rule(
    decided_by="change",
    when='the note says that something has changed, and names all that a fact says ("sold the '
    'van", "no longer uses Zendesk")',
    what="UPDATE, from a cosine of 0.3 up",
    why="The note says that it is a change, and names what was before.",
    apply=_by_change,
)
SAME_WORDS = Rule(
    decided_by="threshold",
    when="two plain statements, from 0.6 up, have the same words of content",
    what="UPDATE, a restatement",
    apply=_in_the_same_words,
    is_linked=True,
)
