"""Makes backups and exports, restores them, and moves a store to another embedding model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.bootstrap.engines import (
    check_memory_exists,
    file_of_memory,
    hash_key_if_any,
    hash_key_of,
    hash_key_path,
    keep_hash_key,
    open_graph,
    open_store,
    utc_now,
)
from reconciler.bootstrap.policies import retry_policy
from reconciler.bootstrap.services import Services
from reconciler.config_files import load_profile, profiles_of
from reconciler.domain.records.choices import check_callable, check_flags, file_path
from reconciler.errors import ConfigurationError
from reconciler.service.stores.binding_store import BindingStore
from reconciler.service.stores.model_store import ModelStore
from reconciler.service.stores.patient_graph import patient

if TYPE_CHECKING:
    from reconciler.domain.records.archives import Backup, ExportReport, RestoreReport
    from reconciler.domain.records.model_moves import ReembedReport
    from reconciler.ports.embedder import Embedder
    from reconciler.service.reembedding import Reembedding
    from reconciler.service.stores.archive_store import ContactFilter
    from reconciler.settings import EmbedderSettings, Settings


def back_up(services: Services, path: Path, *, overwrite: bool) -> Backup:
    """Back up the store of an open memory into an archive, with its hash key.

    Raises:
        ConfigurationError: the engine keeps no file of its own, or the archive cannot be written.
        GraphUnavailableError: the store is too busy to be copied.
    """
    from reconciler.adapters.store_backups import write_backup

    settings = services.settings
    key_file = hash_key_path(settings)
    is_setting = settings.gate.hash_key is not None
    is_kept = not is_setting and key_file.exists()
    return write_backup(
        services.binding_store.graph.copy_store,
        path,
        key_file=key_file if is_kept else None,
        hash_key="setting" if is_setting else "file" if is_kept else "none",
        made_at=services.clock(),
        overwrite=overwrite,
    )


def write_new(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write a file that only its owner can read. It gets its name when it is complete.

    Raises:
        ConfigurationError: it cannot be written, or exists already.
    """
    from reconciler.adapters.store_backups import new_file

    with new_file(path, overwrite=overwrite) as file:
        file.write(content)


def export(
    services: Services,
    out: str | Path | IO[bytes],
    wanted: ContactFilter,
    *,
    vectors: bool,
    keys: bool,
    overwrite: bool,
    on_progress: Callable[[int], None],
) -> ExportReport:
    """Export to a stream, or to a file that gets its name when it is complete.

    Raises:
        InvalidRequestError: nothing that is wanted is stored, or ``out`` is neither.
        ConfigurationError: the file cannot be written, or exists already.
        GraphError: the engine is unavailable, or a contact is written to without a pause.
    """
    from reconciler.adapters.store_backups import new_file

    check_callable(on_progress=on_progress)
    check_flags(vectors=vectors, keys=keys, overwrite=overwrite)
    services.archive_store.check(wanted)
    run = partial(
        services.exporter.run,
        wanted=wanted,
        with_vectors=vectors,
        with_keys=keys,
        on_progress=on_progress,
    )
    if not isinstance(out, str | Path) and hasattr(out, "write"):
        return run(out)
    with new_file(file_path("out", out), overwrite=overwrite) as file:
        return run(file)


def restore_memory(
    settings: Settings,
    path: Path,
    *,
    embedder: Embedder | None,
    clock: Callable[[], datetime] | None,
    accept_other_key: bool,
    on_progress: Callable[[int, int], None],
) -> Backup | RestoreReport:
    """Restore a backup or an export to where the settings look for a memory.

    Raises:
        InvalidArchiveError: it is neither, or cannot be used; nothing was changed.
        ConfigurationError: the settings cannot work, or there is a memory already where a backup
            is to go.
        GraphError: the engine is unavailable, locked, or holds a store of another schema or model.
    """
    from reconciler.adapters.store_backups import is_backup, restore_backup

    if not is_backup(path):
        return _restore_export(
            settings, path, embedder, clock or utc_now, accept_other_key, on_progress
        )
    if (main := file_of_memory(settings)) is None:
        raise ConfigurationError(
            f"{path} is a backup of the embedded engine, and Neo4j is chosen; restore it with "
            "RECONCILER_GRAPH=embedded, and move that memory by `reconciler export`"
        )
    return restore_backup(path, main.resolve(), hash_key_path(settings))


def _restore_export(
    settings: Settings,
    path: Path,
    embedder: Embedder | None,
    clock: Callable[[], datetime],
    accept_other_key: bool,
    on_progress: Callable[[int, int], None],
) -> RestoreReport:
    from reconciler.service.moving.export_file import ExportFile
    from reconciler.service.moving.restoring import check_vectors, restore
    from reconciler.service.stores.archive_store import ArchiveStore

    file = ExportFile(path, settings.graph)
    checked = file.checked()  # as its vectors below: before a store is made for it
    with ExitStack() as stack:
        if embedder is None:
            embedder = build_embedder(settings)
            stack.callback(embedder.close)
        check_vectors(checked, embedder)
        graph = open_graph(settings)
        stack.callback(graph.close)
        patience = retry_policy(settings)
        store = BindingStore(graph)
        open_store(store, embedder, clock())
        hash_key_of(settings, store).check()
        return restore(
            file,
            checked,
            store=ArchiveStore(patient(graph, patience)),
            embedder=embedder,
            hash_key=hash_key_if_any(settings),
            keep_hash_key=lambda key: keep_hash_key(settings, key),
            clock=clock,
            accept_other_key=accept_other_key,
            on_progress=on_progress,
        )


@contextmanager
def opened_reembedding(settings: Settings) -> Iterator[Reembedding]:
    """The mover of an existing store to another model. Opening loads no model.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    from reconciler.service.reembedding import Reembedding

    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        BindingStore(graph).check_schema_version()
        yield Reembedding(ModelStore(patient(graph, retry_policy(settings))))


def reembed(
    reembedding: Reembedding,
    settings: Settings,
    model: str | Embedder,
    *,
    profile: str | None,
    uncalibrated: bool,
    batch_size: int,
    on_progress: Callable[[int, int], None],
) -> ReembedReport:
    """Move a store to another model that has a profile; see ``Memory.reembed``.

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
    """The settings with another model, without the old one's server and prefixes."""
    from reconciler.settings import PROVIDERS_OF_NAMES, EmbedderSettings

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
    """The profile to set for a model, and whether it was calibrated on that model.

    Raises:
        ConfigurationError: it was calibrated on another model, or on none, and the settings do not
            accept that.
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
        f"no profile says what a cosine of {model} means: run `reconciler calibrate PAIRS` with "
        "RECONCILER_EMBEDDER__MODEL set to it, and give the file that this writes as the profile "
        "(--profile); or accept the profile seed, whose thresholds were not measured on any model "
        "(--uncalibrated)"
    )
