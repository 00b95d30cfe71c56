"""The task store: alone names the queries of tasks. Decides nothing.

``reconciler.domain.tasks.task_states`` says which operation is legal when; here it is only written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from reconciler.domain.records.scope import Scope
from reconciler.domain.tasks.task_states import TaskState
from reconciler.domain.tasks.tasks import Task
from reconciler.errors import ErasedError, UnknownTaskError
from reconciler.ports.graph import Graph, Row
from reconciler.service.stores.row_reader import RowReader, validated

__all__ = ["TASKS", "TaskStore"]

_CAPTION_LENGTH = 80


class TaskStore:
    """Tasks in one graph.

    Invariant: every write gives the task as it stands after it, in the same transaction, so that a
    process reads its own writes; what is done or decided is only ever added to, so that of several
    processes none loses another's.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def upsert_task(
        self, scope: Scope, task_id: str, session_id: str, goal: str, at: datetime
    ) -> Task:
        """The task of that id, begun now unless it is there already, with its own goal then.

        Args:
            scope: for whom.
            task_id: its id.
            session_id: the session in which it begins.
            goal: what is to be achieved.
            at: the time now (UTC).

        Raises:
            ErasedError: the contact is being erased, or the session was; nothing was kept.
        """
        given = {
            "tenant": scope.tenant,
            "agent_id": scope.agent_id,
            "agent_key": scope.agent_key,
            "contact_id": scope.contact_id,
            "contact_key": scope.contact_key,
            "task_id": task_id,
            "name": goal[:_CAPTION_LENGTH],
            "goal": goal,
            "state": str(TaskState.START),
            "session_id": session_id,
            "session_key": scope.session_key(session_id),
        }
        try:
            return self._written("upsert_task", scope, task_id, at, given)
        except UnknownTaskError:
            raise ErasedError(
                f"contact {scope.contact_id} is being erased, or session {session_id} was erased, "
                "and takes no task; begin it in another session, or later"
            ) from None

    def find_task(self, scope: Scope, task_id: str) -> Task | None:
        """The task of that id as it stands; None where there is none.

        Raises:
            DamagedRecordError: there is one, and it cannot be read.
        """
        rows = self._graph.run("find_task", {"task_key": _key(scope, task_id)})
        return TASKS.one(rows[0] | {"scope": scope}) if rows else None

    def list_tasks(
        self, scopes: Iterable[Scope], states: Iterable[TaskState], limit: int
    ) -> list[Task]:
        """The tasks of some contacts in these states, those that changed last first."""
        by_key = {scope.contact_key: scope for scope in scopes}
        given = {"contact_keys": list(by_key), "states": [str(state) for state in states]}
        rows = self._graph.run("list_tasks", given | {"limit": limit})
        return TASKS.all(row | {"scope": by_key[row["contact_key"]]} for row in rows)

    def add_done_subtask(self, scope: Scope, task_id: str, subtask_id: str, at: datetime) -> Task:
        """The task with a subtask marked as done; marked again, nothing changes.

        Raises:
            UnknownTaskError: there is no such task.
        """
        given = {"subtask_id": subtask_id}
        return self._written("add_done_subtask", scope, task_id, at, given)

    def set_blocker(self, scope: Scope, task_id: str, blocker: str | None, at: datetime) -> Task:
        """The task with what it waits for; None where nothing holds it up any more.

        Raises:
            UnknownTaskError: there is no such task.
        """
        return self._written("set_task_blocker", scope, task_id, at, {"blocker": blocker})

    def add_decisions(
        self, scope: Scope, task_id: str, decided: Sequence[str], at: datetime
    ) -> Task:
        """The task with what was decided on the way, each once, after what was before.

        Args:
            scope: for whom.
            task_id: its id.
            decided: at least one.
            at: the time now (UTC).

        Raises:
            UnknownTaskError: there is no such task.
        """
        given = {"decided": list(dict.fromkeys(decided))}
        return self._written("add_task_decisions", scope, task_id, at, given)

    def set_state(
        self, scope: Scope, task_id: str, state: TaskState, session_id: str, at: datetime
    ) -> Task | None:
        """The task in its new state; None where it has ended otherwise by now, or is not there."""
        given = {
            "task_key": _key(scope, task_id),
            "state": str(state),
            "session_id": session_id,
            "at": at,
        }
        rows = self._graph.run("set_task_state", given)
        return TASKS.one(rows[0] | {"scope": scope}) if rows else None

    def set_outcome(self, scope: Scope, task_id: str, outcome_id: str, at: datetime) -> Task:
        """The task with the decision that was made about what came of it.

        Raises:
            UnknownTaskError: there is no such task.
        """
        return self._written("set_task_outcome", scope, task_id, at, {"outcome_id": outcome_id})

    def link_session(
        self, scope: Scope, task_id: str, session_id: str, channel: str, at: datetime
    ) -> None:
        """Say that a session is part of the task, before its first turn is kept."""
        given = {
            "task_key": _key(scope, task_id),
            "session_key": scope.session_key(session_id),
            "session_id": session_id,
            "channel": channel,
            "at": at,
        }
        self._graph.run("link_task_session", given)

    def list_sessions(self, scope: Scope, task_id: str) -> list[str]:
        """The ids of the task's sessions, in the order in which they began."""
        rows = self._graph.run("list_task_sessions", {"task_key": _key(scope, task_id)})
        return [row["session_id"] for row in rows]

    def _written(
        self, name: str, scope: Scope, task_id: str, at: datetime, given: dict[str, Any]
    ) -> Task:
        rows = self._graph.run(name, {"task_key": _key(scope, task_id), "at": at, **given})
        if not rows:
            raise UnknownTaskError(f"contact {scope.contact_id} has no task {task_id}")
        return TASKS.one(rows[0] | {"scope": scope})


def _key(scope: Scope, task_id: str) -> str:
    """The task's unique key: made as a session's is, under a label of its own."""
    return scope.session_key(task_id)


def _task(row: Row) -> Task:
    lists = {name: tuple(row[name] or ()) for name in ("done", "decided")}
    return validated(Task, row | lists)


TASKS = RowReader("Task", "task_id", _task)
