"""What hangs on a condition, or is passed on, ends nothing: at both doors, whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import cycle, product

import pytest

from reconciler import Memory, Turn
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests import faults
from tests.engines import EngineUnderTest

TRUE = "Works at Acme."
SUBJECTS = ("the deal", "the U.S. deal", "Dr. Patel", "Acme Inc. Berlin", "the No. 5 order")
LEADING = """
    If, Once, When, As soon as, Until, After, Provided, Provided that, Assuming, Unless, In case,
    By the time, As long as, On condition that, The moment, In the event that, Next time
"""
TRAILING = "if, once, when, as soon as, unless, provided, the moment, in case"
REPORTING = (
    "He wrote that, as of May,",
    "He said",
    "She told me that, per Dr. Patel,",
    "They claim",
    "My boss says that, in the U.S. office,",
    "Ana insists",
    "LinkedIn says",
    "According to him,",
)


def words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",")]


WITH_SUBJECTS = product if faults.EVERY_CALL else lambda openers, who: zip(openers, cycle(who))
"""Each opener with one of the subjects in turn; ``make faults`` tries each with all of them."""
TEXTS = [
    *(
        f"{opener} {who} closes, I work at Globex."
        for opener, who in WITH_SUBJECTS(words(LEADING), SUBJECTS)
    ),
    *(
        f"I work at Globex {opener} {who} closes."
        for opener, who in WITH_SUBJECTS(words(TRAILING), SUBJECTS)
    ),
    *(f"{reporting} I work at Globex." for reporting in REPORTING),
]
SO_ALREADY = (
    "Now that the deal is signed, I work at Globex.",
    "After the merger I work at Globex.",
)


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    settings = load_settings(**kept_engine.settings_arguments, extractor={"mode": "explicit"})
    with Memory.open(settings, embedder=HashingEmbedder()) as opened:
        yield opened


def known_of_each(memory: Memory, texts: Iterable[str]) -> None:
    """A contact for each of the texts, of whom the same fact is known."""
    lines = [json.dumps({"text": TRUE, "contact_id": text}) for text in texts]
    assert memory.import_notes(lines, agent_id="crm").errors == []


def live(memory: Memory, contact: str) -> list[str]:
    return [recalled.fact.text for recalled in memory.contact("crm", contact).recall()]


@pytest.mark.faults
def test_what_hangs_on_something_ends_no_fact_at_the_live_door(memory: Memory) -> None:
    known_of_each(memory, TEXTS)
    for text in TEXTS:
        memory.add_contact_note("crm", text, text)
    assert [text for text in TEXTS if TRUE not in live(memory, text)] == []


@pytest.mark.faults
def test_what_hangs_on_something_is_no_fact_of_a_session(memory: Memory) -> None:
    known_of_each(memory, TEXTS)
    for text in TEXTS:
        memory.contact("crm", text).submit_session("s", [Turn(role="contact", text=text)])
    memory.drain()
    assert [text for text in TEXTS if live(memory, text) != [TRUE]] == []


def test_what_is_so_already_is_a_fact(memory: Memory) -> None:
    for text in SO_ALREADY:
        memory.add_contact_note("crm", text, TRUE)
        memory.add_contact_note("crm", text, text)
    assert [text for text in SO_ALREADY if text not in live(memory, text)] == []


@pytest.mark.parametrize("who", ["Dr. Patel", "the U.S. office", "Priya", "Acme Inc."])
def test_what_would_be_is_no_fact(memory: Memory, who: str) -> None:
    memory.add_contact_note("crm", "ana", f"If {who} agrees, I would move to Pune.")
    assert live(memory, "ana") == []
