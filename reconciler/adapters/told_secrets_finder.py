"""The finder of secrets that are told in words: in a sentence, a line below, a command.

``config/lexicon/secrets.toml`` says how a secret is announced, in several languages, and what it is
called; this module decides what counts as a secret after such an announcement.
``reconciler.reading.named_secrets`` finds a secret in machine notation, such as JSON, and gitleaks'
rules find a vendor's token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice, product

from reconciler.frozen import Match, Pattern, Span, StringSet
from reconciler.reading.lexicon import cues_of, lexicon
from reconciler.reading.named_secrets.grammar import (
    ADDRESS,
    is_drawn,
    is_indian_postcode,
    is_made_up,
)
from reconciler.reading.named_secrets.shapes import find_account_numbers
from reconciler.reading.sensitive_data import TOKEN, SensitiveKind, SensitiveSpan, SensitiveSpans

Spans = Iterator[Span]
Announcement = Match
"""The places where a text announces a secret, as a list of the lexicon finds them."""

_OPENING = re.compile(r"[:=]*[\"'`(\[<*\u2018\u201c\u201e\u00ab\u300c\u300e]{0,3}")
_TOKEN = re.compile(r"[^\s\"'`)\]>\u2019\u201d\u00bb\u300d\u300f\u3002\u3001\uff0c,;]{2,200}")
_ASCII = re.compile(r"[!-~]{3,64}")
_SENTENCE_ENDS = re.compile(r"[\"'`)\]*\u2019\u201d\u00bb\u300d]{0,3}[.!?]{0,3}\s*(?:\Z|\n|[A-Z(])")
_SENTENCE_END = re.compile(r"[.!?](?=\s|\Z)|\n")
_WORD = re.compile(r"\S+")
_WORDS_MAX = 5
"""How many words after "enter" the secret may follow."""

_PRODUCT = re.compile(r"[A-Za-z][a-z]+-?\d{1,4}")
_REST = re.compile(r"[^\n.!?;]{2,60}")
_ENDING = r" (?:for|and|but|with|since|from|which|that|until)\b"
_PHRASE = re.compile(rf"[a-z]{{3,12}}(?:(?:(?!{_ENDING})[ -][a-z]{{3,12}}){{1,7}}|(?={_ENDING}))")
_SEED = re.compile(r"[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}\b")
_DIGITS = re.compile(r"\d(?:[ -]?\d){2,11}\b(?![.,/:]?\d|[ ]?%)")
_CODE = re.compile(
    r"(?:\d[\d -]{2,14}\d|(?=[A-Za-z-]*\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{2,12}){0,4})\b"
)
_RUN = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){2,18}(?!\w|[ .-]\d)")
_RUNS_MAX, _RUN_LENGTH_MAX, _CARD_REACH = 5, 14, 240
"""For a card's number: how many pieces are tried, how long a piece may be, and how far after the
name it may be; a longer piece is the whole number."""

_AND_MORE = re.compile(r"[ ]?(?:,|and|or|&|/)[ ]?(?:and )?")
_PAIR = re.compile(r"[\w.-]{1,60}=(?P<value>[^;\s\"']{8,4000})")
_ALL_THREE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])(?=.*[#$%^&*@!+=~])")
_DRAWN = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])")
_PLACE = re.compile(
    rf"{ADDRESS}|[\w.-]+\.(?:com|org|net|io|dev|example)\b|/\S*|\$\S*|<\S*|\{{\S*|[\w.]+\(\S*"
)
_SAID_OF_IT = re.compile(
    r" (?:encrypted|encoded|hashed|compliant|characters?|bits?|digits|letters)\b"
)
_BY_SHAPE = {"random", "hexadecimal", "base64"}
"""The lists of long secrets without a rare literal."""

_GOES_ON = ("@", "/", "\\")
_FILE = re.compile(r"\.[A-Za-z]{2,4}\d?$")
_ADDRESSED = re.compile(r"(?:://|www\.)\S*$")
_LONG_WORD = re.compile(r"[\w+/:.-]{20}")
_MEASURE = re.compile(
    r"\d[\d.,:/-]*(?:st|nd|rd|th|[ap]m|x|h|min|km|kg|gb|mb|ms|bit|%)?", re.IGNORECASE
)


def find_told_secrets(text: str, *, of_ids: bool = False) -> SensitiveSpans:
    """Finds what a text says is a password, a PIN, a code or a key; every span is a SECRET.

    Args:
        text: a note, or an id.
        of_ids: whether the text is an id, which may itself be random.
    """
    held = cues_of("secrets", *_READ, flags=re.IGNORECASE).read(text)
    left_out = {"random"} if of_ids else set()
    if _LONG_WORD.search(text) is None:
        left_out |= _BY_SHAPE
    for name in set(held.names) - left_out:
        for _, pattern in held.worth_trying(name):
            for match in pattern.finditer(text):
                if not _is_of_something_else(match):
                    for start, end in _READ[name](text, match):
                        if start < end and not TOKEN.fullmatch(text[start:end]):
                            yield SensitiveSpan(start, end, SensitiveKind.SECRET)


@cache
def _any_of(name: str) -> Pattern:
    """Any of a list's words, as a whole word."""
    words = lexicon("secrets").any_of(name)
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _listed(name: str) -> StringSet:
    return lexicon("secrets").word_set(name)


