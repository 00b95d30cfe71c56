"""History: chains of facts, the facts known at a past time, and the facts true at that time.

Pure. Nothing is stored twice for this. The present facts are changed back through the records, the
newest first: each record says which facts it wrote and ended, and how it found the other facts
that it changed. Values that no decision changes, such as the number of recalls, stay as they are
now.

A fact's evidence follows the same chain: the turns that the fact, and all facts that it restates,
rest on, and whether its contact ever said it. Never here: a query, or the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from reconciler.domain.recalling.answering import RecordedAnswer
from reconciler.domain.reconciling.reverting import (
    fact_written_by,
    facts_before,
    links_before,
    order_of,
)
from reconciler.domain.records.candidates import EvidenceTurn, FactEvidence, TakenBy
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import (
    Conflict,
    Conflicts,
    Fact,
    FactEvent,
    FactHistory,
    Supersession,
    by_fact_id,
)
from reconciler.domain.records.kinds import DecidedBy, SourceKind
from reconciler.frozen import Strings, frozen, grouped
from reconciler.reading.kinds import Category


def chains(
    facts: Iterable[Fact],
    supersessions: Iterable[Supersession],
    conflicts: Sequence[Conflict] = (),
    events: Sequence[FactEvent] = (),
) -> list[FactHistory]:
    """One history for each fact that was never superseded; the fact that was said last comes first.

    A fact is superseded by at most one other, and may supersede several: a history is a tree. A
    link to a fact that is not given is left out: that fact cannot be read.
    """
    by_id = by_fact_id(facts)
    beneath = grouped(
        (link.new_id, link) for link in supersessions if by_id.keys() >= {link.new_id, link.old_id}
    )
    superseded_ids = {link.old_id for links in beneath.values() for link in links}
    heads = [fact for fact in by_id.values() if fact.fact_id not in superseded_ids]
    heads.sort(key=lambda fact: fact.fact_id)
    heads.sort(key=lambda fact: (fact.last_confirmed_at, fact.recorded_at), reverse=True)
    histories = [_history(head, by_id, beneath) for head in heads]
    return [
        replace(
            chain,
            conflicts=tuple(each for each in conflicts if chain.facts[0].fact_id in each.pair),
            events=_about(chain, events),
        )
        for chain in histories
    ]


def strand_ids(heads: Iterable[str], supersessions: Iterable[Supersession]) -> set[str]:
    """The ids of all facts in the histories that have these heads."""
    beneath = _beneath(supersessions)
    return {each for head in heads for each in _all_beneath(head, beneath)}


def last_said(fact_id: str, supersessions: Iterable[Supersession]) -> str:
    """Id of the last restatement of a fact."""
    return head_of(fact_id, {link.old_id: link.new_id for link in _restated(supersessions)})


def head_of(fact_id: str, newer: Mapping[str, str]) -> str:
    """Id of the last fact of a chain, in which each fact has a newer one."""
    while fact_id in newer:
        fact_id = newer[fact_id]
    return fact_id


def events_of(decision: Decision) -> list[FactEvent]:
    """Events of a person's decision, one for each fact."""
    before = [fact.fact_id for fact in decision.undo.before] if decision.undo else []
    named = [*decision.superseded_ids, *before, *([decision.fact_id] if decision.fact_id else [])]
    return [
        FactEvent(
            fact_id=fact_id,
            action=decision.action,
            by=decision.proposal.answered_by or decision.proposal.proposed_by or "unknown",
            reason=decision.text,
            at=decision.at,
            decision_id=decision.decision_id,
        )
        for fact_id in dict.fromkeys(named)
    ]


def _about(history: FactHistory, events: Sequence[FactEvent]) -> tuple[FactEvent, ...]:
    fact_ids = {fact.fact_id for fact in history.facts}
    return tuple(event for event in events if event.fact_id in fact_ids)


