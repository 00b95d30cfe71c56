"""The rule: what becomes of a note, given its neighbours. Pure; no graph, model or clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain

from reconciler.domain.guard import (
    Difference,
    Finding,
    denial_in,
    denies_ever,
    denies_value,
    differ_beside,
    differ_only_in,
    find_changes,
    find_differences,
    find_left_out,
    find_losses,
    find_news,
    find_unreadable,
    has_many_other_words,
    is_over,
    is_repeated_in,
    leaves_words_out,
    named_in,
    share_a_word,
    takes_back,
    tells_of_change,
    tells_of_more,
)
from reconciler.domain.reconciling.neighbours import are_of_several_matters, match_of
from reconciler.domain.records.decisions import (
    ACTIONS_OF_RELATION,
    Action,
    DecidedBy,
    Judgement,
    Relation,
    Verdict,
)
from reconciler.domain.records.facts import Fact, Neighbour, Predecessor
from reconciler.domain.records.kinds import Category, SourceKind
from reconciler.domain.records.notes import Note, canonical_text
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.relations import Relations
from reconciler.domain.records.slots import CONTACT_SUBJECT, SlotMatch, compare_slots
from reconciler.errors import ArbiterAnswerError

__all__ = [
    "OBSERVATIONS_OF_FIRM",
    "Unread",
    "all_read",
    "binds",
    "check_judgement",
    "contest",
    "dated",
    "decide",
    "replaceable",
    "restated",
    "shown_to_judge",
]

CANDIDATE_COUNT_MAX = 5
"""Facts that an arbiter is shown; beyond the fifth none was the right one. Source: DESIGN, 98.6 %
of the right neighbours are among the first three."""


_REACH_OF_CHANGE = 0.5
"""How far a judge is asked about a note that says it is a change, as a part of the usual reach.
Source: benchmarks/natural.py, where half of the changes below the reach lie above half of it."""

_NEAR_COUNT, _ALIKE_COUNT = 3, 2
"""Places among those that a judge is shown, for meaning and for words or slot."""

OBSERVATIONS_OF_FIRM = 3
"""Said so often, a fact does not end on a guess. Source: seed 000 counts a pattern from three."""

_LINK_COSINE_MIN = 0.45
"""Below it two texts are about different things even where they count the same noun. Source:
measured on LongMemEval with all-MiniLM-L6-v2: 31 of 33 updates lie above it."""

Unread = Callable[[str], str]
"""What of a text the embedding model could not read; empty where it read all of it."""


def all_read(_text: str) -> str:
    """What a model could not read of a text that it reads all of: nothing."""
    return ""


_DENIALS = (Difference.NEGATION, Difference.CESSATION)


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
) -> Verdict:
    """What to write for a note; the first rule that matches decides.

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

    Returns:
        The verdict. UPDATE and SKIP always have a target.
    """
    if neighbours is None:
        return _add(DecidedBy.NOOP, "no embedder, so nothing to compare with")
    if relations is not None:
        told = _as_told(note, neighbours, relations, related_by, policy)
        if told is not None:
            return _within_limits(note, told, policy, relations.ends)
        both_hold = relations.both_hold
        neighbours = [fact for fact in neighbours if fact.fact_id not in both_hold]
    if shown is None:  # without a judge nothing is shown, and no time is spent on it
        is_judged = judgement is not None or policy.reach is not None
        shown = shown_to_judge(note, neighbours, policy) if is_judged else ()
    verdict = _unaided(note, neighbours, policy, is_reached=bool(shown), unread=unread)
    if judgement is not None and verdict.can_be_arbitrated:
        verdict = _judged(note, judgement, shown, policy)
    verdict = _within_limits(note, verdict, policy)
    return verdict if relations is None else replace(verdict, can_be_arbitrated=False)


def _within_limits(
    note: Note, verdict: Verdict, policy: ReconcilePolicy, over: Collection[str] = ()
) -> Verdict:
    """The verdict, as far as order, trust, doubt and standing decisions let it.

    What a model said to be ``over`` may have begun later than the note holds.
    """
    verdict = _by_trust(note, _in_order(note, verdict, over), policy)
    verdict = _by_standing(note, _by_hedge(note, verdict, policy))
    return _correcting(note, verdict, policy)


def _as_told(
    note: Note,
    neighbours: Sequence[Neighbour],
    relations: Relations,
    related_by: DecidedBy,
    policy: ReconcilePolicy,
) -> Verdict | None:
    """What a model said that the note does to facts; None where it said of none that it does.

    A new value of the note's slot ends the others as well, unless the model said that they hold.
    """
    known = {fact.fact_id: fact for fact in neighbours}
    if relations.repeats is not None:
        return _told_again(note, known[relations.repeats], related_by, policy)
    targets = tuple(known[fact_id] for fact_id in relations.ended_ids)
    if not targets:
        return None
    said = "it takes the place of what is known" if relations.replaces else "what is known is over"
    findings = _differences(note, targets[0], policy)
    verdict = Verdict(
        action=Action.UPDATE,
        decided_by=related_by,
        reason=f"the {related_by} says that {said}",
        targets=targets,
        findings=findings,
    )
    others = [fact for fact in neighbours if fact.fact_id not in relations.named_ids]
    by_slot = _by_slot(note, others, policy)
    if by_slot is None or by_slot.action is not Action.UPDATE:
        return verdict
    # By themselves: that the note restates another value protects nothing that binds from it.
    told = _by_standing(note, verdict)
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
    """The note as one more observation of the fact that a model says it repeats.

    The same cannot hold another number, name or negation, whoever says so. Where the note leaves
    something out the fact stays; else the note's words take its place.
    """
    reason = f"the {related_by} says that it repeats what is known"
    if match_of(note, fact) in (SlotMatch.APART, SlotMatch.OPEN):
        return _add(DecidedBy.GUARD, f"{reason}, yet it is filed under something else")
    findings = _differences(note, fact, policy)
    if any(_is_other(finding) for finding in findings):
        return _kept_apart(note, fact, findings, reason)
    says_less = bool(_losses(note, fact)) or is_repeated_in(note.text, fact.text)
    is_dropped = says_less and not fact.word.is_trusted_less_than(note.trust)
    verdict = Verdict(
        action=Action.SKIP if is_dropped else Action.UPDATE,
        decided_by=related_by,
        reason=reason,
        targets=(fact,),
        is_restatement=True,
        findings=findings,
    )
    return _without_loss(note, verdict, policy)


def _is_other(finding: Finding) -> bool:
    """Whether the note says something else than the fact, and does not only leave it out."""
    is_said = bool(finding.in_note) or finding.kind in _DENIALS
    return is_said and finding.kind is not Difference.ROLES


def restated(
    note: Note,
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy,
    unread: Unread = all_read,
) -> Neighbour | None:
    """The live fact that says all that the note says; None where none does, or nobody can tell.

    A word that only the note has may be what needs a yes, whatever its slot.

    Args:
        note: what was proposed.
        neighbours: as ``decide`` takes them.
        policy: the thresholds.
        unread: as ``decide`` takes it.
    """
    verdict = decide(note, neighbours, policy, unread=unread)
    known = verdict.target
    if known is None or known.is_expired or verdict.is_history or _news(note, known, policy):
        return None
    if not is_repeated_in(note.text, known.text):
        return None
    says_same = verdict.is_restatement and verdict.action is Action.UPDATE
    return known if says_same or verdict.action is Action.SKIP else None


def dated(note: Note, verdict: Verdict) -> Note:
    """The note as it is written: where nobody dated it, no older than what it was decided on.

    So what it supersedes ends no earlier than it began, whatever the clocks say. Facts that it has
    nothing to do with do not move it: one host's wrong clock would spread over the whole contact.

    Args:
        note: what was said; without a date of its own, said now.
        verdict: what ``decide`` concluded about it.
    """
    related = (*verdict.targets, *verdict.conflicts, *verdict.settled)
    return note.no_earlier_than(fact.valid_from for fact in related)


def replaceable(note: Note, neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """The neighbours whose place the note could take, at most five: live ones first, by nearness.

    A fact about another subject, or a sibling value of an attribute that holds many, is none.
    """
    beside = (SlotMatch.APART, SlotMatch.OPEN)
    found = [neighbour for neighbour in neighbours if match_of(note, neighbour) not in beside]
    return _live_first(found)[:CANDIDATE_COUNT_MAX]


def shown_to_judge(
    note: Note, neighbours: Iterable[Neighbour] | None, policy: ReconcilePolicy
) -> list[Neighbour]:
    """The facts that an arbiter is asked about, at most five: live ones first, by nearness.

    They are near in meaning, share the note's words, or answer its question: three by the first,
    two by the others, and then as many as there is room for. Without a reach those whose place the
    note could take. A fact about somebody else than a given slot names is never shown.

    Args:
        note: what to remember.
        neighbours: as ``decide`` takes them.
        policy: its ``reach`` says how near is near.
    """
    if policy.reach is None or neighbours is None:
        return replaceable(note, neighbours or ())
    ordered = _live_first(fact for fact in neighbours if not _is_anothers(note, fact))
    reach = policy.reach * _REACH_OF_CHANGE if tells_of_change(note.text) else policy.reach
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
    """Whether both are filed under one attribute, whoever a text was read to be about."""
    if note.slot is None or fact.slot is None or note.slot.attribute is None:
        return False
    return note.slot.attribute == fact.slot.attribute


def contest(
    verdict: Verdict,
    note: Note,
    predecessors: Iterable[Predecessor],
    policy: ReconcilePolicy,
    unread: Unread = all_read,
) -> Verdict:
    """The verdict, marked as contested where the note takes part in a to and fro.

    That is where it returns to what was superseded before (A, B, A), or contradicts for the
    second time within the policy's window. It is written all the same. An end or a denial names no
    value to return to, and is no second answer.

    Args:
        verdict: what ``decide`` concluded.
        note: what it was about.
        predecessors: the facts beneath the verdict's targets, in any order.
        policy: the window, and from which cosine on two texts say the same.
        unread: as ``decide`` takes it.
    """
    value = (note.slot and note.slot.value) or ""
    if not verdict.is_replacement or denies_value(note.text, value):
        return verdict
    if any(_says_again(note, predecessor, policy, unread) for predecessor in predecessors):
        return _contested(verdict, "what was superseded before is said again")
    flips = [predecessor for predecessor in predecessors if predecessor.was_contradicted]
    if verdict.decided_by is not DecidedBy.MIDPOINT and any(
        note.holds_from - flip.followed_from <= policy.contested_window for flip in flips
    ):
        days = policy.contested_window / timedelta(days=1)
        return _contested(verdict, f"the second contradiction within {days:g} days")
    return verdict


def check_judgement(judgement: Judgement, neighbour_count: int) -> None:
    """Let an arbiter's answer through, or say why not; the model is never trusted with this.

    Raises:
        ArbiterAnswerError: the relation and the action disagree, or the target is not one of the
            neighbours that were shown.
    """
    if judgement.action not in ACTIONS_OF_RELATION[judgement.relation]:
        raise ArbiterAnswerError(f"it says {judgement.relation} and yet {judgement.action}")
    if judgement.action is Action.ADD:
        return
    for number in (judgement.target, *judgement.also):
        if type(number) is not int or not 1 <= number <= neighbour_count:
            raise ArbiterAnswerError(
                f"{judgement.action} of fact {number}, but {neighbour_count} were shown"
            )


def _unaided(
    note: Note,
    neighbours: Sequence[Neighbour],
    policy: ReconcilePolicy,
    *,
    is_reached: bool,
    unread: Unread,
) -> Verdict:
    """What slot and text say; a slot that was read from the words is a guess, as a cosine is."""
    is_asked = policy.reach is not None and is_reached
    verdict = _by_slot(note, neighbours, policy)
    if verdict is not None:
        is_guess = note.slot_read_from is not None
        return replace(verdict, can_be_arbitrated=is_asked and is_guess)
    if verdict := _by_retraction(note, neighbours, policy):
        return verdict
    verdict = _by_text(note, replaceable(note, neighbours), policy, is_asked, unread)
    verdict = _owning_to(unread(note.text), note, verdict)
    return _with_open(note, neighbours, _with_denied(note, neighbours, verdict, policy), policy)


def _by_slot(
    note: Note, neighbours: Sequence[Neighbour], policy: ReconcilePolicy
) -> Verdict | None:
    """The same question about the same subject: the values decide, at any cosine."""
    if note.slot is None:
        return None
    matches = [(match_of(note, neighbour), neighbour) for neighbour in _live_first(neighbours)]
    equal = tuple(neighbour for match, neighbour in matches if match is SlotMatch.EQUAL)
    changed = tuple(neighbour for match, neighbour in matches if match is SlotMatch.CHANGED)
    if not (equal or changed):
        return None
    what = f"{note.slot.subject}'s {note.slot.attribute}"
    refuted = {
        neighbour: found for neighbour in equal if (found := _refutations(note, neighbour, policy))
    }
    again = tuple(neighbour for neighbour in equal if neighbour not in refuted)
    findings = tuple(chain.from_iterable(refuted.values()))
    if again:
        reason = f"{what} is {note.slot.shown_value} already" + _listed(findings)
    elif refuted:
        reason = f"{what}: {note.slot.shown_value}" + _listed(findings)
    elif note.slot.is_personal:
        reason = f"{what} is another one now"
    else:
        old = changed[0].slot.shown_value if changed[0].slot else None
        reason = f"{what} is {note.slot.shown_value}, and was {old}"
    verdict = Verdict(
        action=Action.UPDATE,
        decided_by=DecidedBy.SLOT,
        reason=reason,
        targets=again + tuple(refuted) + changed,
        is_restatement=bool(again),
        findings=findings,
    )
    verdict = _sparing_details(note, again, verdict, policy)
    doubt = _why_both_may_hold(note, changed)
    if not doubt or verdict.action is not Action.UPDATE:
        return verdict
    return _sparing(changed, verdict, DecidedBy.SLOT, f"{verdict.reason}; {doubt}")


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
    """The verdict of a slot without those facts of the same value whose other details would go.

    Such a fact says more than the note, or gives another date, number or name beside the value.
    """
    differing = {
        neighbour: found
        for neighbour in again
        if (found := _differ_beside(note, neighbour, policy))
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
        return _without_loss(note, replace(verdict, targets=richer), policy)
    spared, found = next(iter(differing.items()), (again[0], ()))
    if not ended:
        return _kept_apart(note, spared, found, verdict.reason)
    stays = "; ".join(map(str, found or _losses(note, richer[0])))
    return replace(
        verdict,
        targets=ended,
        conflicts=tuple(
            neighbour
            for neighbour in differing
            if _is_conflict(note, neighbour, differing[neighbour])
        ),
        is_restatement=any(neighbour in ended for neighbour in again),
        reason=f"{verdict.reason}, and one with other details stays: {stays}",
    )


def _says_more(fact: Neighbour, note: Note) -> bool:
    """Whether a fact of the same value holds a detail that would be lost with it.

    A name alone is none, unless the note only leaves it out: "Moved from Pune to Bangalore", then
    "Lives in Bangalore".
    """
    losses = _losses(note, fact)
    has_value = any(loss.kind is not Difference.NAME for loss in losses)
    return has_value or (bool(losses) and is_repeated_in(note.text, fact.text))


def _losses(note: Note, fact: Neighbour) -> tuple[Finding, ...]:
    """What would be lost if the fact ended for the note; not the fact's spelling of their value."""
    said, known = ((slot and slot.value) or "" for slot in (note.slot, fact.slot))
    is_named = bool(said) and said.casefold() in note.text.casefold()
    is_shared = is_named and match_of(note, fact) is SlotMatch.EQUAL
    return find_losses(note.text, fact.text, value=known if is_shared else "")


