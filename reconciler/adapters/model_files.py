"""Model files: finds a model on this machine, and identifies it by its weights.

Never loads a model, and fetches nothing without permission.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reconciler.errors import ConfigurationError, ReconcilerError

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
OTHER_FORMATS = ["*.onnx", "onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack"]


@contextmanager
def translated(kind: type[ReconcilerError], what: str) -> Iterator[None]:
    """Turn every error of the libraries into ``kind``; our own errors pass unchanged."""
    try:
        yield
    except ReconcilerError:
        raise
    except Exception as error:
        first_line = str(error).partition("\n")[0]  # of PyTorch's a page may follow
        raise kind(f"{what} ({type(error).__name__}: {first_line})") from error


def named_folder(name: str, allow_download: bool) -> Path:
    """The folder of a model's files: the named folder, else the one of a hub name.

    Raises:
        ConfigurationError: it is not on this machine, and may not be or could not be fetched.
    """
    with translated(ConfigurationError, f"the embedder's model {name!r} cannot be looked for"):
        folder = Path(name).expanduser()
        folder.resolve()  # some names cannot be a path, such as one with a null byte
        is_folder = folder.is_dir()
    return folder.resolve() if is_folder else _hub_folder(name, allow_download)


def _hub_folder(name: str, allow_download: bool) -> Path:
    missing = (
        f"model {name!r} is neither a folder nor in the hub's cache: use 'minilm', give a folder, "
        "or allow the download"
    )
    with translated(ConfigurationError, missing):
        from huggingface_hub import snapshot_download

        repository = name if "/" in name else f"sentence-transformers/{name}"
        quiet_hub()
        return Path(
            snapshot_download(
                repository, local_files_only=not allow_download, ignore_patterns=OTHER_FORMATS
            )
        )


def quiet_hub() -> None:
    """Keep the hub's client from drawing progress bars."""
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()


def fingerprint(folder: Path) -> str:
    """The first eight digits of the sha256 of the model's weights.

    Raises:
        ConfigurationError: the folder holds no weights.
    """
    for weights in (folder / part / name for name in WEIGHTS for part in ("", "0_Transformer")):
        if weights.is_file():
            return sha256_of(weights)[:8]
    raise ConfigurationError(f"{folder} is not a model: it contains none of {', '.join(WEIGHTS)}")


def sha256_of(file: Path) -> str:
    """The sha256 of a file, in hexadecimal; 0.05 s for 90 MB if the processor supports it.

    A process that asks twice for a file that did not change reads it once.

    Raises:
        OSError: it cannot be read.
    """
    status = file.stat()
    return _sha256(file, status.st_ino, status.st_size, status.st_mtime_ns)


@functools.lru_cache
def _sha256(file: Path, *_unchanged: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
