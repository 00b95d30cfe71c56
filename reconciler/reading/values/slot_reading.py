"""Slots read from plain sentences: what one says of the contact, in a few shapes. Pure.

A text is read if it is one sentence, and the whole of it is: perhaps an opening ("FYI,"), whom it
is about, the words of an attribute and one value of its kind, perhaps a closing ("these days"). One
word more, and nothing is read: what asks, guesses, plans, denies or quotes has such a word, and so
has what says more than one thing. A wrong slot ends a true fact, a missing one ends nothing: frames
and phrasings over any clause read 38 % of natural slots, 85 % of them rightly, and ended 6 of 53
true facts.

One more thing may be said: what held before. "No longer works at Infosys but at Wipro" gives the
new value. A sentence that tells of an end and of what is new in two clauses gives none.

There are two shapes. A statement has words of its own in ``config/attributes.toml``: "lives in
{place}". A card names the attribute, by any name in the book: "Her budget is 40k", "Budget: 40k",
"The budget was cut to 40k". What becomes of a slot must never come in here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain

from reconciler.frozen import Strings, StringSet, frozen, grouped, in_order
from reconciler.reading.lexicon import lexicon
from reconciler.reading.text_reading import read_text
from reconciler.reading.values.attribute import Attribute
from reconciler.reading.values.slot_kinds import (
    KINDS,
    OF_ANY_OWNER,
    TOLD_BY_CAPITALS,
    is_value,
    listed,
)
from reconciler.reading.values.text import text as key_of

TEXT_LENGTH_MAX, WORDS_MAX = 160, 24
"""Of a text that is read; a longer one says more than one thing."""

_NAME_WORDS_MAX = 5
"""Words in the name of an attribute."""


@frozen
class ReadSlot:
    """A slot that a sentence states, and its subject.

    Attributes:
        attribute: the canonical name of what is said.
        value: its value in the words of the sentence; the one that is denied, where one is.
        words: the sentence that it was read from.
        subject: whom it is about, such as ``assistant``; None for the contact.
        is_denied: whether it says that the value does not hold, no longer or not at all.
        is_addition: whether it says that the value holds beside another one.
    """

    attribute: str
    value: str
    words: str
    subject: str | None
    is_denied: bool
    is_addition: bool


# Words of a sentence


@in_order
class _Words:
    """The words of a sentence, as said and as compared."""

    said: Strings
    folded: Strings

    def at(self, place: int) -> str:
        """Return the word at the place, as it is compared; empty if there is none."""
        return self.folded[place] if 0 <= place < len(self.folded) else ""

    def has(self, phrase: Strings, at: int) -> bool:
        """True if the phrase is at that place."""
        return at >= 0 and self.folded[at : at + len(phrase)] == phrase

    def without(self, start: int, end: int) -> _Words:
        """Return the other words."""
        return _Words(self.said[:start] + self.said[end:], self.folded[:start] + self.folded[end:])


_SHORT_FORMS = """
i'm i is, he's he is, she's she is, we're we is, they're they is, i've i has, we've we has,
they've they has, isn't is not, aren't is not, don't do not, doesn't does not
"""
_SHORT = {
    short: (first, second) for short, first, second in map(str.split, _SHORT_FORMS.split(","))
}
_FORMS = {"am": "is", "are": "is", "have": "has", "=": ":"}
_UNREAD = frozenset('?"()[];…')
"""Marks of a question, of another's words, of an aside: nothing that holds one is read."""


_MARK_BEHIND = re.compile(r"([,:])(?= |$)")


def _split_words(sentence: str) -> _Words:
    parts: list[tuple[str, str]] = []
    for word in _MARK_BEHIND.sub(r" \1", sentence).split():
        low = word.casefold()
        short = _SHORT.get(low)
        parts += zip(short, short, strict=True) if short else [(word, _FORMS.get(low, low))]
    return _Words(tuple(said for said, _ in parts), tuple(folded for _, folded in parts))


@cache
def _phrases(name: str, at: int) -> dict[str, list[Strings]]:
    """Phrases of a list, word by word, the longest first, by their word at this place."""
    split = (tuple(phrase.split()) for phrase in lexicon("slots").words(name))
    return grouped((phrase[at], phrase) for phrase in sorted(split, key=len, reverse=True))


# What a sentence opens and closes with


@in_order
class _SlotClause:
    """A sentence without what it opens and closes with, and what that says of the value."""

    words: _Words
    is_denied: bool
    is_addition: bool


_MARKS = frozenset({",", ":", "-", "!"})


