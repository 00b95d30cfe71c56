"""Several people in one conversation: one is the contact, what the others say is no evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from reconciler.domain.records.messages import turns_of
from reconciler.domain.sessions.speakers import turns_of_one_contact
from reconciler.errors import InvalidSessionError
from tests.tables import every
from tests.transcript_turns import read_turns

OSLO, ROME = "I live in Oslo.", "I live in Rome."
BOT = {"role": "assistant", "content": "Where do you live?"}


def user(text: str, **given: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **given}


def read(messages: Sequence[Any], contact_name: str | None = None) -> list[tuple[str, str]]:
    turns = turns_of_one_contact(list(turns_of(messages)), contact_name)
    return [(str(turn.role), turn.text) for turn in turns]


TWO_PEOPLE: list[list[dict[str, Any]]] = [
    [user(OSLO, name="Alice"), BOT, user(ROME, name="Bob")],
    [user(f"[Alice]: {OSLO}"), BOT, user(f"[Bob]: {ROME}")],
    [user(f"Alice: {OSLO}"), BOT, user(f"Bob: {ROME}")],
    [user(f"Alice: {OSLO}\nBob: {ROME}")],
    [user(f"[Alice]: {OSLO}"), BOT, user(ROME, name="Bob")],
    [user(f"Zorblax: {ROME}"), user(f"Alice: {OSLO}"), user("Zorblax: Right.")],
]


@every("messages", TWO_PEOPLE)
def test_two_people_who_are_not_told_apart_are_refused_with_what_to_pass(
    messages: list[dict[str, Any]],
) -> None:
    with pytest.raises(InvalidSessionError, match=r"Alice.*speak as users.*contact_name"):
        read(messages)


@every("messages", TWO_PEOPLE)
@every("named", ["Alice", "alice ", "ALICE"])
def test_only_the_words_of_the_one_who_is_named_are_the_contacts(
    messages: list[dict[str, Any]], named: str
) -> None:
    said = read(messages, named)
    assert [text for role, text in said if role == "contact"] == [OSLO]
    assert any(role == "system" and text.endswith(f": {ROME}") for role, text in said)


def test_what_no_name_is_told_of_among_several_people_is_not_the_contacts() -> None:
    messages = [*TWO_PEOPLE[0], user("I moved.")]
    assert read(messages, "Alice")[-1] == ("system", "I moved.")


@every("name", ["Carol", "", 7])
def test_a_name_that_no_speaker_has_is_refused(name: Any) -> None:
    with pytest.raises(InvalidSessionError, match="contact_name must be"):
        read(TWO_PEOPLE[0], name)


@every(
    "messages",
    [
        [user(OSLO)],
        [user(OSLO, name="Alice"), user("Yes.", name="Alice")],
        [user(OSLO, name="Alice"), user("Yes.")],
        [user("Budget: 40k EUR"), user("City: Oslo")],
        [user("Note: call me."), user("Update: I moved to Oslo.")],
        [user("Alice: is that you?"), user("Yes.")],
        [user(OSLO), {"role": "tool", "name": "lookup", "content": "Bob: 3"}],
        [user("Meet at 10:30: the office.")],
        [user(OSLO), {"role": "assistant", "name": "bot", "content": "Noted."}],
    ],
)
def test_one_person_needs_no_name_and_no_word_is_changed(messages: list[dict[str, Any]]) -> None:
    assert [text for _, text in read(messages)] == [each["content"] for each in messages]
    assert read(messages)[0][0] == "contact"


def test_a_name_in_a_conversation_without_speakers_changes_nothing() -> None:
    assert read([user(OSLO), BOT], "Alice") == read([user(OSLO), BOT])


def test_a_name_that_is_no_string_says_where_it_stands() -> None:
    with pytest.raises(InvalidSessionError, match="message 1: name must be a string"):
        read([user(OSLO, name=7)])


TREE = {
    "current_node": "b",
    "mapping": {
        "a": {
            "message": {"author": {"role": "user", "name": "Alice"}, "content": {"parts": [OSLO]}}
        },
        "b": {
            "parent": "a",
            "message": {"author": {"role": "user", "name": "Bob"}, "content": {"parts": [ROME]}},
        },
    },
}


@every("document", [TWO_PEOPLE[0], {"messages": TWO_PEOPLE[0]}, TREE])
def test_a_transcript_file_says_who_speaks_in_every_layout(document: Any) -> None:
    turns = turns_of_one_contact(read_turns([json.dumps(document)]), "Bob")
    assert [turn.text for turn in turns if turn.role == "contact"] == [ROME]
