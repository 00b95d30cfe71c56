"""Writes the vectors of the sentences about attributes, as the packaged model gives them.

    python tools/write_question_vectors.py

Run it when ``config/attribute_questions.toml`` has changed, or
``config/attribute_questions_in_languages.toml``. Until then each process embeds the
questions itself, and none leans towards what facts say.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reconciler.bootstrap import build_embedder
from reconciler.config_files import (
    load_attribute_sentences,
    load_questions_in_languages,
    question_vectors,
)
from reconciler.domain.recalling.asking import leanings_of, least_of
from reconciler.settings import load_settings

TARGET = Path(__file__).resolve().parents[1] / "config" / "profiles" / "minilm.vectors"


def written() -> bytes:
    """The file: how near a question must be, the questions, and where facts lie."""
    known = load_attribute_sentences()
    english = {name: each.questions for name, each in known.items()}
    asked = [english, *load_questions_in_languages().values()]
    kept: list[tuple[float, dict[str, int]]] = []
    rows = []
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        for questions in asked:
            names = [name for name, texts in questions.items() for _ in texts]
            vectors = model.embed([text for texts in questions.values() for text in texts])
            least = least_of(names, vectors, in_language=questions is not english)
            kept.append((least, {name: len(texts) for name, texts in questions.items()}))
            rows.append(vectors)
        facts = [model.embed(each.facts) for each in known.values()]
    finally:
        model.close()
    return question_vectors(kept, np.concatenate([*rows, leanings_of(facts)]))


if __name__ == "__main__":
    TARGET.write_bytes(written())
