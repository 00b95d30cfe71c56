"""Finds directives in a text: words aimed at the agent or its memory instead of telling a fact.

A text is folded (case, accents, width, invisible characters) and matched against the cues of
``config/lexicon/injection.toml``. If no cue is found, a sentence with a task or a question for its
reader counts, unless a person speaks in the text. Lexical: the same text always has the same
findings. Never here: a model, a clock, knowledge of a contact, or the effect of a finding, which
the gate decides.
"""

from __future__ import annotations

import base64
import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import NamedTuple

from reconciler.frozen import Span, Strings, in_order
from reconciler.reading.canonical import remembered
from reconciler.reading.lexicon import Cues, lexicon
from reconciler.reading.text_reading import read_text
from reconciler.reading.visible_text import shortened, visible

CUE_LENGTH_MAX = 80
"""The most characters of a cue that are kept: enough to see in a record the finding and its
reason."""

_GAP = r"(?:[^.!?]|\.(?=\w)){0,60}?"
_DECODED_LENGTH_MIN = 8
_LETTER_SHARE_MIN = 0.7
_REQUEST_LENGTH_MAX = 600
"""The most characters of a bare request; a longer text is never one."""


class Directive(StrEnum):
    """Kinds of directives: a text's demands on its reader."""

    OVERRIDE = "override"
    REMEMBER = "remember"
    COMMAND = "command"
    ROLE = "role"
    REVEAL = "reveal"
    HIDDEN = "hidden"
    CODE = "code"


@in_order
class DirectiveFinding:
    r"""One demand of a text on its reader.

    Attributes:
        kind: what it wants.
        cue: the words that show it, as the text has them, at most ``CUE_LENGTH_MAX`` characters;
            what cannot be seen stands there as an escape such as ``\u200b``.
        is_request: whether only the form of a sentence shows it, and no cue.
    """

    kind: Directive
    cue: str
    is_request: bool = False


@remembered
def find_directives(text: str) -> tuple[DirectiveFinding, ...]:
    """Find a text's directives to the agent or its memory; empty if it has none.

    The result has the first directive of each kind, in the order of the text. Never raises,
    whatever the string, and takes time in proportion to its length; the first call also reads the
    lexicon.

    Args:
        text: a person's words as they came, not yet stripped or made canonical.

    Returns:
        At most one finding of each ``Directive``.
    """
    reading = _fold_text(text)
    spans = [span for find in _FINDERS for span in find(reading)] or [*_requests(reading)]
    first: dict[Directive, _Span] = {}
    for span in sorted(spans, key=lambda span: (span.start, span.kind)):
        first.setdefault(span.kind, span)
    return tuple(
        DirectiveFinding(span.kind, _shown(text[span.start : span.end]), span.is_request)
        for span in first.values()
    )


class _Span(NamedTuple):
    """The place of a directive of a kind in the given text."""

    start: int
    end: int
    kind: Directive
    is_request: bool = False


class _FoldedText(NamedTuple):
    """A text as it was given and as it is matched, and the origin of each character."""

    text: str
    folded: str
    places: Sequence[int]

    def span(self, kind: Directive, start: int, end: int) -> _Span:
        """Return the place in the folded text as a span of the given one."""
        behind = max(start, end - 1)
        last = self.places[behind] if behind < len(self.places) else len(self.text) - 1
        start = self.places[start] if start < len(self.places) else last
        return _Span(start, last + 1, kind)


# Reading

_QUOTES = str.maketrans("\u2018\u2019\u201b\u2032\u201c\u201d\u201e\u00ab\u00bb", "''''" + '"' * 5)


_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u034f\u180e"


@remembered
def _fold(character: str) -> str:
    """Fold to lower case, without width, accents and invisible characters."""
    decomposed = unicodedata.normalize("NFKD", character.translate(_QUOTES))
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", decomposed.casefold())
        if unicodedata.category(letter) not in ("Mn", "Cf") and letter not in _BLANK_LETTERS
    )


def _fold_all(text: str) -> str:
    return "".join(map(_fold, text))


def _fold_text(text: str) -> _FoldedText:
    if text.isascii():
        return _FoldedText(text, text.lower(), range(len(text)))
    folded = [_fold(letter) for letter in text]
    places = [place for place, letters in enumerate(folded) for _ in letters]
    return _FoldedText(text, "".join(folded), places)


