"""A store moves to another model: nothing is lost, and no vectors of two models are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconciler import Memory, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import MoveState
from reconciler.errors import (
    ConfigurationError,
    EmbeddingError,
    GraphConflictError,
    InvalidRequestError,
    SchemaError,
)
from reconciler.service.stores.contact_store import ArchiveStore
from reconciler.testing import HashingEmbedder, TableEmbedder
from tests import raw_store
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest, embedded_engine
from tests.kept_stores import copy_of
from tests.tables import every

OLD, NEW = HashingEmbedder(16), HashingEmbedder(24)
SAME_LENGTH = 16
NOTES = [
    "Lives in Pune.",
    "Works at Acme as an engineer.",
    "Prefers email to the phone.",
    "Has a dog called Bruno.",
    "Was born in Oslo.",
]
USUAL: dict[str, Any] = {"uncalibrated": True}
SCOPE = Scope("default", "crm", "zoe")
SEED = {"reconcile": {"profile": "seed"}}


class OtherEmbedder(HashingEmbedder):
    """Another model with vectors of the same length."""

    @property
    def model_id(self) -> str:
        return f"other-{self.dimension}@test"

    def embed(self, texts: Any) -> Any:
        return np.roll(super().embed(texts), 1, axis=1)


@pytest.fixture
def engine(one_of_each: EngineUnderTest) -> EngineUnderTest:
    """The two Neo4j lines share their queries, which ``test_model_store.py`` tries on both."""
    return one_of_each


@pytest.fixture
def moving(engine: EngineUnderTest, made: EngineUnderTest) -> EngineUnderTest:
    """The engine with the memory of ``fill`` in it."""
    if engine.name == "embedded":
        copy_of(made, engine)
    else:
        fill(engine)
    return engine


def opened(engine: EngineUnderTest, embedder: Any = OLD) -> Memory:
    """The engine's memory, under a model."""
    return Memory.open(embedder=embedder, **SEED, **engine.settings_arguments)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> EngineUnderTest:
    """An embedded store that is copied, since making one takes longer than a copy."""
    engine = embedded_engine(tmp_path_factory.mktemp("made"))
    fill(engine)
    return engine


def fill(engine: EngineUnderTest) -> None:
    """A memory of two contacts, with facts that ended, too."""
    with opened(engine) as memory:
        for text in NOTES:
            memory.add_contact_note("crm", "priya", text)
        memory.add_contact_note("crm", "priya", "Lives in Berlin.", attribute="city")
        memory.add_contact_note("crm", "priya", "Lives in Rome.", attribute="city")
        memory.add_contact_note("crm", "bob", "Likes Brightwave.")


VECTORS = """
    MATCH (fact:Fact) WHERE fact.state <> 'erased' RETURN fact.text, fact.embedding_model,
    fact.embedding_bytes, fact.embedding, fact.next_embedding_model, fact.next_embedding_bytes,
    fact.next_embedding"""
OTHER_VECTORS = """
    MATCH (fact:Fact) WHERE fact.next_embedding_model IS NOT NULL RETURN fact.fact_id"""


def check_vectors(engine: EngineUnderTest, embedder: Any) -> int:
    """Every fact has its vector of one model, twice, and nothing else; how many facts."""
    rows = raw_store.query(engine, VECTORS)
    for text, model, held, listed, *of_next in rows:
        wanted = embedder.embed([text])[0]
        assert model == embedder.model_id, text
        assert np.allclose(np.frombuffer(held, dtype=np.float32), wanted, atol=1e-6)
        assert np.allclose(np.asarray(listed, dtype=np.float32), wanted, atol=1e-6)
        assert of_next == [None, None, None]
    return len(rows)


class StoppedError(Exception):
    """Stands for a process that ended there."""


def stop_at(count: int) -> Callable[[int, int], None]:
    """What ends a run after so many facts."""

    def on_progress(done: int, _: int) -> None:
        if done >= count:
            raise StoppedError

    return on_progress


def half_way(memory: Memory, embedder: Any = NEW) -> None:
    """Have a run end after three facts."""
    with pytest.raises(StoppedError):
        ops.reembed(memory, embedder, batch_size=3, on_progress=stop_at(3), **USUAL)


