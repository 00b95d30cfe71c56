"""The whole memory, with vectors that are chosen so that every cosine is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, timezone
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler import Action, Decision, Fact, Memory, SourceKind, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.config_files import load_attribute_book
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.kinds import DecidedBy, Relation
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.errors import (
    ArbiterError,
    ArbiterUnavailableError,
    ConfigurationError,
    EmbeddingError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
    ReconcilerError,
    UnknownDecisionError,
)
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder, ScriptedArbiter, TableEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest
from tests.submissions import call_about, overtake, propose_to
from tests.tables import every

ADD, UPDATE, SKIP = Action.ADD, Action.UPDATE, Action.SKIP
THRESHOLD, MIDPOINT = DecidedBy.THRESHOLD, DecidedBy.MIDPOINT
DIMENSION = 10
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=30)
LATER = NOON + timedelta(days=3)
BASE = "Prefers email"
HALF = [0.5] * 4 + [0.0] * (DIMENSION - 4)

Vector = list[float]
Open = Callable[..., Memory]


def axis(number: int) -> Vector:
    return [float(place == number) for place in range(DIMENSION)]


def at(cosine: float, other: int = 1) -> Vector:
    """A unit vector at that cosine to ``axis(0)``, leaning towards another axis."""
    vector = axis(0)
    vector[0], vector[other] = cosine, sqrt(1 - cosine**2)
    return vector


@pytest.fixture
def engine(kept_engine: EngineUnderTest) -> EngineUnderTest:
    """The embedded engine, and one Neo4j where the marker says so: the facade is in front."""
    return kept_engine


@pytest.fixture
def open_memory(engine: EngineUnderTest) -> Iterator[Open]:
    """Opens the engine's store; what a test opened is closed after it."""
    with ExitStack() as stack:

        def open_(vectors: Mapping[str, Vector] | None = None, **given: Any) -> Memory:
            given.setdefault("embedder", TableEmbedder(vectors or {BASE: axis(0)}, DIMENSION))
            memory = Memory.open(**engine.settings_arguments | given)
            stack.callback(memory.close)
            return memory

        yield open_


def say(memory: Memory, text: str, contact_id: str = "alice", **given: Any) -> Decision:
    return memory.add_contact_note(
        "crm", contact_id, text, **{"said_at": NOON, "lifetime_days": 3650} | given
    )


def live(memory: Memory) -> list[str]:
    return sorted(each.fact.text for each in memory.contact("crm", "alice").recall(limit=100))


def fact_of(memory: Memory, decision: Decision) -> Fact:
    chains = memory.contact("crm", "alice").history()
    [found] = [f for chain in chains for f in chain.facts if f.fact_id == decision.fact_id]
    return found


def stored(memory: Memory) -> Decision:
    return memory.contact("crm", "alice").decisions()[0]


def judgement(relation: Relation, action: Action, target: int | None = 1) -> Judgement:
    return Judgement(reasoning="it says so", relation=relation, target=target, action=action)


# The rule; its bounds are in the unit tests of the rule


@every(
    ("update_min", "decided_by"), [(0.5, THRESHOLD), (0.5000001, MIDPOINT), (0.4999999, THRESHOLD)]
)
def test_a_cosine_of_exactly_one_half_against_the_update_bound(
    open_memory: Open, update_min: float, decided_by: DecidedBy
) -> None:
    thresholds = {"cosine_update_min": update_min, "cosine_add_max": 0.2}
    vectors = {BASE: axis(0), "Wants email": HALF}
    with open_memory(vectors, reconcile=thresholds) as memory:
        contact = memory.contact("crm", f"at {update_min}")
        contact.note(BASE)
        decision = contact.note("Wants email")
    assert (decision.cosine, decision.action, decision.decided_by) == (0.5, UPDATE, decided_by)


def test_without_an_embedder_everything_is_added(open_memory: Open) -> None:
    memory = open_memory(embedder=NoopEmbedder())
    decisions = [say(memory, BASE) for _ in range(2)]
    assert [(d.action, d.decided_by, d.cosine) for d in decisions] == [(ADD, "noop", None)] * 2
    assert live(memory) == [BASE, BASE]


def test_only_the_facts_of_the_same_contact_are_compared(open_memory: Open) -> None:
    memory = open_memory()
    say(memory, BASE)
    elsewhere = [
        say(memory, BASE, "bob"),
        say(memory, BASE, tenant="globex"),
        memory.add_contact_note("support", "alice", BASE, said_at=NOON),
    ]
    assert [(each.action, each.cosine) for each in elsewhere] == [(ADD, None)] * 3


def test_an_update_supersedes_the_nearest_of_several(open_memory: Open) -> None:
    memory = open_memory({"d": axis(1), "b": axis(0), "c": axis(2), "b!": at(0.96, 3)})
    first = {text: say(memory, text) for text in "dbc"}
    decision = say(memory, "b!")
    assert decision.superseded_ids == (first["b"].fact_id,)
    assert live(memory) == ["b!", "c", "d"]


# What an UPDATE leaves


CHAIN = {"D": axis(0), "B": at(0.96, 1), "C": at(0.96, 2), "query": axis(0)}
# B to C is 0.96 * 0.96 = 0.92 and a little more: in the band, above the midpoint.


