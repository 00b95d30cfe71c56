"""Tasks: their stored state, an agent's working memory, and what each phase may read and write.

A ``Task`` is durable and holds the progress of the work; ``WorkingMemory`` belongs only to this
process. Code that stores working memory must never be here: an agent's guess is not a fact until
the task has ended and the write gate has admitted it. The outcome is a sentence made from the
stored task, never from an agent's last words. Its subject cannot come from a caller's words, so it
neither ends a fact about the contact nor contradicts one.

An agent uses memory at every step of its loop, and an early error is read, acted on and written
again. So every operation on memory belongs to states, and every step from one state to the next is
named here. The operations themselves are elsewhere. No store and no clock is used here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NoReturn, TypeAlias

from reconciler.domain.records.facts import RankedFact
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Scope, Slot, not_one_of
from reconciler.errors import IllegalMemoryOperationError, InvalidRequestError
from reconciler.frozen import Strings, frozen

OPEN = "open"
"""The states of tasks that have not ended."""


class TaskState(StrEnum):
    """The state of a task."""

    START = "start"
    DECIDING = "deciding"
    AFTER_TOOL_RESULT = "after_tool_result"
    """An input came from outside: a tool's result, or a message."""
    SUCCESS = "success"
    FAILURE = "failure"
    INTERRUPTED = "interrupted"

    @property
    def is_terminal(self) -> bool:
        """True if the task has ended, and so never continues."""
        return self in (TaskState.SUCCESS, TaskState.FAILURE)


AnyTaskState: TypeAlias = (
    TaskState
    | Literal["open", "start", "deciding", "after_tool_result", "success", "failure", "interrupted"]
)


class Operation(StrEnum):
    """An operation on memory; its value is the wording for error texts."""

    READ_TASK = "task_memory.load"
    READ_PROCEDURES = "procedures"
    RECALL = "recall"
    WORKING = "working"
    """Working memory, read or written: it is the agent's own scratchpad."""
    RECALL_ABOUT = "recall_about"
    LOG_EPISODE = "log_episode"
    MARK_DONE = "task_memory.mark_done"
    SET_BLOCKER = "task_memory.set_blocker"
    CHECKPOINT = "task_memory.checkpoint"
    READ_EPISODES = "episodes"
    PROPOSE_DURABLE = "propose_durable"
    PROPOSE_PROCEDURE = "propose_procedure"
    PROPOSE_REFLECTION = "propose_reflection"
    COMMIT = "commit"


class Step(StrEnum):
    """A step from one state to another; its value is the wording for error texts."""

    DECIDING = "deciding"
    TOOL_RETURNED = "tool_returned"
    OBSERVED = "observed"
    SUCCEED = "succeed"
    FAIL = "fail"
    INTERRUPT = "interrupt"
    RESUME = "resume"


LEGAL: Mapping[TaskState, Set[Operation]] = {
    TaskState.START: {Operation.READ_TASK, Operation.READ_PROCEDURES, Operation.RECALL},
    TaskState.DECIDING: {Operation.WORKING},
    TaskState.AFTER_TOOL_RESULT: {
        Operation.WORKING,
        Operation.RECALL_ABOUT,
        Operation.LOG_EPISODE,
        Operation.MARK_DONE,
        Operation.SET_BLOCKER,
        Operation.CHECKPOINT,
    },
    TaskState.SUCCESS: {
        Operation.READ_EPISODES,
        Operation.PROPOSE_DURABLE,
        Operation.PROPOSE_PROCEDURE,
        Operation.COMMIT,
    },
    TaskState.FAILURE: {Operation.READ_EPISODES, Operation.PROPOSE_REFLECTION, Operation.COMMIT},
    TaskState.INTERRUPTED: {Operation.READ_TASK, Operation.CHECKPOINT},
}
"""The operations that each state allows. Durable memory is written only after there is evidence,
only working memory is used while deciding, and a fact is proposed only after the task: a hypothesis
that is written at step three is believed at step nine."""

_FROM_WITHIN = {
    Step.TOOL_RETURNED: TaskState.AFTER_TOOL_RESULT,
    Step.OBSERVED: TaskState.AFTER_TOOL_RESULT,
    Step.SUCCEED: TaskState.SUCCESS,
    Step.FAIL: TaskState.FAILURE,
    Step.INTERRUPT: TaskState.INTERRUPTED,
}

STEPS: Mapping[TaskState, Mapping[Step, TaskState]] = {
    TaskState.START: {
        Step.DECIDING: TaskState.DECIDING,
        Step.OBSERVED: TaskState.AFTER_TOOL_RESULT,
        Step.INTERRUPT: TaskState.INTERRUPTED,
    },
    TaskState.DECIDING: _FROM_WITHIN,
    TaskState.AFTER_TOOL_RESULT: {Step.DECIDING: TaskState.DECIDING, **_FROM_WITHIN},
    TaskState.SUCCESS: {},
    TaskState.FAILURE: {},
    TaskState.INTERRUPTED: {Step.RESUME: TaskState.START},
}
"""The state that each step leads to. The first message of a task is evidence from outside, not a
write of the start state; so ``observed`` leads to the state for such evidence. An interrupted task
continues from its start, because it must read its facts again."""


