"""Erasures: mark the target, remove it, search for remains, and give a receipt.

The mark comes first, in one transaction: from then on no new fact rests on the target. The rest may
be interrupted anywhere, and is repeated from the mark. ``reconciler.domain.erasing`` plans what an
erasure removes. No agent can call this.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from reconciler.domain.erasing.planning import (
    ContactRecords,
    plan_of,
    said_by,
    without_argument,
    without_telling,
    without_words,
)
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.erasures import (
    ERASED,
    Erasure,
    ErasureKind,
    ErasurePlan,
    ErasureReceipt,
    ErasureState,
    ErasureTarget,
    check_person,
)
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Clock, Progress
from reconciler.domain.records.notes import Scope, check_text, is_of_the_day
from reconciler.domain.records.policies import RetryPolicy
from reconciler.errors import GraphConflictError, InvalidSessionError, UnknownContactError
from reconciler.frozen import frozen
from reconciler.service.checking.damage import Damage, DamagedNode
from reconciler.service.checking.lines import KEY_OF
from reconciler.service.persons.deciding import PersonsDecisions
from reconciler.service.stores.erasure_store import ErasureStore, Going, Marks, Words
from reconciler.service.stores.fact_store import unknown_fact
from reconciler.service.stores.patient_graph import call_with_retries
from reconciler.service.stores.rows import EVERYTHING, of_its_own
from reconciler.service.writing.forgotten import keys_of
from reconciler.service.writing.ledger import Ledger
from reconciler.service.writing.submissions import IdCheck

_Read = Mapping[str, Sequence[Any]]
"""A contact's facts and decisions by label, if all of them can be read; else empty."""

_REMOVALS_MAX = 5
_QUOTING = ("Decision", "Episode")
_READ = tuple(label for label in KEY_OF if label != "Contact")
_NODES = ("Fact", "Decision", "Episode", "Session", "Job", "Task")


