"""Descriptions of parameters from docstrings, for commands and for the HTTP API."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any, is_typeddict

_SECTION = re.compile(r"^(?:Args|Attributes|Options):\n((?: {4}.*+\n?+|\n)*+)", re.MULTILINE)


_ENTRY = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def descriptions(described: Any) -> dict[str, str]:
    """Return the descriptions of parameters or attributes in a docstring, by name."""
    section = _SECTION.search(inspect.getdoc(described) or "")
    return dict(_ENTRY.findall(section[1])) if section else {}


def field_descriptions(fields: Any) -> dict[str, str]:
    """Return the descriptions of a ``TypedDict``'s fields; each base describes some."""
    texts: dict[str, str] = {}
    for each in vars(sys.modules[fields.__module__]).values():
        if is_typeddict(each) and each.__annotations__.keys() <= fields.__annotations__.keys():
            texts |= descriptions(each)
    return texts


def capital(text: str) -> str:
    """Return the text with a first capital."""
    return text[:1].upper() + text[1:]
