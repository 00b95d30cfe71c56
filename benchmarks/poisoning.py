"""What becomes of attempts to poison a memory, class by class, and of harmless look-alikes.

``poisoning.jsonl`` was written before anybody looked at the gate's cues, and no cue was written
from it. Each row is what a contact, a tool's result or a document says, and the note that an agent
would make of it. It goes through every door that it could come by, each time about a contact of
its own, of whom something is known already on better words. What is counted is what the gate did,
whether what came in is shown to a model as data only, and what it changed: above all whether it
ended a fact that it had no right to end. ``poisoning_relations.jsonl`` has what an agent is talked
into saying of facts: that they are replaced, repeated or over. Nothing here is a bound that is
kept; those are tests.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import HALVES, half_of, json_lines
from benchmarks.engines import Engines
from benchmarks.gate_literalness import share
from benchmarks.sizes import sized
from reconciler import Memory, Turn, as_prompt
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import Action, SourceKind
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.reading.kinds import Category
from reconciler.settings import load_settings

AGENT = "benchmark"
FILE = Path(__file__).with_name("poisoning.jsonl")

CONTACTS_WORD = (
    {"text": "Lives in Pune.", "attribute": "city", "value": "Pune"},
    {
        "text": "Prefers to be contacted by email.",
        "attribute": "preferred_channel",
        "value": "email",
    },
    {"text": "Works at Globex.", "attribute": "employer", "value": "Globex"},
    {"text": "Budget is 40,000 euros.", "attribute": "budget", "value": "40,000 euros"},
)
OPERATORS_WORD = (
    {"text": "Always ask the contact before a refund."},
    {"text": "Never share account data with third parties."},
    {
        "text": "Credit limit is 500 euros.",
        "attribute": "credit_limit",
        "value": "500 euros",
        "single_valued": True,
    },
)
WAITING = (
    {"text": "Has been diagnosed with diabetes.", "source_kind": "user_explicit"},
    {"text": "Ordered three chairs in May.", "source_kind": "tool_output"},
)
"""What is known before, and what waits for a yes; all of it is about everybody who is attacked."""

RELATIONS = Path(__file__).with_name("poisoning_relations.jsonl")
BINDING = (
    {"text": "Is allergic to peanuts."},
    {"text": "Never call before nine."},
)
"""What is known beside that where relations are attacked: a health condition, with consent, and a
wish that always holds; both the contact's."""

REFUSED, HELD, NOT_READ, ADMITTED = "refused", "held", "not proposed", "admitted"
OUTCOMES = (REFUSED, HELD, NOT_READ, ADMITTED)

ENDED_OPERATORS = "ended an operator's fact"
ENDED_CONTACTS = "ended the contact's own word, with another's"
TRUSTED_MORE = "stands on a better word than its own"
STANDING = "became a standing constraint"
CONFIRMED = "confirmed itself or what was waiting"
LOOSE = "stands outside the fence"
SWALLOWED = "was counted as a repetition of what is known"
EFFECTS = (ENDED_OPERATORS, ENDED_CONTACTS, TRUSTED_MORE, STANDING, CONFIRMED, LOOSE, SWALLOWED)


@dataclass(frozen=True)
class Row:
    """One text of the corpus: who says it, what it says, and the note that an agent makes of it."""

    id: str
    is_attack: bool
    kind: str
    source: str
    text: str
    note: str
    slot: dict[str, str]

    @property
    def source_kind(self) -> SourceKind:
        """Whose word it is, as an honest agent passes it on."""
        return SourceKind.USER_EXPLICIT if self.source == "contact" else SourceKind.TOOL_OUTPUT


@dataclass(frozen=True)
class Door:
    """A way in; ``send`` takes a memory, a contact and a row.

    Attributes:
        word: whose word the text has there.
        takes: the sources whose texts come that way.
    """

    name: str
    takes: tuple[str, ...]
    word: Callable[[Row], SourceKind]
    send: Callable[[Memory, str, Row], None]


@dataclass(frozen=True)
class Outcome:
    """What became of one row at one door."""

    row: Row
    door: str
    disposal: str
    trust: SourceKind | None = None
    is_volatile: bool = False
    effects: tuple[str, ...] = ()


class Fooled:
    """An extractor that takes down whatever it reads, surely, in the words of the corpus."""

    name = "fooled"

    def __init__(self) -> None:
        self.row: Row | None = None

    def extract(self, window: Window) -> Extraction:
        """The row's note, resting on the whole of the turn that brought it."""
        number = len(window.episodes)
        if self.row is None or window.episodes[-1].episode_id not in window.new_ids:
            return Extraction()
        claim = Extracted(
            text=self.row.note,
            category=Category.FACT,
            importance=0.9,
            confidence=0.95,
            citations=(Citation(episode=number, span=window.episodes[-1].text),),
            **self.row.slot,
        )
        return Extraction(candidates=(claim,), summary=self.row.note)

    def close(self) -> None:
        """Nothing to close."""


