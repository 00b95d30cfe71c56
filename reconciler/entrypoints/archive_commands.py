"""Commands that copy a memory and move it: backup, export and restore."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from reconciler.domain.records.archives import Backup, ExportReport, RestoreReport
from reconciler.entrypoints.options import (
    STANDARD_INPUT,
    AsJson,
    MaybeAgent,
    Overwrite,
    Tenant,
    bar,
    call_of,
    existing,
    or_by_its_holder,
    progress,
    show,
)
from reconciler.entrypoints.rendering import counted, terminal
from reconciler.errors import InvalidRequestError
from reconciler.memory import Memory

_STANDARD_OUTPUT = STANDARD_INPUT
_NAMED_MAX = 5


def backup(
    file: Path,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Back up the embedded store and its hash key into one archive, and verify it.

    Options:
        file: the archive to write.
    """
    with or_by_its_holder("backup"), Memory.open(must_exist=True) as memory:
        made = memory.backup(file, overwrite=overwrite)
    show(as_json, made, lambda: _backup_text(made))


def export(
    out: Annotated[Path, typer.Option()],
    agent: MaybeAgent = None,
    contact: str | None = None,
    tenant: Tenant = None,
    vectors: bool = False,
    keys: bool = False,
    html: bool = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Export as JSON lines, which either engine restores; or one contact for a person to read.

    Options:
        out: the file to write; - for standard output.
        contact: only this contact; needs --agent.
        vectors: include vectors, so that restoring needs no model.
        keys: include the store's secret keys, to move a store; keep the file safe.
        html: write one contact as an HTML page for a person to read.
    """
    if out == _STANDARD_OUTPUT and as_json:
        raise InvalidRequestError("with --out - the output is the export; leave out --json")
    if html:
        _export_page(out, agent, contact, tenant, overwrite=overwrite, as_json=as_json)
        return
    target = sys.stdout.buffer if out == _STANDARD_OUTPUT else out
    quiet = as_json or out == _STANDARD_OUTPUT
    with (
        or_by_its_holder("export"),
        Memory.open(must_exist=True) as memory,
        bar("contacts", None, quiet) as advance,
    ):
        report = call_of(memory, "export", agent, contact, tenant)(
            target, vectors=vectors, keys=keys, overwrite=overwrite, on_progress=advance
        )
    if out == _STANDARD_OUTPUT:
        terminal(stderr=True).print(_export_text(report))
        return
    show(as_json, report, lambda: _export_text(report))


def _export_page(
    out: Path,
    agent: str | None,
    contact: str | None,
    tenant: str | None,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    from reconciler.bootstrap import write_new

    if agent is None or contact is None:
        raise InvalidRequestError("--html is a document about one contact; give --agent, --contact")
    with or_by_its_holder("export_page"), Memory.open(must_exist=True) as memory:
        page = memory.contact(agent, contact, tenant=tenant).export_page().encode()
    if out == _STANDARD_OUTPUT:
        sys.stdout.buffer.write(page)
        return
    write_new(out, page, overwrite=overwrite)
    show(as_json, {"file": str(out), "bytes": len(page)}, lambda: f"Wrote {out}.")


def restore(
    file: Annotated[Path, typer.Argument(callback=existing)],
    other_key: bool = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into a new store, or an export into either engine; run again to resume.

    Options:
        file: the file that `backup` or `export` wrote.
        other_key: accept a store that has contacts and makes ids with another key; earlier
            idempotency keys are then not recognised.
    """
    with progress(file.name, as_json) as advance:
        done = Memory.restore(file, accept_other_key=other_key, on_progress=advance)
    if isinstance(done, Backup):
        show(as_json, done, lambda: _restored_text(done))
    else:
        show(as_json, done, lambda: _restore_text(done))


def _backup_text(made: Backup) -> str:
    key = {
        "file": "with the key of its hashes: keep the archive safe.",
        "setting": "without the key of its hashes: RECONCILER_GATE__HASH_KEY must be the same.",
        "none": "which has no key of hashes yet.",
    }[made.hash_key]
    size = f"{_size(made.store_bytes)}, packed {_size(made.archive_bytes)}"
    return f"{made.path}: a store of {size}, verified, {key}"


def _size(byte_count: int) -> str:
    if byte_count < 1_000_000:
        return f"{byte_count / 1e3:.1f} kB"
    return f"{byte_count / 1e6:.1f} MB"


def _restored_text(made: Backup) -> str:
    key = {
        "file": "The key of its hashes came with it.",
        "setting": "The key of its hashes did not come with it: set RECONCILER_GATE__HASH_KEY "
        "as it was.",
        "none": "It has no key of hashes yet.",
    }[made.hash_key]
    return f"Restored into {made.path}: {_size(made.store_bytes)}, verified. {key}"


def _export_text(report: ExportReport) -> str:
    text = f"{_counted(report)} exported."
    if report.left_out:
        named = ", ".join(sorted(report.left_out))
        text += f"\nLeft out, because this package did not write it: {named}."
    if report.damaged_ids:
        named = ", ".join(report.damaged_ids[:_NAMED_MAX])
        more = ", …" if len(report.damaged_ids) > _NAMED_MAX else ""
        text += (
            f"\n{len(report.damaged_ids)} damaged records cannot be read, and are exported without "
            f"their words: {named}{more}."
        )
    if report.with_keys:
        text += "\nThe file holds the store's secret keys: keep it safe."
    return text


def _restore_text(report: RestoreReport) -> str:
    text = f"{_counted(report)} restored"
    text += (
        f", {counted(report.already_there, 'contact')} already there."
        if report.already_there
        else "."
    )
    if report.embedded:
        text += f"\nEmbedded again: {counted(report.embedded, 'fact')}."
    if not report.keeps_ids:
        text += (
            "\nIds are made with another key than before: idempotency keys and turns of before are "
            "not recognised. To keep them, restore an export that was made with --keys into an "
            "empty store."
        )
    if report.keeps_hashes is False:
        text += (
            "\nThe key of the hashes is another one: a value that was taken out of a text gets "
            "another token from now on, and what was forgotten before is not recognised if it is "
            "said again. To keep both, restore an export that was made with --keys."
        )
    return text


def _counted(report: ExportReport | RestoreReport) -> str:
    nodes, links = report.nodes, report.links
    return (
        f"{counted(nodes['Contact'], 'contact')} with {counted(nodes['Fact'], 'fact')} and "
        f"{counted(nodes['Decision'], 'decision')} ({counted(nodes.total(), 'node')}, "
        f"{counted(links.total(), 'link')})"
    )


COMMANDS = {"backup": backup, "export": export, "restore": restore}
"""The commands of this module, by name."""
