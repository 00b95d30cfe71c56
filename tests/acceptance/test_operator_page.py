"""The page end to end: an operator's morning over its forms, who sees what, and what goes wrong."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from reconciler import AgentMemory, ContactMemory, Memory
from reconciler.domain.records.decisions import Decision
from reconciler.serve.operator_page import views
from reconciler.service.stores.patient_graph import PatientGraph
from reconciler.testing import HashingEmbedder
from tests import faults
from tests.chromium import Chromium
from tests.clocks import Clock
from tests.engines import EngineUnderTest, embedded_engine
from tests.http_api import TenantApi, serving_api, serving_api_in
from tests.mcp_server import granted
from tests.operator_page import Browser, Form, Page

PRIYA = {"agent": "crm", "contact": "priya"}
HELD = (
    ("I guess I prefer window seats", {"importance": 0.8}),
    ("I think I like aisle seats on trains", {"importance": 0.8}),
    ("I am diabetic.", {"importance": 0.8}),
)
SCRIPT = "Likes <script>alert(1)</script> & \u202etea\u2069 \"at' noon."
SLIDE = """(() => {
  const slider = document.querySelector('.slider');
  slider.value = 20;
  for (const each of ['input', 'change']) slider.dispatchEvent(new Event(each));
})()"""
LINKS = """[...document.links].map(each => each.href)
  .filter(each => each.startsWith(location.origin))"""
FAULTS_OF_ACCESS = """axe.run(document, %s).then(found => found.violations.map(
  each => `${each.id}: ${each.nodes.slice(0, 3).map(node => node.html).join(' ')}`))"""
FIELDS = ("answered_by", "keep", "never", "reason", "side", "text", "true_from", "value")
ASKED = ("agent", "contact", "q", "at", "after", "from", "since", "disposal", "source", "fact",
         "decision", "done", "erasure")  # fmt: skip
PATHS = ("/", "/contact", "/fact", "/decision", "/decisions", "/questions", "/erase", "/erasure")
HOSTILE = {
    "script": SCRIPT,
    "10,000 characters": "ab " * 3_400,
    "null byte": "a\0b",
    "direction": "\u202e",
    "blank": " ",
    "pictures": "🧨" * 9_000,
}


@dataclass(frozen=True)
class Tenant(TenantApi):
    """What a test works with: a tenant of its own on a server that runs for the whole module."""

    memory: Memory
    clock: Clock

    def contact(self, agent_id: str, contact_id: str) -> ContactMemory:
        """See ``Memory.contact``."""
        return self.memory.contact(agent_id, contact_id, tenant=self.tenant)

    def agent(self, agent_id: str) -> AgentMemory:
        """See ``Memory.agent``."""
        return self.memory.agent(agent_id, tenant=self.tenant)

    def filled(self) -> Tenant:
        """The tenant with a city that changed, three questions, and a dispute about an employer."""
        self.clock.now = datetime.now(UTC) - timedelta(days=60)
        priya = self.contact("crm", "priya")
        priya.note("Lives in Pune.", attribute="city", value="Pune", contact_name="Priya Rao")
        priya.note("Works at Initech.", attribute="employer", value="Initech")
        self.clock.pass_days(45)
        priya.note("Lives in Goa.", attribute="city", value="Goa")
        for text, fields in HELD:
            priya.note(text, **fields)
        self.clock.pass_days(1)
        by_tom = {"source_kind": "operator", "proposed_by": "tom"}
        priya.note("Works at Hooli.", attribute="employer", value="Hooli", **by_tom)
        self.contact("crm", "bob").note("Keeps bees.")
        self.clock.now = datetime.now(UTC)
        return self


@contextmanager
def served(engine: EngineUnderTest, folder: Path) -> Iterator[Tenant]:
    """A server, for its first tenant."""
    clock, given = Clock(datetime.now(UTC)), engine.settings_arguments
    with (
        Memory.open(embedder=HashingEmbedder(), clock=clock, **given) as memory,
        serving_api(memory, folder) as running,
    ):
        yield Tenant(running.url, running.tokens, "default", memory, clock)


@pytest.fixture(scope="module")
def still_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """The tenant of all tests that change nothing."""
    folder = tmp_path_factory.mktemp("page")
    with served(embedded_engine(folder), folder) as running:
        yield running.filled()


@pytest.fixture
def memory(any_engine: EngineUnderTest, still_api: Tenant, tmp_path: Path) -> Iterator[Tenant]:
    """A tenant of this test alone; a Neo4j, which is emptied for each test, has its own server."""
    if any_engine.name == "embedded":
        yield replace(still_api, tenant=tmp_path.name).filled()
        still_api.clock.now = datetime.now(UTC)
        return
    with served(any_engine, tmp_path) as running:
        yield running.filled()


@pytest.fixture
def api(memory: Tenant) -> Tenant:
    return memory


@pytest.fixture
def anna(api: Tenant) -> Iterator[Browser]:
    """An operator who is logged in."""
    with Browser(api.url) as browser:
        assert "Needs you" in browser.log_in(api.token(granted("operator", name="anna"))).text
        yield browser


@pytest.fixture
def reader(still_api: Tenant) -> Iterator[Browser]:
    """An operator who only looks."""
    with Browser(still_api.url) as browser:
        browser.log_in(still_api.token(granted("operator", name="anna")))
        yield browser


def priya(browser: Browser, **query: str) -> Page:
    return browser.get("/contact", **PRIYA, **query)


def questions(page: Page) -> list[Form]:
    return [form for form in page.forms if form.action == "/answer"]


def held_values(memory: Tenant, attribute: str) -> set[str]:
    return {each.value for each in memory.contact("crm", "priya").value(attribute)}


def fact_page(browser: Browser, memory: Tenant, text: str) -> Page:
    facts = [each.facts[0] for each in memory.contact("crm", "priya").history()]
    [fact_id] = [each.fact_id for each in facts if each.text == text]
    return browser.get("/fact", **PRIYA, fact=fact_id)


def test_an_operators_morning(anna: Browser, memory: Tenant) -> None:
    home = anna.get("/")
    assert "3 questions , 1 dispute" in home.text
    page = priya(anna)
    assert len(questions(page)) == 3
    window, aisle, diabetic = (page.form("/answer", text=text) for text, _ in HELD)
    page = anna.send(window, answer="yes")
    assert "Remembered." in page.text
    page = anna.send(aisle, answer="words", text="Likes aisle seats on trains.")
    assert "Likes aisle seats on trains." in page.text
    page = anna.send(diabetic, answer="no")
    assert questions(page) == []

    settle = page.form("/settle")
    [hooli] = [
        side for side in memory.contact("crm", "priya").value("employer") if side.value == "Hooli"
    ]
    page = anna.send(settle, keep=hooli.fact_id, reason="She said so on the phone.")
    assert "Settled." in page.text
    assert held_values(memory, "employer") == {"Hooli"}

    amend = fact_page(anna, memory, "Lives in Goa.").form("/amend")
    page = anna.send(amend, text="Lives in Rome.", value="Rome", reason="By post.")
    assert held_values(memory, "city") == {"Rome"}
    page = anna.send(page.form("/undo"))
    assert "Undone." in page.text
    assert held_values(memory, "city") == {"Goa"}

    day = datetime.now(UTC).date() - timedelta(days=25)
    then = priya(anna, at=day.isoformat())
    assert "Lives in Pune." in then.text
    assert "Hooli" not in then.text
    assert [form.action for form in then.forms] == ["/logout", "/contact"]

    look = anna.get("/erase", **PRIYA)
    receipt = anna.send(look.form("/erase"), reason="She asked.", confirm="priya")
    assert "Nothing of it was found afterwards" in receipt.text
    assert "anna" in receipt.text
    left = [each.facts[0].text for each in memory.contact("crm", "priya").history()]
    assert {*left} == {"[erased]"}


def test_an_account_is_marked_and_shows_its_contacts(anna: Browser, memory: Tenant) -> None:
    acme = memory.contact("crm", "account:acme")
    acme.note("Never call in August.")
    for name in ("bob", "priya"):
        memory.contact("crm", name).join_account("acme", by="anna")
    assert "account:acme account" in anna.get("/").text
    page = anna.get("/contact", agent="crm", contact="account:acme")
    assert "Contacts of this account 2 bob priya" in page.text
    page = priya(anna)
    assert "Belongs to account:acme show" in page.text
    assert "Contacts of this account" not in page.text


def test_two_contacts_are_merged_and_the_merge_is_undone(anna: Browser, memory: Tenant) -> None:
    page = anna.send(priya(anna).form("/merge"), other="bob", reason="One person.")
    assert "Merged" in page.text
    assert memory.contact("crm", "bob").scope.contact_id == "priya"
    assert "Keeps bees." in page.text
    anna.send(page.form("/undo"))
    assert memory.contact("crm", "bob").scope.contact_id == "bob"


def test_what_is_settled_bears_the_name_of_who_is_logged_in(anna: Browser, memory: Tenant) -> None:
    anna.send(priya(anna).form("/answer", text=HELD[0][0]), answer="yes")
    [made] = memory.contact("crm", "priya").decisions(limit=1)
    assert made.proposal.answered_by == "anna"


def test_what_the_contact_told_is_the_contacts_own_word(anna: Browser, memory: Tenant) -> None:
    anna.send(priya(anna).form("/answer", text=HELD[0][0]), answer="yes", answered_by="contact")
    [made] = memory.contact("crm", "priya").decisions(limit=1)
    assert made.proposal.answered_by == "contact"


@pytest.mark.parametrize("choice", ["yes", "no", "words"])
def test_an_answer_of_the_contact_says_who_took_it(
    anna: Browser, memory: Tenant, choice: str
) -> None:
    page = anna.send(
        priya(anna).form("/answer", text=HELD[2][0]),
        answer=choice,
        answered_by="contact",
        text="I have diabetes.",
    )
    [made] = memory.contact("crm", "priya").decisions(limit=1)
    page = anna.get("/decision", **PRIYA, decision=made.decision_id)
    assert "contact (told to anna)" in page.text


def test_other_words_are_the_evidence_and_hold_from_now_on(anna: Browser, memory: Tenant) -> None:
    form = priya(anna).form("/answer", text=HELD[1][0])
    anna.send(form, answer="words", answered_by="contact", text="Likes no seats on trains.")
    contact = memory.contact("crm", "priya")
    [made] = contact.decisions(limit=1)
    known = contact.evidence(str(made.fact_id))
    assert [turn.text for turn in known.turns] == [
        "Answered by contact (told to anna): Likes no seats on trains."
    ]
    assert known.fact.holds_since.date() == datetime.now(UTC).date()


def test_a_reason_is_not_quoted_as_the_contacts_word(anna: Browser, memory: Tenant) -> None:
    anna.send(priya(anna).form("/settle"), keep="both", answered_by="contact")
    page = decision_page(anna, memory, "Settled on the page (told to anna).")
    assert "Settled on the page (told to anna)." in page.text
    assert "What was said" not in page.text
    assert ".." not in page.text


def test_a_side_of_which_none_holds_was_withdrawn(anna: Browser, memory: Tenant) -> None:
    assert "in dispute" in fact_list(priya(anna), "Works at Hooli.")
    anna.send(priya(anna).form("/settle"), keep="neither")
    page = fact_page(anna, memory, "Works at Hooli.")
    assert "Withdrawn on" in page.text
    assert "revoked" not in page.text + priya(anna).text


def fact_list(page: Page, text: str) -> str:
    """What the list of facts says after a text."""
    return page.text.partition("Facts that hold")[2].partition(text)[2][:60]


def test_a_correction_in_a_list_names_who_made_it(anna: Browser, memory: Tenant) -> None:
    form = fact_page(anna, memory, "Lives in Goa.").form("/amend")
    anna.send(form, text="Lives in Rome.", value="Rome", reason="By post.")
    listed = anna.get("/decisions", **PRIYA).text.partition("Lives in Rome.")[2][:150]
    assert "by anna" in listed


@pytest.mark.parametrize(
    ("choice", "left"), [("both", {"Initech", "Hooli"}), ("neither", set()), ("first", {"Initech"})]
)
def test_a_dispute_is_settled_each_way(
    anna: Browser, memory: Tenant, choice: str, left: set[str]
) -> None:
    settle = priya(anna).form("/settle")
    sides = [value for name, value in settle.fields if name == "side"]
    page = anna.send(settle, keep=sides[0] if choice == "first" else choice)
    assert page.status == 200
    assert held_values(memory, "employer") == left
    assert memory.contact("crm", "priya").disputes() == []
    anna.send(page.form("/undo"))
    assert held_values(memory, "employer") == {"Initech", "Hooli"}
    assert len(memory.contact("crm", "priya").disputes()) == 1


def test_the_second_of_two_hears_that_it_has_been_settled(
    api: Tenant, anna: Browser, memory: Tenant
) -> None:
    with Browser(api.url) as bea:
        bea.log_in(api.token(granted("operator", name="bea")))
        seen = priya(bea)
        form = priya(anna).form("/settle")
        first, second = (value for name, value in form.fields if name == "side")
        anna.send(form, keep=first, reason="By phone.")
        late = bea.send(seen.form("/settle"), keep=second)
        assert late.status == 409
        assert "this dispute has been settled, or has changed" in late.text.lower()
        anna.send(priya(anna).form("/answer", text=HELD[0][0]), answer="no")
        late = bea.send(seen.form("/answer", text=HELD[0][0]), answer="yes")
        assert late.status == 409
        assert "this question has been answered already, by anna on" in late.text.lower()
        assert "DECLINE" not in late.text
        late = bea.send(seen.form("/answer", text=HELD[0][0]), answer="no")
        assert "This had been settled already by anna" in late.text
    assert held_values(memory, "employer") == {"Initech"}


def test_a_decision_that_others_rest_on_is_undone_with_them_once_they_were_shown(
    anna: Browser, memory: Tenant
) -> None:
    contact = memory.contact("crm", "priya")
    [pune] = [each for each in contact.decisions() if each.text == "Lives in Pune."]
    page = anna.get("/decision", **PRIYA, decision=pune.decision_id)
    asked = anna.send(page.form("/undo"), answered_by="contact")
    assert asked.status == 409
    assert asked.form("/undo", answered_by="contact")
    assert "Lives in Goa." in asked.text
    assert held_values(memory, "city") == {"Goa"}
    assert anna.send(asked.form("/undo")).status == 200
    assert held_values(memory, "city") == set()


def test_a_fact_tells_why_on_what_and_since_when(anna: Browser, memory: Tenant) -> None:
    page = fact_page(anna, memory, "Lives in Goa.")
    for told in ("Why it is kept", "The contact said so on", "Lives in Pune.", "Replaced on"):
        assert told in page.text
    ended = anna.send(page.form("/end"), reason="She moved.")
    assert "Ended." in ended.text
    assert held_values(memory, "city") == set()


def test_what_may_have_changed_is_renewed_or_ended(anna: Browser, memory: Tenant) -> None:
    contact = memory.contact("crm", "priya")
    for text in ("The budget is 100 euros this week.", "The lift is broken this week."):
        contact.note(text, category="volatile")
    before = len(contact.expiring(days=14))
    memory.clock.pass_days(1)
    page = priya(anna)
    renewed, ended = (form for form in page.forms if form.action == "/renew")
    assert before == 2
    assert anna.send(renewed, answer="perhaps").status == 422
    assert "said again" in anna.send(renewed, answer="yes").text.lower()
    assert "Ended." in anna.send(ended, answer="no").text


def test_decisions_are_filtered_and_counted_by_source(anna: Browser, memory: Tenant) -> None:
    contact = memory.contact("crm", "priya")
    contact.note("ok thanks")
    contact.note("She may like opera.", source_kind="model_guess")
    asked = {"agent": "crm", "disposal": "reject"}
    page = anna.get(
        "/decisions", **asked, since=(datetime.now(UTC) - timedelta(days=7)).date().isoformat()
    )
    assert "2 decisions : 1 by the contact, 1 by a guess of the model." in page.text
    assert "She may like opera." not in anna.get("/decisions", **asked, source="user_explicit").text
    assert "No decision matches" in anna.get("/decisions", **asked, until="2020-01-01").text
    added = anna.get("/decisions", agent="crm", became="remembered", since="2020-01-01").text
    assert "She may like opera." not in added
    assert "Keeps bees." in added
    page = anna.get("/decisions", agent="crm", since="2020-01-02", until="2020-01-01")
    assert (page.status, "the first day is after" in page.text.lower()) == (422, True)


def asked_by(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The queries that are run from now on, each with its parameters."""
    asked: list[tuple[str, Any]] = []
    run = PatientGraph.run

    def noting(graph: PatientGraph, name: str, given: Any) -> Any:
        asked.append((name, given))
        return run(graph, name, given)

    monkeypatch.setattr(PatientGraph, "run", noting)
    return asked


