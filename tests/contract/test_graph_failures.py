"""When the engine is away, closed to us or another's: a clear error within seconds, never a hang.

This is the graph port's obligations 6 and 7, seen through ``Memory.open``, as an operator meets
them.
"""

from __future__ import annotations

import contextlib
import math
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import AuthError, Neo4jError

from reconciler import Embedder, Memory, ops
from reconciler.adapters import neo4j_graph
from reconciler.adapters.neo4j_drivers import logins_of
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.bootstrap.chosen_models import open_graph
from reconciler.errors import (
    ConfigurationError,
    CredentialsRefusedError,
    EmbeddingError,
    GraphConflictError,
    GraphLockedError,
    GraphStorageError,
    GraphUnavailableError,
    QueryError,
    ReconcilerError,
    SchemaError,
)
from reconciler.queries import newest_schema_version
from reconciler.service.stores import binding_store
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest
from tests.tables import every
from tests.worker import Worker

SECRET = "correct-horse-battery-staple"
NEW_SECRET = "incorrect-horse-battery-staple"
NOBODY_THERE = "bolt://127.0.0.1:1"


def opened(arguments: dict[str, Any], dimension: int = 16, **more: Any) -> Memory:
    return Memory.open(embedder=HashingEmbedder(dimension), **arguments | more)


def server_at(uri: str, **changes: Any) -> dict[str, Any]:
    server = {"uri": uri, "username": "neo4j", "password": SECRET, "database": "neo4j"}
    return {"graph": "neo4j", "neo4j": server | changes}


def changed(engine: EngineUnderTest, **changes: Any) -> dict[str, Any]:
    server = engine.settings_arguments["neo4j"] | changes
    return engine.settings_arguments | {"neo4j": server}


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server on the loopback that talks to each client in its own way; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = server.accept()
                    threading.Thread(target=_talk, args=(client,), daemon=True).start()

        def _talk(client: socket.socket) -> None:
            with client, contextlib.suppress(OSError):
                talk(client)

        accepting = threading.Thread(target=serve, daemon=True)
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join(60)


