"""The other protocols of the loopback server: a scripted reply of Anthropic's in their words.

A test scripts once what the model says; the path of a request chooses how it is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["data_of", "events_of", "fault_of", "reply_in", "schema_of", "system_of"]

CHAT = "/v1/chat/completions"
_FINISHED = {"end_turn": "stop", "tool_use": "tool_calls", "refusal": "content_filter"}


def data_of(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON about note and facts, or about a session."""
    first = next(each for each in body["messages"] if each["role"] == "user")
    return _unfenced(first["content"])


def system_of(path: str, body: Mapping[str, Any]) -> str:
    """What the model is told, whatever the data."""
    if path == CHAT:
        return str(body["messages"][0]["content"])
    return "".join(block["text"] for block in body["system"])


def schema_of(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that the answer has to have."""
    if path == CHAT:
        return dict(body["response_format"]["json_schema"]["schema"])
    return dict(body["output_config"]["format"]["schema"])


def reply_in(path: str, body: bytes) -> bytes:
    """The same reply in the words of that path; what is no message stays as it is."""
    try:
        message = json.loads(body)
        is_message = isinstance(message["content"], list) and bool(message["stop_reason"])
    except (ValueError, KeyError, TypeError):
        return body
    if not is_message:
        return body
    if path == CHAT:
        return json.dumps(_completion(message)).encode()
    return body


def events_of(body: bytes) -> bytes:
    """A message of Anthropic's as the events of a stream; each block comes whole, in one delta."""
    said = json.loads(body)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": said | {"content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(said["content"]):
        start, delta = (
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": block.get("text")},
        )
        if block["type"] == "tool_use":
            sent = json.dumps(block["input"])
            start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": sent}
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": said["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ended, "usage": said["usage"]},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def fault_of(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> str | None:
    """Why the real API would reject a request in one of the other protocols, or None."""
    if path != CHAT:
        return f"no such path {path}"
    if not headers.get("authorization", "").startswith("Bearer "):
        return "no credentials"
    missing = {"model", "messages"} - set(body)
    return f"{sorted(missing)}: field required" if missing else None


def _unfenced(text: str) -> dict[str, Any]:
    return dict(json.loads(text.removeprefix("<data>").removesuffix("</data>")))


def _said(message: Mapping[str, Any]) -> str | None:
    texts = [block["text"] for block in message["content"] if block.get("type") == "text"]
    return "".join(texts) if texts else None


def _completion(message: Mapping[str, Any]) -> dict[str, Any]:
    counted = message.get("usage")
    if isinstance(counted, dict):
        renamed = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
        total = sum(count for count in counted.values() if isinstance(count, int))
        counted = {renamed.get(name, name): count for name, count in counted.items()}
        counted["total_tokens"] = total
    said: dict[str, Any] = {"role": "assistant", "content": _said(message), "refusal": None}
    if calls := [block for block in message["content"] if block.get("type") == "tool_use"]:
        said["tool_calls"] = [_call(block) for block in calls]
    finished = _FINISHED.get(message["stop_reason"], "length")
    choice = {"index": 0, "message": said, "finish_reason": finished}
    return {"id": "c", "object": "chat.completion", "choices": [choice], "usage": counted}


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": json.dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}
