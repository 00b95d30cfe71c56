"""What a value says of itself, whatever announced it: that it was made up, or is something else.

Whether that makes it a secret is said by those who know what announced it. Pure.
"""

from __future__ import annotations

import re

__all__ = ["ADDRESS", "is_indian_postcode", "is_made_up"]

ADDRESS = r"[^\s@]+@[^\s@]+\.\w+|https?:\S*"
"""A mail address, or one of the web: it may stand where a password would, and is none."""

_LETTER_AND_DIGIT = re.compile(r"(?=[^\s\d]*\d)(?=[^\w\s]*(?:[\d_][^\w\s]*)*[^\W\d_])")
_SIGN_WITHIN = re.compile(r"\S*\w(?:[#$%^&*@!+=~]+\w|[#$%&]$)")
_HUMP = re.compile(r"[a-z]{2}[A-Z]|[a-z][A-Z]{2}")
_STEP = re.compile(r"[a-z][A-Z]")
_POSTCODE = re.compile(r"[1-9]\d{2} ?\d{3}")


def is_made_up(value: str) -> bool:
    """Whether its first word is none of a language: it mixes letters with digits, signs or cases.

    One capital after a small letter is a brand's name: iPhone.
    """
    if _LETTER_AND_DIGIT.match(value) or _SIGN_WITHIN.match(value):
        return True
    return any(
        _HUMP.search(word) or len(_STEP.findall(word)) > 1 for word in value.split(None, 1)[:1]
    )


def is_indian_postcode(value: str) -> bool:
    """Whether it may be an Indian "PIN code", which is a postcode."""
    return _POSTCODE.fullmatch(value) is not None
