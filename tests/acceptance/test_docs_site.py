"""The documentation site: it builds strictly, and its pages fetch nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.documents import MARKDOWN, ROOT
from tools.docs_site import PAGES

pytestmark = pytest.mark.xdist_group("site")  # built once, not by each worker


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site; the build itself fails on a broken link or a lonely page.

    Not with --quiet: that hides the warnings on which a strict build fails.
    """
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return folder


def _pages(site: Path) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}


def test_the_site_has_every_page_that_a_person_reads(site: Path) -> None:
    sources = [path.relative_to(ROOT).as_posix() for path in MARKDOWN]
    places = [PAGES.get(each, each.removeprefix("docs/")) for each in sources]
    assert [each for each in places if not (site / each).with_suffix(".html").is_file()] == []


def test_every_address_on_a_page_leads_to_a_file_of_the_site(site: Path) -> None:
    missing = [
        f"{page.name}: {address}"
        for page, text in _pages(site).items()
        for address in re.findall(r'(?:href|src)="([^"]+)"', text)
        if not urlsplit(address).scheme
        and not (page.parent / unquote(urlsplit(address).path)).exists()
    ]
    assert [each for each in missing if not each.startswith("404.html")] == []


def test_no_page_fetches_a_script_a_font_or_a_picture_from_elsewhere(site: Path) -> None:
    fetched = (
        r'<(?:script|img|iframe|source)[^>]+src="(?:https?:)?//|<link[^>]+href="(?:https?:)?//'
    )
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert [page.name for page, text in _pages(site).items() if re.search(fetched, text)] == []
    assert not re.search(r"url\([\"']?(?:https?:)?//|@import", styles)
