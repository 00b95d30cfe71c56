"""The closed lists that notes, facts and decisions share: sources, kinds, sensitivities.

Only words and their meanings are here; the rules that use them are elsewhere. ``AnySourceKind``
and similar types are for callers: the member, or its word, which a type checker checks.

All records also share their times and places: the latest time that a store keeps, times after a
span, which never pass it, and an item's place in a newest-first list. ``Clock`` is only a type: no
clock is read here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal, TypeAlias

from reconciler.reading.kinds import (
    Category as Category,
    RecallSemantics as RecallSemantics,
    Speech as Speech,
)

LIVE_DOOR = "live"
"""The door of notes that are given one at a time, during a conversation."""

OPERATOR_DOOR = "operator"
"""The door of persons' decisions about facts: revocations, reverts and the like."""

ANSWER_DOOR = "answer"
"""The door of records of replies and acts that used facts."""

PROPOSAL_DOOR = "proposal"
"""The door of candidates that a builder proposes, and commits later."""

EXTRACTION_DOOR, IMPORT_DOOR = "extractor", "import"
PATIENT_DOORS = (EXTRACTION_DOOR, IMPORT_DOOR)
"""Doors without a conversation that waits, so that a note may wait for the judge's budget."""

SPANS_JOINED = " … "
"""Separates the cited parts of one episode when they are stored as one text."""


class SourceKind(StrEnum):
    """Where the evidence comes from, from the most to the least trusted source."""

    USER_EXPLICIT = "user_explicit"
    OPERATOR = "operator"
    APPROVED_DOC = "approved_doc"
    EXTRACTOR = "extractor"
    TOOL_OUTPUT = "tool_output"
    MODEL_GUESS = "model_guess"

    def is_trusted_less_than(self, other: SourceKind) -> bool:
        """True if this source is less trusted than the other."""
        order = tuple(SourceKind)
        return order.index(self) > order.index(other)


AnySourceKind: TypeAlias = (
    SourceKind
    | Literal[
        "user_explicit",
        "operator",
        "approved_doc",
        "extractor",
        "tool_output",
        "model_guess",
    ]
)

OWN_WORDS = (SourceKind.USER_EXPLICIT, SourceKind.OPERATOR)
"""The sources that may answer a question."""


AnyCategory: TypeAlias = (
    Category
    | Literal[
        "preference",
        "fact",
        "decision",
        "procedure",
        "summary",
        "outcome",
        "volatile",
    ]
)


class Sensitivity(StrEnum):
    """How carefully a fact is to be handled."""

    NONE = "none"
    LOW = "low"
    PII = "pii"
    PHI = "phi"
    SECRET = "secret"  # noqa: S105


class FactState(StrEnum):
    """The state of a fact.

    Facts in the first three states have not ended, so notes are compared with them.
    """

    LIVE = "live"
    EXPIRED = "expired"
    """Its lifetime has ended: recall marks it or leaves it out, and a repetition makes it live
    again."""
    ARCHIVED = "archived"
    """It was archived: recall leaves it out, and a repetition makes it live again."""
    SUPERSEDED = "superseded"
    """Another fact replaced it, or it was history from the start."""
    REVOKED = "revoked"
    """It was ended, or the decision that wrote it was undone; no other fact replaced it."""
    ERASED = "erased"
    """A person asked to forget it: only a trace that it existed is left."""


class Disposal(StrEnum):
    """What the gate does with a candidate."""

    ADMIT = "admit"
    REJECT = "reject"
    CONFIRM = "confirm"
    """Held until a person other than its proposer says yes."""
    CONSENT = "consent"
    """Held until the contact consents."""

    @property
    def is_held(self) -> bool:
        """True if it waits for a person's answer."""
        return self in (Disposal.CONFIRM, Disposal.CONSENT)


AnyDisposal: TypeAlias = Disposal | Literal["admit", "reject", "confirm", "consent"]


