"""The finder of personal data made of presidio-analyzer's recognisers, and of patterns in its form.

Beside presidio's own recognisers there are patterns of ours in its ``PatternRecognizer``, for what
CRM notes say and presidio finds only with a language model.

Two kinds of evidence count. A number may be of a shape that little else has, or carry a check digit
(``_loaded_shapes``); or the text says what it is: "account number ...", "passport ..."
(``_LABELLED``). A bare number is neither, and is left alone: notes are full of quantities, invoices
and order numbers. Names, places and organisations need a language model and are not looked for;
phones, street addresses and secrets are other finders', and must not come here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import Any

from reconciler.adapters.presidio_modules import bare_presidio
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan, merge_spans

__all__ = ["PresidioFinder"]

_MAY_HOLD = re.compile(r"\d|@|\(at\)|\[at\]|::", re.IGNORECASE)
_MAY_HOLD_EMAIL = re.compile(r"@|[(\[]at[)\]]", re.IGNORECASE)
_SCORE_MIN = 0.5
"""Presidio's own "medium"."""
_CHECKED = 1.0
"""What presidio gives to a number whose check digits fit."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """A recogniser, the kind of what it finds, and what has to hold beside its pattern."""

    recogniser: Any
    entity: str
    kind: SensitiveKind
    accepts: Callable[[str, int, int], bool] | None = None
    score_min: float = _SCORE_MIN
    digits_min: int = 0
    """Digits that a text must have for the recogniser to be asked at all."""

    def find(self, text: str) -> Iterator[SensitiveSpan]:
        for found in self.recogniser.analyze(text, [self.entity], None):
            if found.score >= self.score_min and self._is_accepted(text, found.start, found.end):
                yield SensitiveSpan(found.start, found.end, self.kind)

    def _is_accepted(self, text: str, start: int, end: int) -> bool:
        return self.accepts is None or self.accepts(text, start, end)


class PresidioFinder:
    """Finds e-mail addresses, and numbers by their shape or label; needs no language model.

    The recognisers are loaded at the first use, in two tenths of a second: without spaCy, which the
    package would otherwise import, and torch with it.
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


# Loading the recognisers

_COUNTRY = "predefined_recognizers.country_specific"


def _load_rules() -> Iterator[_Rule]:
    """All rules, the one for e-mail first, which alone needs no digit."""
    with bare_presidio() as presidio:
        yield _own(presidio, SensitiveKind.EMAIL, *_EMAIL)
        yield from _loaded_shapes()
        yield _card_rule(presidio)
        for labelled in _LABELLED:
            made = _own(presidio, labelled.kind, labelled.pattern)
            yield replace(made, accepts=labelled.accepts, digits_min=labelled.digits_min)


def _own(presidio: ModuleType, kind: SensitiveKind, *patterns: str) -> _Rule:
    """A rule of our own patterns, under the kind's name."""
    made = [presidio.Pattern(kind.value, pattern, _SCORE_MIN) for pattern in patterns]
    recogniser = presidio.PatternRecognizer(kind.value, patterns=made)
    return _Rule(recogniser, kind.value, kind)


def _loaded_shapes() -> Iterator[_Rule]:
    for module, entity, kind, accepts, score_min, digits_min in _SHAPES:
        loaded = import_module(f"presidio_analyzer.{module}_recognizer")
        (made,) = (
            value
            for name, value in vars(loaded).items()
            if name.endswith("Recognizer") and getattr(value, "__module__", "") == loaded.__name__
        )
        recogniser = made()
        if score_min < _CHECKED:  # else a weak pattern is as good as a strong one
            strong = [pattern for pattern in recogniser.patterns if pattern.score >= score_min]
            recogniser.patterns = strong
        yield _Rule(recogniser, entity, kind, accepts, score_min, digits_min)


def _card_rule(presidio: ModuleType) -> _Rule:
    cards = import_module("presidio_analyzer.predefined_recognizers.generic.credit_card_recognizer")
    patterns = [presidio.Pattern("card", pattern, _SCORE_MIN) for pattern in _CARD]
    recogniser = cards.CreditCardRecognizer(
        patterns=patterns, replacement_pairs=[("-", ""), (" ", ""), (".", "")]
    )
    return _Rule(recogniser, "CREDIT_CARD", SensitiveKind.CREDIT_CARD, _is_card, digits_min=12)


# What little else looks like


def _said_before(words: str) -> Callable[[str, int, int], bool]:
    """Whether one of the words stands shortly before or after."""
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return lambda text, start, end: bool(pattern.search(text[max(0, start - 40) : end + 20]))


_CARD_WORD = _said_before("card|maestro|cc|visa|mastercard|debit|credit")
_AADHAAR_WORD = _said_before("aadha+r|uid|uidai|adhar")


