"""A path that no file can have, or that cannot be printed, is a clear error and no traceback."""

from __future__ import annotations

import ctypes
import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from reconciler import Memory
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.errors import ConfigurationError
from reconciler.testing import HashingEmbedder
from tests.command_line import Run

TOO_LONG = "n" * 300
NO_UTF_8 = os.fsdecode(b"no-utf8-\xff")
UNUSABLE = {"too long": TOO_LONG, "no UTF-8": NO_UTF_8, "too long, no UTF-8": NO_UTF_8 * 40}
WHO = ("--agent", "crm", "--contact", "priya")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what a relative path makes lie in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


COMMANDS = {
    "import": lambda path: ("import", path, *WHO),
    "extract": lambda path: ("extract", path, *WHO),
    "calibrate": lambda path: ("calibrate", path),
    "calibrate into": lambda path: ("calibrate", "--from-decisions", "--name", path),
}
SETTINGS = {
    "RECONCILER_EMBEDDED_PATH": 3,
    "RECONCILER_CONFIG_FILE": 3,
    "RECONCILER_GATE__POLICY_FILE": 3,
    "RECONCILER_GATE__HASH_KEY_FILE": 3,
    "RECONCILER_RECONCILE__ATTRIBUTES_FILE": 3,
    "RECONCILER_RECONCILE__PROFILE": 3,
    "RECONCILER_EMBEDDER__MODEL": 3,
}
SAYS_A_NUMBER = "My telephone number is +44 20 7946 0018."


