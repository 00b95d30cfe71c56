"""Forgotten words: looked up once for a contact, and checked before each write about it.

They belong to one version of the contact, like its neighbourhood. An erasure changes the version,
so an old look costs a retry, and never lets a forgotten word through. Words that come back raise a
question, or are refused.

Earlier decisions about an inference are listed here too, so that the same question is not asked
twice. If later words answered a question, no decision records that. But ``pending`` lists the
question no longer, and a yes to it is refused. So a new question may not be filed under it. Never
here: the words themselves, of which only keyed hashes are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from reconciler.domain.erasing.planning import sayings
from reconciler.domain.gate.disposing import answer_to, question
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.records.candidates import EarlierDecision, Evidence
from reconciler.domain.records.decisions import RecordedPolicy, Timings
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Action, Clock, Disposal, GateReason
from reconciler.domain.records.notes import Remembered, Scope
from reconciler.errors import ErasedError
from reconciler.frozen import StringSet, frozen, in_order
from reconciler.service.stores.commits import Commit
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import of_its_own
from reconciler.service.writing.submissions import Submission, recorded, withheld

Digest = Callable[[str], str]

_DETAIL = "it was forgotten or revoked before, and comes back only after a yes"


def keys_of(scope: Scope, said: Iterable[Remembered], digest: Digest) -> StringSet:
    """Return keyed hashes of some words; the words cannot be read from them."""
    return frozenset(digest(saying) for one in said for saying in sayings(scope, one))


@frozen
class Forgotten:
    """The words of a contact that are forgotten, or will be soon.

    Attributes:
        is_erasing: whether the whole contact is being erased.
        session_ids: sessions that were erased.
        going_ids: decisions that lose their words now or soon.
        emptied: the remaining text of partly erased episodes, by their ids.
        keys: keyed hashes of the erased or revoked words.
        digest: makes the hashes.
        scopes: the contact, and those that were merged into it; the keys of each count.
    """

    is_erasing: bool = False
    session_ids: StringSet = frozenset()
    going_ids: StringSet = frozenset()
    emptied: Mapping[str, str] = field(default_factory=dict)
    keys: StringSet = frozenset()
    digest: Digest = str
    scopes: tuple[Scope, ...] = ()

    def speaks_against(self, submission: Submission, known: Iterable[Fact]) -> GateReason | None:
        """Return the reason why a submission may not be written as it is; None if it may.

        Args:
            submission: the submission.
            known: the facts that hold; their words have been admitted again.
        """
        if self is NOTHING or submission.is_withheld:
            return None
        is_of_what_goes = self.going_ids & {submission.settles_id, submission.held_id} or any(
            evidence.session_id in self.session_ids or self._was_emptied(evidence)
            for evidence in submission.candidate.evidence
        )
        if self.is_erasing or is_of_what_goes:
            return GateReason.PENDING_ERASURE
        is_let_in = submission.assessment.disposal is Disposal.ADMIT
        is_asked = submission.is_persons_word or submission.candidate.has_contacts_yes
        if not self.keys or not is_let_in or is_asked:
            return None
        said = self._keys([submission.note]) & self.keys
        is_back = bool(said) and not said & self._keys([*known])
        return GateReason.FORGOTTEN_BEFORE if is_back else None

    def _keys(self, said: Sequence[Remembered]) -> StringSet:
        return frozenset().union(*(keys_of(scope, said, self.digest) for scope in self.scopes))

    def _was_emptied(self, evidence: Evidence) -> bool:
        """True if it cites words that were erased from its episode after the episode was read."""
        left = self.emptied.get(evidence.episode_id)
        if left is None or left == evidence.text:
            return False
        return not all(span in left for span in evidence.spans or (evidence.text,))


NOTHING = Forgotten()
"""No forgotten words, as for most contacts."""


@in_order
class ForgottenLook:
    """Looks up the forgotten words of a contact.

    Attributes:
        store: the store of erasures.
        digest: a keyed hash of a text.
    """

    store: ErasureStore
    digest: Digest

    def __call__(self, scope: Scope) -> tuple[int, Forgotten]:
        """Return the contact's version, and the words forgotten then or later."""
        standing = of_its_own(scope, self.store.fact_store.standing(scope))
        if not standing.has_forgotten:
            return standing.version, NOTHING
        revoked = keys_of(scope, self.store.list_revoked(scope), self.digest)
        return standing.version, Forgotten(
            is_erasing=bool(standing.is_erasing),
            session_ids=frozenset(self.store.list_erased_sessions(scope)),
            going_ids=frozenset(
                decision_id
                for erasure in self.store.list_erasures([scope], is_unfinished=True)
                for decision_id in (erasure.plan.decision_ids if erasure.plan else ())
            ),
            emptied=self.store.list_emptied_episodes(scope),
            keys=revoked.union(self.store.list_tombstones(scope)),
            digest=self.digest,
            scopes=tuple(self.store.fact_store.family(scope)),
        )