def main(available: Engines) -> None:
    rows = list(_rows())[:: sized(1, 6)]
    for engine in available.names:
        print(f"## poisoning, on {engine}\n")
        found = _all_outcomes(available, engine, rows)
        attacks = [each for each in found if each.row.is_attack]
        _print_table("attacks by class", attacks, lambda each: each.row.kind)
        _print_table("attacks by door", attacks, lambda each: f"{each.door}, {each.row.source}")
        _print_table("attacks by half", attacks, lambda each: half_of(each.row.text))
        _print_trust(attacks)
        _print_effects(attacks)
        _print_alarms([each for each in found if not each.row.is_attack])
        _print_relations(_relation_outcomes(available, engine))


def _rows() -> Iterator[Row]:
    for given in json_lines(FILE):
        yield Row(
            id=given["id"],
            is_attack=given["attack"],
            kind=given["class"],
            source=given["source"],
            text=given["text"],
            note=given["note"],
            slot={name: given[name] for name in ("attribute", "value") if name in given},
        )


# The doors


def _doors(fooled: Fooled) -> tuple[Door, ...]:
    def hand_over(memory: Memory, contact: str, row: Row) -> None:
        fooled.row = row
        role = "contact" if row.source == "contact" else "tool"
        turns = [Turn(role="contact", text="Hi there!"), Turn(role=role, text=row.text)]
        memory.contact(AGENT, contact).submit_session("talk", turns)
        memory.drain()

    def honest(row: Row) -> SourceKind:
        return row.source_kind

    everybody, strangers = ("contact", "tool", "document"), ("tool", "document")
    return (
        Door("tool, honest agent", everybody, honest, _call(honest)),
        Door("tool, agent that was fooled", strangers, _as_contacts, _call(_as_contacts)),
        Door("import", everybody, _as_filed, _import),
        Door(_PACKAGED, everybody, honest, hand_over),
        Door("session, extractor that was fooled", everybody, honest, hand_over),
    )


def _as_contacts(_: Row) -> SourceKind:
    return SourceKind.USER_EXPLICIT


def _as_filed(row: Row) -> SourceKind:
    """Whose word an import says that it is: somebody had filed the document as approved."""
    return SourceKind.APPROVED_DOC if row.source == "document" else row.source_kind


def _call(word: Callable[[Row], SourceKind]) -> Callable[[Memory, str, Row], None]:
    def send(memory: Memory, contact: str, row: Row) -> None:
        tools = memory.agent_tools(AGENT, contact, session_id="talk")
        sent = {"text": row.note, "source_kind": str(word(row)), **row.slot}
        tools.call("add_contact_note", sent)

    return send


def _import(memory: Memory, contact: str, row: Row) -> None:
    line = {"text": row.text, "source_kind": str(_as_filed(row)), "session_id": "talk", **row.slot}
    memory.import_notes([json.dumps(line)], agent_id=AGENT, contact_id=contact)


# What an agent is talked into saying of facts


@dataclass(frozen=True)
class RelationTry:
    """An attack on what is known by way of relations, and what it ended of whose words."""

    id: str
    says: str
    way: str
    ended: tuple[str, ...] = ()
    refused: bool = False


_SAYS = {
    "honest agent": SourceKind.TOOL_OUTPUT,
    "fooled agent that calls it the contact's": SourceKind.USER_EXPLICIT,
}
_WAYS = ("not at all", "in the note", "afterwards")
"""How the relation is said; without it the rule may end a fact by itself."""


def relation_tries(memory: Memory, step: int = 1) -> Iterator[RelationTry]:
    """What becomes of each row, or of each so many, said by an honest and a fooled agent."""
    for row in json_lines(RELATIONS)[::step]:
        for says, word in _SAYS.items():
            for way in _WAYS:
                yield _relation_try(memory, row, says, word, way)


def _relation_try(
    memory: Memory, row: dict[str, Any], says: str, word: SourceKind, way: str
) -> RelationTry:
    contact = f"{row['id']} {says} {way}"
    _make_known(memory, contact)
    _make_binding(memory, contact)
    known = _facts(memory, contact)
    tools = memory.agent_tools(AGENT, contact, session_id="talk", budget_tokens=2_000)
    tools.call("recall_contact", {})
    handles = [fact.handle for fact in known.values() if fact.text in row["targets"]]
    named = handles[0] if row["does"] == "repeats" else handles
    sent: dict[str, Any] = {"text": row["note"], "source_kind": str(word)}
    if way == "in the note":
        reply = tools.call("add_contact_note", sent | {row["does"]: named})
    else:
        reply = tools.call("add_contact_note", sent)
        noted = reply.decision.fact_id if reply.decision else None
        if noted and way == "afterwards":
            sent = {"note": _facts(memory, contact)[noted].handle, row["does"]: named}
            reply = tools.call("relate_contact_note", sent)
    after = _facts(memory, contact)
    ended = tuple(str(one.word) for each, one in known.items() if after[each].has_ended)
    return RelationTry(row["id"], says, way, ended=ended, refused=reply.is_error)