def _is_of_something_else(match: Announcement) -> bool:
    """True if the name goes on and names something else, such as a password manager."""
    between = match.groupdict().get("between") or ""
    return not _listed("compound").isdisjoint(re.findall(r"[\w-]+", between.casefold()))


# Whether a word is a secret


def _is_remark(word: str) -> bool:
    return _any_of("remark").fullmatch(word.rstrip("!")) is not None


def _is_strong(word: str) -> bool:
    """True if the word was made up, and is not a place or a measure."""
    if len(word) < 5 or _PLACE.fullmatch(word) or _MEASURE.fullmatch(word):
        return False
    return is_made_up(word)


def _is_chosen(word: str) -> bool:
    """True if a person made the word up as a secret: codes of things have only capital letters."""
    return _is_strong(word) and any(map(str.islower, word))


def _is_pin(word: str) -> bool:
    return word.isdigit() and 4 <= len(word) <= 8


def _may_be_answer(_: str, told: str) -> bool:
    words = told.split()
    return 0 < len(words) <= 5 and not _is_remark(words[0])


def _may_be_phrase(_: str, told: str) -> bool:
    """True if plain words are a secret, not a remark about a secret.

    The first word may be a quality, if three words follow that are not a remark.
    """
    first, *others = (word.split("-")[0] for word in told.split())
    if not _is_remark(first):
        return True
    is_quality = first.casefold() in _listed("quality")
    return is_quality and len(others) >= 3 and not any(map(_is_remark, others[:3]))


def _is_no_postcode(cue: str, told: str) -> bool:
    return not ("pin code" in cue.casefold() and is_indian_postcode(told))


# What follows an announcement


_Read = Callable[[str, Announcement], Spans]


def _opened(text: str, start: int) -> int:
    """The place where a text in quotes or brackets begins."""
    opening = _OPENING.match(text, start)
    return opening.end() if opening else start


def _behind(pattern: Pattern, is_secret: Callable[[str, str], bool] = lambda *_: True) -> _Read:
    """The text that fits a pattern, if it is a secret together with its cue."""

    def read(text: str, match: Announcement) -> Spans:
        told = pattern.match(text, _opened(text, match.end()))
        if told and is_secret(match[0], told[0]):
            yield told.span()

    return read


def _token(text: str, start: int) -> Span | None:
    start = _opened(text, start)
    if token := _TOKEN.match(text, start):
        word = token[0].rstrip(".?:*\u2026")
        is_described = _SAID_OF_IT.match(text, start + len(word))
        if word and not is_described and not _PLACE.fullmatch(word):
            return start, start + len(word)
    return None


def _end_of_sentence(text: str, start: int) -> int:
    end = _SENTENCE_END.search(text, start)
    return end.start() if end else len(text)


def _next(is_secret: Callable[[str, str, bool], bool]) -> _Read:
    """The next word, if it is a secret with its cue, or as the last word of its sentence."""

    def read(text: str, match: Announcement) -> Spans:
        if place := _token(text, match.end()):
            is_last = _SENTENCE_ENDS.match(text, place[1]) is not None
            if is_secret(match[0], text[slice(*place)], is_last):
                yield place

    return read


def _first(is_secret: Callable[[int, str], bool]) -> _Read:
    """The first of the sentence's next words that is a secret, with its number."""

    def read(text: str, match: Announcement) -> Spans:
        words = _WORD.finditer(text, match.end(), _end_of_sentence(text, match.end()))
        tokens = filter(None, (_token(text, word.start()) for word in islice(words, _WORDS_MAX)))
        for number, place in enumerate(tokens):
            if is_secret(number, text[slice(*place)]):
                yield place
                return

    return read


