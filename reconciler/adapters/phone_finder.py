"""The finder of telephone numbers, with phonenumbers for the numbering plans of countries.

A run of digits is a phone number if it has a country code, if the words around it say so ("call",
"mobile"), or if a country groups digits in this way. A bare run is left alone, because notes are
full of quantities, invoices and order numbers. Other kinds of numbers are not looked for here. A
number may be sensitive in two ways: if another finder sees a national id in the same place, the two
finds are combined.
"""

from __future__ import annotations

import re

import regex

from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, SensitiveSpans

_SHAPE = (
    r"(?:(?<![\w+])\+|(?<![\w./$€£¥#+-])(?<!\d,))\(?\d{1,7}\)?(?:[ ./-]{0,2}\(?\d{1,8}\)?){0,6}"
    r"(?:[ ]?(?:x|ext\.?|extension|durchwahl|dw)[ ]?\d{1,6})?(?!\w|[.,]\d|[ ]?%)"
)
_PHONE = regex.compile(_SHAPE, regex.IGNORECASE)
_SAID_BEFORE = regex.compile(
    r"(?i)\b(?:(?:tele|mobile[ ]?|cell[ ]?)?phones?|mobiles?|cells?|tel|telefon|t[ée]l[ée]phone|fax"
    r"|whats?app|handy|calls?|called|calling|rings?|dial(?:l?ed)?|texts?|text(?:ed|ing)|sms|ph|mob"
    r"|reach(?:ed|able)?|landline|hotline|helpline|messages?|direct[ ]line|contact[ ]n\w+)"
    r"\b(?:[ ](?:me|us|him|her|them|back|at|on|to|via|by|is|was|now|number|num|no|the|my|his|their"
    r"|our|your|new|work|home|office|mobile|phone|cell|please|or|under|registered|line|nr)\b)*"
    r"[ ]?[.:#=]*[\s('\"]*\Z"
)
_ANSWERED_BEFORE = regex.compile(
    r"(?i)\b(?:(?:answer(?:s|ed|ing)?(?:[ ]the[ ]phone)?|(?:un)?available|pick(?:s|ed|ing)?[ ]up"
    r"|(?:try|tried|trying|got|get)(?:[ ]hold[ ]of)?[ ](?:me|him|her|them|us))[ ](?:at|on|under)"
    r"|(?:my|his|her|our|their)(?:[ ]\w{1,12})?[ ]number[ ](?:is|was))[ ]?:?[ ]?\Z"
)
"""Words about a phone that do not name it; a date may also follow them."""
_SAID_AFTER = regex.compile(
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


def find_phones(text: str) -> SensitiveSpans:
    """Finds telephone numbers, with their extension if there is one."""
    for match in _PHONE.finditer(text):
        start, end = match.span()
        start += text[start] == "(" and ")" not in text[start : end - 1]
        end -= text[end - 1] == ")" and "(" not in text[start:end]
        if _is_phone(text, start, end):
            yield SensitiveSpan(start, end, SensitiveKind.PHONE)


def _is_phone(text: str, start: int, end: int) -> bool:
    """True if it is a phone number: by country code, by the words around it, or by grouping."""
    number = text[start:end]
    count = sum(map(str.isdigit, number))
    if not 6 <= count <= 20 or ("/" in number and count < 9):
        return False
    if number.startswith("+") or (re.match(r"00[1-9]", number) and not number.isdigit()):
        return count >= 8
    if _SAID_BEFORE.search(text, max(0, start - 60), start):
        return not re.match(r"(?:19|20)\d\d[-/.]|\d{1,3}(?: 000)+\Z", number)
    if _ANSWERED_BEFORE.search(text, max(0, start - 60), start):
        return not _DATE_OR_SPAN.match(number)
    if _SAID_AFTER.match(text, end):
        return not re.search(r"(?:19|20)\d\d\b", number) or count > 8
    return not _DATE_OR_SPAN.match(number) and _is_national(text, start, number)


def _is_national(text: str, start: int, number: str) -> bool:
    """True if a grouped number fits some country, and no word says that it is something else."""
    if number.isdigit() or _NO_PHONE_BEFORE.search(text[max(0, start - 20) : start]):
        return False
    if _NORTH_AMERICAN.match(number):
        return True
    is_trunk = number.startswith(("0", "(0"))
    return is_trunk and any(_is_valid_in(region, number) for region in _REGIONS)


def _is_valid_in(region: str, number: str) -> bool:
    import phonenumbers  # 20 ms, and few notes hold a number without a country's code

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False
