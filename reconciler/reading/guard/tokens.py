"""Tokens: a text cut into words, numbers, dates, ids and marks, each with the value to compare.

Two spellings of one value get the same value here ("3pm" and "15:00", "twenty-five" and 25). The
meaning of several tokens together is read elsewhere: a token knows only itself and the number
before it.

The closed classes of words that the guard knows, as ``config/lexicon/guard.toml`` lists them.

Only their lookup lives here; nothing here depends on a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from reconciler.reading.lexicon import Cues, lexicon
from reconciler.reading.sensitive_data import TOKEN, without_scheme
from reconciler.reading.text_reading import read_text


class Vocabulary:
    """The classes of words; the file says what each is for.

    ``function_words`` are all words without content, and ``english`` those of them that no other
    language has. ``sides`` gives for each word its closed class and its side.
    """

    def __init__(self) -> None:
        known = lexicon("guard")
        words, word_set, cue = known.words, known.word_set, _cues().pattern
        self.auxiliaries = word_set("be", "auxiliary")
        self.function_words = self.auxiliaries | word_set(
            "preposition", "negation", "article", "possessive", "function_word"
        )
        self.acronyms = word_set("acronym")
        self.addition = cue("addition")
        self.articles = word_set("article")
        self.at_least = cue("at_least")
        self.at_most = cue("at_most")
        self.attitudes = word_set("attitude")
        self.be = word_set("be")
        self.cardinals = _numbers("cardinal")
        self.cessation = cue("cessation")
        self.change = cue("change")
        self.clause_marks = word_set("clause_mark", "supposition")
        self.comparing = word_set("comparing")
        self.correction = cue("correction")
        self.currencies = known.by_word("currency")
        self.degrees = word_set("degree")
        self.denying_signs = word_set("denying_sign")
        self.directions = word_set("direction")
        self.disposing = word_set("disposing")
        self.doubts = word_set("doubt")
        self.ended_before = cue("ended_before")
        self.ended_behind = cue("ended_behind")
        self.english = self.function_words - word_set("shared_word")
        self.event = cue("event")
        self.exact_signs = word_set("exact_sign")
        self.first_person = cue("first_person")
        self.foreign = word_set("foreign", "foreign_negation")
        self.foreign_negations = word_set("foreign_negation")
        self.governing = word_set("governing")
        self.is_no_more = cue("is_no_more")
        self.lifted = cue("lifted")
        self.light = word_set("light")
        self.list_marks = word_set("list_mark")
        self.measures = word_set("measure")
        self.month_beside_day = known.any_of("month_beside_day")
        self.months = {month: number for number, month in enumerate(words("month"), start=1)}
        self.multipliers = _numbers("multiplier")
        self.negations = word_set("negation")
        self.negative_prefixes = words("negative_prefix")
        self.nominatives = word_set("nominative")
        self.no_less_than = cue("no_less_than")
        self.no_more_than = cue("no_more_than")
        self.not_without = cue("not_without")
        self.numbered = word_set("numbered")
        self.occurrence = cue("occurrence")
        self.one_more = cue("one_more")
        self.ordinals = _numbers("ordinal")
        self.parting_beginnings = word_set("parting_beginning")
        self.parting_endings = word_set("parting_ending")
        self.parts = word_set("part")
        self.payments = word_set("payment")
        self.positions = word_set("position")
        self.possessives = word_set("possessive")
        self.prepositions = word_set("preposition")
        self.quotes = word_set("quote")
        self.read_as = known.by_word("read_as")
        self.relatives = word_set("relative")
        self.requires = cue("requires")
        self.resumed = cue("resumed")
        self.retraction = cue("retraction")
        self.rewording = word_set("rewording")
        self.sentence_marks = word_set("sentence_mark")
        self.short_of = word_set("short_of")
        self.sides = _sides(words("opposite"))
        self.stages = word_set("stage")
        self.stand_in = cue("stand_in")
        self.suppositions = word_set("supposition")
        self.third_person = cue("third_person")
        self.turning = word_set("turning")
        self.turns = word_set("turn")
        self.verb_endings = word_set("verb_ending") | {""}
        self.weekdays = word_set("weekday")
        self.wishing = cue("wishing")
        self.wishes = word_set("wish")


@cache
def vocabulary() -> Vocabulary:
    """Classes, read at the first call."""
    return Vocabulary()


@cache
def _cues() -> Cues:
    return Cues(lexicon("guard"))


def _numbers(name: str) -> dict[str, int]:
    return {word: int(number) for word, number in lexicon("guard").by_word(name).items()}


def _sides(lines: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    return {
        word: (number, side)
        for number, line in enumerate(lines)
        for side, words in enumerate(line.split("|"))
        for word in words.split()
    }


TOKENS_MAX = 500
"""The most tokens read from a text, to bound the time for any string; a note has 2,000 characters
at most."""

SENTENCE_ENDS = frozenset(".!?")
"""Values of a mark that ends a sentence; a mark inside a sentence has none."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters, as the inside of a set, of scripts that put no space between words: Thai, Lao, Burmese,
Khmer, Japanese, Chinese. Each counts as a word."""

_SAYS_NOTHING = frozenset("+|~=^`´¨©®™")
"""Symbols that at most replace or decorate a word."""

_THOUSANDS_OR_PARTS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""A number that one reader takes for 1,500 and another for 1.5, so it equals neither."""

