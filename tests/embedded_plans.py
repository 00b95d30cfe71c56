"""Reads the embedded engine's plans: which tables a statement reads from end to end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reconciler.adapters.embedded_connections import PlanningConnection

__all__ = ["scanned_tables"]

_SCAN = re.compile(r"(?<![A-Z_])SCAN_NODE_TABLE\[(\d+)\]")
_MASKED = re.compile(r"SCAN_NODE_TABLE\[(\d+)\]")


def scanned_tables(
    connection: PlanningConnection, text: str, given: Mapping[str, Any]
) -> list[str]:
    """The tables that the statement would scan, but for scans held to rows that another step found.

    What a plan draws is a picture, each step in a box: a scan is held to some rows where a box
    SEMI_MASKER names it.
    """
    boxes = _boxes(connection.rows(f"EXPLAIN {text}", given))
    masked = {number for box in boxes if "SEMI_MASKER" in box for number in _MASKED.findall(box)}
    return [
        re.sub(r".*Tables: (\w+).*", r"\1", box)
        for box in boxes
        if (scan := _SCAN.search(box)) and "Tables: " in box and scan[1] not in masked
    ]


def _boxes(rows: list[dict[str, Any]]) -> list[str]:
    """What stands in each box, on one line."""
    lines = "\n".join(str(value) for row in rows for value in row.values()).splitlines()
    return [
        _inside(lines[place + 1 :], corner.start() + 1, corner.end() - 1)
        for place, line in enumerate(lines)
        for corner in re.finditer(r"┌─+[┴─]*─*┐", line)
    ]


def _inside(lines: list[str], left: int, right: int) -> str:
    words: list[str] = []
    for line in lines:
        if line[left - 1 : left] == "└":
            break
        words += line[left:right].strip(" │-").split()
    return " ".join(words)
