"""Shows decisions, facts and histories to a person on the command line. Computes nothing.

The shown texts come from contacts, models and files. A string is never markup here: ``terminal``
prints it literally, with a visible escape for each invisible or control character. A styled text is
a ``Text``, made by ``shown``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text
from rich.tree import Tree

from reconciler.domain.records.facts import (
    Contact,
    Dispute,
    ExpiringFact,
    Fact,
    FactEvent,
    FactHistory,
    RankedFact,
    RefusalCount,
    Supersession,
    may_have_changed,
)
from reconciler.domain.records.kinds import Action, Disposal, FactState
from reconciler.reading.quoting import in_quotes
from reconciler.reading.visible_text import visible
from reconciler.serve.wording import field_lines, waiting_lines

if TYPE_CHECKING:
    from reconciler.domain.explanation import Explanation
    from reconciler.domain.recalling.recalled import Recalled
    from reconciler.domain.records.decisions import Assessment, Decision
    from reconciler.service.writing.note_import import ImportReport

T = TypeVar("T")

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
    Action.RESOLVE: "yellow",
    Action.REVERT: "yellow",
    Action.ARCHIVE: "dim",
    Action.UNARCHIVE: "green",
}
_DISPOSALS = {
    Disposal.ADMIT: Text("✓ pass", style="green"),
    Disposal.REJECT: Text("✗ refuse", style="red"),
    Disposal.CONFIRM: Text("? ask", style="magenta"),
    Disposal.CONSENT: Text("? ask for consent", style="magenta"),
}
_STATES = {
    FactState.LIVE: "green",
    FactState.EXPIRED: "dim",
    FactState.ARCHIVED: "dim",
    FactState.SUPERSEDED: "dim strike",
    FactState.REVOKED: "dim strike",
    FactState.ERASED: "dim",
}
_DONE = {
    Action.ADD: "amended",
    Action.UPDATE: "amended",
    Action.SKIP: "said again",
    Action.REVOKE: "revoked",
    Action.RESOLVE: "settled",
    Action.REVERT: "changed by a revert",
    Action.ARCHIVE: "archived",
    Action.UNARCHIVE: "taken up again",
}
_BAR_WIDTH = 12
_ID_WIDTH = 36


class Verbatim(str):
    """A text that is printed letter by letter, without wrapping: a model may be given it."""


def as_it_is(text: str) -> Verbatim:
    """A text with lines to be pasted, so none is wrapped; controls are escaped."""
    return Verbatim("\n".join(map(visible, text.split("\n"))))


class _Terminal(Console):
    """A console on which no string has an effect: neither markup, emoji names nor controls."""

    def render_str(self, text: str, **given: Any) -> Text:
        """The string literally; its lines stay lines."""
        lines = "\n".join(map(visible, text.split("\n")))
        return super().render_str(lines, **given | {"markup": False, "emoji": False})


def terminal(*, stderr: bool = False, is_quiet: bool = False) -> Console:
    """The console for everything that a person reads."""
    return _Terminal(stderr=stderr, quiet=is_quiet, highlight=False, markup=False, emoji=False)


def make_printable() -> None:
    """Print characters that an output's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def shown(text: str, style: str = "") -> Text:
    """The text on one line, in a style."""
    return Text(visible(text), style=style)


Line = str | Text | tuple[str, str]
"""A text for one line, or a text and its style."""


def lines(*texts: Line | None) -> Text:
    """The texts beneath each other, each on a line of its own; None is left out."""
    return Text("\n").join(_line(text) for text in texts if text is not None)


def _line(text: Line) -> Text:
    if isinstance(text, tuple):
        return shown(*text)
    return shown(text) if isinstance(text, str) else text


def table(title: str, *columns: str | Column, rows: Iterable[Sequence[Any]]) -> Table:
    """A table. A column that is only named folds long words; a list in a row is a cell of lines."""
    made = Table(
        *(Column(each, overflow="fold") if isinstance(each, str) else each for each in columns),
        title=shown(title),
        title_justify="left",
        title_style="bold",
        header_style="dim",
        caption_justify="left",
    )
    for row in rows:
        made.add_row(*(lines(*(cell if isinstance(cell, list) else [cell])) for cell in row))
    return made


def panels(draw: Callable[[T], Panel], items: Iterable[T], nothing: str) -> Group:
    """A panel for each item; without any, the words for nothing."""
    return Group(*(map(draw, items) if items else [nothing]))


def id_column(name: str) -> Column:
    """A column that keeps each id whole on one line, to be copied into a command."""
    return Column(name, min_width=_ID_WIDTH, overflow="fold")


def number_column(name: str) -> Column:
    """A column of numbers, one beneath the other."""
    return Column(name, justify="right", no_wrap=True)