def _shown(cue: str) -> str:
    return shortened(visible(cue.strip(" \n\t")), CUE_LENGTH_MAX)


# Matching

_SHORTHAND = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|~| \?| ")
_WRITTEN_OUT = {"~": _GAP, " ?": r"\s{0,4}", " ": r"\s{1,4}"}
_AS_THEY_STAND = ("mark", "code_line", "told", "ordered", "states")
"""The lists with cues that know no shorthand for a gap and for white space."""


def _spelled(name: str, pattern: str) -> str:
    """Return a cue's pattern, folded like the texts in which it is searched."""
    if name not in _AS_THEY_STAND:
        pattern = _SHORTHAND.sub(lambda match: _WRITTEN_OUT.get(match[0], match[0]), pattern)
    if name in (*Directive, "code_shape"):
        pattern = rf"\b(?=\w)(?:{pattern})(?:(?!\w)|(?<!\w))"
    return _fold_all(pattern)


@cache
def _lexicon(*names: str) -> Cues:
    """Return the cues of some lists that are used together; of all lists if none is named."""
    return Cues(lexicon("injection"), _spelled, names or None)


_SETTLING = (*Directive, "mark")
"""The lists with cues that settle it alone: by kind, and one whose cues name their kinds."""
_CUES = (*_SETTLING, "code_shape", "code_line")


def _cues(reading: _FoldedText) -> Iterator[_Span]:
    held = _lexicon(*_CUES).read(reading.folded)
    for name in _SETTLING:
        for cue, match in held.matches(name):
            yield reading.span(Directive(cue.kind or name), *match.span())
    told = _told_code(reading.folded)
    for name in ("code_shape", "code_line"):
        for _, pattern in held.worth_trying(name):
            for match in pattern.finditer(reading.folded):
                if not any(start <= match.start() < end for start, end in told):
                    yield reading.span(Directive.CODE, *match.span())
                    break


_FENCE = re.compile(r"```|~~~")
_FENCES_MAX = 20


def _told_code(folded: str) -> list[Span]:
    """Where code stands that is told of: each fence with the plain words that lead to it.

    It may stand on lines of its own or within one: "Deploys with ```make```". Being code, it wants
    nothing; what it holds of orders, and what destroys, is found all the same. A fence that nothing
    or an order stands in front of is not told of.
    """
    marks = list(islice(_FENCE.finditer(folded), 2 * _FENCES_MAX))
    told = []
    for opening, closing in zip(marks[::2], marks[1::2], strict=False):
        starts = (sentence.start for sentence in read_text(folded).sentences)
        before = [start for start in starts if start < opening.start()]
        if before and _is_told(folded[before[-1] : opening.start()]):
            told.append((before[-1], closing.end()))
    return told


def _is_told(sentence: str) -> bool:
    cues = _lexicon("told", "ordered")
    is_ordered = cues.pattern("ordered").search(sentence) is not None
    return not is_ordered and cues.pattern("told").match(sentence) is not None


# What is not said openly

_UNSEEN = re.compile(
    "[\u2061-\u2064\u202a-\u202e\u2066-\u2069" + _BLANK_LETTERS + "]"
    "|[\u200b-\u200d\u2060\ufeff]{8}"  # so many are letters of a code
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]"  # after the flag: a country
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}"
)
_BASE64 = re.compile(r"(?<![\w+/])[A-Za-z0-9+/_-]{16,}={0,2}(?![\w+/])")
_HEX = re.compile(r"(?<!\w)(?:0x)?(?:[0-9a-f]{2}[ :]?){12,}(?!\w)", re.IGNORECASE)


def _unseen(reading: _FoldedText) -> Iterator[_Span]:
    if match := _UNSEEN.search(reading.text):
        start, end = max(0, match.start() - 16), match.end() + 16
        yield _Span(start, min(end, len(reading.text)), Directive.HIDDEN)


def _encoded(reading: _FoldedText) -> Iterator[_Span]:
    for pattern, decode in ((_BASE64, _from_base64), (_HEX, _from_hex)):
        for match in pattern.finditer(reading.text):
            if _reads_as_text(decode(match[0])):
                yield _Span(match.start(), match.end(), Directive.HIDDEN)


