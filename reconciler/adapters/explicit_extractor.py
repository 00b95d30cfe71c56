"""The extractor that needs no model: it reads requests, and what fills a slot.

It knows which speakers to read, how much their words weigh and how several mentions become one
candidate; ``reconciler.domain.sessions.explicit_statements`` finds the statements. It uses no
network and no file, gives the same result for the same window, and never fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reconciler.domain.records.jobs import WITHOUT_MODEL
from reconciler.domain.records.notes import canonical_text
from reconciler.domain.records.slots import CONTACT_SUBJECT
from reconciler.domain.records.turns import Role
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.domain.values.attributes import AttributeBook

if TYPE_CHECKING:
    from reconciler.domain.sessions.explicit_statements import ExplicitStatement

_IMPORTANCE_REQUESTED, _IMPORTANCE_STATED = 0.8, 0.6
_CONFIDENCE_REQUESTED, _CONFIDENCE_STATED, _CONFIDENCE_HEDGED = 0.95, 0.9, 0.5
"""In this order: for a request, a slot, a hedged statement."""


class ExplicitExtractor:
    """Reads only what the contact asks to be remembered, or what fills a slot.

    Args:
        attributes: the known attributes, for reading slots. None for the few that the
            grammar itself knows.
    """

    name = f"{WITHOUT_MODEL}-v3"

    def __init__(self, attributes: AttributeBook | None = None) -> None:
        self._attributes = attributes or AttributeBook.from_mapping({})

    def extract(self, window: Window) -> Extraction:
        """All candidates in the order in which they were first said; no summary."""
        statements: dict[tuple[str, ...], list[tuple[int, ExplicitStatement]]] = {}
        for number, statement in self._statements(window):
            statements.setdefault(_key(statement), []).append((number, statement))
        return Extraction(candidates=tuple(map(_candidate, statements.values())))

    def close(self) -> None:
        """Nothing to close."""

    def _statements(self, window: Window) -> Iterator[tuple[int, ExplicitStatement]]:
        # Its patterns take 0.03 s to compile, and most processes with a memory read no session.
        from reconciler.domain.sessions.explicit_statements import find_statements

        for number, episode in enumerate(window.episodes, start=1):
            if episode.role is Role.CONTACT and episode.episode_id in window.new_ids:
                for statement in find_statements(episode.text, self._attributes):
                    yield number, statement


def _key(statement: ExplicitStatement) -> tuple[str, ...]:
    """The key of a mention, equal for the same slot and value, or for the same words."""
    if statement.attribute and statement.value:
        about = statement.subject or CONTACT_SUBJECT
        parts = [about, statement.attribute, statement.value]
    else:
        parts = [statement.text]
    return (statement.speech, *(canonical_text(part).casefold() for part in parts))


def _candidate(mentions: list[tuple[int, ExplicitStatement]]) -> Extracted:
    """One candidate for all mentions, in the words of the weightiest, else of the first."""
    best = max(
        (statement for _, statement in mentions),
        key=lambda statement: (_importance(statement), _confidence(statement)),
    )
    citations = dict.fromkeys(
        Citation(episode=number, span=statement.span) for number, statement in mentions
    )
    return Extracted(
        text=best.text,
        category=best.category,
        importance=_importance(best),
        confidence=_confidence(best),
        citations=tuple(citations),
        subject=best.subject,
        attribute=best.attribute,
        value=best.value,
        speech=best.speech,
    )


def _importance(statement: ExplicitStatement) -> float:
    return _IMPORTANCE_REQUESTED if statement.is_request else _IMPORTANCE_STATED


def _confidence(statement: ExplicitStatement) -> float:
    if statement.is_hedged:
        return _CONFIDENCE_HEDGED
    return _CONFIDENCE_REQUESTED if statement.is_request else _CONFIDENCE_STATED
