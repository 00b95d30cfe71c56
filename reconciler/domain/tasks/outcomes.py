"""Outcomes: what came of a task, in a sentence made of what is kept of it. Pure.

Nothing that an agent says when it is done is taken for an outcome: the sentence names the goal,
what was done and what was decided, as far as the task kept it while it ran. It is filed under a
subject that no caller's words make, so it neither ends what is known of the contact nor stands
against it.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.domain.records.slots import Slot
from reconciler.domain.tasks.task_states import TaskState
from reconciler.domain.tasks.tasks import Task

SUBJECT = "(task)"
"""The subject of an outcome's slot. Folded, a caller's words lose the brackets."""

_SUFFIX = "_outcome"
"""Without an ending of its own, a task named after a secret would pass for one."""

_ENDED = {TaskState.SUCCESS: "Achieved", TaskState.FAILURE: "Not achieved"}


def outcome_slot(task: Task) -> Slot:
    """The question what came of the task; it has one answer."""
    return Slot(
        subject=SUBJECT,
        attribute=f"{task.task_id}{_SUFFIX}",
        value=str(task.state),
        value_key=f"{task.task_id} {task.state}",  # else two tasks would be one matter
        is_single_valued=True,
        is_known=True,
    )


def outcome_text(task: Task) -> str:
    """The outcome of an ended task, as one text of a note's length at most."""
    parts = [f"{_ENDED[task.state]}: {_ended(task.goal)}"]
    parts += _listed("Done", task.done) + _listed("Decided", task.decided)
    if task.blocker:
        parts.append(f"Held up by: {_ended(task.blocker)}")
    return _within(parts)


def _listed(name: str, said: Iterable[str]) -> list[str]:
    listed = "; ".join(words.rstrip(". ") for words in said)
    return [f"{name}: {listed}."] if listed else []


def _ended(said: str) -> str:
    """The text on one line, with its full stop."""
    line = " ".join(said.split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _within(parts: list[str]) -> str:
    text = " ".join(parts)
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[: TEXT_LENGTH_MAX - 2].rstrip()} …"
