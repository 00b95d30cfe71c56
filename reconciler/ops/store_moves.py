"""Copies, moves and restores a store, and gives it another embedding model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Unpack

from reconciler.adapters.hash_key_file import load_or_create_key
from reconciler.bootstrap.chosen_models import (
    build_embedder,
    check_memory_exists,
    file_of_memory,
    hash_key_if_any,
    hash_key_of,
    hash_key_path,
    open_graph,
    open_store,
    retry_policy,
    utc_now,
)
from reconciler.bound_memory import BoundMemory, checked_ids
from reconciler.config_files import load_profile, profiles_of
from reconciler.domain.records.erasures import Backup, ExportReport, RestoreReport
from reconciler.domain.records.kinds import Clock, Progress, ProgressOfAll
from reconciler.domain.records.notes import check_callable, check_flags, file_path
from reconciler.domain.records.sessions import ModelMove, ReembedReport
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.memory import Memory, check_parts, settings_of
from reconciler.ops.parts import parts_of
from reconciler.ops.reembedding import Reembedding
from reconciler.ports.embedder import Embedder
from reconciler.service.stores.binding_store import BindingStore, ModelStore
from reconciler.service.stores.contact_store import ArchiveStore, ContactFilter
from reconciler.service.stores.patient_graph import patient
from reconciler.settings import PROVIDERS_OF_NAMES, EmbedderSettings, OpenFields, Settings


def backup(memory: Memory, path: str | Path, *, overwrite: bool = False) -> Backup:
    """Back up the embedded store and its hash key into one archive, while it is in use.

    The log is merged, and writers wait while the file is copied. The archive is read back and
    opened before it gets its name; ``restore`` needs a place without a memory.

    Args:
        memory: an open memory.
        path: the archive to write.
        overwrite: replace an earlier backup, or an empty file; no other file is replaced.

    Raises:
        InvalidRequestError: ``path`` is no path.
        ConfigurationError: the archive cannot be written, or exists already; or the engine is a
            server, which has its own backups.
        InvalidArchiveError: the file to replace is no backup, or of a newer version.
        GraphUnavailableError: others read without a pause, or the disk has no room.
    """
    from reconciler.ops.store_backups import write_backup

    check_flags(overwrite=overwrite)
    services = parts_of(memory, Memory)
    settings = services.settings
    key_file = hash_key_path(settings)
    is_setting = settings.gate.hash_key is not None
    is_kept = not is_setting and key_file.exists()
    return write_backup(
        services.binding_store.graph.copy_store,
        file_path("path", path),
        key_file=key_file if is_kept else None,
        hash_key="setting" if is_setting else "file" if is_kept else "none",
        made_at=services.clock(),
        overwrite=overwrite,
    )


def export(
    memory: Memory | BoundMemory,
    out: str | Path | IO[bytes],
    *,
    tenant: str | None = None,
    vectors: bool = False,
    keys: bool = False,
    overwrite: bool = False,
    on_progress: Progress = lambda _: None,
) -> ExportReport:
    """Write the memory as lines of JSON, which ``restore`` reads into either engine.

    It writes contact by contact, each as of one moment, while others read and write.
    ``docs/backup_and_moving.md`` describes a line; the last line counts the others, so that an
    incomplete file is recognised.

    Args:
        memory: an open memory, or an agent's or a contact's part of it.
        out: the file to write, or a binary stream.
        tenant: of an open memory only this tenant; None for every tenant in the store.
        vectors: include the facts' vectors, so that restoring needs no model.
        keys: include the store's secrets: the key that ids are made with and the hash key.
            For moving a store; keep the file safe.
        overwrite: replace the file if it exists.
        on_progress: called with how many more contacts were written.

    Raises:
        InvalidScopeError: the tenant cannot be used.
        InvalidRequestError: nothing is stored of them, or ``out`` is not a file.
        ConfigurationError: the file cannot be written, or exists already.
        GraphConflictError: a contact is written to without a pause.
    """
    from reconciler.ops.exporting import Exporter
    from reconciler.ops.store_backups import new_file

    services = parts_of(memory, Memory, BoundMemory)
    if not isinstance(memory, BoundMemory):
        wanted = ContactFilter(**checked_ids({"tenant": tenant}))
    elif tenant is None:
        wanted = memory._filter
    else:
        raise InvalidRequestError(
            "memory.agent(...) and memory.contact(...) have a tenant; leave out tenant"
        )
    check_callable(on_progress=on_progress)
    check_flags(vectors=vectors, keys=keys, overwrite=overwrite)
    services.archive_store.check(wanted)
    exporter = services.made(Exporter, hash_key=lambda: hash_key_if_any(services.settings))
    run = partial(
        exporter.run, wanted=wanted, with_vectors=vectors, with_keys=keys, on_progress=on_progress
    )
    if not isinstance(out, str | Path) and hasattr(out, "write"):
        return run(out)
    with new_file(file_path("out", out), overwrite=overwrite) as file:
        return run(file)


def restore(
    path: str | Path,
    *,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    accept_other_key: bool = False,
    on_progress: ProgressOfAll = lambda *_: None,
    **arguments: Unpack[OpenFields],
) -> Backup | RestoreReport:
    """Restore a backup or an export to where the settings look for a memory.

    A backup needs a place without a memory. An export needs a new store, or one that has none
    of its contacts, of either engine; if it was interrupted, run it again to continue.

    Args:
        path: what ``backup`` or ``export`` wrote.
        settings: all of them; None reads them from arguments, environment and files.
        embedder: instead of the configured one; it makes the vectors that an export lacks, or
            has of another model.
        clock: the time now, UTC-aware, for tests; None for this machine's.
        accept_other_key: also restore an export into a store that has contacts and makes ids
            with another key; earlier idempotency keys are then not recognised.
        on_progress: called with how many contacts are restored, of how many.
        **arguments: single settings, as ``load_settings`` takes them.

    Raises:
        InvalidRequestError: ``path`` is not a path.
        InvalidArchiveError: the file is no backup and no export, is cut off, damaged or of a
            newer version, or does not fit the store. Nothing was changed.
        ConfigurationError: a setting cannot be used, or there is a memory at the backup's
            place.
        GraphConflictError: another process wrote about a contact while it was restored.
        GraphError: the engine is unavailable or locked, or the store has another model.
    """
    from reconciler.ops.export_file import ExportFile
    from reconciler.ops.restoring import Restoring, check_vectors
    from reconciler.ops.store_backups import is_backup, restore_backup

    check_callable(on_progress=on_progress)
    check_flags(accept_other_key=accept_other_key)
    check_parts(clock, embedder=embedder)
    clock = clock or utc_now
    chosen, place = settings_of("ops.restore", settings, arguments), file_path("path", path)
    if is_backup(place):
        if (main := file_of_memory(chosen)) is None:
            raise ConfigurationError(
                f"{place} is a backup of the embedded engine, but Neo4j is set. Restore it with "
                "RECONCILER_GRAPH=embedded, then move the memory with `reconciler export`"
            )
        return restore_backup(place, main.resolve(), hash_key_path(chosen))
    file = ExportFile(place, chosen.graph)
    checked = file.checked()  # as its vectors below: before a store is made for it
    with ExitStack() as stack:
        if embedder is None:
            embedder = build_embedder(chosen)
            stack.callback(embedder.close)
        check_vectors(checked, embedder)
        graph = open_graph(chosen)
        stack.callback(graph.close)
        store = BindingStore(graph)
        open_store(store, embedder, clock())
        hash_key_of(chosen, store).check()
        restoring = Restoring(
            file=file,
            checked=checked,
            store=ArchiveStore(patient(graph, retry_policy(chosen))),
            embedder=embedder,
            hash_key=hash_key_if_any(chosen),
            keep_hash_key=lambda key: load_or_create_key(hash_key_path(chosen), key),
            clock=clock,
        )
        return restoring.run(accept_other_key=accept_other_key, on_progress=on_progress)


@contextmanager
def opened_reembedding(settings: Settings) -> Iterator[Reembedding]:
    """Return the mover of an existing store to another model. Opening loads no model.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        BindingStore(graph).check_schema_version()
        yield Reembedding(ModelStore(patient(graph, retry_policy(settings))))


