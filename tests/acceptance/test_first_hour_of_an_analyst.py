"""An analyst's first hour: what `make neo4j` starts, looked at in the real Neo4j Browser.

The memory was told the demo's notes on the days that they are of, so that it can be asked what it
believed on one of them. BROWSERS=all looks at each line of Neo4j, instead of at the newest only.
PICTURES=docs takes the pictures that docs/browser.md shows.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import FactHistory
from reconciler.domain.records.kinds import Action
from reconciler.entrypoints.browser_commands import saved_queries
from tests.chromium import Chromium, chromium_or_skip
from tests.conftest import CHOICE
from tests.engines import OWN_LINES
from tests.integration.test_captions import UNREADABLE
from tests.neo4j_artefacts import prepare
from tests.neo4j_server import (
    PORT_ATTEMPTS_MAX,
    PORT_TAKEN,
    ServerFailedError,
    ServerNotAvailableError,
    free_ports,
    say,
)

CHOSEN = [name for name in CHOICE.neo4j_names if name in OWN_LINES and not CHOICE.uri]
LOOKED_AT = CHOSEN if os.environ.get("BROWSERS") == "all" else CHOSEN[-1:]
NONE_CHOSEN = pytest.param("", marks=pytest.mark.skip(reason="ENGINES chose no Neo4j of our own"))

START = datetime.now(UTC).replace(hour=9, minute=0) - timedelta(days=40)
"""The day before the demo's first. Priya moves eighteen days later, four weeks ago by now: what was
told longer ago would have expired."""
BEFORE_THE_MOVE = f"datetime('{START + timedelta(days=16):%Y-%m-%d}')"
READY = "Ctrl-C"
"""What the last line says that `make neo4j` prints before it waits."""

HELD = "Has been diagnosed with asthma."
"""Waits for an answer from the day on which the test runs: an old question would have lapsed."""

DISPUTED: list[dict[str, Any]] = [
    {"text": f"The budget is {amount} thousand euros.", "source_kind": source}
    | {"attribute": "budget", "value": f"{amount},000 EUR"}
    for amount, source in ((40, "user_explicit"), (50, "approved_doc"))
]
"""What a less trusted source contradicts, so that both stay, and one question is asked."""

COUNTED = (Action.ADD, Action.UPDATE, Action.SKIP, Action.HOLD, Action.REJECT)
"""What a day's decisions are counted by, in the order of the columns."""

PICTURE_HEIGHT = 655
PICTURES = os.environ.get("PICTURES")
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
    """The command of the Makefile, ended as a person ends it.

    It is given free ports; another process may take one of them first, and then others are tried.

    Raises:
        ServerFailedError: it does not start; the text has what it said.
    """
    for attempts_left in reversed(range(PORT_ATTEMPTS_MAX)):
        with running(line_name, folder) as told:
            if READY in told:
                said = dict(re.findall(r"^(\w+) +(\S+)$", told, re.MULTILINE))
                [uri] = re.findall(r"^export NEO4J_URI=(\S+)$", told, re.MULTILINE)
                yield Started(said["Browser"], uri, said["password"], said["guide"])
                return
        if not attempts_left or not any(sign in told for sign in PORT_TAKEN):
            raise ServerFailedError(f"`make neo4j` ended before it was ready:\n{told}")


