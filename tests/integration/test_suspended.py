"""A value that holds for a time: it suspends the lasting one, which holds again afterwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from reconciler import Action, Decision, Memory
from reconciler.domain.records.facts import handle_of
from tests.clocks import Clock
from tests.tables import every

MAY = datetime(2025, 5, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
CONTACTS = iter(range(10_000))


def day(number: int) -> datetime:
    """That day, counted from the first of May."""
    return MAY + number * DAY


@pytest.fixture
def clock() -> Clock:
    return Clock(MAY)


def tell(
    memory: Memory, contact: str, value: str, until: int | None = None, **given: Any
) -> Decision:
    end = {} if until is None else {"valid_to": day(until)}
    said = {"attribute": "account_manager", "value": value, **end, **given}
    return memory.contact("crm", contact).note(f"Is looked after by {value}.", **said)


def told(memory: Memory, contact: str, **asked: Any) -> list[str]:
    """Who looks after the contact, by each way of asking."""
    asking = memory.contact("crm", contact)
    recalled = [hit.fact.slot.value for hit in asking.recall(**asked) if hit.fact.slot]
    if not asked:
        values = [value.value for value in asking.value("account_manager")]
        assert values == [value.value for value in asking.profile()] == recalled
        assert list(asking.disputes()) == []
    return [str(value) for value in recalled]


STORIES = [
    # what is told: day, who, until which day; and who it is on some days
    ([(0, "Ada", None), (2, "Bea", 9)], {3: "Bea", 8: "Bea", 9: "Ada"}),
    ([(0, "Ada", None), (2, "Bea", 9), (4, "Bea", 12)], {5: "Bea", 10: "Bea", 12: "Ada"}),
    ([(0, "Ada", None), (2, "Bea", 9), (4, "Bea", None)], {5: "Bea", 9: "Ada"}),
    ([(0, "Ada", None), (2, "Bea", 9), (4, "Ada", None)], {5: "Bea", 9: "Ada"}),
    ([(0, "Ada", None), (2, "Bea", 9), (4, "Cleo", None)], {5: "Cleo", 9: "Cleo"}),
    ([(0, "Ada", None), (2, "Bea", 9), (4, "Cleo", 6)], {5: "Cleo", 6: "Bea", 9: "Ada"}),
    ([(0, "Ada", None), (2, "Bea", 9), (4, "Cleo", 12)], {5: "Cleo", 10: "Cleo", 12: "Ada"}),
    ([(2, "Bea", 9), (4, "Cleo", None)], {5: "Cleo", 9: "Cleo"}),
]


@every(("said", "then"), STORIES)
def test_what_has_an_end_suspends_what_has_none(
    memory: Memory, clock: Clock, said: list[tuple[int, str, int | None]], then: dict[int, str]
) -> None:
    contact = f"c{next(CONTACTS)}"
    for number, who, until in said:
        clock.now = day(number)
        tell(memory, contact, who, until)
    for number, who in then.items():
        clock.now = day(number)
        assert told(memory, contact) == [who]


@pytest.mark.on_neo4j_too
def test_a_look_back_finds_each_in_its_time(memory: Memory, clock: Clock) -> None:
    tell(memory, "ann", "Ada")
    clock.now = day(2)
    suspending = tell(memory, "ann", "Bea", 9)
    assert (suspending.action, suspending.conflicting_ids) == (Action.ADD, ())
    assert suspending.reason.endswith("suspends Ada until 2025-05-10")
    told_why = memory.contact("crm", "ann").explain(suspending.decision_id)
    assert any("suspends Ada until 2025-05-10" in each for each in told_why.rule)
    clock.now = day(20)
    for number, who in ((1, "Ada"), (3, "Bea"), (10, "Ada")):
        assert told(memory, "ann", valid_at=day(number)) == [who]
        assert told(memory, "ann", as_of=day(number)) == [who]


def test_the_order_of_telling_changes_nothing(memory: Memory, clock: Clock) -> None:
    for said in permutations([(0, "Ada", None), (2, "Bea", 9)]):
        clock.now = day(5)
        contact = f"c{next(CONTACTS)}"
        for number, who, until in said:
            tell(memory, contact, who, until, said_at=day(number))
        clock.now = day(6)
        assert told(memory, contact) == ["Bea"]
        clock.now = day(10)
        assert told(memory, contact) == ["Ada"]


def test_a_lasting_value_that_came_later_ends_a_temporary_one_told_late(
    memory: Memory, clock: Clock
) -> None:
    clock.now = day(5)
    tell(memory, "ann", "Ada", said_at=day(4))
    late = tell(memory, "ann", "Bea", 9, said_at=day(2))
    assert late.is_history
    assert told(memory, "ann") == ["Ada"]
    assert told(memory, "ann", valid_at=day(3)) == ["Bea"]
    assert told(memory, "ann", valid_at=day(5)) == ["Ada"]


def test_a_time_to_come_leaves_today_as_it_is(memory: Memory, clock: Clock) -> None:
    tell(memory, "ann", "Ada")
    tell(memory, "ann", "Bea", 9, valid_from=day(3))
    tell(memory, "ann", "Cleo", 30, valid_from=day(20))
    for number, who in ((1, "Ada"), (4, "Bea"), (10, "Ada"), (21, "Cleo"), (31, "Ada")):
        clock.now = day(number)
        values = memory.contact("crm", "ann").value("account_manager")
        assert [value.value for value in values] == [who]


def test_what_was_for_a_time_may_become_lasting(memory: Memory, clock: Clock) -> None:
    tell(memory, "ann", "Ada")
    tell(memory, "ann", "Bea", 9)
    clock.now = day(2)
    now = "Is looked after by Bea permanently now."
    memory.contact("crm", "ann").note(now, attribute="account_manager", value="Bea")
    clock.now = day(20)
    assert told(memory, "ann") == ["Bea"]


def test_back_again_ends_what_was_for_a_time(memory: Memory, clock: Clock) -> None:
    tell(memory, "ann", "Ada")
    tell(memory, "ann", "Bea", 9)
    clock.now = day(2)
    again = "Is looked after by Ada again."
    memory.contact("crm", "ann").note(again, attribute="account_manager", value="Ada")
    assert told(memory, "ann") == ["Ada"]


def test_an_agent_that_names_the_lasting_fact_suspends_it(memory: Memory, clock: Clock) -> None:
    lasting = tell(memory, "ann", "Ada")
    clock.now = day(2)
    tools = memory.agent_tools("crm", "ann", session_id="chat")
    tools.call("recall_contact", {})
    sent = {"text": "Bea stands in for Ada.", "source_kind": "contact", "valid_to": "2025-05-10"}
    sent |= {"attribute": "account_manager", "value": "Bea"}
    reply = tools.call("add_contact_note", sent | {"replaces": [handle_of(str(lasting.fact_id))]})
    assert f"It suspends until then: {handle_of(str(lasting.fact_id))}" in reply.text
    assert told(memory, "ann") == ["Bea"]
    clock.now = day(20)
    assert told(memory, "ann") == ["Ada"]


@every("how", ["replaces", "relate", "amend", "resolve"])
def test_whoever_says_so_a_fact_with_an_end_ends_nothing_that_lasts(
    memory: Memory, clock: Clock, how: str
) -> None:
    clock.now = MAY
    contact = memory.contact("crm", how)
    lasting = str(tell(memory, how, "Ada").fact_id)
    clock.now = day(2)
    if how == "replaces":
        tell(memory, how, "Bea", 9, replaces=[lasting])
    elif how == "relate":
        contact.relate(str(tell(memory, how, "Bea", 9).fact_id), replaces=[lasting])
    elif how == "amend":
        slot = {"attribute": "account_manager", "value": "Bea"}
        contact.amend("Bea stands in.", by="dana", reason="Leave.", valid_to=day(9), **slot)
    else:
        doubted = tell(memory, how, "Bea", 9, source_kind="operator")
        assert doubted.conflicting_ids == (lasting,)
        contact.resolve(keep=str(doubted.fact_id), by="dana", reason="Asked.")
    assert told(memory, how) == ["Bea"]
    clock.now = day(9)
    assert told(memory, how) == ["Ada"]


@every("how", ["replaces", "ends"])
@every("is_related_later", [False, True])
def test_a_fact_without_a_slot_stays_beside_what_replaces_it_for_a_time(
    memory: Memory, clock: Clock, how: str, is_related_later: bool
) -> None:
    contact = memory.contact("crm", f"{how} {is_related_later}")
    clock.now = MAY
    shop = contact.note("Parcels go to the shop at Mill Lane.")
    clock.now = day(2)
    named: dict[str, Any] = {how: [str(shop.fact_id)]}
    told = {} if is_related_later else named
    church = contact.note("Parcels go to the church.", valid_to=day(9), **told)
    if is_related_later:
        contact.relate(str(church.fact_id), **named)
    clock.now = day(9)
    assert [hit.fact.text for hit in contact.recall()] == [shop.text]


@every(
    "text",
    [
        "Parcels go to the shop no longer.",
        "The church takes them until Friday, parcels to the shop are over.",
    ],
)
def test_what_a_fact_with_an_end_says_is_over_is_over_for_good(
    memory: Memory, clock: Clock, text: str
) -> None:
    clock.now = MAY
    contact = memory.contact("crm", text)
    shop = contact.note("Parcels go to the shop at Mill Lane.")
    over = contact.note(text, valid_to=day(9))
    contact.relate(str(over.fact_id), ends=[str(shop.fact_id)])
    clock.now = day(9)
    assert list(contact.recall()) == []


def test_where_the_contact_is_today_is_not_where_they_live(memory: Memory) -> None:
    contact = memory.contact("crm", "ann")
    contact.note("Lives in Zurich.", attribute="city", value="Zurich")
    contact.note("Is in London.", attribute="current_location", value="London", valid_to=day(9))
    for attribute, value in (("city", "Zurich"), ("whereabouts", "London")):
        assert [current.value for current in contact.value(attribute)] == [value]
