"""Asking the arbiter: within a budget, only if it is reachable, and each question once.

Here: whether the arbiter is asked about a note, the cost, and whether its answer may be used. Never
here: the protocol of an arbiter, or the decision about the note; without a judgement the rule alone
decides. Budget and breaker are our own code: pybreaker, circuitbreaker, purgatory, limits and
pyrate-limiter lock, block or keep the time in ways that threads cannot share or tests cannot set.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from cachetools import LRUCache

from reconciler.domain.reconciling.rule import check_judgement
from reconciler.domain.records.decisions import UNSURE, Judgement, Verdict
from reconciler.domain.records.facts import Neighbour, replaced_by
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note, Scope, storable
from reconciler.domain.records.policies import ArbitrationPolicy
from reconciler.errors import (
    ArbiterAnswerError,
    ArbiterError,
    ArbiterRefusedError,
    ReconcilerError,
)
from reconciler.frozen import frozen
from reconciler.ports.arbiter import Arbiter
from reconciler.tracing import span

MINUTE_SECONDS = 60.0
DAY_SECONDS = 86_400.0


@frozen
class Opinion:
    """The arbiter's answer or its failure; ``ask`` never raises.

    Invariant: exactly one of ``judgement`` and ``error`` is None.

    Attributes:
        judgement: the checked, usable answer; an ADD has no target, unless it is unsure.
        error: the reason why no answer can be used, in words.
        answer: the answer, used or not; None without an answer.
        milliseconds: how long it took, 0 or more.
        cost_usd: the cost in US dollars; 0 if nothing was asked, None if it is not known.
        is_cached: the same question was answered before, and the answer was used again.
        by: the arbiter that answered, or would have been asked.
    """

    judgement: Judgement | None = None
    error: str | None = None
    milliseconds: float = 0.0
    cost_usd: float | None = None
    is_cached: bool = False
    answer: Judgement | None = None
    by: str | None = None

    @property
    def reasoning(self) -> str | None:
        """Return the arbiter's reasoning, even if its answer was not used."""
        return self.answer.reasoning if self.answer else None


