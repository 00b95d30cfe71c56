"""Reads the files under ``config/`` except the settings: profiles, attributes, gate policy.

A file that an operator may have written is checked; a test checks the shipped files.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import combinations
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

from reconciler.domain.records.policies import JudgeQuestion, Profile, RecallFloor
from reconciler.errors import ConfigurationError
from reconciler.frozen import Json, is_number
from reconciler.resources import read_config, resource_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from pydantic import BaseModel

    from reconciler.domain.gate.policy import GatePolicy
    from reconciler.domain.recalling.asking import AttributeQuestions, AttributeSentences
    from reconciler.domain.tools.tool import Tool
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.reading.linear_head import LinearHead

_PROFILES = resource_path("config") / "profiles"
_BOOKS = resource_path("config") / "books"
_QUESTIONS = "attribute_questions.toml"
_SENTENCES = (_QUESTIONS, "attribute_questions_in_languages.toml", "generic_questions.toml")
_THRESHOLDS = ("cosine_update_min", "cosine_add_max", "cosine_cut")


class BookChoice(NamedTuple):
    """Which attributes are known besides the shipped ones; each comes before those before it.

    Attributes:
        file: a file like ``config/attributes.toml``, for all agents.
        of_agents: names of shipped books, or paths, by shell patterns of agents' ids.
        models: Pydantic models, by such patterns.
    """

    file: Path | None
    of_agents: Mapping[str, Sequence[str]] = {}
    models: Mapping[str, type[BaseModel]] = {}


def load_profile(name: str) -> Profile:
    """Read a profile by its name under ``config/profiles``, or by the path of its file.

    Args:
        name: ``seed``, ``minilm``, or the path of a file that ``reconciler calibrate`` wrote.

    Raises:
        ConfigurationError: there is no such file, or it is not a profile.
    """
    if not isinstance(name, str):
        raise ConfigurationError(f"a profile is named by a string, not {type(name).__name__}")
    is_shipped = re.fullmatch(r"[\w-]+", name) is not None
    path = _PROFILES / f"{name}.toml" if is_shipped else Path(name)
    if not isfile(path):  # noqa: PTH113 - nor does it raise for a name that no file can have
        shipped = ", ".join(sorted(file.stem for file in _PROFILES.glob("*.toml")))
        raise ConfigurationError(
            f"no profile {name}; give one of {shipped}, or the path of a profile's TOML file"
        )
    values = _parsed(path, _text_of(path))
    if "name" not in values or not all(is_number(values.get(key)) for key in _THRESHOLDS):
        needed = ", ".join(("name", *_THRESHOLDS))
        raise ConfigurationError(f"{path} is not a profile; it needs {needed}")
    model = values.get("embedding_model")
    return Profile(
        name=str(values["name"]),
        embedding_model=None if model is None else str(model),
        **{key: float(values[key]) for key in _THRESHOLDS},
    )


def load_recall_floor(embedding_model: str) -> RecallFloor | None:
    """The floor of recall in the shipped profile for a model; None if there is none.

    Args:
        embedding_model: name and fingerprint.

    Raises:
        ConfigurationError: a profile cannot be read.
    """
    given = (values.get("recall_floor") for _, values in _profiles(embedding_model))
    return next((RecallFloor(**floor) for floor in given if floor), None)


def profiles_of(embedding_model: str) -> list[str]:
    """The shipped profiles that were calibrated on a model, by name; may be empty.

    Raises:
        ConfigurationError: a profile cannot be read.
    """
    return [path.stem for path, _ in _profiles(embedding_model)]


def _kept(name: str, embedding_model: str) -> Mapping[str, NDArray[Any]] | None:
    """The arrays with that name that are shipped for a model; None if there are none.

    Raises:
        ConfigurationError: their file cannot be read.
    """
    for path, _ in _profiles(embedding_model):
        file = path.with_suffix(f".{name}.npz")
        if file.is_file():
            return _arrays(file)
    return None


def _arrays(file: Path) -> Mapping[str, NDArray[Any]]:
    import numpy as np

    try:
        with np.load(file, allow_pickle=False) as kept:
            return dict(kept)
    except (OSError, EOFError, ValueError, BadZipFile) as error:
        raise ConfigurationError(
            f"{file} cannot be read ({error}); install the package again"
        ) from error


def load_reach(embedding_model: str) -> float | None:
    """The cosine below which two texts are mostly about different things; None if not measured.

    It is the lowest ``cosine_add_max`` of the shipped profiles that were calibrated on the model.

    Raises:
        ConfigurationError: a profile cannot be read.
    """
    bounds = [load_profile(name).cosine_add_max for name in profiles_of(embedding_model)]
    return min(bounds, default=None)


def load_attribute_book(books: BookChoice | None) -> AttributeBook:
    """The known attributes, with the books of the agents that have their own.

    Raises:
        ConfigurationError: a file cannot be read, or lacks something that an attribute needs, or
            agents fit two patterns, of which the first is not the narrower one.
    """
    from reconciler.domain.values.attributes import AttributeBook

    shared = _attribute_book(*_shipped("attributes.toml"))
    of_agents: dict[str, AttributeBook] = {}
    for pattern, book in _own_books(books):
        if pattern is None:
            shared = shared.merged_with(book)
        else:
            of_agents[pattern] = of_agents.get(pattern, shared).merged_with(book)
    for one, other in combinations(of_agents, 2):
        fits_one = one.replace("*", other.strip("*"))
        fits_both = fnmatchcase(other, one) or fnmatchcase(fits_one, other)
        if fits_both and not fnmatchcase(one, other):
            raise ConfigurationError(
                f"books of both {one!r} and {other!r} are for the same agents, and only those of "
                f"{one!r} would count; put the narrower pattern first, or name the agents"
            )
    return AttributeBook(shared, of_agents)


def load_attribute_sentences() -> dict[str, AttributeSentences]:
    """Shipped questions and facts of each attribute.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    return dict(_read_sentences(*_shipped(_QUESTIONS)))


