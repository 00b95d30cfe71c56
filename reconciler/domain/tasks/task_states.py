"""The phases of a task, and what memory may be read and written in each. Pure; no store, no clock.

An agent touches memory at every step of its loop, and an error that is written early is read, acted
on and written again. So every operation on memory belongs to states, and every step from one state
to the next is named here; what an operation does stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

from reconciler.domain.records.choices import not_one_of
from reconciler.errors import IllegalMemoryOperationError, InvalidRequestError

OPEN = "open"
"""The states of tasks that have not ended."""


class TaskState(StrEnum):
    """The state of a task."""

    START = "start"
    DECIDING = "deciding"
    AFTER_TOOL_RESULT = "after_tool_result"
    """Something came in from outside: a tool's result, or a message."""
    SUCCESS = "success"
    FAILURE = "failure"
    INTERRUPTED = "interrupted"

    @property
    def is_terminal(self) -> bool:
        """Whether the task is over; it never goes on then."""
        return self in (TaskState.SUCCESS, TaskState.FAILURE)


AnyTaskState: TypeAlias = (
    TaskState
    | Literal["open", "start", "deciding", "after_tool_result", "success", "failure", "interrupted"]
)


class Operation(StrEnum):
    """What can be done with memory, in words that an error may use."""

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
    """What leads from one state to another, in words that an error may use."""

    DECIDING = "deciding"
    TOOL_RETURNED = "tool_returned"
    OBSERVED = "observed"
    SUCCEED = "succeed"
    FAIL = "fail"
    INTERRUPT = "interrupt"
    RESUME = "resume"


LEGAL: Mapping[TaskState, frozenset[Operation]] = {
    TaskState.START: frozenset(
        {Operation.READ_TASK, Operation.READ_PROCEDURES, Operation.RECALL},
    ),
    TaskState.DECIDING: frozenset({Operation.WORKING}),
    TaskState.AFTER_TOOL_RESULT: frozenset(
        {
            Operation.WORKING,
            Operation.RECALL_ABOUT,
            Operation.LOG_EPISODE,
            Operation.MARK_DONE,
            Operation.SET_BLOCKER,
            Operation.CHECKPOINT,
        }
    ),
    TaskState.SUCCESS: frozenset(
        {
            Operation.READ_EPISODES,
            Operation.PROPOSE_DURABLE,
            Operation.PROPOSE_PROCEDURE,
            Operation.COMMIT,
        }
    ),
    TaskState.FAILURE: frozenset(
        {Operation.READ_EPISODES, Operation.PROPOSE_REFLECTION, Operation.COMMIT}
    ),
    TaskState.INTERRUPTED: frozenset({Operation.READ_TASK, Operation.CHECKPOINT}),
}
"""Nothing durable is written before there is evidence, nothing but working memory is touched while
deciding, and no fact is proposed before the task is over: a hypothesis written at
step three is believed at step nine."""

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
"""Where each step leads. The message that a task begins with is evidence that came in, not a
write of the start: ``observed`` says so, and what is legal follows from where it leads. A task that
was interrupted goes on from its start, because what it knew has to be read again."""


def states_named(name: AnyTaskState | None) -> tuple[TaskState, ...]:
    """The states that a name stands for: one, ``open`` for all that have not ended, None for all.

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
    """Let an operation through that the state allows.

    Raises:
        IllegalMemoryOperationError: it does not; the text names the state, the operation and what
            is legal.
    """
    if operation not in LEGAL[state]:
        steps = STEPS[state]
        raise IllegalMemoryOperationError(
            f"{operation} is not legal in state {state}; legal are {_listed(LEGAL[state])}"
            + (f", and the steps {_listed(steps)}" if steps else "; the task is over")
        )


def after(state: TaskState, step: Step) -> TaskState:
    """The state that a step leads to.

    Raises:
        IllegalMemoryOperationError: the state allows no such step; the text names it, the step and
            what is legal.
    """
    state_after = STEPS[state].get(step)
    if state_after is None:
        legal = _listed(STEPS[state])
        raise IllegalMemoryOperationError(
            f"{step} is not legal in state {state}; "
            + (
                f"legal are {legal}"
                if legal
                else "the task is over: begin another, under its own id"
            )
        )
    return state_after


def _listed(names: Iterable[StrEnum]) -> str:
    return ", ".join(sorted(map(str, names)))
