"""Whether the newest of contradicting facts answers: FactConsolidation, of MemoryAgentBench.

CONSOLIDATION=conflict_resolution.jsonl make bench ARGS=consolidation

The data set (Hu et al. 2025, MIT) is not shipped. The file that ``CONSOLIDATION`` names has rows of
the split ``Conflict_Resolution`` as JSON, JSON lines, or Parquet where ``pyarrow`` is installed;
``CONSOLIDATION_SOURCE`` names the row, ``factconsolidation_sh_6k`` if unset. Without a file a list
of our own making in the same format is used (``invented_facts.py``), and the heading says so.
``CONSOLIDATION_MODES=0,3`` takes some of the ways below, and ``CONSOLIDATION_FACTS=2000`` the first
facts only; a run of one way says what it alone takes in memory.

All facts are told to one contact at the live door, in their order and a minute apart, with the
default settings:

- no slot and no judge;
- no slot, and the packaged judge;
- no slot, and a judge that is always right: two facts are about one question if they have subject
  and relation in common. It is asked as often as it would be at a note a minute; then within the
  default budget, which the benchmark's pace uses up; then about what was left unjudged;
- with the slot of each fact given, and no judge.

What is held gets a yes at once: a religion the contact's, what reads as an order an operator's. The
reader takes the value of the first fact that is recalled. A naive reader has the list and no memory
(``chains.newest_by_words``).

If the file has the same list with questions of several hops, these are asked as well, of which a
chain of newest facts gives the answer (``chains.py``). No model reads, so what is counted is what a
reader would be given: whether the whole chain is among the first ten facts recalled for the
question; and whether a reader that knows which relation to ask for next, and asks for it by the
value before, ends at the answer.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.chains import Chains, newest_by_words, plain
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.invented_facts import invented_row
from benchmarks.natural import UNBOUNDED
from benchmarks.rates import Rate
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.bound_memory import ContactMemory
from reconciler.domain.records.decisions import Decision, Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.errors import InvalidAnswerError
from reconciler.settings import load_settings

AGENT, CONTACT = "benchmark", "reader"
BEGAN = datetime(2026, 1, 2, 9, tzinfo=UTC)
SOURCE = "factconsolidation_sh_6k"
SEED = 20261125
SIZES = (sized(450, 12), sized(160, 4), sized(100, 4))
WRONG_SHOWN_MAX = 12
CHAIN_RECALLED = 10
FIELDS = ("context", "questions", "answers")

FRAMES = (
    "The headquarters of {subject} is located in the city of {value}",
    "The name of the current head of state in {subject} is {value}",
    "The name of the current head of the {subject} government is {value}",
    "The type of music that {subject} plays is {value}",
    "The univeristy where {subject} was educated is {value}",
    "The university where {subject} was educated is {value}",
    "The company that produced {subject} is {value}",
    "{subject} was founded in the city of {value}",
    "{subject} was born in the city of {value}",
    "{subject} died in the city of {value}",
    "{subject} worked in the city of {value}",
    "{subject} was created in the country of {value}",
    "{subject} is located in the continent of {value}",
    "{subject} was written in the language of {value}",
    "{subject} speaks the language of {value}",
    "{subject} is affiliated with the religion of {value}",
    "{subject} is associated with the sport of {value}",
    "{subject} plays the position of {value}",
    "{subject} works in the field of {value}",
    "{subject} is a citizen of {value}",
    "{subject} is married to {value}",
    "{subject} is employed by {value}",
    "{subject} is famous for {value}",
    "{subject} was founded by {value}",
    "{subject} was created by {value}",
    "{subject} was developed by {value}",
    "{subject} was performed by {value}",
    "{subject}'s child is {value}",
)
"""How the data set words its facts, its misspelling included; a longer frame before a shorter."""

OFFICE = re.compile(r"The (?P<office>.+?) of (?P<subject>.+?) is (?P<value>.+)")
"""How it words all others: "The chairperson of X is Y"."""


class FactFileError(Exception):
    """The file that was named has no list of facts that can be told."""


@dataclass(frozen=True)
class Told:
    """A fact as it is told; one that fits no frame is about itself alone."""

    text: str

    @cached_property
    def parts(self) -> tuple[str, str, str] | None:
        """Subject, relation and value, or None."""
        for frame, pattern in _PATTERNS.items():
            if found := pattern.fullmatch(self.text.rstrip(". ")):
                return found["subject"], frame, found["value"]
        if found := OFFICE.fullmatch(self.text.rstrip(". ")):
            return found["subject"], f"The {found['office']} of", found["value"]
        return None

    @property
    def subject(self) -> str:
        """What it is about."""
        return self.parts[0] if self.parts else self.text

    @property
    def asked(self) -> str:
        """Its words but the value's, which ask for it."""
        if self.parts is None:
            return self.text
        subject, frame, _ = self.parts
        if frame in _PATTERNS:
            return " ".join(frame.format(subject=subject, value="").split())
        return f"{frame} {subject} is"

    @property
    def about(self) -> tuple[str, ...]:
        """What it has in common with a fact that it contradicts."""
        return self.parts[:2] if self.parts else (self.text,)

    @property
    def value(self) -> str:
        """What answers a question about it."""
        return self.parts[2] if self.parts else self.text


