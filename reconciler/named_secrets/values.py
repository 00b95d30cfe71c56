"""What a value says of itself, whatever announced it: that it was made up, or is something else.

Whether that makes it a secret is said by those who know what announced it. Pure.
"""

from __future__ import annotations

import re

ADDRESS = r"[^\s@]+@[^\s@]+\.\w+|https?:\S*"
"""A mail address, or one of the web: it may stand where a password would, and is none."""

_LETTER_AND_DIGIT = re.compile(r"(?=[^\s\d]*\d)(?=[^\w\s]*(?:[\d_][^\w\s]*)*[^\W\d_])")
_SIGN_WITHIN = re.compile(r"\S*\w(?:[#$%^&*@!+=~]+\w|[#$%&]$)")
_HUMP = re.compile(r"[a-z]{2}[A-Z]|[a-z][A-Z]{2}")
_STEP = re.compile(r"[a-z][A-Z]")
_PARTED = re.compile(r"[^A-Za-z0-9]+")
_READABLE = re.compile(r"[a-z]{3,}|[A-Z]{4,}|\d{4,}")
_TURN = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_HAS_ALL = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])")
_READABLE_MAX, _TURNS_MIN = 0.45, 0.25
_DRAWN_LENGTH_MIN, _BARE_LENGTH_MIN, _ONE_CASE_LENGTH_MIN = 20, 28, 32
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


def is_drawn(word: str, others: frozenset[str]) -> bool:
    """Whether a machine drew most of it at random, as it does a key, and a person wrote none of it.

    Of three classes of characters drawn alike, few stand in runs that one could read. With small
    letters or capitals alone, letters and digits take turns. So a name, a date or a code that
    people read to each other is none, and neither is an UUID. What stands before what was drawn
    says what it is: a vendor's prefix needs fewer characters than none, and an id is no secret.

    Args:
        word: of ASCII letters and digits, and signs between them.
        others: what stands before a number that is no secret, in small letters.
    """
    parts = _PARTED.split(word)
    drawn = [part for part in parts if _is_part_drawn(part)]
    if not drawn or not others.isdisjoint(map(str.casefold, parts[: parts.index(drawn[0])])):
        return False
    has_prefix = parts[0] not in drawn and parts[0][:1].isalpha()
    length_min = _DRAWN_LENGTH_MIN if has_prefix else _BARE_LENGTH_MIN
    return sum(map(len, drawn)) >= length_min and (has_prefix or any(map(_HAS_ALL.match, drawn)))


def _is_part_drawn(part: str) -> bool:
    if len(part) >= _ONE_CASE_LENGTH_MIN and part in (part.lower(), part.upper()):
        return len(_TURN.findall(part)) >= _TURNS_MIN * len(part)
    if len(part) < 8 or not _HAS_ALL.match(part):
        return False
    return sum(map(len, _READABLE.findall(part))) <= _READABLE_MAX * len(part)


def is_indian_postcode(value: str) -> bool:
    """Whether it may be an Indian "PIN code", which is a postcode."""
    return _POSTCODE.fullmatch(value) is not None
