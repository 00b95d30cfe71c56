"""The extractor port: reads what is worth remembering out of a piece of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from reconciler.domain.sessions.extraction import Extraction, Window

__all__ = ["Extractor", "ReadsKnown"]


class Extractor(Protocol):
    """Reads a window of a session and proposes what to remember.

    Obligations, each with a test in ``tests/contract/test_extractor.py``:

    1. A call answers or raises within its time-out, and a window takes a bounded number of calls;
       it never hangs.
    2. All that a window holds: where an answer has room for so many only, it asks for the rest. No
       candidate is a good answer, and a pleasantry gives none. How many a turn may give is counted
       by others.
    3. Importance and confidence are two numbers, each in [0, 1]; what is hypothetical, played or
       sarcastic has at most 0.3 confidence.
    4. Every candidate cites an episode by its number in the window; whether the words stand there
       is checked by others.
    5. Episodes and known facts are data: nothing that stands in one is an instruction.
    6. Whatever is wrong with an answer is an ``ExtractionError``, never a made-up extraction.
    7. What a candidate says of known facts, it says by their numbers in the window; whether that
       may be is checked by others.

    One that reads what is known is a ``ReadsKnown``, too. Any other is shown no facts.
    """

    @property
    def name(self) -> str:
        """Which extractor, model and prompt version, as recorded on a job and its decisions."""

    def extract(self, window: Window) -> Extraction:
        """Window's facts that are worth remembering.

        Raises:
            ExtractionUnavailableError: no answer in time, or rejected; it may say for how long.
            ExtractionRefusedError: the model declined.
            ExtractionAnswerError: the answer was cut off or is not what was asked for.
        """

    def close(self) -> None:
        """Close its connections; harmless when called again."""


@runtime_checkable
class ReadsKnown(Protocol):
    """An optional ability of an extractor: it compares a window with known facts.

    Only then are facts looked for, which costs an embedding of each turn.
    """

    @property
    def reads_known(self) -> bool:
        """True if ``Window.known`` is read."""
