"""The doctor: checks each part, one after the other, and says what to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from rich.table import Table

from reconciler.bootstrap import (
    build_arbiter,
    build_embedder,
    build_extractor,
    build_sensitive_data_finder,
    check_memory_exists,
    file_of_memory,
    hash_key_of,
    judge_of,
    open_graph,
)
from reconciler.config_files import load_attribute_book, load_gate_policy, load_profile, profiles_of
from reconciler.domain.gate.checks import CHECKS
from reconciler.domain.records.jobs import QueueReport
from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.model_moves import MoveState
from reconciler.entrypoints.judge_check import DoctorCheck, ask_once, check_judge
from reconciler.entrypoints.metrics import queue_numbers
from reconciler.entrypoints.rendering import table
from reconciler.errors import ReconcilerError
from reconciler.ports.embedder import Embedder
from reconciler.ports.graph import Graph
from reconciler.queries import newest_schema_version
from reconciler.resources import check_folder_is_writable
from reconciler.service.embedding import unread
from reconciler.service.stores.binding_store import BindingStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.model_store import ModelStore
from reconciler.service.stores.session_store import SessionStore
from reconciler.settings import Settings

_NONE_YET = "none yet"
_ROUND_TRIPS = 11
_SAMPLES = {
    "Arabic": "سلام",
    "Chinese": "你好",
    "Cyrillic": "привет",
    "Devanagari": "नमस्ते",
    "Greek": "γεια",
    "Hebrew": "שלום",
    "Japanese": "こんにちは",
    "Korean": "안녕",
    "Thai": "สวัสดี",
}
"""A greeting in each of the most used scripts, except Latin."""


def checkup(settings: Settings, *, asks_judge: bool = False) -> list[DoctorCheck]:
    """Checks every part that a note passes; writes no note, schema or file.

    Args:
        settings: the settings to check.
        asks_judge: whether the arbiter is asked its ten questions, which costs money.
    """
    checks = _checkup(settings)
    return [*checks, check_judge(settings)] if asks_judge else checks


def _checkup(settings: Settings) -> list[DoctorCheck]:
    try:
        file = file_of_memory(settings)
        folder = _folder(file) if file else []
        try:
            if file:
                check_memory_exists(settings)
        except ReconcilerError as error:
            return [*_checks_without_store(settings, str(error)), *folder]
        graph = open_graph(settings)
    except ReconcilerError as error:
        return [DoctorCheck(name="engine", is_ok=False, finding=str(error))]
    with closing(graph):
        return [*_checks(settings, graph), *folder]


def checks_table(checks: list[DoctorCheck]) -> Table:
    """The checks for a person."""
    marks = {True: ("ok", "green"), False: ("wrong", "red")}
    rows = ((marks[check.is_ok], check.name, check.finding) for check in checks)
    return table("Doctor", "", "check", "finding", rows=rows)


def describe_extractor(settings: Settings) -> str:
    """The extractor that reads sessions, and the reason for it. It is not called."""
    chosen = settings.extractor
    attributes = load_attribute_book(settings.reconcile.attributes_file)
    with closing(build_extractor(settings, attributes)) as extractor:
        if chosen.mode == "explicit":
            return f"{extractor.name}: chosen by RECONCILER_EXTRACTOR__MODE"
        if not chosen.has_model:
            return f"{extractor.name}: no {chosen.key_variable}"
        key = (
            "with the key that is set"
            if chosen.api_key
            else f"at {chosen.shown_base_url}, without a key"
        )
        return f"{extractor.name}: {key}"


def _checks(settings: Settings, graph: Graph) -> list[DoctorCheck]:
    store, facts = BindingStore(graph), FactStore(graph)
    erasures = ErasureStore(graph, facts, DecisionStore(graph))
    engine = _check("engine", lambda: _engine(graph))
    if not engine.is_ok:
        return [engine]
    with closing(build_embedder(settings)) as embedder:
        return [
            engine,
            _check("schema", lambda: _schema(store)),
            _check("store", lambda: _store(store, ModelStore(graph), embedder)),
            _check("hash key", lambda: _hash_key(settings, store)),
            _check("round trip", lambda: _round_trip(graph)),
            *_checks_of_parts(settings, embedder),
            _check("facts", lambda: _facts(facts), graph),
            _check("disputes", lambda: _disputes(facts), graph),
            _check("jobs", lambda: _jobs(SessionStore(graph).count_jobs()), graph),
            _check("erasures", lambda: _erasures(erasures), graph),
        ]


def _checks_without_store(settings: Settings, finding: str) -> list[DoctorCheck]:
    engine = DoctorCheck(name="engine", is_ok=True, finding=finding)
    with closing(build_embedder(settings)) as embedder:
        checks = _checks_of_parts(settings, embedder)
    none_yet = [_check(name, lambda: _NONE_YET) for name in ("disputes", "jobs", "erasures")]
    return [engine, *checks, *none_yet]


def _checks_of_parts(settings: Settings, embedder: Embedder) -> list[DoctorCheck]:
    """The checks of the parts besides the store."""
    return [
        _check("model", lambda: _model(settings, embedder)),
        _check("gate", lambda: _gate(settings)),
        _check("arbiter", lambda: _arbiter(settings)),
        _check("extractor", lambda: describe_extractor(settings)),
    ]


def _check(
    name: str, look: Callable[[], str | DoctorCheck], kept_in: Graph | None = None
) -> DoctorCheck:
    """The check of a part; there is nothing to look at in a store without a schema."""
    try:
        found = look() if kept_in is None or _has_schema(kept_in) else _NONE_YET
    except ReconcilerError as error:
        return DoctorCheck(name=name, is_ok=False, finding=str(error))
    if isinstance(found, DoctorCheck):
        return found
    return DoctorCheck(name=name, is_ok=True, finding=found)


def _engine(graph: Graph) -> str:
    engine = graph.describe()
    return f"{engine.engine} {engine.version} at {engine.location}"


def _folder(store: Path) -> list[DoctorCheck]:
    """The check of a store's folder, if it fails: all other checks only read, and pass."""
    try:
        check_folder_is_writable(store)
    except ReconcilerError as error:
        return [DoctorCheck(name="folder", is_ok=False, finding=str(error))]
    return []


