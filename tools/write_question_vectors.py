"""Writes the vectors of the questions about attributes, as the packaged model gives them.

    python tools/write_question_vectors.py

Run it when ``config/attribute_questions.toml`` has changed. Until then each process embeds them
itself.
"""

from __future__ import annotations

import struct
from pathlib import Path

from reconciler.bootstrap import build_embedder
from reconciler.config_files import load_attribute_questions, question_digest
from reconciler.domain.recalling.asking import AttributeQuestions
from reconciler.settings import load_settings

TARGET = Path(__file__).resolve().parents[1] / "config" / "profiles" / "minilm.vectors"


def written() -> bytes:
    """A digest of the questions, how near one must be, and a row of 16-bit floats for each."""
    known = load_attribute_questions(None)
    questions = [text for each in known.values() for text in each]
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        vectors = model.embed(questions)
    finally:
        model.close()
    names = [name for name, each in known.items() for _ in each]
    least = struct.pack("<f", AttributeQuestions(names, vectors).least)
    return question_digest(questions) + least + vectors.astype("<f2").tobytes()


if __name__ == "__main__":
    TARGET.write_bytes(written())