class ServerLine:
    """A line to a server that can be cut, or go dead: then bytes vanish without a hang-up."""

    def __init__(self, uri: str) -> None:
        host, _, port = uri.rpartition("/")[2].partition(":")
        self._server = (host, int(port))
        self._sockets: list[socket.socket] = []
        self._is_alive = threading.Event()
        self._is_alive.set()

    def carry(self, client: socket.socket) -> None:
        """Carry bytes both ways until one side hangs up."""
        is_alive = self._is_alive
        with socket.create_connection(self._server) as server:
            self._sockets += [client, server]
            back = threading.Thread(target=self._pump, args=(server, client, is_alive), daemon=True)
            back.start()
            self._pump(client, server, is_alive)
            back.join()

    def cut(self) -> None:
        """Hang up on both sides."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def die(self) -> None:
        """Carry nothing any more, and do not say so."""
        self._is_alive.clear()

    def drop(self) -> None:
        """Carry nothing over the connections of now, and do not say so, as a NAT that forgot them.

        Those that are made later work.
        """
        self._is_alive.clear()
        self._is_alive = threading.Event()
        self._is_alive.set()

    def revive(self) -> None:
        """Carry what comes from now on."""
        self._is_alive.set()

    def _pump(
        self, source: socket.socket, target: socket.socket, is_alive: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_alive.is_set():
                    target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def line(one_neo4j: EngineUnderTest) -> Iterator[tuple[ServerLine, dict[str, Any]]]:
    """A line to the server, with a store that is ready, and the settings that use it."""
    opened(one_neo4j.settings_arguments).close()
    line = ServerLine(one_neo4j.settings_arguments["neo4j"]["uri"])
    with listening(line.carry) as port:
        yield line, changed(one_neo4j, uri=f"bolt://127.0.0.1:{port}")
        line.cut()


# Neo4j is away


@every("scheme", ["bolt", "neo4j"])
def test_where_nothing_listens_the_server_is_called_away_within_seconds(scheme: str) -> None:
    uri = f"{scheme}://127.0.0.1:1"
    with within(20), pytest.raises(GraphUnavailableError, match=rf"{uri} .*NEO4J_URI"):
        opened(server_at(uri))


def test_so_is_a_host_that_nobody_knows() -> None:
    with within(20), pytest.raises(GraphUnavailableError, match=r"no-such-host\.invalid"):
        opened(server_at("bolt://no-such-host.invalid"))


def stays_silent(client: socket.socket) -> None:
    while client.recv(65536):
        pass


def hangs_up(client: socket.socket) -> None:
    client.recv(1)


def speaks_http(client: socket.socket) -> None:
    client.recv(65536)
    client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def talks_rubbish(client: socket.socket) -> None:
    client.recv(65536)
    client.sendall(b"\xff\xff\xff\xff" * 8)


@every("talk", [stays_silent, hangs_up, speaks_http, talks_rubbish])
@every("scheme", ["bolt", "neo4j"])
def test_so_is_a_server_that_does_not_speak_bolt(
    scheme: str, talk: Callable[[socket.socket], None]
) -> None:
    short = {"connect_timeout_seconds": 1.0}
    with listening(talk) as port, within(20), pytest.raises(GraphUnavailableError):
        opened(server_at(f"{scheme}://127.0.0.1:{port}", **short))


def test_a_silent_server_is_given_up_in_time_with_the_default_settings() -> None:
    with listening(stays_silent) as port, within(20), pytest.raises(GraphUnavailableError):
        opened(server_at(f"bolt://127.0.0.1:{port}"))


def test_a_server_that_goes_silent_in_the_middle_hangs_no_call_and_then_the_memory_works_on(
    line: tuple[ServerLine, dict[str, Any]],
) -> None:
    wire, arguments = line
    limits = {"silence_timeout_seconds": 2.0, "query_timeout_seconds": 600}
    impatient = arguments["neo4j"] | limits | {"connect_timeout_seconds": 1.0}
    with opened(arguments | {"neo4j": impatient}) as memory:
        wire.die()
        with within(60), pytest.raises(GraphUnavailableError):
            memory.contact("crm", "alice").recall("email")
        wire.revive()
        memory.add_contact_note("crm", "alice", "Prefers email")
        assert len(memory.contact("crm", "alice").recall("email")) == 1


def with_idle_connections(memory: Memory, count: int) -> None:
    """Have the pool hold so many connections, none of them in use."""
    together = threading.Barrier(count)

    def recall(number: int) -> None:
        together.wait(60)
        for _ in range(5):
            memory.contact("crm", f"contact-{number}").recall("email")

    with ThreadPoolExecutor(count) as threads:
        list(threads.map(recall, range(count)))


def seconds_of_calls(memory: Memory, count: int) -> list[float]:
    seconds = []
    for number in range(count):
        started = time.monotonic()
        memory.contact("crm", f"other-{number}").recall("email")
        seconds.append(time.monotonic() - started)
    return seconds


@pytest.mark.parametrize("setting", ["idle_check_seconds", "connection_age_seconds_max"])
def test_idle_connections_that_were_dropped_without_a_word_fail_no_call(
    line: tuple[ServerLine, dict[str, Any]], setting: str
) -> None:
    wire, arguments = line
    limits = {"connect_timeout_seconds": 2.0, "idle_check_seconds": 3600.0, setting: 1.0}
    with opened(arguments | {"neo4j": arguments["neo4j"] | limits}) as memory:
        with_idle_connections(memory, 4)
        wire.drop()
        time.sleep(1.1)
        taken = seconds_of_calls(memory, 6)
        assert sum(taken) < 14, taken  # a single one that is waited for takes 15 and more
        assert memory.add_contact_note("crm", "alice", "Prefers email").action == "ADD"


def test_calls_at_the_same_time_over_dropped_connections_all_succeed(
    line: tuple[ServerLine, dict[str, Any]],
) -> None:
    wire, arguments = line
    limits = {"connect_timeout_seconds": 4.0, "idle_check_seconds": 1.0}
    with opened(arguments | {"neo4j": arguments["neo4j"] | limits}) as memory:
        with_idle_connections(memory, 4)
        wire.drop()
        time.sleep(1.1)
        with within(14):
            with_idle_connections(memory, 4)


def test_a_connection_that_was_dropped_right_after_its_use_holds_a_call_up_for_seconds(
    line: tuple[ServerLine, dict[str, Any]],
) -> None:
    wire, arguments = line
    usual = {"silence_timeout_seconds": 15.0}
    with opened(arguments | {"neo4j": arguments["neo4j"] | usual}) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        wire.drop()
        with within(40), pytest.raises(GraphUnavailableError, match="did not answer within"):
            memory.contact("crm", "bob").recall("email")
        with within(14):
            assert len(memory.contact("crm", "alice").recall("email")) == 1


@contextmanager
def busy(engine: EngineUnderTest, label: str, seconds: float) -> Iterator[None]:
    """The server is alive, and keeps every writer of such nodes waiting for so long."""
    is_held, is_over = threading.Event(), threading.Event()
    server = engine.settings_arguments["neo4j"]

    def hold() -> None:
        with (
            neo4j.GraphDatabase.driver(
                server["uri"], auth=(server["username"], server["password"])
            ) as driver,
            driver.session(database=server["database"]) as session,
            session.begin_transaction() as transaction,
        ):
            transaction.run(f"MATCH (held:{label}) SET held.is_held = true").consume()
            is_held.set()
            is_over.wait(seconds)

    holding = threading.Thread(target=hold, daemon=True)
    holding.start()
    assert is_held.wait(60)
    try:
        yield
    finally:
        is_over.set()
        holding.join(60)


def test_a_server_that_is_busy_is_waited_for(one_neo4j: EngineUnderTest) -> None:
    with opened(changed(one_neo4j, silence_timeout_seconds=4.0)) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        with busy(one_neo4j, "Contact", 4.5):
            memory.add_contact_note("crm", "alice", "Lives in Pune")
        assert len(memory.contact("crm", "alice").decisions()) == 2


def test_but_no_longer_than_a_query_may_take_and_the_connections_stay_as_they_are(
    one_neo4j: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_graph, "_END_SECONDS", 250.0)  # for a server on a busy machine
    opened(one_neo4j.settings_arguments).close()
    version = {"schema_version": newest_schema_version("neo4j"), "embedding_dimension": 16}
    with closing(open_graph(load_settings(**one_neo4j.settings_arguments))) as graph:
        graph._query_timeout_seconds, before = 1.0, graph._drivers.newest
        with (
            busy(one_neo4j, "Store", 250),
            pytest.raises(GraphUnavailableError, match="did not answer within 1 s"),
        ):
            graph.run("record_schema_version", version)
        assert graph._drivers.newest is before


def test_where_all_connections_are_in_use_a_busy_server_is_waited_for_all_the_same(
    one_neo4j: EngineUnderTest,
) -> None:
    with opened(changed(one_neo4j, silence_timeout_seconds=4.0, pool_size_max=1)) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        with busy(one_neo4j, "Contact", 4.5):
            memory.add_contact_note("crm", "alice", "Lives in Pune")
        assert len(memory.contact("crm", "alice").decisions()) == 2


def test_a_call_that_waits_for_a_connection_is_not_taken_for_a_lost_one(
    one_neo4j: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"silence_timeout_seconds": 2.0, "pool_size_max": 1}
    settings = load_settings(**changed(one_neo4j, **limits))
    with closing(open_graph(settings)) as graph:
        driver = graph._drivers.newest
        looks, is_looked_often = [], threading.Event()
        marks, connect = graph._marks, neo4j.Session._connect

        def looking(driver: neo4j.Driver) -> frozenset[str] | None:
            found: frozenset[str] | None = marks(driver)
            looks.append(found)
            if len(looks) > 2:  # one more than it takes to give a lost call up
                is_looked_often.set()
            return found

        def connecting(session: Any, *given: Any, **more: Any) -> None:
            if session._bookmark_manager is graph._bookmarks:  # a call's, and no look's
                assert is_looked_often.wait(30)
            connect(session, *given, **more)

        monkeypatch.setattr(graph, "_marks", looking)
        monkeypatch.setattr(neo4j.Session, "_connect", connecting)
        graph.run("find_schema_version", {})
        assert graph._drivers.newest is driver


def waiting_writers(engine: EngineUnderTest, count: int) -> None:
    """Return once the server holds back so many of our calls."""
    server = engine.settings_arguments["neo4j"]
    shown = (
        "SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.reconciler_call IS NOT NULL "
        "AND status STARTS WITH 'Blocked' RETURN count(*)"
    )
    with (
        neo4j.GraphDatabase.driver(
            server["uri"], auth=(server["username"], server["password"])
        ) as driver,
        driver.session(database=server["database"]) as session,
    ):
        while session.run(shown).single(strict=True).value() < count:
            time.sleep(0.05)


def test_who_gets_no_connection_is_told_in_time_which_setting_it_is_and_wrote_nothing(
    one_neo4j: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_graph, "_END_SECONDS", 0.5)
    few = changed(one_neo4j, pool_size_max=2, query_timeout_seconds=250.0)
    contacts = [f"contact-{number}" for number in range(6)]
    with opened(few) as memory, ThreadPoolExecutor(len(contacts)) as threads:
        for contact in contacts:
            memory.add_contact_note("crm", contact, "Prefers email")
        with busy(one_neo4j, "Contact", 250):
            sent = [threads.submit(memory.add_contact_note, "crm", c, "Tea") for c in contacts[:2]]
            waiting_writers(one_neo4j, 2)
            memory._services._graph._query_timeout_seconds = 1.0
            unsent = [
                threads.submit(memory.add_contact_note, "crm", c, "Tea") for c in contacts[2:]
            ]
            told = [str(each.exception()) for each in unsent]
            assert not any(each.done() for each in sent)
        assert all(each.exception() is None for each in sent)
        assert all("nothing was sent" in text for text in told)
        assert all("RECONCILER_NEO4J__POOL_SIZE_MAX" in text for text in told)
        counts = [len(memory.contact("crm", contact).decisions()) for contact in contacts]
        assert counts == [2, 2, 1, 1, 1, 1]


def test_who_waited_for_a_connection_has_the_whole_time_of_a_query_all_the_same(
    one_neo4j: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is moved while the call looks whether the server is alive."""
    opened(one_neo4j.settings_arguments).close()
    version = {"schema_version": newest_schema_version("neo4j"), "embedding_dimension": 16}
    limits = {"pool_size_max": 1, "query_timeout_seconds": 600}
    with closing(open_graph(load_settings(**changed(one_neo4j, **limits)))) as graph:
        ahead, is_free, driver, probed = (
            [0.0],
            threading.Event(),
            graph._drivers.newest,
            graph._probed,
        )
        monkeypatch.setattr(neo4j_graph, "monotonic", lambda: time.monotonic() + ahead[0])

        def looks() -> Iterator[None]:
            ahead[0] += 400
            is_free.set()
            waiting_writers(one_neo4j, 1)
            yield
            ahead[0] += 400
            yield
            held.close()
            while True:
                yield

        look = looks()

        def looking() -> Any:
            next(look)
            return probed()

        def soon(give_up_at: float, lost_looks: int = 0) -> float:
            return 60.0 if give_up_at == math.inf else 0.1

        monkeypatch.setattr(graph, "_probed", looking)
        monkeypatch.setattr(graph, "_patience", soon)  # a look each moment, a minute to be alive
        graph._calls.submit(is_free.wait)
        with contextlib.ExitStack() as held:
            held.enter_context(busy(one_neo4j, "Store", 250))
            graph.run("record_schema_version", version)
        assert ahead == [800.0]
        assert graph._drivers.newest is driver


