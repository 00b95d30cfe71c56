"""Windows: a conversation in pieces that a model can read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.domain.records.sessions import Episode


def windows(
    episodes: Sequence[Episode], characters_max: int, overlap_count: int
) -> Iterator[tuple[Episode, ...]]:
    """The episodes in pieces that a model can read; each begins with the end of the one before.

    A window holds at least one new episode, even if that one is too long.

    Args:
        episodes: in their order.
        characters_max: characters in one window, about.
        overlap_count: episodes that are shown again as context, at most.
    """
    start, first_new = 0, 0
    while first_new < len(episodes):
        end, size = start, 0
        while end < len(episodes) and (
            end <= first_new or size + len(episodes[end].text) <= characters_max
        ):
            size += len(episodes[end].text)
            end += 1
        yield tuple(episodes[start:end])
        first_new = end
        start = _overlap_start(episodes, end, characters_max // 2, overlap_count)


def _overlap_start(episodes: Sequence[Episode], end: int, characters_max: int, count: int) -> int:
    """The start of the next window; repeated episodes take at most half of it."""
    first, size = end, 0
    while first > 0 and end - first < count:
        size += len(episodes[first - 1].text)
        if size > characters_max:
            break
        first -= 1
    return first
