"""Whether recall finds what answers a question, and gives nothing where nothing does.

The questions of the conversations, asked when they were asked, in memories that hold all that the
user said: sentence by sentence, or whole turns; one contact a conversation, or the conversations of
a half put together to contacts of 250 notes and more that were told over months, and asked at the
end. A hit is a note out of a turn that holds the evidence.

*Cosine* is the plain order by cosine; *recall* is what recall does, with its floor. Facts are as
they were said, none superseded; *with slots* those answers that have changed carry the slots of
``longmemeval_slots.jsonl``, where both are one slot of one value, and the new value ends the old
one where the rule has it so. An unrelated question is another contact's. The floor was chosen on
the half that is written on.

Then a hundred CRM notes of one contact, ``crm_questions.jsonl``, with a question each: half of them
share no word with their note. Notes and questions were written before anything was tuned, by the
author of the questions about the known attributes, which are older still; some are alike. What
facts say, and the other attributes of ``config/attribute_questions.toml``, were written later, with
the half that is written on in sight.
*With slots* 37 notes carry the attribute and value that an agent would give. Sixty notes and
questions came later, ``crm_questions_later.jsonl``: all of their misses were looked at.

Then twenty notes with attributes, in English, and a question about each in German, French and
Spanish, with forty unrelated questions in each: ``questions_in_languages.jsonl``. The questions,
their halves and a quarter of the unrelated ones were written before the questions that are shipped
in these languages.

At last, what a recall among 1,000 facts takes on each engine, against a bare read of them.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import HALVES, half_of, rows, user_turns
from benchmarks.engines import Engines
from benchmarks.error_rate import ReadyVectors
from benchmarks.full_memory import sentences_of
from benchmarks.sessions import words_of
from benchmarks.sizes import sized
from reconciler.bootstrap.chosen_models import open_graph
from reconciler.config_files import (
    load_attribute_book,
    load_question_vectors,
    load_recall_floor,
)
from reconciler.domain.recalling.asking import AttributeQuestions
from reconciler.domain.recalling.filtering import EVERYTHING
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.reconciling.verdicts import neighbour_of
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Note, Scope, Slot
from reconciler.domain.records.policies import RankingPolicy, ReconcilePolicy
from reconciler.reading.question_words import about_her
from reconciler.service.recall import Recall
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.use_trace import UseTrace
from reconciler.service.writing.neighbourhoods import Neighbourhoods
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.commits import MODEL, committed

SENTENCES, TURNS = "sentences", "turns"
ALONE, TOGETHER = "a conversation", "250 notes and more"
NOTES_MIN = 250
FIRST = (1, 5, 8, 10)
LATER = "later"
"""Questions written before the floor and the topics were last changed."""
UNRELATED_COUNT = 30
"""Questions of others that are put to each contact for each of its own."""

SEED = 15
COUNT, REPEATS = sized(1_000, 50), sized(21, 3)
SCOPE = Scope("benchmark", "crm", "priya")
BOOK = load_attribute_book(None)
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
UNCOUNTED = UseTrace(write=print, write_asked=print, clock=lambda: NOON, flush_seconds=0)
Rank = Callable[["Contact", str, datetime], list[str]]
"""Gives the ids of facts for a question asked at a time, the best first."""


@dataclass(frozen=True)
class Asked:
    """A question, with the facts that hold its evidence."""

    text: str
    category: str
    at: datetime
    evidence: frozenset[str]
    stale: frozenset[str]
    newest: frozenset[str]


class Contact:
    """All that somebody said, as facts, and what is asked about it."""

    def __init__(self, facts: Sequence[Fact], asked: Sequence[Asked], model: ReadyVectors) -> None:
        self.facts, self.asked = facts, asked
        self.vectors = model.embed([fact.text for fact in facts])
        self.recallable = Recallable(facts, self.vectors)


def main(available: Engines) -> None:
    """Print what is found before and after, what unrelated questions get, and how fast it is."""
    if (conversations := rows("conversations.jsonl")) is not None:
        _print_found(conversations)
    _print_questions()
    _print_languages()
    _print_speed(available)


# What is found


def _print_found(conversations: list[dict[str, Any]]) -> None:
    model = ReadyVectors(_texts(conversations))
    how = Recalling(ranking=RankingPolicy(), floor=load_recall_floor(model.model_id))
    ways: dict[str, Rank] = {
        "cosine": lambda contact, text, _: _by_cosine(contact, model.embed([text])[0]),
        "recall": _way(model, how),
    }
    print("## what recall finds\n")
    columns = " | ".join(f"hit@{first}, %" for first in FIRST)
    print(
        f"| notes | a contact is | slots | half | questions | recall | {columns} | MRR | "
        "older value above the newer |"
    )
    print(f"|---|---|---|---|--:|---|{'--:|' * (len(FIRST) + 2)}")
    for kind, size, has_slots in _settings():
        for half in HALVES:
            contacts = list(_contacts(conversations, half, kind, size, has_slots, model))
            for name, rank in ways.items():
                _print_row((kind, size, "yes" if has_slots else "no", half), name, contacts, rank)
    print("\n## what an unrelated question gets\n")
    print(
        "| notes | a contact is | half | questions | nothing, % | own questions: nothing, % "
        "| hit@5 without the floor, % | with it, % |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for kind, size, has_slots in _settings():
        for half in () if has_slots else HALVES:
            contacts = list(_contacts(conversations, half, kind, size, False, model))
            _print_floor((kind, size, half), contacts, model, how)
    print(flush=True)


def _settings() -> Iterator[tuple[str, str, bool]]:
    for kind in (SENTENCES, TURNS):
        yield kind, ALONE, False
        yield kind, ALONE, True
        yield kind, TOGETHER, False


def _by_cosine(contact: Contact, vector: NDArray[np.float32]) -> list[str]:
    order = np.argsort(-(contact.vectors @ vector), kind="stable")
    return [contact.facts[row].fact_id for row in order]


def _way(model: ReadyVectors, how: Recalling, *, fitting_only: bool = False) -> Rank:
    known = _attribute_questions(model.model_id)

    def rank(contact: Contact, text: str, at: datetime) -> list[str]:
        vector = model.embed([about_her(text)])[0]
        asks = known.asked_by(vector)
        leaning, strange = known.leaning(vector, asks), known.strangeness(vector)
        question = RecallQuery(text, leaning, asks, strange=strange)
        found = contact.recallable.answer(question, EVERYTHING, how, at, max(FIRST))
        return [each.fact.fact_id for each in found if each.fits or not fitting_only]

    return rank


def _print_row(setting: Sequence[str], name: str, contacts: Sequence[Contact], rank: Rank) -> None:
    places, changed, stale_first = [], 0, 0
    for contact in contacts:
        for asked in contact.asked:
            found = rank(contact, asked.text, asked.at)
            places.append(_place(found, asked.evidence))
            if asked.category == "knowledge-update" and asked.newest:
                changed += 1
                stale = _place(found[:8], asked.stale)
                stale_first += stale < _place(found[:8], asked.newest)
    if not places:  # of two conversations, in a short form, a half may have none
        return
    hits = [f"{100 * sum(p <= first for p in places) / len(places):.0f}" for first in FIRST]
    mrr = statistics.mean(1 / place for place in places)
    cells = (*setting, len(places), name, *hits, f"{mrr:.2f}", f"{stale_first} of {changed}")
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _place(found: Sequence[str], wanted: Iterable[str]) -> float:
    """Where the first of these stands, from 1; beyond all where none does."""
    wanted = set(wanted)
    return next((n for n, fact_id in enumerate(found, 1) if fact_id in wanted), float("inf"))


def _print_floor(
    setting: Sequence[str], contacts: Sequence[Contact], model: ReadyVectors, how: Recalling
) -> None:
    drawn = random.Random(SEED)
    without, with_ = _way(model, replace(how, floor=None)), _way(model, how)
    hits = {without: 0, with_: 0}
    nothing = emptied = count = own = 0
    for contact in contacts:
        others = [asked.text for other in contacts if other is not contact for asked in other.asked]
        for asked in contact.asked:
            own += 1
            emptied += not with_(contact, asked.text, asked.at)
            for way in hits:
                hits[way] += _place(way(contact, asked.text, asked.at)[:5], asked.evidence) <= 5
            for text in drawn.sample(others, min(UNRELATED_COUNT, len(others))):
                count += 1
                nothing += not with_(contact, text, asked.at)
    if not own:  # as above
        return
    shares = [f"{100 * hits[way] / own:.1f}" for way in (without, with_)]
    lost = f"{100 * emptied / own:.1f}"
    cells = (*setting, count, f"{100 * nothing / max(count, 1):.1f}", lost, *shares)
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


# A hundred questions


def _attribute_questions(embedding_model: str) -> AttributeQuestions:
    shipped = load_question_vectors(embedding_model)
    assert shipped is not None, "run: python tools/write_question_vectors.py"
    return shipped


def _print_questions() -> None:
    lines, later = _crm_lines("crm_questions.jsonl"), _crm_lines("crm_questions_later.jsonl")
    model = ReadyVectors(
        text
        for line in (*lines, *later)
        for text in (line["note"], line["question"], about_her(line["question"]))
    )
    print("## questions about CRM notes of one contact, each about one note\n")
    print("| half | slots | recall | questions | first, % | among five, % | nothing, % |")
    print("|---|---|---|--:|--:|--:|--:|")
    for half in HALVES:
        for has_slots in (False, True):
            _print_asked(half, lines, model, has_slots=has_slots)
    _print_asked(LATER, later, model, has_slots=False)
    print(flush=True)


def _crm_lines(name: str) -> list[dict[str, Any]]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _print_asked(
    part: str, lines: Sequence[dict[str, Any]], model: ReadyVectors, *, has_slots: bool
) -> None:
    asked = [
        Asked(line["question"], "", NOON, frozenset({str(n)}), frozenset(), frozenset())
        for n, line in enumerate(lines)
        if part in (LATER, half_of(line["question"]))
    ]
    facts = [_crm_fact(n, line, has_slots) for n, line in enumerate(lines)]
    contact = Contact(facts, asked, model)
    how = Recalling(ranking=RankingPolicy(), floor=load_recall_floor(model.model_id))
    ways: dict[str, Rank] = {
        "cosine": lambda told, text, _: _by_cosine(told, model.embed([text])[0]),
        "recall": _way(model, how),
    }
    for name, rank in ways.items():
        found = [rank(contact, each.text, NOON) for each in asked]
        places = [_place(ids, each.evidence) for ids, each in zip(found, asked, strict=True)]
        counts = [sum(p <= 1 for p in places), sum(p <= 5 for p in places)]
        shares = [100 * n / len(asked) for n in (*counts, sum(not ids for ids in found))]
        cells = (part, "yes" if has_slots else "no", name, len(asked))
        print(f"| {' | '.join(map(str, cells))} | {' | '.join(f'{s:.0f}' for s in shares)} |")


def _print_languages() -> None:
    lines = _crm_lines("questions_in_languages.jsonl")
    notes = [line for line in lines if "note" in line]
    asked = [line for line in lines if "language" in line]
    model = ReadyVectors(line.get("note") or about_her(line["question"]) for line in lines)
    how = Recalling(ranking=RankingPolicy(), floor=load_recall_floor(model.model_id))
    rank = _way(model, how, fitting_only=True)  # an allergy is told whatever is asked
    ids = {line["attribute"]: str(number) for number, line in enumerate(notes)}
    print("## questions in other languages, about notes with an attribute\n")
    print("| language | half | among five | unrelated get nothing |")
    print("|---|---|--:|--:|")
    for language in dict.fromkeys(line["language"] for line in asked):
        for half in HALVES:
            contact = Contact([_crm_fact(n, line, True) for n, line in enumerate(notes)], [], model)
            own, empty = [], []
            for line in asked:
                if (line["language"], line["half"]) == (language, half):
                    found = rank(contact, line["question"], NOON)
                    if line["attribute"] is None:
                        empty.append(not found)
                    else:
                        own.append(ids[line["attribute"]] in found[:5])
            counts = (f"{sum(each)} of {len(each)}" for each in (own, empty))
            print(f"| {language} | {half} | {' | '.join(counts)} |")
    print(flush=True)


def _crm_fact(number: int, line: dict[str, Any], has_slots: bool) -> Fact:
    told = _fact(str(number), line["note"], NOON - timedelta(days=100 - number))
    if not has_slots or "attribute" not in line:
        return told
    return replace(told, slot=BOOK.slot(attribute=line["attribute"], value=line["value"]))


# The contacts


def _texts(conversations: Iterable[dict[str, Any]]) -> Iterator[str]:
    for conversation in conversations:
        for question in conversation["qa"]:
            yield from (question["question"], about_her(question["question"]))
        for turn in user_turns([conversation]):
            yield from _notes(turn["text"], SENTENCES)
            yield from _notes(turn["text"], TURNS)


def _notes(turn: str, kind: str) -> list[str]:
    return list(sentences_of(turn)) if kind == SENTENCES else [turn[:TEXT_LENGTH_MAX]]


def _contacts(
    conversations: Iterable[dict[str, Any]],
    half: str,
    kind: str,
    size: str,
    has_slots: bool,
    model: ReadyVectors,
) -> Iterator[Contact]:
    facts: list[Fact] = []
    asked: list[Asked] = []
    slots = _given_slots() if has_slots else {}
    for conversation in conversations:
        if half_of(conversation["conv_id"]) != half:
            continue
        told, questions = _told(conversation, kind, slots, model)
        facts += told
        asked += questions
        if size == ALONE or len(facts) >= NOTES_MIN:
            yield _contact(facts, asked, size, model)
            facts, asked = [], []


def _contact(facts: list[Fact], asked: list[Asked], size: str, model: ReadyVectors) -> Contact:
    if size == TOGETHER:
        end = max(fact.last_confirmed_at for fact in facts)
        asked = [replace(each, at=max(end, each.at)) for each in asked]
    return Contact(facts, asked, model)


def _told(
    conversation: dict[str, Any], kind: str, slots: dict[str, Any], model: ReadyVectors
) -> tuple[list[Fact], list[Asked]]:
    """A conversation's notes as facts, and its question; with slots the old value has ended."""
    [question] = conversation["qa"]
    sought = words_of(f"{question['question']} {question['answer']}")
    facts: list[Fact] = []
    of_turn: dict[str, list[Fact]] = {}
    statements: dict[str, str] = {}
    for number, turn in enumerate(user_turns([conversation])):
        at = datetime.fromisoformat(turn["said_at"]) + timedelta(seconds=number)
        texts = _notes(turn["text"], kind)
        told = [_fact(f"{turn['idempotency_key']}/{n}", text, at) for n, text in enumerate(texts)]
        facts += told
        of_turn[turn["idempotency_key"]] = told
        if told:
            best = max(told, key=lambda fact: len(sought & words_of(fact.text)))
            statements[turn["idempotency_key"]] = best.fact_id
    evidence = [each for each in of_turn if each in question["evidence_turn_ids"]]
    if question["abstain"] or not evidence:
        return facts, []
    # With slots, only what has changed under a slot that is known counts as changed.
    is_counted = not slots or question["qid"] in slots
    stated = [statements[each] for each in evidence if each in statements]
    asked = Asked(
        text=question["question"],
        category=question["category"],
        at=datetime.fromisoformat(question["question_timestamp"]).replace(tzinfo=UTC),
        evidence=frozenset(fact.fact_id for each in evidence for fact in of_turn[each]),
        stale=frozenset(stated[-2:-1]),
        newest=frozenset(stated[-1:] if len(stated) > 1 and is_counted else ()),
    )
    return _ended(facts, asked, slots.get(question["qid"]), model) if slots else facts, [asked]


