"""Whether a text is meant literally, told from its words alone.

Irony, what-ifs, played roles, other people's words and open conditions have the grammar of a
statement, and a memory that takes them for one holds facts that were never true. How the cues of
``config/lexicon/literalness.toml`` are looked for lives here; a model, a score or what becomes of
the text must not. When in doubt a text is literal: a rule here names what gave the text away, or
stays silent. A sentence has clauses: "I have five, and I might get more" leaves the five certain,
so a hedge counts against a claim only in its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from reconciler.domain.gate.classification import infer_recall_semantics
from reconciler.domain.guard import count_words, denies_value, is_repeated_in, share_a_word
from reconciler.domain.records.kinds import RecallSemantics
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


CLAIMS_OPENING = re.compile(
    r"\A\s*(?:the\s)?(?:contact|user|customer|client|caller)(?:['’]s)?\s", re.IGNORECASE
)
"""How a claim names the contact, who says "I"."""

_JOINT = re.compile(r"(?:[,;]\s*|\s)(?:and|while)\s", re.IGNORECASE)
"""What puts one statement beside another; behind a "but" the hedge may take the first one back."""
_CLAUSE = re.compile(r"[;:]\s+|\b(?:but|because|so)\s|(,\s+|\band\s)", re.IGNORECASE)
"""Where a clause ends; the group where the next one may go on with what this one forbids."""

_REFERS_BACK = re.compile(r"\b(?:it|there|such)\b|\bany\W*$", re.IGNORECASE)
"""A ban with one of these may be about what was named before: "but never use it"."""

_SUBJECT = re.compile(r"(?:(?:i|we|he|she|they|it)\b)?\s*+(?:(?:also|now|still)\s*+)?")


def find_hedge_of(claim: str, said: str) -> str | None:
    """The words of what was said that leave the claim open; None where they leave it certain.

    A hedge that opens a later clause says nothing of the clauses before it. So the claim is certain
    if all that it states, beside what it hedges itself, stands in those: behind "I think she moved
    and works there" the second clause is as open as the first.
    """
    hedge = find_hedge(said)
    if hedge is None:
        return None
    before = _before_hedge(read_text(said).small)
    clauses = _JOINT.split(CLAIMS_OPENING.sub("", claim))
    stated = [clause for clause in clauses if find_hedge(clause) is None]
    is_certain = bool(before and stated) and all(is_repeated_in(each, before) for each in stated)
    return None if is_certain else hedge


def _before_hedge(said: str) -> str:
    """All before the first clause with a hedge, if that clause opens with it; else nothing."""
    start = 0
    for end in (*(joint.start() for joint in _JOINT.finditer(said)), len(said)):
        clause = _JOINT.sub("", said[start:end], count=1) if start else said[:end]
        if hedge := find_hedge(clause):
            return said[:start] if _SUBJECT.fullmatch(clause[: clause.find(hedge)]) else ""
        start = end
    return ""


def forbids_something_else(claim: str, value: str) -> bool:
    """Whether what the claim forbids is not its value: "use WhatsApp, and do not email her".

    It is if a clause that forbids nothing speaks of the value, and none that forbids does.
    """
    named_by = value.replace("-", "")  # "e-mail" is "email"
    named = [
        bans
        for clause, bans in _banning(claim)
        if share_a_word(clause.replace("-", ""), named_by) or (bans and _REFERS_BACK.search(clause))
    ]
    return bool(named) and not any(named) and not denies_value(claim, value)


def _banning(claim: str) -> list[tuple[str, bool]]:
    """The clauses of a claim, each with whether it forbids something.

    "Do not call, text or email her" is one: what an "and" or an "or" adds, or a single word does,
    is forbidden as well.
    """
    clauses: list[tuple[str, bool]] = []
    for sentence in read_text(claim).sentences:
        pieces = ["", *_CLAUSE.split(sentence.text)]
        for joint, clause in zip(pieces[::2], pieces[1::2], strict=True):
            bans = infer_recall_semantics(clause) is RecallSemantics.NEGATIVE
            goes_on = bool(joint) and (joint[0] != "," or _lists(clause))
            clauses.append((clause, bans or (goes_on and clauses[-1][1])))
    return clauses


def _lists(clause: str) -> bool:
    """Whether it goes on with a list: a single word, or the last words of it, behind an "or"."""
    words = clause.casefold().split()
    return count_words(clause).total() <= 1 or "or" in words or "nor" in words
