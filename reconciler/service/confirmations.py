"""Confirmations: what was held for somebody's yes, and their answers. Judges nothing itself."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from reconciler.domain.candidates import CONTACT, Candidate, Evidence
from reconciler.domain.decisions import Action, Decision
from reconciler.domain.gate.assessment import Disposal, GateReason
from reconciler.domain.notes import SourceKind
from reconciler.domain.scope import Scope, check_identifier
from reconciler.errors import InvalidAnswerError
from reconciler.service.memory_reconciler import settlement_id_of
from reconciler.service.memory_store import MemoryStore
from reconciler.service.retry import RetryPolicy, call_with_retries
from reconciler.service.write_gate import WriteGate, candidate_of

__all__ = ["AGENT_PREFIX", "Confirmations"]

AGENT_PREFIX = "agent:"
"""How an agent is named as a proposer; no agent may answer."""

_FOR_OPERATORS = (GateReason.DIRECTIVE, GateReason.NEEDS_APPROVAL)
_YES = frozenset({Action.ADD, Action.UPDATE, Action.SKIP})


class Confirmations:
    """Held candidates: listed, answered once, or taken back. Not for agents.

    Args:
        gate: where a confirmed candidate goes.
        store: what is asked what is held.
        retry_policy: how long to wait for an engine that is away.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self,
        *,
        gate: WriteGate,
        store: MemoryStore,
        retry_policy: RetryPolicy,
        clock: Callable[[], datetime],
    ) -> None:
        self._gate = gate
        self._store = store
        self._retry_policy = retry_policy
        self._clock = clock

    def pending(self, scopes: Iterable[Scope]) -> list[Decision]:
        """What waits for an answer about these contacts, the newest first; not what lapsed."""
        asked = list(scopes)
        return call_with_retries(
            self._retry_policy, lambda _: self._store.list_pending(asked, self._clock())
        )

    def confirm(self, decision_id: str, answered_by: str, text: str | None = None) -> Decision:
        """Remember what was held, as the word of who confirmed it.

        Args:
            decision_id: the held decision.
            answered_by: ``contact``, or an operator's name; never who proposed it.
            text: the fact in the words of the answer; None for the words that were asked about.

        Raises:
            InvalidAnswerError: nothing waits under that id, it lapsed, it was answered otherwise,
                or it is not this person's to answer.
            UnknownDecisionError: there is no such decision.
            InvalidNoteError: the text cannot be used.
        """
        held, earlier = self._held(decision_id)
        if earlier:
            return self._same_answer(earlier, is_yes=True)
        self._check_may_answer(held, answered_by)
        return self._gate.submit_confirmed(held, self._confirmed(held, answered_by, text))

    def reject(self, decision_id: str, answered_by: str) -> Decision:
        """Keep the answer no; the same inference about the contact is not asked again.

        Raises:
            As ``confirm``.
        """
        held, earlier = self._held(decision_id)
        if earlier:
            return self._same_answer(earlier, is_yes=False)
        self._check_may_answer(held, answered_by)
        return self._gate.record_answer(held, Action.DECLINE, answered_by)

    def withdraw(self, decision_id: str, withdrawn_by: str) -> Decision:
        """Take back what was held, so that nobody is asked; it may be proposed again.

        Raises:
            As ``confirm``.
        """
        check_identifier("withdrawn_by", withdrawn_by, InvalidAnswerError)
        held, earlier = self._held(decision_id)
        if earlier and earlier.action is not Action.WITHDRAW:
            raise InvalidAnswerError(f"decision {held.decision_id} was answered already")
        return earlier or self._gate.record_answer(held, Action.WITHDRAW, withdrawn_by)

    def _held(self, decision_id: str) -> tuple[Decision, Decision | None]:
        """The decision that waits, and how it was settled, if it was."""
        check_identifier("decision_id", decision_id, InvalidAnswerError)
        found = self._gate.find(decision_id)
        if found.held_id is not None:
            found = self._gate.find(found.held_id)
        if found.action is not Action.HOLD or found.gate is None:
            raise InvalidAnswerError(
                f"decision {decision_id} is {found.action}; only what is held can be answered"
            )
        settled_id = settlement_id_of(found.decision_id)
        earlier = call_with_retries(
            self._retry_policy, lambda _: self._store.find_decision(settled_id)
        )
        if earlier is None and found.gate.lapses_at and found.gate.lapses_at <= self._clock():
            raise InvalidAnswerError(
                f"decision {found.decision_id} lapsed on {found.gate.lapses_at:%Y-%m-%d}; "
                "nothing was kept, and it may be proposed again"
            )
        return found, earlier and earlier.as_replay()

    def _same_answer(self, earlier: Decision, *, is_yes: bool) -> Decision:
        if (earlier.action in _YES) is is_yes and earlier.action is not Action.WITHDRAW:
            return earlier
        raise InvalidAnswerError(
            f"decision {earlier.settles_id} was settled already, as {earlier.action}, "
            f"by {earlier.answered_by}; a fact is ended with `reconciler revoke`"
        )

    def _check_may_answer(self, held: Decision, answered_by: str) -> None:
        check_identifier("answered_by", answered_by, InvalidAnswerError)
        if answered_by == held.proposed_by or answered_by.startswith(AGENT_PREFIX):
            raise InvalidAnswerError(
                f"{answered_by} may not answer: who proposed it may not confirm it, and no agent "
                f"may; answer as {CONTACT!r} with the contact's own answer, or as an operator by "
                "name"
            )
        if held.disposal is Disposal.CONSENT and answered_by != CONTACT:
            raise InvalidAnswerError(
                f"consent is the contact's to give: answer as {CONTACT!r}, with their own answer"
            )
        assert held.gate is not None, "what is held was judged"  # noqa: S101
        if held.gate.reason in _FOR_OPERATORS and answered_by == CONTACT:
            raise InvalidAnswerError(
                f"{held.gate.reason} is for an operator to answer, by name, not for the contact"
            )

    def _confirmed(self, held: Decision, answered_by: str, text: str | None) -> Candidate:
        now = self._clock()
        proposed = candidate_of(held, self._gate.evidence_of(held))
        is_contact = answered_by == CONTACT
        source = SourceKind.USER_EXPLICIT if is_contact else SourceKind.OPERATOR
        session_id = f"confirmations-{now:%Y-%m-%d}"
        note = replace(proposed.note, said_at=now, source_kind=source, session_id=session_id)
        if text is not None:
            note = replace(note, text=text, slot=None)
        answer = Evidence(
            episode_id=str(uuid.uuid4()),
            session_id=session_id,
            scope=note.scope,
            text=f"Asked: {held.question or proposed.claim}\nAnswered by {answered_by}: yes."
            + (f" {text}" if text else ""),
            said_at=now,
            source_kind=source,
        )
        return replace(
            proposed,
            note=note,
            evidence=(answer, *proposed.evidence),
            confirmed_by=answered_by,
        )
