"""The job that the running code works for, so that its log lines can name it.

A job is worked on in one thread, through many modules; none of them is handed its id.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_JOB_ID: ContextVar[str | None] = ContextVar("reconciler_job_id", default=None)


@contextmanager
def working_on(job_id: str) -> Iterator[None]:
    """In this block, the thread works for this job."""
    token = _JOB_ID.set(job_id)
    try:
        yield
    finally:
        _JOB_ID.reset(token)


def job_under_way() -> str | None:
    """Id of the job that this thread works on; None where it works on none."""
    return _JOB_ID.get()