def test_an_update_ends_the_old_fact_when_the_new_one_was_said(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    old, new = say(memory, "D"), say(memory, "B", said_at=LATER)
    assert (fact_of(memory, old).is_live, fact_of(memory, old).valid_to) == (False, LATER)
    assert (fact_of(memory, new).is_live, fact_of(memory, new).valid_to) == (True, None)
    assert fact_of(memory, new).valid_from == LATER


def test_an_older_note_is_written_as_history_beneath_the_newer_fact(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    newer = say(memory, "D", said_at=LATER)
    older = say(memory, "B", said_at=NOON)
    assert (older.action, older.decided_by, older.verdict.above) == (
        ADD,
        "order",
        newer.fact_id,
    )
    assert live(memory) == ["D"]
    beneath = fact_of(memory, older)
    assert (beneath.is_live, beneath.valid_from, beneath.valid_to) == (False, NOON, LATER)
    assert fact_of(memory, newer).observations == 2


def test_supersedes_says_who_decided_when_why_and_at_which_cosine(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    say(memory, "D")
    decision = say(memory, "B")
    [chain] = memory.contact("crm", "alice").history()
    [link] = chain.supersessions
    assert (link.new_id, (link.old_id,)) == (decision.fact_id, decision.superseded_ids)
    assert (link.decided_by, link.at, link.reason) == ("threshold", decision.at, decision.reason)
    assert decision.cosine is not None
    assert link.cosine == round(decision.cosine, 4) != decision.cosine


@pytest.mark.parametrize(
    ("relation", "observations"),
    [(Relation.SAME, 2), (Relation.REFINES, 2), (Relation.REPLACES, 1)],
)
def test_observations_and_evidence_are_carried_unless_the_fact_is_replaced(
    open_memory: Open, relation: Relation, observations: int
) -> None:
    arbiter = ScriptedArbiter([judgement(relation, UPDATE)])
    with open_memory({BASE: axis(0), "Wants email": at(0.9)}, arbiter=arbiter) as memory:
        say(memory, BASE)
        decision = say(memory, "Wants email")
        assert fact_of(memory, decision).observations == observations
        assert len(_evidence(memory, decision)) == observations


def _evidence(memory: Memory, decision: Decision) -> list[str]:
    rests_on = memory.contact("crm", "alice").evidence(str(decision.fact_id))
    return sorted(turn.episode_id for turn in rests_on.turns)


READ_TWICE = {"Lives in Pune": axis(0), "Has a home in Pune": at(0.3)}
IN_PUNE = Slot(
    subject="contact",
    attribute="city",
    value="Pune",
    value_key="pune",
    is_single_valued=True,
    is_known=True,
)


def read(memory: Memory, text: str, episode_id: str, **given: Any) -> Decision:
    """What is remembered of a claim that an extractor drew from one episode about Pune."""
    scope = Scope("default", "crm", "alice")
    said = {"scope": scope, "said_at": LATER}
    note = Note(text=text, slot=IN_PUNE, source_kind=SourceKind.EXTRACTOR, **said | given)
    heard = Evidence(episode_id=episode_id, session_id="call", text="I am in Pune.", **said)
    candidate = Candidate(note=note, evidence=(heard,), proposed_by="extractor", confidence=0.95)
    return memory.contact("crm", "alice").commit(propose_to(memory, candidate).decision_id)


@pytest.mark.parametrize(("second", "observations"), [("one", 1), ("two", 2)])
def test_an_episode_that_is_read_again_in_other_words_counts_once(
    open_memory: Open, second: str, observations: int
) -> None:
    memory = open_memory(READ_TWICE)
    first = read(memory, "Lives in Pune", "one")
    again = read(memory, "Has a home in Pune", second)
    assert (again.action, again.superseded_ids) == (UPDATE, (first.fact_id,))
    assert fact_of(memory, again).observations == observations


def test_an_episode_of_a_fact_that_is_said_again_counts_once(open_memory: Open) -> None:
    memory = open_memory(READ_TWICE)
    heard = [("Lives in Pune", "one"), ("Has a home in Pune", "two"), ("Lives in Pune", "one")]
    made = [read(memory, text, episode_id) for text, episode_id in heard]
    assert [fact_of(memory, each).observations for each in made] == [1, 2, 2]


@pytest.mark.parametrize(("second", "observations"), [("one", 1), ("two", 2)])
def test_an_episode_that_is_read_again_for_an_earlier_time_counts_once(
    open_memory: Open, second: str, observations: int
) -> None:
    memory = open_memory(READ_TWICE)
    first = read(memory, "Lives in Pune", "one")
    beneath = read(memory, "Has a home in Pune", second, valid_from=NOON)
    assert beneath.verdict.above == first.fact_id
    assert fact_of(memory, first).observations == observations


# The arbiter

BAND = {BASE: axis(0), "Wants email": at(0.9)}


def test_a_skip_writes_no_fact_and_counts_the_observation(open_memory: Open) -> None:
    memory = open_memory(BAND, arbiter=ScriptedArbiter([judgement(Relation.SAME, SKIP)]))
    first = say(memory, BASE)
    decision = say(memory, "Wants email", said_at=LATER)
    assert (decision.action, decision.decided_by) == (SKIP, "arbiter")
    assert (decision.fact_id, decision.superseded_ids) == (first.fact_id, ())
    fact = fact_of(memory, first)
    assert (fact.text, fact.observations, fact.is_live) == (BASE, 2, True)
    assert (fact.last_confirmed_at, fact.valid_from) == (LATER, NOON)


def test_a_skip_leaves_its_evidence(engine: EngineUnderTest, open_memory: Open) -> None:
    arbiter = ScriptedArbiter([judgement(Relation.SAME, SKIP)])
    with open_memory(BAND, arbiter=arbiter) as memory:
        decisions = [say(memory, BASE), say(memory, "Wants email")]
        assert _evidence(memory, decisions[0]) == sorted(each.episode_id for each in decisions)
    assert raw_store.counts(engine)["Fact"] == 1


def test_an_arbiter_can_update_the_second_neighbour(open_memory: Open) -> None:
    arbiter = ScriptedArbiter([judgement(Relation.REPLACES, UPDATE, 2)])
    memory = open_memory(
        {"fact 1": at(0.9, 1), "fact 2": at(0.85, 2), "new": axis(0)}, arbiter=arbiter
    )
    one, two = say(memory, "fact 1"), say(memory, "fact 2")
    decision = say(memory, "new")
    assert (decision.superseded_ids, live(memory)) == ((two.fact_id,), ["fact 1", "new"])
    assert [each.fact_id for each in decision.compared_with] == [one.fact_id, two.fact_id]
    assert decision.cosine == pytest.approx(0.85, abs=1e-6)


def test_an_arbiter_sees_the_note_and_up_to_five_neighbours_nearest_first(
    open_memory: Open,
) -> None:
    near = {f"fact {number}": at(0.86 - number / 1000, number) for number in range(1, 8)}
    arbiter = ScriptedArbiter([judgement(Relation.COEXISTS, ADD, None)])
    memory = open_memory({**near, "new": axis(0)}, arbiter=arbiter)
    for text in reversed(near):
        assert say(memory, text).decided_by == "threshold"
    say(memory, "new", said_at=LATER)
    [(note, shown)] = arbiter.calls
    assert (note.text, note.said_at) == ("new", LATER)
    assert [each.text for each in shown] == [f"fact {number}" for number in range(1, 6)]
    assert {each.valid_from for each in shown} == {NOON}


ANSWERS_OF_NO_USE: list[tuple[ArbiterError | Judgement, str]] = [
    (ArbiterUnavailableError("took too long"), "ArbiterUnavailableError: took too long"),
    (
        judgement(Relation.UNRELATED, UPDATE, 1),
        "ArbiterAnswerError: the relation unrelated does not allow",
    ),
]


@pytest.mark.parametrize(("answer", "error"), ANSWERS_OF_NO_USE, ids=lambda each: str(each)[:30])
def test_where_the_arbiter_is_of_no_use_the_midpoint_decides_and_the_record_says_why(
    open_memory: Open, answer: ArbiterError | Judgement, error: str
) -> None:
    arbiter = ScriptedArbiter([answer])
    memory = open_memory({BASE: axis(0), "Wants email": at(0.88)}, arbiter=arbiter)
    say(memory, BASE)
    decision = say(memory, "Wants email")
    assert (decision.action, decision.decided_by) == (UPDATE, MIDPOINT)
    answered = answer.reasoning if isinstance(answer, Judgement) else None
    assert (decision.opinion.arbiter, decision.opinion.reasoning) == (arbiter.name, answered)
    assert (decision.opinion.relation, decision.opinion.target) == (None, None)
    assert decision.opinion.error is not None
    assert decision.opinion.error.startswith(error)
    assert stored(memory) == decision


# The record


def test_a_decision_is_stored_as_it_was_returned(open_memory: Open) -> None:
    memory = open_memory({"D": axis(1), "B": axis(0), "C": at(0.96, 2)})
    offset = timezone(timedelta(hours=5, minutes=45))
    for number, text in enumerate(["D", "B", "C"], start=1):
        said_at = datetime(2025, 1, number, 3, 4, 5, 600_007, tzinfo=offset)
        decision = say(memory, text, said_at=said_at, idempotency_key=f"key {number}")
        assert stored(memory) == decision
        assert decision.note.said_at == said_at


def test_a_decision_holds_what_it_was_made_with(open_memory: Open) -> None:
    memory = open_memory(CHAIN, reconcile={"cosine_update_min": 0.94, "cosine_add_max": 0.7})
    before = datetime.now(UTC)
    say(memory, "D")
    decision = say(memory, "B")
    assert (decision.policy.cosine_update_min, decision.policy.cosine_add_max) == (0.94, 0.7)
    model = ops.model_move(memory).model
    assert (decision.policy.embedding_model, decision.door) == (model, "live")
    assert (decision.timings.attempts, decision.replayed) == (1, False)
    assert (decision.text, decision.scope.contact_id) == ("B", "alice")
    assert before <= decision.at <= datetime.now(UTC)
    assert min(decision.timings.embed_ms, decision.timings.compare_ms) > 0


def test_decisions_come_newest_first_and_no_more_than_asked_for(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    made = [say(memory, text) for text in ("D", "B", "D", "B")]
    assert memory.contact("crm", "alice").decisions(limit=3) == list(reversed(made))[:3]


def test_every_decision_points_at_what_it_wrote_and_judged(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    arbiter = ScriptedArbiter([judgement(Relation.SAME, SKIP)])
    with open_memory({"D": axis(0), "B": at(0.97), "C": at(0.9, 2)}, arbiter=arbiter) as memory:
        made = [say(memory, text) for text in "DBC"]
    assert [each.action for each in made] == [ADD, UPDATE, SKIP]
    wrote = "MATCH (d:Decision)-[:WROTE]->(f:Fact) RETURN d.decision_id, f.fact_id"
    judged = "MATCH (d:Decision)-[:JUDGED]->(e:Episode) RETURN d.decision_id, e.episode_id"
    assert sorted(raw_store.query(engine, wrote)) == sorted(
        [each.decision_id, each.fact_id] for each in made[:2]
    )
    assert sorted(raw_store.query(engine, judged)) == sorted(
        [each.decision_id, each.episode_id] for each in made
    )


def test_every_note_leaves_an_episode_in_a_session_with_the_contact(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    with open_memory(CHAIN) as memory:
        say(memory, "D", source_kind="operator", source_reference="ticket 7")
        say(memory, "B", session_id="call 9")
    rows = raw_store.query(
        engine,
        "MATCH (e:Episode)-[:`IN`]->(s:Session)-[:`WITH`]->(c:Contact) "
        "RETURN e.text, e.source_kind, e.source_reference, s.session_id, s.channel, c.contact_id",
    )
    assert sorted(rows) == [
        ["B", "user_explicit", None, "call 9", "live", "alice"],
        ["D", "operator", "ticket 7", f"live-{NOON:%Y-%m-%d}", "live", "alice"],
    ]


def test_a_session_ends_with_what_was_said_last_in_it(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    with open_memory(CHAIN) as memory:
        for said_at in (NOON, LATER, NOON - timedelta(days=1)):
            say(memory, "D", session_id="call 9", said_at=said_at)
    rows = raw_store.query(engine, "MATCH (s:Session) RETURN s.started_at, s.ended_at")
    [[began, ended]] = [[_utc(value) for value in row] for row in rows]
    assert (began, ended) == (NOON - timedelta(days=1), LATER)


def _utc(value: Any) -> datetime:
    native = value if isinstance(value, datetime) else value.to_native()
    return native.replace(tzinfo=UTC) if native.tzinfo is None else native.astimezone(UTC)


def test_an_agent_knows_each_of_its_contacts_once(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    say(memory, "D", "bob", contact_name="Bob Smith")
    for text in ("D", "B", "C"):
        last = say(memory, text, "alice")
    memory.add_contact_note("other", "carol", "D", said_at=NOON)
    found = memory.agent("crm").contacts()
    assert [(c.contact_id, c.name, c.live_facts, c.facts) for c in found] == [
        ("alice", "alice", 1, 3),
        ("bob", "Bob Smith", 1, 1),
    ]
    assert found[0].last_decision_at == last.at


def test_a_contacts_name_stays_until_another_is_given(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    names = ["Alice", None, "Alice Jones"]
    seen = []
    for name in names:
        say(memory, "D", contact_name=name)
        seen.append(memory.agent("crm").contacts()[0].name)
    assert seen == ["Alice", "Alice", "Alice Jones"]


# Said twice by mistake


def test_a_replay_writes_nothing(engine: EngineUnderTest, open_memory: Open) -> None:
    with open_memory(CHAIN) as memory:
        say(memory, "D", idempotency_key="key")
    before = raw_store.everything(engine)
    with open_memory(CHAIN) as memory:
        assert say(memory, " D.", idempotency_key="key").text == "D"
    assert raw_store.everything(engine) == before


def test_a_key_of_another_note_is_refused_and_writes_nothing(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    with open_memory(CHAIN) as memory:
        say(memory, "D", idempotency_key="key")
    before = raw_store.everything(engine)
    with (
        open_memory(CHAIN) as memory,
        pytest.raises(InvalidNoteError, match=r"another note .* use a new key"),
    ):
        say(memory, "B", idempotency_key="key")
    assert raw_store.everything(engine) == before


def test_of_two_notes_with_one_key_at_once_one_is_written_and_one_refused(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(CHAIN)
    overtake(memory, monkeypatch, lambda: say(memory, "B", idempotency_key="key"))
    with pytest.raises(InvalidNoteError, match="another note"):
        say(memory, "D", idempotency_key="key")
    assert live(memory) == ["B"]


@every(
    "elsewhere",
    [
        {"contact_id": "bob"},
        {"agent_id": "support"},
        {"tenant": "globex"},
        {"idempotency_key": "other key"},
        {"idempotency_key": None},
    ],
)
def test_the_same_key_elsewhere_is_another_note(
    open_memory: Open, elsewhere: dict[str, Any]
) -> None:
    memory = open_memory(CHAIN)
    usual = {"agent_id": "crm", "contact_id": "alice", "idempotency_key": "key"}
    memory.add_contact_note(text="D", said_at=NOON, **usual)
    decision = memory.add_contact_note(text="D", said_at=NOON, **usual | elsewhere)
    assert not decision.replayed
    assert memory.contact("crm", "alice").decision(idempotency_key="key").text == "D"


def test_a_decision_is_found_by_its_key_where_it_was_made_alone(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    first = say(memory, "D", idempotency_key="key")
    assert memory.contact("crm", "alice").decision(idempotency_key="key") == first
    for elsewhere in ({"contact_id": "bob"}, {"idempotency_key": "other key"}, {"tenant": "a"}):
        usual = {"agent_id": "crm", "contact_id": "alice", "idempotency_key": "key"}
        with pytest.raises(UnknownDecisionError, match="under the key"):
            call_about(memory, "decision")(**usual | elsewhere)
    for given in ({}, {"decision_id": first.decision_id, "idempotency_key": "key"}):
        with pytest.raises(InvalidRequestError, match="either"):
            memory.contact("crm", "alice").decision(**given)


def test_a_digest_is_equal_for_equal_texts_and_hangs_on_the_key_of_the_hashes(
    tmp_path: Path,
) -> None:
    def digests(key: str) -> list[str]:
        given: dict[str, Any] = {"graph": "embedded", "embedded_path": tmp_path / key}
        with Memory.open(embedder=NoopEmbedder(), gate={"hash_key": key * 40}, **given) as memory:
            return [memory.contact("crm", "alice").digest(text) for text in ("D", "D", "B")]

    one, again, other = digests("k")
    assert one == again != other
    assert not {one, other} & set(digests("l"))


# Recall


def test_recall_ranks_by_similarity_recency_and_importance(open_memory: Open) -> None:
    memory = open_memory({"near": at(0.7, 1), "wide": at(-0.2, 2), "query": axis(0)})
    now = datetime.now(UTC)
    say(memory, "near", said_at=now - timedelta(days=60), importance=0.2)
    say(memory, "wide", said_at=now, importance=1.0)
    near, far = memory.contact("crm", "alice").recall("query")
    assert (near.fact.text, far.fact.text) == ("near", "wide")
    assert near.score == pytest.approx(0.7 * 0.8 * 0.7 + 0.2 * 1 + 0.1 * 0.2, abs=1e-4)
    assert far.score == pytest.approx(0.2 * 1 + 0.1 * 1, abs=1e-4)
    assert [near.cosine, far.cosine] == pytest.approx([0.7, -0.2], abs=1e-6)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((1, 0, 0), ["similar", "recent", "important"]),
        ((0, 1, 0), ["recent", "important", "similar"]),
        ((0, 0, 1), ["important", "similar", "recent"]),
    ],
)
def test_recall_follows_the_configured_weights(
    open_memory: Open, weights: tuple[float, float, float], expected: list[str]
) -> None:
    names = ("weight_similarity", "weight_recency", "weight_importance")
    vectors = {"similar": at(0.7, 1), "recent": at(0.4, 2), "important": at(0.1, 3)}
    memory = open_memory(
        {**vectors, "query": axis(0)}, recall=dict(zip(names, weights, strict=True))
    )
    now = datetime.now(UTC)
    say(memory, "similar", said_at=now - timedelta(days=30), importance=0.5)
    say(memory, "recent", said_at=now, importance=0.1)
    say(memory, "important", said_at=now - timedelta(days=10), importance=0.9)
    found = memory.contact("crm", "alice").recall("query")
    assert [each.fact.text for each in found] == expected


def test_recall_gives_no_more_than_asked_for(open_memory: Open) -> None:
    texts = {f"fact {number}": axis(number) for number in range(DIMENSION)}
    memory = open_memory(texts, recall={"limit": 4})
    for text in texts:
        say(memory, text)
    assert len(memory.contact("crm", "alice").recall("fact 3", limit=2)) == 2
    assert len(memory.contact("crm", "alice").recall("fact 3")) == 4
    assert len(memory.contact("crm", "alice").recall()) == 4


def test_recall_gives_the_fact_as_it_was_written(open_memory: Open) -> None:
    memory = open_memory()
    decision = say(memory, BASE, importance=0.25, source_kind="operator")
    assert memory.contact("crm", "alice").recall()[0].fact == Fact(
        fact_id=decision.fact_id,
        text=BASE,
        importance=0.25,
        slot=load_attribute_book(None).slot(attribute="preferred_channel", value="email"),
        trust=SourceKind.OPERATOR,
        observations=1,
        recorded_at=decision.at,
        valid_from=NOON,
        valid_to=None,
        last_confirmed_at=NOON,
        confidence=0.92,
        category=Category.PREFERENCE,
        recall_semantics=RecallSemantics.DEFAULT,
        yields_to_live_intent=True,
        expires_at=NOON + timedelta(days=3650),
    )


# History


def test_history_is_a_chain_with_the_newest_fact_first(open_memory: Open) -> None:
    memory = open_memory(CHAIN)
    made = [say(memory, text) for text in ("D", "B", "C")]
    [chain] = memory.contact("crm", "alice").history()
    assert [fact.text for fact in chain.facts] == ["C", "B", "D"]
    assert [fact.is_live for fact in chain.facts] == [True, False, False]
    assert [link.decided_by for link in chain.supersessions] == ["midpoint", "threshold"]
    assert [link.at for link in chain.supersessions] == [made[2].at, made[1].at]


def test_the_chain_of_a_fact_is_found_by_any_fact_in_it(open_memory: Open) -> None:
    memory = open_memory({**CHAIN, "spare": axis(5)})
    made = [say(memory, text) for text in ("D", "B", "C")]
    say(memory, "spare")
    for each in made:
        [chain] = memory.contact("crm", "alice").history(fact_id=each.fact_id)
        assert [fact.fact_id for fact in chain.facts] == [one.fact_id for one in reversed(made)]


def test_of_a_contact_that_nobody_knows_there_is_nothing_to_tell(open_memory: Open) -> None:
    memory = open_memory()
    assert memory.contact("crm", "alice").recall(BASE) == []
    assert memory.contact("crm", "alice").history() == []
    assert memory.contact("crm", "alice").decisions() == []
    assert memory.agent("crm").contacts() == []


def test_what_was_written_is_there_when_the_store_is_opened_again(open_memory: Open) -> None:
    with open_memory(CHAIN) as memory:
        decision = say(memory, "D")
    with open_memory(CHAIN) as memory:
        assert stored(memory) == decision
        assert say(memory, "B").superseded_ids == (decision.fact_id,)


# Bad input

BAD_NOTES: list[tuple[dict[str, Any], type[ReconcilerError]]] = [
    ({"agent_id": ""}, InvalidScopeError),
    ({"agent_id": None}, InvalidScopeError),
    ({"contact_id": " "}, InvalidScopeError),
    ({"contact_id": "a" * 201}, InvalidScopeError),
    ({"contact_id": "a\0"}, InvalidScopeError),
    ({"tenant": ""}, InvalidScopeError),
    ({"text": ""}, InvalidNoteError),
    ({"text": " \n"}, InvalidNoteError),
    ({"text": "a" * 2001}, InvalidNoteError),
    ({"text": "a\0b"}, InvalidNoteError),
    ({"text": None}, InvalidNoteError),
    ({"said_at": datetime(2025, 1, 1)}, InvalidNoteError),
    ({"said_at": "2025-01-01"}, InvalidNoteError),
    ({"said_at": datetime.now(UTC) + timedelta(days=1)}, InvalidNoteError),
    ({"importance": 1.1}, InvalidNoteError),
    ({"importance": float("nan")}, InvalidNoteError),
    ({"source_kind": "gossip"}, InvalidNoteError),
    ({"source_reference": "a\0"}, InvalidNoteError),
    ({"contact_name": " "}, InvalidNoteError),
    ({"contact_name": 1, "text": "Lives in Pune."}, InvalidNoteError),
    ({"session_id": ""}, InvalidNoteError),
    ({"idempotency_key": ""}, InvalidNoteError),
    ({"text": "not in the table"}, EmbeddingError),
]
NOTHING = dict.fromkeys(("Agent", "Contact", "Session", "Episode", "Decision", "Fact"), 0)


def test_bad_notes_are_refused_and_nothing_written(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    usual = {"agent_id": "crm", "contact_id": "alice", "text": BASE, "said_at": NOON}
    with open_memory() as memory:
        for wrong, error in BAD_NOTES:
            with pytest.raises(error):
                memory.add_contact_note(**usual | wrong)
    assert raw_store.counts(engine) == NOTHING


def test_a_clock_that_runs_four_minutes_ahead_is_forgiven(open_memory: Open) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=4)
    assert say(open_memory(), BASE, said_at=soon).note.said_at == soon


class LyingEmbedder(HashingEmbedder):
    """Declares a dimension and returns vectors of another."""

    @property
    def dimension(self) -> int:
        return super().dimension + 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), self.dimension - 1), dtype=np.float32)


def test_a_vector_of_the_wrong_dimension_is_refused_and_nothing_written(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    with open_memory(embedder=LyingEmbedder(8)) as memory:
        with pytest.raises(EmbeddingError, match=r"\(1, 8\), not \(1, 9\)"):
            say(memory, BASE)
        with pytest.raises(EmbeddingError):
            memory.import_notes(['{"text": "D"}'], agent_id="crm", contact_id="alice")
    assert raw_store.counts(engine) == NOTHING


def test_thresholds_in_the_wrong_order_are_refused_before_anything_is_opened(
    engine: EngineUnderTest, open_memory: Open
) -> None:
    before = raw_store.everything(engine)
    with pytest.raises(ConfigurationError, match="wrong order"):
        open_memory(reconcile={"cosine_update_min": 0.7})
    assert raw_store.everything(engine) == before == []


@every("wrong", [{"agent_id": ""}, {"tenant": " "}, {"agent_id": "a" * 201}])
def test_reading_outside_a_complete_scope_is_refused(
    open_memory: Open, wrong: dict[str, str]
) -> None:
    memory = open_memory()
    agent = {"agent_id": "crm"} | wrong
    for read in (
        call_about(memory, "recall"),
        call_about(memory, "history"),
        call_about(memory, "decisions"),
    ):
        with pytest.raises(InvalidScopeError):
            read(contact_id="alice", **agent)
    with pytest.raises(InvalidScopeError):
        memory.agent(**agent).contacts()


def test_a_limit_below_one_is_refused(open_memory: Open) -> None:
    memory = open_memory()
    for limit in (0, -1, True, "5", 1.5):
        for read in (call_about(memory, "recall"), call_about(memory, "decisions")):
            with pytest.raises(InvalidRequestError, match="limit must be a whole number"):
                read("crm", "alice", limit=limit)


def test_settings_and_single_settings_together_are_refused(engine: EngineUnderTest) -> None:
    settings = load_settings(**engine.settings_arguments)
    with pytest.raises(ConfigurationError, match="either a settings object or single settings"):
        Memory.open(settings, tenant="acme")


def test_a_file_where_settings_are_taken_is_refused_and_the_right_name_told() -> None:
    path: Any = "memory.lbug"
    with pytest.raises(ConfigurationError, match=r"use Memory\.open\(embedded_path=\.\.\.\)"):
        Memory.open(path)


def test_a_new_file_and_its_new_folder_are_for_their_owners_eyes(tmp_path: Path) -> None:
    path = tmp_path / "new" / "memory.lbug"
    Memory.open(graph="embedded", embedded_path=path, embedder=NoopEmbedder()).close()
    assert [each.stat().st_mode & 0o077 for each in (path, path.parent)] == [0, 0]


def test_closing_a_memory_again_is_harmless(open_memory: Open) -> None:
    memory = open_memory()
    memory.close()
    memory.close()


# Import


def line(text: str | None, **given: Any) -> str:
    usual = {"agent_id": "crm", "contact_id": "alice", "said_at": NOON.isoformat()}
    return json.dumps(usual | {"text": text} | given)


def imported(memory: Memory, lines: Sequence[str], **given: Any) -> tuple[dict[str, int], int]:
    """How many decisions of each action, and how many lines were done already."""
    report = memory.import_notes(lines, **given)
    assert report.errors == []
    return {str(action): n for (action, _), n in report.decisions.items()}, report.resumed


LINES = [line(text) for text in ("D", "B", "C", "spare")]
IMPORTED = {**CHAIN, "spare": axis(5), "late": axis(6)}


def test_a_files_name_is_not_taken_for_the_lines_of_an_import(open_memory: Open) -> None:
    with pytest.raises(InvalidRequestError, match="such as an open file"):
        open_memory(IMPORTED).import_notes("notes.jsonl")


def test_an_import_decides_in_the_files_order_and_counts_by_which_rule(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    report = memory.import_notes(LINES)
    assert report.decisions == {
        ("ADD", "threshold"): 2,
        ("UPDATE", "threshold"): 1,
        ("UPDATE", "midpoint"): 1,
    }
    assert (report.resumed, report.errors) == (0, [])
    made = list(reversed(memory.contact("crm", "alice").decisions()))
    assert [(each.text, each.door) for each in made] == [
        (text, "import") for text in ("D", "B", "C", "spare")
    ]


@pytest.mark.parametrize(
    ("ended", "wrong"), [(NOON, "is not after"), ("soon", "not an ISO 8601 time")]
)
def test_a_line_may_not_end_before_it_began(
    open_memory: Open, ended: datetime | str, wrong: str
) -> None:
    memory = open_memory(IMPORTED)
    told = ended if isinstance(ended, str) else ended.isoformat()
    [error] = memory.import_notes([line("D", valid_to=told)]).errors
    assert wrong in error.message


def test_a_line_that_has_ended_is_history_and_compared_with_nothing_later(
    open_memory: Open,
) -> None:
    memory = open_memory(IMPORTED)
    held = {"said_at": (NOON - timedelta(days=9)).isoformat(), "valid_to": NOON.isoformat()}
    memory.import_notes([line("D", **held)])
    [fact] = memory.contact("crm", "alice").history()[0].facts
    assert (fact.state, fact.valid_to) == ("superseded", NOON)
    assert memory.contact("crm", "alice").recall() == []
    assert memory.add_contact_note("crm", "alice", "D").action == "ADD"


def test_a_line_that_ends_in_the_future_holds_until_then(open_memory: Open) -> None:
    memory, end = open_memory(IMPORTED), NOON + timedelta(days=40_000)
    report = memory.import_notes([line("D", valid_to=end.isoformat())])
    [hit] = memory.contact("crm", "alice").recall()
    assert (report.errors, hit.fact.state, hit.fact.valid_to) == ([], "live", end)


def test_lines_that_name_no_scope_get_the_given_one(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    memory.import_notes(['{"text": "D"}'], tenant="acme", agent_id="bot", contact_id="bob")
    [decision] = memory.contact("bot", "bob", tenant="acme").decisions()
    assert decision.text == "D"


MALFORMED = [
    ("{", "not JSON"),
    ('{"text": "D", "importance": ' + "9" * 5000 + "}", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[1]", "expected a JSON object, not list"),
    ('"D"', "expected a JSON object, not str"),
    ("null", "expected a JSON object"),
    ("{}", "agent_id is empty"),
    (line("D", colour="red"), "unknown keys \\['colour'\\]"),
    (line(None), "text is missing; write the fact there, in one sentence"),
    (line(""), "text is blank"),
    (line("A\0"), "text holds a null byte"),
    (line("D" * 2001), "text has 2,001 characters"),
    (line("\ud800"), "text"),
    (line("D", contact_id=None), "contact_id is empty"),
    (line("D", agent_id=7), "agent_id must be a string"),
    (line("D", said_at="2025-03-09T12:00:00"), "said_at .* has no time zone"),
    (line("D", said_at="2025-03-09"), r"for UTC write 2025-03-09T00:00:00\+00:00"),
    (line("D", said_at="2025-03-09+00:00"), r"for UTC write 2025-03-09T00:00:00\+00:00"),
    (line("D", said_at="2025-03-09Z"), "not an ISO 8601 time, such as 2026-01-31T09:00:00Z"),
    (line("D", said_at="yesterday"), "said_at 'yesterday' is not an ISO 8601 time"),
    (line("D", said_at=1741521600), "said_at 1741521600 is not an ISO 8601 time"),
    (line("D", said_at="2999-01-01T00:00:00+00:00"), "is in the future"),
    (line("D", said_at="0001-01-01T00:00:00+05:00"), "said_at"),
    (line("D", importance=2), "importance must be a number"),
    (line("D", source_kind="gossip"), "source_kind 'gossip' is not one of"),
    (line("D", idempotency_key=7), "idempotency_key must be a string"),
]


def test_a_malformed_line_is_reported_by_its_number_and_the_rest_goes_on(tmp_path: Path) -> None:
    arguments = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    malformed, expected = zip(*MALFORMED, strict=True)
    with Memory.open(embedder=TableEmbedder(IMPORTED, DIMENSION), **arguments) as memory:
        report = memory.import_notes([LINES[0], "", *malformed, LINES[3]])
    assert [each.line_number for each in report.errors] == list(range(3, 3 + len(MALFORMED)))
    told = [each.message for each in report.errors]
    assert [pair for pair in zip(expected, told, strict=True) if not re.search(*pair)] == []
    assert sum(report.decisions.values()) == 2


@pytest.mark.on_neo4j_too
def test_the_same_file_again_adds_nothing(engine: EngineUnderTest, open_memory: Open) -> None:
    with open_memory(IMPORTED) as memory:
        imported(memory, LINES)
    before = raw_store.everything(engine)
    with open_memory(IMPORTED) as memory:
        assert imported(memory, LINES) == ({}, 4)
    assert raw_store.everything(engine) == before


def test_a_file_that_has_grown_adds_what_is_new(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    imported(memory, LINES)
    assert imported(memory, [*LINES, line("late")]) == ({"ADD": 1}, 4)


def test_the_same_text_on_two_lines_is_two_notes(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    assert imported(memory, [LINES[0], LINES[0]]) == ({"ADD": 1, "UPDATE": 1}, 0)
    assert imported(memory, [LINES[0]] * 3) == ({"UPDATE": 1}, 2)


def test_the_same_key_on_two_lines_is_one_note(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    twice = [line("D", idempotency_key="key"), line("D", idempotency_key="key")]
    assert imported(memory, twice) == ({"ADD": 1}, 1)
    assert live(memory) == ["D"]


def test_a_line_with_the_key_of_another_note_is_an_error(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    say(memory, "late", idempotency_key="said")
    first, second = line("D", idempotency_key="key"), line("spare", idempotency_key="key")
    lines = [first, second, line("spare", idempotency_key="said"), "{"]
    for resumed in (0, 1):
        report = memory.import_notes(lines)
        assert [error.line_number for error in report.errors] == [2, 3, 4]
        assert "belongs to another note" in report.errors[0].message
        assert report.errors[0].message == report.errors[1].message
        assert report.resumed == resumed
    assert sorted(live(memory)) == ["D", "late"]


def test_a_line_with_a_key_and_another_field_is_an_error_that_names_it(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    first = line("D", idempotency_key="key", source_reference="call 7")
    second = line("D", idempotency_key="key", source_reference="call 8")
    for resumed in (0, 1):
        report = memory.import_notes([first, second])
        [error] = report.errors
        assert error.line_number == 2
        assert "different source_reference" in error.message
        assert report.resumed == resumed
    assert imported(memory, [first]) == ({}, 1)


def test_a_line_of_an_earlier_import_is_known_although_it_was_redacted(open_memory: Open) -> None:
    memory = open_memory({}, embedder=NoopEmbedder())
    said = [line("Call 98450 12345", idempotency_key="key")]
    imported(memory, said)
    assert imported(memory, said) == ({}, 1)
    report = memory.import_notes([line("Call 98450 54321", idempotency_key="key")])
    assert [error.line_number for error in report.errors] == [1]


def test_a_key_that_the_live_door_used_is_known_to_an_import(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    say(memory, "D", idempotency_key="key")
    said = line("D", idempotency_key="key", lifetime_days=3650)
    assert imported(memory, [said]) == ({}, 1)


def test_progress_tells_of_every_line_once(open_memory: Open) -> None:
    memory = open_memory(IMPORTED)
    told: list[int] = []
    memory.import_notes([*LINES, "", "{", LINES[0]], on_progress=told.append)
    assert sum(told) == 7


def city_file(folder: Path, name: str, *cities: str) -> Path:
    """A file of undated lines that says where Alice lives now, the last one at last."""
    file, usual = folder / name, {"agent_id": "crm", "contact_id": "alice", "attribute": "city"}
    said = [usual | {"text": f"Lives in {city} now.", "value": city} for city in cities]
    file.write_text("\n".join(json.dumps(each) for each in said))
    return file


def test_an_undated_value_that_comes_back_in_another_file_holds_again(
    open_memory: Open, tmp_path: Path
) -> None:
    memory = open_memory(embedder=HashingEmbedder())
    for number, city in enumerate(("Oslo", "Bergen", "Oslo")):
        with city_file(tmp_path, f"{number}.jsonl", city).open() as lines:
            assert memory.import_notes(lines).resumed == 0
        assert [each.value for each in memory.contact("crm", "alice").value("city")] == [city]


def test_undated_lines_of_no_named_source_are_said_each_time(open_memory: Open) -> None:
    memory = open_memory(embedder=HashingEmbedder())
    for city in ("Oslo", "Bergen", "Oslo"):
        said = {"agent_id": "crm", "contact_id": "alice", "attribute": "city", "value": city}
        memory.import_notes([json.dumps(said | {"text": f"Lives in {city} now."})])
        assert [each.value for each in memory.contact("crm", "alice").value("city")] == [city]


@pytest.mark.parametrize("named", [{}, {"source": "mail"}])
def test_an_undated_file_that_has_grown_adds_only_what_is_new(
    open_memory: Open, tmp_path: Path, named: dict[str, str]
) -> None:
    memory = open_memory(embedder=HashingEmbedder())
    for cities, resumed in ((("Oslo",), 0), (("Oslo", "Bergen"), 1), (("Oslo", "Bergen"), 2)):
        with city_file(tmp_path, "notes.jsonl", *cities).open() as lines:
            assert memory.import_notes(lines, **named).resumed == resumed
        assert [each.value for each in memory.contact("crm", "alice").value("city")] == [cities[-1]]


@pytest.mark.parametrize("source", ["", " ", 7])
def test_a_source_of_an_import_that_names_nothing_is_refused(
    open_memory: Open, source: Any
) -> None:
    with pytest.raises(InvalidRequestError, match="leave it out"):
        open_memory(IMPORTED).import_notes([], source=source)


def test_an_import_of_nothing_is_nothing(open_memory: Open) -> None:
    assert imported(open_memory(), []) == ({}, 0)


def test_an_import_of_several_batches_loses_and_repeats_nothing(open_memory: Open) -> None:
    memory = open_memory(embedder=HashingEmbedder(16))
    lines = [line(f"word{number}") for number in range(300)]  # a batch has 256
    assert sum(memory.import_notes(lines[:20]).decisions.values()) == 20
    report = memory.import_notes(lines)
    assert (sum(report.decisions.values()), report.resumed) == (280, 20)
    texts = [each.text for each in memory.contact("crm", "alice").decisions(limit=1000)]
    assert texts == [f"word{number}" for number in reversed(range(300))]
