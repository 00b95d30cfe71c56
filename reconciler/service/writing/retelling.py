"""Retelling: a late note, decided as if a contact's notes had been told in order. Writes nothing.

A late note was said, or holds from, before something that is known. No rule asks what a newer fact
does to an older note, so the notes near it are decided again, in the order in which they hold
(``valid_from``, else ``said_at``; then as they were said). They use the same plan, on a separate
neighbourhood, once without the late note and once with it. The difference is written. If the first
run does not lead to the present facts, a person, an agent's relation, a given end or other rules
have changed them. Then they stay, and the late note is decided like any other note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from reconciler.domain.reconciling.reverting import order_of, touched_by
from reconciler.domain.reconciling.verdicts import is_rival
from reconciler.domain.records.decisions import NO_MODEL, Decision, Undo, Verdict
from reconciler.domain.records.facts import (
    Conflict,
    Conflicts,
    Fact,
    FactsById,
    Neighbour,
    Predecessor,
    Standing,
    Supersession,
    by_fact_id,
)
from reconciler.domain.records.kinds import Action, DecidedBy, FactState
from reconciler.floats import Embed, Floats
from reconciler.frozen import StringSet, field_names, in_order, picked
from reconciler.reading.guard import share_a_word
from reconciler.service.stores.commits import (
    Commit,
    OpenConflicts,
    states_of,
    supersession_of,
    supersessions_of,
)
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.rows import how_superseded, no_vectors
from reconciler.service.writing.ledger import Seen
from reconciler.service.writing.neighbourhoods import Neighbourhood
from reconciler.service.writing.submissions import Submission, resubmitted, settlement_id_of

Other = TypeVar("Other")

Beneath = Callable[[Iterable[Neighbour], Floats], Iterable[Predecessor]]
"""Lists the facts that some facts superseded, each with its cosine to a vector."""

Plan = Callable[[Submission, Neighbourhood, Beneath], Commit | Other]

Pair = StringSet

_NEAR_COSINE_MIN = 0.3
"""The cosine below which no rule compares two texts that share neither a word nor a slot."""

_NOTES_MAX = 200
"""The most notes that are decided again, each in one or two milliseconds. A longer story is not
decided again."""

_HISTORY_NOTES_MAX = 16
"""The same for a note that is history by its own date: with 200, it took half a minute to tell 60
notes of one attribute backwards."""

_BY_RULE = (Action.ADD, Action.UPDATE, Action.SKIP, Action.REVOKE)

_BY_OTHERS = (DecidedBy.ANSWER, DecidedBy.AMENDMENT, DecidedBy.GATE)


@dataclass(slots=True)
class _Story:
    """The facts that result from some notes, told in one order.

    Attributes:
        facts: all facts that were written, live and ended, by id.
        links: the supersessions, by the newer and the older fact.
        conflicts: the open disputes.
        made: the commits, by the ids of their decisions.
        vectors: the vectors of the facts, by id.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    links: dict[tuple[str, str], Supersession] = field(default_factory=dict)
    conflicts: OpenConflicts = field(default_factory=lambda: OpenConflicts(()))
    made: dict[str, Commit] = field(default_factory=dict)
    vectors: dict[str, Floats] = field(default_factory=dict)

    def tell(self, commit: Commit) -> None:
        """Add the result of one more note."""
        for change in states_of(commit):
            if (fact := self.facts.get(change["fact_id"])) is not None:
                state, is_void = FactState(change["state"]), bool(change["is_void"])
                ended = replace(fact, state=state, valid_to=change["valid_to"], is_void=is_void)
                self.facts[fact.fact_id] = ended
        self.facts |= by_fact_id(filter(None, (commit.kept, commit.fact)))
        self.links |= supersessions_of(commit)
        self.conflicts.apply(commit)
        self.made[commit.decision.decision_id] = commit
        if commit.fact:
            self.vectors[commit.fact.fact_id] = commit.vector

    def predecessors(self, heads: Iterable[Neighbour], vector: Floats) -> Iterator[Predecessor]:
        """List the facts that these superseded in this story, like the store."""
        for head in heads:
            ids = {head.fact_id}
            for link in reversed(self.links.values()):
                if link.new_id in ids:
                    old = self.facts[link.old_id]
                    ids.add(old.fact_id)
                    yield Predecessor(
                        **picked(old, ("fact_id", "text", "slot", "is_void")),
                        **how_superseded(asdict(link)),
                        cosine=float(vector @ self.vectors[old.fact_id]),
                        followed_from=self.facts[link.new_id].valid_from,
                        head_id=head.fact_id,
                    )

    @property
    def live(self) -> set[str]:
        """Return the ids of the facts that have not ended."""
        return {fact_id for fact_id, fact in self.facts.items() if not fact.has_ended}

    def with_told(self, commit: Commit) -> _Story:
        """Return a copy with the result of one more note."""
        copy = _Story(dict(self.facts), conflicts=self.conflicts.copy())
        copy.tell(commit)
        return copy

    @property
    def outcome(self) -> tuple[object, ...]:
        """Return the ends of facts with their slots, and the disputes."""
        ends = {
            fact_id: (one.has_ended, one.valid_to, one.slot) for fact_id, one in self.facts.items()
        }
        return ends, self.disputes

    @property
    def disputes(self) -> set[Pair]:
        """Return the pairs of facts in dispute."""
        others = self.conflicts.as_mapping()
        return {frozenset((one, other)) for one in others for other in others[one]}


