"""Vectors from a server, by settings alone: command line, worker, and a move to its model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import Run
from tests.embeddings_server import KEY, MODEL, EmbeddingsServer

WHO = ("--agent", "crm", "--contact", "priya")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    """A server that the settings name, and a folder for what is kept between processes."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RECONCILER_EMBEDDED_PATH", str(tmp_path / "memory.lbug"))
    with EmbeddingsServer() as running:
        chosen = {"PROVIDER": "openai", "MODEL": MODEL, "BASE_URL": running.base_url}
        chosen |= {"API_KEY": KEY, "QUERY_PREFIX": "query: ", "PASSAGE_PREFIX": "passage: "}
        for name, value in chosen.items():
            monkeypatch.setenv(f"RECONCILER_EMBEDDER__{name}", value)
        yield running


def test_notes_and_questions_are_embedded_by_the_server(
    run: Run, server: EmbeddingsServer, tmp_path: Path
) -> None:
    assert run("add", *WHO, "Is allergic to peanuts.")[0] == 0
    assert "passage: Is allergic to peanuts" in server.texts
    code, out, err = run("recall", *WHO, "What is she allergic to?", "--json")
    assert code == 0, err
    assert json.loads(out)[0]["fact"]["text"] == "Is allergic to peanuts."
    assert "query: What is she allergic to?" in server.texts
    assert list((tmp_path / "cache").rglob("*.npy"))

    server.requests.clear()
    run("recall", *WHO, "What is she allergic to?")
    assert set(server.texts) == {"ready", "query: What is she allergic to?"}


def test_the_worker_embeds_what_it_read(run: Run, server: EmbeddingsServer, tmp_path: Path) -> None:
    session = tmp_path / "session.json"
    turns = [{"role": "user", "text": "Please remember: I am allergic to peanuts."}]
    session.write_text(json.dumps(turns))
    code, _, err = run("extract", *WHO, str(session))
    assert code == 0, err
    code, _, err = run("drain")
    assert code == 0, err
    assert any("peanuts" in text for text in server.texts)


@pytest.mark.usefixtures("own_file")
def test_a_store_moves_to_the_servers_model(
    run: Run, server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        for name in ("PROVIDER", "BASE_URL", "API_KEY", "QUERY_PREFIX", "PASSAGE_PREFIX"):
            before.delenv(f"RECONCILER_EMBEDDER__{name}")
        before.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
        assert run("add", *WHO, "Is allergic to peanuts.")[0] == 0
    code, _, err = run("reembed", "--model", MODEL)
    assert code == 3
    assert "no profile has thresholds for" in " ".join(err.split())
    code, out, err = run("reembed", "--model", MODEL, "--uncalibrated")
    assert code == 0, err
    assert f"RECONCILER_EMBEDDER__MODEL={MODEL}" in out
    assert "RECONCILER_EMBEDDER__PROVIDER=openai" in out
    assert "passage: Is allergic to peanuts" in server.texts
    code, out, _ = run("recall", *WHO, "What is she allergic to?", "--json")
    assert json.loads(out)[0]["fact"]["text"] == "Is allergic to peanuts."


def test_other_prefixes_are_another_model(
    run: Run, server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("add", *WHO, "Is allergic to peanuts.")[0] == 0
    monkeypatch.setenv("RECONCILER_EMBEDDER__PASSAGE_PREFIX", "text: ")
    code, _, err = run("add", *WHO, "Plays the cello.")
    assert code == 5
    assert f"holds vectors of {MODEL}@384+" in err


def test_the_doctor_says_that_no_profile_fits_the_model(run: Run, server: EmbeddingsServer) -> None:
    code, out, err = run("doctor", "--json")
    assert code == 0, err
    [model] = [check for check in json.loads(out) if check["name"] == "model"]
    assert model["is_ok"]
    assert f"{MODEL}@384+" in model["finding"]
    assert "no profile was calibrated on it" in model["finding"]
    assert server.requests


def test_a_server_that_is_down_keeps_a_note_from_being_written(
    run: Run, server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_EMBEDDER__DIMENSION", "384")
    monkeypatch.setenv("RECONCILER_EMBEDDER__RETRIES_MAX", "0")
    assert run("add", *WHO, "Is allergic to peanuts.")[0] == 0
    server.bend = lambda _: (503, b"{}")
    code, _, err = run("add", *WHO, "Plays the cello.")
    assert code == 6
    assert "the API failed (HTTP 503)" in " ".join(err.split())
    code, out, _ = run("history", *WHO)  # a set dimension opens a memory without the server
    assert code == 0
    assert "peanuts" in out
    assert "cello" not in out
