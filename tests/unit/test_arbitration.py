"""The bounds on asking an arbiter, each at, below and above; a clock that stands still until told.

What an arbiter itself promises is in ``tests/contract/test_arbiter.py``.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cachetools import Cache

from reconciler.domain.records.decisions import Judgement, Usage
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ArbitrationPolicy
from reconciler.errors import (
    ArbiterAnswerError,
    ArbiterRefusedError,
    ArbiterUnavailableError,
    ConfigurationError,
)
from reconciler.service.writing.arbitration import Arbitration, Opinion, _Breaker, _Budget

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SCOPE = Scope(tenant="tenant", agent_id="agent", contact_id="contact")
SLOT = Slot(
    subject="contact", attribute="city", value="Delft", value_key="delft", is_single_valued=True
)
JUDGEMENT = Judgement(
    reasoning="Same channel.",
    relation=Relation.REFINES,
    target=1,
    action=Action.UPDATE,
    confidence=0.9,
    usage=Usage(input_tokens=2_000, output_tokens=100),
)
AWAY = ArbiterUnavailableError("no answer within 10 s")
MINUTE, DAY = 60.0, 86_400.0

Outcome = Judgement | BaseException | object


class Stopwatch:
    """Seconds that pass only when a test lets them."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds


class Answering:
    """An arbiter that always meets with ``outcome``, which a test may change; counts its calls."""

    name = "answering/arbiter-v0"

    def __init__(self, outcome: Outcome = JUDGEMENT) -> None:
        self.outcome = outcome
        self.count = 0
        self.on_call: Callable[[], object] = lambda: None

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.count += 1
        self.on_call()
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome  # type: ignore[return-value]

    def close(self) -> None:
        """Nothing to close."""


def note(text: str = "Prefers e-mail", **other: Any) -> Note:
    return Note(**{"scope": SCOPE, "text": text, "said_at": NOON, **other})


def neighbour(text: str = "Likes e-mail", **other: Any) -> Neighbour:
    given = {"fact_id": "fact", "cosine": 0.9, "valid_from": NOON - timedelta(days=9)}
    return Neighbour(text=text, **{**given, **other})


@pytest.fixture
def clock() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def arbiter() -> Answering:
    return Answering()


Build = Callable[..., Arbitration]
PRICES = {"usd_per_million_input_tokens": 1, "usd_per_million_output_tokens": 5}


@pytest.fixture
def build(arbiter: Answering, clock: Stopwatch) -> Build:
    return lambda **policy: Arbitration(arbiter, ArbitrationPolicy(**PRICES | policy), clock)


@pytest.fixture
def ask() -> Callable[[Arbitration], Opinion]:
    """Asks something that was never asked before."""
    numbers = iter(range(10_000_000))
    return lambda arbitration: arbitration.ask(note(f"Note {next(numbers)}"), [neighbour()])


Ask = Callable[[Arbitration], Opinion]


# An answer that is used


def test_an_answer_that_holds_is_the_judgement(build: Build, ask: Ask) -> None:
    opinion = ask(build())

    assert (opinion.judgement, opinion.answer, opinion.error) == (JUDGEMENT, JUDGEMENT, None)
    assert (opinion.reasoning, opinion.is_cached) == ("Same channel.", False)


def test_the_arbiters_name_is_the_arbitrations(build: Build, arbiter: Answering) -> None:
    assert build().name == arbiter.name


