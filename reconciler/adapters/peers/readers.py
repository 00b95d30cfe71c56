"""The systems that can be imported, and the reader of each: a file, its database, or either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from reconciler.adapters.peers import graphiti, langmem, mem0, neo4j_agent_memory
from reconciler.adapters.peers.json_records import json_records
from reconciler.adapters.peers.translating import Record, Translation
from reconciler.domain.records.choices import excerpt
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.ports.peer_memory import Carried, NotCarried, PeerMemory
from reconciler.resources import resource_path

SYSTEMS: Mapping[str, ModuleType] = {
    "mem0": mem0,
    "graphiti": graphiti,
    "neo4j-agent-memory": neo4j_agent_memory,
    "langmem": langmem,
}
_BYTES_MAX = 512 << 20
_IN_NEO4J = ("graphiti", "neo4j-agent-memory")
_SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")


@frozen
class Login:
    """The login of a Neo4j that is read."""

    username: str = "neo4j"
    password: str = ""
    database: str | None = None


@frozen
class _Reader:
    """A source of one system."""

    system: str
    source: str
    login: Login
    how: Translation

    def records(self) -> Iterator[Carried | NotCarried]:
        """As ``PeerMemory.records``."""
        module = SYSTEMS[self.system]
        for number, values in self._values():
            record = Record(
                system=self.system, number=number, values=values, identity=module.identity(values)
            )
            yield module.translate(record, self.how)

    def _values(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if self.source.startswith(_SCHEMES):
            yield from self._from_neo4j()
            return
        if "://" in self.source:
            in_neo4j = ", or as the URI of its Neo4j, such as neo4j://127.0.0.1:7687"
            raise InvalidRequestError(
                f"{self.source} cannot be read: give {self.system}'s records as an export file"
                f"{in_neo4j if self.system in _IN_NEO4J else ''} (docs/importing.md)"
            )
        file = Path(self.source)
        try:
            with file.open("rb") as stream:
                content = stream.read(_BYTES_MAX + 1)
        except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
            raise InvalidRequestError(f"{file} cannot be read: {error}") from error
        if len(content) > _BYTES_MAX:
            raise InvalidRequestError(
                f"{file} has more than {_BYTES_MAX >> 20} MiB, at most so many are read; split it"
            )
        if content.startswith(b"SQLite format 3"):
            raise InvalidRequestError(
                f"{file} is an SQLite file: write its records as lines first (docs/importing.md); "
                "nothing was imported"
            )
        yield from json_records(content)

    def _from_neo4j(self) -> Iterator[tuple[int, dict[str, Any]]]:
        from reconciler.adapters.peers.neo4j_records import neo4j_records

        if self.system not in _IN_NEO4J:
            raise InvalidRequestError(f"{self.system} is not read from Neo4j; give a file")
        if "@" in self.source:
            raise InvalidRequestError(
                "a URI must not hold a user name or a password; give username and password"
            )
        query = resource_path("cypher") / "peers" / f"{self.system.replace('-', '_')}.cypher"
        login = self.login
        yield from neo4j_records(self.source, login.username, login.password, login.database, query)


def open_peer(system: str, source: str, *, how: Translation, login: Login) -> PeerMemory:
    """A reader of a source; it opens the source at the first record.

    Args:
        system: one of ``SYSTEMS``.
        source: a file, or the URI of a Neo4j.
        how: the operator's choices; an empty ``contact_from`` means the system's own key.
        login: the login for its Neo4j.

    Raises:
        InvalidRequestError: no such system is known.
    """
    if not isinstance(system, str) or system not in SYSTEMS:
        raise InvalidRequestError(
            f"there is no system {excerpt(system)}; use one of {', '.join(SYSTEMS)}"
        )
    if not how.contact_from:
        how = replace(how, contact_from=SYSTEMS[system].CONTACT_FROM)
    return _Reader(system=system, source=source, login=login, how=how)
