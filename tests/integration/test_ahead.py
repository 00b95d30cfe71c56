"""What is said of a day to come: until then what holds stays the value, from then on it is over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Action, Decision, Memory
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest

MAY = datetime(2025, 5, 10, 9, tzinfo=UTC)
JUNE, JULY = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    """The memory's time, which only a test moves."""

    def __init__(self) -> None:
        self.now = MAY

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(one_of_each: EngineUnderTest, clock: Clock) -> Iterator[Memory]:
    arguments = one_of_each.settings_arguments
    with Memory.open(embedder=HashingEmbedder(), clock=clock, **arguments) as opened:
        yield opened


def say(memory: Memory, text: str, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **given)


def lives_in(memory: Memory, city: str, **given: Any) -> Decision:
    return say(memory, f"Lives in {city}.", attribute="city", value=city, **given)


def cities(memory: Memory) -> list[str]:
    return [value.value for value in memory.contact("crm", "alice").value("city")]


def told(memory: Memory) -> dict[str, bool]:
    """What is recalled, and whether it is still to come."""
    return {
        hit.fact.text: hit.is_upcoming for hit in memory.contact("crm", "alice").recall(limit=100)
    }


@pytest.fixture
def planned(memory: Memory) -> Decision:
    """Lisbon now, Copenhagen from June on."""
    lives_in(memory, "Lisbon")
    return lives_in(memory, "Copenhagen", valid_from=JUNE)


def test_until_the_day_the_old_value_stays(memory: Memory, planned: Decision) -> None:
    assert planned.action is Action.ADD
    assert cities(memory) == ["Lisbon"]
    assert told(memory) == {"Lives in Lisbon.": False, "Lives in Copenhagen.": True}
    prompt = as_prompt(memory.contact("crm", "alice").recall())
    assert "(not yet, from 2025-06-01, contact's word)" in prompt
    assert "(since 2025-05-10, until 2025-06-01, contact's word)" in prompt


def test_on_the_day_the_new_value_holds_without_a_write(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = JUNE - timedelta(seconds=1)
    assert cities(memory) == ["Lisbon"]
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]
    assert told(memory) == {"Lives in Copenhagen.": False}


def test_a_look_back_finds_each_in_its_time(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    for clock.now, city in ((JUNE + 2 * DAY, "Oslo"), (JULY, "Rome")):
        say(memory, "Plays the cello.")
        lives_in(memory, city)
    for at, city in ((MAY + DAY, "Lisbon"), (JUNE + DAY, "Copenhagen"), (JULY - DAY, "Oslo")):
        found = memory.contact("crm", "alice").recall(valid_at=at, attribute="city")
        assert [hit.fact.text for hit in found] == [f"Lives in {city}."]


def test_what_has_ended_stays_out_of_recall_after_another_write(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = JULY
    say(memory, "Plays the cello.")
    assert set(told(memory)) == {"Lives in Copenhagen.", "Plays the cello."}


def test_what_changes_meanwhile_ends_on_the_day_as_well(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = MAY + DAY
    lives_in(memory, "Porto")
    assert cities(memory) == ["Porto"]
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]


@pytest.mark.parametrize("given", [{}, {"said_at": MAY + DAY}, {"valid_from": MAY + DAY}])
def test_an_older_note_ends_no_plan_and_lies_beneath_none(
    memory: Memory, planned: Decision, clock: Clock, given: dict[str, Any]
) -> None:
    clock.now = MAY + 2 * DAY
    assert not lives_in(memory, "Porto", **given).is_history
    assert cities(memory) == ["Porto"]
    assert told(memory)["Lives in Copenhagen."]


def test_what_is_said_again_meanwhile_ends_on_the_day_all_the_same(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = MAY + DAY
    lives_in(memory, "Lisbon")
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]


def test_a_plan_said_again_without_a_day_is_counted(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = MAY + DAY
    assert lives_in(memory, "Copenhagen").action is Action.SKIP
    assert cities(memory) == ["Lisbon"]


def test_a_plan_that_came_early_holds(memory: Memory, planned: Decision, clock: Clock) -> None:
    clock.now = MAY + 2 * DAY
    lives_in(memory, "Copenhagen", valid_from=MAY + DAY)
    assert cities(memory) == ["Copenhagen"]
    assert told(memory) == {"Lives in Copenhagen.": False}
    clock.now = JULY
    assert cities(memory) == ["Copenhagen"]


def test_what_ends_a_plan_goes_on_after_its_day(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = MAY + DAY
    lives_in(memory, "Oslo", replaces=[planned.fact_id])
    clock.now = JULY
    assert cities(memory) == ["Oslo"]


def test_what_a_plan_is_said_to_replace_later_holds_until_its_day(
    memory: Memory, clock: Clock
) -> None:
    now = lives_in(memory, "Lisbon")
    plan = lives_in(memory, "Copenhagen", valid_from=JUNE)
    memory.contact("crm", "alice").relate(str(plan.fact_id), replaces=[str(now.fact_id)])
    assert cities(memory) == ["Lisbon"]
    clock.now = JULY
    assert cities(memory) == ["Copenhagen"]


@pytest.mark.parametrize("city", ["Copenhagen", "Oslo"])
@pytest.mark.parametrize("day", [JULY, JUNE - DAY])
def test_another_plan_takes_the_place_of_the_first(
    memory: Memory, planned: Decision, clock: Clock, city: str, day: datetime
) -> None:
    clock.now = MAY + DAY
    assert lives_in(memory, city, valid_from=day).superseded_ids == (planned.fact_id,)
    clock.now = day - timedelta(seconds=1)
    assert cities(memory) == ["Lisbon"]
    clock.now = day
    assert cities(memory) == [city]


def test_a_plan_that_is_dropped_leaves_what_holds(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    assert planned.fact_id is not None
    memory.contact("crm", "alice").revoke(
        fact_id=planned.fact_id, by="operator", reason="She stays."
    )
    clock.now = JULY
    assert cities(memory) == ["Lisbon"]
    [hit] = memory.contact("crm", "alice").recall()
    assert (hit.fact.valid_to, hit.fact.expires_at) == (None, None)


def test_the_contact_drops_a_plan(memory: Memory, planned: Decision, clock: Clock) -> None:
    clock.now = MAY + DAY
    assert planned.fact_id is not None
    say(memory, "She is not moving to Copenhagen after all.", ends=[planned.fact_id])
    clock.now = JULY
    assert cities(memory) == ["Lisbon"]


def test_a_plan_that_is_reverted_gives_back_what_it_changed(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    memory.contact("crm", "alice").revert(
        planned.decision_id, by="operator", reason="Wrong contact."
    )
    clock.now = JULY
    assert cities(memory) == ["Lisbon"]


def test_what_an_agent_says_to_be_over_from_a_day_on_holds_until_then(
    memory: Memory, clock: Clock
) -> None:
    lisbon = lives_in(memory, "Lisbon")
    assert lisbon.fact_id is not None
    say(memory, "Leaves Lisbon in June.", ends=[lisbon.fact_id], valid_from=JUNE)
    assert cities(memory) == ["Lisbon"]
    clock.now = JUNE
    assert cities(memory) == []


def test_a_tool_says_that_it_holds_from_a_later_day_on(memory: Memory) -> None:
    lives_in(memory, "Lisbon")
    given = {"attribute": "city", "value": "Oslo", "valid_from": "2025-06-01"}
    said = {"text": "Moves to Oslo in June.", "source_kind": "contact"}
    reply = memory.agent_tools("crm", "alice").call("add_contact_note", said | given)
    assert "It holds from 2025-06-01 on." in reply.text
    assert "Until then stays: " in reply.text
