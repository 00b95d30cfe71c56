"""A release: its artefacts have one version and one address; its workflow runs what is named."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import ROOT, documents
from tools.try_artefacts import ADAPTERS, EXTRAS, WEIGHTS, artefacts

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NAME, VERSION, HOME = PROJECT["name"], PROJECT["version"], PROJECT["urls"]["Homepage"]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
JOBS: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
PUBLISHING = {"image", "attest", "pypi", "npm", "release"}


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_artefact_has_the_projects_version() -> None:
    package = json.loads(_read("clients/typescript/package.json"))
    assert (package["name"], package["version"]) == (NAME, VERSION)
    assert json.loads(_read("clients/typescript/openapi.json"))["info"]["version"] == VERSION
    assert f'org.opencontainers.image.version="{VERSION}"' in _read("Dockerfile")
    services = yaml.safe_load(_read("docker-compose.yml"))["services"].values()
    ours = {each["image"] for each in services if "build" in each}
    assert ours == {f"{NAME}:{VERSION}"}
    assert re.findall(r"^## (\S+)", _read("CHANGELOG.md"), re.MULTILINE)[0] == VERSION


def test_no_page_names_an_artefact_of_another_version() -> None:
    named = re.findall(rf"{re.escape(NAME)}[-_](\d[\w.]*?)\.(?:tgz|tar\.gz)", documents())
    named += re.findall(r"graph_memory_reconciler-(\d[\w.]*?)-py3", documents())
    named += re.findall(r"@v(\d[\w.]*\w)'?", documents())
    assert len(named) >= 3
    assert set(named) == {VERSION}


def test_every_artefact_names_the_projects_address() -> None:
    package = json.loads(_read("clients/typescript/package.json"))
    assert (package["homepage"], package["repository"]["url"]) == (HOME, f"git+{HOME}")
    assert f'org.opencontainers.image.source="{HOME}"' in _read("Dockerfile")


def test_nothing_is_published_before_it_was_tried() -> None:
    before = {name: set(job.get("needs", [])) for name, job in JOBS.items() if name in PUBLISHING}
    assert set(before) == PUBLISHING
    assert all({"try", "test"} <= needed or name == "release" for name, needed in before.items())
    assert before["release"] == {"pypi", "npm"}


def test_a_job_may_do_no_more_than_it_does() -> None:
    may_write = {
        name: {each for each, right in job["permissions"].items() if right == "write"}
        for name, job in JOBS.items()
    }
    assert {name for name, rights in may_write.items() if rights} == PUBLISHING
    assert may_write["pypi"] == may_write["npm"] == {"id-token"}
    assert yaml.safe_load(WORKFLOW.read_text("utf-8"))["permissions"] == {}


def test_an_action_is_pinned_to_a_commit_and_says_its_version() -> None:
    used = re.findall(r"uses: (.+)", WORKFLOW.read_text("utf-8"))
    pinned = [re.fullmatch(r"([\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+", each) for each in used]
    assert len(used) > 10
    assert None not in pinned
    assert len({each[1] for each in pinned if each}) == len({each[0] for each in pinned if each})


def test_what_builds_and_publishes_names_no_host_of_a_registry() -> None:
    for text in (WORKFLOW.read_text("utf-8"), *map(_read, ("Dockerfile", "Makefile"))):
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        assert hosts <= {HOME.removeprefix("https://"), "127.0.0.1"}
        assert not re.search(r"pypi\.org|npmjs\.org|ghcr\.io|docker\.io", text)


def test_a_first_user_tries_every_python_that_the_project_names() -> None:
    named = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if ":: 3." in each]
    assert JOBS["try"]["strategy"]["matrix"]["python"] == named


def test_a_first_user_tries_extras_and_weights_that_there_are() -> None:
    assert set(EXTRAS) <= set(PROJECT["optional-dependencies"])
    assert all((ROOT / f"reconciler/integrations/{each}.py").exists() for each in ADAPTERS.values())
    assert PROJECT["optional-dependencies"]["offline"] == [WEIGHTS]


def test_what_was_built_is_told_from_what_is_missing_or_of_another_version(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="make dist"):
        artefacts(tmp_path)
    module = NAME.replace("-", "_")
    for name in (f"{module}-{VERSION}-py3-none-any.whl", f"{module}-{VERSION}.tar.gz"):
        (tmp_path / name).touch()
    (tmp_path / f"{NAME}-{VERSION}.tgz").touch()
    listed = tmp_path / f"{NAME}-{VERSION}.cdx.json"
    listed.write_text(json.dumps({"metadata": {"component": {"name": NAME, "version": "0"}}}))
    with pytest.raises(SystemExit, match=f"not {NAME} {VERSION}"):
        artefacts(tmp_path)
    listed.write_text(json.dumps({"metadata": {"component": {"name": NAME, "version": VERSION}}}))
    assert artefacts(tmp_path).sbom == listed
    (tmp_path / "older.whl").touch()
    with pytest.raises(SystemExit, match=r"older\.whl"):
        artefacts(tmp_path)
