"""Importing what other memory systems hold, from what the real packages wrote."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import neo4j
import pytest

from reconciler import Memory, ops
from reconciler.domain.records.facts import Fact
from reconciler.errors import ConfigurationError, GraphUnavailableError, InvalidRequestError
from reconciler.service.writing.note_import import ImportReport
from tests.clocks import Clock
from tests.engines import EngineUnderTest
from tests.replaying import replay_all

EXPORTS = Path(__file__).parents[1] / "peer_exports"
MEM0 = ("mem0", EXPORTS / "mem0.json")
GRAPHITI = ("graphiti", EXPORTS / "graphiti.jsonl")
AGENT_MEMORY = ("neo4j-agent-memory", EXPORTS / "neo4j_agent_memory.jsonl")
LANGMEM = ("langmem", EXPORTS / "langmem.jsonl")
ALL = {"mem0": MEM0, "graphiti": GRAPHITI, "agent memory": AGENT_MEMORY, "langmem": LANGMEM}
IN_NEO4J = {"graphiti": GRAPHITI, "neo4j-agent-memory": AGENT_MEMORY}
BY_SUBJECT = {"neo4j-agent-memory": {"contact_from": "subject"}}
NOW = datetime(2026, 4, 1, tzinfo=UTC)
"""Within a year of what the exports say, so that no lifetime is over."""


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


def imported(
    memory: Memory,
    system: str,
    source: str | Path,
    *,
    contact_id: str | None = None,
    tenant: str | None = None,
    **how: Any,
) -> ImportReport:
    if contact_id is not None:
        return ops.import_from(memory.contact("crm", contact_id), system, source, **how)
    agent = memory.agent("crm", tenant=tenant)
    return ops.import_from(agent, system, source, **BY_SUBJECT.get(system, {}) | how)


def live(memory: Memory, contact_id: str) -> set[str]:
    return {each.fact.text for each in memory.contact("crm", contact_id).recall()}


def ended(memory: Memory, contact_id: str) -> dict[str, str]:
    """What is history, with the day on which it ended."""
    facts = [fact for each in memory.contact("crm", contact_id).history() for fact in each.facts]
    return {fact.text: _end_of(fact) for fact in facts if not fact.is_live}


def _end_of(fact: Fact) -> str:
    assert fact.state == "superseded"
    return f"{fact.valid_to:%Y-%m-%d}"


def known_before(memory: Memory, contact_id: str, text: str) -> set[str]:
    """What a note was compared with: what came before it, and held."""
    [decision] = [
        each for each in memory.contact("crm", contact_id).decisions() if each.note.text == text
    ]
    return {each.text for each in decision.compared_with}


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    assert report.errors == []
    return report.added, report.merged, report.held, report.refused


def first_lines(source: Path, count: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in source.read_text().splitlines()[:count]]


def written(folder: Path, *records: Any) -> Path:
    file = folder / "export.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return file


def test_mem0_memories_come_in_order_and_the_assistants_words_wait(
    memory: Memory,
) -> None:
    report = imported(memory, *MEM0)
    assert counts(report) == (5, 0, 2, 2)
    texts = {"User lives in Pune", "User moved to Mumbai", "User is vegetarian"}
    assert live(memory, "anna") == texts
    assert ended(memory, "anna") == {"Staying at the Taj until 1 May": "2025-05-02"}
    assert "User lives in Pune" in known_before(memory, "anna", "User moved to Mumbai")
    assert live(memory, "ben") == {"User lives in Oslo"}
    waiting = {each.text for each in memory.agent("crm").pending(with_silent=True)}
    asked = {each.text for each in memory.agent("crm").pending()}
    assert "Assistant suggested the hotel Nordlys for the trip" in waiting - asked


def test_graphiti_edges_that_were_invalidated_are_history_found_in_its_time(
    memory: Memory,
) -> None:
    assert counts(imported(memory, *GRAPHITI)) == (5, 0, 0, 0)
    assert live(memory, "anna") == {"Anna lives in Mumbai", "Meera is Anna's sister"}
    assert ended(memory, "anna") == {
        "Anna lives in Pune": "2025-06-02",
        "Anna worked at Globex": "2022-12-31",
    }
    assert live(memory, "ben") == {"Ben lives in Oslo"}
    [chain] = [each for each in memory.contact("crm", "anna").history() if len(each.facts) > 1]
    assert [each.text for each in chain.facts] == ["Anna lives in Mumbai", "Anna lives in Pune"]
    then = memory.contact("crm", "anna").recall(valid_at=datetime(2020, 5, 1, tzinfo=UTC))
    assert [each.fact.text for each in then] == ["Anna worked at Globex"]
    replayed = {each.decision.text for each in replay_all(memory.contact("crm", "anna"), "seed")}
    assert "Anna worked at Globex" not in replayed  # no threshold is tried on what was over
    assert "Anna lives in Pune" in replayed


def test_agent_memory_facts_and_preferences_are_carried_and_the_rest_is_named(
    memory: Memory,
) -> None:
    report = imported(memory, *AGENT_MEMORY)
    assert counts(report) == (6, 0, 0, 0)
    assert {reason: left.count for reason, left in report.not_carried.items()} == {
        "a relationship without a description says nothing in words": 1,
        "it is a message of a conversation; `reconciler extract` reads those": 1,
    }
    assert live(memory, "Anna") == {"Anna lives in Mumbai"}
    assert ended(memory, "Anna") == {"Anna lives in Pune": "2025-06-02"}
    assert live(memory, "anna") == {"Prefers email (after work)"}
    assert ended(memory, "anna") == {"Prefers phone calls": "2025-05-01"}
    assert live(memory, "Ben") == {"Ben works at Fjordbank"}


def lines_of_store(folder: Path, change: str = "", *values: str) -> Path:
    """The lines that the statement in the docs makes of LangGraph's SQLite store."""
    page = (EXPORTS.parents[1] / "docs" / "importing.md").read_text(encoding="utf-8")
    statement = page.partition("-- SQLite\n")[2].partition(";")[0]
    with closing(sqlite3.connect(":memory:")) as store:
        with closing(sqlite3.connect(EXPORTS / "langmem.sqlite")) as kept:
            kept.backup(store)
        if change:
            assert store.execute(change, values).rowcount == 1
        lines = [line for (line,) in store.execute(statement)]
    file = folder / "store.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_langmem_items_are_read_from_lines_and_a_store(memory: Memory, tmp_path: Path) -> None:
    report = imported(memory, *LANGMEM)
    assert counts(report) == (5, 0, 0, 0)
    assert [*report.not_carried] == ["its value has no text under content"]
    assert live(memory, "anna") == {"Lives in Pune.", "Moved to Mumbai.", "Is vegetarian."}
    assert "Lives in Pune." in known_before(memory, "anna", "Moved to Mumbai.")
    assert live(memory, "ben") == {"Lives in Oslo.", "Plays chess on Fridays."}
    assert imported(memory, "langmem", lines_of_store(tmp_path)).decisions == {}


