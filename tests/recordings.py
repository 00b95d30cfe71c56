"""Recorded answers of a large language model to the prompts that are shipped.

They were given by a model that saw nothing but the prompt and the question, and stand for what such
a model answers; they are not the answers of the model that a user will have. A question without an
answer is collected, and is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reconciler.adapters.model_arbiter import RecordedArbiter, answers_in, key_of_question

__all__ = ["FOLDER", "RecordedJudge", "key_of_question", "read_answers"]

FOLDER = Path(__file__).parent / "recordings"


def read_answers(path: Path) -> dict[str, dict[str, Any]]:
    """The answers in a file, by the key of their question; none where there is no file."""
    return answers_in(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else {}


class RecordedJudge(RecordedArbiter):
    """An arbiter that answers from recordings, and collects what it has no answer to.

    Args:
        paths: files of recorded answers, a JSON object with ``key`` and ``answer`` a line.
    """

    def __init__(self, *paths: Path) -> None:
        super().__init__(
            {key: answer for path in paths for key, answer in read_answers(path).items()}
        )
