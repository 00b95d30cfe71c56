"""Shows decisions, facts and histories to a person on the command line. Computes nothing.

The shown texts come from contacts, models and files. A string is never markup here: ``terminal``
prints it literally, with a visible escape for each invisible or control character.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text
from rich.tree import Tree

from reconciler.domain.records.facts import (
    Contact,
    Dispute,
    ExpiringFact,
    Fact,
    FactHistory,
    FoundFact,
    RankedFact,
    RefusalCount,
    may_have_changed,
)
from reconciler.domain.records.kinds import Action, Disposal
from reconciler.reading.named_secrets import without_secrets
from reconciler.reading.visible_text import visible
from reconciler.serve.wording import (
    evidence_lines,
    field_lines,
    health_rows,
    value_line,
    waiting_lines,
)

if TYPE_CHECKING:
    from reconciler.domain.explanation import Explanation
    from reconciler.domain.recalling.checking import ActCheck
    from reconciler.domain.recalling.recalled import Recalled, SlotValue
    from reconciler.domain.records.candidates import Assessment, FactEvidence
    from reconciler.domain.records.decisions import Archived, Decision
    from reconciler.domain.records.erasures import Erasure, ErasureReceipt
    from reconciler.ops.review.health import HealthReport

T = TypeVar("T")

_STYLES = {
    Action.ADD: "green",
    Action.SKIP: "cyan",
    Action.HOLD: "magenta",
    Action.REJECT: "red",
    Action.DECLINE: "red",
}
"""The colour of the other actions, which change facts."""

_DISPOSALS = {
    Disposal.ADMIT: "✓ pass",
    Disposal.REJECT: "✗ refuse",
    Disposal.CONFIRM: "? ask",
    Disposal.CONSENT: "? ask for consent",
}


class Verbatim(str):
    """A text that is printed letter by letter, without wrapping: it may be meant for a model."""


def as_it_is(text: str) -> Verbatim:
    """Return a text with lines to be pasted: no line is wrapped, and controls are escaped."""
    return Verbatim("\n".join(map(visible, text.split("\n"))))


class _Terminal(Console):
    """A console on which no string has an effect: neither markup, emoji names nor controls."""

    def render_str(self, text: str, **given: Any) -> Text:
        """Draw the string literally; its lines stay lines."""
        return super().render_str(as_it_is(text), **given | {"markup": False, "emoji": False})


def terminal(*, stderr: bool = False, is_quiet: bool = False) -> Console:
    """Return the console for everything that a person reads."""
    return _Terminal(stderr=stderr, quiet=is_quiet, highlight=False, markup=False, emoji=False)


def make_printable() -> None:
    """Print characters that an output's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lines(*texts: str | Text | None) -> Text:
    """Put the texts below each other, each on a line of its own; None is left out."""
    return Text("\n").join(
        Text(visible(text)) if isinstance(text, str) else text for text in texts if text is not None
    )


def listed(draw: Callable[[T], Panel | Text], items: Iterable[T], nothing: str) -> Group:
    """Draw each item; if there is none, return the words for an empty list."""
    return Group(*(map(draw, items) if items else [nothing]))


def panel(*texts: str | Text | None, title: str, subtitle: str | None = None) -> Panel:
    """Put texts below each other in a frame, between its names; an id is never cut."""
    return Panel(lines(title, *texts, subtitle))


def record_panel(record: Any, title: str) -> Panel:
    """Show a record with all its fields, as its JSON has them."""
    return panel(*field_lines(record), title=title)


def decision_line(decision: Decision) -> Text:
    """Show one decision in a line or two: action, cosine, rule and text."""
    replayed = "  (replayed)" if decision.replayed else ""
    how = f"{_cosine(decision.cosine):>6}  {decision.decided_by:<10}"
    texts = {fact.fact_id: fact.text for fact in decision.compared_with}
    touched = (f"{verb}: {texts.get(each, each)}" for verb, each in _touched(decision))
    line = lines(
        f"{decision.action:<7}{how}{decision.text}{replayed}",
        *(f"{'':<25}{each}" for each in (*_gate_remarks(decision), *touched)),
    )
    line.stylize(f"bold {_STYLES.get(decision.action, 'yellow')}", 0, 7)
    return line