@ON_ANY_ONE
@pytest.mark.parametrize("embedder", [NEW, OtherEmbedder(SAME_LENGTH)], ids=["longer", "as long"])
def test_all_facts_have_the_new_vectors_and_are_recalled_by_them(
    moving: EngineUnderTest, embedder: Any
) -> None:
    before = len(raw_store.query(moving, VECTORS))
    told: list[tuple[int, int]] = []
    with opened(moving) as memory:
        histories = memory.contact("crm", "priya").history()
        report = ops.reembed(
            memory, embedder, batch_size=3, on_progress=lambda *n: told.append(n), **USUAL
        )
        assert (report.old_model, report.model) == (OLD.model_id, embedder.model_id)
        assert (report.embedded, report.resumed) == (before, 0)
        assert told[-1] == (before, before)
        assert ops.model_move(memory).state is MoveState.NONE
    assert check_vectors(moving, embedder) == before
    with opened(moving, embedder) as memory:
        assert memory.contact("crm", "priya").history() == histories
        for text in NOTES[1:]:
            assert memory.contact("crm", "priya").recall(text)[0].fact.text == text
        assert memory.agent("crm").find("Likes Brightwave.")[0].fact.text == "Likes Brightwave."
        again = memory.add_contact_note("crm", "priya", NOTES[3])
        assert again.superseded_ids
        memory.add_contact_note("crm", "priya", "Lives in Delhi.", attribute="city")
        memory.add_contact_note("crm", "eve", "Likes rain.")
    assert check_vectors(moving, embedder) == before + 3