def test_a_langgraph_item_that_expires_does_not_outlive_its_time(
    memory: Memory, tmp_path: Path
) -> None:
    """LangGraph's SQLite store keeps the end of an item's life in a column of its own."""
    which = "UPDATE store SET expires_at = ? WHERE CAST(value AS TEXT) LIKE '%vegetarian%'"
    imported(memory, "langmem", lines_of_store(tmp_path, which, "2025-02-10 09:00:00"))
    assert "Is vegetarian." not in live(memory, "anna")
    assert ended(memory, "anna") == {"Is vegetarian.": "2025-02-10"}


def test_a_user_of_a_windows_domain_is_read_from_a_langgraph_store(
    memory: Memory, tmp_path: Path
) -> None:
    """LangGraph's SQLite store 3.1.2 takes a backslash or a quote in a namespace, but no dot."""
    which = "UPDATE store SET prefix = ? WHERE CAST(value AS TEXT) LIKE '%vegetarian%'"
    for user in ("CORP\\anna", 'Anna "Nan" Berg'):
        imported(memory, "langmem", lines_of_store(tmp_path, which, f"memories.{user}"))
        assert live(memory, user) == {"Is vegetarian."}


@pytest.mark.parametrize("source", ALL.values(), ids=ALL)
def test_the_same_export_again_adds_nothing(memory: Memory, source: tuple[str, Path]) -> None:
    first = imported(memory, *source)
    again = imported(memory, *source)
    assert again.decisions == {}
    assert again.resumed == sum(first.decisions.values())


def test_a_record_that_an_export_holds_twice_counts_once(memory: Memory, tmp_path: Path) -> None:
    edge, other = first_lines(GRAPHITI[1], 2)
    report = imported(memory, "graphiti", written(tmp_path, edge, other, edge))
    assert counts(report) == (2, 0, 0, 0)
    assert report.resumed == 0


