"""A hundred threads on one memory: all finish, nothing is lost, and the memory works afterwards.

With the real model and the embedded engine; its connections share one pool of memory; what
follows from a contact's turn is told on each engine at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from reconciler import Decision, Memory
from reconciler.adapters.embedded_connections import CONNECTIONS_MAX
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.service.writing.ledger import ContactTurns
from reconciler.testing import HashingEmbedder, ScriptedArbiter, TableEmbedder
from tests.engines import EngineUnderTest, embedded_engine

CROWD = 100
EMAIL = "Prefers to be contacted by email."
ATTEMPTS_MAX = 5
"""Lost races on a busy machine with a queue that stands still; there were 21 to 33."""

Make = Callable[[], Decision]


def at_once(calls: Sequence[Make]) -> list[Decision]:
    """What each call returned, all of them having started at once, each in a thread of its own."""
    start = threading.Barrier(len(calls))

    def go(call: Make) -> Decision:
        start.wait(60)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(go, calls))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One embedded memory with the real model, for all the crowds."""
    engine = embedded_engine(tmp_path_factory.mktemp("crowds"))
    with Memory.open(**engine.settings_arguments) as memory:
        memory.add_contact_note("crm", "warm-up", EMAIL)
        yield memory


@pytest.fixture
def usable_afterwards(memory: Memory) -> Iterator[None]:
    """Have the memory read and write once the crowd has gone, over few connections."""
    yield
    memory.add_contact_note("crm", "afterwards", EMAIL)
    assert [each.fact.text for each in memory.contact("crm", "afterwards").recall("email")] == [
        EMAIL
    ]
    connections = memory._services.fact_store.graph.graph._connections  # type: ignore[attr-defined]
    assert len(connections._open) <= CONNECTIONS_MAX


def live(memory: Memory, contact_id: str) -> list[str]:
    return [each.fact.text for each in memory.contact("crm", contact_id).recall(limit=1000)]


@pytest.mark.usefixtures("usable_afterwards")
def test_a_crowd_that_says_the_same_about_one_contact_leaves_one_live_fact(memory: Memory) -> None:
    at_once([lambda: memory.add_contact_note("crm", "same", EMAIL)] * CROWD)
    [recalled] = memory.contact("crm", "same").recall(limit=1000)
    assert (recalled.fact.text, recalled.fact.observations) == (EMAIL, CROWD)


@pytest.mark.usefixtures("usable_afterwards")
def test_a_crowd_with_different_notes_about_one_contact_loses_none(memory: Memory) -> None:
    texts = [f"Invoice {number} is unpaid." for number in range(CROWD)]
    at_once([lambda say=text: memory.add_contact_note("crm", "other", say) for text in texts])
    assert sorted(live(memory, "other")) == sorted(texts)


@pytest.mark.usefixtures("usable_afterwards")
def test_a_crowd_about_forty_contacts_loses_none(memory: Memory) -> None:
    notes = [(f"contact-{n % 40}", f"Invoice {n} is unpaid.") for n in range(CROWD)]
    at_once([lambda said=said: memory.add_contact_note("crm", *said) for said in notes])
    contacts = sorted({contact_id for contact_id, _ in notes})
    assert sorted(notes) == sorted((to, text) for to in contacts for text in live(memory, to))


# A contact's turn


def test_writers_of_one_process_lose_hardly_a_race(engine: EngineUnderTest) -> None:
    with Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments) as memory:
        texts = [f"word{number}" for number in range(48)]
        decisions = at_once(
            [lambda say=text: memory.add_contact_note("crm", "alice", say) for text in texts]
        )
    assert max(each.timings.attempts for each in decisions) <= ATTEMPTS_MAX


class SlowArbiter(ScriptedArbiter):
    """Thinks until it is told to stop."""

    def __init__(self, answers: Sequence[Judgement]) -> None:
        super().__init__(answers)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return super().judge(note, neighbours)


VECTORS = {
    "Lives in Pune": [1.0, 0.0, 0.0],
    "Pune is home": [0.9, 0.436, 0.0],
    "Drinks tea": [0.0, 0.0, 1.0],
}
SAME = Judgement(reasoning="both", relation=Relation.SAME, target=1, action=Action.UPDATE)


@pytest.mark.parametrize(
    ("meanwhile", "questions"), [("Drinks tea", 2), ("Sounds good, thanks!", 1)]
)
def test_nobody_waits_while_the_arbiter_is_asked_about_anothers_note(
    one_of_each: EngineUnderTest, meanwhile: str, questions: int
) -> None:
    """It is asked again only where what was written meanwhile is a new neighbour."""
    arbiter, given = SlowArbiter([SAME, SAME]), one_of_each.settings_arguments
    with (
        Memory.open(embedder=TableEmbedder(VECTORS, 3), arbiter=arbiter, **given) as memory,
        ThreadPoolExecutor(1) as threads,
    ):
        memory._services.reconciler.ledger._turns = ContactTurns(stalled_seconds=120.0)
        memory.add_contact_note("crm", "alice", "Lives in Pune")
        judged = threads.submit(memory.add_contact_note, "crm", "alice", "Pune is home")
        assert arbiter.is_asked.wait(60)
        assert memory.add_contact_note("crm", "alice", meanwhile).timings.attempts == 1
        arbiter.may_answer.set()
        assert (judged.result(60).decided_by, len(arbiter.calls)) == ("arbiter", questions)
        assert judged.result().timings.attempts == questions
        assert {"Pune is home"} <= set(live(memory, "alice")) <= {"Pune is home", meanwhile}


def test_asking_the_arbiter_is_no_lost_race(one_of_each: EngineUnderTest) -> None:
    once = one_of_each.settings_arguments | {"reconcile": {"write_attempts_max": 1}}
    arbiter = ScriptedArbiter([SAME])
    with Memory.open(embedder=TableEmbedder(VECTORS, 3), arbiter=arbiter, **once) as memory:
        memory.add_contact_note("crm", "alice", "Lives in Pune")
        decision = memory.add_contact_note("crm", "alice", "Pune is home")
    assert (decision.decided_by, decision.timings.attempts) == ("arbiter", 1)
