"""The connections to an embedded database, with the real engine: few, fair, and closed in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ladybug
import pytest

from reconciler.adapters import embedded_connections
from reconciler.adapters.embedded_connections import (
    CONNECTIONS_MAX,
    EmbeddedConnections,
    PlanningConnection,
)
from reconciler.errors import GraphUnavailableError
from tests.interrupts import interrupt_everywhere

READERS_MAX = CONNECTIONS_MAX - 1
HOLDERS = r"within 0\.1 s.*Other calls, a checkpoint or an erasure"
"""All that may have kept a caller waiting: the one who waits does not know which."""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ladybug.Database]:
    """An empty database."""
    database = ladybug.Database(tmp_path / "memory.lbug", buffer_pool_size=1 << 28)
    yield database
    database.close()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[ladybug.Connection]:
    """Every connection that is made."""
    found: list[ladybug.Connection] = []

    class Counted(PlanningConnection):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            found.append(self)

    monkeypatch.setattr(embedded_connections, "PlanningConnection", Counted)
    return found


def connections(database: ladybug.Database, seconds: float = 60.0) -> EmbeddedConnections:
    return EmbeddedConnections(database, Path("memory.lbug"), seconds)


def one(connection: ladybug.Connection, statement: str = "RETURN 1") -> object:
    result = connection.execute(statement)
    assert isinstance(result, ladybug.QueryResult)
    with result:
        return result.get_next()[0]


def test_a_hundred_threads_share_a_few_connections(
    database: ladybug.Database, made: list[ladybug.Connection]
) -> None:
    pool = connections(database)

    def ask(number: int) -> object:
        lent = pool.for_writing() if number % 5 == 0 else pool.for_reading()
        with lent as connection:
            return one(connection, f"RETURN {number}")

    with ThreadPoolExecutor(100) as threads:
        assert list(threads.map(ask, range(500))) == list(range(500))
    assert 1 < len(made) <= CONNECTIONS_MAX
    pool.close()
    assert all(each.is_closed for each in made)


def test_when_all_are_in_use_the_error_comes_in_time_and_says_what_to_do(
    database: ladybug.Database,
) -> None:
    pool = connections(database, seconds=0.1)
    with ExitStack() as stack:
        for _ in range(READERS_MAX):
            stack.enter_context(pool.for_reading())
        started = time.monotonic()
        with pytest.raises(GraphUnavailableError, match=rf"{HOLDERS}.*fewer calls"):
            stack.enter_context(pool.for_reading())
        assert time.monotonic() - started < 10
    with pool.for_reading() as connection:
        assert one(connection) == 1
    pool.close()


def test_readers_cannot_keep_a_writer_waiting(database: ladybug.Database) -> None:
    pool = connections(database, seconds=0.1)
    with ExitStack() as stack:
        for _ in range(READERS_MAX):
            stack.enter_context(pool.for_reading())
        with pool.for_writing() as connection:
            assert one(connection) == 1
    pool.close()


def test_a_second_writer_waits_for_the_first(database: ladybug.Database) -> None:
    pool = connections(database, seconds=0.1)
    late = pytest.raises(GraphUnavailableError, match=HOLDERS)
    with pool.for_writing(), late, pool.for_writing():
        pass
    pool.close()


@pytest.mark.parametrize("use", ["for_reading", "for_writing"])
def test_a_caller_waits_longer_while_the_log_is_merged(
    database: ladybug.Database, use: str
) -> None:
    pool = connections(database, seconds=0.1)
    merges, ends = threading.Event(), threading.Event()

    def merge() -> None:
        with pool.for_writing(), pool.without_readers(1.0), pool.merging():
            merges.set()
            ends.wait()

    def wait() -> object:
        with getattr(pool, use)() as connection:
            return one(connection)

    with ThreadPoolExecutor(2) as threads:
        merging = threads.submit(merge)
        merges.wait()
        waiting = threads.submit(wait)
        with pytest.raises(TimeoutError):  # five times as long as a caller waits for others
            waiting.result(timeout=0.5)
        ends.set()
        assert waiting.result() == 1
        merging.result()
    pool.close()


def test_no_merge_is_waited_for_without_end(
    database: ladybug.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_connections, "_MERGE_TIMEOUTS", 3)
    pool = connections(database, seconds=0.1)
    late = pytest.raises(GraphUnavailableError, match=HOLDERS)
    with pool.for_writing(), pool.merging(), late, pool.for_writing():
        pass
    pool.close()


@pytest.mark.parametrize("holder", ["without_readers", "alone"])
def test_a_reader_kept_waiting_by_the_store_itself_is_told_so(
    database: ladybug.Database, holder: str
) -> None:
    pool = connections(database, seconds=0.1)
    late = pytest.raises(GraphUnavailableError, match=HOLDERS)
    with getattr(pool, holder)(1.0), late, pool.for_reading():
        pass
    pool.close()


def test_the_connection_that_was_used_last_is_lent_again_first(
    database: ladybug.Database, made: list[ladybug.Connection]
) -> None:
    pool = connections(database)
    with pool.for_reading(), pool.for_reading() as second:
        pass
    with pool.for_reading() as again:
        assert again is made[0] is not second
    pool.close()


def test_what_writes_is_planned_on_one_connection_only(
    database: ladybug.Database, made: list[ladybug.Connection]
) -> None:
    pool = connections(database)
    for _ in range(3):
        with pool.for_writing() as writing, pool.for_reading() as reading:
            assert made == [writing, reading]
    pool.close()


def test_where_the_buffer_pool_is_full_idle_connections_give_back_what_they_hold(
    database: ladybug.Database, made: list[ladybug.Connection]
) -> None:
    pool = connections(database)
    with pool.for_writing(), pool.for_reading(), pool.for_reading():
        pass
    with pytest.raises(RuntimeError, match="full"), pool.for_reading():
        raise RuntimeError("Buffer manager exception: The buffer pool is full")
    assert all(each.is_closed for each in made)
    pool.close()


def test_a_connection_whose_query_failed_is_lent_to_nobody_else(
    database: ladybug.Database, made: list[ladybug.Connection]
) -> None:
    pool = connections(database)
    with pytest.raises(RuntimeError, match="no_such_thing"), pool.for_writing() as connection:
        one(connection, "RETURN no_such_thing")
    with pool.for_writing() as connection:
        assert (one(connection), len(made), made[0].is_closed) == (1, 2, True)
    pool.close()


def test_closing_lets_who_has_a_connection_finish_and_turns_the_others_away(
    database: ladybug.Database,
) -> None:
    pool = connections(database)
    has_one, may_go_on = threading.Event(), threading.Event()

    def ask() -> object:
        with pool.for_writing() as connection:
            has_one.set()
            assert may_go_on.wait(60)
            return one(connection)

    with ThreadPoolExecutor(3) as threads:
        asking = threads.submit(ask)
        assert has_one.wait(60)
        waiting = threads.submit(lambda: pool.for_writing().__enter__())
        closing = threads.submit(pool.close)
        while not pool._is_closed:
            time.sleep(0.001)
        may_go_on.set()
        assert asking.result(60) == 1
        assert isinstance(waiting.exception(60), GraphUnavailableError)
        closing.result(60)
    with pytest.raises(GraphUnavailableError, match="was closed"), pool.for_reading():
        pass


def test_closing_ends_who_does_not_finish(database: ladybug.Database) -> None:
    pool = connections(database, seconds=0.2)
    with pool.for_reading() as connection:
        pool.close()
        pool.close()
        with pytest.raises(RuntimeError, match="is closed"):
            one(connection)


@pytest.mark.parametrize("lent", ["for_writing", "for_reading"])
def test_an_interrupt_at_no_point_takes_a_connection_away(
    database: ladybug.Database, lent: str
) -> None:
    pool = connections(database, seconds=0.05)
    all_of_them = 1 if lent == "for_writing" else READERS_MAX

    def use() -> None:
        with getattr(pool, lent)():
            pass

    assert interrupt_everywhere(use) > 20
    with ExitStack() as stack:
        for _ in range(all_of_them):
            stack.enter_context(getattr(pool, lent)())


NAMED = "RETURN $name AS name"


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that is planned, as often as it is."""
    found: list[str] = []
    prepare = PlanningConnection._prepare

    def counted(self: PlanningConnection, query: str, parameters: dict[str, Any]) -> object:
        found.append(query)
        return prepare(self, query, parameters)

    monkeypatch.setattr(PlanningConnection, "_prepare", counted)
    return found


