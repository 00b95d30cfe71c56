"""Candidates: proposed facts with their evidence, and the gate's findings about them.

A turn is one message of a conversation, as it was handed over, checked; a candidate's evidence
comes from turns. ``FactEvidence`` shows a reader the turns that a fact rests on, with the
decisions that used each turn. An assessment says how the gate disposes of a candidate, with every
finding.

They are in one module because each proposal needs all of them: it is judged by its evidence and by
the earlier decisions about the same inference (``Precedents``), and the assessment is its result.
Nothing is judged here; the gate's rules are in ``reconciler.domain.gate``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from reconciler.domain.records.facts import Fact, Relations
from reconciler.domain.records.kinds import (
    Action,
    DecidedBy,
    Disposal,
    GateReason,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import (
    CLEANED_GROWTH_MAX,
    CONTACT_SUBJECT,
    SCOPE_PART_LENGTH_MAX,
    Note,
    Scope,
    check_identifier,
    check_text,
    check_utterance,
    one_of,
    source_kind_of,
    storable,
    unit_interval,
    utc,
)
from reconciler.errors import InvalidNoteError, InvalidSessionError
from reconciler.frozen import Json, Strings, StringSet, frozen, in_order, uncompared
from reconciler.reading.kinds import Category, RecallSemantics

CONTACT = "contact"
"""The name for the contact's own answers; no one else can give the contact's consent."""

_PROPOSER_LENGTH_MAX = SCOPE_PART_LENGTH_MAX + len("agent:")

EVIDENCE_LENGTH_MAX = 20_000
"""Characters in one episode of evidence: a long message or a tool's page, not a document."""


@frozen
class Evidence:
    """One episode that a candidate rests on, and the exact words in it.

    Args:
        episode_id: the episode's id. If the contact already has an episode with this id, that
            episode is linked, not written again. Any other id is local to the contact, and the
            store replaces it with its own id.
        session_id: the session that it belongs to.
        scope: the contact's.
        text: what was said, 1 to 20,000 characters.
        said_at: when it was said; time-zone aware, kept in UTC.
        spans: the words of the text that support the claim; empty for the whole text.
        source_kind: the kind of source.
        source_reference: where the source can be looked up, or None.
        is_private: whether only facts about its own contact may be derived from it.
        is_pending_erasure: whether a person asked to erase it.
        is_cleaned: as in ``Note``.
        is_new: whether this call made the id, so that no other caller knows it yet.
        session_key: the key of its stored session, which may be that of a merged contact; the store
            sets it, whatever is given.

    Raises:
        InvalidNoteError: any of the above does not hold.
    """

    episode_id: str
    session_id: str
    scope: Scope
    text: str
    said_at: datetime
    spans: Strings = ()
    source_kind: SourceKind = SourceKind.USER_EXPLICIT
    source_reference: str | None = None
    is_private: bool = True
    is_pending_erasure: bool = False
    is_cleaned: bool = uncompared(False)
    is_new: bool = uncompared(False)
    session_key: str | None = uncompared(None)

    def __post_init__(self) -> None:
        for name in ("episode_id", "session_id"):
            check_identifier(name, getattr(self, name), InvalidNoteError)
        length_max = EVIDENCE_LENGTH_MAX * (CLEANED_GROWTH_MAX if self.is_cleaned else 1)
        check_utterance("an episode's text", self.text, length_max)
        if not isinstance(self.spans, list | tuple):
            raise InvalidNoteError("spans must be a list of strings")
        for span in self.spans:
            check_text("a span", span, length_max)
        object.__setattr__(self, "said_at", utc("said_at", self.said_at))
        object.__setattr__(self, "spans", tuple(self.spans))
        if self.source_reference is not None:
            check_text("source_reference", self.source_reference, length_max)
        if not isinstance(self.scope, Scope):
            raise InvalidNoteError("evidence needs a scope: tenant, agent and contact")
        object.__setattr__(self, "source_kind", source_kind_of(self.source_kind))

    @property
    def kept_in(self) -> str:
        """Return the key of its session."""
        return self.session_key or self.scope.session_key(self.session_id)

    @property
    def quoted(self) -> Strings:
        """Return the words that the claim rests on."""
        return self.spans or (self.text,)