def test_milliseconds_are_those_of_the_call(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbiter.on_call = lambda: clock.passes(0.25)

    assert ask(build()).milliseconds == 250.0


def test_milliseconds_are_those_of_a_failure_too(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbiter.outcome, arbiter.on_call = AWAY, lambda: clock.passes(10)

    assert ask(build()).milliseconds == 10_000.0


def test_the_cost_is_tokens_times_prices(build: Build, ask: Ask) -> None:
    assert ask(build()).cost_usd == pytest.approx(0.0025)
    priced = {"usd_per_million_input_tokens": 3, "usd_per_million_output_tokens": 15}
    assert ask(build(**priced)).cost_usd == pytest.approx(0.0075)


def test_a_cost_that_nobody_knows_is_none(build: Build, ask: Ask, arbiter: Answering) -> None:
    assert ask(build(usd_per_million_output_tokens=None)).cost_usd is None
    assert ask(build(usd_per_million_input_tokens=None)).cost_usd is None
    arbiter.outcome = replace(JUDGEMENT, usage=None)
    assert ask(build()).cost_usd is None


# An answer that is not


def test_an_add_too_unsure_to_close_a_dispute_is_not_used(
    build: Build, ask: Ask, arbiter: Answering
) -> None:
    arbiter.outcome = replace(
        JUDGEMENT, relation=Relation.COEXISTS, action=Action.ADD, target=None, confidence=0.1
    )
    assert ask(build()).error == "its confidence 0.1 is below 0.5"


@pytest.mark.parametrize("target", [None, 1])
def test_a_judge_may_say_that_it_is_unsure_and_name_the_fact_that_it_suspects(
    build: Build, ask: Ask, arbiter: Answering, target: int | None
) -> None:
    arbiter.outcome = replace(
        JUDGEMENT, relation=Relation.UNSURE, action=Action.ADD, target=target, confidence=0.1
    )
    assert ask(build()).judgement == arbiter.outcome


@pytest.mark.parametrize(("confidence", "is_used"), [(0.49, False), (0.5, True), (0.51, True)])
def test_an_unsure_answer_is_not_used(
    build: Build, ask: Ask, arbiter: Answering, confidence: float, is_used: bool
) -> None:
    arbiter.outcome = replace(JUDGEMENT, confidence=confidence)

    assert (ask(build()).judgement is not None) is is_used


def test_an_unsure_answer_is_on_record_with_its_cost(
    build: Build, ask: Ask, arbiter: Answering
) -> None:
    arbiter.outcome = replace(JUDGEMENT, confidence=0.3)

    opinion = ask(build())
    assert opinion.error == "its confidence 0.3 is below 0.5"
    assert (opinion.answer, opinion.reasoning) == (arbiter.outcome, "Same channel.")
    assert opinion.cost_usd == pytest.approx(0.0025)


@pytest.mark.parametrize(("minimum", "confidence"), [(0.0, 0.0), (1.0, 1.0)])
def test_the_least_confidence_may_be_any(
    build: Build, ask: Ask, arbiter: Answering, minimum: float, confidence: float
) -> None:
    arbiter.outcome = replace(JUDGEMENT, confidence=confidence)

    assert ask(build(confidence_min=minimum)).judgement == arbiter.outcome


@pytest.mark.parametrize("confidence", [math.nan, math.inf, -math.inf, -0.01, 1.01, 7])
def test_a_confidence_out_of_its_range_is_none(
    build: Build, ask: Ask, arbiter: Answering, confidence: float
) -> None:
    arbiter.outcome = replace(JUDGEMENT, confidence=confidence)

    opinion = ask(build(confidence_min=0.0))
    assert opinion.judgement is None
    assert opinion.error is not None
    assert opinion.error.endswith("is not from 0 to 1")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (
            {"target": 2},
            "ArbiterAnswerError: UPDATE names fact 2, but only facts 1 to 1 were shown",
        ),
        (
            {"target": 0},
            "ArbiterAnswerError: UPDATE names fact 0, but only facts 1 to 1 were shown",
        ),
        (
            {"target": None},
            "ArbiterAnswerError: UPDATE names fact None, but only facts 1 to 1 were shown",
        ),
        (
            {"action": Action.SKIP},
            "ArbiterAnswerError: the relation refines does not allow the action SKIP",
        ),
    ],
)
def test_an_answer_that_points_nowhere_or_contradicts_itself_is_not_used(
    build: Build, ask: Ask, arbiter: Answering, wrong: dict[str, Any], error: str
) -> None:
    arbiter.outcome = replace(JUDGEMENT, **wrong)

    opinion = ask(build())
    assert (opinion.judgement, opinion.error) == (None, error)
    assert opinion.reasoning == "Same channel."
    assert opinion.cost_usd == pytest.approx(0.0025)


