"""Thirty-two agents at work for minutes: what each call takes, and what the processes take.

MINUTES=3 says how long, on each engine; OTHERS=300000, how many facts of other contacts the store
holds before, in hundreds. Every agent writes about contacts of its own and about some that all
share, recalls, hands sessions over, and has what was held confirmed, one call after the other, with
the packaged model; workers read what was handed over meanwhile. On the embedded engine all agents
are threads of one process, else of four. Facts change and are restated, so that a contact's live
facts stay few: what grows is a leak, or the engine's cache. Afterwards the graph is looked at:
whatever was acknowledged is there, no fact has two successors, and each session was read once.

JUDGE_MS=300 has a judge, which the real client of its API asks at a server on the loopback that
answers after so many milliseconds; JUDGE_CALLS is how many calls a minute a process may make.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.core_side import AGENT
from benchmarks.engines import Engines
from benchmarks.scale_side import Store
from benchmarks.sizes import IS_SHORT
from reconciler import Action, Memory, Turn, load_settings
from reconciler.errors import ReconcilerError
from tests import raw_store
from tests.anthropic_server import AnthropicServer, judgement
from tests.engines import EngineUnderTest

AGENTS = 32
PROCESSES = {"embedded": 1}
PROCESSES_SERVER = 4
WORKERS = 4
MINUTES = float(os.environ.get("MINUTES", "0.03" if IS_SHORT else "3"))
OTHERS = int(os.environ.get("OTHERS", "0"))
JUDGE_MS = float(os.environ.get("JUDGE_MS", "20" if IS_SHORT else "0"))
JUDGE_CALLS = int(os.environ.get("JUDGE_CALLS", "600"))
FACTS_OF_EACH = 100
READINGS = max(int(os.environ.get("READINGS", "5")), 2)
"""How often memory and handles are read: at the start, at the end, and evenly between."""

SEED = 20261124
OWN_CONTACTS, SHARED_CONTACTS = 4, 4
CITIES = ("Pune", "Goa", "Delhi", "Agra", "Mumbai", "Kochi")
FIRMS = ("Harbour Ltd", "Nordwind Ltd", "Castell Ltd", "Brook Ltd")
INVOICES = 25
TEAS = ("green tea", "black tea", "mint tea", "white tea", "rooibos tea", "fennel tea")
DRINKS = ("Likes {} in the morning.", "Enjoys a cup of {} in the mornings.", "Drinks {} at dawn.")
QUESTIONS = ("Where does she live?", "Which invoices are open?", "How do I reach her?")
SHARES = {"note": 45, "recall": 40, "hand-over": 5, "confirm": 10}

FORKS = "MATCH (x:Fact)<-[:SUPERSEDES]-(by:Fact) WITH x, count(by) AS n WHERE n > 1 RETURN 1"
MISCOUNTED = """
MATCH (x:Contact) OPTIONAL MATCH (x)<-[made:`FOR`]-(:Decision)
WITH x, count(made) AS decisions WHERE x.version <> decisions RETURN 1"""
DECISIONS = "MATCH (x:Decision) RETURN x.decision_id"
JOBS = "MATCH (x:Job) RETURN x.job_id, x.state, x.attempts"


@dataclass(frozen=True)
class Reading:
    """What a process takes at one moment."""

    rss_mb: float
    handles: int
    threads: int
    processor_seconds: float


@dataclass
class Worked:
    """What the agents of one process did; times in seconds, by the name of the call."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    decision_ids: set[str] = field(default_factory=set)
    job_ids: set[str] = field(default_factory=set)
    notes_of_agents: list[int] = field(default_factory=list)
    judged: Counter[str] = field(default_factory=Counter)
    readings: list[Reading] = field(default_factory=list)


def main(available: Engines) -> None:
    print(f"## {AGENTS} agents for {MINUTES:g} minutes on each engine, the real model\n")
    for name in available.names:
        before = os.getloadavg()[0]
        arguments = available.fresh(name)
        if OTHERS:
            _fill(arguments)
        count = PROCESSES.get(name, PROCESSES_SERVER)
        with ExitStack() as stack:
            asking = _asking_a_judge(stack) if JUDGE_MS else {}
            worked = _work(arguments | asking, count)
        drained = _drained(arguments)
        print(
            f"{name}: {count} processes; load {before:.1f} before, {os.getloadavg()[0]:.1f} after\n"
        )
        _print_calls(worked)
        _print_agents(worked)
        _print_readings(worked)
        _print_graph(EngineUnderTest(name, arguments), worked, drained)


def _asking_a_judge(stack: ExitStack) -> dict[str, Any]:
    """Settings that have a server on the loopback judge: whatever it is shown holds beside."""
    server = stack.enter_context(AnthropicServer())
    server.answers(judgement("coexists", None, "ADD").late(JUDGE_MS / 1000))
    asked = {"api_key": "loopback", "base_url": server.base_url}
    return {"arbiter": {**asked, "calls_per_minute_max": JUDGE_CALLS}}


