"""Introductions: the parts of a turn that may present other words as another person's. Pure.

"Can you proofread this?", "my flatmate was like", "lyrics:": words after such a part are a text to
work on, and "I" in them may be any person. This module only finds the parts and weighs their form;
other modules judge their meaning. Marks of a quotation are certain.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from reconciler.frozen import in_order
from reconciler.reading.text_reading import Sentence, read_text

_BEFORE_MAX, _BEHIND_MAX = 3, 2
"""The number of sentences before and after the cited ones that are read, besides the turn's
first."""

_LENGTH_MAX = 300
_COLON, _BROKEN_OFF, _LED = 1.5, 1.5, 0.5
"""The value of a form, added to the head's: a colon, a line without an end, words in one
sentence."""

_WORDS_OF_A_LINE_MIN = 4
_QUOTED_WORDS_MIN = 3

_LINE = re.compile(r"[ \t]*(?:[>|]|(?P<fence>```|~~~))")
_FORWARDED = re.compile(r"\s*(?:fwd?|wg|tr|rv)\s*:", re.I)
_RULE = "----"
_ANSWERED = re.compile(
    r"(?:On|Am|Le|El|Il|Em|Op)\b[^\d\n]{1,40}+\d[^\n:]{1,200}+(?::\d[^\n:]{1,200}+){0,3}:\Z"
)
"""The line of a mail program before the answered mail: date and writer."""

_WORD = re.compile(r"\w")
_LABEL = re.compile(r"(?m)^[ \t]*([^\W\d_]{1,20}):[ \t]")
_MARK = re.compile(r"\n\s*\n|[\"“”„«»]|(?<!\w)['‘](?=\w)|(?<=\S)['’](?!\w)")
_CLOSED_BY = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "'": "'’", "‘": "'’"}
_SALUTATION = re.compile(
    r"(?:\S |[.:]\s{1,9})((?:Dear|Hi|Hello|Hey|Hallo|Lieber?|Sehr geehrte\w?|Hola|Querid[oa]"
    r"|Ch[eè]re?)(?: [\w.'’-]{1,30}+){1,3},)"
)
_FAREWELL = re.compile(
    r"\s[^\W\d_a-z][^\W\d_]{0,20}+(?: [^\W\d_]{1,20}+){0,2}(?:,\s|\n)\s{0,9}"
    r"[^\W\d_a-z][\w.'’-]{1,30}+(?: [^\W\d_a-z][\w.'’-]{0,30}+){0,2}(?=[^\w\n]*+(?:\n|\Z))"
)
"""The beginning and end of a letter after other words: "Dear Bo, … Best, Al"; a line end or a comma
comes before the writer's name. A turn that begins with a salutation is the contact's own."""

_LETTER_LENGTH_MAX = 2_000
"""The most characters from a salutation to its farewell."""

_OWN_VOICE = re.compile(r"\W*(?:by the way|btw|anyway|as for me|übrigens|por cierto)\b", re.I)
_SELF = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|my|our|ich|mein\w{0,2})(?![\w'’])", re.I)
_SPEAKER = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|ich|wir)(?![\w'’])", re.I)
_SUBJECT = re.compile(r"(?<![\w'’])(?:i|i['’]\w{1,3}|we|we['’]\w{1,3}|my|our)(?![\w'’])", re.I)
_JOINED = re.compile(
    r"(?:[;.]|\b(?:and|but|so|because|since|as|when|while|und|aber|weil|da|denn))\W*\Z", re.I
)
_CORRECTING = re.compile(r"\W*(?:correction|korrektur|berichtigung|correcci[oó]n):", re.I)
_OPENER = re.compile(r"\W*(?:i|i['’]\w{1,3}|we|we['’]\w{1,3})\b", re.I)
_RELATIVE = re.compile(r"\b(?:that|which|who|where)\Z", re.I)


@in_order
class Part:
    """A part of a turn that may introduce other words.

    Attributes:
        text: its words.
        form: the weight of its form alone; added to the value of its meaning.
    """

    text: str
    form: float = 0.0


def is_marked_at(text: str, start: int, end: int) -> bool:
    """True if the words at that place of a turn are a quotation, by its marks alone.

    They are in quotation marks, on a line with a ``>``, in a block of code, in a log of a talk,
    behind the header of a forwarded message, and in a letter behind other words. Marks around a
    word or two only name something.
    """
    return any(
        begin < end and start < stop and _covers(text, begin, stop, start, end)
        for begin, stop in _marked(text)
    )


def _covers(text: str, begin: int, stop: int, start: int, end: int) -> bool:
    """True if the cited words are the quoted ones, or a sentence that quotes the speaker's "I"."""
    if begin <= start + 1 and end <= stop + 1:
        return True
    inside, outside = text[max(begin, start) : min(stop, end)], text[start : max(begin, start)]
    return bool(_SELF.search(inside)) and not _SPEAKER.search(outside)


