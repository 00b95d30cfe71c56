"""The finder of personal data that patterns can see: e-mail addresses, and numbers.

Two kinds of evidence count. A number may be of a shape that little else has, or carry a check
digit; or the text says what it is: "account number ...", "passport ...". Shapes and labels are in
``config/secret_rules/personal_data.toml``. A bare number has neither, and is left alone: notes are
full of quantities, invoices and order numbers. Names, places and organisations need a language
model and are not looked for. Other finders find phones, street addresses and secrets.

The pattern of a shape is only the public format: it finds candidates cheaply. python-stdnum checks
a number (check digits, dates, issued ranges), and Python checks an address. The words around a
number are read if its shape is not enough. presidio-analyzer would need spaCy and geodata, 200 MB;
on 9,531 texts the two differ in three.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

import regex
from stdnum import luhn
from stdnum.es import nif
from stdnum.exceptions import ValidationError
from stdnum.fi import hetu
from stdnum.kr import rrn
from stdnum.se import personnummer
from stdnum.us import itin, ssn

from reconciler.adapters.rules_finder import rules_of, stdnum_module
from reconciler.frozen import in_order
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, SensitiveSpans

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

    def find(self, text: str) -> SensitiveSpans:
        """The longest accepted span of each match; a span may end at the end of any group."""
        for match in _compiled(self.pattern).finditer(text):
            start = match.start()
            ends = {end for group in range(match.re.groups + 1) for end in match.ends(group)}
            for end in sorted(ends, reverse=True):
                if self.is_valid(text[start:end]) and self.accepts(text, start, end):
                    yield SensitiveSpan(start, end, self.kind)
                    break


def said_before(words: str) -> Callable[[str, int, int], bool]:
    """True if one of the words is shortly before or after the number."""
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return lambda text, start, end: bool(pattern.search(text[max(0, start - 40) : end + 20]))


_AADHAAR_WORD = said_before("aadha+r|uid|uidai|adhar")


def _is_said_aadhaar(text: str, start: int, end: int) -> bool:
    """True if a number has groups of four or a name; a tenth of bare numbers fits the digit."""
    return not text[start:end].isdigit() or _AADHAAR_WORD(text, start, end)


_VERSION_BEFORE = re.compile(r"\b(?:v|ver|version|release|build)\.?\s*$", re.IGNORECASE)
_VERSION_REACH = 32


def _is_network_address(text: str, start: int, end: int) -> bool:
    """True if an address is not a version number, a time of day or a lone "::"."""
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
    """True if the last digit is right by Luhn's rule; other characters do not count."""
    return luhn.is_valid("".join(filter(str.isdigit, number)))


def _is_ip(number: str) -> bool:
    try:
        ipaddress.ip_interface(number)
    except ValueError:
        return False
    return True


def _is_ssn(number: str) -> bool:
    """True if a number is a social security or taxpayer number, but not the example on a form."""
    if number == "123-45-6789" or len(set(number)) == 2:  # one digit, again and again
        return False
    return ssn.is_valid(number) or itin.is_valid(number)


_NINO_LETTERS_UNUSED = frozenset("DFIQUV")
_NINO_PREFIXES_UNUSED = ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


def _is_nino(number: str) -> bool:
    """True if the prefix of a number may be issued.

    Source: HMRC's National Insurance Manual, NIM39110.
    """
    prefix = number[:2].upper()
    is_issued = prefix[1] != "O" and prefix not in _NINO_PREFIXES_UNUSED
    return is_issued and _NINO_LETTERS_UNUSED.isdisjoint(prefix)


def _is_nif(number: str) -> bool:
    """True for the number of a citizen or a foreigner; old numbers often lack their first zero."""
    return nif.is_valid(number.replace("-", "").zfill(9))


def _is_finnish(number: str) -> bool:
    return hetu.is_valid(number, allow_temporary=True)


def _is_korean(number: str) -> bool:
    """True if a number begins with a real date; since October 2020 there is no check digit."""
    return _has_birthday(rrn.get_birth_date, number)


def _is_swedish(written: str) -> bool:
    """True if date and check digit are right; a temporary number adds sixty to the day."""
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


_MAY_HOLD_EMAIL = re.compile(r"@|[(\[]at[)\]]", re.IGNORECASE)


def find_personal_data(text: str) -> SensitiveSpans:
    """Finds e-mail addresses, and numbers by their shape or label; needs no language model.

    A pattern is compiled at its first use.
    """
    if _MAY_HOLD_EMAIL.search(text):
        yield from _EMAIL.find(text)
    for rule in number_rules() if any(map(str.isdigit, text)) else ():
        yield from rule.find(text)


@cache
def number_rules() -> Sequence[NumberRule]:
    """Shapes of numbers, then numbers after their labels."""
    file = "personal_data.toml"
    return (*rules_of(file, "shapes", _shape), *rules_of(file, "labelled", _labelled))


# Distinctive shapes


_CARD_WORD = said_before("card|maestro|cc|visa|mastercard|debit|credit")


