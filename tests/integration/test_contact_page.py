"""A contact's page: all that is kept of a person, escaped, in one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from reconciler import Memory, Turn, ops
from reconciler.errors import InvalidRequestError
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine

EVIL = "Likes <script>alert(1)</script> & \u202etea."


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of two contacts."""
    folder: Path = tmp_path_factory.mktemp("page")
    given = embedded_engine(folder).settings_arguments
    with Memory.open(embedder=HashingEmbedder(16), **given) as memory:
        for city in ("Pune", "Goa"):
            slot = {"attribute": "city", "value": city}
            memory.add_contact_note("crm", "alice", f"Lives in {city}.", **slot)
        memory.add_contact_note("crm", "alice", EVIL)
        memory.add_contact_note("crm", "alice", "Is diabetic.")
        turn = Turn(role="contact", text="Remember that I only take calls after 5 pm.")
        memory.contact("crm", "alice").submit_session("chat-17", [turn])
        memory.drain()
        memory.contact("crm", "alice").task("move", goal="Move house", session_id="chat-18")
        memory.add_contact_note("crm", "bob", "Keeps bees.")
        yield memory


class Sections(HTMLParser):
    """The text under each heading, and every tag and attribute that there is."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.tags: set[str] = set()
        self._title, self._in_title = "", False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags |= {tag, *(name for name, _ in attrs)}
        self._in_title = tag == "h2"

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title, self._in_title = data, False
        self.found[self._title] = self.found.get(self._title, "") + data


@pytest.fixture(scope="module")
def page(memory: Memory) -> str:
    return ops.contact_page(memory.contact("crm", "alice"))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("Present facts", "Lives in Goa."),
        ("Present facts", "by the word of the contact, said once"),
        ("Former facts", "Lives in Pune."),
        ("Open questions", "diabetic"),
        ("Decisions, newest first", 'was put in the place of "Lives in Pune."'),
        ("Conversations", "Remember that I only take calls after 5 pm."),
        ("Tasks", "Move house"),
    ],
)
def test_each_part_says_what_is_kept(page: str, section: str, words: str) -> None:
    assert words in " ".join(Sections(page).found[section].split())


def test_what_ended_is_not_told_as_known_now(page: str) -> None:
    assert "Lives in Pune." not in Sections(page).found["Present facts"]


def test_it_holds_nobody_else_and_no_secret_of_the_store(page: str) -> None:
    assert not re.search("bees|bob|id_key", page)


def test_texts_are_escaped_and_what_cannot_be_seen_is_named(page: str) -> None:
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; \\u202etea." in page


def test_it_needs_nothing_beside_itself(page: str) -> None:
    seen = Sections(page).tags
    assert not seen & {"script", "link", "img", "iframe", "src", "href", "onload", "onclick"}
    assert not re.search(r"https?:|@import|url\(", page)
    assert "prefers-color-scheme: dark" in page


def test_a_contact_that_nobody_knows_is_an_error(memory: Memory) -> None:
    with pytest.raises(InvalidRequestError, match="nothing is known about contact alise"):
        ops.contact_page(memory.contact("crm", "alise"))


def test_what_ended_says_from_when_to_when_and_promises_no_longer_keeping(page: str) -> None:
    before = " ".join(Sections(page).found["Former facts"].split())
    assert "ended, held from" in before
    assert "at the longest" not in before
    assert "ended since" not in page
