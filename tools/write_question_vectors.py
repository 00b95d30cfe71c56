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

from reconciler.bootstrap import build_embedder
from reconciler.config_files import (
    load_attribute_sentences,
    sentences_digest,
)
from reconciler.domain.floats import Floats
from reconciler.domain.recalling.asking import least_of
from reconciler.domain.recalling.languages import about_her
from reconciler.resources import resource_path
from reconciler.settings import load_settings

_DAMPING = 0.002
"""Damps the plane between the two kinds of questions, which is fitted by least squares."""

_STRANGE_BELOW, _STRANGENESS = 0.0, 1.2
"""A question is strange from there on, where 1 is a question about a contact and -1 one about
anything else; and the floor grows by so much for each step. Source: benchmarks/recall.py, and
memories of 3 to 51 of its notes."""

TARGET = Path(__file__).resolve().parents[1] / "config" / "profiles" / "minilm.questions.npz"


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
            least.append(least_of(names, vectors, in_language=questions is not english))
            named.append(names)
            rows.append(vectors)
        facts = [model.embed(each.facts) for each in known.values()]
        generic = model.embed(list(map(about_her, _generic_questions())))
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
        "strange": strange_of(np.concatenate(rows), generic).astype(np.float16),
    }


def _generic_questions() -> list[str]:
    path = resource_path("config") / "generic_questions.toml"
    return list(tomllib.loads(path.read_text(encoding="utf-8"))["questions"])


def strange_of(about_contacts: Floats, generic: Floats) -> Floats:
    """The plane from which a question's distance says how strange it is to a contact's memory.

    Both kinds weigh the same, however many questions there are of each.

    Args:
        about_contacts: the vectors of questions about contacts.
        generic: those of questions about anything else.
    """
    kinds = (about_contacts, 1.0), (generic, -1.0)
    size = about_contacts.shape[1] + 1
    squares, products = np.diag([*[_DAMPING] * (size - 1), 0.0]), np.zeros(size)
    for vectors, wanted in kinds:
        told = np.c_[vectors, np.ones(len(vectors))].astype(np.float64)
        squares += told.T @ told / (2 * len(told))
        products += wanted * told.mean(axis=0) / 2
    plane = -_STRANGENESS * np.linalg.solve(squares, products)
    plane[-1] += _STRANGENESS * _STRANGE_BELOW
    return plane.astype(np.float32)


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