def test_an_edge_that_is_invalidated_after_its_import_ends_until_that_is_undone(
    memory: Memory, tmp_path: Path
) -> None:
    [edge] = [each for each in first_lines(GRAPHITI[1], 5) if "Oslo" in each["fact"]]
    imported(memory, "graphiti", written(tmp_path, edge))
    ending = edge | {"invalid_at": "2025-09-01T00:00:00Z"}
    imported(memory, "graphiti", written(tmp_path, ending))
    assert live(memory, "ben") == set()
    [made] = [each for each in memory.contact("crm", "ben").decisions() if each.action == "UPDATE"]
    memory.contact("crm", "ben").revert(made.decision_id, by="dana", reason="He lives there still.")
    assert live(memory, "ben") == {"Ben lives in Oslo"}


@pytest.mark.parametrize("source", ALL.values(), ids=ALL)
def test_an_export_that_is_cut_off_writes_nothing(
    memory: Memory, source: tuple[str, Path], tmp_path: Path
) -> None:
    system, whole = source
    cut = tmp_path / "cut"
    cut.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(InvalidRequestError, match=r"cut off: .* line \d+ .*nothing was imp"):
        imported(memory, system, cut)
    assert memory.agent("crm").contacts() == []


@pytest.mark.parametrize("source", ALL.values(), ids=ALL)
def test_a_record_of_another_system_is_named_and_nothing_is_written(
    memory: Memory, source: tuple[str, Path], tmp_path: Path
) -> None:
    system, whole = source
    right = json.loads(whole.read_text())["results"][:1] if system == "mem0" else []
    right = right or first_lines(whole, 1)
    with pytest.raises(InvalidRequestError, match="record 2: "):
        imported(memory, system, written(tmp_path, *right, {"note": "Likes tea"}))
    assert memory.agent("crm").contacts() == []


@pytest.mark.parametrize(
    ("system", "record", "missing"),
    [
        ("mem0", {"id": "1", "memory": "Likes tea"}, "no user_id"),
        ("graphiti", {"uuid": "1", "fact": "Likes tea", "group_id": ""}, "no group_id"),
        (
            "langmem",
            {"namespace": [], "key": "1", "value": {"content": "Tea"}},
            "no namespace.last",
        ),
    ],
)
def test_a_record_that_does_not_say_whose_it_is_is_an_error(
    memory: Memory, system: str, record: dict[str, Any], missing: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidRequestError, match=missing):
        imported(memory, system, written(tmp_path, record))
    report = imported(memory, system, written(tmp_path, record), contact_id="anna")
    assert sum(report.decisions.values()) == 1


def test_users_inside_a_longer_namespace_are_not_made_one_contact(
    memory: Memory, tmp_path: Path
) -> None:
    """langmem 0.0.30's docstrings have the user second of three labels, and third of three."""
    items = [
        {"namespace": ["memories", user, "user_profile"], "key": user, "value": {"content": text}}
        for user, text in (("anna", "Likes tea."), ("ben", "Likes jazz."))
    ]
    file = written(tmp_path, *items)
    with pytest.raises(
        InvalidRequestError,
        match=r"no namespace\.last \(of one or two parts\).*such as .*namespace\.1",
    ):
        imported(memory, "langmem", file)
    assert memory.agent("crm").contacts() == []
    imported(memory, "langmem", file, contact_from="namespace.2")
    assert live(memory, "anna") == {"Likes tea."}
    imported(memory, "langmem", file, contact_from="namespace.last")
    assert live(memory, "user_profile") == {"Likes tea.", "Likes jazz."}


def test_agent_memorys_facts_have_no_user_and_the_error_says_what_to_choose(
    memory: Memory,
) -> None:
    with pytest.raises(InvalidRequestError, match="--contact-from subject"):
        ops.import_from(memory.agent("crm"), *AGENT_MEMORY)
    assert memory.agent("crm").contacts() == []


def test_half_a_character_in_a_record_stops_no_import(memory: Memory, tmp_path: Path) -> None:
    records = [
        {"id": str(n), "memory": text, "user_id": "ada", "created_at": "2025-06-02"}
        for n, text in enumerate(("Likes \ud800 tea", "Lives in Oslo"))
    ]
    imported(memory, "mem0", written(tmp_path, *records))
    assert "Lives in Oslo" in live(memory, "ada")


def test_the_contact_is_read_from_the_key_that_is_named(memory: Memory, tmp_path: Path) -> None:
    record = {"id": "1", "memory": "Likes tea.", "metadata": {"customer": 17}}
    imported(memory, "mem0", written(tmp_path, record), contact_from="metadata.customer")
    assert [each.contact_id for each in memory.agent("crm").contacts()] == ["17"]


