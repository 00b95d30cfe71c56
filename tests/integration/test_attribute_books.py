"""Books of attributes: each agent knows its own, and a book says who may change a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from reconciler import Memory
from reconciler.bound_memory import ContactMemory
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest

Open = Callable[..., Memory]


@pytest.fixture
def open_memory(kept_engine: EngineUnderTest) -> Open:
    """Opens a memory with these settings."""
    given = {"embedder": HashingEmbedder(64), **kept_engine.settings_arguments}
    return lambda **more: Memory.open(**given, **more)


class Deal(BaseModel):
    """What a builder's agent knows about a deal."""

    signing_day: date | None = Field(default=None, json_schema_extra={"aliases": ["sign_on"]})
    approvers: list[str] = Field(default=[], description="Who has to approve.")
    tier: Literal["gold", "silver"] = Field(
        default="gold", json_schema_extra={"confirm": True, "outranked_by": ["billing"]}
    )


@pytest.fixture
def memory(open_memory: Open) -> Iterator[Memory]:
    """A memory in which some agents have books of their trade."""
    books = {"crm": ["sales"], "desk-*": ["support"], "trip": ["travel"]}
    with open_memory(reconcile={"books": books}, attributes={"deals": Deal}) as memory:
        yield memory


def told(memory: Memory, agent: str, text: str, **fields: object) -> str | None:
    """Add a note; the attribute under which it is kept."""
    note = memory.contact(agent, "priya").note(text, **fields).note
    assert note is not None
    return note.slot and note.slot.attribute


def live(contact: ContactMemory) -> list[str]:
    """Texts of the contact's live facts."""
    return sorted(hit.fact.text for hit in contact.recall(limit=50))


def test_an_agent_knows_the_attributes_of_its_own_books(memory: Memory) -> None:
    given = {"attribute": "expected close", "value": "30 June 2027"}
    assert told(memory, "crm", "The deal should close on 30 June 2027.", **given) == "close_date"
    assert told(memory, "mail", "The deal should close on 30 June 2027.", **given) != "close_date"


def test_a_pattern_gives_several_agents_one_book(memory: Memory) -> None:
    for agent in ("desk-de", "desk-fr"):
        given = {"attribute": "subscription tier", "value": "Gold"}
        assert told(memory, agent, "Is on the Gold plan.", **given) == "plan_tier"


