"""Message forms: reads role and content of a message that another program wrote. Pure.

A form is a row: the keys by which its messages are recognised, and a function that reads one. The
layout of messages in a file, and the use of roles and times, do not belong here. A message that a
program hides, or writes to itself, is left out: it must never become the contact's words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from reconciler.frozen import Values


def is_message(values: Values) -> bool:
    """True if it is a message of any form."""
    return any(has(values) for has, _ in _FORMS)


def plain_message(values: Values) -> Values | None:
    """Return the message with ``role``, ``content``, a time and an ``id``, if it has them.

    A message of no known form is returned as it is. None if no person or agent speaks in it: the
    message is hidden, a thought, a call of a tool, or a note of the program itself.
    """
    return next((read(values) for has, read in _FORMS if has(values)), values)


def as_object(value: object) -> Values:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


# ChatGPT


_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message")
_WORDS_UNDER = {
    "text": "parts",
    "multimodal_text": "parts",
    "execution_output": "text",
    "tether_quote": "text",
}
"""The key of the words, by type of content; thoughts, code for tools and settings have none."""


def _is_chatgpt(values: Values) -> bool:
    return isinstance(values.get("author"), Mapping) and isinstance(values.get("content"), Mapping)


def _chatgpt(values: Values) -> Values | None:
    author, content, about = values["author"], values["content"], as_object(values.get("metadata"))
    is_for_tool = author.get("role") == "assistant" and values.get("recipient", "all") != "all"
    if is_for_tool or values.get("channel") == "analysis" or any(map(about.get, _HIDDEN)):
        return None
    under = _WORDS_UNDER.get(str(content.get("content_type", "text")))
    said = None if under is None else content.get(under)
    parts = [part for part in said if part is not None] if isinstance(said, list) else said
    return {**values, "role": author.get("role"), "name": author.get("name"), "content": parts}


# Claude


def _is_claude(values: Values) -> bool:
    return "sender" in values and bool(values.keys() & {"text", "content"})


def _claude(values: Values) -> Values:
    said = values.get("content") or values.get("text")
    return {**values, "role": values["sender"], "content": said, "id": values.get("uuid")}


# LangChain


_LANGCHAIN_KINDS = ("human", "ai", "system", "tool", "function", "chat", "remove")


def _langchain_kind(name: object) -> str:
    """Return the kind in ``HumanMessage``, ``AIMessageChunk`` or ``human``."""
    plain = name if isinstance(name, str) else ""
    return plain.removesuffix("Chunk").removesuffix("Message").casefold()


def _langchain_parts(values: Values) -> tuple[object, Values]:
    """Return the kind of a message, and its data: of ``dumpd``, ``messages_to_dict`` or others."""
    path = values.get("id")
    if isinstance(path, list) and path and isinstance(values.get("kwargs"), Mapping):
        return path[-1], values["kwargs"]
    return values.get("type"), as_object(values.get("data")) or values


def _is_langchain(values: Values) -> bool:
    is_known = _langchain_kind(_langchain_parts(values)[0]) in _LANGCHAIN_KINDS
    return is_known and not values.keys().isdisjoint({"data", "content", "kwargs"})


def _langchain(values: Values) -> Values | None:
    name, data = _langchain_parts(values)
    kind = _langchain_kind(name)
    if kind == "remove":
        return None
    return {**data, "role": data.get("role") if kind == "chat" else kind}


# Items of OpenAI's Responses


_ITEMS_WITHOUT_WORDS = (
    "reasoning",
    "item_reference",
    "compaction",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
)


def _is_item(values: Values) -> bool:
    kind = values.get("type")
    return (
        isinstance(kind, str)
        and "role" not in values
        and (kind in _ITEMS_WITHOUT_WORDS or kind.endswith(("_call", "_call_output")))
    )


def _item(values: Values) -> Values | None:
    output = values.get("output")
    if not isinstance(output, str | list):
        return None
    return {**values, "role": "tool", "content": output}


# Parts: Gemini's contents, the AI SDK's UIMessages, Pydantic AI


def _blocks(parts: Any) -> Any:
    """Return the parts as blocks: words, and what tools answered; a thought has neither."""
    return list(map(_block, parts)) if isinstance(parts, list) else parts


def _block(part: Any) -> Any:
    if not isinstance(part, Mapping) or part.get("thought"):
        return "" if isinstance(part, Mapping) else part
    called = as_object(part.get("functionResponse") or part.get("function_response"))
    answer = called.get("response", part.get("output"))
    return part if answer is None else _answer(answer)


def _answer(answer: Any) -> Values:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return {"type": "tool_result", "content": text}


def _pydantic_ai(values: Values) -> Values:
    blocks: list[Any] = []
    at = values.get("timestamp")
    parts = values["parts"] if isinstance(values["parts"], list) else []
    for part in map(as_object, parts):
        kind, content = str(part.get("part_kind")), part.get("content")
        if kind in ("user-prompt", "text"):
            said = content if isinstance(content, list) else [content or ""]
            blocks += [as_object(each).get("content") or each for each in said]
        elif kind.endswith("tool-return"):
            blocks.append(_answer(content))
        at = at or part.get("timestamp")
    role = "user" if values["kind"] == "request" else "assistant"
    return {"role": role, "content": blocks, "timestamp": at}


_FORMS: tuple[tuple[Callable[[Values], bool], Callable[[Values], Values | None]], ...] = (
    (
        lambda values: values.keys() >= {"role", "parts"} and not values.get("content"),
        lambda values: {**values, "content": _blocks(values["parts"])},
    ),
    (lambda values: "role" in values, lambda values: values),
    (_is_chatgpt, _chatgpt),
    (_is_claude, _claude),
    (_is_langchain, _langchain),
    (_is_item, _item),
    (lambda values: values.keys() >= {"parts", "kind"}, _pydantic_ai),
)
