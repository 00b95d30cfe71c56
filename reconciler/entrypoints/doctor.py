"""The doctor: checks each part, one after the other, and says what to do.

Ten questions to the judge show whether it is reached, keeps the format, and understands notes.
They are data (``config/judge_questions.toml``). Calls go to the model and cost money; nothing is
written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from rich.text import Text

from reconciler.bootstrap.chosen_models import (
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
from reconciler.config_files import (
    load_attribute_book,
    load_gate_policy,
    load_judge_questions,
    load_profile,
    profiles_of,
)
from reconciler.domain.gate.checks import CHECKS
from reconciler.domain.reconciling.rule import check_judgement
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.records.policies import JudgeQuestion
from reconciler.domain.records.sessions import QueueReport
from reconciler.entrypoints.rendering import lines
from reconciler.errors import ArbiterError, ArbiterUnavailableError, ReconcilerError
from reconciler.frozen import in_order
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.ports.graph import Graph
from reconciler.queries import newest_schema_version
from reconciler.resources import check_folder_is_writable
from reconciler.service.embedding import unread
from reconciler.service.stores.binding_store import BindingStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.session_store import SessionStore
from reconciler.settings import Settings

_TRIES_TO_REACH = 2
"""The number of tries to reach the judge: a local model may load during the first call."""

_SCOPE = Scope(tenant="doctor", agent_id="doctor", contact_id="doctor")
_SAID_AT = datetime(2026, 6, 1, tzinfo=UTC)
_KNOWN_SINCE = datetime(2026, 3, 1, tzinfo=UTC)


@in_order
class _JudgeRun:
    """The answer to one question, or why there is no usable one."""

    question: JudgeQuestion
    answer: Judgement | ArbiterError

    @property
    def is_reached(self) -> bool:
        return not isinstance(self.answer, ArbiterUnavailableError)

    @property
    def otherwise(self) -> str:
        """Return the answer, if it was not the expected one; else an empty text."""
        expected, made = self.question, self.answer
        if isinstance(made, ArbiterError):
            return f"{expected.about}: {made}"
        if made.relation in expected.relations and expected.target in (None, made.target):
            return ""
        return f"{expected.about}: {made.relation}{f' {made.target}' if made.target else ''}"


def check_judge(settings: Settings) -> DoctorCheck:
    """Ask the arbiter ten questions; the check fails if no answer is usable."""
    try:
        arbiter = build_arbiter(settings)
        questions = load_judge_questions()
    except ReconcilerError as error:
        return DoctorCheck("judge", False, str(error))
    if arbiter is None:
        how = f"set {settings.arbiter.key_variable}, or RECONCILER_ARBITER__BASE_URL"
        return DoctorCheck("judge", False, f"none to ask; {how}")
    asked: list[_JudgeRun] = []
    with closing(arbiter):
        for question in questions:
            asked.append(_ask(arbiter, question))
            if len(asked) == _TRIES_TO_REACH and not any(run.is_reached for run in asked):
                finding = f"{arbiter.name}: not reached: {asked[-1].answer}"
                return DoctorCheck("judge", False, finding)
    return _found(arbiter.name, asked)


def _ask(arbiter: Arbiter, question: JudgeQuestion) -> _JudgeRun:
    note = Note(scope=_SCOPE, text=question.note, said_at=_SAID_AT)
    facts = [
        Neighbour(fact_id=f"fact-{number}", text=text, cosine=0.9, valid_from=_KNOWN_SINCE)
        for number, text in enumerate(question.facts, start=1)
    ]
    answer: Judgement | ArbiterError
    try:
        answer = arbiter.judge(note, facts)
        check_judgement(answer, len(facts))
    except ArbiterError as error:
        answer = error
    return _JudgeRun(question, answer)


def _found(name: str, asked: Sequence[_JudgeRun]) -> DoctorCheck:
    count, otherwise = len(asked), [run.otherwise for run in asked if run.otherwise]
    usable = sum(isinstance(run.answer, Judgement) for run in asked)
    finding = (
        f"{name}: reached in {sum(run.is_reached for run in asked)} of {count}, format kept in "
        f"{usable}, {count - len(otherwise)} of {count} as expected"
    )
    if otherwise:
        finding += f"; otherwise: {'; '.join(otherwise)}"
    return DoctorCheck("judge", bool(usable), finding)


@in_order
class DoctorCheck:
    """One checked part; ``finding`` says what to do if it is not in order.

    Attributes:
        name: the part.
        is_ok: whether it is in order.
        finding: the result, for a person.
    """

    name: str
    is_ok: bool
    finding: str


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


def checkup(settings: Settings) -> list[DoctorCheck]:
    """Check every part that a note passes; write no note, schema or file."""
    try:
        file = file_of_memory(settings)
        folder = _folder(file) if file else []
        try:
            if file:
                check_memory_exists(settings)
        except ReconcilerError as error:
            with closing(build_embedder(settings)) as embedder:
                parts = _checks_of_parts(settings, embedder)
            return [DoctorCheck("engine", True, str(error)), *parts, *folder]
        graph = open_graph(settings)
    except ReconcilerError as error:
        return [DoctorCheck("engine", False, str(error))]
    with closing(graph):
        return [*_checks(settings, graph), *folder]


def checks_view(checks: list[DoctorCheck]) -> Text:
    """Show the checks to a person."""
    return lines(
        *(
            f"{'ok     ' if check.is_ok else 'wrong  '}{check.name:<12}{check.finding}"
            for check in checks
        )
    )


def describe_extractor(settings: Settings) -> str:
    """Say which extractor reads sessions, and why. It is not called."""
    chosen = settings.extractor
    with closing(build_extractor(settings, load_attribute_book(None))) as extractor:
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
    store = BindingStore(graph)
    erasures = ErasureStore(graph, FactStore(graph), DecisionStore(graph))
    engine = _check("engine", lambda: _engine(graph))
    if not engine.is_ok:
        return [engine]
    with closing(build_embedder(settings)) as embedder:
        return [
            engine,
            _check("schema", lambda: _schema(store)),
            _check("store", lambda: _store(store, embedder)),
            _check("hash key", lambda: _hash_key(settings, store)),
            _check("round trip", lambda: _round_trip(graph)),
            *_checks_of_parts(settings, embedder),
            _check("jobs", lambda: _jobs(SessionStore(graph).count_jobs()), graph),
            _check("erasures", lambda: _erasures(erasures), graph),
        ]


def _checks_of_parts(settings: Settings, embedder: Embedder) -> list[DoctorCheck]:
    """Check the parts besides the store."""
    return [
        _check("model", lambda: _model(settings, embedder)),
        _check("gate", lambda: _gate(settings)),
        _check("arbiter", lambda: _arbiter(settings)),
        _check("extractor", lambda: describe_extractor(settings)),
    ]


def _check(
    name: str, look: Callable[[], str | DoctorCheck], kept_in: Graph | None = None
) -> DoctorCheck:
    """Check a part; in a store without a schema there is nothing to check."""
    try:
        found = look() if kept_in is None or _has_schema(kept_in) else _NONE_YET
    except ReconcilerError as error:
        return DoctorCheck(name, False, str(error))
    return found if isinstance(found, DoctorCheck) else DoctorCheck(name, True, found)


def _engine(graph: Graph) -> str:
    engine = graph.describe()
    return f"{engine.engine} {engine.version} at {engine.location}"


def _folder(store: Path) -> list[DoctorCheck]:
    """Check a store's folder; return the check if it fails: all other checks only read."""
    try:
        check_folder_is_writable(store)
    except ReconcilerError as error:
        return [DoctorCheck("folder", False, str(error))]
    return []