def test_what_was_said_since_then_outlives_an_end_in_an_export(
    memory: Memory, tmp_path: Path
) -> None:
    memory.add_contact_note("crm", "ben", "Ben lives in Oslo.")
    [edge] = [each for each in first_lines(GRAPHITI[1], 5) if "Oslo" in each["fact"]]
    imported(memory, "graphiti", written(tmp_path, edge | {"invalid_at": "2025-09-01T00:00:00Z"}))
    assert live(memory, "ben") == {"Ben lives in Oslo."}


def test_an_edge_without_an_invalidation_ends_when_graphiti_expired_it(
    memory: Memory, tmp_path: Path
) -> None:
    [edge] = first_lines(GRAPHITI[1], 1)
    imported(memory, "graphiti", written(tmp_path, edge | {"expired_at": "2025-08-01T00:00:00Z"}))
    assert live(memory, "anna") == set()


@pytest.mark.parametrize(
    ("began", "reason"),
    [
        (None, "it has ended, and does not say when it began"),
        ("2023-01-01T00:00:00Z", "it ended when it began, or before"),
    ],
)
def test_an_edge_that_is_left_out_for_its_dates_says_which_is_amiss(
    memory: Memory, tmp_path: Path, began: str | None, reason: str
) -> None:
    """graphiti-core 0.31.2 keeps what ended before it was told, without a ``valid_at``."""
    [edge] = [each for each in first_lines(GRAPHITI[1], 5) if "Globex" in each["fact"]]
    report = imported(memory, "graphiti", written(tmp_path, edge | {"valid_at": began}))
    assert [*report.not_carried] == [reason]


def test_nobody_is_asked_about_what_is_over(memory: Memory, tmp_path: Path) -> None:
    [edge] = first_lines(GRAPHITI[1], 1)
    edge |= {"fact": "Was diagnosed with diabetes", "invalid_at": "2025-08-01T00:00:00Z"}
    report = imported(memory, "graphiti", written(tmp_path, edge))
    assert memory.agent("crm").pending() == []
    [left] = report.not_carried.values()
    assert left.first == f"graphiti:{edge['uuid']}"


def test_an_unknown_system_and_two_ways_to_the_contact_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidRequestError, match="use one of mem0, graphiti"):
        imported(memory, "letta", MEM0[1])
    with pytest.raises(InvalidRequestError, match="not both"):
        imported(memory, *MEM0, contact_id="anna", contact_from="user_id")


@pytest.mark.parametrize(
    ("system", "uri", "wrong"),
    [
        ("mem0", "bolt://127.0.0.1:1", "mem0 cannot be read from Neo4j; give a file"),
        ("mem0", "http://127.0.0.1:1", "give mem0's records as an export file"),
        ("graphiti", "http://127.0.0.1:1", "or as the URI of its Neo4j, such as neo4j://"),
        ("graphiti", "bolt://neo4j:pw-17@127.0.0.1:1", "must not hold a user name or a password"),
    ],
)
def test_a_uri_that_is_of_no_use_is_refused(
    memory: Memory, system: str, uri: str, wrong: str
) -> None:
    with pytest.raises(InvalidRequestError, match=wrong) as refused:
        imported(memory, system, uri)
    assert "pw-17" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_cannot_be_reached_is_named_with_what_to_check(
    memory: Memory, scheme: str
) -> None:
    told = rf"Neo4j at {scheme}://127\.0\.0\.1:1 cannot be reached; check .* host and port"
    with pytest.raises(GraphUnavailableError, match=told) as refused:
        imported(memory, "graphiti", f"{scheme}://127.0.0.1:1")
    assert "routing information" not in str(refused.value)
    assert "bolt://127.0.0.1:1" in str(refused.value)


def test_a_database_is_no_export(memory: Memory) -> None:
    with pytest.raises(InvalidRequestError, match="nothing was imported"):
        imported(memory, "langmem", EXPORTS / "langmem.sqlite")
    assert not memory.agent("crm").contacts()


def test_a_text_that_is_too_long_is_told_by_its_record(memory: Memory, tmp_path: Path) -> None:
    records = [
        {"id": "1", "memory": "x" * 2001, "user_id": "anna", "created_at": "2025-02-01T00:00:00Z"},
        {"id": "2", "memory": "Likes tea.", "user_id": "anna", "created_at": "2025-01-01"},
    ]
    report = imported(memory, "mem0", written(tmp_path, *records))
    assert [each.line_number for each in report.errors] == [1]
    assert live(memory, "anna") == {"Likes tea."}


