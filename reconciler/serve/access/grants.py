"""Grants: the memory that one client of a server may reach, and the client's name. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import chain

from reconciler.bound_memory import ContactMemory
from reconciler.domain.records.facts import handle_of
from reconciler.domain.records.kinds import Action
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.errors import InvalidNoteError, InvalidRequestError
from reconciler.frozen import Json, Strings, frozen

AGENT_ROLES = ("user", "assistant", "tool")
"""The roles in a conversation that an agent hands over; operators speak for themselves."""

_CONTACT = "contact"


_ANSWERS = ("/confirm", "/reject", "/withdraw", "/resolve")
"""How the addresses of the API end at which questions are answered."""

_FORMS = ("/answer", "/answers", "/settle")
"""The forms of the page that do so."""


class AccessProfile(StrEnum):
    """What a client may do.

    An agent's model adds and recalls. Of persons, an auditor reads, a reviewer also answers
    questions, and an operator does everything.
    """

    AGENT = "agent"
    REVIEWER = "reviewer"
    OPERATOR = "operator"
    AUDITOR = "auditor"


class NotGrantedError(InvalidRequestError):
    """A client asked for more than its grant allows."""


@frozen
class Grant:
    """The memory that a client may reach. None of its requests can reach beyond.

    Attributes:
        profile: what it may do.
        tenant: the deployment.
        agent_ids: the agents of the memories, at least one.
        contact_id: the only contact; None for all of these agents' contacts.
        name: the operator's name, for a yes or no.
        session_id: the session for all notes and turns. With None an agent's notes get one session,
            and each handed-over conversation gets its own.

    Raises:
        InvalidScopeError, InvalidNoteError, InvalidRequestError: a part cannot be used.
    """

    profile: AccessProfile
    tenant: str
    agent_ids: Strings
    contact_id: str | None = None
    name: str = "operator"
    session_id: str | None = None

    def __post_init__(self) -> None:
        if not self.agent_ids:
            raise InvalidRequestError("name at least one agent, with --agent")
        for agent_id in self.agent_ids:
            Scope(self.tenant, agent_id, "any" if self.contact_id is None else self.contact_id)
        check_identifier("the name", self.name, InvalidRequestError)
        if self.name.strip().lower() == _CONTACT:
            raise InvalidRequestError(
                "the name 'contact' is reserved for the contact; give the name of the operator "
                "who answers"
            )
        if self.session_id is not None:
            check_identifier("the session's id", self.session_id, InvalidNoteError)

    def to_dict(self) -> Json:
        """Return all fields, to show."""
        return {
            "name": self.name,
            "profile": str(self.profile),
            "tenant": self.tenant,
            "agents": list(self.agent_ids),
            "contact": self.contact_id,
            "session": self.session_id,
        }

    def check_may(self, method: str, path: str) -> None:
        """Check that the profile may make a request; ``operators_only`` checks an agent's.

        Raises:
            NotGrantedError: it changes something, which a reviewer or an auditor may not.
        """
        may_write = self.profile in (AccessProfile.AGENT, AccessProfile.OPERATOR)
        is_answer = self.profile is AccessProfile.REVIEWER and (
            path in _FORMS or path.endswith(_ANSWERS)
        )
        if not (may_write or is_answer or method in ("GET", "HEAD") or path == "/logout"):
            raise NotGrantedError(
                f"this token has the profile {self.profile}, which may not do this; an operator may"
            )

    def check_may_undo(self, about: ContactMemory, decision_id: str) -> None:
        """Check that an undo of a decision reaches no account and no other contact.

        Raises:
            NotGrantedError: the grant is for one contact, and the decision is a merge, or about a
                membership.
            UnknownDecisionError: the contact has no such decision.
        """
        if self.contact_id is None:
            return
        made = about.decision(decision_id)
        changed = {made.fact_id, *made.superseded_ids}.union(
            was.fact_id for was in made.changes.before
        )
        if made.action is Action.MERGE or not changed.isdisjoint(_memberships(about)):
            raise NotGrantedError("this token is for one contact; undo this with an agent's token")

    def check_may_end(self, about: ContactMemory, fact: str | None) -> None:
        """Check that an end or an erasure of a fact, by id or handle, takes it out of no account.

        Raises:
            NotGrantedError: the grant is for one contact, and the fact is a membership.
        """
        if self.contact_id is None or fact is None:
            return
        for own in _memberships(about):
            if fact.casefold() in (own, handle_of(own, len(fact) - 1)):
                raise NotGrantedError(
                    "this token is for one contact; end this with an agent's token"
                )

    def agent(self, asked: object) -> str:
        """Return the requested agent, or the only agent of the grant.

        Raises:
            NotGrantedError: the grant does not include it, or includes several and none was named.
        """
        if asked is None and len(self.agent_ids) == 1:
            return self.agent_ids[0]
        if asked not in self.agent_ids:
            raise NotGrantedError(f"agent_id must be one of {', '.join(self.agent_ids)}")
        return str(asked)

    def contact(self, asked: object) -> str | None:
        """Return the requested contact; by default the only one of the grant.

        Raises:
            NotGrantedError: the grant is for another contact; the text names neither.
            InvalidRequestError: it is no string.
        """
        if self.contact_id is not None and asked not in (None, self.contact_id):
            raise NotGrantedError("contact_id is fixed here; leave it out")
        if asked is not None and not isinstance(asked, str):
            raise InvalidRequestError("contact_id must be a string")
        return self.contact_id or asked

    def session(self, asked: str | None) -> str | None:
        """Return the requested session; by default the only one of the grant.

        Raises:
            NotGrantedError: the grant is for another session.
        """
        if self.session_id is not None and asked not in (None, self.session_id):
            raise NotGrantedError("session_id is fixed here; leave it out")
        return asked if self.session_id is None else self.session_id

    def opens(self, session_id: str) -> bool:
        """True if the grant reaches this session; an operator's grant reaches all sessions."""
        is_of_one = self.session_id is not None and self.profile is AccessProfile.AGENT
        return not is_of_one or session_id == self.session_id

    def is_for_all(self, agents: Iterable[tuple[str, str]]) -> bool:
        """True if the grant reaches the whole memory of these agents, given as (tenant, agent)."""
        own = {(self.tenant, agent_id) for agent_id in self.agent_ids}
        return self.contact_id is None and own.issuperset(agents)

    def person(self, answered_by: str) -> str:
        """Return the person for the record: the contact, or the operator by the grant's name."""
        return _CONTACT if answered_by == _CONTACT else self.name


def _memberships(about: ContactMemory) -> list[str]:
    """Return the ids of the facts by which a contact belongs, or belonged, to accounts."""
    facts = chain.from_iterable(line.facts for line in about.history())
    return [fact.fact_id for fact in facts if fact.account]
