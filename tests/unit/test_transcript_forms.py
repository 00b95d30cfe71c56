"""Transcripts as other programs write them: read as what was said, or refused by their name.

The samples are made up, in the forms of the real exports; see ``tests/transcripts``.
"""

from __future__ import annotations

import json
import random
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler import Scope
from reconciler.domain.records.candidates import Role, Turn
from reconciler.domain.records.messages import turns_of
from reconciler.domain.records.sessions import Session
from reconciler.errors import InvalidSessionError
from reconciler.service.sessions.transcripts import read_conversations, turns_in
from tests.fuzz.bending import bent, bent_bytes
from tests.tables import every
from tests.transcript_turns import ZONE, read_turns

SAMPLES = Path(__file__).parents[1] / "transcripts"
LEEDS = ("contact", "I moved to Leeds.")
WEATHER = ("tool", "Leeds: 12 degrees.")
NOTED = ("agent", "Noted.")
BRIEF = ("system", "Be brief.")
LOOK = ("agent", "Let me look.")
MOON = "moon"
"""Stands in all that a program put into a conversation, and that the contact did not say."""

BEN = ("contact", "Noted.")
READ = {
    "ai_sdk_ui_messages.json": [LEEDS, WEATHER, NOTED],
    "anthropic_messages.json": [LEEDS, WEATHER, NOTED],
    "chat_completions.json": [BRIEF, LEEDS, WEATHER, NOTED],
    "chatgpt_cycle.json": [("contact", "One thing."), ("agent", "Another.")],
    "chatgpt_list_of_one.json": [LEEDS, WEATHER, NOTED],
    "chatgpt_one.json": [LEEDS, WEATHER, NOTED],
    "chatgpt_parent_missing_null_parts.json": [
        ("contact", "I play chess."),
        ("contact", "I like tea."),
    ],
    "claude_edited.json": [("contact", "I live in Oslo."), ("agent", "Fine.")],
    "claude_one.json": [LEEDS, WEATHER, NOTED],
    "claude_under_conversations.json": [LEEDS, WEATHER, NOTED],
    "gemini_request.json": [LEEDS, WEATHER, NOTED],
    "langchain_dumpd.json": [LEEDS, LOOK, WEATHER, NOTED],
    "langchain_messages_to_dict.json": [LEEDS, LOOK, WEATHER, NOTED],
    "langchain_model_dump.json": [LEEDS, LOOK, WEATHER, NOTED],
    "pydantic_ai.json": [LEEDS, WEATHER, NOTED],
    "responses_items.json": [BRIEF, LEEDS, WEATHER, NOTED],
    "responses_items.jsonl": [BRIEF, LEEDS, WEATHER, NOTED],
    "responses_request.json": [BRIEF, LEEDS, WEATHER, NOTED],
    "whatsapp.txt": [("contact", "I moved\nto Leeds."), BEN],
    "whatsapp_android.txt": [LEEDS, BEN],
}
SEVERAL = {
    "chatgpt_three.json": ("a ChatGPT export with 3 conversations: choose", "'A dog'"),
    "claude_two.json": ("a Claude export with 2 conversations: choose", "'Trip'"),
    "fine_tuning_lines.jsonl": ("a file with 2 conversations: choose", "1; 2"),
}
NO_MESSAGES = "no messages found.*an export that docs/background_door.md names"
NO_ROLE = "1: role is missing; use one of .*, or give a file that docs/background_door.md names"
REFUSED = {
    **dict.fromkeys(
        (
            *("adk_session.json", "hubspot_engagements.json", "intercom_conversation.json"),
            *("responses_list.json", "zendesk_comments.json", "zendesk_conversation_log.json"),
        ),
        NO_MESSAGES,
    ),
    **dict.fromkeys(
        (
            *("claude_code.jsonl", "codex_rollout.jsonl", "discord_channel.json"),
            *("gemini_activity.json", "open_webui.json", "open_webui_messages_only.json"),
            *("slack_channel.json", "telegram_chat.json"),
        ),
        NO_ROLE,
    ),
    "captions.srt": "captions as plain text, which cannot be read; give its messages as lines",
    "captions.vtt": "captions as plain text, which cannot be read; give its messages as lines",
    "chatgpt_half.json": "not JSON: Unterminated string",
    "chatgpt_images_only.json": "none of its messages holds text",
    "chatgpt_no_current_node.json": "2 branches.*current_node",
    "mail.eml": "an e-mail, which cannot be read.*docs/background_door.md",
    "whatsapp_open.txt": "01/03/26, 10:00 pm - begins with the day or the month.*like 2026-12-31",
}


