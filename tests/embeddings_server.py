"""A small embeddings API on the loopback: the packaged model behind ``POST /v1/embeddings``.

Real HTTP and real vectors. A test may bend what it answers: ``bend`` has the next reply as JSON,
and gives what is sent instead. Requests are kept for the test.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm

__all__ = ["KEY", "MODEL", "EmbeddingsServer"]

MODEL = "loopback-minilm"
KEY = "sk-loopback-1"

Answer = tuple[int, Any]
"""A status, and what is sent as JSON, or as it is if it is bytes."""


class EmbeddingsServer:
    """The server, as a context manager; it listens on a free port of 127.0.0.1.

    Attributes:
        base_url: what the SDK is given.
        requests: the body of each request so far, oldest first.
        bend: what a reply becomes; None leaves it alone.
        takes_dimensions: whether it shortens vectors, as OpenAI's newer models do.
        delay_seconds: the silence before each reply.
        headers: sent with each reply.
    """

    def __init__(self) -> None:
        self._embedder = LocalEmbedder(OnnxMinilm())
        self._is_stopping = threading.Event()
        self._http = _QuietServer(("127.0.0.1", 0), self._handler())
        self.base_url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self.reset()

    def reset(self) -> None:
        """Answer as at the beginning, and forget the requests."""
        self.requests: list[dict[str, Any]] = []
        self.bend: Callable[[dict[str, Any]], Answer] | None = None
        self.takes_dimensions = True
        self.delay_seconds = 0.0
        self.headers: dict[str, str] = {}

    @property
    def texts(self) -> list[str]:
        """Every text that came in, in order."""
        return [text for request in self.requests for text in request["input"]]

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._embedder.close()

    def _answer(self, path: str, authorization: str, body: dict[str, Any]) -> Answer:
        self.requests.append(body)
        if authorization != f"Bearer {KEY}":
            return _error(401, "Incorrect API key provided: sk-no***")
        if path != "/v1/embeddings" or body["model"] != MODEL:
            return _error(404, f"The model {body['model']} does not exist")
        if not body["input"] or not all(body["input"]):
            return _error(400, "input cannot be an empty string")
        if "dimensions" in body and not self.takes_dimensions:
            return _error(400, "This model does not support specifying dimensions.")
        vectors = self._embedder.embed(body["input"])[:, : body.get("dimensions")]
        data = [
            {"object": "embedding", "index": index, "embedding": vector.tolist()}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 8, "total_tokens": 8}
        reply = {"object": "list", "data": data, "model": MODEL, "usage": usage}
        return (200, reply) if self.bend is None else self.bend(reply)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                said = self.headers.get("authorization", "")
                status, reply = server._answer(self.path, said, sent)
                server._is_stopping.wait(server.delay_seconds)
                body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                headers = {"content-type": "application/json", "content-length": str(len(body))}
                for name, value in (headers | server.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        return Handler


def _error(status: int, text: str) -> Answer:
    return status, {"error": {"message": text, "type": "invalid_request_error"}}


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # 32 callers connect at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that gave up is what some of the tests are about."""
