"""What was measured of a system, and how it is told: a table, a line of JSON, the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Result", "remarks", "table"]

HEADINGS = (
    ("system", "---"),
    ("its door", "---"),
    ("embedding + bare insert, ms", "--:"),
    ("write, ms", "--:"),
    ("write / (embedding + insert)", "--:"),
    ("distinct notes kept", "--:"),
    ("copies after 16 writers", "--:"),
    ("writers", "---"),
    ("lost on SIGKILL", "--:"),
    ("write among 20,000 others / alone", "--:"),
)


@dataclass
class Result:
    """One system's figures; None, or an empty list, for what was not measured."""

    key: str
    label: str
    door: str
    load: float = 0.0
    load_end: float = 0.0
    embedding_ms: float | None = None
    insert_ms: float | None = None
    write_ms: float | None = None
    told: int = 0
    kept: int | None = None
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
    def base_ms(self) -> float | None:
        """What a write cannot do without."""
        if self.embedding_ms is None or self.insert_ms is None:
            return None
        return self.embedding_ms + self.insert_ms

    @property
    def latency_ratio(self) -> float | None:
        if self.write_ms is None or not self.base_ms:
            return None
        return self.write_ms / self.base_ms

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


def table(results: Iterable[Result]) -> Iterator[str]:
    """The lines of a Markdown table, the heading first; one line as each result comes."""
    yield f"| {' | '.join(heading for heading, _ in HEADINGS)} |"
    yield f"|{'|'.join(rule for _, rule in HEADINGS)}|"
    for result in results:
        yield f"| {' | '.join(_cells(result))} |"


def remarks(results: Iterable[Result]) -> Iterator[str]:
    """Why a cell is empty, and what went wrong on the way, each once."""
    for result in results:
        for column, reason in result.not_measured.items():
            yield f"{result.label}: {column} was not measured: {reason}"
        for remark in dict.fromkeys(result.remarks):
            yield f"{result.label}: {remark}"


def _cells(result: Result) -> list[str]:
    return [
        result.label,
        f"`{result.door}`",
        _number(result.base_ms, ".1f"),
        _number(result.write_ms, ".1f"),
        _number(result.latency_ratio, ".2f"),
        "–" if result.kept is None else f"{result.kept} of {result.told}",
        _copies(result),
        result.writers or "–",
        _lost(result),
        _number(result.growth_ratio, ".2f"),
    ]


def _number(value: float | None, shape: str) -> str:
    return "–" if value is None else f"{value:,{shape}}"


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
