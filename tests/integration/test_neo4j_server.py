"""The test servers themselves: what is said when they cannot be had, and that none outlives us."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from typer.main import get_command

from reconciler.entrypoints.cli import app
from reconciler.settings import load_settings
from tests import neo4j_artefacts, neo4j_server
from tests.engines import Choice
from tests.neo4j_artefacts import LINES, ServerNotAvailableError, fetched_jars, prepare

ROOT = Path(__file__).parents[2]

PARENT = """
import os, subprocess, sys
guard, home = sys.argv[1:]
subprocess.Popen([sys.executable, guard, "--parent", str(os.getpid()), "--discard", home, "--",
    "sh", "-c", f"echo $$ > {home}/pid; exec sleep 300"], start_new_session=True).wait()
"""


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No Java, no Maven, no Docker, an empty cache; its PATH is the folder returned."""
    path = tmp_path / "bin"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(neo4j_artefacts, "JAVA_HOME_PATTERNS", ())
    return path


@pytest.mark.parametrize(("line", "java"), [("5.26", "JDK 17"), ("2026", "JDK 21")])
def test_a_bare_machine_is_told_what_to_install(bare_machine: Path, line: str, java: str) -> None:
    with pytest.raises(ServerNotAvailableError, match=f"install a {java} or later .* Docker"):
        prepare(LINES[line], pytest.fail)


def test_a_java_too_old_is_named(bare_machine: Path) -> None:
    _write_java(bare_machine, "17.0.15")
    with pytest.raises(ServerNotAvailableError, match=r"needs Java 21 or later, found Java 17 at"):
        prepare(LINES["2026"], pytest.fail)


def test_java_without_maven_asks_for_maven(bare_machine: Path) -> None:
    _write_java(bare_machine, "21.0.2")
    with pytest.raises(ServerNotAvailableError, match=r"fetched by Maven: install"):
        prepare(LINES["2026"], pytest.fail)


def test_maven_that_fails_is_quoted_and_leaves_no_half_cache(
    bare_machine: Path, tmp_path: Path
) -> None:
    _write_java(bare_machine, "21.0.2")
    _write_script(bare_machine / "mvn", "echo Unknown host; exit 1")
    with pytest.raises(ServerNotAvailableError, match="Maven said: Unknown host"):
        prepare(LINES["2026"], lambda _: None)
    assert [file.name for file in (tmp_path / "cache").rglob("*.jar")] == []


def test_a_cache_that_lost_a_jar_is_fetched_again(bare_machine: Path, tmp_path: Path) -> None:
    fetch = (
        'for a in "$@"; do case $a in -DoutputDirectory=*) echo jar > "${a#*=}/a.jar";; esac; done'
    )
    _write_script(bare_machine / "mvn", fetch)
    folder = fetched_jars(LINES["2026"], Path("/java/bin/java"), lambda _: None)
    (folder / "a.jar").unlink()
    said: list[str] = []
    fetched_jars(LINES["2026"], Path("/java/bin/java"), said.append)
    assert (folder / "a.jar").exists()
    assert said[0].startswith("fetching Neo4j 2026")


def test_a_run_that_is_killed_leaves_no_server_and_no_data(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    guard = ROOT / "tests" / "neo4j_guard.py"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(guard), str(home)])
    server = int(_wait_for((home / "pid").read_text))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    _wait_for(lambda: not home.exists())
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_compose_publishes_on_the_loopback_only_and_demands_a_password() -> None:
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["neo4j"]
    assert [port.split(":")[0] for port in service["ports"]] == ["127.0.0.1", "127.0.0.1"]
    assert "${NEO4J_PASSWORD:?" in service["environment"]["NEO4J_AUTH"]
    assert service["image"] == LINES["2026"].image


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))


def test_compose_starts_what_is_beside_neo4j_on_request_and_publishes_on_the_loopback() -> None:
    made = compose()
    for name, service in made["services"].items():
        assert all(each.startswith("127.0.0.1:") for each in service["ports"]), name
        assert {each.partition(":")[0] for each in service["volumes"]} <= set(made["volumes"]), name
        assert service.get("profiles", []) == {
            "neo4j": [],
            "worker": ["worker", "all"],
            "mcp": ["mcp", "all"],
            "serve": ["serve", "all"],
            "prometheus": ["metrics", "all"],
        }.get(name)
        assert "healthcheck" in service or name == "worker"  # which has the image's


def test_compose_gives_commands_that_the_command_line_takes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    parsed = {}
    for service in ("worker", "mcp", "serve"):
        name, *options = compose()["services"][service]["command"]
        parsed[service] = get_command(app).commands[name].make_context(name, options).params
        for variable in compose()["services"][service]["environment"]:
            if variable.startswith("RECONCILER_"):
                said = "anthropic" if variable.endswith("__PROVIDER") else "sixteen characters"
                monkeypatch.setenv(variable, said)
    assert parsed["worker"]["metrics_port"] == 9464
    assert (parsed["mcp"]["transport"], parsed["mcp"]["port"]) == ("http", 8765)
    assert (parsed["serve"]["host"], parsed["serve"]["port"]) == ("0.0.0.0", 8766)
    load_settings()
    assert not caplog.records
    said = (ROOT / "docker-compose.yml").read_text()
    [words] = re.findall(r"run --rm mcp token (create .+)", said)
    command, *given = words.split()
    tokens = get_command(app).commands["token"]
    assert tokens.commands[command].make_context(command, given).params["agents"] == ["crm"]


