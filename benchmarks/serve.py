"""What the HTTP API adds to a call, and how it fares with many clients at once.

The server runs in a process of its own, on the embedded engine without a model, so that the API is
what is measured. The same calls are made directly and through the API, in turns.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx2

from reconciler import Memory
from reconciler.entrypoints.access.grants import AccessProfile, Grant
from reconciler.entrypoints.access.tokens import TokenFile
from reconciler.settings import Settings, load_settings

ROUNDS = 300
CLIENTS = 200
CALLS = 10
FACTS = 20
AT = "/v1/agents/crm/contacts/priya"


def main(_engines: object = None) -> None:
    """Print the table; always on the embedded engine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Memory.open(_settings(folder / "direct.lbug")) as memory:
            _fill(memory)
            direct = memory.contact("crm", "priya")
            with _Server(folder) as server:
                _compare(direct, server)
                _crowd(server)


def _settings(path: Path) -> Settings:
    return load_settings(embedded_path=path, embedder={"model": "noop"})


def _fill(memory: Memory) -> None:
    for number in range(FACTS):
        memory.add_contact_note("crm", "priya", f"Owns bicycle number {number}.")


class _Server:
    def __init__(self, folder: Path) -> None:
        tokens = TokenFile(folder / "tokens.json")
        grant = Grant(profile=AccessProfile.OPERATOR, tenant="default", agent_ids=("crm",))
        self.headers = {"Authorization": f"Bearer {tokens.create(grant)[1]}"}
        path = folder / "served.lbug"
        with Memory.open(_settings(path)) as memory:
            _fill(memory)
        command = [
            *(sys.executable, "-m", "reconciler", "serve", "--port", "0", "--json"),
            *("--tokens", str(tokens.path), "--calls-per-minute", "10000000"),
        ]
        settings = {"RECONCILER_EMBEDDED_PATH": str(path), "RECONCILER_EMBEDDER__MODEL": "noop"}
        self._process = subprocess.Popen(
            command, env=_environment() | settings, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> _Server:
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        self.url = told.partition(': "')[2].partition("/v1")[0]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers=self.headers, timeout=60)


def _environment() -> dict[str, str]:
    import os

    return dict(os.environ)


def _compare(direct: object, server: _Server) -> None:
    from reconciler.contact_memory import ContactMemory

    assert isinstance(direct, ContactMemory)
    notes = iter(range(10**6))
    with server.client() as client:

        def added() -> None:
            text = f"Likes song {next(notes)}."
            client.post(f"{AT}/notes", json={"text": text}).raise_for_status()

        pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "access, no memory": (
                lambda: None,
                lambda: client.get("/v1/access").raise_for_status(),
            ),
            "recall": (
                lambda: direct.recall("bicycle"),
                lambda: client.get(f"{AT}/recall?query=bicycle").raise_for_status(),
            ),
            "profile": (direct.profile, lambda: client.get(f"{AT}/profile").raise_for_status()),
            "note": (lambda: direct.note(f"Likes song {next(notes)}."), added),
        }
        print(f"{'ms':20}{'direct p50':>12}{'p95':>8}{'API p50':>10}{'p95':>8}{'more p50':>10}")
        for name, calls in pairs.items():
            taken: tuple[list[float], list[float]] = ([], [])
            for turn in range(ROUNDS + 20):
                for call, times in zip(calls, taken, strict=True):
                    begin = time.perf_counter()
                    call()
                    if turn >= 20:
                        times.append((time.perf_counter() - begin) * 1000)
            (d50, d95), (a50, a95) = map(_percentiles, taken)
            print(f"{name:20}{d50:12.2f}{d95:8.2f}{a50:10.2f}{a95:8.2f}{a50 - d50:10.2f}")


def _crowd(server: _Server) -> None:
    """Many clients at once, each with a connection of its own that stays open."""
    barrier = Barrier(CLIENTS)

    def work(_: int) -> tuple[list[float], int]:
        times, failed = [], 0
        with server.client() as client:
            barrier.wait()
            for _call in range(CALLS):
                begin = time.perf_counter()
                try:
                    answer = client.get(f"{AT}/recall?query=bicycle")
                    failed += not answer.is_success
                except httpx2.HTTPError:
                    failed += 1
                times.append((time.perf_counter() - begin) * 1000)
        return times, failed

    begin = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as threads:
        done = list(threads.map(work, range(CLIENTS)))
    seconds = time.perf_counter() - begin
    p50, p95 = _percentiles([each for times, _ in done for each in times])
    print(
        f"{CLIENTS} clients at once, {CALLS} recalls each: {CLIENTS * CALLS / seconds:,.0f} a "
        f"second, p50 {p50:,.0f} ms, p95 {p95:,.0f} ms, {sum(each for _, each in done)} failed"
    )


def _percentiles(times: list[float]) -> tuple[float, float]:
    cut = statistics.quantiles(times, n=20)
    return cut[9], cut[18]


if __name__ == "__main__":
    main()
