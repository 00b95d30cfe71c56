"""The model that every system asks: vectors and recorded chat answers, on the loopback.

It speaks OpenAI's protocol. A prompt without a recorded answer is refused with status 400 and
written to ``wanted``. A language model that sees the prompt and nothing else then answers it, as a
line ``{"key": …, "answer": …}`` in the system's recordings. Ids and times in a prompt differ from
run to run, so the key leaves them out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["Recordings", "model_server"]

Vector = Callable[[str], Any]

_VARIES = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|(?<=:)[0-9a-f]{12}(?=\])"  # a value that is hidden by a keyed hash
)


class Recordings:
    """The recorded answers of one system."""

    def __init__(self, path: Path, wanted: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._answers = {row["key"]: row["answer"] for row in map(json.loads, lines)}
        self._wanted, self._lock = wanted, threading.Lock()
        self.missing: set[str] = set()

    def answer(self, asked: dict[str, Any]) -> str | None:
        """What is on record for these messages; None where nothing is."""
        shown = {name: asked[name] for name in ("messages", "response_format") if name in asked}
        written = json.dumps(shown, ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(_VARIES.sub("#", written).encode()).hexdigest()[:20]
        with self._lock:
            if key not in self._answers and key not in self.missing:
                self.missing.add(key)
                with self._wanted.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key} | shown, ensure_ascii=False) + "\n")
        return self._answers.get(key)


@contextmanager
def model_server(recordings: Recordings) -> Iterator[str]:
    """Serve until the end of the block; gives the base URL."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for one short text, threads cost ten times more
    from exam.minilm import Minilm  # the stories and marks alone need none of its packages

    vector = lru_cache(maxsize=10_000)(Minilm().vector)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(vector, recordings))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _handler(vector: Vector, recordings: Recordings) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                self._send(200, _vectors(vector, asked))
            elif (answer := recordings.answer(asked)) is None:
                self._send(400, {"error": {"message": "No answer is on record."}})
            else:
                self._send(200, _said(asked, answer))

        def _send(self, status: int, given: dict[str, Any]) -> None:
            body = json.dumps(given).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: a line a request would hide the report."""

    return Handler


def _vectors(vector: Vector, asked: dict[str, Any]) -> dict[str, Any]:
    texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
    is_encoded = asked.get("encoding_format") == "base64"
    vectors = [vector(text) for text in texts]
    told = [base64.b64encode(v.tobytes()).decode() if is_encoded else v.tolist() for v in vectors]
    data = [{"object": "embedding", "index": n, "embedding": each} for n, each in enumerate(told)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": asked.get("model", ""), "data": data, "usage": usage}


def _said(asked: dict[str, Any], answer: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer}
    return {
        "id": "exam",
        "object": "chat.completion",
        "created": 0,
        "model": asked.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
