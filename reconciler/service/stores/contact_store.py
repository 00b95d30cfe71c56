"""The contact store: alone names the queries of contacts and agents. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.domain.records.facts import Contact
from reconciler.domain.records.scope import Scope
from reconciler.service.stores.contact_queries import EVERYTHING, Store, of_contacts, pages
from reconciler.service.stores.rows import CONTACTS

if TYPE_CHECKING:
    from reconciler.service.use_trace import Use


class ContactStore(Store):
    """The contacts of all agents, in one graph: who they are, and how much is known of each."""

    def find_named_contacts(
        self, scope: Scope, word: str, limit: int
    ) -> list[tuple[str, str | None]]:
        """The ids and names of the agent's contacts that have a word in either, in order of id.

        Args:
            scope: any contact of the agent.
            word: in small letters; it may be part of a longer one.
            limit: at most this many.
        """
        rows = self.rows("find_named_contacts", agent_key=scope.agent_key, word=word, limit=limit)
        return [(row["contact_id"], row["name"]) for row in rows]

    def list_contact_ids(
        self, whose: Scope, after: str = "", limit: int | None = None
    ) -> list[tuple[str, datetime | None]]:
        """The ids of an agent's contacts, in order, each with the time of its last decision.

        Args:
            whose: any contact of the agent.
            after: only those that come after it.
            limit: at most this many; None for all.
        """
        rows = self.rows(
            "list_contact_ids", agent_key=whose.agent_key, after=after, limit=limit or EVERYTHING
        )
        return [(row["contact_id"], row["last_decision_at"]) for row in rows]

    def list_contacts(self, scopes: Sequence[Scope], now: datetime) -> list[Contact]:
        """Contacts of one agent, in order of id, with their facts counted by current state."""
        contacts: list[Contact] = []
        for page in pages(scopes):
            counts: dict[str, dict[str, int]] = {}
            for row in self.rows("count_states", **of_contacts(page), now=now):
                counts.setdefault(row["contact_id"], {})[row["state"]] = int(row["facts"])
            rows = self.rows("list_contacts", **of_contacts(page))
            contacts += CONTACTS.all(
                row | {"facts": counts.get(row["contact_id"], {})} for row in rows
            )
        return sorted(contacts, key=lambda contact: contact.contact_id)

    def list_agents(self) -> list[tuple[str, str]]:
        """All agents of the store as pairs of tenant and agent, in order."""
        return [(row["tenant"], row["agent_id"]) for row in self.rows("list_agents")]

    def count_episodes(self, scopes: Sequence[Scope]) -> dict[str, tuple[int, int]]:
        """The numbers of sessions and of episodes of each contact, by the contact's key."""
        return {
            row["contact_key"]: (int(row["sessions"]), int(row["episodes"]))
            for row in self.rows("count_episodes", **of_contacts(scopes))
        }

    def record_recalls(self, asked: Mapping[str, Use]) -> None:
        """Add recalls to these contacts, by key, in one transaction; unknown ones are left out.

        Raises:
            GraphError: nothing was written.
        """
        # In one order, so that two processes never deadlock.
        rows = [
            {"contact_key": key, "recalls": counts.times, "empty_recalls": counts.empty}
            for key, counts in sorted(asked.items())
        ]
        self.rows("record_recalls", asked=rows)

    def list_last_decided(self, whose: Scope) -> list[tuple[Scope, datetime]]:
        """An agent's contacts, each with the time of its last decision, latest first."""
        told = [(replace(whose, contact_id=i), at) for i, at in self.list_contact_ids(whose) if at]
        return sorted(told, key=lambda pair: pair[1], reverse=True)

    def list_disputed(self, scopes: Sequence[Scope]) -> Iterator[Scope]:
        """The contacts that have disputes, in the order given."""
        for page in pages(scopes):
            rows = self.rows("list_disputed", **of_contacts(page))
            keys = {row["contact_key"] for row in rows}
            yield from (scope for scope in page if scope.contact_key in keys)
