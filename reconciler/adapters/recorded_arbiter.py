"""The arbiter that answers from recordings of a model's answers to exactly the same questions.

An answer is kept under a hash of prompt, answer schema and question, so a changed prompt or schema
no longer finds its recordings. An answer shows what the recorded model said, not what a user's own
model would say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from reconciler.adapters.model_arbiter import ANSWER_SHAPE, arbiter_prompt, data_of, judgement_of
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.errors import ArbiterAnswerError

_DAYS = ("said_on", "true_since")


def key_of_question(prompt: str, schema: object, data: object) -> str:
    """The hash of all known inputs of a model's answer."""
    asked = json.dumps([prompt, schema, data], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


def answers_in(lines: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The answers by the key of their question, out of JSON lines with ``key`` and ``answer``."""
    told = (json.loads(line) for line in lines)
    return {line["key"]: line["answer"] for line in told}


class RecordedArbiter:
    """Judges by recorded answers, and collects the questions without one.

    Args:
        answers: by the key of their question.
        first_day: the day from which days were counted when the answers were recorded, for notes
            that are replayed on other days; None if the questions hold the days themselves.
    """

    name = "recorded/arbiter"

    def __init__(
        self, answers: Mapping[str, Mapping[str, Any]], first_day: date | None = None
    ) -> None:
        self._answers = answers
        self._first_day = first_day
        self.asked = 0
        self.missing: dict[str, dict[str, Any]] = {}
        self.used: set[str] = set()

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        """The recorded answer; see ``Arbiter.judge``."""
        self.asked += 1
        data = data_of(note, neighbours)
        for part in (data["note"], *data["facts"]):
            part |= {name: self._day(part[name]) for name in _DAYS if name in part}
        key = key_of_question(arbiter_prompt().text, ANSWER_SHAPE.model_json_schema(), data)
        if key not in self._answers:
            self.missing[key] = data
            raise ArbiterAnswerError(f"no answer is recorded for question {key}")
        self.used.add(key)
        return judgement_of(ANSWER_SHAPE.model_validate(self._answers[key]))

    def close(self) -> None:
        """Nothing to close."""

    def _day(self, day: str) -> str:
        if self._first_day is None:
            return day
        return f"day {(date.fromisoformat(day) - self._first_day).days}"