@lru_cache(maxsize=8)
def _marked(text: str) -> tuple[tuple[int, int], ...]:
    """Find where the marked parts of a text begin and end, in one pass: a text may be long."""
    header = _end_of_header(text)
    behind = [(header, len(text))] if header is not None else []
    behind += _letters(text)
    return (*_marked_lines(text), *_quotations(text), *behind)


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Find where letters after other words begin and end."""
    farewells = [found.span() for found in _FAREWELL.finditer(text)]
    for salutation in _SALUTATION.finditer(text):
        begin, end = salutation.span(1)
        at = bisect_right(farewells, (end, end))
        if at < len(farewells) and farewells[at][0] <= end + _LETTER_LENGTH_MAX:
            yield begin, farewells[at][1]


def _end_of_header(text: str) -> int | None:
    """Find the end of a forwarded message's header, such as words on a line between two rules."""
    if forwarded := _FORWARDED.match(text):
        return forwarded.end()
    at = 0
    for line in text.split("\n"):
        at += len(line)
        words = line.strip(" \t")
        is_rule = words.startswith(_RULE) and words.endswith(_RULE) and _WORD.search(words)
        if is_rule or _ANSWERED.match(words):
            return at
        at += 1
    return None


def _marked_lines(text: str) -> Iterator[tuple[int, int]]:
    """Find lines of quotations, code and logs: a log has a label more than once."""
    speakers = Counter(match[1] for match in _LABEL.finditer(text))
    at, is_code = 0, False
    for line in text.splitlines(keepends=True):
        mark, label = _LINE.match(line), _LABEL.match(line)
        is_code ^= bool(mark and mark["fence"])
        if is_code or mark or (label and speakers[label[1]] > 1):
            yield at, at + len(line)
        at += len(line)


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Find text between quotation marks of one paragraph, if it is more than a name."""
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if opened is not None and mark[0] in _CLOSED_BY[opened[0]]:
            if len(text[opened.end() : mark.start()].split()) >= _QUOTED_WORDS_MIN:
                yield opened.end(), mark.start()
            opened = None
        elif "\n" in mark[0]:
            opened = None
        elif opened is None and mark[0] in _CLOSED_BY:
            opened = mark


def parts_around(text: str, span: str) -> Iterator[Part]:
    """Find parts of a turn that may introduce cited words: nearby sentences, and lead-ins.

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
        announced, colon, said = sentence.text[:_LENGTH_MAX].partition(": ")
        if not _SELF.search(said):  # else what is said behind the colon is a statement
            yield _part(text, sentence)
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
    return Part(said, _BROKEN_OFF if ends_line and is_long and said[-1].isalnum() else 0.0)


def _leads(sentence: Sentence, at: int) -> Iterator[Part]:
    """Find the lead-in, in their sentence, to the cited words, or to a later "I" in them."""
    said = sentence.text
    if at > 0:
        starts = [at]
    else:
        starts = [match.start() for match in _SUBJECT.finditer(said) if match.start() > 0]
    for start in starts:
        lead = said[:start].rstrip("\"'“„«‘ \t")
        is_joined = _JOINED.search(lead) or (at <= 0 and _RELATIVE.search(lead))
        is_lead = lead.endswith(":") or len(lead.split()) > 2
        is_own = _CORRECTING.fullmatch(lead) or (at <= 0 and _OPENER.match(lead))
        if is_lead and not is_joined and not is_own:
            yield Part(lead[-_LENGTH_MAX:], _COLON if lead.endswith(":") else _LED)
            return
