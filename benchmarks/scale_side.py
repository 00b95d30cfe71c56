"""One store of the benchmark ``scale``: a process that fills it, and times and weighs calls on it.

Reads a JSON line ``{"do": name, …}`` from stdin, answers with one on stdout, as ``core_side`` does.
Facts of others are copies, made inside the engine, of a contact whose notes came by the door: all
that a copy has of its own is a number at the end of each id.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import neo4j
import numpy as np
from numpy.typing import NDArray

from benchmarks.core_side import AGENT, RandomEmbedder, _milliseconds, answer, opened_file
from reconciler import Memory, ops
from reconciler.errors import ReconcilerError

ZEROS = "0" * 12
"""How every id of the contact that is copied ends; a copy has its number there."""

TEMPLATE = f"customer-{ZEROS}"
NODES = {
    "Contact": "contact_key",
    "Session": "session_key",
    "Episode": "episode_id",
    "Fact": "fact_id",
    "Decision": "decision_id",
}
LINKS = {
    "WITH": ("Session", "Contact"),
    "IN": ("Episode", "Session"),
    "ABOUT": ("Fact", "Contact"),
    "FOR": ("Decision", "Contact"),
    "WROTE": ("Decision", "Fact"),
    "JUDGED": ("Decision", "Episode"),
    "EVIDENCED_BY": ("Fact", "Episode"),
    "COMPARED_WITH": ("Decision", "Fact"),
    "SUPERSEDES": ("Fact", "Fact"),
    "CONFLICTS_WITH": ("Fact", "Fact"),
    "KNOWS": ("Agent", "Contact"),  # last: whoever writes it holds the agent until it commits
}
KEYS = {"Agent": "agent_key", **NODES}
COPIED_AT_ONCE = {"embedded": 500, "neo4j": 10}
POOL_BYTES = 3 << 30
QUESTION = "Which invoice is unpaid?"


class Embedder(RandomEmbedder):
    """Random vectors, but one and the same for every order: the guard sees their numbers differ."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed(texts)
        for row, text in enumerate(texts):
            if text.startswith("Order"):
                vectors[row] = np.eye(1, self.dimension, dtype=np.float32)[0]
        return vectors


class Store:
    """One store: what it is filled with, and the calls that are looked at."""

    def __init__(self, settings: dict[str, Any], embedder: Embedder | None) -> None:
        self.settings = settings
        self.is_embedded = settings["graph"] == "embedded"
        self.embedder = embedder  # None for the model of the settings
        self.numbers = itertools.count()
        self.open()

    def open(self) -> None:
        self.memory = Memory.open(embedder=self.embedder, **self.settings)

    def reopen(self) -> None:
        self.memory.close()
        self.open()

    def add(self, contact: str, count: int) -> None:
        """Facts of one contact, by the door."""
        notes = [
            {"agent_id": AGENT, "contact_id": contact, "text": self.note()} for _ in range(count)
        ]
        report = self.memory.import_notes(map(json.dumps, notes))
        assert not report.errors, report.errors[:3]

    def note(self) -> str:
        return f"Invoice {next(self.numbers)} is unpaid"

    def calls(self, contact: str) -> dict[str, Callable[[], object]]:
        """What is looked at, by name: about a contact, about the agent, about the whole store."""
        memory = self.memory
        erasure_store = self.memory._services.erasure_store
        return {
            "write": lambda: memory.add_contact_note(AGENT, contact, self.note()),
            "recall": lambda: memory.contact(AGENT, contact).recall(QUESTION),
            "recall after a write": lambda: memory.contact(AGENT, contact).recall(QUESTION),
            "history, all": lambda: memory.contact(AGENT, contact).history(),
            "history, 50": lambda: memory.contact(AGENT, contact).history(limit=50),
            "decisions, 50": lambda: memory.contact(AGENT, contact).decisions(),
            "pending": lambda: memory.contact(AGENT, contact).pending(),
            "health": lambda: ops.health(memory.contact(AGENT, contact)),
            "agent: contacts, 50": lambda: memory.agent(AGENT).contacts(limit=50),
            "agent: contacts, all": lambda: memory.agent(AGENT).contacts(),
            "agent: decisions, 50": lambda: memory.agent(AGENT).decisions(),
            "agent: pending, 50": lambda: memory.agent(AGENT).pending(limit=50),
            "agent: disputes, 50": lambda: memory.agent(AGENT).disputes(limit=50),
            "agent: refusals": lambda: memory.agent(AGENT).refusals(),
            "agent: expiring, 50": lambda: memory.agent(AGENT).expiring(days=365, limit=50),
            "agent: tasks": lambda: memory.agent(AGENT).tasks(),
            "agent: health": lambda: ops.health(memory.agent(AGENT)),
            "find": lambda: memory.agent(AGENT).find(QUESTION),
            "find, indexed": lambda: memory.agent(AGENT).find(QUESTION),
            "doctor: jobs": memory.queue,
            "doctor: erasures": lambda: erasure_store.list_erasures(is_unfinished=True),
        }

    def fill(self, facts_of_each: int, first: int, last: int) -> None:
        """The template, where the store is new, and copies of it."""
        if not self.memory.agent(AGENT).contacts(limit=1):
            self.write_template(facts_of_each)
        self.copy(first, last)

    def write_template(self, count: int) -> None:
        """A contact of so many facts, live and ended, a refusal, a question and a dispute."""
        with patch("uuid.uuid4", _number_zero):
            texts = ["Thanks a lot!", "Has diabetes", "Order 1 is late", "Order 2 is late"]
            texts += ["Lives in Pune", "She moved to Mumbai", "She moved to Delhi"]
            texts += [self.note() for _ in range(count - 5)]
            for text in texts:
                self.memory.add_contact_note(AGENT, TEMPLATE, text)

    def copy(self, first: int, last: int) -> None:
        """Copies of the template, by the engine itself."""
        size = COPIED_AT_ONCE[self.settings["graph"]]
        starts = range(first, last + 1, size)
        parts = [(start, min(start + size - 1, last)) for start in starts]
        if self.is_embedded:
            self.memory.close()
            with opened_file(self.settings, POOL_BYTES) as connection:
                for part in parts:
                    _copy_embedded(connection, *part)
            self.open()
        else:
            with self._driver() as driver:
                for part in parts:
                    _copy_neo4j(driver, *part)

    def _driver(self) -> Any:
        server = self.settings["neo4j"]
        return neo4j.GraphDatabase.driver(
            server["uri"],
            auth=(server["username"], server["password"]),
            notifications_min_severity="OFF",
        )


