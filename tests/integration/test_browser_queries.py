"""The pack's queries on a real server: each answers in its case, and none for a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import neo4j
import pytest
from neo4j.graph import Node, Path, Relationship

from reconciler import Memory, ops
from reconciler.entrypoints.browser_commands import SavedQuery, saved_queries
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.integration.test_captions import session_of

WHO = {"tenant": "default", "agent_id": "crm", "contact_id": "priya"}
NOBODY = WHO | {"contact_id": "pria"}
ELSEWHERE = WHO | {"tenant": "acme"}
QUERIES = {query.name: query for query in saved_queries()}


@pytest.fixture
def session(one_neo4j: EngineUnderTest) -> Iterator[neo4j.Session]:
    """A store in which each query has something to find, beside another contact's."""
    with Memory.open(embedder=HashingEmbedder(), **one_neo4j.settings_arguments) as memory:
        fill(memory, "priya")
        fill(memory, "dana")
    namesake = one_neo4j.settings_arguments | {"tenant": "acme"}
    with Memory.open(embedder=HashingEmbedder(), **namesake) as memory:
        memory.add_contact_note("crm", "priya", "Rows on the river every Sunday.")
    with session_of(one_neo4j) as session:
        yield session


def fill(memory: Memory, contact: str, agent: str = "crm") -> None:
    """A contact about whom each of the queries has something to say."""
    for week, city in enumerate(("Pune", "Goa", "Delhi")):
        said_at = datetime.now(UTC) - timedelta(weeks=9 - week)
        slot = {"attribute": "city", "value": city}
        memory.add_contact_note(agent, contact, f"Lives in {city}.", said_at=said_at, **slot)
    for text in ("Invoice 1042 is unpaid.", "Invoice 1043 is unpaid.", "Is diabetic.", "ok thanks"):
        memory.add_contact_note(agent, contact, text)
    for budget, source in (("40", "user_explicit"), ("50", "approved_doc")):
        text = f"The budget is {budget} thousand euros."
        given = {"attribute": "budget", "value": f"{budget},000 EUR", "source_kind": source}
        memory.add_contact_note(agent, contact, text, **given)
    tea = memory.add_contact_note(agent, contact, "Likes green tea.").fact_id
    memory.contact(agent, contact).revoke(tea, by="anna", reason="She never said so.")


def rows(session: neo4j.Session, query: SavedQuery, who: dict[str, str]) -> list[neo4j.Record]:
    result = session.run(query.text, who)
    found = list(result)
    assert result.consume().query_type == "r"
    return found


def test_there_are_eleven_and_each_says_what_it_shows() -> None:
    assert len(QUERIES) == 11
    assert sorted(QUERIES) == list(QUERIES)
    for query in QUERIES.values():
        assert query.title
        assert query.says.endswith(".")
        assert query.shows in {"graph", "table"}
        assert "{tenant: $tenant, agent_id: $agent_id}" in query.text
        assert "$contact_id" in query.text
        assert "LIMIT" in query.text


def test_each_answers_as_it_says_and_for_nobody_unknown(session: neo4j.Session) -> None:
    for query in QUERIES.values():
        found = rows(session, query, WHO)
        assert found, query.name
        drawn = any(isinstance(value, Node | Relationship | Path) for value in found[0].values())
        assert drawn is (query.shows == "graph"), query.name
        assert query.name == "11_health" or not rows(session, query, NOBODY), query.name
    first = rows(session, QUERIES["11_health"], WHO)
    assert [row["contact_id"] for row in first] == ["priya", "dana"]


def test_the_words_of_what_a_fact_says_again_are_shown_with_it(
    session: neo4j.Session, one_neo4j: EngineUnderTest
) -> None:
    with Memory.open(embedder=HashingEmbedder(), **one_neo4j.settings_arguments) as memory:
        said = [memory.add_contact_note("crm", "rosa", "Keeps two cats.") for _ in range(3)]
    found = rows(session, QUERIES["07_back_to_the_words"], WHO | {"contact_id": "rosa"})
    assert {row["fact"]["fact_id"] for row in found} == {said[-1].fact_id}
    assert {row["episode"]["episode_id"] for row in found} == {each.episode_id for each in said}


