"""LangMem: items of a LangGraph store, as ``Item.dict()`` gives them or from its SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from reconciler.adapters.peers.translating import Record, Translation
from reconciler.errors import InvalidRequestError
from reconciler.ports.peer_memory import Carried, NotCarried

CONTACT_FROM = "namespace.last"
_SQLITE = b"SQLite format 3\x00"
_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")
_EXPIRY = "expires_at"
"""A column that the tables of older versions lack."""


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
        ended_at=record.at(_EXPIRY),
        tags=[] if kind == "Memory" else [kind],
    )


def _text_of(value: Any) -> str | None:
    """The text under ``content``; the manager nests it in another ``content``."""
    for _ in range(2):
        value = value.get("content") if isinstance(value, Mapping) else value
    return value if isinstance(value, str) else None


def is_store(file: Path) -> bool:
    """Whether the file is an SQLite database."""
    with file.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE


def store_records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The items of LangGraph's SQLite store, numbered from 1; the file is only read.

    Raises:
        InvalidRequestError: it is no such store.
    """
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as store:
            known = {name for _, name, *_ in store.execute("PRAGMA table_info(store)")}
            names = [*_COLUMNS, *({_EXPIRY} & known)]
            rows = store.execute(f"SELECT {', '.join(names)} FROM store ORDER BY rowid")  # noqa: S608
            for number, row in enumerate(rows, start=1):
                item = dict(zip(names, row, strict=True))
                path, value = item.pop("prefix").split("."), json.loads(item.pop("value"))
                yield number, {"namespace": path, "value": value, **item}
    except (sqlite3.Error, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidRequestError(
            f"{file} is not a LangGraph store: {error}; nothing was imported"
        ) from error
