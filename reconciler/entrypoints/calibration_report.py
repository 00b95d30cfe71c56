"""Shows a calibration and a replay to a person: tables, and one picture. Computes nothing.

matplotlib is an extra and is imported only to draw a picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from reconciler.domain.records.profile import Profile
from reconciler.domain.review.calibration import (
    ALL_SOURCES,
    CurvePoint,
    DecisionScores,
    PairLabel,
    Rate,
)
from reconciler.domain.review.replay import Replayed, ReplaySummary
from reconciler.entrypoints.rendering import id_column, lines, shown, table
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.service.calibration import CalibrationReport, Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "actions_table",
    "calibration_tables",
    "check_can_draw",
    "draw_curves",
    "errors_table",
    "profile_table",
    "replay_changes_table",
    "replay_table",
]

_CHANGES_SHOWN_MAX = 50

_ACTIONS = (
    ("UPDATE or SKIP", "settle_precision", "settle_recall"),
    ("ADD", "add_precision", "add_recall"),
    ("conflict mark", "conflict_precision", "conflict_recall"),
)
_ERRORS = (
    ("distinct: superseded", "false_supersessions"),
    ("update: two silent live facts", "silent_updates"),
    ("same: stored twice", "same_stored_twice"),
    ("distinct: marked a conflict", "distinct_marked"),
)


def calibration_tables(report: CalibrationReport) -> Group:
    """The result of a calibration in 100 columns: errors of each rule, the profile's actions."""
    return Group(
        errors_table(report),
        "",
        actions_table(report.alone[-1]),
        "",
        profile_table(report),
    )


def errors_table(report: CalibrationReport) -> Table:
    """The error rates of each rule, by error and source; the arbiter's at its best."""
    shown = (*report.alone, report.arbitrated[-1])
    shown_table = table("What goes wrong, in percent of the pairs (95 % interval)")
    shown_table.add_column("error, by source", no_wrap=True)
    shown_table.add_column("pairs", justify="right")
    for measurement in shown:
        name = (
            f"{measurement.name}, with an arbiter"
            if measurement.is_arbitrated
            else measurement.name
        )
        shown_table.add_column(name, justify="right")
    for error, attribute in _ERRORS:
        shown_table.add_row(Text(error, style="bold"))
        for row in _error_rows(shown, attribute):
            shown_table.add_row(*row)
        shown_table.add_section()
    return shown_table


def _error_rows(shown: Sequence[Measurement], attribute: str) -> Iterator[tuple[str | Text, ...]]:
    for row, scores in enumerate(shown[0].scores):
        rates: list[Rate] = [getattr(measurement.scores[row], attribute) for measurement in shown]
        if rates[0].of:
            cells = [_share_with_interval(rate) for rate in rates]
            yield (Text("  ").append(_source(scores)), f"{rates[0].of:,}", *cells)


def actions_table(measurement: Measurement) -> Table:
    """Precision and recall of each action by source, with Wilson's 95 % intervals."""
    helped = ", with an arbiter" if measurement.is_arbitrated else ", without an arbiter"
    shown_table = table(f"What profile {measurement.name} does{helped}")
    shown_table.add_column("source")
    shown_table.add_column("action")
    for name in ("done", "right, % (precision)", "wanted", "of it done, % (recall)"):
        shown_table.add_column(name, justify="right")
    for scores in measurement.scores:
        for action, precision_of, recall_of in _ACTIONS:
            precision: Rate = getattr(scores, precision_of)
            recall: Rate = getattr(scores, recall_of)
            shown_table.add_row(
                _source(scores),
                action,
                f"{precision.of:,}",
                _share_with_interval(precision),
                f"{recall.of:,}",
                _share_with_interval(recall),
            )
        shown_table.add_section()
    return shown_table


