"""Explanations: the reasons of a decision, in plain words.

Pure. Here: sentences about recorded facts and decisions. Never here: how sentences are shown;
quoted texts may hold markup of any kind, but no line breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain

from reconciler.domain.reconciling.disputes import WHOSE
from reconciler.domain.reconciling.limits import LIMITS
from reconciler.domain.reconciling.rule import RULES
from reconciler.domain.records.candidates import Evidence
from reconciler.domain.records.decisions import Comparison, Decision
from reconciler.domain.records.kinds import (
    Action,
    DecidedBy,
    Disposal,
    GateReason,
    Outcome,
    Relation,
)
from reconciler.domain.records.notes import CONTACT_SUBJECT, Slot, SlotMatch, compare_slots
from reconciler.frozen import Json, Strings, frozen
from reconciler.reading.visible_text import shortened, visible

QUOTE_LENGTH_MAX = 80
"""Characters of a note or fact that a sentence quotes: enough to recognise it by."""

ARGUMENT_LENGTH_MAX = 300
"""Characters of an arbiter's reasoning; the arbiter is asked for three short sentences."""

QUOTE_COUNT_MAX = 3
"""Facts that a sentence quotes; the others are counted."""

_RELATED = {
    Relation.SAME: "says the same as {fact}",
    Relation.REFINES: "says {fact} more precisely",
    Relation.REPLACES: "replaces {fact}",
    Relation.COEXISTS: "holds side by side with {fact}",
    Relation.UNRELATED: "has nothing to do with {fact}",
    Relation.UNSURE: "may or may not replace {fact}",
}

_RULE = {DecidedBy(row.decided_by): row.why for row in (*RULES, *LIMITS) if row.why} | {
    DecidedBy.AMENDMENT: "An operator corrected it, which ends the known fact.",
    DecidedBy.AGENT: "The agent's model read note and facts, and said how they relate.",
    DecidedBy.EXTRACTOR: "The extractor read note and facts, and said how they relate.",
    DecidedBy.ANSWER: "An operator decided it; no fact was compared.",
    DecidedBy.GATE: "A note that repeats a known fact is counted; no question is asked.",
}

_SAYS_MORE = "The fact says more than the note, so it stays, and the note counts as said again."

_RELATED_FATE = "a model's statement about known facts"
_UNRELATED = "Reverting this decision would put the facts back as they were."
_FATES = {
    Action.ADMIT: "let through by the write gate, and is not remembered until it is committed",
    Action.HOLD: "held by the write gate, and is not remembered until a person confirms it",
    Action.REJECT: "refused by the write gate",
    Action.DECLINE: "not remembered, because the answer was no",
    Action.WITHDRAW: "withdrawn before it was answered",
    Action.REVOKE: "the reason why a fact was ended",
    Action.RESOLVE: "the reason why one side of a dispute was kept",
    Action.REVERT: "the reason why earlier decisions were undone",
    Action.ARCHIVE: "the reason why facts were archived",
    Action.UNARCHIVE: "the reason why an archived fact is live again",
    Action.CITE: "kept as the reference of a reply or an act that used facts",
    Action.MERGE: "the reason why another contact was merged into this one",
}
_WOULD = {
    Disposal.REJECT: "refuse it",
    Disposal.CONFIRM: "ask a person",
    Disposal.CONSENT: "ask the contact for consent",
}
_COUNTERFACTUALS = {
    Action.ADMIT: "Committing it would compare it with what is known and remember it.",
    Action.HOLD: "A yes from a person other than its proposer would store it; a no is kept.",
    Action.REJECT: "No known fact would have changed it: the gate decides before any comparison.",
    Action.DECLINE: "A yes would have stored it.",
    Action.WITHDRAW: "It may be proposed again.",
    Action.REVOKE: "A new note about it would be stored like any other.",
    Action.RESOLVE: "Another answer would have kept another side.",
    Action.REVERT: "Reverting this decision would restore the decisions that it undid.",
    Action.ARCHIVE: "A fact is recalled again if it is repeated, or if this decision is reverted.",
    Action.UNARCHIVE: "Reverting this decision would archive it again.",
    Action.CITE: "It changes no fact.",
    Action.MERGE: "Reverting this decision would give the other contact back what was its own.",
}

_BY_TEXT = (DecidedBy.THRESHOLD, DecidedBy.MIDPOINT)

_MEETING = {
    SlotMatch.EQUAL: "which is the same answer",
    SlotMatch.CHANGED: "and only one of them can hold",
    SlotMatch.OPEN: "and nothing says whether both can hold",
    SlotMatch.APART: "so neither can take the other's place",
}


