"""The health store: alone names the queries that count what is kept. Decides nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from reconciler.domain.records.kinds import Action
from reconciler.domain.records.scope import Scope
from reconciler.domain.review.health import ActionCount
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.row_reader import RowReader

__all__ = ["HealthStore"]


class HealthStore:
    """Decisions and evidence of contacts, counted in the graph.

    Invariant: no method counts outside the scopes it is given; ``list_agents`` names all of them.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def list_agents(self) -> list[tuple[str, str]]:
        """All agents of the store, each with its tenant first, in that order."""
        return [(row["tenant"], row["agent_id"]) for row in self._graph.run("list_agents", {})]

    def count_actions(self, scopes: Iterable[Scope]) -> dict[str, list[ActionCount]]:
        """The decisions about each contact by what was done, by the contact's key."""
        counts: dict[str, list[ActionCount]] = defaultdict(list)
        rows = self._graph.run("count_actions", _keys(scopes))
        for row, count in _COUNTS.pairs(rows):
            counts[row["contact_key"]].append(count)
        return counts

    def count_episodes(self, scopes: Iterable[Scope]) -> dict[str, tuple[int, int]]:
        """The sessions and the episodes of each contact, by the contact's key."""
        return {
            row["contact_key"]: (int(row["sessions"]), int(row["episodes"]))
            for row in self._graph.run("count_episodes", _keys(scopes))
        }


def _keys(scopes: Iterable[Scope]) -> dict[str, list[str]]:
    return {"contact_keys": [scope.contact_key for scope in scopes]}


def _count(row: Row) -> ActionCount:
    return ActionCount(
        action=Action(row["action"]),
        is_answer=row["is_answer"],
        decisions=int(row["decisions"]),
    )


_COUNTS = RowReader("Decision of Contact", "contact_key", _count)
