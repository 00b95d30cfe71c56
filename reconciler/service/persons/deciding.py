"""Persons' decisions about known facts: revoke, revert, amend, archive, resolve, correct.

Each call records a decision as the person's word, and can be reverted. Also persons' answers: yes
or no to a held note, or a withdrawal. An agent must never make these calls.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from reconciler.domain.erasing.planning import (
    check_not_erased,
    is_erased,
    may_quote,
    said_by,
    without_argument,
)
from reconciler.domain.gate.disposing import answer_to
from reconciler.domain.recalling.history import last_said
from reconciler.domain.recalling.ranking import faded
from reconciler.domain.recalling.recalled import suspends
from reconciler.domain.reconciling.ahead import NO_EFFECTS, Effects, Plans, over
from reconciler.domain.reconciling.restating import confirmed, taking_over, written_fact
from reconciler.domain.reconciling.reverting import (
    fact_written_by,
    order_of,
    resting_on,
    reversal,
    undone_by,
)
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.candidates import CONTACT, Candidate, Evidence
from reconciler.domain.records.decisions import Archived, Decision
from reconciler.domain.records.erasures import check_person, is_agent, plain_name
from reconciler.domain.records.facts import Conflict, Fact, Facts, Supersession, by_fact_id
from reconciler.domain.records.kinds import (
    FOR_OPERATORS,
    OPERATOR_DOOR,
    Action,
    Clock,
    DecidedBy,
    Disposal,
    FactState,
    GateReason,
    Relation,
    SourceKind,
)
from reconciler.domain.records.notes import (
    ACCOUNT,
    CONTACT_SUBJECT,
    MEMBERSHIP,
    Note,
    Scope,
    Slot,
    check_identifier,
    check_text,
)
from reconciler.domain.records.policies import DecayPolicy
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import (
    InvalidAnswerError,
    InvalidNoteError,
    InvalidRequestError,
    RevertRefusedError,
    UnknownContactError,
    UnknownFactError,
)
from reconciler.frozen import Json, Values, frozen
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.service.stores.commits import Commit, Joint
from reconciler.service.stores.decision_store import DecisionFilter, DecisionStore
from reconciler.service.stores.erasure_store import ErasureStore
from reconciler.service.stores.fact_store import FactStore, unknown_fact
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.doors import SlotFields, as_candidate, as_said_to_end, note_of
from reconciler.service.writing.ledger import Ledger, Seen
from reconciler.service.writing.memory_reconciler import MemoryReconciler
from reconciler.service.writing.submissions import Submission, settlement_id_of
from reconciler.service.writing.write_gate import WriteGate, candidate_of

_YES = frozenset({Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE, Action.HOLD})
"""Actions after a yes: the note is stored, ends a fact, or leads to another person's question."""

_JUST_SAID = timedelta(minutes=1)


def _same_answer(settled: Decision, wanted: Set[Action]) -> Decision:
    """Return the settling decision, if it is the wanted answer; another may have come first.

    Raises:
        InvalidAnswerError: the note was settled in another way before.
    """
    if settled.action in wanted:
        return settled
    is_yes = settled.disposal is Disposal.ADMIT
    said = "yes" if is_yes else "withdrawn" if settled.action is Action.WITHDRAW else "no"
    wrong = "`amend` or `revoke` the fact" if is_yes else "note it in other words"
    raise came_first(settled, "this question has been answered already", said, wrong)


def came_first(settled: Decision, what: str, said: str, remedy: str) -> InvalidAnswerError:
    """Make the error for a person who answers after another person, and differently."""
    return InvalidAnswerError(
        f"{what}, by {settled.proposal.answered_by} on {settled.at:%Y-%m-%d, %H:%M} UTC: {said}. "
        f"Nothing was changed now; if that was wrong, {remedy}"
    )


_SHOWN_MAX = 10
"""The number of decisions that an error lists."""

_ANSWERS_MAX = 1_000
"""The number of an operator's last decisions in which an earlier answer is searched for."""


_MERGED_MAX = 5_000
"""Facts of a contact that can be merged into another: no one else can write about the two
meanwhile, for some ten seconds at this number."""

_OR_ENDED = ", or it has ended"
_BY_PERSONS = DecisionFilter(door=OPERATOR_DOOR)


