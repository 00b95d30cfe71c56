"""What is found by a name, and across the contacts of an agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler import Memory, Scope
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.records.facts import FoundFact
from reconciler.errors import (
    GraphUnavailableError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
)
from reconciler.service import recall
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.tables import every

NOTES = {
    "alice": ["Works at Acme.", "Her dog is called Rex."],
    "bob": ["Acme owes him money.", "Has three children."],
}


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as opened:
        for contact, texts in NOTES.items():
            for text in texts:
                opened.add_contact_note("crm", contact, text)
        opened.add_contact_note("other", "carol", "Works at Acme.")
        yield opened


def texts(found: list[FoundFact]) -> list[tuple[str, str]]:
    return [(each.contact_id, each.fact.text) for each in found]


def test_an_agent_of_a_longer_name_keeps_its_facts(memory: Memory) -> None:
    memory.add_contact_note("crm2", "dora", "Works at Acme.")
    assert {hit.contact_id for hit in memory.agent("crm").find("Works at Acme.")} == {*NOTES}
    assert {hit.contact_id for hit in memory.agent("crm").recall_about("Acme")} == {*NOTES}
    assert texts(memory.agent("crm2").recall_about("Acme")) == [("dora", "Works at Acme.")]


def test_a_name_finds_the_facts_of_one_contact(memory: Memory) -> None:
    assert texts(memory.contact("crm", "alice").recall_about("ACME Corp.")) == [
        ("alice", "Works at Acme.")
    ]


def test_a_name_finds_those_of_the_agents_other_contacts_where_that_is_asked(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "_PAGE_ROWS", 1)
    found = memory.agent("crm").recall_about("ACME")
    assert texts(found) == [("alice", "Works at Acme."), ("bob", "Acme owes him money.")]


def test_a_name_of_an_agent_is_found_without_its_legal_form(memory: Memory) -> None:
    memory.add_contact_note("crm", "bob", "Sold his firm to Ito.")
    assert texts(memory.agent("crm").recall_about("Ito Limited")) == [
        ("bob", "Sold his firm to Ito.")
    ]


def test_both_words_of_a_numbered_name_are_asked_for(memory: Memory) -> None:
    for number in (1, 2, 3):
        memory.add_contact_note("crm", "bob", f"Delivered to depot-{number}.")
    scope = Scope("default", "crm", "bob")
    found = memory._services.fact_store.list_mentions(scope, ("depot", "2"), 0, 10)
    assert [fact.text for _, fact in found] == ["Delivered to depot-2."]


def test_what_has_ended_is_not_found(memory: Memory) -> None:
    memory.add_contact_note("crm", "alice", "Works at Globex.")
    assert memory.contact("crm", "alice").recall_about("Acme") == []
    assert ("alice", "Works at Acme.") not in texts(memory.agent("crm").find("Works at Acme."))


def test_a_fact_that_mentions_what_the_query_names_comes_first(
    any_engine: EngineUnderTest,
) -> None:
    """Also where more facts are nearer in meaning than are looked at."""
    with Memory.open(embedder=HashingEmbedder(1024), **any_engine.settings_arguments) as memory:
        for n in range(6):
            memory.add_contact_note("crm", f"c{n}", f"A plan suits number {n} best today.")
        memory.add_contact_note("crm", "bob", "Brightwave is small.")
        found = memory.agent("crm").find("Which plan for Brightwave?", limit=1)
        assert texts(found) == [("bob", "Brightwave is small.")]


def test_a_question_that_names_a_contact_finds_what_is_known_about_that_contact(
    kept_engine: EngineUnderTest,
) -> None:
    """Also where its facts do not say the name, and those of others are nearer."""
    with Memory.open(embedder=HashingEmbedder(1024), **kept_engine.settings_arguments) as memory:
        for n in range(6):
            memory.add_contact_note("crm", f"c{n}", f"A plan suits number {n} best today.")
        memory.add_contact_note("crm", "7", "Has a flat in Goa.", contact_name="Oscar Dahl")
        memory.add_contact_note("crm", "8", "Has a flat in Bonn.", contact_name="Oscarine Ek")
        found = memory.agent("crm").find("Which plan for Oscar?", limit=1)
        assert texts(found) == [("7", "Has a flat in Goa.")]


@every(
    "query, is_found",
    [
        ("Does Oscar have three children?", False),
        ("Does Bob have three children?", True),
        ("Do they have three children in March?", True),
        ("Hat er drei Kinder, has three children?", True),
        ("children Oscar", True),
    ],
)
def test_an_english_question_about_a_name_that_is_not_known_finds_nothing(
    memory: Memory, query: str, is_found: bool
) -> None:
    """German writes every noun with a capital; keywords are no question; a month is no name."""
    assert bool(memory.agent("crm").find(query)) is is_found
    assert memory.agent("crm").find(query, min_score=0.0)


def test_what_is_not_near_is_not_found_unless_a_score_is_asked_for(
    one_of_each: EngineUnderTest,
) -> None:
    settings = one_of_each.settings_arguments | {"recall": {"floor": 0.5}}
    with Memory.open(embedder=HashingEmbedder(256), **settings) as memory:
        memory.add_contact_note("crm", "alice", "Lives in Pune.")
        assert texts(memory.agent("crm").find("Lives in Pune.")) == [("alice", "Lives in Pune.")]
        assert memory.agent("crm").find("Reykjavik weather") == []
        assert len(memory.agent("crm").find("Reykjavik weather", min_score=0.0)) == 1


def test_the_nearest_facts_of_all_contacts_are_found_the_nearest_first(memory: Memory) -> None:
    found = memory.agent("crm").find("Has three children", limit=2)
    assert texts(found)[0] == ("bob", "Has three children.")
    assert found[0].similarity == pytest.approx(1.0, abs=1e-6)
    assert len(found) == 2


def test_an_agent_of_few_contacts_among_many_finds_its_own(memory: Memory) -> None:
    """Whichever way its facts are compared; what others know is never found."""
    for n in range(40):
        memory.add_contact_note("other", f"c{n}", f"Prefers tea from shop {n}.")
    for agent, wanted in (("crm", "bob"), ("other", "c7")):
        memory.add_contact_note(agent, wanted, "Prefers tea in the garden.")
        [found] = memory.agent(agent).find("Prefers tea in the garden.", limit=1)
        assert (found.contact_id, found.fact.text) == (wanted, "Prefers tea in the garden.")
    assert {hit.contact_id for hit in memory.agent("crm").find("Prefers tea", limit=90)} <= {
        *("alice", "bob"),
    }


def test_a_store_too_large_for_one_query_is_looked_through_by_contacts(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = memory.agent("crm").find("Works at Acme.", limit=5)
    graph, names = memory._services.fact_store.graph, list[str]()

    def run(name: str, parameters: Any, seconds_max: float | None = None) -> Any:
        names.append(name)
        if name == "find_nearest":
            raise GraphUnavailableError("a query took longer than 15 s")
        return type(graph).run(graph, name, parameters, seconds_max)

    monkeypatch.setattr(graph, "run", run)
    assert memory.agent("crm").find("Works at Acme.", limit=5) == wanted
    assert {"find_nearest", "list_nearest"} <= {*names}


def test_a_least_score_ends_the_look_and_loses_nothing(memory: Memory) -> None:
    for n in range(40):
        memory.add_contact_note("crm", f"c{n}", f"Prefers tea from shop {n}.")
    every = memory.agent("crm").find("Prefers tea from shop 7.", limit=60, min_score=0.0)
    least = every[3].similarity
    assert least is not None
    found = memory.agent("crm").find("Prefers tea from shop 7.", limit=60, min_score=least)
    near = [hit.fact.fact_id for hit in every if (hit.similarity or -1) >= least]
    assert [hit.fact.fact_id for hit in found] == near


def test_a_wider_look_finds_what_others_facts_stood_before(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall, "_OVERFETCH", 2)
    for number in range(10):
        memory.add_contact_note("other", f"c{number}", "Has three children.")
    assert texts(memory.agent("crm").find("Has three children", limit=1))[0][0] == "bob"


def test_a_filter_leaves_out_what_does_not_fit(memory: Memory) -> None:
    memory.add_contact_note("crm", "bob", "Lives in Goa.", attribute="city", value="Goa")
    found = memory.agent("crm").find("anything", attribute="city")
    assert texts(found) == [("bob", "Lives in Goa.")]
    with pytest.raises(InvalidRequestError, match="there is no filter colour"):
        memory.agent("crm").find("anything", colour="red")  # type: ignore[call-arg]


def test_as_many_are_found_as_there_are(memory: Memory) -> None:
    assert len(memory.agent("crm").find("anything", limit=50)) == 4


@every("given", [{"name": "!!"}, {"name": " "}, {"limit": 0}])
def test_what_cannot_be_asked_is_refused(memory: Memory, given: dict[str, Any]) -> None:
    with pytest.raises((InvalidRequestError, InvalidNoteError)):
        memory.contact("crm", "alice").recall_about(**{"name": "Acme"} | given)


def test_an_agent_without_a_name_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidScopeError):
        memory.agent("").find("anything")


def test_nothing_is_near_without_an_embedder(kept_engine: EngineUnderTest) -> None:
    with (
        Memory.open(embedder=NoopEmbedder(), **kept_engine.settings_arguments) as memory,
        pytest.raises(InvalidRequestError, match="recall_about"),
    ):
        memory.agent("crm").find("anything")
