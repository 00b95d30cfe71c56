"""What acceptance tests have: one engine, and commands that are run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler.entrypoints.cli import main
from tests.command_line import Run, environment_of
from tests.engines import EngineUnderTest, embedded_engine


@pytest.fixture
def engine(tmp_path: Path) -> EngineUnderTest:
    """The embedded one in the place of every engine: what one could spoil is in other folders."""
    return embedded_engine(tmp_path)


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as it stands: exit code, output, errors."""

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