def load_own_questions(books: BookChoice | None) -> dict[str, Sequence[str]]:
    """Questions for the attributes that are not of the shipped book.

    If an attribute has no ``questions``, its name and its description make them.

    Raises:
        ConfigurationError: a file cannot be read, or has no lists of questions.
    """
    from reconciler.domain.recalling.asking import questions_of

    return {
        attribute.name: questions_of(attribute.name, attribute.questions, attribute.description)
        for _, book in _own_books(books)
        for attribute in book
    }


def load_question_vectors(embedding_model: str) -> AttributeQuestions | None:
    """The vectors of the questions about attributes, if they are shipped for the model; else None.

    The sentences themselves are not read: the vectors name the text from which they were made.

    Args:
        embedding_model: name and fingerprint.
    """
    kept = _kept("questions", embedding_model)
    if kept is None or str(kept["digest"]) != sentences_digest():
        return None
    return _question_vectors(kept)


def load_head(name: str, embedding_model: str) -> LinearHead | None:
    """The shipped head with that name; None if it was not trained on that embedding model.

    Args:
        name: ``notes`` or ``ends``.
        embedding_model: name and fingerprint.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    from reconciler.reading.linear_head import LinearHead

    kept = _kept(name, embedding_model)
    if kept is None:
        return None
    return LinearHead(
        weights=kept["weights"] * kept["scale"],
        bias=kept["bias"],
        version=str(kept["version"]),
        **{each: kept[each].tolist() for each in ("kinds", "bounds", "floors")},
    )


def sentences_digest() -> str:
    """Digest that names the vectors of the attributes' sentences."""
    texts = (text for _, text in map(_shipped, _SENTENCES))
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def _question_vectors(kept: Mapping[str, NDArray[Any]]) -> AttributeQuestions:
    """The questions of each language, English first, and the direction of the attributes' facts."""
    import numpy as np

    from reconciler.domain.recalling.asking import AttributeQuestions

    names = [part.tolist() for part in np.split(kept["names"], kept["ends"])]
    vectors = np.split(kept["vectors"].astype(np.float32), kept["ends"])
    parts = list(zip(names, vectors, kept["least"].tolist(), strict=True))
    leanings = zip(kept["attributes"].tolist(), kept["leanings"].astype(np.float32), strict=True)
    in_languages = [AttributeQuestions(*part) for part in parts[1:]]
    others = (kept[kind].astype(np.float32) for kind in ("generic", "personal"))
    return AttributeQuestions(*parts[0], dict(leanings), in_languages, *others)


