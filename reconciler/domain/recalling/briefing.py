"""A briefing: what to know, and what to ask, when a conversation opens. Pure.

A context has the facts that a reply to some turns needs, without a question. A conversation's
first context is its briefing, so both are made here. Nothing is kept here. The caller keeps a
value that says which facts the conversation was shown. It holds only ids, so that an ended or
erased fact cannot come back from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import dropwhile, takewhile

from reconciler.domain.recalling.prompting import (
    NO_HANDLES,
    STANDING_PART,
    Handles,
    as_prompt,
    shown_ids,
    token_count,
    within_budget,
    without_recalled,
)
from reconciler.domain.recalling.recalled import Recalled, SlotValue, is_never_cut
from reconciler.domain.reconciling.disputes import is_ruled
from reconciler.domain.records.candidates import Role, Turn
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute, ExpiringFact, Fact, FactUse
from reconciler.domain.records.kinds import (
    LIVE_DOOR,
    NOT_FOR_CONTACTS,
    GateReason,
    Sensitivity,
)
from reconciler.domain.records.notes import CONTACT_SUBJECT, TEXT_LENGTH_MAX, has_words
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.frozen import Json, Strings, StringSet, frozen
from reconciler.reading.text_reading import read_text
from reconciler.reading.values.ends import days_in, may_name_days

ASKED_MAX = 2
"""How many questions a contact is asked in one conversation: more would be an interview."""

_QUESTION_LENGTH_MAX = 500
"""Characters of the longest question to a person: about three sides of a dispute."""

OLD_AFTER = timedelta(days=30)
"""The age at which an open question is marked as old."""

_ASKED_IN_MAX = 2
"""In how many conversations a question is asked; if it has no answer then, it is not asked
again."""

_OPENING = frozenset({"name", "preferred_name", "employer", "preferred_channel"})
_SOON = 30
AVOIDED = "What must she avoid?"
"""A query at every opening: a fact such as "Wool makes my skin burn" does not name an allergy."""

_DAY, _NOTHING = timedelta(days=1), timedelta(0)
CONVERSATION = timedelta(hours=1)
"""A recall no longer ago than this belongs to the present conversation."""

_TOGETHER_MAX = 3
"""Notes in one question: a person can still answer each of them with one word."""

_TOGETHER_LENGTH_MAX = 400


@frozen
class Briefing:
    """The facts known about a contact, and the questions that only the contact can answer.

    Attributes:
        facts: as ``recall`` returns them; without a query the most important facts first.
        profile: the current values of the contact's slots.
        changed: the ids of the facts that are new since the last recall about the contact.
        pending: the questions that wait for the contact's answer: held notes, then disputes.
        renewals: the two most important facts that may have changed since they were said.
        put_by: pending questions and renewals that were asked before, and now wait for an operator.
        unconfirmed: attributes of the profile for which a newer value waits for an operator.
    """

    facts: Recalled
    profile: tuple[SlotValue, ...] = ()
    changed: Strings = ()
    pending: tuple[Decision | Dispute, ...]
    renewals: tuple[ExpiringFact, ...] = ()
    put_by: tuple[Decision | Dispute | ExpiringFact, ...] = ()
    unconfirmed: Strings = ()

    @property
    def questions(self) -> Strings:
        """The questions to ask now: the two that matter most; if there is room, renewals.

        Questions that differ only in the note become one, such as two notes about health.

        A question with too many sides for a person to answer is left to an operator.
        """
        waiting = (*sorted(self.pending, key=_worth), *self.renewals)
        asked = (_question(item) for item in waiting if item not in self.put_by)
        short = (question for question in asked if len(question) <= _QUESTION_LENGTH_MAX)
        return asked_together(short, _TOGETHER_LENGTH_MAX)[:ASKED_MAX]

    def as_prompt(self, handles: Handles = NO_HANDLES, budget_tokens: int | None = None) -> str:
        """Facts and questions as a model is given them: fenced, as data.

        Args:
            handles: the handles of facts for a model's tools, by fact id.
            budget_tokens: the facts' lines and the questions fit into so many tokens; questions
                take at most a quarter. None for all.
        """
        facts, asked = self.facts, self.questions
        if budget_tokens is not None:
            facts, asked = self.within(budget_tokens, handles)
        return as_prompt(facts, asked, handles, new_ids=self.changed, unconfirmed=self.unconfirmed)

    def within(
        self,
        budget_tokens: int,
        handles: Handles = NO_HANDLES,
        standing_part: int = STANDING_PART,
    ) -> tuple[Recalled, Strings]:
        """Facts and the questions that ``as_prompt`` gives within a budget.

        Args:
            budget_tokens: the tokens of the lines; questions take at most a quarter.
            handles: the handles of facts for a model's tools, by fact id.
            standing_part: as in ``within_budget``.
        """
        asked, taken = _asked_within(self.questions, budget_tokens // 4)
        left = budget_tokens - taken
        return within_budget(self.facts, left, handles, standing_part=standing_part), asked

    def to_dict(self) -> Json:
        """Plain values; for each question its words, the ids for an answer, and its state.

        ``is_put_by``: the question was asked before, and now waits for an operator.
        """
        return {
            "facts": [asdict(fact) for fact in self.facts],
            "profile": [asdict(value) for value in self.profile],
            "changed": list(self.changed),
            "questions": [
                {
                    "question": _question(item),
                    **_named(item),
                    "is_put_by": item in self.put_by,
                }
                for item in (*self.pending, *self.renewals)
            ],
            "unconfirmed": list(self.unconfirmed),
        }


def asked_together(questions: Iterable[str], length_max: int) -> Strings:
    """The questions in order; questions that differ only in the quoted note become one.

    Args:
        questions: to one person.
        length_max: characters of a question about several notes.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for question in questions:
        before, note, after = _around_the_note(question)
        notes = alike.setdefault((before, after), [])
        both = f"{before}{', '.join([*notes, note])}{after}"
        if notes and (len(notes) == _TOGETHER_MAX or len(both) > length_max):
            continue  # it waits for the next time
        notes.append(note)
    return tuple(f"{before}{', '.join(notes)}{after}" for (before, after), notes in alike.items())