def _number_zero() -> uuid.UUID:
    """An id as any other, that ends in zeros."""
    return uuid.UUID(f"{uuid.uuid1().hex[:8]}{uuid.uuid1().hex[:4]}40008000{ZEROS}")


def _copy_embedded(connection: Any, first: int, last: int) -> None:
    """Table by table, in bulk; what is copied is found by how its key ends."""
    number = f"UNWIND range({first}, {last}) AS number RETURN"
    for label, key in NODES.items():
        values = [_numbered_here("one", *column) for column in _columns(connection, label)]
        _copy(
            connection,
            label,
            f"MATCH (one:{label}) WHERE one.{key} CONTAINS '{ZEROS}' {number}",
            values,
        )
    for link, (begin, end) in LINKS.items():
        ends = [_numbered_here("one", KEYS[begin], "STRING")]
        ends += [_numbered_here("other", KEYS[end], "STRING")]
        own = [f"link.`{name}`" for name, _ in _columns(connection, link)]
        found = f"MATCH (one:{begin})-[link:`{link}`]->(other:{end}) "
        found += f"WHERE other.{KEYS[end]} CONTAINS '{ZEROS}' {number}"
        _copy(connection, link, found, ends + own)


def _copy(connection: Any, table: str, found: str, values: list[str]) -> None:
    named = ", ".join(f"{value} AS column_{place}" for place, value in enumerate(values))
    connection.execute(f"COPY `{table}` FROM ({found} {named})").close()


def _columns(connection: Any, table: str) -> list[tuple[str, str]]:
    rows = list(connection.execute(f"CALL table_info('{table}') RETURN name, type"))
    return [(str(name), str(kind)) for name, kind in rows]


def _numbered_here(node: str, name: str, kind: str) -> str:
    if kind != "STRING":
        return f"{node}.`{name}`"
    tail = "lpad(CAST(number AS STRING), 12, '0')"
    return f"replace({node}.`{name}`, '{ZEROS}', {tail})"


