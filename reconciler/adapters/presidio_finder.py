"""The finder of personal data, made of patterns; presidio-analyzer's where it has them.

Beside its single recognisers there are patterns of ours in its ``PatternRecognizer``, for what CRM
notes say and presidio finds only with a language model.

Two kinds of evidence count. A number may be of a shape that little else has, or carry a check digit
(``_loaded_shapes``); or the text says what it is: "account number ...", "passport ..."
(``_LABELLED``). A bare number is neither, and is left alone: notes are full of quantities, invoices
and order numbers. Names, places and organisations need a language model and are not looked for;
secrets are another finder's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import Any

import phonenumbers
import regex

from reconciler.adapters.sensitive_data_finders import merge_spans
from reconciler.domain.sensitive_data import SensitiveKind, SensitiveSpan

__all__ = ["PresidioFinder"]

_MAY_HOLD = re.compile(r"\d|@|\(at\)|\[at\]|::", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
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

    def find(self, text: str) -> Iterator[SensitiveSpan]:
        for found in self.recogniser.analyze(text, [self.entity], None):
            if found.score >= self.score_min and self._is_accepted(text, found.start, found.end):
                yield SensitiveSpan(found.start, found.end, self.kind)

    def _is_accepted(self, text: str, start: int, end: int) -> bool:
        return self.accepts is None or self.accepts(text, start, end)


class PresidioFinder:
    """Finds personal data of the kinds that patterns can see; needs no language model.

    The recognisers are loaded at the first use, in two tenths of a second: without spaCy, which the
    package would otherwise import, and torch with it.
    """

    def __init__(self) -> None:
        self._rules: tuple[_Rule, ...] | None = None
        self._addresses: _Addresses | None = None
        self._lock = Lock()

    def find(self, text: str) -> list[SensitiveSpan]:
        """The personal data of a text, first to last; overlaps as one, of the gravest kind."""
        if not _MAY_HOLD.search(text):
            return []
        return merge_spans(self._find_all(text))

    def _find_all(self, text: str) -> Iterator[SensitiveSpan]:
        email, *rules = self._loaded_rules()
        yield from email.find(text)
        if not _DIGIT.search(text):
            return
        for rule in rules:
            yield from rule.find(text)
        yield from _find_phones(text)
        yield from self._loaded_addresses().find(text)

    def _loaded_rules(self) -> tuple[_Rule, ...]:
        with self._lock:
            if self._rules is None:
                self._rules = tuple(_load_rules())
            return self._rules

    def _loaded_addresses(self) -> _Addresses:
        with self._lock:
            if self._addresses is None:
                self._addresses = _Addresses.compiled()
            return self._addresses


# Loading presidio, module by module

_PACKAGES = (
    "presidio_analyzer",
    "presidio_analyzer.nlp_engine",
    "presidio_analyzer.predefined_recognizers",
    "presidio_analyzer.predefined_recognizers.generic",
)
_HOMES = {
    "AnalysisExplanation": "analysis_explanation",
    "EntityRecognizer": "entity_recognizer",
    "LocalRecognizer": "local_recognizer",
    "Pattern": "pattern",
    "PatternRecognizer": "pattern_recognizer",
    "RecognizerResult": "recognizer_result",
}
_COUNTRY = "predefined_recognizers.country_specific"
_IMPORT_LOCK = Lock()


class _BarePackage(ModuleType):
    """A package whose ``__init__`` has not run; gives the few names that recognisers ask it for."""

    def __getattr__(self, name: str) -> Any:
        if name == "NlpArtifacts":  # only ever an annotation
            return object
        if name in _HOMES:
            return getattr(import_module(f"presidio_analyzer.{_HOMES[name]}"), name)
        raise AttributeError(name)


@contextmanager
def _bare_presidio() -> Iterator[None]:
    """While it lasts, presidio's modules can be had singly.

    Its ``__init__`` imports spaCy, and transformers and torch where they are installed: four
    seconds, for a model that no pattern needs. Afterwards nothing of it stays in ``sys.modules``,
    so that whoever imports presidio for itself gets all of it.
    """
    with _IMPORT_LOCK:
        if "presidio_analyzer" in sys.modules:
            yield
            return
        try:
            for name in _PACKAGES:
                sys.modules[name] = _bare_package(name)
            yield
        finally:
            for name in [name for name in sys.modules if name.split(".")[0] == _PACKAGES[0]]:
                del sys.modules[name]


def _bare_package(name: str) -> ModuleType:
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(name=name)
    package = _BarePackage(name)
    package.__path__ = list(spec.submodule_search_locations or ())
    package.__spec__ = ModuleSpec(name, None, is_package=True)
    return package


def _load_rules() -> Iterator[_Rule]:
    """All rules, the one for e-mail first, which alone needs no digit."""
    with _bare_presidio():
        yield _own(SensitiveKind.EMAIL, *_EMAIL)
        yield from _loaded_shapes()
        for each in _LABELLED:
            yield replace(_own(each.kind, each.pattern), accepts=each.accepts)


def _own(kind: SensitiveKind, *patterns: str) -> _Rule:
    """A rule of our own patterns, under the kind's name."""
    package = sys.modules["presidio_analyzer"]
    made = [package.Pattern(kind.value, pattern, _SCORE_MIN) for pattern in patterns]
    recogniser = package.PatternRecognizer(kind.value, patterns=made)
    return _Rule(recogniser, kind.value, kind)


