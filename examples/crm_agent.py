"""A CRM agent: twelve conversations with one customer, from January to September.

    python examples/crm_agent.py                        # recorded answers: no key, no network
    ANTHROPIC_API_KEY=… python examples/crm_agent.py    # Claude answers
    … --path FOLDER --model claude-haiku-4-5            # keep the memory; another model

The customer moves, corrects herself, takes things back and pastes a mail that gives orders. What
she says is in ``crm_conversations.toml``, with what should be known after each conversation.
Here: the agent, and all that it does with memory.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anthropic
from crm_conversations import Conversation, Story
from recorded_claude import RecordedClaude, what_is_missing

from reconciler import AgentTools, ContactMemory, Memory, load_settings

AGENT = "crm"
MODEL = "claude-haiku-4-5"
INSTRUCTIONS = """You look after the customers of Fernbrook Foods, a wholesaler. Today is {today}.

Answer the customer in one to four sentences. Keep what lasts about the customer with
add_contact_note, and look up what you do not know with recall_contact. Before you answer, note
everything that the message adds or changes. Promise nothing in the name of Fernbrook. This is known
so far:

{known}"""
HASH_KEY = "one key for all runs of the example"  # so that placeholders are always the same
TOKENS_MAX = 2000
PAUSE = timedelta(minutes=2)


@dataclass(frozen=True)
class Call:
    """What Claude called, and what came back."""

    name: str
    sent: dict[str, Any]
    reply: str


@dataclass(frozen=True)
class Exchange:
    """One message of the customer's, the calls that Claude made, and its answer."""

    message: str
    calls: list[Call]
    answer: str

    def lines(self) -> Iterator[str]:
        """All of it, to read."""
        yield f"ODILE  {self.message}"
        for call in self.calls:
            yield f"  {call.name} {json.dumps(call.sent, ensure_ascii=False)}"
            yield from (f"    {line}" for line in call.reply.splitlines())
        yield f"AGENT  {self.answer}"


@dataclass(frozen=True)
class Held:
    """A conversation that was held, and what is known at its end: facts, and the profile."""

    conversation: Conversation
    opening: str
    exchanges: list[Exchange]
    facts: list[str]
    profile: list[str]

    @property
    def faults(self) -> list[str]:
        """How what is known differs from what should be."""
        return self.conversation.faults([*self.facts, *self.profile], self.exchanges[-1].answer)


def hold_all(claude: anthropic.Anthropic, story: Story, path: Path, model: str) -> Iterator[Held]:
    """Hold the conversations one after the other, each on its day, with one memory.

    Args:
        claude: who answers.
        story: the conversations.
        path: where the memory is kept.
        model: which model answers.
    """
    settings = load_settings(
        embedded_path=path,
        arbiter={"mode": "off"},
        gate={"hash_key": HASH_KEY},
        life={"use_flush_seconds": 0},  # what is new since the last time depends on no clock
    )
    now = [story.conversations[0].at]
    with Memory.open(settings, clock=lambda: now[0]) as memory:
        contact = memory.contact(AGENT, story.contact_id)
        for conversation in story.conversations:
            now[0] = conversation.at
            yield hold(claude, conversation, contact, now, model)


def hold(
    claude: anthropic.Anthropic,
    conversation: Conversation,
    contact: ContactMemory,
    now: list[datetime],
    model: str,
) -> Held:
    """Hold one conversation, and say what is known at its end."""
    tools = contact.tools(session_id=f"{conversation.at:%Y-%m-%d}")
    opening = tools.call("recall_contact", {}).text  # a briefing; its handles may be named then
    request = {
        "model": model,
        "max_tokens": TOKENS_MAX,
        "system": INSTRUCTIONS.format(today=f"{conversation.at:%Y-%m-%d}", known=opening),
        "tools": tools.definitions(),
        "messages": [],
    }
    exchanges = []
    for message in conversation.says:
        exchanges.append(exchange(claude, request, tools, message))
        now[0] += PAUSE
    facts = [known.fact.text for known in contact.recall(limit=200)]
    profile = [f"{value.subject} {value.attribute}: {value.value}" for value in contact.profile()]
    return Held(conversation, opening, exchanges, facts, profile)


def exchange(
    claude: anthropic.Anthropic, request: dict[str, Any], tools: AgentTools, message: str
) -> Exchange:
    """Give Claude a message, and make its calls until it answers."""
    calls: list[Call] = []
    request["messages"].append({"role": "user", "content": message})
    while True:
        said = claude.messages.create(**request)
        request["messages"].append({"role": "assistant", "content": said.content})
        results = []
        for block in said.content:
            if block.type == "tool_use":
                reply = tools.call(block.name, block.input)
                calls.append(Call(block.name, block.input, reply.text))
                result = {
                    "tool_use_id": block.id,
                    "content": reply.text,
                    "is_error": reply.is_error,
                }
                results.append({"type": "tool_result", **result})
        if not results:
            answer = "".join(block.text for block in said.content if block.type == "text")
            return Exchange(message, calls, answer)
        request["messages"].append({"role": "user", "content": results})


def main() -> int:
    """Hold all conversations; the status is 1 if something is known that should not be."""
    arguments = _arguments()
    has_key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")
    with ExitStack() as stack:
        folder = arguments.path or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = folder / "memory.lbug"
        if path.exists():
            sys.exit(f"{folder} has a memory already; name a folder that has none")
        folder.mkdir(parents=True, exist_ok=True)
        claude = stack.enter_context(
            anthropic.Anthropic() if has_key else stack.enter_context(RecordedClaude()).client()
        )
        story, right = Story.read(), 0
        try:
            for held in hold_all(claude, story, path, arguments.model):
                show(held)
                right += not held.faults
        except anthropic.NotFoundError as error:  # no such answer on record, or no such model
            sys.exit(what_is_missing(error))
    print(f"\n{right} of {len(story.conversations)} conversations left what they should")
    return 0 if right == len(story.conversations) else 1


def show(held: Held) -> None:
    """Print a conversation."""
    print(f"\n== {held.conversation.at:%d %B %Y}: {held.conversation.about}")
    for each in held.exchanges:
        print("", *each.lines(), sep="\n")
    for fault in held.faults:
        print(f"NOT AS IT SHOULD BE: {fault}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--path", type=Path, help="a folder to keep the memory in; else none")
    parser.add_argument("--model", default=MODEL)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
