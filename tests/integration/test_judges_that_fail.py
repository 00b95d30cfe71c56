"""A judge without a usable answer: the note is kept, the record says why, it is judged later.

Over real HTTP, at the live door. What each adapter makes of each reply stands in
``tests/contract/test_judges.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from reconciler import Memory
from reconciler.errors import ConfigurationError
from reconciler.service.writing.relating import Upheld
from reconciler.settings import load_settings
from reconciler.testing import TableEmbedder
from tests.anthropic_server import (
    PATHS,
    AnthropicServer,
    Reply,
    answer,
    api_error,
    judgement,
    message,
)
from tests.engines import EngineUnderTest

CRM = ("crm", "priya")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
OLD, NEW = "Likes short calls.", "She likes short calls best."
REPLACES = judgement("replaces", 1, "UPDATE")
TRANSLATED = {
    "reasoning": "Die Notiz ersetzt die Tatsache.",
    "relation": "ersetzt",
    "target": 1,
    "action": "ERSETZEN",
    "confidence": 0.9,
}
SILENCE = "20 s of silence"
BAD = {
    "another dialect": (Reply(body=b'{"result": {"verdict": "replaces"}}'), "reply is not"),
    "prose": (message("It replaces fact 1."), "no whole JSON object"),
    "HTML": (Reply(body=b"<html>Sign in</html>"), "reply is not"),
    "another language": (message("Die Notiz ersetzt Fakt 1."), "no whole JSON object"),
    "JSON in another language": (answer(**TRANSLATED), "relation"),
    "a fact that was not shown": (
        judgement("replaces", 7, "UPDATE"),
        "fact 7, but only facts 1 to 1 were shown",
    ),
    SILENCE: (REPLACES.late(20), "no answer within 1 s"),
    "429": (api_error(429), "too many calls (HTTP 429)"),
    "429 with a wait": (api_error(429, retry_after="60"), "too many calls (HTTP 429)"),
}

OpenShop = Callable[..., Memory]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with AnthropicServer() as running:
        yield running


@pytest.fixture
def open_shop(kept_engine: EngineUnderTest, server: AnthropicServer) -> OpenShop:
    def _open(provider: str, seconds: float = 20.0) -> Memory:
        where = {"provider": provider, "base_url": f"{server.base_url}{PATHS[provider]}"}
        bounds = {"reach": 0.4, "timeout_seconds": seconds, "retries_max": 0}
        vectors = {OLD: [1.0, 0.0], NEW: [0.5, 0.75**0.5]}
        return Memory.open(
            load_settings(**kept_engine.settings_arguments, arbiter={**where, **bounds}),
            embedder=TableEmbedder(vectors, 2),
            clock=lambda: NOON + timedelta(days=2),
        )

    return _open


@pytest.mark.parametrize(
    ("provider", "bad"), [*(("anthropic", bad) for bad in BAD), ("openai", SILENCE)]
)
def test_a_note_is_kept_as_unjudged_in_bounded_time_and_judged_later(
    open_shop: OpenShop, server: AnthropicServer, provider: str, bad: str
) -> None:
    reply, why = BAD[bad]
    server.answers(reply)
    with open_shop(provider, 1.0 if bad == SILENCE else 20.0) as memory:
        memory.add_contact_note(*CRM, OLD, said_at=NOON)
        made = memory.add_contact_note(*CRM, NEW, said_at=NOON + timedelta(days=1))
        assert made.opinion.is_missing, "who waits for 20 s has an answer"
        assert why in str(made.opinion.error)
        assert live(memory) == {OLD, NEW}

        assert [each.became for each in memory.contact(*CRM).rejudge()] == [Upheld.UNJUDGED]
        server.answers(REPLACES)
        assert [each.became for each in memory.contact(*CRM).rejudge()] == [Upheld.AMENDED]
        assert live(memory) == {NEW}
        assert list(memory.contact(*CRM).rejudge()) == []


def test_an_answer_that_is_too_unsure_was_given_and_is_not_asked_for_again(
    open_shop: OpenShop, server: AnthropicServer
) -> None:
    server.answers(judgement("replaces", 1, "UPDATE", confidence=0.2))
    with open_shop("anthropic") as memory:
        memory.add_contact_note(*CRM, OLD, said_at=NOON)
        made = memory.add_contact_note(*CRM, NEW, said_at=NOON + timedelta(days=1))
        assert not made.opinion.is_missing
        assert list(memory.contact(*CRM).rejudge()) == []


def test_a_provider_that_nobody_knows_is_refused_by_its_name() -> None:
    with pytest.raises(ConfigurationError, match=r"arbiter\.provider.*anthropic.*packaged"):
        load_settings(arbiter={"provider": "oracle"})


def live(memory: Memory) -> set[str]:
    return {each.fact.text for each in memory.contact(*CRM).recall(limit=99)}
