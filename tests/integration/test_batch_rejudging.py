"""What no judge answered, asked later in batches: the vendors' own SDKs over real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

import pytest

from reconciler import Memory
from reconciler.errors import ArbiterUnavailableError, InvalidRequestError
from reconciler.ports.arbiter import BatchState
from reconciler.service.writing import batch_rejudging
from reconciler.service.writing.rejudging import Rejudged, Upheld
from reconciler.settings import load_settings
from reconciler.testing import ScriptedArbiter, TableEmbedder
from tests.anthropic_server import (
    DROPPED,
    PATHS,
    AnthropicServer,
    Reply,
    Request,
    api_error,
    judgement,
    message,
    refusal,
)
from tests.engines import EngineUnderTest
from tests.job_crasher import Victim

CRM, BOB = ("crm", "priya"), ("crm", "bob")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
OLD, NEW, NEWEST = "Likes short calls.", "She likes short calls best.", "Short calls suit her."
OLD_TEA, NEW_TEA = "Drinks black tea.", "He drinks green tea."
VECTORS = {OLD: [1.0, 0.0], NEW: [0.5, 0.75**0.5], NEWEST: [0.86, 0.51]}
VECTORS |= {OLD_TEA: VECTORS[OLD], NEW_TEA: VECTORS[NEW]}
REPLACES = judgement("replaces", 1, "UPDATE")
COEXISTS = judgement("coexists", None, "ADD")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks at a batch."""
    monkeypatch.setattr(batch_rejudging, "_PAUSE_SECONDS", 0.05)


