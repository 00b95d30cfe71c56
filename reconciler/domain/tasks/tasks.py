"""Tasks: what is kept of one while it runs, and what an agent holds in its head meanwhile.

A ``Task`` is durable and says how far the work is; ``WorkingMemory`` is this process's alone. No
way from the second into a store may ever live here: what an agent supposes is no fact until it has
survived the task and the write gate. The outcome is a sentence made of what is kept of the task:
nothing that an agent says when it is done is taken for one. It is filed under a subject that no
caller's words make, so it neither ends what is known of the contact nor stands against it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from reconciler.domain.records.facts import RankedFact
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import Slot
from reconciler.domain.tasks.task_states import TaskState


@dataclass(frozen=True, slots=True, kw_only=True)
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
