"""An analyst's first hour: what `make neo4j` starts, looked at in the real Neo4j Browser.

The memory was told the demo's notes on the days that they are of, so that it can be asked what it
believed on one of them. BROWSERS=all looks at each line of Neo4j, instead of at the newest only.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.domain.records.facts import FactHistory
from reconciler.entrypoints.browser_pack import saved_queries
from tests.chromium import Chromium, chromium_or_skip
from tests.conftest import CHOICE
from tests.engines import OWN_LINES
from tests.integration.test_captions import UNREADABLE
from tests.neo4j_artefacts import prepare
from tests.neo4j_server import ServerNotAvailableError, free_ports, say

CHOSEN = [name for name in CHOICE.neo4j_names if name in OWN_LINES and not CHOICE.uri]
LOOKED_AT = CHOSEN if os.environ.get("BROWSERS") == "all" else CHOSEN[-1:]
NONE_CHOSEN = pytest.param("", marks=pytest.mark.skip(reason="ENGINES chose no Neo4j of our own"))

START = datetime(2025, 10, 16, 9, tzinfo=UTC)
"""The day before the demo's first, so that Priya moves on 3 November."""
BEFORE_THE_MOVE = "datetime('2025-11-01')"
CONTACT, LIVE, SUPERSEDED, TURN = "#F4B740", "#1F6F8B", "#C5CCD3", "#E6D3EE"


@dataclass(frozen=True)
class Started:
    """What `make neo4j` prints, as far as an analyst needs it."""

    url: str
    uri: str
    password: str
    guide: str


@contextmanager
def make_neo4j(line_name: str, folder: Path) -> Iterator[Started]:
    """The command of the Makefile on free ports, ended as a person ends it."""
    ports = free_ports()
    where = ["--port", str(ports.bolt), "--http-port", str(ports.http), "--keep", str(folder)]
    command = [sys.executable, "-m", "tests.neo4j_server", "--line", line_name, *where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            told = ""
            for line in process.stdout:
                told += line
                if "Ctrl-C" in line:
                    break
            said = dict(re.findall(r"^(\w+) +(\S+)$", told, re.MULTILINE))
            [uri] = re.findall(r"^export NEO4J_URI=(\S+)$", told, re.MULTILINE)
            yield Started(said["Browser"], uri, said["password"], said["guide"])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)


