"""What acceptance tests have: one engine, commands run in this process, and the built wheel."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main

from reconciler.entrypoints import cli
from reconciler.entrypoints.cli import main
from tests.command_line import Installed, Run, environment_of
from tests.engines import EngineUnderTest, embedded_engine
from tests.kept_stores import KeptGraphs

ROOT = Path(__file__).resolve().parents[2]

APP_OF = cache(cli._app_of)
COMMAND_OF = cache(typer.main.get_command)
"""Typer reads a command's options from its function, which takes longer than many a command."""


@pytest.fixture
def engine(
    tmp_path: Path, request: pytest.FixtureRequest, kept_graphs: KeptGraphs
) -> Iterator[EngineUnderTest]:
    """The embedded one in the place of every engine: what one could spoil is in other folders.

    Its store is lent and stays open between commands, unless the test has ``own_file``.
    """
    engine = embedded_engine(tmp_path)
    is_lent = "own_file" not in request.fixturenames
    path = engine.settings_arguments["embedded_path"]
    with kept_graphs.lent(path) if is_lent else contextlib.nullcontext():
        yield engine


@pytest.fixture
def own_file() -> None:
    """For a test that starts a process on its store, looks into its file, or moves it."""


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as it stands: exit code, output, errors."""
    monkeypatch.setattr(cli, "_app_of", lambda called: APP_OF(tuple(called)))
    monkeypatch.setattr(typer.main, "get_command", COMMAND_OF)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["reconciler", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
        printed = capsys.readouterr()
        return int(exit_info.value.code or 0), printed.out, printed.err

    return run


@pytest.fixture
def run(
    engine: EngineUnderTest,
    command_line: Run,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Run:
    """Runs a command against an empty store, without a model; ``COLUMNS`` of the module counts."""
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
    monkeypatch.setenv("COLUMNS", str(getattr(request.module, "COLUMNS", 200)))
    for name, value in environment_of(engine).items():
        monkeypatch.setenv(name, value)
    return command_line


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, built from the checkout, and the wheel, built from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="session")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A virtual environment into which pip installed the wheel; its dependencies are ours."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder)]
    [wheel] = built.glob("*.whl")
    install = ["install", "--quiet", "--no-deps", "--ignore-installed", str(wheel)]
    subprocess.run([*pip, *install], check=True)
    return Installed(packages, folder / "bin")
