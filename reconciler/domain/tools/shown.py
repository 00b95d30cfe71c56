"""The handles shown in one conversation. Its model may name facts by these alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from reconciler.domain.recalling.briefing import CONVERSATION
from reconciler.domain.records.handles import HANDLE_SIGN, handles_of
from reconciler.errors import RelationError

_SHOWN_MAX = 2_000
"""Facts that are remembered as shown: far more than fit a prompt."""


class Shown:
    """Handles that were shown in a conversation; not for two threads at a time."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._handles: dict[str, str] = {}
        self._told_at: dict[str, datetime] = {}

    def show(self, fact_ids: Iterable[str]) -> Mapping[str, str]:
        """The handles of these facts, by id; each stays that of its fact from now on."""
        listed = list(dict.fromkeys(fact_ids))
        # A handle that was shown already keeps its fact, so that a later one is made longer.
        handles = handles_of((*self._handles, *(i for i in listed if i not in self._handles)))
        for fact_id in listed:
            handle = self._handles.pop(fact_id, None) or handles[fact_id]
            self._handles[fact_id], self._ids[handle] = handle, fact_id
        while len(self._handles) > _SHOWN_MAX:
            del self._ids[self._handles.pop(next(iter(self._handles)))]
        return {fact_id: self._handles[fact_id] for fact_id in listed if fact_id in self._handles}

    def tell(self, fact_ids: Iterable[str], now: datetime) -> set[str]:
        """Keep that the conversation is told these facts; gives those that it was told before.

        What was told more than an hour ago is told again.

        Args:
            fact_ids: of facts that are told in full.
            now: the time now (UTC).
        """
        before = {i: at for i, at in self._told_at.items() if now - at <= CONVERSATION}
        self._told_at = dict.fromkeys(fact_ids, now) | before
        return {*before}

    def by_handle(self, text: str) -> str:
        """The text with handles in place of the ids of facts that were shown."""
        for fact_id, handle in self._handles.items():
            text = text.replace(fact_id, handle)
        return text

    def fact_id(self, name: str) -> str:
        """The fact of a handle that was shown.

        Raises:
            RelationError: none was.
        """
        plain = name.strip().strip("[]\"'").casefold()
        handle = plain if plain.startswith(HANDLE_SIGN) else HANDLE_SIGN + plain
        known_id = self._ids.get(handle)
        if known_id is None:
            raise RelationError(
                f"{name[:20]!r} is the handle of no fact that was shown in this conversation; "
                "recall what is known, and use a handle as it stands there"
            )
        return known_id
