"""Settings: the only module that reads the environment. Never anything that acts on them.

The order is: arguments, environment variables, the file that ``RECONCILER_CONFIG_FILE`` names,
``config/reconciler.toml``; the first that has a value counts. The last file lists every setting
with its default. An empty variable counts as unset.
"""

from __future__ import annotations

import logging
import os
import tomllib
from base64 import b64decode
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias, TypedDict, Unpack
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from reconciler.domain.records.policies import (
    AboveZero,
    Amount,
    ArbitrationPolicy,
    Cosine,
    DecayPolicy,
    ExtractionPolicy,
    JobPolicy,
    Positive,
    Quantity,
    RankingPolicy,
    ReconcilePolicy,
    RetryPolicy,
    Seconds,
    Share,
    Wait,
)
from reconciler.errors import ConfigurationError
from reconciler.frozen import Json, Strings, present
from reconciler.resources import (
    engine_names,
    expanded,
    read_config,
    resource_path,
    user_data_folder,
)

_PREFIX = "RECONCILER_"
_OF_CLIENTS = frozenset({"RECONCILER_TOKEN", "RECONCILER_URL"})
"""Variables that clients of the HTTP API read, as its pages show; none of them is a setting."""

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

_Name = Annotated[str, Field(min_length=1)]

_USUAL_MODELS = {
    "anthropic": "claude-haiku-4-5",
    "openai": "gpt-6-luna",
    "decisions": "gpt-6-luna",
}
"""The smallest current model of each provider; ``_as_named_now`` says what "decisions" is."""

PROVIDERS_OF_NAMES = {"minilm": "packaged", "noop": "none"}
"""The providers of an embedder with the names of their models."""
_EMBEDDING_MODELS = {
    "openai": "text-embedding-3-small",
    "sentence-transformers": "intfloat/multilingual-e5-small",
}
_IN_MEMORY = ":memory:"
"""As the path of an embedded store: a separate store, which is removed when it is closed."""

_log = logging.getLogger(__name__)

# A policy's default is defined there, with its meaning and its source.
_DECAY = DecayPolicy()
_RETRYING = RetryPolicy()
_RULE = ReconcilePolicy()


class _Group(BaseModel, frozen=True):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


class Neo4jSettings(_Group, frozen=True):
    """Where the Neo4j server is and how long it may take."""

    uri: str = "neo4j://localhost:7687"
    username: str = "neo4j"
    password: SecretStr | None = None
    database: str = "neo4j"
    pool_size_max: Positive = 50
    connect_timeout_seconds: Seconds = 4.0
    silence_timeout_seconds: Seconds = 15.0
    query_timeout_seconds: Seconds = 60.0
    connection_age_seconds_max: Seconds = 200.0
    idle_check_seconds: Wait = 2.0
    keep_alive: bool = True


class ReconcileSettings(_Group, frozen=True):
    """The rule: its profile of thresholds, what may override them, and the bounds on retrying."""

    profile: _Name = _RULE.profile
    cosine_update_min: Cosine | None = None
    cosine_add_max: Cosine | None = None
    cosine_cut: Cosine | None = None
    guard: Literal["on", "off"] = "on" if _RULE.guard else "off"
    contested_window_days: float = Field(
        default=_RULE.contested_window / timedelta(days=1), ge=0, le=36_500
    )
    attributes_file: Path | None = None
    books: dict[_Name, Strings] = {}
    write_attempts_max: Positive = _RETRYING.attempts_max
    cached_facts_max: Quantity = 50_000
    unavailable_seconds_max: Wait = _RETRYING.unavailable_seconds_max


class GateSettings(_Group, frozen=True):
    """The write gate: its policy, the domain that applies, and the key of its hashes."""

    policy_file: Path | None = None
    domain: _Name | None = None
    hash_key: SecretStr | None = Field(default=None, min_length=16)
    hash_key_file: Path | None = None
    trusted_tools: Strings | None = None
    system_attributes: dict[str, Strings] = {}


