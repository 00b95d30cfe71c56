"""The client for TypeScript: its document is what the code makes, its page shows its examples."""

from __future__ import annotations

from tests.documents import ROOT, fenced
from tools.export_openapi import TARGET, as_text

HOW = "run `make typescript`; without Node `python -m tools.export_openapi`"


def test_the_clients_document_is_what_its_script_makes_of_the_code() -> None:
    assert TARGET.read_text(encoding="utf-8") == as_text(), HOW


def test_the_page_shows_the_clients_examples_as_they_are() -> None:
    examples = "".join(
        path.read_text(encoding="utf-8") for path in (TARGET.parent / "examples").glob("*.ts")
    )
    shown = list(fenced(ROOT / "docs" / "typescript.md", "ts"))
    assert len(shown) == 4
    assert [block for block in shown if block not in examples] == []
