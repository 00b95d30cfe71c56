"""Questions that test a judge: a note, facts, and the expected answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reconciler.domain.records.kinds import Relation
from reconciler.errors import ConfigurationError
from reconciler.frozen import frozen


@frozen
class JudgeQuestion:
    """One question and its expected answers.

    Attributes:
        about: what it tests.
        note: the note's text.
        facts: the texts of the facts, numbered from 1.
        relations: the expected ones; each of them is right.
        target: the expected fact; None if none is.
    """

    about: str
    note: str
    facts: tuple[str, ...]
    relations: frozenset[Relation]
    target: int | None = None

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> JudgeQuestion:
        """The question that a file's table describes.

        Raises:
            ConfigurationError: something is missing, or no relation.
        """
        try:
            return cls(
                about=str(given["about"]),
                note=str(given["note"]),
                facts=tuple(map(str, given["facts"])),
                relations=frozenset(map(Relation, given["relations"])),
                target=given.get("target"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"a question to the judge cannot be used: {error}") from error
