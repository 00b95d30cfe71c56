"""Introductions: the parts of a turn that may present the words beside them as another's. Pure.

"Can you proofread this?", "my flatmate was like", "lyrics:": words behind such a part are a text to
work on, and "I" in them may be any person. What a part means is told by others, from its meaning;
here is only which parts a turn has, and how much their form says. Marks of a quotation are certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reconciler.domain.text_reading import Sentence, read_text

__all__ = ["IntroductionHead", "Part", "is_marked", "parts_around"]

_BEFORE_MAX, _BEHIND_MAX = 3, 2
"""Sentences before and behind the cited ones that are looked at, besides the turn's first."""

_LENGTH_MAX = 300
_COLON, _BROKEN_OFF, _LED = 1.5, 1.5, 0.5
"""What a form adds to the head's value: a colon, a line without an end, words in one sentence."""

_WORDS_OF_A_LINE_MIN = 4
_QUOTED_WORDS_MIN = 3

_LINE = re.compile(r"[ \t]*(?:[>|]|(?P<fence>```|~~~))")
_HEADER = re.compile(r"(?m)^[ \t]*-{4,}[^\n]*\w[^\n]*-{4,}[ \t]*$|\A\s*(?:fwd?|wg|tr|rv)\s*:", re.I)
_LABEL = re.compile(r"[ \t]*([^\W\d_]{1,20}):[ \t]")
_QUOTED = re.compile(
    r"\"(?P<a>[^\"\n]{8,2000})\"|“(?P<b>[^”\n]{8,2000})”|„(?P<c>[^“”\n]{8,2000})[“”]"
    r"|«(?P<d>[^»\n]{8,2000})»|(?<!\w)['‘](?P<e>[^\n'‘’]{8,2000}(?:['’]\w[^\n'‘’]{0,2000}){0,9})['’](?!\w)"
)
_ENDED = re.compile(r"[.!?…,;:)\]。！？]\W*\Z")
_OWN_VOICE = re.compile(r"\W*(?:by the way|btw|anyway|as for me|übrigens|por cierto)\b", re.I)
_SELF = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|my|our|ich|mein\w{0,2})(?![\w'’])", re.I)
_SUBJECT = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|we['’]\w{1,3}|my|our)(?![\w'’])", re.I)
_JOINED = re.compile(
    r"(?:[;.]|\b(?:and|but|so|because|since|as|when|while|und|aber|weil|da|denn))\W*\Z", re.I
)
_OPENER = re.compile(r"\W*(?:i|i['’]\w{1,3}|we|we['’]\w{1,3})\b", re.I)
_RELATIVE = re.compile(r"\b(?:that|which|who|where)\Z", re.I)


@dataclass(frozen=True, slots=True)
class IntroductionHead:
    """A linear head over a model's vectors: how much a text's meaning introduces another's words.

    Attributes:
        weights: one for each dimension of the model's vectors.
        bias: added to their sum.
        bound: the value, with what its form adds, above which a part introduces what is beside it.
    """

    weights: tuple[float, ...]
    bias: float
    bound: float


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a turn that may introduce the words beside it.

    Attributes:
        text: its words.
        form: how much its form alone says for that; added to the value of its meaning.
    """

    text: str
    form: float = 0.0


def is_marked(text: str, span: str) -> bool:
    """Whether the words stand in a turn as a quotation, by its marks alone.

    They do in quotation marks, on a line with a ``>``, in a block of code, and behind the header of
    a forwarded message. Marks around a word or two only name something.
    """
    start = text.find(span)
    if start < 0:
        return False
    end = start + len(span)
    if _is_on_marked_line(text, start):
        return True
    label = _LABEL.match(text, text.rfind("\n", 0, start) + 1)
    if label is not None and len(re.findall(rf"(?m)^[ \t]*{re.escape(label[1])}:", text)) > 1:
        return True
    header = _HEADER.search(text)
    if header is not None and header.end() <= start:
        return True
    return any(
        len(quoted[0].split()) >= _QUOTED_WORDS_MIN
        and quoted.start() < end
        and start < quoted.end()
        and _covers(quoted, start, end)
        for quoted in _QUOTED.finditer(text)
    )


def _covers(quoted: re.Match[str], start: int, end: int) -> bool:
    """Whether the cited words are the quoted ones, or a sentence that quotes the speaker's "I"."""
    if quoted.start() <= start + 1 and end <= quoted.end():
        return True
    inside = quoted[0][max(0, start - quoted.start()) : end - quoted.start()]
    outside = quoted.string[start : max(start, quoted.start())]
    return bool(_SELF.search(inside)) and not _SELF.search(outside)


def _is_on_marked_line(text: str, start: int) -> bool:
    is_code = False
    begin = text.rfind("\n", 0, start) + 1
    for line in text[:begin].splitlines():
        match = _LINE.match(line)
        is_code ^= bool(match and match["fence"])
    return is_code or _LINE.match(text, begin) is not None


def parts_around(text: str, span: str) -> Iterator[Part]:
    """The parts of a turn that may introduce cited words: sentences around, and what leads to them.

    Args:
        text: the turn.
        span: the cited words.
    """
    reading = read_text(text)
    cited = reading.around(span)
    if not cited:  # some of it was taken out of one of the two
        yield from (_part(text, each) for each in reading.sentences[:_BEFORE_MAX])
        return
    if _OWN_VOICE.match(cited[0].text):
        return
    before = [each for each in reading.sentences if each.end <= cited[0].start]
    behind = [each for each in reading.sentences if each.start >= cited[-1].end]
    for sentence in dict.fromkeys((*before[:1], *before[-_BEFORE_MAX:])):
        yield _part(text, sentence)
        announced, colon, _ = sentence.text[:_LENGTH_MAX].partition(": ")
        if colon:
            yield Part(f"{announced}:", _COLON)
    for sentence in behind[:_BEHIND_MAX]:
        yield Part(sentence.text[:_LENGTH_MAX])
    yield from _leads(cited[0], text.find(span) - cited[0].start)


def _part(text: str, sentence: Sentence) -> Part:
    said = sentence.text[-_LENGTH_MAX:]
    ends_line = text[sentence.end : sentence.end + 1] in ("\n", "\r")
    if said.endswith(":"):
        return Part(said, _COLON)
    is_long = len(said.split()) >= _WORDS_OF_A_LINE_MIN
    return Part(said, _BROKEN_OFF if ends_line and is_long and not _ENDED.search(said) else 0.0)


def _leads(sentence: Sentence, at: int) -> Iterator[Part]:
    """What leads, in their sentence, to the cited words, or to a later "I" in them."""
    said = sentence.text
    if at > 0:
        starts = [at]
    else:
        starts = [match.start() for match in _SUBJECT.finditer(said) if match.start() > 0]
    for start in starts:
        lead = said[:start].rstrip("\"'“„«‘ \t")
        is_joined = _JOINED.search(lead) or (at <= 0 and _RELATIVE.search(lead))
        is_lead = lead.endswith(":") or len(lead.split()) > 2
        if is_lead and not is_joined and not (at <= 0 and _OPENER.match(lead)):
            yield Part(lead[-_LENGTH_MAX:], _COLON if lead.endswith(":") else _LED)
            return
