"""Real sessions through the background door: what the gate lets in, and what is live afterwards.

Each knowledge-update conversation of LongMemEval is one contact; its sessions are handed over in
time order and read, once by a server that answers from the conversation's evidence turns and once
by the offline extractor, whose figures are given for each half of the conversations: its phrasings
were written on one of them only. Only counts are printed, never a word of a conversation.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from benchmarks.data import HALVES, half_of, rows
from benchmarks.engines import Engines
from benchmarks.pair_slots import GivenSlot, SlotSource
from reconciler import Memory
from reconciler.bootstrap.chosen_models import build_embedder, build_extractor
from reconciler.config_files import load_attribute_book
from reconciler.domain.recalling.history import restated_beneath
from reconciler.domain.records.candidates import Turn
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Action, JobState
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import Outcomes, Session
from reconciler.domain.sessions.extraction import Extraction, Window
from reconciler.ports.embedder import Embedder
from reconciler.ports.extractor import Extractor
from reconciler.settings import Settings, load_settings
from tests.anthropic_server import AnthropicServer, Reply, Request, candidate, extraction

AGENT, ENGINE = "benchmark", "embedded"
ROLES = {"user": "contact", "assistant": "agent"}
SENTENCE = re.compile(r"\S.*?(?:[.!?]+(?=\s|$)|$)", re.MULTILINE)
WORD = re.compile(r"\d+|\w{3,}")
"""What two texts may have in common; shorter words say nothing about what a text is about."""

CITED = """
MATCH (contact:Contact {contact_key: $contact_key})<-[:ABOUT]-(fact:Fact)
WITH fact MATCH (fact)-[:EVIDENCED_BY]->(episode:Episode)
RETURN fact.fact_id, episode.source_reference"""

LIVE, RESTATED, ENDED = "live", "in the newest's fact", "superseded"
HELD, REFUSED, NOT_READ = "held", "refused", "not proposed"
STATES = (LIVE, RESTATED, ENDED, HELD, REFUSED, NOT_READ)


@dataclass(frozen=True)
class Reading:
    """Who reads, under which thresholds, and which half of the conversations; None for all."""

    name: str
    profile: str
    is_scripted: bool
    has_slots: bool = False
    half: str | None = None

    def reads(self, contact_id: str) -> bool:
        """Whether the conversation is one of those that are read."""
        return self.half in (None, half_of(contact_id))


READINGS = (
    Reading("scripted, with slots", "seed", is_scripted=True, has_slots=True),
    Reading("scripted, without slots", "seed", is_scripted=True),
    Reading("scripted, with slots", "minilm", is_scripted=True, has_slots=True),
    Reading("scripted, without slots", "minilm", is_scripted=True),
    *(Reading(f"offline, {half}", "seed", is_scripted=False, half=half) for half in HALVES),
)


@dataclass(frozen=True)
class Conversation:
    """One conversation and the turns that hold the answer to its question.

    Attributes:
        contact_id: whose it is.
        sessions: their ids, times and turns, in time order.
        evidence: the ids of the turns, the oldest first; none where the question has no answer.
        asked: the words of the question and its answer.
        slots: what an extractor would give beside the text, by turn.
    """

    contact_id: str
    sessions: Sequence[tuple[str, datetime, Sequence[Turn]]]
    evidence: Sequence[str]
    asked: frozenset[str]
    slots: Mapping[str, GivenSlot]


@dataclass
class Report:
    """What became of all conversations under one reading.

    Attributes:
        unfinished: jobs that were not done in the end.
        outcomes: what became of the candidates.
        reasons: of the gate's refusals and questions.
        facts: live, superseded, and those that recall gives.
        newest, older: where the evidence of the questions is, the newest turn's and the one's
            before it.
        beside: how often both are live, each in a fact of its own.
        seconds: of the worker; ``reading_seconds`` of them went to the extractor.
    """

    reading: Reading
    sessions: int = 0
    windows: int = 0
    unfinished: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    newest: Counter[str] = field(default_factory=Counter)
    older: Counter[str] = field(default_factory=Counter)
    beside: int = 0
    seconds: float = 0.0
    reading_seconds: float = 0.0


class CountingExtractor:
    """Another extractor, its windows counted and its time taken."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self.windows, self.seconds = 0, 0.0

    @property
    def name(self) -> str:
        return self._extractor.name

    def extract(self, window: Window) -> Extraction:
        self.windows += 1
        started = time.perf_counter()
        try:
            return self._extractor.extract(window)
        finally:
            self.seconds += time.perf_counter() - started

    def close(self) -> None:
        self._extractor.close()


