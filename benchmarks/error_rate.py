"""How often the merge decision is wrong, on pairs whose relation is known, source by source.

Every pair goes through the rule itself, ``decide`` with the pair's fact as the only neighbour; a
sample of them also goes through a whole memory on the embedded engine, which has to agree.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import HALVES, half_of, rows
from benchmarks.engines import Engines
from benchmarks.pair_slots import GivenSlot, PairSlots, SlotSource
from benchmarks.rates import DecisionScores, Rate, outcome_of
from reconciler import Memory
from reconciler.bootstrap.chosen_models import build_embedder, build_policy
from reconciler.config_files import load_attribute_book
from reconciler.domain.reconciling.rule import CANDIDATE_COUNT_MAX, decide
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Outcome, Relation
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.values.attributes import AttributeBook
from reconciler.ops.calibration import LabelledPair, MeasuredPair, PairLabel
from reconciler.reading.canonical import canonical_text
from reconciler.reading.values.attribute import Attribute
from reconciler.settings import load_settings

LONGMEMEVAL = ("longmemeval_ku", "longmemeval_ms")
PERSONA = ("synthetic_persona",)
NOTES = LONGMEMEVAL + PERSONA
"""The sources that read like notes about a contact."""

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
SAMPLE_EVERY = 20
FACTS_OF_A_CONTACT = 20


@dataclass(frozen=True)
class Configuration:
    """How the engine is set."""

    name: str
    profile: str
    guard: str = "on"
    is_arbitrated: bool = False

    @property
    def reconcile(self) -> dict[str, str]:
        """The settings, as ``config/reconciler.toml`` has them."""
        return {"profile": self.profile, "guard": self.guard}

    def policy(self, embedding_model: str) -> ReconcilePolicy:
        return build_policy(load_settings(reconcile=self.reconcile), embedding_model)


BARE = Configuration("seed rule", "seed", guard="off")
GUARDED = Configuration("seed rule + guard", "seed")
UNGUARDED = Configuration("minilm profile, no guard", "minilm", guard="off")
CALIBRATED = Configuration("minilm profile", "minilm")
CEILING = Configuration("minilm + arbiter by label", "minilm", is_arbitrated=True)
CONFIGURATIONS = (BARE, GUARDED, CALIBRATED, CEILING)

NO_SLOTS, FROM_TEXT, IN_SESSION = "none", "from one text", "from one text in its session"
READ = "read by the doors"
SLOTS = (NO_SLOTS, READ, FROM_TEXT, IN_SESSION)
"""Who fills the slots: nobody, the offline reader that fills them at both doors, or a caller."""


@dataclass(frozen=True)
class Case:
    """A pair as it is put to the rule, with its slots as a caller would give them."""

    measured: MeasuredPair
    given: PairSlots

    @property
    def half(self) -> str:
        """Whether cues may have been written looking at it."""
        return half_of(self.pair.fact_text)

    @property
    def has_slots(self) -> bool:
        return bool(self.pair.fact_slot or self.pair.note_slot)

    @property
    def pair(self) -> LabelledPair:
        return self.measured.pair


@dataclass(frozen=True)
class Results:
    """What became of every pair, under each configuration and with each way of giving slots."""

    outcomes: Mapping[tuple[Configuration, str], Sequence[tuple[Case, Outcome]]]

    def sources(self, slots: str) -> list[str]:
        """Those that are of interest there: with slots, those that have some."""
        cases = [case for case, _ in self.outcomes[BARE, slots]]
        if slots == IN_SESSION:
            return sorted(LONGMEMEVAL)
        return sorted({case.pair.source for case in cases if slots == NO_SLOTS or case.has_slots})

    def scores(
        self, configuration: Configuration, slots: str, *sources: str, half: str | None = None
    ) -> DecisionScores:
        """The sources taken together; all where none is named, and both halves."""
        counts = Counter(
            (case.pair.label, outcome)
            for case, outcome in self.outcomes[configuration, slots]
            if (not sources or case.pair.source in sources) and half in (None, case.half)
        )
        return DecisionScores(source=", ".join(sources), counts=counts)

    def wrong(self, configuration: Configuration, slots: str) -> Iterator[tuple[Case, Outcome]]:
        """The pairs of notes whose true fact was retired, or whose update is silent or lost."""
        for case, outcome in self.outcomes[configuration, slots]:
            retired = outcome in (Outcome.SUPERSEDED, Outcome.REPEATED)
            is_wrong = {
                PairLabel.DISTINCT: retired,
                PairLabel.UPDATE: outcome in (Outcome.APART, Outcome.REPEATED),
                PairLabel.SAME: False,
            }
            if case.pair.source in NOTES and is_wrong[case.pair.label]:
                yield case, outcome


@dataclass(frozen=True)
class Cost:
    """Milliseconds of the same notes, note by note, without slots and guard and with both."""

    name: str
    without: list[float]
    with_both: list[float]

    @property
    def added(self) -> float:
        return median(self.with_both) - median(self.without)


def main(available: Engines) -> None:
    pairs = rows("note_pairs.jsonl")
    if pairs is None:
        return
    vectors, book = ReadyVectors(_texts(pairs)), load_attribute_book(None)
    note_texts = _texts(pair for pair in pairs if pair["source"] in NOTES)
    costs = [
        # First, while the guard has read nothing yet.
        *_costs_of_decision(note_texts, book, vectors.model_id),
        *_costs_of_write(available, note_texts, book, vectors),
    ]
    cases = {slots: pair_cases(pairs, slots, vectors, book) for slots in SLOTS}
    results = _decide_all(cases, vectors.model_id)
    _print_targets(results, costs)
    _print_halves(results)
    _print_rates(results)
    _print_wrong(results)
    _print_costs(costs)
    _print_agreement(available, results, vectors)


class ReadyVectors:
    """The packaged model's vectors of some texts, ready at once; an embedder for no others."""

    def __init__(self, texts: Iterable[str]) -> None:
        model = build_embedder(load_settings(embedder={"model": "minilm"}))
        unique = list(dict.fromkeys(map(canonical_text, texts)))
        self._vectors = dict(zip(unique, model.embed(unique), strict=True))
        self.model_id, self.dimension = model.model_id, model.dimension
        model.close()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = [self._vectors[canonical_text(text)] for text in texts]
        return np.array(found, dtype=np.float32).reshape(len(texts), self.dimension)

    def cosine(self, one: str, other: str) -> float:
        first, second = self.embed([one, other])
        return float(first @ second)

    def warm_up(self) -> float:
        return 0.0

    def close(self) -> None:
        """Nothing to stop."""


