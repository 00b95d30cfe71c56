"""Structured calls to Claude: one question, one answer of a given shape, before a deadline.

Here: the client and its thread, the deadline, what every failure is called, how a prompt is read
and how data is fenced. Never here: what is asked, or what an answer means; each adapter has that.

The SDK bounds each wait on a socket, not a call: a server that trickles bytes, or asks for a
minute's patience, holds it for ever. So the SDK runs in an event loop on a thread of its own,
where a deadline ends a call wherever it stands, and nothing goes on behind the caller's back.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from reconciler.domain.records.decisions import Usage
from reconciler.errors import ConfigurationError
from reconciler.resources import read_config

if TYPE_CHECKING:
    import anthropic

__all__ = [
    "WAIT_SECONDS_MAX",
    "Connection",
    "Failures",
    "Prompt",
    "Question",
    "StructuredCalls",
    "read_prompt",
]

WAIT_SECONDS_MAX = 3600.0
"""The longest that a server is left alone on its own word; an hour is beyond any rate limit."""

_GRACE_SECONDS = 0.5
"""How much later than its deadline the loop may say so, before it is taken for stuck."""

_STATUS_MEANINGS = {
    400: "the request was rejected",
    401: "the API key is not accepted",
    403: "the API key may not do this",
    404: "no such model, or no such API at this address",
    429: "too many calls",
}

_told_to_wait: ContextVar[float | None] = ContextVar("told_to_wait", default=None)
"""The wait that the last reply to a call asked for, in seconds; each call has its own context."""

AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where calls go, as whom, and how long one may take.

    Args:
        api_key: sent to the API only; in no log and no error.
        model: a Claude model that supports structured outputs.
        timeout_seconds: a whole call, retries included.
        retries_max: tries after the first, for calls that were rejected or broke off.
        base_url: where the API is; None for Anthropic's own.

    Raises:
        ConfigurationError: the key or the address is malformed.
    """

    api_key: str = field(repr=False)
    model: str
    timeout_seconds: float
    retries_max: int
    base_url: str | None = None

    def __post_init__(self) -> None:
        # A key that fits in no header fails in an encoder, whose error shows the key.
        if not re.fullmatch("[!-~]+", self.api_key):
            raise ConfigurationError("the Anthropic API key is empty or holds a space or line end")
        if self.base_url is not None and not _is_web_address(self.base_url):
            raise ConfigurationError(
                f"the Anthropic base_url {self.base_url!r} is not an http or https address"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """What a caller's three kinds of failure are called.

    Attributes:
        unavailable: no answer in time, or rejected; for how long, in seconds, or None.
        refused: the model declined.
        answer: cut off, or not what was asked for.
    """

    unavailable: Callable[[str, float | None], Exception]
    refused: Callable[[str], Exception]
    answer: Callable[[str], Exception]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text that tells the model what to do, and its version."""

    version: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[AnswerT]):
    """What is asked, whatever the data.

    Attributes:
        prompt: what the model is told.
        answer: the shape of an answer; the API enforces the types, pydantic the bounds.
        answer_tokens_max: an answer that needs more is none.
        failures: what goes wrong, in the asker's words.
    """

    prompt: Prompt
    answer: type[AnswerT]
    answer_tokens_max: int
    failures: Failures


def read_prompt(path: Path) -> Prompt:
    """The version that the file's first line states, and the text below it.

    Raises:
        ConfigurationError: the file cannot be read, or its first line states no version.
    """
    first_line, _, text = read_config(path, str(path)).partition("\n")
    key, _, version = first_line.partition(":")
    if key != "version" or not version.strip().isdecimal():
        raise ConfigurationError(f"{path} must begin with a line such as 'version: 1'")
    return Prompt(version=version.strip(), text=text.strip())


class StructuredCalls(Generic[AnswerT]):
    """Asks one question of different data, from any thread; opens nothing before the first call.

    The first call imports the SDK, 1 to 2 seconds that its time-out does not count.

    Args:
        connection: where calls go.
        question: what is asked each time.
    """

    def __init__(self, connection: Connection, question: Question[AnswerT]) -> None:
        self._connection = connection
        self._question = question
        self._session: _Session | None = None
        self._lock = threading.Lock()

    def ask(self, data: Mapping[str, Any]) -> tuple[AnswerT, Usage | None]:
        """The answer, and what it cost where the API says so.

        Raises:
            Exception: one of the question's ``failures``, and no other.
        """
        with _translated_errors(self._connection.timeout_seconds, self._question.failures):
            call = self._start(_fenced(data))
            try:
                body = call.result(self._connection.timeout_seconds + _GRACE_SECONDS)
                return _answered(body, self._question)
            finally:
                call.cancel()

    def close(self) -> None:
        """End what is under way and close the connections; a later call opens them again."""
        with self._lock:
            if self._session is not None:
                self._session.close()
            self._session = None

    def _start(self, data: str) -> Future[str]:
        # Under the lock, so that a call is seen by the close that comes after it.
        with self._lock:
            # A forked process inherits the session, but not its thread.
            if self._session is None or not self._session.is_alive():
                self._session = _Session(self._connection, self._question)
            return self._session.start(data)


class _Session:
    """A client, and the daemon thread whose event loop it lives in."""

    def __init__(self, connection: Connection, question: Question[Any]) -> None:
        import anthropic

        self._timeout_seconds = connection.timeout_seconds
        self._model = connection.model
        self._question = question
        self._schema = anthropic.transform_schema(question.answer)
        self._client = anthropic.AsyncAnthropic(
            api_key=connection.api_key,
            base_url=connection.base_url,
            max_retries=connection.retries_max,
            timeout=connection.timeout_seconds,
            middleware=[self._refuse_a_long_wait],
            open_telemetry=False,
        )
        self._calls: set[Future[str]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="anthropic-calls", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self, data: str) -> Future[str]:
        """The reply's body to be, as it comes; it is there within the time-out or not at all."""
        call = asyncio.run_coroutine_threadsafe(self._send(data), self._loop)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    def close(self) -> None:
        for call in list(self._calls):
            call.cancel()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        self._thread.join(_GRACE_SECONDS)

    async def _send(self, data: str) -> str:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._reply(data)
        except TimeoutError as error:
            raise _OutOfTimeError(_told_to_wait.get()) from error

    async def _reply(self, data: str) -> str:
        # Not messages.parse: it fails on the words of a refusal before one can see that it is one.
        reply = await self._client.messages.with_raw_response.create(
            model=self._model,
            max_tokens=self._question.answer_tokens_max,
            system=self._question.prompt.text,
            messages=[{"role": "user", "content": data}],
            output_config={"format": {"type": "json_schema", "schema": self._schema}},
        )
        return await reply.text()

    async def _refuse_a_long_wait(
        self, request: anthropic.APIRequest, call_next: anthropic.AsyncCallNext
    ) -> anthropic.AsyncAPIResponse[Any]:
        """Have the SDK give up at once where it was told to sleep beyond the time-out.

        A wait worded as a date is left to the deadline: it is worth what two clocks agree on.
        """
        _told_to_wait.set(None)
        response = await call_next(request)
        _told_to_wait.set(_wait_seconds(response.headers))
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


class _OutOfTimeError(TimeoutError):
    """The deadline passed; the server may have said for how long it wants to be left alone."""

    def __init__(self, wait_seconds: float | None) -> None:
        super().__init__()
        self.wait_seconds = wait_seconds


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


@contextmanager
def _translated_errors(timeout_seconds: float, failures: Failures) -> Iterator[None]:
    """Every way in which a call can fail, as an error of the asker's; most specific first."""
    import anthropic

    try:
        yield
    except (TimeoutError, anthropic.APITimeoutError) as error:
        wait = error.wait_seconds if isinstance(error, _OutOfTimeError) else None
        raise failures.unavailable(f"no answer within {timeout_seconds:g} s", wait) from error
    except CancelledError as error:
        raise failures.unavailable("closed while it was asked", None) from error
    except anthropic.APIStatusError as error:
        wait = _wait_seconds(error.response.headers)
        raise failures.unavailable(_turned_away(error.status_code), wait) from error
    except anthropic.AnthropicError as error:
        cause = type(error.__cause__ or error).__name__
        raise failures.unavailable(f"no connection, or it broke off ({cause})", None) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise failures.answer(f"not what was asked for: {where}: {first['msg']}") from error


def _turned_away(status: int) -> str:
    meaning = "the API failed" if status >= 500 else _STATUS_MEANINGS.get(status, "turned away")
    return f"{meaning} (HTTP {status})"


def _wait_seconds(headers: Mapping[str, str]) -> float | None:
    """How long a reply asks to be left alone; None where it does not, or makes no sense.

    Source: RFC 9110, 10.2.3, and the SDK, which prefers its own header in milliseconds.
    """
    said = headers.get("retry-after", "")
    milliseconds = _number(headers.get("retry-after-ms", ""))
    for wait in (milliseconds / 1000, _number(said), _seconds_until(said)):
        if wait > 0:
            return min(wait, WAIT_SECONDS_MAX)
    return None


def _number(said: str) -> float:
    """The number; 0 for what is none."""
    try:
        number = float(said)
    except ValueError:
        return 0
    return number if math.isfinite(number) else 0


def _seconds_until(said: str) -> float:
    """From now to the date; 0 for what is none."""
    try:
        then = parsedate_to_datetime(said)
        # A zone of -0000 is UTC, and comes back as none.
        return (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return 0


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _fenced(data: Mapping[str, Any]) -> str:
    """The data as JSON between tags; no text can close a string or a tag from within."""
    fenced = json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"<data>\n{fenced}\n</data>"


def _answered(body: str, question: Question[AnswerT]) -> tuple[AnswerT, Usage | None]:
    reply = _Reply.model_validate_json(body)
    text = "".join(block.text for block in reply.content if block.type == "text")
    if reply.stop_reason == "refusal":
        raise question.failures.refused("the model declined to answer")
    if reply.stop_reason != "end_turn":
        raise question.failures.answer(f"the answer was cut off ({reply.stop_reason})")
    if not text:
        raise question.failures.refused("the model answered nothing")
    return question.answer.model_validate_json(text), _usage(reply.usage)


def _usage(counted: object) -> Usage | None:
    """What the answer cost; a count that makes no sense is none, and spoils no answer."""
    try:
        tokens = _Tokens.model_validate(counted)
    except ValidationError:
        return None
    cached = (tokens.cache_creation_input_tokens or 0) + (tokens.cache_read_input_tokens or 0)
    return Usage(input_tokens=tokens.input_tokens + cached, output_tokens=tokens.output_tokens)
