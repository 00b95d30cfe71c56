"""MkDocs hook: the site has the pages outside docs/ too, and every link stays inside the site.

A link is written for who reads the files in the repository. On the site a page of ``PAGES`` has
another place, and any other file that a page links to, such as a picture or a configuration file,
is copied to ``files/``. All pages stand at the top of the site, so a link is the place itself. A
link to something that is not there is left as it is, so that the strict build fails on it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/RESULTS.md": "results.md",
    "benchmarks/results/deciding.md": "results_deciding.md",
    "benchmarks/results/faults.md": "results_faults.md",
    "benchmarks/results/gate.md": "results_gate.md",
    "benchmarks/results/house.md": "results_house.md",
    "benchmarks/results/packaged_judge.md": "results_packaged_judge.md",
    "benchmarks/results/peers.md": "results_peers.md",
    "benchmarks/results/reading.md": "results_reading.md",
    "benchmarks/results/recall.md": "results_recall.md",
    "benchmarks/results/scale.md": "results_scale.md",
    "benchmarks/results/sessions.md": "results_sessions.md",
    "benchmarks/results/speed.md": "results_speed.md",
    "clients/typescript/README.md": "typescript_package.md",
    "cypher/README.md": "queries.md",
    "exam/README.md": "exam.md",
    "examples/README.md": "examples.md",
    "findings/README.md": "findings.md",
    "judge/gate_notes.md": "gate_notes.md",
    "judge/relations.md": "relations.md",
}
"""Where a page outside docs/ stands on the site, by its path in the repository."""
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def _linked(source: str, target: str) -> str:
    """The path in the repository that a link on the page ``source`` leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))


def _place(path: str) -> str:
    """The path on the site of a file in the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"files/{path}.txt" if path.endswith(".md") else f"files/{path}"


def _sources() -> list[str]:
    return [*PAGES, *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and every file that a page links to."""
    from mkdocs.structure.files import File

    for source in _sources():
        text = (ROOT / source).read_text(encoding="utf-8")
        linked = {_linked(source, target) for _, target, _ in LINK.findall(text)}
        for path in sorted(linked | {source}):
            there = files.get_file_from_path(_place(path)) is not None
            if not there and (ROOT / path).is_file():
                added = File.generated(config, _place(path), abs_src_path=str(ROOT / path))
                files.append(added)
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point each link of a page at where its target stands on the site."""
    place = page.file.src_uri
    source = {site: path for path, site in PAGES.items()}.get(place, f"docs/{place}")

    def moved(found: re.Match[str]) -> str:
        begin, target, anchor = found.groups()
        path = _linked(source, target)
        return f"{begin}{_place(path)}{anchor or ''})" if (ROOT / path).is_file() else found[0]

    return LINK.sub(moved, markdown)
