"""OpenAI's chat completions, by its SDK: only the protocol of ``structured_calls``.

Many servers speak it, each with its own gaps. If a server rejects a dispensable part of a request
by name, the rest of the session leaves it out.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from reconciler.adapters.structured_calls import (
    Connection,
    Data,
    Question,
    Reply,
    Vendor,
    fenced,
    opened,
    usage_of,
)
from reconciler.frozen import Json, Values

if TYPE_CHECKING:
    import openai

THINKING_TOKENS = 4096
"""Tokens for a model's thinking before its answer: this protocol counts the two together."""

_SPELLINGS = {
    "dimensions": ("dimension", "matryoshka"),
    "response_format": ("response_format", "response format", "json_schema", "structured output"),
    "max_completion_tokens": ("max_completion_tokens",),
    "reasoning_effort": ("reasoning_effort", "reasoning effort", "reasoning.effort"),
}
"""The optional parts of a request, each with its names in the rejections of servers."""

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
    """The optional parts of a client's requests.

    A part that the server rejects by name is left out later.

    Args:
        parts: by name.
    """

    def __init__(self, parts: Values) -> None:
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
    """The part of a reply that this code relies on; the SDK itself does not check a reply."""

    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class _Client:
    def __init__(self, connection: Connection, question: Question[Any]) -> None:
        self._model = connection.model
        self._prompt = question.prompt.text
        self._schema = question.answer.model_json_schema()
        self._client = open_client(connection)
        form = {"name": "answer", "schema": self._schema, "strict": True}
        parts: Json = {
            "response_format": {"type": "json_schema", "json_schema": form},
            "max_completion_tokens": question.answer_tokens_max + THINKING_TOKENS,
        }
        if connection.base_url is None:
            # OpenAI's models think by default, for longer than a writer of a note should wait.
            parts["reasoning_effort"] = "low"
        self._dispensable = Dispensable(parts)

    async def reply(self, data: Data) -> Reply:
        completion = _Completion.model_validate_json(
            await self._dispensable.reply(
                lambda: self._client.chat.completions.with_raw_response.create(
                    **self._request(data)
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

    def _request(self, data: Data) -> Json:
        told = {"role": "system", "content": self._prompt_with_schema()}
        turns = [told, {"role": "user", "content": fenced(data)}]
        return {"model": self._model, "messages": turns, **self._dispensable.parts}

    def _prompt_with_schema(self) -> str:
        """The prompt; it contains the schema if no other part of the request does."""
        if "response_format" in self._dispensable.parts:
            return self._prompt
        schema = json.dumps(self._schema)
        return f"{self._prompt}\n\nAnswer with one JSON object of this schema alone:\n{schema}"


def _rejected(error: openai.APIStatusError, sent: Values) -> str | None:
    """The optional part of the request that the server rejects by name; None if there is none."""
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
