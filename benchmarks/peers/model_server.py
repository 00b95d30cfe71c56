"""The one model that every system asks: embeddings and chat completions on the loopback.

It speaks OpenAI's protocol, so that each package uses the client that it brings along. Vectors are
those of all-MiniLM-L6-v2, by this project's own ONNX embedder; nothing is cached, and no latency is
added. What the chat part says stands in ``answers``.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.peers.answers import answer
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.ports.embedder import Embedder
from reconciler.settings import load_settings

__all__ = ["model_server"]


@contextmanager
def model_server() -> Iterator[str]:
    """Serve until the end of the block; gives the base URL."""
    with closing(build_embedder(load_settings())) as embedder:
        embedder.warm_up()
        server = _Server(("127.0.0.1", 0), _handler(embedder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # sixteen writers connect at once


def _handler(embedder: Embedder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # a connection is kept, as with a real server
        disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
        wbufsize = -1  # headers and body in one packet

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_embedding = self.path.endswith("/embeddings")
            body = json.dumps(_vectors(embedder, sent) if is_embedding else _said(sent)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: one line a request would be thousands."""

    return Handler


def _vectors(embedder: Embedder, sent: dict[str, Any]) -> dict[str, Any]:
    texts = [sent["input"]] if isinstance(sent["input"], str) else sent["input"]
    is_encoded = sent.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(vector.tobytes()).decode()
            if is_encoded
            else vector.tolist(),
        }
        for index, vector in enumerate(embedder.embed(texts))
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "model": sent["model"], "data": data, "usage": usage}


def _said(sent: dict[str, Any]) -> dict[str, Any]:
    prompt = "\n".join(str(message["content"]) for message in sent["messages"])
    schema = sent.get("response_format", {}).get("json_schema", {}).get("name", "")
    content = json.dumps(answer(schema, prompt))
    return {
        "id": "loopback",
        "object": "chat.completion",
        "created": 0,
        "model": sent["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
