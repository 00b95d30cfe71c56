"""Extraction: an extractor's findings in a window of a session, and their way to candidates. Pure.

A session is divided into windows, which are pieces that a model can read. An extractor proposes
claims in each. This module does not decide what is remembered: it merges claims, drops those that
rest on no new turn, keeps at most five of each turn besides requests, and makes candidates.

A caller may hand over a session whole and longer each time, its last turns (a window that slides),
or only the new turns. So the place of these turns in a session that is already kept is found here.
Undated turns look the same in all three, so their order decides. Never here: a call of a model.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime, time, timedelta

from reconciler.domain.records.candidates import Candidate, Evidence, Role
from reconciler.domain.records.decisions import Usage
from reconciler.domain.records.facts import RELATED_MAX, Fact, Facts, Relations
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.sessions import Episode, Episodes
from reconciler.frozen import Json, Strings, StringSet, Values, frozen, grouped, picked, present
from reconciler.reading.canonical import canonical_text
from reconciler.reading.kinds import Category, Speech

CANDIDATES_OF_A_TURN_MAX = 5
"""The most candidates of one turn, besides those that it asks to remember, so that one turn cannot
fill a memory."""

SAID_BEFORE_MAX = 12
"""The number of the contact's turns up to the cited one that show the meaning of "she"."""

CONFIDENCE_MAX_UNLESS_LITERAL = 0.3
"""The highest confidence of make-believe, what-ifs and sarcasm, even if an extractor is surer."""


@frozen
class Citation:
    """The exact words of one episode that support a claim.

    Attributes:
        episode: the episode's number in its window, from 1; any other number cites nothing.
        span: words that must occur in the episode exactly.
    """

    episode: int
    span: str


@frozen
class Extracted:
    """One finding of an extractor; not checked against the evidence.

    Attributes:
        text: one fact in a whole sentence, 1 to 2,000 characters.
        category: preference, fact, decision or procedure.
        importance: how much it matters in the long run, 0 to 1.
        confidence: how sure the words are, 0 to 1; at most 0.3 unless they are meant literally.
        citations: the words that support it; one for each mention.
        topic: a broad field of life, or None.
        subject, attribute, value: the slot that it fills; None for parts that are not known.
        single_valued: whether an attribute that is not configured holds one value.
        speech: the meaning of the cited words, literal or not.
        valid_from, valid_to: the first and the last day that the words name; None without one.
        is_ended: whether it has ended without a replacement.
        is_temporary: whether it soon ends, on a day that may be unknown.
        replaces, repeats, ends: facts by their numbers in ``Window.known``: the facts that it
            replaces, the fact that it repeats, and the facts that have ended without a successor. A
            number that was not shown is ignored.
        is_introduced: whether its turn marks the cited words as another person's.
    """

    text: str
    category: Category
    importance: float
    confidence: float
    citations: tuple[Citation, ...]
    topic: str | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    single_valued: bool | None = None
    speech: Speech = Speech.LITERAL
    valid_from: date | None = None
    valid_to: date | None = None
    is_ended: bool = False
    is_temporary: bool = False
    replaces: tuple[int, ...] = ()
    repeats: int | None = None
    ends: tuple[int, ...] = ()
    is_introduced: bool = False

    def __post_init__(self) -> None:
        if self.speech is not Speech.LITERAL:
            capped = min(self.confidence, CONFIDENCE_MAX_UNLESS_LITERAL)
            object.__setattr__(self, "confidence", capped)
        is_backwards = self.valid_from and self.valid_to and self.valid_to < self.valid_from
        if is_backwards or self.valid_to == date.max:  # which a model writes for "for good"
            object.__setattr__(self, "valid_to", None)

    @property
    def begins_at(self) -> datetime | None:
        """Return the midnight that begins its first day (UTC); None without one."""
        return None if self.valid_from is None else _midnight(self.valid_from)

    @property
    def ends_at(self) -> datetime | None:
        """Return the midnight that ends its last day (UTC); None without one."""
        return None if self.valid_to is None else _midnight(self.valid_to) + timedelta(days=1)


