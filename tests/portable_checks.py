"""What the portable checks share: how a memory is opened, and what everything in it says.

``docs/portable_checks.md`` lists the checks. Here: helpers alone; never what has to hold.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from reconciler import Action, Decision, Memory, as_prompt, ops
from reconciler.domain.records.kinds import GateReason
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.reading.kinds import Category
from reconciler.testing import HashingEmbedder
from tests.conftest import CHOICE, engine_of, params_of
from tests.engines import EngineUnderTest
from tests.submissions import call_about

__all__ = [
    "ADA",
    "ASKED",
    "NOON",
    "Open",
    "OtherModel",
    "engine_of",
    "engines",
    "exported",
    "held_before",
    "holding",
    "lives_in",
    "opening",
    "prompt",
    "read_out",
    "say",
]

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
ADA: dict[str, str] = {"agent_id": "crm", "contact_id": "ada"}
ASKED: dict[str, str] = {"by": "contact", "reason": "Ticket 12."}
_FAST = {"backoff_seconds": 0.0, "attempts_max": 1, "poll_seconds": 0.01}


def engines() -> list[Any]:
    """The embedded engine, and for ``make faults`` each Neo4j: the two dozen stories are long.

    What the lines could do differently is in the contract, which ``make test`` runs on all.
    """
    only = pytest.mark.faults(only=True)
    chosen = params_of(CHOICE.names)
    return [
        each
        if each.values == ("embedded",)
        else pytest.param(*each.values, marks=(*each.marks, only))
        for each in chosen
    ]


class OtherModel(HashingEmbedder):
    """Another model, to which a store can move."""

    def __init__(self) -> None:
        super().__init__(48)


class Open(Protocol):
    """Opens a memory of the engine under test; it is closed when the test ends."""

    def __call__(self, **given: Any) -> Memory: ...


def opening(engine: EngineUnderTest) -> Iterator[Open]:
    """What a fixture yields."""
    with ExitStack() as stack:

        def open_(**given: Any) -> Memory:
            usual = {"embedder": HashingEmbedder(), "jobs": _FAST, **engine.settings_arguments}
            memory = Memory.open(**usual | given)
            stack.callback(memory.close)
            return memory

        yield open_


def say(memory: Memory, text: str, **given: Any) -> Decision:
    """A note about Ada, as her own word unless something else is given."""
    return memory.add_contact_note(**ADA | {"text": text} | given)


def lives_in(memory: Memory, city: str, text: str = "Lives in {}.", **given: Any) -> Decision:
    return say(memory, text.format(city), attribute="city", value=city, **given)


def prompt(memory: Memory, query: str = "", **given: Any) -> str:
    """What a model would be given about Ada."""
    return as_prompt(call_about(memory, "recall")(**ADA | {"query": query, "limit": 100} | given))


def exported(memory: Memory, **scope: str) -> list[dict[str, Any]]:
    """Everything that is kept of a contact, or of all: a line for each node and each link."""
    out = io.BytesIO()
    whole = memory if not scope else memory.contact(**scope)
    ops.export(whole, out, vectors=True)
    lines = map(json.loads, out.getvalue().splitlines())
    return [line for line in lines if "node" in line or "link" in line]


def holding(lines: Iterable[dict[str, Any]], token: str) -> set[str]:
    """The labels of the nodes, and the kinds of the links, that hold a word."""
    found = (line for line in lines if token.casefold() in json.dumps(line).casefold())
    return {str(line.get("node") or line.get("link")) for line in found}


def held_before(decision: Decision) -> bool:
    """Whether it is held because it was forgotten or revoked before."""
    reason = decision.gate.reason if decision.gate else None
    return (decision.action, reason) == (Action.HOLD, GateReason.FORGOTTEN_BEFORE)


def read_out(text: str, span: str, **given: Any) -> Extraction:
    """What a reader gives of a session: one claim, which cites the first turn."""
    usual: Mapping[str, Any] = {
        "category": Category.FACT,
        "importance": 0.7,
        "confidence": 0.95,
        "citations": (Citation(episode=1, span=span),),
    }
    return Extraction(
        candidates=(Extracted(**{**usual, "text": text} | given),), summary=f"About: {text}"
    )
