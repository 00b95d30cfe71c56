"""Secrets that a name shows: the kind of a name's value, and ``"password": "…"`` in a text.

One table of names, whether they stand in a slot's attribute, in JSON, in an environment file or in
a sentence, and in however many layers of quotes. A text is searched, never parsed: what is nested
deep costs no more. Pure; a secret that nothing announces is found by its shape, elsewhere. The
names stand here and not in a lexicon, because every error is searched with them: what an error may
say must not hang on a file. Most texts hold no word that hints at a secret, and end at the screen
in this module; ``grammar`` is imported for the first that does.

Source: detect-secrets' keyword detector was looked at first. It reads files of code: it wants
quotes about the value, knows neither numbers nor escaped quotes nor PINs, and says what it found
but not where.
"""

from __future__ import annotations

from reconciler.reading.sensitive_data import SensitiveKind, SensitiveSpan, merge_spans, redact

_HINTS = """
    pass pwd wort contrase secret token key pin cvv cvc otp tan auth code credential jwt connection
    door gate lock safe vault strongbox alarm entrance lift elevator building flat apartment house
    garage cellar shed lobby intercom barrier cabinet office storage parking box wifi wi-fi wlan
"""
"""The hints of secrets and locks: a text without them names neither; most texts have none."""

_ENTERING = (" in with", " in by", " in using")


def kind_of_name(name: str | None) -> SensitiveKind | None:
    """Return the kind asked for under a name: ``passport_number``, ``dbPassword``.

    ``phone_model`` asks for none.
    """
    from reconciler.reading.named_secrets import grammar

    return grammar.kind_of_name(name)


def find_named_secrets(text: str) -> list[SensitiveSpan]:
    """Find values that their names call secret; they may overlap, and are in no order."""
    if not any(map(text.casefold().__contains__, (*_HINTS.split(), *_ENTERING))):
        return []
    from reconciler.reading.named_secrets.grammar import named, said

    return [*named(text), *said(text)]


def without_secrets(text: str) -> str:
    """Put a kind in the place of each secret and each account number of a text.

    For texts such as errors: a secret counts if its name or its shape shows it.
    """
    from reconciler.reading.named_secrets.folding import FoldedText
    from reconciler.reading.named_secrets.shapes import find_account_numbers, find_tokens

    folded = FoldedText.of(text)
    finds = (find_named_secrets, find_tokens, find_account_numbers)
    spans = merge_spans(folded.unfold(span) for find in finds for span in find(folded.text))
    return redact(text, spans, lambda kind, _: f"[{kind}]")
