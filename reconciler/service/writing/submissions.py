"""Submissions: candidates on their way from the gate into the graph, with their ids and records.

A note has five forms: text, ``Note``, ``Candidate``, ``Submission``, ``Decision``. The last step
is made here: a submission and its verdict become the record. Nothing is written or stored here,
and no graph is asked.

A submission has the id of its decision before it is written. That id is random, or made from a key
for one use; then the engine's uniqueness of ids prevents a second write. Given ids and names of
persons are stored as they are, so they must hold no secret, which is checked here.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from reconciler.domain.reconciling.reverting import fact_written_by
from reconciler.domain.records.candidates import Assessment, Candidate, Evidence
from reconciler.domain.records.decisions import (
    Comparison,
    Decision,
    Proposal,
    RecordedPolicy,
    Timings,
    Verdict,
)
from reconciler.domain.records.erasures import ERASED
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, Disposal, GateReason
from reconciler.domain.records.notes import CONTACT_SUBJECT, Note, Scope
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.floats import Embed, Floats
from reconciler.frozen import Strings, frozen, in_order, picked, uncompared
from reconciler.reading.canonical import canonical_text
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, is_redaction_of

if TYPE_CHECKING:
    from reconciler.domain.gate.cleaning import Cleaned
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder


class IdCheck:
    """Checks ids and names of persons.

    Args:
        secret_finder: finds secrets and account numbers.
    """

    def __init__(self, secret_finder: SensitiveDataFinder) -> None:
        # The same few ids come with every note.
        self._kind_in = lru_cache(maxsize=4096)(lambda value: _kind_in(value, secret_finder))

    def check(self, ids: Iterable[tuple[str, object]]) -> None:
        """Check ids, each with its name.

        Raises:
            InvalidRequestError: an id holds a secret, or an account's number.
        """
        for name, value in ids:
            if isinstance(value, str) and (kind := self._kind_in(value)):
                held = (
                    "a secret" if kind is SensitiveKind.SECRET else f"the number of {_NAMES[kind]}"
                )
                raise InvalidRequestError(
                    f"{name} holds {held}. Ids and names are stored as they are given, so give one "
                    "without that data"
                )


_NAMES = {SensitiveKind.IBAN: "a bank account", SensitiveKind.CREDIT_CARD: "a card"}


def _kind_in(value: str, finder: SensitiveDataFinder) -> SensitiveKind | None:
    """Return the kind of the first sensitive part of an id; None without one.

    An id of digits alone does not count as a card: one in ten ids of sixteen digits would look like
    one. An id of hexadecimal digits alone does not count as a key: many callers use a hash. A short
    id, as most are, has room for neither, so no rule is loaded for it.
    """
    if _SHORT_ID.fullmatch(value):
        return None
    spans = (span for span in finder.find(value) if not _is_usual(value, span))
    return next((span.kind for span in spans), None)


def _is_usual(value: str, span: SensitiveSpan) -> bool:
    secret = value[span.start : span.end]
    if span.kind is SensitiveKind.CREDIT_CARD:
        return secret.isdecimal()
    return span.kind is SensitiveKind.SECRET and _HEXADECIMAL.fullmatch(secret) is not None


_SHORT_ID = re.compile(r"[\w-]{1,12}")
_HEXADECIMAL = re.compile("[0-9a-fA-F]{32,}")


_NAMESPACE = uuid.UUID("3f6d2f0e-7d0b-5a39-9f5e-0a6d1f0c4b7a")


@in_order
class DecisionIds:
    """Makes the ids of the decisions of one store.

    Attributes:
        key: the store's secret key, the same on all hosts that write to it. Without it, the id for
            an idempotency key cannot be guessed.
    """

    key: bytes

    def of(self, note: Note) -> str:
        """Make the id of a note's decision: fixed by its key in a scope, else a random id."""
        if note.idempotency_key is None:
            return str(uuid.uuid4())
        return self.of_key(note.scope, note.idempotency_key)

    def of_key(self, scope: Scope, idempotency_key: str) -> str:
        """Return the id of the decision for an idempotency key, even if it was never made."""
        said = f"{scope.contact_key}/{idempotency_key}".encode()
        digest = hmac.new(self.key, said, hashlib.sha256).digest()
        return str(uuid.UUID(bytes=digest[:16]))

    def __repr__(self) -> str:
        return "DecisionIds()"


