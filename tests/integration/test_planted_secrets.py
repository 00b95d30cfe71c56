"""A secret in any field of any door: it stands nowhere in the store, in a log, or in what is said.

What takes words is read off signatures and records, so that a parameter that is new and not planted
is a failure. On the embedded engine the file's and the log's bytes are searched, on Neo4j every
property of every node and relationship. The command line is walked in the acceptance tests.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from reconciler import Candidate, ContactMemory, Evidence, Memory, Note, Scope, Turn, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.config_files import load_tools
from reconciler.domain.records.candidates import Role
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.domain.tools.tool import (
    ADD_CONTACT_NOTE,
    RECALL_CONTACT,
    RELATE_CONTACT_NOTE,
)
from reconciler.reading.kinds import Category
from reconciler.service.tasks.memory_context import Cited, MemoryContext
from reconciler.service.writing.doors import LINE_KEYS
from tests import raw_store
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest
from tests.planting import KINDS, NOTATIONS, Planter, fields_of_record, text_parameters
from tests.submissions import call_about, propose_to

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
ALWAYS = ("JSON in JSON",)
IN_TURN = (*(each for each in NOTATIONS if each not in ALWAYS), *KINDS)
"""Of these each field has the next two: what is found in a text does not depend on its field."""

LIVE: Mapping[str, Any] = {
    "agent_id": "crm",
    "contact_id": "ann",
    "text": "Likes tea.",
    "subject": "wife",
    "attribute": "drink",
    "value": "tea",
    "tenant": None,
    "contact_name": None,
    "source_kind": "user_explicit",
    "source_reference": None,
    "artefact": None,
    "category": None,
    "topic": None,
    "tags": (),
    "proposed_by": None,
    "session_id": None,
    "idempotency_key": None,
    "replaces": (),
    "repeats": None,
    "ends": (),
}
NOT_IMPORTED = ("proposed_by", "replaces", "repeats", "ends")
IMPORTED: Mapping[str, Any] = {
    **{name: value for name, value in LIVE.items() if name not in NOT_IMPORTED},
    "said_at": None,
    "valid_from": None,
    "valid_to": None,
    "tags": [],
}
OF_PEER: Mapping[str, Any] = {
    **{"id": "1", "memory": "Likes tea.", "user_id": "ann", "categories": []},
    **{"created_at": None, "updated_at": None, "expiration_date": None},
}
WHOSE: Mapping[str, Any] = {"agent_id": "crm", "contact_id": "ann", "tenant": None}
ANSWER = {
    **WHOSE,
    **{"decision_id": "none", "by": "contact", "text": "Likes tea.", "told_to": None},
}
RELATED = {"replaces": (), "repeats": None, "ends": (), "both_hold": ()}
TOLD = (
    *("text", "source_kind", "source_reference", "subject", "attribute", "value"),
    *("replaces", "repeats", "ends", "valid_from", "valid_to"),
)
ASKED = ("query", "attribute", "subject", "category", "topic", "since", "until", "valid_at")
"""What an agent's tools take."""


NO_WORDS = {"ended", "single_valued", "importance", "lifetime_days"}
TOOL_CALL = {"text": "Likes tea.", "source_kind": "contact"}


class Echo:
    """An extractor that repeats what it reads, and makes up secrets in every field of a claim."""

    name = "echo"

    def __init__(self, planter: Planter) -> None:
        fields = ("text", "topic", "subject", "attribute", "value", "summary")
        self._made = ((name, each) for name in fields for each in planter.plant("claim", name))

    def extract(self, window: Window) -> Extraction:
        """What was read, and one claim that a model might make up."""
        said = window.episodes[0].text[:1500]
        claim = Extracted(
            text=said,
            category=Category.FACT,
            importance=0.9,
            confidence=0.9,
            citations=(Citation(episode=1, span=said),),
        )
        made = dict(islice(self._made, 1))
        summary = made.pop("summary").text if "summary" in made else ""
        others = [replace(claim, **{name: each.text}) for name, each in made.items()]
        return Extraction(candidates=(claim, *others), summary=summary)

    def close(self) -> None:
        """Nothing to close."""