class Script:
    """What the scripted server answers about one conversation: a claim for each evidence turn.

    The claim is the turn's sentence that has most words in common with the question and its
    answer, as it stands when personal data was taken out of it.
    """

    def __init__(self, memory: Memory, conversation: Conversation, *, has_slots: bool) -> None:
        reader = memory._services.session_reader
        scope = Scope(memory.settings.tenant, AGENT, conversation.contact_id)
        self._claims: dict[str, dict[str, Any]] = {}
        for session_id, at, turns in conversation.sessions:
            session = Session(scope=scope, session_id=session_id, turns=turns, started_at=at)
            episodes, _ = reader.episodes(session, datetime.now(UTC))
            for each in reader.clean(scope, episodes):
                if each.reference in conversation.evidence:
                    slot = conversation.slots.get(str(each.reference)) if has_slots else None
                    self._claims[each.text] = _claim(each.text, conversation.asked, slot)

    def reply(self, request: Request) -> Reply:
        """One candidate for each evidence turn that the window shows."""
        return extraction(
            *(
                {
                    **self._claims[each["text"]],
                    "citations": [
                        {"episode": each["number"], "span": self._claims[each["text"]]["text"]}
                    ],
                }
                for each in request.data["episodes"]
                if each["text"] in self._claims
            )
        )


def main(available: Engines) -> None:
    found, pairs = rows("conversations.jsonl"), rows("note_pairs.jsonl")
    if found is None or pairs is None:
        return
    conversations = changed_conversations(found, pairs)
    embedder = build_embedder(load_settings())
    embedder.warm_up()
    logging.disable(logging.WARNING)  # a candidate that cannot be used is counted, not quoted
    try:
        reports = [_report(available, each, conversations, embedder) for each in READINGS]
    finally:
        logging.disable(logging.NOTSET)
        embedder.close()
    _print(reports, conversations)


def changed_conversations(
    found: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]] = ()
) -> list[Conversation]:
    """The conversations in which something changes, in their order.

    Args:
        found: all conversations.
        pairs: the pairs of notes that slots are taken from; none gives no slots.
    """
    by_id = {pair["id"]: pair for pair in pairs if pair["source"] == "longmemeval_ku"}
    return [_conversation(each, by_id) for each in found if _is_update(each)]


def _report(
    available: Engines, reading: Reading, conversations: Sequence[Conversation], embedder: Embedder
) -> Report:
    report = Report(reading)
    with ExitStack() as stack:
        server = stack.enter_context(AnthropicServer())
        settings = _settings(available, reading, server)
        extractor = CountingExtractor(build_extractor(settings, load_attribute_book(None)))
        stack.callback(extractor.close)
        memory = stack.enter_context(Memory.open(settings, embedder=embedder, extractor=extractor))
        _warm_up(memory, server)
        extractor.windows, extractor.seconds = 0, 0.0
        for each in filter(lambda each: reading.reads(each.contact_id), conversations):
            script = Script(memory, each, has_slots=reading.has_slots)
            server.answers_with(script.reply)
            _read(memory, each, report)
            _look(memory, each, report)
        report.windows, report.reading_seconds = extractor.windows, extractor.seconds
    return report


def _settings(available: Engines, reading: Reading, server: AnthropicServer) -> Settings:
    scripted = {"api_key": "loopback", "base_url": server.base_url}
    return load_settings(
        **available.fresh(ENGINE),
        extractor=scripted if reading.is_scripted else {"mode": "explicit"},
        reconcile={"profile": reading.profile},
    )


def _warm_up(memory: Memory, server: AnthropicServer) -> None:
    """Remember something of somebody else's, so that no import and no pattern is in the time."""
    said = "Please remember that my favourite colour is green."
    server.answers(
        extraction(candidate(said, category="fact", citations=[{"episode": 1, "span": said}]))
    )
    memory.contact("warm-up", "nobody").submit_session("first", [Turn(role="contact", text=said)])
    memory.drain()