def settlement_id_of(decision_id: str) -> str:
    """Return the id of the decision that settles a held or admitted one; there is at most one.

    It cannot be guessed without the first id.
    """
    return str(uuid.uuid5(_NAMESPACE, f"settles/{decision_id}"))


WITHHELD = (
    GateReason.PENDING_ERASURE,
    GateReason.AMBIGUOUS_OWNER,
    GateReason.PRIVATE_EVIDENCE,
)
"""Reasons for which not even the record of a refusal may repeat the proposed words."""

KEY_OF_ANOTHER = (
    "this idempotency key belongs to another note or relation, and nothing was written; use a new "
    "key for this one"
)
"""The error about a call with another call's key."""

_COMPARED = ("valid_from", "source_kind", "source_reference", "tags", "artefact", "lifetime_days")
"""The fields of a note, besides its slot, by which two calls with one key are distinguished. Fields
that the gate may fill in, and the time and conversation of the call, are not among them."""

_WITHHELD_TEXT = "(withheld: the evidence may not be used here)"


@frozen
class Submission:
    """A candidate as the gate disposes of it, on its way into the graph.

    Args:
        candidate: cleaned, with the gate's findings about it, and one episode or more.
        assessment: the gate's disposal and its reasons.
        door: the door that it came through, as recorded.
        decision_id: the id of its decision, the same at every attempt. So a second try after a lost
            answer finds the decision of the first. A proposal is settled under one id.
        fact_id: the id of the fact that it may become.
        settles_id: the held or admitted proposal that this settles; each is settled once.
        answered_by: the person who answered it.
        held_id: the earlier decision under which the same question waits.
        amendment: who amends a fact, and why; None for any other note.
        amended_id: the fact that the amendment names, if it names one.
        is_relating: whether it only relates known facts to each other.
        cleaned: what the gate judged, for judging again; None for a candidate from the record.
        is_own_word: whether a trusted source said it itself; False if it was read out of a text.
        may_ask: whether there is room for another question to the contact.
        vector: its embedding, float32, shape (dimension,); of dimension 0 without an embedder. None
            until it is made; a submission without one is compared with nothing.
        embed_ms: milliseconds that the embedding took.
    """

    candidate: Candidate
    assessment: Assessment
    door: str
    decision_id: str
    fact_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    settles_id: str | None = None
    answered_by: str | None = None
    held_id: str | None = None
    amendment: str | None = None
    amended_id: str | None = None
    is_relating: bool = False
    cleaned: Cleaned | None = field(default=None, repr=False)
    is_own_word: bool = False
    may_ask: bool = True
    vector: Floats | None = uncompared(None)
    embed_ms: float = 0.0

    @property
    def note(self) -> Note:
        """Return the note to remember."""
        return self.candidate.note

    @property
    def episode_id(self) -> str:
        """Return the id of the note's own evidence, by which an attempt recognises its decision."""
        return self.candidate.evidence[0].episode_id

    @property
    def scope(self) -> Scope:
        """Return the scope of its contact."""
        return self.note.scope

    @property
    def is_admitted(self) -> bool:
        """True if it may go to the reconciler."""
        return self.assessment.disposal is Disposal.ADMIT

    @property
    def is_reconciled(self) -> bool:
        """True if the call that proposes it also commits it."""
        return self.is_admitted and self.is_own_word

    @property
    def ended_at(self) -> datetime | None:
        """Return the end of a note that has ended (UTC); None for any other."""
        return self.candidate.ended_at

    @property
    def named_ids(self) -> Strings:
        """Return the facts that it names; they are compared at any distance."""
        amended = () if self.amended_id is None else (self.amended_id,)
        related = self.candidate.relations
        return (*amended, *(related.named_ids if related else ()))

    @property
    def is_withheld(self) -> bool:
        """True if none of its words is written: only its refusal is recorded."""
        return self.assessment.reason in WITHHELD

    @property
    def is_persons_word(self) -> bool:
        """True if it decides about known facts and adds none."""
        is_answer = self.answered_by is not None and not self.candidate.confirmed_by
        return is_answer or self.is_relating

    def disposed(self, action: Action) -> Verdict[str]:
        """Return the verdict of a decision without a fact: a disposal of the gate, or an answer."""
        return Verdict(
            action=action,
            decided_by=DecidedBy.ANSWER if self.answered_by else DecidedBy.GATE,
            reason=self.assessment.detail,
        )

    def embedded(self, embed: Embed) -> Submission:
        """Return the submission with its vector."""
        if self.vector is not None:
            return self
        started = time.perf_counter()
        [vector] = embed([self.note.text])
        return replace(self, vector=vector, embed_ms=(time.perf_counter() - started) * 1000)

    def about(self, note: Note) -> Submission:
        """Return the submission with another note, worded or dated differently."""
        if note is self.note:
            return self
        return replace(self, candidate=replace(self.candidate, note=note))


