"""A small server on the loopback that answers as Claude would, from a script; it costs nothing.

It speaks ``POST /v1/messages`` to the real SDK. A function of the request gives the
answer. Unless you name another one, a request with tools gets the next tool call, one that wants
structured output gets what an extractor reads out of a task. It remembers nothing between two
requests: what is done already is in the request, as it is with Claude. Nothing here knows of
memory, and no judgement is made here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

__all__ = ["GUESS_ALOUD", "HUNCH", "PLAN", "ScriptedClaude", "Step", "message", "text_block"]

Reply = Callable[[dict[str, Any]], dict[str, Any]]

HUNCH = "Perhaps the lock of van 12 still jams."
"""What it supposes on the way, and nobody but its working memory is told."""

GUESS_ALOUD = "my guess is that the carrier mixed up two orders"
"""What it supposes as well, and tells the contact, so that it is in the record."""


class Step(NamedTuple):
    """One step of the task: which tool is called, what for, and what goes through its head."""

    subtask: str
    tool: str
    details: str = ""
    thought: str | None = None


PLAN: Sequence[Step] = (
    Step("read-request", "ask_contact"),
    Step("find-order", "look_up", "the contact's order"),
    Step("check-friday", "look_up", "free windows on Friday"),
    Step("ask-window", "ask_contact", "Morning or afternoon?"),
    Step("check-van", "look_up", "vans with a tail lift", HUNCH),
    Step("reserve-window", "book", "Friday, 14 to 16, van 12"),
    Step("check-access", "look_up", "how one gets into the old dairy"),
    Step(
        "tell-contact",
        "write_to_contact",
        f"Friday between 14 and 16 is reserved; {GUESS_ALOUD}.",
    ),
    Step("ask-depot", "book", "strike Tuesday's trip"),
    Step("strike-tuesday", "book", "strike Tuesday's trip, now that it is noon"),
    Step("ask-ramp", "ask_contact", "Will Jonas open, and will the ramp do?"),
    Step("book-second-carrier", "book", "a second carrier on Friday"),
    Step("brief-driver", "book", "tell the driver of van 12"),
    Step("update-order", "book", "order 7731: Friday, the old dairy"),
    Step("close-with-contact", "write_to_contact", "All is set for Friday between 14 and 16."),
)
"""The fifteen steps, in their order."""

_CANDIDATES: Sequence[Mapping[str, Any]] = (
    {
        "text": "The contact's studio is in the old dairy in Holm.",
        "category": "fact",
        "attribute": "studio_location",
        "value": "the old dairy in Holm",
        "span": "My studio has moved to the old dairy in Holm",
    },
    {
        "text": "The ramp at the contact's studio carries 300 kilos at most.",
        "category": "fact",
        "attribute": "ramp_capacity",
        "value": "300 kilos",
        "span": "the ramp carries 300 kilos at most",
    },
    {
        "text": "The contact likes the driver to ring before setting out.",
        "category": "preference",
        "attribute": "call_before_delivery",
        "value": "the driver rings first",
        "span": "I like it best when the driver rings before he sets out",
    },
    {
        # Words that nobody said, in an episode that is really there.
        "text": "The contact is about to buy a second piano.",
        "category": "fact",
        "attribute": "planned_purchase",
        "value": "a second piano",
        "span": "I am about to buy a second piano",
        "shown_in": "The afternoon, please",
    },
    {
        # The agent's own words, taken for a fact about the world.
        "text": "The carrier mixed up two of the contact's orders.",
        "category": "fact",
        "attribute": "order_problem",
        "value": "two orders mixed up",
        "span": GUESS_ALOUD,
    },
)
"""What an extractor reads out of the whole task: good, doubtful and wrong, as real ones do."""


class ScriptedClaude:
    """The server, as a context manager; it listens on a free port of 127.0.0.1.

    Args:
        reply_to: gives the message that answers a request, or raises a ``LookupError``, which is
            sent as the API's error 404; None for the fifteen steps.

    Attributes:
        base_url: what the SDK is given.
    """

    def __init__(self, reply_to: Reply | None = None) -> None:
        handler = partial(_Handler, reply_to or _planned)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, reply_to: Reply, *request: Any) -> None:
        self._reply_to = reply_to
        super().__init__(*request)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            status, answered = 200, self._reply_to(request)
        except LookupError as error:
            told = {"type": "not_found_error", "message": str(error)}
            status, answered = 404, {"type": "error", "error": told}
        body = json.dumps(answered).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the example's own lines are what is to be read."""


def _planned(request: Mapping[str, Any]) -> dict[str, Any]:
    """The next step of the plan, or what an extractor reads out of the whole task."""
    return _next_call(request) if "tools" in request else _extraction(request)


def _next_call(request: Mapping[str, Any]) -> dict[str, Any]:
    """The first step of the plan that is not done; a farewell where all are."""
    done = _data(request)["done"]
    step = next((step for step in PLAN if step.subtask not in done), None)
    if step is None:
        return message([text_block("Everything is done.")], "end_turn")
    call = {
        "type": "tool_use",
        "id": f"toolu_{len(done) + 1:02}",
        "name": step.tool,
        "input": {"subtask": step.subtask, "details": step.details},
    }
    thought = [text_block(step.thought)] if step.thought else []
    return message([*thought, call], "tool_use")


def _extraction(request: Mapping[str, Any]) -> dict[str, Any]:
    episodes = _data(request)["episodes"]
    answer = {
        "reasoning": "The contact says where the studio is, what the ramp bears and what is liked.",
        "summary": "A piano's delivery was moved to Friday afternoon.",
        "candidates": [_candidate(candidate, episodes) for candidate in _CANDIDATES],
    }
    return message([text_block(json.dumps(answer))], "end_turn")


def _candidate(
    scripted: Mapping[str, Any], episodes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    cue = scripted.get("shown_in", scripted["span"])
    number = next(episode["number"] for episode in episodes if cue in episode["text"])
    return {
        "text": scripted["text"],
        "category": scripted["category"],
        "speech": "literal",
        "importance": 0.8,
        "confidence": 0.95,
        "topic": "logistics",
        "subject": "contact",
        "attribute": scripted["attribute"],
        "value": scripted["value"],
        "single_valued": True,
        "replaces": [],
        "repeats": None,
        "ends": [],
        "citations": [{"episode": number, "span": scripted["span"]}],
    }


def _data(request: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of the only user message."""
    content = request["messages"][0]["content"]
    return dict(json.loads(content.removeprefix("<data>").removesuffix("</data>")))


def text_block(text: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": text, "citations": None}


def message(content: Sequence[Mapping[str, Any]], stop_reason: str) -> dict[str, Any]:
    """A message of these blocks, as the API sends it."""
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": "claude-scripted",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 500, "output_tokens": 50},
    }