@frozen
class Explanation:
    """A decision in plain words; every field holds whole sentences of one line.

    Attributes:
        outcome: what happened to the note.
        remarks: a to and fro, a person's correction, a replay; often empty.
        neighbours: which fact it was decided on, how similar, and what else was compared.
        rule: which rule decided, and how.
        differences: what the guard found, and what the slots say.
        arbiter: what the arbiter answered, or that none was asked or used.
        counterfactuals: what would have given another outcome, if the gate or a person decided;
            empty if the rule decided, because its sentences name the thresholds.
        evidence: the turns of the decision: speaker, time, session and words.
    """

    outcome: str
    remarks: Strings = ()
    neighbours: Strings = ()
    rule: Strings = ()
    differences: Strings = ()
    arbiter: Strings = ()
    counterfactuals: Strings = ()
    evidence: Strings = ()

    def sentences(self) -> Strings:
        """All sentences, in the best order for a reader."""
        outcome, *others = asdict(self).values()
        return (outcome, *chain.from_iterable(others))

    def to_dict(self) -> Json:
        """Plain values for JSON: strings, and lists of them."""
        outcome, *others = asdict(self).items()
        return dict([outcome, *((name, list(sentences)) for name, sentences in others)])


def explain(decision: Decision, evidence: Iterable[Evidence] = ()) -> Explanation:
    """Explain the outcome of a decision, in sentences that are true of it.

    Args:
        decision: the decision to explain.
        evidence: the turns of the decision, the oldest first.
    """
    explained = _explain_verdict if decision.action.is_reconciled else _explain_disposal
    return replace(explained(decision), evidence=tuple(map(_evidence_sentence, evidence)))


def explain_in_short(decision: Decision) -> tuple[str, Strings]:
    """Outcome and the remarks of an explanation."""
    told = explain(decision)
    return told.outcome, told.remarks


def _explain_verdict(decision: Decision) -> Explanation:
    """What the rule decided about a note, and why."""
    focus = _focus_of(decision)
    return Explanation(
        outcome=_outcome_sentence(decision),
        remarks=tuple(_remarks(decision)),
        neighbours=tuple(_neighbour_sentences(decision, focus)),
        rule=tuple(_rule_sentences(decision, focus)),
        differences=tuple(_difference_sentences(decision, focus)),
        arbiter=tuple(_arbiter_sentences(decision)),
    )


def _focus_of(decision: Decision) -> Comparison | None:
    """The fact that decided; None if there is none, or if it is no longer on record."""
    # Else the most similar fact that the note could replace.
    close = (
        fact
        for fact in decision.compared_with
        if compare_slots(decision.note.slot, fact.slot) is not SlotMatch.APART
    )
    return next(iter(_met(decision) or (*close, *decision.compared_with)), None)


def _met(decision: Decision) -> list[Comparison | None]:
    """The facts that it replaced, repeated or contradicts.

    None for a fact that is no longer on record.
    """
    by_id = {fact.fact_id: fact for fact in decision.compared_with}
    return [
        by_id.get(fact_id) for fact_id in (*decision.verdict.targets, *decision.conflicting_ids)
    ]


def _explain_disposal(decision: Decision) -> Explanation:
    """Why the gate did not let a candidate through, or how it was settled."""
    gate = decision.gate
    if gate and gate.reason is GateReason.WRONG_RELATION:
        # What a model said of facts was refused; the gate weighs no words of its own.
        return Explanation(
            outcome=_stop(_one_line(decision.reason, ARGUMENT_LENGTH_MAX)),
            counterfactuals=("Nothing was changed.",),
        )
    is_related = decision.action is Action.RESOLVE and decision.decided_by is not DecidedBy.ANSWER
    was = _RELATED_FATE if is_related else _FATES[decision.action]
    fate = _stop(f"The note {_quote(decision.text)} was {was}")
    findings = tuple(
        _stop(
            f"The check of {finding.check.replace('_', ' ')} would {_WOULD[finding.disposal]}: "
            f"{finding.detail}"
        )
        for finding in (gate.findings if gate else ())
        if finding.disposal is not Disposal.ADMIT
    )
    return Explanation(
        outcome=fate,
        remarks=(
            _stop(f"The reason: {_one_line(decision.reason, ARGUMENT_LENGTH_MAX).rstrip('.')}"),
        ),
        rule=(_RULE[decision.decided_by],)
        if is_related
        else (*findings, *_score_sentences(decision)),
        counterfactuals=(_UNRELATED if is_related else _COUNTERFACTUALS[decision.action],),
    )