def _around_the_note(question: str) -> tuple[str, str, str]:
    """A question in three parts: before the quoted note, the note in its marks, after it."""
    before, opened, rest = question.partition("“")
    note, closed, after = rest.rpartition("”")
    return (before, f"“{note}”", after) if opened and closed else (question, "", "")


def _asked_within(asked: Iterable[str], tokens: int) -> tuple[Strings, int]:
    """The questions that fit into so many tokens, in order, and the tokens that they take."""
    kept, taken = [], 0
    for question in asked:
        cost = token_count(f"- {question}\n")
        if taken + cost <= tokens:
            kept.append(question)
            taken += cost
    return tuple(kept), taken


def opens_conversations(
    facts: Iterable[Fact], profile: Iterable[SlotValue], now: datetime
) -> StringSet:
    """The ids of the facts for the opening of each conversation.

    They say who the contact is, how to reach them, and the dates of the next 30 days.

    Args:
        facts: the contact's.
        profile: the current values among them.
        now: the time now (UTC).
    """
    own = (value for value in profile if value.subject == CONTACT_SUBJECT)
    due = (fact.fact_id for fact in facts if _is_due(fact, now))
    return frozenset(due).union(each.fact_id for each in own if each.attribute in _OPENING)


def _is_due(fact: Fact, now: datetime) -> bool:
    """True if a fact begins, ends or names a day within the next 30 days.

    A weekday does not count.
    """
    said = fact.last_confirmed_at.date()
    days = [at.date() for at in (fact.valid_from, fact.valid_to) if at]
    today = now.date().toordinal()  # the calendar ends at the year 9999
    return any(
        0 <= day.toordinal() - today <= _SOON and day != said
        for day in (*days, *_named_days(fact.text, said))
    )


@lru_cache(maxsize=4096)
def _named_days(text: str, said: date) -> tuple[date, ...]:
    """The last day of each date in a text that was said on a given day; weekdays do not count."""
    days = []
    for day in days_in(read_text(text).small, said) if may_name_days(text) else ():
        with suppress(ValueError, OverflowError):  # 29 February of a year without one
            days += [] if day.is_weekly else [day.no_earlier_than(said).last]
    return tuple(days)