def decision_made(decision: Decision) -> Text:
    """Show one decision, with its id and the id of its fact."""
    return lines(
        decision_line(decision),
        f"{'':<25}decision {decision.decision_id}",
        f"{'':<25}fact {decision.fact_id}" if decision.fact_id else None,
    )


def decision_panel(decision: Decision) -> Panel:
    """Show a decision with its reason, its time and its contact."""
    when = f"{decision.scope.contact_id}, {_day(decision.note.said_at)}"
    # Of what the gate kept out the line itself has the reason.
    reason = _reason(decision) if decision.action.is_reconciled else None
    return panel(decision_made(decision), reason, title=when)


def waiting_panel(item: Decision | Dispute) -> Panel:
    """Show a held note or a dispute: the question, the ids, the reason and since when it waits."""
    scope = item.scope
    return panel(*waiting_lines(item), scope.as_options(), title=scope.contact_id)


def expiring_panel(expiring: ExpiringFact) -> Panel:
    """Show a fact that expires soon: the day, the question, and how to answer no."""
    until = f" · until {_day(expiring.fact.expires_at)}" if expiring.fact.expires_at else ""
    return panel(
        expiring.question,
        "Yes is the same note again; no is `reconciler revoke`.",
        title=expiring.fact.fact_id,
        subtitle=f"{expiring.contact_id}{until}",
    )


def refusal_line(count: RefusalCount) -> Text:
    """Show a contact's refusals for one reason."""
    return lines(f"{count.refusals:>4} × {count.reason}, contact {count.contact_id}")


def assessment_view(assessment: Assessment) -> Text:
    """Show the finding of each check, the parts of the score, and the result."""
    findings = (
        f"{each.check.replace('_', ' '):<15} {_DISPOSALS[each.disposal]}: {each.detail}"
        for each in assessment.findings
    )
    ends = "never" if assessment.lifetime_days is None else f"after {assessment.lifetime_days} days"
    parts = " ".join(map(str, assessment.parts))
    outcome = f"{_DISPOSALS[assessment.disposal]} {assessment.reason}: {assessment.detail}"
    return lines(
        f"Policy {assessment.policy_version}, domain {assessment.domain}",
        *findings,
        f"score     {assessment.confidence:.2f} = {parts}",
        f"it is     a {assessment.category}, sensitivity {assessment.sensitivity}, recalled as "
        f"{assessment.recall_semantics}, expires {ends}, or at an end in its words",
        f"so        {outcome}",
        f"asks      {assessment.question}" if assessment.question else None,
    )


def explanation_panel(explanation: Explanation) -> Panel:
    """Show a decision in plain words, in reading order."""
    told = [line for sentence in explanation.sentences() for line in ("", sentence)]
    return panel(*told, "", title="Why")


def ranked_facts(query: str, ranked: Sequence[RankedFact]) -> Group:
    """Show recalled facts with their score and the parts of the score."""
    heading = f"Recall: {query}" if query else "All live facts"
    return Group(lines(heading), *map(_ranked_panel, ranked))


def _ranked_panel(hit: RankedFact) -> Panel:
    made_of = f"similarity {_cosine(hit.similarity)}, recency {hit.recency:.2f}"
    disputed = (f"in dispute with {other.text}" for other in hit.disputed_with)
    return fact_panel(
        hit.fact,
        *_marks(hit),
        *disputed,
        subtitle=f"score {hit.score:.3f} of {made_of}, importance {hit.fact.importance:.2f}",
    )


def _marks(hit: RankedFact) -> Iterator[str]:
    """Return the marks of a recalled fact: standing, disputed, not yet or no longer true."""
    from reconciler.domain.recalling.recalled import holds_until_settled

    fact = hit.fact
    if hit.account:
        yield f"of account {hit.account}"
    if hit.is_standing:
        yield "standing, whatever is asked"
    if holds_until_settled(fact, hit.disputed_with):
        yield "holds until settled"
    if hit.is_upcoming:
        yield f"not yet, from {_day(fact.valid_from)}"
    if fact.valid_to is not None:
        yield f"until {_day(fact.valid_to)}"
    if fact.may_be_outdated:
        yield may_have_changed(fact.last_confirmed_at)


