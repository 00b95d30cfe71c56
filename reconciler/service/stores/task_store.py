"""The task store: alone names the queries of tasks. Decides nothing.

``reconciler.domain.tasks.task_states`` says which operation is legal in which state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from reconciler.domain.records.scope import Scope
from reconciler.domain.tasks.task_states import TaskState
from reconciler.domain.tasks.tasks import Task
from reconciler.errors import ErasedError, UnknownTaskError
from reconciler.ports.graph import Row
from reconciler.service.stores.contact_queries import Store
from reconciler.service.stores.row_reader import reader_of

_CAPTION_LENGTH = 80


class TaskStore(Store):
    """Tasks in one graph.

    Invariant: every write returns the task as the same transaction leaves it, so that a process
    reads its own writes. Done subtasks and decisions are only added, so that no process loses
    those of another.
    """

    def upsert_task(
        self, scope: Scope, task_id: str, session_id: str, goal: str, at: datetime
    ) -> Task:
        """The task of that id. A new one begins now; an existing one keeps its goal.

        Args:
            scope: the contact.
            task_id: its id.
            session_id: the session in which it begins.
            goal: what the task is to achieve.
            at: the time now (UTC).

        Raises:
            ErasedError: the contact is being erased, or the session was; nothing was kept.
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
            raise ErasedError(
                f"contact {scope.contact_id} is being erased, or session {session_id} was erased, "
                "and takes no task; begin it in another session, or later"
            ) from None

    def find_task(self, scope: Scope, task_id: str) -> Task | None:
        """The task of that id; None if there is none.

        Raises:
            DamagedRecordError: there is one, and it cannot be read.
        """
        return _first(scope, self.rows("find_task", task_key=_key(scope, task_id)))

    def list_tasks(
        self, scopes: Iterable[Scope], states: Iterable[TaskState], limit: int
    ) -> list[Task]:
        """The tasks of some contacts in these states, last changed first."""
        by_key = {scope.contact_key: scope for scope in scopes}
        given = {"contact_keys": list(by_key), "states": [str(state) for state in states]}
        rows = self.rows("list_tasks", **given, limit=limit)
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
        """Add decisions to the task, each once, behind its earlier ones, and return it.

        Args:
            scope: the contact.
            task_id: its id.
            decided: at least one.
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
        rows = self.rows(
            "set_task_state",
            task_key=_key(scope, task_id),
            state=str(state),
            session_id=session_id,
            at=at,
        )
        return _first(scope, rows)

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
        self.rows(
            "link_task_session",
            task_key=_key(scope, task_id),
            session_key=scope.session_key(session_id),
            session_id=session_id,
            channel=channel,
            at=at,
        )

    def list_sessions(self, scope: Scope, task_id: str) -> list[str]:
        """The ids of the task's sessions, in the order in which they began."""
        rows = self.rows("list_task_sessions", task_key=_key(scope, task_id))
        return [row["session_id"] for row in rows]

    def _written(
        self, name: str, scope: Scope, task_id: str, at: datetime, /, **given: Any
    ) -> Task:
        rows = self.rows(name, task_key=_key(scope, task_id), at=at, **given)
        if (task := _first(scope, rows)) is None:
            raise UnknownTaskError(f"contact {scope.contact_id} has no task {task_id}")
        return task


def _first(scope: Scope, rows: Iterable[Row]) -> Task | None:
    return TASKS.first([row | {"scope": scope} for row in rows])


def _key(scope: Scope, task_id: str) -> str:
    """The task's unique key. It has the form of a session's key; the label tells them apart."""
    return scope.session_key(task_id)


TASKS = reader_of(
    Task, "Task", "task_id", lambda row: {name: row[name] or () for name in ("done", "decided")}
)
