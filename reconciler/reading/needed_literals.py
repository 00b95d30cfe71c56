r"""Finds the literals of which a text must hold one before a regular expression can match it.

To look for a thousand literals at once costs less than to try one expression. They are read from
the expression, so who writes one lists nothing beside it. What is not understood here, such as
``\p``, needs nothing: its expression is tried on every text. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reconciler.frozen import Match, StringSet

_SPELLINGS_MAX = 100
"""The most spellings of a piece that are followed through the next pieces."""

_PIECE = re.compile(
    r"""
      (?P<edge>\\[bBAZ]|[\^$]|\(\?[a-z]+\)) | (?P<same>\(\?P=\w+\)|\\[1-9])
    | (?P<never>\(\?<?!) | (?P<look>\(\?<?=)
    | (?P<open>\((?:\?(?:P<\w+>|[a-z-]*:|>))?) | (?P<close>\)) | (?P<or>\|)
    | \[(?P<few>(?:[^\]\\^-]|\\[^\w\s]){1,12})\]
    | (?P<many>\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|\\[sSwWdD]|\.)
    | (?P<times>[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})[+?]?
    | \\x(?P<byte>[0-9a-fA-F]{2}) | \\u(?P<code>[0-9a-fA-F]{4}) | \\(?P<escaped>.)
    | (?P<word>[^\\()\[{|.*+?^$]+(?![*+?{])|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NOT_READ = re.compile(r"\(\?(?:[a-z]*x|[#(])|\\(?:[NU0]|\d\d)")
"""Comments, conditions, names and numbers of characters: no shipped expression has them."""
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}


class _Need(NamedTuple):
    """What a piece of an expression needs.

    Attributes:
        spellings: all that it matches; None where those are many.
        literals: of many spellings, what each holds one of; empty where that is not known.
    """

    spellings: StringSet | None
    literals: StringSet = frozenset()

    @property
    def needed(self) -> StringSet:
        if self.spellings is None:
            return self.literals
        return frozenset() if "" in self.spellings else self.spellings


_NOTHING, _ANYTHING = _Need(frozenset({""})), _Need(None)


def needed_literals(expression: str) -> StringSet:
    """Return the literals of which a text must hold one; empty if any text may match."""
    if _NOT_READ.search(expression):
        return frozenset()
    try:
        needed = _group(_PIECE.finditer(expression)).needed
    except RecursionError:
        return frozenset()
    return frozenset(map(str.casefold, needed))


def _group(pieces: Iterator[Match]) -> _Need:
    """Return the needs up to the bracket that closes the group, or to the end."""
    branches: list[list[_Need]] = [[]]
    for piece in pieces:
        match piece.lastgroup:
            case "close":
                break
            case "or":
                branches.append([])
            case "never":
                _group(pieces)
            case "look":
                branches[-1].append(_Need(None, _group(pieces).needed))
            case "open":
                branches[-1].append(_group(pieces))
            case "times" if branches[-1]:
                branches[-1][-1] = _repeated(branches[-1][-1], piece["times"])
            case _:
                branches[-1].append(_one(piece))
    return _any_of([branch[0] if len(branch) == 1 else _sequence(branch) for branch in branches])


def _one(piece: Match) -> _Need:
    kind = piece.lastgroup
    if kind == "edge":
        return _NOTHING
    if kind == "few":
        return _Need(frozenset(piece["few"].replace("\\", "")))
    if kind in ("byte", "code"):
        return _Need(frozenset({chr(int(piece[kind], 16))}))
    if kind == "word":
        return _Need(frozenset({piece["word"]}))
    if kind == "escaped":
        letter = _CONTROLS.get(piece["escaped"], piece["escaped"])
        return _ANYTHING if letter.isalnum() else _Need(frozenset({letter}))
    return _ANYTHING


def _repeated(once: _Need, times: str) -> _Need:
    if times == "?" and once.spellings is not None:
        return _Need(once.spellings | {""})
    may_be_absent = times[0] in "*?" or times[:2] in ("{0", "{,")
    return _ANYTHING if may_be_absent else _Need(None, once.needed)


def _sequence(needs: Iterable[_Need]) -> _Need:
    """Return the literals of a row of pieces that the fewest texts hold."""
    spelled, candidates = frozenset({""}), [StringSet()]
    for need in needs:
        if need.spellings and len(spelled) * len(need.spellings) <= _SPELLINGS_MAX:
            spelled = frozenset(start + end for start in spelled for end in need.spellings)
        else:
            candidates += [_Need(spelled).needed, need.needed]
            spelled = need.spellings or frozenset({""})
    if len(candidates) == 1:
        return _Need(spelled)
    return _Need(None, min([*candidates, _Need(spelled).needed], key=_commonness))


def _any_of(branches: Sequence[_Need]) -> _Need:
    if len(branches) == 1:
        return branches[0]
    spellings = [branch.spellings for branch in branches]
    if None not in spellings:
        every = StringSet().union(*filter(None, spellings))
        if len(every) <= _SPELLINGS_MAX:
            return _Need(every)
    needed = [branch.needed for branch in branches]
    return _Need(None, frozenset().union(*needed) if all(needed) else frozenset())


def _commonness(literals: StringSet) -> float:
    """Return how many texts hold one of them, by their lengths; all texts hold spaces."""
    if not literals:
        return float("inf")
    return sum(8.0 ** -len(each.replace(" ", "").encode("utf-8", "replace")) for each in literals)
