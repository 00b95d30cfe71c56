"""What an agent can reach: no way from its doors leads to anything that answers for a person."""

from __future__ import annotations

import ast
import inspect
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import get_origin, get_type_hints

import pytest

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.tasks.tasks import WorkingMemory
from reconciler.memory import Memory
from reconciler.service.persons.deciding import PersonsDecisions
from reconciler.service.recall import Recall
from reconciler.service.records import Records
from reconciler.service.sessions.extraction import MemoryExtractor
from reconciler.service.stores.session_store import TaskStore
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.write_gate import WriteGate
from tests.documents import nodes
from tests.tables import every

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "reconciler"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
_SERVED = "reconciler.serve"
DOORS = [
    "reconciler.service.tools.agent_tools",
    "reconciler.service.writing.doors",
    "reconciler.service.tasks.memory_context",
]
APPROVING = (
    "reconciler.service.persons",
    "reconciler.service.erasures",
    "reconciler.bound_memory",
    "reconciler.memory",
    "reconciler.async_",
    "reconciler.bootstrap",
)


def _imports(module: str) -> set[str]:
    """The package's own modules that a module names anywhere in it, also under TYPE_CHECKING."""
    found: set[str] = set()
    for node in nodes(MODULES[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & MODULES.keys()


def _reached(module: str) -> set[str]:
    reached, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _imports(name)
    return reached


def _callers(method: str) -> set[str]:
    return {
        module
        for module, path in MODULES.items()
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr == method
    }


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize("door", DOORS)
def test_no_import_of_an_agents_door_leads_to_what_approves(door: str) -> None:
    reached = _reached(door)
    assert "reconciler.service.writing.write_gate" in reached
    assert not {each for each in reached if each.startswith((*APPROVING, "reconciler.entrypoints"))}


def test_only_where_persons_decide_is_it_written_who_answered() -> None:
    writing = {
        module
        for module, path in MODULES.items()
        for node in nodes(path)
        if isinstance(node, ast.keyword) and node.arg == "answered_by"
    }
    persons = {"reconciler.service.persons.deciding"}
    assert writing == persons | {"reconciler.service.writing.submissions"}  # as it is recorded


def test_the_gate_has_no_way_around_its_verbs() -> None:
    judging = {"judge", "judge_whole", "reread", "to_be_asked"}
    proposing = judging | {"propose", "commit", "settle", "settle_many"}
    assert _public(WriteGate) == proposing | {"find_earlier", "outcome_of"}  # which only read


@pytest.mark.parametrize("answer", ["confirm", "reject"])
def test_of_the_servers_only_the_operators_part_takes_an_answer_down(answer: str) -> None:
    served = ("mcp_server", "http_api", "operator_page", "access")
    places = tuple(f"{_SERVED}.{each}" for each in served)
    servers = {each for each in _callers(answer) if each.startswith(places)}
    assert servers == {
        f"{_SERVED}.http_api.operator_routes",
        f"{_SERVED}.operator_page.acts",
    }


def test_only_an_operators_call_amends() -> None:
    assert _callers("amend") == {
        "reconciler.bound_memory",
        "reconciler.entrypoints.commands",
        "reconciler.serve.http_api.operator_routes",
        "reconciler.serve.operator_page.acts",
    }


def test_only_a_persons_call_forgets() -> None:
    assert _callers("forget") == {
        "reconciler.bound_memory",
        "reconciler.entrypoints.commands",
        "reconciler.serve.http_api.operator_routes",
        "reconciler.serve.operator_page.acts",
        "reconciler.service.writing.memory_reconciler",  # what an arbiter's cache holds
    }


def test_only_the_live_door_has_what_it_proposes_committed_by_the_same_call() -> None:
    calls = [
        (module, keyword)
        for module, path in MODULES.items()
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "propose"
        for keyword in node.keywords
        if keyword.arg == "may_commit"
    ]
    assert {module for module, _ in calls} == {"reconciler.service.writing.doors"}


def test_the_context_of_a_task_offers_nothing_that_approves() -> None:
    assert _public(MemoryContext) == {
        *{"state", "deciding", "tool_returned", "observed", "succeed", "fail", "interrupt"},
        *{"resume", "task_memory", "working", "recall", "recall_about", "procedures", "episodes"},
        *{"log_episode", "propose_durable", "propose_procedure", "propose_reflection", "commit"},
    }


def test_the_memory_of_a_task_offers_nothing_that_becomes_a_fact() -> None:
    offered = _public(TaskMemory)
    assert offered == {"load", "mark_done", "set_blocker", "checkpoint", "resume"}


def test_working_memory_offers_no_way_out_of_the_process() -> None:
    offered = _public(WorkingMemory)
    assert offered == {"task", "facts", "observations", "hypotheses", "observe", "suppose", "know"}


SERVICES = (
    *(MemoryReconciler, WriteGate, PersonsDecisions),
    *(Recall, Records, MemoryExtractor, TaskStore),
)
SCOPED = {"scope", "scopes", "candidate", "submission", "note", "session", "lease_id"}
"""What names an id's owner, or says that a worker holds the job."""

OF_AN_AGENT = {"account", "agent", "contact"}
"""They bind to an agent or its account, or to a contact of the agent that is bound already."""

FOR_AN_OPERATOR = {"Memory.jobs"}
"""What is asked of all agents of a tenant, and only narrowed to a contact's id."""


NOT_EVERYWHERE = {
    f"reconciler.integrations.{name}" for name in ("claude_agent_sdk", "ray_backfill")
}
"""Adapters for frameworks that the extra ``test`` does not bring."""

OURS = {
    name: found
    for module in MODULES.keys() - NOT_EVERYWHERE
    for name, found in inspect.getmembers(import_module(module))
    if inspect.isclass(found) or get_origin(found)
}
"""Classes and aliases by name: a module may import what it only speaks of for the type checker."""

OFFERING = (
    *("reconciler.memory", "reconciler.bound_memory"),
    "reconciler.service",
)
"""Where the classes are that do something for a caller."""


def _handed_out(kind: type) -> set[type]:
    """Every class of ours with methods of its own that a memory hands out, and what those do."""
    found: set[type] = {kind}
    for _, member in inspect.getmembers(kind):
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function) and not function.__name__.startswith("_"):
            given = get_type_hints(function, localns=OURS).get("return")
            is_ours = inspect.isclass(given) and given.__module__.startswith(OFFERING)
            if is_ours and not is_dataclass(given) and given not in found:
                found |= _handed_out(given)
    return found


def _takes(function: object) -> set[str]:
    return set(inspect.signature(function).parameters)  # type: ignore[arg-type]


IN_REACH = {kind.__name__: kind for kind in (*_handed_out(Memory), *SERVICES)}


@every("kind", dict(sorted(IN_REACH.items())).values())
def test_what_takes_an_id_takes_its_scope_too_or_is_bound_to_one(kind: type) -> None:
    is_bound = bool({"scope", "run"} & _takes(kind.__init__))
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        taken = _takes(method)
        has_id = any(each.endswith(("_id", "_ids")) for each in taken)
        if has_id and not name.startswith("_") and not is_bound:
            is_scoped = {"agent_id", "contact_id"} <= taken or bool(SCOPED & taken)
            full_name = f"{kind.__name__}.{name}"
            assert is_scoped or name in OF_AN_AGENT or full_name in FOR_AN_OPERATOR, full_name


def test_a_memory_hands_out_what_an_agent_holds() -> None:
    held = {AgentTools, MemoryContext, TaskMemory, ContactMemory, AgentMemory}
    assert held <= _handed_out(Memory)