def _clause(words: _Words, also_closing: str = "") -> _SlotClause:
    openings = _phrases("opening", 0)
    while phrase := next((p for p in openings.get(words.at(0), ()) if words.has(p, 0)), None):
        end = len(phrase)
        while words.at(end) in _MARKS:
            end += 1
        words = words.without(0, end)
    asides = {word for word in words.said if word in listed("adverb")}
    for at in reversed(range(len(words.said))):
        if words.said[at] in asides:
            words = words.without(at, at + 1)
    words, is_denied = _affirmed(words)
    names = ["closing", also_closing or "closing_of_a_denial"]
    while (start := _closing(words, names if is_denied or also_closing else names[:1])) > 0:
        asides.update(words.folded[start:])
        words = words.without(start, len(words.said))
    return _SlotClause(words, is_denied, is_addition=not listed("beside").isdisjoint(asides))


_DENIALS = (("no", "longer", 0), ("does", "not", 0), ("do", "not", 0), ("is", "not", 1))
"""Two words that deny, and how many of them belong to what is denied."""


def _affirmed(words: _Words) -> tuple[_Words, bool]:
    """Return the words without the denial in them, and whether there was one."""
    for first, second, kept in _DENIALS:
        for at in range(len(words.said)) if second in words.folded else ():
            if words.has((first, second), at) and (at or first != "do"):  # "Don't" is no statement
                return words.without(at + kept, at + 2), True
    return (words.without(0, 1), True) if words.at(0) == "not" else (words, False)


def _closing(words: _Words, names: Iterable[str]) -> int:
    """Find the beginning of the last closing, with the mark before it; 0 if there is none."""
    end = len(words.said)
    spans = [
        end - len(each)
        for name in names
        for each in _phrases(name, -1).get(words.at(end - 1), ())
        if words.has(each, end - len(each))
    ]
    if words.at(end - 1).isdigit() or words.at(end - 1) in listed("calendar"):
        spans += [at for at in range(max(1, end - 3), end - 1) if words.at(at) == "since"]
    start = min(spans, default=0)
    return start - (words.at(start - 1) == ",") if start else 0


# Whom it is about


@in_order
class _Who:
    """Whom words are about: ``said`` names the contact or a relative, who is the ``subject``."""

    end: int
    said: str = ""
    subject: str | None = None


def _who(words: _Words, names: Collection[str]) -> Iterator[_Who]:
    """Read the words for a person: no subject, a pronoun, the contact's name, a relative."""
    yield _Who(0)
    if words.at(0) in listed("subject"):
        yield _Who(1, words.at(0))
    if words.at(0) == "the" and words.at(1) in listed("contact"):
        yield _Who(2, words.at(1))
    if words.at(0) in listed("possessive"):
        is_relative = words.at(1) in listed("relation")
        yield _Who(2, words.at(1), words.at(1)) if is_relative else _Who(1, words.at(0))
    end, named = 0, lexicon("values").word_set("title").union(names)
    while words.at(end).rstrip(".") in named and words.said[end][0].isupper():
        end += 1
    if end:
        yield _Who(end, words.at(0))


def _owner(words: _Words, at: int, names: Collection[str]) -> _Who:
    """Return the owner of a card with its attribute behind: the contact, unless a relative."""
    end = at + (words.at(at) in listed("possessive") or words.at(at) == "the")
    owned = words.at(end).removesuffix("'s")
    if owned != words.at(end):
        if end > at and owned in listed("relation"):
            return _Who(end + 1, owned, owned)
        if owned in listed("contact") or owned in names:
            return _Who(end + 1, owned)
    return _Who(end, words.at(at) if end > at else "")


# What the book says of an attribute


@in_order
class _Shape:
    """Words around a value; of a card, which names the attribute, none.

    Attributes:
        attribute: what they tell of.
        before, behind: the words, as they are compared.
        kind: of the value.
        known: values of the attribute that the book lists, folded.
        is_headless: whether "is" is left out, so that no subject may stand before them.
    """

    attribute: str
    before: Strings
    behind: Strings
    kind: str
    known: StringSet
    is_headless: bool = False


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def complaint(attribute: Attribute) -> str | None:
    """Return the fault in an attribute's entry; None if it has none."""
    if attribute.value and attribute.value not in KINDS:
        return f"has the unknown value {attribute.value!r}; use one of {', '.join(sorted(KINDS))}"
    for said in (*attribute.says, *attribute.shows):
        kinds = _PLACEHOLDER.findall(said)
        if len(kinds) != 1 or kinds[0] not in KINDS or not _PLACEHOLDER.sub("", said).strip():
            use = ", ".join(f"{{{kind}}}" for kind in sorted(KINDS))
            return f"says {said!r}; write words around one of {use}"
    return None


def _known(attribute: Attribute) -> StringSet:
    listed = (attribute.known, attribute.synonyms, *attribute.synonyms.values())
    return frozenset(key_of(word) for words in listed for word in words)


