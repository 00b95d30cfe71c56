"""Amending: the facts that an operator's correction replaces, outside the rules. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.domain.reconciling.neighbours import match_of
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import SlotMatch
from reconciler.errors import InvalidRequestError


def amended(
    note: Note, neighbours: Sequence[Neighbour] | None, fact_id: str | None, why: str
) -> Verdict:
    """The verdict that ends the named fact and all facts in the note's slot.

    Args:
        note: the correction.
        neighbours: live facts in scope, with the named one and those in the note's slot; None
            without an embedder.
        fact_id: the fact to end; None for those in the slot.
        why: who amends, and why.

    Raises:
        InvalidRequestError: there is no fact to amend, or it begins later than the note.
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
