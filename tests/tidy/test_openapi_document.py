"""The document that the client for TypeScript is made from is the one that the code makes."""

from __future__ import annotations

from tools.export_openapi import TARGET, as_text


def test_the_clients_document_is_what_its_script_makes_of_the_code() -> None:
    assert TARGET.read_text(encoding="utf-8") == as_text(), "run `make typescript`"
