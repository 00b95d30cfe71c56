"""OpenAI's chat completions and decisions, by its SDK: only the protocols of ``structured_calls``.

Many servers speak it, each with its own gaps. If a server rejects a dispensable part of a request
by name, the rest of the session leaves it out.

Typed choices: OpenAI's ``POST /decisions`` and System One's ``POST /systemone`` ask the same in
different spellings. The last part of the base URL selects one.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from reconciler.adapters.structured_calls import (
    Connection,
    Correction,
    Data,
    Question,
    Reply,
    Vendor,
    conversation,
    fenced,
    opened,
    usage_of,
)
from reconciler.frozen import in_order

if TYPE_CHECKING:
    import openai

THINKING_TOKENS = 4096
"""Room for a model's thinking before its answer: this protocol counts the two together."""

_SPELLINGS = {
    "dimensions": ("dimension", "matryoshka"),
    "response_format": ("response_format", "response format", "json_schema", "structured output"),
    "max_completion_tokens": ("max_completion_tokens",),
    "reasoning_effort": ("reasoning_effort", "reasoning effort", "reasoning.effort"),
}
"""The dispensable parts of a request, each with its names in servers' rejections."""

_REJECTING = {400, 422}


def open_client(connection: Connection, **other: Any) -> openai.AsyncOpenAI:
    """The SDK's client; for the other arguments see ``opened``."""
    import openai

    return opened(
        openai.AsyncOpenAI,
        openai.DefaultAsyncHttpxClient,
        connection,
        "https://api.openai.com/v1",
        **other,
    )


class Dispensable:
    """Parts of a client's requests; one that the server rejects by name is left out from then on.

    Args:
        parts: by name.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.parts = parts

    async def reply(self, send: Callable[[], Awaitable[Any]]) -> str:
        """Text of the reply to a request that ``send`` makes with the present parts."""
        import openai

        while True:
            sent = self.parts
            try:
                return str((await send()).text)
            except openai.APIStatusError as error:
                rejected = _rejected(error, sent)
                if rejected is None:
                    raise
                # Only the remaining parts: another call may have left one out meanwhile.
                left = self.parts.items()
                self.parts = {name: value for name, value in left if name != rejected}


class _Said(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Completion(BaseModel):
    """The part of a reply that is relied on; the SDK itself checks nothing that it is sent."""

    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class _Client:
    def __init__(self, connection: Connection, question: Question[Any]) -> None:
        self._model = connection.model
        self._prompt = question.prompt.text
        self._schema = question.answer.model_json_schema()
        self._client = open_client(connection)
        form = {"name": "answer", "schema": self._schema, "strict": True}
        parts: dict[str, Any] = {
            "response_format": {"type": "json_schema", "json_schema": form},
            "max_completion_tokens": question.answer_tokens_max + THINKING_TOKENS,
        }
        if connection.base_url is None:
            # OpenAI's models think by default, for longer than a writer of a note should wait.
            parts["reasoning_effort"] = "low"
        self._dispensable = Dispensable(parts)

    async def reply(self, data: Data, correction: Correction | None) -> Reply:
        completion = _Completion.model_validate_json(
            await self._dispensable.reply(
                lambda: self._client.chat.completions.with_raw_response.create(
                    **self._request(data, correction)
                )
            )
        )
        choice = completion.choices[0]
        why = choice.finish_reason
        return Reply(
            text=choice.message.content or "",
            usage=usage_of(completion.usage),
            is_refusal=bool(choice.message.refusal) or why == "content_filter",
            cut_off=why if why in {"length", "tool_calls", "function_call"} else None,
        )

    async def close(self) -> None:
        await self._client.close()

    def _request(self, data: Data, correction: Correction | None) -> dict[str, Any]:
        told = {"role": "system", "content": self._prompt_with_schema()}
        turns = [told, *conversation(data, correction)]
        return {"model": self._model, "messages": turns, **self._dispensable.parts}

    def _prompt_with_schema(self) -> str:
        """Prompt, with the schema if no other part of the request has it."""
        if "response_format" in self._dispensable.parts:
            return self._prompt
        schema = json.dumps(self._schema)
        return f"{self._prompt}\n\nAnswer with one JSON object of this schema alone:\n{schema}"


def _rejected(error: openai.APIStatusError, sent: Mapping[str, Any]) -> str | None:
    """Dispensable part of the request that the server rejects by name; None for none."""
    if error.status_code not in _REJECTING:
        return None
    said = error.response.text.lower()
    return next((name for name in sent if any(each in said for each in _SPELLINGS[name])), None)


openai_vendor = partial(
    Vendor,
    package="openai",
    requirement="openai>=3.54,<4",
    hint="a base_url of this protocol mostly ends in /v1",
)
"""A protocol that OpenAI's SDK speaks."""

