"""Context: what a reply to some turns needs to know, given without a question. Pure.

Nothing is kept here. What a conversation was shown is a value of its caller, of ids alone, so that
a fact that ended or was erased since cannot come back from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import dropwhile, takewhile

from reconciler.domain.recalling.briefing import Briefing
from reconciler.domain.recalling.prompting import (
    as_prompt,
    shown_ids,
    within_budget,
    without_recalled,
)
from reconciler.domain.recalling.recalled import Recalled
from reconciler.domain.recalling.safety import is_never_cut
from reconciler.domain.records.facts import RankedFact
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, has_words
from reconciler.domain.records.turns import Role, Turn
from reconciler.frozen import frozen


@frozen
class Context:
    """The facts that a reply needs and that the conversation was not shown before.

    Attributes:
        text: them as a model is given them: fenced, as data; empty if there are none.
        facts: them as ``recall`` returns them; those of a later turn all count as fitting.
        shown: the ids of all facts that the conversation was shown, these included. Keep it with
            the conversation and give it to the next call; it is plain strings, without words.
    """

    text: str = ""
    facts: Recalled
    shown: tuple[str, ...] = ()

    def new_ids(self, shown: Collection[str] = ()) -> list[str]:
        """The ids in ``shown`` that were not in an earlier value of it."""
        return [fact_id for fact_id in self.shown if fact_id not in shown]


def last_words(turns: Sequence[Turn]) -> str:
    """The contact's words that a reply answers: the latest turns in a row, 2,000 characters.

    Empty if the contact said nothing, or marks alone. Facts that an agent put into a turn are no
    words of it.
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


def opening(briefing: Briefing, fitting: Iterable[RankedFact], budget_tokens: int) -> Context:
    """The context of a conversation that was shown nothing: the briefing.

    What keeps the contact safe comes in full, at any length. Other standing constraints come before
    all facts, and then those that fit the turns.

    Args:
        briefing: with all facts, the most important first.
        fitting: the facts that fit the turns.
        budget_tokens: the tokens of the lines.
    """
    place = {hit.fact.fact_id: number for number, hit in enumerate(fitting)}
    ordered = copy(briefing.facts)
    ordered.sort(key=lambda hit: place.get(hit.fact.fact_id, len(place)))
    facts, asked = replace(briefing, facts=ordered).within(budget_tokens, standing_part=1)
    if not facts and not asked:
        return Context(facts=facts)
    facts = facts.as_whole()
    text = as_prompt(facts, asked, new_ids=briefing.changed, unconfirmed=briefing.unconfirmed)
    return Context(text=text, facts=facts, shown=tuple(shown_ids(facts)))


def following(recalled: Recalled, shown: Sequence[str], budget_tokens: int) -> Context:
    """The context of a later turn: the facts that fit it and were not shown before.

    What keeps the contact safe and was noted since comes too, whether it fits or not.

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
