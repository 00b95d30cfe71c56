"""What others write during an erasure is stopped by its mark, or swept by its removal."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from reconciler import Action, Memory
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.erasures import Erasure, ErasureState
from reconciler.domain.records.kinds import GateReason
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.domain.tasks.tasks import TaskState
from reconciler.errors import ErasedError, ReconcilerError, UnknownTaskError
from reconciler.ports.graph import Row
from reconciler.reading.kinds import Category
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.service.stores.rows import Queries
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests import raw_store
from tests.engines import EngineUnderTest

AGENT, PRIYA = "crm", "priya"
ASKED: dict[str, Any] = {"by": "contact", "reason": "I asked for it."}
SAID = "My city is Pune, and it rains."


def claim(text: str, attribute: str) -> Extracted:
    return Extracted(
        text=text,
        category=Category.FACT,
        importance=0.6,
        confidence=0.95,
        citations=(Citation(episode=1, span="My city is Pune"),),
        attribute=attribute,
        value="Pune",
    )


PUNE = Extraction(candidates=(claim("Lives in Pune.", "city"), claim("Her home is Pune.", "home")))


@pytest.fixture
def memory(one_of_each: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(
        embedder=HashingEmbedder(),
        extractor=ScriptedExtractor([PUNE, PUNE]),
        **one_of_each.settings_arguments,
    ) as memory:
        yield memory


class CutOff(BaseException):
    """What ends an erasure in the middle."""


@contextmanager
def cut_off_before(step: str) -> Iterator[None]:
    """An erasure that is begun in here ends before a step of its removal, and waits."""

    def end(store: ErasureStore, query: str, /, **given: Any) -> list[Row]:
        if query == step:
            raise CutOff
        return Queries.rows(store, query, **given)

    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(ErasureStore, "rows", end)
        with pytest.raises(CutOff):
            yield


def lives_in_pune(memory: Memory, text: str = "Lives in Pune.", **given: Any) -> Any:
    return memory.add_contact_note(AGENT, PRIYA, text, attribute="city", value="Pune", **given)


def everything(memory: Memory, engine: EngineUnderTest) -> str:
    memory.close()
    return "\n".join(raw_store.everything(engine))


def test_a_fact_that_is_being_erased_is_not_recalled_and_to_say_it_again_takes_a_yes(
    memory: Memory,
) -> None:
    fact_id = lives_in_pune(memory).fact_id
    with cut_off_before("remove_decisions"):
        memory.contact(AGENT, PRIYA).forget(fact_id=fact_id, **ASKED)
    assert memory.contact(AGENT, PRIYA).recall() == []
    again = lives_in_pune(memory, "Her home is Pune, by the river.")
    assert (again.action, again.gate.reason) == (Action.HOLD, GateReason.FORGOTTEN_BEFORE)
    memory.finish_erasures()
    assert memory.contact(AGENT, PRIYA).recall() == []


def test_a_question_about_what_is_being_erased_takes_no_answer(
    memory: Memory, one_of_each: EngineUnderTest
) -> None:
    held = memory.add_contact_note(
        AGENT, PRIYA, "Has asthma since Brightwave.", attribute="illness", value="Brightwave"
    )
    assert held.action is Action.HOLD
    with cut_off_before("remove_decisions"):
        memory.contact(AGENT, PRIYA).forget(attribute="illness", **ASKED)
    for answer in ("confirm", "reject", "withdraw"):
        with pytest.raises(ErasedError):
            getattr(memory.contact(AGENT, PRIYA), answer)(held.decision_id, "contact")
    memory.finish_erasures()
    assert "Brightwave" not in everything(memory, one_of_each)


def test_who_finishes_an_erasure_late_takes_nothing_that_was_said_since(memory: Memory) -> None:
    lives_in_pune(memory)
    with cut_off_before("remove_decisions"):
        memory.contact(AGENT, PRIYA).forget(**ASKED)
    [seen] = memory.erasures(unfinished=True)
    memory.finish_erasures()
    memory.add_contact_note(AGENT, PRIYA, "Likes green tea.")
    late = memory._services.erasures.finish(seen)
    assert late.state is ErasureState.DONE
    assert [each.fact.text for each in memory.contact(AGENT, PRIYA).recall()] == [
        "Likes green tea."
    ]
    assert memory.erasures(unfinished=True) == []


def test_who_comes_late_with_a_removal_leaves_an_erasure_that_is_done_as_it_is(
    memory: Memory,
) -> None:
    """The other one came between the look of this one and its removal."""
    lives_in_pune(memory)
    with cut_off_before("remove_decisions"):
        memory.contact(AGENT, PRIYA).forget(**ASKED)
    [seen] = memory.erasures(unfinished=True)
    store = memory._services.erasure_store
    words = store.words
    others: list[list[Erasure]] = []

    def after_the_other(scope: Any, known: Any) -> Any:
        if not others:
            others.append([])
            thread = threading.Thread(target=lambda: others[0].extend([_done(store, seen)]))
            thread.start()
            thread.join()
        return words(scope, known)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(store), "words", staticmethod(after_the_other))
        assert memory._services.erasures.finish(seen).state is ErasureState.DONE
    [kept] = memory.agent(AGENT).erasures()
    assert kept.state is ErasureState.DONE
    assert kept.finished_at is not None


def _done(store: Any, seen: Erasure) -> Erasure:
    from datetime import UTC, datetime

    moved: Erasure = store.move(seen, ErasureState.DONE, seen.receipt, datetime.now(UTC))
    return moved


@pytest.mark.parametrize("part", [{"attribute": "city"}, {"session_id": "chat-1"}, {}])
def test_a_worker_that_read_before_an_erasure_writes_no_word_of_it_afterwards(
    memory: Memory, one_of_each: EngineUnderTest, part: dict[str, str]
) -> None:
    """The erasure falls between a worker's last look at its lease and what it proposes."""
    memory.contact(AGENT, PRIYA).submit_session("chat-1", [Turn(role="contact", text=SAID)])
    gate = memory._services.gate
    propose: Callable[..., Any] = gate.propose
    proposed: list[Any] = []

    def propose_late(*given: Any, **named: Any) -> Any:
        if proposed:
            memory.contact(AGENT, PRIYA).forget(**part, **ASKED)
        proposed.append(propose(*given, **named))
        return proposed[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(gate), "propose", staticmethod(propose_late))
        memory.worker().work_once()
    assert [each.action for each in proposed] == [Action.ADMIT, Action.REJECT]
    left = everything(memory, one_of_each)
    assert "Lives in Pune" not in left
    assert "Her home" not in left


