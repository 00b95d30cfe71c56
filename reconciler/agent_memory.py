"""The memory of an agent: what is asked across its contacts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

from reconciler.bound_memory import BoundMemory, at_most, checked_ids
from reconciler.contact_memory import ContactMemory
from reconciler.domain.records.kinds import AnyCategory, AnySourceKind, SourceKind
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Note, check_text
from reconciler.domain.records.scope import Scope
from reconciler.errors import InvalidScopeError

if TYPE_CHECKING:
    from reconciler.domain.recalling.filtering import FilterFields
    from reconciler.domain.records.assessment import Assessment
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.facts import Contact, FoundFact
    from reconciler.domain.records.turns import Turn


class AgentMemory(BoundMemory):
    """The memory of an agent: its contacts, and what is asked across all of them.

    ``Memory.agent`` makes one, checked; it holds nothing of its own and needs no closing. It is for
    an operator: an agent in a conversation holds the tools of one contact.

    Example::

        crm = memory.agent("crm")
        crm.pending()
        crm.find("moved to another city")
    """

    @property
    def agent_id(self) -> str:
        """The agent that every call is bound to."""
        return self._scope.agent_id

    @property
    def tenant(self) -> str:
        """The tenant that every call is bound to."""
        return self._scope.tenant

    def contact(self, contact_id: str) -> ContactMemory:
        """The memory of one of the agent's contacts.

        Raises:
            InvalidScopeError: the contact cannot be used.
        """
        scope = self._opened.scope(self._scope.tenant, self._scope.agent_id, contact_id)
        return ContactMemory(self._opened, scope)

    def contacts(
        self,
        contact_id: str | None = None,
        *,
        contact_ids: Collection[str] | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Contact]:
        """The contacts of an agent, by id.

        Args:
            contact_id: only this one, if it is known.
            contact_ids: only these, as far as they are known; without either, all of the agent's.
            after: only those that come after this id: the last one of the page before.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: a contact cannot be used, or no contact can have the id to come
                after.
            InvalidRequestError: the limit is below 1.
        """
        count, begin = at_most(limit), checked_ids({"after": after}).get("after", "")
        if contact_id is not None:
            scopes = [self.contact(contact_id).scope]
        elif contact_ids is not None:
            if isinstance(contact_ids, str) or not isinstance(contact_ids, Collection):
                raise InvalidScopeError("contact_ids must be a list of ids")
            scopes = [self.contact(each).scope for each in contact_ids]
        else:
            scopes = self._services.records.scopes(self._scope, begin, count)
        return self._services.records.contacts(scopes)

    def find(
        self,
        query: str,
        *,
        limit: int | None = None,
        **filters: Unpack[FilterFields],
    ) -> list[FoundFact]:
        """The live facts of all of an agent's contacts that are nearest to a query. For operators.

        Facts that have ended are not among them, however near: a contact's ``history`` has those.

        On Neo4j a vector index finds them, approximately. Where it does not find enough, and on the
        embedded engine, every fact of the agent is compared.

        Args:
            query: what to look for, 1 to 2,000 characters.
            limit: at most this many; None for the configured number.
            **filters: as ``recall`` takes them; ``min_score`` is the raw cosine here.

        Raises:
            InvalidRequestError: the query or a filter cannot be used, the limit is below 1, or
                there is no embedder.
        """
        check_text("query", query, TEXT_LENGTH_MAX)
        from reconciler.service.recall import filter_of

        wanted = filter_of(filters, lambda: self._services.attributes)
        return self._services.finding.nearest(self._scope, query, self._limit(limit), wanted)

    def submit_session(
        self,
        session_id: str | None,
        turns: Iterable[Turn | Mapping[str, Any]],
        *,
        speakers: Mapping[str, str],
        channel: str = "chat",
        started_at: datetime | None = None,
    ) -> dict[str, str]:
        """Hand over a conversation of several contacts; returns each one's job id, by contact.

        Each contact gets the conversation as a session of their own, with only their own words as
        the contact's. The words of another contact are no evidence there; an operator's are.

        Args:
            session_id: its id, the same for all; None as in ``ContactMemory.submit_session``.
            turns: as there.
            speakers: who speaks as a user, by name: ``contact:ID``, or a role as there.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware; None for its first turn's time, or now.

        Raises:
            InvalidSessionError: it cannot be used, or names no contact; nothing was stored.
            InvalidScopeError: a contact cannot be used; nothing was stored.
            GraphUnavailableError: the engine stayed unavailable; hand it over again.
        """
        # Who hands no talk over reads no lexicon.
        from reconciler.domain.sessions.speakers import roles_by_contact

        roles = roles_by_contact(speakers)
        jobs = self._services.memory_extractor.hand_over(
            {self.contact(each).scope: heard for each, heard in roles.items()},
            session_id,
            turns,
            channel=channel,
            started_at=started_at,
        )
        return dict(zip(roles, jobs, strict=True))

    def check_policy(
        self,
        text: str,
        *,
        source_kind: AnySourceKind = SourceKind.USER_EXPLICIT,
        category: AnyCategory | None = None,
        topic: str | None = None,
    ) -> Assessment:
        """Dry-run the write gate on a note, check by check; reads and writes nothing.

        Raises:
            InvalidNoteError: the note cannot be used.
        """
        candidate = note_to_check(
            text,
            agent_id=self._scope.agent_id,
            source_kind=source_kind,
            category=category,
            topic=topic,
        )
        return self._services.judge(candidate).assessment


def note_to_check(
    text: str,
    *,
    agent_id: str,
    source_kind: AnySourceKind,
    category: AnyCategory | None,
    topic: str | None,
) -> Candidate:
    """A note about a made-up contact, said now, for a dry run of the gate.

    Raises:
        InvalidScopeError, InvalidNoteError: the note cannot be used.
    """
    from reconciler.service.writing.doors import as_candidate

    note = Note(
        scope=Scope("any", agent_id, "any"),
        text=text,
        said_at=datetime.now(UTC),
        source_kind=source_kind,
        category=category,
        topic=topic,
    )
    return as_candidate(note, "nobody")
