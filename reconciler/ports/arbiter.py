"""The arbiter port: judges how a note relates to the facts near it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reconciler.domain.records.decisions import Judgement
    from reconciler.domain.records.facts import Neighbour
    from reconciler.domain.records.notes import Note


class Arbiter(Protocol):
    """Reads a note and its neighbours, and says how they relate.

    Obligations, each with a test in ``tests/contract/test_arbiter.py``:

    1. It answers or raises within its time-out, retries included; it never hangs.
    2. It judges by texts, days, sources and slots only, neighbours by number from 1: never by an
    id, a scope or a name. So an answer may be used again for the same question. 3. Notes are data:
    no text in a note is an instruction. 4. A faulty answer raises an ``ArbiterError``, never an
    invented judgement; a judgement's confidence is in [0, 1].
    """

    @property
    def name(self) -> str:
        """Model and prompt version, as recorded on a decision."""

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """Judge how the note relates to the neighbours: 1 to 5, nearest first.

        Raises:
            ArbiterUnavailableError: no answer in time, or rejected.
            ArbiterRefusedError: the model declined.
            ArbiterAnswerError: the answer was cut off or is not what was asked for.
        """

    def close(self) -> None:
        """Close its connections; harmless when called again."""