def _fill(arguments: dict[str, Any]) -> None:
    """Facts of others, of which the embedded engine cannot hold all in memory."""
    started = time.monotonic()
    store = Store(arguments, None)
    store.fill(FACTS_OF_EACH, 1, OTHERS // FACTS_OF_EACH)
    store.memory.close()
    print(f"{OTHERS:,} facts of others in {time.monotonic() - started:.0f} s\n", flush=True)


def _work(arguments: dict[str, Any], count: int) -> list[Worked]:
    """What each process did, all of them having begun at once."""
    with Memory.open(load_settings(**arguments)):
        pass  # so that the store is made before they come
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(count)
    pipes, processes = [], []
    for number in range(count):
        told, telling = context.Pipe(duplex=False)
        agents = range(number, AGENTS, count)
        given = (telling, start, arguments, agents, max(WORKERS // count, 1))
        processes.append(context.Process(target=_process, args=given))
        processes[-1].start()
        telling.close()  # so that a process that ends early is noticed
        pipes.append(told)
    worked = [told.recv() for told in pipes]
    for each in processes:
        each.join()
    return worked


def _process(
    telling: Connection, start: Any, arguments: dict[str, Any], agents: range, workers: int
) -> None:
    worked = Worked()
    with Memory.open(load_settings(**arguments), warm_up=True) as memory:
        for _ in range(workers):
            memory.start_worker()
        _agent_at_work(memory, agents[0], 0.0)  # one call of each kind, so that all is loaded
        if OTHERS and arguments["graph"] == "embedded":
            memory.agent(AGENT).find(
                QUESTIONS[0]
            )  # it reads the vectors of all into the engine's cache
        start.wait()
        end_at = time.monotonic() + MINUTES * 60
        reading = threading.Thread(target=_read, args=(worked, end_at))
        reading.start()
        with ThreadPoolExecutor(len(agents)) as threads:
            for done in threads.map(lambda number: _agent_at_work(memory, number, end_at), agents):
                _add(worked, done)
        reading.join()
    telling.send(worked)


def _read(worked: Worked, end_at: float) -> None:
    for left in range(READINGS - 1, -1, -1):
        time.sleep(max(end_at - MINUTES * 60 * left / (READINGS - 1) - time.monotonic(), 0))
        status = dict(
            line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines()
        )
        handles = len(list(Path("/proc/self/fd").iterdir()))
        rss_mb = int(status["VmRSS"].split()[0]) / 1024
        threads, processor = int(status["Threads"]), time.process_time()
        worked.readings.append(Reading(rss_mb, handles, threads, processor))


def _add(to: Worked, done: Worked) -> None:
    for name, seconds in done.seconds.items():
        to.seconds[name] += seconds
    to.errors += done.errors
    to.decision_ids |= done.decision_ids
    to.job_ids |= done.job_ids
    to.judged += done.judged
    to.notes_of_agents.append(len(done.seconds["note"]))


def _agent_at_work(memory: Memory, number: int, end_at: float) -> Worked:
    """One agent, until it is time; at least one call of each kind where there is none."""
    agent = Agent(memory, number)
    chance = random.Random(SEED + number)
    calls = list(SHARES) if not end_at else _calls(chance, end_at)
    for name in calls:
        started = time.perf_counter()
        try:
            agent.calls[name](chance)
            agent.worked.seconds[name].append(time.perf_counter() - started)
        except ReconcilerError as error:
            agent.worked.errors[f"{name}: {type(error).__name__}: {error}"[:160]] += 1
    return agent.worked


def _calls(chance: random.Random, end_at: float) -> Iterator[str]:
    while time.monotonic() < end_at:
        yield from chance.choices(list(SHARES), list(SHARES.values()))


class Agent:
    """An agent and what it was acknowledged."""

    def __init__(self, memory: Memory, number: int) -> None:
        self._memory, self._number = memory, number
        self._count = 0
        self._held: list[tuple[str, str]] = []
        self.worked = Worked()
        self.calls: dict[str, Callable[[random.Random], None]] = {
            "note": self._note,
            "recall": self._recall,
            "hand-over": self._hand_over,
            "confirm": self._confirm,
        }

    def _contact(self, chance: random.Random) -> str:
        place = chance.randrange(OWN_CONTACTS + SHARED_CONTACTS)
        is_own = place < OWN_CONTACTS
        return f"contact-{self._number}-{place}" if is_own else f"contact-{place}"

    def _key(self) -> str:
        self._count += 1
        return f"{os.getpid()}-{self._number}-{self._count}-{time.monotonic_ns()}"

    def _note(self, chance: random.Random) -> None:
        contact, city = self._contact(chance), chance.choice(CITIES)
        said: dict[str, Any] = chance.choice(
            [
                {"text": f"Invoice {1000 + chance.randrange(INVOICES)} is unpaid."},
                {"text": f"Lives in {city}.", "attribute": "city", "value": city},
                *({"text": each.format(chance.choice(TEAS))} for each in DRINKS if JUDGE_MS),
            ]
        )
        self._keep(
            self._memory.add_contact_note("load", contact, idempotency_key=self._key(), **said)
        )

    def _recall(self, chance: random.Random) -> None:
        self._memory.contact("load", self._contact(chance)).recall(chance.choice(QUESTIONS))

    def _hand_over(self, chance: random.Random) -> None:
        said = f"Remember that my city is {chance.choice(CITIES)}."
        turns = [Turn(role="contact", text=said), Turn(role="agent", text="Noted.")]
        contact = self._contact(chance)
        self.worked.job_ids.add(
            self._memory.contact("load", contact).submit_session(self._key(), turns)
        )

    def _confirm(self, chance: random.Random) -> None:
        """Have a tool's word held, and the contact say yes to it; of nobody else's contacts."""
        contact, firm = f"contact-{self._number}-0", chance.choice(FIRMS)
        held = self._memory.add_contact_note(
            "load",
            contact,
            f"Works at {firm}.",
            attribute="employer",
            value=firm,
            source_kind="tool_output",
        )
        self._keep(held)
        if held.action is Action.HOLD:
            self._keep(self._memory.contact("load", contact).confirm(held.decision_id, "contact"))

    def _keep(self, decision: Any) -> None:
        self.worked.decision_ids.add(decision.decision_id)
        opinion = decision.opinion
        if opinion.arbiter is not None:
            answered = "remembered" if opinion.is_cached else "answered"
            self.worked.judged[opinion.error or answered] += 1


def _drained(arguments: dict[str, Any]) -> float:
    """Seconds until the rest of the queue was worked off."""
    started = time.monotonic()
    with Memory.open(**arguments) as memory:
        memory.drain()
    return time.monotonic() - started


def _print_calls(worked: list[Worked]) -> None:
    print("| call | made | per second | p50, ms | p99, ms | slowest, ms |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in SHARES:
        times = [second * 1000 for each in worked for second in each.seconds[name]]
        if len(times) > 1:
            p99 = quantiles(times, n=100)[98]
            print(
                f"| {name} | {len(times):,} | {len(times) / MINUTES / 60:.1f} "
                f"| {median(times):,.0f} | {p99:,.0f} | {max(times):,.0f} |"
            )
    errors = sum((each.errors for each in worked), Counter[str]())
    print(
        f"\n{errors.total()} errors", *(f"- {n} × {text}" for text, n in errors.items()), sep="\n"
    )


def _print_agents(worked: list[Worked]) -> None:
    notes = sorted(number for each in worked for number in each.notes_of_agents)
    print(f"\nnotes of an agent: {notes[0]} at least, {median(notes):g}, {notes[-1]} at most")
    judged = sum((each.judged for each in worked), Counter[str]())
    print(*(f"- judge: {number} × {what}" for what, number in judged.most_common()), sep="\n")


def _print_readings(worked: list[Worked]) -> None:
    print("\n| of the time | RSS, MB | file handles | threads | processor, s |")
    print("|--:|--:|--:|--:|--:|")
    for place in range(READINGS):
        readings = [each.readings[place] for each in worked]
        print(
            f"| {100 * place / (READINGS - 1):.0f} % "
            f"| {' + '.join(f'{each.rss_mb:.0f}' for each in readings)} "
            f"| {' + '.join(str(each.handles) for each in readings)} "
            f"| {' + '.join(str(each.threads) for each in readings)} "
            f"| {sum(each.processor_seconds for each in readings):.0f} |"
        )


def _print_graph(engine: EngineUnderTest, worked: list[Worked], drained: float) -> None:
    found = {row[0] for row in raw_store.query(engine, DECISIONS)}
    jobs = {row[0]: (row[1], row[2]) for row in raw_store.query(engine, JOBS)}
    decided = {each for one in worked for each in one.decision_ids}
    handed_over = {each for one in worked for each in one.job_ids}
    print(
        f"\nAfterwards: {len(decided - found)} of {len(decided):,} acknowledged decisions and "
        f"{len(handed_over - set(jobs))} of {len(handed_over):,} sessions are lost; "
        f"{sum(state != 'done' for state, _ in jobs.values())} jobs are not done and "
        f"{sum(attempts != 1 for _, attempts in jobs.values())} were begun more than once; "
        f"{len(raw_store.query(engine, FORKS))} facts have two successors and "
        f"{len(raw_store.query(engine, MISCOUNTED))} contacts a wrong version. "
        f"The rest of the queue took {drained:.0f} s.\n",
        flush=True,
    )
