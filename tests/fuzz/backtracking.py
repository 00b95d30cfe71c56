"""A proof for one regular expression: how long a matcher that backtracks can be about a text.

The number of ways in which a text is tried follows from the pattern's automaton (Weber and Seidl,
"On the degree of ambiguity of finite automata", 1991). It is exponential if a word leads from a
state back to itself in two ways. Else it is a polynomial: each pair of loops through which the same
word passes, and also from the first to the second, costs another factor.

What is not modelled is assumed to pass, so that a verdict is rather too strict than too lenient:

- a look-around, a ``\\b`` or an anchor is a condition on the letters beside it if it can be told
  from them; else it passes. What stands in a look-ahead is a branch that leads nowhere.
- a bounded repeat of more than a few rounds is a loop that is as long as its bound;
- of a possessive repeat or an atomic group only one way leads out, whatever is tried in it;
- a back-reference is what the group is.

Not counted is what does not grow with the text: in how many ways a few written-out rounds fit. What
stands in a look-behind is read forwards, and only if it takes any number of letters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise, product
from math import factorial, inf
from re import _constants as codes, _parser as parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["Proof", "prove"]

_FEW, _ROUNDS_MAX, _UNROLLED_MAX = 4, 8, 600
"""A repeat of more than a few rounds, with more places in all of them or more rounds, is a loop."""

_RECTANGLES_MAX = 8
"""A condition of more alternatives is taken to pass."""

_WIDTH_MAX = 100_000
"""A part that takes more than that takes any number of letters."""

_STATES_MAX = 400_000
"""A search over more states is given up, and counts as found."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proved of a pattern.

    Attributes:
        is_exponential: whether a word leads from a place back to it in two ways.
        steps: about how many for a text of the length that was asked for, at most.
        before: what leads to the first of ``words`` in a text that makes it long.
        words: what such a text then repeats, one after another; none if it is linear.
    """

    is_exponential: bool
    steps: float
    before: str = ""
    words: tuple[str, ...] = ()

    def text(self, length: int) -> str:
        """A text of about that length that may make it long."""
        each = (length - len(self.before)) // max(len(self.words), 1)
        pumped = (word * max(each // max(len(word), 1), 1) for word in self.words)
        return f"{self.before}{''.join(pumped)}\0"

    def __str__(self) -> str:
        often = " + ".join(f"{word!r} * n" for word in self.words)
        order = "exponential" if self.is_exponential else f"{self.steps:.0e} steps"
        return f"{order} for {self.before!r} + {often}"


def prove(text: str, flags: int, length: int, is_anchored: bool = False) -> Proof:
    """What can be said of the pattern on texts up to the length.

    Args:
        text: the pattern, in the words of ``re``.
        flags: those of ``re``.
        length: of the longest text, in characters.
        is_anchored: whether it is matched at one place of a text, and looked for nowhere else.
    """
    tree = parser.parse(text, flags)
    return _Judge(_Automaton(tree, is_anchored), length).proof()


# Letters

_PROBES = sorted(map(chr, range(256)), key=lambda each: (not "!" < each < "\x7f", each))
"""Letters that are all tried; a text that is made of them is to be readable."""


def _kind(letter: str) -> tuple[bool, ...]:
    return letter.isalnum() or letter == "_", letter.isdecimal(), letter.isspace()


@cache
def _by_kind() -> dict[tuple[bool, ...], list[int]]:
    found: dict[tuple[bool, ...], list[int]] = {}
    for code in range(256, 0x11000):
        letter = chr(code)
        cased = letter.lower() != letter or letter.upper() != letter
        found.setdefault((*_kind(letter), cased), []).append(code)
    return found


_BITS = 1 << 2
_START, _END = 1, 2
"""The two letters that are none: what stands before a text, and after it."""


class _Letters:
    """The letters that a pattern tells apart, one for each kind, as bits of a mask."""

    def __init__(self, tree: Any) -> None:
        leaves = list(_leaves(tree, tree.state.flags))
        tests = list(dict.fromkeys(_key(*leaf) for leaf in leaves))
        bounds = {bound for code, about, _ in leaves for bound in _bounds(code, about)}
        probes = _beyond_latin(bounds | {256, 0x11000})
        rows = zip(*(_taken(key) for key in (*tests, *_CATEGORIES)), strict=True)
        columns: dict[tuple[bool, ...], str] = {}
        for letter, column in zip(_PROBES, rows, strict=True):
            columns.setdefault(column, letter)
        checks = [_test(key) for key in (*tests, *_CATEGORIES)]
        for letter in probes:
            columns.setdefault(tuple(check(letter) for check in checks), letter)
        self.letters = {_BITS << at: letter for at, letter in enumerate(columns.values())}
        self.all = sum(self.letters)
        masks = [
            sum(_BITS << at for at, column in enumerate(columns) if column[number])
            for number in range(len(tests) + len(_CATEGORIES))
        ]
        self._sets = dict(zip(tests, masks, strict=False))
        self.word, self.line = masks[len(tests) :]

    def mask(self, code: Any, about: Any, flags: int) -> int:
        """The letters that a leaf takes."""
        return self._sets[_key(code, about, flags)]


def _beyond_latin(bounds: set[int]) -> list[str]:
    """A letter of each kind between each two of the bounds."""
    found = []
    for low, high in pairwise(sorted(each for each in bounds if each >= 256)):
        for places in _by_kind().values():
            at = bisect_left(places, low)
            if at < len(places) and places[at] < high:
                found.append(chr(places[at]))
    return found


def _frozen(about: Any) -> Any:
    return tuple(map(_frozen, about)) if isinstance(about, (list, tuple)) else about


def _key(code: Any, about: Any, flags: int) -> Any:
    kept = flags & (re.IGNORECASE | re.ASCII | re.DOTALL)
    return code, _frozen(about), kept


_CATEGORIES = (
    (codes.IN, ((codes.CATEGORY, codes.CATEGORY_WORD),), 0),
    (codes.LITERAL, 10, 0),
)


def _bounds(code: Any, about: Any) -> Iterator[int]:
    if code in (codes.LITERAL, codes.NOT_LITERAL):
        for letter in _cases(chr(about)):
            yield from (ord(letter), ord(letter) + 1)
    elif code is codes.RANGE:
        yield from (about[0], about[1] + 1)
    elif code is codes.IN:
        for inner_code, inner in about:
            yield from _bounds(inner_code, inner)


@cache
def _cases(letter: str) -> frozenset[str]:
    found = {letter, letter.lower(), letter.upper(), letter.casefold()}
    found |= {each.upper() for each in found} | {each.lower() for each in found}
    return frozenset(each for each in found if len(each) == 1)


@cache
def _taken(key: Any) -> tuple[bool, ...]:
    test = _test(key)
    return tuple(map(test, _PROBES))


def _test(key: Any) -> Callable[[str], bool]:
    """Whether a letter is taken, as the leaf says."""
    code, about, flags = key
    if code is codes.ANY:
        return lambda letter: bool(flags & re.DOTALL) or letter != "\n"
    members = about if code is codes.IN else ((code, about),)
    is_negated = code is codes.NOT_LITERAL or (codes.NEGATE, None) in members
    plain = [_member(*each, flags) for each in members if each[0] not in _NOT_LETTERS]
    kinds = [_member(*each, flags) for each in members if each[0] is codes.CATEGORY]
    cases = _cases if flags & re.IGNORECASE else lambda letter: (letter,)
    return lambda letter: (
        (
            any(test(letter) for test in kinds)
            or any(test(each) for test in plain for each in cases(letter))
        )
        != is_negated
    )


def _member(code: Any, about: Any, flags: int) -> Callable[[str], bool]:
    if code in (codes.LITERAL, codes.NOT_LITERAL):
        return chr(about).__eq__
    if code is codes.RANGE:
        low, high = about
        return lambda letter: low <= ord(letter) <= high
    only = (lambda letter: letter.isascii()) if flags & re.ASCII else (lambda letter: True)
    number = {"DIGIT": 1, "SPACE": 2, "WORD": 0}[str(about).rsplit("_", 1)[-1]]
    is_not = "_NOT_" in str(about)
    return lambda letter: (_kind(letter)[number] and only(letter)) != is_not


_NOT_LETTERS = (codes.NEGATE, codes.CATEGORY)
_ONE = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def _leaves(tree: Any, flags: int) -> Iterator[tuple[Any, Any, int]]:
    for code, about in tree:
        if code in _ONE:
            yield code, about, flags
        for inner, inner_flags in _inside(code, about, flags):
            yield from _leaves(inner, inner_flags)


def _codes(tree: Any) -> Iterator[Any]:
    """What a part is made of; a back-reference may repeat."""
    for code, about in tree:
        yield codes.MAX_REPEAT if code is codes.GROUPREF else code
        for inner, _ in _inside(code, about, 0):
            yield from _codes(inner)


def _inside(code: Any, about: Any, flags: int) -> list[tuple[Any, int]]:
    """The parts of a part, with their flags."""
    if code in _REPEATS:
        return [(about[2], flags)]
    if code is codes.SUBPATTERN:
        return [(about[3], (flags | about[1]) & ~about[2])]
    if code is codes.ATOMIC_GROUP:
        return [(about, flags)]
    if code is codes.BRANCH:
        return [(each, flags) for each in about[1]]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [(about[1], flags)]
    if code is codes.GROUPREF_EXISTS:
        return [(each or (), flags) for each in about[1:]]
    return []


# Conditions on the letters before and after a place: alternatives of two masks

_Condition = tuple[tuple[int, int], ...]
_EVERY = -1
_TRUE: _Condition = ((_EVERY, _EVERY),)


@cache
def _both(one: _Condition, other: _Condition) -> _Condition:
    if one == _TRUE:
        return other
    if other == _TRUE:
        return one
    pairs = {(a & c, b & d) for (a, b), (c, d) in product(one, other)}
    found = tuple(sorted(pair for pair in pairs if pair[0] and pair[1]))
    return found if len(found) <= _RECTANGLES_MAX else _TRUE


def _holds(condition: _Condition, before: int, after: int) -> bool:
    return any(a & before and b & after for a, b in condition)


# The automaton: a place for each letter that the pattern takes


@dataclass(slots=True)
class _Part:
    """A part of a pattern: where it begins and ends, and how it takes nothing; each how often."""

    first: dict[tuple[int, _Condition], int] = field(default_factory=dict)
    last: dict[tuple[int, _Condition, frozenset[int]], int] = field(default_factory=dict)
    nothing: dict[_Condition, int] = field(default_factory=dict)


def _count(into: dict[Any, int], key: Any, times: int) -> None:
    into[key] = min(into.get(key, 0) + times, 2)


@dataclass(slots=True)
class _Place:
    mask: int
    atomic: frozenset[int]
    branch: int
    length: float = 0


_Edge = tuple[int, _Condition, frozenset[int]]
"""Where it leads, when, and out of which atomic groups."""


_Step = tuple[_Edge, int, int]
"""An edge, how often it is there, and the letters that it takes."""


class _Automaton:
    def __init__(self, tree: Any, is_anchored: bool) -> None:
        self.letters = _Letters(tree)
        self.places: list[_Place] = []
        self.edges: list[dict[_Edge, int]] = []
        self._groups: dict[int, tuple[Any, int]] = {}
        self._atomic: frozenset[int] = frozenset()
        self._branch = 0
        self._numbers = iter(range(1, 1_000_000))
        self.start: int | None = None
        start = _Part(nothing={_TRUE: 1})
        if not is_anchored:
            self.start = self._place(self.letters.all)
            self.places[self.start].length = inf
            self._edge(self.start, (self.start, _TRUE, frozenset()), 1)
            start.last[self.start, _TRUE, frozenset()] = 1
            start.first[self.start, _TRUE] = 1
        part = self._joined(start, self._sequence(tree, tree.state.flags))
        self.entries = {
            place for place, condition in part.first if any(a & _START for a, _ in condition)
        }

    def _place(self, mask: int) -> int:
        self.places.append(_Place(mask, self._atomic, self._branch))
        self.edges.append({})
        return len(self.places) - 1

    def _edge(self, at: int, edge: _Edge, times: int) -> None:
        if edge[1]:
            _count(self.edges[at], edge, times)

    def _sequence(self, tree: Iterable[tuple[Any, Any]], flags: int) -> _Part:
        part = _Part(nothing={_TRUE: 1})
        for code, about in tree:
            part = self._joined(part, self._one(code, about, flags))
        return part

    def _link(self, one: _Part, other: _Part) -> None:
        for (at, a, out), times in one.last.items():
            for (to, b), more in other.first.items():
                self._edge(at, (to, _both(a, b), out), times * more)

    def _joined(self, one: _Part, other: _Part) -> _Part:
        self._link(one, other)
        part = _Part(dict(one.first), dict(other.last))
        for (condition, times), (key, more) in product(one.nothing.items(), other.first.items()):
            if both := _both(condition, key[1]):
                _count(part.first, (key[0], both), times * more)
        for (condition, times), (empty, more) in product(
            one.nothing.items(), other.nothing.items()
        ):
            if both := _both(condition, empty):
                _count(part.nothing, both, times * more)
        for (condition, times), (end, more) in product(other.nothing.items(), one.last.items()):
            if both := _both(end[1], condition):
                _count(part.last, (end[0], both, end[2]), times * more)
        return part

    def _either(self, parts: Iterable[_Part]) -> _Part:
        made = _Part()
        for part in parts:
            for into, what in (
                (made.first, part.first),
                (made.last, part.last),
                (made.nothing, part.nothing),
            ):
                for key, times in what.items():
                    _count(into, key, times)
        return made

    def _one(self, code: Any, about: Any, flags: int) -> _Part:
        if code in _ONE:
            at = self._place(self.letters.mask(code, about, flags))
            return _Part({(at, _TRUE): 1}, {(at, _TRUE, frozenset()): 1})
        if code in _REPEATS:
            return self._repeat(code, *about, flags)
        if code is codes.ATOMIC_GROUP:
            return self._atomically(about, flags)
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            return self._looked(code, *about, flags)
        if code is codes.AT:
            return _Part(nothing={self._anchor(about, flags): 1})
        if code is codes.GROUPREF:
            return self._sequence(*self._groups[about])
        inside = _inside(code, about, flags)
        if code is codes.SUBPATTERN and about[0] is not None:
            self._groups[about[0]] = inside[0]
        return self._either([self._sequence(*each) for each in inside])

    def _repeat(self, code: Any, low: int, high: Any, inner: Any, flags: int) -> _Part:
        if code is not codes.POSSESSIVE_REPEAT:
            return self._rounds(low, high, inner, flags)
        part = self._committed(lambda: self._rounds(low, high, inner, flags, is_each_final=True))
        if (mask := self._single(inner, flags)) is not None:
            ended = ((_EVERY, ~mask),)
            part.nothing = {_both(each, ended): times for each, times in part.nothing.items()}
            if high is codes.MAXREPEAT:
                part.last = {(a, _both(b, ended), c): d for (a, b, c), d in part.last.items()}
        return part

    def _rounds(
        self, low: int, high: Any, inner: Any, flags: int, *, is_each_final: bool = False
    ) -> _Part:
        """So many of the part, one after another; what is too much to write out is a loop."""

        def made() -> _Part:
            return (self._atomically if is_each_final else self._sequence)(inner, flags)

        bound = inf if high is codes.MAXREPEAT else high
        part = _Part(nothing={_TRUE: 1})
        copies = max(low - 1, 0) if bound == inf else low
        size = max(sum(1 for _ in _codes(inner)), 1)
        for done in range(copies):
            if done and size * (done + 1) > _UNROLLED_MAX:
                bound = max(bound - done, 1)
                low = 0
                break
            part = self._joined(part, made())
        else:
            bound -= copies
            low -= copies
        if bound <= 0:
            return part
        if bound <= _FEW or (bound <= _ROUNDS_MAX and size * bound <= _UNROLLED_MAX):
            return self._joined(part, self._optional(int(bound), made))
        return self._joined(part, self._loop(low, bound, made, inner.getwidth()[1]))

    def _optional(self, rounds: int, inner: Callable[[], _Part]) -> _Part:
        made = _Part(nothing={_TRUE: 1})
        for _ in range(rounds):
            round_ = self._joined(inner(), made)
            made = self._either([round_, _Part(nothing={_TRUE: 1})])
        return made

    def _loop(self, low: int, bound: float, inner: Callable[[], _Part], width: int) -> _Part:
        at = len(self.places)
        part = inner()
        length = bound * width if width < _WIDTH_MAX else inf
        for place in self.places[at:]:
            if place.branch == self._branch:
                place.length = max(place.length, length)
        self._link(part, part)
        again = dict(part.nothing)
        _count(again, _TRUE, 1)
        ended = self._joined(_Part({}, dict(part.last)), _Part(nothing=again))
        part.last = ended.last
        if low == 0:
            _count(part.nothing, _TRUE, 1)
        return part

    def _committed(self, made: Callable[[], _Part]) -> _Part:
        """The part with one way out."""
        outside, number = self._atomic, next(self._numbers)
        self._atomic = outside | {number}
        part = made()
        self._atomic = outside
        return _Part(
            dict.fromkeys(part.first, 1),
            {(at, condition, out | {number}): 1 for at, condition, out in part.last},
            dict.fromkeys(part.nothing, 1),
        )

    def _atomically(self, inner: Any, flags: int) -> _Part:
        """The part with one way out, and what is tried in vain in it as a branch of its own."""
        part = self._committed(lambda: self._sequence(inner, flags))
        if any(code in _REPEATS for code in _codes(inner)):
            tried = self._aside(lambda: self._sequence(inner, flags))
            for key, times in tried.first.items():
                _count(part.first, key, times)
        return part

    def _aside(self, made: Callable[[], _Part]) -> _Part:
        """The part as a branch that leads nowhere."""
        outside, self._branch = self._branch, next(self._numbers)
        part = made()
        self._branch = outside
        return part

    def _looked(self, code: Any, direction: int, inner: Any, flags: int) -> _Part:
        mask = self._single(inner, flags)
        if mask is not None:
            taken = mask if code is codes.ASSERT else ~mask
            return _Part(nothing={((_EVERY, taken) if direction > 0 else (taken, _EVERY),): 1})
        within = self._aside(lambda: self._sequence(inner, flags))
        part = _Part(nothing={_TRUE: 1})
        if code is codes.ASSERT and not within.nothing:
            ends = within.first if direction > 0 else within.last
            mask = 0
            for each in ends:
                mask |= self.places[each[0]].mask
            part.nothing = {((_EVERY, mask) if direction > 0 else (mask, _EVERY),): 1}
        if direction > 0 or inner.getwidth()[1] >= _WIDTH_MAX:
            part.first = within.first
        return part

    def _single(self, inner: Any, flags: int) -> int | None:
        """The letters of a part that takes just one; None for any other."""
        if len(inner) != 1:
            return None
        code, about = inner[0]
        if code in _ONE:
            return self.letters.mask(code, about, flags)
        if code is codes.SUBPATTERN:
            return self._single(about[3], (flags | about[1]) & ~about[2])
        if code is codes.BRANCH:
            masks = [self._single(each, flags) for each in about[1]]
            known = [mask for mask in masks if mask is not None]
            return sum(set(known)) if len(known) == len(masks) == 1 else None
        return None

    def _anchor(self, about: Any, flags: int) -> _Condition:
        letters = self.letters
        not_word = letters.all & ~letters.word
        lines = letters.line if flags & re.MULTILINE else 0
        if about is codes.AT_BEGINNING:
            return ((_START | lines, _EVERY),)
        if about is codes.AT_BEGINNING_STRING:
            return ((_START, _EVERY),)
        if about is codes.AT_END:
            return ((_EVERY, _END | letters.line),)
        if about is codes.AT_END_STRING:
            return ((_EVERY, _END),)
        if about is codes.AT_BOUNDARY:
            return ((letters.word, not_word | _END), (not_word | _START, letters.word))
        if about is codes.AT_NON_BOUNDARY:
            return ((letters.word, letters.word), (not_word | _START, not_word | _END))
        return _TRUE


# The judgement


def _components(nodes: Iterable[Any], after: Callable[[Any], Iterable[Any]]) -> list[list[Any]]:
    """The strongly connected components that hold a circle."""
    following: dict[Any, list[Any]] = {}
    back: dict[Any, list[Any]] = {}
    done: dict[Any, None] = {}
    for root in nodes:
        stack = [(root, False)]
        while stack:
            node, is_left = stack.pop()
            if is_left:
                done[node] = None
            elif node not in following:
                following[node] = list(after(node))
                stack.append((node, True))
                stack.extend((other, False) for other in following[node] if other not in following)
    for node, others in following.items():
        for other in others:
            back.setdefault(other, []).append(node)
    seen: set[Any] = set()
    found = [_closed(node, back, seen) for node in reversed(done) if node not in seen]
    return [each for each in found if len(each) > 1 or each[0] in following[each[0]]]


def _closed(root: Any, after: dict[Any, list[Any]], seen: set[Any]) -> list[Any]:
    """The root and what is reached from it, but for what was seen before."""
    found = [root]
    seen.add(root)
    for node in found:
        for other in after.get(node, ()):
            if other not in seen:
                seen.add(other)
                found.append(other)
    return found


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


@dataclass(frozen=True, slots=True)
class _Row:
    """Loops one after another, each in as many ways as it is long.

    Attributes:
        product: of their lengths.
        wholes: how many are as long as the text, which they share.
        loop: the first.
        words: those that lead from one to the next.
    """

    product: float
    wholes: int
    loop: list[int] = field(default_factory=list)
    words: tuple[str, ...] = ()

    @property
    def steps(self) -> float:
        return self.product / factorial(self.wholes)


class _Judge:
    def __init__(self, automaton: _Automaton, length: int) -> None:
        self._automaton = automaton
        self._length = length
        self._places = automaton.places
        self._edges = [list(each.items()) for each in automaton.edges]

    def proof(self) -> Proof:
        after = [list(dict.fromkeys(edge[0] for edge, _ in edges)) for edges in self._edges]
        loops = _components(range(len(after)), lambda at: after[at])
        for loop in loops:
            if (word := self._two_ways(loop)) is not None:
                return Proof(True, inf, self._before(loop), (word,))
        return self._polynomial(loops, after)

    def _polynomial(self, loops: list[list[int]], after: list[list[int]]) -> Proof:
        """What the costliest row of loops takes; ``loops`` has the later ones first."""
        best: dict[int, _Row] = {}
        reach = self._reach(loops, after)
        order = sorted(range(len(loops)), key=lambda at: len(reach[at]))
        top = _Row(self._length, 0)
        for at in order:
            length = max(min(self._length, max(self._places[each].length for each in loops[at])), 1)
            whole = int(length == self._length)
            mine = _Row(length, whole, loops[at])
            for later in reach[at]:
                behind = best[later]
                if behind.steps > mine.steps:
                    mine = behind
                both = _Row(behind.product * length, behind.wholes + whole, loops[at])
                if both.steps > mine.steps:
                    word = self._linked(loops[at], loops[later], after)
                    if word is not None:
                        mine = replace(both, words=(word, *behind.words))
            best[at] = mine
            if mine.steps > top.steps:
                top = mine
        return Proof(False, top.steps, self._before(top.loop), top.words)

    def _reach(self, loops: list[list[int]], after: list[list[int]]) -> list[set[int]]:
        of = {place: at for at, loop in enumerate(loops) for place in loop}
        found = []
        for at, loop in enumerate(loops):
            seen, work = set(loop), list(loop)
            while work:
                for to in after[work.pop()]:
                    if to not in seen:
                        seen.add(to)
                        work.append(to)
            found.append({of[each] for each in seen if each in of} - {at})
        return found

    def _steps(self, at: int, before: int, within: set[int] | None = None) -> Iterator[_Step]:
        """The edges from a place after a letter, how often each, and the letters that it takes."""
        for edge, times in self._edges[at]:
            to, condition, _ = edge
            if within is not None and to not in within:
                continue
            if condition == _TRUE:
                mask = self._places[to].mask
            else:
                mask = 0
                for a, b in condition:
                    if a & before:
                        mask |= b
                mask &= self._places[to].mask
            if mask:
                yield edge, times, mask

    def _two_ways(self, loop: list[int]) -> str | None:
        """A word that leads from a place of the loop back to it in two ways."""
        within = set(loop)
        ahead = [[times for edge, times in self._edges[at] if edge[0] in within] for at in loop]
        if all(each == [1] for each in ahead):
            return None  # a plain circle

        def after(node: tuple[int, int]) -> list[tuple[int, int]]:
            return [
                (edge[0], bit)
                for edge, _, mask in self._steps(*node, within)
                for bit in _bits(mask)
            ]

        nodes = [(at, bit) for at in loop for bit in _bits(self._places[at].mask)]
        for component in _components(nodes, after):
            allowed = set(component)
            root = min(component, key=lambda node: (len(self._edges[node[0]]), node))
            word = self._walk(
                (root[0], root[0], root[1], None),
                (root[0], root[0], root[1]),
                partial(self._apart, within=within, allowed=allowed),
            )
            if word is not None:
                return word
        return None

    def _apart(
        self, state: Any, within: set[int], allowed: set[tuple[int, int]]
    ) -> Iterator[tuple[int, Any]]:
        """Two walks that go on with one letter; ``marks`` are the groups in which they parted."""
        one, other, before, marks = state
        second = list(self._steps(other, before, within))
        for step in self._steps(one, before, within):
            for edge, _, mask in second:
                for option in self._parting(one, step, edge, marks) if step[2] & mask else ():
                    for bit in _bits(step[2] & mask):
                        if (step[0][0], bit) in allowed and (edge[0], bit) in allowed:
                            yield bit, (step[0][0], edge[0], bit, option)

    def _parting(
        self, at: int, step: _Step, other: _Edge, marks: frozenset[int] | None
    ) -> Iterator[frozenset[int] | None]:
        """How two ways go on, one by the step: in which groups they part, None before they do.

        Two that parted in a group do not both leave it.
        """
        edge, times, _ = step
        options: tuple[frozenset[int] | None, ...] = (marks,)
        if marks is None and edge != other:
            options = (self._shared(at, edge, other),)
        elif marks is None and times > 1:
            options = (None, self._places[at].atomic - edge[2])
        for option in options:
            if not option or not (option & edge[2] or option & other[2]):
                yield option

    def _shared(self, at: int, one: _Edge, other: _Edge) -> frozenset[int]:
        """The atomic groups that two ways are in together when they part here."""
        here = self._places[at].atomic
        kept = here - (one[2] & other[2])
        entered = [
            {group for group in self._places[to].atomic if group not in here or group in out}
            for to, _, out in (one, other)
        ]
        return kept | (entered[0] & entered[1])

    def _linked(self, loop: list[int], later: list[int], after: list[list[int]]) -> str | None:
        """A word that both loops take, and that leads from the first to the second."""
        one, two = set(loop), set(later)
        letters = 0
        for at in loop:
            letters |= self._places[at].mask
        theirs = 0
        for at in later:
            theirs |= self._places[at].mask
        if not letters & theirs:
            return None
        between = self._between(one, two, letters & theirs, after)

        def pairs(node: tuple[int, int, int]) -> list[tuple[int, int, int]]:
            x, y, before = node
            second = list(self._steps(y, before, two))
            return [
                (edge[0], edge2[0], bit)
                for edge, _, mask in self._steps(x, before, one)
                for edge2, _, mask2 in second
                for bit in _bits(mask & mask2)
            ]

        nodes = [
            (x, y, bit)
            for x in loop
            for y in later
            for bit in _bits(self._places[x].mask & self._places[y].mask)
        ]
        if len(nodes) > _STATES_MAX:
            return "(not searched: too many states)"
        for component in _components(nodes, pairs):
            allowed = set(component)
            x, y, bit = component[0]
            word = self._walk(
                (x, x, y, bit, None),
                (x, y, y, bit),
                partial(self._three, one=one, two=two, between=between, allowed=allowed),
            )
            if word is not None:
                return word
        return None

    def _three(
        self,
        state: Any,
        one: set[int],
        two: set[int],
        between: set[int],
        allowed: set[tuple[int, int, int]],
    ) -> Iterator[tuple[int, Any]]:
        """Three walks: in the one loop, from it to the other, and in the other."""
        x, m, y, before, marks = state
        middle = list(self._steps(m, before, between))
        pairs = product(self._steps(x, before, one), list(self._steps(y, before, two)))
        for step, (last, _, mask) in pairs:
            both = step[2] & mask
            for edge, _, mask2 in middle if both else ():
                for option in self._parting(x, step, edge, marks) if both & mask2 else ():
                    for bit in _bits(both & mask2):
                        if (step[0][0], last[0], bit) in allowed:
                            yield bit, (step[0][0], edge[0], last[0], bit, option)

    def _between(
        self, one: set[int], two: set[int], letters: int, after: list[list[int]]
    ) -> set[int]:
        """The places on a way from the one to the other, by those letters alone."""
        back: dict[int, list[int]] = {}
        seen, work = set(one), list(one)
        while work:
            at = work.pop()
            for to in after[at]:
                if self._places[to].mask & letters:
                    back.setdefault(to, []).append(at)
                    if to not in seen:
                        seen.add(to)
                        work.append(to)
        found = two & seen
        work = list(found)
        while work:
            for to in back.get(work.pop(), ()):
                if to not in found:
                    found.add(to)
                    work.append(to)
        return found

    def _walk(
        self, start: Any, goal: tuple[Any, ...], after: Callable[[Any], Iterable[tuple[int, Any]]]
    ) -> str | None:
        """The shortest word from the start to the goal, with walks that have parted."""
        came: dict[Any, tuple[Any, int]] = {start: (None, 0)}
        work = deque([start])
        while work:
            state = work.popleft()
            for bit, to in after(state):
                if to in came:
                    continue
                came[to] = state, bit
                if to[:-1] == goal and to[-1] is not None:
                    letters: list[str] = []
                    at = to
                    while came[at][0] is not None:
                        letters.append(self._automaton.letters.letters[came[at][1]])
                        at = came[at][0]
                    return "".join(reversed(letters))
                work.append(to)
            if len(came) > _STATES_MAX:
                return "(not searched: too many states)"
        return None

    def _before(self, loop: list[int]) -> str:
        """A text that leads to the loop."""
        places, letters = self._places, self._automaton.letters.letters
        within = set(loop)
        came: dict[int, int | None] = dict.fromkeys(sorted(self._automaton.entries))
        work = deque(came)
        while work:
            at = work.popleft()
            if at in within:
                before = []
                here: int | None = at
                while here is not None:
                    before.append(letters[next(_bits(places[here].mask))])
                    here = came[here]
                return "".join(reversed(before))
            for edge, _ in self._edges[at]:
                if edge[0] not in came and places[edge[0]].mask:
                    came[edge[0]] = at
                    work.append(edge[0])
        return ""
