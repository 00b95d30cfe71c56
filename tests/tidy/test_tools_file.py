"""What config/tools.toml repeats of the code is what the code says."""

from __future__ import annotations

from reconciler.config_files import load_tools
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.domain.tools.tool import Kind, Parameter
from reconciler.reading.kinds import Category
from reconciler.serve.access.grants import AGENT_ROLES
from reconciler.serve.mcp_server.desk import HAND_OVER, MESSAGES_MAX

AGENTS = load_tools()


def _parameter(tool: str, name: str) -> Parameter:
    return next(each for each in AGENTS[tool].parameters if each.name == name)


def test_a_text_may_be_as_long_as_that_of_a_note() -> None:
    bounds = {
        each.length_max
        for tool in AGENTS.values()
        for each in tool.parameters
        if each.length_max is not None and each.kind is Kind.STRING
    }
    assert bounds == {TEXT_LENGTH_MAX}


def test_a_recall_chooses_among_all_kinds_of_facts() -> None:
    assert _parameter("recall_contact", "category").choices == tuple(map(str, Category))


def test_a_handed_over_message_has_the_roles_that_an_agent_may_give() -> None:
    messages = _parameter(HAND_OVER, "messages")
    assert messages.length_max == MESSAGES_MAX
    assert messages.items is not None
    assert tuple(messages.items["properties"]["role"]["enum"]) == AGENT_ROLES