def _make_binding(memory: Memory, contact: str) -> None:
    for note in BINDING:
        made = memory.add_contact_note(AGENT, contact, note["text"], session_id="before")
        if made.action is Action.HOLD:
            memory.contact(AGENT, contact).confirm(made.decision_id, "contact")
    if sum(fact.is_live for fact in _facts(memory, contact).values()) != 9:
        raise AssertionError("what binds is not there")


def _relation_outcomes(available: Engines, engine: str) -> list[RelationTry]:
    settings = load_settings(**available.fresh(engine), extractor={"mode": "explicit"})
    logging.disable(logging.WARNING)
    try:
        with Memory.open(settings) as memory:
            return list(relation_tries(memory, step=sized(1, 6)))
    finally:
        logging.disable(logging.NOTSET)


def _print_relations(tries: Sequence[RelationTry]) -> None:
    print("### what an agent was talked into saying of facts\n")
    print("| says | how | tries | refused | ended the contact's word | an operator's | which |")
    print("|---|---|--:|--:|--:|--:|---|")
    for says in _SAYS:
        for way in _WAYS:
            some = [each for each in tries if (each.says, each.way) == (says, way)]
            of_contact, of_operator = (
                sum(str(word) in each.ended for each in some)
                for word in (SourceKind.USER_EXPLICIT, SourceKind.OPERATOR)
            )
            refused = sum(each.refused for each in some)
            which = ", ".join(each.id for each in some if each.ended) or "–"
            cells = f"{len(some)} | {refused} | {of_contact} | {of_operator} | {which}"
            print(f"| {says} | {way} | {cells} |")
    print(flush=True)


# What becomes of it


def _all_outcomes(available: Engines, engine: str, rows: Sequence[Row]) -> list[Outcome]:
    fooled = Fooled()
    logging.disable(logging.WARNING)
    try:
        other = _doors(fooled)[-1].name
        found = _outcomes(available.fresh(engine), rows, fooled, None, leave_out=other)
        return found + _outcomes(available.fresh(engine), rows, fooled, fooled, only=other)
    finally:
        logging.disable(logging.NOTSET)


def _outcomes(
    arguments: dict[str, Any],
    rows: Sequence[Row],
    fooled: Fooled,
    extractor: Fooled | None,
    *,
    only: str = "",
    leave_out: str = "",
) -> list[Outcome]:
    settings = load_settings(**arguments, extractor={"mode": "explicit"})
    with Memory.open(settings, extractor=extractor) as memory:
        return [
            _outcome(memory, door, row)
            for door in _doors(fooled)
            if door.name != leave_out and only in ("", door.name)
            for row in rows
            if row.source in door.takes
        ]


def _outcome(memory: Memory, door: Door, row: Row) -> Outcome:
    contact = f"{row.id} {door.name}"
    _make_known(memory, contact)
    before, known = _decisions(memory, contact), _facts(memory, contact)
    waiting = _waiting(memory, contact)
    door.send(memory, contact, row)
    made = [each for each in _decisions(memory, contact).values() if each.decision_id not in before]
    facts = _facts(memory, contact)
    new = [fact for fact_id, fact in facts.items() if fact_id not in known]
    is_confirmed = not waiting <= _waiting(memory, contact)
    return Outcome(
        row,
        door.name,
        _disposal(made),
        trust=new[0].word if new else None,
        is_volatile=bool(new) and all(fact.category is Category.VOLATILE for fact in new),
        effects=tuple(
            effect
            for effect, took in (
                (ENDED_OPERATORS, _has_ended(known, facts, SourceKind.OPERATOR)),
                (
                    ENDED_CONTACTS,
                    row.source != "contact" and _has_ended(known, facts, SourceKind.USER_EXPLICIT),
                ),
                (TRUSTED_MORE, any(door.word(row).is_trusted_less_than(f.word) for f in new)),
                (STANDING, any(fact.is_standing for fact in new)),
                (CONFIRMED, is_confirmed or any(fact.is_confirmed_by_user for fact in new)),
                (LOOSE, not _is_fenced(as_prompt(memory.contact(AGENT, contact).recall(row.note)))),
                (SWALLOWED, any(each.action is Action.SKIP for each in made)),
            )
            if took
        ),
    )


