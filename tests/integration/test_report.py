"""The report: how facts followed each other, drawn, escaped, bounded, and readable by anybody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from reconciler import Action, Memory, ops
from reconciler.errors import UnknownContactError
from reconciler.ops.pages import report as reporting
from reconciler.ops.review.timeline import ROWS_MAX, timeline
from reconciler.reading.visible_text import visible
from reconciler.testing import HashingEmbedder
from tests.chromium import Chromium
from tests.engines import EngineUnderTest, embedded_engine

AGENT = "crm"
SCRIPT = "Likes <script>alert(1)</script> & \u202etea."
TERMINAL = "Wears a hat, size \x1b[31m7\x1b[0m, from \x07Goa."
QUOTES = """Says "on' onload='alert(1)" at <b title="x">noon</b>."""
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
VOID = {"br", "hr", "img", "input", "link", "meta"}


class Page(HTMLParser):
    """Every element of a page with its attributes, the words in it, and whether all are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), attrs
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.words.append((self._open[-1] if self._open else "", " ".join(data.split())))

    def of(self, tag: str, name: str = "class", value: str = "") -> list[dict[str, str | None]]:
        return [
            found for at, found in self.elements if at == tag and value in (found.get(name) or "")
        ]

    @property
    def text(self) -> str:
        return " ".join(text for _, text in self.words)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of two contacts, with everything that a report shows."""
    given = embedded_engine(tmp_path_factory.mktemp("report")).settings_arguments
    with Memory.open(embedder=HashingEmbedder(16), **given) as memory:
        fill(memory)
        yield memory


def fill(memory: Memory) -> None:
    for week, city in enumerate(("Pune", "Goa", "Delhi")):
        memory.add_contact_note(
            AGENT,
            "alice",
            f"Lives in {city}.",
            attribute="city",
            value=city,
            contact_name="Alice <i>Rao</i>",
            said_at=START + timedelta(weeks=week),
        )
    for text in (SCRIPT, TERMINAL, QUOTES, "Is diabetic.", "ok thanks", "Thanks a lot!"):
        memory.add_contact_note(AGENT, "alice", text)
    tea = memory.add_contact_note(AGENT, "alice", "Plays the cello in a quartet.").fact_id
    memory.contact(AGENT, "alice").revoke(tea, by="anna", reason="Her <em>sister</em> does.")
    memory.add_contact_note(AGENT, "alice", "Invoice 1042 is unpaid.")
    memory.add_contact_note(AGENT, "alice", "Invoice 1043 is unpaid.")
    memory.add_contact_note(AGENT, "bob", "Keeps bees.")


@pytest.fixture(scope="module")
def html(memory: Memory) -> str:
    return ops.report(memory.contact(AGENT, "alice"))


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_every_fact_has_a_bar_that_the_keyboard_reaches_and_a_row(
    memory: Memory, page: Page
) -> None:
    facts = [fact for chain in memory.contact(AGENT, "alice").history() for fact in chain.facts]
    links = [each["href"] for each in page.of("a", value="bar ")]
    rows = {each.get("id") for each in page.of("tr")}
    assert sorted(links) == sorted(f"#fact-{fact.fact_id}" for fact in facts)
    assert {f"fact-{fact.fact_id}" for fact in facts} <= rows


def test_a_bar_begins_where_the_one_before_it_ends(memory: Memory) -> None:
    drawn = timeline(memory.contact(AGENT, "alice").history(), datetime.now(UTC), 100)
    [city] = [strand for strand in drawn.strands if strand.title == "city"]
    assert [bar.fact.text for bar in city.bars] == [
        f"Lives in {each}." for each in ("Delhi", "Goa", "Pune")
    ]
    for new, old in pairwise(city.bars):
        assert old.right == pytest.approx(new.left)
    assert city.bars[0].right == 1.0
    assert {(each.old.row, each.new.row) for each in city.arrows} == {(2, 1), (1, 0)}


def said_again(folder: Path) -> Memory:
    """A memory of three cities, the second of which was said three times, two days apart."""
    now = [START]
    given = embedded_engine(folder).settings_arguments
    memory = Memory.open(embedder=HashingEmbedder(16), clock=lambda: now[0], **given)
    for city in ("Pune", "Goa", "Goa", "Goa", "Delhi"):
        text = f"Lives in {city}{'!' * (now[0] - START).days}"
        memory.add_contact_note(AGENT, "alice", text, attribute="city", value=city)
        now[0] += timedelta(days=2)
    return memory


def test_what_was_said_again_is_one_bar_with_a_mark_for_each_time(tmp_path: Path) -> None:
    with said_again(tmp_path) as memory:
        chains = memory.contact(AGENT, "alice").history()
        page = Page(ops.report(memory.contact(AGENT, "alice")))
    [strand] = timeline(chains, START + timedelta(days=10), 100).strands
    assert [bar.fact.slot.value for bar in strand.bars] == ["Delhi", "Goa", "Pune"]
    assert [len(bar.facts) for bar in strand.bars] == [1, 3, 1]
    assert strand.bars[1].again == pytest.approx((0.4, 0.6))
    assert (strand.bars[1].left, strand.bars[1].right) == pytest.approx((0.2, 0.8))
    tips = {(each.old.row, each.new.row): each.tip for each in strand.arrows}
    assert tips == pytest.approx({(2, 1): 0.2, (1, 0): 0.8})
    assert len(page.of("line", value="again")) == 2 + 1  # and the legend's
    assert "1 facts hold; 4 superseded" in page.text
    assert len(page.of("tr", "id", "fact-")) == 5


def test_a_supersession_is_told_with_its_rule_and_cosine(memory: Memory, page: Page) -> None:
    links = [
        each for chain in memory.contact(AGENT, "alice").history() for each in chain.supersessions
    ]
    labels = [each["aria-label"] or "" for each in page.of("g", value="arrow")]
    assert len(labels) == len(links) == 2
    assert all(
        re.search(r"took the place of .*: a new value, cosine -?\d\.\d\d$", label)
        for label in labels
    )


def test_a_bar_shows_its_evidence_when_it_is_hovered_over(page: Page) -> None:
    titles = [text for tag, text in page.words if tag == "title"]
    assert any(re.search(r"^Lives in Pune\. ended, .*“Lives in Pune\.” \(", t) for t in titles)


def test_what_is_open_and_what_was_refused_is_told(memory: Memory, page: Page) -> None:
    questions = {each.question or "?" for each in memory.contact(AGENT, "alice").pending()}
    assert {each.question for each in memory.contact(AGENT, "alice").disputes()} < questions
    assert not [each for each in questions if visible(each) not in page.text]
    for each in memory.contact(AGENT, "alice").refusals():
        assert f"{each.refusals} × {each.reason.replace('_', ' ')}" in page.text
    assert "ok thanks" in page.text


def report_of(memory: Memory, agent: str, contact: str | None) -> str:
    return ops.report(memory.contact(agent, contact) if contact else memory.agent(agent))


@pytest.mark.parametrize("contact", ["alice", None])
def test_texts_are_escaped_and_what_cannot_be_seen_is_named(
    memory: Memory, contact: str | None
) -> None:
    html = report_of(memory, AGENT, contact)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; \\u202etea." in html
    assert "\\x1b[31m7\\x1b[0m" in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", html)
    found = Page(html)
    tags = {tag for tag, _ in found.elements}
    names = {name for _, given in found.elements for name in given}
    assert not tags & {"script", "i", "b", "em", "img", "iframe", "link", "object", "style2"}
    assert not [name for name in names if name.startswith("on")]


def test_it_asks_for_nothing_beside_itself(html: str, page: Page) -> None:
    [policy] = page.of("meta", "http-equiv", "Content-Security-Policy")
    assert (policy["content"] or "").startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert not re.search(r"https?:|@import|url\(|//[a-z]", html)
    links = [given["href"] or "" for tag, given in page.elements if "href" in given]
    targets = {given["id"] for tag, given in page.elements if "id" in given}
    assert {link[1:] for link in links} <= targets
    assert all(link.startswith("#") for link in links)


def test_who_sees_no_picture_is_told_the_same(page: Page) -> None:
    assert [given["lang"] for tag, given in page.elements if tag == "html"] == ["en"]
    for tag, given in page.elements:
        if tag == "svg":
            assert given.get("aria-label") or given.get("aria-hidden") == "true"
        if tag == "th":
            assert given.get("scope") in {"col", "row"}
    drawings = [given for given in page.of("svg") if given.get("role") == "group"]
    assert len(drawings) == len([tag for tag, _ in page.elements if tag == "desc"])
    assert len(page.of("table")) == len([tag for tag, _ in page.elements if tag == "caption"])


def test_the_words_of_a_bar_are_cut_where_the_bars_begin(page: Page) -> None:
    """However wide they are; without that, capitals ran into the bars."""
    words, spans = page.of("svg", value="words"), page.of("rect", value="span")
    begins_at = min(float(span["x"] or 0) for span in spans if span["height"] == "14")
    assert len(words) == len(page.of("a", value="bar "))
    assert all(float(given["x"] or 0) + float(given["width"] or 0) < begins_at for given in words)


def test_an_agent_is_told_of_contact_after_contact(memory: Memory) -> None:
    found = Page(ops.report(memory.agent(AGENT)))
    summaries = [text for tag, text in found.words if tag == "summary"]
    assert {"Alice <i>Rao</i>", "bob"} <= set(summaries)
    assert len(found.of("details", value="contact")) == 2


@pytest.mark.parametrize(("agent", "contact"), [(AGENT, "alise"), ("crn", None)])
def test_nobody_known_is_an_error(memory: Memory, agent: str, contact: str | None) -> None:
    with pytest.raises(UnknownContactError, match="nothing is known about"):
        report_of(memory, agent, contact)


def test_what_is_too_much_is_left_out_and_said(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FACTS_MAX", "_FACTS_OF_CONTACT_MIN"):
        monkeypatch.setattr(reporting, name, 3)
    monkeypatch.setattr(reporting, "_REFUSED_MAX", 1)
    found = Page(ops.report(memory.contact(AGENT, "alice")))
    facts = [fact for chain in memory.contact(AGENT, "alice").history() for fact in chain.facts]
    assert len(found.of("a", value="bar ")) == 3
    assert f"{len(facts) - 3} more facts are left out; reconciler history" in found.text
    assert "1 more are left out; reconciler decisions" in found.text
    monkeypatch.setattr(reporting, "CONTACTS_MAX", 1)
    found = Page(ops.report(memory.agent(AGENT)))
    assert "The first 1 are told below" in found.text
    assert "alice" in found.text


def test_hundreds_of_facts_stay_readable(tmp_path: Path) -> None:
    given = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(16), **given) as memory:
        lines = [
            {"text": f"Ordered item {number} of the catalogue.", "contact_id": "carol"}
            | {"attribute": f"order_{number % 7}", "value": f"item {number}"}
            for number in range(250)
        ]
        memory.import_notes(map(json.dumps, lines), agent_id=AGENT)
        facts = [fact for chain in memory.contact(AGENT, "carol").history() for fact in chain.facts]
        html = ops.report(memory.contact(AGENT, "carol"))
    found = Page(html)
    assert len(found.of("a", value="bar ")) == len(facts) >= 220
    assert len(html) < 2_000_000
    opened = [given for given in found.of("details", value="strand") if "open" in given]
    assert len(opened) <= 12
    svgs = [given["viewbox"] or "" for given in found.of("svg") if given.get("role") == "group"]
    assert max(float(box.split()[3]) for box in svgs) <= 32 + 28 * ROWS_MAX


def test_colours_can_be_told_from_the_page_in_light_dark_and_print(html: str) -> None:
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    for scheme in schemes(style):
        for name in ("ink", "dim", "accent"):
            assert contrast(scheme[name], scheme["page"]) >= 4.5, (name, scheme)
            assert contrast(scheme[name], scheme["card"]) >= 4.5, (name, scheme)
        for name in ("live", "ended", "bad", "warn", "asleep"):
            assert contrast(scheme[name], scheme["page"]) >= 3, (name, scheme)


def schemes(style: str) -> list[dict[str, str]]:
    """Light, dark and print: what each sets over what the light one does."""
    dark = re.findall(r"@media \(prefers-color-scheme: dark\) \{ :root \{(.*?)\}", style, re.DOTALL)
    paper = re.findall(r"@media print \{ :root \{(.*?)\}", style, re.DOTALL)
    light = re.findall(r"^:root \{(.*?)\}", style, re.DOTALL | re.MULTILINE)
    found = [
        dict(re.findall(r"--([a-z]+): (#[0-9a-f]+)", " ".join(blocks)))
        for blocks in (light, light + dark, light + paper)
    ]
    assert len({scheme["page"] for scheme in found}) == 2
    return found


def contrast(one: str, other: str) -> float:
    """The ratio of two colours' luminances. Source: WCAG 2.2, relative luminance."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_both_engines_tell_the_same(one_of_each: EngineUnderTest) -> None:
    with Memory.open(embedder=HashingEmbedder(16), **one_of_each.settings_arguments) as memory:
        fill(memory)
        found = Page(ops.report(memory.contact(AGENT, "alice")))
        made = list(memory.contact(AGENT, "alice").all_decisions())
    assert len(found.of("a", value="bar ")) == sum(
        each.action in {Action.ADD, Action.UPDATE} for each in made
    )


