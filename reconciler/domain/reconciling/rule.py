"""The rule: what becomes of a note, in two tables. Pure; no graph, model or clock.

The rules of a model that read note and facts: the agent, the extractor, a judge. Pure.

Also the facts that a judge is shown, and the part of its answer that is let through.

The rules of the text alone. Pure.

By the cosine: above the band, below it, and within it without a judge. By words: what a note takes
back or names as over.

The rule of a slot: the same question about the same subject. Pure.

Which facts a note speaks of; a model is believed about no others. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain

from reconciler.domain.reconciling.limits import by_matter, by_standing, within_limits
from reconciler.domain.reconciling.verdicts import (
    DENIALS,
    LINK_COSINE_MIN,
    LINKS,
    Findings,
    Rule,
    RuleInput,
    RuleRow,
    Unread,
    add,
    all_read,
    are_filed_apart,
    are_of_several_matters,
    changes_of,
    cosine_of,
    denials_of,
    differences_of,
    is_conflict,
    kept_apart,
    listed,
    live_first,
    losses_of,
    match_of,
    may_both_hold,
    named_of,
    news_of,
    sparing,
    unlike,
    update,
    with_value_named,
    without_loss,
)
from reconciler.domain.records.decisions import ACTIONS_OF_RELATION, Judgement, Verdict
from reconciler.domain.records.facts import Fact, Neighbour, Relations
from reconciler.domain.records.kinds import OWN_WORDS, Action, DecidedBy, Relation
from reconciler.domain.records.notes import (
    CONTACT_SUBJECT,
    Note,
    Slot,
    SlotMatch,
    compare_slots,
)
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError
from reconciler.reading.cues.classification import is_permission, is_withdrawal
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.guard import (
    adds_a_statement,
    answers_anew,
    are_in_order,
    are_of_other_people,
    denial_in,
    denies_value,
    differ_beside,
    differ_in_head,
    ends,
    exchange_names,
    find_changes,
    find_left_out,
    has_many_other_words,
    is_english,
    is_over,
    is_repeated_in,
    is_said_of_another,
    is_wording_of,
    leaves_a_clause_out,
    leaves_a_denial_out,
    leaves_words_out,
    moves_another,
    names_before,
    replaces_a_word,
    rewords,
    said_plainly,
    says_beside,
    says_it_changed,
    says_more_than,
    share_more_than,
    stems_of,
    takes_back,
    tell_of_two_things,
    tells_of_change,
    tells_of_more,
    without_start,
)
from reconciler.reading.guard.reading import read
from reconciler.reading.sensitive_data import TOKEN


def holders_of(slot: Slot, facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Facts that hold a slot's value, and those of its attribute that hold another value.

    A fact may hold it under another name of a caller's own, or in fewer or more words: "Bangalore"
    and "Bangalore, India". A slot without a value means the only fact of its attribute. If several
    may be meant, none is.

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


def by_slot(note: Note, seen: RuleInput) -> Verdict | None:
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
) -> Verdict | None:
    """Verdict by two values of one slot, before anyone is asked."""
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
    """True if a verdict leaves open if a note of a fact's value says that the value holds."""
    is_open = verdict.action is Action.ADD and verdict.decided_by is DecidedBy.SLOT
    return is_open and compare_slots(note.slot, fact.slot) is SlotMatch.EQUAL


def _leaves_open(note: Note, fact: Neighbour, *, is_state: bool) -> bool:
    """True if a note of a fact's value may say that the value has ended, or was never true.

    It does not if a clause has only words of the fact, and denies nothing. It may if it denies
    something that the fact does not deny, if its meaning is not that of a plain statement, or if it
    tells of a change and names nothing that the fact says, or denies the opposite.
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

    He or she is not the contact, two events have a date each, and a word more before "is" or behind
    "for" is another thing.
    """
    values = [slot.value or "" for slot in (note.slot, fact.slot) if slot]
    if are_of_other_people(note.text, fact.text):
        return True
    match, texts = compare_slots(note.slot, fact.slot), (note.text, fact.text)
    if match is SlotMatch.CHANGED:  # each value has its own start
        texts = without_start(note.text), without_start(fact.text)
    if tell_of_two_things(*texts, *values):
        return True
    if match is SlotMatch.CHANGED and differ_in_head(note.text, fact.text):
        return True
    if match is SlotMatch.EQUAL and note.slot is not None and not note.slot.is_single_valued:
        return bool(_beside_slot(fact, note) and _beside_slot(note, fact))
    return False


