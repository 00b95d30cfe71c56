"""`reconciler doctor --judge`: ten questions to the judge that the settings name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler.config_files import load_judge_questions
from reconciler.domain.records.decisions import ACTIONS_OF_RELATION
from reconciler.domain.records.kinds import TOLD_RELATIONS, Relation
from reconciler.domain.records.policies import JudgeQuestion
from reconciler.entrypoints.doctor import check_judge
from reconciler.settings import load_settings
from tests.anthropic_server import (
    PATHS,
    AnthropicServer,
    Reply,
    Request,
    api_error,
    judgement,
    message,
)
from tests.tables import every

ASKED = {each.note: each for each in load_judge_questions()}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with AnthropicServer() as running:
        yield running


@pytest.fixture
def ask(server: AnthropicServer) -> Callable[..., tuple[bool, str]]:
    def _ask(provider: str = "anthropic", **other: Any) -> tuple[bool, str]:
        where = {"provider": provider, "base_url": f"{server.base_url}{PATHS[provider]}"}
        found = check_judge(load_settings(arbiter={**where, **other}))
        return found.is_ok, found.finding

    return _ask


def as_expected(request: Request) -> Reply:
    question = ASKED[request.data["note"]["text"]]
    relation = min(question.relations)
    action = min(ACTIONS_OF_RELATION[relation] - {"UPDATE"} or ACTIONS_OF_RELATION[relation])
    return judgement(str(relation), question.target, str(action))


def test_ten_questions_try_each_relation_and_can_be_asked() -> None:
    questions = load_judge_questions()
    assert len(questions) == 10
    assert {relation for each in questions for relation in each.relations} == {*TOLD_RELATIONS}
    for each in questions:
        assert all(_is_answerable(each, relation) for relation in each.relations)


def _is_answerable(question: JudgeQuestion, relation: Relation) -> bool:
    keeps_both = "ADD" in ACTIONS_OF_RELATION[relation]
    is_meant = question.target is not None and 1 <= question.target <= len(question.facts)
    return is_meant is not keeps_both


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_judge_that_answers_as_expected_is_in_order(
    server: AnthropicServer, ask: Callable[..., Any], provider: str
) -> None:
    server.answers_with(as_expected)
    is_ok, finding = ask(provider)
    assert is_ok
    assert "reached in 10 of 10, format kept in 10, 10 of 10 as expected" in finding
    assert "otherwise" not in finding


def test_what_was_read_otherwise_is_named(server: AnthropicServer, ask: Callable[..., Any]) -> None:
    server.answers(judgement("replaces", 1, "UPDATE"))
    is_ok, finding = ask("openai")
    assert (is_ok, "1 of 10 as expected" in finding) == (True, True)
    assert "an order in a note: replaces 1" in finding


def test_a_judge_that_keeps_no_form_is_wrong(
    server: AnthropicServer, ask: Callable[..., Any]
) -> None:
    server.answers(message("They look alike to me."))
    is_ok, finding = ask("openai")
    assert not is_ok
    assert "reached in 10 of 10, format kept in 0" in finding
    assert "no whole JSON object" in finding


def test_a_judge_that_is_away_is_given_up_after_two_questions(
    server: AnthropicServer, ask: Callable[..., Any]
) -> None:
    server.answers(api_error(401))
    is_ok, finding = ask("openai")
    assert not is_ok
    assert "not reached: the API key is not accepted (HTTP 401)" in finding
    assert len(server.requests) == 2


def test_a_model_that_is_loaded_during_the_first_question_is_reached(
    server: AnthropicServer, ask: Callable[..., Any]
) -> None:
    server.answers(api_error(503), judgement("unrelated", None, "ADD"))
    _, finding = ask("openai", retries_max=0)
    assert "reached in 9 of 10" in finding
    assert "the API failed" in finding


@every(("provider", "variable"), [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")])
def test_without_a_judge_it_says_how_to_have_one(provider: str, variable: str) -> None:
    found = check_judge(load_settings(arbiter={"provider": provider}))
    assert (found.is_ok, variable in found.finding) == (False, True)


def test_the_command_asks_only_where_it_is_told_to(
    server: AnthropicServer, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers_with(as_expected)
    monkeypatch.setenv("RECONCILER_ARBITER__PROVIDER", "openai")
    monkeypatch.setenv("RECONCILER_ARBITER__BASE_URL", f"{server.base_url}/v1")
    run("init")
    assert run("doctor")[0] == 0
    assert server.requests == []
    code, out, _ = run("doctor", "--judge", "--json")
    judge = json.loads(out)[-1]
    assert (code, judge["name"]) == (0, "judge")
    assert "10 of 10 as expected" in judge["finding"]


def test_the_command_fails_where_the_judge_is_away(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_ARBITER__PROVIDER", "openai")
    monkeypatch.setenv("RECONCILER_ARBITER__RETRIES_MAX", "0")
    monkeypatch.setenv("RECONCILER_ARBITER__BASE_URL", "http://127.0.0.1:1/v1")
    run("init")
    code, out, _ = run("doctor", "--judge")
    assert (code, "not reached" in " ".join(out.split())) == (1, True)
