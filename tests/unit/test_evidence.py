"""What a fact rests on, put together from what the stores have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, strategies as st

from reconciler.domain.recalling.history import Said, evidence_of, mentions, restated_beneath
from reconciler.domain.records.candidates import FactEvidence
from reconciler.domain.records.facts import Fact, Supersession
from reconciler.domain.records.kinds import SourceKind

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


def fact(fact_id: str = "new", **given: Any) -> Fact:
    usual: dict[str, Any] = {"text": "Likes tea", "trust": SourceKind.OPERATOR, "observations": 1}
    times = dict.fromkeys(("recorded_at", "valid_from", "last_confirmed_at"), NOON)
    return Fact(fact_id=fact_id, **usual | times | given)


def said(fact_id: str = "new", **given: Any) -> Said:
    usual: dict[str, Any] = {
        **{"episode_id": "one", "role": None, "text": "Likes tea", "spans": ()},
        **{"said_at": NOON, "session_id": "s", "channel": None, "source_reference": None},
        "source_kind": SourceKind.TOOL_OUTPUT,
    }
    return Said(fact_id=fact_id, **usual | given)


def link(new_id: str, old_id: str, *, is_restatement: bool = True) -> Supersession:
    told: dict[str, Any] = {"decided_by": "slot", "reason": "", "at": NOON}
    return Supersession(new_id=new_id, old_id=old_id, is_restatement=is_restatement, **told)


def of(*turns: Said, chain: tuple[str, ...] = ("new",)) -> FactEvidence:
    return evidence_of(fact(), chain, turns, {})


def test_a_chain_of_restatements_ends_where_something_else_was_said() -> None:
    links = [link("new", "mid"), link("mid", "old"), link("old", "other", is_restatement=False)]
    assert restated_beneath("new", links) == ("new", "mid", "old")


def test_a_circle_of_restatements_ends() -> None:
    assert restated_beneath("a", [link("a", "b"), link("b", "a")]) == ("a", "b")


def test_a_turn_without_a_decision_belongs_to_the_deepest_fact_that_rests_on_it() -> None:
    [turn] = of(said("new"), said("old"), chain=("new", "old")).turns
    assert (turn.fact_id, turn.is_beneath, turn.taken_by) == ("old", True, ())


def test_a_fact_that_rests_on_nothing_says_so() -> None:
    assert of().statement == "No words of the contact: no turn is on record that it rests on."


def test_words_of_several_sources_are_named_from_the_most_trusted_on() -> None:
    found = of(said(), said(episode_id="two", source_kind=SourceKind.OPERATOR))
    expected = "No words of the contact: from an operator's words and a tool's output."
    assert found.statement == expected


@given(st.permutations(range(4)))
def test_turns_come_in_the_order_in_which_they_were_said(hours: list[int]) -> None:
    told = [said(episode_id=str(hour), said_at=NOON + timedelta(hours=hour)) for hour in hours]
    assert [turn.episode_id for turn in of(*told).turns] == ["0", "1", "2", "3"]


def test_a_fact_is_about_words_that_all_stand_in_it() -> None:
    assert mentions(fact(text="Likes green Tea"), "tea GREEN")
    assert not mentions(fact(text="Likes green tea"), "tea black")
