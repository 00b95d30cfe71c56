"""Closed words of what a reading answers: kind of note, way it binds, way it was meant. Pure."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """What kind of thing a note says; each kind has floors and a lifetime in the policy."""

    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    """Also a standing constraint: both hold until a person revokes them."""
    PROCEDURE = "procedure"
    SUMMARY = "summary"
    OUTCOME = "outcome"
    """The outcome of a task, compared with other outcomes only: it says nothing about a person."""
    VOLATILE = "volatile"
    """Something better asked live than remembered."""


class RecallSemantics(StrEnum):
    """How recall presents a fact: a rule that reads like a remark is overlooked."""

    DEFAULT = "default"
    CONSTRAINT = "constraint"
    """It binds whatever is done."""
    NEGATIVE = "negative"
    """It names what is not to be done."""


class Speech(StrEnum):
    """How the cited words were meant."""

    LITERAL = "literal"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    SARCASTIC = "sarcastic"
    QUOTED = "quoted"
    """Another's words, which the turn only passes on."""
