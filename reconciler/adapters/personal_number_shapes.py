"""Shapes of personal numbers that little else has, each with what proves a match: its check digits.

The patterns and checks come from presidio-analyzer 2.2.366 (github.com/microsoft/presidio), which
itself would bring spaCy and 150 MB. Left out are its context words: what a text says about a number
is told by the finder. The lengths of account numbers are those of the IBAN registry.

MIT License. Copyright (c) Microsoft Corporation.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions: The above copyright notice and this
permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

__all__ = ["SHAPES", "Shape", "has_luhn_digit"]


class Shape(NamedTuple):
    """Patterns, without regard to case unless one says so, and what a match must fulfil."""

    patterns: tuple[str, ...]
    """A find may end where a group ends, if the longer one is not valid."""

    is_valid: Callable[[str], bool] = bool
    digits_min: int = 0
    """Digits that a text must have to be looked at."""


# Check digits


def has_luhn_digit(number: str) -> bool:
    """Whether the last digit is right by Luhn's rule; what is no digit does not count."""
    digits = [int(each) for each in reversed(number) if each.isdigit()]
    return sum(sum(divmod(each * (1 + at % 2), 10)) for at, each in enumerate(digits)) % 10 == 0


_IBAN_FORMS = """
AD 8n12c  AE 19n  AL 8n16c  AT 16n  AZ 4c20n  BA 16n  BE 12n  BG 4a6n8c  BH 4a14c
BR 23n1a1c  BY 4c4n16c  CH 5n12c  CR 18n  CY 8n16c  CZ 20n  DE 18n  DK 14n  DO 4a20n  EE 16n
EG 25n  ES 20n  FI 14n  FO 14n  FR 10n11c2n  GB 4a14n  GE 2c16n  GI 4a15c  GL 14n  GR 7n16c
GT 24c  HR 17n  HU 24n  IE 4c14n  IL 19n  IQ 4a15n  IS 22n  IT 1a10n12c  JO 4a22n  KW 4a22c
KZ 3n13c  LB 4n20c  LC 4a24c  LI 5n12c  LT 16n  LU 3n13c  LV 4a13c  LY 21n  MC 10n11c2n
MD 20c  ME 18n  MK 3n10c2n  MR 23n  MT 4a5n18c  MU 4a19n1a  NL 4a10n  NO 11n  PK 4c16n
PL 24n  PS 4c17n  PT 17n  QA 4a17c  RO 4a16c  RS 18n  SA 2n18c  SC 4a20n3a  SE 20n  SI 15n
SK 20n  SM 1a10n12c  TL 19n  TN 20n  TR 5n17c  UA 6n19c  VA 18n  VG 4c16n  XK 16n
"""
"""By country what follows the check digits: n digits, a letters, c either."""

_SIGNS = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}
_IBAN = re.compile(
    "|".join(
        rf"{country}\d\d"
        + "".join(f"{_SIGNS[sign]}{{{count}}}" for count, sign in re.findall(r"(\d+)([nac])", form))
        for country, form in re.findall(r"([A-Z]{2}) (\w+)", _IBAN_FORMS)
    )
)


def _is_iban(found: str) -> bool:
    plain = re.sub("[ -]", "", found)
    turned = "".join(str(int(each, 36)) for each in plain[4:] + plain[:4])
    return bool(_IBAN.fullmatch(plain)) and int(turned) % 97 == 1


def _is_ip(found: str) -> bool:
    try:
        ipaddress.ip_interface(found)
    except ValueError:
        return False
    return True


_SSN_SAMPLES = ("123456789", "987654320", "078051120")


def _is_ssn(found: str) -> bool:
    """Of groups that are issued, and none of the numbers that are published as samples."""
    area, group, serial = re.split("[- .]", found)
    number = area + group + serial
    return (
        found[3] == found[6]
        and len(set(number)) > 1
        and area not in ("000", "666")
        and group != "00"
        and serial != "0000"
        and number not in _SSN_SAMPLES
    )


_TURN = "1576283094"