@ON_ANY_ONE
def test_a_run_that_was_cut_off_goes_on_where_it_stopped(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        half_way(memory)
        found = ops.model_move(memory)
        assert (found.state, found.model, found.next_model, found.moved) == (
            MoveState.EMBEDDING,
            OLD.model_id,
            NEW.model_id,
            3,
        )
    with opened(moving) as memory:  # the store is still the old model's
        assert memory.contact("crm", "priya").recall(NOTES[0])[0].fact.text == NOTES[0]
        report = ops.reembed(memory, NEW, **USUAL)
    assert report.resumed == 3
    assert check_vectors(moving, NEW) == report.resumed + report.embedded


@ON_ANY_ONE
def test_writes_and_recalls_go_on_meanwhile_and_what_is_written_moves_too(
    moving: EngineUnderTest,
) -> None:
    with opened(moving) as memory:

        def on_progress(done: int, _: int) -> None:
            if done <= 6:
                memory.add_contact_note("crm", "priya", f"Owns book number {done}.")
                memory.add_contact_note("crm", f"new-{done}", "Likes rain.")
                assert memory.contact("crm", "priya").recall(NOTES[3])[0].fact.text == NOTES[3]

        report = ops.reembed(memory, NEW, batch_size=3, on_progress=on_progress, **USUAL)
    assert check_vectors(moving, NEW) == report.embedded
    with opened(moving, NEW) as memory:
        assert (
            memory.contact("crm", "priya").recall("Owns book number 3.")[0].fact.text.endswith("3.")
        )
        assert [each.contact_id for each in memory.agent("crm").contacts()] == [
            "bob",
            "new-3",
            "new-6",
            "priya",
        ]


AFTERWARDS: dict[str, Callable[[Memory], Any]] = {
    "a note": lambda memory: memory.add_contact_note("crm", "priya", "Plays the piano."),
    "a note about somebody new": lambda memory: memory.add_contact_note("crm", "eve", "Sings."),
    "a revocation": lambda memory: memory.contact("crm", "bob").revoke(
        memory.contact("crm", "bob").decisions()[0].fact_id, by="operator", reason="Wrong."
    ),
    "a recall": lambda memory: memory.contact("crm", "priya").recall("Where does she live?"),
    "a recall about somebody new": lambda memory: memory.contact("crm", "eve").recall(
        "Does she sing?"
    ),
    "a recall of then": lambda memory: memory.contact("crm", "priya").recall(
        "Where?", as_of=datetime.now(UTC)
    ),
    "a search": lambda memory: memory.agent("crm").find("rain"),
}


@ON_ANY_ONE
def test_who_still_has_the_old_model_is_told_so_and_writes_nothing(
    moving: EngineUnderTest,
) -> None:
    with opened(moving) as memory:
        memory.contact("crm", "priya").recall("Where does she live?")  # its neighbourhood is kept
        ops.reembed(memory, NEW, **USUAL)
        before = memory.agent("crm").decisions()
        for name, call in AFTERWARDS.items():
            with pytest.raises(SchemaError, match=f"holds vectors of {NEW.model_id}.*reembed"):
                call(memory)
            assert memory.agent("crm").decisions() == before, name
    check_vectors(moving, NEW)


@ON_ANY_ONE
def test_a_store_that_was_never_opened_with_the_new_model_opens_with_it_alone(
    moving: EngineUnderTest,
) -> None:
    with opened(moving) as memory:
        half_way(memory)
    with pytest.raises(SchemaError, match=OLD.model_id):
        opened(moving, NEW)
    with opened(moving) as memory:
        ops.reembed(memory, NEW, **USUAL)
    with pytest.raises(SchemaError, match=NEW.model_id):
        opened(moving)
    opened(moving, NEW).close()


@ON_ANY_ONE
def test_what_was_erased_half_way_gets_no_vector(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        half_way(memory)
        assert (
            memory.contact("crm", "priya")
            .forget(by="contact", reason="She asked.")
            .receipt.is_clean
        )
        assert ops.model_move(memory).facts == 1
        ops.reembed(memory, NEW, **USUAL)
    assert check_vectors(moving, NEW) == 1
    left = """MATCH (fact:Fact) WHERE fact.state = 'erased' AND (fact.embedding IS NOT NULL
        OR fact.embedding_bytes IS NOT NULL OR fact.next_embedding IS NOT NULL
        OR fact.next_embedding_bytes IS NOT NULL) RETURN fact.fact_id"""
    assert raw_store.query(moving, left) == []


@ON_ANY_ONE
def test_what_is_erased_while_it_is_embedded_gets_no_vector(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:

        class Erasing(HashingEmbedder):
            def embed(self, texts: Any) -> Any:
                if not memory.agent("crm").erasures():
                    memory.contact("crm", "priya").forget(by="contact", reason="She asked.")
                return super().embed(texts)

        report = ops.reembed(memory, Erasing(24), **USUAL)
        assert report.embedded == 1
    assert check_vectors(moving, NEW) == 1
    left = """MATCH (fact:Fact) WHERE fact.state = 'erased' AND (fact.embedding IS NOT NULL
        OR fact.embedding_bytes IS NOT NULL OR fact.next_embedding IS NOT NULL
        OR fact.next_embedding_bytes IS NOT NULL) RETURN fact.fact_id"""
    assert raw_store.query(moving, left) == []


def test_a_backup_half_way_goes_on_where_it_is_restored(
    made: EngineUnderTest, tmp_path: Path
) -> None:
    engine = embedded_engine(tmp_path / "one")
    copy_of(made, engine)
    with opened(engine) as memory:
        half_way(memory)
        ops.backup(memory, tmp_path / "backup.tar")
    other = embedded_engine(tmp_path / "other")
    ops.restore(tmp_path / "backup.tar", embedder=OLD, **other.settings_arguments)
    with opened(other) as memory:
        assert ops.model_move(memory).moved == 3
        assert ops.reembed(memory, NEW, **USUAL).resumed == 3
    check_vectors(other, NEW)


@ON_ANY_ONE
def test_an_export_half_way_holds_nothing_of_the_move(
    moving: EngineUnderTest, tmp_path: Path
) -> None:
    with opened(moving) as memory:
        half_way(memory)
        ops.export(memory, tmp_path / "all.jsonl", vectors=True)
    assert "next_embedding" not in (tmp_path / "all.jsonl").read_text(encoding="utf-8")
    other = embedded_engine(tmp_path / "other")
    done = ops.restore(tmp_path / "all.jsonl", embedder=OLD, **other.settings_arguments)
    assert done.embedded == 0
    check_vectors(other, OLD)


@ON_ANY_ONE
def test_an_export_goes_into_a_store_that_moves_and_moves_with_it(
    engine: EngineUnderTest, made: EngineUnderTest, tmp_path: Path
) -> None:
    source = embedded_engine(tmp_path / "source")
    copy_of(made, source)
    with opened(source) as memory:
        ops.export(memory, tmp_path / "all.jsonl")
    with opened(engine) as memory:
        memory.add_contact_note("crm", "zoe", "Likes rain.")
        half_way_at_once = stop_at(1)
        with pytest.raises(StoppedError):
            ops.reembed(memory, NEW, on_progress=half_way_at_once, **USUAL)
    given = {"accept_other_key": True, "embedder": OLD, **engine.settings_arguments}
    done = ops.restore(tmp_path / "all.jsonl", **given)
    with opened(engine) as memory:
        assert ops.reembed(memory, NEW, **USUAL).embedded == done.nodes["Fact"]
    check_vectors(engine, NEW)


@ON_ANY_ONE
def test_no_store_moves_while_a_contact_is_not_restored_whole(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        ArchiveStore(memory._services._graph).begin_contact(SCOPE, "(being restored)")
        with pytest.raises(GraphConflictError, match="1 contacts are incomplete"):
            ops.reembed(memory, NEW, **USUAL)
        found = ops.model_move(memory)
        assert (found.model, found.moved) == (OLD.model_id, found.facts)
        assert memory.contact("crm", "priya").recall(NOTES[0])[0].fact.text == NOTES[0]


def test_a_move_that_is_given_up_leaves_nothing(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        half_way(memory)
        assert ops.cancel_reembed(memory).state is MoveState.NONE
        with pytest.raises(InvalidRequestError, match="no move is in progress"):
            ops.cancel_reembed(memory)
        memory.add_contact_note("crm", "priya", "Plays the piano.")
    check_vectors(moving, OLD)
    with opened(moving) as memory:
        ops.reembed(memory, OtherEmbedder(16), **USUAL)
    check_vectors(moving, OtherEmbedder(16))


@ON_ANY_ONE
def test_a_move_that_is_given_up_while_it_runs_ends_with_an_error(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        with pytest.raises(InvalidRequestError, match="was cancelled meanwhile"):
            ops.reembed(
                memory,
                NEW,
                batch_size=3,
                on_progress=lambda *_: ops.cancel_reembed(memory) and None,
                **USUAL,
            )
        assert ops.model_move(memory).state is MoveState.NONE
    check_vectors(moving, OLD)


@ON_ANY_ONE
def test_a_store_moves_twice_and_back(moving: EngineUnderTest) -> None:
    for before, after in ((OLD, NEW), (NEW, OtherEmbedder(8)), (OtherEmbedder(8), OLD)):
        with opened(moving, before) as memory:
            ops.reembed(memory, after, **USUAL)
        check_vectors(moving, after)
    with opened(moving) as memory:
        memory.add_contact_note("crm", "priya", "Plays the piano.")
        memory.contact("crm", "bob").forget(
            by="contact", reason="He asked."
        )  # the file is written again
        half_way(memory)
        memory.add_contact_note("crm", "priya", "Plays golf.")
        fact_id = memory.contact("crm", "priya").decisions()[0].fact_id
        memory.contact("crm", "priya").forget(fact_id=fact_id, by="operator", reason="Wrong.")
        assert ops.model_move(memory).moved >= 2  # written again, with the vectors of both models
        ops.reembed(memory, NEW, **USUAL)
    check_vectors(moving, NEW)


def test_a_store_without_vectors_gets_them(engine: EngineUnderTest) -> None:
    with Memory.open(embedder=NoopEmbedder(), **SEED, **engine.settings_arguments) as memory:
        for text in NOTES:
            memory.add_contact_note("crm", "priya", text)
        ops.reembed(memory, NEW, **USUAL)
    assert check_vectors(engine, NEW) == len(NOTES)


@ON_ANY_ONE
def test_an_empty_store_moves(engine: EngineUnderTest) -> None:
    with opened(engine) as memory:
        report = ops.reembed(memory, NEW, **USUAL)
    assert (report.embedded, report.resumed) == (0, 0)
    with opened(engine, NEW) as memory:
        memory.add_contact_note("crm", "priya", NOTES[0])
    assert check_vectors(engine, NEW) == 1


@ON_ANY_ONE
def test_a_model_that_fails_leaves_what_was_embedded(moving: EngineUnderTest) -> None:
    known = TableEmbedder({"Lives in Pune.": [1, 0, 0]}, 3)
    with opened(moving) as memory:
        with pytest.raises(EmbeddingError):
            ops.reembed(memory, known, batch_size=1, **USUAL)
        assert ops.model_move(memory).next_model == known.model_id
        assert memory.contact("crm", "priya").recall(NOTES[0])[0].fact.text == NOTES[0]


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "the present model": ({"model": OLD}, InvalidRequestError, "already bound to"),
    "a model that makes no vectors": ({"model": "noop"}, ConfigurationError, "makes no vectors"),
    "a model that is not there": (
        {"model": "no-such/model"},
        ConfigurationError,
        "no-such/model",
    ),
    "no model": ({"model": ""}, ConfigurationError, "model is empty"),
    "a null byte": ({"model": "\0"}, ConfigurationError, "cannot be looked for"),
    "half a character": ({"model": "\ud800"}, ConfigurationError, "not the name of a model"),
    "no embedder": ({"model": object()}, ConfigurationError, "an Embedder, not object"),
    "a number": ({"model": 5}, ConfigurationError, "an Embedder, not int"),
    "a flag in words": (
        {"model": NEW, "uncalibrated": "false"},
        InvalidRequestError,
        "uncalibrated must be True or False, not str 'false'",
    ),
    "no profile": ({"model": NEW, "uncalibrated": False}, ConfigurationError, "calibrate PAIRS"),
    "a profile of another model": (
        {"model": NEW, "profile": "minilm"},
        ConfigurationError,
        "calibrated on all-MiniLM",
    ),
    "a profile of no model": (
        {"model": NEW, "profile": "seed", "uncalibrated": False},
        ConfigurationError,
        "no profile has thresholds",
    ),
    "a profile that is not there": (
        {"model": NEW, "profile": "nowhere"},
        ConfigurationError,
        "no profile nowhere",
    ),
    "a batch of none": (
        {"model": NEW, "batch_size": 0},
        InvalidRequestError,
        "whole number from 1 to",
    ),
    "a batch of half a fact": (
        {"model": NEW, "batch_size": 0.5},
        InvalidRequestError,
        "whole number from 1 to",
    ),
    "a batch that is too large": (
        {"model": NEW, "batch_size": 1_000_001},
        InvalidRequestError,
        "whole number from 1 to",
    ),
}


@pytest.fixture
def unmoved(any_engine: EngineUnderTest, made: EngineUnderTest) -> Iterator[Memory]:
    """A memory that keeps its vectors."""
    if any_engine.name == "embedded":
        copy_of(made, any_engine)
    else:
        fill(any_engine)
    with opened(any_engine) as memory:
        yield memory
    check_vectors(any_engine, OLD)


@every("case", BAD)
def test_bad_input_changes_nothing(unmoved: Memory, case: str) -> None:
    given, error, said = BAD[case]
    with pytest.raises(error, match=said):
        ops.reembed(unmoved, **{**USUAL, **given})
    assert ops.model_move(unmoved).state is MoveState.NONE


@ON_ANY_ONE
def test_a_second_move_elsewhere_is_refused(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        half_way(memory)
        with pytest.raises(InvalidRequestError, match=r"already moving to hashing-24@test \(3 of"):
            ops.reembed(memory, OtherEmbedder(16), **USUAL)
        assert ops.model_move(memory).next_model == NEW.model_id


@ON_ANY_ONE
def test_two_runs_at_once_in_a_process_are_refused(moving: EngineUnderTest) -> None:
    with opened(moving) as memory:
        refused: list[InvalidRequestError] = []

        def again(*_: int) -> None:
            with pytest.raises(InvalidRequestError, match="wait until that ends") as caught:
                ops.reembed(memory, NEW, **USUAL)
            refused.append(caught.value)

        ops.reembed(memory, NEW, on_progress=again, **USUAL)
    assert refused


@ON_ANY_ONE
def test_a_profile_that_was_calibrated_on_the_model_is_asked_for_and_named(
    moving: EngineUnderTest, tmp_path: Path
) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text(
        'name = "own"\nembedding_model = "hashing-24@test"\n'
        "cosine_update_min = 0.9\ncosine_add_max = 0.5\ncosine_cut = 0.7\n"
    )
    with opened(moving) as memory:
        report = ops.reembed(memory, NEW, profile=str(profile))
    assert report.is_calibrated
    assert report.settings == {"RECONCILER_RECONCILE__PROFILE": str(profile)}
