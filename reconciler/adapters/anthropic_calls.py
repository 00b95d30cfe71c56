"""Anthropic's messages, by its SDK: the protocol alone, for ``structured_calls``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

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
    import anthropic

REQUIREMENT = "anthropic>=2.12,<3"

_URL = "https://api.anthropic.com"
"""Always given: the SDK takes an empty ANTHROPIC_BASE_URL for an address; settings do not."""


class Anthropic:
    """Claude, and other models behind ``POST /v1/messages`` with a schema for the answer.

    Raises:
        ConfigurationError: the SDK is not installed.
    """

    speaks = "a message of Anthropic's API"
    hint = ""

    def __init__(self) -> None:
        check_sdk("anthropic", REQUIREMENT)

    def errors(self) -> SdkErrors:
        """The SDK's errors; the first call imports the SDK."""
        import anthropic

        return SdkErrors(
            anthropic.APITimeoutError, anthropic.APIStatusError, anthropic.AnthropicError
        )

    def open(self, connection: Connection, question: Question[Any]) -> Client:
        """A client; it connects when it is first asked."""
        return _Client(connection, question)


class _Block(BaseModel):
    type: str
    text: str = ""


class _Message(BaseModel):
    """The part of a reply that is relied on; the SDK itself checks nothing that it is sent."""

    stop_reason: str
    content: list[_Block]
    usage: Any = None


class _Client:
    def __init__(self, connection: Connection, question: Question[Any]) -> None:
        import anthropic

        self._timeout_seconds = connection.timeout_seconds
        self._model = connection.model
        self._question = question
        self._schema = anthropic.transform_schema(question.answer)
        self._client = anthropic.AsyncAnthropic(
            api_key=connection.api_key,
            base_url=connection.base_url or _URL,
            max_retries=connection.retries_max,
            timeout=connection.timeout_seconds,
            middleware=[self._note_wait],
            http_client=anthropic.DefaultAsyncHttpxClient(
                follow_redirects=False,  # the request and the key are for this server alone
            ),
            open_telemetry=False,
        )

    async def reply(self, data: Mapping[str, Any], correction: Correction | None) -> Reply:
        request = self._request(data, correction)
        # Not messages.parse: it fails on the words of a refusal before we can recognise the
        # refusal.
        raw = await self._client.messages.with_raw_response.create(**request)
        message = _Message.model_validate_json(await raw.text())
        stopped = message.stop_reason
        return Reply(
            text="".join(block.text for block in message.content if block.type == "text"),
            usage=usage_of(message.usage),
            is_refusal=stopped == "refusal",
            cut_off=stopped if stopped not in {"end_turn", "refusal"} else None,
        )

    def _request(self, data: Mapping[str, Any], correction: Correction | None) -> dict[str, Any]:
        return {
            "model": self._model,
            "max_tokens": self._question.answer_tokens_max,
            # The prompt is always the same: on the next call the part before the mark costs a
            # tenth.
            "system": [
                {
                    "type": "text",
                    "text": self._question.prompt.text,
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "messages": conversation(data, correction),
            "output_config": {"format": {"type": "json_schema", "schema": self._schema}},
        }

    async def close(self) -> None:
        await self._client.close()

    async def _note_wait(
        self, request: anthropic.APIRequest, call_next: anthropic.AsyncCallNext
    ) -> anthropic.AsyncAPIResponse[Any]:
        forget_wait()
        response = await call_next(request)
        note_wait(response.headers, self._timeout_seconds)
        return response
