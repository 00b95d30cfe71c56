"""The rules of the text alone. Pure.

By the cosine: above the band, below it, and within it without a judge. By words: facts that a note
takes back, or says have ended.
"""

from __future__ import annotations

from dataclasses import replace

from reconciler.domain.reconciling.verdicts import (
    LINK_COSINE_MIN,
    Rule,
    RuleInput,
    Ruling,
    add,
    are_filed_apart,
    cosine_of,
    kept_apart,
    listed,
    match_of,
    may_both_hold,
    unlike,
    update,
)
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import OWN_WORDS, Action, DecidedBy
from reconciler.domain.records.notes import Note, SlotMatch
from reconciler.reading.cues.classification import is_permission, is_withdrawal
from reconciler.reading.findings import Difference
from reconciler.reading.guard import (
    OF_PERMISSIONS,
    answers_anew,
    are_in_order,
    denial_in,
    ends,
    find_changes,
    has_many_other_words,
    is_said_of_another,
    leaves_words_out,
    moves_another,
    names_before,
    replaces_a_word,
    rewords,
    says_beside,
    share_more_than,
    takes_back,
    tells_of_change,
)
from reconciler.reading.question_words import as_told


def _again(note: Note, seen: RuleInput) -> Ruling:
    same, least = _restated(note, seen), seen.policy.cosine_update_min
    if same is None:
        return None
    which = "nearest" if same is seen.nearest else "another"
    reason = f"{which} fact at {same.cosine:.3f}, at or above {least:g}"
    return update(DecidedBy.THRESHOLD, same, reason, is_restatement=True)


def _far(note: Note, seen: RuleInput) -> Ruling:
    bound, is_open = seen.policy.cosine_add_max, seen.is_asked
    if not seen.replaceable:
        reason = "no fact about this contact that it could replace"
        return _left_open(add(DecidedBy.THRESHOLD, reason), is_open=is_open)
    if seen.nearest.cosine >= bound:
        return None
    beside = _beside(note, seen, DecidedBy.THRESHOLD, f"below {bound:g}")
    return _left_open(beside, is_open=is_open)


def _below_the_cut(note: Note, seen: RuleInput) -> Ruling:
    cut = seen.policy.cut
    if seen.nearest.cosine >= cut:
        return None
    return _left_open(_beside(note, seen, DecidedBy.MIDPOINT, f"below the cut {cut:g}"))


def _filed_apart(note: Note, seen: RuleInput) -> Ruling:
    nearest = seen.nearest
    if not are_filed_apart(note, nearest):
        return None
    # One answer to two questions, such as a consent to either, leaves nothing to ask.
    values = {slot.value_key for slot in (note.slot, nearest.slot) if slot}
    is_asked = len(values - {None}) > 1 and not may_both_hold(note, nearest)
    reason = f"{cosine_of(nearest)}, yet filed under another attribute"
    return _left_open(
        replace(add(DecidedBy.MIDPOINT, reason), conflicts=(nearest,) if is_asked else ())
    )


def _unlike_the_nearest(note: Note, seen: RuleInput) -> Ruling:
    nearest = seen.nearest
    findings = unlike(note, nearest, seen)
    apart = kept_apart(note, nearest, findings, cosine_of(nearest))
    return _left_open(apart) if findings else None


def _leaving_words_out(note: Note, seen: RuleInput) -> Ruling:
    nearest = seen.nearest
    texts = note.text, nearest.text
    if not seen.policy.guard:
        return None
    if replaces_a_word(*texts):
        why = "the note has another word for the thing or the direction"
    elif leaves_words_out(*texts):
        why = "it has words that the note leaves out"
    else:
        return None
    return _left_open(add(DecidedBy.GUARD, f"{cosine_of(nearest)}, yet {why}"))


def _above_the_cut(_note: Note, seen: RuleInput) -> Ruling:
    nearest = seen.nearest
    reason = f"{cosine_of(nearest)}, at or above the cut {seen.policy.cut:g}"
    return _left_open(update(DecidedBy.MIDPOINT, nearest, reason, is_restatement=False))


def _left_open(verdict: Verdict, *, is_open: bool = True) -> Verdict:
    """Mark the verdict as valid until a judge says otherwise."""
    return replace(verdict, can_be_arbitrated=is_open)


def _restated(note: Note, seen: RuleInput) -> Neighbour | None:
    """The nearest fact above the band in which the guard finds no difference.

    If "invoice 1042" and "invoice 1043" are both known, a repetition of one may be nearer to the
    other.
    """
    for fact in seen.replaceable:
        is_near = fact.cosine >= seen.policy.cosine_update_min
        if not is_near or are_filed_apart(note, fact) or unlike(note, fact, seen):
            continue
        texts = note.text, fact.text
        if not seen.policy.guard or not (has_many_other_words(*texts) or replaces_a_word(*texts)):
            return fact
    return None


def _beside(note: Note, seen: RuleInput, decided_by: DecidedBy, where: str) -> Verdict:
    """Below the cut a note is new; facts that it seems to contradict are linked to it."""
    changes = {
        candidate: findings
        for candidate in seen.replaceable
        if seen.policy.guard
        and candidate.cosine >= min(LINK_COSINE_MIN, seen.policy.cosine_add_max)
        and (findings := find_changes(note.text, candidate.text))
        and not may_both_hold(note, candidate)
    }
    findings = next(iter(changes.values()), ())
    reason = f"{cosine_of(seen.nearest)}, {where}{listed(findings)}"
    return replace(add(decided_by, reason), conflicts=tuple(changes), findings=findings)


AGAIN = Rule(
    "threshold",
    "the nearest other fact is at or above 0.95 and the guard finds no difference",
    "UPDATE: the new fact gets a `SUPERSEDES` link to the old one, which ends",
    apply=_again,
    is_linked=True,
)

