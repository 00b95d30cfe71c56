"""The embedder, the arbiter and the extractor that the settings choose."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.errors import ConfigurationError

if TYPE_CHECKING:
    from reconciler.adapters.local_embedder import LocalModel
    from reconciler.adapters.structured_calls import Connection, Vendor
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.settings import (
        ArbiterSettings,
        EmbedderSettings,
        ExtractorSettings,
        JudgeProvider,
        Settings,
    )


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings choose. Its model is first loaded, or called, when needed.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen = settings.embedder
    if chosen.kind == "none":
        return NoopEmbedder()
    embedder = _remote_embedder(chosen) if chosen.kind == "openai" else _local_embedder(chosen)
    if not chosen.query_prefix and not chosen.passage_prefix:
        return embedder
    from reconciler.adapters.prefixed_embedder import PrefixedEmbedder

    return PrefixedEmbedder(embedder, chosen.query_prefix, chosen.passage_prefix)


def _remote_embedder(chosen: EmbedderSettings) -> Embedder:
    from reconciler.adapters.openai_embedder import OpenAIEmbedder

    if not chosen.has_model:
        raise ConfigurationError(
            "the embedder's provider is 'openai', and it has no key: set OPENAI_API_KEY, or "
            "RECONCILER_EMBEDDER__BASE_URL for a server that needs none"
        )
    return OpenAIEmbedder(
        _connection(chosen),
        dimension=chosen.dimension,
        batch_size=chosen.batch_size,
        window_characters=chosen.window_characters,
    )


def _local_embedder(chosen: EmbedderSettings) -> Embedder:
    from reconciler.adapters.local_embedder import LocalEmbedder

    return LocalEmbedder(_local_model(chosen), chosen.batch_size)


def _local_model(chosen: EmbedderSettings) -> LocalModel:
    if chosen.kind == "packaged":
        from reconciler.adapters.onnx_minilm import OnnxMinilm

        return OnnxMinilm()
    from reconciler.adapters.local_embedder import SentenceTransformerModel

    return SentenceTransformerModel(chosen.model, chosen.allow_download, chosen.device)


def judge_of(settings: Settings) -> JudgeProvider | None:
    """The provider of the arbiter that the settings choose; None if there is none.

    Without a key or an address it is the packaged one, if its weights are at hand because the
    packaged embedder has them.
    """
    chosen = settings.arbiter
    if chosen.mode == "off":
        return None
    if chosen.has_model:
        return chosen.provider
    is_at_hand = chosen.mode == "auto" and settings.embedder.kind == "packaged"
    return "packaged" if is_at_hand else None


def without_packaged_judge(settings: Settings) -> Settings:
    """The settings with no judge but one that they name: the packaged weights may be absent."""
    if settings.arbiter.mode != "auto":
        return settings
    keyed = settings.arbiter.model_copy(update={"mode": "keyed"})
    return settings.model_copy(update={"arbiter": keyed})


def build_arbiter(settings: Settings) -> Arbiter | None:
    """The arbiter that the settings choose; None if there is none.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen, provider = settings.arbiter, judge_of(settings)
    if provider is None:
        return None
    if provider == "packaged":
        return _packaged_arbiter(chosen.model if chosen.provider == provider else None)
    if provider == "decisions":
        from reconciler.adapters.model_arbiter import DecisionsArbiter

        return DecisionsArbiter(_connection(chosen))
    from reconciler.adapters.model_arbiter import ModelArbiter

    return ModelArbiter(_vendor(provider), _connection(chosen))


def build_first_arbiter(settings: Settings) -> Arbiter | None:
    """The packaged judge, if the settings ask it before another one."""
    if settings.arbiter.first != "packaged" or judge_of(settings) == "packaged":
        return None
    from reconciler.adapters.packaged_arbiter import PackagedArbiter

    return PackagedArbiter(reads_all=True)


def _packaged_arbiter(file: str | None) -> Arbiter:
    from reconciler.adapters.packaged_arbiter import PackagedArbiter

    return PackagedArbiter(Path(file).expanduser(), digest=None) if file else PackagedArbiter()


def build_recorded_arbiter(lines: Iterable[str], first_day: date) -> Arbiter:
    """An arbiter that answers from recordings, which count days from the first one.

    Args:
        lines: the recordings, a JSON object each.
        first_day: day 0 of the recorded notes.
    """
    from reconciler.adapters.model_arbiter import RecordedArbiter, answers_in

    return RecordedArbiter(answers_in(lines), first_day)


def build_extractor(settings: Settings, attributes: AttributeBook) -> Extractor:
    """The extractor that the settings choose: a model, or without one only explicit statements.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen = settings.extractor
    if chosen.mode == "explicit" or not chosen.has_model:
        from reconciler.adapters.explicit_extractor import ExplicitExtractor

        return ExplicitExtractor(attributes)
    from reconciler.adapters.model_extractor import ModelExtractor

    return ModelExtractor(_vendor(chosen.provider), _connection(chosen))


def _vendor(provider: Literal["anthropic", "openai"]) -> Vendor:
    if provider == "openai":
        from reconciler.adapters.openai_calls import OPENAI

        return OPENAI
    from reconciler.adapters.anthropic_calls import ANTHROPIC

    return ANTHROPIC


def _connection(chosen: ArbiterSettings | EmbedderSettings | ExtractorSettings) -> Connection:
    from reconciler.adapters.structured_calls import Connection

    return Connection(
        # The SDKs demand a key, also for a server of one's own that needs none.
        api_key=chosen.api_key.get_secret_value() if chosen.api_key else "none-needed",
        model=chosen.chosen_model,
        timeout_seconds=chosen.timeout_seconds,
        retries_max=chosen.retries_max,
        base_url=chosen.base_url,
    )
