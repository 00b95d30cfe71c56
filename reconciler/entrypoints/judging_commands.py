"""The commands that check how well a memory works: doctor, gate, judge and thresholds.

The tables of a calibration are here too; they compute nothing.
"""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import reconciler
from reconciler.bound_memory import note_to_check
from reconciler.domain.records.kinds import SourceKind
from reconciler.entrypoints.options import AsJson, Tenant, add_commands, bar, of_whom, opened, show
from reconciler.entrypoints.rendering import as_it_is, assessment_view
from reconciler.errors import InvalidRequestError
from reconciler.memory import Memory
from reconciler.reading.kinds import Category
from reconciler.reading.visible_text import visible

if TYPE_CHECKING:
    from reconciler.ops.calibration import LabelledPair


def doctor(as_json: AsJson = False, judge: bool = False) -> None:
    """Check engine, schema, model and round trip; exit code 1 if a check fails.

    Options:
        judge: also ask the arbiter ten questions, which costs money.
    """
    from reconciler.entrypoints.doctor import check_judge, checks_view, checkup

    settings = reconciler.load_settings()
    checks = checkup(settings)
    if judge:
        checks.append(check_judge(settings))
    show(as_json, checks, checks_view)
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
    from reconciler.bootstrap.chosen_models import build_judge

    candidate = note_to_check(
        text, agent_id=agent, source_kind=source_kind, category=category, topic=topic
    )
    assessment = build_judge(reconciler.load_settings())(candidate).assessment
    show(as_json, assessment, assessment_view)


def calibrate_thresholds(
    pairs: Annotated[Path | None, typer.Argument()] = None,
    from_decisions: bool = False,
    agent: str | None = None,
    contact: str | None = None,
    tenant: Tenant = None,
    bound: float = 0.01,
    name: str = "calibrated",
    overwrite: bool = False,
    as_json: AsJson = False,
) -> None:
    """Measure the model on labelled pairs; write a profile of thresholds.

    A line of PAIRS has "fact", "note" and "label" (same, update or distinct).

    Options:
        pairs: labelled pairs, JSON lines.
        from_decisions: take labels from the arbiter's answers and from corrections.
        agent: with --from-decisions: the agent whose decisions to use.
        contact: only decisions about this contact.
        bound: the share of distinct pairs that may be superseded.
        name: the profile's name.
        overwrite: replace it if it exists.
    """
    from reconciler.bootstrap.chosen_models import build_embedder
    from reconciler.ops.calibration import (
        calibrate,
        check_profile_name,
        measure_pairs,
        profile_file,
    )
    from reconciler.service.embedding import embed

    if (pairs is None) is not from_decisions:
        raise InvalidRequestError("give either a file of labelled pairs or --from-decisions")
    check_profile_name(name)
    made = Path(f"{name}.toml")
    if made.exists() and not overwrite:  # at once: the measuring takes minutes
        raise InvalidRequestError(f"{made} exists; give --overwrite or another --name")
    named = visible(pairs.name) if pairs else "recorded decisions"
    labelled = _read_pairs(pairs) if pairs else _pairs_from_decisions(agent, contact, tenant)
    with (
        closing(build_embedder(reconciler.load_settings())) as embedder,
        bar(named, as_json, len(labelled)) as advance,
    ):
        measured = measure_pairs(labelled, partial(embed, embedder), advance)
        profile = calibrate(measured, embedding_model=embedder.model_id, bound=bound, name=name)
    text = profile_file(profile, measured_on=named, pair_count=len(measured), bound=bound)
    try:  # not private: a service of another user reads it
        draft = made.with_name(f".{made.name}.{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        draft.replace(made)
    except OSError as error:
        raise InvalidRequestError(f"{made} cannot be written: {error.strerror}") from error
    how = f"Use it with RECONCILER_RECONCILE__PROFILE={made.resolve()}"
    show(
        as_json,
        {"profile": profile, "bound": bound, "pairs": len(measured), "files": [str(made)]},
        lambda _: as_it_is(f"{text}\nWritten: {made}\n{how}"),
    )


def _read_pairs(file: Path) -> list[LabelledPair]:
    from reconciler.ops.calibration import read_pairs
    from reconciler.service.json_lines import read_lines

    with opened(file) as stream:
        return read_pairs(read_lines(stream))


def _pairs_from_decisions(
    agent: str | None, contact: str | None, tenant: str | None
) -> list[LabelledPair]:
    from reconciler.ops.calibration import pairs_from_decisions

    if agent is None:
        raise InvalidRequestError("--from-decisions needs --agent")
    with Memory.open(must_exist=True) as memory:
        return pairs_from_decisions(of_whom(memory, agent, contact, tenant).all_decisions())


policy_app = typer.Typer(no_args_is_help=True, help="Try the write gate's policy.")
add_commands(policy_app, {"check": policy_check})

COMMANDS = {"doctor": doctor, "policy": policy_app, "calibrate": calibrate_thresholds}
"""The commands of this module, by name."""
