"""The obligations of the embedder port, for every embedder there is, and the promises of the real
one that only it can break: one export, no network, no noise, nobody starved, nobody left waiting.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler.adapters import model_files as adapter
from reconciler.adapters.embedding_batcher import EmbeddingBatcher
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.adapters.sentence_transformer_embedder import SentenceTransformerEmbedder, _Windows
from reconciler.errors import ConfigurationError, EmbeddingError
from reconciler.ports.embedder import Embedder
from reconciler.testing import HashingEmbedder, TableEmbedder

NOTES = [
    "Prefers to be called after five",
    "Invoice 1042 is unpaid",
    "Their daughter is allergic to peanuts",
    "Moved from Berlin to Lisbon in March",
    "Budget of 40,000 euros approved by the board",
    "Wants the contract in French",
    "Ответ только по почте",
    "今年中に契約を更新する",
]
TABLE = {text: np.eye(len(NOTES))[i].tolist() for i, text in enumerate(NOTES)}
BEGINNING = "the customer asked about the renewal of the yearly support contract " * 40
KINDS = ["noop", "hashing", "table", "onnx", "torch"]
REAL = ["onnx", "torch"]
GUARD = """
import os, socket
def refuse(*arguments, **options):
    with open(os.environ["GUARD_LOG"], "a") as log:
        log.write(repr(arguments) + "\\n")
    raise OSError("the test allows no network")
socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse
"""
EXPORTER = """
import sys
from pathlib import Path
from reconciler.adapters import model_files as adapter
sys.executable = sys.argv[1]
adapter.exported(adapter._bundled_folder(), Path(sys.argv[2]))
"""
OBSERVER = """
import json, os, signal, sys, warnings
from pathlib import Path
from reconciler.adapters.sentence_transformer_embedder import SentenceTransformerEmbedder
def is_heavy():
    return "torch" in sys.modules or "onnxruntime" in sys.modules
cache, report = map(Path, sys.argv[1:])
seen = {}
embedders = [SentenceTransformerEmbedder(backend=b, cache_folder=cache) for b in ("onnx", "torch")]
seen["ids"] = [embedder.model_id for embedder in embedders]
seen["dimensions"] = [embedder.dimension for embedder in embedders]
seen["is_heavy_before_use"] = is_heavy()
seen["warm_up_seconds"] = [embedder.warm_up() for embedder in embedders]
seen["is_heavy_after_use"] = is_heavy()
for embedder in embedders:
    embedder.embed([f"Invoice {number} is unpaid" for number in range(100)])
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 advises against any fork
for embedder in embedders:
    child = os.fork()
    if not child:
        signal.alarm(30)
        vectors = embedder.embed([f"Invoice {number} is unpaid" for number in range(100)])
        sys.exit(vectors.shape != (100, 384))
    seen.setdefault("fork_statuses", []).append(os.waitpid(child, 0)[1])
report.write_text(json.dumps(seen))
"""


@pytest.fixture(scope="session")
def quiet_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of its own, and in every Python process below a guard that refuses the network."""
    home = tmp_path_factory.mktemp("home")
    (home / "sitecustomize.py").write_text(GUARD)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
    path = os.pathsep.join([str(home), str(Path(adapter.__file__).parents[2])])
    return kept | {"HOME": str(home), "PYTHONPATH": path, "GUARD_LOG": str(home / "guard.log")}


