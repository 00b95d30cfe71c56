"""A virtual environment for each of the others, made once and kept beside the user's caches."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import platformdirs

from tests.neo4j_server import say

__all__ = ["EnvironmentFailedError", "environment", "requirement_files", "requirements"]

INSTALL_SECONDS_MAX = 600
FOLDER = Path(__file__).parent


class EnvironmentFailedError(Exception):
    """The package could not be installed; the text ends with what pip said."""


def requirement_files() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def requirements(name: str) -> str:
    """What the named environment has, a pinned package a line, its system's first."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def environment(name: str) -> Path:
    """The Python of the environment in which the named requirements are installed.

    Raises:
        EnvironmentFailedError: pip did not manage, or took too long.
    """
    key = hashlib.sha256((requirements(name) + sys.version).encode()).hexdigest()[:8]
    folder = platformdirs.user_cache_path("reconciler") / "peers" / f"{name}-{key}"
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.exists():
        say(f"peers: installing {name} into {folder} ...")
        _install(name, folder, python)
        done.touch()
    return python


def _install(name: str, folder: Path, python: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    try:
        subprocess.run(
            [*command, "-r", str(FOLDER / f"{name}.txt")],
            check=True,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS_MAX,
        )
    except subprocess.CalledProcessError as error:
        raise EnvironmentFailedError(f"pip failed: {error.stderr.strip()[-500:]}") from error
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailedError(f"pip took over {INSTALL_SECONDS_MAX} s") from error
