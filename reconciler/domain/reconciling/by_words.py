"""The rules of words: what a note takes back or names as over. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reconciler.domain.gate.classification import is_permission, is_withdrawal
from reconciler.domain.guard import (
    answers_anew,
    are_in_order,
    denial_in,
    ends,
    exchange_names,
    find_changes,
    is_said_of_another,
    is_wording_of,
    moves_another,
    names_before,
    rewords,
    says_beside,
    share_more_than,
    takes_back,
    tells_of_change,
)
from reconciler.domain.reconciling.neighbours import are_filed_apart, match_of
from reconciler.domain.reconciling.verdicts import Rule, RuleInput, cosine_of, unlike, update
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.findings import Difference
from reconciler.domain.records.kinds import OWN_WORDS, Action, DecidedBy
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import SlotMatch

_OF_PERMISSIONS = (
    "consent permission okay agree allow use share send keep pass give contact want no"
)
"""Words of any permission, which do not say what is permitted."""

_CHANGE_COSINE_MIN = 0.3
"""Below it a note ends nothing by its words: too little says that both are about one thing."""

TAKES_BACK = "it takes back the permission"
"""How the reason begins where a head over vectors read it, which no replay has."""

_WORDING_COSINE_MIN = 0.6
"""Below it the same words need not be about one thing. Source: benchmarks/natural.py."""


def _by_retraction(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    """A fact that the note takes back ends, at any cosine; a guess takes back nothing."""
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


def _by_change(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    """A fact ends if the note says that it changed, and names all that the fact says."""
    if not seen.policy.guard or note.is_hedged:
        return None
    names = (note.contact_name, note.scope.contact_id)
    near = [
        fact
        for fact in seen.neighbours
        if fact.cosine >= _CHANGE_COSINE_MIN and match_of(note, fact) is not SlotMatch.APART
        if fact.fact_id in seen.taken_back or not is_said_of_another(note.text, fact.text, names)
    ]
    over = [fact for fact in near if fact.fact_id in seen.taken_back or _is_over(note, fact)]
    if not over:
        return None
    targets = (
        *over,
        *(fact for fact in near if fact not in over and _ends_too(note, fact, over, seen)),
    )
    quoted = f'"{targets[0].text}"'
    return Verdict(
        action=Action.UPDATE,
        decided_by=DecidedBy.CHANGE,
        reason=f"{TAKES_BACK} {quoted}"
        if targets[0].fact_id in seen.taken_back
        else f"it says that {quoted} is over",
        targets=targets,
        can_be_arbitrated=seen.is_asked or targets[0].cosine >= seen.policy.cosine_add_max,
    )


def _is_over(note: Note, fact: Neighbour) -> bool:
    if ends(note.text, fact.text) or _is_named_as_before(note, fact):
        return True
    if _is_taken_back(note, fact):
        return True
    if not tells_of_change(note.text):
        return False
    return answers_anew(note.text, fact.text, find_changes(note.text, fact.text))


def _is_taken_back(note: Note, fact: Neighbour) -> bool:
    """Whether a person who may speak for the contact takes back the permission that the fact is."""
    return (
        note.trust in OWN_WORDS
        and is_withdrawal(note.text)
        and is_permission(fact.text)
        and share_more_than(_OF_PERMISSIONS, note.text, fact.text)
    )


def _ends_too(note: Note, fact: Neighbour, over: Iterable[Neighbour], seen: RuleInput) -> bool:
    """Whether the fact only says in other words what the note ends."""
    told = {
        "is_near": fact.cosine >= seen.policy.cut,
        "is_contradicted": bool(find_changes(note.text, fact.text)),
    }
    return any(is_wording_of(fact.text, ended.text, note.text, **told) for ended in over)


def _by_wording(note: Note, seen: RuleInput, _: Verdict | None) -> Verdict | None:
    """A note with all the words of a fact and no others restates it, below a synonym's cosine."""
    if not seen.policy.guard:
        return None
    for fact in seen.replaceable:
        if fact.cosine >= _WORDING_COSINE_MIN and _is_again(note, fact, seen):
            reason = f"{cosine_of(fact)}, and it says the same in the same words"
            again = update(DecidedBy.THRESHOLD, fact, reason, is_restatement=True)
            is_open = seen.is_asked or fact.cosine >= seen.policy.cosine_add_max
            return replace(again, can_be_arbitrated=is_open)
    return None


def _is_again(note: Note, fact: Neighbour, seen: RuleInput) -> bool:
    if are_filed_apart(note, fact) or not rewords(note.text, fact.text):
        return False
    if exchange_names(note.text, fact.text):
        return False
    findings = unlike(note, fact, seen.policy, seen.unread)
    has_moved = [each for each in findings if each.kind is Difference.ROLES]
    return len(has_moved) == len(findings) and (not has_moved or are_in_order(note.text, fact.text))


def _is_named_as_before(note: Note, fact: Neighbour) -> bool:
    """Whether the note names the fact's value as the one before, and the fact says little more."""
    slot = fact.slot
    if slot is None or slot.value is None or not names_before(note.text, slot.value_key or ""):
        return False
    if moves_another(note.text, fact.text):
        return False
    return len(says_beside(fact.text, note.text, slot.value)) <= 1


RETRACTION = Rule(
    decided_by="retraction",
    when="the note calls a fact a mistake, and denies that fact and no more",
    what="REVOKE: the fact was never true, and nothing takes its place",
    apply=_by_retraction,
)
CHANGE = Rule(
    decided_by="change",
    when='the note says that something has changed, and names everything that a fact says ("sold '
    'the van", "no longer uses Zendesk")',
    what="UPDATE, from a cosine of 0.3 up",
    why="The note says that it is a change, and names the fact before.",
    apply=_by_change,
)
WORDING = Rule(
    decided_by="threshold",
    when="a fact has the same words in another order or form, and the guard finds no difference",
    what="UPDATE, from a cosine of 0.6 up, as a restatement",
    apply=_by_wording,
)
