"""What a stranger meets: the wheel away from the checkout, and the documents' own code."""

from __future__ import annotations

import email
import email.message
import json
import re
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest

from tests.command_line import Installed
from tests.documents import examples, prints

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.xdist_group("installed")  # built once, not by each worker
EXAMPLES = list(examples())
RUN_BLOCKS = """
import contextlib, functools, io, json, os, sys, tempfile
from reconciler.adapters.onnx_minilm import OnnxMinilm
loaded = functools.cache(OnnxMinilm().load)
OnnxMinilm.load = lambda _: loaded()
for code in json.load(open(sys.argv[1], encoding="utf-8")):
    folder = tempfile.mkdtemp(dir=".")
    os.environ["RECONCILER_EMBEDDED_PATH"] = folder + "/memory.lbug"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "a block", "exec"), {"__name__": "__main__"})
    print(json.dumps(printed.getvalue()))
"""
"""Runs blocks of code, each on a memory of its own; prints a line of JSON for each.

The real model is loaded once and not by each block, as if one program held all of them.
"""


def test_the_installed_wheel_brings_its_queries_and_prompts(
    installed: Installed, tmp_path: Path
) -> None:
    script = (
        "import reconciler.queries as q; print(q.__file__); "
        "print(*(q.resource_path(name) for name in ('cypher', 'config', 'browser')))"
    )
    found = installed.python("-c", script, cwd=tmp_path).split()
    assert all(Path(each).is_relative_to(installed.packages) for each in found)


def test_the_installed_wheel_runs_the_demo(installed: Installed, tmp_path: Path) -> None:
    shown = installed.python("-m", "reconciler", "demo", cwd=tmp_path)
    assert len(re.findall(r"^day", shown, re.MULTILINE)) == 48
    assert "UPDATE  0.979  slot      The contract renews on the 1st of March." in shown
    assert "UPDATE  0.911  arbiter   Has three children, Nils, Astrid and Leif." in shown
    assert re.search(r"REJECT .* The portal's password is \[secret\]", shown)
    assert "SUPERSEDES by slot, similarity 0.614" in shown
    assert "Recall: Does she prefer phone or email?" in shown


def test_the_installed_command_says_which_version_it_is(
    installed: Installed, tmp_path: Path
) -> None:
    shown = installed.run("reconciler", "--version", cwd=tmp_path)
    assert metadata.version("graph-memory-reconciler") in shown


def test_a_package_index_takes_what_is_built(built: Path) -> None:
    files = [str(path) for path in built.iterdir()]
    checked = [sys.executable, "-m", "twine", "check", "--strict", *files]
    ended = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.count("PASSED")) == (0, 2), ended.stdout


def test_a_package_index_shows_the_readme_with_links_that_work_there(installed: Installed) -> None:
    [file] = installed.packages.glob("*.dist-info/METADATA")
    shown = email.message_from_string(file.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)]+)\)", str(shown.get_payload()))
    [home] = [url for name, url in _urls(shown) if name == "Homepage"]
    assert shown["Description-Content-Type"] == "text/markdown"
    assert len(links) > 20
    assert [each for each in links if not each.startswith(f"{home}/")] == []
    assert f"![A report: facts as bars over time, supersessions as arrows]({home}/raw/" in str(
        shown.get_payload()
    )


def _urls(shown: email.message.Message) -> list[list[str]]:
    return [each.split(", ") for each in shown.get_all("Project-URL", [])]


def test_the_sdist_holds_the_whole_project_and_nothing_that_was_made_of_it(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {name.partition("/")[0] for name in names} == {
        *(
            ".github",
            ".gitignore",
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "Dockerfile",
            "LICENSE",
            "Makefile",
        ),
        *("PKG-INFO", "README.md", "constraints.txt", "docker-compose.yml", "mkdocs.yml"),
        "pyproject.toml",
        *("benchmarks", "browser", "clients", "config", "cypher", "docs", "exam", "examples"),
        *("judge", "reconciler", "tests", "tools"),
    }
    assert {"tests/conftest.py", "docs/report.png", "clients/typescript/src/api.ts"} <= set(names)
    made = re.compile(r"__pycache__|\.pyc$|\.lbug$|\.env$|node_modules|/dist/")
    assert [name for name in names if made.search(name)] == []


def test_the_code_in_the_documents_runs_and_prints_what_it_says(
    installed: Installed, tmp_path: Path
) -> None:
    code = [each.code for each in EXAMPLES]
    (tmp_path / "blocks.json").write_text(json.dumps(code), encoding="utf-8")
    lines = installed.python("-c", RUN_BLOCKS, "blocks.json", cwd=tmp_path).splitlines()
    printed = {each.name: json.loads(line) for each, line in zip(EXAMPLES, lines, strict=True)}
    other = [each for each in EXAMPLES if not prints(each.shown, printed[each.name])]
    assert not other, "\n".join(f"{each.name} printed\n{printed[each.name]}" for each in other)


def test_every_block_of_code_in_the_documents_shows_what_it_prints() -> None:
    assert len(EXAMPLES) > 30
    assert [each.name for each in EXAMPLES if not each.shown.strip()] == []
