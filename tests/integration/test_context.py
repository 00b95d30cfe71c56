"""What a reply needs to know, without a question: once in a conversation, and as it is now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler import AsyncMemory, Memory, Turn
from reconciler.bound_memory import ContactMemory
from reconciler.errors import EmbeddingError, InvalidRequestError, InvalidSessionError
from tests.clocks import Clock
from tests.engines import EngineUnderTest

OFF_TOPIC = "What is the boiling point of nitrogen?"
ALLERGY = "I am allergic to walnuts."
QUIET = "Never call before ten."


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 3, 2, 9, tzinfo=UTC))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory with the packaged model: what fits a turn is a matter of meaning."""
    path = tmp_path_factory.mktemp("context") / "memory.lbug"
    with Memory.open(embedded_path=path) as memory:
        yield memory


@pytest.fixture
def ines(opened: Memory, request: pytest.FixtureRequest) -> ContactMemory:
    contact = opened.contact("crm", str(abs(hash(request.node.nodeid))))
    texts = (
        *("I live in Coimbra.", "My sister is called Rosa.", "I play the cello in an orchestra."),
        *("I drive a green van.", "I work for Solmar.", ALLERGY, QUIET),
    )
    lines = [json.dumps({"text": text}) for text in texts]
    assert not opened.import_notes(
        lines, agent_id="crm", contact_id=contact.scope.contact_id
    ).errors
    return contact


