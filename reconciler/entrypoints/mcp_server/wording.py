"""Wording: the answers of the operator's tools and resources, as lines of plain text. Pure.

Remembered words are quoted, on one line, with every hidden character shown, because an operator
judges what is printed. No answer is longer than a model can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from reconciler.domain.recalling.briefing import OLD_AFTER
from reconciler.domain.recalling.current_values import SlotValue
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.evidence import FactEvidence
from reconciler.domain.records.facts import Dispute, Fact, FactHistory, may_have_changed
from reconciler.domain.review.explanation import Explanation
from reconciler.domain.review.health import HealthReport, Waiting
from reconciler.domain.visible_text import visible

LENGTH_MAX = 12_000
"""Characters of one answer, some three thousand tokens; lines beyond this are left out whole."""


def joined(lines: Iterable[str]) -> str:
    """The lines as one text; if it is too long, with the number of lines left out."""
    listed, length = list(lines), 0
    for count, line in enumerate(listed):
        length += len(line) + 1
        if length > LENGTH_MAX:
            rest = len(listed) - count
            return "\n".join([*listed[:count], f"({rest} lines more; ask for less)"])
    return "\n".join(listed)


_MORE_WAIT = "{count} more wait; answer some of these, and call again to see them."


def pending_words(waiting: Sequence[Decision | Dispute]) -> str:
    """Held notes and disputes, each with its question and the id for an answer."""
    if not waiting:
        return "Nothing waits for an answer."
    told, length = [f"{len(waiting)} waiting:"], 0
    for count, item in enumerate(waiting):
        lines = list(_waiting(item))
        length += sum(map(len, lines)) + len(lines)
        if count and length > LENGTH_MAX - len(told[0]) - len(_MORE_WAIT):
            return joined([*told, _MORE_WAIT.format(count=len(waiting) - count)])
        told += lines
    return joined(told)


def _waiting(item: Decision | Dispute) -> Iterator[str]:
    if isinstance(item, Dispute):
        yield f"- dispute, contact {visible(item.scope.contact_id)}: {visible(item.question)}"
        for fact in item.facts:
            yield f"  - fact {fact.fact_id}: {_said(fact.text)}, {fact.trust}"
        yield "  (`reconciler resolve` takes the answer)"
        return
    since = f"{item.at:%Y-%m-%d}{' (old)' if datetime.now(UTC) - item.at > OLD_AFTER else ''}"
    yield f"- decision {item.decision_id}, contact {visible(item.scope.contact_id)}, since {since}"
    yield f"  held: {_said(item.text)}"
    yield f"  why: {visible(item.reason)}"
    if item.question:
        yield f"  ask: {visible(item.question)}"


def history_words(histories: Sequence[FactHistory]) -> str:
    """Each chain, the fact that nothing superseded first."""
    if not histories:
        return "Nothing is known of the contact."
    return joined(line for history in histories for line in _chain(history))


def _chain(history: FactHistory) -> Iterator[str]:
    yield f"- {_fact(history.facts[0])}"
    for fact, link in zip(history.facts[1:], history.supersessions, strict=True):
        yield f"  - superseded {link.at:%Y-%m-%d} ({visible(link.reason)}): {_fact(fact)}"
    for event in history.events:
        who = visible(event.by)
        yield f"  - {event.at:%Y-%m-%d} {event.action} by {who}: {_said(event.reason)}"
    for conflict in history.conflicts:
        other = conflict.old_id if conflict.new_id == history.facts[0].fact_id else conflict.new_id
        state = "contradicts" if conflict.is_open else "stands beside"
        yield f"  - {state} fact {other}: {visible(conflict.reason)}"


def _fact(fact: Fact) -> str:
    until = "" if fact.valid_to is None else f" to {fact.valid_to:%Y-%m-%d}"
    held = f"from {fact.valid_from:%Y-%m-%d}{until}"
    return f"{fact.state} {_said(fact.text)} ({held}, {fact.trust}, fact {fact.fact_id})"


def explanation_words(explanation: Explanation) -> str:
    """A decision in plain words, a sentence a line."""
    return joined(map(visible, explanation.sentences()))


def evidence_words(evidence: Sequence[FactEvidence]) -> str:
    """The evidence of each fact, turn by turn."""
    if not evidence:
        return "Nothing is known that says so."
    return joined(line for item in evidence for line in _evidence(item))


def _evidence(evidence: FactEvidence) -> Iterator[str]:
    yield f"- {_fact(evidence.fact)}"
    yield f"  {visible(evidence.statement)}"
    for turn in evidence.turns:
        words = _said(" … ".join(turn.spans) or turn.text)
        at = f"{turn.said_at:%Y-%m-%d %H:%M} UTC, session {visible(turn.session_id)}"
        yield f"  - {visible(turn.speaker)}: {words} ({at})"
        for taken in turn.taken_by:
            by = visible(taken.answered_by or taken.proposed_by or "unknown")
            yield f"    {taken.action} by {by}, decision {taken.decision_id}"


def profile_words(values: Sequence[SlotValue]) -> str:
    """The current value of each slot."""
    return joined(map(_value, values)) if values else "No value is known of the contact."


def _value(value: SlotValue) -> str:
    marks = ", in dispute" if value.is_disputed else ", contested" if value.is_contested else ""
    if value.holds_until_settled:
        marks += ", holds until settled"
    if value.may_be_outdated:
        marks += f", {may_have_changed(value.last_confirmed_at)}"
    said = f"since {value.since:%Y-%m-%d}, {value.word}, said {value.observations}×{marks}"
    name = f"{visible(value.subject)}, {visible(value.attribute)}"
    return f"- {name}: {_said(value.value)} ({said}, fact {value.fact_id})"


def health_words(report: HealthReport) -> str:
    """The numbers of all contacts together."""
    total = report.total
    ended = total.archived + total.superseded + total.revoked
    return joined(
        (
            f"contacts: {len(report.contacts)}",
            f"facts: {total.live} live, {total.expired} expired, {ended} ended",
            f"duplicates: {total.duplicated} facts in {total.near_pairs} pairs",
            f"stale: {total.rivalled_slots} of {total.slots} questions have several answers",
            f"disputes: {_ages(total.disputes)}",
            f"questions: {_ages(total.questions)}",
            f"answers: {total.answers}, of which {total.confirmations} yes",
            f"refused: {total.refusals} of {total.attempts} notes",
            f"recalls that found nothing: {total.empty_recalls} of {total.recalls}",
        )
    )


def _ages(waiting: Waiting) -> str:
    oldest = f", the oldest since {waiting.oldest_at:%Y-%m-%d}" if waiting.oldest_at else ""
    return f"{waiting.count}{oldest}"


def _said(text: str) -> str:
    return f'"{visible(text)}"'
