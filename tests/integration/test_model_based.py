"""The whole write path against a model of it: what is live, what is history, who decided.

The model is in ``memory_model``. Hypothesis makes up conversations, arbiters' answers, repeated
keys and restarts, and looks for one where store and model part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reconciler import Decision, Fact, Memory, load_settings
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import FactHistory, Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.errors import ArbiterError, ArbiterRefusedError, InvalidNoteError
from reconciler.reading.guard import find_differences
from reconciler.service.writing.neighbourhoods import Neighbourhoods
from reconciler.testing import TableEmbedder
from tests import faults
from tests.integration.memory_model import (
    BOUNDS,
    CONTESTED_WINDOW,
    DIMENSION,
    FROM_MOST_TRUSTED,
    TEXTS,
    KnownContact,
    KnownFact,
    Outcome,
    Said,
    Slot,
    cosine,
)

CONTACTS = ("alice", "bob")
# Seldom a key, or most of a conversation would be replays.
KEYS = (*[None] * 6, "key 1", "key 2")
SAID_BETWEEN_RESTARTS = 8
DAYS = [datetime(2025, 3, 1, 12, tzinfo=UTC) + timedelta(days=day) for day in (0, 7, 20)]


def judgement(relation: Relation, action: Action, target: int | None) -> Judgement:
    return Judgement(reasoning="it says so", relation=relation, target=target, action=action)


ANSWERS: list[Judgement | ArbiterError] = [
    ArbiterRefusedError("will not say"),
    judgement(Relation.COEXISTS, Action.ADD, None),
    judgement(Relation.UNRELATED, Action.UPDATE, 1),
    judgement(Relation.SAME, Action.SKIP, 1),
    judgement(Relation.SAME, Action.SKIP, 2),
    judgement(Relation.REFINES, Action.UPDATE, 1),
    judgement(Relation.REPLACES, Action.UPDATE, 1),
    judgement(Relation.REPLACES, Action.UPDATE, 2),
]
SLOTS = [
    *(Slot("contact", "city", value) for value in ("Pune", "Goa", None)),
    *(Slot("contact", "allergy", value) for value in ("nuts", "eggs", None)),
    *(Slot("wife", "city", value) for value in ("Pune", None)),
    Slot("wife", "allergy", "nuts"),
]
NOTES = st.builds(
    Said,
    text=st.sampled_from(list(TEXTS)),
    said_at=st.sampled_from(DAYS),
    source_kind=st.sampled_from(FROM_MOST_TRUSTED),
    slot=st.none() | st.sampled_from(SLOTS),
    is_dated=st.booleans(),
)
CACHED_FACTS_MAX = (50_000, 50_000, 10, 0)
"""Four writers with neighbourhoods of their own: two keep all, one two small contacts, one none."""

SAID: Bundle[Said] = Bundle("said")
HOW: dict[str, Any] = {
    "writer": st.integers(0, len(CACHED_FACTS_MAX) - 1),
    "contact_id": st.sampled_from(("alice", *CONTACTS)),
    "answer": st.sampled_from(ANSWERS),
    "key": st.sampled_from(KEYS),
}


TEA = Said("likes tea", DAYS[0], "operator", None)
SELDOM: dict[str, list[tuple[Said, str | None]]] = {
    "two attributes, neither with a value": [
        (TEA._replace(slot=Slot("contact", "allergy", None)), None),
        (TEA._replace(slot=Slot("contact", "city", None)), None),
        (TEA._replace(slot=Slot("contact", "city", None)), None),
    ],
    "a dispute, and one side of it again": [
        (TEA._replace(source_kind="user_explicit", slot=SLOTS[0]), None),
        (TEA._replace(source_kind="approved_doc", slot=SLOTS[1]), None),
        (TEA._replace(slot=SLOTS[0], is_dated=False), None),
        (TEA._replace(source_kind="user_explicit", slot=SLOTS[1], said_at=DAYS[2]), None),
    ],
    "a key with another source": [
        (TEA, "key 1"),
        (TEA._replace(source_kind="approved_doc"), "key 1"),
    ],
    "a key with another slot": [(TEA, "key 1"), (TEA._replace(slot=SLOTS[0]), "key 1")],
    "a key at another time": [
        (TEA, "key 1"),
        (TEA._replace(said_at=DAYS[1], is_dated=False), "key 1"),
    ],
}
"""What a run of few conversations may never come to: notes, each with its key."""


class ChosenArbiter:
    """Answers what the machine chose just before, however often it is asked."""

    name = "chosen"
    answer: Judgement | ArbiterError

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        if isinstance(self.answer, ArbiterError):
            raise self.answer
        return self.answer

    def close(self) -> None:
        """Nothing to close."""


def outcome_of(decision: Decision) -> Outcome:
    return Outcome(
        decision.action,
        decision.decided_by,
        superseded=frozenset(decision.superseded_ids),
        conflicting=frozenset(decision.conflicting_ids),
        beneath=decision.verdict.above,
        is_contested=decision.verdict.is_contested,
        holds_from=decision.note.holds_from,
    )


def latest_by_the_clock(decision: Decision) -> tuple[float, str]:
    return (-decision.at.timestamp(), decision.decision_id)


def head_of(history: FactHistory) -> str:
    return history.facts[0].fact_id


def facts_in(history: FactHistory) -> dict[str, KnownFact]:
    above = {each.old_id: each.new_id for each in history.supersessions}
    return {
        fact.fact_id: KnownFact(
            said_in(fact), fact.observations, fact.is_contested, above.get(fact.fact_id)
        )
        for fact in history.facts
    }


def said_in(fact: Fact) -> Said:
    slot = fact.slot
    known = Slot(slot.subject, slot.attribute or "", slot.value) if slot else None
    return Said(fact.text, fact.valid_from, fact.trust, known)


def conflicts_in(history: FactHistory) -> Counter[frozenset[str]]:
    """How often each pair is told; once is enough."""
    return Counter(frozenset({each.new_id, each.old_id}) for each in history.conflicts)


class SharedStore:
    """One store for all conversations, because to open one takes longer than most of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.arbiter = ChosenArbiter()
        self.now = DAYS[-1]
        self.conversations = count()
        self.memory = self._opened()

    def restart(self) -> None:
        self.memory.close()
        self.memory = self._opened()

    def write_as(self, writer: int) -> None:
        """Write from now on like another process, which knows nothing of what the others wrote."""
        self.memory._services.reconciler.ledger.neighbourhoods = self._writers[writer]

    def _opened(self) -> Memory:
        # The model knows nothing of the guard, and the arbiter does not stick to what it said.
        settings = load_settings(
            graph="embedded",
            embedded_path=self.path,
            reconcile={"guard": "off"},
            arbiter={"cache_size_max": 0, "calls_per_minute_max": 100_000},
        )
        embedder = TableEmbedder(TEXTS, DIMENSION)
        memory = Memory.open(
            settings, embedder=embedder, arbiter=self.arbiter, clock=lambda: self.now
        )
        store = memory._services.fact_store
        self._writers = [
            Neighbourhoods(store, embedder.model_id, facts_max) for facts_max in CACHED_FACTS_MAX
        ]
        return memory


