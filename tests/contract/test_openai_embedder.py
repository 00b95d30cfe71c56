"""The embedder of OpenAI's protocol, over real HTTP: servers that fail, lie, or have gaps."""

from __future__ import annotations

import gzip
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import cache
from typing import Any

import numpy as np
import pytest

from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.adapters.openai_embedder import OpenAIEmbedder
from reconciler.adapters.structured_calls import Connection
from reconciler.errors import EmbeddingError
from tests.embeddings_server import KEY, MODEL, EmbeddingsServer

NOTES = ["Prefers e-mail", "Invoice 1042 is unpaid", "Is allergic to peanuts"]

Build = Callable[..., OpenAIEmbedder]


@pytest.fixture(scope="module")
def _server() -> Iterator[EmbeddingsServer]:
    with pytest.MonkeyPatch.context() as environment, EmbeddingsServer() as running:
        environment.setenv("NO_PROXY", "127.0.0.1")
        yield running


@pytest.fixture
def server(_server: EmbeddingsServer) -> EmbeddingsServer:
    _server.reset()
    return _server


@pytest.fixture
def build(server: EmbeddingsServer) -> Iterator[Build]:
    """Makes an embedder, and closes it after the test."""
    with ExitStack() as stack:

        def _build(
            dimension: int | None = 384,
            batch_size: int = 64,
            window_characters: int = 2000,
            **other: Any,
        ) -> OpenAIEmbedder:
            given = {"timeout_seconds": 10, "retries_max": 0, "base_url": server.base_url}
            where = Connection(**{"api_key": KEY, "model": MODEL, **given, **other})
            made = OpenAIEmbedder(
                where,
                dimension=dimension,
                batch_size=batch_size,
                window_characters=window_characters,
            )
            return stack.enter_context(closing(made))

        yield _build


def test_its_vectors_are_the_servers(build: Build) -> None:
    with closing(LocalEmbedder(OnnxMinilm())) as local:
        np.testing.assert_allclose(build().embed(NOTES), local.embed(NOTES), atol=1e-5)


def test_texts_go_in_batches_and_as_floats(server: EmbeddingsServer, build: Build) -> None:
    build(batch_size=2).embed(NOTES)
    assert [request["input"] for request in server.requests] == [NOTES[:2], NOTES[2:]]
    assert {request["encoding_format"] for request in server.requests} == {"float"}


def test_the_dimension_is_asked_once_and_not_at_all_if_it_is_set(
    server: EmbeddingsServer, build: Build
) -> None:
    asked = build(dimension=None)
    assert (asked.model_id, asked.dimension) == (f"{MODEL}@384", 384)
    assert server.texts == ["ready"]
    assert build().model_id == f"{MODEL}@384"
    assert server.texts == ["ready"]


def test_a_shorter_vector_is_asked_for(server: EmbeddingsServer, build: Build) -> None:
    vectors = build(dimension=64).embed(NOTES)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors.shape == (3, 64)
    assert server.requests[0]["dimensions"] == 64


def test_a_server_that_cannot_shorten_is_asked_without_from_then_on(
    server: EmbeddingsServer, build: Build
) -> None:
    server.takes_dimensions = False
    embedder = build()
    embedder.embed(NOTES)
    embedder.embed(NOTES)
    assert ["dimensions" in request for request in server.requests] == [True, False, False]


def test_vectors_of_another_length_are_refused(server: EmbeddingsServer, build: Build) -> None:
    server.takes_dimensions = False
    with pytest.raises(EmbeddingError, match=r"384 numbers, not 128.*EMBEDDER__DIMENSION"):
        build(dimension=128).embed(NOTES)


def bent(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Any], tuple[int, Any]]:
    """A reply with other data."""

    def bend(reply: dict[str, Any]) -> tuple[int, Any]:
        change(reply["data"])
        return 200, reply

    return bend


def _lengthened(data: list[dict[str, Any]]) -> None:
    for one in data:
        one["embedding"] = [7 * number for number in one["embedding"]]


def _unnumbered(data: list[dict[str, Any]]) -> None:
    for one in data:
        del one["index"]


