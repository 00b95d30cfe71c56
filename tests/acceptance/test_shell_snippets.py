"""The documents' own commands: each is one that there is, and each that can be run here is run.

The lines of a document are run in their order on a store of its own. An id in a line stands for
one that the store has: ``READY`` makes it. ``NOT_RUN`` says which lines are only parsed, and why.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import count, cycle, dropwhile
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from reconciler import load_settings
from reconciler.adapters.onnx_minilm import OnnxMinilm
from reconciler.entrypoints.cli import app
from tests.command_line import Run, json_of
from tests.documents import MARKDOWN, ROOT, fenced, prints, prose
from tests.kept_stores import KeptGraphs
from tests.tables import every

SHELL = ("sh", "bash", "shell", "console")
VARIABLE = re.compile(r"[A-Z_0-9]+=")
WHO = ("--agent", "crm", "--contact", "priya")
NOT_RUN = {
    "reconciler resend*": "no webhook is set up; tests/integration/test_webhooks.py",
    "reconciler changes * --follow*": "stays until Ctrl-C; tests/integration/test_change_feed.py",
    "reconciler mcp*": "stays until its client ends; tests/integration/test_mcp_*.py",
    "reconciler serve*": "stays until it is ended; tests/acceptance/test_http_api.py",
    "reconciler worker*": "stays until it is ended; tests/acceptance/test_job_commands.py",
    "reconciler browser*": "stays until Ctrl-C; tests/acceptance/test_browser_command.py",
    "reconciler demo*": "takes seconds; tests/acceptance/test_installed.py",
    "reconciler import neo4j:*": "needs a server; tests/integration/test_peer_import.py",
    "reconciler import * --ray *": "needs Ray; tests/integration/test_ray_backfill.py",
    "reconciler calibrate pairs.jsonl*": "needs labelled pairs; tests/acceptance/test_calibrate.py",
    "reconciler calibrate --from-decisions*": "needs twenty corrections of each label",
    "reconciler doctor --judge": "asks a model; tests/acceptance/test_judge_command.py",
    "reconciler rejudge*": "asks a model; tests/acceptance/test_rejudge_command.py",
    "reconciler answer*": "needs the id of a recall; tests/acceptance/test_fact_commands.py",
    "reconciler retry*": "no job is dead here; tests/acceptance/test_job_commands.py",
    "reconciler reembed --model*": "another model; tests/acceptance/test_model_commands.py",
    "reconciler reembed --cancel": "no move is under way; tests/acceptance/test_model_commands.py",
    "reconciler unarchive*": "nothing has faded yet; tests/acceptance/test_life_commands.py",
}
COMMAND_LINE: Any = get_command(app)
HERE = ("make", "pip", "python", "python3", "docker", "export", ".")
"""What else a line may begin with; ``_check_other`` looks at what it names."""
EXPORTS = {
    "mem0.json": "mem0.json",
    "edges.jsonl": "graphiti.jsonl",
    "store.jsonl": "langmem.jsonl",
}
"""What other memory systems gave, by the names that the documents give it."""
SHOWN = {"chat.jsonl": "background_door.md", "notes.jsonl": "importing.md"}
"""Files of JSON lines, and the page that shows each."""

LOADED = cache(OnnxMinilm().load)
"""The real model, loaded once and not by each command, as if all were run by one process."""

NUMBERS = count(1)
ILLNESSES = cycle(("asthma", "diabetes", "epilepsy", "migraine", "arthritis"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _commands(block: str) -> Iterator[list[str]]:
    """The words of each command of a block, without comments; of a session those behind a $."""
    is_session = re.search(r"^\$ ", block, re.MULTILINE)
    for line in block.replace("\\\n", " ").splitlines():
        if not is_session or line.startswith("$ "):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words:
                yield words


def _all_commands(path: Path) -> list[list[str]]:
    """The commands of a page, without the variables that are set in front of them."""
    said = (words for block in fenced(path, *SHELL) for words in _commands(block))
    return [bare for words in said if (bare := list(dropwhile(VARIABLE.match, words)))]


def _resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, and what is left for it."""
    command = COMMAND_LINE
    left = list(words)
    while hasattr(command, "commands") and left and not left[0].startswith("-"):
        assert left[0] in command.commands, f"there is no command {left[0]!r}"
        command = command.commands[left.pop(0)]
    return command, left


