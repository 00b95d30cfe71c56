"""Graphiti: its edges between entities, written by ``EntityEdge`` or read from Neo4j."""

from __future__ import annotations

from typing import Any

from reconciler.adapters.peers.translating import Record, Translation
from reconciler.ports.peer_memory import Carried, NotCarried

CONTACT_FROM = "group_id"


def identity(values: dict[str, Any]) -> str:
    """The id of an edge."""
    return str(values.get("uuid") or "")


def translate(record: Record, how: Translation) -> Carried | NotCarried:
    """An edge as a note; an invalidated edge ended at that time.

    Raises:
        InvalidRequestError: it is no edge, or does not name its owner.
    """
    values = record.values
    if not {"uuid", "fact"} <= values.keys():
        raise record.error(
            "an edge of Graphiti has the keys uuid and fact; is this what EntityEdge wrote?"
        )
    return how.carried(
        record,
        values["fact"],
        said_at=record.at("reference_time", "valid_at", "created_at"),
        valid_from=record.at("valid_at"),
        ended_at=record.at("invalid_at", "expired_at"),
        tags=[values.get("name")],
    )
