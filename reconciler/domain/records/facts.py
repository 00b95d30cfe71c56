"""Facts: durable memories, as a note, a recall and a history see them. Nothing is decided here.

A model names facts by handles, which are short, can be repeated, and are computed, never kept.
``Relations`` say how a note relates to known facts, in the words of a model. Here only the form of
relations is checked, and that the facts have not ended; the rule decides elsewhere if the model is
believed. Health gets its counts of live facts and decisions here, as a store returns them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeVar

from reconciler.domain.records.kinds import (
    LASTING,
    Action,
    DecidedBy,
    FactState,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import (
    CLOCK_SKEW_MAX,
    Remembered,
    Scope,
    Slot,
    check_identifier,
)
from reconciler.errors import RelationError, UnknownFactError
from reconciler.frozen import Json, Strings, StringSet, field_names, frozen, in_order, picked
from reconciler.reading.kinds import Category, RecallSemantics

SYSTEM_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""The name of a system of the builder, in the artefact of the system's notes."""


HANDLE_SIGN = "#"

HANDLE_LENGTH = 4
"""Characters after the "#": a million handles, for the few dozen facts of a conversation."""

_HANDLE_LENGTH_MAX = 16
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Digits and small letters without i, l, o and u, which are easily misread."""


def handle_of(fact_id: str, length: int = HANDLE_LENGTH) -> str:
    """Make the handle of a fact: "#" and the first characters of a digest of its id.

    A handle has at most 16 of these characters.
    """
    digest = hashlib.blake2b(fact_id.encode(), digest_size=_HANDLE_LENGTH_MAX).digest()
    return HANDLE_SIGN + "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:length])


def handles_of(fact_ids: Iterable[str]) -> dict[str, str]:
    """Handles by id, of facts that are shown together: a later one that collides gets longer."""
    handles: dict[str, str] = {}
    taken: set[str] = set()
    for fact_id in dict.fromkeys(fact_ids):
        lengths = range(HANDLE_LENGTH, _HANDLE_LENGTH_MAX + 1)
        tried = (handle_of(fact_id, length) for length in lengths)
        handles[fact_id] = next((handle for handle in tried if handle not in taken), fact_id)
        taken.add(handles[fact_id])
    return handles


def named_by(name: str, fact_ids: Iterable[str]) -> str:
    """Return the id of the fact that a builder names by its id or its handle.

    Args:
        name: the given name; anything but a handle counts as an id, known or not.
        fact_ids: those of the contact's facts that have not ended.

    Raises:
        UnknownFactError: no fact, or more than one, has that handle.
    """
    if not isinstance(name, str) or not name.startswith(HANDLE_SIGN):
        return name
    wanted = name.strip().casefold()
    length = len(wanted) - len(HANDLE_SIGN)
    ids = [
        fact_id
        for fact_id in fact_ids
        if length >= HANDLE_LENGTH and handle_of(fact_id, length) == wanted
    ]
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise UnknownFactError(f"{len(ids)} facts have the handle {name}; give the fact's id")
    raise UnknownFactError(f"no live fact of this contact has the handle {name}")


def may_have_changed(said_at: datetime) -> str:
    """The mark of a recalled fact with a lifetime that has ended: when it was last said (UTC)."""
    return f"last said on {said_at:%Y-%m-%d}, may have changed"


@frozen
class Standing:
    """A fact's state: all parts that later decisions may change, as in ``Fact``."""

    fact_id: str
    state: FactState
    is_void: bool
    valid_to: datetime | None = None
    observations: int
    confidence: float
    is_confirmed_by_user: bool
    expires_at: datetime | None = None
    last_confirmed_at: datetime
    slot: Slot | None = None


