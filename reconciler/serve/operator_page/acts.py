"""Acts: the effects of the page's forms. Each is one call of the contact's memory.

A decision is recorded under the name of the person who is logged in, or as the contact's own
answer. The next page, which is the contact's unless the form made another, offers to undo it.

An erasure cannot be undone: a form shows what would be erased, before it is confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from starlette.responses import Response

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Slot
from reconciler.errors import InvalidRequestError, ReconcilerError, RevertRefusedError
from reconciler.frozen import Json, StringMap, present
from reconciler.serve.access.problems import problem_of
from reconciler.serve.operator_page import views, words
from reconciler.serve.operator_page.visits import Act, Given, Handler, NotDoneError, Visit

_NAMED_MAX = 10


def answers(visit: Visit) -> Response:
    """Answer each ticked question with yes or no, one after the other, as ``answer`` does.

    A failed one does not prevent the others; the page has a line for each.
    """
    ticked = [*dict.fromkeys(visit.given.getlist("ticked"))]
    if not ticked or visit.given.get("answer") not in ("yes", "no"):
        raise NotDoneError(422, "tick the questions that you answer, and choose yes or no for them")
    results = [_result(visit, *each.partition(" ")) for each in ticked]
    status = 200 if any("made" in each for each in results) else 409
    return visit.page("answered.html", status, results=results)


def _result(visit: Visit, decision_id: str, _: str, contact_id: str) -> Json:
    """Return the decision that answered one question, or the problem; a tick names its contact."""
    named = {"decision": decision_id, "contact": contact_id}
    one, told = replace(visit, given=Given({**visit.given, **named})), decision_id
    try:
        told = one.about.decision(one.text("decision")).text
        return {**named, "told": told, "made": answer(one)}
    except (NotDoneError, ReconcilerError) as error:
        return {**named, "told": told, "problem": problem_of(error)}


def answer(visit: Visit) -> Decision:
    """Answer a question with yes, no or other words.

    Raises:
        NotDoneError: no answer was chosen.
        InvalidAnswerError: the question already has another answer.
    """
    about, decision_id = visit.about, visit.text("decision")
    choice, told_to = visit.text("answer", ""), visit.grant.name
    if choice == "no":
        return about.reject(decision_id, visit.by, told_to=told_to)
    if choice == "withdraw":
        return about.withdraw(decision_id, visit.by, told_to=told_to)
    if choice not in ("yes", "words"):
        raise NotDoneError(422, "choose yes, no, or give the answer in other words")
    told = visit.text("text") if choice == "words" else None
    return about.confirm(decision_id, visit.by, text=told, told_to=told_to)


def settle(visit: Visit) -> Decision:
    """Settle a dispute: one side holds, all sides do, or none does.

    Raises:
        NotDoneError: nothing was chosen; or the dispute is no longer as the page showed it.
    """
    about, sides = visit.about, [*dict.fromkeys(visit.given.getlist("side"))]
    reason = visit.reason(words.SETTLED)
    choice = visit.text("keep", "")
    if not sides or (choice not in ("both", "neither") and choice not in sides):
        raise NotDoneError(422, "choose what holds: one of the facts, both, or neither")
    open_ = [{fact.fact_id for fact in dispute.facts} for dispute in about.disputes()]
    if {*sides} not in open_:
        told = "this dispute has been settled, or has changed, since the page showed it"
        raise NotDoneError(409, f"{told}; load the contact again")
    holds = {"both": {"keep": sides}, "neither": {"neither": sides}}.get(choice, {"keep": [choice]})
    return about.resolve(**holds, by=visit.by, reason=reason)


def renew(visit: Visit) -> Decision:
    """Answer whether a fact still holds. Yes: the same note renews it. No: it ends."""
    about, fact_id = visit.about, visit.text("fact")
    choice = visit.text("answer", "")
    visit.grant.check_may_end(about, fact_id)
    if choice == "no":
        return about.revoke(fact_id, by=visit.by, reason=visit.reason(words.OVER))
    if choice != "yes":
        raise NotDoneError(422, "choose yes or no: does the fact still hold?")
    known = about.evidence(fact_id).fact
    if known.has_ended:
        raise NotDoneError(409, "this fact has ended in the meantime; load the contact again")
    return _noted(visit, known.text, known.slot)


def note(visit: Visit) -> Decision:
    """Add a declined statement after all, in these or other words, as a person's word."""
    known, text = visit.about.decision(visit.text("decision")), visit.text("text")
    if not words.is_declined(known):
        raise NotDoneError(409, "the answer to this question was not no; load the contact again")
    slot = known.note.slot if text == known.text else None
    return _noted(visit, text, slot)


def _noted(visit: Visit, text: str, slot: Slot | None) -> Decision:
    """Add a text as the word of the person who is logged in, or of the contact."""
    is_contacts = visit.given.get("answered_by") == "contact"
    filed = {}
    if slot is not None and slot.attribute and slot.value is not None:
        filed = {"subject": slot.subject, "attribute": slot.attribute, "value": slot.value}
    return visit.about.note(
        text,
        source_kind=SourceKind.USER_EXPLICIT if is_contacts else SourceKind.OPERATOR,
        proposed_by=visit.grant.name,
        **filed,  # type: ignore[arg-type]  # mypy reads no TypedDict out of a dict
    )


