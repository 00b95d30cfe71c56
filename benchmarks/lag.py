"""How long an acknowledged note takes to stand in another process's recall.

Writers tell notes to one server. As soon as one is acknowledged, its writer asks for it until a
recall shows it: on Neo4j another server, with caches of its own; on the embedded engine, whose
store one process opens, the same one. The lag runs from the acknowledgement to the end of the first
recall that shows the note, so it is never less than a recall, whose own time stands beside it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.access.tokens import TokenFile

WRITERS = sized(32, 3)
NOTES = sized(20, 2)
TRIES_MAX = 100


def main(engines: Engines) -> None:
    """Print a row for each engine and number of writers."""
    print(f"## lag: from the acknowledgement to a recall that shows the note, {NOTES} a writer\n")
    print("| engine | writers | lag p50, ms | p99 | a recall alone p50 | p99 | recalls needed |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name in engines.names:
        for writers in (1, WRITERS):
            _row(name, engines.fresh(name), writers)


def _row(name: str, settings: Mapping[str, Any], writers: int) -> None:
    Memory.open(**settings, migrate=True).close()
    with tempfile.TemporaryDirectory() as folder, _server(settings, folder) as written:
        if name == "embedded":
            lags, alone, tries = _measure(written, written, writers)
        else:
            with _server(settings, folder) as read:
                lags, alone, tries = _measure(written, read, writers)
    figures = " | ".join(f"{each:,.0f}" for each in (*_percentiles(lags), *_percentiles(alone)))
    print(f"| {name} | {writers} | {figures} | {max(tries)} at most |", flush=True)


def _measure(
    written: _Server, read: _Server, writers: int
) -> tuple[list[float], list[float], list[int]]:
    lags: list[float] = []
    alone: list[float] = []
    tries: list[int] = []

    def write(number: int) -> None:
        tell, ask = written.caller(), read.caller()
        at = f"/v1/agents/crm/contacts/contact-{number}"
        for count in range(NOTES):
            text = f"Owns boat {number}-{count} at pier {count}."
            told = json.loads(tell("POST", f"{at}/notes", {"text": text}))
            acknowledged = time.perf_counter()
            if not told["fact_id"]:
                continue
            for tried in range(1, TRIES_MAX + 1):
                begin = time.perf_counter()
                shown = ask("GET", f"{at}/recall?query={quote(text)}&limit=50")
                ended = time.perf_counter()
                alone.append((ended - begin) * 1000)
                if told["fact_id"] in shown:
                    lags.append((ended - acknowledged) * 1000)
                    tries.append(tried)
                    break
            else:
                raise RuntimeError(f"{TRIES_MAX} recalls did not show: {text}")

    with ThreadPoolExecutor(writers) as threads:
        list(threads.map(write, range(writers)))
    return lags, alone, tries


class _Server:
    """A served store, and a token for it."""

    def __init__(self, url: str, token: str) -> None:
        self._netloc, self._token = urlsplit(url).netloc, token

    def caller(self) -> Any:
        """A function of method, path and body; over one connection, gives the answer's text."""
        connection = HTTPConnection(self._netloc, timeout=60)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}

        def call(method: str, path: str, body: dict[str, str] | None = None) -> str:
            sent = None if body is None else json.dumps(body)
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            told = answer.read().decode()
            if answer.status >= 300:
                raise RuntimeError(told)
            return told

        return call


@contextmanager
def _server(settings: Mapping[str, Any], folder: str) -> Iterator[_Server]:
    tokens = TokenFile(Path(folder) / "tokens.json")
    grant = Grant(profile=AccessProfile.OPERATOR, tenant="default", agent_ids=("crm",))
    token = tokens.create(grant)[1]
    command = [
        *(sys.executable, "-m", "reconciler", "serve", "--port", "0", "--json"),
        *("--tokens", str(tokens.path), "--calls-per-minute", "10000000"),
    ]
    process = subprocess.Popen(
        command,
        env=dict(os.environ) | dict(_environment(settings)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        yield _Server(told.partition(': "')[2].partition("/v1")[0], token)
    finally:
        process.terminate()
        process.wait(30)


def _environment(settings: Mapping[str, Any], prefix: str = "RECONCILER_") -> Iterator[Any]:
    for name, value in settings.items():
        key = f"{prefix}{name.upper()}"
        if isinstance(value, Mapping):
            yield from _environment(value, f"{key}__")
        else:
            yield key, str(value)


def _percentiles(times: list[float]) -> tuple[float, float]:
    cut = statistics.quantiles(times, n=100)
    return cut[49], cut[98]
