"""Embeddings from a model on this machine, shared by every thread.

Here: loading a model once, cutting long texts into windows, and starting again after a fork. A
``LocalModel`` knows which model it is and what runs it; ``embedding_batcher`` batches. Nothing, not
even numpy, is loaded before the first use. Any sentence-transformers model can be used; PyTorch
runs it. A model is fetched from a hub only if ``allow_download`` is true, and nothing is printed.
"""

from __future__ import annotations

import copy
import functools
import os
import sys
import threading
import time
import unicodedata
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from reconciler.adapters.model_files import fingerprint, named_folder, translated
from reconciler.adapters.unit_vectors import joined, unit
from reconciler.errors import ConfigurationError, EmbedderClosedError, EmbeddingError
from reconciler.floats import Floats
from reconciler.forks import leave_alone_in_children
from reconciler.reading.canonical import canonical_text

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from reconciler.adapters.embedding_batcher import EmbeddingBatcher


class LocalModel(Protocol):
    """A model on this machine that can be loaded."""

    @property
    def model_id(self) -> str:
        """Name and fingerprint of the weights, without loading them.

        Raises:
            ConfigurationError: the model is not on this machine.
        """

    @property
    def dimension(self) -> int | None:
        """Length of a vector; None if only the loaded model can tell."""

    def load(self) -> LoadedModel:
        """Model, ready to encode; also again, after a fork.

        Raises:
            ConfigurationError: it cannot be loaded; the text says what to install or set.
        """


@dataclass(eq=False)
class LoadedModel:
    """A model in memory.

    Attributes:
        tokenizer: splits a text into the model's tokens.
        token_count_max: tokens that the model sees of one text, its special ones among them.
        encode: one vector for each text, not of unit length: float32, shape (n, dimension); n is 1
            or more.
    """

    tokenizer: Tokenizer
    token_count_max: int
    encode: Callable[[list[str]], Floats]


class LocalEmbedder:
    """The ``Embedder`` for real use; obligations as in ``reconciler.ports.embedder``.

    If a text is longer than the model's window, its vector is the mean over its windows, so that
    its end counts too. After ``os.fork`` the child loads its own model, because it lacks the
    parent's threads.

    Args:
        model: the model that embeds.
        batch_size: texts in one call of the model.

    Raises:
        ConfigurationError: ``batch_size`` is below 1.
    """

    def __init__(self, model: LocalModel, batch_size: int = 64) -> None:
        if batch_size < 1:
            raise ConfigurationError(f"batch_size must be 1 or more, not {batch_size}")
        self._model = model
        self._batch_size = batch_size
        self._dimension = model.dimension
        self._is_closed = False
        self._lock = threading.Lock()
        self._engine: _Engine | None = None
        _EMBEDDERS.add(self)

    @property
    def model_id(self) -> str:
        """Short name and first eight digits of the weights' sha256; loads nothing.

        Raises:
            ConfigurationError: the model is not on this machine.
        """
        return self._model.model_id

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model unless it is the packaged one."""
        if self._dimension is None:
            self._ready()
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector for each text: float32, shape (n, dimension); n may be 0.

        Raises:
            EmbeddingError: the model failed, or the embedder is closed.
            ConfigurationError: first use, and the model cannot be loaded.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        engine = self._ready()
        with translated(EmbeddingError, "the model failed on these texts"):
            pieces = [engine.windows.split(canonical_text(text)) for text in texts]
            vectors = engine.batcher.encode([piece for text in pieces for piece, _ in text])
        return joined(vectors, pieces, [count for text in pieces for _, count in text])

    def unread(self, text: str) -> str:
        """The letters and digits of a text that the model cannot read, in their order.

        Raises:
            EmbeddingError: the embedder is closed.
            ConfigurationError: first use, and the model cannot be loaded.
        """
        engine = self._ready()
        with translated(EmbeddingError, "the model failed on this text"):
            return engine.windows.unread(canonical_text(text))

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
        """Wait for the current batch; callers in the queue get an ``EmbeddingError``."""
        with self._lock:
            self._is_closed = True
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.batcher.stop()

    def _ready(self) -> _Engine:
        with self._lock:
            if self._is_closed:
                raise EmbedderClosedError(
                    "the embedder was closed, as it is when its memory is closed; open it again"
                )
            if self._engine is None:
                self._engine = self._start()
            return self._engine

    def _start(self) -> _Engine:
        from reconciler.adapters.embedding_batcher import EmbeddingBatcher

        model = self._model.load()
        leave_alone_in_children(model)

        def encode(texts: list[str]) -> Floats:
            return unit(model.encode(texts))

        with translated(ConfigurationError, f"{self.model_id} cannot embed"):
            self._dimension = encode(["ready"]).shape[1]
            windows = Windows(model.tokenizer, model.token_count_max)
            return _Engine(windows, EmbeddingBatcher(encode, self._batch_size))


TOKENS_OF_SCRIPT_MIN = 1_000
"""A model reads a script if its vocabulary has this many tokens of it. Source: all-MiniLM-L6-v2 was
trained only on English, and knows 488 Chinese characters and 26,637 pieces of Latin words. Models
for many languages know thousands of tokens of each script that they were trained on."""


class Windows:
    """Splits long texts into pieces that the model sees whole, and finds letters it cannot read."""

    def __init__(self, tokenizer: Tokenizer, token_count_max: int) -> None:
        self._token_count_max = token_count_max - tokenizer.num_special_tokens_to_add(False)
        if tokenizer.truncation or tokenizer.padding:  # as its model needs it
            tokenizer = copy.deepcopy(tokenizer)
            tokenizer.no_truncation()
            tokenizer.no_padding()
        self._tokenizer = tokenizer

    def split(self, text: str) -> list[tuple[str, int]]:
        """Cut a text into pieces, each with its weight.

        A token takes at least one byte of UTF-8.
        """
        if len(text.encode()) <= self._token_count_max:
            return [(text, 1)]
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        offsets, spans = tokens.offsets, self._spans(tokens.word_ids)
        return [(text[offsets[i][0] : offsets[j - 1][1]], j - i) for i, j in spans]

    def unread(self, text: str) -> str:
        """Letters and digits that the model cannot read: an unknown token, or an unknown script.

        A vocabulary of bytes has no unknown token. Then every letter counts as read, because a
        piece of a letter cannot be judged.
        """
        if self._unknown_id is None:
            return ""
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        if text.isascii() and self._unknown_id not in tokens.ids:
            return ""
        is_unknown = [False] * len(text)
        for token_id, (start, end) in zip(tokens.ids, tokens.offsets, strict=True):
            if token_id == self._unknown_id:
                is_unknown[start:end] = [True] * (end - start)
        return "".join(
            letter
            for letter, unknown in zip(text, is_unknown, strict=True)
            if letter.isalnum() and (unknown or not self._reads(letter))
        )

    def _reads(self, letter: str) -> bool:
        """True if the vocabulary has words of the letter's script, not only its letters."""
        return not letter.isalpha() or letter.isascii() or _script_of(letter) in self._scripts

    @functools.cached_property
    def _unknown_id(self) -> int | None:
        name = getattr(self._tokenizer.model, "unk_token", None)
        return None if name is None else self._tokenizer.token_to_id(name)

    @functools.cached_property
    def _scripts(self) -> frozenset[str]:
        """The scripts that the model reads; counted at the first letter outside ASCII."""
        counted = Counter(
            next((_script_of(letter) for letter in token if letter.isalpha()), "")
            for token in self._tokenizer.get_vocab()
        )
        return frozenset(
            script for script, count in counted.items() if count >= TOKENS_OF_SCRIPT_MIN
        )

    def _spans(self, word_ids: list[int | None]) -> Iterator[tuple[int, int]]:
        start = 0
        while start < len(word_ids):
            end = min(start + self._token_count_max, len(word_ids))
            cut = end
            while start < cut < len(word_ids) and word_ids[cut] == word_ids[cut - 1]:
                cut -= 1  # half a word alone can have more tokens than it had within the word
            end = cut if cut > start else end
            yield start, end
            start = end


