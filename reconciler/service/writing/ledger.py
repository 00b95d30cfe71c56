"""The ledger: the only caller of the commit. It looks, asks for a plan, writes, and retries.

Looking, planning and writing are not one transaction: the commit compares the contact's version
with the version at the look. If another writer came first, nothing is written, and the plan is made
again on the new state. To make this rare, the writers of one process take turns at a contact, in
order of arrival. Turns only save work: if the queue does not move for 5 s, a writer proceeds
anyway, and queues again if it loses.

Commits that many threads make at the same time are written in one transaction
(``GatheredCommits``). A transaction is expensive: if 32 threads write, it takes half of a note's
processor time on Neo4j, and a third on the embedded engine. A single thread sends its commit at
once. While transactions run, later threads wait; the first of them then sends all waiting commits.

Gathering only saves work. A batch is tried once, for a short time. If it fails, each thread sends
its own commit alone, so one that cannot be written fails no other. The batch may have been written
before that. Then the contact's version has moved on, nothing is written twice, and the ledger finds
the decision. An interrupt such as Ctrl-C may come anywhere: a thread waits only while its sender
works, and then looks again itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact, FactsById, Neighbours
from reconciler.domain.records.kinds import Action, Clock
from reconciler.domain.records.notes import Note, Scope
from reconciler.domain.records.policies import RetryPolicy
from reconciler.domain.values.placing import needs_placing
from reconciler.errors import GraphConflictError, GraphError, GraphUnavailableError
from reconciler.frozen import frozen
from reconciler.service.stores.commits import Commit, log_decision
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.patient_graph import call_with_retries
from reconciler.service.writing.forgotten import NOTHING, Forgotten, Withholding
from reconciler.service.writing.neighbourhoods import Neighbourhood, Neighbourhoods
from reconciler.service.writing.submissions import Submission
from reconciler.tracing import span
from reconciler.turns import Turns

_log = logging.getLogger(__name__)

BATCH_MAX = 32
AT_ONCE_MAX = 2
"""The most transactions at a time: the second is prepared and read while the engine writes the
first."""

STALLED_SECONDS = 1.0
"""The wait for a transaction, which takes about 50 ms. A longer one waits for a lock or for an
unavailable engine; then the next threads ask the engine themselves."""

BATCH_SECONDS_MAX = 5.0
"""The delay of a batch if another process keeps one of its contacts locked."""


class _Asked:
    """One thread's commit."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        self.sender: _Asked | None = None
        self.is_written: bool | None = None
        self._calls: SimpleQueue[None] = SimpleQueue()

    def call(self) -> None:
        """Make its thread look again."""
        self._calls.put(None)

    def wait(self) -> None:
        with suppress(Empty):
            self._calls.get(timeout=STALLED_SECONDS)