class Browser:
    """Neo4j Browser as somebody uses it: clicks, what is typed, and what is then on the page."""

    EDITOR = "[data-testid=activeEditor]"
    FRAMES = "document.querySelectorAll('[data-testid=frame]')"
    GUIDE = "[data-testid=carousel]"

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._marks = 0

    def log_in(self, started: Started) -> None:
        self._chromium.open(started.url)
        self._chromium.wait_for(_has("[data-testid=password]"))
        self._chromium.evaluate(f"{_first('[data-testid=password]')}.focus()")
        self._chromium.type_text(started.password)
        self._click("[data-testid=connect]")

    def frame_of(self, command: str) -> str:
        """The selector of the newest frame that a command opened, once it has its contents."""
        said = "?.querySelector('[data-testid=frameCommand]')?.innerText.trim()"
        full = "?.querySelector('[data-testid=frameContents]')?.innerText.trim()"
        given = f"frame{said}?.startsWith({json.dumps(command)}) && frame{full}"
        return self._marked(f"[...{self.FRAMES}].find(frame => {given})")

    def text(self, selector: str) -> str:
        return " ".join(self._chromium.evaluate(f"{_first(selector)}.innerText").split())

    def nodes(self, frame: str) -> set[tuple[str, str]]:
        """The caption and the colour of each node that a frame draws."""
        self._chromium.wait_for(_has(f"{frame} g.node text"))
        drawn = self._chromium.evaluate(
            f"[...document.querySelectorAll({json.dumps(frame + ' g.node')})].map(node => ["
            " [...node.querySelectorAll('text')].map(line => line.textContent).join(' '),"
            " node.querySelector('circle.b-outline').getAttribute('fill')])"
        )
        return {(" ".join(caption.split()), colour) for caption, colour in drawn}

    def relationships(self, frame: str) -> set[str]:
        script = f"[...document.querySelectorAll({json.dumps(frame + ' g.relationship text')})]"
        return set(self._chromium.evaluate(f"{script}.map(each => each.textContent.trim())"))

    def turn_to(self, title: str, to: str = "next") -> None:
        """The guide's next page, or the one before, which has to be the one of this title."""
        self._click(f"{self.GUIDE} .{to}-slide")
        heading = f"{_first(self.GUIDE + ' h3')}?.innerText"
        self._chromium.wait_for(f"{heading} === {json.dumps(title)}")

    def click_in_guide(self, number: int = 0) -> str:
        """Click one of the page's commands, which puts it into the editor; gives its text."""
        command = f"document.querySelectorAll('{self.GUIDE} pre.runnable')[{number}]"
        self._chromium.evaluate(f"{command}.click()")
        text = str(self._chromium.evaluate(f"{command}.textContent"))
        self._wait_for_editor(text)
        return text

    def type_instead(self, text: str) -> None:
        """Replace what is in the editor."""
        self._chromium.evaluate(f"{_first(self.EDITOR + ' textarea')}.focus()")
        self._chromium.press("a", 65, control=True)
        self._chromium.type_text(" ".join(text.split()))
        self._wait_for_editor(text)

    def run(self) -> str:
        """Run what is in the editor.

        Returns:
            The selector of its frame, which says of no error.
        """
        self._chromium.evaluate(f"{self.FRAMES}[0].dataset.isOld = true")
        self._click("[data-testid=editor-Run]")
        full = "?.querySelector('[data-testid=frame-loaded-contents], [data-testid=rawParamData]')"
        frame = self._marked(
            f"[{self.FRAMES}[0]].find(frame => !frame.dataset.isOld && frame{full})"
        )
        error = f"{frame} [data-testid=cypherFrameErrorMessage]"
        assert not self._chromium.evaluate(_has(error)), self.text(frame)
        return frame

    def _marked(self, element: str) -> str:
        """A selector of an element that is found by a script, as soon as it is there."""
        self._marks += 1
        mark = f"[{element}].every(found => found && (found.dataset.mark = '{self._marks}'))"
        self._chromium.wait_for(mark)
        return f'[data-mark="{self._marks}"]'

    def _click(self, selector: str) -> None:
        self._chromium.wait_for(_has(selector))
        self._chromium.evaluate(f"{_first(selector)}.click()")

    def _wait_for_editor(self, text: str) -> None:
        # Long lines are wrapped, with spaces that do not break, and the last may be out of sight.
        shown = f"{_first(self.EDITOR + ' .view-lines')}.innerText.split(/[^!-~]/).join('')"
        text = json.dumps("".join(text.split()))
        self._chromium.wait_for(f"{shown} !== '' && {text}.startsWith({shown})")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("engine_name", LOOKED_AT or [NONE_CHOSEN])
def test_from_the_login_to_what_was_believed_on_a_day(engine_name: str, tmp_path: Path) -> None:
    chromium_or_skip()
    try:
        prepare(OWN_LINES[engine_name], say)
    except ServerNotAvailableError as error:
        pytest.skip(f"{engine_name} cannot be had here: {error}")
    line_name = engine_name.removeprefix("neo4j-")
    with make_neo4j(line_name, tmp_path / "neo4j") as started:
        chains = fill(started)
        with Chromium(tmp_path, height=1400) as chromium:
            browser = Browser(chromium)
            browser.log_in(started)
            look_at_what_is_there_by_itself(browser, started)
            say_whose_memory(browser)
            frames = ask_each_query_of_the_guide(browser)
            look_at_captions(browser, frames, chains)
            look_at_why_bangalore_is_believed(browser, frames, chains)
            ask_what_was_believed_before_the_move(browser)


def fill(started: Started) -> list[FactHistory]:
    """Tell what the demo tells of two contacts, each note on its day; gives Priya's chains."""
    told = files("reconciler.entrypoints").joinpath("demo_notes.jsonl").read_text(encoding="utf-8")
    notes = [json.loads(line) for line in told.splitlines()]
    now = START
    given = {"uri": started.uri, "password": started.password}
    with Memory.open(graph="neo4j", neo4j=given, clock=lambda: now) as memory:
        for note in notes:
            now = max(now + timedelta(seconds=1), START + timedelta(days=note.pop("day")))
            if note["contact_id"] in {"priya", "dana"}:
                memory.add_contact_note("demo", note.pop("contact_id"), note.pop("text"), **note)
        return memory.history("demo", "priya")


