"""Ends: of the notes that a system ended, how many were right to end.

A stream is told note by note, and after each note the system is asked what it holds as true. One
JSON object a line::

    {"id": "e01", "half": "seen", "contact": "Ana Reis", "notes": [
      {"n": 1, "days_ago": 60, "say": "Ana lives in Porto.", "ends": []},
      {"n": 2, "days_ago": 20, "say": "Ana's new flat is in Lisbon.", "ends": [1]}]}

``ends`` names the earlier notes that stop being true by this one, fully.

A note is *held* while a text that carries it is told as true, or in doubt. It is *ended* when it
was held after the note before, and is not any more. What passes by its own date is not ended.
A note that a later one absorbs is still held, if the system itself says that the two say the same
and the later note ends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import TypedDict

__all__ = ["Carried", "Count", "End", "Note", "Stream", "count", "ends_table", "read_streams"]


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note of a stream, and which earlier ones stop being true by it."""

    n: int
    days_ago: int
    say: str
    ends: list[int]


@dataclass(frozen=True, kw_only=True)
class Stream:
    """What is noted about one contact over some weeks."""

    id: str
    half: str
    contact: str
    notes: list[Note]


class Carried(TypedDict):
    """A told note that the system still holds."""

    text: str
    state: str
    by: str
    """The note whose words carry it now: itself, one that it repeated, or one that absorbed it."""


@dataclass(frozen=True, kw_only=True)
class End:
    """A note that the system ended."""

    stream: str
    note: str
    by: str
    is_right: bool


@dataclass(kw_only=True)
class Count:
    """What a system did in some streams."""

    told: int = 0
    kept: int = 0
    absorbed: int = 0
    """Notes that are held in the words of a later one, which ends nothing."""
    ended: list[End] = field(default_factory=list)
    due: int = 0
    """Ends that the truth has, of notes that the system had kept."""
    done: int = 0
    in_doubt: int = 0
    """Ends that are due and not done, where the old note is told as something in doubt."""
    doubted: int = 0
    """Notes that are still true at the end, and told as something in doubt."""

    def add(self, other: Count) -> None:
        """Add the count of further streams."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def read_streams(path: Path, half: str = "", first: int | None = None) -> list[Stream]:
    """The streams of a file, of one half only if it is named, and of these the first ones."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    streams = [Stream(**row | {"notes": [Note(**each) for each in row["notes"]]}) for row in rows]
    return [each for each in streams if half in ("", each.half)][:first]


def count(stream: Stream, lives: Sequence[Iterable[Carried]]) -> Count:
    """What the system did; ``lives`` has what it held after each note."""
    says = {note.n: note.say for note in stream.notes}
    told = {note.say: note for note in stream.notes}
    result = Count(told=len(says))
    before: dict[int, str] = {}
    kept, done, over, absorbed = set[int](), set[int](), set[int](), set[int]()
    for note, live in zip(stream.notes, lives, strict=True):
        over |= set(note.ends)
        now = {}
        for each in live:
            old, by = told[each["text"]], told[each["by"]]
            if by.n > old.n:
                if by.ends or old.n not in before:
                    continue
                absorbed.add(old.n)
            now[old.n] = each["state"]
        for n in sorted(before.keys() - now.keys()):
            result.ended.append(
                End(stream=stream.id, note=says[n], by=note.say, is_right=n in over)
            )
        kept |= now.keys()
        done |= over - now.keys()
        before = now
    result.kept, result.absorbed = len(kept), len(absorbed)
    result.due, result.done = len(over & kept), len(done & kept)
    result.in_doubt = sum(before.get(n) == "doubt" for n in over - done)
    result.doubted = sum(state == "doubt" for n, state in before.items() if n not in over)
    return result


def ends_table(counts: dict[str, Count]) -> Iterator[str]:
    """Lines of Markdown, a system each."""
    heads = "notes kept | ended | of these right | absorbed | due ends done | in doubt"
    yield f"| | {heads} | true, in doubt |"
    yield "|---" + "|--:" * 7 + "|"
    for label, each in counts.items():
        right = sum(end.is_right for end in each.ended)
        cells = (
            f"{each.kept} of {each.told}",
            f"{len(each.ended)}",
            f"{right}: {wilson(right, len(each.ended))}" if each.ended else "",
            f"{each.absorbed}",
            f"{each.done} of {each.due}",
            f"{each.in_doubt}",
            f"{each.doubted}",
        )
        yield f"| {label} | " + " | ".join(cells) + " |"


def wilson(hits: int, of: int) -> str:
    """A share with its 95 % interval, as percentages."""
    z, share = 1.96, hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    reach = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.0%} ({middle - reach:.0%}–{middle + reach:.0%})"