class GateReason(StrEnum):
    """The reason, as a word that can be counted."""

    ADMITTED = "admitted"
    MODEL_GUESS = "model_guess"
    NO_PROVENANCE = "no_provenance"
    SPAN_NOT_IN_EVIDENCE = "span_not_in_evidence"
    PENDING_ERASURE = "pending_erasure"
    AMBIGUOUS_OWNER = "ambiguous_owner"
    PRIVATE_EVIDENCE = "private_evidence"
    SENSITIVE_DATA = "sensitive_data"
    SECRET = "secret"  # noqa: S105
    DIRECTIVE = "directive"
    NOT_MEANINGFUL = "not_meaningful"
    SPECULATION = "speculation"
    DOMAIN_RULE = "domain_rule"
    SENSITIVE_TOPIC = "sensitive_topic"
    NOT_LITERAL = "not_literal"
    NOT_SAID_PLAINLY = "not_said_plainly"
    """The words are in the contact's turn, but are not the contact's own plain statement."""
    UNTRUSTED_SOURCE = "untrusted_source"
    NEEDS_APPROVAL = "needs_approval"
    THIN_EVIDENCE = "thin_evidence"
    BELOW_FLOOR = "below_floor"
    DECLINED_BEFORE = "declined_before"
    ANSWERED_SINCE = "answered_since"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    FORGOTTEN_BEFORE = "forgotten_before"
    WRONG_RELATION = "wrong_relation"
    UNREAD_LANGUAGE = "unread_language"


AnyGateReason: TypeAlias = (
    GateReason
    | Literal[
        "admitted",
        "model_guess",
        "no_provenance",
        "span_not_in_evidence",
        "pending_erasure",
        "ambiguous_owner",
        "private_evidence",
        "sensitive_data",
        "secret",
        "directive",
        "not_meaningful",
        "speculation",
        "domain_rule",
        "sensitive_topic",
        "not_literal",
        "not_said_plainly",
        "untrusted_source",
        "needs_approval",
        "thin_evidence",
        "below_floor",
        "declined_before",
        "answered_since",
        "declined",
        "withdrawn",
        "forgotten_before",
        "wrong_relation",
        "unread_language",
    ]
)

FOR_OPERATORS = (GateReason.DIRECTIVE, GateReason.NEEDS_APPROVAL, GateReason.UNREAD_LANGUAGE)
"""Reasons to hold a note that only an operator may admit, not the contact."""

NOT_FOR_CONTACTS = (*FOR_OPERATORS, GateReason.UNTRUSTED_SOURCE)
"""Reasons to ask an operator, not the contact; the contact may still confirm a tool's word."""


# Its docstring is a part of the schema that a judge sees.
class Action(StrEnum):
    """What is done: what the reconciler writes, or how the gate disposed of a candidate."""

    ADD = "ADD"
    """A new fact."""
    UPDATE = "UPDATE"
    """A new fact that replaces another."""
    SKIP = "SKIP"
    """One more observation of a fact that already says the same."""
    ADMIT = "ADMIT"
    """Proposed and admitted; no fact is written until it is committed."""
    HOLD = "HOLD"
    """Waits for a person's yes."""
    REJECT = "REJECT"
    """Refused by the gate."""
    DECLINE = "DECLINE"
    """A person said no to a held note."""
    WITHDRAW = "WITHDRAW"
    """A held or admitted note was withdrawn."""
    REVOKE = "REVOKE"
    """A fact was ended without a replacement."""
    RESOLVE = "RESOLVE"
    """A person said which of the facts in dispute hold; the others end."""
    REVERT = "REVERT"
    """Earlier decisions were undone."""
    ARCHIVE = "ARCHIVE"
    """Faded facts were archived, out of recall."""
    UNARCHIVE = "UNARCHIVE"
    """An archived fact is recalled again."""
    CITE = "CITE"
    """A reply or an act of the agent used facts; no fact changed."""
    MERGE = "MERGE"
    """Another contact was merged into this one."""

    @property
    def writes_a_fact(self) -> bool:
        """True if it writes a new fact."""
        return self in (Action.ADD, Action.UPDATE)

    @property
    def is_reconciled(self) -> bool:
        """True if the reconciler decided it, by comparing the note with the known facts."""
        return self in (Action.ADD, Action.UPDATE, Action.SKIP)


