"""The rule: the outcome of a note, in two tables. Pure: no graph, model or clock.

The first table is ``RULES``: the first rule that applies decides, and a judge, which is asked
last, may replace that verdict. Every verdict then passes the second table, ``LIMITS`` in
``limits``. The rules of a slot and of the text alone are in ``by_slot`` and ``by_text``.

The order of all rules is here, together with the rules for a model that read note and facts: the
agent, the extractor, a judge. So are the facts that a judge is shown, and the part of its answer
that is used: both depend on that order. Never here: a call of a model; its answer is an argument.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from reconciler.domain.reconciling.by_slot import SLOT, slot_alone
from reconciler.domain.reconciling.by_text import (
    ABOVE,
    AGAIN,
    BELOW,
    CHANGE,
    FAR,
    FILED_APART,
    LEFT_OUT,
    RETRACTION,
    UNLIKE,
    WORDING,
)
from reconciler.domain.reconciling.limits import within_limits
from reconciler.domain.reconciling.verdicts import (
    DENIALS,
    LINKS,
    Rule,
    RuleInput,
    Ruling,
    Unread,
    add,
    all_read,
    changes_of,
    differences_of,
    kept_apart,
    listed,
    live_first,
    losses_of,
    match_of,
    may_end,
    news_of,
    without_loss,
)
from reconciler.domain.records.decisions import ACTIONS_OF_RELATION, Judgement, Verdict
from reconciler.domain.records.facts import Neighbour, Neighbours, Relations, by_fact_id
from reconciler.domain.records.kinds import Action, DecidedBy, Relation
from reconciler.domain.records.notes import CONTACT_SUBJECT, Note, SlotMatch
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.guard import (
    adds_a_statement,
    is_english,
    is_repeated_in,
    leaves_a_clause_out,
    leaves_a_denial_out,
    name_two_entries,
    said_plainly,
    says_more_than,
    tells_of_change,
)


def _as_told(note: Note, seen: RuleInput) -> Ruling:
    """Verdict of a model that said what the note does to facts; None if it said nothing.

    A new value of the note's slot ends the others as well, unless the model said that they hold.
    """
    relations, related_by, policy = seen.relations, seen.related_by, seen.policy
    if relations is None:
        return None
    known = by_fact_id(seen.known or ())
    if relations.repeats is not None:
        return _told_again(note, known[relations.repeats], related_by, policy)
    targets = tuple(known[fact_id] for fact_id in relations.ended_ids)
    if not targets:
        return None
    said = "it replaces a known fact" if relations.replaces else "a known fact has ended"
    verdict = Verdict(
        Action.UPDATE,
        related_by,
        f"the {related_by} says that {said}",
        targets=targets,
        findings=differences_of(note, targets[0], policy),
    )
    others = [fact for fact in known.values() if fact.fact_id not in relations.named_ids]
    by_slot = slot_alone(note, others, policy, is_state=seen.is_state)
    if by_slot and by_slot.is_replacement:
        return replace(
            by_slot,
            decided_by=related_by,
            reason=f"{verdict.reason}; {by_slot.reason}",
            targets=by_slot.targets + targets,
        )
    return verdict


def _told_again(
    note: Note, fact: Neighbour, related_by: DecidedBy, policy: ReconcilePolicy
) -> Verdict:
    """Count the note as an observation of the fact that it repeats, as a model says.

    A repetition must not have another number, name or negation, even if the model says so. If the
    fact says more ("and carries an adrenaline pen"), it stays; else the note takes its place. If
    the note then says something more ("and has asthma"), it is kept as another fact.
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
    """True if the note says something other than the fact, and does not only leave words out."""
    others = [each for each in findings if each.kind is not Difference.ROLES]
    denied = [each.in_fact for each in others if each.kind in DENIALS and not each.in_note]
    is_denied = bool(denied) and not leaves_a_denial_out(note.text, fact.text, " ".join(denied))
    return is_denied or any(each.in_note for each in others)


def _judged(note: Note, seen: RuleInput) -> Ruling:
    judgement, shown, policy, verdict = seen.judgement, seen.shown, seen.policy, seen.so_far
    if judgement is None or verdict is None or not verdict.can_be_arbitrated:
        return None
    if judgement.relation is Relation.UNSURE:
        return _suspected(note, judgement, shown, verdict)
    reason = f"the arbiter calls it {judgement.relation}"
    if judgement.action is Action.ADD or judgement.target is None:
        return add(DecidedBy.ARBITER, reason)
    target = shown[judgement.target - 1]
    # Entries of a list sound alike to a judge: invoice 1020 does not take the place of 1000.
    if policy.guard and name_two_entries(note.text, target.text):
        return None
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


_SUSPECTED_MIN = 0.85
"""How sure an unsure judge must be about a fact of which the note does not speak. Source: the
writers in ``judge/`` that it was not trained on. Below it 55 of 90 such suspicions were wrong."""


def _suspected(
    note: Note, judgement: Judgement, shown: Sequence[Neighbour], verdict: Verdict
) -> Ruling:
    """Keep the verdict so far, with a link to the fact that an unsure judge suspects, if any.

    If the note neither speaks of that fact nor says that something has changed, the judge must be
    surer: otherwise the contact is asked which of two unrelated facts holds.
    """
    if judgement.target is None or verdict.action is not Action.ADD or verdict.is_history:
        return None
    fact = shown[judgement.target - 1]
    if fact.is_expired or fact in verdict.conflicts or name_two_entries(note.text, fact.text):
        return None
    is_unsure = judgement.confidence < _SUSPECTED_MIN
    if is_unsure and not (tells_of_change(note.text) or may_end(note, fact)):
        return None
    return replace(
        verdict,
        reason=f"{verdict.reason}; the arbiter is unsure whether it replaces a known fact",
        conflicts=(*verdict.conflicts, fact),
    )


