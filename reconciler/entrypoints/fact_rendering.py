"""Shows facts on the command line: found ones, values, evidence, archived ones, health."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from reconciler.domain.recalling.filtering import FilterFields
from reconciler.entrypoints.rendering import (
    Line,
    Verbatim,
    fact_lines,
    id_column,
    lines,
    number_column,
    panel,
    panels,
    recall_outcome,
    recall_table,
    table,
)
from reconciler.reading.named_secrets import without_secrets
from reconciler.serve.wording import (
    counted,
    evidence_lines,
    field_lines,
    health_rows,
    most_troubled,
    value_line,
)

if TYPE_CHECKING:
    from reconciler.domain.recalling.briefing import Briefing
    from reconciler.domain.recalling.recalled import Recalled, SlotValue
    from reconciler.domain.records.decisions import Archived, FactEvidence
    from reconciler.domain.records.erasures import Erasure, ErasureReceipt
    from reconciler.domain.records.facts import FoundFact
    from reconciler.ops.review.health import ContactHealth, HealthReport


def recall_view(
    ranked: Recalled,
    *,
    query: str,
    agent: str,
    contact: str,
    as_of: str | None,
    prompt: bool,
    **options: Any,
) -> Group | Verbatim:
    """The recalled facts, which kind of answer they are, and how long they are as a prompt."""
    from reconciler.domain.recalling.prompting import as_prompt, token_count

    told = as_prompt(ranked)
    if prompt:
        return Verbatim(told)
    asked = without_secrets(query)
    is_filtered = any(options[name] not in (None, []) for name in FilterFields.__annotations__)
    asks = ["passes every filter"] * is_filtered + [f"is near to: {asked}"] * bool(asked)
    that = f" that {' and '.join(asks)}" if asks else ""
    known = "was known" if as_of else "is known"
    nothing = f"Nothing {known} of contact {contact} of agent {agent}{that}"
    outcome = [told for told in [recall_outcome(ranked, nothing)] if told]
    if not ranked:
        return Group(*outcome)
    takes = f"As a prompt these take about {token_count(told):,} tokens; --prompt shows it."
    return Group(recall_table(asked, ranked), *outcome, takes)


def recall_plain(ranked: Recalled, prompt: bool) -> Any:
    """The recalled facts as plain values; with ``--prompt`` also as a model gets them."""
    from reconciler.domain.recalling.prompting import as_prompt, token_count

    if not prompt:
        return list(ranked)
    told = as_prompt(ranked)
    return {"facts": list(ranked), "prompt": told, "token_count": token_count(told)}


def found_view(facts: Sequence[FoundFact], asked: str) -> Table | str:
    """The facts that answer what was asked."""
    asked = without_secrets(asked)
    if not facts:
        return f"{asked}: nothing is known."
    return table(
        asked,
        "contact, found by",
        id_column("fact"),
        "said last, source",
        rows=(
            (
                [hit.contact_id, (_how(hit), "dim")],
                fact_lines(hit.fact),
                [f"{hit.fact.last_confirmed_at:%Y-%m-%d}", (hit.fact.word, "dim")],
            )
            for hit in facts
        ),
    )


def _how(hit: FoundFact) -> str:
    return str(hit.found_in) if hit.similarity is None else f"cosine {hit.similarity:.3f}"


def value_view(
    values: Sequence[SlotValue], attribute: str, subject: str | None, contact: str
) -> Text | str:
    """The current values of one attribute."""
    return profile_view(values, f"{attribute} of {subject or contact}")


def profile_view(values: Sequence[SlotValue], contact: str) -> Text | str:
    """All current values of a contact."""
    if not values:
        return f"No value is known of {contact}."
    return lines((contact, "bold"), *map(value_line, values))


def briefing_view(briefing: Briefing) -> Verbatim:
    """The briefing, exactly as a model gets it."""
    return Verbatim(briefing.as_prompt())


def archived_view(archived: Sequence[Archived]) -> Group:
    """The archived facts by contact, with the decision that archived them."""
    return panels(_archived_panel, archived, "Nothing has faded so far.")


def _archived_panel(archived: Archived) -> Panel:
    done = (
        "would be archived" if archived.decision is None else f"by {archived.decision.decision_id}"
    )
    facts = (f"{fact.fact_id}  {fact.text}" for fact in archived.facts)
    return panel(*facts, title=archived.contact_id, subtitle=done)


def evidence_view(evidence: Sequence[FactEvidence]) -> Group:
    """Each fact with the turns that it rests on."""
    return panels(_evidence_panel, evidence, "Nothing is known that says so.")


def _evidence_panel(evidence: FactEvidence) -> Panel:
    return panel(
        (evidence.fact.text, "bold"),
        *evidence_lines(evidence),
        title=evidence.fact.fact_id,
        subtitle=str(evidence.fact.state),
    )


def erasures_view(erasures: Sequence[Erasure], none: str = "Nothing was forgotten.") -> Group:
    """Each erasure with its receipt; without any, the text that says so."""
    return panels(erasure_panel, erasures, none)


def erasure_panel(erasure: Erasure) -> Panel:
    """An erasure with its receipt, and what to do about it; of a dry run what would be done."""
    told, title = [*field_lines(erasure)], str(erasure.state)
    if erasure.receipt.is_dry_run:
        told = [line for line in told if not line.endswith((": 0", f"state: {title}"))]
        title = "dry run"
    return panel(*told, *_advice(erasure.receipt), title=f"{erasure.kind} · {title}")


def _advice(receipt: ErasureReceipt) -> Iterator[Line]:
    if not any(receipt.removed.values()):
        yield "Nothing was found; if something should have been there, check the name that you gave"
    if not receipt.is_clean:
        yield "STILL THERE: some of it is left; `reconciler erasures --finish` continues", "red"
    if receipt.shared_texts:
        yield (
            "Shared texts are words or lines that other records or the memory itself use too, such "
            "as an attribute's name, so the files hold them"
        )


_CONTACTS_SHOWN_MAX = 20


def health_view(report: HealthReport) -> Group:
    """The numbers of all contacts together, then those of the contacts with most to do."""
    columns = "", number_column("now"), "what it means"
    totals = table(f"Health of {report.agent_id}", *columns, rows=health_rows(report))
    return Group(totals, _contacts(report.contacts))


def _contacts(contacts: Iterable[ContactHealth]) -> Text:
    """The contacts, those with most to do first."""
    listed = most_troubled(contacts)
    left_out = len(listed) - _CONTACTS_SHOWN_MAX
    return lines(
        *(
            f"{contact.contact_id}: {', '.join([f'{contact.live} live', *_besides(contact)])}"
            for contact in listed[:_CONTACTS_SHOWN_MAX]
        ),
        f"and {left_out} contacts with less to be done" if left_out > 0 else None,
    )


def _besides(contact: ContactHealth) -> list[str]:
    """The other counts of a contact, without zeros."""
    ended = contact.expired + contact.archived + contact.superseded + contact.revoked
    counts = {
        f"{ended} ended": ended,
        counted(contact.duplicated, "duplicate"): contact.duplicated,
        f"{contact.rivalled_slots} stale": contact.rivalled_slots,
        counted(contact.disputes.count, "dispute"): contact.disputes.count,
        counted(contact.questions.count, "question"): contact.questions.count,
        f"{contact.refusals} refused": contact.refusals,
    }
    return [told for told, count in counts.items() if count]
