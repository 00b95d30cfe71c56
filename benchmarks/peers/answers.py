"""What the chat model of the comparison says: to each prompt what serves the asking system best.

A perfect reader stands in for a language model, so that what a system keeps or loses is its own
doing. By the name of the schema that is asked for:

- none (mem0's extraction): the new message itself, word for word, as the one memory; none at all
  where the existing memories in the prompt already hold those very words.
- ``ExtractedEntities`` (Graphiti): the person who speaks, and the thing that the note names.
- ``NodeResolutions``: the existing entity of exactly the same name, otherwise none.
- ``ExtractedEdges``: one edge from the person to the thing, whose fact is the note word for word,
  valid from the episode's own time; so Graphiti need not ask for the time in a second call.
- ``EdgeDuplicate``: duplicate of those facts that are word for word the same; contradicted is the
  fact that the new one replaces (``notes.CHANGES``).
- ``SummarizedEntities``: no summary has to change.
- ``EdgeTimestamps``: no end is known.
- ``claims`` (memvara): for each turn the relation of the note to its thing.
- ``predicate_resolution``: a new relation; it has one value where a change is told by it.
- ``answer`` (this project's arbiter): the fact that the note replaces, or that all of them hold.

neo4j-agent-memory and LangGraph's store ask nothing on these doors, and neither do we here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from benchmarks.peers.notes import Note, by_text, changes

__all__ = ["answer"]

LISTED = r"'idx': (\d+), 'fact': (['\"])(.*?)\2}"


def answer(schema: str, prompt: str) -> dict[str, Any]:
    """What the model says to a prompt, by the schema that was asked for.

    Raises:
        KeyError: nobody said here what to answer to this schema.
    """
    return _ANSWERS[schema](prompt)


def _memories(prompt: str) -> dict[str, Any]:
    known = _heading(prompt, "Existing Memories").partition("\n")[0]
    text = _heading(prompt, "New Messages").partition("\n")[0].removeprefix("user: ").strip()
    if any(each["text"] == text for each in json.loads(known)):
        return {"memory": []}
    return {"memory": [{"id": "0", "text": text, "attributed_to": "user"}]}


def _entities(prompt: str) -> dict[str, Any]:
    person, note = _current(prompt)
    named = [{"name": name, "entity_type_id": 0} for name in (person, note.thing)]
    return {"extracted_entities": named}


def _resolutions(prompt: str) -> dict[str, Any]:
    existing = {each["name"]: each["candidate_id"] for each in _tagged(prompt, "EXISTING ENTITIES")}
    return {
        "entity_resolutions": [
            {
                "id": each["id"],
                "name": each["name"],
                "duplicate_candidate_id": existing.get(each["name"], -1),
            }
            for each in _tagged(prompt, "ENTITIES")
        ]
    }


def _edges(prompt: str) -> dict[str, Any]:
    person, note = _current(prompt)
    time = re.search(r"<REFERENCE_TIME>\s*(\S+ ?\S+?)\s", prompt)
    edge = {
        "source_entity_name": person,
        "target_entity_name": note.thing,
        "relation_type": note.relation.upper().replace(" ", "_"),
        "fact": note.text,
        "valid_at": None if time is None else time[1].replace(" ", "T"),
        "invalid_at": None,
    }
    return {"edges": [edge]}


def _duplicates(prompt: str) -> dict[str, Any]:
    fact = _between(prompt, "NEW FACT").strip()
    known = re.findall(LISTED, _between(prompt, "EXISTING FACTS"))
    same = [int(index) for index, _, text in known if text == fact]
    known += re.findall(LISTED, _between(prompt, "FACT INVALIDATION CANDIDATES"))
    over = [int(index) for index, _, text in known if text == _replaced().get(fact)]
    return {"duplicate_facts": same, "contradicted_facts": over}


def _claims(prompt: str) -> dict[str, Any]:
    said = re.findall(r"^\[(\d+)\] \w+: (.*)$", prompt.rsplit("Turns:\n", 1)[1], re.M)
    rest = {"polarity": 1, "memory_type": "semantic", "confidence": 1.0}
    rest |= dict.fromkeys(("when", "amount", "unit"))
    return {
        "claims": [
            {
                "subject": "user",
                "predicate": _known_notes()[text].relation.replace(" ", "_"),
                "object": _known_notes()[text].thing,
                "source_index": int(index),
                **rest,
            }
            for index, text in said
        ]
    }


def _resolution(prompt: str) -> dict[str, Any]:
    relation = prompt.rsplit("new predicate: ", 1)[1].partition("\n")[0].replace("_", " ")
    is_single = any(change.after.relation == relation for change in changes())
    rest = {"volatility": "slow", "memory_type": "semantic"}
    return {"canonical": None, "cardinality": "one" if is_single else "many", **rest}


def _judged(prompt: str) -> dict[str, Any]:
    data = json.loads(_between(prompt, "data"))
    old = _replaced().get(data["note"]["text"])
    over = [fact["number"] for fact in data["facts"] if fact["text"] == old]
    verdict: dict[str, Any] = {"reasoning": "", "also": over[1:], "confidence": 1.0}
    if over:
        return {**verdict, "relation": "replaces", "target": over[0], "action": "UPDATE"}
    return {**verdict, "relation": "coexists", "target": None, "action": "ADD"}


def _current(prompt: str) -> tuple[str, Note]:
    """Who speaks in the current message, and what."""
    said = re.search(r"<CURRENT[ _]MESSAGE>\s*(.*?)\s*</CURRENT[ _]MESSAGE>", prompt, re.S)
    if said is None:
        raise ValueError("the prompt has no current message")
    person, _, text = said[1].partition(": ")
    return person, _known_notes()[text]


def _heading(prompt: str, heading: str) -> str:
    """What follows the last such heading; the instructions before it show examples."""
    return prompt.rsplit(f"## {heading}\n", 1)[1]


def _tagged(prompt: str, tag: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(_between(prompt, tag))
    return listed


def _between(prompt: str, tag: str) -> str:
    return prompt.rsplit(f"<{tag}>", 1)[1].split(f"</{tag}>", 1)[0]


_known_notes = cache(by_text)


@cache
def _replaced() -> dict[str, str]:
    """What each later news replaces."""
    return {change.after.text: change.before.text for change in changes()}


_ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "": _memories,
    "ExtractedEntities": _entities,
    "NodeResolutions": _resolutions,
    "ExtractedEdges": _edges,
    "EdgeDuplicate": _duplicates,
    "SummarizedEntities": lambda _: {"summaries": []},
    "claims": _claims,
    "predicate_resolution": _resolution,
    "answer": _judged,
    "EdgeTimestamps": lambda _: {"valid_at": None, "invalid_at": None},
}
