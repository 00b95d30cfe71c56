"""Relations: how a model relates a note to the known facts. Checked elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reconciler.domain.records.facts import Fact
from reconciler.domain.records.handles import handle_of
from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.errors import RelationError, UnknownFactError
from reconciler.frozen import frozen

RELATED_MAX = 3
"""Facts that one note may replace or end. A city, a landlord and a rent go together; a note that
ends more is a rewrite of the memory, and an operator's to make."""


@frozen
class Relations:
    """A model's relations between a note and facts that it read; all are fact ids.

    Attributes:
        replaces: the note takes their place.
        repeats: the note says the same as this one.
        ends: they are over, and the note's value does not take their place.
        both_hold: compared, and both hold: no link, and an open conflict between them closes.

    Raises:
        RelationError: nothing is named, a fact is named twice, too many would end, or some
            would end by what only repeats another.
    """

    replaces: tuple[str, ...] = ()
    repeats: str | None = None
    ends: tuple[str, ...] = ()
    both_hold: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("replaces", "ends", "both_hold"):
            given = getattr(self, name)
            if not isinstance(given, list | tuple):
                raise RelationError(f"{name} must be a list of facts")
            object.__setattr__(self, name, tuple(given))
        for fact_id in self.named_ids:
            check_identifier("a fact that is related", fact_id, RelationError)
        self._check_together()

    def _check_together(self) -> None:
        if not self.named_ids:
            raise RelationError("say which facts are replaced, repeated, ended or both hold")
        twice = sorted({name for name in self.named_ids if self.named_ids.count(name) > 1})
        if twice:
            raise RelationError(
                f"{', '.join(twice)}: named twice; name each fact once, under what is true of it"
            )
        if self.repeats is not None and self.ended_ids:
            raise RelationError(
                "what repeats a fact ends none; send what is over as a note of its own"
            )
        if len(self.ended_ids) > RELATED_MAX:
            raise RelationError(
                f"one note may replace or end {RELATED_MAX} facts, not {len(self.ended_ids)}; "
                "name those that it speaks of itself"
            )

    @property
    def ended_ids(self) -> tuple[str, ...]:
        """The facts that the note would end."""
        return (*self.replaces, *self.ends)

    @property
    def named_ids(self) -> tuple[str, ...]:
        """All facts that are named, in the order of the fields."""
        repeated = () if self.repeats is None else (self.repeats,)
        return (*self.replaces, *repeated, *self.ends, *self.both_hold)

    def renamed(self, ids: Mapping[str, str]) -> Relations | None:
        """The relations to facts with other names, by their names here; None if there are none."""
        replaces, ends, both_hold = (
            tuple(ids[name] for name in named if name in ids)
            for named in (self.replaces, self.ends, self.both_hold)
        )
        repeats = ids.get(self.repeats or "")
        if repeats is None and not (replaces or ends or both_hold):
            return None
        return Relations(replaces=replaces, repeats=repeats, ends=ends, both_hold=both_hold)

    def only(self, fact_ids: Iterable[str]) -> Relations | None:
        """The relations to these facts only; None if there are none."""
        return self.renamed({fact_id: fact_id for fact_id in fact_ids})


def check_not_ended(scope: Scope, fact_ids: Iterable[str], known: Mapping[str, Fact]) -> None:
    """Refuse facts that the contact does not have or that have ended.

    Raises:
        UnknownFactError: the contact has no such fact.
        RelationError: one has ended.
    """
    for fact_id in fact_ids:
        if fact_id not in known:
            raise UnknownFactError(f"contact {scope.contact_id} has no fact {fact_id}")
        if known[fact_id].has_ended:
            raise RelationError(
                f"fact {handle_of(fact_id)} has ended already; recall says what holds now"
            )
