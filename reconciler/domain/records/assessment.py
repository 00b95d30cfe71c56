"""Assessments: how the gate disposes of a candidate, with every finding. Decides nothing."""

from __future__ import annotations

from dataclasses import field, replace
from datetime import datetime

from reconciler.domain.records.kinds import (
    Category,
    Disposal,
    GateReason,
    RecallSemantics,
    Sensitivity,
)
from reconciler.frozen import frozen

ALL_PASSED = "every check passed"

UNREAD = "unread: "
"""The start of a finding that a check cannot read the text's language."""


@frozen
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


@frozen
class ScorePart:
    """One row of the score: what it is for, and by how much it moves the score."""

    name: str
    effect: float

    def __str__(self) -> str:
        return f"{self.name} {self.effect:+.2f}"


@frozen
class Assessment:
    """The gate's disposal of a candidate, with all findings.

    Attributes:
        reason: why, in a word; ``detail`` says it in a sentence.
        findings: the findings of all checks, in the gate's order, including those after the
            deciding one.
        confidence: the score, 0 to 1: the sum of ``parts``, kept within its caps.
        parts: what the score is made of, in order.
        category, topic, sensitivity: what kind of thing it says, about which field of life, and how
            carefully it is to be handled.
        is_redacted: whether a keyed hash stands where sensitive data stood.
        recall_semantics: how recall presents the fact.
        yields_to_live_intent: whether a present request overrides it.
        lifetime_days: after so many days the fact expires; None for never.
        question: the question for a person, if it is held; worded so that "no" is an easy answer.
            None if it waits silently until it is said again.
        lapses_at: until when a silently held candidate waits to be said again; None for any other:
            a question waits without limit.
        policy_version: the version of the policy that decided.
        domain: the policy applied the rules of this domain.
        inference_key: equal for the same inference about the same contact.
        is_contacts_word: whether an extractor only repeats what the contact said, as far as code
            can check. The rule then uses the contact's trust.
        is_hedged: whether it is a guess: hedged or of little confidence, and confirmed by no
            person.
        importance: 0 to 1, the gate's estimate; None if the caller gave one. The note and the
            finding of the check ``meaning`` record it.
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
        """This assessment with another disposal, and without a question for a person."""
        return replace(
            self, disposal=disposal, reason=reason, detail=detail, question=None, lapses_at=None
        )

    @property
    def unread(self) -> str | None:
        """A check's finding on a text in a language that it cannot read; None if it can read it."""
        return next((each.detail for each in self.findings if each.detail.startswith(UNREAD)), None)

    @property
    def is_held(self) -> bool:
        """Whether it waits for a person's answer."""
        return self.disposal in (Disposal.CONFIRM, Disposal.CONSENT)


UNJUDGED = Assessment(
    disposal=Disposal.ADMIT,
    reason=GateReason.ADMITTED,
    detail="",
    findings=(),
    confidence=1.0,
    parts=(),
    category=Category.FACT,
    sensitivity=Sensitivity.NONE,
    is_redacted=False,
    recall_semantics=RecallSemantics.DEFAULT,
    yields_to_live_intent=False,
    policy_version="",
    domain="",
    inference_key="",
)
"""For decisions of earlier versions about notes that never came to the gate."""