def profile_table(report: CalibrationReport) -> Table:
    """The thresholds that were chosen, and what each means."""
    profile = report.profile
    shown_table = table(f"Profile {profile.name} for {profile.embedding_model}")
    shown_table.add_column("threshold")
    shown_table.add_column("cosine", justify="right")
    shown_table.add_column("meaning")
    for name, meaning in (
        ("cosine_update_min", "at or above it a note supersedes, without a question"),
        ("cosine_cut", "at or above it a note supersedes where no arbiter answers"),
        ("cosine_add_max", "below it a note is new, without a question"),
    ):
        shown_table.add_row(name, f"{getattr(profile, name):.2f}", meaning)
    sources = ", ".join(sorted(report.goal.sources or {ALL_SOURCES}))
    shown_table.caption = (
        f"False supersessions at most {report.goal.false_supersession_max:.1%} by {report.basis}; "
        f"chosen on {sources}."
    )
    shown_table.caption_justify = "left"
    return shown_table


def replay_table(summary: ReplaySummary) -> Table:
    """The number of decisions by action then and now, unchanged ones included."""
    shown_table = table(f"Replay of {summary.total:,} decisions; nothing was written")
    shown_table.add_column("then")
    shown_table.add_column("now")
    shown_table.add_column("decisions", justify="right")
    for (before, after), count in sorted(summary.changes.items()):
        style = "dim" if before == after else ""
        shown_table.add_row(before, after, f"{count:,}", style=style)
    others = summary.total - summary.same
    shown_table.caption = (
        f"{summary.same:,} the same, {others:,} otherwise; of all, an arbiter would be asked about "
        f"{summary.would_ask:,} that were settled without one."
    )
    shown_table.caption_justify = "left"
    return shown_table


def replay_changes_table(replayed: Sequence[Replayed]) -> Table:
    """The decisions that would be different, one a row, at most fifty."""
    changed = [change for change in replayed if not change.is_same or change.would_ask]
    shown_table = table(f"Decided otherwise: {len(changed):,}")
    shown_table.add_column("then, now", no_wrap=True)
    id_column(shown_table, "note")
    shown_table.add_column("why now", overflow="fold")
    for change in changed[:_CHANGES_SHOWN_MAX]:
        cosine = change.decision.cosine
        ask = "; would ask the arbiter" if change.would_ask else ""
        shown_table.add_row(
            lines(
                Text(f"{change.before} → {change.after}"),
                Text("—" if cosine is None else f"at {cosine:.3f}", "dim"),
            ),
            lines(shown(change.decision.text), shown(change.decision.decision_id, "dim")),
            shown(change.verdict.reason + ask),
        )
    if len(changed) > _CHANGES_SHOWN_MAX:
        shown_table.caption = f"and {len(changed) - _CHANGES_SHOWN_MAX:,} more"
    return shown_table


def _source(scores: DecisionScores) -> Text:
    return shown(scores.source, style="bold" if scores.source == ALL_SOURCES else "")


def _share_with_interval(rate: Rate) -> Text:
    if rate.share is None:
        return Text("—", style="dim")
    low, high = (f"{100 * bound:.0f}" for bound in rate.interval)
    return Text.assemble(f"{100 * rate.share:.1f} ", (f"{low}–{high}", "dim"))


# The picture. Colours: Okabe and Ito's, which nearly every eye tells apart.
_COLOURS = {
    PairLabel.SAME: "#0072B2",
    PairLabel.UPDATE: "#E69F00",
    PairLabel.DISTINCT: "#CC79A7",
}
_MEANINGS = {
    PairLabel.SAME: "says it again",
    PairLabel.UPDATE: "cannot both hold",
    PairLabel.DISTINCT: "both hold",
}
_WRONG, _CAUGHT, _BAND = "#D55E00", "#009E73", "#56B4E9"
_INK, _GREY, _PALE = "#222222", "#6b6b6b", "#e4e4e4"
_DASHED = (0, (4, 2))
_SIZE_INCHES = (12.0, 9.0)
_DOTS_PER_INCH = 150
_BINS = 60
_TEXT_POINTS = 13
_CLOSE = 0.15
"""The names of thresholds nearer than this, as a share of the axis, would overlap."""