def test_each_page_of_decisions_is_read_on_from_the_one_before(
    anna: Browser, memory: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_PAGE", 2)
    monkeypatch.setattr(views, "_READ_MAX", 4)
    made = list(memory.agent("crm").all_decisions())
    asked = asked_by(monkeypatch)
    for source, size in (("", 3), ("user_explicit", 4)):
        asked.clear()
        page, shown = anna.get("/decisions", agent="crm", source=source), list[str]()
        while True:
            shown += [link for link in page.links if link.startswith("/decision?")]
            following = [link for link in page.links if "after=" in link]
            if not following:
                break
            page = Page(anna.client.get(following[0]))
        wanted = [each for each in made if source in ("", each.note.trust)]
        assert len(shown) == len(set(shown)) == len(wanted) > 4
        read = [given["limit"] for name, given in asked if name == "list_decision_ids"]
        assert set(read) == {size}


def test_a_page_that_goes_on_after_nothing_says_so(reader: Browser) -> None:
    page = reader.get("/decisions", agent="crm", after="yesterday")
    assert page.status == 422
    assert "`after` must be the `next` value of a page" in page.text


def test_the_names_of_a_page_are_asked_for_together(
    anna: Browser, memory: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bob", "cem", "dia"):
        memory.contact("crm", name).note("Keeps bees.", contact_name=f"Dr. {name.title()}")
        memory.contact("crm", name).note("I am diabetic.")
    asked = asked_by(monkeypatch)
    for path, lists in (("/decisions", 1), ("/", 2)):
        asked.clear()
        page = anna.get(path, agent="crm")
        assert [name for name in ("Dr. Cem", "Dr. Dia") if name not in page.text] == []
        assert [name for name, _ in asked].count("list_contacts") == lists


def test_the_home_finds_contacts_and_what_is_known(reader: Browser) -> None:
    page = reader.get("/", q="RAO")
    assert "Priya Rao" in page.text
    assert "Lives in Goa." in reader.get("/", q="Lives in Goa.").text


# What a page tells of what was settled.


def decision_page(browser: Browser, memory: Tenant, text: str) -> Page:
    decisions = memory.contact("crm", "priya").decisions()
    made = next(each for each in decisions if each.text == text)
    return browser.get("/decision", **PRIYA, decision=made.decision_id)


def test_what_was_answered_no_is_noted_after_all(anna: Browser, memory: Tenant) -> None:
    page = anna.send(priya(anna).form("/answer", text=HELD[1][0]), answer="no")
    again = anna.send(page.form("/note", text=HELD[1][0]))
    assert "The same was answered no before" in again.text
    noted = anna.send(again.form("/note"), text="Likes aisle seats on trains.")
    assert "Likes aisle seats on trains." in noted.text
    found = memory.contact("crm", "priya").decisions()
    [made] = [each for each in found if each.text == "Likes aisle seats on trains."]
    assert (made.action, made.proposal.proposed_by) == ("ADD", "anna")
    assert decision_page(anna, memory, HELD[1][0]).form("/note")


def test_receipts_are_found_again(anna: Browser, memory: Tenant) -> None:
    known = memory.contact("crm", "priya").value("employer")
    fact_id = next(each.fact_id for each in known if each.value == "Hooli")
    form = anna.get("/erase", **PRIYA, fact=fact_id).form("/erase")
    receipt = str(
        anna.send(form, reason="She asked.", confirm="priya").answer.url.raw_path.decode()
    )
    erased = anna.get("/fact", **PRIYA, fact=fact_id)
    for page in (priya(anna), erased):
        assert receipt in page.links, page.text


def test_a_list_names_what_a_decision_took_the_place_of(reader: Browser) -> None:
    for page in (priya(reader), reader.get("/decisions", **PRIYA)):
        assert "Lives in Goa. took the place of “Lives in Pune.”" in page.text
        assert "replaced Lives in Goa." not in page.text


def test_an_answered_question_no_longer_waits(anna: Browser, memory: Tenant) -> None:
    [held] = [e for e in memory.contact("crm", "priya").pending() if _text(e) == HELD[0][0]]
    address = {**PRIYA, "decision": held.decision_id}  # type: ignore[union-attr]
    assert "until a person confirms it" in anna.get("/decision", **address).text
    anna.send(priya(anna).form("/answer", text=HELD[0][0]), answer="no")
    page = anna.get("/decision", **address)
    assert "until a person confirms it" not in page.text
    assert "answered no since" in page.text
    assert "by anna" in page.text


def _text(item: object) -> str:
    return str(getattr(item, "text", ""))


def test_what_is_undone_or_erased_offers_no_undo(anna: Browser, memory: Tenant) -> None:
    page = decision_page(anna, memory, "Lives in Goa.")
    anna.send(page.form("/undo"))
    page = decision_page(anna, memory, "Lives in Goa.")
    assert "/undo" not in [form.action for form in page.forms]
    assert "It was undone since" in page.text
    made = dict(page.answer.url.params)["decision"]
    assert "/undo" not in [form.action for form in priya(anna, done=made).forms]
    anna.send(anna.get("/erase", **PRIYA).form("/erase"), reason="So.", confirm="priya")
    assert "/undo" not in [form.action for form in decision_page(anna, memory, "[erased]").forms]


def test_the_undo_of_an_undo_says_what_it_undid(anna: Browser, memory: Tenant) -> None:
    undone = anna.send(decision_page(anna, memory, "Lives in Goa.").form("/undo"))
    again = anna.send(undone.form("/undo"))
    assert "Undone. The undoing of “Lives in Goa.”" in again.text


def test_a_contact_that_was_erased_is_neither_listed_nor_erased_again(
    anna: Browser, memory: Tenant
) -> None:
    anna.send(anna.get("/erase", **PRIYA).form("/erase"), reason="So.", confirm="priya")
    assert not [link for link in anna.get("/", agent="crm").links if "contact=priya" in link]
    assert "Erase this contact" not in priya(anna).text


def test_a_search_that_nothing_fits_says_so(reader: Browser) -> None:
    assert "No contact has that name." in reader.get("/", q="submarines").text
    assert "Facts with these words" not in reader.get("/", q="submarines").text


def test_an_erasure_of_a_fact_names_what_goes_with_it(anna: Browser, memory: Tenant) -> None:
    contact = memory.contact("crm", "priya")
    first = contact.note("Keeps three cats.").fact_id
    contact.note("Keeps three cats!")
    page = anna.get("/erase", **PRIYA, fact=str(first))
    assert "These facts: Keeps three cats" in page.text
    assert page.text.count("Keeps three cats") == 3  # in the quotation, and two that go
    assert "Goa" not in page.text


def test_who_was_told_by_the_contact_is_in_the_reason(anna: Browser, memory: Tenant) -> None:
    form = fact_page(anna, memory, "Lives in Goa.").form("/end")
    anna.send(form, reason="She moved.", answered_by="contact")
    look = anna.get("/erase", **PRIYA).form("/erase")
    [made] = memory.contact("crm", "priya").decisions(limit=1)
    assert made.text == "She moved (told to anna)."
    receipt = anna.send(look, reason="As asked.", confirm="priya", answered_by="contact")
    assert "told to anna" in receipt.text


def test_an_ended_fact_tells_why_it_ended(anna: Browser, memory: Tenant) -> None:
    anna.send(fact_page(anna, memory, "Lives in Goa.").form("/end"), reason="She moved.")
    page = fact_page(anna, memory, "Lives in Goa.")
    assert "Why it ended" in page.text
    assert "by anna: She moved." in page.text
    [made] = memory.contact("crm", "priya").decisions(limit=1)
    assert any(made.decision_id in link for link in page.links)


def test_a_settled_dispute_says_which_side_holds(anna: Browser, memory: Tenant) -> None:
    form = priya(anna).form("/settle")
    side = next(value for name, value in form.fields if name == "side")
    page = anna.send(form, keep=side, reason="By phone.")
    assert "Settled. “Works at Initech.” holds" in page.text
    assert "settled “Works at Initech.” holds reason: By phone." in page.text


def test_before_the_first_fact_a_page_says_so(reader: Browser) -> None:
    day = datetime.now(UTC).date() - timedelta(days=300)
    page = priya(reader, at=day.isoformat())
    assert "Nothing was recorded yet; the first fact is of" in page.text
    assert "0 facts held on" in page.text


def test_no_button_leads_to_a_yes_to_what_a_tool_says(anna: Browser, memory: Tenant) -> None:
    memory.contact("crm", "bob").note(
        "Has ordered 40 desks", importance=0.8, source_kind="tool_output"
    )
    page = anna.get("/contact", agent="crm", contact="bob")
    assert "A tool says this, not the contact." in page.text
    yes = [given for tag, given in page.elements if tag == "button" and given.get("value") == "yes"]
    assert [given.get("class") for given in yes] == [None]


# Lists as files, and several answers at once.


def questions_page(browser: Browser, **query: str) -> Page:
    return browser.get("/questions", agent="crm", **query)


def ticks(page: Page) -> list[str]:
    return [
        str(given["value"])
        for tag, given in page.elements
        if tag == "input" and given.get("name") == "ticked"
    ]


def answered(browser: Browser, ticked: Iterable[str], choice: str = "yes", **filled: Any) -> Page:
    form = questions_page(browser).form("/answers")
    form.fields += [("ticked", each) for each in ticked]
    return browser.send(form, answer=choice, **filled)


@pytest.mark.on_neo4j_too
def test_each_page_of_questions_is_read_on_from_the_one_before(
    anna: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_PAGE", 2)
    first = questions_page(anna)
    [link] = [each for each in first.links if "after=" in each]
    second = Page(anna.client.get(link))
    assert len({*ticks(first), *ticks(second)}) == 3
    assert "Works at Hooli." in second.text


def test_ticked_questions_are_answered_one_after_the_other(anna: Browser, memory: Tenant) -> None:
    memory.contact("crm", "bob").note(HELD[0][0], importance=0.8)
    by_text = {
        made.text: f"{made.decision_id} {made.scope.contact_id}"
        for made in memory.agent("crm").pending()
        if isinstance(made, Decision) and made.scope.contact_id == "priya"
    }
    window, aisle, diabetic = (by_text[text] for text, _ in HELD)
    [bob] = {*ticks(questions_page(anna))} - {*by_text.values()}
    page = answered(anna, [window, bob, window, diabetic])
    assert page.status == 200
    assert page.text.count("Remembered as a new fact.") == 2
    assert "not done" in page.text.partition(HELD[2][0])[0][-40:]
    assert "consent" in page.text.partition(HELD[2][0])[2]
    for name in ("priya", "bob"):
        made = memory.contact("crm", name).decisions()
        assert (HELD[0][0], "anna") in [(each.text, each.proposal.answered_by) for each in made]
    page = answered(anna, [aisle], "no", answered_by="contact")
    assert "answered no" in page.text
    assert [ticks(questions_page(anna))] == [[diabetic]]


def test_of_several_answers_the_late_one_names_who_was_first(
    api: Tenant, anna: Browser, memory: Tenant
) -> None:
    with Browser(api.url) as bea:
        bea.log_in(api.token(granted("operator", name="bea")))
        seen = ticks(questions_page(bea))
        anna.send(priya(anna).form("/answer", text=HELD[0][0]), answer="no")
        late = answered(bea, seen)
        told = late.text.partition(HELD[0][0])[2]
        assert "This question has been answered already, by anna on" in told
        assert "if that was wrong, note it in other words" in told
        again = answered(bea, seen, "no")
        assert "This had been settled already by anna" in again.text


@pytest.mark.parametrize(
    ("ticked", "choice", "status", "told"),
    [
        ([], "yes", 422, "tick the questions that you answer"),
        (["{known}"], "", 422, "choose yes or no"),
        (["{known}"], "words", 422, "choose yes or no"),
        (["x priya"], "yes", 409, "no decision"),
        (["x"], "yes", 409, "contact_id is empty"),
        ([""], "yes", 409, "contact_id is empty"),
        (["{known} zoe"], "yes", 409, "no decision"),
        (["{id} bob"], "yes", 409, "no decision"),
        ([f"x{number} priya" for number in range(500)], "yes", 400, "the form cannot be read"),
    ],
)
def test_bad_ticks_answer_nothing(
    reader: Browser, still_api: Tenant, ticked: list[str], choice: str, status: int, told: str
) -> None:
    known = ticks(questions_page(reader))[0]
    given = [each.format(known=known, id=known.partition(" ")[0]) for each in ticked]
    page = answered(reader, given, choice)
    assert (page.status, told in page.text.lower()) == (status, True), page.text
    assert still_api.contact("crm", "priya").decisions(limit=1)[0].text == "Works at Hooli."


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_ticks_without_the_key_of_the_form_answer_nothing(
    reader: Browser, still_api: Tenant, key: str | None
) -> None:
    page = answered(reader, ticks(questions_page(reader)), form_key=key)
    assert (page.status, "this form does not come from this login" in page.text.lower()) == (
        403,
        True,
    )
    assert still_api.contact("crm", "priya").decisions(limit=1)[0].text == "Works at Hooli."


for_something_else = pytest.mark.parametrize(
    "grant",
    [
        granted("operator", name="eve", tenant="other"),
        granted("operator", "sales", name="eve"),
        granted("operator", name="eve", contact_id="bob"),
    ],
)
"""Tokens for another tenant, another agent or another contact."""


@for_something_else
def test_a_token_without_the_right_lists_and_answers_nothing(
    still_api: Tenant, reader: Browser, grant: object
) -> None:
    form = questions_page(reader).form("/answers")
    form.fields += [("ticked", each) for each in ticks(questions_page(reader))]
    with Browser(still_api.url) as eve:
        first = eve.log_in(still_api.token(grant))  # type: ignore[arg-type]
        key = dict(first.form("/logout").fields)["form_key"]
        seen = [
            eve.client.get(path, params=query).text
            for path in ("/questions", "/decisions")
            for query in ({"agent": "crm"}, PRIYA, {})
        ]
        page = eve.send(form, form_key=key, answer="yes")
    assert page.status in (403, 409)
    told = " ".join([*seen, page.text])
    assert [each for each in ("window seats", "Initech", "Goa") if each in told] == []
    assert still_api.contact("crm", "priya").decisions(limit=1)[0].text == "Works at Hooli."


# What an operator is asked, and what a list says of a value that ended.


def test_an_operator_is_asked_in_words_for_operators(anna: Browser, memory: Tenant) -> None:
    bob = memory.contact("crm", "bob")
    bob.note("Lives in Pune.", attribute="city", value="Pune")
    by_tool = {"source_kind": "tool_output", "importance": 0.8}
    bob.note("Lives in Goa.", attribute="city", value="Goa", **by_tool)
    shown = anna.get("/contact", agent="crm", contact="bob").text
    for told in (shown, priya(anna).text, questions_page(anna).text):
        assert "just as good" not in told
        assert "May I keep" not in told
    assert "A tool or a document says this, not the contact." in shown
    assert "Is this true, and shall it be kept?" in priya(anna).text
    assert "Known until now: “Lives in Pune”." in shown
    assert "Does the contact agree that this is kept?" in priya(anna).text


def test_what_is_looked_at_again_is_asked_in_words_for_operators(
    anna: Browser, memory: Tenant
) -> None:
    memory.contact("crm", "bob").note("The lift is broken this week.", category="volatile")
    page = anna.get("/contact", agent="crm", contact="bob")
    assert "Does it still hold?" in page.text
    assert "just as good" not in page.text


@pytest.mark.parametrize("word", ["user_explicit", "operator"])
def test_said_again_never_hides_a_value_that_ended(
    anna: Browser, memory: Tenant, word: str
) -> None:
    contact = memory.contact("crm", "priya")
    fields = {"attribute": "employer", "value": "Initech", "source_kind": word}
    made = contact.note("Works at Initech.", **fields)
    assert held_values(memory, "employer") == {"Initech"}
    decided, done = decision_page(anna, memory, made.text), priya(anna, done=made.decision_id)
    fact = anna.get("/fact", **PRIYA, fact=made.fact_id)
    whys = [fact.text.partition("Its evidence")[0]] if word == "user_explicit" else []
    for told in (decided.text, done.text, *whys):  # what only repeats a fact did not write it
        assert "ook the place of “Works at Hooli.”" in told
    assert "Changed" in decided.text
    assert "Changed." in done.text


def test_the_filters_are_folded_until_one_is_set(reader: Browser) -> None:
    def details(page: Page) -> list[bool]:
        return ["open" in given for tag, given in page.elements if tag == "details"]

    # The last one lists the keys.
    assert details(reader.get("/decisions", agent="crm")) == [False, False]
    assert details(reader.get("/decisions", agent="crm", disposal="reject")) == [True, False]


# Who sees what.


@for_something_else
def test_a_token_for_something_else_sees_and_settles_nothing(
    still_api: Tenant, reader: Browser, grant: object
) -> None:
    page = priya(reader)
    fact_id = still_api.contact("crm", "priya").value("city")[0].fact_id
    with Browser(still_api.url) as eve:
        eve.log_in(still_api.token(grant))  # type: ignore[arg-type]
        seen = [
            *(eve.get("/"), priya(eve), eve.get("/decisions", agent="crm")),
            *(eve.get("/fact", **PRIYA, fact=fact_id), eve.get("/erase", **PRIYA)),
            eve.get("/decisions", **PRIYA),
        ]
        key = dict(seen[0].form("/logout").fields)["form_key"]
        done = [
            eve.send(form, form_key=key)
            for form in page.forms
            if form.action not in ("/contact", "/logout")
        ]
    told = " ".join(each.text for each in (*seen, *done))
    assert "Goa" not in told
    assert "Initech" not in told
    assert {each.status for each in done} <= {403, 404, 409, 422}
    assert still_api.contact("crm", "priya").decisions(limit=1)[0].text == "Works at Hooli."


def test_a_token_of_one_contact_opens_that_contacts_page(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        page = browser.log_in(still_api.token(granted("operator", contact_id="bob")))
        assert page.answer.url.path == "/contact"
        assert "Keeps bees." in page.text


def test_an_agents_token_does_not_log_in(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        page = browser.log_in(still_api.token(granted()))
        assert page.status == 403
        assert "an operator's" in page.text
        assert browser.get("/").answer.url.path == "/login"


# Sessions.


def test_a_revoked_token_ends_the_session_at_the_next_request(still_api: Tenant) -> None:
    made, secret = still_api.tokens.create(granted("operator", name="anna"))
    with Browser(still_api.url) as browser:
        browser.log_in(secret)
        form = questions(priya(browser))[0]
        still_api.tokens.revoke(made.token_id)
        answer = browser.send(form, answer="yes")
        assert answer.status == 401
        assert "log in" in answer.text.lower()
        assert priya(browser).answer.url.path == "/login"


def test_an_expired_token_ends_the_session(still_api: Tenant) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=2)
    _, secret = still_api.tokens.create(granted("operator"), soon)
    with Browser(still_api.url) as browser:
        assert browser.log_in(secret).answer.url.path == "/"
        while datetime.now(UTC) < soon:
            pass
        assert browser.get("/").answer.url.path == "/login"


def test_a_login_that_the_server_does_not_know_is_told(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        assert "Your login is over" not in browser.get("/login").text
        browser.client.cookies.set("reconciler", "of-before-the-restart")
        assert "Your login is over" in browser.get("/").text


def test_a_cookie_that_is_replayed_after_the_logout_opens_nothing(
    still_api: Tenant, reader: Browser
) -> None:
    kept = {"Cookie": f"reconciler={reader.client.cookies['reconciler']}"}
    assert reader.send(reader.get("/").form("/logout")).answer.url.path == "/login"
    with Browser(still_api.url) as other:
        answer = other.client.get("/", headers=kept, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")


def test_cookies_are_closed_to_scripts_and_other_sites(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        form = browser.get("/login").form("/login")
        browser.client.follow_redirects = False
        for origin, is_secure in ((still_api.url, False), ("https://127.0.0.1", True)):
            answer = browser.send(
                form, token=still_api.token(granted("operator")), headers={"Origin": origin}
            ).answer
            [cookie] = answer.headers.get_list("set-cookie")
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert ("Secure" in cookie) is is_secure


def test_eleven_logins_of_a_token_leave_ten(still_api: Tenant) -> None:
    token = still_api.token(granted("operator"))
    browsers = [Browser(still_api.url) for _ in range(11)]
    for browser in browsers:
        browser.log_in(token)
    paths = [browser.get("/").answer.url.path for browser in browsers]
    assert paths == ["/login", *["/"] * 10]
    for browser in browsers:
        browser.client.close()


def test_to_log_in_again_ends_the_login_of_before(still_api: Tenant) -> None:
    token = still_api.token(granted("operator"))
    with Browser(still_api.url) as browser:
        browser.log_in(token)
        before = browser.client.cookies["reconciler"]
        browser.log_in(token)
        assert browser.client.cookies["reconciler"] != before
    answer = httpx2.get(f"{still_api.url}/", headers={"Cookie": f"reconciler={before}"})
    assert answer.headers["location"] == "/login"


def test_an_odd_cookie_of_another_program_prevents_no_login(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        browser.client.cookies.set("foo", '{"a":1}')
        assert browser.log_in(still_api.token(granted("operator"))).answer.url.path == "/"


def test_wrong_tokens_are_counted(tmp_path: Path) -> None:
    with serving_api_in(tmp_path) as own, Browser(own.url) as browser:
        answers = [browser.log_in(f"rcl_{number}").status for number in range(12)]
    assert answers == [403] * 10 + [429] * 2


@pytest.mark.parametrize(
    "onwards",
    [
        *("//evil.example", "///evil.example", "https://evil.example/", "/\\evil.example"),
        *("javascript:x", "/\t/x", "//[", "/" + "x" * 1_000),
    ],
)
def test_a_login_leads_to_no_other_site(still_api: Tenant, onwards: str) -> None:
    with Browser(still_api.url) as browser:
        form = browser.get("/login", next=onwards).form("/login")
        assert dict(form.fields)["next"] == "/"
        browser.client.follow_redirects = False
        answer = browser.send(form, token=still_api.token(granted("operator")), next=onwards).answer
        assert answer.headers["location"] == "/"


def test_a_login_leads_on_to_the_page_that_was_asked_for(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        asked = priya(browser)
        assert asked.answer.url.path == "/login"
        page = browser.send(asked.form("/login"), token=still_api.token(granted("operator")))
        assert page.answer.url.path == "/contact"
        assert "Lives in Goa." in page.text


# Forms that are not the page's own.


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_a_form_without_its_key_does_nothing(
    reader: Browser, still_api: Tenant, key: str | None
) -> None:
    for form in priya(reader).forms:
        if form.action not in ("/", "/contact"):
            answer = reader.send(form, form_key=key, answer="yes", keep="both")
            assert answer.status == 403, form.action
            assert "this form does not come from this login" in answer.text.lower()
    assert still_api.contact("crm", "priya").decisions(limit=1)[0].text == "Works at Hooli."


def test_a_form_of_another_login_does_nothing(still_api: Tenant, reader: Browser) -> None:
    with Browser(still_api.url) as bea:
        bea.log_in(still_api.token(granted("operator", name="bea")))
        form = questions(priya(bea))[0]
    assert reader.send(form, answer="yes").status == 403


def test_a_login_form_of_another_browser_does_nothing(still_api: Tenant) -> None:
    with Browser(still_api.url) as one, Browser(still_api.url) as other:
        form = one.get("/login").form("/login")
        answer = other.send(form, token=still_api.token(granted("operator")))
        assert answer.status == 403
        assert other.get("/").answer.url.path == "/login"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_what_another_site_sends_does_nothing(
    reader: Browser, still_api: Tenant, headers: dict[str, str], status: int
) -> None:
    answer = reader.send(questions(priya(reader))[0], answer="yes", headers=headers)
    assert answer.status == status
    assert answer.answer.headers["content-type"].startswith("text/html")
    assert still_api.contact("crm", "priya").decisions(limit=1)[0].text == "Works at Hooli."


# Bad input.


def met_with(kind: str, places: Iterable[tuple[Any, str]]) -> list[tuple[Any, str]]:
    """Each place with a script and one kind more; with every kind in ``make faults``."""
    if faults.EVERY_CALL or kind == "script":
        return list(places)
    others = [each for each in HOSTILE if each != "script"]
    return list(places)[others.index(kind) :: len(others)]


@pytest.mark.faults
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_in_the_fields_of_a_form_do_no_harm(
    anna: Browser, memory: Tenant, kind: str
) -> None:
    page, fact = priya(anna), fact_page(anna, memory, "Lives in Goa.")
    forms = [
        *(page.form(action) for action in ("/answer", "/settle")),
        *(fact.form(action) for action in ("/amend", "/end")),
        anna.get("/erase", **PRIYA).form("/erase"),
    ]
    filled = {"answer": "words", "reason": "Why.", "keep": "both"}
    fields = [
        (form, name)
        for form in forms
        for name in sorted({*FIELDS, *dict(form.fields)} - {"form_key"})
    ]
    for form, name in met_with(kind, fields):
        answer = anna.send(form, **{**filled, name: HOSTILE[kind]})
        assert answer.status < 500, (form.action, name, answer.text)
        _is_harmless(answer)


@pytest.mark.faults
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_in_an_address_do_no_harm(reader: Browser, kind: str) -> None:
    for path, name in met_with(kind, product(PATHS, ASKED)):
        answer = reader.get(path, **{**PRIYA, name: HOSTILE[kind][:3_000]})
        assert answer.status < 500, (path, name, answer.text)
        _is_harmless(answer)


def _is_harmless(page: Page) -> None:
    """Nothing that was typed became an element, and no direction of writing is changed."""
    scripts = [given for tag, given in page.elements if tag == "script"]
    assert all((given.get("src") or "").startswith("/page.js?v=") for given in scripts)
    assert not any(name.startswith("on") for _, given in page.elements for name in given)
    assert not any("style" in given for _, given in page.elements)


def test_a_hostile_fact_is_shown_with_all_that_it_hides(anna: Browser, memory: Tenant) -> None:
    memory.contact("crm", "priya").note(SCRIPT)
    page = priya(anna)
    assert "<script>alert(1)" in page.text
    assert "\\u202etea" in page.text
    _is_harmless(page)


@pytest.mark.parametrize(
    ("path", "query", "status", "told"),
    [
        ("/contact", {"agent": "crm", "contact": "zoe"}, 404, "nothing is known"),
        ("/contact", {"agent": "crm"}, 422, "contact_id is empty"),
        ("/contact", {**PRIYA, "at": "soon"}, 422, "must be a day such as"),
        ("/contact", {**PRIYA, "at": "2999-01-01"}, 422, "at"),
        ("/contact", {**PRIYA, "done": "x"}, 404, "no decision"),
        ("/fact", PRIYA, 422, "the fact is empty"),
        ("/fact", {**PRIYA, "fact": "x"}, 404, "no fact"),
        ("/decision", {**PRIYA, "decision": "x"}, 404, "no decision"),
        ("/decisions", {"disposal": "maybe"}, 422, "a value from the list"),
        ("/erasure", {**PRIYA, "erasure": "x"}, 404, "no erasure"),
        ("/nowhere", {}, 404, "no such page"),
        ("/answer", {}, 405, "cannot be asked for"),
    ],
)
def test_bad_input_gets_a_page_that_says_what_to_do(
    reader: Browser, path: str, query: dict[str, str], status: int, told: str
) -> None:
    page = reader.get(path, **query)
    assert (page.status, page.answer.headers["content-type"]) == (
        status,
        "text/html; charset=utf-8",
    )
    assert told in page.text.lower()
    assert {"/"} & {*page.links}


def test_what_was_written_is_not_lost_with_an_error(reader: Browser, still_api: Tenant) -> None:
    form = fact_page(reader, still_api, "Lives in Goa.").form("/amend")
    page = reader.send(
        form, text="Lives in <b>Rome</b>.", value="Rome", reason="By post.", true_from="2001-02-31"
    )
    assert page.status == 422
    assert "must be a day such as" in page.text
    assert page.form("/amend", text="Lives in <b>Rome</b>.", value="Rome", reason="By post.")
    assert held_values(still_api, "city") == {"Goa"}


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        ("The deadline is 6 June.", "5 May", "is still “5 May”"),
        ("The deadline is 15 May.", "5 May", "is still “5 May”"),
        ("The deadline is 5 May.", "6 June", "still says “5 May”"),
    ],
)
def test_a_correction_of_the_sentence_or_of_the_value_alone_is_refused(
    anna: Browser, memory: Tenant, text: str, value: str, told: str
) -> None:
    note = memory.contact("crm", "priya").note
    note("The deadline is 5 May.", attribute="deadline", value="5 May")
    form = fact_page(anna, memory, "The deadline is 5 May.").form("/amend", value="5 May")
    page = anna.send(form, text=text, value=value, reason="By phone.")
    assert page.status == 422
    assert told in page.text
    assert page.form("/amend", text=text, value=value, reason="By phone.")
    assert held_values(memory, "deadline") == {"5 May"}
    page = anna.send(
        page.form("/amend"), text="The deadline is 6 June.", value="6 June", reason="By phone."
    )
    assert held_values(memory, "deadline") == {"6 June"}


def test_an_erasure_needs_the_contacts_id(reader: Browser, still_api: Tenant) -> None:
    form = reader.get("/erase", **PRIYA).form("/erase")
    page = reader.send(form, reason="She asked.", confirm="Priya")
    assert page.status == 422
    assert still_api.contact("crm", "priya").erasures() == []
    assert held_values(still_api, "city") == {"Goa"}


@pytest.mark.parametrize("size", [300_000, 5_000_000])
def test_a_body_that_is_too_large_is_refused_with_a_page(reader: Browser, size: int) -> None:
    page = reader.send(questions(priya(reader))[0], answer="words", text="x" * size)
    assert page.status == 413
    assert "send less" in page.text


def test_a_login_body_is_small(still_api: Tenant) -> None:
    with Browser(still_api.url) as browser:
        assert browser.send(browser.get("/login").form("/login"), token="x" * 5_000).status == 413


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a=%ff", b"&".join([b"a=1"] * 100)])
def test_a_body_that_is_no_form_is_refused(reader: Browser, body: bytes) -> None:
    answer = reader.client.post("/answer", content=body)
    assert answer.status_code in (400, 403)


def test_every_answer_keeps_the_browser_within_the_site(reader: Browser) -> None:
    for path in ("/", "/login", "/nowhere", "/page.css", "/page.js", "/icon.svg"):
        headers = reader.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert reader.client.get("/").headers["cache-control"] == "no-store"


def test_pages_ask_no_other_host_for_anything(reader: Browser) -> None:
    for page in (reader.get("/"), priya(reader), reader.get("/questions")):
        for _, given in page.elements:
            for name in ("src", "href", "action"):
                assert (given.get(name) or "/").startswith(("/", "#"))


@pytest.mark.xdist_group("installed")  # where the wheel is built
def test_the_wheel_holds_the_templates(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if "operator_page/" in name}
    folder = Path(__file__).resolve().parents[2] / "reconciler/serve/operator_page"
    kept = {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {str(path.relative_to(folder.parents[2])) for path in kept} <= names


def test_a_walk_in_a_real_browser(api: Tenant, tmp_path: Path) -> None:
    with Chromium(tmp_path) as chromium:
        chromium.open(f"{api.url}/contact?agent=crm&contact=priya")
        chromium.evaluate("document.getElementById('token').focus()")
        chromium.type_text(api.token(granted("operator", name="anna")))
        chromium.press("Enter", 13)
        chromium.wait_for("document.querySelectorAll('[action=\"/answer\"]').length === 3")
        chromium.evaluate("document.querySelector('button[value=no]').click()")
        chromium.wait_for("document.querySelectorAll('[action=\"/answer\"]').length === 2")
        chromium.evaluate("document.querySelector('[action=\"/settle\"] [type=radio]').click()")
        chromium.evaluate("document.querySelector('[action=\"/settle\"] button').click()")
        chromium.wait_for("!!document.querySelector('[action=\"/undo\"]')")
        chromium.evaluate("document.querySelector('[action=\"/undo\"] button').click()")
        chromium.wait_for("!!document.querySelector('[action=\"/settle\"]')")
        chromium.evaluate(SLIDE)
        chromium.wait_for("location.search.includes('at=')", 10)
        chromium.wait_for("!!document.querySelector('.notice.warn')", 10)
        chromium.wait_for("document.activeElement.className === 'slider'", 10)
        shown = chromium.evaluate("location.search")
        chromium.press("ArrowRight", 39)
        chromium.wait_for("document.querySelector('.slider').value === '21'", 10)
        assert chromium.evaluate("location.search") == shown
        chromium.press("Enter", 13)
        chromium.wait_for(f"location.search !== '{shown}'", 10)
        chromium.wait_for("(document.activeElement || {}).className === 'slider'", 10)
        assert all(url.startswith(api.url) for url in chromium.asked_for if "//" in url)
        assert not [told for told in chromium.said if "DOM" not in told]


def test_each_page_lists_its_keys_and_has_their_script(reader: Browser) -> None:
    script = reader.client.get("/page.js").text
    for page in (reader.get("/"), priya(reader), reader.get("/questions")):
        assert "j next item k previous item / search ? this list" in page.text
        assert [given for tag, given in page.elements if tag == "script"]
    for key in ("j: ", "k: ", '"/": ', '"?": '):
        assert f"{key}" in script.partition("const acts = {")[2].partition("}")[0]


def test_without_a_script_no_page_offers_keys(reader: Browser, still_api: Tenant) -> None:
    [keys] = [given for tag, given in reader.get("/").elements if tag == "footer"]
    assert "hidden" in keys
    with Browser(still_api.url) as stranger:
        assert "next item" not in stranger.get("/login").text


def logged_in(chromium: Chromium, api: Tenant, path: str) -> None:
    chromium.open(f"{api.url}{path}")
    chromium.evaluate("document.getElementById('token').focus()")
    chromium.type_text(api.token(granted("operator", name="anna")))
    chromium.press("Enter", 13)
    chromium.wait_for("!!document.querySelector('.keys:not([hidden])')")


ITEM = "[...document.querySelectorAll('main article')].indexOf(document.activeElement)"


def test_keys_lead_through_a_page_and_to_the_search(still_api: Tenant, tmp_path: Path) -> None:
    with Chromium(tmp_path) as chromium:
        logged_in(chromium, still_api, "/contact?agent=crm&contact=priya")
        for key, place in (("j", 0), ("j", 1), ("k", 0), ("k", 0)):
            chromium.press(key, ord(key.upper()))
            assert chromium.evaluate(ITEM) == place
        chromium.press("?", 191)
        assert chromium.evaluate("document.querySelector('.keys details').open")
        chromium.evaluate("document.querySelector('textarea').closest('details').open = true")
        chromium.evaluate("document.querySelector('textarea').focus()")
        chromium.press("j", 74)
        assert chromium.evaluate("document.activeElement.tagName") == "TEXTAREA"
        chromium.evaluate("document.activeElement.blur()")
        chromium.press("/", 191)
        chromium.wait_for("(document.activeElement || {}).type === 'search'", 10)
        assert not [told for told in chromium.said if "DOM" not in told]


def test_keys_that_are_switched_off_do_nothing(still_api: Tenant, tmp_path: Path) -> None:
    with Chromium(tmp_path) as chromium:
        logged_in(chromium, still_api, "/contact?agent=crm&contact=priya")
        chromium.evaluate("document.getElementById('use-keys').click()")
        chromium.open(f"{still_api.url}/contact?agent=crm&contact=priya")
        assert not chromium.evaluate("document.getElementById('use-keys').checked")
        chromium.press("j", 74)
        assert chromium.evaluate("document.activeElement.tagName") == "BODY"


LETTERS = """[...document.querySelectorAll('.strand[open] svg.timeline text')].map((text) => {
  const [seen, place] = [text, text.closest('.scrolls')].map((one) => one.getBoundingClientRect());
  const isInSight = seen.left >= place.left && seen.right <= place.right;
  return [text.parentElement.matches('.words'), isInSight, seen.height];
}).filter(([, , height]) => height)"""


def test_drawings_keep_their_letters_on_a_narrow_screen(still_api: Tenant, tmp_path: Path) -> None:
    with Chromium(tmp_path) as chromium:
        logged_in(chromium, still_api, "/contact?agent=crm&contact=priya")
        for width in (390, 700, 1200):
            size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
            chromium.call("Emulation.setDeviceMetricsOverride", **size)
            letters = chromium.evaluate(LETTERS)
            assert {in_sight for is_caption, in_sight, _ in letters if is_caption} == {True}
            assert min(height for *_, height in letters) >= 11, width
            assert chromium.evaluate("document.documentElement.scrollWidth") <= width


def test_every_kind_of_page_is_accessible_in_light_and_dark(
    still_api: Tenant, tmp_path: Path
) -> None:
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    by_page: dict[str, list[str]] = {}

    def look(chromium: Chromium) -> None:
        path = urlsplit(chromium.evaluate("location.href")).path
        chromium.evaluate(axe)
        for scheme, rules in (("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")):
            chromium.emulate("screen", scheme)
            by_page[f"{path} {scheme}"] = chromium.evaluate(FAULTS_OF_ACCESS % rules)

    with Chromium(tmp_path) as chromium:
        chromium.open(f"{still_api.url}/")
        look(chromium)
        chromium.evaluate("document.getElementById('token').focus()")
        chromium.type_text(still_api.token(granted("operator", name="anna")))
        chromium.press("Enter", 13)
        chromium.wait_for("!document.getElementById('token')")
        waiting = chromium.evaluate(LINKS)
        while waiting:
            url = waiting.pop(0)
            path = urlsplit(url).path
            if f"{path} dark" in by_page or path == "/logout":
                continue
            chromium.open(url)
            look(chromium)
            waiting += chromium.evaluate(LINKS)
    assert len(by_page) >= 2 * 8, by_page
    assert not {page: faults for page, faults in by_page.items() if faults}
