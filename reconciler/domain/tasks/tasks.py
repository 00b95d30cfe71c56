"""Tasks: what is kept of one while it runs, and what an agent holds in its head meanwhile.

A ``Task`` is durable and says how far the work is; ``WorkingMemory`` is this process's alone. No
way from the second into a store may ever live here: what an agent supposes is no fact until it has
survived the task and the write gate. The outcome is a sentence made of what is kept of the task:
nothing that an agent says when it is done is taken for one. It is filed under a subject that no
caller's words make, so it neither ends what is known of the contact nor stands against it.

The phases of a task, and what memory may be read and written in each. Pure; no store, no clock.

An agent touches memory at every step of its loop, and an error that is written early is read, acted
on and written again. So every operation on memory belongs to states, and every step from one state
to the next is named here; what an operation does stands elsewhere.
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
from reconciler.frozen import frozen

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
        """True if the task is over; it never goes on then."""
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
    """States that a name stands for: one, ``open`` for all that have not ended, None for all.

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
            f"{operation} is not legal in state {state}; the legal operations are "
            f"{_names(LEGAL[state])}"
            + (f", and the steps {_names(steps)}" if steps else "; the task has ended")
        )


def after(state: TaskState, step: Step) -> TaskState:
    """State that a step leads to.

    Raises:
        IllegalMemoryOperationError: the state allows no such step; the text names it, the step and
            what is legal.
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
    """One task as it is kept: how far it is, never a guess.

    Attributes:
        task_id: its id, one of its scope's.
        scope: for whom it is done.
        session_id: the session that it was last worked on in.
        goal: what is to be achieved.
        state: where it stands.
        done: the subtasks that are done, in the order in which they were.
        decided: what was decided on the way, in its order.
        blocker: what it waits for; None where nothing holds it up.
        started_at: when it began (UTC).
        changed_at: when any of that was last written (UTC).
        outcome_id: the decision about what came of it, made when it ended; None before, and where
            the task ended without anything that it could rest on.
    """

    task_id: str
    scope: Scope
    session_id: str
    goal: str
    state: TaskState
    started_at: datetime
    changed_at: datetime
    done: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    blocker: str | None = None
    outcome_id: str | None = None


@dataclass(slots=True, kw_only=True, repr=False)
class WorkingMemory:
    """An agent's working memory during one task; it ends with the task.

    It is never stored: it cannot be pickled, and it does not show what it holds, so that no log
    keeps it either.

    Attributes:
        task: the working copy of the task, with this process's own writes.
        facts: what was recalled in this task, the oldest recall first, each fact once.
        observations: what came in, as far as the agent wants to have it at hand.
        hypotheses: what the agent supposes.
    """

    task: Task
    facts: list[RankedFact] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)
    hypotheses: list[str] = field(default_factory=list)

    def observe(self, text: str) -> None:
        """Have something at hand that came in."""
        self.observations.append(text)

    def suppose(self, text: str) -> None:
        """Have something at hand that may be so."""
        self.hypotheses.append(text)

    def know(self, facts: list[RankedFact]) -> None:
        """Have recalled facts at hand; one that is there already is not added again."""
        known = {hit.fact.fact_id for hit in self.facts}
        self.facts += [hit for hit in facts if hit.fact.fact_id not in known]

    def __reduce__(self) -> NoReturn:
        raise TypeError("working memory is never stored; keep progress with task_memory.checkpoint")


SUBJECT = "(task)"
"""The subject of an outcome's slot. Folded, a caller's words lose the brackets."""

_SUFFIX = "_outcome"
"""Without an ending of its own, a task named after a secret would pass for one."""

_ENDED = {TaskState.SUCCESS: "Achieved", TaskState.FAILURE: "Not achieved"}


def outcome_slot(task: Task) -> Slot:
    """Question what came of the task; it has one answer."""
    return Slot(
        subject=SUBJECT,
        attribute=f"{task.task_id}{_SUFFIX}",
        value=str(task.state),
        value_key=f"{task.task_id} {task.state}",  # else two tasks would be one matter
        is_single_valued=True,
        is_known=True,
    )


def outcome_text(task: Task) -> str:
    """Outcome of an ended task, as one text of a note's length at most."""
    parts = [f"{_ENDED[task.state]}: {_ended(task.goal)}"]
    parts += _listed("Done", task.done) + _listed("Decided", task.decided)
    if task.blocker:
        parts.append(f"Held up by: {_ended(task.blocker)}")
    return _within(parts)


def _listed(name: str, said: Iterable[str]) -> list[str]:
    listed = "; ".join(words.rstrip(". ") for words in said)
    return [f"{name}: {listed}."] if listed else []


def _ended(said: str) -> str:
    """Text on one line, with its full stop."""
    line = " ".join(said.split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _within(parts: list[str]) -> str:
    text = " ".join(parts)
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[: TEXT_LENGTH_MAX - 2].rstrip()} …"