def _score_sentences(decision: Decision) -> Iterator[str]:
    if decision.gate and decision.gate.policy_version:
        parts = ", ".join(map(str, decision.gate.parts))
        yield _stop(
            f"The gate was sure of it to {decision.gate.confidence:.2f} ({parts}), under policy "
            f"{decision.gate.policy_version} for domain {decision.gate.domain}"
        )


def _outcome_sentence(decision: Decision) -> str:
    quotes = {fact.fact_id: _quote(fact.text) for fact in decision.compared_with}
    targets, conflicts = (
        [quotes.get(fact_id, "a fact no longer on record") for fact_id in ids]
        for ids in (decision.verdict.targets, decision.conflicting_ids)
    )
    fate = _fate(decision.verdict.outcome, targets, conflicts)
    return _stop(f"The note {_quote(decision.text)} was {fate}")


def _fate(outcome: Outcome, targets: Sequence[str], conflicts: Sequence[str]) -> str:
    """A note's fate, to be read after "was"."""
    beside = f"beside {_joined(conflicts)}, which it may contradict"
    match outcome:
        case Outcome.HISTORY:
            return f"kept as history beneath {_joined(targets)}, which holds from later on"
        case Outcome.REPEATED:
            return f"counted as a repetition of {_joined(targets)}, without a new fact"
        case Outcome.SUPERSEDED:
            kept = f", and kept {beside}" if conflicts else ""
            return f"put in the place of {_joined(targets)}{kept}"
        case Outcome.CONFLICT:
            return f"kept as a new fact {beside}"
        case Outcome.APART:
            return "kept as a new fact of its own"


def _remarks(decision: Decision) -> Iterator[str]:
    if decision.note.slot and decision.note.slot_read_from:
        words = _quote(decision.note.slot_read_from)
        yield f"It came without a slot; {_filed(decision.note.slot)} was read from {words}."
    if decision.verdict.is_contested:
        _, _, why = decision.reason.rpartition("; contested: ")
        yield f"It is marked as contested: {_one_line(why, 2 * QUOTE_LENGTH_MAX)}."
    if decision.verdict.settled:
        yield "It agrees with one side of a dispute, so the other side ended with it."
    if decision.decided_by is DecidedBy.AMENDMENT:
        yield _stop(f"The note was {_one_line(decision.reason, ARGUMENT_LENGTH_MAX).rstrip('.')}")
    if decision.correction is not None:
        focus = _focus_of(decision)
        fact = _quote(focus.text) if focus else "what was known"
        related = _RELATED[decision.correction].format(fact=fact)
        yield f"A person later said that the note {related}; this changed no fact."
    if decision.gate and (unread := decision.gate.unread):
        yield _stop(f"The gate's check of topics says: {unread}")
    if decision.replayed:
        yield "An earlier call with the same key was decided so; nothing was written again."


def _neighbour_sentences(decision: Decision, focus: Comparison | None) -> Iterator[str]:
    if focus is not None:
        which = "nearest fact" if focus == decision.compared_with[0] else "fact it was decided on"
        similarity = f"{focus.cosine:.3f} (1 would be the same wording)"
        yield f"The {which}, {_quote(focus.text)}, is similar at {similarity}."
        others = [fact for fact in decision.compared_with if fact != focus]
        figures = [f"{_quote(other.text)} at {other.cosine:.3f}" for other in others]
        if others:
            yield f"Also compared: {_joined(figures)}."
    elif decision.decided_by is DecidedBy.NOOP:
        yield "There is no embedder, so the note was compared with nothing."
    elif decision.cosine is None:
        yield "There was no live fact to compare the note with."
    else:
        yield "The fact that it was decided on is no longer on record."


def _rule_sentences(decision: Decision, focus: Comparison | None) -> Iterator[str]:
    if decision.decided_by is DecidedBy.GUARD and decision.action is Action.SKIP:
        yield _SAYS_MORE
    else:
        profile, reason = decision.policy.profile, _one_line(decision.reason, ARGUMENT_LENGTH_MAX)
        by_thresholds = f"The thresholds of the profile {_quote(profile)} decided: {reason}"
        yield _RULE.get(decision.decided_by) or _stop(by_thresholds)
    if decision.decided_by is DecidedBy.ORDER and focus is not None:
        begins = (decision.note.holds_from, focus.valid_from)
        note_from, fact_from = (f"{at:%Y-%m-%d %H:%M:%S}" for at in begins)
        yield f"The note holds from {note_from}, the fact from {fact_from} (UTC)."
    is_held = decision.decided_by is DecidedBy.TRUST or decision.action is Action.UPDATE
    yields_to = decision.note.trust.is_trusted_less_than
    more_trusted = [fact for fact in _met(decision) if fact and yields_to(fact.trust)]
    for fact in more_trusted[:1] if is_held else ():
        note_is, fact_is = WHOSE[decision.note.trust], WHOSE[fact.trust]
        yield f"The note is {note_is}, and {_quote(fact.text)} is {fact_is}, which is trusted more."


