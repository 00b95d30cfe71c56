"""The closed classes of words that the guard knows, as ``config/lexicon/guard.toml`` lists them.

Only how they are looked up lives here. What depends on a text never does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from reconciler.lexicon import Cues, lexicon

__all__ = ["Vocabulary", "vocabulary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The classes of words; what each is for stands in the file.

    Attributes:
        function_words: all words without a content of their own, the smaller classes included.
        sides: by word, its closed class and the side of it on which the word stands.
    """

    articles: frozenset[str]
    auxiliaries: frozenset[str]
    be: frozenset[str]
    cardinals: dict[str, int]
    cessation: re.Pattern[str]
    correction: re.Pattern[str]
    currencies: dict[str, str]
    degrees: frozenset[str]
    function_words: frozenset[str]
    list_marks: frozenset[str]
    measures: frozenset[str]
    month_beside_day: str
    months: dict[str, int]
    multipliers: dict[str, int]
    negations: frozenset[str]
    negative_prefixes: tuple[str, ...]
    numbered: frozenset[str]
    ordinals: dict[str, int]
    possessives: frozenset[str]
    prepositions: frozenset[str]
    quotes: frozenset[str]
    relatives: frozenset[str]
    sentence_marks: frozenset[str]
    sides: dict[str, tuple[int, int]]
    weekdays: frozenset[str]


@cache
def vocabulary() -> Vocabulary:
    """The classes, read at the first call."""
    words, word_set = lexicon("guard").words, lexicon("guard").word_set
    auxiliaries = word_set("be") | word_set("auxiliary")
    return Vocabulary(
        articles=word_set("article"),
        auxiliaries=auxiliaries,
        be=word_set("be"),
        cardinals=_numbers("cardinal"),
        cessation=_cues().pattern("cessation"),
        correction=_cues().pattern("correction"),
        currencies=lexicon("guard").by_word("currency"),
        degrees=word_set("degree"),
        function_words=auxiliaries.union(
            *map(word_set, ("preposition", "negation", "article", "possessive", "function_word"))
        ),
        list_marks=word_set("list_mark"),
        measures=word_set("measure"),
        month_beside_day=lexicon("guard").any_of("month_beside_day"),
        months={month: number for number, month in enumerate(words("month"), start=1)},
        multipliers=_numbers("multiplier"),
        negations=word_set("negation"),
        negative_prefixes=words("negative_prefix"),
        numbered=word_set("numbered"),
        ordinals=_numbers("ordinal"),
        possessives=word_set("possessive"),
        prepositions=word_set("preposition"),
        quotes=word_set("quote"),
        relatives=word_set("relative"),
        sentence_marks=word_set("sentence_mark"),
        sides=_sides(words("opposite")),
        weekdays=word_set("weekday"),
    )


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
