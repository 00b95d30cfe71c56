"""Classifies a note by its words alone: its category, how to recall it, and if it is literal.

Here is the order in which the lists of ``config/lexicon/classification.toml`` are tried. A text
that is on no list is a fact, the category with the weakest promise. Never here: the effect of a
category or a cue, the use of a text, a score, or code that needs a model.

Irony, what-ifs, played roles, other people's words and open conditions have the grammar of a
statement, and a memory that takes them for one holds facts that were never true. Their cues are
those of ``config/lexicon/literalness.toml``. In doubt a text is literal: a rule names the words
that show the opposite, or finds nothing. A sentence has clauses: "I have five, and I might get
more" leaves the five certain, so a hedge weakens only a claim in its own clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache

from reconciler.frozen import Match, Pattern, in_order
from reconciler.reading.guard import count_words, denies_value, is_repeated_in, share_a_word
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.reading.lexicon import Held, cues_of
from reconciler.reading.text_reading import read_text


class Weight(StrEnum):
    """Kinds of long-term weight of a note, the heaviest first."""

    WISH = "wish"
    CORRECTION = "correction"
    IDENTITY = "identity"
    COMMITMENT = "commitment"
    CIRCUMSTANCE = "circumstance"
    REMARK = "remark"


@lru_cache(maxsize=64)
def _find_cues(text: str) -> Held:
    """Read the text as the cues expect it, once for all cues."""
    return cues_of("classification").read(one_line(text))


@lru_cache(maxsize=64)
def infer_category(text: str) -> Category:
    """Find the category that the words show; a fact if they show none.

    The surest kind of words comes first, so a decision about a preference is a decision, and a
    preference about the weather is a preference.
    """
    held = _find_cues(text)
    if held.first("summary"):
        return Category.SUMMARY
    if held.first("procedure"):
        return Category.PROCEDURE
    if _is_decision(held):
        return Category.DECISION
    if held.first("preference"):
        return Category.PREFERENCE
    if infer_recall_semantics(text):
        return Category.DECISION
    return Category.VOLATILE if held.first("volatile") else Category.FACT


@lru_cache(maxsize=64)
def infer_recall_semantics(text: str) -> RecallSemantics | None:
    """Return CONSTRAINT or NEGATIVE if the words order or forbid something; else None.

    A ban that holds only until a person agrees is a constraint.
    """
    held = _find_cues(text)
    if held.first("conditional_order"):
        return RecallSemantics.CONSTRAINT
    if held.first("ban") or held.first("withdrawal"):
        return RecallSemantics.NEGATIVE
    return RecallSemantics.CONSTRAINT if held.first("constraint") else None


def infer_weight(text: str) -> Weight:
    """Find the reason why a text matters, by its words; a circumstance if they show none.

    The caller decides about a request to remember, and about a mere remark.
    """
    if infer_recall_semantics(text):
        return Weight.WISH
    held = _find_cues(text)
    for weight in (Weight.CORRECTION, Weight.IDENTITY, Weight.COMMITMENT):
        if held.first(weight.value):
            return weight
    is_chosen = infer_category(text) in (Category.DECISION, Category.PREFERENCE)
    return Weight.COMMITMENT if is_chosen else Weight.CIRCUMSTANCE


def find_hearsay(text: str) -> str | None:
    """Find words that pass on another person's statement, case folded; None without any."""
    return _found(text, "hearsay")


def is_in_person(text: str) -> bool:
    """True if a person speaks for themselves in it, or gives an order."""
    return bool(_find_cues(text).first("in_person") or infer_recall_semantics(text))


def find_trigger(text: str) -> str | None:
    """Find words that ask to keep the note, case folded; None if there are none."""
    match = _find_cues(text).first("trigger")
    return next(filter(None, match.groups())) if match else None


def is_asked_to_keep(text: str, spans: Iterable[str]) -> bool:
    """True if a sentence with one of the spans asks to be kept.

    "Remember that …" asks only for its own sentence, not for other sentences of a long turn. A span
    that is not in the text asks for nothing.
    """
    if find_trigger(text) is None:
        return False
    touched = (read_text(text).around(span) for span in spans)
    return any(find_trigger(sentence.text) for sentences in touched for sentence in sentences)


