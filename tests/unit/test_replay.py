from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, strategies as st

from reconciler.domain.reconciling.rule import check_judgement, decide, replaceable
from reconciler.domain.records.decisions import (
    ACTIONS_OF_RELATION,
    Comparison,
    Decision,
    Judgement,
    Verdict,
)
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, Outcome, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import ArbiterAnswerError
from tests.records import changed, decision_of
from tests.replaying import replay
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=6)  # all that the notes and facts say has begun
SEED = ReconcilePolicy()
WIDE = ReconcilePolicy(cosine_update_min=0.95, cosine_add_max=0.5, cosine_cut=0.9, profile="wide")
BOLD = ReconcilePolicy(cosine_update_min=0.8, cosine_add_max=0.7, cosine_cut=0.75, profile="bold")
SCOPE = Scope("acme", "crm", "alice")


def note(text: str = "Prefers email.", **given: Any) -> Note:
    return Note(scope=SCOPE, text=text, said_at=NOON, **given)


def near(*cosines: float, text: str = "Prefers e-mail") -> list[Neighbour]:
    return [
        Neighbour(
            fact_id=f"fact-{number}",
            text=text,
            cosine=cosine,
            valid_from=NOON - timedelta(days=number),
        )
        for number, cosine in enumerate(cosines, start=1)
    ]


def replaces(target: int = 1) -> Judgement:
    return Judgement(
        reasoning="moved on", relation=Relation.REPLACES, target=target, action=Action.UPDATE
    )


def recorded(
    about: Note,
    neighbours: Sequence[Neighbour] | None,
    policy: ReconcilePolicy = SEED,
    judgement: Judgement | None = None,
    **given: Any,
) -> Decision:
    """What the engine would have kept of deciding so; the record that a replay starts from."""
    verdict = decide(about, neighbours, policy)
    asked = judgement is not None and verdict.can_be_arbitrated
    if asked:
        verdict = decide(about, neighbours, policy, judgement)
    values = (
        _outcome(verdict)
        | _thresholds(policy)
        | (_answer(about, neighbours or (), judgement) if asked and judgement else {})
        | given
    )
    return decision_of(
        decision_id="decision",
        text=about.text,
        slot=about.slot,
        trust=about.trust,
        valid_from=about.holds_from,
        said_at=about.said_at,
        at=LATER,
        episode_id="episode",
        tenant=about.scope.tenant,
        agent_id=about.scope.agent_id,
        contact_id=about.scope.contact_id,
        embedding_model="model@1",
        door="live",
        compared_with=tuple(_comparisons(neighbours or ())),
        **values,
    )


def _outcome(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.by_id(),
        "cosine": verdict.target.cosine if verdict.target else None,
        "fact_id": verdict.targets[0].fact_id if verdict.action is Action.SKIP else "new",
    }


def _thresholds(policy: ReconcilePolicy) -> dict[str, Any]:
    return {
        "profile": policy.profile,
        "cosine_update_min": policy.cosine_update_min,
        "cosine_add_max": policy.cosine_add_max,
        "cosine_cut": policy.cut,
        "guard": policy.guard,
    }


def _answer(about: Note, neighbours: Sequence[Neighbour], judgement: Judgement) -> dict[str, Any]:
    shown = replaceable(about, neighbours)
    target = judgement.target and list(neighbours).index(shown[judgement.target - 1]) + 1
    return {
        "arbiter": "scripted",
        "arbiter_reasoning": judgement.reasoning,
        "arbiter_relation": judgement.relation,
        "arbiter_action": judgement.action,
        "arbiter_target": target,
        "arbiter_confidence": judgement.confidence,
    }


def _comparisons(neighbours: Sequence[Neighbour]) -> list[Comparison]:
    return [
        Comparison(
            fact_id=each.fact_id,
            text=each.text,
            cosine=each.cosine,
            valid_from=each.valid_from,
            trust=each.trust,
            slot=each.slot,
            rank=rank,
        )
        for rank, each in enumerate(neighbours, start=1)
    ]


