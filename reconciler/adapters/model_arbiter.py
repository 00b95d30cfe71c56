"""The arbiter that asks a model. Its prompt: ``config/prompts/arbiter.md``.

Here: the data sent about a note and its neighbours, and the meaning of an answer.
``reconciler.adapters.structured_calls`` makes, bounds and translates the calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, model_validator

from reconciler.adapters.answer_reading import LaxInt, OneOrMany, Share, word_of
from reconciler.adapters.structured_calls import (
    Connection,
    Failures,
    Prompt,
    Question,
    StructuredCalls,
    Vendor,
    day_of,
    filed,
    read_prompt,
)
from reconciler.domain.records.decisions import Judgement, Usage
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import TOLD_RELATIONS, Action, Relation, SourceKind
from reconciler.domain.records.notes import Note, Slot
from reconciler.errors import ArbiterAnswerError, ArbiterRefusedError, ArbiterUnavailableError
from reconciler.resources import resource_path

ANSWER_TOKENS_MAX = 1024
"""Room for three sentences of reasoning several times over; a longer answer is not used."""

REASONING_LENGTH_MAX = 1000
"""Characters of reasoning that are kept; the API enforces no length in a schema."""

FAILURES = Failures(
    # No write waits for an arbiter: the rule decides without it.
    unavailable=lambda text, _: ArbiterUnavailableError(text),
    refused=ArbiterRefusedError,
    answer=ArbiterAnswerError,
)


_Told = StrEnum("Relation", {each.name: each.value for each in TOLD_RELATIONS})  # type: ignore[misc]
_Told.__doc__ = Relation.__doc__
"""The relations that a model may choose from; a low confidence says that it is unsure."""

_LATER = (Action.CITE, Action.MERGE)
_Decided = StrEnum("Action", {each.name: each.value for each in Action if each not in _LATER})  # type: ignore[misc]
_Decided.__doc__ = Action.__doc__
"""The actions in the schema that a model sees; it has seen them since before the others."""


class _Answer(BaseModel):
    """The answer's schema. Reasoning comes first: a verdict before it is a guess.

    Not every API enforces a schema, and none the bounds on a number; they are checked here.
    """

    model_config = ConfigDict(extra="forbid")

    reasoning: str
    relation: Annotated[_Told, word_of(_Told)]
    target: Annotated[int | None, LaxInt]
    also: Annotated[list[Annotated[int, LaxInt]], OneOrMany]
    action: Annotated[_Decided, word_of(_Decided)]
    confidence: Share

    @model_validator(mode="before")
    @classmethod
    def _without_more(cls, given: Any) -> Any:
        """Fill in ``also``, which an answer may leave out if it names no further fact."""
        return {"also": [], **given} if isinstance(given, dict) else given


class ModelArbiter(StructuredCalls[_Answer]):
    """Judges by one structured message to a model, from any thread.

    Connects at the first judgement.

    The first judgement imports the SDK, 1 to 2 seconds that its time-out does not count.

    Args:
        vendor: defines the protocol that is spoken.
        connection: where calls go; its time-out is for the whole judgement, retries included.

    Raises:
        ConfigurationError: the prompt has no version.
    """

    def __init__(self, vendor: Vendor, connection: Connection) -> None:
        asked = Question(arbiter_prompt(), _Answer, ANSWER_TOKENS_MAX, FAILURES)
        super().__init__(vendor, connection, asked)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """Relation of the note to its neighbours; see ``Arbiter.judge``."""
        return judgement_of(*self.ask(data_of(note, neighbours)))


ANSWER_SHAPE = _Answer
"""The schema of a model's answer."""


def judgement_of(answer: _Answer, usage: Usage | None = None) -> Judgement:
    """An answer as a judgement."""
    return Judgement(
        reasoning=answer.reasoning[:REASONING_LENGTH_MAX],
        relation=Relation(answer.relation),
        target=answer.target,
        also=tuple(answer.also),
        action=Action(answer.action),
        confidence=answer.confidence,
        usage=usage,
    )


def arbiter_prompt() -> Prompt:
    """Arbiter's prompt, the same for every protocol.

    Raises:
        ConfigurationError: the prompt has no version.
    """
    return read_prompt(resource_path("config") / "prompts" / "arbiter.md")


def data_of(note: Note, neighbours: Sequence[Neighbour]) -> dict[str, Any]:
    """Write note and facts as the model sees them: only texts, days, sources and slots."""
    return {
        "note": {
            "text": note.text,
            "said_on": day_of(note.said_at),
            # A slot that was only read from the words adds nothing for a reader of them, and may be
            # wrong.
            **_circumstances(
                note.holds_from, note.trust, None if note.slot_read_from else note.slot
            ),
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
    return {"true_since": day_of(holds_from), "source": str(source), **filed(slot)}


class RecordedArbiter:
    """Gives recorded answers to the recorded questions, by their texts, and to no other.

    Args:
        lines: a JSON object each, with the texts of ``note`` and ``facts``, and the ``answer``.
    """

    name = "recorded/arbiter"

    def __init__(self, lines: Iterable[str]) -> None:
        told = map(json.loads, lines)
        self._answers = {(line["note"], *line["facts"]): line["answer"] for line in told}

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """Recorded answer; see ``Arbiter.judge``."""
        answer = self._answers.get((note.text, *(fact.text for fact in neighbours)))
        if answer is None:
            raise ArbiterAnswerError(f"no answer is recorded about {note.text!r}")
        return judgement_of(_Answer.model_validate(answer))

    def close(self) -> None:
        """Nothing to close."""