# The decisions


def _texts(pairs: Iterable[dict[str, Any]]) -> list[str]:
    return [text for pair in pairs for text in (pair["a"], pair["b"])]


def pair_cases(
    pairs: Iterable[dict[str, Any]], slots: str, vectors: ReadyVectors, book: AttributeBook
) -> list[Case]:
    if slots in (NO_SLOTS, READ):
        return [_case(pair, PairSlots(), vectors, book, reads=slots == READ) for pair in pairs]
    source = SlotSource(sees_session=slots == IN_SESSION)
    return [_case(pair, source.slots(pair), vectors, book) for pair in pairs]


def _case(
    row: dict[str, Any],
    given: PairSlots,
    vectors: ReadyVectors,
    book: AttributeBook,
    *,
    reads: bool = False,
) -> Case:
    fact_slot, note_slot = _slot(book, given.fact), _slot(book, given.note)
    if reads:
        fact_slot, note_slot = (book.filled(None, row[side])[0] for side in ("a", "b"))
    pair = LabelledPair(
        pair_id=row["id"],
        source=row["source"],
        fact_text=row["a"],
        note_text=row["b"],
        label=PairLabel(row["label"]),
        fact_slot=fact_slot,
        note_slot=note_slot,
    )
    cosine = vectors.cosine(row["a"], row["b"])
    return Case(MeasuredPair(pair=pair, cosine=cosine), given)


def _slot(book: AttributeBook, given: GivenSlot | None) -> Slot | None:
    if given is None:
        return None
    return book.slot(
        subject=given.subject,
        attribute=given.attribute,
        value=given.value,
        is_single_valued=given.single_valued,
    )


