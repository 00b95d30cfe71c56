"""The maps that the stores send with their queries, and what the texts of the queries read of them.

Both are trees of names: ``{"contacts": {"version": {}, "commits": {"fact": {…}}}}``. A list of maps
is the tree of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np

from reconciler import Scope
from reconciler.domain.records.decisions import Comparison, Resting, Undo
from reconciler.domain.records.erasures import (
    Erasure,
    ErasureKind,
    ErasurePlan,
    ErasureState,
    ErasureTarget,
    FactEnd,
)
from reconciler.domain.records.facts import Conflict, Supersession
from reconciler.domain.records.kinds import Action
from reconciler.ports.graph import Graph, Row
from reconciler.queries import Query
from reconciler.service.stores.binding_store import ModelStore
from reconciler.service.stores.commits import Joint
from reconciler.service.stores.contact_store import ArchiveStore, ContactStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.erasure_store import ErasureStore, Going, Marks
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.use_trace import Use
from tests.commits import MODEL, NOON, committed

__all__ = ["Tree", "merge", "paths_of", "read_by", "sent_trees", "tree_of"]

Tree = dict[str, Any]
ALICE = Scope("acme", "crm", "alice")

_NAMED = re.compile(
    r"UNWIND (?P<unwound>\$?[\w.]+(?: \+ \$?[\w.]+)*) AS (?P<row>\w+)"
    r"|(?<![.\w$])(?P<each>\w+) IN (?P<list>\$?[\w.]+)"
    r"|(?P<used>(?<![.\w$:])\$?\w+(?:\.\w+)*)"
)
_WHOLE = re.compile(
    r"(?<![.\w])\w+ \+?= (\$?[\w.]+)(?!\()"
    r"|:`?\w+`? (?:\{(?:\w+: \$[\w.]+, )+)?(\$[\w.]+)\}?[)\]]"
)
"""A map written as it is: ``SET fact = commit.fact``, ``CREATE (fact:Fact $commit.fact)``."""


def tree_of(value: Any) -> Tree:
    """The names in a map, or in all maps of a list.

    Raises:
        AssertionError: two maps of one list have different names.
    """
    if isinstance(value, dict):
        return {name: tree_of(held) for name, held in value.items()}
    trees = [tree_of(held) for held in value] if isinstance(value, list | tuple) else []
    merged: Tree = {}
    for tree in trees:
        assert tree.keys() == trees[0].keys(), f"{sorted(tree)} beside {sorted(trees[0])}"
        merge(merged, tree)
    return merged


def merge(into: Tree, more: Tree) -> None:
    """Add the names of a tree to another."""
    for name, inner in more.items():
        merge(into.setdefault(name, {}), inner)


def paths_of(tree: Tree) -> set[str]:
    """All names in it: ``contacts.commits.fact.text``."""
    inner = ((name, paths_of(held)) for name, held in tree.items())
    return {path for name, paths in inner for path in (name, *(f"{name}.{each}" for each in paths))}


def read_by(query: Query) -> tuple[set[str], set[str]]:
    """The paths of parameters that a query's text reads, and those of maps that it writes whole."""
    read: set[str] = set()
    whole: set[str] = set()
    for statement in query.statements:
        known = {f"${name}": (name,) for name in query.params}
        conditions = (f" AND ${statement.condition[0]}",) if statement.condition else ()
        for loop in (*((query.loop,) if query.loop else ()), *statement.loops):
            known[f"${loop.name}"] = _resolved(f"${loop.path}", known)
            read.update(known[f"${loop.name}"])
        text = re.sub(r"'[^']*'", "''", "".join((statement.text, *conditions)))
        for found in _NAMED.finditer(text):
            if name := found["row"] or found["each"]:
                lists = re.findall(r"\$?[\w.]+", found["unwound"] or found["list"])
                paths = tuple(path for each in lists for path in _resolved(each, known))
                if paths:
                    known[name] = paths
                read.update(paths)
            else:
                read.update(_resolved(found["used"], known))
        for one, other in _WHOLE.findall(text):
            whole.update(_resolved(one or other, known))
    return {start for path in read for start in _starts(path)}, whole


def _starts(path: str) -> Iterator[str]:
    names = path.split(".")
    return (".".join(names[:count]) for count in range(1, len(names) + 1))


