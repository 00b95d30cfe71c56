"""Commands that copy a memory and move it, as a person meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.testing import HashingEmbedder
from tests.command_line import Run, json_of
from tests.engines import EngineUnderTest

SCOPE = ("--agent", "crm", "--contact", "alice")


def test_a_backup_is_restored_where_no_memory_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    code, out, _ = run("backup", str(tmp_path / "one.zip"))
    assert (code, "Verified." in out) == (0, True)
    assert run("restore", str(tmp_path / "one.zip"))[0] == 3
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "new" / "memory.lbug"))
    assert json_of(run, "restore", str(tmp_path / "one.zip"))["schema_version"] > 0
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "newer.lbug"))
    said = run("restore", str(tmp_path / "one.zip"))[1]
    assert said.startswith("Restored and verified.")
    assert str(tmp_path / "newer.lbug") in "".join(said.split())
    [recalled] = json_of(run, "recall", *SCOPE)
    assert recalled["fact"]["text"] == "Lives in Pune."


def test_an_export_is_restored_and_says_how_much_it_was(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    file = str(tmp_path / "one.jsonl")
    code, out, _ = run("export", "--out", file, "--keys")
    assert (code, "Contact: 1" in out, "secret keys" in out) == (0, True, True)
    assert run("export", "--out", file)[0] == 3
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "new" / "memory.lbug"))
    assert "contacts: 1" in run("restore", file)[1]
    assert "already there: 1" in run("restore", file)[1]


def test_an_export_to_the_output_is_nothing_but_the_export(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    code, out, err = run("export", "--out", "-", *SCOPE)
    assert (code, "Contact: 1" in err) == (0, True)
    assert [json.loads(line) for line in out.splitlines()][-1]["end"]
    assert run("export", "--out", "-", "--json")[0] == 2


@pytest.mark.usefixtures("own_file")
def test_a_store_that_is_open_elsewhere_is_not_backed_up(
    run: Run, engine: EngineUnderTest, tmp_path: Path
) -> None:
    with Memory.open(embedder=HashingEmbedder(16), **engine.settings_arguments):
        code, _, err = run("backup", str(tmp_path / "one.zip"))
    assert (code, "is open in this process" in " ".join(err.split())) == (4, True)


def test_a_contact_s_document_is_written_for_a_person(run: Run, tmp_path: Path) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    file = tmp_path / "alice.html"
    assert run("report", *SCOPE, "--document", "--out", str(file))[0] == 0
    assert "Lives in Pune." in file.read_text(encoding="utf-8")
    assert run("report", "--agent", "crm", "--document", "--out", str(tmp_path / "x.html"))[0] == 2


def test_what_is_neither_backup_nor_export_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"text": "A note."}\n')
    code, _, err = run("restore", str(tmp_path / "notes.jsonl"))
    assert (code, "is neither an export nor a backup" in err) == (2, True)
    assert not (tmp_path / "memory.lbug").exists()


def test_a_backup_of_no_memory_makes_none(run: Run, tmp_path: Path) -> None:
    code, _, err = run("backup", str(tmp_path / "one.zip"))
    assert (code, "there is no memory" in err) == (3, True)
    assert list(tmp_path.iterdir()) == []