def _decide_all(cases: Mapping[str, Sequence[Case]], embedding_model: str) -> Results:
    outcomes = {}
    for configuration in CONFIGURATIONS:
        policy = configuration.policy(embedding_model)
        for slots, found in cases.items():
            outcomes[configuration, slots] = [
                (
                    case,
                    outcome_of(
                        case.measured,
                        policy,
                        _answer(case.pair.label) if configuration.is_arbitrated else None,
                    ),
                )
                for case in found
            ]
    return Results(outcomes)


# What the issue asks for


@dataclass(frozen=True)
class Target:
    """One thing asked for, what was found, and whether that is enough."""

    text: str
    found: str
    is_met: bool


def _print_targets(results: Results, costs: Sequence[Cost]) -> None:
    print("## errors: what was asked for, and what was found\n")
    print("| asked for | found | met |")
    print("|---|---|---|")
    for each in (
        *_false_supersession_targets(results),
        *_update_targets(results),
        *_other_targets(results),
        *_cost_targets(costs),
    ):
        print(f"| {each.text} | {each.found} | {'yes' if each.is_met else '**no**'} |")
    print(flush=True)


def _false_supersession_targets(results: Results) -> Iterator[Target]:
    for configuration in (GUARDED, CALIBRATED):
        for slots in (NO_SLOTS, FROM_TEXT, IN_SESSION):
            rate = results.scores(configuration, slots, *LONGMEMEVAL).rate("false_supersessions")
            text = f"LongMemEval, {configuration.name}, slots {slots}: 0 distinct superseded"
            yield Target(text, _of(rate), not rate.count)
        rate = results.scores(configuration, NO_SLOTS, *PERSONA).rate("false_supersessions")
        text = f"Synthetic-Persona, {configuration.name}: 0 distinct superseded"
        yield Target(text, _of(rate), not rate.count)
        bare = results.scores(BARE, NO_SLOTS, "paws").rate("false_supersessions")
        rate = results.scores(configuration, NO_SLOTS, "paws").rate("false_supersessions")
        fewer = 1 - rate.count / bare.count
        text = f"PAWS, {configuration.name}: at least 90 % fewer superseded than by the seed rule"
        yield Target(text, f"{rate.count} instead of {bare.count}, {fewer:.0%} fewer", fewer >= 0.9)


def _update_targets(results: Results) -> Iterator[Target]:
    for configuration in (GUARDED, CALIBRATED):
        for name, sources in (("ParaRel", ("pararel",)), ("LongMemEval", LONGMEMEVAL)):
            for slots in (FROM_TEXT, IN_SESSION) if sources is LONGMEMEVAL else (FROM_TEXT,):
                rate = _not_silent(results.scores(configuration, slots, *sources))
                text = f"{name}, {configuration.name}, slots {slots}: 95 % of updates not silent"
                yield Target(text, _of(rate), _share(rate) >= 0.95)
    rate = _not_silent(results.scores(CALIBRATED, NO_SLOTS, *LONGMEMEVAL))
    text = "LongMemEval, minilm profile, no slots, no arbiter: half of the updates not silent"
    yield Target(text, _of(rate), _share(rate) >= 0.5)
    rate = results.scores(CALIBRATED, NO_SLOTS, *NOTES).rate("distinct_marked")
    text = "LongMemEval and Synthetic-Persona, the same: at most 15 % of distinct pairs marked"
    yield Target(text, _of(rate), _share(rate) <= 0.15)


def _other_targets(results: Results) -> Iterator[Target]:
    rate = results.scores(CEILING, NO_SLOTS).rate("same_stored_twice")
    without = results.scores(CALIBRATED, NO_SLOTS).rate("same_stored_twice")
    yield Target(
        "all sources, minilm + arbiter by label: under 10 % of the same stored twice",
        f"{_of(rate)}; {_of(without)} without it",
        _share(rate) < 0.1,
    )


def _cost_targets(costs: Iterable[Cost]) -> Iterator[Target]:
    for each in costs:
        text = f"{each.name}: slots and guard add under 0.5 ms"
        yield Target(text, f"{each.added:.2f} ms", each.added < 0.5)


