"""The tools for Pydantic AI, with its own runs and its own models for tests."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    AgentRunResult,
    BinaryContent,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from reconciler import Memory
from reconciler.integrations.pydantic_ai import pydantic_ai_context, pydantic_ai_tools

ADD, RELATE, RECALL = "add_contact_note", "relate_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "contact"}


def _run(agent: Agent[None, str]) -> AgentRunResult[str]:
    """How a run ended; ``run_sync`` leaves its event loop open."""
    return asyncio.run(agent.run("I live in Pune."))


def _answers(memory: Memory, *calls: tuple[str, Any]) -> list[ToolReturnPart]:
    """What a model is told that makes these calls, one a turn, and then says goodbye."""
    parts: list[Any] = [ToolCallPart(*call) for call in calls]

    def model(_: list[Any], info: AgentInfo) -> ModelResponse:
        assert [each.name for each in info.function_tools] == [ADD, RELATE, RECALL]
        return ModelResponse(parts=[parts.pop(0) if parts else TextPart("Goodbye.")])

    tools = pydantic_ai_tools(memory.agent_tools("crm", "priya", session_id="chat-1"))
    ended = _run(Agent(FunctionModel(model), tools=tools))
    assert ended.output == "Goodbye."
    told = [part for message in ended.all_messages() for part in message.parts]
    return [part for part in told if isinstance(part, ToolReturnPart)]


def test_a_run_remembers_and_recalls(memory: Memory) -> None:
    added, recalled = _answers(memory, (ADD, json.dumps(LIVES)), (RECALL, None))
    assert str(added.content).startswith("Remembered as a new fact.")
    assert "Lives in Pune." in str(recalled.content)
    assert added.outcome == "success"


def _city_after(memory: Memory, *runs: list[Any]) -> list[str]:
    """The contact's city after runs that carry out the calls of a given answer."""
    tools = pydantic_ai_tools(memory.agent_tools("crm", "priya", session_id="chat-1"))
    agent = Agent(TestModel(call_tools=[]), tools=tools)
    for history in runs:
        asyncio.run(agent.run(message_history=history))
    return [str(each.value) for each in memory.contact("crm", "priya").value("city")]


def _lives(city: str) -> list[Any]:
    """A conversation in which the last answer calls the tool, with an id that servers reuse."""
    value = {"attribute": "city", "value": city}
    told = {"text": f"Lives in {city}.", "source_kind": "contact", **value}
    call = ToolCallPart(ADD, told, tool_call_id="call_0")
    return [ModelRequest(parts=[UserPromptPart(city)]), ModelResponse(parts=[call])]


def test_a_conversation_that_is_run_again_turns_no_time_back(memory: Memory) -> None:
    pune, goa = _lives("Pune"), _lives("Goa")
    assert _city_after(memory, pune, goa, pune) == ["Goa"]


def test_what_is_said_again_in_a_new_answer_is_news(memory: Memory) -> None:
    assert _city_after(memory, _lives("Pune"), _lives("Goa"), _lives("Pune")) == ["Pune"]


def test_a_model_is_told_of_the_same_schema_as_by_the_tools_themselves(memory: Memory) -> None:
    bound = memory.agent_tools("crm", "priya")
    model = TestModel(call_tools=[])
    _run(Agent(model, tools=pydantic_ai_tools(bound)))
    assert model.last_model_request_parameters is not None
    told = model.last_model_request_parameters.function_tools
    assert [(t.name, t.description, t.parameters_json_schema) for t in told] == [
        (each["name"], each["description"], each["input_schema"]) for each in bound.definitions()
    ]


def test_what_pydantic_ai_makes_of_the_schemas_is_answered_in_words(memory: Memory) -> None:
    tools = pydantic_ai_tools(memory.agent_tools("crm", "priya"))
    said = json.loads(_run(Agent(TestModel(), tools=tools)).output)
    assert "Not remembered: filler ('a')" in said[ADD]
    assert "no fact that was shown in this conversation has the handle 'a'" in said[RELATE]
    assert "Nothing is known." in said[RECALL]


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "Lives in Pune."},
        LIVES | {"contact_id": "tom"},
        LIVES | {"self": 1, "tools": 1, "name": "x", "ctx": 1},
        LIVES | {"text": "a" * 100_000},
    ],
)
def test_a_models_mistake_is_a_failed_result_and_the_run_goes_on(
    memory: Memory, arguments: dict[str, Any]
) -> None:
    for answer in _answers(memory, (ADD, arguments), (ADD, arguments), (ADD, arguments)):
        assert answer.outcome == "failed"
        assert "Nothing was remembered." in str(answer.content)
    assert memory.contact("crm", "priya").recall() == []


@pytest.mark.parametrize("arguments", ["{", "[]", "null", "7"])
def test_what_is_no_object_is_asked_for_again(memory: Memory, arguments: str) -> None:
    odd, added = _answers(memory, (ADD, arguments), (ADD, LIVES))
    assert odd.outcome == "retried"
    assert str(added.content).startswith("Remembered as a new fact.")


def _heard(memory: Memory, *prompts: str) -> tuple[list[str], AgentRunResult[str]]:
    """The words that the model was sent in the last of some runs, kept as JSON between them."""
    sent: list[list[str]] = []

    def model(messages: list[Any], _: AgentInfo) -> ModelResponse:
        sent.append([str(part.content) for each in messages for part in each.parts])
        return ModelResponse(parts=[TextPart("Goodbye.")])

    context = pydantic_ai_context(memory.contact("crm", "priya"))
    kept = b"[]"
    for prompt in prompts:
        agent = Agent(FunctionModel(model), capabilities=[context])
        history = ModelMessagesTypeAdapter.validate_json(kept)
        ended = asyncio.run(agent.run(prompt, message_history=history))
        kept = ended.all_messages_json()
    return sent[-1], ended


def test_each_reply_knows_what_it_needs_once_in_a_conversation(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    priya.note("Allergic to peanuts.")
    sent, _ = _heard(memory, "Hello!")
    assert "Allergic to peanuts." in sent[0]
    assert sent[1] == "Hello!"
    sent, _ = _heard(memory, "Hello!", "Book a table.", "For two.")
    assert sum("Allergic to peanuts." in words for words in sent) == 1


def test_the_calls_of_one_run_are_given_the_facts_once(memory: Memory) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    context = pydantic_ai_context(memory.contact("crm", "priya"))
    tools = pydantic_ai_tools(memory.agent_tools("crm", "priya", can_recall=False))
    ended = _run(Agent(TestModel(call_tools=[ADD]), tools=tools, capabilities=[context]))
    assert str(ended.all_messages_json()).count("Allergic to peanuts.") == 1


def test_a_prompt_without_words_is_given_the_limits_as_well(memory: Memory) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    context = pydantic_ai_context(memory.contact("crm", "priya"))
    agent = Agent(TestModel(call_tools=[]), capabilities=[context])
    ended = asyncio.run(agent.run([BinaryContent(b"0", media_type="image/png")]))
    assert b"Allergic to peanuts." in ended.all_messages_json()
