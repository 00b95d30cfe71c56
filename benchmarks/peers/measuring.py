"""What is measured of one system: rounds of what takes time, then what is counted once."""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.peers import notes
from benchmarks.peers.environments import environment
from benchmarks.peers.neo4j_pair import Neo4jPair
from benchmarks.peers.notes import Note
from benchmarks.peers.results import Result
from benchmarks.peers.side_process import SideFailedError, SideProcess
from benchmarks.peers.systems import System
from benchmarks.sizes import sized
from tests.neo4j_server import say

__all__ = ["COLUMNS", "ROUNDS", "SHORT_COLUMNS", "Bench", "measure_once", "measure_round"]

ROUNDS = sized(3, 1, "PEERS_ROUNDS")
NOTES, QUESTIONS, ASKED_OF_ONE = sized(300, 6), sized(30, 3), 8
IMPORTED, IMPORT_CONTACTS = sized(200, 10), 20
OTHERS = sized(20_000, 100)
GROWTH_SECONDS_MAX, GROWTH_NOTES_MIN = 60.0, 20
FILL_SECONDS_MAX = 480.0
WRITERS, ROUNDS_OF_WRITERS = sized(16, 4), sized(5, 1)
KILLS, STARTED_AHEAD = sized(20, 2), 6
WARM_UP_SPARES, MEASURED_SPARES = range(1, 3), range(3, sized(10, 4))
IN_ROUNDS = ("latency", "recall", "import")
SHORT_COLUMNS = (*IN_ROUNDS, "changes")
COLUMNS = (*SHORT_COLUMNS, "copies", "lost", "background", "growth")


@dataclass
class Bench:
    """One system, its result, and the stores that it was given, which go with the folder."""

    system: System
    model_url: str
    folder: Path
    servers: Neo4jPair
    result: Result
    python: Path = Path(sys.executable)
    logs: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        if self.system.environment is not None:
            self.python = environment(self.system.environment)

    def new_store(self, number: int) -> dict[str, Any]:
        """An empty store of the kind that the system is made for; its first (0) or second (1)."""
        if self.system.store == "neo4j":
            reached = self.servers.emptied(number)
            return {"graph": "neo4j", "neo4j": reached} if self.system.is_ours else reached
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        if self.system.store == "embedded":
            return {"graph": "embedded", "embedded_path": str(folder / "memory.lbug")}
        return {"folder": str(folder)}

    def side(
        self, store: dict[str, Any], *, is_first: bool = False, is_judged: bool = False
    ) -> SideProcess:
        """One more process that drives the system on that store."""
        config = {
            "store": store,
            "door": self.system.door,
            "model_url": self.model_url,
            "person": notes.PERSON,
            "is_first": is_first,
            "is_judged": is_judged,
        }
        log = self.folder / f"{self.system.key}-{next(self.logs)}.log"
        return SideProcess(self.python, self.system.driver, config, log)


def measure_round(bench: Bench, columns: Collection[str], *, is_warm_up: bool) -> None:
    """One round on an empty store: the notes, questions by a new process, an import.

    A first round of a few notes, which nothing is kept of, warms the servers up for all systems.

    Raises:
        ServerNotAvailableError, ServerFailedError: there is no Neo4j here.
        SideFailedError: it did not open at all.
    """
    system = bench.system
    result = Result(system.key, system.label, system.door) if is_warm_up else bench.result
    store = bench.new_store(0)
    told = notes.distinct()[:: 15 if is_warm_up else 1][:NOTES]
    with bench.side(store, is_first=True) as side:
        _write_all([side], "warm-up", notes.spare(0))
        with _column(result, "latency"):
            _measure_writes(side, told, result)
    for name, measure in (("recall", _measure_recall), ("import", _measure_import)):
        if name in columns:
            with _column(result, name), bench.side(store) as side:
                measure(side, told, result)


def measure_once(bench: Bench, columns: Collection[str]) -> None:
    """What is counted, each in a store of its own; raises as ``measure_round`` does."""
    store = bench.new_store(0)
    with bench.side(store, is_first=True) as side:
        _write_all([side], "warm-up", notes.spare(0))
    for name, measure in _MEASURES.items():
        if name in columns and (name != "background" or bench.system.has_background_door):
            with _column(bench.result, name):
                measure(bench, store, bench.result)


