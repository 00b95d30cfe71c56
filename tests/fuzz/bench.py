"""A memory that inputs are tried on: known before and after each, and made again before it grows.

What may come of an input in the graph is said here: where it is refused, nothing; where it
succeeds, a ledger that adds up.
"""

from __future__ import annotations

import itertools
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reconciler import Memory, load_settings
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.engines import EngineUnderTest
from tests.fuzz.trying import refusal
from tests.whole_graph import links_of, nodes_of

__all__ = ["WHO", "Bench", "check_ledger", "ids_of", "settings_of", "told"]

WHO = ("crm", "priya")
_INPUTS_OF_A_STORE, _INPUTS_OF_A_SERVER = 60, 250
_LOOKS_EVERY = 20
"""To look at all of a graph takes longer than an input; one that wrote is looked at always."""

_KEY = "a key of sixteen letters"


def settings_of(engine: EngineUnderTest) -> dict[str, Any]:
    """The engine's, with what else a bench wants: no key beside the store, no writes by a clock."""
    return {
        **engine.settings_arguments,
        "gate": {"hash_key": _KEY},
        "life": {"use_flush_seconds": 0},
        "extractor": {"mode": "explicit"},
        "arbiter": {"mode": "off"},
    }


def told(memory: Memory) -> None:
    """Tell a memory something of everything: facts, history, a dispute, questions, a session."""
    memory.add_contact_note(*WHO, "Lives in Pune.", tags=["home"], idempotency_key="key")
    memory.add_contact_note(*WHO, "Lives in Goa.", source_reference="call 7", importance=0.9)
    memory.add_contact_note(*WHO, "Has two cats.", topic="pets", artefact="crm:cats/2")
    memory.add_contact_note(*WHO, "Has been diagnosed with diabetes.")
    memory.add_contact_note(*WHO, "Thanks a lot!")
    memory.add_contact_note("crm", "bob", "Never call him before 9 am.")
    kind = {"source_kind": "approved_doc", "subject": "wife"}
    memory.add_contact_note(*WHO, "His wife works at Acme.", attribute="employer", value="Acme")
    memory.add_contact_note(
        *WHO, "She is at Contoso.", attribute="employer", value="Contoso", **kind
    )
    turns = [{"role": "user", "content": "Remember that I only take calls after 5 pm."}]
    memory.contact(*WHO).submit_session("chat-17", turns)
    memory.drain()
    memory.contact(*WHO).submit_session("chat-18", turns)
    task = memory.contact(*WHO).task("task-1", goal="Move the delivery")
    task.observed()
    held = memory.add_contact_note(*WHO, "Maybe plays the tuba.", source_kind="tool_output")
    assert held.action == "HOLD"
    fact = memory.add_contact_note(*WHO, "Owns a red boat.").fact_id
    memory.contact(*WHO).forget(fact_id=fact, by="contact", reason="Asked for it.")