class Outcome(StrEnum):
    """The note's outcome, seen from the fact that it was compared with."""

    SUPERSEDED = "superseded"
    """The note replaces the fact."""

    REPEATED = "repeated"
    """The note counts as a repetition of the fact; nothing new is stored."""

    CONFLICT = "conflict"
    """Both are live, linked as a possible contradiction."""

    APART = "apart"
    """Both are live, and no rule relates them."""

    HISTORY = "history"
    """The note is written as history of a newer fact, not live."""


class DecidedBy(StrEnum):
    """Which rule decided; the first that matches, in the order of ``decide``.

    ``retraction``: the note takes back and denies an earlier statement. ``change``: the note says
    that something has changed, and names the state before. ``order``, ``trust``, ``hedge`` and
    ``standing`` override the others: by another rule the note would supersede a fact that is newer,
    that rests on a more trusted word, that was confirmed or often said while the note only guesses,
    or that is a standing decision. ``agent`` or ``extractor``: a model that read the note and the
    facts said how they relate. ``gate`` decides before all of them, ``answer`` after a person was
    asked, and ``amendment`` by an operator's word, which overrides the others.
    """

    NOOP = "noop"
    SLOT = "slot"
    THRESHOLD = "threshold"
    GUARD = "guard"
    ARBITER = "arbiter"
    MIDPOINT = "midpoint"
    ORDER = "order"
    TRUST = "trust"
    HEDGE = "hedge"
    STANDING = "standing"
    RETRACTION = "retraction"
    CHANGE = "change"
    AGENT = "agent"
    EXTRACTOR = "extractor"
    GATE = "gate"
    ANSWER = "answer"
    AMENDMENT = "amendment"


# Its docstring is a part of the schema that a judge sees.
class Relation(StrEnum):
    """How a note relates to the fact it was compared with, as the arbiter words it."""

    SAME = "same"
    REFINES = "refines"
    REPLACES = "replaces"
    COEXISTS = "coexists"
    UNRELATED = "unrelated"
    UNSURE = "unsure"


TOLD_RELATIONS = tuple(relation for relation in Relation if relation is not Relation.UNSURE)
"""The relations that a judge can be sure of, and that a person may correct to."""

AnyRelation: TypeAlias = (
    Relation | Literal["same", "refines", "replaces", "coexists", "unrelated", "unsure"]
)


LASTING = (FactState.LIVE, FactState.EXPIRED, FactState.ARCHIVED)
"""The states of a fact that has not ended."""


class JobState(StrEnum):
    """The state of a job. A dead job waits for a person to ``retry`` it; nothing of it is lost."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


AnyJobState: TypeAlias = JobState | Literal["waiting", "running", "done", "dead"]


Clock = Callable[[], datetime]
"""Returns the time now, UTC-aware."""

Progress = Callable[[int], None]
"""Hears how many more are done."""

ProgressOfAll = Callable[[int, int], None]
"""Hears how many are done, and of how many."""

ListPlace = tuple[datetime, str]
"""An item's place in a newest-first list: its time and its id."""

FAR_AHEAD = datetime(9999, 12, 30, tzinfo=UTC)
"""A day before Python's last time, so that every zone can show it."""


def later(begins: datetime, span: timedelta) -> datetime:
    """Return the time after a span, at most ``FAR_AHEAD``; a later beginning stays as it is."""
    return begins + min(span, max(FAR_AHEAD - begins, timedelta(0)))


def newest_first(at: datetime, item_id: str) -> tuple[float, str]:
    """Sort key of a newest-first list: an item's time, then its id."""
    return -at.timestamp(), item_id


def is_after(place: ListPlace, other: ListPlace) -> bool:
    """True if an item comes after another item, which may no longer exist."""
    return newest_first(*place) > newest_first(*other)
