"""Stating: whether a word of change says that it came about.

"Has never left Siemens" and "claims to have sold the van" hold such a word, and tell of no change.
What has changed, and for which fact, must never live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from reconciler.domain.guard.tokens import Token, tokens_of
from reconciler.domain.guard.vocabulary import vocabulary

_BEHIND_A_NOT = ("any", "anymore")
"""How an end begins that a denial before it makes: "does not smoke any more"."""

_ADVERBS = ("no", *_BEHIND_A_NOT)


def is_end_stated(text: str, start: int, cue: str) -> bool:
    """Whether a word of an end, such as "sold" or "no longer", says that something is over.

    Args:
        text: in small letters.
        start: where the word begins.
        cue: the word, or words.
    """
    before, first = _clause_before(text[:start]), cue.split()[0]
    is_adverb = first in _ADVERBS
    if first not in _BEHIND_A_NOT and _is_denied(before):
        return False
    return not _is_governed(before, is_verb=not is_adverb)


def is_change_stated(text: str, start: int, cue: str) -> bool:
    """Whether a word of change, such as "moved" or "now", says that things are otherwise.

    A denial before a "now" is what is new; one right before a verb, or anywhere before one with an
    ending, is about that verb. The arguments are those of ``is_end_stated``.
    """
    if vocabulary().cessation.fullmatch(cue):
        return is_end_stated(text, start, cue)
    before, is_verb = _clause_before(text[:start]), cue.split()[0].endswith("ed")
    if _is_denied(before if is_verb else _right_before(before)):
        return False
    return not _is_governed(before, is_verb=is_verb)


def is_denied_before(text: str, start: int) -> bool:
    """Whether a denial stands before this place in its clause."""
    return _is_denied(_clause_before(text[:start]))


@lru_cache(maxsize=4096)
def _clause_before(text: str) -> tuple[Token, ...]:
    """The last words of a text, back to a mark or conjunction, which is the first of them."""
    tokens, marks = tokens_of(text), vocabulary().clause_marks
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].value in marks and tokens[at].kind in ("mark", "function"):
            return tuple(tokens[at:])
    return tuple(tokens)


def _right_before(tokens: Sequence[Token]) -> list[Token]:
    """The words between the last word of content and the end: "has not yet been"."""
    light = vocabulary().light
    near = takewhile(lambda each: each.kind == "function" or each.value in light, reversed(tokens))
    return list(near)


def _is_denied(tokens: Sequence[Token]) -> bool:
    known = vocabulary().negations | vocabulary().short_of
    return any(token.text.casefold() in known for token in tokens)


def _is_governed(tokens: Sequence[Token], *, is_verb: bool) -> bool:
    """Whether what follows is wished, planned, claimed, asked for or supposed.

    A noun that is spelt like such a verb governs nothing: "the plan was cancelled". "Wants no calls
    any more" and "will no longer call" say what is so.
    """
    known = vocabulary()
    if is_verb and any(token.text.casefold() in known.doubts for token in tokens):
        return True
    governing = known.governing | (known.wishes if is_verb else frozenset())
    return any(
        token.value in governing
        and token.text.casefold() not in known.rewording
        and after.value not in known.auxiliaries
        for token, after in pairwise(tokens)
    )