@dataclass(eq=False)
class Arbitration:
    """An arbiter within its bounds, for any number of threads.

    ``ask`` never raises. Two threads with the same question at the same time may both ask it.

    Attributes:
        arbiter: the arbiter; its owner closes it.
        policy: the bounds.
        clock: seconds, never going back.
        is_free: whether a call costs nothing, so that no budget is needed.
        first: a free judge, which is asked first. If it is sure that the note touches none of the
            facts, the arbiter is not asked.
    """

    arbiter: Arbiter
    policy: ArbitrationPolicy
    clock: Callable[[], float] = time.monotonic
    is_free: bool = False
    first: Arbiter | None = None

    def __post_init__(self) -> None:
        self.name = self.arbiter.name
        self._lock = threading.Lock()
        self._budget = _Budget(self.policy)
        self._breaker = _Breaker(self.policy)
        self._answers: LRUCache[bytes, Judgement] = LRUCache(self.policy.cache_size_max)
        self._is_closed = threading.Event()
        self._has_answered = False

    @property
    def is_quick(self) -> bool:
        """True if an answer takes milliseconds, because a free judge is loaded."""
        return self.is_free and self._has_answered

    def is_open_to(self, verdict: Verdict) -> bool:
        """True if the arbiter is asked, because it may overrule this verdict of the rule.

        An end by the rule itself is sure; the small free judge is not asked about it.
        """
        return verdict.can_be_arbitrated and not (self.is_free and verdict.is_replacement)

    def close(self) -> None:
        """Stop all waiting for the budget; the arbiter stays open."""
        self._is_closed.set()

    def warm_up(self) -> None:
        """Make a free judge read a note that is not kept, so that a real note need not wait."""
        judge = self.arbiter if self.is_free else self.first
        if judge is None:
            return
        scope = Scope("any", "any", "any")
        note = Note(scope=scope, text="any", said_at=datetime.now(UTC))
        near = Neighbour(fact_id="any", text="any", cosine=1.0, valid_from=note.said_at)
        with suppress(ReconcilerError):  # a damaged file is told of where a note is decided
            judge.judge(note, [near])
            self._has_answered = True

    def forget(self) -> None:
        """Forget all answers: they may quote the contact's words."""
        with self._lock:
            self._answers.clear()

    @span("reconciler.arbiter")
    def ask(
        self, note: Note, neighbours: Sequence[Neighbour], *, is_patient: bool = False
    ) -> Opinion:
        """Ask the arbiter about a note; return its judgement, or the reason why there is none.

        Args:
            note: the note to remember.
            neighbours: the facts near to it, nearest first, 1 to 5 of them.
            is_patient: whether to wait, at most a minute at a time, if the budget of a minute is
                used up. The call never waits for the budget of a day or an unreachable arbiter.
        """
        started = self.clock()
        question = _question_key(self.name, note, neighbours)
        opinion = self._remembered(question)
        while opinion is None and is_patient and (wait := self._wait_seconds()):
            if self._is_closed.wait(wait):
                break
            opinion = self._remembered(question)
        opinion = opinion or self._spared(note, neighbours) or self._turned_away()
        if opinion is None:
            opinion = self._asked(note, neighbours)
            if opinion.judgement is not None and self.policy.cache_size_max:
                with self._lock:  # without its cost, which is already counted
                    self._answers[question] = replace(opinion.judgement, usage=None)
        took = (self.clock() - started) * 1000
        return replace(opinion, milliseconds=took, by=opinion.by or self.name)

    def _spared(self, note: Note, neighbours: Sequence[Neighbour]) -> Opinion | None:
        """Return the answer of the first judge, if the arbiter need not be asked."""
        if self.first is None:
            return None
        try:
            answer = self.first.judge(note, neighbours)
        except ArbiterError:  # the arbiter itself is asked, as without it
            return None
        if answer.relation is not Relation.COEXISTS:
            return None
        return Opinion(judgement=answer, answer=answer, cost_usd=0.0, by=self.first.name)

    def _remembered(self, question: bytes) -> Opinion | None:
        with self._lock:
            answer = self._answers.get(question)
        if answer is None:
            return None
        return Opinion(judgement=answer, cost_usd=0.0, is_cached=True, answer=answer)

    def _turned_away(self) -> Opinion | None:
        """Return the reason not to ask now; None if the question may be asked, and is counted."""
        with self._lock:
            now = self.clock()
            obstacle = self._breaker.obstacle(now)
            if not self.is_free:
                obstacle = obstacle or self._budget.obstacle(now)
            if obstacle is None:
                self._breaker.begin(now)
                if not self.is_free:
                    self._budget.spend(now)
                return None
        return Opinion(error=f"{obstacle}; decided without the arbiter", cost_usd=0.0)

    def _wait_seconds(self) -> float:
        """Return the seconds until the minute's budget has room; 0 if waiting is useless."""
        with self._lock:
            now = self.clock()
            return 0.0 if self._breaker.obstacle(now) else self._budget.wait_seconds(now)

    def _asked(self, note: Note, neighbours: Sequence[Neighbour]) -> Opinion:
        try:
            answer = self.arbiter.judge(note, neighbours)
            answer = replace(answer, reasoning=storable(answer.reasoning))
            error = self._fault(answer, len(neighbours))
            # An ADD keeps only a target that is suspected, so that no other is looked up.
            is_idle = answer.action is Action.ADD and answer.relation is not Relation.UNSURE
            used = replace(answer, target=None) if is_idle else answer
            opinion = Opinion(
                judgement=None if error else used,
                error=error,
                cost_usd=0.0 if self.is_free else self.policy.cost_usd(answer.usage),
                answer=answer,
            )
        except (ArbiterRefusedError, ArbiterAnswerError) as error:
            # The arbiter is reachable; a bad answer to one note says nothing about the next.
            self._reached()
            return _failed(error)
        except Exception as error:  # noqa: BLE001 - whatever an arbiter does, the note is kept
            with self._lock:
                self._breaker.fail(self.clock())
            return _failed(error)
        self._reached()
        return opinion

    def _reached(self) -> None:
        self._has_answered = True
        with self._lock:
            self._breaker.succeed()

    def _fault(self, answer: Judgement, neighbour_count: int) -> str | None:
        """Return the reason why the answer may not be used, or None."""
        try:
            check_judgement(answer, neighbour_count)
        except ArbiterAnswerError as error:
            return _in_words(error)
        if not 0 <= answer.confidence <= 1:
            return f"a confidence of {answer.confidence} is not from 0 to 1"
        # An unsure ADD is no safe answer either: it would close the dispute that the rule opens.
        is_told = answer.relation is not Relation.UNSURE
        if answer.confidence < self.policy.confidence_min and is_told:
            return f"{UNSURE} {answer.confidence} is below {self.policy.confidence_min:g}"
        return None


