"""The command line in this process: what tests of commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.engines import EngineUnderTest

__all__ = ["Run", "environment_of", "json_of"]

Run = Callable[..., tuple[int, str, str]]
"""Runs a command by its words: exit code, output, errors."""


def environment_of(engine: EngineUnderTest) -> dict[str, str]:
    """The variables by which a command finds an engine."""
    arguments = engine.settings_arguments
    if arguments["graph"] == "embedded":
        return {"RECONCILER_EMBEDDED_PATH": str(arguments["embedded_path"])}
    shared = ("uri", "username", "password", "database")
    return {
        f"{'NEO4J_' if name in shared else 'RECONCILER_NEO4J__'}{name.upper()}": str(value)
        for name, value in arguments["neo4j"].items()
    }


def json_of(run: Run, *arguments: str) -> Any:
    """What a command that ends well prints as JSON."""
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)