def short_column(name: str) -> Column:
    """A column of texts that are never wrapped."""
    return Column(name, no_wrap=True)


def panel(*texts: Line | None, title: str, subtitle: str | None = None) -> Panel:
    """Texts beneath each other in a frame with its names at the left."""
    return Panel(
        lines(*texts),
        title=shown(title),  # a string would be read as markup
        title_align="left",
        subtitle=None if subtitle is None else shown(subtitle),
        subtitle_align="left",
    )


def record_panel(record: Any, title: str) -> Panel:
    """A record with all its fields, as its JSON has them."""
    return panel(*field_lines(record), title=title)


def decision_line(decision: Decision) -> Text:
    """One decision in a line or two: action, cosine, rule and text."""
    line = Text()
    line.append(f"{decision.action:<7}", style=f"bold {_STYLES[decision.action]}")
    line.append(f"{_cosine(decision.cosine):>6}  {decision.decided_by:<10}", style="dim")
    line.append(shown(decision.text))
    if decision.replayed:
        line.append("  (replayed)", style="magenta")
    for remark in _gate_remarks(decision):
        line.append(f"\n{'':<25}{visible(remark)}", style="dim")
    for verb, fact_id in _touched(decision):
        line.append(f"\n{'':<25}{verb}: {visible(_text_of(fact_id, decision))}", style="dim")
    return line


def decision_made(decision: Decision) -> Text:
    """One decision, with its id and the id of its fact."""
    ids = f"decision {visible(decision.decision_id)}"
    if decision.fact_id:
        ids += f"\n{'':<25}fact {visible(decision.fact_id)}"
    return decision_line(decision).append(f"\n{'':<25}{ids}", style="dim")


def decisions_table(decisions: Sequence[Decision]) -> Table:
    """Decisions, the newest first, with their reasons."""
    return table(
        "Decisions, newest first",
        id_column("note"),
        "decided",
        "reason",
        rows=(
            (
                [
                    decision.text,
                    (f"{decision.scope.contact_id}, {_day(decision.note.said_at)}", "dim"),
                    (decision.decision_id, "dim"),
                ],
                [
                    (decision.action, _STYLES[decision.action]),
                    (f"by {decision.decided_by}", "dim"),
                    None if decision.cosine is None else (f"at {_cosine(decision.cosine)}", "dim"),
                ],
                _reason(decision),
            )
            for decision in decisions
        ),
    )


def pending_view(waiting: Sequence[Decision | Dispute], shown_max: int | None = None) -> Group:
    """Held notes and disputes: the question, the id, the reason and since when.

    Args:
        waiting: the held notes and disputes.
        shown_max: how many are shown; the rest is counted. None for all.
    """
    if not waiting:
        return Group("Nothing waits for an answer.")
    left = len(waiting[shown_max:]) if shown_max is not None else 0
    rest = [f"{left} more wait; --limit {len(waiting)} shows all."] if left else []
    return Group(*map(_waiting_panel, waiting[:shown_max]), *rest)


def disputes_view(disputes: Sequence[Dispute]) -> Group:
    """Disputes: the question, the facts with their ids, and why both were kept."""
    return panels(_waiting_panel, disputes, "Nothing is in dispute.")


def _waiting_panel(item: Decision | Dispute) -> Panel:
    scope = item.scope
    return panel(*waiting_lines(item), (scope.as_options(), "dim"), title=scope.contact_id)


def expiring_view(facts: Sequence[ExpiringFact]) -> Group:
    """Facts that expire soon: the day, the question, and how to answer no."""
    return panels(_expiring_panel, facts, "Nothing expires so soon.")


def _expiring_panel(expiring: ExpiringFact) -> Panel:
    until = f" · until {_day(expiring.fact.expires_at)}" if expiring.fact.expires_at else ""
    return panel(
        expiring.question,
        ("Yes is the same note again; no is `reconciler revoke`.", "dim"),
        title=expiring.fact.fact_id,
        subtitle=f"{expiring.contact_id}{until}",
    )


def refusals_table(counts: Sequence[RefusalCount]) -> Table:
    """Refusals by contact and reason, with bars."""
    most = max((count.refusals for count in counts), default=1)
    rows = (
        (
            count.contact_id,
            str(count.reason),
            _with_bar(f"{count.refusals:>4} ", count.refusals / most, "red"),
        )
        for count in counts
    )
    return table("Refused by the gate", "contact", "reason", "times", rows=rows)


def _with_bar(number: str, share: float, style: str) -> Text:
    return Text.assemble(number, ("█" * max(round(_BAR_WIDTH * share), 1), style))


