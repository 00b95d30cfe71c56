"""The commands that serve memory to MCP clients, and that make and revoke their tokens.

Turns arguments into a grant, an address or a token. The SDK is imported when a server starts.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconciler.entrypoints.logs import logging_to_stderr
from reconciler.entrypoints.mcp_server.grants import AccessProfile, Grant
from reconciler.entrypoints.options import (
    AsJson,
    MaybeContactId,
    Tenant,
    parse_time,
    print_json,
    show,
)
from reconciler.entrypoints.rendering import lines, shown, table, terminal, word_column
from reconciler.errors import ConfigurationError, InvalidNoteError, InvalidRequestError
from reconciler.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text

    from reconciler.entrypoints.mcp_server.http_door import Address
    from reconciler.entrypoints.mcp_server.tokens import AccessToken, TokenFile

__all__ = ["add_mcp_commands"]

_EXTRA = (
    "reconciler mcp needs the MCP SDK: "
    "pip install 'mcp>=2.3,<3' 'starlette>=1.0,<2' 'uvicorn>=0.40,<1'"
)
_TOKEN_ID_WIDTH = 8
_DAYS = re.compile(r"(\d{1,5})d")
_LIBRARIES = ("mcp", "uvicorn", "asyncio")
_LOG = logging.getLogger(__name__)

Agents = Annotated[
    list[str], typer.Option("--agent", help="An agent that it gives access to; repeat for several.")
]
ProfileOption = Annotated[
    AccessProfile,
    typer.Option(help="agent adds and recalls; operator answers questions and inspects."),
]
Tokens = Annotated[
    Path | None,
    typer.Option("--tokens", help="The token file; default: in the user's data folder."),
]


class Transport(StrEnum):
    """How clients connect."""

    STDIO = "stdio"
    HTTP = "http"


token_app = typer.Typer(
    no_args_is_help=True, help="Manage the tokens for `reconciler mcp` over HTTP."
)


def add_mcp_commands(app: typer.Typer) -> None:
    """Give the command line the commands of this module."""
    app.command()(mcp)
    app.add_typer(token_app, name="token")


def mcp(
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent", help="On stdio: the agent that the memory belongs to; repeat for several."
        ),
    ] = None,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    profile: ProfileOption = AccessProfile.AGENT,
    operator: Annotated[
        str, typer.Option(help="On stdio: the name under which an operator's answers are recorded.")
    ] = "operator",
    session: Annotated[
        str | None,
        typer.Option(help="On stdio: the id of the session that notes and turns belong to."),
    ] = None,
    transport: Annotated[Transport, typer.Option(help="How clients connect.")] = Transport.STDIO,
    host: Annotated[str, typer.Option(help="Over HTTP: the address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65_535, help="Over HTTP: the port to listen on; 0 picks a free one."
        ),
    ] = 8765,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help="Over HTTP: a host name that clients use for this server; repeat for several.",
        ),
    ] = None,
    tls_certificate: Annotated[
        Path | None,
        typer.Option("--tls-certificate", help="Over HTTP: the TLS certificate chain, a PEM file."),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="Over HTTP: the TLS private key, a PEM file.")
    ] = None,
    tokens: Tokens = None,
    calls_per_minute: Annotated[
        int, typer.Option(min=1, help="Over HTTP: how many requests a minute each token may make.")
    ] = 300,
    worker: Annotated[
        bool | None,
        typer.Option(
            "--worker/--no-worker",
            help="Process queued conversations in this process; default: only with the embedded "
            "engine, which serves one process at a time.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve memory to MCP clients until SIGTERM, Ctrl-C or the end of input.

    On stdio there is one client; --agent, --contact and --profile say what it may access. Over
    HTTP, its token does: see `reconciler token`. With --json, one line says where it listens.
    """
    from reconciler.settings import load_settings

    with logging_to_stderr(logging.WARNING, load_settings().log, *_LIBRARIES):
        if transport is Transport.STDIO:
            grant = _grant(profile, tenant, agents or [], contact, operator, session)
            _check_can_serve()
            _serve_stdio(grant, worker)
            return
        if agents or contact or session:
            raise InvalidRequestError(
                "over HTTP the token decides who may access what: omit --agent, --contact and "
                "--session here, and give them to `reconciler token create`"
            )
        _check_can_serve()
        from reconciler.entrypoints.mcp_server.http_door import Address

        if (tls_certificate is None) is not (tls_key is None):
            raise InvalidRequestError("give --tls-certificate and --tls-key together")
        address = Address(
            host=host, port=port, names=names or (), certificate=tls_certificate, key=tls_key
        )
        _serve_http(address, _token_file(tokens), calls_per_minute, worker, as_json)


def _serve_stdio(grant: Grant, worker: bool | None) -> None:
    from reconciler.entrypoints.mcp_server.desk import Desk
    from reconciler.entrypoints.mcp_server.stdio import serve_stdio

    with _open(worker) as memory:
        serve_stdio(Desk(memory), grant, memory.close)


