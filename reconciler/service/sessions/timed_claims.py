"""From when and until when the claims of a session hold, by their own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from reconciler.domain.records.candidates import Candidate
from reconciler.domain.records.kinds import OWN_WORDS
from reconciler.domain.values.ends import SaidTimes, said_times
from reconciler.errors import InvalidNoteError
from reconciler.service.writing.doors import beginning, ending_at, over_in_words
from reconciler.service.writing.submissions import Submission


def as_said(
    candidate: Candidate, now: datetime, judge: Callable[[Candidate], Submission]
) -> Candidate:
    """The candidate with the first and last day that its words name, or those that it quotes.

    The end of a claim that ends other facts may be theirs, and is not read.

    Args:
        candidate: a claim of a session.
        now: the time now (UTC).
        judge: says how a candidate would be stored.

    Raises:
        InvalidNoteError: by its words it was over before it was said, or a person would be asked
            about something that is over.
    """
    times = next((times for times in _times(candidate) if times != SaidTimes()), SaidTimes())
    candidate = replace(candidate, note=beginning(candidate.note, times.begins_at))
    ends_others = candidate.relations is not None and bool(candidate.relations.ends)
    if times.ends_at is None or ends_others:
        return candidate
    if times.ends_at <= candidate.note.holds_from:
        raise InvalidNoteError(over_in_words(times.ends_at))
    ending_at(candidate, times.ends_at, now, judge, is_committed_later=True)
    return replace(candidate, holds_until=times.ends_at)


def _times(candidate: Candidate) -> Iterator[SaidTimes]:
    yield said_times(candidate.claim, candidate.note.said_at)
    for said in reversed(candidate.evidence):
        if said.source_kind in OWN_WORDS:
            yield from (said_times(span, said.said_at) for span in said.quoted)
