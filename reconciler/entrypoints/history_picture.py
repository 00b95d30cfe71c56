"""A contact's history as a picture: facts as bars over time, changes as arrows.

matplotlib is an extra and is imported only to draw a picture.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from reconciler.domain.records.facts import Fact, FactHistory
from reconciler.domain.records.kinds import FactState
from reconciler.domain.review.timeline import (
    Arrow,
    Strand,
    Timeline,
    caption_of,
    timeline,
    why_of,
)
from reconciler.domain.visible_text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["history_png"]

_FACTS_MAX = 150
_ROW_INCHES = 0.34
_WIDTH_INCHES = 12.0
_DOTS_PER_INCH = 120
_BAR_HEIGHT = 0.55
_NARROWEST = 0.006
_AGAIN_POINTS = 2.0
_CAPTION_LENGTH_MAX = 64
_INK, _GREY, _PALE = "#222222", "#5b6670", "#e4e4e4"
_NEVER_HELD = "revoked, or never held"


class _Look(NamedTuple):
    """The look of a bar, the same as in the HTML report."""

    edge: str
    fill: str
    line: Literal["-", "--", ":"] = "-"


_LOOKS: Mapping[str, _Look] = {
    "holds": _Look("#1f6f8b", "#1f6f8b"),
    "superseded": _Look("#75818c", "#75818c"),
    _NEVER_HELD: _Look("#b4443c", "white", "--"),
    "expired": _Look("#8f6400", "white"),
    "archived": _Look("#6b5fa8", "white"),
    "erased": _Look("#75818c", "white", ":"),
}
"""By the legend's names. Filled, hollow and dashed bars differ without colour, too."""


def history_png(contact: str, chains: Sequence[FactHistory], at: datetime | None) -> bytes:
    """The chains as a PNG; at most 150 facts, and how many more there are.

    Args:
        contact: the contact, for the title.
        chains: as ``ContactMemory.history`` gives them; one or more.
        at: the time as of which they are; None for now.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = timeline(chains, at or datetime.now(UTC), _FACTS_MAX)
    rows = sum(len(strand.bars) + 1 for strand in drawn.strands)
    size = (_WIDTH_INCHES, _ROW_INCHES * rows + 1.2)
    figure = Figure(figsize=size, dpi=_DOTS_PER_INCH, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _draw(axes, drawn)
    _add_legend(figure, drawn)
    more = f"; {drawn.left_out} more facts are left out" if drawn.left_out else ""
    bars = sum(len(strand.bars) for strand in drawn.strands)
    title = f"{visible(contact)}: {bars} {'fact' if bars == 1 else 'facts'} over time{more}"
    axes.set_title(title, loc="left", color=_INK, fontsize=12, parse_math=False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _draw(axes: Axes, drawn: Timeline) -> None:
    first, labels, titles = 0, {}, set()
    for strand in drawn.strands:
        labels[first] = strand.title.upper()
        titles.add(first)
        _draw_strand(axes, strand, first + 1)
        labels |= {
            first + 1 + bar.row: caption_of(bar.fact.text, _CAPTION_LENGTH_MAX)
            for bar in strand.bars
        }
        first += len(strand.bars) + 1
    axes.set_ylim(first - 0.5, -0.5)
    axes.set_xlim(0, 1.06)
    axes.set_yticks(list(labels), [visible(label) for label in labels.values()], fontsize=9)
    axes.set_xticks([t.place for t in drawn.ticks], [t.label for t in drawn.ticks], fontsize=9)
    axes.grid(axis="x", color=_PALE, zorder=0)
    axes.tick_params(length=0, colors=_INK)
    for place, label in zip(labels, axes.get_yticklabels(), strict=True):
        label.set_parse_math(False)
        label.set_color(_GREY if place in titles else _INK)
    for side in axes.spines.values():
        side.set_visible(False)


def _add_legend(figure: Figure, drawn: Timeline) -> None:
    """A legend beneath the picture, with the kinds of bars that it has."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    bars = [bar for strand in drawn.strands for bar in strand.bars]
    there = {_called(bar.fact) for bar in bars}
    handles: list[Patch | Line2D] = [
        Patch(facecolor=look.fill, edgecolor=look.edge, linestyle=look.line, label=called)
        for called, look in _LOOKS.items()
        if called in there
    ]
    if any(bar.again for bar in bars):
        mark = Line2D([], [], color=_INK, linestyle="", marker="|", label="said again")
        mark.set_markersize(12)
        mark.set_markeredgewidth(_AGAIN_POINTS)
        handles.append(mark)
    figure.legend(
        handles=handles, loc="outside lower left", ncols=len(_LOOKS), frameon=False, fontsize=9
    )


def _called(fact: Fact) -> str:
    """The legend's name for the state of a fact."""
    if fact.is_void or fact.state is FactState.REVOKED:
        return _NEVER_HELD
    return "holds" if fact.is_live else str(fact.state)


def _draw_strand(axes: Axes, strand: Strand, first: int) -> None:
    for bar in strand.bars:
        look = _LOOKS[_called(bar.fact)]
        axes.barh(
            first + bar.row,
            max(bar.right - bar.left, _NARROWEST),
            left=bar.left,
            height=_BAR_HEIGHT,
            facecolor=look.fill,
            edgecolor=look.edge,
            linestyle=look.line,
            zorder=2,
        )
        axes.vlines(
            bar.again,
            first + bar.row - _BAR_HEIGHT / 2,
            first + bar.row + _BAR_HEIGHT / 2,
            colors="white" if look.fill == look.edge else look.edge,
            linewidth=_AGAIN_POINTS,
            zorder=2.5,
        )
    for arrow in strand.arrows:
        _draw_arrow(axes, arrow, first)


def _draw_arrow(axes: Axes, arrow: Arrow, first: int) -> None:
    link = arrow.supersession
    side = 1 if arrow.old.row > arrow.new.row else -1
    tip = (arrow.tip, first + arrow.new.row + side * _BAR_HEIGHT / 2)
    tail = (arrow.old.right, first + arrow.old.row - side * _BAR_HEIGHT / 2)
    drawn = {"arrowstyle": "->", "color": _INK, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tip, xytext=tail, arrowprops=drawn, zorder=3)
    is_late = max(tip[0], tail[0]) > 0.85
    axes.annotate(
        why_of(link),
        xy=((tip[0] + tail[0]) / 2, (tip[1] + tail[1]) / 2),
        xytext=(-6 if is_late else 6, 0),
        textcoords="offset points",
        ha="right" if is_late else "left",
        va="center",
        fontsize=7.5,
        color=_GREY,
        zorder=3,
    )
