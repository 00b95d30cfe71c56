"""The application of the page: its addresses, its doors, the login, and errors in words.

The doors are those of the API: they check host names, rates and the number of running requests.
Instead of a bearer token a browser sends the secret of its login, in a cookie.
"""

from __future__ import annotations

import secrets

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reconciler.frozen import StringMap, in_order
from reconciler.memory import Memory
from reconciler.serve.access.grants import AccessProfile
from reconciler.serve.access.http_door import (
    GRANT,
    Address,
    BodyDoor,
    NameDoor,
    Rates,
    TokenDoor,
    is_loopback,
)
from reconciler.serve.access.problems import Problem, telling
from reconciler.serve.access.tokens import TokenList
from reconciler.serve.operator_page.acts import FORMS, READS
from reconciler.serve.operator_page.views import PAGES
from reconciler.serve.operator_page.visits import (
    FORM_KEY,
    LOGGED_IN,
    Logins,
    NotDoneError,
    act,
    address as address_of,
    form_key_of,
    form_of,
    is_from_here,
    page,
    same,
    text_of,
    view,
)

_BODY_BYTES_MAX = 256 * 1024
_LOGIN_BYTES_MAX = 4 * 1024
_ONWARDS_MAX = 1_000
_AT_ONCE_MAX = 60
_WRONG_TOKENS_PER_MINUTE = 10
_STRANGERS_PER_MINUTE = 60
"""The number of requests that an address may send without a login; each is redirected to the login
form."""
_LOGIN = "/login"
_FILES = {"/page.css": "text/css", "/page.js": "text/javascript", "/icon.svg": "image/svg+xml"}
_OPEN_PATHS = frozenset({_LOGIN, *_FILES})
_HEADERS: StringMap = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_OVER = (
    "Your login is over, so log in again. A login lasts 12 hours, and ends sooner if the server "
    "was restarted or the token was revoked."
)

_UNNAMED = (
    "You are logged in, but no token here has your name. An operator makes one with `reconciler "
    "token create`: --name is the name that the proxy sends, --profile says what you may do."
)


def operator_page(
    memory: Memory, tokens: TokenList, address: Address, *, calls_per_minute: int
) -> ASGIApp:
    """Make the page as an ASGI application.

    Args:
        memory: the memory; its opener closes it.
        tokens: the tokens that may log in.
        address: the host names that clients may use, and whether connections are encrypted.
        calls_per_minute: how many requests each token may make.
    """
    logins = Logins(tokens)
    login = _LoginDoor(tokens, logins, address)
    inside = TokenDoor(
        BodyDoor(_inside(memory, login), _BODY_BYTES_MAX, _refuse),
        logins,
        calls_per_minute=calls_per_minute,
        wrong_per_minute=_STRANGERS_PER_MINUTE,
        at_once_max=_AT_ONCE_MAX,
        per_token_max=_AT_ONCE_MAX // 4,
        presented=login.secret_of,
        refuse=_refuse,
    )
    outside = BodyDoor(_outside(login), _LOGIN_BYTES_MAX, _refuse)

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        await (outside if scope["path"] in _OPEN_PATHS else inside)(scope, receive, send)

    return _Guarded(NameDoor(either, address.hosts, refuse=_refuse))


def _inside(memory: Memory, login: _LoginDoor) -> Starlette:
    """Return the routes for people who are logged in."""
    reads = [Route(path, view(look)) for path, look in (*PAGES.items(), *READS.items())]
    writes = [Route(path, act(do), methods=["POST"]) for path, do in FORMS.items()]
    leave = Route("/logout", login.leave, methods=["POST"])
    app = Starlette(routes=[*reads, *writes, leave], exception_handlers=_TOLD)
    app.state.memory = memory
    app.state.secret_of = login.secret_of
    return app


def _outside(login: _LoginDoor) -> Starlette:
    """Return the routes for all: the login, and the files of the pages."""
    files = [Route(path, _file) for path in _FILES]
    routes = [Route(_LOGIN, login.ask), Route(_LOGIN, login.enter, methods=["POST"])]
    return Starlette(routes=[*routes, *files], exception_handlers=_TOLD)


