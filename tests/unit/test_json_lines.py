"""JSON that a person gave is measured before it is read, and never followed too deep."""

from __future__ import annotations

import io
import json

import pytest

from reconciler.errors import InvalidRequestError, InvalidSessionError
from reconciler.service.json_lines import LINE_BYTES_MAX, json_object, loads, read_lines
from reconciler.service.sessions.transcripts import TRANSCRIPT_BYTES_MAX
from tests.tables import every
from tests.transcript_turns import read_turns


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@every("depth", [101, 990, 3_000, 100_000, 1_000_000])
def test_json_that_is_nested_too_deeply_is_refused(depth: int) -> None:
    with pytest.raises(InvalidRequestError, match="nested more than 100 deep"):
        loads(nested(depth))


def test_objects_count_as_lists_do() -> None:
    with pytest.raises(InvalidRequestError, match="nested more than 100 deep"):
        loads('{"a":' * 101 + "1" + "}" * 101)


def test_what_is_nested_less_is_read() -> None:
    assert json.dumps(loads(nested(100))) == nested(100)


@every("depth", [101, 990, 3_000, 100_000])
@every(
    "line",
    [
        '{"role": "user", "content": %s}',
        '{"role": %s, "content": "Likes tea."}',
        '{"role": "user", "content": "Likes tea.", "timestamp": %s}',
        '{"role": "user", "content": "Likes tea.", "id": %s}',
        '{"role": "tool", "content": [{"type": "tool_result", "content": %s}]}',
        '[{"role": "tool", "content": [{"type": "tool_result", "content": %s}]}]',
        '{"mapping": {"a": {"message": %s}}, "current_node": "a"}',
    ],
)
def test_so_is_a_transcript(line: str, depth: int) -> None:
    with pytest.raises(InvalidSessionError, match=r"^line 1: .*nested"):
        read_turns([line.replace("%s", nested(depth))])


@every("depth", [60, 990, 3_000, 100_000])
def test_so_are_tools_answers_in_tools_answers(depth: int) -> None:
    inner = '[{"type": "tool_result", "content": ' * depth + '"tea"' + "}]" * depth
    with pytest.raises(InvalidSessionError, match=r"^line 2: .*nested"):
        read_turns(['{"role": "user", "content": "x"}', f'{{"role": "tool", "content": {inner}}}'])


def test_a_picture_in_a_transcript_may_be_large() -> None:
    picture = {"type": "image", "data": "A" * 1_000_000}
    said = {"role": "user", "content": ["Likes tea.", picture]}
    assert [each.text for each in read_turns([json.dumps(said)])] == ["Likes tea."]


def test_a_line_is_read_up_to_its_bound_and_no_further() -> None:
    padding = " " * (LINE_BYTES_MAX - len('{"a": 1}'))
    assert json_object('{"a": 1}' + padding) == {"a": 1}
    with pytest.raises(InvalidRequestError, match=r"longer than 131,072 bytes"):
        json_object('{"a": 1}' + padding + " ")


def test_bytes_count_and_not_characters() -> None:
    with pytest.raises(InvalidRequestError, match=r"longer than 131,072 bytes"):
        json_object('{"a": "%s"}' % ("好" * (LINE_BYTES_MAX // 3)))


def test_of_a_line_that_is_too_long_only_the_beginning_is_kept_and_the_next_one_is_whole() -> None:
    stream = io.BytesIO(b"x" * (3 * LINE_BYTES_MAX) + b'\n{"a": 1}\r\n{"b": 2}')
    first, *others = read_lines(stream)
    assert len(first) == LINE_BYTES_MAX + 1
    assert list(map(json_object, others)) == [{"a": 1}, {"b": 2}]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    stream = io.BytesIO(b'\xef\xbb\xbf{"a": 1}\n\xef\xbb\xbf{"b": 2}\n')
    first, second = read_lines(stream)
    assert json_object(first) == {"a": 1}
    with pytest.raises(InvalidRequestError, match="not JSON"):
        json_object(second)


def test_a_transcript_is_measured_before_it_is_read() -> None:
    line = json.dumps({"role": "user", "content": "tea " * 250_000})
    with pytest.raises(InvalidSessionError, match=f"more than {TRANSCRIPT_BYTES_MAX:,} bytes"):
        read_turns(line for _ in iter(int, 1))
