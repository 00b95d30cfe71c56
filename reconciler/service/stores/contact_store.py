"""The stores of contacts; only they name the queries of contacts, agents, export and restore.

They decide nothing. ``ArchiveStore`` reads and writes whole nodes and links, contact by contact,
and does not interpret them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from reconciler.domain.records.facts import Contact
from reconciler.domain.records.notes import Scope
from reconciler.errors import UnknownContactError
from reconciler.frozen import Json, Strings, frozen, grouped
from reconciler.ports.graph import EngineDescription, Row
from reconciler.service.stores.binding_store import Store
from reconciler.service.stores.rows import (
    CONTACTS,
    EVERYTHING,
    batches,
)

if TYPE_CHECKING:
    from reconciler.service.use_trace import Use


class ContactStore(Store):
    """The contacts of all agents, in one graph: their names, and the numbers of their records."""

    def find_named_contacts(
        self, scope: Scope, word: str, limit: int
    ) -> list[tuple[str, str | None]]:
        """Find the ids and names of the agent's contacts with a word in either, in order of id.

        Args:
            scope: any contact of the agent.
            word: the word in small letters; it may be part of a longer word.
            limit: at most this many.
        """
        rows = self.rows("find_named_contacts", agent_key=scope.agent_key, word=word, limit=limit)
        return [(row["contact_id"], row["name"]) for row in rows]

    def list_contact_ids(
        self, whose: Scope, after: str = "", limit: int | None = None
    ) -> list[tuple[str, datetime | None]]:
        """List the ids of an agent's contacts, in order, each with the time of its last decision.

        Args:
            whose: any contact of the agent.
            after: an id; only the contacts after it are listed.
            limit: at most this many; None for all.
        """
        rows = self.rows(
            "list_contact_ids", agent_key=whose.agent_key, after=after, limit=limit or EVERYTHING
        )
        return [(row["contact_id"], row["last_decision_at"]) for row in rows]

    def list_contacts(self, scopes: Sequence[Scope], now: datetime) -> list[Contact]:
        """List the contacts of one agent, in order of id, with their facts counted by state."""
        counts = grouped(
            (row["contact_id"], (row["state"], int(row["facts"])))
            for row in self.rows_about(scopes, "count_states", "count_states_of_agent", now=now)
        )
        wanted = {scope.contact_id for scope in scopes}
        rows = (
            row | {"facts": dict(counts.get(row["contact_id"], ()))}
            for row in self.rows_about(scopes, "list_contacts", "list_contacts_of_agent")
            if row["contact_id"] in wanted
        )
        return sorted(CONTACTS.all(rows), key=lambda contact: contact.contact_id)

    def list_agents(self) -> list[tuple[str, str]]:
        """List all agents of the store as pairs of tenant and agent, in order."""
        return [(row["tenant"], row["agent_id"]) for row in self.rows("list_agents")]

    def count_episodes(self, scopes: Sequence[Scope]) -> dict[str, tuple[int, int]]:
        """Count sessions and episodes of each contact, by the contact's key."""
        return {
            row["contact_key"]: (int(row["sessions"]), int(row["episodes"]))
            for row in self.rows_about(scopes, "count_episodes", "count_episodes_of_agent")
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


PAGE = 500
"""The number of nodes that one query reads."""

_NODES: Mapping[str, Strings] = {
    "Task": ("list_whole_tasks",),
    "Session": ("list_whole_sessions", "list_whole_task_sessions"),
    "Episode": ("list_whole_episodes",),
    "Job": ("list_whole_jobs",),
    "Fact": ("list_whole_facts",),
    "Decision": ("list_whole_decisions",),
    "Erasure": ("list_whole_erasures",),
    "Tombstone": ("list_whole_tombstones",),
}
IN_COLUMNS: Mapping[str, str] = {
    "Episode": "list_plain_episodes",
    "Fact": "list_plain_facts",
    "Decision": "list_plain_decisions",
}
"""The labels of which a contact may have many nodes; these are read in columns. A map for each node
takes three times as long; for a whole fact with its vectors, on one engine, ten times."""

_LINKS: Mapping[str, str] = {
    "WITH": "list_with_links",
    "PART_OF": "list_part_of_links",
    "IN": "list_in_links",
    "READS": "list_reads_links",
    "SUPERSEDES": "list_supersedes_links",
    "CONFLICTS_WITH": "list_conflicts_with_links",
    "EVIDENCED_BY": "list_evidenced_by_links",
    "JUDGED": "list_judged_links",
    "WROTE": "list_wrote_links",
    "COMPARED_WITH": "list_compared_with_links",
    "SETTLES": "list_settles_links",
    "REVOKED": "list_revoked_links",
    "REVERTED": "list_reverted_links",
}

LINK_PROPERTIES: Mapping[str, Strings] = {
    "EVIDENCED_BY": ("span",),
    "JUDGED": ("span",),
    "COMPARED_WITH": ("cosine", "rank"),
}
"""The properties of links that may be null: one engine needs the same keys in all links of a
page."""


@frozen
class ContactFilter:
    """A filter of contacts by owner; a field that is None lets all pass."""

    tenant: str | None = None
    agent_id: str | None = None
    contact_id: str | None = None


@frozen
class BoundStore:
    """The model and keys that a store is bound to. Never show ``id_key``.

    ``hash_key_check`` is the check value of its hash key; None before the first hash.
    """

    embedding_model: str
    embedding_dimension: int
    id_key: str
    hash_key_check: str | None


class ArchiveStore(Store):
    """Contacts with all that belongs to them, in one graph.

    Invariant: while a contact is restored, each page is written only once, even if it is sent
    again, because each page makes the contact's version one less.
    """

    def describe(self) -> EngineDescription:
        """Return the engine, its version, and the place of the store."""
        return self.graph.describe()

    def schema_version(self) -> int:
        """Return the version of the schema in the store."""
        return self.graph.schema_version()

    def bound(self) -> BoundStore:
        """Return the model and keys that the store is bound to."""
        [row] = self.rows("find_store")
        return BoundStore(**row)

    def bind(self, id_key: str, at: datetime) -> None:
        """Give a store without contacts another key for its ids."""
        self.rows("bind_store", id_key=id_key, at=at)

    def count_contacts(self) -> int:
        """Count the contacts, also those that are being restored."""
        return sum(int(row["contacts"]) for row in self.rows("count_contacts"))

    def contact_keys(self, wanted: ContactFilter) -> Iterator[tuple[str, int]]:
        """List the keys of contacts with their versions, in the order of the keys."""
        plain = {name: value or "" for name, value in asdict(wanted).items()}
        after = ""
        while rows := self.rows("list_contact_keys", **plain, after=after, limit=PAGE):
            yield from ((str(row["contact_key"]), int(row["version"])) for row in rows)
            after = rows[-1]["contact_key"]

    def check(self, wanted: ContactFilter) -> None:
        """Check that a filter's agent or contact exists, if it names one.

        Raises:
            UnknownContactError: nothing is known of the contact, or of any contact of the agent.
        """
        if wanted.agent_id is None or next(self.contact_keys(wanted), None) is not None:
            return
        if wanted.contact_id is None:
            raise UnknownContactError(
                f"nothing is known about any contact of agent {wanted.agent_id}; check the name"
            )
        raise UnknownContactError(
            f"nothing is known about contact {wanted.contact_id} of agent {wanted.agent_id}; check "
            "both names"
        )

    def find_contact(self, contact_key: str) -> Row | None:
        """Return the stored properties of a contact; None if there is none."""
        rows = self.rows("find_whole_contact", contact_key=contact_key)
        return dict(rows[0]["node"]) if rows else None

    def node_pages(
        self, contact_key: str, label: str, *, with_vectors: bool
    ) -> Iterator[list[tuple[str, Row]]]:
        """Read a contact's nodes of one label, page by page: ids and properties.

        A node may come twice. For each page the engine reads all of the contact's nodes of the
        label.
        """
        asked = {"with_vectors": with_vectors} if label == "Fact" else {}
        for rows in self.node_rows([contact_key], label, PAGE, **asked):
            yield [(str(row["node_id"]), row["node"]) for row in rows]

    def column_pages(
        self, contact_keys: Sequence[str], label: str, page_size: int
    ) -> Iterator[Row]:
        """Read nodes of a label of ``IN_COLUMNS``, page by page, in columns without vectors.

        For each page the engine reads all nodes of the label of these contacts.
        """
        asked = {"contact_keys": list(contact_keys), "limit": page_size}
        after, is_full = "", True
        while is_full and (rows := self.rows(IN_COLUMNS[label], **asked, after=after)):
            [columns] = rows
            yield columns
            after, is_full = columns["node_id"][-1], len(columns["node_id"]) == page_size

    def node_rows(
        self, contact_keys: Sequence[str], label: str, size: int, **asked: Any
    ) -> Iterator[list[Row]]:
        """Read nodes of one label of several contacts, page by page, with ids and keys."""
        given = {"contact_keys": list(contact_keys), "limit": size, **asked}
        for name in _NODES[label]:
            after, is_full = "", True
            while is_full and (rows := self.rows(name, **given, after=after)):
                yield rows
                after, is_full = rows[-1]["node_id"], len(rows) == size

    def list_links(
        self, contact_key: str, kind: str, after: str, until: str
    ) -> Iterator[tuple[str, str, Row]]:
        """List the links of one type from the contact's nodes with ids between these two."""
        for row in self.rows(_LINKS[kind], contact_key=contact_key, after=after, until=until):
            yield row["from_id"], row["to_id"], row.get("link") or {}

    def put_remains(self, label: str, nodes: Mapping[str, Row]) -> None:
        """Replace damaged nodes by what is left of them, under their ids; links stay."""
        rows = [{"node_id": node_id, "node": left} for node_id, left in nodes.items()]
        for some in batches(rows, PAGE):
            self.rows("put_remains", label=label, rows=some)

    def begin_contact(self, scope: Scope, mark: str) -> tuple[int, str]:
        """Begin to restore a contact, or continue.

        Args:
            scope: the contact.
            mark: its name until it is complete, by which the same restore recognises it.

        Returns:
            Its version, which is below 0 during a restore, and its name; "" if another writer has
            written about it.
        """
        [row] = self.rows("restore_contact", **scope.columns, name=mark)
        return int(row["version"]), "" if row["last_decision_at"] else str(row["name"])

    def restore_nodes(
        self,
        contact_key: str,
        version: int,
        label: str,
        nodes: Sequence[tuple[Row, Any]],
        embedding_model: str,
    ) -> None:
        """Write a page of nodes, each with its vector or None; repeating it changes nothing.

        Args:
            contact_key: the contact's key.
            version: the contact's version before this page; the page makes it one less.
            label: the nodes' label.
            nodes: the properties and the vector of each.
            embedding_model: the model that made the vectors. If the store has moved to another,
                nothing is written.
        """
        rows = [{"node": held, "embedding": vector} for held, vector in nodes]
        page = {**_page(contact_key, version), "embedding_model": embedding_model}
        self.rows("restore_nodes", **page, label=label, nodes=rows)

    def restore_links(
        self, contact_key: str, version: int, kind: str, links: Sequence[tuple[str, str, Row]]
    ) -> None:
        """Write a page of links, as ``restore_nodes``; both ends of each were written before."""
        named = dict.fromkeys(LINK_PROPERTIES.get(kind, ()))
        rows = [
            {"from_id": start, "to_id": end, "link": named | held} for start, end, held in links
        ]
        self.rows("restore_links", **_page(contact_key, version), type=kind, links=rows)

    def contact_version(self, contact_key: str) -> int | None:
        """Return the contact's version; None if there is no such contact."""
        rows = self.rows("find_contact_version", contact_key=contact_key)
        return int(rows[0]["version"]) if rows else None

    def finish_contact(self, contact_key: str, version: int, held: Row) -> bool:
        """Give a restored contact its exported properties; False if its version has changed."""
        node = {name: value for name, value in held.items() if name != "contact_key"}
        return bool(
            self.rows("finish_contact", contact_key=contact_key, version=version, node=node)
        )


def _page(contact_key: str, version: int) -> Json:
    return {"contact_key": contact_key, "version": version, "next_version": version - 1}
