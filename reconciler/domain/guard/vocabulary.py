"""The closed classes of English words that the guard knows, each with its reason.

Only words whose number is finite and small live here: number words, months, prepositions,
opposites. What depends on a text never does, and neither does a word of the open classes, which
would make the guard a thesaurus that is never complete.
"""

from __future__ import annotations

import re

__all__ = [
    "ARTICLES",
    "AUXILIARIES",
    "BE",
    "CARDINALS",
    "CESSATION",
    "CURRENCIES",
    "FUNCTION_WORDS",
    "LIST_MARKS",
    "MEASURES",
    "MONTHS",
    "MONTH_PATTERN",
    "MULTIPLIERS",
    "NEGATIONS",
    "NEGATIVE_PREFIXES",
    "ORDINALS",
    "POSSESSIVES",
    "PREPOSITIONS",
    "QUOTES",
    "RELATIVES",
    "SENTENCE_MARKS",
    "SIDES",
    "WEEKDAYS",
]


def _table(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbered(text: str, start: int = 1, step: int = 1) -> dict[str, int]:
    return {word: start + step * place for place, word in enumerate(text.split())}


# Numbers, dates and money

CARDINALS = _numbered(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    start=0,
) | _numbered("twenty thirty forty fifty sixty seventy eighty ninety", start=20, step=10)
"""Words that are numbers; "twenty-five" is put together from them."""

ORDINALS = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
) | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}
"""Words that are places in an order: "third" and "3rd" are one."""

MULTIPLIERS = {
    "k": 10**3,
    "m": 10**6,
    "bn": 10**9,
    "dozen": 12,
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
}
"""What stands after a number and multiplies it; the letters only without a space ("40k")."""

CURRENCIES = {
    word: words.split()[0]
    for words in (
        "usd $ dollar dollars",
        "eur € euro euros",
        "gbp £ sterling",
        "jpy ¥ yen",
        "inr ₹ rupee rupees",
    )
    for word in words.split()
}
"""Signs and words of a currency, and its code; "pound" is left out, as it is also a weight."""

MONTHS = _numbered(
    "january february march april may june july august september october november december"
)
"""Months and their numbers; they are dates only with a capital, as "may" and "march" are verbs."""

MONTH_PATTERN = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
"""A month beside its day, where the short forms are safe too."""

WEEKDAYS = _table("monday tuesday wednesday thursday friday saturday sunday")
"""Days of the week, without their plural."""

MEASURES = _table(
    "second minut hour day week month year tim mil kilometr km pound kg lb percent gb inch feet"
)
"""Stems of units that measure anything: only their context says what a number of them is about.

Source: measured on LongMemEval; without them, 5 days in Paris and 3 days ill read as a change."""


# The small words that hold a sentence together

PREPOSITIONS = _table(
    "in at on of by from to for with into during after before between through near under over "
    "against since until via as about within throughout among around"
)
"""Words that govern the phrase after them, and so say in which role it stands."""

BE = _table("is are was were be been being am")
"""What only joins two sides that may change places: "Paris is the capital"."""

AUXILIARIES = BE | _table(
    "do does did done has have had having will would can could shall should may might must ca wo"
)
"""Verbs that only help another; a capitalised word right before one is a name ("Acme will")."""

ARTICLES = _table("a an the")
"""Words that never carry a difference."""

POSSESSIVES = _table("my his her their our your its s")
"""Words that make what follows somebody's; "s" is what the tokens leave of "Ana's"."""

NEGATIONS = _table(
    "not no never none nobody nothing neither nor without cannot "
    "n't n’t dont doesnt didnt isnt cant"
)
"""Words that deny the one after them; the last ones are contractions as people type them."""

NEGATIVE_PREFIXES = ("dis", "un", "in", "im", "non")
"""Prefixes that deny the rest of their word, where the other text has just that rest."""

FUNCTION_WORDS = (
    PREPOSITIONS
    | AUXILIARIES
    | NEGATIONS
    | ARTICLES
    | POSSESSIVES
    | _table(
        "he she they i we you it this that these those and or but so yet off onto out per up upon "
        "than then him hers them theirs us ours me mine who whom whose which what where when while "
        "also both either there here re ve d ll m t along together because if such other another "
        "same just only"
    )
)
"""Words without a content of their own: they tell how two words hang together, never what of."""

LIST_MARKS = _table(", and or & /")
"""What stands between the members of a list, whose order says nothing."""

QUOTES = frozenset("\"'’‘”“`")
"""Marks of speech and of the genitive."""

SENTENCE_MARKS = frozenset('.!?:"“')
"""Marks after which a capital is a matter of course."""


# Words that make another statement

RELATIVES = _table(
    "husband wife partner spouse girlfriend boyfriend fiance fiancee brother sister sibling mother "
    "father mom mum dad parent parents son sons daughter daughters child children kid kids baby "
    "uncle aunt cousin nephew niece grandmother grandfather grandma grandpa friend friends "
    "colleague colleagues coworker boss manager assistant team neighbour neighbor roommate "
    "flatmate landlord tenant client customer dog cat"
)
"""Those about whom people talk in the place of themselves: "her husband is vegetarian"."""

CESSATION = re.compile(
    r"\b(?:no longer|any ?more|stop(?:s|ped|ping)|quit(?:s|ting)?|cancel(?:s|l?ed|l?ing)?"
    r"|g[ai]ve(?:s|n)? up|giving up|left|resigned|former(?:ly)?|retired|ceased|discontinued"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!get )(?<!be )(?<!getting )used to)\b"
)
"""What says that something has ended; whoever "is used to" something still does it."""

_OPPOSITES = tuple(
    tuple(_table(side) for side in line.split("|"))
    for line in (
        "north northern | south southern | east eastern | west western | central",
        "left | right",
        "inside indoors | outside outdoors",
        "up upstairs | down downstairs",
        "above | below",
        "near close nearby | far",
        "before | after",
        "more | less fewer",
        "most | least",
        "big large huge giant | small little tiny",
        "old elderly | young",
        "high higher | low lower",
        "hot warm | cold cool",
        "long longer | short shorter",
        "early earlier | late later",
        "open opened | closed shut",
        "love loves like likes | hate hates dislike dislikes",
        "accepted approved accepts | rejected declined refused rejects declines refuses",
        "buy buys bought | sell sells sold",
        "starts started begins began | stops stopped ends ended",
        "increased rose raised | decreased fell cut",
        "won wins | lost loses",
        "morning | afternoon | evening | night",
        "daily | weekly | fortnightly | monthly | quarterly | yearly annually",
        "single | married | divorced | widowed | engaged",
        "man men | woman women",
        "boy boys | girl girls",
        "black | white | red | green | blue | yellow | orange | purple | pink | brown | grey gray",
    )
)

SIDES = {
    word: (number, side)
    for number, sides in enumerate(_OPPOSITES)
    for side, words in enumerate(sides)
    for word in words
}
"""By word, its closed class and the side of it on which the word stands.

A word for a word of another side is a difference, for one of the same side it is not."""
