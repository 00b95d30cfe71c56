"""The gate's policy: its floors, lifetimes, handlings and domains, checked when it is made.

The caller reads it from ``config/policy.toml``. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from fnmatch import fnmatchcase
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator

from reconciler.domain.records.kinds import SourceKind
from reconciler.errors import ConfigurationError
from reconciler.frozen import Pattern, Strings, StringSet, Values, frozen
from reconciler.reading.cues.classification import Weight
from reconciler.reading.cues.topics import Topics, TopicTerms
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.reading.sensitive_data import SensitiveKind

Check = Literal[
    "source",
    "evidence",
    "erasure",
    "ownership",
    "sensitive_data",
    "injection",
    "meaning",
    "speculation",
    "domain",
    "restricted",
    "literalness",
    "score",
]
"""The checks in the gate's order: cheap checks before expensive ones, hard before soft."""

Handling = Literal["redact", "refuse", "slot", "keep"]
"""The handling of sensitive data: replaced by a keyed hash; the note refused; kept as the value of
a slot and replaced elsewhere; kept unchanged."""


Effect = Annotated[float, Field(ge=-1, le=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[int, Field(ge=1, le=36_500)]


_VALIDATED = (SourceKind.TOOL_OUTPUT, SourceKind.APPROVED_DOC)
"""Sources of validated facts: such a fact becomes old with the record from which it was read."""


class _PolicyTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SourceRule(_PolicyTable):
    """The rights and the trust of a source.

    ``may`` is ``admit``, ``ask`` (never written without a person's yes) or ``nothing``.
    """

    start: float = Field(ge=0, le=1)
    is_own_word: StrictBool
    may: Literal["admit", "ask", "nothing"]


class CategoryRule(_PolicyTable):
    """The lifetime of a category, and the score that it needs."""

    lifetime_days: Days | None = None
    admit_min: float = Field(ge=0, le=1)
    admit_min_by_source: Mapping[SourceKind, Share] = {}
    ask_min: float = Field(ge=0, le=1)
    recall: RecallSemantics
    yields_to_live_intent: bool = False
    ask_always: bool = False

    @model_validator(mode="after")
    def _floors_in_order(self) -> CategoryRule:
        if self.ask_min > min((self.admit_min, *self.admit_min_by_source.values())):
            raise ValueError("ask_min must not be greater than admit_min")
        return self


class ScoreRule(_PolicyTable):
    """The rubric: the parts that are added to the start of a score."""

    direct_statement: Effect
    in_person: Effect
    asked_to_remember: Effect
    one_observation: Effect
    many_observations: Effect
    not_literal: Effect
    hedged: Effect
    hearsay: Effect
    remark: Effect
    from_tool: Effect
    recent: Effect
    cap_hypothetical: float = Field(ge=0, le=1)
    cap_roleplay: float = Field(ge=0, le=1)
    observations_min: int = Field(ge=2)
    sessions_min: int = Field(ge=1)
    recent_days: float = Field(ge=0, le=36_500)


class TrustRule(_PolicyTable):
    """The confidence from which a claim is the contact's word, and a note is not a guess."""

    contacts_word_min: Share
    sure_min: Share


class LifetimeRule(_PolicyTable):
    """The facts that never expire."""

    lasting: frozenset[Weight]
    lasting_topics: StringSet = frozenset()
    lasting_importance_min: Share
    passing_attributes: StringSet = frozenset()


class ConfirmationRule(_PolicyTable):
    """When no question is asked, and how a question is asked.

    A field that is newer than users' own files has the shipped file's value as its default.
    """

    lapses_days: float = Field(gt=0, le=36_500)
    importance_min: Share = 0.8
    consent_importance_min: Share = 0.5
    unasked_topics: StringSet = frozenset(
        ["religion", "ethnicity", "politics", "orientation", "union", "finance"]
    )
    session_questions_max: int = Field(default=2, ge=0)
    change_it: str = Field(min_length=1)


class TopicRule(_PolicyTable):
    """A field of life, the words that show it, and how it is handled.

    ``goods``, ``everyday`` and ``everyday_unless`` are in older files, and have no effect now.
    """

    handling: Literal["consent", "ordinary"]
    terms: Strings
    exceptions: Strings = Field(default=(), alias="except")
    places: Strings = ()
    goods: Strings = ()
    everyday: Strings = ()
    everyday_unless: Strings = ()


class RefuseRule(_PolicyTable):
    """A pattern that some domains never store, and the sources that are excepted."""

    name: str = Field(min_length=1)
    domains: StringSet = Field(min_length=1)
    pattern: Pattern
    unless_source: frozenset[SourceKind] = frozenset()


class DomainRule(_PolicyTable):
    """The exceptions of one domain."""

    fact_lifetime_days: Days | None = None
    consent_topics: StringSet = frozenset()
    sensitive_data: Mapping[SensitiveKind, Handling] = {}
    keeps: Strings = ()


class LanguageRule(_PolicyTable):
    """The handling of a note in a language that no list of words covers.

    Its default is the shipped file's value, for files that are older than this field.
    """

    unread: Literal["mark", "hold"] = "mark"


class _PolicyFile(_PolicyTable):
    version: str = Field(min_length=1)
    default_domain: str = "general"
    checks: Mapping[Check, Literal["on", "off"]]
    sources: Mapping[SourceKind, SourceRule]
    categories: Mapping[Category, CategoryRule]
    score: ScoreRule
    trust: TrustRule
    importance: Mapping[Weight, Share]
    lifetimes: LifetimeRule
    confirmation: ConfirmationRule
    sensitive_data: Mapping[SensitiveKind, Handling]
    languages: LanguageRule = LanguageRule()
    topics: Mapping[str, TopicRule]
    domains: Mapping[str, DomainRule]
    refuse: tuple[RefuseRule, ...] = ()
    agents: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _is_complete(self) -> _PolicyFile:
        for name, kinds in (
            ("checks", get_args(Check)),
            ("sources", SourceKind),
            ("categories", Category),
            ("sensitive_data", SensitiveKind),
            ("importance", Weight),
        ):
            missing = sorted(set(map(str, kinds)) - set(map(str, getattr(self, name))))
            if missing:
                raise ValueError(f"[{name}] lacks {', '.join(missing)}")
        named = {self.default_domain, *self.agents.values()}
        unknown = named.union(*(rule.domains for rule in self.refuse)) - self.domains.keys()
        if unknown:
            raise ValueError(
                f"there is no section [domains.{min(unknown)}]; the domains are "
                f"{', '.join(self.domains)}"
            )
        topics = {topic for rule in self.domains.values() for topic in rule.consent_topics} - {"*"}
        topics |= self.lifetimes.lasting_topics
        if topics - self.topics.keys():
            raise ValueError(
                f"there is no section [topics.{min(topics - self.topics.keys())}]; add it, or "
                "leave the topic out"
            )
        return self


@frozen
class GatePolicy:
    """The policy as one domain sees it.

    Build it with ``from_mapping``, choose another domain with ``of_agent``.
    """

    file: _PolicyFile
    domain: str
    topics: Topics = field(hash=False, compare=False)

    @classmethod
    def from_mapping(cls, mapping: Values, domain: str | None = None) -> GatePolicy:
        """Policy that a parsed ``policy.toml`` describes.

        Args:
            mapping: the file's tables.
            domain: instead of the file's default.

        Raises:
            ConfigurationError: a table is missing or unusable; the text names it.
        """
        try:
            file = _PolicyFile.model_validate(mapping)
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"])) or "the policy"
            raise ConfigurationError(f"policy: {where}: {fault['msg']}") from error
        chosen = domain or file.default_domain
        if chosen not in file.domains:
            known = ", ".join(file.domains)
            raise ConfigurationError(f"policy: there is no domain {chosen}; use one of {known}")
        topics = {
            name: TopicTerms(rule.terms, rule.exceptions, rule.places)
            for name, rule in file.topics.items()
        }
        return cls(file=file, domain=chosen, topics=Topics(topics))

    def of_agent(self, agent_id: str) -> GatePolicy:
        """Return the policy of the agent's domain in the file; else this policy."""
        for pattern, domain in self.file.agents.items():
            if fnmatchcase(agent_id, pattern):
                return replace(self, domain=domain)
        return self

    @property
    def version(self) -> str:
        """The version that every decision records."""
        return self.file.version

    @property
    def domain_rule(self) -> DomainRule:
        """Exceptions of this domain."""
        return self.file.domains[self.domain]

    @property
    def refused(self) -> Iterator[RefuseRule]:
        """Patterns that this domain never stores."""
        return (rule for rule in self.file.refuse if self.domain in rule.domains)

    def is_on(self, check: Check) -> bool:
        """True if the check is switched on."""
        return self.file.checks[check] == "on"

    def handling(self, kind: SensitiveKind) -> Handling:
        """How this domain handles sensitive data of a kind."""
        return self.domain_rule.sensitive_data.get(kind, self.file.sensitive_data[kind])

    def needs_consent(self, topic: str) -> bool:
        """True if a topic is kept only with the contact's consent, in this domain."""
        wanted = self.domain_rule.consent_topics
        if "*" in wanted or topic in wanted:
            return True
        rule = self.file.topics.get(topic)
        return rule is not None and rule.handling == "consent"

    def admit_min(self, category: Category, source: SourceKind) -> float:
        """The score from which a candidate of that category and source is admitted."""
        rule = self.file.categories[category]
        return rule.admit_min_by_source.get(source, rule.admit_min)

    def importance(self, weight: Weight) -> float:
        """The importance of a note of that weight, 0 to 1."""
        return self.file.importance[weight]

    def lasts(
        self, weight: Weight, topics: Iterable[str], importance: float, attribute: str | None
    ) -> bool:
        """True if a fact stays true until a person changes it.

        Args:
            weight: the kind of importance of its words.
            topics: the fields of life that its words show.
            importance: 0 to 1, as the caller gave it, else 0.
            attribute: the known attribute of its value; None if there is none.
        """
        rule = self.file.lifetimes
        if importance >= rule.lasting_importance_min or not rule.lasting_topics.isdisjoint(topics):
            return True
        if attribute is not None:
            return attribute not in rule.passing_attributes
        return weight in rule.lasting

    def lifetime_days(
        self, category: Category, source: SourceKind, *, is_lasting: bool
    ) -> int | None:
        """The number of days after which a fact may have changed; None for never.

        Args:
            category: what kind of thing it says.
            source: the kind of source; for a tool or a document the domain gives the number.
            is_lasting: as ``lasts`` says.
        """
        if category is not Category.FACT:
            return self.file.categories[category].lifetime_days
        if source in _VALIDATED and self.domain_rule.fact_lifetime_days:
            return self.domain_rule.fact_lifetime_days
        return None if is_lasting else self.file.categories[category].lifetime_days
