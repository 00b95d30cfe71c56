"""Settings as a caller writes them, so that a type checker finds a misspelt name or choice.

``reconciler.settings`` says what each means, and its default; a tidy test holds the two together.
Never here: a value, or anything that is done with one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

from pydantic import SecretStr

__all__ = [
    "ArbiterFields",
    "EmbedderFields",
    "ExtractorFields",
    "GateFields",
    "JobsFields",
    "LifeFields",
    "LogFields",
    "Neo4jFields",
    "OpenFields",
    "RecallFields",
    "ReconcileFields",
    "SettingFields",
]


class Neo4jFields(TypedDict, total=False):
    """See ``Neo4jSettings``."""

    uri: str
    username: str
    password: SecretStr | str | None
    database: str
    pool_size_max: int
    connect_timeout_seconds: float
    silence_timeout_seconds: float
    query_timeout_seconds: float
    connection_age_seconds_max: float
    idle_check_seconds: float
    keep_alive: bool


class ReconcileFields(TypedDict, total=False):
    """See ``ReconcileSettings``."""

    profile: str
    cosine_update_min: float | None
    cosine_add_max: float | None
    cosine_cut: float | None
    guard: Literal["on", "off"]
    contested_window_days: float
    attributes_file: Path | str | None
    write_attempts_max: int
    cached_facts_max: int
    unavailable_seconds_max: float


class GateFields(TypedDict, total=False):
    """See ``GateSettings``."""

    policy_file: Path | str | None
    domain: str | None
    hash_key: SecretStr | str | None
    hash_key_file: Path | str | None
    trusted_tools: list[str] | tuple[str, ...] | None
    system_attributes: dict[str, tuple[str, ...]]


class RecallFields(TypedDict, total=False):
    """See ``RecallSettings``."""

    weight_similarity: float
    weight_recency: float
    weight_importance: float
    weight_strength: float
    weight_words: float
    recency_half_life_days: float
    rival_cosine_min: float
    chosen_at_once: int
    rank_constant: float
    floor: Literal["calibrated", "off"] | float
    floor_growth: float
    floor_words: float
    limit: int
    confidence_min: float


class LifeFields(TypedDict, total=False):
    """See ``LifeSettings``."""

    expired: Literal["marked", "hidden"]
    use_flush_seconds: float
    decay_half_life_days: float
    archive_floor: float


class EmbedderFields(TypedDict, total=False):
    """See ``EmbedderSettings``."""

    provider: Literal["auto", "packaged", "sentence-transformers", "openai", "none"]
    model: str
    base_url: str | None
    api_key: SecretStr | str | None
    batch_size: int
    allow_download: bool
    device: str
    query_prefix: str
    passage_prefix: str
    dimension: int | None
    timeout_seconds: float
    retries_max: int
    window_characters: int


class ArbiterFields(TypedDict, total=False):
    """See ``ArbiterSettings``."""

    provider: Literal["anthropic", "openai", "decisions"]
    model: str | None
    base_url: str | None
    api_key: SecretStr | str | None
    mode: Literal["auto", "off"]
    reach: float | Literal["calibrated", "band"]
    timeout_seconds: float
    retries_max: int
    confidence_min: float
    calls_per_minute_max: int
    calls_per_day_max: int
    breaker_failures_max: int
    breaker_reset_seconds: float
    cache_size_max: int
    usd_per_million_input_tokens: float | None
    usd_per_million_output_tokens: float | None


class ExtractorFields(TypedDict, total=False):
    """See ``ExtractorSettings``."""

    provider: Literal["anthropic", "openai"]
    model: str | None
    base_url: str | None
    api_key: SecretStr | str | None
    mode: Literal["auto", "explicit"]
    timeout_seconds: float
    retries_max: int
    window_characters: int
    window_overlap_turns: int
    importance_min: float
    session_characters_max: int
    session_turns_max: int
    fallback: Literal["none", "raw"]


class JobsFields(TypedDict, total=False):
    """See ``JobsSettings``."""

    attempts_max: int
    backoff_seconds: float
    backoff_seconds_max: float
    lease_seconds: float
    poll_seconds: float


class LogFields(TypedDict, total=False):
    """See ``LogSettings``."""

    level: Literal["debug", "info", "warning", "error"] | None
    format: Literal["text", "json"]


class OpenFields(TypedDict, total=False):
    """The settings that ``Memory.open`` takes by name; a group is a dict of its own."""

    graph: Literal["embedded", "neo4j"]
    embedded_path: Path | str
    tenant: str
    neo4j: Neo4jFields
    reconcile: ReconcileFields
    gate: GateFields
    recall: RecallFields
    life: LifeFields
    jobs: JobsFields
    log: LogFields


class SettingFields(OpenFields, total=False):
    """All settings. ``Memory.open`` takes an object under the names that are added here."""

    embedder: EmbedderFields
    arbiter: ArbiterFields
    extractor: ExtractorFields
