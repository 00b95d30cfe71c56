"""The commands for other programs: serve memory to MCP clients and over HTTP, tokens, changes.

Turns arguments into a grant, an address, a token or a cursor. SDK and web framework are imported
when a server starts.
"""

from __future__ import annotations

import logging
import re
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import typer

import reconciler
from reconciler import ops
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    Limit,
    MaybeContactId,
    Tenant,
    add_commands,
    parse_time,
    print_json,
    reading,
    show,
)
from reconciler.entrypoints.rendering import lines, listed, record_panel, terminal
from reconciler.entrypoints.serving import (
    CallsPerMinute,
    Port,
    Tokens,
    Worker,
    address_of,
    check_installed,
    leave_loaded_alone,
    logging_to_stderr,
    open_memory,
    serve,
    stop_signals,
    tokens_of,
)
from reconciler.errors import InvalidRequestError
from reconciler.memory import Memory
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.wording import json_text

_EXTRA = (
    "reconciler mcp needs the MCP SDK: "
    "pip install 'mcp>=2.3,<3' 'starlette>=1.0,<2' 'uvicorn>=0.40,<1'"
)
_POLL_SECONDS = 1.0
_DAYS = re.compile(r"(\d{1,5})d")
_LIBRARIES = ("mcp", "uvicorn", "asyncio")

Agents = Annotated[
    list[str], typer.Option("--agent", help="An agent that it gives access to; repeat for several.")
]
ProfileOption = Annotated[
    AccessProfile,
    typer.Option(
        help="agent adds and recalls; auditor reads; reviewer also answers; operator does all."
    ),
]


token_app = typer.Typer(
    no_args_is_help=True,
    help="Manage the tokens of `reconciler serve`, and of `reconciler mcp` over HTTP.",
)


def mcp(
    agents: Annotated[list[str] | None, typer.Option("--agent")] = None,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    session: str | None = None,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: Port = 8765,
    name: list[str] | None = None,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
    tokens: Tokens = None,
    calls_per_minute: CallsPerMinute = 300,
    worker: Worker = None,
    as_json: AsJson = False,
) -> None:
    """Serve memory to MCP clients until SIGTERM, Ctrl-C or the end of input.

    On stdio there is one client; --agent and --contact say what it may access. Over
    HTTP, its token does: see `reconciler token`. With --json, one line says where it listens.

    Options:
        agents: on stdio: the agent that the memory belongs to; repeat for several.
        session: on stdio: the id of the session that notes and turns belong to.
        transport: how clients connect.
        host: over HTTP: the address to listen on.
        port: over HTTP: the port to listen on; 0 picks a free one.
        name: over HTTP: a host name that clients use for this server; repeat for several.
        tls_certificate: over HTTP: the TLS certificate chain, a PEM file.
        tls_key: over HTTP: the TLS private key, a PEM file.
        calls_per_minute: over HTTP: how many requests a minute each token may make.
    """
    with logging_to_stderr(logging.WARNING, reconciler.load_settings().log, *_LIBRARIES):
        check_installed(_EXTRA, "mcp", "mcp_types", "uvicorn")
        from reconciler.serve.mcp_server.desk import Desk

        if transport == "stdio":
            from reconciler.serve.mcp_server.protocol import serve_stdio

            grant = _grant(AccessProfile.AGENT, tenant, agents or [], contact, "agent", session)
            with open_memory(worker) as memory:
                leave_loaded_alone()
                serve_stdio(Desk(memory), grant, memory.close)
            return
        if agents or contact or session:
            raise InvalidRequestError(
                "over HTTP the token decides who may access what: leave out --agent, --contact "
                "and --session here, and give them to `reconciler token create`"
            )
        from reconciler.serve.mcp_server.streamable_http import PATH, http_app

        address, known = address_of(host, port, name, tls_certificate, tls_key), tokens_of(tokens)
        serve(
            lambda memory: http_app(
                Desk(memory), known, address, calls_per_minute=calls_per_minute
            ),
            address,
            known,
            worker=worker,
            path=PATH,
            as_json=as_json,
        )


