"""Words about named secrets: which hint at one, and what makes a name mean something else.

Words alone, so that a text can be screened before any expression is compiled.
"""

from __future__ import annotations

__all__ = ["DIGIT_WORD", "HINTS", "HINTS_IN_A_SENTENCE", "HINTS_OF_LOCKS", "NO_COMPOUND"]

HINTS = (
    *("pass", "pwd", "wort", "contrase", "secret", "token", "key", "pin", "cvv", "cvc", "otp"),
    *("tan", "auth", "code", "credential", "jwt", "connection"),
)
"""A text that holds none of them names no secret; most hold none."""

HINTS_IN_A_SENTENCE = frozenset(HINTS) - {
    "contrase",
    "tan",
    "auth",
    "credential",
    "jwt",
    "connection",
}
"""Those of them with a secret that a sentence may tell."""

HINTS_OF_LOCKS = (
    *("door", "gate", "lock", "safe", "vault", "strongbox", "alarm", "entrance", "keypad", "lift"),
    *("elevator", "building", "flat", "apartment", "house", "garage", "cellar", "shed", "lobby"),
    *("intercom", "barrier", "cabinet", "office", "storage", "parking", "box", "wifi", "wi-fi"),
    *("wlan", "code", "pin", " in with", " in by", " in using"),
)
"""A text that tells a code which opens something holds one of them, and digits."""

DIGIT_WORD = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
"""A digit in words, as a person reads a code out."""

NO_COMPOUND = (
    r"(?![ -](?:managers?|vaults?|apps?|applications?|tools?|software|generators?|reviews?|audits?"
    r"|regulations?|polic(?:y|ies)|rules?|requirements?|pads?|readers?|lists?|fields?|forms?|pages?"
    r"|prompts?|hygiene|training|protection|strength|length|supplier|vendor|provider|requests?"
    r"|(?:reset|change|update)s?(?![ ](?:to|code)\b)|of[ ](?:conduct|practice|ethics))\b)"
)
"""Stands after a secret's name in a pattern: a password manager is no password."""
