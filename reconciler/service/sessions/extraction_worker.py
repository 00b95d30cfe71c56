"""The worker: leases jobs, has their sessions read, and proposes the claims to the write gate.

If a worker ends, another worker continues its job after the lease. The job keeps the candidates
that were read, because a model gives a claim other words the second time; so every candidate takes
effect once. Gate and reconciler decide what is remembered.
"""

from __future__ import annotations

import logging
import random
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Relations
from reconciler.domain.records.kinds import (
    EXTRACTION_DOOR,
    Action,
    Clock,
    DecidedBy,
    JobState,
    later,
)
from reconciler.domain.records.notes import Scope, check_callable
from reconciler.domain.records.policies import JobPolicy
from reconciler.domain.records.sessions import Episode, Episodes, Job, Outcomes, Stage
from reconciler.domain.sessions.extraction import SessionEpisodes
from reconciler.errors import (
    ExtractionError,
    GraphError,
    InvalidRequestError,
    LeaseLostError,
    ReconcilerError,
)
from reconciler.forks import Maker
from reconciler.job_context import working_on
from reconciler.service.sessions.extraction import SessionReader
from reconciler.service.stores.session_store import SessionStore
from reconciler.service.writing.relating import Relating
from reconciler.service.writing.write_gate import WriteGate

_LOG = logging.getLogger(__name__)
_RENEWALS_A_LEASE = 3
_SILENT = "its workers ended without a report, every time"


class _StoppedError(Exception):
    """The worker was asked to stop in the middle of a job."""


@dataclass(slots=True)
class _Lease:
    """One worker's hold on a job, kept by a heart-beat."""

    job: Job
    lease_id: str
    is_lost: bool = False
    fact_ids: set[str] = field(default_factory=set)