class RecallSettings(_Group, RankingPolicy, frozen=True):
    """How facts are chosen and ordered; ``RankingPolicy`` says what each number means."""

    floor: Literal["calibrated", "off"] | float = "calibrated"
    floor_growth: Amount = 0.0
    floor_words: Amount = 0.0
    limit: int = Field(default=8, ge=1, le=1000)
    confidence_min: Share = 0.4


class LifeSettings(_Group, frozen=True):
    """Expired facts, and facts that are no longer repeated or recalled."""

    expired: Literal["marked", "hidden"] = "marked"
    use_flush_seconds: Wait = 10.0
    decay_half_life_days: AboveZero = _DECAY.half_life_days
    archive_floor: Share = _DECAY.floor


class _ModelSettings(_Group, frozen=True):
    """The address of a model, and the key for its calls."""

    provider: str
    model: _Name | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None

    @model_validator(mode="after")
    def _address_is_a_base(self) -> Self:
        address = (self.base_url or "").rstrip("/")
        if "?" in address:
            raise ValueError(
                "base_url ends in a query, so no path can be added; give only the address before "
                "the ?, and set the query's parameters in the server"
            )
        if self.provider == "anthropic" and address.endswith("/v1"):
            raise ValueError(
                "base_url ends in /v1, which Anthropic's SDK adds itself; leave out /v1"
            )
        return self

    @property
    def has_model(self) -> bool:
        """True if a model can be called: with a key, or at an address that may need no key."""
        return self.api_key is not None or self.base_url is not None

    @property
    def shown_base_url(self) -> str:
        """Address without a user or a password, which may be a key."""
        try:
            parts = urlsplit(self.base_url or "")
        except ValueError:
            return "base_url"
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def key_variable(self) -> str:
        """Where the provider's key is usually found."""
        return f"{_usual_prefix(self.provider)}_API_KEY"

    @property
    def chosen_model(self) -> str:
        """Model that is set, else the provider's small one."""
        return self.model or _USUAL_MODELS.get(self.provider, self.provider)


class EmbedderSettings(_ModelSettings, frozen=True):
    """The model that embeds texts, and its server if it has one."""

    provider: Literal["auto", "packaged", "sentence-transformers", "openai", "none"] = "auto"
    model: _Name = "minilm"
    batch_size: Positive = 64
    allow_download: bool = False
    device: _Name = "cpu"
    query_prefix: str = ""
    passage_prefix: str = ""
    dimension: int | None = Field(default=None, ge=1, le=65_536)
    timeout_seconds: Seconds = 10.0
    retries_max: Quantity = 2
    window_characters: Positive = 2_000

    @property
    def kind(self) -> str:
        """The provider; for "auto" the one that the model's name belongs to."""
        if self.provider != "auto":
            return self.provider
        return PROVIDERS_OF_NAMES.get(self.model, "sentence-transformers")

    @model_validator(mode="after")
    def _fits_its_provider(self) -> Self:
        if self.kind in {"openai", "sentence-transformers"} and self.model in PROVIDERS_OF_NAMES:
            raise ValueError(
                f"provider {self.kind!r} has no model {self.model!r}; set model to one of its "
                f"models, such as {_EMBEDDING_MODELS[self.kind]!r}"
            )
        if self.kind == "packaged":
            if self.model != "minilm":
                raise ValueError(
                    "provider 'packaged' has only the model 'minilm'; for another model set "
                    "provider to 'sentence-transformers' or 'openai'"
                )
            if self.query_prefix or self.passage_prefix:
                raise ValueError("the packaged model was trained without prefixes; unset them")
        if self.kind != "sentence-transformers" and self.device != "cpu":
            raise ValueError(
                "device is for provider 'sentence-transformers' only; the packaged model runs on "
                "the processor, and a server chooses its own device: unset it"
            )
        if self.kind != "openai" and (self.base_url is not None or self.dimension is not None):
            raise ValueError(
                "base_url and dimension are for provider 'openai' only; set provider to 'openai', "
                "or unset both"
            )
        return self


