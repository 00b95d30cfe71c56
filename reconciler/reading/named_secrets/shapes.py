"""Secrets and numbers of accounts that are known by their shape alone.

The finder of secrets searches for these besides vendors' tokens, and an error must not repeat them:
it is made without a finder, and is printed, logged and kept on jobs. Pure.
"""

from __future__ import annotations

import re
from functools import cache

from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, SensitiveSpans

_SHAPES = (
    r"-----BEGIN[ A-Z]*PRIVATE KEY[ A-Z]*-----(?:.*?-----END[ A-Z]*-----|.*)",
    r"\beyJ[\w-]{5,}={0,2}\.[\w-]{5,}={0,2}(?:\.[\w+/=-]*)?",
    r"\bsk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}",
    r"\b(?:gh[opsur]|hf|npm|glpat|glptt|dop_v1|shpat|lin_api)[_-][A-Za-z0-9_-]{20,}",
    r"\bgithub_pat_\w{20,}",
    r":_authToken=\s*(?:npm_[^\n]|[A-Fa-f0-9-]{36})[^\n]*",
    r"\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\bhttps://hooks\.slack\.com/services/[\w/]+",
    r"\bAIza[\w-]{30,}",
    r"\b(?i:bearer)[ ]+[A-Za-z0-9._~+/-]{20,}=*",
    # What lets a visitor in by the address alone; the first group is the secret.
    r"(?i)://[^\s\"'<>]{1,300}?[?&;#](?:sig|signature|x-amz-signature|x-goog-signature|code|ticket"
    r"|sid|session)="
    r"((?=[^\s&#]{0,60}\d)(?=[^\s&#]{0,60}[a-z])[^\s&#\"'<>]{10,})",
    r"(?i)://[^\s\"'<>]{1,200}?/(?:reset|reset-password|password|magic|magic-link|invite|verify"
    r"|activate|login|signin|confirm)/((?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{16,})",
    r"://[^\s/:@]{0,100}:([^\s/@]{1,200})@",
)

NEEDED = """
    xox bearer :// -----begin _authtoken eyj aiza sk- sk_ rk_ whsec_ gho ghp ghs ghu ghr github_pat_
    hf- hf_ npm- npm_ glpat glptt dop_v1 shpat lin_api
"""
"""Rare parts of the shapes, in small letters: each shape holds one of these."""

_IBAN_COUNTRIES = (
    "AD|AE|AL|AT|AZ|BA|BE|BG|BH|BI|BR|BY|CH|CR|CY|CZ|DE|DJ|DK|DO|EE|EG|ES|FI|FK|FO|FR|GB|GE|GI|GL|GR"
    "|GT|HR|HU|IE|IL|IQ|IS|IT|JO|KW|KZ|LB|LC|LI|LT|LU|LV|LY|MC|MD|ME|MK|MN|MR|MT|MU|NI|NL|NO|OM|PK"
    "|PL|PS|PT|QA|RO|RS|RU|SA|SC|SD|SE|SI|SK|SM|SO|ST|SV|TL|TN|TR|UA|VA|VG|XK|YE"
)
# In capitals alone: one in two thousand digests, in small letters, would pass for an account.
_IBAN = re.compile(rf"\b(?:{_IBAN_COUNTRIES})\d{{2}}(?: ?[A-Z0-9]){{11,30}}\b")
_IBAN_LENGTH_MIN = 15
_DIGIT = re.compile(r"\d")
_CARD = re.compile(
    r"(?<![\w.-])(?:[3-6]\d{3}(?:[ -]?\d{4}){3}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\w-])"
)


def find_tokens(text: str) -> SensitiveSpans:
    """Find keys, tokens and logins in addresses; they may overlap."""
    if not any(map(text.casefold().__contains__, NEEDED.split())):
        return
    for pattern in _compiled():
        for match in pattern.finditer(text):
            yield SensitiveSpan(*match.span(pattern.groups), SensitiveKind.SECRET)


def find_account_numbers(text: str) -> SensitiveSpans:
    """Find numbers of cards and of bank accounts with right check digits."""
    if not _DIGIT.search(text):
        return
    for match in _IBAN.finditer(text):
        if end := _end_of_iban(match[0]):
            yield SensitiveSpan(match.start(), match.start() + end, SensitiveKind.IBAN)
    for match in _CARD.finditer(text):
        if luhn.is_valid(re.sub("[ -]", "", match[0])):
            yield SensitiveSpan(*match.span(), SensitiveKind.CREDIT_CARD)


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(shape, re.DOTALL) for shape in _SHAPES)


def _end_of_iban(text: str) -> int:
    """Find the end of an account's number with right check digits, at a word's end; else 0."""
    ends = [len(text), *(at for at, each in reversed([*enumerate(text)]) if each == " ")]
    for end in ends:
        plain = text[:end].replace(" ", "")
        if len(plain) >= _IBAN_LENGTH_MIN and mod_97_10.is_valid(plain[4:] + plain[:4]):
            return end
    return 0
