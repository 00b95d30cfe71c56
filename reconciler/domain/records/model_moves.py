"""A store's move to another embedding model: its progress and its result. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from enum import StrEnum
from typing import Any

from reconciler.frozen import frozen


class MoveState(StrEnum):
    """How far a store is on its way to another model."""

    NONE = "none"
    EMBEDDING = "embedding"
    SETTLING = "settling"


@frozen
class ModelMove:
    """Which model a store is bound to, and which one it moves to.

    Attributes:
        state: ``embedding`` while facts get a vector of the next model beside the one that they
            have; ``settling`` once the store is bound to it, while some vectors are still beside
            those of the model before; ``none`` where the store does not move.
        model: name and fingerprint of the model that the store is bound to.
        dimension: length of its vectors.
        next_model: the model that it moves to; None if it does not move.
        next_dimension: length of the next model's vectors.
        facts: how many facts need a vector of the next model, while the move embeds them.
        moved: how many of them have one.
    """

    state: MoveState
    model: str
    dimension: int
    next_model: str | None = None
    next_dimension: int | None = None
    facts: int = 0
    moved: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


@frozen
class ReembedReport:
    """What a run of ``reembed`` did; the store is bound to the new model by then.

    Attributes:
        old_model: what the store was bound to before.
        model: what it is bound to now.
        dimension: length of its vectors.
        embedded: how many facts this run embedded.
        resumed: how many an earlier, interrupted run had embedded.
        switch_attempts: how often the last step was tried; more than once if others wrote
            meanwhile.
        settings: the settings to use from now on, by environment variable. Empty if the caller gave
            an embedder of its own.
        is_calibrated: whether the profile was calibrated on the new model.
    """

    old_model: str
    model: str
    dimension: int
    embedded: int = 0
    resumed: int = 0
    switch_attempts: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    is_calibrated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)