def _loaded_shapes() -> Iterator[_Rule]:
    for module, entity, kind, accepts, score_min in _SHAPES:
        loaded = import_module(f"presidio_analyzer.{module}_recognizer")
        (made,) = (
            each
            for name, each in vars(loaded).items()
            if name.endswith("Recognizer") and getattr(each, "__module__", "") == loaded.__name__
        )
        recogniser = made()
        if score_min < _CHECKED:  # else a weak pattern is as good as a strong one
            strong = [each for each in recogniser.patterns if each.score >= score_min]
            recogniser.patterns = strong
        yield _Rule(recogniser, entity, kind, accepts, score_min)
    yield _card_rule()


def _card_rule() -> _Rule:
    package = sys.modules["presidio_analyzer"]
    cards = import_module("presidio_analyzer.predefined_recognizers.generic.credit_card_recognizer")
    patterns = [package.Pattern("card", pattern, _SCORE_MIN) for pattern in _CARD]
    recogniser = cards.CreditCardRecognizer(
        patterns=patterns, replacement_pairs=[("-", ""), (" ", ""), (".", "")]
    )
    return _Rule(recogniser, "CREDIT_CARD", SensitiveKind.CREDIT_CARD, _is_card)


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


def _is_network_address(text: str, start: int, end: int) -> bool:
    """Not a version number, not a time of day, and not "::" alone."""
    if re.search(r"\b(?:v|ver|version|release|build)\.?\s*$", text[:start], re.IGNORECASE):
        return False
    found = text[start:end]
    return found.count(".") == 3 or len(re.findall(r"[0-9a-fA-F]+", found)) >= 3 or found == "::1"


def _is_dashed(text: str, start: int, end: int) -> bool:
    """Three groups parted by spaces or points are of many things, unless the text says of what."""
    return text[start:end].count("-") == 2