JudgeProvider = Literal["anthropic", "openai", "packaged"]


def _as_named_now(provider: Any) -> Any:
    """An older file may name the protocol of typed choices, which is not spoken any more."""
    if provider != "decisions":
        return provider
    _log.warning(
        "arbiter.provider 'decisions' is gone, and 'openai' is used in its place, which asks for "
        "an answer in words: set that, and a base_url that does not end in /systemone"
    )
    return "openai"


class ArbiterSettings(_ModelSettings, ArbitrationPolicy, frozen=True):
    """The model that judges notes between the thresholds, and its limits of calls and costs."""

    mode: Literal["auto", "keyed", "off"] = "auto"
    reach: Cosine | Literal["calibrated", "band"] = "calibrated"
    provider: Annotated[JudgeProvider, BeforeValidator(_as_named_now)] = "anthropic"
    first: Literal["none", "packaged"] = "none"
    timeout_seconds: Seconds = 10.0
    retries_max: Quantity = 1

    @property
    def has_model(self) -> bool:
        """True if a model can be asked: the packaged one always can."""
        return self.provider == "packaged" or super().has_model

    @model_validator(mode="after")
    def _fits_its_provider(self) -> Self:
        if self.provider == "packaged" and (self.base_url, self.api_key) != (None, None):
            raise ValueError(
                "the packaged judge is a file on this machine: unset base_url and api_key, or set "
                "provider to the judge that uses them"
            )
        return self


class ExtractorSettings(_ModelSettings, ExtractionPolicy, frozen=True):
    """The model that reads sessions, and the size of their pieces."""

    mode: Literal["auto", "explicit"] = "auto"
    provider: Literal["anthropic", "openai"] = "anthropic"
    timeout_seconds: Seconds = 60.0
    retries_max: Quantity = 1

    @model_validator(mode="before")
    @classmethod
    def _without_what_is_gone(cls, given: Any) -> Any:
        """An older file may have the fallback, which is no longer a setting."""
        if isinstance(given, dict) and "fallback" in given:
            _log.warning("extractor.fallback is no longer a setting and has no effect; remove it")
            return {name: value for name, value in given.items() if name != "fallback"}
        return given


class JobsSettings(_Group, JobPolicy, frozen=True):
    """How often a session is retried, and how long a worker may be silent."""

    poll_seconds: Seconds = 1.0


class WebhookSettings(_Group, JobPolicy, frozen=True):
    """Where an agent's changes and digests are sent, and how often that is tried."""

    url: Annotated[str, Field(pattern=r"^[!-~]+$")] | None = None
    command: tuple[_Name, ...] = ()
    secret: SecretStr | None = None
    agents: tuple[_Name, ...] = ()
    events: tuple[Literal["changes", "digest"], ...] = ("changes", "digest")
    private_hosts: tuple[_Name, ...] = ()
    timeout_seconds: Seconds = 10.0
    attempts_max: Positive = 12
    backoff_seconds_max: Wait = 21_600.0

    @model_validator(mode="after")
    def _can_be_sent_to(self) -> Self:
        if (self.url is None) is not bool(self.command):
            raise ValueError("give either url or command")
        if self.url is None:
            return self
        parts = urlsplit(self.url)
        schemes = ("https", "http") if parts.hostname in LOOPBACK_NAMES else ("https",)
        is_odd = not parts.hostname or "@" in parts.netloc or parts.port == 0
        if parts.scheme not in schemes or is_odd:
            raise ValueError(
                "url must begin with https:// and a host, without a user; http:// only reaches "
                f"this machine ({', '.join(LOOPBACK_NAMES)})"
            )
        given = self.secret.get_secret_value() if self.secret else ""
        try:
            length = len(b64decode(given.removeprefix("whsec_"), validate=True))
        except ValueError:
            length = 0
        if not (given.startswith("whsec_") and 24 <= length <= 64):  # the standard's bounds
            raise ValueError(
                "secret must be whsec_ and 24 to 64 bytes in base64; make one with "
                "`echo whsec_$(openssl rand -base64 32)`"
            )
        return self