@frozen
class PersonsDecisions:
    """Records the decisions of the contact or an operator; ``ContactMemory`` documents each call.

    Attributes:
        gate: cleans the reason, like all stored words; judges a confirmed note.
        fact_store: facts and their conflicts.
        decision_store: the decisions to revert or correct, and the held notes.
        reconciler: makes the record, and remembers a confirmed note.
        ledger: writes.
        cleaner: removes forbidden data from an amendment's reason; checks the names of people who
            answer.
        attributes: the known attributes of slots.
        clock: the time now, UTC-aware.
        erasure_store: contacts' merges and unfinished erasures.
        home: remembers where contacts are.
    """

    gate: WriteGate
    fact_store: FactStore
    decision_store: DecisionStore
    reconciler: MemoryReconciler
    ledger: Ledger
    cleaner: Cleaner
    attributes: AttributeBook
    clock: Clock
    erasure_store: ErasureStore
    home: Any

    def revoke(
        self, scope: Scope, fact_id: str, *, by: str, reason: str, never: bool = False
    ) -> Decision:
        """End a fact without a successor; the same call again returns the first decision.

        With ``never`` the fact was never true, so its interval becomes empty.

        Raises:
            UnknownFactError: the contact has no fact of that id, or it has ended.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        submission = self._decided("revoked", scope, by, reason)

        def is_same(made: Decision) -> bool:
            is_revoked = made.action is Action.REVOKE and fact_id in made.superseded_ids
            said = (made.text, made.proposal.answered_by, bool(made.verdict.voided))
            return is_revoked and said == (submission.note.text, by, never)

        def plan(seen: Seen) -> Commit | Decision:
            ended = self.fact_store.get_fact(scope, fact_id, _OR_ENDED)
            if ended.has_ended:
                if earlier := self._made_before(scope, is_same):
                    return earlier
                raise unknown_fact(scope, fact_id + _OR_ENDED)
            _check_operator(by, [ended.slot])
            return self._revoked(submission, [ended], seen, voided=[ended] if never else ())

        return self.ledger.write(submission, plan)

    def _revoked(
        self,
        submission: Submission,
        ended: Facts,
        seen: Seen,
        voided: Facts = (),
    ) -> Commit:
        # No fact ends before it began, except a plan.
        begun = [fact.valid_from for fact in ended if not fact.is_upcoming(self.clock())]
        about = submission.about(submission.note.no_earlier_than(begun))
        effects = Effects(ended=ended, voided=voided)
        return self.reconciler.as_disposed(about, Action.REVOKE, seen, effects)

    def join(
        self, scope: Scope, account: str, since: datetime | None, until: datetime | None, by: str
    ) -> Decision:
        """Make the contact belong to an account; the same call again returns the first decision.

        Raises:
            InvalidScopeError: the account's name cannot be used.
            InvalidAnswerError: this person may not say it.
            InvalidRequestError: the contact is an account, belongs to it already, or the end does
                not come after the beginning.
            UnknownContactError: nothing is known about the account.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        whole = scope.account(account)
        if scope.contact_id.startswith(ACCOUNT):
            raise InvalidRequestError("an account cannot belong to an account; name a contact")
        if not self.fact_store.contact_version(whole):
            raise UnknownContactError(
                f"nothing is known about account {account}; check its name, or first add a fact "
                f"about it: reconciler add {whole.as_options()}"
            )
        named = whole.contact_id
        slot = Slot(
            subject=CONTACT_SUBJECT,
            attribute=MEMBERSHIP,
            value=named,
            value_key=named,
            is_single_valued=False,
        )
        _check_operator(by, [slot])
        word = self._decided("joined", scope, by, f"Belongs to account {account}.")
        word = word.about(replace(word.note, slot=slot, valid_from=since))
        word, begins = word.embedded(self.reconciler.embed), word.note.holds_from
        if until is not None and until <= begins:
            raise InvalidRequestError(
                f"until {until.isoformat()} is not after {begins.isoformat()}; correct one of them"
            )

        def plan(seen: Seen) -> Commit | Decision:
            own = (
                each
                for each in self.memberships(scope, account)
                if not (each.has_ended or each.is_expired(begins))
                and (until is None or until > each.valid_from)
            )
            if held := next(own, None):
                earlier = self._made_before(scope, lambda made: made.fact_id == held.fact_id)
                since_when = held.valid_from
                is_same = since_when <= begins if since is None else since == since_when
                if earlier and is_same and until == held.valid_to:
                    return earlier
                raise InvalidRequestError(
                    f"contact {scope.contact_id} belongs to account {account} already, since "
                    f"{since_when:%Y-%m-%d}; to change that, first call leave_account"
                )
            commit = self.reconciler.as_disposed(word, Action.ADD, seen)
            decision = replace(commit.decision, fact_id=word.fact_id)
            fact = replace(
                written_fact(decision),
                category=Category.FACT,
                recall_semantics=RecallSemantics.DEFAULT,
                valid_to=until,
                expires_at=until,
            )
            return replace(commit, decision=decision, fact=fact)

        return self.ledger.write(word, plan)

    def memberships(self, scope: Scope, account: str) -> list[Fact]:
        """List the contact's memberships in an account, those that have not ended first."""
        facts = self.fact_store.list_facts(scope)
        own = (fact for fact in facts if fact.account == account)
        return sorted(own, key=lambda fact: fact.has_ended)

    def revert(
        self, scope: Scope, decision_id: str, *, by: str, reason: str, and_later: bool = False
    ) -> Decision:
        """Undo a decision; if it is undone already, return the decision that undid it.

        Raises:
            UnknownDecisionError: the contact has no such decision.
            RevertRefusedError: later decisions rest on this decision.
            InvalidRequestError: the decision changed nothing, or did not record its changes.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        submission = self._decided("reverted", scope, by, reason)
        decision = self.decision_store.get_decision(scope, decision_id)
        check_not_erased(decision)

        def plan(seen: Seen) -> Commit | Decision:
            made = self.decision_store.list_made(scope)
            if earlier := undone_by(decision, made):
                return earlier.as_replay()
            merges = {one.decision_id for one in made if one.action is Action.MERGE}
            if merges.intersection(decision.changes.decision_ids):
                raise InvalidRequestError(
                    f"decision {decision_id} took a merge back; merge the contacts again instead"
                )
            joint = self._parted(scope, decision) if decision_id in merges else None
            ids = self.decision_store.list_given_ids(scope, joint.keys) if joint else ()
            theirs = {fact_written_by(one) for one in made if one.decision_id in ids}
            found = {one.decision_id: one for one in resting_on(decision, made)}
            for one in made:  # what goes back must not have changed a fact that stays
                changed = {*one.superseded_ids, *(each.fact_id for each in one.changes.before)}
                is_crossing = one.decision_id in ids and changed - theirs
                is_over = is_crossing or (joint and one.action is Action.MERGE)
                if is_over and order_of(one) > order_of(decision) and not undone_by(one, made):
                    found[one.decision_id] = one
            later = sorted(found.values(), key=order_of, reverse=True)
            is_merged = not merges.isdisjoint(found)
            if later and (is_merged or not and_later):
                raise RevertRefusedError(
                    _refusal(later, is_merged), tuple(one.decision_id for one in later)
                )
            facts = by_fact_id(self.fact_store.list_facts(scope))
            links = self.fact_store.list_supersessions(scope)
            conflicts = self.fact_store.list_conflicts(scope, is_open=False)
            undone = [*later, decision]
            reverted = reversal(undone, facts, links, conflicts, self.clock())
            _check_operator(by, [fact.slot for fact in reverted.facts])
            # A fact that was to end with a plan goes on if that plan was forgotten meanwhile.
            undone_ids = {other.decision_id for other in undone}
            left = [other for other in made if other.decision_id not in undone_ids]
            plans = Plans(left, facts | by_fact_id(reverted.facts))
            commit = self._joined(submission, Action.REVERT, seen, joint)
            undoing = replace(commit.decision, undo=reverted.undo)
            # An erasure of one of the two contacts does not read the records of the other.
            gone = [facts.keys() & theirs, facts.keys() - theirs]
            words = [said_by(map(facts.__getitem__, each), ()) for each in gone]
            return replace(
                commit,
                decision=undoing,
                unquoted=[
                    without_argument(one, gone[side])
                    for one in (undoing, *self.decision_store.list_records(scope))
                    if order_of(one) >= order_of(decision)
                    for side in [one.decision_id in ids]
                    if may_quote(one, gone[side], words[side])
                ]
                if joint
                else (),
                restored=tuple(map(plans.standing, reverted.facts)),
                reopened=reverted.conflicts,
            )

        return self._moved(submission, plan)

    def _parted(self, scope: Scope, merge: Decision) -> Joint:
        """Return the contact that gets its records back, if a merge is undone."""
        if self.erasure_store.is_reading(scope):
            raise InvalidRequestError(
                "a conversation of the contact is being read; split when its job is done"
            )
        other = replace(scope, contact_id=str(merge.note.source_reference))
        own, its = map(self.fact_store.standing, (scope, other))
        left = [each for each in own.absorbed if each not in (other.contact_id, *its.absorbed)]
        return Joint(
            other,
            its.version,
            [one.contact_key for one in self.fact_store.family(other)],
            left,
            is_split=True,
        )

    def _joined(
        self,
        submission: Submission,
        action: Action,
        seen: Seen,
        joint: Joint | None,
        effects: Effects = NO_EFFECTS,
    ) -> Commit:
        """Plan a decision that comes after all decisions about both contacts."""
        last = max(seen.version, joint.version if joint else 0)
        commit = self.reconciler.as_disposed(
            submission, action, replace(seen, version=last), effects
        )
        return replace(commit, version=seen.version, joint=joint)

    def _moved(self, submission: Submission, plan: Callable[[Seen], Commit | Decision]) -> Decision:
        """Write a decision that may move a contact's records; then look up again where they are."""
        made = self.ledger.write(submission, plan)
        self.home.cache_clear()
        return made

    def merge(
        self, scope: Scope, other: Scope, *, by: str, reason: str, is_new: bool = False
    ) -> Decision:
        """Merge another contact into this one, or into a new one; the same call changes nothing.

        Raises:
            InvalidRequestError: they are the same contact, one is merged into another or is being
                erased or restored, or the new one is known.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        submission = self._decided("merged", scope, by, reason)
        note = replace(submission.note, source_reference=other.contact_id)

        def plan(seen: Seen) -> Commit | Decision:
            own, its = map(self.fact_store.standing, (scope, other))
            if its.absorbed_into == scope.contact_id and (earlier := self._merged(scope, other)):
                return earlier.as_replay()
            if is_new and own.version:
                raise InvalidRequestError(
                    f"contact {scope.contact_id} exists; give an id of which nothing is known, or "
                    "merge the two"
                )
            if any(each.contact_id.startswith(ACCOUNT) for each in (scope, other)):
                raise InvalidRequestError(
                    "an account cannot be merged; move its contacts with join_account"
                )
            if scope == other or its.absorbed_into:
                raise InvalidRequestError(
                    f"{other.contact_id} is {its.absorbed_into or 'the same contact'}, and cannot "
                    f"be merged into {scope.contact_id}; name two contacts, or split those first"
                )
            begun = self.erasure_store.list_erasures([scope, other], is_unfinished=True)
            if begun or min(own.version, its.version) < 0:
                raise InvalidRequestError(
                    f"{scope.contact_id} or {other.contact_id} is being erased or restored; finish "
                    "that first"
                )
            effects, linked = self._union(submission, other)
            joint = Joint(
                other,
                its.version,
                [one.contact_key for one in self.fact_store.family(other)],
                [*own.absorbed, other.contact_id, *its.absorbed],
            )
            commit = self._joined(submission.about(note), Action.MERGE, seen, joint, effects)
            undo = replace(commit.decision.changes, linked=linked)
            return replace(commit, decision=replace(commit.decision, undo=undo))

        return self._moved(submission, plan)

    def split(self, scope: Scope, other: Scope, **given: Any) -> Decision:
        """Revert the merge of another contact into this one.

        Raises:
            InvalidRequestError: it was never merged into this one.
            RevertRefusedError: see ``revert``.
        """
        if (merged := self._merged(scope, other)) is None:
            raise InvalidRequestError(
                f"contact {other.contact_id} was never merged into {scope.contact_id}"
            )
        return self.revert(scope, merged.decision_id, **given)

    def _merged(self, scope: Scope, other: Scope) -> Decision | None:
        """Return the last decision that merged another contact into this one."""
        made = (
            one
            for one in self.decision_store.list_made(scope)
            if one.action is Action.MERGE and one.note.source_reference == other.contact_id
        )
        return max(made, key=order_of, default=None)

    def _union(
        self, submission: Submission, other: Scope
    ) -> tuple[Effects, tuple[Supersession, ...]]:
        """Compare another contact's live facts with this one's, as notes that are said now.

        Return the changes, and the links between facts that say the same.
        """
        now, facts = self.clock(), self.fact_store.list_facts(other)
        if len(facts) > _MERGED_MAX:
            raise InvalidRequestError(
                f"{other.contact_id} has {len(facts):,} facts, and a contact of more than "
                f"{_MERGED_MAX:,} is not merged into another; merge the smaller one into it, and "
                "call rename_contact if it should have the other id"
            )
        moved, linked, drawn = dict[str, tuple[Fact, Fact]](), [], []
        self.ledger.neighbourhoods.drop(other)
        known, theirs = map(self.ledger.neighbourhoods.of, (submission.scope, other))
        for fact in facts:
            vector, old_id = theirs.vector_of(fact.fact_id), fact.fact_id
            if vector is None or not fact.as_of(now).is_live or fact.is_upcoming(now):
                continue
            told = {"text": fact.text, "slot": fact.slot, "category": fact.category}
            note = replace(submission.note, **told, source_kind=fact.word, is_cleaned=True)  # type: ignore[arg-type]
            seen = self.ledger.seen_in(known, replace(submission, vector=vector).about(note))
            near = [each for each in seen.neighbours or () if not each.is_expired]
            verdict = decide(note, near, self.reconciler.policy)
            why: Json = {"decided_by": verdict.decided_by, "reason": verdict.reason}
            if verdict.action is Action.SKIP or verdict.is_restatement:
                head = seen.facts[verdict.targets[0].fact_id]
                _, stays = moved.get(head.fact_id, (head, head))
                moved[head.fact_id] = head, taking_over(stays, fact)
                moved[old_id] = fact, over(fact, max(fact.valid_from, head.valid_from))
                pair = {"new_id": head.fact_id, "old_id": old_id, "at": now}
                linked.append(Supersession(**pair, **why, is_restatement=True))  # type: ignore[arg-type]
                continue
            drawn += [
                Conflict(new_id=old_id, old_id=each.fact_id, **why, at=now)
                for each in (*verdict.ended, *verdict.conflicts)
                if not each.is_upcoming
            ]
        # Even a fact that does not change now would make a later decision rest on the merge.
        counted = [fact for fact in facts if fact.fact_id not in moved]
        return Effects(counted=counted, moved=[*moved.values()], drawn=tuple(drawn)), tuple(linked)

    def amend(
        self,
        scope: Scope,
        text: str,
        slot: SlotFields,
        *,
        fact_id: str | None,
        by: str,
        reason: str,
        said_at: datetime | None,
        valid_to: datetime | None = None,
        lifetime_days: int | None = None,
    ) -> Decision:
        """Replace a known fact, from any source, by an operator's dated statement.

        The same call again returns the first decision, unless it was undone or has been replaced.

        Raises:
            InvalidNoteError: the statement would have ended already.
            InvalidRequestError: there is nothing to amend, or the fact holds only from a later day
                on.
            UnknownFactError: the contact has no fact of that id, or it has ended.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        check_person(by, scope)
        if by == CONTACT:
            raise InvalidAnswerError(
                "only an operator may amend; add what the contact says as a note"
            )
        check_text("reason", reason)
        if (fact_id is None) is (slot.get("attribute") is None):
            raise InvalidRequestError("name what to amend: give either fact_id or attribute")
        known = None if fact_id is None else self.fact_store.get_fact(scope, fact_id, _OR_ENDED)
        if known is not None and known.account:
            raise InvalidRequestError("a membership is not amended; use leave_account")
        about = {"said_at": said_at, "lifetime_days": lifetime_days}
        note = self._amended_note(scope, text, slot, known, about)
        candidate = as_said_to_end(as_candidate(note, by), self.clock(), said_at)
        if valid_to is not None:
            candidate = replace(candidate, holds_until=valid_to)
        submission = self.gate.judge(candidate, OPERATOR_DOOR)
        [why] = self.cleaner.clean_texts(scope, [reason])
        amending = replace(submission, amendment=f"{by}: {why}", amended_id=fact_id)
        if earlier := self._amended_before(amending, said_at, known):
            return earlier
        ends_at = candidate.holds_until
        if ends_at is not None and ends_at <= max(candidate.note.holds_from, self.clock()):
            raise InvalidNoteError(
                f"valid_to {ends_at.isoformat()} is in the past, but an amended fact must hold "
                "now; to end a fact, revoke it"
            )
        if not submission.is_reconciled:
            return self.gate.settle(submission)
        return self.reconciler.reconcile(amending)

    def _amended_note(
        self,
        scope: Scope,
        text: str,
        slot: SlotFields,
        known: Fact | None,
        about: Values,
    ) -> Note:
        """Make the note of an amendment, with the slot and kind of the fact that it amends.

        Raises:
            InvalidNoteError: the note cannot be used.
            InvalidRequestError: there is no value, or it is not clear which of many values it
                amends.
        """
        if known is not None and known.slot is not None and known.slot.attribute is not None:
            slot = {
                "subject": known.slot.subject,
                "attribute": known.slot.attribute,
                "single_valued": None if known.slot.is_known else known.slot.is_single_valued,
                "value": slot.get("value"),
            }
        if slot.get("attribute") is not None and slot.get("value") is None:
            raise InvalidRequestError(
                f"the fact has the attribute {slot.get('attribute')}; give its new value with "
                "value="
            )
        fields = {**slot, "source_kind": SourceKind.OPERATOR, **about}
        note = note_of(scope, text, fields, self.attributes, self.clock())
        if known is None and note.slot and not note.slot.is_single_valued:
            raise InvalidRequestError(
                "the attribute holds many values; say with fact_id which one to amend"
            )
        return note

    def _amended_before(
        self, amending: Submission, said_at: datetime | None, known: Fact | None
    ) -> Decision | None:
        """Find the decision of the same amendment, if its fact holds or the old fact has ended.

        Raises:
            UnknownFactError: the fact has ended, and not by this amendment.
        """
        scope = amending.scope
        earlier = self._made_before(scope, partial(_is_amendment, amending, said_at))
        if known is not None and known.has_ended:
            if earlier is None:
                raise unknown_fact(scope, known.fact_id + _OR_ENDED)
            return earlier
        wrote = self.fact_store.find_fact(scope, str(earlier.fact_id)) if earlier else None
        if wrote is None or not wrote.is_live or wrote.is_expired(self.clock()):
            return None
        disputed = {i for c in self.fact_store.list_conflicts(scope) for i in c.ids}
        return None if wrote.fact_id in disputed else earlier

    def archive(
        self,
        bound_to: Scope,
        scopes: Iterable[Scope],
        policy: DecayPolicy,
        *,
        by: str,
        reason: str,
        dry_run: bool,
    ) -> list[Archived]:
        """Archive the faded facts about contacts, one decision for each contact; or only list them.

        Args:
            bound_to: the agent, or the contact.
            scopes: the contacts.
            policy: the half-life and the floor.
            by: the operator's name.
            reason: the reason, in one sentence.
            dry_run: only list the facts.

        Raises:
            GraphUnavailableError, GraphConflictError: the decisions written until then are kept.
        """
        self._word(bound_to, by, reason)
        reports: list[Archived] = []
        for scope in scopes:
            facts = self._faded(scope, policy)
            if facts and dry_run:
                reports.append(Archived(contact_id=scope.contact_id, facts=tuple(facts)))
            elif facts and (archived := self._archived(scope, policy, by, reason)):
                reports.append(archived)
        return reports

    def _archived(self, scope: Scope, policy: DecayPolicy, by: str, reason: str) -> Archived | None:
        submission = self._decided("archived", scope, by, reason)
        put_by: list[Fact] = []

        def plan(seen: Seen) -> Commit | None:
            put_by[:] = self._faded(scope, policy)
            effects = _moving(put_by, FactState.ARCHIVED)
            planned = self.reconciler.as_disposed(submission, Action.ARCHIVE, seen, effects)
            return planned if put_by else None

        made = self.ledger.write(submission, plan)
        if made is None:
            return None
        return Archived(contact_id=scope.contact_id, facts=tuple(put_by), decision=made)

    def _faded(self, scope: Scope, policy: DecayPolicy) -> list[Fact]:
        """Find the contact's facts that a sweep would archive now, the most faded first."""
        conflicts = self.fact_store.list_conflicts(scope)
        disputed = [fact_id for pair in conflicts for fact_id in pair.ids]
        return faded(self.fact_store.list_facts(scope), disputed, self.clock(), policy)

    def unarchive(self, scope: Scope, fact_id: str, *, by: str, reason: str) -> Decision:
        """Unarchive a fact, so that it is recalled again.

        Raises:
            UnknownFactError: the contact has no fact of that id.
            InvalidRequestError: the fact is not archived.
            GraphUnavailableError, GraphConflictError: nothing was written.
        """
        check_identifier("fact_id", fact_id, UnknownFactError)
        submission = self._decided("taken up again", scope, by, reason)

        def plan(seen: Seen) -> Commit:
            fact = self.fact_store.get_fact(scope, fact_id)
            if fact.state is not FactState.ARCHIVED:
                raise InvalidRequestError(f"fact {fact_id} is {fact.state}, not archived")
            effects = _moving([fact], FactState.LIVE)
            return self.reconciler.as_disposed(submission, Action.UNARCHIVE, seen, effects)

        return self.ledger.write(submission, plan)

    def resolve(
        self, scope: Scope, keep: Sequence[str], neither: Sequence[str], *, by: str, reason: str
    ) -> Decision:
        """Resolve disputes: end the facts that do not hold; repeated calls change nothing.

        Args:
            scope: the contact.
            keep: the facts that hold. A fact in dispute with one of them ends, unless it is kept
                too: then both hold, and the dispute is closed. A fact in dispute only with kept
                facts that hold from a later day on ends on that day.
            neither: instead of ``keep``, all sides of a dispute if none of them holds; all end.
            by: the contact, or an operator's name.
            reason: the reason, in one sentence.

        Raises:
            InvalidAnswerError: the facts are in no open dispute, a fact to keep has ended, or
                ``neither`` lacks a side of the dispute.
            UnknownFactError: the contact has no such fact.
        """
        submission = self._decided("settled", scope, by, reason)
        if bool(keep) is bool(neither):
            raise InvalidAnswerError(
                "give the facts that hold with keep=; if none holds, give all sides with "
                "neither=; `disputes` lists the sides"
            )

        def plan(seen: Seen) -> Commit | Decision:
            facts = self._heads(scope, keep or neither)
            planned = self._kept if keep else self._none_kept
            return planned(submission, facts, seen) or self._earlier(
                scope, facts, is_kept=bool(keep)
            )

        return self.ledger.write(submission, plan)

    def _none_kept(self, submission: Submission, sides: Facts, seen: Seen) -> Commit | None:
        """Plan the end of all sides; None if a fact is in no dispute."""
        side_ids = {fact.fact_id for fact in sides}
        conflicts = self.fact_store.list_conflicts(submission.scope)
        disputed_ids = set().union(*(one.ids for one in conflicts if one.ids & side_ids))
        if not side_ids <= disputed_ids:
            return None
        if more := sorted(disputed_ids - side_ids):
            raise InvalidAnswerError(
                f"these facts are in the same dispute: {', '.join(more)}; name all sides, or say "
                "which to keep"
            )
        return self._revoked(submission, sides, seen)

    def _kept(self, submission: Submission, kept: Facts, seen: Seen) -> Commit | None:
        """Plan the resolution; None if no fact is in dispute with the kept facts.

        Raises:
            InvalidAnswerError: a kept fact has ended, perhaps by another person's answer.
        """
        if gone := next((fact.fact_id for fact in kept if fact.has_ended), None):
            self._check_unsettled(submission.scope, {gone})
            raise InvalidAnswerError(
                f"fact {gone} has ended and cannot be kept; its history shows what replaced it"
            )
        scope, kept_ids = submission.scope, {fact.fact_id for fact in kept}
        conflicts = self.fact_store.list_conflicts(scope)
        open_ = [one.ids for one in conflicts if one.ids & kept_ids]
        if not open_:
            return None
        lost_ids = sorted(set().union(*open_) - kept_ids)
        lost = self.fact_store.find_facts(scope, lost_ids)
        now = self.clock()
        until_then = _until_then(kept, lost.values(), open_, now)
        stay_ids = {fact.fact_id for fact, _ in until_then}
        held_back = {gone.fact_id for gone in lost.values() if any(suspends(k, gone) for k in kept)}
        held_ids = kept_ids | held_back
        ended = [fact for fact_id, fact in lost.items() if fact_id not in stay_ids | held_back]
        begins = [fact.valid_from for fact in (*kept, *ended) if not fact.is_upcoming(now)]
        about = submission.about(submission.note.no_earlier_than(begins))
        only = kept[0] if len(kept) == 1 else None
        closed = tuple(one for one in conflicts if one.ids <= held_ids)
        effects = Effects(
            ended=ended,
            until_then=until_then,
            kept=only,
            counted=[only] if only else (),
            stays_id=kept[0].fact_id,
            closed=closed,
            closed_ids=tuple(sorted(held_ids)) if closed else (),
        )
        commit = self.reconciler.as_disposed(about, Action.RESOLVE, seen, effects)
        told = confirmed(commit.kept, commit.decision) if commit.kept else None
        return replace(commit, kept=told)

    def _earlier(self, scope: Scope, facts: Facts, *, is_kept: bool) -> Decision:
        """Find the earlier answer that these facts hold, or that none of them does.

        Raises:
            InvalidAnswerError: there is no such answer.
        """
        ids = {fact.fact_id for fact in facts}
        action = Action.RESOLVE if is_kept else Action.REVOKE

        def is_same(made: Decision) -> bool:
            named = (made.fact_id, *made.closed_ids) if is_kept else made.superseded_ids
            return made.action is action and ids <= {*named}

        if earlier := self._made_before(scope, is_same):
            return earlier
        self._check_unsettled(scope, ids)
        raise InvalidAnswerError(
            f"{' and '.join(sorted(ids))} is not in an open dispute; `disputes` lists the facts "
            "that are"
        )

    def _check_unsettled(self, scope: Scope, fact_ids: Set[str]) -> None:
        """Check that no other person came first with another answer.

        Raises:
            InvalidAnswerError: another person came first.
        """
        settled = self._made_before(
            scope,
            lambda made: (
                made.action in (Action.RESOLVE, Action.REVOKE)
                and not fact_ids.isdisjoint({made.fact_id, *made.closed_ids, *made.superseded_ids})
            ),
        )
        if settled is not None:
            said, remedy = settled.text.rstrip("."), f"`revert` decision {settled.decision_id}"
            raise came_first(settled, "this dispute has been settled already", said, remedy)

    def _heads(self, scope: Scope, fact_ids: Sequence[str]) -> list[Fact]:
        """Return the newest restatements of these facts, each once."""
        for fact_id in fact_ids:
            check_identifier("keep", fact_id, UnknownFactError)
        links = self.fact_store.list_supersessions(scope)
        heads = dict.fromkeys(last_said(fact_id, links) for fact_id in fact_ids)
        return [self.fact_store.get_fact(scope, head) for head in heads]

    def correct(self, scope: Scope, decision_id: str, relation: Relation) -> Decision:
        """Record a person's correction of a decision; no fact changes.

        Raises:
            UnknownDecisionError: the contact has no decision of that id.
            InvalidRequestError: the decision's note was compared with no fact.
        """
        made = self.decision_store.get_decision(scope, decision_id)
        if made.action is Action.CITE or not made.compared_with:
            raise InvalidRequestError(
                f"decision {decision_id} was not compared with a fact, so there is no relation to "
                "set"
            )
        self.decision_store.record_correction(scope, decision_id, relation, self.clock())
        return self.decision_store.get_decision(scope, decision_id)

    def _decided(self, done: str, scope: Scope, by: str, reason: str) -> Submission:
        """Return a person's decision and its reason; each call above begins with it.

        The gate removes forbidden data from the reason, and checks nothing else in it.

        Args:
            done: the action in words, for the record.
            scope: the contact.
            by: the person who decides.
            reason: the reason.

        Raises:
            InvalidAnswerError: this person may not make the decision.
            InvalidNoteError: the reason cannot be used.
        """
        judged = self.gate.judge(self._word(scope, by, reason), OPERATOR_DOOR)
        why = f"{done} by {by}: {judged.note.text}"
        assessment = judged.assessment.disposed(Disposal.ADMIT, GateReason.ADMITTED, why)
        return replace(judged, assessment=assessment, answered_by=by)

    def _word(self, scope: Scope, by: str, reason: str) -> Candidate:
        """Return the reason as that person's word."""
        check_person(by, scope)
        check_text("reason", reason)
        note = Note(
            scope=scope,
            text=reason,
            said_at=self.clock(),
            is_dated=False,
            source_kind=SourceKind.USER_EXPLICIT if by == CONTACT else SourceKind.OPERATOR,
        )
        return as_candidate(note, by)

    def _made_before(self, scope: Scope, is_same: Callable[[Decision], bool]) -> Decision | None:
        """Find an earlier call's same decision, unless it has been undone.

        A person's call has no key. If its answer was lost, the repeated call must not fail because
        of the first call's effects.
        """
        made = self.decision_store.list_decisions([scope], _ANSWERS_MAX, _BY_PERSONS)
        same = (one for one in made if is_same(one) and not undone_by(one, made))
        return next((one.as_replay() for one in same), None)

    # Held notes: answered once, or taken back

    def confirm(
        self,
        scope: Scope,
        decision_id: str,
        by: str,
        text: str | None,
        told_to: str | None,
    ) -> Decision:
        """Confirm a held note: remember it as the word of the person who says yes.

        Args:
            scope: the contact.
            decision_id: the held decision.
            by: ``contact``, or an operator's name; never the proposer.
            text: the fact in the words of the answer; None for the words that were asked about.
            told_to: who took the contact's answer, for the record; unused for an operator's own.

        Raises:
            InvalidAnswerError: no note waits under that id, the note lapsed or has another answer,
                or this person may not answer.
            UnknownDecisionError: the contact has no such decision.
            InvalidNoteError: the text cannot be used.
        """
        held, earlier, who = self._to_answer(scope, decision_id, by, told_to)
        if earlier and text and earlier.text not in self.cleaner.clean_texts(scope, [text.strip()]):
            _same_answer(earlier, frozenset())  # other words are another answer
        settled = (
            earlier
            or self._answered_meanwhile(held)
            or self._confirmed(held, self._as_confirmed(held, by, who, text), by)
        )
        return _same_answer(settled, _YES)

    def reject(self, scope: Scope, decision_id: str, by: str, told_to: str | None) -> Decision:
        """Reject a held note: record the no; the same inference is not asked about again.

        Raises:
            As ``confirm``.
        """
        held, earlier, who = self._to_answer(scope, decision_id, by, told_to)
        settled = earlier or self._refused(held, Action.DECLINE, by, f"{who} said no")
        return _same_answer(settled, {Action.DECLINE})

    def withdraw(self, scope: Scope, decision_id: str, by: str, told_to: str | None) -> Decision:
        """Take back a held or admitted note, so that no person is asked and nothing is committed.

        Args:
            scope: the contact.
            decision_id: the decision that held or admitted it.
            by: the proposer, or an operator's name.
            told_to: as in ``confirm``.

        Raises:
            As ``confirm``.
        """
        who = self._person(by, told_to)
        self.cleaner.check_ids(by=by)
        held, earlier = self._held(scope, decision_id, (Action.HOLD, Action.ADMIT))
        if earlier is None:
            if by != held.proposal.proposed_by and is_agent(by, held.scope):
                raise InvalidAnswerError(f"{by} may withdraw only its own proposals")
            earlier = self._refused(held, Action.WITHDRAW, by, f"{who} withdrew it")
        return _same_answer(earlier, {Action.WITHDRAW})

    def _to_answer(
        self, scope: Scope, decision_id: str, by: str, told_to: str | None
    ) -> tuple[Decision, Decision | None, str]:
        """Return the held decision, its answer if there is one, and who answers, for the record."""
        who = self._person(by, told_to)
        held, earlier = self._held(scope, decision_id)
        if earlier is None:
            self._check_may_answer(held, by, decision_id)
        return held, earlier, who

    def _person(self, by: str, told_to: str | None) -> str:
        """Return the person who answers, for the record; the contact's answer with its hearer."""
        check_identifier("by", by, InvalidAnswerError)
        if told_to is None or by != CONTACT:
            return by
        check_identifier("told_to", told_to, InvalidAnswerError)
        self.cleaner.check_ids(told_to=told_to)
        return f"{by} (told to {told_to})"

    def _held(
        self, scope: Scope, decision_id: str, actions: tuple[Action, ...] = (Action.HOLD,)
    ) -> tuple[Decision, Decision | None]:
        """Return the held decision, and the decision that settled it, if there is one."""
        decision = self.decision_store.get_decision(scope, decision_id)
        if decision.proposal.held_id is not None:
            decision = self.decision_store.get_decision(scope, decision.proposal.held_id)
        if decision.action not in actions:
            disputed = "; settle its dispute with `resolve`"
            raise InvalidAnswerError(
                f"decision {decision_id} is {decision.action}; only a held note can be answered"
                + (disputed if decision.conflicting_ids else "")
            )
        if is_erased(decision):
            raise InvalidAnswerError(
                f"decision {decision.decision_id} was erased, so it cannot be answered"
            )
        settled_id = settlement_id_of(decision.decision_id)
        earlier = self.decision_store.find_decision(scope, settled_id)
        lapses_at = decision.judged.lapses_at
        if earlier is None and lapses_at and lapses_at <= self.clock():
            raise InvalidAnswerError(
                f"decision {decision.decision_id} lapsed on {lapses_at:%Y-%m-%d}, so nothing was "
                "kept; the note may be proposed again"
            )
        return decision, earlier and earlier.as_replay()

    def retell(self, scope: Scope, decision_id: str) -> None:
        """Decide once more about a note that only counted a fact, because that fact was erased.

        The gate judges it again: it may have let it in only because it agreed with that fact.

        Raises:
            EmbeddingError, GraphUnavailableError, GraphConflictError: repeat the call.
        """
        made = self.decision_store.get_decision(scope, decision_id)
        if not is_erased(made):
            with suppress(InvalidAnswerError):  # today's gate refuses it
                self._confirmed(made, candidate_of(made, self.decision_store), None)

    def _answered_meanwhile(self, held: Decision) -> Decision | None:
        """Find the answer that a person has just given; None for an open question.

        Raises:
            InvalidAnswerError: later words of the contact answered the question already. A yes
                would replace them by an older answer.
        """
        answer = answer_to(held, self.fact_store.list_facts(held.scope))
        if answer is None:
            return None
        _, earlier = self._held(held.scope, held.decision_id)
        if earlier is None:
            raise InvalidAnswerError(
                f"decision {held.decision_id} was answered by a later statement: "
                f"{answer.text!r} (fact {answer.fact_id}); if that is wrong, amend it"
            )
        return earlier

    def _check_may_answer(self, held: Decision, by: str, asked_id: str) -> None:
        self.cleaner.check_ids(by=by)
        if plain_name(by) == CONTACT and by != CONTACT:
            raise InvalidAnswerError(f"if the contact answered, give by={CONTACT!r}, not by={by!r}")
        asked = self.decision_store.get_decision(held.scope, asked_id)
        proposers = {held.proposal.proposed_by, asked.proposal.proposed_by}
        named = {plain_name(proposer) for proposer in proposers if proposer}
        if plain_name(by) in named or is_agent(by, held.scope):
            raise InvalidAnswerError(
                f"{by} may not answer: neither an agent nor the proposer of a note may confirm it; "
                f"give by={CONTACT!r} if the contact answered, or else by= with an operator's name"
            )
        if held.disposal is Disposal.CONSENT and by != CONTACT:
            raise InvalidAnswerError(
                f"only the contact may consent: ask the contact, and give by={CONTACT!r} with the "
                "contact's answer"
            )
        if held.judged.reason in FOR_OPERATORS and by == CONTACT:
            raise InvalidAnswerError(
                f"only an operator may answer this ({held.judged.reason}): give the operator's "
                "name with by="
            )

    def _refused(self, held: Decision, action: Action, by: str, said: str) -> Decision:
        is_no = action is Action.DECLINE
        reason = GateReason.DECLINED if is_no else GateReason.WITHDRAWN
        submission = Submission(
            candidate=candidate_of(held, self.decision_store),
            assessment=held.judged.disposed(Disposal.REJECT, reason, said),
            door=held.door,
            decision_id=settlement_id_of(held.decision_id),
            settles_id=held.decision_id,
            answered_by=by,
        )
        return self.reconciler.record(submission, action)

    def _confirmed(self, held: Decision, candidate: Candidate, by: str | None) -> Decision:
        """Reconcile a confirmed note; hold it again if another person's yes is needed as well.

        Raises:
            InvalidAnswerError: the gate refuses the note in spite of the yes; the note still waits.
        """
        judged = self.gate.judge_whole(candidate, held.door)
        if judged.assessment.disposal is Disposal.REJECT:
            raise InvalidAnswerError(
                f"the gate refuses the note even after the yes: {judged.assessment.detail}; "
                "nothing was stored, and the question stays open"
            )
        assessment = judged.assessment
        if held.judged.is_redacted:  # data was already taken out: the sensitivity stays
            assessment = replace(assessment, is_redacted=True, sensitivity=held.judged.sensitivity)
        submission = replace(
            judged,
            assessment=assessment,
            decision_id=settlement_id_of(held.decision_id),
            settles_id=held.decision_id,
            answered_by=by,
        )
        if judged.is_admitted:
            return self.reconciler.reconcile(submission)
        return self.reconciler.record(replace(submission, vector=None), Action.HOLD)

    def _as_confirmed(self, held: Decision, by: str, who: str, text: str | None) -> Candidate:
        now = self.clock()
        proposed = candidate_of(held, self.decision_store)
        is_contact = by == CONTACT
        source = SourceKind.USER_EXPLICIT if is_contact else SourceKind.OPERATOR
        session_id = f"confirmations-{now:%Y-%m-%d}"
        note = replace(
            proposed.note,
            said_at=now,
            is_dated=False,
            source_kind=source,
            session_id=session_id,
        )
        if text is not None or held.at - held.note.holds_from < _JUST_SAID:
            note = replace(note, valid_from=None)  # without a date: it holds as of the answer
        if text is not None:
            check_text("text", text)
            names = (note.contact_name, note.scope.contact_id)
            slot, words = self.attributes.of(note.scope.agent_id).filled(None, text, names)
            note = replace(
                note, text=text, slot=slot, slot_read_from=words, category=None, topic=None
            )
        answer = Evidence(
            episode_id=str(uuid.uuid4()),
            session_id=session_id,
            scope=note.scope,
            text=f"Answered by {who}: "
            + (text or f"yes.\nAsked: {held.question or proposed.claim}"),
            said_at=now,
            source_kind=source,
            is_new=True,
        )
        confirmed = replace(
            proposed,
            note=note,
            # Other words rest on themselves: what was asked about may say the opposite.
            evidence=(answer, *(proposed.evidence if text is None else ())),
            # An earlier yes that was not enough by itself still counts.
            confirmed_by=(*filter(None, [held.proposal.answered_by]), by),
            is_reworded=text is not None,
            confidence=None,
        )
        # The end belongs to the words that were asked about.
        return confirmed if text is None else as_said_to_end(confirmed, now)