def amend(visit: Visit) -> Decision | Response:
    """Correct a fact, in the name of the person who is logged in."""
    about, fact_id = visit.about, visit.text("fact")
    try:
        text, value = visit.text("text"), visit.optional("value")
        _check_value(about.evidence(fact_id).fact, text, value)
        return about.amend(
            text,
            fact_id=fact_id,
            value=value,
            by=visit.grant.name,
            reason=visit.text("reason"),
            said_at=visit.day("true_from"),
        )
    except (NotDoneError, InvalidRequestError) as error:
        problem = problem_of(error)
        if problem.status != 422:  # the fact is missing or has ended, so it has no form
            raise
        return views.fact(visit, problem)


def _check_value(known: Fact, text: str, value: str | None) -> None:
    """Check that the new sentence and the value beside it still say the same.

    Raises:
        NotDoneError: only one of the two was changed.
    """
    slot = known.slot
    old = slot and slot.value
    if not slot or not old or not value or not _says(known.text, old) or _says(text, value):
        return
    field = words.plain(slot.attribute)
    if value == old:
        raise NotDoneError(
            422,
            f"the sentence is now “{text}”, but the {field} beside it is still “{old}”; write "
            f"the new value in the field “{field}” too. Nothing was changed",
        )
    if _says(text, old):
        raise NotDoneError(
            422,
            f"the {field} is now “{value}”, but the sentence still says “{old}”: “{text}”; write "
            "the sentence to match. Nothing was changed",
        )


def _says(text: str, value: str) -> bool:
    """True if a sentence holds a value as separate words: “15 May” does not hold “5 May”."""
    wanted = re.escape(" ".join(value.split()).casefold())
    return bool(re.search(rf"(?<!\w){wanted}(?!\w)", " ".join(text.split()).casefold()))


def end(visit: Visit) -> Decision:
    """End a fact without a successor."""
    fact = visit.text("fact")
    visit.grant.check_may_end(visit.about, fact)
    return visit.about.revoke(
        fact, by=visit.by, reason=visit.reason(), never=visit.given.get("never") == "yes"
    )


def undo(visit: Visit) -> Decision | Response:
    """Undo a decision; undo later ones that rest on it only after the person has seen them."""
    about, decision_id = visit.about, visit.text("decision")
    reason = visit.text("reason", words.UNDONE)  # as it is typed: the next form sends it again
    and_later = visit.given.get("and_later") == "yes"
    visit.grant.check_may_undo(about, decision_id)
    try:
        return about.revert(
            decision_id, by=visit.by, reason=visit.reason(words.UNDONE), and_later=and_later
        )
    except RevertRefusedError as error:
        later = [about.decision(each) for each in error.decision_ids]
        return visit.page(
            "undo_later.html",
            409,
            decision=about.decision(decision_id),
            later=later,
            reason=reason,
            person=visit.given.get("answered_by") or "operator",
        )


def look(visit: Visit) -> Response:
    """Show what an erasure would remove, and the form to confirm it."""
    about, target = visit.about, _target(visit)
    planned = about.forget(**target, by=visit.by, reason="Looked at before.", dry_run=True)  # type: ignore[arg-type]
    known = about.evidence(target["fact_id"]).fact if target.get("fact_id") else None
    gone = {*planned.plan.fact_ids} if known and planned.plan else set()
    chains = about.history() if gone else []
    going = [each for chain in chains for each in chain.facts if each.fact_id in gone]
    return visit.page(
        "erase.html",
        planned=planned,
        fact=known,
        target=target,
        going=going[:_NAMED_MAX],
        more=len(going[_NAMED_MAX:]),
    )


def _target(visit: Visit) -> StringMap:
    """Return the target of an erasure: a fact, a session, or with neither the whole contact."""
    return present({"fact_id": visit.optional("fact"), "session_id": visit.optional("session")})


def receipt(visit: Visit) -> Response:
    """Show the receipt of an erasure.

    Raises:
        NotDoneError: the contact has no erasure of that id.
    """
    asked = visit.text("erasure")
    erasure = next((one for one in visit.about.erasures() if one.erasure_id == asked), None)
    if erasure is None:
        raise NotDoneError(404, "this contact has no erasure with that id")
    return visit.page("erasure.html", erasure=erasure)


def erase(visit: Visit) -> Response:
    """Erase a fact, a session or the whole contact, after the person typed its id."""
    about = visit.about
    if visit.text("confirm") != about.scope.contact_id:
        raise NotDoneError(
            422,
            "what you wrote is not the contact's id; nothing was erased. Go back and write the "
            "whole id",
        )
    visit.grant.check_may_end(about, visit.optional("fact"))
    done = about.forget(by=visit.by, reason=visit.reason(), **_target(visit))  # type: ignore[arg-type]
    return visit.to("/erasure", **visit.ids, erasure=done.erasure_id)


def merge(visit: Visit) -> Decision:
    """Merge another contact into this one; the next page offers to undo it."""
    ids, by = (str(visit.contact_id), visit.text("other")), visit.grant.name
    return visit.agent.merge_contacts(*ids, by=by, reason=visit.reason())


FORMS: Mapping[str, Act] = {
    "/answer": answer,
    "/answers": answers,
    "/settle": settle,
    "/renew": renew,
    "/note": note,
    "/amend": amend,
    "/end": end,
    "/undo": undo,
    "/erase": erase,
    "/merge": merge,
}
"""The forms' functions, each by its address."""

READS: Mapping[str, Handler] = {"/erase": look, "/erasure": receipt}
"""The pages' functions, each by its address."""
