"""What a stranger meets: the wheel away from the checkout, and the documents' own code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import documents

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout and unpacked into a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--target", str(folder), str(ROOT)], check=True)
    return folder


def _python(installed: Path, *arguments: str, cwd: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(installed), "COLUMNS": "200"}
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_installed_wheel_brings_its_queries_and_prompts(
    installed: Path, tmp_path: Path
) -> None:
    script = (
        "import reconciler.queries as q; print(q.__file__); "
        "print(*(q.resource_path(name) for name in ('cypher', 'config', 'browser')))"
    )
    found = _python(installed, "-c", script, cwd=tmp_path).split()
    assert all(Path(each).is_relative_to(installed) for each in found)


def test_the_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    shown = _python(installed, "-m", "reconciler", "demo", cwd=tmp_path)
    assert len(re.findall(r"^day", shown, re.MULTILINE)) == 47
    assert "UPDATE  0.979  slot      The contract renews on the 1st of March." in shown
    assert "ADD     0.911  guard     Has three children, Nils, Astrid and Leif." in shown
    assert re.search(r"REJECT .* The portal's password is \[secret\]", shown)
    assert "conflicts with: Has two children, Nils and Astrid." in shown
    assert "SUPERSEDES 0.614 by slot" in shown
    assert "Recall: Does she prefer phone or email?" in shown


def test_the_code_in_the_documents_runs_and_prints_what_it_says(
    installed: Path, tmp_path: Path
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", documents(), re.DOTALL)
    code = "\n".join(blocks)
    opened = code.replace("Memory.open()", f"Memory.open(embedded_path={str(tmp_path / 'm')!r})")
    printed = _python(installed, "-c", opened, cwd=tmp_path)
    shown = [re.findall(r"print\(.*\n((?: +# .*\n)+)", block) for block in blocks]
    promised = re.findall(
        r"^ +# ([A-Z0-9].+)$", "".join(each for found in shown for each in found), re.M
    )
    assert all(shown)
    exact = [line for line in promised if "…" not in line]
    assert [line for line in exact if line not in printed] == []