FAR = Rule(
    "threshold",
    "the nearest other fact is below 0.80, or no other fact exists",
    "ADD, linked if one text contradicts the other",
    apply=_far,
    is_linked=True,
)

BELOW = Rule(
    "midpoint",
    "it is below 0.875",
    "ADD, linked if one text contradicts the other",
    apply=_below_the_cut,
    is_linked=True,
)

UNLIKE = Rule(
    "guard",
    "the guard finds a difference",
    "ADD, linked by `CONFLICTS_WITH` if they cannot both hold",
    why="The guard found a difference that makes them two facts, so both are kept.",
    apply=_unlike_the_nearest,
    is_linked=True,
)

LEFT_OUT = Rule(
    "guard",
    "the note leaves out words of the fact: several, or one with another in its place",
    "ADD, beside the fact",
    apply=_leaving_words_out,
    is_linked=True,
)

FILED_APART = Rule(
    "midpoint",
    "the caller gave the note another attribute than the fact's",
    "ADD, linked by `CONFLICTS_WITH` if the values differ and both may answer one question",
    apply=_filed_apart,
    is_linked=True,
)

ABOVE = Rule(
    "midpoint",
    "otherwise, from 0.875 up",
    "UPDATE",
    apply=_above_the_cut,
    is_linked=True,
)

_CHANGE_COSINE_MIN = 0.3
"""Below this cosine a note ends no fact by its words, because the two may be about different
things."""

TAKES_BACK = "it takes back the permission"
"""How the reason begins if a head over vectors read the note; a replay has no such head."""

_WORDING_COSINE_MIN = 0.6
"""Below this cosine the same words may be about different things. Source: benchmarks/natural.py."""


def _by_retraction(note: Note, seen: RuleInput) -> Ruling:
    """A fact that the note takes back ends, at any cosine; a guess cannot take back a fact."""
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
        Action.UPDATE,
        DecidedBy.RETRACTION,
        "it takes back what was said before",
        targets=targets,
    )


def _by_change(note: Note, seen: RuleInput) -> Ruling:
    """A fact ends if the note says that it changed, and names all that the fact says."""
    if not seen.policy.guard or note.is_hedged:
        return None
    near = [
        fact
        for fact in seen.neighbours
        if fact.cosine >= _CHANGE_COSINE_MIN and match_of(note, fact) is not SlotMatch.APART
        if fact.fact_id in seen.taken_back
        or not is_said_of_another(note.text, fact.text, note.called)
    ]
    over = [fact for fact in near if fact.fact_id in seen.taken_back or _is_over(note, fact)]
    if not over:
        return None
    quoted = f'"{over[0].text}"'
    return Verdict(
        Action.UPDATE,
        DecidedBy.CHANGE,
        f"{TAKES_BACK} {quoted}"
        if over[0].fact_id in seen.taken_back
        else f"it says that {quoted} has ended",
        targets=tuple(over),
        can_be_arbitrated=seen.is_asked or over[0].cosine >= seen.policy.cosine_add_max,
    )


def _is_over(note: Note, fact: Neighbour) -> bool:
    if ends(note.text, fact.text) or _is_named_as_before(note, fact):
        return True
    # A person who may speak for the contact takes back the permission that the fact is.
    if (
        note.trust in OWN_WORDS
        and is_withdrawal(note.text)
        and is_permission(fact.text)
        and share_more_than(OF_PERMISSIONS, note.text, fact.text)
    ):
        return True
    if not tells_of_change(note.text):
        return False
    return answers_anew(note.text, fact.text, find_changes(note.text, fact.text))


def _by_wording(note: Note, seen: RuleInput) -> Ruling:
    """A note with all the words of a fact and no others restates it, below a synonym's cosine.

    At any cosine if the words are the same, and only the contact is "I" in one of them.
    """
    if not seen.policy.guard:
        return None
    for fact in seen.neighbours:
        is_other = fact.text == note.text or match_of(note, fact) is SlotMatch.APART
        if is_other or are_filed_apart(note, fact):
            continue
        if as_told(fact.text, note.called) == as_told(note.text, note.called):
            reason = f"{cosine_of(fact)}, and it says the same of the contact"
            return update(DecidedBy.THRESHOLD, fact, reason, is_restatement=True)
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
    kinds = {finding.kind for finding in unlike(note, fact, seen)}
    return kinds <= {Difference.ROLES} and (not kinds or are_in_order(note.text, fact.text))


def _is_named_as_before(note: Note, fact: Neighbour) -> bool:
    """True if the note names the fact's value as the one before, and the fact says little more."""
    slot = fact.slot
    if slot is None or slot.value is None or not names_before(note.text, slot.value_key or ""):
        return False
    if moves_another(note.text, fact.text):
        return False
    return len(says_beside(fact.text, note.text, slot.value)) <= 1


RETRACTION = Rule(
    "retraction",
    "the note calls a fact a mistake, and denies exactly that fact",
    "REVOKE: the fact was never true, and nothing takes its place",
    apply=_by_retraction,
)

CHANGE = Rule(
    "change",
    "the note says that something has changed, and names the whole content of a fact "
    '("sold the van", "no longer uses Zendesk")',
    "UPDATE, from a cosine of 0.3 up",
    why="The note says that it is a change, and names the fact before.",
    apply=_by_change,
)

WORDING = Rule(
    "threshold",
    "a fact has the same words in another order or form, and the guard finds no difference",
    'UPDATE, from a cosine of 0.6 up, as a restatement; at any cosine if one says "I" '
    'and the other "the contact"',
    apply=_by_wording,
)
