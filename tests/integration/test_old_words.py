"""Words of long ago that come again, in the first person or the third, bring no fact back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reconciler import ContactMemory, Memory, Turn
from reconciler.settings import load_settings
from tests.clocks import Clock
from tests.engines import embedded_engine

FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)
LOVES = "I love olives."


@pytest.fixture
def clock() -> Clock:
    return Clock(FIRST)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    """The defaults, the packaged judge included."""
    settings = load_settings(
        **embedded_engine(tmp_path).settings_arguments, arbiter={"provider": "packaged"}
    )
    with Memory.open(settings, clock=clock) as memory:
        yield memory


@pytest.fixture
def ada(memory: Memory) -> ContactMemory:
    return memory.contact("crm", "ada")


def live(ada: ContactMemory) -> list[str]:
    return sorted(hit.fact.text for hit in ada.recall(limit=50))


def noted(memory: Memory, ada: ContactMemory) -> None:
    ada.note("The contact loves olives.", said_at=FIRST)


def handed_over(memory: Memory, ada: ContactMemory) -> None:
    turn = Turn(role="contact", text=f"Please remember that {LOVES}", said_at=FIRST)
    ada.submit_session("an old transcript", [turn])
    memory.drain()


def imported(memory: Memory, ada: ContactMemory) -> None:
    line = {"agent_id": "crm", "contact_id": "ada", "text": "The contact loves olives."}
    memory.import_notes([json.dumps(line | {"said_at": FIRST.isoformat()})])


DOORS = (noted, handed_over, imported)


def ended(ada: ContactMemory, fact_id: str) -> None:
    ada.note("I no longer love olives.")


def replaced(ada: ContactMemory, fact_id: str) -> None:
    ada.note("I can't stand olives any more.")


def ended_by_an_agent(ada: ContactMemory, fact_id: str) -> None:
    ada.note("Olives are over for good.", ends=[fact_id])


def taken_back(ada: ContactMemory, fact_id: str) -> None:
    ada.note("I misspoke, I do not love olives.")


def revoked(ada: ContactMemory, fact_id: str) -> None:
    ada.revoke(fact_id, by="olga", reason="A mistake.")


def forgotten(ada: ContactMemory, fact_id: str) -> None:
    ada.forget(fact_id=fact_id, by="contact", reason="She asked.")


OVER = (ended, replaced, ended_by_an_agent, taken_back, revoked, forgotten)


@pytest.mark.parametrize("again", DOORS)
@pytest.mark.parametrize("over", OVER)
def test_the_old_words_of_a_fact_that_is_over_bring_none_back(
    memory: Memory,
    clock: Clock,
    ada: ContactMemory,
    over: Callable[[ContactMemory, str], None],
    again: Callable[[Memory, ContactMemory], None],
) -> None:
    fact_id = ada.note(LOVES).fact_id
    assert fact_id is not None
    clock.pass_days(3)
    over(ada, fact_id)
    clock.pass_days(3)
    known = live(ada)
    again(memory, ada)
    assert live(ada) == known


@pytest.mark.parametrize("again", DOORS)
def test_a_fact_told_in_the_third_person_is_the_same_fact(
    memory: Memory,
    ada: ContactMemory,
    clock: Clock,
    again: Callable[[Memory, ContactMemory], None],
) -> None:
    ada.note(LOVES)
    ada.note("My brother loves olives.")
    clock.pass_days(3)
    again(memory, ada)
    assert live(ada) == ["My brother loves olives.", "The contact loves olives."]


def test_new_words_of_today_hold_again(ada: ContactMemory, clock: Clock) -> None:
    ada.note(LOVES)
    clock.pass_days(3)
    ada.note("I no longer love olives.")
    clock.pass_days(3)
    ada.note("The contact loves olives.")
    assert "The contact loves olives." in live(ada)
