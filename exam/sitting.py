"""One system sits the exam: its process is told the stories, asked, and killed where they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from exam.ends import Carried, Count, Stream, count
from exam.marking import SHOWN, Answer, mark
from exam.models import Recordings, model_server
from exam.stories import Story

__all__ = ["Marked", "System", "follow", "sit", "systems"]

FOLDER = Path(__file__).parent
RECALLED = 2 * SHOWN
"""Asked for, so that what a system marks as over does not push out what holds."""


class FailedError(Exception):
    """The system raised, or its process ended; the text is what it said."""


@dataclass(frozen=True, kw_only=True)
class System:
    """A row of ``systems.toml``."""

    key: str
    label: str
    adapter: str
    requirements: list[str]
    version: str
    needs_neo4j: bool = False
    needs_model: bool = False
    recordings: str = ""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Marked:
    """One ask of one story, and what came."""

    story: str
    kind: str
    mark: str
    ask: str
    answers: list[Answer]
    error: str = ""


def systems() -> list[System]:
    """All that can sit the exam."""
    rows = tomllib.loads((FOLDER / "systems.toml").read_text(encoding="utf-8"))
    return [System(key=key, **row) for key, row in rows.items()]


def sit(system: System, stories: list[Story], wanted: Path) -> Iterator[Marked]:
    """Tell every story and ask; a story whose prompts lack an answer on record gives nothing."""
    with _seated(system, wanted) as (process, recordings, folder):
        for story in stories:
            known = len(recordings.missing)
            marked = list(_one(process, recordings, story, folder))
            if len(recordings.missing) == known:
                yield from marked


def follow(system: System, streams: list[Stream], wanted: Path) -> Iterator[Count]:
    """Tell every stream note by note, and count what ended; ``sit`` says what gives nothing.

    Raises:
        FailedError: the system cannot say what it holds.
    """
    with _seated(system, wanted) as (process, recordings, _):
        for stream in streams:
            known = len(recordings.missing)
            lives = list(_lives(process, recordings, stream))
            if len(recordings.missing) == known:
                yield count(stream, lives)


def _lives(process: Process, recordings: Recordings, stream: Stream) -> Iterator[list[Carried]]:
    """What is held after each note, up to the first whose prompt has no answer on record."""
    known = len(recordings.missing)
    for note in stream.notes:
        at = datetime.now(UTC) - timedelta(days=note.days_ago)
        told = {"person": stream.contact, "text": note.say, "at": at.isoformat()}
        try:
            process.ask("tell", contact=stream.id, **told)
        except FailedError as failed:
            print(f"{stream.id}, note {note.n}: {failed}", file=sys.stderr)
        if len(recordings.missing) > known:
            return
        live = process.ask("live", contact=stream.id)["live"]
        if live is None:
            raise FailedError("its adapter does not say what is held as true now")
        yield live


@contextmanager
def _seated(system: System, wanted: Path) -> Iterator[tuple[Process, Recordings, Path]]:
    name = system.recordings or system.key
    recordings = Recordings(FOLDER / "recordings" / f"{name}.jsonl", wanted)
    with model_server(recordings) as url, TemporaryDirectory(prefix="exam-") as folder:
        config = {"folder": folder, "model_url": url, **system.options}
        if system.needs_neo4j:
            config["neo4j"] = _neo4j()
        process = Process(_python(system), system.adapter, config)
        try:
            yield process, recordings, Path(folder)
        finally:
            process.end()


def _one(process: Process, recordings: Recordings, story: Story, folder: Path) -> Iterator[Marked]:
    """The marks of a story, which is told up to the first prompt without an answer on record."""
    error, known = "", len(recordings.missing)
    try:
        for step in story.steps:
            _take(process, story, step)
            if len(recordings.missing) > known:
                return
    except FailedError as failed:
        error = str(failed)
    for ask in story.asks:
        answers: list[Answer] = []
        try:
            asked = {"contact": f"{story.id}-{ask.contact}", "question": ask.ask}
            answers = process.ask("recall", **asked, limit=RECALLED)["answers"]
        except FailedError as failed:
            error = error or str(failed)
        given, why = "failed" if error else mark(ask, answers), error
        if given == "right" and story.kind == "erasure" and _is_left(ask.wrong, folder):
            given, why = "wrong", "The words are left in the store's files."
        yield Marked(
            story=story.id, kind=story.kind, mark=given, ask=ask.ask, answers=answers, error=why
        )


def _take(process: Process, story: Story, step: dict[str, Any]) -> None:
    if "kill" in step:
        process.kill()
    elif "erase" in step:
        process.ask("erase", contact=f"{story.id}-{step['contact']}", about=step["erase"])
    elif "together" in step:
        process.ask("tell_together", notes=[_note(story, each) for each in step["together"]])
    else:
        process.ask("tell", **_note(story, step))


def _note(story: Story, step: dict[str, Any]) -> dict[str, str]:
    at = datetime.now(UTC) - timedelta(days=step.get("days_ago", 0))
    return {
        "contact": f"{story.id}-{step['contact']}",
        "person": step["person"],
        "text": step["say"],
        "at": at.isoformat(),
    }


def _is_left(words: list[str], folder: Path) -> bool:
    """Whether any of the words stand in a file of the store, as UTF-8."""
    sought = [re.compile(re.escape(each.encode()), re.IGNORECASE) for each in words]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return any(each.search(path.read_bytes()) for path in files for each in sought)


class Process:
    """The system's process. The first question starts it, and so does the next one after a kill."""

    def __init__(self, python: Path, adapter: str, config: dict[str, Any]) -> None:
        self._command = [str(python), str(FOLDER / "adapters" / f"{adapter}.py")]
        self._config, self._running = config, None
        self._started = 0

    _running: subprocess.Popen[str] | None

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """The system's answer.

        Raises:
            FailedError: it raised, or its process is gone.
        """
        process = self._process()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do} | arguments) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.kill()
            raise FailedError("its process ended")
        given: dict[str, Any] = json.loads(line)
        if "error" in given:
            raise FailedError(given["error"])
        return given

    def kill(self) -> None:
        """SIGKILL, if it runs."""
        if self._running is not None:
            os.killpg(self._running.pid, signal.SIGKILL)
            self._running.communicate()
            self._running = None

    def end(self) -> None:
        """Let it close what is open."""
        if self._running is not None:
            self._running.communicate(timeout=60)
            self._running = None

    def _process(self) -> subprocess.Popen[str]:
        if self._running is None:
            config = self._config | {"is_first": not self._started}
            self._started += 1
            log = Path(self._config["folder"]).parent / f"exam-{os.getpid()}.log"
            with log.open("a", encoding="utf-8") as errors:
                self._running = subprocess.Popen(
                    [*self._command, json.dumps(config)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    start_new_session=True,  # what it starts itself is killed with it
                )
        return self._running


def _neo4j() -> dict[str, str]:
    names = {"uri": "NEO4J_URI", "username": "NEO4J_USERNAME", "password": "NEO4J_PASSWORD"}
    if missing := [name for name in names.values() if name not in os.environ]:
        raise FailedError(f"it needs a Neo4j of its own: set {', '.join(missing)}")
    return {key: os.environ[name] for key, name in names.items()}


def _python(system: System) -> Path:
    """The Python of the system's environment, made when it is first needed."""
    if not system.requirements:
        return Path(sys.executable)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "memory-exam"
    folder = cache / re.sub(r"[^\w.]+", "-", "-".join(system.requirements))[:100]
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run_pip([*pip, *system.requirements])
        (folder / ".installed").touch()
    return python


def _run_pip(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(f"pip failed: {done.stderr.strip()[-300:]}")