def check_can_draw() -> None:
    """Check that a picture can be drawn, before the work that it shows.

    Raises:
        ConfigurationError: matplotlib is not installed.
    """
    try:
        import matplotlib.backends.backend_agg  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            "a picture needs matplotlib: pip install 'matplotlib>=3.10,<4'"
        ) from error


def draw_curves(report: CalibrationReport, path: Path) -> None:
    """Draw how the labels' cosines overlap, and what each threshold would cost, as a PNG.

    Args:
        report: the calibration.
        path: the file; an existing one is replaced.

    Raises:
        ConfigurationError: matplotlib is not installed.
        InvalidRequestError: the file cannot be written.
    """
    check_can_draw()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE_INCHES, dpi=_DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    _compose(figure, report)
    try:
        figure.savefig(path, format="png")
    except OSError as error:
        raise InvalidRequestError(f"{path} cannot be written: {error.strerror}") from error


def _compose(figure: Figure, report: CalibrationReport) -> None:
    rows = figure.add_gridspec(
        nrows=5,
        ncols=1,
        height_ratios=(1, 1, 1, 0.25, 3.6),
        hspace=0.12,
        left=0.15,
        right=0.88,
        top=0.83,
        bottom=0.085,
    )
    ridges = [figure.add_subplot(rows[row]) for row in range(len(PairLabel))]
    curves = figure.add_subplot(rows[len(PairLabel) + 1])
    lowest = min(report.curve_guarded[0].threshold, 0.9)
    for axes in (*ridges, curves):
        axes.set_xlim(lowest, 1.0)
        _strip(axes)
        _mark_thresholds(axes, report.profile)
    for axes, label in zip(ridges, PairLabel, strict=True):
        _draw_ridge(axes, report, label)
    _name_thresholds(ridges[0], report.profile)
    _draw_lines(curves, report)
    _draw_key(curves)
    _draw_title(figure, report)


def _draw_ridge(axes: Axes, report: CalibrationReport, label: PairLabel) -> None:
    """A histogram of the cosines of one label; every pair counts once."""
    cosines = [pair.cosine for pair in report.pairs if pair.pair.label is label]
    heights, edges = np.histogram(cosines, bins=_BINS, range=axes.get_xlim())
    axes.stairs(heights, edges, fill=True, color=_COLOURS[label], alpha=0.9)
    axes.set_ylim(0, 1.15 * max(heights.max(), 1))
    axes.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    _name_ridge(axes, label, len(cosines))


def _name_ridge(axes: Axes, label: PairLabel, count: int) -> None:
    axes.text(
        -0.015,
        0.5,
        label,
        transform=axes.transAxes,
        ha="right",
        fontsize=16,
        weight="bold",
        color=_INK,
    )
    axes.text(
        -0.015,
        0.42,
        f"{_MEANINGS[label]}\n{count:,} pairs",
        transform=axes.transAxes,
        ha="right",
        va="top",
        fontsize=12,
        color=_GREY,
    )


def _draw_lines(axes: Axes, report: CalibrationReport) -> None:
    """Settled and wrongly superseded pairs over the threshold, for all sources."""
    thresholds = [point.threshold for point in report.curve_guarded]
    for name, colour in (("settled", _CAUGHT), ("false_supersessions", _WRONG)):
        bare, guarded = _percents(report.curve_bare, name), _percents(report.curve_guarded, name)
        axes.plot(thresholds, bare, color=colour, linewidth=1.6, linestyle=_DASHED)
        axes.plot(thresholds, guarded, color=colour, linewidth=3.2)
    axes.set_ylim(0, 104)
    axes.set_yticks(range(0, 101, 25), [f"{percent} %" for percent in range(0, 101, 25)])
    axes.grid(axis="y", color=_PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=_TEXT_POINTS, colors=_INK, length=0)
    axes.set_xlabel(
        "cosine of note and fact, from which on a note supersedes",
        fontsize=_TEXT_POINTS,
        color=_INK,
        labelpad=8,
    )
    _draw_at_cut(axes, report)


