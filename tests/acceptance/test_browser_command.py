"""`reconciler browser`: files for a colleague's server, or a page server with the links to type."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.command_line import Run, json_of


def test_the_files_are_written_with_the_names_that_were_given(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    told = json_of(
        run,
        "browser",
        "--write",
        str(folder),
        "--base-url",
        "https://host.example/pack/",
        "--agent",
        "crm",
        "--contact",
        "priya",
        "--tenant",
        "acme",
    )
    assert sorted(map(Path, told["files"])) == sorted(p for p in folder.rglob("*") if p.is_file())
    guide = (folder / "guide.html").read_text(encoding="utf-8")
    assert ":style https://host.example/pack/style.grass" in guide
    assert "{tenant: &#34;acme&#34;, agent_id: &#34;crm&#34;, contact_id: &#34;priya&#34;}" in guide
    allowed = told["neo4j_conf"]["browser.remote_content_hostname_whitelist"]
    assert allowed == "host.example"
    assert told["docker"]["NEO4J_client_allow__telemetry"] == "false"


def test_files_that_are_there_stay_unless_they_may_be_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "style.grass").write_text("mine")
    code, _, err = run("browser", "--write", str(tmp_path))
    assert code == 3
    assert "already exists" in err
    assert [path.name for path in tmp_path.glob("*.*") if path.suffix != ".lbug"] == ["style.grass"]
    assert run("browser", "--write", str(tmp_path), "--overwrite")[0] == 0
    assert (tmp_path / "style.grass").read_text() != "mine"


@pytest.mark.parametrize("url", ["pack/", "ftp://host/pack/", "https://host/pack", "https:///"])
def test_an_address_that_is_none_is_said(run: Run, tmp_path: Path, url: str) -> None:
    code, _, err = run("browser", "--write", str(tmp_path / "pack"), "--base-url", url)
    assert code == 2
    assert "is not a folder's address" in err
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_ended(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "reconciler", "browser", "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "300"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        [guide] = [line.split()[-1] for line in (next(lines) for _ in range(3)) if ":play" in line]
        with urlopen(guide, timeout=10) as answer:
            assert b"What superseded what" in answer.read()
        process.send_signal(number)
        assert process.wait(20) == 0


def test_a_line_to_be_pasted_is_never_wrapped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    asked = ("browser", "--write", str(tmp_path), "--base-url", "https://host.example/pack/")
    settings = json_of(run, *asked)["neo4j_conf"]
    code, out, _ = run(*asked, "--overwrite")
    assert code == 0
    assert {f"{name}={value}" for name, value in settings.items()} <= set(out.splitlines())