def assessment_view(assessment: Assessment) -> Group:
    """The finding of each check, the parts of the score, and the result."""
    findings = table(
        f"Policy {assessment.policy_version}, domain {assessment.domain}",
        "check",
        "alone it would",
        "finding",
        rows=(
            (finding.check.replace("_", " "), _DISPOSALS[finding.disposal], finding.detail)
            for finding in assessment.findings
        ),
    )
    ends = "never" if assessment.lifetime_days is None else f"after {assessment.lifetime_days} days"
    parts = " ".join(map(str, assessment.parts))
    told: list[Line | None] = [
        Text.assemble("score     ", (f"{assessment.confidence:.2f}", "bold"), " = ", shown(parts)),
        f"it is     a {assessment.category}, sensitivity {assessment.sensitivity}, recalled as "
        f"{assessment.recall_semantics}, expires {ends}",
        Text.assemble(
            "so        ",
            _DISPOSALS[assessment.disposal],
            (f" {assessment.reason}", "bold"),
            ": ",
            shown(assessment.detail),
        ),
        f"asks      {assessment.question}" if assessment.question else None,
    ]
    return Group(findings, lines(*told))


def explanation_panel(explanation: Explanation) -> Panel:
    """A decision in plain words, in reading order."""
    told = [line for sentence in explanation.sentences() for line in ("", sentence)]
    return panel(*told, "", title="Why")


def recall_table(query: str, ranked: Sequence[RankedFact]) -> Table:
    """Recalled facts with their score as a bar, and what it is made of."""
    best = max((hit.score for hit in ranked), default=1.0) or 1.0
    return table(
        f"Recall: {query}" if query else "All live facts",
        short_column("score"),
        short_column("made of"),
        id_column("fact"),
        rows=(
            (
                _with_bar(f"{hit.score:.3f} ", hit.score / best, "green"),
                [
                    (f"similarity {_cosine(hit.similarity)}", "dim"),
                    (f"recency    {hit.recency:.2f}", "dim"),
                    (f"importance {hit.fact.importance:.2f}", "dim"),
                ],
                [
                    fact_lines(hit.fact),
                    *_marks(hit),
                    *(
                        Text.assemble(("in dispute with ", "red"), shown(other.text))
                        for other in hit.disputed_with
                    ),
                ],
            )
            for hit in ranked
        ),
    )


def _marks(hit: RankedFact) -> Iterator[Line]:
    """Marks of a recalled fact: standing, disputed, not yet or no longer true."""
    from reconciler.domain.recalling.recalled import holds_until_settled

    fact = hit.fact
    if hit.is_standing:
        yield "standing, whatever is asked", "magenta"
    if holds_until_settled(fact, hit.disputed_with):
        yield "holds until settled", "magenta"
    if hit.is_upcoming:
        yield f"not yet, from {_day(fact.valid_from)}", "yellow"
    if fact.valid_to is not None:
        yield f"until {_day(fact.valid_to)}", "yellow"
    if fact.may_be_outdated:
        yield may_have_changed(fact.last_confirmed_at), "yellow"


def recall_outcome(recalled: Recalled, nothing: str) -> str:
    """The kind of answer: nothing fits, with the known attributes; or n of m; else empty.

    Args:
        recalled: the answer.
        nothing: how to say that nothing fits.
    """
    from reconciler.domain.recalling.recalled import RecallOutcome

    if recalled.outcome is RecallOutcome.NOTHING_FITS:
        known = ", ".join(visible(name) for name in recalled.known)
        return f"{nothing}; known: {known}." if known else f"{nothing}."
    if not recalled.left_out:
        return ""
    shown_here = recalled.fitting - recalled.left_out
    return (
        f"{shown_here} of {recalled.fitting} that fit; for the rest use --limit or --budget-tokens."
    )


def fact_lines(fact: Fact) -> Text:
    """A fact, and on lines of their own what it points to, and the id that commands take."""
    return lines(fact.text, _pointer(fact), (fact.fact_id, "dim"))


def _pointer(fact: Fact) -> Line | None:
    return (f"→ {fact.artefact}", "blue") if fact.artefact else None


def history_tree(contact: str, histories: Sequence[FactHistory]) -> Tree:
    """Each history as a branch: the last fact on top, what it superseded beneath, and why."""
    tree = Tree(shown(contact, style="bold"))
    texts = {fact.fact_id: fact.text for history in histories for fact in history.facts}
    for history in histories:
        branches = {history.facts[0].fact_id: tree.add(_fact_label(history.facts[0]))}
        heads = {fact.fact_id: fact for fact in history.facts}
        for fact, link in zip(history.facts[1:], history.supersessions, strict=True):
            how = f"by {link.decided_by}, similarity {_cosine(link.cosine)}"
            why = f" {how}, {_day(link.at)}: {link.reason}"
            branch = branches[link.new_id].add(
                Text("SUPERSEDES", style="yellow").append(shown(why, style="dim"))
            )
            branches[fact.fact_id] = branch.add(_fact_label(fact, heads[link.new_id], link))
        for event in history.events:
            branches[event.fact_id].add(_event_label(event))
        for conflict in history.conflicts:
            [other] = conflict.ids - {history.facts[0].fact_id}
            branches[history.facts[0].fact_id].add(
                Text.assemble(
                    ("CONFLICTS_WITH ", "red"),
                    shown(texts.get(other, "")),
                    shown(f" {_day(conflict.at)}: {conflict.reason}", style="dim"),
                )
            )
    return tree


