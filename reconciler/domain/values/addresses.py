"""A person's addresses: e-mail, phone, web.

An address is read as it is written. Nothing here asks whether it exists, and none gets a country or
a domain that the text did not name. A postal address is text.
"""

from __future__ import annotations

import re

from reconciler.domain.values.text import DASHES, plain, text

__all__ = ["email", "phone", "url"]

_MAILBOX = re.compile(r"([^\s<>@\"'(),;:\[\]]+)@([^\s<>@\"'(),;:\[\]]+)")


def email(said: str) -> str:
    """The one mailbox in it, case folded, its domain as the network spells it."""
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


def url(said: str) -> str:
    """Without scheme, ``www.`` and closing slash."""
    folded = plain(said).casefold()
    return re.sub(r"^(?:https?://)?(?:www\.(?=\w))?|/+$", "", folded) or text(said)


_PHONE = re.compile(
    r"^(?:tel:)? ?(?P<number>\+?[\d ()./-]*\d[\d ()./-]*)"
    r"(?:[;,]? ?(?:extension|ext|x|#)[.=:]? ?(?P<extension>\d{1,8}))?$"
)


def phone(said: str) -> str:
    """E.164 where the number names its country, else its digits.

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
    import phonenumbers

    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return "+" + re.sub(r"\D", "", number)
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