def test_no_task_is_begun_for_a_contact_that_is_being_erased(memory: Memory) -> None:
    lives_in_pune(memory)
    with cut_off_before("remove_decisions"):
        memory.contact(AGENT, PRIYA).forget(**ASKED)
    with pytest.raises(ErasedError, match="being erased"):
        memory.contact(AGENT, PRIYA).task("move", goal="Move to Brightwave")
    memory.finish_erasures()
    memory.contact(AGENT, PRIYA).task("move", goal="Move to Brightwave")


def test_a_task_that_was_begun_in_an_erased_session_loses_its_goal_without_a_turn_in_it(
    memory: Memory,
) -> None:
    turns = [Turn(role="contact", text="My city is Pune.")]
    memory.contact(AGENT, PRIYA).submit_session("chat", turns)
    run = memory.contact(AGENT, PRIYA).task("move", goal="Move to Quixotia", session_id="chat")
    memory.contact(AGENT, PRIYA).task("other", goal="Send the invoice")
    memory.contact(AGENT, PRIYA).forget(session_id="chat", **ASKED)
    kept = {each.task_id: (each.goal, each.state) for each in memory.contact(AGENT, PRIYA).tasks()}
    assert kept["move"] == ("[erased]", TaskState.FAILURE)
    assert kept["other"] == ("Send the invoice", TaskState.START)
    with pytest.raises(ReconcilerError):
        run.log_episode(Turn(role="tool", text="It is far."))
    with pytest.raises(ErasedError, match="session chat was erased"):
        memory.contact(AGENT, PRIYA).task("again", goal="Move to Quixotia", session_id="chat")
    assert {each.task_id for each in memory.contact(AGENT, PRIYA).tasks()} == {"move", "other"}


@pytest.mark.parametrize("step", ["remove_decisions", "remove_task_words", "remove_facts"])
def test_a_task_that_goes_on_while_its_contact_is_erased_leaves_no_word(
    memory: Memory, one_of_each: EngineUnderTest, step: str
) -> None:
    lives_in_pune(memory)
    run = memory.contact(AGENT, PRIYA).task("move", goal="Move to Brightwave")
    run.observed()
    with cut_off_before(step):
        memory.contact(AGENT, PRIYA).forget(**ASKED)
    with suppress(ErasedError, UnknownTaskError):
        run.task_memory.mark_done("Brightwave")
    with suppress(ErasedError, UnknownTaskError):
        run.task_memory.set_blocker("Waits for Brightwave")
    with suppress(ErasedError, UnknownTaskError):
        run.task_memory.checkpoint(["Takes Brightwave"])
    memory.finish_erasures()
    with suppress(ErasedError, UnknownTaskError):
        run.task_memory.set_blocker("Waits for Brightwave")
    assert "brightwave" not in everything(memory, one_of_each).casefold()


def forgotten_by_an_engine_that_misses(memory: Memory, misses: int) -> Erasure:
    """Forget a contact, while the engine leaves decisions as they were so many times."""
    calls = itertools.count()

    def putting(store: ErasureStore, query: str, /, **given: Any) -> list[Row]:
        if query == "remove_decisions" and next(calls) < misses:
            return []
        return Queries.rows(store, query, **given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ErasureStore, "rows", putting)
        return memory.contact(AGENT, PRIYA).forget(**ASKED)


def test_what_the_look_finds_is_removed_again(memory: Memory, one_of_each: EngineUnderTest) -> None:
    lives_in_pune(memory)
    done = forgotten_by_an_engine_that_misses(memory, 1)
    assert (done.state, done.receipt.remaining_ids) == (ErasureState.DONE, ())
    assert "Pune" not in everything(memory, one_of_each)


def test_an_erasure_is_not_done_while_anything_is_left(
    memory: Memory, one_of_each: EngineUnderTest
) -> None:
    lives_in_pune(memory)
    begun = forgotten_by_an_engine_that_misses(memory, 1_000)
    assert begun.state is ErasureState.PENDING
    assert begun.receipt.remaining_ids
    [finished] = memory.finish_erasures()
    assert finished.state is ErasureState.DONE
    assert "Pune" not in everything(memory, one_of_each)