def _read(memory: Memory, conversation: Conversation, report: Report) -> None:
    """Hand the sessions over, one after the other as they were held, and work them off."""
    for session_id, at, turns in conversation.sessions:
        memory.contact(AGENT, conversation.contact_id).submit_session(
            session_id, turns, started_at=at
        )
        report.sessions += 1
        started = time.perf_counter()
        jobs = memory.drain()
        report.seconds += time.perf_counter() - started
        for job in jobs:
            report.unfinished += job.state is not JobState.DONE
            report.outcomes.update(asdict(job.outcomes))


def _look(memory: Memory, conversation: Conversation, report: Report) -> None:
    """What is live, what was not let in, and where the evidence of the question is."""
    contact = conversation.contact_id
    facts = [fact for each in memory.contact(AGENT, contact).history() for fact in each.facts]
    decisions = memory.contact(AGENT, contact).decisions(limit=1000)
    report.facts.update(LIVE if each.is_live else ENDED for each in facts)
    report.facts["recalled"] += len(memory.contact(AGENT, contact).recall(limit=1000))
    report.reasons.update(
        (str(each.action), str(each.gate.reason))
        for each in decisions
        if each.gate and each.action in (Action.HOLD, Action.REJECT)
    )
    if conversation.evidence:
        *older, newest = conversation.evidence
        places = _places(memory, contact, facts, decisions)
        states = _of_turn(newest, places), _beside(older, newest, places)
        report.newest[_first(states[0])] += 1
        report.older.update([_first(states[1])] if older else [])
        report.beside += all(LIVE in each for each in states)


def _places(
    memory: Memory, contact_id: str, facts: Sequence[Fact], decisions: Sequence[Decision]
) -> list[tuple[str, set[str]]]:
    """Where claims ended up, each with the turns that it rests on."""
    scope = Scope(memory.settings.tenant, AGENT, contact_id)
    store, cited = memory._services.decision_store, _cited(memory, scope)
    states = {Action.HOLD: HELD, Action.REJECT: REFUSED}
    judged = [
        (
            states[each.action],
            {str(found.source_reference) for found in store.list_evidence(each.decision_id, scope)},
        )
        for each in decisions
        if each.action in states
    ]
    written = [(LIVE if each.is_live else ENDED, cited.get(each.fact_id, set())) for each in facts]
    return written + judged


def _cited(memory: Memory, scope: Scope) -> dict[str, set[str]]:
    """The turns that each fact rests on, with those of all that it says again, by their reference.

    No query of the memory's gives them by that.
    """
    graph: Any = memory._services.fact_store.graph.graph
    found: dict[str, set[str]] = {}
    with graph._connection() as connection:
        result = connection.execute(CITED, {"contact_key": scope.contact_key})
        for fact_id, turn_id in result.get_all():
            found.setdefault(fact_id, set()).add(turn_id)
        result.close()
    links = memory._services.fact_store.list_supersessions(scope)
    return {
        fact_id: {
            turn for each_id in restated_beneath(fact_id, links) for turn in found.get(each_id, ())
        }
        for fact_id in found
    }


def _of_turn(turn_id: str, places: Sequence[tuple[str, set[str]]]) -> set[str]:
    return {state for state, turns in places if turn_id in turns}


def _beside(older: Sequence[str], newest: str, places: Sequence[tuple[str, set[str]]]) -> set[str]:
    """Where the older turns' claims are; a live fact that the newest supports too is its own."""
    return {
        RESTATED if state == LIVE and newest in turns else state
        for state, turns in places
        if turns & set(older)
    }


def _first(states: set[str]) -> str:
    return min(states, key=STATES.index, default=NOT_READ)


def _is_update(row: Mapping[str, Any]) -> bool:
    return any(each["category"] == "knowledge-update" for each in row["qa"])