def contacts_table(contacts: Sequence[Contact]) -> Table:
    """Contacts, beneath each its name, with how many of its facts are in which state."""
    have_ended = any(map(_not_live, contacts))
    return table(
        "Contacts",
        id_column("contact"),
        number_column("live"),
        *([short_column("not live")] if have_ended else []),
        short_column("last decision"),
        rows=(
            (
                # An unnamed contact has its id as its name.
                [*dict.fromkeys((contact.contact_id, contact.name or contact.contact_id))],
                str(contact.live_facts),
                *([_not_live(contact)] if have_ended else []),
                _day(contact.last_decision_at) if contact.last_decision_at else "",
            )
            for contact in contacts
        ),
    )


def _not_live(contact: Contact) -> list[str]:
    """The contact's facts by state other than live, without zeros."""
    counts = {
        "expired": contact.expired_facts,
        "archived": contact.archived_facts,
        "superseded": contact.superseded_facts,
        "revoked": contact.revoked_facts,
        "erased": contact.erased_facts,
    }
    return [f"{count} {state}" for state, count in counts.items() if count]


def print_errors(console: Console, report: ImportReport, kind: str) -> None:
    """The refused lines or records, by number."""
    for error in report.errors:
        where = (f"{kind} {error.line_number}", "red")
        console.print(Text.assemble(where, ": ", shown(error.message)))


def _fact_label(fact: Fact, above: Fact | None = None, link: Supersession | None = None) -> Text:
    label = shown(f"{fact.fact_id} {_held(fact)}", "dim")
    if not fact.is_live:
        label.append(f" {fact.state}", style="yellow")
    if fact.is_void and above is not None and link is not None:
        who = f": {above.trust} said on {_day(link.at)} {in_quotes(visible(above.text))}"
        label.append(who, style="dim")
    if fact.is_contested:
        label.append(" contested", style="red")
    return lines((fact.text, _STATES[fact.state]), _pointer(fact), label)


def _held(fact: Fact) -> str:
    """When it held, and how often it was said."""
    if fact.is_void:
        return f" never held, said {fact.observations}×"
    until = "" if fact.valid_to is None else f" to {_day(fact.valid_to)}"
    if fact.may_be_outdated:
        until = f", {may_have_changed(fact.last_confirmed_at)}"
    elif fact.valid_to is None and fact.expires_at is not None and not fact.is_live:
        until = f", silent since {_day(fact.expires_at)}"
    return f" from {_day(fact.valid_from)}{until}, said {fact.observations}×"


def _event_label(event: FactEvent) -> Text:
    done = _DONE.get(event.action, str(event.action).lower())
    who = f" by {event.by}, {_day(event.at)}: {event.reason}"
    return Text(done, style="yellow").append(shown(who, style="dim"))


def _gate_remarks(decision: Decision) -> Iterator[str]:
    """Why the gate stopped it, and the id under which it waits."""
    if not decision.action.is_reconciled:
        yield decision.reason
    if decision.action is Action.HOLD:
        yield f"waits as {decision.proposal.held_id or decision.decision_id}"
    if decision.action is Action.ADMIT:
        yield f"to be committed as {decision.decision_id}"


def _touched(decision: Decision) -> Iterator[tuple[str, str]]:
    """Other facts that the decision changed: a word and an id each."""
    verb = "revokes fact" if decision.action is Action.REVOKE else "supersedes"
    yield from ((verb, fact_id) for fact_id in decision.superseded_ids)
    if decision.undo:
        yield from (("undoes decision", each) for each in decision.undo.decision_ids)
    if decision.action is Action.SKIP and decision.fact_id:
        yield "repeats", decision.fact_id
    if decision.verdict.above:
        yield "history of", decision.verdict.above
    yield from (("conflicts with", fact_id) for fact_id in decision.conflicting_ids)


def _text_of(fact_id: str, decision: Decision) -> str:
    texts = {fact.fact_id: fact.text for fact in decision.compared_with}
    return texts.get(fact_id, fact_id)


def _reason(decision: Decision) -> str:
    if decision.opinion.error:
        return f"{decision.reason}; the arbiter failed: {decision.opinion.error}"
    if decision.opinion.reasoning:
        return f"{decision.reason}: {decision.opinion.reasoning}"
    return decision.reason


def _cosine(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
