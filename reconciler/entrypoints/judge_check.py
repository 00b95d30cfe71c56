"""Ten questions to the judge: is it reached, does it keep the format, does it understand notes?

The questions are data (``config/judge_questions.toml``). Calls go to the model and cost money;
nothing is written. The result has the form of all checks of the doctor.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import field
from datetime import UTC, datetime
from statistics import median

from reconciler.bootstrap import arbitration_policy, build_arbiter
from reconciler.config_files import load_judge_questions
from reconciler.domain.reconciling.by_model import check_judgement
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.judge_questions import JudgeQuestion
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ArbitrationPolicy
from reconciler.domain.records.scope import Scope
from reconciler.errors import ArbiterError, ArbiterUnavailableError, ReconcilerError
from reconciler.frozen import frozen
from reconciler.ports.arbiter import Arbiter
from reconciler.settings import Settings

_TRIES_TO_REACH = 2
"""A local model may load during the first call."""

_SCOPE = Scope(tenant="doctor", agent_id="doctor", contact_id="doctor")
_SAID_AT = datetime(2026, 6, 1, tzinfo=UTC)
_KNOWN_SINCE = datetime(2026, 3, 1, tzinfo=UTC)


@frozen
class _JudgeRun:
    """The answer to one question; ``made`` is None without a usable one."""

    question: JudgeQuestion
    seconds: float
    made: Judgement | None = None
    error: ArbiterError | None = None

    @property
    def is_expected(self) -> bool:
        expected, made = self.question, self.made
        if made is None or made.relation not in expected.relations:
            return False
        return expected.target is None or made.target == expected.target

    @property
    def in_words(self) -> str:
        """The answer, if it was not the expected one."""
        if self.made is None:
            return f"{self.question.about}: {self.error}"
        target = f" {self.made.target}" if self.made.target else ""
        return f"{self.question.about}: {self.made.relation}{target}"


def check_judge(settings: Settings) -> DoctorCheck:
    """Asks the configured arbiter ten questions; the check fails without any usable answer."""
    try:
        arbiter = build_arbiter(settings)
        questions = load_judge_questions()
    except ReconcilerError as error:
        return DoctorCheck(name="judge", is_ok=False, finding=str(error))
    if arbiter is None:
        how = f"set {settings.arbiter.key_variable}, or RECONCILER_ARBITER__BASE_URL"
        return DoctorCheck(name="judge", is_ok=False, finding=f"none to ask; {how}")
    with closing(arbiter):
        return _found(arbiter.name, _ask(arbiter, questions), arbitration_policy(settings))


def ask_once(arbiter: Arbiter) -> None:
    """Ask the first question alone.

    Raises:
        ArbiterError: there is no usable answer.
    """
    if error := _one(arbiter, load_judge_questions()[0]).error:
        raise error


def _ask(arbiter: Arbiter, questions: Sequence[JudgeQuestion]) -> list[_JudgeRun]:
    """The answers to all questions, or to the first ones if the judge cannot be reached."""
    asked: list[_JudgeRun] = []
    for question in questions:
        asked.append(_one(arbiter, question))
        if len(asked) == _TRIES_TO_REACH and not any(map(_is_reached, asked)):
            break
    return asked


def _one(arbiter: Arbiter, question: JudgeQuestion) -> _JudgeRun:
    note = Note(scope=_SCOPE, text=question.note, said_at=_SAID_AT)
    facts = [
        Neighbour(fact_id=f"fact-{number}", text=text, cosine=0.9, valid_from=_KNOWN_SINCE)
        for number, text in enumerate(question.facts, start=1)
    ]
    started = time.monotonic()
    try:
        made = arbiter.judge(note, facts)
        check_judgement(made, len(facts))
    except ArbiterError as error:
        return _JudgeRun(question=question, seconds=time.monotonic() - started, error=error)
    return _JudgeRun(question=question, seconds=time.monotonic() - started, made=made)


def _is_reached(asked: _JudgeRun) -> bool:
    return not isinstance(asked.error, ArbiterUnavailableError)


def _found(name: str, asked: Sequence[_JudgeRun], policy: ArbitrationPolicy) -> DoctorCheck:
    reached = [each for each in asked if _is_reached(each)]
    if not reached:
        return DoctorCheck(
            name="judge", is_ok=False, finding=f"{name}: not reached: {asked[-1].error}"
        )
    judgements = [each.made for each in reached if each.made is not None]
    expected = sum(each.is_expected for each in asked)
    seconds = median(each.seconds for each in reached)
    costs = [cost for made in judgements if (cost := policy.cost_usd(made.usage)) is not None]
    numbers = {
        "asked": len(asked),
        "reached": len(reached),
        "format_kept": len(judgements),
        "as_expected": expected,
        "median_seconds": round(seconds, 3),
        **({"cost_usd": round(sum(costs), 6)} if costs else {}),
    }
    other = "; ".join(each.in_words for each in asked if not each.is_expected)
    finding = (
        f"{name}: reached in {len(reached)} of {len(asked)}, format kept in {len(judgements)}, "
        f"{expected} of {len(asked)} as expected, median {seconds:.1f} s, "
        f"{_in_dollars(costs)}"
        f"{f'; otherwise: {other}' if other else ''}"
    )
    return DoctorCheck(name="judge", is_ok=bool(judgements), finding=finding, numbers=numbers)


def _in_dollars(costs: Sequence[float]) -> str:
    if costs:
        return f"${sum(costs):.4f}"
    return (
        "no price known; set arbiter.usd_per_million_input_tokens and "
        "usd_per_million_output_tokens to see the cost of a judge that tells its tokens"
    )


@frozen
class DoctorCheck:
    """One checked part; ``finding`` says what to do if it is not in order.

    Attributes:
        name: the part.
        is_ok: whether it is in order.
        finding: the result, for a person.
        numbers: counts by name; may be empty.
    """

    name: str
    is_ok: bool
    finding: str
    numbers: Mapping[str, float] = field(default_factory=dict)
