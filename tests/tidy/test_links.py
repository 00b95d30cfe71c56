"""Links: every one leads to a file, a heading or a well-formed address; no page is left alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.documents import MARKDOWN, ROOT, prose
from tests.tables import every

LINK = re.compile(r"\]\(([^)\s]*)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
NOT_OURS = {".git", ".venv", ".pytest_cache", "site", "dist", "build", "node_modules"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _pages(folder: Path) -> Iterator[Path]:
    """The pages below a folder; what is installed there has thousands of folders of its own."""
    for path in folder.iterdir():
        if path.name in NOT_OURS:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _pages(path)
        elif path.suffix == ".md":
            yield path


def _links(path: Path) -> list[str]:
    return LINK.findall(re.sub(r"`[^`\n]+`(?!\])", "", prose(path)))


def _anchors(path: Path) -> set[str]:
    """What a link may name behind the #, made of the headings as code hosts and MkDocs make it."""
    titles = (re.sub(r"[^\w\- ]", "", each.lower()) for each in HEADING.findall(prose(path)))
    return {title.strip().replace(" ", "-") for title in titles}


def _project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _home() -> str:
    return _project()["project"]["urls"]["Homepage"]  # type: ignore[index, no-any-return]


def test_no_page_is_missing_from_those_that_are_checked() -> None:
    found = set(_pages(ROOT))
    prompts = set((ROOT / "config" / "prompts").glob("*.md"))
    of_tests = set((ROOT / "tests").rglob("*.md"))  # no page leads a user there
    assert found - prompts - of_tests == set(MARKDOWN)


@every("path", MARKDOWN)
def test_every_link_to_a_file_leads_to_one(path: Path) -> None:
    local = [each.partition("#")[0] for each in _links(path) if not urlsplit(each).scheme]
    assert [each for each in local if each and not (path.parent / each).is_file()] == []


@every("path", MARKDOWN)
def test_no_link_leaves_the_repository(path: Path) -> None:
    local = [each.partition("#")[0] for each in _links(path) if not urlsplit(each).scheme]
    assert all((path.parent / each).resolve().is_relative_to(ROOT) for each in local)


@every("path", MARKDOWN)
def test_every_anchor_is_a_heading_of_its_page(path: Path) -> None:
    named = [each.partition("#") for each in _links(path) if "#" in each and "://" not in each]
    missing = [
        f"{file}#{anchor}"
        for file, _, anchor in named
        if anchor not in _anchors((path.parent / file) if file else path)
    ]
    assert missing == []


@every("path", MARKDOWN)
def test_every_absolute_link_is_https_to_another_site(path: Path) -> None:
    for link in _links(path):
        address = urlsplit(link)
        if address.scheme:
            assert (address.scheme, address.username) == ("https", None), link
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", address.netloc), link
            assert not link.startswith(_home()), f"{link}: name the file instead"


def test_every_promise_names_tests_that_are_there() -> None:
    points = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8").split("\n- ")[1:]
    for point in points:
        named = re.findall(r"`((?:\w+/)?test_\w+\.py)`", point)
        assert named, point
        assert [each for each in named if not [*(ROOT / "tests").rglob(each)]] == [], point


def test_the_readme_leads_to_every_page() -> None:
    waiting, reached = [ROOT / "README.md"], set[Path]()
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            local = (each.partition("#")[0] for each in _links(page) if "://" not in each)
            linked = ((page.parent / each).resolve() for each in local if each)
            waiting += [each for each in linked if each.suffix == ".md" and each in MARKDOWN]
    assert {_name(each) for each in MARKDOWN} == {_name(each) for each in reached}


def test_one_address_is_the_projects_in_all_that_is_published() -> None:
    project = _project()
    hook = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]  # type: ignore[index]
    replaced = [each["replacement"].removeprefix(r"\1") for each in hook["substitutions"]]
    addresses = [*project["project"]["urls"].values(), *replaced]  # type: ignore[index]
    assert all(each == _home() or each.startswith(f"{_home()}/") for each in addresses)


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 180
