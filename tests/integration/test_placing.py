"""What a contact's facts tell of a later note: whom it is about, how many values, which thing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler import Memory
from reconciler.domain.records.kinds import Action
from reconciler.errors import InvalidNoteError
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.tables import every

ADD, RECALL = "add_contact_note", "recall_contact"
AGAINST_IT = (("contact", "Fifty"), ("contact", "Sixty"))
OWN = {"trusted_tools": ["erp"], "system_attributes": {"erp": ["payment terms", "ticket"]}}


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """An open memory in which the ERP rules terms and tickets."""
    given: dict[str, Any] = {"embedder": HashingEmbedder(), "gate": OWN}
    with Memory.open(**given, **kept_engine.settings_arguments) as opened:
        yield opened


def values(memory: Memory, attribute: str, subject: str | None = None) -> list[str]:
    return [each.value for each in memory.contact("crm", "c-1").value(attribute, subject=subject)]


def lives(memory: Memory, subject: str, city: str, **more: Any) -> Any:
    text = f"{subject[:1].upper()}{subject[1:]} lives in {city}."
    fields = {"subject": subject, "attribute": "city", "value": city}
    return memory.contact("crm", "c-1").note(text, **fields, **more)


def test_a_persons_other_names_open_no_second_person(memory: Memory) -> None:
    contact = memory.contact("crm", "c-1")
    contact.note("Lives in Faro.", contact_name="Inês Prado", attribute="city", value="Faro")
    lives(memory, "husband Nuno", "Lagos")
    for subject, city in (("Nuno", "Porto"), ("her husband", "Evora")):
        assert lives(memory, subject, city).action is Action.UPDATE
    for subject, city in (("Ines", "Braga"), ("Inês Prado", "Leiria")):
        assert lives(memory, subject, city).action is Action.UPDATE
    assert values(memory, "city") == values(memory, "city", "Prado") == ["Leiria"]
    assert values(memory, "city", "Nuno") == values(memory, "city", "spouse") == ["Evora"]
    assert [hit.fact.text for hit in contact.recall("city", subject="Nuno")] == [
        "Her husband lives in Evora."
    ]


@pytest.mark.parametrize("asked", ["Flat 3B", "flat 3b"])
def test_a_subject_kept_as_a_token_is_found_by_its_words(memory: Memory, asked: str) -> None:
    contact = memory.contact("crm", "c-1")
    for flat, rent in (("Flat 3B", "900"), ("Flat 5A", "800")):
        text = f"The rent of {flat} is {rent}."
        contact.note(text, subject=flat, attribute="rent", value=rent)
    assert values(memory, "rent", asked) == ["900"]
    assert contact.check("rent", subject=asked).advice == "go"
    [hit] = contact.recall("rent", subject=asked)
    assert hit.fact.text.endswith("is 900.")


def test_two_things_of_one_kind_keep_a_value_each(memory: Memory) -> None:
    contact = memory.contact("crm", "c-1")
    for flat in ("3B", "5A"):
        contact.note(f"Rents flat {flat}.", attribute="flat", value=flat, single_valued=False)
    for flat, rent in (("flat 3B", "1,200 EUR"), ("flat 5A", "900 EUR")):
        slot = {"subject": flat, "attribute": "rent", "value": rent, "single_valued": True}
        assert contact.note(f"The rent of {flat} is {rent}.", **slot).action is Action.ADD
    assert values(memory, "rent", "flat 3B") == ["1,200 EUR"]
    assert values(memory, "rent", "flat 5A") == ["900 EUR"]


def test_the_contacts_name_is_known_to_a_later_process(kept_engine: EngineUnderTest) -> None:
    arguments = kept_engine.settings_arguments
    for city in ("Faro", "Braga"):
        with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
            name = "Inês Prado" if city == "Faro" else None
            lives(memory, "Inês", city, contact_name=name)
            assert values(memory, "city") == [city]


def test_lines_of_one_import_are_placed_in_their_order(memory: Memory) -> None:
    lines = [
        {"text": f"{subject} lives in {city}.", "subject": subject, "value": city}
        for subject, city in (("Husband Nuno", "Lagos"), ("Nuno", "Porto"))
    ]
    given = [json.dumps(line | {"attribute": "city"}) for line in lines]
    assert not memory.import_notes(given, agent_id="crm", contact_id="c-1").errors
    assert values(memory, "city", "husband") == ["Porto"]


def test_the_reply_asks_which_of_two_known_people_is_meant(memory: Memory) -> None:
    tools = memory.contact("crm", "c-1").tools()
    told = [
        tools.call(ADD, {"text": f"{name} is a {title}.", "source_kind": "contact"} | slot)
        for name, title in (("Ann Coyle", "notary"), ("Ann Duarte", "pilot"), ("Ann", "judge"))
        for slot in ({"subject": name, "attribute": "title", "value": title},)
    ]
    assert "Ask which" not in told[1].text
    assert "Is it about ann coyle or ann duarte? Ask which" in told[2].text
    assert told[2].decision is not None
    assert told[2].decision.note.slot is not None
    assert told[2].decision.note.slot.subject == "ann"
    assert sorted(values(memory, "title", "Ann")) == ["judge", "notary", "pilot"]


def test_a_replay_with_the_name_as_it_was_said_is_a_replay(memory: Memory) -> None:
    lives(memory, "husband Nuno", "Lagos")
    first = lives(memory, "Nuno", "Porto", idempotency_key="k1")
    again = lives(memory, "Nuno", "Porto", idempotency_key="k1")
    assert (again.decision_id, again.replayed) == (first.decision_id, True)


def test_a_replay_with_the_contacts_own_name_is_one_and_with_a_role_is_none(
    memory: Memory,
) -> None:
    lives(memory, "contact", "Faro", contact_name="Inês Prado")
    first = lives(memory, "Inês Prado", "Braga", idempotency_key="k1")
    assert first.note.slot.subject == "contact"
    again = lives(memory, "Inês Prado", "Braga", idempotency_key="k1")
    assert (again.decision_id, again.replayed) == (first.decision_id, True)
    fields = {"subject": "wife", "attribute": "city", "value": "Braga", "idempotency_key": "k1"}
    with pytest.raises(InvalidNoteError, match="with different subject"):
        memory.contact("crm", "c-1").note(first.text, **fields)


@every(
    ("attribute", "first", "second", "left"),
    [
        ("seat", True, None, ["Aisle"]),
        ("desk", True, False, ["Aisle"]),
        ("city", None, False, ["Aisle"]),
        ("club", False, False, ["Aisle", "Window"]),
    ],
)
def test_what_an_attribute_is_stays_and_no_model_changes_the_book(
    memory: Memory, attribute: str, first: bool | None, second: bool | None, left: list[str]
) -> None:
    tools = memory.contact("crm", attribute).tools()
    for value, flag in (("Window", first), ("Aisle", second)):
        given = {"text": f"Their {attribute} is {value}.", "source_kind": "contact"}
        given |= {"attribute": attribute, "value": value, "single_valued": flag}
        assert not tools.call(ADD, given).is_error
    known = memory.contact("crm", attribute).profile()
    assert sorted(each.value for each in known) == left


def test_values_that_stand_side_by_side_stay_several(memory: Memory) -> None:
    tools = memory.contact("crm", "c-1").tools()
    for club, flag in (("Rowing", False), ("Chess", False), ("Judo", None), ("Golf", True)):
        given = {"text": f"Is a member of {club}.", "attribute": "club", "value": club}
        reply = tools.call(ADD, given | {"source_kind": "contact", "single_valued": flag})
        assert reply.decision is not None
        assert not reply.decision.conflicting_ids
    assert len(values(memory, "club")) == 4


@every(
    ("attribute", "value", "then", "now"),
    [
        ("ticket", "K-9 open", "Ticket K-9 is closed.", ["K-9 closed"]),
        ("ticket", "K-9 open", "The support ticket K-9 has been closed.", ["K-9 closed"]),
        ("permit", "P-3 pending", "P-3 was granted.", ["P-3 granted"]),
        ("ticket", "K-9 open", "Ticket K-90 is closed.", ["K-9 open"]),
        ("order", "4410 open", "Invoice 4410 is paid.", ["4410 open"]),
        ("ticket", "K-9 open", "Ticket K-9 was opened by Odile.", ["K-9 open"]),
        ("ticket", "K-9 open", "Ticket K-90 is no longer open.", ["K-9 open"]),
    ],
)
def test_a_sentence_tells_how_a_known_thing_stands(
    memory: Memory, attribute: str, value: str, then: str, now: list[str]
) -> None:
    contact = memory.contact("crm", f"{attribute}-{then}".replace(" ", "-").strip("."))
    contact.note(f"{attribute} {value}.", attribute=attribute, value=value)
    contact.note(then)
    assert [each.value for each in contact.value(attribute)] == now


def test_a_system_outranks_the_contact_in_its_own_attributes_alone(memory: Memory) -> None:
    for attribute, is_ruled in (("payment_terms", True), ("city", False)):
        contact = memory.contact("crm", attribute)
        tools = contact.tools()
        replies = []
        for source, value in (("contact", "Thirty"), ("erp", "Forty"), *AGAINST_IT):
            given = {"text": f"The {attribute} is {value}.", "source_kind": source}
            reply = tools.call(ADD, given | {"attribute": attribute, "value": value})
            replies.append("Only an operator can settle it" in reply.text)
            assert not (is_ruled and "relate_contact_note" in reply.text)
        assert replies == [False, False, is_ruled, is_ruled]
        held = {each.value for each in contact.profile()}
        if is_ruled:
            assert held == {"Forty", "Sixty"}
            assert contact.briefing().questions == ()
            prompt = tools.call(RECALL, {"query": attribute}).text
            assert "erp's word" in prompt
            assert "do not ask the contact" in prompt
            [dispute] = contact.disputes()
            assert "the word of erp" in dispute.question
        else:
            assert held == {"Sixty"}


@every(
    ("attribute", "is_kept"),
    [("credit_limit", True), ("loyalty tier", True), ("warehouse", True), ("budget", False)],
)
def test_an_operators_value_ends_by_the_contacts_word_only_where_the_book_lists_it(
    memory: Memory, attribute: str, is_kept: bool
) -> None:
    contact = memory.contact("crm", attribute)
    slot = {"attribute": attribute, "single_valued": True}
    given = {"text": "It is 9000.", "source_kind": "contact", "value": "9000"}
    contact.note("It is 700.", value="700", source_kind="operator", **slot)
    contact.tools().call(ADD, given | slot)
    assert len(contact.disputes()) == is_kept
    assert len(contact.value(attribute)) == 1 + is_kept
    assert contact.briefing().questions == ()
    contact.note("It is 700.", value="700", source_kind="operator", **slot)
    assert "700" in {each.value for each in contact.value(attribute)} or not is_kept


def test_what_a_system_says_again_ends_what_the_contact_said_against_it(memory: Memory) -> None:
    contact = memory.contact("crm", "c-1")
    tools = contact.tools()
    for source, value in (("erp", "Forty"), ("contact", "Fifty"), ("contact", "Fifty")):
        given = {"text": f"The terms are {value}.", "source_kind": source}
        tools.call(ADD, given | {"attribute": "payment_terms", "value": value})
    assert sorted(values(memory, "payment_terms")) == ["Fifty", "Forty"]
    given = {"text": "The terms are Forty.", "source_kind": "erp"}
    tools.call(ADD, given | {"attribute": "payment_terms", "value": "Forty"})
    assert values(memory, "payment_terms") == ["Forty"]


def test_a_document_of_another_kind_does_not_outrank_the_contact(memory: Memory) -> None:
    contact = memory.contact("crm", "c-1")
    for source, value in (("user_explicit", "Thirty"), ("approved_doc", "Forty")):
        contact.note(
            f"The terms are {value}.", attribute="payment_terms", value=value, source_kind=source
        )
    assert "Thirty" in values(memory, "payment_terms")


def test_a_dispute_asks_about_the_numbers_that_are_kept(memory: Memory) -> None:
    contact = memory.contact("crm", "c-1")
    first, second = "07700 900633", "07700 900871"
    contact.note(f"His number is {first}.", attribute="phone", value=first)
    said = f"Call me on {second}."
    contact.note(said, attribute="phone", value=second, source_kind="operator")
    [dispute] = contact.disputes()
    assert f'"His number is {first}."' in dispute.question
    assert f'"{said}"' in dispute.question
    assert dispute.question in contact.briefing().as_prompt()