def _is_card(text: str, start: int, end: int) -> bool:
    """True if the length of a number fits the network of its first digits.

    Twelve digits need the word "card".
    """
    digits = re.sub(r"\D", "", text[start:end])
    if len(digits) == 12:
        return _CARD_WORD(text, start, end)
    return _NETWORKS.fullmatch(digits) is not None


_NETWORKS = re.compile(
    r"""
    4(?:\d{12}|\d{15}|\d{17,18}) | [25]\d{15} | (?:34|37)\d{13} | (?:2131|1800)\d{11}
    | 3[0689](?:\d{12}|\d{14}) | 35\d{14,17} | 5[0678]\d{11,17} | 6\d{12,18}
    """,
    re.VERBOSE,
)
"""The first digits, and the number of digits. Source: ISO/IEC 7812 ranges as the networks
publish."""
_EMAIL = NumberRule(
    SensitiveKind.EMAIL,
    r"""(?x)
    (?<![\w.+-])[\w!#$%&'*+/=?^`{|}~.-]{1,64}@(?:[\w-]{1,63}\.)+[^\W\d_][\w-]{1,24}(?<!-)
    # "jane (at) example (dot) com"
    | (?<![\w.+-])[\w.+-]{1,64}\s?[(\[]at[)\]]\s?[\w-]{1,63}
      (?:(?:\.|\s?[(\[]dot[)\]]\s?)[\w-]{2,63})+
    # Indian payment addresses, a name at a bank's handle.
    | (?<![\w.+-])[\w.-]{2,64}@(?:upi|ybl|ibl|axl|apl|yapl|paytm|(?:ok|pt)?(?:sbi|axis|icici|yes)
      |ok?hdfcbank|hdfcbank|axisbank|pthdfc|kotak|indus|federal|idfcbank|freecharge|airtel)
      \b(?!\.\w)
    """,
)

# Values with a label

_NUMBER = r"(?:[ ](?:number|numbers|num|nr|no|id|code))?(?:[ ]?[.#№]|\.[ ]?:)?"
_IS = (
    r"(?:[ ](?:is|was|are|being|of|ending|reads)|(?:[ ]?[:=])++)*[ ]*+(?:[#:][ ]*+)?"
    r"(?:\(?(?:e\.g\.,?|such[ ]as|like)[ ])?"
)
_OPEN = r"['\"\u2018\u201c`(\[*]*"
_VALUE = (
    r"(?:(?-i:[A-Z]{1,3})[ ](?=\d))?(?=[\w./-]{0,80}\d)\w{1,40}+(?:[-/.]\w{1,30}+){0,5}"
    r"(?:[ ]\d{2,6}\b(?![:/.]\d|[ ]?%)){0,6}"
    r"(?:(?<=\d)[ ](?-i:[A-Z])\b)?"
)
_AMOUNT_AFTER = re.compile(
    r"\s?(?:[€$£₹%]|(?:eur|usd|gbp|inr|euros?|dollars?|pounds?|rupees?|per|due|years?|people)\b)",
    re.IGNORECASE,
)
_VALUE_END = r"(?<![._/-])(?![\w@])"


def _labelled(
    kind: str,
    labels: Sequence[str],
    length_min: int = 6,
    digits_min: int = 4,
    value: str = _VALUE,
) -> NumberRule:
    """A pattern for a value after a label, with its least length and number of digits.

    The label is no part of the match. A round number or one with a unit is an amount.
    """

    def accepts(text: str, start: int, end: int) -> bool:
        if sum(map(str.isdigit, text)) < digits_min:
            return False
        letters = [character for character in text[start:end] if character.isalnum()]
        digits = sum(map(str.isdigit, letters))
        if digits < 9 and (text[:end].endswith("000") or _AMOUNT_AFTER.match(text, end)):
            return digits < len(letters)
        return len(letters) >= length_min and digits >= digits_min

    pattern = rf"\b(?:{'|'.join(labels)}){_NUMBER}{_IS}{_OPEN}\K{value}{_VALUE_END}"
    return NumberRule(SensitiveKind(kind), pattern, accepts=accepts)


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "finnish": _is_finnish,
    "ip": _is_ip,
    "korean": _is_korean,
    "luhn": has_luhn_digit,
    "nif": _is_nif,
    "nino": _is_nino,
    "ssn": _is_ssn,
    "swedish": _is_swedish,
}
_BESIDE: Mapping[str, _Accepts] = {
    "card": _is_card,
    "network_address": _is_network_address,
    "said_aadhaar": _is_said_aadhaar,
}


def _shape(kind: str, pattern: str, check: str, beside: str = "") -> NumberRule:
    """A pattern for a number of a shape; its checks are ours, or modules of python-stdnum."""
    is_valid = _CHECKS.get(check) or stdnum_module(check).is_valid
    accepts = _BESIDE.get(beside, _anywhere)
    return NumberRule(SensitiveKind(kind), pattern, is_valid, accepts)
