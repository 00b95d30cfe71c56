"""The port of whatever finds personal data and secrets in a text. Finds, never changes or keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reconciler.reading.sensitive_data import SensitiveSpan


class SensitiveDataFinder(Protocol):
    """Finds what must not be written as it stands.

    Obligations:
        1. Spans lie within the text, are not empty, do not overlap, and come in order.
        2. The same text gives the same spans, on any thread, without a network.
        3. Nothing of a text is kept or logged.
    """

    def find(self, text: str) -> list[SensitiveSpan]:
        """Sensitive spans of a text, first to last; empty where there are none."""