def test_closing_lets_a_look_at_the_server_end(
    one_neo4j: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = open_graph(load_settings(**one_neo4j.settings_arguments))
    marks, looks = graph._marks, threading.Event()

    def slowly(driver: neo4j.Driver) -> Any:
        looks.set()
        time.sleep(0.3)
        return marks(driver)

    graph.schema_version()
    monkeypatch.setattr(graph, "_marks", slowly)
    look = graph._probed()
    assert looks.wait(60)
    graph.close()
    assert look.exception() is None


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises here also where a shell started the tests in the background, to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_waits_for_no_answer(one_neo4j: EngineUnderTest) -> None:
    with opened(one_neo4j.settings_arguments) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        here = threading.get_ident()
        with busy(one_neo4j, "Contact", 50):
            interrupt = threading.Timer(1, lambda: signal.pthread_kill(here, signal.SIGINT))
            interrupt.start()
            with within(30), pytest.raises(KeyboardInterrupt):
                memory.add_contact_note("crm", "alice", "Lives in Pune")


def test_a_write_outlives_a_connection_that_was_cut(
    line: tuple[ServerLine, dict[str, Any]],
) -> None:
    wire, arguments = line
    with opened(arguments) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        wire.cut()
        memory.add_contact_note("crm", "alice", "Lives in Pune")
        assert len(memory.contact("crm", "alice").decisions()) == 2


def test_a_read_outlives_a_connection_that_was_cut(line: tuple[ServerLine, dict[str, Any]]) -> None:
    wire, arguments = line
    with opened(arguments) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        wire.cut()
        assert len(memory.contact("crm", "alice").recall("email")) == 1


# Neo4j turns us away


@every(
    "uri",
    [
        "",
        "127.0.0.1:7687",
        "bolt",
        "ftp://127.0.0.1",
        "http://127.0.0.1:7474",
        "bolt://127.0.0.1:port",
        "bolt://127.0.0.1:7687?policy=eu",
        "neo4j+tls://127.0.0.1",
    ],
)
def test_a_uri_that_cannot_be_understood_is_a_configuration_error(uri: str) -> None:
    with within(20), pytest.raises(ConfigurationError, match="NEO4J_URI"):
        opened(server_at(uri))


def test_a_password_in_the_uri_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="NEO4J_URI") as raised:
        opened(server_at(f"bolt://neo4j:{SECRET}@127.0.0.1:1"))
    assert SECRET not in str(raised.value)


