"""Problems: a client's view of an error, as problem details (RFC 9457).

An error about the client's input says what to do. Any other error is reported without a path, an
address or a cause.

An application over HTTP answers its errors with a problem. The log has the details that the client
does not get, but never the words of a request.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

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
from reconciler.frozen import Json, StringMap, in_order
from reconciler.serve.access.grants import NotGrantedError

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
"""The shortest words that are removed: shorter ones are no secrets, and a message without them
could not be read."""
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


@in_order
class Problem:
    """A client's view of an error.

    Attributes:
        kind: the kind of the error, in words with hyphens, such as ``unknown-fact``.
        status: the HTTP status.
        detail: the fault, and what to do.
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
    more: Json = field(default_factory=dict)
    more_headers: StringMap = field(default_factory=dict)

    def to_dict(self) -> Json:
        """Return the members of the problem details."""
        return {
            "type": f"{_URN}{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "is_retryable": self.is_retryable,
            **self.more,
        }

    @property
    def headers(self) -> StringMap:
        """Return the headers of the answer."""
        seconds = self.retry_after_seconds
        waits = {} if seconds is None else {"Retry-After": str(seconds)}
        return {**waits, **self.more_headers}


class ProblemError(Exception):
    """Ends a request with a problem, which is made of these words."""

    def __init__(self, kind: str, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.problem = Problem(kind, status, detail, **more)


def problem_of(error: ReconcilerError | ProblemError, sent: Iterable[str] = ()) -> Problem:
    """Return the problem that a client gets for an error.

    Args:
        error: the error.
        sent: the client's words; they are not repeated, because they may hold a secret.
    """
    if isinstance(error, ProblemError):
        return error.problem
    known = next(kind for kind in type(error).__mro__ if kind in _STATUSES)
    kind = "-".join(_WORD.split(type(error).__name__.removesuffix("Error"))).lower()
    if isinstance(error, InvalidRequestError):
        ids = getattr(error, "decision_ids", ())
        more = {"decision_ids": list(ids)} if ids else {}
        return Problem(kind, _STATUSES[known], _without(str(error), sent), more=more)
    return Problem(
        kind,
        _STATUSES[known],
        failure_words(error),
        is_retryable=error.retryable,
        retry_after_seconds=_RETRY_AFTER_SECONDS if error.retryable else None,
    )


def _without(told: str, sent: Iterable[str]) -> str:
    """Return an error's words without the client's own, in plain or quoted form."""
    spoken = {form for text in sent for form in (text.strip(), repr(text.strip())[1:-1])}
    for form in sorted((form for form in spoken if len(form) >= _TOLD_BELOW), key=len)[::-1]:
        told = re.sub(re.escape(form), "…", told, flags=re.IGNORECASE)
    return told


def failure_words(error: ReconcilerError) -> str:
    """Return the words for a failure that is not the client's fault."""
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


_log = logging.getLogger(__name__)


def problem_answer(_: Any, problem: Problem) -> Response:
    """Return the problem for a program, as problem details."""
    return Response(json.dumps(problem.to_dict()), problem.status, problem.headers, MEDIA_TYPE)


def telling(
    answer: Callable[[Request, Problem], Response],
    *,
    wrong_paths: Mapping[int, tuple[str, str]],
    fault: str,
    sent: Callable[[Request], Iterable[str]] = lambda _: (),
) -> dict[Any, Any]:
    """Make the handlers of an application, by the error.

    Args:
        answer: makes an answer from a problem.
        wrong_paths: the kind and the detail of the framework's own errors, by status.
        fault: the detail if the server itself fails.
        sent: the client's words, which no answer repeats.
    """

    async def tell_of_an_error(request: Request, error: ReconcilerError | ProblemError) -> Response:
        if not isinstance(error, InvalidRequestError | ProblemError):
            _log.warning("a request failed: %s", error)
        return answer(request, problem_of(error, sent(request)))

    async def tell_of_http(request: Request, error: HTTPException) -> Response:
        status = error.status_code
        kind, detail = wrong_paths.get(status, ("invalid-request", str(error.detail)))
        return answer(request, Problem(kind, status, detail, more_headers=error.headers or {}))

    async def tell_of_a_fault(request: Request, error: Exception) -> Response:
        # Without the error's own words, which may repeat the request.
        where = "".join(traceback.format_tb(error.__traceback__))
        _log.error("a fault of this server: %s\n%s", type(error).__name__, where)
        return answer(request, Problem("fault", 500, fault))

    return {
        ReconcilerError: tell_of_an_error,
        ProblemError: tell_of_an_error,
        HTTPException: tell_of_http,
        Exception: tell_of_a_fault,
    }
