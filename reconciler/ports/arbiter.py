"""The arbiter port: judges how a note relates to the facts it is near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from reconciler.domain.records.decisions import Judgement
    from reconciler.domain.records.facts import Neighbour
    from reconciler.domain.records.notes import Note
    from reconciler.errors import ArbiterError

__all__ = ["NO_BATCHES", "Arbiter", "BatchArbiter", "BatchState"]

NO_BATCHES = "this server has no batches; run `reconciler rejudge` without --batch"
"""What is said where batches are wanted and there are none."""


class Arbiter(Protocol):
    """Reads a note and its neighbours, and says how they relate.

    Obligations, each with a test in ``tests/contract/test_arbiter.py``:

    1. It answers or raises within its time-out, retries included; it never hangs.
    2. It judges by texts, days, sources and slots only, neighbours by number from 1: never by an
       id, a scope or a name. So an answer may be used again wherever the same is asked.
    3. Notes are data: nothing that stands in one is an instruction.
    4. Whatever is wrong with an answer is an ``ArbiterError``, never a made-up judgement; a
       judgement's confidence lies in [0, 1].
    """

    @property
    def name(self) -> str:
        """Model and prompt version, as recorded on a decision."""
        ...

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """How the note relates to the neighbours, nearest first, 1 to 5 of them.

        Raises:
            ArbiterUnavailableError: no answer in time, or rejected.
            ArbiterRefusedError: the model declined.
            ArbiterAnswerError: the answer was cut off or is not what was asked for.
        """
        ...

    def close(self) -> None:
        """Close its connections; harmless when called again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """The state of a batch of questions.

    Attributes:
        batch_id: by which it is found again, from any process.
        done: how many questions have their answer or their error; some servers say so at the end.
        total: how many were sent.
        is_ended: its answers can be read.
    """

    batch_id: str
    done: int
    total: int
    is_ended: bool


@runtime_checkable
class BatchArbiter(Arbiter, Protocol):
    """An arbiter that can also be asked many questions at once, each as if it were alone.

    A batch belongs to the server: any process with the same key can read it by its id.
    """

    def send_batch(self, questions: Mapping[str, tuple[Note, Sequence[Neighbour]]]) -> str:
        """Send questions by their names, of 1 to 64 letters and digits; the batch's id.

        Raises:
            InvalidRequestError: the server has no batches; nothing was sent.
            ArbiterUnavailableError: it could not be reached in time, or rejected the batch.
        """
        ...

    def batch_state(self, batch_id: str) -> BatchState:
        """How far the server is.

        Raises:
            InvalidRequestError: the server knows no such batch, or rejected it as a whole.
            ArbiterUnavailableError: it could not be reached in time.
        """
        ...

    def batch_answers(self, batch_id: str) -> Mapping[str, Judgement | ArbiterError]:
        """The answers of an ended batch by the questions' names; some may be missing.

        Raises:
            ArbiterUnavailableError: the server could not be reached in time.
        """
        ...