def lines_of(name: str) -> list[str]:
    return (SAMPLES / name).read_text("utf-8").splitlines(keepends=True)


def said(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(str(turn.role), turn.text) for turn in turns]


def written(document: Any) -> list[str]:
    return json.dumps(document).splitlines(keepends=True)


def test_every_sample_is_in_one_table() -> None:
    assert {
        path.name for path in SAMPLES.iterdir()
    } == READ.keys() | SEVERAL.keys() | REFUSED.keys()


@every(("name", "expected"), READ.items())
def test_a_transcript_is_read_as_what_was_said(name: str, expected: list[tuple[str, str]]) -> None:
    assert said(read_turns(lines_of(name))) == expected


@every(("name", "expected"), SEVERAL.items())
def test_several_conversations_are_counted_and_listed(name: str, expected: tuple[str, str]) -> None:
    with pytest.raises(InvalidSessionError) as refused:
        read_turns(lines_of(name))
    told = str(refused.value)
    assert all(part in told for part in (*expected, "--conversation", "--all-conversations"))


@every(("name", "complaint"), REFUSED.items())
def test_what_cannot_be_read_is_named_for_what_it_is(name: str, complaint: str) -> None:
    with pytest.raises(InvalidSessionError, match=complaint):
        read_turns(lines_of(name))


@every("name", [*READ, *SEVERAL])
def test_what_a_program_put_in_is_never_said_by_anyone(name: str) -> None:
    assert MOON in "".join(map("".join, map(lines_of, [*READ])))
    for conversation in read_conversations(lines_of(name), ZONE):
        assert not [turn for turn in conversation.turns() if MOON in turn.text]


@every(
    ("key", "expected"),
    [
        ("11111111-aaaa-4aaa-8aaa-000000000002", "I have a dog called Rex."),
        ("A dog", "I have a dog called Rex."),
        ("Moving house", "I moved to Leeds."),
    ],
)
def test_one_of_several_is_chosen_by_its_id_or_title(key: str, expected: str) -> None:
    assert read_turns(lines_of("chatgpt_three.json"), key)[0].text == expected


def test_one_without_an_id_is_chosen_by_its_number() -> None:
    assert read_turns(lines_of("fine_tuning_lines.jsonl"), "2")[0].text == "I like tea."


def test_another_one_is_not_guessed() -> None:
    with pytest.raises(InvalidSessionError, match="none of that id or title"):
        read_turns(lines_of("chatgpt_three.json"), "Dogs")


def test_of_two_with_one_title_neither_is_guessed() -> None:
    dog = json.loads("".join(lines_of("chatgpt_three.json")))[1]
    with pytest.raises(InvalidSessionError, match="2 of that id or title"):
        read_turns(written([dog, dog]), "A dog")


def test_a_title_cannot_write_on_the_terminal() -> None:
    document = [{"title": "\x1b[2J\ud800", "messages": []}] * 2
    with pytest.raises(InvalidSessionError) as refused:
        read_turns(written(document))
    assert str(refused.value).isprintable()


@every(
    ("name", "microseconds", "reference"),
    [
        ("chatgpt_one.json", 250_000, "u1"),
        ("claude_one.json", 123_456, "m1"),
    ],
)
def test_times_and_ids_come_along(name: str, microseconds: int, reference: str) -> None:
    turn = next(turn for turn in read_turns(lines_of(name)) if turn.role is Role.CONTACT)
    assert turn.said_at is not None
    assert turn.said_at.replace(second=0) == datetime(2026, 3, 1, 10, 0, 0, microseconds, UTC)
    assert turn.reference == reference


@every("name", ["responses_items.json", "langchain_dumpd.json", "langchain_messages_to_dict.json"])
def test_python_takes_the_same_messages(name: str) -> None:
    given = json.loads("".join(lines_of(name)))
    session = Session(scope=Scope("t", "crm", "a"), session_id="s", turns=given)
    assert said(list(session.turns)) == READ[name]


def test_langchains_own_dumps_are_read() -> None:
    core = pytest.importorskip("langchain_core.messages")
    dumpd = pytest.importorskip("langchain_core.load").dumpd
    made = [core.HumanMessage(LEEDS[1]), core.AIMessageChunk(NOTED[1]), core.RemoveMessage(id="1")]
    for dumped in (core.messages_to_dict(made), dumpd(made), [each.model_dump() for each in made]):
        assert said(list(turns_of(dumped))) == [LEEDS, NOTED]