_DECIMAL_COMMA = re.compile(r"\d{1,3},\d{1,2}")
_AFTER_NO_ARTICLE = ("at", "for", "from", "is", "of", "on", "was", "with")
"""Words that make the "a" before them a label: "agent a on file"."""

_MONTHS, _YEAR_LENGTH = 12, 4

_ROMAN = frozenset("IVX")
"""Digits of the Roman numbers that tell one thing from another; the larger ones look like words."""


@cache
def _combining() -> str:
    """Marks that belong to the letter before them, as the inside of a set."""
    marks = (
        chr(code)
        for start, end in ((0x300, 0xFE00), (0xFE20, 0xFE30))
        for code in range(start, end)
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
    )
    return "".join(marks)


@cache
def _token() -> re.Pattern[str]:
    month = vocabulary().month_beside_day
    return re.compile(
        rf"""
        (?P<token>{TOKEN.pattern})  # what stands for a value: its hash has no digits to be read
      | (?P<year>(?<![\w.-])(?:19|20)\d\d(?=-(?:0[1-9]|1[0-2])-[0-3]\d(?![\w-])))
      | (?P<numbered_day>(?<=\d{{4}})-[01]\d-[0-3]\d(?![\w-])
                       | (?<![\w./-])\d\d?(?:\.\d\d?\.|/\d\d?/)(?=(?:19|20)\d\d(?![\w./-]*\d)))
      | (?P<plain>(?!{month}\b)[a-z]{{2,}}(?=[\ ,]))  # most words; the rest takes longer
      | (?P<id>[\w.+-]{{1,64}}@[\w.-]{{1,64}} | https?://\S+ | \+\d[\d\ ().-]{{6,20}}\d
             | \b\d{{3}}[-.]\d{{3}}[-.]\d{{4}}\b | \b[a-z]{{1,8}}[-_/]?\d[\w/-]*
             | \b\d+-\d+-[\d-]+\b )
      | (?P<dotted>\b\d{{1,9}}\.\d{{1,9}}\.\d[\d.]{{0,60}}
                 | \b[\w-]{{1,64}}+\.(?-i:[a-z][a-z0-9]{{1,9}})\b[\w./-]{{0,64}})
      | (?P<tag>(?<!\w)[\#@][a-z][\w-]{{1,64}})
      | (?P<initials>\b[a-z]\.[a-z]\b(?:\.[a-z]\b)?\.?)
      | (?P<time>\b\d{{1,2}}(?:[:.]\d\d)?\ ?[ap]\.?m\b\.? | \b\d{{1,2}}:\d\d\b)
      | (?P<ratio>\b\d{{1,3}}[/:]\d[\d/:]{{0,20}})
      | (?P<day>\b\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{month}\b
              | \b{month}\ \d{{1,2}}(?:st|nd|rd|th)?\b)
      | (?P<ordinal>\b\d{{1,9}}(?:st|nd|rd|th)\b)
      | (?P<minus>(?<![^\s(\[:=,;])[-−](?=[$€£¥₹]?\d))
      | (?P<number>\b\d{{1,3}},\d{{1,2}}(?![\d,])
               | \d{{1,30}}(?:,\d{{3}})*(?:\.\d{{1,30}})?(?:(?:k|m|bn)\b)?)
      | (?!\A.\Z)(?P<label>(?<=[\s(/\[])[ai](?:[+\#-]{{1,2}}(?!\w)|(?=\s*(?:[^\w\s'’"“(&-]|$)))
               | (?<![\w'’-])[b-hj-z](?:[+\#-]{{1,2}}(?!\w))?(?![\w'’-])
               | (?<=\w-)[a-z](?![\w'’-]) | (?<=\d)[a-rt-z]\b | (?-i:(?<=\w\ )A)\b)
      | (?P<word>[{UNSPACED}] | n['’]t\b | [^\W\d_]+?(?=n['’]t\b)
               | [^\W\d_{UNSPACED}](?:[^\W\d_{UNSPACED}]|[{_combining()}])*)
      | (?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})
      | (?P<sign>(?<=\w)\+(?!\w) | (?<!\S)[:;]-?[()](?!\w))
      | (?P<mark>[^\w\s])
        """,
        re.VERBOSE | re.IGNORECASE,
    )


