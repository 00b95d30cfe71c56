"""Kinds of values: whether words are one value of their kind, and nothing else. Pure.

What a normaliser makes a key of, that key tells; all else is told by capitals, in any alphabet, or
by the words that the book lists. Nothing here knows the world: no list of towns, companies or jobs
(a gazetteer that knows small towns takes 187 MB). In doubt the words are no value, and nothing is
read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from functools import cache

from reconciler.frozen import StringSet
from reconciler.reading.lexicon import lexicon
from reconciler.reading.values import addresses, amounts, dates, locales
from reconciler.reading.values.text import text

_DATE = re.compile(r"(?:\d{4}-\d{2}|--\d{2})(?:-\d{2})?(?:T.*)?")
_PHONE = re.compile(r"\+?\d[\d ()./-]{5,24}\d")
_NUMBER_IN_A_STREET = re.compile(r"\d{1,5}[A-Za-z]?(?:[-/]\d{1,4}[A-Za-z]?)?")
_ZONE = re.compile(r"[A-Z]{2,5}|[A-Z][a-z]+/[A-Z][A-Za-z_/]+|(?:UTC|GMT) ?[+-] ?\d{1,2}(?::\d\d)?")
_ADDRESS_WORDS_MAX = 12
_LOCALE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?")


@cache
def listed(name: str) -> StringSet:
    """The words of one list of the book of slots."""
    return lexicon("slots").word_set(name)


def _named(joining: str, words_max: int) -> Callable[[str], bool]:
    """What tells a proper name: capitals, and the small words that join them."""

    def is_named(said: str) -> bool:
        words = said.split()
        joins = listed(joining)
        return (
            0 < len(words) <= words_max
            and all(_is_capital(word) or word in joins for word in words)
            and _is_capital(words[-1])
            and all(map(_is_word, words))
        )

    return is_named


def _is_capital(word: str) -> bool:
    """True if it begins as a name does; a letter that knows no capitals does not tell."""
    return word[0].isupper() or unicodedata.category(word[0]) == "Lo"


def _is_word(word: str) -> bool:
    letters = word.rstrip(".")
    is_plain = all(unicodedata.category(each)[0] in "LM" or each in "'’-&." for each in letters)
    return is_plain and letters.casefold() not in listed("calendar")


_is_named_place = _named("joining_place", 4)
_is_named_person = _named("joining_person", 4)
_is_named_role = _named("joining_role", 7)
_is_named_organisation = _named("joining_organisation", 5)


def _is_person(said: str) -> bool:
    """A name that is no language: "the decision maker is German" names no person."""
    words = {word.casefold().rstrip(".") for word in said.split()}
    is_shouted = said.isupper() and len(said) > 2  # "call me ASAP"
    is_somebody = not words <= lexicon("values").word_set("title") and not is_shouted
    is_answer = not words.isdisjoint(listed("no_person"))
    return is_somebody and not is_answer and _is_named_person(said) and not _is_language(said)


def _is_organisation(said: str) -> bool:
    """A name that owns nothing: who works for "Globex's rival" works elsewhere."""
    return _is_named_organisation(said) and not re.search(r"['’]s ", said)


def _is_role(said: str) -> bool:
    return len(said) > 1 and _is_named_role(said)


def _is_job(said: str) -> bool:
    """True for a job after "works as a": one word or two, neither of which joins something on."""
    words = said.split()
    function_words = listed("function_word")
    return 0 < len(words) <= 2 and all(
        word.replace("-", "").isalpha() and word.casefold() not in function_words for word in words
    )


def _is_email(said: str) -> bool:
    return " " not in said and "." in addresses.email(said).partition("@")[2]


def _is_phone(said: str) -> bool:
    return _PHONE.fullmatch(said) is not None and not _is_date(said)


def _is_street_address(said: str) -> bool:
    """A number beside names, in parts between commas: "9 Oak Road, Bath"."""
    words = said.replace(",", " ").split()
    numbers = [word for word in words if _NUMBER_IN_A_STREET.fullmatch(word)]
    named = [word for word in words if word not in numbers]
    joins = listed("joining_place")
    return (
        0 < len(numbers) < len(words) <= _ADDRESS_WORDS_MAX
        and any(map(_is_capital, named))
        and all(word in joins or (_is_capital(word) and word[-1].isalnum()) for word in named)
        and not _is_date(said)
    )


def _is_language(said: str) -> bool:
    return len(said) > 3 and _LOCALE.fullmatch(locales.language(said)) is not None


def _is_country(said: str) -> bool:
    return len(said) > 3 and len(locales.country(said)) == 2


def _is_date(said: str) -> bool:
    return _DATE.fullmatch(dates.date_time(said)) is not None


def _is_number(said: str) -> bool:
    return amounts.number(said).isdigit()


def _is_money(said: str) -> bool:
    """An amount: in a currency, or of three digits at least."""
    number, _, counted_in = amounts.money(said).partition("/")[0].partition(" ")
    is_number = number.replace(".", "").isdigit()
    return is_number and (len(number) > 2 if not counted_in else counted_in.isupper())


def _is_currency(said: str) -> bool:
    return re.fullmatch(r"[A-Z]{3}", amounts.currency(said)) is not None


def _is_percent(said: str) -> bool:
    return not said[-1].isdigit() and amounts.percent(said)[:-1].replace(".", "").isdigit()


def _is_zone(said: str) -> bool:
    return _ZONE.fullmatch(said) is not None


def _is_url(said: str) -> bool:
    return " " not in said and "." in said.partition("/")[0] and "/" in said and "@" not in said


def _is_substance(said: str) -> bool:
    """One plain word or two; a capital is a joke more often: "allergic to Mondays"."""
    is_answer = not listed("no_substance").isdisjoint(said.split())
    return said.islower() and _is_job(said) and not is_answer


def _is_none(_: str) -> bool:
    return False


KINDS: Mapping[str, Callable[[str], bool]] = {
    "country": _is_country,
    "currency": _is_currency,
    "date": _is_date,
    "email": _is_email,
    "job": _is_job,
    "known": _is_none,
    "language": _is_language,
    "listed": _is_none,
    "money": _is_money,
    "number": _is_number,
    "organisation": _is_organisation,
    "percent": _is_percent,
    "person": _is_person,
    "phone": _is_phone,
    "place": _is_named_place,
    "role": _is_role,
    "street_address": _is_street_address,
    "substances": _is_substance,
    "time_zone": _is_zone,
    "url": _is_url,
}
"""By name, what tells a value; ``known`` is one that the book lists, and so is any other kind's.
``listed`` may be several of them."""

OF_SEVERAL = frozenset({"listed", "substances"})
"""Kinds of which several may stand together: "nuts, eggs and soy"."""

TOLD_BY_CAPITALS = frozenset({"place", "role"})
"""Kinds with values that only capitals tell: "The role is Open" names no value."""

OF_ANY_OWNER = frozenset({"date", "money", "number", "percent", "person"})
"""Kinds of what an account has, so that "the budget" is the contact's."""


_BETWEEN = re.compile(r",? (?:and|or|&) |, ")


def is_value(said: str, kind: str, known: Collection[str]) -> bool:
    """True if the words are one value of the kind, or one that the book lists."""
    parts = _BETWEEN.split(said) if kind in OF_SEVERAL else [said]
    return all(part and (text(part) in known or KINDS[kind](part)) for part in parts)