@frozen
class Window:
    """A piece of a session that an extractor reads at once.

    Attributes:
        episodes: the episodes in their order; citations number them from 1.
        new_ids: the episodes that were never read before. A finding without a new episode is old,
            and is dropped.
        known: live facts of the same contact that it may be about, the nearest first; candidates
            name them by their numbers, from 1.
    """

    episodes: tuple[Episode, ...]
    new_ids: StringSet
    known: tuple[Fact, ...] = ()


@frozen
class Extraction:
    """The candidates that an extractor read from a window; an empty answer is a good answer, too.

    Attributes:
        candidates: all proposed candidates; the limit for each turn is applied later.
        summary: the window in a sentence or two; may be empty.
        left_out: the number of findings beyond the extractor's own limit, as far as it knows.
        usage: the cost of its calls, or None.
    """

    candidates: tuple[Extracted, ...] = ()
    summary: str = ""
    left_out: int = 0
    usage: Usage | None = None


@frozen
class Claim:
    """An extracted claim with the episodes that it rests on, counted over all windows.

    Attributes:
        extracted: the claim, with the highest numbers of all windows.
        spans: the cited words by episode id, without those of unknown episodes.
        is_cited: whether every citation named an episode that was shown.
        is_cleaned: whether the gate has cleaned it, so that its text may have become longer.
        relations: its relations to facts that were shown, by their ids; None without any.
    """

    extracted: Extracted
    spans: Mapping[str, Strings]
    is_cited: bool = True
    is_cleaned: bool = False
    relations: Relations | None = None

    def to_dict(self) -> Json:
        """Return plain values for the job's record."""
        extracted = self.extracted
        return {
            **picked(extracted, _PLAIN),
            "valid_from": str(extracted.valid_from or ""),
            "valid_to": str(extracted.valid_to or ""),
            "category": str(extracted.category),
            "speech": str(extracted.speech),
            "spans": {key: list(value) for key, value in self.spans.items()},
            "is_cited": self.is_cited,
            "is_cleaned": self.is_cleaned,
            "relations": asdict(self.relations) if self.relations else None,
        }

    def cleaned_as(self, candidate: Candidate) -> Claim:
        """Return the claim in the words of its candidate, which the gate has cleaned."""
        spans = {evidence.episode_id: evidence.spans for evidence in candidate.evidence}
        return replace(
            self,
            extracted=replace(self.extracted, text=candidate.claim),
            spans={key: spans.get(key, given) for key, given in self.spans.items()},
            is_cleaned=True,
        )

    def mapped(self, change: Callable[[str], str]) -> Claim:
        """Return the claim with all of its words changed."""
        before = self.extracted
        said = present(picked(before, _WORDS))
        changed: Json = {name: change(words) for name, words in said.items()}
        return replace(
            self,
            extracted=replace(before, **changed),
            spans={key: tuple(map(change, spans)) for key, spans in self.spans.items()},
        )

    @classmethod
    def from_dict(cls, values: Values) -> Claim:
        """Make the claim that ``to_dict`` wrote."""
        relations = values.get("relations")
        return cls(
            extracted=Extracted(
                **{name: values[name] for name in _PLAIN if name in values},
                valid_from=_day_of(values.get("valid_from")),
                valid_to=_day_of(values.get("valid_to")),
                category=Category(values["category"]),
                speech=Speech(values["speech"]),
                citations=(),
            ),
            spans={key: tuple(value) for key, value in values["spans"].items()},
            is_cited=values["is_cited"],
            is_cleaned=values.get("is_cleaned", True),  # older jobs kept what was cleaned, no more
            relations=Relations(**relations) if relations else None,
        )


_WORDS = ("text", "topic", "subject", "attribute", "value")
_FLAGS = ("single_valued", "is_introduced", "is_ended", "is_temporary")
_PLAIN = (*_WORDS, "importance", "confidence", *_FLAGS)


def _day_of(kept: str | None) -> date | None:
    return date.fromisoformat(kept) if kept else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


