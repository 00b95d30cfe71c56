"""The finder of personal data that patterns can see: e-mail addresses, and numbers.

Two kinds of evidence count. A number may be of a shape that little else has, or carry a check digit
(``personal_number_shapes``); or the text says what it is: "account number ...", "passport ..."
(``_LABELLED``). A bare number has neither, and is left alone: notes are full of quantities,
invoices and order numbers. Names, places and organisations need a language model and are not looked
for. Other finders find phones, street addresses and secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.adapters.personal_number_shapes import (
    SHAPES,
    NumberRule,
    has_luhn_digit,
    said_before,
)
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan

_MAY_HOLD_EMAIL = re.compile(r"@|[(\[]at[)\]]", re.IGNORECASE)


def find_personal_data(text: str) -> Iterator[SensitiveSpan]:
    """Finds e-mail addresses, and numbers by their shape or label; needs no language model.

    A pattern is compiled at its first use.
    """
    if _MAY_HOLD_EMAIL.search(text):
        yield from _EMAIL.find(text)
    digits = sum(map(str.isdigit, text))
    for rule in _RULES if digits else ():
        if digits >= rule.digits_min:
            yield from rule.find(text)


# Distinctive shapes


_CARD_WORD = said_before("card|maestro|cc|visa|mastercard|debit|credit")


def _is_card(text: str, start: int, end: int) -> bool:
    """Whether its length fits its first digits' network; twelve digits need the word "card"."""
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
"""First digits, and the number of digits. Source: ISO/IEC 7812 ranges as the networks publish."""
_CARD = r"""(?x)
    (?<![\w.-])(?:[3-6]\d{3}|2[2-7]\d{2}|2131|1800)(?:[ -]?\d){8,15}(?![\w]|[.,-]\d)
    | (?<![\w.-])[3-6]\d{3}(?:\.\d{4}){3}(?![\w]|[.,-]\d)
"""
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
# A group is matched whole: trying all ways to part a long one would not end.
_IBAN_VALUE = r"(?:(?-i:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{2,}+){1,8})|[a-z]{2}\d{2}[a-z0-9]{8,30}+)"
_VALUE_END = r"(?<![._/-])(?![\w@])"


def _labelled(
    kind: SensitiveKind,
    labels: str,
    length_min: int = 6,
    digits_min: int = 4,
    value: str = _VALUE,
) -> NumberRule:
    """A value that follows a label, with its least length and number of digits.

    The label is no part of the match. A round number or one with a unit is an amount.
    """

    def accepts(text: str, start: int, end: int) -> bool:
        letters = [character for character in text[start:end] if character.isalnum()]
        digits = sum(map(str.isdigit, letters))
        if digits < 9 and (text[:end].endswith("000") or _AMOUNT_AFTER.match(text, end)):
            return digits < len(letters)
        return len(letters) >= length_min and digits >= digits_min

    pattern = rf"\b(?:{labels}){_NUMBER}{_IS}{_OPEN}\K{value}{_VALUE_END}"
    return NumberRule(kind, pattern, accepts=accepts, digits_min=digits_min)


_RULES = (
    *SHAPES,
    NumberRule(SensitiveKind.CREDIT_CARD, _CARD, has_luhn_digit, _is_card, 12),
    _labelled(
        SensitiveKind.NATIONAL_ID,
        r"ssn|social[ ]security(?:[ ](?:number|no|nr))?|soc[ ]sec|social[ ]insurance|sin(?=[ ]?:)"
        r"|national[ ](?:id(?:entity|entification)?|insurance)(?:[ ]card)?|identity[ ]card"
        r"|ni(?=[ ]n)|nino|aadha+r(?:[ ]card)?|adhaar|voter(?:'s)?[ ]id|epic|pesel|cpf|curp|dni|nie"
        r"|nif|bsn|personnummer|fiscal[ ]code|codice[ ]fiscale|steuer-?id|identification[ ]number"
        r"|citizen[ ]id|emirates[ ]id|nric|hkid|rrn|tckn?|social[ ]sec(?:urity)?[ ]card",
    ),
    _labelled(
        SensitiveKind.TAX_ID,
        r"tax[ ]?(?:payer)?[ ]?(?:id|identification|reference|file|number|no)\w*(?:[ ]number)?"
        r"(?:[ ][ai]tin)?|(?-i:TIN|EIN|ITIN|ATIN|UTR|GSTIN?|VAT|TFN|ABN|PAN)(?:[ ]card)?"
        r"|vat[ ](?:id|reg\w*)|employer[ ]identification|gst(?=[ ](?:no|num|id))|steuernummer",
        digits_min=3,
    ),
    _labelled(SensitiveKind.PASSPORT, r"passports?(?:[ ](?:id|card|book))?", digits_min=3),
    _labelled(
        SensitiveKind.DRIVING_LICENCE,
        r"driv(?:er|ing)(?:['\u2019]?s)?['\u2019]?[ ](?:licen[cs]e|permit|id)s?|(?-i:DL)"
        r"|licen[cs]e(?=[ ](?:number|no|nr|#))",
    ),
    _labelled(
        SensitiveKind.MEDICAL_RECORD,
        r"medical[ ](?:record|file|chart)s?|patient(?=[ ](?:id|no|num|#|ref|:))"
        r"(?:[ ](?:reference|record))?|patient[ ]identifier|mrn|nhs|(?-i:PID)"
        r"|health[ ](?:card|insurance|record)|medicare|medicaid"
        r"|(?<!national[ ]|social[ ])(?:insurance|policy)(?=[ ](?:id|num|no|code|#))"
        r"|insurance[ ](?:policy|member|card)|member(?=[ ]id)|hospital[ ](?:id|record)",
        length_min=5,
    ),
    _labelled(
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
    _labelled(SensitiveKind.BANK_ACCOUNT, r"ibans?", length_min=12, value=_IBAN_VALUE),
)