@pytest.mark.parametrize("target", [None, 0, 1, 99, -1])
def test_the_target_of_an_add_is_none(
    build: Build, ask: Ask, arbiter: Answering, target: int | None
) -> None:
    arbiter.outcome = replace(
        JUDGEMENT, relation=Relation.COEXISTS, action=Action.ADD, target=target
    )

    judgement = ask(build()).judgement
    assert judgement == replace(arbiter.outcome, target=None)


@pytest.mark.parametrize(
    "error",
    [
        AWAY,
        ArbiterRefusedError("the model declined"),
        ArbiterAnswerError("cut off"),
        RuntimeError("boom"),
        OSError("no network"),
    ],
)
def test_whatever_an_arbiter_raises_is_an_opinion(
    build: Build, ask: Ask, arbiter: Answering, error: Exception
) -> None:
    arbiter.outcome = error

    opinion = ask(build())
    assert opinion.error == f"{type(error).__name__}: {error}"
    assert (opinion.judgement, opinion.answer, opinion.reasoning) == (None, None, None)
    assert (opinion.cost_usd, opinion.is_cached) == (None, False)


@pytest.mark.parametrize("nonsense", [None, "UPDATE", 7, {"action": "UPDATE"}])
def test_nonsense_is_an_opinion_too(
    build: Build, ask: Ask, arbiter: Answering, nonsense: object
) -> None:
    arbiter.outcome = nonsense

    opinion = ask(build())
    assert opinion.judgement is None
    assert opinion.error


def test_an_interrupt_is_the_callers(build: Build, ask: Ask, arbiter: Answering) -> None:
    arbiter.outcome = KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        ask(build())


# The budget


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch, clock: Stopwatch) -> list[float]:
    """The waits of patient callers, each of which lets the clock go on by as much."""
    waited: list[float] = []

    def wait(_: threading.Event, timeout: float | None = None) -> bool:
        waited.append(timeout or 0.0)
        clock.passes(timeout or 0.0)
        return False

    monkeypatch.setattr(threading.Event, "wait", wait)
    return waited


def test_a_patient_caller_waits_until_the_minute_has_room(
    build: Build, clock: Stopwatch, waits: list[float]
) -> None:
    arbitration = build(calls_per_minute_max=2, cache_size_max=0)
    for _ in range(2):
        arbitration.ask(note(), [neighbour()], is_patient=True)
    clock.passes(45.0)
    assert arbitration.ask(note(), [neighbour()], is_patient=True).judgement
    assert waits == [15.0]


@pytest.mark.parametrize("bounds", [{"calls_per_day_max": 1}, {"calls_per_minute_max": 0}])
def test_what_no_minute_brings_back_is_not_waited_for(
    build: Build, waits: list[float], bounds: dict[str, int]
) -> None:
    arbitration = build(cache_size_max=0, **bounds)
    arbitration.ask(note(), [neighbour()], is_patient=True)
    opinion = arbitration.ask(note(), [neighbour()], is_patient=True)
    assert "over the budget" in str(opinion.error)
    assert not waits


def test_an_arbiter_that_is_away_is_not_waited_for(
    build: Build, arbiter: Answering, waits: list[float]
) -> None:
    arbitration, arbiter.outcome = build(breaker_failures_max=1, calls_per_minute_max=1), AWAY
    arbitration.ask(note(), [neighbour()], is_patient=True)
    assert "circuit open" in str(arbitration.ask(note(), [neighbour()], is_patient=True).error)
    assert not waits


def test_closing_ends_the_wait(build: Build) -> None:
    arbitration = build(calls_per_minute_max=1, cache_size_max=0)
    arbitration.ask(note(), [neighbour()])
    arbitration.close()
    opinion = arbitration.ask(note(), [neighbour()], is_patient=True)
    assert "over the budget" in str(opinion.error)


BUDGETS = [("calls_per_minute_max", MINUTE, "minute"), ("calls_per_day_max", DAY, "day")]


@pytest.mark.parametrize(("bound", "seconds", "unit"), BUDGETS)
def test_beyond_the_budget_nothing_is_asked(
    build: Build, ask: Ask, arbiter: Answering, bound: str, seconds: float, unit: str
) -> None:
    arbitration = build(**{bound: 3})

    used = [ask(arbitration).judgement for _ in range(5)]
    assert used == [JUDGEMENT] * 3 + [None] * 2
    assert arbiter.count == 3
    over = f"over the budget of 3 calls a {unit}; decided without the arbiter"
    assert ask(arbitration) == Opinion(error=over, cost_usd=0.0, by=arbiter.name)


