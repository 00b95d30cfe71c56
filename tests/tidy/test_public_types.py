"""What a type checker knows of a call is what the call takes: settings by name, and words."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from reconciler.domain.records import candidates, kinds
from reconciler.domain.tasks import tasks
from reconciler.ops.peers.systems import SYSTEMS
from reconciler.ports.peer_memory import PeerSystem
from reconciler.resources import engine_names
from reconciler.settings import Group, OpenFields, SettingFields, Settings

ROOT = Path(__file__).resolve().parents[2]
GROUPS = [
    field.annotation
    for field in Settings.model_fields.values()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
]
GIVEN_AS: dict[Any, set[Any]] = {
    Path: {Path, str},
}
"""What a caller may give where a setting is kept as this."""

MORE_WORDS = {candidates.Role: {"user", "assistant"}, tasks.TaskState: {"open"}}
SLIPS = """\
from reconciler import Memory

with Memory.open(embeded_path="memory.lbug") as memory:
    memory.contact("crm", "priya").note("Lives in Pune.", source_kind="user_explict")

with Memory.open(embedded_path=":memory:", reconcile={"guard": "on"}) as memory:
    memory.contact("crm", "priya").note("Lives in Pune.", source_kind="user_explicit")
"""


def test_a_type_checker_knows_every_setting_and_group_by_name() -> None:
    wanted = {name: _taken(field.annotation) for name, field in Settings.model_fields.items()}
    wanted["graph"] = set(engine_names())
    wanted["webhooks"] = _flat(Group)  # of groups, by their names
    hints = get_type_hints(SettingFields)
    assert {name: _flat(hint) for name, hint in hints.items()} == wanted


def test_an_open_memory_takes_every_setting_but_those_of_what_it_takes_as_an_object() -> None:
    beside = set(SettingFields.__annotations__) - set(OpenFields.__annotations__)
    assert beside == {"embedder", "arbiter", "extractor"}


@pytest.mark.parametrize("module", [kinds, candidates, tasks], ids=lambda module: module.__name__)
def test_a_type_checker_knows_every_word_of_a_kind(module: ModuleType) -> None:
    names = [name for name in vars(module) if name.startswith("Any") and name != "Any"]
    assert names
    for name in names:
        kind: type[StrEnum] = getattr(module, name.removeprefix("Any"))
        words = {*map(str, kind), *MORE_WORDS.get(kind, ())}
        assert _flat(getattr(module, name)) == {kind, *words}, name


def test_a_type_checker_knows_every_system_that_is_imported_from() -> None:
    assert _flat(PeerSystem) == set(SYSTEMS)


@pytest.mark.slow
def test_mypy_sees_a_misspelt_setting_and_a_misspelt_word(tmp_path: Path) -> None:
    file = tmp_path / "slips.py"
    file.write_text(SLIPS, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(file)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 2, checked.stdout
    assert 'did you mean "embedded_path"?' in errors[0]
    assert "'user_explict'" in errors[1]


def _taken(annotation: Any) -> set[Any]:
    """What a caller may give for a setting that is kept so; a group is given as a mapping."""
    return {Group} if annotation in GROUPS else GIVEN_AS.get(annotation, {annotation})


def _flat(annotation: Any) -> set[Any]:
    """The types and words that an annotation lets through."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _flat(parts[0])
    if origin is Literal:
        return set(parts)
    if origin in (Union, UnionType):
        return {flat for part in parts for flat in _flat(part)}
    return {annotation}