@in_order
class Retelling:
    """Plans late notes.

    Attributes:
        fact_store: the contact's facts, with those that ended.
        decision_store: the decisions, which have the notes.
        embedding_model: the model of the vectors.
        embed: makes the vectors of notes.
    """

    fact_store: FactStore
    decision_store: DecisionStore
    embedding_model: str
    embed: Embed

    def plan(
        self, submission: Submission, seen: Seen, plain: Commit, plan: Plan[Other]
    ) -> Iterator[Commit | Other]:
        """Plan the commit of a late note; nothing if ``plain`` does the same, or no story is told.

        Args:
            submission: the late note.
            seen: the contact as it is.
            plain: the commit of the note on the present facts.
            plan: plans a note on a neighbourhood. If it returns no commit but a question for a
                judge, this yields the question, and plans the same note again afterwards.
        """
        scope, vector = submission.scope, submission.vector
        assert vector is not None, "it was compared"  # noqa: S101
        known = by_fact_id(fact for fact in self.fact_store.list_facts(scope) if not fact.account)
        vectors = self.fact_store.load_vectors([scope], self.embedding_model)
        note = submission.note
        near = {
            fact_id
            for fact_id, fact in known.items()
            if is_rival(note, fact)
            or share_a_word(note.text, fact.text)
            or (fact_id in vectors and vector @ vectors[fact_id] >= _NEAR_COSINE_MIN)
        }
        told, ids = _concerned(near, self.decision_store.list_made(scope))
        most = _NOTES_MAX if seen.is_late else _HISTORY_NOTES_MAX
        if len(told) > most or all(_told_order(one) <= _told_order(submission) for one in told):
            return
        by_text = {known[one].text: its for one, its in vectors.items() if one in known}
        texts = [one.text for one in told if one.text not in by_text]
        by_text |= zip(texts, self.embed(texts), strict=True)
        notes = [resubmitted(one, by_text[one.text]) for one in told]
        links = {link.ids: link for link in self.fact_store.list_conflict_links(scope)}
        now, then = _Story(), _Story()
        in_order = sorted([*notes, submission], key=_told_order)
        for story, listed in (now, notes), (then, in_order):
            near_by = Neighbourhood(seen.version, (), no_vectors(0, len(vector)))
            for one in listed:
                while not isinstance(made := plan(one, near_by, story.predecessors), Commit):
                    yield made
                is_ahead = made.fact and made.fact.is_told_ahead
                if is_ahead or made.decision.planned_ends or not near_by.apply(made):
                    return  # what a plan ends, its day decides
                story.tell(made)
            if story is now and not _is_as_known(now, known, ids & known.keys(), links):
                return
        if now.with_told(plain).outcome == then.outcome:
            return
        yield _commit(
            then.made[submission.decision_id],
            seen,
            plain,
            now,
            then,
            known,
            links,
            self.fact_store.list_supersessions(scope),
        )


def _told_order(one: Decision | Submission) -> tuple[datetime, datetime]:
    """Return the place of a note in a story: when it holds from, then when it was said."""
    return one.note.holds_from, one.note.said_at


def _concerned(ids: set[str], made: Sequence[Decision]) -> tuple[list[Decision], set[str]]:
    """Find the notes about these facts and those tied to them, as said, and all their ids."""
    retold_ids = {decision.decision_id for decision in made}
    while True:
        chosen = [decision for decision in made if ids & touched_by(decision)]
        grown = ids.union(*map(touched_by, chosen))
        if grown == ids:
            break
        ids = grown
    told = [
        decision
        for decision in chosen
        if decision.action in _BY_RULE and decision.decided_by not in _BY_OTHERS
        if decision.gate is not None and decision.policy.embedding_model != NO_MODEL
        if settlement_id_of(decision.decision_id) not in retold_ids
    ]
    return sorted(told, key=lambda one: (*_told_order(one), order_of(one))), ids


def _is_as_known(
    story: _Story, known: FactsById, ids: Set[str], links: Mapping[Pair, Conflict]
) -> bool:
    """True if a story leads to these facts and their disputes."""
    live = {fact_id for fact_id in ids if not known[fact_id].has_ended}
    open_ = {pair for pair, link in links.items() if link.is_open and pair <= live}
    # An end that was given with a note is not in its decision: no story leads to it.
    return (live, open_) == (story.live, story.disputes) and all(
        fact_id in ids and fact.valid_to == known[fact_id].valid_to
        for fact_id, fact in story.facts.items()
    )


