"""What the HTTP API adds to a call, and how it fares with many clients at once.

The server runs in a process of its own, on the embedded engine without a model, so that the API is
what is measured. The same calls are made directly and through the API over one open connection, in
turns. ``/healthz`` is what the web server itself costs, with no token and no memory.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from urllib.parse import urlsplit

import httpx2

from benchmarks.sizes import sized
from reconciler import ContactMemory, Memory
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.access.tokens import TokenFile
from reconciler.settings import Settings, load_settings

ROUNDS = sized(300, 5)
CLIENTS = sized(200, 8)
TOKENS = 4
"""One has no more than 75 requests under way."""
CALLS = sized(10, 3)
FACTS = 20
AT = "/v1/agents/crm/contacts/priya"


def main(_engines: object = None) -> None:
    """Print the table; always on the embedded engine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "direct.lbug"
        _fill(path)
        with Memory.open(_settings(path), warm_up=True) as memory:  # as the server opens its own
            direct = memory.contact("crm", "priya")
            with _Server(folder) as server:
                _compare(direct, server)
                _crowd(server)


def _settings(path: Path) -> Settings:
    return load_settings(embedded_path=path, embedder={"model": "noop"})


def _fill(path: Path) -> None:
    with Memory.open(_settings(path)) as memory:
        for number in range(FACTS):
            memory.add_contact_note("crm", "priya", f"Owns bicycle number {number}.")


class _Server:
    def __init__(self, folder: Path) -> None:
        tokens = TokenFile(folder / "tokens.json")
        grant = Grant(profile=AccessProfile.OPERATOR, tenant="default", agent_ids=("crm",))
        self.headers = [
            {"Authorization": f"Bearer {tokens.create(grant)[1]}"} for _ in range(TOKENS)
        ]
        path = folder / "served.lbug"
        _fill(path)
        command = [
            *(sys.executable, "-m", "reconciler", "serve", "--port", "0", "--json"),
            *("--tokens", str(tokens.path), "--calls-per-minute", "10000000"),
        ]
        settings = {"RECONCILER_EMBEDDED_PATH": str(path), "RECONCILER_EMBEDDER__MODEL": "noop"}
        self._process = subprocess.Popen(
            command,
            env=dict(os.environ) | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a line for each decision
            text=True,
        )

    def __enter__(self) -> _Server:
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        self.url = told.partition(': "')[2].partition("/v1")[0]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    def client(self, number: int) -> httpx2.Client:
        headers = self.headers[number % TOKENS]
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60)


class _Caller:
    """The thinnest client, over one connection: what is measured is the server."""

    def __init__(self, server: _Server) -> None:
        self._connection = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
        self._headers = server.headers[0] | {"Content-Type": "application/json"}

    def __call__(self, method: str, path: str, body: dict[str, str] | None = None) -> None:
        """Make a request, and read its answer.

        Raises:
            RuntimeError: it is not a success.
        """
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, self._headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if answer.status >= 300:
            raise RuntimeError(told.decode())


def _compare(direct: ContactMemory, server: _Server) -> None:
    notes = iter(range(10**6))
    call = _Caller(server)
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "healthz": (lambda: None, lambda: call("GET", "/healthz")),
        "access, no memory": (lambda: None, lambda: call("GET", "/v1/access")),
        "recall": (
            lambda: direct.recall("bicycle"),
            lambda: call("GET", f"{AT}/recall?query=bicycle"),
        ),
        "profile": (direct.profile, lambda: call("GET", f"{AT}/profile")),
        "note": (
            lambda: direct.note(f"Likes song {next(notes)}."),
            lambda: call("POST", f"{AT}/notes", {"text": f"Likes song {next(notes)}."}),
        ),
    }
    print("| call | direct p50, ms | p95 | API p50, ms | p95 | more at p50 | at p95 | times |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, calls in pairs.items():
        taken: tuple[list[float], list[float]] = ([], [])
        for turn in range(ROUNDS + 20):
            for make, times in zip(calls, taken, strict=True):
                begin = time.perf_counter()
                make()
                if turn >= 20:
                    times.append((time.perf_counter() - begin) * 1000)
        (d50, d95), (a50, a95) = map(_percentiles, taken)
        more = f"{a50 - d50:.2f} | {a95 - d95:.2f} | {a50 / d50:.1f}" if d50 > 0.1 else " | | "
        print(f"| {name} | {d50:.2f} | {d95:.2f} | {a50:.2f} | {a95:.2f} | {more} |", flush=True)


def _crowd(server: _Server) -> None:
    """Many clients at once, each with a connection of its own that stays open."""
    barrier = Barrier(CLIENTS)

    def work(number: int) -> tuple[list[float], int]:
        times, failed = [], 0
        with server.client(number) as client:
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
        f"\n{CLIENTS} clients at once, {CALLS} recalls each: {CLIENTS * CALLS / seconds:,.0f} a "
        f"second, p50 {p50:,.0f} ms, p95 {p95:,.0f} ms, {sum(each for _, each in done)} failed"
    )


def _percentiles(times: list[float]) -> tuple[float, float]:
    cut = statistics.quantiles(times, n=20)
    return cut[9], cut[18]


if __name__ == "__main__":
    main()
