"""Vectors that are kept for later processes: when they are read, and what cannot go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler.adapters.kept_vectors import kept_vectors

TEXTS = ["Where does she live?", "Who is her employer?"]
VECTORS = np.array([[1, 0], [0, 1]], dtype=np.float32)


class Embedding:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.count += 1
        return VECTORS[: len(texts)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.usefixtures("cache")
def test_the_same_texts_of_a_model_are_embedded_once() -> None:
    embed = Embedding()
    for _ in range(2):
        np.testing.assert_array_equal(kept_vectors("m@2", TEXTS, embed), VECTORS)
    assert embed.count == 1
    kept_vectors("other@2", TEXTS, embed)
    kept_vectors("m@2", TEXTS[:1], embed)
    assert embed.count == 3


def test_a_damaged_file_is_written_again(cache: Path) -> None:
    embed = Embedding()
    kept_vectors("m@2", TEXTS, embed)
    [file] = cache.rglob("*.npy")
    for damaged in (b"", b"no vectors", file.read_bytes()[:-4]):
        file.write_bytes(damaged)
        np.testing.assert_array_equal(kept_vectors("m@2", TEXTS, embed), VECTORS)
    assert embed.count == 4
    kept_vectors("m@2", TEXTS, embed)
    assert embed.count == 4


def test_a_folder_that_cannot_be_written_is_no_error(cache: Path) -> None:
    cache.write_text("no folder")
    np.testing.assert_array_equal(kept_vectors("m@2", TEXTS, Embedding()), VECTORS)
