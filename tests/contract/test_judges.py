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

from reconciler.domain.records.decisions import Judgement, Usage
from reconciler.domain.records.kinds import Action, Relation
from reconciler.errors import (
    ArbiterAnswerError,
    ArbiterError,
    ArbiterRefusedError,
    ArbiterUnavailableError,
    ConfigurationError,
)
from reconciler.ports.arbiter import Arbiter
from reconciler.resources import resource_path
from tests import dialects
from tests.anthropic_server import (
    AnthropicServer,
    Reply,
    Request,
    answer,
    api_error,
    connection,
    message,
    refusal,
)
from tests.contract.test_arbiter import FIELDS, PROVIDERS, SAID_AT, neighbour, note
from tests.tables import every

API_KEY = "sk-test-77"
GOOD = answer(**FIELDS)
PROSE = message("The note refines fact 1, I am quite sure of that.")

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
            kind = PROVIDERS[provider.removeprefix("openai-")]
            where = connection(server, API_KEY, provider, **other)
            return stack.enter_context(closing(kind(where)))

        yield _build


def judge(arbiter: Arbiter, count: int = 1) -> Judgement:
    return arbiter.judge(note(), [neighbour(number) for number in range(1, count + 1)])


in_words = pytest.mark.parametrize("provider", ["anthropic", "openai"])
choosing = pytest.mark.parametrize("provider", ["decisions", "openai-decisions"])
each_provider = pytest.mark.parametrize(
    "provider", ["anthropic", "openai", "decisions", "openai-decisions"]
)


# An answer in words


@in_words
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


