"""Calibration from a file and from a graph's decisions, to a profile that a memory opens with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconciler import Memory
from reconciler.config_files import load_profile
from reconciler.domain.records.decisions import Comparison, Decision, Judgement
from reconciler.domain.records.kinds import Action, DecidedBy, Relation
from reconciler.domain.records.policies import Profile, ReconcilePolicy
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.ops.calibration import (
    LabelledPair,
    MeasuredPair,
    PairLabel,
    calibrate,
    measure_pairs,
    pairs_from_decisions,
    profile_file,
    read_pairs,
)
from reconciler.testing import HashingEmbedder, ScriptedArbiter, TableEmbedder
from tests.engines import EngineUnderTest
from tests.records import decision_of
from tests.replaying import replay
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
WIDE = ReconcilePolicy(cosine_add_max=0.4, cosine_cut=0.5, cosine_update_min=0.95)
LINE = {"fact": "Lives in Pune.", "note": "Lives in Goa.", "label": "update"}


def lines(*rows: Mapping[str, Any]) -> list[str]:
    return [json.dumps(row) for row in rows]


def measured(count: int = 30) -> list[MeasuredPair]:
    """Pairs with labels that lie apart: the same from 0.8, updates from 0.6, distinct below 0.5."""
    ranges = {
        PairLabel.SAME: (0.8, 0.99),
        PairLabel.UPDATE: (0.6, 0.85),
        PairLabel.DISTINCT: (0.0, 0.5),
    }
    return [
        MeasuredPair(
            pair=LabelledPair(
                pair_id=f"{label}-{number}",
                fact_text="Prefers email to the phone",
                note_text="Prefers email over the phone",
                label=label,
            ),
            cosine=low + (high - low) * number / count,
        )
        for label, (low, high) in ranges.items()
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def profile() -> Profile:
    return calibrate(measured(), embedding_model="hashing-64@test", name="mine")


def file_of(profile: Profile, measured_on: str = "pairs.jsonl") -> str:
    return profile_file(profile, measured_on=measured_on, pair_count=90, bound=0.02)


def test_blank_lines_and_other_keys_are_ignored() -> None:
    first, second = read_pairs([*lines(LINE), "\n", *lines(LINE | {"domain": "x"})])
    assert replace(first, pair_id="line 3") == second


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ("[1]", "line 2: expected a JSON object, not list"),
        (
            json.dumps(LINE | {"label": "other"}),
            "line 2: label 'other' is not one of same",
        ),
        (json.dumps({"fact": "x", "note": "y"}), "line 2: label 'None' is not one of"),
        (json.dumps({"fact": "x", "label": "same"}), "line 2: note must be a string"),
        (json.dumps(LINE | {"note": " "}), "line 2: note is blank"),
        (json.dumps(LINE | {"note": 5}), "line 2: note must be a string"),
        (json.dumps(LINE | {"note": "x" * 2001}), "line 2: note has 2,001 characters"),
    ],
)
def test_a_faulty_line_is_refused_by_its_number(line: str, message: str) -> None:
    with pytest.raises(InvalidRequestError) as error:
        read_pairs([*lines(LINE), line])
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("given", [[], ["\n", "  \n"]])
def test_a_file_without_a_pair_is_refused(given: list[str]) -> None:
    with pytest.raises(InvalidRequestError, match="no labelled pair"):
        read_pairs(given)


def test_pairs_are_measured_in_their_order_with_progress() -> None:
    vectors = {"A": [1.0, 0.0], "B": [0.6, 0.8], "C": [-1.0, 0.0]}
    rows = [{"fact": "A", "note": note, "label": "same"} for note in ("A", "B", "C") * 60]
    told: list[int] = []
    found = measure_pairs(read_pairs(lines(*rows)), TableEmbedder(vectors, 2).embed, told.append)
    assert [each.cosine for each in found] == pytest.approx([1.0, 0.6, -1.0] * 60)
    assert sum(told) == len(rows)
    assert len(told) > 1


def test_a_cosine_that_rounding_has_beyond_one_is_one() -> None:
    def embed(texts: Sequence[str]) -> Any:
        return np.full((len(texts), 1), 1.0001, dtype=np.float32)

    [found] = measure_pairs(read_pairs(lines(LINE)), embed, lambda _: None)
    assert found.cosine == 1.0


def test_without_an_embedder_nothing_is_measured() -> None:
    def noop(texts: object) -> Any:
        return np.empty((2, 0), dtype=np.float32)

    with pytest.raises(ConfigurationError, match="makes no vectors"):
        measure_pairs(read_pairs(lines(LINE)), noop, lambda _: None)


@pytest.mark.parametrize("name", ["", "a b", "../x", 'x"\ny'])
def test_a_profile_needs_a_name_that_can_be_typed(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="a profile's name has 1 to 100 letters"):
        calibrate(measured(), embedding_model="m", name=name)


def test_a_profile_is_read_as_it_was_written(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = file_of(profile)
    path.write_text(text, encoding="utf-8")
    assert load_profile(str(path)) == profile
    assert "pairs.jsonl, 90 labelled pairs" in text
    assert "Bound on false supersessions: 2.0%" in text


def test_a_profile_is_refused_for_another_model(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(file_of(profile), encoding="utf-8")
    opened = {"reconcile": {"profile": str(path)}, "graph": "embedded"}
    embedder = HashingEmbedder(32)
    with pytest.raises(ConfigurationError, match="calibrated on hashing-64@test"):
        Memory.open(embedder=embedder, embedded_path=tmp_path / "x.lbug", **opened)
    with Memory.open(
        embedder=HashingEmbedder(64), embedded_path=tmp_path / "y.lbug", **opened
    ) as memory:
        decision = memory.add_contact_note("crm", "alice", "Prefers email.")
    assert (decision.policy.profile, decision.policy.cosine_cut) == ("mine", profile.cosine_cut)


def test_nothing_in_a_comment_becomes_a_setting(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    hostile = replace(profile, embedding_model='m"@\\1')
    text = file_of(hostile, "x\ncosine_cut = 0.1\r\u2028name = 'y'")
    path.write_text(text, encoding="utf-8")
    assert load_profile(str(path)) == hostile


def test_the_shipped_profile_for_the_bundled_model_is_a_policy() -> None:
    profile: Profile = load_profile("minilm")
    assert profile.embedding_model == "all-MiniLM-L6-v2@53aa5117"
    assert 0.4 < profile.cosine_add_max < profile.cosine_cut <= profile.cosine_update_min < 1


def decision(**given: Any) -> Decision:
    usual: dict[str, Any] = {
        "decision_id": "d",
        "action": Action.ADD,
        "decided_by": DecidedBy.ARBITER,
        "cosine": 0.9,
        "reason": "because",
        "text": "the note",
        "fact_id": "new",
        "valid_from": NOON,
        "episode_id": "e",
        "tenant": "t",
        "agent_id": "a",
        "contact_id": "alice",
        "profile": "seed",
        "cosine_update_min": 0.95,
        "cosine_add_max": 0.8,
        "cosine_cut": 0.875,
        "guard": True,
        "embedding_model": "model@1",
        "door": "live",
        "said_at": NOON,
        "at": NOON,
        "compared_with": tuple(
            Comparison(
                fact_id=f"f{n}", text=f"fact {n}", cosine=1 - n / 10, valid_from=NOON, rank=n
            )
            for n in (1, 2, 3)
        ),
    }
    return decision_of(**usual | given)


@every(
    ("given", "expected"),
    [
        ({}, None),
        (
            {"arbiter_relation": Relation.REFINES, "arbiter_target": 2},
            ("fact 2", "same"),
        ),
        ({"arbiter_relation": Relation.COEXISTS}, ("fact 1", "distinct")),
        ({"arbiter_relation": Relation.REPLACES, "arbiter_error": "unsure"}, None),
        ({"correction": Relation.REPLACES}, ("fact 1", "update")),
        (
            {"correction": Relation.UNRELATED, "targets": ("f3",)},
            ("fact 3", "distinct"),
        ),
        (
            {"correction": Relation.SAME, "conflicts": ("f2",)},
            ("fact 2", "same"),
        ),
        ({"correction": Relation.SAME, "fact_id": "f2"}, ("fact 2", "same")),
        (
            {"correction": Relation.SAME, "targets": ("f3",), "is_history": True},
            ("fact 3", "same"),
        ),
        (
            {"correction": Relation.COEXISTS, "arbiter_relation": Relation.SAME},
            ("fact 1", "distinct"),
        ),
        ({"correction": Relation.SAME, "compared_with": ()}, None),
    ],
)
def test_a_decision_labels_the_pair_that_was_judged(
    given: dict[str, Any], expected: tuple[str, str] | None
) -> None:
    found = pairs_from_decisions([decision(**given)])
    labels = [(each.fact_text, str(each.label)) for each in found]
    assert labels == ([expected] if expected else [])


def test_a_pair_counts_once_and_a_correction_wins_whenever_it_comes() -> None:
    judged = decision(arbiter_relation=Relation.SAME)
    corrected = decision(correction=Relation.REPLACES)
    for given in ([judged, corrected, judged], [corrected, judged]):
        [found] = pairs_from_decisions(given)
        assert found.label is PairLabel.UPDATE


@pytest.fixture
def memory(any_engine: EngineUnderTest) -> Iterator[Memory]:
    """A contact with a fact, a note in the band that an arbiter judged, and one that it was not."""
    cosines = {"Likes tea": 1.0, "Likes coffee": 0.9, "Has a dog": 0.45}
    vectors = {text: [cosine, sqrt(1 - cosine**2)] for text, cosine in cosines.items()}
    vectors["Has a dog"][1] *= -1  # and so it is far from the coffee
    arbiter = ScriptedArbiter(
        [
            Judgement(
                reasoning="both",
                relation=Relation.COEXISTS,
                target=None,
                action=Action.ADD,
                confidence=0.9,
            )
        ]
    )
    embedder = TableEmbedder(vectors, 2)
    with Memory.open(
        **any_engine.settings_arguments | {"embedder": embedder, "arbiter": arbiter}
    ) as opened:
        for text in cosines:
            opened.add_contact_note("crm", "alice", text, said_at=NOON)
        yield opened


@pytest.mark.on_neo4j_too
def test_the_graphs_own_decisions_give_labelled_pairs(memory: Memory) -> None:
    [found] = pairs_from_decisions(memory.contact("crm", "alice").decisions())
    assert (found.fact_text, found.note_text) == ("Likes tea", "Likes coffee")
    assert found.label is PairLabel.DISTINCT


def test_the_graphs_own_decisions_replay_as_themselves_and_otherwise(memory: Memory) -> None:
    made = memory.contact("crm", "alice").decisions()
    again = [replay(each, memory._services.policy) for each in made]
    assert all(each.is_same for each in again)
    wide = [replay(each, WIDE) for each in made]
    assert [each.would_ask for each in wide] == [True, False, False]
    assert all(each.is_same for each in wide)
    assert memory.contact("crm", "alice").decisions() == made
