"""Checks that the lines of one contact agree with each other.

An altered file with a right checksum may hold a live fact that another one replaced. The check sees
that while it reads: of each node it keeps only the id and the links that it still expects.
Never here: a file, or what a single line may hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from reconciler.domain.records.kinds import Action, FactState
from reconciler.service.moving.lines import Link, Node

_HOLDING = (FactState.LIVE, FactState.EXPIRED, FactState.ARCHIVED)
_WRITING = (Action.ADD, Action.UPDATE)

HOME_BY: Mapping[str, tuple[str, ...]] = {
    "Session": ("WITH", "PART_OF"),
    "Episode": ("IN",),
    "Job": ("READS",),
}
"""The links by which a node belongs to its contact. A task's session without turns is linked
only to the task."""

_ONCE = ("WITH", "IN", "READS")
"""Link types of which a node has at most one."""

_HELD: Mapping[str, tuple[str, ...]] = {
    "COMPARED_WITH": ("cosine", "rank"),
    "SUPERSEDES": ("decided_by", "at"),
    "CONFLICTS_WITH": ("decided_by", "at"),
}
"""The properties that links must have."""

_NAMED_MAX = 5


class Coherence:
    """Takes the lines of one contact, nodes before their links, and finds contradictions.

    Each method returns a text for an error message, or None if it finds nothing.
    """

    def __init__(self) -> None:
        self._homeless: dict[str, set[str]] = {label: set() for label in HOME_BY}
        self._linked: dict[str, set[str]] = {kind: set() for kind in _ONCE}
        self._holding: set[str] = set()
        self._erased: set[str] = set()
        self._endless: set[str] = set()
        self._unwritten: set[str] = set()
        self._to_write: set[str] = set()
        self._above: dict[str, str] = {}
        self._order: TopologicalSorter[str] = TopologicalSorter()

    def wrong_with_node(self, node: Node) -> str | None:
        """Take a node, and check it."""
        if node.label in self._homeless:
            self._homeless[node.label].add(node.node_id)
        if node.label == "Decision":
            return self._wrong_with_decision(node)
        return self._wrong_with_fact(node) if node.label == "Fact" else None

    def wrong_with_link(self, link: Link) -> str | None:
        """Take a link between two nodes that were taken before, and check it."""
        for name in _HELD.get(link.kind, ()):
            if name not in link.properties:
                return f"a {link.kind} from {link.from_id} has no {name}"
        for label, kinds in HOME_BY.items():
            if link.kind in kinds:
                self._homeless[label].discard(link.from_id)
        if link.kind in _ONCE:
            return self._wrong_with_second(link)
        if link.kind == "WROTE":
            return self._wrong_with_writing(link)
        return self._wrong_with_supersession(link) if link.kind == "SUPERSEDES" else None

    def wrong_at_the_end(self) -> str | None:
        """Check what the lines lack, after all of them were taken."""
        for label, ids in self._homeless.items():
            for node_id in ids:
                return f"{label} {node_id} lacks its {' or '.join(HOME_BY[label])}"
        for fact_id in self._endless:
            return f"fact {fact_id} has ended, and nothing says when, or what took its place"
        for fact_id in self._unwritten:
            return f"no decision wrote fact {fact_id}"
        for decision_id in self._to_write:
            return f"decision {decision_id} lacks the fact that it wrote"
        try:
            self._order.prepare()
        except CycleError as error:
            named = error.args[1][1:]
            more = ", …" if len(named) > _NAMED_MAX else ""
            return f"each took the place of the next: {', '.join(named[:_NAMED_MAX])}{more}"
        return None

    def _wrong_with_decision(self, decision: Node) -> str | None:
        held = decision.properties
        if not held.keys() >= {"action", "record"}:
            return f"decision {decision.node_id} has no record"
        if held["action"] in _WRITING:
            self._to_write.add(decision.node_id)
        return None

    def _wrong_with_fact(self, fact: Node) -> str | None:
        fact_id, state = fact.node_id, fact.properties.get("state")
        has_end = "valid_to" in fact.properties
        may_hold = not has_end or "expires_at" in fact.properties  # only those with a known end
        if state is None:
            return f"fact {fact_id} has no state"
        self._unwritten.add(fact_id)
        if state == FactState.ERASED:
            self._erased.add(fact_id)
        elif state in _HOLDING:
            self._holding.add(fact_id)
            return None if may_hold else f"fact {fact_id} is {state}, and has ended"
        elif not has_end:
            self._endless.add(fact_id)
        return None

    def _wrong_with_second(self, link: Link) -> str | None:
        if link.from_id in self._linked[link.kind]:
            return f"{link.from_id} has more than one {link.kind}"
        self._linked[link.kind].add(link.from_id)
        return None

    def _wrong_with_writing(self, link: Link) -> str | None:
        if link.from_id not in self._to_write:
            return f"decision {link.from_id} writes no fact, or wrote another one"
        if link.to_id not in self._unwritten:
            return f"fact {link.to_id} was written twice"
        self._to_write.remove(link.from_id)
        self._unwritten.remove(link.to_id)
        return None

    def _wrong_with_supersession(self, link: Link) -> str | None:
        new_id, old_id = link.from_id, link.to_id
        self._order.add(old_id, new_id)
        self._endless.discard(old_id)
        if new_id in self._erased:
            return None  # the fact that it replaced may have come back, and been replaced once more
        if old_id in self._holding:
            return f"fact {old_id} still holds, though {new_id} took its place"
        if old_id in self._above:
            return f"{self._above[old_id]} and {new_id} both took the place of fact {old_id}"
        self._above[old_id] = new_id
        return None
