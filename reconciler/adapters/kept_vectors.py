"""Kept vectors: the vectors of texts that never change, in a file that later processes read.

Only for texts that are shipped with the package: no erasure removes what is kept here.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from reconciler.errors import ConfigurationError
from reconciler.floats import Floats
from reconciler.resources import user_cache_folder


def kept_vectors(
    model_id: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Floats]
) -> Floats:
    """Vectors of the texts: read from the user's cache folder, else embedded and kept there.

    If the folder cannot be read or written, the texts are embedded again; that is no error.

    Args:
        model_id: which model made them.
        texts: in this order.
        embed: makes the vectors that are not kept.
    """
    name = hashlib.sha256(json.dumps([model_id, *texts]).encode()).hexdigest()[:32]
    try:
        folder = user_cache_folder() / "questions"
    except ConfigurationError:  # a user without a home
        return embed(texts)
    path = folder / f"{name}.npy"
    with suppress(OSError, ValueError, EOFError):
        kept = np.load(path, allow_pickle=False)
        if kept.dtype == np.float32 and kept.ndim == 2 and len(kept) == len(texts):
            return np.asarray(kept)
    made = embed(texts)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{name}.{os.getpid()}.tmp"
        with unfinished.open("wb") as file:
            np.save(file, made, allow_pickle=False)
        unfinished.replace(path)
    return made