def walk_live(memory: Memory, planter: Planter) -> None:
    planter.walk("add_contact_note", memory.add_contact_note, LIVE)
    tools = memory.agent_tools("crm", "ann")

    def called(tool: str, given: object) -> None:
        planter.said.append(tools.call(tool, given).text)  # type: ignore[arg-type]

    told = {name: LIVE.get(name) for name in TOLD}
    planter.walk("tool", lambda **given: called(ADD_CONTACT_NOTE, given), told)
    planter.walk(
        "tool key", lambda key: called(ADD_CONTACT_NOTE, TOOL_CALL | {key: 1}), {"key": ""}
    )
    planter.walk("tool JSON", lambda said: called(ADD_CONTACT_NOTE, said), {"said": ""})
    asked = dict.fromkeys(ASKED)
    planter.walk("tool recall", lambda **given: called(RECALL_CONTACT, given), asked)
    fact, *others = (
        memory.add_contact_note("crm", "ann", text).fact_id or ""
        for text in ("Likes marmalade.", "Rides horses.", "Has three cats.")
    )
    named = {**RELATED, "both_hold": others}
    planter.walk(
        "relate",
        call_about(memory, "relate"),
        {**WHOSE, "fact": fact, **named, "reason": None, "idempotency_key": None},
    )
    relation = {"note": fact, **named}
    planter.walk("tool relate", lambda **given: called(RELATE_CONTACT_NOTE, given), relation)
    planter.walk(
        "tools for",
        lambda **scope: memory.agent_tools(**scope).call(ADD_CONTACT_NOTE, TOOL_CALL),
        {**WHOSE, "session_id": None},
    )


def walk_import(memory: Memory, planter: Planter) -> None:
    def take(**line: Any) -> object:
        return memory.import_notes([json.dumps(line)], agent_id="crm", contact_id="ann")

    planter.walk("import", take, IMPORTED)
    with tempfile.TemporaryDirectory() as folder:

        def take_from(**record: Any) -> object:
            file = Path(folder, "mem0.json")
            file.write_text(json.dumps(record), encoding="utf-8")
            return ops.import_from(memory.agent("crm"), "mem0", file)

        planter.walk("import from", take_from, OF_PEER)
    planter.walk("import key", lambda key: take(text="Likes tea.", **{key: "x"}), {"key": ""})
    planter.walk("import line", lambda line: memory.import_notes([line]), {"line": ""})
    planter.walk(
        "import for",
        lambda **scope: memory.import_notes(['{"text": "x"}'], **scope),
        {
            "tenant": None,
            "agent_id": "crm",
            "contact_id": "ann",
        },
    )


def walk_proposals(memory: Memory, planter: Planter) -> None:
    def take(record: str, **given: Any) -> object:
        scope = Scope(
            **{"tenant": "t", "agent_id": "crm", "contact_id": "ann"}
            | (given if record == "Scope" else {})
        )
        note = {"scope": scope, "text": "Likes tea.", "said_at": NOW}
        evidence: dict[str, Any] = {
            "episode_id": "",
            "session_id": "s",
            "scope": scope,
            "text": "Tea!",
            "said_at": NOW,
        }
        evidence |= given if record == "Evidence" else {}
        evidence["episode_id"] = evidence["episode_id"] or f"episode-{len(planter.planted)}"
        made = {
            "note": Note(**note | (given if record == "Note" else {})),
            "evidence": (Evidence(**evidence),),
            "proposed_by": "agent:crm",
        }
        made |= given if record == "Candidate" else {}
        return propose_to(memory, Candidate(**made))

    for kind, usual in RECORDS.items():
        planter.walk(kind.__name__, take, usual, record=kind.__name__)


RECORDS: Mapping[type, Mapping[str, Any]] = {
    Note: {
        **{name: LIVE[name] for name in ("text", "source_kind", "category", "topic", "tags")},
        **dict.fromkeys(("source_reference", "artefact", "contact_name")),
        **dict.fromkeys(("session_id", "idempotency_key")),
        "slot_read_from": None,
    },
    Evidence: {
        "episode_id": "",
        "session_id": "s",
        "session_key": None,
        "text": "Tea!",
        "spans": (),
        "source_reference": None,
    },
    Candidate: {
        "proposed_by": "agent:crm",
        **dict.fromkeys(("confirmed_by", "said_before"), ()),
    },
    Scope: {"tenant": "t", "agent_id": "crm", "contact_id": "ann"},
}