class LogSettings(_Group, frozen=True):
    """How long-running commands log; without a level, each command uses its own."""

    level: Literal["debug", "info", "warning", "error"] | None = None
    format: Literal["text", "json"] = "text"


class Settings(BaseSettings):
    """All settings, frozen. Build it with ``load_settings``."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
    )

    graph: str = "embedded"
    embedded_path: Path = Field(default_factory=lambda: _usual_folder() / "memory.lbug")
    tenant: str = "default"
    neo4j: Neo4jSettings = Neo4jSettings()
    reconcile: ReconcileSettings = ReconcileSettings()
    gate: GateSettings = GateSettings()
    recall: RecallSettings = RecallSettings()
    life: LifeSettings = LifeSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    arbiter: ArbiterSettings = ArbiterSettings()
    extractor: ExtractorSettings = ExtractorSettings()
    jobs: JobsSettings = JobsSettings()
    log: LogSettings = LogSettings()
    webhooks: dict[_Name, WebhookSettings] = {}
    page_url: str = ""

    @property
    def is_in_memory(self) -> bool:
        """True if the store is a separate store that is removed when it is closed."""
        return self.graph == "embedded" and str(self.embedded_path) == _IN_MEMORY

    @field_validator("graph")
    @classmethod
    def _is_an_engine(cls, name: str) -> str:
        if name not in engine_names():
            raise ValueError(f"there is no engine {name!r}; use one of {', '.join(engine_names())}")
        return name

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then environment, then usual names, then files; the most specific first."""
        files = TomlConfigSettingsSource(settings_cls, _config_files())
        return (init_settings, env_settings, _UsualNames(settings_cls, files), files)


Group: TypeAlias = Mapping[str, Any]
"""The settings of one group by name; the values are checked when the settings are loaded."""


class OpenFields(TypedDict, total=False):
    """The settings that ``Memory.open`` takes by name, so that a type checker finds mistakes."""

    graph: Literal["embedded", "neo4j"]
    embedded_path: Path | str
    tenant: str
    neo4j: Group
    reconcile: Group
    gate: Group
    recall: Group
    life: Group
    jobs: Group
    log: Group
    webhooks: Group
    page_url: str


class SettingFields(OpenFields, total=False):
    """All settings. For the names that are added here, ``Memory.open`` takes an object."""

    embedder: Group
    arbiter: Group
    extractor: Group