def _differ_beside(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> tuple[Finding, ...]:
    """Where a note of the same value gives another date, number or name, or says other things."""
    values = [slot.value or "" for slot in (note.slot, fact.slot) if slot]
    found = tuple(
        difference
        for difference in _differences(note, fact, policy)
        if difference.kind is not Difference.SUBJECT and differ_beside(difference, *values)
    )
    return found + find_left_out(note.text, fact.text) if policy.guard else ()


def _refutations(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> tuple[Finding, ...]:
    """Why a note of the same value does not say the fact again: it denies it, or counts otherwise.

    Of two counts of one thing the later one holds.
    """
    note, value = _with_value_named(note), (note.slot and note.slot.value) or ""
    denials = _denials(note, fact, policy)
    if any(denial.is_change for denial in denials) or (
        denials and denies_value(note.text, value) != denies_value(fact.text, value)
    ):
        return denials
    if policy.guard and is_over(note.text, value) and not is_over(fact.text, value):
        return (Finding(kind=Difference.CESSATION, in_note=value, in_fact="", is_change=True),)
    found = _differ_beside(note, fact, policy)
    are_counts = all(
        difference.is_change and difference.kind is not Difference.ROLES for difference in found
    )
    return found if are_counts else ()


def _with_value_named(note: Note) -> Note:
    """The note, its slot's value in the place of a word that stands for it, as "there" may."""
    value = (note.slot and note.slot.value) or ""
    return replace(note, text=named_in(note.text, value))


def _by_retraction(
    note: Note, neighbours: Sequence[Neighbour], policy: ReconcilePolicy
) -> Verdict | None:
    """What a note takes back ends, however far its words are; a guess takes back nothing."""
    if not policy.guard or note.is_hedged or denial_in(note.text) is None:
        return None
    targets = tuple(
        fact
        for fact in neighbours
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


def _with_denied(
    note: Note, neighbours: Sequence[Neighbour], verdict: Verdict, policy: ReconcilePolicy
) -> Verdict:
    """A note without a value ends nothing; what it denies in its own slot is linked to it."""
    if note.slot is None or note.slot.value_key is not None or verdict.action is not Action.ADD:
        return verdict
    denied = tuple(
        neighbour
        for neighbour in neighbours
        if neighbour.slot
        and (neighbour.slot.subject, neighbour.slot.attribute)
        == (note.slot.subject, note.slot.attribute)
        and neighbour not in verdict.conflicts
        and _denials(note, neighbour, policy)
    )
    return replace(verdict, conflicts=verdict.conflicts + denied) if denied else verdict


def _with_open(
    note: Note, neighbours: Sequence[Neighbour], verdict: Verdict, policy: ReconcilePolicy
) -> Verdict:
    """A note beside other values of an attribute of which nothing says how many it holds.

    Only a reader can tell whether they still hold, so without one they are linked.
    """
    if verdict.action is not Action.ADD or not policy.guard:
        return verdict
    others = tuple(
        fact
        for fact in neighbours
        if match_of(note, fact) is SlotMatch.OPEN
        and not fact.is_expired
        and fact not in verdict.conflicts
    )
    if not others or note.slot is None:
        return verdict
    values = ", ".join(fact.slot.shown_value or "" for fact in others if fact.slot)
    what = f"{note.slot.subject}'s {note.slot.attribute} was {values}, and both may hold"
    return replace(
        verdict,
        reason=f"{verdict.reason}; {what}",
        conflicts=verdict.conflicts + others,
        can_be_arbitrated=True,
    )


def _denials(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> tuple[Finding, ...]:
    """Where one of the two says that it is so, and the other that it is not, or no longer."""
    found = _differences(note, fact, policy)
    return tuple(difference for difference in found if difference.kind in _DENIALS)


def _by_text(
    note: Note,
    candidates: Sequence[Neighbour],
    policy: ReconcilePolicy,
    is_asked: bool,
    unread: Unread,
) -> Verdict:
    if same := _restated(note, candidates, policy, unread):
        which = "nearest" if same is _decided_on(candidates, policy) else "another"
        reason = f"{which} fact at {same.cosine:.3f}, at or above {policy.cosine_update_min:g}"
        verdict = _update(DecidedBy.THRESHOLD, same, reason, is_restatement=True)
        return _without_loss(note, verdict, policy)
    if not candidates:
        reason = "no fact about this contact whose place it could take"
        return replace(_add(DecidedBy.THRESHOLD, reason), can_be_arbitrated=is_asked)
    nearest = _decided_on(candidates, policy)
    if nearest.cosine < policy.cosine_add_max:
        where = f"{_where(nearest)}, below {policy.cosine_add_max:g}"
        verdict = _beside(note, candidates, policy, DecidedBy.THRESHOLD, where)
        return replace(verdict, can_be_arbitrated=is_asked)
    if nearest.cosine < policy.cut:
        where = f"{_where(nearest)}, below the cut {policy.cut:g}"
        verdict = _beside(note, candidates, policy, DecidedBy.MIDPOINT, where)
        return replace(verdict, can_be_arbitrated=True)
    if findings := _unlike(note, nearest, policy, unread):
        verdict = _kept_apart(note, nearest, findings, _where(nearest))
        return replace(verdict, can_be_arbitrated=True)
    if policy.guard and leaves_words_out(note.text, nearest.text):
        reason = f"{_where(nearest)}, yet it has words that the note leaves out"
        return replace(_add(DecidedBy.GUARD, reason), can_be_arbitrated=True)
    reason = f"{_where(nearest)}, at or above the cut {policy.cut:g}"
    verdict = _update(DecidedBy.MIDPOINT, nearest, reason, is_restatement=False)
    verdict = _without_loss(note, verdict, policy)
    return replace(verdict, can_be_arbitrated=True)


def _owning_to(unread: str, note: Note, verdict: Verdict) -> Verdict:
    """The verdict of a cosine, its reason saying how much of the note the model could not read."""
    is_by_cosine = verdict.decided_by in (DecidedBy.THRESHOLD, DecidedBy.MIDPOINT, DecidedBy.GUARD)
    if not unread or not is_by_cosine:
        return verdict
    share = len(unread) / max(1, sum(map(str.isalnum, note.text)))
    how = f"; the embedding model could not read {min(share, 1):.0%} of the note"
    return replace(verdict, reason=verdict.reason + how)


def _live_first(neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """The same, those that expired behind the others."""
    return sorted(neighbours, key=lambda neighbour: neighbour.is_expired)


def _decided_on(candidates: Sequence[Neighbour], policy: ReconcilePolicy) -> Neighbour:
    """The nearest live fact, unless that is far, and an expired one is not."""
    for bound in (policy.cut, policy.cosine_add_max):
        for candidate in candidates:
            if candidate.cosine >= bound:
                return candidate
    return candidates[0]


def _restated(
    note: Note, candidates: Sequence[Neighbour], policy: ReconcilePolicy, unread: Unread
) -> Neighbour | None:
    """The nearest fact above the band that differs in nothing the guard can see.

    With "invoice 1042" and "invoice 1043" both on file, what is said of the one again may well be
    nearer to the other.
    """
    near = (candidate for candidate in candidates if candidate.cosine >= policy.cosine_update_min)
    return next(
        (
            candidate
            for candidate in near
            if not _unlike(note, candidate, policy, unread)
            and not (policy.guard and has_many_other_words(note.text, candidate.text))
        ),
        None,
    )


def _beside(
    note: Note,
    candidates: Sequence[Neighbour],
    policy: ReconcilePolicy,
    decided_by: DecidedBy,
    where: str,
) -> Verdict:
    """Below the cut a note is new; what it seems to contradict is linked to it."""
    changes = {
        candidate.fact_id: findings
        for candidate in candidates
        if policy.guard
        and candidate.cosine >= min(_LINK_COSINE_MIN, policy.cosine_add_max)
        and (findings := find_changes(note.text, candidate.text))
    }
    conflicts = tuple(candidate for candidate in candidates if candidate.fact_id in changes)
    findings = changes[conflicts[0].fact_id] if conflicts else ()
    return Verdict(
        action=Action.ADD,
        decided_by=decided_by,
        reason=where + _listed(findings),
        conflicts=conflicts,
        findings=findings,
    )


def _kept_apart(note: Note, target: Neighbour, findings: tuple[Finding, ...], why: str) -> Verdict:
    """Both stay, linked where they cannot both hold.

    A name, a number or a "not" that only one has, beside other words that only one has, says only
    that they are not the same.
    """
    return Verdict(
        action=Action.ADD,
        decided_by=DecidedBy.GUARD,
        reason=why + _listed(findings),
        conflicts=(target,) if _is_conflict(note, target, findings) else (),
        findings=findings,
    )


def _is_conflict(note: Note, fact: Neighbour, findings: tuple[Finding, ...]) -> bool:
    return bool(_changes(findings)) or differ_only_in(findings, note.text, fact.text)


def _without_loss(note: Note, verdict: Verdict, policy: ReconcilePolicy) -> Verdict:
    """The verdict, unless the fact that it ends says more than the note.

    Such a fact stays. A note all of whose words stand in it counts as said again, where it is
    known to say the same; any other stands beside it: a word that only the note has may be news,
    and a more trusted word stands for itself.

    Args:
        note: what was said.
        verdict: the UPDATE that would end its first target.
        policy: whether differences count.
    """
    fact = verdict.targets[0]
    losses = _losses(note, fact) if policy.guard else ()
    if not losses or verdict.action is not Action.UPDATE:
        return verdict
    lost = "; ".join(map(str, losses))
    is_repeated = verdict.is_restatement and is_repeated_in(note.text, fact.text)
    if is_repeated and not fact.word.is_trusted_less_than(note.trust):
        return replace(
            verdict,
            action=Action.SKIP,
            decided_by=DecidedBy.GUARD,
            reason=f"{verdict.reason}, and it says more: {lost}",
            targets=(fact,),
            findings=losses,
        )
    return Verdict(
        action=Action.ADD,
        decided_by=DecidedBy.GUARD,
        reason=f"{verdict.reason}, yet what it says would be lost: {lost}",
        findings=losses,
    )


def _judged(
    note: Note, judgement: Judgement, shown: Sequence[Neighbour], policy: ReconcilePolicy
) -> Verdict:
    reason = f"the arbiter calls it {judgement.relation}"
    if judgement.action is Action.ADD or judgement.target is None:
        return _add(DecidedBy.ARBITER, reason)
    target = shown[judgement.target - 1]
    findings = _differences(note, target, policy)
    # The same cannot hold another number, name or negation, whoever says so. Who does what to whom
    # an arbiter reads better than the guard, which sees only that words changed places.
    if judgement.relation is Relation.SAME and any(
        finding.kind is not Difference.ROLES for finding in findings
    ):
        return _kept_apart(note, target, findings, reason)
    # A SKIP drops the note: not its new details, and not a more trusted word.
    is_dropped = judgement.action is Action.SKIP and not (
        _news(note, target, policy) or target.word.is_trusted_less_than(note.trust)
    )
    verdict = Verdict(
        action=Action.SKIP if is_dropped else Action.UPDATE,
        decided_by=DecidedBy.ARBITER,
        reason=reason + _listed(findings),
        targets=(target,),
        is_restatement=judgement.relation is not Relation.REPLACES and not _changes(findings),
        findings=findings,
    )
    if judgement.relation is Relation.SAME and verdict.is_restatement:
        verdict = _without_loss(note, verdict, policy)
    if verdict.action is not Action.UPDATE:
        return verdict
    return replace(verdict, targets=(target, *_also_ended(note, judgement, shown, policy)))


def _also_ended(
    note: Note, judgement: Judgement, shown: Sequence[Neighbour], policy: ReconcilePolicy
) -> tuple[Neighbour, ...]:
    """The further facts that a judgement names; where the note says the same, without a loss."""
    numbers = dict.fromkeys(number for number in judgement.also if number != judgement.target)
    named = (shown[number - 1] for number in numbers)
    if judgement.relation is Relation.REPLACES or not policy.guard:
        return tuple(named)
    return tuple(
        fact
        for fact in named
        if not _losses(note, fact) and not _changes(_differences(note, fact, policy))
    )


def _by_trust(note: Note, verdict: Verdict, policy: ReconcilePolicy) -> Verdict:
    """A less trusted word supersedes nothing: it repeats, or stands beside until confirmed."""
    held = tuple(
        target
        for target in verdict.targets
        if not target.is_expired and note.trust.is_trusted_less_than(target.word)
    )
    if verdict.action is not Action.UPDATE or not held:
        return verdict
    trusted = held[0]
    reason = f"{note.trust} does not supersede {trusted.word} ({verdict.reason})"
    is_repeated = verdict.is_restatement and verdict.target is trusted
    if is_repeated and not _news(note, trusted, policy):
        return _repeating(trusted, verdict, DecidedBy.TRUST, reason)
    return _sparing(held, verdict, DecidedBy.TRUST, reason)


def _by_hedge(note: Note, verdict: Verdict, policy: ReconcilePolicy) -> Verdict:
    """One guess does not end what was confirmed or often said: it repeats it, or raises a question.

    Args:
        note: what was said.
        verdict: what the rules before this one concluded.
        policy: whether differences count.
    """
    firm = tuple(target for target in verdict.targets if _is_firm(target))
    if verdict.action is not Action.UPDATE or not note.is_hedged or not firm:
        return verdict
    known = firm[0]
    how = "confirmed" if known.is_confirmed_by_user else f"said {known.observations} times"
    reason = f"a guess does not end what was {how} ({verdict.reason})"
    is_repeated = verdict.is_restatement and verdict.target is known
    if is_repeated and not _news(note, known, policy):
        return _repeating(known, verdict, DecidedBy.HEDGE, reason)
    return _sparing(firm, verdict, DecidedBy.HEDGE, reason)


def _is_firm(fact: Neighbour) -> bool:
    return fact.is_confirmed_by_user or fact.observations >= OBSERVATIONS_OF_FIRM


def _by_standing(note: Note, verdict: Verdict) -> Verdict:
    """A decision ends by a newer decision or by being revoked; what else is said stands beside it.

    A new value of the same attribute is explicit enough. What a model says may end more, and less.
    Source: seed 001, section 11: decisions are versioned, and ended explicitly only.
    """
    is_told = verdict.decided_by in _MAY_END
    if verdict.action is not Action.UPDATE or not (verdict.is_replacement or is_told):
        return verdict
    may_end = _MAY_END.get(verdict.decided_by, _may_end_by_rule)
    standing = tuple(each for each in verdict.targets if not may_end(note, each))
    if not standing or verdict.decided_by is DecidedBy.SLOT:
        return verdict
    reason = f"a standing decision ends only by another one or when revoked ({verdict.reason})"
    if not verdict.is_restatement:
        return _sparing(standing, verdict, DecidedBy.STANDING, reason)
    # That a model calls it the same is no proof: where the words share nothing, both stay.
    if verdict.target in standing and share_a_word(note.text, standing[0].text):
        return _repeating(standing[0], verdict, DecidedBy.STANDING, reason)
    spared = _sparing(standing, verdict, DecidedBy.STANDING, reason)
    return replace(spared, conflicts=verdict.conflicts, is_restatement=False)


def binds(fact: Fact | Neighbour) -> bool:
    """Whether a fact orders, forbids or settles something, so that it ends explicitly only."""
    return fact.is_standing or fact.category is Category.DECISION


def _may_end_by_rule(note: Note, fact: Neighbour) -> bool:
    return note.category is Category.DECISION or fact.category is not Category.DECISION


def _may_end_by_judge(note: Note, fact: Neighbour) -> bool:
    """What binds ends by a newer decision, or where both words are the contact's own."""
    words = {note.trust, fact.word}
    is_newer = note.category is Category.DECISION
    return not binds(fact) or is_newer or words == {SourceKind.USER_EXPLICIT}


def _may_end_by_model(note: Note, fact: Neighbour) -> bool:
    """Whether a fact may end because a model says so: it may be talked into saying it.

    An operator's ends as it would have without the model. What binds, or was confirmed, ends only
    by the contact's own word, and by one that speaks of it.
    """
    if match_of(note, fact) is SlotMatch.CHANGED:
        return True
    if fact.word is SourceKind.OPERATOR:
        return False
    is_firm = binds(fact) or fact.is_confirmed_by_user
    is_contacts = note.trust is SourceKind.USER_EXPLICIT and share_a_word(note.text, fact.text)
    return is_contacts or not is_firm


_MAY_END: Mapping[DecidedBy, Callable[[Note, Neighbour], bool]] = {
    DecidedBy.ARBITER: _may_end_by_judge,
    DecidedBy.AGENT: _may_end_by_model,
    DecidedBy.EXTRACTOR: _may_end_by_model,
}
"""Whether a fact may end, by who says so; anything else goes by the rule."""


def _repeating(fact: Neighbour, verdict: Verdict, decided_by: DecidedBy, reason: str) -> Verdict:
    """The UPDATE as one more observation of the fact that may not end."""
    return replace(
        verdict, action=Action.SKIP, decided_by=decided_by, reason=reason, targets=(fact,)
    )


def _correcting(note: Note, verdict: Verdict, policy: ReconcilePolicy) -> Verdict:
    """The verdict, with those of its targets that the note says were never true.

    A note that does no more than take them back is no fact of its own: nothing takes their place.
    """
    if not policy.guard or not verdict.is_replacement:
        return verdict
    said = _with_value_named(note).text
    taken_back = {fact for fact in verdict.targets if takes_back(said, fact.text)}
    never = {fact for fact in verdict.targets if denies_ever(said, fact.text)}
    voided = tuple(fact for fact in verdict.targets if fact in taken_back | never)
    is_revoked = taken_back == {*verdict.targets} and not verdict.conflicts
    action = Action.REVOKE if is_revoked else verdict.action
    return replace(verdict, action=action, voided=voided) if voided else verdict


def _sparing(
    spared: tuple[Neighbour, ...], verdict: Verdict, decided_by: DecidedBy, reason: str
) -> Verdict:
    """The UPDATE without those of its targets that may not end: the note stands beside them."""
    conflicts = verdict.conflicts + spared
    ended = tuple(target for target in verdict.targets if target not in spared)
    if ended:
        return replace(verdict, targets=ended, conflicts=conflicts, reason=reason)
    return replace(
        verdict,
        action=Action.ADD,
        decided_by=decided_by,
        reason=reason,
        targets=(),
        conflicts=conflicts,
        is_restatement=False,
    )


def _in_order(note: Note, verdict: Verdict, over: Collection[str]) -> Verdict:
    """An older note takes the place of nothing newer: it becomes history beneath it.

    A note that nobody dated is older than nothing: see ``dated``.
    """
    if note.is_undated:
        return verdict
    newer = [
        target
        for target in verdict.targets
        if note.holds_from < target.valid_from and target.fact_id not in over
    ]
    # What a fact says already is counted, unless the note says that it held before that.
    is_news = verdict.action is Action.SKIP and note.valid_from is not None
    if not newer or not (verdict.action is Action.UPDATE or is_news):
        return verdict
    above = max(newer, key=lambda target: target.valid_from)
    return replace(
        verdict,
        action=Action.ADD,
        decided_by=DecidedBy.ORDER,
        reason=f"older than the fact from {above.valid_from:%Y-%m-%d} ({verdict.reason})",
        targets=(above,),
        conflicts=(),
        is_restatement=verdict.is_restatement and above is verdict.target,
        is_history=True,
    )


def _says_again(note: Note, earlier: Predecessor, policy: ReconcilePolicy, unread: Unread) -> bool:
    match = compare_slots(note.slot, earlier.slot)
    if match is not SlotMatch.UNKNOWN:
        return match is SlotMatch.EQUAL
    if canonical_text(note.text).casefold() == canonical_text(earlier.text).casefold():
        return True
    return earlier.cosine >= policy.cosine_update_min and not (
        find_differences(note.text, earlier.text)
        or find_unreadable(note.text, earlier.text, unread)
    )


def _differences(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> tuple[Finding, ...]:
    return find_differences(note.text, fact.text) if policy.guard else ()


def _unlike(
    note: Note, fact: Neighbour, policy: ReconcilePolicy, unread: Unread
) -> tuple[Finding, ...]:
    """Why no cosine says that the note restates the fact.

    Without the guard the cosine is believed, but for what the model could not read.
    """
    found = _differences(note, fact, policy)
    if found and policy.guard:
        return found
    return tuple(
        finding
        for finding in find_unreadable(note.text, fact.text, unread)
        if policy.guard or finding.kind is Difference.UNREAD
    )


def _news(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> tuple[Finding, ...]:
    """What the note says and the fact does not; who does what to whom is left to the arbiter."""
    found = find_news(note.text, fact.text) if policy.guard else ()
    return tuple(
        difference
        for difference in found
        if difference.in_note and difference.kind is not Difference.ROLES
    )


def _changes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.is_change)


def _contested(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, is_contested=True, reason=f"{verdict.reason}; contested: {why}")


def _add(decided_by: DecidedBy, reason: str) -> Verdict:
    return Verdict(action=Action.ADD, decided_by=decided_by, reason=reason)


def _update(
    decided_by: DecidedBy, target: Neighbour, reason: str, *, is_restatement: bool
) -> Verdict:
    return Verdict(
        action=Action.UPDATE,
        decided_by=decided_by,
        reason=reason,
        targets=(target,),
        is_restatement=is_restatement,
    )


def _where(neighbour: Neighbour) -> str:
    return f"nearest fact at {neighbour.cosine:.3f}"


def _listed(findings: Iterable[Finding]) -> str:
    found = "; ".join(map(str, findings))
    return f", yet {found}" if found else ""
