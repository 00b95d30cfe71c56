"""Records over Bolt: the rows of one query under ``cypher/peers``. Reads only. Knows no system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired

from reconciler.adapters.neo4j_reaching import to_check
from reconciler.errors import ConfigurationError, GraphUnavailableError


def neo4j_records(
    uri: str, username: str, password: str, database: str | None, query: Path
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row's ``record`` with its number, counted from 1; times as ISO 8601.

    Raises:
        GraphUnavailableError: the server cannot be reached.
        ConfigurationError: it rejects the user name or password, or cannot be read.
    """
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
