"""What is said of a day to come: until then what holds stays the value, from then on it is over."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Action, Decision, Memory
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.domain.records.facts import handle_of
from reconciler.errors import InvalidNoteError
from tests.clocks import Clock

MAY = datetime(2025, 5, 10, 9, tzinfo=UTC)
JUNE, JULY = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> Clock:
    return Clock(MAY)


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
    assert "(not yet, from 2025-06-01)" in prompt
    assert "(since 2025-05-10, until 2025-06-01)" in prompt


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


@pytest.mark.parametrize(("city", "day"), [("Copenhagen", JULY), ("Oslo", JUNE - DAY)])
def test_another_plan_takes_the_place_of_the_first(
    memory: Memory, planned: Decision, clock: Clock, city: str, day: datetime
) -> None:
    clock.now = MAY + DAY
    assert lives_in(memory, city, valid_from=day).superseded_ids == (planned.fact_id,)
    clock.now = day - timedelta(seconds=1)
    assert cities(memory) == ["Lisbon"]
    clock.now = day
    assert cities(memory) == [city]


def test_two_plans_follow_each_other(memory: Memory, planned: Decision, clock: Clock) -> None:
    then = lives_in(memory, "Porto", valid_from=JULY)
    assert cities(memory) == ["Lisbon"]
    clock.now = JUNE + DAY
    assert cities(memory) == ["Copenhagen"]
    clock.now = JULY + DAY
    assert cities(memory) == ["Porto"]
    memory.contact("crm", "alice").revert(then.decision_id, by="anna", reason="He stays.")
    assert cities(memory) == ["Copenhagen"]


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


@pytest.fixture
def works(memory: Memory) -> Decision:
    """At Acme now, at Globex from June on, the day on which she moves."""
    say(memory, "Works at Acme.", attribute="employer", value="Acme")
    return say(memory, "Works at Globex.", attribute="employer", value="Globex", valid_from=JUNE)


def employers(memory: Memory) -> list[str]:
    return [value.value for value in memory.contact("crm", "alice").value("employer")]


def revoke(memory: Memory, decision: Decision) -> Decision:
    person = {"by": "operator", "reason": "Asked."}
    return memory.contact("crm", "alice").revoke(fact_id=str(decision.fact_id), **person)


def revert(memory: Memory, decision: Decision, **how: Any) -> Decision:
    person = {"by": "operator", "reason": "Asked."}
    return memory.contact("crm", "alice").revert(decision.decision_id, **person, **how)


def forget(memory: Memory, decision: Decision) -> None:
    person = {"by": "operator", "reason": "Asked."}
    memory.contact("crm", "alice").forget(fact_id=str(decision.fact_id), **person)


def resolve(memory: Memory, decision: Decision) -> Decision:
    person = {"by": "operator", "reason": "Asked."}
    return memory.contact("crm", "alice").resolve(str(decision.fact_id), **person)


def own_end(memory: Memory, city: str) -> tuple[datetime | None, datetime | None]:
    hits = memory.contact("crm", "alice").recall(limit=100)
    [fact] = [hit.fact for hit in hits if hit.fact.text == f"Lives in {city}."]
    return fact.valid_to, fact.expires_at


def ends(memory: Memory, fact_id: str) -> tuple[datetime | None, datetime | None]:
    chains = memory.contact("crm", "alice").history()
    [fact] = [fact for chain in chains for fact in chain.facts if fact.fact_id == fact_id]
    return fact.valid_to, fact.expires_at


DROPPED = [revoke, revert, forget]


def test_one_of_two_plans_of_a_day_is_dropped_and_the_other_stays(
    memory: Memory, planned: Decision, works: Decision, clock: Clock
) -> None:
    revoke(memory, planned)
    assert (cities(memory), employers(memory)) == (["Lisbon"], ["Acme"])
    clock.now = JULY
    assert (cities(memory), employers(memory)) == (["Lisbon"], ["Globex"])


@pytest.mark.parametrize("drop", DROPPED)
def test_a_dropped_plan_gives_back_a_lifetime_and_an_end(
    memory: Memory, clock: Clock, drop: Any
) -> None:
    lives_in(memory, "Lisbon", valid_to=JULY)
    plan = lives_in(memory, "Copenhagen", valid_from=JUNE)
    assert own_end(memory, "Lisbon") == (JUNE, JUNE)
    drop(memory, plan)
    assert own_end(memory, "Lisbon") == (JULY, JULY)


@pytest.mark.parametrize(("drop", "is_counted"), [(revoke, True), (forget, False)])
def test_what_is_said_again_before_a_plan_is_dropped_is_renewed(
    memory: Memory, clock: Clock, drop: Any, is_counted: bool
) -> None:
    lisbon = str(lives_in(memory, "Lisbon", lifetime_days=300).fact_id)
    plan = lives_in(memory, "Copenhagen", valid_from=JUNE)
    clock.now = MAY + DAY
    again = lives_in(memory, "Lisbon", lifetime_days=9, repeats=lisbon if is_counted else None)
    assert (again.action is Action.SKIP) == is_counted
    stays = lisbon if is_counted else str(again.fact_id)
    assert ends(memory, stays) == (JUNE, JUNE)
    drop(memory, plan)
    assert ends(memory, stays) == (None, MAY + 301 * DAY)


@pytest.mark.parametrize("drop", [revoke, forget])
def test_what_changed_meanwhile_goes_on_once_the_plan_is_dropped(
    memory: Memory, planned: Decision, clock: Clock, drop: Any
) -> None:
    clock.now = MAY + DAY
    lives_in(memory, "Porto", lifetime_days=300)
    drop(memory, planned)
    assert own_end(memory, "Porto") == (None, MAY + 301 * DAY)


def test_what_ends_sooner_by_itself_is_left_so(memory: Memory) -> None:
    lives_in(memory, "Lisbon", valid_to=MAY + DAY)
    lives_in(memory, "Copenhagen", valid_from=JUNE)
    assert own_end(memory, "Lisbon") == (MAY + DAY, MAY + DAY)


@pytest.mark.parametrize("is_again", [False, True])
def test_a_change_that_was_made_meanwhile_is_reverted_and_the_plan_stays(
    memory: Memory, planned: Decision, clock: Clock, is_again: bool
) -> None:
    clock.now = MAY + DAY
    made = lives_in(memory, "Porto")
    undone = revert(memory, made)
    if is_again:
        revert(memory, undone)
    assert cities(memory) == (["Porto"] if is_again else ["Lisbon"])
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]


def test_what_was_ended_meanwhile_is_restored_and_the_plan_stays(
    memory: Memory, clock: Clock
) -> None:
    lisbon = lives_in(memory, "Lisbon")
    lives_in(memory, "Copenhagen", valid_from=JUNE)
    revert(memory, revoke(memory, lisbon))
    assert cities(memory) == ["Lisbon"]
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]


@pytest.mark.on_neo4j_too
def test_a_change_is_reverted_after_the_plan_was_forgotten(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = MAY + DAY
    made = lives_in(memory, "Porto")
    forget(memory, planned)
    clock.now = JULY
    revert(memory, made)
    assert cities(memory) == ["Lisbon"]


@pytest.mark.parametrize("drop", [revoke, revert])
def test_a_plan_that_is_dropped_by_mistake_comes_back(
    memory: Memory, planned: Decision, clock: Clock, drop: Any
) -> None:
    revert(memory, drop(memory, planned))
    assert cities(memory) == ["Lisbon"]
    assert own_end(memory, "Lisbon") == (JUNE, JUNE)
    clock.now = JULY
    assert cities(memory) == ["Copenhagen"]


def test_a_plan_that_is_reverted_twice_is_no_evidence_for_what_it_ends(
    memory: Memory, clock: Clock
) -> None:
    lisbon = lives_in(memory, "Lisbon")
    plan = lives_in(memory, "Copenhagen", valid_from=JUNE)
    revert(memory, revert(memory, plan))
    assert len(memory.contact("crm", "alice").evidence(str(lisbon.fact_id)).turns) == 1


def test_a_plan_that_began_is_forgotten_and_what_it_ended_stays_over(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    clock.now = JULY
    forget(memory, planned)
    assert cities(memory) == []


def test_a_fact_that_two_plans_end_ends_with_the_one_that_is_left(
    memory: Memory, clock: Clock
) -> None:
    rents = say(memory, "Rents a flat in Lisbon.")
    ends = [str(rents.fact_id)]
    first = say(memory, "Leaves the flat in Lisbon in June.", ends=ends, valid_from=JUNE)
    say(memory, "Sells all flats in Lisbon in July.", ends=ends, valid_from=JULY)
    revoke(memory, first)
    clock.now = JUNE + DAY
    assert "Rents a flat in Lisbon." in told(memory)
    clock.now = JULY
    assert "Rents a flat in Lisbon." not in told(memory)


@pytest.mark.parametrize("day", [JUNE, JULY])
def test_another_plan_ends_what_the_plan_was_to_end_whose_place_it_takes(
    memory: Memory, clock: Clock, day: datetime
) -> None:
    rents = say(memory, "Rents a flat in Lisbon.")
    plan = say(memory, "Leaves the flat in Lisbon.", replaces=[str(rents.fact_id)], valid_from=JUNE)
    clock.now = MAY + DAY
    say(memory, "Leaves Lisbon for Rome.", replaces=[str(plan.fact_id)], valid_from=day)
    clock.now = day - timedelta(seconds=1)
    assert told(memory) == {"Rents a flat in Lisbon.": False, "Leaves Lisbon for Rome.": True}
    clock.now = day
    assert told(memory) == {"Leaves Lisbon for Rome.": False}


@pytest.mark.parametrize(
    ("given", "filed"),
    [({}, {"attribute": "city", "value": "Copenhagen"}), ({"valid_from": JUNE}, {})],
)
def test_a_plan_said_again_in_other_words_gives_way(
    memory: Memory, planned: Decision, clock: Clock, given: dict[str, Any], filed: dict[str, Any]
) -> None:
    clock.now = MAY + DAY
    text, named = "From June on her home is Copenhagen.", [str(planned.fact_id)]
    say(memory, text, replaces=named, **given, **filed)
    assert told(memory) == {"Lives in Lisbon.": False, text: True}
    assert cities(memory) == ["Lisbon"]
    clock.now = JUNE
    assert told(memory) == {text: False}
    assert cities(memory) == ["Copenhagen"]


def test_an_operator_corrects_a_plan_which_stays_one(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    person = {"by": "operator", "reason": "Misheard."}
    memory.contact("crm", "alice").amend(
        "Lives in Aarhus.", value="Aarhus", fact_id=planned.fact_id, **person
    )
    assert cities(memory) == ["Lisbon"]
    clock.now = JUNE
    assert cities(memory) == ["Aarhus"]


@pytest.fixture
def doubted(memory: Memory, clock: Clock) -> Decision:
    """An operator says that she moves, who herself said that she lives in Lisbon: a dispute."""
    lives_in(memory, "Lisbon")
    made = lives_in(memory, "Copenhagen", valid_from=JUNE, source_kind="operator")
    assert len(memory.contact("crm", "alice").disputes()) == 1
    return made


def test_a_dispute_that_a_plan_wins_ends_the_other_side_on_its_day(
    memory: Memory, doubted: Decision, clock: Clock
) -> None:
    made = resolve(memory, doubted)
    assert "holds until 2025-06-01" in made.answer
    assert memory.contact("crm", "alice").disputes() == []
    assert told(memory) == {"Lives in Lisbon.": False, "Lives in Copenhagen.": True}
    clock.now = JUNE
    assert told(memory) == {"Lives in Copenhagen.": False}


def test_a_dispute_that_a_plan_won_is_open_again_once_that_is_reverted(
    memory: Memory, doubted: Decision, clock: Clock
) -> None:
    revert(memory, resolve(memory, doubted))
    assert len(memory.contact("crm", "alice").disputes()) == 1
    assert own_end(memory, "Lisbon")[0] is None


def test_a_dispute_that_a_plan_loses_drops_it(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    porto = lives_in(memory, "Porto", source_kind="operator")
    resolve(memory, porto)
    assert told(memory) == {"Lives in Porto.": False}
    clock.now = JULY
    assert cities(memory) == ["Porto"]


def test_the_contact_says_a_doubted_plan_again_and_lives_there_until_then(
    memory: Memory, doubted: Decision, clock: Clock
) -> None:
    clock.now = MAY + DAY
    lives_in(memory, "Copenhagen", valid_from=JUNE)
    assert cities(memory) == ["Lisbon"]
    assert memory.contact("crm", "alice").disputes() == []
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]


def test_what_takes_the_place_of_a_fact_later_ends_with_its_plan_too(
    memory: Memory, clock: Clock
) -> None:
    rents = say(memory, "Rents a flat in Lisbon.")
    say(memory, "Leaves the flat in Lisbon.", replaces=[str(rents.fact_id)], valid_from=JUNE)
    house = say(memory, "Rents a house in Lisbon, not a flat.")
    made = memory.contact("crm", "alice").relate(str(house.fact_id), replaces=[str(rents.fact_id)])
    assert told(memory).keys() == {
        "Rents a house in Lisbon, not a flat.",
        "Leaves the flat in Lisbon.",
    }
    clock.now = JUNE
    assert told(memory) == {"Leaves the flat in Lisbon.": False}
    revert(memory, made)
    assert told(memory) == {
        "Rents a house in Lisbon, not a flat.": False,
        "Leaves the flat in Lisbon.": False,
    }


def test_an_agent_relates_a_plan_and_hears_what_holds_until_then(memory: Memory) -> None:
    say(memory, "Rents a flat in Lisbon.")
    tools = memory.agent_tools("crm", "alice")
    said = {"text": "Will rent no flat in Lisbon.", "source_kind": "contact"}
    tools.call("add_contact_note", said | {"valid_from": "2025-06-01"})
    hits = memory.contact("crm", "alice").recall()
    handles = {hit.is_upcoming: hit.fact.handle for hit in hits}
    tools.call("recall_contact_memory", {})
    given = {"note": handles[True], "replaces": [handles[False]]}
    reply = tools.call("relate_contact_note", given)
    assert f"It stays, from 2025-06-01 on: {handles[True]}." in reply.text
    assert f"Until then stays: {handles[False]}." in reply.text


def test_a_change_in_the_batch_of_a_plan_ends_with_it(memory: Memory, clock: Clock) -> None:
    lives_in(memory, "Lisbon")
    lines = [
        {"text": f"Lives in {city}.", "attribute": "city", "value": city} | dated
        for city, dated in (("Copenhagen", {"valid_from": JUNE.isoformat()}), ("Porto", {}))
    ]
    imported = memory.import_notes(map(json.dumps, lines), agent_id="crm", contact_id="alice")
    assert not imported.errors
    assert cities(memory) == ["Porto"]
    versions = [made.version for made in memory.contact("crm", "alice").decisions()]
    assert sorted(versions) == [1, 2, 3]
    clock.now = JUNE
    assert cities(memory) == ["Copenhagen"]


def test_a_recall_tells_what_will_hold(memory: Memory, planned: Decision) -> None:
    for at, city in ((JUNE - DAY, "Lisbon"), (JUNE, "Copenhagen"), (JULY, "Copenhagen")):
        found = memory.contact("crm", "alice").recall(valid_at=at)
        assert {hit.fact.text: hit.is_upcoming for hit in found} == {f"Lives in {city}.": False}


def test_what_was_said_again_since_a_plan_began_ends_with_none_of_the_past(
    memory: Memory, clock: Clock
) -> None:
    lisbon = lives_in(memory, "Lisbon")
    lives_in(memory, "Copenhagen", valid_from=JUNE)
    clock.now = JULY
    again = lives_in(memory, "Lisbon", repeats=lisbon.fact_id, lifetime_days=300)
    assert again.action is Action.SKIP
    revert(memory, lives_in(memory, "Porto"))
    assert own_end(memory, "Lisbon") == (None, JULY + 300 * DAY)
    lives_in(memory, "Oslo", valid_from=JULY + 30 * DAY)
    assert own_end(memory, "Lisbon")[0] == JULY + 30 * DAY


def test_a_reverted_change_gives_back_an_end_that_was_known(memory: Memory) -> None:
    lives_in(memory, "Lisbon", valid_to=JULY)
    revert(memory, lives_in(memory, "Porto"))
    assert own_end(memory, "Lisbon") == (JULY, JULY)


def test_what_holds_again_once_a_session_is_forgotten_ends_with_its_plan(
    memory: Memory, planned: Decision, clock: Clock
) -> None:
    text = "Lives in Lisbon, by the river Tagus."
    say(memory, text, attribute="city", value="Lisbon", session_id="chat")
    assert told(memory).keys() == {text, "Lives in Copenhagen."}
    person = {"by": "operator", "reason": "Asked."}
    memory.contact("crm", "alice").forget(session_id="chat", **person)
    assert told(memory).keys() == {"Lives in Lisbon.", "Lives in Copenhagen."}
    assert own_end(memory, "Lisbon") == (JUNE, JUNE)


@pytest.mark.parametrize("is_said_again", [False, True])
def test_a_forgotten_session_ends_nothing_by_a_relation_whose_day_is_ahead(
    memory: Memory, clock: Clock, is_said_again: bool
) -> None:
    flat = say(memory, "Rents a flat in Lisbon.", valid_to=JULY)
    house = say(memory, "Rents a house in Lisbon, not a flat.", valid_from=JUNE)
    ids = {"fact": str(house.fact_id), "replaces": [str(flat.fact_id)]}
    if is_said_again:
        memory.contact("crm", "alice").relate(**ids)
    clock.now = MAY + DAY
    memory.contact("crm", "alice").relate(**ids)
    assert ends(memory, str(flat.fact_id)) == (JUNE, JUNE)
    memory.contact("crm", "alice").forget(
        session_id="live-2025-05-11", by="operator", reason="Asked."
    )
    left = (JUNE, JUNE) if is_said_again else (JULY, JULY)
    assert ends(memory, str(flat.fact_id)) == left
    memory.contact("crm", "alice").revoke(
        fact_id=str(house.fact_id), by="operator", reason="Asked."
    )
    assert ends(memory, str(flat.fact_id)) == (JULY, JULY)


def test_a_forgotten_session_leaves_over_what_ended_by_its_relation(
    memory: Memory, clock: Clock
) -> None:
    flat = say(memory, "Rents a flat in Lisbon.", valid_to=JULY)
    house = say(memory, "Rents a house in Lisbon, not a flat.", valid_from=JUNE)
    clock.now = MAY + DAY
    memory.contact("crm", "alice").relate(str(house.fact_id), replaces=[str(flat.fact_id)])
    clock.now = JUNE + DAY
    memory.contact("crm", "alice").forget(
        session_id="live-2025-05-11", by="operator", reason="Asked."
    )
    assert ends(memory, str(flat.fact_id)) == (JUNE, JUNE)


def test_the_lifetime_of_a_plan_counts_from_its_day(memory: Memory) -> None:
    lives_in(memory, "Copenhagen", valid_from=JUNE, lifetime_days=7)
    assert own_end(memory, "Copenhagen") == (None, JUNE + 7 * DAY)


@pytest.fixture
def rents(memory: Memory) -> Decision:
    return say(memory, "Rents a flat in Lisbon.")


def leaves(memory: Memory, rents: Decision, day: datetime, **given: Any) -> Decision:
    """The flat is said to be over with the day as the end of it."""
    text = "No longer rents the flat in Lisbon."
    return say(memory, text, ends=[str(rents.fact_id)], valid_to=day, **given)


@pytest.mark.parametrize("given", [{}, {"valid_from": MAY - 99 * DAY}])
def test_what_is_said_to_end_on_a_day_ahead_holds_until_then(
    memory: Memory, rents: Decision, clock: Clock, given: dict[str, Any]
) -> None:
    made = leaves(memory, rents, JUNE, **given)
    assert made.ends_on_the_day_ids == (rents.fact_id,)
    assert told(memory) == {rents.text: False, made.text: True}
    clock.now = JUNE
    assert told(memory) == {made.text: False}


@pytest.mark.parametrize("given", [{}, {"valid_from": MAY - 99 * DAY}])
def test_what_is_said_to_have_ended_ended_then(
    memory: Memory, rents: Decision, clock: Clock, given: dict[str, Any]
) -> None:
    clock.now = JULY
    made = leaves(memory, rents, JUNE, **given)
    assert told(memory) == {made.text: False}
    assert ends(memory, str(rents.fact_id))[0] == JUNE
    revert(memory, made)
    assert told(memory) == {rents.text: False}


@pytest.mark.parametrize("drop", DROPPED)
def test_a_dropped_end_on_a_day_leaves_what_it_was_to_end(
    memory: Memory, rents: Decision, clock: Clock, drop: Any
) -> None:
    before = ends(memory, str(rents.fact_id))
    drop(memory, leaves(memory, rents, JUNE))
    assert ends(memory, str(rents.fact_id)) == before
    clock.now = JULY
    assert told(memory) == {rents.text: False}


def test_a_person_says_that_what_an_operator_laid_down_ends_on_a_day(
    memory: Memory, clock: Clock
) -> None:
    rents = say(memory, "Rents a flat in Lisbon.", source_kind="operator")
    doubted = leaves(memory, rents, JUNE)
    assert doubted.conflicting_ids == (rents.fact_id,)
    resolve(memory, doubted)
    assert ends(memory, str(rents.fact_id))[0] == JUNE
    clock.now = JUNE
    assert told(memory) == {doubted.text: False}


def test_a_note_that_holds_from_a_day_on_ends_then_what_it_ends(
    memory: Memory, rents: Decision, clock: Clock
) -> None:
    made = leaves(memory, rents, JULY, valid_from=JUNE)
    assert ends(memory, str(rents.fact_id))[0] == JUNE
    clock.now = JULY
    assert told(memory) == {}
    assert made.proposal.holds_until == JULY


@pytest.mark.parametrize("text", ["Is on a sabbatical.", "Is on leave, not at Acme."])
def test_a_note_that_says_more_than_what_is_over_has_an_end_of_its_own(
    memory: Memory, clock: Clock, text: str
) -> None:
    works = say(memory, "Works at Acme.")
    made = say(memory, text, ends=[str(works.fact_id)], valid_to=JUNE)
    assert made.proposal.holds_until == JUNE
    assert not told(memory)[text]
    clock.now = JUNE
    assert text not in told(memory)


def test_a_tool_says_that_a_fact_ends_today(memory: Memory, rents: Decision, clock: Clock) -> None:
    clock.now = MAY + timedelta(hours=2)
    tools = memory.agent_tools("crm", "alice")
    tools.call("recall_contact", {})
    text, handle = "No longer rents the flat in Lisbon.", handle_of(str(rents.fact_id))
    sent = {"text": text, "source_kind": "contact", "ends": [handle], "valid_to": "2025-05-10"}
    assert "It ended: " in tools.call("add_contact_note", sent).text
    assert told(memory) == {text: False}


@pytest.mark.parametrize("by", ["id", "handle"])
def test_a_keyed_note_that_ended_a_fact_on_a_past_day_may_be_sent_again(
    memory: Memory, rents: Decision, clock: Clock, by: str
) -> None:
    clock.now = MAY + 5 * DAY
    fact_id = str(rents.fact_id)
    named = fact_id if by == "id" else handle_of(fact_id)
    sent = {"ends": [named], "valid_to": MAY + DAY, "idempotency_key": "call-1"}
    made = say(memory, "No longer rents the flat in Lisbon.", **sent)
    assert say(memory, "No longer rents the flat in Lisbon.", **sent) == made.as_replay()
    with pytest.raises(InvalidNoteError, match="belongs to another note"):
        say(memory, "No longer rents the flat in Porto.", **sent)


def test_a_keyed_note_may_be_sent_again_after_its_end(memory: Memory, clock: Clock) -> None:
    sent = {"valid_to": JUNE, "idempotency_key": "call-1"}
    made = say(memory, "Is on leave.", **sent)
    clock.now = JUNE + DAY
    assert say(memory, "Is on leave.", **sent) == made.as_replay()
    with pytest.raises(InvalidNoteError, match="is in the past"):
        say(memory, "Is on leave.", valid_to=JUNE, idempotency_key="call-2")
