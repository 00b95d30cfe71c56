"""Values: when two ways of saying one are the same.

A value's key is what it is compared by; equal keys mean that the same was said. A normaliser makes
the key of any text and fails on none; what it cannot read as its kind it folds as text.

Never here: a clock, a network, the machine's locale or time zone, a library that is imported before
it is needed, or a guess. What could mean two things is read as neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reconciler.reading.values import addresses, amounts, dates, locales, text

NORMALISERS: Mapping[str, Callable[[str], str]] = {
    "boolean": text.boolean,
    "channel": text.channel,
    "country": locales.country,
    "currency": amounts.currency,
    "date": dates.date,
    "date_time": dates.date_time,
    "email": addresses.email,
    "identifier": text.identifier,
    "language": locales.language,
    "money": amounts.money,
    "name": text.organisation,
    "number": amounts.number,
    "percent": amounts.percent,
    "person": text.person,
    "phone": addresses.phone,
    "text": text.text,
    "time_zone": dates.time_zone,
    "url": addresses.url,
}
"""How values are read, by the name that the file uses."""
