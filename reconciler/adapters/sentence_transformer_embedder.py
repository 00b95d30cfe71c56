"""Embeddings from a sentence-transformers model on this machine, shared by every thread.

Here: loading the model once, and cutting long texts into windows. Its files are the matter of
``model_files``, batching that of ``embedding_batcher``. Heavy imports wait for the first use,
nothing is fetched from a hub unless ``allow_download`` says so, and nothing is printed.
"""

from __future__ import annotations

import copy
import functools
import importlib
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from reconciler.adapters.embedding_batcher import EmbeddingBatcher
from reconciler.adapters.model_files import (
    BUNDLED_NAME,
    exported,
    fingerprint,
    model_folder,
    onnx_is_installed,
    translated,
)
from reconciler.domain.notes import canonical_text
from reconciler.errors import ConfigurationError, EmbeddingError

__all__ = ["SentenceTransformerEmbedder"]

BUNDLED_DIMENSION = 384
ROWS_AT_ONCE = 16

_log = logging.getLogger(__name__)


class SentenceTransformerEmbedder:
    """The ``Embedder`` for real use; obligations as in ``reconciler.ports.embedder``.

    A text longer than the model's window is the mean of its windows, so that its tail counts too.
    After ``os.fork`` the child loads a model of its own; the parent's threads are not there.

    Args:
        model: ``minilm`` for the bundled all-MiniLM-L6-v2, else a folder, else a hub name.
        backend: ``auto`` takes ONNX where it is installed and can be cached, else torch; both on
            the CPU, with the same vectors to 1e-6.
        batch_size: texts in one call of the model.
        allow_download: whether a hub name may be fetched; else it must be in the hub's cache.
        cache_folder: where the exported model is kept; None for the user's cache.

    Raises:
        ConfigurationError: ``batch_size`` is below 1.
    """

    def __init__(
        self,
        model: str = "minilm",
        backend: Literal["auto", "onnx", "torch"] = "auto",
        batch_size: int = 64,
        allow_download: bool = False,
        cache_folder: Path | None = None,
    ) -> None:
        if batch_size < 1:
            raise ConfigurationError(f"batch_size must be 1 or more, not {batch_size}")
        self._name = model
        self._backend = backend
        self._batch_size = batch_size
        self._allow_download = allow_download
        self._cache_folder = cache_folder
        self._dimension = BUNDLED_DIMENSION if model == "minilm" else None
        self._is_closed = False
        self._lock = threading.Lock()
        self._engine: _Engine | None = None
        _EMBEDDERS.add(self)

    @property
    def model_id(self) -> str:
        """Short name and first eight digits of the weights' sha256; the same for every backend.

        Raises:
            ConfigurationError: the model is not on this machine.
        """
        return f"{self._short_name}@{fingerprint(self._folder)}"

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model unless it is the bundled one."""
        if self._dimension is None:
            self._ready()
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text: float32, shape (n, dimension); n may be 0.

        Raises:
            EmbeddingError: the model failed, or the embedder is closed.
            ConfigurationError: first use, and the model cannot be loaded.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        engine = self._ready()
        with translated(EmbeddingError, "the model failed on these texts"):
            pieces = [engine.windows.split(canonical_text(text)) for text in texts]
            vectors = engine.batcher.encode([piece for text in pieces for piece, _ in text])
        tokens = np.array([count for text in pieces for _, count in text], dtype=np.float32)
        starts = np.cumsum([0, *map(len, pieces[:-1])])
        return _unit(np.add.reduceat(vectors * tokens[:, None], starts))

    def warm_up(self) -> float:
        """Load the model and embed once; returns the seconds until it was ready.

        Raises:
            ConfigurationError: the model cannot be loaded; the text says what to install or set.
            EmbeddingError: the model was loaded and failed, or the embedder is closed.
        """
        started = time.perf_counter()
        self.embed(["ready"])
        return time.perf_counter() - started

    def close(self) -> None:
        """Stop the worker after the batch in hand; callers that wait get an ``EmbeddingError``."""
        with self._lock:
            self._is_closed = True
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.stop()

    @property
    def _short_name(self) -> str:
        return BUNDLED_NAME if self._name == "minilm" else Path(self._name).resolve().name

    @functools.cached_property
    def _folder(self) -> Path:
        return model_folder(self._name, self._allow_download)

    def _ready(self) -> _Engine:
        with self._lock:
            if self._is_closed:
                raise EmbeddingError("the embedder is closed; make a new one")
            if self._engine is None:
                self._engine = self._start()
            return self._engine

    def _start(self) -> _Engine:
        model = self._load()
        with translated(ConfigurationError, f"model {self._name!r} cannot embed"):
            encode = functools.partial(_encode, model)
            self._dimension = encode(["ready"]).shape[1]
            windows, batcher = _Windows(model), EmbeddingBatcher(encode, self._batch_size)
            return _Engine(windows, batcher, weakref.finalize(self, batcher.stop))

    def _load(self) -> Any:
        if self._backend == "torch" or (self._backend == "auto" and not onnx_is_installed()):
            return _open(self._folder, "torch")
        try:
            return _open(self._exported(), "onnx")
        except ConfigurationError as error:
            if self._backend == "onnx":
                raise
            _log.warning("%s; embedding with torch instead, at half the speed", error)
            return _open(self._folder, "torch")

    def _exported(self) -> Path:
        if not onnx_is_installed():
            raise ConfigurationError(
                "backend onnx is not installed: pip install 'graph-memory-reconciler[onnx]'"
            )
        folder = self._export_folder
        with translated(ConfigurationError, f"cannot keep the model as ONNX in {folder}"):
            return exported(self._folder, folder)

    @property
    def _export_folder(self) -> Path:
        version = metadata.version("sentence-transformers")
        name = self.model_id.replace("@", "-")  # optimum would take the @ for a hub's revision
        return (self._cache_folder or user_cache_path("reconciler")) / "onnx" / f"{name}+{version}"

    def _start_afresh(self) -> None:
        """Forget, in a forked child, the locks and threads that stayed with the parent."""
        self._lock = threading.Lock()
        if self._engine is not None:
            self._engine.stop.detach()
            sys.modules["torch"].set_num_threads(1)  # OpenMP hangs in a child with more
            self._engine = None


class _Windows:
    """Cuts what the model would cut off into pieces that it sees whole."""

    def __init__(self, model: Any) -> None:
        tokenizer = model.tokenizer
        special = tokenizer.num_special_tokens_to_add()
        self._token_count_max = (model.max_seq_length or sys.maxsize) - special
        self._tokenizer = copy.deepcopy(tokenizer.backend_tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def split(self, text: str) -> list[tuple[str, int]]:
        """The pieces of a text, each with its weight; a token takes at least one byte of UTF-8."""
        if len(text.encode()) <= self._token_count_max:
            return [(text, 1)]
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        offsets, spans = tokens.offsets, self._spans(tokens.word_ids)
        return [(text[offsets[i][0] : offsets[j - 1][1]], j - i) for i, j in spans]

    def _spans(self, word_ids: list[int | None]) -> Iterator[tuple[int, int]]:
        start = 0
        while start < len(word_ids):
            end = min(start + self._token_count_max, len(word_ids))
            cut = end
            while start < cut < len(word_ids) and word_ids[cut] == word_ids[cut - 1]:
                cut -= 1  # half a word can be more tokens alone than it was within the word
            end = cut if cut > start else end
            yield start, end
            start = end


class _Engine(NamedTuple):
    """What a loaded model runs with; ``stop`` also runs when nobody holds the embedder any more."""

    windows: _Windows
    batcher: EmbeddingBatcher
    stop: weakref.finalize[Any, Any]


def _open(folder: Path, backend: Literal["onnx", "torch"]) -> Any:
    with translated(ConfigurationError, f"the model in {folder} cannot be loaded with {backend}"):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(
            str(folder),
            backend=backend,
            device="cpu",
            local_files_only=True,
            model_kwargs=_onnx_options() if backend == "onnx" else None,
        )


def _onnx_options() -> dict[str, Any]:
    """All cores, without spinning: as fast here, and an idle embedder costs no CPU."""
    onnxruntime = importlib.import_module("onnxruntime")
    session = onnxruntime.SessionOptions()
    session.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return {"provider": "CPUExecutionProvider", "session_options": session}


def _encode(model: Any, texts: list[str]) -> NDArray[np.float32]:
    """Rows of about one length at a time: padding all to the longest trebles the time of a mix."""
    return _unit(model.encode(texts, batch_size=ROWS_AT_ONCE, show_progress_bar=False))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingError("the model gave a vector without a direction")
    return np.asarray(vectors / lengths, dtype=np.float32)


_EMBEDDERS: weakref.WeakSet[SentenceTransformerEmbedder] = weakref.WeakSet()


def _start_all_afresh() -> None:
    for embedder in list(_EMBEDDERS):
        embedder._start_afresh()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_start_all_afresh)
