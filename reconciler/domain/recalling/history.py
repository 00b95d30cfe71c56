"""History: puts facts and their supersessions together into chains. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reconciler.domain.records.facts import Conflict, Fact, FactHistory, Supersession

__all__ = ["chains"]


def chains(
    facts: Iterable[Fact],
    supersessions: Iterable[Supersession],
    conflicts: Sequence[Conflict] = (),
) -> list[FactHistory]:
    """One history for each fact that nothing superseded, the one said last first.

    A fact is superseded by at most one other, and may supersede several: a history is a tree.
    """
    by_id = {fact.fact_id: fact for fact in facts}
    beneath: dict[str, list[Supersession]] = {}
    for each in supersessions:
        beneath.setdefault(each.new_id, []).append(each)
    superseded_ids = {each.old_id for links in beneath.values() for each in links}
    heads = [fact for fact in by_id.values() if fact.fact_id not in superseded_ids]
    heads.sort(key=lambda fact: (fact.last_confirmed_at, fact.recorded_at), reverse=True)
    return [
        replace(_history(head, by_id, beneath), conflicts=_of(head, conflicts)) for head in heads
    ]


def _of(head: Fact, conflicts: Sequence[Conflict]) -> tuple[Conflict, ...]:
    return tuple(each for each in conflicts if head.fact_id in (each.new_id, each.old_id))


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
