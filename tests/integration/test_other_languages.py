"""Notes in other languages, through a whole memory with the real model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations

import pytest

from reconciler import Memory
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.domain.records.kinds import Action
from reconciler.entrypoints import doctor
from reconciler.reading.findings import Difference
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.foreign_facts import DENIED, FACTS
from tests.replaying import replay_all
from tests.tables import every


@pytest.fixture(scope="module")
def minilm() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(OnnxMinilm())
    yield embedder
    embedder.close()


@pytest.fixture
def memory(kept_engine: EngineUnderTest, minilm: LocalEmbedder) -> Iterator[Memory]:
    with Memory.open(**kept_engine.settings_arguments, embedder=minilm) as opened:
        yield opened


@every(("language", "facts"), FACTS.items())
def test_twenty_facts_in_any_language_all_stay_live(
    memory: Memory, language: str, facts: list[str]
) -> None:
    memory.import_notes(
        [json.dumps({"text": fact}) for fact in facts], agent_id="crm", contact_id=language
    )
    made = memory.contact("crm", language).decisions(limit=1000)
    assert len(made) == len(facts)
    assert [each.text for each in made if each.action is not Action.ADD] == []
    assert [each.text for each in made if each.conflicting_ids] == []
    [contact] = [each for each in memory.agent("crm").contacts() if each.contact_id == language]
    assert contact.live_facts == len(facts)


@every(("language", "pairs"), DENIED.items())
def test_a_denial_and_the_plain_statement_stay_side_by_side_whichever_comes_first(
    memory: Memory, language: str, pairs: list[tuple[str, str]]
) -> None:
    for number, pair in enumerate(pairs):
        for first, second in permutations(pair):
            contact_id = f"{language} {number} {first}"
            known = memory.add_contact_note("crm", contact_id, first)
            made = memory.add_contact_note("crm", contact_id, second)
            assert (made.action, made.conflicting_ids) == (Action.ADD, (known.fact_id,))
            again = memory.add_contact_note("crm", contact_id, second)
            assert known.fact_id not in again.superseded_ids


def test_the_decision_says_what_the_model_could_not_read(memory: Memory) -> None:
    memory.add_contact_note("crm", "li", "他喜欢喝绿茶。")
    made = memory.add_contact_note("crm", "li", "他喜欢喝红茶。")
    assert Difference.UNREAD in {each.kind for each in made.verdict.findings}
    assert made.reason.endswith("the embedding model could not read 100% of the note")
    [replayed] = [
        each
        for each in replay_all(memory.contact("crm", "li"), "seed")
        if each.decision.decision_id == made.decision_id
    ]
    assert replayed.is_same


def test_doctor_says_which_scripts_the_model_cannot_read(minilm: LocalEmbedder) -> None:
    [model, *_] = doctor._checks_of_parts(load_settings(), minilm)
    assert model.is_ok
    assert "it cannot read Arabic, Chinese, Cyrillic, " in model.finding
    [model, *_] = doctor._checks_of_parts(load_settings(), HashingEmbedder())
    assert "cannot read" not in model.finding


def test_the_same_words_in_another_language_still_count_as_said_again(memory: Memory) -> None:
    memory.add_contact_note("crm", "ana", "Ist gegen Nüsse allergisch.")
    made = memory.add_contact_note("crm", "ana", "ist gegen Nüsse allergisch!")
    assert made.action is Action.UPDATE