class MemoryMachine(RuleBasedStateMachine):
    """Says things to a memory and to its model, and compares them after each."""

    def __init__(self, store: SharedStore) -> None:
        super().__init__()
        self.store = store
        self.agent_id = f"crm {next(store.conversations)}"
        self.known = {contact_id: KnownContact() for contact_id in CONTACTS}
        self.touched: tuple[str, ...] = ()
        self.said_since_restart = 0

    @rule(said=NOTES, target=SAID, **HOW)
    def say(self, said: Said, **how: Any) -> Said:
        self._say(said, **how)
        return said

    @rule(said=SAID, **HOW)
    def say_again(self, said: Said, **how: Any) -> None:
        self._say(said, **how)

    def _say(
        self,
        said: Said,
        contact_id: str,
        answer: Judgement | ArbiterError,
        key: str | None,
        writer: int,
    ) -> None:
        self.store.write_as(writer)
        known = self.known[contact_id]
        if said.is_dated:  # a late note is told in order: see test_telling_order
            said = said._replace(said_at=max(said.said_at, known.said_last_at))
        self.touched = (contact_id,)
        self.said_since_restart += 1
        self.store.arbiter.answer = answer
        # A note without a date gets the time of a clock that steps to and fro.
        self.store.now = DAYS[-1] if said.is_dated else said.said_at
        add = partial(
            self.store.memory.add_contact_note,
            self.agent_id,
            contact_id,
            said.text,
            said_at=said.said_at if said.is_dated else None,
            source_kind=said.source_kind,
            idempotency_key=key,
            **(said.slot._asdict() if said.slot else {}),
        )
        first = known.by_key.get(key or "")
        if first is not None and not first.said.is_repeated_by(said):
            with pytest.raises(InvalidNoteError, match="this idempotency key belongs to"):
                add()
            return
        decision = add()
        if first is not None:
            assert decision == first.decision.as_replay()
            return
        assert (
            self.store.memory.contact(self.agent_id, contact_id).decision(decision.decision_id)
            == decision
        )
        near = [each.fact_id for each in decision.compared_with]
        assert known.in_sight(said, near)
        outcome = known.expected(said, answer, near)
        assert outcome_of(decision) == outcome
        assert (decision.fact_id == outcome.repeated) == (outcome.action is Action.SKIP)
        known.apply(said, decision, outcome)

    # Opening is slow, so not before much was said.
    @precondition(lambda self: self.said_since_restart >= SAID_BETWEEN_RESTARTS)
    @rule()
    def restart(self) -> None:
        self.store.restart()
        self.said_since_restart = 0
        self.touched = CONTACTS
        for contact_id, known in self.known.items():
            decisions = self.store.memory.contact(self.agent_id, contact_id).decisions(limit=1000)
            assert decisions == sorted(known.decisions, key=latest_by_the_clock)

    @invariant()
    def the_memory_holds_what_its_model_holds(self) -> None:
        for contact_id in self.touched:
            known = self.known[contact_id]
            recalled = self.store.memory.contact(self.agent_id, contact_id).recall(limit=1000)
            assert {each.fact.fact_id for each in recalled} == known.live()
            histories = self.store.memory.contact(self.agent_id, contact_id).history()
            assert sorted(map(head_of, histories)) == sorted(known.live())
            for history in histories:
                assert facts_in(history) == known.tree(head_of(history))
                assert conflicts_in(history) == Counter(known.open_conflicts(head_of(history)))


