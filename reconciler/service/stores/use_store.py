"""The use store: alone names the queries that keep how a memory is used. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.ports.graph import Graph
from reconciler.service.use_trace import Asked, Use

__all__ = ["UseStore"]


class UseStore:
    """How often facts were recalled and contacts asked about, in one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def record_use(self, used: Mapping[str, Use]) -> None:
        """Add to what is kept of these facts, by their ids, in one transaction.

        Raises:
            GraphError: nothing was written.
        """
        rows = [
            {"fact_id": fact_id, "recalls": use.times, "at": use.at}
            for fact_id, use in used.items()
        ]
        self._graph.run("record_use", {"used": rows})

    def record_recalls(self, asked: Mapping[str, Asked]) -> None:
        """Add to what is kept of these contacts, by their keys, in one transaction.

        A contact that is unknown is left out.

        Raises:
            GraphError: nothing was written.
        """
        # In one order, so that two processes never wait for each other.
        rows = [
            {"contact_key": key, "recalls": counts.times, "empty_recalls": counts.empty}
            for key, counts in sorted(asked.items())
        ]
        self._graph.run("record_recalls", {"asked": rows})
