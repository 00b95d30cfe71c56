"""The files that a page shows: a reader who saves them under their names can run them."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.conftest import cannot_run
from tests.documents import ROOT, fenced, prints

DOCS = ROOT / "docs"
READY_SECONDS_MAX = 60


def _save(page: str, folder: Path) -> None:
    """Save each block ``py`` under the name that its first line gives."""
    for block in fenced(DOCS / page, "py"):
        (folder / block.partition("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "RECONCILER_EMBEDDED_PATH": str(folder / "memory.lbug"),
        "SECRET_KEY": "of-this-test",
    }


def test_the_tests_of_an_agent_pass(tmp_path: Path) -> None:
    page = "testing_your_agent.md"
    _save(page, tmp_path)
    [shown] = [each for each in fenced(DOCS / page, "text") if "pytest" in each]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_agent.py"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=_environment(tmp_path) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # a reader has none
        capture_output=True,
        text=True,
        check=False,
    )
    assert prints(shown, f"$ pytest -q test_my_agent.py\n{ended.stdout}"), ended.stdout


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("fastapi", "uvicorn app:app --host 127.0.0.1 --port PORT"),
        ("django", "gunicorn wsgi --bind 127.0.0.1:PORT"),
    ],
)
def test_a_web_application_answers_as_its_page_shows(
    package: str, command: str, tmp_path: Path
) -> None:
    program = command.partition(" ")[0]
    if not (find_spec(package) and find_spec(program)):
        cannot_run(f"install {package} and {program}, which the extra `test` has")
    _save("web_workers.md", tmp_path)
    [session] = [each for each in fenced(DOCS / "web_workers.md", "text") if program in each]
    started, *rest = session.splitlines()
    with _served(command, tmp_path) as port:
        requests = [line for line in rest if line.startswith("$ ")]
        answers = "\n".join(f"{line}\n{_answer(line, port)}" for line in requests)
    assert prints(session, f"{started}\n{answers}"), answers


def test_the_fastapi_sample_says_422_for_bad_input_and_503_for_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastapi.testclient import TestClient

    _save("web_workers.md", tmp_path)
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    app = runpy.run_path(str(tmp_path / "app.py"))["app"]
    with TestClient(app) as client:

        def noted(text: object) -> int:
            return client.post("/contacts/priya/notes", json={"text": text}).status_code

        assert [noted("Lives in Pune."), noted(""), noted(7)] == [200, 422, 422]
        client.portal.call(app.state.memory.close)
        assert noted("Lives in Goa.") == 503


@contextmanager
def _served(command: str, folder: Path) -> Iterator[int]:
    """Run a server in the folder; gives its port once it accepts connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = shlex.split(command.replace("PORT", str(port)))
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=folder,
            env=_environment(folder) | {"HOME": str(folder)},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_it_accepts(port, server)
        yield port
    finally:
        server.terminate()
        status = server.wait(60)
    assert status in (0, -15), (folder / "log").read_text()


def _wait_until_it_accepts(port: int, server: subprocess.Popen[bytes]) -> None:
    give_up_at = time.monotonic() + READY_SECONDS_MAX
    while server.poll() is None and time.monotonic() < give_up_at:
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the server does not answer")


def _answer(line: str, port: int) -> str:
    """What the server answers to a line of curl."""
    words = shlex.split(line)
    [address] = [word for word in words if word.startswith("localhost:8000")]
    data = words[words.index("-d") + 1].encode() if "-d" in words else None
    url = f"http://{re.sub('localhost:8000', f'localhost:{port}', address)}"
    request = Request(url, data, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=60) as answer:
            return str(answer.read().decode())
    except HTTPError as refused:
        return str(refused.read().decode())
