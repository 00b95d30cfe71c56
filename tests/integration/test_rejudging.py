"""What was decided while a judge did not answer, and what becomes of it once one does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from reconciler import Decision, Memory
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, Relation
from reconciler.domain.records.notes import Note
from reconciler.errors import ArbiterError, ArbiterUnavailableError, InvalidRequestError
from reconciler.service.writing.relating import Rejudged, Upheld
from reconciler.settings import load_settings
from reconciler.testing import ScriptedArbiter, TableEmbedder
from tests.engines import EngineUnderTest

CRM = ("crm", "priya")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
OLD, NEW, OTHER = "Likes short calls.", "She likes short calls best.", "Drinks oat milk."
BETWEEN = "Short calls suit her."
AWAY = ArbiterUnavailableError("no answer within 10 s")


def judged(relation: Relation, action: Action, target: int | None = 1) -> Judgement:
    return Judgement(reasoning="Read later.", relation=relation, target=target, action=action)


REPLACES = judged(Relation.REPLACES, Action.UPDATE)
SAME = judged(Relation.SAME, Action.SKIP)
COEXISTS = judged(Relation.COEXISTS, Action.ADD, None)


class ShopWithJudge:
    """A memory of two facts, and its judge, who was away when the second came."""

    def __init__(self, engine: EngineUnderTest, cosine: float) -> None:
        self.says: list[Judgement | ArbiterError] = [AWAY]
        beside = (1 - cosine**2) ** 0.5
        vectors = {
            OLD: [1.0, 0.0],
            NEW: [cosine, beside],
            OTHER: [cosine, -beside],
            BETWEEN: [0.86, 0.51],
        }
        seconds = count()  # which decision is newer is told by its time
        self.embedder = TableEmbedder(vectors, 2)
        self.memory = Memory.open(
            load_settings(**engine.settings_arguments, arbiter={"reach": 0.4}),
            embedder=self.embedder,
            arbiter=self,
            clock=lambda: NOON + timedelta(days=2, seconds=next(seconds)),
        )
        self.memory.add_contact_note(*CRM, OLD, said_at=NOON)
        self.made = self.memory.add_contact_note(*CRM, NEW, said_at=NOON + timedelta(days=1))

    name = "scripted/arbiter"

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        return ScriptedArbiter([self.says.pop(0)]).judge(note, neighbours)

    def close(self) -> None:
        """Nothing to close."""

    def rejudge(self, *answers: Judgement | ArbiterError) -> list[Rejudged]:
        self.says += answers
        return list(self.memory.contact(*CRM).rejudge())

    @property
    def live(self) -> set[str]:
        return {each.fact.text for each in self.memory.contact(*CRM).recall(limit=99)}


@pytest.fixture
def shop(kept_engine: EngineUnderTest) -> Iterator[ShopWithJudge]:
    shop = ShopWithJudge(kept_engine, cosine=0.5)
    yield shop
    shop.memory.close()


@pytest.fixture
def merged(kept_engine: EngineUnderTest) -> Iterator[ShopWithJudge]:
    """The same, so near that the midpoint ended the first fact."""
    shop = ShopWithJudge(kept_engine, cosine=0.9)
    yield shop
    shop.memory.close()


def test_what_no_judge_answered_is_on_record(shop: ShopWithJudge) -> None:
    assert shop.made.action is Action.ADD
    assert shop.made.opinion.is_missing
    assert "no answer within 10 s" in str(shop.made.opinion.error)


def test_a_judge_that_says_later_that_it_replaces_ends_the_fact(shop: ShopWithJudge) -> None:
    [rejudged] = shop.rejudge(REPLACES)
    assert (rejudged.became, shop.live) == (Upheld.AMENDED, {NEW})
    amendment = rejudged.amendment
    assert amendment is not None
    assert amendment.decided_by is DecidedBy.ARBITER
    shop.memory.contact(*CRM).revert(amendment.decision_id, reason="She likes both.", by="operator")
    assert shop.live == {OLD, NEW}


def test_a_judge_that_says_later_that_both_hold_changes_nothing_and_is_asked_once(
    shop: ShopWithJudge,
) -> None:
    assert [one.became for one in shop.rejudge(COEXISTS)] == [Upheld.UPHELD]
    assert shop.rejudge(REPLACES) == []
    assert shop.live == {OLD, NEW}


def test_no_note_is_embedded_again(shop: ShopWithJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shop.embedder, "embed", lambda _: pytest.fail("embedded again"))
    assert [one.became for one in shop.rejudge(REPLACES)] == [Upheld.AMENDED]


def test_a_judge_that_is_still_away_is_asked_again_later(shop: ShopWithJudge) -> None:
    assert [one.became for one in shop.rejudge(AWAY)] == [Upheld.UNJUDGED]
    assert [one.became for one in shop.rejudge(REPLACES)] == [Upheld.AMENDED]


def test_what_the_midpoint_ended_and_the_judge_keeps_apart_is_said_and_left_to_a_person(
    merged: ShopWithJudge,
) -> None:
    assert merged.live == {NEW}
    assert [one.became for one in merged.rejudge(COEXISTS)] == [Upheld.DOUBTED]
    assert merged.rejudge(REPLACES) == []
    merged.memory.contact(*CRM).revert(merged.made.decision_id, reason="Both hold.", by="operator")
    assert merged.live == {OLD}


def test_a_judge_that_is_unsure_changes_nothing_and_is_asked_once(merged: ShopWithJudge) -> None:
    unsure = replace(COEXISTS, relation=Relation.UNSURE)
    [rejudged] = merged.rejudge(unsure)
    assert (rejudged.became, rejudged.why) == (Upheld.UPHELD, "the judge is unsure")
    assert merged.rejudge(COEXISTS) == []
    assert merged.live == {NEW}


def test_what_the_midpoint_ended_and_the_judge_ends_too_stays(merged: ShopWithJudge) -> None:
    assert [one.became for one in merged.rejudge(REPLACES)] == [Upheld.UPHELD]
    assert merged.live == {NEW}
    assert merged.rejudge(COEXISTS) == []


def test_a_fact_that_has_ended_since_is_not_judged(shop: ShopWithJudge) -> None:
    shop.memory.contact(*CRM).revoke(str(shop.made.fact_id), by="operator", reason="Mistaken.")
    assert shop.rejudge(REPLACES) == []


def test_what_a_newer_fact_ends_is_not_asked_about(shop: ShopWithJudge) -> None:
    shop.says.append(AWAY)
    shop.memory.add_contact_note(*CRM, BETWEEN)
    [rejudged] = shop.rejudge(replace(REPLACES, also=(2,)))
    assert (rejudged.decision.text, shop.live) == (BETWEEN, {BETWEEN})


def test_a_decision_that_was_judged_is_left_alone(shop: ShopWithJudge) -> None:
    shop.says.append(COEXISTS)
    made: Decision = shop.memory.add_contact_note(*CRM, OTHER)
    assert not made.opinion.is_missing
    assert [one.decision for one in shop.rejudge(COEXISTS)] == [shop.made]


def test_without_a_judge_there_is_an_error_that_says_so(kept_engine: EngineUnderTest) -> None:
    with (
        Memory.open(**kept_engine.settings_arguments) as memory,
        pytest.raises(InvalidRequestError, match="no arbiter is configured"),
    ):
        memory.contact(*CRM).rejudge()
