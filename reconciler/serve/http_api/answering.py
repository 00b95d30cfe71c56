"""Answering: the common parts of all endpoints: the caller, the contact, and writing an answer.

Dependencies are coroutines, which FastAPI awaits in place; endpoints are plain functions, which it
runs in threads, so that nothing blocks its loop.

A place is the position at which a list continues, in the form for an address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial, wraps
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute
from reconciler.domain.records.notes import utc
from reconciler.domain.records.sessions import Job
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.frozen import Json, in_order
from reconciler.memory import Memory
from reconciler.serve.access.grants import AccessProfile, Grant, NotGrantedError
from reconciler.serve.access.http_door import GRANT
from reconciler.serve.wording import json_text


def place_of(item: Decision | Dispute | Job) -> str:
    """Return the place after an item: its time, its id and, for a dispute, the contact."""
    if isinstance(item, Dispute):
        at, *ids = *item.place, item.scope.contact_id
    elif isinstance(item, Job):
        at, ids = item.submitted_at, [item.job_id]
    else:
        at, ids = item.at, [item.decision_id]
    return "~".join((at.isoformat(), *ids))


def read_place(after: str, id_counts: Collection[int] = (1,)) -> tuple[Any, ...]:
    """Read the time and the ids of the item after which a page continues.

    Args:
        after: the place.
        id_counts: how many ids the places of the list have.

    Raises:
        InvalidRequestError: the place is not one of this list.
    """
    at, *ids = after.split("~", 2)
    try:
        if len(ids) in id_counts:
            return utc("after", datetime.fromisoformat(at)), *ids
    except (ValueError, OverflowError, InvalidNoteError):
        pass
    raise InvalidRequestError("`after` must be the `next` value of a page of this list")


read_dispute_place = partial(read_place, id_counts=(2,))
"""The time, the first fact and the contact of a dispute."""

read_waiting_place = partial(read_place, id_counts=(1, 2))
"""The place of a held note or a dispute."""


SLASH = "\ud800"
"""Replaces a slash inside an id, in a path that is split at its slashes.

