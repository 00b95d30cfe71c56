"""Common parts of the commands that serve over HTTP: options, the address, and the memory.

Turns arguments into an address. The caller gives the application; the web server is imported when
one starts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconciler.entrypoints.rendering import terminal
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.memory import Memory
from reconciler.named_secrets import without_secrets

if TYPE_CHECKING:
    from reconciler.entrypoints.access.connections import Bounds
    from reconciler.entrypoints.access.http_door import Address
    from reconciler.entrypoints.access.tokens import TokenFile

_LOG = logging.getLogger(__name__)

Tokens = Annotated[
    Path | None,
    typer.Option("--tokens", help="The token file; default: in the user's data folder."),
]
Port = Annotated[int, typer.Option(min=0, max=65_535)]
CallsPerMinute = Annotated[int, typer.Option(min=1)]
HealthSeconds = Annotated[int, typer.Option(min=0)]
Worker = Annotated[
    bool | None,
    typer.Option(
        "--worker/--no-worker",
        help="Process queued conversations in this process; default: only with the embedded "
        "engine, which serves one process at a time.",
    ),
]


def address_of(
    host: str, port: int, names: list[str] | None, certificate: Path | None, key: Path | None
) -> Address:
    """The address to listen on.

    Raises:
        InvalidRequestError: a certificate without a key, or the other way around.
    """
    from reconciler.entrypoints.access.http_door import Address

    if (certificate is None) is not (key is None):
        raise InvalidRequestError("give --tls-certificate and --tls-key together")
    return Address(host=host, port=port, names=names or (), certificate=certificate, key=key)


def token_file(path: Path | None) -> TokenFile:
    """The file of tokens; None for the user's."""
    from reconciler.entrypoints.access.tokens import TokenFile
    from reconciler.resources import user_data_folder

    return TokenFile(path or user_data_folder() / "tokens.json")


@contextmanager
def open_memory(worker: bool | None) -> Iterator[Memory]:
    """The memory, with a thread that reads handed-over sessions if one is wanted."""
    with Memory.open(warm_up=True) as memory:
        if memory.settings.graph == "embedded" if worker is None else worker:
            memory.start_worker()
        yield memory


def serve(
    app_of: Callable[[Memory], Any],
    address: Address,
    tokens: TokenFile,
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
        address: where to listen.
        tokens: the tokens that let clients in.
        worker: whether this process reads handed-over sessions; None for what the engine needs.
        path: the path after the address in the message.
        has_page: whether a person finds a page at /, so that its address is told too.
        bounds: the resources of a client without a good token; None for the usual ones.
        as_json: tell the address as JSON.
    """
    from reconciler.entrypoints.access.http_door import is_loopback, listen, serve_http, tls_of

    if not any(token.is_good(datetime.now(UTC)) for token in tokens.all()):
        _LOG.warning(
            "no good token is in %s, so no client is admitted; `reconciler token create`, with the "
            "same --tokens, makes one",
            without_secrets(str(tokens.path)),
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
        host = f"[{address.host}]" if ":" in address.host else address.host
        root = f"{scheme}://{host}:{port}"
        if as_json:
            typer.echo(f'{{"url": "{root}{path}"}}')
        else:
            terminal().print(f"Serving at {root}{path}", soft_wrap=True)
            if has_page:
                told = f"The page for a browser is at {root}/"
                terminal().print(told, soft_wrap=True)
        serve_http(app_of(memory), address, bound, bounds)


def check_installed(needed: str, *modules: str) -> None:
    """Check that the libraries of a server are installed.

    Raises:
        ConfigurationError: one is not; ``needed`` says what to do.
    """
    try:
        for module in modules:
            import_module(module)
    except ImportError as error:
        raise ConfigurationError(needed) from error