def test_a_browser_draws_it_in_light_dark_and_on_paper(html: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(html, encoding="utf-8")
    with Chromium(tmp_path) as chromium:
        seen = set()
        for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
            chromium.emulate(media, scheme)
            chromium.open(file.as_uri())
            seen.add(chromium.evaluate("getComputedStyle(document.body).backgroundColor"))
            chromium.screenshot(tmp_path / f"{media}-{scheme}.png")
            assert (tmp_path / f"{media}-{scheme}.png").stat().st_size > 20_000
        assert seen == {"rgb(255, 255, 255)", "rgb(20, 24, 28)"}
        assert {url.split("/")[-1] for url in chromium.asked_for} == {"report.html"}
        assert chromium.said == []
        check_keyboard(chromium)


def check_keyboard(chromium: Chromium) -> None:
    """The bars can be reached with the Tab key, and lead to their rows, which open."""
    chromium.emulate("screen", "light")
    for _ in range(3):
        chromium.press("Tab", 9)
    focused = "document.activeElement.getAttribute('href')"
    assert str(chromium.evaluate(focused)).startswith("#fact-")
    chromium.press("Enter", 13)
    row = "document.querySelector(location.hash || 'none')"
    assert chromium.wait_for(f"{row} && {row}.getBoundingClientRect().height > 0")
