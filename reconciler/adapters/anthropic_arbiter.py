"""The arbiter that asks Claude. What it is told stands in ``config/prompts/arbiter.md``.

The SDK bounds each wait on a socket, not a call: a server that trickles bytes, or asks for a
minute's patience, holds it for ever. So the SDK runs in an event loop on a thread of its own,
where a deadline ends a judgement wherever it stands, and nothing goes on behind the caller's back.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reconciler.domain.decisions import Action, Judgement, Relation, Usage
from reconciler.domain.facts import Neighbour
from reconciler.domain.notes import Note, SourceKind
from reconciler.domain.slots import Slot
from reconciler.errors import (
    ArbiterAnswerError,
    ArbiterError,
    ArbiterRefusedError,
    ArbiterUnavailableError,
    ConfigurationError,
)
from reconciler.resources import resource_path

if TYPE_CHECKING:
    import anthropic

__all__ = ["AnthropicArbiter"]

ANSWER_TOKENS_MAX = 1024
"""Room for three sentences of reasoning several times over; an answer that needs more is none."""

REASONING_LENGTH_MAX = 1000
"""Characters of reasoning that are kept; the API enforces no length in a schema."""

_GRACE_SECONDS = 0.5
"""How much later than its deadline the loop may say so, before it is taken for stuck."""

_STATUS_MEANINGS = {
    400: "the request was rejected",
    401: "the API key is not accepted",
    403: "the API key may not do this",
    404: "no such model, or no such API at this address",
    429: "too many calls",
}


class _Answer(BaseModel):
    """The answer's schema. Reasoning comes first: a verdict before it is a guess.

    The API enforces no bounds on a number; they are checked here.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    reasoning: str
    relation: Relation
    target: int | None
    action: Action
    confidence: float = Field(ge=0, le=1)


class _Block(BaseModel):
    type: str
    text: str = ""


class _Tokens(BaseModel):
    """What the API counted; input that was written to or read from its cache comes apart."""

    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cache_creation_input_tokens: int | None = Field(default=None, ge=0)
    cache_read_input_tokens: int | None = Field(default=None, ge=0)


class _Reply(BaseModel):
    """The part of a reply that is relied on; the SDK itself checks nothing that it is sent."""

    stop_reason: str
    content: list[_Block]
    usage: Any = None


class AnthropicArbiter:
    """Judges by one structured message to Claude, from any thread; opens nothing before the first.

    The first judgement imports the SDK, 1 to 2 seconds that its time-out does not count.

    Args:
        api_key: sent to the API only; in no log and no error.
        model: a Claude model that supports structured outputs.
        timeout_seconds: the whole judgement, retries included.
        retries_max: tries after the first, for calls that were turned away or broke off.
        base_url: where the API is; None for Anthropic's own.

    Raises:
        ConfigurationError: the key or the address is malformed, or the prompt has no version.
    """

    def __init__(
        self,
        api_key: str,
        model: str,
        timeout_seconds: float,
        retries_max: int,
        base_url: str | None = None,
    ) -> None:
        _check_connection(api_key, base_url)
        version, self._prompt = _read_prompt()
        self.name = f"{model}/arbiter-v{version}"
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._client_options = {
            "api_key": api_key,
            "base_url": base_url,
            "max_retries": retries_max,
        }
        self._session: _Session | None = None
        self._lock = threading.Lock()

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """How the note relates to the neighbours; the port says what is promised."""
        data = _data(note, neighbours)
        with _translated_errors(self._timeout_seconds):
            call = self._start(data)
            try:
                return _judgement(call.result(self._timeout_seconds + _GRACE_SECONDS))
            finally:
                call.cancel()

    def close(self) -> None:
        """End what is under way and close the connections; a later judgement opens them anew."""
        with self._lock:
            if self._session is not None:
                self._session.close()
            self._session = None

    def _start(self, data: str) -> Future[str]:
        # Under the lock, so that a call is seen by the close that comes after it.
        with self._lock:
            # A forked process inherits the session, but not its thread.
            if self._session is None or not self._session.is_alive():
                self._session = _Session(self._timeout_seconds, self._client_options)
            return self._session.start(self._model, self._prompt, data)


class _Session:
    """A client, and the daemon thread whose event loop it lives in."""

    def __init__(self, timeout_seconds: float, client_options: dict[str, Any]) -> None:
        import anthropic

        self._timeout_seconds = timeout_seconds
        self._schema = anthropic.transform_schema(_Answer)
        self._client = anthropic.AsyncAnthropic(
            **client_options,
            timeout=timeout_seconds,
            middleware=[self._refuse_a_long_wait],
            open_telemetry=False,
        )
        self._calls: set[Future[str]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="anthropic-arbiter", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self, model: str, prompt: str, data: str) -> Future[str]:
        """The reply's body to be, as it comes; it is there within the time-out or not at all."""
        call = asyncio.run_coroutine_threadsafe(self._send(model, prompt, data), self._loop)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    def close(self) -> None:
        for call in list(self._calls):
            call.cancel()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        self._thread.join(_GRACE_SECONDS)

    async def _send(self, model: str, prompt: str, data: str) -> str:
        # Not messages.parse: it fails on the words of a refusal before one can see that it is one.
        async with asyncio.timeout(self._timeout_seconds):
            reply = await self._client.messages.with_raw_response.create(
                model=model,
                max_tokens=ANSWER_TOKENS_MAX,
                system=prompt,
                messages=[{"role": "user", "content": data}],
                output_config={"format": {"type": "json_schema", "schema": self._schema}},
            )
            return await reply.text()

    async def _refuse_a_long_wait(
        self, request: anthropic.APIRequest, call_next: anthropic.AsyncCallNext
    ) -> anthropic.AsyncAPIResponse[Any]:
        """Have the SDK give up at once where it was told to sleep beyond the time-out."""
        response = await call_next(request)
        wait = response.headers.get("retry-after", "")
        if wait.isdecimal() and int(wait) >= self._timeout_seconds:
            response.headers["x-should-retry"] = "false"
        return response

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _stop(self) -> None:
        # Waited for, not cancelled: to cancel the tasks of the SDK's own leaves them half begun.
        await asyncio.gather(
            *asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True
        )
        await self._client.close()
        self._loop.stop()