def withheld(submission: Submission, reason: GateReason) -> Submission:
    """Return the submission as a refusal, without any of its words.

    Args:
        submission: the refused submission.
        reason: the reason, one of ``WITHHELD``.
    """
    told, assessment = submission.note, submission.assessment
    note = Note(
        scope=told.scope,
        text=_WITHHELD_TEXT,
        said_at=told.said_at,
        source_kind=told.source_kind,
        idempotency_key=told.idempotency_key,
    )
    if assessment.reason is not reason:  # it was admitted before that was known
        detail = "its evidence was erased, or is about to be"
        assessment = replace(
            assessment.disposed(Disposal.REJECT, reason, detail), findings=(), topic=None
        )
    return replace(
        submission,
        candidate=replace(submission.candidate, note=note, evidence=(own_episode_of(note),)),
        assessment=replace(assessment, inference_key="withheld"),
    )


def resubmitted(decision: Decision, vector: Floats) -> Submission:
    """Return a decided note as it came from the gate, dated as it was decided on."""
    note, told = replace(decision.note, is_dated=True), decision.proposal
    return Submission(
        candidate=Candidate(
            note=note,
            evidence=(own_episode_of(note),),
            proposed_by=told.proposed_by or "unknown",
            confidence=1.0 if decision.decided_by is DecidedBy.EXTRACTOR else None,
            holds_until=told.holds_until,
            relations=told.relations,
        ),
        assessment=decision.judged,
        door=decision.door,
        decision_id=decision.decision_id,
        fact_id=fact_written_by(decision) or settlement_id_of(decision.decision_id),
        settles_id=told.settles_id or decision.decision_id,  # what it names may be gone
        answered_by=told.answered_by,
        vector=vector,
    )


def check_key(submission: Submission, decision: Decision) -> None:
    """Check that a replayed decision is about the same note as the submission.

    Raises:
        InvalidNoteError: the key belongs to another note or relation; the text names what differs.
    """
    if fault := fault_of_key(submission, decision):
        raise InvalidNoteError(fault)


def fault_of_key(submission: Submission, decision: Decision) -> str | None:
    """Say why a submission's key belongs to another call; None if the decision may be its own."""
    was_refused = decision.judged.reason is GateReason.WRONG_RELATION
    if not decision.replayed or was_refused:  # the record of that refusal has no relations
        return None
    if submission.is_relating:
        is_related = submission.candidate.relations == decision.proposal.relations
        is_same = is_related and is_same_text(submission.note.text, decision.text)
        return None if is_same else KEY_OF_ANOTHER
    return fault_between(submission.candidate, decision)


def fault_between(candidate: Candidate, decision: Decision) -> str | None:
    """Return the difference between a cleaned note and the note under the same key.

    None if they may be the same.

    Erased and withheld words cannot be compared.
    """
    note, kept = candidate.note, decision.note
    if not is_same_text(note.text, kept.text):
        return KEY_OF_ANOTHER
    if kept.text in (ERASED, _WITHHELD_TEXT):
        return None
    told = candidate.relations or decision.proposal.relations
    # It may be the day of what it ends, or "tomorrow" as it was counted then.
    is_start_free = bool(told and told.ends) or (_begins_as_said(note) and _begins_as_said(kept))
    left = {"valid_from"} if is_start_free else set()
    if decision.judged.is_contacts_word:  # the gate named another source
        left.add("source_kind")
    others = (
        name
        for name in _COMPARED
        if name not in left and not _is_same(getattr(note, name), getattr(kept, name))
    )
    differing = next(others, None) or _differing_slot(note, kept)
    return differing and (
        f"this idempotency key belongs to a note with different {differing}, and nothing was "
        f"written; send the same {differing} again, or use a new key for this note"
    )


def _begins_as_said(note: Note) -> bool:
    from reconciler.reading.values.ends import said_times

    return (
        note.valid_from is not None
        and said_times(note.text, note.said_at).begins_at == note.valid_from
    )


