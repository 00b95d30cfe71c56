"""Batches of structured calls: many independent questions at once, answered within a day.

Here: what a batch needs beyond a single call: more time, whether the server has batches at all,
and that one answer that cannot be read spoils no other. Never here: a vendor's protocol.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, cast

from reconciler.adapters.structured_calls import (
    AnswerT,
    BatchClient,
    Batched,
    BatchVendor,
    Client,
    Connection,
    Question,
    ResultT,
    StructuredCalls,
)
from reconciler.domain.records.decisions import Usage
from reconciler.errors import ArbiterError, InvalidRequestError
from reconciler.ports.arbiter import NO_BATCHES, BatchState

__all__ = ["BatchCalls"]

_TIMEOUT_SECONDS = 600.0
"""For one request about a batch: its questions or answers have at most some 100 MB."""

_NOT_THERE = {404, 405, 501}


class BatchCalls(StructuredCalls[AnswerT]):
    """Asks one question about many data at once; opens nothing before the first call.

    An answer that cannot be read is not asked for again: the question stays open.
    """

    def __init__(
        self, vendor: BatchVendor, connection: Connection, question: Question[AnswerT]
    ) -> None:
        super().__init__(vendor, replace(connection, timeout_seconds=_TIMEOUT_SECONDS), question)

    def send(self, questions: Mapping[str, Mapping[str, Any]]) -> str:
        """Send the data of each question under its name; return the batch's id.

        Raises:
            InvalidRequestError: the server has no batches; no question was sent.
            ArbiterError: one of the question's ``failures``.
        """
        self.call(lambda client: self._found(_batching(client).check_batches(), NO_BATCHES))
        return self.call(lambda client: _batching(client).send_batch(questions))

    def state(self, batch_id: str) -> BatchState:
        """The state of the batch at the server.

        Raises:
            InvalidRequestError: the server knows no such batch, or rejected it as a whole.
            ArbiterError: one of the question's ``failures``.
        """
        unknown = f"this server knows no batch {batch_id}"
        return self.call(
            lambda client: self._found(_batching(client).batch_state(batch_id), unknown)
        )

    def answers(self, batch_id: str) -> dict[str, tuple[AnswerT, Usage | None] | ArbiterError]:
        """The answers, or the errors in their place, by the questions' names.

        Raises:
            ArbiterError: one of the question's ``failures``.
        """
        return self.call(lambda client: self._answers(_batching(client), batch_id))

    async def _found(self, work: Coroutine[Any, Any, ResultT], otherwise: str) -> ResultT:
        try:
            return await work
        except self._vendor.errors().status as error:
            status: Any = error
            if status.status_code in _NOT_THERE:
                raise InvalidRequestError(otherwise) from error
            raise

    async def _answers(
        self, client: BatchClient, batch_id: str
    ) -> dict[str, tuple[AnswerT, Usage | None] | ArbiterError]:
        replies = await client.batch_replies(batch_id)
        return {each.name: self._answer(each, client) for each in replies}

    def _answer(
        self, batched: Batched, client: BatchClient
    ) -> tuple[AnswerT, Usage | None] | ArbiterError:
        try:
            with self._translated_errors():
                if batched.reply is None:
                    raise self._failures.unavailable(batched.fault, None)
                reply = client.read(batched.reply)
                return self._read(reply), reply.usage
        except ArbiterError as error:
            return error


def _batching(client: Client) -> BatchClient:
    """The client as a batch client: a batch vendor opens no other kind."""
    return cast("BatchClient", client)
