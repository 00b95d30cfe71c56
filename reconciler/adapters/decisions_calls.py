"""Typed choices, by OpenAI's SDK: the two protocols alone, for ``structured_calls``.

OpenAI's ``POST /decisions`` and System One's ``POST /systemone`` ask the same in different
spellings. The last part of the base URL selects one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reconciler.adapters.openai_calls import open_client, openai_vendor
from reconciler.adapters.structured_calls import (
    Connection,
    Correction,
    Question,
    Reply,
    Vendor,
    fenced,
    usage_of,
)
from reconciler.frozen import in_order

if TYPE_CHECKING:
    import openai

_SYSTEM_ONE = "systemone"
_NAME = "relation"
"""The name of the only question."""

Options = Mapping[str, str]
"""The options, each with its meaning."""


class Choice(BaseModel):
    """The chosen option, and how probable each one is."""

    model_config = ConfigDict(allow_inf_nan=False)

    type: Literal["choice"]
    choice: str
    probabilities: dict[str, float]

    @model_validator(mode="after")
    def _is_told(self) -> Choice:
        if not 0 <= self.probabilities.get(self.choice, -1) <= 1:
            raise ValueError("the choice has no probability from 0 to 1")
        return self


def decisions(options_of: Callable[[Mapping[str, Any]], Options]) -> Vendor:
    """A model that chooses between options, with a probability for each, by OpenAI's SDK.

    Args:
        options_of: gives the options for the data.
    """

    def open_choice(connection: Connection, question: Question[Any]) -> _Client:
        base_url, _, last = (connection.base_url or "").rstrip("/").rpartition("/")
        is_system_one = last == _SYSTEM_ONE
        where = replace(connection, base_url=base_url) if is_system_one else connection
        ask = _ask_system_one if is_system_one else _ask_openai
        return _Client(open_client(where), ask, connection.model, question.prompt.text, options_of)

    return openai_vendor(
        speaks="an answer to a typed choice",
        hint="a base_url that ends in /systemone is asked in System One's words, others in "
        "OpenAI's",
        open=open_choice,
    )


class _DecisionRequest(NamedTuple):
    """One question, in no dialect."""

    model: str
    instructions: str
    data: Mapping[str, Any]
    options: Options


@in_order
class _Client:
    """The common part of both clients. An answer without words needs no second try."""

    client: openai.AsyncOpenAI
    ask: Callable[[openai.AsyncOpenAI, _DecisionRequest], Awaitable[tuple[dict[str, Any], Any]]]
    model: str
    instructions: str
    options_of: Callable[[Mapping[str, Any]], Options]

    async def reply(self, data: Mapping[str, Any], correction: Correction | None) -> Reply:  # noqa: ARG002
        options = self.options_of(data)
        asked = _DecisionRequest(self.model, self.instructions, data, options)
        answer, counted = await self.ask(self.client, asked)
        usage = usage_of(counted)
        if answer.get("type") == "refusal":
            return Reply(text="", usage=usage, is_refusal=True)
        choice = Choice.model_validate(answer)
        if choice.choice not in options:
            raise ValueError("the choice is none of the options")
        return Reply(text=choice.model_dump_json(), usage=usage)

    async def close(self) -> None:
        await self.client.close()


class _ListedReply(BaseModel):
    answers: list[dict[str, Any]] = Field(min_length=1)
    usage: Any = None


async def _ask_openai(
    client: openai.AsyncOpenAI, asked: _DecisionRequest
) -> tuple[dict[str, Any], Any]:
    """The answer, and what the server counted."""
    options = asked.options.items()
    question = {
        "type": "choice",
        "name": _NAME,
        "instructions": asked.instructions,
        "choices": [{"value": option, "description": text} for option, text in options],
    }
    raw = await client.decisions.with_raw_response.create(
        model=asked.model,
        input=fenced(asked.data),
        questions=[question],  # type: ignore[list-item]
    )
    reply = _ListedReply.model_validate_json(raw.text)
    answer = dict(reply.answers[0])
    if isinstance(answer.get("probabilities"), list):
        answer["probabilities"] = _by_option(answer["probabilities"])
    return answer, reply.usage


class _NamedReply(BaseModel):
    answers: dict[str, dict[str, Any]]
    usage: Any = None


async def _ask_system_one(
    client: openai.AsyncOpenAI, asked: _DecisionRequest
) -> tuple[dict[str, Any], Any]:
    """The answer, and what the server counted."""
    question = {
        "type": "choice",
        "instructions": asked.instructions,
        "criteria": dict(asked.options),
    }
    body = {"model": asked.model, "state": dict(asked.data), "questions": {_NAME: question}}
    sent: object = await client.post(f"/{_SYSTEM_ONE}", body=body, cast_to=object)
    reply = _NamedReply.model_validate(sent)
    return reply.answers.get(_NAME, {}), reply.usage


class _Probability(BaseModel):
    value: str
    probability: float


def _by_option(listed: list[Any]) -> dict[str, float]:
    each = map(_Probability.model_validate, listed)
    return {one.value: one.probability for one in each}
