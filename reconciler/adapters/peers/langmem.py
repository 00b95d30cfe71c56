"""LangMem: items of a LangGraph store, as ``Item.dict()`` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reconciler.adapters.peers.translating import Record, Translation
from reconciler.ports.peer_memory import Carried, NotCarried

CONTACT_FROM = "namespace.last"


def identity(values: dict[str, Any]) -> str:
    """The namespace and the key of an item."""
    namespace = values.get("namespace")
    path = namespace if isinstance(namespace, list) else []
    return "/".join(map(str, (*path, values.get("key") or "")))


def translate(record: Record, how: Translation) -> Carried | NotCarried:
    """An item as a note, whether LangMem's tool or its manager wrote it.

    Raises:
        InvalidRequestError: it is no item, or does not name its owner.
    """
    values = record.values
    if not {"namespace", "key", "value"} <= values.keys():
        raise record.error("an item of a LangGraph store has the keys namespace, key and value")
    value = values["value"]
    kind = value.get("kind") if isinstance(value, Mapping) else None
    text = _text_of(value)
    if text is None:
        return record.left("its value has no text under content")
    return how.carried(
        record,
        text,
        said_at=record.at("updated_at", "created_at"),
        ended_at=record.at("expires_at"),
        tags=[] if kind == "Memory" else [kind],
    )


def _text_of(value: Any) -> str | None:
    """The text under ``content``; the manager nests it in another ``content``."""
    for _ in range(2):
        value = value.get("content") if isinstance(value, Mapping) else value
    return value if isinstance(value, str) else None