def _beside_slot(one: Note | Neighbour, other: Note | Neighbour) -> frozenset[str]:
    """Words that only one text has beside its slot."""
    slots = [slot for slot in (one.slot, other.slot) if slot]
    said = [said for slot in slots for said in (slot.value or "", slot.attribute or "")]
    texts = (_with_value(one), _with_value(other))
    return says_beside(*texts, *(each.replace("_", " ") for each in said))


def _with_value(told: Note | Neighbour) -> str:
    """Text, its slot's value in the place of what stands for it there."""
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
    """Why facts of another value may hold beside the note; empty where nothing says so."""
    if changed and tells_of_more(note.text):
        return 'yet an "also" says that both may hold'
    if are_of_several_matters(changed):
        return "yet it does not say which of several is meant"
    return ""


def _sparing_details(
    note: Note, again: Sequence[Neighbour], verdict: Verdict, policy: ReconcilePolicy
) -> Verdict:
    """Verdict of a slot, less those facts of the same value that would lose other details.

    Such a fact says more than the note, or gives another date, number or name beside the value.
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

    A name alone is none, unless the note only leaves it out: "Moved from Pune to Bangalore", then
    "Lives in Bangalore".
    """
    losses = losses_of(note, fact)
    has_value = any(loss.kind is not Difference.NAME for loss in losses)
    return has_value or (bool(losses) and is_repeated_in(note.text, fact.text))


