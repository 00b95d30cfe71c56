"""The commands that make one call each: each row names the command, the call and the view.

``command_rows.py`` makes options and help of the call's signature and docstring. Commands that do
more are in the ``*_commands.py`` modules and in ``cli.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from reconciler import ops
from reconciler.bound_memory import AgentMemory, BoundMemory, ContactMemory
from reconciler.domain.records.kinds import Progress, SourceKind
from reconciler.entrypoints.command_rows import CommandRow
from reconciler.entrypoints.rendering import (
    Verbatim,
    archived_panel,
    check_view,
    contact_line,
    decision_made,
    decision_panel,
    erasure_panel,
    evidence_panel,
    expiring_panel,
    explanation_panel,
    fact_panel,
    found_panel,
    health_view,
    history_tree,
    lines,
    recall_plain,
    recall_view,
    record_panel,
    refusal_line,
    value_shown,
    waiting_panel,
)
from reconciler.errors import InvalidRequestError
from reconciler.frozen import Json
from reconciler.reading.kinds import Category

if TYPE_CHECKING:
    from rich.tree import Tree

    from reconciler.domain.records.candidates import FactEvidence
    from reconciler.domain.records.facts import FactHistory
    from reconciler.service.writing.relating import Rejudged


def _report(
    memory: BoundMemory, *, out: Path, document: bool = False, overwrite: bool = False
) -> Json:
    """Write timelines, disputes, questions and refusals into one HTML file.

    Args:
        memory: the agent's or the contact's.
        out: the HTML file to write.
        document: write all that is known about one contact instead, for this person to read.
        overwrite: replace the file if it exists.
    """
    from reconciler.ops.store_backups import write_new

    if not document:
        page = ops.report(memory)
    elif isinstance(memory, ContactMemory):
        page = ops.contact_page(memory)
    else:
        raise InvalidRequestError("--document is about one contact; give --contact")
    write_new(out, page.encode(), overwrite=overwrite)
    return {"file": str(out), "bytes": len(page.encode())}


def _evidence(
    memory: ContactMemory, *, fact: str | None = None, about: str | None = None
) -> list[FactEvidence]:
    """Show what a fact rests on: who said it, when, in which session, and who recorded it.

    Args:
        memory: the contact's.
        fact: the fact's id, as `reconciler history` prints it.
        about: an attribute, or words that occur in the fact.
    """
    if (fact is None) is (about is None):
        raise InvalidRequestError("name the fact: give either --fact with its id, or --about")
    return [memory.evidence(fact)] if fact is not None else memory.evidence_about(about or "")


def _history_view(
    chains: Sequence[FactHistory], contact: str, agent: str, at: str | None
) -> Tree | str:
    if chains:
        return history_tree(contact, chains)
    if at is None:
        return f"No fact is known of contact {contact} of agent {agent}."
    return (
        f"Nothing was known of contact {contact} of agent {agent} then. "
        "For what was true then, as far as is known now: reconciler recall --valid-at"
    )


def _job(memory: ContactMemory, job_id: str) -> Json:
    """Show one job in full: its session's summary, its counts, its last error and what to do."""
    job = memory.job(job_id)
    return {**job.to_dict(), "session": memory.session(job.session_id)}


def _rejudge(memory: BoundMemory, *, on_progress: Progress = lambda _: None) -> list[Rejudged]:
    """Ask the judge about the decisions that it did not answer in time, and amend them.

    Args:
        memory: the agent's or the contact's.
        on_progress: called with 1 after each answer.
    """
    answers = []
    for answer in memory.rejudge():
        answers.append(answer)
        on_progress(1)
    return answers


_Decides = partial(CommandRow, view=decision_made, writes=True)
"""A command that makes one decision about a contact."""

_ANSWER = {
    "decision_id": "The decision's id, as `reconciler pending` prints it.",
    "by": "Who answers: contact, or an operator's name.",
    "told_to": "Who took the answer, for the record, if it is the contact's.",
}

