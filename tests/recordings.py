"""Recorded answers of a large language model to the prompts that are shipped.

They were given by a model that saw nothing but the prompt and the question, and stand for what such
a model answers; they are not the answers of the model that a user will have. A question without an
answer is collected, and is an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reconciler.adapters.model_arbiter import ANSWER_SHAPE, arbiter_prompt, data_of, judgement_of
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.errors import ArbiterAnswerError

__all__ = ["FOLDER", "RecordedJudge", "key_of_question", "read_answers"]

FOLDER = Path(__file__).parent / "recordings"


def read_answers(path: Path) -> dict[str, dict[str, Any]]:
    """The answers in a file, by the key of their question; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    told = map(json.loads, lines)
    return {line["key"]: line["answer"] for line in told}


def key_of_question(prompt: str, schema: object, data: object) -> str:
    """Hash of all known inputs of a model's answer."""
    asked = json.dumps([prompt, schema, data], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


class RecordedJudge:
    """An arbiter that answers from recordings, and collects what it has no answer to.

    Args:
        paths: files of recorded answers, a JSON object with ``key`` and ``answer`` a line.
    """

    name = "recorded/arbiter"

    def __init__(self, *paths: Path) -> None:
        self._answers: dict[str, Mapping[str, Any]] = {
            key: answer for path in paths for key, answer in read_answers(path).items()
        }
        self.asked = 0
        self.missing: dict[str, dict[str, Any]] = {}
        self.used: set[str] = set()

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.asked += 1
        data = data_of(note, neighbours)
        key = key_of_question(arbiter_prompt().text, ANSWER_SHAPE.model_json_schema(), data)
        if key not in self._answers:
            self.missing[key] = data
            raise ArbiterAnswerError(f"no answer is recorded for question {key}")
        self.used.add(key)
        return judgement_of(ANSWER_SHAPE.model_validate(self._answers[key]))

    def close(self) -> None:
        """Nothing to close."""
