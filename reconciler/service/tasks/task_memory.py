"""A task's memory: its stored state, and one process's run of it, state by state.

``reconciler.domain.tasks.tasks`` says which operation is legal in which state. This module enforces
that, and stores every step. Nothing that could become a fact is here. ``Procedures`` reads an
agent's procedures over all of its contacts, the best fit for a task first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from reconciler.domain.recalling.procedures import (
    SUBJECT,
    Procedure,
    by_fit,
    may_be_offered,
    procedures_of,
)
from reconciler.domain.records.kinds import Clock
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.domain.tasks.tasks import (
    Operation,
    Step,
    Task,
    TaskState,
    WorkingMemory,
    after,
    check,
)
from reconciler.errors import IllegalMemoryOperationError, InvalidRequestError, UnknownTaskError
from reconciler.frozen import frozen
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import embed, embed_queries
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.session_store import TaskStore

_DECIDED_COUNT_MAX = 100


@dataclass(eq=False, kw_only=True)
class TaskRun:
    """One process's run of a task: its state and the agent's working memory.

    Args:
        scope: the contact.
        task_id: the task's id.
        session_id: the session of this run.
        store: the store of tasks.
        clock: the time now, UTC-aware.
    """

    scope: Scope
    task_id: str
    session_id: str
    store: TaskStore
    clock: Clock
    working: WorkingMemory = field(init=False)

    @property
    def state(self) -> TaskState:
        """Return the task's state in this process."""
        return self.working.task.state

    def open(self, goal: str | None) -> None:
        """Begin the task or find it; an existing one that has not ended counts as interrupted.

        Raises:
            UnknownTaskError: there is no such task, and no goal was given to begin it.
        """
        task = self.store.find_task(self.scope, self.task_id)
        if task is None:
            if goal is None:
                raise UnknownTaskError(
                    f"contact {self.scope.contact_id} has no task {self.task_id}; to begin a task, "
                    "give a goal"
                )
            task = self.store.upsert_task(
                self.scope, self.task_id, self.session_id, goal, self.clock()
            )
        elif not task.state.is_terminal:
            task = replace(task, state=TaskState.INTERRUPTED)
        self.working = WorkingMemory(task=task)

    def check(self, operation: Operation) -> None:
        """Check that the state allows an operation.

        Raises:
            IllegalMemoryOperationError: the state does not allow it.
        """
        check(self.state, operation)

    def go(self, step: Step) -> Task:
        """Take a step, in this process and in the store; leaving the loop empties working memory.

        Raises:
            IllegalMemoryOperationError: there is no such step, or another process ended the task.
        """
        state = after(self.state, step)
        stored = self.store.set_state(
            self.scope, self.task_id, state, self.session_id, self.clock()
        )
        if stored is None:
            task = self.found()
            self.working = WorkingMemory(task=task)
            raise IllegalMemoryOperationError(
                f"{step} is not legal in state {task.state}: another process ended the task"
            )
        if state in (TaskState.DECIDING, TaskState.AFTER_TOOL_RESULT):
            self.working.task = stored
        else:
            self.working = WorkingMemory(task=stored)
        return stored

    def keep(self, write: Callable[..., Task], words: object) -> Task:
        """Write to the task in the store, and take over the result, except its state."""
        return self.take_over(write(self.scope, self.task_id, words, self.clock()))

    def take_over(self, stored: Task) -> Task:
        """Take over the task as it is stored, except its state."""
        self.working.task = replace(stored, state=self.state)
        return self.working.task

    def found(self) -> Task:
        """Return the task as it is stored.

        Raises:
            UnknownTaskError: the task was erased.
        """
        task = self.store.find_task(self.scope, self.task_id)
        if task is None:
            raise UnknownTaskError(
                f"contact {self.scope.contact_id} no longer has task {self.task_id}"
            )
        return task