def _reason_not_to_run(words: list[str]) -> str | None:
    said = " ".join(words)
    return next((why for line, why in NOT_RUN.items() if fnmatchcase(said, line)), None)


@pytest.mark.parametrize("path", MARKDOWN, ids=_name)
def test_every_command_in_a_block_is_one_that_there_is(path: Path, folder: Path) -> None:
    for program, *arguments in _all_commands(path):
        if program != "reconciler":
            _check_other(program, arguments)
            continue
        for each in arguments:  # some must be there to be taken
            if re.search(r"\.(jsonl|json|toml|zip|sqlite)$", each):
                (folder / each).parent.mkdir(parents=True, exist_ok=True)
                (folder / each).touch()
        command, left = _resolved(arguments)
        try:
            command.make_context(" ".join(arguments), left)
        except typer.Exit as printed:  # an option that prints, and that is all
            if printed.exit_code:
                raise


def _check_other(program: str, arguments: list[str]) -> None:
    """What a line that is none of ours names is there: targets, scripts, lists of requirements."""
    assert program in HERE, f"nothing here knows how to look at {program!r}"
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in (each for each in arguments if "=" not in each):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for each in arguments:
        if re.fullmatch(r"[\w/-]+\.(txt|py|yml)", each):
            assert (ROOT / each).is_file(), each


@every("path", MARKDOWN)
def test_every_command_that_the_text_names_has_the_options_that_it_names(path: Path) -> None:
    for said in re.findall(r"`(reconciler [^`]+)`", prose(path)):
        command, left = _resolved(shlex.split(said)[1:])
        known = {option for each in command.params for option in each.opts} | {"--help"}
        named = {word.split("=")[0] for word in left if word.startswith("--")}
        assert named <= known, said


def test_every_reason_not_to_run_a_line_belongs_to_one() -> None:
    said = [" ".join(words) for path in MARKDOWN for words in _all_commands(path)]
    assert [line for line in NOT_RUN if not any(fnmatchcase(each, line) for each in said)] == []


def _fresh(run: Run) -> dict[str, Any]:
    """A plain new note."""
    text = f"Owns the house at number {next(NUMBERS)} of the Mill Road."
    return json_of(run, "add", *WHO, text)  # type: ignore[no-any-return]


def _held(run: Run) -> str:
    text = f"Has been diagnosed with {next(ILLNESSES)}."
    return str(json_of(run, "add", *WHO, text)["decision_id"])


def _disputed(run: Run) -> str:
    slot = ("--attribute", "employer", "--value")
    json_of(run, "add", *WHO, "Works at Globex.", *slot, "Globex", "--source-kind", "user_explicit")
    return str(json_of(run, "add", *WHO, "Works at Acme.", *slot, "Acme")["fact_id"])


SIDES: list[str] = []


def _side(run: Run) -> str:
    """One side of a dispute after the other."""
    if not SIDES:
        _disputed(run)
        [dispute, *_] = json_of(run, "disputes", *WHO)
        SIDES.extend(str(fact["fact_id"]) for fact in dispute["facts"])
    return SIDES.pop()


def _said(run: Run) -> str:
    """What the contact said: no relation ends an operator's word."""
    text = f"Owns the house at number {next(NUMBERS)} of the Mill Road."
    made = json_of(run, "add", *WHO, text, "--source-kind", "user_explicit")
    return str(made["fact_id"])


def _job(run: Run) -> str:
    [job, *_] = json_of(run, "jobs", "--agent", "crm")
    return str(job["job_id"])


def _token(run: Run) -> str:
    [token, *_] = json_of(run, "token", "list")
    return str(token["id"])


