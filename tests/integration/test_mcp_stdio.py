"""The MCP server on stdio, by the official client, which starts the command as its own process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from reconciler import Memory
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.entrypoints.cli import main
from tests.command_line import environment_of
from tests.engines import embedded_engine
from tests.mcp_server import asked, called
from tests.tables import every

ADD, RECALL = "add_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "user_explicit"}
AGENT_TOOLS = {ADD, "relate_contact_note", RECALL, "hand_over_session"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A store of its own, and no model."""
    return store_of(tmp_path)


def store_of(folder: Path) -> dict[str, str]:
    where = environment_of(embedded_engine(folder))
    return os.environ | where | {"RECONCILER_EMBEDDER__MODEL": "noop"}


def memory_of(environment: dict[str, str]) -> Memory:
    """The store of that environment, opened in this process."""
    path = Path(environment["RECONCILER_EMBEDDED_PATH"])
    return Memory.open(graph="embedded", embedded_path=path, embedder=NoopEmbedder())


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "reconciler", "mcp", *arguments]


def parameters(environment: dict[str, str], *arguments: str) -> StdioServerParameters:
    program, *others = command(*arguments)
    return StdioServerParameters(command=program, args=others, env=environment)


def test_an_agent_bound_to_a_contact_adds_recalls_and_hands_over(
    environment: dict[str, str],
) -> None:
    async def conversation(client: Client) -> dict[str, Any]:
        said = [{"role": "user", "content": "Please remember that I am allergic to nuts."}]
        return {
            "tools": {each.name for each in (await client.list_tools()).tools},
            "added": await called(ADD, LIVES)(client),
            "recalled": await called(RECALL)(client),
            "kept": await called("hand_over_session", {"messages": said})(client),
            "other": await called(RECALL, {"contact_id": "tom"})(client),
            "long": await called(ADD, LIVES | {"text": "a" * 100_000})(client),
        }

    server = parameters(environment, "--agent", "crm", "--contact", "priya")
    found = asked(server, conversation)
    assert found["tools"] == AGENT_TOOLS
    assert found["added"][0].startswith("Remembered as a new fact.")
    assert not found["added"][1]
    assert "Lives in Pune." in found["recalled"][0]
    assert not found["kept"][1]
    assert found["other"][1]
    assert "2,000" in found["long"][0]


def test_an_agents_client_has_no_tool_that_approves(environment: dict[str, str]) -> None:
    with pytest.raises(MCPError, match="there is no 'confirm'"):
        asked(
            parameters(environment, "--agent", "crm"),
            called("confirm", {"decision_id": "x", "answered_by": "contact"}),
        )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    """By their numbers, what a server answers to requests that came with the end of its input."""
    environment = store_of(tmp_path_factory.mktemp("asked"))
    said = [{"role": "tool", "content": "page \ud835"}, {"role": "user", "content": "I run."}]
    given: dict[int, tuple[str, Any]] = {
        2: (ADD, LIVES),
        3: (ADD, json.dumps(LIVES | {"text": "Plays the oboe."})),
        **{4: (RECALL, "null"), 5: (RECALL, ""), 6: (RECALL, "[]"), 7: (RECALL, "{")},
        8: ("hand_over_session", {"messages": said}),
    }
    sent = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}] + [
        {
            **{"jsonrpc": "2.0", "id": number, "method": "tools/call"},
            "params": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in given.items()
    ]
    lines = "".join(json.dumps(each) + "\n" for each in sent)
    assert "\\ud835" in lines
    done = subprocess.run(
        command("--agent", "crm", "--contact", "priya"), env=environment, check=True,
        input=lines, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    with memory_of(environment) as memory:
        kept = {each.fact.text for each in memory.contact("crm", "priya").recall()}
    assert kept == {"Lives in Pune.", "Plays the oboe."}
    return {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}


def test_what_is_asked_before_the_end_of_input_is_answered_and_nothing_else_is_printed(
    answers: dict[int, dict[str, Any]],
) -> None:
    assert sorted(answers) == [*range(1, 9)]
    assert answers[2]["result"]["content"][0]["text"].startswith("Remembered as a new fact.")


def test_arguments_as_a_text_of_json_are_understood(answers: dict[int, dict[str, Any]]) -> None:
    assert not any(answers[number]["result"]["isError"] for number in (3, 4, 5))
    assert all("error" in answers[number] for number in (6, 7))


def test_half_a_surrogate_pair_in_a_line_is_replaced_and_the_request_answered(
    answers: dict[int, dict[str, Any]],
) -> None:
    assert not answers[8]["result"].get("isError"), answers[8]


@pytest.mark.parametrize("asks", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_whose_client_says_nothing(
    environment: dict[str, str], asks: signal.Signals
) -> None:
    with subprocess.Popen(
        command("--agent", "crm"), env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(asks)
        assert process.wait(60) == 0
        assert process.stdout.read() == ""
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_a_second_server_on_the_embedded_store_says_that_it_is_locked(
    environment: dict[str, str],
) -> None:
    async def second(client: Client) -> subprocess.CompletedProcess[str]:
        await client.list_tools()
        return subprocess.run(
            command("--agent", "crm"), env=environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    done = asked(parameters(environment, "--agent", "crm"), second)
    assert done.returncode == 4
    assert done.stdout == ""
    assert "another process" in done.stderr


@every(
    ("arguments", "told"),
    [
        ((), "--agent"),
        (("--agent", " "), "agent_id"),
        (("--agent", "crm", "--contact", ""), "contact_id"),
        (("--agent", "crm", "--transport", "http"), "token create"),
        (("--transport", "http", "--tls-key", "x.pem"), "together"),
    ],
)
def test_a_server_that_cannot_be_started_says_why(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    for name in ("RECONCILER_EMBEDDED_PATH", "RECONCILER_EMBEDDER__MODEL"):
        monkeypatch.setenv(name, environment[name])
    monkeypatch.setattr(sys, "argv", ["reconciler", "mcp", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert told in printed.err


def test_without_the_extra_the_error_says_what_to_install(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('no mcp')")
    hidden = environment | {"COLUMNS": "200", "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"}
    done = subprocess.run(
        command("--agent", "crm"), env=hidden, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "pip install 'mcp>=2.3,<3'" in done.stderr


def test_no_other_command_imports_the_sdk() -> None:
    looked = "import sys, reconciler, reconciler.entrypoints.cli; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", looked], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {
        "mcp",
        "mcp_types",
        "uvicorn",
        "starlette",
        "langgraph",
        "langchain_core",
        "agents",
    }