@pytest.mark.parametrize(("bound", "seconds", "unit"), BUDGETS)
@pytest.mark.parametrize(("early", "is_asked"), [(1, False), (0, True), (-1, True)])
def test_a_budget_comes_back_when_its_time_is_over(
    build: Build,
    ask: Ask,
    clock: Stopwatch,
    bound: str,
    seconds: float,
    unit: str,
    early: float,
    is_asked: bool,
) -> None:
    arbitration = build(**{bound: 2})
    ask(arbitration)
    clock.passes(5)
    ask(arbitration)

    clock.passes(seconds - 5 - early)
    assert (ask(arbitration).judgement is not None) is is_asked
    assert ask(arbitration).judgement is None


@pytest.mark.parametrize(("bound", "seconds", "unit"), BUDGETS)
def test_a_budget_of_none_asks_nothing(
    build: Build, ask: Ask, arbiter: Answering, bound: str, seconds: float, unit: str
) -> None:
    assert f"over the budget of 0 calls a {unit}" in str(ask(build(**{bound: 0})).error)
    assert arbiter.count == 0


def test_there_are_never_more_in_any_minute(build: Build, ask: Ask, clock: Stopwatch) -> None:
    arbitration = build(calls_per_minute_max=10)
    asked_at = []
    for _ in range(1000):
        clock.passes(1.7)
        if ask(arbitration).judgement:
            asked_at.append(clock.now)

    assert len(asked_at) > 250
    assert all(later - at >= MINUTE for at, later in zip(asked_at, asked_at[10:], strict=False))


def test_a_day_may_be_tighter_than_a_minute(build: Build, ask: Ask, clock: Stopwatch) -> None:
    arbitration = build(calls_per_minute_max=60, calls_per_day_max=1)
    ask(arbitration)
    clock.passes(MINUTE)

    assert "1 calls a day" in str(ask(arbitration).error)


def test_what_is_turned_away_costs_no_budget(build: Build, ask: Ask, clock: Stopwatch) -> None:
    arbitration = build(calls_per_minute_max=1, calls_per_day_max=2)
    for _ in range(10):
        ask(arbitration)
    clock.passes(MINUTE)

    assert ask(arbitration).judgement == JUDGEMENT


def test_a_failure_costs_budget(build: Build, ask: Ask, arbiter: Answering) -> None:
    arbitration = build(calls_per_minute_max=1)
    arbiter.outcome = AWAY
    ask(arbitration)

    assert "over the budget" in str(ask(arbitration).error)


def test_large_numbers_are_words_that_a_person_can_read(build: Build, ask: Ask) -> None:
    arbitration = build(calls_per_minute_max=5000, calls_per_day_max=1200)
    for _ in range(1200):
        ask(arbitration)

    assert "1,200 calls a day" in str(ask(arbitration).error)


# The circuit breaker


def _fail(arbitration: Arbitration, ask: Ask, count: int) -> None:
    for _ in range(count):
        assert "no answer" in str(ask(arbitration).error)


@pytest.mark.parametrize("failures", [4, 5])
def test_failures_in_a_row_open_the_circuit(
    build: Build, ask: Ask, arbiter: Answering, failures: int
) -> None:
    arbitration = build(breaker_failures_max=5)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, failures)
    arbiter.outcome = JUDGEMENT

    assert (ask(arbitration).judgement is None) is (failures == 5)


def test_an_open_circuit_says_until_when_and_asks_nobody(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=5, breaker_reset_seconds=60)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 5)
    clock.passes(18.5)

    opinion = ask(arbitration)
    until = "circuit open after 5 failures, asked again in 42 s; decided without the arbiter"
    assert opinion == Opinion(error=until, cost_usd=0.0, by=arbiter.name)
    assert arbiter.count == 5


