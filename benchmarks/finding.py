"""What ``find`` costs over all contacts of an agent, beside a bare search of the same vectors.

Without embedding the question, which takes the packaged model some 5 ms.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import neo4j
import numpy as np
from numpy.typing import NDArray

from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler.bootstrap.chosen_models import open_graph
from reconciler.domain.recalling.filtering import EVERYTHING
from reconciler.domain.recalling.recallable import Recalling
from reconciler.domain.records.facts import FoundFact
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.policies import RankingPolicy
from reconciler.service.recall import FactFinder
from reconciler.service.stores.contact_store import ContactStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.commits import committed

__all__ = ["main"]

CONTACTS, FACTS, LIMIT, REPEATS = sized(100, 10), sized(100, 10), 8, sized(21, 3)
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
QUESTION = "Which invoice is unpaid since 12 days?"
EMBEDDER = HashingEmbedder(384)
INDEXED = "CALL db.index.vector.queryNodes('fact_embedding', $limit, $vector) YIELD node, score "
INDEXED += "RETURN node.fact_id, score"
Vectors = NDArray[np.float32]


def main(available: Engines) -> None:
    """Print what it takes on each engine, and the ratio to a bare search."""
    print(f"## find among {CONTACTS} contacts of {FACTS} facts each, ms (median of {REPEATS})\n")
    print("| engine | numpy over the vectors | bare index query | find | to numpy | to the index |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in available.names:
        scan, index, find = _measured(available, name)
        to_index = "–" if index is None else f"{find / index:.1f}"
        bare = "–" if index is None else f"{index:.2f}"
        print(f"| {name} | {scan:.2f} | {bare} | {find:.1f} | {find / scan:.1f} | {to_index} |")
    print(flush=True)


def _measured(available: Engines, name: str) -> tuple[float, float | None, float]:
    """The median of a scan in numpy, of a query of the index where there is one, and of find."""
    settings = load_settings(**available.fresh(name))
    with closing(open_graph(settings)) as graph:
        graph.migrate(EMBEDDER.dimension)
        vectors = _fill(DecisionStore(graph))
        finding = FactFinder(
            fact_store=FactStore(graph),
            contact_store=ContactStore(graph),
            embedder=EMBEDDER,
            clock=lambda: NOON,
            how=Recalling(ranking=RankingPolicy()),
        )
        scope, asked = Scope("benchmark", "crm", "any"), EMBEDDER.embed([QUESTION])[0]

        def find() -> list[FoundFact]:
            return finding.nearest(scope, QUESTION, LIMIT, EVERYTHING)

        assert len(find()) == LIMIT  # the first has the index made
        if name == "embedded":
            return _median(lambda: _nearest(vectors, asked)), None, _median(find)
        with _session(settings) as session:
            session.run("CALL db.awaitIndexes()").consume()
            scan = _median(lambda: _nearest(vectors, asked))
            index = _median(
                lambda: session.run(INDEXED, limit=LIMIT, vector=asked.tolist()).values()
            )
        return scan, index, _median(find)


def _fill(store: DecisionStore) -> Vectors:
    """All contacts' facts; gives their vectors."""
    made = []
    for number in range(CONTACTS):
        scope = Scope("benchmark", "crm", f"contact-{number:03}")
        texts = [f"Invoice {n} of {number} is unpaid since {n % 31} days" for n in range(FACTS)]
        vectors = EMBEDDER.embed(texts)
        known = {"said_at": NOON, "embedding_model": EMBEDDER.model_id}
        store.commit_decisions(
            committed(scope, n, vectors[n].tolist(), text=text, **known)
            for n, text in enumerate(texts)
        )
        made.append(vectors)
    return np.concatenate(made)


def _nearest(vectors: Vectors, asked: Vectors) -> object:
    cosines = vectors @ asked
    best = np.argpartition(-cosines, LIMIT)[:LIMIT]
    return best[np.argsort(-cosines[best])]


@contextmanager
def _session(settings: Any) -> Iterator[neo4j.Session]:
    server = settings.neo4j
    auth = (server.username, server.password.get_secret_value())
    with (
        neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver,
        driver.session(database=server.database) as session,
    ):
        yield session


def _median(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)
