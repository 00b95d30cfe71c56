"""Answers of the operator's tools, as lines of plain text. Pure.

Remembered words are quoted, on one line, with every hidden character shown. No answer is longer
than a model can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reconciler.domain.recalling.current_values import SlotValue
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.evidence import FactEvidence
from reconciler.domain.records.facts import Dispute, Fact, FactHistory
from reconciler.domain.review.health import HealthReport
from reconciler.domain.visible_text import visible
from reconciler.entrypoints.wording import evidence_lines, health_rows, value_line, waiting_lines

LENGTH_MAX = 12_000
"""Characters of one answer, some three thousand tokens; lines beyond this are left out whole."""

_MORE_WAIT = "{count} more wait; answer some of these, and call again to see them."


def joined(lines: Iterable[str]) -> str:
    """The lines as one text; if it is too long, with the number of lines left out."""
    listed, length = [*map(visible, lines)], 0
    for count, line in enumerate(listed):
        length += len(line) + 1
        if length > LENGTH_MAX:
            rest = len(listed) - count
            return "\n".join([*listed[:count], f"({rest} lines more; ask for less)"])
    return "\n".join(listed)


def _item(lines: Iterable[str]) -> Iterator[str]:
    """The lines as an item of a list: the first with a dash, the others indented."""
    for place, line in enumerate(lines):
        yield f"  {line}" if place else f"- {line}"


def pending_words(waiting: Sequence[Decision | Dispute]) -> str:
    """Held notes and disputes, each with its question and the id for an answer."""
    if not waiting:
        return "Nothing waits for an answer."
    told, length = [f"{len(waiting)} waiting:"], 0
    for count, item in enumerate(waiting):
        lines = [*map(visible, _item(waiting_lines(item)))]
        length += sum(map(len, lines)) + len(lines)
        if count and length > LENGTH_MAX - len(told[0]) - len(_MORE_WAIT):
            return joined([*told, _MORE_WAIT.format(count=len(waiting) - count)])
        told += lines
    return joined(told)


def history_words(histories: Sequence[FactHistory]) -> str:
    """Each chain, the fact that nothing superseded first."""
    if not histories:
        return "Nothing is known of the contact."
    return joined(line for history in histories for line in _item(_chain(history)))


def _chain(history: FactHistory) -> Iterator[str]:
    yield _fact(history.facts[0])
    for fact, link in zip(history.facts[1:], history.supersessions, strict=True):
        yield f"- superseded {link.at:%Y-%m-%d} ({link.reason}): {_fact(fact)}"
    for event in history.events:
        yield f'- {event.at:%Y-%m-%d} {event.action} by {event.by}: "{event.reason}"'
    for conflict in history.conflicts:
        other = conflict.old_id if conflict.new_id == history.facts[0].fact_id else conflict.new_id
        state = "contradicts" if conflict.is_open else "stands beside"
        yield f"- {state} fact {other}: {conflict.reason}"


def _fact(fact: Fact) -> str:
    until = "" if fact.valid_to is None else f" to {fact.valid_to:%Y-%m-%d}"
    held = f"from {fact.valid_from:%Y-%m-%d}{until}"
    return f'{fact.state} "{fact.text}" ({held}, {fact.trust}, fact {fact.fact_id})'


def evidence_words(evidence: Sequence[FactEvidence]) -> str:
    """The evidence of each fact, turn by turn."""
    if not evidence:
        return "Nothing is known that says so."
    return joined(
        line for each in evidence for line in _item([_fact(each.fact), *evidence_lines(each)])
    )


def profile_words(values: Sequence[SlotValue]) -> str:
    """The current value of each attribute."""
    if not values:
        return "No value is known of the contact."
    return joined(f"- {value_line(value)}" for value in values)


def health_words(report: HealthReport) -> str:
    """The numbers of all contacts together."""
    rows = (f"{name}: {now}, {meaning}" for name, now, meaning in health_rows(report))
    return joined([f"contacts: {len(report.contacts)}", *rows])
