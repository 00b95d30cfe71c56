"""Whatever field of words comes with a note, `forget` takes it out of the graph, exports and files.

The fields are read from the records themselves, so that a new one is planted and looked for without
being named here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import pytest

from reconciler import Action, Memory, ops
from reconciler.domain.gate.cleaning import AS_GIVEN
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.facts import Relations
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest
from tests.erasure_planting import Words
from tests.whole_graph import links_of, nodes_of

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
ANN = "crm", "ann"
ASKED: dict[str, Any] = {"by": "contact", "reason": "I asked for it."}
WORDLESS = (NoneType, bool, int, float, datetime, Scope, Relations)
NEVER_STORED = {"said_subject", "said_attribute", "said_before"}
PARTS = ("contact", "fact", "session", "attribute", "fact that cannot be read")

ERASED_BY = {
    "Fact": "take it out of cypher/fields/fact_left.txt",
    "Decision.record": "take it out of STAYS in domain/erasing/planning.py",
    "Decision": "set it in cypher/*/remove_decisions.cypher",
    "Episode": "set it to NULL in cypher/*/remove_episodes.cypher",
    "Session": "set it to NULL in cypher/shared/remove_session_words.cypher",
    "Contact": "set it to NULL in cypher/shared/remove_contact_words.cypher",
}
"""What takes the words away, by the place that holds them."""


class FieldPlanter:
    """Words for each field of a record, and which field got which."""

    def __init__(self) -> None:
        self._word = Words()
        self.field_of: dict[str, str] = {}

    def __call__(self, kind: type, **given: Any) -> Any:
        """A record with words in each field that may hold some and is not given."""
        hints = get_type_hints(kind)
        for described in fields(kind):
            if described.init and described.name not in given:
                words = self._words(kind, described.name, hints[described.name])
                if words is not None:
                    given[described.name] = words
        return kind(**given)

    def word(self, name: str) -> str:
        """A word that nothing else holds, as the value of this field."""
        word = self._word()
        self.field_of[word] = name
        return word

    def _words(self, kind: type, name: str, hint: Any) -> Any:
        if name in (AS_GIVEN.get(kind, frozenset()) - {"idempotency_key"}) | NEVER_STORED:
            return None
        kinds = get_args(hint) if NoneType in get_args(hint) else (hint,)
        if any(each in WORDLESS or _is_enum(each) for each in kinds if each is not NoneType):
            return None
        if str in kinds:
            return self.word(f"{kind.__name__}.{name}")
        if tuple[str, ...] in kinds:
            return (self.word(f"{kind.__name__}.{name}"),)
        raise AssertionError(f"say here how words are planted in {kind.__name__}.{name}: {hint}")


def _is_enum(kind: Any) -> bool:
    return any(
        isinstance(each, type) and issubclass(each, Enum) for each in (kind, *get_args(kind))
    )


def proposed(memory: Memory, planted: FieldPlanter) -> tuple[str, Slot]:
    """A fact with words in every field: its id, and its slot."""
    scope = Scope(memory.settings.tenant, *ANN)
    said = f"Please remember that I collect {planted.word('Evidence.text')}."
    told = planted(
        Evidence,
        episode_id="turn-1",
        session_id="call-1",
        scope=scope,
        text=said,
        spans=(said[:20],),
        said_at=NOON,
    )
    note = planted(
        Note,
        scope=scope,
        text=f"Collects {planted.word('Note.text')}.",
        slot=planted(Slot, is_single_valued=True),
        said_at=NOON,
        session_id="call-1",
    )
    made = memory.contact(*ANN).propose(
        planted(Candidate, note=note, evidence=(told,), proposed_by="reader")
    )
    if made.action is Action.ADMIT:
        made = memory.contact(*ANN).commit(made.decision_id)
    assert made.action is Action.ADD, made.answer
    [chain] = memory.contact(*ANN).history()
    slot = chain.facts[0].slot
    assert slot
    return str(made.fact_id), slot


def words_held(engine: EngineUnderTest) -> Iterator[tuple[str, str]]:
    """All texts in the graph, each with its place, such as ``Fact.topic``."""
    for (label, _), held in nodes_of(engine).items():
        yield from _texts(label, held)
    for link in links_of(engine):
        yield from _texts(str(link[1]), dict(link[3]))


def _texts(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(f"{place}.{name}", item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(place, item)
    elif isinstance(value, str) and value.startswith("{"):
        yield from _texts(place, json.loads(value))
    elif isinstance(value, str):
        yield place, value


def found(engine: EngineUnderTest, planted: FieldPlanter) -> dict[str, set[str]]:
    """In which places of the graph the words of each field stand."""
    places: dict[str, set[str]] = {}
    for place, text in words_held(engine):
        for word, name in planted.field_of.items():
            if word in text.casefold():
                places.setdefault(name, set()).add(place)
    return places


def _remedy(place: str) -> str:
    by_length = sorted(ERASED_BY, key=len, reverse=True)
    near = next((each for each in by_length if place.startswith(each)), None)
    return ERASED_BY[near] if near else "have service/erasures.py (`_remove`) take it away"


def in_files(memory: Memory, engine: EngineUnderTest, folder: Path) -> str:
    """An export, and for the embedded engine what its files hold once it is closed."""
    ops.export(memory, folder / "all.jsonl", vectors=True, keys=True, overwrite=True)
    memory.close()
    said = [(folder / "all.jsonl").read_text()]
    if engine.name == "embedded":
        beside = engine.settings_arguments["embedded_path"].parent.rglob("*")
        said += [path.read_bytes().decode("latin-1") for path in beside if path.is_file()]
    return "\n".join(said).casefold()


@pytest.mark.parametrize("part", PARTS)
def test_no_words_of_any_field_are_left_after_an_erasure(
    one_of_each: EngineUnderTest, tmp_path: Path, part: str
) -> None:
    planted = FieldPlanter()
    arguments = one_of_each.settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
        fact_id, slot = proposed(memory, planted)
    unstored = {*planted.field_of.values()} - found(one_of_each, planted).keys()
    assert not unstored, f"{unstored} are kept nowhere; store them, or name them in NEVER_STORED"
    targets: dict[str, dict[str, Any]] = {
        "session": {"session_id": "call-1"},
        "attribute": {"subject": slot.subject, "attribute": slot.attribute},
        "contact": {},
    }
    if part == "fact that cannot be read":
        raw_store.query(one_of_each, "MATCH (n:Fact) SET n.trust = 'hearsay'")
    folder = tmp_path / "given-out"
    folder.mkdir()
    with Memory.open(embedder=HashingEmbedder(), **arguments) as memory:
        done = memory.contact(*ANN).forget(**targets.get(part, {"fact_id": fact_id}), **ASKED)
        files = in_files(memory, one_of_each, folder)
    left = found(one_of_each, planted)
    assert not left, "\n".join(
        f"`forget` leaves the words of {name} in {place}: {_remedy(place)}"
        for name, places in left.items()
        for place in sorted(places)
    )
    assert done.is_finished
    names = {name for word, name in planted.field_of.items() if word in files}
    assert not names, f"`forget` leaves the words of {names} in an export or a file"
