"""The turns of a transcript, of one conversation in it."""

from __future__ import annotations

from collections.abc import Iterable
from zoneinfo import ZoneInfo

from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.transcript_forms import chosen
from reconciler.service.sessions.transcripts import read_conversations, turns_in

ZONE = ZoneInfo("Europe/Berlin")
"""The zone of the exports that have none."""


def read_turns(lines: Iterable[str], conversation: str | None = None) -> list[Turn]:
    """The turns of the conversation with this id or title; None for the only one."""
    return turns_in(chosen(read_conversations(lines, ZONE), conversation))
