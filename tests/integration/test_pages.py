"""Lists of an agent with many contacts, and of a contact with many facts, come in pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from reconciler import Memory, ops
from reconciler.domain.records.facts import Dispute
from reconciler.errors import (
    InvalidRequestError,
    InvalidScopeError,
    ReconcilerError,
    UnknownFactError,
)
from reconciler.service.stores import decision_store, rows
from reconciler.testing import HashingEmbedder, TableEmbedder
from tests.engines import EngineUnderTest
from tests.tables import every

CONTACTS = ["ann", "bob", "cem", "dia", "eva"]
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
DIAGNOSIS, THANKS = "Has diabetes", "Thanks a lot!"


@pytest.fixture
def memory(kept_engine: EngineUnderTest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory that reads two contacts, or decisions, at a time."""
    monkeypatch.setattr(rows, "_PAGE", 2)
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as memory:
        yield memory


def tell_all(memory: Memory, text: str) -> None:
    for contact in CONTACTS:
        memory.add_contact_note("crm", contact, text)


def asked_of(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the queries that are run from now on."""
    graph, names = memory._services.fact_store.graph, list[str]()

    def run(name: str, parameters: Any, seconds_max: float | None = None) -> Any:
        names.append(name)
        return type(graph).run(graph, name, parameters, seconds_max)

    monkeypatch.setattr(graph, "run", run)
    return names


@pytest.mark.on_neo4j_too
def test_contacts_come_in_pages(memory: Memory) -> None:
    tell_all(memory, "Lives in Pune")
    first = [contact.contact_id for contact in memory.agent("crm").contacts(limit=3)]
    rest = [
        contact.contact_id for contact in memory.agent("crm").contacts(after=first[-1], limit=3)
    ]
    assert (first, rest) == (CONTACTS[:3], CONTACTS[3:])


@pytest.mark.on_neo4j_too
def test_one_contact_is_looked_up_without_the_others(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_all(memory, "Lives in Pune")
    names = asked_of(memory, monkeypatch)
    assert [contact.contact_id for contact in memory.agent("crm").contacts("cem")] == ["cem"]
    assert memory.agent("crm").contacts("nobody") == []
    assert "list_contact_ids" not in names


def test_several_contacts_are_looked_up_together(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_PAGE", 100)
    tell_all(memory, "Lives in Pune")
    names = asked_of(memory, monkeypatch)
    found = memory.agent("crm").contacts(contact_ids={"eva", "bob", "nobody"})
    assert [contact.contact_id for contact in found] == ["bob", "eva"]
    assert names[-2:] == ["count_states", "list_contacts"]
    assert memory.agent("crm").contacts(contact_ids=[]) == []


@pytest.mark.on_neo4j_too
def test_contacts_of_any_script_are_found_together(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_PAGE", 100)
    names = ["Zoë", "a", "ä", "ß", "李", "\U0001f9e8"]
    for name in names:
        memory.add_contact_note("crm", name, "Lives in Pune")
    assert {contact.contact_id for contact in memory.agent("crm").contacts()} == set(names)
    assert all(each.live == 1 for each in ops.health(memory.agent("crm")).contacts)


def test_a_contact_without_a_fact_is_counted_with_none(memory: Memory) -> None:
    memory.add_contact_note("crm", "ann", THANKS)
    [contact] = memory.agent("crm").contacts()
    assert (contact.contact_id, contact.facts, contact.live_facts) == ("ann", 0, 0)


@pytest.mark.on_neo4j_too
def test_the_newest_decisions_of_an_agent_are_the_newest_of_all_its_contacts(
    memory: Memory,
) -> None:
    for text in ("Lives in Pune", "Prefers email", THANKS):
        tell_all(memory, text)
    memory.add_contact_note("crm", "bob", "Owns a bicycle")
    by_time = sorted(
        memory.agent("crm").all_decisions(), key=lambda decision: decision.at, reverse=True
    )
    assert memory.agent("crm").decisions(limit=4) == by_time[:4]
    assert memory.agent("crm").decisions(limit=100) == by_time


def test_the_newest_decisions_that_fit_a_filter_may_be_about_contacts_decided_about_long_ago(
    memory: Memory,
) -> None:
    refused = memory.add_contact_note("crm", "ann", THANKS)
    tell_all(memory, "Lives in Pune")
    memory.add_contact_note("crm", "ann", "Prefers email")
    for contact in CONTACTS[1:]:
        memory.add_contact_note("crm", contact, "Owns a bicycle")
    [found] = memory.agent("crm").decisions(disposal="reject", limit=1)
    assert found.decision_id == refused.decision_id


def test_contacts_that_cannot_have_one_of_the_newest_decisions_are_not_looked_at(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_all(memory, "Lives in Pune")
    names = asked_of(memory, monkeypatch)
    memory.agent("crm").decisions(limit=1)
    assert names.count("list_decision_ids") == 1


def test_a_clock_that_stepped_back_hides_no_decision_from_the_newest(
    kept_engine: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_PAGE", 1)
    told = [(30, "ann", "Lives in Pune"), (10, "ann", "Has a dog"), (20, "bob", "Has a cat")]
    at = NOON
    with Memory.open(
        embedder=HashingEmbedder(), clock=lambda: at, **kept_engine.settings_arguments
    ) as memory:
        for minutes, contact, text in told:
            at = NOON + timedelta(minutes=minutes)
            memory.add_contact_note("crm", contact, text)
        [newest] = memory.agent("crm").decisions(limit=1)
        assert newest.note.text == "Lives in Pune"


def test_what_waits_is_limited_the_newest_first(memory: Memory) -> None:
    tell_all(memory, DIAGNOSIS)
    assert len(memory.agent("crm").pending()) == len(CONTACTS)
    assert [item.scope.contact_id for item in memory.agent("crm").pending(limit=2)] == [
        "eva",
        "dia",
    ]


@pytest.mark.on_neo4j_too
def test_what_waits_is_read_on_from_the_page_before(memory: Memory) -> None:
    """Held notes of all contacts, then their disputes; what was settled meanwhile is no matter."""
    crm, pages = memory.agent("crm"), []
    tell_all(memory, DIAGNOSIS)
    tell_all(memory, "Lives in Pune.")
    for contact in CONTACTS:
        memory.add_contact_note("crm", contact, "Lives in Goa.", source_kind="operator")
    waiting, after = crm.pending(), None
    while page := crm.pending(limit=3, after=after):
        pages.append(page)
        last = page[-1]
        contact = memory.contact("crm", last.scope.contact_id)
        if isinstance(last, Dispute):
            after = (*last.place, last.scope.contact_id)
            contact.resolve(keep=[last.facts[0].fact_id], by="operator", reason="Asked.")
        else:
            after = (last.at, last.decision_id)
            contact.reject(last.decision_id, "contact")
    assert [len(page) for page in pages] == [3, 3, 3, 1]
    assert [item for page in pages for item in page] == waiting


@pytest.mark.on_neo4j_too
def test_disputes_of_one_contact_are_read_on(memory: Memory) -> None:
    ann = memory.contact("crm", "ann")
    for city, employer in (("Pune", "Acme"), ("Goa", "Globex")):
        kind = "operator" if city == "Goa" else "user_explicit"
        ann.note(f"Lives in {city}.", source_kind=kind)
        ann.note(f"Works at {employer}.", source_kind=kind)
    first, second = ann.disputes()
    after = (*first.place, "ann")
    assert ann.disputes(after=after) == ann.pending(after=after) == [second]
    assert ann.disputes(after=(*second.place, "ann")) == []


@pytest.mark.on_neo4j_too
def test_jobs_are_read_on_from_the_page_before(memory: Memory) -> None:
    for contact in CONTACTS:
        said = [{"role": "user", "content": "Lives in Pune."}]
        memory.contact("crm", contact).submit_session("chat", said)
    crm, found, after = memory.agent("crm"), [], None
    while page := crm.jobs(limit=2, after=after):
        found.append(page)
        after = (page[-1].submitted_at, page[-1].job_id)
    assert [len(page) for page in found] == [2, 2, 1]
    assert [job for page in found for job in page] == crm.jobs()


@pytest.mark.parametrize("name", ["disputes", "pending"])
def test_the_place_of_another_contact_opens_nothing_of_it(memory: Memory, name: str) -> None:
    bob = memory.contact("crm", "bob")
    for said in ({}, {"source_kind": "operator"}):
        bob.note("Lives in Goa." if said else "Lives in Pune.", **said)
    [dispute] = bob.disputes()
    after = (dispute.opened_at + timedelta(days=1), "x", "bob")
    assert memory.agent("crm").disputes(after=after) == [dispute]
    with pytest.raises(InvalidRequestError, match="another contact"):
        getattr(memory.contact("crm", "alice"), name)(after=after)


@pytest.mark.on_neo4j_too
@every("name", ["pending", "disputes", "jobs", "decisions"])
@every("after", ["x", ("x", "y"), (NOON,), (NOON, 7), (NOON, "x", 7), (1, "x", "y")])
def test_a_place_that_is_none_is_refused(memory: Memory, name: str, after: Any) -> None:
    with pytest.raises(ReconcilerError, match="after"):
        getattr(memory.agent("crm"), name)(after=after)


@pytest.mark.on_neo4j_too
def test_refusals_are_limited(memory: Memory) -> None:
    tell_all(memory, THANKS)
    assert len(memory.agent("crm").refusals()) == len(CONTACTS)
    assert [count.contact_id for count in memory.agent("crm").refusals(limit=3)] == CONTACTS[:3]


@pytest.mark.on_neo4j_too
def test_the_facts_that_expire_first_are_found_over_all_contacts(memory: Memory) -> None:
    tell_all(memory, "Owns a bicycle")
    found = memory.agent("crm").expiring(days=365, limit=3)
    assert [fact.contact_id for fact in found] == CONTACTS[:3]


def test_the_health_of_one_contact_is_not_looked_for_among_the_others(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_all(memory, "Lives in Pune")
    names = asked_of(memory, monkeypatch)
    [found] = ops.health(memory.contact("crm", "cem")).contacts
    assert (found.contact_id, found.live) == ("cem", 1)
    assert "list_contact_ids" not in names


@pytest.mark.on_neo4j_too
def test_a_history_in_pages_is_the_whole_history(memory: Memory) -> None:
    """Also where a page is asked for that follows an older fact of a chain."""
    for city in ("Pune", "Mumbai", "Delhi"):
        memory.add_contact_note("crm", "ann", f"Lives in {city}", attribute="city", value=city)
        memory.add_contact_note("crm", "ann", f"Went to the fair of {city}")
    whole = memory.contact("crm", "ann").history()
    assert len(whole) == 4
    for limit, place in product((1, 2, 3), (0, -1)):
        pages, after = [], None
        while page := memory.contact("crm", "ann").history(after=after, limit=limit):
            pages += page
            after = page[-1].facts[place].fact_id
        assert pages == whole, (limit, place)


@pytest.mark.on_neo4j_too
def test_facts_of_one_moment_come_in_pages_by_their_ids(kept_engine: EngineUnderTest) -> None:
    with Memory.open(
        embedder=HashingEmbedder(), clock=lambda: NOON, **kept_engine.settings_arguments
    ) as memory:
        for number in range(5):
            memory.add_contact_note("crm", "ann", f"Bought {number} boats", said_at=NOON)
        pages, after = [], None
        while page := memory.contact("crm", "ann").history(after=after, limit=2):
            pages += [chain.facts[0].fact_id for chain in page]
            after = pages[-1]
        assert (
            pages
            == sorted(pages)
            == [c.facts[0].fact_id for c in memory.contact("crm", "ann").history()]
        )
        assert len(pages) == 5


def test_a_page_of_a_history_knows_conflicts_with_facts_of_other_pages(
    kept_engine: EngineUnderTest,
) -> None:
    texts = [f"Has {number} children" for number in (2, 3)]
    embedder = TableEmbedder({text: [1.0, 0.0] for text in texts}, 2)
    with Memory.open(embedder=embedder, **kept_engine.settings_arguments) as memory:
        for text in texts:
            memory.add_contact_note("crm", "ann", text)
        newer, older = memory.contact("crm", "ann").history()
        assert newer.conflicts == older.conflicts != ()
        assert memory.contact("crm", "ann").history(limit=1) == [newer]


def test_no_page_follows_a_fact_that_is_not_there(memory: Memory) -> None:
    memory.add_contact_note("crm", "ann", "Lives in Pune")
    with pytest.raises(UnknownFactError):
        memory.contact("crm", "ann").history(after="nowhere", limit=1)


def test_no_page_follows_a_fact_of_another_contact(memory: Memory) -> None:
    tell_all(memory, "Lives in Pune")
    [chain] = memory.contact("crm", "bob").history()
    with pytest.raises(UnknownFactError):
        memory.contact("crm", "ann").history(after=chain.facts[0].fact_id)


@every("after", ["", " ann", 7])
def test_no_page_follows_what_no_contact_is_called(memory: Memory, after: Any) -> None:
    with pytest.raises(InvalidScopeError, match="after"):
        memory.agent("crm").contacts(after=after)


@every(
    "name",
    [
        *("pending", "disputes", "refusals", "expiring", "erasures", "decisions", "jobs", "tasks"),
        *("contacts", "history"),
    ],
)
def test_a_limit_below_one_is_refused(memory: Memory, name: str) -> None:
    views = (memory, memory.agent("crm"), memory.contact("crm", "ann"))
    for call in (getattr(view, name) for view in views if hasattr(view, name)):
        with pytest.raises(InvalidRequestError, match="limit must be a whole number from 1"):
            call(limit=0)


@pytest.mark.on_neo4j_too
def test_decisions_read_in_one_piece_are_those_that_are_looked_up(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = memory.contact("crm", "ann")
    tell_all(memory, "Lives in Pune")
    tell_all(memory, "Lives in Delhi")
    looked_up = ann.decisions()
    monkeypatch.setattr(decision_store, "_LOOKED_UP_MAX", 1)
    names = asked_of(memory, monkeypatch)
    assert ann.decisions() == looked_up
    assert looked_up[0].compared_with
    assert "list_contact_comparisons" in names