def _copy_neo4j(driver: Any, first: int, last: int) -> None:
    """All copies of one transaction: nodes by their label, then links between their ends."""
    given = {"zeros": ZEROS, "first": first, "last": last, "contact": TEMPLATE, "agent": AGENT}
    number = "UNWIND range($first, $last) AS number "
    number += "WITH *, right($zeros + toString(number), 12) AS tail "
    with driver.session() as session, session.begin_transaction() as transaction:
        for label in NODES:
            own, names = _template_of(transaction, label, given)
            # One SET: with the template's own key, even for a moment, a copy is refused.
            changes = ", ".join(f"{n}: replace(one.{n}, $zeros, tail)" for n in names)
            transaction.run(
                f"{own} {number} CREATE (copy:$(labels(one))) SET copy = one {{.*, {changes}}}",
                given,
            ).consume()
        for link, (begin, end) in LINKS.items():
            own, _ = _template_of(transaction, end, given)
            one, other = KEYS[begin], KEYS[end]
            transaction.run(
                f"{own} MATCH (begin:{begin})-[link:`{link}`]->(one) {number} "
                f"MATCH (from:{begin} {{{one}: replace(begin.{one}, $zeros, tail)}}) "
                f"MATCH (to:{end} {{{other}: replace(one.{other}, $zeros, tail)}}) "
                f"CREATE (from)-[copy:`{link}`]->(to) SET copy = properties(link)",
                given,
            ).consume()
        transaction.commit()


_FROM_CONTACT = {
    "Contact": "",
    "Session": "<-[:`WITH`]-(one:Session)",
    "Episode": "<-[:`WITH`]-(:Session)<-[:`IN`]-(one:Episode)",
    "Fact": "<-[:ABOUT]-(one:Fact)",
    "Decision": "<-[:`FOR`]-(one:Decision)",
}
_NUMBERED: dict[str, list[str]] = {}


def _template_of(transaction: Any, label: str, given: dict[str, Any]) -> tuple[str, list[str]]:
    """A pattern of the template's nodes of a label, and which of their properties have ids."""
    contact = "one" if label == "Contact" else ""
    own = f"MATCH ({contact}:Contact {{contact_key: 'default/' + $agent + '/' + $contact}})"
    own += _FROM_CONTACT[label]
    if label not in _NUMBERED:
        told = transaction.run(
            f"{own} UNWIND keys(one) AS name WITH one, name WHERE valueType(one[name]) "
            "STARTS WITH 'STRING' AND one[name] CONTAINS $zeros RETURN DISTINCT name",
            given,
        )
        _NUMBERED[label] = [str(row["name"]) for row in told]
    return own, _NUMBERED[label]


class Side:
    """What can be asked for: each method is a command, its result the answer."""

    def __init__(self) -> None:
        self.stores: dict[str, Store] = {}

    def open(self, store: str, settings: dict[str, Any]) -> None:
        self.stores[store] = Store(settings, Embedder())

    def close(self, store: str) -> None:
        self.stores.pop(store).memory.close()

    def reopen(self, store: str) -> None:
        self.stores[store].reopen()

    def fill(self, store: str, facts_of_each: int, first: int, last: int) -> None:
        self.stores[store].fill(facts_of_each, first, last)

    def add(self, store: str, contact: str, count: int) -> None:
        self.stores[store].add(contact, count)

    def await_index(self, store: str) -> bool:
        """Whether the engine has an index of vectors, once it is built."""
        looking = self.stores[store]
        if looking.is_embedded:
            return False
        with looking._driver() as driver:
            driver.execute_query("CALL db.awaitIndexes(1800)")
        return True

    def call(self, store: str, contact: str, name: str, count: int) -> dict[str, Any]:
        """The milliseconds of each call, the memory that the process took at most, or an error."""
        calls = self.stores[store].calls(contact)
        before = _peak_megabytes(is_reset=True)
        times = []
        try:
            for _ in range(count):
                if name.endswith("after a write"):
                    calls["write"]()
                times.append(_milliseconds(calls[name]))
        except ReconcilerError as error:
            return {"times": [], "peak": None, "grown": None, "error": str(error)[:80]}
        peak = _peak_megabytes()
        return {"times": times, "peak": peak, "grown": peak - before, "error": ""}

    def cold_recall(self, store: str, contact: str, other: str) -> float:
        """The first recall about a contact by a memory that has recalled about another one."""
        looking = self.stores[store]
        looking.reopen()
        looking.calls(other)["recall"]()
        return _milliseconds(looking.calls(contact)["recall"])


def _peak_megabytes(*, is_reset: bool = False) -> float:
    """The most memory that this process held since it was reset; on Linux."""
    if is_reset:
        Path("/proc/self/clear_refs").write_text("5")
    told = Path("/proc/self/status").read_text()
    return int(told.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    answer(Side())
