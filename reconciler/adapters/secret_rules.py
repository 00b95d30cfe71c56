"""Reads the rules under ``config/secret_rules/``: vendors' tokens, and numbers of persons."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import TypeVar

from reconciler.errors import ConfigurationError
from reconciler.resources import read_config, resource_path

T = TypeVar("T")


def rules_of(file: str, table: str, made: Callable[..., T]) -> list[T]:
    """The rules of a file, made of the fields of each table.

    Raises:
        ConfigurationError: the file cannot be read, or a field is not as it must be.
    """
    source = f"config/secret_rules/{file}"
    text = read_config(resource_path("config") / "secret_rules" / file, source)
    try:
        return [made(**fields) for fields in tomllib.loads(text)[table]]
    except (ValueError, KeyError, TypeError) as error:  # what is no expression is a ValueError too
        raise ConfigurationError(f"{source} cannot be read: {error}; correct it") from error