class SessionEpisodes:
    """A session's episodes by id, and the contact's own ones in order; made once a session.

    Args:
        scope: the contact.
        session_id: the session.
        episodes: the episodes in their order.

    Attributes:
        scope, session_id: as given.
        by_id: the episodes, in their order.
    """

    def __init__(self, scope: Scope, session_id: str, episodes: Iterable[Episode]) -> None:
        self.scope, self.session_id = scope, session_id
        self.by_id = {episode.episode_id: episode for episode in episodes}
        own = (each for each in self.by_id.values() if each.role is Role.CONTACT)
        self._own = sorted(own, key=_position)

    def said_before(self, cited: Iterable[Episode]) -> Strings:
        """Return the contact's last turns up to the cited episodes."""
        last = max(map(_position, cited), default=-1)
        end = bisect_right(self._own, last, key=_position)
        return tuple(each.text for each in self._own[max(end - SAID_BEFORE_MAX, 0) : end])


def _position(episode: Episode) -> int:
    return episode.position


def merged(read: Iterable[tuple[Window, Extraction]]) -> list[Claim]:
    """Merge the claims of all windows, each once, with all episodes that support it.

    Two claims are the same if their words are the same, or their slot and value. A claim that rests
    on no new episode is left out.
    """
    proposals_by_key: dict[Strings, Claim] = {}
    for window, extraction in read:
        for extracted in extraction.candidates:
            proposal = _proposal(window, extracted)
            if proposal.is_cited and proposal.spans and not window.new_ids & proposal.spans.keys():
                continue
            key = _key(extracted)
            proposals_by_key[key] = (
                _together(proposals_by_key[key], proposal) if key in proposals_by_key else proposal
            )
    return list(proposals_by_key.values())


def capped(proposals: Iterable[Claim], episodes: Episodes) -> tuple[list[Claim], int]:
    """Keep at most five claims of each turn, and return the number that were left out.

    A claim belongs to the first turn that it cites. The most important stay, then the surest, then
    the earliest. A claim that the contact asked to remember always stays.

    Args:
        proposals: the claims of one session, each once.
        episodes: the session's episodes, in their order.
    """
    places = {episode.episode_id: place for place, episode in enumerate(episodes)}
    turns = grouped(
        (min((places[key] for key in each.spans if key in places), default=None), each)
        for each in proposals
    )
    by_id = {episode.episode_id: episode for episode in episodes}
    kept = [proposal for said in turns.values() for proposal in _weightiest(said, by_id)]
    return kept, sum(map(len, turns.values())) - len(kept)


def is_request(proposal: Claim, episodes: Mapping[str, Episode]) -> bool:
    """True if the contact asked in the cited words, seriously, to remember the claim.

    Args:
        proposal: a claim.
        episodes: the session's episodes, by id.
    """
    # Who only lists jobs reads no lexicon.
    from reconciler.reading.cues.classification import is_asked_to_keep

    cited = ((episodes[key], spans) for key, spans in proposal.spans.items() if key in episodes)
    return proposal.extracted.speech is Speech.LITERAL and any(
        episode.role is Role.CONTACT and is_asked_to_keep(episode.text, spans)
        for episode, spans in cited
    )


