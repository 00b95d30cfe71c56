"""Whether a text is meant literally, told from its words alone.

Irony, what-ifs, played roles, other people's words and open conditions have the grammar of a
statement, and a memory that takes them for one holds facts that were never true. How the cues of
``config/lexicon/literalness.toml`` are looked for lives here; a model, a score or what becomes of
the text must not. When in doubt a text is literal: a rule here names what gave the text away, or
stays silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from reconciler.domain.text_reading import read_text
from reconciler.lexicon import Cues, Held, lexicon


class Literalness(StrEnum):
    """How a text is meant."""

    LITERAL = "literal"
    SARCASTIC = "sarcastic"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    QUOTED = "quoted"
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class LiteralnessFinding:
    """How a text is meant, and its words that gave it away; no words where it is literal."""

    kind: Literalness
    cue: str


def classify_literalness(text: str) -> LiteralnessFinding:
    """How the text is meant; literal unless its words say otherwise.

    The kinds are looked for in a fixed order, so that a text has one: a role, a quotation, irony,
    what is not so, what is not so yet.
    """
    plain, held = _find_cues(text)
    starts: tuple[int, ...] = ()
    for kind, name, find in _RULES:
        for _, pattern in held.worth_trying(name):
            starts = starts or _starts(plain)
            if match := find(held, pattern, starts):
                return LiteralnessFinding(kind, _said(plain, held, match).strip(" |,;:.!?\"'"))
    return LiteralnessFinding(Literalness.LITERAL, "")


def find_hedge(text: str) -> str | None:
    """The words by which the speaker leaves it open whether the text is so; None without any."""
    plain, held = _find_cues(text)
    match = held.first("hedge")
    return _said(plain, held, match).strip() if match else None


# Reading


def _starts(plain: str) -> tuple[int, ...]:
    return 0, *(sentence.start for sentence in read_text(plain).sentences if sentence.start)


@cache
def _lexicon() -> Cues:
    return Cues(lexicon("literalness"))


@lru_cache(maxsize=64)
def _find_cues(text: str) -> tuple[str, Held]:
    """The text in plain marks, and as the cues expect it; read once, whatever is asked of it."""
    reading = read_text(text)
    return reading.plain, _lexicon().read(reading.small)


def _said(plain: str, held: Held, match: re.Match[str]) -> str:
    """The found words, spelled as they were said."""
    start = held.text.find(match.group())
    return plain[start : start + len(match.group())] if start >= 0 else match.group()


# How a cue is looked for

_Find = Callable[[Held, re.Pattern[str], Sequence[int]], re.Match[str] | None]
"""Finds a cue in a text with sentences that begin at the given places."""


def _anywhere(held: Held, pattern: re.Pattern[str], _: Sequence[int]) -> re.Match[str] | None:
    return pattern.search(held.text)


def _at_each_start(
    held: Held, pattern: re.Pattern[str], starts: Sequence[int]
) -> re.Match[str] | None:
    return next(filter(None, (pattern.match(held.text, at) for at in starts)), None)


def _in_each_sentence(
    held: Held, pattern: re.Pattern[str], starts: Sequence[int]
) -> re.Match[str] | None:
    return next(filter(None, map(pattern.search, _sentences(held, starts))), None)


def _if_unreal(held: Held, pattern: re.Pattern[str], starts: Sequence[int]) -> re.Match[str] | None:
    """An "if" with a past tense, and what would follow from it."""
    return _with_consequence(pattern, "consequence", _sentences(held, starts))


def _if_open(held: Held, pattern: re.Pattern[str], starts: Sequence[int]) -> re.Match[str] | None:
    """An "if" outside a question, and what hangs on it."""
    told = (
        sentence for sentence in _sentences(held, starts) if not sentence.rstrip().endswith("?")
    )
    return _with_consequence(pattern, "open_consequence", told)


def _sentences(held: Held, starts: Sequence[int]) -> Iterator[str]:
    return (held.text[a:b] for a, b in zip(starts, (*starts[1:], len(held.text)), strict=True))


def _with_consequence(
    condition: re.Pattern[str], consequence: str, sentences: Iterable[str]
) -> re.Match[str] | None:
    """The first condition for which what hangs on it stands in the rest of its sentence."""
    for sentence in sentences:
        if match := condition.search(sentence):
            rest = f"{sentence[: match.start()]} | {sentence[match.end() :]}"
            if _lexicon().pattern(consequence).search(rest):
                return match
    return None


_RULES: Sequence[tuple[Literalness, str, _Find]] = (
    (Literalness.ROLEPLAY, "role", _anywhere),
    (Literalness.QUOTED, "quotation", _anywhere),
    (Literalness.QUOTED, "quoted_whole", _anywhere),
    (Literalness.SARCASTIC, "ironic_opening", _at_each_start),
    (Literalness.SARCASTIC, "ironic_phrase", _anywhere),
    (Literalness.HYPOTHETICAL, "unreal", _in_each_sentence),
    (Literalness.HYPOTHETICAL, "wish", _in_each_sentence),
    (Literalness.HYPOTHETICAL, "unreal_if", _if_unreal),
    (Literalness.CONDITIONAL, "open_if", _if_open),
)
"""Each kind's lists of cues in the order in which they count, and how they are looked for."""
