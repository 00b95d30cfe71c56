"""The graph on a Neo4j server, 5.26 LTS or the 2026 line, Community or better, by the driver."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

import neo4j
import neo4j.exceptions as foreign
import neo4j.graph
import neo4j.time

from reconciler.adapters.neo4j_drivers import REFUSALS, Drivers, logins_of, to_check
from reconciler.errors import (
    ConfigurationError,
    GraphClosedError,
    GraphConflictError,
    GraphError,
    GraphStorageError,
    GraphUnavailableError,
    QueryError,
)
from reconciler.forks import Maker, leave_alone_in_children
from reconciler.frozen import Strings, StringSet
from reconciler.ports.graph import EngineDescription, Purged, Row
from reconciler.queries import (
    PARAMETER,
    Loop,
    Parameters,
    Query,
    load_index,
    load_migrations,
    load_queries,
    newest_schema_version,
)

_CONFLICTS = (
    "Neo.TransientError.Transaction.",
    "Neo.ClientError.Schema.ConstraintValidation",
    # Two processes make or upgrade a store at once, in spite of IF NOT EXISTS; or one does while
    # the server still runs a statement of a killed one.
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
    "Neo.ClientError.Schema.IndexAlreadyExists",
    "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
    "Neo.ClientError.Schema.ConstraintAlreadyExists",
    "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
    "Neo.DatabaseError.Schema.ConstraintCreationFailed",
)
_SCHEMES = {f"{scheme}{tls}" for scheme in ("bolt", "neo4j") for tls in ("", "+s", "+ssc")}
_TOO_SLOW = (
    "Neo.ClientError.Transaction.TransactionTimedOut",
    # Its time ended while it waited for a lock.
    "Neo.ClientError.Transaction.LockClientStopped",
)
_BEHIND = "Neo.TransientError.Transaction.BookmarkTimeout"
_OUTDATED = "Neo.TransientError.Transaction.Outdated"
"""The code of a read that met a writer. The read is repeated: only a commit can have a conflict."""
_REFUSALS: tuple[tuple[str, type[GraphError | ConfigurationError], str], ...] = (
    (
        "Neo.ClientError.Security.AuthenticationRateLimit",
        GraphUnavailableError,
        "makes {username} wait after several wrong passwords; correct NEO4J_PASSWORD in every "
        "program that uses this account, and try again in some seconds",
    ),
    (
        "Neo.ClientError.Security.CredentialsExpired",
        ConfigurationError,
        "requires a new password for {username} first; run ALTER CURRENT USER SET PASSWORD on "
        "database system, then set NEO4J_PASSWORD",
    ),
    (
        "Neo.ClientError.Security.AuthorizationExpired",
        GraphUnavailableError,
        "is reading the rights of {username} again; try again",
    ),
    (
        "Neo.ClientError.Security.",
        ConfigurationError,
        "does not let {username} do this; grant the account all on database {database} ({brief})",
    ),
    (
        "Neo.ClientError.Database.DatabaseNotFound",
        ConfigurationError,
        "has no database named {database!r}; set NEO4J_DATABASE",
    ),
    (
        "Neo.ClientError.Database.",
        ConfigurationError,
        "cannot use database {database!r}; set NEO4J_DATABASE to another ({brief})",
    ),
    (
        "Neo.DatabaseError.Transaction.",
        GraphStorageError,
        "could not write to its own disk; look for free space there, and in the server's debug.log "
        "({brief})",
    ),
    (
        "Neo.DatabaseError.General.StorageDamageDetected",
        GraphStorageError,
        "found its files damaged; restore a backup ({brief})",
    ),
)
"""Refusals of the server that an operator can resolve, the most specific code first."""
_log = logging.getLogger(__name__)
_SHOW_INDEX = "SHOW INDEXES YIELD name, state WHERE name = $given.name RETURN state"


_MAP = "given"
"""The one parameter that every query has on this engine."""

_AS_IT_IS = (str, bool, int, float, bytes)
"""Types that go to the server unchanged; checked first, because a commit has a hundred values."""

_MAPS = (dict, neo4j.graph.Node, neo4j.graph.Relationship)
"""Types that a row may hold as a map: a node, a link, or a map of properties."""
_RETENTION = "db.tx_log.rotation.retention_policy"
_SHOW_RETENTION = f"SHOW SETTINGS '{_RETENTION}' YIELD value RETURN value"
_MARK = "reconciler_call"
"""The key of the call's mark in a transaction's metadata; the server lists it while it works."""
_SHOW_MARKS = f"SHOW TRANSACTIONS YIELD metaData RETURN metaData.{_MARK}"
_SHOW_HOSTS = "SHOW DATABASES YIELD name WHERE name = $name RETURN name"
_LOST_LOOKS = 2
_LOOK_AGAIN_SECONDS = 2.0
"""How often the server may fail to list a call, because the call or its answer may be on its
way."""
_END_SECONDS = 5.0
"""The server checks every two seconds for calls that take too long, and needs time to end them."""
_LOGS = (
    "the server's transaction logs hold what was written before: kept for {kept}; they are pruned "
    "at a checkpoint after they rotate, so set a shorter policy for a while, or wait"
)
_TRACES = (
    "the server's store files reuse the space of removed texts when needed; `neo4j-admin "
    "database copy` of the stopped database writes them again",
    "the server's query log holds parameters where db.logs.query.parameter_logging_enabled is true",
    "older backups, dumps and exports, and offline members of a cluster, still hold it: "
    "make new ones, and delete the old ones",
)

T = TypeVar("T")
Lists = list[list[Any]]
"""Rows as the driver gives them: a list of values for each."""


class Neo4jGraph:
    """Runs each query as one auto-commit transaction: one round trip, all or nothing.

    The driver never retries: the caller has one loop for every engine. Reads follow this process's
    own writes, on a cluster too, by a bookmark manager.

    Args:
        uri: ``bolt://`` or ``neo4j://`` (routing), with ``+s`` for TLS.
        username, password: the account.
        database: its name.
        pool_size_max: connections kept for concurrent callers; if all are in use, a caller waits
            for one as long as a query may take.
        connect_timeout_seconds: a server that does not answer within this counts as unavailable.
        silence_timeout_seconds: a server that shows no sign of life for so long, while a query is
            under way, counts as unavailable.
        query_timeout_seconds: the server ends a query that takes longer; a busy server gets as
            long.
        connection_age_seconds_max: an older connection is replaced before its next use, without a
            check; give less than the time after which a NAT or load balancer drops it.
        idle_check_seconds: a connection that was idle for longer is checked before its next use.
        keep_alive: whether the operating system checks idle connections.

    Raises:
        ConfigurationError: the URI is not valid, or the database is one that Neo4j needs for
            itself.
    """

    engine = "neo4j"

    def __init__(
        self,
        *,
        uri: str,
        username: str,
        password: str,
        database: str,
        pool_size_max: int,
        connect_timeout_seconds: float,
        silence_timeout_seconds: float,
        query_timeout_seconds: float,
        connection_age_seconds_max: float,
        idle_check_seconds: float,
        keep_alive: bool,
    ) -> None:
        _check_uri(uri)
        if database.casefold() == "system":
            raise ConfigurationError(
                f"NEO4J_DATABASE is {database}, where Neo4j keeps its own users and databases; set "
                "another, such as neo4j"
            )
        self._uri, self._username, self._database = uri, username, database
        self._pool_size_max = pool_size_max
        self._silence_timeout_seconds = min(silence_timeout_seconds, query_timeout_seconds)
        self._query_timeout_seconds = query_timeout_seconds
        self._queries = load_queries(self.engine)
        self._logins = logins_of(uri, username, password)
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._is_closed = False
        self._maker = Maker()
        leave_alone_in_children(self)
        self._calls = ThreadPoolExecutor(pool_size_max, thread_name_prefix="neo4j")
        self._probes = ThreadPoolExecutor(1, thread_name_prefix="neo4j-probe")
        self._probe: Future[StringSet | None] | None = None
        self._last_sign_at = 0.0
        self._built: set[str] = set()
        self._gone_without: set[str] = set()
        make = partial(
            neo4j.GraphDatabase.driver,
            uri,
            auth=(username, password),
            # One more for the probe: else a busy server would seem silent when all are in use.
            max_connection_pool_size=pool_size_max + 1,
            connection_timeout=connect_timeout_seconds,
            connection_acquisition_timeout=connect_timeout_seconds,
            max_connection_lifetime=connection_age_seconds_max,
            liveness_check_timeout=idle_check_seconds,
            keep_alive=keep_alive,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="reconciler",
        )
        try:
            self._drivers = Drivers(make)
        except (foreign.DriverError, ValueError) as error:
            raise ConfigurationError(f"NEO4J_URI {uri}: {_brief(error)}") from error

    def run(self, name: str, parameters: Parameters, seconds_max: float | None = None) -> list[Row]:
        """See ``Graph.run``."""
        return self.begin(name, parameters, seconds_max)()

    def begin(
        self, name: str, parameters: Parameters, seconds_max: float | None = None
    ) -> Callable[[], list[Row]]:
        """See ``Graph.begin``."""
        query = self._queries[name]
        query.check_parameters(parameters)
        if query.index and not self._is_built(query.index):
            return list
        given = {_MAP: _Parameters(_sent(parameters, query))}
        statement = next(each for each in query.statements if each.applies(parameters))
        text = _in_one_row(_of_one_map(statement.text, query.loop), query.returns)
        access = neo4j.READ_ACCESS if query.mode == "read" else neo4j.WRITE_ACCESS
        return partial(self._finished, query, self._begun(text, given, access, seconds_max))

    def _finished(self, query: Query, answer: Callable[[], Lists]) -> list[Row]:
        try:
            [[rows]] = answer()
        except QueryError as error:
            if query.index is None:
                raise
            self._go_without(query.index, str(error))  # an operator dropped it, for example
            return []
        return _by_column(query.returns, rows) if query.is_by_column else _rows(query.returns, rows)

    def _is_built(self, index: str) -> bool:
        """True if an index can be used; the server is told to build a missing one.

        Building a large one takes longer than any query may.
        """
        if index in self._built:
            return True
        try:
            states = self._execute(_SHOW_INDEX, {_MAP: {"name": index}}, neo4j.READ_ACCESS)
            if not states:
                for statement in load_index(self.engine, index):
                    self._execute(statement.text, {}, neo4j.WRITE_ACCESS)
        except (QueryError, ConfigurationError) as error:  # this account may not, for example
            self._go_without(index, str(error))
            return False
        if states == [["FAILED"]]:
            self._go_without(
                index, "the server failed to build it; drop the index, and it will be built again"
            )
        if states == [["ONLINE"]]:
            self._built.add(index)
        return index in self._built

    def _go_without(self, index: str, reason: str) -> None:
        """Log once per process that an index is missing: queries that need it are slower."""
        self._built.discard(index)
        if index not in self._gone_without:
            self._gone_without.add(index)
            _log.warning("Neo4j at %s: no index %s is used: %s", self._uri, index, reason)

    def schema_version(self) -> int:
        """See ``Graph.schema_version``."""
        rows = self.run("find_schema_version", {})
        return int(rows[0]["schema_version"] or 0) if rows else 0

    def migrate(self, embedding_dimension: int) -> int:
        """See ``Graph.migrate``.

        A statement that takes its last position, ``$after``, runs again until it gives no row, so
        that no run takes longer than a query may. A store that already has the results stays as it
        is. If an earlier version went on writing to the store, some results are missing.
        """
        held = self.schema_version()
        for migration in load_migrations(self.engine):
            for statement in migration.statements:
                if not statement.params:
                    self._execute(statement.text, {}, neo4j.WRITE_ACCESS)
                elif held < migration.version or self.run("count_keyless", {})[0]["nodes"]:
                    self._walk(statement.text)
        newest = newest_schema_version(self.engine)
        self.run(
            "record_schema_version",
            {"schema_version": newest, "embedding_dimension": embedding_dimension},
        )
        return newest

    def _walk(self, text: str) -> None:
        after, done = "", 0
        while rows := self._execute(text, {"after": after}, neo4j.WRITE_ACCESS):
            [[after, count]] = rows
            done += count
            _log.info("Neo4j at %s: %d contacts are brought up to date", self._uri, done)

    def describe(self) -> EngineDescription:
        """See ``Graph.describe``."""
        agent = self._bounded(lambda driver: driver.get_server_info().agent)()
        return EngineDescription(
            self.engine,
            str(agent).removeprefix("Neo4j/"),
            f"{self._uri}, database {self._database}, as {self._username}",
        )

    def copy_store(self, target: Path) -> None:  # noqa: ARG002
        """See ``Graph.copy_store``; only the server may use its files."""
        raise ConfigurationError(
            f"Neo4j at {self._uri} keeps its own files; back them up with `neo4j-admin database "
            "dump` or `backup`, or write an export with `reconciler export`, which both engines "
            "can restore"
        )

    def check_purge(self) -> None:
        """See ``Graph.check_purge``; only the server may use its files."""

    def expect_purge(self, key: str, texts: Iterable[str], *, instead_of: str = "") -> None:
        """See ``Graph.expect_purge``; only the server may use its files."""

    def purge(self, key: str = "") -> Purged:  # noqa: ARG002
        """See ``Graph.purge``: a server frees bytes by itself; the result says when."""
        return Purged(traces=(self._log_trace(), *_TRACES))

    def _log_trace(self) -> str:
        """Say how long transaction logs keep old writes; not every account may ask."""
        with suppress(GraphError, ConfigurationError):
            rows = self._execute(_SHOW_RETENTION, {}, neo4j.READ_ACCESS)
            if rows:
                return _LOGS.format(kept=f"{rows[0][0]!r}, as {_RETENTION} says")
        return _LOGS.format(kept=f"as {_RETENTION} says, which this account may not read")

    def close(self) -> None:
        """See ``Graph.close``."""
        if not self._maker.is_here:
            return
        self._is_closed = True
        for pool in (self._calls, self._probes):
            pool.shutdown(wait=False, cancel_futures=True)
        if self._probe is not None:
            # No caller waits for it, and the driver fails to close a connection that is being
            # written to.
            wait([self._probe], _LOOK_AGAIN_SECONDS)
        self._drivers.close()

    def _execute(self, text: str, parameters: Parameters, access: str) -> Lists:
        return self._begun(text, parameters, access)()

    def _begun(
        self,
        text: str,
        parameters: Parameters,
        access: str,
        seconds_max: float | None = None,
    ) -> Callable[[], Lists]:
        statement = _Marked(text, min(self._query_timeout_seconds, seconds_max or inf))

        def ask(driver: neo4j.Driver) -> Lists:
            with driver.session(
                database=self._database,
                default_access_mode=access,
                bookmark_manager=self._bookmarks,
            ) as session:
                return session.run(statement, dict(parameters)).values()

        return self._bounded(ask, statement)

    def _bounded(
        self, call: Callable[[neo4j.Driver], T], statement: _Marked | None = None
    ) -> Callable[[], T]:
        """Begin the call; the returned function waits for its result.

        The wait is bounded, even if the server becomes silent during the call.

        The driver waits for a silent server as long as the server once told it to, two minutes by
        default. So the call waits in a thread, and its connection ends with the driver. We tried
        the caller's own thread with a watch that closes the driver: that saved no time, and one
        silent call ended all others.

        A busy server is not a silent one: on a shared machine the first plan of a query may take
        many seconds, or this process may get no processor time. So before a waiting caller gives
        up, it checks that the server is alive, and that the server knows the call: a silently
        dropped connection loses the call or its answer. A call that still waits for a connection
        was not sent, so the server cannot know it.

        The server itself ends calls that take too long; their connection stays good. If a call
        waited for a connection, its time begins when it is sent.
        """
        with self._translated():
            driver = self._drivers.newest
            asked = self._calls.submit(self._noted(call))
        return partial(self._result, asked, driver, statement, monotonic())

    def _result(
        self, asked: Future[T], driver: neo4j.Driver, statement: _Marked | None, started_at: float
    ) -> T:
        with self._translated():
            lost_looks = 0
            give_up_at = self._give_up_at(started_at)
            while not _is_done(asked, self._patience(give_up_at, lost_looks)):
                probe = self._probed()
                if statement is not None and statement.sent_at is not None:
                    give_up_at = self._give_up_at(statement.sent_at)
                if monotonic() < give_up_at and self._is_alive(asked, probe):
                    is_lost = asked.running() and _is_lost(statement, probe)
                    lost_looks = lost_looks + 1 if is_lost else 0
                    if lost_looks < _LOST_LOOKS:
                        continue
                was_waiting = asked.cancel()  # for a thread, and so it is never sent
                if not was_waiting:
                    self._drivers.replace(driver)
                seconds = monotonic() - started_at
                raise self._pool_is_full(seconds) if was_waiting else self._too_slow(seconds)
            return asked.result()

    def _give_up_at(self, since: float) -> float:
        return since + self._query_timeout_seconds + _END_SECONDS

    def _patience(self, give_up_at: float, lost_looks: int = 0) -> float:
        """Seconds before the server is checked; the check may take as long."""
        usual = self._silence_timeout_seconds / 2
        again = _LOOK_AGAIN_SECONDS if lost_looks else usual
        return min(again, usual, give_up_at - monotonic())

    def _is_alive(self, asked: Future[T], probe: Future[Any]) -> bool:
        """True if the server answers any call of this process, or else a cheap probe."""
        now = monotonic()
        since, until = now - self._silence_timeout_seconds / 2, now + self._patience(inf)
        either: list[Future[Any]] = [asked, probe]
        wait(either, until - now, FIRST_COMPLETED)
        return self._last_sign_at >= since or _is_done(asked, until - monotonic())

    def _probed(self) -> Future[StringSet | None]:
        """A cheap probe: lists the calls that the server works on; one probe serves all callers."""
        if self._probe is None or self._probe.done():
            self._probe = self._probes.submit(self._noted(self._marks))
        return self._probe

    def _marks(self, driver: neo4j.Driver) -> StringSet | None:
        """Marks of the calls that the server works on; None if it knows only some of them.

        Each member of a cluster knows only its own calls.
        """
        with driver.session(
            database=self._database, default_access_mode=neo4j.READ_ACCESS
        ) as session:
            marks = frozenset(session.run(_SHOW_MARKS).value())
            hosts = session.run(_SHOW_HOSTS, name=self._database.lower()).value()
        return marks if len(hosts) == 1 else None

    def _noted(self, call: Callable[[neo4j.Driver], T]) -> Callable[[], T]:
        """Make the call, and record when the server answered, even with an error."""

        def noted() -> T:
            try:
                with self._logins.attempt():
                    result = self._connected(call)
            except foreign.Neo4jError:
                self._last_sign_at = monotonic()
                raise
            self._last_sign_at = monotonic()
            return result

        return noted

    def _connected(self, call: Callable[[neo4j.Driver], T]) -> T:
        """Return the call's answer; if an idle connection stayed silent, over new connections.

        Nothing was sent in that case, so a write can be sent again as safely as a read.
        """
        with self._drivers.lent() as driver:
            try:
                return call(driver)
            except foreign.ConnectionAcquisitionTimeoutError:
                self._drivers.replace(driver)
        with self._drivers.lent() as driver:
            return call(driver)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate the driver's errors into ours, the most specific first."""
        self._maker.check()
        try:
            yield
        except REFUSALS as error:
            raise self._logins.refusal() from error
        except (
            foreign.ServiceUnavailable,
            foreign.SessionExpired,
            foreign.ConnectionAcquisitionTimeoutError,
        ) as error:
            raise GraphUnavailableError(
                f"Neo4j at {self._uri} does not answer; {to_check(self._uri, 'NEO4J_URI', error)}"
            ) from error
        except foreign.Neo4jError as error:
            raise self._server_error(error) from error
        except foreign.DriverError as error:
            raise GraphUnavailableError(f"Neo4j at {self._uri}: {_brief(error)}") from error
        except (RuntimeError, CancelledError) as error:
            if not self._is_closed:  # and the threads with it
                raise
            raise GraphClosedError(
                f"Neo4j at {self._uri} was closed by this program; open it again"
            ) from error

    def _too_slow(self, seconds: float) -> GraphUnavailableError:
        return GraphUnavailableError(f"Neo4j at {self._uri} did not answer within {seconds:.0f} s")

    def _pool_is_full(self, seconds: float) -> GraphUnavailableError:
        return GraphUnavailableError(
            f"Neo4j at {self._uri}: all {self._pool_size_max} connections were in use for "
            f"{seconds:.0f} s, and nothing was sent; try again, with fewer calls at the same time "
            "or a higher RECONCILER_NEO4J__POOL_SIZE_MAX"
        )

    def _server_error(self, error: foreign.Neo4jError) -> GraphError | ConfigurationError:
        code = error.code or ""
        if code.startswith(_TOO_SLOW):
            return self._too_slow(self._query_timeout_seconds)
        if code == _BEHIND:
            return GraphUnavailableError(
                f"the answering server of Neo4j at {self._uri} does not have the last writes of "
                f"this process yet ({_brief(error)})"
            )
        if code == _OUTDATED:
            return GraphUnavailableError(
                f"Neo4j at {self._uri}: the data that was read has changed in the meantime "
                f"({_brief(error)})"
            )
        if code.startswith(_CONFLICTS):
            return GraphConflictError(f"another writer came first ({_brief(error)})")
        for prefix, kind, told in _REFUSALS:
            if code.startswith(prefix):
                given = {"username": self._username, "database": self._database}
                return kind(f"Neo4j at {self._uri} {told.format(**given, brief=_brief(error))}")
        if error.is_retryable():
            return GraphUnavailableError(f"Neo4j at {self._uri}: {_brief(error)}")
        return QueryError(f"Neo4j rejected a query: {_brief(error)}")