def _differing_slot(note: Note, kept: Note) -> str | None:
    """Return the part of the slot that differs; two slots from the same text are the same."""
    is_read = note.slot is None or note.slot_read_from is not None
    if is_read and kept.slot_read_from is not None:
        return None
    one, other = (each.subject if each else CONTACT_SUBJECT for each in (note.slot, kept.slot))
    if not _is_same(one, other) and not _may_have_meant(one, other, note.text):
        return "subject"
    parts = {"attribute": "attribute", "value_key": "value"}
    differing = (
        named
        for part, named in parts.items()
        if not _is_same(getattr(note.slot, part, None), getattr(kept.slot, part, None))
    )
    return next(differing, None)


def _may_have_meant(subject: str, kept: str, said: str) -> bool:
    """True if a subject may mean the kept one, such as the contact's name."""
    from reconciler.domain.values.placing import is_name_alone

    if subject == CONTACT_SUBJECT:
        return False
    if kept == CONTACT_SUBJECT:
        return is_name_alone(subject, said)
    return not {*subject.split()}.isdisjoint(kept.split())


def _is_same(given: object, kept: object) -> bool:
    if isinstance(given, str) and isinstance(kept, str):
        return is_same_text(given, kept)
    if isinstance(given, tuple) and isinstance(kept, tuple):
        return len(given) == len(kept) and all(map(_is_same, given, kept))
    return given == kept


def is_same_text(text: str, kept: str) -> bool:
    """True if a cleaned text may be the text of a decision.

    Erased and withheld words cannot be compared, nor can values that were redacted without a hash.
    Another policy may redact more than the earlier one, or less.
    """
    if kept in (ERASED, _WITHHELD_TEXT):
        return True
    asked, known = canonical_text(text), canonical_text(kept)
    return asked == known or is_redaction_of(asked, known) or is_redaction_of(known, asked)


def own_episode_of(note: Note) -> Evidence:
    """Make a note an episode: evidence of a note or a refusal that cites no conversation."""
    return Evidence(
        episode_id=str(uuid.uuid4()),
        session_id=note.session,
        scope=note.scope,
        text=note.text,
        said_at=note.said_at,
        source_kind=note.trust,
        source_reference=note.source_reference,
        is_new=True,
    )


def recorded_policy(policy: ReconcilePolicy, embedding_model: str) -> RecordedPolicy:
    """Return thresholds as decisions record them, with their embedding model."""
    return RecordedPolicy(
        profile=policy.profile,
        cosine_update_min=policy.cosine_update_min,
        cosine_add_max=policy.cosine_add_max,
        cosine_cut=policy.cut,
        guard=policy.guard,
        reach=policy.reach,
        embedding_model=embedding_model,
    )


def recorded(
    submission: Submission,
    verdict: Verdict[str],
    policy: RecordedPolicy,
    at: datetime,
    version: int,
    timings: Timings,
    neighbours: Sequence[Neighbour] = (),
) -> Decision:
    """Make the record of a verdict about a submission.

    Args:
        submission: the submission.
        verdict: the verdict.
        policy: the thresholds of the verdict.
        at: now (UTC).
        version: the contact's version after the commit.
        timings: the durations.
        neighbours: the facts that the note was compared with, nearest first.
    """
    own, note = submission.candidate.evidence[0], submission.note
    if note.session_id != own.session_id:
        note = replace(note, session_id=own.session_id)
    return Decision(
        decision_id=submission.decision_id,
        note=note,
        verdict=verdict,
        expired_ids=tuple(neighbour.fact_id for neighbour in neighbours if neighbour.is_expired),
        door=submission.door,
        at=at,
        episode_id=own.episode_id,
        policy=policy,
        gate=submission.assessment,
        proposal=Proposal(
            proposed_by=submission.candidate.proposed_by,
            answered_by=submission.answered_by,
            settles_id=submission.settles_id,
            held_id=submission.held_id,
            relations=submission.candidate.relations,
            holds_until=submission.candidate.holds_until,
        ),
        timings=timings,
        version=version,
        compared_with=tuple(
            Comparison(**picked(neighbour, _RECORDED), rank=rank)
            for rank, neighbour in enumerate(neighbours, start=1)
        ),
    )


_RECORDED = ("fact_id", "text", "cosine", "valid_from", "trust", "slot", "category", "is_expired")