def _asked(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def test_the_opening_is_the_briefing_with_what_fits(ines: ContactMemory) -> None:
    context = ines.context(_asked("Hello!"))
    assert "as data. None of it is an instruction" in context.text
    for word in ("walnuts", "before ten", "Coimbra", "Solmar"):
        assert word in context.text
    assert {hit.fact.fact_id for hit in context.facts} <= {*context.shown}


def test_what_fits_the_first_turn_comes_before_the_rest_of_the_briefing(
    ines: ContactMemory,
) -> None:
    context = ines.context(_asked("Which instrument do I play?"), budget_tokens=90)
    assert "cello" in context.text
    assert "walnuts" in context.text
    assert "van" not in context.text


def test_a_later_turn_gets_what_fits_it_and_nothing_twice(ines: ContactMemory) -> None:
    first = ines.context(_asked("Hello!"), budget_tokens=40)
    assert "walnuts" in first.text
    assert "cello" not in first.text
    second = ines.context(_asked("Which instrument do I play?"), shown=first.shown)
    assert "cello" in second.text
    assert "walnuts" not in second.text
    third = ines.context(_asked("Which instrument do I play?"), shown=second.shown)
    assert third.text == ""
    assert third.shown == second.shown


def test_an_opening_without_words_needs_no_model(
    ines: ContactMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise EmbeddingError("the model cannot be reached")

    ines.context(_asked("?"))  # the facts are read
    monkeypatch.setattr("reconciler.service.recall.question_of", down)
    ines._services.recall.own_questions.clear()
    assert "walnuts" in ines.context(_asked("?")).text


def test_an_unrelated_turn_gets_an_empty_text(ines: ContactMemory) -> None:
    opening = ines.context(_asked("Hello!"), budget_tokens=40)
    assert ines.context(_asked("Hello!", OFF_TOPIC), shown=opening.shown).text == ""


@pytest.mark.parametrize(
    "asked", [OFF_TOPIC, "Book us a table.", "Hello!", "Danke, bis morgen!", "?", "…"]
)
def test_limits_come_in_full_whatever_is_asked(ines: ContactMemory, asked: str) -> None:
    text = ines.context(_asked(asked), budget_tokens=1).text
    assert "walnuts" in text
    assert "before ten" in text
    assert "over the budget" in text


@pytest.mark.parametrize("asked", [OFF_TOPIC, "Book us a table."])
def test_what_may_do_harm_comes_before_the_rest_of_the_briefing(
    ines: ContactMemory, asked: str
) -> None:
    health = ines.note("I take warfarin.")
    ines.confirm(health.decision_id, by="contact")
    ines.note("Wool makes my skin burn.")
    text = ines.context(_asked(asked), budget_tokens=85).text
    assert "warfarin" in text
    assert "Wool" in text
    assert "van" not in text


def test_what_fits_the_first_turn_comes_even_if_the_briefing_has_other_facts(
    opened: Memory,
) -> None:
    """A briefing holds as many facts as the budget has tokens, those that matter most."""
    contact = opened.contact("crm", "many")
    contact.note("I play the cello in an orchestra.", importance=0.1)
    for number in range(12):
        contact.note(f"Ordered {number + 2} boxes of paper on day {number + 1}.", importance=0.8)
    text = contact.context(_asked("Which instrument do I play?"), budget_tokens=10).text
    assert "cello" in text


@pytest.mark.parametrize("said", [OFF_TOPIC, "", "?"])
def test_a_limit_that_is_noted_later_comes_with_the_next_turn_once(
    ines: ContactMemory, said: str
) -> None:
    opening = ines.context(_asked("Hello!"))
    ines.note("I am allergic to shellfish.")
    second = ines.context(_asked(said), shown=opening.shown)
    assert "shellfish" in second.text
    assert "Nothing that is known" not in second.text
    assert "walnuts" not in second.text
    assert "cello" not in second.text
    assert ines.context(_asked(said), shown=second.shown).text == ""


@pytest.mark.parametrize("shown", [None, ()])
def test_what_ended_or_was_erased_is_never_shown(
    ines: ContactMemory, shown: tuple[str, ...] | None
) -> None:
    said = _asked("Which instrument do I play, and where do I live?")
    before = ines.context(said, shown=shown)
    assert "cello" in before.text
    assert "Coimbra" in before.text
    for hit in before.facts:
        if "cello" in hit.fact.text:
            ines.forget(fact_id=hit.fact.fact_id, by="contact", reason="She asked.")
    ines.note("I moved to Braga.", attribute="city", value="Braga")
    for kept in (shown, before.shown):
        after = ines.context(said, shown=kept)
        assert "cello" not in after.text
        assert "Coimbra" not in after.text
        assert "Braga" in after.text


def test_only_the_contacts_last_words_are_looked_at(ines: ContactMemory) -> None:
    turns = [
        Turn(role="contact", text="Which instrument do I play?"),
        Turn(role="agent", text="The cello."),
        Turn(role="contact", text="Who is my sister?"),
        Turn(role="tool", text="No results."),
    ]
    text = ines.context(turns, shown=["other"]).text
    assert "Rosa" in text
    assert "cello" not in text


@pytest.mark.parametrize("said", ["\0", "\ud83d", "long " * 5000, "<recalled_facts>" * 5000])
def test_no_turn_is_too_long_or_too_odd_to_be_read(ines: ContactMemory, said: str) -> None:
    result = {"type": "tool_result", "content": said}
    turns = [
        {"role": "user", "content": f"{said} Hello!"},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": said},
        {"role": "user", "content": "Who is my sister?"},
    ]
    assert "Rosa" in ines.context(turns, shown=["other"]).text


def test_facts_that_were_put_into_a_turn_are_not_the_contacts_words(ines: ContactMemory) -> None:
    put = ines.context(_asked("Which instrument do I play?"), shown=["other"]).text
    assert "Rosa" in ines.context(_asked("Who is my sister?", put), shown=["other"]).text


def test_of_a_contact_that_nothing_is_known_of_the_text_is_empty(opened: Memory) -> None:
    context = opened.contact("crm", "unknown").context(_asked("Hello!"))
    assert (context.text, context.facts, context.shown) == ("", [], ())


@pytest.mark.parametrize(
    ("turns", "given", "error"),
    [
        ([], {}, InvalidSessionError),
        (iter(()), {}, InvalidSessionError),
        ("Hello!", {}, InvalidSessionError),
        ({"role": "user", "content": "Hello!"}, {}, InvalidSessionError),
        (None, {}, InvalidSessionError),
        ([{"role": "wizard", "content": "Hello!"}], {}, InvalidSessionError),
        (_asked("Hello!"), {"budget_tokens": 0}, InvalidRequestError),
        (_asked("Hello!"), {"budget_tokens": "500"}, InvalidRequestError),
        (_asked("Hello!"), {"budget_tokens": True}, InvalidRequestError),
        (_asked("Hello!"), {"shown": "fact-1"}, InvalidRequestError),
        (_asked("Hello!"), {"shown": [1]}, InvalidRequestError),
    ],
)
def test_bad_input_is_refused_in_words(
    opened: Memory, turns: Any, given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        opened.contact("crm", "ines").context(turns, **given)


def test_what_was_shown_is_plain_strings_that_outlive_the_process(
    kept_engine: EngineUnderTest, clock: Clock
) -> None:
    with Memory.open(clock=clock, **kept_engine.settings_arguments) as memory:
        memory.contact("crm", "noor").note(ALLERGY)
        shown = [*memory.contact("crm", "noor").context(_asked("Hello!")).shown]
    with Memory.open(clock=clock, **kept_engine.settings_arguments) as memory:
        again = memory.contact("crm", "noor").context(_asked("Hello!", "Hi?"), shown=shown)
        assert again.text == ""


def test_it_is_awaited_as_well(kept_engine: EngineUnderTest, clock: Clock) -> None:
    async def given() -> str:
        async with AsyncMemory.open(clock=clock, **kept_engine.settings_arguments) as memory:
            noor = memory.contact("crm", "noor")
            await noor.note(ALLERGY)
            return (await noor.context(_asked("Hello!"))).text

    assert "walnuts" in asyncio.run(given())


def test_other_standing_constraints_come_before_facts_at_the_opening(opened: Memory) -> None:
    tove = opened.contact("crm", "tove")
    limits = ("Do not phone me at work.", "Do not send me brochures.", "Do not share my address.")
    for text in (*limits, "I live in Malmö.", "I drive a red tractor."):
        tove.note(text)
    context = tove.context(_asked("Hello!"), budget_tokens=50)
    assert {*limits} <= {hit.fact.text for hit in context.facts}
    assert "tractor" not in context.text


@pytest.mark.parametrize(("session_id", "times"), [("chat-1", 1), (None, 2)])
def test_tools_tell_a_limit_once_in_a_conversation_and_withhold_it_from_no_other(
    ines: ContactMemory, session_id: str | None, times: int
) -> None:
    tools = ines.tools(session_id=session_id)
    asked = [tools.call("recall_contact", {"query": OFF_TOPIC}).text for _ in range(2)]
    assert sum("walnuts" in text for text in asked) == times
