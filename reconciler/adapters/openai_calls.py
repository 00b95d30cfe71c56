"""OpenAI's chat completions, by its SDK: the protocol alone, for ``structured_calls``.

Many servers speak it, each with its own gaps. What a request can do without is left out for the
rest of a session as soon as a server rejects it by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from reconciler.adapters.structured_calls import (
    Client,
    Connection,
    Correction,
    Question,
    Reply,
    SdkErrors,
    check_sdk,
    conversation,
    forget_wait,
    note_wait,
    usage_of,
)

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAI", "open_client"]

REQUIREMENT = "openai>=3.54,<4"

_URL = "https://api.openai.com/v1"
"""Always given: the SDK takes an empty OPENAI_BASE_URL for an address; settings do not."""

THINKING_TOKENS = 4096
"""Room for what a model thinks before it answers: this protocol counts both as one."""

_SPELLINGS = {
    "response_format": ("response_format", "response format", "json_schema", "structured output"),
    "max_completion_tokens": ("max_completion_tokens",),
    "reasoning_effort": ("reasoning_effort", "reasoning effort", "reasoning.effort"),
}
"""What a request can do without, and how servers call it when they reject it."""

_REJECTING = {400, 422}


class OpenAI:
    """OpenAI's models, and whatever else takes ``POST /chat/completions``.

    Raises:
        ConfigurationError: the SDK is not installed.
    """

    speaks = "a chat completion"
    hint = "a base_url of this protocol mostly ends in /v1"

    def __init__(self) -> None:
        check_sdk("openai", REQUIREMENT)

    def errors(self) -> SdkErrors:
        """The SDK's errors; the first call imports the SDK."""
        import openai

        return SdkErrors(openai.APITimeoutError, openai.APIStatusError, openai.OpenAIError)

    def open(self, connection: Connection, question: Question[Any]) -> Client:
        """A client; it connects when it is first asked."""
        return _Client(connection, question)


def open_client(connection: Connection, base_url: str | None) -> openai.AsyncOpenAI:
    """The SDK's client, which gives up at once where it is told to wait beyond the time-out."""
    import openai

    async def _forget_wait(_: Any) -> None:
        forget_wait()

    async def _note_wait(response: Any) -> None:
        note_wait(response.headers, connection.timeout_seconds)

    return openai.AsyncOpenAI(
        api_key=connection.api_key,
        base_url=base_url or _URL,
        max_retries=connection.retries_max,
        timeout=connection.timeout_seconds,
        http_client=openai.DefaultAsyncHttpxClient(
            event_hooks={"request": [_forget_wait], "response": [_note_wait]}
        ),
    )


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
        self._client = open_client(connection, connection.base_url)
        form = {"name": "answer", "schema": self._schema, "strict": True}
        self._dispensable: dict[str, Any] = {
            "response_format": {"type": "json_schema", "json_schema": form},
            "max_completion_tokens": question.answer_tokens_max + THINKING_TOKENS,
        }
        if connection.base_url is None:
            # OpenAI's models think by default, for longer than a writer of a note should wait.
            self._dispensable["reasoning_effort"] = "low"

    async def reply(self, data: Mapping[str, Any], correction: Correction | None) -> Reply:
        completion = _Completion.model_validate_json(await self._completion(data, correction))
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

    async def _completion(self, data: Mapping[str, Any], correction: Correction | None) -> str:
        import openai

        turns = conversation(data, correction)
        while True:
            sent = self._dispensable
            try:
                raw = await self._client.chat.completions.with_raw_response.create(
                    model=self._model,
                    messages=[{"role": "system", "content": self._told()}, *turns],  # type: ignore[list-item]
                    **sent,
                )
            except openai.APIStatusError as error:
                rejected = _rejected(error, sent)
                if rejected is None:
                    raise
                # Of what is left now: another call may have left something out meanwhile.
                left = self._dispensable.items()
                self._dispensable = {name: value for name, value in left if name != rejected}
            else:
                return raw.text

    def _told(self) -> str:
        """The prompt, and the schema where no other part of the request has it."""
        if "response_format" in self._dispensable:
            return self._prompt
        schema = json.dumps(self._schema)
        return f"{self._prompt}\n\nAnswer with one JSON object of this schema alone:\n{schema}"


def _rejected(error: openai.APIStatusError, sent: Mapping[str, Any]) -> str | None:
    """Which dispensable part of the request the server rejects by its name; None for none."""
    if error.status_code not in _REJECTING:
        return None
    said = error.response.text.lower()
    return next((name for name in sent if any(each in said for each in _SPELLINGS[name])), None)
