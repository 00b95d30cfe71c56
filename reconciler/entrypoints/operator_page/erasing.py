"""Erasing: what would be erased, the form to confirm it, and the receipt. It cannot be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from reconciler.entrypoints.operator_page.views import head_of
from reconciler.entrypoints.operator_page.visits import NotDoneError, Visit

_NAMED_MAX = 10


def look(visit: Visit) -> Response:
    """What an erasure would remove, and the form to confirm it."""
    about, target = visit.about, _target(visit)
    asked = {"by": visit.by, "reason": "Looked at before."}
    planned = about.forget(**target, **asked, dry_run=True)  # type: ignore[arg-type]
    known = about.evidence(target["fact_id"]).fact if target.get("fact_id") else None
    gone = {*planned.plan.fact_ids} if known and planned.plan else set()
    chains = about.history() if gone else []
    going = [each for chain in chains for each in chain.facts if each.fact_id in gone]
    return visit.page(
        "erase.html",
        **head_of(visit, about),
        planned=planned,
        fact=known,
        target=target,
        going=going[:_NAMED_MAX],
        more=len(going[_NAMED_MAX:]),
    )


def _target(visit: Visit) -> dict[str, str]:
    """What is to be erased: a fact, a session, or with neither the whole contact."""
    named = {"fact_id": visit.optional("fact"), "session_id": visit.optional("session")}
    return {name: value for name, value in named.items() if value is not None}


def receipt(visit: Visit) -> Response:
    """The receipt of an erasure.

    Raises:
        NotDoneError: the contact has none of that id.
    """
    asked = visit.text("erasure")
    erasure = next((one for one in visit.about.erasures() if one.erasure_id == asked), None)
    if erasure is None:
        raise NotDoneError(404, "there is no erasure of that id for this contact")
    return visit.page("erasure.html", **head_of(visit, visit.about), erasure=erasure)


def erase(visit: Visit) -> Response:
    """Erase a fact, a session or the whole contact, after the person typed its id."""
    about = visit.about
    if visit.text("confirm") != about.scope.contact_id:
        told = (
            "the contact's id is not what you wrote; nothing was erased. Go back and write it out"
        )
        raise NotDoneError(422, told)
    done = about.forget(by=visit.by, reason=visit.reason(), **_target(visit))  # type: ignore[arg-type]
    return visit.to("/erasure", **visit.ids, erasure=done.erasure_id)


READS: Mapping[str, Callable[[Visit], Response]] = {"/erase": look, "/erasure": receipt}
WRITES: Mapping[str, Callable[[Visit], Response]] = {"/erase": erase}
"""Each by its address."""
