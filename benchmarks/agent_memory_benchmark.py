"""The share of the Agent Memory Benchmark that is answered: facts that change, told with slots.

AGENT_MEMORY=memvara-0.21.0 make bench ARGS=agent-memory

The benchmark (Apache-2.0) lies in memvara's source distribution. ``AGENT_MEMORY`` names the
unpacked one; without it pip downloads the pinned one into the user's cache folder. Dataset, rules
and scorer are its own: 262 events about 66 subjects, 100 questions, no reader.

Each subject is a contact, each event a note with its slot. A question that names its slot is
answered from it. For any other the slot is that of the first fact that ``find`` gives. From there
the reader follows one link, and the heading counts without that, too: if the question names the
fact's value, it asks for something else of that contact; if the value is a contact, and the
question has words that the fact does not say, that contact is asked.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import platformdirs

import benchmarks
from benchmarks.consolidation import said_yes
from benchmarks.data import LEFT_OUT
from benchmarks.engines import Engines
from benchmarks.sizes import IS_SHORT
from reconciler import Memory
from reconciler.bound_memory import ContactMemory
from reconciler.domain.recalling.procedures import mentions, needles
from reconciler.domain.records.facts import Fact, FoundFact
from reconciler.domain.records.kinds import Action
from reconciler.reading.question_words import content_words
from reconciler.settings import load_settings

AGENT = "benchmark"
SOURCE = "memvara==0.21.0"
VALUES_MAX = 50


def main(engines: Engines) -> None:
    """Print the score by category, without and with links, and the questions missed."""
    source = _source()
    if source is None:
        return
    benchmarks.__path__.append(str(source / "benchmarks"))
    base, dataset, runner = map(_module, ("adapters.base", "dataset", "runner"))
    told = dataset.load()
    results = []
    for follows in (False, True):
        system = Answering(engines.fresh("embedded"), base, follows=follows)
        try:
            results.append(runner.run(system, told))
        finally:
            system.close()
    first, linked = (result.scorecard for result in results)
    print(f"## the Agent Memory Benchmark, {told.version}\n")
    print("| category | questions | the first fact's slot | one link followed |\n|---|--:|--:|--:|")
    for name, tally in linked.by_category.items():
        print(f"| {name} | {tally.total} | {first.by_category[name].correct} | {tally.correct} |")
    print(
        f"| all | {linked.overall.total} | {first.overall.correct} | {linked.overall.correct} |\n"
    )
    asked = {question.id: question.question for question in told.questions}
    for missed in runner.failures(results[1], told):
        said = f"{missed.given or 'nothing'} instead of {missed.expected or 'nothing'}"
        print(f"- {missed.category}: {asked[missed.question_id]} {said}")
    print(flush=True)


class Answering:
    """The memory as a system of the benchmark; its runner calls these methods."""

    name, version = "reconciler", version("graph-memory-reconciler")

    def __init__(self, store: dict[str, Any], base: Any, *, follows: bool) -> None:
        self._base, self._follows = base, follows
        self._single_valued: dict[str, bool] = {}
        self._now = datetime.now(UTC)
        self._memory = Memory.open(load_settings(**store), clock=lambda: self._now)
        self._agent = self._memory.agent(AGENT)

    def reset(self, predicates: Mapping[str, Any]) -> None:
        self._single_valued = {name: each.single_valued for name, each in predicates.items()}

    def remember(self, event: Any) -> None:
        self._now = event.recorded_at
        contact = self._agent.contact(event.subject)
        made = contact.note(
            self._base.indexable(event),
            attribute=event.predicate,
            value=event.object,
            single_valued=self._single_valued[event.predicate],
            valid_from=event.valid_from,
            source_reference=event.source,
        )
        if made.action is Action.HOLD:
            said_yes(contact, made)

    def query(self, ask: Any) -> Any:
        self._now = ask.evaluated_at
        slot = ask.probe or self._found(ask)
        if slot is None:
            return self._base.MemoryAnswer()
        contact, attribute = self._agent.contact(slot[0]), slot[1]
        if ask.about is not None:
            return self._base.MemoryAnswer(value=self._told_of(contact, attribute, ask))
        if ask.category == "change_detection":
            ever = contact.evidence_about(attribute)
            return self._answer(each.fact for each in ever if not each.fact.is_void)
        held = contact.recall(
            valid_at=ask.at, as_of=ask.known_at, attribute=attribute, limit=VALUES_MAX
        )
        return self._answer(hit.fact for hit in held)

    def usage(self) -> Any:
        return self._base.Usage(llm_calls=0, tokens=0)

    def close(self) -> None:
        self._memory.close()

    def _told_of(self, contact: ContactMemory, attribute: str, ask: Any) -> str | None:
        """Who said first that a value holds, from which day on, or on which day it was said."""
        told = [
            each for each in contact.evidence_about(attribute) if _value(each.fact) == ask.about
        ]
        if not told:
            return None
        first = min(told, key=lambda each: each.fact.recorded_at)
        if ask.category == "provenance":
            return first.turns[0].source_reference
        is_of_the_world = ask.category == "change_time"
        at = first.fact.holds_since if is_of_the_world else first.fact.recorded_at
        return at.date().isoformat()

    def _answer(self, facts: Iterable[Fact]) -> Any:
        values = tuple(dict.fromkeys(map(_value, facts)))
        one = values[0] if len(values) == 1 else None
        return self._base.MemoryAnswer(value=one, values=() if one else values)

    def _found(self, ask: Any) -> tuple[str, str] | None:
        """The slot that a question in words is about."""
        found = self._agent.find(ask.question, limit=1)
        if not found:
            return None
        hit = (self._linked(ask, found[0]) if self._follows else None) or found[0]
        return hit.contact_id, hit.fact.slot.attribute

    def _linked(self, ask: Any, first: FoundFact) -> FoundFact | None:
        """A fact that says what the first one leaves open of the question, one link from it."""
        value = _value(first.fact)
        onward = first.contact_id if mentions(ask.question, needles(value)) else value
        open_words = {*content_words(ask.question)} - {*content_words(first.fact.text)}
        if not self._agent.contacts(onward):
            return None
        return next(
            (
                FoundFact(contact_id=onward, fact=hit.fact)
                for hit in self._agent.contact(onward).recall(ask.question, valid_at=ask.at)
                if hit.fact != first.fact and open_words & {*content_words(hit.fact.text)}
            ),
            None,
        )


def _value(fact: Fact) -> str:
    return (fact.slot.value if fact.slot else None) or fact.text


def _module(name: str) -> Any:
    return importlib.import_module(f"benchmarks.agent_memory.{name}")


def _source() -> Path | None:
    """The folder of the unpacked source distribution; a short form fetches none, and says so."""
    if given := os.environ.get("AGENT_MEMORY"):
        return Path(given)
    if IS_SHORT:
        print(f"{LEFT_OUT}AGENT_MEMORY names no folder (see benchmarks/README.md)\n")
        return None
    cache = platformdirs.user_cache_path("reconciler") / "agent-memory"
    unpacked = cache / SOURCE.replace("==", "-")
    if not unpacked.is_dir():
        command = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
        subprocess.run([*command, "--no-binary", ":all:", "--dest", cache, SOURCE], check=True)
        with tarfile.open(f"{unpacked}.tar.gz") as archive:
            archive.extractall(cache, filter="data")
    return unpacked