@cache
def _closed() -> dict[str, tuple[str, str]]:
    """Words for which a table has a kind and a value.

    "One" has a kind of its own, as it is a pronoun more often than a number.
    """
    known = vocabulary()
    return (
        {word: ("function", word) for word in known.function_words}
        | {word: ("number", str(value)) for word, value in known.cardinals.items()}
        | {"one": ("one", "1")}
        | {word: ("ordinal", f"{value}th") for word, value in known.ordinals.items()}
        | {word: ("month", word) for word in known.months}
        | {day + plural: ("weekday", day) for day in known.weekdays for plural in ("", "s")}
        | {
            word: ("multiplier", str(value))
            for word, value in known.multipliers.items()
            if len(word) > 2
        }
        | {word: ("currency", code) for word, code in known.currencies.items()}
    )


class Token(NamedTuple):
    """A piece of a text; ``value`` is what is compared: a stem, a number's digits, "15:00"."""

    kind: str
    value: str
    text: str


def tokens_of(text: str) -> list[Token]:
    """Pieces of a text in order, at most ``TOKENS_MAX``; white space is none."""
    text = without_scheme(text)
    read: list[Token] = []
    stops = read_text(text).stops
    for match in islice(_token().finditer(text), TOKENS_MAX):
        token = _labelled(read, _READERS[match.lastgroup or "mark"](match.group()))
        if token.kind == "multiplier":
            token = _multiplied(read, token)
        elif token.kind in ("number", "year", "one"):
            token = (_added if token.text[0].isalpha() else _numbered)(read, token)
        elif token.value in SENTENCE_ENDS and match.start() not in stops:
            if token.value == "." and text[match.end() : match.end() + 1].isspace():
                continue  # "Dr. Patel"
            token = token._replace(value="")  # "a.txt" is one sentence
        read.append(token)
        if match.lastgroup == "numbered_day":
            _named_by_its_date(read, text, match.span())
    return read


def _named_by_its_date(read: list[Token], text: str, span: tuple[int, int]) -> None:
    """Put the day before its year, as in "3 May 2026"; the whole date is its name."""
    start, end = span
    if text[start] != "-":
        read[-1] = read[-1]._replace(text=text[start : end + _YEAR_LENGTH])
        return
    read[-1] = read[-1]._replace(text=text[start - _YEAR_LENGTH : end])
    read[-2:] = reversed(read[-2:])


def kind_of(word: str) -> str:
    """Kind of a lower-case word by itself; "word" for most."""
    return _closed().get(word, ("word", ""))[0]


def stem_of(word: str) -> str:
    """Word without its inflection, roughly: smokes, smoked and smoking are one."""
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 4 and word.endswith("ee"):
        return word[:-2]  # "agree" as "agreed"
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


def _is_numbered(read: list[Token]) -> bool:
    """True if the tokens before make the next number a name: "invoice 2022", "no. 2022"."""
    said = [token.text.lower() for token in read[-2:] if token.value not in (".", ":")]
    return bool(said) and said[-1] in vocabulary().numbered


def _labelled(read: list[Token], token: Token) -> Token:
    """Make "a" and "I" labels if they cannot be words: "A is approved", "type I diabetes"."""
    before = read[-1].text if read else ""
    is_named = before == "A" and token.value in vocabulary().auxiliaries
    if is_named or (before in ("a", "A") and token.value in _AFTER_NO_ARTICLE):
        read[-1] = _read_label(before)
    is_label = token.text == "I" and before.lower() in vocabulary().numbered
    return _read_label(token.text) if is_label else token


def _numbered(read: list[Token], token: Token) -> Token:
    """Number as the tokens before it make it: below zero, or a version such as 3.10."""
    if _is_numbered(read):
        token = token._replace(kind="number")
    is_named = len(read) > 1 and read[-1].kind == "word" and read[-1].text[0].isupper()
    if "." in token.text and (is_named or _is_numbered(read)):
        token = token._replace(value=token.text)
    has_currency = bool(read) and read[-1].kind == "currency"
    at = len(read) - 1 - has_currency
    if at >= 0 and read[at].kind == "minus":
        del read[at]
        token = token._replace(value=f"-{token.value}", text=f"-{token.text}")
    return token