def _difference_sentences(decision: Decision, focus: Comparison | None) -> Iterator[str]:
    findings = decision.verdict.findings
    for finding in findings:
        yield f"The guard found a difference in {_one_line(str(finding), 2 * QUOTE_LENGTH_MAX)}."
    if focus is None:
        return
    if not decision.policy.guard:
        yield "The guard was off, so the texts were not compared for differences."
    elif not findings and decision.action is not Action.ADD and decision.decided_by in _BY_TEXT:
        yield "The guard found no difference between the texts."
    yield _slot_sentence(decision.note.slot, focus.slot)


def _slot_sentence(note: Slot | None, fact: Slot | None) -> str:
    match = compare_slots(note, fact)
    if note is None or fact is None or match is SlotMatch.UNKNOWN:
        return "Their attributes do not decide, so the wording counts."
    return (
        f"The note is filed under {_filed(note)}, the fact under {_filed(fact)}, {_MEETING[match]}."
    )


def _filed(slot: Slot) -> str:
    told = "the contact" if slot.subject == CONTACT_SUBJECT else _quote(slot.subject)
    if slot.attribute:
        told = f"{_quote(slot.attribute)} of {told}"
    return told if slot.value is None else f"{told} as {_quote(slot.shown_value or '')}"


def _arbiter_sentences(decision: Decision) -> Iterator[str]:
    if decision.opinion.arbiter is None:
        yield "No arbiter was asked."
        return
    name = f"The arbiter {_quote(decision.opinion.arbiter)}"
    if decision.opinion.relation is None:
        error = decision.opinion.error  # none where its words were erased
        why = f" ({_one_line(error, ARGUMENT_LENGTH_MAX)})" if error else ""
        yield f"{name} gave no answer that could be used{why}."
    else:
        yield _answer_sentence(decision, name, decision.opinion.relation)
    if decision.opinion.is_cached:
        yield "The answer was remembered from an equal question before."
    if decision.opinion.reasoning:
        yield _stop(f"It argued: {_quote(decision.opinion.reasoning, ARGUMENT_LENGTH_MAX)}")


def _answer_sentence(decision: Decision, name: str, relation: Relation) -> str:
    ranked = {other.rank: _quote(other.text) for other in decision.compared_with}
    fact = ranked.get(decision.opinion.target or 0, "the facts that it was shown")
    sure = decision.opinion.confidence
    confidence = "" if sure is None else f", at a confidence of {sure:.2f} of 1"
    return _stop(
        f"{name} answered that the note {_RELATED[relation].format(fact=fact)}{confidence}"
    )


def _evidence_sentence(told: Evidence) -> str:
    when = f"{told.said_at:%Y-%m-%d %H:%M} UTC"
    words = " … ".join(_quote(quote) for quote in told.quoted[:QUOTE_COUNT_MAX])
    is_whole = told.quoted == (told.text,)
    cited = "" if is_whole else f", in {_quote(told.text)}"
    where = f"in session {_quote(told.session_id)} on {when}"
    return _stop(f"The evidence is {WHOSE[told.source_kind]}, {where}: {words}{cited}")


# Words and figures


def _stop(sentence: str) -> str:
    """End a sentence with one full stop, also after a quotation that has its own."""
    return sentence if sentence.endswith(('."', '!"', '?"', '…"')) else f"{sentence}."


def _quote(text: str, length_max: int = QUOTE_LENGTH_MAX) -> str:
    return f'"{_one_line(text, length_max)}"'


def _one_line(text: str, length_max: int) -> str:
    """Shorten a text and put it on one line, with invisible characters as escapes."""
    return shortened(visible(" ".join(text.split())), length_max)


def _joined(texts: Sequence[str]) -> str:
    """A list in words: the first few texts, and how many more there are."""
    more = len(texts) - QUOTE_COUNT_MAX
    parts = [*texts[:QUOTE_COUNT_MAX], *([f"{more} more"] if more > 0 else [])]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
