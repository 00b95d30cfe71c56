"""What every test has: a scrubbed environment, and each chosen engine with an empty store.

A test that takes ``engine`` runs once for each engine of ``ENGINES`` (default: all), one that
takes ``neo4j_engine`` once for each Neo4j, ``one_of_each``, ``one_neo4j``, ``any_engine`` and
``kept_engine`` on fewer; ``tests/README.md`` says which to choose. Where an engine cannot be had,
its tests are skipped, the run's last lines say how many and what to install, and with CI=true the
run fails.

With ``-n``, pytest-xdist runs the tests in worker processes under one that only distributes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from reconciler.adapters import embedded_graph
from tests import faults, kept_certificates, kept_memory
from tests.engines import (
    OWN_LINES,
    Choice,
    EngineUnderTest,
    Neo4jEngines,
    NotOurDatabaseError,
    embedded_engine,
    scrub_environment,
)
from tests.kept_stores import KeptGraphs, KeptMemory
from tests.mortal_server import MortalServer
from tests.neo4j_artefacts import JavaParts, prepare
from tests.neo4j_server import ServerFailedError, ServerNotAvailableError, say
from tests.open_sockets import OpenSockets
from tests.storage_crasher import CannotCompileError, StorageCrasher, compiled

try:
    CHOICE = Choice(os.environ)
except ValueError as error:
    raise pytest.UsageError(str(error)) from error
SERVERS = Neo4jEngines(CHOICE)
SOCKETS = OpenSockets()
ONLY_NEO4J = ("neo4j_engine", "one_neo4j")
ENGINE_FIXTURES = (*ONLY_NEO4J, "one_of_each", "any_engine", "kept_engine", "engine")
NEO4J_NOT_CHOSEN = pytest.param(
    "neo4j", marks=pytest.mark.skip(reason="ENGINES chose no Neo4j for this run")
)


def params_of(names: list[str]) -> list[Any]:
    """Engines as parameters: a worker gets all tests of a Neo4j, so that it is started once."""
    marks = {name: pytest.mark.xdist_group(name) for name in CHOICE.neo4j_names}
    return [pytest.param(name, marks=marks.get(name, ())) for name in names]


def cases_of_each(cases: Iterable[Any], on_a_server: Collection[Any]) -> list[Any]:
    """An engine of ``one_of_each`` with each case; on a Neo4j, where a case takes seconds, some.

    ``make faults`` tries all of them there too.
    """
    rare = pytest.mark.faults(only=True)
    return [
        pytest.param(
            *engine.values,
            case,
            marks=[*engine.marks, *([rare] if of_server and case not in on_a_server else [])],
        )
        for engine in params_of(CHOICE.one_of_each)
        for of_server in [engine.values != ("embedded",)]
        for case in cases
    ]


ON_ANY_ONE = pytest.mark.parametrize(
    "one_of_each",
    params_of(CHOICE.one_of_each if faults.EVERY_CALL else CHOICE.any_one),
    indirect=True,
)
"""For a test with ``one_of_each`` that only ``make faults`` runs on a Neo4j too."""


# CI looks at the same examples each time, so that it fails for what was changed; a person's runs
# look at new ones and find more. A busy machine is no reason for either to fail.
hypothesis.settings.register_profile(
    "tests",
    derandomize=bool(os.environ.get("CI")),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("tests")


# Thousands of embedded stores are made and closed in one process.
kept_memory.keep_freed_memory()
kept_certificates.keep_certificates()


@pytest.fixture(params=params_of(CHOICE.names))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> EngineUnderTest:
    """Each engine that was chosen, with an empty store: for the contract and for races."""
    return engine_of(request.param, tmp_path)


@pytest.fixture(params=params_of(CHOICE.one_of_each))
def one_of_each(request: pytest.FixtureRequest, tmp_path: Path) -> EngineUnderTest:
    """The embedded engine and one Neo4j, for what is told through the facade.

    What the two lines could do differently is in the contract and in the races. ``make faults``
    runs on all of them.
    """
    return engine_of(request.param, tmp_path)


@pytest.fixture(scope="session")
def kept_graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptGraphs]:
    """Open embedded stores: a test opens and closes one in a quarter of a new file's time."""
    graphs = KeptGraphs(tmp_path_factory.mktemp("kept"))
    with contextlib.closing(graphs), pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_graph, "open_graph", graphs.open_graph)
        yield graphs


