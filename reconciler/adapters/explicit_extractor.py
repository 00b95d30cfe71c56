"""The extractor that needs no model: it reads requests, and statements that fill a slot.

This module knows which speakers to read, and how much their words weigh.
``reconciler.domain.sessions.explicit_statements`` finds the statements; the reader of the session
makes one claim out of several mentions. It uses no network and no file, gives the same result for
the same window, and never fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reconciler.domain.records.candidates import Role
from reconciler.domain.records.sessions import WITHOUT_MODEL
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.domain.values.attributes import AttributeBook

if TYPE_CHECKING:
    from reconciler.domain.sessions.explicit_statements import ExplicitStatement

_REQUESTED, _STATED = 0.8, 0.6
"""The importance of a request, and of any other statement."""

_CONFIDENCE_REQUESTED, _CONFIDENCE_STATED, _CONFIDENCE_HEDGED = 0.95, 0.9, 0.5
"""The confidence of a request, of a slot and of a hedged statement, in this order."""


class ExplicitExtractor:
    """Reads only statements that the contact asks to remember, or that fill a slot.

    Args:
        attributes: the known attributes, for reading slots. None for the few attributes that the
            grammar itself knows.
    """

    name = f"{WITHOUT_MODEL}-v3"

    def __init__(self, attributes: AttributeBook | None = None) -> None:
        self._attributes = attributes or AttributeBook.from_mapping({})

    def extract(self, window: Window) -> Extraction:
        """A candidate for each statement, in their order; no summary."""
        return Extraction(candidates=tuple(self._candidates(window)))

    def close(self) -> None:
        """Nothing to close."""

    def _candidates(self, window: Window) -> Iterator[Extracted]:
        # Its patterns take 0.03 s to compile, and most processes with a memory read no session.
        from reconciler.domain.sessions.explicit_statements import find_statements

        for number, episode in enumerate(window.episodes, start=1):
            if episode.role is Role.CONTACT and episode.episode_id in window.new_ids:
                for said in find_statements(episode.text, self._attributes):
                    yield Extracted(
                        text=said.text,
                        category=said.category,
                        importance=_REQUESTED if said.is_request else _STATED,
                        confidence=_confidence(said),
                        citations=(Citation(episode=number, span=said.span),),
                        subject=said.subject,
                        attribute=said.attribute,
                        value=said.value,
                        speech=said.speech,
                    )


def _confidence(statement: ExplicitStatement) -> float:
    if statement.is_hedged:
        return _CONFIDENCE_HEDGED
    return _CONFIDENCE_REQUESTED if statement.is_request else _CONFIDENCE_STATED
