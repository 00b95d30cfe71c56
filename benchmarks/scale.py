"""A million facts: what each call costs among them, and about a contact of ten thousand.

``make bench ARGS=scale`` takes long, and gigabytes of the disk, so ``make bench`` alone leaves it
out: a fifth of the facts took twelve minutes on the embedded engine, on two busy cores. ``FACTS``
and ``CONTACTS`` make the store smaller, and ``LARGE`` the large contact; ``RUNS`` is how many
interleaved runs there are, and ``ENGINES`` chooses the engines.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from statistics import median
from typing import Any

from benchmarks.core import ROOT, Side
from benchmarks.core_side import _milliseconds
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from tests.engines import Neo4jEngines

FACTS = sized(1_000_000, 500, "FACTS")
CONTACTS = sized(10_000, 10, "CONTACTS")
LARGE = sized(10_000, 50, "LARGE")
RUNS = sized(5, 1, "RUNS")
SMALL = sized(100, 10)
MEMBERS = min(sized(100, 5), CONTACTS // 2)
CALLS_A_RUN = sized(10, 2)
FILLED_AT_ONCE = 500
STORES = ("full", "empty")
ASKED = [("empty", "small"), ("full", "small"), ("full", "large")]
COLD = "recall, cold"
ABOUT_A_CONTACT = [
    *(COLD, "write", "recall", "recall after a write", "history, 50", "history, all"),
    *("decisions, 50", "pending", "health"),
]
JUDGED = ["write, judged"]
WITH_AN_ACCOUNT = [
    *(f"{COLD}, with an account", "recall, with an account", "write to the account"),
    *("recall after a write to the account", "accounts", "account: members"),
]
NOT_EMBEDDED = ("history", "decisions", "pending", "health", "account")
OF_THE_STORE = [
    *("doctor: jobs", "doctor: erasures"),
    *("agent: contacts, 50", "agent: contacts, all", "agent: decisions, 50", "agent: pending, 50"),
    *("agent: disputes, 50", "agent: refusals", "agent: expiring, 50", "agent: tasks"),
    *("agent: health", "find", "find, indexed"),
]


def main(available: Engines) -> None:
    print(f"## {FACTS:,} facts over {CONTACTS:,} contacts, {RUNS} interleaved runs\n")
    print(
        "A ratio is of the medians of a run; its median, and from the least to the most. Among\n"
        f"others: a contact of {SMALL} facts in the full store against one in an empty store.\n"
        f"Of one contact: {LARGE:,} facts against {SMALL}, in the full store. Vectors are ready;\n"
        "*with embedding* has the milliseconds that the model took for a text of the same kind\n"
        "added to both, which is what a caller waits for. Only a judged write has a judge, the\n"
        "packaged one, which decides it. From *with an account* on, the contacts belong to one:\n"
        f"the large contact and {MEMBERS} others to the same, a small one and one other as well.\n"
    )
    embedding = _embedding_milliseconds()
    print(f"The model took {embedding:.1f} ms for a text, the median of 50.\n")
    for engine in available.names:
        with _sides(available, engine) as sides:
            _fill(sides, engine)
            _print_columns()
            _about_contacts(sides, engine, embedding, ABOUT_A_CONTACT)
            _reopen(sides, has_judge=True)
            _about_contacts(sides, engine, embedding, JUDGED)
            _reopen(sides, has_judge=False)
            _join(sides)
            _about_contacts(sides, engine, embedding, WITH_AN_ACCOUNT)
            _about_all(sides["full"], engine)
    print(f"The machine's load was {os.getloadavg()[0]:.1f} at the end.\n")


@contextmanager
def _sides(available: Engines, engine: str) -> Iterator[dict[str, Side]]:
    """A process for the full store and one for the empty store, each with a server of its own."""
    with ExitStack() as stack:
        sides = {}
        for store in STORES:
            servers = Neo4jEngines(available.servers.choice, full_speed=True)
            stack.callback(servers.close)
            if engine != "embedded":
                servers.fetch([engine], print)
            own = Engines(names=[engine], servers=servers, folder=available.folder)
            sides[store] = Side(ROOT, own.fresh, "scale_side.py")
            stack.callback(sides[store].close)
        yield sides


def _fill(sides: dict[str, Side], engine: str) -> None:
    started = time.monotonic()
    for name, side in sides.items():
        side.open(engine, name)
    given = {"facts_of_each": FACTS // CONTACTS, "members": MEMBERS}
    for first in range(1, CONTACTS, FILLED_AT_ONCE):
        last = min(first + FILLED_AT_ONCE - 1, CONTACTS - 1)
        sides["full"].ask("fill", store="full", first=first, last=last, **given)
    others = [f"company-{number}" for number in range(1, (CONTACTS - 1) // MEMBERS + 1)]
    sides["full"].ask("add_accounts", store="full", names=others)
    for name, side in sides.items():
        side.ask("add", store=name, contacts=["small", "other"], count=SMALL)
        side.ask("add_accounts", store=name, names=["acme"])
    sides["full"].ask("add", store="full", contacts=["large"], count=LARGE)
    for store, contact in ASKED:
        sides[store].ask("add_doubted", store=store, contact=contact)
    print(f"{engine}: filled in {time.monotonic() - started:,.0f} s\n", flush=True)


def _join(sides: dict[str, Side]) -> None:
    """The small contacts belong to an account of their own, the large one to that of others."""
    joining = [(*asked, "acme") for asked in ASKED[:2]]
    joining += [(store, "other", "acme") for store in STORES]
    joining += [("full", "large", "company-1")]
    for store, contact, account in joining:
        sides[store].ask("join", store=store, contact=contact, account=account)


def _embedding_milliseconds() -> float:
    embedder = LocalEmbedder(OnnxMinilm())
    texts = [f"Which invoice of customer {number} is unpaid?" for number in range(60)]
    times = [_milliseconds(partial(embedder.embed, [text])) for text in texts]
    embedder.close()
    return median(times[10:])


def _reopen(sides: dict[str, Side], *, has_judge: bool) -> None:
    for name, side in sides.items():
        side.ask("reopen", store=name, has_judge=has_judge)


def _print_columns() -> None:
    columns = ["engine", "call", "among others", "of one contact", "with embedding"]
    columns += ["ms: empty, full, large", "peak MB"]
    print(f"| {' | '.join(columns)} |\n|---|---|{'--:|' * (len(columns) - 2)}")


def _about_contacts(
    sides: dict[str, Side], engine: str, embedding: float, names: list[str]
) -> None:
    for name in names:
        rows = [_run(sides, name) for _ in range(RUNS + 1)][1:]  # the first one warms up
        empty, full, large = ([row[place] for row in rows] for place in range(3))
        milliseconds = ", ".join(f"{median(each):.2f}" for each in (empty, full, large))
        waited = "–"
        if not name.startswith(NOT_EMBEDDED):
            waited = _ratios([ms + embedding for ms in large], [ms + embedding for ms in full])
        peak = f"{max(row[3] for row in rows):,.0f}" if COLD not in name else "–"
        print(
            f"| {engine} | {name} | {_ratios(full, empty)} | {_ratios(large, full)} "
            f"| {waited} | {milliseconds} | {peak} |",
            flush=True,
        )


def _run(sides: dict[str, Side], name: str) -> list[float]:
    """The median milliseconds in the empty store, in the full one, and of the large contact there.

    Then the most memory that a call took, unless it is a cold recall.
    """
    if COLD in name:
        colds = [
            sides[store].ask("cold_recall", store=store, contact=contact, other="other")
            for store, contact in ASKED
        ]
        return [*colds, 0.0]
    told = [_call(sides[store], store, contact, name, CALLS_A_RUN + 1) for store, contact in ASKED]
    return [*(median(each["times"][1:]) for each in told), max(each["peak"] for each in told)]


def _about_all(side: Side, engine: str) -> None:
    print("\n| engine | call in the full store | ms, first and second | peak MB | grown by MB |")
    print("|---|---|--:|--:|--:|")
    for name in OF_THE_STORE:
        side.ask("reopen", store="full")
        if name == "find, indexed":
            started = time.monotonic()
            if not side.ask("await_index", store="full"):
                continue
            print(f"| {engine} | the index of find is built | {_ms_since(started):,.0f} | | |")
        told = _call(side, "full", "other", name, 1 if name == "agent: health" else 2)
        if told["error"]:
            print(f"| {engine} | {name} | {told['error']} | | |", flush=True)
            continue
        times = ", ".join(f"{each:,.0f}" for each in told["times"])
        print(
            f"| {engine} | {name} | {times} | {told['peak']:,.0f} | {told['grown']:,.0f} |",
            flush=True,
        )
    print()


def _ms_since(started: float) -> float:
    return (time.monotonic() - started) * 1000


def _call(side: Side, store: str, contact: str, name: str, count: int) -> Any:
    return side.ask("call", store=store, contact=contact, name=name, count=count)


def _ratios(ones: list[float], others: list[float]) -> str:
    ratios = [one / other for one, other in zip(ones, others, strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