@pytest.fixture
def any_engine(request: pytest.FixtureRequest, tmp_path: Path) -> EngineUnderTest:
    """The embedded engine, for what is decided in Python, whichever engine keeps it.

    A test that is marked ``on_neo4j_too``, one or two of each feature, runs on one of each.
    ``ENGINES=neo4j make test`` runs all of them on Neo4j. What an engine could do differently is in
    the contract, which asks each of every query that there is.
    """
    return engine_of(request.param, tmp_path)


@pytest.fixture
def kept_engine(
    request: pytest.FixtureRequest, tmp_path: Path, kept_graphs: KeptGraphs
) -> Iterator[EngineUnderTest]:
    """As ``any_engine``, for a test that neither looks at its file nor starts a process on it.

    The embedded store is one that stays open between tests, emptied.
    """
    engine = engine_of(request.param, tmp_path)
    path = engine.settings_arguments.get("embedded_path")
    with kept_graphs.lent(path) if path else contextlib.nullcontext():
        yield engine


@pytest.fixture(scope="session")
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptMemory]:
    """An open memory with a hashing embedder, for the fixture ``memory``."""
    with contextlib.closing(KeptMemory(tmp_path_factory.mktemp("shared"))) as kept:
        yield kept


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the engines of ``any_engine`` and ``kept_engine`` by the test's marker."""
    too = metafunc.definition.get_closest_marker("on_neo4j_too")
    names = CHOICE.one_of_each if too else CHOICE.any_one
    for fixture in ("any_engine", "kept_engine"):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, params_of(names), indirect=True)


@pytest.fixture(params=params_of(CHOICE.neo4j_names) or [NEO4J_NOT_CHOSEN])
def neo4j_engine(request: pytest.FixtureRequest) -> EngineUnderTest:
    """Each Neo4j that was chosen, with an empty store."""
    return _neo4j(request.param)


@pytest.fixture(params=params_of(CHOICE.neo4j_names[-1:]) or [NEO4J_NOT_CHOSEN])
def one_neo4j(request: pytest.FixtureRequest) -> EngineUnderTest:
    """One Neo4j with an empty store, for what is up to this side of the connection."""
    return _neo4j(request.param)


def cannot_run(reason: str) -> None:
    """Where everything has to run, what cannot is a failure."""
    if CHOICE.must_run_all:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def crasher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StorageCrasher]:
    """Forks processes that fail to write to the disk at a chosen call."""
    try:
        library = compiled(tmp_path_factory.mktemp("library"))
    except CannotCompileError as error:
        cannot_run(str(error))
    crasher = StorageCrasher(library)
    yield crasher
    crasher.close()


@pytest.fixture
def mortal_server() -> Iterator[MortalServer]:
    """A server of the newest line that was chosen, and that runs in a Java of ours."""
    names = [name for name in CHOICE.one_of_each if name in OWN_LINES]
    if not names or CHOICE.uri:
        pytest.skip("ENGINES chose no Neo4j of our own that could be killed")
    try:
        parts = prepare(OWN_LINES[names[-1]], say)
    except ServerNotAvailableError as error:
        pytest.skip(f"{names[-1]} cannot be had here: {error}")
    if not isinstance(parts, JavaParts):
        pytest.skip("a container's process is not ours to kill")
    with contextlib.closing(MortalServer(parts)) as server:
        yield server


def engine_of(name: str, folder: Path) -> EngineUnderTest:
    return embedded_engine(folder) if name == "embedded" else _neo4j(name)


def _neo4j(name: str) -> EngineUnderTest:
    try:
        return SERVERS.engine(name)
    except ServerNotAvailableError as error:
        SERVERS.not_run[f"{name}: {error}"] += 1
        pytest.skip(f"{name} cannot be had here: {error}")
    except ServerFailedError as error:
        pytest.fail(f"{name}: {error}", pytrace=False)


