"""The tools for LangChain, with the real library and a scripted model."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from reconciler import Memory
from reconciler.integrations.langchain import langchain_tools

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}


@pytest.fixture
def tools(memory: Memory) -> dict[str, Any]:
    bound = memory.agent_tools("crm", "priya", session_id="chat-1")
    return {each.name: each for each in langchain_tools(bound)}


def _called(tool: Any, arguments: dict[str, Any]) -> ToolMessage:
    """What a model's call of a tool comes back as."""
    call = {"name": tool.name, "args": arguments, "id": "call-1", "type": "tool_call"}
    message = tool.invoke(call)
    assert isinstance(message, ToolMessage)
    return message


def test_what_one_tool_remembers_the_other_recalls(tools: dict[str, Any]) -> None:
    assert _called(tools[ADD], LIVES).content.startswith("Remembered as a new fact.")
    message = _called(tools[RECALL], {})
    assert "Lives in Pune." in message.content
    assert message.status == "success"
    assert message.tool_call_id == "call-1"


@pytest.mark.parametrize(
    ("call_id", "city"),
    [("toolu_01A09q90qw90lq917835lq9", "Goa"), ("call_0", "Pune"), ("0", "Pune")],
)
def test_a_call_of_the_same_id_is_the_same_call_unless_its_id_only_counts(
    memory: Memory, tools: dict[str, Any], call_id: str, city: str
) -> None:
    def note(city: str, call_id: str) -> None:
        value = {"attribute": "city", "value": city}
        told = {"text": f"Lives in {city}.", "source_kind": "contact", **value}
        tools[ADD].invoke({"name": ADD, "args": told, "id": call_id, "type": "tool_call"})

    note("Pune", call_id)
    note("Goa", "toolu_01B7Zq90qw90lq917835lqx")
    note("Pune", call_id)
    assert [str(each.value) for each in memory.contact("crm", "priya").value("city")] == [city]


def test_a_model_is_told_of_the_same_schema_as_by_the_tools_themselves(
    memory: Memory, tools: dict[str, Any]
) -> None:
    for told in memory.agent_tools("crm", "priya").definitions("openai"):
        made = convert_to_openai_tool(tools[told["function"]["name"]])["function"]
        jsonschema.Draft202012Validator.check_schema(made["parameters"])
        assert made["parameters"]["properties"] == told["function"]["parameters"]["properties"]
        assert made["parameters"]["required"] == told["function"]["parameters"]["required"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"text": "Lives in Pune."},
        LIVES | {"contact_id": "tom"},
        LIVES | {"tenant": "acme"},
        LIVES | {"self": 1},
        LIVES | {"config": {}},
        LIVES | {"run_manager": 1},
        LIVES | {"agent_tools": None},
        LIVES | {"text": "a" * 100_000},
    ],
)
def test_a_models_mistake_is_a_message_that_says_so(
    memory: Memory, tools: dict[str, Any], arguments: dict[str, Any]
) -> None:
    message = _called(tools[ADD], arguments)
    assert message.status == "error"
    assert "Nothing was remembered." in message.content
    assert memory.contact("crm", "priya").recall() == []


async def _asynchronously(tool: Any) -> Any:
    return await tool.ainvoke(LIVES)


def test_a_tool_is_called_asynchronously_as_well(tools: dict[str, Any]) -> None:
    import asyncio

    assert asyncio.run(_asynchronously(tools[ADD])).startswith("Remembered as a new fact.")
