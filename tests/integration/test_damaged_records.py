"""One record that cannot be read is named by its id, can be erased, and keeps nothing else unread.

A record of each kind is damaged behind the package's back, and then everything is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, Turn, ops
from reconciler.errors import DamagedRecordError, ReconcilerError
from reconciler.testing import HashingEmbedder
from tests import faults, raw_store
from tests.conftest import CHOICE, params_of
from tests.engines import EngineUnderTest, embedded_engine
from tests.kept_stores import copy_of

ANN = "crm", "ann"
ASKED: dict[str, Any] = {"by": "contact", "reason": "I asked for it."}
SECRET = "quoxbaba"
TURNS = [Turn(role="contact", text="Please remember that I yodel."), Turn(role="agent", text="So.")]

DAMAGE: dict[str, str] = {
    "a decision cut short": "MATCH (n:Decision) WHERE n.decision_id = $id "
    "SET n.record = substring(n.record, 1, 150)",
    "a decision of another shape": "MATCH (n:Decision) WHERE n.decision_id = $id "
    f"SET n.record = '{{\"{SECRET}\": 1}}'",
    "a decision without a record": "MATCH (n:Decision) WHERE n.decision_id = $id "
    "SET n.record = NULL",
    "a decision of no action": "MATCH (n:Decision) WHERE n.decision_id = $id "
    f"SET n.record = '{SECRET}', n.action = '{SECRET}'",
    "a fact of no category": f"MATCH (n:Fact) WHERE n.fact_id = $id SET n.category = '{SECRET}'",
    "a fact of nobody's word": f"MATCH (n:Fact) WHERE n.fact_id = $id SET n.trust = '{SECRET}'",
    "a fact without a text": "MATCH (n:Fact) WHERE n.fact_id = $id SET n.text = NULL",
    "a turn of no role": f"MATCH (n:Episode) WHERE n.role = 'contact' SET n.role = '{SECRET}'",
    "a turn without a time": "MATCH (n:Episode) WHERE n.role = 'contact' SET n.said_at = NULL",
    "an episode of nobody's word": "MATCH (n:Episode) WHERE n.role IS NULL "
    f"SET n.source_kind = '{SECRET}'",
    "an episode without a text": "MATCH (n:Episode) WHERE n.role IS NULL SET n.text = NULL",
    "a session without a time": "MATCH (n:Session) SET n.started_at = NULL",
    "a job of no state": f"MATCH (n:Job) SET n.state = '{SECRET}'",
    "a job of nobody": "MATCH (n:Job) SET n.contact_id = NULL",
    "what was read, cut short": "MATCH (n:Job) WHERE n.session_id = 'chat-1' "
    f"SET n.proposals = '{{\"{SECRET}\": ['",
    "a task of no state": f"MATCH (n:Task) SET n.state = '{SECRET}'",
    "an erasure's target": f"MATCH (n:Erasure) SET n.target = '{{\"{SECRET}'",
    "an erasure's receipt": f"MATCH (n:Erasure) SET n.receipt = '{{\"{SECRET}'",
    "an erasure's plan": f"MATCH (n:Erasure) SET n.plan = '{SECRET}', n.state = 'pending'",
    "a tombstone without a time": "MATCH (n:Tombstone) SET n.at = NULL",
    "why a fact ended": "MATCH (:Fact)-[n:SUPERSEDES]->(:Fact) SET n.at = NULL",
    "what was compared": "MATCH (:Decision)-[n:COMPARED_WITH]->(:Fact) SET n.cosine = NULL",
    "words that are blank": "MATCH (:Decision)-[n:JUDGED]->(:Episode) SET n.span = '  '",
}
# The embedded engine's columns have types, and hold nothing else.
ON_NEO4J: dict[str, str] = {
    "a record that is a number": "MATCH (n:Decision) WHERE n.decision_id = $id SET n.record = 7",
    "a time that is a word": f"MATCH (n:Fact) WHERE n.fact_id = $id SET n.valid_from = '{SECRET}'",
}

ON_A_SERVER = ("an erasure's plan",)
"""What ``make test`` damages on Neo4j too, beside ``ON_NEO4J``; ``make faults`` does with all."""


def _rows() -> Iterator[Any]:
    for engine in params_of(CHOICE.one_of_each):
        is_embedded = engine.values == ("embedded",)
        if faults.EVERY_CALL:
            groups = [(name,) for name in (DAMAGE if is_embedded else DAMAGE | ON_NEO4J)]
        else:
            groups = _groups([*DAMAGE] if is_embedded else [*ON_A_SERVER, *ON_NEO4J])
        for names in groups:
            told = f"{engine.values[0]}-{names[0]}{' and others' * (len(names) > 1)}"
            yield pytest.param(*engine.values, names, marks=engine.marks, id=told)


def _groups(kinds: list[str]) -> list[tuple[str, ...]]:
    """All of the kinds, several in a store: each of them damages something else there."""
    damaged: dict[str, list[str]] = {}
    for name in kinds:
        place = (DAMAGE | ON_NEO4J)[name].partition(" WHERE ")[0].partition(" SET ")[0]
        damaged.setdefault(place, []).append(name)
    return [tuple(filter(None, names)) for names in zip_longest(*damaged.values())]


DAMAGED = pytest.mark.parametrize(("one_of_each", "names"), list(_rows()), indirect=["one_of_each"])
"""``make faults`` damages one kind at a time."""


def opened(engine: EngineUnderTest) -> Memory:
    return Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments)


def lived(memory: Memory) -> tuple[str, str]:
    """Something of every kind; gives the fact that is to be forgotten, and one that stays."""
    for city in ("Pune", "Goa"):
        memory.add_contact_note(*ANN, f"Lives in {city}.", attribute="city", value=city)
    gone = memory.add_contact_note(*ANN, "Collects stamps of Peru.")
    memory.contact(*ANN).forget(fact_id=str(gone.fact_id), **ASKED)
    memory.contact(*ANN).submit_session("chat-1", TURNS)
    memory.drain()
    memory.contact(*ANN).task("move", goal="Move house", session_id="chat-2").interrupt()
    memory.add_contact_note(*ANN, "Drives a lorry.")
    memory.add_contact_note(*ANN, "Keeps two cats.")
    facts = {
        chain.facts[0].text: chain.facts[0].fact_id for chain in memory.contact(*ANN).history()
    }
    return facts["Drives a lorry."], facts["Keeps two cats."]


def living(engine: EngineUnderTest) -> tuple[str, str, str]:
    """A store with something of everything: the fact, the one that stays, the fact's decision."""
    with opened(engine) as memory:
        lorry, cats = lived(memory)
        [decision] = [e for e in memory.contact(*ANN).decisions() if e.fact_id == lorry]
    return lorry, cats, decision.decision_id


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[EngineUnderTest, list[str]]:
    """An embedded store that is copied, since making one takes longer than a test."""
    made = embedded_engine(tmp_path_factory.mktemp("planted"))
    return made, list(living(made))


@pytest.fixture
def ids(
    one_of_each: EngineUnderTest, planted: tuple[EngineUnderTest, list[str]], names: tuple[str, ...]
) -> tuple[str, str]:
    """A store with damaged records of these kinds: the ids of the damaged fact, and of another.

    On Neo4j it is made each time.
    """
    if one_of_each.name != "embedded":
        lorry, cats, decision_id = living(one_of_each)
    else:
        made, (lorry, cats, decision_id) = planted
        copy_of(made, one_of_each)
    for text in ({**DAMAGE, **ON_NEO4J}[name] for name in names):
        given = {"id": lorry if "fact_id" in text else decision_id} if "$id" in text else {}
        raw_store.query(one_of_each, text, **given)
    return lorry, cats


def asked_for(memory: Memory) -> dict[str, Callable[[], Any]]:
    """All that lists something; none of it may fail."""
    return {
        "recall": lambda: memory.contact(*ANN).recall("What does she keep?"),
        "history": lambda: memory.contact(*ANN).history(),
        "decisions": lambda: memory.contact(*ANN).decisions(),
        "page": lambda: ops.contact_page(memory.contact(*ANN)),
        "health": lambda: ops.health(memory.contact(*ANN)),
        "profile": lambda: memory.contact(*ANN).profile(),
        "briefing": lambda: memory.contact(*ANN).briefing(),
        "pending": lambda: memory.contact(*ANN).pending(),
        "disputes": lambda: memory.contact(*ANN).disputes(),
        "jobs": lambda: memory.contact(*ANN).jobs(),
        "tasks": lambda: memory.contact(*ANN).tasks(),
        "contacts": lambda: memory.agent("crm").contacts(),
        "erasures": lambda: memory.contact(*ANN).erasures(),
        "drain": lambda: memory.drain(),
        "write": lambda: memory.add_contact_note(*ANN, "Plays chess."),
    }


