"""JSON lines: one line of a file that a person gave, as an object. Knows no keys of any kind."""

from __future__ import annotations

import json
from typing import Any

from reconciler.errors import InvalidRequestError

__all__ = ["json_object"]


def json_object(line: str) -> dict[str, Any]:
    """The object on the line.

    Raises:
        InvalidRequestError: it is no string, no JSON, or JSON of another kind.
    """
    if not isinstance(line, str):
        raise InvalidRequestError(f"a line must be a string, not {type(line).__name__}")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a bare ValueError
        raise InvalidRequestError(f"not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidRequestError(f"a JSON object is wanted, not {type(values).__name__}")
    return values