def changed_since_last_time(facts: Collection[Fact | FactUse], now: datetime) -> Strings:
    """The ids of the facts that were learned since the last recall about the contact.

    A recall within the last hour belongs to this conversation. None if there was no recall: then
    everything is new.

    Args:
        facts: the known facts, with the last recall of each.
        now: the time now (UTC).
    """
    asked = [fact.last_recalled_at for fact in facts if fact.last_recalled_at is not None]
    last = max((at for at in asked if at < now - CONVERSATION), default=None)
    if last is None:
        return ()
    return tuple(fact.fact_id for fact in facts if fact.recorded_at > last)


def _worth(pending: Decision | Dispute) -> tuple[float, bool]:
    """Sort key of questions: the most important first; among equals a dispute first."""
    if isinstance(pending, Dispute):
        return -max((fact.importance for fact in pending.facts), default=0.0), False
    judged = pending.gate.importance if pending.gate else None
    given = pending.note.importance
    return -(given if given is not None else judged or 0.0), True


def is_for_the_contact(pending: Decision | Dispute, policy: ReconcilePolicy | None = None) -> bool:
    """True if the contact may answer it; a directive, for example, needs an operator.

    Args:
        pending: the question that waits for an answer.
        policy: lists the attributes of systems; only an operator answers a dispute with a system.
    """
    if isinstance(pending, Dispute):
        return policy is None or not any(is_ruled(fact, policy) for fact in pending.facts)
    gate = pending.gate
    return gate is not None and bool(gate.question) and gate.reason not in NOT_FOR_CONTACTS


def unconfirmed(pending: Iterable[Decision | Dispute], profile: Iterable[SlotValue]) -> Strings:
    """The attributes with a newer value from a tool or a document that waits for an operator.

    The value is left out, because it is not trusted yet.
    """
    told = [
        (held.note.slot, held.note.said_at)
        for held in pending
        if isinstance(held, Decision) and held.note.slot and held.gate
        if held.gate.reason is GateReason.UNTRUSTED_SOURCE
    ]
    names = (
        value.attribute
        if value.subject == CONTACT_SUBJECT
        else f"{value.subject}: {value.attribute}"
        for value in profile
        for slot, said_at in told
        if (slot.subject, slot.attribute) == (value.subject, value.attribute)
        if value.last_confirmed_at < said_at and slot.value != value.value
    )
    return tuple(dict.fromkeys(names))


def is_put_by(
    waiting: Decision | Dispute | ExpiringFact, heard: Iterable[tuple[str, datetime]]
) -> bool:
    """True if a question was put to the contact twice, and now waits for an operator.

    No record says that it was asked: it counts as asked in each conversation from which something
    was kept.

    Args:
        waiting: the held note or dispute of the question.
        heard: the contact's latest sessions, by id, with the last time of each.
    """
    opened_at = _opened_at(waiting)
    own = waiting.note.session if isinstance(waiting, Decision) else None
    since = [
        session_id
        for session_id, at in heard
        # An agent that names no session has one for all of its days.
        if opened_at and at - opened_at > (_DAY if session_id == own else _NOTHING)
    ]
    was_replied = isinstance(waiting, Decision) and waiting.door == LIVE_DOOR
    return len(since) + was_replied >= _ASKED_IN_MAX


def _opened_at(waiting: Decision | Dispute | ExpiringFact) -> datetime | None:
    if isinstance(waiting, ExpiringFact):
        return waiting.fact.expires_at
    return waiting.opened_at if isinstance(waiting, Dispute) else waiting.at


def _question(pending: Decision | Dispute | ExpiringFact) -> str:
    if isinstance(pending, Dispute | ExpiringFact):
        return pending.question
    return (pending.gate and pending.gate.question) or pending.text


