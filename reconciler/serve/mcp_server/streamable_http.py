"""The MCP server over streamable HTTP: the protocol's application behind ``access``.

Each request is independent: no session is kept, so none can be hijacked. No stream stays open;
requests other than POST are refused.
"""

from __future__ import annotations

from typing import Any

from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST
from starlette.types import ASGIApp

from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.access.http_door import GRANT, Address, NameDoor, TokenDoor
from reconciler.serve.access.tokens import TokenList
from reconciler.serve.mcp_server.desk import Desk
from reconciler.serve.mcp_server.protocol import Calls, mcp_server

PATH = "/mcp"
_NOT_AN_AGENTS = (
    "this token is a person's, which opens the page and the HTTP API; for an MCP client make one "
    "with the profile agent"
)


def http_app(desk: Desk, tokens: TokenList, address: Address, *, calls_per_minute: int) -> ASGIApp:
    """Make the server as an ASGI application, to run in a server of your own.

    Args:
        desk: answers the requests.
        tokens: the tokens that are let in.
        address: the host names that clients may use.
        calls_per_minute: how many requests each token may make.
    """
    server = mcp_server(desk, _grant, Calls())
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        # NameDoor has checked the names.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        host=address.host,
    )
    door = TokenDoor(app, tokens, calls_per_minute=calls_per_minute, methods=("POST",))
    return NameDoor(door, address.hosts)


def _grant(ctx: Any) -> Grant:
    """Return the grant of a request's token.

    Raises:
        MCPError: the token is a person's.
    """
    grant: Grant = ctx.request.scope[GRANT]
    if grant.profile is not AccessProfile.AGENT:
        raise MCPError(INVALID_REQUEST, _NOT_AN_AGENTS)
    return grant
