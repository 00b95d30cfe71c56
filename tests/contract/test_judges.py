"""Judges of any vendor over real HTTP: answers that are hard to read, and servers with gaps."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import cache
from typing import Any

import pytest

from reconciler.domain.records.decisions import Judgement
from reconciler.errors import (
    ArbiterAnswerError,
    ArbiterError,
    ArbiterRefusedError,
    ArbiterUnavailableError,
)
from reconciler.ports.arbiter import Arbiter
from tests.anthropic_server import (
    AnthropicServer,
    Reply,
    Request,
    answer,
    api_error,
    connection,
    message,
)
from tests.contract.test_arbiter import FIELDS, PROVIDERS, neighbour, note
from tests.tables import every

API_KEY = "sk-test-77"
GOOD = answer(**FIELDS)

Build = Callable[..., Arbiter]


@pytest.fixture(scope="module")
def _server() -> Iterator[AnthropicServer]:
    with pytest.MonkeyPatch.context() as environment, AnthropicServer() as running:
        environment.setenv("NO_PROXY", "127.0.0.1")
        yield running


@pytest.fixture
def server(_server: AnthropicServer) -> AnthropicServer:
    _server.requests.clear()
    _server.answers(GOOD)
    return _server


@pytest.fixture
def build(server: AnthropicServer) -> Iterator[Build]:
    """Makes an arbiter of a provider, and closes it after the test."""
    with ExitStack() as stack:

        @cache  # to build an SSL context takes a tenth of a second
        def _build(provider: str, **other: Any) -> Arbiter:
            kind = PROVIDERS[provider]
            where = connection(server, API_KEY, provider, **other)
            return stack.enter_context(closing(kind(where)))

        yield _build


def judge(arbiter: Arbiter, count: int = 1) -> Judgement:
    return arbiter.judge(note(), [neighbour(number) for number in range(1, count + 1)])


each_provider = pytest.mark.parametrize("provider", ["anthropic", "openai"])


# Answers


@each_provider
@every(
    ("given", "read"),
    [({}, ()), ({"also": None}, ()), ({"also": [2, "3"]}, (2, 3)), ({"also": "2"}, (2,))],
)
def test_further_facts_may_be_named_or_left_out(
    server: AnthropicServer, build: Build, provider: str, given: dict[str, Any], read: Any
) -> None:
    told = {name: value for name, value in FIELDS.items() if name != "also"}
    server.requests.clear()
    server.answers(answer(**told, **given))

    assert judge(build(provider), 3).also == read
    assert len(server.requests) == 1


@each_provider
@every("status", [301, 302, 307, 308])
def test_neither_key_nor_note_follows_a_redirect_to_another_host(
    server: AnthropicServer, build: Build, provider: str, status: int
) -> None:
    elsewhere = server.base_url.replace("127.0.0.1", "localhost")
    server.requests.clear()
    server.answers(Reply(status=status, headers={"location": f"{elsewhere}/v1/messages"}), GOOD)

    with pytest.raises(ArbiterUnavailableError, match="it redirects"):
        judge(build(provider))
    assert len(server.requests) == 1


@each_provider
def test_json_that_words_follow_is_no_verdict(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    quoted = json.dumps(FIELDS | {"relation": "replaces"})
    server.answers(message(f"The note orders:\n{quoted}\nI do not follow it."))

    with pytest.raises(ArbiterAnswerError, match="no whole JSON object"):
        judge(build(provider))


@each_provider
@every(
    "said",
    [
        "The note refines fact 1.",
        "Die Notiz ergänzt Fakt 1.",
        "<html><body>Sign in</body></html>",
        json.dumps(FIELDS | {"relation": "supersedes"}),
        '{"reasoning": "The note',
    ],
)
def test_what_is_unreadable_is_no_answer_and_not_asked_for_again(
    server: AnthropicServer, build: Build, provider: str, said: str
) -> None:
    server.requests.clear()
    server.answers(message(said))

    with pytest.raises(ArbiterAnswerError, match="not what was asked for"):
        judge(build(provider, retries_max=3))
    assert len(server.requests) == 1


@each_provider
def test_an_empty_answer_is_asked_for_once(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    server.answers(message(""))

    with pytest.raises(ArbiterRefusedError, match="nothing"):
        judge(build(provider))
    assert len(server.requests) == 1


# Servers


@each_provider
def test_forty_seconds_of_silence_are_cut_short(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    arbiter = build(provider, timeout_seconds=0.8, retries_max=2)
    server.answers(GOOD.late(40))
    started = time.monotonic()

    with pytest.raises(ArbiterUnavailableError, match=r"no answer within 0\.8 s"):
        judge(arbiter)
    assert time.monotonic() - started < 35


@each_provider
@pytest.mark.parametrize("told", [{}, {"retry_after": "60"}])
def test_too_many_calls_are_said_within_the_deadline(
    server: AnthropicServer, build: Build, provider: str, told: dict[str, str]
) -> None:
    server.answers(api_error(429, **told))
    started = time.monotonic()

    with pytest.raises(ArbiterUnavailableError, match=r"too many calls \(HTTP 429\)"):
        judge(build(provider, retries_max=1, timeout_seconds=40))
    assert time.monotonic() - started < 40
    assert len(server.requests) == (1 if told else 2)


@each_provider
@every(
    "reply",
    [
        Reply(body=b"<html>Sign in</html>", headers={"content-type": "text/html"}),
        Reply(body=b'{"ok": true}'),
        Reply(body=b'{"choices": "none"}'),
        Reply(body=b'{"id": "msg_1", "content": ['),
        Reply(body=b"[1, 2]"),
        Reply(),
    ],
)
def test_a_server_that_speaks_otherwise_is_told_apart_from_a_model_that_does(
    server: AnthropicServer, build: Build, provider: str, reply: Reply
) -> None:
    server.requests.clear()
    server.answers(reply)

    with pytest.raises(ArbiterAnswerError, match="the server's reply is not"):
        judge(build(provider))
    assert len(server.requests) == 1


def test_a_wrong_address_says_how_most_end(server: AnthropicServer, build: Build) -> None:
    server.answers(api_error(404))

    with pytest.raises(ArbiterUnavailableError, match="mostly ends in /v1"):
        judge(build("openai"))


@each_provider
def test_the_key_is_in_no_error(server: AnthropicServer, build: Build, provider: str) -> None:
    for reply in (api_error(401, f"invalid key {API_KEY}"), Reply(body=API_KEY.encode())):
        server.answers(reply)
        with pytest.raises(ArbiterError) as raised:
            judge(build(provider))
        assert API_KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("provider", "host"),
    [
        ("anthropic", b"api.anthropic.com"),
        ("openai", b"api.openai.com"),
    ],
)
def test_without_an_address_the_vendors_own_is_called_whatever_the_sdk_finds(
    build: Build, monkeypatch: pytest.MonkeyPatch, provider: str, host: bytes
) -> None:
    for variable in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(variable, "")
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.settimeout(10)
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        with ThreadPoolExecutor(1) as asking:
            asked = asking.submit(judge, build(provider, base_url=None))
            line, _ = proxy.accept()
            with line:
                assert line.recv(1000).startswith(b"CONNECT %s:443 " % host)
            with pytest.raises(ArbiterUnavailableError):
                asked.result()


# What a server can do without


def rejecting(*names: str, status: int = 400) -> Callable[[Request], Reply]:
    """A server that knows none of these parts of a request."""

    def _reply(request: Request) -> Reply:
        known = next((name for name in names if name in request.body), None)
        return api_error(status, f"Unsupported parameter: '{known}'") if known else GOOD

    return _reply


def test_a_server_without_schemas_is_asked_without_and_remembered(
    server: AnthropicServer, build: Build
) -> None:
    server.answers_with(rejecting("response_format"))
    arbiter = build("openai")

    for _ in range(2):
        judge(arbiter)
    first, *others = server.requests
    assert ["response_format" in each.body for each in (first, *others)] == [True, False, False]
    assert '"properties"' not in first.system
    assert all('"properties"' in each.system for each in others)


@pytest.mark.parametrize("status", [400, 422])
def test_each_part_that_a_server_rejects_by_name_is_left_out(
    server: AnthropicServer, build: Build, status: int
) -> None:
    names = ("response_format", "max_completion_tokens")
    server.answers_with(rejecting(*names, status=status) if status == 400 else _unprocessable)

    judge(build("openai"))
    assert not set(names) & set(server.requests[-1].body)


def _unprocessable(request: Request) -> Reply:
    rejected = rejecting("response_format", "max_completion_tokens")(request)
    return Reply(status=422, body=rejected.body) if rejected.status == 400 else rejected


def test_a_rejection_of_something_else_is_said_at_once(
    server: AnthropicServer, build: Build
) -> None:
    server.answers(api_error(400, "messages: too long"))

    with pytest.raises(ArbiterUnavailableError, match="rejected"):
        judge(build("openai"))
    assert len(server.requests) == 1


def test_what_never_changes_stands_first_and_is_marked_for_the_cache(
    server: AnthropicServer, build: Build
) -> None:
    for provider in ("anthropic", "openai"):
        judge(build(provider))

    claude, other = (each.body for each in server.requests)
    assert claude["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert [each["role"] for each in other["messages"]] == ["system", "user"]