def _commit(
    own: Commit,
    seen: Seen,
    plain: Commit,
    now: _Story,
    then: _Story,
    known: FactsById,
    links: Mapping[Pair, Conflict],
    supersessions: Iterable[Supersession],
) -> Commit:
    """Return the late note's commit with all that it changes."""
    above_it = {(link.new_id, link.old_id): link for link in supersessions}
    links_after, after = dict(then.links), dict(then.facts)
    for decision_id, told in now.made.items():
        if told.fact is not None and (gone_id := told.fact.fact_id) not in after:
            heir_id = then.made[decision_id].decision.fact_id
            # It only repeats another one, or takes it back, when they are told in order.
            gone, is_void = now.facts[gone_id], heir_id is None
            state = FactState.REVOKED if is_void else FactState.SUPERSEDED
            after[gone_id] = replace(gone, state=state, is_void=is_void, valid_to=gone.valid_from)
            if heir_id is not None:
                link = supersession_of(heir_id, gone_id, told)
                links_after[heir_id, gone_id] = replace(link, is_restatement=True)
    moved = {
        fact_id: _moved(known[fact_id], now.facts.get(fact_id, known[fact_id]), fact)
        for fact_id, fact in after.items()
        if fact_id in known
    }
    changed = {fact_id: fact for fact_id, fact in moved.items() if fact != known[fact_id]}
    fact = own.fact and after[own.fact.fact_id]
    if fact is not None and fact.has_ended:
        above = [link for link in links_after.values() if link.old_id == fact.fact_id]
        own = _as_history(own, above, after, plain)
    reopened = _redrawn(now, then, links, own.decision)
    undo = Undo(
        before=tuple(known[fact_id].standing for fact_id in changed),
        linked=tuple(link for pair, link in links_after.items() if pair not in above_it),
        unlinked=tuple(
            link
            for pair, link in above_it.items()
            if link.old_id in after and pair not in links_after
        ),
        conflicts=tuple(links.get(one.ids, one.as_answered) for one in reopened),
    )
    version = seen.version
    also: list[Commit] = []
    for told in then.made.values():
        if told.fact is not None and told.fact.fact_id not in {own.decision.fact_id, *known}:
            also.append(_alone(told, after[told.fact.fact_id], version + len(also) + 1))
    return replace(
        own,
        version=version,
        decision=replace(own.decision, version=version + 1, undo=undo),
        fact=fact,
        kept=own.kept and changed.get(own.kept.fact_id),
        restored=tuple(changed.values()),
        reopened=reopened,
        lapsed={},
        linked_ids=frozenset(),
        known_sessions=seen.sessions,
        also=tuple(also),
    )


def _alone(told: Commit, fact: Fact, version: int) -> Commit:
    """Return the commit of a note that was only counted, but in order is a fact of its own."""
    made = told.decision
    verdict: Verdict[str] = Verdict(
        action=Action.ADD, decided_by=made.decided_by, reason=made.reason
    )
    decision = replace(
        made,
        decision_id=settlement_id_of(made.decision_id),
        note=replace(made.note, idempotency_key=None),
        verdict=verdict,
        undo=None,
        version=version + 1,
    )
    return Commit(
        version=version,
        decision=decision,
        evidence=told.evidence,
        fact=fact,
        vector=told.vector,
        linked_ids=frozenset(),
    )


def _moved(known: Fact, now: Fact, then: Fact) -> Fact:
    """Return a known fact, changed by the differences between the two stories."""
    new, old = (picked(each, field_names(Standing)) for each in (then, now))
    return replace(known, **{name: new[name] for name in new if new[name] != old[name]})


def _as_history(
    own: Commit, above: Sequence[Supersession], facts: FactsById, plain: Commit
) -> Commit:
    """Return the commit of a late note that has ended: below a newer fact, or never true."""
    reason, is_again = own.decision.reason, any(link.is_restatement for link in above)
    for link in above:
        since = facts[link.new_id].valid_from
        reason = f"older than the fact from {since:%Y-%m-%d} (else: {reason})"
    verdict: Verdict[str] = Verdict(
        action=Action.ADD,
        decided_by=DecidedBy.ORDER,
        reason=reason,
        targets=tuple(link.new_id for link in above),
        is_restatement=is_again,
        is_history=bool(above),
    )
    decision = replace(
        own.decision,
        verdict=verdict,
        cosine=plain.decision.cosine,
        compared_with=plain.decision.compared_with,
    )
    return replace(own, decision=decision, restated_id=verdict.above if is_again else None)


def _redrawn(now: _Story, then: _Story, links: Mapping[Pair, Conflict], own: Decision) -> Conflicts:
    """Return the disputes that open or close with the late note, except those it opens itself."""
    own_pairs = {frozenset((str(own.fact_id), other)) for other in own.conflicting_ids}
    opened = (
        Conflict(
            new_id=new_id,
            old_id=old_id,
            decided_by=own.decided_by,
            reason=own.reason,
            at=own.at,
        )
        for new_id, old_id in map(sorted, then.disputes - now.disputes - own_pairs)
    )
    shut = (links[pair].as_answered for pair in now.disputes - then.disputes if pair <= then.live)
    return (*opened, *shut)
