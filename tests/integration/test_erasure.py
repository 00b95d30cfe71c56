"""What is forgotten is gone, stays gone, and does not come back unasked; the rest adds up."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory
from reconciler.adapters import embedded_graph
from reconciler.adapters.embedded_connections import PlanningConnection
from reconciler.domain.records.candidates import Candidate, Evidence, Turn
from reconciler.domain.records.erasures import ERASED, Erasure
from reconciler.domain.records.kinds import FactState, GateReason, JobState, SourceKind
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.records.sessions import Stage
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.errors import (
    ErasedError,
    GraphUnavailableError,
    InvalidAnswerError,
    InvalidRequestError,
    InvalidSessionError,
    UnknownContactError,
    UnknownFactError,
)
from reconciler.reading.kinds import Category
from reconciler.service.stores import erasure_store
from reconciler.service.stores.rows import Queries
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests.engines import EngineUnderTest
from tests.replaying import replay_all
from tests.submissions import propose_to
from tests.tables import every

AT = datetime(2026, 3, 9, 12, tzinfo=UTC)
AGENT, PRIYA = "crm", "priya"
ASKED: dict[str, Any] = {"by": "contact", "reason": "I asked for it."}
PUNE = Extraction(
    candidates=(
        Extracted(
            text="Lives in Pune.",
            category=Category.FACT,
            importance=0.6,
            confidence=0.95,
            citations=(Citation(episode=1, span="My city is Pune"),),
            attribute="city",
            value="Pune",
        ),
    ),
    summary="About where she lives: Pune.",
)
Open = Callable[..., Memory]


@pytest.fixture
def opened(kept_engine: EngineUnderTest) -> Iterator[Open]:
    opened: list[Memory] = []

    def open_memory(*answers: Extraction) -> Memory:
        memory = Memory.open(
            embedder=HashingEmbedder(),
            extractor=ScriptedExtractor(answers) if answers else None,
            **kept_engine.settings_arguments,
        )
        opened.append(memory)
        return memory

    yield open_memory
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(opened: Open) -> Memory:
    return opened()


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note(AGENT, PRIYA, text, **given)


def lives_in(memory: Memory, city: str, text: str = "Lives in {}.", **given: Any) -> Decision:
    return say(memory, text.format(city), attribute="city", value=city, **given)


def forget(memory: Memory, **given: Any) -> Erasure:
    return memory.contact(AGENT, PRIYA).forget(**ASKED | given)


def recalled(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.contact(AGENT, PRIYA).recall()}


def states(memory: Memory) -> dict[str, FactState]:
    found = memory.contact(AGENT, PRIYA).history()
    return {fact.fact_id: fact.state for each in found for fact in each.facts}


def decisions(memory: Memory) -> dict[str, Decision]:
    return {each.decision_id: each for each in memory.contact(AGENT, PRIYA).decisions()}


def reason_of(decision: Decision) -> GateReason | None:
    return decision.gate.reason if decision.gate else None


def hand_over(memory: Memory, *texts: str, session_id: str = "chat-1") -> str:
    turns = [Turn(role="contact", text=text) for text in texts]
    return memory.contact(AGENT, PRIYA).submit_session(session_id, turns)


def test_a_forgotten_contact_leaves_ids_actions_and_counts(memory: Memory) -> None:
    lives_in(memory, "Pune", contact_name="Priya Rao", tags=["home"])
    lives_in(memory, "Delhi")
    before = decisions(memory)
    done = forget(memory)
    assert done.receipt.is_clean
    assert done.receipt.removed["Fact"] == 2
    after = decisions(memory)
    assert {key: (each.action, each.at) for key, each in after.items()} == {
        key: (each.action, each.at) for key, each in before.items()
    }
    assert {each.text for each in after.values()} == {each.reason for each in after.values()}
    assert recalled(memory) == set()
    [contact] = memory.agent(AGENT).contacts()
    assert (contact.facts, contact.erased_facts, contact.name) == (2, 2, PRIYA)


def test_a_forgotten_contact_takes_the_reasons_of_earlier_erasures_along(memory: Memory) -> None:
    pune = lives_in(memory, "Pune")
    say(memory, "Likes tea.")
    forget(memory, fact_id=pune.fact_id, reason="Her solicitor, Ms. Quill, asked.")
    forget(memory, reason="Ticket 12.")
    assert [each.reason for each in memory.contact(AGENT, PRIYA).erasures()] == [
        "[erased]",
        "Ticket 12.",
    ]


def test_a_forgotten_fact_goes_with_its_restatements_and_not_with_what_it_contradicted(
    memory: Memory,
) -> None:
    delhi = lives_in(memory, "Delhi")
    pune = lives_in(memory, "Pune")
    again = lives_in(memory, "Pune", "Her home is in {}, near the river.")
    tea = say(memory, "Likes green tea.")
    forget(memory, fact_id=pune.fact_id)
    assert states(memory) == {
        delhi.fact_id: FactState.SUPERSEDED,
        pune.fact_id: FactState.ERASED,
        again.fact_id: FactState.ERASED,
        tea.fact_id: FactState.LIVE,
    }
    told = decisions(memory)
    assert told[delhi.decision_id].text == "Lives in Delhi."
    assert "Pune" not in str(list(told.values()))


def test_a_forgotten_name_is_no_longer_the_contacts(memory: Memory) -> None:
    said = say(memory, "Her name is Priya Zanzi.", attribute="name", value="Priya Zanzi")
    lives_in(memory, "Pune", contact_name="Priya Zanzi")
    forget(memory, attribute="city")
    assert [each.name for each in memory.agent(AGENT).contacts()] == ["Priya Zanzi"]
    forget(memory, fact_id=str(said.fact_id))
    assert [each.name for each in memory.agent(AGENT).contacts()] == [PRIYA]


@pytest.mark.parametrize("named", ["City", "town"])
def test_an_attribute_is_forgotten_by_any_of_its_names(memory: Memory, named: str) -> None:
    lives_in(memory, "Pune")
    forget(memory, attribute=named)
    assert recalled(memory) == set()


@pytest.mark.parametrize("named", ["Martin", "her husband", "husband Martin"])
def test_a_persons_attribute_is_forgotten_by_any_name_of_the_person(
    memory: Memory, named: str
) -> None:
    say(memory, "Works at Acme.", attribute="employer", value="Acme", subject="husband Martin")
    forget(memory, attribute="company", subject=named)
    assert recalled(memory) == set()


def test_a_name_of_two_people_forgets_nothing(memory: Memory) -> None:
    for person in ("brother Tom", "cousin Tom"):
        say(memory, f"Her {person} lives in Pune.", attribute="city", value="Pune", subject=person)
    with pytest.raises(InvalidRequestError, match=r"may be .* or .*; name one of them"):
        forget(memory, attribute="city", subject="Tom")
    assert len(recalled(memory)) == 2


def test_a_forgotten_attribute_goes_with_all_its_values(memory: Memory) -> None:
    lives_in(memory, "Delhi")
    lives_in(memory, "Pune")
    say(memory, "Likes green tea.")
    done = forget(memory, attribute="city")
    assert done.receipt.removed["Fact"] == 2
    assert recalled(memory) == {"Likes green tea."}
    assert done.target.attribute is None


def test_what_was_forgotten_does_not_come_back_in_other_case_width_or_punctuation(
    memory: Memory,
) -> None:
    made = say(memory, "Flies to New York in May.")
    forget(memory, fact_id=str(made.fact_id))
    for again in ("FLIES to New-York, in May!", "Flies to \uff2e\uff45\uff57 York in May"):
        held = say(memory, again)
        assert (held.action, reason_of(held)) == (Action.HOLD, GateReason.FORGOTTEN_BEFORE)
    assert say(memory, "Flies to Newark in May.").action is Action.ADD


def test_what_was_forgotten_is_held_until_the_contact_says_yes(memory: Memory) -> None:
    lives_in(memory, "Pune")
    forget(memory)
    held = lives_in(memory, "Pune", "She lives in {} now.")
    assert (held.action, reason_of(held)) == (Action.HOLD, GateReason.FORGOTTEN_BEFORE)
    with pytest.raises(InvalidAnswerError, match="only the contact may consent"):
        memory.contact(AGENT, PRIYA).confirm(held.decision_id, "anna")
    assert memory.contact(AGENT, PRIYA).confirm(held.decision_id, "contact").action is Action.ADD
    assert lives_in(memory, "Pune").action is not Action.HOLD


def test_what_was_forgotten_is_asked_about_once_however_often_it_is_said(memory: Memory) -> None:
    made = say(memory, "Prefers tea.")
    forget(memory, fact_id=str(made.fact_id))
    first = say(memory, "Prefers tea.")
    for _ in range(2):
        assert reason_of(say(memory, "Prefers tea.")) is GateReason.FORGOTTEN_BEFORE
    assert [each.decision_id for each in memory.contact(AGENT, PRIYA).pending()] == [
        first.decision_id
    ]
    memory.contact(AGENT, PRIYA).reject(first.decision_id, "contact")
    assert memory.contact(AGENT, PRIYA).pending() == []


def test_the_question_about_what_was_forgotten_hides_behind_no_other(memory: Memory) -> None:
    lives_in(memory, "Goa")
    forget(memory)
    quoted = lives_in(memory, "Goa", "Oh sure, she just loves living in {}.")
    assert reason_of(quoted) is GateReason.NOT_LITERAL
    held = lives_in(memory, "Goa")
    waiting = {each.decision_id for each in memory.contact(AGENT, PRIYA).pending(with_silent=True)}
    assert waiting == {quoted.decision_id, held.decision_id}
    memory.contact(AGENT, PRIYA).confirm(quoted.decision_id, "anna")
    assert recalled(memory) == set()
    assert [each.decision_id for each in memory.contact(AGENT, PRIYA).pending()] == [
        held.decision_id
    ]


def test_a_reader_of_conversations_does_not_bring_back_what_was_forgotten(opened: Open) -> None:
    tea = replace(PUNE.candidates[0], text="The contact prefers tea.", attribute=None, value=None)
    memory = opened(replace(PUNE, candidates=(tea,)))
    made = say(memory, "Prefers tea.")
    forget(memory, fact_id=str(made.fact_id))
    hand_over(memory, "My city is Pune.", session_id="chat-2")
    memory.drain()
    assert recalled(memory) == set()
    waiting = map(reason_of, memory.contact(AGENT, PRIYA).pending())
    assert list(waiting) == [GateReason.FORGOTTEN_BEFORE]


def test_what_says_something_else_is_not_held(memory: Memory) -> None:
    lives_in(memory, "Pune")
    forget(memory, attribute="city")
    assert lives_in(memory, "Goa").action is Action.ADD
    assert memory.add_contact_note(AGENT, "bob", "Lives in Pune.").action is Action.ADD


def test_what_was_revoked_does_not_come_back_unasked(memory: Memory) -> None:
    pune = lives_in(memory, "Pune")
    revoked = memory.contact(AGENT, PRIYA).revoke(str(pune.fact_id), by="anna", reason="A mix-up.")
    assert lives_in(memory, "Pune").action is Action.HOLD
    memory.contact(AGENT, PRIYA).revert(revoked.decision_id, by="anna", reason="It was right.")
    assert lives_in(memory, "Pune", "Her home is {}.").action is not Action.HOLD


@pytest.mark.on_neo4j_too
def test_a_forgotten_session_goes_with_what_was_learnt_from_it(opened: Open) -> None:
    memory = opened(PUNE)
    say(memory, "Likes green tea.")
    job_id = hand_over(memory, "My city is Pune, and it rains.")
    memory.drain()
    assert "Lives in Pune." in recalled(memory)
    done = forget(memory, session_id="chat-1")
    assert done.receipt.is_clean
    assert recalled(memory) == {"Likes green tea."}
    assert not memory.contact(AGENT, PRIYA).session("chat-1").summary
    assert memory.contact(AGENT, PRIYA).job(job_id).state is JobState.DONE
    with pytest.raises(ErasedError, match="takes no more turns"):
        hand_over(memory, "My city is Pune, and it rains.")


@pytest.mark.on_neo4j_too
def test_what_was_said_elsewhere_too_holds_again_when_a_session_is_forgotten(
    opened: Open,
) -> None:
    memory = opened(PUNE)
    first = lives_in(memory, "Pune", "Her home is {}.")
    hand_over(memory, "My city is Pune, and it rains.")
    memory.drain()
    forget(memory, session_id="chat-1")
    assert recalled(memory) == {"Her home is Pune."}
    assert states(memory)[str(first.fact_id)] is FactState.LIVE


def says_less_elsewhere(memory: Memory, session_id: str | None = "chat-2") -> Decision:
    """Two sessions give one fact; the second says less of it, so that it is only counted."""
    lives_in(memory, "Pune", "Lives in {} with her sister and a dog.", session_id="chat-1")
    counted = lives_in(memory, "Pune", session_id=session_id)
    assert counted.action is Action.SKIP
    return counted


@pytest.mark.on_neo4j_too
def test_what_another_session_said_less_of_holds_in_its_own_words(memory: Memory) -> None:
    says_less_elsewhere(memory)
    done = forget(memory, session_id="chat-1")
    assert done.receipt.is_clean
    assert recalled(memory) == {"Lives in Pune."}
    assert "sister" not in str(list(decisions(memory).values()))
    forget(memory, session_id="chat-2")
    assert recalled(memory) == set()


@pytest.mark.parametrize("session_id", ["chat-2", None])
def test_what_both_sessions_said_does_not_come_back_when_both_are_forgotten(
    memory: Memory, session_id: str | None
) -> None:
    counted = says_less_elsewhere(memory, session_id)
    forget(memory, session_id=counted.note.session_id)
    forget(memory, session_id="chat-1")
    assert recalled(memory) == set()


def test_an_undone_repetition_does_not_come_back_with_a_forgotten_session(memory: Memory) -> None:
    counted = says_less_elsewhere(memory)
    memory.contact(AGENT, PRIYA).revert(counted.decision_id, by="lena", reason="Not hers.")
    forget(memory, session_id="chat-1")
    assert recalled(memory) == set()


def test_an_interrupted_erasure_writes_once_what_another_session_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    says_less_elsewhere(memory)

    def fail(*_: Any) -> None:
        raise GraphUnavailableError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(erasure_store.ErasureStore, "move", fail)
        with pytest.raises(GraphUnavailableError):
            forget(memory, session_id="chat-1")
    before = decisions(memory)
    memory.finish_erasures()
    assert decisions(memory).keys() == before.keys()
    assert recalled(memory) == {"Lives in Pune."}


def test_what_only_agreed_with_a_forgotten_session_waits_for_a_yes(memory: Memory) -> None:
    say(memory, "Likes green tea.", session_id="chat-1")
    echo = say(memory, "Likes green tea.", session_id="chat-2", source_kind="tool_output")
    assert echo.action is Action.SKIP
    forget(memory, session_id="chat-1")
    assert recalled(memory) == set()
    [held] = memory.contact(AGENT, PRIYA).pending()
    assert (held.text, reason_of(held)) == ("Likes green tea.", GateReason.UNTRUSTED_SOURCE)


@pytest.mark.parametrize(
    ("stage", "part"),
    [
        (Stage.LEASED, {"session_id": "chat-1"}),
        (Stage.EXTRACTED, {}),
        (Stage.KEPT, {"session_id": "chat-1"}),
        (Stage.PROPOSED, {}),
    ],
)
def test_a_worker_with_a_leased_job_writes_nothing_about_a_forgotten_session(
    opened: Open, stage: Stage, part: dict[str, str]
) -> None:
    memory = opened(PUNE)
    hand_over(memory, "My city is Pune, and it rains.")
    counted: list[int] = []

    def at(reached: Stage) -> None:
        if reached is stage and not counted:
            forget(memory, **part)
            counted.append(len(decisions(memory)))

    memory.worker(at).drain()
    assert counted == [len(decisions(memory))]
    assert "Pune" not in str(memory.contact(AGENT, PRIYA).history())
    assert "Pune" not in str(list(decisions(memory).values()))


def test_a_worker_begins_anew_where_an_attribute_is_forgotten_that_it_has_read(
    opened: Open,
) -> None:
    memory = opened(PUNE, Extraction(candidates=()))
    hand_over(memory, "My city is Pune, and it rains.")
    lives_in(memory, "Pune", session_id="chat-1")
    counted: list[int] = []

    def at(reached: Stage) -> None:
        if reached is Stage.KEPT and not counted:
            forget(memory, attribute="city")
            counted.append(len(decisions(memory)))

    memory.worker(at).drain()
    assert counted == [len(decisions(memory))]
    assert recalled(memory) == set()


def test_a_reason_keeps_neither_the_contact_s_name_nor_what_it_had_said(memory: Memory) -> None:
    lives_in(memory, "Quixotia", contact_name="Priya Sharma")
    done = forget(memory, reason="Ms. Sharma left Quixotia, ticket 4711.")
    assert done.reason == "Ms. [erased] left [erased], ticket 4711."
    assert [each.reason for each in memory.agent(AGENT).erasures()] == [done.reason]


def test_what_was_erased_is_explained_and_replayed_without_its_words(memory: Memory) -> None:
    lives_in(memory, "Pune")
    changed = lives_in(memory, "Delhi")
    forget(memory, attribute="city")
    assert "Pune" not in str(memory.contact(AGENT, PRIYA).explain(changed.decision_id))
    assert replay_all(memory.contact(AGENT, PRIYA), "seed") == []


def test_notes_of_today_go_on_after_the_days_session_was_forgotten(memory: Memory) -> None:
    lives_in(memory, "Pune")
    [day] = {each.note.session_id for each in decisions(memory).values()}
    forget(memory, session_id=day)
    assert recalled(memory) == set()
    assert say(memory, "Likes green tea.").action is Action.ADD


def test_an_erasure_of_one_contact_leaves_the_others_as_they_were(
    memory: Memory,
) -> None:
    for contact_id in ("bob", PRIYA):
        memory.add_contact_note(AGENT, contact_id, "Lives in Pune.", attribute="city", value="Pune")
        memory.add_contact_note(AGENT, contact_id, "Lives in Goa.", attribute="city", value="Goa")
    before = memory.contact(AGENT, "bob").history(), memory.contact(AGENT, "bob").decisions()
    forget(memory)
    assert (
        memory.contact(AGENT, "bob").history(),
        memory.contact(AGENT, "bob").decisions(),
    ) == before
    again = memory.add_contact_note(AGENT, "bob", "Lives in Goa.", attribute="city", value="Goa")
    assert again.action is not Action.HOLD


def test_evidence_that_was_erased_is_refused_without_a_word_of_it(memory: Memory) -> None:
    scope = Scope("default", AGENT, PRIYA)
    told = Evidence(
        episode_id="turn-1",
        session_id="call-1",
        scope=scope,
        text="My city is Pune.",
        said_at=AT,
        source_kind=SourceKind.USER_EXPLICIT,
    )
    note = Note(scope=scope, text="Lives in Pune.", said_at=AT, source_kind=SourceKind.EXTRACTOR)
    candidate = Candidate(note=note, evidence=(told,), proposed_by="extractor", confidence=0.9)
    assert propose_to(memory, candidate).action is not Action.REJECT
    forget(memory)
    again = propose_to(memory, candidate)
    assert reason_of(again) is GateReason.PENDING_ERASURE
    assert "Pune" not in str(again)


def test_a_key_whose_decision_was_erased_is_answered_without_its_words(memory: Memory) -> None:
    first = say(memory, "Likes green tea.", idempotency_key="note-1")
    forget(memory)
    again = say(memory, "Likes green tea.", idempotency_key="note-1")
    assert (again.decision_id, again.replayed, again.text) == (first.decision_id, True, ERASED)


def test_a_proposal_that_was_erased_is_not_committed(opened: Open) -> None:
    memory = opened(PUNE)
    hand_over(memory, "My city is Pune, and it rains.")
    memory.drain()
    [admitted] = [each for each in decisions(memory).values() if each.action is Action.ADMIT]
    forget(memory)
    with pytest.raises(ErasedError):
        memory.contact(AGENT, PRIYA).commit(admitted.decision_id)


def test_a_dry_run_says_what_would_go_and_changes_nothing(memory: Memory) -> None:
    lives_in(memory, "Pune")
    told = forget(memory, dry_run=True)
    assert told.receipt.is_dry_run
    assert told.receipt.removed["Fact"] == 1
    assert recalled(memory) == {"Lives in Pune."}
    assert memory.agent(AGENT).erasures() == []


@every(
    ("given", "error"),
    [
        ({"fact_id": "nobody's"}, UnknownFactError),
        ({"session_id": "nobody's"}, InvalidSessionError),
        ({"fact_id": "one", "session_id": "two"}, InvalidRequestError),
        ({"subject": "Maya"}, InvalidRequestError),
        ({"by": "agent:crm"}, InvalidAnswerError),
        ({"by": AGENT}, InvalidAnswerError),
    ],
)
def test_what_cannot_be_forgotten_so_changes_nothing(
    memory: Memory, given: dict[str, Any], error: type[Exception]
) -> None:
    lives_in(memory, "Pune")
    with pytest.raises(error):
        forget(memory, **given)
    assert recalled(memory) == {"Lives in Pune."}


def test_a_fact_of_another_contact_is_unknown(memory: Memory) -> None:
    lives_in(memory, "Pune")
    bobs = memory.add_contact_note(AGENT, "bob", "Likes coffee.")
    with pytest.raises(UnknownFactError):
        forget(memory, fact_id=bobs.fact_id)
    with pytest.raises(UnknownContactError, match="nothing is known"):
        memory.contact(AGENT, "nobody").forget(**ASKED)


def test_an_erasure_that_was_cut_off_is_finished_by_the_same_call(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives_in(memory, "Pune")
    with monkeypatch.context() as broken:
        broken.setattr(erasure_store.ErasureStore, "rows", _cut_off_at_the_facts)
        with pytest.raises(KeyboardInterrupt):
            forget(memory)
    [unfinished] = memory.erasures(unfinished=True)
    refused = say(memory, "Likes green tea.")
    assert reason_of(refused) is GateReason.PENDING_ERASURE
    assert forget(memory).erasure_id == unfinished.erasure_id
    assert memory.erasures(unfinished=True) == []
    assert say(memory, "Likes green tea.").action is Action.ADD


def _cut_off_at_the_facts(store: erasure_store.ErasureStore, query: str, /, **given: Any) -> Any:
    if query == "remove_facts":
        raise KeyboardInterrupt
    return Queries.rows(store, query, **given)


def test_an_erasure_tells_how_far_it_is_and_goes_on_after_a_stop_within_a_contact(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_at(count: int) -> None:
        told.append(count)
        if sum(told) > 25:
            raise KeyboardInterrupt

    monkeypatch.setattr(erasure_store, "_BATCH", 2)
    for number in range(6):
        lives_in(memory, f"Quixotia {number}")
    told: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        forget(memory, on_progress=stop_at)
    [unfinished] = memory.erasures(unfinished=True)
    told.clear()
    [done] = memory.finish_erasures(on_progress=told.append)
    assert (done.erasure_id, done.receipt.is_clean) == (unfinished.erasure_id, True)
    # Facts, decisions and episodes are read, and emptied by twos; then there is one session.
    assert told.count(2) == 9
    assert sum(told) >= 36


def test_an_erasure_asks_the_engine_for_many_nodes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows = PlanningConnection.rows

    def counting(self: PlanningConnection, text: str, given: Any = None) -> Any:
        asked.append(text)
        return rows(self, text, given)

    monkeypatch.setattr(PlanningConnection, "rows", counting)
    counts = []
    for facts in (5, 45):
        path = tmp_path / str(facts) / "memory.lbug"
        with Memory.open(
            embedder=HashingEmbedder(), graph="embedded", embedded_path=path
        ) as memory:
            owned = [{"text": f"Owns the house with number {number}."} for number in range(facts)]
            memory.import_notes(map(json.dumps, owned), agent_id=AGENT, contact_id=PRIYA)
            asked.clear()
            forget(memory)
            counts.append(len(asked))
    assert counts[1] == counts[0]


def test_a_contact_is_read_once_for_mark_and_removal_and_its_links_are_gone_through_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        lives_in(memory, f"Quixotia {number}")
    graph, asked = memory._services.erasure_store.graph, list[str]()
    run = graph.run

    def counting(name: str, given: Any) -> Any:
        asked.append(name)
        return run(name, given)

    monkeypatch.setattr(graph, "run", counting)
    monkeypatch.setattr(erasure_store, "_BATCH", 1)
    assert forget(memory).receipt.is_clean
    assert asked.count("remove_facts") == 3
    for name in ("list_plain_facts", "list_plain_decisions", "remove_fact_spans"):
        assert asked.count(name) == 1


def test_readers_and_writers_go_on_while_a_store_is_written_anew(memory: Memory) -> None:
    lives_in(memory, "Pune")
    problems: list[BaseException] = []
    done = threading.Event()

    def work(name: str) -> None:
        number = 0
        try:
            while not done.is_set():
                number += 1
                memory.add_contact_note(AGENT, name, f"Word{number} is a word.")
                memory.contact(AGENT, name).recall()
        except BaseException as error:  # noqa: BLE001  told below
            problems.append(error)

    threads = [threading.Thread(target=work, args=(f"other-{each}",)) for each in range(2)]
    for thread in threads:
        thread.start()
    forget(memory)
    done.set()
    for thread in threads:
        thread.join()
    assert problems == []


@pytest.mark.parametrize("step", ["copy_store", "put_in_place"])
def test_a_store_that_cannot_be_written_anew_goes_on_and_is_written_anew_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("Could not set lock on it")

    place = embedded_graph if step == "copy_store" else embedded_graph.EmbeddedFiles
    given = {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}
    with Memory.open(embedder=HashingEmbedder(), **given) as memory:
        lives_in(memory, "Quixotia")
        with monkeypatch.context() as broken:
            broken.setattr(place, step, fail)
            with pytest.raises(GraphUnavailableError):
                forget(memory)
        assert say(memory, "Likes green tea.").gate
        [finished] = memory.finish_erasures()
        assert finished.is_finished
        assert not hits(tmp_path, b"Quixotia")
        assert say(memory, "Likes green tea.").action is Action.ADD


def test_no_byte_of_it_is_left_in_the_files_of_an_embedded_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.lbug"
    with Memory.open(embedder=HashingEmbedder(), graph="embedded", embedded_path=path) as memory:
        lives_in(memory, "Quixotia", contact_name="Zebulon")
        memory.add_contact_note(AGENT, "bob", "Likes Brightwave.")
        forget(memory)
        assert hits(tmp_path, b"Brightwave")
        assert not hits(tmp_path, b"Quixotia", b"quixotia", b"Zebulon")
    assert not hits(tmp_path, b"Quixotia", b"quixotia", b"Zebulon")
    with Memory.open(embedder=HashingEmbedder(), graph="embedded", embedded_path=path) as memory:
        assert [each.fact.text for each in memory.contact(AGENT, "bob").recall()] == [
            "Likes Brightwave."
        ]


def hits(folder: Path, *words: bytes) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(word in path.read_bytes() for word in words)]