def _shapes(attribute: Attribute) -> Iterator[_Shape]:
    """Return its statements, also as "I" says them: "lives in" is "live in", too."""
    known = _known(attribute)
    for said in attribute.says:
        front, kind, back = _PLACEHOLDER.split(said)
        before, behind = (
            tuple(_FORMS.get(word, word) for word in _MARK_BEHIND.sub(r" \1", part).split())
            for part in (front, back)
        )
        shape = _Shape(attribute.name, before, behind, kind, known)
        yield shape
        if len(before) > 1 and before[0] == "is":
            yield replace(shape, before=before[1:], is_headless=True)
        elif before and before[0] not in _FORMS.values():
            yield replace(shape, before=(before[0].removesuffix("s"), *before[1:]))


# Reading


class SlotReader:
    """Reads slots out of plain sentences about the contact, in the first person and in the third.

    Args:
        attributes: those of the book.
    """

    def __init__(self, attributes: Iterable[Attribute]) -> None:
        self._by_first: dict[str, list[_Shape]] = {}
        self._by_last: dict[str, list[_Shape]] = {}
        self._cards: dict[str, _Shape] = {}
        self._regions: StringSet = frozenset()
        self._ends: dict[Strings, dict[str, set[str]]] = {}
        for attribute in attributes:
            for value, phrases in attribute.over.items():
                for phrase in phrases:
                    ends = self._ends.setdefault(tuple(_split_words(phrase).folded), {})
                    ends.setdefault(attribute.name, set()).add(key_of(value))
            for shape in _shapes(attribute):
                words, index = (
                    (shape.before[:1], self._by_first)
                    if shape.before
                    else (shape.behind[-1:], self._by_last)
                )
                index.setdefault(words[0], []).append(shape)
            if attribute.value:
                card = _Shape(attribute.name, (), (), attribute.value, _known(attribute))
                for name in (attribute.name, *attribute.aliases):
                    self._cards[_squeezed(name.split("_"))] = card
            if attribute.name == "region":
                self._regions = _known(attribute)

    def may_read(self, text: str) -> bool:
        """True if the text has the longest word of a statement: most are told apart by that."""
        low = text.casefold()
        return any(word in low for word in self._telling)

    @cached_property
    def _telling(self) -> StringSet:
        shapes = chain(*self._by_first.values(), *self._by_last.values())
        return frozenset(max((*each.before, *each.behind), key=len) for each in shapes)

    def read(self, text: str, names: Collection[str] = ()) -> ReadSlot | None:
        """Read the slot of a text; None if it gives none, or says anything else.

        Args:
            text: a note, or one message, of any length.
            names: the words of the contact's names, in small letters.
        """
        words = self._sentence(text)
        if words is None or len(words.said) < 2:
            return None
        clause = _clause(words)
        for shape, start, who in (*self._stated(clause, names), *self._on_a_card(clause, names)):
            end = len(clause.words.said) - len(shape.behind)
            if start < end and clause.words.has(shape.behind, end):
                said = " ".join(clause.words.said[start:end]).replace(" ,", ",")
                before, _, now = _BUT.sub("\0", said, count=1).partition("\0")
                is_corrected = clause.is_denied and bool(now and self._value(shape, before))
                if attribute_and_value := self._value(shape, now if is_corrected else said):
                    return ReadSlot(
                        attribute=attribute_and_value[0],
                        value=attribute_and_value[1],
                        words=text,
                        subject=who.subject,
                        is_denied=clause.is_denied and not is_corrected,
                        is_addition=clause.is_addition,
                    )
        return None

    def _sentence(self, text: str) -> _Words | None:
        """Return the words of a text that is one short sentence; else None."""
        if len(text) > TEXT_LENGTH_MAX or not _UNREAD.isdisjoint(text):
            return None
        reading = read_text(text)
        words = _split_words(reading.plain.strip(" .!-*"))
        is_one = 0 < len(words.said) <= WORDS_MAX and len(reading.sentences) == 1
        return words if is_one else None

    def ends(self, text: str) -> Mapping[str, Collection[str]]:
        """Return by attribute the contact's values that a sentence ends without naming them.

        The whole sentence has to say so, as with what is read; ``*`` stands for any value.
        """
        words = self._sentence(text)
        if words is None:
            return {}
        clause = _clause(words, "closing_of_an_end")
        for who in () if clause.is_denied else _who(clause.words, ()):
            for start in {who.end, who.end + (clause.words.at(who.end) == "has")}:
                said = clause.words.folded[start:]
                own = tuple(word for word in said if word not in listed("possessive"))
                if not who.subject and own in self._ends:
                    return self._ends[own]
        return {}

    def _stated(self, clause: _SlotClause, names: Collection[str]) -> Iterator[_Place]:
        """What says it in words of its own: "lives in {place}"."""
        words = clause.words
        for who in _who(words, names):
            for start in {who.end, who.end + (words.at(who.end) == "has")}:
                for shape in self._by_first.get(words.at(start), ()):
                    if words.has(shape.before, start) and _may_begin(who, shape, words):
                        yield shape, start + len(shape.before), who
        for shape in self._by_last.get(words.folded[-1] if words.folded else "", ()):
            yield shape, 0, _Who(0)

    def _on_a_card(self, clause: _SlotClause, names: Collection[str]) -> Iterator[_Place]:
        """What names the attribute: "her budget is 40k", "raised the budget to 40k"."""
        words = clause.words
        is_denied = clause.is_denied and "but" not in words.folded
        for who in () if is_denied else _who(words, names):
            is_turned = words.at(who.end) in listed("change")
            if who.subject or (who.said and not is_turned):
                continue
            owner = _owner(words, who.end + is_turned, names)
            at = owner.end
            while words.at(at) in listed("card_adjective"):
                at += 1
            for end in range(min(len(words.said), at + _NAME_WORDS_MAX), at, -1):
                card = self._cards.get(_squeezed(words.folded[at:end]))
                if card and _is_certain(owner, card, words, at, end):
                    yield card, _linked(words, end, is_turned=is_turned), owner

    def _value(self, shape: _Shape, said: str) -> tuple[str, str] | None:
        """Return the attribute and value, where the words are one value of the kind and no more."""
        value, _, old = _IN_PLACE_OF.sub("\0", said, count=1).partition("\0")
        attribute = shape.attribute
        if shape.kind != "place" or is_value(value, "country", ()):
            value, old = _bare(value, shape), _bare(old, shape)
        if shape.kind == "place":
            value, _, old = value.partition(", ")
            if is_value(value, "country", ()):
                attribute = "country"
            elif key_of(value) in self._regions:
                attribute = "region"
        if not all(is_value(each, shape.kind, shape.known) for each in filter(None, (value, old))):
            return None
        return (attribute, value) if value else None


