"""What a refusal repeats of a value that is none of the words there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import file_path, one_of
from reconciler.errors import InvalidRequestError
from tests.tables import every


def test_a_number_that_python_does_not_write_out_is_refused_like_any_other() -> None:
    with pytest.raises(InvalidRequestError, match=r"so long a number.*is not one of"):
        one_of(SourceKind, "source_kind", 10**5000)


def test_a_file_is_named_by_text_or_by_a_path() -> None:
    assert file_path("out", "memory.jsonl") == file_path("out", Path("memory.jsonl"))


@every("given", [5, None, True, b"memory.jsonl", ["memory.jsonl"], "a\0b"])
def test_what_names_no_file_is_refused(given: object) -> None:
    with pytest.raises(InvalidRequestError, match=r"^out (must be a path|'a\\x00b' holds a null)"):
        file_path("out", given)