def test_they_ask_for_one_tenant_only(session: neo4j.Session) -> None:
    [row] = rows(session, QUERIES["01_whose_story"], ELSEWHERE)
    assert row["fact"]["text"] == "Rows on the river every Sunday."
    [row] = rows(session, QUERIES["11_health"], ELSEWHERE)
    assert (row["live"], row["superseded"], row["refused"]) == (1, 0, 0)
    theirs = {name for name, query in QUERIES.items() if rows(session, query, ELSEWHERE)}
    assert theirs == {
        "01_whose_story",
        "07_back_to_the_words",
        "08_by_day",
        "10_believed_on_a_day",
        "11_health",
    }


def test_they_say_what_the_memory_says(session: neo4j.Session, one_neo4j: EngineUnderTest) -> None:
    with Memory.open(embedder=HashingEmbedder(), **one_neo4j.settings_arguments) as memory:
        chains = memory.contact("crm", "priya").history()
        decisions = list(memory.contact("crm", "priya").all_decisions())
        pending = memory.contact("crm", "priya").pending()
        disputes = memory.contact("crm", "priya").disputes()
        [health] = ops.health(memory.contact("crm", "priya")).contacts
    assert len(disputes) == len(pending) - 1 == 1
    facts = {fact.fact_id: fact for chain in chains for fact in chain.facts}
    links = [link for chain in chains for link in chain.supersessions]

    story = rows(session, QUERIES["01_whose_story"], WHO)
    assert {row["fact"]["fact_id"] for row in story} == set(facts)
    paths = [row["chain"] for row in rows(session, QUERIES["02_what_superseded_what"], WHO)]
    assert max(len(path) for path in paths) == 2
    decided = rows(session, QUERIES["03_who_decided"], WHO)
    assert sorted((row["decided_by"], row["cosine"]) for row in decided) == sorted(
        (str(link.decided_by), link.cosine) for link in links
    )
    assert all(row["decision_id"] for row in decided)
    kept_out = rows(session, QUERIES["04_refused_and_held"], WHO)
    assert sorted(row["action"] for row in kept_out) == ["HOLD", "REJECT"]
    assert [row["text"] for row in kept_out if row["waits"]] == ["Is diabetic."]
    sides = {
        row[name]["fact_id"]
        for row in rows(session, QUERIES["05_open_disputes"], WHO)
        for name in ("one", "other")
    }
    assert sides == {fact.fact_id for each in disputes for fact in each.facts}
    near = rows(session, QUERIES["06_near_misses"], WHO)
    notes = ["The budget is 50 thousand euros.", "Invoice 1043 is unpaid."]
    assert [row["note"] for row in near] == notes
    words = rows(session, QUERIES["07_back_to_the_words"], WHO)
    assert {row["fact"]["fact_id"] for row in words} == {
        fact.fact_id for fact in facts.values() if fact.is_live
    }
    by_day = rows(session, QUERIES["08_by_day"], WHO)
    assert sum(row["decisions"] for row in by_day) == len(decisions)
    then = rows(session, QUERIES["09_live_as_of_a_day"], WHO)
    assert [row["fact"]["text"] for row in then] == ["Lives in Delhi."]
    row = rows(session, QUERIES["11_health"], WHO)[0]
    assert (row["live"], row["superseded"], row["revoked"], row["refused"]) == (
        health.live,
        health.superseded,
        health.revoked,
        health.refusals,
    )
    assert row["disputes"] == len(disputes)
    assert row["questions"] == len(pending) - len(disputes)


def test_what_was_believed_on_a_day_is_what_a_recall_as_of_then_knows(
    session: neo4j.Session, one_neo4j: EngineUnderTest
) -> None:
    asked = QUERIES["10_believed_on_a_day"].text.replace("datetime()", "$day", 1)
    with Memory.open(embedder=HashingEmbedder(), **one_neo4j.settings_arguments) as memory:
        facts = [fact for chain in memory.contact("crm", "priya").history() for fact in chain.facts]
        for day in sorted({fact.recorded_at for fact in facts}):
            known = memory.contact("crm", "priya").recall(as_of=day, limit=99)
            held = {row["fact"]["fact_id"] for row in session.run(asked, WHO | {"day": day})}
            assert held == {each.fact.fact_id for each in known}
    [pune] = [fact for fact in facts if fact.text == "Lives in Pune."]
    first = session.run(asked, WHO | {"day": pune.recorded_at})
    assert [(row["fact"]["text"], row["newer"]["text"]) for row in first] == [
        ("Lives in Pune.", "Lives in Goa.")
    ]
