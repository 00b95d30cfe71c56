"""A default stands once: with its policy, else in the settings. The shipped file is held equal."""

from __future__ import annotations

import ast
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from reconciler.domain.records.policies import (
    ArbitrationPolicy,
    DecayPolicy,
    ExtractionPolicy,
    JobPolicy,
    RankingPolicy,
    ReconcilePolicy,
    RetryPolicy,
)
from tests.documents import nodes

PACKAGE = Path(__file__).resolve().parents[2] / "reconciler"
GROUPS: dict[type, str] = {
    ArbitrationPolicy: "ArbiterSettings",
    DecayPolicy: "LifeSettings",
    ExtractionPolicy: "ExtractorSettings",
    JobPolicy: "JobsSettings",
    RankingPolicy: "RecallSettings",
    ReconcilePolicy: "ReconcileSettings",
    RetryPolicy: "ReconcileSettings",
}
SPELT = {
    (DecayPolicy, "half_life_days"): "decay_half_life_days",
    (DecayPolicy, "floor"): "archive_floor",
    (ReconcilePolicy, "contested_window"): "contested_window_days",
    (RetryPolicy, "attempts_max"): "write_attempts_max",
}
NOT_SET = {"GatePolicy", "RecordedPolicy"}
"""What config/policy.toml says, and what a decision keeps of a policy."""

OF_A_PROFILE = {"cosine_update_min", "cosine_add_max", "cosine_cut"}
"""The settings have none of their own: unset, the profile's hold."""


def _policies() -> set[str]:
    """The dataclasses of policies that the package defines."""
    return {
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and node.name.endswith("Policy") and node.decorator_list
    }


def _written_out(group: str) -> set[str]:
    """The settings of a group that have a number or a word of their own as default."""
    tree = ast.parse((PACKAGE / "settings.py").read_text(encoding="utf-8"))
    [defined] = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == group]
    return {ast.unparse(n.target) for n in defined.body if _is_literal(n)}


def _is_literal(node: ast.stmt) -> bool:
    given: Any = getattr(node, "value", None)
    if isinstance(given, ast.Call):
        given = next((each.value for each in given.keywords if each.arg == "default"), None)
    is_value = isinstance(given, ast.Constant) and given.value is not None
    return isinstance(node, ast.AnnAssign) and is_value


def test_every_policy_that_can_be_set_is_looked_at() -> None:
    assert _policies() - NOT_SET == {each.__name__ for each in GROUPS}


@pytest.mark.parametrize("policy", GROUPS, ids=lambda each: each.__name__)
def test_a_default_of_a_policy_is_not_written_out_in_the_settings_too(policy: Any) -> None:
    own = {each.name for each in fields(policy) if each.default is not MISSING} - OF_A_PROFILE
    twice = {SPELT.get((policy, name), name) for name in own} & _written_out(GROUPS[policy])
    assert twice == set()
