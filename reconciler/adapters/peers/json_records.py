"""JSON records from a file: JSON lines, a list, or a list inside an object. Knows no system."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from reconciler.domain.records.choices import NOT_UTF_8
from reconciler.errors import InvalidRequestError

_LISTS = ("results", "memories", "items")
"""The keys under which an object may hold the records."""

_BLANK = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


def json_records(content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each record with its number, counted from 1.

    Args:
        content: UTF-8, with or without a byte order mark.

    Raises:
        InvalidRequestError: it is not JSON, is cut off, or a record is no object.
    """
    number = 0
    try:
        for record in _records(content.decode("utf-8-sig").strip()):
            number += 1
            yield number, record
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{NOT_UTF_8}; nothing was imported") from error
    except (ValueError, TypeError, RecursionError) as error:
        told = f"record {number + 1} cannot be read, or the file is cut off: {error}"
        raise InvalidRequestError(f"{told}; nothing was imported") from error


def _records(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    while at < len(text):
        value, end = _DECODER.raw_decode(text, at)
        at = next(_BLANK.finditer(text, end)).end()
        held = [value.get(name) for name in _LISTS] if isinstance(value, dict) else [value]
        for record in next((each for each in held if isinstance(each, list)), [value]):
            if not isinstance(record, dict):
                raise TypeError(f"a record is a JSON object, not {type(record).__name__}")
            yield record
