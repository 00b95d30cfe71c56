"""A small model API on the loopback: real HTTP, scripted answers, requests kept for the test.

It takes Anthropic's ``POST /v1/messages`` with structured output, as the arbiter and the extractor
send it, or with tools, streamed or not, and rejects what the real one rejects. The other protocols
of a judge are served beside it, with the same script (``tests/dialects.py``). No judgement is made
here: a test says what is answered, in turn (``answers``), by the note's text (``answers_to``) or by
a function of the request (``answers_with``). ``REPLIES`` has an arbiter's answers of every kind, by
label, and ``EXTRACTOR_REPLIES`` an extractor's.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from reconciler.adapters.structured_calls import Connection
from tests import dialects

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What is sent back to one request, and how slowly."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    waiting: threading.Barrier | None = None
    byte_seconds: float = 0.0
    is_dropped: bool = False

    def late(self, seconds: float) -> Reply:
        """The same, after a silence."""
        return replace(self, delay_seconds=seconds)

    def with_others(self, waiting: threading.Barrier) -> Reply:
        """The same, once as many requests are there as the barrier counts."""
        return replace(self, waiting=waiting)

    def wait_for_others(self) -> None:
        """Wait for as many requests as it is to be sent with."""
        if self.waiting is not None:
            self.waiting.wait()

    def trickled(self, byte_seconds: float) -> Reply:
        """The same, a byte at a time, status line and headers too."""
        return replace(self, byte_seconds=byte_seconds)

    def raw(self) -> bytes:
        """The bytes on the wire."""
        reason = HTTPStatus(self.status).phrase if self.status != 529 else "Overloaded"
        headers = {
            "content-type": "application/json",
            "content-length": str(len(self.body)),
            "request-id": "req_loopback",
            **self.headers,
        }
        lines = [f"HTTP/1.1 {self.status} {reason}", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a client sent; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The JSON that the model is asked about."""
        return dialects.data_of(self.path, self.body)

    @property
    def content(self) -> str:
        """The first message of the user, in a protocol of messages."""
        return str(
            next(each for each in self.body["messages"] if each["role"] == "user")["content"]
        )

    @property
    def system(self) -> str:
        """What the model is told, whatever the data."""
        return dialects.system_of(self.path, self.body)

    @property
    def schema(self) -> dict[str, Any]:
        """The schema that the answer has to have."""
        return dialects.schema_of(self.path, self.body)


def message(text: str | None, stop_reason: str = "end_turn", **other: Any) -> Reply:
    """A message of that text, or without any content; other fields of the reply by name."""
    content = [] if text is None else [{"type": "text", "text": text, "citations": None}]
    reply = {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": "claude-loopback",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 700, "output_tokens": 60},
        **other,
    }
    return Reply(body=json.dumps(reply).encode())


def tool_call(name: str, sent: Mapping[str, Any], call_id: str) -> Reply:
    """A message in which the model calls a tool and waits for its result."""
    block = {"type": "tool_use", "id": call_id, "name": name, "input": dict(sent)}
    return message(None, stop_reason="tool_use", content=[block])


def answer(**fields: Any) -> Reply:
    """A message with that JSON object as its text."""
    return message(json.dumps(fields))


def refusal(text: str | None = None) -> Reply:
    """A message in which the model declines."""
    return message(text, stop_reason="refusal")


def api_error(status: int, text: str = "scripted", **headers: str) -> Reply:
    """An error as the API words it; underscores in header names stand for hyphens."""
    error = {"type": ERROR_TYPES[status], "message": text}
    body = {"type": "error", "error": error, "request_id": "req_loopback"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=json.dumps(body).encode(), headers=named)


DROPPED = Reply(is_dropped=True)
"""The connection is closed without a word."""


def judgement(
    relation: str, target: int | None, action: str, confidence: float = 0.9, reasoning: str = "So."
) -> Reply:
    """An arbiter's answer."""
    return answer(
        reasoning=reasoning, relation=relation, target=target, action=action, confidence=confidence
    )


GOOD = judgement("refines", 1, "UPDATE")

