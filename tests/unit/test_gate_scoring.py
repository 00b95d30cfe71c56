"""The score and the floors: each part alone, one worked example, caps, clamps and bounds."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.gate.checks import CHECKS, Case, score
from reconciler.domain.gate.cleaning import Cleaned
from reconciler.domain.gate.disposing import assess
from reconciler.domain.gate.policy import GatePolicy
from reconciler.domain.gate.reading import read
from reconciler.domain.records.candidates import (
    CONTACT,
    Assessment,
    Candidate,
    Evidence,
    Precedents,
)
from reconciler.domain.records.kinds import Disposal, GateReason, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.reading.kinds import Category
from reconciler.resources import resource_path
from tests.tables import every

ADMIT, REJECT, CONFIRM = Disposal.ADMIT, Disposal.REJECT, Disposal.CONFIRM
USER, OPERATOR, DOCUMENT = SourceKind.USER_EXPLICIT, SourceKind.OPERATOR, SourceKind.APPROVED_DOC
EXTRACTOR, TOOL, GUESS = SourceKind.EXTRACTOR, SourceKind.TOOL_OUTPUT, SourceKind.MODEL_GUESS
OWN_WORDS, READ_OUT = (USER, OPERATOR, DOCUMENT), (EXTRACTOR, TOOL, GUESS)

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=400)
SCOPE = Scope("acme", "crm", "ann")
TEXT = "Lives in Pune."
SARCASM = "Yeah right, I love dawn calls."
DREAM = "If I were rich I would live in Pune."
ROLE = "Pretend you are a pirate: I live in Pune."
QUOTE = '"I live in Pune", said the waiter.'
SHIPPED = tomllib.loads((resource_path("config") / "policy.toml").read_text(encoding="utf-8"))
POLICY = GatePolicy.from_mapping(SHIPPED)
RULE = POLICY.file.score
RULE_OF_IMPORTANCE: dict[str, float] = {**POLICY.file.importance}
START = {source: rule.start for source, rule in POLICY.file.sources.items()}


def changed(**tables: Mapping[str, Any]) -> GatePolicy:
    """The shipped policy with some keys of its tables changed."""
    return GatePolicy.from_mapping(
        SHIPPED | {name: SHIPPED[name] | table for name, table in tables.items()}
    )


def episodes(*texts: str, sessions: int = 1, said_at: datetime = LONG_AGO) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            episode_id=f"episode#{number}",
            session_id=f"session#{number % sessions}",
            scope=SCOPE,
            text=text,
            said_at=said_at,
        )
        for number, text in enumerate(texts)
    )


PLAIN = episodes(TEXT, TEXT)
"""Two old observations in one session: neither a guess nor a pattern, and not recent."""
REQUEST = f"Hello! Remember that I live in Pune. {TEXT}"
ASKED = episodes(TEXT, REQUEST)[1]


def candidate(
    source: SourceKind = EXTRACTOR,
    confidence: float | None = 0.5,
    evidence: tuple[Evidence, ...] = PLAIN,
    text: str = TEXT,
    confirmed_by: tuple[str, ...] = (),
    **note: Any,
) -> Candidate:
    return Candidate(
        note=Note(scope=SCOPE, text=text, said_at=NOW, source_kind=source, **note),
        evidence=evidence,
        proposed_by="agent:crm",
        confidence=confidence,
        confirmed_by=confirmed_by,
    )


def scored(
    proposed: Candidate, policy: GatePolicy = POLICY, precedents: Precedents | None = None
) -> float:
    return score(_case(proposed, policy, precedents), NOW)[0]


def _case(proposed: Candidate, policy: GatePolicy, precedents: Precedents | None) -> Case:
    return Case(
        cleaned=Cleaned(candidate=proposed),
        reading=read(proposed, policy),
        policy=policy,
        precedents=precedents or Precedents(),
    )


def parts(proposed: Candidate, precedents: Precedents | None = None) -> dict[str, float]:
    found = score(_case(proposed, POLICY, precedents), NOW)[1]
    return {each.name: each.effect for each in found}


def assessed(proposed: Candidate, policy: GatePolicy = POLICY) -> Assessment:
    return assess(Cleaned(candidate=proposed), policy, NOW)


def at_floor(
    category: str, confidence: float, source: SourceKind = EXTRACTOR, **changes: Any
) -> tuple[Disposal, GateReason]:
    """What the score check alone says of such a confidence."""
    proposed = candidate(source=source, category=category, **changes)
    disposal, reason, _ = CHECKS["score"](
        Case(
            cleaned=Cleaned(candidate=proposed),
            reading=read(proposed, POLICY),
            policy=POLICY,
            confidence=confidence,
            precedents=Precedents(),
        )
    )
    return disposal, reason


# Where a score starts


@every("source", READ_OUT)
def test_what_was_read_out_of_something_starts_with_the_extractors_confidence(
    source: SourceKind,
) -> None:
    assert parts(candidate(source, 0.42))["extractor's confidence"] == 0.42


@every("source", SourceKind)
def test_without_a_confidence_a_score_starts_where_the_policy_says(source: SourceKind) -> None:
    assert parts(candidate(source, None))[f"word of {source}"] == START[source]


@every("source", OWN_WORDS)
def test_an_extractors_confidence_does_not_weaken_somebodys_own_word(source: SourceKind) -> None:
    assert parts(candidate(source, 0.1))[f"word of {source}"] == START[source]


def test_a_confidence_of_zero_is_one() -> None:
    assert parts(candidate(EXTRACTOR, 0.0)) == {"extractor's confidence": 0.0}


# Each part alone


@every("source", SourceKind)
def test_two_old_observations_of_one_session_move_only_what_their_source_does(
    source: SourceKind,
) -> None:
    moved = list(parts(candidate(source)))[1:]
    own_word = ["said directly"] if source in OWN_WORDS else []
    assert moved == own_word + (["from a tool"] if source is TOOL else [])


@every(
    ("changes", "name", "effect"),
    [
        ({"source": USER}, "said directly", RULE.direct_statement),
        ({"source": TOOL}, "from a tool", RULE.from_tool),
        ({"evidence": episodes(TEXT)}, "one observation", RULE.one_observation),
        (
            {"evidence": episodes(TEXT, TEXT, TEXT, sessions=2)},
            "many observations",
            RULE.many_observations,
        ),
        (
            {"evidence": (PLAIN[0], replace(ASKED, spans=(TEXT,)))},
            "asked to remember",
            RULE.asked_to_remember,
        ),
        ({"evidence": episodes(TEXT, f"I think {TEXT}")}, "hedged", RULE.hedged),
        ({"evidence": episodes(TEXT, QUOTE)}, "quoted evidence", RULE.not_literal),
        ({"evidence": episodes(TEXT, SARCASM)}, "sarcastic evidence", RULE.not_literal),
        ({"evidence": episodes(TEXT, TEXT, said_at=NOW)}, "recent", RULE.recent),
    ],
)
def test_each_part_moves_the_score_by_what_the_policy_says(
    changes: dict[str, Any], name: str, effect: float
) -> None:
    start, *moved = parts(candidate(**changes)).items()
    assert moved == [(name, effect)]
    assert scored(candidate(**changes)) == pytest.approx(min(start[1] + effect, 1.0))


@every(
    ("part", "sign"),
    [
        ("direct_statement", 1),
        ("asked_to_remember", 1),
        ("one_observation", -1),
        ("many_observations", 1),
        ("not_literal", -1),
        ("hedged", -1),
        ("from_tool", -1),
        ("recent", 1),
    ],
)
def test_the_shipped_rubric_has_the_signs_of_seed_000(part: str, sign: int) -> None:
    assert math.copysign(1, getattr(RULE, part)) == sign
    assert abs(RULE.recent) <= min(abs(RULE.one_observation), RULE.many_observations) / 2


def test_the_parts_sum_to_the_score() -> None:
    found = assessed(candidate(EXTRACTOR, 0.7, episodes(TEXT, said_at=NOW)))
    assert tuple(map(str, found.parts)) == (
        "extractor's confidence +0.70",
        "one observation -0.20",
        "recent +0.05",
    )
    assert found.confidence == pytest.approx(0.55)


@every("source", OWN_WORDS)
def test_one_mention_is_enough_where_it_is_somebodys_own_word(source: SourceKind) -> None:
    assert "one observation" not in parts(candidate(source, evidence=episodes(TEXT)))


@every("evidence", [episodes(TEXT, f"I think {TEXT}"), episodes(TEXT, QUOTE)])
def test_what_is_hedged_or_not_literal_is_not_said_directly(evidence: tuple[Evidence, ...]) -> None:
    assert "said directly" not in parts(candidate(USER, evidence=evidence))


@every(
    ("observations", "sessions", "is_pattern"),
    [
        (RULE.observations_min, RULE.sessions_min, True),
        (RULE.observations_min + 1, RULE.sessions_min, True),
        (RULE.observations_min, RULE.sessions_min + 1, True),
        (RULE.observations_min - 1, RULE.sessions_min, False),
        (RULE.observations_min, RULE.sessions_min - 1, False),
        (20, 1, False),
    ],
)
def test_many_observations_are_so_many_over_so_many_sessions(
    observations: int, sessions: int, is_pattern: bool
) -> None:
    evidence = episodes(*[TEXT] * observations, sessions=sessions)
    assert ("many observations" in parts(candidate(evidence=evidence))) is is_pattern


@every(("earlier", "expected"), [(0, "one observation"), (2, "many observations")])
def test_earlier_evidence_of_the_same_inference_counts(earlier: int, expected: str) -> None:
    ids = frozenset(f"earlier#{number}" for number in range(earlier))
    found = parts(candidate(evidence=episodes(TEXT)), Precedents(episode_ids=ids, sessions=ids))
    assert expected in found


def test_the_same_episode_again_is_no_further_observation() -> None:
    again = Precedents(episode_ids=frozenset({"episode#0"}), sessions=frozenset({"other"}))
    assert "one observation" in parts(candidate(evidence=episodes(TEXT)), again)


@every(
    ("age", "is_recent"),
    [
        (timedelta(0), True),
        (timedelta(days=RULE.recent_days), True),
        (timedelta(days=RULE.recent_days, microseconds=1), False),
    ],
)
def test_evidence_is_recent_up_to_the_bound(age: timedelta, is_recent: bool) -> None:
    found = parts(candidate(evidence=episodes(TEXT, TEXT, said_at=NOW - age)))
    assert ("recent" in found) is is_recent


def of_request(said: str = REQUEST, span: str = "I live in Pune", **changed: Any) -> Candidate:
    """A claim read out of what the contact said long ago."""
    return candidate(evidence=(replace(ASKED, text=said, spans=(span,), **changed),))


def test_a_request_to_remember_counts_as_much_at_any_age() -> None:
    new = replace(of_request().evidence[0], said_at=NOW)
    assert scored(of_request()) == scored(candidate(evidence=(new,)))
    assert parts(of_request())["a request keeps"] == RULE.recent


def test_a_preference_that_the_contact_asked_to_have_remembered_is_admitted_once_said() -> None:
    asked = replace(of_request(), confidence=0.9)
    asked = replace(asked, note=replace(asked.note, category=Category.PREFERENCE))
    assert assessed(asked).disposal is ADMIT
    unsure = "I think I live in Pune."
    hedged = replace(asked, evidence=(replace(asked.evidence[0], text=unsure),))
    assert assessed(hedged).disposal is CONFIRM


@every(
    "other",
    [
        of_request(span=TEXT),
        of_request(span="was never said"),
        of_request(source_kind=OPERATOR),
        of_request(source_kind=TOOL),
        of_request(said="I live in Pune."),
        of_request(said=f"Remember that: {DREAM}", span=DREAM),
        replace(of_request(), is_literal=False),
    ],
)
def test_only_the_contacts_own_literal_request_keeps(other: Candidate) -> None:
    assert "a request keeps" not in parts(other)


def test_the_newest_evidence_says_whether_it_is_recent() -> None:
    new = Evidence(episode_id="new", session_id="s", scope=SCOPE, text=TEXT, said_at=NOW)
    assert "recent" in parts(candidate(evidence=(*PLAIN, new)))


@every(("kind", "counts"), [(USER, True), (OPERATOR, True), (TOOL, False)])
def test_a_tool_cannot_ask_that_something_is_remembered(kind: SourceKind, counts: bool) -> None:
    asked = Evidence(
        episode_id="asked",
        session_id="session#0",
        scope=SCOPE,
        text=f"Remember that: {TEXT}",
        said_at=LONG_AGO,
        source_kind=kind,
    )
    assert ("asked to remember" in parts(candidate(evidence=(*PLAIN, asked)))) is counts


def test_a_hedge_outside_of_the_cited_words_does_not_count() -> None:
    text = f"I think it rains. {TEXT}"
    cited = Evidence(
        episode_id="cited",
        session_id="session#0",
        scope=SCOPE,
        text=text,
        spans=(TEXT,),
        said_at=LONG_AGO,
    )
    assert "hedged" not in parts(candidate(evidence=(*PLAIN, cited)))


# The worked example, clamps and caps


def test_the_chapters_example_is_sure_to_forty_per_cent() -> None:
    text = "Prefers dawn calls."
    proposed = candidate(EXTRACTOR, 0.88, episodes(SARCASM), text)
    assert scored(proposed) == 0.40


def test_the_chapters_example_is_asked_about() -> None:
    proposed = candidate(EXTRACTOR, 0.88, episodes(SARCASM), "Prefers dawn calls.")
    found = assessed(proposed)
    assert (found.disposal, found.reason) == (CONFIRM, GateReason.NOT_LITERAL)
    assert found.yields_to_live_intent


def test_a_score_does_not_exceed_one() -> None:
    evidence = episodes(*[f"Remember that: {TEXT}"] * 3, sessions=3, said_at=NOW)
    assert scored(candidate(USER, evidence=evidence)) == 1.0


def test_a_score_does_not_fall_below_zero() -> None:
    assert scored(candidate(TOOL, 0.1, episodes(f"I think {SARCASM}"))) == 0.0


@every(
    ("text", "name", "cap"),
    [
        (DREAM, "hypothetical: at most", RULE.cap_hypothetical),
        (ROLE, "roleplay: at most", RULE.cap_roleplay),
    ],
)
def test_what_is_imagined_or_played_is_capped_whatever_speaks_for_it(
    text: str, name: str, cap: float
) -> None:
    proposed = candidate(USER, evidence=episodes(*[text] * 5, sessions=5, said_at=NOW))
    assert scored(proposed) == cap
    assert parts(proposed)[name] < 0


def test_a_cap_does_not_raise_what_lies_below_it() -> None:
    proposed = candidate(EXTRACTOR, 0.5, episodes(DREAM))
    assert scored(proposed) < RULE.cap_hypothetical
    assert "hypothetical: at most" not in parts(proposed)


@every("text", [QUOTE, SARCASM])
def test_what_is_only_quoted_or_sarcastic_is_not_capped(text: str) -> None:
    evidence = episodes(*[text] * 5, sessions=5, said_at=NOW)
    assert scored(candidate(USER, evidence=evidence)) > RULE.cap_roleplay


def test_a_cap_lies_below_every_floor_of_admission() -> None:
    lowest = min(rule.admit_min for rule in POLICY.file.categories.values())
    assert max(RULE.cap_hypothetical, RULE.cap_roleplay) < lowest


def test_somebodys_yes_settles_how_the_evidence_was_meant() -> None:
    found = parts(candidate(USER, evidence=episodes(DREAM), confirmed_by=(CONTACT,)))
    assert "said directly" in found
    assert not [name for name in found if "hypothetical" in name]


def test_with_the_check_off_nothing_counts_as_not_literal() -> None:
    proposed = candidate(EXTRACTOR, 0.5, episodes(TEXT, DREAM))
    assert scored(proposed, changed(checks={"literalness": "off"})) == 0.5


REAL = [TEXT, SARCASM, QUOTE, f"I think {TEXT}", f"Remember that: {TEXT}"]


@given(
    st.sampled_from(SourceKind),
    st.none() | st.floats(0, 1),
    st.lists(st.sampled_from([*REAL, DREAM, ROLE]), max_size=5),
    st.integers(1, 3),
)
def test_a_score_lies_within_zero_and_one(
    source: SourceKind, confidence: float | None, said: list[str], sessions: int
) -> None:
    assert 0 <= scored(candidate(source, confidence, episodes(*said, sessions=sessions))) <= 1


@given(
    st.sampled_from(SourceKind),
    st.none() | st.floats(0, 1),
    st.lists(st.sampled_from(REAL), max_size=5),
    st.integers(1, 3),
)
def test_a_score_is_the_sum_of_its_parts_within_zero_and_one(
    source: SourceKind, confidence: float | None, said: list[str], sessions: int
) -> None:
    proposed = candidate(source, confidence, episodes(*said, sessions=sessions))
    total = min(max(sum(parts(proposed).values()), 0), 1)
    assert scored(proposed) == pytest.approx(total, abs=1e-4)


def test_the_parts_of_a_capped_score_sum_to_the_cap() -> None:
    said = [DREAM, f"Remember that: {TEXT}", TEXT]
    proposed = candidate(USER, evidence=episodes(*said, sessions=2))
    assert scored(proposed) == RULE.cap_hypothetical
    assert sum(parts(proposed).values()) == pytest.approx(RULE.cap_hypothetical)


# The floors

CATEGORIES = [str(each) for each in Category]
ASKING = [each for each in CATEGORIES if SHIPPED["categories"][each].get("ask_always")]
ADMITTING = [each for each in CATEGORIES if each not in ASKING]
WITH_A_BAND = [
    each
    for each in ADMITTING
    if SHIPPED["categories"][each]["ask_min"] < SHIPPED["categories"][each]["admit_min"]
]


def bounds(category: str) -> tuple[float, float]:
    rule = SHIPPED["categories"][category]
    return rule["ask_min"], rule.get("admit_min_by_source", {}).get(EXTRACTOR, rule["admit_min"])


def below(bound: float) -> float:
    return math.nextafter(bound, -math.inf)


def above(bound: float) -> float:
    return math.nextafter(bound, math.inf)


@every("category", ADMITTING)
def test_at_and_above_its_floor_a_category_is_admitted(category: str) -> None:
    _, admit_min = bounds(category)
    found = [at_floor(category, each)[0] for each in (admit_min, above(admit_min), 1.0)]
    assert found == [ADMIT] * 3


@every("category", WITH_A_BAND)
def test_between_its_floors_a_category_is_asked_about(category: str) -> None:
    ask_min, admit_min = bounds(category)
    found = {at_floor(category, each) for each in (ask_min, above(ask_min), below(admit_min))}
    assert found == {(CONFIRM, GateReason.THIN_EVIDENCE)}


@every("category", CATEGORIES)
def test_below_the_lower_floor_a_category_is_refused(category: str) -> None:
    ask_min, _ = bounds(category)
    found = {at_floor(category, each) for each in (0.0, below(ask_min))}
    assert found == {(REJECT, GateReason.BELOW_FLOOR)}


@every("category", ASKING)
def test_what_always_needs_approval_is_asked_about_at_any_score(category: str) -> None:
    ask_min, admit_min = bounds(category)
    found = {at_floor(category, each) for each in (ask_min, below(admit_min), admit_min, 1.0)}
    assert found == {(CONFIRM, GateReason.NEEDS_APPROVAL)}


@every("category", CATEGORIES)
def test_somebodys_yes_lifts_the_floor_of_admission_and_not_that_of_asking(category: str) -> None:
    ask_min, _ = bounds(category)
    found = [
        at_floor(category, each, confirmed_by=("olga",))[0] for each in (ask_min, below(ask_min))
    ]
    assert found == [ADMIT, REJECT]


def test_nobody_is_asked_about_what_is_volatile() -> None:
    ask_min, admit_min = bounds("volatile")
    assert ask_min == admit_min
    assert at_floor("volatile", below(admit_min))[0] is REJECT


@every(
    ("category", "source"),
    [
        (name, source)
        for name, rule in SHIPPED["categories"].items()
        for source in rule.get("admit_min_by_source", {})
    ],
)
def test_a_source_may_have_a_floor_of_its_own(category: str, source: str) -> None:
    floor = SHIPPED["categories"][category]["admit_min_by_source"][source]
    kind = SourceKind(source)
    found = [at_floor(category, each, kind)[0] for each in (below(floor), floor, above(floor))]
    assert found == [CONFIRM, ADMIT, ADMIT]


def test_the_shipped_floors_are_those_that_seed_001_names() -> None:
    categories = POLICY.file.categories
    assert categories[Category.PREFERENCE].admit_min == 0.9
    assert POLICY.admit_min(Category.FACT, TOOL) == 0.8
    assert categories[Category.SUMMARY].admit_min == 0.7


@every("category", ADMITTING)
@every(("step", "is_admitted"), [(-0.0001, False), (0.0, True), (0.0001, True)])
def test_a_confidence_at_the_floor_is_admitted_by_the_whole_gate(
    category: str, step: float, is_admitted: bool
) -> None:
    _, admit_min = bounds(category)
    proposed = candidate(EXTRACTOR, admit_min + step, category=category)
    assert (assessed(proposed).disposal is ADMIT) is is_admitted


@every("category", ["preference", "fact", "decision", "summary"])
def test_one_plain_word_of_the_contact_is_enough_without_a_question(category: str) -> None:
    proposed = candidate(USER, None, episodes(TEXT), category=category)
    assert assessed(proposed).disposal is ADMIT


def test_a_single_mention_with_an_extractors_default_is_asked_about() -> None:
    found = assessed(candidate(EXTRACTOR, None, episodes(TEXT)))
    assert (found.confidence, found.disposal) == (0.4, CONFIRM)


# How it was said


@every(
    ("text", "expected"),
    [
        ("I live in Pune.", 1.0),
        ("My sister lives in Pune.", 1.0),
        ("Never call me before ten.", 1.0),
        ("Lives in Pune.", 0.97),
        ("The contract ends in May.", 0.97),
        ("Apparently she lives in Pune.", 0.8),
        ("I was told that she lives in Pune.", 0.8),
        ("I think she lives in Pune.", 0.8),
        ("Maybe she will move to Pune.", 0.8),
    ],
)
def test_how_it_was_said_spreads_the_confidence(text: str, expected: float) -> None:
    said = candidate(USER, None, episodes(text, said_at=NOW), text)
    assert scored(said) == pytest.approx(expected)


def test_a_remark_is_less_sure_than_a_statement() -> None:
    remark, statement = "The weather was lovely.", "The contract ends in May."
    sure = [scored(candidate(USER, None, episodes(each), each)) for each in (remark, statement)]
    assert sure[0] == pytest.approx(sure[1] + RULE.remark)


def test_a_hedge_on_hearsay_counts_once() -> None:
    text = "I think I was told that she lives in Pune."
    assert "passed on" not in parts(candidate(USER, None, episodes(text), text))


def test_what_is_said_in_several_sessions_is_surer() -> None:
    often = candidate(EXTRACTOR, 0.5, episodes(TEXT, TEXT, TEXT, sessions=3))
    assert scored(often) == pytest.approx(scored(candidate()) + RULE.many_observations)


# How much it matters


@every(
    ("text", "weight"),
    [
        ("Never call before ten.", "wish"),
        ("Remember that her dog is called Max.", "wish"),
        ("Contact by e-mail only.", "wish"),
        ("She no longer works at Globex.", "correction"),
        ("Wants a phone call instead of e-mail.", "correction"),
        ("No, I use pytest, not unittest.", "correction"),
        ("Actually, I use pytest, not unittest.", "correction"),
        ("BC547 works as a drop-in for 2N2222.", "circumstance"),
        ("Her name is Ann Bell.", "identity"),
        ("I am allergic to shellfish.", "identity"),
        ("Prefers window seats.", "commitment"),
        ("We agreed on fifty seats.", "commitment"),
        ("Their pumps are twenty years old.", "circumstance"),
        ("It's Tuesday.", "remark"),
    ],
)
def test_importance_is_judged_by_what_it_says_and_recorded_so(text: str, weight: str) -> None:
    found = assessed(candidate(USER, None, episodes(text), text))
    expected = RULE_OF_IMPORTANCE[weight]
    said = next(each.detail for each in found.findings if each.check == "meaning")
    assert found.importance == expected
    assert said.endswith(f"importance {expected:g}, judged as {weight}")


def test_the_value_of_a_known_attribute_is_about_who_somebody_is() -> None:
    city = Slot(
        subject="contact",
        attribute="city",
        value="Pune",
        value_key="pune",
        is_single_valued=True,
        is_known=True,
    )
    found = assessed(candidate(USER, None, episodes("Now Pune."), "Now Pune.", slot=city))
    assert found.importance == RULE_OF_IMPORTANCE["identity"]


@every("given", [0.0, 0.3, 1.0])
def test_an_importance_that_was_given_wins_and_is_recorded_as_given(given: float) -> None:
    text = "Never call before ten."
    found = assessed(candidate(USER, None, episodes(text), text, importance=given))
    said = next(each.detail for each in found.findings if each.check == "meaning")
    assert found.importance is None
    assert said.endswith(f"importance {given:g}, given")


def test_the_shipped_importance_falls_from_a_wish_to_a_remark() -> None:
    order = ("wish", "correction", "identity", "commitment", "circumstance", "remark")
    found = [RULE_OF_IMPORTANCE[each] for each in order]
    assert found == sorted(set(found), reverse=True)
