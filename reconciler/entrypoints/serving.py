"""Common parts of the commands that keep running: options, address, memory, log and stop.

Turns arguments into an address. The caller gives the application; the web server is imported when a
server starts. A command that runs until SIGTERM or Ctrl-C chooses the moment at which it ends. Only
the commands set up a log; the library itself never does.
"""

from __future__ import annotations

import atexit
import gc
import logging
import queue
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import reconciler
from reconciler.entrypoints.rendering import terminal
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.job_context import job_under_way
from reconciler.memory import Memory
from reconciler.reading.named_secrets import without_secrets
from reconciler.reading.visible_text import visible

if TYPE_CHECKING:
    from reconciler.serve.access.connections import Bounds
    from reconciler.serve.access.http_door import Address
    from reconciler.serve.access.tokens import TokenList
    from reconciler.settings import LogSettings

_LOG = logging.getLogger(__name__)

Tokens = Annotated[
    Path | None,
    typer.Option(
        "--tokens",
        help="The token file; default: the store with Neo4j, else in the user's data folder.",
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65_535)]
CallsPerMinute = Annotated[int, typer.Option(min=1)]
Worker = Annotated[
    bool | None,
    typer.Option(
        "--worker/--no-worker",
        help="Process queued conversations in this process; default: only with the embedded "
        "engine, which serves one process at a time.",
    ),
]


def address_of(
    host: str,
    port: int,
    names: list[str] | None,
    certificate: Path | None,
    key: Path | None,
    login_header: str | None = None,
) -> Address:
    """Return the address to listen on.

    Raises:
        InvalidRequestError: there is a certificate without a key, or a key without a certificate,
            or no header can have the name.
    """
    from reconciler.serve.access.http_door import Address

    if (certificate is None) is not (key is None):
        raise InvalidRequestError("give --tls-certificate and --tls-key together")
    if login_header is not None and not login_header.replace("-", "").isalnum():
        raise InvalidRequestError("--login-header must name a header, such as X-Forwarded-User")
    return Address(host, port, names or (), certificate, key, login_header)


def tokens_of(path: Path | None) -> TokenList:
    """Return the tokens of a file; with None those of the store, if several hosts share it.

    An embedded store serves one process, so there a file of the user's has them.

    Raises:
        GraphError: the store is unavailable, or of another schema.
    """
    from reconciler.resources import user_data_folder
    from reconciler.serve.access.tokens import StoreTokens, TokenFile

    settings = reconciler.load_settings()
    if path is not None or settings.graph == "embedded":
        return TokenFile(path or user_data_folder() / "tokens.json")
    from reconciler.bootstrap.chosen_models import open_graph
    from reconciler.service.stores.binding_store import BindingStore

    graph = open_graph(settings)
    atexit.register(graph.close)
    store = BindingStore(graph)
    store.check_schema_version()
    return StoreTokens(store)


@contextmanager
def open_memory(worker: bool | None) -> Iterator[Memory]:
    """Open the memory, with a worker if one is wanted: for handed-over sessions and webhooks."""
    with Memory.open(warm_up=True) as memory:
        if not (memory.settings.graph == "embedded" if worker is None else worker):
            yield memory
            return
        from reconciler.ops.webhooks import sending

        memory.start_worker()
        with sending(memory):
            yield memory


def serve(
    app_of: Callable[[Memory], Any],
    address: Address,
    tokens: TokenList,
    *,
    worker: bool | None,
    path: str = "",
    has_page: bool = False,
    bounds: Bounds | None = None,
    as_json: bool = False,
) -> None:
    """Serve an application until SIGTERM or Ctrl-C, and say where it listens.

    Args:
        app_of: makes the application of an open memory.
        address: the address to listen on.
        tokens: the tokens that let clients in.
        worker: whether this process reads handed-over sessions; None for what the engine needs.
        path: the path after the address in the message.
        has_page: whether there is a page for a person at /; then its address is printed too.
        bounds: the resources of a client without a good token; None for the usual ones.
        as_json: print the address as JSON.
    """
    from reconciler.serve.access.http_door import is_loopback, listen, serve_http, tls_of

    if not any(token.is_good(datetime.now(UTC)) for token in tokens.all()):
        _LOG.warning(
            "no good token is in %s, so no client is admitted; `reconciler token create`, with the "
            "same --tokens, makes one",
            without_secrets(tokens.place),
        )
    if address.certificate is None and not is_loopback(address.host):
        _LOG.warning(
            "tokens and what is known of contacts go over the network unencrypted; give "
            "--tls-certificate and --tls-key, or listen on 127.0.0.1 behind a proxy with TLS"
        )
    tls_of(address)  # a useless certificate is told before anything is opened
    with open_memory(worker) as memory, listen(address) as bound:
        port = bound.getsockname()[1]
        scheme = "http" if address.certificate is None else "https"
        root = f"{scheme}://{address.host_in_url}:{port}"
        if as_json:
            typer.echo(f'{{"url": "{root}{path}"}}')
        else:
            terminal().print(f"Serving at {root}{path}", soft_wrap=True)
            if has_page:
                terminal().print(f"The page for a browser is at {root}/", soft_wrap=True)
        app = app_of(memory)
        leave_loaded_alone()
        serve_http(app, address, bound, bounds)


