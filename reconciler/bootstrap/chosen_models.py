"""What the settings choose: engine and store, models, policies of the domain, parts of the gate."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from reconciler.adapters.hash_key_file import load_key, load_or_create_key, path_of_key
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.adapters.note_head import leanings
from reconciler.adapters.sensitive_data_finders import CombinedFinder, Find
from reconciler.config_files import (
    load_gate_policy,
    load_head,
    load_prices,
    load_profile,
    load_reach,
    load_recall_floor,
)
from reconciler.domain.records.kinds import Clock
from reconciler.domain.records.policies import (
    ArbitrationPolicy,
    DecayPolicy,
    RecallFloor,
    ReconcilePolicy,
    RetryPolicy,
)
from reconciler.errors import ConfigurationError
from reconciler.reading.sensitive_data import SensitiveKind
from reconciler.service.stores.binding_store import BindingStore, HashKey
from reconciler.service.stores.patient_graph import call_with_retries
from reconciler.service.writing.submissions import DecisionIds, IdCheck, Submission

if TYPE_CHECKING:
    from reconciler.adapters.local_embedder import LocalModel
    from reconciler.adapters.structured_calls import Connection, Vendor
    from reconciler.domain.gate.policy import GatePolicy
    from reconciler.domain.recalling.recallable import Recalling
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.ports.graph import Engine, Graph
    from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
    from reconciler.service.writing.write_gate import NoteReader
    from reconciler.settings import (
        ArbiterSettings,
        EmbedderSettings,
        ExtractorSettings,
        JudgeProvider,
        Settings,
    )


T = TypeVar("T")

_OPENING_ATTEMPTS_MAX, _OPENING_PAUSE_SECONDS = 100, 0.2
"""How often opening is tried while other processes change the schema, and the seconds between
tries.

