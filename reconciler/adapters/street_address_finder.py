"""The finder of street addresses: a street and its number, in the forms that countries write them.

A pattern finds a street by a word in street names, by a flat beside it, or by the words before it
("lives at ..."); it does not know every street of the world. The forms and the words they are made
of are in ``config/secret_rules/street_addresses.toml``. A bare name of a place, a town or a country
is never looked for, and neither is any other kind of sensitive data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import regex

from reconciler.adapters.rules_finder import rules_of
from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, SensitiveSpans

_DIGIT = re.compile(r"\d")
_PART = re.compile(r"\{([a-z_]+)\}")


def find_street_addresses(text: str) -> SensitiveSpans:
    """Finds street addresses, with the flat, place and postcode that follow.

    The forms are compiled at their first use, which takes longer than any later use.
    """
    for pattern in _forms_in(text):
        for match in pattern.finditer(text):
            start, end = match.start(), _compiled("{tail}").match(text, match.end()).end()
            # A full stop is the sentence's.
            end -= text[end - 1] == "."
            yield SensitiveSpan(start, end, SensitiveKind.STREET_ADDRESS)


def street_of(address: str) -> str:
    """Street, number and flat of an address, without the place and postcode that follow.

    So an address is the same with and without that end.
    """
    matches = filter(None, (pattern.match(address) for pattern in _forms_in(address)))
    street = max((match[0] for match in matches), key=len, default=address)
    return " ".join((street.rstrip("."), *_compiled("{unit}").findall(address, len(street))))


def _forms_in(text: str) -> Iterator[Any]:
    """The forms that a text may hold; none if the text has no digit."""
    if _DIGIT.search(text):
        for cue, forms in _listed("forms").items():
            if _compiled(cue).search(text):
                yield from (_compiled("{front}(?:" + form + ")") for form in forms)


@cache
def _compiled(pattern: str) -> Any:
    return regex.compile(_filled(pattern))


def _filled(pattern: str) -> str:
    """Insert the parts of a pattern in their places."""
    return _PART.sub(lambda part: _filled(_listed("parts")[part[1]]), pattern)


@cache
def _listed(table: str) -> dict[str, Any]:
    """Read the parts by name, or the patterns of forms by cue."""
    return dict(rules_of("street_addresses.toml", table, lambda **pair: tuple(pair.values())))