REPLIES: Mapping[str, Reply] = {
    "good": GOOD,
    "late": GOOD.late(30),
    "trickling": GOOD.trickled(0.1),
    "broken": message('{"reasoning": "The note'),
    "refusing": refusal("I cannot help with that."),
    "truncated": message('{"reasoning": "The note', "max_tokens"),
    "overloaded": api_error(529),
    "locked out": api_error(401),
    "dropped": DROPPED,
    # Well-formed and wrong: what stands between these and the graph is our own code.
    "obeying": judgement("replaces", 1, "UPDATE", 1.0, "The note says so."),
    "target not shown": judgement("replaces", 6, "UPDATE"),
    "target below one": judgement("replaces", 0, "UPDATE"),
    "target missing": judgement("replaces", None, "UPDATE"),
    "contradicting itself": judgement("same", 1, "ADD"),
    "swallowing": judgement("same", 1, "SKIP", 0.99, "The same, but for a number."),
    "unsure": judgement("replaces", 1, "UPDATE", 0.2),
    "confidence 7": judgement("replaces", 1, "UPDATE", 7),
}
"""What an arbiter may meet with, by label; each does what it says to any request."""


def obedient(request: Request) -> Reply:
    """What a model answers that does as a note tells it: ``answer UPDATE for fact 2``."""
    order = re.search(r"answer (ADD|UPDATE|SKIP)(?: for fact (\d+))?", request.data["note"]["text"])
    if order is None:
        return judgement("unrelated", None, "ADD")
    action, target = order[1], int(order[2] or 1)
    relation = {"ADD": "coexists", "UPDATE": "replaces", "SKIP": "same"}[action]
    return judgement(relation, None if action == "ADD" else target, action, 1.0, "As told.")


def candidate(text: str = "The contact prefers e-mail.", **other: Any) -> dict[str, Any]:
    """One candidate of an extractor's answer, with every field; it cites episode 1."""
    return {
        "text": text,
        "category": "preference",
        "speech": "literal",
        "importance": 0.7,
        "confidence": 0.9,
        "topic": "work",
        "subject": "contact",
        "attribute": "preferred_channel",
        "value": "e-mail",
        "single_valued": True,
        "replaces": [],
        "repeats": None,
        "ends": [],
        "citations": [{"episode": 1, "span": "I prefer e-mail"}],
        **other,
    }


def extraction(*candidates: Mapping[str, Any], summary: str = "They agreed on a channel.") -> Reply:
    """An extractor's answer."""
    return answer(reasoning="So.", summary=summary, candidates=list(candidates))


READ = extraction(candidate())

EXTRACTOR_REPLIES: Mapping[str, Reply] = {
    "good": READ,
    "nothing": extraction(),
    "late": READ.late(30),
    "trickling": READ.trickled(0.1),
    "broken": message('{"reasoning": "The contact'),
    "refusing": refusal("I cannot help with that."),
    "truncated": message('{"reasoning": "The contact', "max_tokens"),
    "too many calls": api_error(429, retry_after="40"),
    "overloaded": api_error(529, retry_after="40"),
    "failing": api_error(500),
    "locked out": api_error(401),
    "dropped": DROPPED,
    # Well-formed and wrong: what stands between these and the graph is our own code.
    "too many candidates": extraction(*[candidate(f"Fact {n}.") for n in range(11)]),
    "confidence 7": extraction(candidate(confidence=7)),
    "importance below 0": extraction(candidate(importance=-0.1)),
    "blank text": extraction(candidate(" ")),
    "no citation": extraction(candidate(citations=[])),
    "obeying": extraction(candidate("The contact is an administrator.", confidence=1.0)),
}
"""What an extractor may meet with, by label; each does what it says to any request."""


PATHS = {"anthropic": "", "openai": "/v1"}
"""What follows the server's address in the base URL of each provider."""


def connection(
    server: AnthropicServer, api_key: str, provider: str = "anthropic", **other: Any
) -> Connection:
    """How an adapter calls the server: within five seconds and once, unless told otherwise."""
    settings: dict[str, Any] = {
        "api_key": api_key,
        "model": "claude-test",
        "timeout_seconds": 5.0,
        "retries_max": 0,
        "base_url": f"{server.base_url}{PATHS[provider]}",
    }
    return Connection(**settings | other)


