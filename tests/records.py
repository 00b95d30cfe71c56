"""Recorded decisions for tests, built from one flat list of names."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from reconciler import Decision, Note, Scope
from reconciler.domain.records.decisions import (
    Proposal,
    RecordedOpinion,
    RecordedPolicy,
    Timings,
    Verdict,
)

_PARTS = {
    "verdict": Verdict,
    "policy": RecordedPolicy,
    "proposal": Proposal,
    "opinion": RecordedOpinion,
    "timings": Timings,
    "note": Note,
}
_SCOPE = ("tenant", "agent_id", "contact_id")
_OTHER_NAMES = {"trust": "source_kind", "arbiter": "arbiter"}


def decision_of(**given: Any) -> Decision:
    """A decision; ``arbiter_action`` and the like name the fields of the opinion."""
    own, parts = _sorted(given)
    scope = {name: parts["note"].pop(name) for name in _SCOPE if name in parts["note"]}
    if scope:
        parts["note"]["scope"] = Scope(**scope)
    return Decision(**own, **{name: _PARTS[name](**values) for name, values in parts.items()})


def changed(decision: Decision, **given: Any) -> Decision:
    """The same decision with some of it replaced, by the names that ``decision_of`` takes."""
    own, parts = _sorted(given)
    replaced = {name: replace(getattr(decision, name), **values) for name, values in parts.items()}
    return replace(decision, **own, **{name: replaced[name] for name in parts if parts[name]})


def _sorted(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    own: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {name: {} for name in _PARTS}
    of_decision = {each.name for each in fields(Decision)}
    for name, value in given.items():
        if name in of_decision:
            own[name] = value
            parts.pop(name, None)
        else:
            parts[_part(name)][_OTHER_NAMES.get(name, name.removeprefix("arbiter_"))] = value
    return own, parts


def _part(name: str) -> str:
    if name.startswith("arbiter"):
        return "opinion"
    if name in (*_SCOPE, "trust"):
        return "note"
    return next(
        part for part, kind in _PARTS.items() if name in {each.name for each in fields(kind)}
    )
