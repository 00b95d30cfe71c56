"""Third person: what the contact said of themselves as a sentence about the contact.

"I work at Brightwave." becomes "The contact works at Brightwave."; an order keeps its form and
names whom it is about ("Never ring the contact before noon."). Only pronouns and the verbs that go
with "I" change. Where a form is not sure, the sentence is quoted as it was said: a quotation is
true, and a wrong verb or subject may not be. The words are in ``config/lexicon/third_person.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reconciler.lexicon import Lexicon, lexicon

__all__ = ["about_the_contact"]

_TOKENS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[\W_]")
_CONTACT, _WE = "the contact", "the contact and others"

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
"""Words that stand for the contact, whatever is around them. After "and others" a verb is as after
"we", so nothing else changes."""

_REPEATED = _PRONOUNS | {"me": "them", "my": "their", "myself": "themselves"}
"""The same once the sentence has named the contact as who does what it says."""

_SUBJECTS = {"i": "", "i'm": " is", "i've": " has", "i'll": " will", "i'd": " would"}
"""Forms of "I", and what they hold beside it; a bare "I" is followed by its verb."""

_THEY = {
    "i": "they",
    "i'm": "they are",
    "i've": "they have",
    "i'll": "they will",
    "i'd": "they'd",
}
_BEING = {"am": "are", "was": "were", "wasn't": "weren't"}

_UNSURE = frozenset({"we'd", "let's", "ourselves", "mine", "ours", "myself", "ain't"})
_QUOTES = {'"': '"', "“": "”"}
_NO_TITLE = frozenset({*_SUBJECTS, *_REPEATED, *_UNSURE})
_PLACES = frozenset({"US", "ME"})
_AUXILIARIES = frozenset({"am", "are", "was", "were", "do", "did", "have", "had", "can", "should"})
_JOINING = frozenset({"and", "or", "but", "then"})


class _UnsureError(Exception):
    """A word whose form in the third person is not known."""


def about_the_contact(said: str) -> str:
    """The sentence as one about the contact, which stands alone and ends with a full stop.

    Args:
        said: a sentence or a clause in the first person, or an order, with single spaces.
    """
    try:
        told = _told(_TOKENS.findall(said))
    except _UnsureError:
        quoted = said.replace('"', "'")
        return f'The contact said: "{quoted}"'
    told = told[:1].upper() + told[1:]
    return told if told.endswith((".", "!", "?", "…")) else f"{told}."


def _told(tokens: Sequence[str]) -> str:
    told: list[str] = []
    at, is_named, may_go_on = 0, False, False
    while at < len(tokens):
        if tokens[at] in _QUOTES:
            words, at = _title(tokens, at)
        elif _folded(tokens[at]) in _SUBJECTS:
            _check_subject(tokens, at)
            read = _subject_again if is_named else _subject
            words, at, may_go_on = read(tokens, at)
            is_named = True
        elif may_go_on and _is_second_verb(tokens, at):
            raise _UnsureError  # whose verb it is, the words alone do not say
        else:
            words, at = [_other(tokens, at, is_named=is_named)], at + 1
        told += words
    return "".join(told)


def _title(tokens: Sequence[str], at: int) -> tuple[list[str], int]:
    """What stands between quotation marks, as it stands, and where to go on.

    Raises:
        _UnsureError: it is not closed, or it is what the contact says and no title.
    """
    closing = _QUOTES[tokens[at]]
    end = next((n for n in range(at + 1, len(tokens)) if tokens[n] == closing), None)
    if end is None or not _NO_TITLE.isdisjoint(map(_folded, tokens[at:end])):
        raise _UnsureError
    return list(tokens[at : end + 1]), end + 1


def _other(tokens: Sequence[str], at: int, *, is_named: bool) -> str:
    """What any other word becomes.

    Raises:
        _UnsureError: it may be a name (My Fair Lady), or its form is not known.
    """
    word = _folded(tokens[at])
    pronouns = _REPEATED if is_named else _PRONOUNS
    if tokens[at] in _PLACES or word not in _NO_TITLE:
        return tokens[at]
    if word not in pronouns or (at > 0 and tokens[at] != word):
        raise _UnsureError
    return pronouns[word]


def _folded(token: str) -> str:
    return token.replace("’", "'").casefold()


def _check_subject(tokens: Sequence[str], at: int) -> None:
    """Let an "I" through that is a subject in front of its verb, and the only one.

    Raises:
        _UnsureError: it comes after its verb ("am I"), shares it ("my wife and I live"), or may
            be a numeral ("Richard I").
    """
    before = _word_before(tokens, at)
    has_company = before == "and" and not _has_subject(tokens[:at])
    is_in_a_name = at > 2 and tokens[at - 2].istitle()
    if before in _AUXILIARIES or has_company or is_in_a_name:
        raise _UnsureError


def _has_subject(tokens: Sequence[str]) -> bool:
    return any(_folded(token) in _SUBJECTS for token in tokens)


def _word_before(tokens: Sequence[str], at: int) -> str:
    """The word in front, with nothing but a space between."""
    return _folded(tokens[at - 2]) if at >= 2 and tokens[at - 1] == " " else ""


def _subject(tokens: Sequence[str], at: int) -> tuple[list[str], int, bool]:
    """The contact with the verb that follows, where to go on, and whether a second may follow.

    Raises:
        _UnsureError: the verb's form is not known.
    """
    subject = _folded(tokens[at])
    told, at = _with_adverbs(_CONTACT + _SUBJECTS[subject], tokens, at)
    verb = tokens[at] if at < len(tokens) else ""
    if subject == "i":
        told.append(_agreeing(verb))
        return told, at + 1, _folded(verb) not in _words("invariable") | {"do", "don't"}
    if subject == "i'd" and _folded(verb) not in _words("after_would"):
        raise _UnsureError
    return told, at, subject in ("i'm", "i've")


def _with_adverbs(subject: str, tokens: Sequence[str], at: int) -> tuple[list[str], int]:
    """The subject with the adverbs that follow, and where its verb stands."""
    told, at = [subject], at + 1
    while at < len(tokens) and (tokens[at] == " " or _folded(tokens[at]) in _words("adverb")):
        told.append(tokens[at])
        at += 1
    return told, at


def _subject_again(tokens: Sequence[str], at: int) -> tuple[list[str], int, bool]:
    """The contact once more, as "they": a verb behind it is as it was behind "I"."""
    subject = _folded(tokens[at])
    told, at = _with_adverbs(_THEY[subject], tokens, at)
    if subject == "i" and at < len(tokens) and _folded(tokens[at]) in _BEING:
        return [*told, _BEING[_folded(tokens[at])]], at + 1, False
    return told, at, False


def _is_second_verb(tokens: Sequence[str], at: int) -> bool:
    """Whether a verb with the form of the present follows "and" or a comma without a subject."""
    is_verb = _folded(tokens[at]) in _words("present")
    return is_verb and (_word_before(tokens, at) in _JOINING or tokens[max(at - 2, 0)] in ",;")


def _agreeing(verb: str) -> str:
    """The form of a verb that goes with "the contact", given the one that goes with "I".

    Raises:
        _UnsureError: it is not known.
    """
    word = _folded(verb)
    if word != verb.replace("’", "'"):
        raise _UnsureError  # the title of something: "I Will Survive"
    if word in _irregular():
        return _irregular()[word]
    if word in _words("present"):
        return _with_s(verb)
    is_past = word.endswith("ed") and len(word) > 3 and word not in _words("present_in_ed")
    if is_past or word in _words("past", "invariable"):
        return verb
    raise _UnsureError


def _with_s(verb: str) -> str:
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


@cache
def _lexicon() -> Lexicon:
    return lexicon("third_person")


@cache
def _words(*names: str) -> frozenset[str]:
    return _lexicon().word_set(*names)


@cache
def _irregular() -> dict[str, str]:
    return _lexicon().by_word("irregular")