def test_compose_has_prometheus_scrape_the_worker_where_it_answers() -> None:
    made = compose()
    scraped = yaml.safe_load(made["configs"]["prometheus"]["content"])["scrape_configs"]
    assert [each["static_configs"][0]["targets"] for each in scraped] == [["worker:9464"]]
    assert "9464" in made["services"]["worker"]["command"]


EXTRAS_OF_THE_IMAGE = ("claude", "mcp", "openai", "serve")


def test_the_image_installs_the_extras_of_its_services_before_the_sources() -> None:
    recipe = (ROOT / "Dockerfile").read_text()
    made = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [script] = re.findall(r'python -c "(.+?)"', recipe.replace("\\\n", ""))
    listed = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    extras = [made["optional-dependencies"][name] for name in EXTRAS_OF_THE_IMAGE]
    assert listed.stdout.split("\n") == [*made["dependencies"], *chain(*extras), ""]


def test_the_image_copies_what_there_is_and_installs_before_it_copies_sources() -> None:
    recipe = (ROOT / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (.+) \S+$", recipe, re.MULTILINE)
    sources = [name for names in copied for name in names.split()]
    assert all((ROOT / name).exists() for name in sources)
    let_through = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in sources} <= set(let_through)
    assert recipe.index("-r /tmp/requirements.txt") < recipe.index("COPY reconciler")


def test_the_image_runs_a_command_that_there_is_with_settings_that_there_are(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = (ROOT / "Dockerfile").read_text()
    [command] = re.findall(r"^CMD (\[.+\])$", recipe, re.MULTILINE)
    name, *options = json.loads(command)
    params = get_command(app).commands[name].params
    known = {each for param in params for each in param.opts}
    assert {each for each in options if each.startswith("--")} <= known
    for variable, value in re.findall(r"(RECONCILER_\w+)=(\S+)", recipe):
        monkeypatch.setenv(variable, value)
    assert load_settings().log.format == "json"
    assert not caplog.records


@pytest.mark.parametrize("port", ["99999", "0", "-1", "bolt"])
def test_a_port_that_is_none_is_a_wrong_argument(port: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.neo4j_server", f"--port={port}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert f"'{port}' is not a port" in ran.stderr


def test_a_server_that_ends_by_itself_is_an_error_with_its_status_and_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "console.log").write_text("It was killed.\n")
    command = ["--parent", str(os.getpid()), "--", "sh", "-c", "kill -9 $$"]
    guard = subprocess.Popen([sys.executable, str(neo4j_server.GUARD), *command])
    server = neo4j_server.Neo4jServer(
        "neo4j://there", "http://there", "neo4j", "a password", tmp_path, guard, False
    )
    monkeypatch.setattr(neo4j_server, "prepare", lambda *_: SimpleNamespace(line=LINES["2026"]))
    monkeypatch.setattr(neo4j_server, "_launch", lambda *_, **__: server)
    told = r"with exit status 137, by signal 9(.|\n)*console\.log(.|\n)*It was killed"
    with pytest.raises(neo4j_server.ServerFailedError, match=told):
        neo4j_server._look_at("2026", tmp_path, neo4j_server.free_ports())


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({}, ["embedded", "neo4j-5.26", "neo4j-2026"]),
        ({"ENGINES": "embedded"}, ["embedded"]),
        ({"ENGINES": "neo4j"}, ["neo4j-5.26", "neo4j-2026"]),
        ({"ENGINES": "neo4j-2026, embedded"}, ["neo4j-2026", "embedded"]),
        ({"NEO4J_URI": "neo4j://there"}, ["embedded", "neo4j"]),
        ({"NEO4J_URI": "neo4j://there", "ENGINES": "neo4j-5.26"}, ["neo4j"]),
        ({"NEO4J_URI": "neo4j://there", "ENGINES": "embedded"}, ["embedded"]),
    ],
)
def test_the_environment_chooses_the_engines(environment: dict[str, str], names: list[str]) -> None:
    assert Choice(environment).names == names


def test_an_unknown_engine_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"\['oracle'\] unknown; known: embedded, neo4j"):
        Choice({"ENGINES": "oracle"})


def _write_java(folder: Path, version: str) -> None:
    _write_script(folder / "java", f"echo 'openjdk version \"{version}\"' >&2")


def _write_script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def _wait_for(outcome, seconds_max: float = 60):
    """The first outcome that is true, neither empty nor a missing file."""
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        try:
            if found := outcome():
                return found
        except FileNotFoundError:
            pass
        time.sleep(0.05)
    pytest.fail(f"not within {seconds_max} s")
