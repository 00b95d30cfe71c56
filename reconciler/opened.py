"""An open memory, as its views share it: its parts, until it is closed. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from reconciler.domain.records.choices import one_of
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import GraphClosedError, InvalidRequestError, InvalidScopeError
from reconciler.forks import Maker

if TYPE_CHECKING:
    from reconciler.bootstrap import Services
    from reconciler.settings import Settings

_LIMIT_MAX = 1_000_000
E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


class OpenMemory:
    """The open store that ``Memory``, ``AgentMemory`` and ``ContactMemory`` share.

    Args:
        services: the parts of the memory.
    """

    def __init__(self, services: Services) -> None:
        self.parts = services
        self.maker = Maker()
        self.is_closed = False

    @property
    def services(self) -> Services:
        """The parts of the memory, while it is open.

        Raises:
            GraphClosedError: this memory was closed, or opened before this process was forked.
        """
        self.maker.check()
        if self.is_closed:
            raise GraphClosedError("this memory was closed by this program; open it again")
        return self.parts

    @property
    def settings(self) -> Settings:
        """The settings that the memory was opened with, also once it is closed."""
        return self.parts.settings

    def tenant(self, tenant: str | None) -> str:
        """The tenant; None for the configured one."""
        return self.settings.tenant if tenant is None else tenant

    def scope(self, tenant: str | None, agent_id: str, contact_id: str) -> Scope:
        """Tenant, agent and contact.

        Raises:
            InvalidScopeError: one of them cannot be used.
        """
        scope = Scope(self.tenant(tenant), agent_id, contact_id)
        names = ("tenant", "agent_id", "contact_id")
        self.services.ids.check((name, getattr(scope, name)) for name in names)
        return scope


def checked_ids(given: Mapping[str, str | None]) -> dict[str, str]:
    """Those parts of a scope that are given.

    Raises:
        InvalidScopeError: one of them cannot be used.
    """
    named = {name: value for name, value in given.items() if value is not None}
    for name, value in named.items():
        check_identifier(name, value, InvalidScopeError)
    return named


def known_or_none(kind: type[E], name: str, value: str | None) -> E | None:
    """The member of an enumeration; None stays None.

    Raises:
        InvalidRequestError: it has no such member.
    """
    return None if value is None else one_of(kind, name, value)


def at_most(limit: int | None) -> int | None:
    """The number of items asked for; None for all.

    Raises:
        InvalidRequestError: the limit is below 1.
    """
    return None if limit is None else positive("limit", limit)


def first(things: Iterable[T], limit: int | None) -> list[T]:
    """The first things, as many as the limit says; None for all.

    Raises:
        InvalidRequestError: the limit is below 1.
    """
    return list(islice(things, at_most(limit)))


def positive(name: str, value: int) -> int:
    """The number.

    Raises:
        InvalidRequestError: it is no whole number from 1.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LIMIT_MAX:
        raise InvalidRequestError(f"{name} must be a whole number from 1 to {_LIMIT_MAX}")
    return value
