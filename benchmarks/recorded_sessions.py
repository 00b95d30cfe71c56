"""What whole sessions leave behind, read and judged by recorded answers of a large language model.

The sessions are those of ``benchmarks.record_sessions``: our own conversations, and the LongMemEval
conversations in which something changes, two sessions each. They are read in three ways: the
extractor is shown nothing that is known, and a judge says what a candidate does to a fact; it is
shown the nearest facts, and says so itself, with the judge for the rest; the same without a judge.

Where no answers are recorded for a LongMemEval conversation, its turns that hold the evidence are
told as notes of the live door instead, with default settings and without a judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.data import rows
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.rates import Rate
from benchmarks.record_sessions import (
    AGENT,
    Contact,
    contacts,
    memory_of,
    recorded_extractor,
    recorded_judge,
)
from benchmarks.sessions import Conversation, _cited, changed_conversations
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Scope
from reconciler.ports.embedder import Embedder
from reconciler.settings import load_settings
from tests.recordings import RecordedJudge

WAYS = {
    "extract, then judge": (False, True),
    "shown what is known, and a judge": (True, True),
    "shown what is known, no judge": (True, False),
}
"""Whether the extractor is shown the known facts, and whether there is a judge."""

_WORDS = "one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: number for number, word in enumerate(_WORDS.split(), start=1)}
RECALLED = 8


@dataclass
class Report:
    """What one way of reading left behind.

    Attributes:
        questions: what a person was asked after any session, a number a contact: what was held,
            and disputes.
        newest_first: conversations whose newest evidence is what the first fact rests on, of those
            facts that rest on any of it.
        answered: those whose first fact says the answer's value.
        places: by conversation the place of the first recalled fact that rests on the newest
            evidence, from 1 on; None where none of ``RECALLED`` does.
        newest_ahead: conversations in which it is found, and no recalled fact that rests on older
            evidence alone stands before it.
        older_live: conversations in which a fact that rests on older evidence alone is still live.
        unanswered: questions without a recorded answer, by who was asked.
    """

    contacts: int = 0
    sessions: int = 0
    live: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    questions: list[int] = field(default_factory=list)
    judge_calls: int = 0
    of: int = 0
    newest_first: int = 0
    answered: int = 0
    places: list[int | None] = field(default_factory=list)
    newest_ahead: int = 0
    older_live: int = 0
    shown_otherwise: int = 0
    dropped: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def among(self, most: int) -> int:
        """The conversations whose newest value is among the first so many recalled facts."""
        return sum(place is not None and place <= most for place in self.places)


def main(engines: Engines) -> None:
    """Print a column for each way of reading, for our own sessions and for LongMemEval's."""
    told = contacts()[: sized(1_000, 1)]
    found = rows("conversations.jsonl") or []
    asked = {row["conv_id"]: row["qa"][0] for row in found}
    conversations = {each.contact_id: each for each in changed_conversations(found)}
    embedder = build_embedder(load_settings())
    try:
        for title, is_ours in (("our own sessions", True), ("LongMemEval", False)):
            chosen = [contact for contact in told if contact.is_ours is is_ours]
            reports = {
                way: _report(chosen, conversations, asked, embedder, *how)
                for way, how in WAYS.items()
            }
            _print(title, reports)
        recorded = {contact.contact_id for contact in told}
        rest = [
            each
            for each in conversations.values()
            if each.contact_id not in recorded and len(each.evidence) > 1
        ]
        if rest:
            live = {"live door": _live(engines, rest[: sized(len(rest), 1)], asked)}
            _print("LongMemEval without recorded answers", live)
    finally:
        embedder.close()


def _live(
    engines: Engines,
    conversations: Sequence[Conversation],
    asked: Mapping[str, Mapping[str, Any]],
) -> Report:
    """The same of conversations of which the turns with the evidence are told, and no others."""
    report = Report()
    now = [conversations[0].sessions[0][1]]
    settings = load_settings(**engines.fresh("embedded"))
    with Memory.open(settings, clock=lambda: now[0]) as memory:
        for conversation in conversations:
            contact = memory.contact(AGENT, conversation.contact_id)
            for session_id, at, turns in conversation.sessions:
                now[:] = [at]
                for turn in turns:
                    if turn.reference in conversation.evidence:
                        contact.note(
                            turn.text[:TEXT_LENGTH_MAX],
                            said_at=at,
                            session_id=session_id,
                            source_reference=turn.reference,
                        )
                report.sessions += 1
            report.contacts += 1
            report.questions.append(len(contact.pending()))
            _look(memory, Contact(conversation.contact_id, conversation.sessions, False), report)
            _ask(memory, conversation, asked[conversation.contact_id], report)
    return report


def _report(
    told: Sequence[Contact],
    conversations: Mapping[str, Conversation],
    asked: Mapping[str, Mapping[str, Any]],
    embedder: Embedder,
    reads_known: bool,
    is_judged: bool,
) -> Report:
    report = Report()
    for contact in told:
        extractor = recorded_extractor(reads_known=reads_known, goes_on=True)
        judge = recorded_judge() if is_judged else None
        with memory_of(contact, embedder, extractor, judge) as (memory, sessions):
            asking: set[str] = set()
            for _ in sessions:
                report.sessions += 1
                waiting = memory.contact(AGENT, contact.contact_id).pending()
                asking |= {each.question or "" for each in waiting}
            report.questions.append(len(asking))
            _look(memory, contact, report)
            if contact.contact_id in conversations:
                conversation = conversations[contact.contact_id]
                _ask(memory, conversation, asked[contact.contact_id], report)
        report.contacts += 1
        report.shown_otherwise += extractor.shown_otherwise
        report.dropped += extractor.dropped
        report.unanswered["extractor"] += len(extractor.missing)
        _count_calls(judge, report)
    return report


