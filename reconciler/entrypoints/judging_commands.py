"""The commands that check how well a memory works: doctor, gate, judge and thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.text import Text

from reconciler.agent_memory import note_to_check
from reconciler.domain.records.kinds import Category, SourceKind
from reconciler.domain.visible_text import visible
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    MaybeContactId,
    Tenant,
    add_commands,
    bar,
    existing,
    of_whom,
    opened,
    progress,
    show,
)
from reconciler.entrypoints.rendering import as_it_is, assessment_view, lines
from reconciler.errors import InvalidRequestError, ReconcilerError
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.domain.review.calibration import MeasuredPair
    from reconciler.service.writing.rejudging import Rejudged


def doctor(
    as_json: AsJson = False,
    judge: bool = False,
) -> None:
    """Check engine, schema, model and round trip; exit code 1 if a check fails.

    Options:
        judge: also ask the arbiter ten questions, which costs money.
    """
    from reconciler.entrypoints.doctor import checks_table, checkup
    from reconciler.settings import load_settings

    checks = checkup(load_settings(), asks_judge=judge)
    show(as_json, checks, checks_table)
    if not all(check.is_ok for check in checks):
        raise typer.Exit(1)


def policy_check(
    text: str,
    agent: str = "any",
    source_kind: SourceKind = SourceKind.USER_EXPLICIT,
    category: Category | None = None,
    topic: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Show what each check of the gate finds in a note; no store is read or written.

    Options:
        text: the note, as it would be added.
        agent: the agent, which decides the domain.
        source_kind: the kind of source, which decides how far it is trusted.
        category: the category; default: read from the text.
        topic: the topic, for example work.
    """
    from reconciler.bootstrap import build_judge
    from reconciler.settings import load_settings

    candidate = note_to_check(
        text, agent_id=agent, source_kind=source_kind, category=category, topic=topic
    )
    assessment = build_judge(load_settings())(candidate).assessment
    show(as_json, assessment, assessment_view)


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
            show(as_json, answers, _rejudged_view)
        raise
    show(as_json, answers, _rejudged_view)


def _rejudged_view(answers: Sequence[Rejudged]) -> Text:
    counts = Counter(rejudged.became for rejudged in answers)
    told = ", ".join(f"{count} {became}" for became, count in counts.items())
    return lines(
        *(f"{each.became:9} {each.decision.text}  ({each.why})" for each in answers),
        told or "Everything that wanted a judge was judged.",
    )


def calibrate_thresholds(
    pairs: Annotated[Path | None, typer.Argument(callback=existing)] = None,
    from_decisions: bool = False,
    agent: str | None = None,
    contact: str | None = None,
    tenant: Tenant = None,
    bound: float = 0.01,
    source: list[str] | None = None,
    name: str = "calibrated",
    overwrite: bool = False,
    as_json: AsJson = False,
) -> None:
    """Measure the model on labelled pairs; write a profile of thresholds.

    A line of PAIRS has "fact", "note" and "label" (same, update or distinct), and may have
    "source", "id", "fact_slot" and "note_slot".

    Options:
        pairs: labelled pairs, JSON lines.
        from_decisions: take labels from the arbiter's answers and from corrections.
        agent: with --from-decisions: the agent whose decisions to use.
        contact: only decisions about this contact.
        bound: the share of distinct pairs that may be superseded.
        source: choose thresholds from this source only, and report on all; repeat for several.
        name: the profile's name.
        overwrite: replace it if it exists.
    """
    from reconciler.domain.review.calibration import CalibrationGoal
    from reconciler.entrypoints.calibration_report import calibration_tables
    from reconciler.service.calibration import calibrate, provenance_of, write_profile

    if (pairs is None) is not from_decisions:
        raise InvalidRequestError("give either a file of labelled pairs or --from-decisions")
    goal = CalibrationGoal(
        false_supersession_max=bound, sources=frozenset(source) if source else None
    )
    made = _profile_file(name, overwrite)
    if pairs is None:
        measured, model_id = _measured_from_decisions(agent, contact, tenant)
    else:
        measured, model_id = _measured_from_file(pairs, as_json)
    report = calibrate(measured, embedding_model=model_id, goal=goal, name=name)
    measured_on = visible(pairs.name) if pairs else "recorded decisions"
    write_profile(report.profile, made, provenance_of(report, measured_on), overwrite=overwrite)
    show(
        as_json,
        report.to_dict() | {"files": [str(made)]},
        lambda _: Group(
            calibration_tables(report),
            f"\nWritten: {made}",
            as_it_is(f"Use it with RECONCILER_RECONCILE__PROFILE={made.resolve()}"),
        ),
    )


def _profile_file(name: str, overwrite: bool) -> Path:
    """The profile's file in the current folder; one that may not be written is an error at once."""
    from reconciler.service.calibration import check_profile_name

    check_profile_name(name)
    made = Path(f"{name}.toml")
    try:
        is_there = made.exists()
    except OSError as error:
        raise InvalidRequestError(f"{made} cannot be written: {error.strerror}") from error
    if is_there and not overwrite:
        raise InvalidRequestError(f"{made} exists; give --overwrite or another --name")
    return made


def _measured_from_file(file: Path, is_quiet: bool) -> tuple[list[MeasuredPair], str]:
    from reconciler.bootstrap import build_embedder
    from reconciler.config_files import load_attribute_book
    from reconciler.service.calibration import measure_pairs, read_pairs
    from reconciler.service.embedding import embed
    from reconciler.service.json_lines import read_lines
    from reconciler.settings import load_settings

    settings = load_settings()
    attributes = load_attribute_book(settings.reconcile.attributes_file)
    with opened(file) as stream:
        pairs = read_pairs(read_lines(stream), attributes)
    with (
        closing(build_embedder(settings)) as embedder,
        bar(file.name, len(pairs), is_quiet) as advance,
    ):
        measured = measure_pairs(pairs, lambda texts: embed(embedder, texts), advance)
        return measured, embedder.model_id


def _measured_from_decisions(
    agent: str | None, contact: str | None, tenant: str | None
) -> tuple[list[MeasuredPair], str]:
    from reconciler.service.calibration import pairs_from_decisions

    if agent is None:
        raise InvalidRequestError("--from-decisions needs --agent")
    with Memory.open(must_exist=True) as memory:
        decisions = of_whom(memory, agent, contact, tenant).all_decisions()
        model = memory.model_move().model
        return pairs_from_decisions(decisions, model), model


policy_app = typer.Typer(no_args_is_help=True, help="Try the write gate's policy.")
add_commands(policy_app, {"check": policy_check})

COMMANDS = {
    "doctor": doctor,
    "policy": policy_app,
    "rejudge": rejudge,
    "calibrate": calibrate_thresholds,
}
"""The commands of this module, by name."""
