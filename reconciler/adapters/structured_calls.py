"""Structured calls to a model: one question, one answer of a given shape, before a deadline.

Here: the client's thread, the deadline, the class of every failure, reading a prompt and fencing
data. Never here: a vendor's protocol, which is in
``anthropic_calls`` and ``openai_calls``; nor the question and the meaning of an answer, which each
adapter knows.

The SDKs limit each wait on a socket, not the whole call: a server that sends bytes slowly, or asks
for a wait of a minute, could block a call for ever. So the SDK runs in an event loop on its own
thread, where a deadline ends a call at any point, and nothing continues after it. Retries are the
SDKs'.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from reconciler.adapters.answer_reading import UnreadableAnswerError, fault_of, read_answer
from reconciler.domain.records.decisions import Usage
from reconciler.domain.records.notes import Slot
from reconciler.errors import ConfigurationError
from reconciler.frozen import frozen, in_order, present
from reconciler.resources import read_config

WAIT_SECONDS_MAX = 3600.0
"""The longest wait that a server may ask for; an hour is beyond any rate limit."""

_GRACE_SECONDS = 0.5
"""Seconds after a deadline in which the event loop must report it; otherwise the loop counts as
stuck."""

WITHOUT_A_MODEL = "arbiter.mode 'off' and extractor.mode 'explicit'"
"""The settings for working without a model that judges or reads."""

_STATUS_MEANINGS = {
    400: "the request was rejected",
    401: "the API key is not accepted",
    403: "the API key may not do this",
    404: "no such model, or no such API at this address",
    429: "too many calls",
}

AnswerT = TypeVar("AnswerT", bound=BaseModel)
ClientT = TypeVar("ClientT", bound="Closable")
ResultT = TypeVar("ResultT")

Data = Mapping[str, Any]
"""The data of a question, as JSON values."""


@frozen
class Connection:
    """The address, key and time-out of calls.

    Args:
        api_key: sent to the API only; in no log and no error.
        model: a model's name, as the API knows it.
        timeout_seconds: for a whole call, retries included.
        retries_max: tries after the first, for calls that were rejected or broke off.
        base_url: the address of the API; None for the vendor's own.

    Raises:
        ConfigurationError: the key or the address is malformed.
    """

    api_key: str = field(repr=False)
    model: str
    timeout_seconds: float
    retries_max: int
    base_url: str | None = None

    def __post_init__(self) -> None:
        # A key that no header can hold would fail in an encoder, with an error that shows the key.
        if not re.fullmatch("[!-~]+", self.api_key):
            raise ConfigurationError("the model's API key is empty or holds a space or line end")
        if self.base_url is not None and not _is_web_address(self.base_url):
            # Not quoted: it may be a key, put there by mistake.
            raise ConfigurationError(
                "the model's base_url is not an http or https address; give one such as "
                "http://127.0.0.1:11434/v1"
            )


@frozen
class Failures:
    """The classes of a caller's three kinds of failure.

    Attributes:
        unavailable: no answer in time, or rejected; takes the seconds to wait, or None.
        refused: the model declined.
        answer: cut off, or not what was asked for.
    """

    unavailable: Callable[[str, float | None], Exception]
    refused: Callable[[str], Exception]
    answer: Callable[[str], Exception]


@in_order
class Prompt:
    """A text that tells the model what to do; its name ends with its version."""

    name: str
    text: str


@in_order
class Question(Generic[AnswerT]):
    """A prompt and the schema of its answer; the data come with each call.

    Attributes:
        prompt: the instructions for the model.
        answer: the shape of an answer. An API may enforce its types; they are checked here.
        answer_tokens_max: a longer answer is not used.
        failures: the asker's error classes.
    """

    prompt: Prompt
    answer: type[AnswerT]
    answer_tokens_max: int
    failures: Failures


@frozen
class Reply:
    """A server's reply, independent of the protocol.

    Attributes:
        text: what the model said; empty if it said nothing.
        usage: the cost of the reply; None if it is not known.
        is_refusal: the model declined.
        cut_off: the server's word for why the text ends too early; None if the text is complete.
    """

    text: str
    usage: Usage | None = None
    is_refusal: bool = False
    cut_off: str | None = None


class Closable(Protocol):
    """One vendor's connection, used by one event loop."""

    async def close(self) -> None:
        """Close the connections."""


class Client(Closable, Protocol):
    """A connection to a model that answers."""

    async def reply(self, data: Data) -> Reply:
        """Model's answer to the data.

        Raises:
            ValueError: the server's reply does not follow the protocol.
        """


