"""Have any model answer what the judge is asked about changes in other languages; keep its answers.

python -m benchmarks.record_languages write FOLDER   what has no recorded answer yet, as files
python -m benchmarks.record_languages read FOLDER    keeps the answers that were put beside them

In ``FOLDER/a/judge`` and so on stands ``system.txt``, what the model is told and the schema of its
answer, and for each question ``NNN.prompt.txt``, what it is shown; ``NNN.answer.json`` is to be the
answer. The questions are in no order, and each is to be answered by itself.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.languages import ANSWERS, changes, judged_memory
from benchmarks.natural import became
from benchmarks.record_sessions import ENDS, KINDS, add_line
from reconciler.adapters.answer_reading import read_answer
from reconciler.adapters.structured_calls import fenced
from tests.engines import embedded_engine
from tests.recordings import RecordedJudge, key_of_question

JUDGE = KINDS["judge"]
PARTS = "abcd"
SEED = 7


def open_questions() -> list[Mapping[str, Any]]:
    """What the judge is asked that no answer is on record to, shuffled."""
    judge = RecordedJudge(ANSWERS)
    with (
        tempfile.TemporaryDirectory() as folder,
        judged_memory(embedded_engine(Path(folder)).settings_arguments, judge) as memory,
    ):
        for row in changes():
            became(memory, row, judge)
    found = list(judge.missing.values())
    random.Random(SEED).shuffle(found)
    return found


def write(folder: Path) -> None:
    """Write all open questions into a new folder."""
    found = open_questions()
    for number, data in enumerate(found):
        place = folder / PARTS[number % len(PARTS)] / "judge"
        place.mkdir(parents=True, exist_ok=True)
        (place / "system.txt").write_text(JUDGE.system, encoding="utf-8")
        (place / f"{number:03}{ENDS[0]}").write_text(fenced(data), encoding="utf-8")
    print(f"{len(found)} questions have no recorded answer yet")


def read(folder: Path) -> None:
    """Keep the answers in a folder.

    Raises:
        UnreadableAnswerError: one cannot be used; the text says what is wrong with it.
    """
    kept = 0
    for prompt in sorted(folder.glob(f"*/judge/*{ENDS[0]}")):
        if prompt.with_name("system.txt").read_text(encoding="utf-8") != JUDGE.system:
            raise SystemExit(f"{prompt.parent}: the prompt or the schema is another one by now")
        answer = Path(str(prompt).replace(*ENDS))
        if answer.is_file():
            kept += _keep(prompt.read_text(encoding="utf-8"), answer.read_text(encoding="utf-8"))
    print(f"{kept} answers were new and are kept")


def _keep(shown: str, said: str) -> bool:
    data = json.loads(shown.removeprefix("<data>").removesuffix("</data>"))
    answer = read_answer(said, JUDGE.shape).model_dump(mode="json")
    key = key_of_question(JUDGE.prompt.text, JUDGE.shape.model_json_schema(), data)
    return add_line(ANSWERS, {"key": key, "question": data, "answer": answer})


def main() -> None:
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["read", folder]:
            read(Path(folder))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
