"""Persons: who may answer for the contact or the agent's operator, told from a name alone."""

from __future__ import annotations

import re
import unicodedata

from reconciler.domain.records.candidates import CONTACT
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import InvalidAnswerError


def plain_name(name: str) -> str:
    """A name without case, width, spaces and punctuation, which may disguise another's name."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", name).casefold())


def is_agent(name: str, scope: Scope) -> bool:
    """Whether it is an agent's name; an agent may not answer for a person."""
    return plain_name(name).startswith("agent") or plain_name(name) == plain_name(scope.agent_id)


def check_person(name: str, scope: Scope) -> None:
    """Refuse a name that is neither the contact's nor an operator's.

    Args:
        name: the name of the person who is said to have answered.
        scope: the contact's and the agent's.

    Raises:
        InvalidAnswerError: it cannot be used, is an agent's, or is another spelling of the contact.
    """
    check_identifier("by", name, InvalidAnswerError)
    if plain_name(name) == CONTACT and name != CONTACT:
        raise InvalidAnswerError(f"write {CONTACT!r}, not {name!r}, for the contact")
    if is_agent(name, scope):
        raise InvalidAnswerError(
            f"{name} may not decide this, and neither may any agent; give {CONTACT!r} with the "
            "contact's own answer, or an operator's name"
        )
