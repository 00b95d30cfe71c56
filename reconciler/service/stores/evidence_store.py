"""The evidence store: alone names the queries of what facts rest on. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.domain.recalling.evidence import Said
from reconciler.domain.records.evidence import TakenBy
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.row_reader import RowReader, validated
from reconciler.service.stores.rows import SPANS_JOINED

__all__ = ["EvidenceStore"]


class EvidenceStore:
    """Turns and what was made of them, in one graph. The caller has checked the contact."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def list_said(self, fact_ids: Sequence[str]) -> list[Said]:
        """The turns that these facts rest on, once for each fact; in no order."""
        rows = self._graph.run("list_fact_evidence", {"fact_ids": list(fact_ids)})
        return _SAID.all(rows)

    def list_taken(self, episode_ids: Sequence[str]) -> dict[str, list[TakenBy]]:
        """By the ids of these turns, the decisions that were made on them; in no order."""
        taken_by: dict[str, list[TakenBy]] = {episode_id: [] for episode_id in episode_ids}
        rows = self._graph.run("list_judged", {"episode_ids": list(taken_by)})
        for row, taken in _TAKEN.pairs(rows):
            taken_by[row["episode_id"]].append(taken)
        return taken_by


def _said(row: Row) -> Said:
    told = {
        "spans": tuple(row["span"].split(SPANS_JOINED)) if row["span"] else (),
        "source_reference": row["source_reference"] or None,
    }
    return validated(Said, row | told)


_SAID = RowReader("Episode", "episode_id", _said)
_TAKEN = RowReader("Decision", "decision_id", lambda row: validated(TakenBy, row))
