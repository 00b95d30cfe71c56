"""Shapes of personal numbers that little else has, each with the check that proves a match.

A pattern is the public format and no more: it names candidates, cheaply. What a number must fulfil
(check digits, dates, ranges that are issued) is python-stdnum's to know, and that of an address
Python's. The words around a number are read where the shape is not enough. presidio-analyzer would
need spaCy and geodata, 200 MB; on 9,531 texts both find the same but for three.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from typing import Any

import regex
from stdnum import iban, luhn
from stdnum.es import nif
from stdnum.exceptions import ValidationError
from stdnum.fi import hetu
from stdnum.in_ import aadhaar, gstin, pan
from stdnum.it import codicefiscale
from stdnum.kr import rrn
from stdnum.se import personnummer
from stdnum.us import itin, ssn

from reconciler.frozen import in_order
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

_FLAGS = regex.DOTALL | regex.MULTILINE | regex.IGNORECASE

_Accepts = Callable[[str, int, int], bool]


def _anywhere(_: str, __: int, ___: int) -> bool:
    return True


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern, _FLAGS)


@in_order
class NumberRule:
    """A pattern, the kind of its finds, and the checks of a find and of the text around it."""

    kind: SensitiveKind
    pattern: str
    is_valid: Callable[[str], bool] = bool
    accepts: _Accepts = _anywhere
    digits_min: int = 0
    """Digits that a text must have to be looked at."""

    def find(self, text: str) -> Iterator[SensitiveSpan]:
        """The longest accepted span of each match; it may end where any of its groups does."""
        for match in _compiled(self.pattern).finditer(text):
            start = match.start()
            ends = {end for group in range(match.re.groups + 1) for end in match.ends(group)}
            for end in sorted(ends, reverse=True):
                if self.is_valid(text[start:end]) and self.accepts(text, start, end):
                    yield SensitiveSpan(start, end, self.kind)
                    break


def said_before(words: str) -> Callable[[str, int, int], bool]:
    """Whether one of the words stands shortly before or after."""
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return lambda text, start, end: bool(pattern.search(text[max(0, start - 40) : end + 20]))


_AADHAAR_WORD = said_before("aadha+r|uid|uidai|adhar")


def _is_said_aadhaar(text: str, start: int, end: int) -> bool:
    """Whether it has groups of four or a name: of bare numbers one in ten fits the check digit."""
    return not text[start:end].isdigit() or _AADHAAR_WORD(text, start, end)


_VERSION_BEFORE = re.compile(r"\b(?:v|ver|version|release|build)\.?\s*$", re.IGNORECASE)
_VERSION_REACH = 32


def _is_network_address(text: str, start: int, end: int) -> bool:
    """Whether it is neither a version number, a time of day nor a lone "::"."""
    # A text may hold thousands of them, so only the words right before one are read.
    if _VERSION_BEFORE.search(text, max(0, start - _VERSION_REACH), start):
        return False
    address = text[start:end]
    return (
        address.count(".") == 3
        or len(re.findall(r"[0-9a-fA-F]+", address)) >= 3
        or address == "::1"
    )


def has_luhn_digit(number: str) -> bool:
    """Whether the last digit is right by Luhn's rule; other characters do not count."""
    return luhn.is_valid("".join(filter(str.isdigit, number)))


def _is_ip(number: str) -> bool:
    try:
        ipaddress.ip_interface(number)
    except ValueError:
        return False
    return True


def _is_ssn(number: str) -> bool:
    """Whether it is a social security or taxpayer number, and not the example of a form."""
    if number == "123-45-6789" or len(set(number)) == 2:  # one digit, again and again
        return False
    return ssn.is_valid(number) or itin.is_valid(number)


_NINO_LETTERS_UNUSED = frozenset("DFIQUV")
_NINO_PREFIXES_UNUSED = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


def _is_nino(number: str) -> bool:
    """Whether its prefix may be issued. Source: HMRC's National Insurance Manual, NIM39110."""
    prefix = number[:2].upper()
    is_issued = prefix[1] != "O" and prefix not in _NINO_PREFIXES_UNUSED
    return is_issued and _NINO_LETTERS_UNUSED.isdisjoint(prefix)


def _is_nif(number: str) -> bool:
    """Of a citizen or a foreigner; old numbers are often written without their first zero."""
    return nif.is_valid(number.replace("-", "").zfill(9))


def _is_finnish(number: str) -> bool:
    return hetu.is_valid(number, allow_temporary=True)


