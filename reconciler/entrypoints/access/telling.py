"""Telling: the errors of an application over HTTP, as answers with a problem.

The log has what the client is not told, and never the words of a request.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from reconciler.entrypoints.access.problems import MEDIA_TYPE, Problem, ProblemError, problem_of
from reconciler.errors import InvalidRequestError, ReconcilerError

_log = logging.getLogger(__name__)


def problem_answer(_: Any, problem: Problem) -> Response:
    """The problem for a program, as problem details."""
    text = json.dumps(problem.to_dict())
    return Response(text, problem.status, problem.headers, MEDIA_TYPE)


def telling(
    answer: Callable[[Request, Problem], Response],
    *,
    wrong_paths: Mapping[int, tuple[str, str]],
    fault: str,
    sent: Callable[[Request], Iterable[str]] = lambda _: (),
) -> dict[Any, Any]:
    """The handlers of an application, by the error.

    Args:
        answer: makes an answer of a problem.
        wrong_paths: the kind and the detail of the framework's own errors, by status.
        fault: the detail if the server itself fails.
        sent: the client's words, which no answer repeats.
    """

    async def tell_of_an_error(request: Request, error: ReconcilerError) -> Response:
        if not isinstance(error, InvalidRequestError):
            _log.warning("a request failed: %s", error)
        return answer(request, problem_of(error, sent(request)))

    async def tell_of_a_problem(request: Request, error: ProblemError) -> Response:
        return answer(request, error.problem)

    async def tell_of_http(request: Request, error: HTTPException) -> Response:
        status = error.status_code
        kind, detail = wrong_paths.get(status, ("invalid-request", str(error.detail)))
        headers = error.headers or {}
        return answer(
            request, Problem(kind=kind, status=status, detail=detail, more_headers=headers)
        )

    async def tell_of_a_fault(request: Request, error: Exception) -> Response:
        # Without the error's own words, which may repeat the request.
        where = "".join(traceback.format_tb(error.__traceback__))
        _log.error("a fault of this server: %s\n%s", type(error).__name__, where)
        return answer(request, Problem(kind="fault", status=500, detail=fault))

    return {
        ReconcilerError: tell_of_an_error,
        ProblemError: tell_of_a_problem,
        HTTPException: tell_of_http,
        Exception: tell_of_a_fault,
    }
