"""The page of portable checks: each has a row, and a test of its id unless it is not run."""

from __future__ import annotations

import re

from tests.documents import ROOT

NOT_RUN = "prompt.model_ignores_embedded_instructions"
ID = re.compile(r"\b(?:scope|evidence|gateway|tombstone|deletion|correction|retrieval|prompt)\.\w+")


def test_the_page_lists_the_checks_that_have_a_test_and_says_which_is_not_run() -> None:
    page = (ROOT / "docs" / "portable_checks.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w.]+)` \|.*\| ([^|]+) \|$", page, re.MULTILINE))
    folder = ROOT / "tests" / "acceptance"
    tests = [path.read_text("utf-8") for path in folder.glob("test_portable_*.py")]
    docstrings = (found for text in tests for found in re.findall(r'^    """(.+)"""$', text, re.M))
    tested = {each for found in docstrings for each in ID.findall(found)}
    assert tested | {NOT_RUN} == rows.keys()
    assert {check for check, result in rows.items() if result == "not run"} == {NOT_RUN}