def _not_silent(scores: DecisionScores) -> Rate:
    """Of the updates, those that end with the new fact live alone, or a recorded conflict."""
    silent = scores.rate("silent_updates")
    return Rate(count=silent.of - silent.count - _lost_updates(scores).count, of=silent.of)


def _lost_updates(scores: DecisionScores) -> Rate:
    """Of the updates, those taken for the fact said again, so that the stale one stays."""
    lost = scores.counts[PairLabel.UPDATE, Outcome.REPEATED]
    return Rate(count=lost, of=scores.rate("silent_updates").of)


def _share(rate: Rate) -> float:
    return rate.share or 0.0


def _of(rate: Rate) -> str:
    return f"{rate.count}/{rate.of}, {_share(rate):.1%}" if rate.of else "–"


def with_interval(rate: Rate) -> str:
    """Count, share, and in brackets Wilson's interval; a dash of nothing."""
    low, high = rate.interval
    return f"{_of(rate)} ({low:.1%} to {high:.1%})" if rate.of else "–"


# The tables


def _print_halves(results: Results) -> None:
    """LongMemEval and Synthetic-Persona, by the half that cues were written looking at."""
    print("### notes without an arbiter, by half; in brackets Wilson's 95 % interval\n")
    print(
        "| configuration | slots | half | pairs with a slot | updates: silent | updates: lost "
        "| distinct: marked | distinct: superseded |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for configuration in (GUARDED, CALIBRATED):
        for slots in (NO_SLOTS, READ):
            cases = [case for case, _ in results.outcomes[configuration, slots]]
            for half in HALVES:
                scores = results.scores(configuration, slots, *NOTES, half=half)
                filled = sum(
                    case.has_slots and case.half == half and case.pair.source in NOTES
                    for case in cases
                )
                rates = (
                    scores.rate("silent_updates"),
                    _lost_updates(scores),
                    scores.rate("distinct_marked"),
                    scores.rate("false_supersessions"),
                )
                cells = " | ".join(map(with_interval, rates))
                print(f"| {configuration.name} | {slots} | {half} | {filled} | {cells} |")
    print(flush=True)


def _print_rates(results: Results) -> None:
    print("### every source; in brackets Wilson's 95 % interval\n")
    print(
        "| source | configuration | slots | distinct: superseded | distinct: marked "
        "| updates: superseding or marked | updates: lost | same: stored twice |"
    )
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for source in results.sources(NO_SLOTS):
        for slots in SLOTS:
            for configuration in CONFIGURATIONS if source in results.sources(slots) else ():
                scores = results.scores(configuration, slots, source)
                print(
                    f"| {source} | {configuration.name} | {slots} "
                    f"| {with_interval(scores.rate('false_supersessions'))} "
                    f"| {_of(scores.rate('distinct_marked'))} | {_of(_not_silent(scores))} "
                    f"| {_of(_lost_updates(scores))} | {_of(scores.rate('same_stored_twice'))} |"
                )
    print(flush=True)


def _print_wrong(results: Results) -> None:
    print("### the pairs of notes that minilm gets wrong: distinct superseded, updates silent\n")
    print("| slots | pair | label | cosine | slots of the fact and of the note |")
    print("|---|---|---|--:|---|")
    for slots in SLOTS:
        for case, _ in results.wrong(CALIBRATED, slots):
            sides = " / ".join(map(_slot_in_words, (case.pair.fact_slot, case.pair.note_slot)))
            cosine = f"{case.measured.cosine:.2f}"
            print(f"| {slots} | {case.pair.pair_id} | {case.pair.label} | {cosine} | {sides} |")
    print(flush=True)


def _slot_in_words(slot: Slot | None) -> str:
    return f"{slot.subject}'s {slot.attribute}: {slot.value}" if slot else "none"


def _print_costs(costs: Iterable[Cost]) -> None:
    print("### what slots and guard add to one write, ms\n")
    print(
        "| measured | notes | without, median | with, median | added | without, p95 | with, p95 |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for each in costs:
        medians = f"{median(each.without):.3f} | {median(each.with_both):.3f} | {each.added:.3f}"
        p95s = f"{_p95(each.without):.3f} | {_p95(each.with_both):.3f}"
        print(f"| {each.name} | {len(each.without)} | {medians} | {p95s} |")
    print(flush=True)


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


# The cost


def _costs_of_decision(
    texts: Sequence[str], book: AttributeBook, embedding_model: str
) -> list[Cost]:
    """``AttributeBook.slot`` and ``decide``, against ``decide`` alone, over five neighbours.

    The neighbours lie just below the cut, where the guard reads each of them. It remembers what it
    read: so once with texts that it never saw, once with another note about the same neighbours.
    """
    bare, full = (each.policy(embedding_model) for each in (UNGUARDED, CALIBRATED))
    costs = [
        Cost("slot and decision, five neighbours never read before", [], []),
        Cost("slot and decision, five neighbours read before", [], []),
    ]
    for number in range(len(book)):  # what a normaliser loads once belongs to no write
        _slot(book, _cost_slot(list(book), len(texts) + number, "warm up"))
    size = CANDIDATE_COUNT_MAX + len(costs)
    for first in range(0, len(texts) - size + 1, size):
        notes, facts = texts[first : first + len(costs)], texts[first + len(costs) : first + size]
        neighbours = [
            Neighbour(fact_id=each, text=each, cosine=full.cut - 1e-6, valid_from=SAID_AT)
            for each in facts
        ]
        for cost, text in zip(costs, notes, strict=True):
            given = _cost_slot(list(book), first + costs.index(cost), text)
            without = _milliseconds(_slot_and_decide, book, None, text, neighbours, bare)
            with_both = _milliseconds(_slot_and_decide, book, given, text, neighbours, full)
            cost.without.append(without)
            cost.with_both.append(with_both)
    return costs


def _slot_and_decide(
    book: AttributeBook,
    given: GivenSlot | None,
    text: str,
    neighbours: Sequence[Neighbour],
    policy: ReconcilePolicy,
) -> None:
    slot = _slot(book, given)
    scope = Scope("benchmark", "benchmark", "benchmark")
    note = Note(scope=scope, text=text, said_at=SAID_AT + timedelta(days=1), slot=slot)
    decide(note, neighbours, policy)


def _costs_of_write(
    available: Engines, texts: Sequence[str], book: AttributeBook, vectors: ReadyVectors
) -> list[Cost]:
    """Whole writes, in turn, to two memories that hold the same; none without the engine."""
    if "embedded" not in available.names:
        return []
    cost = Cost("a whole write on the embedded engine", [], [])
    with (
        _memory(available, UNGUARDED, vectors) as bare,
        _memory(available, CALIBRATED, vectors) as full,
    ):
        for number, text in enumerate(texts):
            contact = f"contact-{number // FACTS_OF_A_CONTACT}"
            writes: list[tuple[list[float], Memory, dict[str, Any]]] = [
                (cost.without, bare, {}),
                (cost.with_both, full, asdict(_cost_slot(list(book), number, text))),
            ]
            for taken, memory, slot in writes if number % 2 else reversed(writes):
                taken.append(_milliseconds(memory.add_contact_note, "a", contact, text, **slot))
    return [cost]


def _cost_slot(attributes: Sequence[Attribute], number: int, text: str) -> GivenSlot:
    """A slot of the attributes in turn, with a value of its kind that was never read before."""
    attribute = attributes[number % len(attributes)]
    values = {
        "date": f"March {number % 28 + 1}, {1900 + number}",
        "date_time": f"March {number % 28 + 1}, {1900 + number}, 3 pm",
        "email": f"Ada.Lovelace+{number}@Example.com",
        "money": f"about ${number + 10},500.00",
        "number": f"{number + 10},500",
        "percent": f"{number} %",
        "phone": f"+44 20 7946 {number:04d}",
        "url": f"https://www.Example.com/{number}",
    }
    # Not as it stands in the text: of some attributes the value is taken out of it.
    value = values.get(attribute.normaliser, f"{' '.join(text.split()[:6])} {number}")
    return GivenSlot(attribute=attribute.name, value=value)


def _milliseconds(call: Callable[..., object], *arguments: Any, **named: Any) -> float:
    started = time.perf_counter()
    call(*arguments, **named)
    return (time.perf_counter() - started) * 1000


# The engine


def _answer(label: PairLabel) -> Judgement:
    """What an arbiter says that is always right."""
    relation, action = {
        PairLabel.SAME: (Relation.SAME, Action.SKIP),
        PairLabel.UPDATE: (Relation.REPLACES, Action.UPDATE),
        PairLabel.DISTINCT: (Relation.COEXISTS, Action.ADD),
    }[label]
    target = None if action is Action.ADD else 1
    return Judgement(reasoning=label, relation=relation, target=target, action=action)


class LabelArbiter:
    """Always right: answers the label of the pair that the note and its nearest fact make."""

    name = "label"

    def __init__(self, pairs: Iterable[LabelledPair]) -> None:
        self._labels = {(each.fact_text, each.note_text): each.label for each in pairs}

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        return _answer(self._labels[neighbours[0].text, note.text])

    def close(self) -> None:
        """Nothing to close."""


def _print_agreement(available: Engines, results: Results, vectors: ReadyVectors) -> None:
    if "embedded" not in available.names:
        print("left out: the engine's check needs the embedded engine\n")
        return
    print("### the same pairs through a whole memory: what is live and linked in the graph\n")
    print("| configuration | slots | pairs | of them stopped by the gate | against the rule |")
    print("|---|---|--:|--:|--:|")
    for (configuration, slots), decided in results.outcomes.items():
        # The door reads slots by itself; with the session there are only other values.
        if slots in (IN_SESSION, NO_SLOTS):
            continue
        sample = [
            each
            for number, each in enumerate(decided)
            if number % SAMPLE_EVERY == 0 or each[0].pair.source in LONGMEMEVAL
        ]
        stopped, wrong = _disagreements(available, configuration, sample, vectors)
        cells = (configuration.name, slots, len(sample), stopped, len(wrong))
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        for pair_id in wrong:
            print(f"| | | {pair_id} | | |")
    print(flush=True)


def _disagreements(
    available: Engines,
    configuration: Configuration,
    sample: Sequence[tuple[Case, Outcome]],
    vectors: ReadyVectors,
) -> tuple[int, list[str]]:
    """How many pairs the gate stopped, and which the memory treats otherwise than the rule did."""
    arbiter = LabelArbiter(case.pair for case, _ in sample) if configuration.is_arbitrated else None
    with _memory(available, configuration, vectors, arbiter) as memory:
        found = [
            (_remembered(memory, f"contact-{number}", case), case, outcome)
            for number, (case, outcome) in enumerate(sample)
        ]
    stopped = sum(remembered is None for remembered, _, _ in found)
    wrong = [case for remembered, case, outcome in found if remembered not in (None, outcome)]
    return stopped, [case.pair.pair_id for case in wrong]


def _remembered(memory: Memory, contact: str, case: Case) -> Outcome | None:
    """What the graph holds once both texts were said; None where the gate let only one in."""
    said = ((case.pair.fact_text, case.given.fact), (case.pair.note_text, case.given.note))
    for day, (text, given) in enumerate(said):
        slot = asdict(given) if given else {}
        said_at = SAID_AT + timedelta(days=day)
        decision = memory.add_contact_note("a", contact, text, said_at=said_at, **slot)
        if not decision.action.is_reconciled:
            return None
    chains = memory.contact("a", contact).history()
    if len(chains) == 1:
        return Outcome.SUPERSEDED if len(chains[0].facts) == 2 else Outcome.REPEATED
    is_linked = any(chain.conflicts for chain in chains)
    return Outcome.CONFLICT if is_linked else Outcome.APART


def _memory(
    available: Engines,
    configuration: Configuration,
    vectors: ReadyVectors,
    arbiter: LabelArbiter | None = None,
) -> Memory:
    settings = load_settings(
        **available.fresh("embedded")
        | {
            "reconcile": configuration.reconcile,
            "arbiter": {"mode": "off", "calls_per_minute_max": 1_000_000},
        }
    )
    return Memory.open(settings, embedder=vectors, arbiter=arbiter)