def _history(
    head: Fact, by_id: dict[str, Fact], beneath: dict[str, list[Supersession]]
) -> FactHistory:
    facts, links = [head], []
    waiting = _newest_last(beneath.get(head.fact_id, []), by_id)
    while waiting:
        link = waiting.pop()
        links.append(link)
        facts.append(by_id[link.old_id])
        waiting += _newest_last(beneath.get(link.old_id, []), by_id)
    return FactHistory(facts=tuple(facts), supersessions=tuple(links))


def _newest_last(links: list[Supersession], by_id: dict[str, Fact]) -> list[Supersession]:
    return sorted(links, key=lambda link: (by_id[link.old_id].valid_from, link.at))


@frozen
class HeldFacts:
    """A contact's facts, and the links between them.

    ``conflicts`` are all links between facts that may contradict each other, even if the facts no
    longer hold.
    """

    facts: tuple[Fact, ...]
    links: tuple[Supersession, ...]
    conflicts: Conflicts = ()


def made_by(at: datetime, made: Iterable[Decision]) -> list[Decision]:
    """Decisions that were made by a time, the oldest first.

    Clocks step back, and hosts' clocks differ. So a decision counts as made no later than the ones
    that followed it.

    Args:
        at: the time, included (UTC).
        made: all decisions about the contact that changed facts, in any order.
    """
    ordered = sorted(made, key=order_of)
    places = [place for place, decision in enumerate(ordered, start=1) if decision.at <= at]
    return ordered[: places[-1]] if places else []


def held_at(at: datetime, known: HeldFacts, made: Sequence[Decision]) -> HeldFacts:
    """Facts of a past time, in their state at that time.

    Args:
        at: the time (UTC).
        known: the present facts, read no later than the decisions.
        made: all decisions about the contact that changed facts, in any order.
    """
    for decision in sorted(made, key=order_of, reverse=True)[: len(made) - len(made_by(at, made))]:
        known = _without(decision, known)
    return replace(known, facts=tuple(fact.as_of(at) for fact in known.facts))


def true_at(at: datetime, facts: Iterable[Fact]) -> list[Fact]:
    """Facts that were true in the world at a time, by their own dates, superseded since or not.

    A fact that a newer one replaced was true until then. A fact that was never true is left out.
    One past its lifetime may have been true; a volatile remark past its lifetime was not.

    Args:
        at: the time (UTC).
        facts: in any state.
    """
    return [fact for fact in facts if _was_true(fact, at)]


def _was_true(fact: Fact, at: datetime) -> bool:
    has_begun = fact.valid_from <= at and not fact.is_void
    is_over = fact.category is Category.VOLATILE and fact.is_expired(at)
    return has_begun and not is_over and (fact.valid_to is None or at < fact.valid_to)


def _without(decision: Decision, known: HeldFacts) -> HeldFacts:
    """Facts before a decision; all later decisions must be undone already."""
    written_id, facts = fact_written_by(decision), by_fact_id(known.facts)
    facts |= by_fact_id(facts_before(decision, facts))
    facts.pop(written_id or "", None)
    links = (e for e in links_before(decision, known.links) if written_id != e.new_id)
    pairs = {e.pair: e for e in (*known.conflicts, *decision.changes.conflicts)}
    return HeldFacts(
        facts=tuple(facts.values()),
        links=tuple(links),
        conflicts=tuple(e for e in pairs.values() if written_id not in e.pair),
    )


def corrects(
    decision: Decision, known: HeldFacts, made: Iterable[Decision]
) -> Callable[[RecordedAnswer], bool]:
    """True for an answer that the decision corrects.

    It does if the fact that the answer used held before the decision, at the time that the answer
    is about, and does not hold then after the decision.

    A fact that was never true, or was undone, held at no time: every answer is corrected. The same
    is true if a person revokes the fact, rejects it in a dispute, or amends it without a date. A
    change in the world, or a dated amendment, ends the fact at a time: answers about an earlier
    time stay right, and answers about that time or a later one are corrected. A restatement
    corrects none, and an answer that used an older wording counts as one that used the last.

    Args:
        decision: the decision.
        known: the present facts, read no later than the decisions.
        made: all decisions about the contact that changed facts, in any order.
    """
    for each in sorted(made, key=order_of, reverse=True):
        if order_of(each) > order_of(decision):
            known = _without(each, known)
    before, action = _without(decision, known), decision.action
    is_persons = decision.decided_by is DecidedBy.ANSWER and not action.is_reconciled
    if is_persons or (decision.decided_by is DecidedBy.AMENDMENT and not decision.note.is_dated):
        right = (fact for fact in known.facts if fact.fact_id not in decision.superseded_ids)
        known = replace(known, facts=tuple(right))
    return lambda answer: _holds_in(before, answer) and not _holds_in(known, answer)


