"""OpenAI's chat completions, by its SDK: the protocol alone, for ``structured_calls``.

Many servers speak it, each with its own gaps. If a server rejects a dispensable part of a request
by name, the rest of the session leaves it out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from reconciler.adapters.structured_calls import (
    WITHOUT_A_MODEL,
    BatchClient,
    Batched,
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
from reconciler.errors import InvalidRequestError
from reconciler.ports.arbiter import BatchState

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAI", "OpenAISdk", "open_client"]

REQUIREMENT = "openai>=3.54,<4"

_URL = "https://api.openai.com/v1"
"""Always given: the SDK takes an empty OPENAI_BASE_URL for an address; settings do not."""

THINKING_TOKENS = 4096
"""Room for a model's thinking before its answer: this protocol counts the two together."""

_SPELLINGS = {
    "response_format": ("response_format", "response format", "json_schema", "structured output"),
    "max_completion_tokens": ("max_completion_tokens",),
    "reasoning_effort": ("reasoning_effort", "reasoning effort", "reasoning.effort"),
}
"""The dispensable parts of a request, each with its names in servers' rejections."""

_REJECTING = {400, 422}

_ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_ENDED = {"completed", "expired", "cancelled"}


class OpenAISdk:
    """The common part of the protocols that OpenAI's SDK speaks.

    Raises:
        ConfigurationError: the SDK is not installed.
    """

    otherwise = WITHOUT_A_MODEL
    """The settings for working without the SDK."""

    def __init__(self) -> None:
        check_sdk("openai", REQUIREMENT, self.otherwise)

    def errors(self) -> SdkErrors:
        """The SDK's errors; the first call imports the SDK."""
        import openai

        return SdkErrors(openai.APITimeoutError, openai.APIStatusError, openai.OpenAIError)


class OpenAI(OpenAISdk):
    """OpenAI's models, and others behind ``POST /chat/completions``."""

    speaks = "a chat completion"
    hint = "a base_url of this protocol mostly ends in /v1"

    def open(self, connection: Connection, question: Question[Any]) -> BatchClient:
        """A client; it connects when it is first asked."""
        return _Client(connection, question)


