"""Portable checks of tombstones, deletion and correction; each docstring has the check's id.

Each test first shows that its probe finds what it looks for before it is rejected, erased or
corrected. What a check shows here, and what it does not, is in ``docs/portable_checks.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory, Turn, ops
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import FactState, GateReason, SourceKind
from reconciler.domain.records.notes import Note, Scope
from reconciler.errors import InvalidArchiveError
from reconciler.testing import ScriptedExtractor
from tests import raw_store
from tests.clocks import Clock
from tests.engines import EngineUnderTest, embedded_engine
from tests.portable_checks import (
    ADA,
    ASKED,
    NOON,
    Open,
    OtherModel,
    engine_of,
    engines,
    exported,
    held_before,
    holding,
    lives_in,
    opening,
    prompt,
    read_out,
    say,
)
from tests.submissions import propose_to

pytestmark = pytest.mark.faults
TOOL = SourceKind.TOOL_OUTPUT
SEED: dict[str, Any] = {"embedder": OtherModel(), "reconcile": {"profile": "seed"}}


@pytest.fixture(scope="module")
def minilm() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(OnnxMinilm())
    yield embedder
    embedder.close()


@pytest.fixture(params=engines())
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> EngineUnderTest:
    """The embedded one; in ``make faults`` each Neo4j as well."""
    return engine_of(request.param, tmp_path)


@pytest.fixture
def opened(engine: EngineUnderTest) -> Iterator[Open]:
    yield from opening(engine)


def states(memory: Memory) -> dict[str, FactState]:
    found = memory.contact(**ADA).history()
    return {fact.fact_id: fact.state for chain in found for fact in chain.facts}


def revoked(memory: Memory, said: Decision) -> str:
    """The fact that a note became, once a person has revoked it."""
    fact_id = str(said.fact_id)
    memory.contact(**ADA).revoke(fact_id=fact_id, by="olga", reason="That was another Ada.")
    return fact_id


def launder(memory: Memory, city: str, other: str) -> list[Decision]:
    """Another value first, then the rejected one again from three conversations and a session."""
    lives_in(memory, other)
    again = [lives_in(memory, city, session_id=f"call-{number}") for number in range(3)]
    told = Turn(role="contact", text=f"Please remember that I live in {city}.")
    memory.contact(**ADA).submit_session(session_id="later", turns=[told])
    memory.drain()
    return again


# Tombstones


def test_a_rejected_value_stays_out_however_it_is_laundered(opened: Open) -> None:
    """tombstone.laundering_sequence"""
    memory = opened()
    launder(memory, "Pune", "Goa")
    assert "Pune" in prompt(memory), "what nobody rejected comes back"
    pune = revoked(memory, lives_in(memory, "Pune", "Her home is {}."))
    assert all(map(held_before, launder(memory, "Pune", "Goa")))
    assert "Pune" not in prompt(memory)
    assert states(memory)[pune] is FactState.REVOKED


def test_a_no_to_a_question_stays_a_no_however_often_tools_say_it_again(opened: Open) -> None:
    """tombstone.laundering_sequence"""
    memory = opened()
    first = lives_in(memory, "Pune", source_kind=TOOL)
    assert first.action is Action.HOLD
    memory.contact(**ADA).reject(decision_id=first.decision_id, by="contact")
    lives_in(memory, "Goa")
    for number in range(3):
        again = lives_in(memory, "Pune", source_kind=TOOL, session_id=f"call-{number}")
        assert again.gate is not None
        assert again.gate.reason is GateReason.DECLINED_BEFORE
    assert "Pune" not in prompt(memory)
    assert "Pune" not in str(memory.contact(**ADA).pending())


def test_a_rejection_outlives_every_lifetime_and_sweep(opened: Open) -> None:
    """tombstone.survives_ttl_and_prune"""
    clock = Clock(NOON)
    memory = opened(clock=clock)
    pune, tea = lives_in(memory, "Pune"), say(memory, "Likes green tea.")
    refused = say(memory, "Likes coffee.", source_kind=TOOL)
    memory.contact(**ADA).reject(decision_id=refused.decision_id, by="contact")
    gone = revoked(memory, pune)
    memory.contact(**ADA).forget(fact_id=tea.fact_id, **ASKED)
    kept = say(memory, "Plays the cello.").fact_id
    for _ in range(10):
        clock.pass_days(366)
        memory.contact(**ADA).archive(floor=1.0)
    assert states(memory)[kept] is FactState.ARCHIVED
    assert all(map(held_before, launder(memory, "Pune", "Goa")))
    assert held_before(say(memory, "Likes green tea."))
    again = say(memory, "Likes coffee.", source_kind=TOOL)
    assert again.gate is not None
    assert again.gate.reason is GateReason.DECLINED_BEFORE
    assert states(memory)[gone] is FactState.REVOKED


LOOK_ALIKES = {
    "case": "LIVES IN PARIS!",
    "spaces": "  Lives\u00a0in \t Paris ",
    "width": "Lives in \uff30\uff41\uff52\uff49\uff53.",
    "Cyrillic": "Lives in P\u0430ris.",
    "Greek": "Lives in \u03a1aris.",
    "small capitals": "Lives in P\u1d00\u0280\u026a\ua731.",
    "mathematical": "Lives in \U0001d40f\U0001d41a\U0001d42b\U0001d422\U0001d42c.",
    "no width": "Lives in Pa\u200bris.",
    "soft hyphen": "Lives in Pa\u00adris.",
    "joiner": "Lives in Pa\u034fris.",
    "variation": "Lives in Pa\ufe0fris.",
    "line under": "Lives in Pa\u0332ris.",
    "tag": "Lives in Paris\U000e0041.",
}
PASSING = {
    "paraphrase": "Paris is where her flat is.",
    "accent": "Lives in P\u00e1ris.",
    "digit": "Lives in P4ris.",
}
"""What says something else to a machine that knows no meaning; it is recorded, not promised."""


@pytest.mark.parametrize("has_slot", [True, False], ids=["slot", "words"])
def test_a_rejected_value_in_letters_that_look_alike_stays_out(
    opened: Open, has_slot: bool
) -> None:
    """tombstone.key_normalization_attack"""
    memory = opened()

    def again(text: str) -> Decision:
        value = text.removeprefix("Lives in ").strip(" .")
        slot = {"attribute": "city", "value": value} if has_slot else {}
        return say(memory, text, **slot)

    first = again("Lives in Paris.")
    assert "Paris" in prompt(memory)
    revoked(memory, first)
    made = {name: again(text) for name, text in LOOK_ALIKES.items()}
    let_in = {name: each.action for name, each in made.items() if each.action.is_reconciled}
    assert (let_in, memory.contact(**ADA).recall()) == ({}, [])
    passed = {name for name, text in PASSING.items() if again(text).action.is_reconciled}
    assert passed == PASSING.keys()


def test_a_rejected_value_that_is_read_out_again_writes_nothing(
    opened: Open, engine: EngineUnderTest
) -> None:
    """tombstone.reextraction_stays_inactive, tombstone.no_second_memory_unit"""
    memory = opened()

    def ingest(session_id: str) -> None:
        told = Turn(role="contact", text="Please remember that I only take calls after 5 pm.")
        memory.contact(**ADA).submit_session(session_id=session_id, turns=[told])
        [job] = memory.drain()
        assert job.outcomes.added + job.outcomes.held == 1

    ingest("chat-1")
    [hit] = memory.contact(**ADA).recall()
    memory.contact(**ADA).revoke(
        fact_id=hit.fact.fact_id, by="olga", reason="That was another Ada."
    )
    ingest("chat-2")
    assert memory.contact(**ADA).recall() == []
    [waiting] = memory.contact(**ADA).pending()
    assert isinstance(waiting, Decision)
    assert held_before(waiting), "the tombstone was asked; nothing collided"
    assert waiting.compared_with == ()
    memory.close()
    assert raw_store.counts(engine)["Fact"] == 1


# Deletion


def leaks(memory: Memory, token: str) -> set[str]:
    """Where a word is still found: by every read, in everything that is kept, and on the pages."""
    probes: dict[str, Callable[[], Any]] = {
        "recall": lambda: prompt(memory, token),
        "recall_about": lambda: memory.contact(**ADA).recall_about(name=token),
        "history": lambda: memory.contact(**ADA).history(),
        "decisions": lambda: memory.contact(**ADA).decisions(limit=1000),
        "profile": lambda: memory.contact(**ADA).profile(),
        "briefing": lambda: memory.contact(**ADA).briefing(),
        "report": lambda: ops.report(memory.contact(**ADA)),
        "export page": lambda: ops.contact_page(memory.contact(**ADA)),
        "export": lambda: sorted(holding(exported(memory), token)),
        "jobs": lambda: memory.contact(**ADA).jobs(),
        "tasks": lambda: memory.contact(**ADA).tasks(),
        "past": lambda: memory.contact(**ADA).recall(query=token, as_of=memory._services.clock()),
        "erasures": lambda: memory.erasures(),
    }
    found = {name: str(probe()) for name, probe in probes.items()}
    found["export"] = found["export"].strip("[]") and token
    return {name for name, text in found.items() if token in text}


def test_what_was_forgotten_is_gone_after_background_work_and_a_restart(
    opened: Open, engine: EngineUnderTest
) -> None:
    """deletion.absent_after_reindex_and_restart"""
    reader = ScriptedExtractor([read_out("Lives in Quoxaville.", "home is Quoxaville")] * 2)
    memory = opened(extractor=reader)
    told = Turn(role="contact", text="My home is Quoxaville.")
    memory.contact(**ADA).submit_session(session_id="chat", turns=[told])
    memory.drain()
    lives_in(memory, "Quoxaville", "Has her office in {}.")
    memory.contact(**ADA).task(task_id="t1", goal="Ship to Quoxaville.")
    assert {"recall", "recall_about", "history", "export", "report", "tasks"} <= leaks(
        memory, "Quoxaville"
    )
    memory.contact(**ADA).submit_session(session_id="waits", turns=[told])
    memory.contact(**ADA).forget(**ASKED)
    memory.drain()
    memory.agent("crm").archive(floor=1.0)
    ops.reembed(memory, OtherModel(), uncalibrated=True)
    memory.close()
    again = opened(**SEED)
    assert leaks(again, "Quoxaville") == set()
    [done] = again.contact("crm", "ada").erasures()
    assert (done.is_finished, done.receipt.is_clean, done.reason) == (True, True, "Ticket 12.")
    again.close()
    assert "Quoxaville" not in str(raw_store.everything(engine))


def test_a_copy_from_before_an_erasure_does_not_bring_it_back(
    opened: Open, engine: EngineUnderTest, tmp_path: Path
) -> None:
    """deletion.absent_from_shared_copies"""
    memory, copy = opened(), tmp_path / "copy.jsonl"
    lives_in(memory, "Quoxaville")
    ops.export(memory, copy, keys=True)
    memory.contact(**ADA).forget(**ASKED)
    memory.close()
    where = engine.settings_arguments
    with pytest.raises(InvalidArchiveError, match="was erased in this store"):
        ops.restore(copy, embedder=OtherModel.__base__(), **where)
    again = opened()
    texts = [
        line["properties"]["text"]
        for line in map(json.loads, copy.read_text("utf-8").splitlines())
        if line.get("node") == "Fact"
    ]
    report = again.import_notes([json.dumps(ADA | {"text": text}) for text in texts])
    assert (texts, report.held) == (["Lives in Quoxaville."], 1)
    assert "Quoxaville" not in prompt(again)
    # Into a store that never heard of the erasure it goes as it was: the file is the operator's.
    other = embedded_engine(tmp_path / "other").settings_arguments
    ops.restore(copy, embedder=OtherModel.__base__(), **other)
    fresh = opened(**other)
    assert "Quoxaville" in prompt(fresh)


def test_what_another_contact_was_told_stays_until_it_is_forgotten_there(opened: Open) -> None:
    """deletion.absent_from_shared_copies"""
    memory = opened()
    ada, bob = Scope("default", "crm", "ada"), Scope("default", "crm", "bob")
    told = Evidence(
        episode_id="e1",
        session_id="call",
        scope=ada,
        text="The office moves to Quoxaville.",
        said_at=NOON,
        is_private=False,
    )
    for scope in (ada, bob):
        note = Note(scope=scope, text=told.text, said_at=NOON, source_kind=SourceKind.EXTRACTOR)
        made = propose_to(
            memory, Candidate(note=note, evidence=(told,), proposed_by="reader", confidence=0.95)
        )
        memory.contact("crm", scope.contact_id).commit(made.decision_id)
    memory.contact(**ADA).forget(**ASKED)
    assert holding(exported(memory, **ADA), "Quoxaville") == set()
    assert "Quoxaville" in prompt(memory, contact_id="bob")
    memory.contact("crm", "bob").forget(**ASKED)
    assert holding(exported(memory), "Quoxaville") == set()


# Correction


def by_replacement(memory: Memory) -> None:
    lives_in(memory, "Pune")
    lives_in(memory, "Goa")


def by_flip(memory: Memory) -> None:
    flag = {"attribute": "wants_newsletter", "single_valued": True}
    say(memory, "Wants the newsletter.", value="yes", **flag)
    say(memory, "Does not want the newsletter.", value="no", **flag)


def by_retraction(memory: Memory) -> None:
    say(memory, "I have a sister.")
    say(memory, "I misspoke, I do not have a sister.")


def by_part(memory: Memory) -> None:
    lives_in(memory, "Oslo", "Lives in {} and works at Acme.")
    say(memory, "Works at Acme.", attribute="employer", value="Acme")
    say(memory, "Works at Globex.", attribute="employer", value="Globex")


def by_interval(memory: Memory) -> None:
    over = {"text": "Stays at the Taj.", "said_at": "2025-01-01T00:00:00Z"}
    memory.import_notes([json.dumps(ADA | over | {"valid_to": "2025-02-01T00:00:00Z"})])
    say(memory, "Stays at the Ritz.")


SHAPES: dict[str, tuple[Callable[[Memory], None], str, str]] = {
    "replacement": (by_replacement, "Lives in Goa", "Lives in Pune"),
    "polarity": (by_flip, "Does not want the newsletter", "] Wants the newsletter"),
    "retraction": (by_retraction, "", "I have a sister"),
    "part": (by_part, "Works at Globex", "] Works at Acme"),
    "interval": (by_interval, "Stays at the Ritz", "Stays at the Taj"),
}
"""By shape: how it comes about, what a prompt has afterwards, and what only the history has."""


@pytest.mark.parametrize("shape", SHAPES)
def test_a_correction_outlives_vectors_that_are_made_again(
    opened: Open, minilm: LocalEmbedder, shape: str
) -> None:
    """correction.survives_reindex"""
    make, holds, over = SHAPES[shape]
    memory = opened(embedder=minilm)
    make(memory)
    before = states(memory)
    ops.reembed(memory, OtherModel(), uncalibrated=True)
    memory.close()
    again = opened(**SEED)
    told = prompt(again)
    assert (holds in told, over in told) == (True, False)
    assert states(again) == before
    [old] = [
        fact
        for chain in again.contact(**ADA).history()
        for fact in chain.facts
        if f"] {fact.text}".endswith(f"{over}.")
    ]
    assert old.state in (FactState.SUPERSEDED, FactState.REVOKED)


def test_what_the_contact_takes_back_is_not_recalled_and_does_not_come_back(
    opened: Open, minilm: LocalEmbedder
) -> None:
    """correction.retraction_without_replacement"""
    memory = opened(embedder=minilm)
    source = [Turn(role="contact", text="Please remember that I have a sister.")]
    memory.contact(**ADA).submit_session(session_id="chat-1", turns=source)
    memory.drain()
    question = "Does she have any siblings?"
    assert "sister" in prompt(memory, question)
    taken_back = say(memory, "I misspoke, I do not have a sister.")
    assert (taken_back.action, taken_back.fact_id) == (Action.REVOKE, None)
    for session_id in ("chat-1", "chat-2"):
        memory.contact(**ADA).submit_session(session_id=session_id, turns=source)
        memory.drain()
    memory.agent("crm").archive(floor=1.0)
    assert "sister" not in prompt(memory, question) + prompt(memory)
    assert [*states(memory).values()] == [FactState.REVOKED]
