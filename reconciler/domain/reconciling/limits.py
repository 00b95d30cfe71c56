"""The limits of any verdict: detail, time, trust, guesses and standing facts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from reconciler.domain.reconciling.disputes import waits_for_a_person, yields
from reconciler.domain.reconciling.verdicts import (
    RuleInput,
    RuleLimit,
    Ruling,
    match_of,
    may_end,
    named_of,
    news_of,
    repeating,
    sparing,
    without_loss,
)
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Fact, Neighbour, Neighbours, Relations
from reconciler.domain.records.kinds import Action, DecidedBy, SourceKind
from reconciler.domain.records.notes import Note, SlotMatch
from reconciler.reading.guard import (
    denies_ever,
    names_a_part,
    share_a_word,
    takes_back,
    words_that_tell,
)
from reconciler.reading.kinds import Category

YIELDS = "does not supersede"
"""The reason for a note that cannot end a more trusted fact."""

WAITS = "another value of this attribute waits for an operator"
"""The reason for a note that the book lets no one but a person decide."""

OBSERVATIONS_OF_FIRM = 3
"""The number of observations from which a guess cannot end a fact."""


def within_limits(note: Note, seen: RuleInput, verdict: Verdict) -> Verdict:
    """Apply all limits to the verdict; each may keep facts that the verdict would end."""
    for limit in LIMITS:
        if verdict.action in limit.over:
            verdict = limit.apply(note, seen, verdict) or verdict
    return verdict


def _keeping_details(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A fact that says more than the note stays, even if a cosine or a model equates them."""
    repeats = seen.relations is not None and seen.relations.repeats is not None
    if repeats or verdict.decided_by in (DecidedBy.THRESHOLD, DecidedBy.MIDPOINT):
        return without_loss(note, verdict, seen.policy)
    return None