def _schema(store: BindingStore) -> str:
    graph = store.graph
    version, wanted = graph.schema_version(), newest_schema_version(graph.engine)
    if version == 0:
        return f"none yet; the first write, or `reconciler init`, makes version {wanted}"
    store.check_schema_version()
    store.check_keys()
    return f"version {version}"


def _store(store: BindingStore, embedder: Embedder) -> str:
    if store.graph.schema_version() == 0:
        return "empty"
    store.check_model(embedder.model_id, embedder.dimension)
    return f"holds vectors of {embedder.model_id}"


def _model(settings: Settings, embedder: Embedder) -> str:
    ready = f"{embedder.model_id}, ready in {embedder.warm_up():.1f} s"
    if embedder.dimension and not (
        load_profile(settings.reconcile.profile).embedding_model == embedder.model_id
        or profiles_of(embedder.model_id)
    ):
        ready += "; no profile was calibrated on it, so the thresholds are a guess"
    closed = [name for name, sample in _SAMPLES.items() if unread(embedder, sample)]
    if not closed:
        return ready
    return (
        f"{ready}; it cannot read {', '.join(closed)}: such texts are compared letter by letter, "
        "and recalled by their words alone (RECONCILER_EMBEDDER__MODEL names another model)"
    )


def _hash_key(settings: Settings, store: BindingStore) -> str:
    if not _has_schema(store.graph):
        return "none needed so far"
    return hash_key_of(settings, store).check()


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
        answer = _ask(arbiter, load_judge_questions()[0]).answer
        if isinstance(answer, ArbiterError):
            raise answer
        return f"{arbiter.name}, on this machine{larger}"


def _has_schema(graph: Graph) -> bool:
    return graph.schema_version() >= newest_schema_version(graph.engine)


def _erasures(erasures: ErasureStore) -> DoctorCheck:
    """Count the erasures that were interrupted."""
    count = len(erasures.list_erasures(is_unfinished=True))
    cut_off = f"{count} cut off; `reconciler erasures --finish` finishes them"
    return DoctorCheck("erasures", not count, cut_off if count else "all finished")


def _jobs(report: QueueReport) -> DoctorCheck:
    finding = ", ".join(f"{count} {state}" for state, count in report.jobs.items())
    if report.oldest_unfinished_at is not None:
        age = datetime.now(UTC) - report.oldest_unfinished_at
        finding += f"; the oldest of them is {age.total_seconds():.0f} s old"
    if has_dead := bool(report.jobs[JobState.DEAD]):
        finding += "; `reconciler jobs --state dead` says why, `reconciler retry` starts one again"
    return DoctorCheck("jobs", not has_dead, finding)