@frozen
class Candidate:
    """A note that was proposed as a durable fact, with its evidence; a proposal, not a decision.

    Args:
        note: the claim, with its scope, source, slot, category and topic.
        evidence: the episodes that it rests on, in order; an episode that is named twice counts
            once. The gate refuses a candidate without evidence.
        is_literal: whether its words were meant literally, as far as an extractor can tell.
        is_introduced: whether the turn introduces these words as a text or as another person's.
        confidence: the extractor's confidence, 0 to 1; None if no extractor read it.
        proposed_by: who proposed the note; the same person may not confirm it.
        confirmed_by: who confirmed it after it was held. Only the gate's own answers set it; a
            candidate that arrives with it is refused.
        is_reworded: whether that person confirmed it in other words than the question.
        ended_at: when it stopped being true; only an import gives it. The fact is history from the
            start. Time-zone aware, kept in UTC.
        holds_until: the time until which it will be true, if known; recall leaves the fact out from
            then on. Time-zone aware, kept in UTC.
        relations: the relations from a model that read the claim and the facts; None without one.
        said_before: the contact's earlier words in the conversation.

    Raises:
        InvalidNoteError: any of the above does not hold.
    """

    note: Note
    evidence: tuple[Evidence, ...]
    proposed_by: str
    confidence: float | None = None
    is_literal: bool = True
    is_introduced: bool = False
    confirmed_by: Strings = ()
    is_reworded: bool = False
    ended_at: datetime | None = None
    holds_until: datetime | None = None
    relations: Relations | None = None
    said_before: Strings = ()

    def __post_init__(self) -> None:
        if not isinstance(self.note, Note):
            raise InvalidNoteError("a candidate needs a note: what it claims")
        _check_list("evidence", self.evidence, Evidence)
        _check_list("confirmed_by", self.confirmed_by, str)
        if not isinstance(self.relations, Relations | None):
            raise InvalidNoteError("relations must be Relations(...)")
        check_text("proposed_by", self.proposed_by, _PROPOSER_LENGTH_MAX)
        if self.confidence is not None:
            unit_interval("confidence", self.confidence)
        for name in ("ended_at", "holds_until"):
            if (end := getattr(self, name)) is not None:
                object.__setattr__(self, name, utc("valid_to", end))
        once = {evidence.episode_id: evidence for evidence in reversed(self.evidence)}
        object.__setattr__(self, "evidence", tuple(reversed(once.values())))

    def as_typed(self) -> Candidate:
        """Return the same candidate, checked against the length limits of texts before cleaning.

        Raises:
            InvalidNoteError: the note or an episode is longer.
        """
        return replace(
            self,
            note=replace(self.note, is_cleaned=False),
            evidence=tuple(
                replace(evidence, is_cleaned=False, is_new=False) for evidence in self.evidence
            ),
        )

    @property
    def has_contacts_yes(self) -> bool:
        """True if the contact said yes to it; no one else can give their consent."""
        return CONTACT in self.confirmed_by

    @property
    def has_operators_yes(self) -> bool:
        """True if a person who answers for the agent said yes to it."""
        return any(name != CONTACT for name in self.confirmed_by)

    @property
    def related_by(self) -> DecidedBy:
        """Return who related the candidate to known facts: the agent or an extractor."""
        return DecidedBy.AGENT if self.confidence is None else DecidedBy.EXTRACTOR

    @property
    def claim(self) -> str:
        """Return the proposed fact in a sentence."""
        return self.note.text

    @property
    def subject(self) -> str:
        """Return the person that it is about: the contact, unless its slot names another person."""
        return self.note.slot.subject if self.note.slot else CONTACT_SUBJECT

    @property
    def sessions(self) -> StringSet:
        """Return the distinct sessions of those episodes."""
        return frozenset(evidence.session_id for evidence in self.evidence)


