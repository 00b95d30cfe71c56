"""An invented next step of the schema, as the next release may bring one.

Here: its files, how a process takes them for the shipped ones, and how it stops in the middle of
the step. Never here: what has to hold afterwards.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reconciler import queries
from reconciler.adapters import embedded_rewriting
from reconciler.queries import Statement, load_migrations, newest_schema_version
from reconciler.resources import resource_path

__all__ = ["NEXT", "SHIPPED", "STATEMENTS", "stop_before", "used", "write"]

STEPS = {
    "embedded": """
// A fact has a mood; what was there before is calm.
ALTER TABLE Fact ADD IF NOT EXISTS mood STRING;
CREATE NODE TABLE IF NOT EXISTS Weather(weather_id STRING PRIMARY KEY);
MATCH (fact:Fact) WHERE fact.mood IS NULL SET fact.mood = 'calm';
""",
    "neo4j": """
// A fact has a mood; what was there before is calm.
CREATE INDEX fact_mood IF NOT EXISTS FOR (fact:Fact) ON (fact.mood);
CREATE CONSTRAINT weather_id IF NOT EXISTS
FOR (weather:Weather) REQUIRE weather.weather_id IS UNIQUE;
MATCH (fact:Fact) WHERE fact.mood IS NULL
CALL (fact) { SET fact.mood = 'calm' } IN TRANSACTIONS OF 2 ROWS;
""",
}
STATEMENTS = 3
"""How many each dialect has."""

SHIPPED = newest_schema_version("neo4j")
NEXT = SHIPPED + 1


def write(cypher: Path) -> None:
    """Copy the shipped queries into a folder, with the next step beside the others."""
    shutil.copytree(resource_path("cypher"), cypher)
    for dialect, text in STEPS.items():
        path = cypher / dialect / "migrations" / f"{NEXT:04}_moods.cypher"
        path.write_text(text.lstrip())


@contextmanager
def used(cypher: Path) -> Iterator[None]:
    """Have this process take that folder for the shipped one."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (queries, embedded_rewriting):
            patch.setattr(module, "resource_path", lambda _: cypher)
        load_migrations.cache_clear()
        yield
    load_migrations.cache_clear()


def stop_before(place: int, dialect: str, tell: Callable[[], None]) -> None:
    """Have this process stop for good before that statement of the next step, or after the last.

    Args:
        place: the statement, counted from 0.
        dialect: the engine's.
        tell: is called as soon as it stands still.
    """
    statements = load_migrations(dialect)[-1].statements

    class Stopping(tuple[Statement, ...]):
        def __iter__(self) -> Iterator[Statement]:
            yield from statements[:place]
            tell()
            signal.pause()

    object.__setattr__(load_migrations(dialect)[-1], "statements", Stopping(statements))