def _is_card(text: str, start: int, end: int) -> bool:
    """Of a length that the network of its first digits has; twelve must be said to be a card."""
    digits = re.sub(r"\D", "", text[start:end])
    if len(digits) == 12:
        return bool(_CARD_WORD(text, start, end))
    return any(
        digits.startswith(prefixes) and len(digits) in lengths for prefixes, lengths in _NETWORKS
    )


def _is_aadhaar(text: str, start: int, end: int) -> bool:
    """In its groups of four, or by its name: one in ten bare numbers has a fitting check digit."""
    return not text[start:end].isdigit() or _AADHAAR_WORD(text, start, end)


def _has_separator(text: str, start: int, end: int) -> bool:
    return not text[start:end].isalnum()


def _is_upper(text: str, start: int, end: int) -> bool:
    return text[start:end].isupper()


_VERSION_BEFORE = re.compile(r"\b(?:v|ver|version|release|build)\.?\s*$", re.IGNORECASE)
_VERSION_REACH = 32


def _is_network_address(text: str, start: int, end: int) -> bool:
    """Not a version number, not a time of day, and not "::" alone."""
    # A text may hold thousands of them, so only what stands right before one is looked at.
    if _VERSION_BEFORE.search(text, max(0, start - _VERSION_REACH), start):
        return False
    found = text[start:end]
    return found.count(".") == 3 or len(re.findall(r"[0-9a-fA-F]+", found)) >= 3 or found == "::1"


def _is_dashed(text: str, start: int, end: int) -> bool:
    """Three groups parted by spaces or points are of many things, unless the text says of what."""
    return text[start:end].count("-") == 2


_SHAPES: tuple[
    tuple[str, str, SensitiveKind, Callable[[str, int, int], bool] | None, float, int], ...
] = (
    ("predefined_recognizers.generic.iban", "IBAN_CODE", SensitiveKind.IBAN, None, _CHECKED, 2),
    (
        "predefined_recognizers.generic.ip",
        "IP_ADDRESS",
        SensitiveKind.IP_ADDRESS,
        _is_network_address,
        _SCORE_MIN,
        0,
    ),
    (f"{_COUNTRY}.us.us_ssn", "US_SSN", SensitiveKind.NATIONAL_ID, _is_dashed, _SCORE_MIN, 9),
    (f"{_COUNTRY}.uk.uk_nino", "UK_NINO", SensitiveKind.NATIONAL_ID, None, _SCORE_MIN, 6),
    (
        f"{_COUNTRY}.india.in_aadhaar",
        "IN_AADHAAR",
        SensitiveKind.NATIONAL_ID,
        _is_aadhaar,
        _CHECKED,
        12,
    ),
    (f"{_COUNTRY}.spain.es_nif", "ES_NIF", SensitiveKind.NATIONAL_ID, _is_upper, _CHECKED, 7),
    (f"{_COUNTRY}.spain.es_nie", "ES_NIE", SensitiveKind.NATIONAL_ID, _is_upper, _CHECKED, 7),
    (
        f"{_COUNTRY}.italy.it_fiscal_code",
        "IT_FISCAL_CODE",
        SensitiveKind.NATIONAL_ID,
        None,
        _CHECKED,
        0,
    ),
    (
        f"{_COUNTRY}.finland.fi_personal_identity_code",
        "FI_PERSONAL_IDENTITY_CODE",
        SensitiveKind.NATIONAL_ID,
        None,
        _CHECKED,
        9,
    ),
    (
        f"{_COUNTRY}.korea.kr_rrn",
        "KR_RRN",
        SensitiveKind.NATIONAL_ID,
        _has_separator,
        _SCORE_MIN,
        13,
    ),
    (
        f"{_COUNTRY}.sweden.se_personnummer",
        "SE_PERSONNUMMER",
        SensitiveKind.NATIONAL_ID,
        _has_separator,
        _CHECKED,
        10,
    ),
    (f"{_COUNTRY}.india.in_pan", "IN_PAN", SensitiveKind.TAX_ID, _is_upper, _SCORE_MIN, 4),
    (f"{_COUNTRY}.india.in_gstin", "IN_GSTIN", SensitiveKind.TAX_ID, _is_upper, 0.8, 2),
    (
        f"{_COUNTRY}.uk.uk_driving_licence",
        "UK_DRIVING_LICENCE",
        SensitiveKind.DRIVING_LICENCE,
        None,
        _SCORE_MIN,
        6,
    ),
)
_NETWORKS: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = (
    (("4",), (13, 16, 18, 19)),
    (("2", "5"), (16,)),
    (("34", "37", "2131", "1800"), (15,)),
    (("30", "36", "38", "39"), (14, 16)),
    (("35",), (16, 17, 18, 19)),
    (("50", "56", "57", "58", "6"), (13, 14, 15, 16, 17, 18, 19)),
)
"""First digits, and how many there are. Source: ISO/IEC 7812 ranges as the networks publish."""
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