def test_without_a_password_the_setting_is_named() -> None:
    with pytest.raises(
        ConfigurationError, match=f"Neo4j at {NOBODY_THERE} needs a password; set NEO4J_PASSWORD"
    ):
        Memory.open(graph="neo4j", neo4j={"uri": NOBODY_THERE}, embedder=HashingEmbedder())


def test_a_wrong_password_names_the_setting_and_not_the_password(
    neo4j_engine: EngineUnderTest,
) -> None:
    with within(20), pytest.raises(ConfigurationError, match="NEO4J_PASSWORD") as raised:
        opened(changed(neo4j_engine, password=SECRET))
    assert SECRET not in str(raised.value)


def log_in(engine: EngineUnderTest, username: str, password: str) -> None:
    """Log in as another program would."""
    uri = engine.settings_arguments["neo4j"]["uri"]
    with neo4j.GraphDatabase.driver(uri, auth=(username, password)) as driver:
        driver.execute_query("RETURN 1")


def test_who_waits_after_wrong_passwords_is_told_so_and_let_in_later(
    one_neo4j: EngineUnderTest,
) -> None:
    opened(one_neo4j.settings_arguments).close()  # the server counts wrong ones in a row
    for _ in range(3):
        with pytest.raises(AuthError):
            log_in(one_neo4j, one_neo4j.settings_arguments["neo4j"]["username"], SECRET)
    with pytest.raises(GraphUnavailableError, match="wait after several wrong passwords"):
        opened(one_neo4j.settings_arguments)
    time.sleep(5.5)  # the server's own default is five seconds
    opened(one_neo4j.settings_arguments).close()


