"""Every command with made-up arguments; which there are, and what they take, it says itself.

They run in this process. Those that would run without end are ended at once.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import strategies as st

from reconciler import Memory, ops
from reconciler.entrypoints import serving
from reconciler.entrypoints.cli import app, main
from reconciler.serve.access import http_door
from reconciler.serve.mcp_server import protocol
from tests import faults
from tests.engines import EngineUnderTest, embedded_engine
from tests.fuzz.bench import check_ledger, ids_of, told
from tests.fuzz.bending import bent_bytes
from tests.fuzz.test_calls import USUAL
from tests.fuzz.texts import TEXTS
from tests.fuzz.trying import each_of, within_the_time
from tests.whole_graph import links_of, nodes_of

pytestmark = pytest.mark.faults

WITHOUT_INPUT = {"demo"}
"""It tells its own notes, with the real model."""

EXIT_CODES = set(range(7))
_RUNS_OF_A_STORE = 25
_LOOKS_EVERY = 5

WHERES = ("out", "folder", "name", "tokens", "hash_key_file")
FILES = ("file", "pairs", "tls_certificate", "tls_key", "tokens")
NUMBERS = st.one_of(
    st.integers(-2, 100).map(str),
    st.sampled_from(("", "0", "1e3", "nan", "inf", "-inf", "0.5", "1_000", "٣", "9" * 30, "0x10")),
)
INSTANTS = st.sampled_from(
    (
        *("2026-01-31", "2026-01-31T09:00:00+00:00", "0001-01-01T00:00:00+23:59", "now", "today"),
        *("9999-12-31T23:59:59-23:59", "2026-02-30T00:00:00Z", "20260131T090000Z", "30d", "99999d"),
    )
)
KINDS: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("limit", "budget_tokens", "port", "metrics_port", "batch", "days"), NUMBERS),
    **dict.fromkeys(("floor", "min_score", "min_confidence", "importance", "bound"), NUMBERS),
    "calls_per_minute": NUMBERS,
    **dict.fromkeys(("since", "until", "as_of", "valid_at", "at", "said_at"), INSTANTS),
    **dict.fromkeys(("valid_from", "started_at", "expires"), INSTANTS),
    **dict.fromkeys(("host", "metrics_host"), st.sampled_from(("127.0.0.1", "::1", ""))),
    "agents": st.sampled_from(("crm", "sales", "")),
    "agent": st.sampled_from(("crm", "crm", "sales")),
    "contact": st.sampled_from(("priya", "priya", "bob", "nobody")),
    "session": st.sampled_from(("chat-17", "new")),
    "profile": st.sampled_from(("seed", "minilm", "agent", "operator", "x.toml")),
    "transport": st.sampled_from(("stdio", "http", "x")),
    "system": st.sampled_from(("mem0", "graphiti", "neo4j-agent-memory", "langmem", "x")),
    "model": st.sampled_from(("noop", "nothing/there", "")),
    "state": st.sampled_from(("done", "dead", "open", "x")),
    "source_kind": st.sampled_from(("user_explicit", "tool_output", "x")),
}
NAMES = st.sampled_from(
    ("notes.jsonl", "all.jsonl", "memory.zip", "chat.json", "bent", "mem0.json")
)
NEW_NAMES = st.one_of(
    NAMES,
    st.sampled_from((".", "sub/x", "sub", "x" * 300, "-", "", " ", "a\nb", "\udcff", "[red].html")),
    st.text(max_size=6).map(lambda text: text.replace("/", "_").replace("~", "_") or "x"),
)


def commands() -> dict[tuple[str, ...], list[Any]]:
    """Each command's words, and what it takes."""
    found: dict[tuple[str, ...], list[Any]] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        if inner := getattr(command, "commands", None):
            for name, each in inner.items():
                walk(each, (*words, name))
        else:
            found[words] = command.params

    walk(typer.main.get_command(app), ())
    return {words: params for words, params in found.items() if words[0] not in WITHOUT_INPUT}


def typed(text: str) -> str:
    """The text as a shell can hand it over: no null bytes, and others as the system gives them."""
    return (
        text.replace("\0", "").encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    )


