"""One side of the benchmark ``core``: a process that uses one checkout's memory as it is told.

Reads a JSON line ``{"do": name, …}`` from stdin, answers with one on stdout. It is run as a file,
so that ``reconciler`` is the checkout's on PYTHONPATH, be it this one or an older one. It uses the
public facade; what it does behind its back is filling a store, which nobody could wait for.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ladybug
import neo4j
import numpy as np
from numpy.typing import NDArray

from reconciler import Memory

DIMENSION = 384
AGENT = "benchmark"
NOTES = {
    "ADD": "Asked about parcel {number}",
    "UPDATE": "Lives in {town}",
    "restatement": "Prefers to be contacted by email",
}
"""What is written, by what becomes of it from the second one about a contact on."""

BARE = "CREATE (fact:Bare {fact_id: $fact_id, text: $text, embedding: $embedding})"
POOL_BYTES = 1 << 29
TEMPLATES = {
    "Fact": "MATCH (:Contact {contact_id: $contact})<-[:ABOUT]-(n:Fact) RETURN n LIMIT 1",
    "Decision": "MATCH (:Contact {contact_id: $contact})<-[:`FOR`]-(n:Decision) RETURN n LIMIT 1",
    "Episode": "MATCH (:Contact {contact_id: $contact})<-[:`WITH`]-()<-[:`IN`]-(n:Episode) "
    "RETURN n LIMIT 1",
}


@contextmanager
def opened_file(settings: dict[str, Any], pool_bytes: int) -> Iterator[Any]:
    """A connection to the embedded store's file, which nobody has open."""
    with (
        ladybug.Database(settings["embedded_path"], buffer_pool_size=pool_bytes) as database,
        ladybug.Connection(database) as connection,
    ):
        yield connection