def _differ_beside(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Differences of a note of the same value: another date, number or name, or other things."""
    values = [slot.value or "" for slot in (note.slot, fact.slot) if slot]
    findings = tuple(
        difference
        for difference in differences_of(note, fact, policy)
        if difference.kind is not Difference.SUBJECT and differ_beside(difference, *values)
    )
    return findings + find_left_out(note.text, fact.text) if policy.guard else ()


def _refutations(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Why a note of the same value does not say the fact again: it denies it, or counts otherwise.

    Of two counts of one thing the later one holds.
    """
    note, value = with_value_named(note), (note.slot and note.slot.value) or ""
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


def _again(note: Note, seen: RuleInput) -> Verdict | None:
    same, least = _restated(note, seen), seen.policy.cosine_update_min
    if same is None:
        return None
    which = "nearest" if same is seen.nearest else "another"
    reason = f"{which} fact at {same.cosine:.3f}, at or above {least:g}"
    return update(DecidedBy.THRESHOLD, same, reason, is_restatement=True)


def _far(note: Note, seen: RuleInput) -> Verdict | None:
    bound, is_open = seen.policy.cosine_add_max, seen.is_asked
    if not seen.replaceable:
        reason = "no fact about this contact that it could replace"
        return _left_open(add(DecidedBy.THRESHOLD, reason), is_open=is_open)
    if seen.nearest.cosine >= bound:
        return None
    beside = _beside(note, seen, DecidedBy.THRESHOLD, f"below {bound:g}")
    return _left_open(beside, is_open=is_open)


def _below_the_cut(note: Note, seen: RuleInput) -> Verdict | None:
    cut = seen.policy.cut
    if seen.nearest.cosine >= cut:
        return None
    return _left_open(_beside(note, seen, DecidedBy.MIDPOINT, f"below the cut {cut:g}"))


def _filed_apart(note: Note, seen: RuleInput) -> Verdict | None:
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


def _unlike_the_nearest(note: Note, seen: RuleInput) -> Verdict | None:
    nearest = seen.nearest
    findings = unlike(note, nearest, seen)
    apart = kept_apart(note, nearest, findings, cosine_of(nearest))
    return _left_open(apart) if findings else None


def _leaving_words_out(note: Note, seen: RuleInput) -> Verdict | None:
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


def _above_the_cut(_note: Note, seen: RuleInput) -> Verdict | None:
    nearest = seen.nearest
    reason = f"{cosine_of(nearest)}, at or above the cut {seen.policy.cut:g}"
    return _left_open(update(DecidedBy.MIDPOINT, nearest, reason, is_restatement=False))


def _left_open(verdict: Verdict, *, is_open: bool = True) -> Verdict:
    """Verdict as what stands until a judge says otherwise."""
    return replace(verdict, can_be_arbitrated=is_open)


def _restated(note: Note, seen: RuleInput) -> Neighbour | None:
    """Nearest fact above the band that differs in nothing the guard can see.

    With "invoice 1042" and "invoice 1043" both on file, what is said of the one again may well be
    nearer to the other.
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
    """Below the cut a note is new; what it seems to contradict is linked to it."""
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


def _by_retraction(note: Note, seen: RuleInput) -> Verdict | None:
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
        Action.UPDATE,
        DecidedBy.RETRACTION,
        "it takes back what was said before",
        targets=targets,
    )


def _by_change(note: Note, seen: RuleInput) -> Verdict | None:
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
        Action.UPDATE,
        DecidedBy.CHANGE,
        f"{TAKES_BACK} {quoted}"
        if targets[0].fact_id in seen.taken_back
        else f"it says that {quoted} has ended",
        targets=targets,
        can_be_arbitrated=seen.is_asked or targets[0].cosine >= seen.policy.cosine_add_max,
    )


def _is_over(note: Note, fact: Neighbour) -> bool:
    if ends(note.text, fact.text) or _is_named_as_before(note, fact):
        return True
    # A person who may speak for the contact takes back the permission that the fact is.
    if (
        note.trust in OWN_WORDS
        and is_withdrawal(note.text)
        and is_permission(fact.text)
        and share_more_than(_OF_PERMISSIONS, note.text, fact.text)
    ):
        return True
    if not tells_of_change(note.text):
        return False
    return answers_anew(note.text, fact.text, find_changes(note.text, fact.text))


def _ends_too(note: Note, fact: Neighbour, over: Iterable[Neighbour], seen: RuleInput) -> bool:
    """True if the fact only says in other words what the note ends."""
    told = {
        "is_near": fact.cosine >= seen.policy.cut,
        "is_contradicted": bool(find_changes(note.text, fact.text)),
    }
    return any(is_wording_of(fact.text, ended.text, note.text, **told) for ended in over)


def _by_wording(note: Note, seen: RuleInput) -> Verdict | None:
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
    findings = unlike(note, fact, seen)
    has_moved = [each for each in findings if each.kind is Difference.ROLES]
    return len(has_moved) == len(findings) and (not has_moved or are_in_order(note.text, fact.text))


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
    "UPDATE, from a cosine of 0.6 up, as a restatement",
    apply=_by_wording,
)


def _as_told(note: Note, seen: RuleInput) -> Verdict | None:
    """Verdict of a model that said what the note does to facts; None if it said nothing.

    A new value of the note's slot ends the others as well, unless the model said that they hold.
    """
    relations, related_by, policy = seen.relations, seen.related_by, seen.policy
    if relations is None:
        return None
    known = {fact.fact_id: fact for fact in seen.known or ()}
    if relations.repeats is not None:
        return _told_again(note, known[relations.repeats], related_by, policy)
    targets = tuple(known[fact_id] for fact_id in relations.ended_ids)
    if not targets:
        return None
    said = "it replaces a known fact" if relations.replaces else "a known fact has ended"
    findings = differences_of(note, targets[0], policy)
    verdict = Verdict(
        Action.UPDATE,
        related_by,
        f"the {related_by} says that {said}",
        targets=targets,
        findings=findings,
    )
    others = [fact for fact in known.values() if fact.fact_id not in relations.named_ids]
    by_slot = slot_alone(note, others, policy, is_state=seen.is_state)
    if by_slot is None or by_slot.action is not Action.UPDATE:
        return verdict
    # By themselves: that the note restates another value protects nothing that binds from it.
    told = by_matter(note, seen, verdict) or verdict
    told = by_standing(note, seen, told) or told
    return replace(
        by_slot,
        decided_by=related_by,
        reason=f"{told.reason}; {by_slot.reason}",
        targets=by_slot.targets + told.targets,
        conflicts=by_slot.conflicts + told.conflicts,
    )


def _told_again(
    note: Note, fact: Neighbour, related_by: DecidedBy, policy: ReconcilePolicy
) -> Verdict:
    """Note as one more observation of the fact that a model says it repeats.

    The same cannot hold another number, name or negation, no matter what the model says. If the
    fact says more ("and carries an adrenaline pen"), it stays; else the note takes its place. A
    note that then has a statement of its own ("and has asthma") is kept beside the fact.
    """
    reason = f"the {related_by} says that it repeats a known fact"
    if match_of(note, fact) in (SlotMatch.APART, SlotMatch.OPEN):
        return add(DecidedBy.GUARD, f"{reason}, yet it is filed as another matter")
    findings = differences_of(note, fact, policy)
    plain_note = replace(note, text=said_plainly(note.text, fact.text))
    plain_fact = replace(fact, text=said_plainly(fact.text, note.text))
    otherwise = differences_of(plain_note, plain_fact, policy)
    if _says_otherwise(plain_note, plain_fact, otherwise):
        return kept_apart(note, fact, findings, reason)
    says_less = bool(losses_of(note, fact)) or is_repeated_in(note.text, fact.text)
    says_less |= leaves_a_clause_out(note.text, fact.text) or says_more_than(fact.text, note.text)
    if says_less and adds_a_statement(note.text, fact.text):
        reason += ", yet each says something that the other does not"
        return replace(add(DecidedBy.GUARD, reason), findings=findings)
    is_dropped = says_less and not fact.word.is_trusted_less_than(note.trust)
    return Verdict(
        Action.SKIP if is_dropped else Action.UPDATE,
        related_by,
        reason,
        targets=(fact,),
        is_restatement=True,
        findings=findings,
    )


def _says_otherwise(note: Note, fact: Neighbour, findings: Iterable[Finding]) -> bool:
    """True if the note says something else than the fact, and does not only leave it out."""
    others = [each for each in findings if each.kind is not Difference.ROLES]
    denied = [each.in_fact for each in others if each.kind in DENIALS and not each.in_note]
    is_denied = bool(denied) and not leaves_a_denial_out(note.text, fact.text, " ".join(denied))
    return is_denied or any(each.in_note for each in others)


def _judged(note: Note, seen: RuleInput) -> Verdict | None:
    judgement, shown, policy, verdict = seen.judgement, seen.shown, seen.policy, seen.so_far
    if judgement is None or verdict is None or not verdict.can_be_arbitrated:
        return None
    if judgement.relation is Relation.UNSURE:
        return _suspected(judgement, shown, verdict)
    reason = f"the arbiter calls it {judgement.relation}"
    if judgement.action is Action.ADD or judgement.target is None:
        return add(DecidedBy.ARBITER, reason)
    target = shown[judgement.target - 1]
    findings = differences_of(note, target, policy)
    # The same cannot hold another number, name or negation, no matter what the arbiter says. Who
    # does what to whom an arbiter reads better than the guard, which sees only that words changed
    # places.
    if judgement.relation is Relation.SAME and any(
        finding.kind is not Difference.ROLES for finding in findings
    ):
        return kept_apart(note, target, findings, reason)
    # A SKIP drops the note: not its new details, and not a more trusted word.
    is_dropped = judgement.action is Action.SKIP and not (
        news_of(note, target, policy) or target.word.is_trusted_less_than(note.trust)
    )
    verdict = Verdict(
        Action.SKIP if is_dropped else Action.UPDATE,
        DecidedBy.ARBITER,
        reason + listed(findings),
        targets=(target,),
        is_restatement=judgement.relation is not Relation.REPLACES and not changes_of(findings),
        findings=findings,
    )
    if judgement.relation is Relation.SAME and verdict.is_restatement:
        verdict = without_loss(note, verdict, policy)
    if verdict.action is not Action.UPDATE:
        return verdict
    return replace(verdict, targets=(target, *_also_ended(note, judgement, shown, policy)))


def _suspected(
    judgement: Judgement, shown: Sequence[Neighbour], verdict: Verdict
) -> Verdict | None:
    """Verdict that stands, with a link to the fact that an unsure judge suspects, if any."""
    if judgement.target is None or verdict.action is not Action.ADD or verdict.is_history:
        return None
    fact = shown[judgement.target - 1]
    if fact in verdict.conflicts or fact.is_expired:
        return None
    return replace(
        verdict,
        reason=f"{verdict.reason}; the arbiter is unsure whether it replaces a known fact",
        conflicts=(*verdict.conflicts, fact),
    )


def _also_ended(
    note: Note, judgement: Judgement, shown: Sequence[Neighbour], policy: ReconcilePolicy
) -> tuple[Neighbour, ...]:
    """Further facts that a judgement names; where the note says the same, without a loss."""
    numbers = dict.fromkeys(number for number in judgement.also if number != judgement.target)
    named = (shown[number - 1] for number in numbers)
    if judgement.relation is Relation.REPLACES or not policy.guard:
        return tuple(named)
    return tuple(
        fact
        for fact in named
        if not losses_of(note, fact) and not changes_of(differences_of(note, fact, policy))
    )


TOLD = Rule(
    "agent, extractor",
    "a model that read the note and the facts says which fact it replaces, ends or repeats",
    "UPDATE ends the facts that it replaces or ends, and another value in the note's slot; a "
    "repeated fact is SKIP if it says more than the note, else UPDATE; ADD if each says "
    'something of its own, or the guard finds another number, name or "not"',
    apply=_as_told,
)
JUDGE = Rule(
    "arbiter",
    "a [judge](judges.md) is set, and the cosine decided or lies within the judge's reach",
    "a model reads up to five neighbours; its ADD, UPDATE or SKIP replaces the verdict so "
    "far, which stands if the model is unsure",
    why="Thresholds and guard left it open, so the arbiter's answer decided.",
    apply=_judged,
)


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
    """Five nearest neighbours that the note could replace: live ones first, by nearness.

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
    """Facts that an arbiter is asked about, at most five: live ones first, by nearness.

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
    """True if the caller filed the note under another subject than the fact's."""
    is_given = note.slot is not None and note.slot_read_from is None
    subject = fact.slot.subject if fact.slot else CONTACT_SUBJECT
    return is_given and note.slot is not None and note.slot.subject != subject


def _answers_same(note: Note, fact: Neighbour) -> bool:
    """True if both have the same attribute, whatever their subjects."""
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
        raise ArbiterAnswerError(
            f"the relation {judgement.relation} does not allow the action {judgement.action}"
        )
    numbers = (judgement.target, *judgement.also)
    if judgement.action is Action.ADD:
        is_suspected = judgement.relation is Relation.UNSURE and judgement.target is not None
        numbers = (judgement.target,) if is_suspected else ()
    for number in numbers:
        if type(number) is not int or not 1 <= number <= neighbour_count:
            raise ArbiterAnswerError(
                f"{judgement.action} names fact {number}, but only facts 1 to {neighbour_count} "
                "were shown"
            )


RULES = (
    Rule(
        "noop",
        "there is no embedder (`RECONCILER_EMBEDDER__MODEL=noop`)",
        "ADD",
        why="Without an embedder every note is new.",
        apply=lambda _note, seen: (
            add(DecidedBy.NOOP, "no embedder, so nothing to compare with")
            if seen.known is None
            else None
        ),
    ),
    TOLD,
    SLOT,
    RETRACTION,
    CHANGE,
    AGAIN,
    WORDING,
    FAR,
    BELOW,
    UNLIKE,
    LEFT_OUT,
    FILED_APART,
    ABOVE,
    JUDGE,
)
"""All rules, in order: the first that answers decides. A judge is asked last, and where it may be
asked, its answer takes the place of what stood."""


def decide(
    note: Note,
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy,
    judgement: Judgement | None = None,
    *,
    shown: Sequence[Neighbour] | None = None,
    unread: Unread = all_read,
    relations: Relations | None = None,
    related_by: DecidedBy = DecidedBy.AGENT,
    is_state: bool = True,
    taken_back: Collection[str] = (),
) -> Verdict:
    """Decide what to write for a note; the first rule that matches decides.

    A verdict that ``can_be_arbitrated`` is what holds without an arbiter; called again with a
    checked judgement, that decides instead. A slot decides by itself where it was given; one that
    was read from the words is a guess, which a judge may overrule.

    Args:
        note: what to remember.
        neighbours: facts in scope that have not ended, nearest first, and those that share the
            note's slot; None where there is no embedder.
        policy: the thresholds.
        judgement: an arbiter's answer about ``shown`` that ``check_judgement`` let through, if any.
        shown: the facts that the judgement counts; None for ``shown_to_judge``.
        unread: what of a text the embedding model could not read, so that no cosine tells of it.
        relations: what a model that read the note and the neighbours said of them; all facts that
            it names are among the neighbours. It is asked no second time.
        related_by: which model said so.
        is_state: whether the note is a plain statement, as far as its vector tells.
        taken_back: the ids of the permissions that the note takes back, as far as vectors tell.

    Returns:
        The verdict. UPDATE and SKIP always have a target.
    """
    beside = neighbours or ()
    if relations is not None:
        beside = [fact for fact in beside if fact.fact_id not in relations.both_hold]
    if shown is None:  # without a judge nothing is shown, and no time is spent on it
        is_judged = judgement is not None or policy.reach is not None
        shown = shown_to_judge(note, beside, policy) if is_judged else ()
    seen = RuleInput(
        neighbours=beside,
        known=neighbours,
        replaceable=replaceable(note, beside),
        policy=policy,
        judgement=judgement,
        shown=shown,
        unread=unread,
        relations=relations,
        related_by=related_by,
        is_state=is_state,
        taken_back=taken_back,
    )
    verdict = within_limits(note, seen, _by_rules(note, seen))
    return verdict if relations is None else replace(verdict, can_be_arbitrated=False)


def _by_rules(note: Note, seen: RuleInput) -> Verdict:
    """Verdict of the first rule that answers, with its links; then the judge's."""
    *rules, judge = RULES
    for rule in rules:
        if verdict := rule.apply(note, seen):
            break
    else:
        raise AssertionError("the last rule must decide every note")
    for link in LINKS if rule.is_linked else ():
        verdict = link(note, seen, verdict) or verdict
    return judge.apply(note, replace(seen, so_far=verdict)) or verdict


def restated(
    note: Note,
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy,
    unread: Unread = all_read,
    *,
    is_state: bool = True,
) -> Neighbour | None:
    """Live fact that says all that the note says; None if none does, or it cannot be told.

    A word that only the note has may be what needs a yes, whatever its slot.

    Args:
        note: what was proposed.
        neighbours: as ``decide`` takes them.
        policy: the thresholds.
        unread: as ``decide`` takes it.
        is_state: as ``decide`` takes it.
    """
    verdict = decide(note, neighbours, policy, unread=unread, is_state=is_state)
    known = verdict.target
    if known is None or known.is_expired or verdict.is_history or news_of(note, known, policy):
        return None
    if not is_repeated_in(note.text, known.text):
        return None
    says_same = verdict.is_restatement and verdict.action is Action.UPDATE
    return known if says_same or verdict.action is Action.SKIP else None


def dated(note: Note, verdict: Verdict) -> Note:
    """Note as it is written; an undated one is no older than what it was decided on.

    So what it supersedes ends no earlier than it began, whatever the clocks say. Facts that it has
    nothing to do with do not move it: one host's wrong clock would spread over the whole contact.

    Args:
        note: what was said; without a date of its own, said now.
        verdict: what ``decide`` concluded about it.
    """
    related = (*verdict.targets, *verdict.conflicts, *verdict.settled)
    return note.no_earlier_than(fact.valid_from for fact in related if not fact.is_upcoming)


def printed(rows: Iterable[RuleRow]) -> str:
    """Rows as the table of docs/what_decides.md and of ``explain --rules`` has them."""
    head = "| when | what is written | `decided_by` |\n|---|---|---|\n"
    return head + "".join(
        f"| {row.when} | {row.what} | {', '.join(map(_code, row.decided_by.split(', ')))} |\n"
        for row in rows
    )


def _code(word: str) -> str:
    return word if " " in word else f"`{word}`"
