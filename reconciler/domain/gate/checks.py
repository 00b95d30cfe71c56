"""The checks: each says what it alone would do with a candidate, and why. Pure.

They are in the gate's order: first checks that can forbid a write, then the subject of the words,
then the score. Adding one means adding it to ``CHECKS`` and to the policy's ``Check``.

The score says how sure a candidate is, as a sum of visible parts; the last check compares it with
the policy's floors. Never here: what becomes of a candidate after all checks (``disposing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.contacts_word import find_contrary
from reconciler.domain.gate.policy import Check, GatePolicy
from reconciler.domain.gate.reading import ClaimReading, has_given_slot
from reconciler.domain.records.candidates import (
    UNREAD,
    Candidate,
    CheckFinding,
    Precedents,
    ScorePart,
)
from reconciler.domain.records.kinds import OWN_WORDS, Disposal, GateReason, SourceKind
from reconciler.frozen import StringSet, frozen
from reconciler.reading.cues.classification import Literalness, is_asked_to_keep, is_withdrawal
from reconciler.reading.cues.languages import unread_language
from reconciler.reading.cues.leanings import Leaning
from reconciler.reading.cues.meaning import Meaning

_APPROVING = (SourceKind.OPERATOR, SourceKind.APPROVED_DOC)
"""The sources that count as an approval, for a category that always needs one."""


@frozen
class Case:
    """The input of all checks.

    Attributes:
        cleaned: the candidate without the sensitive data that the policy removes.
        reading: the cues in its words.
        policy: the rules that apply.
        precedents: the earlier decisions about the same inference.
        is_contacts_word: whether an extractor only passes on what the contact said.
        confidence: the score, 0 to 1, once it is known.
    """

    cleaned: Cleaned
    reading: ClaimReading
    policy: GatePolicy
    precedents: Precedents
    is_contacts_word: bool = False
    confidence: float = 0.0

    @property
    def candidate(self) -> Candidate:
        """Proposed candidate, cleaned."""
        return self.cleaned.candidate

    @property
    def is_own_word(self) -> bool:
        """True if a trusted source said the note itself."""
        return self.policy.file.sources[self.candidate.note.trust].is_own_word

    @property
    def is_confirmed(self) -> bool:
        """True if the note was held, and a person said yes."""
        return bool(self.candidate.confirmed_by)

    @property
    def is_withdrawal(self) -> bool:
        """True if a person who may speak for the contact withdraws a permission."""
        heard = [evidence.source_kind for evidence in self.candidate.evidence]
        return (
            bool(heard)
            and all(kind in OWN_WORDS for kind in heard)
            and is_withdrawal(self.candidate.claim)
            and self.reading.speculation is None
        )


CheckResult = tuple[Disposal, GateReason, str]


def _pass(detail: str) -> CheckResult:
    return Disposal.ADMIT, GateReason.ADMITTED, detail


def _reject(reason: GateReason, detail: str) -> CheckResult:
    return Disposal.REJECT, reason, detail


def _source(case: Case) -> CheckResult:
    """Checks that the source may be written.

    A tool's result becomes a fact only if a person says yes.
    """
    source = case.candidate.note.trust
    may = case.policy.file.sources[source].may
    if may == "nothing":
        return _reject(GateReason.MODEL_GUESS, f"{source} is never written")
    if may == "ask" and not case.is_confirmed:
        detail = f"{source} is never written without a person's yes"
        return Disposal.CONFIRM, GateReason.UNTRUSTED_SOURCE, detail
    if case.is_contacts_word:
        return _pass("the contact's own literal words, checked; they count as the contact's word")
    return _pass(f"the word of {source}")


def _evidence(case: Case) -> CheckResult:
    """Checks the provenance: without it nothing is written; a span that was never said is none."""
    candidate, missing = case.candidate, case.cleaned.missing_spans
    if not candidate.evidence:
        return _reject(GateReason.NO_PROVENANCE, "no episode supports it")
    if missing:
        detail = f"{missing} of the quoted passages are not in the source text"
        return _reject(GateReason.SPAN_NOT_IN_EVIDENCE, detail)
    episodes = case.precedents.observations_with(candidate)
    sessions = case.precedents.sessions_with(candidate)
    return _pass(f"{_counted(episodes, 'episode')} of {_counted(sessions, 'session')}")


def _erasure(case: Case) -> CheckResult:
    """Checks that no evidence waits for erasure: its words must not survive in a new fact."""
    if any(evidence.is_pending_erasure for evidence in case.candidate.evidence):
        return _reject(GateReason.PENDING_ERASURE, "its evidence is waiting to be erased")
    return _pass("can be corrected, expires or is revoked")


def _ownership(case: Case) -> CheckResult:
    """Checks the owner: the evidence with the strictest owner decides."""
    owner = case.candidate.note.scope
    others = [evidence for evidence in case.candidate.evidence if evidence.scope != owner]
    if any(other.scope.tenant != owner.tenant for other in others):
        return _reject(GateReason.AMBIGUOUS_OWNER, "its evidence belongs to another tenant")
    if any(other.is_private for other in others):
        detail = "its evidence is private to another contact"
        return _reject(GateReason.PRIVATE_EVIDENCE, detail)
    return _pass("its evidence is the contact's own, or shared")


def _sensitive_data(case: Case) -> CheckResult:
    cleaned = case.cleaned
    if cleaned.refused:
        is_secret = "secret" in cleaned.refused
        reason = GateReason.SECRET if is_secret else GateReason.SENSITIVE_DATA
        return _reject(reason, f"holds {_listed(cleaned.refused)}, which is never kept")
    if cleaned.redacted:
        return _pass(f"{_listed(cleaned.redacted)} replaced by a keyed hash")
    if cleaned.kept:
        return _pass(f"{_listed(cleaned.kept)} kept, as the policy allows")
    return _pass("no personal data or secret that the patterns find")


def _injection(case: Case) -> CheckResult:
    """Checks for directives: words for the agent or its memory wait for an operator."""
    directives = case.reading.directives
    if directives and not case.candidate.has_operators_yes:
        detail = f"quarantined: reads as a directive ({directives[0].kind}: {directives[0].cue!r})"
        return Disposal.CONFIRM, GateReason.DIRECTIVE, detail
    leanings = case.cleaned.leanings
    whole = f", as note head {leanings.version} reads it" if leanings.is_no_order else ""
    return _pass(f"no directive to the agent or its memory{whole}")


def _meaning(case: Case) -> CheckResult:
    """Checks if the recall of the note could change a future action; repetition does not count."""
    meaning = case.reading.meaning
    importance = _importance_told(case)
    if meaning.kind is Meaning.REMARK:
        # The cue of a model; for words the sentence itself is the cue.
        told = f" ({meaning.cue})" if meaning.is_whole else ""
        return _pass(f"a remark that does not show that it lasts{told}; {importance}")
    if meaning.kind is Meaning.FILLER and has_given_slot(case.candidate.note):
        return _pass(f"small words ({meaning.cue!r}) with a given value; {importance}")
    if meaning.kind is Meaning.FILLER and meaning.is_whole:
        return Disposal.CONFIRM, GateReason.THIN_EVIDENCE, f"says nothing ({meaning.cue})"
    if meaning.kind is not Meaning.STATEMENT:
        what = str(meaning.kind).replace("_", " ")
        detail = f"{what} ({meaning.cue!r}): recalling it would change no future action"
        return _reject(GateReason.NOT_MEANINGFUL, detail)
    return _pass(f"a statement that a later action may use; {importance}")


def _importance_told(case: Case) -> str:
    given, weight = case.candidate.note.importance, case.reading.weight
    if given is not None:
        return f"importance {given:g}, given"
    cues = map(case.cleaned.leanings.cue, (Leaning.STANDING, Leaning.CORRECTION))
    told = "".join(f" ({cue})" for cue in cues if cue)
    return f"importance {case.policy.importance(weight):g}, judged as {weight}{told}"


def _speculation(case: Case) -> CheckResult:
    """Checks for guesses: a hypothesis ends with its task.

    A person's own guess only scores lower. What only resembles one waits until another session
    repeats it; a person's no outweighs each repetition.
    """
    cue = case.reading.speculation or case.reading.guess
    if cue and not case.is_own_word and not case.is_confirmed:
        return _reject(GateReason.SPECULATION, f"an unverified hypothesis ({cue!r})")
    if case.reading.guess and not (
        case.reading.trigger
        or case.is_confirmed
        or (case.precedents.sessions - case.candidate.sessions and not case.precedents.declined_id)
    ):
        return Disposal.CONFIRM, GateReason.THIN_EVIDENCE, f"a guess or a mood ({cue!r})"
    return _pass(f"hedged by its speaker ({cue!r})" if cue else "no hypothesis")


def _domain(case: Case) -> CheckResult:
    """Checks for statements that this domain never keeps."""
    note = case.candidate.note
    for rule in case.policy.refused:
        if note.trust not in rule.unless_source and rule.pattern.search(note.text):
            detail = f"{rule.name} is never kept in domain {case.policy.domain}"
            return _reject(GateReason.DOMAIN_RULE, detail)
    return _pass(f"domain {case.policy.domain} does not refuse it")


def _restricted(case: Case) -> CheckResult:
    """Checks for topics that need consent: health, finance, law, and those that the policy adds."""
    topic = consent_topic(case)
    if topic is not None and case.is_withdrawal:
        return _pass("it withdraws a permission, which needs no consent")
    if topic is None:
        return _unread(case) or _pass("no restricted topic")
    if case.candidate.has_contacts_yes:
        return _pass("consent was given")
    cue = case.reading.topics.get(topic)
    detail = f"{topic}{f' ({cue!r})' if cue else ''} is kept only with the contact's consent"
    return Disposal.CONSENT, GateReason.SENSITIVE_TOPIC, detail


def _unread(case: Case) -> CheckResult | None:
    """Decides about a text in which no topic could be read; None for a text that was read."""
    language = unread_language(case.candidate.claim)
    if language is None:
        return None
    detail = (
        f"{UNREAD}no list of words covers its language ({language}); topics and secrets may be "
        "missed"
    )
    if case.policy.file.languages.unread == "hold" and not case.candidate.has_operators_yes:
        return Disposal.CONFIRM, GateReason.UNREAD_LANGUAGE, detail
    return _pass(detail)


def _literalness(case: Case) -> CheckResult:
    """Checks if the words are meant literally; if not, a person is asked."""
    literalness = case.reading.literalness
    if literalness.kind is not Literalness.LITERAL:
        detail = f"{literalness.kind} evidence ({literalness.cue!r})"
        return Disposal.CONFIRM, GateReason.NOT_LITERAL, detail
    if not case.candidate.is_literal and not case.is_confirmed:
        detail = "the extractor reads it as sarcastic, hypothetical, played or quoted"
        return Disposal.CONFIRM, GateReason.NOT_LITERAL, detail
    if case.is_confirmed:
        return _pass("confirmed")
    if whose := _not_said_plainly(case.candidate):
        return Disposal.CONFIRM, GateReason.NOT_SAID_PLAINLY, whose
    return _pass("meant literally")


def _not_said_plainly(candidate: Candidate) -> str | None:
    """Say why the cited words of the contact are not a plain statement."""
    if candidate.is_introduced:
        return "the turn introduces the quoted words as a text, or as another person's words"
    if find_contrary(candidate) is not None:
        return (
            "the sentence around the quoted words denies the claim, asks about it or leaves it open"
        )
    return None


def _score(case: Case) -> CheckResult:
    """Checks the score against the floors of the category, from ``config/policy.toml``."""
    category, source = case.reading.category, case.candidate.note.trust
    rule, sure = case.policy.file.categories[category], f"{case.confidence:.2f}"
    floor = case.policy.admit_min(category, source)
    if case.confidence < floor and case.is_withdrawal:
        return _pass(f"score {sure}; a withdrawn permission counts at once")
    if case.confidence < rule.ask_min:
        detail = f"score {sure} is below {rule.ask_min:g}, the minimum to ask about a {category}"
        return _reject(GateReason.BELOW_FLOOR, detail)
    if rule.ask_always and source not in _APPROVING and not case.candidate.has_operators_yes:
        return Disposal.CONFIRM, GateReason.NEEDS_APPROVAL, f"a {category} needs approval"
    if case.confidence < floor and not case.is_confirmed:
        detail = f"score {sure} is below {floor:g}, the minimum to admit a {category}"
        return Disposal.CONFIRM, GateReason.THIN_EVIDENCE, detail
    return _pass(f"score {sure} for a {category}, which needs {floor:g}")


CHECKS: Mapping[Check, Callable[[Case], CheckResult]] = {
    "source": _source,
    "evidence": _evidence,
    "erasure": _erasure,
    "ownership": _ownership,
    "sensitive_data": _sensitive_data,
    "injection": _injection,
    "meaning": _meaning,
    "speculation": _speculation,
    "domain": _domain,
    "restricted": _restricted,
    "literalness": _literalness,
    "score": _score,
}
"""All checks, in the gate's order."""