OPENAI = openai_vendor(speaks="a chat completion", open=_Client)
"""OpenAI's models, and others behind ``POST /chat/completions``."""


_SYSTEM_ONE = "systemone"
_NAME = "relation"
"""The name of the only question."""

Options = Mapping[str, str]
"""The options, each with its meaning."""


class _Probability(BaseModel):
    value: str
    probability: float


def _by_option(given: Any) -> Any:
    """Probabilities by their options, also of a list that names both."""
    if not isinstance(given, list):
        return given
    return {one.value: one.probability for one in map(_Probability.model_validate, given)}


class Choice(BaseModel):
    """The chosen option, and how probable each one is."""

    model_config = ConfigDict(allow_inf_nan=False)

    type: Literal["choice"]
    choice: str
    probabilities: Annotated[dict[str, float], BeforeValidator(_by_option)]

    @model_validator(mode="after")
    def _is_told(self) -> Choice:
        if not 0 <= self.probabilities.get(self.choice, -1) <= 1:
            raise ValueError("the choice has no probability from 0 to 1")
        return self


def decisions(options_of: Callable[[Data], Options]) -> Vendor:
    """A model that chooses between options, with a probability for each, by OpenAI's SDK.

    Args:
        options_of: gives the options for the data.
    """

    def open_choice(connection: Connection, question: Question[Any]) -> _Choosing:
        base_url, _, last = (connection.base_url or "").rstrip("/").rpartition("/")
        is_system_one = last == _SYSTEM_ONE
        where = replace(connection, base_url=base_url) if is_system_one else connection
        return _Choosing(
            open_client(where), is_system_one, connection.model, question.prompt.text, options_of
        )

    return openai_vendor(
        speaks="an answer to a typed choice",
        hint="a base_url that ends in /systemone is asked in System One's words, others in "
        "OpenAI's",
        open=open_choice,
    )


class _Chosen(BaseModel):
    answers: Annotated[list[dict[str, Any]], Field(min_length=1)] | dict[str, dict[str, Any]]
    usage: Any = None


@in_order
class _Choosing:
    """The client of both spellings. An answer without words needs no second try."""

    client: openai.AsyncOpenAI
    is_system_one: bool
    model: str
    instructions: str
    options_of: Callable[[Data], Options]

    async def reply(self, data: Data, correction: Correction | None) -> Reply:  # noqa: ARG002
        options = self.options_of(data)
        asked: dict[str, Any] = {"type": "choice", "instructions": self.instructions}
        body: dict[str, Any] = {"model": self.model}
        if self.is_system_one:
            path, asked["criteria"] = f"/{_SYSTEM_ONE}", dict(options)
            body |= {"state": dict(data), "questions": {_NAME: asked}}
        else:
            choices = [{"value": option, "description": text} for option, text in options.items()]
            path, asked = "/decisions", asked | {"name": _NAME, "choices": choices}
            body |= {"input": fenced(data), "questions": [asked]}
        sent: object = await self.client.post(path, body=body, cast_to=object)
        reply = _Chosen.model_validate(sent)
        listed = reply.answers
        answer = listed[0] if isinstance(listed, list) else listed.get(_NAME, {})
        usage = usage_of(reply.usage)
        if answer.get("type") == "refusal":
            return Reply(text="", usage=usage, is_refusal=True)
        choice = Choice.model_validate(answer)
        if choice.choice not in options:
            raise ValueError("the choice is none of the options")
        return Reply(text=choice.model_dump_json(), usage=usage)

    async def close(self) -> None:
        await self.client.close()