@frozen
class Fact(Remembered):
    """A durable memory, which is kept in every state.

    Attributes, beside those of ``Remembered``:
        importance: 0 to 1, as it was given or judged.
        observations: how often it was said, counting its own restatements; 1 or more.
        recorded_at: when the graph learned it (UTC).
        valid_from: when it became true in the world, as far as known (UTC).
        first_held_from: the start of the first fact in its chain of restatements (UTC); None if
            that is ``valid_from``.
        valid_to: the first instant at which it is no longer true, past or future (UTC); None if its
            end is unknown.
        last_confirmed_at: when it was last said (UTC).
        state: its state as last written; ``as_of`` gives its state at a time, since a lifetime ends
            without a write.
        is_void: whether it was never true: its interval is empty.
        is_contested: whether its value goes back and forth with an earlier one.
        category, topic: its kind, and its field of life.
        confidence: how sure the gate is of it; each restatement raises it.
        sensitivity: how carefully it must be handled; ``is_redacted`` if a keyed hash replaces
            personal data in its text.
        recall_semantics: whether it informs, orders, or says what is not wanted.
        yields_to_live_intent: whether a present request overrides it.
        expires_at: the time from which it may have changed (UTC); None for never.
        is_confirmed_by_user: whether the contact was asked, and said yes.
        recall_count, last_recalled_at: how often it was recalled, and when last (UTC); written with
            a delay, so the newest recalls may be missing.
    """

    fact_id: str
    importance: float = 0.5
    trust: SourceKind
    observations: int
    recorded_at: datetime
    valid_from: datetime
    first_held_from: datetime | None = None
    valid_to: datetime | None = None
    last_confirmed_at: datetime
    state: FactState = FactState.LIVE
    is_void: bool = False
    is_contested: bool = False
    category: Category = Category.FACT
    topic: str | None = None
    confidence: float = 1.0
    sensitivity: Sensitivity = Sensitivity.NONE
    is_redacted: bool = False
    recall_semantics: RecallSemantics = RecallSemantics.DEFAULT
    yields_to_live_intent: bool = False
    expires_at: datetime | None = None
    is_confirmed_by_user: bool = False
    recall_count: int = 0
    last_recalled_at: datetime | None = None

    @property
    def handle(self) -> str:
        """Return the fact's short name, such as ``#a2ck``.

        Two facts of one contact may share it by chance.
        """
        return handle_of(self.fact_id)

    @property
    def is_live(self) -> bool:
        """True if the fact was live when its state was written or asked for."""
        return self.state is FactState.LIVE

    @property
    def has_ended(self) -> bool:
        """True if the fact is superseded, revoked or erased; then no note is compared with it.

        An expired or archived fact has not ended: saying it again renews it.
        """
        return self.state not in LASTING

    @property
    def is_standing(self) -> bool:
        """True if the fact orders or forbids something, so that it holds for every query."""
        return self.recall_semantics is not RecallSemantics.DEFAULT

    @property
    def holds_since(self) -> datetime:
        """Return the time since which the fact holds, with its earlier wordings (UTC)."""
        return self.first_held_from or self.valid_from

    @property
    def word(self) -> SourceKind:
        """Return the kind of source; after a confirmation, the contact's own word."""
        return SourceKind.USER_EXPLICIT if self.is_confirmed_by_user else self.trust

    @property
    def system(self) -> str | None:
        """Return the name of the builder's own system that said it; None for any other source."""
        is_document = self.word is SourceKind.APPROVED_DOC
        is_named = is_document and SYSTEM_NAME.fullmatch(self.artefact or "")
        return self.artefact if is_named else None

    @property
    def account(self) -> str | None:
        """Return the account that the contact belongs to by this fact; None for any other fact."""
        return self.slot.account if self.slot else None

    @property
    def standing(self) -> Standing:
        """Return its state."""
        return Standing(**picked(self, field_names(Standing)))

    def standing_as(self, standing: Standing) -> Fact:
        """Return the same fact in that state."""
        return replace(self, **picked(standing, field_names(Standing)))

    @property
    def is_passing(self) -> bool:
        """True if it leaves recall when its lifetime is over: it is volatile, or its end is known.

        Any other fact stays in recall, marked by ``may_be_outdated``.
        """
        return self.category is Category.VOLATILE or self.valid_to is not None

    @property
    def may_be_outdated(self) -> bool:
        """True if recall returns the fact although its lifetime has ended."""
        return self.state is FactState.EXPIRED and not self.is_passing

    def is_told(self, *, hides_expired: bool = False) -> bool:
        """True if recall returns the fact, by its state as written or asked for.

        Args:
            hides_expired: whether to leave out facts that may be outdated, too.
        """
        return self.is_live or (self.may_be_outdated and not hides_expired)

    @property
    def is_told_ahead(self) -> bool:
        """True if the fact starts later than it was said, by more than clocks differ."""
        return self.valid_from - self.last_confirmed_at > CLOCK_SKEW_MAX

    @property
    def is_start_given(self) -> bool:
        """True if a person gave the fact's start; else it starts when it was said or written.

        A fact that was said again and recorded still later counts, too: its start is neither of
        these times.
        """
        is_as_said = self.valid_from == self.last_confirmed_at
        return not is_as_said and abs(self.valid_from - self.recorded_at) > CLOCK_SKEW_MAX

    def is_upcoming(self, now: datetime) -> bool:
        """True if the fact was said ahead and its first day is in the future.

        A clock that stepped back does not make a fact a future one.
        """
        return self.is_told_ahead and self.valid_from > now

    def is_lapsed(self, now: datetime) -> bool:
        """True if only saying it again would renew it: it is archived, or its lifetime is over."""
        return self.state is FactState.ARCHIVED or self.is_expired(now)

    def is_expired(self, now: datetime) -> bool:
        """True if its lifetime has ended."""
        return self.expires_at is not None and self.expires_at <= now

    def as_of(self, now: datetime) -> Fact:
        """The fact with its state at a time (UTC), because a lifetime ends without a write."""
        if self.has_ended or self.state is FactState.ARCHIVED:
            return self
        state = FactState.EXPIRED if self.is_expired(now) else FactState.LIVE
        return self if state is self.state else replace(self, state=state)


