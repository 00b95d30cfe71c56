"""The scope: which contact's memory a note belongs to. Never anything about what is remembered."""

from __future__ import annotations

import shlex
import unicodedata

from reconciler.errors import InvalidScopeError
from reconciler.frozen import in_order

SCOPE_PART_LENGTH_MAX = 200
"""Characters in a tenant, agent or contact id. Source: longest e-mail local part and domain fit."""


@in_order
class Scope:
    """Tenant, agent and contact: the only facts a note may be compared with.

    A scope that exists is complete; without one nothing is read and nothing is written.

    Args:
        tenant: the deployment, 1 to 200 characters.
        agent_id: which agent remembers, 1 to 200 characters.
        contact_id: whom the facts are about, 1 to 200 characters.

    Raises:
        InvalidScopeError: a part is missing, blank, over-long, or holds control characters or
            surrounding white space (which would silently make a second contact).
    """

    tenant: str
    agent_id: str
    contact_id: str

    def __post_init__(self) -> None:
        for name in ("tenant", "agent_id", "contact_id"):
            check_identifier(name, getattr(self, name), InvalidScopeError)

    @property
    def agent_key(self) -> str:
        """The agent's unique key in the graph: its parts, escaped, joined by a slash."""
        return _join(self.tenant, self.agent_id)

    @property
    def contact_key(self) -> str:
        """The contact's unique key in the graph; two scopes share it only when they are equal."""
        return _join(self.tenant, self.agent_id, self.contact_id)

    @property
    def columns(self) -> dict[str, str]:
        """The ids and keys of agent and contact: the parameters of a query that may create both."""
        return {
            "tenant": self.tenant,
            "agent_id": self.agent_id,
            "agent_key": self.agent_key,
            "contact_id": self.contact_id,
            "contact_key": self.contact_key,
        }

    def as_options(self) -> str:
        """The scope as options of the command line."""
        return (
            f"--agent {shlex.quote(self.agent_id)} --contact {shlex.quote(self.contact_id)} "
            f"--tenant {shlex.quote(self.tenant)}"
        )

    def session_key(self, session_id: str) -> str:
        """The unique key of a session of this contact."""
        return _join(self.tenant, self.agent_id, self.contact_id, session_id)


_REMEDIES = {
    "by": "say who decides: contact, or an operator's name",
    **dict.fromkeys(
        ("idempotency_key", "Idempotency-Key"), "give each note a key of its own, or leave it out"
    ),
    **dict.fromkeys(
        ("tenant", "agent_id", "contact_id"), "give the id under which this memory is kept"
    ),
}


def check_identifier(name: str, value: object, error: type[Exception]) -> None:
    """Raise ``error`` unless the value is usable as an identifier; the text names the remedy."""
    if not isinstance(value, str):
        raise error(f"{name} must be a string, not {type(value).__name__}")
    if len(value) > SCOPE_PART_LENGTH_MAX:
        raise error(
            f"{name} has {len(value):,} characters; at most {SCOPE_PART_LENGTH_MAX} are kept"
        )
    if not value.strip():
        remedy = _REMEDIES.get(name, "give it a value, or leave it out")
        raise error(f"{name} is empty; {remedy}")
    if value != value.strip():
        raise error(f"{name} {value!r} has white space around it; strip it first")
    if not value.isprintable() and any(map(_is_control, value)):
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            raise error(f"{name} {value!r} is not valid UTF-8; encode it so")
        raise error(f"{name} {value!r} holds control characters; remove them")


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"}


def _join(*parts: str) -> str:
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)
