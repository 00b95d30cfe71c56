"""A record as plain values has all of its fields: JSON shows what Python does."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "reconciler"
WHOLE = {"asdict(self)", "_as_json(self)"}
"""Calls that take all fields of a record."""

LEFT_OUT = {
    "AccessToken.hash": "what a token is compared with is shown to no one",
    "Problem.retry_after_seconds": "a header of the answer",
    "Problem.more_headers": "a header",
}
"""Fields that plain values leave out, and why."""


def test_a_record_as_plain_values_lacks_none_of_its_fields() -> None:
    records = [
        node
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert {each for record in records for each in _lacking(record)} == set(LEFT_OUT)


def _lacking(record: ast.ClassDef) -> set[str]:
    """The fields of a record that its ``to_dict`` never reads."""
    methods = (part for part in record.body if isinstance(part, ast.FunctionDef))
    to_dict = next((method for method in methods if method.name == "to_dict"), None)
    if to_dict is None:
        return set()
    read = {ast.unparse(node) for node in ast.walk(to_dict) if isinstance(node, ast.expr)}
    names = {ast.unparse(part.target) for part in record.body if isinstance(part, ast.AnnAssign)}
    return {f"{record.name}.{name}" for name in names if not read & {*WHOLE, f"self.{name}"}}