FORBIDDING = frozenset({"source", "evidence", "erasure", "ownership", "sensitive_data"})
"""Checks with a refusal that no other check can change."""


def findings(case: Case) -> Iterator[CheckFinding]:
    """The findings of all checks, in order; a check that is switched off admits everything."""
    for name, check in CHECKS.items():
        if case.policy.is_on(name):
            disposal, reason, detail = check(case)
        else:
            disposal, reason, detail = _pass("switched off by the policy")
        yield CheckFinding(check=name, disposal=disposal, reason=reason, detail=detail)


def consent_topic(case: Case) -> str | None:
    """The topic that is kept only with consent; None if there is none.

    A topic that an extractor named does not count: the words that it read decide.
    """
    is_read = case.candidate.confidence is not None
    own = "" if is_read else (case.candidate.note.topic or "").casefold()
    named = [*([own] if own else []), *case.reading.topics]
    wanted = next((topic for topic in named if case.policy.needs_consent(topic)), None)
    is_everything = "*" in case.policy.domain_rule.consent_topics
    return wanted or (case.policy.domain if is_everything else None)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _listed(kinds: StringSet) -> str:
    return ", ".join(sorted(str(kind).replace("_", " ") for kind in kinds))


EXTRACTORS_CONFIDENCE = "extractor's confidence"
"""The first part of a score that an extractor gave."""