@frozen
class Precedents:
    """The earlier decisions about the same inference.

    Attributes:
        declined_id: the decision by which a person said no to it; None if there is none.
        pending_id: the decision that still waits for an answer; None if there is none.
        waiting_id: the decision that waits without a question; None if there is none.
        is_answered: whether a later note already answers the question.
        episode_ids: the episodes that supported it earlier.
        sessions: the sessions of these episodes.
        contradicted: the text of a live fact that the candidate would end; None if there is none.
    """

    declined_id: str | None = None
    pending_id: str | None = None
    waiting_id: str | None = None
    is_answered: bool = False
    episode_ids: StringSet = frozenset()
    sessions: StringSet = frozenset()
    contradicted: str | None = None

    def observations_with(self, candidate: Candidate) -> int:
        """Return the distinct episodes, those of the candidate among them."""
        return len(self.episode_ids.union(one.episode_id for one in candidate.evidence))

    def sessions_with(self, candidate: Candidate) -> int:
        """Return the distinct sessions, those of the candidate among them."""
        return len(self.sessions | candidate.sessions)


def _check_list(name: str, given: object, kind: type) -> None:
    """Refuse a value that is not a list of this type."""
    if not isinstance(given, list | tuple) or not all(isinstance(item, kind) for item in given):
        raise InvalidNoteError(f"{name} must be a list of {kind.__name__}")


class Role(StrEnum):
    """Who speaks in a session; ``contact`` is whom the memory is about.

    ``user`` and ``assistant`` are understood as ``contact`` and ``agent``.
    """

    CONTACT = "contact"
    OPERATOR = "operator"
    TOOL = "tool"
    AGENT = "agent"
    SYSTEM = "system"

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        """The names that chat APIs use for two of them."""
        return {"user": cls.CONTACT, "assistant": cls.AGENT}.get(str(value))

    @property
    def source_kind(self) -> SourceKind:
        """The kind of source. The words of the agent, and its instructions, are not evidence."""
        return _SOURCES.get(self, SourceKind.MODEL_GUESS)

    @property
    def is_evidence(self) -> bool:
        """True if a fact may rest on what this role says."""
        return self in _SOURCES


AnyRole: TypeAlias = (
    Role | Literal["contact", "operator", "tool", "agent", "system", "user", "assistant"]
)

_SOURCES = {
    Role.CONTACT: SourceKind.USER_EXPLICIT,
    Role.OPERATOR: SourceKind.OPERATOR,
    Role.TOOL: SourceKind.TOOL_OUTPUT,
}


@frozen
class Turn:
    """One message of a session, as it is handed over.

    Args:
        role: who speaks.
        text: what was said, 1 to 20,000 characters; "👍" and "…" are kept, but give no fact. A sign
            that no engine stores, such as a null byte, is replaced in the words of other speakers.
        said_at: when it was said, time-zone aware; None for the session's start, or else for now,
            after all earlier statements of the contact.
        reference: how the caller finds it again, for example a message's id, or None.
        name: the speaker's name, if several people speak in one role; it is not kept.

    Raises:
        InvalidSessionError: any of the above does not hold.
    """

    role: AnyRole
    text: str
    said_at: datetime | None = None
    reference: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        role = one_of(Role, "role", self.role, InvalidSessionError)
        object.__setattr__(self, "role", role)
        if isinstance(self.text, str) and len(self.text) > EVIDENCE_LENGTH_MAX:
            raise InvalidSessionError(
                f"a turn has {len(self.text):,} characters, but at most {EVIDENCE_LENGTH_MAX:,} "
                "are accepted; shorten it, or hand it over as several turns"
            )
        if isinstance(self.text, str) and role is not Role.CONTACT:
            object.__setattr__(self, "text", storable(self.text))
        try:
            check_utterance("a turn's text", self.text, EVIDENCE_LENGTH_MAX)
            if self.said_at is not None:
                object.__setattr__(self, "said_at", utc("said_at", self.said_at))
            if self.reference is not None:
                check_identifier("reference", self.reference, InvalidNoteError)
            if self.name is not None:
                check_text("a speaker's name", self.name, SCOPE_PART_LENGTH_MAX)
        except InvalidNoteError as error:
            raise InvalidSessionError(str(error)) from error


