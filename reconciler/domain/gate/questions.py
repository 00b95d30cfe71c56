"""Questions: how somebody is asked about a held candidate, in the words of a lexicon.

Neutral on purpose: the question says the inference, says first that nothing is kept without a yes,
makes no easy, and says where it can be changed. Source: seed 000, prompts that do not manipulate.
"""

from __future__ import annotations

from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.records.assessment import Disposal, GateReason
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.kinds import SourceKind
from reconciler.lexicon import lexicon

__all__ = ["question"]


def question(
    candidate: Candidate,
    disposal: Disposal,
    reason: GateReason,
    topic: str | None,
    policy: GatePolicy,
) -> str:
    """What to ask about a held candidate: the contact, or an operator where it says so."""
    asked = " ".join(lexicon("questions").words(_name(candidate, disposal, reason)))
    claim = candidate.claim.strip().rstrip(".")
    asked = asked.replace("{topic}", topic or "yourself").replace("{claim}", claim)
    return f"{asked} {policy.file.confirmation.change_it}"


def _name(candidate: Candidate, disposal: Disposal, reason: GateReason) -> str:
    if reason is GateReason.DIRECTIVE:
        return "review"
    if disposal is Disposal.CONSENT:
        return "consent"
    if reason is GateReason.NEEDS_APPROVAL:
        return "approval"
    return "tool" if candidate.note.trust is SourceKind.TOOL_OUTPUT else "contact"
