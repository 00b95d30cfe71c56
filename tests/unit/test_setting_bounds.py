"""The bounds of settings. No time is longer than a timer can wait: a thread would end by it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reconciler.errors import ConfigurationError
from reconciler.settings import Settings, load_settings
from tests.tables import every

SECONDS = [
    (group, name)
    for group, field in Settings.model_fields.items()
    for name in getattr(field.annotation, "model_fields", {})
    if name.endswith(("seconds", "seconds_max"))
]


@every(("group", "name"), SECONDS)
def test_seconds_beyond_a_year_are_refused(group: str, name: str) -> None:
    assert load_settings(**{group: {name: 86_400 * 365}})
    with pytest.raises(ConfigurationError, match=rf"{group}\.{name}: .*less than or equal"):
        load_settings(**{group: {name: 2**63}})


@every(
    ("group", "name", "wrong"),
    [
        ("arbiter", "calls_per_minute_max", [-1, 1.5, math.inf, math.nan]),
        ("arbiter", "calls_per_day_max", [-1, 1.5, math.inf]),
        ("arbiter", "breaker_failures_max", [0, -1, 0.5]),
        ("arbiter", "breaker_reset_seconds", [0, -1, math.inf, math.nan]),
        ("arbiter", "cache_size_max", [-1, 0.5, math.inf]),
        ("arbiter", "confidence_min", [-0.01, 1.01, math.nan]),
        ("arbiter", "usd_per_million_input_tokens", [-0.01, math.inf, math.nan]),
        ("arbiter", "usd_per_million_output_tokens", [-0.01, math.inf, math.nan]),
        ("recall", "weight_similarity", [-0.1, math.nan]),
        ("recall", "weight_recency", [-0.1]),
        ("recall", "weight_importance", [-0.1]),
        ("recall", "weight_strength", [-0.1]),
        ("recall", "weight_words", [-0.1, 1.1]),
        ("recall", "recency_half_life_days", [0.0, -1.0]),
        ("recall", "rival_cosine_min", [-1.1, 1.1]),
        ("recall", "chosen_at_once", [0]),
        ("recall", "rank_constant", [-1.0]),
        ("life", "decay_half_life_days", [0]),
        ("life", "archive_floor", [1.1, -0.1]),
    ],
)
def test_a_number_out_of_its_range_is_refused(group: str, name: str, wrong: list[Any]) -> None:
    for value in wrong:
        with pytest.raises(ConfigurationError, match=rf"{group}\.{name}: "):
            load_settings(**{group: {name: value}})