@frozen
class TakenBy:
    """A decision that was made on a turn.

    Attributes:
        decision_id: its record; ``explain`` gives the reasons.
        fact_id: the fact of the decision; None if it wrote and counted no fact.
        action: what was done.
        door: which door it came through.
        proposed_by, answered_by: who proposed the note, and who said yes or no to it, as far as
        that is on record.
        at: when (UTC).
    """

    decision_id: str
    fact_id: str | None
    action: Action
    door: str
    proposed_by: str | None
    answered_by: str | None
    at: datetime


@frozen
class EvidenceTurn:
    """One turn that a fact rests on.

    Attributes:
        episode_id: its id.
        fact_id: the fact that first used it: the fact asked about, or one that it restates.
        is_beneath: whether that fact is one that the fact asked about restates.
        speaker: who spoke: the role in its session, else the kind of source.
        text: the stored text of the turn.
        spans: the cited words; empty for the whole turn.
        said_at: when (UTC).
        session_id, channel: the session that it belongs to, and the session's channel.
        source_kind, source_reference: the kind of source, and where the source can be looked up.
        is_answer: whether it is a person's answer to a question, not an unasked statement.
        taken_by: the decisions that used the turn for the fact, the oldest first; empty for turns
            from before this was recorded.
    """

    episode_id: str
    fact_id: str
    is_beneath: bool
    speaker: str
    text: str
    spans: Strings = ()
    said_at: datetime
    session_id: str
    channel: str | None = None
    source_kind: SourceKind
    source_reference: str | None = None
    is_answer: bool = False
    taken_by: tuple[TakenBy, ...] = ()

    @property
    def is_contacts(self) -> bool:
        """True if the contact said these words unasked."""
        return self.source_kind is SourceKind.USER_EXPLICIT and not self.is_answer


@frozen
class FactEvidence:
    """A fact's evidence, as one answer to "I never told you that".

    Attributes:
        fact: the fact asked about, live or ended.
        statement: one sentence: if the contact said the fact, when and where; if not, who said it.
        turns: the turns, the oldest first; those of restated facts included.
    """

    fact: Fact
    statement: str
    turns: tuple[EvidenceTurn, ...]

    @property
    def has_contacts_words(self) -> bool:
        """True if a part of the evidence is in the contact's own words."""
        return any(turn.is_contacts for turn in self.turns)

    def to_dict(self) -> Json:
        """Return plain values, with ``has_contacts_words``."""
        return {"has_contacts_words": self.has_contacts_words, **asdict(self)}


ALL_PASSED = "every check passed"

UNREAD = "unread: "
"""How a finding begins if a check cannot read the language of the text."""


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