def open_graph(settings: Any) -> Neo4jGraph:
    """See ``Engine.open_graph``; nothing is sent to the server yet."""
    chosen = settings.neo4j
    _check_uri(chosen.uri)  # a web address needs no password
    if chosen.password is None:
        raise ConfigurationError(f"Neo4j at {chosen.uri} needs a password; set NEO4J_PASSWORD")
    password = chosen.password.get_secret_value()
    return Neo4jGraph(**chosen.model_dump(exclude={"password"}), password=password)


def file_of(settings: Any) -> None:
    """See ``Engine.file_of``."""


def _check_uri(uri: str) -> None:
    parts = urlsplit(uri)
    if "@" in parts.netloc:
        raise ConfigurationError(
            "NEO4J_URI holds a user or a password; remove them from the URI and set "
            "NEO4J_USERNAME and NEO4J_PASSWORD"
        )
    try:
        is_whole = parts.scheme in _SCHEMES and parts.hostname and parts.port != 0
    except ValueError:  # its port is no number
        is_whole = False
    if not is_whole:
        raise ConfigurationError(
            f"NEO4J_URI {uri!r} is not a Neo4j URI; use neo4j://host:7687 or bolt://host:7687, "
            "with +s for TLS: neo4j+s://host:7687"
        )


class _Marked(neo4j.Query):
    """A statement with a mark by which the server lists it; it records when it was sent."""

    def __init__(self, text: str, timeout_seconds: float) -> None:
        self.mark = uuid.uuid4().hex
        self.sent_at: float | None = None
        super().__init__(text, metadata={_MARK: self.mark}, timeout=timeout_seconds)

    def __str__(self) -> str:
        # The driver takes the text once it has a connection. Beginning a transaction would tell the
        # same, but costs one more round trip for each call.
        self.sent_at = monotonic()
        return super().__str__()


