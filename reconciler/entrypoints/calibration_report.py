"""Shows a calibration and a replay to a person: tables. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reconciler.domain.records.decisions import Decision
from reconciler.domain.review.calibration import ALL_SOURCES, Rate
from reconciler.domain.review.replay import Replayed, ReplaySummary
from reconciler.entrypoints.rendering import (
    Line,
    id_column,
    number_column,
    short_column,
    table,
)
from reconciler.service.calibration import ERRORS, CalibrationReport, Measurement

_CHANGES_SHOWN_MAX = 50


def calibration_tables(report: CalibrationReport) -> Group:
    """The result of a calibration in 100 columns: errors of each rule, and the thresholds."""
    return Group(errors_table(report), "", profile_table(report))


def errors_table(report: CalibrationReport) -> Table:
    """The error rates of each rule, by error and source."""
    measured, names = report.measurements, (each.name for each in report.measurements)
    return table(
        "What goes wrong, in percent of the pairs (95 % interval)",
        short_column("error, by source"),
        *map(number_column, ("pairs", *names)),
        rows=(row for error in ERRORS for row in _error_rows(measured, *error)),
    )


def _error_rows(
    measured: Sequence[Measurement], error: str, attribute: str
) -> Iterator[Sequence[Line]]:
    yield [(error, "bold")]
    for row, scores in enumerate(measured[0].scores):
        rates: list[Rate] = [getattr(each.scores[row], attribute) for each in measured]
        if rates[0].of:
            source = (f"  {scores.source}", "bold" if scores.source == ALL_SOURCES else "")
            yield source, f"{rates[0].of:,}", *map(_share_with_interval, rates)


def profile_table(report: CalibrationReport) -> Table:
    """The thresholds that were chosen, and what each means."""
    profile = report.profile
    meanings = {
        "cosine_update_min": "at or above it a note supersedes, without a question",
        "cosine_cut": "at or above it a note supersedes where no arbiter answers",
        "cosine_add_max": "below it a note is new, without a question",
    }
    made = table(
        f"Profile {profile.name} for {profile.embedding_model}",
        "threshold",
        number_column("cosine"),
        "meaning",
        rows=((name, f"{getattr(profile, name):.2f}", told) for name, told in meanings.items()),
    )
    sources = ", ".join(sorted(report.goal.sources or {ALL_SOURCES}))
    made.caption = (
        f"False supersessions at most {report.goal.false_supersession_max:.1%} by {report.basis}; "
        f"chosen on {sources}."
    )
    return made


def replay_table(summary: ReplaySummary) -> Table:
    """The number of decisions by action then and now, unchanged ones included."""
    made = table(
        f"Replay of {summary.total:,} decisions; nothing was written",
        "then",
        "now",
        number_column("decisions"),
        rows=((*change, f"{count:,}") for change, count in sorted(summary.changes.items())),
    )
    made.caption = (
        f"{summary.same:,} the same, {summary.total - summary.same:,} otherwise; of all, an "
        f"arbiter would be asked about {summary.would_ask:,} that were settled without one."
    )
    return made


def replay_changes_table(changed: Sequence[Replayed]) -> Table:
    """The decisions that would be different, one a row, at most fifty."""
    made = table(
        f"Decided otherwise: {len(changed):,}",
        short_column("then, now"),
        id_column("note"),
        "why now",
        rows=(
            (
                [f"{change.before} → {change.after}", (_at(change.decision), "dim")],
                [change.decision.text, (change.decision.decision_id, "dim")],
                change.verdict.reason + "; would ask the arbiter" * change.would_ask,
            )
            for change in changed[:_CHANGES_SHOWN_MAX]
        ),
    )
    if len(changed) > _CHANGES_SHOWN_MAX:
        made.caption = f"and {len(changed) - _CHANGES_SHOWN_MAX:,} more"
    return made


def _at(decision: Decision) -> str:
    return "—" if decision.cosine is None else f"at {decision.cosine:.3f}"


def _share_with_interval(rate: Rate) -> Text:
    if rate.share is None:
        return Text("—", style="dim")
    low, high = (f"{100 * bound:.0f}" for bound in rate.interval)
    return Text.assemble(f"{100 * rate.share:.1f} ", (f"{low}–{high}", "dim"))
