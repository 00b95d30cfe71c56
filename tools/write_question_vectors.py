"""Writes the vectors of the sentences about attributes, as the packaged model gives them.

    python tools/write_question_vectors.py

Run it when ``config/attribute_questions.toml`` has changed. Until then each process embeds the
questions itself, and none leans towards what facts say.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reconciler.bootstrap import build_embedder
from reconciler.config_files import load_attribute_sentences, question_vectors
from reconciler.domain.recalling.asking import AttributeQuestions, leanings_of
from reconciler.settings import load_settings

TARGET = Path(__file__).resolve().parents[1] / "config" / "profiles" / "minilm.vectors"


def written() -> bytes:
    """The file: how near a question must be, the questions, and where facts lie."""
    known = load_attribute_sentences()
    counts = {name: len(each.questions) for name, each in known.items()}
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        questions = model.embed([text for each in known.values() for text in each.questions])
        facts = [model.embed(each.facts) for each in known.values()]
    finally:
        model.close()
    names = [name for name, count in counts.items() for _ in range(count)]
    least = AttributeQuestions(names, questions).least
    return question_vectors(least, counts, np.concatenate([questions, leanings_of(facts)]))


if __name__ == "__main__":
    TARGET.write_bytes(written())