def reembed(
    memory: Memory,
    model: str | Embedder,
    *,
    profile: str | None = None,
    uncalibrated: bool = False,
    batch_size: int = 256,
    on_progress: ProgressOfAll = lambda *_: None,
) -> ReembedReport:
    """Move the store to another embedding model, while others recall and write.

    Every fact, live or ended, gets a vector of the new model beside the one that it has. Then
    the store is bound to the new model in one step. From then on this memory, and every other
    one that is open with the old model, raises ``SchemaError`` when it compares or writes;
    reopen it with the settings that the report names. If a run is interrupted, call it again to
    continue.

    Args:
        memory: an open memory.
        model: a name as for the setting RECONCILER_EMBEDDER__MODEL; or an embedder, which the
            caller closes.
        profile: a profile that was calibrated on the model, by name or path; None for a
            shipped or the configured one.
        uncalibrated: accept a profile that was not measured on any model, such as ``seed``.
        batch_size: how many facts to embed at once, 1 or more.
        on_progress: called with how many facts have a new vector, of how many.

    Raises:
        ConfigurationError: the model cannot be loaded or does not embed, or no profile was
            calibrated on it. Nothing was changed.
        InvalidRequestError: the store is bound to that model already, is moving to another one,
            or the move was cancelled meanwhile.
        EmbeddingError: the model failed; what was embedded before stays.
        GraphConflictError: others wrote without a pause; all is embedded, call again.
        GraphError: the engine is unavailable; call again.
    """
    check_callable(on_progress=on_progress)
    check_flags(uncalibrated=uncalibrated)
    if isinstance(model, str):
        if not model:
            raise ConfigurationError("model is empty; name the model to which the store will move")
    # The results of its methods are checked at use.
    elif not all(callable(getattr(model, name, None)) for name in ("embed", "warm_up", "close")):
        raise ConfigurationError(f"model must be a name or an Embedder, not {type(model).__name__}")
    return reembed_store(
        _reembedding(memory),
        memory.settings,
        model,
        profile=profile,
        uncalibrated=uncalibrated,
        batch_size=batch_size,
        on_progress=on_progress,
    )


