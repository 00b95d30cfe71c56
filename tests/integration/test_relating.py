"""What an agent's model says of facts: in its note, or afterwards, by the handles that it saw."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler import Action, Decision, Memory, Scope, ToolReply, ops
from reconciler.domain.records.facts import Relations, handle_of
from reconciler.domain.records.kinds import DecidedBy, FactState, GateReason, Relation
from reconciler.errors import InvalidNoteError, InvalidRequestError, UnknownFactError
from reconciler.reading.kinds import Category
from reconciler.testing import HashingEmbedder
from tests.tables import every

ADD, RECALL, RELATE = "add_contact_note", "recall_contact", "relate_contact_note"
ANNS = {"agent_id": "crm", "contact_id": "ann"}
FLAT, HOUSE, RENT = (
    "Rents a house from Tom Meyer.",
    "Bought a new house.",
    "Pays 900 euros for the house each month.",
)
USER = "user_explicit"
Call = Callable[..., ToolReply]


@pytest.fixture
def call(memory: Memory) -> Call:
    """What a model sends to the tools of one conversation."""
    tools = memory.agent_tools(**ANNS, session_id="chat-1")

    def send(name: str, **sent: Any) -> ToolReply:
        return tools.call(name, sent)

    return send


def noted(call: Call, text: str, source_kind: str = USER, **sent: Any) -> str:
    """The handle of a fact that is noted."""
    reply = call(ADD, text=text, source_kind=source_kind, **sent)
    assert reply.decision is not None, reply.text
    assert reply.decision.fact_id is not None, reply.text
    return handle_of(reply.decision.fact_id)


def live(memory: Memory) -> set[str]:
    return {hit.fact.text for hit in memory.contact(**ANNS).recall(limit=50)}


def made(reply: ToolReply) -> Decision:
    assert reply.decision is not None, reply.text
    return reply.decision


def test_a_note_ends_and_replaces_what_its_model_names(memory: Memory, call: Call) -> None:
    flat, rent = noted(call, FLAT), noted(call, RENT)
    reply = call(ADD, text=HOUSE, source_kind=USER, replaces=[flat], ends=[rent])
    decision = made(reply)
    assert (decision.action, decision.decided_by) == (Action.UPDATE, DecidedBy.AGENT)
    assert live(memory) == {HOUSE}
    assert len(decision.superseded_ids) == 2
    assert decision.proposal.relations is not None
    told = memory.contact(**ANNS).explain(decision_id=decision.decision_id).sentences()
    assert "The agent's model read note and facts, and said how they relate." in told
    memory.contact(**ANNS).revert(decision_id=decision.decision_id, by="anna", reason="Wrong.")
    assert live(memory) == {FLAT, RENT}


@pytest.mark.parametrize("text", [HOUSE, "bought a new house"])
def test_a_note_that_says_another_live_fact_again_is_one_fact_with_it(
    memory: Memory, call: Call, text: str
) -> None:
    flat, house = noted(call, FLAT), noted(call, HOUSE)
    reply = call(ADD, text=text, source_kind=USER, replaces=[flat])
    assert f'It repeats: {house} "{HOUSE}". It replaced: {flat} "{FLAT}".' in reply.text
    [hit] = memory.contact(**ANNS).recall()
    assert (hit.fact.text, hit.fact.observations) == (text, 2)
    [chain] = memory.contact(**ANNS).history()
    assert {fact.text for fact in chain.facts} == {text, HOUSE, FLAT}
    assert {link.new_id for link in chain.supersessions} == {hit.fact.fact_id}
    decision_id = made(reply).decision_id
    memory.contact(**ANNS).revert(decision_id=decision_id, by="anna", reason="Wrong.")
    assert live(memory) == {FLAT, HOUSE}


def test_what_has_ended_may_return_in_place_of_another_fact(memory: Memory, call: Call) -> None:
    house = noted(call, HOUSE)
    flat = noted(call, FLAT, replaces=[house])
    decision = made(call(ADD, text=HOUSE, source_kind=USER, replaces=[flat]))
    assert (decision.action, decision.verdict.is_restatement) == (Action.UPDATE, False)
    [hit] = memory.contact(**ANNS).recall()
    assert (hit.fact.text, hit.fact.observations) == (HOUSE, 1)


def test_a_fact_is_related_afterwards_and_that_is_undone(memory: Memory, call: Call) -> None:
    flat, house = noted(call, FLAT), noted(call, HOUSE)
    reply = call(RELATE, note=house, replaces=[flat])
    decision = made(reply)
    assert reply.text == f"Done. It stays: {house}. Ended, and kept as history: {flat}."
    assert (decision.action, decision.decided_by) == (Action.RESOLVE, DecidedBy.AGENT)
    assert decision.note.session_id == "chat-1"
    assert live(memory) == {HOUSE}
    [chain] = memory.contact(**ANNS).history()
    assert [fact.text for fact in chain.facts] == [HOUSE, FLAT]
    sentences = memory.contact(**ANNS).explain(decision_id=decision.decision_id).sentences()
    assert any("a model's statement about known facts" in each for each in sentences)
    memory.contact(**ANNS).revert(decision_id=decision.decision_id, by="anna", reason="Wrong.")
    assert live(memory) == {FLAT, HOUSE}
    assert len(memory.contact(**ANNS).history()) == 2


def test_what_repeats_is_counted_together_and_apart_again(memory: Memory, call: Call) -> None:
    first = noted(call, "Likes to sit at the window.")
    again = noted(call, "Prefers window seats.")
    decision = made(call(RELATE, note=again, repeats=first))
    [hit] = memory.contact(**ANNS).recall()
    assert (hit.fact.text, hit.fact.observations) == ("Prefers window seats.", 2)
    turns = memory.contact(**ANNS).evidence(fact_id=hit.fact.fact_id).turns
    assert {"Likes to sit at the window.", "Prefers window seats."} <= {t.text for t in turns}
    memory.contact(**ANNS).revert(decision_id=decision.decision_id, by="anna", reason="Wrong.")
    assert {hit.fact.observations for hit in memory.contact(**ANNS).recall()} == {1}


def test_what_says_less_goes_beneath_what_says_more(memory: Memory, call: Call) -> None:
    more = noted(call, "Our budget is 40k and we need 12 laptops.")
    less = noted(call, "The budget: 40k.")
    call(RELATE, note=less, repeats=more)
    [hit] = memory.contact(**ANNS).recall()
    assert hit.fact.text == "Our budget is 40k and we need 12 laptops."
    assert hit.fact.observations == 2


def test_a_repetition_loses_no_words_of_a_fuller_fact(memory: Memory, call: Call) -> None:
    said = "The outreach rooms on Fennick Road take their deliveries on Thursdays."
    fuller = noted(call, said)
    less = "The Fennick Road delivery stays on Thursdays."
    reply = call(ADD, text=less, source_kind=USER, repeats=fuller)
    assert reply.text == f"Known already; counted as said again. It is {fuller}."
    [hit] = memory.contact(**ANNS).recall()
    assert (hit.fact.text, hit.fact.observations) == (said, 2)


def test_what_repeats_another_number_is_kept_apart_and_linked(memory: Memory, call: Call) -> None:
    one, other = noted(call, "The budget is 40k."), noted(call, "We may spend 60k.")
    reply = call(RELATE, note=other, repeats=one)
    assert live(memory) == {"The budget is 40k.", "We may spend 60k."}
    assert reply.is_error or made(reply).superseded_ids == ()


def dispute(memory: Memory, call: Call) -> tuple[str, str]:
    """Two facts in dispute: an operator's, and one of the contact's."""
    pune = memory.add_contact_note(**ANNS, text="Lives in Pune.", attribute="city", value="Pune")
    goa = memory.add_contact_note(
        **ANNS, text="Lives in Goa.", attribute="city", value="Goa", source_kind="operator"
    )
    assert pune.fact_id is not None
    assert goa.fact_id is not None
    assert len(memory.contact(**ANNS).disputes()) == 1
    call(RECALL)
    return handle_of(pune.fact_id), handle_of(goa.fact_id)


def test_relating_settles_a_dispute_before_anybody_is_asked(memory: Memory, call: Call) -> None:
    pune, goa = dispute(memory, call)
    decision = made(call(RELATE, note=pune, ends=[goa]))
    assert (live(memory), memory.contact(**ANNS).disputes()) == ({"Lives in Pune."}, [])
    memory.contact(**ANNS).revert(decision_id=decision.decision_id, by="anna", reason="Wrong.")
    assert len(memory.contact(**ANNS).disputes()) == 1


def test_both_hold_closes_a_dispute_until_that_is_undone(memory: Memory, call: Call) -> None:
    pune, goa = dispute(memory, call)
    decision = made(call(RELATE, note=pune, both_hold=[goa]))
    assert (len(live(memory)), memory.contact(**ANNS).disputes()) == (2, [])
    assert not any(hit.disputed_with for hit in memory.contact(**ANNS).recall())
    memory.contact(**ANNS).revert(decision_id=decision.decision_id, by="anna", reason="Wrong.")
    assert len(memory.contact(**ANNS).disputes()) == 1
    assert all(hit.disputed_with for hit in memory.contact(**ANNS).recall(query="Lives in Goa."))
    assert call(RELATE, note=pune, both_hold=[goa]).is_error is False


@pytest.mark.on_neo4j_too
@pytest.mark.parametrize("is_read_again", [False, True])
def test_that_both_hold_goes_over_to_what_is_said_again(
    memory: Memory, call: Call, is_read_again: bool
) -> None:
    red, white = (
        memory.add_contact_note(**ANNS, text=f"Drinks {wine}.", attribute="wine", value=wine)
        for wine in ("Merlot", "Riesling")
    )
    call(RECALL)
    call(RELATE, note=handle_of(red.fact_id), both_hold=[handle_of(white.fact_id)])
    scope = Scope(memory.settings.tenant, **ANNS)
    if is_read_again:  # the process that writes did not settle it itself
        memory._services.neighbourhoods.drop(scope)
    again = memory.add_contact_note(**ANNS, text="Drinks Merlot.", attribute="wine", value="Merlot")
    assert again.superseded_ids == (red.fact_id,)
    [link] = memory._services.fact_store.list_conflicts(scope, is_open=False)
    assert {link.new_id, link.old_id} == {again.fact_id, white.fact_id}
    assert not link.is_open


def test_that_facts_hold_which_hold_already_is_taken_and_changes_nothing(
    memory: Memory, call: Call
) -> None:
    house, rent = noted(call, HOUSE), noted(call, RENT)
    before = memory.contact(**ANNS).recall()
    reply = call(RELATE, note=house, both_hold=[rent])
    assert (reply.is_error, made(reply).action) == (False, Action.RESOLVE)
    assert reply.text.startswith("Done: that these facts hold beside each other is on record.")
    assert made(reply).text == f"Fact {house} holds beside {rent}"
    assert [hit.fact.standing for hit in memory.contact(**ANNS).recall()] == [
        h.fact.standing for h in before
    ]
    assert memory.contact(**ANNS).disputes() == []
    with pytest.raises(InvalidRequestError, match="nothing to revert"):
        memory.contact(**ANNS).revert(
            decision_id=made(reply).decision_id, by="anna", reason="Wrong."
        )


def test_what_replaces_takes_over_the_disputes_of_what_ends(memory: Memory, call: Call) -> None:
    pune, _ = dispute(memory, call)
    mumbai = noted(call, "Left Pune for a room near the sea.")
    decision = made(call(RELATE, note=mumbai, replaces=[pune]))
    [open_] = memory.contact(**ANNS).disputes()
    assert {fact.text for fact in open_.facts} == {
        "Left Pune for a room near the sea.",
        "Lives in Goa.",
    }
    assert all(hit.disputed_with for hit in memory.contact(**ANNS).recall(query="Lives in Goa."))
    memory.contact(**ANNS).revert(decision_id=decision.decision_id, by="anna", reason="Wrong.")
    [open_] = memory.contact(**ANNS).disputes()
    assert {fact.text for fact in open_.facts} == {"Lives in Pune.", "Lives in Goa."}


def test_a_less_trusted_fact_ends_none_that_is_trusted_more(memory: Memory, call: Call) -> None:
    flat = noted(call, FLAT)
    told = memory.add_contact_note(**ANNS, text=HOUSE, source_kind="operator")
    call(RECALL)
    reply = call(RELATE, note=handle_of(told.fact_id or ""), replaces=[flat])
    assert live(memory) == {HOUSE, FLAT}
    assert len(memory.contact(**ANNS).disputes()) == 1
    assert f"in dispute now: {flat}" in reply.text


def test_an_older_fact_takes_no_newer_ones_place_and_may_outlive_it(
    memory: Memory, call: Call
) -> None:
    old = noted(call, FLAT, valid_from="2020-01-01")
    new = noted(call, HOUSE)
    reply = call(RELATE, note=old, replaces=[new])
    assert "name it in ends" in reply.text
    assert live(memory) == {FLAT, HOUSE}
    call(RELATE, note=old, ends=[new])
    assert live(memory) == {FLAT}


def test_an_older_note_lies_beneath_the_fact_that_its_model_names(
    memory: Memory, call: Call
) -> None:
    house = noted(call, HOUSE, valid_from="2024-01-01")
    reply = call(ADD, text=FLAT, source_kind=USER, valid_from="2020-01-01", replaces=[house])
    assert made(reply).is_history
    [chain] = memory.contact(**ANNS).history()
    assert [fact.text for fact in chain.facts] == [HOUSE, FLAT]


@pytest.mark.parametrize("days", [0, 400])
def test_a_note_of_an_earlier_day_replaces_what_nobody_dated(
    memory: Memory, call: Call, days: int
) -> None:
    flat = noted(call, FLAT)
    since = datetime.now(UTC).date() - timedelta(days=days)
    reply = call(ADD, text=HOUSE, source_kind=USER, valid_from=f"{since}", replaces=[flat])
    assert (made(reply).action, live(memory)) == (Action.UPDATE, {HOUSE})
    assert f"It replaced: {flat}" in reply.text
    memory.contact(**ANNS).revert(decision_id=made(reply).decision_id, by="anna", reason="Wrong.")
    assert live(memory) == {FLAT}


def test_the_date_of_today_is_now_whatever_the_note_names(memory: Memory, call: Call) -> None:
    noted(call, "Lives in Pune.", attribute="city", value="Pune")
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    goa = {"attribute": "city", "value": "Goa", "valid_from": today}
    reply = call(ADD, text="Lives in Goa.", source_kind=USER, **goa)
    assert (made(reply).note.valid_from, live(memory)) == (None, {"Lives in Goa."})


def test_a_later_day_that_was_given_stays_and_the_answer_says_what_to_do(
    memory: Memory, call: Call
) -> None:
    house = noted(call, HOUSE, valid_from="2024-01-01")
    sent = {"text": FLAT, "source_kind": USER, "replaces": [house]}
    reply = call(ADD, **sent, valid_from="2020-01-01")
    assert (made(reply).is_history, live(memory)) == (True, {HOUSE})
    assert f'Newer: {house} "{HOUSE}". If the note holds now instead' in reply.text
    assert len(reply.text) <= 400
    call(ADD, **sent)  # as the answer says: without valid_from
    assert live(memory) == {FLAT}


def test_what_was_said_later_may_be_related_as_what_replaces(memory: Memory, call: Call) -> None:
    flat = noted(call, FLAT)
    house = noted(call, HOUSE, valid_from="2024-01-01")
    assert call(RELATE, note=house, replaces=[flat]).is_error is False
    assert live(memory) == {HOUSE}


def test_a_correction_of_the_same_day_is_no_to_and_fro_and_a_return_is(
    memory: Memory, call: Call
) -> None:
    days = {"attribute": "delivery_day", "single_valued": True}
    last = noted(call, "Deliveries come on Tuesday.", value="Tuesday", **days)
    replies = []
    for value in ("Wednesday", "Monday", "Wednesday"):
        text = f"Deliveries come on {value}."
        sent = {"text": text, "source_kind": USER, "value": value, "replaces": [last], **days}
        replies.append(call(ADD, **sent))
        last = handle_of(made(replies[-1]).fact_id or "")
    marked = [made(reply).verdict.is_contested for reply in replies]
    assert marked == [False, False, True]
    assert ["to and fro" in reply.text for reply in replies] == marked


def test_an_answer_says_whether_a_note_repeats_ends_or_replaces(memory: Memory, call: Call) -> None:
    window, rent = noted(call, "Prefers window seats."), noted(call, RENT)
    reply = call(ADD, text="Likes to sit at the window.", source_kind=USER, repeats=window)
    assert "it says again what is known, and both are kept as one fact" in reply.text
    assert f'It repeats: {window} "Prefers window seats."' in reply.text
    over = "Pays no rent each month any more."
    ended = call(ADD, text=over, source_kind=USER, ends=[rent])
    assert "what it ends is kept as history, and nothing takes its place" in ended.text
    assert f'It ended: {rent} "{RENT}"' in ended.text
    assert not any("takes the place of" in each.text for each in (reply, ended))
    assert not any("It replaced" in each.text for each in (reply, ended))


def test_a_note_that_is_over_itself_ends_nothing_and_its_answer_says_why(
    memory: Memory, call: Call
) -> None:
    rent = noted(call, RENT)
    over = {"valid_from": "2020-01-01", "valid_to": "2021-01-01", "ends": [rent]}
    reply = call(ADD, text="Paid 700 euros each month.", source_kind=USER, **over)
    assert "note that it has ended, without valid_to" in reply.text
    assert "does not speak of it" not in reply.text
    assert live(memory) == {RENT}


def test_a_dated_note_ends_what_was_filed_after_its_date(memory: Memory, call: Call) -> None:
    flat = noted(call, FLAT)
    reply = call(ADD, text=HOUSE, source_kind=USER, valid_from="2020-01-01", ends=[flat])
    assert (made(reply).action, made(reply).is_history) == (Action.UPDATE, False)
    assert live(memory) == {HOUSE}
    [chain] = memory.contact(**ANNS).history()
    house, ended = chain.facts
    assert house.valid_from == datetime(2020, 1, 1, tzinfo=UTC)
    assert (ended.text, ended.valid_to, ended.is_void) == (FLAT, ended.valid_from, False)
    memory.contact(**ANNS).revert(decision_id=made(reply).decision_id, by="anna", reason="Wrong.")
    assert live(memory) == {FLAT}


def test_history_ends_nothing_and_its_model_is_told(memory: Memory, call: Call) -> None:
    house, rent = noted(call, HOUSE, valid_from="2024-01-01"), noted(call, RENT)
    reply = call(
        ADD, text=FLAT, source_kind=USER, valid_from="2020-01-01", replaces=[house], ends=[rent]
    )
    assert reply.is_error
    assert f"fact {house} starts later than this note" in reply.text
    assert live(memory) == {HOUSE, RENT}


def test_what_an_operator_laid_down_ends_by_no_model(memory: Memory, call: Call) -> None:
    rule = memory.add_contact_note(
        **ANNS, text="Always ask the contact before a refund.", source_kind="operator"
    )
    call(RECALL)
    handle = handle_of(rule.fact_id or "")
    call(ADD, text="Has moved to the new portal.", source_kind=USER, ends=[handle])
    house = noted(call, HOUSE)
    call(RELATE, note=house, replaces=[handle])
    assert "Always ask the contact before a refund." in live(memory)


def test_what_binds_ends_by_what_the_contact_said_in_this_conversation_alone(
    memory: Memory, call: Call
) -> None:
    never = noted(call, "Never call me before nine.")
    memory.add_contact_note(**ANNS, text=HOUSE, session_id="chat-0")
    call(RECALL)
    [house] = [h.fact.handle for h in memory.contact(**ANNS).recall() if h.fact.text == HOUSE]
    reply = call(RELATE, note=house, ends=[never])
    assert reply.is_error
    assert "only by the contact's own words in this conversation" in reply.text
    fine = noted(call, "Calls at any time are fine now.")
    call(RELATE, note=fine, ends=[never])
    assert "Never call me before nine." not in live(memory)


# Wrong handles


@pytest.fixture
def named(memory: Memory, call: Call) -> dict[str, str]:
    """Facts by the names that a table gives them, each by the handle that it has."""
    unseen = {
        "bobs": memory.add_contact_note("crm", "bob", FLAT).fact_id or "",
        "unseen": memory.add_contact_note(**ANNS, text="Has two cats.").fact_id or "",
    }
    shown = {
        "flat": noted(call, FLAT),
        "rent": noted(call, RENT),
        "a": noted(call, "Owns a red bicycle."),
        "b": noted(call, "Plays chess on Sundays."),
        "gone": noted(call, "Lives in Pune.", attribute="city", value="Pune"),
        "house": noted(call, HOUSE),
    }
    noted(call, "Lives in Goa.", attribute="city", value="Goa")
    return shown | {name: handle_of(fact_id) for name, fact_id in unseen.items()}


def filled(given: Any, named: dict[str, str]) -> Any:
    """What is sent, with the handles of the named facts in it."""
    if isinstance(given, dict):
        return {name: filled(each, named) for name, each in given.items()}
    if isinstance(given, list):
        return [filled(each, named) for each in given]
    return given.format(**named) if isinstance(given, str) else given


@every(
    ("sent", "complaint"),
    [
        ({}, "say which facts the note replaces"),
        ({"ends": ["#zzzz"]}, "was shown in this conversation"),
        ({"ends": ["#ZZZZ", "not a handle"]}, "was shown in this conversation"),
        ({"ends": [""]}, "was shown in this conversation"),
        ({"ends": [7]}, "must be null or a list of words, not a list with a number in it"),
        ({"ends": ["#zzzz", None]}, "not a list with null in it"),
        ({"ends": 7}, "must be null or a list of words, not such a number"),
        ({"ends": {"fact": "#zzzz"}}, "must be null or a list of words"),
        ({"repeats": ["{flat}"]}, "repeats must be null or a string"),
        ({"ends": ["{flat}", "{flat}"]}, "named twice"),
        ({"ends": ["{flat}"], "replaces": ["{flat}"]}, "named twice"),
        ({"ends": ["{flat}"], "repeats": "{rent}"}, "cannot end another fact"),
        ({"ends": ["{house}"]}, "cannot be related to itself"),
        ({"ends": ["{gone}"]}, "has already ended"),
        ({"ends": ["{bobs}"]}, "was shown in this conversation"),
        ({"ends": ["{unseen}"]}, "was shown in this conversation"),
        ({"ends": ["{flat}", "{rent}", "{a}", "{b}"]}, "3 facts, not 4"),
    ],
)
def test_a_wrong_handle_is_answered_in_words_and_changes_nothing(
    memory: Memory, call: Call, named: dict[str, str], sent: dict[str, Any], complaint: str
) -> None:
    before = live(memory)
    reply = call(RELATE, note=named["house"], **filled(sent, named))
    assert complaint in reply.text
    assert (reply.is_error, live(memory)) == (True, before)
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", reply.text)
    assert len(reply.text) <= 400


def test_a_handle_is_read_in_any_case_and_without_its_sign(memory: Memory, call: Call) -> None:
    flat, house = noted(call, FLAT), noted(call, HOUSE)
    assert not call(RELATE, note=house[1:].upper(), ends=f" {flat} ").is_error
    assert live(memory) == {HOUSE}


def test_the_key_of_a_builders_relation_belongs_to_it_alone(memory: Memory) -> None:
    ann = memory.contact(**ANNS)
    flat, house, rent = (str(ann.note(text).fact_id) for text in (FLAT, HOUSE, RENT))
    why = {"reason": "They moved.", "idempotency_key": "key"}
    made = ann.relate(house, replaces=[flat], **why)
    assert ann.relate(house, replaces=[flat], **why) == made.as_replay()
    others: list[Callable[[], object]] = [
        lambda: ann.relate(house, ends=[rent], **why),
        lambda: ann.relate(house, replaces=[flat], **why | {"reason": "It burnt down."}),
        lambda: ann.note("Has a dog.", idempotency_key="key"),
    ]
    for other in others:
        with pytest.raises(InvalidNoteError, match="belongs to another note or relation"):
            other()
    assert live(memory) == {HOUSE, RENT}


def test_a_builder_names_facts_by_id_or_handle(memory: Memory) -> None:
    ann = memory.contact(**ANNS)
    flat, rent, house = (ann.note(text) for text in (FLAT, RENT, HOUSE))
    assert flat.fact_id
    assert rent.fact_id
    assert house.fact_id
    ann.relate(house.fact_id, ends=[handle_of(flat.fact_id)])
    ann.note("Pays nothing for the house.", ends=[rent.fact_id])
    assert live(memory) == {HOUSE, "Pays nothing for the house."}
    for wrong in ("#zzzz", "nobody's"):
        with pytest.raises(UnknownFactError):
            ann.relate(house.fact_id, ends=[wrong])
        with pytest.raises(UnknownFactError):
            ann.note("Has a cat.", ends=[wrong])
    with pytest.raises(InvalidRequestError, match="say how the facts relate"):
        ann.relate(house.fact_id)
    assert "Has a cat." not in live(memory)


def test_a_judge_that_answers_later_relates_facts_in_its_own_name(memory: Memory) -> None:
    flat, house = (memory.add_contact_note(**ANNS, text=text) for text in (FLAT, HOUSE))
    decision = memory._services.relating.relate(
        house.scope,
        house.fact_id or "",
        Relations(replaces=(flat.fact_id or "",)),
        decided_by=DecidedBy.ARBITER,
        reason="She owns now what she rented.",
    )
    assert (decision.decided_by, decision.text) == (
        DecidedBy.ARBITER,
        "She owns now what she rented.",
    )
    assert live(memory) == {HOUSE}


# What an answer shows, and until when a note holds


def test_the_answer_names_what_is_close_by_handle_in_a_few_words(
    memory: Memory, call: Call
) -> None:
    first = noted(call, "Speaks French.", attribute="language", value="French")
    reply = call(
        ADD, text="Speaks Turkish now.", source_kind=USER, attribute="language", value="Turkish"
    )
    assert f'Close to it: {first} "Speaks French." [language=French].' in reply.text
    assert "relate_contact_note" in reply.text
    assert "Close to it" not in call(ADD, text="Owns a red bicycle.", source_kind=USER).text


def test_an_answer_names_no_fact_that_answers_another_question(memory: Memory, call: Call) -> None:
    name = {"attribute": "name", "value": "Greta Pymont"}
    noted(call, "The contact's name is Greta Pymont.", **name)
    phone = {"attribute": "mobile_phone", "value": "07700 900456"}
    reply = call(ADD, text="Greta Pymont's number is 07700 900456.", source_kind=USER, **phone)
    assert "Close to it" not in reply.text
    # Of two names that were made up one may stand for the other.
    far = {"attribute": "farm_delivery_time", "value": "after 7"}
    near = {"attribute": "delivery_time", "value": "before 7"}
    first = noted(call, "Deliveries have to come after 7 in the morning.", **far)
    reply = call(ADD, text="Deliveries have to come before 7.", source_kind=USER, **near)
    assert first in reply.text


@pytest.mark.parametrize(
    ("known", "said"),
    [
        # Another person's; no more than a name, or the year; one value more of several.
        (
            {"text": "Clem wants an aisle seat.", "subject": "Clem", "attribute": "seat"},
            {"text": "Wants a window seat.", "attribute": "seat"},
        ),
        (
            {"text": "Sorrel Court has a lift.", "subject": "Sorrel Court"},
            {"text": "Sorrel Court pays monthly.", "subject": "Sorrel Court"},
        ),
        ({"text": "The kitchen closed in 2026."}, {"text": "Expects a baby in 2026."}),
        (
            {"text": "Speaks French.", "attribute": "language", "value": "French"},
            {"text": "Speaks Welsh.", "attribute": "language", "value": "Welsh"},
        ),
    ],
)
def test_an_answer_names_nothing_that_the_note_leaves_as_it_is(
    call: Call, known: dict[str, str], said: dict[str, str]
) -> None:
    handle = noted(call, **known)
    assert handle not in call(ADD, source_kind=USER, **said).text


def test_an_answer_names_another_value_where_the_note_tells_of_a_change(call: Call) -> None:
    first = noted(call, "Speaks French.", attribute="language", value="French")
    said = {"text": "Speaks Welsh now.", "attribute": "language", "value": "Welsh"}
    assert first in call(ADD, source_kind=USER, **said).text


def test_an_answer_stays_short_however_many_facts_are_close(memory: Memory, call: Call) -> None:
    for word in ("French", "Turkish", "Tamil", "Welsh", "Greek", "Czech"):
        text = f"Now speaks {word} with the people whom she meets at the market every day."
        reply = call(ADD, text=text, source_kind=USER, attribute="language", value=word)
    assert len(reply.text) <= 400
    assert reply.text.count('"') // 2 <= 3


def test_an_agent_that_may_not_recall_is_told_of_no_other_fact(memory: Memory) -> None:
    tools = memory.agent_tools(**ANNS, can_recall=False)
    for word in ("French", "Turkish"):
        sent = {"text": f"Speaks {word}.", "attribute": "language", "value": word}
        reply = tools.call(ADD, sent | {"source_kind": USER})
    assert "French" not in reply.text


def test_a_note_with_an_end_is_recalled_until_then(memory: Memory, call: Call) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    reply = call(ADD, text="Is in Rome.", source_kind=USER, valid_to=f"{tomorrow:%Y-%m-%dT%H:%M}")
    [hit] = memory.contact(**ANNS).recall()
    assert hit.fact.expires_at == tomorrow.replace(second=0, microsecond=0)
    assert made(reply).action is Action.ADD


def test_what_is_held_keeps_its_times_to_the_yes(memory: Memory, call: Call) -> None:
    end = (datetime.now(UTC) + timedelta(days=9)).replace(microsecond=0)
    sent = {"valid_from": "2024-05-01", "valid_to": end.isoformat()}
    held = made(call(ADD, text="Is pregnant.", source_kind=USER, **sent))
    assert held.action is Action.HOLD
    answer = memory.contact(**ANNS).confirm(decision_id=held.decision_id, by="contact")
    assert answer.action is Action.ADD
    [hit] = memory.contact(**ANNS).recall()
    assert hit.fact.valid_from == datetime(2024, 5, 1, tzinfo=UTC)
    assert hit.fact.expires_at == end


def test_what_is_said_again_with_an_end_ends_then(memory: Memory, call: Call) -> None:
    sent = {"repeats": noted(call, RENT), "valid_to": "2090-01-01"}
    [before] = memory.contact(**ANNS).recall()
    again = made(call(ADD, text="Pays 900 euros.", source_kind=USER, **sent))
    assert again.action is Action.SKIP
    [hit] = memory.contact(**ANNS).recall()
    assert hit.fact.expires_at == datetime(2090, 1, 1, tzinfo=UTC)
    memory.contact(**ANNS).revert(decision_id=again.decision_id, by="anna", reason="Wrong.")
    [hit] = memory.contact(**ANNS).recall()
    assert hit.fact.expires_at == before.fact.expires_at


def test_a_lesser_word_gives_no_end_and_the_record_says_so(memory: Memory, call: Call) -> None:
    noted(call, RENT)
    weak = made(call(ADD, text=RENT, source_kind="tool_output", valid_to="2090-01-01"))
    assert weak.action is Action.SKIP
    assert "its end has a less trusted source" in weak.reason
    [hit] = memory.contact(**ANNS).recall()
    assert hit.fact.expires_at != datetime(2090, 1, 1, tzinfo=UTC)


def test_what_is_said_again_as_true_since_long_ago_is_kept_as_history(
    memory: Memory, call: Call
) -> None:
    sent = {"repeats": noted(call, RENT), "valid_from": "2020-01-01"}
    again = made(call(ADD, text="Pays 900 euros.", source_kind=USER, **sent))
    assert again.is_history
    [chain] = memory.contact(**ANNS).history()
    now, before = chain.facts
    assert (now.text, now.observations) == (RENT, 2)
    assert before.valid_from == datetime(2020, 1, 1, tzinfo=UTC)
    assert before.valid_to == now.valid_from


def test_a_note_that_is_over_is_history(memory: Memory, call: Call) -> None:
    over = {"valid_from": "2010-01-01", "valid_to": "2012-01-01"}
    reply = call(ADD, text="Lived in Oslo.", source_kind=USER, **over)
    assert "Kept as history" in reply.text
    [chain] = memory.contact(**ANNS).history()
    assert (chain.facts[0].state, live(memory)) == (FactState.SUPERSEDED, set())
    assert chain.facts[0].valid_to == datetime(2012, 1, 1, tzinfo=UTC)


@every(
    ("sent", "complaint"),
    [
        ({"valid_to": "2012-01-01"}, "give also a valid_from"),
        ({"valid_from": "2013-01-01", "valid_to": "2012-01-01"}, "is not after valid_from 2013"),
        ({"valid_to": "soon"}, "is not a time"),
    ],
)
def test_a_time_that_cannot_be_meant_is_answered_in_words(
    memory: Memory, call: Call, sent: dict[str, str], complaint: str
) -> None:
    reply = call(ADD, text="Lived in Oslo.", source_kind=USER, **sent)
    assert complaint in reply.text
    assert (reply.is_error, live(memory)) == (True, set())


def test_what_is_over_and_would_be_asked_about_is_refused(memory: Memory, call: Call) -> None:
    over = {"valid_from": "2010-01-01", "valid_to": "2012-01-01"}
    reply = call(ADD, text="Had been diagnosed with diabetes.", source_kind=USER, **over)
    assert reply.is_error
    assert memory.contact(**ANNS).pending() == []


def test_a_decision_by_relations_is_replayed_as_it_was(memory: Memory, call: Call) -> None:
    flat = noted(call, FLAT)
    decision = made(call(ADD, text=HOUSE, source_kind=USER, replaces=[flat]))
    told = memory.contact(**ANNS).explain(decision_id=decision.decision_id)
    assert not any("today" in each for each in told.sentences())
    assert memory.contact(**ANNS).decision(decision_id=decision.decision_id).correction is None
    memory.contact(**ANNS).correct(decision_id=decision.decision_id, relation=Relation.COEXISTS)


# What is refused


@every(
    ("text", "sent"),
    [
        ("Keeps bees on the roof.", {"ends": ["#zzzz"]}),
        ("Studied law.", {"replaces": ["{flat}", "#zzzz"]}),
        ("Sings in a choir.", {"repeats": "#zzzz"}),
        ("Drives a lorry.", {"ends": ["{gone}"]}),
        ("Wears a wig.", {"ends": ["{flat}", "{flat}"]}),
        ("Collects stamps.", {"ends": ["{flat}"], "repeats": "{rent}"}),
        ("Grew up abroad.", {"ends": ["{flat}", "{rent}", "{a}", "{b}"]}),
    ],
)
def test_a_note_stands_though_what_it_says_of_facts_cannot_be_meant(
    memory: Memory, call: Call, named: dict[str, str], text: str, sent: dict[str, Any]
) -> None:
    before = live(memory)
    reply = call(ADD, text=text, source_kind=USER, **filled(sent, named))
    assert (made(reply).action, reply.is_error) == (Action.ADD, False)
    assert live(memory) == before | {text}
    assert "What you said of other facts was left out: " in reply.text
    assert "Do not note it again: say it with relate_contact_note." in reply.text
    refused, *_ = [one for one in memory.contact(**ANNS).decisions() if one.action is Action.REJECT]
    assert refused.gate is not None
    assert refused.gate.reason is GateReason.WRONG_RELATION
    assert refused.proposal.relations is None
    assert refused.answer.startswith("No fact was changed: ")


def test_a_wrong_handle_of_a_relation_is_on_record(memory: Memory, call: Call) -> None:
    house = noted(call, HOUSE)
    reply = call(RELATE, note=house, ends=["#zzzz"])
    assert reply.is_error
    decision = made(reply)
    assert (decision.action, decision.note.session_id) == (Action.REJECT, "chat-1")
    assert "no fact that was shown in this conversation has the handle '#zzzz'" in decision.text
    first, *_ = memory.contact(**ANNS).explain(decision_id=decision.decision_id).sentences()
    assert first.startswith("What the agent said of facts was refused: no fact that was shown in")
    assert live(memory) == {HOUSE}


def test_a_handle_that_is_a_secret_is_kept_nowhere(memory: Memory, call: Call) -> None:
    house = noted(call, HOUSE)
    decision = made(call(RELATE, note=house, ends=["bob@globex.example"]))
    assert "bob@globex" not in str(decision.to_dict())
    assert "bob@globex" not in "".join(
        json.dumps(one.to_dict()) for one in memory.contact(**ANNS).decisions()
    )


def test_a_note_that_is_wrong_itself_is_refused_whatever_it_relates(
    memory: Memory, call: Call
) -> None:
    reply = call(ADD, text=HOUSE, source_kind=USER, valid_to="2012-01-01", ends=["#zzzz"])
    assert reply.is_error
    assert "give also a valid_from" in reply.text
    assert live(memory) == set()


def test_what_a_note_does_not_speak_of_stays_and_its_model_is_told_what_to_do(
    memory: Memory, call: Call
) -> None:
    nuts = noted(call, "Is allergic to peanuts.")
    reply = call(ADD, text="Likes the house rules.", source_kind=USER, ends=[nuts])
    assert made(reply).decided_by is DecidedBy.GUARD
    assert f"Not ended, but in dispute now: {nuts}" in reply.text
    assert "If the contact said that it is over, note that in words that name it" in reply.text
    menu = noted(call, "Has read the menu.")
    reply = call(RELATE, note=menu, ends=[nuts])
    assert f"Not ended, but in dispute now: {nuts}" in reply.text
    [dispute] = memory.contact(**ANNS).disputes()
    assert len(dispute.facts) == 3
    assert "Is allergic to peanuts." in live(memory)
    call(ADD, text="Is not allergic to peanuts any more.", source_kind=USER, ends=[nuts])
    assert "Is allergic to peanuts." not in live(memory)


def test_an_end_of_other_matters_ends_none_of_them_by_any_call(memory: Memory, call: Call) -> None:
    known = {
        noted(call, text, **filed): text
        for text, filed in {
            "Is allergic to peanuts.": {"attribute": "allergy", "value": "peanuts"},
            "Takes 5 mg of bisoprolol in the morning.": {},
            "Has a dog called Bo.": {},
        }.items()
    }
    canoe = {"text": "Gave the canoe away.", "source_kind": USER}
    reply = call(ADD, **canoe, ends=[*known])
    assert f"Not ended, but in dispute now: {next(iter(known))}" in reply.text
    for way in ("replaces", "ends"):
        call(RELATE, note=noted(call, f"Gave the tent away, {way}."), **{way: [*known]})
    call(ADD, text="Sold the boat.", source_kind=USER, replaces=[*known])
    call(ADD, **canoe, attribute="allergy", value="peanuts", ended=True)
    assert {*known.values()} <= live(memory)
    assert [each.value for each in memory.contact(**ANNS).value("allergy")] == ["peanuts"]
    call(ADD, text="Bo has died.", source_kind=USER, ends=[*known])
    assert {*known.values()} - live(memory) == {"Has a dog called Bo."}


def test_a_refused_relation_survives_an_export(memory: Memory, call: Call, tmp_path: Path) -> None:
    call(RELATE, note=noted(call, HOUSE), ends=["#zzzz"])
    before = [one.to_dict() for one in memory.contact(**ANNS).decisions()]
    ops.export(memory, tmp_path / "memory.jsonl", tenant=memory.settings.tenant)
    where = {"embedded_path": tmp_path / "restored.lbug", "embedder": HashingEmbedder()}
    ops.restore(tmp_path / "memory.jsonl", **where)
    with Memory.open(**where, tenant=memory.settings.tenant) as restored:
        assert [one.to_dict() for one in restored.contact(**ANNS).decisions()] == before


def test_what_takes_the_place_of_a_fact_lasts_as_long(memory: Memory, call: Call) -> None:
    opened = noted(call, "Invoice CL-1187 is open and disputed.")
    said = "Invoice CL-1187 is still open, and she is still waiting for us to settle it."
    decision = made(call(ADD, text=said, source_kind=USER, replaces=[opened]))
    assert decision.gate is not None
    assert (decision.gate.category, len(decision.superseded_ids)) == (Category.FACT, 1)
    alone = made(call(ADD, text="She is still waiting for a taxi.", source_kind=USER))
    assert alone.gate is not None
    assert alone.gate.category is Category.VOLATILE
