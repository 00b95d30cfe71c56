"""LangGraph: tools that take their contact from the run, and the store, with the real library."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, Item, PutOp

from reconciler import Decision, Memory
from reconciler.errors import InvalidRequestError, InvalidScopeError
from reconciler.integrations.langgraph import (
    ReconcilerStore,
    contact_namespace,
    langgraph_context,
    langgraph_tools,
)
from reconciler.testing import HashingEmbedder

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
PRIYA = ("crm", "priya")
CITY = {"text": "Lives in Pune.", "attribute": "city", "value": "Pune"}
HOLDS_ITSELF: dict[str, Any] = {}
HOLDS_ITSELF["text"] = HOLDS_ITSELF
MOVED = {"text": "Lives in Goa.", "attribute": "city", "value": "Goa"}


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


@pytest.fixture
def decided() -> list[Decision]:
    return []


@pytest.fixture
def store(memory: Memory, decided: list[Decision]) -> ReconcilerStore:
    return ReconcilerStore(memory, source_kind="user_explicit", on_decision=decided.append)


def test_what_is_put_is_got_by_its_key_and_by_the_facts_id(store: BaseStore) -> None:
    store.put(PRIYA, "home", CITY)
    item = store.get(PRIYA, "home")
    assert item is not None
    assert item.value | CITY == item.value
    assert (item.namespace, item.key) == (PRIYA, "home")
    [found] = store.search(PRIYA)
    assert store.get(PRIYA, found.key).value == item.value  # type: ignore[union-attr]


def test_what_was_put_by_one_store_is_got_by_another(store: BaseStore, memory: Memory) -> None:
    store.put(PRIYA, "home", CITY)
    assert ReconcilerStore(memory, source_kind="operator").get(PRIYA, "home") is not None


def test_what_was_never_put_is_none(store: BaseStore) -> None:
    assert store.get(PRIYA, "home") is None
    store.put(PRIYA, "home", CITY)
    assert store.get(PRIYA, "work") is None
    assert store.get(("crm", "tom"), "home") is None


@pytest.mark.parametrize("key", ["home", "new home"])
def test_a_new_value_takes_the_place_of_the_old_one_under_either_key(
    store: BaseStore, key: str
) -> None:
    store.put(PRIYA, "home", CITY)
    store.put(PRIYA, key, MOVED)
    for each in ("home", key):
        item = store.get(PRIYA, each)
        assert item is not None
        assert item.value["value"] == "Goa"
    assert [each.value["value"] for each in store.search(PRIYA)] == ["Goa"]


def test_the_same_value_under_the_same_key_is_written_once(
    store: BaseStore, decided: list[Decision]
) -> None:
    store.put(PRIYA, "home", CITY)
    store.put(PRIYA, "home", CITY)
    assert decided[0].decision_id == decided[1].decision_id


def test_a_value_that_comes_back_holds_again_and_a_retry_is_no_occasion(
    store: BaseStore, memory: Memory, decided: list[Decision]
) -> None:
    for plan in ("Basic", "Premium", "Basic", "Basic", "Premium", "Premium"):
        said = {"text": f"Is on the {plan} plan.", "attribute": "plan", "value": plan}
        store.put(PRIYA, "plan", said)
        assert [each.value["value"] for each in store.search(PRIYA)] == [plan]
    assert [each.replayed for each in decided] == [False, False, False, True, False, True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lives at 12 High Street, Leeds.", "Lives at 7 Low Road, York."),
        ("Pays with card 4111 1111 1111 1111.", "Pays with card 5500 0000 0000 0004."),
        ("Writes from ann@example.org.", "Writes from bob@example.org."),
    ],
)
def test_a_value_that_the_gate_redacts_is_written_once_until_another_comes(
    store: BaseStore, memory: Memory, decided: list[Decision], one: str, other: str
) -> None:
    for text in (one, one, one, other, other, one, one):
        store.put(PRIYA, "reach", {"text": text})
    assert [each.replayed for each in decided] == [
        *(False, True, True),
        *(False, True),
        *(False, True),
    ]
    assert store.get(PRIYA, "reach").value["text"] == decided[-1].text  # type: ignore[union-attr]


def test_a_value_that_was_held_and_confirmed_is_not_written_at_each_retry(
    store: BaseStore, memory: Memory, decided: list[Decision]
) -> None:
    guess = {"text": "I guess I prefer window seats"}
    store.put(PRIYA, "seat", guess)
    memory.contact(*PRIYA).confirm(decided[0].decision_id, "contact")
    facts = len(memory.contact(*PRIYA).history()[0].facts)
    for _ in range(3):
        store.put(PRIYA, "seat", guess)
    assert len(memory.contact(*PRIYA).history()[0].facts) == facts


def test_nothing_that_is_kept_is_a_plain_hash_of_what_was_put(tmp_path: Path) -> None:
    kept = []
    for name in ("one", "other"):
        given = {"graph": "embedded", "embedded_path": tmp_path / name / "m.lbug"}
        with Memory.open(embedder=HashingEmbedder(), **given) as opened:
            ReconcilerStore(opened, source_kind="user_explicit").put(PRIYA, "home", CITY)
            kept += [each.note.idempotency_key for each in opened.contact(*PRIYA).decisions()]
    assert len(set(kept)) == 2


def test_what_the_gate_holds_is_no_item_and_the_builder_is_told(
    store: BaseStore, decided: list[Decision]
) -> None:
    store.put(PRIYA, "seat", {"text": "I guess I prefer window seats"})
    assert store.get(PRIYA, "seat") is None
    assert [each.action for each in decided] == ["HOLD"]


def test_what_was_said_is_found_by_meaning_with_its_score(store: BaseStore) -> None:
    store.put(PRIYA, "home", CITY)
    store.put(PRIYA, "pet", {"text": "Owns a grey cat."})
    found = store.search(PRIYA, query="Does she own a cat?", limit=1)
    assert [each.value["text"] for each in found] == ["Owns a grey cat."]
    assert found[0].score is not None


def test_a_search_is_filtered_and_turned_page_by_page(store: BaseStore) -> None:
    store.put(PRIYA, "home", CITY)
    for number in range(4):
        store.put(PRIYA, f"bicycle-{number}", {"text": f"Owns bicycle number {number}."})
    assert [each.value["value"] for each in store.search(PRIYA, filter={"attribute": "city"})] == [
        "Pune"
    ]
    pages = [store.search(PRIYA, limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert len({each.key for page in pages for each in page}) == 5


def test_what_always_holds_comes_with_the_first_page_alone(store: BaseStore) -> None:
    store.put(PRIYA, "ban", {"text": "Never call me before noon."})
    for number in range(3):
        store.put(PRIYA, f"bicycle-{number}", {"text": f"Owns bicycle number {number}."})
    first, second = (store.search(PRIYA, limit=1, offset=offset) for offset in (0, 1))
    assert [bool(each.value.get("is_standing")) for each in first] == [False, True]
    assert not any(each.value.get("is_standing") for each in second)


def test_nothing_is_deleted_by_an_agent(store: BaseStore) -> None:
    store.put(PRIYA, "home", CITY)
    with pytest.raises(InvalidRequestError, match="no agent may end a fact"):
        store.delete(PRIYA, "home")
    assert store.get(PRIYA, "home") is not None


def test_a_contact_whose_id_has_dots_is_the_same_contact(store: BaseStore, memory: Memory) -> None:
    store.put(contact_namespace("crm", "a.b%@example.org"), "home", CITY)
    assert [each.contact_id for each in memory.agent("crm").contacts()] == ["a.b%@example.org"]
    assert store.get(contact_namespace("crm", "a.b%@example.org"), "home") is not None


def test_the_store_does_not_cross_tenants(store: BaseStore, memory: Memory) -> None:
    theirs = ReconcilerStore(memory, source_kind="user_explicit", tenant="acme")
    theirs.put(PRIYA, "home", CITY)
    assert store.get(PRIYA, "home") is None
    assert store.search(PRIYA) == []


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (lambda store: store.put(("crm",), "k", CITY), "labels"),
        (lambda store: store.put(("crm", "priya", "x"), "k", CITY), "labels"),
        (lambda store: store.search(()), "labels"),
        (lambda store: store.search(("crm",)), "labels"),
        (lambda store: store.put(PRIYA, "k", {"data": 1}), "takes no data"),
        (lambda store: store.put(PRIYA, "k", {}), "text"),
        (lambda store: store.put(PRIYA, "", CITY), "tag"),
        (lambda store: store.put(PRIYA, "k", HOLDS_ITSELF), "contains itself"),
        (lambda store: store.batch([PutOp((1, 2), "k", CITY)]), "strings"),
        (lambda store: store.batch([GetOp(None, "k")]), "strings"),
        (lambda store: store.batch([5]), "no operation int"),
        (lambda store: store.search(PRIYA, limit="5"), "limit"),
        (lambda store: store.search(PRIYA, offset=None), "offset"),
        (lambda store: store.search(PRIYA, filter={"age": 3}), "age"),
        (lambda store: store.search(PRIYA, filter={"topic": {"$gt": "a"}}), "topic"),
        (lambda store: store.list_namespaces(prefix=("crm",)), "contacts"),
    ],
)
def test_what_the_store_cannot_do_is_refused_in_words_and_writes_nothing(
    store: BaseStore, memory: Memory, operation: Any, told: str
) -> None:
    with pytest.raises(InvalidRequestError, match=told):
        operation(store)
    assert memory.agent("crm").contacts() == []


def test_langgraphs_own_checks_of_namespaces_hold(store: BaseStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(("crm", "a.b"), "home", CITY)


def test_a_graph_uses_the_store_as_its_own(store: ReconcilerStore) -> None:
    async def remember(_: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        await store.aput(PRIYA, "home", CITY)
        item = await store.aget(PRIYA, "home")
        assert isinstance(item, Item)
        return {"messages": [AIMessage(content=item.value["text"])]}

    built = StateGraph(MessagesState)
    built.add_node("remember", remember)
    built.add_edge(START, "remember")
    graph = built.compile(store=store)

    state = asyncio.run(graph.ainvoke({"messages": []}))
    assert state["messages"][-1].content == "Lives in Pune."


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
    with pytest.raises(InvalidScopeError, match="has no agent_id"):
        built.compile().invoke({"messages": [HumanMessage("Hello!")]})


def test_a_node_that_runs_again_in_a_turn_tells_nothing_again(memory: Memory) -> None:
    memory.contact("crm", "priya").note("Allergic to peanuts.")
    node = langgraph_context(memory)
    run: Any = {"configurable": {"agent_id": "crm", "contact_id": "priya"}}
    heard = [HumanMessage("Hello!")]
    [told] = node({"messages": heard}, run)["messages"]
    assert node({"messages": [*heard, told, AIMessage("")]}, run) == {"messages": []}
