"""Frames and quotations: words in a conversation that are make-believe, or another person's. Pure.

A frame goes from its opening to its closing words. "Imagine I am Ken." makes the rest of the
session make-believe, also in later turns, until a speaker closes the frame. The sentences that
open and close a frame are data (``config/lexicon/statements.toml``). A question ("Suppose I order
ten, what is it?") opens no frame.

A quotation is what a turn marks as another person's words; a claim that rests only on it is
marked. Frames and quotations are read together, because a claim that was also made in plain words
outside of both rests only on those. Never here: the weight of a claim within a frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from reconciler.domain.records.candidates import Role
from reconciler.domain.records.sessions import Episode, Episodes
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.frozen import in_order
from reconciler.reading.cues.classification import is_asked_to_keep
from reconciler.reading.cues.introductions import is_marked_at
from reconciler.reading.kinds import Speech
from reconciler.reading.lexicon import Cues, lexicon
from reconciler.reading.text_reading import read_text

_SPEAKERS = (Role.CONTACT, Role.OPERATOR, Role.AGENT)
"""The roles that may open and close a frame; the software around a conversation may not."""

_OPENING = (
    ("frame_played", Speech.ROLEPLAY),
    ("frame_imagined", Speech.HYPOTHETICAL),
)


@in_order
class Frames:
    """The meaning of a session's words, literal or not, by episode and place.

    Attributes:
        changes: by episode, the places at which the meaning changes, each with the new one; words
            outside of all frames are literal.
    """

    changes: dict[str, tuple[tuple[int, Speech], ...]]

    def meant(self, window: Window, extraction: Extraction) -> Extraction:
        """Return an extraction; a claim that rests only on framed words has their meaning.

        A claim that rests only on words which the contact quotes is marked. A claim that was also
        made outside of all frames and quotations rests only on its literal, plain words.
        """
        return replace(
            extraction,
            candidates=tuple(
                _marked(window, self._meant(window, extracted))
                for extracted in extraction.candidates
            ),
        )

    def _meant(self, window: Window, extracted: Extracted) -> Extracted:
        if extracted.speech is not Speech.LITERAL:
            return extracted
        speeches = [self._speech(window, citation) for citation in extracted.citations]
        literal = tuple(
            citation
            for citation, speech in zip(extracted.citations, speeches, strict=True)
            if speech is Speech.LITERAL
        )
        if literal:
            return replace(extracted, citations=literal)
        return replace(extracted, speech=speeches[0]) if speeches else extracted

    def _speech(self, window: Window, citation: Citation) -> Speech:
        if not 1 <= citation.episode <= len(window.episodes):
            return Speech.LITERAL
        episode = window.episodes[citation.episode - 1]
        at = max(0, episode.text.find(citation.span))
        speech = Speech.LITERAL
        for start, meant in self.changes.get(episode.episode_id, ()):
            if start <= at:
                speech = meant
        return speech


def frames_of(episodes: Episodes) -> Frames:
    """Find the frames of a session.

    Args:
        episodes: all episodes of the session, in their order.
    """
    changes: dict[str, tuple[tuple[int, Speech], ...]] = {}
    speech = Speech.LITERAL
    for episode in episodes:
        begins = [(0, speech)] if speech is not Speech.LITERAL else []
        changed = tuple(_changes(episode)) if episode.role in _SPEAKERS else ()
        if begins or changed:
            changes[episode.episode_id] = (*begins, *changed)
        speech = changed[-1][1] if changed else speech
    return Frames(changes)


def _changes(episode: Episode) -> Iterator[tuple[int, Speech]]:
    """Find the places where a turn opens or closes a frame, with the meaning of later words."""
    if not _cues().read(episode.text).names:
        return
    for sentence in read_text(episode.text).sentences:
        said = read_text(sentence.text).plain
        held = _cues().read(said)
        if held.first("frame_end"):
            yield sentence.start, Speech.LITERAL
        elif not _ASKS.search(said):
            for name, speech in _OPENING:
                if held.first(name) and (episode.role is not Role.AGENT or name == "frame_played"):
                    yield sentence.start, speech
                    break


_ASKS = re.compile(r"\?\W*\Z")


@cache
def _cues() -> Cues:
    return Cues(
        lexicon("statements"),
        names=("frame_end", *(name for name, _ in _OPENING)),
        flags=re.IGNORECASE,
    )


def _marked(window: Window, extracted: Extracted) -> Extracted:
    """Return a claim that rests on no quotation, or is marked because it rests on nothing else."""
    texts = {
        number: episode.text
        for number, episode in enumerate(window.episodes, start=1)
        if episode.role is Role.CONTACT
    }
    own = [citation for citation in extracted.citations if citation.episode in texts]
    quoted = [each for each in own if _is_quoted(texts[each.episode], each.span)]
    if not quoted:
        return extracted
    if len(quoted) == len(own):
        return replace(extracted, is_introduced=True)
    plain = tuple(citation for citation in extracted.citations if citation not in quoted)
    return replace(extracted, citations=plain)


def _is_quoted(text: str, span: str) -> bool:
    start = text.find(span)
    is_asked = is_asked_to_keep(text, (span,))  # it may quote what is to be kept
    return start >= 0 and is_marked_at(text, start, start + (1 if is_asked else len(span)))
