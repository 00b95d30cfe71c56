"""Writes ``reconciler/async_calls.py`` again: the calls of ``Memory`` and its parts, awaited.

Run it after a call changed: ``python tools/write_async_calls.py``. A test holds the shipped file to
what this would write.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from reconciler.memory import ContactMemory, Memory
from reconciler.service.sessions.extraction import MemoryExtractor
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools

TARGET = Path(__file__).resolve().parents[1] / "reconciler" / "async_calls.py"
NAMES: dict[type, str] = {
    TaskMemory: "AsyncTaskMemory",
    MemoryContext: "AsyncMemoryContext",
    MemoryExtractor: "AsyncMemoryExtractor",
    AgentTools: "AsyncAgentTools",
    ContactMemory: "AsyncContactMemory",
    Memory: "AsyncMemoryCalls",
}
"""The classes whose calls wait, those first that others hand out."""

ASYNC_OF = {kind.__name__: name for kind, name in NAMES.items()}
BINDING = {"contact", "agent_tools", "definitions"}
"""Calls that only bind, or make something up: they are not awaited."""

BY_HAND = {"open", "restore", "close"}
HEAD = '''\
"""The calls of a memory, awaited: each is made in a thread. Generated, never edited by hand.

``python tools/write_async_calls.py`` writes this module from ``Memory`` and from what it hands out,
whose calls they are: names, arguments, results and errors are the same.
"""
'''


def source() -> str:
    """The module, formatted."""
    classes = [_class_of(kind) for kind in NAMES]
    used = {node.id for each in classes for node in ast.walk(each) if isinstance(node, ast.Name)}
    for each in classes:
        used |= {
            node.value
            for node in ast.walk(each)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    homes = {kind.__name__: kind.__module__ for kind in NAMES}
    for kind in reversed(NAMES):
        for module, name in _imported_by(kind):
            if name in used:
                homes.setdefault(name, module)
    needed = {name for each in classes for name in _defaults_of(each)}
    imports = {name: f"from {module} import {name}" for name, module in homes.items()}
    text = "\n".join(
        [
            HEAD,
            "from __future__ import annotations",
            "from typing import TYPE_CHECKING",
            "from reconciler.async_threads import Threads",
            *(line for name, line in imports.items() if name in needed),
            "if TYPE_CHECKING:",
            *(f"    {line}" for name, line in imports.items() if name not in needed),
            f"__all__ = {sorted(ASYNC_OF.values())!r}",
            *(ast.unparse(ast.fix_missing_locations(each)) for each in classes),
        ]
    )
    return _formatted(text)


def _defaults_of(each: ast.ClassDef) -> Iterator[str]:
    """The names that are needed to make the defaults of arguments."""
    for node in ast.walk(each):
        if isinstance(node, ast.arguments):
            for default in (*node.defaults, *node.kw_defaults):
                names = ast.walk(default) if default else ()
                yield from (name.id for name in names if isinstance(name, ast.Name))


def _formatted(text: str) -> str:
    """As ``make fmt`` leaves it: imports sorted, lines broken."""
    name = ("--stdin-filename", str(TARGET))
    for command in (("check", "--fix", "--quiet", "--select", "I,F401"), ("format", "--quiet")):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *name, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=TARGET.parents[1],
        ).stdout
    return text


def _class_of(kind: type) -> ast.ClassDef:
    [found] = [
        node
        for node in ast.parse(inspect.getsource(inspect.getmodule(kind))).body  # type: ignore[arg-type]
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    ]
    name = ASYNC_OF[kind.__name__]
    start = ast.parse(
        f"class {name}:\n"
        f'    """The calls of ``{kind.__name__}``, awaited."""\n\n'
        f"    def __init__(self, threads: Threads, sync: {kind.__name__}) -> None:\n"
        "        self._threads = threads\n        self._sync = sync\n"
    ).body[0]
    assert isinstance(start, ast.ClassDef)
    for node in found.body:
        is_public = isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if is_public and node.name not in BY_HAND:  # type: ignore[union-attr]
            start.body.append(_call_of(kind, node))  # type: ignore[arg-type]
    return start


def _call_of(kind: type, node: ast.FunctionDef) -> ast.stmt:
    returned = ast.unparse(node.returns) if node.returns else "None"
    is_property = any(isinstance(each, ast.Name) for each in node.decorator_list)
    first = (ast.get_docstring(node) or "").splitlines()[0]
    told = f'"""{first}\n\n        See ``{kind.__name__}.{node.name}``.\n        """'
    if "see ``" in first.casefold():
        told = f'"""{first}"""'
    sync = f"self._sync.{node.name}"
    handed = ", ".join(_handed_on(node.args))
    wrapped = ASYNC_OF.get(returned)
    made = wrapped or returned
    start, call, taken = "async def", f"await self._threads.run({sync}, {handed})", _taken(node)
    if is_property:
        start, call = "@property\n    def", sync
    elif node.name in BINDING:
        start, call = "def", f"{sync}({handed})"
    elif returned.startswith("Iterator["):
        start, call = "def", f"self._threads.stream({sync}, {handed})"
        made = f"Async{returned}"
    if wrapped:
        call = f"{wrapped}(self._threads, {call})"
    body = call if returned == "None" else f"return {call}"
    text = (
        f"class C:\n    {start} {node.name}({taken}) -> {made}:\n        {told}\n        {body}\n"
    )
    parsed = ast.parse(text).body[0]
    assert isinstance(parsed, ast.ClassDef)
    return parsed.body[0]


def _taken(node: ast.FunctionDef) -> str:
    return ast.unparse(node.args)


def _handed_on(arguments: ast.arguments) -> Iterator[str]:
    yield from (each.arg for each in arguments.args[1:])
    yield from (f"{each.arg}={each.arg}" for each in arguments.kwonlyargs)
    if arguments.kwarg:
        yield f"**{arguments.kwarg.arg}"


def _imported_by(kind: type) -> Iterator[tuple[str, str]]:
    """Where the names come from that the class's own module uses; and what stands there itself."""
    module = inspect.getmodule(kind)
    assert module is not None
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            yield from ((node.module, each.name) for each in node.names)
        elif isinstance(node, ast.ClassDef):
            yield (module.__name__, node.name)
    yield ("collections.abc", "AsyncIterator")


if __name__ == "__main__":
    import_module("reconciler")
    TARGET.write_text(source(), encoding="utf-8")