class RandomEmbedder:
    """Vectors that are near nothing, ready at once: every note is an ADD and costs no embedding."""

    model_id = "random"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._random.normal(size=(len(texts), DIMENSION)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def warm_up(self) -> float:
        return 0.0

    def close(self) -> None:
        """Nothing to stop."""


class Store:
    """One store with its memory, its bare CREATE, and the ways to fill it."""

    def __init__(self, settings: dict[str, Any], *, has_model: bool) -> None:
        self.settings = settings
        self.has_model = has_model
        self.is_embedded = settings["graph"] == "embedded"
        self.embedder = RandomEmbedder()
        self.numbers = itertools.count()
        self.open()
        self.bare = self._bare_embedded() if self.is_embedded else self._bare_neo4j()

    def open(self) -> None:
        own = {} if self.has_model else {"embedder": self.embedder}
        self.memory = Memory.open(**own, **self.settings)

    def reopen(self) -> None:
        self.memory.close()
        self.open()

    def write(self, contact: str, kind: str = "ADD") -> None:
        """Write a note of a kind of ``NOTES``."""
        number = next(self.numbers)
        town = "".join("abdegilmno"[int(digit)] for digit in f"{number:05}").title()
        text = NOTES[kind].format(number=number, town=town)
        self.memory.add_contact_note(AGENT, contact, text)

    def live(self, contacts: list[str]) -> list[str]:
        """The texts of what is live of some contacts, sorted."""
        chains = itertools.chain(*(self.memory.contact(AGENT, to).history() for to in contacts))
        return sorted(fact.text for chain in chains for fact in chain.facts if fact.is_live)

    def rows(self, count: int) -> list[dict[str, Any]]:
        vectors = self.embedder.embed([""] * count)
        return [
            {
                "id": str(uuid.uuid4()),
                "text": f"Invoice {next(self.numbers)} is unpaid",
                "vector": vector.tolist(),
                "bytes": vector.tobytes(),
            }
            for vector in vectors
        ]

    def fill(self, contact: str, count: int) -> None:
        """Facts of one contact, as copies of one that came by the door."""
        self.write(contact)
        rows = self.rows(count - 1)
        batches = [rows[first : first + 500] for first in range(0, len(rows), 500)]
        if self.is_embedded:
            self.memory.close()
            with opened_file(self.settings, POOL_BYTES) as connection:
                for batch in batches:
                    _copy_embedded(connection, "Fact", contact, batch)
            self.open()
        else:
            for batch in batches:
                _copy_neo4j(self.driver, contact, batch)

    def add_others(self, contact: str, count: int) -> None:
        """Facts, decisions and episodes of others, by the connection of this process's memory."""
        graph = self.memory._services.fact_store
        while not hasattr(graph, "_writer"):  # older checkouts hide it
            graph = getattr(graph, "graph", None) or graph._graph
        for first in range(0, count, 500):
            rows = self.rows(min(500, count - first))
            with graph._writer() as connection:
                key = f"others/{uuid.uuid4()}"
                connection.execute("CREATE (:Contact {contact_key: $key})", {"key": key}).close()
                for label in TEMPLATES:
                    _copy_embedded(connection, label, contact, rows, key)

    def _bare_embedded(self) -> Callable[[], None]:
        folder = tempfile.mkdtemp(dir=Path(self.settings["embedded_path"]).parent)
        database = ladybug.Database(Path(folder) / "bare.lbug", buffer_pool_size=POOL_BYTES)
        connection = ladybug.Connection(database)
        connection.execute(
            "CREATE NODE TABLE Bare(fact_id STRING PRIMARY KEY, text STRING, "
            f"embedding FLOAT[{DIMENSION}])"
        ).close()
        return lambda: connection.execute(BARE, self._bare_values()).close()

    def _bare_neo4j(self) -> Callable[[], None]:
        server = self.settings["neo4j"]
        self.driver = neo4j.GraphDatabase.driver(
            server["uri"],
            auth=(server["username"], server["password"]),
            notifications_min_severity="OFF",
        )

        def create() -> None:
            with self.driver.session(database=server["database"]) as session:
                session.run(BARE, self._bare_values()).consume()

        return create

    def _bare_values(self) -> dict[str, Any]:
        vector = self.embedder.embed([""])[0].tolist()
        return {"fact_id": str(uuid.uuid4()), "text": NOTES["ADD"], "embedding": vector}


def _copy_embedded(
    connection: Any, label: str, contact: str, rows: list[dict[str, Any]], key: str | None = None
) -> None:
    result = connection.execute(TEMPLATES[label], {"contact": contact})
    node = result.get_next()[0]
    result.close()
    own = f"{label.lower()}_id"
    left_out = {own, "embedding", "text"}
    kept = [name for name in node if name not in left_out and not name.startswith("_")]
    common = {name: node[name] for name in kept if node[name] not in (None, [])}
    asked, columns = _columns(common)
    if label == "Fact":
        columns["embedding"] = "row.vector"
    if key is None:
        result = connection.execute(
            "MATCH (contact:Contact {contact_id: $contact}) RETURN contact.contact_key",
            {"contact": contact},
        )
        key = result.get_next()[0]
        result.close()
    listed = ", ".join(f"{name}: {value}" for name, value in columns.items())
    link = {"Fact": "-[:ABOUT]->(contact)", "Decision": "-[:`FOR`]->(contact)"}.get(label, "")
    used = [{name: row[name] for name in ("id", "text", "vector")} for row in rows]
    if "row.bytes" in columns.values():
        used = [row | {"bytes": whole["bytes"]} for row, whole in zip(used, rows, strict=True)]
    connection.execute(
        "MATCH (contact:Contact {contact_key: $key}) UNWIND $rows AS row "
        f"CREATE (:{label} {{{own}: row.id, text: row.text, {listed}}}){link}",
        {"key": key, "rows": used, **asked},
    ).close()


def _columns(common: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """What every copy has, as parameters; a vector that lies as bytes is the row's own."""
    columns = {
        name: "row.bytes" if _is_vector_bytes(value) else f"$p_{name}"
        for name, value in common.items()
    }
    return {
        f"p_{name}": value for name, value in common.items() if columns[name] != "row.bytes"
    }, columns


def _copy_neo4j(driver: Any, contact: str, rows: list[dict[str, Any]]) -> None:
    with driver.session() as session:
        found = session.run(TEMPLATES["Fact"], {"contact": contact}).single()
        node = dict(found["n"])
        for name in ("fact_id", "embedding", "text"):
            node.pop(name, None)
        with_bytes = [name for name, value in node.items() if _is_vector_bytes(value)]
        for row in rows:
            row["own"] = dict.fromkeys(with_bytes, row["bytes"])
        session.run(
            "MATCH (contact:Contact {contact_id: $contact}) UNWIND $rows AS row "
            "CREATE (fact:Fact {fact_id: row.id, text: row.text})-[:ABOUT]->(contact) "
            "SET fact += $common SET fact += row.own WITH fact, row "
            "CALL db.create.setNodeVectorProperty(fact, 'embedding', row.vector)",
            {"contact": contact, "rows": rows, "common": node},
        ).consume()


def _is_vector_bytes(value: Any) -> bool:
    return isinstance(value, bytes | bytearray) and len(value) == 4 * DIMENSION


class Side:
    """What can be asked for: each method is a command, its result the answer."""

    def __init__(self) -> None:
        self.stores: dict[str, Store] = {}

    def open(self, store: str, settings: dict[str, Any], *, has_model: bool = False) -> None:
        self.stores[store] = Store(settings, has_model=has_model)

    def close(self, store: str) -> None:
        closing = self.stores.pop(store)
        closing.memory.close()

    def fill(self, store: str, contact: str, count: int) -> None:
        self.stores[store].fill(contact, count)

    def add_others(self, store: str, contact: str, count: int) -> None:
        self.stores[store].add_others(contact, count)

    def bare(self, store: str, count: int) -> list[float]:
        return [_milliseconds(self.stores[store].bare) for _ in range(count)]

    def in_turn(self, jobs: list[dict[str, Any]], blocks: int) -> list[list[float]]:
        """Jobs of ``bare`` and ``write`` in turn, block by block: the milliseconds of each job.

        The first of a block is not counted, since it finds the caches as another job left them.
        """
        times: list[list[float]] = [[] for _ in jobs]
        for _ in range(blocks):
            for job, found in zip(jobs, times, strict=True):
                given = {name: value for name, value in job.items() if name != "do"}
                found += getattr(self, job["do"])(**given)[1:]
        return times

    def write(
        self,
        store: str,
        contacts: list[str],
        count: int,
        kind: str = "ADD",
        *,
        is_checked: bool = False,
    ) -> list[float]:
        """Milliseconds of each write; checked, the store must hold what the kind names."""
        writing = self.stores[store]
        before = writing.live(contacts) if is_checked else []
        found = [
            _milliseconds(lambda to=contact: writing.write(to, kind))
            for contact in itertools.islice(itertools.cycle(contacts), count)
        ]
        if is_checked:
            became = _became(before, writing.live(contacts), count)
            assert became == kind, f"writes that should be {kind} were {became}"
        return found

    def recall(self, store: str, contact: str, other: str, count: int) -> list[float]:
        """The first one by a memory that never saw the contact, the others right after it."""
        recalling = self.stores[store]
        recalling.reopen()
        recalling.memory.contact(AGENT, other).recall("Which invoice is unpaid?")
        return [
            _milliseconds(
                lambda: recalling.memory.contact(AGENT, contact).recall("Which invoice is unpaid?")
            )
            for _ in range(count)
        ]

    def threads(self, store: str, threads: int, notes: int) -> float:
        """Notes a second, each thread writing to a contact of its own."""
        writing = self.stores[store]

        def write(number: int) -> None:
            for _ in range(notes):
                writing.write(f"thread-{number}")

        started = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(write, range(threads)))
        return threads * notes / (time.perf_counter() - started)

    def model(self, store: str, texts: list[str]) -> float:
        """Seconds for the model alone, sorted by length so that batches need little padding."""
        embedder = self.stores[store].memory._services.embedder
        started = time.perf_counter()
        embedder.embed(sorted(texts, key=len))
        return time.perf_counter() - started

    def import_notes(self, store: str, texts: list[str], contacts: int) -> float:
        """Seconds for the import of the same texts."""
        lines = [
            json.dumps({"agent_id": AGENT, "contact_id": f"c{number % contacts}", "text": text})
            for number, text in enumerate(texts)
        ]
        started = time.perf_counter()
        report = self.stores[store].memory.import_notes(lines)
        assert not report.errors, report.errors[:3]
        return time.perf_counter() - started


def _became(before: list[str], after: list[str], count: int) -> str:
    """What so many writes were, by the texts that are live before and after them."""
    if len(after) - len(before) == count:
        return "ADD"
    if len(after) != len(before):
        return f"mixed: {len(before)} live facts, then {len(after)}"
    return "restatement" if after == before else "UPDATE"


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def answer(side: Any) -> None:
    """Do what each line of stdin asks of a side, and close its stores at the end."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints goes with the errors
    for line in sys.stdin:
        asked = json.loads(line)
        answered = getattr(side, asked.pop("do"))(**asked)
        print(json.dumps(answered), file=answers, flush=True)
    for store in list(side.stores):
        side.close(store)


if __name__ == "__main__":
    answer(Side())