def _draw_at_cut(axes: Axes, report: CalibrationReport) -> None:
    """The points at which the profile's cut meets the two lines, with figures."""
    overall, cut = report.alone[-1].overall, report.profile.cosine_cut
    for rate, colour, points_up in (
        (overall.settle_recall, _CAUGHT, -22),
        (overall.false_supersessions, _WRONG, 9),
    ):
        height = 100 * (rate.share or 0.0)
        axes.plot([cut], [height], "o", color=colour, markersize=10, markeredgecolor="white")
        axes.annotate(
            _percent(rate),
            (cut, height),
            xytext=(-9, points_up),
            textcoords="offset points",
            ha="right",
            fontsize=15,
            weight="bold",
            color=colour,
        )


def _percents(points: Sequence[CurvePoint], name: str) -> list[float]:
    rates: Iterator[Rate] = (getattr(point, name) for point in points)
    return [100 * (rate.share or 0.0) for rate in rates]


def _draw_key(axes: Axes) -> None:
    from matplotlib.lines import Line2D

    lines = {
        "same, update: one live fact is left": Line2D([], [], color=_CAUGHT, linewidth=3.2),
        "distinct: a true fact is lost": Line2D([], [], color=_WRONG, linewidth=3.2),
        "without the guard": Line2D([], [], color=_INK, linewidth=1.6, linestyle=_DASHED),
    }
    axes.legend(
        list(lines.values()),
        list(lines),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=len(lines),
        fontsize=_TEXT_POINTS,
        frameon=False,
        labelcolor=_INK,
    )


def _strip(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#b5b5b5")


def _mark_thresholds(axes: Axes, profile: Profile) -> None:
    band = (profile.cosine_add_max, profile.cosine_update_min)
    axes.axvspan(*band, color=_BAND, alpha=0.12, linewidth=0)
    for cosine in band:
        axes.axvline(cosine, color=_INK, linewidth=1.2)
    axes.axvline(profile.cosine_cut, color=_INK, linewidth=1.2, linestyle=(0, (1.5, 2)))


def _name_thresholds(axes: Axes, profile: Profile) -> None:
    """Name the thresholds above the top panel; the cut moves up if it would overlap a neighbour."""
    lowest, highest = axes.get_xlim()
    is_close = profile.cosine_cut - profile.cosine_add_max < _CLOSE * (highest - lowest)
    for name, cosine, side, points_up in (
        ("add below", profile.cosine_add_max, "right", 6),
        ("cut", profile.cosine_cut, "right", 24 if is_close else 6),
        ("update from", profile.cosine_update_min, "left", 6),
    ):
        axes.annotate(
            f"{name} {cosine:.2f}",
            (cosine, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-5 if side == "right" else 5, points_up),
            textcoords="offset points",
            ha=side,
            fontsize=_TEXT_POINTS,
            color=_INK,
            annotation_clip=False,
        )
    axes.text(
        (profile.cosine_add_max + profile.cosine_update_min) / 2,
        0.93 * axes.get_ylim()[1],
        "band: an arbiter, else cut and guard",
        ha="center",
        va="top",
        fontsize=11.5,
        color=_GREY,
    )


def _draw_title(figure: Figure, report: CalibrationReport) -> None:
    before = report.alone[0].overall.false_supersessions
    after = report.alone[-1].overall.false_supersessions
    figure.text(
        0.025,
        0.945,
        f"{_percent(after)} of the distinct pairs lose a true fact, instead of {_percent(before)}",
        fontsize=22,
        weight="bold",
        color=_INK,
    )
    figure.text(
        0.025,
        0.905,
        f"Profile {report.profile.name} with the guard, against the seed's thresholds without it. "
        f"{len(report.pairs):,} labelled pairs, {report.profile.embedding_model}.",
        fontsize=12.5,
        color=_GREY,
    )


def _percent(rate: Rate) -> str:
    return f"{100 * (rate.share or 0.0):.1f} %"
