"""Open conflicts: the live facts of a contact that are in dispute, updated with each commit.

Not for several threads at once: the holder has a lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import chain, combinations

from reconciler.service.stores.commits import Commit


class OpenConflicts:
    """The pairs of facts that are in dispute, looked up by either.

    Args:
        pairs: the ids of two live facts each.
        linked_ids: facts with any such link, also one that a person settled with "both hold".
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], linked_ids: Iterable[str] = ()) -> None:
        self._others: dict[str, set[str]] = {}
        for one, other in pairs:
            self._open(one, other)
        self._linked_ids = frozenset(self._others).union(linked_ids)

    @property
    def linked_ids(self) -> Set[str]:
        """The facts that may have a link, open or settled; any other fact has none."""
        return self._linked_ids  # plans hold it: replaced, never changed

    def of(self, fact_id: str) -> tuple[str, ...]:
        """The ids of the other sides of a fact's disputes; empty for most facts."""
        return tuple(sorted(self._others.get(fact_id, ())))

    def as_mapping(self) -> dict[str, tuple[str, ...]]:
        """The ids of the other sides, by the id of each fact in dispute."""
        return {fact_id: self.of(fact_id) for fact_id, others in self._others.items() if others}

    def copy(self) -> OpenConflicts:
        """A copy with the same pairs."""
        pairs = ((one, other) for one in self._others for other in self._others[one])
        return OpenConflicts(pairs, self._linked_ids)

    def apply(self, commit: Commit) -> None:
        """Apply a commit.

        A fact that replaces another takes over its disputes, as in the graph.
        """
        decision, fact = commit.decision, commit.fact
        is_live = fact is not None and not fact.has_ended
        self._link(commit)
        for ended_id in decision.superseded_ids:
            for other in self._others.pop(ended_id, set()):
                self._others[other].discard(ended_id)
                if fact is not None and is_live and other not in decision.superseded_ids:
                    self._open(fact.fact_id, other)
        if fact is not None and is_live:
            for other in decision.conflicting_ids:
                self._open(fact.fact_id, other)
        for one, other in (drawn.pair for drawn in commit.reopened if drawn.is_open):
            self._open(one, other)
        shut = [one.pair for one in commit.reopened if not one.is_open]
        for one, other in (*shut, *combinations(decision.closed_ids, 2)):
            self._others.get(one, set()).discard(other)
            self._others.get(other, set()).discard(one)

    def _link(self, commit: Commit) -> None:
        decision, fact = commit.decision, commit.fact
        drawn = chain(*(one.ids for one in commit.reopened))
        linked_ids = {*drawn, *decision.closed_ids, *decision.conflicting_ids}
        if linked_ids or not self._linked_ids.isdisjoint(decision.superseded_ids):
            self._linked_ids |= linked_ids if fact is None else {*linked_ids, fact.fact_id}

    def _open(self, one: str, other: str) -> None:
        self._others.setdefault(one, set()).add(other)
        self._others.setdefault(other, set()).add(one)