@pytest.mark.parametrize("change", [list.reverse, _lengthened, _unnumbered])
def test_another_order_length_or_no_numbering_changes_no_vector(
    server: EmbeddingsServer, build: Build, change: Callable[[Any], Any]
) -> None:
    embedder = build()
    expected = embedder.embed(NOTES)
    server.bend = bent(change)
    np.testing.assert_allclose(embedder.embed(NOTES), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("bend", "said"),
    [
        (bent(list.pop), "2 vectors for 3 texts"),
        (bent(lambda data: data[0].update(index=1)), "which vector belongs to which text"),
        (
            bent(lambda data: data[0].update(embedding=[math.nan] * 384)),
            "zero, or holds NaN or infinity",
        ),
        (
            bent(lambda data: data[0].update(embedding=[0.0] * 384)),
            "zero, or holds NaN or infinity",
        ),
        (bent(lambda data: data[0]["embedding"].pop()), "different lengths"),
        (bent(lambda data: data[0].update(embedding="gDw=")), "not a list of embeddings"),
        (lambda _: (200, b"<html>Sign in</html>"), "not a list of embeddings"),
        (lambda _: (200, {"data": "none"}), "not a list of embeddings"),
        (lambda _: (200, {"data": []}), "0 vectors for 3 texts"),
        (lambda _: (429, {"error": {"message": "slow down"}}), r"too many calls \(HTTP 429\)"),
        (lambda _: (400, {"error": {"message": "too long"}}), r"rejected \(HTTP 400\)"),
        (lambda _: (503, b""), r"the API failed \(HTTP 503\)"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_why(
    server: EmbeddingsServer, build: Build, bend: Any, said: str
) -> None:
    server.bend = bend
    with pytest.raises(EmbeddingError, match=said):
        build().embed(NOTES)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"api_key": "sk-wrong"}, r"API key is not accepted \(HTTP 401\)"),
        ({"model": "no-such"}, r"no-such gave no vectors: no such model.*HTTP 404"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "no connection"),
    ],
)
def test_a_wrong_key_model_or_address_is_named(build: Build, other: Any, said: str) -> None:
    with pytest.raises(EmbeddingError, match=said) as raised:
        build(**other).embed(NOTES)
    assert "sk-wrong" not in str(raised.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_texts_do_not_follow_a_redirect(
    server: EmbeddingsServer, build: Build, status: int
) -> None:
    server.headers = {"location": f"http://localhost:{server.base_url.rsplit(':')[-1]}/embeddings"}
    server.bend = lambda reply: (status, b"") if len(server.requests) == 1 else (200, reply)
    with pytest.raises(EmbeddingError, match=rf"set base_url.*HTTP {status}"):
        build().embed(NOTES)
    assert len(server.requests) == 1


@cache
def endless(encoding: str | None) -> bytes:
    """More than any reply needs, as it is or packed."""
    blank = b" " * 60_000_000
    return gzip.compress(blank, compresslevel=1) if encoding else blank


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("headers", [{}, {"content-encoding": "gzip"}])
def test_a_reply_without_end_is_broken_off(
    server: EmbeddingsServer, build: Build, status: int, headers: dict[str, str]
) -> None:
    reply = endless(headers.get("content-encoding"))
    server.headers = headers
    server.bend = lambda _: (status, reply)
    with pytest.raises(EmbeddingError, match="longer than the vectors can be"):
        build(timeout_seconds=60).embed(NOTES)


def test_a_rejected_call_is_tried_again(server: EmbeddingsServer, build: Build) -> None:
    embedder = build(retries_max=2)
    expected = embedder.embed(NOTES)
    replies = iter([(429, b"{}"), (500, b"{}")])
    server.headers = {"retry-after-ms": "10"}
    server.bend = lambda reply: next(replies, (200, reply))
    np.testing.assert_allclose(embedder.embed(NOTES), expected, atol=1e-5)
    assert len(server.requests) == 4


def test_silence_ends_at_the_time_out(server: EmbeddingsServer, build: Build) -> None:
    embedder = build(timeout_seconds=0.5, retries_max=3)
    embedder.embed(NOTES)
    server.delay_seconds = 60
    started = time.perf_counter()
    with pytest.raises(EmbeddingError, match=r"no answer within 0\.5 s"):
        embedder.embed(NOTES)
    assert time.perf_counter() - started < 30


def test_a_long_text_is_the_mean_of_its_pieces(server: EmbeddingsServer, build: Build) -> None:
    embedder = build(window_characters=20)
    [whole] = embedder.embed(["likes tea very much and is allergic to peanuts"])
    pieces = ["likes tea very much", "and is allergic to", "peanuts"]
    assert server.texts == pieces
    weights = np.array([len(piece) for piece in pieces])[:, None]
    mean = (build().embed(pieces) * weights).sum(axis=0)
    np.testing.assert_allclose(whole, mean / np.linalg.norm(mean), atol=1e-5)


def test_a_text_without_words_or_spaces_can_be_sent(server: EmbeddingsServer, build: Build) -> None:
    build(window_characters=4).embed(["", "今年中に契約を"])
    assert server.texts == [".", "今年中に", "契約を"]


def test_close_ends_a_call_under_way(server: EmbeddingsServer, build: Build) -> None:
    embedder = build(timeout_seconds=60)
    embedder.embed(NOTES)
    server.delay_seconds = 60
    threading.Timer(0.3, embedder.close).start()
    started = time.perf_counter()
    with pytest.raises(EmbeddingError, match="closed before the model answered"):
        embedder.embed(NOTES)
    assert time.perf_counter() - started < 30