_SHAPES: tuple[
    tuple[str, str, SensitiveKind, Callable[[str, int, int], bool] | None, float], ...
] = (
    ("predefined_recognizers.generic.iban", "IBAN_CODE", SensitiveKind.IBAN, None, _CHECKED),
    (
        "predefined_recognizers.generic.ip",
        "IP_ADDRESS",
        SensitiveKind.IP_ADDRESS,
        _is_network_address,
        _SCORE_MIN,
    ),
    (f"{_COUNTRY}.us.us_ssn", "US_SSN", SensitiveKind.NATIONAL_ID, _is_dashed, _SCORE_MIN),
    (f"{_COUNTRY}.uk.uk_nino", "UK_NINO", SensitiveKind.NATIONAL_ID, None, _SCORE_MIN),
    (
        f"{_COUNTRY}.india.in_aadhaar",
        "IN_AADHAAR",
        SensitiveKind.NATIONAL_ID,
        _is_aadhaar,
        _CHECKED,
    ),
    (f"{_COUNTRY}.spain.es_nif", "ES_NIF", SensitiveKind.NATIONAL_ID, _is_upper, _CHECKED),
    (f"{_COUNTRY}.spain.es_nie", "ES_NIE", SensitiveKind.NATIONAL_ID, _is_upper, _CHECKED),
    (
        f"{_COUNTRY}.italy.it_fiscal_code",
        "IT_FISCAL_CODE",
        SensitiveKind.NATIONAL_ID,
        None,
        _CHECKED,
    ),
    (
        f"{_COUNTRY}.finland.fi_personal_identity_code",
        "FI_PERSONAL_IDENTITY_CODE",
        SensitiveKind.NATIONAL_ID,
        None,
        _CHECKED,
    ),
    (f"{_COUNTRY}.korea.kr_rrn", "KR_RRN", SensitiveKind.NATIONAL_ID, _has_separator, _SCORE_MIN),
    (
        f"{_COUNTRY}.sweden.se_personnummer",
        "SE_PERSONNUMMER",
        SensitiveKind.NATIONAL_ID,
        _has_separator,
        _CHECKED,
    ),
    (f"{_COUNTRY}.india.in_pan", "IN_PAN", SensitiveKind.TAX_ID, _is_upper, _SCORE_MIN),
    (f"{_COUNTRY}.india.in_gstin", "IN_GSTIN", SensitiveKind.TAX_ID, _is_upper, 0.8),
    (
        f"{_COUNTRY}.uk.uk_driving_licence",
        "UK_DRIVING_LICENCE",
        SensitiveKind.DRIVING_LICENCE,
        None,
        _SCORE_MIN,
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
    r"(?<![\w.+-])[\w.+-]{1,64}\s?[(\[]at[)\]]\s?[\w-]{1,63}(?:(?:\.|\s?[(\[]dot[)\]]\s?)[\w-]{2,63})+",
    # Indian payment addresses, a name at a bank's handle.
    r"(?<![\w.+-])[\w.-]{2,64}@(?:upi|ybl|ibl|axl|apl|yapl|paytm|(?:ok|pt)?(?:sbi|axis|icici|yes)"
    r"|ok?hdfcbank|hdfcbank|axisbank|pthdfc|kotak|indus|federal|idfcbank|freecharge|airtel)\b(?!\.\w)",
)

# What the text says it is

_NUMBER = r"(?:[ ](?:number|numbers|num|nr|no|id|code))?(?:[ ]?[.#№]|\.[ ]?:)?"
_IS = (
    r"(?:[ ](?:is|was|are|being|of|ending|reads)|[ ]?[:=])*[ ]*[#:]?[ ]*"
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
_IBAN_VALUE = r"(?:(?-i:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,30}){2,8})|[a-z]{2}\d{2}[a-z0-9]{8,30}+)"
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
        r"|(?:checking|savings)(?=[ ]?:)"
        r"|routing(?=[ ]?(?:code|num|no|:|\*))"
        r"|(?:aba|sort|ifsc|bsb)(?=[ ]?(?:code|num|no|:|\d))|clabe",
        digits_min=3,
    ),
    # One whose check digits do not fit is still the number of an account.
    _Labelled(SensitiveKind.BANK_ACCOUNT, r"ibans?", length_min=12, value=_IBAN_VALUE),
)

# Phones

_PHONE_SHAPE = (
    r"(?:(?<![\w+])\+|(?<![\w./$€£¥#+-])(?<!\d,))\(?\d{1,7}\)?(?:[ ./-]{0,2}\(?\d{1,8}\)?){0,6}"
    r"(?:[ ]?(?:x|ext\.?|extension)[ ]?\d{1,6})?(?!\w|[.,]\d|[ ]?%)"
)
_PHONE = regex.compile(_PHONE_SHAPE, regex.IGNORECASE)
_PHONE_SAID_BEFORE = regex.compile(
    r"(?i)\b(?:(?:tele|mobile[ ]?|cell[ ]?)?phones?|mobiles?|cells?|tel|telefon|t[ée]l[ée]phone|fax"
    r"|whats?app|handy|calls?|called|calling|rings?|dial(?:l?ed)?|texts?|text(?:ed|ing)|sms|ph|mob"
    r"|reach(?:ed|able)?|landline|hotline|helpline|messages?|direct[ ]line"
    r"|contact[ ]n\w+)"
    r"\b(?:[ ](?:me|us|him|her|them|back|at|on|to|via|by|is|was|now|number|num|no|the|my|his|their"
    r"|our|your|new|work|home|office|mobile|phone|cell|please|or|under|registered|line|nr)\b)*"
    r"[ ]?[.:#=]*[\s('\"]*\Z"
)
_PHONE_SAID_AFTER = regex.compile(
    r"(?i)[ ]?[-(,]?[ ]?\(?(?:office|fax|mobile|cell|home|work|tel|phone|landline|direct)\b"
    r"(?=[)\]]*[ ]*(?:[,;|\\/\n]|\.?\Z|\.\s))"
)
_DATE_OR_SPAN = re.compile(
    r"(?:19|20)\d\d[-/. ]\d{1,2}[-/. ]\d{1,2}\Z|\d{1,2}[-/. ]\d{1,2}[-/. ](?:19|20)?\d\d\Z"
    r"|(?:19|20)\d\d ?[-/] ?(?:19|20)?\d\d\Z|\d{1,3}(?: \d{3})+\Z(?<! \d{3} \d{3} \d{3})"
)
_NORTH_AMERICAN = re.compile(
    r"(?:1[-. ])?(?:\(\d{3}\)[ ]?|\d{3}([-.]))\d{3}(?(1)\1|[-. ])\d{4}(?!\d)"
)
_REGIONS = ("US", "GB", "IN", "DE", "FR", "ES", "IT", "NL", "AU", "BR", "CH", "SE")
_NO_PHONE_BEFORE = re.compile(
    r"(?:invoice|order|ticket|case|ref|reference|sku|item|part|serial|tracking|contract|quote|po"
    r"|account|version|model|isbn|zoom|meeting|webinar|id|number|no)\b[ .:#]*$",
    re.IGNORECASE,
)