def _fact(fact_id: str, text: str, at: datetime) -> Fact:
    return Fact(
        fact_id=fact_id,
        text=text,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=at,
        valid_from=at,
        last_confirmed_at=at,
    )


def _given_slots() -> dict[str, Any]:
    """By question the slots of the older and the newer answer, where both are one of one value.

    Whoever filled them in saw one text without the other, so some have two names.
    """
    path = Path(__file__).parent / "longmemeval_slots.jsonl"
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {
        each["id"].split(":")[1]: (each["fact_slot"], each["note_slot"])
        for each in lines
        if each["id"].startswith("longmemeval_ku:")
        and _question_of(each["fact_slot"]) == _question_of(each["note_slot"]) is not None
    }


def _question_of(given: dict[str, Any] | None) -> tuple[str, str | None] | None:
    slot = _slot(given) if given else None
    return (slot.subject, slot.attribute) if slot and slot.is_single_valued else None


def _ended(
    facts: list[Fact], asked: Asked, given: tuple[Any, Any] | None, model: ReadyVectors
) -> list[Fact]:
    """The facts without the older answer, where the rule has the newer one's slot end it."""
    if given is None or not asked.newest:
        return facts
    by_id = {fact.fact_id: fact for fact in facts}
    [older], [newer] = ([by_id[each] for each in ids] for ids in (asked.stale, asked.newest))
    older, newer = (
        replace(fact, slot=_slot(each)) for fact, each in zip((older, newer), given, strict=True)
    )
    note = Note(scope=SCOPE, text=newer.text, said_at=newer.valid_from, slot=newer.slot)
    known = neighbour_of(older, model.cosine(older.text, newer.text))
    ended = {each.fact_id for each in decide(note, [known], ReconcilePolicy()).targets}
    by_id |= {older.fact_id: older, newer.fact_id: newer}
    return [fact for fact in by_id.values() if fact.fact_id not in ended]


