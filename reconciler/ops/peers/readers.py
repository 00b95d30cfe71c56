"""The systems that can be imported, and the reader of each: a file, its database, or either."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reconciler.domain.records.notes import NOT_UTF_8, excerpt
from reconciler.errors import ConfigurationError, GraphUnavailableError, InvalidRequestError
from reconciler.frozen import frozen, in_order
from reconciler.ops.peers.systems import SYSTEMS
from reconciler.ops.peers.translating import Record, Translation
from reconciler.ports.peer_memory import Carried, NotCarried, PeerMemory
from reconciler.resources import resource_path

_BYTES_MAX = 512 << 20
_IN_NEO4J = ("graphiti", "neo4j-agent-memory")
_SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")

_LISTS = ("results", "memories", "items")
"""The keys under which an object may hold the records."""

_BLANK = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


Numbered = Iterator[tuple[int, dict[str, Any]]]
"""Records, each with its number, counted from 1."""


@frozen
class Login:
    """The login of a Neo4j that is read."""

    username: str = "neo4j"
    password: str = ""
    database: str | None = None


@in_order
class _Reader:
    """A source of one system."""

    system: str
    source: str
    login: Login
    how: Translation

    def records(self) -> Iterator[Carried | NotCarried]:
        """As ``PeerMemory.records``."""
        system = SYSTEMS[self.system]
        for number, values in self._values():
            record = Record(self.system, number, values, system.identity(values))
            yield system.translate(record, self.how)

    def _values(self) -> Numbered:
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
                f"{file} has more than {_BYTES_MAX >> 20} MiB, the most that is read; split it"
            )
        if content.startswith(b"SQLite format 3"):
            raise InvalidRequestError(
                f"{file} is an SQLite file: write its records as lines first (docs/importing.md); "
                "nothing was imported"
            )
        yield from json_records(content)

    def _from_neo4j(self) -> Numbered:
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
        how = replace(how, contact_from=SYSTEMS[system].contact_from)
    return _Reader(system, source, login, how)


def json_records(content: bytes) -> Numbered:
    """Each record with its number, counted from 1.

    Args:
        content: UTF-8, with or without a byte order mark.

    Raises:
        InvalidRequestError: it is not JSON, is cut off, or a record is no object.
    """
    number = 0
    try:
        for record in _records(content.decode("utf-8-sig").strip()):
            number += 1
            yield number, record
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{NOT_UTF_8}; nothing was imported") from error
    except (ValueError, TypeError, RecursionError) as error:
        told = f"record {number + 1} cannot be read, or the file is cut off: {error}"
        raise InvalidRequestError(f"{told}; nothing was imported") from error


def _records(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    while at < len(text):
        value, end = _DECODER.raw_decode(text, at)
        at = next(_BLANK.finditer(text, end)).end()
        held = [value.get(name) for name in _LISTS] if isinstance(value, dict) else [value]
        for record in next((each for each in held if isinstance(each, list)), [value]):
            if not isinstance(record, dict):
                raise TypeError(f"a record is a JSON object, not {type(record).__name__}")
            yield record


def neo4j_records(
    uri: str, username: str, password: str, database: str | None, query: Path
) -> Numbered:
    """Each row's ``record`` with its number, counted from 1; times as ISO 8601.

    Raises:
        GraphUnavailableError: the server cannot be reached.
        ConfigurationError: it rejects the user name or password, or cannot be read.
    """
    import neo4j
    from neo4j.exceptions import (
        AuthError,
        DriverError,
        Neo4jError,
        ServiceUnavailable,
        SessionExpired,
    )

    from reconciler.adapters.neo4j_drivers import to_check

    text = query.read_text(encoding="utf-8")
    try:
        with (
            neo4j.GraphDatabase.driver(
                uri, auth=(username, password), notifications_min_severity="OFF"
            ) as driver,
            driver.session(database=database, default_access_mode=neo4j.READ_ACCESS) as session,
        ):
            for number, row in enumerate(session.run(text), start=1):
                yield number, {name: _as_text(value) for name, value in row["record"].items()}
    except AuthError as error:
        raise ConfigurationError(f"{uri} rejected the user name or password") from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise GraphUnavailableError(
            f"Neo4j at {uri} cannot be reached; {to_check(uri, 'the URI', error)}"
        ) from error
    except (DriverError, Neo4jError, ValueError) as error:
        raise ConfigurationError(f"{uri} cannot be read: {error}") from error


def _as_text(value: Any) -> Any:
    return value.iso_format() if hasattr(value, "iso_format") else value
