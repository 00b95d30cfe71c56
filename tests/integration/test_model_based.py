"""The whole write path against a model of it: what is live, what is history, who decided.

The model is the rule in a dozen lines, over plain dictionaries. Hypothesis makes up conversations,
arbiters' answers, repeated keys and restarts, and looks for one where store and model part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from reconciler import Decision, Memory
from reconciler.domain.decisions import Action, DecidedBy, Judgement, Relation
from reconciler.domain.facts import Neighbour
from reconciler.errors import ArbiterError, ArbiterRefusedError
from reconciler.testing import TableEmbedder

DIMENSION = 6
CONTACTS = ("alice", "bob")
KEYS = ("key 1", "key 2")
SAID_AT = datetime(2025, 3, 9, 12, tzinfo=UTC)
BOUNDS = (0.80, 0.875, 0.95)


def _texts() -> dict[str, list[float]]:
    """Three subjects, each told in five ways, from nearly the same to only just related."""
    drawn = np.random.default_rng(7)
    vectors = {}
    for subject in range(3):
        for way, spread in enumerate((0.0, 0.12, 0.2, 0.28, 0.36)):
            vector = np.eye(DIMENSION)[subject] + spread * drawn.standard_normal(DIMENSION)
            vectors[f"subject {subject}, way {way}"] = list(vector / np.linalg.norm(vector))
    return vectors


TEXTS = _texts()


def cosine(one: str, other: str) -> float:
    return float(np.dot(TEXTS[one], TEXTS[other]))


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


class ChosenArbiter:
    """Answers what the machine chose just before, however often it is asked."""

    name = "chosen"
    answer: Judgement | ArbiterError

    def judge(self, text: str, said_at: datetime, neighbours: Sequence[Neighbour]) -> Judgement:
        if isinstance(self.answer, ArbiterError):
            raise self.answer
        return self.answer

    def close(self) -> None:
        """Nothing to close."""


@dataclass
class KnownFact:
    """A fact as the model has it; ``below`` is the one it took the place of."""

    text: str
    observations: int = 1
    is_live: bool = True
    below: str | None = None


@dataclass
class KnownContact:
    """A contact as the model has it."""

    facts: dict[str, KnownFact] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    by_key: dict[str, Decision] = field(default_factory=dict)

    def expected(
        self, text: str, answer: Judgement | ArbiterError
    ) -> tuple[Action, DecidedBy, str | None, bool]:
        """Action, who decides, the fact it is about, and whether that one is restated."""
        near = sorted(self.live(), key=lambda each: -cosine(text, self.facts[each].text))[:5]
        best = cosine(text, self.facts[near[0]].text) if near else -1.0
        if best < 0.80:
            return Action.ADD, DecidedBy.THRESHOLD, None, False
        if best >= 0.95:
            return Action.UPDATE, DecidedBy.THRESHOLD, near[0], True
        if isinstance(answer, Judgement) and answer.relation is not Relation.UNRELATED:
            if answer.target is None:
                return Action.ADD, DecidedBy.ARBITER, None, False
            if answer.target <= len(near):
                restates = answer.relation is not Relation.REPLACES
                return answer.action, DecidedBy.ARBITER, near[answer.target - 1], restates
        if best >= 0.875:
            return Action.UPDATE, DecidedBy.MIDPOINT, near[0], False
        return Action.ADD, DecidedBy.MIDPOINT, None, False

    def apply(self, decision: Decision, target: str | None, restates: bool) -> None:
        self.decisions.insert(0, decision)
        if decision.idempotency_key:
            self.by_key[decision.idempotency_key] = decision
        if decision.action is Action.SKIP and target:
            self.facts[target].observations += 1
            return
        new = self.facts[decision.fact_id] = KnownFact(decision.text, below=target)
        if target:
            self.facts[target].is_live = False
            new.observations += self.facts[target].observations if restates else 0

    def live(self) -> set[str]:
        return {fact_id for fact_id, fact in self.facts.items() if fact.is_live}

    def as_told(self) -> dict[str, tuple[str, int, bool]]:
        return {
            fact_id: (fact.text, fact.observations, fact.is_live)
            for fact_id, fact in self.facts.items()
        }

    def chains(self) -> set[tuple[str, ...]]:
        ended = {fact.below for fact in self.facts.values()}
        return {self._down(head) for head in self.facts if head not in ended}

    def _down(self, fact_id: str) -> tuple[str, ...]:
        below = self.facts[fact_id].below
        return (fact_id, *(self._down(below) if below else ()))


class MemoryMachine(RuleBasedStateMachine):
    """Says things to a memory and to its model, and compares them after each."""

    def __init__(self, make_folder: Callable[[], Path]) -> None:
        super().__init__()
        self.path = make_folder() / "memory.lbug"
        self.arbiter = ChosenArbiter()
        self.known = {contact_id: KnownContact() for contact_id in CONTACTS}
        self.touched: tuple[str, ...] = ()
        self.memory = self.opened()

    def opened(self) -> Memory:
        embedder = TableEmbedder(TEXTS, DIMENSION)
        return Memory.open(
            graph="embedded", embedded_path=self.path, embedder=embedder, arbiter=self.arbiter
        )

    @rule(
        contact_id=st.sampled_from(CONTACTS),
        text=st.sampled_from(list(TEXTS)),
        answer=st.sampled_from(ANSWERS),
        key=st.none() | st.sampled_from(KEYS),
    )
    def say(
        self, contact_id: str, text: str, answer: Judgement | ArbiterError, key: str | None
    ) -> None:
        known = self.known[contact_id]
        self.touched = (contact_id,)
        self.arbiter.answer = answer
        decision = self.memory.add_contact_note(
            "crm", contact_id, text, said_at=SAID_AT, idempotency_key=key
        )
        if key in known.by_key:
            assert decision == known.by_key[key].as_replay()
            return
        action, decided_by, target, restates = known.expected(text, answer)
        assert (decision.action, decision.decided_by) == (action, decided_by)
        assert decision.superseded_id == (target if action is Action.UPDATE else None)
        assert (decision.fact_id == target) == (action is Action.SKIP)
        known.apply(decision, target, restates)

    @precondition(lambda self: any(known.facts for known in self.known.values()))
    @rule()
    def restart(self) -> None:
        self.memory.close()
        self.memory = self.opened()
        self.touched = CONTACTS

    @invariant()
    def the_memory_holds_what_its_model_holds(self) -> None:
        for contact_id in self.touched:
            known = self.known[contact_id]
            found = self.memory.recall("crm", contact_id, limit=1000)
            assert {each.fact.fact_id for each in found} == known.live()
            chains = self.memory.history("crm", contact_id)
            assert {tuple(f.fact_id for f in chain.facts) for chain in chains} == known.chains()
            assert {
                fact.fact_id: (fact.text, fact.observations, fact.is_live)
                for chain in chains
                for fact in chain.facts
            } == known.as_told()
            assert self.memory.decisions("crm", contact_id, limit=1000) == known.decisions

    def teardown(self) -> None:
        self.memory.close()


def test_no_two_texts_are_too_near_to_a_bound_for_the_model_to_be_sure() -> None:
    cosines = [cosine(*pair) for pair in combinations(TEXTS, 2)]
    assert min(abs(each - bound) for each in cosines for bound in BOUNDS) > 1e-5
    between = zip(BOUNDS, (*BOUNDS[1:], 1.0), strict=True)
    assert all(any(low < each < high for each in cosines) for low, high in between)


@pytest.mark.slow
def test_the_memory_does_what_its_model_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    run_state_machine_as_test(
        lambda: MemoryMachine(lambda: tmp_path_factory.mktemp("memory")),
        settings=settings(
            max_examples=15,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