def is_withdrawal(text: str) -> bool:
    """True if the words forbid something, take a permission back, object or opt out."""
    return infer_recall_semantics(text) is RecallSemantics.NEGATIVE


def find_taking_back(text: str) -> str | None:
    """Find words that take a permission back, object or opt out; a mere ban does not count."""
    return _found(text, "withdrawal")


def is_permission(text: str) -> bool:
    """True if the words allow something, and take nothing back."""
    return _find_cues(text).first("permission") is not None and not is_withdrawal(text)


def is_standing_ask(text: str) -> bool:
    """True if the words order to ask a person before each such step."""
    return _find_cues(text).first("standing_ask") is not None


def find_speculation(text: str) -> str | None:
    """Find words that mark an unverified guess, case folded; else None.

    A mere hedge ("I think she prefers tea") is no such guess: it only weakens a claim.
    """
    return _found(text, "speculation")


def _found(text: str, name: str) -> str | None:
    match = _find_cues(text).first(name)
    return match.group() if match else None


def _is_decision(held: Held) -> bool:
    if held.first("decision") and not held.first("no_decision"):
        return True
    return bool(held.first("conditional_order") or held.first("standing_ask"))


def one_line(text: str) -> str:
    """Return a text in small letters, with single spaces and plain apostrophes."""
    return " ".join(text.replace("’", "'").casefold().split())


class Literalness(StrEnum):
    """The meaning of a text: literal, or one of several other kinds."""

    LITERAL = "literal"
    SARCASTIC = "sarcastic"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    QUOTED = "quoted"
    CONDITIONAL = "conditional"


@in_order
class LiteralnessFinding:
    """The meaning of a text, and the words that show it; no words if it is literal."""

    kind: Literalness
    cue: str


def classify_literalness(text: str) -> LiteralnessFinding:
    """Find how the text is meant; literal unless its words say otherwise.

    The kinds are searched in a fixed order, so that a text has one kind: a role, a quotation,
    irony, an untrue statement, a statement that is not true yet.
    """
    plain, held = _find_literalness_cues(text)
    starts: tuple[int, ...] = ()
    for kind, name, find in _RULES:
        for _, pattern in held.worth_trying(name):
            starts = starts or _starts(plain)
            if match := find(held, pattern, starts):
                return LiteralnessFinding(kind, _said(plain, held, match).strip(" |,;:.!?\"'"))
    return LiteralnessFinding(Literalness.LITERAL, "")


def find_hedge(text: str) -> str | None:
    """Find words by which the speaker is unsure of the text; None without any."""
    plain, held = _find_literalness_cues(text)
    match = held.first("hedge")
    return _said(plain, held, match).strip() if match else None


# Reading


def _starts(plain: str) -> tuple[int, ...]:
    return 0, *(sentence.start for sentence in read_text(plain).sentences if sentence.start)


@lru_cache(maxsize=64)
def _find_literalness_cues(text: str) -> tuple[str, Held]:
    """Read the text in plain marks, as the cues expect it, once for all cues."""
    reading = read_text(text)
    return reading.plain, cues_of("literalness").read(reading.small)


def _said(plain: str, held: Held, match: Match) -> str:
    """Return the found words, spelled as they were said."""
    start = held.text.find(match.group())
    return plain[start : start + len(match.group())] if start >= 0 else match.group()


# How a cue is looked for

_Find = Callable[[Held, Pattern, Sequence[int]], Match | None]
"""Finds a cue in a text with sentences that begin at the given places."""


def _anywhere(held: Held, pattern: Pattern, _: Sequence[int]) -> Match | None:
    return pattern.search(held.text)


def _at_each_start(held: Held, pattern: Pattern, starts: Sequence[int]) -> Match | None:
    return next(filter(None, (pattern.match(held.text, at) for at in starts)), None)