class _Engine(NamedTuple):
    """Return the parts of a loaded model."""

    windows: Windows
    batcher: EmbeddingBatcher


def _script_of(letter: str) -> str:
    """Script of a letter, the first word of its Unicode name: LATIN, CYRILLIC, CJK."""
    return unicodedata.name(letter, "").partition(" ")[0]


_EMBEDDERS: weakref.WeakSet[LocalEmbedder] = weakref.WeakSet()


def _start_afresh() -> None:
    """Forget, in a forked child, the locks and threads that stayed with the parent."""
    for embedder in list(_EMBEDDERS):
        embedder._lock = threading.Lock()
        embedder._engine = None


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_start_afresh)


ROWS_AT_ONCE = 16
"""A processor gets rows of similar length at a time: padding all rows to the longest trebles the
time of a mix. A GPU gets all rows at once: its time depends on calls, not on rows."""


@dataclass(eq=False)
class SentenceTransformerModel:
    """The ``LocalModel`` for a folder or a hub name.

    Attributes:
        name: a folder, else a hub name.
        allow_download: whether a hub name may be fetched; else it must be in the hub's cache.
        device: the device on which PyTorch runs the model, by PyTorch's name.
    """

    dimension = None

    name: str
    allow_download: bool = False
    device: str = "cpu"

    @property
    def model_id(self) -> str:
        """Short name and first eight digits of the weights' sha256.

        Raises:
            ConfigurationError: the model is not on this machine.
        """
        folder = self._folder  # what is not there is said first
        return f"{Path(self.name).resolve().name}@{fingerprint(folder)}"

    def load(self) -> LoadedModel:
        """Model, ready to encode.

        Raises:
            ConfigurationError: it is not on this machine, sentence-transformers cannot load it, or
                this machine lacks the device.
        """
        failed = f"the model in {self._folder} cannot be loaded"
        with translated(ConfigurationError, failed):
            model = _sentence_transformer()(str(self._folder), device="cpu", local_files_only=True)
            tokenizer: Tokenizer = model.tokenizer.backend_tokenizer
            token_count_max = model.max_seq_length or sys.maxsize
        with translated(ConfigurationError, f"{failed} on embedder.device {self.device!r}"):
            model.to(self.device)

        def encode(texts: list[str]) -> Floats:
            rows = ROWS_AT_ONCE if self.device == "cpu" else len(texts)
            vectors: Floats = model.encode(texts, batch_size=rows, show_progress_bar=False)
            return vectors

        return LoadedModel(tokenizer, token_count_max, encode)

    @functools.cached_property
    def _folder(self) -> Path:
        return named_folder(self.name, self.allow_download)


@functools.cache
def _sentence_transformer() -> Any:
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "only the default model, minilm, can be used without sentence-transformers, which is "
            "not installed here: pip install 'sentence-transformers>=5.1,<6' (several GB, most of "
            "it PyTorch)"
        ) from error
    if sys.platform != "win32":
        # OpenMP hangs in a forked child that wants more threads than the one it has.
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
    return SentenceTransformer