@in_order
class ScorePart:
    """One row of the score: its reason, and how much it changes the score."""

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
        parts: the parts of the score, in order.
        category, topic, sensitivity: its kind, its field of life, and how carefully it must be
            handled.
        is_redacted: whether a keyed hash replaces sensitive data.
        recall_semantics: how recall presents the fact.
        yields_to_live_intent: whether a present request overrides it.
        lifetime_days: after so many days the fact expires; None for never.
        question: the question for a person, if the candidate is held; worded so that "no" is an
            easy answer. None if it waits silently until it is said again, or is only listed for an
            operator.
        lapses_at: the time until which a silently held candidate waits to be said again; None for
            any other candidate: a question waits without limit.
        policy_version: the version of the policy that decided.
        domain: the domain with the rules that decided.
        inference_key: equal for the same inference about the same contact.
        is_contacts_word: whether an extractor only repeats what the contact said, as far as code
            can check. The rule then uses the contact's trust.
        is_hedged: whether it is a guess: hedged or with low confidence, and not confirmed by a
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
        """Return this assessment with another disposal, and without a question for a person."""
        return replace(
            self, disposal=disposal, reason=reason, detail=detail, question=None, lapses_at=None
        )

    @property
    def unread(self) -> str | None:
        """A check's finding on a text in a language that it cannot read; None if it can read it."""
        return next((each.detail for each in self.findings if each.detail.startswith(UNREAD)), None)

    @property
    def is_held(self) -> bool:
        """True if it waits for a person's answer."""
        return self.disposal.is_held


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
"""The assessment of decisions of earlier versions about notes that the gate did not judge."""

_SUPPORTING = (GateReason.THIN_EVIDENCE, GateReason.BELOW_FLOOR)
"""If a candidate was refused for one of these reasons, its episodes still support a later
candidate. A candidate that was quarantined, was not meant literally, or came from a tool or a model
supports nothing."""


@frozen
class EarlierDecision:
    """A decision about an inference, and one of the episodes that it rests on.

    Attributes:
        decision_id: the decision's.
        action: what was done.
        reason: why the gate disposed of it so.
        trust: the kind of its source.
        held_id: the earlier decision with the same question.
        lapses_at: the time until which it waits; None if it waits until the question has an answer.
        answer_id: the decision that settled it.
        episode_id: the episode's.
        session_id: its session's.
        is_answered_since: whether later words answered it without a decision.
        is_silent: whether it waits without a question.
    """

    decision_id: str
    action: Action
    reason: GateReason | None
    trust: SourceKind
    held_id: str | None
    lapses_at: datetime | None
    answer_id: str | None
    episode_id: str
    session_id: str
    is_answered_since: bool = False
    is_silent: bool = False

    @property
    def is_supporting(self) -> bool:
        """True if its episode counts when the same is inferred again."""
        is_undecided = self.action in (Action.HOLD, Action.REJECT) and self.reason in _SUPPORTING
        return is_undecided and not self.trust.is_trusted_less_than(SourceKind.EXTRACTOR)

    def is_pending(self, now: datetime) -> bool:
        """True if it waits under its own id, for an answer or to be said again."""
        is_settled = self.answer_id is not None or self.is_answered_since
        has_time = self.lapses_at is None or self.lapses_at > now
        return self.action is Action.HOLD and self.held_id is None and not is_settled and has_time


def precedents_of(
    earlier: Sequence[EarlierDecision],
    now: datetime,
    *,
    is_answered: bool = False,
    contradicted: str | None = None,
) -> Precedents:
    """Return the earlier decisions that count when the same inference is proposed again.

    Args:
        earlier: the earlier decisions about it, the oldest first.
        now: the time now (UTC).
        is_answered: whether later words already answer the question.
        contradicted: the text of a live fact that the proposal would end.
    """
    declined = [decision.decision_id for decision in earlier if decision.action is Action.DECLINE]
    pending = [decision for decision in earlier if decision.is_pending(now)]
    asked = (decision.decision_id for decision in pending if not decision.is_silent)
    silent = (decision.decision_id for decision in pending if decision.is_silent)
    withdrawn = {each.session_id for each in earlier if each.action is Action.WITHDRAW}
    supporting = [
        each for each in earlier if each.is_supporting and each.session_id not in withdrawn
    ]
    return Precedents(
        declined_id=next(iter(declined), None),
        pending_id=next(asked, None),
        waiting_id=next(silent, None),
        is_answered=is_answered,
        episode_ids=frozenset(each.episode_id for each in supporting),
        sessions=frozenset(each.session_id for each in supporting),
        contradicted=contradicted,
    )
