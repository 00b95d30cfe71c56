"""Writes the vectors of the sentences about attributes, as the packaged model gives them.

    python tools/write_question_vectors.py

Run it when ``config/attribute_questions.toml`` has changed,
``config/attribute_questions_in_languages.toml``, or ``config/generic_questions.toml``. Until then
each process embeds the questions itself, and none leans towards what facts say.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.config_files import (
    load_attribute_sentences,
    sentences_digest,
)
from reconciler.domain.recalling.asking import SPREADS, least_of
from reconciler.floats import Floats
from reconciler.reading.question_words import about_her
from reconciler.resources import resource_path
from reconciler.settings import load_settings

TARGET = Path(__file__).resolve().parents[1] / "config" / "profiles" / "minilm.questions.npz"

_SPREADS_IN_LANGUAGE = 2.8
"""``SPREADS`` for a language that the model was not made for: all sentences of that language are
near each other. Source: one half of benchmarks/questions_in_languages.jsonl."""


def written() -> dict[str, NDArray[Any]]:
    """What ``load_question_vectors`` reads: the questions, language by language, English first.

    With the attribute that each asks for, how near a question must be to one of a language, where
    each language begins, and the place of each attribute's facts; vectors as 16-bit floats.
    """
    known = load_attribute_sentences()
    english = {name: each.questions for name, each in known.items()}
    least, named, rows = [], [], []
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        for questions in (english, *load_questions_in_languages().values()):
            names = [name for name, texts in questions.items() for _ in texts]
            vectors = model.embed(
                [about_her(text) for texts in questions.values() for text in texts]
            )
            spreads = SPREADS if questions is english else _SPREADS_IN_LANGUAGE
            least.append(least_of(names, vectors, spreads))
            named.append(names)
            rows.append(vectors)
        facts = [model.embed(each.facts) for each in known.values()]
        others = {
            kind: model.embed(list(map(about_her, questions))).astype(np.float16)
            for kind, questions in load_generic_questions().items()
        }
    finally:
        model.close()
    return {
        "digest": np.array(sentences_digest()),
        "names": np.concatenate(named),
        "vectors": np.concatenate(rows).astype(np.float16),
        "ends": np.cumsum([len(names) for names in named])[:-1],
        "least": np.array(least),
        "attributes": np.array([*known]),
        "leanings": leanings_of(facts).astype(np.float16),
        **others,
    }


def load_generic_questions() -> dict[str, list[str]]:
    """Questions that ask for no attribute: ``generic`` and ``personal`` ones."""
    path = resource_path("config") / "generic_questions.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def load_questions_in_languages() -> dict[str, dict[str, list[str]]]:
    """Questions about attributes in other languages than English, by language and attribute."""
    path = resource_path("config") / "attribute_questions_in_languages.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def leanings_of(facts: Sequence[Floats]) -> Floats:
    """The place of each attribute's facts, seen from the middle of all facts; a row each.

    Args:
        facts: the vectors of some facts of each attribute.
    """
    middles = np.array([vectors.mean(axis=0) for vectors in facts])
    leanings: Floats = middles - np.concatenate(facts).mean(axis=0)
    return leanings


if __name__ == "__main__":
    np.savez(TARGET, **written())  # a compressed one takes ten times as long to read