cosines = st.floats(-1, 1)
slots = st.none() | st.builds(
    lambda subject, attribute, value, is_single: Slot(
        subject=subject,
        attribute=attribute,
        value=value,
        value_key=value,
        is_single_valued=is_single,
    ),
    st.sampled_from(["contact", "wife"]),
    st.sampled_from([None, "city", "allergy"]),
    st.sampled_from([None, "pune", "goa"]),
    st.booleans(),
)
texts = st.sampled_from(["Invoice 1042 is unpaid", "Invoice 1043 is unpaid", "Is not in Pune"])
trusts = st.sampled_from(SourceKind)
days = st.integers(-5, 5).map(lambda count: NOON + timedelta(days=count))
notes = st.builds(note, texts, slot=slots, source_kind=trusts, valid_from=st.none() | days)
neighbourhoods = st.none() | st.lists(
    st.tuples(texts, cosines, slots, trusts, days), max_size=7
).map(
    lambda rows: [
        Neighbour(
            fact_id=f"fact-{number}",
            text=text,
            cosine=cosine,
            slot=slot,
            trust=trust,
            valid_from=valid_from,
        )
        for number, (text, cosine, slot, trust, valid_from) in enumerate(
            sorted(rows, key=lambda row: -row[1]), start=1
        )
    ]
)
policies = st.tuples(cosines, cosines, cosines, st.booleans()).map(
    lambda values: ReconcilePolicy(
        cosine_add_max=sorted(values[:3])[0],
        cosine_cut=sorted(values[:3])[1],
        cosine_update_min=sorted(values[:3])[2],
        guard=values[3],
    )
)
judgements = st.none() | st.sampled_from(Relation).flatmap(
    lambda relation: st.builds(
        Judgement,
        reasoning=st.just("because"),
        relation=st.just(relation),
        target=st.integers(1, 5),
        action=st.sampled_from(sorted(ACTIONS_OF_RELATION[relation])),
    )
)


def checked(
    judgement: Judgement | None, about: Note, neighbours: Sequence[Neighbour] | None
) -> Judgement | None:
    """The judgement if the engine would have used it."""
    count = len(replaceable(about, neighbours or ()))
    try:
        if judgement is not None:
            check_judgement(judgement, count)
    except ArbiterAnswerError:
        return None
    return None if judgement is None or (judgement.target or 0) > count else judgement


def effect(verdict: Verdict) -> tuple[object, ...]:
    """All of a verdict; a record's comparisons are neighbours with a rank."""
    ids = [[each.fact_id for each in facts] for facts in (verdict.targets, verdict.conflicts)]
    return (*ids, replace(verdict, targets=(), conflicts=()))


@given(notes, neighbourhoods, policies, judgements)
def test_a_decision_replayed_under_its_own_policy_is_itself(
    about: Note,
    neighbours: list[Neighbour] | None,
    policy: ReconcilePolicy,
    judgement: Judgement | None,
) -> None:
    judgement = checked(judgement, about, neighbours)
    decision = recorded(about, neighbours, policy, judgement)
    replayed = replay(decision, policy)
    assert replayed.is_same
    assert not replayed.would_ask
    assert replayed.verdict.decided_by is decision.decided_by
    assert replayed.before is replayed.after


@given(notes, neighbourhoods, policies, policies, judgements)
def test_a_replay_is_what_the_engine_would_decide_on_the_same_evidence(
    about: Note,
    neighbours: list[Neighbour] | None,
    then: ReconcilePolicy,
    now: ReconcilePolicy,
    judgement: Judgement | None,
) -> None:
    judgement = checked(judgement, about, neighbours)
    decision = recorded(about, neighbours, then, judgement)
    replayed = replay(decision, now)
    fresh = decide(about, neighbours, now)
    if decision.opinion.arbiter is not None and fresh.can_be_arbitrated:
        fresh = decide(about, neighbours, now, judgement)
    assert effect(replayed.verdict) == effect(fresh)


def test_lower_thresholds_turn_an_add_into_an_update() -> None:
    replayed = replay(recorded(note(), near(0.82)), BOLD)
    assert (replayed.before, replayed.after) == (Outcome.APART, Outcome.SUPERSEDED)
    assert not replayed.is_same


def test_without_an_embedder_nothing_was_compared_and_the_note_stays_added() -> None:
    decision = recorded(note(), None)
    replayed = replay(decision, BOLD)
    assert (decision.decided_by, replayed.verdict.decided_by) == (DecidedBy.NOOP, DecidedBy.NOOP)
    assert replayed.is_same