# What the text says it is

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
# A group is taken whole: there are endless ways to part a long one, and no end to trying them all.
_IBAN_VALUE = r"(?:(?-i:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,}+){1,8})|[a-z]{2}\d{2}[a-z0-9]{8,30}+)"
_VALUE_END = r"(?<![._/-])(?![\w@])"


@dataclass(frozen=True, slots=True)
class _Labelled:
    """What is announced by its label, and how much of it there must be."""

    kind: SensitiveKind
    labels: str
    length_min: int = 6
    digits_min: int = 4
    value: str = _VALUE

    @property
    def pattern(self) -> str:
        """The value that follows the label, which is itself no part of the match."""
        return rf"\b(?:{self.labels}){_NUMBER}{_IS}{_OPEN}\K{self.value}{_VALUE_END}"

    def accepts(self, text: str, start: int, end: int) -> bool:
        """Whether there is enough of it; a round number or one with a unit is an amount."""
        found = [character for character in text[start:end] if character.isalnum()]
        digits = sum(map(str.isdigit, found))
        if digits < 9 and (text[:end].endswith("000") or _AMOUNT_AFTER.match(text, end)):
            return digits < len(found)
        return len(found) >= self.length_min and digits >= self.digits_min


_LABELLED = (
    _Labelled(
        SensitiveKind.NATIONAL_ID,
        r"ssn|social[ ]security(?:[ ](?:number|no|nr))?|soc[ ]sec|social[ ]insurance|sin(?=[ ]?:)"
        r"|national[ ](?:id(?:entity|entification)?|insurance)(?:[ ]card)?|identity[ ]card"
        r"|ni(?=[ ]n)|nino|aadha+r(?:[ ]card)?|adhaar|voter(?:'s)?[ ]id|epic|pesel|cpf|curp|dni|nie"
        r"|nif|bsn|personnummer|fiscal[ ]code|codice[ ]fiscale|steuer-?id|identification[ ]number"
        r"|citizen[ ]id|emirates[ ]id|nric|hkid|rrn|tckn?|social[ ]sec(?:urity)?[ ]card",
    ),
    _Labelled(
        SensitiveKind.TAX_ID,
        r"tax[ ]?(?:payer)?[ ]?(?:id|identification|reference|file|number|no)\w*(?:[ ]number)?"
        r"(?:[ ][ai]tin)?|(?-i:TIN|EIN|ITIN|ATIN|UTR|GSTIN?|VAT|TFN|ABN|PAN)(?:[ ]card)?"
        r"|vat[ ](?:id|reg\w*)|employer[ ]identification|gst(?=[ ](?:no|num|id))|steuernummer",
        digits_min=3,
    ),
    _Labelled(SensitiveKind.PASSPORT, r"passports?(?:[ ](?:id|card|book))?", digits_min=3),
    _Labelled(
        SensitiveKind.DRIVING_LICENCE,
        r"driv(?:er|ing)(?:['\u2019]?s)?['\u2019]?[ ](?:licen[cs]e|permit|id)s?|(?-i:DL)"
        r"|licen[cs]e(?=[ ](?:number|no|nr|#))",
    ),
    _Labelled(
        SensitiveKind.MEDICAL_RECORD,
        r"medical[ ](?:record|file|chart)s?|patient(?=[ ](?:id|no|num|#|ref|:))"
        r"(?:[ ](?:reference|record))?|patient[ ]identifier|mrn|nhs|(?-i:PID)"
        r"|health[ ](?:card|insurance|record)|medicare|medicaid"
        r"|(?<!national[ ]|social[ ])(?:insurance|policy)(?=[ ](?:id|num|no|code|#))"
        r"|insurance[ ](?:policy|member|card)|member(?=[ ]id)|hospital[ ](?:id|record)",
        length_min=5,
    ),
    _Labelled(
        SensitiveKind.BANK_ACCOUNT,
        r"(?:bank|savings|checking|current|giro|deposit|customer|beneficiary)[ ]accounts?"
        r"|accounts?(?=[ ](?:number|num|no\b|nr)|[ ]?(?:\#|no\.))|acct|a/c"
        r"|acc(?:num)?(?=[ ]?:|[ ]no)|ach|kontonummer|account(?=[ ]?:[ ]?\d{6})"
        r"|(?:checking|savings)(?=[ ]?:)|routing(?=[ ]?(?:code|num|no|:|\*))"
        r"|(?:aba|sort|ifsc|bsb)(?=[ ]?(?:code|num|no|:|\d))|clabe",
        digits_min=3,
    ),
    # One whose check digits do not fit is still the number of an account.
    _Labelled(SensitiveKind.BANK_ACCOUNT, r"ibans?", length_min=12, value=_IBAN_VALUE),
)
