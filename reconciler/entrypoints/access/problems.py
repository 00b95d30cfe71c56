"""Problems: a client's view of an error, as problem details (RFC 9457). Pure.

An error about the client's input says what to do. Any other error is reported without a path, an
address or a cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from http import HTTPStatus
from typing import Any

from reconciler.entrypoints.access.grants import NotGrantedError
from reconciler.errors import (
    CredentialsRefusedError,
    ErasedError,
    IllegalMemoryOperationError,
    InvalidAnswerError,
    InvalidRequestError,
    ReconcilerError,
    RevertRefusedError,
    UnknownContactError,
    UnknownDecisionError,
    UnknownFactError,
    UnknownJobError,
    UnknownTaskError,
)
from reconciler.frozen import frozen

MEDIA_TYPE = "application/problem+json"
_URN = "urn:reconciler:problem:"
_RETRY_AFTER_SECONDS = 1
_STATUSES: dict[type[ReconcilerError], int] = {
    UnknownContactError: 404,
    UnknownDecisionError: 404,
    UnknownFactError: 404,
    UnknownJobError: 404,
    UnknownTaskError: 404,
    NotGrantedError: 403,
    ErasedError: 409,
    IllegalMemoryOperationError: 409,
    InvalidAnswerError: 409,
    RevertRefusedError: 409,
    InvalidRequestError: 422,
    ReconcilerError: 503,
}
_TOLD_BELOW = 4
"""Shorter words are no secrets, and a message without them could not be read."""
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


@frozen
class Problem:
    """A client's view of an error.

    Attributes:
        kind: which, in words with hyphens, such as ``unknown-fact``.
        status: the HTTP status.
        detail: what is wrong, and what to do.
        is_retryable: whether the same request may succeed later.
        retry_after_seconds: how long to wait first; None if unknown.
        more: further members.
        more_headers: further headers.
    """

    kind: str
    status: int
    detail: str
    is_retryable: bool = False
    retry_after_seconds: int | None = None
    more: dict[str, Any] = field(default_factory=dict)
    more_headers: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The members of the problem details."""
        return {
            "type": f"{_URN}{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "is_retryable": self.is_retryable,
            **self.more,
        }

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with it."""
        seconds = self.retry_after_seconds
        waits = {} if seconds is None else {"Retry-After": str(seconds)}
        return {**waits, **self.more_headers}


class ProblemError(Exception):
    """A request ends with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def problem_of(error: ReconcilerError, sent: Iterable[str] = ()) -> Problem:
    """The problem that a client is told for an error.

    Args:
        error: the error.
        sent: the client's words; they are not repeated, because they may hold a secret.
    """
    known = next(kind for kind in type(error).__mro__ if kind in _STATUSES)
    kind = "-".join(_WORD.split(type(error).__name__.removesuffix("Error"))).lower()
    if isinstance(error, InvalidRequestError):
        ids = getattr(error, "decision_ids", ())
        more = {"decision_ids": list(ids)} if ids else {}
        told = _without(str(error), sent)
        return Problem(kind=kind, status=_STATUSES[known], detail=told, more=more)
    return Problem(
        kind=kind,
        status=_STATUSES[known],
        detail=failure_words(error),
        is_retryable=error.retryable,
        retry_after_seconds=_RETRY_AFTER_SECONDS if error.retryable else None,
    )


def _without(told: str, sent: Iterable[str]) -> str:
    """An error's words without the client's own, in plain or quoted form."""
    spoken = {form for text in sent for form in (text.strip(), repr(text.strip())[1:-1])}
    for form in sorted((form for form in spoken if len(form) >= _TOLD_BELOW), key=len)[::-1]:
        told = re.sub(re.escape(form), "…", told, flags=re.IGNORECASE)
    return told


def failure_words(error: ReconcilerError) -> str:
    """The words for a failure that is not the client's fault."""
    if isinstance(error, CredentialsRefusedError):
        return (
            "Not confirmed as done: the memory's server rejected the password of this process, "
            "which waits before it tries again. Tell the operator."
        )
    again = (
        "The same call may be sent again a little later; it is carried out once at most."
        if error.retryable
        else "To call again will not help; tell the operator."
    )
    return f"Not confirmed as done: the memory does not answer. {again}"
