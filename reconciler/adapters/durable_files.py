"""Makes what was written to files and folders survive a loss of power."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any


def sync(file: IO[Any]) -> None:
    """Put what was written to an open file on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Put the names of a folder's files on the disk."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows opens no folder, and needs no such sync
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
