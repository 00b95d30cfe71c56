"""Secrets and account numbers of every kind, told in plain words: no output repeats one.

``test_planted_secrets`` fills every field and searches the store. Here a few doors are told of each
kind, and everything that leaves a memory is searched: spans, metrics, the log of decisions, what
MCP clients are told, exports, pages, reports and backups.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, Turn, as_prompt, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.entrypoints.serving import logging_to_stderr
from reconciler.errors import ReconcilerError
from reconciler.ops.metrics import serve_metrics
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.mcp_server.desk import Desk
from reconciler.settings import LogSettings
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest
from tests.integration.test_observing import asked, exported
from tests.planting import KINDS, NOTATIONS, Planter
from tests.submissions import call_about

ANNS = {"agent_id": "crm", "contact_id": "ann"}
PLACES = ("note", "topic", "tag", "attribute", "contact", "tool", "import", "done", "goal", "MCP")


@pytest.fixture
def memory(one_of_each: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=NoopEmbedder(), **one_of_each.settings_arguments) as opened:
        yield opened


def told(memory: Memory, desk: Desk, place: str, text: str) -> object:
    """One text, by one door."""
    number = abs(hash(text))
    grant = Grant(
        profile=AccessProfile.AGENT, tenant="default", agent_ids=("crm",), contact_id="ann"
    )
    sent: dict[str, Any] = {"text": text, "source_kind": "user_explicit"}
    if place in ("contact", "tool"):
        turns = [Turn(role=place, text=text)]
        return memory.contact(**ANNS).submit_session(session_id=f"talk-{number}", turns=turns)
    if place == "import":
        return memory.import_notes([json.dumps({"text": text})], **ANNS)
    if place in ("done", "goal"):
        goal = text if place == "goal" else "Move it"
        task = memory.contact(**ANNS).task(task_id=f"task-{number}", goal=goal)
        task.observed()
        return task.task_memory.mark_done(text) if place == "done" else task.succeed()
    if place == "MCP":
        handed = {"messages": [{"role": "user", "content": text}]}
        return [
            desk.call(grant, "add_contact_note", sent).text,
            desk.call(grant, "hand_over_session", handed).text,
            desk.call(grant, "recall_contact", {"query": text}).text,
        ]
    fields: dict[str, Any] = {
        "topic": {"topic": text},
        "tag": {"tags": [text]},
        "attribute": {"attribute": text, "value": "tea"},
    }.get(place, {})
    said = text if place == "note" else f"Likes tea {number}."
    return memory.add_contact_note(**ANNS, text=said, **fields)


def shown(memory: Memory, folder: Path, engine: str) -> Iterator[str]:
    """Everything that is written or told of the contact."""
    for keys in (False, True):
        out = io.BytesIO()
        ops.export(memory.contact(**ANNS), out, keys=keys)
        yield out.getvalue().decode()
    yield ops.contact_page(memory.contact(**ANNS))
    yield ops.report(memory.contact(**ANNS))
    yield as_prompt(memory.contact(**ANNS).recall())
    yield memory.contact(**ANNS).briefing().as_prompt()
    for read in (
        call_about(memory, "decisions"),
        call_about(memory, "pending"),
        call_about(memory, "history"),
        call_about(memory, "tasks"),
        call_about(memory, "jobs"),
    ):
        yield repr(read(**ANNS))
    if engine == "embedded":
        ops.backup(memory, folder / "backup.tar")
        yield from (each.read_bytes().decode("latin-1") for each in folder.rglob("backup*"))


@ON_ANY_ONE
def test_nothing_that_leaves_a_memory_repeats_what_must_not_be_kept(
    memory: Memory,
    one_of_each: EngineUnderTest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    planter, desk = Planter((*NOTATIONS, *KINDS)), Desk(memory)
    with (
        exported(monkeypatch) as exporter,
        serve_metrics(memory.queue, 0) as address,
        logging_to_stderr(logging.DEBUG, LogSettings(format="json", level="debug")),
    ):
        for place in PLACES:
            for each in planter.plant("door", place):
                planter.call(lambda place=place, text=each.text: told(memory, desk, place, text))
        memory.drain()
        metrics = asked(str(address))[1]
        kept = list(shown(memory, tmp_path, one_of_each.name))
    spans = repr(
        [(each.name, each.attributes, each.events) for each in exporter.get_finished_spans()]
    )
    logged = capsys.readouterr()
    assert "reconciler.decisions" in logged.err
    assert "reconciler_decisions_total" in metrics
    assert "reconciler.gate" in spans
    assert planter.found_in(spans, metrics, *logged, *kept) == []
    assert len(planter.planted) == len(PLACES) * len((*NOTATIONS, *KINDS))


def test_what_a_failed_call_says_repeats_nothing_either(memory: Memory) -> None:
    planter = Planter((*NOTATIONS, *KINDS))
    for each in planter.plant("id", "fact_id"):
        with pytest.raises(ReconcilerError) as refused:
            memory.contact(**ANNS).evidence(fact_id=each.text[:200])
        planter.said.append(str(refused.value))
    assert planter.found_in() == []
