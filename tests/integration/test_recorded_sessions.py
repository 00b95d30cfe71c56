"""Twenty sessions read by recorded answers of a large language model, through the background door.

The shipped prompt and schema are part of a recording's key: where one changes, its answers are
stale, and these tests say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from benchmarks.record_sessions import (
    AGENT,
    Contact,
    contacts,
    memory_of,
    recorded_extractor,
    recorded_judge,
)
from reconciler import Decision, Memory
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.domain.recalling.briefing import is_for_the_contact
from reconciler.settings import load_settings
from tests.session_recordings import RecordedExtractor

OURS = [contact for contact in contacts() if contact.is_ours]
QUESTIONS_A_SESSION_MAX = 2


@dataclass
class Read:
    """A contact with all sessions read."""

    memory: Memory
    contact: Contact
    extractor: RecordedExtractor
    asked: list[int]

    @property
    def live(self) -> list[str]:
        recalled = self.memory.contact(AGENT, self.contact.contact_id).recall(limit=200)
        return [each.fact.text for each in recalled]


@pytest.fixture(scope="module", params=OURS, ids=lambda contact: contact.contact_id)
def read(request: pytest.FixtureRequest) -> Iterator[Read]:
    contact, embedder = request.param, build_embedder(load_settings())
    extractor = recorded_extractor(reads_known=True, goes_on=True)
    with memory_of(contact, embedder, extractor, recorded_judge()) as (memory, sessions):
        seen: set[str] = set()
        asked = []
        for _ in sessions:
            waiting = memory.contact(AGENT, contact.contact_id).pending()
            held = {
                one.decision_id
                for one in waiting
                if isinstance(one, Decision) and is_for_the_contact(one)
            }
            asked.append(len(held - seen))
            seen |= held
        yield Read(memory, contact, extractor, asked)
    embedder.close()


def test_there_are_twenty_sessions_of_our_own() -> None:
    assert sum(len(contact.sessions) for contact in OURS) == 20


def test_every_window_has_an_answer_to_the_prompt_of_today(read: Read) -> None:
    assert not read.extractor.missing
    assert len(read.extractor.used) >= len(read.contact.sessions)


def test_a_person_is_asked_two_questions_a_session_at_most(read: Read) -> None:
    assert max(read.asked) <= QUESTIONS_A_SESSION_MAX


def test_what_was_read_is_remembered(read: Read) -> None:
    assert len(read.live) >= len(read.contact.sessions)
