"""The commands that move a memory to another embedding model, and that ask the judge again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from reconciler.domain.records.model_moves import ModelMove, MoveState, ReembedReport
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    MaybeContactId,
    Tenant,
    of_whom,
    or_by_its_holder,
    progress,
    show,
)
from reconciler.entrypoints.rendering import shown
from reconciler.errors import InvalidRequestError, ReconcilerError
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.service.writing.rejudging import Rejudged


def reembed(
    model: str | None = None,
    profile: str | None = None,
    uncalibrated: bool = False,
    batch: int = 256,
    status: bool = False,
    cancel: bool = False,
    as_json: AsJson = False,
) -> None:
    """Move the store to another model and embed all facts again; run again to resume.

    Options:
        model: the new model, as RECONCILER_EMBEDDER__MODEL would name it.
        profile: a profile calibrated on the new model: a name or a file.
        uncalibrated: accept thresholds that were not measured on any model.
        batch: how many facts to embed at once.
        status: only show the progress of a move; change nothing.
        cancel: cancel a move and keep the present model.
    """
    from reconciler import bootstrap
    from reconciler.settings import load_settings

    if sum((status, cancel, model is not None)) != 1 or model == "":
        raise InvalidRequestError("give either --model, --status or --cancel")
    settings = load_settings()
    with or_by_its_holder("reembed"), bootstrap.opened_reembedding(settings) as reembedding:
        if model is None:
            move = reembedding.cancel() if cancel else reembedding.status()
            show(as_json, move, lambda: _move_text(move))
            return
        with progress("facts", as_json) as advance:
            report = bootstrap.reembed(
                reembedding,
                settings,
                model,
                profile=profile,
                uncalibrated=uncalibrated,
                batch_size=batch,
                on_progress=advance,
            )
    show(as_json, report, lambda: _report_text(report))


def _move_text(move: ModelMove) -> str:
    text = f"The store is bound to {move.model} ({move.dimension} numbers a vector)."
    if move.state is MoveState.EMBEDDING:
        text += (
            f"\nIt moves to {move.next_model}: {move.moved:,} of {move.facts:,} facts have its "
            "vector. `reconciler reembed --model` with that model goes on."
        )
    if move.state is MoveState.SETTLING:
        text += (
            "\nIt has moved there, and some vectors still stand beside the old ones. `reconciler "
            "reembed --model` with that model puts them in their place."
        )
    return text


def _report_text(report: ReembedReport) -> str:
    before = f", and {report.resumed:,} before" if report.resumed else ""
    text = (
        f"{report.embedded:,} facts were embedded{before}. The store is bound to {report.model} "
        f"({report.dimension} numbers a vector).\nSet from here on, and start every process again "
        "that has it open:"
    )
    text += "".join(f"\n  {name}={value}" for name, value in report.settings.items())
    if not report.is_calibrated:
        text += (
            "\nThe thresholds of that profile were measured on no model: calibrate with "
            "`reconciler calibrate`."
        )
    return text


def rejudge(
    agent: Agent,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Ask the judge about the decisions that it did not answer in time, and amend them."""
    answers: list[Rejudged] = []
    try:
        with Memory.open() as memory:
            asked = of_whom(memory, agent, contact, tenant)
            with progress("decisions", as_json) as advance:
                for rejudged in asked.rejudge():
                    answers.append(rejudged)
                    advance(len(answers), None)
    except (KeyboardInterrupt, ReconcilerError):
        if answers:  # they are kept, even if the command was interrupted
            _show(as_json, answers)
        raise
    _show(as_json, answers)


def _show(as_json: bool, answers: Iterable[Rejudged]) -> None:
    show(as_json, answers, lambda: Group(*_view(answers)))


def _view(answers: Iterable[Rejudged]) -> Iterable[Text]:
    counts: Counter[str] = Counter()
    for rejudged in answers:
        counts[rejudged.became] += 1
        yield shown(f"{rejudged.became:9} {rejudged.decision.text}  ({rejudged.why})")
    told = ", ".join(f"{count} {became}" for became, count in counts.items())
    yield Text(told or "Everything that wanted a judge was judged.")


COMMANDS = {"reembed": reembed, "rejudge": rejudge}
"""The commands of this module, by name."""
