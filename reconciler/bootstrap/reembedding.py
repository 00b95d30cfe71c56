"""Moves a store to another embedding model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.bootstrap.engines import check_memory_exists, open_graph
from reconciler.bootstrap.policies import retry_policy
from reconciler.errors import ConfigurationError
from reconciler.service.stores.binding_store import BindingStore
from reconciler.service.stores.patient_graph import PatientGraph

if TYPE_CHECKING:
    from reconciler.domain.records.model_moves import ReembedReport
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.graph import Graph
    from reconciler.service.reembedding import Reembedding
    from reconciler.settings import EmbedderSettings, Settings


def build_reembedding(graph: Graph, settings: Settings) -> Reembedding:
    """The mover of an open store to another model."""
    from reconciler.service.reembedding import Reembedding
    from reconciler.service.stores.model_store import ModelStore

    return Reembedding(ModelStore(PatientGraph(graph, retry_policy(settings))))


@contextmanager
def opened_reembedding(settings: Settings) -> Iterator[Reembedding]:
    """The mover of an existing store to another model. Opening loads no model.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        BindingStore(graph).check_schema_version()
        yield build_reembedding(graph, settings)


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
    from reconciler.config_files import load_profile, profiles_of

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
