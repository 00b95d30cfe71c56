"""The two production checklists that this memory is held to, line by line, through both doors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler import Memory
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.sessions import Job, Outcomes
from reconciler.errors import InvalidRequestError, InvalidScopeError
from reconciler.reading.kinds import Category
from reconciler.resources import resource_path
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.anthropic_server import AnthropicServer, candidate, extraction
from tests.engines import EngineUnderTest
from tests.submissions import call_about

CALLS = "I only take calls after five."
CALLS_CLAIM = candidate(
    "The contact only takes calls after five.",
    confidence=0.95,
    category="fact",
    attribute=None,
    value=None,
    subject=None,
    single_valued=None,
    citations=[{"episode": 1, "span": CALLS}],
)
Open = Callable[..., Memory]


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def opened(engine: EngineUnderTest, server: AnthropicServer) -> Iterator[Open]:
    memories: list[Memory] = []

    def open_memory(*candidates: dict[str, Any], with_key: bool = True) -> Memory:
        server.answers(extraction(*candidates))
        claude = {"api_key": "sk-test", "base_url": server.base_url} if with_key else {}
        settings = load_settings(**engine.settings_arguments, extractor=claude)
        memories.append(Memory.open(settings, embedder=HashingEmbedder()))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()


def said(*texts: str) -> list[Turn]:
    return [Turn(role="contact", text=text) for text in texts]


def worked_off(memory: Memory, *texts: str) -> Job:
    job_id = memory.contact("crm", "alice").submit_session("chat-1", said(*texts))
    memory.drain()
    return memory.contact("crm", "alice").job(job_id)


# The checklist before extraction from sessions goes to production


def test_002_1_a_fact_has_text_type_topic_importance_confidence_session_and_time(
    opened: Open,
) -> None:
    memory = opened(CALLS_CLAIM)
    worked_off(memory, CALLS)
    [ranked] = memory.contact("crm", "alice").recall()
    fact = ranked.fact
    assert (fact.text, fact.category, fact.topic) == (CALLS_CLAIM["text"], Category.FACT, "work")
    assert (fact.importance, 0 < fact.confidence <= 1) == (0.7, True)
    assert fact.recorded_at is not None
    assert {each.note.session_id for each in memory.contact("crm", "alice").decisions()} == {
        "chat-1"
    }


def test_002_2_importance_and_confidence_are_asked_for_as_two_numbers(
    opened: Open, server: AnthropicServer
) -> None:
    worked_off(opened(), CALLS)
    [request] = server.requests
    schema = json.dumps(request.body["output_config"])
    prompt = (resource_path("config") / "prompts" / "extractor.md").read_text("utf-8").lower()
    for name in ("importance", "confidence"):
        assert f'"{name}": {{"type": "number"' in schema
        assert name in prompt


@pytest.mark.parametrize("with_key", [True, False])
def test_002_3_a_pleasantry_gives_nothing_and_nothing_is_a_good_answer(
    opened: Open, with_key: bool
) -> None:
    memory = opened(with_key=with_key)
    job = worked_off(memory, "Thanks, that was really helpful!")
    assert (job.state, job.outcomes) == (JobState.DONE, Outcomes())


@pytest.mark.parametrize("speech", ["hypothetical", "roleplay", "sarcastic", "literal"])
def test_002_4_what_if_i_were_a_doctor_is_believed_by_three_tenths_at_most(
    opened: Open, speech: str
) -> None:
    claim = candidate(
        "The contact is a doctor.",
        category="fact",
        speech=speech,
        confidence=0.8,
        citations=[{"episode": 1, "span": "What if I were a doctor?"}],
    )
    memory = opened(claim)
    worked_off(memory, "What if I were a doctor?")
    [decision] = memory.contact("crm", "alice").decisions()
    assert decision.gate is not None
    assert decision.gate.confidence <= 0.3
    assert memory.contact("crm", "alice").recall() == []


def test_002_4_no_extractor_without_a_key_believes_it_either(opened: Open) -> None:
    memory = opened(with_key=False)
    worked_off(memory, "What if I were a doctor?")
    for decision in memory.contact("crm", "alice").decisions():
        assert decision.gate is not None
        assert decision.gate.confidence <= 0.3
    assert memory.contact("crm", "alice").recall() == []


def test_002_5_a_session_is_handed_over_and_read_behind(
    opened: Open, server: AnthropicServer
) -> None:
    memory = opened(CALLS_CLAIM)
    job_id = memory.contact("crm", "alice").submit_session("chat-1", said(CALLS))
    assert (memory.contact("crm", "alice").job(job_id).state, server.requests) == (
        JobState.WAITING,
        [],
    )
    memory.drain()
    assert (memory.contact("crm", "alice").job(job_id).state, len(server.requests)) == (
        JobState.DONE,
        1,
    )


def test_002_6_a_live_fact_has_no_end_and_no_successor_and_an_ended_one_has_both(
    opened: Open,
) -> None:
    memory = opened()
    for city in ("Pune", "Goa"):
        memory.add_contact_note("crm", "alice", f"Lives in {city}.", attribute="city", value=city)
    [chain] = memory.contact("crm", "alice").history()
    new, old = chain.facts
    assert (new.is_live, new.valid_to) == (True, None)
    assert old.valid_to is not None
    [step] = chain.supersessions
    assert (step.new_id, step.old_id) == (new.fact_id, old.fact_id)


# The checklist of a write policy


@pytest.mark.parametrize("part", ["tenant", "agent_id", "contact_id"])
def test_001_1_scope_is_mandatory_at_both_doors(opened: Open, part: str) -> None:
    memory = opened()
    scope = {"tenant": "acme", "agent_id": "crm", "contact_id": "alice", part: ""}
    with pytest.raises(InvalidScopeError):
        memory.add_contact_note(text=CALLS, **scope)
    with pytest.raises(InvalidScopeError):
        call_about(memory, "submit_session")(session_id="chat-1", turns=said(CALLS), **scope)
    assert memory.jobs(tenant="acme") == []
    assert memory.agent("crm", tenant="acme").contacts() == []


def test_001_2_what_a_model_said_is_no_source(opened: Open) -> None:
    memory = opened(CALLS_CLAIM)
    turns = [Turn(role="agent", text=CALLS)]
    job_id = memory.contact("crm", "alice").submit_session("chat-1", turns)
    memory.drain()
    guess = memory.add_contact_note("crm", "alice", CALLS, source_kind="model_guess")
    assert (memory.contact("crm", "alice").job(job_id).outcomes, str(guess.action)) == (
        Outcomes(refused=1),
        "REJECT",
    )
    assert memory.contact("crm", "alice").recall() == []


def test_001_3_what_is_no_preference_expires_or_is_revoked(opened: Open) -> None:
    memory = opened(CALLS_CLAIM)
    worked_off(memory, CALLS)
    decided = "We have decided to renew the contract every January."
    memory.add_contact_note("crm", "alice", decided, category="decision")
    memory.add_contact_note("crm", "alice", "Drives a blue Volvo.")
    facts = {each.fact.text: each.fact for each in memory.contact("crm", "alice").recall()}
    assert facts.pop("Drives a blue Volvo.").expires_at is not None
    assert {text: fact.expires_at for text, fact in facts.items()} == {
        CALLS_CLAIM["text"]: None,
        decided: None,
    }
    for fact in facts.values():
        memory.contact("crm", "alice").revoke(fact.fact_id, by="anna", reason="It was cancelled.")
    assert [each.fact.text for each in memory.contact("crm", "alice").recall()] == [
        "Drives a blue Volvo."
    ]


def test_001_4_sensitive_data_is_out_before_anybody_reads_it(
    opened: Open, server: AnthropicServer
) -> None:
    memory = opened()
    worked_off(memory, "Charge 4111 1111 1111 1111, the password is tr0ub4dor&3x.")
    sent = json.dumps(server.requests[0].body)
    assert "4111 1111" not in sent  # four digits alone may be part of a time or a digest
    assert "tr0ub4dor" not in sent
    assert "[credit_card:" in sent


def test_001_5_what_is_remembered_is_structured(opened: Open) -> None:
    claim = CALLS_CLAIM | {"attribute": "city", "value": "Pune", "text": "Lives in Pune."}
    memory = opened(claim | {"citations": [{"episode": 1, "span": "Pune"}]})
    worked_off(memory, "My city is Pune.")
    [ranked] = memory.contact("crm", "alice").recall()
    assert ranked.fact.slot is not None
    assert (ranked.fact.slot.attribute, ranked.fact.slot.value) == ("city", "Pune")
    assert str(ranked.fact.trust) == "user_explicit"


def test_001_6_the_gate_decides_the_same_each_time(opened: Open) -> None:
    memory = opened()
    assert memory.agent("any").check_policy(CALLS) == memory.agent("any").check_policy(CALLS)


def test_001_7_a_preference_can_be_changed_and_taken_back(opened: Open) -> None:
    memory = opened()
    for channel in ("e-mail", "phone"):
        memory.add_contact_note(
            "crm",
            "alice",
            f"I prefer to be reached by {channel}.",
            attribute="preferred_channel",
            value=channel,
        )
    [ranked] = memory.contact("crm", "alice").recall()
    assert ranked.fact.text.endswith("phone.")
    memory.contact("crm", "alice").revoke(
        ranked.fact.fact_id, by="contact", reason="She does not mind now."
    )
    assert memory.contact("crm", "alice").recall() == []


def test_a_job_that_does_not_exist_is_an_error_that_says_so(opened: Open) -> None:
    with pytest.raises(InvalidRequestError, match="no job"):
        opened().contact("crm", "alice").job("none")