def test_a_changed_value_that_waits_for_a_person_is_a_dispute(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    contact.note("Is on the Silver plan.", attribute="plan_tier", value="Silver")
    changed = contact.note("Is on the Gold plan.", attribute="plan_tier", value="Gold")
    assert not changed.superseded_ids
    assert "waits for an operator" in changed.reason
    assert [{f.text for f in each.facts} for each in contact.disputes()] == [
        {"Is on the Silver plan.", "Is on the Gold plan."}
    ]
    again = contact.note("Is on the Silver plan.", attribute="plan_tier", value="Silver")
    assert again.superseded_ids == () or again.verdict.is_restatement


def test_an_operator_or_the_named_system_changes_it(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    first = contact.note("Is on the Silver plan.", attribute="plan_tier", value="Silver")
    second = contact.note(
        "Is on the Bronze plan.",
        attribute="plan_tier",
        value="Bronze",
        source_kind="approved_doc",
        artefact="billing",
    )
    assert second.superseded_ids == (first.fact_id,)
    third = contact.note(
        "Is on the Gold plan.", attribute="plan_tier", value="Gold", source_kind="operator"
    )
    assert third.superseded_ids == (second.fact_id,)


def test_a_critical_attribute_is_told_whatever_is_asked(memory: Memory) -> None:
    contact = memory.contact("trip", "priya")
    contact.note(
        "Her passport expires on 3 May 2027.", attribute="passport_expiry", value="3 May 2027"
    )
    for place in ("Lisbon", "Oslo", "Kyoto"):
        contact.note(f"Liked the hotel in {place}.")
    hits = contact.recall("Which hotel did she like in Lisbon?", limit=1)
    assert "Her passport expires on 3 May 2027." in [hit.fact.text for hit in hits]


def test_each_numbered_ticket_has_its_own_status(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    for number, status in ((4711, "open"), (4712, "open"), (4711, "resolved")):
        contact.note(f"Ticket {number} is {status}.", attribute="ticket_status", value=status)
    assert live(contact) == ["Ticket 4711 is resolved.", "Ticket 4712 is open."]
    assert [line.value for line in contact.value("ticket_status", subject="ticket 4711")] == [
        "resolved"
    ]


def test_a_status_without_its_number_replaces_no_other(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    contact.note("Ticket 4711 is open.", attribute="ticket_status", value="open")
    contact.note("Her ticket is closed.", attribute="ticket_status", value="closed")
    assert len(live(contact)) == 2


def test_a_models_fields_are_attributes(memory: Memory) -> None:
    contact = memory.contact("deals", "priya")
    first = contact.note("Signs on 3 May 2027.", attribute="sign_on", value="3 May 2027")
    second = contact.note("Signs on 9 May 2027.", attribute="signing_day", value="2027-05-09")
    assert second.superseded_ids == (first.fact_id,)
    contact.note("Dana has to approve.", attribute="approvers", value="Dana")
    both = contact.note("Lee has to approve.", attribute="approvers", value="Lee")
    assert not both.superseded_ids
    contact.note("Has the silver tier.", attribute="tier", value="silver")
    assert not contact.note("Has the gold tier.", attribute="tier", value="gold").superseded_ids
    assert contact.disputes()


class Branch(BaseModel):
    """A model that refers to itself, with names for programs beside its own."""

    branch_name: str = Field(alias="branchName", json_schema_extra={"confirm": True})
    parent: Branch | None = None
    branches: list[Branch] = []


def test_a_model_that_refers_to_itself_gives_its_fields(open_memory: Open) -> None:
    with open_memory(attributes={"firm": Branch}) as memory:
        contact = memory.contact("firm", "priya")
        contact.note("The branch is Pune.", attribute="branch_name", value="Pune")
        contact.note("The branch is Goa.", attribute="branch_name", value="Goa")
        assert contact.disputes()
        contact.note("Goa belongs to Pune.", attribute="parent", value="Pune")
        contact.note("Agra has branches.", attribute="branches", value="Agra")
        contact.note("Bonn has branches.", attribute="branches", value="Bonn")
        values = [(each.attribute, each.value) for each in contact.profile()]
    assert ("parent", "Pune") in values
    assert [value for name, value in values if name == "branches"] == ["Bonn", "Agra"]


def test_models_may_come_in_any_mapping(open_memory: Open) -> None:
    with open_memory(attributes=MappingProxyType({"firm": Branch})) as memory:
        contact = memory.contact("firm", "priya")
        contact.note("Goa belongs to Pune.", attribute="parent", value="Pune")
        assert [each.value for each in contact.value("parent")] == ["Pune"]


class Calling(BaseModel):
    """A model with a field that is no data."""

    call: Callable[[int], int]


class Computed(BaseModel):
    """A model with a function for what else is said of its field."""

    tier: str = Field(json_schema_extra=lambda schema: schema.update(confirm=True))


class Odd(BaseModel):
    """A model with a field that cannot be an attribute."""

    employer: str = Field(json_schema_extra={"normaliser": "colour"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"reconcile": {"books": {"crm": ["slaes"]}}},
            "no attribute book slaes; give one of sa",
        ),
        ({"reconcile": {"books": {"crm": ["gone.toml"]}}}, "gone.toml"),
        ({"attributes": {"crm": Odd}}, "unknown normaliser 'colour'"),
        ({"attributes": {"crm": Calling}}, "Calling is no Pydantic model of plain fields"),
        ({"attributes": {"crm": int}}, "int is no Pydantic model of plain fields"),
        ({"attributes": {"crm": Computed}}, r"\[tier\] has a function as json_schema_extra"),
        ({"attributes": {"crm": Deal()}}, "give a Pydantic model"),
        ({"attributes": Deal}, "give a Pydantic model"),
        ({"attributes": []}, "give a Pydantic model"),
    ],
)
def test_a_book_that_cannot_be_used_is_refused(
    open_memory: Open, given: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said), open_memory(**given):
        pass


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("desk-*", "desk-1"),
        ("*", "desk-*"),
        ("desk-*", "*-de"),
        ("desk-*", "desk-??"),
    ],
)
def test_patterns_for_the_same_agents_are_refused(
    open_memory: Open, first: str, later: str
) -> None:
    books = {first: ["sales"], later: ["support"]}
    told = f"both {first!r} and {later!r} are for the same agents"
    with (
        pytest.raises(ConfigurationError, match=re.escape(told)),
        open_memory(reconcile={"books": books}),
    ):
        pass