def _find_phones(text: str) -> Iterator[SensitiveSpan]:
    for match in _PHONE.finditer(text):
        start, end = match.span()
        start += text[start] == "(" and ")" not in text[start : end - 1]
        end -= text[end - 1] == ")" and "(" not in text[start:end]
        if _is_phone(text, start, end):
            yield SensitiveSpan(start, end, SensitiveKind.PHONE)


def _is_phone(text: str, start: int, end: int) -> bool:
    """By its country code, by what is said about it, or by a grouping that only phones have."""
    found = text[start:end]
    count = sum(map(str.isdigit, found))
    if not 6 <= count <= 20 or ("/" in found and count < 9):
        return False
    if found.startswith("+") or (re.match(r"00[1-9]", found) and not found.isdigit()):
        return count >= 8
    if _PHONE_SAID_BEFORE.search(text, max(0, start - 60), start):
        return not re.match(r"(?:19|20)\d\d[-/.]|\d{1,3}(?: 000)+\Z", found)
    if _PHONE_SAID_AFTER.match(text, end):
        return not re.search(r"(?:19|20)\d\d\b", found) or count > 8
    return not _DATE_OR_SPAN.match(found) and _is_national(text, start, found)


def _is_national(text: str, start: int, found: str) -> bool:
    """A grouped number that is some country's, and is not said to be something else."""
    if found.isdigit() or _NO_PHONE_BEFORE.search(text[max(0, start - 20) : start]):
        return False
    if _NORTH_AMERICAN.match(found):
        return True
    is_trunk = found.startswith(("0", "(0"))
    return is_trunk and any(_is_valid_in(region, found) for region in _REGIONS)


def _is_valid_in(region: str, found: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(found, region))
    except phonenumbers.NumberParseException:
        return False


# Street addresses

