"""Secrets that a name gives away: what a name says of its value, and ``"password": "…"`` in a text.

One table of names, whether they stand in a slot's attribute, in JSON, in an environment file or in
a sentence, and in however many layers of quotes. A text is searched, never parsed: what is nested
deep costs no more. Pure; a secret that nothing announces is found by its shape, elsewhere. The
names stand here and not in a lexicon, because every error is searched with them: what an error may
say must not hang on a file. Most texts hold no word that hints at a secret, and end at the screen
in this module; ``grammar`` and ``locks`` are imported for the first that does.

Source: detect-secrets' keyword detector was looked at first. It reads files of code: it wants
quotes about the value, knows neither numbers nor escaped quotes nor PINs, and says what it found
but not where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.named_secrets.words import (
    DIGIT_WORD,
    HINTS,
    HINTS_IN_A_SENTENCE,
    HINTS_OF_LOCKS,
)
from reconciler.sensitive_data import SensitiveKind, SensitiveSpan, redact

__all__ = ["find_named_secrets", "kind_of_name", "without_secrets"]

_DIGITS = re.compile(rf"(?i)\d[ -]?\d[ -]?\d|\b{DIGIT_WORD}[ ,-]+{DIGIT_WORD}\b")
"""So many digits, or digits in words, has every code that opens something."""
_ESCAPE = re.compile(r"\\u00(?P<code>[2-7][0-9a-fA-F])")


def kind_of_name(name: str | None) -> SensitiveKind | None:
    """What is asked for under a name: ``passport_number``, ``dbPassword``; no ``phone_model``."""
    from reconciler.named_secrets import grammar

    return grammar.kind_of_name(name)


def find_named_secrets(text: str) -> list[SensitiveSpan]:
    """The values whose names say that they are secret; they may overlap, and are in no order."""
    plain, place = _unescaped(text) if _ESCAPE.search(text) else (text, None)
    folded = plain.casefold()
    spans = [*_named(plain, folded), *_told_of_locks(plain, folded)]
    if place is None:
        return spans
    return [SensitiveSpan(place[span.start], place[span.end], span.kind) for span in spans]


def _named(text: str, folded: str) -> list[SensitiveSpan]:
    hints = set(filter(folded.__contains__, HINTS))
    if not hints:
        return []
    from reconciler.named_secrets.grammar import named, said

    return [*named(text), *(said(text) if hints & HINTS_IN_A_SENTENCE else ())]


def _told_of_locks(text: str, folded: str) -> list[SensitiveSpan]:
    if not any(map(folded.__contains__, HINTS_OF_LOCKS)) or not _DIGITS.search(text):
        return []
    from reconciler.named_secrets.locks import told_of_locks

    return list(told_of_locks(text))


def _unescaped(text: str) -> tuple[str, list[int]]:
    r"""The text with ``\u0077`` read as ``w``, and where in the text each character stands."""
    parts: list[str] = []
    place: list[int] = []
    done = 0
    for match in _ESCAPE.finditer(text):
        parts += [text[done : match.start()], chr(int(match["code"], 16))]
        place += range(done, match.start() + 1)
        done = match.end()
    return "".join((*parts, text[done:])), [*place, *range(done, len(text) + 1)]


def without_secrets(text: str) -> str:
    """The text with a kind in the place of each secret and each number of an account.

    For what is no record, as an error: a secret counts that its name or its shape gives away.
    """
    from reconciler.named_secrets.shapes import find_shapes

    spans = _apart([*find_named_secrets(text), *find_shapes(text)])
    return redact(text, spans, lambda kind, _: f"[{kind}]")


def _apart(spans: list[SensitiveSpan]) -> Iterator[SensitiveSpan]:
    end = 0
    for span in sorted(spans):
        if span.end > end:
            yield SensitiveSpan(max(span.start, end), span.end, span.kind)
            end = span.end