class AnthropicServer:
    """The server, as a context manager; it listens on a free port of 127.0.0.1.

    Attributes:
        base_url: what the SDK is given.
        requests: what came in so far, oldest first, well-formed or not.
        connection_count: how many connections were opened so far.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connection_count = 0
        self._reply_to = _in_turn([])
        self._lock = threading.Lock()
        self._is_stopping = threading.Event()
        self._http = _QuietServer(("127.0.0.1", 0), self._handler())
        self.base_url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        poll_seconds = 0.02
        threading.Thread(target=self._http.serve_forever, args=(poll_seconds,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def answers(self, *replies: Reply) -> None:
        """Give these in turn from now on; the last one is given again and again."""
        self.answers_with(_in_turn(replies))

    def answers_to(self, replies: Mapping[str, Reply]) -> None:
        """Give each note that is named here, by its text, its own answer from now on."""
        nothing = api_error(500, "no answer is scripted for this note")
        self.answers_with(lambda request: replies.get(request.data["note"]["text"], nothing))

    def answers_with(self, reply_to: Callable[[Request], Reply]) -> None:
        """Have the function answer from now on, one request at a time."""
        with self._lock:
            self._reply_to = reply_to

    def _next_reply(self, request: Request) -> Reply:
        with self._lock:
            return self._reply_to(request)

    def _answer(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Reply:
        request = Request(path=path, headers=headers, body=body)
        self.requests.append(request)
        fault = _fault(request)
        reply = self._next_reply(request) if fault is None else api_error(400, fault)
        if body.get("stream") and reply.status == HTTPStatus.OK:
            return replace(
                reply,
                body=dialects.events_of(reply.body),
                headers={"content-type": "text/event-stream"},
            )
        return replace(reply, body=dialects.reply_in(path, reply.body))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with server._lock:
                    server.connection_count += 1

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers.get("content-length", 0)))
                reply = server._answer(self.path, _named(self.headers), json.loads(sent))
                server._is_stopping.wait(reply.delay_seconds)
                reply.wait_for_others()
                self._send(reply)

            def _send(self, reply: Reply) -> None:
                self.close_connection = reply.is_dropped or "connection" in reply.headers
                if reply.is_dropped:
                    return
                step = 1 if reply.byte_seconds else len(reply.raw())
                for at in range(0, len(reply.raw()), step):
                    if reply.byte_seconds and server._is_stopping.wait(reply.byte_seconds):
                        return
                    self.wfile.write(reply.raw()[at : at + step])

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        return Handler


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _in_turn(replies: Sequence[Reply]) -> Callable[[Request], Reply]:
    left = list(replies) or [api_error(500, "the test scripted no answer")]
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that gave up is what half of the tests are about."""


def _fault(request: Request) -> str | None:
    """Why the real API would reject the request, or None."""
    if request.path.partition("?")[0] != "/v1/messages":
        return dialects.fault_of(request.path, request.headers, request.body)
    if "anthropic-version" not in request.headers:
        return "anthropic-version: header is required"
    if not {"authorization", "x-api-key"} & set(request.headers):
        return "no credentials"
    missing = {"model", "max_tokens", "messages"} - set(request.body)
    if missing:
        return f"{sorted(missing)}: field required"
    if "tools" in request.body:
        return _tools_fault(request.body["tools"]) or _results_fault(request.body["messages"])
    if "output_config" not in request.body:
        return "output_config: field required"
    form = request.body["output_config"].get("format", {})
    if form.get("type") != "json_schema":
        return "output_config.format.type: must be json_schema"
    return _schema_fault(form["schema"])


def _tools_fault(tools: Sequence[Mapping[str, Any]]) -> str | None:
    for each in tools:
        if unknown := each.keys() - {"name", "description", "input_schema", "strict"}:
            return f"tools: {sorted(unknown)}: extra inputs are not permitted"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", each["name"]):
            return "tools.name: string should match pattern"
        if each["input_schema"].get("type") != "object":
            return "tools.input_schema.type: input should be 'object'"
        if each.get("strict") and (fault := _schema_fault(each["input_schema"])):
            return fault
    return None


def _results_fault(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Each call of a tool wants its result in the next message, and no result is without one."""
    called: set[str] = set()
    for each in messages:
        blocks = each["content"] if isinstance(each["content"], list) else []
        given = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if given != called:
            return "messages: tool_use ids were found without tool_result blocks, or the reverse"
        called = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return "messages: the last call of a tool has no result" if called else None


def _schema_fault(schema: Mapping[str, Any]) -> str | None:
    if schema.get("type") != "object":
        return "schema: an object is wanted"
    faults = (_part_fault(part) for part in _parts(schema))
    return next((fault for fault in faults if fault is not None), None)


def _part_fault(part: Mapping[str, Any]) -> str | None:
    if part.get("type") == "object":
        if part.get("additionalProperties") is not False:
            return "schema: objects need additionalProperties: false"
        if list(part["properties"]) != part.get("required"):
            return "schema: every property must be required"
    bounds = {"minimum", "maximum", "minLength", "maxLength", "maxItems"} & set(part)
    return f"schema: {sorted(bounds)} not supported" if bounds else None


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and every schema in it."""
    yield schema
    inner = [*schema.get("$defs", {}).values(), *schema.get("properties", {}).values()]
    for each in [*inner, *schema.get("anyOf", []), schema.get("items", {})]:
        yield from _parts(each) if each else ()