class Bench:
    """A memory, made again from one that knows something after some inputs.

    Args:
        engine: where it is kept.
        folder: where an embedded engine's copies lie.
        open_: opens it.
    """

    def __init__(self, engine: EngineUnderTest, folder: Path) -> None:
        self.engine = engine
        self._folder = folder
        self._template = folder / "template"
        self._numbers = itertools.count()
        self.writes = 0
        self.ids: dict[str, list[str]] = {}
        self.memory = self._first()

    def attempt(self, door: str, call: Callable[[Memory], object]) -> None:
        """Try a call of the memory's; its error must be ours, and its graph in order."""
        number = next(self._numbers)
        looks = number % _LOOKS_EVERY == 0
        before = self.look() if looks else None
        writes = self.writes
        refused = refusal(door, lambda: call(self.memory))
        if refused is not None:
            assert self.writes == writes, f"something was written, then refused: {refused}"
            assert not looks or self.look() == before, f"not as it was, though refused: {refused}"
        elif looks:
            check_ledger(*self.look())
        kept = _INPUTS_OF_A_STORE if self.engine.name == "embedded" else _INPUTS_OF_A_SERVER
        if number % kept == kept - 1:
            self.renew()

    def look(self) -> tuple[dict[tuple[str, str], dict[str, Any]], list[tuple[Any, ...]]]:
        """All that the graph holds."""
        return nodes_of(self.engine), links_of(self.engine)

    def renew(self) -> None:
        """Check the graph, close it, and go on with one that is as it was at first."""
        check_ledger(*self.look())
        self.memory.close()
        if self.engine.name == "embedded":
            for file in self._folder.glob("memory.lbug*"):
                file.unlink()
            for file in self._template.iterdir():
                shutil.copy(file, self._folder / file.name)
            self.memory = self._opened()
        else:
            raw_store.query(self.engine, "MATCH (n) WHERE NOT n:Store DETACH DELETE n")
            self.memory = self._first()

    def close(self) -> None:
        """Check the graph once more, and that it opens again."""
        check_ledger(*self.look())
        self.memory.close()
        self._opened().close()

    def _first(self) -> Memory:
        memory = self._opened()
        told(memory)
        self.ids = ids_of(memory)
        if self.engine.name == "embedded":
            memory.close()
            self._template.mkdir()
            for file in self._folder.glob("memory.lbug*"):
                shutil.copy(file, self._template / file.name)
            memory = self._opened()
        return memory

    def _opened(self) -> Memory:
        settings = load_settings(**settings_of(self.engine))
        memory = Memory.open(settings, embedder=HashingEmbedder(16))
        graph = memory._services._graph
        run, queries = graph.run, graph._queries

        def counted(name: str, parameters: Any) -> Any:
            # A reader of changes puts what is committed in order, whatever it is asked.
            self.writes += queries[name].mode == "write" and name != "place_changes"
            return run(name, parameters)

        graph.run = counted
        return memory


def ids_of(memory: Memory) -> dict[str, list[str]]:
    """Ids that the memory knows, by what they are of."""
    decisions = memory.agent("crm").decisions(limit=1000)
    facts = [fact for chain in memory.contact(*WHO).history() for fact in chain.facts]
    return {
        "decision_id": [each.decision_id for each in decisions],
        "fact_id": [each.fact_id for each in facts],
        "job_id": [job.job_id for job in memory.jobs()],
    }


def check_ledger(
    nodes: dict[tuple[str, str], dict[str, Any]], links: list[tuple[Any, ...]]
) -> None:
    """What holds of every graph, whatever was said to it."""
    out = Counter((start, type_) for type_, start, _, _ in links)
    above = {
        end
        for type_, start, end, _ in links
        if type_ == "SUPERSEDES" and nodes["Fact", start]["state"] != "erased"
    }  # what lies beneath erased words may have come back
    for (label, key), held in nodes.items():
        if label == "Fact":
            assert out[key, "ABOUT"] == 1, f"{held} is about {out[key, 'ABOUT']} contacts"
            is_beneath = key in above
            assert not (is_beneath and held["state"] == "live"), f"{held} is live and superseded"
            is_over = is_beneath or "valid_to" in held  # what was history from the start
            assert is_over or held["state"] != "superseded", f"nothing superseded {held}"
        elif label == "Decision":
            assert out[key, "FOR"] == 1, f"{held} is for {out[key, 'FOR']} contacts"
            assert out[key, "WROTE"] <= 1, f"{held} wrote {out[key, 'WROTE']} facts"
            wrote = held["action"] in ("ADD", "UPDATE")
            assert wrote or not out[key, "WROTE"], f"{held} wrote a fact"
        elif label == "Episode":
            assert out[key, "IN"] == 1, f"{held} is in {out[key, 'IN']} sessions"
        elif label == "Session":
            with_ = out[key, "WITH"]
            is_of_task = out[key, "PART_OF"] > 0  # with no contact, as long as it has no turn
            assert with_ == 1 or (is_of_task and not with_), f"{held} is with {with_} contacts"