ROWS = (
    _Decides(
        "add",
        ContactMemory.note,
        help="Add a note about a contact: the gate checks it, then the reconciler compares it.",
        words={
            "text": "One fact, in one sentence.",
            "proposed_by": "Who proposes it, and so may not confirm it.",
            "source_kind": f"The kind of source: {', '.join(SourceKind)}.",
            "category": f"The category: {', '.join(Category)}; default: read from the text.",
        },
        defaults={"source_kind": SourceKind.OPERATOR, "proposed_by": "operator"},
    ),
    CommandRow(
        "recall",
        ContactMemory.recall,
        recall_view,
        help="Recall the live facts that fit a query best, with their ranking.\n\nOrders and "
        "prohibitions are always included, beyond the limit and whatever the query.",
        plain=recall_plain,
        words={"query": "What to look for; default: rank all live facts."},
        options={
            "prompt": Annotated[
                bool,
                typer.Option(
                    "--prompt",
                    help="Print the facts as a model gets them, fenced as data; with --json, "
                    "print both.",
                ),
            ]
        },
        defaults={"prompt": False},
    ),
    CommandRow(
        "find",
        AgentMemory.find,
        found_panel,
        "Nothing is known.",
        help="Search all of an agent's contacts for the live facts nearest to a query. Facts that "
        "have ended are left out; `reconciler history` shows those of a contact.",
        words={"min_score": "Only facts with at least this cosine similarity."},
    ),
    CommandRow("about", BoundMemory.recall_about, found_panel, "Nothing is known."),
    CommandRow(
        "briefing",
        ContactMemory.briefing,
        lambda briefing: Verbatim(briefing.as_prompt()),
        help="Show what to know and what to ask when a conversation opens, as a model gets it.",
        words={"query": "The topic of the conversation; default: everything."},
    ),
    CommandRow("profile", ContactMemory.profile, value_shown, "No value is known."),
    CommandRow(
        "value",
        ContactMemory.value,
        value_shown,
        "No value is known.",
        help="Show an attribute's current value or values, since when, and its source.",
    ),
    CommandRow("check", ContactMemory.check, check_view),
    _Decides("answer", ContactMemory.record_answer),
    CommandRow(
        "impact",
        ContactMemory.impact,
        lambda each: lines(f"{each.reference}, {each.at:%Y-%m-%d %H:%M} UTC: {each.text}"),
        "No answer is concerned.",
    ),
    CommandRow(
        "accounts",
        ContactMemory.accounts,
        lambda fact: fact_panel(fact, subtitle=f"account {fact.account}"),
        "The contact belongs to no account.",
    ),
    _Decides("join-account", ContactMemory.join_account),
    _Decides("leave-account", ContactMemory.leave_account),
    CommandRow("history", ContactMemory.history, _history_view),
    CommandRow("evidence", _evidence, evidence_panel, "Nothing is known that says so."),
    CommandRow("contacts", AgentMemory.contacts, contact_line, "There is no contact."),
    CommandRow("decisions", BoundMemory.decisions, decision_panel, "Nothing was decided."),
    CommandRow("explain", ContactMemory.explain, explanation_panel),
    CommandRow(
        "tasks",
        BoundMemory.tasks,
        lambda task: record_panel(task, task.task_id),
        "There is no task.",
        help="List an agent's tasks, last changed first; --state open shows those to resume.",
        options={
            "state": Annotated[
                str | None,
                typer.Option(help="Only tasks in this state; open means all that have not ended."),
            ]
        },
    ),
    CommandRow("report", _report, lambda _, out: f"Wrote {out}."),
    CommandRow(
        "pending",
        BoundMemory.pending,
        waiting_panel,
        "Nothing waits for an answer.",
        help="List the held notes and disputes that wait for an answer, with the question to ask.",
    ),
    _Decides("confirm", ContactMemory.confirm, words=_ANSWER),
    _Decides("reject", ContactMemory.reject, words=_ANSWER),
    _Decides("withdraw", ContactMemory.withdraw, words=_ANSWER),
    CommandRow("disputes", BoundMemory.disputes, waiting_panel, "Nothing is in dispute."),
    _Decides(
        "resolve",
        ContactMemory.resolve,
        words={
            "keep": "The id of the fact that holds, as `reconciler disputes` prints it; several if "
            "all of them hold.",
            "neither": "The id of one side, if no side of a dispute holds; repeat for all sides.",
            "by": _ANSWER["by"],
        },
    ),
    _Decides("relate", ContactMemory.relate),
    _Decides(
        "amend",
        ContactMemory.amend,
        words={
            "fact": "The id of the fact to correct; or give --attribute.",
            "attribute": "The attribute to correct, for example city; not with --fact.",
        },
    ),
    _Decides("revoke", ContactMemory.revoke),
    _Decides("revert", ContactMemory.revert),
    *map(
        _Decides,
        ("merge", "rename", "split"),
        (AgentMemory.merge_contacts, AgentMemory.rename_contact, AgentMemory.split_contacts),
    ),
    CommandRow("refusals", BoundMemory.refusals, refusal_line, "Nothing was refused."),
    CommandRow("expiring", BoundMemory.expiring, expiring_panel, "Nothing expires so soon."),
    CommandRow("job", _job, lambda job, job_id: record_panel(job, f"Job {job_id}")),
    CommandRow(
        "forget",
        ContactMemory.forget,
        erasure_panel,
        is_good=lambda erasure: erasure.receipt.is_clean,
        writes=True,
        counts="records",
    ),
    CommandRow(
        "archive", BoundMemory.archive, archived_panel, "Nothing has faded so far.", writes=True
    ),
    _Decides("unarchive", ContactMemory.unarchive),
    CommandRow(
        "digest",
        ops.digest,
        lambda found, agent: record_panel(found, agent) if found.counts else "Nothing waits.",
    ),
    CommandRow("health", ops.health, health_view, counts="contacts"),
    _Decides(
        "correct",
        ContactMemory.correct,
        view=lambda made, relation: Text(f"Kept: {relation}. ").append(decision_made(made)),
        words={"relation": "How the note really relates to the fact that it was compared with."},
    ),
    CommandRow(
        "rejudge",
        _rejudge,
        lambda each: lines(f"{each.became:9} {each.decision.text}  ({each.why})"),
        "No decision waits for a judge.",
        writes=True,
        counts="decisions",
    ),
)