class GatheredCommits:
    """Writes the commits of the threads of one process, in few transactions.

    Args:
        store: the store of decisions.
    """

    def __init__(self, store: DecisionStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._waiting: dict[_Asked, None] = {}
        self._sending: dict[_Asked, float] = {}

    def write(self, commit: Commit) -> bool:
        """Write a commit; False if its contact's version changed, and then nothing was written.

        Raises:
            GraphError: see ``DecisionStore.commit_decisions``. The error is about this commit
                alone.
        """
        own = _Asked(commit)
        try:
            self._waiting[own] = None
            batch = self._taken(own)
            if len(batch) > 1:
                self._send(own, batch)
            if own.is_written is None:
                own.is_written = bool(self._store.commit_decisions([commit]))
            return own.is_written
        finally:
            self._leave(own, ())

    def _taken(self, own: _Asked) -> list[_Asked]:
        """Return the commits for this thread to send, its own first; empty if its own was sent."""
        while True:
            with self._lock:
                # Whether the thread that was to send it has left without an answer.
                is_left = own.sender is not None and own.sender not in self._sending
                if own.is_written is not None or is_left:
                    return []
                began, now = list(self._sending.values()), time.monotonic()
                at_work = [since for since in began if now - since < STALLED_SECONDS]
                may_send = len(at_work) < AT_ONCE_MAX and self._first() == [own]
                if own.sender is None and may_send:
                    return self._take(own)
            own.wait()

    def _first(self) -> list[_Asked]:
        return list(self._waiting)[:1]

    def _take(self, own: _Asked) -> list[_Asked]:
        """Take the waiting commits, in their order, at most one for each contact."""
        self._sending[own] = time.monotonic()
        taken: dict[str, _Asked] = {}
        for other in list(self._waiting):
            taken.setdefault(other.commit.decision.scope.contact_key, other)
            if len(taken) == BATCH_MAX:
                break
        batch = list(taken.values())
        for other in batch:
            other.sender = own
            self._waiting.pop(other, None)
        return batch

    def _send(self, own: _Asked, batch: Sequence[_Asked]) -> None:
        """Send the commits; if that fails, none has an answer, and each thread sends its own."""
        try:
            commits = [each.commit for each in batch]
            written = self._store.commit_decisions(commits, seconds_max=BATCH_SECONDS_MAX)
            for each in batch:
                each.is_written = each.commit.decision.decision_id in written
        except Exception as error:  # noqa: BLE001 (whose fault it is, each alone finds out)
            failed = type(error).__name__
            _log.info(
                "%d commits failed together (%s); each is sent again alone", len(batch), failed
            )
        finally:
            self._leave(own, batch)

    def _leave(self, own: _Asked, batch: Sequence[_Asked]) -> None:
        self._sending.pop(own, None)  # first, and no call of Python's: no interrupt comes before
        self._waiting.pop(own, None)
        for other in (*batch, *self._first()):
            other.call()


Other = TypeVar("Other")


@frozen
class Seen:
    """A contact as a plan sees it.

    Attributes:
        version: the contact's version.
        number: the number of the attempt, from 1.
        neighbours: the facts that decide about the note, nearest first; None without an embedder,
            empty if nothing is compared.
        facts: the same facts by id.
        lapsed: the facts that are stored as live but have expired, by id, each with its end if it
            is known.
        disputed: the other sides of each of those facts that is in dispute, by its id.
        linked_ids: the facts that may have a link of a dispute; None if that is not known.
        sessions: the contact's sessions that this process has seen, as a commit has them.
        forgotten: the contact's words that are forgotten, or will be soon.
        replacing_none: the facts that are known to have replaced no other; plans add to them.
        note: the note as the contact's facts place it; None for a note that is not compared.
        compare_ms: the milliseconds of the look.
        is_late: whether the note was said before a known fact.
    """

    version: int
    number: int = 1
    neighbours: Neighbours | None = ()
    facts: FactsById = field(default_factory=dict)
    lapsed: Mapping[str, datetime | None] = field(default_factory=dict)
    disputed: Mapping[str, tuple[Fact, ...]] = field(default_factory=dict)
    linked_ids: Set[str] | None = None
    sessions: Mapping[str, datetime] = field(default_factory=dict)
    forgotten: Forgotten = NOTHING
    replacing_none: set[str] = field(default_factory=set)
    note: Note | None = None
    compare_ms: float = 0.0
    is_late: bool = False

    def placed(self, submission: Submission) -> Submission:
        """Return the submission with its note as the contact's facts place it."""
        return submission if self.note is None else submission.about(self.note)


@dataclass(kw_only=True, eq=False)
class Ledger:
    """Writes decisions, each exactly once.

    Attributes:
        decision_store: the store of decisions.
        neighbourhoods: the facts of contacts that this process has read.
        retry_policy: how often to plan again, if other writers keep coming first.
        clock: the time now, UTC-aware.
        withholding: makes the decision in place of a note that repeats forgotten words; called only
            if there are any.
        is_judged: whether a judge may be asked; it reads more than the nearest facts.
    """

    decision_store: DecisionStore
    neighbourhoods: Neighbourhoods
    retry_policy: RetryPolicy
    clock: Clock
    withholding: Callable[[], Withholding]
    is_judged: bool = False

    def __post_init__(self) -> None:
        self._turns = ContactTurns()
        self._commits = GatheredCommits(self.decision_store)

    def find_earlier(self, submission: Submission) -> Decision | None:
        """Return the decision if an earlier call made it, marked as returned again."""
        if submission.note.idempotency_key is None and submission.settles_id is None:
            return None
        earlier = self._find(submission)
        return earlier and earlier.as_replay()

    def write(
        self,
        submission: Submission,
        plan: Callable[[Seen], Commit | Other],
        tried: int = 0,
    ) -> Decision | Other:
        """Write a decision with its effects, and return it.

        Args:
            submission: the submission; its vector is compared, if it has one.
            plan: makes the commit from the contact as it was seen. It only reads, and may be called
                again. If it returns something else, that is returned and nothing is written.
            tried: the number of earlier attempts.

        Raises:
            GraphUnavailableError: the engine stayed unavailable. Then it is unknown whether the
                last attempt was written; repeat the call with the same idempotency key.
            GraphConflictError: other writers came first too often; nothing was written.
        """

        def once(number: int) -> Decision | Other:
            number += tried
            if number > 1 and (earlier := self._find(submission)):
                is_own = earlier.episode_id == submission.episode_id
                return earlier if is_own else earlier.as_replay()
            seen = self._look(submission, number)
            # Forgotten words do not come back by themselves.
            reason = seen.forgotten.speaks_against(seen.placed(submission), seen.facts.values())
            planned = (
                plan(seen)
                if reason is None
                else self.withholding().commit(submission, reason, seen.version, seen.number)
            )
            if not isinstance(planned, Commit):
                return planned
            self._commit(planned)
            return planned.decision

        with self._turns.turn(submission.scope) as take_turn:
            return call_with_retries(
                self.retry_policy, once, before_each=take_turn, retried=GraphConflictError
            )

    @contextmanager
    def turn_at(self, scope: Scope) -> Iterator[Callable[[], bool]]:
        """Give a turn at a contact for a write that is no decision; call it before each try.

        At the end this process drops the facts that it has read of the contact, because they
        changed.
        """
        with self._turns.turn(scope) as take_turn:
            try:
                yield take_turn
            finally:
                self.neighbourhoods.drop(scope)

    def write_many(
        self, submissions: Sequence[Submission], plan: Callable[[Submission, Seen], object]
    ) -> list[Decision | None]:
        """Write the decisions about many notes in one transaction.

        Args:
            submissions: the submissions; those of one contact are in the order of their decisions.
                Each is planned on the state that the earlier ones leave.
            plan: see ``write``.

        Returns:
            A decision for each; None for a note that must be written alone, afterwards. Its plan is
            no commit, or depends on writes of the same batch; or its contact's version changed,
            perhaps during the look; or the whole batch failed. After a failure it is unknown
            whether the batch was written.
        """
        forks: dict[str, Neighbourhood] = {}
        commits: dict[str, Commit] = {}
        stopped: set[str] = set()
        for submission in submissions:
            decision_id, key = submission.decision_id, submission.scope.contact_key
            if key in stopped or decision_id in commits:
                stopped.add(key)
                continue
            planned = self._planned(submission, plan, forks)
            if isinstance(planned, Commit) and not _is_alone(planned, commits.values()):
                commits[decision_id] = planned
                # Plans are read from the store, which does not have this commit yet.
                made = planned.decision
                replaced = self.is_judged and made.superseded_ids
                if not forks[key].apply(planned) or made.planned_ends or replaced:
                    stopped.add(key)
            else:
                stopped.add(key)
        written = self._write_batch(list(commits.values()))
        return [written.pop(submission.decision_id, None) for submission in submissions]

    def _planned(
        self,
        submission: Submission,
        plan: Callable[[Submission, Seen], object],
        forks: dict[str, Neighbourhood],
    ) -> object:
        """Return the plan of one note of a batch; None if it must be decided again, alone."""
        scope = submission.scope
        try:
            if scope.contact_key not in forks:
                forks[scope.contact_key] = self.neighbourhoods.of(scope).fork()
            seen = self.seen_in(forks[scope.contact_key], submission)
            placed = seen.placed(submission)
            is_held_back = seen.forgotten.speaks_against(placed, seen.facts.values())
            return None if is_held_back else plan(submission, seen)
        except GraphConflictError:  # an engine that is unavailable was waited for already
            return None

    def _write_batch(self, commits: list[Commit]) -> dict[str, Decision]:
        """Write a batch, and return its written decisions by id."""
        started = time.perf_counter()
        try:
            with span("reconciler.commit"):
                ids = self.decision_store.commit_decisions(commits) if commits else set()
        except GraphUnavailableError:  # it was waited for already
            for commit in commits:
                self.neighbourhoods.drop(commit.decision.scope)
            raise
        except GraphError:  # it is unknown whether it was written; each alone finds out
            ids = set()
        made, commit_ms = {}, _milliseconds_since(started) / max(len(ids), 1)
        for commit in commits:
            decision = commit.decision
            if decision.decision_id in ids:
                self.neighbourhoods.apply(commit)
                made[decision.decision_id] = decision
                log_decision(decision, commit_ms)
            else:
                self.neighbourhoods.drop(decision.scope)
        return made

    def _find(self, submission: Submission) -> Decision | None:
        return self.decision_store.find_decision(submission.scope, submission.decision_id)

    @span("reconciler.look")
    def _look(self, submission: Submission, number: int) -> Seen:
        scope, started = submission.scope, time.perf_counter()
        if submission.vector is None or not submission.vector.size:
            version, forgotten = self.neighbourhoods.standing(scope)
            neighbours = () if submission.vector is None else None
            return Seen(version=version, number=number, neighbours=neighbours, forgotten=forgotten)
        known = self.neighbourhoods.of(scope)
        return replace(
            self.seen_in(known, submission, number), compare_ms=_milliseconds_since(started)
        )

    def seen_in(self, known: Neighbourhood, submission: Submission, number: int = 1) -> Seen:
        """Return a contact's neighbourhood, as the plan of a submission sees it."""
        vector = submission.vector
        if vector is None or not vector.size:
            return Seen(
                version=known.version, number=number, neighbours=None, forgotten=known.forgotten
            )
        note, now = submission.note, self.clock()
        if needs_placing(note):
            note = known.placing(note.called).place(note)
        version, neighbours, facts = known.look(
            note, vector, now, submission.named_ids, is_wide=self.is_judged
        )
        return Seen(
            version=version,
            number=number,
            neighbours=neighbours,
            facts=facts,
            lapsed=known.lapsed(now),
            # Should a commit come between the two looks, this plan's own fails its version check.
            disputed=known.disputed_facts(facts),
            linked_ids=known.linked_ids,
            sessions=known.sessions,
            forgotten=known.forgotten,
            replacing_none=known.replacing_none,
            note=note,
            is_late=note.is_dated and known.is_told_since(note.said_at),
        )

    def _commit(self, commit: Commit) -> None:
        scope, started = commit.decision.scope, time.perf_counter()
        try:
            with span("reconciler.commit"):
                is_written = self._commits.write(commit)
        except BaseException:  # it is unknown whether it was written
            self.neighbourhoods.drop(scope)
            raise
        if not is_written:
            self.neighbourhoods.drop(scope)
            raise GraphConflictError(
                f"contact {scope.contact_id} changed after version {commit.version}; try again"
            )
        self.neighbourhoods.apply(commit)
        log_decision(commit.decision, _milliseconds_since(started))


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _is_alone(planned: Commit, commits: Iterable[Commit]) -> bool:
    """True if a commit cannot be written with these.

    Either it replaces a fact that they write, and the history of that fact is not stored yet. Or it
    revokes a fact: later notes must be compared with the revoked words.
    """
    if planned.decision.action is Action.REVOKE:
        return True
    if planned.restated_id is not None or not planned.decision.superseded_ids:
        return False
    written = {commit.fact.fact_id for commit in commits if commit.fact}
    return not written.isdisjoint(planned.decision.superseded_ids)


QUEUE_STALLED_SECONDS = 5.0
"""The wait for a turn, which takes about 30 ms, and ten times that on a busy machine. A longer turn
waits for an unavailable engine; then the next writers ask the engine themselves."""


@dataclass(slots=True)
class _Queue:
    turns: Turns = field(default_factory=Turns)
    user_count: int = 0


class ContactTurns:
    """A queue of writers for each contact that is being written about now.

    Args:
        stalled_seconds: how long a queue may wait without progress before its writers continue
            without a turn.
    """

    def __init__(self, stalled_seconds: float = QUEUE_STALLED_SECONDS) -> None:
        self._stalled_seconds = stalled_seconds
        self._lock = threading.Lock()
        self._queues: dict[str, _Queue] = {}

    @contextmanager
    def turn(self, scope: Scope) -> Iterator[Callable[[], bool]]:
        """Take the returned turn before each attempt to write; a writer keeps it until the end.

        If the queue does not move, taking it gives False: then proceed without the turn. During a
        turn ask no slow arbiter and embed nothing, because the other writers wait.
        """
        with self._lock:
            queue = self._queues.setdefault(scope.contact_key, _Queue())
            queue.user_count += 1
        try:
            with queue.turns.turn() as turn:
                yield partial(turn.take, self._stalled_seconds, while_moving=True)
        finally:
            with self._lock:
                queue.user_count -= 1
                if not queue.user_count:
                    del self._queues[scope.contact_key]