def test_a_process_with_an_old_password_locks_nobody_out_and_tries_again_later(
    one_neo4j: EngineUnderTest,
) -> None:
    server = one_neo4j.settings_arguments["neo4j"]
    uri, own = server["uri"], (server["username"], server["password"])
    with neo4j.GraphDatabase.driver(uri, auth=own) as operator:

        def change(text: str, password: str) -> None:
            operator.execute_query(text, {"password": password}, database_="system")

        change("CREATE USER agent SET PASSWORD $password CHANGE NOT REQUIRED", SECRET)
        try:
            with opened(changed(one_neo4j, username="agent", password=SECRET)) as memory:
                change("ALTER USER agent SET PASSWORD $password", NEW_SECRET)
                drivers = memory._services._graph._drivers  # type: ignore[attr-defined]
                drivers.replace(drivers.newest)  # its connections have come of age
                for _ in range(11):
                    with pytest.raises(
                        CredentialsRefusedError, match="min before it tries these again"
                    ):
                        memory.contact("crm", "alice").decisions()
                    log_in(one_neo4j, "agent", NEW_SECRET)
                logins = logins_of(uri, "agent", SECRET)
                change("ALTER USER agent SET PASSWORD $password", SECRET)
                with pytest.raises(CredentialsRefusedError):
                    memory.contact("crm", "alice").decisions()
                logins._again_at = 0.0  # a minute later
                assert memory.contact("crm", "alice").decisions() == []
        finally:
            operator.execute_query("DROP USER agent", database_="system")


