"""The facts that a judge is shown, and the part of its answer that is let through. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.guard import is_english, tells_of_change
from reconciler.domain.reconciling.neighbours import match_of
from reconciler.domain.reconciling.verdicts import live_first
from reconciler.domain.records.decisions import ACTIONS_OF_RELATION, Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.slots import CONTACT_SUBJECT, SlotMatch
from reconciler.errors import ArbiterAnswerError

CANDIDATE_COUNT_MAX = 5
"""Facts that an arbiter is shown. Of the real updates in LongMemEval, 98.6 % have the right
neighbour among the first three, and none has it after the fifth."""

_REACH_OF_CHANGE = 0.5
"""The reach for a note that says it is a change, as a share of the usual reach. Source:
benchmarks/natural.py, where half of the changes below the reach lie above half of it. It also holds
for a note that is not in English: no word tells there whether it is a change, and the cosine tells
less (benchmarks/languages.py)."""

_NEAR_COUNT, _ALIKE_COUNT = 3, 2
"""Places reserved among the shown facts: for nearness, and for shared words or slot."""


def replaceable(note: Note, neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """The five nearest neighbours that the note could replace: live ones first, by nearness.

    A lapsed fact counts by its nearness, so that a note that repeats it finds it among any number
    of live ones. A fact about another subject, or another value of an attribute that holds many,
    cannot be replaced.
    """
    beside = (SlotMatch.APART, SlotMatch.OPEN)
    neighbours_fit = [
        neighbour for neighbour in neighbours if match_of(note, neighbour) not in beside
    ]
    return live_first(neighbours_fit[:CANDIDATE_COUNT_MAX])


def shown_to_judge(
    note: Note, neighbours: Iterable[Neighbour] | None, policy: ReconcilePolicy
) -> list[Neighbour]:
    """The facts that an arbiter is asked about, at most five: live ones first, by nearness.

    Three are near in meaning, two share the note's words or attribute, and others of both kinds
    fill the places that are left. Without a reach they are those that the note could replace. A
    note with a slot is never compared with a fact about another person.

    Args:
        note: the note.
        neighbours: as ``decide`` takes them.
        policy: ``reach`` is the least cosine of a near fact.
    """
    if policy.reach is None or neighbours is None:
        return replaceable(note, neighbours or ())
    ordered = live_first(fact for fact in neighbours if not _is_anothers(note, fact))
    may_change = tells_of_change(note.text) or not is_english(note.text)
    reach = policy.reach * _REACH_OF_CHANGE if may_change else policy.reach
    near = [fact for fact in ordered if fact.cosine >= reach]
    alike = [fact for fact in ordered if fact.shares_words or _answers_same(note, fact)]
    chosen = [*dict.fromkeys((*near[:_NEAR_COUNT], *alike[:_ALIKE_COUNT], *near, *alike))]
    kept = chosen[:CANDIDATE_COUNT_MAX]
    return [fact for fact in ordered if fact in kept]


def _is_anothers(note: Note, fact: Neighbour) -> bool:
    """Whether the caller filed the note under another subject than the fact's."""
    is_given = note.slot is not None and note.slot_read_from is None
    subject = fact.slot.subject if fact.slot else CONTACT_SUBJECT
    return is_given and note.slot is not None and note.slot.subject != subject


def _answers_same(note: Note, fact: Neighbour) -> bool:
    """Whether both have the same attribute, whatever their subjects."""
    if note.slot is None or fact.slot is None or note.slot.attribute is None:
        return False
    return note.slot.attribute == fact.slot.attribute


def check_judgement(judgement: Judgement, neighbour_count: int) -> None:
    """Check that an arbiter's answer makes sense.

    Raises:
        ArbiterAnswerError: the relation and the action disagree, or the target is not one of the
            neighbours that were shown.
    """
    if judgement.action not in ACTIONS_OF_RELATION[judgement.relation]:
        raise ArbiterAnswerError(f"it says {judgement.relation} and yet {judgement.action}")
    numbers = (judgement.target, *judgement.also)
    if judgement.action is Action.ADD:
        is_suspected = judgement.relation is Relation.UNSURE and judgement.target is not None
        numbers = (judgement.target,) if is_suspected else ()
    for number in numbers:
        if type(number) is not int or not 1 <= number <= neighbour_count:
            raise ArbiterAnswerError(
                f"{judgement.action} of fact {number}, but {neighbour_count} were shown"
            )
