"""Writes ``async_parts.pyi`` again: the asynchronous calls as a type checker sees them.

They are made of the synchronous ones when they are first imported, see ``async_memory.py``. Run it
after a call changed: ``python tools/export_async.py``. A test holds the shipped file to what this
would write.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from reconciler.async_memory import AT_ONCE, is_streamed
from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.memory import Memory
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "reconciler" / "async_parts.pyi"
PARTS: dict[type, str] = {
    TaskMemory: "AsyncTaskMemory",
    MemoryContext: "AsyncMemoryContext",
    AgentTools: "AsyncAgentTools",
    ContactMemory: "AsyncContactMemory",
    AgentMemory: "AsyncAgentMemory",
    Memory: "AwaitedMemory",
}
LEFT_OUT = {"open", "close"}
"""What an asynchronous memory has of its own."""

HEAD = '''"""The asynchronous calls of a memory's parts, for type checkers.

``async_memory.py`` makes them when they are imported. Written by ``tools/export_async.py``.
"""
'''
_FORMS = {kind.__name__: name for kind, name in PARTS.items()}


class _Returned(ast.NodeTransformer):
    """What an asynchronous call returns: parts of a memory are asynchronous, too."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(_FORMS.get(node.id, node.id))


def as_text() -> str:
    """The file, formatted."""
    homes: dict[str, str] = {"AsyncPart": "reconciler.async_memory"}
    classes = []
    for kind, name in PARTS.items():
        calls = [call for owner in _owners(kind) for call in _calls(owner, homes)]
        homes[kind.__name__] = kind.__module__
        classes.append("\n".join([f"class {name}(AsyncPart[{kind.__name__}]):", *calls]))
    used = {
        each.id for each in ast.walk(ast.parse("\n".join(classes))) if isinstance(each, ast.Name)
    }
    imports = defaultdict(set)
    for name in used - set(PARTS.values()) - set(dir(builtins)):
        imports[homes[name]].add(name)
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in imports.items()]
    text = "\n".join([HEAD, *lines, "", *classes])
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


def _owners(kind: type) -> list[type]:
    """The class and those that it inherits calls from, these first."""
    return [each for each in reversed(kind.__mro__) if each.__module__.startswith("reconciler.")]


def _calls(kind: type, homes: dict[str, str]) -> Iterator[str]:
    """The public calls of a class itself; ``homes`` takes where the names in them come from."""
    module = sys.modules[kind.__module__]
    tree = ast.parse(inspect.getsource(module))
    own = dict.fromkeys(vars(module), kind.__module__)
    homes |= own | _homes_in(tree)
    [found] = [
        each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == kind.__name__
    ]
    for call in found.body:
        if not isinstance(call, ast.FunctionDef) or call.name in LEFT_OUT:
            continue
        if not call.name.startswith("_"):
            yield _signature(call)


def _signature(call: ast.FunctionDef) -> str:
    call.body = [ast.Expr(ast.Constant(...))]
    call.decorator_list = [each for each in call.decorator_list if not isinstance(each, ast.Call)]
    call.args.defaults = [ast.Constant(...) for _ in call.args.defaults]
    call.args.kw_defaults = [each and ast.Constant(...) for each in call.args.kw_defaults]
    assert call.returns is not None
    call.returns = _Returned().visit(call.returns)
    text = ast.unparse(call)
    is_property = any(ast.unparse(each) == "property" for each in call.decorator_list)
    if is_streamed(ast.unparse(call.returns)):
        text = text.replace("-> Iterator[", "-> AsyncIterator[")
    elif not is_property and call.name not in AT_ONCE:
        text = text.replace("def ", "async def ", 1)
    return "\n".join(f"    {line}" for line in text.splitlines())


def _homes_in(tree: ast.Module) -> dict[str, str]:
    """The module that each name comes from that is imported."""
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and each.module]
    homes = {alias.name: str(each.module) for each in imports for alias in each.names}
    return homes | {"AsyncIterator": "collections.abc"}


if __name__ == "__main__":
    TARGET.write_text(as_text(), encoding="utf-8")
    print(TARGET)
