"""The client for TypeScript: its own tests and its example, with Node, against a running server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests.documents import ROOT, fenced, prints
from tests.http_api import serving_api
from tests.mcp_server import granted

CLIENT = ROOT / "clients" / "typescript"
PAGE = ROOT / "docs" / "typescript.md"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("typescript"),  # all build in one folder
    pytest.mark.skipif(
        not shutil.which("node") or not (CLIENT / "node_modules").is_dir(),
        reason="needs Node 20 and clients/typescript/node_modules: run `make typescript`",
    ),
]


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    _run({}, "npm", "run", "build")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of a running server's clients."""
    with (
        Memory.open(embedded_path=tmp_path / "memory.lbug", embedder=HashingEmbedder()) as memory,
        serving_api(memory, tmp_path) as api,
    ):
        yield {
            "RECONCILER_URL": api.url,
            "RECONCILER_TOKEN": api.token(granted()),
            "RECONCILER_OPERATOR_TOKEN": api.token(granted("operator", name="anna")),
        }


def _ended(variables: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=CLIENT, env=os.environ | variables, capture_output=True, text=True, check=False
    )


def _run(variables: dict[str, str], *command: str) -> str:
    ended = _ended(variables, *command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_its_types_are_those_that_the_generator_makes_of_the_document() -> None:
    _run({}, "npm", "run", "generate", "--", "--check")


def test_its_own_tests_pass_against_a_running_server(served: dict[str, str]) -> None:
    assert "# fail 0" in _run(served, "npm", "test")


@pytest.mark.parametrize(("example", "shown"), [("remember", 0), ("agent", 1), ("answers", 2)])
def test_an_example_prints_what_its_page_shows(
    served: dict[str, str], example: str, shown: int
) -> None:
    outputs = [block for block in fenced(PAGE, "text") if "emembered" in block]
    printed = _run(served, "node", f"dist/examples/{example}.js")
    assert prints(outputs[shown], printed), printed


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"RECONCILER_TOKEN": "rcl_wrong"}, "`reconciler token list` says which are good"),
        ({"RECONCILER_TOKEN": ""}, "token is empty"),
        ({"RECONCILER_URL": "http://127.0.0.1:1"}, "is `reconciler serve` running there?"),
    ],
)
def test_an_agent_with_a_wrong_token_or_address_ends_with_the_remedy(
    served: dict[str, str], wrong: dict[str, str], told: str
) -> None:
    ended = _ended(served | wrong, "node", "dist/examples/agent.js")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert told in ended.stderr