@frozen
class Vendor:
    """A protocol: the parts that differ from one vendor to the next.

    Attributes:
        package: the SDK that speaks it, as it is imported.
        requirement: the SDK's requirement, for pip.
        speaks: the kind of reply that the server should send, for the text of an error.
        open: makes a client of a connection and of what is asked, on the thread that asks first.
        hint: advice if nothing is found at an address; empty for none.
        otherwise: the settings for working without the SDK.
    """

    package: str
    requirement: str
    speaks: str
    open: Callable[..., Any]
    hint: str = ""
    otherwise: str = WITHOUT_A_MODEL

    def check_installed(self) -> None:
        """Check early that the SDK is installed, without the seconds that an import takes.

        Raises:
            ConfigurationError: the package is not installed.
        """
        if find_spec(self.package) is None:
            raise ConfigurationError(
                f"the settings choose a model that needs the {self.package} SDK: set "
                f"{self.otherwise}, or pip install '{self.requirement}'"
            )

    @contextmanager
    def translated_errors(self, timeout_seconds: float, failures: Failures) -> Iterator[None]:
        """Turn every failure of a call into an error of the asker; the most specific first."""
        sdk: Any = import_module(self.package)
        every = getattr(sdk, "OpenAIError", None) or sdk.AnthropicError
        try:
            yield
        except (TimeoutError, sdk.APITimeoutError) as error:
            raise failures.unavailable(f"no answer within {timeout_seconds:g} s", None) from error
        except CancelledError as error:
            raise failures.unavailable(
                "the client was closed before the model answered", None
            ) from error
        except sdk.APIStatusError as error:
            wait = _wait_seconds(error.response.headers)
            raise failures.unavailable(_turned_away(error.status_code, self.hint), wait) from error
        except every as error:
            cause = type(error.__cause__ or error).__name__
            raise failures.unavailable(
                f"no connection to the model, or it was lost ({cause})", None
            ) from error
        except UnreadableAnswerError as error:
            raise failures.answer(str(error)) from error
        except ValueError as error:
            fault = fault_of(error) if isinstance(error, ValidationError) else "it is not JSON"
            raise failures.answer(f"the server's reply is not {self.speaks}: {fault}") from error


def read_prompt(path: Path) -> Prompt:
    """Read the text below a file's first line.

    Its name is the file's name with the version from that line.

    Raises:
        ConfigurationError: the file cannot be read, or its first line states no version.
    """
    first_line, _, text = read_config(path, str(path)).partition("\n")
    key, _, version = first_line.partition(":")
    if key != "version" or not version.strip().isdecimal():
        raise ConfigurationError(f"{path} must begin with a line such as 'version: 1'")
    return Prompt(f"{path.stem}-v{version.strip()}", text.strip())


