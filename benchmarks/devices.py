"""Embedding on each device that PyTorch has here, in texts a second, beside the processor.

The models have the shapes of all-MiniLM-L6-v2 and of a BERT of base size, with random weights, so
that nothing is fetched: what a text costs depends on the shape alone. The greatest difference from
the processor's vectors stands beside it.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.sizes import sized
from reconciler.adapters.local_embedder import LocalEmbedder, SentenceTransformerModel

if TYPE_CHECKING:
    from benchmarks.engines import Engines

__all__ = ["main"]

SHAPES = {"MiniLM": (384, 6, 12, 1536), "base": (768, 12, 12, 3072)}
"""Width, layers, heads and inner width."""

COUNT = sized(4000, 16)
BATCHES = (64, 512)[: sized(2, 1)]


def main(_available: Engines | None = None) -> None:
    """Print both rates and their ratio for each shape, batch and device."""
    print(f"## devices, {COUNT} texts of 4 to 30 words, texts a second\n")
    print("| model | batch | device | texts/s | of the processor's | farthest vector |")
    print("|---|--:|---|--:|--:|--:|")
    words, texts = _texts()
    with tempfile.TemporaryDirectory() as folder:
        for shape in list(SHAPES)[: sized(2, 1)]:
            path = Path(folder) / shape
            _write_model(path, words, *SHAPES[shape])
            for batch in BATCHES:
                expected, bare = _embedded(path, "cpu", batch, texts)
                for device in ("cpu", *_devices()):
                    vectors, rate = _embedded(path, device, batch, texts)
                    far = float(np.abs(vectors - expected).max())
                    print(
                        f"| {shape} | {batch} | {device} | {rate:.0f} | {rate / bare:.1f} "
                        f"| {far:.0e} |",
                        flush=True,
                    )
    print(flush=True)


def _devices() -> list[str]:
    import torch

    has_mps = torch.backends.mps.is_available()
    return ["cuda"] * torch.cuda.is_available() + ["mps"] * has_mps


def _texts() -> tuple[list[str], list[str]]:
    """The words, and texts of them."""
    drawn = random.Random(7)
    words = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(2000)]
    texts = [" ".join(drawn.choices(words, k=drawn.randint(4, 30))) for _ in range(COUNT)]
    return words, texts


def _embedded(path: Path, device: str, batch: int, texts: list[str]) -> tuple[np.ndarray, float]:
    embedder = LocalEmbedder(SentenceTransformerModel(str(path), device=device), batch)
    try:
        embedder.warm_up()
        embedder.embed(texts[:batch])
        began = time.perf_counter()
        vectors = embedder.embed(texts)
        return vectors, len(texts) / (time.perf_counter() - began)
    finally:
        embedder.close()


def _write_model(
    path: Path, words: list[str], width: int, layers: int, heads: int, inner: int
) -> None:
    """A model of this shape with random weights, as sentence-transformers writes one."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    plain = path.with_suffix(".bert")
    plain.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (plain / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(str(plain / "vocab.txt")).save_pretrained(plain)
    torch.manual_seed(7)
    BertModel(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=inner,
        )
    ).save_pretrained(plain)
    body = Transformer(str(plain), max_seq_length=256)
    SentenceTransformer(modules=[body, Pooling(width)], device="cpu").save(str(path))


if __name__ == "__main__":
    main()
