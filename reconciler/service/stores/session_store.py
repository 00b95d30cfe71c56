"""The stores of sessions, jobs and tasks; only they name these queries. They decide nothing.

Facts and decisions are in stores of their own. ``reconciler.domain.tasks.tasks`` says which
operation on a task is legal in which state.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from reconciler.domain.records.kinds import FAR_AHEAD, JobState, ListPlace
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.domain.records.sessions import (
    Episode,
    Episodes,
    Job,
    Outcomes,
    QueueReport,
    SessionRecord,
)
from reconciler.domain.sessions.extraction import Claim
from reconciler.domain.tasks.tasks import Task, TaskState
from reconciler.errors import (
    ErasedError,
    InvalidSessionError,
    LeaseLostError,
    UnknownJobError,
    UnknownTaskError,
)
from reconciler.frozen import Strings, Values, field_names, frozen
from reconciler.ports.graph import Row
from reconciler.service.stores.binding_store import Store
from reconciler.service.stores.rows import RowReader, of_its_own, reader_of

Cleaning = tuple[Episode, Episode]
"""An episode as it was read, and the same episode cleaned."""

_OUTCOMES = field_names(Outcomes)


@frozen
class JobFilter:
    """A filter of jobs; a field that is None lets all pass.

    ``after`` is the time and the id of a job: only the jobs after it pass.
    """

    agent_id: str | None = None
    contact_id: str | None = None
    state: JobState | None = None
    after: ListPlace | None = None


@frozen
class ReadSession:
    """The result of reading a session, as it is kept on its job.

    Attributes:
        extractor: the extractor's name.
        proposals: the claims of all windows.
        summary: the session in a few sentences; "" if the extractor gives none.
        left_out: the number of claims above the five that one turn may have.
        shown: for each window the ids of the facts that the extractor was shown, in order. The
            proposals name these ids.
    """

    extractor: str
    proposals: tuple[Claim, ...]
    summary: str
    left_out: int = 0
    shown: tuple[Strings, ...] = ()


class SessionStore(Store):
    """Sessions, their episodes and their jobs, in one graph.

    Invariant: a worker cannot write on a job once another worker has its lease.
    """

    def append_episodes(
        self,
        scope: Scope,
        session_id: str,
        channel: str,
        episodes: Episodes,
        at: datetime,
        job_id: str | None = None,
    ) -> int:
        """Write a session's turns, each once, and the job that reads the new ones.

        It takes one transaction. Repeated with the same ``job_id``, after a lost answer, it changes
        nothing.

        Args:
            scope: the contact.
            session_id: the session's id.
            channel: for example "chat" or "phone".
            episodes: the episodes, at least one.
            at: the time now (UTC).
            job_id: the new job; None for no job, so that a later job reads these turns.

        Returns:
            The number of turns for the job to read; with 0 no job is made.

        Raises:
            ErasedError: the session was erased, or its contact is being erased; nothing was kept.
            AbsorbedError: the contact was merged into another; nothing was kept.
        """
        times = [episode.said_at for episode in episodes]
        rows = self.rows(
            "append_episodes",
            **scope.columns,
            session_id=session_id,
            session_key=scope.session_key(session_id),
            channel=channel,
            started_at=min(times),
            ended_at=max(times),
            episode_ids=[episode.episode_id for episode in episodes],
            roles=[str(episode.role) for episode in episodes],
            texts=[episode.text for episode in episodes],
            times=times,
            sources=[str(episode.role.source_kind) for episode in episodes],
            references=[episode.reference or "" for episode in episodes],
            positions=[episode.position for episode in episodes],
            job_id=job_id,
            at=at,
        )
        if not rows:
            of_its_own(scope, self.standing(scope))
            raise ErasedError(
                f"session {session_id} was erased, or its contact is being erased, so it takes no "
                "more turns; hand later turns over as another session"
            )
        return int(rows[0]["new_episodes"])

    def find_last_said(self, scope: Scope) -> datetime | None:
        """Return the time when the contact's last session ended (UTC); None without a session."""
        return next((at for _, at in self.list_last_sessions(scope, 1)), None)

    def list_last_sessions(
        self, scope: Scope, count: int, beginning: str = ""
    ) -> list[tuple[str, datetime]]:
        """List the last sessions with ids of this beginning, and the end of each, latest first."""
        rows = self.rows_of(scope, "list_last_sessions", beginning=beginning, limit=count)
        return [(row["session_id"], row["ended_at"]) for row in rows]

    def list_episodes(self, scope: Scope, session_id: str) -> list[Episode]:
        """List the turns of a session, in order; those of a merged contact's with its id last."""
        keys = self.keys_in(scope, session_id)
        each = (self.rows("list_session_episodes", session_key=key) for key in keys)
        return [turn for rows in each for turn in EPISODES.all(rows)]

    def clean_episodes(self, cleaned: Iterable[Cleaning]) -> None:
        """Replace episodes by cleaned ones; an episode that has changed stays as it is."""
        given = _cleanings(cleaned)
        if given["episode_ids"]:
            self.rows("clean_episodes", **given)

    def find_job(self, scope: Scope, job_id: str) -> Job | None:
        """Find the contact's job of that id; None if there is none.

        Raises:
            DamagedRecordError: the job cannot be read.
        """
        return JOBS.first(self.rows("find_job", job_id=job_id, **asdict(scope)))

    def find_jobs_of(self, episodes: Iterable[Episode]) -> list[tuple[str, JobState]]:
        """Find the jobs that read these turns, each with its state, newest first."""
        ids = [episode.episode_id for episode in episodes]
        rows = self.rows("find_jobs_of_episodes", episode_ids=ids)
        return [(row["job_id"], state) for row, state in _STATES.pairs(rows)]

    def get_job(self, scope: Scope, job_id: str) -> Job:
        """Return the contact's job of that id.

        Raises:
            UnknownJobError: the contact has no job of that id.
        """
        check_identifier("job_id", job_id, UnknownJobError)
        if (job := self.find_job(scope, job_id)) is None:
            raise UnknownJobError(
                f"contact {scope.contact_id} has no job {job_id}; `reconciler jobs` lists them"
            )
        return job

    def get_session(self, scope: Scope, session_id: str) -> SessionRecord:
        """Return a session without its turns: its summary, and the outcomes of its candidates.

        Raises:
            InvalidSessionError: no session of that id was handed over.
        """
        check_identifier("session_id", session_id, InvalidSessionError)
        keys = self.keys_in(scope, session_id)
        found = (self.rows("find_session", session_key=key) for key in keys)
        if (session := SESSIONS.first(next(filter(None, found), ()))) is None:
            raise InvalidSessionError(f"contact {scope.contact_id} has no session {session_id}")
        return session

    def list_jobs(self, tenant: str, wanted: JobFilter, limit: int) -> list[Job]:
        """List a tenant's jobs, newest first."""
        after_at, after_id = wanted.after or (FAR_AHEAD, "")
        return JOBS.all(
            self.rows(
                "list_jobs",
                tenant=tenant,
                agent_id=wanted.agent_id or "",
                contact_id=wanted.contact_id or "",
                state=str(wanted.state or ""),
                after_at=after_at,
                after_id=after_id,
                limit=limit,
            )
        )

    def list_due_jobs(self, now: datetime) -> list[str]:
        """List the ids of at most 20 jobs that may be started now, longest due first."""
        return [row["job_id"] for row in self.rows("list_due_jobs", now=now)]

    def is_waited_for(self, leased_until: datetime, due_until: datetime) -> bool:
        """True if a job's lease ends until then, or a waiting job is due until then."""
        return bool(
            self.rows("find_unfinished_job", leased_until=leased_until, due_until=due_until)
        )

    def lease_job(self, job_id: str, lease_id: str, now: datetime, until: datetime) -> Job | None:
        """Lease a job until the given time, and return it; None if another worker has it.

        A damaged job becomes dead: no worker can read it.
        """
        rows = self.rows("lease_job", job_id=job_id, lease_id=lease_id, now=now, until=until)
        jobs = JOBS.all(rows)
        if rows and not jobs:
            given = {
                "state": str(JobState.DEAD),
                "attempts": 1,
                "due_at": now,
                "last_error": "the job is damaged and cannot be read",
            }
            self._run_leased("give_job_back", job_id, lease_id, given)
        return next(iter(jobs), None)

    def renew_lease(self, job_id: str, lease_id: str, until: datetime) -> None:
        """Extend the lease of a job.

        Raises:
            LeaseLostError: another worker has the job by now.
        """
        self._run_leased("renew_lease", job_id, lease_id, {"until": until})

    def find_read(self, job_id: str) -> ReadSession | None:
        """Return what a worker has read of a job's session; None if nothing.

        A damaged record counts as nothing, so that the session is read again.
        """
        rows = self.rows("find_proposals", job_id=job_id)
        kept = [row | {"job_id": job_id} for row in rows if row["proposals"] is not None]
        return next(iter(PROPOSALS.all(kept)), None)

    def keep_read(
        self, job_id: str, lease_id: str, read: ReadSession, cleaned: Iterable[Cleaning] = ()
    ) -> None:
        """Keep the result of reading, so that a later attempt continues with the same claims.

        In the same transaction the turns lose the data that only the claims keep; see
        ``clean_episodes``.

        Raises:
            LeaseLostError: another worker has the job by now.
        """
        kept = {
            "proposals": [proposal.to_dict() for proposal in read.proposals],
            "left_out": read.left_out,
            "shown": read.shown,
        }
        given = {
            "extractor": read.extractor,
            "proposals": json.dumps(kept),
            "summary": read.summary,
            **_cleanings(cleaned),
        }
        self._run_leased("keep_proposals", job_id, lease_id, given)

    def finish_job(self, job_id: str, lease_id: str, outcomes: Outcomes, at: datetime) -> None:
        """Mark a job as done; its outcomes are written on it and added to its session's.

        Raises:
            LeaseLostError: another worker has the job by now.
        """
        self._run_leased("finish_job", job_id, lease_id, {"at": at, **asdict(outcomes)})

    def give_job_back(
        self,
        job: Job,
        lease_id: str,
        state: JobState,
        due_at: datetime,
        last_error: str | None,
    ) -> None:
        """Give a job back after an attempt that did not finish it; ``job.attempts`` is written.

        Raises:
            LeaseLostError: another worker has the job by now.
        """
        given = {
            "state": str(state),
            "attempts": job.attempts,
            "due_at": due_at,
            "last_error": last_error,
        }
        self._run_leased("give_job_back", job.job_id, lease_id, given)

    def retry_job(self, scope: Scope, job_id: str, at: datetime) -> bool:
        """Start a dead or waiting job of the contact again; False if it is neither."""
        return bool(self.rows("retry_job", job_id=job_id, **asdict(scope), at=at))

    def count_jobs(self) -> QueueReport:
        """Count the jobs in the store, by state, with their attempts and outcomes."""
        rows = dict(_COUNTS.all(self.rows("count_jobs")))
        unfinished = [
            row["oldest_at"]
            for state, row in rows.items()
            if state in (JobState.WAITING, JobState.RUNNING)
        ]
        return QueueReport(
            jobs={state: int(rows[state]["jobs"]) if state in rows else 0 for state in JobState},
            attempts=sum(int(row["attempts"]) for row in rows.values()),
            outcomes=Outcomes(
                **{name: sum(int(row[name]) for row in rows.values()) for name in _OUTCOMES}
            ),
            oldest_unfinished_at=min(unfinished, default=None),
        )

    def _run_leased(self, name: str, job_id: str, lease_id: str, parameters: Values) -> None:
        if not self.rows(name, job_id=job_id, lease_id=lease_id, **parameters):
            raise LeaseLostError(f"another worker now has job {job_id}")


