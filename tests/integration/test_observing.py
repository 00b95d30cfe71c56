"""What an operator sees: a record, metrics and spans of each decision; no text."""

from __future__ import annotations

import gc
import json
import logging
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client.parser import text_string_to_metric_families

from reconciler import Memory, Turn
from reconciler.domain.records.sessions import QueueReport
from reconciler.entrypoints.serving import address_of, logging_to_stderr, serve, tokens_of
from reconciler.errors import GraphUnavailableError, InvalidNoteError, UnknownFactError
from reconciler.ops.metrics import serve_metrics
from reconciler.serve.access import http_door
from reconciler.settings import LogSettings
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest, embedded_engine

SAID = "Keeps a parrot called Zanzibar."


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as memory:
        yield memory


@pytest.fixture
def embedded_memory(tmp_path: Path) -> Iterator[Memory]:
    arguments = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
        yield memory


def fill(memory: Memory) -> list[str]:
    """Five decisions: two facts, one in the other's place, a refusal, and two of one batch."""
    city = {"attribute": "city"}
    made = [
        memory.add_contact_note("crm", "priya", SAID, contact_name="Priya Rao"),
        memory.add_contact_note("crm", "priya", "Lives in Pune.", value="Pune", **city),
        memory.add_contact_note("crm", "priya", "Lives in Goa.", value="Goa", **city),
        memory.add_contact_note("crm", "priya", "ok thanks"),
    ]
    lines = [
        {"agent_id": "crm", "contact_id": "dana", "text": text}
        for text in ("Rows on Sundays.", "Owns two sheds.")
    ]
    report = memory.import_notes(map(json.dumps, lines))
    assert not report.errors
    return [each.decision_id for each in made]


def test_each_decision_that_was_written_is_logged_once_without_a_text(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "reconciler.decisions"):
        ids = fill(memory)
        memory.add_contact_note("crm", "priya", SAID, idempotency_key="k")
        memory.add_contact_note("crm", "priya", SAID, idempotency_key="k")
    told = [vars(each) for each in caplog.records if each.name == "reconciler.decisions"]
    assert [each["decision_id"] for each in told][:4] == ids
    assert len(told) == len(ids) + 2 + 1
    assert [each["action"] for each in told] == [
        *("ADD", "ADD", "UPDATE", "REJECT"),
        *("ADD", "ADD"),
        "UPDATE",
    ]
    assert told[2]["decided_by"] == "slot"
    assert told[3]["gate_reason"] == "not_meaningful"
    assert all(each["ms"] >= each["commit_ms"] > 0 for each in told)
    assert all((each["tenant"], each["agent_id"]) == ("default", "crm") for each in told)
    whole = repr(told)
    assert "Zanzibar" not in whole
    assert "Rao" not in whole
    assert "Pune" not in whole