@every("database", ["system", "System"])
def test_the_database_of_the_server_itself_is_refused_unasked(database: str) -> None:
    with pytest.raises(ConfigurationError, match="NEO4J_DATABASE"):
        opened(server_at(NOBODY_THERE, database=database))


def test_an_account_whose_password_has_to_be_changed_is_told_how(
    neo4j_engine: EngineUnderTest,
) -> None:
    server = neo4j_engine.settings_arguments["neo4j"]
    account = {"name": "newcomer", "password": SECRET}
    with neo4j.GraphDatabase.driver(
        server["uri"], auth=(server["username"], server["password"])
    ) as driver:
        driver.execute_query(
            "CREATE USER $name SET PASSWORD $password CHANGE REQUIRED", account, database_="system"
        )
        try:
            with pytest.raises(ConfigurationError, match="ALTER CURRENT USER"):
                opened(changed(neo4j_engine, username="newcomer", password=SECRET))
        finally:
            driver.execute_query("DROP USER $name", account, database_="system")


@every(
    ("code", "kind"),
    [
        ("ClientError.Security.Forbidden", ConfigurationError),
        ("ClientError.Security.AuthProviderFailed", ConfigurationError),
        ("ClientError.Security.AuthorizationExpired", GraphUnavailableError),
        ("ClientError.Database.IllegalAliasChain", ConfigurationError),
        ("DatabaseError.Transaction.TransactionCommitFailed", GraphStorageError),
        ("DatabaseError.General.StorageDamageDetected", GraphStorageError),
        ("TransientError.General.MemoryPoolOutOfMemoryError", GraphUnavailableError),
        ("TransientError.Database.DatabaseUnavailable", GraphUnavailableError),
        ("TransientError.Transaction.DeadlockDetected", GraphConflictError),
        ("TransientError.Transaction.Outdated", GraphUnavailableError),
        ("ClientError.Statement.SyntaxError", QueryError),
        ("DatabaseError.General.UnknownError", QueryError),
    ],
)
def test_what_a_server_refuses_is_an_error_of_ours_by_its_class(
    code: str, kind: type[ReconcilerError]
) -> None:
    refused = Neo4jError._hydrate_neo4j(code=f"Neo.{code}", message="no")
    with (
        closing(open_graph(load_settings(**server_at(NOBODY_THERE)))) as graph,
        pytest.raises(kind, match=f"{NOBODY_THERE}|{code}") as raised,
        graph._translated(),  # type: ignore[attr-defined]
    ):
        raise refused
    assert type(raised.value) is kind


def test_a_missing_database_names_the_setting(neo4j_engine: EngineUnderTest) -> None:
    with (
        within(20),
        pytest.raises(ConfigurationError, match=r"no database named 'nosuch'.*NEO4J_DATABASE"),
    ):
        opened(changed(neo4j_engine, database="nosuch"))


# The store is another's


