"""The operator's desk: open questions, their answers, and the evidence of a fact.

This is the only part of the server that records an answer, under the name in the grant. A tool of
an agent's profile must never be here. No parameter lets a model choose a tenant, or the person that
it answers for. In an answer, remembered words are quoted on one line, with every hidden character
shown. No answer is longer than a model can read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reconciler import ops
from reconciler.config_files import load_tools
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute, Fact, FactHistory
from reconciler.domain.tools.replies import ToolReply, reply_about
from reconciler.errors import InvalidRequestError
from reconciler.ops.review.health import HealthReport
from reconciler.reading.visible_text import visible
from reconciler.serve.access.grants import Grant
from reconciler.serve.wording import evidence_lines, health_rows, value_line, waiting_lines

if TYPE_CHECKING:
    from reconciler.bound_memory import ContactMemory
    from reconciler.memory import Memory

CONTACT_FREE = frozenset({"pending", "health"})
"""Tools that may ask about all of an agent's contacts at once."""


def operator_reply(
    memory: Memory,
    grant: Grant,
    agent_id: str,
    contact_id: str | None,
    name: str,
    given: Mapping[str, Any],
) -> ToolReply:
    """Answer a call of one of an operator's tools.

    Args:
        memory: the memory.
        grant: the client's grant.
        agent_id: the agent, within the grant.
        contact_id: the contact, within the grant; None for all of the agent's contacts, if the
            tool allows that.
        name: the tool.
        given: the other arguments.

    Raises:
        ReconcilerError: the memory's call failed.
    """
    asked = load_tools("operator")[name].read(given)
    agent = memory.agent(agent_id, tenant=grant.tenant)
    whose: Any = agent if contact_id is None else agent.contact(contact_id)
    if name in ("confirm", "reject"):
        take = whose.confirm if name == "confirm" else whose.reject
        return reply_about(take(by=grant.person(asked.pop("answered_by")), **asked))
    return ToolReply(text=joined(_LOOKS[name](whose, **asked)) or _NOTHING[name])


def _evidence(
    whose: ContactMemory, fact_id: str | None = None, about: str | None = None
) -> Iterator[str]:
    if (fact_id is None) is (about is None):
        raise InvalidRequestError("give either fact_id or about")
    evidence = whose.evidence_about(about) if about is not None else [whose.evidence(fact_id or "")]
    for each in evidence:
        yield from _item([_fact(each.fact), *evidence_lines(each)])


_LOOKS: Mapping[str, Callable[..., Iterable[str]]] = {
    "pending": lambda whose: pending_lines(whose.pending()),
    "health": lambda whose: _health_lines(ops.health(whose)),
    "history": lambda about, **asked: _history_lines(about.history(**asked)),
    "profile": lambda about: (f"- {value_line(value)}" for value in about.profile()),
    "explain": lambda about, **asked: about.explain(**asked).sentences(),
    "evidence": _evidence,
}
"""The tools that only read, by name; the first parameter is the contact's or the agent's memory."""

_NOTHING = {
    "pending": "Nothing waits for an answer.",
    "history": "Nothing is known of the contact.",
    "evidence": "Nothing is known that says so.",
    "profile": "No value is known of the contact.",
}
"""The answers of tools that found nothing."""


LENGTH_MAX = 12_000
"""Characters of one answer, some three thousand tokens; lines beyond this are left out whole."""

_MORE_WAIT = "{count} more wait; answer some of these, and call again to see them."


def joined(lines: Iterable[str]) -> str:
    """Join lines to one text; if it is too long, end it with the number of lines left out."""
    listed, length = [*map(visible, lines)], 0
    for count, line in enumerate(listed):
        length += len(line) + 1
        if length > LENGTH_MAX:
            rest = len(listed) - count
            return "\n".join([*listed[:count], f"({rest} lines more; ask for less)"])
    return "\n".join(listed)


def _item(lines: Iterable[str]) -> Iterator[str]:
    """Make lines an item of a list: the first with a dash, the others indented."""
    for place, line in enumerate(lines):
        yield f"  {line}" if place else f"- {line}"


def pending_lines(waiting: Sequence[Decision | Dispute]) -> list[str]:
    """List held notes and disputes, each with its question and the id for an answer."""
    told, length = [f"{len(waiting)} waiting:"] if waiting else [], 0
    for count, item in enumerate(waiting):
        lines = [*map(visible, _item(waiting_lines(item)))]
        length += sum(map(len, lines)) + len(lines)
        if count and length > LENGTH_MAX - len(told[0]) - len(_MORE_WAIT):
            return [*told, _MORE_WAIT.format(count=len(waiting) - count)]
        told += lines
    return told


def _history_lines(histories: Iterable[FactHistory]) -> Iterator[str]:
    """Show each chain; the fact that no other superseded comes first."""
    for history in histories:
        yield from _item(_chain(history))


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


def _health_lines(report: HealthReport) -> Iterator[str]:
    """Show the numbers of all contacts together."""
    yield f"contacts: {len(report.contacts)}"
    for name, now, meaning in health_rows(report):
        yield f"{name}: {now}, {meaning}"