def fact_panel(fact: Fact, *texts: str, subtitle: str) -> Panel:
    """Show a fact under the id that commands take, with the facts that it points to."""
    return panel(fact.text, _pointer(fact), *texts, title=fact.fact_id, subtitle=subtitle)


def _pointer(fact: Fact) -> str | None:
    return f"→ {fact.artefact}" if fact.artefact else None


def history_tree(contact: str, histories: Sequence[FactHistory]) -> Tree:
    """Show each history as a branch: the last fact on top, the superseded facts below, and why."""
    tree = Tree(lines(contact))
    texts = {fact.fact_id: fact.text for history in histories for fact in history.facts}
    for history in histories:
        head, *older = history.facts
        branches = {head.fact_id: tree.add(_fact_label(head))}
        for fact, link in zip(older, history.supersessions, strict=True):
            how = f"by {link.decided_by}, similarity {_cosine(link.cosine)}, {_day(link.at)}"
            why = branches[link.new_id].add(lines(f"SUPERSEDES {how}: {link.reason}"))
            branches[fact.fact_id] = why.add(_fact_label(fact))
        for event in history.events:
            told = f"{event.action} by {event.by}, {_day(event.at)}: {event.reason}"
            branches[event.fact_id].add(lines(told))
        for conflict in history.conflicts:
            [other] = conflict.ids - {head.fact_id}
            told = f"{texts.get(other, '')} {_day(conflict.at)}: {conflict.reason}"
            branches[head.fact_id].add(lines(f"CONFLICTS_WITH {told}"))
    return tree


def contact_line(contact: Contact) -> Text:
    """Show a contact with its name, and the number of its facts by state."""
    # An unnamed contact has its id as its name.
    names = dict.fromkeys((contact.contact_id, contact.name or contact.contact_id))
    states = ("expired", "archived", "superseded", "revoked", "erased")
    ended = ((getattr(contact, f"{state}_facts"), state) for state in states)
    told = [f"{contact.live_facts} live", *(f"{count} {state}" for count, state in ended if count)]
    if contact.last_decision_at:
        told.append(f"last decision {_day(contact.last_decision_at)}")
    return lines(f"{' · '.join(names)}: {', '.join(told)}")


def _fact_label(fact: Fact) -> Text:
    state = "" if fact.is_live else f" {fact.state}"
    contested = " contested" if fact.is_contested else ""
    label = f"{fact.fact_id} {_held(fact)}{state}{contested}"
    return lines(fact.text, _pointer(fact), label)


def _held(fact: Fact) -> str:
    """Return when the fact held, and how often it was said."""
    if fact.is_void:
        return f" never held, said {fact.observations}×"
    until = "" if fact.valid_to is None else f" to {_day(fact.valid_to)}"
    if fact.may_be_outdated:
        until = f", {may_have_changed(fact.last_confirmed_at)}"
    elif fact.valid_to is None and fact.expires_at is not None and not fact.is_live:
        until = f", silent since {_day(fact.expires_at)}"
    return f" from {_day(fact.valid_from)}{until}, said {fact.observations}×"


def _gate_remarks(decision: Decision) -> Iterator[str]:
    """Return why the gate stopped the note, and the id under which it waits."""
    if not decision.action.is_reconciled:
        yield decision.reason
    if decision.action is Action.HOLD:
        yield f"waits as {decision.proposal.held_id or decision.decision_id}"
    if decision.action is Action.ADMIT:
        yield f"to be committed as {decision.decision_id}"


def _touched(decision: Decision) -> Iterator[tuple[str, str]]:
    """List the other facts that the decision changed: a word and an id for each."""
    verb = "revokes fact" if decision.action is Action.REVOKE else "supersedes"
    yield from ((verb, fact_id) for fact_id in decision.superseded_ids)
    if decision.undo:
        yield from (("undoes decision", each) for each in decision.undo.decision_ids)
    if decision.action is Action.SKIP and decision.fact_id:
        yield "repeats", decision.fact_id
    if decision.verdict.above:
        yield "history of", decision.verdict.above
    yield from (("conflicts with", fact_id) for fact_id in decision.conflicting_ids)


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


