"""The shipped schema of an export has a place for all that the tables hold."""

from __future__ import annotations

from tools.export_schema import TARGET, as_text


def test_the_shipped_schema_of_an_export_is_what_its_script_makes_of_the_tables() -> None:
    assert TARGET.read_text(encoding="utf-8") == as_text()