def test_a_store_older_than_the_code_names_the_command_that_mends_it(
    engine: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(engine.settings_arguments).close()
    newer = newest_schema_version("neo4j") + 1
    monkeypatch.setattr(binding_store, "newest_schema_version", lambda _: newer)
    with pytest.raises(SchemaError, match=f"needs version {newer}.*reconciler init"):
        opened(engine.settings_arguments)


def _make_newer(engine: EngineUnderTest) -> int:
    newer = newest_schema_version(engine.settings_arguments["graph"]) + 1
    raw_store.query(engine, f"MATCH (store:Store) SET store.schema_version = {newer}")
    return newer


def test_a_store_newer_than_the_code_asks_for_a_newer_package(engine: EngineUnderTest) -> None:
    opened(engine.settings_arguments).close()
    newer = _make_newer(engine)
    with pytest.raises(SchemaError, match=rf"version {newer}.*newer version of this package"):
        opened(engine.settings_arguments)


@pytest.mark.parametrize("other", [HashingEmbedder(8), NoopEmbedder()], ids=lambda e: e.model_id)
def test_a_store_of_another_model_is_refused_and_nothing_written(
    engine: EngineUnderTest, other: Embedder
) -> None:
    with opened(engine.settings_arguments) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
    before = raw_store.everything(engine)
    with pytest.raises(SchemaError, match=r"vectors of hashing-16.*RECONCILER_EMBEDDER__MODEL"):
        Memory.open(embedder=other, **engine.settings_arguments)
    assert raw_store.everything(engine) == before


def test_a_refused_store_opens_again_with_its_own_model(engine: EngineUnderTest) -> None:
    opened(engine.settings_arguments).close()
    with pytest.raises(SchemaError):
        opened(engine.settings_arguments, dimension=8)
    with opened(engine.settings_arguments) as memory:
        assert memory.contact("crm", "alice").recall() == []


def test_opening_a_store_again_changes_nothing_in_it(engine: EngineUnderTest) -> None:
    opened(engine.settings_arguments).close()
    before = raw_store.everything(engine)
    opened(engine.settings_arguments).close()
    assert raw_store.everything(engine) == before


def test_a_store_whose_making_was_interrupted_is_made_ready(engine: EngineUnderTest) -> None:
    opened(engine.settings_arguments).close()
    raw_store.query(engine, "MATCH (store:Store) DELETE store")
    with opened(engine.settings_arguments) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")


# The embedded file is another's


@pytest.fixture
def embedded(tmp_path: Path) -> dict[str, Any]:
    """Settings for the embedded engine with a new file."""
    return {"graph": "embedded", "embedded_path": tmp_path / "memory.lbug"}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """Another process; a test leaves it without an open file."""
    with Worker() as worker:
        yield worker


def test_a_file_that_another_process_has_open_is_called_locked_until_that_closes_it(
    embedded: dict[str, Any], worker: Worker
) -> None:
    assert worker.ask("open", settings=embedded) == "open"
    try:
        with within(20), pytest.raises(GraphLockedError, match="RECONCILER_EMBEDDED_PATH"):
            opened(embedded, dimension=64)
    finally:
        worker.ask("close")
    opened(embedded, dimension=64).close()


def test_the_other_process_is_told_the_same(embedded: dict[str, Any], worker: Worker) -> None:
    with opened(embedded, dimension=64):
        answer = worker.ask("open", settings=embedded)
        assert answer["error"] == "GraphLockedError"
        assert "RECONCILER_EMBEDDED_PATH" in answer["text"]


def test_a_file_is_free_again_when_the_other_process_was_killed(embedded: dict[str, Any]) -> None:
    with Worker() as worker:
        worker.ask("open", settings=embedded)
        worker.kill()
        opened(embedded, dimension=64).close()


def test_a_file_that_this_process_has_open_is_called_locked_too(embedded: dict[str, Any]) -> None:
    # Two openers in one process would each write over what the other wrote.
    with opened(embedded), pytest.raises(GraphLockedError, match="RECONCILER_EMBEDDED_PATH"):
        opened(embedded).close()


def _hard_link(path: Path, name: Path) -> None:
    name.hardlink_to(path)


def _link(path: Path, name: Path) -> None:
    name.symlink_to(path)


def _link_to_the_folder(path: Path, name: Path) -> None:
    (name.parent / "other").symlink_to(path.parent)


@pytest.mark.parametrize(
    ("give", "named"),
    [
        (_hard_link, "second.lbug"),
        (_link, "second.lbug"),
        (_link_to_the_folder, "other/memory.lbug"),
    ],
)
def test_a_second_name_of_an_open_file_is_called_locked_too(
    embedded: dict[str, Any], give: Any, named: str
) -> None:
    path: Path = embedded["embedded_path"]
    second = path.parent / named
    with opened(embedded) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        give(path, path.parent / "second.lbug")
        with pytest.raises(GraphLockedError, match="this process"):
            opened(embedded | {"embedded_path": second}).close()
        memory.add_contact_note("crm", "alice", "Has a dog")
    with opened(embedded | {"embedded_path": second}) as memory:
        assert len(memory.contact("crm", "alice").history()) == 2


@pytest.mark.parametrize("beside", ["", ".wal", ".wal.checkpoint", ".shadow", ".no-log"])
@pytest.mark.parametrize("writes", ["backup", "export"])
def test_nothing_is_written_over_a_file_of_the_open_memory(
    embedded: dict[str, Any], writes: str, beside: str
) -> None:
    path: Path = embedded["embedded_path"]
    (path.parent / "folder").symlink_to(path.parent)
    target = path.parent / "folder" / f"{path.name}{beside}"
    with opened(embedded) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        with pytest.raises(ConfigurationError, match="of the open memory itself"):
            getattr(ops, writes)(memory, target, overwrite=True)
    with opened(embedded) as memory:
        assert len(memory.contact("crm", "alice").history()) == 1


@pytest.mark.parametrize("named", ["memory.key", "MEMORY.key"])
@pytest.mark.parametrize("writes", ["backup", "export"])
def test_nor_over_its_key_of_hashes_made_or_not(
    embedded: dict[str, Any], writes: str, named: str
) -> None:
    path: Path = embedded["embedded_path"]
    with opened(embedded) as memory:
        for text in ("Prefers email", "Mail her at priya@example.com."):  # the second makes a key
            memory.add_contact_note("crm", "alice", text)
            with pytest.raises(ConfigurationError, match="of the open memory itself"):
                getattr(ops, writes)(memory, path.with_name(named), overwrite=True)
    with opened(embedded) as memory:
        assert len(memory.contact("crm", "alice").history()) == 2


def test_a_backup_may_be_named_after_the_store(embedded: dict[str, Any]) -> None:
    path: Path = embedded["embedded_path"]
    backup = path.with_name(f"{path.name}.zip")
    with opened(embedded) as memory:
        memory.add_contact_note("crm", "alice", "Prefers email")
        assert ops.backup(memory, backup).path == backup


class UnloadableEmbedder(HashingEmbedder):
    """Fails as soon as anybody asks for its dimension, as a model that cannot be loaded does."""

    @property
    def dimension(self) -> int:
        raise EmbeddingError("no such model")


@pytest.mark.parametrize("failing", ["model that fails", "another model", "newer store"])
def test_an_open_that_failed_leaves_the_file_free(
    embedded: dict[str, Any], failing: str, worker: Worker
) -> None:
    opened(embedded, dimension=64).close()
    engine = EngineUnderTest("embedded", embedded)
    broken = UnloadableEmbedder() if failing == "model that fails" else HashingEmbedder(8)
    if failing == "newer store":
        _make_newer(engine)
    with pytest.raises(ReconcilerError):
        Memory.open(embedder=broken, **embedded)
    answer = worker.ask("open", settings=embedded)
    if answer == "open":
        worker.ask("close")
    assert answer == "open" or answer["error"] == "SchemaError"


def _folder(path: Path) -> None:
    path.mkdir()


def _text(path: Path) -> None:
    path.write_text("dear diary\n" * 1000)


def _byte(path: Path) -> None:
    path.write_bytes(b"x")


def _half_a_database(path: Path) -> None:
    opened({"graph": "embedded", "embedded_path": path}).close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def _below_a_file(path: Path) -> None:
    path.parent.write_text("not a folder")


@pytest.mark.parametrize("make", [_folder, _text, _byte, _half_a_database, _below_a_file])
def test_a_path_that_cannot_be_used_is_a_configuration_error(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "memory.lbug" if make is not _below_a_file else tmp_path / "file" / "x.lbug"
    make(path)
    expected = f"RECONCILER_EMBEDDED_PATH {re.escape(str(path))}"
    with pytest.raises(ConfigurationError, match=expected):
        opened({"graph": "embedded", "embedded_path": path})


def test_what_lies_at_such_a_path_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "diary.txt"
    _text(path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError):
        opened({"graph": "embedded", "embedded_path": path})
    assert path.read_bytes() == before


def test_the_folder_of_a_new_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "memory.lbug"
    opened({"graph": "embedded", "embedded_path": path}).close()
    assert path.is_file()
