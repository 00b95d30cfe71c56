"""What was measured of a system, and how it is told: a table, a line of JSON, the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

__all__ = ["Result", "remarks", "tables"]

Column = tuple[str, Callable[["Result"], str]]


@dataclass
class Result:
    """One system's figures; None, or an empty list, for what was not measured.

    A list has a figure for each round, the median of that round.
    """

    key: str
    label: str
    door: str
    load: float = 0.0
    load_end: float = 0.0
    embedding_ms: list[float] = field(default_factory=list)
    insert_ms: list[float] = field(default_factory=list)
    write_ms: list[float] = field(default_factory=list)
    told: int = 0
    kept: int | None = None
    first_recall_ms: list[float] = field(default_factory=list)
    recall_ms: list[float] = field(default_factory=list)
    asked: int = 0
    found: int | None = None
    memory_mib: list[float] = field(default_factory=list)
    import_ms: list[float] = field(default_factory=list)
    changes: int = 0
    newest_first: int | None = None
    stale_shown: int | None = None
    writers: str = ""
    copies: list[int] = field(default_factory=list)
    failed_writers: int = 0
    kills: int = 0
    lost: int | None = None
    lost_background: int | None = None
    few_ms: float | None = None
    many_ms: float | None = None
    grown: int = 0
    fill_seconds: float | None = None
    not_measured: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def base_ms(self) -> list[float]:
        """What a write cannot do without, round by round."""
        pairs = zip(self.embedding_ms, self.insert_ms, strict=True)
        return [embedding + insert for embedding, insert in pairs]

    @property
    def latency_ratios(self) -> list[float]:
        return [write / base for write, base in zip(self.write_ms, self.base_ms, strict=True)]

    @property
    def latency_ratio(self) -> float | None:
        """The median of the rounds."""
        return median(self.latency_ratios) if self.write_ms else None

    @property
    def growth_ratio(self) -> float | None:
        if self.many_ms is None or not self.few_ms:
            return None
        return self.many_ms / self.few_ms

    @property
    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Result:
        return cls(**given)


def tables(results: Sequence[Result]) -> Iterator[str]:
    """The lines of two Markdown tables, of what takes time and of what is counted."""
    for columns in (TIMES, COUNTS):
        yield f"| system | {' | '.join(heading for heading, _ in columns)} |"
        yield f"|---|{'--:|' * len(columns)}"
        for result in results:
            yield f"| {' | '.join((result.label, *(cell(result) for _, cell in columns)))} |"
        yield ""


def remarks(results: Iterable[Result]) -> Iterator[str]:
    """Why a cell is empty, and what went wrong on the way, each once."""
    for result in results:
        for column, reason in result.not_measured.items():
            yield f"{result.label}: {column} was not measured: {reason}"
        for remark in dict.fromkeys(result.remarks):
            yield f"{result.label}: {remark}"


def _number(value: float | None, shape: str) -> str:
    return "–" if value is None else f"{value:,{shape}}"


def _median(values: Sequence[float], shape: str = ".1f") -> str:
    return _number(median(values) if values else None, shape)


def _ratios(values: Sequence[float]) -> str:
    """The median, and from the least to the most of the rounds."""
    if not values:
        return "–"
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _of(part: int | None, whole: int) -> str:
    return "–" if part is None else f"{part} of {whole}"


def _copies(result: Result) -> str:
    """Every round, in order, so that a lucky one does not stand for all."""
    if not result.copies:
        return "–"
    failed = f" ({result.failed_writers} writers failed)" if result.failed_writers else ""
    return ", ".join(map(str, result.copies)) + failed


def _lost(result: Result) -> str:
    if result.lost is None:
        return "–"
    background = (
        ""
        if result.lost_background is None
        else f"; background door {result.lost_background} of {result.kills}"
    )
    return f"{result.lost} of {result.kills}{background}"


TIMES: tuple[Column, ...] = (
    ("its door", lambda result: f"`{result.door}`"),
    ("embedding + bare insert, ms", lambda result: _median(result.base_ms)),
    ("write, ms", lambda result: _median(result.write_ms)),
    ("write / (embedding + insert)", lambda result: _ratios(result.latency_ratios)),
    ("recall, ms", lambda result: _median(result.recall_ms)),
    ("first recall, ms", lambda result: _median(result.first_recall_ms)),
    ("import, ms a note", lambda result: _median(result.import_ms)),
    ("idle process, MiB", lambda result: _median(result.memory_mib, ".0f")),
    ("write among others / alone", lambda result: _number(result.growth_ratio, ".2f")),
)
COUNTS: tuple[Column, ...] = (
    ("distinct notes kept", lambda result: _of(result.kept, result.told)),
    ("found by a question", lambda result: _of(result.found, result.asked)),
    ("newest value first after a change", lambda result: _of(result.newest_first, result.changes)),
    ("old value still given", lambda result: _of(result.stale_shown, result.changes)),
    ("copies after many writers", _copies),
    ("writers", lambda result: result.writers or "–"),
    ("lost on SIGKILL", _lost),
)
