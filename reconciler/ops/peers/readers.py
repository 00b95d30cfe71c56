"""Imports the records of another memory system, oldest first, through gate and reconciler.

The readers of each system are here: of a file, of its database, or of both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from reconciler.domain.records.notes import NOT_UTF_8, excerpt
from reconciler.errors import ConfigurationError, GraphUnavailableError, InvalidRequestError
from reconciler.frozen import Json, StringMap, in_order
from reconciler.ops.peers.systems import SYSTEMS, Record, Translation
from reconciler.ports.peer_memory import Carried, NotCarried
from reconciler.resources import resource_path
from reconciler.service.writing.note_import import ImportReport, NoteImport

_BYTES_MAX = 512 << 20
_IN_NEO4J = ("graphiti", "neo4j-agent-memory")
_SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")

_LISTS = ("results", "memories", "items")
"""The keys under which an object may hold the records."""

_BLANK = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


Numbered = Iterator[tuple[int, Json]]
"""Records, each with its number, counted from 1."""


@in_order
class Login:
    """The login of the Neo4j to read from."""

    username: str
    password: str
    database: str | None


def peer_records(
    system: str, source: str, how: Translation, login: Login
) -> Iterator[Carried | NotCarried]:
    """Read the records of another memory system, in any order, one at a time.

    Args:
        system: one of ``SYSTEMS``.
        source: the path of a file or the URI of the system's Neo4j.
        how: the operator's choices; an empty ``contact_from`` means the system's own key.
        login: the login for its Neo4j.

    Raises:
        InvalidRequestError: the system is unknown, the source is no export of that system or is cut
            off, or a record does not name its owner; the message says which record.
        ConfigurationError: the database cannot be reached.
    """
    if not isinstance(system, str) or system not in SYSTEMS:
        raise InvalidRequestError(
            f"there is no system {excerpt(system)}; use one of {', '.join(SYSTEMS)}"
        )
    known = SYSTEMS[system]
    if not how.contact_from:
        how = replace(how, contact_from=known.contact_from)
    for number, values in _values(system, source, login):
        yield known.translate(Record(system, number, values, known.identity(values)), how)


def _values(system: str, source: str, login: Login) -> Numbered:
    if source.startswith(_SCHEMES):
        if system not in _IN_NEO4J:
            raise InvalidRequestError(f"{system} cannot be read from Neo4j; give a file")
        if "@" in source:
            raise InvalidRequestError(
                "a URI must not hold a user name or a password; give username and password"
            )
        query = resource_path("cypher") / "peers" / f"{system.replace('-', '_')}.cypher"
        return neo4j_records(source, login, query)
    if "://" in source:
        in_neo4j = ", or as the URI of its Neo4j, such as neo4j://127.0.0.1:7687"
        raise InvalidRequestError(
            f"{source} cannot be read: give {system}'s records as an export file"
            f"{in_neo4j if system in _IN_NEO4J else ''} (docs/importing.md)"
        )
    file = Path(source)
    try:
        with file.open("rb") as stream:
            content = stream.read(_BYTES_MAX + 1)
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        raise InvalidRequestError(f"{file} cannot be read: {error}") from error
    if len(content) > _BYTES_MAX:
        raise InvalidRequestError(
            f"{file} has more than {_BYTES_MAX >> 20} MiB, which is the limit; split it"
        )
    return json_records(content)


def json_records(content: bytes) -> Numbered:
    """Read each record with its number, counted from 1.

    Args:
        content: UTF-8, with or without a byte order mark.

    Raises:
        InvalidRequestError: the content is not JSON, is cut off, or a record is no object.
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


def _records(text: str) -> Iterator[Json]:
    at = 0
    while at < len(text):
        value, end = _DECODER.raw_decode(text, at)
        at = next(_BLANK.finditer(text, end)).end()
        held = [value.get(name) for name in _LISTS] if isinstance(value, dict) else [value]
        for record in next((each for each in held if isinstance(each, list)), [value]):
            if not isinstance(record, dict):
                raise TypeError(f"a record is a JSON object, not {type(record).__name__}")
            yield record


def neo4j_records(uri: str, login: Login, query: Path) -> Numbered:
    """Read each row's ``record`` with its number, counted from 1; times as ISO 8601.

    Raises:
        GraphUnavailableError: the server cannot be reached.
        ConfigurationError: the server rejects the user name or password, or cannot be read.
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
                uri, auth=(login.username, login.password), notifications_min_severity="OFF"
            ) as driver,
            driver.session(
                database=login.database, default_access_mode=neo4j.READ_ACCESS
            ) as session,
        ):
            for number, row in enumerate(session.run(text), start=1):
                record = {
                    name: value.iso_format() if hasattr(value, "iso_format") else value
                    for name, value in row["record"].items()
                }
                yield number, record
    except AuthError as error:
        raise ConfigurationError(f"{uri} rejected the user name or password") from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise GraphUnavailableError(
            f"Neo4j at {uri} cannot be reached; {to_check(uri, 'the URI', error)}"
        ) from error
    except (DriverError, Neo4jError, ValueError) as error:
        raise ConfigurationError(f"{uri} cannot be read: {error}") from error


_SOURCE = "peer"


def import_records(
    note_import: NoteImport,
    records: Iterable[Carried | NotCarried],
    defaults: StringMap,
    on_progress: Callable[[int], None],
) -> ImportReport:
    """Import the records of another memory system; run again, it adds only new ones.

    A record is recognised by its id in the other system and its time, not by the export that holds
    it. So the next day's export adds only new records.

    Args:
        note_import: imports every note.
        records: the records of the other system.
        defaults: ``tenant`` and ``agent_id`` of all notes.
        on_progress: called with how many more records were processed.

    Raises:
        InvalidRequestError, ConfigurationError: the source cannot be read to its end; nothing was
            written.
        GraphUnavailableError, EmbeddingError: notes written until then are kept; run again.
    """
    left_out, notes = ImportReport(), dict[str, tuple[bool, str, int]]()
    for record in records:
        if isinstance(record, Carried):
            text = json.dumps(dict(record.line), ensure_ascii=False, sort_keys=True)
            began = record.line.get("valid_from") or record.line.get("said_at") or ""
            notes.setdefault(text, ("valid_to" in record.line, began, record.number))
        else:
            left_out.leave_out(record.reason, record.record)
            on_progress(1)
    # What holds comes first, so that what is past is put beneath the facts that followed it.
    lines = sorted(notes, key=notes.__getitem__)
    report = note_import.run(lines, defaults, on_progress, _SOURCE)
    for place, error in enumerate(report.errors):
        *_, number = notes[lines[error.line_number - 1]]
        report.errors[place] = replace(error, line_number=number)
    report.not_carried |= left_out.not_carried
    return report
