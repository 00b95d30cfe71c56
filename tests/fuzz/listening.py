"""A process that loads all of the program, and prints every regular expression that is compiled.

Run as ``python -m tests.fuzz.listening``; see ``patterns``.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import pkgutil
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import regex

__all__: list[str] = []

LOUD = ("reconciler",)
"""The modules to listen to: patterns of the standard library and of others do not count."""

AT_A_PLACE = {"match", "fullmatch"}
INLINE = {"sub", "subn", "search", "match", "fullmatch", "findall", "finditer", "split", "compile"}


Heard = dict[tuple[str, str, int, str], None]
"""Library, expression, flags, and the module that it was compiled for."""


def listen() -> Heard:
    """Have each expression noted from here on, of the modules in ``LOUD``."""
    heard: Heard = {}

    def hook(library: Any, name: str) -> None:
        place = library.compile.__globals__  # the module in which ``compile`` looks for it
        inner = place["_compile"]

        def noted(pattern: Any, flags: Any, *others: Any, **named: Any) -> Any:
            made = inner(pattern, flags, *others, **named)
            if isinstance(pattern, str) and (where := _loud_caller()):
                heard[name, pattern, int(flags), where] = None
            return made

        place["_compile"] = noted

    hook(re, "re")
    hook(regex, "regex")
    return heard


def _loud_caller() -> str | None:
    """The nearest module of ``LOUD`` that asks for an expression."""
    frame = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return None
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith(LOUD):
            return name
        frame = frame.f_back
    return None


def load_everything() -> None:
    """Import the package, warm up a memory, and compile every cue that a lexicon has."""
    import reconciler
    from reconciler.errors import ConfigurationError

    for module in pkgutil.walk_packages(reconciler.__path__, "reconciler."):
        if module.name != "reconciler.__main__":
            with contextlib.suppress(ConfigurationError):  # an extra that is not installed
                importlib.import_module(module.name)
    from reconciler import Memory
    from reconciler.adapters.noop_embedder import NoopEmbedder
    from reconciler.reading.lexicon import Cues
    from tests.fuzz.texts import SENTENCES, WORDS

    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(
            graph="embedded", embedded_path=Path(folder) / "memory.lbug", embedder=NoopEmbedder()
        ) as memory,
    ):
        memory.warm_up()
        for said in (*SENTENCES, " ".join(word for word in WORDS if word.isprintable())):
            memory.agent("any").check_policy(said)
            memory.add_contact_note("crm", "priya", said)
        turns = [{"role": "user", "content": said} for said in SENTENCES]
        memory.contact("crm", "priya").submit_session("chat", turns)
        memory.drain()
        memory.contact("crm", "priya").recall("Where does she live, and what is her phone number?")
        for cues in [each for each in gc.get_objects() if isinstance(each, Cues)]:
            for name, number in cues._places:
                cues.pattern(name, number)


def written_inline() -> dict[tuple[str, str, int, str], bool]:
    """Expressions that stand in a call of ``re`` in the package, and whether only to match."""
    found: dict[tuple[str, str, int, str], bool] = {}
    root = Path(reconciler_folder())
    for file in root.rglob("*.py"):
        where = ".".join(("reconciler", *file.relative_to(root).with_suffix("").parts))
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "re." in text or "regex." in text else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id in ("re", "regex")
                and node.func.attr in INLINE
                and node.args
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[0].value, str)
            ):
                key = node.func.value.id, node.args[0].value, 0, where
                found[key] = found.get(key, True) and node.func.attr in AT_A_PLACE
    return found


def only_anchored() -> set[str]:
    """The expressions of the package that are matched where a text begins, or at a place in it."""
    from reconciler.adapters.street_address_finder import _filled

    used: dict[str, set[str]] = {}
    for file in Path(reconciler_folder()).rglob("*.py"):
        for name, method in re.findall(r"\b(_?[A-Z][A-Z_]+)\.(\w+)\b", file.read_text("utf-8")):
            used.setdefault(name, set()).add(method)
    return {
        value.pattern
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("reconciler")
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern) and used.get(name, {""}) <= AT_A_PLACE
    } | {_filled("{tail}")}  # compiled at the first use, and no constant


def reconciler_folder() -> str:
    """Where the package is."""
    import reconciler

    return reconciler.__path__[0]


if __name__ == "__main__":
    HEARD = listen()
    load_everything()
    ANCHORED, WRITTEN = only_anchored(), written_inline()
    json.dump(
        [
            [*each, WRITTEN.get(each, False) or each[1] in ANCHORED]
            for each in HEARD | dict.fromkeys(WRITTEN)
        ],
        sys.stdout,
    )