A server takes seconds to give up the constraint that a killed process was making.
"""


def open_graph(settings: Settings) -> Graph:
    """Open the engine that the settings choose. Neo4j is not asked anything yet.

    Raises:
        ConfigurationError: no password, an unusable URI or path.
        GraphLockedError: another process has the embedded file open.
    """
    return _engine(settings).open_graph(settings)


def check_memory_exists(settings: Settings) -> None:
    """Check that a memory exists; the check creates none.

    Raises:
        ConfigurationError: there is no memory.
        GraphError: the engine is unavailable.
    """
    if path := file_of_memory(settings):
        place = str(path)
        is_there = os.path.lexists(path) or os.path.lexists(f"{path}.wal")
    else:
        with closing(open_graph(settings)) as graph:
            is_there, place = graph.schema_version() > 0, graph.describe().location
    if not is_there:
        raise ConfigurationError(
            f"there is no memory at {place}. A first note or `reconciler init` makes one; "
            "to use another, set RECONCILER_EMBEDDED_PATH or NEO4J_URI"
        )


def file_of_memory(settings: Settings) -> Path | None:
    """File of the chosen engine, whether it exists yet or not; None for a server.

    Raises:
        ConfigurationError: the path cannot be used.
    """
    return _engine(settings).file_of(settings)


def file_bytes(path: Path | None) -> int | None:
    """Size of a store's main file and its log, in bytes; None for a server."""
    if path is None:
        return None
    files = (path, path.with_name(f"{path.name}.wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _engine(settings: Settings) -> Engine:
    """Adapter of the chosen engine; settings accept only names with a folder in ``cypher/``."""
    return cast("Engine", import_module(f"reconciler.adapters.{settings.graph}_graph"))


def open_store(store: BindingStore, embedder: Embedder, now: datetime) -> bytes:
    """Make the store ready for a model, and return the key of its ids."""
    return at_opening(lambda: store.open(embedder.model_id, embedder.dimension, now))


def at_opening(call: Callable[[], T]) -> T:
    """The call's result. It is retried while other processes make or upgrade the same store.

    The constraints that they make then end in deadlocks.
    """
    # An unavailable server is not waited for: the opener of a memory wants to know at once.
    policy = RetryPolicy(attempts_max=_OPENING_ATTEMPTS_MAX, unavailable_seconds_max=0.0)
    pauses = chain([0.0], repeat(_OPENING_PAUSE_SECONDS))
    return call_with_retries(policy, lambda _: call(), before_each=lambda: time.sleep(next(pauses)))


def utc_now() -> datetime:
    """Return the time now, UTC-aware; a memory uses this unless its opener gives a clock."""
    return datetime.now(UTC)


def hash_key_of(settings: Settings, store: BindingStore, clock: Clock | None = None) -> HashKey:
    """The hash key of a store, which is read or made when it is first needed."""
    return HashKey(
        store,
        find=lambda: hash_key_if_any(settings),
        make=lambda: load_or_create_key(hash_key_path(settings)),
        clock=clock or utc_now,
    )


def hash_key_if_any(settings: Settings) -> bytes | None:
    """Return this host's hash key; None if there is none. No key is made."""
    if settings.gate.hash_key is not None:
        return settings.gate.hash_key.get_secret_value().encode()
    return load_key(hash_key_path(settings))


def hash_key_path(settings: Settings) -> Path:
    """File of the hash key, unless the key is a setting."""
    return path_of_key(settings.gate.hash_key_file, file_of_memory(settings))


def accept_hash_key(settings: Settings) -> None:
    """Bind the store to this host's hash key.

    Hashes that were made with another key are not recognised.

    Raises:
        ConfigurationError: there is no store.
        GraphError: the engine is unavailable, locked, or holds a store of another schema.
    """
    check_memory_exists(settings)
    with closing(open_graph(settings)) as graph:
        store = BindingStore(graph)
        store.check_schema_version()
        store.release_hash_key(utc_now())


def build_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings choose. Its model is first loaded, or called, when needed.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen = settings.embedder
    if chosen.kind == "none":
        return NoopEmbedder()
    if chosen.kind == "openai":
        embedder = _remote_embedder(chosen)
    else:
        from reconciler.adapters.local_embedder import LocalEmbedder, SentenceTransformerModel

        if chosen.kind == "packaged":
            from reconciler.adapters.onnx_minilm import OnnxMinilm

            model: LocalModel = OnnxMinilm()
        else:
            model = SentenceTransformerModel(chosen.model, chosen.allow_download, chosen.device)
        embedder = LocalEmbedder(model, chosen.batch_size)
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


def judge_of(settings: Settings) -> JudgeProvider | None:
    """Provider of the arbiter that the settings choose; None if there is none.

    Without a key or an address it is the packaged judge, if the packaged embedder has its weights
    on this machine.
    """
    chosen = settings.arbiter
    if chosen.mode == "off":
        return None
    if chosen.has_model:
        return chosen.provider
    is_at_hand = chosen.mode == "auto" and settings.embedder.kind == "packaged"
    return "packaged" if is_at_hand else None


def without_packaged_judge(settings: Settings) -> Settings:
    """The settings without the packaged judge, unless they name it: its weights may be absent."""
    if settings.arbiter.mode != "auto":
        return settings
    keyed = settings.arbiter.model_copy(update={"mode": "keyed"})
    return settings.model_copy(update={"arbiter": keyed})


def build_arbiter(settings: Settings) -> Arbiter | None:
    """Arbiter that the settings choose; None if there is none.

    Raises:
        ConfigurationError: its SDK is not installed, or key or address are malformed.
    """
    chosen, provider = settings.arbiter, judge_of(settings)
    if provider is None:
        return None
    if provider == "packaged":
        from reconciler.adapters.packaged_arbiter import PackagedArbiter

        file = chosen.model if chosen.provider == provider else None
        return PackagedArbiter(Path(file).expanduser(), digest=None) if file else PackagedArbiter()
    from reconciler.adapters.model_arbiter import ModelArbiter

    return ModelArbiter(_vendor(provider), _connection(chosen))


def build_first_arbiter(settings: Settings) -> Arbiter | None:
    """The packaged judge, if the settings ask it before another judge."""
    if settings.arbiter.first != "packaged" or judge_of(settings) == "packaged":
        return None
    from reconciler.adapters.packaged_arbiter import PackagedArbiter

    return PackagedArbiter(reads_all=True)


def build_recorded_arbiter(lines: Iterable[str]) -> Arbiter:
    """An arbiter that answers from recordings, a JSON object each."""
    from reconciler.adapters.model_arbiter import RecordedArbiter

    return RecordedArbiter(lines)


def build_extractor(settings: Settings, attributes: AttributeBook) -> Extractor:
    """Extractor that the settings choose: a model, or without one only explicit statements.

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


REACH_OF_PACKAGED = 0.5
"""The reach where the packaged judge is asked, alone or first, as a share of the usual reach: to
ask this judge costs nothing. On pairs that were written to mislead, it turns a sixth of the silent
changes into questions, and no more facts end (benchmarks/results/packaged_judge.md). Asked first,
it spares the other judge most of the facts that are further away (docs/judges.md)."""


def build_policy(
    settings: Settings, embedding_model: str, *, is_judged: bool = False
) -> ReconcilePolicy:
    """Thresholds of the settings, for this model.

    Args:
        settings: they name the profile, or the thresholds themselves.
        embedding_model: its name and fingerprint.
        is_judged: whether there is an arbiter; it may also be asked below the thresholds.

    Raises:
        ConfigurationError: the profile belongs to another model, or the thresholds are in the wrong
            order.
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
    """Lowest cosine at which an arbiter is asked; None for only between the thresholds."""
    chosen = settings.arbiter.reach
    if chosen == "band":
        return None
    if not isinstance(chosen, str):
        return chosen
    measured = load_reach(embedding_model)
    if measured is None:
        return None
    is_packaged = "packaged" in (judge_of(settings), settings.arbiter.first)
    share = REACH_OF_PACKAGED if is_packaged else 1.0
    return min(share * measured, add_max)


def arbitration_policy(settings: Settings) -> ArbitrationPolicy:
    """Bounds and prices of asking the arbiter; the list price if none is set.

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
    floor: RecallFloor | None = None  # how near a fact must be; None if any may be
    if given.floor == "calibrated":
        floor = load_recall_floor(embedding_model)
    elif given.floor != "off":
        floor = RecallFloor(base=given.floor, growth=given.floor_growth, words=given.floor_words)
    return Recalling(
        ranking=given,
        floor=floor,
        confidence_min=given.confidence_min,
        decay=build_decay(settings),
        hides_expired=settings.life.expired == "hidden",
    )


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


@cache
def build_secret_finder(*, of_ids: bool = False) -> SensitiveDataFinder:
    """Finds secrets and account numbers, in texts or in ids. Ids may be random characters.

    Patterns are loaded when a text may hold one. Account numbers are looked for with the secrets,
    before a text is even stored for a person to read: overwritten text stays in the bytes of the
    embedded engine's file.
    """
    return CombinedFinder(lambda: _finds_of_secrets(of_ids))


def _finds_of_secrets(of_ids: bool) -> Sequence[Find]:
    from reconciler.adapters.rules_finder import find_vendors_tokens
    from reconciler.adapters.told_secrets_finder import find_told_secrets
    from reconciler.reading.named_secrets import find_named_secrets
    from reconciler.reading.named_secrets.shapes import find_account_numbers, find_tokens

    told = partial(find_told_secrets, of_ids=of_ids)
    return find_named_secrets, find_tokens, find_vendors_tokens, told, find_account_numbers


@cache
def build_sensitive_data_finder() -> SensitiveDataFinder:
    """Find personal data and secrets; the finder is loaded at the first text, once per process."""
    return CombinedFinder(_finds_of_sensitive_data)


def _finds_of_sensitive_data() -> Sequence[Find]:
    from reconciler.adapters.personal_data_finder import find_personal_data
    from reconciler.adapters.phone_finder import find_phones
    from reconciler.adapters.rules_finder import find_named_numbers
    from reconciler.adapters.street_address_finder import find_street_addresses

    personal = (find_personal_data, find_named_numbers, find_phones, find_street_addresses)
    return *_finds_of_secrets(of_ids=False), *personal


def hashed_part(kind: SensitiveKind, value: str) -> str:
    """The part of a value that is hashed: its normal form, so that two spellings give one token.

    For an address this part is the street.
    """
    if kind is SensitiveKind.STREET_ADDRESS:
        from reconciler.adapters.street_address_finder import street_of

        return street_of(value)
    from reconciler.reading.values import addresses  # which loads the lexicon

    normal_forms: dict[SensitiveKind, Callable[[str], str]] = {
        SensitiveKind.EMAIL: addresses.email,
        SensitiveKind.IBAN: addresses.iban,
        SensitiveKind.PHONE: addresses.phone,
    }
    return normal_forms.get(kind, str)(value)


def build_judge(settings: Settings) -> Callable[[Candidate], Submission]:
    """The gate's judgement for a dry run: without a store, a judge or a key.

    Raises:
        ConfigurationError: the policy cannot be used.
    """
    # Only the model on this machine is asked.
    is_packaged = settings.embedder.kind == "packaged"
    embedder = build_embedder(settings) if is_packaged else NoopEmbedder()
    return judge_under(build_gate_policy(settings), utc_now, build_note_reader(embedder))


def build_note_reader(embedder: Embedder) -> NoteReader:
    """The reader of whole notes; it uses only words if no head knows the embedder's model."""
    from reconciler.service.embedding import embed
    from reconciler.service.writing.write_gate import NoteReader

    head = load_head("notes", embedder.model_id)
    return NoteReader(partial(embed, embedder), partial(leanings, head) if head else None)


def judge_under(
    policy: GatePolicy, clock: Clock, reader: NoteReader
) -> Callable[[Candidate], Submission]:
    """Gate's judgement under a policy, for a dry run."""
    from reconciler.service.writing.cleaning import Cleaner
    from reconciler.service.writing.write_gate import Judging

    secret_finder = build_secret_finder()
    cleaner = Cleaner(
        finder=build_sensitive_data_finder(),
        secret_finder=secret_finder,
        ids=IdCheck(build_secret_finder(of_ids=True)),
        token_of=lambda kind, _: f"[{kind}]",
        gate_policy=policy,
    )
    judging = Judging(cleaner=cleaner, reader=reader, decision_ids=DecisionIds(b""), clock=clock)
    return judging.judge_whole


def build_gate_policy(settings: Settings) -> GatePolicy:
    """Gate's policy, read from the file that the settings name.

    Raises:
        ConfigurationError: the policy cannot be used.
    """
    return load_gate_policy(settings.gate.policy_file, settings.gate.domain)