def _conversation(row: Mapping[str, Any], pairs: Mapping[str, Mapping[str, Any]]) -> Conversation:
    [question] = row["qa"]
    sessions = sorted((_session(each) for each in row["sessions"]), key=lambda session: session[1])
    turns = {str(turn.reference): turn.text for _, _, said in sessions for turn in said}
    return Conversation(
        contact_id=row["conv_id"],
        sessions=sessions,
        evidence=[each for each in turns if each in question["evidence_turn_ids"]],
        asked=words_of(f"{question['question']} {question['answer']}"),
        slots=_slots(pairs.get(f"longmemeval_ku:{question['qid']}"), turns),
    )


def _session(row: Mapping[str, Any]) -> tuple[str, datetime, list[Turn]]:
    """The file's times name no zone; they are taken as UTC."""
    at = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC)
    turns = [
        Turn(role=ROLES[each["role"]], text=each["text"], reference=each["turn_id"], said_at=at)
        for each in row["turns"]
    ]
    return row["session_id"], at, turns


def _slots(pair: Mapping[str, Any] | None, turns: Mapping[str, str]) -> dict[str, GivenSlot]:
    """The slots of the pair's two texts, by the turn that each was taken from."""
    if pair is None:
        return {}
    given = SlotSource(sees_session=True).slots(dict(pair))
    return {
        turn_id: slot
        for turn_id, said in turns.items()
        for text, slot in ((pair["a"], given.fact), (pair["b"], given.note))
        if slot is not None and text in said
    }


def _claim(text: str, asked: frozenset[str], slot: GivenSlot | None) -> dict[str, Any]:
    """A candidate in the words of the sentence that answers best, the first of equals."""
    sentences = [found[0].strip() for found in SENTENCE.finditer(text)]
    given = {} if slot is None else asdict(slot)
    return candidate(
        max(sentences, key=lambda each: len(asked & words_of(each))),
        category="fact",
        importance=0.7,
        confidence=0.95,
        topic=None,
        **{name: given.get(name) for name in ("subject", "attribute", "value", "single_valued")},
    )


def words_of(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))


def _print(reports: Sequence[Report], conversations: Sequence[Conversation]) -> None:
    count = sum(len(each.sessions) for each in conversations)
    print(f"## {count} sessions of {len(conversations)} knowledge-update conversations, {ENGINE}\n")
    _print_outcomes(reports)
    _print_reasons(reports)
    _print_evidence(reports)


def _print_outcomes(reports: Sequence[Report]) -> None:
    names = [each.name for each in fields(Outcomes)]
    print(
        f"| read by | profile | sessions | windows | candidates | {' | '.join(names)} | not done "
        "| facts live | recalled | superseded | worker, s | reading, s | sessions a minute |"
    )
    print(f"|---|---|{'--:|' * (len(names) + 10)}")
    for each in reports:
        made = [each.outcomes[name] for name in names]
        facts = [each.facts[name] for name in (LIVE, "recalled", ENDED)]
        cells = [each.sessions, each.windows, sum(made), *made, each.unfinished, *facts]
        speed = (
            f"{each.seconds:.1f} | {each.reading_seconds:.1f} "
            f"| {each.sessions / max(each.seconds, 0.001) * 60:.0f}"
        )
        print(f"| {_name(each)} | {' | '.join(map(str, cells))} | {speed} |")
    print()


def _print_reasons(reports: Sequence[Report]) -> None:
    print("| read by | profile | the gate's answer | reason | candidates |\n|---|---|---|---|--:|")
    for each in reports:
        for (action, reason), count in each.reasons.most_common():
            print(f"| {_name(each)} | {action} | {reason} | {count} |")
    print()


def _print_evidence(reports: Sequence[Report]) -> None:
    print(f"| read by | profile | evidence | questions | {' | '.join(STATES)} | live beside it |")
    print(f"|---|---|---|{'--:|' * (len(STATES) + 2)}")
    for each in reports:
        found = (("the newest", each.newest, ""), ("an older one", each.older, each.beside))
        for name, states, beside in found:
            cells = [states.total(), *(states[state] for state in STATES), beside]
            print(f"| {_name(each)} | {name} | {' | '.join(map(str, cells))} |")
    print(flush=True)


def _name(report: Report) -> str:
    return f"{report.reading.name} | {report.reading.profile}"
