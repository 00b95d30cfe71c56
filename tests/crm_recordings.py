"""Have any model answer as the agent of ``examples/crm_agent.py``, turn by turn; keep its answers.

python -m tests.crm_recordings FOLDER

It keeps the answer that was put into ``FOLDER``, if there is one, holds the conversations as far as
answers are on record, and writes down the next question: in ``DAY.system.txt`` what the model is
told, the tools among it, and how an answer is written; in ``DAY.TURN.messages.json`` the
conversation so far, with what the tools returned. ``DAY.TURN.answer.json`` is to be the answer; run
it again then, until nothing is open. Answers are kept in ``examples/crm_answers.json``.

An answer is asked for again if the model saw anything else than it would see now.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anthropic

# The examples are scripts, and import each other by name.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from crm_agent import MODEL, Held, hold_all
from crm_conversations import Story
from recorded_claude import ANSWERS, RecordedClaude, hash_of, what_is_missing

__all__ = ["RecordingClaude", "played"]

HOW_TO_ANSWER = """# How to answer

You are the model. The messages of the conversation so far are in the file that you are given. Give
your next message as one JSON object and nothing else:

{"text": "what you say; may be empty beside calls", "calls": [{"name": "a tool", "input": {}}]}

With calls, you are shown what each of them returned, and asked again. Without any, the text goes to
the customer. Use nothing but what stands in this file and in the messages.
"""


class RecordingClaude(RecordedClaude):
    """Answers that are on record, or lie in a folder; the first question without one goes there.

    Args:
        folder: where questions are written and answers are looked for.
        path: where the answers are kept.
    """

    def __init__(self, folder: Path, path: Path = ANSWERS) -> None:
        super().__init__(path)
        self._folder, self._path = folder, path

    def find(self, day: str, turn: int, request: Mapping[str, Any]) -> Mapping[str, Any]:
        recorded = self.answers.setdefault(day, [])
        if turn < len(recorded) and recorded[turn]["shown"] == hash_of(request):
            return dict(recorded[turn])
        recorded[turn:] = [{"shown": hash_of(request), **self._given(day, turn, request)}]
        kept = json.dumps(self.answers, ensure_ascii=False, indent=1)
        self._path.write_text(f"{kept}\n", encoding="utf-8")
        return dict(recorded[turn])

    def _given(self, day: str, turn: int, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer in the folder.

        Raises:
            LookupError: there is none to just this question, or it cannot be used.
        """
        system, messages, answer = (
            self._folder / name
            for name in (
                f"{day}.system.txt",
                f"{day}.{turn + 1:02}.messages.json",
                f"{day}.{turn + 1:02}.answer.json",
            )
        )
        told = f"{request['system']}\n\n# Tools\n\n{_json(request['tools'])}\n\n{HOW_TO_ANSWER}"
        asked = {system: told, messages: _json(_readable(request["messages"]))}
        same = all(
            path.is_file() and path.read_text("utf-8") == text for path, text in asked.items()
        )
        if not same:
            answer.unlink(missing_ok=True)  # it was given to another question
            for path, text in asked.items():
                path.write_text(text, encoding="utf-8")
        if not answer.is_file():
            raise LookupError(f"read {system} and {messages}, and write {answer}")
        return _read(answer)


def played(claude: RecordedClaude) -> Iterator[Held]:
    """The conversations, held again in a new memory.

    Raises:
        anthropic.NotFoundError: an answer is missing; its text says which.
    """
    with tempfile.TemporaryDirectory() as folder, claude, claude.client() as client:
        yield from hold_all(client, Story.read(), Path(folder) / "memory.lbug", MODEL)


def _read(path: Path) -> dict[str, Any]:
    """An answer.

    Raises:
        LookupError: it cannot be used.
    """
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
        text, calls = answer["text"], answer["calls"]
        calls = [{"name": call["name"], "input": dict(call["input"])} for call in calls]
    except (ValueError, TypeError, KeyError) as error:
        raise LookupError(f"{path} cannot be used: {error!r}") from error
    if not isinstance(text, str) or not (text or calls):
        raise LookupError(f"{path} cannot be used: it has neither a text nor a call")
    return {"text": text, "calls": calls}


def _readable(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without what an SDK's version adds to a block."""
    return [
        each | {"content": [{k: v for k, v in block.items() if v is not None} for block in blocks]}
        if isinstance(blocks := each["content"], list)
        else each
        for each in messages
    ]


def _json(shown: Any) -> str:
    return json.dumps(shown, ensure_ascii=False, indent=1)


def main() -> None:
    [folder] = map(Path, sys.argv[1:]) if len(sys.argv) == 2 else sys.exit(__doc__)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for held in played(RecordingClaude(folder)):
            sys.stdout.write(f"{held.conversation.at:%Y-%m-%d}: all is answered\n")
    except anthropic.NotFoundError as error:
        sys.exit(what_is_missing(error))
    sys.stdout.write("Nothing is open.\n")


if __name__ == "__main__":
    main()
