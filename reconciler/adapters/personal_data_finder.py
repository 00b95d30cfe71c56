"""The finder of personal data that patterns can see: e-mail addresses, and numbers.

Two kinds of evidence count. A number may be of a shape that little else has, or carry a check digit
(``personal_number_shapes``); or the text says what it is: "account number ...", "passport ..."
(``_LABELLED``). A bare number has neither, and is left alone: notes are full of quantities,
invoices and order numbers. Names, places and organisations need a language model and are not looked
for. Other finders find phones, street addresses and secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any

import regex

from reconciler.adapters.personal_number_shapes import SHAPES, has_luhn_digit
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan, merge_spans

__all__ = ["PersonalDataFinder"]

_MAY_HOLD = re.compile(r"\d|@|\(at\)|\[at\]|::", re.IGNORECASE)
_MAY_HOLD_EMAIL = re.compile(r"@|[(\[]at[)\]]", re.IGNORECASE)
_FLAGS = regex.DOTALL | regex.MULTILINE | regex.IGNORECASE

_Accepts = Callable[[str, int, int], bool]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Patterns, the kind of their finds, and the checks of a find and of the text around it."""

    kind: SensitiveKind
    patterns: tuple[Any, ...]
    is_valid: Callable[[str], bool] = bool
    accepts: _Accepts | None = None
    digits_min: int = 0
    """Digits that a text must have to be looked at."""

    def find(self, text: str) -> Iterator[SensitiveSpan]:
        for pattern in self.patterns:
            for match in pattern.finditer(text):
                if span := self._find_in(match, text):
                    yield span

    def _find_in(self, match: Any, text: str) -> SensitiveSpan | None:
        """The longest accepted span; it may end at the end of any group of the pattern."""
        start = match.start()
        ends = {end for group in range(match.re.groups + 1) for end in match.ends(group)}
        for end in sorted(ends, reverse=True):
            if self.is_valid(text[start:end]) and self._is_accepted(text, start, end):
                return SensitiveSpan(start, end, self.kind)
        return None

    def _is_accepted(self, text: str, start: int, end: int) -> bool:
        return self.accepts is None or self.accepts(text, start, end)


class PersonalDataFinder:
    """Finds e-mail addresses, and numbers by their shape or label; needs no language model.

    The patterns are compiled at the first use.
    """

    def __init__(self) -> None:
        self._rules: tuple[_Rule, ...] | None = None
        self._lock = Lock()

    def find(self, text: str) -> list[SensitiveSpan]:
        """The personal data of a text, first to last; overlaps as one, of the gravest kind."""
        if not _MAY_HOLD.search(text):
            return []
        return merge_spans(self._find_all(text))

    def _find_all(self, text: str) -> Iterator[SensitiveSpan]:
        digits = sum(map(str.isdigit, text))
        email, *rules = self._loaded_rules()
        if _MAY_HOLD_EMAIL.search(text):
            yield from email.find(text)
        for rule in rules if digits else ():
            if digits >= rule.digits_min:
                yield from rule.find(text)

    def _loaded_rules(self) -> tuple[_Rule, ...]:
        with self._lock:
            if self._rules is None:
                self._rules = tuple(_load_rules())
            return self._rules


def _load_rules() -> Iterator[_Rule]:
    """All rules, the one for e-mail first, which alone needs no digit."""
    yield _Rule(SensitiveKind.EMAIL, _compiled(*_EMAIL))
    for name, shape in SHAPES.items():
        made, accepts = _compiled(shape.pattern), _ACCEPTS.get(name)
        yield _Rule(shape.kind, made, shape.is_valid, accepts, shape.digits_min)
    yield _Rule(SensitiveKind.CREDIT_CARD, _compiled(*_CARD), has_luhn_digit, _is_card, 12)
    for labelled in _LABELLED:
        made = _compiled(labelled.pattern)
        yield _Rule(labelled.kind, made, bool, labelled.accepts, labelled.digits_min)