def test_an_answer_between_failures_starts_the_count_anew(
    build: Build, ask: Ask, arbiter: Answering
) -> None:
    arbitration = build(breaker_failures_max=3)
    for _ in range(4):
        arbiter.outcome = AWAY
        _fail(arbitration, ask, 2)
        arbiter.outcome = JUDGEMENT
        assert ask(arbitration).judgement == JUDGEMENT


@pytest.mark.parametrize(("early", "is_asked"), [(0.01, False), (0, True), (-0.01, True)])
def test_a_circuit_is_tried_again_after_its_time(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch, early: float, is_asked: bool
) -> None:
    arbitration = build(breaker_failures_max=2, breaker_reset_seconds=30)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 2)
    arbiter.outcome = JUDGEMENT
    clock.passes(30 - early)

    assert (ask(arbitration).judgement is not None) is is_asked


def test_a_trial_that_works_closes_the_circuit(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=2, breaker_reset_seconds=30)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 2)
    clock.passes(30)
    arbiter.outcome = JUDGEMENT
    ask(arbitration)

    arbiter.outcome = AWAY
    _fail(arbitration, ask, 2)
    assert "circuit open" in str(ask(arbitration).error)


def test_a_trial_that_fails_opens_the_circuit_for_as_long_again(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=2, breaker_reset_seconds=30)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 2)
    clock.passes(30)
    _fail(arbitration, ask, 1)

    assert "after 3 failures, asked again in 30 s" in str(ask(arbitration).error)
    clock.passes(29)
    assert "asked again in 1 s" in str(ask(arbitration).error)
    clock.passes(1)
    _fail(arbitration, ask, 1)


def test_while_one_question_tries_the_others_wait(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=1, breaker_reset_seconds=30)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 1)
    clock.passes(30)
    meanwhile: list[Opinion] = []

    def _another_asks() -> None:
        arbiter.on_call = lambda: None
        meanwhile.append(ask(arbitration))

    arbiter.outcome, arbiter.on_call = JUDGEMENT, _another_asks
    assert ask(arbitration).judgement == JUDGEMENT
    assert "circuit open" in str(meanwhile[0].error)
    assert ask(arbitration).judgement == JUDGEMENT


def test_a_trial_that_never_came_back_keeps_nobody_out_for_ever(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=1, breaker_reset_seconds=30)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 1)
    clock.passes(30)
    arbiter.outcome = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        ask(arbitration)

    arbiter.outcome = JUDGEMENT
    assert ask(arbitration).judgement is None
    clock.passes(30)
    assert ask(arbitration).judgement == JUDGEMENT


@pytest.mark.parametrize(
    "outcome",
    [
        ArbiterRefusedError("the model declined"),
        ArbiterAnswerError("cut off"),
        replace(JUDGEMENT, confidence=0.1),
        replace(JUDGEMENT, target=9),
    ],
)
def test_a_note_that_it_stumbles_over_opens_no_circuit(
    build: Build, ask: Ask, arbiter: Answering, outcome: Outcome
) -> None:
    arbitration = build(breaker_failures_max=2)
    arbiter.outcome = outcome
    for _ in range(10):
        ask(arbitration)

    arbiter.outcome = JUDGEMENT
    assert ask(arbitration).judgement == JUDGEMENT


@pytest.mark.parametrize("error", [AWAY, RuntimeError("boom"), OSError("no network")])
def test_an_arbiter_that_is_away_or_broken_opens_the_circuit(
    build: Build, ask: Ask, arbiter: Answering, error: Exception
) -> None:
    arbitration = build(breaker_failures_max=1)
    arbiter.outcome = error
    ask(arbitration)

    assert "circuit open" in str(ask(arbitration).error)


def test_an_open_circuit_costs_no_budget(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=1, breaker_reset_seconds=1, calls_per_minute_max=2)
    arbiter.outcome = AWAY
    for _ in range(10):
        ask(arbitration)
    clock.passes(1)
    arbiter.outcome = JUDGEMENT

    assert ask(arbitration).judgement == JUDGEMENT


def test_a_trial_that_the_budget_forbids_is_no_trial(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch
) -> None:
    arbitration = build(breaker_failures_max=1, breaker_reset_seconds=10, calls_per_minute_max=1)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 1)
    arbiter.outcome = JUDGEMENT
    clock.passes(MINUTE - 1)
    assert "over the budget" in str(ask(arbitration).error)

    clock.passes(1)
    assert ask(arbitration).judgement == JUDGEMENT