@dataclass(kw_only=True, eq=False)
class ExtractionWorker:
    """Processes jobs, one at a time. Any number of workers may use one Neo4j.

    Attributes:
        session_store: sessions and jobs.
        session_reader: reads sessions.
        gate: judges every candidate.
        relating: settles a doubt within one session.
        policy: attempts, waits and leases.
        poll_seconds: the wait if no job is due.
        clock: the time now, UTC-aware.
        on_stage: called at each stage of a job; for tests, which may end the process there.
    """

    session_store: SessionStore
    session_reader: SessionReader
    gate: WriteGate
    relating: Relating
    policy: JobPolicy
    poll_seconds: float
    clock: Clock
    on_stage: Callable[[Stage], None] = lambda _: None

    def __post_init__(self) -> None:
        self._stopping = threading.Event()
        self._maker = Maker()

    def run(self, on_job: Callable[[Job], None] = lambda _: None) -> None:
        """Process jobs until ``stop``; wait while the engine is unavailable.

        An outage is logged when it begins and when it ends, not at every attempt in between.

        Args:
            on_job: called in this thread after each attempt, with the job.
        """
        check_callable(on_job=on_job)
        self._maker.check()
        complaint = ""
        while not self._stopping.is_set():
            try:
                job = self.work_once()
                if complaint:
                    _LOG.info("jobs can be taken again")
                complaint = ""
            except ReconcilerError as error:
                if str(error) != complaint:
                    _LOG.warning("no job could be taken: %s", error)
                job, complaint = None, str(error)
            if job is None:
                self._stopping.wait(self.poll_seconds * random.uniform(0.5, 1.5))  # noqa: S311  no secret
            else:
                on_job(job)

    def drain(self, on_progress: Callable[[Job], None] = lambda _: None) -> list[Job]:
        """Process jobs until none waits or runs, or until ``stop``; return the jobs of this call.

        The call waits for a failed job until it is done or dead, and for a job that another worker
        holds. It does not wait for a job with a time far ahead, set by another host's clock.

        Raises:
            GraphUnavailableError: the engine stayed unavailable; unfinished jobs wait.
        """
        check_callable(on_progress=on_progress)
        self._maker.check()
        ended: dict[str, Job] = {}
        while not self._stopping.is_set():
            if job := self.work_once():
                ended[job.job_id] = job
                on_progress(job)
            elif self.session_store.is_waited_for(
                later(now := self.clock(), timedelta(seconds=2 * self.policy.lease_seconds)),
                later(now, timedelta(seconds=self.policy.backoff_seconds_max)),
            ):
                self._stopping.wait(min(self.poll_seconds, 0.25))
            else:
                break
        return list(ended.values())

    def stop(self) -> None:
        """Stop the worker before its next step; its job goes back and waits for another worker.

        A running call of the extractor is finished first; to end it use ``Memory.stop_workers``.
        """
        self._stopping.set()

    def work_once(self) -> Job | None:
        """Make one attempt at one due job and return the job afterwards; None if none is due.

        An error of the job is recorded on the job; it is not raised.

        Raises:
            GraphUnavailableError: the engine stayed unavailable.
        """
        lease = self._take()
        if lease is None:
            return None
        with working_on(lease.job.job_id), self._heart_beat(lease):
            _LOG.debug("attempt %d at job %s begins", lease.job.attempts, lease.job.job_id)
            try:
                self._at(Stage.LEASED, lease)
                if lease.job.attempts > self.policy.attempts_max:
                    self._bury(lease, lease.job.last_error or _SILENT)
                else:
                    self._work(lease)
            except LeaseLostError as error:
                _LOG.warning("%s", error)
            except _StoppedError:
                self._give_back(lease)
            except Exception as error:  # noqa: BLE001  a bug must not end every worker in turn
                if self._stopping.is_set():
                    self._give_back(lease)
                else:
                    self._fail(lease, error)
        job = lease.job
        return self.session_store.find_job(job.scope, job.job_id) or job

    def _take(self) -> _Lease | None:
        now = self.clock()
        due = self.session_store.list_due_jobs(now)
        random.shuffle(due)  # so that workers seldom want the same
        for job_id in due:
            lease_id = str(uuid.uuid4())
            until = later(now, timedelta(seconds=self.policy.lease_seconds))
            if job := self.session_store.lease_job(job_id, lease_id, now, until):
                return _Lease(job, lease_id)
        return None

    def _work(self, lease: _Lease) -> None:
        job = lease.job
        made_of = partial(SessionEpisodes, job.scope, job.session_id)
        read = self.session_store.find_read(job.job_id)
        episodes = self._cleaned(
            job, self.session_reader.clean if read else self.session_reader.readable
        )
        self._at(Stage.CLEANED, lease)
        if read is None:
            before = episodes
            new_ids = frozenset(each.episode_id for each in before if each.job_id == job.job_id)
            read = self.session_reader.read(job.scope, before, new_ids, lambda: self._check(lease))
            self._at(Stage.EXTRACTED, lease)
            read, episodes = self.session_reader.cleaned(read, made_of(before))
            # In one transaction: what the turns lose is kept only in what was read of them.
            self.session_store.keep_read(
                job.job_id, lease.lease_id, read, _own(job, before, episodes)
            )
        self._at(Stage.KEPT, lease)
        session = made_of(episodes)
        proposed = len(self.session_reader.important(read, session))
        candidates = self.session_reader.candidates(read, session)
        asked = self.gate.to_be_asked(candidates)
        outcomes = (self._settled(lease, each, asked) for each in candidates)
        settled = [outcome for outcome in outcomes if outcome]
        self._at(Stage.SETTLED, lease)
        counted = Outcomes.of(settled, left_out=read.left_out + len(read.proposals) - proposed)
        counted = replace(counted, refused=counted.refused + proposed - len(settled))
        self.session_store.finish_job(job.job_id, lease.lease_id, counted, self.clock())
        self.on_stage(Stage.DONE)

    def _cleaned(
        self, job: Job, clean: Callable[[Scope, Episodes], list[Episode]]
    ) -> list[Episode]:
        raw = self.session_store.list_episodes(job.scope, job.session_id)
        cleaned = clean(job.scope, raw)
        self.session_store.clean_episodes(_own(job, raw, cleaned))
        return cleaned

    def _settled(
        self, lease: _Lease, candidate: Candidate, asked: frozenset[str]
    ) -> Decision | None:
        """Return the decision about a candidate; None if it could not even be judged."""
        self._renew(lease)  # a session that was erased meanwhile has no job any more
        try:
            decision = self.gate.propose(
                candidate,
                EXTRACTION_DOOR,
                may_ask=candidate.note.idempotency_key in asked,
            )
            self._at(Stage.PROPOSED, lease)
            if decision.action is Action.ADMIT:
                decision = self.gate.commit(decision.scope, decision.decision_id, EXTRACTION_DOOR)
                self._at(Stage.COMMITTED, lease)
                self._settle_doubt(decision, lease)
        except InvalidRequestError as error:
            _LOG.warning("a candidate of job %s cannot be used: %s", lease.job.job_id, error)
            return None
        return decision

    def _settle_doubt(self, decision: Decision, lease: _Lease) -> None:
        """Settle a doubt whether a claim replaces a claim of the same reading of the session."""
        beside = lease.fact_ids.intersection(decision.conflicting_ids)
        if beside and decision.decided_by is DecidedBy.THRESHOLD:
            with suppress(InvalidRequestError):  # a fact has ended meanwhile: the dispute stays
                self.relating.relate(
                    decision.scope,
                    str(decision.fact_id),
                    Relations(both_hold=tuple(sorted(beside))),
                    decided_by=DecidedBy.EXTRACTOR,
                    proposed_by=self.session_reader.name,
                    idempotency_key=f"both:{decision.decision_id}",
                )
        lease.fact_ids.add(str(decision.fact_id))

    def _at(self, stage: Stage, lease: _Lease) -> None:
        _LOG.debug("job %s is %s", lease.job.job_id, stage.name.lower())
        self.on_stage(stage)
        self._check(lease)

    def _check(self, lease: _Lease) -> None:
        if lease.is_lost:
            raise LeaseLostError(f"another worker now has job {lease.job.job_id}")
        if self._stopping.is_set():
            raise _StoppedError

    def _fail(self, lease: _Lease, error: Exception) -> None:
        # A foreign error may quote the contact's words.
        text = str(error) if isinstance(error, ReconcilerError) else type(error).__name__
        _LOG.warning("attempt %d at job %s failed: %s", lease.job.attempts, lease.job.job_id, text)
        if lease.job.attempts >= self.policy.attempts_max:
            self._bury(lease, text)
            return
        asked = error.retry_after_seconds if isinstance(error, ExtractionError) else None
        wait = self.policy.wait(lease.job.attempts, asked)
        self._end(lease, lease.job, JobState.WAITING, later(self.clock(), wait), text)

    def _bury(self, lease: _Lease, text: str) -> None:
        try:
            self._cleaned(lease.job, self.session_reader.clean)  # a dead job waits for a person
        except ReconcilerError as error:
            _LOG.warning("the turns of job %s were not cleaned: %s", lease.job.job_id, error)
        self._end(lease, lease.job, JobState.DEAD, self.clock(), text)

    def _give_back(self, lease: _Lease) -> None:
        unbegun = replace(lease.job, attempts=lease.job.attempts - 1)
        self._end(lease, unbegun, JobState.WAITING, self.clock(), None)

    def _end(
        self, lease: _Lease, job: Job, state: JobState, due_at: datetime, text: str | None
    ) -> None:
        try:
            self.session_store.give_job_back(job, lease.lease_id, state, due_at, text)
        except (LeaseLostError, GraphError) as error:
            # The lease ends by itself, and the job is started again.
            _LOG.warning("job %s could not be given back: %s", job.job_id, error)

    @contextmanager
    def _heart_beat(self, lease: _Lease) -> Iterator[None]:
        done = threading.Event()
        thread = threading.Thread(target=self._beat, args=(lease, done), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _beat(self, lease: _Lease, done: threading.Event) -> None:
        while not done.wait(self.policy.lease_seconds / _RENEWALS_A_LEASE):
            try:
                self._renew(lease)
            except LeaseLostError:
                lease.is_lost = not done.is_set()
                return
            except Exception as error:  # noqa: BLE001  a heart that stops loses the job
                _LOG.warning("the lease of job %s was not renewed: %s", lease.job.job_id, error)

    def _renew(self, lease: _Lease) -> None:
        until = later(self.clock(), timedelta(seconds=self.policy.lease_seconds))
        self.session_store.renew_lease(lease.job.job_id, lease.lease_id, until)


def _own(job: Job, before: Episodes, after: Episodes) -> list[tuple[Episode, Episode]]:
    """Return the turns of this job with their old states; later jobs' turns are unread."""
    return [pair for pair in zip(before, after, strict=True) if pair[0].job_id == job.job_id]


class WorkerThread:
    """A worker in a thread of this process, for the embedded engine, which serves one process.

    Args:
        worker: runs until ``stop``.
        on_job: called in that thread after each attempt, with the job.
    """

    def __init__(self, worker: ExtractionWorker, on_job: Callable[[Job], None]) -> None:
        self._worker = worker
        self._thread = threading.Thread(
            target=worker.run, args=(on_job,), name="extraction-worker", daemon=True
        )
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """True if the thread still runs."""
        return self._thread.is_alive()

    def ask_to_stop(self) -> None:
        """Ask the worker to give its job back and end; do not wait for it."""
        self._worker.stop()

    def stop(self, timeout_seconds: float = 90.0) -> None:
        """Make the worker give its job back and end; may be repeated.

        A running call of the extractor is finished first; to end it use ``Memory.stop_workers``.
        """
        self.ask_to_stop()
        self._thread.join(timeout_seconds)
