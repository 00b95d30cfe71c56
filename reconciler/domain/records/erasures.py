"""Erasures: requests to forget, what each removes, and its receipt. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from reconciler.domain.records.scope import Scope, check_identifier
from reconciler.domain.records.slots import CONTACT_SUBJECT
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen

ERASED = "[erased]"
"""Replaces erased words."""


class ErasureKind(StrEnum):
    """How much is to be forgotten."""

    CONTACT = "contact"
    FACT = "fact"
    SESSION = "session"
    ATTRIBUTE = "attribute"


class ErasureState(StrEnum):
    """The state of an erasure; an interrupted one continues from it."""

    PENDING = "pending"
    """Marked: nothing new is derived from what will be removed."""
    REMOVED = "removed"
    """Removed from the graph; the engine's files may still hold bytes of it."""
    DONE = "done"


@frozen
class ErasureTarget:
    """The target of an erasure: one fact, session or attribute of a contact, or all of it.

    Args:
        fact_id, session_id, attribute: at most one of them; none means the whole contact.
        subject: about whom the attribute is; None for the contact.

    Raises:
        InvalidRequestError: more than one is given, a subject without an attribute, or one cannot
            be used.
    """

    fact_id: str | None = None
    session_id: str | None = None
    attribute: str | None = None
    subject: str | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        for name, value in given.items():
            check_identifier(name, value, InvalidRequestError)
        if len(given.keys() - {"subject"}) > 1:
            raise InvalidRequestError(
                f"{' and '.join(sorted(given))} are given; name one of fact_id, session_id and "
                "attribute, or none of them to forget the whole contact"
            )
        if self.subject is not None and self.attribute is None:
            raise InvalidRequestError("subject goes with an attribute; name both, or neither")

    @property
    def kind(self) -> ErasureKind:
        """What kind of target it is."""
        if self.fact_id is not None:
            return ErasureKind.FACT
        if self.session_id is not None:
            return ErasureKind.SESSION
        return ErasureKind.CONTACT if self.attribute is None else ErasureKind.ATTRIBUTE

    @property
    def about(self) -> str:
        """About whom an attribute is."""
        return CONTACT_SUBJECT if self.subject is None else self.subject

    @property
    def kept(self) -> ErasureTarget:
        """The target as a finished erasure's record keeps it: ids, no words."""
        return ErasureTarget(fact_id=self.fact_id, session_id=self.session_id)


@frozen
class FactEnd:
    """How a fact ends, as in ``Fact``."""

    fact_id: str
    valid_to: datetime | None
    expires_at: datetime | None


@frozen
class ErasurePlan:
    """The ids that an erasure removes or changes. A whole contact loses everything.

    Attributes:
        fact_ids: facts to remove.
        revived_ids: facts that hold again, because their successors are removed.
        ends: the new ends of facts that hold again, or that a removed fact was to end.
        decision_ids: decisions that lose all words.
        quoting_ids: other decisions, which lose their reasoning because it may quote removed words.
        episodes: what is left of each episode that loses words.
        session_keys: sessions that lose their summary; their jobs lose what was read for them.
    """

    fact_ids: tuple[str, ...] = ()
    revived_ids: tuple[str, ...] = ()
    ends: tuple[FactEnd, ...] = ()
    decision_ids: tuple[str, ...] = ()
    quoting_ids: tuple[str, ...] = ()
    episodes: Mapping[str, str] = field(default_factory=dict)
    session_keys: tuple[str, ...] = ()


@frozen
class ErasureReceipt:
    """What an erasure removed and then checked, in numbers.

    Attributes:
        removed: how many nodes lost their words, by label.
        verified: how many texts were read again afterwards and hold nothing of it.
        remaining_ids: nodes in scope that still hold words to be removed; empty if all went well.
        elsewhere_ids: nodes that stay although they hold a removed text word for word, because it
            was also said separately; the contact may want those forgotten, too.
        traces: where bytes of it may still be, for how long, and what to do; for a person.
        searched_texts: how many of the removed texts the engine's own files were searched for; 0
            if it has none of its own.
        shared_texts: how many of these are in the files because a kept record says them too, in
            whole or in part.
        texts_in_files: how many are still in the files although no kept record says them; 0 if all
            went well. Until then the erasure is not finished.
        rewrites: how many times the files were written again.
        tombstones: how many statements are held if they come again.
        is_dry_run: whether it only says what would be removed.
    """

    removed: Mapping[str, int] = field(default_factory=dict)
    verified: int = 0
    remaining_ids: tuple[str, ...] = ()
    elsewhere_ids: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    searched_texts: int = 0
    shared_texts: int = 0
    texts_in_files: int = 0
    rewrites: int = 0
    tombstones: int = 0
    is_dry_run: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether the checks found nothing left to remove."""
        return not (self.remaining_ids or self.texts_in_files)


@frozen
class Erasure:
    """One request to forget something, and how far it got.

    Attributes:
        erasure_id: its id; empty for a dry run, which leaves no record.
        scope: the contact's.
        target: what is forgotten. A finished erasure keeps only its ids: an attribute's name is a
            word, too.
        kind: how much it is.
        state: how far it got.
        by: who asked for it, ``contact`` or an operator.
        reason: why; ``[erased]`` where it repeated what was to go.
        started_at, finished_at: when (UTC).
        receipt: what was removed.
        plan: what is still to be removed; None when it is.
    """

    erasure_id: str
    scope: Scope
    target: ErasureTarget
    kind: ErasureKind
    state: ErasureState
    by: str
    reason: str
    started_at: datetime
    finished_at: datetime | None = None
    receipt: ErasureReceipt = field(default_factory=ErasureReceipt)
    plan: ErasurePlan | None = field(default=None, repr=False)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to be done."""
        return self.state is ErasureState.DONE

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without what is still to be removed."""
        own = asdict(self)
        del own["plan"]
        return own