def _cleanings(cleaned: Iterable[Cleaning]) -> dict[str, list[Any]]:
    """Return the episodes that their cleaning changed, as a query takes them."""
    changed = [(old, new) for old, new in cleaned if old != new]
    return {
        "episode_ids": [new.episode_id for _, new in changed],
        "texts_before": [old.text for old, _ in changed],
        "references_before": [old.reference or "" for old, _ in changed],
        "texts": [new.text for _, new in changed],
        "references": [new.reference or "" for _, new in changed],
        "are_cleaned": [new.is_cleaned for _, new in changed],
    }


def _read_session(row: Row) -> ReadSession:
    kept = json.loads(row["proposals"])
    return ReadSession(
        extractor=row["extractor"],
        proposals=tuple(map(Claim.from_dict, kept["proposals"])),
        summary=row["summary"] or "",
        left_out=int(kept["left_out"]),
        shown=tuple(map(tuple, kept.get("shown", ()))),
    )


EPISODES = reader_of(
    Episode, "Episode", "episode_id", lambda row: {"reference": row["source_reference"] or None}
)
JOBS = reader_of(Job, "Job", "job_id", lambda row: {"scope": row, "outcomes": row})
PROPOSALS = RowReader("Job", "job_id", _read_session)
SESSIONS = reader_of(SessionRecord, "Session", "session_id", lambda row: {"outcomes": row})
_STATES = RowReader("Job", "job_id", lambda row: JobState(row["state"]))
_COUNTS = RowReader("state of Job", "state", lambda row: (JobState(row["state"]), row))