def model_move(memory: Memory) -> ModelMove:
    """The store's model, and the progress of a move to another one."""
    return _reembedding(memory).status()


def cancel_reembed(memory: Memory) -> ModelMove:
    """Cancel a running move to another model; what was embedded for it is removed.

    Raises:
        InvalidRequestError: no move is running, or it has finished.
    """
    return _reembedding(memory).cancel()


def _reembedding(memory: Memory) -> Reembedding:
    services = parts_of(memory, Memory)
    return services.once(Reembedding, store=services.model_store)


def reembed_store(
    reembedding: Reembedding,
    settings: Settings,
    model: str | Embedder,
    *,
    profile: str | None,
    uncalibrated: bool,
    batch_size: int,
    on_progress: ProgressOfAll,
) -> ReembedReport:
    """Move a store to another model that has a profile; see ``reembed``.

    Raises:
        ConfigurationError: the model cannot be loaded, or no profile was calibrated on it.
        InvalidRequestError, EmbeddingError, GraphError: see ``Reembedding.run``.
    """
    with ExitStack() as stack:
        embedder: Embedder
        to_set = {}
        if isinstance(model, str):
            chosen = _moved_to(settings.embedder, model)
            to_set["RECONCILER_EMBEDDER__MODEL"] = model
            if settings.embedder.provider != "auto":
                to_set["RECONCILER_EMBEDDER__PROVIDER"] = chosen.provider
            embedder = build_embedder(settings.model_copy(update={"embedder": chosen}))
            stack.callback(embedder.close)
        else:
            embedder = model
        reembedding.check(embedder)
        given = settings.reconcile.profile
        name, is_calibrated = _profile_for(embedder, profile, given, uncalibrated=uncalibrated)
        to_set["RECONCILER_RECONCILE__PROFILE"] = name
        report = reembedding.run(embedder, batch_size=batch_size, on_progress=on_progress)
    return replace(report, settings=to_set, is_calibrated=is_calibrated)


def _moved_to(chosen: EmbedderSettings, model: str) -> EmbedderSettings:
    """Return the settings with another model, without the old model's server and prefixes."""
    if provider := PROVIDERS_OF_NAMES.get(model):
        given = {"provider": provider, "batch_size": chosen.batch_size}
    else:
        is_named = chosen.kind in PROVIDERS_OF_NAMES.values()
        given = chosen.model_dump() | ({"provider": "auto"} if is_named else {})
    try:
        return EmbedderSettings.model_validate(given | {"model": model})
    except ValueError as error:
        raise ConfigurationError(f"{model!r} is not the name of a model") from error


def _profile_for(
    embedder: Embedder, asked: str | None, configured: str, *, uncalibrated: bool
) -> tuple[str, bool]:
    """Find the profile to set for a model, and whether it was calibrated on that model.

    Raises:
        ConfigurationError: the profile was calibrated on another model, or on none, and the
            settings do not accept that.
    """
    model = embedder.model_id
    if asked is not None:
        profile = load_profile(asked)
        profile.check_model(model)
        if profile.embedding_model == model or uncalibrated:
            return asked, profile.embedding_model == model
    else:
        if load_profile(configured).embedding_model == model:
            return configured, True
        if shipped := profiles_of(model):
            return shipped[0], True
        if uncalibrated:
            return "seed", False
    raise ConfigurationError(
        f"no profile has thresholds for {model}. Run `reconciler calibrate PAIRS` with "
        "RECONCILER_EMBEDDER__MODEL set to it, and give the file that the command writes as the "
        "profile (--profile); or use the profile seed, with thresholds that were not measured on "
        "any model (--uncalibrated)"
    )