def _check_operator(by: str, slots: Iterable[Slot | None]) -> None:
    """Raise ``InvalidAnswerError`` if the contact would change a membership."""
    if by == CONTACT and any(slot and slot.account for slot in slots):
        raise InvalidAnswerError(
            "only an operator may say to which account a contact belongs; give the operator's name "
            "with by="
        )


def _is_amendment(amending: Submission, said_at: datetime | None, made: Decision) -> bool:
    """True if a decision belongs to the same amendment."""
    ended = (*made.superseded_ids, *made.ends_on_the_day_ids)
    end, kept = amending.candidate.holds_until, made.proposal.holds_until
    return (
        made.decided_by is DecidedBy.AMENDMENT
        and made.reason == f"amended by {amending.amendment}"
        and made.text == amending.note.text
        and made.note.slot_key == amending.note.slot_key
        and amending.amended_id in (None, *ended)
        and said_at in (None, made.note.said_at)
        and amending.note.lifetime_days == made.note.lifetime_days
        # An end in words may be over since.
        and (end == kept or (end is None and kept is not None and kept <= amending.note.said_at))
    )


def _refusal(later: Sequence[Decision], is_merged: bool) -> str:
    """Make the error for a revert that later decisions prevent, with a remedy."""
    shown = [f'{other.decision_id} ({other.action} "{other.text}")' for other in later[:_SHOWN_MAX]]
    more = [f"{len(later) - _SHOWN_MAX} more"] if len(later) > _SHOWN_MAX else []
    remedy = (
        "split the merged contacts first, the last merged first (split_contacts, reconciler split)"
        if is_merged
        else "revert those first, the newest first, or revert them in the same call (and_later, "
        "--and-later)"
    )
    return f"later decisions rest on it: {', '.join([*shown, *more])}; {remedy}"


def _moving(facts: Facts, state: FactState) -> Effects:
    """Return the effects of putting facts into a state."""
    return Effects(moved=[(fact, replace(fact, state=state)) for fact in facts])


def _until_then(
    kept: Iterable[Fact], lost: Iterable[Fact], open_: Sequence[Set[str]], now: datetime
) -> list[tuple[Fact, Fact]]:
    """Pair each losing fact with the later kept fact until which it holds; plans are left out."""
    pairs = []
    by_day = sorted(kept, key=lambda fact: fact.valid_from)
    for fact in lost:
        against = [one for one in by_day if {fact.fact_id, one.fact_id} in open_]
        if against[0].is_upcoming(now) and not fact.is_upcoming(now):
            pairs.append((fact, against[0]))
    return pairs
