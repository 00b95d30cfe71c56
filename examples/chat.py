"""Chat in a terminal with an agent that remembers you: Claude, with the memory's two tools.

    ANTHROPIC_API_KEY=… python examples/chat.py priya           # what you type; Ctrl-D ends it
    ANTHROPIC_API_KEY=… python examples/chat.py priya --async   # the same, with an event loop
    … --path memory.lbug --model claude-haiku-4-5

Every conversation opens with what is known about the contact. Claude looks up and notes down what
it likes in between. When it ends, the whole conversation is handed over to the background door.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import uuid
from pathlib import Path
from typing import Any

import anthropic

from reconciler import AgentTools, AsyncMemory, Memory, load_settings
from reconciler.async_memory import AsyncAgentTools

AGENT = "chat"
INSTRUCTIONS = """You are the assistant of a small shop. Keep what lasts about the contact with
add_contact_note, and look up what you do not know with recall_contact.

{known}"""
TOKENS_MAX = 1000


def main() -> None:
    """Chat until the input ends."""
    arguments = _arguments()
    if not (os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")):
        sys.exit("Set ANTHROPIC_API_KEY first: this chat asks Claude.")
    if sys.stdin.isatty():
        print("Type what you want to say; Ctrl-D ends the conversation.")
    if arguments.has_event_loop:
        asyncio.run(chat_async(arguments))
    else:
        chat(arguments)


def chat(arguments: argparse.Namespace) -> None:
    """A conversation, with calls that wait."""
    claude = anthropic.Anthropic()
    session_id = f"chat-{uuid.uuid4()}"
    with Memory.open(load_settings(embedded_path=arguments.path)) as memory:
        contact = memory.contact(AGENT, arguments.contact)
        tools = memory.agent_tools(AGENT, arguments.contact, session_id=session_id)
        request = _request(arguments, contact.briefing().as_prompt(), tools)
        for line in _typed():
            request["messages"].append({"role": "user", "content": line})
            while True:
                said = claude.messages.create(**request)
                request["messages"].append({"role": "assistant", "content": said.content})
                calls = _calls(said)
                if not calls:
                    break
                results = [_result(call, tools.call(call.name, call.input)) for call in calls]
                request["messages"].append({"role": "user", "content": results})
            print(_words(said))
        if request["messages"]:
            contact.submit_session(session_id, request["messages"])
            memory.worker().work_once()  # what fails now is tried again when the next chat ends


async def chat_async(arguments: argparse.Namespace) -> None:
    """The same conversation where an event loop runs: nothing here blocks it but the keyboard."""
    claude = anthropic.AsyncAnthropic()
    session_id = f"chat-{uuid.uuid4()}"
    async with AsyncMemory.open(load_settings(embedded_path=arguments.path)) as memory:
        contact = memory.contact(AGENT, arguments.contact)
        tools = memory.agent_tools(AGENT, arguments.contact, session_id=session_id)
        request = _request(arguments, (await contact.briefing()).as_prompt(), tools)
        for line in _typed():
            request["messages"].append({"role": "user", "content": line})
            while True:
                said = await claude.messages.create(**request)
                request["messages"].append({"role": "assistant", "content": said.content})
                calls = _calls(said)
                if not calls:
                    break
                replies = [await tools.call(call.name, call.input) for call in calls]
                results = [_result(*pair) for pair in zip(calls, replies, strict=True)]
                request["messages"].append({"role": "user", "content": results})
            print(_words(said))
        if request["messages"]:
            await contact.submit_session(session_id, request["messages"])
            worker = await memory.worker()
            await asyncio.to_thread(worker.work_once)


def _request(
    arguments: argparse.Namespace, known: str, tools: AgentTools | AsyncAgentTools
) -> dict[str, Any]:
    return {
        "model": arguments.model,
        "max_tokens": TOKENS_MAX,
        "system": INSTRUCTIONS.format(known=known),
        "tools": tools.definitions(),
        "messages": [],
    }


def _typed() -> Any:
    lines = (line.strip() for line in sys.stdin)
    return (line for line in lines if line)


def _calls(said: Any) -> list[Any]:
    return [block for block in said.content if block.type == "tool_use"]


def _result(call: Any, reply: Any) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": reply.text,
        "is_error": reply.is_error,
    }


def _words(said: Any) -> str:
    return "".join(block.text for block in said.content if block.type == "text")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Chat with an agent that remembers you.")
    parser.add_argument("contact", help="who is chatting, for example priya")
    parser.add_argument("--async", dest="has_event_loop", action="store_true")
    parser.add_argument("--model", default="claude-haiku-4-5")
    parser.add_argument("--path", type=Path, default=Path("chat.lbug"), help="the memory's file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