def _from_base64(word: str) -> bytes:
    word = word.rstrip("=").replace("-", "+").replace("_", "/")
    whole = word[: len(word) - (len(word) % 4 == 1)]
    return base64.b64decode(whole + "=" * (-len(whole) % 4))


def _from_hex(digits: str) -> bytes:
    return bytes.fromhex(digits.lower().removeprefix("0x").replace(":", " "))


def _reads_as_text(decoded: bytes) -> bool:
    text = decoded.decode("utf-8", "replace")
    if len(text) < _DECODED_LENGTH_MIN or not text.isprintable() or "\ufffd" in text:
        return False
    letters = sum(letter.isalpha() or letter == " " for letter in text)
    return letters / len(text) >= _LETTER_SHARE_MIN and " " in text


_LOOKALIKES = str.maketrans("_0134578@$|!аеорсухіѕјһαεορτυνικ", " oieastbasliaeopcyxisjhaeoptuvik")
"""Digits and letters of other scripts that may replace the Latin letters that they look like."""
_MIXED = re.compile(
    r"[a-z][0134578@$|][a-z0-9]|\b[0134578@$|][a-z]{2}|[a-z]_[a-z]|[a-z][\u0370-\u04ff]|[\u0370-\u04ff][a-z]"
)
_STRONG = (Directive.OVERRIDE, Directive.REVEAL)


@cache
def _disguised_words() -> Strings:
    """Find words that no honest text has: orders read backwards or moved by thirteen letters."""
    words = lexicon("injection").words("disguised")
    return tuple(
        spelling for word in words for spelling in (word[::-1], codecs.encode(word, "rot13"))
    )


def _disguised(reading: _FoldedText) -> Iterator[_Span]:
    """Find words read backwards or moved by thirteen, and cues with digits read as letters."""
    for word in filter(reading.folded.__contains__, _disguised_words()):
        start = reading.folded.index(word)
        yield reading.span(Directive.HIDDEN, start, start + len(word))
    if _MIXED.search(reading.folded):
        held = _lexicon(*_STRONG).read(reading.folded.translate(_LOOKALIKES))
        for kind in _STRONG:
            for _, match in held.matches(kind):
                if match[0] != reading.folded[match.start() : match.end()]:
                    yield reading.span(kind, *match.span())


_FINDERS: tuple[Callable[[_FoldedText], Iterable[_Span]], ...] = (
    _cues,
    _unseen,
    _encoded,
    _disguised,
)

# Requests that hold no fact

_SENTENCE_BRACKETS = " '\"(*-\t"
_QUOTED = re.compile(r"(?<!\w)(['\"])[^'\"\n]{1,200}\1(?!\w)")
"""Quoted words, which say nothing about the writer."""
_ASKING = re.compile(r"\?|^(?:what|who|how|which|where|when|why)\b")
"""A question, whether or not it ends like one."""


def _requests(reading: _FoldedText) -> Iterator[_Span]:
    """Find the first sentence that is a task or a question, if no sign of a person is there."""
    if len(reading.folded) > _REQUEST_LENGTH_MAX:
        return
    is_alike = len(reading.folded) == len(reading.text)
    for sentence in read_text(reading.text if is_alike else reading.folded).sentences:
        said = reading.folded[sentence.start : sentence.end].strip(_SENTENCE_BRACKETS)
        held = _lexicon(*_REQUESTS).read(said)
        wanted = next((name for name in _REQUESTS if held.first(name)), None)
        if wanted and not _lexicon("states").pattern("states").match(said):
            if not _is_of_a_person(reading.folded, is_asked=bool(_ASKING.search(said))):
                found = reading.span(Directive.COMMAND, sentence.start, sentence.end)
                yield found._replace(is_request=True)
            return


_REQUESTS = ("task", "question")


def _is_of_a_person(text: str, *, is_asked: bool) -> bool:
    """True if the text is about a person or business, or a person continues a talk."""
    held = _lexicon("person", "business", "talk").read(_QUOTED.sub(" ", text))
    names = ("person", "business", "talk") if is_asked else ("person", "business")
    return any(held.first(name) for name in names)
