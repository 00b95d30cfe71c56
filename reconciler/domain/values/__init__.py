"""Values: compares two spellings of a value.

Values are compared by their keys; equal keys mean equal values. A normaliser makes a key from any
text and never fails; a text that it cannot read as its kind is folded as plain text.

Never here: a clock, a network, the machine's locale or time zone, a library that is imported before
it is needed, or a guess. A text with two possible meanings is read as neither.
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
"""The normalisers of values, by their names in the file."""
