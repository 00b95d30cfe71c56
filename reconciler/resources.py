"""Where ``cypher/`` and ``config/`` are: in the package once installed, else in the checkout."""

from __future__ import annotations

from pathlib import Path

from reconciler.errors import ConfigurationError

__all__ = ["resource_path"]


def resource_path(name: str) -> Path:
    """The folder of that name.

    Raises:
        ConfigurationError: neither place has it; the installation is broken.
    """
    package = Path(__file__).resolve().parent
    for place in (package / name, package.parent / name):
        if place.is_dir():
            return place
    raise ConfigurationError(f"the installation lacks its folder {name}/; install it again")