class FactUse(NamedTuple):
    """A fact's part that a recall changes, with its state and when the graph learned it."""

    fact_id: str
    state: FactState
    recorded_at: datetime
    recall_count: int
    last_recalled_at: datetime | None


@frozen
class Neighbour:
    """A fact in scope that has not ended, with its raw cosine to a note, in [-1, 1].

    ``is_expired``: its lifetime had ended when the note came, or it was archived. Such a fact has
    no protection. ``is_standing``: it orders or forbids something. ``shares_words``: it is among
    the facts that share the most words with the note, with any meaning; never on record.
    ``is_upcoming``: the day from which it holds had not come. ``is_start_given``: that of ``Fact``;
    never on record. ``is_vital``: no budget of a recall cuts it; never on record.
    """

    fact_id: str
    text: str
    cosine: float
    valid_from: datetime
    trust: SourceKind = SourceKind.USER_EXPLICIT
    slot: Slot | None = None
    category: Category = Category.FACT
    is_expired: bool = False
    observations: int = 1
    is_confirmed_by_user: bool = False
    shares_words: bool = False
    is_standing: bool = False
    is_upcoming: bool = False
    is_start_given: bool = False
    is_vital: bool = False

    @property
    def slot_value(self) -> str:
        """Return the slot's value as it was said; empty without one."""
        return (self.slot and self.slot.value) or ""

    @property
    def word(self) -> SourceKind:
        """Return the kind of source, as ``Fact.word``."""
        return SourceKind.USER_EXPLICIT if self.is_confirmed_by_user else self.trust


Facts = Sequence[Fact]
"""Facts in an order, which the reader does not change."""

FactsById = Mapping[str, Fact]
"""Facts by their ids."""

Neighbours = tuple[Neighbour, ...]
_FactT = TypeVar("_FactT", bound="Fact | Neighbour")


def by_fact_id(facts: Iterable[_FactT]) -> dict[str, _FactT]:
    """Return facts by their ids."""
    return {fact.fact_id: fact for fact in facts}


