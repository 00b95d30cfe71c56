"""The two tables of the rule: each row at its bound and beside it, and as the docs print it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.domain.reconciling.limits import LIMITS
from reconciler.domain.reconciling.rule import RULES, decide
from reconciler.domain.reconciling.verdicts import RuleRow
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour, Relations
from reconciler.domain.records.kinds import Action, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.kinds import Category
from tests.documents import ROOT
from tests.tables import every

DEFAULT = ReconcilePolicy()
NOW = datetime(2026, 5, 1, tzinfo=UTC)
MONTH, SECOND = timedelta(days=30), timedelta(seconds=1)
NOT = ("Drinks tea", "Drinks no tea")
OTHER = ("Drinks tea at work", "Drinks coffee at work")
PLAIN = ("the text", "the text")
RULES_OF_HOUSE = ("Never call before nine", "Likes the house rules")
OWN, MODEL = SourceKind.USER_EXPLICIT, SourceKind.MODEL_GUESS


def just_below(bound: float) -> float:
    return math.nextafter(bound, -1)


def city(value: str) -> Slot:
    return Slot(
        subject="contact",
        attribute="city",
        value=value,
        value_key=value.casefold(),
        is_single_valued=True,
        is_known=True,
    )


def filed(attribute: str) -> Slot:
    return replace(city("Oslo"), attribute=attribute, value_key=attribute, is_known=False)


def said(text: str, **changes: Any) -> Note:
    return Note(**{"scope": Scope("acme", "crm", "ann"), "text": text, "said_at": NOW} | changes)


def known(text: str, cosine: float, **changes: Any) -> Neighbour:
    usual = {"fact_id": "fact-1", "valid_from": NOW - MONTH}
    return Neighbour(**usual | {"text": text, "cosine": cosine} | changes)


REPLACES = Judgement(reasoning="", relation=Relation.REPLACES, target=1, action=Action.UPDATE)
ENDS = Relations(replaces=("fact-1",))

CRM = ("Their CRM is HubSpot", "HubSpot is the CRM that they use")
TRUST = ("The Quarrie trust gets the invoices", "The Quarrie trust stays with quarterly invoices")
VAN = ("Has a van", "Sold the van")
MORE = ("Lives in Turin with 2 cats", "Lives in Turin")
PART = ("Uses SAP and Salesforce", "Dropped SAP")
JUDGED, TOLD = {"judgement": REPLACES}, {"relations": ENDS}
DECISION = {"of": Category.DECISION}
EARLY, GIVEN = {"valid_from": NOW - 3 * MONTH}, {"is_start_given": True}

# Of each bound of a cosine: the texts, what else is said, and the action and rule below it and from
# it on.
BOUNDS: list[tuple[float, tuple[str, str], dict[str, Any], str, str]] = [
    (0.3, VAN, {}, "ADD threshold", "UPDATE change"),
    (0.45, RULES_OF_HOUSE, TOLD, "ADD guard", "UPDATE agent"),
    (0.6, CRM, {}, "ADD threshold", "UPDATE threshold"),
    (0.8, PLAIN, {}, "ADD threshold", "ADD midpoint"),
    (0.8, PLAIN, JUDGED, "ADD threshold", "UPDATE arbiter"),
    (0.875, PLAIN, {}, "ADD midpoint", "UPDATE midpoint"),
    (0.875, NOT, {}, "ADD midpoint", "ADD guard"),
    (0.875, OTHER, {}, "ADD midpoint", "ADD guard"),
    (0.875, PLAIN, {"source_kind": MODEL}, "ADD midpoint", "ADD trust"),
    (0.875, PLAIN, DECISION, "ADD midpoint", "ADD standing"),
    (0.95, PLAIN, {}, "UPDATE midpoint", "UPDATE threshold"),
    (0.95, PLAIN, JUDGED, "UPDATE arbiter", "UPDATE threshold"),
    (0.95, PLAIN, {"source_kind": MODEL}, "ADD trust", "SKIP trust"),
    (0.95, MORE, {}, "ADD guard", "SKIP guard"),
]

# Of each other bound, and of each row without one: its note and fact, a cosine, what else is said,
# and the action and rule it leads to.
WALK: list[tuple[tuple[str, str], float | None, dict[str, Any], str]] = [
    (PLAIN, None, {}, "ADD noop"),
    (PLAIN, 0.1, TOLD, "UPDATE agent"),
    (PLAIN, 0.1, {"slots": ("Oslo", "Turin")}, "UPDATE slot"),
    (("Has a dog", "I misspoke, I have no dog"), 0.1, {}, "REVOKE retraction"),
    (NOT, 0.99, {}, "ADD guard"),
    (PLAIN, 0.96, {"valid_from": NOW - MONTH - SECOND}, "ADD order"),
    (PLAIN, 0.96, {"valid_from": NOW - MONTH}, "UPDATE threshold"),
    (PLAIN, 0.96, {"valid_from": NOW - MONTH + SECOND}, "UPDATE threshold"),
    # Of what a model says is replaced, and has no date, it counts when the note was said.
    (PLAIN, 0.1, TOLD | {"valid_from": NOW - MONTH - SECOND}, "UPDATE agent"),
    (PLAIN, 0.1, TOLD | EARLY | {"said_at": NOW - MONTH - SECOND}, "ADD order"),
    (PLAIN, 0.1, TOLD | EARLY | {"said_at": NOW - MONTH}, "UPDATE agent"),
    (PLAIN, 0.1, TOLD | EARLY | {"said_at": NOW - MONTH + SECOND}, "UPDATE agent"),
    (PLAIN, 0.1, TOLD | GIVEN | {"valid_from": NOW - MONTH - SECOND}, "ADD order"),
    (PLAIN, 0.1, TOLD | GIVEN | {"valid_from": NOW - MONTH}, "UPDATE agent"),
    (PLAIN, 0.1, TOLD | GIVEN | {"valid_from": NOW - MONTH + SECOND}, "UPDATE agent"),
    (PLAIN, 0.96, EARLY, "ADD order"),  # no model said that it is replaced
    (PLAIN, 0.9, {"source_kind": OWN}, "UPDATE midpoint"),
    (TRUST, 0.9, {"filed": ("invoice_recipient", "invoice_frequency")}, "ADD midpoint"),
    (PLAIN, 0.9, {"is_hedged": True, "observations": 2}, "UPDATE midpoint"),
    (PLAIN, 0.9, {"is_hedged": True, "observations": 3}, "ADD hedge"),
    (PLAIN, 0.9, {"is_hedged": True, "observations": 4}, "ADD hedge"),
    (PLAIN, 0.9, {"is_hedged": False, "observations": 4}, "UPDATE midpoint"),
    (PLAIN, 0.9, DECISION | {"category": Category.DECISION}, "UPDATE midpoint"),
    (PART, 0.85, JUDGED, "ADD guard"),
    (PLAIN, 0.9, {"category": Category.VOLATILE}, "ADD guard"),
    (PLAIN, 0.9, {"category": Category.VOLATILE, "of": Category.VOLATILE}, "UPDATE midpoint"),
    *(
        (texts, cosine, more, expected)
        for bound, texts, more, below, there in BOUNDS
        for cosine, expected in (
            (just_below(bound), below),
            (bound, there),
            (math.nextafter(bound, 2), there),
        )
    ),
]


def outcome(texts: tuple[str, str], cosine: float | None, more: dict[str, Any]) -> str:
    more = dict(more)
    old, new = (value and city(value) for value in more.pop("slots", (None, None)))
    if "filed" in more:
        old, new = map(filed, more.pop("filed"))
    told = {key: more.pop(key) for key in ("judgement", "relations") if key in more}
    kept = {"observations": more.pop("observations", 1), "category": more.pop("of", Category.FACT)}
    kept["is_start_given"] = more.pop("is_start_given", False)
    fact = known(texts[0], cosine or 0, slot=old, trust=OWN, **kept)
    note = said(texts[1], slot=new, **more)
    verdict = decide(note, None if cosine is None else [fact], DEFAULT, **told)
    return f"{verdict.action} {verdict.decided_by}"


@every(("texts", "cosine", "more", "expected"), WALK)
def test_each_row_holds_from_its_bound_on(
    texts: tuple[str, str], cosine: float | None, more: dict[str, Any], expected: str
) -> None:
    assert outcome(texts, cosine, more) == expected


@every("cosine", [just_below(0.45), 0.45, math.nextafter(0.45, 2)])
def test_texts_that_answer_one_question_are_linked_from_the_bound_on(cosine: float) -> None:
    verdict = decide(said("The lead is Mia Roth"), [known("The lead is Noor Ode", cosine)], DEFAULT)
    assert bool(verdict.conflicts) is (cosine >= 0.45)


@every("cosine", [just_below(0.25), 0.25, math.nextafter(0.25, 2)])
def test_a_note_of_a_change_is_linked_from_the_bound_on(cosine: float) -> None:
    verdict = decide(said("Ships by air now"), [known("Ships by sea", cosine)], DEFAULT)
    assert bool(verdict.conflicts) is (cosine >= 0.25)


@pytest.mark.parametrize("row", [*RULES, *LIMITS], ids=lambda row: row.when[:30])
def test_the_walk_passes_every_row(row: RuleRow, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = []

    def spy(apply: Callable[..., Any]) -> Callable[..., Any]:
        def told(*args: Any) -> Any:
            answer = apply(*args)
            answered.append(answer is not None and answer is not args[-1])
            return answer

        return told

    for where in ("rule.RULES", "limits.LIMITS"):
        rows = RULES if where == "rule.RULES" else LIMITS
        spied = tuple(
            replace(each, apply=spy(each.apply)) if each is row else each for each in rows
        )
        monkeypatch.setattr(f"reconciler.domain.reconciling.{where}", spied)
    for texts, cosine, more, _ in WALK:
        outcome(texts, cosine, more)
    assert any(answered)


def printed(rows: Iterable[RuleRow]) -> str:
    """Write the rows for the table of docs/what_decides.md."""
    head = "| when | what is written | `decided_by` |\n|---|---|---|\n"
    return head + "".join(
        f"| {row.when} | {row.what} | {', '.join(map(_code, row.decided_by.split(', ')))} |\n"
        for row in rows
    )


def _code(word: str) -> str:
    return word if " " in word else f"`{word}`"


def test_the_docs_print_both_tables() -> None:
    page = (ROOT / "docs" / "what_decides.md").read_text(encoding="utf-8")
    assert printed(RULES) in page
    assert printed(LIMITS) in page
