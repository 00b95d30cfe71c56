"""Sentences that are not the speaker's plain word: they hang on something, or pass words on. Pure.

The patterns are data, in ``config/lexicon/conditions.toml``. What becomes of such a sentence must
never come in here.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from reconciler.lexicon import Cues, Held, lexicon


@cache
def _cues() -> Cues:
    return Cues(lexicon("conditions"), flags=re.IGNORECASE)


@lru_cache(maxsize=64)
def _held(sentence: str) -> Held:
    """The cues that the sentence may hold; read once, whatever is asked of it."""
    return _cues().read(sentence)


def find_condition(sentence: str) -> re.Match[str] | None:
    """The clause that the sentence hangs on, such as "once the deal closes"; None without one."""
    return _held(sentence).first("open")


def is_reported(sentence: str) -> bool:
    """Whether it passes on the words of another, in which "I" may be any person."""
    return _held(sentence).first("reported") is not None