@contextmanager
def running(line_name: str, folder: Path) -> Iterator[str]:
    """What the command says until it is ready, or at its end."""
    ports = free_ports()
    where = ["--port", str(ports.bolt), "--http-port", str(ports.http), "--keep", str(folder)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.neo4j_server", "--line", line_name, *where],
        # It takes half the processor time to start so, and there is no work to be fast at here.
        env=os.environ | {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout
            told = ""
            for line in process.stdout:
                told += line
                if READY in line:
                    break
            yield told
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)


class Browser:
    """Neo4j Browser as a person uses it: clicks, what is typed, and what is then on the page."""

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

    def take_picture(self, name: str) -> None:
        """Take a picture of the page for the documents, where they are wanted."""
        if PICTURES:
            time.sleep(5)  # until a graph has come to rest
            self._chromium.screenshot(Path(PICTURES) / name, height=PICTURE_HEIGHT)

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
        told = fill(started)
        with Chromium(tmp_path, height=1400) as chromium:
            browser = Browser(chromium)
            browser.log_in(started)
            look_at_what_is_there_by_itself(browser, started)
            browser.take_picture("browser_guide.png")
            say_whose_memory(browser)
            frames = ask_each_query_of_the_guide(browser)
            look_at_captions(browser, frames, told.chains)
            look_at_why_bangalore_is_believed(browser, frames, told.chains)
            look_at_what_is_not_settled(browser, frames, told)
            look_at_what_was_true_two_weeks_ago(browser, frames, told)
            look_at_the_numbers(browser, frames, told)
            ask_what_was_believed_before_the_move(browser)


@dataclass(frozen=True)
class PriyasRecord:
    """What the memory itself says of Priya."""

    chains: list[FactHistory]
    decisions: list[Decision]

    def of(self, action: Action) -> list[Decision]:
        return [decision for decision in self.decisions if decision.action is action]


def fill(started: Started) -> PriyasRecord:
    """Tell the demo's notes about Priya, each on its day, and today what is not settled yet."""
    lines = files("reconciler.entrypoints").joinpath("demo_notes.jsonl").read_text(encoding="utf-8")
    notes = [json.loads(line) for line in lines.splitlines()]
    now = START
    given = {"uri": started.uri, "password": started.password}
    with Memory.open(graph="neo4j", neo4j=given, clock=lambda: now) as memory:
        for note in notes:
            now = max(now + timedelta(seconds=1), START + timedelta(days=note.pop("day")))
            if note.pop("contact_id") == "priya":
                memory.add_contact_note("demo", "priya", note.pop("text"), **note)
        now = datetime.now(UTC)
        memory.add_contact_note("demo", "priya", HELD)
        for note in DISPUTED:
            memory.add_contact_note("demo", "priya", **note)
        memory.add_contact_note("demo", "dana", "Needs SSO before the rollout can start.")
        return PriyasRecord(
            memory.contact("demo", "priya").history(),
            list(memory.contact("demo", "priya").all_decisions()),
        )


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
        if query.name == "02_what_superseded_what":
            browser.take_picture("browser_chain.png")
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


def look_at_what_is_not_settled(
    browser: Browser, frames: dict[str, str], told: PriyasRecord
) -> None:
    kept_out = browser.text(frames["04_refused_and_held"])
    assert told.of(Action.REJECT)
    assert told.of(Action.HOLD)
    for decision in told.of(Action.REJECT) + told.of(Action.HOLD):
        assert decision.gate
        assert f'"{decision.action}" "{decision.gate.reason}" "{decision.note.text}"' in kept_out
    assert re.findall(r'"([^"]+)" "[^"]+" true', kept_out) == [HELD]
    one, other = (note["text"] for note in DISPUTED)
    dispute = browser.nodes(frames["05_open_disputes"])
    assert beginnings(c for c, _ in dispute) == beginnings({"Priya Nair", one, other})
    assert f'"{other}" "{one}"' in browser.text(frames["06_near_misses"])


def look_at_what_was_true_two_weeks_ago(
    browser: Browser, frames: dict[str, str], told: PriyasRecord
) -> None:
    day = datetime.now(UTC) - timedelta(weeks=2)
    true = {
        fact.text
        for chain in told.chains
        for fact in chain.facts
        if fact.valid_from <= day < (fact.valid_to or datetime.max.replace(tzinfo=UTC))
    }
    assert "Is a vegetarian." in true
    assert [text for text in true if "Bangalore" in text and "Pune" not in text]
    then = browser.nodes(frames["09_live_as_of_a_day"])
    assert beginnings(c for c, _ in then) == beginnings(true | {"Priya Nair"})


def look_at_the_numbers(browser: Browser, frames: dict[str, str], told: PriyasRecord) -> None:
    by_day = browser.text(frames["08_by_day"])
    days = {decision.at.date() for decision in told.decisions}
    assert len(days) > 5
    for day in days:
        counts = Counter(each.action for each in told.decisions if each.at.date() == day)
        numbers = (counts.total(), *(counts[action] for action in COUNTED))
        assert f'"{day}" {" ".join(map(str, numbers))}' in by_day
    states = Counter(str(fact.state) for chain in told.chains for fact in chain.facts)
    numbers = (states["live"], states["superseded"], 0, 1, 1, len(told.of(Action.REJECT)))
    health = browser.text(frames["11_health"])
    assert f'"priya" "Priya Nair" {" ".join(map(str, numbers))} ' in health
    assert '"dana" "dana" 1 0 0 0 0 0 ' in health


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