@pytest.mark.parametrize("source", IN_NEO4J.values(), ids=IN_NEO4J)
def test_a_graph_is_read_over_bolt_as_it_lies_there(
    memory: Memory, source: tuple[str, Path], one_neo4j: EngineUnderTest
) -> None:
    system, lines = source
    there = one_neo4j.settings_arguments["neo4j"]
    load_graph(lines.with_name(f"{lines.stem}_graph.jsonl"), there)
    login = {name: there[name] for name in ("username", "password", "database")}
    report = imported(memory, system, there["uri"], **login)
    assert counts(report) == counts(imported(memory, system, lines, tenant="from a file"))
    assert ended(memory, "Anna" if system == "neo4j-agent-memory" else "anna")
    with pytest.raises(ConfigurationError, match="rejected the user name or password"):
        imported(memory, system, there["uri"], **login | {"password": "wrong"})


def load_graph(file: Path, there: dict[str, Any]) -> None:
    """Make the nodes and relationships that ``peer_exports/dump_graph.py`` wrote."""
    with (
        neo4j.GraphDatabase.driver(
            there["uri"], auth=(there["username"], there["password"])
        ) as driver,
        driver.session(database=there["database"]) as session,
    ):
        for number, line in enumerate(file.read_text().splitlines()):
            made = json.loads(line)
            properties = {name: _moment(told) for name, told in made["properties"].items()}
            if "labels" in made:
                node = "CREATE (n:$($labels) {number: $number}) SET n += $properties"
                session.run(node, labels=made["labels"], number=number, properties=properties)
            else:
                ends = "MATCH (a {number: $start}), (b {number: $end}) "
                link = f"CREATE (a)-[r:`{made['type']}`]->(b) SET r = $properties"
                session.run(
                    ends + link, start=made["start"], end=made["end"], properties=properties
                )


def _moment(value: Any) -> Any:
    return neo4j.time.DateTime.from_iso_format(value["at"]) if isinstance(value, dict) else value


# Values that return


def on_plan(plan: str, **given: Any) -> dict[str, Any]:
    return {"text": f"Is on the {plan} plan.", "attribute": "plan", "value": plan} | given


@pytest.mark.parametrize("told_by", ["said_at", "source", "nothing"])
def test_a_line_of_a_file_that_is_written_over_counts_again_if_it_names_its_occasion(
    memory: Memory, tmp_path: Path, told_by: str
) -> None:
    file, who = tmp_path / "notes.jsonl", {"agent_id": "crm", "contact_id": "ann"}
    for day, plan in enumerate(("Basic", "Premium", "Basic"), start=1):
        dated = {"said_at": f"2026-01-0{day}T09:00:00Z"} if told_by == "said_at" else {}
        file.write_text(json.dumps(on_plan(plan, **who, **dated)) + "\n", encoding="utf-8")
        for _ in range(2):  # the second time it is known
            with file.open(encoding="utf-8") as lines:
                source = f"notes, state {day}" if told_by == "source" else None
                report = memory.import_notes(lines, source=source)
        assert report.resumed == 1
    [held] = memory.contact("crm", "ann").value("plan")
    assert held.value == ("Premium" if told_by == "nothing" else "Basic")


@pytest.mark.parametrize("is_dated", [True, False])
def test_a_record_that_returns_to_an_earlier_value_counts_if_it_says_when(
    memory: Memory, tmp_path: Path, is_dated: bool
) -> None:
    for day, plan in enumerate(("Basic", "Premium", "Basic"), start=1):
        dated = {"updated_at": f"2026-01-0{day}T09:00:00Z"} if is_dated else {}
        record = {"id": "1", "memory": f"Is on the {plan} plan.", "user_id": "bob"} | dated
        imported(memory, "mem0", written(tmp_path, record))
    assert live(memory, "bob") == {f"Is on the {'Basic' if is_dated else 'Premium'} plan."}


def test_an_end_on_the_last_day_that_there_is_has_not_come(memory: Memory, tmp_path: Path) -> None:
    record = {"id": "1", "memory": "Owns a boat.", "user_id": "bob", "created_at": "2026-01-01"}
    record["expiration_date"] = "9999-12-31"
    imported(memory, "mem0", written(tmp_path, record))
    assert live(memory, "bob") == {"Owns a boat."}


def test_where_a_contact_stands_must_be_named_in_words(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="contact_from"):
        imported(memory, "mem0", written(tmp_path), contact_from=5)