def _holds_in(held: HeldFacts, answer: RecordedAnswer) -> bool:
    """True if the fact that an answer used, in its last wording, holds at the answer's time."""
    fact_id, at = last_said(answer.fact_id, held.links), answer.holds_at
    return any(
        not fact.is_void and (fact.valid_to is None or at < fact.valid_to)
        for fact in held.facts
        if fact.fact_id == fact_id
    )


_SPEAKERS = {
    SourceKind.USER_EXPLICIT: "contact",
    SourceKind.OPERATOR: "operator",
    SourceKind.APPROVED_DOC: "document",
    SourceKind.EXTRACTOR: "extractor",
    SourceKind.TOOL_OUTPUT: "tool",
    SourceKind.MODEL_GUESS: "agent",
}
"""The speaker of a turn without a role in a session, by the kind of source."""

_WORDS_OF = {
    SourceKind.OPERATOR: "an operator's words",
    SourceKind.APPROVED_DOC: "an approved document",
    SourceKind.EXTRACTOR: "a text that the contact did not write",
    SourceKind.TOOL_OUTPUT: "a tool's output",
    SourceKind.MODEL_GUESS: "an agent's own words",
}
_READ_AT = "extractor"
"""The door of notes that are read out of sessions."""


@frozen
class Said:
    """A turn that a fact rests on."""

    fact_id: str
    episode_id: str
    role: str | None
    text: str
    spans: Strings
    said_at: datetime
    session_id: str
    channel: str | None
    source_kind: SourceKind
    source_reference: str | None


def restated_beneath(fact_id: str, links: Iterable[Supersession]) -> Strings:
    """Fact and all facts that it restates, nearest first; without those that it replaced."""
    return _all_beneath(fact_id, _beneath(_restated(links)))


def told_beside(fact_ids: Iterable[str], links: Iterable[Supersession]) -> dict[str, Strings]:
    """The facts with turns to show beside each fact on a page of many, by its id.

    A fact that another one restates is shown alone; every other fact is shown with all facts that
    it restates. So a turn is shown at most twice.
    """
    restated = _beneath(_restated(links))
    is_said_again = {old_id for old_ids in restated.values() for old_id in old_ids}
    return {
        fact_id: (fact_id,) if fact_id in is_said_again else _all_beneath(fact_id, restated)
        for fact_id in fact_ids
    }


def _restated(links: Iterable[Supersession]) -> list[Supersession]:
    return [link for link in links if link.is_restatement]


def _beneath(links: Iterable[Supersession]) -> dict[str, list[str]]:
    """Facts that each fact superseded directly, by its id."""
    return grouped((link.new_id, link.old_id) for link in links)


def _all_beneath(fact_id: str, beneath: Mapping[str, Sequence[str]]) -> Strings:
    ids = {fact_id: None}
    waiting = [fact_id]
    for each in waiting:  # it grows meanwhile
        more = [old_id for old_id in beneath.get(each, ()) if old_id not in ids]
        ids |= dict.fromkeys(more)
        waiting += more
    return tuple(ids)