def _also_ended(
    note: Note, judgement: Judgement, shown: Sequence[Neighbour], policy: ReconcilePolicy
) -> Neighbours:
    """The further facts that a judgement names.

    If the note says the same, only those without a loss.
    """
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
"""How many facts an arbiter is shown. In 98.6 % of the real updates in LongMemEval the right
neighbour is among the first three, and it is never after the fifth."""

_REACH_OF_CHANGE = 0.5
"""The reach for a note that says it is a change, as a share of the usual reach. Source:
benchmarks/natural.py, where half of the changes below the reach are above half of it. It is also
used for a note that is not in English: no word shows there if the note is a change, and the cosine
is less useful (benchmarks/languages.py)."""

_NEAR_COUNT, _ALIKE_COUNT = 3, 2
"""Places reserved among the shown facts: for nearness, and for shared words or slot."""


def replaceable(note: Note, neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """The five nearest neighbours that the note could replace: live facts first, by nearness.

    An expired fact counts by its nearness, so that a note that repeats it finds it among any number
    of live facts. The note cannot replace a fact about another subject, or another value of an
    attribute that holds many.
    """
    beside = (SlotMatch.APART, SlotMatch.OPEN)
    neighbours_fit = [
        neighbour for neighbour in neighbours if match_of(note, neighbour) not in beside
    ]
    return live_first(neighbours_fit[:CANDIDATE_COUNT_MAX])


def shown_to_judge(
    note: Note, neighbours: Iterable[Neighbour] | None, policy: ReconcilePolicy
) -> list[Neighbour]:
    """The facts that an arbiter is asked about, at most five: live facts first, by nearness.

    Three are near in meaning, two share the note's words or attribute, and others of both kinds
    fill the remaining places. Without a reach they are the facts that the note could replace. A
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
    if note.slot is None or note.slot_read_from is not None:
        return False
    return note.slot.subject != (fact.slot.subject if fact.slot else CONTACT_SUBJECT)


def _answers_same(note: Note, fact: Neighbour) -> bool:
    """True if both have the same attribute, even if their subjects differ."""
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
"""All rules, in order: the first that answers decides. A judge is asked last; if it may be asked,
its answer replaces the verdict so far."""


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

    A verdict that ``can_be_arbitrated`` is valid without an arbiter; if ``decide`` is called again
    with a checked judgement, the judgement decides. A given slot decides by itself; a slot that was
    read from the words is a guess, which a judge may overrule.

    Args:
        note: what to remember.
        neighbours: facts in scope that have not ended, nearest first, and facts that share the
            note's slot; None without an embedder.
        policy: the thresholds.
        judgement: an arbiter's answer about ``shown`` that ``check_judgement`` accepted, if any.
        shown: the facts that the judgement counts; None for ``shown_to_judge``.
        unread: returns the parts of a text that the embedding model could not read; the cosine
            ignores them.
        relations: the relations from a model that read the note and the neighbours; all facts that
            it names are among the neighbours. The model is not asked again.
        related_by: which model said so.
        is_state: whether the note is a plain statement, judged by its vector.
        taken_back: the ids of the permissions that the note withdraws, judged by vectors.

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
    if relations is None:
        return verdict
    if relations.ended_ids and not verdict.is_history:
        others = [
            fact for fact in beside if not (fact.is_upcoming or fact.fact_id in relations.named_ids)
        ]
        again = decide(note, others, policy, unread=unread, is_state=is_state)
        is_plan = bool(verdict.targets) and note.is_ahead(note.said_at)
        if again.action is Action.UPDATE and again.is_restatement and not is_plan:
            verdict = replace(
                again,
                decided_by=related_by,
                reason=f"{verdict.reason}; {again.reason}",
                targets=again.targets + verdict.targets,
                conflicts=again.conflicts + verdict.conflicts,
                voided=verdict.voided,
            )
    return replace(verdict, can_be_arbitrated=False)


def _by_rules(note: Note, seen: RuleInput) -> Verdict:
    """The verdict of the first rule that answers, with its links; then that of the judge."""
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
    """The live fact that says all that the note says; None if there is none, or if it is not clear.

    A word that only the note has may be the part that needs a yes, with any slot.

    Args:
        note: what was proposed.
        neighbours: as ``decide`` takes them.
        policy: the thresholds.
        unread: as ``decide`` takes it.
        is_state: as ``decide`` takes it.
    """
    verdict = decide(note, neighbours, policy, unread=unread, is_state=is_state)
    known = verdict.target
    if known is None or known.is_expired or verdict.is_history or not verdict.is_restatement:
        return None
    says_more = news_of(note, known, policy) or not is_repeated_in(note.text, known.text)
    return None if says_more else known


def dated(note: Note, verdict: Verdict) -> Note:
    """The note to write; an undated note is not older than the fact that decided.

    So the fact that it supersedes does not end before it began, even if clocks differ. Other facts
    do not change its time, because one host's wrong clock would then spread over the whole contact.

    Args:
        note: what was said; without a date of its own, said now.
        verdict: the verdict of ``decide`` about it.
    """
    related = (*verdict.targets, *verdict.conflicts, *verdict.settled)
    return note.no_earlier_than(fact.valid_from for fact in related if not fact.is_upcoming)