class ClientCalls(Generic[ClientT]):
    """Calls of one client before a deadline, from any thread; connects at the first call.

    The first call imports the SDK, 1 to 2 seconds that its time-out does not count.

    Args:
        vendor: defines the protocol that is spoken.
        connection: where calls go.
        failures: the caller's error classes.
        asked: what the client is made for.

    Raises:
        ConfigurationError: the SDK is not installed.
    """

    def __init__(
        self, vendor: Vendor, connection: Connection, failures: Failures, *asked: object
    ) -> None:
        vendor.check_installed()
        self._vendor = vendor
        self._connection = connection
        self._failures = failures
        self._open_client: Callable[[], ClientT] = partial(vendor.open, connection, *asked)
        self._session: ClientThread[ClientT] | None = None
        self._lock = threading.Lock()

    def call(self, work: Callable[[ClientT], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """Return the result of the client's work, before the deadline.

        Raises:
            Exception: one of ``failures``, and no other.
        """
        timeout_seconds = self._connection.timeout_seconds
        with self._vendor.translated_errors(timeout_seconds, self._failures):
            call = self._start(work)
            try:
                return call.result(timeout_seconds + _GRACE_SECONDS)
            finally:
                call.cancel()

    def close(self) -> None:
        """End the running calls and close the connections; a later call opens them again."""
        with self._lock:
            if self._session is not None:
                self._session.close()
            self._session = None

    def _start(self, work: Callable[[ClientT], Coroutine[Any, Any, ResultT]]) -> Future[ResultT]:
        # Under the lock, so that a call is seen by the close that comes after it.
        with self._lock:
            # A forked process inherits the session, but not its thread.
            if self._session is None or not self._session.is_alive():
                self._session = ClientThread(self._open_client(), self._connection.timeout_seconds)
            return self._session.start(work(self._session.client))


class StructuredCalls(ClientCalls[Client], Generic[AnswerT]):
    """Asks one question of different data, from any thread.

    An unreadable answer is a failure: who asks tries again later, or decides without it.

    Args:
        vendor: defines the protocol that is spoken.
        connection: where calls go.
        question: what is asked each time.

    ``name`` says who answers what: the model and the prompt, such as ``claude-…/arbiter-v3``.
    """

    def __init__(self, vendor: Vendor, connection: Connection, question: Question[AnswerT]) -> None:
        super().__init__(vendor, connection, question.failures, question)
        self.name = f"{connection.model}/{question.prompt.name}"
        self._question = question

    def ask(self, data: Data) -> tuple[AnswerT, Usage | None]:
        """Answer, and its cost if the API tells it.

        Raises:
            Exception: one of the question's ``failures``, and no other.
        """
        return self.call(lambda client: self._answer_to(client, data))

    async def _answer_to(self, client: Client, data: Data) -> tuple[AnswerT, Usage | None]:
        reply = await client.reply(data)
        if reply.is_refusal:
            raise self._failures.refused("the model declined to answer")
        if reply.cut_off is not None:
            raise UnreadableAnswerError(f"the answer was cut off ({reply.cut_off})")
        if not reply.text.strip():
            raise self._failures.refused("the model answered nothing")
        return read_answer(reply.text, self._question.answer), reply.usage


class ClientThread(Generic[ClientT]):
    """A client, and the daemon thread with its event loop."""

    def __init__(self, client: ClientT, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self.client = client
        self._calls: set[Future[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="model-calls", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """True if the thread is running; a forked process has no such thread."""
        return self._thread.is_alive()

    def start(self, work: Coroutine[Any, Any, ResultT]) -> Future[ResultT]:
        """Future result; it arrives within the time-out or not at all."""
        call = asyncio.run_coroutine_threadsafe(self._in_time(work), self._loop)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    def close(self) -> None:
        """End the running calls and the thread."""
        for call in list(self._calls):
            call.cancel()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        self._thread.join(_GRACE_SECONDS)

    async def _in_time(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        async with asyncio.timeout(self._timeout_seconds):
            return await work

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _stop(self) -> None:
        # Waited for, not cancelled: cancelling the SDK's own tasks leaves them half done.
        await asyncio.gather(
            *asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True
        )
        await self.client.close()
        self._loop.stop()


def fenced(data: Data) -> str:
    """Data as JSON between tags; no text in it can close a string or a tag."""
    text = json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f"<data>\n{text}\n</data>"


def filed(slot: Slot | None) -> dict[str, str]:
    """The slot of a note or a fact; a value that is personal data is left out."""
    if slot is None:
        return {}
    named = {"subject": slot.subject, "attribute": slot.attribute, "value": slot.shown_value}
    return present(named)


def day_of(time: datetime) -> str:
    """Day of a time, in UTC."""
    return time.astimezone(UTC).date().isoformat()


class _Tokens(BaseModel):
    """Read a server's token counts.

    Anthropic counts input that its cache wrote or read separately.
    """

    input_tokens: int = Field(ge=0, validation_alias=AliasChoices("input_tokens", "prompt_tokens"))
    output_tokens: int = Field(
        ge=0, validation_alias=AliasChoices("output_tokens", "completion_tokens")
    )
    cache_creation_input_tokens: int | None = Field(default=None, ge=0)
    cache_read_input_tokens: int | None = Field(default=None, ge=0)


def usage_of(counted: object) -> Usage | None:
    """The cost of an answer; a count that makes no sense is left out."""
    try:
        tokens = _Tokens.model_validate(counted)
    except ValidationError:
        return None
    cached = (tokens.cache_creation_input_tokens or 0) + (tokens.cache_read_input_tokens or 0)
    return Usage(input_tokens=tokens.input_tokens + cached, output_tokens=tokens.output_tokens)


def summed(costs: list[Usage | None]) -> Usage | None:
    """The known costs of all calls together."""
    known = [cost for cost in costs if cost]
    if not known:
        return None
    return Usage(
        input_tokens=sum(cost.input_tokens for cost in known),
        output_tokens=sum(cost.output_tokens for cost in known),
    )


def opened(
    client: Callable[..., ClientT],
    http_client: Callable[..., Any],
    connection: Connection,
    usual_url: str,
    *,
    on_response: Sequence[Callable[[Any], Coroutine[Any, Any, None]]] = (),
    **other: Any,
) -> ClientT:
    """An SDK's client, which gives up at once if a server asks it to wait beyond the time-out.

    Args:
        client: the SDK's class of clients.
        http_client: the SDK's class of their HTTP clients.
        connection: the server.
        usual_url: the vendor's own address. It is always given, because an SDK takes an empty
            variable, such as OPENAI_BASE_URL, for an address; settings do not.
        on_response: is called with each response before the response is read.
        **other: further arguments of the client.
    """

    async def give_up(response: Any) -> None:
        if (_wait_seconds(response.headers) or 0) >= connection.timeout_seconds:
            response.headers["x-should-retry"] = "false"

    return client(
        api_key=connection.api_key,
        base_url=connection.base_url or usual_url,
        max_retries=connection.retries_max,
        timeout=connection.timeout_seconds,
        http_client=http_client(
            event_hooks={"response": [give_up, *on_response]},
            follow_redirects=False,  # the request and the key are for this server alone
        ),
        **other,
    )


def _turned_away(status: int, hint: str) -> str:
    if 300 <= status < 400:
        return f"it redirects, which is not followed; set base_url to the target (HTTP {status})"
    meaning = "the API failed" if status >= 500 else _STATUS_MEANINGS.get(status, "turned away")
    return f"{meaning} (HTTP {status}){f'; {hint}' if hint and status == 404 else ''}"


def _wait_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds that a reply asks to wait; None if it does not ask, or if the value makes no sense.

    Source: RFC 9110, 10.2.3, of which no API of models sends the date, and the SDKs, which prefer
    their own header in milliseconds.
    """
    for name, parts_of_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            wait = float(headers.get(name, "")) / parts_of_second
            if 0 < wait < math.inf:
                return min(wait, WAIT_SECONDS_MAX)
    return None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