def recall_view(
    ranked: Recalled, *, query: str, agent: str, contact: str, prompt: bool
) -> Group | Verbatim:
    """Show the recalled facts, the kind of the answer, and their length as a prompt."""
    from reconciler.domain.recalling.prompting import as_prompt, token_count

    told = as_prompt(ranked)
    if prompt:
        return Verbatim(told)
    if not ranked:
        known = f"; known: {', '.join(ranked.known)}" if ranked.known else ""
        return Group(f"Nothing known of contact {contact} of agent {agent} fits{known}.")
    outcome = f"As a prompt these take about {token_count(told):,} tokens; --prompt shows it."
    if ranked.left_out:
        here = ranked.fitting - ranked.left_out
        more = f"{here} of {ranked.fitting} that fit; for the rest use --limit or --budget-tokens."
        outcome = f"{more}\n{outcome}"
    return Group(ranked_facts(without_secrets(query), ranked), outcome)


def recall_plain(ranked: Recalled, prompt: bool) -> Any:
    """Return the recalled facts as plain values; with ``--prompt`` also as a model gets them."""
    from reconciler.domain.recalling.prompting import as_prompt, token_count

    if not prompt:
        return list(ranked)
    told = as_prompt(ranked)
    return {
        "facts": list(ranked),
        "prompt": told,
        "token_count": token_count(told),
        "recall_id": ranked.recall_id,
    }


def found_panel(hit: FoundFact) -> Panel:
    """Show a fact of any contact: how it was found, and when it was last said."""
    how = str(hit.found_in) if hit.similarity is None else f"cosine {hit.similarity:.3f}"
    said = f"{how}, said last {hit.fact.last_confirmed_at:%Y-%m-%d}, {hit.fact.word}"
    return fact_panel(hit.fact, said, subtitle=hit.contact_id)


def value_shown(value: SlotValue) -> Text:
    """Show a current value of an attribute."""
    return lines(value_line(value))


def check_view(checked: ActCheck) -> Verbatim:
    """Show the answer to a check before an act, and the facts that the answer rests on."""
    answer = checked.as_prompt({fact.fact_id: fact.handle for fact in checked.facts})
    return Verbatim(
        "\n".join([answer, *(f"  {fact.handle} {fact.text}" for fact in checked.facts)])
    )


def archived_panel(archived: Archived) -> Panel:
    """Show the archived facts of a contact, with the decision that archived them."""
    done = (
        "would be archived" if archived.decision is None else f"by {archived.decision.decision_id}"
    )
    facts = (f"{fact.fact_id}  {fact.text}" for fact in archived.facts)
    return panel(*facts, title=archived.contact_id, subtitle=done)


def evidence_panel(evidence: FactEvidence) -> Panel:
    """Show a fact with the turns that it rests on."""
    return panel(
        evidence.fact.text,
        *evidence_lines(evidence),
        title=evidence.fact.fact_id,
        subtitle=str(evidence.fact.state),
    )


def erasure_panel(erasure: Erasure) -> Panel:
    """Show an erasure with its receipt and the next step; for a dry run, what it would erase."""
    told, title = [*field_lines(erasure)], str(erasure.state)
    if erasure.receipt.is_dry_run:
        told = [line for line in told if not line.endswith((": 0", f"state: {title}"))]
        title = "dry run"
    return panel(*told, *_advice(erasure.receipt), title=f"{erasure.kind} · {title}")


def _advice(receipt: ErasureReceipt) -> Iterator[str]:
    if not any(receipt.removed.values()):
        yield "Nothing was found; if something should have been there, check the name that you gave"
    if not receipt.is_clean:
        yield "STILL THERE: some of it is left; `reconciler erasures --finish` continues"
    if receipt.shared_texts:
        yield (
            "Shared texts are words or lines that other records or the memory itself use too, such "
            "as an attribute's name, so the files hold them"
        )


def health_view(report: HealthReport) -> Text:
    """Show the numbers of all contacts together; the JSON has those of each contact."""
    totals = (f"{name:<14}{now:>6}  {meaning}" for name, now, meaning in health_rows(report))
    return lines(f"Health of {report.agent_id}", *totals)