def _by_trust(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A less trusted note supersedes no fact: it repeats the fact, or is kept as another fact."""
    again = verdict.target if verdict.is_restatement else None
    held = tuple(
        target
        for target in verdict.targets
        if not target.is_expired and yields(note, target, seen.policy, is_again=target is again)
    )
    if not held:
        return None
    why = f"{note.trust} {YIELDS} {held[0].word}"
    if waits_for_a_person(held[0], seen.policy):
        why = WAITS
    return _protecting(held, note, seen, verdict, DecidedBy.TRUST, why)


def _by_hedge(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A guess does not end a fact that was confirmed or often said: it repeats it, or asks."""
    firm = tuple(
        target
        for target in verdict.targets
        if target.is_confirmed_by_user or target.observations >= OBSERVATIONS_OF_FIRM
    )
    if not note.is_hedged or not firm:
        return None
    known = firm[0]
    how = "confirmed" if known.is_confirmed_by_user else f"said {known.observations} times"
    why = f"a guess cannot end a fact that was {how}"
    return _protecting(firm, note, seen, verdict, DecidedBy.HEDGE, why)


def _protecting(
    held: Neighbours,
    note: Note,
    seen: RuleInput,
    verdict: Verdict,
    decided_by: DecidedBy,
    why: str,
) -> Verdict:
    """A verdict that keeps these facts: the note repeats the first, or is kept as another fact."""
    reason, known = f"{why} ({verdict.reason})", held[0]
    is_repeated = verdict.is_restatement and verdict.target is known
    if is_repeated and not news_of(note, known, seen.policy):
        return repeating(known, verdict, decided_by, reason)
    return sparing(held, verdict, decided_by, reason)


def _by_passing(note: Note, _seen: RuleInput, verdict: Verdict) -> Ruling:
    """A temporary note never ends a lasting fact; both stay, linked if a judge says otherwise."""
    if note.category is not Category.VOLATILE or not verdict.is_replacement:
        return None
    lasting = tuple(each for each in verdict.targets if each.category is not Category.VOLATILE)
    if not lasting:
        return None
    reason = f"a temporary note cannot replace a lasting fact ({verdict.reason})"
    spared = sparing(lasting, verdict, DecidedBy.GUARD, reason)
    is_judged = verdict.decided_by is DecidedBy.ARBITER
    return spared if is_judged else replace(spared, conflicts=verdict.conflicts)


def _by_matter(note: Note, _seen: RuleInput, verdict: Verdict) -> Ruling:
    """A model ends only facts that the note speaks of: a judge, standing ones that the note names.

    Each fact is checked separately; a person is asked about the other facts.
    """
    speaks_of = _SPEAKS_OF.get(verdict.decided_by)
    if speaks_of is None or not verdict.is_replacement:
        return None
    others = tuple(fact for fact in verdict.targets if not speaks_of(note, fact))
    if not others:
        return None
    reason = f"{verdict.reason}, yet the note is not about this fact: {others[0].text}"
    return sparing(others, verdict, DecidedBy.GUARD, reason)


def _names_if_standing(note: Note, fact: Neighbour) -> bool:
    """True if the note names a standing fact: two of its words, half of them, or its slot.

    "We switched to direct debit for your invoices" names one word of "Every invoice must carry our
    PO number".
    """
    named = len(named_of(note, fact))
    is_named = named > 1 or 2 * named >= len(words_that_tell(fact.text))
    return is_named or not fact.is_standing or match_of(note, fact) is SlotMatch.CHANGED


_SPEAKS_OF = {
    DecidedBy.AGENT: may_end,
    DecidedBy.EXTRACTOR: may_end,
    DecidedBy.ARBITER: _names_if_standing,
}
"""The check that a note speaks of a fact, for each model that says that the fact ends."""


def _by_part(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A fact of which the note names only a part stays: nothing is said of the rest."""
    is_judged = verdict.decided_by is DecidedBy.ARBITER and verdict.is_replacement
    if not (is_judged and seen.policy.guard):
        return None
    whole = tuple(fact for fact in verdict.targets if names_a_part(note.text, fact.text))
    if not whole:
        return None
    reason = f"{verdict.reason}, yet it does not end all of this fact: {whole[0].text}"
    return sparing(whole, verdict, DecidedBy.GUARD, reason)


def _by_standing(note: Note, _seen: RuleInput, verdict: Verdict) -> Ruling:
    """A decision ends only by a newer decision or a revocation.

    Any other note is kept as another fact.

    A new value of the same attribute ends it too. For a model's word, ``_MAY_END`` has other rules.
    Without this limit, an arbiter's REPLACES about a passing remark would end an agreement.
    """
    is_told = verdict.decided_by in _MAY_END
    if not (verdict.is_replacement or is_told):
        return None
    may_end = _MAY_END.get(verdict.decided_by, _may_end_by_rule)
    standing = tuple(each for each in verdict.targets if not may_end(note, each))
    if not standing or verdict.decided_by is DecidedBy.SLOT:
        return None
    reason = f"a standing decision ends only by another one or when revoked ({verdict.reason})"
    if not verdict.is_restatement:
        return sparing(standing, verdict, DecidedBy.STANDING, reason)
    # A model's "the same" is no proof: if the texts share no word, both stay.
    if verdict.target in standing and share_a_word(note.text, standing[0].text):
        return repeating(standing[0], verdict, DecidedBy.STANDING, reason)
    spared = sparing(standing, verdict, DecidedBy.STANDING, reason)
    return replace(spared, conflicts=verdict.conflicts, is_restatement=False)


def binds(fact: Fact | Neighbour) -> bool:
    """True if a fact orders, forbids or settles something, so that it ends only explicitly."""
    return fact.is_standing or fact.category is Category.DECISION


def _may_end_by_rule(note: Note, fact: Neighbour) -> bool:
    return note.category is Category.DECISION or fact.category is not Category.DECISION


def _may_end_by_judge(note: Note, fact: Neighbour) -> bool:
    """True if a judge may end the fact.

    A standing fact only by a decision, or if the contact said both.
    """
    words = {note.trust, fact.word}
    is_newer = note.category is Category.DECISION
    return not binds(fact) or is_newer or words == {SourceKind.USER_EXPLICIT}


def _may_end_by_model(note: Note, fact: Neighbour) -> bool:
    """True if a fact may end because a model says so: a model can be talked into it.

    An operator's fact ends only by another value in its slot. A standing or confirmed fact ends
    only by a note of the contact that shares a word with it.
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
"""The check that a fact may end, for each decider; all others use ``_may_end_by_rule``."""


def _correcting(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """Mark the targets of the verdict that were never true, as the note says.

    The note says so in words; or it gives another value with the same start in the past, so that
    the fact held for no time. If the note only takes facts back, it is not a fact, and nothing
    replaces them.
    """
    if not seen.policy.guard or not verdict.is_replacement:
        return None
    taken_back = {fact for fact in verdict.targets if takes_back(note.text, fact.text)}
    never = {fact for fact in verdict.targets if denies_ever(note.text, fact.text)}
    corrected = {fact for fact in verdict.targets if _corrects(note, fact)}
    voided = tuple(fact for fact in verdict.targets if fact in taken_back | never | corrected)
    is_revoked = taken_back == {*verdict.targets} and not verdict.conflicts
    action = Action.REVOKE if is_revoked else verdict.action
    return replace(verdict, action=action, voided=voided) if voided else None


def _corrects(note: Note, fact: Neighbour) -> bool:
    """True if the note gives another value with the same start in the past."""
    begins = note.valid_from
    is_past = begins is not None and begins < note.said_at and fact.is_start_given
    return is_past and begins == fact.valid_from and match_of(note, fact) is SlotMatch.CHANGED


def _in_order(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """An older note does not replace a newer fact: it becomes the history of that fact.

    An undated note is never older: see ``dated``. A fact that has ended, as a model says, may have
    begun after the note's start. A fact that is replaced, as a model says, counts as newer only if
    a person gave its start; otherwise only the times of saying are known.
    """
    if note.is_undated:
        return None
    is_told = verdict.decided_by is seen.related_by
    told = seen.relations if is_told else None
    newer = [
        target
        for target in verdict.targets
        if _began(note, target, told) < target.valid_from and not target.is_upcoming
        if told is None or target.fact_id not in told.ends
    ]
    # A repetition is counted, unless the note gives an earlier start.
    is_news = verdict.action is Action.SKIP and note.valid_from is not None
    if not newer or not (verdict.action is Action.UPDATE or is_news):
        return None
    above = max(newer, key=lambda target: target.valid_from)
    return replace(
        verdict,
        action=Action.ADD,
        decided_by=DecidedBy.ORDER,
        reason=f"older than the fact from {above.valid_from:%Y-%m-%d} (else: {verdict.reason})",
        targets=(above,),
        conflicts=(),
        is_restatement=verdict.is_restatement and above is verdict.target,
        is_history=True,
    )


def _began(note: Note, fact: Neighbour, told: Relations | None) -> datetime:
    """The note's time to compare with the fact's start: its own start, or when it was said."""
    if told is None or fact.fact_id not in told.replaces or fact.is_start_given:
        return note.holds_from
    return note.said_at if note.is_dated else max(note.said_at, fact.valid_from)


LIMITS = (
    RuleLimit(
        "guard",
        "the fact says more than the note",
        "SKIP if the fact has all of the note's words, else ADD",
        apply=_keeping_details,
    ),
    RuleLimit(
        "order",
        "the note is older than the fact (`valid_from`, else `said_at`; only `said_at` if a "
        "model says that the note replaces an undated fact)",
        "ADD as history beneath it, not live",
        over=frozenset({Action.UPDATE, Action.SKIP}),
        why="An older note cannot replace a newer fact, and an ended note cannot replace any.",
        apply=_in_order,
    ),
    RuleLimit(
        "trust",
        "the fact has a more trusted source, or a system that is listed for its attribute",
        "ADD, in dispute until a person answers; SKIP if the note brings nothing new",
        why="A less trusted word never replaces a more trusted one.",
        apply=_by_trust,
    ),
    RuleLimit(
        "hedge",
        "the note guesses, and the fact was confirmed or said three times",
        "ADD, in dispute; SKIP if the note brings nothing new",
        why="A guess alone does not end a fact that was confirmed or often said.",
        apply=_by_hedge,
    ),
    RuleLimit(
        "guard",
        "the note is volatile, and the fact that it would end is not",
        "ADD: a temporary note cannot replace a lasting fact (in Bergen, lives in Oslo)",
        apply=_by_passing,
    ),
    RuleLimit(
        "standing",
        "the fact is a decision or a standing wish, and the note is not one that may end it",
        "ADD, in dispute",
        why="A standing decision ends only by another one, or when it is revoked.",
        apply=_by_standing,
    ),
    RuleLimit(
        "guard",
        "an agent or an extractor says that a fact ends, but the note shares no word, "
        "attribute or meaning with it; or the fact orders, forbids or keeps the contact safe, and "
        "the note does not name it and tell of an end; or a judge says that a standing fact ends, "
        "but the note names neither half of its words nor two",
        "the fact stays, in dispute; the others end",
        apply=_by_matter,
    ),
    RuleLimit(
        "guard",
        'a judge says that a fact ends, but the note names only some of what "and" joins in it '
        "(uses SAP and Salesforce; dropped SAP)",
        "the fact stays, in dispute; the others end",
        apply=_by_part,
    ),
    RuleLimit(
        "as before",
        "the note says that the fact it ends was never true, or gives another value with the "
        "same start in the past",
        "REVOKE if the note says no more than that; else the fact is marked as never true",
        apply=_correcting,
    ),
)
"""The limits, in order; each gets the verdict that the ones before it left."""
