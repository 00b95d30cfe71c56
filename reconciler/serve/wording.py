"""Wording: the lines of a memory that a person or an operator's model reads. Pure.

The command line and the tools of MCP say it in the same words. The code that prints a line shows
its hidden characters, because an operator judges the printed text. Plain values are records as JSON
has them, and the same fields as lines for a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import is_dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from reconciler.domain.records.candidates import FactEvidence
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute, may_have_changed
from reconciler.domain.records.notes import CONTACT_SUBJECT
from reconciler.frozen import Values, field_names, picked
from reconciler.reading.quoting import in_marks

if TYPE_CHECKING:
    from reconciler.domain.recalling.recalled import SlotValue
    from reconciler.ops.review.health import HealthReport, Waiting


def json_text(record: Any, indent: int | None = None) -> str:
    """Return plain values or records as JSON; times as ISO 8601."""
    return json.dumps(record, allow_nan=False, indent=indent, default=_plain)


def _plain(value: object) -> Any:
    """Return the JSON form of a value that JSON does not know.

    A time is ISO 8601, a record is its ``to_dict`` or its fields, and anything else its words.
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return picked(value, field_names(value))
    return str(value)


def field_lines(record: Any) -> Iterator[str]:
    """Return the fields of a record as its JSON has them, one a line, without empty fields."""
    return _field_lines(json.loads(json_text(record)), "")


def _field_lines(plain: Values, indent: str) -> Iterator[str]:
    for name, value in plain.items():
        # A kind of link is a word of the graph, and stays as it is.
        words = f"{indent}{name if name.isupper() else name.replace('_', ' ')}:"
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                lines = [*_field_lines(part, f"{indent}  ")]
                yield from [words, *lines] if lines else []
            elif part not in (None, ""):
                yield f"{words} {part}"


def waiting_lines(item: Decision | Dispute) -> Iterator[str]:
    """Show a held note or a dispute, with its question and the ids that an answer names."""
    if isinstance(item, Dispute):
        yield f"dispute, contact {item.scope.contact_id}, {_waits(item.opened_at)}"
        yield f"ask: {item.question}"
        for fact in item.facts:
            yield f'fact {fact.fact_id}: "{fact.text}", {fact.trust}'
        for reason in item.reasons:
            yield f"why: {reason}"
        yield "`reconciler resolve` takes the answer"
        return
    yield f"decision {item.decision_id}, contact {item.scope.contact_id}, {_waits(item.at)}"
    yield f'held: "{item.text}"'
    yield f"why: {item.reason}"
    if item.question:
        yield f"ask: {item.question}"


def _waits(at: datetime) -> str:
    """Say since when it waits for an answer, with a mark if that is long."""
    from reconciler.domain.recalling.briefing import OLD_AFTER

    return f"since {at:%Y-%m-%d}{' (old)' if datetime.now(UTC) - at > OLD_AFTER else ''}"


def evidence_lines(evidence: FactEvidence) -> Iterator[str]:
    """Show the evidence of a fact: each turn, who said it, when and where, and who recorded it."""
    yield evidence.statement
    for turn in evidence.turns:
        where = f"session {turn.session_id}" + (f", {turn.channel}" if turn.channel else "")
        found_at = f", {turn.source_reference}" if turn.source_reference else ""
        yield f"{turn.said_at:%Y-%m-%d %H:%M} UTC  {turn.speaker}  ({where}{found_at})"
        yield f"  {in_marks(' … '.join(turn.spans) or turn.text)}"
        earlier = f": the earlier fact {turn.fact_id}, which this fact repeats"
        for taken in turn.taken_by:
            by = taken.answered_by or taken.proposed_by or "unknown"
            of = earlier if turn.is_beneath else ""
            yield f"  {taken.action} {taken.decision_id} by {by}{of}"


def value_line(value: SlotValue) -> str:
    """Show the current value of an attribute: its start, its source and its certainty."""
    marks = ", in dispute" if value.is_disputed else ", contested" if value.is_contested else ""
    if value.holds_until_settled:
        marks += ", holds until settled"
    if value.may_be_outdated:
        marks += f", {may_have_changed(value.last_confirmed_at)}"
    said = f"since {value.since:%Y-%m-%d}, {value.word}, said {value.observations}×{marks}"
    whose = "" if value.subject == CONTACT_SUBJECT else f" of {value.subject}"
    return f'{value.attribute}{whose}: "{value.value}" ({said}, fact {value.fact_id})'


def health_rows(report: HealthReport) -> Iterator[tuple[str, str, str]]:
    """List the numbers of all contacts together: name, number and meaning."""
    total = report.total
    ended = f"{total.expired} expired, {total.archived} archived, {total.superseded} superseded"
    yield "live facts", str(total.live), f"{ended}, {total.revoked} revoked"
    pairs = counted(total.near_pairs, "pair")
    duplicates = f"{pairs} of facts that seem to say the same, unlinked"
    yield "duplicates", _percent(total.duplicate_rate), duplicates
    several = f"{total.rivalled_slots} of {total.slots} single-valued attributes"
    yield "stale", _percent(total.stale_rate), f"{several} have several values"
    yield "disputes", str(total.disputes.count), _ages(total.disputes, "disputes")
    yield "questions", str(total.questions.count), _ages(total.questions, "pending")
    answers = f"{total.confirmations} of {counted(total.answers, 'answer')}"
    yield "answered yes", _percent(total.confirm_rate), answers
    refusals = f"{total.refusals} of {counted(total.attempts, 'note')}"
    yield "refused", _percent(total.refusal_rate), f"{refusals}; `reconciler refusals` says why"
    empty = f"{total.empty_recalls} of {counted(total.recalls, 'recall')}"
    yield "found nothing", _percent(total.empty_recall_rate), f"{empty} by processes that write"
    size = "" if report.file_bytes is None else f", {report.file_bytes / 1e6:,.1f} MB on disk"
    sessions = f"{counted(total.sessions, 'session')}, {counted(total.episodes, 'episode')}"
    yield "decisions", str(total.decisions), f"{sessions}{size}"
    if total.damaged is None:
        yield "damaged", "–", "not checked; `--check-records` reads every record"
    else:
        told = "records that cannot be read; `reconciler forget` erases them"
        yield "damaged", str(total.damaged), told


def counted(count: int, what: str) -> str:
    """Return a count with its noun: "1 fact", "2 facts"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _ages(waiting: Waiting, command: str) -> str:
    if not waiting.count:
        return "nothing waits"
    return (
        f"up to a day {waiting.day}, a week {waiting.week}, a month {waiting.month}, longer "
        f"{waiting.longer}; `reconciler {command}` lists them"
    )
