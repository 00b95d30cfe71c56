"""The closed lists that notes, facts and decisions share: whose word, what kind, how careful.

Only enumerations live here, each beneath everything that uses it; what follows from a word is said
where it follows.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Category", "RecallSemantics", "Sensitivity", "SourceKind", "Speech"]


class SourceKind(StrEnum):
    """Whose word the evidence is, from the most to the least trusted."""

    USER_EXPLICIT = "user_explicit"
    OPERATOR = "operator"
    APPROVED_DOC = "approved_doc"
    EXTRACTOR = "extractor"
    TOOL_OUTPUT = "tool_output"
    MODEL_GUESS = "model_guess"

    def is_trusted_less_than(self, other: SourceKind) -> bool:
        """Whether this word yields to the other's."""
        order = tuple(SourceKind)
        return order.index(self) > order.index(other)


class Category(StrEnum):
    """What kind of thing a note says. Source: seeds 000 and 001."""

    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    """Also a standing constraint: both hold until somebody revokes them."""
    PROCEDURE = "procedure"
    SUMMARY = "summary"
    VOLATILE = "volatile"
    """What is better asked live than remembered."""


class RecallSemantics(StrEnum):
    """How recall presents a fact. Source: seed 000."""

    DEFAULT = "default"
    CONSTRAINT = "constraint"
    """It binds whatever is done."""
    NEGATIVE = "negative"
    """It names what is not to be done."""


class Sensitivity(StrEnum):
    """How carefully a fact is to be handled. Source: seed 001, section 12."""

    NONE = "none"
    LOW = "low"
    PII = "pii"
    PHI = "phi"
    SECRET = "secret"  # noqa: S105


class Speech(StrEnum):
    """How the cited words were meant."""

    LITERAL = "literal"
    HYPOTHETICAL = "hypothetical"
    ROLEPLAY = "roleplay"
    SARCASTIC = "sarcastic"
