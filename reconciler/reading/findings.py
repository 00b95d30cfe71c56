"""The guard's findings: differences between a note and a fact, each of one kind.

Only the shape of a finding lives here. The finders find differences, and the rule decides what
follows from them.
"""

from __future__ import annotations

from enum import StrEnum

from reconciler.frozen import in_order


class Difference(StrEnum):
    """What kind of difference a finding is.

    ``language`` are words of a text that the guard cannot read, ``unread`` letters that the
    embedding model could not.
    """

    NUMBER = "number"
    AMOUNT = "amount"
    DATE = "date"
    IDENTIFIER = "identifier"
    NAME = "name"
    NEGATION = "negation"
    CESSATION = "cessation"
    ROLES = "roles"
    SUBJECT = "subject"
    WORD = "word"
    DETAIL = "detail"
    LANGUAGE = "language"
    UNREAD = "unread"


@in_order
class Finding:
    """One difference between a note and a fact.

    Attributes:
        kind: what differs.
        in_note: how the note has it; empty if only the fact says something of the kind.
        in_fact: how the fact has it; empty if only the note does.
        is_change: whether both answer the same question differently ("3 tops" and "5 tops"), so
            that they are probably not both true now, even if the rest of the texts differs.
    """

    kind: Difference
    in_note: str
    in_fact: str
    is_change: bool = False

    def __str__(self) -> str:
        """In words, for the record: ``number: 1043 instead of 1042``."""
        if self.in_note and self.in_fact:
            return f"{self.kind}: {self.in_note} instead of {self.in_fact}"
        return (
            f"{self.kind}: {self.in_note}, new"
            if self.in_note
            else f"{self.kind}: no {self.in_fact}"
        )


Findings = tuple[Finding, ...]
