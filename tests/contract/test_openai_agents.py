"""The tools for the OpenAI Agents SDK, with the real runner and a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.strict_schema import ensure_strict_json_schema
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from reconciler import Memory
from reconciler.integrations.openai_agents import openai_agents_context, openai_agents_tools

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}


class CallingModel(Model):
    """A model that makes these calls, one a turn, and then says goodbye."""

    def __init__(self, *calls: tuple[str, str]) -> None:
        self._calls = list(calls)
        self.seen: list[Any] = []

    async def get_response(self, *given: Any, **others: Any) -> ModelResponse:
        self.seen = list(others.get("input", given[1] if len(given) > 1 else []))
        output: Any = _goodbye()
        if self._calls:
            name, arguments = self._calls.pop(0)
            output = ResponseFunctionToolCall(
                type="function_call", name=name, arguments=arguments,
                call_id=f"call-{len(self._calls)}",
            )  # fmt: skip
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def _goodbye() -> ResponseOutputMessage:
    said = ResponseOutputText(type="output_text", text="Goodbye.", annotations=[])
    return ResponseOutputMessage(
        id="message", type="message", role="assistant", status="completed", content=[said]
    )


def _answers(memory: Memory, *calls: tuple[str, str]) -> list[str]:
    """What the tools answered to the calls, as the model sees it."""
    model = CallingModel(*calls)
    tools = openai_agents_tools(memory.agent_tools("crm", "priya", session_id="chat-1"))
    agent = Agent(name="crm", model=model, tools=[*tools])
    config = RunConfig(tracing_disabled=True)
    assert asyncio.run(Runner.run(agent, "Hello", run_config=config)).final_output == "Goodbye."
    return [each["output"] for each in model.seen if each.get("type") == "function_call_output"]


def test_a_run_remembers_and_recalls(memory: Memory) -> None:
    added, recalled = _answers(memory, (ADD, json.dumps(LIVES)), (RECALL, "{}"))
    assert added.startswith("Remembered as a new fact.")
    assert "Lives in Pune." in recalled


def _city_after(memory: Memory, *heard: str) -> list[str]:
    """The contact's city after runs of one conversation each, in which the model notes it."""
    tools = openai_agents_tools(memory.agent_tools("crm", "priya", session_id="chat-1"))
    for words in heard:
        city = words.split()[-1]
        value = {"attribute": "city", "value": city}
        told = {"text": f"Lives in {city}.", "source_kind": "contact", **value}
        agent = Agent(name="crm", model=CallingModel((ADD, json.dumps(told))), tools=[*tools])
        asyncio.run(Runner.run(agent, words, run_config=RunConfig(tracing_disabled=True)))
    return [str(each.value) for each in memory.contact("crm", "priya").value("city")]


def test_a_run_that_is_made_again_turns_no_time_back(memory: Memory) -> None:
    assert _city_after(memory, "I live in Pune", "I moved to Goa", "I live in Pune") == ["Goa"]


def test_a_call_of_the_same_id_after_other_words_is_news(memory: Memory) -> None:
    assert _city_after(memory, "I live in Pune", "I moved to Goa", "Back in Pune") == ["Pune"]


def test_the_schemas_are_what_the_sdk_takes_for_strict(memory: Memory) -> None:
    for tool in openai_agents_tools(memory.agent_tools("crm", "priya")):
        assert tool.strict_json_schema
        schema = json.loads(json.dumps(tool.params_json_schema))
        assert ensure_strict_json_schema(schema) == tool.params_json_schema


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{",
        "[]",
        "null",
        '{"text": "Lives in Pune."}',
        json.dumps(LIVES | {"contact_id": "tom"}),
    ],
)
def test_a_models_mistake_is_answered_in_words_and_the_run_goes_on(
    memory: Memory, arguments: str
) -> None:
    answers = _answers(memory, (ADD, arguments))
    assert "Nothing was remembered." in answers[0]
    assert memory.contact("crm", "priya").recall() == []


def _sent(memory: Memory, session: SQLiteSession, *heard: str) -> list[str]:
    """What the model is sent in the last of some runs of one session."""
    model = CallingModel()
    config = RunConfig(
        tracing_disabled=True,
        call_model_input_filter=openai_agents_context(memory.contact("crm", "priya")),
    )

    async def run() -> None:
        for words in heard:
            agent = Agent(name="crm", model=model)
            await Runner.run(agent, words, session=session, run_config=config)

    asyncio.run(run())
    return [str(each["content"]) for each in model.seen]


@pytest.fixture
def session() -> Iterator[SQLiteSession]:
    session = SQLiteSession("chat-1")
    yield session
    session.close()


@pytest.mark.parametrize("turns", [1, 2, 6])
def test_each_reply_knows_what_it_needs_once(
    memory: Memory, session: SQLiteSession, turns: int
) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    sent = _sent(memory, session, *["Book a table."] * turns)
    assert sum("Allergic to peanuts." in words for words in sent) == 1
    assert sent[-1] == "Book a table."


def test_what_was_erased_is_not_sent_again(memory: Memory, session: SQLiteSession) -> None:
    priya = memory.contact("crm", "priya")
    noted = priya.note("Allergic to peanuts.")
    _sent(memory, session, "Book a table.")
    priya.forget(fact_id=noted.fact_id, by="contact", reason="She asked.")
    assert "peanuts" not in str(_sent(memory, session, "For two."))
    assert "peanuts" not in str(asyncio.run(session.get_items()))