AN_ID = re.compile(r"[A-Z]+_ID|1f3a09bc")
READY: dict[str, Callable[[Run], str]] = {
    "confirm DECISION_ID": _held,
    "reject DECISION_ID": _held,
    "withdraw DECISION_ID": _held,
    "resolve FACT_ID": _disputed,
    "--neither FACT_ID": _side,
    "relate FACT_ID": _said,
    "job JOB_ID": _job,
    "token revoke": _token,
    "DECISION_ID": lambda run: str(_fresh(run)["decision_id"]),
    "FACT_ID": lambda run: str(_fresh(run)["fact_id"]),
}
"""What a line's id stands for, by words that the line has; the first that fits."""


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_graphs: KeptGraphs
) -> Iterator[Path]:
    """An empty folder with the files that the documents read, and a store of its own."""
    here = tmp_path / "here"
    here.mkdir()
    SIDES.clear()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    monkeypatch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(OnnxMinilm, "load", lambda _: LOADED())
    for name, page in SHOWN.items():
        [block] = fenced(ROOT / "docs" / page, "json")
        (here / name).write_text(block, encoding="utf-8")
    for name, exported in EXPORTS.items():
        shutil.copy(ROOT / "tests" / "peer_exports" / exported, here / name)
    with kept_graphs.lent(tmp_path / "memory.lbug"):
        yield here


def _runnable(path: Path) -> list[list[str]]:
    ours = [words for words in _all_commands(path) if words[0] == "reconciler"]
    return [words[1:] for words in ours if not _reason_not_to_run(words)]


def _with_ids(run: Run, words: list[str]) -> list[str]:
    if not any(AN_ID.fullmatch(word) for word in words):
        return words
    ready = next(ready for key, ready in READY.items() if key in " ".join(words))
    return [ready(run) if AN_ID.fullmatch(word) else word for word in words]


@pytest.mark.parametrize("path", [p for p in MARKDOWN if _runnable(p)], ids=_name)
def test_the_commands_of_a_document_run_one_after_the_other(
    path: Path, folder: Path, command_line: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path.name == "command_line.md":  # some of its lines compare and find
        monkeypatch.delenv("RECONCILER_EMBEDDER__MODEL")
    who = ("--agent", "dispatch", "--contact", "vera") if path.parent.name == "examples" else WHO
    json_of(command_line, "add", *who, "Lives in Oslo.")
    for words in _runnable(path):
        with monkeypatch.context() as changed:
            if words[0] == "restore":  # goes where no memory is
                changed.setenv("RECONCILER_EMBEDDED_PATH", str(folder / "elsewhere" / words[1]))
            code, _, err = command_line(*_with_ids(command_line, words))
        assert code == 0, f"reconciler {' '.join(words)}\n{err}"


def _sessions(path: Path) -> list[str]:
    return list(fenced(path, "console"))


@pytest.mark.parametrize("path", [p for p in MARKDOWN if _sessions(p)], ids=_name)
def test_a_session_prints_what_its_document_shows(
    path: Path, folder: Path, command_line: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All sessions of a page, one after the other, with the model that a reader has."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("RECONCILER_EMBEDDER__MODEL")
    for session in _sessions(path):
        printed = ""
        for line in session.splitlines():
            if line.startswith("$ "):
                code, out, err = command_line(*shlex.split(line, comments=True)[2:])
                assert code == 0, err
                printed += f"{line}\n{out}"
        assert prints(session, printed), printed


def test_a_services_file_names_a_command_that_there_is() -> None:
    page = ROOT / "docs" / "systemd.md"
    text = "\n".join(fenced(page, "ini"))
    commands = re.findall(r"^ExecStart=/opt/reconciler/bin/reconciler (.+)$", text, re.MULTILINE)
    for said in commands:
        command, left = _resolved(shlex.split(said))
        command.make_context(said, left)
    assert len(commands) == 3


def test_a_services_environment_has_settings_that_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [file] = [each for each in fenced(ROOT / "docs" / "systemd.md", "ini") if "NEO4J_URI" in each]
    for line in file.splitlines():
        if not line.startswith("#"):
            monkeypatch.setenv(*line.split("=", 1))
    with warnings.catch_warnings(action="error"):
        settings = load_settings()
    assert (settings.graph, settings.log.format) == ("neo4j", "json")


def test_systemd_finds_no_fault_in_the_services(tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd is not here")
    for block in fenced(ROOT / "docs" / "systemd.md", "ini"):
        name = block.splitlines()[0].removeprefix("# /etc/systemd/system/")
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        # What this machine does not have: the program and its user.
        here = block.replace("/opt/reconciler/bin/reconciler", "/bin/true")
        (tmp_path / name).write_text(here.replace("User=reconciler", "User=daemon"))
    units = sorted(str(each) for each in tmp_path.glob("*.service"))
    ended = subprocess.run(
        [verify, "verify", *units],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(units) == 3
    assert (ended.returncode, ended.stderr) == (0, "")
