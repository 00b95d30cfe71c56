"""What a recall gives through the facade: what stands, what filters leave, what slots hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler import Memory, SlotValue, as_prompt, load_settings
from reconciler.config_files import load_attribute_book
from reconciler.domain.recalling.prompting import token_count
from reconciler.domain.recalling.recalled import RecallOutcome
from reconciler.errors import InvalidRequestError, InvalidScopeError
from reconciler.floats import Floats
from reconciler.service.stores.fact_store import FactStore
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
BAN, RULE = "Never call before nine.", "Always ask before a refund."
TOLD: tuple[tuple[str, dict[str, Any]], ...] = (
    (BAN, {"said_at": NOON - timedelta(days=300)}),
    ("Lives in Pune.", {"attribute": "city", "value": "Pune", "topic": "home"}),
    ("Works at Globex.", {"attribute": "employer", "value": "Globex", "tags": ["work"]}),
    ("The renewal is due in March.", {"source_kind": "operator", "tags": ["work", "money"]}),
    (RULE, {"said_at": NOON - timedelta(days=200)}),
)

FILTERED: tuple[tuple[dict[str, Any], set[str]], ...] = (
    ({"attribute": "Home city"}, {"Lives in Pune."}),
    ({"topic": "home"}, {"Lives in Pune."}),
    ({"tags": ["work", "money"]}, {"The renewal is due in March."}),
    ({"trust": "user_explicit"}, {"Lives in Pune.", "Works at Globex."}),
    ({"since": NOON + timedelta(seconds=1)}, set()),
)


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """A memory in which two constraints and three facts are known of Priya."""
    arguments = {"embedder": HashingEmbedder(64), **kept_engine.settings_arguments}
    with Memory.open(clock=lambda: NOON, **arguments) as memory:
        for text, given in TOLD:
            memory.add_contact_note("crm", "priya", text, **{"said_at": NOON} | given)
        yield memory


def texts(memory: Memory, query: str = "Where does she live?", **given: Any) -> list[str]:
    return [each.fact.text for each in memory.contact("crm", "priya").recall(query, **given)]


def test_what_waits_is_said_within_the_budget(memory: Memory) -> None:
    priya, asked = memory.contact("crm", "priya"), {"attribute": "language", "budget_tokens": 90}
    for language in ("Hindi", "Tamil", "Marathi", "English", "French", "German"):
        priya.note(f"Speaks {language}.", attribute="language", value=language)
    before = priya.recall(**asked)
    told = {"source_kind": "tool_output", "attribute": "language", "value": "Dutch"}
    priya.note("Speaks Dutch.", **told)
    recalled = priya.recall(**asked)
    assert len(recalled.waiting) == 1
    assert len(recalled) == len(before) - 1
    inner = as_prompt(recalled).split("\n")[2:-1]
    assert token_count("\n".join(line for line in inner if "more fit" not in line)) <= 90


def test_a_recall_of_an_attribute_says_what_waits_about_it(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    goa = {"attribute": "city", "value": "Goa"}
    held = priya.note("Lives in Goa.", source_kind="tool_output", **goa)
    assert held.action == "HOLD"
    recalled = priya.recall(attribute="home city")
    assert recalled.waiting == (held.decision_id,)
    assert "wait for a yes, and are not known yet: 1." in as_prompt(recalled)
    assert "Goa" not in as_prompt(recalled)
    assert priya.recall(attribute="city", budget_tokens=500).waiting == recalled.waiting
    told = priya.tools().call("recall_contact", {"attribute": "city"}).text
    assert "wait for a yes" in told
    others = {"attribute": "employer"}, {"attribute": "city", "subject": "wife"}, {"topic": "home"}
    assert all(priya.recall(**other).waiting == () for other in others)
    priya.reject(held.decision_id, "anna")
    assert priya.recall(attribute="city").waiting == ()


def test_constraints_stand_behind_the_answer_outside_the_limit(memory: Memory) -> None:
    for query in ("Where does she live?", ""):
        found = texts(memory, query, limit=1)
        assert (len(found), found[1:]) == (3, [BAN, RULE])
    nothing = memory.contact("crm", "priya").recall(attribute="birthday")
    assert (nothing, nothing.outcome) == ([], RecallOutcome.NOTHING_FITS)
    assert set(nothing.known) >= {"city", "employer"}


def test_filters_leave_what_is_asked_for(memory: Memory) -> None:
    for given, expected in FILTERED:
        for query in ("Where does she live and work?", ""):
            assert set(texts(memory, query, **given)) - {BAN, RULE} == expected


def test_a_budget_bounds_the_lines_of_the_prompt_and_what_stands_always_stays(
    memory: Memory,
) -> None:
    for tokens, count, standing in ((1, 2, 1), (50, 3, 1), (1000, 5, 2)):
        found = memory.contact("crm", "priya").recall("Where does she live?", budget_tokens=tokens)
        lines = [line for line in as_prompt(found).split("\n") if line.startswith("- ")]
        assert (len(found), next(each.fact.text for each in found if each.is_standing)) == (
            count,
            BAN,
        )
        assert found.standing_left_out == 2 - standing
        assert tokens == 1 or token_count("\n".join(lines)) <= tokens


def test_a_prompt_puts_constraints_first_and_is_the_same_each_time(memory: Memory) -> None:
    prompts = {
        as_prompt(memory.contact("crm", "priya").recall("Where does she live?")) for _ in range(3)
    }
    [prompt] = prompts
    assert [line for line in prompt.split("\n") if line.startswith("- ")][:2] == [
        f"- [not wanted] {BAN}",
        f"- {RULE}",
    ]


def test_a_limit_a_budget_or_a_filter_that_is_none_is_refused(memory: Memory) -> None:
    for given in ({"limit": 0}, {"budget_tokens": 0}, {"budget_tokens": 1.5}):
        with pytest.raises(InvalidRequestError, match="must be a whole number"):
            memory.contact("crm", "priya").recall(**given)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequestError, match="there is no filter colour; use attribute"):
        memory.contact("crm", "priya").recall("x", colour="red")  # type: ignore[call-arg]


def test_without_an_embedder_words_choose_and_constraints_stand(
    kept_engine: EngineUnderTest,
) -> None:
    settings = load_settings(embedder={"model": "noop"}, **kept_engine.settings_arguments)
    with Memory.open(settings) as memory:
        for text, _ in TOLD:
            memory.add_contact_note("crm", "priya", text)
        assert texts(memory, "Who works at Globex?") == ["Works at Globex.", BAN, RULE]
        assert texts(memory, "Reykjavik") == [BAN, RULE]


# Slots


def values(found: list[SlotValue]) -> list[tuple[str, str, str, int, bool]]:
    return [
        (each.subject, each.attribute, each.value, each.observations, each.is_disputed)
        for each in found
    ]


def test_a_value_is_what_was_said_last_and_how_often(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    for _ in range(2):
        priya.note("Lives in Goa now.", attribute="city", value="Goa")
    [found] = priya.value("Home city")
    assert values([found]) == [("contact", "city", "Goa", 2, False)]
    assert (found.since, found.word, found.text) == (NOON, "user_explicit", "Lives in Goa now.")


def test_an_attribute_that_holds_many_values_has_all_of_them(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    priya.note("Is allergic to nuts.", attribute="allergy", value="nuts", said_at=NOON)
    priya.note("Is allergic to milk.", attribute="allergy", value="milk")
    assert {each.value for each in priya.value("allergies")} == {"nuts", "milk"}


@pytest.mark.on_neo4j_too
def test_values_that_contradict_each_other_are_both_there_in_dispute(memory: Memory) -> None:
    memory.add_contact_note(
        "crm", "priya", "Lives in Goa.", attribute="city", value="Goa", source_kind="tool_output"
    )
    for held in memory.agent("crm").pending():
        memory.contact("crm", "priya").confirm(held.decision_id, "anna")
    found = memory.contact("crm", "priya").value("city")
    assert {each.is_disputed for each in found} == {len(found) > 1}


def test_what_the_contact_likes_and_hates_is_in_dispute(memory: Memory) -> None:
    priya = memory.contact("crm", "priya")
    for text in ("Likes phone calls.", "Hates phone calls.", "Hates video calls."):
        priya.note(text)
    [dispute] = priya.disputes()
    assert {fact.text for fact in dispute.facts} == {"Likes phone calls.", "Hates phone calls."}


def test_a_profile_is_the_current_values_the_contacts_own_first(memory: Memory) -> None:
    memory.add_contact_note(
        "crm", "priya", "His birthday is in May.", subject="son", attribute="birthday", value="May"
    )
    assert [each[:3] for each in values(memory.contact("crm", "priya").profile())] == [
        ("contact", "city", "Pune"),
        ("contact", "employer", "Globex"),
        ("son", "birthday", "May"),
    ]
    assert (
        values(memory.contact("crm", "priya").value("birthday", subject="her son"))[0][2] == "May"
    )


def test_what_ended_has_no_value(memory: Memory) -> None:
    [city] = memory.contact("crm", "priya").value("city")
    memory.contact("crm", "priya").revoke(city.fact_id, by="anna", reason="Moved.")
    assert memory.contact("crm", "priya").value("city") == []


@pytest.mark.parametrize(
    ("said", "slot", "left"),
    [
        ("No longer works at Globex.", {}, "city"),
        ("Never worked at Globex.", {"attribute": "employer", "value": "Globex"}, "city"),
        ("Moved away from Pune.", {}, "employer"),
    ],
)
def test_a_value_that_is_denied_or_has_ended_is_none(
    memory: Memory, said: str, slot: dict[str, Any], left: str
) -> None:
    omar = memory.contact("crm", "omar")
    omar.note("Works at Globex.")
    omar.note("Lives in Pune.")
    omar.note(said, **slot)
    assert said in [each.fact.text for each in omar.recall()]
    assert [each.attribute for each in omar.profile()] == [left]


def test_a_denial_that_affirms_the_value_leaves_it(memory: Memory) -> None:
    omar = memory.contact("crm", "omar")
    omar.note("Cannot eat peanuts.", attribute="allergy", value="peanuts")
    assert [each.value for each in omar.profile()] == ["peanuts"]


SAMPLES = {
    **{"boolean": "yes", "channel": "email", "country": "Spain", "currency": "EUR"},
    **{"date": "3 May 2027", "date_time": "3 May 2027 10:00", "email": "ana@example.org"},
    **{"identifier": "A-1042", "language": "French", "money": "40,000 EUR", "name": "Brightwave"},
    **{"number": "42", "percent": "12%", "person": "Ana Costa", "phone": "+44 20 7946 0018"},
    **{"text": "sailing", "time_zone": "CET", "url": "https://example.org/ana"},
}
"""By the normaliser of an attribute, a value of it."""

BOOK = {
    each.normaliser: (each.name, SAMPLES[each.normaliser]) for each in load_attribute_book(None)
}.values()
"""An attribute of each normaliser: the others are read in the same way."""


@every(("attribute", "value"), BOOK)
@every("with_slot", [True, False])
def test_no_profile_shows_what_a_later_fact_denies(
    memory: Memory, attribute: str, value: str, with_slot: bool
) -> None:
    contact = memory.contact("crm", f"{attribute} {with_slot}")
    slot = {"attribute": attribute, "value": value}
    noun = attribute.replace("_", " ")
    contact.note(f"The {noun} is {value}.", **slot)
    assert len(contact.value(attribute)) == 1
    contact.note(f"The {noun} is no longer {value}.", **(slot if with_slot else {}))
    assert contact.value(attribute) == []
    assert contact.profile() == []


@every(("attribute", "value"), BOOK)
def test_a_value_that_several_facts_say_is_given_once(
    memory: Memory, attribute: str, value: str
) -> None:
    contact = memory.contact("crm", f"twice {attribute}")
    noun = attribute.replace("_", " ")
    for said in ("since 2019", "as Bob Reed said"):
        contact.note(f"The {noun} is {value} {said}.", attribute=attribute, value=value)
    [found] = contact.value(attribute)
    assert found.observations == 2


@every(
    ("told", "then", "left"),
    [
        (("Is vegetarian.", "diet", "vegetarian"), "Is no longer vegetarian.", 0),
        (("Is allergic to nuts.", "allergy", "nuts"), "No longer allergic to nuts.", 0),
        (("Has a nut allergy.", "allergy", "nuts"), "Is not allergic to nuts after all.", 0),
        (("Cannot eat nuts.", "allergy", "nuts"), "Can eat nuts again.", 0),
        (("Is allergic to nuts.", "allergy", "nuts"), "Does not eat nuts.", 1),
        (("Plays tennis.", "sport", "tennis"), "No longer plays tennis.", 0),
        (("Is vegetarian.", "diet", "vegetarian"), "His wife is not vegetarian.", 1),
        (("Is vegetarian.", "diet", "vegetarian"), "Is not vegan.", 1),
    ],
)
def test_a_denial_takes_the_value_that_it_names_and_no_other(
    memory: Memory, told: tuple[str, str, str], then: str, left: int
) -> None:
    text, attribute, value = told
    omar = memory.contact("crm", then)
    omar.note(text, attribute=attribute, value=value)
    omar.note(then)
    assert len(omar.value(attribute)) == left


def test_what_a_lesser_source_denies_stays_in_the_profile(memory: Memory) -> None:
    omar = memory.contact("crm", "omar")
    omar.note("Is allergic to nuts.", attribute="allergy", value="nuts")
    omar.note("No longer allergic to nuts.", source_kind="approved_doc")
    assert [each.value for each in omar.profile()] == ["nuts"]


@pytest.mark.parametrize(
    "said", [("dislikes", "pizza", "Does not like pizza."), ("allergy", "nuts", "Never eats nuts.")]
)
def test_a_denial_is_the_value_of_an_attribute_that_is_named_so(
    memory: Memory, said: tuple[str, str, str]
) -> None:
    attribute, value, text = said
    omar = memory.contact("crm", "omar")
    omar.note(text, attribute=attribute, value=value)
    assert [each.value for each in omar.profile()] == [value]


def test_an_attribute_or_a_contact_that_is_none_is_refused(memory: Memory) -> None:
    for attribute in (None, "", "none", 7):
        with pytest.raises(InvalidRequestError):
            memory.contact("crm", "priya").value(attribute)  # type: ignore[arg-type]
    with pytest.raises(InvalidScopeError):
        memory.contact("crm", "").profile()


# Briefings


def test_a_briefing_opens_with_the_employer_and_what_is_due_and_says_what_it_leaves_out(
    memory: Memory,
) -> None:
    briefing = memory.contact("crm", "priya").briefing(limit=2)
    assert {value.attribute for value in briefing.profile} >= {"city", "employer"}
    chosen = {hit.fact.text for hit in briefing.facts if not hit.is_standing}
    assert chosen == {"Works at Globex.", "The renewal is due in March."}
    assert {hit.fact.text for hit in briefing.facts if hit.is_standing} == {BAN, RULE}
    assert (briefing.facts.outcome, briefing.facts.left_out) == (RecallOutcome.CUT, 1)
    assert "1 more fits:" in briefing.as_prompt()


def test_a_briefing_keeps_what_matters_most_beside_its_limit(memory: Memory) -> None:
    most = "Enters the flat of a tenant with two days' notice."
    memory.add_contact_note("crm", "priya", most, importance=1.0)
    for number in range(3):
        memory.add_contact_note("crm", "priya", f"Bought boat number {number}.")
    briefing = memory.contact("crm", "priya").briefing(limit=1)
    assert most in {hit.fact.text for hit in briefing.facts}
    assert most in briefing.as_prompt(budget_tokens=1)


def test_of_many_open_questions_a_model_is_given_what_there_is_room_for(
    memory: Memory,
) -> None:
    for number in range(15):
        memory.add_contact_note("crm", "priya", f"Perhaps she has diabetes of type {number}.")
    briefing = memory.contact("crm", "priya").briefing()
    assert len(briefing.pending) == 15
    for told in (briefing.as_prompt(), briefing.as_prompt(budget_tokens=400)):
        assert told.count("May I keep this about health") == 1
        assert told.count("Perhaps she has diabetes") == 3
    assert "May I keep" not in briefing.as_prompt(budget_tokens=100)


def test_two_briefings_read_the_facts_of_the_contact_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    for name in ("list_facts", "begin_neighbourhood"):
        ask = getattr(FactStore, name)
        monkeypatch.setattr(FactStore, name, lambda *a, ask=ask: read.append("") or ask(*a))
    priya = memory.contact("crm", "priya")
    assert priya.briefing().facts == priya.briefing().facts
    assert len(read) <= 1


def test_a_briefing_marks_what_is_new_since_the_contact_was_last_asked_about(
    kept_engine: EngineUnderTest,
) -> None:
    now = [NOON]
    settings = kept_engine.settings_arguments | {"life": {"use_flush_seconds": 0.01}}
    with Memory.open(embedder=HashingEmbedder(64), clock=lambda: now[0], **settings) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
        assert memory.contact("crm", "priya").briefing().changed == ()
    now[0] += timedelta(days=3)
    with Memory.open(embedder=HashingEmbedder(64), clock=lambda: now[0], **settings) as memory:
        memory.add_contact_note("crm", "priya", "Plays the cello.")
        prompt = memory.contact("crm", "priya").briefing().as_prompt()
        assert [line.split("(")[0] for line in prompt.split("\n") if "[new]" in line] == [
            "- [new] Plays the cello. "
        ]


class CountingEmbedder(HashingEmbedder):
    """Counts the texts that it embeds."""

    count = 0

    def embed(self, texts: Sequence[str]) -> Floats:
        self.count += len(texts)
        return super().embed(texts)


def test_a_question_with_the_contacts_name_is_embedded_once(kept_engine: EngineUnderTest) -> None:
    embedder = CountingEmbedder()
    with Memory.open(embedder=embedder, **kept_engine.settings_arguments) as memory:
        contact = memory.contact("crm", "alice")
        contact.note("Her name is Leona Varga.", attribute="name", value="Leona Varga")
        contact.note("Lives in Pune.", attribute="city", value="Pune")
        contact.recall("What does she eat?")  # the first question loads what questions ask for
        before = embedder.count
        assert contact.recall("Where does Leona live?")[0].fact.text == "Lives in Pune."
        assert embedder.count == before + 1
