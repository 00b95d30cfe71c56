"""Records from a file, in each shape that an export has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.errors import InvalidRequestError
from reconciler.ops.peers.readers import json_records
from tests.tables import every

RECORDS = [{"id": 1, "text": 'A "quoted", [odd] {one}'}, {"id": 2, "list": [1, {"a": "é"}]}]
SHAPES = {
    "lines": "\n".join(map(json.dumps, RECORDS)),
    "lines with blank ones": "\n\n".join(map(json.dumps, RECORDS)) + "\n\n",
    "a list": json.dumps(RECORDS, indent=2),
    "in an object": json.dumps({"count": 2, "next": None, "results": RECORDS, "more": [1]}),
    "one object": "\ufeff" + json.dumps(RECORDS[0]),
}


def read(text: str) -> list[dict[str, Any]]:
    return [values for _, values in json_records(text.encode())]


@every("shape", SHAPES)
def test_each_shape_gives_its_records(shape: str) -> None:
    assert read(SHAPES[shape]) == RECORDS[: 1 if shape == "one object" else 2]


@every("text", ["", " \n", "[]", '{"results": []}'])
def test_an_empty_export_has_no_records(text: str) -> None:
    assert read(text) == []


@every(
    ("text", "where"),
    [
        ('{"id": 1}\n{"id": 2}\nnot json', " line 3 column 1 "),
        ('[{"id": 1},\n{"id": 2}', "the file is cut off: .* line 2 column 10 "),
        ('[{"id": 1}\n{"id": 2}]', "Expecting ',' delimiter: line 2 column 1 "),
        ('{"results": [{"id": 1}]', "the file is cut off: .* line 1 column 24 "),
        ('{"id": ', "the file is cut off: .* line 1 column 7 "),
        ('{"id": 1}\n[1]', "a record is a JSON object, not int"),
        ('"text"', "a record is a JSON object, not str"),
        ("{1: 2}", "line 1 column 2 "),
        ('{"a": ' + "[" * 50_000, "cannot be read"),
    ],
)
def test_what_is_wrong_is_told_by_record_or_line(text: str, where: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"^record [1-3] .*{where}.*; nothing was"):
        read(text)


def test_what_is_no_utf_8_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match=r"Latin-1; save the file as UTF-8.*iconv"):
        list(json_records(b'{"text": "\xff"}'))
