"""What MCP clients send: made-up calls at the desk, and bent bodies over HTTP."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import strategies as st

from reconciler.domain.records.facts import handle_of
from reconciler.serve.access.grants import Grant
from reconciler.serve.mcp_server.desk import Desk
from tests.fuzz.bench import Bench
from tests.fuzz.bending import bent, bent_bytes
from tests.fuzz.texts import JSON_VALUES, TEXTS, sometimes
from tests.fuzz.trying import each_number, each_of, within_the_time
from tests.mcp_server import HttpServer, granted, serving

pytestmark = pytest.mark.faults

GRANTS = (
    granted("agent", contact_id="priya"),
    granted("agent", "crm", "sales"),
)
NAMES = ("add_contact_note", "recall_contact", "hand_over_session", "relate_contact_note")
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": sometimes(st.sampled_from(("user", "assistant")), JSON_VALUES), "content": TEXTS}
    ),
    max_size=3,
)


@st.composite
def calls(draw: st.DrawFn, bench: Bench) -> tuple[Grant, str, dict[str, Any]]:
    """A grant, a tool that it may have, and what a client sends."""
    grant = draw(st.sampled_from(GRANTS))
    name = draw(st.sampled_from(NAMES))
    handles = st.sampled_from([handle_of(each) for each in bench.ids["fact_id"]])
    usual: dict[str, Any] = {
        "agent_id": st.sampled_from(("crm", "sales", "other")),
        "contact_id": st.sampled_from(("priya", "bob", "nobody")),
        "text": TEXTS,
        "query": TEXTS,
        "about": TEXTS,
        "source_kind": st.sampled_from(("user_explicit", "tool_output", "model_guess")),
        "messages": MESSAGES,
        **dict.fromkeys(("note", "repeats"), handles),
        **dict.fromkeys(("replaces", "ends", "both_hold"), st.lists(handles, max_size=2)),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(usual)), max_size=5, unique=True))
    given = {each: draw(sometimes(usual[each], JSON_VALUES)) for each in chosen}
    return grant, name, given


def asked(call: tuple[Grant, str, dict[str, Any]], bench: Bench) -> None:
    def ask(memory: Any) -> None:
        reply = Desk(memory).call(*call)
        assert reply.text.strip()

    bench.attempt("calls of MCP tools", ask)


def test_a_tools_call_is_answered_in_words(bench: Bench) -> None:
    each_of(10, "MCP tools", calls(bench), lambda call: asked(call, bench))


# Over HTTP

BODIES: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {
            "name": "add_contact_note",
            "arguments": {
                "contact_id": "priya",
                "text": "Lives in Pune.",
                "source_kind": "user_explicit",
            },
        },
    },
    {
        "jsonrpc": "2.0",
        "id": "3",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    },
    {
        "jsonrpc": "2.0",
        "id": 4,
        "method": "resources/read",
        "params": {"uri": "memory://contacts/crm/priya/profile"},
    },
    {"jsonrpc": "2.0", "id": 5, "method": "prompts/get", "params": {"name": "x", "arguments": {}}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "id": 6, "method": "ping"},
)


@pytest.fixture(scope="module")
def server(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with serving(
        bench.memory, tmp_path_factory.mktemp("served"), calls_per_minute=10**6
    ) as running:
        yield running


def posted(seed: int, client: httpx2.Client) -> None:
    chance = random.Random(seed)
    body = bent(chance.choice(BODIES), chance)
    data = json.dumps(body).encode("utf-8", "surrogatepass")
    data = bent_bytes(data, chance) if chance.random() < 0.2 else data
    version = chance.choice((None, "2025-06-18", "2024-11-05", "x"))
    headers = {} if version is None else {"Mcp-Protocol-Version": version}
    with within_the_time("MCP bodies"):
        answer = client.post("", content=data, headers=headers)
    assert answer.status_code < 500 or answer.json()["error"]["code"] == -32603
    assert "Traceback" not in answer.text
    assert "internal error" not in answer.text, answer.text


def test_a_body_over_http_is_answered(server: HttpServer) -> None:
    headers = {
        "Authorization": f"Bearer {server.token(granted())}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    with httpx2.Client(base_url=server.url, headers=headers, timeout=30) as client:
        each_number(5, "bodies", lambda seed: posted(seed, client))


HEADERS = st.dictionaries(
    st.sampled_from(
        ("Authorization", "Accept", "Content-Type", "Origin", "Host", "Mcp-Session-Id", "Cookie")
    ),
    st.one_of(
        st.sampled_from(("", "Bearer", "Bearer x", "Bearer " + "x" * 5000, "*/*", "text/plain")),
        st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=20),
    ),
    max_size=3,
)


def knocked(headers: dict[str, str], client: httpx2.Client) -> None:
    sent = {name: value.strip().encode("latin-1") for name, value in headers.items()}
    with within_the_time("MCP headers"):
        answer = client.post("", json=BODIES[0], headers=sent)
    assert answer.status_code < 500, answer.text
    assert "tools" not in answer.text, "let in without a token"


def test_nobody_comes_in_by_made_up_headers(server: HttpServer) -> None:
    with httpx2.Client(base_url=server.url, timeout=30) as client:
        each_of(3, "headers", HEADERS, lambda headers: knocked(headers, client))