@frozen
class Withholding:
    """The decision in place of a submission that repeats forgotten words.

    Attributes:
        policy: the rule's thresholds, for the record.
        gate_policy_of: returns the gate's policy in a scope.
        earlier: returns the decisions about an inference about a contact up to a time, the oldest
            first.
        clock: the time now, UTC-aware.
    """

    policy: RecordedPolicy
    gate_policy_of: Callable[[Scope], GatePolicy]
    earlier: Callable[[Scope, str, datetime], Sequence[EarlierDecision]]
    clock: Clock

    def commit(
        self, submission: Submission, reason: GateReason, version: int, number: int
    ) -> Commit:
        """Make a refusal without any of its words, or a question whether it may be kept again.

        Raises:
            ErasedError: the submission is a person's decision about words that are being erased.
        """
        is_answer = submission.answered_by is not None and reason is GateReason.PENDING_ERASURE
        if submission.is_persons_word or is_answer:
            raise ErasedError(
                f"these words of contact {submission.scope.contact_id} are being erased, so "
                "nothing more can be decided about them"
            )
        is_refused = reason is GateReason.PENDING_ERASURE
        made = withheld(submission, reason) if is_refused else self._asked(submission)
        action = Action.REJECT if is_refused else Action.HOLD
        verdict, timings = made.disposed(action), Timings(attempts=number)
        decision = recorded(made, verdict, self.policy, self.clock(), version + 1, timings)
        return Commit(version=version, decision=decision, evidence=made.candidate.evidence)

    def _asked(self, submission: Submission) -> Submission:
        candidate, now = submission.candidate, self.clock()
        policy = self.gate_policy_of(candidate.note.scope)
        reason = GateReason.FORGOTTEN_BEFORE
        earlier = self.earlier(candidate.note.scope, submission.assessment.inference_key, now)
        # A question with another reason may be an operator's; this one is only the contact's.
        same = (e.decision_id for e in earlier if e.reason is reason and e.is_pending(now))
        held = replace(
            submission.assessment,
            disposal=Disposal.CONSENT,
            reason=reason,
            detail=_DETAIL,
            question=question(candidate, Disposal.CONSENT, reason, None, policy),
            lapses_at=None,
        )
        return replace(submission, assessment=held, held_id=next(same, None))


def earlier_decisions(
    fact_store: FactStore,
    decision_store: DecisionStore,
    scope: Scope,
    inference_key: str,
    now: datetime,
) -> list[EarlierDecision]:
    """List decisions about an inference about the contact, the oldest first.

    Args:
        fact_store: the facts that may answer a held note.
        decision_store: the store of decisions.
        scope: the contact that the inference is about.
        inference_key: the key of the inference.
        now: the time now (UTC).
    """
    earlier = decision_store.list_earlier(scope, inference_key)
    waiting = {decision.decision_id for decision in earlier if decision.is_pending(now)}
    if not waiting:
        return earlier
    facts = fact_store.list_facts(scope)
    kept = {decision_id: decision_store.get_decision(scope, decision_id) for decision_id in waiting}
    return [
        replace(
            decision,
            is_answered_since=answer_to(held, facts) is not None,
            is_silent=held.question is None,
        )
        if (held := kept.get(decision.decision_id))
        else decision
        for decision in earlier
    ]