Half of a surrogate pair: no bytes of a path decode to it, so no id contains it.
"""

_PAGE_MAX = 500

Endpoint = Callable[..., Any]
Key = Callable[[Any], str]
"""Returns the key of an item of a list, which is the ``next`` after it."""


class WholeIdsRoute(APIRoute):
    """A route that gives its endpoint each id with its slashes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the route against this path, with the ids in it."""
        match, found = super().matches(scope)
        if match is not Match.NONE:
            ids = {name: part.replace(SLASH, "/") for name, part in found["path_params"].items()}
            found = {**found, "path_params": ids}
        return match, found


def answer(record: Any, status: int = 200, **headers: str) -> Response:
    """Make the answer from a record; times in it are ISO 8601."""
    return Response(json_text(record), status, headers=headers, media_type="application/json")


async def _memory(request: Request) -> Memory:
    memory: Memory = request.app.state.memory
    return memory


async def _grant(request: Request) -> Grant:
    grant: Grant = request.scope[GRANT]
    return grant


MemoryOf = Annotated[Memory, Depends(_memory)]
GrantOf = Annotated[Grant, Depends(_grant)]
AgentId = Annotated[str, Path(description="The agent; the token says which it opens.")]
ContactId = Annotated[str, Path(description="The contact.")]
After = Annotated[
    str | None,
    Query(max_length=500, description="`next` of the page before; nothing for the first."),
]
Limit = Annotated[int, Query(ge=1, le=_PAGE_MAX, description="At most this many.")]


async def known_parameters_only(request: Request) -> None:
    """Refuse a query parameter that is misspelt or repeated: one value would be ignored.

    Raises:
        RequestValidationError: the document has no parameter of this name, or it came twice.
    """
    operations = request.app.openapi()["paths"][request.scope["route"].path_format]
    parameters = operations[request.method.lower()].get("parameters", [])
    schemas = {each["name"]: each["schema"] for each in parameters if each["in"] == "query"}
    sent = request.query_params
    unknown = f"there is no such parameter; there are {', '.join(sorted(schemas)) or 'none'}"
    wrong = {name: unknown for name in sent if name not in schemas}
    for name, schema in schemas.items():
        kinds = [each.get("type") for each in (schema, *schema.get("anyOf", ()))]
        if len(sent.getlist(name)) > 1 and "array" not in kinds:
            wrong[name] = "this was given more than once; give it once"
    if wrong:
        faults = [{"loc": ("query", name), "msg": told} for name, told in wrong.items()]
        raise RequestValidationError(faults)


async def operators_only(grant: GrantOf) -> None:
    """Let in only a person's token; ``Grant.check_may`` has checked what it may do.

    Raises:
        NotGrantedError: the token is an agent's.
    """
    if grant.profile is AccessProfile.AGENT:
        raise NotGrantedError(
            "this needs an operator's token; make one with `reconciler token create --profile "
            "operator`"
        )


async def _agent(memory: MemoryOf, grant: GrantOf, agent_id: AgentId) -> AgentMemory:
    """Return the agent's memory, within the grant; a token of one contact has none.

    Raises:
        NotGrantedError: the grant does not include it.
    """
    named = grant.agent(agent_id)
    if grant.contact_id is not None:
        raise NotGrantedError("this token is for one contact; ask about that contact")
    return memory.agent(named, tenant=grant.tenant)


async def _contact(
    memory: MemoryOf, grant: GrantOf, agent_id: AgentId, contact_id: ContactId
) -> ContactMemory:
    """Return the contact's memory, within the grant.

    Raises:
        NotGrantedError: the grant does not include it.
    """
    agent = grant.agent(agent_id)
    return memory.contact(agent, grant.contact(contact_id) or "", tenant=grant.tenant)


AgentOf = Annotated[AgentMemory, Depends(_agent)]
ContactOf = Annotated[ContactMemory, Depends(_contact)]


def ok(shape: Any, status: int = 200) -> dict[int | str, Json]:
    """Describe the responses of an endpoint that answers in this shape."""
    return {status: {"model": shape}}


class Routes(APIRouter):
    """Endpoints under ``/v1``: the result of each function is its answer, in a shape.

    Args:
        tag: the profile that opens them.
        *checks: the checks before each endpoint; the parameters' names are always checked.
    """

    def __init__(self, tag: str, *checks: Endpoint) -> None:
        super().__init__(
            prefix="/v1",
            tags=[tag],
            route_class=WholeIdsRoute,
            dependencies=[Depends(each) for each in (*checks, known_parameters_only)],
        )

    def answers(self, path: str, shape: Any, method: str = "GET") -> Callable[[Endpoint], None]:
        """Add an endpoint that answers in this shape."""

        def add(endpoint: Endpoint) -> None:
            @wraps(endpoint)
            def answering(**asked: Any) -> Response:
                return answer(endpoint(**asked))

            self.add_api_route(
                path, answering, methods=[method], responses=ok(shape), response_model=None
            )

        return add


@in_order
class Paging:
    """The requested page of a list.

    Attributes:
        after: the ``next`` of the page before; None for the first page.
        limit: the largest number of items on a page.
    """

    after: str | None
    limit: int

    def of(
        self,
        read: Callable[..., Sequence[Any]],
        key: Key = place_of,
        place: Callable[[str], Any] = read_place,
    ) -> Json:
        """Return the page, with a ``next`` if there are more items.

        Args:
            read: reads items after a place, up to a limit.
            key: returns an item's key, which is the ``next`` after it.
            place: reads the place from a key.
        """
        after = None if self.after is None else place(self.after)
        return _paged(read(after=after, limit=self.limit + 1), key, self.limit)

    def of_all(self, items: Sequence[Any], key: Key) -> Json:
        """Return the page of a short list that is read whole.

        Raises:
            InvalidRequestError: the last item of the previous page is no longer in the list.
        """
        keys = [key(item) for item in items]
        if self.after is None:
            return _paged(items, key, self.limit)
        if self.after not in keys:
            raise InvalidRequestError(
                "the list has changed: the item that `after` names is no longer in the list; "
                "start again without `after`"
            )
        return _paged(items[keys.index(self.after) + 1 :], key, self.limit)


async def _paging(after: After = None, limit: Limit = 50) -> Paging:
    return Paging(after, limit)


PageOf = Annotated[Paging, Depends(_paging)]


def _paged(found: Sequence[Any], key: Key, limit: int) -> Json:
    """Return the first page of the found items, with a ``next`` if there are more."""
    items = found[:limit]
    following = key(items[-1]) if len(found) > limit else None
    return {"items": items, "next": following}
