"""Secrets over several turns: one turn asks for a secret or names it, and a later turn tells it.

The question and its answer are joined to one statement: "What is your password?" and "Bluebird"
become "The password is Bluebird". So the finders of secrets in notes also work on conversations.
``config/lexicon/secrets.toml`` says what asks for a secret, and what such a statement begins with.
Ordinary answers do not begin such a statement. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

from reconciler.frozen import Match
from reconciler.reading.lexicon import Cues, Held, lexicon
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, SensitiveSpans
from reconciler.reading.text_reading import read_text

Find = Callable[[str], Sequence[SensitiveSpan]]

ANSWERED_WITHIN = 3
"""How many turns after a question its answer may come: "One moment." may come between."""

_ANSWER_WORDS_MAX = 12
"""A longer turn is not an answer to a question for a secret."""

_PIECES_MAX = 12
"""How many pieces of a turn are read: a secret has only a few."""

_STRONG = "The secret key is "
"""After this beginning a made-up word is a secret, but a plain word is not."""

_CARD, _SENT_CODE = "The card number is", "The sent PIN is "
"""The beginnings for a card number, which may come in pieces, and for a sent code, in digits."""

_PIECE_OF = (_STRONG, "The PIN is ")
"""A piece: a made-up word, or a number."""

_TAKEN_OUT = f"[{SensitiveKind.SECRET}]"
_KEY_BEGINS = re.compile(r"-----BEGIN[ A-Z]{0,40}PRIVATE KEY")
_KEY_LINE = re.compile(r"(?m)^[ \t>]{0,8}([A-Za-z0-9+/]{12,}={0,2})[ \t]*$")
_WORD = re.compile(r"\S+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def asked_for(turns: Sequence[str], find: Find) -> Mapping[str, Sequence[SensitiveSpan]]:
    """The secrets in each turn that an earlier turn reveals, by the text of the turn.

    Args:
        turns: what was said, in order.
        find: the sensitive spans of a text.
    """
    secrets: defaultdict[str, list[SensitiveSpan]] = defaultdict(list)
    if any(map(_KEY_BEGINS.search, turns)):
        for text in turns:
            places = (match.span(1) for match in _KEY_LINE.finditer(text))
            secrets[text] += [SensitiveSpan(*place, SensitiveKind.SECRET) for place in places]
    for at, text in enumerate(turns):
        refers_back = at > 0 and _find_cues(text).first("refers_back") is not None
        for statement in dict.fromkeys(_statements(text, refers_back)):  # a long turn asks often
            if refers_back:  # the turn before it was the secret
                before = turns[at - 1]
                secrets[before] += _secrets_in_answer(statement, before, find, is_at_once=True)
            for answer, span in _answers(statement, turns[at + 1 :], find):
                secrets[answer].append(span)
    for text, told in (*_pieces(turns, find), *_cards(turns, find)):
        secrets[text] += told
    return secrets


def _cards(turns: Sequence[str], find: Find) -> Iterator[tuple[str, list[SensitiveSpan]]]:
    """The card number that the turns give together, after one of them names a card."""
    for at, text in enumerate(turns):
        if any(cue.kind == _CARD for cue, _ in _find_cues(text).matches("asked")):
            told, start = turns[at : at + 1 + ANSWERED_WITHIN], 0
            spans = [span for span in find("\n".join(told)) if span.kind is SensitiveKind.SECRET]
            for turn in told:
                end = start + len(turn)
                within = (span for span in spans if start <= span.start and span.end <= end)
                yield turn, [span.moved(-start) for span in within]
                start = end + 1
            # A piece that was stored before is gone, and its check digit with it.
            for turn in told[1:] if _TAKEN_OUT in "".join(told) else ():
                yield turn, list(_found_in(_PIECE_OF[1], turn[_start(turn) :], _start(turn), find))


def _pieces(turns: Sequence[str], find: Find) -> Iterator[tuple[str, list[SensitiveSpan]]]:
    """The pieces of a secret that are told bit by bit after it was named: "the rest is …"."""
    named_at: int | None = None
    for at, text in enumerate(turns):
        held = _find_cues(text)
        if any(not match["other"] for _, match in held.matches("asked")):
            named_at = at
        if named_at is None or at - named_at > ANSWERED_WITHIN:
            continue
        for _, part in held.worth_trying("part"):
            for match in islice(part.finditer(text), _PIECES_MAX):
                piece = _WORD.match(text, match.end())
                if piece and (spans := list(_piece(piece, find))):
                    named_at = at
                    yield text, spans


def _piece(word: Match, find: Find) -> SensitiveSpans:
    for statement in _PIECE_OF:
        yield from _found_in(statement, word[0], word.start(), find)


def _answers(
    statement: str, turns: Sequence[str], find: Find
) -> Iterator[tuple[str, SensitiveSpan]]:
    """The answers within reach: a plain word counts only at once, or after words of delay.

    If an answer did not help, another answer follows.
    """
    is_at_once, left, is_answered = True, ANSWERED_WITHIN, False
    for text in turns:
        if is_answered:
            if not _find_cues(text).first("retry"):
                return
            is_at_once, left, is_answered = True, ANSWERED_WITHIN, False
            continue
        if not left:
            return
        spans = list(_secrets_in_answer(statement, text, find, is_at_once=is_at_once))
        yield from ((text, span) for span in spans)
        is_answered, left = bool(spans), left - 1
        is_at_once = is_at_once and bool(_find_cues(text).first("put_off"))


def _secrets_in_answer(
    statement: str, answer: str, find: Find, *, is_at_once: bool
) -> SensitiveSpans:
    """The secrets in an answer."""
    words = [word for word in _WORD.finditer(answer) if any(map(str.isalpha, word[0]))]
    if is_at_once or len(words) <= 1:
        start = _start(answer)
        yield from _found_in(statement, answer[start:], start, find)
    if len(words) <= _ANSWER_WORDS_MAX and statement != _SENT_CODE:
        for word in words:
            yield from _found_in(_STRONG, word[0], word.start(), find)


def _found_in(statement: str, told: str, start: int, find: Find) -> SensitiveSpans:
    """The secrets that follow the beginning of a statement, with their places in the answer."""
    for span in find(statement + told):
        if span.kind is SensitiveKind.SECRET and span.start >= len(statement):
            yield span.moved(start - len(statement))


def _start(answer: str) -> int:
    """The place where an answer comes to the point: "Sure, it's …"."""
    opening = _find_cues(answer).first("opening")
    return opening.end() if opening else 0


def _statements(text: str, refers_back: bool) -> Iterator[str]:
    """The statements that a turn begins by asking for or naming secrets; none for most turns."""
    plain = _HUMP.sub(" ", text).replace("_", " ")
    if _find_cues(plain).first("asked") is None:
        return
    for sentence in read_text(plain).sentences:
        said = sentence.text
        held = _find_cues(said)
        if not refers_back and held.first("told_of"):
            continue
        is_request = refers_back or held.first("request") is not None
        for cue, match in held.matches("asked"):
            if not match["other"] and (is_request or _ends_with(said, match)):
                yield f"{cue.kind} "


def _ends_with(text: str, match: Match) -> bool:
    """True if a turn ends with the name of a secret, as a turn does that introduces a secret."""
    return len(text) - match.end() <= 12 and "." not in text[match.end() :].rstrip(". ")


def _find_cues(text: str) -> Held:
    return _cues().read(text)


@cache
def _cues() -> Cues:
    return Cues(
        lexicon("secrets"),
        names=("asked", "request", "told_of", "opening", "put_off", "refers_back", "retry", "part"),
        flags=re.IGNORECASE,
    )
