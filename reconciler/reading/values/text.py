"""Text, and the names and identifiers that are compared as text.

``text`` is what every other normaliser falls back on. What has a grammar of its own (a number, a
date, an address, a code) lives in the modules beside this one, and this one imports none of them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from reconciler.reading.canonical import canonical_text, unaccented
from reconciler.reading.lexicon import lexicon

DASHES = re.compile(r"[‐-―−]")
"""What is written for a hyphen or a minus."""

_SILENT = re.compile(r"['’`´ʼ]")
_RANGE = re.compile(r"(?<=\d) - (?=\d)")
_WITHIN_NUMBERS = re.compile(r"((?<=\d)[.,:/-](?=\d)|(?<!\w)-(?=\d))")


def plain(said: str) -> str:
    """Return ``canonical_text`` without invisible characters, of which ASCII has none."""
    if said.isascii():
        return canonical_text(said)
    return canonical_text(
        "".join(letter for letter in said if unicodedata.category(letter) != "Cf")
    )


def text(said: str) -> str:
    """Fold case, punctuation and spacing; keep accents, symbols and the parts of a number.

    So O'Brien and O’Brien are one, but C, C++ and C# are three, and so are 15, -15 and 1.5.
    """
    folded = plain(said).casefold()
    heard = _RANGE.sub("-", DASHES.sub("-", _SILENT.sub("", folded)))
    parts = _WITHIN_NUMBERS.split(heard)
    parts[::2] = map(_without_punctuation, parts[::2])
    return plain("".join(parts)) or folded


def _without_punctuation(part: str) -> str:
    return "".join(
        letter if unicodedata.category(letter)[0] in "LNMS" or letter in "#%&@" else " "
        for letter in part
    )


def organisation(said: str) -> str:
    """Return a name without its legal form: "ACME Corp." and "Acme, Inc." are ``acme``."""
    name = said
    while (shorter := _without_legal_form(name)) != name:
        name = shorter
    return name


def _without_legal_form(said: str) -> str:
    words = re.sub(r"[.,()/-]", "", unaccented(plain(said).casefold())).split()
    forms = _legal_forms()
    for size in range(min(5, len(words) - 1), 0, -1):
        if " ".join(words[-size:]) in forms:
            return text(" ".join(plain(said).split()[:-size]))
    return re.sub(r"^the (?=.)", "", plain(text(said).replace("&", " and ")))


@cache
def _legal_forms() -> frozenset[str]:
    # The list alone: its own basename() walks it for every name, and leaves nothing of "Co".
    from cleanco import prepare_default_terms

    known = (" ".join(words) for _, words in prepare_default_terms())
    return frozenset(
        unaccented(form.replace("/", "")) for form in (*known, *re.split(r",\s", _MORE_FORMS))
    )


_MORE_FORMS = """publ, ab publ, proprietary limited, gmbh co kg, ltd sti, limited sirketi,
anonim sirketi, spolka akcyjna, sab de cv, sapi de cv, s de rl de cv"""
"""Legal forms that cleanco 2.3 lacks, without points. Source: ISO 20275, the list of entity legal
forms."""


def person(said: str) -> str:
    """Return a name without titles, the given name first: "Doe, Dr. Jane" is ``jane doe``.

    A title stays where one name is left: Mr Smith and Mrs Smith are two people.
    """
    parts = [part for part in map(_person_words, said.split(",")) if part]
    if len(parts) == 2 and parts[1][0] not in lexicon("values").word_set("generation"):
        parts.reverse()
    names = [word for part in parts for word in part]
    return " ".join(names) if len(names) > 1 else text(said)


def _person_words(part: str) -> list[str]:
    if not any(map(str.isalnum, part)):
        return []
    words = text(re.sub(r"(?<=[^\W\d_])\.", "", part)).split()
    listed = lexicon("values")
    while words and words[0] in listed.word_set("title"):
        del words[0]
    while words and words[-1] in listed.word_set("degree"):
        del words[-1]
    return words


_IDENTIFIER_WORDS = re.compile(
    r"^(?:(?:order|invoice|ticket|case|number|no|nr|id|reference|ref)-)+(?=.*\d)"
)


def identifier(said: str) -> str:
    """Return an identifier's plain form: "Invoice #INV 1042" is ``inv-1042``."""
    joined = re.sub(r"[\W_]+", "-", plain(said).casefold()).strip("-")
    return _IDENTIFIER_WORDS.sub("", joined) or text(said)


def boolean(said: str) -> str:
    """Return ``yes`` or ``no``, also if machines write these two in another form."""
    key = text(said)
    if key in {"yes", "y", "true", "1", "on"}:
        return "yes"
    return "no" if key in {"no", "n", "false", "0", "off"} else key


def channel(said: str) -> str:
    """Return a channel without lead-in: "by email" and "email only" are ``email``."""
    bare = re.sub(r"^(?:(?:by|via|over|through|using|on|per|the)\s)+(?=\S)", "", text(said))
    return re.sub(r"(?<=\S) (?:only|please)$", "", bare)