@pytest.fixture(params=["anthropic", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with AnthropicServer() as running:
        yield running


def arguments_of(engine: EngineUnderTest, server: AnthropicServer, provider: str) -> dict[str, Any]:
    where = {"provider": provider, "base_url": f"{server.base_url}{PATHS[provider]}"}
    bounds = {"reach": 0.4, "timeout_seconds": 5.0, "retries_max": 0, "calls_per_day_max": 0}
    return {**engine.settings_arguments, "arbiter": {**where, **bounds}}


def opened(arguments: dict[str, Any]) -> Memory:
    seconds = count()
    return Memory.open(
        load_settings(**arguments),
        embedder=TableEmbedder(VECTORS, 2),
        clock=lambda: NOON + timedelta(days=2, seconds=next(seconds)),
    )


def wait_for_batch(told: Connection, arguments: dict[str, Any]) -> None:
    """Send a batch, say its id, and wait for it."""
    with opened(arguments) as memory:
        list(
            memory.contact(*CRM).rejudge_in_batches(on_wait=lambda state: told.send(state.batch_id))
        )


class Shop:
    """A memory with a budget of no call a day: what is near is unjudged, about two contacts."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.arguments = arguments
        self.memory = opened(arguments)
        self.tell(CRM, OLD, NEW)
        self.tell(BOB, OLD_TEA, NEW_TEA)

    def tell(self, contact: tuple[str, str], old: str, new: str) -> None:
        self.memory.add_contact_note(*contact, old, said_at=NOON)
        self.memory.add_contact_note(*contact, new, said_at=NOON + timedelta(days=1))

    def rejudge(self, contact: str | None = "priya", **how: Any) -> list[Rejudged]:
        crm = self.memory.agent("crm")
        asked = crm.contact(contact) if contact else crm
        return list(asked.rejudge_in_batches(**how))

    def live(self, contact: tuple[str, str] = CRM) -> set[str]:
        return {each.fact.text for each in self.memory.contact(*contact).recall(limit=99)}


@pytest.fixture
def arguments(
    any_engine: EngineUnderTest, server: AnthropicServer, provider: str
) -> dict[str, Any]:
    return arguments_of(any_engine, server, provider)


@pytest.fixture
def shop(arguments: dict[str, Any]) -> Iterator[Shop]:
    shop = Shop(arguments)
    yield shop
    shop.memory.close()


def became(found: list[Rejudged]) -> list[Upheld]:
    return [each.became for each in found]


def test_all_questions_go_in_one_batch_and_the_answers_become_decisions(
    shop: Shop, server: AnthropicServer
) -> None:
    server.answers(REPLACES)
    states: list[BatchState] = []
    assert server.batches is not None
    server.batches.looks = 1
    found = shop.rejudge(None, on_wait=states.append)
    assert became(found) == [Upheld.AMENDED] * 2
    assert (shop.live(), shop.live(BOB)) == ({NEW}, {NEW_TEA})
    [batch_id] = batches(server)
    assert [(each.total, each.is_ended) for each in states] == [(2, False)] * 2 + [(2, True)]
    assert {state.batch_id for state in states} == {batch_id}
    assert (shop.rejudge(None), batches(server)) == ([], [batch_id])


def test_a_batch_asks_what_a_single_call_asks(
    shop: Shop, server: AnthropicServer, arguments: dict[str, Any]
) -> None:
    server.answers(api_error(500))
    shop.rejudge()
    [in_batch] = [request.body for request in server.requests]
    shop.memory.close()
    arguments["arbiter"]["calls_per_day_max"] = 9
    with opened(arguments) as memory:
        list(memory.contact(*CRM).rejudge())
    assert [request.body for request in server.requests] == [in_batch] * 2


def test_the_answers_of_a_batch_are_revertable_decisions_of_the_judge(
    shop: Shop, server: AnthropicServer
) -> None:
    server.answers(REPLACES)
    [rejudged] = shop.rejudge()
    assert rejudged.amendment is not None
    shop.memory.contact(*CRM).revert(rejudged.amendment.decision_id, reason="Both hold.", by="anna")
    assert shop.live() == {OLD, NEW}


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (DROPPED, "expired"),
        (api_error(529), "the server says of this request"),
        (message("It replaces fact 1."), "no whole JSON object"),
        (refusal(), "declined"),
        (Reply(body=b'{"result": "replaces"}'), "reply is not"),
        (judgement("replaces", 7, "UPDATE"), "fact 7, but 1 were shown"),
        (judgement("replaces", 1, "UPDATE", 0.2), "confidence 0.2 is below"),
    ],
)
def test_a_question_without_a_usable_answer_stays_unjudged_and_is_asked_next_time(
    shop: Shop, server: AnthropicServer, bad: Reply, why: str
) -> None:
    server.answers(REPLACES, bad)
    found = shop.rejudge(None)
    assert became(found) == [Upheld.AMENDED, Upheld.UNJUDGED]
    assert why in found[1].why
    server.answers(COEXISTS)
    assert became(shop.rejudge(None)) == [Upheld.UPHELD]
    assert len(batches(server)) == 2


def test_a_question_that_an_earlier_answer_changed_is_asked_in_the_next_batch(
    shop: Shop, server: AnthropicServer
) -> None:
    shop.memory.add_contact_note(*CRM, NEWEST, said_at=NOON + timedelta(days=1, hours=1))
    asked: list[list[str]] = []

    def answer(request: Request) -> Reply:
        shown = [fact["text"] for fact in request.data["facts"]]
        asked.append([request.data["note"]["text"], *shown])
        return judgement("replaces", shown.index(OLD) + 1, "UPDATE") if OLD in shown else COEXISTS

    server.answers_with(answer)
    found = shop.rejudge()
    assert [set(each) for each in asked] == [{OLD, NEW, NEWEST}, {OLD, NEW, NEWEST}, {NEW, NEWEST}]
    assert (became(found), shop.live()) == ([Upheld.AMENDED, Upheld.UPHELD], {NEW, NEWEST})
    assert len(batches(server)) == 2


def test_a_question_that_waits_about_two_contacts_is_asked_once(
    shop: Shop, server: AnthropicServer
) -> None:
    shop.tell(("crm", "chen"), OLD, NEW)
    server.answers(REPLACES)
    assert became(shop.rejudge(None)) == [Upheld.AMENDED] * 3
    assert len(server.requests) == 2


def test_more_questions_than_a_batch_takes_are_asked_in_the_next(
    shop: Shop, server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_rejudging, "REQUESTS_MAX", 1)
    server.answers(REPLACES)
    assert became(shop.rejudge(None)) == [Upheld.AMENDED] * 2
    assert len(batches(server)) == 2


def test_a_killed_process_leaves_a_batch_that_another_takes_up_by_its_id(
    shop: Shop, server: AnthropicServer, arguments: dict[str, Any]
) -> None:
    shop.memory.close()
    server.answers(REPLACES)
    assert server.batches is not None
    server.batches.looks = 1000
    victim = Victim(wait_for_batch, arguments)
    batch_id = victim.told()
    victim.kill()
    asked_before = len(server.requests)
    server.batches.end()
    server.batches.looks = 0
    with opened(arguments) as memory:
        found = list(memory.contact(*CRM).rejudge_in_batches(batch_id=batch_id, wait_hours=0.01))
        assert became(found) == [Upheld.AMENDED]
    assert (len(server.requests), batches(server)) == (asked_before, [batch_id])


def test_a_batch_that_is_not_done_in_time_is_named_and_can_be_taken_up(
    shop: Shop, server: AnthropicServer
) -> None:
    server.answers(REPLACES)
    assert server.batches is not None
    server.batches.looks = 1
    with pytest.raises(ArbiterUnavailableError, match=r"not done in time.*batch_\d up again"):
        shop.rejudge(wait_hours=0)
    [batch_id] = batches(server)
    assert became(shop.rejudge(batch_id=batch_id)) == [Upheld.AMENDED]
    assert batches(server) == [batch_id]


def test_a_memory_that_is_closed_waits_no_longer(shop: Shop, server: AnthropicServer) -> None:
    server.answers(REPLACES)
    assert server.batches is not None
    server.batches.looks = 1
    with pytest.raises(ArbiterUnavailableError, match="closed while it was waited for"):
        shop.rejudge(on_wait=lambda _: shop.memory._services.arbitration.close())


def test_a_server_without_batches_is_told_no_text(shop: Shop, server: AnthropicServer) -> None:
    server.batches = None
    with pytest.raises(InvalidRequestError, match="this server has no batches; run `reconciler re"):
        shop.rejudge()
    [asked] = server.batch_calls
    assert asked.startswith("GET")


def test_a_batch_is_sent_once_also_where_the_reply_is_lost(
    shop: Shop, server: AnthropicServer, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.memory.close()
    arguments["arbiter"]["retries_max"] = 3
    server.answers(REPLACES)
    taken = server._of_batches

    def lose(path: str, headers: Any, sent: bytes) -> Reply:
        reply = taken(path, headers, sent)
        return DROPPED if sent and not path.endswith("/files") else reply

    monkeypatch.setattr(server, "_of_batches", lose)
    with opened(arguments) as memory, pytest.raises(ArbiterUnavailableError, match="broke off"):
        list(memory.contact(*CRM).rejudge_in_batches())
    assert len(batches(server)) == 1


def test_a_server_that_is_away_for_a_while_is_waited_for(
    shop: Shop, server: AnthropicServer
) -> None:
    assert server.batches is not None
    server.answers(REPLACES)
    server.batches.looks = 1
    states: list[BatchState] = []

    def leave(state: BatchState) -> None:
        states.append(state)
        if len(states) == 2:  # the first look
            assert server.batches is not None
            server.batches.is_away = True
            threading.Timer(0.3, setattr, (server.batches, "is_away", False)).start()

    assert became(shop.rejudge(on_wait=leave)) == [Upheld.AMENDED]
    assert len(states) == 3


def test_a_batch_that_nobody_sent_is_unknown(shop: Shop) -> None:
    with pytest.raises(InvalidRequestError, match="this server knows no batch batch_77"):
        shop.rejudge(batch_id="batch_77")


@pytest.mark.parametrize("provider", ["openai"], indirect=True)  # Anthropic gives it no id
def test_a_batch_that_is_rejected_as_a_whole_says_why(shop: Shop, server: AnthropicServer) -> None:
    assert server.batches is not None
    server.batches.rejection = "token_limit_exceeded"
    server.answers(REPLACES)
    with pytest.raises(InvalidRequestError, match=r"as a whole \(token_limit_exceeded\)"):
        shop.rejudge()


def test_a_judge_that_knows_no_batches_is_refused_at_once(any_engine: EngineUnderTest) -> None:
    settings = load_settings(**any_engine.settings_arguments)
    with (
        Memory.open(settings, arbiter=ScriptedArbiter([])) as memory,
        pytest.raises(InvalidRequestError, match="this server has no batches"),
    ):
        memory.contact(*CRM).rejudge_in_batches()


def batches(server: AnthropicServer) -> list[str]:
    assert server.batches is not None
    return server.batches.batch_ids