class _LoginDoor:
    """Logs a person in with the token of an operator, and out again.

    Args:
        tokens: says which tokens are valid.
        logins: the open logins.
        address: whether the server has a certificate, and which header names a person.
    """

    def __init__(self, tokens: TokenList, logins: Logins, address: Address) -> None:
        self._tokens = tokens
        self._logins = logins
        self._login_header = address.login_header
        self._is_encrypted = is_encrypted = address.certificate is not None
        self._cookie = "__Host-reconciler" if is_encrypted else "reconciler"
        self._key_name = f"{self._cookie}_login"
        self._wrong = Rates(_WRONG_TOKENS_PER_MINUTE)

    def secret_of(self, request: HTTPConnection) -> str | None:
        """Secret of the login that a request belongs to; None without one.

        If a proxy on this machine logs persons in, its header names the person.
        """
        is_local = request.client is not None and is_loopback(request.client.host)
        if self._login_header and is_local:
            named = request.headers.getlist(self._login_header)
            return LOGGED_IN + named[0] if len(named) == 1 else None
        secret = request.cookies.get(self._cookie)
        return None if secret is None or secret.startswith(LOGGED_IN) else secret

    async def ask(self, request: Request) -> Response:
        """Show a form that asks for a token; it says so if a login has ended."""
        secret = self.secret_of(request)
        told = _OVER if secret and self._logins.find(secret) is None else None
        if told and self._login_header:
            told = _UNNAMED
        return self._form(request, _local(request.query_params.get("next")), told)

    async def enter(self, request: Request) -> Response:
        """Open a login for a valid token of an operator."""
        given = form_of(await request.body())
        wanted, status, told = request.cookies.get(self._key_name), 403, None
        onwards = _local(given.get("next"))
        token = await run_in_threadpool(self._tokens.find, (given.get("token") or "").strip())
        if wanted is None or not same(given.get(FORM_KEY), wanted) or not is_from_here(request):
            told = "Please send the form once more."
        elif token is None:
            told = "This token is not valid here. It may be mistyped, expired or revoked."
            if self._wrong.wait_seconds(request.client.host if request.client else "") > 0:
                status, told = 429, "Too many wrong tokens. Wait a minute, then try again."
        elif token.grant.profile is AccessProfile.AGENT:
            told = "This is an agent's token. The page needs an operator's."
        if token is None or told:
            return self._form(request, onwards, told, status)
        entered = RedirectResponse(onwards, 303)
        self._logins.close(self.secret_of(request) or "")  # the browser forgets it now
        self._set(entered, request, self._cookie, self._logins.open(token))
        return entered

    async def leave(self, request: Request) -> Response:
        """End the login, so that its cookie is no longer valid."""
        given = form_of(await request.body())
        if not same(given.get(FORM_KEY), form_key_of(request)):
            raise NotDoneError(403, "this form does not come from this login; load the page again")
        self._logins.close(self.secret_of(request) or "")
        left = RedirectResponse(_LOGIN, 303)
        left.delete_cookie(self._cookie, secure=self._is_encrypted, httponly=True)
        return left

    def _form(
        self, request: Request, onwards: str, told: str | None, status: int = 200
    ) -> Response:
        """Make the form; its key is in a cookie too, so that no other site can log a person in."""
        key = request.cookies.get(self._key_name) or secrets.token_urlsafe(32)
        asked = page("login.html", status, form_key=key, next=onwards, told=told)
        self._set(asked, request, self._key_name, key)
        return asked

    def _set(self, answer: Response, request: Request, name: str, value: str) -> None:
        """Set a cookie that no script can read, and that requests from other sites do not carry.

        Behind a proxy with TLS only the browser says that the connection is encrypted.
        """
        origin = request.headers.get("origin") or ""
        is_secure = self._is_encrypted or origin.startswith("https://")
        answer.set_cookie(name, value, path="/", secure=is_secure, httponly=True, samesite="strict")


def _local(given: str | None) -> str:
    """Return the page of this site to go to after the login, and never another site's."""
    asked = given or "/"
    is_plain = asked.isascii() and asked.isprintable() and "\\" not in asked
    is_path = asked.startswith("/") and not asked.startswith("//")
    return asked if is_plain and is_path and len(asked) <= _ONWARDS_MAX else "/"


async def _file(request: Request) -> Response:
    path = request.url.path
    text, version = text_of(path.removeprefix("/"))
    kept = "public, max-age=31536000, immutable"
    is_known = request.query_params.get("v") == version
    headers = {"Cache-Control": kept if is_known else "no-cache"}
    return Response(text, headers=headers, media_type=_FILES[path])


@in_order
class _Guarded:
    """Gives every answer the headers that keep a browser within this site."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, guarded)


def _refuse(scope: Scope, problem: Problem) -> Response:
    """Show a person the problem, or the login form if a login is all that is missing."""
    if problem.status == 401 and scope["method"] == "GET":
        query = scope["query_string"].decode("latin-1")
        asked = _local(scope["path"] + (f"?{query}" if query else ""))
        return RedirectResponse(address_of(_LOGIN, next=None if asked == "/" else asked), 303)
    return _problem_page(problem)


def _problem_page(
    problem: Problem, written: StringMap | None = None, back: str | None = None
) -> Response:
    """A problem in words, with what to do."""
    told = page("problem.html", problem.status, problem=problem, written=written or {}, back=back)
    told.headers.update(problem.headers)
    return told


def _told(request: Request, problem: Problem) -> Response:
    """Show a problem, with the form as it was filled in, so that no input is lost."""
    given = getattr(request.state, "given", None)
    written = {
        name: given[name] for name in ("text", "value", "reason") if given and given.get(name)
    }
    ids = {name: (given or request.query_params).get(name) for name in ("agent", "contact")}
    is_beside = request.url.path != "/contact" and GRANT in request.scope
    back = address_of("/contact", **ids) if ids["contact"] and is_beside else None
    return _problem_page(problem, written=written, back=back)


_TOLD = telling(
    _told,
    wrong_paths={
        404: ("http", "there is no such page"),
        405: ("http", "this page cannot be asked for in this way"),
    },
    fault="the server failed; its log says more. Whether it was done is on the contact's page",
)
