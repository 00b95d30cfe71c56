"""Stand-ins for the models that the peers call: an OpenAI-compatible server on the loopback.

Answers are scripted by the text that the prompt ends with; vectors are hashes of the text. So what
the packages write is theirs, and only what a model would have said is made up.
"""

from __future__ import annotations

import hashlib
import json
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIMENSION = 384


def vector(text: str) -> list[float]:
    """A unit vector that depends on the text alone."""
    seed = hashlib.shake_256(text.encode()).digest(DIMENSION * 2)
    raw = [value / 32768 for value in struct.unpack(f"{DIMENSION}h", seed)]
    length = sum(value * value for value in raw) ** 0.5
    return [value / length for value in raw]


@contextmanager
def openai_server(answer: Callable[[str], str]) -> Iterator[str]:
    """Serve chat completions and embeddings; gives the base URL.

    Args:
        answer: what a model says to a prompt, all messages in one text.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = _vectors(sent) if self.path.endswith("/embeddings") else _said(sent, answer)
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _vectors(sent: dict) -> dict:
    texts = [sent["input"]] if isinstance(sent["input"], str) else sent["input"]
    data = [
        {"object": "embedding", "index": index, "embedding": vector(str(text))}
        for index, text in enumerate(texts)
    ]
    return {
        "object": "list",
        "model": sent["model"],
        "data": data,
        "usage": {"prompt_tokens": 0, "total_tokens": 0},
    }


def _said(sent: dict, answer: Callable[[str], str]) -> dict:
    prompt = "\n".join(str(each["content"]) for each in sent["messages"])
    message = {"role": "assistant", "content": answer(prompt)}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": sent["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
