"""What handing a session over costs the caller, against a bare CREATE of the same episodes.

Measured warm, in one process and in turn: a session that is new, the same again, and the same with
two turns more; with nobody reading, and while a worker in this process reads with an extractor
whose server is slow, is down, or is none at all. Here stands no figure: each run measures both.
"""

from __future__ import annotations

import logging
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle, pairwise
from statistics import median, quantiles
from typing import Any

import neo4j

from benchmarks.core_side import RandomEmbedder
from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import Job, Session
from reconciler.settings import load_settings
from tests.anthropic_server import AnthropicServer, extraction

TURNS, MORE_TURNS = 12, 2
ROUNDS, CONTACTS = sized(150, 4), 30
WARM_UP_ROUNDS = {"embedded": sized(20, 2)}
WARM_UP_ROUNDS_SERVER = 400
TARGET = 3.0
SLOW_SECONDS = 1.0
STARTED_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)

NEW, AGAIN, MORE = "a new session", "the same again", f"the same and {MORE_TURNS} turns more"

BARE_CREATE = """
CREATE (session:Session) SET session = $given.session
WITH session UNWIND $given.episodes AS row
CREATE (episode:Episode)-[:`IN`]->(session) SET episode = row"""

BARE_CREATE_EMBEDDED = """
CREATE (session:Session {session_key: $session_key, session_id: $session_id, channel: $channel,
                         started_at: $at, ended_at: $at})
WITH session UNWIND $episodes AS row
CREATE (:Episode {episode_id: row.episode_id, role: row.role, text: row.text, said_at: row.said_at,
                  source_kind: row.source_kind, source_reference: row.source_reference,
                  position: row.position, is_cleaned: row.is_cleaned, job_id: row.job_id})
       -[:`IN`]->(session)"""


@dataclass(frozen=True)
class Reading:
    """Who reads what was handed over, in a thread of this process; None for nobody."""

    name: str
    extractor: Mapping[str, Any] | None


@dataclass(frozen=True)
class Sample:
    """Milliseconds of every call, the baseline's and each hand-over's, round by round."""

    bare: list[float]
    handed_over: dict[str, list[float]]


def main(available: Engines) -> None:
    conversations = rows("conversations.jsonl")
    sessions = _generated() if conversations is None else _real(conversations)
    origin = "generated text" if conversations is None else "real conversations"
    length = median(sum(len(turn.text) for turn in each[:TURNS]) for each in sessions)
    print(f"## handing over a session of {TURNS} turns, {origin}, {length:,.0f} characters\n")
    print("| engine | worker reads with | handed over | bare CREATE, ms | hand-over, ms | ratio |")
    print("|---|---|---|--:|--:|--:|")
    logging.disable(logging.WARNING)  # the worker's, of the server that is down
    try:
        for name in available.names:
            for line in _lines(available, name, sessions):
                print(line, flush=True)
    finally:
        logging.disable(logging.NOTSET)
    print(f"\nMedians, first to third quartile in brackets. At most {TARGET:g} is wanted.\n")


def _lines(available: Engines, name: str, sessions: Sequence[Sequence[Turn]]) -> Iterator[str]:
    with _readings() as readings:
        for reading in readings:
            arguments = available.fresh(name)
            sample = _measure(arguments, reading, sessions, _warm_up_rounds(name, reading))
            for kind, times in sample.handed_over.items():
                ratio = median(times) / median(sample.bare)
                shown = f"{_spread(sample.bare)} | {_spread(times)} | **{ratio:.2f}**"
                yield f"| {name} | {reading.name} | {kind} | {shown} |"


@contextmanager
def _readings() -> Iterator[list[Reading]]:
    """Nobody, an extractor whose server sleeps, one whose server is down, and one without any."""
    with AnthropicServer() as slow:
        slow.answers(extraction().late(SLOW_SECONDS))
        yield [
            Reading("(no worker)", None),
            Reading("a server that is slow", {"api_key": "loopback", "base_url": slow.base_url}),
            Reading("a server that is down", {"api_key": "loopback", "base_url": _nobody()}),
            Reading("the offline extractor", {"mode": "explicit"}),
        ]


