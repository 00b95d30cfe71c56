"""The stories: what is told, in order, and what is true at the end.

One JSON object a line::

    {"id": "change-01", "kind": "change", "writer": "a", "steps": [...], "asks": [...]}

A step is one of

* ``{"days_ago": 40, "contact": "ana", "person": "Ana Reis", "say": "I live in Porto."}``,
* ``{"together": [{"contact": …, "person": …, "say": …}, …]}``, said by several writers at once,
* ``{"erase": "what her doctor said", "contact": "ana"}``, a wish that must be granted to the byte,
* ``{"kill": true}``, SIGKILL ends the process once the step before is taken; it is started again.

An ask is ``{"contact": "ana", "ask": "Where does Ana live?", "right": [["Lisbon"]], "wrong":
["Porto"]}``: of each list in ``right`` one wording must be found, none of ``wrong`` may be told as
true.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["KINDS", "Ask", "Story", "StoryError", "read_stories"]

KINDS = {
    "change": "a fact changes",
    "correction": "a fact never held",
    "retraction": "a fact ends, and nothing follows it",
    "return": "an earlier value holds again",
    "temporary": "a value for a while, now over or now on",
    "late": "told later than it happened",
    "sibling": "two facts of a kind, both hold",
    "third person": "the same said of another person",
    "erasure": "a wish to forget",
    "two writers": "two writers at once",
    "kill": "the process is killed",
}


class StoryError(ValueError):
    """A line that is no story; the text names the line and what is wrong with it."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question after the last step."""

    contact: str
    ask: str
    right: list[list[str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Story:
    """What is told of one or two contacts, and what is asked then."""

    id: str
    kind: str
    steps: list[dict[str, Any]]
    asks: list[Ask]
    writer: str = ""


def read_stories(path: Path, kinds: set[str] | None = None) -> list[Story]:
    """The stories of a file, in its order.

    Raises:
        StoryError: a line is no story of this form.
    """
    stories = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            story = _story(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoryError(f"{path.name}, line {number}: {error!r}") from error
        if kinds is None or story.kind in kinds:
            stories.append(story)
    doubled = {each.id for each in stories if sum(each.id == other.id for other in stories) > 1}
    if doubled:
        raise StoryError(f"{path.name}: two stories have the id {min(doubled)}")
    return stories


def _story(row: dict[str, Any]) -> Story:
    asks = [Ask(**each) for each in row.pop("asks")]
    story = Story(asks=asks, **row)
    if story.kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {story.kind}")
    for step in story.steps:
        if not {"say", "together", "erase", "kill"} & step.keys():
            raise ValueError(f"a step says, erases or kills: {step}")
    for ask in asks:
        if not (ask.right or ask.wrong):
            raise ValueError(f"nothing is right or wrong as an answer to {ask.ask!r}")
        if any(isinstance(each, str) for each in ask.right):
            raise ValueError(f"right is a list of lists: {ask.right}")
    return story
