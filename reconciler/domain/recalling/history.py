"""History: joins facts and their supersessions into chains. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Conflict, Fact, FactEvent, FactHistory, Supersession


def chains(
    facts: Iterable[Fact],
    supersessions: Iterable[Supersession],
    conflicts: Sequence[Conflict] = (),
    events: Sequence[FactEvent] = (),
) -> list[FactHistory]:
    """One history for each fact that was never superseded, the one said last first.

    A fact is superseded by at most one other, and may supersede several: a history is a tree. A
    link to a fact that is not given is left out: that fact cannot be read.
    """
    by_id = {fact.fact_id: fact for fact in facts}
    beneath: dict[str, list[Supersession]] = {}
    for supersession in supersessions:
        if by_id.keys() >= {supersession.new_id, supersession.old_id}:
            beneath.setdefault(supersession.new_id, []).append(supersession)
    superseded_ids = {link.old_id for links in beneath.values() for link in links}
    heads = [fact for fact in by_id.values() if fact.fact_id not in superseded_ids]
    heads.sort(key=lambda fact: fact.fact_id)
    heads.sort(key=lambda fact: (fact.last_confirmed_at, fact.recorded_at), reverse=True)
    histories = [_history(head, by_id, beneath) for head in heads]
    return [
        replace(chain, conflicts=_of(chain.facts[0], conflicts), events=_about(chain, events))
        for chain in histories
    ]


def strand_ids(heads: Iterable[str], supersessions: Iterable[Supersession]) -> set[str]:
    """The ids of all facts in the histories of which these are the heads."""
    beneath: dict[str, list[str]] = {}
    for link in supersessions:
        beneath.setdefault(link.new_id, []).append(link.old_id)
    ids = list(heads)
    for fact_id in ids:  # it grows meanwhile
        ids += beneath.get(fact_id, ())
    return set(ids)


def head_of(fact_id: str, supersessions: Iterable[Supersession]) -> str:
    """The id of the head of the history that a fact belongs to."""
    above = {link.old_id: link.new_id for link in supersessions}
    while fact_id in above:
        fact_id = above[fact_id]
    return fact_id


def events_of(decision: Decision) -> list[FactEvent]:
    """The events of a person's decision, one for each fact."""
    before = [fact.fact_id for fact in decision.undo.before] if decision.undo else []
    named = [*decision.superseded_ids, *before, *([decision.fact_id] if decision.fact_id else [])]
    return [
        FactEvent(
            fact_id=fact_id,
            action=decision.action,
            by=decision.proposal.answered_by or decision.proposal.proposed_by or "unknown",
            reason=decision.text,
            at=decision.at,
            decision_id=decision.decision_id,
        )
        for fact_id in dict.fromkeys(named)
    ]


def _about(history: FactHistory, events: Sequence[FactEvent]) -> tuple[FactEvent, ...]:
    fact_ids = {fact.fact_id for fact in history.facts}
    return tuple(event for event in events if event.fact_id in fact_ids)


def _of(head: Fact, conflicts: Sequence[Conflict]) -> tuple[Conflict, ...]:
    return tuple(
        conflict for conflict in conflicts if head.fact_id in (conflict.new_id, conflict.old_id)
    )


def _history(
    head: Fact, by_id: dict[str, Fact], beneath: dict[str, list[Supersession]]
) -> FactHistory:
    facts, links = [head], []
    waiting = _newest_last(beneath.get(head.fact_id, []), by_id)
    while waiting:
        link = waiting.pop()
        links.append(link)
        facts.append(by_id[link.old_id])
        waiting += _newest_last(beneath.get(link.old_id, []), by_id)
    return FactHistory(facts=tuple(facts), supersessions=tuple(links))


def _newest_last(links: list[Supersession], by_id: dict[str, Fact]) -> list[Supersession]:
    return sorted(links, key=lambda link: (by_id[link.old_id].valid_from, link.at))