def _is_korean(number: str) -> bool:
    """Whether it begins with a real date; since October 2020 there is no check digit."""
    return _has_birthday(rrn.get_birth_date, number)


def _is_swedish(written: str) -> bool:
    """Whether date and check digit are right; in a temporary number the day counts sixty more."""
    day = int(written[-7:-5])
    day -= 60 * (day > 60)
    number = f"{written[:-7]}{day:02}{written[-5:]}"
    return _has_birthday(personnummer.get_birth_date, number) and has_luhn_digit(written[-11:])


def _has_birthday(read: Callable[[str], date], number: str) -> bool:
    try:
        read(number)
    except ValidationError:
        return False
    return True


_START, _END = r"(?<![0-9a-z])", r"(?![0-9a-z])"
_OMOCODE = "[0-9L-NP-V]"
"""A digit, or the letter that takes its place if two people would have the same code."""

SHAPES = (
    NumberRule(
        SensitiveKind.IBAN,
        r"(?-i:(?<![A-Z0-9])[A-Z]{2}[0-9]{2}([ -]?[A-Z0-9]{4}){2,7}([ -]?[A-Z0-9]{1,3})?"
        r"(?![A-Z0-9]))",
        iban.is_valid,
        digits_min=2,
    ),
    NumberRule(
        SensitiveKind.IP_ADDRESS,
        r"(?<![\w.])([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?:/[0-9]{1,2})?(?!\w|\.\d)",
        _is_ip,
        accepts=_is_network_address,
        digits_min=4,
    ),
    NumberRule(
        SensitiveKind.IP_ADDRESS,
        r"(?<![\w:])([0-9A-F]{0,4}(?::[0-9A-F]{0,4}){2,8}(?<=[0-9A-F]|::)(?:(?:\.[0-9]{1,3}){3})?)"
        r"(?:%[0-9A-Z]{1,16})?(?:/[0-9]{1,3})?(?!\w|:[\w:]|\.\d)",
        _is_ip,
        accepts=_is_network_address,
        digits_min=0,
    ),
    NumberRule(SensitiveKind.NATIONAL_ID, r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", _is_ssn, digits_min=9),
    NumberRule(
        SensitiveKind.NATIONAL_ID, r"\b[A-Z]{2}(?: ?[0-9]{2}){3} ?[A-D]\b", _is_nino, digits_min=6
    ),
    NumberRule(
        SensitiveKind.NATIONAL_ID,
        r"\b[0-9]{4}(?:[0-9]{8}| [0-9]{4} [0-9]{4}|-[0-9]{4}-[0-9]{4})\b",
        aadhaar.is_valid,
        accepts=_is_said_aadhaar,
        digits_min=12,
    ),
    NumberRule(
        SensitiveKind.NATIONAL_ID,
        r"(?-i:\b(?:[X-Z]-?|[0-9])?[0-9]{7}-?[A-Z]\b)",
        _is_nif,
        digits_min=7,
    ),
    NumberRule(
        SensitiveKind.NATIONAL_ID,
        rf"\b[A-Z]{{6}}[0-9]{{2}}[A-Z]{_OMOCODE}{{2}}[A-Z]{_OMOCODE}{{3}}[A-Z]\b",
        codicefiscale.is_valid,
        digits_min=2,
    ),
    NumberRule(
        SensitiveKind.NATIONAL_ID,
        rf"{_START}[0-9]{{6}}[-+A-FU-Y][0-9]{{3}}[0-9A-Y]{_END}",
        _is_finnish,
        digits_min=9,
    ),
    NumberRule(
        SensitiveKind.NATIONAL_ID,
        rf"{_START}[0-9]{{6}}-[1-4][0-9]{{6}}{_END}",
        _is_korean,
        digits_min=13,
    ),
    NumberRule(
        SensitiveKind.NATIONAL_ID,
        rf"{_START}(?:18|19|20)?[0-9]{{6}}[-+][0-9]{{4}}{_END}",
        _is_swedish,
        digits_min=10,
    ),
    NumberRule(
        SensitiveKind.TAX_ID,
        r"(?-i:\b[A-Z]{5}[0-9]{4}[A-Z]\b)",
        pan.is_valid,
        digits_min=4,
    ),
    NumberRule(
        SensitiveKind.TAX_ID,
        r"(?-i:\b[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][0-9A-Z]Z[0-9A-Z]\b)",
        gstin.is_valid,
        digits_min=6,
    ),
)