def _verhoeff_product(left: int, right: int) -> int:
    """In the group of a pentagon's turns (0 to 4) and reflections (5 to 9)."""
    turned = left + right if left < 5 else left - right
    return turned % 5 + 5 * ((left < 5) != (right < 5))


def _is_aadhaar(found: str) -> bool:
    """Twelve digits, the last by Verhoeff's rule; no palindrome."""
    number = re.sub("[- :]", "", found)
    check = 0
    for at, sign in enumerate(reversed(number)):
        digit = int(sign)
        for _ in range(at % 8):
            digit = int(_TURN[digit])
        check = _verhoeff_product(check, digit)
    return number[0] >= "2" and check == 0 and number != number[::-1]


_SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def _is_nif(found: str) -> bool:
    number = int("".join(filter(str.isdigit, found)))
    return found[-1].upper() == _SPANISH_LETTERS[number % 23]


def _is_nie(found: str) -> bool:
    first = "XYZ".find(found[0].upper())
    return first >= 0 and _is_nif(f"{first}{found[1:]}")


_ITALIAN_ODD = (
    *(1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18),
    *(20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
)
"""What a letter at an odd place counts, A to Z; a digit counts as the letter of its place."""


def _is_fiscal_code(found: str) -> bool:
    if not found.isascii():  # without regard to case, a letter has look-alikes elsewhere
        return False
    places = [int(each, 36) - 10 * each.isalpha() for each in found[:-1]]
    total = sum(_ITALIAN_ODD[place] for place in places[::2]) + sum(places[1::2])
    return total % 26 == ord(found[-1].upper()) - ord("A")


_FINNISH_CHECKS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_FINNISH_CENTURIES = {"+": 1800} | dict.fromkeys("-YXWVU", 1900)


def _is_finnish(found: str) -> bool:
    """A day that there was, and the check letter of all that stands before it."""
    day, century = found[:6], _FINNISH_CENTURIES.get(found[6].upper(), 2000)
    try:
        date(century + int(day[4:]), int(day[2:4]), int(day[:2]))
    except ValueError:
        return False
    return _FINNISH_CHECKS[int(day + found[7:10]) % 31] == found[-1].upper()


def _is_swedish(found: str) -> bool:
    """A day of some month, or sixty days later where it is assigned for a while; Luhn's digit."""
    number = "".join(filter(str.isdigit, found))[-10:]
    month, day = int(number[2:4]), int(number[4:6])
    return 1 <= month <= 12 and 1 <= day - 60 * (day > 60) <= 31 and has_luhn_digit(number)


def _is_gstin(found: str) -> bool:
    """A PAN inside it, of which some have digits among their first five signs."""
    return sum(map(str.isalpha, found[2:7])) >= 3


def _is_uk_licence(found: str) -> bool:
    """The surname's letters, filled up with nines."""
    return bool(re.fullmatch("[A-Z]+9*", found[:5].upper()))


# The shapes

_BYTE = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
_IPV4 = rf"(?:{_BYTE}\.){{3}}{_BYTE}"
_H = "[0-9A-Fa-f]{1,4}"
_PREFIX = r"(?:/(?:12[0-8]|1[01]\d|[1-9]?\d))?"
_IPV6 = (
    rf"(?:{_H}:){{7}}{_H}|(?:{_H}:){{1,7}}:|:(?::{_H}){{1,7}}|(?:{_H}:){{1,6}}:{_H}"
    rf"|(?:{_H}:){{1,5}}(?::{_H}){{1,2}}|(?:{_H}:){{1,4}}(?::{_H}){{1,3}}"
    rf"|(?:{_H}:){{1,3}}(?::{_H}){{1,4}}|(?:{_H}:){{1,2}}(?::{_H}){{1,5}}"
    rf"|{_H}:(?::{_H}){{1,6}}|:(?::{_H}){{1,6}}"
)
_FISCAL_CODE = (
    r"(?:(?:[A-Z][AEIOU][AEIOUX]|[AEIOU]X{2}|[B-DF-HJ-NP-TV-Z]{2}[A-Z]){2}"
    r"(?:[\dLMNP-V]{2}(?:[A-EHLMPR-T](?:[04LQ][1-9MNP-V]|[15MR][\dLMNP-V]"
    r"|[26NS][0-8LMNP-U])|[DHPS][37PT][0L]|[ACELMRT][37PT][01LM]"
    r"|[AC-EHLMPR-T][26NS][9V])|(?:[02468LNQSU][048LQU]"
    r"|[13579MPRTV][26NS])B[26NS][9V])(?:[A-MZ][1-9MNP-V][\dLMNP-V]{2}"
    r"|[A-M][0L](?:[1-9MNP-V][\dLMNP-V]|[0L][1-9MNP-V]))[A-Z])"
)
_FINNISH = r"\d{6}[-+ABCDEFYXWVU]\d{3}[0123456789ABCDEFHJKLMNPRSTUVWXY]"
_SWEDISH = r"\d{6,8}[-+]?\d{4}"

SHAPES = {
    "iban": Shape(
        (
            r"(?-i:(?<![A-Z0-9])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,6})"
            r"((?:[ -]?[A-Z0-9]{4})?)((?:[ -]?[A-Z0-9]{1,3})?)(?![A-Z0-9]))",
        ),
        _is_iban,
        2,
    ),
    "ip": Shape(
        (
            rf"(?<![\w:])::(?:ffff(?::0{{1,4}})?:)?{_IPV4}{_PREFIX}\b",
            rf"(?<![\w:])(?:(?:{_H}:){{1,5}}:(?:{_H}:){{0,4}}|(?:{_H}:){{6}}){_IPV4}{_PREFIX}\b",
            rf"\b{_IPV4}(?:/(?:[0-2]?\d|3[0-2]))?\b",
            rf"(?<![\w:])(?:{_IPV6})(?:%[0-9a-zA-Z]+)?{_PREFIX}(?![\w:]|\.\d)",
        ),
        _is_ip,
    ),
    "us_ssn": Shape((r"\b[0-9]{3}[- .][0-9]{2}[- .][0-9]{4}\b",), _is_ssn, 9),
    "uk_nino": Shape(
        (
            r"\b(?!bg|gb|nk|kn|nt|tn|zz)[a-ceghj-pr-tw-z][a-ceghj-npr-tw-z]"
            r" ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[a-d]\b",
        ),
        digits_min=6,
    ),
    "in_aadhaar": Shape(
        (r"\b[0-9]{12}\b", r"\b[0-9]{4}[- :][0-9]{4}[- :][0-9]{4}\b"), _is_aadhaar, 12
    ),
    "es_nif": Shape((r"\b[0-9]?[0-9]{7}[-]?[A-Z]\b",), _is_nif, 7),
    "es_nie": Shape((r"\b[X-Z][0-9]{7}[-]?[A-Z]\b",), _is_nie, 7),
    "it_fiscal_code": Shape((_FISCAL_CODE,), _is_fiscal_code),
    "fi_code": Shape((rf"\b{_FINNISH}\b", _FINNISH), _is_finnish, 9),
    "kr_rrn": Shape(
        (r"(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-?[1-4]\d{6}(?!\d)",),
        digits_min=13,
    ),
    "se_number": Shape((rf"\b{_SWEDISH}\b", _SWEDISH), _is_swedish, 10),
    "in_pan": Shape((r"\b[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]\b",), digits_min=4),
    "in_gstin": Shape(
        (r"\b(?:0[1-9]|[1-3][0-7])[A-Z0-9]{5}[0-9]{4}[A-Z][A-Z0-9]Z[A-Z0-9]\b",), _is_gstin, 2
    ),
    "uk_licence": Shape(
        (
            r"\b[A-Z9]{5}[0-9](?:0[1-9]|1[0-2]|5[1-9]|6[0-2])(?:0[1-9]|[12][0-9]|3[01])"
            r"[0-9][A-Z9]{2}[A-Z0-9][A-Z]{2}\b",
        ),
        _is_uk_licence,
        6,
    ),
}
