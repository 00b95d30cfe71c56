"""The two tables of the rule: each row at its bound and beside it, and as the docs print it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.domain.reconciling.limits import LIMITS
from reconciler.domain.reconciling.rule import RULES, decide, printed
from reconciler.domain.reconciling.verdicts import Row
from reconciler.domain.records.decisions import Action, Judgement, Relation
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Category, SourceKind
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.relations import Relations
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import Slot
from tests.documents import ROOT

DEFAULT = ReconcilePolicy()
NOW = datetime(2026, 5, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
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


def said(text: str, **changes: Any) -> Note:
    return Note(**{"scope": Scope("acme", "crm", "ann"), "text": text, "said_at": NOW} | changes)


def known(text: str, cosine: float, **changes: Any) -> Neighbour:
    usual = {"fact_id": "fact-1", "valid_from": NOW - MONTH}
    return Neighbour(**usual | {"text": text, "cosine": cosine} | changes)


REPLACES = Judgement(reasoning="", relation=Relation.REPLACES, target=1, action=Action.UPDATE)
ENDS = Relations(replaces=("fact-1",))

# Of each case: its note and fact, what else is said, and the action and rule it leads to.
WALK: list[tuple[tuple[str, str], float | None, dict[str, Any], str]] = [
    (PLAIN, None, {}, "ADD noop"),
    (PLAIN, 0.1, {"relations": ENDS}, "UPDATE agent"),
    (PLAIN, 0.1, {"slots": ("Oslo", "Turin")}, "UPDATE slot"),
    (("Has a dog", "I misspoke, I have no dog"), 0.1, {}, "REVOKE retraction"),
    (("Has a van", "Sold the van"), 0.3, {}, "UPDATE change"),
    (("Has a van", "Sold the van"), just_below(0.3), {}, "ADD threshold"),
    (PLAIN, 0.95, {}, "UPDATE threshold"),
    (PLAIN, math.nextafter(0.95, 2), {}, "UPDATE threshold"),
    (PLAIN, just_below(0.95), {}, "UPDATE midpoint"),
    (PLAIN, just_below(0.8), {}, "ADD threshold"),
    (PLAIN, 0.8, {}, "ADD midpoint"),
    (PLAIN, just_below(0.875), {}, "ADD midpoint"),
    (PLAIN, 0.875, {}, "UPDATE midpoint"),
    (NOT, 0.875, {}, "ADD guard"),
    (NOT, 0.99, {}, "ADD guard"),
    (NOT, just_below(0.875), {}, "ADD midpoint"),
    (OTHER, 0.875, {}, "ADD guard"),
    (OTHER, just_below(0.875), {}, "ADD midpoint"),
    (PLAIN, just_below(0.95), {"judgement": REPLACES}, "UPDATE arbiter"),
    (PLAIN, 0.8, {"judgement": REPLACES}, "UPDATE arbiter"),
    (PLAIN, just_below(0.8), {"judgement": REPLACES}, "ADD threshold"),
    (("Lives in Turin with 2 cats", "Lives in Turin"), 0.96, {}, "SKIP guard"),
    (PLAIN, 0.96, {"valid_from": NOW - MONTH - timedelta(seconds=1)}, "ADD order"),
    (PLAIN, 0.96, {"valid_from": NOW - MONTH}, "UPDATE threshold"),
    (PLAIN, 0.9, {"source_kind": MODEL}, "ADD trust"),
    (PLAIN, 0.96, {"source_kind": MODEL}, "SKIP trust"),
    (PLAIN, 0.9, {"is_hedged": True, "observations": 3}, "ADD hedge"),
    (PLAIN, 0.9, {"is_hedged": True, "observations": 2}, "UPDATE midpoint"),
    (RULES_OF_HOUSE, just_below(0.45), {"relations": ENDS}, "ADD guard"),
    (RULES_OF_HOUSE, 0.45, {"relations": ENDS}, "UPDATE agent"),
    (PLAIN, 0.9, {"of": Category.DECISION}, "ADD standing"),
    (PLAIN, 0.9, {"of": Category.DECISION, "category": Category.DECISION}, "UPDATE midpoint"),
]


def outcome(texts: tuple[str, str], cosine: float | None, more: dict[str, Any]) -> str:
    more = dict(more)
    old, new = more.pop("slots", (None, None))
    told = {key: more.pop(key) for key in ("judgement", "relations") if key in more}
    kept = {"observations": more.pop("observations", 1), "category": more.pop("of", Category.FACT)}
    fact = known(texts[0], cosine or 0, slot=old and city(old), trust=OWN, **kept)
    note = said(texts[1], slot=new and city(new), **more)
    verdict = decide(note, None if cosine is None else [fact], DEFAULT, **told)
    return f"{verdict.action} {verdict.decided_by}"


@pytest.mark.parametrize(("texts", "cosine", "more", "expected"), WALK)
def test_each_row_holds_from_its_bound_on(
    texts: tuple[str, str], cosine: float | None, more: dict[str, Any], expected: str
) -> None:
    assert outcome(texts, cosine, more) == expected


@pytest.mark.parametrize("row", [*RULES, *LIMITS], ids=lambda row: row.when[:30])
def test_the_walk_passes_every_row(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_docs_print_both_tables() -> None:
    page = (ROOT / "docs" / "what_decides.md").read_text(encoding="utf-8")
    assert printed(RULES) in page
    assert printed(LIMITS) in page
