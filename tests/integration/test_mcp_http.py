"""The MCP server over HTTP, by the official client: who is let in, to what, and how often."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from reconciler import Memory
from reconciler.serve.access.http_door import Address, is_loopback
from reconciler.serve.access.tokens import TokenFile
from reconciler.service.tools.agent_tools import AgentTools
from reconciler.testing import HashingEmbedder
from tests.command_line import environment_of
from tests.engines import EngineUnderTest, embedded_engine
from tests.mcp_server import HttpServer, called, granted, serving
from tests.tables import every

LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
ADD, RECALL = "add_contact_note", "recall_contact"
PRIYA = {"contact_id": "priya"}
NUTS, HELLO = "Please remember that I am allergic to nuts.", "Hello again!"
AGENT_TOOLS = {ADD, "relate_contact_note", RECALL, "hand_over_session"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as opened:
        yield opened


@pytest.fixture
def server(memory: Memory, tmp_path: Path) -> Iterator[HttpServer]:
    with serving(memory, tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, HttpServer]]:
    """One server for those who write nothing: it takes a fifth of a second to stop one."""
    folder = tmp_path_factory.mktemp("untouched")
    arguments = embedded_engine(folder).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
        with serving(memory, folder) as running:
            yield memory, running
        assert memory.agent("crm").decisions() == memory.jobs() == []


async def _tools(client: Client) -> list[Any]:
    return (await client.list_tools()).tools


def test_a_note_that_one_client_adds_is_what_another_recalls(server: HttpServer) -> None:
    one, other = server.token(granted()), server.token(granted())
    assert server.asked(one, called(ADD, LIVES | PRIYA))[0].startswith("Remembered as a new fact.")
    text, is_error = server.asked(other, called(RECALL, PRIYA))
    assert "Lives in Pune." in text
    assert not is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_has_the_same_tools_in_every_version_of_the_protocol(
    untouched: tuple[Memory, HttpServer], mode: str
) -> None:
    _, server = untouched
    found = server.asked(server.token(granted()), _tools, mode=mode)
    assert {each.name for each in found} == AGENT_TOOLS


def test_an_operators_token_is_told_where_a_person_asks(
    untouched: tuple[Memory, HttpServer],
) -> None:
    _, server = untouched
    with pytest.raises(MCPError, match="opens the page and the HTTP API"):
        server.asked(server.token(granted("operator")), _tools)


@every("profile", ["reviewer", "auditor"])
def test_a_token_that_may_not_write_is_refused(
    untouched: tuple[Memory, HttpServer], profile: str
) -> None:
    _, server = untouched
    answer = server.post(Authorization=f"Bearer {server.token(granted(profile))}")
    assert answer.status_code == 403
    assert f"profile {profile}" in answer.json()["detail"]


@every("bound", [{}, {"contact_id": "priya"}])
@every("agents", [("crm",), ("crm", "sales")])
def test_what_the_schemas_require_is_what_the_grant_leaves_open(
    untouched: tuple[Memory, HttpServer],
    bound: dict[str, str],
    agents: tuple[str, ...],
) -> None:
    _, server = untouched
    for tool in server.asked(server.token(granted("agent", *agents, **bound)), _tools):
        schema = tool.input_schema
        jsonschema.Draft202012Validator.check_schema(schema)
        assert set(schema["required"]) <= schema["properties"].keys()
        assert ("contact_id" in schema["properties"]) is not bool(bound)
        assert ("agent_id" in schema["properties"]) is (len(agents) > 1)


def test_no_grant_gives_a_model_the_choice_of_tenant_or_name(
    untouched: tuple[Memory, HttpServer],
) -> None:
    _, server = untouched
    for tool in server.asked(server.token(granted("agent", "crm", "sales")), _tools):
        taken = tool.input_schema["properties"].keys()
        assert not taken & {"tenant", "name", "proposed_by", "by", "operator"}


@every("header", [None, "Basic abc", "Bearer", "Bearer rcl_wrong", "rcl_"])
def test_without_a_good_token_nothing_is_told(
    untouched: tuple[Memory, HttpServer], header: str | None
) -> None:
    _, server = untouched
    server.token(granted())
    given = {} if header is None else {"Authorization": header}
    answer = server.post(**given)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "tools" not in answer.text


def test_the_official_client_does_not_connect_with_a_wrong_token(
    untouched: tuple[Memory, HttpServer],
) -> None:
    _, server = untouched
    with pytest.raises((MCPError, ExceptionGroup, httpx2.HTTPError)) as caught:
        server.asked("rcl_wrong", _tools)
    assert "Lives" not in repr(caught.value)


def test_two_tokens_in_one_request_are_none(untouched: tuple[Memory, HttpServer]) -> None:
    _, server = untouched
    good = ("Authorization", f"Bearer {server.token(granted())}")
    answer = httpx2.post(server.url, headers=[good, good], json={})
    assert answer.status_code == 401


def test_a_revoked_token_is_turned_away_in_the_middle_of_a_conversation(server: HttpServer) -> None:
    made, secret = server.tokens.create(granted())

    async def conversation() -> None:
        async with server.client(secret) as client:
            told, is_error = await called(RECALL, PRIYA)(client)
            assert ("\nNothing is known.\n" in told, is_error) == (True, False)
            server.tokens.revoke(made.token_id)
            with pytest.raises(MCPError):
                await called(RECALL, PRIYA)(client)

    anyio.run(conversation)
    assert server.post(Authorization=f"Bearer {secret}").status_code == 401


def test_an_expired_token_is_turned_away(server: HttpServer) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.5)
    secret = server.token(granted(), expires_at=soon)
    anyio.run(anyio.sleep, 0.6)
    assert server.post(Authorization=f"Bearer {secret}").status_code == 401


def test_another_tenants_token_finds_nothing_of_the_same_agent_and_contact(
    server: HttpServer, memory: Memory
) -> None:
    memory.add_contact_note("crm", "priya", "Lives in Pune.", tenant="acme")
    theirs = server.token(granted(tenant="globex"))
    assert "\nNothing is known.\n" in server.asked(theirs, called(RECALL, PRIYA))[0]
    own = server.token(granted(tenant="acme"))
    assert "Pune" in server.asked(own, called(RECALL, PRIYA))[0]


def test_another_agent_is_refused_in_the_words_of_one_that_there_is_none_of(
    server: HttpServer, memory: Memory
) -> None:
    memory.add_contact_note("sales", "priya", "Lives in Pune.")
    token = server.token(granted("agent", "crm", "support"))
    there = server.asked(token, called(RECALL, PRIYA | {"agent_id": "sales"}))
    nowhere = server.asked(token, called(RECALL, PRIYA | {"agent_id": "nobody"}))
    assert there == nowhere
    assert there[1]


def test_a_token_for_one_contact_reaches_no_other(server: HttpServer, memory: Memory) -> None:
    memory.add_contact_note("crm", "tom", "Lives in Rome.")
    token = server.token(granted(contact_id="priya"))
    text, is_error = server.asked(token, called(RECALL, {"contact_id": "tom"}))
    assert is_error
    assert "Rome" not in text


def _held(memory: Memory, contact_id: str = "priya", tenant: str | None = None) -> str:
    decision = memory.add_contact_note(
        "crm", contact_id, "I guess I prefer window seats", importance=0.8, tenant=tenant
    )
    assert decision.action == "HOLD"
    return decision.decision_id


@every("tool", ["confirm", "reject", "pending", "explain"])
def test_an_agents_token_has_no_tool_that_approves_or_tells_of_it(
    server: HttpServer, memory: Memory, tool: str
) -> None:
    given = PRIYA | {"decision_id": _held(memory), "answered_by": "contact"}
    with pytest.raises(MCPError, match="there is no"):
        server.asked(server.token(granted()), called(tool, given))
    assert len(memory.contact("crm", "priya").pending()) == 1


def test_two_clients_at_once_lose_nothing_and_repeat_nothing(
    server: HttpServer, memory: Memory
) -> None:
    first, second = server.token(granted()), server.token(granted())

    async def both() -> None:
        async with (
            server.client(first) as one,
            server.client(second) as other,
            anyio.create_task_group() as tasks,
        ):
            for number in range(12):
                note = LIVES | PRIYA | {"text": f"Owns bicycle number {number}."}
                tasks.start_soon(called(ADD, note), (one, other)[number % 2])

    anyio.run(both)
    texts = {each.fact.text for each in memory.contact("crm", "priya").recall(limit=50)}
    assert texts == {f"Owns bicycle number {number}." for number in range(12)}


@pytest.mark.parametrize("length", [2_001, 100_000])
def test_a_text_that_is_too_long_is_refused_in_words(
    untouched: tuple[Memory, HttpServer], length: int
) -> None:
    memory, server = untouched
    note = LIVES | PRIYA | {"text": "a " * (length // 2) + "b"}
    text, is_error = server.asked(server.token(granted()), called(ADD, note))
    assert is_error
    assert "2,000" in text
    assert memory.contact("crm", "priya").recall() == []


def test_a_request_that_is_too_large_is_refused_unread(
    untouched: tuple[Memory, HttpServer],
) -> None:
    _, server = untouched
    token = f"Bearer {server.token(granted())}"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y" * 5_000_000}}
    assert server.post(body, Authorization=token).status_code == 413


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "127.0.0.1.evil.example:80", 421),
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost:3000", 200),
    ],
)
def test_a_web_page_by_another_name_is_refused(
    untouched: tuple[Memory, HttpServer], header: str, value: str, status: int
) -> None:
    _, server = untouched
    token = f"Bearer {server.token(granted())}"
    given = {"Authorization": token, header: value, "MCP_Protocol_Version": "2025-06-18"}
    assert server.post(**given).status_code == status


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", '"x"', "{}", '{"jsonrpc": "2.0", "id": 1}', "[" * 5_000]
)
def test_what_is_no_request_of_the_protocols_is_refused_without_a_trace(
    untouched: tuple[Memory, HttpServer], body: str
) -> None:
    _, server = untouched
    headers = {
        "Authorization": f"Bearer {server.token(granted())}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    answer = httpx2.post(server.url, content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


@every("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_nothing_but_post_is_served(untouched: tuple[Memory, HttpServer], method: str) -> None:
    _, server = untouched
    token = server.token(granted())
    answer = httpx2.request(method, server.url, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


def test_a_token_that_comes_too_often_is_told_when_to_come_again(
    memory: Memory, tmp_path: Path
) -> None:
    with serving(memory, tmp_path, calls_per_minute=3) as server:
        busy, quiet = server.token(granted()), server.token(granted())
        answers = [server.post(Authorization=f"Bearer {busy}") for _ in range(5)]
        assert [each.status_code == 429 for each in answers] == [False] * 3 + [True] * 2
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
        assert server.post(Authorization=f"Bearer {quiet}").status_code != 429


def test_wrong_tokens_are_slowed_down_and_a_good_one_still_let_in(server: HttpServer) -> None:
    statuses = [server.post(Authorization=f"Bearer wrong{n}").status_code for n in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    assert "Pune" not in server.asked(server.token(granted()), called(RECALL, PRIYA))[0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "messages"),
        ({"messages": []}, "1 to 1,000"),
        ({"messages": [{"role": "operator", "content": "Hi"}]}, "role"),
        ({"messages": [{"role": "system", "content": "Hi"}]}, "role"),
        ({"messages": [{"role": "user"}]}, "content"),
        ({"messages": ["Hi"]}, "role and content"),
        ({"messages": [{"role": "user", "content": 1}]}, "string"),
        ({"messages": [{"role": "user", "content": "Hi", "id": "x"}]}, "else"),
        ({"messages": [{"role": "user", "content": "Hi"}], "session_id": "s"}, "only"),
        ({"messages": [{"role": "user", "content": "Hi"}], "tenant": "acme"}, "only"),
    ],
)
def test_a_conversation_that_cannot_be_taken_is_refused_in_words(
    untouched: tuple[Memory, HttpServer], given: dict[str, Any], told: str
) -> None:
    memory, server = untouched
    text, is_error = server.asked(
        server.token(granted()), called("hand_over_session", given | PRIYA)
    )
    assert is_error
    assert told in text
    assert memory.jobs() == []


def test_a_conversation_that_is_handed_over_is_read_and_remembered(
    server: HttpServer, memory: Memory
) -> None:
    handed_over(server, NUTS)
    memory.drain()
    assert ["nuts" in each.fact.text for each in memory.contact("crm", "priya").recall()] == [True]


def test_a_conversation_that_is_handed_over_twice_is_kept_once(
    server: HttpServer, memory: Memory
) -> None:
    handed_over(server, NUTS)
    handed_over(server, NUTS)
    handed_over(server, NUTS, HELLO)
    handed_over(server, NUTS, contact_id="tom")
    assert len(memory.jobs()) == 3
    assert len({(job.scope, job.session_id) for job in memory.jobs()}) == 2


def test_a_tokens_session_is_that_of_its_notes_and_of_what_is_handed_over(
    server: HttpServer, memory: Memory
) -> None:
    token = server.token(granted(session_id="chat-1"))
    assert not server.asked(token, called(ADD, LIVES | PRIYA))[1]
    handed_over(server, NUTS, token=token)
    handed_over(server, NUTS, HELLO, token=token)
    memory.drain()
    cited = {
        episode.session_id
        for ranked in memory.contact("crm", "priya").recall()
        for episode in memory.contact("crm", "priya").evidence(ranked.fact.fact_id).turns
    }
    assert cited == {"chat-1"}
    assert {job.session_id for job in memory.jobs()} == {"chat-1"}


def handed_over(
    server: HttpServer, *said: str, token: str | None = None, contact_id: str = "priya"
) -> None:
    """Hand over what a contact said, turn by turn."""
    given = {"messages": [{"role": "user", "content": text} for text in said]}
    call = called("hand_over_session", given | {"contact_id": contact_id})
    text, is_error = server.asked(token or server.token(granted()), call)
    assert not is_error, text


def test_what_nobody_foresaw_is_told_without_its_text(
    server: HttpServer, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("/home/secret/memory.lbug")

    monkeypatch.setattr(AgentTools, "call", fails)
    for mode in ("auto", "legacy"):
        with pytest.raises(MCPError) as caught:
            server.asked(server.token(granted()), called(RECALL, PRIYA), mode=mode)
        assert "secret" not in repr(caught.value)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.9.9.9", True),
     ("0.0.0.0", False), ("::", False), ("192.0.2.1", False), ("example.org", False)],
)  # fmt: skip
def test_only_loopback_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_listening_everywhere_lets_no_name_in_but_those_given() -> None:
    hosts = Address(host="0.0.0.0", port=1, names=("memory.example",)).hosts
    assert "memory.example" in hosts
    assert not {"0.0.0.0", "*"} & hosts


@pytest.mark.slow
def test_the_command_serves_until_it_is_told_to_stop_and_leaves_the_store_whole(
    kept_engine: EngineUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "tokens.json"
    environment = os.environ | environment_of(kept_engine) | {"RECONCILER_EMBEDDER__MODEL": "noop"}
    command = [sys.executable, "-m", "reconciler"]
    made = subprocess.run(
        [*command, "token", "create", "--agent", "crm", "--tokens", str(tokens), "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    served = [
        *("mcp", "--transport", "http", "--port", "0"),
        *("--tokens", str(tokens), "--json"),
    ]
    with subprocess.Popen(
        [*command, *served], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            server = HttpServer(url, TokenFile(tokens))
            token = json.loads(made.stdout)["token"]
            assert not server.asked(token, called(ADD, LIVES | PRIYA))[1]
            assert "Pune" in server.asked(token, called(RECALL, PRIYA))[0]
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with Memory.open() as memory:
        assert [each.fact.text for each in memory.contact("crm", "priya").recall()] == [
            "Lives in Pune."
        ]
