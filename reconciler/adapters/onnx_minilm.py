"""The default model, all-MiniLM-L6-v2, run by ONNX Runtime out of its published weights.

Importing torch and sentence-transformers took seven of the nine seconds of a first note.
``minilm.onnx`` beside this module is the model's graph; ``tools/build_minilm_graph.py`` wrote it.
It reads its weights at fixed places in the model's ``model.safetensors``, so the two belong
together. Any other file would be misread, so its sha256 is checked at each load.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconciler.adapters.local_embedder import LoadedModel
from reconciler.adapters.model_files import (
    NAME,
    SHA256,
    TOKENIZER,
    WEIGHTS,
    check_files,
    translated,
    weights_folder,
)
from reconciler.errors import ConfigurationError
from reconciler.floats import Floats
from reconciler.frozen import Span, Values, in_order

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Since 1.29 onnxruntime reports to Microsoft, from threads that also crash or hang a forked child
# when it ends, unless this is set before its import. Source: the wheel's Privacy.md; strace, 1.31.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

GRAPH = Path(__file__).with_name("minilm.onnx")
DIMENSION = 384
TOKEN_COUNT_MAX = 256
ROWS_MIN, ROWS_MAX = 4, 16
PADDING_MAX = 0.1
"""Rows of one run: more rows save no time per row, and fewer rows cost more than a tenth of
padding."""


@in_order
class OnnxMinilm:
    """The ``LocalModel`` that needs no PyTorch, and fetches its weights if they are missing.

    Attributes:
        folder: where the model's files are; None looks for them.
    """

    dimension = DIMENSION
    model_id = f"{NAME}@{SHA256[WEIGHTS][:8]}"
    """``load`` checks that the weights are these."""

    folder: Path | None = None

    def load(self) -> LoadedModel:
        """Model, ready to encode.

        Raises:
            ConfigurationError: the model's files are missing or not the ones known here.
        """
        folder = self.folder or weights_folder()
        with (
            translated(ConfigurationError, f"the default model in {folder} cannot be loaded"),
            ThreadPoolExecutor(1) as beside,
        ):
            made = partial(session_of, GRAPH.read_bytes(), folder)
            try:
                loaded = beside.submit(made).result
            except RuntimeError:  # the program is ending and starts no thread
                loaded = made
            check_files(folder)  # half of the time
            tokenizer = tokenizer_of(folder)
            session = loaded()
        return LoadedModel(tokenizer, TOKEN_COUNT_MAX, partial(_encode, tokenizer, session))


def _encode(tokenizer: Tokenizer, session: Any, texts: list[str]) -> Floats:
    """Encode texts, similar lengths together: a padded text costs as much as the longest."""
    import numpy as np

    # One by one: encode_batch starts threads, which a forked child lacks and warns about.
    tokens = [_fitting(tokenizer.encode(text).ids) for text in texts]
    vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
    by_length = sorted(range(len(tokens)), key=lambda index: len(tokens[index]))
    for start, end in _runs([len(tokens[index]) for index in by_length]):
        some = by_length[start:end]
        vectors[some] = _run(session, [tokens[index] for index in some])
    return vectors


def _fitting(ids: list[int]) -> list[int]:
    """As many first tokens as the model reads, and the last one, which ends each text."""
    return ids if len(ids) <= TOKEN_COUNT_MAX else [*ids[: TOKEN_COUNT_MAX - 1], ids[-1]]


def _run(session: Any, rows: list[list[int]]) -> Any:
    import numpy as np

    token_ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(token_ids)
    for number, row in enumerate(rows):
        token_ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return session.run(None, {"input_ids": token_ids, "attention_mask": mask})[0]


def _runs(lengths: list[int]) -> Iterator[Span]:
    """Runs of rows of similar length; the rows must be in ascending order of length."""
    start = 0
    while start < len(lengths):
        alike = bisect_right(lengths, lengths[start] * (1 + PADDING_MAX)) - start
        end = start + min(max(alike, ROWS_MIN), ROWS_MAX)  # the last run may end behind all rows
        yield start, end
        start = end


@cache
def tokenizer_of(folder: Path) -> Tokenizer:
    """The model's tokenizer for whole texts; the packaged judge uses it, too.

    One for both: another one takes 40 ms and 6 MB.
    """
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()  # the file always asks for 128 tokens
    tokenizer.no_truncation()
    return tokenizer


def session_of(graph: bytes, folder: Path, given: Values | None = None) -> Any:
    """Load a graph, ready to run, with the weights from a folder and those that are given by name.

    With given weights the graph runs in one thread: it is too small for several threads.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if given:
        weights = map(onnxruntime.OrtValue.ortvalue_from_numpy, given.values())
        options.add_external_initializers(list(given), list(weights))
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
    # All cores, without spinning: as fast here, and an idle embedder costs no processor time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(folder)
    )
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # only to try another provider; 14 MB of the packaged judge
    return session
