"""How the command line shows decisions, facts and histories to a person. Computes nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.console import Console, Group, JustifyMethod
from rich.markup import escape as escape_markup
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from reconciler.domain.decisions import Action, Decision
from reconciler.domain.explanation import Explanation
from reconciler.domain.facts import Contact, Fact, FactHistory, RankedFact, RefusalCount
from reconciler.domain.gate.assessment import Assessment, Disposal
from reconciler.service.note_import import ImportReport

__all__ = [
    "contacts_table",
    "decision_line",
    "decisions_table",
    "escape",
    "explanation_panel",
    "facts_table",
    "history_tree",
    "import_summary",
    "recall_table",
    "visible",
]

_STYLES = {
    Action.ADD: "green",
    Action.UPDATE: "yellow",
    Action.SKIP: "cyan",
    Action.ADMIT: "blue",
    Action.HOLD: "magenta",
    Action.REJECT: "red",
    Action.DECLINE: "red",
    Action.WITHDRAW: "dim",
    Action.REVOKE: "yellow",
}
_DISPOSALS = {
    Disposal.ADMIT: "[green]✓ pass[/]",
    Disposal.REJECT: "[red]✗ refuse[/]",
    Disposal.CONFIRM: "[magenta]? ask[/]",
    Disposal.CONSENT: "[magenta]? ask for consent[/]",
}
_BAR_WIDTH = 12


def decision_line(decision: Decision) -> Text:
    """One decision in a line or two: what, at which cosine, by which rule, of what."""
    line = Text()
    line.append(f"{decision.action:<7}", style=f"bold {_STYLES[decision.action]}")
    line.append(f"{_cosine(decision.cosine):>6}  {decision.decided_by:<10}", style="dim")
    line.append(visible(decision.text))
    if decision.replayed:
        line.append("  (replayed)", style="magenta")
    for remark in _gate_remarks(decision):
        line.append(f"\n{'':<25}{visible(remark)}", style="dim")
    for verb, fact_id in _touched(decision):
        line.append(f"\n{'':<25}{verb}: {visible(_text_of(fact_id, decision))}", style="dim")
    return line


def decisions_table(decisions: Sequence[Decision]) -> Table:
    """Decisions, the newest first, with their reasons."""
    table = _table("Decisions, newest first")
    for name in ("said", "action", "cosine", "decided by", "note", "reason"):
        justify: JustifyMethod = "right" if name == "cosine" else "left"
        table.add_column(name, justify=justify, overflow="fold")
    for decision in decisions:
        table.add_row(
            _day(decision.said_at),
            Text(decision.action, style=_STYLES[decision.action]),
            _cosine(decision.cosine),
            decision.decided_by,
            f"{escape(decision.text)}\n"
            f"[dim]{escape(decision.contact_id)} · {decision.decision_id}[/]",
            escape(_reason(decision)),
        )
    return table


def pending_view(held: Sequence[Decision]) -> Group:
    """What waits for an answer: what to ask, under which id, why, and until when."""
    return Group(*map(_pending_panel, held)) if held else Group("Nothing waits for an answer.")


def _pending_panel(decision: Decision) -> Panel:
    lapses_at = decision.gate.lapses_at if decision.gate else None
    until = f" · until {_day(lapses_at)}" if lapses_at else ""
    return Panel(
        f"{escape(decision.question or '')}\n[dim]{escape(decision.reason)}\n"
        f"{escape(decision.scope.as_options())}[/]",
        title=decision.decision_id,
        title_align="left",
        subtitle=f"{escape(decision.contact_id)}{until}",
        subtitle_align="left",
    )


def refusals_table(counts: Sequence[RefusalCount]) -> Table:
    """How often the gate refused something, the numbers also as bars."""
    table = _table("Refused by the gate")
    table.add_column("contact")
    table.add_column("reason")
    table.add_column("times")
    most = max((each.refusals for each in counts), default=1)
    for each in counts:
        bar = "█" * max(round(_BAR_WIDTH * each.refusals / most), 1)
        table.add_row(escape(each.contact_id), each.reason, f"{each.refusals:>4} [red]{bar}[/]")
    return table


def assessment_view(assessment: Assessment) -> Group:
    """What every check found, what the score is made of, and what that comes to."""
    table = _table(f"Policy {assessment.policy_version}, domain {assessment.domain}")
    for name in ("check", "alone it would", "finding"):
        table.add_column(name, overflow="fold")
    for check, disposal, detail in assessment.rows():
        table.add_row(check.replace("_", " "), _DISPOSALS[disposal], escape(detail))
    score = f"[bold]{assessment.confidence:.2f}[/] = {escape(' '.join(assessment.parts))}"
    ends = "never" if assessment.lifetime_days is None else f"after {assessment.lifetime_days} days"
    lines = [
        f"score     {score}",
        f"it is     a {assessment.category}, sensitivity {assessment.sensitivity}, recalled as "
        f"{assessment.recall_semantics}, expires {ends}",
        f"so        {_DISPOSALS[assessment.disposal]} [bold]{assessment.reason}[/]: "
        f"{escape(assessment.detail)}",
    ]
    if assessment.question:
        lines.append(f"asks      {escape(assessment.question)}")
    return Group(table, "\n".join(lines))


def explanation_panel(explanation: Explanation) -> Panel:
    """A decision in plain words, in reading order."""
    text = "\n\n".join(escape(sentence) for sentence in explanation.sentences())
    return Panel(text, title="Why", title_align="left", padding=(1, 2))


def facts_table(title: str, facts: Iterable[Fact]) -> Table:
    """Live facts with how often and when they were last said."""
    table = _table(title)
    for name in ("fact", "said", "last said"):
        table.add_column(name, justify="right" if name == "said" else "left")
    for fact in facts:
        table.add_row(escape(fact.text), f"{fact.observations}×", _day(fact.last_confirmed_at))
    return table


def recall_table(query: str, ranked: Sequence[RankedFact]) -> Table:
    """Recalled facts with their score as a bar, and what it is made of."""
    table = _table(f"Recall: {query}" if query else "All live facts")
    table.add_column("score")
    for name in ("similarity", "recency", "importance"):
        table.add_column(name, justify="right")
    table.add_column("fact")
    best = max((each.score for each in ranked), default=1.0) or 1.0
    for each in ranked:
        bar = "█" * max(round(_BAR_WIDTH * each.score / best), 1)
        table.add_row(
            f"{each.score:.3f} [green]{bar}[/]",
            _cosine(each.similarity),
            f"{each.recency:.2f}",
            f"{each.fact.importance:.2f}",
            escape(each.fact.text),
        )
    return table


def history_tree(contact: str, histories: Sequence[FactHistory]) -> Tree:
    """Each history as a branch: the live fact on top, what it superseded beneath, and why."""
    tree = Tree(f"[bold]{escape(contact)}[/]")
    texts = {fact.fact_id: fact.text for history in histories for fact in history.facts}
    for history in histories:
        branches = {history.facts[0].fact_id: tree.add(_fact_label(history.facts[0]))}
        for fact, link in zip(history.facts[1:], history.supersessions, strict=True):
            branch = branches[link.new_id].add(
                f"[yellow]SUPERSEDES[/] [dim]{_cosine(link.cosine)} by {link.decided_by}, "
                f"{_day(link.at)}: {escape(link.reason)}[/]"
            )
            branches[fact.fact_id] = branch.add(_fact_label(fact))
        for conflict in history.conflicts:
            other = {conflict.new_id, conflict.old_id} - {history.facts[0].fact_id}
            branches[history.facts[0].fact_id].add(
                f"[red]CONFLICTS_WITH[/] {escape(texts.get(other.pop(), ''))} "
                f"[dim]{_day(conflict.at)}: {escape(conflict.reason)}[/]"
            )
    return tree


def contacts_table(contacts: Sequence[Contact]) -> Table:
    """Contacts with what is known about them, in numbers."""
    table = _table("Contacts")
    for name in ("contact", "name", "live facts", "facts ever", "last decision"):
        table.add_column(name, justify="right" if "facts" in name else "left")
    for contact in contacts:
        last = _day(contact.last_decision_at) if contact.last_decision_at else ""
        table.add_row(
            escape(contact.contact_id),
            escape(contact.name or ""),
            str(contact.live_facts),
            str(contact.facts),
            last,
        )
    return table


def import_summary(report: ImportReport, seconds: float) -> Table:
    """How many lines became what, by which rule."""
    table = _table(f"Import, {seconds:.1f} s")
    table.add_column("outcome")
    table.add_column("decided by")
    table.add_column("lines", justify="right")
    for (action, decided_by), count in sorted(report.decisions.items()):
        table.add_row(action, decided_by, str(count))
    table.add_row("done before", "", str(report.resumed))
    table.add_row("refused", "", str(len(report.errors)), style="red" if report.errors else None)
    return table


def print_errors(console: Console, report: ImportReport) -> None:
    """The refused lines, by number."""
    for error in report.errors:
        console.print(f"[red]line {error.line_number}[/]: {escape(error.message)}")


def escape(text: str) -> str:
    """Stored text for a terminal: neither markup nor control sequences in it have an effect."""
    return escape_markup(visible(text))


def visible(text: str) -> str:
    """The text with a mark in the place of each control character."""
    return "".join(
        c if unicodedata.category(c) != "Cc" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _table(title: str) -> Table:
    return Table(title=escape(title), title_justify="left", title_style="bold", header_style="dim")


def _fact_label(fact: Fact) -> str:
    style = "green" if fact.is_live else "dim strike"
    until = "" if fact.valid_to is None else f" to {_day(fact.valid_to)}"
    said = f" [dim]from {_day(fact.valid_from)}{until}, said {fact.observations}×[/]"
    contested = " [red]contested[/]" if fact.is_contested else ""
    return f"[{style}]{escape(fact.text)}[/]{said}{contested}"


def _gate_remarks(decision: Decision) -> Iterator[str]:
    """Why the gate did not let it through, and where it waits."""
    if not decision.action.is_reconciled:
        yield decision.reason
    if decision.action is Action.HOLD:
        yield f"waits as {decision.held_id or decision.decision_id}"
    if decision.action is Action.ADMIT:
        yield f"to be committed as {decision.decision_id}"


def _touched(decision: Decision) -> Iterator[tuple[str, str]]:
    """What became of which other fact, in a word and its id."""
    yield from (("supersedes", each) for each in decision.superseded_ids)
    if decision.action is Action.SKIP and decision.fact_id:
        yield "repeats", decision.fact_id
    if decision.history_of_id:
        yield "history of", decision.history_of_id
    yield from (("conflicts with", each) for each in decision.conflicting_ids)


def _text_of(fact_id: str, decision: Decision) -> str:
    texts = [each.text for each in decision.compared_with if each.fact_id == fact_id]
    return texts[0] if texts else fact_id


def _reason(decision: Decision) -> str:
    if decision.arbiter_error:
        return f"{decision.reason}; the arbiter failed: {decision.arbiter_error}"
    if decision.arbiter_reasoning:
        return f"{decision.reason}: {decision.arbiter_reasoning}"
    return decision.reason


def _cosine(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