@contextmanager
def _column(result: Result, name: str) -> Iterator[None]:
    """A column that cannot be measured says why, and the next one is tried."""
    started = time.monotonic()
    try:
        yield
    except SideFailedError as error:
        result.not_measured[name] = str(error)
        say(f"peers: {result.label}: {name} was not measured: {error}")
    else:
        say(f"peers: {result.label}: {name}, {time.monotonic() - started:.0f} s")


def _measure_growth(bench: Bench, _: dict[str, Any], result: Result) -> None:
    """The same writes in turn into a new store, which nobody else uses, and one with 20,000."""
    with (
        bench.side(bench.new_store(0), is_first=True) as few,
        bench.side(bench.new_store(1), is_first=True) as many,
    ):
        _write_all([few, many], "warm-up", notes.spare(0))
        # After the first writes: what was planned while the store was small is what counts.
        filled = many.ask("fill", count=OTHERS, within=FILL_SECONDS_MAX)
        result.fill_seconds = filled["fill"] / 1000
        for number in WARM_UP_SPARES:
            _write_all([few, many], f"warm-up-{number}", notes.spare(number))
        told = [note for number in MEASURED_SPARES for note in notes.spare(number)]
        of_few, of_many = _write_all([few, many], "growing", told, GROWTH_SECONDS_MAX)
    result.few_ms, result.many_ms, result.grown = median(of_few), median(of_many), len(of_few)


def _write_all(
    sides: Sequence[SideProcess],
    contact: str,
    told: Sequence[Note],
    seconds_max: float = FILL_SECONDS_MAX,
) -> list[list[float]]:
    """Milliseconds, each side's, of the writes taken in turn, as many as the time allows."""
    times: list[list[float]] = [[] for _ in sides]
    deadline = time.monotonic() + seconds_max
    for number, note in enumerate(told):
        if number >= GROWTH_NOTES_MIN and time.monotonic() > deadline:
            break
        for side, of_side in zip(sides, times, strict=True):
            of_side.append(side.ask("write", contact=contact, note=note.as_json)["write"])
    return times


def _measure_writes(side: SideProcess, told: Sequence[Note], result: Result) -> None:
    """The notes, each beside an embedding and a bare insert; then what is live of them."""
    for note in notes.spare(1):
        side.ask("round", contact="warm-up", note=note.as_json)
    rounds = [side.ask("round", contact="contact", note=note.as_json) for note in told]
    live = _live(side, "contact")
    result.remarks += side.ask("remarks")["remarks"]
    result.embedding_ms.append(median(each["embedding"] for each in rounds))
    result.insert_ms.append(median(each["insert"] for each in rounds))
    result.write_ms.append(median(each["write"] for each in rounds))
    result.told = len(told)
    result.kept = sum(1 for note in told if _key(note.text) in live)


def _measure_recall(side: SideProcess, told: Sequence[Note], result: Result) -> None:
    """Questions to a process that has just opened the store; then what memory it holds."""
    asked = told[-QUESTIONS:]
    side.ask("open")
    answers = [
        side.ask("recall", contact="contact", question=_question(note), count=ASKED_OF_ONE)
        for note in asked
    ]
    result.memory_mib.append(side.ask("memory")["memory"])
    result.first_recall_ms.append(answers[0]["recall"])
    result.recall_ms.append(median(each["recall"] for each in answers[1:]))
    result.asked = len(asked)
    result.found = sum(
        _key(note.text) in map(_key, answer["texts"])
        for note, answer in zip(asked, answers, strict=True)
    )


def _question(note: Note) -> str:
    return f"What do we know about {note.thing}?"


def _measure_import(side: SideProcess, _: Sequence[Note], result: Result) -> None:
    told = [note for number in range(len(notes.SPARE)) for note in notes.spare(number)][:IMPORTED]
    lines = [
        {"contact": f"imported-{number % IMPORT_CONTACTS}", "note": note.as_json}
        for number, note in enumerate(told)
    ]
    result.import_ms.append(
        side.ask("load", told=lines, within=FILL_SECONDS_MAX)["load"] / len(told)
    )


def _measure_changes(bench: Bench, store: dict[str, Any], result: Result) -> None:
    """What comes first for a question when a note has replaced another, and whether both come."""
    changes = notes.changes()[: sized(20, 3)]
    with bench.side(store, is_judged=True) as side:
        for number, change in enumerate(changes):
            for note in (change.before, change.after):
                side.ask("write", contact=f"changed-{number}", note=note.as_json)
        recalled = [
            side.ask("recall", contact=f"changed-{number}", question=change.question, count=5)
            for number, change in enumerate(changes)
        ]
    given = [[_key(text) for text in answer["texts"]] for answer in recalled]
    result.changes = len(changes)
    result.newest_first = sum(
        _key(change.after.text) in texts and texts[0] == _key(change.after.text)
        for change, texts in zip(changes, given, strict=True)
    )
    result.stale_shown = sum(
        _key(change.before.text) in texts for change, texts in zip(changes, given, strict=True)
    )


