"""A deletion that holds: the thirteen steps that the agent-memory-atlas asks for, in one story.

Source: neoneye/agent-memory-atlas, content/benchmarks.md, section 6. The words are our own. Beside
what is deleted stands a twin that is never deleted, so that no step passes because nothing can be
found. What holds and what does not is in ``docs/others_tests.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Decision, Memory, Turn, as_prompt, ops
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.errors import ErasedError
from tests import raw_store
from tests.engines import EngineUnderTest, embedded_engine
from tests.portable_checks import ADA, ASKED, Open, exported, held_before, holding, opening

GONE, KEPT = "Voxbury9", "Orrery4"
SOURCE = [
    Turn(role="contact", text=f"Please remember that my parrot is called {GONE}."),
    Turn(role="agent", text=f"A parrot called {GONE}, how nice."),
]
"""What the fact is read from, and read from again; the agent repeats the name."""
TWIN = [Turn(role="contact", text=f"Please remember that my canoe is called {KEPT}.")]


@pytest.fixture
def engine(tmp_path: Path) -> EngineUnderTest:
    return embedded_engine(tmp_path)


@pytest.fixture
def opened(engine: EngineUnderTest) -> Iterator[Open]:
    yield from opening(engine)


@pytest.fixture(scope="module")
def minilm() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(OnnxMinilm())
    yield embedder
    embedder.close()


def given(memory: Memory, **contact: str) -> set[str]:
    """Which of the two words a model is given as facts, when it asks about parrot and canoe."""
    scope = memory.contact(**ADA | contact)
    asked = ("What is the parrot called?", "What is the canoe called?", f"{GONE} {KEPT}", "")
    prompts = str([as_prompt(scope.recall(question, limit=100)) for question in asked])
    return {word for word in (GONE, KEPT) if word in prompts}


def offered(memory: Memory) -> str:
    """What a model is given at the opening of a conversation, with what it may ask the contact."""
    hello = [Turn(role="contact", text="Hello, it is me again.")]
    return memory.contact(**ADA).context(hello, budget_tokens=5000).text


def hand_over(memory: Memory, session_id: str, turns: list[Turn] = SOURCE) -> None:
    memory.contact(**ADA).submit_session(session_id, turns)
    memory.drain()


def run_background_work(memory: Memory) -> None:
    """All that runs without being asked for by a caller."""
    memory.drain()
    memory.agent("crm").archive()
    list(memory.finish_erasures())


def kept_words(memory: Memory) -> str:
    """Everything derived: lists, pages, profile, report, decisions and audit; and the export."""
    ada = memory.contact(**ADA)
    lists = (
        ada.history(),
        ada.decisions(limit=1000),
        ada.profile(),
        ada.briefing(),
        ada.jobs(),
        ada.tasks(),
        ada.recall_about(GONE),
        ops.report(ada),
        ops.contact_page(ada),
        memory.erasures(),
        exported(memory, **ADA),
    )
    return str(lists)


def test_a_deletion_holds_through_thirteen_steps(
    opened: Open, engine: EngineUnderTest, minilm: LocalEmbedder, tmp_path: Path
) -> None:
    memory = opened(embedder=minilm)
    hand_over(memory, "chat")  # 1
    hand_over(memory, "hobbies", TWIN)
    assert given(memory) == {GONE, KEPT}  # 2
    assert GONE in kept_words(memory)

    memory.contact("crm", "bob").note(f"My parrot is called {GONE}.")  # 11
    ops.export(memory, tmp_path / "before.jsonl")

    [told] = [hit.fact for hit in memory.contact(**ADA).recall_about(GONE)]
    done = memory.contact(**ADA).forget(fact_id=told.fact_id, **ASKED)  # 3, 12
    assert done.receipt.is_clean
    assert given(memory) == {KEPT}  # 4

    assert holding(exported(memory, **ADA), GONE) == {"Episode"}, "the agent's turn stays"
    memory.contact(**ADA).forget(session_id="chat", **ASKED)
    assert GONE not in kept_words(memory)  # 9
    assert done.erasure_id in {each.erasure_id for each in memory.erasures()}  # 10

    with pytest.raises(ErasedError):
        hand_over(memory, "chat")  # 5
    hand_over(memory, "from the archive")
    assert given(memory) == {KEPT}  # 6
    [question] = memory.contact(**ADA).pending()
    assert isinstance(question, Decision)
    assert held_before(question)
    assert offered(memory).count(GONE) == 1, "on purpose: the contact is asked, once"

    run_background_work(memory)  # 7
    memory.close()
    again = opened(embedder=minilm)
    run_background_work(again)
    assert given(again) == {KEPT}  # 8
    again.contact(**ADA).reject(decision_id=question.decision_id, by="contact")
    assert GONE not in offered(again)
    again.contact(**ADA).forget(session_id="from the archive", **ASKED)
    assert KEPT in kept_words(again)
    assert GONE not in kept_words(again)

    assert given(again, contact_id="bob") == {GONE}, "step 13 does not hold: a copy is its owner's"
    [copy] = again.contact("crm", "bob").recall()
    again.contact("crm", "bob").forget(fact_id=copy.fact.fact_id, **ASKED)
    again.close()
    assert GONE not in str(raw_store.everything(engine))


def test_an_export_from_before_a_deletion_gives_it_to_another_store(
    opened: Open, minilm: LocalEmbedder, tmp_path: Path
) -> None:
    """Step 13, for a copy in a file: on purpose the file is its owner's."""
    memory = opened(embedder=minilm)
    hand_over(memory, "chat")
    hand_over(memory, "hobbies", TWIN)
    ops.export(memory, tmp_path / "before.jsonl")
    memory.contact(**ADA).forget(**ASKED)
    ops.export(memory, tmp_path / "after.jsonl")
    for name, words in (("before", {GONE, KEPT}), ("after", set())):
        store = embedded_engine(tmp_path / name).settings_arguments
        ops.restore(tmp_path / f"{name}.jsonl", embedder=minilm, **store)
        other = opened(embedder=minilm, **store)
        assert given(other) == words
