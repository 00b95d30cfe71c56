"""The arbiter that asks Claude. What it is told stands in ``config/prompts/arbiter.md``.

Here: what is sent about a note and its neighbours, and what an answer means. How a call is made,
bounded and translated stands in ``reconciler.adapters.anthropic_calls``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reconciler.adapters.anthropic_calls import (
    Connection,
    Failures,
    Question,
    StructuredCalls,
    read_prompt,
)
from reconciler.domain.records.decisions import Action, Judgement, Relation
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note
from reconciler.domain.records.slots import Slot
from reconciler.errors import ArbiterAnswerError, ArbiterRefusedError, ArbiterUnavailableError
from reconciler.resources import resource_path

__all__ = ["AnthropicArbiter"]

ANSWER_TOKENS_MAX = 1024
"""Room for three sentences of reasoning several times over; an answer that needs more is none."""

REASONING_LENGTH_MAX = 1000
"""Characters of reasoning that are kept; the API enforces no length in a schema."""

_FAILURES = Failures(
    # Nobody waits for an arbiter: the rule decides without it.
    unavailable=lambda text, _: ArbiterUnavailableError(text),
    refused=ArbiterRefusedError,
    answer=ArbiterAnswerError,
)


class _Answer(BaseModel):
    """The answer's schema. Reasoning comes first: a verdict before it is a guess.

    The API enforces no bounds on a number; they are checked here.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    reasoning: str
    relation: Relation
    target: int | None
    also: list[int] = Field(default_factory=list)
    action: Action
    confidence: float = Field(ge=0, le=1)


class AnthropicArbiter:
    """Judges by one structured message to Claude, from any thread; opens nothing before the first.

    The first judgement imports the SDK, 1 to 2 seconds that its time-out does not count.

    Args:
        connection: where calls go; its time-out is for the whole judgement, retries included.

    Raises:
        ConfigurationError: the prompt has no version.
    """

    def __init__(self, connection: Connection) -> None:
        prompt = read_prompt(resource_path("config") / "prompts" / "arbiter.md")
        self.name = f"{connection.model}/arbiter-v{prompt.version}"
        self._calls = StructuredCalls(
            connection,
            Question(
                prompt=prompt,
                answer=_Answer,
                answer_tokens_max=ANSWER_TOKENS_MAX,
                failures=_FAILURES,
            ),
        )

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """How the note relates to the neighbours; the port says what is promised."""
        answer, usage = self._calls.ask(_data(note, neighbours))
        return Judgement(
            reasoning=answer.reasoning[:REASONING_LENGTH_MAX],
            relation=answer.relation,
            target=answer.target,
            action=answer.action,
            confidence=answer.confidence,
            also=tuple(answer.also),
            usage=usage,
        )

    def close(self) -> None:
        """End what is under way and close the connections; a later judgement opens them again."""
        self._calls.close()


def _data(note: Note, neighbours: Sequence[Neighbour]) -> dict[str, Any]:
    """Note and facts as the model sees them: texts, days, sources and slots only."""
    return {
        "note": {
            "text": note.text,
            "said_on": _day(note.said_at),
            **_circumstances(note.holds_from, note.trust, note.slot),
        },
        "facts": [
            {
                "number": number,
                "text": neighbour.text,
                **_circumstances(neighbour.valid_from, neighbour.trust, neighbour.slot),
            }
            for number, neighbour in enumerate(neighbours, start=1)
        ],
    }


def _circumstances(holds_from: datetime, source: SourceKind, slot: Slot | None) -> dict[str, str]:
    return {"true_since": _day(holds_from), "source": str(source), **_filed(slot)}


def _filed(slot: Slot | None) -> dict[str, str]:
    if slot is None:
        return {}
    named = {"subject": slot.subject, "attribute": slot.attribute, "value": slot.shown_value}
    return {name: value for name, value in named.items() if value is not None}


def _day(time: datetime) -> str:
    return time.astimezone(UTC).date().isoformat()