def ask(pool: EmbeddedConnections, name: object = "x") -> object:
    with pool.for_reading() as connection:
        [row] = connection.rows(NAMED, {"name": name})
    return row["name"]


def test_a_statement_is_planned_once(database: ladybug.Database, planned: list[str]) -> None:
    pool = connections(database)
    assert [ask(pool, f"name {number}") for number in range(50)] == [f"name {n}" for n in range(50)]
    assert planned == [NAMED]
    pool.close()


def test_one_statement_is_planned_at_a_time(
    database: ladybug.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning keeps the interpreter, so threads that plan at once would stop an event loop."""
    prepare, running, most = PlanningConnection._prepare, list[str](), list[int]()

    def slow(self: PlanningConnection, query: str, parameters: dict[str, Any]) -> object:
        running.append(query)
        most.append(len(running))
        time.sleep(0.05)
        running.pop()
        return prepare(self, query, parameters)

    monkeypatch.setattr(PlanningConnection, "_prepare", slow)
    with closing(connections(database)) as pool, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: ask(pool), range(4)))
    assert max(most) == 1 < len(most)


@pytest.mark.parametrize(
    "values",
    [
        [0, 127, 128, 255, 256, 1 << 15, 1 << 16, 1 << 31, 1 << 32, (1 << 63) - 1],
        [-1, -128, -129, -(1 << 15), -(1 << 15) - 1, -(1 << 31), -(1 << 31) - 1, -(1 << 63)],
        [True, 1, 1.5, "1", [1], [1.5], ["1"], [300, 1], [None, "a"]],
    ],
)
def test_a_plan_serves_values_of_its_own_type_only(
    database: ladybug.Database, values: list[object]
) -> None:
    pool = connections(database)
    for value in (*values, *reversed(values)):
        assert (found := ask(pool, value)) == value
        assert type(found) is type(value)
    pool.close()


def test_statements_are_planned_again_as_the_store_grows(
    database: ladybug.Database, planned: list[str]
) -> None:
    pool = connections(database)
    for _ in range(1000):
        ask(pool)
        pool.note_growth(5_000)
    assert 5 < len(planned) < 12
    pool.close()


def test_there_are_never_too_many_plans(
    database: ladybug.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_connections, "_PLANS_MAX", 3)
    pool = connections(database)
    with pool.for_reading() as connection:
        for number in range(20):
            assert connection.rows(f"RETURN $n + {number} AS n", {"n": 1}) == [{"n": 1 + number}]
            assert len(connection._plans) <= 3
    pool.close()


def test_the_plans_that_were_used_last_are_kept(
    database: ladybug.Database, planned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_connections, "_PLANS_MAX", 3)
    pool = connections(database)
    with pool.for_reading() as connection:
        for number in range(20):
            connection.rows("RETURN $n AS often", {"n": 1})
            connection.rows(f"RETURN $n + {number} AS once", {"n": 1})
    assert sum("often" in text for text in planned) == 1
    pool.close()


def test_a_statement_that_cannot_be_planned_is_tried_again(database: ladybug.Database) -> None:
    pool = connections(database)
    text = "MATCH (late:Late {name: $name}) RETURN late.name AS name"
    with pytest.raises(RuntimeError, match="Late"), pool.for_reading() as connection:
        connection.rows(text, {"name": "x"})
    with pool.for_writing() as connection:
        connection.rows("CREATE NODE TABLE Late(name STRING PRIMARY KEY)")
        assert connection.rows(text, {"name": "x"}) == []
    pool.close()


def test_maps_in_a_list_are_kept_as_they_are_whatever_was_planned_before(
    database: ladybug.Database,
) -> None:
    pool = connections(database)
    text = "UNWIND $maps AS each RETURN each.number AS number, each.name AS name"
    with pool.for_reading() as connection:
        for numbers in ([1, 2], [1, 300], [70_000, 1], [-1, 255], [5 << 32]):
            maps = [{"number": number, "name": str(number)} for number in numbers]
            assert connection.rows(text, {"maps": maps}) == maps
    pool.close()


def test_times_come_with_their_zone_and_nulls_as_they_are(database: ladybug.Database) -> None:
    pool = connections(database)
    text = "UNWIND [timestamp('2026-03-09 12:00:00'), NULL] AS at RETURN at, 1 AS number"
    with pool.for_reading() as connection:
        noon = datetime(2026, 3, 9, 12, tzinfo=UTC)
        assert connection.rows(text) == [{"at": noon, "number": 1}, {"at": None, "number": 1}]
    pool.close()


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 600])
def test_all_rows_come_in_their_order_however_many_pages_they_take(
    database: ladybug.Database, size: int
) -> None:
    text = "UNWIND range(1, $size) AS number RETURN number, timestamp('2026-03-09') AS at"
    if not size:
        text = text.replace("RETURN", "WITH number WHERE number < 0 RETURN")
    with closing(PlanningConnection(database)) as connection:
        rows = connection.rows(text, {"size": max(size, 1)})
        columns = connection.columns(text, {"size": max(size, 1)})
    numbers, times = list(range(1, size + 1)), [datetime(2026, 3, 9, tzinfo=UTC)] * size
    assert [(row["number"], row["at"]) for row in rows] == list(zip(numbers, times, strict=True))
    assert columns == ([{"number": numbers, "at": times}] if size else [])