def test_a_narrower_pattern_may_come_first(open_memory: Open) -> None:
    books = {"desk-1": ["sales"], "desk-*": ["support"], "crm-*": ["sales"], "*": ["travel"]}
    with open_memory(reconcile={"books": books}) as memory:
        given = {"attribute": "subscription tier", "value": "Gold"}
        assert told(memory, "desk-1", "Is on the Gold plan.", **given) != "plan_tier"
        assert told(memory, "desk-2", "Is on the Gold plan.", **given) == "plan_tier"


@pytest.mark.parametrize("source", ["user_explicit", "approved_doc"])
def test_a_value_with_an_end_waits_for_a_person_too(memory: Memory, source: str) -> None:
    contact = memory.contact("desk-de", "priya")
    contact.note("Is on the Silver plan.", attribute="plan_tier", value="Silver")
    until = datetime.now(UTC) + timedelta(days=30)
    changed = contact.note(
        f"Is on the Gold plan until {until:%d %B %Y}.",
        attribute="plan_tier",
        value="Gold",
        source_kind=source,
    )
    assert "waits for an operator" in changed.reason
    assert {(each.value, each.is_disputed) for each in contact.value("plan_tier")} == {
        ("Silver", True),
        ("Gold", True),
    }
    assert "dispute" in contact.check("plan_tier").reasons[0].reason


def test_an_operators_value_with_an_end_only_suspends(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    contact.note("Is on the Silver plan.", attribute="plan_tier", value="Silver")
    until = datetime.now(UTC) + timedelta(days=30)
    contact.note(
        f"Is on the Gold plan until {until:%d %B %Y}.",
        attribute="plan_tier",
        value="Gold",
        source_kind="operator",
    )
    [line] = contact.value("plan_tier")
    assert (line.value, line.is_disputed) == ("Gold", False)
    assert not contact.disputes()


@pytest.mark.parametrize("end", ["", " until 3 May 2099"])
@pytest.mark.parametrize("how", ["both_hold", "replaces", "ends"])
def test_an_agent_cannot_answer_in_the_persons_place(memory: Memory, how: str, end: str) -> None:
    contact = memory.contact("desk-de", "priya")
    given = {"attribute": "plan_tier"}
    first = contact.note("Is on the Silver plan.", value="Silver", **given)
    second = contact.note(f"Is on the Gold plan{end}.", value="Gold", **given)
    with pytest.raises(InvalidRequestError, match="waits for an operator"):
        contact.relate(str(second.fact_id), **{how: [str(first.fact_id)]})
    assert len(contact.disputes()) == 1
    contact.resolve(str(second.fact_id), by="lena", reason="The contract says so.")
    assert [each.value for each in contact.value("plan_tier")] == ["Gold"]


def test_an_operators_value_waits_for_a_person_too(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    contact.note(
        "Is on the Silver plan.", attribute="plan_tier", value="Silver", source_kind="operator"
    )
    changed = contact.note("Is on the Gold plan.", attribute="plan_tier", value="Gold")
    assert not changed.superseded_ids
    assert contact.disputes()


@pytest.mark.parametrize("other", ["12", "1-2", "1.1", "1/2"])
def test_a_number_is_no_beginning_of_another(memory: Memory, other: str) -> None:
    contact = memory.contact("desk-de", f"priya-{other.replace('/', '-')}")
    contact.note("Ticket 1 is open.", attribute="ticket_status", value="open")
    contact.note(f"Ticket {other} is resolved.", attribute="ticket_status", value="resolved")
    assert live(contact) == ["Ticket 1 is open.", f"Ticket {other} is resolved."]


def test_a_critical_attribute_is_told_whatever_importance_a_note_has(memory: Memory) -> None:
    contact = memory.contact("desk-de", "priya")
    contact.note(
        "Has support round the clock.",
        attribute="support_level",
        value="24/7",
        importance=0.2,
    )
    for number in range(12):
        contact.note(f"Wrote about the report of week {number}.")
    hits = contact.recall("What did she write about the report of week 3?", limit=1)
    assert "Has support round the clock." in [hit.fact.text for hit in hits]
