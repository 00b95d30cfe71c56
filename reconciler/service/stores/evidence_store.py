"""The evidence store: alone names the queries of what facts rest on. Decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.domain.recalling.evidence import Said
from reconciler.domain.records.evidence import TakenBy
from reconciler.domain.records.kinds import Action, SourceKind
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.rows import SPANS_JOINED

__all__ = ["EvidenceStore"]


class EvidenceStore:
    """Turns and what was made of them, in one graph. Whoever asks has looked whose they are."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def list_said(self, fact_ids: Sequence[str]) -> list[Said]:
        """The turns that these facts rest on, once for each fact; in no order."""
        rows = self._graph.run("list_fact_evidence", {"fact_ids": list(fact_ids)})
        return [_said(row) for row in rows]

    def list_taken(self, episode_ids: Sequence[str]) -> dict[str, list[TakenBy]]:
        """By the ids of these turns, the decisions that were made on them; in no order."""
        found: dict[str, list[TakenBy]] = {episode_id: [] for episode_id in episode_ids}
        for row in self._graph.run("list_judged", {"episode_ids": list(found)}):
            found[row.pop("episode_id")].append(TakenBy(**row | {"action": Action(row["action"])}))
        return found


def _said(row: Row) -> Said:
    spans = row.pop("span")
    return Said(
        **row
        | {
            "spans": tuple(spans.split(SPANS_JOINED)) if spans else (),
            "source_kind": SourceKind(row["source_kind"]),
            "source_reference": row["source_reference"] or None,
        }
    )
