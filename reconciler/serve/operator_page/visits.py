"""Visits: the common parts of all pages: the person, the contact, sent fields, writing a page.

Views and acts are plain functions, which run in threads, so that nothing blocks the server's loop.

The logins are kept only in this process, in bounded memory. A login refers to a token and holds no
grant: the grant is looked up at every request, so that the login ends when its token is revoked or
expires.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlencode

from cachetools import TTLCache
from jinja2 import Environment
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.records.decisions import Decision
from reconciler.frozen import StringMap, in_order
from reconciler.memory import Memory
from reconciler.ops.pages.report import environment
from reconciler.serve.access.grants import Grant, NotGrantedError
from reconciler.serve.access.http_door import GRANT
from reconciler.serve.access.problems import ProblemError
from reconciler.serve.access.tokens import TOKENS_MAX, AccessToken, TokenList
from reconciler.serve.operator_page import words
from reconciler.serve.operator_page.words import subject_of

_SECONDS_MAX = 12 * 60 * 60.0
_PER_TOKEN_MAX = 10
_SECRET_BYTES = 32
_FORM_SECRET = secrets.token_bytes(_SECRET_BYTES)
LOGGED_IN = "proxy:"
"""Begins the secret of a person whom a proxy logged in; no drawn secret has a colon."""


class Logins:
    """The tokens' ids, by the secret that a browser keeps for each login. Safe between threads.

    A token has at most ten logins; one more ends the oldest. So the number of tokens in the file
    bounds the number of logins.

    Args:
        tokens: says which tokens are valid.
    """

    def __init__(self, tokens: TokenList) -> None:
        self._tokens = tokens
        self._open: TTLCache[str, str] = TTLCache(TOKENS_MAX * _PER_TOKEN_MAX, _SECONDS_MAX)
        self._lock = Lock()

    def open(self, token: AccessToken) -> str:
        """Open a new login; return its secret."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._lock:
            own = [key for key, token_id in self._open.items() if token_id == token.token_id]
            for key in own[: 1 - _PER_TOKEN_MAX]:
                del self._open[key]
            self._open[secret] = token.token_id
        return secret

    def find(self, secret: str) -> AccessToken | None:
        """Return the valid token of this secret's login; None if there is none, or it ended."""
        if secret.startswith(LOGGED_IN):
            return self._tokens.find_named(secret.removeprefix(LOGGED_IN))
        with self._lock:
            token_id = self._open.get(secret)
        return None if token_id is None else self._tokens.find_valid(token_id)

    def close(self, secret: str) -> None:
        """End a login; its secret is no longer valid."""
        with self._lock:
            self._open.pop(secret, None)


FORM_KEY = "form_key"
"""The field of every form that proves that this page made it."""

_FIELDS_MAX = 60
_FOLDER = Path(__file__).parent
_FROM_HERE = (None, "same-origin", "none")

Given = ImmutableMultiDict[str, str]


class NotDoneError(ProblemError):
    """A page could not do what was asked.

    Args:
        status: the HTTP status.
        told: the fault, and what to do.
    """

    def __init__(self, status: int, told: str) -> None:
        super().__init__("not-done", status, told)


@in_order
class Visit:
    """One request of a person who is logged in.

    Attributes:
        memory: the memory.
        grant: the memory that the person may reach, and their name.
        form_key: the key for the forms of the page.
        given: the fields of the address or of the form.
    """

    memory: Memory
    grant: Grant
    form_key: str
    given: Given

    @property
    def agent_id(self) -> str:
        """Return the requested agent; if none is named, the first agent of the grant.

        Raises:
            NotGrantedError: the grant does not include it.
        """
        return self.grant.agent(self.given.get("agent") or self.grant.agent_ids[0])

    @property
    def contact_id(self) -> str | None:
        """Return the requested contact, or the only contact of the grant.

        Raises:
            NotGrantedError: the grant does not include it.
        """
        return self.grant.contact(self.given.get("contact") or None)

    @property
    def agent(self) -> AgentMemory:
        """Return the agent's memory.

        Raises:
            NotGrantedError: the grant does not include it.
        """
        if self.grant.contact_id is not None:
            raise NotGrantedError("this token is for one contact; open that contact's page")
        return self.memory.agent(self.agent_id, tenant=self.grant.tenant)

    @property
    def about(self) -> ContactMemory:
        """Return the contact's memory.

        Raises:
            NotGrantedError: the grant does not include it.
            InvalidScopeError: no contact can have that id.
        """
        return self.memory.contact(self.agent_id, self.contact_id or "", tenant=self.grant.tenant)

    @property
    def by(self) -> str:
        """Return the person for the record: the person who is logged in, or the contact."""
        return self.grant.person(self.given.get("answered_by") or "operator")

    @property
    def ids(self) -> StringMap:
        """Return the agent and contact, as fields of a page's address."""
        return {"agent": self.agent_id, "contact": self.contact_id or ""}

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field without the white space around it.

        Raises:
            NotDoneError: the field is empty, and there is no default.
        """
        given_text = (self.given.get(name) or "").strip()
        if not given_text and default is None:
            raise NotDoneError(422, f"{words.FIELDS.get(name, name)} is empty; fill it in")
        return given_text or default or ""

    def reason(self, default: str | None = None) -> str:
        """Return the reason; for an answer of the contact also who took it.

        Raises:
            NotDoneError: the field is empty, and there is no default.
        """
        given = self.text("reason", default)
        is_told = self.given.get("answered_by") == "contact"
        return f"{given.rstrip('.')} (told to {self.grant.name})." if is_told else given

    def optional(self, name: str) -> str | None:
        """Return a field; None if it is empty."""
        return self.text(name, "") or None

    def day(self, name: str, *, at_its_end: bool = False) -> datetime | None:
        """Return a day, as its first instant or its last (UTC); None if none was given.

        Raises:
            NotDoneError: the field is no day.
        """
        given = self.optional(name)
        if given is None:
            return None
        try:
            day = date.fromisoformat(given)
        except ValueError:
            told = f"{words.FIELDS.get(name, name)} must be a day such as 2026-11-01"
            raise NotDoneError(422, told) from None
        return datetime.combine(day, time.max if at_its_end else time(), UTC)

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Write a page of this memory."""
        agent_id, contact_id = self.given.get("agent"), self.contact_id
        known = agent_id if agent_id in self.grant.agent_ids else self.grant.agent_ids[0]
        agent = self.memory.agent(known, tenant=self.grant.tenant)
        frame = {
            "grant": self.grant,
            "form_key": self.form_key,
            "agent_id": known,
            "contact_id": contact_id,
            "contact": next(iter(agent.contacts(contact_id)), None) if contact_id else None,
            "ids": {"agent": known, "contact": contact_id or ""},
            "subject_of": partial(subject_of, self.memory),
        }
        return page(template, status, **frame, **values)

    def to(self, path: str, **fields: object) -> Response:
        """Redirect to a page, so that loading it again repeats nothing."""
        return RedirectResponse(address(path, **fields), 303)

    def to_contact(self, done: Decision) -> Response:
        """Redirect to the contact's page, which says what was decided."""
        again = done.decision_id if done.replayed else None
        return self.to("/contact", **self.ids, done=done.decision_id, again=again)