@frozen
class Predecessor:
    """An ended fact that a live one replaced, directly or through facts between.

    Attributes:
        cosine: raw cosine to the note, in [-1, 1].
        slot: its slot; None if unknown.
        was_contradicted: whether its successor said something else, by its slot or in an arbiter's
            judgement; a midpoint does not show this.
        followed_from: the time since which the successor held (UTC).
        was_live: whether it ever held here; False if it was history when it came.
        head_id: the live fact.
        is_void: whether it was never true.
    """

    fact_id: str
    text: str
    cosine: float
    slot: Slot | None
    was_contradicted: bool
    followed_from: datetime
    was_live: bool = True
    head_id: str = ""
    is_void: bool = False


@frozen
class JudgedNeighbour(Neighbour):
    """A neighbour as the packaged judge sees it.

    Attributes:
        replaced: the texts of the facts that it replaced, each with its slot.
    """

    replaced: tuple[tuple[str, Slot | None], ...] = ()


def replaced_by(fact: Neighbour) -> tuple[tuple[str, Slot | None], ...]:
    """Return the texts and slots of the facts that a fact replaced, if a judge gets them."""
    return fact.replaced if isinstance(fact, JudgedNeighbour) else ()


@frozen
class RankedFact:
    """A recalled fact with the parts of its score, each in [0, 1] before weighting.

    Attributes:
        score: the number by which it was ordered: similarity, recency and importance, each weighed.
        similarity: how near it is to the question, in meaning and in words, or, if that is more,
            how clearly the question asks for its attribute; None without a question: then only
            recency and importance rank.
        cosine: raw cosine to the question, in [-1, 1]; None without an embedder, or without a
            question.
        words: the share of the question's words that it holds, each weighed by how few of the
            contact's facts hold the word; None without a question.
        recency: with a question, one half for each chosen fact about the same thing that was said
            later; without a question, how recently it was said.
        strength: how strong it still is, by its importance, its age and its use; weighed only if
            the settings say so.
        is_standing: whether it is a standing constraint, which is recalled for every question.
        fits: whether it fits the question; a standing constraint need not.
        is_upcoming: whether it holds from a later day on.
        disputed_with: the other sides of its open dispute.
        account: the account of the contact that it is a fact of; None for the contact's own fact.
    """

    fact: Fact
    score: float
    similarity: float | None
    recency: float
    cosine: float | None = None
    words: float | None = None
    strength: float = 1.0
    is_standing: bool = False
    fits: bool = True
    is_upcoming: bool = False
    disputed_with: tuple[Fact, ...] = ()
    account: str | None = None


class FoundIn(StrEnum):
    """The place where a fact mentions a name: its subject, its value, or only its words."""

    SUBJECT = "subject"
    VALUE = "value"
    TEXT = "text"


@frozen
class FoundFact:
    """A fact that was looked for across contacts, or by a name.

    Attributes:
        contact_id: the contact that it is about.
        fact: the fact in its present state.
        similarity: its raw cosine to the question, in [-1, 1]; None if a name was asked for.
        found_in: where it mentions the name; None if none was asked for.
    """

    contact_id: str
    fact: Fact
    similarity: float | None = None
    found_in: FoundIn | None = None


@frozen
class Supersession:
    """Why one fact replaced another: who decided, when, at which cosine."""

    new_id: str
    old_id: str
    cosine: float | None = None
    decided_by: str
    reason: str
    at: datetime
    is_restatement: bool = False


@frozen
class Conflict:
    """Two live facts that may contradict each other, and were kept side by side.

    ``is_open`` until a person answers that both hold.
    """

    new_id: str
    old_id: str
    decided_by: str = ""
    reason: str
    at: datetime

    @property
    def pair(self) -> tuple[str, str]:
        """Return its two facts, the newer one first."""
        return self.new_id, self.old_id

    @property
    def ids(self) -> StringSet:
        """Return its two facts, in no order."""
        return frozenset(self.pair)

    @property
    def is_open(self) -> bool:
        """True if it waits for an answer."""
        return self.decided_by != DecidedBy.ANSWER

    @property
    def as_answered(self) -> Conflict:
        """Return the same two facts, marked so that both hold."""
        return replace(self, decided_by=DecidedBy.ANSWER)


