"""LangGraph: tools and context that take their contact from the run, with the real library."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from reconciler import Memory
from reconciler.errors import InvalidScopeError
from reconciler.integrations.langgraph import langgraph_context, langgraph_tools

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
PRIYA = ("crm", "priya")


@pytest.fixture
def graph(memory: Memory) -> Any:
    return _graph_of(langgraph_tools(memory))


def _graph_of(tools: list[BaseTool]) -> Any:
    """A graph of one node, which carries out what the last message calls."""
    built = StateGraph(MessagesState)
    built.add_node("tools", ToolNode(tools))
    built.add_edge(START, "tools")
    built.add_edge("tools", END)
    return built.compile()


def _calling(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"name": name, "args": arguments, "id": "call-1", "type": "tool_call"}
    return {"messages": [AIMessage(content="", tool_calls=[call])]}  # type: ignore[list-item]


def _run(graph: Any, name: str, arguments: dict[str, Any], **configurable: Any) -> ToolMessage:
    config = {"configurable": configurable}
    message = graph.invoke(_calling(name, arguments), config)["messages"][-1]
    assert isinstance(message, ToolMessage)
    return message


def test_a_run_writes_about_the_contact_that_it_names(graph: Any, memory: Memory) -> None:
    run = {"agent_id": "crm", "contact_id": "priya", "thread_id": "chat-1"}
    assert _run(graph, ADD, LIVES, **run).content.startswith("Remembered as a new fact.")
    assert "Lives in Pune." in _run(graph, RECALL, {}, **run).content
    other = run | {"contact_id": "tom"}
    assert "\nNothing is known.\n" in _run(graph, RECALL, {}, **other).content
    [evidence] = memory.contact("crm", "priya").evidence_about("Pune")
    assert [turn.session_id for turn in evidence.turns] == ["chat-1"]


def test_a_run_is_carried_out_asynchronously_as_well(graph: Any) -> None:
    config = {"configurable": {"agent_id": "crm", "contact_id": "priya"}}
    state = asyncio.run(graph.ainvoke(_calling(ADD, LIVES), config))
    assert state["messages"][-1].content.startswith("Remembered as a new fact.")


@pytest.mark.parametrize(
    "configurable",
    [{}, {"agent_id": "crm"}, {"contact_id": "priya"}, {"agent_id": "crm", "contact_id": ""},
     {"agent_id": "crm", "contact_id": 7}],
)  # fmt: skip
def test_a_run_that_names_no_contact_fails_and_says_what_to_give(
    graph: Any, memory: Memory, configurable: dict[str, Any]
) -> None:
    with pytest.raises(InvalidScopeError, match="configurable"):
        _run(graph, ADD, LIVES, **configurable)
    assert memory.agent("crm").contacts() == []


@pytest.mark.parametrize(
    "named",
    ["contact_id", "agent_id", "thread_id", "session_id", "tenant", "config", "runs", "self"],
)
def test_no_argument_of_a_models_chooses_whose_memory_it_is(
    graph: Any, memory: Memory, named: str
) -> None:
    run = {"agent_id": "crm", "contact_id": "priya"}
    _run(graph, ADD, LIVES | {named: "tom"}, **run)
    _run(
        graph,
        ADD,
        LIVES | {named: {"configurable": {"agent_id": "crm", "contact_id": "tom"}}},
        **run,
    )
    assert {each.contact_id for each in memory.agent("crm").contacts()} <= {"priya"}


def test_a_models_mistake_is_a_message_that_says_so(graph: Any) -> None:
    message = _run(graph, ADD, {"text": "x"}, agent_id="crm", contact_id="priya")
    assert message.status == "error"
    assert "Nothing was remembered." in message.content


def test_a_run_names_the_colleague_and_the_builder_the_systems_that_are_believed(
    memory: Memory,
) -> None:
    tools = langgraph_tools(memory, trusted_tools=("erp",), with_colleague=True)
    graph = _graph_of(tools)

    def noted(source_kind: str, text: str, **named: str) -> str:
        said = {"text": text, "source_kind": source_kind}
        run = {"agent_id": "crm", "contact_id": "priya", "thread_id": "chat-1", **named}
        return str(_run(graph, "add_contact_note", said, **run).content)

    assert "Remembered" in noted("erp", "Three invoices are unpaid.")
    assert "Remembered" in noted("colleague", "Wants a monthly invoice.", colleague="dana")
    assert "colleague is not one of contact" in noted("colleague", "Wants two chairs.")


def _answering(said: dict[str, dict[str, Any]]) -> Any:
    """A node that answers as a model would, with new ids of its messages and counted ids of calls.

    It asks for a note of what the last message says, and is done when that was answered.
    """

    def answer(state: dict[str, Any]) -> dict[str, Any]:
        last = state["messages"][-1]
        if isinstance(last, ToolMessage):
            return {"messages": [AIMessage(content="Noted.")]}
        call = {"name": ADD, "args": said[last.content], "id": "call_0", "type": "tool_call"}
        return {"messages": [AIMessage(content="", tool_calls=[call])]}  # type: ignore[list-item]

    return answer


@pytest.fixture
def thread(memory: Memory) -> Any:
    """A graph that keeps its checkpoints, and notes the city of each speaker."""
    said = {
        city: {"text": f"Lives in {city}.", "source_kind": "contact"}
        | {"attribute": "city", "value": city}
        for city in ("Pune", "Goa")
    }
    built = StateGraph(MessagesState)
    built.add_node("model", _answering(said))
    built.add_node("tools", ToolNode(langgraph_tools(memory)))
    built.add_edge(START, "model")
    built.add_conditional_edges("model", tools_condition)
    built.add_edge("tools", "model")
    return built.compile(checkpointer=InMemorySaver())


IN_THREAD = {"configurable": {"agent_id": "crm", "contact_id": "priya", "thread_id": "chat-1"}}


def _say(thread: Any, *cities: str) -> None:
    for city in cities:
        thread.invoke({"messages": [HumanMessage(city)]}, IN_THREAD)


def _city(memory: Memory) -> list[str]:
    return [str(value.value) for value in memory.contact(*PRIYA).value("city")]


def test_a_graph_that_is_replayed_from_any_checkpoint_turns_no_time_back(
    thread: Any, memory: Memory
) -> None:
    _say(thread, "Pune", "Goa")
    noted = len(memory.contact(*PRIYA).decisions())
    for snapshot in list(thread.get_state_history(IN_THREAD)):
        configurable = snapshot.config["configurable"] | IN_THREAD["configurable"]
        if snapshot.next and "__start__" not in snapshot.next:
            thread.invoke(None, {"configurable": configurable})
    assert _city(memory) == ["Goa"]
    assert len(memory.contact(*PRIYA).decisions()) == noted


def test_a_value_that_is_said_again_later_in_a_thread_is_news(thread: Any, memory: Memory) -> None:
    _say(thread, "Pune", "Goa", "Pune")
    assert _city(memory) == ["Pune"]


def test_a_replayed_call_is_answered_as_what_it_is(thread: Any) -> None:
    _say(thread, "Pune")
    [before] = [each for each in thread.get_state_history(IN_THREAD) if each.next == ("tools",)]
    configurable = before.config["configurable"] | IN_THREAD["configurable"]
    again = thread.invoke(None, {"configurable": configurable})["messages"][-2]
    assert again.content.startswith("This call was made before, and nothing is written again.")


def test_the_config_of_a_snapshot_lacks_the_contact_and_says_so(thread: Any) -> None:
    """LangGraph 1.2.24 keeps only its own keys; a replay gives agent and contact again."""
    _say(thread, "Pune")
    [before] = [each for each in thread.get_state_history(IN_THREAD) if each.next == ("tools",)]
    with pytest.raises(InvalidScopeError, match="agent_id"):
        thread.invoke(None, before.config)


def _talk(memory: Memory, saver: InMemorySaver, *heard: str) -> list[str]:
    """The words of a thread after some turns; the graph is made again for each of them."""
    run = {"agent_id": "crm", "contact_id": "priya", "thread_id": "chat-1"}
    ended: dict[str, Any] = {}
    for words in heard:
        built = StateGraph(MessagesState)
        built.add_node("context", langgraph_context(memory))
        built.add_node("model", lambda _: {"messages": [AIMessage("Goodbye.")]})
        built.add_edge(START, "context")
        built.add_edge("context", "model")
        graph = built.compile(checkpointer=saver)
        ended = graph.invoke({"messages": [HumanMessage(words)]}, {"configurable": run})
    return [message.text for message in ended["messages"]]


def test_each_reply_knows_what_it_needs_once_in_a_thread(memory: Memory) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    told = _talk(memory, InMemorySaver(), "Hello!", "Book a table.", "For two.")
    assert told[0] == "Hello!"
    assert "Allergic to peanuts." in told[1]
    assert sum("Allergic to peanuts." in words for words in told) == 1


def test_a_limit_that_is_noted_later_is_told_in_the_next_turn(memory: Memory) -> None:
    saver, priya = InMemorySaver(), memory.contact("crm", "priya")
    priya.note("Allergic to peanuts.")
    _talk(memory, saver, "Hello!")
    priya.note("Allergic to sesame.")
    told = _talk(memory, saver, "Book a table.")
    assert "Allergic to sesame." in told[-2]
    assert "Allergic to peanuts." not in told[-2]


def test_a_context_without_a_contact_is_refused(memory: Memory) -> None:
    built = StateGraph(MessagesState)
    built.add_node("context", langgraph_context(memory))
    built.add_edge(START, "context")
    with pytest.raises(InvalidScopeError, match="names no agent_id"):
        built.compile().invoke({"messages": [HumanMessage("Hello!")]})


def test_a_node_that_runs_again_in_a_turn_tells_nothing_again(memory: Memory) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    node = langgraph_context(memory)
    run: Any = {"configurable": {"agent_id": "crm", "contact_id": "priya"}}
    heard = [HumanMessage("Hello!")]
    [told] = node({"messages": heard}, run)["messages"]
    assert node({"messages": [*heard, told, AIMessage("")]}, run) == {"messages": []}
