"""Evidence: the turns that a fact rests on, and whether its contact ever said it. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from reconciler.domain.records.evidence import EvidenceTurn, FactEvidence, TakenBy
from reconciler.domain.records.facts import Fact, Supersession
from reconciler.domain.records.kinds import SourceKind
from reconciler.frozen import frozen

_SPEAKERS = {
    SourceKind.USER_EXPLICIT: "contact",
    SourceKind.OPERATOR: "operator",
    SourceKind.APPROVED_DOC: "document",
    SourceKind.EXTRACTOR: "extractor",
    SourceKind.TOOL_OUTPUT: "tool",
    SourceKind.MODEL_GUESS: "agent",
}
"""The speaker of a turn that has no role from a session, by the kind of source."""

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
    spans: tuple[str, ...]
    said_at: datetime
    session_id: str
    channel: str | None
    source_kind: SourceKind
    source_reference: str | None


def restated_beneath(fact_id: str, links: Iterable[Supersession]) -> tuple[str, ...]:
    """The fact and all facts that it restates, nearest first; without those that it replaced."""
    return _all_beneath(fact_id, _restated(links))


def told_beside(
    fact_ids: Iterable[str], links: Iterable[Supersession]
) -> dict[str, tuple[str, ...]]:
    """The facts that have their turns shown beside each fact on a page of many, by its id.

    A fact that another one restates stands alone; every other fact stands with all that it
    restates. So a turn is shown at most twice, however often a thing was said.
    """
    restated = _restated(links)
    is_said_again = {old_id for old_ids in restated.values() for old_id in old_ids}
    return {
        fact_id: (fact_id,) if fact_id in is_said_again else _all_beneath(fact_id, restated)
        for fact_id in fact_ids
    }


def _restated(links: Iterable[Supersession]) -> dict[str, list[str]]:
    """The facts that each fact restates, by its id."""
    restated: dict[str, list[str]] = {}
    for link in links:
        if link.is_restatement:
            restated.setdefault(link.new_id, []).append(link.old_id)
    return restated


def _all_beneath(fact_id: str, restated: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    ids, waiting = {fact_id: None}, deque([fact_id])
    while waiting:
        beneath = [old_id for old_id in restated.get(waiting.popleft(), ()) if old_id not in ids]
        ids |= dict.fromkeys(beneath)
        waiting += beneath
    return tuple(ids)


def evidence_of(
    fact: Fact,
    chain_ids: Sequence[str],
    said: Iterable[Said],
    taken: Mapping[str, Sequence[TakenBy]],
) -> FactEvidence:
    """A fact's evidence.

    Args:
        fact: the fact asked about, as it stands now.
        chain_ids: its id, and those of all that it says again.
        said: the turns that any of these rests on.
        taken: by the id of each turn, the decisions that were made on it.
    """
    by_episode: dict[str, list[Said]] = {}
    for one in said:
        by_episode.setdefault(one.episode_id, []).append(one)
    places = {chain_id: place for place, chain_id in enumerate(chain_ids)}
    turns = [
        _turn(fact.fact_id, places, told, taken.get(episode_id, ()))
        for episode_id, told in by_episode.items()
    ]
    turns.sort(key=lambda turn: (turn.said_at, turn.episode_id))
    return FactEvidence(fact=fact, statement=_statement(fact, turns), turns=tuple(turns))


def mentions(fact: Fact, about: str) -> bool:
    """Whether a fact is about something: an attribute's name, or words that all stand in it."""
    slot, wanted = fact.slot, about.casefold()
    if slot is not None and slot.attribute and slot.attribute.casefold() == wanted:
        return True
    text = f"{fact.text} {slot.value if slot and slot.value else ''}".casefold()
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
    """The people who were asked about it and said yes, a sentence each."""
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
    """The sources that said it instead of the contact, as words."""
    if not turns:
        return "no turn is on record that it rests on"
    kinds = sorted({turn.source_kind for turn in turns}, key=tuple(SourceKind).index)
    words = " and ".join(_WORDS_OF[kind] for kind in kinds)
    return f"read by the extractor from {words}" if _was_read(fact, turns) else f"from {words}"


def _was_read(fact: Fact, turns: Sequence[EvidenceTurn]) -> bool:
    doors = {taker.door for turn in turns for taker in turn.taken_by}
    return fact.trust is SourceKind.EXTRACTOR or _READ_AT in doors