Conflicts = tuple[Conflict, ...]


@frozen
class Dispute:
    """Live facts that seem to contradict each other, until a person settles the dispute.

    Attributes:
        scope: about whom.
        facts: the sides, two or more; the side that has held longest comes first.
        question: the question to ask, with each side's words, its source and its start.
        reasons: why the sides were kept side by side.
        opened_at: when the last of them came in (UTC).
    """

    scope: Scope
    facts: tuple[Fact, ...]
    question: str
    reasons: Strings
    opened_at: datetime

    @property
    def place(self) -> tuple[datetime, str]:
        """Return its place among the contact's disputes: its time, and the id of its first fact."""
        return self.opened_at, self.facts[0].fact_id

    def to_dict(self) -> Json:
        """As plain values, its facts with all that is known of them."""
        return asdict(self)


@frozen
class FactEvent:
    """A person's decision about a fact, for example a revocation or a revert.

    Attributes:
        fact_id: the fact.
        action: what was done.
        by: who did it.
        reason: why, in their words.
        at: when (UTC).
        decision_id: the record of it.
    """

    fact_id: str
    action: Action
    by: str
    reason: str
    at: datetime
    decision_id: str


@frozen
class ExpiringFact:
    """A fact that expires soon, or has expired, and the question that may renew it.

    If it is said again, it is renewed; ``revoke`` ends it.
    """

    contact_id: str
    fact: Fact
    question: str


@in_order
class PlaceInHistory:
    """A fact's place in the order of histories: by its last confirmation, then its recording (UTC).

    If both are equal, the fact with the lesser id comes first.
    """

    fact_id: str
    last_confirmed_at: datetime
    recorded_at: datetime


@frozen
class FactHistory:
    """A fact that no other fact superseded, and all facts that it replaced.

    Invariant: ``facts[0]`` is the head; ``supersessions[i]`` says which fact replaced ``facts[i +
    1]``, and why. If one fact replaced two, both are in its history. ``conflicts`` are the
    conflicts of the head; ``events`` are the decisions of persons about any of the facts, the
    oldest first.
    """

    facts: tuple[Fact, ...]
    supersessions: tuple[Supersession, ...]
    conflicts: Conflicts = ()
    events: tuple[FactEvent, ...] = ()


@frozen
class RefusalCount:
    """How often the gate refused something about a contact for one reason."""

    contact_id: str
    reason: str
    refusals: int


@in_order
class FiledFact:
    """A fact and the contact it is about, by id and, if known, by name."""

    contact_id: str
    contact_name: str | None
    fact: Fact


class SaidFact(NamedTuple):
    """What a fact says, and the key of its slot."""

    fact_id: str
    text: str
    slot_key: str | None


@frozen
class Contact:
    """A contact of an agent with what is known about it, in numbers: its facts by their state.

    ``recalls`` counts the recalls about it, and ``empty_recalls`` those that found nothing; both
    are written with a delay.
    """

    tenant: str
    agent_id: str
    contact_id: str
    name: str | None
    live_facts: int
    expired_facts: int
    archived_facts: int
    superseded_facts: int
    revoked_facts: int
    erased_facts: int
    facts: int
    last_decision_at: datetime | None
    recalls: int = 0
    empty_recalls: int = 0


RELATED_MAX = 3
"""How many facts one note may replace or end. A city, a landlord and a rent go together; a note
that ends more facts rewrites the memory, and only an operator may do that."""


