"""The gate's policy: the errors of a broken one, the domain that applies, and the shipped one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reconciler.config_files import load_attribute_book, load_gate_policy
from reconciler.domain.gate.checks import CHECKS
from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.disposing import assess
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import Disposal, GateReason, SourceKind
from reconciler.domain.records.notes import Note, Scope
from reconciler.errors import ConfigurationError
from reconciler.reading.cues.classification import Weight
from reconciler.reading.kinds import Category
from reconciler.reading.sensitive_data import SensitiveKind
from reconciler.resources import resource_path
from tests.tables import every

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
PATH = resource_path("config") / "policy.toml"
SHIPPED = tomllib.loads(PATH.read_text(encoding="utf-8"))
POLICY = GatePolicy.from_mapping(SHIPPED)
DOMAINS = ["general", "support", "travel", "real_estate", "electronics", "coding", "medical", "ops"]

Change = Callable[[dict[str, Any]], object]
"""How a test breaks or changes a copy of the shipped policy."""


def with_(path: str, value: Any) -> Change:
    """The value at a path such as ``score.recent``."""

    def change(mapping: dict[str, Any]) -> None:
        *tables, key = path.split(".")
        for table in tables:
            mapping = mapping[table]
        mapping[key] = value

    return change


def without(path: str) -> Change:
    def change(mapping: dict[str, Any]) -> None:
        *tables, key = path.split(".")
        for table in tables:
            mapping = mapping[table]
        del mapping[key]

    return change


def made(*changes: Change, domain: str | None = None) -> GatePolicy:
    mapping = deepcopy(SHIPPED)
    for change in changes:
        change(mapping)
    return GatePolicy.from_mapping(mapping, domain)


@cache
def of_domain(domain: str) -> GatePolicy:
    """The shipped policy of a domain."""
    return made(domain=domain)


# Broken policies

TABLES = ["checks", "sources", "categories", "score", "confirmation", "sensitive_data", "topics"]
IN_OPS = {"domains": ["ops"], "pattern": "x"}
NO_PATTERN = [IN_OPS | {"name": "open", "pattern": "("}]
NAMELESS = [IN_OPS | {"name": ""}]
NOBODY = [IN_OPS | {"name": "x", "unless_source": ["nobody"]}]
NOWHERE = [IN_OPS | {"name": "x", "domains": ["nowhere"]}]
BROKEN: list[tuple[Change, str]] = [
    *((without(table), table) for table in [*TABLES, "domains", "version"]),
    *((with_(table, "text"), table) for table in [*TABLES, "domains", "agents"]),
    *((without(f"checks.{check}"), "checks") for check in CHECKS),
    *((without(f"sources.{source}"), "sources") for source in SourceKind),
    *((without(f"categories.{category}"), "categories") for category in Category),
    *((without(f"sensitive_data.{kind}"), "sensitive_data") for kind in SensitiveKind),
    *((without(f"score.{part}"), f"score.{part}") for part in SHIPPED["score"]),
    (with_("surprise", 1), "surprise"),
    (with_("version", ""), "version"),
    (with_("default_domain", "nowhere"), "domains.nowhere"),
    (with_("checks.surprise", "on"), "checks.surprise"),
    (with_("checks.source", "maybe"), "checks.source"),
    (with_("checks.source", True), "checks.source"),
    (with_("sources.rumour", SHIPPED["sources"]["operator"]), "sources.rumour"),
    (with_("sources.operator.may", "perhaps"), "sources.operator.may"),
    (with_("sources.operator.start", 1.1), "sources.operator.start"),
    (with_("sources.operator.start", -0.1), "sources.operator.start"),
    (with_("sources.operator.surprise", 1), "sources.operator.surprise"),
    (without("sources.operator.is_own_word"), "sources.operator.is_own_word"),
    (with_("categories.rumour", SHIPPED["categories"]["fact"]), "categories.rumour"),
    (with_("categories.fact.admit_min", 1.1), "categories.fact.admit_min"),
    (with_("categories.fact.ask_min", -0.1), "categories.fact.ask_min"),
    (with_("categories.fact.ask_min", 0.8), "categories.fact"),
    (with_("categories.fact.lifetime_days", 0), "categories.fact.lifetime_days"),
    (with_("categories.fact.lifetime_days", -1), "categories.fact.lifetime_days"),
    (with_("categories.fact.recall", "loudly"), "categories.fact.recall"),
    (with_("categories.fact.surprise", 1), "categories.fact.surprise"),
    (
        with_("categories.fact.admit_min_by_source", {"rumour": 0.5}),
        "categories.fact.admit_min_by_source",
    ),
    (with_("score.surprise", 1), "score.surprise"),
    (with_("score.recent", "mild"), "score.recent"),
    (with_("score.recent", float("nan")), "score.recent"),
    (with_("score.recent", float("inf")), "score.recent"),
    (with_("score.cap_roleplay", 1.1), "score.cap_roleplay"),
    (with_("score.cap_hypothetical", -0.1), "score.cap_hypothetical"),
    (with_("score.observations_min", 1), "score.observations_min"),
    (with_("score.sessions_min", 0), "score.sessions_min"),
    (with_("score.recent_days", -1), "score.recent_days"),
    (with_("confirmation.lapses_days", 0), "confirmation.lapses_days"),
    (with_("confirmation.importance_min", 1.1), "confirmation.importance_min"),
    (with_("confirmation.session_questions_max", -1), "confirmation.session_questions_max"),
    (with_("confirmation.change_it", ""), "confirmation.change_it"),
    (with_("sensitive_data.email", "whisper"), "sensitive_data.email"),
    (with_("sensitive_data.shoe_size", "keep"), "sensitive_data.shoe_size"),
    (with_("topics.health.handling", "whisper"), "topics.health.handling"),
    (with_("topics.health.surprise", 1), "topics.health.surprise"),
    (with_("topics.health.terms", ["c*n"]), "topics"),
    (with_("topics.health.terms", [" "]), "topics"),
    (without("topics.health.terms"), "topics.health.terms"),
    (with_("domains.ops.surprise", 1), "domains.ops.surprise"),
    (with_("domains.ops.fact_lifetime_days", 0), "domains.ops.fact_lifetime_days"),
    (with_("domains.ops.consent_topics", ["weather"]), "topics.weather"),
    (with_("domains.ops.sensitive_data", {"email": "whisper"}), "domains.ops.sensitive_data"),
    (with_("domains.ops.sensitive_data", {"shoe": "keep"}), "domains.ops.sensitive_data"),
    (with_("refuse", NO_PATTERN), "refuse.0.pattern"),
    (with_("refuse", NAMELESS), "refuse.0.name"),
    (with_("refuse", NOBODY), "refuse.0.unless_source"),
    (with_("refuse", NOWHERE), "domains.nowhere"),
    (with_("agents", {"bot-*": "nowhere"}), "domains.nowhere"),
]


@every(("change", "named"), BROKEN)
def test_a_broken_policy_is_refused_and_the_table_named(change: Change, named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        made(change)
    assert named in str(caught.value)


@every("floor", [-0.1, 0.1, 1.1, 7.0])
def test_a_floor_by_source_lies_between_the_floor_of_asking_and_one(floor: float) -> None:
    with pytest.raises(ConfigurationError):
        made(with_("categories.fact.admit_min_by_source", {"tool_output": floor}))


def test_an_unknown_domain_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(ConfigurationError, match=r"no domain banking.*general.*medical"):
        made(domain="banking")


def test_a_file_that_is_missing_or_no_toml_is_refused_by_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("[checks", encoding="utf-8")
    for path in (broken, tmp_path / "missing.toml"):
        with pytest.raises(ConfigurationError, match=path.name):
            load_gate_policy(path)


def test_a_file_of_ones_own_stands_instead_of_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    text = PATH.read_text(encoding="utf-8")
    own.write_text(text.replace('\nversion = "9"', '\nversion = "mine"'), encoding="utf-8")
    assert load_gate_policy(own, "ops").version == "mine"


# Which domain applies


@every("domain", DOMAINS)
def test_the_domain_that_was_asked_for_applies(domain: str) -> None:
    assert load_gate_policy(domain=domain).domain == domain


def test_without_one_the_files_default_domain_applies() -> None:
    assert made(with_("default_domain", "travel")).domain == "travel"


AGENTS = {"support-eu": "ops", "support-*": "support", "doc?": "medical", "bot-[12]": "coding"}


@every(
    ("agent_id", "domain"),
    [
        ("support-eu", "ops"),
        ("support-us", "support"),
        ("support", "travel"),
        ("docs", "medical"),
        ("doc", "travel"),
        ("bot-2", "coding"),
        ("bot-3", "travel"),
        ("SUPPORT-US", "travel"),
        ("anybody", "travel"),
    ],
)
def test_the_first_pattern_that_an_agent_matches_chooses_its_domain(
    agent_id: str, domain: str
) -> None:
    policy = made(with_("agents", AGENTS), domain="travel")
    assert policy.of_agent(agent_id).domain == domain


def test_another_domain_is_the_same_file() -> None:
    policy = made(with_("agents", AGENTS))
    other = policy.of_agent("support-us")
    assert (other.version, other.topics) == (policy.version, policy.topics)


# What a domain does otherwise


def test_a_domain_overrides_single_handlings_and_leaves_the_others() -> None:
    policy = made(with_("domains.ops.sensitive_data", {"email": "refuse"}), domain="ops")
    others = [each for each in SensitiveKind if each is not SensitiveKind.EMAIL]
    assert policy.handling(SensitiveKind.EMAIL) == "refuse"
    assert all(policy.handling(each) == SHIPPED["sensitive_data"][each] for each in others)


def lifetime(
    policy: GatePolicy,
    category: Category,
    source: SourceKind = SourceKind.USER_EXPLICIT,
    *,
    is_lasting: bool = False,
) -> int | None:
    return policy.lifetime_days(category, source, is_lasting=is_lasting)


def test_a_domains_lifetime_is_that_of_what_tools_reported() -> None:
    policy = made(with_("domains.ops.fact_lifetime_days", 7), domain="ops")
    assert lifetime(policy, Category.FACT, SourceKind.TOOL_OUTPUT, is_lasting=True) == 7
    assert lifetime(policy, Category.FACT) == SHIPPED["categories"]["fact"]["lifetime_days"]
    assert all(
        lifetime(policy, each, SourceKind.TOOL_OUTPUT)
        == SHIPPED["categories"][each].get("lifetime_days")
        for each in Category
        if each is not Category.FACT
    )


def test_a_domain_without_a_lifetime_takes_that_of_the_category() -> None:
    policy = made(without("domains.ops.fact_lifetime_days"), domain="ops")
    usual = SHIPPED["categories"]["fact"]["lifetime_days"]
    assert lifetime(policy, Category.FACT, SourceKind.TOOL_OUTPUT) == usual


def test_a_fact_that_lasts_has_no_end_and_other_categories_have_theirs() -> None:
    assert lifetime(POLICY, Category.FACT, is_lasting=True) is None
    assert lifetime(POLICY, Category.VOLATILE, is_lasting=True) == 7


@every(
    ("weight", "topics", "importance", "attribute", "lasts"),
    [
        (Weight.WISH, (), 0.0, None, True),
        (Weight.IDENTITY, (), 0.0, None, True),
        (Weight.CORRECTION, (), 0.0, None, False),
        (Weight.COMMITMENT, (), 0.0, None, False),
        (Weight.CIRCUMSTANCE, (), 0.0, None, False),
        (Weight.CIRCUMSTANCE, ("health",), 0.0, None, True),
        (Weight.CIRCUMSTANCE, (), 0.9, None, True),
        (Weight.CIRCUMSTANCE, (), 0.89, None, False),
        (Weight.CORRECTION, (), 0.0, "city", True),
        (Weight.IDENTITY, (), 0.0, "budget", False),
        (Weight.IDENTITY, (), 1.0, "budget", True),
    ],
)
def test_what_a_fact_is_about_says_whether_it_lasts(
    weight: Weight, topics: tuple[str, ...], importance: float, attribute: str | None, lasts: bool
) -> None:
    assert POLICY.lasts(weight, topics, importance, attribute) is lasts


def test_attributes_that_pass_are_known_ones() -> None:
    known = {attribute.name for attribute in load_attribute_book(None)}
    assert POLICY.file.lifetimes.passing_attributes <= known


@every(
    ("topics", "handling", "needs"),
    [
        ([], "ordinary", False),
        ([], "consent", True),
        (["health"], "ordinary", True),
        (["finance"], "ordinary", False),
        (["*"], "ordinary", True),
    ],
)
def test_a_topic_needs_consent_where_the_file_or_the_domain_says_so(
    topics: list[str], handling: str, needs: bool
) -> None:
    changes = with_("domains.ops.consent_topics", topics), with_("topics.health.handling", handling)
    assert made(*changes, domain="ops").needs_consent("health") is needs


def test_a_topic_that_the_file_does_not_know_is_ordinary_unless_all_need_consent() -> None:
    found = [made(domain=each).needs_consent("gardening") for each in ("general", "medical")]
    assert found == [False, True]


@every("category", Category)
def test_the_medical_domain_holds_every_category_for_consent(category: Category) -> None:
    scope = Scope("acme", "crm", "ann")
    evidence = tuple(
        Evidence(episode_id=f"e{n}", session_id=f"s{n}", scope=scope, text="x", said_at=NOW)
        for n in range(3)
    )
    note = Note(scope=scope, text="Likes the window seat.", said_at=NOW, category=category)
    proposed = Candidate(note=note, evidence=evidence, proposed_by="agent:crm")
    found = assess(Cleaned(candidate=proposed), made(domain="medical"), NOW)
    assert (found.disposal, found.reason) == (Disposal.CONSENT, GateReason.SENSITIVE_TOPIC)


def test_no_other_shipped_domain_holds_everything() -> None:
    holding = [each for each in DOMAINS if made(domain=each).needs_consent("gardening")]
    assert holding == ["medical"]


# What the shipped file says


def test_the_shipped_file_has_the_six_domains_of_seed_001_and_a_general_one() -> None:
    assert list(POLICY.file.domains) == DOMAINS
    assert load_gate_policy().domain == "general"


@every("domain", DOMAINS)
def test_every_shipped_domain_says_what_it_keeps_and_refuses(domain: str) -> None:
    rule = POLICY.file.domains[domain]
    assert rule.keeps
    assert list(of_domain(domain).refused)


def test_every_shipped_check_is_on() -> None:
    assert all(map(POLICY.is_on, CHECKS))


@every("domain", DOMAINS)
def test_a_tools_fact_lives_from_a_month_to_half_a_year(domain: str) -> None:
    days = lifetime(of_domain(domain), Category.FACT, SourceKind.TOOL_OUTPUT)
    assert days is not None
    assert 30 <= days <= 180


@every("domain", DOMAINS)
@every(
    ("category", "days_min", "days_max"),
    [(Category.PREFERENCE, 365, 100_000), (Category.SUMMARY, 180, 365), (Category.VOLATILE, 1, 7)],
)
def test_a_shipped_lifetime_is_one_that_seed_001_gives(
    domain: str, category: Category, days_min: int, days_max: int
) -> None:
    days = lifetime(of_domain(domain), category)
    assert days is not None
    assert days_min <= days <= days_max


@every("domain", DOMAINS)
def test_a_shipped_decision_has_no_end(domain: str) -> None:
    assert lifetime(of_domain(domain), Category.DECISION) is None


def test_all_but_decisions_end_some_day() -> None:
    endless = [each for each in Category if lifetime(POLICY, each) is None]
    assert endless == [Category.DECISION]


@every(
    ("source", "may"),
    [
        (SourceKind.USER_EXPLICIT, "admit"),
        (SourceKind.APPROVED_DOC, "admit"),
        (SourceKind.TOOL_OUTPUT, "ask"),
        (SourceKind.MODEL_GUESS, "nothing"),
    ],
)
def test_a_shipped_source_may_what_the_seeds_let_it(source: SourceKind, may: str) -> None:
    assert POLICY.file.sources[source].may == may


@every("domain", DOMAINS)
def test_no_shipped_domain_keeps_a_secret(domain: str) -> None:
    assert of_domain(domain).handling(SensitiveKind.SECRET) == "refuse"


@every("topic", ["health", "finance", "legal"])
@every("domain", DOMAINS)
def test_every_shipped_domain_asks_for_consent_to_what_is_regulated(
    domain: str, topic: str
) -> None:
    assert of_domain(domain).needs_consent(topic)


def test_a_policy_cannot_be_changed_once_it_is_made() -> None:
    with pytest.raises(ValueError, match="frozen"):
        POLICY.file.score.recent = 0.5


def test_a_file_written_before_a_key_came_has_what_the_shipped_file_says() -> None:
    older = deepcopy(SHIPPED)
    for key in ("importance_min", "session_questions_max"):
        del older["confirmation"][key]
    assert GatePolicy.from_mapping(older).file == POLICY.file
