"""Shows a calibration and a replay to a person: tables. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from reconciler.domain.review.calibration import ALL_SOURCES, DecisionScores, Rate
from reconciler.domain.review.replay import Replayed, ReplaySummary
from reconciler.entrypoints.rendering import (
    id_column,
    lines,
    number_column,
    short_column,
    shown,
    table,
)
from reconciler.service.calibration import ERRORS, CalibrationReport, Measurement

_CHANGES_SHOWN_MAX = 50


def calibration_tables(report: CalibrationReport) -> Group:
    """The result of a calibration in 100 columns: errors of each rule, and the thresholds."""
    return Group(errors_table(report), "", profile_table(report))


def errors_table(report: CalibrationReport) -> Table:
    """The error rates of each rule, by error and source."""
    shown, names = report.measurements, (each.name for each in report.measurements)
    shown_table = table(
        "What goes wrong, in percent of the pairs (95 % interval)",
        short_column("error, by source"),
        *map(number_column, ("pairs", *names)),
    )
    for error, attribute in ERRORS:
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


def profile_table(report: CalibrationReport) -> Table:
    """The thresholds that were chosen, and what each means."""
    profile = report.profile
    title = f"Profile {profile.name} for {profile.embedding_model}"
    shown_table = table(title, "threshold", number_column("cosine"), Column("meaning"))
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
    title = f"Replay of {summary.total:,} decisions; nothing was written"
    shown_table = table(title, "then", "now", number_column("decisions"))
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


def replay_changes_table(changed: Sequence[Replayed]) -> Table:
    """The decisions that would be different, one a row, at most fifty."""
    title = f"Decided otherwise: {len(changed):,}"
    shown_table = table(title, short_column("then, now"), id_column("note"), "why now")
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