def _compiled(*patterns: str) -> tuple[Any, ...]:
    return tuple(regex.compile(pattern, _FLAGS) for pattern in patterns)


# Distinctive shapes


def _said_before(words: str) -> Callable[[str, int, int], bool]:
    """Whether one of the words stands shortly before or after."""
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return lambda text, start, end: bool(pattern.search(text[max(0, start - 40) : end + 20]))


_CARD_WORD = _said_before("card|maestro|cc|visa|mastercard|debit|credit")
_AADHAAR_WORD = _said_before("aadha+r|uid|uidai|adhar")


def _is_card(text: str, start: int, end: int) -> bool:
    """Whether its length fits its first digits' network; twelve digits need the word "card"."""
    digits = re.sub(r"\D", "", text[start:end])
    if len(digits) == 12:
        return bool(_CARD_WORD(text, start, end))
    return any(
        digits.startswith(prefixes) and len(digits) in lengths for prefixes, lengths in _NETWORKS
    )


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


_ACCEPTS: dict[str, _Accepts] = {
    "ipv4": _is_network_address,
    "ipv6": _is_network_address,
    "in_aadhaar": _is_said_aadhaar,
}
_NETWORKS: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    (("4",), (13, 16, 18, 19)),
    (("2", "5"), (16,)),
    (("34", "37", "2131", "1800"), (15,)),
    (("30", "36", "38", "39"), (14, 16)),
    (("35",), (16, 17, 18, 19)),
    (("50", "56", "57", "58", "6"), (13, 14, 15, 16, 17, 18, 19)),
)
"""First digits, and the number of digits. Source: ISO/IEC 7812 ranges as the networks publish."""
_CARD = (
    r"(?<![\w.-])(?:[3-6]\d{3}|2[2-7]\d{2}|2131|1800)(?:[ -]?\d){8,15}(?![\w]|[.,-]\d)",
    r"(?<![\w.-])[3-6]\d{3}(?:\.\d{4}){3}(?![\w]|[.,-]\d)",
)
_EMAIL = (
    r"(?<![\w.+-])[\w!#$%&'*+/=?^`{|}~.-]{1,64}@(?:[\w-]{1,63}\.)+[^\W\d_][\w-]{1,24}(?<!-)",
    # "jane (at) example (dot) com"
    r"(?<![\w.+-])[\w.+-]{1,64}\s?[(\[]at[)\]]\s?[\w-]{1,63}"
    r"(?:(?:\.|\s?[(\[]dot[)\]]\s?)[\w-]{2,63})+",
    # Indian payment addresses, a name at a bank's handle.
    r"(?<![\w.+-])[\w.-]{2,64}@(?:upi|ybl|ibl|axl|apl|yapl|paytm|(?:ok|pt)?(?:sbi|axis|icici|yes)"
    r"|ok?hdfcbank|hdfcbank|axisbank|pthdfc|kotak|indus|federal|idfcbank|freecharge"
    r"|airtel)\b(?!\.\w)",
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
# A group is matched whole: trying all ways to part a long one would not end.
_IBAN_VALUE = r"(?:(?-i:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,}+){1,8})|[a-z]{2}\d{2}[a-z0-9]{8,30}+)"
_VALUE_END = r"(?<![._/-])(?![\w@])"


@dataclass(frozen=True, slots=True)
class _LabelRule:
    """A value that follows a label, with its least length and number of digits."""

    kind: SensitiveKind
    labels: str
    length_min: int = 6
    digits_min: int = 4
    value: str = _VALUE

    @property
    def pattern(self) -> str:
        """The value after the label; the label is no part of the match."""
        return rf"\b(?:{self.labels}){_NUMBER}{_IS}{_OPEN}\K{self.value}{_VALUE_END}"

    def accepts(self, text: str, start: int, end: int) -> bool:
        """Whether it is long enough; a round number or one with a unit is an amount."""
        letters = [character for character in text[start:end] if character.isalnum()]
        digits = sum(map(str.isdigit, letters))
        if digits < 9 and (text[:end].endswith("000") or _AMOUNT_AFTER.match(text, end)):
            return digits < len(letters)
        return len(letters) >= self.length_min and digits >= self.digits_min


_LABELLED = (
    _LabelRule(
        SensitiveKind.NATIONAL_ID,
        r"ssn|social[ ]security(?:[ ](?:number|no|nr))?|soc[ ]sec|social[ ]insurance|sin(?=[ ]?:)"
        r"|national[ ](?:id(?:entity|entification)?|insurance)(?:[ ]card)?|identity[ ]card"
        r"|ni(?=[ ]n)|nino|aadha+r(?:[ ]card)?|adhaar|voter(?:'s)?[ ]id|epic|pesel|cpf|curp|dni|nie"
        r"|nif|bsn|personnummer|fiscal[ ]code|codice[ ]fiscale|steuer-?id|identification[ ]number"
        r"|citizen[ ]id|emirates[ ]id|nric|hkid|rrn|tckn?|social[ ]sec(?:urity)?[ ]card",
    ),
    _LabelRule(
        SensitiveKind.TAX_ID,
        r"tax[ ]?(?:payer)?[ ]?(?:id|identification|reference|file|number|no)\w*(?:[ ]number)?"
        r"(?:[ ][ai]tin)?|(?-i:TIN|EIN|ITIN|ATIN|UTR|GSTIN?|VAT|TFN|ABN|PAN)(?:[ ]card)?"
        r"|vat[ ](?:id|reg\w*)|employer[ ]identification|gst(?=[ ](?:no|num|id))|steuernummer",
        digits_min=3,
    ),
    _LabelRule(SensitiveKind.PASSPORT, r"passports?(?:[ ](?:id|card|book))?", digits_min=3),
    _LabelRule(
        SensitiveKind.DRIVING_LICENCE,
        r"driv(?:er|ing)(?:['\u2019]?s)?['\u2019]?[ ](?:licen[cs]e|permit|id)s?|(?-i:DL)"
        r"|licen[cs]e(?=[ ](?:number|no|nr|#))",
    ),
    _LabelRule(
        SensitiveKind.MEDICAL_RECORD,
        r"medical[ ](?:record|file|chart)s?|patient(?=[ ](?:id|no|num|#|ref|:))"
        r"(?:[ ](?:reference|record))?|patient[ ]identifier|mrn|nhs|(?-i:PID)"
        r"|health[ ](?:card|insurance|record)|medicare|medicaid"
        r"|(?<!national[ ]|social[ ])(?:insurance|policy)(?=[ ](?:id|num|no|code|#))"
        r"|insurance[ ](?:policy|member|card)|member(?=[ ]id)|hospital[ ](?:id|record)",
        length_min=5,
    ),
    _LabelRule(
        SensitiveKind.BANK_ACCOUNT,
        r"(?:bank|savings|checking|current|giro|deposit|customer|beneficiary)[ ]accounts?"
        r"|accounts?(?=[ ](?:number|num|no\b|nr)|[ ]?(?:\#|no\.))|acct|a/c"
        r"|acc(?:num)?(?=[ ]?:|[ ]no)|ach|kontonummer|account(?=[ ]?:[ ]?\d{6})"
        r"|(?:checking|savings)(?=[ ]?:)|routing(?=[ ]?(?:code|num|no|:|\*))"
        r"|(?:aba|sort|ifsc|bsb)(?=[ ]?(?:code|num|no|:|\d))|clabe"
        r"|account(?=[ ]\d{6,8}\b.{0,20}\bsort[ ]?code)|(?<=\bsort[ ]?code.{0,20})account",
        digits_min=3,
    ),
    # A number with wrong check digits is still the number of an account.
    _LabelRule(SensitiveKind.BANK_ACCOUNT, r"ibans?", length_min=12, value=_IBAN_VALUE),
)
