"""Disputes that are seen and settled, and amendments: which word holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import Any
from uuid import uuid4

import pytest

from reconciler import Decision, Memory, SourceKind, as_prompt
from reconciler.bootstrap.chosen_models import utc_now
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.kinds import Action, DecidedBy, FactState
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.errors import (
    InvalidAnswerError,
    InvalidNoteError,
    InvalidRequestError,
    UnknownFactError,
)
from reconciler.reading.kinds import Category
from reconciler.testing import HashingEmbedder, ScriptedExtractor, TableEmbedder
from tests.engines import EngineUnderTest
from tests.kept_stores import KeptMemory

NOON = datetime(2025, 3, 9, 12, tzinfo=UTC)
OPERATOR, TOOL = SourceKind.OPERATOR, SourceKind.TOOL_OUTPUT
THREE, TWO = "Has three children", "Has two children"
EMAIL, PHONE = "Prefers e-mail", "Perhaps she'd be fine with phone, not sure"
Open = Callable[..., Memory]


def days(number: float) -> datetime:
    return NOON + timedelta(days=number)


def near(cosine: float, one: str, other: str) -> Mapping[str, list[float]]:
    return {one: [1.0, 0.0], other: [cosine, sqrt(1 - cosine**2)]}


@pytest.fixture
def opened(kept_engine: EngineUnderTest, shared_memory: KeptMemory) -> Iterator[Open]:
    tenant = str(uuid4())
    with ExitStack() as stack:

        def open_(vectors: Mapping[str, list[float]] | None = None, **given: Any) -> Memory:
            if not (vectors or given) and kept_engine.name == "embedded":
                return shared_memory.of(tenant, utc_now)
            embedder = TableEmbedder(vectors, 2) if vectors else HashingEmbedder()
            memory = Memory.open(embedder=embedder, **kept_engine.settings_arguments | given)
            stack.callback(memory.close)
            return memory

        yield open_


def say(memory: Memory, text: str, day: float = 0, **given: Any) -> Decision:
    return memory.add_contact_note("crm", "alice", text, **{"said_at": days(day)} | given)


def city(value: str) -> dict[str, str]:
    return {"attribute": "city", "value": value}


def live(memory: Memory) -> list[str]:
    return sorted(each.fact.text for each in memory.contact("crm", "alice").recall(limit=100))


def disputes(memory: Memory) -> list[set[str]]:
    return [
        {fact.text for fact in each.facts} for each in memory.contact("crm", "alice").disputes()
    ]


def disputed(memory: Memory) -> tuple[Decision, Decision]:
    """What the contact said, and what an operator noted of it later, which ranks lower."""
    return (
        say(memory, "Lives in Pune", **city("Pune")),
        say(memory, "Lives in Mumbai", 9, source_kind=OPERATOR, **city("Mumbai")),
    )


# Which word holds


def at_brightwave(span: str = "I work at Brightwave now") -> Extraction:
    claimed = Extracted(
        text="Works at Brightwave.",
        category=Category.FACT,
        importance=0.6,
        confidence=0.9,
        citations=(Citation(episode=1, span=span),),
        attribute="employer",
        value="Brightwave",
    )
    return Extraction(candidates=(claimed,))


def test_what_the_contact_says_in_a_session_ends_what_it_said_before(opened: Open) -> None:
    memory = opened(extractor=ScriptedExtractor([at_brightwave()] * 4))
    nordlys = {"attribute": "employer", "value": "Nordlys"}
    first = memory.add_contact_note("crm", "alice", "Works at Nordlys.", **nordlys)
    for number in range(4):
        said = Turn(role="contact", text="Hello. I work at Brightwave now.")
        memory.contact("crm", "alice").submit_session(f"chat-{number}", [said])
        memory.drain()
    [employer] = [each.fact for each in memory.contact("crm", "alice").recall()]
    [history] = memory.contact("crm", "alice").history()
    assert (employer.text, str(employer.trust)) == ("Works at Brightwave.", "user_explicit")
    assert (employer.observations, history.facts[-1].fact_id) == (4, first.fact_id)


# What ranks lower


def test_a_lower_word_raises_one_question_however_often_it_is_said(opened: Open) -> None:
    memory = opened()
    disputed(memory)
    say(memory, "Lives in Mumbai", 10, source_kind=OPERATOR, **city("Mumbai"))
    assert disputes(memory) == [{"Lives in Pune", "Lives in Mumbai"}]


def test_the_question_names_both_texts_whose_word_and_since_when(opened: Open) -> None:
    memory = opened()
    disputed(memory)
    [found] = memory.contact("crm", "alice").disputes()
    assert found.question == (
        'Which one holds: "Lives in Pune" (the user\'s own word, since 2025-03-09) or '
        '"Lives in Mumbai" (an operator\'s word, since 2025-03-18)?'
    )


@pytest.mark.parametrize("kept", [0, 1])
def test_the_answer_ends_the_other_side(opened: Open, kept: int) -> None:
    memory = opened()
    sides = disputed(memory)
    keep, lost = sides[kept].fact_id, sides[1 - kept].fact_id
    made = memory.contact("crm", "alice").resolve(keep, by="contact", reason="She said so.")
    assert (made.action, made.fact_id, made.superseded_ids) == (Action.RESOLVE, keep, (lost,))
    [history] = memory.contact("crm", "alice").history()
    assert [fact.fact_id for fact in history.facts] == [keep, lost]
    assert (history.facts[0].is_confirmed_by_user, disputes(memory)) == (True, [])


@pytest.mark.on_neo4j_too
def test_an_answer_given_twice_is_one_decision(opened: Open) -> None:
    memory = opened()
    keep = disputed(memory)[1].fact_id
    first = memory.contact("crm", "alice").resolve(keep, by="anna", reason="Checked.")
    again = memory.contact("crm", "alice").resolve(keep, by="anna", reason="Checked.")
    assert (again.decision_id, again.replayed) == (first.decision_id, True)
    assert json.loads(json.dumps(first.to_dict()))["verdict"]["action"] == "RESOLVE"


def test_what_was_kept_by_the_contact_is_the_contacts_word(opened: Open) -> None:
    memory = opened()
    keep = disputed(memory)[1].fact_id
    memory.contact("crm", "alice").resolve(keep, by="contact", reason="She said so.")
    goa = say(memory, "Lives in Goa", source_kind=OPERATOR, **city("Goa"), said_at=None)
    assert (goa.action, goa.decided_by) == (Action.ADD, DecidedBy.TRUST)


def test_an_id_of_what_was_restated_since_names_the_same_side(opened: Open) -> None:
    memory = opened()
    lower = disputed(memory)[1]
    again = say(memory, "Lives in Mumbai", 10, source_kind=OPERATOR, **city("Mumbai"))
    assert all(
        each.disputed_with for each in memory.contact("crm", "alice").recall("Lives in Pune")
    )
    made = memory.contact("crm", "alice").resolve(lower.fact_id, by="anna", reason="Checked.")
    assert made.fact_id == again.fact_id


def test_a_fact_in_no_dispute_is_not_resolved(opened: Open) -> None:
    memory = opened()
    said = say(memory, "Lives in Pune", **city("Pune"))
    with pytest.raises(InvalidAnswerError, match="not in an open dispute; `disputes` lists"):
        memory.contact("crm", "alice").resolve(said.fact_id, by="anna", reason="Checked.")
    with pytest.raises(UnknownFactError):
        memory.contact("crm", "alice").resolve("nobody's", by="anna", reason="Checked.")


def test_no_fact_at_all_is_refused_in_our_words(opened: Open) -> None:
    nothing: Any = None
    with pytest.raises(InvalidRequestError, match="keep must be"):
        opened().contact("crm", "alice").resolve(nothing, by="anna", reason="Checked.")


def test_no_agent_answers_a_dispute(opened: Open) -> None:
    memory = opened()
    keep = disputed(memory)[1].fact_id
    with pytest.raises(InvalidAnswerError, match="no agent may decide this"):
        memory.contact("crm", "alice").resolve(keep, by="agent:crm", reason="I think so.")


def test_both_may_be_kept_where_they_do_not_contradict(opened: Open) -> None:
    memory = opened(near(0.9, THREE, TWO))
    sides = [say(memory, THREE), say(memory, TWO, 1)]
    ids = [each.fact_id for each in sides]
    made = memory.contact("crm", "alice").resolve(ids, by="anna", reason="Two of them are hers.")
    assert (made.superseded_ids, disputes(memory)) == ((), [])
    assert live(memory) == sorted([THREE, TWO])
    assert all(not each.disputed_with for each in memory.contact("crm", "alice").recall(THREE))


def test_that_neither_holds_is_one_decision_and_one_undo(opened: Open) -> None:
    memory = opened()
    alice, ids = memory.contact("crm", "alice"), [each.fact_id for each in disputed(memory)]
    count = len(alice.decisions())
    made = alice.resolve(neither=ids, by="anna", reason="She moved on.")
    assert (made.action, sorted(made.superseded_ids)) == (Action.REVOKE, sorted(ids))
    assert (live(memory), disputes(memory), len(alice.decisions())) == ([], [], count + 1)
    assert {alice.evidence(each).fact.state for each in ids} == {FactState.REVOKED}
    again = alice.resolve(neither=ids, by="anna", reason="She moved on.")
    assert (again.decision_id, again.replayed) == (made.decision_id, True)
    alice.revert(made.decision_id, by="anna", reason="A mix-up.")
    assert live(memory) == ["Lives in Mumbai", "Lives in Pune"]
    assert disputes(memory) == [{"Lives in Pune", "Lives in Mumbai"}]


def test_an_undone_answer_is_not_given_again_for_facts_in_no_dispute(opened: Open) -> None:
    memory = opened()
    alice, ids = memory.contact("crm", "alice"), [each.fact_id for each in disputed(memory)]
    made = alice.resolve(neither=ids, by="anna", reason="She moved on.")
    alice.revert(made.decision_id, by="anna", reason="A mix-up.")
    alice.resolve(ids[0], by="anna", reason="Checked.")
    with pytest.raises(InvalidAnswerError, match=r"settled already, by anna on .*: Checked"):
        alice.resolve(neither=ids, by="anna", reason="She moved on.")


def test_the_second_of_two_persons_is_told_who_settled_it_and_how(opened: Open) -> None:
    memory = opened()
    alice, (upper, lower) = memory.contact("crm", "alice"), disputed(memory)
    made = alice.resolve(upper.fact_id, by="anna", reason="She said so by phone.")
    told = rf"settled already, by anna on .*: She said so by phone\. .* {made.decision_id}"
    with pytest.raises(InvalidAnswerError, match=told):
        alice.resolve(lower.fact_id, by="bea", reason="By letter.")
    with pytest.raises(InvalidAnswerError, match=told):
        alice.resolve(neither=[upper.fact_id, lower.fact_id], by="bea", reason="By letter.")


def test_what_was_restated_or_named_in_part_is_the_same_dispute(opened: Open) -> None:
    memory = opened()
    alice, (upper, lower) = memory.contact("crm", "alice"), disputed(memory)
    again = say(memory, "Lives in Mumbai", 10, source_kind=OPERATOR, **city("Mumbai"))
    with pytest.raises(InvalidAnswerError, match=f"in the same dispute: {again.fact_id}"):
        alice.resolve(neither=upper.fact_id, by="anna", reason="Checked.")
    made = alice.resolve(neither=[upper.fact_id, lower.fact_id], by="anna", reason="Checked.")
    assert {*made.superseded_ids} == {upper.fact_id, again.fact_id}


@pytest.mark.parametrize("both", [True, False])
def test_either_keep_or_neither_is_named(opened: Open, both: bool) -> None:
    memory = opened()
    ids = [each.fact_id for each in disputed(memory)] if both else []
    with pytest.raises(InvalidAnswerError, match="give the facts that hold with keep="):
        memory.contact("crm", "alice").resolve(ids, neither=ids, by="anna", reason="Checked.")


def test_later_evidence_that_agrees_with_one_side_settles_it(opened: Open) -> None:
    memory = opened(near(0.9, THREE, TWO))
    three = say(memory, THREE)
    two = say(memory, TWO, 1)
    assert disputes(memory) == [{THREE, TWO}]
    again = say(memory, THREE, 2)
    assert (again.superseded_ids, disputes(memory)) == ((three.fact_id, two.fact_id), [])
    assert live(memory) == [THREE]


def test_what_only_counts_as_said_again_settles_too(opened: Open) -> None:
    memory = opened()
    kept, lost = disputed(memory)
    again = say(memory, "Lives in Pune", 10, source_kind=OPERATOR, **city("Pune"))
    assert (again.action, again.fact_id) == (Action.SKIP, kept.fact_id)
    assert (again.superseded_ids, disputes(memory)) == ((lost.fact_id,), [])
    [history] = memory.contact("crm", "alice").history()
    assert [fact.fact_id for fact in history.facts] == [kept.fact_id, lost.fact_id]


# Recall and prompt


def test_recall_and_prompt_show_the_conflict_on_both_lines(opened: Open) -> None:
    memory = opened(near(0.9, THREE, TWO))
    say(memory, THREE)
    say(memory, TWO, 1)
    ranked = memory.contact("crm", "alice").recall(THREE)
    shown = {each.fact.text: [other.text for other in each.disputed_with] for each in ranked}
    assert shown == {THREE: [TWO], TWO: [THREE]}
    lines = as_prompt(ranked).splitlines()
    assert f'- [disputed: see "{TWO}"] {THREE}' in "\n".join(lines)
    assert f'- [disputed: see "{THREE}"] {TWO}' in "\n".join(lines)


def test_a_prompt_brings_the_other_side_where_it_was_not_chosen(opened: Open) -> None:
    memory = opened(near(0.9, THREE, TWO))
    say(memory, THREE)
    say(memory, TWO, 1)
    told = as_prompt(memory.contact("crm", "alice").recall(THREE, limit=1))
    assert (told.count("disputed:"), told.count("ask the contact once")) == (2, 1)


# One hedged word


def by(channel: str) -> dict[str, str]:
    return {"attribute": "preferred_channel", "value": channel}


def confirmed_email(memory: Memory) -> None:
    held = say(memory, EMAIL, source_kind=TOOL, **by("e-mail"))
    memory.contact("crm", "alice").confirm(held.decision_id, "contact")


def often_email(memory: Memory) -> None:
    for day in range(3):
        say(memory, EMAIL, day, lifetime_days=3650, **by("e-mail"))


@pytest.mark.parametrize("given", [confirmed_email, often_email])
def test_a_guess_does_not_end_what_is_confirmed_or_often_said(
    opened: Open, given: Callable[[Memory], None]
) -> None:
    memory = opened(near(0.9, EMAIL, PHONE))
    given(memory)
    guessed = say(memory, PHONE, said_at=None, **by("phone"))
    assert (guessed.action, guessed.decided_by) == (Action.ADD, DecidedBy.HEDGE)
    assert disputes(memory) == [{EMAIL, PHONE}]


# Amendments


def amend(memory: Memory, **given: Any) -> Decision:
    usual = {"by": "anna", "reason": "She moved; the form was wrong.", "text": "Lives in Mumbai"}
    return memory.contact("crm", "alice").amend(**usual | given)


@pytest.mark.parametrize("by_id", [True, False])
def test_an_operators_amendment_ends_what_the_contact_said(opened: Open, by_id: bool) -> None:
    memory = opened()
    pune = say(memory, "Lives in Pune", **city("Pune"))
    which = {"fact_id": pune.fact_id} if by_id else {"attribute": "city"}
    made = amend(memory, **which, value="Mumbai")
    assert (made.action, made.decided_by) == (Action.UPDATE, DecidedBy.AMENDMENT)
    assert "anna: She moved; the form was wrong." in made.reason
    [mumbai] = [each.fact for each in memory.contact("crm", "alice").recall()]
    assert (mumbai.slot and mumbai.slot.value, str(mumbai.trust)) == ("Mumbai", "operator")
    assert made.superseded_ids == (pune.fact_id,)


def test_an_amendment_since_the_old_fact_began_leaves_that_one_no_time(opened: Open) -> None:
    memory = opened()
    alice, began = memory.contact("crm", "alice"), days(-30)
    said = say(memory, "Lives in Pune", valid_from=began, **city("Pune"))
    alice.amend(
        "Lives in Goa", fact_id=said.fact_id, value="Goa", by="anna", reason="A slip.",
        said_at=began,
    )  # fmt: skip
    [chain] = alice.history()
    right, wrong = chain.facts
    assert (wrong.valid_from, wrong.valid_to, right.valid_from) == (began, began, began)


def test_an_amendment_in_the_same_words_gives_a_fact_another_end_or_none(opened: Open) -> None:
    memory = opened()
    june, july = (datetime.now(UTC) + timedelta(days=number) for number in (30, 60))
    said = say(memory, "Is on leave", valid_to=june)
    given = {"text": "Is on leave", "reason": "Asked.", "fact_id": said.fact_id}
    first = amend(memory, **given, valid_to=july)
    assert amend(memory, **given, valid_to=july) == first.as_replay()
    [later] = [each.fact for each in memory.contact("crm", "alice").recall()]
    assert (later.valid_to, later.expires_at) == (july, july)
    amend(memory, **given | {"fact_id": later.fact_id}, lifetime_days=3650)
    [endless] = [each.fact for each in memory.contact("crm", "alice").recall()]
    assert endless.valid_to is None
    assert endless.expires_at
    assert endless.expires_at > july + timedelta(days=3000)
    with pytest.raises(InvalidNoteError, match="is in the past"):
        amend(memory, **given | {"fact_id": endless.fact_id}, valid_to=days(-1))


def test_an_amendment_with_another_end_is_another_one(opened: Open) -> None:
    memory = opened()
    say(memory, "Lives in Pune", **city("Pune"))
    given = {"attribute": "city", "value": "Mumbai"}
    july = datetime.now(UTC) + timedelta(days=60)
    assert not amend(memory, **given, valid_to=july).replayed
    assert not amend(memory, **given).replayed
    [mumbai] = [each.fact for each in memory.contact("crm", "alice").recall()]
    assert mumbai.valid_to is None


@pytest.mark.parametrize("by_id", [True, False])
def test_the_same_amendment_again_is_the_first_one_until_it_is_undone(
    opened: Open, by_id: bool
) -> None:
    memory = opened()
    pune = say(memory, "Lives in Pune", **city("Pune"))
    which = {"fact_id": pune.fact_id} if by_id else {"attribute": "city"}
    first = amend(memory, **which, value="Mumbai")
    again = amend(memory, **which, value="Mumbai")
    assert (again.decision_id, again.replayed) == (first.decision_id, True)
    memory.contact("crm", "alice").revert(first.decision_id, by="anna", reason="No.")
    assert not amend(memory, **which, value="Mumbai").replayed
    assert live(memory) == ["Lives in Mumbai"]


def test_an_amendment_that_is_in_dispute_since_settles_it_when_it_is_made_again(
    opened: Open,
) -> None:
    memory = opened()
    say(memory, "Lives in Pune", **city("Pune"))
    amend(memory, attribute="city", value="Mumbai")
    say(memory, "Lives in Goa", said_at=None, source_kind="approved_doc", **city("Goa"))
    assert disputes(memory) == [{"Lives in Mumbai", "Lives in Goa"}]
    assert not amend(memory, attribute="city", value="Mumbai").replayed
    assert (live(memory), disputes(memory)) == (["Lives in Mumbai"], [])


def test_an_amendment_whose_fact_was_replaced_is_made_again(opened: Open) -> None:
    memory = opened()
    say(memory, "Lives in Pune", **city("Pune"))
    amend(memory, attribute="city", value="Mumbai")
    amend(memory, attribute="city", value="Goa", text="Lives in Goa")
    assert not amend(memory, attribute="city", value="Mumbai").replayed
    assert live(memory) == ["Lives in Mumbai"]


@pytest.mark.parametrize(
    "other", [{"by": "olga"}, {"reason": "Heard wrong."}, {"text": "Lives in Goa", "value": "Goa"}]
)
def test_another_amendment_of_a_fact_that_was_amended_is_refused(
    opened: Open, other: dict[str, str]
) -> None:
    memory = opened()
    pune = say(memory, "Lives in Pune", **city("Pune"))
    given = {"fact_id": pune.fact_id, "value": "Mumbai"}
    amend(memory, **given)
    with pytest.raises(UnknownFactError, match="or it has ended"):
        amend(memory, **given | other)


def test_an_amendment_ends_a_fact_without_a_slot_however_far_its_words_are(opened: Open) -> None:
    memory = opened()
    said = say(memory, "Signs for everything above 5,000 euros")
    made = amend(memory, fact_id=said.fact_id, text="Her manager signs contracts")
    assert (made.decided_by, live(memory)) == (DecidedBy.AMENDMENT, ["Her manager signs contracts"])


def test_an_amendment_settles_what_was_disputed_in_its_slot(opened: Open) -> None:
    memory = opened()
    disputed(memory)
    amend(memory, attribute="city", value="Goa", text="Lives in Goa")
    assert (live(memory), disputes(memory)) == (["Lives in Goa"], [])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"fact_id": "PUNE"}, "give its new value with value="),
        ({"attribute": "city"}, "give its new value with value="),
        ({}, "either fact_id or attribute"),
        ({"attribute": "allergy", "value": "nuts"}, "holds many values"),
        ({"attribute": "employer", "value": "Acme"}, "no live fact"),
        ({"fact_id": "PUNE", "value": "Mumbai", "said_at": days(-9)}, "starts on 2025-03-09"),
    ],
)
def test_an_amendment_that_cannot_be_made_says_why(
    opened: Open, given: dict[str, Any], told: str
) -> None:
    memory = opened()
    pune = say(memory, "Lives in Pune", **city("Pune"))
    named = {name: pune.fact_id if value == "PUNE" else value for name, value in given.items()}
    with pytest.raises(InvalidRequestError, match=told):
        amend(memory, **named)
    assert live(memory) == ["Lives in Pune"]


@pytest.mark.parametrize("by", ["contact", "agent:crm", "crm"])
def test_an_amendment_is_an_operators(opened: Open, by: str) -> None:
    memory = opened()
    say(memory, "Lives in Pune", **city("Pune"))
    with pytest.raises(InvalidAnswerError):
        amend(memory, attribute="city", value="Mumbai", by=by)
