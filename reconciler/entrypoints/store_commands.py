"""The commands about a whole store: set up, demo, copy, move, other model, unfinished erasures."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import reconciler
from reconciler import ops
from reconciler.domain.records.erasures import Backup, ExportReport, RestoreReport
from reconciler.domain.records.sessions import ReembedReport
from reconciler.entrypoints.options import (
    STANDARD_INPUT,
    AsJson,
    MaybeAgent,
    MaybeContactId,
    MaybeLimit,
    Overwrite,
    Tenant,
    bar,
    bound_to,
    print_json,
    progress,
    reading,
    show,
)
from reconciler.entrypoints.rendering import erasure_panel, lines, listed, record_panel, terminal
from reconciler.errors import InvalidRequestError
from reconciler.memory import Memory
from reconciler.serve.wording import field_lines

_STANDARD_OUTPUT = STANDARD_INPUT
_DAY_TO_ASK_ABOUT = 16
_LOOK_AROUND = """\
Look around in it:
  export RECONCILER_EMBEDDED_PATH={path}
  reconciler history --agent demo --contact dana
  reconciler history --agent demo --contact priya --at {day}
  reconciler decisions --agent demo --contact priya
  reconciler pending --agent demo
  reconciler disputes --agent demo
  reconciler report --agent demo --out demo.html"""


def init(accept_other_hash_key: bool = False, as_json: AsJson = False) -> None:
    """Set up the store, or upgrade an older one; does nothing if it is up to date.

    Options:
        accept_other_hash_key: use this host's hash key from now on, if the store's own is lost.
            Earlier erasures and proposals are then not recognised.
    """
    if accept_other_hash_key:
        from reconciler.bootstrap.chosen_models import accept_hash_key

        accept_hash_key(reconciler.load_settings())
    with Memory.open(migrate=True) as memory:
        made = {**asdict(memory.describe()), "embedding_model": ops.model_move(memory).model}
    show(as_json, made, "Ready: {engine} {version} at {location}".format_map)


def backup(file: Path, overwrite: Overwrite = False, as_json: AsJson = False) -> None:
    """Back up the embedded store and its hash key into one archive, and verify it.

    Options:
        file: the archive to write.
    """
    with Memory.open(must_exist=True) as memory:
        made = ops.backup(memory, file, overwrite=overwrite)
    show(as_json, made, partial(_backup_view, "Verified."))


def export(
    out: Annotated[Path, typer.Option()],
    agent: MaybeAgent = None,
    contact: str | None = None,
    tenant: Tenant = None,
    vectors: bool = False,
    keys: bool = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Export as JSON lines, which either engine restores.

    Options:
        out: the file to write; - for standard output.
        contact: only this contact; needs --agent.
        vectors: include vectors, so that restoring needs no model.
        keys: include the store's secret keys, to move a store; keep the file safe.
    """
    is_piped = out == _STANDARD_OUTPUT
    if is_piped and as_json:
        raise InvalidRequestError(
            "--out - writes the export itself to the output; leave out --json"
        )
    target = sys.stdout.buffer if is_piped else out
    with Memory.open(must_exist=True) as memory, bar("contacts", as_json or is_piped) as advance:
        report = bound_to(ops.export, memory, agent, contact, tenant)(
            target, vectors=vectors, keys=keys, overwrite=overwrite, on_progress=advance
        )
    if is_piped:
        terminal(stderr=True).print(_export_view(report))
        return
    show(as_json, report, _export_view)


def restore(file: Path, other_key: bool = False, as_json: AsJson = False) -> None:
    """Restore a backup into a new store, or an export into either engine; run again to resume.

    Options:
        file: the file that `backup` or `export` wrote.
        other_key: accept a store that has contacts and makes ids with another key; earlier
            idempotency keys are then not recognised.
    """
    with progress(file.name, as_json) as advance:
        done = ops.restore(file, accept_other_key=other_key, on_progress=advance)
    if isinstance(done, Backup):
        show(as_json, done, partial(_backup_view, "Restored and verified."))
    else:
        show(as_json, done, _restore_view)


_HASH_KEYS = {
    "file": "With the key of its hashes: keep the archive safe.",
    "setting": "Without the key of its hashes: RECONCILER_GATE__HASH_KEY must be the same.",
    "none": "No key of hashes yet.",
}


def _backup_view(done: str, made: Backup) -> Text:
    return lines(done, *field_lines(made), _HASH_KEYS[made.hash_key])


