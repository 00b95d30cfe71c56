"""The use store: alone names the query that keeps how facts are used. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping

from reconciler.ports.graph import Graph
from reconciler.service.use_trace import Use

__all__ = ["UseStore"]


class UseStore:
    """How often facts were recalled, in one graph."""

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