def look_at_what_is_there_by_itself(browser: Browser, started: Started) -> None:
    guide = browser.text(browser.frame_of(f":play {started.guide}"))
    assert "What an agent remembers" in guide
    assert f"1 / {len(saved_queries()) + 1}" in guide
    browser.frame_of(f":style {started.guide.replace('guide.html', 'style.grass')}")
    first = browser.nodes(browser.frame_of(":auto MATCH path"))
    assert {("Priya Nair", CONTACT), ("She lives in Pune", SUPERSEDED)} < first
    assert {colour for _, colour in first} == {CONTACT, LIVE, SUPERSEDED}


def say_whose_memory(browser: Browser) -> None:
    browser.click_in_guide(1)
    contacts = browser.text(browser.run())
    assert '"priya" "Priya Nair"' in contacts
    browser.type_instead(browser.click_in_guide().replace('"dana"', '"priya"'))
    assert '"contact_id": "priya" } See' in browser.text(browser.run())


def ask_each_query_of_the_guide(browser: Browser) -> dict[str, str]:
    """Turn the guide's pages and run what they show; gives each query's frame."""
    frames = {}
    for query in saved_queries():
        browser.turn_to(query.title)
        browser.click_in_guide()
        frames[query.name] = browser.run()
        assert browser.text(frames[query.name]).startswith(" ".join(query.text.split()))
    return frames


def look_at_captions(browser: Browser, frames: dict[str, str], chains: list[FactHistory]) -> None:
    texts = {fact.text for chain in chains for fact in chain.facts}
    followed = {fact.text for chain in chains if chain.supersessions for fact in chain.facts}
    story = browser.nodes(frames["01_whose_story"])
    below = browser.nodes(frames["02_what_superseded_what"])
    assert not [caption for caption, _ in story | below if UNREADABLE.search(caption)]
    assert beginnings(c for c, _ in story) == beginnings(texts | {"demo", "Priya Nair"})
    assert beginnings(c for c, _ in below) == beginnings(followed)


def look_at_why_bangalore_is_believed(
    browser: Browser, frames: dict[str, str], chains: list[FactHistory]
) -> None:
    [city] = [chain for chain in chains if chain.facts[0].text == "She lives in Bangalore."]
    [old] = [fact for fact in city.facts if fact.text == "She lives in Pune"]
    [moved] = [link for link in city.supersessions if link.old_id == old.fact_id]
    below = browser.nodes(frames["02_what_superseded_what"])
    assert {("She lives in Bangalore.", LIVE), ("She lives in Pune", SUPERSEDED)} < below
    assert browser.relationships(frames["02_what_superseded_what"]) == {"slot"}
    decided = browser.text(frames["03_who_decided"])
    assert moved.cosine is not None
    why = f'{round(moved.cosine, 4)} "contact\'s city is Bangalore, and was Pune" "agent:demo"'
    assert f'"Moved from Pune to Bangalore." "She lives in Pune" "slot" {why}' in decided
    words = browser.nodes(frames["07_back_to_the_words"])
    assert ("She lives in Bangalore.", LIVE) in words
    assert "She lives" in beginnings(c for c, colour in words if colour == TURN), words


def ask_what_was_believed_before_the_move(browser: Browser) -> None:
    """The guide is at its last page but one after the walk: turn back to it, and set the day."""
    browser.turn_to("Believed on a day", to="previous")
    query = browser.click_in_guide()
    browser.type_instead(query.replace("datetime()", BEFORE_THE_MOVE, 1))
    held = browser.nodes(browser.run())
    assert beginnings(c for c, _ in held) == beginnings(
        {
            "Priya Nair",
            "She lives in Pune",
            "Now prefers phone calls over email.",
            "Is a vegetarian.",
            "Moved from Pune to Bangalore.",
        }
    )


def beginnings(captions: Iterable[str]) -> set[str]:
    """The first two words of each: the Browser cuts what does not fit into a circle."""
    return {" ".join(caption.split()[:2]) for caption in captions}


def _first(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def _has(selector: str) -> str:
    return f"{_first(selector)} !== null"