@frozen
class Erasures:
    """Erases for good the data that a contact or an operator asks to forget.

    Args:
        erasure_store: the store to erase from.
        damage: finds unreadable records, and removes their words.
        ledger: gives the turns that make this process's writers wait while a contact is marked.
        ids: checks the names of the people who ask.
        digest: a keyed hash of a text.
        persons: decides again about notes that only counted an erased fact.
        retry_policy: how often to mark again, if other writers keep coming first.
        clock: the time now, UTC-aware.
    """

    erasure_store: ErasureStore
    damage: Damage
    ledger: Ledger
    ids: IdCheck
    digest: Callable[[str], str]
    persons: PersonsDecisions
    retry_policy: RetryPolicy
    clock: Clock

    def forget(
        self,
        scope: Scope,
        target: ErasureTarget,
        *,
        by: str,
        reason: str,
        dry_run: bool,
        on_progress: Progress,
    ) -> Erasure:
        """Erase the target and return the finished erasure; see ``ContactMemory.forget``."""
        check_person(by, scope)
        check_text("reason", reason)
        self.ids.check([("by", by)])
        asked = Erasure(
            erasure_id="" if dry_run else str(uuid.uuid4()),
            scope=scope,
            target=target,
            kind=target.kind,
            state=ErasureState.PENDING,
            by=by,
            reason=reason,
            started_at=self.clock(),
        )
        if dry_run:
            read, damaged = self._read(asked, on_progress)
            found = self._with_remains(self._known(asked, read), damaged, asked.scope)
            _check_known(asked, found, damaged)
            drafted = self._drafted(asked, found)
            receipt = ErasureReceipt(
                removed=_counted(self._going(drafted, found)),
                tombstones=len(self._tombstones(found, drafted)),
                is_dry_run=True,
            )
            return replace(drafted, receipt=receipt)
        unfinished = self.erasure_store.list_erasures([scope], is_unfinished=True)
        finished = [(erasure, self.finish(erasure, on_progress)) for erasure in unfinished]
        for begun, done in finished:
            if _is_same(begun, target):
                return done
        self.erasure_store.check_purge()
        erasure, known = self._marked(asked, on_progress)
        return self.finish(erasure, on_progress, known)

    def finish(
        self,
        erasure: Erasure,
        on_progress: Progress = lambda _: None,
        known: ContactRecords | None = None,
    ) -> Erasure:
        """Finish an erasure from its stored state; harmless if it is finished.

        Args:
            erasure: the erasure in its stored state.
            on_progress: called with how many more records were read or emptied.
            known: the contact's records as of the mark; None to read them.
        """
        if erasure.state is ErasureState.PENDING:
            erasure = self._removed(erasure, on_progress, known)
        if erasure.state is ErasureState.REMOVED:
            receipt = replace(erasure.receipt, **asdict(self.erasure_store.purge(erasure)))
            if receipt.texts_in_files:
                return self.erasure_store.move(erasure, ErasureState.REMOVED, receipt, None)
            erasure = self.erasure_store.move(erasure, ErasureState.DONE, receipt, self.clock())
        return erasure

    def _known(self, erasure: Erasure, read: _Read) -> ContactRecords:
        """Return the known records for a plan, without comparisons if all records go."""
        decisions = read.get("Decision")
        if erasure.kind is not ErasureKind.CONTACT:
            store = self.erasure_store.decision_store
            decisions = store.list_decisions([erasure.scope], EVERYTHING)
        return self.erasure_store.load_known(erasure.scope, read.get("Fact"), decisions)

    def _with_remains(
        self, known: ContactRecords, damaged: Iterable[DamagedNode], scope: Scope
    ) -> ContactRecords:
        """Return the known records without the words of the damaged ones; nothing is written."""
        remains: dict[str, list[Any]] = {"Fact": [], "Decision": []}
        for node in damaged:
            if node.label in remains:
                remains[node.label].append(self.damage.read_remains(node, scope, self.clock()))
        return replace(
            known,
            facts=[*known.facts, *remains["Fact"]],
            decisions=[*known.decisions, *remains["Decision"]],
        )

    def _drafted(self, asked: Erasure, known: ContactRecords) -> Erasure:
        """Draft an erasure with its plan; its reason reveals nothing of the erased data."""
        now = self.clock()
        plan = plan_of(asked.target, known, now)
        facts, going = _going_of(known, plan, asked.kind)
        own = [decision.note for decision in going]
        texts = {item.text for item in (*facts, *own)}
        texts |= {item.slot.value for item in (*facts, *own) if item.slot and item.slot.value}
        names = {decision.note.contact_name or "" for decision in known.decisions}
        reason = without_telling(asked.reason, texts - {ERASED}, names)
        return replace(asked, reason=reason, started_at=now, plan=plan)

    def _marked(
        self, asked: Erasure, on_progress: Progress
    ) -> tuple[Erasure, ContactRecords | None]:
        """Mark an erasure; its plan is made on the version that the mark moves.

        Also return the records, without comparisons, if they were complete when the mark was made;
        None if they must be read again.
        """
        scope = asked.scope

        def once(number: int) -> tuple[Erasure, ContactRecords | None]:
            if number > 1:  # the answer to an earlier try may have been lost, and not its mark
                begun = self.erasure_store.list_erasures([scope], is_unfinished=True)
                if own := [each for each in begun if each.erasure_id == asked.erasure_id]:
                    return own[0], None
            version = of_its_own(scope, self.erasure_store.fact_store.standing(scope)).version
            read, damaged = self._read(asked, on_progress)
            known = self._known(asked, read)
            _check_known(asked, known, damaged)  # before anything is emptied
            if damaged:
                self.erasure_store.expect_mark(scope, _words_of(damaged))
                self.damage.empty(scope, damaged, self.clock())
                known = self._known(asked, {})
            drafted = self._drafted(asked, known)
            # The mark puts what is left of an episode in its place: its words go with it.
            emptied = drafted.plan.episodes if drafted.plan else {}
            said = (episode.text for episode in known.judged if episode.episode_id in emptied)
            self.erasure_store.expect_mark(scope, said)
            if not self.erasure_store.mark(drafted, version, self._marks(known, drafted)):
                raise GraphConflictError(
                    f"contact {scope.contact_id} changed after version {version}; try again"
                )
            return drafted, replace(known, decisions=read["Decision"]) if read else None

        with self.ledger.turn_at(scope) as take_turn:
            return call_with_retries(
                self.retry_policy, once, before_each=take_turn, retried=GraphConflictError
            )

    def _read(self, erasure: Erasure, on_progress: Progress) -> tuple[_Read, list[DamagedNode]]:
        """Read a contact's records by label, and the damaged records that go with the target.

        If the whole contact is erased, all damaged records go. Otherwise the damaged target fact
        goes, and every damaged decision and episode, because no plan can know their words. If any
        record is damaged, no others are returned: the store may still read a record with damage in
        a part that no plan needs.
        """
        is_whole = erasure.kind is ErasureKind.CONTACT
        labels = _READ if is_whole else ("Fact", *_QUOTING)
        found = self.damage.read(erasure.scope, labels, on_progress)
        damaged = [
            node
            for node in found.damaged
            if is_whole or node.label in _QUOTING or node.node_id == erasure.target.fact_id
        ]
        return {} if found.damaged else found.whole, damaged

    def _marks(self, known: ContactRecords, drafted: Erasure) -> Marks:
        keys = self._tombstones(known, drafted)
        if drafted.kind is ErasureKind.CONTACT:
            rows = self.erasure_store.sessions(drafted.scope)
            ended = tuple(row["session_key"] for row in rows if row["turns"])
            return Marks(tombstones=keys, ended_keys=ended)
        plan = drafted.plan or ErasurePlan()
        if drafted.kind is ErasureKind.SESSION:
            is_shared = is_of_the_day(str(drafted.target.session_id))
            return Marks(tombstones=keys, ended_keys=() if is_shared else plan.session_keys)
        return Marks(tombstones=keys, rewound_keys=plan.session_keys, episodes=plan.episodes)

    def _tombstones(self, known: ContactRecords, drafted: Erasure) -> dict[str, str]:
        """Make the tombstones of the erased words; also of a revoked fact, because its words go.

        Each has the key of its contact: one that was merged into another has its own. What another
        session said as well has none.
        """
        plan = drafted.plan or ErasurePlan()
        facts, _ = _going_of(known, plan, drafted.kind)
        kept = [each.note for each in known.decisions if each.decision_id in plan.retold_ids]
        return {
            key: one.contact_key
            for one in self.erasure_store.fact_store.family(drafted.scope)
            for key in keys_of(one, facts, self.digest) - keys_of(one, kept, self.digest)
        }

    def _removed(
        self, erasure: Erasure, on_progress: Progress, known: ContactRecords | None
    ) -> Erasure:
        """Remove the words of an erasure from the graph, and search for them again.

        Found words are removed again. The erasure is finished only when no words are left.

        Args:
            erasure: as it was marked.
            on_progress: called with how many more records were read or emptied.
            known: the contact's records as of the mark; None to read them.
        """
        scope = erasure.scope
        with self.ledger.turn_at(scope) as take_turn:
            take_turn()
            self.persons.reconciler.forget_answers()
            current = self.erasure_store.find(erasure)
            if current.state is not ErasureState.PENDING:  # another thread finished it meanwhile
                return current
            if known is None:
                read, damaged = self._read(erasure, on_progress)
                self.erasure_store.expect_purge(erasure, _words_of(damaged))
                self.damage.empty(scope, damaged, self.clock())
                known = self.erasure_store.load_known(scope, read.get("Fact"), read.get("Decision"))
            going = self._going(erasure, known)
            # Again: while it is pending nothing new is written, so all that was seen is to go.
            current = self.erasure_store.find(erasure)
            if current.state is not ErasureState.PENDING:
                return current
            self.erasure_store.expect_purge(erasure, self._texts(erasure, known, going))
            looked = self._looked_for(erasure, known, going, on_progress)
        receipt = replace(
            looked,
            removed=_counted(going),
            tombstones=len(self.erasure_store.list_tombstones(scope)),
        )
        if receipt.remaining_ids:
            return replace(erasure, receipt=receipt)
        for decision_id in going.plan.retold_ids:
            self.persons.retell(scope, decision_id)
        return self.erasure_store.move(erasure, ErasureState.REMOVED, receipt, None)

    def _looked_for(
        self, erasure: Erasure, known: ContactRecords, going: Going, on_progress: Progress
    ) -> ErasureReceipt:
        """Remove the words, and search again as long as words are still found.

        Another process may have written between reading and removing.
        """
        words = said_by(*_going_of(known, erasure.plan or ErasurePlan(), erasure.kind))
        for _ in range(_REMOVALS_MAX):
            self._remove(erasure, known, going, on_progress)
            known = self.erasure_store.load_known(erasure.scope)
            receipt = self._verified(erasure, known, going, words)
            if not receipt.remaining_ids:
                break
            going = self._going(erasure, known)
        return receipt

    def _remove(
        self, erasure: Erasure, known: ContactRecords, going: Going, on_progress: Progress
    ) -> None:
        """Remove decisions first and facts last; repeating a step changes nothing."""
        store, plan, at = self.erasure_store, going.plan, erasure.started_at
        own, quoting = frozenset(plan.decision_ids), frozenset(plan.quoting_ids)
        gone = frozenset(plan.fact_ids)
        emptied = (without_words(e, at) for e in known.decisions if e.decision_id in own)
        argued = (without_argument(e, gone) for e in known.decisions if e.decision_id in quoting)
        scope, is_whole = erasure.scope, erasure.kind is ErasureKind.CONTACT
        slots = (fact.slot for fact in known.facts if fact.fact_id in gone and fact.slot)
        if is_whole or any(slot.attribute == "name" for slot in slots):
            store.remove_contact_words(scope, is_whole=is_whole)
        left = chain(emptied, argued)
        for count in store.remove(left, going, at, is_ended=erasure.kind in _ENDING):
            on_progress(count)
        store.remove_spans(scope, None if is_whole else list(plan.episodes))
        store.remove_reasons(scope, None if is_whole else plan.fact_ids)

    def _going(self, erasure: Erasure, known: ContactRecords) -> Going:
        """Return the ids that go: the planned ones, or all."""
        plan, scope, store = erasure.plan or ErasurePlan(), erasure.scope, self.erasure_store
        sessions: Sequence[str] | None = plan.session_keys
        if erasure.kind is ErasureKind.CONTACT:
            sessions = None
            plan = ErasurePlan(
                fact_ids=tuple(fact.fact_id for fact in known.facts),
                decision_ids=tuple(decision.decision_id for decision in known.decisions),
                episodes=dict.fromkeys(store.ids_of(scope, "Episode", None), ERASED),
                session_keys=tuple(store.ids_of(scope, "Session", None)),
            )
        elif erasure.kind is ErasureKind.SESSION:
            turns = store.ids_of(scope, "Episode", plan.session_keys)
            plan = replace(plan, episodes=dict.fromkeys([*plan.episodes, *turns], ERASED))
        return Going(
            plan=plan,
            job_ids=store.ids_of(scope, "Job", sessions),
            task_keys=store.ids_of(scope, "Task", sessions) if erasure.kind in _ENDING else [],
        )

    def _texts(self, erasure: Erasure, known: ContactRecords, going: Going) -> Iterator[str]:
        """Return the texts that lose words; only an engine that searches for them reads them."""
        plan = going.plan
        keys = {*plan.fact_ids, *plan.decision_ids, *plan.quoting_ids, *plan.episodes}
        keys |= {*plan.session_keys, *going.job_ids, *going.task_keys}
        is_whole = erasure.kind is ErasureKind.CONTACT
        yield from (erasure.target.attribute or "", erasure.target.subject or "")
        for words in self.erasure_store.words(erasure.scope, known):
            if is_whole or not keys.isdisjoint(words.key.split()):
                yield words.text

    def _verified(
        self, erasure: Erasure, known: ContactRecords, going: Going, words: set[str]
    ) -> ErasureReceipt:
        """Read everything in scope again, and return the remaining words."""
        read, plan = self.erasure_store.words(erasure.scope, known), going.plan
        gone = {*plan.fact_ids, *plan.decision_ids, *plan.session_keys, *going.task_keys}
        gone |= {key for key, text in plan.episodes.items() if text == ERASED}
        is_whole = erasure.kind is ErasureKind.CONTACT
        left: list[Words] = []
        others: list[Words] = []
        for text in read:
            if text.text:
                (left if is_whole or text.key in gone else others).append(text)
        beside = [text for text in others if _holds(text, words)]
        return ErasureReceipt(
            verified=len(read),
            remaining_ids=tuple(f"{text.label} {text.key}" for text in left),
            elsewhere_ids=tuple(f"{text.label} {text.key}" for text in beside),
        )


