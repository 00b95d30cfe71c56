"""Amending: what an operator's correction takes the place of, whatever the rule would say. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.domain.reconciling.neighbours import match_of
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import SlotMatch
from reconciler.errors import InvalidRequestError

__all__ = ["amended"]


def amended(
    note: Note, neighbours: Sequence[Neighbour] | None, fact_id: str | None, why: str
) -> Verdict:
    """The verdict that ends the fact that is named, and what is in the note's slot.

    Args:
        note: what holds instead.
        neighbours: live facts in scope, the named one and those in the note's slot among them;
            None where there is no embedder.
        fact_id: the fact to end; None for what is in the slot.
        why: who amends it, and why.

    Raises:
        InvalidRequestError: there is nothing to amend, or it holds from later on than the note.
    """
    if neighbours is None:
        raise InvalidRequestError(
            "this memory has no model to compare texts with, so nothing can be amended; give it "
            "one with `reconciler reembed --model minilm`, or revoke the fact and add the right one"
        )
    named = [neighbour for neighbour in neighbours if neighbour.fact_id == fact_id]
    slotted = (SlotMatch.EQUAL, SlotMatch.CHANGED)
    rivals = [neighbour for neighbour in neighbours if match_of(note, neighbour) in slotted]
    targets = tuple(named + [rival for rival in rivals if rival not in named])
    if not targets or (fact_id is not None and not named):
        raise InvalidRequestError(
            "there is no live fact to amend; `reconciler recall` shows what there is, and a plain "
            "note adds what is new"
        )
    newest = max(targets, key=lambda neighbour: neighbour.valid_from)
    if not note.is_undated and note.holds_from < newest.valid_from:
        raise InvalidRequestError(
            f"what is known holds from {newest.valid_from:%Y-%m-%d %H:%M} on, the amendment from "
            f"{note.holds_from:%Y-%m-%d %H:%M}; give a said_at after that, or none for now"
        )
    return Verdict(
        action=Action.UPDATE,
        decided_by=DecidedBy.AMENDMENT,
        reason=f"amended by {why}",
        targets=targets,
    )
