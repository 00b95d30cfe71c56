from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from reconciler import Memory
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.bootstrap.chosen_models import (
    arbitration_policy,
    build_arbiter,
    build_policy,
    judge_of,
    open_graph,
    without_packaged_judge,
)
from reconciler.config_files import load_prices, load_reach
from reconciler.domain.records.policies import (
    ArbitrationPolicy,
    ExtractionPolicy,
    JobPolicy,
    RankingPolicy,
    ReconcilePolicy,
    RetryPolicy,
)
from reconciler.entrypoints.doctor import describe_extractor
from reconciler.errors import ConfigurationError
from reconciler.resources import resource_path
from reconciler.settings import Settings, _names, _variable_of, load_settings
from tests.tables import every

SHIPPED = resource_path("config") / "reconciler.toml"
USUAL_NAMES = (
    *("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
)
SECRET = "correct-horse-battery-staple"

ConfigFile = Callable[[str], Path]


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ConfigFile:
    """Writes a file and names it in RECONCILER_CONFIG_FILE."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text)
        monkeypatch.setenv("RECONCILER_CONFIG_FILE", str(path))
        return path

    return write


def test_arguments_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILER_RECONCILE__COSINE_ADD_MAX", "0.6")
    settings = load_settings(reconcile={"cosine_add_max": 0.7})
    assert settings.reconcile.cosine_add_max == 0.7


def test_the_environment_wins_over_the_named_file(
    config_file: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_file("[reconcile]\ncosine_add_max = 0.5")
    monkeypatch.setenv("RECONCILER_RECONCILE__COSINE_ADD_MAX", "0.6")
    assert load_settings().reconcile.cosine_add_max == 0.6


def test_the_named_file_wins_over_the_shipped_one(config_file: ConfigFile) -> None:
    config_file("tenant = 'acme'\n[reconcile]\ncosine_add_max = 0.5")
    settings = load_settings()
    assert (settings.tenant, settings.reconcile.cosine_add_max) == ("acme", 0.5)


def test_sources_complete_each_other_within_one_group(
    config_file: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_file("[reconcile]\ncosine_add_max = 0.5\nwrite_attempts_max = 7")
    monkeypatch.setenv("RECONCILER_RECONCILE__COSINE_ADD_MAX", "0.6")
    chosen = load_settings(reconcile={"cosine_update_min": 0.9}).reconcile
    assert (chosen.cosine_update_min, chosen.cosine_add_max, chosen.write_attempts_max) == (
        0.9,
        0.6,
        7,
    )


def test_the_shipped_file_wins_over_the_codes_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reconciler.toml").write_text("tenant = 'shipped'")
    monkeypatch.setattr("reconciler.settings.resource_path", lambda _: tmp_path)
    assert load_settings().tenant == "shipped"


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value}
    return flat


def _defaults(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        inner = isinstance(field.default, BaseModel)
        named = f"{prefix}{name}"
        flat |= _defaults(type(field.default), f"{named}.") if inner else {named: field.default}
    return flat


DEFAULTS = _defaults(Settings)
SHIPPED_VALUES = _flat(tomllib.loads(SHIPPED.read_text()))


@every("name", sorted(SHIPPED_VALUES))
def test_each_value_in_the_shipped_file_is_the_codes_default(name: str) -> None:
    assert SHIPPED_VALUES[name] == DEFAULTS[name]


@every("name", sorted(DEFAULTS))
def test_each_setting_stands_in_the_shipped_file_or_is_explained_there(name: str) -> None:
    last = name.rpartition(".")[2]
    # What has no default to write down is there as a comment: an example, or the variable's name.
    spelt = {
        "password": "NEO4J_PASSWORD",
        "api_key": "ANTHROPIC_API_KEY",
        "hash_key": "RECONCILER_GATE__HASH_KEY",
    }.get(last, f"{last} = ")
    assert name in SHIPPED_VALUES or re.search(rf"^# .*{spelt}", SHIPPED.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("group", "policy"),
    [
        ("arbiter", ArbitrationPolicy()),
        ("extractor", ExtractionPolicy()),
        ("jobs", JobPolicy()),
        ("reconcile", RetryPolicy()),
        ("recall", RankingPolicy()),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_policys_own_defaults_are_those_of_the_settings(group: str, policy: Any) -> None:
    renamed = {"reconcile.attempts_max": "reconcile.write_attempts_max"}
    for name in asdict(policy):
        setting = f"{group}.{name}"
        assert getattr(policy, name) == DEFAULTS[renamed.get(setting, setting)]


def test_without_settings_the_policy_is_the_rules_own() -> None:
    policy = build_policy(load_settings(), "any model")
    assert policy == ReconcilePolicy(cosine_cut=ReconcilePolicy().cut)


@every(
    ("given", "expected"),
    [
        ({}, (0.95, 0.80, 0.875, "seed")),
        ({"cosine_update_min": 0.99}, (0.99, 0.80, 0.895, "seed, overridden")),
        ({"cosine_add_max": 0.5}, (0.95, 0.5, 0.725, "seed, overridden")),
        ({"cosine_cut": 0.9}, (0.95, 0.80, 0.9, "seed, overridden")),
    ],
)
def test_single_thresholds_override_the_profiles_and_the_cut_follows(
    given: dict[str, float], expected: tuple[float, float, float, str]
) -> None:
    policy = build_policy(load_settings(reconcile=given), "any model")
    update_min, add_max, cut, name = expected
    assert (policy.cosine_update_min, policy.cosine_add_max) == (update_min, add_max)
    assert (policy.cut, policy.profile) == (pytest.approx(cut), name)


def test_a_profile_of_another_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    thresholds = "cosine_update_min = 0.9\ncosine_add_max = 0.5\ncosine_cut = 0.7\n"
    path.write_text(f"name = 'mine'\nembedding_model = 'model@1'\n{thresholds}")
    settings = load_settings(reconcile={"profile": str(path)})
    assert build_policy(settings, "model@1").profile == "mine"
    with pytest.raises(ConfigurationError, match=r"calibrated on model@1, .* is model@2"):
        build_policy(settings, "model@2")


@pytest.mark.parametrize("text", ["", "name = 'mine'", "name =", "cosine_cut = 0.5"])
def test_a_file_that_is_no_profile_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"mine\.toml"):
        build_policy(load_settings(reconcile={"profile": str(path)}), "any model")


def test_an_unknown_profile_is_refused_and_the_shipped_ones_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"no profile gone; give one of .*seed"):
        build_policy(load_settings(reconcile={"profile": "gone"}), "any model")


def test_without_a_server_named_the_engine_is_the_embedded_one() -> None:
    assert load_settings().graph == "embedded"


def test_neo4j_uri_chooses_neo4j(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "neo4j://graph.example:7687")
    settings = load_settings()
    assert (settings.graph, settings.neo4j.uri) == ("neo4j", "neo4j://graph.example:7687")


OURS = {*map(_variable_of, _names())}
GROUPS = {each.partition("__")[0] for each in OURS if "__" in each}


@every("variable", sorted(OURS | GROUPS | {*USUAL_NAMES}))
def test_a_variable_that_is_set_to_nothing_counts_as_unset(variable: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(variable, raising=False)
        unset = load_settings()
        patch.setenv(variable, "")
        assert load_settings() == unset


def test_a_usual_name_holds_beside_a_variable_of_ours_that_is_set_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEO4J_URI", "neo4j://graph.example:7687")
    monkeypatch.setenv("RECONCILER_NEO4J__URI", "")
    monkeypatch.setenv("RECONCILER_GRAPH", "")
    settings = load_settings()
    assert (settings.graph, settings.neo4j.uri) == ("neo4j", "neo4j://graph.example:7687")


def test_a_list_that_is_none_is_told_how_to_write_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILER_GATE__TRUSTED_TOOLS", "erp")
    with pytest.raises(ConfigurationError) as raised:
        load_settings()
    said = "gate.trusted_tools: give a list; in the environment as JSON: "
    example = """RECONCILER_GATE__TRUSTED_TOOLS='["one", "two"]'"""
    assert str(raised.value) == f"settings: {said}{example}"
    name, _, value = example.partition("=")
    monkeypatch.setenv(name, value.strip("'"))
    assert load_settings().gate.trusted_tools == ("one", "two")


def test_a_wrong_scheme_is_told_before_a_missing_password() -> None:
    settings = load_settings(graph="neo4j", neo4j={"uri": "http://localhost:7474"})
    with pytest.raises(ConfigurationError, match="'http://localhost:7474' is not a Neo4j URI"):
        open_graph(settings)


def test_reconciler_graph_wins_over_neo4j_uri(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "neo4j://graph.example:7687")
    monkeypatch.setenv("RECONCILER_GRAPH", "embedded")
    assert load_settings().graph == "embedded"


@pytest.mark.parametrize(
    ("variable", "group", "name"),
    [
        ("NEO4J_URI", "neo4j", "uri"),
        ("NEO4J_USERNAME", "neo4j", "username"),
        ("NEO4J_USER", "neo4j", "username"),
        ("NEO4J_DATABASE", "neo4j", "database"),
        ("ANTHROPIC_BASE_URL", "arbiter", "base_url"),
    ],
)
def test_the_usual_variables_are_honoured(
    variable: str, group: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv(variable, "http://given")
    assert getattr(getattr(load_settings(), group), name) == "http://given"


@pytest.mark.parametrize("group", ["arbiter", "extractor"])
@pytest.mark.parametrize("way", ["argument", "variable", "file"])
def test_a_models_key_and_address_are_those_of_its_provider(
    group: str, way: str, config_file: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    for vendor in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{vendor}_API_KEY", f"key-of-{vendor}")
        monkeypatch.setenv(f"{vendor}_BASE_URL", f"http://{vendor}")
    if way == "file":
        config_file(f"[{group}]\nprovider = 'openai'")
    if way == "variable":
        monkeypatch.setenv(f"RECONCILER_{group.upper()}__PROVIDER", "openai")
    settings = load_settings(**({group: {"provider": "openai"}} if way == "argument" else {}))
    other = settings.extractor if group == "arbiter" else settings.arbiter
    chosen = getattr(settings, group)
    assert (chosen.api_key.get_secret_value(), chosen.base_url) == (
        "key-of-OPENAI",
        "http://OPENAI",
    )
    assert (other.provider, other.base_url) == ("anthropic", "http://ANTHROPIC")


@every(
    ("provider", "model"),
    [("anthropic", "claude-haiku-4-5"), ("openai", "gpt-6-luna")],
)
def test_each_provider_has_a_model_of_its_own_unless_one_is_set(provider: str, model: str) -> None:
    assert load_settings(arbiter={"provider": provider}).arbiter.chosen_model == model
    given = load_settings(arbiter={"provider": provider, "model": "other"})
    assert given.arbiter.chosen_model == "other"


@every(
    ("chosen", "prices"),
    [
        ({}, (1, 5)),
        ({"model": "claude-haiku-4-5-20251001"}, (1, 5)),
        ({"model": "claude-haiku-4-5-fast"}, (None, None)),
        ({"model": "claude-haiku-5-5"}, (0.1, 0.5)),
        ({"model": "gpt-6-luna"}, (None, None)),
        ({"provider": "openai"}, (0.1, 0.5)),
        ({"provider": "openai", "model": "gpt-6-luna-2026-09-22"}, (0.1, 0.5)),
        ({"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}, (None, None)),
        ({"base_url": "http://127.0.0.1:1", "usd_per_million_input_tokens": 0}, (0, None)),
        ({"usd_per_million_output_tokens": 7}, (1, 7)),
    ],
)
def test_prices_follow_the_model_at_its_vendor_unless_they_are_set(
    chosen: dict[str, Any], prices: tuple[float | None, float | None]
) -> None:
    policy = arbitration_policy(load_settings(arbiter=chosen))
    assert (policy.usd_per_million_input_tokens, policy.usd_per_million_output_tokens) == prices


def test_every_usual_model_has_a_listed_price() -> None:
    for provider in ("anthropic", "openai"):
        assert load_prices(
            provider, load_settings(arbiter={"provider": provider}).arbiter.chosen_model
        )


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_judge_is_built_where_there_is_a_key_or_an_address(provider: str) -> None:
    for given in ({"api_key": "sk-test"}, {"base_url": "http://127.0.0.1:1"}):
        arbiter = build_arbiter(load_settings(arbiter={"provider": provider, **given}))
        assert arbiter is not None
        arbiter.close()
    assert build_arbiter(load_settings(arbiter={"provider": provider})) is None


@every(
    ("given", "judge"),
    [
        ({"arbiter": {"mode": "auto"}}, "packaged"),
        ({"arbiter": {"mode": "keyed"}}, None),
        ({"arbiter": {"mode": "off"}}, None),
        ({"arbiter": {"mode": "off", "api_key": "sk-test"}}, None),
        ({"arbiter": {"mode": "auto", "api_key": "sk-test"}}, "anthropic"),
        ({"arbiter": {"mode": "auto", "provider": "openai", "api_key": "k"}}, "openai"),
        # Its first layers are the packaged embedder's: nothing is fetched for it.
        ({"arbiter": {"mode": "auto"}, "embedder": {"provider": "none"}}, None),
        ({"arbiter": {"mode": "auto"}, "embedder": {"model": "BAAI/bge-m3"}}, None),
        ({"arbiter": {"provider": "packaged"}, "embedder": {"model": "BAAI/bge-m3"}}, "packaged"),
    ],
)
def test_without_a_key_the_packaged_judge_judges(given: dict[str, Any], judge: str | None) -> None:
    assert judge_of(load_settings(**given)) == judge


@every(
    ("given", "share"),
    [
        ({"mode": "auto"}, 0.5),
        ({"api_key": "sk-test"}, 1.0),
        ({"api_key": "sk-test", "first": "packaged"}, 0.5),
    ],
)
def test_a_judge_that_costs_nothing_reaches_further(given: dict[str, Any], share: float) -> None:
    model = OnnxMinilm.model_id
    measured = load_reach(model)
    assert measured is not None
    policy = build_policy(load_settings(arbiter=given), model, is_judged=True)
    assert policy.reach == share * measured
    fixed = load_settings(arbiter={**given, "reach": 0.4})
    assert build_policy(fixed, model, is_judged=True).reach == 0.4


def test_an_embedder_of_the_callers_own_brings_no_packaged_judge() -> None:
    settings = load_settings(arbiter={"mode": "auto"})
    assert judge_of(without_packaged_judge(settings)) is None


@pytest.mark.parametrize("value", ["none", "raw"])
def test_a_setting_that_is_gone_is_named_and_has_no_effect(
    value: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert load_settings(extractor={"fallback": value}) == load_settings()
    assert "extractor.fallback is no longer a setting" in caplog.text


def test_the_packaged_judge_needs_no_key_and_takes_no_address() -> None:
    arbiter = build_arbiter(load_settings(arbiter={"provider": "packaged"}))
    assert arbiter is not None
    assert arbiter.name.startswith("packaged-")
    for given in ({"api_key": "sk-test"}, {"base_url": "http://127.0.0.1:1"}):
        with pytest.raises(ConfigurationError, match="the packaged judge is a file"):
            load_settings(arbiter={"provider": "packaged", **given})


def test_a_packaged_judge_of_ones_own_is_a_file_that_is_there(tmp_path: Path) -> None:
    given = load_settings(arbiter={"provider": "packaged", "model": str(tmp_path / "judge.onnx")})
    with pytest.raises(ConfigurationError, match=r"name a judge\.onnx, or unset it"):
        build_arbiter(given)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("group", ["arbiter", "extractor"])
def test_another_tools_address_without_a_key_chooses_no_model(
    group: str, provider: str, config_file: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen() -> Any:
        return getattr(load_settings(**{group: {"provider": provider}}), group)

    monkeypatch.setenv(f"{provider.upper()}_BASE_URL", "http://theirs")
    assert not chosen().has_model
    config_file(f"[{group}]\nbase_url = 'http://ours'")
    assert (chosen().has_model, chosen().base_url) == (True, "http://ours")


@pytest.mark.parametrize("way", ["argument", "variable", "file"])
def test_a_key_of_ours_is_sent_to_the_usual_address(
    way: str, config_file: ConfigFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://theirs")
    if way == "file":
        config_file(f"[arbiter]\napi_key = '{SECRET}'")
    if way == "variable":
        monkeypatch.setenv("RECONCILER_ARBITER__API_KEY", SECRET)
    settings = load_settings(**({"arbiter": {"api_key": SECRET}} if way == "argument" else {}))
    assert settings.arbiter.base_url == "http://theirs"


@every(
    ("given", "shown"),
    [
        ("https://me:sk-1@host.example:8/v1", "https://host.example:8/v1"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ],
)
def test_the_doctor_shows_an_address_without_what_may_be_a_key(given: str, shown: str) -> None:
    chosen = {"base_url": given, "provider": "openai", "model": "m"}
    found = describe_extractor(load_settings(extractor=chosen))
    assert found.endswith(f": at {shown}, without a key")


def test_a_provider_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigurationError, match="'anthropic', 'openai' or 'packaged'"):
        load_settings(arbiter={"provider": "mistral"})


def test_a_judge_by_typed_choices_is_the_one_in_words_and_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    chosen = load_settings(arbiter={"provider": "decisions"}).arbiter
    assert (chosen.provider, chosen.has_model, chosen.chosen_model) == (
        "openai",
        True,
        "gpt-6-luna",
    )
    assert "arbiter.provider 'decisions' is gone" in caplog.text


def test_neo4j_username_wins_over_neo4j_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_USER", "old")
    monkeypatch.setenv("NEO4J_USERNAME", "new")
    assert load_settings().neo4j.username == "new"


def test_our_own_variables_win_over_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_DATABASE", "usual")
    monkeypatch.setenv("RECONCILER_NEO4J__DATABASE", "ours")
    assert load_settings().neo4j.database == "ours"


@pytest.mark.parametrize(
    ("variable", "group", "name"),
    [("NEO4J_PASSWORD", "neo4j", "password"), ("ANTHROPIC_API_KEY", "arbiter", "api_key")],
)
def test_a_secret_is_read_and_never_shown(
    variable: str, group: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, SECRET)
    settings = load_settings()
    assert getattr(getattr(settings, group), name).get_secret_value() == SECRET
    shown = f"{settings!r} {settings} {settings.model_dump_json()} {settings.model_dump()}"
    assert SECRET not in shown


def test_a_refused_secret_is_not_shown_either() -> None:
    with pytest.raises(ConfigurationError, match="password") as raised:
        load_settings(neo4j={"password": [SECRET]})
    assert SECRET not in str(raised.value)


@every(
    ("arguments", "expected"),
    [
        ({"graph": "neptune"}, r"graph: .*no engine 'neptune'; use one of embedded, neo4j"),
        ({"reconcile": {"cosine_update_min": 1.01}}, r"reconcile\.cosine_update_min: .*less than"),
        ({"reconcile": {"cosine_add_max": -1.01}}, r"reconcile\.cosine_add_max: "),
        ({"reconcile": {"cosine_add_max": float("nan")}}, r"reconcile\.cosine_add_max: "),
        ({"reconcile": {"cosine_add_max": "high"}}, r"reconcile\.cosine_add_max: .*number"),
        ({"reconcile": {"write_attempts_max": 0}}, r"reconcile\.write_attempts_max: "),
        ({"reconcile": {"unavailable_seconds_max": -1}}, r"reconcile\.unavailable_seconds_max: "),
        ({"recall": {"weight_recency": -0.1}}, r"recall\.weight_recency: "),
        ({"recall": {"recency_half_life_days": 0}}, r"recall\.recency_half_life_days: "),
        ({"recall": {"limit": 0}}, r"recall\.limit: "),
        ({"neo4j": {"pool_size_max": 0}}, r"neo4j\.pool_size_max: "),
        ({"neo4j": {"query_timeout_seconds": 0}}, r"neo4j\.query_timeout_seconds: "),
        ({"embedder": {"batch_size": 0}}, r"embedder\.batch_size: "),
        ({"embedder": {"model": ""}}, r"embedder\.model: "),
        ({"arbiter": {"timeout_seconds": 0}}, r"arbiter\.timeout_seconds: "),
        (
            {"reconcile": {"cosine_ad_max": 0.8}},
            r"reconcile\.cosine_ad_max is not a setting; config/reconciler\.toml lists all",
        ),
        ({"tennant": "acme"}, r"tennant is not a setting"),
    ],
)
def test_a_value_that_cannot_work_is_refused_by_the_settings_name(
    arguments: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"^settings: {expected}"):
        load_settings(**arguments)


def test_every_wrong_value_is_named_at_once() -> None:
    with pytest.raises(
        ConfigurationError, match=r"recall\.limit.*neo4j\.pool_size_max|neo4j.*limit"
    ):
        load_settings(recall={"limit": 0}, neo4j={"pool_size_max": 0})


def test_thresholds_in_the_wrong_order_are_refused_and_both_named() -> None:
    expected = r"wrong order: cosine_add_max 0\.96 .* cosine_update_min 0\.95"
    settings = load_settings(reconcile={"cosine_add_max": 0.96})
    with pytest.raises(ConfigurationError, match=expected):
        build_policy(settings, "any model")


def test_equal_thresholds_are_an_empty_band_and_allowed() -> None:
    assert load_settings(reconcile={"cosine_add_max": 0.95}).reconcile.cosine_add_max == 0.95


def test_a_wrong_variable_is_refused_by_the_settings_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILER_RECALL__LIMIT", "many")
    with pytest.raises(ConfigurationError, match=r"recall\.limit: "):
        load_settings()


def test_a_group_that_is_no_group_in_the_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECONCILER_RECALL", "many")
    with pytest.raises(ConfigurationError, match="recall"):
        load_settings()


def test_a_config_file_that_is_not_there_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECONCILER_CONFIG_FILE", str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigurationError, match=r"RECONCILER_CONFIG_FILE names .*gone\.toml"):
        load_settings()


def test_a_config_file_that_is_not_toml_is_refused_by_its_name(config_file: ConfigFile) -> None:
    config_file("[reconcile\ncosine_add_max = 0.5")
    with pytest.raises(ConfigurationError, match=r"mine\.toml"):
        load_settings()


def test_settings_of_the_embedder_are_no_embedder() -> None:
    with pytest.raises(ConfigurationError, match="load_settings"):
        Memory.open(embedder={"model": "noop"})  # type: ignore[arg-type]


def test_a_misspelt_setting_in_a_config_file_is_refused(config_file: ConfigFile) -> None:
    config_file("[reconcile]\ncosine_ad_max = 0.5")
    with pytest.raises(ConfigurationError, match=r"reconcile\.cosine_ad_max"):
        load_settings()


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().tenant = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "variable", ["RECONCILER_EMBEDER__MODEL", "reconciler_tenant_id", "RECONCILER_ZZZ"]
)
def test_a_variable_that_is_no_setting_is_warned_of_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, variable: str
) -> None:
    monkeypatch.setenv(variable, "x")
    for _ in range(2):
        load_settings()
    assert [each.getMessage() for each in caplog.records] == [
        f"{variable} is not a setting and has no effect"
    ]


def test_no_setting_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RECONCILER_TENANT", "acme")
    monkeypatch.setenv("reconciler_recall__limit", "5")
    monkeypatch.setenv("RECONCILER_JOBS", '{"attempts_max": 2}')
    monkeypatch.setenv("RECONCILER_TOKEN", "rcl_x")  # a client's, on the same machine
    monkeypatch.setenv("RECONCILER_URL", "http://127.0.0.1:8766")
    load_settings()
    assert not caplog.records


def test_a_misspelt_variable_in_a_group_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECONCILER_LOG__FORMT", "json")
    with pytest.raises(ConfigurationError, match=r"the variable RECONCILER_LOG__FORMT\)"):
        load_settings()


def test_a_wrong_value_names_the_variable_that_it_came_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECONCILER_RECALL__LIMIT", "abc")
    with pytest.raises(
        ConfigurationError, match=r"recall.limit: .* \(the variable RECONCILER_RECALL"
    ):
        load_settings()
    with pytest.raises(ConfigurationError, match=r"recall.limit: ") as refused:
        load_settings(recall={"limit": 0})
    assert "variable" not in str(refused.value)


@every(
    ("embedder", "kind"),
    [
        ({}, "packaged"),
        ({"model": "noop"}, "none"),
        ({"provider": "none"}, "none"),
        ({"model": "BAAI/bge-m3"}, "sentence-transformers"),
        ({"provider": "openai", "model": "text-embedding-3-small"}, "openai"),
    ],
)
def test_a_models_name_tells_its_provider_unless_one_is_set(
    embedder: dict[str, Any], kind: str
) -> None:
    assert load_settings(embedder=embedder).embedder.kind == kind


@every(
    ("embedder", "said"),
    [
        ({"provider": "openai"}, "such as 'text-embedding-3-small'"),
        ({"provider": "packaged", "model": "bge"}, "has only the model 'minilm'"),
        ({"query_prefix": "query: "}, "trained without prefixes"),
        ({"base_url": "http://127.0.0.1/v1"}, "are for provider 'openai'"),
        ({"model": "bge", "dimension": 5}, "are for provider 'openai'"),
        ({"device": "cuda"}, "device is for provider 'sentence-transformers'"),
        ({"provider": "openai", "model": "bge", "device": "cuda"}, "device is for provider"),
    ],
)
def test_settings_of_an_embedder_that_contradict_each_other_are_refused(
    embedder: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        load_settings(embedder=embedder)


def test_openais_usual_names_are_an_embedders_only_where_it_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1/v1")
    assert load_settings().embedder.api_key is None
    chosen = load_settings(embedder={"provider": "openai", "model": "m"}).embedder
    assert chosen.api_key is not None
    assert chosen.api_key.get_secret_value() == "sk-1"
    assert chosen.base_url == "http://127.0.0.1/v1"


@every("group", ["arbiter", "extractor"])
@every(
    ("provider", "address", "told"),
    [
        ("openai", "http://127.0.0.1:1/v1?api-version=1", "before the ?"),
        ("anthropic", "http://127.0.0.1:1/v1", "Anthropic's SDK adds itself"),
        ("anthropic", "http://127.0.0.1:1/v1/", "Anthropic's SDK adds itself"),
    ],
)
def test_an_address_that_the_sdk_cannot_use_is_refused_with_the_remedy(
    group: str, provider: str, address: str, told: str
) -> None:
    given: Any = {group: {"provider": provider, "base_url": address}}
    with pytest.raises(ConfigurationError, match=re.escape(told)) as refused:
        load_settings(**given)
    assert address not in str(refused.value)  # a query may hold a key