def test_no_two_texts_are_too_near_to_a_bound_for_the_model_to_be_sure() -> None:
    cosines = [cosine(*pair) for pair in combinations(TEXTS, 2)]
    assert min(abs(each - bound) for each in cosines for bound in BOUNDS) > 1e-5
    between = zip(BOUNDS, (*BOUNDS[1:], 1.0), strict=True)
    assert all(any(low < each < high for each in cosines) for low, high in between)


def test_no_two_texts_differ_in_what_the_guard_sees_and_the_model_does_not() -> None:
    assert not any(find_differences(*pair) for pair in combinations(TEXTS, 2))


def test_some_days_lie_at_the_bound_of_the_window_of_a_to_and_fro_and_some_beyond_it() -> None:
    apart = {later - earlier for earlier, later in combinations(DAYS, 2)}
    assert CONTESTED_WINDOW in apart
    assert max(apart) > CONTESTED_WINDOW


def test_the_memory_does_what_its_model_says_of_what_is_seldom_said(tmp_path: Path) -> None:
    store = SharedStore(tmp_path / "memory.lbug")
    for notes in SELDOM.values():
        machine = MemoryMachine(store)
        for said, key in notes:
            machine.say_again(said, contact_id="alice", answer=ANSWERS[0], key=key, writer=0)
            machine.the_memory_holds_what_its_model_holds()
    store.memory.close()


@pytest.mark.slow
def test_the_memory_does_what_its_model_says(tmp_path: Path) -> None:
    store = SharedStore(tmp_path / "memory.lbug")
    run_state_machine_as_test(
        lambda: MemoryMachine(store),
        settings=settings(max_examples=faults.times(3, 12), stateful_step_count=30),
    )
    store.memory.close()
