"""Transcript files: layouts, roles, words and times of other programs, and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.records.candidates import Role
from reconciler.errors import InvalidSessionError
from tests.tables import every
from tests.transcript_turns import read_turns

ANA = {"role": "user", "content": "I moved to Leeds."}
BOT = {"role": "assistant", "content": "Noted."}


def lines(*messages: Any) -> list[str]:
    return [json.dumps(each) + "\n" for each in messages]


def one(**values: Any) -> Any:
    return read_turns(lines({**ANA, **values}))[0]


def test_each_line_is_a_message_and_their_order_is_kept() -> None:
    turns = read_turns(lines(ANA, BOT))
    assert [(each.role, each.text) for each in turns] == [
        (Role.CONTACT, "I moved to Leeds."),
        (Role.AGENT, "Noted."),
    ]


@every("document", [[ANA, BOT], {"messages": [ANA, BOT]}, {"turns": [ANA, BOT]}])
@every("indent", [None, 2])
def test_one_document_gives_the_same_turns_as_lines(document: Any, indent: int | None) -> None:
    written = json.dumps(document, indent=indent).splitlines(keepends=True)
    assert read_turns(written) == read_turns(lines(ANA, BOT))


MARKS = ["👍", "…", "?", "!!", "-", "*", "€", "👍🏽"]


@every("mark", MARKS)
@every(
    "layout", [lines, lambda *said: [json.dumps(said)], lambda *said: [json.dumps({"turns": said})]]
)
def test_a_message_without_a_letter_is_a_turn_in_every_layout(mark: str, layout: Any) -> None:
    turns = read_turns(layout(ANA, {"role": "user", "content": mark}))
    assert [each.text for each in turns] == ["I moved to Leeds.", mark]


def test_a_single_message_may_be_written_over_several_lines() -> None:
    assert read_turns(json.dumps(ANA, indent=2).splitlines())[0].role is Role.CONTACT


def test_a_message_over_several_lines_inside_a_list_is_one() -> None:
    assert len(read_turns(["[\n", '{"role": "user",\n', '"text": "Hello there"}\n', "]\n"])) == 1


@every(
    ("name", "role"),
    [
        *((name, Role.CONTACT) for name in ("user", "contact", "customer", "human", " User ")),
        *((name, Role.AGENT) for name in ("assistant", "agent", "ai", "bot", "model")),
        *((name, Role.TOOL) for name in ("tool", "function")),
        *((name, Role.SYSTEM) for name in ("system", "developer")),
        *((name, Role.OPERATOR) for name in ("operator", "staff", "human_agent")),
    ],
)
def test_every_name_of_a_role_is_understood(name: str, role: Role) -> None:
    assert one(role=name).role is role


@every("role", ["narrator", "", None, 7])
def test_an_unknown_role_names_its_line_and_what_is_known(role: Any) -> None:
    with pytest.raises(InvalidSessionError, match=r"line 2: role .*human_agent"):
        read_turns(lines(ANA, {"role": role, "content": "Once upon a time"}))


def test_in_a_document_the_message_is_counted_instead() -> None:
    with pytest.raises(InvalidSessionError, match=r"message 2: role 'narrator' is not one of"):
        read_turns([json.dumps([ANA, {"role": "narrator", "text": "Hm"}])])


@every(
    "key",
    [
        *("timestamp", "said_at", "created_at", "time", "create_time", "createdAt", "CreatedAt"),
        *("date", "sent_at", "sentAt", "ts", "datetime", "date_sent", "message-time", "postedAt"),
    ],
)
def test_a_time_is_found_under_any_of_its_names(key: str) -> None:
    assert one(**{key: "2026-03-01T10:00:00Z"}).said_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


@every(
    "value",
    [
        *("2026-03-01T12:00:00+02:00", 1772359200, 1772359200.0, 1772359200000, 1772359200000000),
        *("1772359200", "1772359200.000000", "1772359200000"),
    ],
)
def test_zones_and_epochs_of_both_units_mean_the_same_instant(value: Any) -> None:
    assert one(timestamp=value).said_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


@every("value", [None, ""])
def test_a_message_without_a_time_has_none(value: Any) -> None:
    assert one(timestamp=value).said_at is None


@every("key", ["updated_at", "lastSeenAt", "edit_date", "readTime", "eventTimestamp"])
def test_a_time_that_may_be_another_one_is_refused_unless_the_usual_one_is_there(key: str) -> None:
    with pytest.raises(InvalidSessionError, match=f"line 1: {key} looks like a time.*said_at"):
        one(**{key: "2026-03-01T10:00:00Z"})
    both = {key: "2026-03-02T10:00:00Z", "date": "2026-03-01T10:00:00Z"}
    assert one(**both).said_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


@every(
    ("key", "value"),
    [
        ("when", "2026-03-01T10:00:00Z"),
        ("on", "2026-03-01 10:00"),
        ("at", "20260301T100000+0100"),
        ("gesendet", "2026-03-01T10:00:00.250+01:00"),
        ("posted", "Sun, 01 Mar 2026 10:00:00 +0000"),
        ("at", 1772359200),
    ],
)
def test_a_time_under_a_key_that_is_not_read_is_refused_with_the_keys_that_are(
    key: str, value: Any
) -> None:
    complaint = f"line 1: {key} looks like a time.*said_at, sent_at.*epoch, or leave {key} out"
    with pytest.raises(InvalidSessionError, match=complaint):
        one(**{key: value})
    assert one(**{key: value, "said_at": "2026-03-01T11:00:00Z"}).said_at is not None


@every(
    "other",
    [
        *({"response_time": 1.4}, {"candidate": "2026"}, {"update": "x"}, {"seen_at": None}),
        *({"id": "2026-03-01T10:00:00Z"}, {"content": "2026-03-01T10:00:00Z"}, {"at": 3}),
        *({"tokens": 1772359200}, {"when": "2026-03-01"}, {"log": "2026-03-01T10:00 restart"}),
        {"about": {"total": 1772359200}},
    ],
)
def test_what_only_sounds_like_a_time_is_ignored(other: dict[str, Any]) -> None:
    assert one(**other).said_at is None


@every("value", ["2026-03-01T10:00:00", "2026-03-01"])
def test_a_time_without_a_zone_is_refused_with_the_mend(value: str) -> None:
    with pytest.raises(InvalidSessionError, match=r"line 1: timestamp .*no time zone; add one"):
        one(timestamp=value)


def test_what_is_no_time_is_told_both_forms_and_the_way_out() -> None:
    wanted = "'soon' is not an ISO 8601 time, nor a number of seconds since 1970; .* leave it out"
    with pytest.raises(InvalidSessionError, match=wanted):
        one(createdAt="soon")


@every("value", ["yesterday", True, [], float("nan"), 1e300, 10**400])
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(InvalidSessionError, match="line 1: timestamp"):
        one(timestamp=value)


def test_text_serves_where_content_is_missing() -> None:
    assert read_turns(lines({"role": "user", "text": "Hello there"}))[0].text == "Hello there"


def test_blocks_of_text_are_joined_and_others_left_out() -> None:
    picture = {"type": "image", "source": {"data": "…"}}
    blocks = [{"type": "text", "text": "First."}, picture, {"type": "text", "text": "Second."}]
    assert one(content=blocks).text == "First.\nSecond."


@every("content", ["Paid", [{"type": "text", "text": "Paid"}]])
def test_what_a_tool_answered_inside_a_users_message_is_the_tools(content: Any) -> None:
    blocks = [{"type": "tool_result", "content": content}, {"type": "text", "text": "Well?"}]
    turns = read_turns(lines({"role": "user", "content": blocks}))
    assert [(each.role, each.text) for each in turns] == [
        (Role.TOOL, "Paid"),
        (Role.CONTACT, "Well?"),
    ]


@every("content", [None, "", " \n", [], [{"type": "tool_use", "name": "look_up", "input": {}}]])
def test_a_message_without_words_is_left_out(content: Any) -> None:
    assert len(read_turns(lines({"role": "assistant", "content": content}, ANA))) == 1


@every("content", [7, {"a": 1}, [7], [{"type": "text", "text": 7}]])
def test_content_of_another_kind_is_refused(content: Any) -> None:
    with pytest.raises(InvalidSessionError, match="line 1: "):
        one(content=content)


def test_a_message_that_names_no_words_at_all_is_refused_by_its_line() -> None:
    with pytest.raises(
        InvalidSessionError, match="line 1: the message has neither content nor text"
    ):
        read_turns(lines({"role": "user", "message": "I like figs."}, ANA))


@every(("given_id", "kept"), [("m-1", "m-1"), (17, "17"), (None, None)])
def test_an_id_becomes_the_reference(given_id: Any, kept: str | None) -> None:
    assert one(id=given_id).reference == kept


def test_a_message_that_is_too_long_names_its_line() -> None:
    with pytest.raises(InvalidSessionError, match="line 1: a turn has 20,001 characters"):
        one(content="a" * 20_001)


def test_keys_that_nobody_asked_for_are_ignored() -> None:
    assert one(tool_calls=[], metadata={"a": 1}).text == "I moved to Leeds."


def node(role: str, text: str, parent: str | None) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"parts": [text]}, "create_time": 1772359200.0}
    return {"parent": parent, "message": message}


def test_an_exported_tree_is_read_along_its_current_branch() -> None:
    tree = {
        "root": {"parent": None, "message": None},
        "a": node("user", "I moved to Leeds.", "root"),
        "b": node("assistant", "Where to?", "a"),
        "c": node("assistant", "Noted.", "a"),
    }
    turns = read_turns([json.dumps({"mapping": tree, "current_node": "c"})])
    assert [each.text for each in turns] == ["I moved to Leeds.", "Noted."]


def test_a_tree_that_bites_its_tail_is_still_read_to_an_end() -> None:
    tree = {"a": node("user", "One", "b"), "b": node("user", "Two", "a")}
    assert len(read_turns([json.dumps({"mapping": tree, "current_node": "a"})])) == 2


def test_blank_lines_are_skipped_and_still_counted() -> None:
    with pytest.raises(InvalidSessionError, match="line 4: not JSON"):
        read_turns(["\n", *lines(ANA), "  \n", "{broken\n"])


def test_a_broken_document_names_its_line() -> None:
    with pytest.raises(InvalidSessionError, match="line 3: not JSON"):
        read_turns(["[\n", json.dumps(ANA) + ",\n", "{broken}\n", "]\n"])


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    first, second = lines(ANA, BOT)
    assert len(read_turns(["\ufeff" + first, second])) == 2


def test_bytes_that_are_no_utf8_are_refused_clearly() -> None:
    broken = b'{"role": "user", "content": "caf\xe9"}'.decode("utf-8", "surrogateescape")
    with pytest.raises(InvalidSessionError, match="line 1: not valid UTF-8"):
        read_turns([broken])


@every(
    "written", [[], ["\n", " "], ["[]"], ['{"messages": []}'], ['{"role": "user", "text": null}']]
)
def test_a_file_that_says_nothing_is_an_empty_session(written: list[str]) -> None:
    with pytest.raises(InvalidSessionError, match="the session is empty"):
        read_turns(written)


@every("written", [["7"], ['"hello"'], ["[7]"], ["null"], ['{"a":', "1}"]])
def test_json_that_holds_no_messages_is_refused(written: list[str]) -> None:
    with pytest.raises(InvalidSessionError):
        read_turns(written)


@given(st.lists(st.text() | st.sampled_from(['{"role": "user", "content": "Hi there"}', "[", "]"])))
def test_any_lines_are_read_or_refused(written: list[str]) -> None:
    with suppress(InvalidSessionError):
        assert read_turns(written)