@dataclass(frozen=True)
class Asked:
    """A question, and what may answer it."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class FactList:
    """A row of the data set."""

    source: str
    facts: tuple[Told, ...]
    questions: tuple[Asked, ...]

    @property
    def stale(self) -> set[str]:
        """The texts that a later fact contradicts."""
        newest = {told.about: told.value for told in self.facts}
        return {told.text for told in self.facts if told.value != newest[told.about]}

    @property
    def newest(self) -> set[str]:
        """The texts that no later fact contradicts."""
        return {told.text for told in {told.about: told for told in self.facts}.values()}


@dataclass(frozen=True)
class Outcome:
    """What came of telling a list.

    Attributes:
        became: what was decided, by action; what was held, unjudged and judged later beside it.
        stale_live: facts that a later one contradicts and that are live.
        gone: newest facts that are not live.
        wrong: the questions whose first fact has another value, with that fact's text.
        asked: how often a judge was asked.
        chains: of the questions of several hops, those that have a chain; with all of it recalled
            at once; with the answer at the end, hop by hop.
        minutes: the processor time of telling, and of judging later.
    """

    became: Counter[str]
    stale_live: int
    gone: int
    wrong: list[tuple[Asked, str]]
    asked: int
    chains: tuple[int, int, int]
    minutes: float


@dataclass
class KeyedJudge:
    """Always right about which facts are about one question; counts how often it was asked."""

    asked: int = 0
    name: str = field(default="perfect/subject and relation", init=False)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        self.asked += 1
        told = Told(note.text)
        known = {number: Told(near.text) for number, near in enumerate(neighbours, start=1)}
        rivals = [number for number, each in known.items() if each.about == told.about]
        same = [number for number in rivals if known[number].value == told.value]
        if not rivals:
            return _judgement(Relation.COEXISTS, Action.ADD)
        if same:
            return _judgement(Relation.SAME, Action.SKIP, same[0])
        return _judgement(Relation.REPLACES, Action.UPDATE, *rivals)

    def close(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True)
class Mode:
    """How a list is told.

    Attributes:
        title: what the table calls it.
        has_judge: whether a judge that is always right is asked.
        has_slots: whether the slot of each fact is given.
        arbiter: the judge's settings.
        has_budget: whether a judge is asked within the default budget, then without one about
            what was left unjudged.
    """

    title: str
    has_judge: bool = False
    has_slots: bool = False
    arbiter: dict[str, Any] = field(default_factory=lambda: dict(UNBOUNDED))
    has_budget: bool = False


MODES = (
    Mode("no slots, no judge"),
    Mode("no slots, the packaged judge", arbiter={"provider": "packaged"}),
    Mode("no slots, a perfect judge", has_judge=True),
    Mode("the same within 60 calls a minute", has_judge=True, arbiter={}, has_budget=True),
    Mode("slots given, no judge", has_slots=True),
)


def main(engines: Engines) -> None:
    """Print stale live facts, right first answers and questions to the judge, by mode."""
    path = os.environ.get("CONSOLIDATION")
    source = os.environ.get("CONSOLIDATION_SOURCE", SOURCE)
    most = int(os.environ.get("CONSOLIDATION_FACTS", "0")) or None
    try:
        rows = read_rows(Path(path)) if path else [invented_row(SEED, *SIZES)]
        listed = fact_list(rows, source, most)
        twin = source.replace("_sh_", "_mh_")
        hops = fact_list(rows, twin, most) if twin in map(_source_of, rows) else None
    except FactFileError as error:
        sys.exit(f"consolidation: {error}")
    if hops is None or hops.facts != listed.facts:
        hops = FactList(source=listed.source, facts=listed.facts, questions=())
    chosen = os.environ.get("CONSOLIDATION_MODES", "")
    modes = [MODES[int(number)] for number in chosen.split(",")] if chosen else MODES
    unread = sum(told.parts is None for told in listed.facts)
    print(
        f"## contradicting facts: {listed.source}{'' if path else ', a list of our own making'}\n"
    )
    print(
        f"{len(listed.facts)} facts, {len(listed.stale)} of them contradicted later, "
        f"{len(listed.questions)} questions; {unread} facts fit no known frame\n"
    )
    naive = sum(answers(newest_by_words(listed, asked), asked) for asked in listed.questions)
    print(f"a naive reader is right about {naive} of {len(listed.questions)}\n")
    print(
        "| mode | decisions | stale and live | newest gone | first answer right "
        "| chains recalled at once, followed | judge asked | processor minutes | peak MB |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    found = [each for mode in modes for each in _reported(engines, listed, hops, mode)]
    for title, outcome in found:
        print(f"\n{title}, wrong:")
        for question, text in outcome.wrong[:WRONG_SHOWN_MAX]:
            print(f"- {question.text} {' / '.join(question.answers)}: {text}")
    print(flush=True)


def _reported(
    engines: Engines, listed: FactList, hops: FactList, mode: Mode
) -> Iterator[tuple[str, Outcome]]:
    titles = (mode.title, "the same, rejudged afterwards")
    for title, outcome in zip(
        titles, tell(engines.fresh("embedded"), listed, mode, hops), strict=False
    ):
        chains, at_once, followed = outcome.chains
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        became = ", ".join(f"{count} {what}" for what, count in sorted(outcome.became.items()))
        right = Rate(count=len(listed.questions) - len(outcome.wrong), of=len(listed.questions))
        print(
            f"| {title} | {became} | {outcome.stale_live} of {len(listed.stale)} | {outcome.gone} "
            f"of {len(listed.newest)} | {with_interval(right)} | {at_once}, {followed} of {chains} "
            f"| {outcome.asked} | {outcome.minutes:.1f} | {peak:,.0f} |",
            flush=True,
        )
        yield title, outcome


def tell(
    store: dict[str, Any], listed: FactList, mode: Mode, hops: FactList | None = None
) -> Iterator[Outcome]:
    """What comes of telling the list, and asking its questions, in a mode.

    Yields:
        Once; within a judge's budget a second time, when what was left unjudged is judged.
    """
    began = time.process_time()
    judge = KeyedJudge() if mode.has_judge else None
    clock = _Clock()
    with _opened(store, mode.arbiter, judge, clock) as memory:
        became = Counter(_told(memory, listed, mode.has_slots, clock))
    minutes = (time.process_time() - began) / 60
    with _opened(store, UNBOUNDED, judge, clock) as memory:
        yield _outcome(memory, listed, hops, became, judge, minutes)
        if mode.has_budget:
            began = time.process_time()
            judged = memory.contact(AGENT, CONTACT).rejudge()
            minutes += (time.process_time() - began) / 60
            became = became + Counter(f"later {rejudged.became}" for rejudged in judged)
            yield _outcome(memory, listed, hops, became, judge, minutes)


def _outcome(
    memory: Memory,
    listed: FactList,
    hops: FactList | None,
    became: Counter[str],
    judge: KeyedJudge | None,
    minutes: float,
) -> Outcome:
    contact = memory.contact(AGENT, CONTACT)
    live = {fact.text for chain in contact.history() for fact in chain.facts if fact.is_live}
    return Outcome(
        became=became,
        stale_live=len(live & listed.stale),
        gone=len(listed.newest - live),
        wrong=list(_wrong(memory, listed.questions)),
        asked=judge.asked if judge else 0,
        chains=_chains(contact, hops) if hops else (0, 0, 0),
        minutes=minutes,
    )


@dataclass
class _Clock:
    """The time of what is told: a yes that came after the next fact would speak against that."""

    now: datetime = BEGAN

    def __call__(self) -> datetime:
        return self.now


def _opened(
    store: dict[str, Any], arbiter: dict[str, Any], judge: KeyedJudge | None, clock: _Clock
) -> Memory:
    return Memory.open(load_settings(**store, arbiter=arbiter), arbiter=judge, clock=clock)


def _told(memory: Memory, listed: FactList, has_slots: bool, clock: _Clock) -> Iterator[str]:
    """What was decided about each fact, and what remained unjudged."""
    for told in listed.facts:
        slot = _slot(told) if has_slots else {}
        clock.now += timedelta(minutes=1)
        made = memory.add_contact_note(AGENT, CONTACT, told.text, said_at=clock.now, **slot)
        if made.action is Action.HOLD:
            yield "HOLD, then yes"
            made = said_yes(memory.contact(AGENT, CONTACT), made)
        yield str(made.action)
        if made.opinion.is_missing:
            yield "unjudged"


def said_yes(contact: ContactMemory, held: Decision) -> Decision:
    """What a held note becomes with a yes: the contact's, or an operator's where it takes one."""
    try:
        return contact.confirm(held.decision_id, "contact")
    except InvalidAnswerError:
        return contact.confirm(held.decision_id, "operator")


def _slot(told: Told) -> dict[str, Any]:
    if told.parts is None:
        return {}
    subject, frame, value = told.parts
    attribute = _attribute(frame)
    return {"subject": subject, "attribute": attribute, "value": value, "single_valued": True}


def _wrong(memory: Memory, questions: Sequence[Asked]) -> Iterator[tuple[Asked, str]]:
    for question in questions:
        recalled = memory.contact(AGENT, CONTACT).recall(question.text)
        first = recalled[0].fact.text if recalled else "nothing recalled"
        if not answers(Told(first).value, question):
            yield question, first


def _chains(contact: ContactMemory, hops: FactList) -> tuple[int, int, int]:
    """Questions with a chain; with all of it recalled at once; with the answer at its end."""
    of = Chains(hops)
    found = [(asked, chain) for asked in hops.questions if (chain := of.chain(asked))]
    at_once = followed = 0
    for asked, chain in found:
        recalled = contact.recall(asked.text, limit=CHAIN_RECALLED)[:CHAIN_RECALLED]
        at_once += {told.text for told in chain} <= {hit.fact.text for hit in recalled}
        followed += all(_value(contact, told) == plain(told.value) for told in chain)
    return len(found), at_once, followed


def _value(contact: ContactMemory, told: Told) -> str:
    """The value of the first fact recalled for a fact's words without its own."""
    recalled = contact.recall(told.asked)
    return plain(Told(recalled[0].fact.text).value) if recalled else ""