_ENDING = (ErasureKind.CONTACT, ErasureKind.SESSION)
"""Erasures that end jobs and tasks, instead of only removing words from them."""


def _counted(going: Going) -> dict[str, int]:
    """Count the nodes that lose words, by label."""
    plan = going.plan
    decisions = {*plan.decision_ids, *plan.quoting_ids}
    counts = (plan.fact_ids, decisions, plan.episodes, plan.session_keys)
    counted = map(len, (*counts, going.job_ids, going.task_keys))
    return dict(zip(_NODES, counted, strict=True))


def _is_same(begun: Erasure, target: ErasureTarget) -> bool:
    """True if an interrupted erasure is the requested one; its words may already be gone."""
    if begun.kind is not target.kind:
        return False
    is_told_by_id = begun.kind is not ErasureKind.ATTRIBUTE
    return begun.target == target or (is_told_by_id and begun.target == target.kept)


def _words_of(damaged: Iterable[DamagedNode]) -> Iterator[str]:
    return (word for node in damaged for word in node.words)


def _check_known(erasure: Erasure, known: ContactRecords, damaged: Iterable[DamagedNode]) -> None:
    """Check that the contact has the target.

    Args:
        erasure: the requested erasure.
        known: the contact's readable records.
        damaged: the contact's unreadable records.

    Raises:
        UnknownContactError: nothing is known of the contact.
        UnknownFactError, InvalidSessionError: the contact has no such fact or session; another
            contact's gives the same error.
    """
    scope, target = erasure.scope, erasure.target
    unread_ids = {node.node_id for node in damaged}
    if not (known.session_keys or known.decisions or unread_ids):
        raise UnknownContactError(
            f"nothing is known about contact {scope.contact_id} of agent {scope.agent_id}; "
            "`reconciler contacts` lists the contacts of an agent"
        )
    fact_ids = {fact.fact_id for fact in known.facts}.union(unread_ids)
    if target.fact_id is not None and target.fact_id not in fact_ids:
        raise unknown_fact(scope, target.fact_id)
    if target.session_id is not None and target.session_id not in known.session_keys.values():
        raise InvalidSessionError(f"contact {scope.contact_id} has no session {target.session_id}")


def _holds(words: Words, looked_for: set[str]) -> bool:
    text = words.text.casefold()
    return any(word in text for word in looked_for)


def _going_of(
    known: ContactRecords, plan: ErasurePlan, kind: ErasureKind
) -> tuple[list[Fact], list[Decision]]:
    """Return the facts and the decisions that lose all words."""
    is_whole = kind is ErasureKind.CONTACT
    fact_ids, decision_ids = {*plan.fact_ids}, {*plan.decision_ids}
    return (
        [fact for fact in known.facts if is_whole or fact.fact_id in fact_ids],
        [
            decision
            for decision in known.decisions
            if is_whole or decision.decision_id in decision_ids
        ],
    )