# The cache


def test_the_same_question_is_asked_once(build: Build, arbiter: Answering) -> None:
    arbitration = build()
    first, second = (arbitration.ask(note(), [neighbour()]) for _ in range(2))

    assert arbiter.count == 1
    assert (first.is_cached, second.is_cached) == (False, True)
    assert (second.error, second.reasoning) == (None, first.reasoning)
    assert (second.cost_usd, second.milliseconds) == (0.0, 0.0)
    assert second.judgement == replace(JUDGEMENT, usage=None)


def test_an_answer_that_is_remembered_counts_against_no_bound(
    build: Build, ask: Ask, arbiter: Answering
) -> None:
    arbitration = build(calls_per_minute_max=2, breaker_failures_max=1)
    arbitration.ask(note(), [neighbour()])
    for _ in range(10):
        arbitration.ask(note(), [neighbour()])
    arbiter.outcome = AWAY

    assert "no answer" in str(ask(arbitration).error)
    assert "circuit open" in str(ask(arbitration).error)
    assert arbitration.ask(note(), [neighbour()]).is_cached


THE_SAME = {
    "another contact": (note(scope=replace(SCOPE, agent_id="b", contact_id="b")), neighbour()),
    "another hour of the day": (note(said_at=NOON + timedelta(hours=3)), neighbour()),
    "what no arbiter sees": (
        note(importance=0.9, contact_name="B", session_id="b", idempotency_key="b"),
        neighbour(fact_id="b", cosine=0.85),
    ),
}

ANOTHER = {
    "text": (note("Prefers post"), [neighbour()]),
    "day": (note(said_at=NOON + timedelta(days=1)), [neighbour()]),
    "day from which it holds": (note(valid_from=NOON - timedelta(days=1)), [neighbour()]),
    "source": (note(source_kind=SourceKind.MODEL_GUESS), [neighbour()]),
    "slot": (note(slot=SLOT), [neighbour()]),
    "fact": (note(), [neighbour("Likes post")]),
    "fact's day": (note(), [neighbour(valid_from=NOON)]),
    "fact's source": (note(), [neighbour(trust=SourceKind.MODEL_GUESS)]),
    "fact's slot": (note(), [neighbour(slot=SLOT)]),
    "one fact more": (note(), [neighbour(), neighbour("Likes post")]),
}


def test_one_tenant_does_not_learn_what_another_asked(build: Build, arbiter: Answering) -> None:
    arbitration = build()
    for tenant in ("a", "b"):
        asked = note(scope=replace(SCOPE, tenant=tenant))
        assert not arbitration.ask(asked, (neighbour(),)).is_cached


@pytest.mark.parametrize(("that", "fact"), THE_SAME.values(), ids=THE_SAME.keys())
def test_what_the_arbiter_does_not_see_makes_no_other_question(
    build: Build, that: Note, fact: Neighbour
) -> None:
    arbitration = build()
    arbitration.ask(note(), [neighbour()])

    assert arbitration.ask(that, [fact]).is_cached


@pytest.mark.parametrize(("that", "facts"), ANOTHER.values(), ids=ANOTHER.keys())
def test_another_question_is_asked(build: Build, that: Note, facts: list[Neighbour]) -> None:
    arbitration = build()
    arbitration.ask(note(), [neighbour()])

    assert not arbitration.ask(that, facts).is_cached


def test_the_order_of_facts_makes_another_question(build: Build) -> None:
    arbitration, facts = build(), [neighbour("One"), neighbour("Two")]
    arbitration.ask(note(), facts)

    assert not arbitration.ask(note(), facts[::-1]).is_cached


def test_another_arbiters_answer_is_another_key(arbiter: Answering, clock: Stopwatch) -> None:
    arbitration = Arbitration(arbiter, ArbitrationPolicy(), clock)
    arbitration.ask(note(), [neighbour()])
    arbitration.name = "answering/arbiter-v1"

    assert not arbitration.ask(note(), [neighbour()]).is_cached