def leave_loaded_alone() -> None:
    """Take all that is loaded out of garbage collections: a full one stops all calls for 50 ms."""
    gc.collect()
    gc.freeze()


def check_installed(needed: str, *modules: str) -> None:
    """Check that the libraries of a server are installed.

    Raises:
        ConfigurationError: a library is missing; ``needed`` says what to do.
    """
    try:
        for module in modules:
            import_module(module)
    except ImportError as error:
        raise ConfigurationError(needed) from error


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Waits for a signal to stop, or for another thread to end the wait.

    A simple queue, because a handler interrupts its own thread, which may hold an event's lock.

    Attributes:
        number: the signal that came; None so far.
    """

    def __init__(self) -> None:
        self._woken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.number: int | None = None

    def take(self, number: int, _: object) -> None:
        """Handle a signal; a second one ends the process at once."""
        self.number = number
        for signal_number in _SIGNALS:
            signal.signal(signal_number, signal.SIG_DFL)
        self.wake()

    def wake(self) -> None:
        """End the wait; may be called from any thread."""
        self._woken.put(None)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the time-out or until it is woken; true if a signal came."""
        if self.number is None:
            with suppress(queue.Empty):
                self._woken.get(timeout=timeout_seconds)
        return self.number is not None


@contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Keep signals to stop, instead of ending the process, while the block runs."""
    asked = StopSignals()
    before = {number: signal.signal(number, asked.take) for number in _SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def quiet_the_driver() -> None:
    """Leave out the driver's messages about an unavailable server, one for each attempt.

    Our own error says it once, with the remedy. A level that is set for the driver is kept.
    """
    logger = logging.getLogger("neo4j")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)


@contextmanager
def logging_to_stderr(level: int, settings: LogSettings, *others: str) -> Iterator[None]:
    """Print log records on standard error while the block runs.

    It changes only the loggers of this package and those named: a reader who wants details of this
    package does not want every packet of the driver and of HTTP.

    Args:
        level: the lowest level of our records; a level in the settings replaces it.
        settings: the format and the level.
        *others: loggers of libraries, of which warnings are printed.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings))
    handler.addFilter(_name_the_job)
    if settings.level is not None:
        level = logging.getLevelNamesMapping()[settings.level.upper()]
    loggers = {logging.getLogger(name): logging.WARNING for name in others}
    loggers[logging.getLogger("reconciler")] = level
    before = {logger: logger.level for logger in loggers}
    for logger, chosen in loggers.items():
        logger.addHandler(handler)
        logger.setLevel(chosen)
    try:
        yield
    finally:
        for logger, chosen in before.items():
            logger.setLevel(chosen)
            logger.removeHandler(handler)


def _name_the_job(record: logging.LogRecord) -> bool:
    """Give a record the id of the job that the process works on."""
    if (job_id := job_under_way()) is not None:
        record.job_id = job_id
    return True


class _PlainFormatter(logging.Formatter):
    """One line for each record; an error may quote any answer of a server."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        job_id = getattr(record, "job_id", None)
        if job_id is not None and job_id not in record.message:
            record.message = f"job {job_id}: {record.message}"
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _formatter(settings: LogSettings) -> logging.Formatter:
    if settings.format == "text":
        return _PlainFormatter("%(asctime)s %(levelname)-7s %(message)s")
    from pythonjsonlogger.json import JsonFormatter

    return JsonFormatter(
        "%(message)s %(name)s %(levelname)s",
        rename_fields={"levelname": "level", "name": "logger"},
        timestamp=True,
        json_ensure_ascii=True,
    )