@contextmanager
def _translated_errors(timeout_seconds: float) -> Iterator[None]:
    """Every way in which a judgement can fail, as an error of ours; most specific first."""
    import anthropic

    try:
        yield
    except (TimeoutError, anthropic.APITimeoutError) as error:
        raise ArbiterUnavailableError(f"no answer within {timeout_seconds:g} s") from error
    except CancelledError as error:
        raise ArbiterUnavailableError("closed while it was asked") from error
    except anthropic.APIStatusError as error:
        raise _turned_away(error.status_code) from error
    except anthropic.AnthropicError as error:
        cause = type(error.__cause__ or error).__name__
        raise ArbiterUnavailableError(f"no connection, or it broke off ({cause})") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise ArbiterAnswerError(f"not what was asked for: {where}: {first['msg']}") from error


def _turned_away(status: int) -> ArbiterError:
    meaning = "the API failed" if status >= 500 else _STATUS_MEANINGS.get(status, "turned away")
    return ArbiterUnavailableError(f"{meaning} (HTTP {status})")


def _check_connection(api_key: str, base_url: str | None) -> None:
    # A key that fits in no header fails in an encoder, whose error shows the key.
    if not re.fullmatch("[!-~]+", api_key):
        raise ConfigurationError("the Anthropic API key is empty or holds a space or line end")
    if base_url is not None and not _is_web_address(base_url):
        raise ConfigurationError(f"the arbiter's base_url {base_url!r} is no http or https address")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _read_prompt() -> tuple[str, str]:
    """The version that the prompt's first line states, and the text below it."""
    path = resource_path("config") / "prompts" / "arbiter.md"
    try:
        first_line, _, prompt = path.read_text("utf-8").partition("\n")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read; install the package again") from error
    key, _, version = first_line.partition(":")
    if key != "version" or not version.strip().isdecimal():
        raise ConfigurationError(f"{path} must begin with a line such as 'version: 1'")
    return version.strip(), prompt.strip()


def _data(note: Note, neighbours: Sequence[Neighbour]) -> str:
    """Note and facts as JSON between tags; no text can close a string or a tag from within."""
    data = {
        "note": {
            "text": note.text,
            "said_on": _day(note.said_at),
            **_circumstances(note.holds_from, note.trust, note.slot),
        },
        "facts": [
            {
                "number": number,
                "text": each.text,
                **_circumstances(each.valid_from, each.trust, each.slot),
            }
            for number, each in enumerate(neighbours, start=1)
        ],
    }
    fenced = json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"<data>\n{fenced}\n</data>"


def _circumstances(holds_from: datetime, source: SourceKind, slot: Slot | None) -> dict[str, str]:
    return {"true_since": _day(holds_from), "source": str(source), **_filed(slot)}


def _filed(slot: Slot | None) -> dict[str, str]:
    if slot is None:
        return {}
    named = {"subject": slot.subject, "attribute": slot.attribute, "value": slot.shown_value}
    return {name: value for name, value in named.items() if value is not None}


def _day(time: datetime) -> str:
    return time.astimezone(UTC).date().isoformat()


def _judgement(body: str) -> Judgement:
    reply = _Reply.model_validate_json(body)
    text = "".join(block.text for block in reply.content if block.type == "text")
    if reply.stop_reason == "refusal":
        raise ArbiterRefusedError("the model declined to answer")
    if reply.stop_reason != "end_turn":
        raise ArbiterAnswerError(f"the answer was cut off ({reply.stop_reason})")
    if not text:
        raise ArbiterRefusedError("the model answered nothing")
    answer = _Answer.model_validate_json(text)
    return Judgement(
        reasoning=answer.reasoning[:REASONING_LENGTH_MAX],
        relation=answer.relation,
        target=answer.target,
        action=answer.action,
        confidence=answer.confidence,
        usage=_usage(reply.usage),
    )


def _usage(counted: object) -> Usage | None:
    """What the answer cost; a count that makes no sense is none, and spoils no answer."""
    try:
        tokens = _Tokens.model_validate(counted)
    except ValidationError:
        return None
    cached = (tokens.cache_creation_input_tokens or 0) + (tokens.cache_read_input_tokens or 0)
    return Usage(input_tokens=tokens.input_tokens + cached, output_tokens=tokens.output_tokens)
