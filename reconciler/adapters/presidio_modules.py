"""Presidio's modules one by one, without what its package imports on the way.

All that knows how presidio-analyzer is laid out as a package lives here: which names its
recognisers ask the package for, and where those are. No recogniser, no pattern and no kind of
sensitive data may live here, and nothing else may touch ``sys.modules``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import Lock
from types import ModuleType
from typing import Any

__all__ = ["bare_presidio"]

_PACKAGES = (
    "presidio_analyzer",
    "presidio_analyzer.nlp_engine",
    "presidio_analyzer.predefined_recognizers",
    "presidio_analyzer.predefined_recognizers.generic",
)
_HOMES = {
    "AnalysisExplanation": "analysis_explanation",
    "EntityRecognizer": "entity_recognizer",
    "LocalRecognizer": "local_recognizer",
    "Pattern": "pattern",
    "PatternRecognizer": "pattern_recognizer",
    "RecognizerResult": "recognizer_result",
}
_IMPORT_LOCK = Lock()


@contextmanager
def bare_presidio() -> Iterator[ModuleType]:
    """Presidio's package, empty; while the context lasts, its modules can be had singly.

    The real ``__init__`` imports spaCy, and transformers and torch where they are installed: four
    seconds, for a model that no pattern needs. Afterwards nothing of it stays in ``sys.modules``,
    so that whoever imports presidio for itself gets all of it.
    """
    with _IMPORT_LOCK:
        if _PACKAGES[0] in sys.modules:
            yield sys.modules[_PACKAGES[0]]
            return
        try:
            for name in _PACKAGES:
                sys.modules[name] = _bare_package(name)
            yield sys.modules[_PACKAGES[0]]
        finally:
            for name in [name for name in sys.modules if name.split(".")[0] == _PACKAGES[0]]:
                del sys.modules[name]


def _bare_package(name: str) -> ModuleType:
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(name=name)
    package = _BarePackage(name)
    package.__path__ = list(spec.submodule_search_locations or ())
    package.__spec__ = ModuleSpec(name, None, is_package=True)
    return package


class _BarePackage(ModuleType):
    """A package whose ``__init__`` has not run; gives the few names that recognisers ask it for."""

    def __getattr__(self, name: str) -> Any:
        if name == "NlpArtifacts":  # only ever an annotation
            return object
        if name in _HOMES:
            return getattr(import_module(f"presidio_analyzer.{_HOMES[name]}"), name)
        raise AttributeError(name)