@pytest.mark.parametrize(
    "outcome",
    [
        AWAY,
        ArbiterRefusedError("the model declined"),
        ArbiterAnswerError("cut off"),
        RuntimeError("boom"),
        replace(JUDGEMENT, confidence=0.1),
        replace(JUDGEMENT, target=9),
    ],
)
def test_what_was_not_used_is_asked_again(
    build: Build, arbiter: Answering, outcome: Outcome
) -> None:
    arbitration = build()
    arbiter.outcome = outcome
    arbitration.ask(note(), [neighbour()])
    arbiter.outcome = JUDGEMENT

    opinion = arbitration.ask(note(), [neighbour()])
    assert (opinion.judgement, opinion.is_cached) == (JUDGEMENT, False)


@pytest.mark.parametrize(("size", "is_cached"), [(2, False), (3, True), (4, True)])
def test_what_was_used_longest_ago_is_forgotten_first(
    build: Build, ask: Ask, size: int, is_cached: bool
) -> None:
    arbitration = build(cache_size_max=size)
    arbitration.ask(note("first"), [neighbour()])
    arbitration.ask(note("second"), [neighbour()])
    arbitration.ask(note("first"), [neighbour()])
    ask(arbitration)

    assert arbitration.ask(note("first"), [neighbour()]).is_cached
    assert arbitration.ask(note("second"), [neighbour()]).is_cached is is_cached


def test_without_a_cache_every_question_is_asked(build: Build, arbiter: Answering) -> None:
    arbitration = build(cache_size_max=0)
    opinions = [arbitration.ask(note(), [neighbour()]) for _ in range(2)]

    assert [each.judgement for each in opinions] == [JUDGEMENT] * 2
    assert arbiter.count == 2


# Threads


def _dawdling(method: Callable[..., Any]) -> Callable[..., Any]:
    """Lets another thread in between what the method finds out and what follows from it."""

    def _dawdle(*arguments: Any) -> Any:
        found = method(*arguments)
        time.sleep(0.0005)
        return found

    return _dawdle


def _in_threads(count: int, call: Callable[[], object]) -> None:
    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_share_one_budget(build: Build, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Budget, "obstacle", _dawdling(_Budget.obstacle))
    arbitration = build(calls_per_minute_max=50)
    opinions: list[Opinion] = []

    def _ask_often() -> None:
        opinions.extend(ask(arbitration) for _ in range(25))

    _in_threads(8, _ask_often)
    assert len(opinions) == 200
    assert sum(each.judgement is not None for each in opinions) == 50


def test_threads_share_one_cache(
    build: Build, arbiter: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cache, "__getitem__", _dawdling(Cache.__getitem__))
    arbitration = build(cache_size_max=2, calls_per_minute_max=10_000)
    opinions: list[Opinion] = []

    def _ask_often() -> None:
        notes = [note(f"Note {number % 5}") for number in range(60)]
        opinions.extend(arbitration.ask(each, [neighbour()]) for each in notes)

    _in_threads(8, _ask_often)
    assert len(opinions) == 480
    assert all(each.judgement for each in opinions)


def test_threads_are_answered_side_by_side(build: Build, ask: Ask, arbiter: Answering) -> None:
    arbitration = build()
    together = threading.Barrier(4, timeout=5)
    arbiter.on_call = together.wait
    opinions: list[Opinion] = []

    _in_threads(4, lambda: opinions.append(ask(arbitration)))
    assert [each.judgement for each in opinions] == [JUDGEMENT] * 4


def test_of_many_threads_one_tries_an_open_circuit(
    build: Build, ask: Ask, arbiter: Answering, clock: Stopwatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Breaker, "obstacle", _dawdling(_Breaker.obstacle))
    arbitration = build(breaker_failures_max=1, breaker_reset_seconds=30)
    arbiter.outcome = AWAY
    _fail(arbitration, ask, 1)
    clock.passes(30)
    arbiter.on_call = lambda: time.sleep(0.05)

    _in_threads(16, lambda: ask(arbitration))
    assert arbiter.count == 2


# The policy


