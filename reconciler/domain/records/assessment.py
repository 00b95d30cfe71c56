"""Assessments: how the gate disposes of a candidate, with every finding. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from reconciler.domain.records.kinds import (
    Category,
    Disposal,
    GateReason,
    RecallSemantics,
    Sensitivity,
)

__all__ = [
    "ALL_PASSED",
    "UNREAD",
    "Assessment",
    "CheckFinding",
    "ScorePart",
]


ALL_PASSED = "every check passed"

UNREAD = "unread: "
"""How a finding begins that says that the text's language could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One check's finding; ``disposal`` is what it alone would do with the candidate.

    ``detail`` holds no sensitive data: it is stored.
    """

    check: str
    disposal: Disposal
    detail: str
    reason: GateReason = GateReason.ADMITTED

    def __str__(self) -> str:
        return f"{self.check}: {self.disposal}: {self.detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePart:
    """One row of the score: what it is for, and by how much it moves the score."""

    name: str
    effect: float

    def __str__(self) -> str:
        return f"{self.name} {self.effect:+.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The gate's disposal of a candidate, with all findings.

    Attributes:
        reason: why, in a word; ``detail`` says it in a sentence.
        findings: every check's, in the gate's order, also behind the one that decided.
        confidence: the score, 0 to 1: the sum of ``parts``, kept within its caps.
        parts: what the score is made of, in order.
        category, topic, sensitivity: what it is.
        is_redacted: whether a keyed hash stands where sensitive data stood.
        recall_semantics: how recall presents the fact.
        yields_to_live_intent: whether what is asked for now overrides it.
        lifetime_days: after so many days the fact expires; None for never.
        question: what to ask, if it is held for a person's yes; worded so that no is easy. None for
            what is held and waits silently, until it is said again.
        lapses_at: until when what is held waits to be said again; None for what waits for an
            answer, however long, and for anything else.
        policy_version: of the policy that decided.
        domain: its rules are what the policy applied.
        inference_key: equal for the same inference about the same contact.
        is_contacts_word: whether an extractor only passes on what the contact said, as far as that
            can be checked: then the contact's trust is what the rule goes by.
        is_hedged: whether it only guesses: a hedge, or little confidence, and no person's yes.
        importance: 0 to 1, what the gate makes of it; None where the caller gave one. The record
            is the note's, and the finding of the check ``meaning``.
    """

    disposal: Disposal
    reason: GateReason
    detail: str
    findings: tuple[CheckFinding, ...]
    confidence: float
    parts: tuple[ScorePart, ...]
    category: Category
    topic: str | None = None
    sensitivity: Sensitivity
    is_redacted: bool
    recall_semantics: RecallSemantics
    yields_to_live_intent: bool
    lifetime_days: int | None = None
    question: str | None = None
    lapses_at: datetime | None = None
    policy_version: str
    domain: str
    inference_key: str
    is_contacts_word: bool = False
    is_hedged: bool = False
    importance: float | None = field(default=None, compare=False)

    def disposed(self, disposal: Disposal, reason: GateReason, detail: str) -> Assessment:
        """The same, disposed of otherwise, so that no person is asked."""
        return replace(
            self, disposal=disposal, reason=reason, detail=detail, question=None, lapses_at=None
        )

    @property
    def unread(self) -> str | None:
        """What a check says of a text in a language that it cannot read; None if it can."""
        return next((each.detail for each in self.findings if each.detail.startswith(UNREAD)), None)

    @property
    def is_held(self) -> bool:
        """Whether it waits for a person's answer."""
        return self.disposal in (Disposal.CONFIRM, Disposal.CONSENT)
