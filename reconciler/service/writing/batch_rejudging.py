"""Rejudging in batches: sends all waiting questions at once, at half the price.

The rejudging is the ordinary one, with its checks and its decisions; only the answers come from
batches. This module keeps nothing about a batch: an answer comes back under the digest of its
question, so any process with the batch's id continues where another one ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.scope import Scope
from reconciler.errors import ArbiterAnswerError, ArbiterError, ArbiterUnavailableError
from reconciler.ports.arbiter import BatchArbiter, BatchState
from reconciler.service.writing.arbitration import Arbitration, Opinion, question_key
from reconciler.service.writing.rejudging import Rejudged, Rejudging, Upheld

__all__ = ["REQUESTS_MAX", "BatchRejudging"]

REQUESTS_MAX = 5_000
"""Questions in a batch; the others wait for the next.

Source: Anthropic takes 100,000 requests or 256 MB, OpenAI 50,000 or 200 MB. A question has some 12
kB, prompt and schema included, and with the longest texts three times that. Each question is alone:
in one prompt with others its answer would depend on them.
"""

_PAUSE_SECONDS, _PAUSE_SECONDS_MAX = 1.0, 60.0

_FAULTS_MAX = 10
"""Failed requests in a row while a batch is waited for: about ten minutes."""

_UNANSWERED = ArbiterAnswerError("the batch came back without an answer to it")


class BatchRejudging:
    """Asks an arbiter about decisions that it did not answer, many at once.

    Args:
        rejudging: finds the questions, and makes decisions of the answers.
        arbitration: the checks of an answer. Its budget does not count here.
        arbiter: the arbiter, which takes batches.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        rejudging: Rejudging,
        arbitration: Arbitration,
        arbiter: BatchArbiter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rejudging = rejudging
        self._arbitration = arbitration
        self._arbiter = arbiter
        self._clock = clock

    def run(
        self,
        scopes: Sequence[Scope],
        *,
        batch_id: str | None,
        wait_hours: float,
        on_wait: Callable[[BatchState], None],
    ) -> Iterator[Rejudged]:
        """The result of each unjudged decision; those that stay unjudged come last.

        Args:
            scopes: the contacts.
            batch_id: a batch that was sent before; None for none.
            wait_hours: how long to wait, for all batches together.
            on_wait: called with the state of each batch, when it is sent and while it runs.
        """
        ends_at = self._clock() + wait_hours * 3600
        answers = _Answers(self._arbitration)
        while True:
            if batch_id is not None:
                answers.known.update(self._awaited(batch_id, ends_at, on_wait))
            unjudged = []
            for rejudged in self._rejudging.run_by(answers.find, scopes):
                if rejudged.became is Upheld.UNJUDGED:
                    unjudged.append(rejudged)
                else:
                    yield rejudged
            if not answers.wanted:
                yield from unjudged
                return
            batch_id = self._arbiter.send_batch(answers.wanted)
            total = answers.mark_as_sent()
            on_wait(BatchState(batch_id=batch_id, done=0, total=total, is_ended=False))

    def _awaited(
        self, batch_id: str, ends_at: float, on_wait: Callable[[BatchState], None]
    ) -> Mapping[str, Judgement | ArbiterError]:
        """The batch's answers, once it has ended."""
        pause, faults = _PAUSE_SECONDS, _FAULTS_MAX  # a wrong id is told at once
        while True:
            try:
                state = self._arbiter.batch_state(batch_id)
                on_wait(state)
                if state.is_ended:
                    return self._arbiter.batch_answers(batch_id)
                faults = 0
            except ArbiterError as error:
                faults += 1
                if faults > _FAULTS_MAX:
                    raise _kept(batch_id, str(error)) from error
            left = ends_at - self._clock()
            if left <= 0:
                raise _kept(batch_id, "the batch is not done in time")
            if self._arbitration.pause(min(pause, left)):
                raise _kept(batch_id, "closed while it was waited for")
            pause = min(2 * pause, _PAUSE_SECONDS_MAX)


class _Answers:
    """The answers of all batches so far, and the questions for the next."""

    def __init__(self, arbitration: Arbitration) -> None:
        self._arbitration = arbitration
        self.known: dict[str, Judgement | ArbiterError] = {}
        self.wanted: dict[str, tuple[Note, Sequence[Neighbour]]] = {}

    def find(self, note: Note, neighbours: Sequence[Neighbour]) -> Opinion:
        """The answer; if there is none yet, the question goes into the next batch."""
        name = question_key(self._arbitration.name, note, neighbours).hex()
        if (answer := self.known.get(name)) is not None:
            return self._arbitration.examined(answer, len(neighbours))
        if len(self.wanted) < REQUESTS_MAX:
            self.wanted[name] = (note, neighbours)
        return Opinion(error="it waits for the next batch")

    def mark_as_sent(self) -> int:
        """Forget the texts of the questions that were sent; return their number."""
        sent, self.wanted = self.wanted, {}
        self.known.update(dict.fromkeys(sent, _UNANSWERED))
        return len(sent)


def _kept(batch_id: str, why: str) -> ArbiterUnavailableError:
    return ArbiterUnavailableError(
        f"{why}; the server keeps what it was sent: take the batch {batch_id} up again by its id"
    )