def _count_calls(judge: RecordedJudge | None, report: Report) -> None:
    if judge is not None:
        report.judge_calls += judge.asked
        report.unanswered["judge"] += len(judge.missing)


def _look(memory: Memory, contact: Contact, report: Report) -> None:
    facts = [
        fact for each in memory.contact(AGENT, contact.contact_id).history() for fact in each.facts
    ]
    report.live += sum(fact.is_live for fact in facts)
    for decision in memory.contact(AGENT, contact.contact_id).decisions(limit=1000):
        report.outcomes[str(decision.action)] += 1


def _ask(
    memory: Memory, conversation: Conversation, question: Mapping[str, Any], report: Report
) -> None:
    """Whether the newest value comes first for the conversation's question."""
    newest = conversation.evidence[-1]
    cited = _cited(memory, Scope(memory.settings.tenant, AGENT, conversation.contact_id))
    recalled = memory.contact(AGENT, conversation.contact_id).recall(
        query=question["question"], limit=RECALLED
    )
    evidence = {*conversation.evidence}
    resting = [
        ranked.fact for ranked in recalled if cited.get(ranked.fact.fact_id, set()) & evidence
    ]
    first = resting[0] if resting else None
    is_newest = first is not None and newest in cited[first.fact_id]
    report.of += 1
    report.newest_first += is_newest
    turns_of = [cited.get(ranked.fact.fact_id, set()) for ranked in recalled[:RECALLED]]
    place = next((n for n, turns in enumerate(turns_of, start=1) if newest in turns), None)
    report.places.append(place)
    report.newest_ahead += place is not None and not any(
        turns & evidence for turns in turns_of[: place - 1]
    )
    report.answered += any(
        says(ranked.fact.text, str(question["answer"])) for ranked in recalled[:1]
    )
    older = {*conversation.evidence[:-1]}
    live = {
        fact.fact_id
        for each in memory.contact(AGENT, conversation.contact_id).history()
        for fact in each.facts
        if fact.is_live
    }
    report.older_live += any(
        turns & older and newest not in turns and fact_id in live
        for fact_id, turns in cited.items()
    )
    if not is_newest:
        report.misses.append(f"{conversation.contact_id}: {question['question'][:80]}")


def says(text: str, answer: str) -> bool:
    """Whether a text holds the last number of an answer, or half of its longer words.

    Numbers up to twelve count alike as words and as digits.
    """
    said, wanted = _words(text), _words(answer)
    numbers = [word for word in wanted if word[0].isdigit()]
    if numbers:
        return numbers[-1] in said
    words = [word for word in wanted if len(word) > 3]
    return sum(word in said for word in words) * 2 >= max(len(words), 1)


def _words(text: str) -> list[str]:
    found = re.findall(r"\d+|[^\W\d_]+", text.casefold().replace(",", ""))
    return [str(NUMBERS.get(word, word)) for word in found]


def _print(title: str, reports: Mapping[str, Report]) -> None:
    if not any(report.contacts for report in reports.values()):
        return
    print(f"## recorded sessions: {title}\n")
    print(f"| | {' | '.join(reports)} |")
    print(f"|---|{'--:|' * len(reports)}")

    def row(name: str, cells: Sequence[object]) -> None:
        print(f"| {name} | {' | '.join(map(str, cells))} |")

    found = list(reports.values())
    row("contacts, sessions", [f"{each.contacts}, {each.sessions}" for each in found])
    row(
        "decisions",
        [", ".join(f"{n} {a}" for a, n in each.outcomes.most_common()) for each in found],
    )
    row("live facts", [each.live for each in found])
    row(
        "questions to a person a contact: mean, most",
        [
            f"{sum(each.questions) / len(each.questions):.1f}, {max(each.questions)}"
            for each in found
        ],
    )
    if any(each.of for each in found):
        for name, counts in (
            ("newest value first", [each.newest_first for each in found]),
            ("the first fact says the answer", [each.answered for each in found]),
            *(
                (f"newest value among the first {most}", [each.among(most) for each in found])
                for most in (1, 3, RECALLED)
            ),
            ("found, and no older value before it", [each.newest_ahead for each in found]),
            ("old value still live", [each.older_live for each in found]),
        ):
            rates = zip(counts, found, strict=True)
            row(name, [with_interval(Rate(count=count, of=each.of)) for count, each in rates])
    row("judge's calls a session", [f"{each.judge_calls / each.sessions:.1f}" for each in found])
    row("windows shown other facts than recorded", [each.shown_otherwise for each in found])
    row("relations dropped for that", [each.dropped for each in found])
    row("without a recorded answer", [_counted(+each.unanswered) or 0 for each in found])
    print()
    for way, each in reports.items():
        for miss in each.misses:
            print(f"- {way}: {miss}")
    print(flush=True)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common())
