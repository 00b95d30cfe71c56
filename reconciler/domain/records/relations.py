"""Relations: what a model that read a note and the known facts says of them. Checked elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, fields

from reconciler.domain.records.scope import check_identifier
from reconciler.errors import InvalidRequestError

__all__ = ["RELATED_MAX", "Relations"]

RELATED_MAX = 3
"""Facts that one note may replace or end. A city, a landlord and a rent go together; a note that
ends more is a rewrite of the memory, and an operator's to make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """What a model that read the note and the facts says about them; all are fact ids.

    Attributes:
        replaces: the note takes their place.
        repeats: the note says the same as this one.
        ends: they are over, and the note's value does not take their place.
        both_hold: compared, and both hold: no link, and an open conflict between them closes.

    Raises:
        InvalidRequestError: a fact is named twice, too many would end, or nothing is named.
    """

    replaces: tuple[str, ...] = ()
    repeats: str | None = None
    ends: tuple[str, ...] = ()
    both_hold: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for described in fields(self):
            given = getattr(self, described.name)
            if described.name != "repeats":
                if isinstance(given, str):
                    raise InvalidRequestError(f"{described.name} must be a list of facts")
                object.__setattr__(self, described.name, tuple(given))
        for fact_id in self.named_ids:
            check_identifier("a fact that is related", fact_id, InvalidRequestError)
        if not self.named_ids:
            raise InvalidRequestError("say which facts are replaced, repeated, ended or both hold")
        twice = sorted({name for name in self.named_ids if self.named_ids.count(name) > 1})
        if twice:
            raise InvalidRequestError(
                f"{', '.join(twice)}: named twice; name each fact once, under what is true of it"
            )
        if len(self.ended_ids) > RELATED_MAX:
            raise InvalidRequestError(
                f"one note may replace or end {RELATED_MAX} facts, not {len(self.ended_ids)}; "
                "name those that it speaks of itself"
            )

    @property
    def ended_ids(self) -> tuple[str, ...]:
        """The facts that would not hold any longer."""
        return (*self.replaces, *self.ends)

    @property
    def named_ids(self) -> tuple[str, ...]:
        """All facts that are named, in the order of the fields."""
        repeated = () if self.repeats is None else (self.repeats,)
        return (*self.replaces, *repeated, *self.ends, *self.both_hold)