def answers(value: str, question: Asked) -> bool:
    """Whether the value is one of the answers, but for case, punctuation and articles."""
    return plain(value) in set(map(plain, question.answers))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file.

    Raises:
        FactFileError: it cannot be read, is empty, or holds no rows.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FactFileError(f"{path} cannot be read: {error.strerror}") from error
    if content.startswith(b"PAR1"):
        return _parquet_rows(path)
    try:
        text = content.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise FactFileError(f"{path} is neither Parquet nor text in UTF-8") from error
    if not text:
        raise FactFileError(f"{path} is empty")
    rows = _json_rows(path, text)
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise FactFileError(f"{path} holds no rows: JSON objects with {', '.join(FIELDS)}")
    return rows


def fact_list(rows: Sequence[dict[str, Any]], source: str, most: int | None = None) -> FactList:
    """The list of facts of the row that is named, or of the only one; the first facts at most.

    Raises:
        FactFileError: there is no such row, or it lacks facts, questions or answers.
    """
    named = {_source_of(row): row for row in rows}
    if len(rows) == 1:
        [(source, row)] = named.items()
    elif source in named:
        row = named[source]
    else:
        raise FactFileError(f"no row {source}; there are {', '.join(named)}")
    if missing := [name for name in FIELDS if name not in row]:
        raise FactFileError(f"{source} has no {', '.join(missing)}; is it of Conflict_Resolution?")
    facts = tuple(_facts(str(row["context"])))[:most]
    if not facts:
        raise FactFileError(f'{source} has no numbered lines such as "0. The capital of X is Y."')
    return FactList(source=source, facts=facts, questions=tuple(_questions(source, row)))


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    if find_spec("pyarrow") is None:
        raise FactFileError(
            f"{path} is Parquet, which needs pyarrow; install it, or convert the file where pandas "
            f"is: pandas.read_parquet(…).to_json('rows.jsonl', orient='records', lines=True)"
        )
    from pyarrow import parquet

    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def _json_rows(path: Path, text: str) -> list[Any]:
    """The rows of a JSON list, a JSON object, or of JSON lines."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.split("\n") if line.strip()]
        return [_json_line(path, number, line) for number, line in enumerate(lines, start=1)]
    return whole if isinstance(whole, list) else [whole]


def _json_line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise FactFileError(f"{path}: line {number} is not JSON ({error.msg})") from error


def _source_of(row: dict[str, Any]) -> str:
    metadata = row.get("metadata")
    return str(metadata.get("source") if isinstance(metadata, dict) else None)


def _facts(context: str) -> Iterator[Told]:
    numbered = re.findall(r"^\s*(\d+)\.\s+(\S.*?)\s*$", context, re.MULTILINE)
    return (Told(text) for _, text in sorted(numbered, key=lambda line: int(line[0])))


def _questions(source: str, row: dict[str, Any]) -> Iterator[Asked]:
    questions, answers_of = row["questions"], row["answers"]
    if not isinstance(questions, Sequence) or not isinstance(answers_of, Sequence):
        raise FactFileError(f"{source}: questions and answers are no lists")
    if not questions or len(questions) != len(answers_of):
        raise FactFileError(
            f"{source} has {len(questions)} questions and {len(answers_of)} answers"
        )
    for number, (question, answer) in enumerate(zip(questions, answers_of, strict=True), start=1):
        accepted = (answer,) if isinstance(answer, str) else tuple(answer or ())
        if not str(question or "").strip() or not any(str(each).strip() for each in accepted):
            raise FactFileError(f"{source}: question {number} has no text or no answer")
        yield Asked(text=str(question).strip(), answers=tuple(map(str, accepted)))


def _judgement(relation: Relation, action: Action, *numbers: int) -> Judgement:
    target, *also = numbers or (None,)
    return Judgement(
        reasoning="", relation=relation, target=target, also=tuple(also), action=action
    )


def _patterns(frames: Iterable[str]) -> Iterator[tuple[str, re.Pattern[str]]]:
    for frame in frames:
        subject, between, value = re.split(r"\{subject\}|\{value\}", frame)
        pattern = f"{re.escape(subject)}(?P<subject>.+?){re.escape(between)}(?P<value>.+){value}"
        yield frame, re.compile(pattern)


_PATTERNS = dict(_patterns(FRAMES))


def _attribute(frame: str) -> str:
    """The relation's name, as a caller would give it: what stands in the frame besides the two."""
    words = re.sub(r"\{\w+\}('s)?", " ", frame)
    return "_".join(words.lower().split())
