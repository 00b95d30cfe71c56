"""Writing an embedded store again, table by table, because the engine itself never frees a byte.

An overwritten text stays in the main file, even after a checkpoint: the engine does not vacuum, and
the output of its EXPORT DATABASE cannot be imported. This module copies the contents into a new
store. Never here: which store is open, and who may use it during the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from reconciler.adapters.embedded_connections import PlanningConnection
from reconciler.frozen import in_order
from reconciler.queries import load_migrations
from reconciler.resources import resource_path

_ENGINE = "embedded"
_OF_NEXT_MODEL = "next_embedding"


@in_order
class _Table:
    """One table: its name, a pattern that finds its rows, and their values.

    The values are in the order of the new store's columns; those of a link come after the keys of
    the nodes that it joins. Each value has its own name there, because columns may share a name, or
    be called like a keyword.
    """

    name: str
    pattern: str
    values: Sequence[str]

    def text(self, name: str, file: Path | None = None) -> str:
        """A statement of ``cypher/embedded/rewriting`` for this table."""
        columns = [f"{value} AS column_{place}" for place, value in enumerate(self.values)]
        quoted = str(file).replace("\\", "\\\\").replace("'", "\\'")
        return _statement(name).format(
            table=self.name, pattern=self.pattern, columns=", ".join(columns), file=quoted
        )


def copy_store(
    old: PlanningConnection,
    new: PlanningConnection,
    folder: Path,
    *,
    each_part: Callable[[Path], None],
) -> None:
    """Copy the schema and all rows; nodes first, because links join them.

    Args:
        old: a connection to the store to copy, at the newest schema.
        new: a connection to an empty store.
        folder: holds one table at a time, in a temporary file.
        each_part: called with each file of the copy, which holds every text unchanged: the files of
            the schema, with the names in the store, and those of the tables.

    Raises:
        RuntimeError: a table was not copied whole.
    """
    for migration in (resource_path("cypher") / _ENGINE / "migrations").glob("*.cypher"):
        each_part(migration)
    _make_schema(old, new)
    file = folder / "table.parquet"
    for table in sorted(_tables(new), key=lambda table: "->" in table.pattern):
        if rows := _count(old, table):
            old.rows(table.text("copy_out", file))
            each_part(file)
            new.rows(table.text("copy_in", file))
            file.unlink()
        if rows and _count(new, table) != rows:
            raise RuntimeError(f"IO exception: only a part of table {table.name} was copied")


def _make_schema(old: PlanningConnection, new: PlanningConnection) -> None:
    [store] = old.rows(_statement("find_dimension"))
    dimension = str(max(int(store["dimension"]), 1))
    new.rows("BEGIN TRANSACTION")  # a commit for each would wait for the disk
    for migration in load_migrations(_ENGINE):
        for statement in migration.statements:
            new.rows(statement.text.replace("{embedding_dimension}", dimension))
    for row in old.rows("CALL table_info('Fact') RETURN *"):
        if row["name"] == _OF_NEXT_MODEL:  # as long as the next model's, while the store moves
            new.rows(_statement("drop_next_vectors"))
            new.rows(_statement("add_next_vectors").format(type=row["type"]))
    new.rows("COMMIT")


def _tables(connection: PlanningConnection) -> Iterator[_Table]:
    for row in connection.rows("CALL show_tables() RETURN name, type"):
        name = str(row["name"])
        told = connection.rows(f"CALL table_info('{name}') RETURN *")
        own = [f"row.`{column['name']}`" for column in told]
        if row["type"] == "NODE":
            yield _Table(name, f"(row:`{name}`)", own)
        else:
            [joined] = connection.rows(f"CALL show_connection('{name}') RETURN *")
            one, other, one_key, other_key = map(str, joined.values())
            pattern = f"(one:`{one}`)-[row:`{name}`]->(other:`{other}`)"
            yield _Table(name, pattern, [f"one.`{one_key}`", f"other.`{other_key}`", *own])


def _count(connection: PlanningConnection, table: _Table) -> int:
    [row] = connection.rows(table.text("count"))
    return int(row["rows"])


@cache
def _statement(name: str) -> str:
    path = resource_path("cypher") / _ENGINE / "rewriting" / f"{name}.cypher"
    return path.read_text(encoding="utf-8")