_logged_in = _first(
    lambda number, word: _is_chosen(word) and (number > 0 or not _PRODUCT.fullmatch(word))
)
"""The secret for a login, alone or after a user name; a product's name alone is no secret."""

_typed = _first(lambda _, word: _is_chosen(word) or _is_pin(word))


def _entered(text: str, match: Announcement) -> Spans:
    """The text that a person types, if the sentence says that it lets them in."""
    start = max(text.rfind(sign, 0, match.start()) for sign in ".!?\n") + 1
    if _any_of("getting_in").search(text, start, _end_of_sentence(text, match.end())):
        yield from _typed(text, match)


def _codes(text: str, match: Announcement) -> Spans:
    at = match.end()
    while code := _CODE.match(text, at):
        yield code.span()
        more = _AND_MORE.match(text, code.end())
        if not more:
            return
        at = more.end()


def _card(text: str, match: Announcement) -> Spans:
    """Pieces of a card's number, if its check digit is right."""
    found = islice(_RUN.finditer(text, match.end(), match.end() + _CARD_REACH), _RUNS_MAX)
    runs = [run for run in found if len(run[0]) <= _RUN_LENGTH_MAX]
    for first, count in product(range(len(runs)), range(2, _RUNS_MAX)):
        pieces = runs[first : first + count]
        number = re.sub(r"\D", "", "".join(run[0] for run in pieces))
        if any(span.kind is SensitiveKind.CREDIT_CARD for span in find_account_numbers(number)):
            yield from (run.span() for run in pieces)


def _cookie(text: str, match: Announcement) -> Spans:
    """The secrets in pairs of name and value on the rest of the line."""
    for pair in _PAIR.finditer(text, *match.span("value")):
        if len(pair["value"]) >= 16 or _is_strong(pair["value"]):
            yield pair.span("value")


def _within(is_secret: Callable[[str], object] = bool) -> _Read:
    """A secret in the cue itself."""

    def read(_: str, match: Announcement) -> Spans:
        if is_secret(match["value"]):
            yield match.span("value")

    return read


def _hexadecimal(text: str, match: Announcement) -> Spans:
    """A random text, unless the words call it a hash, which looks the same."""
    if not _is_called(text, match.start("value"), "hash"):
        yield match.span("value")


def _random(text: str, match: Announcement) -> Spans:
    """A random text that is not an id, or part of an address or a file name."""
    start, end = match.span("value")
    word = match["value"].rstrip("._~-")
    if (
        not is_drawn(word, _listed("identified"))
        or text[end : end + 1] in _GOES_ON
        or _FILE.search(word)
    ):
        return
    if _ADDRESSED.search(text, max(0, start - 400), start) or word.startswith("AAAA"):
        return
    called = ("hash",) if re.search(r"[._-]", word) else ("hash", "identified")
    if not any(_is_called(text, start, name) for name in called):
        yield start, start + len(word)


def _is_called(text: str, start: int, name: str) -> bool:
    """True if one of a list's words is shortly before a value and says what the value is."""
    before = re.findall(r"[\w-]+", text[max(0, start - 48) : start])
    return any(map(_any_of(name).fullmatch, before))


_READ: Mapping[str, _Read] = {
    "word": _next(
        lambda _, word, is_last: (
            _is_strong(word) or (is_last and len(word) >= 3 and not _is_remark(word))
        )
    ),
    "strong": _next(lambda cue, word, _: _is_strong(word) or ("pin" in cue and _is_pin(word))),
    "alone": _next(
        lambda _, word, is_last: (
            is_last and (_is_chosen(word) or (word.isdigit() and 3 <= len(word) <= 8))
        )
    ),
    "given": _next(lambda _, word, __: word[0] not in "-/$"),
    "quoted": _within(),
    "logged_in": _logged_in,
    "entered": _entered,
    "card": _card,
    "answer": _behind(_REST, _may_be_answer),
    "phrase": _behind(_PHRASE, _may_be_phrase),
    "seed": _behind(_SEED),
    "digits": _behind(_DIGITS, _is_no_postcode),
    "codes": _codes,
    "cookie": _cookie,
    "ascii": _behind(_ASCII),
    "complex_before": _within(_ALL_THREE.match),
    "strong_before": _within(_is_strong),
    "word_before": _within(lambda value: not _is_remark(value)),
    "random": _random,
    "hexadecimal": _hexadecimal,
    "base64": _within(lambda value: _DRAWN.match(value) and re.search(r"[+/]", value)),
}
"""The pattern of the text after the cue or in it, for each list of the lexicon."""
