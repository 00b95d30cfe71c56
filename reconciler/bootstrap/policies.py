"""Turns settings into the policies of the domain: thresholds, bounds, retries, ranking, decay."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.bootstrap.chosen_models import judge_of
from reconciler.config_files import load_prices, load_profile, load_reach, load_recall_floor
from reconciler.domain.records.policies import (
    ArbitrationPolicy,
    DecayPolicy,
    RecallFloor,
    ReconcilePolicy,
    RetryPolicy,
)

if TYPE_CHECKING:
    from reconciler.domain.recalling.recallable import Recalling
    from reconciler.settings import RecallSettings, Settings

REACH_OF_PACKAGED = 0.5
"""The packaged judge's reach, as a share of the usual one: to ask it costs nothing. On pairs that
were written to mislead, a sixth of the silent changes are asked about by it, and no more facts end
(benchmarks/RESULTS.md, "The packaged judge")."""


def build_policy(
    settings: Settings, embedding_model: str, *, is_judged: bool = False
) -> ReconcilePolicy:
    """The thresholds of the settings, for this model.

    Args:
        settings: they name the profile, or the thresholds themselves.
        embedding_model: its name and fingerprint.
        is_judged: whether there is an arbiter; it may also be asked below the thresholds.

    Raises:
        ConfigurationError: the profile is of another model, or the thresholds are out of order.
    """
    chosen = settings.reconcile
    profile = load_profile(chosen.profile)
    if embedding_model != NoopEmbedder().model_id:
        profile.check_model(embedding_model)
    update_min, add_max = chosen.cosine_update_min, chosen.cosine_add_max
    is_profiles_own = update_min is None and add_max is None and chosen.cosine_cut is None
    add_max = profile.cosine_add_max if add_max is None else add_max
    return ReconcilePolicy(
        cosine_update_min=profile.cosine_update_min if update_min is None else update_min,
        cosine_add_max=add_max,
        reach=_reach(settings, embedding_model, add_max) if is_judged else None,
        cosine_cut=profile.cosine_cut if is_profiles_own else chosen.cosine_cut,
        guard=chosen.guard == "on",
        contested_window=timedelta(days=chosen.contested_window_days),
        profile=profile.name if is_profiles_own else f"{profile.name}, overridden",
    )


def _reach(settings: Settings, embedding_model: str, add_max: float) -> float | None:
    """The lowest cosine at which an arbiter is asked; None for only between the thresholds."""
    chosen = settings.arbiter.reach
    if chosen == "band":
        return None
    if not isinstance(chosen, str):
        return chosen
    measured = load_reach(embedding_model)
    if measured is None:
        return None
    share = REACH_OF_PACKAGED if judge_of(settings) == "packaged" else 1.0
    return min(share * measured, add_max)


def arbitration_policy(settings: Settings) -> ArbitrationPolicy:
    """The bounds and prices of asking the arbiter; the list price if none is set.

    Raises:
        ConfigurationError: the list of prices cannot be read.
    """
    chosen = settings.arbiter
    # At another address, a model of the same name may have another price.
    listed = {} if chosen.base_url else load_prices(chosen.provider, chosen.chosen_model)
    unset = {name: price for name, price in listed.items() if getattr(chosen, name) is None}
    return chosen.model_copy(update=unset)


def retry_policy(settings: Settings) -> RetryPolicy:
    """How often and how long a call to the engine is retried, by the settings."""
    return RetryPolicy(
        attempts_max=settings.reconcile.write_attempts_max,
        unavailable_seconds_max=settings.reconcile.unavailable_seconds_max,
    )


def build_recalling(settings: Settings, embedding_model: str) -> Recalling:
    """How facts are chosen, ordered and left out in a recall, by the settings."""
    from reconciler.domain.recalling.recallable import Recalling

    given = settings.recall
    return Recalling(
        ranking=given,
        floor=recall_floor(given, embedding_model),
        confidence_min=given.confidence_min,
        decay=build_decay(settings),
        hides_expired=settings.life.expired == "hidden",
    )


def recall_floor(given: RecallSettings, embedding_model: str) -> RecallFloor | None:
    """How near a fact must be to be recalled; None if any may be."""
    if given.floor == "calibrated":
        return load_recall_floor(embedding_model)
    if given.floor == "off":
        return None
    return RecallFloor(base=given.floor, growth=given.floor_growth, words=given.floor_words)


def build_decay(settings: Settings, floor: float | None = None) -> DecayPolicy:
    """How facts fade, by the settings.

    Args:
        settings: the half-life, and the weight below which a fact is archived.
        floor: that weight instead of the configured one, 0 to 1.
    """
    life = settings.life
    return DecayPolicy(
        half_life_days=life.decay_half_life_days,
        floor=life.archive_floor if floor is None else floor,
    )