_WORD = r"(?:[^\W\d_][\w.'\u2019-]*)"
_CAPITAL = r"(?:(?=\p{Lu})[\w.'\u2019-]+)"
_OF = (
    r"(?:d[eaiou]s?|del(?:la)?|dell'|van|von|der|den|of|the|la|le|les|al|el|y|e|and|zum|zur|am|an)"
)
_NAME = rf"(?:(?:{_CAPITAL}|\d{{1,3}}(?:st|nd|rd|th))(?:[ ](?:{_OF}[ ]){{0,2}}{_CAPITAL}){{0,4}})"
_NO = r"(?:\d{1,5}(?:[ ]?[-/][ ]?\d{1,4})?[a-zA-Z]?)"
_STREET = (
    r"(?:Street|Str|St|Avenue|Ave|Av|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Courts?|Ct|Place|Pl"
    r"|Square|Sq|Terrace|Ter|Way|Close|Crescent|Cres|Highway|Hwy|Parkway|Pkwy|Gardens|Mews"
    r"|Quay|Alley|Trail|Circle|Cir|Grove|Esplanade|Promenade|Marg)"
)
_STREET_ANY_CASE = r"(?:street|avenue|boulevard|road|lane)"
_SIDE = r"(?:[ ](?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b\.?)"
_SUFFIXED = (
    r"(?:(?<!\w)\p{Lu}[\w'-]{0,40}(?i:stra(?:ss|ß)e|str\.|gasse|weg|platz|laan|straat|plein|gade|vej|gatan|vägen"
    r"|gata|vegen|veien|katu|kuja|gränd|steenweg|dreef|allee|damm|chaussee|ufer|utca))"
)
_RUE = r"(?i:rue|avenue|boulevard|quai|allée|chemin|impasse|via|calle)"
_NOT_A_TOOL = r"(?![ ](?:Zoom|Slack|Teams|Email|LinkedIn|WhatsApp|Skype|Phone|Google))"
_PREFIX = (
    rf"(?:Rue|Avenue|Boulevard|Bd|Quai|Allée|Chemin|Impasse|Cours|Via{_NOT_A_TOOL}|Viale|Piazza"
    r"|Piazzetta|Corso|Vicolo|Calle|C/|Avda\.?|Avenida|Av\.|Paseo|Plaza|Pza\.?|Rua|Rúa|Travessa"
    r"|Praça|Estrada|Alameda|Largo|ul\.|al\.|pl\.|os\.|Ulica|ulica|Trg|trg|Ctra\.?|Carretera"
    r"|Camino|Camiño|Strada|Λεωφ\.|Οδός)"
)
_FOLLOWING = (
    r"(?:Stra(?:ss|ß)e|Weg|Gasse|Platz|Allee|Ring|Damm|u\.|utca|út|útja|tér|tere|rkp\.|krt\.|gate|gata"
    r"|väg|vei|veg|tee|tie|tänav|pst|mnt)"
)
_FLAT = r"(?:(?:Suite|Ste\.?|Apt\.?|Apartment|Flat|Appt\.?)[ ]?#?[ ]?\d{1,5}[A-Za-z]?\b)"
_UNIT = rf"(?:{_FLAT}|(?:Unit|Piso|Room|Floor|Fl\.?)[ ]?#?[ ]?\d{{1,5}}[A-Za-z]?\b)"
_HOME = (
    r"(?i:address(?:es)?(?:[ ](?:is|was|to)\b|[ ]?:)"
    r"|\b(?:lives?|living|lived|reside[sd]?|residing|located)[ ]at)"
)
_SENT = (
    r"(?i:\b(?:lives?|living|lived|resides?)[ ]in|arrived[ ]at|address[ ]with"
    r"|(?<![\w-])(?:ship|deliver|mail|post|sent?|send|taxi)(?:ed)?[ ](?:\w+[ ]){0,3}?to)"
)
_BREAK = r"(?:[ ]*,[ ]*|[ ]*\n[\s>?|*,-]{0,8}|[ ]+)"
_ZIP = r"(?:\d{3,6}(?:[- ]\d{2,4})?(?!\d)|[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2})"
_BOX = r"(?i:p\.?[ ]?o\.?[ ]?box|postbox|postfach|post[ ]office[ ]box|bo[iî]te[ ]postale)"
_MILITARY = (
    r"(?i:(?:(?:PSC|CMR|Unit)[ ]\d{1,5},?[ ]Box[ ]\d{1,5}|US[A-Z]{1,3}[ ][\w' -]{2,40})\s{1,3}"
    r"(?:APO|FPO|DPO)[ ]A[AEP][ ]\d{5})"
)
_NOT_STREET_WORDS = (
    r"(?!(?:of|from|in|on|at|to|by|for|with|and|or|per|the|a|an|hours?|minutes?|mins?|days?|weeks?"
    r"|months?|years?|km|miles?|metres?|meters?|blocks?|people|more|new|other|lane|way|stars?"
    r"|different|big|small|busy|good|bad|long|short|open|main|side|high|city|local|ring|cross|toll"
    r"|dirt|bike|bus|fast|private|bedroom|pm|am|st|nd|rd|th)\b)"
)
_NOT_MONTH = (
    r"(?!(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    r"|(?:AM|PM|EUR|USD|GBP|INR)\b)"
)
_NOT_YEAR = (
    r"(?!(?<=\b(?i:in|since|by|until|during|from|of|before|after|late|early|mid)[ ])"
    r"(?:19|20)\d\d\b)"
)
_TAIL = (
    rf"(?:{_BREAK}{_UNIT}){{0,2}}"
    rf"(?:(?:{_BREAK}(?:{_CAPITAL}|{_OF}|\([^)\n]{{2,20}}\)),?){{0,8}}"
    rf"{_BREAK}{_ZIP}(?![\w/:-]|[. ]\d)"
    rf"|(?:,[ ]{_NAME}){{1,3}}(?=[ ]*(?:[.;?!)\n]|\Z)))?"
)
_FORMS = {
    # 12 High Street; 12 high street
    rf"\b(?:{_STREET}|(?i:{_STREET_ANY_CASE}))\b": (
        rf"{_NO},?[ ]{_NAME}[ ]{_STREET}\b\.?{_SIDE}?",
        rf"{_NO}[ ](?:{_NOT_STREET_WORDS}{_WORD}[ ]){{1,2}}{_STREET_ANY_CASE}\b",
    ),
    # Hauptstraße 5
    _SUFFIXED: (rf"{_SUFFIXED}[ ]{_NO}\b", rf"{_NO}[ ]{_SUFFIXED}\b"),
    # Kossuth utca 5.
    rf"[ ]{_FOLLOWING}[ ]\d": (rf"{_NAME}[ ]{_FOLLOWING}[ ]{_NO}\b\.?",),
    # Rue de la Paix 5; 5 rue de la Paix
    rf"\b(?:{_PREFIX}|{_RUE})": (
        rf"{_PREFIX}[ ]?(?:{_OF}[ ]){{0,3}}{_NAME},?[ ](?:n[.º°]?[ ]?)?{_NO}\b",
        rf"{_NO},?[ ](?:bis[ ]|ter[ ])?{_RUE}[ ](?:(?i:{_OF})[ ]){{0,3}}{_NAME}",
    ),
    r"corner of": (rf"(?:the[ ])?corner[ ]of[ ][^\n]{{4,70}}?[ ]and[ ]{_NAME}(?:[ ]{_NO}\b)?",),
    _BOX: (rf"{_BOX}[ ]?(?:\#|no\.?)?[ ]?\d{{1,7}}",),
    r"(?i:[AFD]PO[ ]A)": (_MILITARY,),
    # Whatever stands beside its flat: "731 Miła 57 Apt. 819", on one line or on two
    _FLAT: (
        rf"{_FLAT}[ ]{_NO}[ ](?:{_NO}[ ])?{_NAME}[ ]{_NO}\b",
        rf"(?:\d{{1,5}}[ ])?(?:{_WORD}[ ]){{1,6}}?{_NO}\.?{_BREAK}{_FLAT}",
        rf"{_NO}[ ](?:{_NOT_STREET_WORDS}{_WORD}[ ,]{{1,2}}){{1,6}}?{_FLAT}",
        rf"{_NO}[ ](?:{_WORD}[ ]){{0,5}}{_WORD}\n[ \t>?|*-]{{0,8}}{_FLAT}",
        rf"(?m:(?:^[ \t>?]*|,[ ]|\b(?:Mrs?|Ms|Dr)\.[ ][^\n,]{{3,40}}?[ ])\K{_FLAT})",
    ),
    # Said to be one
    _HOME: (rf"{_HOME}\s+\K{_NO}[ ](?:\d{{1,5}}[ ])?{_NOT_MONTH}{_NAME}(?:[ ]{_NO}\b)?",),
    _SENT: (rf"{_SENT}\s+\K{_NO}[ ](?:\d{{1,5}}[ ])?{_NOT_MONTH}{_NAME}[ ]{_NO}\b",),
}
"""What a form of address has in it, which is quickly looked for, and the form itself."""


@dataclass(frozen=True, slots=True)
class _Addresses:
    """The forms of address, compiled; that takes longer than all else here, so it is done once."""

    forms: tuple[tuple[Any, tuple[Any, ...]], ...]
    tail: Any

    @classmethod
    def compiled(cls) -> _Addresses:
        front = rf"(?<![\w./$€£#-]){_NOT_YEAR}(?:{_UNIT},?[ ])?(?:\d{{1,5}}[ ])??"
        forms = (
            (regex.compile(cue), tuple(regex.compile(f"{front}(?:{form})") for form in each))
            for cue, each in _FORMS.items()
        )
        return cls(tuple(forms), regex.compile(_TAIL))

    def find(self, text: str) -> Iterator[SensitiveSpan]:
        for cue, patterns in self.forms:
            if cue.search(text):
                for pattern in patterns:
                    for match in pattern.finditer(text):
                        yield self._span(text, match.start(), match.end())

    def _span(self, text: str, start: int, end: int) -> SensitiveSpan:
        """With the flat, place and postcode that follow; a full stop is the sentence's."""
        end = self.tail.match(text, end).end()
        return SensitiveSpan(start, end - (text[end - 1] == "."), SensitiveKind.STREET_ADDRESS)
