"""The report at the command line: a file, and what keeps it away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import Run, json_of

WHO = ("--agent", "crm", "--contact", "priya")


@pytest.fixture
def told(run: Run) -> Run:
    """A memory of two facts."""
    for city in ("Pune", "Goa"):
        code, _, err = run("add", f"Lives in {city}.", *WHO, "--attribute", "city", "--value", city)
        assert code == 0, err
    return run


def test_a_report_is_one_file(told: Run, tmp_path: Path) -> None:
    out = tmp_path / "priya.html"
    said = json_of(told, "report", *WHO, "--out", str(out))
    assert said == {"file": str(out), "bytes": out.stat().st_size}
    assert "Lives in Pune." in out.read_text(encoding="utf-8")


def test_a_report_of_all_contacts_needs_no_contact(told: Run, tmp_path: Path) -> None:
    code, out, _ = told("report", "--agent", "crm", "--out", str(tmp_path / "all.html"))
    assert (code, out) == (0, f"Wrote {tmp_path / 'all.html'}.\n")


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(told: Run, tmp_path: Path) -> None:
    out = tmp_path / "priya.html"
    out.write_text("mine")
    code, _, err = told("report", *WHO, "--out", str(out))
    assert (code, out.read_text()) == (3, "mine")
    assert "already exists" in err
    assert told("report", *WHO, "--out", str(out), "--overwrite")[0] == 0
    assert "Lives in Goa." in out.read_text(encoding="utf-8")


def test_nobody_known_gets_words_and_no_file(told: Run, tmp_path: Path) -> None:
    out = tmp_path / "nobody.html"
    code, said, err = told("report", "--agent", "crm", "--contact", "pria", "--out", str(out))
    assert (code, said) == (1, "")
    assert "nothing is known about contact pria of agent crm; check both names" in err
    assert list(tmp_path.glob("*.html")) == []


def test_a_folder_that_is_not_there_is_said(told: Run, tmp_path: Path) -> None:
    code, _, err = told("report", *WHO, "--out", str(tmp_path / "no" / "priya.html"))
    assert code == 3
    assert "cannot be written" in err
