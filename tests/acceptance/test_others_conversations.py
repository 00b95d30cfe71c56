"""What Neo4j's memory TCK asks of conversations, facts, sharing and tasks, where it fits here.

Source: neo4j-labs/agent-memory-tck, SPEC.md 1.0.0; each docstring names its clauses. The tests are
our own, on our own calls: the kit's adapter wants a store of messages, typed entities and traces of
reasoning. What fits and what contradicts is in ``docs/others_tests.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Memory, Turn
from reconciler.bound_memory import ContactMemory
from reconciler.errors import InvalidSessionError
from tests.engines import EngineUnderTest, embedded_engine
from tests.portable_checks import ADA, ASKED, Open, exported, opening

HARD = 'Naïve 你好 👋\n\t"quoted" \\ back'
LONG = "word " * 2500
TOLD = [
    Turn(role="contact", text=HARD),
    Turn(role="agent", text=LONG),
    Turn(role="system", text="Be kind."),
    Turn(role="contact", text="The same words."),
    Turn(role="contact", text="The same words."),
]


@pytest.fixture
def engine(tmp_path: Path) -> EngineUnderTest:
    return embedded_engine(tmp_path)


@pytest.fixture
def opened(engine: EngineUnderTest) -> Iterator[Open]:
    yield from opening(engine)


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


@pytest.fixture
def ada(memory: Memory) -> ContactMemory:
    return memory.contact(**ADA)


def kept(memory: Memory, **contact: str) -> list[tuple[str, str]]:
    """Role and words of every turn that is kept of a contact, in their order."""
    lines = exported(memory, **ADA | contact)
    turns = [line["properties"] for line in lines if line.get("node") == "Episode"]
    turns.sort(key=lambda turn: turn["position"])
    return [(turn["role"], turn["text"]) for turn in turns]


def texts(found: list[tuple[str, str]]) -> list[str]:
    return [text for _, text in found]


def test_turns_keep_their_words_roles_and_order(memory: Memory, ada: ContactMemory) -> None:
    """1.1.11-14, 2.1.2-4, 2.1.8-10, 2.2.1, 2.2.7, 2.2.9, 2.7.7, 2.8.2"""
    ada.submit_session("one", TOLD)
    assert kept(memory) == [(str(turn.role), turn.text) for turn in TOLD]


def test_a_hundred_turns_keep_their_order(memory: Memory, ada: ContactMemory) -> None:
    """2.1.16, 2.2.10, 2.7.6"""
    told = [f"Turn {number}." for number in range(100)]
    ada.submit_session("one", [Turn(role="contact", text=text) for text in told])
    assert texts(kept(memory)) == told


def test_a_session_grows_and_is_found_again_and_others_do_not_see_it(
    memory: Memory, ada: ContactMemory
) -> None:
    """1.1.1-3, 1.1.6, 1.1.8-9, 2.2.4, 2.2.12"""
    ada.submit_session("one", TOLD[:2])
    began = ada.session("one").started_at
    ada.submit_session("one", TOLD)
    memory.contact("crm", "bob").submit_session("one", [Turn(role="contact", text="Bob's.")])
    assert ada.session("one").started_at == began
    assert texts(kept(memory)) == [turn.text for turn in TOLD]
    assert texts(kept(memory, contact_id="bob")) == ["Bob's."]
    with pytest.raises(InvalidSessionError, match="has no session two"):
        ada.session("two")


def test_a_session_is_cleared_alone_and_again_without_an_error(
    memory: Memory, ada: ContactMemory
) -> None:
    """2.6.1-2, 2.6.5, 2.8.3"""
    ada.submit_session("one", TOLD)
    ada.submit_session("two", [Turn(role="contact", text="Kept.")])
    for _ in range(2):
        ada.forget(session_id="one", **ASKED)
    assert set(texts(kept(memory))) == {"[erased]", "Kept."}
    with pytest.raises(InvalidSessionError):
        ada.forget(session_id="none", **ASKED)


def test_a_turn_without_words_is_refused() -> None:
    """2.1.7 does not hold, on purpose"""
    with pytest.raises(InvalidSessionError, match="no visible character"):
        Turn(role="contact", text="")


def test_facts_with_a_subject_and_an_attribute_are_kept_apart_and_found_by_name(
    memory: Memory, ada: ContactMemory
) -> None:
    """1.4.1, 3.3.1-2, 3.6.1-2, 3.4.2, 5.1.3"""
    for attribute, value in (("led_by", "Jo Marsh"), ("seat", "Oslo")):
        text = f"Acme has {value} as {attribute}."
        ada.note(text, subject="Acme", attribute=attribute, value=value, session_id=attribute)
    found = ada.recall_about("Acme")
    assert {(hit.fact.slot.attribute, hit.fact.slot.value) for hit in found if hit.fact.slot} == {
        ("led_by", "Jo Marsh"),
        ("seat", "Oslo"),
    }
    assert len(ada.recall_about("Acme", limit=1)) == 1
    assert ada.recall_about("Globex") == []


def test_another_value_of_the_same_attribute_replaces_it(ada: ContactMemory) -> None:
    """3.3.2 does not hold for one subject and attribute, on purpose: this is what reconciling is"""
    for value in ("Oslo", "Bergen"):
        ada.note(
            f"The seat of Acme is {value}.",
            subject="Acme",
            attribute="seat",
            value=value,
            single_valued=True,
        )
    assert [hit.fact.text for hit in ada.recall_about("Acme")] == ["The seat of Acme is Bergen."]


def test_merged_contacts_have_the_facts_of_both(memory: Memory, ada: ContactMemory) -> None:
    """5.3.1-2"""
    ada.note("Plays the cello.")
    memory.contact("crm", "a.lovelace").note("Prefers to be called in the morning.")
    memory.agent("crm").merge_contacts("ada", "a.lovelace", by="olga")
    assert {hit.fact.text for hit in memory.contact(**ADA).recall()} == {
        "Plays the cello.",
        "Prefers to be called in the morning.",
    }


@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_a_task_has_its_steps_and_its_outcome_and_no_other_contact_sees_it(
    memory: Memory, ada: ContactMemory, outcome: str
) -> None:
    """4.1.1, 4.2.1-2, 4.4.1-2, 4.6.1, 5.5.2"""
    run = ada.task(task_id="t1", goal="Look up the seat of Acme.")
    run.observed()
    for text in ("I looked it up.", "It is Oslo."):
        run.log_episode(Turn(role="agent", text=text))
    run.succeed() if outcome == "success" else run.fail()
    assert [(task.task_id, str(task.state)) for task in ada.tasks()] == [("t1", outcome)]
    assert [step.text for step in run.episodes()] == ["I looked it up.", "It is Oslo."]
    assert memory.contact("crm", "bob").tasks() == []
