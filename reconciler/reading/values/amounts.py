"""Amounts: numbers, money, percent, and the currencies by name.

An amount keeps what it is counted in and per what; none is converted into another's unit or
currency, or rounded. A range, a bound ("up to 40k") and a count of something else are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache

from reconciler.frozen import Pattern, in_order
from reconciler.reading.guard.tokens import numbers_of
from reconciler.reading.lexicon import any_of, lexicon
from reconciler.reading.values.text import plain, text

# A separator before exactly three digits groups them, in any country's way of writing: 1,200 and
# 1.200 are both 1200, as amounts are seldom said to a thousandth.
_NUMBER = re.compile(
    r"(?P<whole>(?!0)\d{1,3}(?P<group>[.,'’_ ])\d{3}(?:(?P=group)\d{3})*"
    r"|(?!0)\d{1,2}(?:,\d{2})+,\d{3}|\d+)"
    r"(?:(?!(?P=group))[.,](?P<fraction>\d+))?"
)
_AMOUNT = re.compile(
    r"(?P<before>\D*?)(?P<sign>[-−–]?)(?P<number>\d(?:[\d.,'’_ ]*\d)?)(?P<after>\D*)"
)
_HEDGE = re.compile(
    r"^(?:(?:about|around|approximately|approx|roughly|circa|ca|some)(?=[ .]|$)\.?|[~≈])"
)


@cache
def _powers() -> dict[str, int]:
    return {word: int(power) for word, power in lexicon("values").by_word("power").items()}


@cache
def _multiplier() -> Pattern:
    words = sorted(_powers(), key=len, reverse=True)
    return re.compile(rf"^ ?({any_of(words)})(?![^\W\d_])\.?")


_PERIOD = re.compile(
    r" ?(?:/|\b(?:per|an?|each|every|pro)\b) ?(?P<each>[a-z]+)$"
    r"|(?<!\w)(?P<often>(?:annual|year|quarter|month|week|hour)ly|daily|pcm|p\.? ?[amw]\.?)$"
)
_DIGIT_COUNT_MAX = 24
_NOUNS = re.compile(
    r"^(?:years?(?: old| of age)?|yrs?(?: old)?|yo|y/o|employees|people|persons?|staff|headcount|"
    r"ftes?|users?|seats?|licen[cs]es?|points?)?$"
)


@in_order
class _Amount:
    """A number with what stands before and after it, and per what it is."""

    number: str
    before: str
    after: str
    period: str


def number(said: str) -> str:
    """Return digits alone, also of "1.2k" and "about 1,200 employees"; text if it says more."""
    amount = _amount(said)
    if amount is None or amount.before or amount.period or not _NOUNS.match(amount.after):
        return text(said)
    return amount.number


def percent(said: str) -> str:
    """Return a number with its sign, ``15%``; a bare number is a number of percent."""
    amount = _amount(said)
    if amount is None or amount.before or amount.period:
        return text(said)
    if amount.after not in {"", "%", "percent", "per cent", "pct"}:
        return text(said)
    return f"{amount.number}%"


def money(said: str) -> str:
    """Return amount, currency if one was named, and per what: ``40000 EUR/month``.

    An amount without a currency has a key without one: it equals the same bare amount and no amount
    in a currency, since the currency is unknown. ``$`` alone is the US dollar, as in CLDR.
    """
    amount = _amount(said)
    if amount is None:
        return text(said)
    codes = {_currency_code(side) for side in (amount.before, amount.after) if side}
    if "USD" in codes and len(codes) == 2 and "$" in (amount.before, amount.after):
        codes.remove("USD")  # "$40,000 CAD" says which dollar
    if None in codes or len(codes) > 1:
        return text(said)
    return " ".join([amount.number, *filter(None, codes)]) + amount.period


@cache
def _numeral() -> Pattern:
    numbers = numbers_of("cardinal")
    tens = [word for word, number in numbers.items() if number >= 20]
    ones = [word for word in numbers if word not in tens]
    return re.compile(
        rf"^(?P<hedge>(?:about|around|approximately|roughly|some) )?"
        rf"(?:(?P<tens>{any_of(tens)})(?:[ -](?P<ones>{any_of(ones)}))?"
        rf"|(?P<one>{any_of(ones)})|(?P<dozen>{any_of([*_DOZEN])}))(?![^\W\d_]|-)"
    )


_DOZEN = {"a dozen": 12, "a single": 1}


def _in_digits(folded: str) -> str:
    """Return the text with its first number word as digits: "twenty-five" is "25"."""
    match = _numeral().match(folded)
    if match is None:
        return folded
    known = numbers_of("cardinal") | _DOZEN
    number = sum(known[word] for word in match.group("tens", "ones", "one", "dozen") if word)
    return f"{match['hedge'] or ''}{number}{folded[match.end() :]}"


def _amount(said: str) -> _Amount | None:
    match = _AMOUNT.fullmatch(_in_digits(plain(said).casefold()))
    if match is None:
        return None
    after, power = match["after"], 0
    if multiplier := _multiplier().match(after):
        after, power = after[multiplier.end() :], _powers()[multiplier[1]]
    digits = _decimal(match["number"], power)
    if digits is None:
        return None
    after, period = _without_period(after)
    before = _HEDGE.sub("", match["before"].strip())
    sign = "-" if match["sign"] and digits != "0" else ""
    return _Amount(sign + digits, before.strip(" :"), after.strip(" ,.;:!?()-–—"), period)


def _without_period(after: str) -> tuple[str, str]:
    match = _PERIOD.search(after)
    if match is None:
        return after, ""
    word = re.sub(r"[. ]", "", match["each"] or match["often"])
    units = lexicon("values").by_word("period")
    unit = units.get(word) or units.get(word.removesuffix("s"))
    return (after[: match.start()], f"/{unit}") if unit else (after, "")


def _decimal(written: str, power: int) -> str | None:
    match = _NUMBER.fullmatch(written)
    if match is None:
        return None
    whole, fraction = re.sub(r"\D", "", match["whole"]), match["fraction"] or ""
    if len(whole) + len(fraction) > _DIGIT_COUNT_MAX:
        return None
    digits = f"{Decimal(f'{whole}.{fraction}').scaleb(power):f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    # Three decimals would be read as a group of three; a fourth keeps the key its own key.
    return digits + "0" if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", digits) else digits


def currency(said: str) -> str:
    """Return its ISO 4217 code, from code, symbol or usual name: € and euros are ``EUR``."""
    return _currency_code(plain(said).casefold()) or text(said)


def _currency_code(words: str) -> str | None:
    return _currencies().get(words) or _currencies().get(text(words))


@cache
def _currencies() -> Mapping[str, str]:
    from babel import Locale
    from babel.numbers import get_currency_name

    english = Locale("en")
    symbols: Mapping[str, str] = dict(english.currency_symbols)
    codes = {text(get_currency_name(code, locale=english)): code for code in symbols}
    codes |= {text(get_currency_name(code, count=2, locale=english)): code for code in symbols}
    codes |= {symbol.casefold(): code for code, symbol in symbols.items()}
    codes |= {code.casefold(): code for code in symbols}
    return codes | lexicon("values").by_word("currency")
