"""One home for a name: two classes never share one, and an enumeration has one import path."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.documents import nodes

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "reconciler"
DOOR = "reconciler"
"""Programs may import from the package itself; its own modules import from a name's home."""

ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield from ((_module(path), node) for node in nodes(path) if isinstance(node, ast.ClassDef))


def _aliases() -> Iterator[str]:
    """What modules assign to names that read like a class's."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.Assign) and node.col_offset == 0:
                yield from map(ast.unparse, node.targets)


def _is_enum(node: ast.ClassDef) -> bool:
    return not ENUMS.isdisjoint(ast.unparse(base).rpartition(".")[2] for base in node.bases)


def test_no_two_public_classes_share_a_name() -> None:
    classes = [node.name for _, node in _classes() if node.name[0].isupper()]
    count = Counter([*classes, *set(_aliases())])
    assert [name for name in classes if count[name] > 1] == []


@cache
def _homes() -> dict[str, str]:
    """The module of each enum."""
    return {node.name: module for module, node in _classes() if _is_enum(node)}


@pytest.mark.parametrize("folder", ["reconciler", "tests", "benchmarks", "tools", "examples"])
def test_an_enum_is_imported_from_its_home(folder: str) -> None:
    homes = _homes()
    elsewhere = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {alias.name} is in {homes[alias.name]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(DOOR)
        for alias in node.names
        if alias.name in homes and node.module != homes[alias.name]
        if folder == "reconciler" or node.module != DOOR
    ]
    assert elsewhere == []
