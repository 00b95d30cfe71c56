"""The tools for CrewAI, with real crews. Their model is the loopback server.

CrewAI wants older versions of `openai` and `mcp` than the extra `dev` has. So this runs only where
it is installed: in an environment of its own, without `constraints.txt`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from tests.anthropic_server import AnthropicServer, Reply, Request, message, tool_call
from tests.documents import ROOT, prints, program

pytest.importorskip("crewai", reason="CrewAI needs an environment of its own: see this module")
pytestmark = pytest.mark.filterwarnings("default")  # CrewAI's own

ADD, RELATE, RECALL = "add_contact_note", "relate_contact_note", "recall_contact"
LIVES = {"text": "Lives in Pune.", "source_kind": "contact"}


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep CrewAI from sending anything, and its files in the test's folder."""
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path))


@pytest.fixture
def model() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


def _answers(memory: Memory, model: AnthropicServer, *calls: Any) -> list[str]:
    """What the tools answer a model that makes these calls, one a turn, and then says goodbye.

    The arguments of a call may be a function of the answers so far.
    """
    from crewai import LLM, Agent, Crew, Task

    from reconciler.integrations.crewai import crewai_tools

    def reply(request: Request) -> Reply:
        told = _told(request)
        if len(told) == len(calls):
            return message("Goodbye.")
        name, sent = calls[len(told)]
        return tool_call(name, sent(told) if callable(sent) else sent, f"call-{len(told)}")

    model.answers_with(reply)
    llm = LLM(model="openai/gpt-test", base_url=f"{model.base_url}/v1", api_key="none-needed")
    tools = crewai_tools(memory.agent_tools("crm", "priya", session_id="chat-1"))
    agent = Agent(role="CRM", goal="Remember.", backstory="You talk.", llm=llm, tools=tools)
    task = Task(description="I live in Pune.", expected_output="A reply.", agent=agent)
    assert Crew(agents=[agent], tasks=[task], cache=True).kickoff().raw == "Goodbye."
    return _told(model.requests[-1])


def _told(request: Request) -> list[str]:
    return [each["content"] for each in request.body["messages"] if each["role"] == "tool"]


def test_a_crew_remembers_and_what_it_recalls_is_never_an_older_answer(
    memory: Memory, model: AnthropicServer
) -> None:
    asked = (RECALL, {"query": "Where does she live?"})
    before, added, after = _answers(memory, model, asked, (ADD, LIVES), asked)
    assert added.startswith("Remembered as a new fact.")
    assert "Nothing is known." in before
    assert "Lives in Pune." in after


def test_a_crew_relates_facts_by_the_handles_that_it_was_shown(
    memory: Memory, model: AnthropicServer
) -> None:
    def related(told: list[str]) -> dict[str, Any]:
        rented, bought = (re.findall(r"It is (#\w+)", each)[0] for each in told)
        return {"note": bought, "replaces": [rented]}

    rents = LIVES | {"text": "Rents a flat near the station."}
    bought = LIVES | {"text": "Has bought a flat near the park."}
    *_, done = _answers(memory, model, (ADD, rents), (ADD, bought), (RELATE, related))
    assert done.startswith("Done. It stays:")


def test_a_model_is_told_of_one_type_beside_each_enum(
    memory: Memory, model: AnthropicServer
) -> None:
    _answers(memory, model)
    functions = [each["function"] for each in model.requests[0].body["tools"]]
    told = memory.agent_tools("crm", "priya").definitions()
    assert [(f["name"], f["description"]) for f in functions] == [
        (each["name"], each["description"]) for each in told
    ]
    assert [set(f["parameters"]["properties"]) for f in functions] == [
        set(each["input_schema"]["properties"]) for each in told
    ]
    category = functions[2]["parameters"]["properties"]["category"]
    assert [each["type"] for each in category["anyOf"]] == ["string", "null"]


@pytest.mark.parametrize(
    "arguments", [{"text": " ", "source_kind": "contact"}, LIVES | {"text": "a" * 100_000}]
)
def test_a_models_mistake_is_answered_in_words_and_the_crew_goes_on(
    memory: Memory, model: AnthropicServer, arguments: dict[str, Any]
) -> None:
    [answer] = _answers(memory, model, (ADD, arguments))
    assert "Nothing was remembered." in answer
    assert memory.contact("crm", "priya").recall() == []


def test_nothing_of_a_call_can_name_another_contact(memory: Memory, model: AnthropicServer) -> None:
    _answers(memory, model, (ADD, LIVES | {"contact_id": "tom", "agent_tools": None}))
    assert memory.contact("crm", "tom").recall() == []


def test_a_crew_prints_what_the_page_shows(model: AnthropicServer, tmp_path: Path) -> None:
    shown = program(ROOT / "docs" / "integrations.md", "crewai")
    model.answers(tool_call(ADD, LIVES, "call-1"), message("Noted."))
    env = os.environ | {
        "CREWAI_DISABLE_TELEMETRY": "true",
        "CREWAI_STORAGE_DIR": str(tmp_path),
        "HOME": str(tmp_path),
        "OPENAI_API_KEY": "none-needed",
        "OPENAI_BASE_URL": f"{model.base_url}/v1",
        "OTEL_SDK_DISABLED": "true",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "RECONCILER_EMBEDDED_PATH": str(tmp_path / "memory.lbug"),
        "RECONCILER_EMBEDDER__MODEL": "noop",
    }
    ended = subprocess.run(
        [sys.executable, "-c", shown.code],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    printed = "\n".join(ended.stdout.splitlines()[-len(shown.shown.splitlines()) :])
    assert prints(shown.shown, printed), ended.stdout + ended.stderr