def candidate_from(
    proposal: Claim,
    session: SessionEpisodes,
    *,
    slot: Slot | None,
    slot_read_from: str | None = None,
    idempotency_key: str,
    proposed_by: str,
) -> Candidate:
    """Turn a claim into a candidate for the write gate, which checks its spans.

    A claim that cites an episode outside the window has no evidence, and so is refused.

    Args:
        proposal: the claim.
        session: the session that it was read from.
        slot: its slot, normalised, or None.
        slot_read_from: the words that the slot was read from; None if it was given.
        idempotency_key: the same for the same claim of the same spans in the same session.
        proposed_by: the extractor's name.
    """
    extracted, episodes = proposal.extracted, session.by_id
    cited = sorted(
        (episodes[episode_id] for episode_id in proposal.spans if episode_id in episodes),
        key=lambda episode: (episode.said_at, episode.position),
    )
    evidence: Sequence[Evidence] = [
        episode.evidence(session.scope, proposal.spans[episode.episode_id]) for episode in cited
    ]
    said_at = max(episode.said_at for episode in (cited or episodes.values()))
    begins_at, is_dated = extracted.begins_at, extracted.valid_from != said_at.date()
    is_passing = extracted.is_temporary and not (extracted.valid_to or extracted.is_ended)
    note = Note(
        scope=session.scope,
        text=extracted.text,
        said_at=said_at,
        valid_from=begins_at if is_dated else None,
        importance=extracted.importance,
        source_kind=SourceKind.EXTRACTOR,
        session_id=session.session_id,
        idempotency_key=idempotency_key,
        category=Category.VOLATILE if is_passing else extracted.category,
        topic=(extracted.topic or "").strip() or None,
        slot=slot,
        slot_read_from=slot_read_from,
        is_cleaned=proposal.is_cleaned,
    )
    return Candidate(
        note=note,
        evidence=tuple(evidence) if proposal.is_cited else (),
        confidence=extracted.confidence,
        is_literal=extracted.speech is Speech.LITERAL,
        is_introduced=extracted.is_introduced,
        proposed_by=proposed_by,
        relations=proposal.relations,
        said_before=session.said_before(cited),
    )


def _weightiest(proposals: list[Claim], episodes: Mapping[str, Episode]) -> list[Claim]:
    """Return the claims that one turn may give, in order."""
    if len(proposals) <= CANDIDATES_OF_A_TURN_MAX:
        return proposals
    by_weight = sorted(
        proposals,
        key=lambda proposal: (-proposal.extracted.importance, -proposal.extracted.confidence),
    )
    taken = {id(proposal) for proposal in by_weight[:CANDIDATES_OF_A_TURN_MAX]}
    return [
        proposal
        for proposal in proposals
        if id(proposal) in taken or is_request(proposal, episodes)
    ]


def _proposal(window: Window, extracted: Extracted) -> Claim:
    spans: dict[str, Strings] = {}
    is_cited = True
    for citation in extracted.citations:
        if 1 <= citation.episode <= len(window.episodes):
            episode_id = window.episodes[citation.episode - 1].episode_id
            spans[episode_id] = tuple(dict.fromkeys((*spans.get(episode_id, ()), citation.span)))
        else:
            is_cited = False
    relations = _relations(window.known, extracted)
    if _began_before(window.known, extracted):
        extracted = replace(extracted, valid_from=None)
    return Claim(extracted=extracted, spans=spans, is_cited=is_cited, relations=relations)


def _relations(shown: Facts, extracted: Extracted) -> Relations | None:
    """Return relations to the named facts, by id; without facts not shown or not to be ended."""
    ids = {number: fact.fact_id for number, fact in enumerate(shown, start=1)}
    repeats = () if extracted.repeats is None else (extracted.repeats,)
    named = (extracted.replaces, repeats, extracted.ends)
    replaced, repeated, ended = ([ids[n] for n in numbers if n in ids] for numbers in named)
    return _consistent(replaced, next(iter(repeated), None), ended)


def _began_before(shown: Facts, extracted: Extracted) -> bool:
    """True if its first day is earlier than that of a fact that it replaces or ends.

    Then the order of the turns decides, not that day.
    """
    over = {*extracted.replaces, *extracted.ends}
    began = [fact.valid_from for number, fact in enumerate(shown, start=1) if number in over]
    return extracted.begins_at is not None and any(at > extracted.begins_at for at in began)


def _consistent(
    replaced: Iterable[str], repeated: str | None, ended: Iterable[str]
) -> Relations | None:
    """Return relations with each fact under one relation.

    A claim that repeats a fact ends none. If it would end more facts than one note may end, it ends
    none, because the meant facts are unknown.
    """
    replaces = list(dict.fromkeys(replaced))
    ends = [fact_id for fact_id in dict.fromkeys(ended) if fact_id not in replaces]
    if repeated is not None:
        return Relations(repeats=repeated)
    if not 0 < len(replaces) + len(ends) <= RELATED_MAX:
        return None
    return Relations(replaces=tuple(replaces), ends=tuple(ends))


