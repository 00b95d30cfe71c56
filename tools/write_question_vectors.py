"""Writes the vectors of the questions about attributes, as the packaged model gives them.

    python tools/write_question_vectors.py

Run it when ``config/attribute_questions.toml`` has changed. Until then each process embeds them
itself.
"""

from __future__ import annotations

from pathlib import Path

from reconciler.bootstrap import build_embedder
from reconciler.config_files import load_attribute_questions, question_digest
from reconciler.settings import load_settings

TARGET = Path(__file__).resolve().parents[1] / "config" / "profiles" / "minilm.vectors"


def written() -> bytes:
    """The file: a digest of the questions, then a row each of 16-bit floats, little-endian."""
    questions = [text for each in load_attribute_questions(None).values() for text in each]
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        return question_digest(questions) + model.embed(questions).astype("<f2").tobytes()
    finally:
        model.close()


if __name__ == "__main__":
    TARGET.write_bytes(written())
