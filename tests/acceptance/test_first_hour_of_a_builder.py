"""A builder's first hour: the wheel installed, the demo, and an agent that remembers; no checkout.

The example is the one that the documents lead to. The SDK is the real one and talks to a server on
the loopback, which says what the test scripts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.anthropic_server import (
    AnthropicServer,
    Reply,
    Request,
    candidate,
    extraction,
    message,
    tool_call,
)
from tests.command_line import Installed

pytestmark = pytest.mark.xdist_group("installed")  # built once, not by each worker
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "chat.py"
WHO = ("--agent", "chat", "--contact", "priya", "--json")
NUTS = "The contact is allergic to nuts."


@pytest.fixture
def claude() -> Iterator[AnthropicServer]:
    """A model that looks up, notes down and answers; and reads one more fact afterwards."""
    said = iter(
        (
            tool_call("recall_contact", {"query": "Where does she live?"}, "toolu_1"),
            tool_call("add_contact_note", {"text": "Lives in Pune."}, "toolu_2"),
            tool_call(
                "add_contact_note",
                {"text": "Lives in Pune.", "source_kind": "user_explicit"},
                "toolu_3",
            ),
            message("Noted."),
            message("Goodbye."),
        )
    )

    def reply_to(request: Request) -> Reply:
        return next(said) if "tools" in request.body else extraction(read_from(request))

    with AnthropicServer() as server:
        server.answers_with(reply_to)
        yield server


def test_from_the_wheel_to_an_agent_that_remembers_whom_it_talks_to(
    installed: Installed, claude: AnthropicServer, tmp_path: Path
) -> None:
    """First with calls that wait, then with an event loop."""
    shutil.copy(EXAMPLE, tmp_path)
    environment = {
        "ANTHROPIC_API_KEY": "none-needed",
        "ANTHROPIC_BASE_URL": claude.base_url,
        "NO_PROXY": "127.0.0.1",
        "RECONCILER_EMBEDDED_PATH": "chat.lbug",
    }

    def chat(typed: str, *way: str) -> str:
        return installed.python("chat.py", "priya", *way, cwd=tmp_path, typed=typed, **environment)

    def shown(*arguments: str) -> Any:
        printed = installed.run("reconciler", *arguments, *WHO, cwd=tmp_path, **environment)
        return json.loads(printed)

    printed = chat("I live in Pune.\nI am allergic to nuts.\n")
    assert printed.splitlines() == ["Noted.", "Goodbye."]
    told = [block for said in messages(claude) for block in blocks(said, "tool_result")]
    assert [bool(each["is_error"]) for each in told] == [False, True, False]
    assert "source_kind is missing" in told[1]["content"]
    assert "Remembered as a new fact." in told[2]["content"]

    added = [each for each in shown("decisions") if each["verdict"]["action"] == "ADD"]
    assert [(each["text"], each["door"]) for each in added] == [
        (NUTS, "extractor"),
        ("Lives in Pune.", "live"),
    ]

    said = iter(
        (tool_call("recall_contact", {"query": "nuts"}, "toolu_4"), message("Hello again."))
    )
    claude.answers_with(lambda request: next(said) if "tools" in request.body else extraction())
    assert chat("Hello.\n", "--async").splitlines() == ["Hello again."]
    again = next(each for each in reversed(claude.requests) if "tools" in each.body)
    assert "Lives in Pune." in again.body["system"]
    [found] = blocks(messages(claude)[-1], "tool_result")
    assert (found["is_error"], NUTS in found["content"]) == (False, True)
    assert [each["session_id"][:5] for each in shown("jobs")] == ["chat-", "chat-"]


def read_from(request: Request) -> dict[str, Any]:
    """What an extractor makes of the turn about nuts, wherever it stands in the session."""
    span = "I am allergic to nuts"
    [episode] = [each["number"] for each in request.data["episodes"] if span in each["text"]]
    citations = [{"episode": episode, "span": span}]
    slot = {"attribute": "allergy", "value": "nuts", "single_valued": False}
    return candidate(NUTS, **slot, category="fact", citations=citations)


def messages(claude: AnthropicServer) -> list[Any]:
    """The conversation as the model was last shown it."""
    last = next(each for each in reversed(claude.requests) if "tools" in each.body)
    return list(last.body["messages"])


def blocks(said: Any, kind: str) -> list[Any]:
    """The blocks of a kind in one message."""
    content = said["content"]
    return [] if isinstance(content, str) else [each for each in content if each["type"] == kind]
