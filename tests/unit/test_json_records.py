"""Records from a file of any size, in each shape that an export has."""

from __future__ import annotations

import io
import json
from itertools import islice
from typing import Any

import pytest

from reconciler.adapters.peers.json_records import RECORD_LENGTH_MAX, json_records
from reconciler.errors import InvalidRequestError

RECORDS = [{"id": 1, "text": 'A "quoted", [odd] {one}'}, {"id": 2, "list": [1, {"a": "é"}]}]
SHAPES = {
    "lines": "\n".join(map(json.dumps, RECORDS)),
    "lines with blank ones": "\n\n".join(map(json.dumps, RECORDS)) + "\n\n",
    "a list": json.dumps(RECORDS, indent=2),
    "in an object": json.dumps({"count": 2, "next": None, "results": RECORDS, "more": [1]}),
    "one object": "\ufeff" + json.dumps(RECORDS[0]),
}


def read(text: str) -> list[dict[str, Any]]:
    return [values for _, values in json_records(io.BytesIO(text.encode()))]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_gives_its_records(shape: str) -> None:
    assert read(SHAPES[shape]) == RECORDS[: 1 if shape == "one object" else 2]


@pytest.mark.parametrize("text", ["", " \n", "[]", '{"results": []}'])
def test_an_empty_export_has_no_records(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("length", [65_520, 65_530, 65_535, 65_536, 65_540, 131_072])
def test_a_record_may_lie_across_what_is_read_at_once(length: int) -> None:
    records = [{"text": "x" * length}, {"number": 1234567, "text": "é" * length}]
    assert read(json.dumps({"results": records}, ensure_ascii=False)) == records


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"id": 1}\n{"id": 2}\nnot json', r"record 3 \(line 3\)"),
        ('[{"id": 1},\n{"id": 2}', r"record 3 \(line 2\): the file is cut off"),
        ('[{"id": 1}\n{"id": 2}]', r"record 2 \(line 2\): expected ','"),
        ('{"results": [{"id": 1}]', r"record 2 \(line 1\): the file is cut off"),
        ('{"id": 1', r"record 1 \(line 1\): the file is cut off"),
        ('{"id": ', r"record 1 \(line 1\): it is not JSON, or the file is cut off"),
        ("[1]", "expected a JSON object, not int"),
        ('"text"', "expected a JSON object"),
        ("{1: 2}", "expected a key"),
        ('{"a": ' + "[" * 50_000, "nested too deeply|not JSON"),
    ],
)
def test_what_is_wrong_is_told_by_record_and_line(text: str, where: str) -> None:
    with pytest.raises(InvalidRequestError, match=where):
        read(text)


def test_what_is_no_utf_8_is_refused_with_the_mend() -> None:
    with pytest.raises(InvalidRequestError, match=r"Latin-1; save the file as UTF-8.*iconv"):
        list(json_records(io.BytesIO(b'{"text": "\xff"}')))


class Endless(io.RawIOBase):
    """A stream that goes on with the same bytes for ever, and counts them."""

    def __init__(self, begin: bytes, more: bytes) -> None:
        self.given = 0
        self._begin, self._more = begin, more

    def read(self, size: int = -1) -> bytes:
        times = (size - len(self._begin)) // len(self._more)
        data, self._begin = self._begin + self._more * times, b""
        self.given += len(data)
        return data


def test_records_come_before_the_rest_is_read() -> None:
    stream = Endless(b'{"results": [', b'{"id": 1},      ')
    assert len(list(islice(json_records(stream), 20_000))) == 20_000  # type: ignore[arg-type]
    assert stream.given < 20_000 * 16 + 200_000


@pytest.mark.parametrize("begin", [b'{"text": "', b'[{"text": "', b'{"a": 1, '])
def test_a_record_without_an_end_is_refused(begin: bytes) -> None:
    stream = Endless(begin, b'"b": 1, ' if begin.endswith(b" ") else b"xxxxxxxx")
    with pytest.raises(InvalidRequestError, match="at most so many are read"):
        list(json_records(stream))  # type: ignore[arg-type]
    assert stream.given < 3 * RECORD_LENGTH_MAX
