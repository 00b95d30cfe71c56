"""Sensitive data: its kinds, and its removal from a text. Pure; a port finds it."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

_HASH = re.compile(r"(?<=\[)([a-z_]+):[0-9a-f]{12}(?=\])")

TOKEN = re.compile(r"\[[a-z_]+(?::[0-9a-f]{12})?\]")
"""The token in place of sensitive data, with its hash if that is kept."""

_DIGEST_LENGTH = 12
"""Hexadecimal digits of a token's hash: 48 bits, enough to tell the values of a store apart."""


class SensitiveKind(StrEnum):
    """The kinds of sensitive data that patterns find, the gravest first; no names or places."""

    SECRET = "secret"  # noqa: S105
    # These stand on the word of the text ("account number ..."), which knows better than the shape
    # of a number does.
    PASSPORT = "passport"
    DRIVING_LICENCE = "driving_licence"
    MEDICAL_RECORD = "medical_record"
    IBAN = "iban"
    BANK_ACCOUNT = "bank_account"
    TAX_ID = "tax_id"
    CREDIT_CARD = "credit_card"
    NATIONAL_ID = "national_id"
    EMAIL = "email"
    IP_ADDRESS = "ip_address"
    PHONE = "phone"
    STREET_ADDRESS = "street_address"


VALUE_TOKEN = re.compile(rf"\[(?:{'|'.join(SensitiveKind)})(?::[0-9a-f]{{12}})?\]")
"""The token in place of a value of one of the kinds."""

_HASHED = re.compile(r"\[[a-z_]+:[0-9a-f]{12}\]")


@dataclass(frozen=True, slots=True, order=True)
class SensitiveSpan:
    """A span of sensitive text: ``text[start:end]``."""

    start: int
    end: int
    kind: SensitiveKind

    def meets(self, start: int, end: int) -> bool:
        """True if a part of it is between two places of the text."""
        return self.start < end and start < self.end

    def moved(self, by: int) -> SensitiveSpan:
        """Return the same span in a text that begins this many characters earlier."""
        return SensitiveSpan(self.start + by, self.end + by, self.kind)


SensitiveSpans = Iterator[SensitiveSpan]
"""Spans as a finder meets them."""

_GRAVITY = {kind: rank for rank, kind in enumerate(SensitiveKind)}


def merge_spans(spans: Iterable[SensitiveSpan]) -> list[SensitiveSpan]:
    """Merge spans, in order, without overlaps; an overlap takes the gravest kind."""
    merged: list[SensitiveSpan] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            kind = min(merged[-1].kind, span.kind, key=_GRAVITY.__getitem__)
            merged[-1] = SensitiveSpan(merged[-1].start, max(merged[-1].end, span.end), kind)
        else:
            merged.append(span)
    return merged


def redact(
    text: str,
    spans: Iterable[SensitiveSpan],
    token_of: Callable[[SensitiveKind, str], str],
) -> str:
    """Put a token in the place of each span of a text; spans do not overlap."""
    parts, done = [], 0
    for span in sorted(spans):
        parts += [text[done : span.start], token_of(span.kind, text[span.start : span.end])]
        done = span.end
    return "".join((*parts, text[done:]))


def is_redaction_of(text: str, redacted: str) -> bool:
    """True if the second text may be the first, with tokens in place of some of its values.

    A token with a hash in the first text must stand in the second one as well: equal hashes are
    equal values.
    """
    first, *between = VALUE_TOKEN.split(redacted)
    if not between or not {*_HASHED.findall(text)} <= {*_HASHED.findall(redacted)}:
        return False
    last, at = between.pop(), len(first)
    for piece in between:
        at = text.find(piece, at) + len(piece)
        if at < len(piece):
            return False
    return text.startswith(first) and text[at:].endswith(last)


def without_hashes(text: str) -> str:
    """Put the kind alone in place of a token: its hash depends on a key."""
    return _HASH.sub(r"\1", text) if "[" in text else text


_SCHEME = re.compile(r"(?<![^\s(<\[])(?:mailto|tel):(?=[\w+(\[])", re.IGNORECASE)


def without_scheme(text: str) -> str:
    """Return a text without ``mailto:`` and ``tel:`` before an address."""
    return _SCHEME.sub("", text) if ":" in text else text


def keyed_digest(key: bytes, text: str) -> str:
    """Make a hash that hides its text without the key: 32 hexadecimal digits."""
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def key_check(key: bytes) -> str:
    """Make a digest that shows whether two places have the same key, without revealing it."""
    return keyed_digest(key, "which key this is")


def keyed_token(key: bytes, kind: SensitiveKind, value: str) -> str:
    """Make a token for a value: equal for equal values, not reversible without the key.

    Spaces, punctuation and case do not count, so that a number written twice is the same number.
    """
    folded = unicodedata.normalize("NFKC", value).casefold()
    plain = re.sub(r"[^\w@]|_", "", folded) or folded
    return f"[{kind}:{keyed_digest(key, f'{kind}:{plain}')[:_DIGEST_LENGTH]}]"