def states_named(name: AnyTaskState | None) -> tuple[TaskState, ...]:
    """Return the states of a name: one, ``open`` for all that have not ended, None for all.

    Raises:
        InvalidRequestError: there is no such state.
    """
    if name is None:
        return tuple(TaskState)
    if name == OPEN:
        return tuple(state for state in TaskState if not state.is_terminal)
    try:
        return (TaskState(name),)
    except ValueError:
        raise InvalidRequestError(not_one_of("state", name, (OPEN, *TaskState))) from None


def check(state: TaskState, operation: Operation) -> None:
    """Check that the state allows an operation.

    Raises:
        IllegalMemoryOperationError: the state does not allow it; the text names the state, the
            operation and the legal ones.
    """
    if operation not in LEGAL[state]:
        steps = STEPS[state]
        raise IllegalMemoryOperationError(
            f"{operation} is not legal in state {state}; the legal operations are "
            f"{_names(LEGAL[state])}"
            + (f", and the steps {_names(steps)}" if steps else "; the task has ended")
        )


def after(state: TaskState, step: Step) -> TaskState:
    """Return the state that a step leads to.

    Raises:
        IllegalMemoryOperationError: the state allows no such step; the text names it, the step and
            the legal ones.
    """
    state_after = STEPS[state].get(step)
    if state_after is None:
        legal = _names(STEPS[state])
        raise IllegalMemoryOperationError(
            f"{step} is not legal in state {state}; "
            + (
                f"the legal steps are {legal}"
                if legal
                else "the task has ended: begin another task with a new id"
            )
        )
    return state_after


def _names(names: Iterable[StrEnum]) -> str:
    return ", ".join(sorted(map(str, names)))


@frozen
class Task:
    """A stored task: its progress, never a guess.

    Attributes:
        task_id: its id, unique in its scope.
        scope: the contact that it is done for.
        session_id: the session of its last work.
        goal: its goal.
        state: its state.
        done: the finished subtasks, in the order in which they were finished.
        decided: the decisions of the agent, in their order.
        blocker: the reason for which it waits; None if it does not wait.
        started_at: when it began (UTC).
        changed_at: when any of that was last written (UTC).
        outcome_id: the decision about its outcome, made when it ended; None before that, and for a
            task that ended without evidence.
    """

    task_id: str
    scope: Scope
    session_id: str
    goal: str
    state: TaskState
    started_at: datetime
    changed_at: datetime
    done: Strings = ()
    decided: Strings = ()
    blocker: str | None = None
    outcome_id: str | None = None


@dataclass(slots=True, kw_only=True, repr=False)
class WorkingMemory:
    """An agent's working memory during one task; it ends with the task.

    It is never stored: it cannot be pickled, and it does not show its contents, so no log keeps
    them either.

    Attributes:
        task: the working copy of the task, with this process's own writes.
        facts: the recalled facts of this task, the oldest recall first, each fact once.
        observations: the inputs that the agent keeps at hand.
        hypotheses: the guesses of the agent.
    """

    task: Task
    facts: list[RankedFact] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)
    hypotheses: list[str] = field(default_factory=list)

    def observe(self, text: str) -> None:
        """Keep an input at hand."""
        self.observations.append(text)

    def suppose(self, text: str) -> None:
        """Keep a guess at hand."""
        self.hypotheses.append(text)

    def know(self, facts: list[RankedFact]) -> None:
        """Keep recalled facts at hand; a fact that is already there is not added again."""
        known = {hit.fact.fact_id for hit in self.facts}
        self.facts += [hit for hit in facts if hit.fact.fact_id not in known]

    def __reduce__(self) -> NoReturn:
        raise TypeError("working memory is never stored; keep progress with task_memory.checkpoint")


SUBJECT = "(task)"
"""The subject of an outcome's slot. A caller's words cannot equal it, because folding removes
brackets."""

_SUFFIX = "_outcome"
"""The ending of an outcome's key: without it, a task named after a secret would be taken for the
secret."""

_ENDED = {TaskState.SUCCESS: "Achieved", TaskState.FAILURE: "Not achieved"}


def outcome_slot(task: Task) -> Slot:
    """Return the slot of the question about the task's outcome; it has one answer."""
    return Slot(
        subject=SUBJECT,
        attribute=f"{task.task_id}{_SUFFIX}",
        value=str(task.state),
        value_key=f"{task.task_id} {task.state}",  # else two tasks would be one matter
        is_single_valued=True,
        is_known=True,
    )


def outcome_text(task: Task) -> str:
    """Describe the outcome of an ended task, in a text of at most a note's length."""
    parts = [f"{_ENDED[task.state]}: {_ended(task.goal)}"]
    parts += _listed("Done", task.done) + _listed("Decided", task.decided)
    if task.blocker:
        parts.append(f"Held up by: {_ended(task.blocker)}")
    return _within(parts)


def _listed(name: str, said: Iterable[str]) -> list[str]:
    listed = "; ".join(words.rstrip(". ") for words in said)
    return [f"{name}: {listed}."] if listed else []


def _ended(said: str) -> str:
    """Return a text on one line, with its full stop."""
    line = " ".join(said.split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _within(parts: list[str]) -> str:
    text = " ".join(parts)
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[: TEXT_LENGTH_MAX - 2].rstrip()} …"