def score(case: Case, now: datetime) -> tuple[float, tuple[ScorePart, ...]]:
    """Compute the score, 0 to 1, and the parts of the sum.

    Args:
        case: the candidate, the rubric, and earlier evidence of the same inference.
        now: the time now (UTC), from which recent evidence is counted back.
    """
    parts = [_start(case), *_effects(case, now)]
    summed = sum(part.effect for part in parts)
    cap = _cap(case)
    if cap is not None and summed > cap.effect:
        parts.append(ScorePart(cap.name, cap.effect - summed))
        summed = cap.effect
    return round(min(max(summed, 0.0), 1.0), 4), tuple(parts)


def _start(case: Case) -> ScorePart:
    source, confidence = case.candidate.note.trust, case.candidate.confidence
    if confidence is not None and not case.is_own_word:
        return ScorePart(EXTRACTORS_CONFIDENCE, confidence)
    return ScorePart(f"word of {source}", case.policy.file.sources[source].start)


def _effects(case: Case, now: datetime) -> Iterator[ScorePart]:
    candidate, reading, rule = case.candidate, case.reading, case.policy.file.score
    is_literal = reading.literalness.kind is Literalness.LITERAL
    is_plain = is_literal and not (reading.hedge or reading.hearsay)
    is_direct = case.is_own_word and is_plain
    observations = case.precedents.observations_with(candidate)
    sessions = case.precedents.sessions_with(candidate)
    is_pattern = observations >= rule.observations_min and sessions >= rule.sessions_min
    newest = max((evidence.said_at for evidence in candidate.evidence), default=None)
    is_recent = newest is not None and now - newest <= timedelta(days=rule.recent_days)
    # A request is no guess, and how old it is does not say how far it may be out of date.
    is_asked = is_literal and is_request(candidate)
    is_guess = observations <= 1 and not case.is_own_word and not is_asked
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
        ("from a tool", rule.from_tool, candidate.note.trust is SourceKind.TOOL_OUTPUT),
        ("recent", rule.recent, is_recent),
        ("a request keeps", rule.recent, is_asked and not is_recent),
    ):
        if holds:
            yield ScorePart(name, effect)


def is_request(candidate: Candidate) -> bool:
    """True if the contact asked to remember it, in the words that the claim rests on."""
    return candidate.is_literal and any(
        evidence.source_kind is SourceKind.USER_EXPLICIT
        and is_asked_to_keep(evidence.text, evidence.quoted)
        for evidence in candidate.evidence
    )


def _cap(case: Case) -> ScorePart | None:
    """Limit the score: repetition does not make a joke true."""
    rule, kind = case.policy.file.score, case.reading.literalness.kind
    if not case.candidate.is_literal:
        return ScorePart("not meant literally: at most", rule.cap_hypothetical)
    caps = {
        Literalness.HYPOTHETICAL: rule.cap_hypothetical,
        Literalness.ROLEPLAY: rule.cap_roleplay,
    }
    return ScorePart(f"{kind}: at most", caps[kind]) if kind in caps else None