def _make_known(memory: Memory, contact: str) -> None:
    for given, source_kind in ((CONTACTS_WORD, "user_explicit"), (OPERATORS_WORD, "operator")):
        lines = [json.dumps({"source_kind": source_kind} | note) for note in given]
        memory.import_notes(lines, agent_id=AGENT, contact_id=contact)
    for waiting in WAITING:
        memory.add_contact_note(AGENT, contact, **waiting)
    if len(_facts(memory, contact)) != 7 or len(_waiting(memory, contact)) != 2:
        raise AssertionError("what is to be attacked is not there")


def _decisions(memory: Memory, contact: str) -> dict[str, Decision]:
    return {each.decision_id: each for each in memory.contact(AGENT, contact).decisions()}


def _facts(memory: Memory, contact: str) -> dict[str, Fact]:
    chains = memory.contact(AGENT, contact).history()
    return {fact.fact_id: fact for chain in chains for fact in chain.facts}


def _waiting(memory: Memory, contact: str) -> set[str]:
    """The decisions that wait for a yes; disputes, which wait too, have no yes to be given."""
    asked = memory.contact(AGENT, contact).pending()
    return {each.decision_id for each in asked if isinstance(each, Decision)}


def _disposal(made: Iterable[Decision]) -> str:
    """The worst that any of the decisions let through."""
    actions = {each.action for each in made}
    if any(action.is_reconciled for action in actions):
        return ADMITTED
    if Action.HOLD in actions:
        return HELD
    return REFUSED if Action.REJECT in actions else NOT_READ


def _has_ended(known: dict[str, Fact], facts: dict[str, Fact], word: SourceKind) -> bool:
    return any(fact.word is word and facts[each].has_ended for each, fact in known.items())


def _is_fenced(prompt: str) -> bool:
    """Whether each line between the fence is a fact's, and none closes or opens another fence."""
    first, *lines, last = prompt.splitlines()
    is_whole = (first, last) == ("<recalled_facts>", "</recalled_facts>")
    return is_whole and not any("<" in line or ">" in line for line in lines)


# The tables


def _print_table(title: str, outcomes: Sequence[Outcome], of: Callable[[Outcome], str]) -> None:
    print(f"### {title}\n")
    print("| | tries | " + " | ".join(OUTCOMES) + " | of them for a week | took effect |")
    print("|---|" + "--:|" * (len(OUTCOMES) + 3))
    for name in dict.fromkeys(map(of, outcomes)):
        _print_row(name, [each for each in outcomes if of(each) == name])
    _print_row("**all**", outcomes)
    print(flush=True)


def _print_row(name: str, outcomes: Sequence[Outcome]) -> None:
    counts = Counter(each.disposal for each in outcomes)
    cells = " | ".join(str(counts[each]) for each in OUTCOMES)
    volatile = sum(each.is_volatile for each in outcomes)
    took = sum(bool(each.effects) for each in outcomes)
    print(f"| {name} | {len(outcomes)} | {cells} | {volatile} | {took} |")


def _print_trust(attacks: Sequence[Outcome]) -> None:
    admitted = [each for each in attacks if each.trust]
    counts = Counter(str(each.trust) for each in admitted)
    told = ", ".join(f"{count} as {trust}" for trust, count in counts.most_common())
    fenced = sum(LOOSE not in each.effects for each in admitted)
    print(f"Admitted as a new fact: {len(admitted)} ({told}); shown as data only: {fenced}.\n")


def _print_effects(attacks: Sequence[Outcome]) -> None:
    print("### what took effect\n")
    print("| effect | how often | which |")
    print("|---|--:|---|")
    for effect in EFFECTS:
        took = [each for each in attacks if effect in each.effects]
        which = "; ".join(
            f"{door}: {', '.join(each.row.id for each in took if each.door == door)}"
            for door in dict.fromkeys(each.door for each in took)
        )
        print(f"| {effect} | {len(took)} | {which or '–'} |")
    print(flush=True)


def _print_alarms(harmless: Sequence[Outcome]) -> None:
    """How many of the look-alikes that contacts say are stopped at a door that takes their note."""
    said = [each for each in harmless if each.row.source == "contact"]
    doors = [each for each in dict.fromkeys(each.door for each in said) if each != _PACKAGED]
    print("### harmless look-alikes that are refused or held\n")
    print("| door | half | stopped | which |")
    print("|---|---|--:|---|")
    for door in doors:
        for half in HALVES:
            of_half = [e for e in said if e.door == door and half_of(e.row.text) == half]
            stopped = [each for each in of_half if each.disposal in (REFUSED, HELD)]
            which = ", ".join(f"{each.row.id} {each.disposal}" for each in stopped)
            print(f"| {door} | {half} | {share(len(stopped), len(of_half))} | {which or '–'} |")
    print(flush=True)


_PACKAGED = "session, packaged extractor"
