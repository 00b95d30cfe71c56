"""The comparison as one picture: a panel a question, a bar a system, ours in colour.

python -m benchmarks.peers.picture results.json docs/peers.png    from the figures of an earlier run
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.results import Result

__all__ = ["draw"]

CAPTION = (
    "Each is the real package in a store of the kind that it is made for; same notes, same vectors "
    "(all-MiniLM-L6-v2). Where a system asks a chat model, it answers at once and perfectly."
)
OURS, OTHERS, INK, FAINT = "#1f5fa8", "#b9bec6", "#222222", "#8a8f98"


@dataclass(frozen=True)
class Panel:
    """One question: its bars, what is written at their ends, and where the best would end."""

    title: str
    below: str
    value: Callable[[Result], float | None]
    shown: Callable[[Result], str]
    best: float


PANELS = (
    Panel(
        "One write costs",
        "times an embedding\nand a bare insert\n(1 is the least)",
        lambda result: result.latency_ratio,
        lambda result: f"{result.latency_ratio:.1f} ×",
        1,
    ),
    Panel(
        "Different notes kept",
        "of 300 about one contact\n(300 is right)",
        lambda result: result.kept,
        lambda result: f"{result.kept}",
        300,
    ),
    Panel(
        "Newest value first",
        "of 20 changes told in\nplain words (20 is right)",
        lambda result: result.newest_first,
        lambda result: f"{result.newest_first}",
        20,
    ),
    Panel(
        "Copies of one note",
        "after 16 identical writers\nat once, worst of 5 rounds\n(1 is right)",
        lambda result: max(result.copies, default=None),
        lambda result: f"{max(result.copies)}",
        1,
    ),
    Panel(
        "Notes lost",
        "of 20 whose writer was\nkilled after the call\n(0 is right)",
        lambda result: result.lost,
        lambda result: f"{result.lost}",
        0,
    ),
    Panel(
        "Slower in a full store",
        "a write among 20,000\nfacts of others, times\nthe same alone (1 is best)",
        lambda result: result.growth_ratio,
        lambda result: f"{result.growth_ratio:.2f} ×",
        1,
    ),
)


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw the picture into a PNG file; a system without a figure has none in that panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 1.9 + 0.42 * len(results)), layout="constrained")
    axes = figure.subplots(1, len(PANELS), sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, PANELS, strict=True):
        _draw_panel(axis, panel, results)
    axes[0].set_yticks(range(len(results)), [result.label for result in results])
    for label, result in zip(axes[0].get_yticklabels(), results, strict=True):
        label.set_color(OURS if _is_ours(result) else INK)
        label.set_fontweight("bold" if _is_ours(result) else "normal")
    figure.supxlabel(CAPTION, fontsize=9, color=FAINT, x=0.01, ha="left")
    figure.savefig(path, dpi=110)


def _draw_panel(axis: Any, panel: Panel, results: Sequence[Result]) -> None:
    values = [panel.value(result) for result in results]
    longest = max((value for value in values if value is not None), default=0) or panel.best or 1
    for row, (result, value) in enumerate(zip(results, values, strict=True)):
        colour = OURS if _is_ours(result) else OTHERS
        text = "not measured" if value is None else panel.shown(result)
        axis.barh(row, value or 0, color=colour, height=0.62)
        axis.text(
            (value or 0) + longest * 0.03, row, text, va="center", fontsize=10,
            color=FAINT if value is None else INK, zorder=3,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
    axis.axvline(panel.best, color=INK, linewidth=0.8, linestyle=":")
    axis.set_xlim(0, longest * 1.35)
    axis.set_ylim(len(results) - 0.4, -0.6)  # the first on top
    axis.set_title(panel.title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axis.set_xlabel(panel.below, fontsize=9, color=FAINT, loc="left")
    axis.set_xticks([])
    axis.tick_params(axis="y", length=0, labelsize=10)
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)


def _is_ours(result: Result) -> bool:
    return result.key.startswith("ours-")


def _main() -> None:
    given, path = map(Path, sys.argv[1:])
    draw([Result.from_json(each) for each in json.loads(given.read_text("utf-8"))], path)


if __name__ == "__main__":
    _main()
