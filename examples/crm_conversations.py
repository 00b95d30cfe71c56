"""The customer's side of ``crm_agent.py``: what she says, and what should be known afterwards.

Here: the conversations as data, and how a memory is compared with them. What is expected was
written before any model answered. Never here: how the agent works.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

__all__ = ["CONVERSATIONS", "Conversation", "Story"]

CONVERSATIONS = Path(__file__).with_name("crm_conversations.toml")
OVER = re.compile(
    r"\b(no longer|not|no|never|nothing|only|instead of|in (the )?place of|rather than|until|left"
    r"|was|were|former|formerly|previous|ended|stop\w*|cancel\w*|dropped|moved|bought|replaced|succeeds|corrected"
    r"|(tak|took)\w* (over|back)|handed|gave up|wrong\w*|misread|mistake"
    r"|retract\w*|withdr\w+|denie[sd])\b",
    re.IGNORECASE,
)
"""Words of a fact that tells of an end; such a fact may name what has ended."""


@dataclass(frozen=True)
class Conversation:
    """One conversation.

    Attributes:
        at: when it begins.
        about: what it is there for.
        says: what the customer says, one message after the other.
        known: words that one line of what is known must have together.
        gone: words that no line may have together, unless it tells of an end.
        answers: words that the agent's last message must have.
    """

    at: datetime
    about: str
    says: Sequence[str]
    known: Sequence[Sequence[str]]
    gone: Sequence[Sequence[str]]
    answers: Sequence[str] = ()

    def faults(self, lines: Sequence[str], answer: str) -> list[str]:
        """How what is known after the conversation differs from what should be; empty if right.

        Args:
            lines: the live facts, and the values of the profile.
            answer: the agent's last message.
        """
        missing = [words for words in self.known if not _having(lines, words)]
        stale = [
            line for words in self.gone for line in _having(lines, words) if not OVER.search(line)
        ]
        unsaid = [word for word in self.answers if not _having([answer], [word])]
        return [
            *(f"not known: {' + '.join(words)}" for words in missing),
            *(f"still known: {line}" for line in dict.fromkeys(stale)),
            *(f"not in the answer: {word}" for word in unsaid),
        ]


@dataclass(frozen=True)
class Story:
    """All conversations of a contact, in the order of time."""

    contact_id: str
    conversations: Sequence[Conversation]

    @classmethod
    def read(cls, path: Path = CONVERSATIONS) -> Story:
        """The story of a file."""
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        return cls(told["contact"], [Conversation(**each) for each in told["conversation"]])


def _having(lines: Sequence[str], words: Sequence[str]) -> list[str]:
    return [
        line
        for line in lines
        if all(re.search(rf"\b({word})", line, re.IGNORECASE) for word in words)
    ]