def _is_lost(statement: _Marked | None, probe: Future[StringSet | None]) -> bool:
    """True if the server said that it does not know a call that was sent to it."""
    if statement is None or statement.sent_at is None:
        return False
    if not probe.done() or probe.cancelled() or probe.exception() is not None:
        return False
    marks = probe.result()
    return marks is not None and statement.mark not in marks


def _is_done(asked: Future[T], seconds: float) -> bool:
    """True if the call ends within so many seconds, with a result or an error."""
    return bool(wait([asked], max(seconds, 0.0)).done)


class _Parameters(dict[str, Any]):
    """Hide parameters from the driver's debug log.

    The driver formats all parameters for its log at every call, even if no handler listens: 0.35 ms
    for a vector of 384 numbers, more than the rest of the round trip. And a contact's words and
    vectors do not belong in a log.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} parameters>"


def _sent(value: Any, query: Query) -> Any:
    """Write a value in the form for the server: maps without nulls, and perhaps times as texts.

    To the server a missing key is the same as null, except in ``SET n += map``: there a null
    removes a property. The other engine leaves the property unchanged, so this one must too.

    The driver takes 45 microseconds to pack a time, the server almost none to read its text; a
    commit has ten.
    """
    if isinstance(value, dict):
        return {
            key: held if isinstance(held, _AS_IT_IS) else _sent(held, query)
            for key, held in value.items()
            if held is not None
        }
    if isinstance(value, list | tuple):
        is_of_maps = value and isinstance(value[0], dict)
        return [_sent(element, query) for element in value] if is_of_maps else value
    if query.takes_times_as_text and isinstance(value, datetime):
        return value.isoformat()
    return value


@cache
def _of_one_map(text: str, loop: Loop | None) -> str:
    """Rewrite the text so that every parameter is read from one map, and its loop is unrolled.

    The server plans a query again for every mix of its parameters' types, and null is a type. A
    plan of the commit takes a second, and a note's optional fields make many mixes. A map is one
    type, whatever it holds.
    """
    if loop is not None:
        own = re.compile(rf"\${loop.name}\b")
        text = f"UNWIND ${loop.path} AS {loop.name}\n{own.sub(loop.name, text)}"
    return PARAMETER.sub(rf"${_MAP}.\1", text)


@cache
def _in_one_row(text: str, columns: Strings) -> str:
    """Rewrite a query to return all its rows as one row: a list of lists, with times as text.

    The driver takes 17 µs to make a record of any size, and 45 µs to make a time. For a contact of
    10,000 facts that is longer than the server takes to find them.
    """
    before, _, returned = text.rpartition("RETURN")
    told = ", ".join(f"toString({name})" if _is_time(name) else name for name in columns)
    return f"{before}WITH{returned}\nRETURN collect([{told}]) AS rows"


def _rows(columns: Strings, lists: Lists) -> list[Row]:
    rows = [dict(zip(columns, values, strict=True)) for values in lists]
    for name in filter(_is_time, columns):
        for row in rows:
            row[name] = _time(row[name])
    if rows and any(isinstance(value, _MAPS) for value in rows[0].values()):
        return [{name: _as_map(value) for name, value in row.items()} for row in rows]
    return rows


def _by_column(columns: Strings, lists: Lists) -> list[Row]:
    if not lists:
        return []
    by_column = zip(columns, zip(*lists, strict=True), strict=True)
    return [{name: list(map(_time, held) if _is_time(name) else held) for name, held in by_column}]


def _time(told: str | None) -> Any:
    """Read a time that came as text. Any other text stays, and the reader of the row reports it."""
    try:  # `suppress` takes longer than to read one, and ten thousand facts have forty thousand
        # It may name its zone after its offset.
        return told and datetime.fromisoformat(told.partition("[")[0]).astimezone(UTC)
    except ValueError:
        return told


def _as_map(value: Any) -> Any:
    """Read a node or a link as a map of its properties; times are UTC."""
    if not isinstance(value, _MAPS):
        return value
    return {
        name: held.to_native().astimezone(UTC) if isinstance(held, neo4j.time.DateTime) else held
        for name, held in value.items()
        if held is not None
    }


def _is_time(column: str) -> bool:
    """True if a column holds times; its name says so, as everywhere in this package."""
    return column == "at" or column.endswith(("_at", "_from", "_to"))


def _brief(error: Exception) -> str:
    """The first line of an error's text; of a server's error, with its code."""
    text = f"{error.code}: {error.message}" if isinstance(error, foreign.Neo4jError) else str(error)
    return text.splitlines()[0][:300] if text else type(error).__name__
