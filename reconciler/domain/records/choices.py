"""Checks of callers' choices: a word of a list, true or false, a file, a function, our objects.

A refusal repeats a bounded excerpt.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import TypeVar

from reconciler.errors import InvalidRequestError, ReconcilerError

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

NOT_UTF_8 = (
    "not valid UTF-8, but perhaps Latin-1; save the file as UTF-8, such as with "
    "iconv -f LATIN1 -t UTF-8"
)
"""What is wrong with a file in another encoding, and the mend."""

_EXCERPT_LENGTH_MAX = 60
"""Characters of a refused value that its refusal repeats."""


def one_of(
    kind: type[E], name: str, value: object, error: type[ReconcilerError] = InvalidRequestError
) -> E:
    """Member of the kind that the value names.

    Args:
        kind: the words there are.
        name: what the caller knows the value by.
        value: what the caller gave.
        error: raised if there is no such word; its text lists the words.
    """
    if type(value) is kind:
        return value
    try:
        return kind(str(value))
    except ValueError:
        raise error(not_one_of(name, value, kind)) from None


def not_one_of(name: str, value: object, known: Iterable[str]) -> str:
    """Text of a refusal: the given value, and the allowed ones."""
    return f"{name} {excerpt(value)} is not one of {', '.join(known)}"


def excerpt(value: object) -> str:
    """Value as an error repeats it: quoted, and at most 60 characters of it."""
    try:
        said = str(value)
    except ValueError:  # Python writes out no number of more than 4,300 digits
        said = "so long a number"
    return repr(said if len(said) <= _EXCERPT_LENGTH_MAX else said[:_EXCERPT_LENGTH_MAX] + "…")


def check_flags(**flags: object) -> None:
    """Refuse a flag that is not True or False: in Python the text "false" counts as true.

    Args:
        flags: by the names that the caller knows them by.

    Raises:
        InvalidRequestError: a flag has another value.
    """
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidRequestError(
                f"{name} must be True or False, not {type(value).__name__} {excerpt(value)}"
            )


def check_callable(**functions: object) -> None:
    """Refuse a callback that cannot be called, before the work that it reports on begins.

    Args:
        functions: by the names that the caller knows them by.

    Raises:
        InvalidRequestError: one cannot be called, such as None; leave it out instead.
    """
    for name, function in functions.items():
        if not callable(function):
            raise InvalidRequestError(
                f"{name} must be a function, not {type(function).__name__}; leave it out for none"
            )


def check_kind(
    name: str, value: object, kind: type, error: type[ReconcilerError] = InvalidRequestError
) -> None:
    """Refuse anything but an object of this class.

    Args:
        name: what the caller knows the value by.
        value: what the caller gave.
        kind: the class that it must have.
        error: what is raised otherwise; its text names both classes.
    """
    if not isinstance(value, kind):
        raise error(f"{name} must be a {kind.__name__}, not {type(value).__name__}")


def list_of(kind: type[T], name: str, values: Iterable[T]) -> list[T]:
    """Values, all of this class.

    Raises:
        InvalidRequestError: they are no such values; the text says which class they must have.
    """
    if not isinstance(values, Iterable):
        raise InvalidRequestError(
            f"{name} must be a list of {kind.__name__} objects, not {type(values).__name__}"
        )
    listed = list(values)
    for value in listed:
        check_kind(f"each of {name}", value, kind)
    return listed


def file_path(name: str, given: object) -> Path:
    """File that a caller names.

    Raises:
        InvalidRequestError: the value names no file.
    """
    if not isinstance(given, str | PathLike):
        raise InvalidRequestError(f"{name} must be a path, not {type(given).__name__}")
    try:
        path = Path(given)
    except TypeError:  # a path in bytes
        raise InvalidRequestError(f"{name} must be a path of text, not of bytes") from None
    if "\0" in str(path):
        raise InvalidRequestError(f"{name} {excerpt(str(path))} holds a null character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidRequestError(
            f"{name} {excerpt(str(path))} holds half of a surrogate pair, which no file's name can "
            "hold; remove it"
        ) from None
    return path