def _measure_copies(bench: Bench, store: dict[str, Any], result: Result) -> None:
    if bench.system.serves_many:
        _measure_processes(bench, store, result)
    else:
        with bench.side(store) as side:
            _measure_threads(side, result)


def _measure_threads(side: SideProcess, result: Result) -> None:
    result.writers = "threads"
    for number in range(ROUNDS_OF_WRITERS):
        note, contact = notes.raced(number), f"raced-{number}"
        given = side.ask("crowd", contact=contact, note=note.as_json, count=WRITERS)
        _count_copies(side, contact, note, given["errors"], result)


def _measure_processes(bench: Bench, store: dict[str, Any], result: Result) -> None:
    result.writers = "processes"
    with ExitStack() as running:
        writers = [running.enter_context(bench.side(store)) for _ in range(WRITERS)]
        for writer in writers:  # a first write opens what a package opens late
            writer.ask("write", contact="warm-up", note=notes.spare(0)[0].as_json)
        for number in range(ROUNDS_OF_WRITERS):
            note, contact, errors = notes.raced(number), f"raced-{number}", list[str]()
            together = time.time() + 0.5
            for writer in writers:
                writer.tell("write", contact=contact, note=note.as_json, at=together)
            for writer in writers:
                errors += _error_of(lambda writer=writer: writer.answer(within=180))
            _count_copies(writers[0], contact, note, errors, result)


def _error_of(call: Callable[[], object]) -> list[str]:
    try:
        call()
    except SideFailedError as error:
        return [str(error)]
    return []


def _count_copies(
    side: SideProcess, contact: str, note: Note, errors: list[str], result: Result
) -> None:
    texts = side.ask("live", contact=contact)["texts"]
    result.copies.append(sum(1 for text in texts if _key(text) == _key(note.text)))
    result.failed_writers += len(errors)
    if errors:
        result.remarks.append(f"a writer failed: {errors[0]}")


def _measure_kills(bench: Bench, store: dict[str, Any], result: Result) -> None:
    """Processes that write one note each and are killed as soon as the call has returned."""
    told = [notes.acknowledged(number, "live") for number in range(KILLS)]
    _tell_and_kill(bench, store, "write", "killed", told)
    with bench.side(store) as side:
        live = _live(side, "killed")
    result.kills = KILLS
    result.lost = sum(1 for note in told if _key(note.text) not in live)


def _measure_background_kills(bench: Bench, store: dict[str, Any], result: Result) -> None:
    """The same by the background door; what was handed over is read after the last kill."""
    told = [notes.acknowledged(number, "background") for number in range(KILLS)]
    _tell_and_kill(bench, store, "hand_over", "handed", told)
    with bench.side(store) as side:
        side.ask("drain", within=300)
        texts = side.ask("live", contact="handed")["texts"]
    # The reader says the same in the third person, so what counts is the boat.
    result.lost_background = sum(1 for note in told if not any(note.thing in t for t in texts))


def _tell_and_kill(
    bench: Bench, store: dict[str, Any], do: str, contact: str, told: list[Note]
) -> None:
    """Each note by a process of its own; some start ahead, yet open the store in their turn."""
    with ExitStack() as started:
        waiting: deque[SideProcess] = deque()
        for number, note in enumerate(told):
            while len(waiting) < min(STARTED_AHEAD, len(told) - number):
                side = bench.side(store)
                started.callback(side.kill)
                waiting.append(side)
            side = waiting.popleft()
            side.ask(do, contact=contact, note=note.as_json)
            side.kill()


def _live(side: SideProcess, contact: str) -> set[str]:
    return {_key(text) for text in side.ask("live", contact=contact)["texts"]}


def _key(text: str) -> str:
    """A text as it is compared with what was told; some systems leave the full stop out."""
    return text.strip().rstrip(".").casefold()


_MEASURES: dict[str, Callable[[Bench, dict[str, Any], Result], None]] = {
    "changes": _measure_changes,
    "copies": _measure_copies,
    "lost": _measure_kills,
    "background": _measure_background_kills,
    "growth": _measure_growth,
}
