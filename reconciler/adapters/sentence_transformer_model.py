"""Any sentence-transformers model on this machine, run by PyTorch.

The heavy imports wait for ``load``, nothing is fetched from a hub unless ``allow_download`` says
so, and nothing is printed.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reconciler.adapters.model_files import fingerprint, named_folder, translated
from reconciler.domain.floats import Floats
from reconciler.errors import ConfigurationError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ROWS_AT_ONCE = 16
"""On a processor, rows of about one length at a time: padding all to the longest trebles a mix's
time. A GPU takes all that it is given: its time is that of a call, not of a row."""


class SentenceTransformerModel:
    """The ``LocalModel`` for a folder or a hub name.

    Args:
        name: a folder, else a hub name.
        allow_download: whether a hub name may be fetched; else it must be in the hub's cache.
        device: what PyTorch runs it on, by PyTorch's name for it.
    """

    dimension = None

    def __init__(self, name: str, allow_download: bool = False, device: str = "cpu") -> None:
        self._name = name
        self._allow_download = allow_download
        self._device = device

    @property
    def model_id(self) -> str:
        """Short name and first eight digits of the weights' sha256.

        Raises:
            ConfigurationError: the model is not on this machine.
        """
        folder = self._folder  # what is not there is said first
        return f"{Path(self._name).resolve().name}@{fingerprint(folder)}"

    def load(self) -> _Loaded:
        """The model, ready to encode.

        Raises:
            ConfigurationError: it is not on this machine, sentence-transformers cannot load it, or
                this machine lacks the device.
        """
        return _Loaded(self._folder, self._device)

    @functools.cached_property
    def _folder(self) -> Path:
        return named_folder(self._name, self._allow_download)


class _Loaded:
    def __init__(self, folder: Path, device: str) -> None:
        failed = f"the model in {folder} cannot be loaded"
        with translated(ConfigurationError, failed):
            self._model = _sentence_transformer()(str(folder), device="cpu", local_files_only=True)
            self.tokenizer: Tokenizer = self._model.tokenizer.backend_tokenizer
            self.token_count_max: int = self._model.max_seq_length or sys.maxsize
        with translated(ConfigurationError, f"{failed} on embedder.device {device!r}"):
            self._model.to(device)
        self._rows_at_once = ROWS_AT_ONCE if device == "cpu" else None

    def encode(self, texts: list[str]) -> Floats:
        rows = self._rows_at_once or len(texts)
        return np.asarray(self._model.encode(texts, batch_size=rows, show_progress_bar=False))


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
