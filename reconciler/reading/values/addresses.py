"""A person's addresses: e-mail, phone, web.

An address is read as it is written. Nothing here asks whether it exists, and none gets a country or
a domain that the text did not name. A postal address is text.
"""

from __future__ import annotations

import re

from reconciler.reading.values.text import DASHES, plain, text

_MAILBOX = re.compile(r"([^\s<>@\"'(),;:\[\]]+)@([^\s<>@\"'(),;:\[\]]+)")


def email(said: str) -> str:
    """Return the one mailbox in it, case folded, its domain as the network spells it."""
    mailboxes = _MAILBOX.findall(plain(said))
    if len(mailboxes) != 1:
        return text(said)
    local, domain = mailboxes[0]
    return f"{local.casefold()}@{_domain(domain.casefold().rstrip('.'))}"


def _domain(domain: str) -> str:
    if domain.isascii():
        return domain
    import idna

    try:
        return idna.encode(domain, uts46=True).decode()
    except UnicodeError:
        return domain


def iban(said: str) -> str:
    """Return the account number without the word before it."""
    return re.sub(r"^iban\W*", "", plain(said).casefold())


def url(said: str) -> str:
    """Return the address without scheme, ``www.`` and closing slash."""
    folded = plain(said).casefold()
    host, slash, path = re.sub(r"^(?:https?://)?(?:www\.(?=\w))?|/+$", "", folded).partition("/")
    return f"{_domain(host)}{slash}{path}" or text(said)


_PHONE = re.compile(
    r"^(?:tel:)? ?(?P<number>\+?[\d ()./-]*\d[\d ()./-]*)"
    r"(?:[;,]? ?(?:extension|ext|x|#|durchwahl|dw|poste|anexo|interno?|int)[.=:]? ?"
    r"(?P<extension>\d{1,8}))?$"
)
_TRUNK = re.compile(r"(?<=\d)\s*\(0\)\s*")
"""The zero that is dialled only within the country, as it is printed behind the country's code."""

_KEEP_THE_ZERO = re.compile(r"\+\s*(?:39|378|379)\b")
"""Italy's plan, in which the zero is a part of the number."""

_OLD_MEXICAN = re.compile(r"(?<=^\+52)1(?=\d{10}$)")
"""The digit before Mexico's mobile numbers, no longer dialled since 2019."""


def phone(said: str) -> str:
    """Return E.164 if the number names its country, else its digits.

    A national number without a named country equals no international one.
    """
    folded = DASHES.sub("-", plain(said).casefold())
    read = _PHONE.match(folded)
    if read is None:
        return folded
    number = re.sub(r"^00(?=[ \d])", "+", read["number"])
    key = _e164(number) if number.startswith("+") else re.sub(r"\D", "", number)
    return f"{key};ext={read['extension']}" if read["extension"] else key


def _e164(number: str) -> str:
    """Return one form for each number; phonenumbers 9.0 distinguishes some equal ones."""
    import phonenumbers

    number = _TRUNK.sub("0" if _KEEP_THE_ZERO.match(number) else " ", number)
    digits = "+" + re.sub(r"\D", "", number)
    try:
        parsed = phonenumbers.parse(_OLD_MEXICAN.sub("", digits), None)
    except phonenumbers.NumberParseException:
        return digits
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
