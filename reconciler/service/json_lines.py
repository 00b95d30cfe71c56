"""JSON lines: reads one line of a person's file as an object. Independent of the keys.

A file may hold any bytes, so the length of a line is checked before it is kept or read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from reconciler.domain.records.notes import NOT_UTF_8
from reconciler.errors import InvalidRequestError

LINE_BYTES_MAX = 128 * 1024
"""The most bytes in a line: every text of a note at its longest, with each character escaped
twice."""

_DEPTH_MAX = 100
"""The deepest nesting: far above that of any message or note, and far below the limit of Python's
own calls and ``repr``."""


def json_object(line: str, bytes_max: int = LINE_BYTES_MAX) -> dict[str, Any]:
    """Read the object on a line.

    Args:
        line: one line of a file.
        bytes_max: the most bytes that are read.

    Raises:
        InvalidRequestError: the line is not a string, is too long, is not JSON, or is JSON of
            another kind.
    """
    if not isinstance(line, str):
        raise InvalidRequestError(f"a line must be a string, not {type(line).__name__}")
    if len(line.encode("utf-8", "surrogatepass")) > bytes_max:
        raise InvalidRequestError(
            f"the line is longer than {bytes_max:,} bytes, which is the limit; put one object on a "
            "line, and split a long text"
        )
    values = loads(line)
    if not isinstance(values, dict):
        raise InvalidRequestError(f"expected a JSON object, not {type(values).__name__}")
    return values


def fault_of_encoding(line: str) -> str | None:
    """Describe the fault of a file's bytes, read by ``read_lines``; None if they are UTF-8."""
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return NOT_UTF_8
    return None


def loads(text: str) -> Any:
    """Read the value of a JSON text.

    Raises:
        InvalidRequestError: the text is not JSON, or is nested too deeply to be read.
    """
    try:
        values = json.loads(text)
    except RecursionError as error:  # at which depth differs between versions of Python
        raise _too_deep() from error
    except ValueError as error:  # a number of 5,000 digits is a bare one
        raise InvalidRequestError(f"not JSON: {error}") from error
    if _is_deep(values):
        raise _too_deep()
    return values


def _is_deep(values: Any) -> bool:
    """True if a value is nested deeper than any code here may follow; checked level by level."""
    level = [values] if isinstance(values, dict | list) else []
    for _ in range(_DEPTH_MAX):
        inner = (value.values() if isinstance(value, dict) else value for value in level)
        level = [value for some in inner for value in some if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def _too_deep() -> InvalidRequestError:
    return InvalidRequestError(
        f"not JSON that can be read: lists and objects are nested more than {_DEPTH_MAX} deep"
    )


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """Read a file's lines, without a byte order mark; cut lines that are too long.

    Bytes that are not UTF-8 become half surrogates, so that the reader of the line can name its
    number.
    """
    is_first = True
    while line := stream.readline(LINE_BYTES_MAX + 1):
        rest = line
        while len(rest) > LINE_BYTES_MAX and not rest.endswith(b"\n"):
            rest = stream.readline(LINE_BYTES_MAX + 1)
        encoding = "utf-8-sig" if is_first else "utf-8"
        is_first = False
        yield line.decode(encoding, "surrogateescape")
