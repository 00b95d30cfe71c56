"""Questions: how somebody is asked about a held candidate. Pure.

Neutral on purpose: the question says the inference, says first that nothing is kept without a yes,
makes no easy, and says where it can be changed. Source: seed 000, prompts that do not manipulate.
"""

from __future__ import annotations

from reconciler.domain.candidates import Candidate
from reconciler.domain.gate.assessment import Disposal, GateReason
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.kinds import SourceKind

__all__ = ["question"]

_ASK = "May I remember this: “{claim}”? It is kept only if you say yes; no is just as good."
_ASK_TOOL = (
    "A tool reported: “{claim}”. Is that right, and may I remember it? It is kept only if you say "
    "yes; no is just as good."
)
_ASK_CONSENT = (
    "You mentioned something about {topic}: “{claim}”. May I remember it? That is sensitive, so it "
    "is kept only if you say yes; no is just as good, and changes nothing else."
)
_ASK_APPROVAL = (
    "For an operator: shall this become a standing procedure: “{claim}”? It is kept only if you "
    "say yes; no is just as good."
)
_REVIEW = (
    "For an operator: this reads as a directive to the agent, not as something about the contact: "
    "“{claim}”. Shall it be a note all the same? It is kept only if you say yes; no is just as "
    "good."
)


def question(
    candidate: Candidate,
    disposal: Disposal,
    reason: GateReason,
    topic: str | None,
    policy: GatePolicy,
) -> str:
    """What to ask about a held candidate: the contact, or an operator where it says so."""
    asked = _template(candidate, disposal, reason).format(
        claim=candidate.claim.strip().rstrip("."), topic=topic or "yourself"
    )
    return f"{asked} {policy.file.confirmation.change_it}"


def _template(candidate: Candidate, disposal: Disposal, reason: GateReason) -> str:
    if reason is GateReason.DIRECTIVE:
        return _REVIEW
    if disposal is Disposal.CONSENT:
        return _ASK_CONSENT
    if reason is GateReason.NEEDS_APPROVAL:
        return _ASK_APPROVAL
    return _ASK_TOOL if candidate.note.trust is SourceKind.TOOL_OUTPUT else _ASK
