"""What every side of the comparison shares: a process that drives one memory system as it is told.

It reads a JSON line ``{"do": name, …}`` from stdin and answers with one on stdout, so that each
system runs in the virtual environment of its own package. This file and those beside it must not
import the project, nor anything else that is not in each of those environments.
"""

from __future__ import annotations

import base64
import http.client
import json
import logging
import math
import os
import random
import sys
import threading
import time
import traceback
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

DIMENSION = 384


class Side(Protocol):
    """One open memory system on one store."""

    def write(self, contact: str, note: dict[str, str]) -> None:
        """Tell the system a note about a contact, by its own door."""

    def live(self, contact: str) -> list[str]:
        """The texts that the system gives back as current when asked for all of a contact."""

    def recall(self, contact: str, question: str, count: int) -> list[str]:
        """The texts of what is current, the best for the question first, by its own search."""

    def load(self, told: list[dict[str, Any]]) -> None:
        """Contacts with notes, by the door for many at once where the system has one."""

    def embed(self, text: str) -> list[float]:
        """One vector, fetched as the system fetches it."""

    def insert(self, text: str, vector: list[float]) -> None:
        """The bare insert: one text and its vector into a store of the same kind, nothing else."""

    def fill(self, count: int) -> None:
        """That many facts of others, a hundred a contact, with random vectors, in batches."""

    def close(self) -> None:
        """Close what is open."""


class OneByOne:
    """For a system that has no door for many notes at once."""

    def load(self, told: list[dict[str, Any]]) -> None:
        for each in told:
            self.write(each["contact"], each["note"])  # type: ignore[attr-defined]


class Model:
    """The loopback server's embeddings, over one connection a thread."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._of_thread = threading.local()

    def vectors(self, texts: list[str]) -> list[list[float]]:
        sent = json.dumps({"model": "minilm", "input": texts, "encoding_format": "base64"})
        connection = self._connection()
        path = f"{self._address.path}/embeddings"
        connection.request("POST", path, sent, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        return [_floats(each["embedding"]) for each in answer["data"]]

    def vector(self, text: str) -> list[float]:
        return self.vectors([text])[0]

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._of_thread, "connection"):
            host, port = self._address.hostname or "", self._address.port
            self._of_thread.connection = http.client.HTTPConnection(host, port, timeout=60)
        return self._of_thread.connection


def _floats(encoded: str) -> list[float]:
    return array("f", base64.b64decode(encoded)).tolist()


class Others:
    """Facts of other contacts, for filling a store; always the same ones."""

    def __init__(self) -> None:
        self._random = random.Random(7)

    def vector(self) -> list[float]:
        raw = array("h", self._random.randbytes(2 * DIMENSION))
        length = math.sqrt(sum(value * value for value in raw))
        return [value / length for value in raw]

    def rows(self, count: int, size: int = 500) -> list[list[dict[str, Any]]]:
        """Batches of rows: contact, thing and text. A vector is made when it is asked for."""
        rows = [
            {
                "contact": f"other-{number // 100}",
                "thing": f"parcel {number}",
                "text": f"Parcel {number} was sent to the depot.",
            }
            for number in range(count)
        ]
        return [rows[first : first + size] for first in range(0, count, size)]


class Bare:
    """One auto-commit CREATE on Neo4j: the baseline of each system that keeps its facts there."""

    QUERY = "CREATE (:Bare {fact_id: randomUUID(), text: $text, embedding: $embedding})"

    def __init__(self, store: dict[str, Any]) -> None:
        import neo4j

        auth = (store["username"], store["password"])
        self._driver = neo4j.GraphDatabase.driver(
            store["uri"], auth=auth, notifications_min_severity="OFF"
        )

    def insert(self, text: str, vector: list[float]) -> None:
        with self._driver.session(database="neo4j") as session:
            session.run(self.QUERY, text=text, embedding=vector).consume()

    def close(self) -> None:
        self._driver.close()


def serve(opening: Callable[[dict[str, Any]], Side]) -> None:
    """Open the system on the store that argv names when first asked; answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    logging.disable(logging.WARNING)  # writing pages of warnings must not count as remembering
    os.dup2(2, 1)  # what a package prints must not come between the answers
    answers.write(json.dumps({"ready": True}) + "\n")
    side: Side | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            side = side or opening(json.loads(sys.argv[1]))
            given = _DO[asked.pop("do")](side, **asked)
        except Exception as error:  # noqa: BLE001 (whatever a peer raises is a result)
            traceback.print_exc()
            given = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(given) + "\n")
    if side is not None:
        side.close()


def _write(side: Side, contact: str, note: dict[str, str], at: float = 0.0) -> dict[str, Any]:
    time.sleep(max(0.0, at - time.time()))
    return {"write": _milliseconds(lambda: side.write(contact, note))}


def _round(side: Side, contact: str, note: dict[str, str]) -> dict[str, Any]:
    """The baseline and the write in turn, so that both meet the same machine."""
    vectors: list[list[float]] = []
    embedding = _milliseconds(lambda: vectors.append(side.embed(note["text"])))
    insert = _milliseconds(lambda: side.insert(note["text"], vectors[0]))
    return {"embedding": embedding, "insert": insert, **_write(side, contact, note)}


def _crowd(side: Side, contact: str, note: dict[str, str], count: int) -> dict[str, Any]:
    """As many threads, one write each, let go together; gives the errors."""
    together = threading.Barrier(count)

    def go(_: int) -> str:
        together.wait()
        try:
            side.write(contact, note)
        except Exception as error:  # noqa: BLE001 (a failed writer is a result)
            return f"{type(error).__name__}: {error}"[:300]
        return ""

    with ThreadPoolExecutor(count) as pool:
        return {"errors": [error for error in pool.map(go, range(count)) if error]}


def _live(side: Side, contact: str) -> dict[str, Any]:
    return {"texts": side.live(contact)}


def _recall(side: Side, contact: str, question: str, count: int) -> dict[str, Any]:
    texts: list[str] = []
    took = _milliseconds(lambda: texts.extend(side.recall(contact, question, count)))
    return {"recall": took, "texts": texts}


def _memory(_: Side) -> dict[str, Any]:
    """Mebibytes that this process holds in memory; on Linux."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return {"memory": int(status.partition("VmRSS:")[2].split()[0]) / 1024}


def _load(side: Side, told: list[dict[str, Any]]) -> dict[str, Any]:
    return {"load": _milliseconds(lambda: side.load(told))}


def _fill(side: Side, count: int) -> dict[str, Any]:
    return {"fill": _milliseconds(lambda: side.fill(count))}


def _remarks(side: Any) -> dict[str, Any]:
    """What the system said of notes that it did not take as they were; most say nothing."""
    return {"remarks": getattr(side, "remarks", [])}


def _hand_over(side: Any, contact: str, note: dict[str, str]) -> dict[str, Any]:
    return {"hand_over": _milliseconds(lambda: side.hand_over(contact, note))}


def _drain(side: Any) -> dict[str, Any]:
    return {"drain": _milliseconds(side.drain)}


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


_DO: dict[str, Callable[..., dict[str, Any]]] = {
    "open": lambda _: {},
    "remarks": _remarks,
    "write": _write,
    "round": _round,
    "crowd": _crowd,
    "live": _live,
    "recall": _recall,
    "memory": _memory,
    "load": _load,
    "fill": _fill,
    "hand_over": _hand_over,
    "drain": _drain,
}