def test_a_worker_may_log_objects(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr(logging.INFO, LogSettings(format="json")):
        ids = fill(memory)
        logging.getLogger("reconciler.worker").warning("two\nlines \x1b[31m")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [each["decision_id"] for each in lines[:4]] == ids
    assert lines[0]["level"] == "INFO"
    assert lines[0]["logger"] == "reconciler.decisions"
    assert lines[0]["action"] == "ADD"
    assert lines[0]["timestamp"]
    assert lines[-1]["message"] == "two\nlines \x1b[31m"
    assert set(lines[-1]) == {"message", "level", "logger", "timestamp"}


def test_in_detail_means_ours_and_each_line_names_its_job(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger().level
    turns = [Turn(role="contact", text="Remember that I only take calls after 5 pm.")]
    for style in ("json", "text"):
        settings = LogSettings.model_validate({"format": style, "level": "debug"})
        job_id = memory.contact("crm", "priya").submit_session(f"chat-{style}", turns)
        with logging_to_stderr(logging.WARNING, settings, "asyncio"):
            for name in ("neo4j.pool", "httpx", "httpcore", "anthropic", "urllib3", "asyncio"):
                logging.getLogger(name).debug("a packet")
            memory.drain()
            assert logging.getLogger().level == root
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) > 5
        assert [line for line in lines if job_id not in line or "a packet" in line] == []
        if style == "json":
            told = [json.loads(line) for line in lines]
            assert {each["job_id"] for each in told} == {job_id}
            assert {"DEBUG", "INFO"} <= {each["level"] for each in told}
            assert "reconciler.decisions" in {each["logger"] for each in told}


def test_nothing_is_logged_where_nobody_asks(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(memory)
    assert capsys.readouterr().err == ""


def test_prometheus_is_told_of_decisions_latencies_and_refusals(memory: Memory) -> None:
    with serve_metrics(memory.queue, 0) as address:
        fill(memory)
        assert address
        samples = {
            (each.name, *each.labels.values()): each.value
            for family in text_string_to_metric_families(asked(address)[1])
            for each in family.samples
        }
    assert samples["reconciler_decisions_total", "UPDATE", "slot", "live"] == 1
    assert samples["reconciler_gate_refusals_total", "REJECT", "not_meaningful"] == 1
    assert samples["reconciler_decision_seconds_count", "commit"] == 6
    assert samples["reconciler_decision_seconds_sum", "commit"] > 0
    assert samples["reconciler_lost_races_total",] == 0
    fill(memory)  # nothing counts any more, and nothing fails


def test_probes_tell_a_process_that_lives_from_one_that_is_ready(memory: Memory) -> None:
    def away() -> QueueReport:
        raise GraphUnavailableError("away")

    with serve_metrics(memory.queue, 0) as address:
        base = str(address).removesuffix("/metrics")
        assert asked(f"{base}/healthz") == (200, "alive\n")
        assert asked(f"{base}/readyz") == (200, "ready\n")
        assert asked(f"{base}/nothing")[0] == 404
    with serve_metrics(away, 0) as address:
        base = str(address).removesuffix("/metrics")
        assert asked(f"{base}/healthz") == (200, "alive\n")
        assert asked(f"{base}/readyz") == (503, "the graph does not answer\n")
        assert "reconciler_up 0.0" in asked(f"{base}/metrics")[1]


def test_clients_that_say_nothing_keep_no_probe_out_and_take_few_threads(
    embedded_memory: Memory,
) -> None:
    with ExitStack() as opened, serve_metrics(embedded_memory.queue, 0) as address:
        base = urlsplit(str(address))
        before = threading.active_count()
        for _ in range(100):
            idle = socket.create_connection((base.hostname, base.port), timeout=30)
            opened.enter_context(idle)
        assert asked(f"http://{base.netloc}/healthz") == (200, "alive\n")
        while threading.active_count() - before > 32:  # those that made room are about to end
            time.sleep(0.01)


def asked(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@contextmanager
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_program_that_traces_sees_the_stages_of_a_write(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with exported(monkeypatch) as exporter:
        memory.add_contact_note("crm", "priya", SAID)
    spans = exporter.get_finished_spans()
    by_id = {each.context.span_id: each.name for each in spans if each.context}
    beneath = {each.name: by_id[each.parent.span_id] if each.parent else None for each in spans}
    assert beneath == {
        "upsert_memory": None,
        "reconciler.gate": "upsert_memory",
        "reconciler.embed": "upsert_memory",
        "reconciler.look": "upsert_memory",
        "reconciler.commit": "upsert_memory",
    }
    assert "Zanzibar" not in repr([dict(each.attributes or {}) for each in spans])


def test_calls_are_told_of_as_opentelemetrys_conventions_say(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    priya = memory.contact("crm", "priya")
    fact_id = str(priya.note(SAID).fact_id)
    with exported(monkeypatch) as exporter:
        assert len(priya.recall("Which pet does she keep?")) == 1
        with pytest.raises(InvalidNoteError):
            priya.note("")
        with pytest.raises(UnknownFactError):
            priya.amend("Keeps two.", fact_id="Zanzibar", by="anna", reason="Zanzibar died.")
        amended = priya.amend("Keeps two parrots.", fact_id=fact_id, by="anna", reason="She said.")
        priya.forget(fact_id=amended.fact_id, by="contact", reason="Zanzibar is private.")
        priya.recall()
    made = exporter.get_finished_spans()
    told = [each for each in made if not each.name.startswith("reconciler.")]
    operation, count, record = (
        f"gen_ai.{each}" for each in ("operation.name", "memory.record.count", "memory.record.id")
    )
    assert [each.attributes for each in told] == [
        {operation: "search_memory", count: 1},
        {operation: "upsert_memory", "error.type": "InvalidNoteError"},
        {operation: "update_memory", "error.type": "UnknownFactError"},
        {operation: "update_memory", record: fact_id},
        {operation: "delete_memory", record: amended.fact_id},
        {operation: "search_memory", count: 0},
    ]
    assert [(each.name, each.kind) for each in told] == [
        (each.attributes[operation], SpanKind.INTERNAL) for each in told if each.attributes
    ]
    failed = [each.status.status_code for each in told]
    assert failed == [StatusCode.UNSET, *[StatusCode.ERROR] * 2, *[StatusCode.UNSET] * 3]
    assert not re.search("Zanzibar|priya|crm", "".join(each.to_json() for each in made))


def test_a_server_keeps_what_it_loaded_out_of_garbage_collections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    monkeypatch.setenv("RECONCILER_EMBEDDER__PROVIDER", "none")
    monkeypatch.setattr(http_door, "serve_http", lambda *_: kept.append(gc.get_freeze_count()))
    before = gc.get_freeze_count()
    try:
        address, tokens = address_of("127.0.0.1", 0, None, None, None), tokens_of(tmp_path / "t")
        serve(lambda _: None, address, tokens, worker=False)
    finally:
        gc.unfreeze()
    assert kept[0] > before + 10_000
