"""The command line, in this process and installed: what tests of commands share."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.engines import EngineUnderTest

__all__ = ["Installed", "Run", "environment_of", "json_of"]

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


class Installed(NamedTuple):
    """The wheel in a virtual environment of its own.

    Attributes:
        packages: the folder that holds its package.
        scripts: the folder that holds its commands.
    """

    packages: Path
    scripts: Path

    def python(self, *arguments: str, cwd: Path, typed: str = "", **environment: str) -> str:
        """Run its Python in a folder: what was printed, where it ends well."""
        return self.run("python", *arguments, cwd=cwd, typed=typed, **environment)

    def run(self, command: str, *arguments: str, cwd: Path, typed: str = "", **more: str) -> str:
        """Run one of its commands in a folder: what was printed, where it ends well."""
        inherited = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
        ended = subprocess.run(
            [str(self.scripts / command), *arguments],
            cwd=cwd,
            # As its user has it: the judge that the defaults choose.
            env=inherited | {"COLUMNS": "200", "RECONCILER_ARBITER__MODE": "auto"} | more,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout
