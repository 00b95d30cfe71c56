"""Made-up notes, at each door that takes one: written as a whole, or refused in our own words."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from reconciler import Memory
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.errors import ReconcilerError
from reconciler.reading.kinds import Category
from reconciler.service.writing.doors import AgentFields, NoteFields
from tests.engines import EngineUnderTest
from tests.fuzz.bench import WHO, Bench
from tests.fuzz.bending import SEEDS, bent_text
from tests.fuzz.texts import JSON_VALUES, ODD, TEXTS, TIMES, sometimes, with_some
from tests.fuzz.trying import each_of
from tests.submissions import propose_to

pytestmark = pytest.mark.faults

IDS = st.sampled_from(("priya", "bob", "someone new", "İnes", "a/b", "%2F", "x" * 200, "🙂"))
ATTRIBUTES = st.sampled_from(
    ("city", "allergy", "employer", "phone", "budget", "Home City", "mood")
)
VALUES = st.one_of(
    TEXTS, st.sampled_from(("Pune", "nuts", "3k EUR", "+49 30 1234", "2026-02-30", 7))
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "subject": st.sampled_from((None, "wife", "her wife's boss", "contact", "his son", "the dog")),
    "attribute": ATTRIBUTES,
    "value": VALUES,
    "single_valued": st.booleans(),
    "source_kind": st.sampled_from((*SourceKind, *map(str, SourceKind))),
    "importance": st.floats(0, 1),
    "contact_name": TEXTS,
    "source_reference": TEXTS,
    "said_at": TIMES,
    "valid_from": TIMES,
    "valid_to": TIMES,
    "lifetime_days": st.integers(0, 3_700),
    "replaces": st.lists(IDS, max_size=4),
    "repeats": IDS,
    "ends": st.lists(IDS, max_size=4),
    "ended": st.booleans(),
    "category": st.sampled_from((*Category, None)),
    "topic": st.sampled_from(("work", "health", "pets", "", "x" * 200)),
    "tags": st.lists(st.text(min_size=1, max_size=8), max_size=4),
    "artefact": TEXTS,
    "session_id": IDS,
    "idempotency_key": st.text(min_size=1, max_size=3),
    "proposed_by": TEXTS,
}


@st.composite
def notes(draw: st.DrawFn) -> dict[str, Any]:
    """Mostly a few fields, so that not each note is refused for one of them."""
    names = draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=4, unique=True))
    made = {"text": draw(sometimes(TEXTS)), "contact_id": draw(sometimes(IDS))}
    return made | {name: draw(sometimes(FIELDS[name])) for name in names}


def test_every_field_of_a_note_is_made_up() -> None:
    assert FIELDS.keys() == NoteFields.__annotations__.keys()


def added(note: dict[str, Any], bench: Bench) -> None:
    about = dict(note)
    contact_id, text = about.pop("contact_id"), about.pop("text")

    def add(memory: Memory) -> None:
        decision = memory.add_contact_note("crm", contact_id, text, **about)
        assert (
            memory.contact("crm", contact_id).decision(decision.decision_id).note == decision.note
        )

    bench.attempt("notes", add)


def test_a_note_is_written_or_refused_as_a_whole(bench: Bench) -> None:
    each_of(12, "notes", notes(), lambda note: added(note, bench))


def test_so_it_is_on_a_server(one_neo4j: EngineUnderTest, tmp_path: Path) -> None:
    bench = Bench(one_neo4j, tmp_path)
    each_of(10, "notes on a server", notes(), lambda note: added(note, bench))
    bench.close()


# Candidates


@st.composite
def fields_of(draw: st.DrawFn, kind: type, **usual: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Values for the fields of a record: those named mostly, and seldom anything for another."""
    made = {name: draw(sometimes(each)) for name, each in usual.items()}
    others = sorted({each.name for each in dataclasses.fields(kind)} - usual.keys())
    if others and draw(st.booleans()):
        made[draw(st.sampled_from(others))] = draw(ODD)
    return made


SCOPES = st.just(Scope("default", *WHO))
SLOTS = st.none() | st.builds(
    Slot,
    subject=st.sampled_from(("contact", "wife")),
    attribute=ATTRIBUTES,
    value=st.none() | TEXTS,
    value_key=st.none() | TEXTS,
    is_single_valued=st.booleans(),
)
CANDIDATES = st.fixed_dictionaries(
    {
        "note": fields_of(Note, scope=SCOPES, text=TEXTS, said_at=TIMES, slot=SLOTS),
        "evidence": st.lists(
            fields_of(
                Evidence,
                episode_id=IDS,
                session_id=IDS,
                scope=SCOPES,
                text=TEXTS,
                said_at=TIMES,
                source_kind=FIELDS["source_kind"],
            ),
            max_size=2,
        ),
        "candidate": fields_of(
            Candidate, proposed_by=TEXTS, confidence=st.floats(0, 1), ended_at=st.none() | TIMES
        ),
    }
)


def proposed(made: dict[str, Any], bench: Bench) -> None:
    def propose(memory: Memory) -> None:
        evidence = tuple(Evidence(**each) for each in made["evidence"])
        given = {"note": Note(**made["note"]), "evidence": evidence, **made["candidate"]}
        propose_to(memory, Candidate(**given))

    bench.attempt("proposals", propose)


def test_a_candidate_is_proposed_or_refused_as_a_whole(bench: Bench) -> None:
    each_of(8, "proposals", CANDIDATES, lambda made: proposed(made, bench))


# Imports

LINE_KEYS = (*NoteFields.__annotations__, "valid_to", "contact_id", "tenant", "odd")
LINES = st.lists(
    with_some(
        st.fixed_dictionaries({"text": sometimes(TEXTS, JSON_VALUES)}), LINE_KEYS, JSON_VALUES
    )
    | JSON_VALUES,
    max_size=3,
)


def imported(lines: list[Any], bench: Bench) -> None:
    typed = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    bench.attempt(
        "lines of an import",
        lambda memory: memory.import_notes(typed, agent_id="crm", contact_id="priya"),
    )


def test_lines_of_an_import_are_imported_or_reported(bench: Bench) -> None:
    each_of(5, "lines", LINES, lambda lines: imported(lines, bench))


# Tools

ARGUMENTS = (
    "query",
    "since",
    "until",
    "valid_at",
    "category",
    "limit",
    "text",
    *AgentFields.__annotations__,
)
CALLS = st.tuples(
    sometimes(st.sampled_from(("add_contact_note", "recall_contact"))),
    st.one_of(
        with_some(
            st.fixed_dictionaries(
                {
                    "text": sometimes(TEXTS, JSON_VALUES),
                    "source_kind": sometimes(FIELDS["source_kind"], JSON_VALUES),
                }
            ),
            ARGUMENTS,
            JSON_VALUES,
        ),
        with_some(
            st.fixed_dictionaries({"query": sometimes(TEXTS, JSON_VALUES)}), ARGUMENTS, JSON_VALUES
        ),
        JSON_VALUES,
    ),
    SEEDS,
)


def called(call: tuple[Any, Any, int], bench: Bench) -> None:
    name, arguments, bend = call
    chance = random.Random(bend)
    sent = arguments
    if chance.random() < 0.6:  # as an API hands it over: a text that is nearly JSON
        sent = json.dumps(arguments, ensure_ascii=chance.random() < 0.5)
        sent = bent_text(sent, chance) if chance.random() < 0.7 else sent

    def send(memory: Memory) -> None:
        reply = memory.agent_tools(*WHO, session_id="chat-19").call(name, sent)
        assert isinstance(reply.text, str)
        assert reply.text.strip()
        assert reply.error is None or isinstance(reply.error, ReconcilerError)

    bench.attempt("calls of tools", send)


def test_what_a_model_sends_to_a_tool_is_answered_in_words(bench: Bench) -> None:
    each_of(25, "tools", CALLS, lambda call: called(call, bench))
