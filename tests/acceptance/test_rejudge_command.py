"""`reconciler rejudge --batch`: what a person sees of a batch, and how one is taken up again."""

from __future__ import annotations

import json
import shlex
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from reconciler import Memory
from reconciler.bootstrap import services
from reconciler.settings import load_settings
from reconciler.testing import TableEmbedder
from tests.anthropic_server import AnthropicServer, judgement
from tests.batches import Batches
from tests.command_line import Run
from tests.engines import EngineUnderTest

SCOPE = ("--agent", "crm", "--contact", "priya")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
OLD, NEW = "Likes short calls.", "She likes short calls best."
BATCH = ("rejudge", *SCOPE, "--batch")


@pytest.fixture
def batches(
    engine: EngineUnderTest, run: Run, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AnthropicServer]:
    """A server, and a memory with one decision that wants its judge."""
    with AnthropicServer() as server:
        server.answers(judgement("replaces", 1, "UPDATE"))
        embedder = TableEmbedder({OLD: [1.0, 0.0], NEW: [0.5, 0.75**0.5]}, 2)
        monkeypatch.setattr(services, "build_embedder", lambda _: embedder)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        chosen = {"BASE_URL": server.base_url, "REACH": "0.4", "CALLS_PER_DAY_MAX": "0"}
        for name, value in chosen.items():
            monkeypatch.setenv(f"RECONCILER_ARBITER__{name}", value)
        with Memory.open(load_settings(**engine.settings_arguments)) as memory:
            for day, text in enumerate((OLD, NEW)):
                memory.add_contact_note("crm", "priya", text, said_at=NOON + timedelta(days=day))
        yield server


def batches_of(server: AnthropicServer) -> Batches:
    assert server.batches is not None
    return server.batches


def test_the_command_waits_for_the_batch_and_shows_what_became_of_each(
    run: Run, batches: AnthropicServer
) -> None:
    code, out, err = run(*BATCH)
    assert (code, "amended   She likes short calls best." in out) == (0, True)
    assert "sent as a batch: 1. To take it up later:" in err
    code, out, _ = run(*BATCH, "--json")
    assert (code, json.loads(out)) == (0, [])


def test_a_command_that_is_interrupted_says_how_to_take_the_batch_up(
    run: Run, batches: AnthropicServer
) -> None:
    batches_of(batches).looks = 1000
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    here = threading.get_ident()
    interrupt = threading.Timer(1, lambda: signal.pthread_kill(here, signal.SIGINT))
    interrupt.start()
    code, out, err = run(*BATCH)
    signal.signal(signal.SIGINT, before)
    assert (code, out) == (130, "")
    at_first, take_up = [line for line in err.splitlines() if "--batch-id" in line]
    assert ("Nothing is lost" in err, take_up) == (True, at_first)
    batches_of(batches).end()
    _, *words = shlex.split(take_up)
    code, out, _ = run(*words, "--json")
    assert (code, [each["became"] for each in json.loads(out)]) == (0, ["amended"])
    assert len(batches.requests) == 1


def test_a_server_without_batches_is_told_apart(run: Run, batches: AnthropicServer) -> None:
    batches.batches = None
    code, _, err = run(*BATCH)
    assert (code, "run `reconciler rejudge` without --batch" in " ".join(err.split())) == (2, True)


def test_the_decisions_protocol_has_no_batches(
    run: Run, batches: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_ARBITER__PROVIDER", "decisions")
    code, _, err = run(*BATCH)
    assert (code, "this server has no batches" in err) == (2, True)
