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
        english: those of them that no other language has.
        sides: by word, its closed class and the side of it on which the word stands.
    """

    acronyms: frozenset[str]
    addition: re.Pattern[str]
    articles: frozenset[str]
    attitudes: frozenset[str]
    auxiliaries: frozenset[str]
    be: frozenset[str]
    cardinals: dict[str, int]
    cessation: re.Pattern[str]
    change: re.Pattern[str]
    clause_marks: frozenset[str]
    countable: frozenset[str]
    correction: re.Pattern[str]
    currencies: dict[str, str]
    degrees: frozenset[str]
    denying_signs: frozenset[str]
    doubts: frozenset[str]
    ended_before: re.Pattern[str]
    ended_behind: re.Pattern[str]
    endings: frozenset[str]
    english: frozenset[str]
    exact_signs: frozenset[str]
    foreign: frozenset[str]
    foreign_negations: frozenset[str]
    frequencies: dict[str, str]
    function_words: frozenset[str]
    is_no_more: re.Pattern[str]
    lifted: re.Pattern[str]
    light: frozenset[str]
    list_marks: frozenset[str]
    measures: frozenset[str]
    month_beside_day: str
    months: dict[str, int]
    multipliers: dict[str, int]
    negations: frozenset[str]
    negative_prefixes: tuple[str, ...]
    numbered: frozenset[str]
    numerals: dict[str, int]
    occasions: frozenset[str]
    ordinals: dict[str, int]
    payments: frozenset[str]
    positions: frozenset[str]
    possessives: frozenset[str]
    prepositions: frozenset[str]
    quotes: frozenset[str]
    races: frozenset[str]
    read_as: dict[str, str]
    relatives: frozenset[str]
    resumed: re.Pattern[str]
    retraction: re.Pattern[str]
    rewording: frozenset[str]
    roster: frozenset[str]
    sentence_marks: frozenset[str]
    sizes: frozenset[str]
    sides: dict[str, tuple[int, int]]
    stages: frozenset[str]
    stand_in: re.Pattern[str]
    suppositions: frozenset[str]
    times_a_year: dict[str, int]
    turns: frozenset[str]
    verb_endings: frozenset[str]
    weekdays: frozenset[str]
    wishes: frozenset[str]


@cache
def vocabulary() -> Vocabulary:
    """The classes, read at the first call."""
    words, word_set = lexicon("guard").words, lexicon("guard").word_set
    auxiliaries = word_set("be") | word_set("auxiliary")
    function_words = auxiliaries.union(
        *map(word_set, ("preposition", "negation", "article", "possessive", "function_word"))
    )
    return Vocabulary(
        acronyms=word_set("acronym"),
        addition=_cues().pattern("addition"),
        articles=word_set("article"),
        attitudes=word_set("attitude"),
        auxiliaries=auxiliaries,
        be=word_set("be"),
        cardinals=_numbers("cardinal"),
        cessation=_cues().pattern("cessation"),
        change=_cues().pattern("change"),
        clause_marks=word_set("clause_mark", "supposition"),
        countable=word_set("measure") | {"singl", "weekend", "fortnight", "quarter"},
        correction=_cues().pattern("correction"),
        currencies=lexicon("guard").by_word("currency"),
        degrees=word_set("degree"),
        denying_signs=word_set("denying_sign"),
        doubts=word_set("doubt"),
        ended_before=_cues().pattern("ended_before"),
        ended_behind=_cues().pattern("ended_behind"),
        endings=word_set("ending", "verb_ending") | {""},
        english=function_words - word_set("shared_word"),
        exact_signs=word_set("exact_sign"),
        foreign=word_set("foreign", "foreign_negation"),
        foreign_negations=word_set("foreign_negation"),
        frequencies=lexicon("guard").by_word("frequency"),
        function_words=function_words,
        is_no_more=_cues().pattern("is_no_more"),
        lifted=_cues().pattern("lifted"),
        light=word_set("light"),
        list_marks=word_set("list_mark"),
        measures=word_set("measure"),
        month_beside_day=lexicon("guard").any_of("month_beside_day"),
        months={month: number for number, month in enumerate(words("month"), start=1)},
        multipliers=_numbers("multiplier"),
        negations=word_set("negation"),
        negative_prefixes=words("negative_prefix"),
        numbered=word_set("numbered"),
        numerals=_numbers("cardinal") | _numbers("numeral"),
        occasions=word_set("occasion"),
        ordinals=_numbers("ordinal"),
        payments=word_set("payment"),
        positions=word_set("position"),
        possessives=word_set("possessive"),
        prepositions=word_set("preposition"),
        quotes=word_set("quote"),
        races=word_set("race"),
        read_as=lexicon("guard").by_word("read_as"),
        relatives=word_set("relative"),
        resumed=_cues().pattern("resumed"),
        retraction=_cues().pattern("retraction"),
        rewording=word_set("rewording"),
        roster=word_set("roster"),
        sentence_marks=word_set("sentence_mark"),
        sizes=word_set("size"),
        sides=_sides(words("opposite")),
        stages=word_set("stage"),
        stand_in=_cues().pattern("stand_in"),
        suppositions=word_set("supposition"),
        times_a_year=_numbers("times_a_year"),
        turns=word_set("turn"),
        verb_endings=word_set("verb_ending") | {""},
        weekdays=word_set("weekday"),
        wishes=word_set("wish"),
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