def _slot(given: dict[str, Any]) -> Slot | None:
    named = {"is_single_valued" if k == "single_valued" else k: v for k, v in given.items()}
    return BOOK.slot(**named)


# The speed


def _print_speed(available: Engines) -> None:
    print(f"## recall among {COUNT:,} facts of one contact, ms (median of {REPEATS})\n")
    print("| engine | bare read of facts and vectors | recall, cold | warm | warm, after a write |")
    print("|---|--:|--:|--:|--:|")
    for name in available.names:
        print(f"| {name} | {' | '.join(f'{ms:.1f}' for ms in _speeds(available, name))} |")
    print(flush=True)


def _speeds(available: Engines, name: str) -> Iterator[float]:
    """Without embedding the question, which takes the packaged model some 5 ms."""
    embedder, scope = HashingEmbedder(384), SCOPE
    with closing(open_graph(load_settings(**available.fresh(name)))) as graph:
        graph.migrate(embedder.dimension)
        store = FactStore(graph)
        texts = [f"Invoice {n} of {n % 97} is unpaid since {n % 31} days" for n in range(COUNT)]
        vectors = embedder.embed(texts)
        facts = [
            committed(scope, n, vectors[n].tolist(), text=text, said_at=NOON - timedelta(hours=n))
            for n, text in enumerate(texts)
        ]
        for start in range(0, COUNT, 100):
            DecisionStore(graph).commit_decisions(facts[start : start + 100])
        asked: dict[str, Any] = {"contact_key": scope.contact_key, "embedding_model": MODEL}
        asked["states"] = ["live", "expired", "archived"]
        yield _median(lambda: graph.run("list_neighbourhood", asked))
        neighbourhoods = Neighbourhoods(store, MODEL, 10 * COUNT)
        recall = Recall(
            fact_store=store,
            neighbourhoods=neighbourhoods,
            records=None,  # type: ignore[arg-type]  # which only the past needs
            embedder=embedder,
            how=Recalling(ranking=RankingPolicy()),
            use_trace=UNCOUNTED,
            clock=lambda: NOON,
        )

        def ask() -> object:
            return recall.recall(scope, "Which invoice is unpaid since 12 days?", 8)

        yield _median(ask, lambda: neighbourhoods.drop(scope))
        yield _median(ask)
        versions = iter(range(COUNT, 2 * COUNT))

        def write() -> None:
            commit = committed(scope, next(versions), vectors[0].tolist(), text="One more invoice")
            assert DecisionStore(graph).commit_decisions([commit])
            neighbourhoods.apply(commit)

        yield _median(ask, write)


def _median(call: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    taken = []
    for _ in range(REPEATS):
        before()
        started = time.perf_counter()
        call()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)