@every(
    ("change", "complaint"),
    [
        ({"create_time": "yesterday"}, "message 1: create_time 'yesterday' is not an ISO 8601"),
        ({"create_time": 1e300}, "message 1: create_time .* is not a date that exists"),
        ({"create_time": float("nan")}, "message 1: create_time"),
        ({"create_time": []}, "message 1: create_time must be"),
        ({"author": {}}, "message 1: role is missing"),
        ({"author": {"role": "narrator"}}, "message 1: role 'narrator' is not one of"),
        ({"content": {"parts": 5}}, "message 1: content must be a string or a list"),
        ({"content": {"parts": [5]}}, "message 1: a block of content must be an object"),
        ({"content": {"parts": ["Hello \ud800"]}}, "message 1: a turn's text"),
        ({"id": {}}, "message 1: id must be"),
    ],
)
def test_a_broken_message_says_where_it_stands(change: dict[str, Any], complaint: str) -> None:
    message = {"author": {"role": "user"}, "content": {"parts": ["Hello."]}, **change}
    document = {"mapping": {"a": {"parent": None, "message": message}}, "current_node": "a"}
    with pytest.raises(InvalidSessionError, match=complaint):
        read_turns(written(document))


@every(
    "change",
    [
        {"mapping": {}},
        {"mapping": {"a": None}},
        {"mapping": {"a": {"message": "hello"}}},
        {"mapping": {"a": {"message": {"author": None, "content": None, "role": "user"}}}},
        {"mapping": {"a": {"message": {"author": {"role": "user"}, "content": {}}}}},
    ],
)
def test_a_tree_without_words_is_an_empty_session(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidSessionError, match="the session is empty"):
        read_turns(written({"current_node": "a", **change}))


def test_without_a_current_node_the_only_branch_holds() -> None:
    document = json.loads("".join(lines_of("chatgpt_no_current_node.json")))
    del document[0]["mapping"]["z"]
    assert said(read_turns(written(document))) == [("contact", "I live in Rome."), ("agent", "A.")]


def test_one_record_of_another_form_is_named_and_keeps_none_of_the_others() -> None:
    [one] = json.loads("".join(lines_of("claude_one.json")))
    first, second = read_conversations(written([one, {"role": "user", "content": "Hello."}]))
    assert said(first.turns()) == READ["claude_one.json"]
    with pytest.raises(InvalidSessionError, match="message 2: this item is not a conversation"):
        second.turns()


@every(
    ("beginning", "complaint"),
    [
        ("PK\x03\x04\udc99", "a zip archive, which cannot be read; unpack it.*conversations.json"),
        ("<!DOCTYPE html>", "a web page, which cannot be read.*conversations.json"),
        ("12/03/26, noon 10:11 - Ana: Hello", "not JSON"),
        ("12/03/26, 10:11xx", "looks like a WhatsApp export, but no line begins with a date"),
        (
            "User: Hello",
            "a chat or captions as plain text, which cannot be read",
        ),
    ],
)
def test_a_file_that_is_no_json_is_named(beginning: str, complaint: str) -> None:
    with pytest.raises(InvalidSessionError, match=complaint):
        read_turns([beginning, "x"])


def test_a_message_with_a_role_is_no_export_whatever_else_it_has() -> None:
    odd = {"user": "U1", "ts": 1, "mapping": {}, "chat": {"messages": []}, "output": []}
    assert len(read_turns(written({"role": "user", "text": "Hello.", **odd}))) == 1


def test_bent_samples_are_read_or_refused() -> None:
    documents = [
        list(map(json.loads, lines_of(name))) if name.endswith("l") else json.loads("".join(lines))
        for name in sorted(READ.keys() | SEVERAL.keys())
        if name.endswith(("json", "jsonl"))
        for lines in [lines_of(name)]
    ]
    read = 0
    for seed in range(1_500):
        chance = random.Random(seed)
        data = json.dumps(bent(chance.choice(documents), chance)).encode("utf-8", "surrogatepass")
        if chance.random() < 0.2:
            data = bent_bytes(data, chance)
        with suppress(InvalidSessionError):
            found = read_conversations(data.decode("utf-8", "surrogateescape").splitlines(True))
            read += sum(len(turns_in(each)) for each in found)
    assert read > 500
