"""Recorded answers of a large language model about sessions: the shipped extractor, played again.

A recording is found by a hash of prompt, answer schema and what the window shows but for the known
facts. Those stand as texts beside the answer: another wording in one fact leaves the recording, and
a relation to a fact that is not there any more is dropped and counted. What was recorded about
texts that are not shipped is sealed: it can be read only where those texts are.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.adapters.model_extractor import ModelExtractor
from reconciler.adapters.structured_calls import (
    Connection,
    Question,
    Reply,
    Vendor,
)
from reconciler.domain.sessions.extraction import Extraction, Window
from reconciler.errors import ExtractionUnavailableError
from tests.recordings import FOLDER, key_of_question

__all__ = ["SESSIONS", "Asked", "RecordedAnswer", "RecordedExtractor", "line_of", "read_recordings"]

SESSIONS = FOLDER / "sessions"
"""Answers about conversations of our own writing, whole."""

_NOWHERE = Connection(api_key="none", model="recorded", timeout_seconds=60, retries_max=0)


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer, and the texts of the facts that were shown for it, in their order."""

    known: tuple[str, ...]
    answer: dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What a model is asked about a window.

    Attributes:
        prompt, schema: what it is told, and what it is to answer in.
        data: what it is shown.
    """

    prompt: str
    schema: Mapping[str, Any]
    data: Mapping[str, Any]

    @property
    def known(self) -> tuple[str, ...]:
        """The texts of the known facts."""
        return tuple(fact["text"] for fact in self.data.get("known", ()))

    @property
    def key(self) -> str:
        """Under which answers are kept, whatever was known."""
        return key_of_question(self.prompt, self.schema, self._turns())

    @property
    def seal(self) -> str:
        """What opens a sealed answer: the turns themselves."""
        return json.dumps(self._turns(), sort_keys=True, ensure_ascii=False)

    def _turns(self) -> dict[str, Any]:
        return {name: shown for name, shown in self.data.items() if name != "known"}


def line_of(asked: Asked, answer: Mapping[str, Any], *, is_sealed: bool) -> dict[str, Any]:
    """A recording as a line of a file; sealed where its texts are not shipped."""
    recorded = {"known": list(asked.known), "answer": dict(answer)}
    if not is_sealed:
        return {"key": asked.key, **recorded}
    plain = zlib.compress(json.dumps(recorded, ensure_ascii=False).encode(), 9)
    salt = hashlib.sha256(plain).hexdigest()[:16]  # no two recordings are sealed alike
    sealed = base64.b64encode(_masked(plain, salt + asked.seal)).decode()
    return {"key": asked.key, "salt": salt, "sealed": sealed}


def read_recordings(*paths: Path) -> dict[str, list[dict[str, Any]]]:
    """The lines of files, by the key of their question; none where there is no file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in filter(Path.is_file, paths):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            found.setdefault(line["key"], []).append(line)
    return found


class RecordedExtractor(ModelExtractor):
    """The shipped extractor with recorded answers in a server's place.

    Args:
        paths: files of recordings, an object a line.
        reads_known: whether it is shown what is known.
        goes_on: collect windows without an answer, and give for each what was read in it when
            nothing was known, or nothing; else such a window is an error.

    Attributes:
        missing: what no answer is recorded to, by key and known facts.
        used: the keys of the answers that were given.
        shown_otherwise: windows that were shown other facts than when they were recorded.
        dropped: relations to facts that were not shown now.
    """

    def __init__(self, *paths: Path, reads_known: bool = True, goes_on: bool = False) -> None:
        self._server = _Recordings(read_recordings(*paths), goes_on=goes_on)
        self._goes_on = goes_on
        vendor = Vendor(
            package="openai", requirement="", speaks="a recorded answer", open=self._server.open
        )
        super().__init__(vendor, _NOWHERE)
        self.reads_known = reads_known
        self.missing = self._server.missing
        self.used = self._server.used

    @property
    def shown_otherwise(self) -> int:
        return self._server.shown_otherwise

    @property
    def dropped(self) -> int:
        return self._server.dropped

    def extract(self, window: Window) -> Extraction:
        before = len(self.missing)
        try:
            return super().extract(window)
        except ExtractionUnavailableError:
            if self._goes_on and len(self.missing) > before:
                return Extraction()
            raise


class NotRecordedError(TimeoutError):
    """No answer is recorded to what was asked, so that none comes."""


class _Recordings:
    """A client that answers from recordings."""

    def __init__(self, lines: Mapping[str, Sequence[Mapping[str, Any]]], *, goes_on: bool) -> None:
        self._lines, self._goes_on = lines, goes_on
        self._question: Question[Any] | None = None
        self.missing: dict[tuple[str, tuple[str, ...]], Asked] = {}
        self.used: set[str] = set()
        self.shown_otherwise = self.dropped = 0

    def open(self, connection: Connection, question: Question[Any]) -> _Recordings:
        self._question = question
        return self

    async def reply(self, data: Mapping[str, Any]) -> Reply:
        assert self._question is not None
        schema = self._question.answer.model_json_schema()
        asked = Asked(self._question.prompt.text, schema, data)
        recordings = [_opened(line, asked) for line in self._lines.get(asked.key, ())]
        recording = _closest(recordings, asked.known)
        if recording is None:
            self.missing[asked.key, asked.known] = asked
            recording = _closest(recordings, ()) if self._goes_on else None
        if recording is None:
            raise NotRecordedError
        self.used.add(asked.key)
        self.shown_otherwise += set(recording.known) != set(asked.known)
        return Reply(text=json.dumps(self._mapped(recording, asked.known), ensure_ascii=False))

    async def close(self) -> None:
        """Nothing to close."""

    def _mapped(self, recording: RecordedAnswer, known: Sequence[str]) -> dict[str, Any]:
        """The answer with the numbers that its facts have now."""
        numbers = {text: number for number, text in enumerate(known, start=1)}
        now = {
            then: numbers[text]
            for then, text in enumerate(recording.known, start=1)
            if text in numbers
        }
        gone = set(range(1, len(recording.known) + 1)) - now.keys()
        candidates = []
        for candidate in recording.answer["candidates"]:
            repeats = candidate["repeats"]
            named = [*candidate["replaces"], *candidate["ends"], *([repeats] if repeats else [])]
            self.dropped += sum(number in gone for number in named)
            relations = {
                "replaces": _renumbered(candidate["replaces"], now, gone),
                "repeats": next(iter(_renumbered([repeats] if repeats else [], now, gone)), None),
                "ends": _renumbered(candidate["ends"], now, gone),
            }
            candidates.append(candidate | relations)
        return recording.answer | {"candidates": candidates}


def _renumbered(numbers: Sequence[int], now: Mapping[int, int], gone: set[int]) -> list[int]:
    """A number that no fact had when it was recorded must name none today."""
    return [now.get(number, -1) for number in numbers if number not in gone]


def _opened(line: Mapping[str, Any], asked: Asked) -> RecordedAnswer:
    if "sealed" in line:
        plain = _masked(base64.b64decode(line["sealed"]), line["salt"] + asked.seal)
        line = json.loads(zlib.decompress(plain))
    return RecordedAnswer(tuple(line["known"]), line["answer"])


def _closest(recordings: Sequence[RecordedAnswer], known: Sequence[str]) -> RecordedAnswer | None:
    """The one that was shown most of the same facts; what was shown none answers for none only."""
    fitting = [each for each in recordings if bool(each.known) or not known]
    return max(
        fitting,
        key=lambda each: (
            len(set(each.known) & set(known)) - len(set(each.known) ^ set(known)) / 1000
        ),
        default=None,
    )


def _masked(content: bytes, secret: str) -> bytes:
    """Sealed, or opened again: combined with bytes that only the secret gives."""
    stream = hashlib.shake_256(secret.encode()).digest(len(content))
    return bytes(a ^ b for a, b in zip(content, stream, strict=True))