_CAPTION_LENGTH = 80


class TaskStore(Store):
    """Tasks in one graph.

    The unique keys of tasks and sessions have the same form; the label distinguishes them.

    Invariant: every write returns the task as the same transaction leaves it, so that a process
    reads its own writes. Done subtasks and decisions are only added, so no process loses those of
    another process.
    """

    def upsert_task(
        self, scope: Scope, task_id: str, session_id: str, goal: str, at: datetime
    ) -> Task:
        """Return the task of that id. A new task begins now; an existing one keeps its goal.

        Args:
            scope: the contact.
            task_id: its id.
            session_id: the session in which it begins.
            goal: the goal of the task.
            at: the time now (UTC).

        Raises:
            ErasedError: the contact is being erased, or the session was erased; nothing was kept.
        """
        try:
            return self._written(
                "upsert_task",
                scope,
                task_id,
                at,
                **scope.columns,
                task_id=task_id,
                name=goal[:_CAPTION_LENGTH],
                goal=goal,
                state=str(TaskState.START),
                session_id=session_id,
                session_key=scope.session_key(session_id),
            )
        except UnknownTaskError:
            of_its_own(scope, self.standing(scope))
            raise ErasedError(
                f"contact {scope.contact_id} is being erased, or session {session_id} was erased, "
                "so no task can begin there; begin it in another session, or later"
            ) from None

    def find_task(self, scope: Scope, task_id: str) -> Task | None:
        """Find the task of that id; None if there is none.

        Raises:
            DamagedRecordError: the task cannot be read.
        """
        return _first(scope, self._rows("find_task", scope, task_id))

    def list_tasks(
        self, scopes: Iterable[Scope], states: Iterable[TaskState], limit: int
    ) -> list[Task]:
        """List tasks of some contacts in these states, last changed first."""
        by_key = {scope.contact_key: scope for scope in scopes}
        wanted = [str(state) for state in states]
        rows = self.rows("list_tasks", contact_keys=list(by_key), states=wanted, limit=limit)
        return TASKS.all(row | {"scope": by_key[row["contact_key"]]} for row in rows)

    def add_done_subtask(self, scope: Scope, task_id: str, subtask_id: str, at: datetime) -> Task:
        """Mark a subtask as done, and return the task; repeating it changes nothing.

        Raises:
            UnknownTaskError: there is no such task.
        """
        return self._written("add_done_subtask", scope, task_id, at, subtask_id=subtask_id)

    def set_blocker(self, scope: Scope, task_id: str, blocker: str | None, at: datetime) -> Task:
        """Write what the task waits for, None for nothing, and return the task.

        Raises:
            UnknownTaskError: there is no such task.
        """
        return self._written("set_task_blocker", scope, task_id, at, blocker=blocker)

    def add_decisions(
        self, scope: Scope, task_id: str, decided: Sequence[str], at: datetime
    ) -> Task:
        """Add decisions to the task, each once, after its earlier ones, and return it.

        Args:
            scope: the contact.
            task_id: its id.
            decided: the decisions, at least one.
            at: the time now (UTC).

        Raises:
            UnknownTaskError: there is no such task.
        """
        once = list(dict.fromkeys(decided))
        return self._written("add_task_decisions", scope, task_id, at, decided=once)

    def set_state(
        self, scope: Scope, task_id: str, state: TaskState, session_id: str, at: datetime
    ) -> Task | None:
        """Change the task's state, and return it; None if it has ended, or there is none."""
        given = {"state": str(state), "session_id": session_id, "at": at}
        return _first(scope, self._rows("set_task_state", scope, task_id, **given))

    def set_outcome(self, scope: Scope, task_id: str, outcome_id: str, at: datetime) -> Task:
        """Write the decision about the task's outcome on it, and return it.

        Raises:
            UnknownTaskError: there is no such task.
        """
        return self._written("set_task_outcome", scope, task_id, at, outcome_id=outcome_id)

    def link_session(
        self, scope: Scope, task_id: str, session_id: str, channel: str, at: datetime
    ) -> None:
        """Link a session to the task, before the session's first turn is written."""
        self._rows(
            "link_task_session",
            scope,
            task_id,
            session_key=scope.session_key(session_id),
            session_id=session_id,
            channel=channel,
            at=at,
        )

    def list_sessions(self, scope: Scope, task_id: str) -> list[str]:
        """List the ids of the task's sessions, in the order in which they began."""
        rows = self._rows("list_task_sessions", scope, task_id)
        return [row["session_id"] for row in rows]

    def _written(
        self, name: str, scope: Scope, task_id: str, at: datetime, /, **given: Any
    ) -> Task:
        rows = self._rows(name, scope, task_id, at=at, **given)
        if (task := _first(scope, rows)) is None:
            raise UnknownTaskError(f"contact {scope.contact_id} has no task {task_id}")
        return task

    def _rows(self, name: str, scope: Scope, task_id: str, /, **given: Any) -> list[Row]:
        """Return the rows about a task, which may have the key of a merged contact."""
        keys = self.keys_in(scope, task_id)
        return next(filter(None, (self.rows(name, task_key=key, **given) for key in keys)), [])


def _first(scope: Scope, rows: Iterable[Row]) -> Task | None:
    return TASKS.first([row | {"scope": scope} for row in rows])


TASKS = reader_of(
    Task, "Task", "task_id", lambda row: {name: row[name] or () for name in ("done", "decided")}
)
