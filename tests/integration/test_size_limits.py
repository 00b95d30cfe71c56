"""A text that is too large is refused at every door before anything reads it.

What looks like one of the store's own tokens counts like any other text: only what the store's key
put into a text by itself, after it was counted, may make it longer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler import Memory, Turn
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Note, Scope
from reconciler.errors import InvalidRequestError
from reconciler.service.writing.doors import as_candidate
from tests.submissions import propose_to
from tests.tables import every

WHO = ("crm", "priya")
TYPED_TOKEN = "[a:0123456789ab]"
TYPED = [TYPED_TOKEN * 24_800 + "Likes tea.", TYPED_TOKEN * 77_500]
SECONDS_MAX = 5.0
"""Of processor time, a bound on a hang: to refuse takes microseconds, to read one took a minute."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("sizes") / "memory.lbug"
    with Memory.open(graph="embedded", embedded_path=path, embedder=NoopEmbedder()) as opened:
        opened.add_contact_note(*WHO, "My telephone number is +44 20 7946 0018.")  # loads patterns
        yield opened


@pytest.fixture(scope="module")
def held_id(memory: Memory) -> str:
    return memory.add_contact_note(*WHO, "Has been diagnosed with diabetes.").decision_id


def proposed(memory: Memory, text: str) -> Any:
    note = Note(scope=Scope("default", *WHO), text=text, said_at=datetime.now(UTC), is_cleaned=True)
    return propose_to(memory, as_candidate(note, "somebody"))


def task(memory: Memory, name: str) -> Any:
    begun = memory.contact(*WHO).task(
        f"task-{name}-{time.monotonic_ns()}", goal="Move the delivery"
    )
    begun.observed()
    return begun


def failed(memory: Memory) -> Any:
    over = task(memory, "failed")
    over.fail()
    return over


def succeeded(memory: Memory) -> Any:
    over = task(memory, "succeeded")
    over.succeed()
    return over


DOORS: dict[str, Callable[[Memory, str, str], Any]] = {
    "live": lambda memory, text, _: memory.add_contact_note(*WHO, text),
    "live, reference": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", source_reference=text
    ),
    "live, name": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", contact_name=text
    ),
    "live, value": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", attribute="drink", value=text
    ),
    "live, subject": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", subject=text
    ),
    "live, topic": lambda memory, text, _: memory.add_contact_note(*WHO, "Likes tea.", topic=text),
    "live, a tag": lambda memory, text, _: memory.add_contact_note(*WHO, "Likes tea.", tags=[text]),
    "live, many tags": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", tags=[text[at : at + 16] for at in range(0, len(text), 16)]
    ),
    "live, session": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", session_id=text
    ),
    "live, proposer": lambda memory, text, _: memory.add_contact_note(
        *WHO, "Likes tea.", proposed_by=text
    ),
    "live, contact": lambda memory, text, _: memory.add_contact_note("crm", text, "Likes tea."),
    "proposal": lambda memory, text, _: proposed(memory, text),
    "confirmation": lambda memory, text, held: memory.contact(*WHO).confirm(
        held, "contact", text=text
    ),
    "answerer": lambda memory, text, held: memory.contact(*WHO).confirm(held, text),
    "revocation": lambda memory, text, _: memory.contact(*WHO).revoke(
        "fact", by="contact", reason=text
    ),
    "recall": lambda memory, text, _: memory.contact(*WHO).recall(text),
    "blank recall": lambda memory, text, _: memory.contact(*WHO).recall(" " * len(text)),
    "policy check": lambda memory, text, _: memory.agent("any").check_policy(text),
    "turn": lambda memory, text, _: memory.contact(*WHO).submit_session(
        "s", [Turn(role="contact", text=text)]
    ),
    "session": lambda memory, text, _: memory.contact(*WHO).submit_session(
        "s", (Turn(role="contact", text=text[:16_000]) for _ in range(100_000_000))
    ),
    "goal": lambda memory, text, _: memory.contact(*WHO).task("large", goal=text),
    "blocker": lambda memory, text, _: task(memory, "b").task_memory.set_blocker(text),
    "checkpoint": lambda memory, text, _: task(memory, "c").task_memory.checkpoint([text]),
    "many decided": lambda memory, text, _: task(memory, "d").task_memory.checkpoint(
        [text[at : at + 1600] for at in range(0, len(text), 1600)]
    ),
    "subtask": lambda memory, text, _: task(memory, "e").task_memory.mark_done(text),
    "task's recall": lambda memory, text, _: (
        memory.contact(*WHO)
        .task(f"r-{time.monotonic_ns()}", goal="Look")
        .recall(text, budget_tokens=100)
    ),
    "reflection": lambda memory, text, _: failed(memory).propose_reflection(text, []),
    "procedure": lambda memory, text, _: succeeded(memory).propose_procedure("greet", [text], []),
    "many steps": lambda memory, text, _: succeeded(memory).propose_procedure(
        "greet", [text[at : at + 1600] for at in range(0, len(text), 1600)], []
    ),
}


@pytest.mark.parametrize("text", TYPED, ids=["397 kB", "1.24 MB"])
@every("door", DOORS)
def test_a_text_of_typed_tokens_is_refused_at_once(
    memory: Memory, held_id: str, door: str, text: str
) -> None:
    started = time.process_time()
    with pytest.raises(InvalidRequestError, match=r"at most [\d,]+ ") as refused:
        DOORS[door](memory, text, held_id)
    assert time.process_time() - started < SECONDS_MAX
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("text", TYPED, ids=["397 kB", "1.24 MB"])
def test_so_is_a_line_of_an_import(memory: Memory, text: str) -> None:
    started = time.process_time()
    report = memory.import_notes([json.dumps({"text": text})], agent_id="crm", contact_id="priya")
    assert time.process_time() - started < SECONDS_MAX
    assert "longer than 131,072 bytes" in report.errors[0].message


def test_a_typed_token_counts_like_any_other_text(memory: Memory) -> None:
    text = "x" * (TEXT_LENGTH_MAX - len(TYPED_TOKEN) + 1) + TYPED_TOKEN
    with pytest.raises(InvalidRequestError, match=r"2,?001 characters"):
        memory.add_contact_note(*WHO, text)


def test_what_the_stores_key_puts_in_is_no_fault_of_the_note(memory: Memory) -> None:
    numbers = " ".join(f"call +44 20 7946 {number:04}" for number in range(80))
    text = f"Likes tea: {numbers}"[:TEXT_LENGTH_MAX]
    decision = memory.add_contact_note(*WHO, text)
    assert len(decision.text) > TEXT_LENGTH_MAX > decision.text.count("[phone:") > 70


def test_nor_where_it_is_held_and_confirmed_later(memory: Memory) -> None:
    numbers = " ".join(f"call +44 20 7946 {number:04}" for number in range(80))
    held = memory.add_contact_note("crm", "dana", f"Has been diagnosed with diabetes: {numbers}")
    assert held.action == "HOLD"
    assert len(held.text) > TEXT_LENGTH_MAX
    assert memory.contact("crm", "dana").confirm(held.decision_id, "contact").action == "ADD"


def test_a_caller_cannot_claim_that_a_text_was_cleaned(memory: Memory) -> None:
    with pytest.raises(InvalidRequestError, match=r"at most 2,?000"):
        proposed(memory, "y" * (TEXT_LENGTH_MAX + 1))


def test_an_answers_own_words_are_measured_as_they_come_in(memory: Memory, held_id: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"at most 2,?000"):
        memory.contact(*WHO).confirm(held_id, "contact", text="y" * (TEXT_LENGTH_MAX + 1))