def open_client(
    connection: Connection, base_url: str | None, reply_bytes_max: int | None = None
) -> openai.AsyncOpenAI:
    """The SDK's client, which gives up at once if a server asks it to wait beyond the time-out.

    Args:
        connection: the server.
        base_url: its address; None for OpenAI's.
        reply_bytes_max: a longer reply is broken off; None for no bound. With a bound it is asked
            for uncompressed, because a compressed reply may unpack to any length.
    """
    import openai

    from reconciler.adapters.bounded_replies import bounded

    async def _forget_wait(_: Any) -> None:
        forget_wait()

    async def _note_wait(response: Any) -> None:
        note_wait(response.headers, connection.timeout_seconds)
        if reply_bytes_max is not None:
            bounded(response, reply_bytes_max)

    return openai.AsyncOpenAI(
        api_key=connection.api_key,
        base_url=base_url or _URL,
        max_retries=connection.retries_max,
        timeout=connection.timeout_seconds,
        default_headers={} if reply_bytes_max is None else {"Accept-Encoding": "identity"},
        http_client=openai.DefaultAsyncHttpxClient(
            event_hooks={"request": [_forget_wait], "response": [_note_wait]},
            follow_redirects=False,  # the request is for this server alone
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


class _File(BaseModel):
    id: str


class _Counts(BaseModel):
    total: int = 0
    completed: int = 0
    failed: int = 0


class _Error(BaseModel):
    code: str | None = None


class _Errors(BaseModel):
    data: list[_Error] | None = None


class _Batch(BaseModel):
    """The part of a batch that is relied on."""

    id: str
    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: _Counts | None = None
    errors: _Errors | None = None

    @property
    def reasons(self) -> str:
        """Why it failed, in the server's codes."""
        errors = (self.errors and self.errors.data) or []
        return ", ".join(dict.fromkeys(str(error.code) for error in errors)) or "no reason given"


class _Response(BaseModel):
    status_code: int
    body: Any


class _Line(BaseModel):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


def _batched(line: _Line) -> Batched:
    response = line.response
    if response is not None and response.status_code == 200:
        return Batched(line.custom_id, json.dumps(response.body))
    said = f"HTTP {response.status_code}" if response else line.error and line.error.code
    return Batched(line.custom_id, None, f"the server says of this request: {said}")


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
        return self.read(await self._completion(data, correction))

    def read(self, text: str) -> Reply:
        completion = _Completion.model_validate_json(text)
        choice = completion.choices[0]
        why = choice.finish_reason
        return Reply(
            text=choice.message.content or "",
            usage=usage_of(completion.usage),
            is_refusal=bool(choice.message.refusal) or why == "content_filter",
            cut_off=why if why in {"length", "tool_calls", "function_call"} else None,
        )

    async def check_batches(self) -> None:
        await self._client.batches.with_raw_response.list(limit=1)

    async def send_batch(self, questions: Mapping[str, Mapping[str, Any]]) -> str:
        # Once: a second try after a lost reply would be a second batch to pay for.
        client = self._client.with_options(max_retries=0)
        asked = {"method": "POST", "url": _ENDPOINT}
        lines = [
            json.dumps({"custom_id": name, **asked, "body": self._request(data)})
            for name, data in questions.items()
        ]
        sent = ("questions.jsonl", "\n".join(lines).encode())
        file = await client.files.with_raw_response.create(file=sent, purpose="batch")
        batch = await client.batches.with_raw_response.create(
            completion_window="24h",
            endpoint=_ENDPOINT,
            input_file_id=_File.model_validate_json(file.text).id,
        )
        return _Batch.model_validate_json(batch.text).id

    async def batch_state(self, batch_id: str) -> BatchState:
        batch = await self._batch(batch_id)
        if batch.status == "failed":
            raise InvalidRequestError(
                f"the server rejected the batch {batch_id} as a whole ({batch.reasons}); no "
                "question was asked"
            )
        counts = batch.request_counts or _Counts()
        return BatchState(
            batch_id=batch_id,
            done=counts.completed + counts.failed,
            total=counts.total,
            is_ended=batch.status in _ENDED,
        )

    async def batch_replies(self, batch_id: str) -> list[Batched]:
        batch = await self._batch(batch_id)
        replies = []
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            file = await self._client.files.content(file_id)
            # Not splitlines: it also splits at characters that JSON leaves in a text.
            lines = filter(None, file.content.split(b"\n"))
            replies += [_batched(_Line.model_validate_json(line)) for line in lines]
        return replies

    async def _batch(self, batch_id: str) -> _Batch:
        raw = await self._client.batches.with_raw_response.retrieve(batch_id)
        return _Batch.model_validate_json(raw.text)

    async def close(self) -> None:
        await self._client.close()

    async def _completion(self, data: Mapping[str, Any], correction: Correction | None) -> str:
        import openai

        while True:
            sent = self._dispensable
            try:
                request = self._request(data, correction)
                raw: Any = await self._client.chat.completions.with_raw_response.create(**request)
            except openai.APIStatusError as error:
                rejected = _rejected(error, sent)
                if rejected is None:
                    raise
                # Only the remaining parts: another call may have left one out meanwhile.
                left = self._dispensable.items()
                self._dispensable = {name: value for name, value in left if name != rejected}
            else:
                return str(raw.text)

    def _request(
        self, data: Mapping[str, Any], correction: Correction | None = None
    ) -> dict[str, Any]:
        told = {"role": "system", "content": self._prompt_with_schema()}
        turns = [told, *conversation(data, correction)]
        return {"model": self._model, "messages": turns, **self._dispensable}

    def _prompt_with_schema(self) -> str:
        """The prompt, with the schema if no other part of the request has it."""
        if "response_format" in self._dispensable:
            return self._prompt
        schema = json.dumps(self._schema)
        return f"{self._prompt}\n\nAnswer with one JSON object of this schema alone:\n{schema}"


def _rejected(error: openai.APIStatusError, sent: Mapping[str, Any]) -> str | None:
    """The dispensable part of the request that the server rejects by name; None for none."""
    if error.status_code not in _REJECTING:
        return None
    said = error.response.text.lower()
    return next((name for name in sent if any(each in said for each in _SPELLINGS[name])), None)