def _serve_http(
    address: Address, tokens: TokenFile, calls_per_minute: int, worker: bool | None, as_json: bool
) -> None:
    from reconciler.entrypoints.mcp_server.desk import Desk
    from reconciler.entrypoints.mcp_server.http_door import PATH, is_loopback, listen, serve_http

    if not any(token.is_good(datetime.now(UTC)) for token in tokens.all()):
        _LOG.warning("no token exists, so no client is admitted; see `reconciler token create`")
    if address.certificate is None and not is_loopback(address.host):
        _LOG.warning(
            "tokens and what is known of contacts go over the network unencrypted; give "
            "--tls-certificate and --tls-key, or listen on 127.0.0.1 behind a proxy with TLS"
        )
    with _open(worker) as memory, listen(address) as bound:
        port = bound.getsockname()[1]
        scheme = "http" if address.certificate is None else "https"
        host = f"[{address.host}]" if ":" in address.host else address.host
        url = f"{scheme}://{host}:{port}{PATH}"
        if as_json:
            typer.echo(f'{{"url": "{url}"}}')
        else:
            terminal().print(f"Serving at {url}", markup=False, soft_wrap=True)
        serve_http(Desk(memory), tokens, address, bound, calls_per_minute=calls_per_minute)


@contextmanager
def _open(worker: bool | None) -> Iterator[Memory]:
    """The memory, with a thread that reads conversations if it is wanted."""
    with Memory.open(warm_up=True) as memory:
        if memory.settings.graph == "embedded" if worker is None else worker:
            memory.start_worker()
        yield memory


def _check_can_serve() -> None:
    """Check that the libraries of the server are installed.

    Raises:
        ConfigurationError: one is not installed.
    """
    try:
        import mcp.server.lowlevel  # noqa: F401
        import mcp_types  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(_EXTRA) from error


@token_app.command()
def create(
    agents: Agents,
    profile: ProfileOption = AccessProfile.AGENT,
    contact: MaybeContactId = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The owner's name; an operator's answers are recorded under it; default: the "
            "profile's."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="The id of the session that notes and turns belong to.")
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            help="When it expires: ISO 8601 with a zone, or days such as 90d; default: never."
        ),
    ] = None,
    tenant: Tenant = None,
    tokens: Tokens = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it once; only its hash is kept."""
    grant = _grant(profile, tenant, agents, contact, name or str(profile), session)
    made, secret = _token_file(tokens).create(grant, _expiry(expires))
    if as_json:
        print_json({"token": secret, **made.to_dict(datetime.now(UTC))})
        return
    typer.echo(secret)
    terminal(stderr=True).print(
        f"Token {made.token_id} is not shown again; clients send it as `Authorization: Bearer …`. "
        f"Revoke it with `reconciler token revoke {made.token_id}`.",
        markup=False,
    )


@token_app.command("list")
def list_tokens(tokens: Tokens = None, as_json: AsJson = False) -> None:
    """List the tokens and what each may access; the tokens themselves are never shown."""
    now = datetime.now(UTC)
    found = _token_file(tokens).all()
    show(as_json, [token.to_dict(now) for token in found], lambda: _tokens_table(found, now))


@token_app.command()
def revoke(
    token_id: Annotated[
        str, typer.Argument(help="The token's id, as `reconciler token list` prints it.")
    ],
    tokens: Tokens = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a token; a running server rejects the next request that uses it."""
    found = _token_file(tokens).revoke(token_id)
    show(as_json, found.to_dict(datetime.now(UTC)), lambda: f"Revoked: {found.token_id}")


def _grant(
    profile: AccessProfile,
    tenant: str | None,
    agents: Sequence[str],
    contact: str | None,
    name: str,
    session: str | None,
) -> Grant:
    from reconciler.settings import load_settings

    return Grant(
        profile=profile,
        tenant=load_settings().tenant if tenant is None else tenant,
        agent_ids=tuple(dict.fromkeys(agents)),
        contact_id=contact,
        name=name,
        session_id=session,
    )


def _token_file(path: Path | None) -> TokenFile:
    from reconciler.entrypoints.mcp_server.tokens import TokenFile
    from reconciler.resources import user_data_folder

    return TokenFile(path or user_data_folder() / "tokens.json")


def _expiry(given: str | None) -> datetime | None:
    """The time when a token expires.

    Raises:
        InvalidRequestError: it cannot be read.
    """
    if given is not None and (days := _DAYS.fullmatch(given)):
        return datetime.now(UTC) + timedelta(days=int(days[1]))
    try:
        return parse_time("--expires", given)
    except InvalidNoteError:
        raise InvalidRequestError(
            f"--expires {given!r} is neither a number of days, such as 90d, nor an ISO 8601 time "
            "with a zone, such as 2027-01-01T00:00:00+00:00"
        ) from None


def _tokens_table(tokens: Sequence[AccessToken], now: datetime) -> Table:
    made = table("Tokens")
    made.add_column("id", min_width=_TOKEN_ID_WIDTH)
    word_column(made, "name", (token.grant.name for token in tokens))
    word_column(made, "profile", (str(token.grant.profile) for token in tokens))
    made.add_column("opens", overflow="fold")
    made.add_column("state", no_wrap=True)
    for token in tokens:
        until = f"until {token.expires_at:%Y-%m-%d}" if token.expires_at else "for ever"
        made.add_row(
            token.token_id,
            shown(token.grant.name),
            str(token.grant.profile),
            _opened_by(token.grant),
            lines(shown(token.state(now)), shown(until, "dim")),
        )
    return made


def _opened_by(grant: Grant) -> Text:
    """The agents and the contact that a token opens, one a line."""
    return lines(
        shown(f"tenant {grant.tenant}"),
        *(shown(f"agent {agent_id}") for agent_id in grant.agent_ids),
        shown(f"contact {grant.contact_id}" if grant.contact_id else "any contact"),
    )