def _multiplied(read: list[Token], token: Token) -> Token:
    """Make one number of "2 million"; without a number before, "million" is a word."""
    if not read or read[-1].kind not in ("number", "year", "one"):
        return token._replace(kind="word")
    before = read.pop()
    value = float(before.value) * float(token.value)
    return Token("number", f"{value:.15g}", f"{before.text} {token.text}")


def _added(read: list[Token], token: Token) -> Token:
    """Make one number of "twenty-five" and of "twenty five"."""
    hyphen = len(read) > 1 and read[-1].text == "-"
    before = read[-1 - hyphen] if read else token
    tens, ones = (vocabulary().cardinals.get(number.text.lower(), 0) for number in (before, token))
    if tens < 20 or ones >= 10:
        return token
    del read[-1 - hyphen :]
    return Token("number", str(tens + ones), f"{before.text}-{token.text}")


@lru_cache(maxsize=4096)
def _read_word(text: str) -> Token:
    lower = text.lower()
    if not text.isascii() and any(each.isnumeric() and not each.isalpha() for each in text):
        return Token("id", lower, text)  # "m²", "½"
    if text.isupper() and len(text) > 1:
        if _ROMAN.issuperset(text):
            return Token("id", lower, text)
        if lower in vocabulary().acronyms:
            return Token("word", lower, text)
    kind, value = _closed().get(lower, ("word", ""))
    if kind == "month" and not text[0].isupper():
        kind = "word"  # "may", "march"
    return Token(kind, value or stem_of(lower), text)


def _read_number(text: str) -> Token:
    lower = text.lower().replace(",", "." if _DECIMAL_COMMA.fullmatch(text) else "")
    digits = lower.rstrip("kmbn")
    if _THOUSANDS_OR_PARTS.fullmatch(text):
        return Token("number", text, text)
    value = float(digits) * vocabulary().multipliers.get(lower[len(digits) :], 1)
    is_year = len(text) == 4 and 1800 <= value < 2100
    return Token("year" if is_year else "number", f"{value:.15g}", text)


def _read_day(text: str) -> Token:
    lower = text.lower()
    month = next(number for name, number in vocabulary().months.items() if name[:3] in lower)
    return Token("day", f"{month}-{int(''.join(filter(str.isdecimal, text)))}", text)


def _read_numbered_day(text: str) -> Token:
    """Day of a date in figures, as words have it; 03/04 may be two days, so it is neither."""
    first, second = map(int, re.findall(r"\d+", text))
    is_day_first = "." in text or first > _MONTHS
    day, month = (first, second) if is_day_first else (second, first)
    is_one = "/" not in text or first == second or max(first, second) > _MONTHS
    return Token("day", f"{month}-{day}" if is_one else f"{first}/{second}", text)


def _read_time(text: str) -> Token:
    lower = text.lower()
    hour, minute = [*map(int, re.findall(r"\d+", text)), 0][:2]
    if "m" in lower:
        hour = hour % 12 + 12 * ("p" in lower)
    return Token("time", f"{hour}:{minute:02}", text)


def _read_mark(text: str) -> Token:
    known = vocabulary()
    if text in known.currencies:
        return Token("currency", known.currencies[text], text)
    if text in known.read_as:
        return _read_word(known.read_as[text])
    category = unicodedata.category(text[0])
    if category == "Sc":
        return Token("currency", text, text)
    is_sign = category in ("So", "Sm") and text not in _SAYS_NOTHING
    return Token("sign" if is_sign else "mark", text, text)


def _as(kind: str, value: Callable[[str], str]) -> Callable[[str], Token]:
    return lambda text: Token(kind, value(text), text)


_read_label = _as("id", str.lower)
_read_id = _as("id", lambda text: "".join(filter(str.isalnum, text.lower())))
_READERS: dict[str, Callable[[str], Token]] = {
    "plain": _read_word,
    "word": _read_word,
    "number": _read_number,
    "day": _read_day,
    "year": _read_number,
    "numbered_day": _read_numbered_day,
    "time": _read_time,
    "ordinal": _as("ordinal", lambda text: f"{int(text[:-2])}th"),
    "id": _read_id,
    "dotted": _as("id", lambda text: text.lower().strip("./")),
    "initials": lambda text: _read_word(text.replace(".", "")),
    "label": _read_label,
    "ratio": _as("ratio", lambda text: text.strip("/:")),
    "minus": _as("minus", lambda _: "-"),
    "flag": _read_mark,
    "sign": _as("sign", str),
    "tag": _read_label,
    "mark": _read_mark,
    "token": _read_id,
}
"""By the group of the pattern that matched."""