def pytest_configure(config: pytest.Config) -> None:
    """Look at the caller's database before there are workers, then scrub the environment.

    One that distributes leaves the environment to its workers, who choose by it too.

    Raises:
        UsageError: the caller's database is away, or not to be emptied.
    """
    if not (_is_worker(config) or config.option.collectonly):
        try:
            SERVERS.check_callers_database()
        except NotOurDatabaseError as error:
            raise pytest.UsageError(str(error)) from error
    keep_what_is_compiled()
    if config.getoption("numprocesses", default=None):
        kept_memory.fetch_by_huge_pages()
    else:
        kept_memory.hand_on_no_huge_pages()
        scrub_environment()


def keep_what_is_compiled() -> None:
    """Have Python keep what it compiles, here and in each process that is started from now on.

    Containers often forbid it. Each worker would then compile all tests, with their asserts
    rewritten, and each command that a test starts would compile the whole package.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to ``make faults`` what takes too long for ``make test``; keep together what shares.

    Tests that share a fixture of their module go to one worker. Two workers would make it twice,
    and some are dear: PyTorch with a model, a conversation of months. Those that read the code go
    to one, which parses it once. Those that change a server's schema come last: the server forgets
    its plans then, and to plan the commit again takes seconds.
    """
    items.sort(key=_changes_a_schema)
    for item in items:
        if item.path.parent.name == "fuzz":
            item.add_marker("fuzz")
        if item.get_closest_marker("xdist_group"):
            continue
        if item.path.parent.name == "tidy":
            item.add_marker(pytest.mark.xdist_group("tidy"))
        elif _shares_a_fixture(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    if faults.EVERY_CALL:
        return
    marks = {item: item.get_closest_marker("faults") for item in items}
    left_out = {item for item, mark in marks.items() if mark and mark.kwargs.get("only")}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage among the ten thousand tests, now or later: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch what the selected tests need; without workers start it, while embedded ones run."""
    if session.config.option.collectonly:
        return
    asked = {_neo4j_of(item) for item in session.items}
    names = [name for name in CHOICE.neo4j_names if name in asked]
    capture = session.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        SERVERS.fetch(names, say)
    if not _is_worker(session.config):
        for name in names:
            SERVERS.start(name)


def _changes_a_schema(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("new_schema")) and _neo4j_of(item) in CHOICE.neo4j_names


def _shares_a_fixture(item: pytest.Item) -> bool:
    """Whether it takes a fixture that its own module makes once."""
    fixtures = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009  # no public way
    made = [definitions[-1] for definitions in fixtures.values()]
    own = [each for each in made if each.baseid == item.nodeid.partition("::")[0]]
    return any(each.scope in ("module", "session") for each in own)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _neo4j_of(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec else {}
    return next((params[name] for name in ENGINE_FIXTURES if name in params), None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Look for connections that the test left open, once all that it used was given back."""
    yield
    SOCKETS.check()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take from a worker that ended what it could not run, what it killed and what it tried."""
    output = getattr(node, "workeroutput", {})
    SERVERS.not_run.update(output.get("not_run", {}))
    faults.add_from_worker(output.get("faults", {}))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the servers; where all must run, tests that did not are a failure."""
    SERVERS.close()
    if _is_worker(session.config):
        session.config.workeroutput["not_run"] = dict(SERVERS.not_run)
        session.config.workeroutput["faults"] = faults.for_controller()
    elif SERVERS.not_run and CHOICE.must_run_all and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> Iterator[None]:
    """Say last, below pytest's own summary, what was killed or tried, and what did not run."""
    yield
    terminal = config.pluginmanager.getplugin("terminalreporter")
    if terminal is None:
        return
    for line in faults.summary():
        terminal.write_line(line)
    if not SERVERS.not_run:
        return
    terminal.write_line("")
    for reason, count in SERVERS.not_run.items():
        terminal.write_line(f"{count} tests did NOT run. {reason}", red=True, bold=True)
    if CHOICE.must_run_all:
        terminal.write_line("CI=true: that is a failure.", red=True, bold=True)