def _schema(store: BindingStore) -> str:
    graph = store.graph
    version, wanted = graph.schema_version(), newest_schema_version(graph.engine)
    if version == 0:
        return f"none yet; the first write, or `reconciler init`, makes version {wanted}"
    store.check_schema_version()
    store.check_keys()
    return f"version {version}"


def _store(store: BindingStore, models: ModelStore, embedder: Embedder) -> str:
    if store.graph.schema_version() == 0:
        return "empty"
    store.check_model(embedder.model_id, embedder.dimension)
    return f"holds vectors of {embedder.model_id}{_move(models)}"


def _model(settings: Settings, embedder: Embedder) -> str:
    ready = f"{embedder.model_id}, ready in {embedder.warm_up():.1f} s"
    if embedder.dimension and not _is_measured(settings, embedder.model_id):
        ready += "; no profile was calibrated on it, so the thresholds are a guess"
    closed = [name for name, sample in _SAMPLES.items() if unread(embedder, sample)]
    if not closed:
        return ready
    return (
        f"{ready}; it cannot read {', '.join(closed)}: such texts are told apart letter by letter, "
        "and recalled by their words alone (RECONCILER_EMBEDDER__MODEL names another model)"
    )


def _is_measured(settings: Settings, model: str) -> bool:
    """Whether a shipped profile or the chosen one was calibrated on the model."""
    chosen = load_profile(settings.reconcile.profile).embedding_model
    return chosen == model or bool(profiles_of(model))


def _hash_key(settings: Settings, store: BindingStore) -> str:
    if not _has_schema(store.graph):
        return "none needed so far"
    return hash_key_of(settings, store).check()


def _move(models: ModelStore) -> str:
    """The progress of a move to another model; empty without one."""
    move = models.move()
    how = "`reconciler reembed --model` with that model goes on"
    if move.state is MoveState.EMBEDDING:
        return f"; moves to {move.next_model}, {move.moved:,} of {move.facts:,} facts so far; {how}"
    return f"; has not finished its move to that model; {how}" if move.next_model else ""


def _gate(settings: Settings) -> str:
    policy = load_gate_policy(settings.gate.policy_file, settings.gate.domain)
    off = [name for name in CHECKS if not policy.is_on(name)]
    build_sensitive_data_finder().find("warm 1 up")
    switched = f"; switched off: {', '.join(off)}" if off else ""
    return f"policy {policy.version}, domain {policy.domain}, {len(CHECKS)} checks{switched}"


def _round_trip(graph: Graph) -> str:
    def once() -> float:
        started = time.perf_counter()
        graph.schema_version()
        return (time.perf_counter() - started) * 1000

    return f"{median(once() for _ in range(_ROUND_TRIPS)):.1f} ms, median of {_ROUND_TRIPS}"


def _arbiter(settings: Settings) -> str:
    arbiter, chosen = build_arbiter(settings), settings.arbiter
    larger = "" if chosen.has_model else f" (set {chosen.key_variable} for a larger one)"
    if arbiter is None:
        how = "" if chosen.mode == "off" else larger
        return f"none; the midpoint decides between the thresholds{how}"
    with closing(arbiter):
        if judge_of(settings) != "packaged":
            return f"{arbiter.name}; not called by this check, calls cost money (--judge asks it)"
        ask_once(arbiter)
        return f"{arbiter.name}, on this machine{larger}"


def _disputes(facts: FactStore) -> DoctorCheck:
    """The number of open disputes; the check never fails because of them."""
    count = facts.count_conflicts(datetime.now(UTC))
    lists = "; `reconciler disputes --agent …` lists them, `reconciler resolve` settles one"
    finding, numbers = f"{count} open{lists if count else ''}", {"open_disputes": count}
    return DoctorCheck(name="disputes", is_ok=True, finding=finding, numbers=numbers)


def _has_schema(graph: Graph) -> bool:
    return graph.schema_version() >= newest_schema_version(graph.engine)


def _facts(facts: FactStore) -> str:
    counted = facts.count_facts(datetime.now(UTC))
    return ", ".join(f"{count} {state}" for state, count in counted.items())


def _erasures(erasures: ErasureStore) -> DoctorCheck:
    """The number of erasures that were interrupted."""
    count = len(erasures.list_erasures(is_unfinished=True))
    cut_off = f"{count} cut off; `reconciler erasures --finish` finishes them"
    finding, numbers = cut_off if count else "all finished", {"unfinished_erasures": count}
    return DoctorCheck(name="erasures", is_ok=not count, finding=finding, numbers=numbers)


def _jobs(report: QueueReport) -> DoctorCheck:
    numbers = queue_numbers(report, datetime.now(UTC))
    finding = ", ".join(f"{count} {state}" for state, count in report.jobs.items())
    if report.oldest_unfinished_at is not None:
        finding += f"; the oldest of them is {numbers['oldest_job_age_seconds']:.0f} s old"
    if has_dead := bool(report.jobs[JobState.DEAD]):
        finding += "; `reconciler jobs --state dead` says why, `reconciler retry` starts one again"
    return DoctorCheck(name="jobs", is_ok=not has_dead, finding=finding, numbers=numbers)
