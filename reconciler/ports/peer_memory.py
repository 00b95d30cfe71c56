"""The port to another memory system: its records, as notes that this one can judge.

A reader only translates. It writes nothing, judges nothing, and holds no more than one record.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from reconciler.frozen import Values, in_order

PeerSystem: TypeAlias = Literal["mem0", "graphiti", "neo4j-agent-memory", "langmem"]


@in_order
class Carried:
    """A record that says something about a contact.

    Attributes:
        number: which one it is, counted from 1.
        line: the line of an import that says the same; its times are ISO 8601 with a zone.
    """

    number: int
    line: Values


@in_order
class NotCarried:
    """A record that is left where it is, and why.

    Attributes:
        record: which one it is: its number, and its id where it has one.
        reason: why; the same words for every record of which it is true.
    """

    record: str
    reason: str
