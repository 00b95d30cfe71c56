"""Anthropic's messages, by its SDK: the protocol alone, for ``structured_calls``."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

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


class _Block(BaseModel):
    type: str
    text: str = ""


class _Message(BaseModel):
    """The part of a reply that this code relies on; the SDK itself does not check a reply."""

    stop_reason: str
    content: list[_Block]
    usage: Any = None


class _Client:
    def __init__(self, connection: Connection, question: Question[Any]) -> None:
        import anthropic

        self._model = connection.model
        self._question = question
        self._schema = anthropic.transform_schema(question.answer)
        self._client = opened(
            anthropic.AsyncAnthropic,
            anthropic.DefaultAsyncHttpxClient,
            connection,
            "https://api.anthropic.com",
            open_telemetry=False,
        )

    async def reply(self, data: Data) -> Reply:
        request = self._request(data)
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

    def _request(self, data: Data) -> dict[str, Any]:
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
            "messages": [{"role": "user", "content": fenced(data)}],
            "output_config": {"format": {"type": "json_schema", "schema": self._schema}},
        }

    async def close(self) -> None:
        await self._client.close()


ANTHROPIC = Vendor(
    package="anthropic",
    requirement="anthropic>=2.12,<3",
    speaks="a message of Anthropic's API",
    open=_Client,
)
"""Claude, and other models behind ``POST /v1/messages`` with a schema for the answer."""