@frozen
class Relations:
    """A model's relations between a note and facts that it read; all are fact ids.

    Attributes:
        replaces: the facts that the note replaces.
        repeats: the fact that says the same as the note.
        ends: facts that have ended, and are not replaced by the note's value.
        both_hold: facts that hold together with the note: they are not linked, and an open conflict
            between them closes.

    Raises:
        RelationError: no fact is named, a fact is named twice, too many facts would end, or a note
            that only repeats a fact would end another.
    """

    replaces: Strings = ()
    repeats: str | None = None
    ends: Strings = ()
    both_hold: Strings = ()

    def __post_init__(self) -> None:
        for name in ("replaces", "ends", "both_hold"):
            given = getattr(self, name)
            if not isinstance(given, list | tuple):
                raise RelationError(f"{name} must be a list of facts, each by its id or handle")
            object.__setattr__(self, name, tuple(given))
        for fact_id in self.named_ids:
            check_identifier("the id or handle of a fact", fact_id, RelationError)
        self._check_together()

    def _check_together(self) -> None:
        if not self.named_ids:
            raise RelationError(
                "say which facts the note replaces, repeats or ends, or with which facts it "
                "holds together"
            )
        twice = sorted({name for name in self.named_ids if self.named_ids.count(name) > 1})
        if twice:
            raise RelationError(
                f"{', '.join(twice)}: named twice; name each fact once, in the field that fits"
            )
        if self.repeats is not None and self.ended_ids:
            raise RelationError(
                "a note that repeats a fact cannot end another fact; say in a separate note what "
                "has ended"
            )
        if len(self.ended_ids) > RELATED_MAX:
            raise RelationError(
                f"one note may replace or end at most {RELATED_MAX} facts, not "
                f"{len(self.ended_ids)}; name only the facts that the note itself mentions"
            )

    @property
    def ended_ids(self) -> Strings:
        """Return facts that the note would end."""
        return (*self.replaces, *self.ends)

    @property
    def named_ids(self) -> Strings:
        """Return all facts that are named, in the order of the fields."""
        repeated = () if self.repeats is None else (self.repeats,)
        return (*self.replaces, *repeated, *self.ends, *self.both_hold)

    def renamed(self, ids: Mapping[str, str]) -> Relations | None:
        """Return the relations with the facts renamed to these ids; None if there are none."""
        replaces, ends, both_hold = (
            tuple(ids[name] for name in named if name in ids)
            for named in (self.replaces, self.ends, self.both_hold)
        )
        repeats = ids.get(self.repeats or "")
        if repeats is None and not (replaces or ends or both_hold):
            return None
        return Relations(replaces=replaces, repeats=repeats, ends=ends, both_hold=both_hold)

    def only(self, fact_ids: Iterable[str]) -> Relations | None:
        """Return the relations to these facts only; None if there are none."""
        return self.renamed({fact_id: fact_id for fact_id in fact_ids})


def check_not_ended(scope: Scope, fact_ids: Iterable[str], known: FactsById) -> None:
    """Refuse facts that have ended or that the contact does not have, and memberships.

    Raises:
        UnknownFactError: the contact has no such fact.
        RelationError: a fact has ended, or says to which account the contact belongs.
    """
    for fact_id in fact_ids:
        if fact_id not in known:
            raise UnknownFactError(
                f"contact {scope.contact_id} has no fact {fact_id}; name a fact by its id, or by "
                "its handle, such as #a2ck; `history` lists the facts"
            )
        if known[fact_id].has_ended:
            raise RelationError(
                f"fact {handle_of(fact_id)} has already ended; recall shows what holds now"
            )
        if known[fact_id].account:
            raise RelationError(f"fact {handle_of(fact_id)} is a membership; leave it out")


@frozen
class ActionCount:
    """The number of decisions of one kind; ``is_answer`` if they settled a question."""

    action: Action
    is_answer: bool
    decisions: int


class LiveFact(NamedTuple):
    """The fields of a live fact that health reads.

    ``subject`` and the three fields after it come from its slot, and are all None without a slot;
    ``is_live`` is false if its lifetime is over, and ``embedding_bytes`` is None if the fact has no
    vector of the model.
    """

    fact_id: str
    subject: str | None
    attribute: str | None
    value_key: str | None
    is_single_valued: bool | None
    is_live: bool
    embedding_bytes: bytes | None
