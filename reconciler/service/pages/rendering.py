"""The common part of pages: templates that escape every text, and words for states.

A page needs nothing beside itself: no network, no script. Templates lie beside this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reconciler.domain.quoting import in_marks
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.review.timeline import caption_of, why_of
from reconciler.domain.visible_text import visible

WHOSE_WORD: Mapping[SourceKind, str] = {
    SourceKind.USER_EXPLICIT: "the contact",
    SourceKind.OPERATOR: "an operator",
    SourceKind.APPROVED_DOC: "an approved document",
    SourceKind.EXTRACTOR: "read from a conversation",
    SourceKind.TOOL_OUTPUT: "a tool",
    SourceKind.MODEL_GUESS: "a guess of the model",
}
_STANDINGS = {
    "live": "holds",
    "expired": "lapsed",
    "superseded": "ended",
    "revoked": "ended",
}


def render(template: str, **values: object) -> str:
    """A page: every text in it is escaped, and what cannot be seen stands there as an escape."""
    return _templates().get_template(template).render(values)


def moment(at: datetime | None) -> str:
    """A time for a reader, in UTC."""
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "an unknown time"


def standing_of(fact: Fact) -> str:
    """A fact's state, in a word or two."""
    return "never held" if fact.is_void else _STANDINGS.get(str(fact.state), str(fact.state))


@cache
def _templates() -> Environment:
    return environment()


def environment(*folders: Path) -> Environment:
    """Templates that escape every text, and show what is hidden in it.

    Args:
        folders: where they lie, beside those of this module.
    """
    made = Environment(
        autoescape=True,
        finalize=_shown,
        loader=FileSystemLoader([*folders, Path(__file__).parent]),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"moment": moment, "standing": standing_of, "in_marks": in_marks}
    made.globals |= {"whose_word": WHOSE_WORD, "caption": caption_of, "why": why_of}
    return made


def _shown(value: object) -> object:
    """A value with nothing hidden in it; what a macro made went through here by its parts."""
    return visible(str(value)) if not isinstance(value, Markup) else value
