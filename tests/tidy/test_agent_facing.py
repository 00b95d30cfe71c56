"""What an agent can reach: no way from its doors leads to anything that answers for a person."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from reconciler.domain.tasks import WorkingMemory
from reconciler.service.memory_context import MemoryContext
from reconciler.service.task_memory import TaskMemory

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "reconciler"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
DOORS = ["reconciler.service.doors", "reconciler.service.memory_context"]
APPROVING = ("reconciler.service.confirmations", "reconciler.memory", "reconciler.bootstrap")


def _imports(module: str) -> set[str]:
    """The package's own modules that a module names anywhere in it, also under TYPE_CHECKING."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == method
    }


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize("door", DOORS)
def test_no_import_of_an_agents_door_leads_to_what_approves(door: str) -> None:
    reached = _reached(door)
    assert "reconciler.service.write_gate" in reached
    assert not {each for each in reached if each.startswith((*APPROVING, "reconciler.entrypoints"))}


def test_only_confirmations_hand_a_yes_to_the_gate() -> None:
    assert _callers("submit_confirmed") == {"reconciler.service.confirmations"}


def test_only_confirmations_hand_a_no_to_the_gate() -> None:
    assert _callers("record_answer") == {"reconciler.service.confirmations"}


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