@every(
    ("cosine", "policy", "would_ask"),
    [(0.6, WIDE, True), (0.85, WIDE, False), (0.6, SEED, False), (0.97, WIDE, False)],
)
def test_only_a_note_that_newly_falls_between_the_thresholds_would_be_asked_about(
    cosine: float, policy: ReconcilePolicy, would_ask: bool
) -> None:
    assert replay(recorded(note(), near(cosine)), policy).would_ask is would_ask


def test_a_note_that_was_asked_about_then_is_not_newly_asked_about() -> None:
    decision = changed(recorded(note(), near(0.6)), arbiter="scripted", arbiter_error="away")
    assert not replay(decision, WIDE).would_ask


def test_a_guard_that_was_off_then_may_have_the_arbiter_asked_now() -> None:
    about, neighbours = note("Invoice 1043 is unpaid"), near(0.97, text="Invoice 1042 is unpaid")
    unguarded = recorded(about, neighbours, replace(SEED, guard=False))
    assert replay(unguarded, SEED).would_ask
    assert not replay(recorded(about, neighbours), SEED).would_ask


def test_an_arbiters_answer_is_used_again_while_the_note_lies_between_the_thresholds() -> None:
    decision = recorded(note(), near(0.85, 0.84), judgement=replaces(2))
    assert replay(decision, WIDE).is_same
    assert replay(decision, WIDE).verdict.targets[0].fact_id == "fact-2"
    assert replay(decision, BOLD).verdict.targets[0].fact_id == "fact-1"


def test_an_arbiters_target_is_a_rank_among_all_that_was_compared() -> None:
    wife = Slot(subject="wife", attribute=None, value=None, value_key=None, is_single_valued=False)
    nearest, *others = near(0.88, 0.86, 0.85)
    neighbours = [replace(nearest, slot=wife), *others]
    about = note(slot=replace(wife, subject="contact"))
    decision = recorded(about, neighbours, judgement=replaces(2))
    assert decision.opinion.target == 3
    assert replay(decision, WIDE).verdict.targets[0].fact_id == "fact-3"


def test_an_answer_that_was_not_used_then_is_not_used_now() -> None:
    decision = recorded(note(), near(0.85))
    failed = changed(
        decision,
        arbiter="scripted",
        arbiter_error="not sure enough",
        arbiter_relation=Relation.REPLACES,
        arbiter_action=Action.UPDATE,
        arbiter_target=1,
    )
    assert replay(failed, WIDE).after is Outcome.APART
    assert not replay(failed, WIDE).would_ask


@every("target", [None, 0, 3, 99])
def test_an_answer_about_a_fact_that_is_not_on_record_is_not_used(target: int | None) -> None:
    decision = recorded(note(), near(0.85), judgement=replaces())
    assert replay(changed(decision, arbiter_target=target), SEED).after is Outcome.APART


def test_superseding_another_fact_is_not_the_same_although_the_outcome_is() -> None:
    decision = changed(recorded(note(), near(0.97)), targets=("fact-9",))
    replayed = replay(decision, SEED)
    assert replayed.before is replayed.after
    assert not replayed.is_same


@every(
    ("given", "outcome"),
    [
        ({}, Outcome.APART),
        ({"conflicts": ("fact-1",)}, Outcome.CONFLICT),
        ({"targets": ("fact-1",), "is_history": True}, Outcome.HISTORY),
        ({"action": Action.SKIP}, Outcome.REPEATED),
        ({"action": Action.UPDATE}, Outcome.SUPERSEDED),
    ],
)
def test_a_record_has_the_outcome_that_was_written(given: dict[str, Any], outcome: Outcome) -> None:
    assert changed(recorded(note(), []), **given).verdict.outcome is outcome


def test_a_replay_says_what_went_where() -> None:
    apart, kept = Outcome.APART, Outcome.SUPERSEDED
    replayed = [replay(recorded(note(), near(cosine)), WIDE) for cosine in (0.3, 0.6, 0.89, 0.96)]
    changes = [(each.before, each.after) for each in replayed]
    assert changes == [(apart, apart), (apart, apart), (kept, apart), (kept, kept)]
    assert [each.is_same for each in replayed] == [True, True, False, True]
    assert sum(each.would_ask for each in replayed) == 1