def _together(one: Claim, other: Claim) -> Claim:
    spans = dict(one.spans)
    for episode_id, cited in other.spans.items():
        spans[episode_id] = tuple(dict.fromkeys((*spans.get(episode_id, ()), *cited)))
    surer = max(one.extracted, other.extracted, key=lambda extracted: extracted.confidence)
    importance = max(one.extracted.importance, other.extracted.importance)
    said = [each.relations for each in (one, other) if each.relations]
    relations = _consistent(
        (fact_id for each in said for fact_id in each.replaces),
        next((each.repeats for each in said if each.repeats), None),
        (fact_id for each in said for fact_id in each.ends),
    )
    return Claim(
        extracted=replace(surer, importance=importance),
        spans=spans,
        is_cited=one.is_cited and other.is_cited,
        relations=relations,
    )


def _key(extracted: Extracted) -> Strings:
    """Return the key of a claim, equal for equal claims.

    A literal claim never equals a claim that is not literal, an introduced claim never equals a
    plain one, and an end never equals the claim that it ends.
    """
    literal = extracted.speech is Speech.LITERAL
    is_literal = str((literal, extracted.is_introduced, extracted.is_ended))
    if extracted.attribute and extracted.value:
        parts = [extracted.subject, extracted.attribute, extracted.value]
    else:
        parts = [extracted.text]
    return (is_literal, *map(_comparable, parts))


def _comparable(text: str | None) -> str:
    return _WORDS_APART.sub(" ", canonical_text(text or "-").casefold())


_WORDS_APART = re.compile(r"[\W_]+")


def windows(
    episodes: Episodes, characters_max: int, overlap_count: int
) -> Iterator[tuple[Episode, ...]]:
    """Divide episodes into pieces that a model can read; each begins with the end of the last.

    A window holds at least one new episode, even if that one is too long.

    Args:
        episodes: the episodes in their order.
        characters_max: about this many characters are in one window.
        overlap_count: the most episodes that are shown again as context.
    """
    start, first_new = 0, 0
    while first_new < len(episodes):
        end, size = start, 0
        while end < len(episodes) and (
            end <= first_new or size + len(episodes[end].text) <= characters_max
        ):
            size += len(episodes[end].text)
            end += 1
        yield tuple(episodes[start:end])
        first_new = end
        start = _overlap_start(episodes, end, characters_max // 2, overlap_count)


def _overlap_start(episodes: Episodes, end: int, characters_max: int, count: int) -> int:
    """Return the start of the next window; repeated episodes take at most half of it."""
    first, size = end, 0
    while first > 0 and end - first < count:
        size += len(episodes[first - 1].text)
        if size > characters_max:
            break
        first -= 1
    return first


TURNS_OF_ONE_CONVERSATION = 4
"""The number of turns that are never said again word for word, so that they belong to the session
that has them. Fewer turns belong to it only if it was the last session."""


def place_in(kept: Sequence[Hashable], given: Sequence[Hashable]) -> int:
    """Return the number of kept turns before the given ones; all if none is given again.

    Args:
        kept: the identities of the kept turns, in order; a unique one for every other turn.
        given: the identities of the turns that are handed over.
    """
    known = set(kept).intersection(given)
    if not known:
        return len(kept)
    for place in range(len(kept)):
        if kept[place] == given[0] and _agree(kept[place:], given):
            is_to_the_end = len(kept) - place <= len(given)
            if is_to_the_end or len(given) >= TURNS_OF_ONE_CONVERSATION:
                return place
    is_whole = kept[0] == given[0] and 1 < len(kept) <= len(given)
    is_edited = sum(turn in known for turn in given) >= TURNS_OF_ONE_CONVERSATION
    return 0 if is_whole or is_edited else len(kept)


def shared_at_the_end(kept: Sequence[Hashable], given: Sequence[Hashable]) -> int:
    """Count the last kept turns that the given ones begin with; 0 if they do not continue."""
    for place in range(max(0, len(kept) - len(given)), len(kept)):
        if _agree(kept[place:], given):
            return len(kept) - place
    return 0


def _agree(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    length = min(len(one), len(other))
    return list(one[:length]) == list(other[:length])