def _resolved(path: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    first, dot, rest = path.partition(".")
    return tuple(start + dot + rest for start in known.get(first, ()))


class SentMaps:
    """A graph that keeps what it is sent, and finds nothing."""

    engine = "embedded"

    def __init__(self) -> None:
        self.sent: dict[str, Tree] = {}

    def run(
        self, name: str, parameters: Mapping[str, Any], seconds_max: float | None = None
    ) -> list[Row]:
        merge(self.sent.setdefault(name, {}), tree_of(dict(parameters)))
        return []


@cache
def sent_trees() -> dict[str, Tree]:
    """What each query with a map in it is sent, with something in every list."""
    recording = SentMaps()
    graph = cast("Graph", recording)
    fact_store, decision_store = FactStore(graph), DecisionStore(graph)
    _commit(decision_store)
    _erase(ErasureStore(graph, fact_store, decision_store))
    ModelStore(graph).put(MODEL, ["f1"], np.ones((1, 2), np.float32))
    fact_store.record_use({"f1": Use(1, NOON)})
    decision_store.place_changes([{"decision_id": "d1", "last_place": 0}], NOON)
    ContactStore(graph).record_recalls({"c1": Use(1, NOON)})
    archive = ArchiveStore(graph)
    archive.put_remains("Episode", {"e1": {"text": "[erased]"}})
    archive.restore_nodes("c1", -1, "Fact", [({"fact_id": "f1"}, [1.0])], MODEL)
    archive.restore_links("c1", -1, "JUDGED", [("d1", "e1", {"span": "a"})])
    archive.restore_links("c1", -1, "COMPARED_WITH", [("d1", "f1", {"cosine": 0.9, "rank": 1})])
    archive.finish_contact("c1", -1, {"name": "Alice"})
    return {name: tree for name, tree in recording.sent.items() if any(map(bool, tree.values()))}


def _commit(store: DecisionStore) -> None:
    """A decision that fills every list of a commit, which no rule makes, and a plain one."""
    link = Supersession(new_id="f2", old_id="f1", decided_by="threshold", reason="nearer", at=NOON)
    conflict = Conflict(new_id="f2", old_id="f3", reason="both held", at=NOON)
    resting = (Resting(fact_id="f1", decision_id="d1"),)
    plain = committed(ALICE, 1, targets=())
    assert plain.fact is not None
    undo = Undo(before=(), unlinked=(link,), linked=(link,), unrested=resting, rested=resting)
    rich = committed(
        ALICE,
        0,
        action=Action.UPDATE,
        targets=("f1",),
        closed_ids=("f3", "f4"),
        compared_with=(Comparison(fact_id="f1", text="a", cosine=0.9, valid_from=NOON, rank=1),),
        undo=undo,
    )
    [told] = rich.evidence
    episodes = (told, replace(told, session_id="call-2", is_new=True))
    known = {ALICE.session_key("call-1"): NOON}
    kept = plain.fact
    rich = replace(rich, evidence=episodes, known_sessions=known, kept=kept, restored=(kept,))
    store.commit_decisions([replace(rich, reopened=(conflict,)), plain])
    other = Scope("acme", "crm", "alice-2")
    for is_split in (False, True):
        joint = Joint(other, 1, [other.contact_key], ["alice-2", "al"], is_split)
        unquoted = [rich.decision] if is_split else ()
        store.commit_decisions([replace(rich, joint=joint, unquoted=unquoted)])


def _erase(store: ErasureStore) -> None:
    erasure = Erasure(
        erasure_id="erasure-1",
        scope=ALICE,
        target=ErasureTarget(fact_id="f1"),
        kind=ErasureKind.FACT,
        state=ErasureState.PENDING,
        by="contact",
        reason="asked",
        started_at=NOON,
        plan=ErasurePlan(fact_ids=("f1",)),
    )
    store.mark(erasure, 1, Marks(tombstones={"k1": "c1"}, episodes={"e1": "[erased]"}))
    end = FactEnd(fact_id="f1", valid_to=NOON, expires_at=None)
    going = Going(plan=ErasurePlan(episodes={"e1": "[erased]"}, ends=(end,)))
    [*_] = store.remove([committed(ALICE, 0).decision], going, NOON, is_ended=True)