@pytest.mark.parametrize(
    ("bound", "right"),
    [
        ("calls_per_minute_max", [1, 10**30]),
        ("calls_per_day_max", [1, 10**30]),
        ("breaker_failures_max", [1]),
        ("breaker_reset_seconds", [0.001, 10]),
        ("cache_size_max", [0, 1, 10**30]),
        ("confidence_min", [0, 1]),
        ("usd_per_million_input_tokens", [0, 0.5]),
        ("usd_per_million_output_tokens", [0, 0.5]),
    ],
)
def test_a_bound_within_its_range_works(
    build: Build, ask: Ask, arbiter: Answering, bound: str, right: list[Any]
) -> None:
    arbiter.outcome = replace(JUDGEMENT, confidence=1.0)
    for value in right:
        assert ask(build(**{bound: value})).judgement == arbiter.outcome


# A first judge that costs nothing

BOTH_HOLD = replace(JUDGEMENT, relation=Relation.COEXISTS, action=Action.ADD, target=None)


class First(Answering):
    name = "first/judge"


@pytest.fixture
def first() -> First:
    return First(BOTH_HOLD)


@pytest.fixture
def with_first(arbiter: Answering, first: First, clock: Stopwatch) -> Arbitration:
    return Arbitration(arbiter, ArbitrationPolicy(calls_per_minute_max=1), clock, first=first)


def test_where_the_first_judge_is_sure_that_all_holds_the_arbiter_is_not_asked(
    with_first: Arbitration, ask: Ask, arbiter: Answering, first: First
) -> None:
    opinions = [ask(with_first) for _ in range(3)]
    assert [each.judgement for each in opinions] == [BOTH_HOLD] * 3
    assert {(each.by, each.cost_usd) for each in opinions} == {(first.name, 0.0)}
    assert (first.count, arbiter.count) == (3, 0)


@pytest.mark.parametrize(
    "outcome",
    [
        JUDGEMENT,
        replace(BOTH_HOLD, relation=Relation.UNSURE),
        replace(BOTH_HOLD, relation=Relation.UNSURE, target=1),
        AWAY,
    ],
)
def test_in_any_other_case_it_is(
    with_first: Arbitration, ask: Ask, arbiter: Answering, first: First, outcome: Outcome
) -> None:
    first.outcome = outcome
    opinion = ask(with_first)
    assert (opinion.judgement, opinion.by) == (JUDGEMENT, arbiter.name)


def test_what_the_first_judge_spares_is_no_call_of_the_budget(
    with_first: Arbitration, ask: Ask, first: First
) -> None:
    for _ in range(3):
        ask(with_first)
    first.outcome = AWAY
    assert ask(with_first).error is None
    assert "over the budget" in str(ask(with_first).error)


def test_a_free_judge_has_no_budget_and_no_cost(arbiter: Answering, ask: Ask) -> None:
    free = Arbitration(arbiter, ArbitrationPolicy(calls_per_minute_max=0), is_free=True)
    opinion = ask(free)
    assert (opinion.judgement, opinion.cost_usd) == (JUDGEMENT, 0.0)


def test_a_free_judge_is_quick_once_it_has_answered(arbiter: Answering, ask: Ask) -> None:
    free, costly = (
        Arbitration(arbiter, ArbitrationPolicy(), is_free=is_free) for is_free in (True, False)
    )
    assert not free.is_quick
    for each in (free, costly):
        ask(each)
    assert (free.is_quick, costly.is_quick) == (True, False)


@pytest.mark.parametrize("error", [ConfigurationError("no weights"), ArbiterUnavailableError("no")])
def test_a_judge_that_cannot_be_loaded_stops_no_warm_up(
    arbiter: Answering, error: Exception
) -> None:
    arbiter.outcome = error
    free = Arbitration(arbiter, ArbitrationPolicy(), is_free=True)
    free.warm_up()
    assert not free.is_quick


def test_the_first_judge_is_warmed_up_and_no_judge_that_costs(
    arbiter: Answering, first: First
) -> None:
    Arbitration(arbiter, ArbitrationPolicy()).warm_up()
    assert arbiter.count == 0
    Arbitration(arbiter, ArbitrationPolicy(), first=first).warm_up()
    assert (first.count, arbiter.count) == (1, 0)
