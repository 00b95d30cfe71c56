"""A check before an act: may it rest on these facts? Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from reconciler.domain.recalling.prompting import quoted
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.frozen import frozen

CHANGED_LATELY = timedelta(days=7)
"""How long a fact that replaced another counts as new: an act may have begun before the change."""

_DOUBTED = {
    SourceKind.EXTRACTOR: "it was read from a conversation and is not confirmed",
    SourceKind.TOOL_OUTPUT: "only a tool said it",
    SourceKind.MODEL_GUESS: "it is a model's guess",
}


class Advice(StrEnum):
    """What to do before an act."""

    GO = "go"
    """Nothing speaks against it."""

    ASK = "ask"
    """Ask the contact first."""

    STOP = "stop"
    """Do not act as planned: a fact has ended, or a standing limit applies."""


_MEANING = {
    Advice.GO: "Go: nothing speaks against it.",
    Advice.ASK: "Ask the contact first.",
    Advice.STOP: "Stop: do not do it as planned.",
}


@frozen
class CheckReason:
    """Why not to act at once.

    Attributes:
        about: what was asked about: an attribute or a fact, as the caller named it; "act" for the
            act itself.
        advice: ask or stop.
        reason: a sentence.
        fact_id: the fact that it concerns; None if none is known.
    """

    about: str
    advice: Advice
    reason: str
    fact_id: str | None = None


@frozen
class ActCheck:
    """The answer: go, ask or stop, with the reasons.

    Attributes:
        advice: the gravest advice of the reasons; go without any.
        reasons: in the order in which was asked, limits last.
        facts: the facts that the act would rest on.
    """

    advice: Advice
    reasons: tuple[CheckReason, ...]
    facts: tuple[Fact, ...]

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """Ids of the facts that the answer names."""
        of_reasons = (each.fact_id for each in self.reasons if each.fact_id)
        return (*dict.fromkeys((*(fact.fact_id for fact in self.facts), *of_reasons)),)

    def as_prompt(self, handles: Mapping[str, str]) -> str:
        """The answer in lines for a model.

        Args:
            handles: of the facts that it names, by id.
        """
        lines = [_MEANING[self.advice]]
        for each in self.reasons:
            about = handles.get(each.about, each.about)
            handle = handles.get(each.fact_id or "", "")
            named = about if handle in ("", about) else f"{about} {handle}"
            lines.append(f"- {named}: {each.reason}")
        return "\n".join(lines)


@frozen
class Doubts:
    """What is known beside the facts themselves.

    Attributes:
        disputed_ids: the facts in an open dispute.
        replaced_at: for each fact that replaced another value, when it did (UTC).
        instead: for each fact that has ended, the text of the fact that holds in its place.
        waiting: what was asked about and has held notes that wait for an answer.
        now: the time (UTC).
        max_age: the longest time since a fact was last said; None for any.
    """

    disputed_ids: Collection[str]
    replaced_at: Mapping[str, datetime]
    instead: Mapping[str, str]
    waiting: Collection[str]
    now: datetime
    max_age: timedelta | None = None


def check(asked: Mapping[str, Sequence[Fact]], limits: Sequence[Fact], doubts: Doubts) -> ActCheck:
    """Check whether an act may rest on facts.

    Args:
        asked: the facts that the act needs, by the name under which each was asked for.
        limits: the standing constraints that touch the act.
        doubts: what is known beside the facts.
    """
    reasons = [
        CheckReason(about=about, advice=advice, reason=reason, fact_id=fact_id)
        for about, facts in asked.items()
        for advice, reason, fact_id in _about(about, facts, doubts)
    ]
    reasons += [
        CheckReason(
            about="act",
            advice=Advice.STOP,
            reason=f"a standing limit applies: {quoted(limit.text)}",
            fact_id=limit.fact_id,
        )
        for limit in limits
    ]
    gravest = max((each.advice for each in reasons), key=[*Advice].index, default=Advice.GO)
    facts = {fact.fact_id: fact for known in asked.values() for fact in known}
    return ActCheck(advice=gravest, reasons=tuple(reasons), facts=tuple(facts.values()))


def _about(
    about: str, facts: Sequence[Fact], doubts: Doubts
) -> Iterator[tuple[Advice, str, str | None]]:
    if not facts:
        yield Advice.ASK, "nothing is known of it", None
    if about in doubts.waiting:
        yield Advice.ASK, "a note about it waits for an answer", None
    for fact in facts:
        if fact.has_ended:
            newer = doubts.instead.get(fact.fact_id)
            now = f"; now {quoted(newer)}" if newer else ""
            yield Advice.STOP, f"it has ended{now}", fact.fact_id
            continue
        for reason in _doubts(fact, doubts):
            yield Advice.ASK, reason, fact.fact_id


def _doubts(fact: Fact, doubts: Doubts) -> Iterator[str]:
    now, age = doubts.now, doubts.now - fact.last_confirmed_at
    if fact.fact_id in doubts.disputed_ids:
        yield "it is in dispute"
    if fact.is_upcoming(now):
        yield f"it holds only from {fact.valid_from:%Y-%m-%d}"
    if fact.is_lapsed(now):
        yield "its lifetime is over"
    if fact.word in _DOUBTED:
        yield _DOUBTED[fact.word]
    if doubts.max_age is not None and age > doubts.max_age:
        yield f"it was last said {age.days} days ago"
    changed_at = doubts.replaced_at.get(fact.fact_id)
    if changed_at is not None and now - changed_at < CHANGED_LATELY:
        yield f"it changed on {changed_at:%Y-%m-%d}"
