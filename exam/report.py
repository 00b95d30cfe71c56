"""The report: a table in words, and one picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from exam.marking import MARKS
from exam.sitting import Marked, System
from exam.stories import KINDS

__all__ = ["draw", "table"]

Results = dict[str, list[Marked]]


def table(systems: Sequence[System], results: Results) -> Iterable[str]:
    """Lines of Markdown: by kind and system, how many of how many asks are right."""
    chosen = [each for each in systems if results.get(each.key)]
    yield "| | " + " | ".join(each.label for each in chosen) + " |"
    yield "|---" * (len(chosen) + 1) + "|"
    for kind, means in KINDS.items():
        row = [_share(results[each.key], kind) for each in chosen]
        if any(row):
            yield f"| {kind}: {means} | " + " | ".join(row) + " |"
    for name, means in MARKS.items():
        counted = [Counter(each.mark for each in results[s.key])[name] for s in chosen]
        yield f"| *{name}*: {means} | " + " | ".join(map(str, counted)) + " |"


def _share(marked: list[Marked], kind: str) -> str:
    own = [each for each in marked if each.kind == kind]
    return f"{sum(each.mark == 'right' for each in own)} of {len(own)}" if own else ""


def draw(systems: Sequence[System], results: Results, path: Path) -> None:
    """The shares of right asks by kind and system, in colours, as a picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    chosen = [each for each in systems if results.get(each.key)]
    kinds = [kind for kind in KINDS if any(_share(results[each.key], kind) for each in chosen)]
    rights = [
        [
            sum(m.mark == "right" for m in results[s.key] if m.kind == kind)
            / max(1, sum(m.kind == kind for m in results[s.key]))
            for s in chosen
        ]
        for kind in kinds
    ]
    figure, axes = plt.subplots(figsize=(1.4 * len(chosen) + 2.4, 0.5 * len(kinds) + 1.6))
    axes.imshow(rights, vmin=0, vmax=1, cmap="RdYlGn", aspect="auto", alpha=0.75)
    axes.set_xticks(range(len(chosen)), [each.label.replace(", ", ",\n") for each in chosen])
    axes.set_yticks(range(len(kinds)), kinds)
    axes.tick_params(length=0, labelsize=9)
    axes.xaxis.tick_top()
    for line, kind in enumerate(kinds):
        for column, each in enumerate(chosen):
            share = _share(results[each.key], kind)
            axes.text(column, line, share, ha="center", va="center", fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