def evidence_of(
    fact: Fact,
    chain_ids: Sequence[str],
    said: Iterable[Said],
    taken: Mapping[str, Sequence[TakenBy]],
) -> FactEvidence:
    """A fact's evidence.

    Args:
        fact: the fact asked about, in its present state.
        chain_ids: its id, and the ids of all facts that it restates.
        said: the turns of all these facts.
        taken: the decisions about each turn, by the turn's id.
    """
    by_episode = grouped((one.episode_id, one) for one in said)
    places = {chain_id: place for place, chain_id in enumerate(chain_ids)}
    turns = [
        _turn(fact.fact_id, places, told, taken.get(episode_id, ()))
        for episode_id, told in by_episode.items()
    ]
    turns.sort(key=lambda turn: (turn.said_at, turn.episode_id))
    return FactEvidence(fact=fact, statement=_statement(fact, turns), turns=tuple(turns))


def mentions(fact: Fact, about: str) -> bool:
    """True if a fact has this attribute, or contains all of these words."""
    slot, wanted = fact.slot, about.casefold()
    if slot is not None and slot.attribute and slot.attribute.casefold() == wanted:
        return True
    text = f"{fact.text} {fact.slot_value}".casefold()
    return all(word in text for word in wanted.split())


def _turn(
    fact_id: str, places: Mapping[str, int], said: Sequence[Said], taken: Sequence[TakenBy]
) -> EvidenceTurn:
    own = sorted((taker for taker in taken if taker.fact_id in places), key=lambda taker: taker.at)
    # Where no decision is on record, the deepest fact that rests on it had it first.
    resting = max((one.fact_id for one in said), key=places.__getitem__)
    told_for, told = (own[0].fact_id or resting) if own else resting, said[0]
    return EvidenceTurn(
        episode_id=told.episode_id,
        fact_id=told_for,
        is_beneath=told_for != fact_id,
        speaker=told.role or _SPEAKERS[told.source_kind],
        text=told.text,
        spans=told.spans,
        said_at=told.said_at,
        session_id=told.session_id,
        channel=told.channel,
        source_kind=told.source_kind,
        source_reference=told.source_reference,
        is_answer=bool(own) and all(taker.answered_by for taker in taken),
        taken_by=tuple(own),
    )


def _statement(fact: Fact, turns: Sequence[EvidenceTurn]) -> str:
    instead = [turn for turn in turns if not turn.is_answer]
    own = [
        turn
        for turn in turns
        if turn.is_contacts or (not instead and turn.source_kind is SourceKind.USER_EXPLICIT)
    ]
    if own:  # an answer in other words stands alone, as what the contact said
        how = "Read by the extractor from the contact's words"
        begins = how if fact.word is SourceKind.EXTRACTOR else "The contact said so"
        return f"{begins}{_times(own)}."
    return " ".join(
        [f"No words of the contact: {_instead(fact, instead or turns)}.", *_answers(turns)]
    )


def _answers(turns: Iterable[EvidenceTurn]) -> Iterator[str]:
    """A sentence for each person who was asked about the fact and said yes."""
    for turn in turns:
        if turn.is_answer and turn.source_kind is SourceKind.USER_EXPLICIT:
            yield f"Asked about it, the contact said yes{_times([turn])}."
        elif turn.is_answer:
            yield f"An operator ({turn.taken_by[0].answered_by}) said yes{_times([turn])}."


def _times(own: Sequence[EvidenceTurn]) -> str:
    """The count, and the last time and place, as words."""
    times = f" {len(own)} times, last" if len(own) > 1 else ""
    last = own[-1]
    channel = f", {last.channel}" if last.channel else ""
    at = f"{last.said_at:%Y-%m-%d} at {last.said_at:%H:%M} UTC"
    return f"{times} on {at} (session {last.session_id}{channel})"


def _instead(fact: Fact, turns: Sequence[EvidenceTurn]) -> str:
    """The sources that said the fact instead of the contact, in words."""
    if not turns:
        return "no turn is on record that it rests on"
    kinds = sorted({turn.source_kind for turn in turns}, key=tuple(SourceKind).index)
    words = " and ".join(_WORDS_OF[kind] for kind in kinds)
    doors = {taker.door for turn in turns for taker in turn.taken_by}
    was_read = fact.trust is SourceKind.EXTRACTOR or _READ_AT in doors
    return f"read by the extractor from {words}" if was_read else f"from {words}"