@DAMAGED
def test_what_is_damaged_is_counted_named_never_quoted_and_keeps_nothing_else_unread(
    one_of_each: EngineUnderTest,
    ids: tuple[str, str],
    names: tuple[str, ...],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    lorry, cats = ids
    with opened(one_of_each) as memory:
        [counted] = ops.health(memory.contact(*ANN), check_records=True).contacts
        report = ops.export(memory, tmp_path / "all.jsonl")
        links = [each for each in report.damaged_ids if each.split()[0].isupper()]
        assert len(report.damaged_ids) - len(links) == counted.damaged
        assert bool(report.damaged_ids) is (names != ("a tombstone without a time",))
        caplog.clear()
        found = {called: call() for called, call in asked_for(memory).items()}
        assert cats in {ranked.fact.fact_id for ranked in found["recall"]}
        assert cats in {chain.facts[0].fact_id for chain in found["history"]}
        assert cats in {decision.fact_id for decision in found["decisions"]}
        assert "Keeps two cats." in found["page"]
        assert found["health"].total.damaged is None
        for decision in memory.contact(*ANN).decisions():
            memory.contact(*ANN).explain(decision.decision_id)
        memory.contact(*ANN).evidence(cats)
        if any("fact_id" in {**DAMAGE, **ON_NEO4J}[name] for name in names):
            with pytest.raises(DamagedRecordError) as told:
                memory.contact(*ANN).evidence(lorry)
            assert str(lorry) in str(told.value)
            assert SECRET not in f"{told.value}{told.value.__cause__}"
        assert SECRET not in caplog.text
    given: dict[str, Any] = {"graph": "embedded", "embedded_path": tmp_path / "new.lbug"}
    ops.restore(tmp_path / "all.jsonl", embedder=HashingEmbedder(), **given)
    with Memory.open(embedder=HashingEmbedder(), **given) as memory:
        assert ops.health(memory.contact(*ANN), check_records=True).contacts[0].damaged == 0
        assert cats in {chain.facts[0].fact_id for chain in memory.contact(*ANN).history()}


@DAMAGED
def test_a_fact_is_forgotten_beside_a_damaged_record_as_a_dry_run_planned_it(
    one_of_each: EngineUnderTest, ids: tuple[str, str]
) -> None:
    lorry, cats = ids
    with opened(one_of_each) as memory:
        damaged = ops.health(memory.contact(*ANN), check_records=True).contacts[0].damaged
        planned = memory.contact(*ANN).forget(fact_id=lorry, dry_run=True, **ASKED)
        assert ops.health(memory.contact(*ANN), check_records=True).contacts[0].damaged == damaged
        done = memory.contact(*ANN).forget(fact_id=lorry, **ASKED)
        assert (done.is_finished, done.receipt.remaining_ids) == (True, ())
        assert cats in {chain.facts[0].fact_id for chain in memory.contact(*ANN).history()}
    assert [line for line in raw_store.everything(one_of_each) if "lorry" in line] == []
    assert planned.receipt.removed["Fact"] == done.receipt.removed["Fact"] == 1
    # What cannot be read does not say that it belongs to the fact before it is emptied.
    assert Counter(planned.receipt.removed) <= Counter(done.receipt.removed)


@pytest.mark.usefixtures("ids")
@DAMAGED
def test_a_contact_is_forgotten_with_its_damaged_records(
    one_of_each: EngineUnderTest, tmp_path: Path
) -> None:
    with opened(one_of_each) as memory:
        done = memory.contact(*ANN).forget(**ASKED)
        assert (done.is_finished, done.receipt.remaining_ids) == (True, ())
        assert ops.health(memory.contact(*ANN), check_records=True).contacts[0].damaged == 0
        ops.export(memory, tmp_path / "all.jsonl")
    everything = "\n".join(raw_store.everything(one_of_each)).casefold()
    assert not {word for word in (SECRET, "lorry", "cats", "yodel") if word in everything}
    given: dict[str, Any] = {"graph": "embedded", "embedded_path": tmp_path / "new.lbug"}
    ops.restore(tmp_path / "all.jsonl", embedder=HashingEmbedder(), **given)


def test_a_damaged_key_of_the_store_is_told_without_a_quotation(tmp_path: Path) -> None:
    engine = embedded_engine(tmp_path)
    opened(engine).close()
    raw_store.query(engine, f"MATCH (n:Store) SET n.id_key = '{SECRET}'")
    with pytest.raises(ReconcilerError, match="backup") as told:
        opened(engine)
    assert SECRET not in str(told.value)