class _UsualNames(PydanticBaseSettingsSource):
    """The variables that other tools of the field share: NEO4J_URI, ANTHROPIC_API_KEY and so on.

    The key of a model depends on its provider, in whichever source that is set.
    """

    def __init__(self, settings_cls: type[BaseSettings], files: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._files = files

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """Unused: the values come nested, from ``__call__``."""
        return None, field_name, False

    def __call__(self) -> Json:
        neo4j = {
            "uri": _variable("NEO4J_URI"),
            "username": _variable("NEO4J_USERNAME") or _variable("NEO4J_USER"),
            "password": _variable("NEO4J_PASSWORD"),
            "database": _variable("NEO4J_DATABASE"),
        }
        chosen = {"graph": "neo4j"} if neo4j["uri"] else {}
        models = {group: self._model(group) for group in ("arbiter", "extractor", "embedder")}
        return {**chosen, "neo4j": present(neo4j), **models}

    def _model(self, group: str) -> dict[str, str]:
        sources = (self.current_state.get(group), self._files().get(group))
        given = [each for each in sources if isinstance(each, dict)]
        named = (each.get("provider") for each in given)
        provider = next(filter(None, named), "anthropic")
        if provider not in _USUAL_MODELS:  # of an embedder that needs no server
            return {}
        prefix = _usual_prefix(provider)
        key = _variable(f"{prefix}_API_KEY")
        if not key and not any(each.get("api_key") for each in given):
            # An address without a key chooses a model: one meant for other tools must not.
            return {}
        return present({"api_key": key, "base_url": _variable(f"{prefix}_BASE_URL")})


def load_settings(**arguments: Unpack[SettingFields]) -> Settings:
    """Load the settings.

    Args:
        **arguments: settings by name, groups as dicts: ``reconcile={"cosine_add_max": 0.7}``.
            With ``embedded_path=":memory:"`` a server that the environment names is not used.

    Raises:
        ConfigurationError: a value is out of range, unknown or contradictory; the message
            names each one.
    """
    for name in filter(_is_unknown, os.environ):
        _warn_of(name)
    given: Json = {**arguments}
    asks_for_memory = str(given.get("embedded_path")) == _IN_MEMORY
    if asks_for_memory:  # a test must not write to the server that NEO4J_URI names
        given.setdefault("graph", "embedded")
    try:
        settings = Settings(**given)
    except (SettingsError, RecursionError) as error:
        raise ConfigurationError(f"settings: {error}") from error
    except ValidationError as error:
        faults = "; ".join(map(_described, error.errors(include_url=False)))
        raise ConfigurationError(f"settings: {faults}") from error
    if settings.is_in_memory and not asks_for_memory:
        raise ConfigurationError(
            f"RECONCILER_EMBEDDED_PATH is {_IN_MEMORY}, but a store in memory ends with the "
            f'program that opened it; only Memory.open(embedded_path="{_IN_MEMORY}") makes one. '
            "Name a file"
        )
    return settings


def _described(problem: ErrorDetails) -> str:
    name = ".".join(map(str, problem["loc"]))
    variable = _variable_of(name)
    if problem["type"] in {"tuple_type", "list_type"}:
        return f"""{name}: give a list; in the environment as JSON: {variable}='["one", "two"]'"""
    said = {(each.upper(), text) for each, text in os.environ.items()}
    is_said = (variable, str(problem["input"])) in said
    where = f" (the variable {variable})" if is_said else ""
    if problem["type"] != "extra_forbidden":
        return f"{name or 'settings'}: {problem['msg']}{where}"
    return f"{name} is not a setting{where}; config/reconciler.toml lists all"


def _is_unknown(variable: str) -> bool:
    """True if it looks like a setting but is not one; a wrong name in a group is an error."""
    given = variable.upper()
    if not given.startswith(_PREFIX) or variable in _OF_CLIENTS:
        return False
    group = f"{given.partition('__')[0]}__"
    known = (*map(_variable_of, _names()), _variable_of("webhooks."))
    return not any(each == given or each.startswith(group) for each in known)


@cache
def _warn_of(variable: str) -> None:
    """Say it once in a process."""
    _log.warning("%s is not a setting and has no effect", variable)


@cache
def _names() -> Strings:
    """Every setting by its name in a file: ``tenant``, ``recall.limit``."""
    names = ["config_file"]
    for name, field in Settings.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseModel):
            names += [f"{name}.{inner}" for inner in group.model_fields]
        else:
            names.append(name)
    return tuple(names)


def _variable_of(name: str) -> str:
    return f"{_PREFIX}{name.replace('.', '__')}".upper()


def _usual_folder() -> Path:
    """The folder of the user's data; without a home, a path that is refused when it is opened.

    Neo4j does not need it.
    """
    try:
        return user_data_folder()
    except ConfigurationError:
        return Path("~")


def _usual_prefix(provider: str) -> str:
    return "ANTHROPIC" if provider == "anthropic" else "OPENAI"


def _variable(name: str) -> str | None:
    """The value of a variable; an empty variable, as Compose passes it, counts as unset."""
    return os.environ.get(name) or None


def _config_files() -> list[Path]:
    shipped = resource_path("config") / "reconciler.toml"
    named = _variable("RECONCILER_CONFIG_FILE")
    if named is None:
        return [shipped]
    text = read_config(Path(named), f"RECONCILER_CONFIG_FILE names {named}, which")
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"RECONCILER_CONFIG_FILE names {named}, which cannot be read: {error}"
        ) from error
    return [shipped, expanded(Path(named))]
