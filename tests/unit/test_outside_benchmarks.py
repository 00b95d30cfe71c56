"""Outside benchmarks, which are not shipped: what becomes of a few lines of our own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.agent_memory_benchmark import Answering
from benchmarks.forget_eval import failure
from reconciler import Memory
from tests.engines import embedded_engine
from tests.tables import every

NOW = datetime(2026, 8, 1, tzinfo=UTC)
BASE = SimpleNamespace(
    MemoryAnswer=lambda value=None, values=(): value or list(values) or None,
    indexable=lambda event: f"{event.subject} has {event.object}. {event.text}",
)
EVENTS = (
    ("ann", "works_on", "Hermes", "Ann was assigned to Hermes.", 1, 1, "hr"),
    ("Hermes", "deploy_region", "north", "Hermes is deployed to north.", 1, 1, "log"),
    ("Hermes", "deploy_region", "south", "Hermes is now deployed to south.", 5, 9, "log"),
    ("bo", "lives_in", "Oslo", "Someone said that Bo moved to Oslo.", 2, 3, "hearsay"),
    ("bo", "lives_in", "Bergen", "I moved to Bergen, not Oslo.", 2, 6, "bo"),
)
CHROME = "Uses Chrome as the browser."
FACTS = ["Uses Firefox as the browser.", "Works on the project Heron.", "Owns a sailing boat."]


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answering]:
    store = embedded_engine(tmp_path_factory.mktemp("agent-memory")).settings_arguments
    system = Answering(store, BASE, follows=True)
    system.reset({name: SimpleNamespace(single_valued=True) for _, name, *_ in EVENTS})
    for subject, predicate, value, text, begins, recorded, source in EVENTS:
        about = {"subject": subject, "predicate": predicate, "object": value, "text": text}
        when = {"valid_from": day(begins), "recorded_at": day(recorded), "source": source}
        system.remember(SimpleNamespace(**about, **when))
    yield system
    system.close()


@every(
    "question, more, answer",
    [
        ("", {"probe": ("Hermes", "deploy_region")}, "south"),
        ("", {"probe": ("Hermes", "deploy_region"), "at": day(6)}, "south"),
        ("", {"probe": ("Hermes", "deploy_region"), "at": day(6), "known_at": day(6)}, "north"),
        ("", {"probe": ("Hermes", "deploy_region"), "at": day(3)}, "north"),
        ("", {"probe": ("bo", "lives_in"), "category": "change_detection"}, "Bergen"),
        ("", {"probe": ("bo", "lives_in"), "about": "Oslo", "category": "provenance"}, "hearsay"),
        (
            "",
            {"probe": ("Hermes", "deploy_region"), "about": "south", "category": "change_time"},
            "2026-03-05",
        ),
        (
            "",
            {"probe": ("Hermes", "deploy_region"), "about": "south", "category": "knowledge_time"},
            "2026-03-09",
        ),
        ("Which region is the project that Ann works on deployed to?", {}, "south"),
        ("Where does Bo live?", {}, "Bergen"),
        ("Where does Oscar live?", {}, None),
        ("", {"probe": ("ann", "lives_in")}, None),
    ],
)
def test_a_question_of_the_agent_memory_benchmark_is_answered(
    told: Answering, question: str, more: dict[str, Any], answer: str | None
) -> None:
    plain = {"category": "any", "probe": None, "at": NOW, "known_at": None, "about": None}
    ask = SimpleNamespace(question=question, evaluated_at=NOW, **plain | more)
    assert told.query(ask) == answer


@every(
    "operation, question, must, must_not, why",
    [
        (["purge", "project at work"], "Does he own a boat?", "boat", "Heron", None),
        (["release", "which browser"], "Does he own a boat?", "boat", "Firefox", None),
        (["supersede", "his browser", CHROME], "Which browser?", CHROME, "Firefox", None),
        (
            ["release", "sailing boat"],
            "Does he own a boat?",
            "boat",
            "Heron",
            "does not say 'boat'",
        ),
        (["release", "sailing boat"], "Which browser?", "Firefox", "Heron", "still says 'Heron'"),
    ],
)
def test_a_case_of_forget_eval_passes_if_what_is_forbidden_cannot_be_reached(
    tmp_path: Path, operation: list[str], question: str, must: str, must_not: str, why: str | None
) -> None:
    case = {
        "setup_facts": FACTS,
        "mutations": [operation],
        "final_query": question,
        "must_contain": [must],
        "must_not_contain": [must_not],
    }
    store = embedded_engine(Path(tempfile.mkdtemp(dir=tmp_path))).settings_arguments
    with Memory.open(**store) as memory:
        assert failure(memory.contact("benchmark", "case"), case) == why