class Shell:
    """A folder with a store and files, in which commands run one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "work"
        self._template = folder / "template"
        self._template.mkdir()
        self.engine: EngineUnderTest = embedded_engine(self._folder / "store")
        self._runs = 0
        self.ids = self._made()
        self._renew()

    def run(self, words: list[str]) -> None:
        """Run a command; whatever it was given, it ends with a code and a message of ours."""
        self._runs += 1
        if self._runs % _RUNS_OF_A_STORE == 0:
            self._renew()
        looks = self._runs % _LOOKS_EVERY == 0
        before = (nodes_of(self.engine), links_of(self.engine)) if looks else None
        code, said = self._ended(words)
        assert code in EXIT_CODES, f"exit code {code}: {said}"
        assert "Traceback (most recent call last)" not in said, said
        assert code == 0 or said.strip(), "it failed without a word"
        if looks:
            after = nodes_of(self.engine), links_of(self.engine)
            assert code != 2 or after == before, f"refused, and yet not as it was: {said}"
            check_ledger(*after)

    def _ended(self, words: list[str]) -> tuple[int, str]:
        out, err = io.BytesIO(), io.BytesIO()
        sys.argv = ["reconciler", *words]
        streams = io.TextIOWrapper(out, "utf-8"), io.TextIOWrapper(err, "utf-8")
        typed_in = io.TextIOWrapper(io.BytesIO(b'{"text": "Likes tea."}\n'), "utf-8")
        kept = sys.stdin
        with (
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
            within_the_time("commands"),
        ):
            sys.stdin = typed_in
            try:
                main()
            except SystemExit as ended:
                code = ended.code
            finally:
                sys.stdin = kept
                gc.unfreeze()
        for stream in streams:
            stream.flush()
        said = (out.getvalue() + err.getvalue()).decode("utf-8", "replace")
        return code if isinstance(code, int) else 0 if code is None else -1, said

    def _made(self) -> dict[str, list[str]]:
        """The files, and a store that knows something; its ids."""
        engine = embedded_engine(self._template / "store")
        with Memory.open(**engine.settings_arguments) as memory:
            told(memory)
            ops.export(memory, self._template / "all.jsonl", keys=True)
            ops.backup(memory, self._template / "memory.zip")
            ids = ids_of(memory)
        notes = ('{"text": "Lives in Pune."}', "{", '{"text": "", "tags": 7}', "null")
        (self._template / "notes.jsonl").write_text("\n".join(notes))
        said = [{"role": "user", "content": "Remember that I am allergic to nuts."}, {"role": 7}]
        (self._template / "chat.json").write_text(json.dumps(said))
        chance = random.Random(faults.SEED)
        (self._template / "bent").write_bytes(
            bent_bytes((self._template / "all.jsonl").read_bytes(), chance)
        )
        shutil.copy(Path(__file__).parents[1] / "peer_exports" / "mem0.json", self._template)
        return ids

    def _renew(self) -> None:
        os.chdir(self._template)
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._template, self._folder)
        os.chdir(self._folder)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("shell")
    at, argv = Path.cwd(), sys.argv
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("RECONCILER_EMBEDDER__MODEL", "noop")
        patch.setenv("RECONCILER_EMBEDDED_PATH", str(folder / "work" / "store" / "memory.lbug"))
        patch.setenv("COLUMNS", "80")
        patch.setattr(serving.StopSignals, "wait", lambda *_: True)
        patch.setattr(http_door, "serve_http", lambda *_: None)
        patch.setattr(protocol, "serve_stdio", lambda *_: None)
        yield Shell(folder)
        os.chdir(at)
        sys.argv = argv


@st.composite
def typed_lines(draw: st.DrawFn, shell: Shell) -> list[str]:
    """A command with what it needs, and some of what it may have; now and then something else."""
    words = draw(st.sampled_from(sorted(commands())))
    given: list[str] = []
    for param in commands()[words]:
        is_wanted = param.required or draw(st.integers(0, 4)) == 0
        if is_wanted and draw(st.integers(0, 19)) > 0:
            given += draw(_one(param, shell))
    if draw(st.integers(0, 9)) == 0:
        given.insert(draw(st.integers(0, len(given))), typed(draw(TEXTS)))
    return [*words, *given]


@st.composite
def _one(draw: st.DrawFn, param: Any, shell: Shell) -> list[str]:
    is_option = param.opts[0].startswith("--")
    if is_option and getattr(param, "is_flag", False):
        return [draw(st.sampled_from([*param.opts, *param.secondary_opts]))]
    value = typed(draw(_value(param.name, shell) if draw(st.integers(0, 9)) else TEXTS))
    if param.name in (*FILES, *WHERES):  # whatever it is, it stays within the folder
        value = value.replace("/", "_").replace("~", "_") if value not in _INSIDE else value
    if not is_option:
        return [value]
    return [f"{param.opts[0]}={value}"] if draw(st.booleans()) else [param.opts[0], value]


_INSIDE = {"sub/x"}


def _value(name: str, shell: Shell) -> st.SearchStrategy[str]:
    if name in FILES:
        return NAMES
    if name in WHERES:
        return NEW_NAMES
    if name in KINDS:
        return KINDS[name]
    for ids in ("decision_id", "fact_id", "job_id"):
        if name in (ids, ids.removesuffix("_id"), "keep" if ids == "fact_id" else ids):
            return st.sampled_from([*shell.ids[ids], "none"])
    return USUAL.get(name, TEXTS).map(str)


def test_a_command_ends_with_a_code_and_a_word(shell: Shell) -> None:
    each_of(4, "commands", typed_lines(shell), shell.run)
