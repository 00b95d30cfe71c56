"""Windows: a conversation in pieces that a model can read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.domain.records.sessions import Episode

__all__ = ["windows"]


def windows(
    episodes: Sequence[Episode], characters_max: int, overlap_count: int
) -> Iterator[tuple[Episode, ...]]:
    """The episodes in pieces that a model can read, each beginning with the last one's end.

    A window holds at least one episode that the one before did not, however long it is.

    Args:
        episodes: in their order.
        characters_max: about so many characters in one window.
        overlap_count: at most so many episodes are shown again, as context.
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
    """Where the next window begins: what is shown again takes at most half of it."""
    first, size = end, 0
    while first > 0 and end - first < count:
        size += len(episodes[first - 1].text)
        if size > characters_max:
            break
        first -= 1
    return first