Handler = Callable[[Visit], Response]
"""The function of a page."""

Act = Callable[[Visit], Decision | Response]
"""The function of a form; a decision leads to the contact's page."""


def view(look: Handler) -> Callable[[Request], Any]:
    """Make the endpoint of a page that only reads."""

    async def endpoint(request: Request) -> Response:
        given = ImmutableMultiDict(request.query_params.multi_items())
        return await run_in_threadpool(look, _visit(request, given))

    return endpoint


def act(do: Act) -> Callable[[Request], Any]:
    """Make the endpoint of a form that settles something; this login's page must send it."""

    async def endpoint(request: Request) -> Response:
        given = form_of(await request.body())
        visit = _visit(request, given)
        request.state.given = given
        if not (is_from_here(request) and same(given.get(FORM_KEY), visit.form_key)):
            told = (
                "this form does not come from this login; go back, load the page again, and send "
                "the form"
            )
            raise NotDoneError(403, told)
        done = await run_in_threadpool(do, visit)
        return visit.to_contact(done) if isinstance(done, Decision) else done

    return endpoint


def _visit(request: Request, given: Given) -> Visit:
    return Visit(request.app.state.memory, request.scope[GRANT], form_key_of(request), given)


def form_key_of(request: Request) -> str:
    """Return the key that every form of a login must send, so that no other site can send one.

    It is made from the login's secret, but does not reveal it; nor can it be guessed where that
    secret is a name.
    """
    secret = request.app.state.secret_of(request)
    return hmac.new(_FORM_SECRET, secret.encode(), sha256).hexdigest()


def form_of(body: bytes) -> Given:
    """Read the fields of a form.

    Raises:
        NotDoneError: the request has no form.
    """
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_FIELDS_MAX,
        )
    except ValueError:
        raise NotDoneError(400, "the form cannot be read; load the page again") from None
    return ImmutableMultiDict(fields)


def is_from_here(request: Request) -> bool:
    """True if no header of the browser says that another site sent it."""
    return request.headers.get("sec-fetch-site") in _FROM_HERE


def same(given: str | None, wanted: str) -> bool:
    """True if two secrets are equal; the time does not reveal how much of them agrees."""
    return hmac.compare_digest((given or "").encode(), wanted.encode())


def address(path: str, **fields: object) -> str:
    """Make an address of this site; fields that are None are left out."""
    told = {name: value for name, value in fields.items() if value not in (None, "", [])}
    return f"{path}?{urlencode(told, doseq=True)}" if told else path


def page(template: str, status: int = 200, **values: object) -> Response:
    """Write a page; every text in it is escaped, and invisible characters are shown as escapes."""
    text = _templates().get_template(template).render(values)
    return Response(text, status, media_type="text/html")


@cache
def text_of(name: str) -> tuple[str, str]:
    """Return a file of the pages, and the mark of its version in its address."""
    text = _templates().get_template(name).render()
    return text, sha256(text.encode()).hexdigest()[:12]


@cache
def _templates() -> Environment:
    made = environment(_FOLDER / "templates", _FOLDER)
    made.filters |= {"day": _day, "exact": escape, "ago": _ago, "moment": words.moment}
    made.globals.update(address=address, words=words, version=lambda name: text_of(name)[1])
    return made


def _day(at: datetime | None) -> Markup:
    """Show a day to a reader, in UTC."""
    if at is None:
        return Markup("–")
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), words.day(at))


def _ago(at: datetime) -> str:
    """Say how long ago something was, in a few words."""
    days = (datetime.now(UTC) - at) / timedelta(days=1)
    if days < 1:
        return "today"
    return "since yesterday" if days < 2 else f"for {int(days)} days"