def walk_answers(memory: Memory, planter: Planter) -> None:
    def held() -> str:
        number = len(planter.said)
        decision = memory.add_contact_note("crm", "ann", f"Has diabetes of type {number}.")
        return decision.decision_id

    def settle(call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **given: call(
            **given | ({"decision_id": held()} if given.get("decision_id") == "none" else {})
        )

    for call in (call_about(memory, "reject"), call_about(memory, "withdraw")):
        usual = {**WHOSE, "decision_id": "none", "by": "contact"}
        planter.walk(call.__name__, settle(call), usual)
    planter.walk("confirm", settle(call_about(memory, "confirm")), ANSWER)
    fact_id = memory.add_contact_note("crm", "ann", "Lives in Pune.").fact_id
    planter.walk(
        "revoke",
        call_about(memory, "revoke"),
        {**WHOSE, "fact_id": fact_id, "by": "ann", "reason": "No more."},
    )
    person = {"by": "ann", "reason": "No more."}
    amended = {**WHOSE, "text": "Lives in Goa.", **person, "attribute": "city", "value": "Goa"}
    planter.walk("amend", call_about(memory, "amend"), amended | {"fact_id": None, "subject": None})
    planter.walk("resolve", call_about(memory, "resolve"), {**WHOSE, "keep": "none", **person})
    planter.walk("revert", call_about(memory, "revert"), {**WHOSE, "decision_id": "none", **person})
    for name in ("commit", "decision", "explain", "job", "retry"):
        named = "job_id" if name in ("job", "retry") else "decision_id"
        planter.walk(name, call_about(memory, name), {**WHOSE, named: "none"})
    planter.walk(
        "correct",
        call_about(memory, "correct"),
        {**WHOSE, "decision_id": "none", "relation": "same"},
    )


def walk_sessions(memory: Memory, planter: Planter) -> None:
    def take(
        role: str = "contact", text: str = "Hi.", reference: str | None = None, **given: Any
    ) -> object:
        usual = {"session_id": f"s{len(planter.planted)}"}
        turns = [Turn(role=role, text=text, reference=reference)]
        return call_about(memory, "submit_session")(
            **{"agent_id": "crm", "contact_id": "ann"} | usual | given, turns=turns
        )

    for role in Role:
        planter.walk(f"a turn of the {role}", take, {"text": ""}, role=role)
    planter.walk("Turn", take, {"role": "contact", "reference": None})
    planter.walk("submit_session", take, {"session_id": "", "channel": "chat", "tenant": None})
    scope = {"agent_id": "crm", "contact_id": "ann"}
    submit = call_about(memory, "submit_session")
    planter.walk(
        "submit_session",
        lambda **given: submit(**given, session_id="s", turns=[Turn(role="contact", text="Hi.")]),
        scope,
    )
    memory.drain()
    planter.said.append(repr(memory.jobs()))


def walk_tasks(memory: Memory, planter: Planter) -> None:
    def task(**given: Any) -> MemoryContext:
        usual = {"agent_id": "crm", "contact_id": "ann", "goal": "Move it", "session_id": None}
        own_id = {"task_id": given.get("task_id") or f"task-{len(planter.planted)}"}
        return call_about(memory, "task")(**usual | given | own_id)

    planter.walk(
        "task",
        task,
        {
            "agent_id": "crm",
            "contact_id": "ann",
            "task_id": "",
            "goal": None,
            "session_id": None,
            "tenant": None,
        },
    )
    run = task()
    planter.walk("task.recall", run.recall, {"query": ""}, budget_tokens=50)
    run.observed()
    planter.walk("task.recall_about", run.recall_about, {"entity": ""}, budget_tokens=50)
    for role in Role:
        planter.walk(
            "log_episode",
            lambda role, **given: run.log_episode(Turn(role=role, **given)),
            {"text": "Hi.", "reference": None},
            role=role,
        )
    kept = run.task_memory
    planter.walk("mark_done", kept.mark_done, {"subtask_id": ""})
    planter.walk("set_blocker", kept.set_blocker, {"blocker": ""})
    planter.walk("checkpoint", kept.checkpoint, {"decided": ()})
    run.succeed()
    seen = run.episodes()[:1]
    planter.walk(
        "propose_procedure",
        run.propose_procedure,
        {"name": "x", "steps": ("Do it.",)},
        episodes=seen,
    )
    planter.call(lambda: run.propose_durable(run.episodes()))
    failed = task()
    failed.observed()
    episode = failed.log_episode(Turn(role="tool", text="It broke."))
    failed.fail()
    planter.walk(
        "propose_reflection",
        lambda text, words: failed.propose_reflection(text, [Cited(episode, words)]),
        {"text": "It broke.", "words": "It broke."},
    )


def walk_reads(memory: Memory, planter: Planter) -> None:
    scope = WHOSE
    planter.walk("recall", call_about(memory, "recall"), {**scope, "query": ""})
    planter.walk("history", call_about(memory, "history"), {**scope, "fact_id": None})
    planter.walk(
        "decisions",
        call_about(memory, "decisions"),
        {**scope, "disposal": None, "reason": None, "door": None},
    )
    for call in (
        call_about(memory, "refusals"),
        call_about(memory, "pending"),
        call_about(memory, "disputes"),
        call_about(memory, "expiring"),
    ):
        planter.walk(call.__name__, call, scope)
    planter.walk(
        "contacts",
        lambda **given: memory.agent(**given).contacts(),
        {"agent_id": "crm", "tenant": None},
    )
    planter.walk("session", call_about(memory, "session"), {**scope, "session_id": ""})
    planter.walk("jobs", call_about(memory, "jobs"), {**scope, "state": None})
    planter.walk(
        "check_policy",
        lambda agent_id, **given: memory.agent(agent_id).check_policy(**given),
        {"text": "", "agent_id": "crm", "source_kind": "operator", "category": None, "topic": None},
    )


DOORS = {
    walk.__name__.removeprefix("walk_"): walk
    for walk in (
        walk_live,
        walk_import,
        walk_proposals,
        walk_answers,
        walk_sessions,
        walk_tasks,
        walk_reads,
    )
}


@pytest.fixture
def stored(one_of_each: EngineUnderTest) -> Iterator[Callable[[], list[str]]]:
    """What the closed store holds, as text."""

    def look() -> list[str]:
        if one_of_each.name != "embedded":
            return raw_store.everything(one_of_each)
        return _bytes_of(one_of_each)

    return look


def _bytes_of(engine: EngineUnderTest) -> list[str]:
    folder = engine.settings_arguments["embedded_path"].parent
    return [each.read_bytes().decode("latin-1") for each in sorted(folder.iterdir())]


@ON_ANY_ONE
@pytest.mark.parametrize(
    "everything",
    [
        pytest.param(False, id="some kinds"),
        pytest.param(True, id="every kind", marks=pytest.mark.faults(only=True)),
    ],
)
@pytest.mark.parametrize("door", DOORS)
def test_no_secret_is_kept_logged_or_said_whatever_field_it_came_in(
    door: str,
    everything: bool,
    one_of_each: EngineUnderTest,
    stored: Callable[[], list[str]],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    is_embedded = one_of_each.name == "embedded"
    every_kind = Planter((*ALWAYS, *IN_TURN))
    planter = every_kind if everything else Planter(ALWAYS, in_turn=IN_TURN, a_turn=2)
    caplog.set_level(logging.DEBUG)
    with Memory.open(
        **one_of_each.settings_arguments, embedder=NoopEmbedder(), extractor=Echo(planter)
    ) as memory:
        DOORS[door](memory, planter)
        written_ahead = _bytes_of(one_of_each) if is_embedded else []
    log = [record.getMessage() + str(record.exc_info or "") for record in caplog.records]
    kept = {
        "store": [*stored(), *written_ahead],
        "log": log,
        "output": list(capsys.readouterr()),
    }
    found = planter.found_in(*(text for texts in kept.values() for text in texts))
    assert not found, f"{len(found)} of {len(planter.planted)}: {found[:40]}"


def _arguments(tool: str) -> set[str]:
    return {each.name for each in load_tools()[tool].parameters}


@pytest.mark.parametrize(
    ("takes_words", "usual"),
    [
        (text_parameters(Memory.add_contact_note), LIVE),
        (set(LINE_KEYS) - NO_WORDS, IMPORTED),
        *((fields_of_record(kind), usual) for kind, usual in RECORDS.items()),
        (text_parameters(ContactMemory.confirm), ANSWER),
        (_arguments(ADD_CONTACT_NOTE) - NO_WORDS, dict.fromkeys(TOLD)),
        (_arguments(RECALL_CONTACT), dict.fromkeys(ASKED)),
        (
            text_parameters(ContactMemory.relate),
            {**WHOSE, "fact": "", **RELATED, "reason": None, "idempotency_key": None},
        ),
        (_arguments(RELATE_CONTACT_NOTE), {"note": "", **RELATED}),
    ],
)
def test_every_field_that_takes_words_is_planted(
    takes_words: set[str], usual: Mapping[str, Any]
) -> None:
    assert takes_words - {"self"} <= set(usual)


def test_the_drivers_debug_log_spells_out_nothing_that_was_said(
    neo4j_engine: EngineUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="neo4j")
    turns = [Turn(role="contact", text="Write to ann@mail.example, please.")]
    with Memory.open(**neo4j_engine.settings_arguments, embedder=NoopEmbedder()) as memory:
        memory.contact("crm", "ann").submit_session("s1", turns)
        memory.add_contact_note("crm", "ann", "Likes marmalade.")
    assert "C: RUN" in caplog.text
    assert not [said for said in ("ann@mail", "marmalade") if said in caplog.text]
