"""Shows jobs, sessions and tasks on the command line. Computes nothing, and calls nothing."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Group

from reconciler.domain.records.kinds import JobState
from reconciler.entrypoints.rendering import (
    id_column,
    panels,
    record_panel,
    short_column,
    table,
)
from reconciler.reading.visible_text import visible
from reconciler.serve.wording import counted

if TYPE_CHECKING:
    from reconciler.domain.records.sessions import Job, Outcomes
    from reconciler.domain.tasks.tasks import Task

_STYLES = {
    JobState.WAITING: "cyan",
    JobState.RUNNING: "blue",
    JobState.DONE: "green",
    JobState.DEAD: "red",
}
_ERROR_LENGTH_MAX = 100
_TO_READ = "Run `reconciler drain`, or keep a worker running."


def outcomes_words(outcomes: Outcomes) -> str:
    """The outcomes of candidates, without zeros."""
    counts = [f"{count} {name}" for name, count in asdict(outcomes).items() if count]
    return ", ".join(counts) or "no candidates"


def job_words(job: Job) -> str:
    """One job in a line of a log: no words of the contact, and none of the extractor."""
    if job.state is JobState.DONE:
        return f"job {job.job_id} is done: {outcomes_words(job.outcomes)}"
    return f"job {job.job_id} is {job.state} after {_attempts(job)}"


def handed_over_words(job: Job, turn_count: int) -> str:
    """The state of a session that was handed over, and the command to run next.

    Args:
        job: the job that reads it, or has read it.
        turn_count: how many turns were handed over.
    """
    if job.state is JobState.DONE:
        return (
            f"Job {job.job_id} is done: {outcomes_words(job.outcomes)}.\n"
            f"See it: reconciler job {job.job_id} {visible(job.scope.as_options())}"
        )
    if job.advice is not None:
        return (
            f"Job {job.job_id} is {job.state}: {visible(job.last_error or 'unknown')}\n"
            f"Once the cause is mended, start it again:\n{visible(job.advice)}"
        )
    return (
        f"Job {job.job_id}: session {visible(job.session_id)}, {turn_count} turns handed over.\n"
        f"It is {job.state}. {_TO_READ}"
    )


def all_handed_over_words(jobs: Sequence[Job], refused: Mapping[str, str], silent: int) -> str:
    """The number of handed-over conversations of an export, and the command to run next.

    Args:
        jobs: the jobs that read them.
        refused: the reasons of the refused ones, by session id.
        silent: the number of conversations without words.
    """
    told = [f"{len(jobs):,} of {len(jobs) + len(refused) + silent:,} conversations handed over."]
    told += [f"Refused: {visible(name)}: {visible(why)}" for name, why in refused.items()]
    told += [f"{silent:,} without words left out."] if silent else []
    return "\n".join([*told, _TO_READ])


def retried_words(job: Job) -> str:
    """The state of a job after a retry."""
    if job.state is JobState.DONE:
        return f"Job {job.job_id} is done already; there is nothing to retry."
    if job.state is JobState.RUNNING:
        return f"Job {job.job_id} is running; nothing was changed."
    return f"Job {job.job_id} waits again, with all its attempts.\n{_TO_READ}"


def retried_all_words(count: int) -> str:
    """The number of dead jobs that were retried."""
    if not count:
        return "No such job is dead; there is nothing to retry."
    waiting = "1 dead job waits" if count == 1 else f"{count} dead jobs wait"
    return f"{waiting} again, with all attempts.\n{_TO_READ}"


def jobs_table(jobs: Sequence[Job], now: datetime) -> Group:
    """Jobs as they are given, and how each dead one is started again.

    Args:
        jobs: in the order to be shown.
        now: the time now, UTC-aware.
    """
    if not jobs:
        return Group("No jobs.")
    rows = (
        (
            [
                f"{job.scope.agent_id} · {job.scope.contact_id} · {job.session_id}",
                (job.job_id, "dim"),
            ],
            [
                (job.state, _STYLES[job.state]),
                (f"{_attempts(job)}, {_span(now - job.submitted_at)}", "dim"),
            ],
            outcomes_words(job.outcomes)
            if job.state is JobState.DONE
            else _shortened(job.last_error or ""),
        )
        for job in jobs
    )
    columns = id_column("job"), short_column("state"), "what became of it"
    return Group(table("Jobs, newest first", *columns, rows=rows), *_advice(jobs))


def drained_view(jobs: Sequence[Job], extractor: str) -> Group:
    """The result of a drain: jobs by state, outcomes of candidates, and why jobs are dead.

    Args:
        jobs: those of the drain, as they stand after it.
        extractor: who read, in words.
    """
    from reconciler.domain.records.sessions import Outcomes

    if not jobs:
        return Group("Nothing waited.")
    sums: Counter[str] = Counter()
    for job in jobs:
        sums.update(asdict(job.outcomes))
    states = Counter(job.state for job in jobs)
    dead = [job for job in jobs if job.state is JobState.DEAD]
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    return Group(
        f"Drained: {counts}; {outcomes_words(Outcomes(**sums))}",
        f"Read with {extractor}",
        *(f"{job.job_id}: {_shortened(job.last_error or '')}" for job in dead),
        *_advice(dead),
    )


def _advice(jobs: Sequence[Job]) -> list[str]:
    given = [job.advice for job in jobs if job.advice is not None]
    if len(given) > 1:
        tenants = sorted({job.scope.tenant for job in jobs if job.advice is not None})
        all_dead = (
            f"reconciler retry --all-dead --tenant {shlex.quote(tenant)}" for tenant in tenants
        )
        given += ["Or all dead ones at once:", *all_dead]
    return ["", "Dead; once the cause is mended, start them again:", *given] if given else []


def _attempts(job: Job) -> str:
    return counted(job.attempts, "attempt")


def _shortened(text: str) -> str:
    is_short = len(text) <= _ERROR_LENGTH_MAX
    return text if is_short else f"{text[: _ERROR_LENGTH_MAX - 1]}…"


def _span(age: timedelta) -> str:
    """An age in its largest unit, cut off."""
    seconds = max(int(age.total_seconds()), 0)
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def tasks_view(tasks: Sequence[Task]) -> Group:
    """Tasks, the last changed first, with all that is known of each."""
    return panels(lambda task: record_panel(task, task.task_id), tasks, "There is no task.")
