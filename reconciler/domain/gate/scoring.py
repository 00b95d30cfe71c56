"""The score: how sure a candidate is, a sum of visible parts. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from reconciler.domain.gate.classification import is_asked_to_keep
from reconciler.domain.gate.literalness import Literalness
from reconciler.domain.gate.meaning import Meaning
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.gate.reading import ClaimReading
from reconciler.domain.records.assessment import ScorePart
from reconciler.domain.records.candidates import Candidate, Precedents
from reconciler.domain.records.kinds import SourceKind

EXTRACTORS_CONFIDENCE = "extractor's confidence"
"""The first part of a score that an extractor gave."""


def score(
    candidate: Candidate,
    reading: ClaimReading,
    policy: GatePolicy,
    now: datetime,
    precedents: Precedents,
) -> tuple[float, tuple[ScorePart, ...]]:
    """The score, 0 to 1, and the parts that it is the sum of.

    Args:
        candidate: what was proposed.
        reading: what its words give away.
        policy: the rubric.
        now: from when evidence counts as recent (UTC).
        precedents: earlier evidence of the same inference.
    """
    parts = [_start(candidate, policy), *_effects(candidate, reading, policy, now, precedents)]
    summed = sum(part.effect for part in parts)
    cap = _cap(candidate, reading, policy)
    if cap is not None and summed > cap.effect:
        parts.append(ScorePart(name=cap.name, effect=cap.effect - summed))
        summed = cap.effect
    return round(min(max(summed, 0.0), 1.0), 4), tuple(parts)


def _start(candidate: Candidate, policy: GatePolicy) -> ScorePart:
    source = candidate.note.trust
    if candidate.confidence is not None and not policy.file.sources[source].is_own_word:
        return ScorePart(name=EXTRACTORS_CONFIDENCE, effect=candidate.confidence)
    return ScorePart(name=f"word of {source}", effect=policy.file.sources[source].start)


def _effects(
    candidate: Candidate,
    reading: ClaimReading,
    policy: GatePolicy,
    now: datetime,
    precedents: Precedents,
) -> Iterator[ScorePart]:
    rule, source = policy.file.score, candidate.note.trust
    is_own_word = policy.file.sources[source].is_own_word
    is_literal = reading.literalness.kind is Literalness.LITERAL
    is_plain = is_literal and not (reading.hedge or reading.hearsay)
    is_direct = is_own_word and is_plain
    observations = precedents.observations_with(candidate)
    sessions = precedents.sessions_with(candidate)
    is_pattern = observations >= rule.observations_min and sessions >= rule.sessions_min
    is_recent = _is_recent(candidate, policy, now)
    # A request is no guess, and how old it is does not say how far it may be out of date.
    is_asked = is_literal and _is_contacts_request(candidate)
    is_guess = observations <= 1 and not is_own_word and not is_asked
    for name, effect, holds in (
        ("said directly", rule.direct_statement, is_direct),
        ("in person", rule.in_person, is_direct and reading.is_in_person),
        ("asked to remember", rule.asked_to_remember, bool(reading.trigger)),
        ("one observation", rule.one_observation, is_guess),
        ("many observations", rule.many_observations, is_pattern),
        (f"{reading.literalness.kind} evidence", rule.not_literal, not is_literal),
        ("hedged", rule.hedged, bool(reading.hedge)),
        ("passed on", rule.hearsay, bool(reading.hearsay) and not reading.hedge),
        ("in passing", rule.remark, reading.meaning.kind is Meaning.REMARK),
        ("from a tool", rule.from_tool, source is SourceKind.TOOL_OUTPUT),
        ("recent", rule.recent, is_recent),
        ("a request keeps", rule.recent, is_asked and not is_recent),
    ):
        if holds:
            yield ScorePart(name=name, effect=effect)


def _is_recent(candidate: Candidate, policy: GatePolicy, now: datetime) -> bool:
    newest = max((evidence.said_at for evidence in candidate.evidence), default=None)
    return newest is not None and now - newest <= timedelta(days=policy.file.score.recent_days)


def _is_contacts_request(candidate: Candidate) -> bool:
    """Whether the contact asked, in the words that the claim rests on, to have it kept."""
    return candidate.is_literal and any(
        evidence.source_kind is SourceKind.USER_EXPLICIT
        and is_asked_to_keep(evidence.text, evidence.quoted)
        for evidence in candidate.evidence
    )


def _cap(candidate: Candidate, reading: ClaimReading, policy: GatePolicy) -> ScorePart | None:
    """At most so much: repetition makes no joke truer."""
    if not candidate.is_literal:
        return ScorePart(
            name="not meant literally: at most", effect=policy.file.score.cap_hypothetical
        )
    caps = {
        Literalness.HYPOTHETICAL: policy.file.score.cap_hypothetical,
        Literalness.ROLEPLAY: policy.file.score.cap_roleplay,
    }
    kind = reading.literalness.kind
    return ScorePart(name=f"{kind}: at most", effect=caps[kind]) if kind in caps else None