def _export_view(report: ExportReport) -> Text:
    return lines(
        "Exported.",
        *field_lines(report),
        "Damaged records cannot be read, and are exported without their words."
        if report.damaged_ids
        else None,
        "The file holds the store's secret keys: keep it safe." if report.with_keys else None,
    )


def _restore_view(report: RestoreReport) -> Text:
    remarks = []
    if not report.keeps_ids:
        remarks.append(
            "Ids are made with another key than before: earlier idempotency keys and turns are "
            "not recognised. To keep them, restore an export that was made with --keys into an "
            "empty store."
        )
    if report.keeps_hashes is False:
        remarks.append(
            "The key of the hashes is another one: a value that is removed from a text gets "
            "another token from now on, and a note that repeats forgotten words is not "
            "recognised. To keep both, restore an export that was made with --keys."
        )
    return lines("Restored.", *field_lines(report), *remarks)


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
    from reconciler.ops.store_moves import opened_reembedding, reembed_store

    if sum((status, cancel, model is not None)) != 1 or model == "":
        raise InvalidRequestError("give either --model, --status or --cancel")
    settings = reconciler.load_settings()
    with opened_reembedding(settings) as reembedding:
        if model is None:
            move = reembedding.cancel() if cancel else reembedding.status()
            show(as_json, move, lambda move: record_panel(move, "Embedding model"))
            return
        with progress("facts", as_json) as advance:
            report = reembed_store(
                reembedding,
                settings,
                model,
                profile=profile,
                uncalibrated=uncalibrated,
                batch_size=batch,
                on_progress=advance,
            )
    show(as_json, report, _report_text)


def _report_text(report: ReembedReport) -> str:
    before = f", and {report.resumed:,} before" if report.resumed else ""
    text = (
        f"{report.embedded:,} facts were embedded{before}. The store is bound to {report.model} "
        f"({report.dimension} numbers a vector).\nFrom now on set these, and restart every process "
        "that has it open:"
    )
    text += "".join(f"\n  {name}={value}" for name, value in report.settings.items())
    if not report.is_calibrated:
        text += (
            "\nThe thresholds of that profile were not measured on any model: calibrate with "
            "`reconciler calibrate`."
        )
    return text


def erasures(
    agent: MaybeAgent = None,
    contact: MaybeContactId = None,
    finish: bool = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the erasures, and how far each one got.

    Options:
        finish: finish the interrupted ones, in the whole store.
    """
    with reading(None if finish else agent, contact, tenant) as memory:
        if finish:
            with bar("records", as_json) as advance:
                finished = memory.finish_erasures(on_progress=advance)
        else:
            listing = bound_to(
                lambda whose, **asked: whose.erasures(**asked), memory, agent, contact, tenant
            )
            finished = listing(limit=limit)
    none = "No erasure is left to finish." if finish else "Nothing was forgotten."
    show(as_json, finished, lambda found: listed(erasure_panel, found, none))
    if finish and not all(erasure.is_finished and erasure.receipt.is_clean for erasure in finished):
        raise typer.Exit(1)


def demo(here: bool = False, as_json: AsJson = False) -> None:
    """Watch 48 notes about five contacts being gated and reconciled, with the real model.

    Options:
        here: use the configured store instead of a file of its own.
    """
    from reconciler.entrypoints.demo import first_day, run_demo
    from reconciler.resources import user_data_folder

    console = terminal(is_quiet=as_json)
    path = user_data_folder() / "demo.lbug"
    if not here:
        _remove_demo(path)
    decisions = run_demo(console, None if here else path)
    if not here:
        day = first_day() + timedelta(days=_DAY_TO_ASK_ABOUT)
        told = _LOOK_AROUND.format(path=path, day=day)
        console.print(told, soft_wrap=True)
    if as_json:
        print_json(decisions)


def _remove_demo(path: Path) -> None:
    """Remove the demo's store; it is opened first, so that a demo that runs elsewhere is kept."""
    from reconciler.bootstrap.chosen_models import open_graph

    if path.exists():
        open_graph(reconciler.load_settings(graph="embedded", embedded_path=path)).close()
    for file in (path, path.with_name(f"{path.name}.wal")):
        file.unlink(missing_ok=True)


COMMANDS = {
    "demo": demo,
    "init": init,
    "backup": backup,
    "export": export,
    "restore": restore,
    "reembed": reembed,
    "erasures": erasures,
}
"""The commands of this module, by name."""