def load_gate_policy(own: Path | None = None, domain: str | None = None) -> GatePolicy:
    """The write gate's policy: the user's own file, else the shipped one.

    Args:
        own: a file like ``config/policy.toml``; None for the shipped one.
        domain: the domain of agents that the file does not list; None for the file's default.

    Raises:
        ConfigurationError: the file cannot be read, a table is missing or unusable, or the file has
            no such domain.
    """
    policy = _shipped("policy.toml") if own is None else (own, _text_of(own))
    return _gate_policy(*policy, domain)


def load_judge_questions() -> list[JudgeQuestion]:
    """Shipped questions of `reconciler doctor --judge`.

    Raises:
        ConfigurationError: the installation lacks the file.
    """
    questions = _parsed(*_shipped("judge_questions.toml"))["questions"]
    return [JudgeQuestion.from_mapping(each) for each in questions]


def load_prices(provider: str, model: str) -> dict[str, float]:
    """The list prices of a model at its vendor, by the settings' names; empty if no price is known.

    A name with a date, such as ``claude-haiku-4-5-20251001``, has the price of the model.

    Raises:
        ConfigurationError: the installation lacks the list.
    """
    prices = _parsed(*_shipped("prices.toml"))
    price = prices.get(provider, {}).get(re.sub(r"-(\d{8}|\d{4}-\d\d-\d\d)$", "", model))
    if price is None:
        return {}
    return {f"usd_per_million_{name}_tokens": price[name] for name in ("input", "output")}


@lru_cache
def load_tools() -> dict[str, Tool]:
    """The tools that an agent's model may call, with the texts for the model, by name.

    Raises:
        ConfigurationError: the installation lacks the file.
    """
    from pydantic import TypeAdapter

    from reconciler.domain.tools.tool import Tool

    tools = TypeAdapter(list[Tool]).validate_python(_parsed(*_shipped("tools.toml"))["agent"])
    return {tool.name: tool for tool in tools}


# They take longer to make than a store takes to open, and none changes once it is made. The text
# is a part of the key, so a file that was edited counts at the next opening.


@lru_cache(maxsize=1)
def _read_sentences(path: Path, text: str) -> dict[str, AttributeSentences]:
    from reconciler.domain.recalling.asking import AttributeSentences

    return {
        name: AttributeSentences(tuple(given["questions"]), tuple(given["facts"]))
        for name, given in _parsed(path, text).items()
    }


def _own_books(books: BookChoice | None) -> Iterator[tuple[str | None, AttributeBook]]:
    """The chosen books, in order, each with the pattern of its agents; None for all agents."""
    from reconciler.domain.values.attributes import AttributeBook

    if books is None:
        return
    own = [(None, str(books.file))] if books.file else []
    named = [(each, name) for each, names in books.of_agents.items() for name in names]
    for pattern, name in (*own, *named):
        is_own = name.endswith(".toml")
        path = Path(name) if is_own else _BOOKS / f"{name}.toml"
        if not (is_own or isfile(path)):  # noqa: PTH113 - nor does it raise for any name
            shipped = ", ".join(sorted(file.stem for file in _BOOKS.glob("*.toml")))
            raise ConfigurationError(
                f"no attribute book {name}; give one of {shipped}, or the path of a TOML file"
            )
        yield pattern, _attribute_book(path, _text_of(path))
    for pattern, model in books.models.items():
        yield pattern, AttributeBook.from_model(model)


@lru_cache(maxsize=16)
def _attribute_book(path: Path, text: str) -> AttributeBook:
    from reconciler.domain.values.attributes import AttributeBook

    given = _parsed(path, text)
    try:
        return AttributeBook.from_mapping(given)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


@lru_cache(maxsize=8)
def _gate_policy(path: Path, text: str, domain: str | None) -> GatePolicy:
    from reconciler.domain.gate.policy import GatePolicy

    return GatePolicy.from_mapping(_parsed(path, text), domain)


def _profiles(embedding_model: str) -> Iterator[tuple[Path, Json]]:
    """The shipped profiles that were calibrated on a model, by name, with their contents."""
    for path in sorted(_PROFILES.glob("*.toml")):
        values = _parsed(path, _text_of(path))
        if values.get("embedding_model") == embedding_model:
            yield path, values


def _shipped(name: str) -> tuple[Path, str]:
    """A shipped file and its text."""
    path = resource_path("config") / name
    return path, _text_of(path)


def _text_of(path: Path) -> str:
    return read_config(path, str(path))


def _parsed(path: Path, text: str) -> Json:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