def _nobody() -> str:
    """An address at which nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def _warm_up_rounds(name: str, reading: Reading) -> int:
    if reading.extractor is not None:  # the server has been warm since the first
        return WARM_UP_ROUNDS["embedded"]
    return WARM_UP_ROUNDS.get(name, WARM_UP_ROUNDS_SERVER)


def _measure(
    arguments: dict[str, Any],
    reading: Reading,
    sessions: Sequence[Sequence[Turn]],
    warm_up_rounds: int,
) -> Sample:
    settings = load_settings(**arguments, extractor=dict(reading.extractor or {}))
    with Memory.open(settings, embedder=RandomEmbedder()) as memory:
        bench = Rounds(memory, sessions)
        if reading.extractor is not None:
            _begin_to_read(memory, bench)
        for _ in range(warm_up_rounds):
            bench.run()
        bench.forget()
        for _ in range(ROUNDS):
            bench.run()
        return bench.sample


class Rounds:
    """Rounds of one baseline and three hand-overs, each of a session that nobody has seen yet."""

    def __init__(self, memory: Memory, sessions: Sequence[Sequence[Turn]]) -> None:
        self._memory = memory
        self._contacts = cycle(f"contact-{number}" for number in range(CONTACTS))
        self._turns = cycle(sessions)
        self._create = _bare_create(memory)
        self.forget()

    def forget(self) -> None:
        """Keep none of the times so far."""
        self.sample = Sample([], {NEW: [], AGAIN: [], MORE: []})

    def run(self) -> None:
        """One round; the baseline is handed its episodes ready made."""
        contact, session_id, turns = next(self._contacts), str(uuid.uuid4()), next(self._turns)
        bare = self._parameters(contact, f"bare-{session_id}", turns[:TURNS])
        self.sample.bare.append(_milliseconds(lambda: self._create(bare)))
        for kind, said in ((NEW, turns[:TURNS]), (AGAIN, turns[:TURNS]), (MORE, turns)):
            hand_over = partial(self._submit, contact, session_id, said)
            self.sample.handed_over[kind].append(_milliseconds(hand_over))

    def submit_one(self) -> Callable[[], Job]:
        """What tells how the job of one session stands, outside of the rounds."""
        contact = next(self._contacts)
        job_id = self._submit(contact, str(uuid.uuid4()), next(self._turns)[:TURNS])
        return lambda: self._memory.contact("benchmark", contact).job(job_id)

    def _submit(self, contact: str, session_id: str, turns: Sequence[Turn]) -> str:
        return self._memory.contact("benchmark", contact).submit_session(session_id, turns)

    def _parameters(self, contact: str, session_id: str, turns: Sequence[Turn]) -> dict[str, Any]:
        scope = Scope(self._memory.settings.tenant, "benchmark", contact)
        session = Session(scope=scope, session_id=session_id, turns=turns)
        reader = self._memory._services.session_reader
        episodes = [
            {
                "episode_id": each.episode_id,
                "role": str(each.role),
                "text": each.text,
                "said_at": each.said_at,
                "source_kind": str(each.role.source_kind),
                "source_reference": each.reference,
                "position": each.position,
                "is_cleaned": each.is_cleaned,
                "job_id": session_id,
            }
            for each in reader.episodes(session, datetime.now(UTC))[0]
        ]
        return {
            "session": {
                "session_key": scope.session_key(session_id),
                "session_id": session_id,
                "channel": "chat",
                "started_at": turns[0].said_at,
                "ended_at": turns[-1].said_at,
            },
            "episodes": episodes,
        }


def _bare_create(memory: Memory) -> Callable[[dict[str, Any]], None]:
    """The baseline: one auto-commit statement through the memory's own driver."""
    graph: Any = memory._services.fact_store.graph.graph
    if graph.engine == "embedded":
        return lambda given: _create_embedded(graph, given)

    def create(given: dict[str, Any]) -> None:
        with graph._drivers.newest.session(
            database=graph._database,
            default_access_mode=neo4j.WRITE_ACCESS,
            bookmark_manager=graph._bookmarks,
        ) as session:
            session.run(BARE_CREATE, given=given).consume()

    return create


def _create_embedded(graph: Any, given: dict[str, Any]) -> None:
    session = given["session"]
    parameters = {
        **{name: session[name] for name in ("session_key", "session_id", "channel")},
        "at": session["started_at"].replace(tzinfo=None),
        "episodes": [
            {**each, "said_at": each["said_at"].replace(tzinfo=None)} for each in given["episodes"]
        ],
    }
    with graph._writer() as connection:
        connection.execute(BARE_CREATE_EMBEDDED, parameters).close()


def _begin_to_read(memory: Memory, bench: Rounds) -> None:
    """A worker that has begun: what it needs is loaded, and its first job was tried."""
    job_now = bench.submit_one()
    memory.start_worker()
    while not (job := job_now()).last_error and job.state is not JobState.DONE:
        time.sleep(0.05)


def _real(conversations: list[dict[str, Any]]) -> list[list[Turn]]:
    """The sessions that are long enough, each followed by the beginning of the next."""
    roles = {"user": "contact", "assistant": "agent"}
    said = [
        [(roles[turn["role"]], turn["text"], turn["turn_id"]) for turn in session["turns"]]
        for conversation in conversations
        for session in conversation["sessions"]
        if len(session["turns"]) >= TURNS
    ]
    return [_timed([*one[:TURNS], *following[:MORE_TURNS]]) for one, following in pairwise(said)]


def _generated() -> list[list[Turn]]:
    """Where the conversations are missing: turns of their usual length, each of its own words."""
    return [
        _timed(
            [
                (
                    "agent" if turn % 2 else "contact",
                    f"Call {number}, turn {turn}. " * 50,
                    f"{turn}",
                )
                for turn in range(TURNS + MORE_TURNS)
            ]
        )
        for number in range(50)
    ]


def _timed(said: Sequence[tuple[str, str, str]]) -> list[Turn]:
    return [
        Turn(role=role, text=text, reference=reference, said_at=STARTED_AT + timedelta(minutes=at))
        for at, (role, text, reference) in enumerate(said)
    ]


def _spread(times: Sequence[float]) -> str:
    first, middle, third = quantiles(times, n=4)
    return f"{middle:.2f} [{first:.2f}–{third:.2f}]"


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
