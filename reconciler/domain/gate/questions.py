"""Questions: how somebody is asked about a held candidate, in the words of a lexicon.

Neutral on purpose: the question says the inference, says first that nothing is kept without a yes,
makes no easy, says where it can be changed, and names who said so: nobody is told that they said
what a tool or an agent concluded. Source: seed 000, prompts that do not manipulate.
"""

from __future__ import annotations

from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.records.assessment import Disposal, GateReason
from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.kinds import SourceKind
from reconciler.lexicon import lexicon

__all__ = ["question", "revalidation"]


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


def revalidation(claim: str) -> str:
    """What to ask about a fact that goes silent soon."""
    asked = " ".join(lexicon("questions").words("revalidation"))
    return asked.replace("{claim}", claim.strip().rstrip("."))


def _name(candidate: Candidate, disposal: Disposal, reason: GateReason) -> str:
    if reason is GateReason.DIRECTIVE:
        return "review"
    if reason is GateReason.FORGOTTEN_BEFORE:
        return "forgotten"
    if disposal is not Disposal.CONSENT and reason is GateReason.NEEDS_APPROVAL:
        return "approval"
    asked, asked_for_consent = _BY_SOURCE[candidate.note.trust]
    return asked_for_consent if disposal is Disposal.CONSENT else asked


_OWN, _RECORD = ("contact", "consent"), ("contact_record", "consent_record")
_CONCLUDED, _TOOL = ("contact_concluded", "consent_concluded"), ("contact_tool", "consent_tool")
_BY_SOURCE = {
    SourceKind.USER_EXPLICIT: _OWN,
    SourceKind.OPERATOR: _RECORD,
    SourceKind.APPROVED_DOC: _RECORD,
    SourceKind.EXTRACTOR: _CONCLUDED,
    SourceKind.TOOL_OUTPUT: _TOOL,
    SourceKind.MODEL_GUESS: _CONCLUDED,
}
"""The words of a question, and of one for consent, by whose word is asked about."""