@pytest.fixture(scope="session")
def exported(
    tmp_path_factory: pytest.TempPathFactory, quiet_environment: dict[str, str]
) -> tuple[Path, list[str], list[bytes]]:
    """The cache after 8 processes wanted it at once, a line per export, what they printed."""
    pytest.importorskip("optimum.onnxruntime", reason="the onnx extra is not installed")
    cache = tmp_path_factory.mktemp("cache")
    count, python = cache / "exports", cache / "python"
    python.write_text(f'#!/bin/sh\necho export >> {count}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    folder = SentenceTransformerEmbedder(cache_folder=cache)._export_folder
    command = [sys.executable, "-c", EXPORTER, str(python), str(folder)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    running = [subprocess.Popen(command, env=quiet_environment, **pipes) for _ in range(8)]
    printed = [process.communicate()[0] for process in running]
    return cache, count.read_text().splitlines(), printed


@pytest.fixture(scope="session")
def make(request: pytest.FixtureRequest) -> Callable[[str], Embedder]:
    """A new embedder of a kind; the caller closes it."""

    def build(kind: str) -> Embedder:
        if kind == "onnx":
            cache = request.getfixturevalue("exported")[0]
            return SentenceTransformerEmbedder(backend="onnx", cache_folder=cache)
        doubles: dict[str, Callable[[], Embedder]] = {
            "noop": NoopEmbedder,
            "hashing": HashingEmbedder,
            "table": lambda: TableEmbedder(TABLE, len(NOTES)),
            "torch": lambda: SentenceTransformerEmbedder(backend="torch"),
        }
        return doubles[kind]()

    return build


@pytest.fixture(scope="session")
def shared(make: Callable[[str], Embedder]) -> Iterator[Callable[[str], Embedder]]:
    """The one embedder of a kind that all tests share, so that a model is loaded once."""
    made: dict[str, Embedder] = {}
    yield lambda kind: made.get(kind) or made.setdefault(kind, make(kind))
    for embedder in made.values():
        embedder.close()


@pytest.fixture(params=KINDS)
def embedder(request: pytest.FixtureRequest, shared: Callable[[str], Embedder]) -> Embedder:
    return shared(request.param)


@pytest.fixture(params=REAL)
def real(request: pytest.FixtureRequest, shared: Callable[[str], Embedder]) -> Embedder:
    return shared(request.param)


@pytest.fixture(scope="session")
def reference() -> Any:
    """sentence-transformers itself, used as its manual says."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(adapter._bundled_folder()), device="cpu", local_files_only=True)


@pytest.fixture(scope="session")
def observed(
    tmp_path_factory: pytest.TempPathFactory,
    exported: tuple[Path, list[str], list[bytes]],
    quiet_environment: dict[str, str],
) -> dict[str, Any]:
    """What a fresh process saw of itself, what it printed, and what it left in its home."""
    report = tmp_path_factory.mktemp("observed") / "report.json"
    command = [sys.executable, "-W", "always", "-c", OBSERVER, str(exported[0]), str(report)]
    done = subprocess.run(command, env=quiet_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(report.read_text()) | {"stdout": done.stdout, "stderr": done.stderr}


def cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return float(first @ second)


# 1. Shape, type, length and order.


def test_vectors_are_float32_of_the_declared_dimension(embedder: Embedder) -> None:
    vectors = embedder.embed(NOTES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(NOTES), embedder.dimension)


def test_no_texts_give_an_empty_array_of_the_declared_dimension(embedder: Embedder) -> None:
    vectors = embedder.embed([])
    assert vectors.dtype == np.float32
    assert vectors.shape == (0, embedder.dimension)


def test_vectors_have_unit_length_unless_there_is_no_dimension(embedder: Embedder) -> None:
    lengths = np.linalg.norm(embedder.embed(NOTES), axis=1)
    np.testing.assert_allclose(lengths, 1.0 if embedder.dimension else 0.0, atol=1e-6)


def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    forwards, backwards = embedder.embed(NOTES), embedder.embed(NOTES[::-1])
    np.testing.assert_allclose(forwards, backwards[::-1], atol=1e-5)


# 2. The same text, the same vector.


def test_a_text_alone_has_the_vector_it_has_in_a_batch(embedder: Embedder) -> None:
    alone = np.concatenate([embedder.embed([text]) for text in NOTES])
    np.testing.assert_allclose(alone, embedder.embed(NOTES), atol=1e-5)


def test_a_list_longer_than_a_batch_keeps_its_order(real: Embedder) -> None:
    texts = [f"Order {number} " + "was late " * (number % 7) for number in range(150)]
    some = [0, 63, 64, 65, 149]
    expected = real.embed([texts[number] for number in some])
    np.testing.assert_allclose(real.embed(texts)[some], expected, atol=1e-5)


def test_32_threads_at_once_each_get_their_own_vectors(embedder: Embedder) -> None:
    expected = embedder.embed(NOTES)
    rounds = [[(n + k) % len(NOTES) for k in range(1 + n % 5)] for n in range(32)]
    barrier = threading.Barrier(32)

    def ask(numbers: list[int]) -> NDArray[np.float32]:
        barrier.wait()
        return embedder.embed([NOTES[number] for number in numbers])

    with ThreadPoolExecutor(32) as pool:
        for numbers, vectors in zip(rounds, pool.map(ask, rounds), strict=True):
            np.testing.assert_allclose(vectors, expected[numbers], atol=1e-5)


# 3. Canonical texts.


@pytest.mark.parametrize("same", ["{}.", "  {}\n", "{} ...", "{}。", "\u2003{}\t."])
def test_white_space_and_closing_full_stops_do_not_count(embedder: Embedder, same: str) -> None:
    variants = [same.format(text.replace(" ", " \n ")) for text in NOTES]
    np.testing.assert_allclose(embedder.embed(variants), embedder.embed(NOTES), atol=1e-5)


# 4. and 5. Dimension and model id.


def test_model_ids_name_the_model_and_its_fingerprint(embedder: Embedder) -> None:
    ids = {
        NoopEmbedder: "noop",
        HashingEmbedder: "hashing-64@test",
        TableEmbedder: "table-8@test",
        SentenceTransformerEmbedder: "all-MiniLM-L6-v2@53aa5117",
    }
    assert embedder.model_id == ids[type(embedder)]


def test_other_weights_in_the_same_folder_change_the_model_id(tmp_path: Path) -> None:
    weights = tmp_path / "mine" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"one")
    first = SentenceTransformerEmbedder(str(weights.parent)).model_id
    weights.write_bytes(b"two")
    os.utime(weights, ns=(1, 1))
    assert first == "mine@7692c3ad"
    assert SentenceTransformerEmbedder(str(weights.parent)).model_id == "mine@3fc4ccfe"


# 6. Warm-up and close.


def test_warm_up_says_how_many_seconds_it_took(embedder: Embedder) -> None:
    assert 0 <= embedder.warm_up() < 60


@pytest.mark.parametrize("kind", KINDS)
def test_close_is_harmless_when_called_again(make: Callable[[str], Embedder], kind: str) -> None:
    embedder = make(kind)
    embedder.embed(NOTES)
    embedder.close()
    embedder.close()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "noop"])
def test_a_closed_embedder_refuses_to_embed(make: Callable[[str], Embedder], kind: str) -> None:
    embedder = make(kind)
    embedder.embed(NOTES)
    embedder.close()
    with pytest.raises(EmbeddingError, match="closed"):
        embedder.embed(NOTES)


def test_close_stops_the_thread_behind() -> None:
    before = set(threading.enumerate())
    embedder = SentenceTransformerEmbedder(backend="torch")
    embedder.warm_up()
    (worker,) = set(threading.enumerate()) - before
    embedder.close()
    assert worker.daemon
    assert not worker.is_alive()


def test_an_embedder_that_nobody_holds_stops_its_thread() -> None:
    before = set(threading.enumerate())
    embedder = SentenceTransformerEmbedder(backend="torch")
    embedder.warm_up()
    del embedder
    assert set(threading.enumerate()) <= before


# The doubles.


def test_hashed_texts_are_nearer_the_more_words_they_share() -> None:
    text, near, far = HashingEmbedder().embed(
        ["calls after five please", "Calls after six please", "invoice 1042 is unpaid"]
    )
    assert cosine(text, near) > 0.6
    assert abs(cosine(text, far)) < 0.4


def test_a_table_gives_exactly_the_cosine_that_a_test_names() -> None:
    table = TableEmbedder({"one": [2, 0], "two": [0.6, 0.8]}, 2)
    one, two = table.embed(["one.", " two"])
    assert cosine(one, two) == pytest.approx(0.6)


def test_a_table_refuses_a_text_that_it_does_not_name() -> None:
    with pytest.raises(EmbeddingError, match="three"):
        TableEmbedder({"one": [1, 0]}, 2).embed(["one", "three"])


@pytest.mark.parametrize("vector", [[1, 0, 0], [0, 0], [float("nan"), 1]])
def test_a_table_refuses_vectors_of_another_shape_or_without_direction(
    vector: list[float],
) -> None:
    with pytest.raises(EmbeddingError, match="needs 2 numbers"):
        TableEmbedder({"one": vector}, 2)


# The real model: which vectors.


def test_vectors_are_those_of_sentence_transformers_itself(real: Embedder, reference: Any) -> None:
    expected = reference.encode(NOTES, normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(real.embed(NOTES), expected, atol=1e-5)


def test_onnx_and_torch_give_the_same_vectors(shared: Callable[[str], Embedder]) -> None:
    texts = [*NOTES, BEGINNING, "x", ""]
    np.testing.assert_allclose(shared("onnx").embed(texts), shared("torch").embed(texts), atol=1e-5)


def test_the_tail_of_a_long_text_counts(real: Embedder) -> None:
    tail = "finally, the daughter is allergic to peanuts and tree nuts"
    plain, tailed, alone = real.embed([BEGINNING, BEGINNING + tail, tail])
    assert cosine(plain, tailed) < 0.999
    assert cosine(tailed, alone) > cosine(plain, alone) + 0.01


def test_the_tail_counts_where_a_character_is_more_than_one_token(real: Embedder) -> None:
    beginning = "한국어로 말씀해 주세요 " * 14  # its syllables are two or three tokens each
    texts = [beginning + "안녕하세요", beginning + "지원"]
    assert max(map(len, texts)) < 254
    first, second = real.embed(texts)
    assert cosine(first, second) < 0.9999


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_tokens(real: Embedder) -> None:
    first, second, whole = real.embed(["red " * 254, "blue " * 100, "red " * 254 + "blue " * 100])
    mean = 254 * first + 100 * second
    np.testing.assert_allclose(whole, mean / np.linalg.norm(mean), atol=1e-5)


def test_every_window_fits_the_model_and_none_of_the_text_is_lost(reference: Any) -> None:
    text = "unbelievably " * 200 + "https://example.org/" + "abcdefgh/" * 150 + "end"
    pieces = [piece for piece, _ in _Windows(reference).split(text)]
    tokenize = reference.tokenizer.backend_tokenizer.encode
    reference.tokenizer.backend_tokenizer.no_truncation()
    reference.tokenizer.backend_tokenizer.no_padding()
    assert max(len(tokenize(piece).ids) for piece in pieces) <= 256
    assert "".join("".join(pieces).split()) == "".join(text.split())


# The real model: what can go wrong.


def test_a_model_that_is_nowhere_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"minilm.*folder.*download"):
        SentenceTransformerEmbedder("no-such-model-anywhere").warm_up()


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"model\.safetensors"):
        _ = SentenceTransformerEmbedder(str(tmp_path)).model_id


def test_a_folder_whose_model_cannot_be_read_is_the_operators_fault(tmp_path: Path) -> None:
    shutil.copytree(adapter._bundled_folder(), tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ConfigurationError, match="cannot be loaded with torch"):
        SentenceTransformerEmbedder(str(tmp_path), backend="torch").warm_up()


def test_a_missing_bundle_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "BUNDLED_PACKAGE", "no_such_package_anywhere")
    with pytest.raises(ConfigurationError, match="pip install"):
        SentenceTransformerEmbedder().warm_up()


def test_no_batch_can_hold_less_than_one_text() -> None:
    with pytest.raises(ConfigurationError, match="batch_size"):
        SentenceTransformerEmbedder(batch_size=0)


@pytest.mark.parametrize("text", ["half a pair \ud800", None, 7])
def test_a_text_that_is_none_is_an_embedding_error(real: Embedder, text: Any) -> None:
    with pytest.raises(EmbeddingError) as caught:
        real.embed(["fine", text])
    assert caught.value.__cause__ is not None
    assert len(real.embed(["fine"])) == 1


def test_auto_embeds_with_torch_where_nothing_can_be_cached(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, shared: Callable[[str], Embedder]
) -> None:
    (tmp_path / "file").touch()
    embedder = SentenceTransformerEmbedder(cache_folder=tmp_path / "file")
    np.testing.assert_allclose(embedder.embed(NOTES), shared("torch").embed(NOTES), atol=1e-6)
    embedder.close()
    assert "embedding with torch instead" in caplog.text


def test_onnx_on_demand_fails_where_nothing_can_be_cached(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot keep the model as ONNX"):
        SentenceTransformerEmbedder(backend="onnx", cache_folder=tmp_path / "file").warm_up()


def test_onnx_on_demand_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optimum.onnxruntime", None)
    with pytest.raises(ConfigurationError, match=r"pip install .*\[onnx\]"):
        SentenceTransformerEmbedder(backend="onnx").warm_up()


# The real model: one export, no network, no noise.


def test_eight_processes_at_once_export_the_model_once(
    exported: tuple[Path, list[str], list[bytes]],
) -> None:
    assert exported[1] == ["export"]


def test_the_export_prints_nothing_and_leaves_nothing_half_done(
    exported: tuple[Path, list[str], list[bytes]],
) -> None:
    assert set(exported[2]) == {b""}
    assert not list(exported[0].rglob("*.partial*"))


@pytest.mark.parametrize("damage", ["truncated", "missing", "flipped", "unfinished"])
def test_a_damaged_export_is_not_taken_for_whole(
    exported: tuple[Path, list[str], list[bytes]], tmp_path: Path, damage: str
) -> None:
    folder = SentenceTransformerEmbedder(cache_folder=exported[0])._export_folder
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert adapter._is_whole(copy)
    weights = copy / "onnx" / "model.onnx"
    content = weights.read_bytes()
    {
        "truncated": lambda: weights.write_bytes(content[:-1]),
        "missing": weights.unlink,
        "flipped": lambda: weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1])),
        "unfinished": (copy / adapter.CHECKSUMS).unlink,
    }[damage]()
    assert not adapter._is_whole(copy)


def test_a_damaged_export_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = "import pathlib, sys; p = pathlib.Path(sys.argv[2]); p.mkdir(); (p / 'm').touch()"
    monkeypatch.setattr(adapter, "EXPORT_PROGRAM", exporter)
    target, leftover = tmp_path / "model", tmp_path / "model.partial-of-a-killed-process"
    target.mkdir()
    leftover.mkdir()
    (target / "half").touch()
    adapter.exported(tmp_path, target)
    assert sorted(file.name for file in target.iterdir()) == [adapter.CHECKSUMS, "m"]
    assert not leftover.exists()


def test_a_failed_export_leaves_nothing_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "EXPORT_PROGRAM", "raise SystemExit('no such operator')")
    with pytest.raises(ConfigurationError, match="no such operator"):
        adapter.exported(tmp_path, tmp_path / "model")
    assert [file.name for file in tmp_path.iterdir()] in ([], ["model.lock"])


def test_neither_export_nor_use_reaches_for_the_network(
    observed: dict[str, Any], quiet_environment: dict[str, str]
) -> None:
    assert not Path(quiet_environment["GUARD_LOG"]).exists()


def test_onnxruntime_is_kept_from_reporting_to_its_maker(
    observed: dict[str, Any], quiet_environment: dict[str, str]
) -> None:
    left = [path for path in Path(quiet_environment["HOME"]).rglob("*") if "Microsoft" in path.name]
    assert left == []


def test_use_prints_and_warns_nothing(observed: dict[str, Any]) -> None:
    assert observed["stdout"] + observed["stderr"] == ""


def test_model_id_and_dimension_cost_no_heavy_import(observed: dict[str, Any]) -> None:
    assert observed["ids"] == ["all-MiniLM-L6-v2@53aa5117"] * 2
    assert observed["dimensions"] == [384, 384]
    assert not observed["is_heavy_before_use"]
    assert observed["is_heavy_after_use"]


def test_a_forked_child_embeds_and_ends_cleanly(observed: dict[str, Any]) -> None:
    assert observed["fork_statuses"] == [0, 0]


# The batcher, with a model that a test can hold up.


class SlowModel:
    """Waits before every batch until the test lets it pass; a text ``poison`` breaks a batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.has_begun = threading.Semaphore(0)
        self.may_go_on = threading.Semaphore(0)

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(texts)
        self.has_begun.release()
        assert self.may_go_on.acquire(timeout=60)
        if "poison" in texts:
            raise ValueError("poisoned")
        return np.array([[float(text)] for text in texts], dtype=np.float32)

    def let_all_pass(self) -> None:
        self.may_go_on.release(1000)


@pytest.fixture
def model() -> SlowModel:
    return SlowModel()


@pytest.fixture
def batcher(model: SlowModel) -> Iterator[Any]:
    batcher = EmbeddingBatcher(model.encode, 4)
    yield batcher
    model.let_all_pass()
    batcher.stop()


def begin(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Call it in a thread that a failing test can leave behind."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(6000):
        if holds():
            return
        threading.Event().wait(0.01)
    pytest.fail("waited a minute in vain")


def numbers(first: int, count: int) -> list[str]:
    return [str(number) for number in range(first, first + count)]


def test_callers_that_wait_together_share_one_batch(model: SlowModel, batcher: Any) -> None:
    asked = [begin(batcher.encode, ["0"])]
    assert model.has_begun.acquire(timeout=60)
    asked += [begin(batcher.encode, [text]) for text in ("1", "2", "3")]
    wait_until(lambda: len(batcher._waiting) == 3)
    model.let_all_pass()
    assert [one.result(10).item() for one in asked] == [0, 1, 2, 3]
    assert [len(batch) for batch in model.batches] == [1, 3]


def test_no_batch_is_larger_than_the_batch_size(model: SlowModel, batcher: Any) -> None:
    model.let_all_pass()
    assert batcher.encode(numbers(0, 10)).ravel().tolist() == list(range(10))
    assert [len(batch) for batch in model.batches] == [4, 4, 2]


def test_a_long_list_does_not_keep_a_short_one_waiting(model: SlowModel, batcher: Any) -> None:
    long = begin(batcher.encode, numbers(0, 100))
    assert model.has_begun.acquire(timeout=60)
    short = begin(batcher.encode, ["7"])
    wait_until(lambda: len(batcher._waiting) == 2)
    model.may_go_on.release(2)
    assert short.result(10).item() == 7
    assert not long.done()
    model.let_all_pass()
    assert long.result(10).shape == (100, 1)


def test_a_poisoned_request_fails_alone(model: SlowModel, batcher: Any) -> None:
    first = begin(batcher.encode, ["0"])
    assert model.has_begun.acquire(timeout=60)
    asked = [begin(batcher.encode, [text]) for text in ("1", "poison", "3")]
    wait_until(lambda: len(batcher._waiting) == 3)
    model.let_all_pass()
    assert [first.result(10).item(), asked[0].result(10).item()] == [0, 1]
    assert asked[2].result(10).item() == 3
    assert isinstance(asked[1].exception(10), ValueError)


def test_after_a_long_poisoned_list_the_next_caller_is_served(
    model: SlowModel, batcher: Any
) -> None:
    model.let_all_pass()
    with pytest.raises(ValueError, match="poisoned"):
        batcher.encode(["poison"] * 9)
    assert len(model.batches) == 1
    assert batcher.encode(["5"]).item() == 5


def test_even_what_is_no_exception_reaches_the_caller() -> None:
    class Panic(BaseException):
        pass

    def encode(texts: list[str]) -> NDArray[np.float32]:
        raise Panic

    batcher = EmbeddingBatcher(encode, 4)
    for _ in range(2):
        assert isinstance(begin(batcher.encode, ["1"]).exception(10), RuntimeError)
    batcher.stop()


def test_stopping_finishes_the_batch_in_hand_and_turns_the_others_away(
    model: SlowModel, batcher: Any
) -> None:
    first = begin(batcher.encode, ["0"])
    assert model.has_begun.acquire(timeout=60)
    second = begin(batcher.encode, ["1"])
    wait_until(lambda: len(batcher._waiting) == 1)
    stopping = begin(batcher.stop)
    assert isinstance(second.exception(10), EmbeddingError)
    model.let_all_pass()
    stopping.result(10)
    assert first.result(10).item() == 0
    assert isinstance(begin(batcher.encode, ["2"]).exception(10), EmbeddingError)
