"""No erased word is in anything that a memory gives out afterwards; others' words all are.

The same memory is asked that planted the words, so that what it keeps in its caches is looked at.
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, Turn, ops
from reconciler.errors import ReconcilerError
from tests import faults, raw_store
from tests.conftest import cases_of_each
from tests.engines import EngineUnderTest
from tests.erasure_planting import AGENT, ASKED, Words, opened, plant

ANN, BOB = "ann", "bob"


def of_contact(memory: Memory, word: Words) -> dict[str, str]:
    plant(memory, ANN, word)
    return {}


def of_session(memory: Memory, word: Words) -> dict[str, str]:
    turns = [
        Turn(role="contact", text=f"It is {word()}.", reference=f"message {word()}"),
        Turn(role="agent", text=f"I see, {word()}."),
    ]
    memory.contact(AGENT, ANN).submit_session("call-7", turns)
    memory.drain()
    return {"session_id": "call-7"}


def of_fact(memory: Memory, word: Words) -> dict[str, str]:
    value = word()
    made = [
        memory.add_contact_note(
            AGENT,
            ANN,
            text,
            subject="Maya",
            attribute="school",
            value=value,
            tags=[word()],
            topic=word(),
            source_reference=f"call {word()}",
        )
        for text in (f"Maya goes to {value}.", f"Maya's school is {value}, by the {word()}.")
    ]
    return {"fact_id": str(made[0].fact_id)}


def of_attribute(memory: Memory, word: Words) -> dict[str, str]:
    for value in (word(), word()):
        memory.add_contact_note(
            AGENT, ANN, f"Drives a {value}.", attribute="car", value=value, single_valued=True
        )
    held = memory.add_contact_note(
        AGENT, ANN, f"Has asthma since the {word()}.", attribute="car", value=word()
    )
    with suppress(ReconcilerError):
        memory.contact(AGENT, ANN).confirm(held.decision_id, "contact")
    return {"attribute": "car"}


PARTS: dict[str, Callable[[Memory, Words], dict[str, str]]] = {
    "contact": of_contact,
    "session": of_session,
    "fact": of_fact,
    "attribute": of_attribute,
}


def reports(memory: Memory, contact_id: str) -> Iterator[object]:
    """All that can be asked of a contact."""
    about = AGENT, contact_id
    chains = memory.contact(*about).history()
    yield chains
    for chain in chains:
        yield from (memory.contact(*about).evidence(each.fact_id) for each in chain.facts)
    for decision in memory.contact(*about).decisions(limit=10_000):
        yield decision
        yield decision.to_dict()
        yield memory.contact(*about).explain(decision.decision_id)
    yield memory.contact(*about).recall("Collects", limit=1000)
    yield memory.contact(*about).briefing()
    yield memory.contact(*about).profile()
    yield memory.contact(*about).pending()
    yield memory.contact(*about).disputes()
    yield memory.agent(AGENT).refusals()
    yield ops.health(memory.contact(*about))
    yield memory.contact(*about).jobs()
    yield memory.contact(*about).tasks()
    yield memory.agent(AGENT).contacts()
    yield memory.agent(AGENT).erasures()
    yield ops.contact_page(memory.contact(*about))


def given_out(memory: Memory, contact_id: str, folder: Path, engine: EngineUnderTest) -> str:
    """Reports, exports and a backup, in one text."""
    said = []
    asking = reports(memory, contact_id)
    while True:
        try:
            said.append(repr(next(asking)))
        except StopIteration:
            break
        except ReconcilerError as error:
            said.append(str(error))
            break
    ops.export(memory, folder / "all.jsonl", vectors=True, keys=True, overwrite=True)
    said.append((folder / "all.jsonl").read_text())
    if engine.name == "embedded":
        ops.backup(memory, folder / "memory.zip", overwrite=True)
        with zipfile.ZipFile(folder / "memory.zip") as archive:
            said += [archive.read(each).decode("latin-1") for each in archive.namelist()]
    return "\n".join(said).casefold()


WHOLE = ("contact",)
AT_ONCE = [WHOLE, tuple(part for part in PARTS if part not in WHOLE)]
"""What is erased of one memory; in ``make faults`` each has one of its own."""


@pytest.mark.slow
@pytest.mark.faults
@pytest.mark.parametrize(
    ("one_of_each", "parts"),
    cases_of_each([(part,) for part in PARTS] if faults.EVERY_CALL else AT_ONCE, {WHOLE}),
    indirect=["one_of_each"],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_nothing_that_is_given_out_after_an_erasure_holds_a_word_of_it(
    one_of_each: EngineUnderTest,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    parts: tuple[str, ...],
) -> None:
    words, others = Words(), Words()
    others._numbers = iter(range(5_000, 10_000))  # type: ignore[assignment]
    folder = tmp_path / "given-out"
    folder.mkdir()
    with opened(one_of_each.settings_arguments, others) as memory:
        plant(memory, BOB, others)
        if parts != WHOLE:
            plant(memory, ANN, others)
        memory.drain()  # what waits would be read with the words of this test's parts
    with opened(one_of_each.settings_arguments, words) as memory:
        targets: list[dict[str, Any]] = [PARTS[part](memory, words) for part in parts]
        before = given_out(memory, ANN, folder, one_of_each)
        planted = {word for word in words.given if word in before}
        kept = {word for word in others.given if word in before}
        assert len(planted) >= (80 if parts == WHOLE else 3 * len(parts))
        caplog.clear()
        caplog.set_level(logging.DEBUG)
        for target in targets:
            done = memory.contact(AGENT, ANN).forget(**target, **ASKED)
            assert done.receipt.remaining_ids == ()
        after = given_out(memory, ANN, folder, one_of_each)
        assert {word for word in words.given if word in after} == set()
        assert {word for word in words.given if word in caplog.text.casefold()} == set()
        assert {word for word in kept if word not in after} == set()
    everything = "\n".join(raw_store.everything(one_of_each)).casefold()
    assert {word for word in words.given if word in everything} == set()