def _may_begin(who: _Who, shape: _Shape, words: _Words) -> bool:
    """True if words of the shape may follow: "her number is", and no "customer number is"."""
    if not who.said:
        return True
    names_it = len(shape.before) > 1 and shape.before[-1] == "is"  # begins with a noun
    is_owner = words.at(who.end - 1) in listed("possessive")
    return not shape.is_headless and (is_owner or not names_it)


_Place = tuple[_Shape, int, _Who]
"""A possible statement: its attribute, where its value begins, and its subject."""

_IN_PLACE_OF = re.compile(
    r",? (?:instead of|rather than|not)(?: (?:at|by|in|on|to|via))?(?: other)? (?=\S)"
)


_BUT = re.compile(
    r"(?: any ?more| any longer)?(?: ,|,)? but (?:(?:at|by|in|on|to|via|with) )?(?=\S)"
)


def _bare(value: str, shape: _Shape) -> str:
    """Return the value without an article, unless the book lists it with one."""
    return value if key_of(value) in shape.known else re.sub(r"^(?:an?|the) (?=\S)", "", value)


def _squeezed(words: Iterable[str]) -> str:
    return "".join(words).replace("-", "").casefold()


def _is_certain(owner: _Who, card: _Shape, words: _Words, at: int, end: int) -> bool:
    """True if the owner is certain: of "the role" it is not, of "the budget" it is."""
    if owner.said == "the":
        return card.kind in OF_ANY_OWNER
    is_own_name = _squeezed(words.folded[at:end]) == _squeezed(card.attribute.split("_"))
    is_told = card.kind not in TOLD_BY_CAPITALS or (is_own_name and words.at(end) == ":")
    return bool(owner.said) or is_told


def _linked(words: _Words, at: int, *, is_turned: bool) -> int:
    """Where the value begins behind the name of an attribute: behind "is", or a change and "to".

    The end of the words where nothing leads to a value.
    """
    if not is_turned and words.at(at) in (":", "-"):
        return at + 1
    linked = at
    while words.at(linked) in listed("link") | listed("change"):
        linked += 1
    passed = frozenset(words.folded[at:linked])
    if not is_turned and passed.isdisjoint(listed("change")):
        return linked if passed == {"is"} else len(words.said)
    if words.at(linked) == "from":
        spans = range(linked + 2, min(len(words.said), linked + 6))
        linked = next((to for to in spans if words.at(to) == "to"), linked)
    return linked + 1 if words.at(linked) == "to" else len(words.said)