def create(
    agents: Agents,
    profile: ProfileOption = AccessProfile.AGENT,
    contact: MaybeContactId = None,
    name: str | None = None,
    session: str | None = None,
    expires: str | None = None,
    tenant: Tenant = None,
    tokens: Tokens = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it once; only its hash is kept.

    Options:
        name: the owner's name; an operator's answers are recorded under it; default: the profile's.
        session: the id of the session that notes and turns belong to.
        expires: when it expires: ISO 8601 with a zone, or days such as 90d; default: never.
    """
    grant = _grant(profile, tenant, agents, contact, name or str(profile), session)
    made, secret = tokens_of(tokens).create(grant, _expiry(expires))
    if as_json:
        print_json({"token": secret, **made.to_dict(datetime.now(UTC))})
        return
    typer.echo(secret)
    in_file = f" --tokens {shlex.quote(str(tokens))}" if tokens else ""
    terminal(stderr=True).print(
        f"Token {made.token_id} is not shown again; clients send it as `Authorization: Bearer …`. "
        f"Revoke it with `reconciler token revoke {made.token_id}{in_file}`.",
        soft_wrap=True,
    )


def list_tokens(tokens: Tokens = None, as_json: AsJson = False) -> None:
    """List the tokens and what each may access; the tokens themselves are never shown."""
    now = datetime.now(UTC)
    if tokens is not None and not tokens.exists():
        raise InvalidRequestError(f"file {tokens} does not exist")
    known = [token.to_dict(now) for token in tokens_of(tokens).all()]
    shown = listed(lambda each: record_panel(each, each["id"]), known, "There is no token.")
    show(as_json, known, lambda _: shown)


def revoke(token_id: str, tokens: Tokens = None, as_json: AsJson = False) -> None:
    """Revoke a token; a running server rejects the next request that uses it.

    Options:
        token_id: the token's id, as `reconciler token list` prints it.
    """
    revoked = tokens_of(tokens).revoke(token_id)
    show(as_json, revoked.to_dict(datetime.now(UTC)), lambda _: f"Revoked: {revoked.token_id}")


add_commands(token_app, {"create": create, "list": list_tokens, "revoke": revoke})


def _grant(
    profile: AccessProfile,
    tenant: str | None,
    agents: Sequence[str],
    contact: str | None,
    name: str,
    session: str | None,
) -> Grant:

    return Grant(
        profile=profile,
        tenant=reconciler.load_settings().tenant if tenant is None else tenant,
        agent_ids=tuple(dict.fromkeys(agents)),
        contact_id=contact,
        name=name,
        session_id=session,
    )


def _expiry(given: str | None) -> datetime | None:
    """Return the time when a token expires.

    Raises:
        InvalidNoteError: it cannot be read.
    """
    if given is not None and (days := _DAYS.fullmatch(given)):
        return datetime.now(UTC) + timedelta(days=int(days[1]))
    return parse_time("--expires", given)


_SERVE_EXTRA = (
    "reconciler serve needs FastAPI: "
    "pip install 'fastapi>=0.165,<1' 'starlette>=1.0,<2' 'uvicorn>=0.40,<1'"
)


def serve_api(
    host: str = "127.0.0.1",
    port: Port = 8766,
    name: list[str] | None = None,
    tls_certificate: Path | None = None,
    tls_key: Path | None = None,
    login_header: str | None = None,
    tokens: Tokens = None,
    calls_per_minute: CallsPerMinute = 3_000,
    worker: Worker = None,
    as_json: AsJson = False,
) -> None:
    """Serve memory over HTTP, as JSON under /v1 and as a page at /, until SIGTERM or Ctrl-C.

    What a client may access, its token says: see `reconciler token`. With --json, one line says
    where it listens.

    Options:
        host: the address to listen on.
        port: the port to listen on; 0 picks a free one.
        name: a host name that clients use for this server; repeat for several.
        tls_certificate: the TLS certificate chain, a PEM file.
        tls_key: the TLS private key, a PEM file.
        login_header: the header in which a proxy on this machine names who is logged in to the
            page; a token with that --name says what the person may do.
        calls_per_minute: how many requests a minute each token may make.
    """
    with logging_to_stderr(logging.WARNING, reconciler.load_settings().log, "uvicorn", "asyncio"):
        check_installed(_SERVE_EXTRA, "fastapi", "uvicorn")
        from reconciler.serve.http_api.app import BOUNDS, serve_app

        address = address_of(host, port, name, tls_certificate, tls_key, login_header)
        known = tokens_of(tokens)
        serve(
            lambda memory: serve_app(memory, known, address, calls_per_minute=calls_per_minute),
            address,
            known,
            worker=worker,
            path="/v1",
            has_page=True,
            bounds=BOUNDS,
            as_json=as_json,
        )


def changes(
    agent: Agent,
    after: str | None = None,
    limit: Limit = 50,
    follow: bool = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """List every decision and erasure of an agent, in one order; with --json, one line each.

    Options:
        after: the cursor of the last change that was read; default: begin with the first.
        follow: go on with all further changes, until SIGTERM or Ctrl-C.
    """
    with stop_signals() as asked, reading(agent, None, tenant) as memory:
        while asked.number is None:
            some = memory.agent(agent, tenant=tenant).changes(after=after, limit=limit)
            for change in some:
                after = change.cursor
                if as_json:
                    sys.stdout.write(json_text(change) + "\n")
                    sys.stdout.flush()
                else:
                    terminal().print(record_panel(change, change.decision_id))
            if not follow or (not some and asked.wait(_POLL_SECONDS)):
                break


def resend(name: str, as_json: AsJson = False) -> None:
    """Send a webhook's dead letters again; exit code 1 if one was not taken.

    Options:
        name: the webhook's name in the settings.
    """
    with Memory.open(must_exist=True) as memory:
        left = ops.resend(memory, name)
    told = [f"{each.event_id}: {each.error}" for each in left]
    show(as_json, left, lambda _: lines(*told or ["All were taken."]))
    if left:
        sys.exit(1)


COMMANDS = {
    "mcp": mcp,
    "serve": serve_api,
    "token": token_app,
    "changes": changes,
    "resend": resend,
}
"""The commands of this module, by name."""
