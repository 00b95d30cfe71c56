"""A check before an act: may it rest on these facts? Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from reconciler.domain.recalling.prompting import quoted, shown_text
from reconciler.domain.records.facts import Fact, Facts, FactsById
from reconciler.domain.records.kinds import SourceKind
from reconciler.frozen import Strings, frozen
from reconciler.reading.named_secrets import without_secrets

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
    """Do not act as planned: a fact has ended, or a limit applies."""


_MEANING = {
    Advice.GO: "Go: nothing speaks against it.",
    Advice.ASK: "Ask the contact first.",
    Advice.STOP: "Stop: do not do it as planned.",
}


@frozen
class CheckReason:
    """Why not to act at once; with the advice to go, on which fact of an account the act rests.

    Attributes:
        about: what was asked about: an attribute or a fact, as the caller named it; "act" for the
            act itself.
        advice: ask or stop, or go for a fact of an account.
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
    def fact_ids(self) -> Strings:
        """Ids of the facts that the answer names."""
        own = (fact.fact_id for fact in self.facts)
        return (*own, *(each.fact_id for each in self.reasons if each.fact_id))

    def as_prompt(self, handles: Mapping[str, str]) -> str:
        """The answer in lines for a model.

        Args:
            handles: of the facts that it names, by id.
        """
        if not self.reasons:
            return _MEANING[self.advice]
        lines = [_MEANING[self.advice], "<recalled_facts>"]
        for each in self.reasons:
            about = handles.get(each.about, each.about)
            handle = handles.get(each.fact_id or "", "")
            named = about if handle in ("", about) else f"{about} {handle}"
            lines.append(f"- {named}: {each.reason}")
        return "\n".join([*lines, "</recalled_facts>"])


@frozen
class Doubts:
    """What is known beside the facts themselves.

    Attributes:
        of_facts: for each doubt, the facts in this doubt, by id.
        of_names: for each doubt, the names in this doubt.
        replaced_at: for each fact that replaced another value, when it did (UTC).
        instead: for each fact that was replaced, the fact that holds in its place.
        now: the time (UTC).
        max_age: the longest time since a fact was last said; None for any.
        account: the account that the facts are about; None for the contact.
        theirs: the checks of the contact's accounts, of the names that it has no fact of.
    """

    of_facts: Mapping[str, Collection[str]]
    of_names: Mapping[str, Collection[str]]
    replaced_at: Mapping[str, datetime]
    instead: FactsById
    now: datetime
    max_age: timedelta | None
    account: str | None
    theirs: Sequence[ActCheck]


def check(asked: Mapping[str, Facts], limits: Facts, doubts: Doubts) -> ActCheck:
    """Check whether an act may rest on facts.

    Args:
        asked: the facts that the act needs, by the name under which each was asked for.
        limits: the limits that touch the act.
        doubts: what is known beside the facts.
    """
    reasons = [
        CheckReason(about=without_secrets(about), advice=advice, reason=reason, fact_id=fact_id)
        for about, facts in asked.items()
        for advice, reason, fact_id in _about(about, facts, doubts)
    ]
    reasons += [reason for each in doubts.theirs for reason in each.reasons]
    reasons += [
        CheckReason(
            about="act",
            advice=Advice.STOP,
            reason=f"a limit applies: {_quoted(limit)}",
            fact_id=limit.fact_id,
        )
        for limit in limits
    ]
    gravest = max((each.advice for each in reasons), key=[*Advice].index, default=Advice.GO)
    resting = (*asked.values(), *(each.facts for each in doubts.theirs))
    facts = {fact.fact_id: fact for each in resting for fact in each}
    return ActCheck(
        advice=gravest, reasons=tuple(dict.fromkeys(reasons)), facts=tuple(facts.values())
    )


def _about(about: str, facts: Facts, doubts: Doubts) -> Iterator[tuple[Advice, str, str | None]]:
    for reason, names in doubts.of_names.items():
        if about in names:
            yield Advice.ASK, reason, None
    for fact in facts:
        if doubts.account:
            yield Advice.GO, f"known of account {doubts.account}: {_quoted(fact)}", fact.fact_id
        if fact.has_ended:
            newer = doubts.instead.get(fact.fact_id)
            now = f"; now {_quoted(newer)}" if newer else ""
            yield Advice.STOP, f"it has ended{now}", fact.fact_id
            continue
        for reason in _doubts(fact, doubts):
            yield Advice.ASK, reason, fact.fact_id


def _doubts(fact: Fact, doubts: Doubts) -> Iterator[str]:
    now, age = doubts.now, doubts.now - fact.last_confirmed_at
    changed_at = doubts.replaced_at.get(fact.fact_id, fact.recorded_at)
    is_new = fact.fact_id in doubts.replaced_at and now - changed_at < CHANGED_LATELY
    told = {
        **{reason: fact.fact_id in ids for reason, ids in doubts.of_facts.items()},
        f"it holds only from {fact.valid_from:%Y-%m-%d}": fact.is_upcoming(now),
        "its lifetime is over": fact.is_lapsed(now),
        "it changed back and forth": fact.is_contested,
        _DOUBTED.get(fact.word, ""): fact.word in _DOUBTED,
        f"it was last said {age.days} days ago": age > (doubts.max_age or age),
        f"it changed on {changed_at:%Y-%m-%d}": is_new,
    }
    return (reason for reason, is_so in told.items() if is_so)


def _quoted(fact: Fact) -> str:
    return quoted(shown_text(fact))