class _Budget:
    """The times of the questions of the last day; not for two threads at a time."""

    def __init__(self, policy: ArbitrationPolicy) -> None:
        self._minute_max, self._day_max = policy.calls_per_minute_max, policy.calls_per_day_max
        self._asked_at: deque[float] = deque()

    def obstacle(self, now: float) -> str | None:
        """Return the reached bound, or None."""
        while self._asked_at and now - self._asked_at[0] >= DAY_SECONDS:
            self._asked_at.popleft()
        if self._wait(self._minute_max, MINUTE_SECONDS, now) > 0:
            return f"over the budget of {self._minute_max:,} calls a minute"
        if self._wait(self._day_max, DAY_SECONDS, now) > 0:
            return f"over the budget of {self._day_max:,} calls a day"
        return None

    def wait_seconds(self, now: float) -> float:
        """Return the seconds until a minute's bound has room; 0 if waiting is useless."""
        wait = self._wait(self._minute_max, MINUTE_SECONDS, now)
        is_useless = wait == math.inf or self._wait(self._day_max, DAY_SECONDS, now) > 0
        return 0.0 if is_useless else max(wait, 0.0)

    def _wait(self, count_max: int, seconds: float, now: float) -> float:
        """Return the seconds until a bound has room; for ever if it allows nothing."""
        if len(self._asked_at) < count_max:
            return 0.0
        return self._asked_at[-count_max] + seconds - now if count_max else math.inf

    def spend(self, now: float) -> None:
        """Count a question."""
        self._asked_at.append(now)


class _Breaker:
    """A circuit breaker: counts the arbiter's failures in a row; not for two threads at a time.

    The circuit is closed while failures are few. When it is open, no question is asked. After some
    time it lets one question through, and the others wait for its result, at most as long again. So
    a question without an answer never blocks the others for ever.
    """

    def __init__(self, policy: ArbitrationPolicy) -> None:
        self._failures_max = policy.breaker_failures_max
        self._reset_seconds = policy.breaker_reset_seconds
        self._failures = 0
        self._open_until = -math.inf

    def obstacle(self, now: float) -> str | None:
        """Return the reason not to ask while the circuit is open; else None."""
        if now >= self._open_until:
            return None
        seconds = math.ceil(self._open_until - now)
        return f"circuit open after {self._failures} failures, asked again in {seconds} s"

    def begin(self, now: float) -> None:
        """Let a question through; with an open circuit it is the only one."""
        if self._failures >= self._failures_max:
            self._open_until = now + self._reset_seconds

    def succeed(self) -> None:
        """Close the circuit: the arbiter answered."""
        self._failures = 0
        self._open_until = -math.inf

    def fail(self, now: float) -> None:
        """Count a failure of the arbiter; open the circuit if it failed too often."""
        self._failures += 1
        self.begin(now)


def _question_key(name: str, note: Note, neighbours: Sequence[Neighbour]) -> bytes:
    """Make the key of a question: a digest of the arbiter's name and of all its input.

    Equal questions have equal answers. The tenant is part of the key, so that a quick answer never
    shows one tenant another tenant's question; agent and contact are not. The key is a digest, so
    that no text is kept longer than its answer.
    """
    asked = (
        name,
        note.scope.tenant,
        (note.text, _day(note.said_at), _day(note.holds_from), note.trust, note.slot),
        *(
            (fact.text, _day(fact.valid_from), fact.trust, fact.slot, replaced_by(fact))
            for fact in neighbours
        ),
    )
    return hashlib.sha256(repr(asked).encode()).digest()


def _day(time: datetime) -> date:
    return time.astimezone(UTC).date()


def _failed(error: Exception) -> Opinion:
    return Opinion(error=_in_words(error))


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
