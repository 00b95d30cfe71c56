"""A whole graph in a form that is the same on every engine: what moved is compared by it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import neo4j

from reconciler.service.checking.lines import KEY_OF
from tests import raw_store
from tests.engines import EngineUnderTest

__all__ = ["links_of", "nodes_of"]

KEYS = {**KEY_OF, "Agent": "agent_key", "Store": "store_id"}

CAPTIONS = {"Fact": "name", "Decision": "title", "Session": "title", "Episode": "title"}
LINK_CAPTION = "title"
"""What only Neo4j has, for its Browser, and what follows from the rest: see test_captions.py."""

PAGE_KEY, PAGED = "contact_key", ("Fact", "Decision")
"""What only Neo4j has, for its indexes: see test_contact_pages.py."""

OF_THE_ORDER = {"place", "unplaced", "agent_key"}
"""The place of a decision or an erasure in the order of changes: any reader of changes gives all
their places."""

Held = dict[str, Any]


def nodes_of(engine: EngineUnderTest) -> dict[tuple[str, str], Held]:
    """All nodes by label and key, but for the store's own, with all that they hold."""
    found = {}
    for label, node in raw_store.query(engine, f"MATCH (n) RETURN {_label(engine, 'n')}, n"):
        held = _held(node)
        held.pop(CAPTIONS.get(label, ""), None)
        if label in PAGED:
            held.pop(PAGE_KEY, None)
        if label in ("Decision", "Erasure"):
            held = {name: value for name, value in held.items() if name not in OF_THE_ORDER}
        if label not in ("Store", "Webhook"):
            found[label, held[KEYS[label]]] = held
    return found


def _uncaptioned(link: Held) -> Held:
    return {name: value for name, value in link.items() if name not in (LINK_CAPTION, PAGE_KEY)}


def links_of(engine: EngineUnderTest) -> list[tuple[Any, ...]]:
    """All relationships, sorted, each by its ends' keys, with all that they hold."""
    start, end = _label(engine, "a"), _label(engine, "b")
    kind = "label(r)" if engine.name == "embedded" else "type(r)"
    asked = f"MATCH (a)-[r]->(b) RETURN {start}, a, {kind}, r, {end}, b"
    found = [
        (type_, _held(a)[KEYS[from_]], _held(b)[KEYS[to]], sorted(_uncaptioned(_held(r)).items()))
        for from_, a, type_, r, to, b in raw_store.query(engine, asked)
    ]
    return sorted(found, key=repr)


def _label(engine: EngineUnderTest, name: str) -> str:
    if engine.name == "embedded":
        return f"label({name})"
    # A fact that ended has a second one, which says how.
    return f"head([label IN labels({name}) WHERE label IN {list(KEYS)}])"


def _held(entity: Any) -> Held:
    assert isinstance(entity, Mapping | neo4j.graph.Entity)
    plain = {name: _plain(value) for name, value in entity.items()}
    return {
        name: value
        for name, value in plain.items()
        if value is not None and not name.startswith("_") and name != "locked_by"
    }


def _plain(value: Any) -> Any:
    if isinstance(value, neo4j.time.DateTime):
        return value.to_native().astimezone(UTC)
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC)
    return bytes(value) if isinstance(value, bytearray | memoryview) else value
