"""Planning: everything that is erased with a fact, a session or an attribute. Pure.

A fact is erased with all that says the same: its restatements, newer and older, and the decisions
about them. Facts that it replaced, and facts that replaced it, say something else and stay; the
reason of the replacement is erased, because it quotes both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import field, replace
from datetime import datetime

from reconciler.domain.erasing.redaction import argued, without_words
from reconciler.domain.erasing.tombstones import in_one_form
from reconciler.domain.reconciling.ahead import Plans
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.erasures import (
    ERASED,
    ErasureKind,
    ErasurePlan,
    ErasureTarget,
    FactEnd,
)
from reconciler.domain.records.facts import Fact, Supersession
from reconciler.domain.records.kinds import SPANS_JOINED, Action, FactState
from reconciler.domain.records.notes import Remembered
from reconciler.domain.values.look_alikes import as_seen
from reconciler.frozen import frozen

_WORD_LENGTH_MIN = 4
"""Shorter words are not searched for in other texts: they would be found inside words."""

_OPERATORS = (Action.REVOKE, Action.RESOLVE)


@frozen
class Judged:
    """An episode that a decision rests on, and its cited words; None for the whole text."""

    decision_id: str
    episode_id: str
    session_id: str
    span: str | None = None
    text: str


@frozen
class ContactRecords:
    """All records of a contact that a plan is made of.

    Attributes:
        facts: live and ended.
        links: the supersessions.
        decisions: all decisions, with comparisons.
        judged: the episodes that the decisions rest on.
        session_keys: the sessions' keys by their ids.
    """

    facts: Sequence[Fact]
    links: Sequence[Supersession]
    decisions: Sequence[Decision]
    judged: Sequence[Judged]
    session_keys: Mapping[str, str] = field(default_factory=dict)


def plan_of(target: ErasureTarget, known: ContactRecords, now: datetime) -> ErasurePlan:
    """The ids of everything that an erasure removes.

    Args:
        target: a fact, a session or an attribute. A whole contact needs no plan.
        known: the contact's records at one version.
        now: the time now (UTC); an erased fact that was to begin later never began.
    """
    if target.kind is ErasureKind.CONTACT:
        return ErasurePlan()
    is_session = target.kind is ErasureKind.SESSION
    plan = _plan_of_session(str(target.session_id), known) if is_session else _of(target, known)
    return replace(plan, ends=_ends(plan, known, now))


def _of(target: ErasureTarget, known: ContactRecords) -> ErasurePlan:
    """The ids that are erased with a fact or an attribute."""
    facts = _same_facts(_named(target, known.facts), known)
    said = {key for fact in facts for key in _keys(fact)}
    own = {
        decision.decision_id
        for decision in known.decisions
        if _is_about(decision, {fact.fact_id for fact in facts})
        or said & _keys(decision.note)
        or _is_filed(target, decision.note)
    }
    own |= _connected(own, known.decisions)
    rows = [episode for episode in known.judged if episode.decision_id in own]
    return _plan(facts, own, _left(rows, own, known.judged), {e.session_id for e in rows}, known)


def said_by(facts: Iterable[Fact], decisions: Iterable[Decision]) -> set[str]:
    """The texts and values of these records that are long enough to search for."""
    words: set[str] = set()
    for item in (*facts, *(decision.note for decision in decisions)):
        words |= {item.text, (item.slot.value if item.slot else None) or ""}
    return {word.casefold() for word in words - {ERASED} if len(word) >= _WORD_LENGTH_MIN}


def _plan_of_session(session_id: str, known: ContactRecords) -> ErasurePlan:
    in_session = [episode for episode in known.judged if episode.session_id == session_id]
    first = {decision.decision_id: decision.episode_id for decision in known.decisions}
    own = {
        episode.decision_id
        for episode in in_session
        if first.get(episode.decision_id) == episode.episode_id
    }
    own |= {
        decision.decision_id
        for decision in known.decisions
        if decision.note.session_id == session_id
    }
    own |= _connected(own, known.decisions)
    written = {
        decision.fact_id
        for decision in known.decisions
        if decision.decision_id in own and _wrote(decision)
    }
    facts = [fact for fact in known.facts if fact.fact_id in written]
    episodes = {episode.episode_id: ERASED for episode in in_session}
    return _plan(facts, own, episodes, {session_id}, known, are_revived=True)


def _plan(
    facts: Collection[Fact],
    own: Set[str],
    episodes: Mapping[str, str],
    session_ids: Set[str],
    known: ContactRecords,
    *,
    are_revived: bool = False,
) -> ErasurePlan:
    gone = {fact.fact_id for fact in facts}
    words = said_by(
        facts, (decision for decision in known.decisions if decision.decision_id in own)
    )
    quoting = [
        decision.decision_id
        for decision in known.decisions
        if decision.decision_id not in own and _may_quote(decision, gone, words)
    ]
    return ErasurePlan(
        fact_ids=tuple(sorted(gone)),
        revived_ids=tuple(sorted(_revived(facts, known))) if are_revived else (),
        decision_ids=tuple(sorted(own)),
        quoting_ids=tuple(quoting),
        episodes=dict(episodes),
        session_keys=tuple(
            known.session_keys[session_id]
            for session_id in sorted(session_ids & known.session_keys.keys())
        ),
    )


def _ends(plan: ErasurePlan, known: ContactRecords, now: datetime) -> tuple[FactEnd, ...]:
    """The new ends of facts, without the plans of erased decisions."""
    facts = {fact.fact_id: fact for fact in known.facts}
    own = {*plan.decision_ids}
    left = [without_words(e, now) if e.decision_id in own else e for e in known.decisions]
    plans = Plans(left, facts)
    gone_ids = {fact_id for fact_id in plan.fact_ids if facts[fact_id].is_upcoming(now)}
    going = (decision for decision in known.decisions if decision.decision_id in own)
    plan_ids = {end.plan_id for decision in going for end in decision.planned_ends}
    concerned = {fact.fact_id: fact for fact in plans.ended_by(gone_ids | plan_ids)}
    for fact_id in plan.revived_ids:
        concerned[fact_id] = replace(facts[fact_id], state=FactState.LIVE, valid_to=None)
    standing = {fact_id: plans.standing(fact, gone_ids) for fact_id, fact in concerned.items()}
    return tuple(
        FactEnd(fact_id=fact_id, valid_to=fact.valid_to, expires_at=fact.expires_at)
        for fact_id, fact in sorted(standing.items())
        if fact_id not in plan.fact_ids and fact != concerned[fact_id]
    )


def _named(target: ErasureTarget, facts: Iterable[Fact]) -> list[Fact]:
    if target.fact_id is not None:
        return [fact for fact in facts if fact.fact_id == target.fact_id]
    return [fact for fact in facts if _is_filed(target, fact)]


def _is_filed(target: ErasureTarget, said: Remembered) -> bool:
    slot = said.slot
    if target.attribute is None or slot is None:
        return False
    return (slot.subject, slot.attribute) == (target.about, target.attribute)


def _same_facts(named: Sequence[Fact], known: ContactRecords) -> list[Fact]:
    """These facts and all that say the same, by restatement, by slot or by words."""
    by_id = {fact.fact_id: fact for fact in known.facts}
    pairs = [(link.new_id, link.old_id) for link in known.links if link.is_restatement]
    same_ids = {fact.fact_id for fact in named}
    while True:
        said = {key for fact_id in same_ids for key in _keys(by_id[fact_id])}
        more = {fact_id for pair in pairs if same_ids & set(pair) for fact_id in pair}
        more |= {fact.fact_id for fact in known.facts if said & _keys(fact)}
        more &= by_id.keys()
        if more <= same_ids:
            return [by_id[fact_id] for fact_id in same_ids]
        same_ids |= more


def _keys(said: Remembered) -> set[str]:
    """The keys that two records share if they say the same: slot with value, and words."""
    if said.text == ERASED:
        return set()
    slot = said.slot.key if said.slot else None
    return {in_one_form(said.text)} | ({f"slot {as_seen(slot)}"} if slot else set())


def _is_about(decision: Decision, gone: Set[str]) -> bool:
    """Whether a decision wrote or counted one of these facts, or a person ended one by it."""
    if decision.fact_id in gone:
        return True
    ended = {*decision.superseded_ids, *decision.closed_ids}
    return decision.action in _OPERATORS and bool(ended & gone)


def _connected(own: Set[str], decisions: Sequence[Decision]) -> set[str]:
    """The questions and answers that belong to these decisions, and the reverts of any."""
    links = [
        {decision.decision_id, linked}
        for decision in decisions
        for linked in (decision.proposal.settles_id, decision.proposal.held_id)
        if linked is not None
    ]
    undone = {e.decision_id: set(e.undo.decision_ids) for e in decisions if e.undo}
    connected = set(own)
    while True:
        more = {decision_id for link in links if link & connected for decision_id in link}
        more |= {decision_id for decision_id, ids in undone.items() if ids & connected}
        if more <= connected:
            return connected
        connected |= more


def _wrote(decision: Decision) -> bool:
    return decision.action in (Action.ADD, Action.UPDATE)


def _may_quote(decision: Decision, gone: Set[str], words: Set[str]) -> bool:
    named = {comparison.fact_id for comparison in decision.compared_with}
    named |= {*decision.superseded_ids, *decision.conflicting_ids, *decision.closed_ids}
    named |= {fact.fact_id for fact in decision.undo.before} if decision.undo else set()
    said = argued(decision).casefold()
    return bool(named & gone) or any(word in said for word in words)


def _left(rows: Sequence[Judged], own: Set[str], judged: Iterable[Judged]) -> dict[str, str]:
    """The rest of each episode: nothing, or the uncited words if other decisions need them."""
    shared = {episode.episode_id for episode in judged if episode.decision_id not in own}
    left: dict[str, str] = {}
    for row in rows:
        is_shared = row.episode_id in shared
        before = left.get(row.episode_id, row.text)
        left[row.episode_id] = _without(before, row) if is_shared else ERASED
    return left


def _without(left: str, row: Judged) -> str:
    """The text without the words that a decision cites; empty if it cites all of them."""
    parts = row.span.split(SPANS_JOINED) if row.span else []
    if not parts or any(part not in row.text for part in parts):
        return ERASED
    for part in parts:
        left = left.replace(part, ERASED)
    return left


def _revived(facts: Iterable[Fact], known: ContactRecords) -> set[str]:
    """Facts that ended for a restatement that goes, and that say the same."""
    by_id = {fact.fact_id: fact for fact in known.facts}
    gone = {fact.fact_id for fact in facts}
    beneath = {link.new_id: link.old_id for link in known.links if link.is_restatement}
    revived = set()
    for fact in facts:
        old_id: str | None = fact.fact_id if fact.state is FactState.LIVE else None
        while old_id in gone:
            old_id = beneath.get(str(old_id))
        if old_id in by_id and by_id[str(old_id)].state is FactState.SUPERSEDED:
            revived.add(str(old_id))
    return revived
