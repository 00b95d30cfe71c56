"""neo4j-agent-memory: its preferences, facts and relationships in Neo4j."""

from __future__ import annotations

from typing import Any

from reconciler.adapters.peers.translating import Record, Translation
from reconciler.ports.peer_memory import Carried, NotCarried

CONTACT_FROM = "user"
"""Only a preference has a user there. ``subject`` is the person that a fact or a relationship is
about, and the user of a preference."""

_KINDS = ("preference", "fact", "relationship", "message")


def identity(values: dict[str, Any]) -> str:
    """The id of a node or a relationship."""
    return str(values.get("id") or "")


def translate(record: Record, how: Translation) -> Carried | NotCarried:
    """A preference, a fact or a described relationship as a note.

    Raises:
        InvalidRequestError: it is none of them, or does not name its owner.
    """
    values = record.values
    kind = values.get("kind")
    if kind not in _KINDS:
        raise record.error(f"a record of neo4j-agent-memory has a kind, one of {', '.join(_KINDS)}")
    if kind == "message":
        return record.left("it is a message of a conversation; `reconciler extract` reads those")
    text = values.get("text")
    if kind == "relationship" and not text:
        return record.left("a relationship without a description says nothing in words")
    if how.contact_id is None and how.contact_from == CONTACT_FROM and kind != "preference":
        raise record.error(
            f"a {kind} has no user in neo4j-agent-memory; --contact-from subject files it under "
            "whom it is about, and a preference under its user; --contact files everything under "
            "one contact"
        )
    return how.carried(
        record,
        text,
        said_at=record.at("created_at", "valid_from"),
        valid_from=record.at("valid_from"),
        ended_at=record.at("valid_until"),
        tags=[values.get("tag")],
    )