@in_words
def test_an_unreadable_answer_is_asked_for_once_more_with_its_fault(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    server.answers(PROSE, GOOD)

    made = judge(build(provider))
    first, second = (each.body["messages"] for each in server.requests)
    *same, said, fault = second
    assert (made.relation, same) == (Relation.REFINES, first)
    assert said == {"role": "assistant", "content": json.loads(PROSE.body)["content"][0]["text"]}
    assert "no whole JSON object" in fault["content"]
    assert made.usage == Usage(input_tokens=1400, output_tokens=120)


@in_words
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


@in_words
def test_json_that_words_follow_is_no_verdict_and_asked_about_again(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    quoted = json.dumps(FIELDS | {"relation": "replaces"})
    server.answers(message(f"The note orders:\n{quoted}\nI do not follow it."), GOOD)

    assert judge(build(provider)).relation == Relation.REFINES
    assert len(server.requests) == 2


@in_words
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
def test_what_stays_unreadable_is_no_answer_after_two_calls(
    server: AnthropicServer, build: Build, provider: str, said: str
) -> None:
    server.requests.clear()
    server.answers(message(said))

    with pytest.raises(ArbiterAnswerError, match="not what was asked for"):
        judge(build(provider, retries_max=3))
    assert len(server.requests) == 2


@in_words
def test_both_calls_share_one_deadline(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    arbiter = build(provider, timeout_seconds=1.5)
    judge(arbiter)
    server.answers(PROSE.late(0.9), GOOD.late(0.9))

    with pytest.raises(ArbiterUnavailableError, match=r"no answer within 1\.5 s"):
        judge(arbiter)


@in_words
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
        ("openai-decisions", b"api.openai.com"),
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
            asked = asking.submit(judge, build(provider.removeprefix("openai-"), base_url=None))
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


# A typed choice


@choosing
@every(
    ("relation", "target", "action"),
    [
        (Relation.SAME, 2, Action.SKIP),
        (Relation.REFINES, 1, Action.UPDATE),
        (Relation.REPLACES, 2, Action.UPDATE),
        (Relation.COEXISTS, None, Action.ADD),
        (Relation.UNRELATED, None, Action.ADD),
    ],
)
def test_a_choice_is_a_judgement(
    server: AnthropicServer,
    build: Build,
    provider: str,
    relation: Relation,
    target: int | None,
    action: Action,
) -> None:
    server.requests.clear()
    server.answers(answer(relation=str(relation), target=target, confidence=0.93))

    made = judge(build(provider), 2)
    assert (made.relation, made.target, made.action) == (relation, target, action)
    assert (made.confidence, made.usage) == (0.93, Usage(input_tokens=700, output_tokens=60))


@choosing
def test_a_choice_says_how_sure_it_is_and_what_came_next(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    server.answers(answer(relation="replaces", target=2, confidence=0.93))

    assert judge(build(provider), 2).reasoning == (
        "a typed choice: replaces_2 at 0.93, next none at 0.07"
    )


@choosing
def test_each_fact_that_is_shown_may_be_chosen_with_each_relation(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    judge(build(provider), 2)

    options = options_of(server.requests[0])
    relations = ("same", "refines", "replaces")
    assert set(options) == {
        *("none", "coexists"),
        *(f"{relation}_{number}" for relation in relations for number in (1, 2)),
    }
    prompt = (resource_path("config") / "prompts" / "arbiter.md").read_text()
    for option, text in options.items():
        assert text.removeprefix(f"With fact {option[-1]}: ") in prompt
        assert "Action" not in text


def options_of(request: Request) -> dict[str, str]:
    if request.path == dialects.SYSTEM_ONE:
        return dict(request.body["questions"]["relation"]["criteria"])
    [question] = request.body["questions"]
    return {each["value"]: each["description"] for each in question["choices"]}


@choosing
def test_a_choice_is_asked_with_how_to_tell_relations_apart_and_no_form_of_an_answer(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    judge(build(provider))

    told = server.requests[0].system
    assert "A negation turns a fact round" in told
    assert "reasoning" not in told.lower()
    assert "never follow" in told


@choosing
def test_a_refused_choice_is_a_refusal(
    server: AnthropicServer, build: Build, provider: str
) -> None:
    server.answers(refusal())

    with pytest.raises(ArbiterRefusedError):
        judge(build(provider))


@choosing
@every(
    "fields",
    [
        {"relation": "replaces", "target": 9, "confidence": 0.9},
        {"relation": "replaces", "target": 1, "confidence": 7},
        {"relation": "replaces", "target": 1, "confidence": float("nan")},
    ],
)
def test_a_choice_that_was_not_offered_or_is_no_probability_is_no_answer(
    server: AnthropicServer, build: Build, provider: str, fields: dict[str, Any]
) -> None:
    server.requests.clear()
    server.answers(answer(**fields))

    with pytest.raises(ArbiterAnswerError, match="not an answer to a typed choice"):
        judge(build(provider))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("end", "path"),
    [
        ("/v1/systemone", dialects.SYSTEM_ONE),
        ("/v1/systemone/", dialects.SYSTEM_ONE),
        ("/v1", dialects.DECISIONS),
        ("/v1/", dialects.DECISIONS),
    ],
)
def test_the_end_of_the_address_chooses_the_dialect(
    server: AnthropicServer, build: Build, end: str, path: str
) -> None:
    judge(build("decisions", base_url=f"{server.base_url}{end}"))

    assert [each.path for each in server.requests] == [path]


@pytest.mark.parametrize("missing", ["- `same`", "# How to tell them apart"])
def test_a_prompt_that_says_too_little_for_a_choice_is_the_operators_fault(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, build: Build, missing: str
) -> None:
    prompt = (resource_path("config") / "prompts" / "arbiter.md").read_text()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "arbiter.md").write_text(prompt.replace(missing, "gone"))
    monkeypatch.setattr("reconciler.adapters.model_arbiter.resource_path", lambda _: tmp_path)

    with pytest.raises(ConfigurationError, match="arbiter's prompt"):
        build("decisions")


def test_days_are_sent_to_a_choice_too(server: AnthropicServer, build: Build) -> None:
    judge(build("decisions"))

    assert server.requests[0].data["note"]["said_on"] == f"{SAID_AT:%Y-%m-%d}"
