"""What a process loads until its first decision, and when: seconds of processor time, if it is all.

Told by the modules that are loaded, for time depends on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler import Memory
from reconciler.adapters.embedded_connections import PlanningConnection
from reconciler.errors import ConfigurationError
from reconciler.testing import HashingEmbedder

SCOPE = ["--agent", "crm", "--contact", "priya"]
HELPING = {
    "--help": ["--help"],
    "recall --help": ["recall", "--help"],
    "add --help": ["add", "--help"],
}
READING = {
    "contacts": ["contacts", "--agent", "crm"],
    "history": ["history", *SCOPE],
    "decisions": ["decisions", *SCOPE],
    "pending": ["pending", "--agent", "crm"],
    "refusals": ["refusals", "--agent", "crm"],
    "jobs": ["jobs"],
}
"""Commands that only read a store."""

FOR_EMBEDDING = {"onnxruntime", "tokenizers"}
FOR_OTHER_MODELS = {"sentence_transformers", "torch", "transformers", "huggingface_hub"}
FOR_THE_GATE = {"babel", "phonenumbers", "regex"}
FOR_OTHER_LANGUAGES = {"py3langid"}
FOR_ARBITRATION = {"anthropic", "openai"}
FOR_ONE_COMMAND = {"neo4j", "prometheus_client", "scipy"}
FOR_THE_COMMAND_LINE = {"rich", "typer"}
FOR_A_STORE = {"cachetools", "ladybug", "pydantic", "pydantic_settings"}
OF_OUR_OWN = {"reconciler.reading.lexicon", "reconciler.reading.named_secrets.grammar"}
"""Modules that compile expressions, or wait to."""

NO_ENGLISH_WORD = "Her notice period is three months."
"""Each of its words may be of another language, too."""

HEAVY = (
    *{*FOR_EMBEDDING, *FOR_OTHER_MODELS, *FOR_THE_GATE, *FOR_ARBITRATION, *FOR_ONE_COMMAND},
    *{*FOR_THE_COMMAND_LINE, *FOR_A_STORE, *OF_OUR_OWN, *FOR_OTHER_LANGUAGES, "numpy"},
)

OBSERVER = """
import contextlib, io, json, sys
heavy, commands = map(json.loads, sys.argv[1:])
def loaded():
    return sorted(set(heavy) & set(sys.modules))
import reconciler
seen = {"import reconciler": loaded()}
from reconciler.entrypoints.cli import app
for name, words in commands.items():
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            app(words, standalone_mode=True)
        except SystemExit as ended:
            assert not ended.code, (name, ended.code)
    seen[name] = loaded()
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """By what was done in one process, one after the other: which heavy libraries are loaded."""
    store = tmp_path_factory.mktemp("start") / "memory.lbug"
    environment = os.environ | {"RECONCILER_EMBEDDED_PATH": str(store)}
    _run(["-m", "reconciler", "add", *SCOPE, "Lives in Pune."], environment)
    commands = HELPING | READING | {"init": ["init"], "add": ["add", *SCOPE, NO_ENGLISH_WORD]}
    done = _run(["-c", OBSERVER, json.dumps(sorted(HEAVY)), json.dumps(commands)], environment)
    return {name: set(names) for name, names in json.loads(done).items()}


def _run(words: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_loads_nothing_heavy(loaded: dict[str, set[str]]) -> None:
    assert loaded["import reconciler"] == set()


@pytest.mark.parametrize("name", HELPING)
def test_help_loads_the_command_line_alone(loaded: dict[str, set[str]], name: str) -> None:
    assert loaded[name] <= FOR_THE_COMMAND_LINE | ({"pydantic"} if name != "--help" else set())


@pytest.mark.parametrize("name", READING)
def test_what_embeds_nothing_loads_what_reads_a_store_alone(
    loaded: dict[str, set[str]], name: str
) -> None:
    assert loaded[name] <= FOR_THE_COMMAND_LINE | FOR_A_STORE


def test_a_store_is_made_ready_without_the_model(loaded: dict[str, set[str]]) -> None:
    assert not loaded["init"] & (FOR_EMBEDDING | FOR_OTHER_MODELS | FOR_THE_GATE)


def test_a_first_note_is_decided_without_torch(loaded: dict[str, set[str]]) -> None:
    assert loaded["add"] >= FOR_EMBEDDING
    assert not loaded["add"] & (FOR_OTHER_MODELS | FOR_ONE_COMMAND)


def test_a_plain_note_is_decided_without_the_detector_of_languages(
    loaded: dict[str, set[str]],
) -> None:
    assert not loaded["add"] & FOR_OTHER_LANGUAGES


class SlowToLoadEmbedder(HashingEmbedder):
    """Its model is loaded when the test says so."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.may_load = threading.Event()
        self.is_loading = threading.Event()
        self._error = error

    def warm_up(self) -> float:
        self.is_loading.set()
        assert self.may_load.wait(60)
        self.embed(["ready"])
        return 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._error is not None:
            raise self._error
        return super().embed(texts)


def test_a_memory_that_is_not_told_to_warm_up_loads_no_model(tmp_path: Path) -> None:
    embedder = SlowToLoadEmbedder()
    with Memory.open(embedder=embedder, embedded_path=tmp_path / "memory") as memory:
        memory.contact("crm", "priya").history()
    assert not embedder.is_loading.is_set()


def test_warming_up_begins_with_the_opening_and_does_not_hold_it_up(tmp_path: Path) -> None:
    embedder = SlowToLoadEmbedder()
    with Memory.open(embedder=embedder, embedded_path=tmp_path / "memory", warm_up=True) as memory:
        assert embedder.is_loading.wait(60)
        assert memory.contact("crm", "priya").history() == []
        embedder.may_load.set()


def test_a_recall_after_warming_up_finds_the_engines_plans_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {
        "embedder": HashingEmbedder(64),
        "embedded_path": tmp_path / "memory",
    }
    with Memory.open(**given) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
    planned: list[str] = []
    prepare = PlanningConnection._prepare

    def counted(connection: PlanningConnection, text: str, values: dict[str, Any]) -> object:
        planned.append(text)
        return prepare(connection, text, values)

    monkeypatch.setattr(PlanningConnection, "_prepare", counted)
    with Memory.open(**given) as memory:
        memory.warm_up()
        assert planned
        planned.clear()
        assert len(memory.contact("crm", "priya").recall("Pune?")) == 1
        assert planned == []
        assert memory.agent("any").contacts() == []


def test_a_model_that_cannot_be_loaded_is_told_of_by_who_needs_it_first(tmp_path: Path) -> None:
    embedder = SlowToLoadEmbedder(ConfigurationError("the weights are gone"))
    embedder.may_load.set()
    with Memory.open(embedder=embedder, embedded_path=tmp_path / "memory", warm_up=True) as memory:
        assert embedder.is_loading.wait(60)
        with pytest.raises(ConfigurationError, match="weights are gone"):
            memory.add_contact_note("crm", "priya", "Lives in Pune.")
        with pytest.raises(ConfigurationError, match="weights are gone"):
            memory.warm_up()