def _in_each_sentence(held: Held, pattern: Pattern, starts: Sequence[int]) -> Match | None:
    return next(filter(None, map(pattern.search, _sentences(held, starts))), None)


def _if_unreal(held: Held, pattern: Pattern, starts: Sequence[int]) -> Match | None:
    """Find an "if" with a past tense, and its consequence."""
    return _with_consequence(pattern, "consequence", _sentences(held, starts))


def _if_open(held: Held, pattern: Pattern, starts: Sequence[int]) -> Match | None:
    """Find an "if" outside a question, and its consequence."""
    told = (
        sentence for sentence in _sentences(held, starts) if not sentence.rstrip().endswith("?")
    )
    return _with_consequence(pattern, "open_consequence", told)


def _sentences(held: Held, starts: Sequence[int]) -> Iterator[str]:
    return (held.text[a:b] for a, b in zip(starts, (*starts[1:], len(held.text)), strict=True))


def _with_consequence(
    condition: Pattern, consequence: str, sentences: Iterable[str]
) -> Match | None:
    """Find the first condition with its consequence in the rest of its sentence."""
    for sentence in sentences:
        if match := condition.search(sentence):
            rest = f"{sentence[: match.start()]} | {sentence[match.end() :]}"
            if cues_of("literalness").pattern(consequence).search(rest):
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
"""Each kind's lists of cues in the order in which they count, and the search for them."""


CLAIMS_OPENING = re.compile(
    r"\A\s*(?:the\s)?(?:contact|user|customer|client|caller)(?:['’]s)?\s", re.IGNORECASE
)
"""The words by which a claim names the contact, who says "I"."""

_JOINT = re.compile(r"(?:[,;]\s*|\s)(?:and|while)\s", re.IGNORECASE)
"""Words that join two statements; after a "but" the hedge may take the first one back."""
_CLAUSE = re.compile(r"[;:]\s+|\b(?:but|because|so)\s|(,\s+|\band\s)", re.IGNORECASE)
"""The end of a clause; in the group the next clause may continue a ban."""

_REFERS_BACK = re.compile(r"\b(?:it|there|such)\b|\bany\W*$", re.IGNORECASE)
"""Words by which a ban may mean an earlier noun: "but never use it"."""

_SUBJECT = re.compile(r"(?:(?:i|we|he|she|they|it)\b)?\s*+(?:(?:also|now|still)\s*+)?")


def find_hedge_of(claim: str, said: str) -> str | None:
    """Find words in a statement that make the claim uncertain; None if it stays certain.

    A hedge that opens a later clause does not weaken the clauses before it. So the claim is certain
    if those clauses contain all of it except its own hedged parts. In "I think she moved and works
    there" the second clause is as uncertain as the first.
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
    """Return all before the first clause with a hedge, if that clause opens with it; else ""."""
    start = 0
    for end in (*(joint.start() for joint in _JOINT.finditer(said)), len(said)):
        clause = _JOINT.sub("", said[start:end], count=1) if start else said[:end]
        if hedge := find_hedge(clause):
            return said[:start] if _SUBJECT.fullmatch(clause[: clause.find(hedge)]) else ""
        start = end
    return ""


def forbids_something_else(claim: str, value: str) -> bool:
    """True if the claim forbids something else than its value: "use WhatsApp, not email".

    This is so if the value is in a clause without a ban, and in no clause with a ban.
    """
    named_by = value.replace("-", "")  # "e-mail" is "email"
    named = [
        bans
        for clause, bans in _banning(claim)
        if share_a_word(clause.replace("-", ""), named_by) or (bans and _REFERS_BACK.search(clause))
    ]
    return bool(named) and not any(named) and not denies_value(claim, value)


def _banning(claim: str) -> list[tuple[str, bool]]:
    """Return the clauses of a claim, each with whether it forbids something.

    "Do not call, text or email her" is one clause: parts after an "and" or an "or", and single
    words, are forbidden as well.
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
    """True if the clause continues a list: a single word, or the last words, after an "or"."""
    words = clause.casefold().split()
    return count_words(clause).total() <= 1 or "or" in words or "nor" in words