class TaskMemory:
    """The stored state of the task; every call returns it as it was just written.

    Done subtasks and decisions are only added, so two processes on one task never lose each other's
    work.
    """

    def __init__(self, run: TaskRun, clean: Callable[[str], str]) -> None:
        self._run = run
        self._clean = clean

    def load(self) -> Task:
        """Read the task, with what other processes wrote; legal at start or if interrupted.

        Raises:
            IllegalMemoryOperationError: the state allows no such read.
            UnknownTaskError: the task was erased.
        """
        self._run.check(Operation.READ_TASK)
        return self._run.take_over(self._run.found())

    def mark_done(self, subtask_id: str) -> Task:
        """Mark a subtask as done, and return the task; repeating it changes nothing.

        Args:
            subtask_id: the caller's id for it; stored without personal data and secrets.

        Raises:
            IllegalMemoryOperationError: the state allows no such write.
            InvalidRequestError: the id cannot be used.
        """
        self._run.check(Operation.MARK_DONE)
        check_identifier("subtask_id", subtask_id, InvalidRequestError)
        subtask_id = self._clean(subtask_id)
        if subtask_id in self._run.working.task.done:
            return self._run.working.task
        return self._run.keep(self._run.store.add_done_subtask, subtask_id)

    def set_blocker(self, blocker: str | None) -> Task:
        """Write what the task waits for, None for nothing, and return the task.

        Raises:
            IllegalMemoryOperationError: the state allows no such write.
            InvalidNoteError: the text cannot be kept.
        """
        self._run.check(Operation.SET_BLOCKER)
        cleaned = None if blocker is None else self._clean(blocker)
        return self._run.keep(self._run.store.set_blocker, cleaned)

    def checkpoint(self, decided: Sequence[str] = ()) -> Task:
        """Add the agent's decisions to the task, and return it.

        Done subtasks and the blocker are stored already. Observations and hypotheses are not
        stored, because they are not progress.

        Args:
            decided: one sentence for each decision; a stored decision is not added again.

        Raises:
            IllegalMemoryOperationError: the state allows no such write.
            InvalidNoteError: a text cannot be kept.
        """
        self._run.check(Operation.CHECKPOINT)
        if isinstance(decided, str) or not isinstance(decided, Sequence):
            raise InvalidRequestError("decided must be a list of sentences")
        if len(decided) > _DECIDED_COUNT_MAX:
            raise InvalidRequestError(
                f"decided has {len(decided):,} sentences, but at most {_DECIDED_COUNT_MAX} are "
                "allowed at once; give only those that matter"
            )
        cleaned = [self._clean(words) for words in decided]
        if not cleaned:
            return self._run.take_over(self._run.found())
        return self._run.keep(self._run.store.add_decisions, cleaned)

    def resume(self) -> Task:
        """Resume an interrupted task at its start; done subtasks stay done.

        Raises:
            IllegalMemoryOperationError: the task was not interrupted.
        """
        return self._run.go(Step.RESUME)


@frozen
class Procedures:
    """An agent's procedures that operators approved, from all contacts.

    Attributes:
        fact_store: the store of facts.
        embedder: compares the purpose of a procedure with a goal; with ``dimension`` 0 only words
            are compared.
        clock: the time now, UTC-aware.
    """

    fact_store: FactStore
    embedder: Embedder
    clock: Clock

    def fitting(self, scope: Scope, goal: str) -> list[Procedure]:
        """Return the agent's procedures that fit the goal, best first, then by name.

        A procedure that says something about another contact, with whom it was learned, is left
        out.

        Args:
            scope: the agent and its contact.
            goal: the goal.

        Raises:
            EmbeddingError: the model failed.
        """
        filed = self.fact_store.list_filed_facts(scope, SUBJECT)
        offered = [
            filed_fact.fact for filed_fact in filed if may_be_offered(filed_fact, scope.contact_id)
        ]
        procedures = procedures_of(offered, self.clock())
        return by_fit(procedures, goal, self._cosines(procedures, goal))

    def _cosines(self, procedures: Sequence[Procedure], goal: str) -> list[float]:
        if not procedures or not self.embedder.dimension:
            return [0.0] * len(procedures)
        [asked] = embed_queries(self.embedder, [goal])
        vectors = embed(self.embedder, [procedure.purpose for procedure in procedures])
        return [float(asked @ vector) for vector in vectors]