def _named(pending: Decision | Dispute | ExpiringFact) -> Json:
    if isinstance(pending, ExpiringFact):
        return {"fact_ids": [pending.fact.fact_id]}
    if isinstance(pending, Dispute):
        return {"fact_ids": [fact.fact_id for fact in pending.facts]}
    return {"decision_id": pending.decision_id}


@frozen
class Context:
    """The facts that a reply needs and that the conversation was not shown before.

    Attributes:
        text: the facts as a model gets them: fenced, as data; empty if there are none.
        facts: the facts as ``recall`` returns them; all facts of a later turn count as fitting.
        shown: the ids of all facts that the conversation was shown, these included. Keep it with
            the conversation and give it to the next call; it is plain strings, without words.
        recall_id: names all facts in ``shown``, for ``record_answer``.
    """

    text: str = ""
    facts: Recalled
    shown: Strings = ()
    recall_id: str = ""

    def new_ids(self, shown: Collection[str] = ()) -> list[str]:
        """Ids in ``shown`` that were not in an earlier value of it."""
        return [fact_id for fact_id in self.shown if fact_id not in shown]


def last_words(turns: Sequence[Turn]) -> str:
    """The contact's words that a reply answers: their latest turns in a row, 2,000 characters.

    Empty if the contact said nothing, or only marks. Facts that an agent put into a turn are not
    the contact's words.
    """
    heard = [
        (turn.role is Role.CONTACT, words)
        for turn in reversed(turns)
        if (words := without_recalled(turn.text))
    ]
    since = dropwhile(lambda turn: not turn[0], heard)  # what tools and the agent said after it
    said = [words for _, words in takewhile(lambda turn: turn[0], since)]
    asked = "\n".join(reversed(said))[-TEXT_LENGTH_MAX:].strip()
    return asked if has_words(asked) else ""


def opening(
    briefing: Briefing,
    fitting: Recalled,
    avoided: Recalled,
    budget_tokens: int,
) -> Context:
    """Make the context of a conversation that was shown nothing: the briefing.

    Facts that keep the contact safe come in full, at any length. Other standing constraints come
    before all other facts, then the facts that fit the turns, and then the facts about harm: about
    health, or an answer to ``AVOIDED``.

    Args:
        briefing: with all facts, the most important first.
        fitting: the answer to the turns.
        avoided: the answer to ``AVOIDED``.
        budget_tokens: the tokens of the lines.
    """
    health = (hit for hit in briefing.facts if hit.fact.sensitivity is Sensitivity.PHI)
    fits, harms = ((hit for hit in answer if hit.fits) for answer in (fitting, avoided))
    first = {hit.fact.fact_id: replace(hit, similarity=None) for hit in (*fits, *health, *harms)}
    # Of very many facts the briefing has only those that matter most.
    known = {hit.fact.fact_id: hit for hit in briefing.facts}
    ordered = copy(briefing.facts)
    ordered[:] = (first | known).values()
    facts, asked = replace(briefing, facts=ordered).within(budget_tokens, standing_part=1)
    if not facts and not asked:
        return Context(facts=facts)
    facts = facts.as_whole()
    text = as_prompt(facts, asked, new_ids=briefing.changed, unconfirmed=briefing.unconfirmed)
    return Context(text=text, facts=facts, shown=tuple(shown_ids(facts)))


def following(recalled: Recalled, shown: Sequence[str], budget_tokens: int) -> Context:
    """Make the context of a later turn: the facts that fit it and were not shown before.

    New facts that keep the contact safe come too, even if they do not fit.

    Args:
        recalled: the answer to the turn.
        shown: the ids of the facts that the conversation was shown.
        budget_tokens: the tokens of the lines.
    """
    told = set(shown)
    new = [
        replace(hit, fits=True)  # else it would say that nothing fits: what does may be shown
        for hit in recalled
        if hit.fact.fact_id not in told and (hit.fits or is_never_cut(hit.fact))
    ]
    if not new:
        return Context(facts=Recalled(), shown=tuple(shown))
    facts = within_budget(Recalled(new), budget_tokens).as_whole()
    ids = (*shown, *shown_ids(facts))
    return Context(text=as_prompt(facts), facts=facts, shown=tuple(dict.fromkeys(ids)))
