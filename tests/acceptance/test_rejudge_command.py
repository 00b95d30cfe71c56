"""`reconciler rejudge`: what a person sees of each decision that the judge is asked about later."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from reconciler import Memory
from reconciler.bootstrap import services
from reconciler.settings import load_settings
from reconciler.testing import TableEmbedder
from tests.anthropic_server import AnthropicServer, judgement
from tests.command_line import Run
from tests.engines import EngineUnderTest

CONTACTS = ("priya", "bob")
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
OLD, NEW = "Likes short calls.", "She likes short calls best."
AMENDED = "amended   She likes short calls best.  (the judge calls it replaces)"
REJUDGE = ("rejudge", "--agent", "crm")
NOTHING_LEFT = "No decision waits for a judge."


@pytest.fixture
def judge(
    engine: EngineUnderTest, run: Run, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AnthropicServer]:
    """A judge that answers now, and a decision about each contact that was made without it."""
    with AnthropicServer() as server:
        server.answers(judgement("replaces", 1, "UPDATE"))
        embedder = TableEmbedder({OLD: [1.0, 0.0], NEW: [0.5, 0.75**0.5]}, 2)
        monkeypatch.setattr(services, "build_embedder", lambda _: embedder)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("RECONCILER_ARBITER__BASE_URL", server.base_url)
        monkeypatch.setenv("RECONCILER_ARBITER__REACH", "0.4")
        monkeypatch.setenv("RECONCILER_ARBITER__CALLS_PER_DAY_MAX", "0")
        with Memory.open(load_settings(**engine.settings_arguments)) as memory:
            for number, contact in enumerate(CONTACTS):  # on other days: no answer serves twice
                for day, text in enumerate((OLD, NEW), start=2 * number):
                    said_at = NOON + timedelta(days=day)
                    memory.add_contact_note("crm", contact, text, said_at=said_at)
        monkeypatch.setenv("RECONCILER_ARBITER__CALLS_PER_DAY_MAX", "10")
        yield server


def test_the_command_shows_what_became_of_each_and_asks_only_once(
    run: Run, judge: AnthropicServer
) -> None:
    code, out, _ = run(*REJUDGE, "--contact", "priya")
    assert (code, out.splitlines()) == (0, [AMENDED])
    code, out, _ = run(*REJUDGE, "--json")
    assert (code, [each["became"] for each in json.loads(out)]) == (0, ["amended"])
    code, out, _ = run(*REJUDGE)
    assert (code, out.strip(), len(judge.requests)) == (0, NOTHING_LEFT, len(CONTACTS))


def test_a_command_that_is_interrupted_goes_on_later(run: Run, judge: AnthropicServer) -> None:
    replaces = judgement("replaces", 1, "UPDATE")
    judge.answers(replaces, replaces.late(5))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    here = threading.get_ident()

    def interrupt() -> None:
        while len(judge.requests) < len(CONTACTS):
            time.sleep(0.01)
        signal.pthread_kill(here, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    code, out, _ = run(*REJUDGE)
    signal.signal(signal.SIGINT, before)
    assert (code, out) == (130, "")
    judge.answers(replaces)
    code, out, _ = run(*REJUDGE)
    assert (code, out.splitlines()) == (0, [AMENDED])
