"""Third person: turns the contact's words about themselves into a sentence about the contact.

"I work at Brightwave." becomes "The contact works at Brightwave."; an order keeps its form and
names whom it is about ("Never ring the contact before noon."). Only pronouns and the verb that goes
with "I" change. Where a form is not sure, or "I" comes twice, the words stay as they were said: a
wrong verb or subject may be false, and a quotation is near every other one. The words are in
``config/lexicon/third_person.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reconciler.lexicon import lexicon

_TOKENS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[\W_]")
_CONTACT, _WE = "the contact", "the contact and others"

_SUBJECTS = {"i": "", "i'm": " is", "i've": " has", "i'll": " will", "i'd": " would"}
"""Forms of "I", each with the verb that it contains; a bare "I" is followed by its verb."""

_PRONOUNS = {
    "me": _CONTACT,
    "my": f"{_CONTACT}'s",
    "us": _WE,
    "our": f"{_CONTACT}'s",
    "we": _WE,
    "we're": f"{_WE} are",
    "we've": f"{_WE} have",
    "we'll": f"{_WE} will",
}
"""Words that always stand for the contact. After "and others" a verb has the form that it has after
"we", so nothing else changes."""

_REPEATED = _PRONOUNS | {"me": "them", "my": "their", "myself": "themselves"}
"""The same once the sentence has named the contact as its subject."""

_UNSURE = frozenset({"we'd", "let's", "ourselves", "mine", "ours", "myself", "ain't", '"', "“"})
"""Words without a known form, and marks that begin another person's words."""

_PLACES = frozenset({"US", "ME"})
_AUXILIARIES = frozenset({"am", "are", "was", "were", "do", "did", "have", "had", "can", "should"})
_JOINING = frozenset({"and", "or", "but", "then"})


class _UnsureError(Exception):
    """A word with an unknown form in the third person."""


def about_the_contact(said: str) -> str:
    """The sentence as one about the contact, which stands alone and ends with a full stop.

    Args:
        said: a sentence or a clause in the first person, or an order, with single spaces.
    """
    try:
        told = _in_third_person(_TOKENS.findall(said))
    except _UnsureError:
        told = said
    told = told[:1].upper() + told[1:]
    return told if told.endswith((".", "!", "?", "…")) else f"{told}."


def _in_third_person(tokens: Sequence[str]) -> str:
    """The words in the third person.

    Raises:
        _UnsureError: a form is not known, or it is not sure who does what is said.
    """
    told: list[str] = []
    is_named, may_go_on, awaits = False, False, ""
    for at, token in enumerate(tokens):
        word = _small_word(token)
        if awaits and (token.isspace() or word in _words_listed("adverb")):
            told.append(token)
        elif awaits:
            told.append(_agreeing(token, awaits))
            may_go_on = awaits == "i" and word not in _words_listed("invariable") | {"do", "don't"}
            awaits = ""
        elif word in _SUBJECTS:
            if is_named:
                raise _UnsureError
            _check_subject(tokens, at)
            told.append(_CONTACT + _SUBJECTS[word])
            may_go_on = word in ("i'm", "i've")
            awaits = word if word in ("i", "i'd") else ""
            is_named = True
        elif may_go_on and word in _words_listed("present") and _is_joined(tokens, at):
            raise _UnsureError  # the words alone do not say which subject the verb belongs to
        else:
            told.append(_other(tokens, at, _REPEATED if is_named else _PRONOUNS))
    if awaits:
        raise _UnsureError
    return "".join(told)


def _other(tokens: Sequence[str], at: int, pronouns: dict[str, str]) -> str:
    """The new form of a word other than "I" and its verb; it may be a name (My Fair Lady)."""
    word = _small_word(tokens[at])
    if tokens[at] in _PLACES or word not in _REPEATED.keys() | _UNSURE:
        return tokens[at]
    if word not in pronouns or (at > 0 and tokens[at] != word):
        raise _UnsureError
    return pronouns[word]


def _small_word(token: str) -> str:
    return token.replace("’", "'").casefold()


def _check_subject(tokens: Sequence[str], at: int) -> None:
    """Check that an "I" stands in front of its verb and is its only subject.

    Raises:
        _UnsureError: it comes after its verb ("am I"), shares it ("my wife and I live"), or may
            be a numeral ("Richard I").
    """
    before = _word_before(tokens, at)
    is_in_a_name = at > 2 and tokens[at - 2].istitle()
    if before in _AUXILIARIES | {"and"} or is_in_a_name:
        raise _UnsureError


def _word_before(tokens: Sequence[str], at: int) -> str:
    """The word in front, if only a space stands between."""
    return _small_word(tokens[at - 2]) if at >= 2 and tokens[at - 1] == " " else ""


def _is_joined(tokens: Sequence[str], at: int) -> bool:
    """Whether "and" or a comma stands before, and no subject."""
    return _word_before(tokens, at) in _JOINING or tokens[max(at - 2, 0)] in ",;"


def _agreeing(verb: str, subject: str) -> str:
    """The form of a verb that goes with "the contact", given the one that goes with "I".

    Raises:
        _UnsureError: it is not known.
    """
    word = _small_word(verb)
    if subject == "i'd" and word in _words_listed("after_would"):
        return verb
    if subject == "i'd" or word != verb.replace("’", "'"):
        raise _UnsureError  # the title of something: "I Will Survive"
    if word in _irregular():
        return _irregular()[word]
    if word in _words_listed("present"):
        is_after_vowel = verb[-2:-1] in "aeiou"
        stem = f"{verb[:-1]}ie" if verb.endswith("y") and not is_after_vowel else verb
        return f"{stem}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{stem}s"
    is_past = word.endswith("ed") and len(word) > 3 and word not in _words_listed("present_in_ed")
    if is_past or word in _words_listed("past", "invariable"):
        return verb
    raise _UnsureError


@cache
def _words_listed(*names: str) -> frozenset[str]:
    return lexicon("third_person").word_set(*names)


@cache
def _irregular() -> dict[str, str]:
    return lexicon("third_person").by_word("irregular")
