"""History: puts facts and their supersessions together into chains. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.facts import Fact, FactHistory, Supersession

__all__ = ["chains"]


def chains(facts: Iterable[Fact], supersessions: Iterable[Supersession]) -> list[FactHistory]:
    """One chain for each fact that nothing superseded, the one said last first.

    A fact is superseded by at most one other and supersedes at most one: chains have no forks.
    """
    by_id = {fact.fact_id: fact for fact in facts}
    below = {each.new_id: each for each in supersessions}
    superseded_ids = {each.old_id for each in below.values()}
    heads = [fact for fact in by_id.values() if fact.fact_id not in superseded_ids]
    heads.sort(key=lambda fact: (fact.last_confirmed_at, fact.recorded_at), reverse=True)
    return [_chain(head, by_id, below) for head in heads]


def _chain(head: Fact, by_id: dict[str, Fact], below: dict[str, Supersession]) -> FactHistory:
    facts, links = [head], []
    while (link := below.get(facts[-1].fact_id)) is not None:
        links.append(link)
        facts.append(by_id[link.old_id])
    return FactHistory(facts=tuple(facts), supersessions=tuple(links))