@pytest.mark.parametrize("path", UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_a_path_that_it_cannot_use(run: Run, command: str, path: str) -> None:
    code, _, err = run(*COMMANDS[command](path))
    assert code in (2, 3)
    assert "Traceback" not in err
    assert err.strip()


@pytest.mark.parametrize("path", UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize("name", SETTINGS)
def test_so_does_a_setting(
    run: Run, name: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Beneath a file there is none, so that a name that a file could have cannot be used either.
    (tmp_path / "a file").touch()
    folder = tmp_path if len(path) > 255 else tmp_path / "a file"
    monkeypatch.setenv(name, str(folder / path))
    code, _, err = run("add", SAYS_A_NUMBER, *WHO)
    assert code == SETTINGS[name]
    assert "Traceback" not in err
    assert err.strip()


@pytest.mark.parametrize("command", ["import", "extract"])
def test_a_file_whose_name_is_no_utf_8_is_read(run: Run, command: str, tmp_path: Path) -> None:
    file = tmp_path / f"{NO_UTF_8}.jsonl"
    file.write_text('{"text": "Likes tea.", "role": "user"}\n')
    given = ("--session", "chat") if command == "extract" else ()
    code, _, err = run(command, str(file), *WHO, *given)
    assert "Traceback" not in err
    assert code == (0 if command == "extract" else 1)  # role is no key of a note


def test_a_session_is_not_named_after_a_file_whose_name_is_no_utf_8(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / f"{NO_UTF_8}.jsonl"
    file.write_text('{"content": "Likes tea.", "role": "user"}\n')
    code, _, err = run("extract", str(file), *WHO)
    assert code == 2
    assert "is not valid UTF-8" in err


@pytest.mark.parametrize(
    ("name", "encoding", "code"), [(NO_UTF_8, "utf-8", 3), ("\u4e2d", "ascii", 0)]
)
def test_any_path_can_be_printed_on_any_terminal(
    name: str, encoding: str, code: int, tmp_path: Path
) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONIOENCODING": encoding,
        "RECONCILER_EMBEDDER__MODEL": "noop",
        "RECONCILER_EMBEDDED_PATH": str(tmp_path / f"{name}.lbug"),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "reconciler", "init"],
        env=env,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in ran.stderr, ran.stderr.decode(errors="replace")
    assert ran.returncode == code


def test_a_folder_is_no_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path))
    code, _, err = run("add", "Lives here.", *WHO)
    assert code == 3
    assert "is a folder; name a file in it" in err.replace("\n", " ")


def _as_one_who_may_not_write() -> None:
    """Drop what lets root write everywhere (CAP_DAC_OVERRIDE); another user has none of it."""
    assert os.geteuid() or ctypes.CDLL(None).prctl(24, 1) == 0  # PR_CAPBSET_DROP


def _with_store(store: Path) -> dict[str, str]:
    named = {"RECONCILER_EMBEDDER__MODEL": "noop", "RECONCILER_EMBEDDED_PATH": str(store)}
    return os.environ | named | {"COLUMNS": "1000"}


def _in_a_closed_folder(store: Path, *words: str) -> tuple[int, str]:
    """Run a command on a store in a folder of mode 555: its exit code and all that it prints."""
    store.parent.chmod(0o555)
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "reconciler", *words],
            env=_with_store(store),
            preexec_fn=_as_one_who_may_not_write,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        store.parent.chmod(0o755)
    return ran.returncode, " ".join((ran.stdout + ran.stderr).split())


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_that_takes_no_file_is_named_and_no_disk_is_called_full(
    tmp_path: Path, is_there: bool
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    store = folder / "memory.lbug"
    if is_there:
        with Memory.open(embedder=NoopEmbedder(), embedded_path=store) as memory:
            memory.add_contact_note("crm", "priya", "Lives in Pune.")
        code, said = _in_a_closed_folder(store, "recall", "Pune", *WHO)
        assert (code, "Lives in Pune." in said) == (0, True), said
    for words, expected in ((("add", "Likes tea.", *WHO), 3), (("doctor",), 1)):
        code, said = _in_a_closed_folder(store, *words)
        assert code == expected, said
        assert f"may not write in the folder {folder}" in said
        assert "disk" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("words", ["contacts --agent crm", "contacts --agent crm --json"])
def test_an_output_that_takes_nothing_more_is_one_line(words: str, tmp_path: Path) -> None:
    store = tmp_path / "memory.lbug"
    with Memory.open(embedder=NoopEmbedder(), embedded_path=store) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.")
    with Path("/dev/full").open("w") as full:
        ran = _printing_to(full, store, words)
    assert ran == (4, "error: cannot write the output: No space left on device")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        assert _printing_to(pipe, store, words) == (1, "")


def _printing_to(output: IO[str], store: Path, words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "reconciler", *words.split()],
        env=_with_store(store),
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stderr.strip()


@pytest.fixture
def _homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without HOME and without an entry in the list of users, as in many containers."""

    def no_entry(_: object) -> None:
        raise KeyError

    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    monkeypatch.setattr(pwd, "getpwnam", no_entry)


@pytest.mark.usefixtures("_homeless")
@pytest.mark.parametrize(
    "words",
    [
        "contacts --agent crm",
        "demo",
        "token list",
        "jobs",
        "worker",
        "mcp --agent crm",
        "doctor --json",
    ],
)
def test_a_user_without_a_home_is_told_the_remedy(command_line: Run, words: str) -> None:
    code, out, err = command_line(*words.split())
    assert code != 0
    assert "set HOME" in " ".join((out + err).split())
    assert "Traceback" not in out + err


@pytest.mark.usefixtures("_homeless")
@pytest.mark.parametrize(
    "named",
    [
        {"embedded_path": "~/m.lbug"},
        {"embedded_path": "m.lbug", "gate": {"hash_key_file": "~/m.key"}},
        {"embedded_path": "m.lbug", "gate": {"policy_file": "~/policy.toml"}},
        {"embedded_path": "m.lbug", "reconcile": {"attributes_file": "~/attributes.toml"}},
    ],
    ids=str,
)
def test_a_path_in_the_home_of_a_user_without_one_is_refused(named: dict[str, Any]) -> None:
    with (
        pytest.raises(ConfigurationError, match="set HOME"),
        Memory.open(embedder=HashingEmbedder(), **named) as memory,
    ):
        memory.add_contact_note("crm", "priya", "Lives in Pune.")


@pytest.mark.usefixtures("_homeless")
def test_a_user_without_a_home_works_with_a_path_of_its_own() -> None:
    with Memory.open(embedder=HashingEmbedder(), embedded_path="m.lbug") as memory:
        assert memory.add_contact_note("crm", "priya", "Lives in Pune.").action == "ADD"
