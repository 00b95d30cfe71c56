"""What the page weighs and how soon it is painted, in a headless Chromium on the loopback.

A contact has 60 facts, of which 10 were replaced, and 3 questions. Each page is loaded with an
empty cache and then again; the weight is that of the first load: the page, its style and script.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import pytest

from benchmarks.data import LEFT_OUT
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.settings import load_settings
from tests.chromium import Chromium, chromium_or_skip
from tests.http_api import serving_api

LOADS = sized(11, 1)
PAGES = {
    "contacts": "/?agent=crm",
    "contact": "/contact?agent=crm&contact=priya",
    "decisions": "/decisions?agent=crm",
}
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WEIGHT = """[performance.getEntriesByType('navigation')[0],
  ...performance.getEntriesByType('resource')].reduce((sum, each) => sum + each.transferSize, 0)"""


def main(_engines: object = None) -> None:
    """Print the table; on the embedded engine without a model."""
    try:
        chromium_or_skip()
    except pytest.skip.Exception as missing:
        print(f"{LEFT_OUT}{missing}\n")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "page.lbug"
        settings = load_settings(embedded_path=path, embedder={"model": "noop"})
        with (
            Memory.open(settings) as memory,
            serving_api(memory, folder) as api,
            Chromium(folder) as chromium,
        ):
            _fill(memory)
            grant = Grant(profile=AccessProfile.OPERATOR, tenant="default", agent_ids=("crm",))
            _log_in(chromium, api.url, api.token(grant))
            print(f"{'page':10}{'kB, first load':>16}{'answer ms p50':>15}{'first paint p50':>17}")
            for page, path in PAGES.items():
                url = api.url + path
                chromium.call("Network.clearBrowserCache")
                loads = [_loaded(chromium, url) for _ in range(LOADS)]
                weights, answers, paints = zip(*loads, strict=True)
                answer, paint = statistics.median(answers), statistics.median(paints)
                print(f"{page:10}{weights[0] / 1000:16.1f}{answer:15.0f}{paint:17.0f}")


def _fill(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    for number in range(11):
        priya.note(f"Lives in town {number}.", attribute="city", value=f"town {number}")
    for number in range(49):
        priya.note(f"Owns bicycle number {number}, which is blue.")
    for seat in ("window", "aisle", "middle"):
        priya.note(f"I guess I prefer {seat} seats", importance=0.8)


def _log_in(chromium: Chromium, url: str, token: str) -> None:
    chromium.open(f"{url}/login")
    chromium.evaluate("document.getElementById('token').focus()")
    chromium.type_text(token)
    chromium.press("Enter", 13)
    chromium.wait_for("location.pathname === '/'")


def _loaded(chromium: Chromium, url: str) -> tuple[int, float, float]:
    """The bytes of a load, when its answer was there, and when it was first painted, in ms."""
    chromium.call("Page.navigate", url="about:blank")
    chromium.wait_for("location.href === 'about:blank'")
    chromium.call("Page.navigate", url=url)
    chromium.wait_for(f"location.href === '{url}' && document.readyState === 'complete'")
    painted = chromium.wait_for(PAINTED)
    answered = chromium.evaluate("performance.getEntriesByType('navigation')[0].responseEnd")
    return int(chromium.evaluate(WEIGHT)), float(answered), float(painted)
