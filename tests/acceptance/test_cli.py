"""The command line as a person meets it: what each command prints, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path

import pytest

from reconciler import Memory, ops
from reconciler.entrypoints.cli import app
from reconciler.testing import HashingEmbedder
from tests import raw_store
from tests.command_line import Run, json_of
from tests.engines import EngineUnderTest
from tests.tables import every

SCOPE = ("--agent", "crm", "--contact", "alice")


@pytest.fixture
def engine(kept_engine: EngineUnderTest) -> EngineUnderTest:
    """The embedded engine; that the commands reach a Neo4j is told where the marker says so."""
    return kept_engine


def test_add_prints_the_decision_as_json(run: Run) -> None:
    decision = json_of(run, "add", *SCOPE, "Lives in Pune.")
    verdict = decision["verdict"]
    assert {"action", "decided_by", "reason", "targets"} <= verdict.keys()
    shown = {"decision_id", "note", "cosine", "fact_id", "superseded_ids", "answer", "replayed"}
    assert shown <= decision.keys()
    assert not verdict.keys() & decision.keys()
    assert (verdict["action"], verdict["decided_by"]) == ("ADD", "noop")


def test_add_keeps_the_slot_and_from_when_it_holds(run: Run) -> None:
    slot = ("--attribute", "Home City", "--value", "Pune", "--subject", "her wife")
    times = ("--valid-from", "2025-03-01T00:00:00+00:00")
    decision = json_of(run, "add", *SCOPE, "Moved to Pune.", *slot, *times)
    assert decision["note"]["slot"] == {
        "subject": "wife",
        "attribute": "city",
        "value": "Pune",
        "value_key": "pune",
        "is_single_valued": True,
        "is_known": True,
        "is_personal": False,
    }
    assert decision["note"]["valid_from"] == "2025-03-01T00:00:00+00:00"
    [recalled] = json_of(run, "recall", *SCOPE)
    assert recalled["fact"]["slot"]["attribute"] == "city"


def test_a_decision_is_explained_and_corrected_by_the_id_that_decisions_shows(run: Run) -> None:
    decision_id = json_of(run, "add", *SCOPE, "Likes [red] ink")["decision_id"]
    assert decision_id in run("decisions", *SCOPE)[1]
    code, out, _ = run("explain", decision_id, *SCOPE)
    assert (code, "Likes [red] ink" in out) == (0, True)
    assert "outcome" in json_of(run, "explain", decision_id, *SCOPE)
    code, _, err = run("correct", decision_id, *SCOPE, "unrelated")
    assert (code, "not compared with a fact" in err) == (2, True)


def test_add_speaks_as_the_operator(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    [recalled] = json_of(run, "recall", *SCOPE)
    assert recalled["fact"]["trust"] == "operator"


def test_add_with_the_same_key_replays(run: Run) -> None:
    first = json_of(run, "add", *SCOPE, "Lives in Pune.", "--idempotency-key", "k")
    again = json_of(run, "add", *SCOPE, "Lives in Pune.", "--idempotency-key", "k")
    assert again == first | {"replayed": True}
    code, _, told = run("add", *SCOPE, "Budget is 60 lakh.", "--idempotency-key", "k")
    assert (code, "use a new key" in " ".join(told.split())) == (2, True)


def test_each_reading_command_shows_what_was_added(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.", "--contact-name", "Alice [A.]")
    for command in ("recall", "history", "decisions"):
        code, out, _ = run(command, *SCOPE)
        assert (code, "Lives in Pune." in out) == (0, True), command
    code, out, _ = run("contacts", "--agent", "crm")
    assert (code, "Alice [A.]" in out) == (0, True)


def test_long_lists_come_in_pages(run: Run, tmp_path: Path) -> None:
    file, texts = tmp_path / "notes.jsonl", ("Thanks a lot!", "Lives in Pune.", "Has two dogs.")
    lines = [{"contact_id": each, "text": text} for each in ("ann", "bob") for text in texts]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    run("import", str(file), "--agent", "crm")
    first = json_of(run, "contacts", "--agent", "crm", "--limit", "1")
    rest = json_of(run, "contacts", "--agent", "crm", "--after", "ann", "--limit", "1")
    assert [each["contact_id"] for each in first + rest] == ["ann", "bob"]
    ann = ("--agent", "crm", "--contact", "ann")
    [newer] = json_of(run, "history", *ann, "--limit", "1")
    [older] = json_of(run, "history", *ann, "--after", newer["facts"][0]["fact_id"])
    shown = [chain["facts"][0]["text"] for chain in (newer, older)]
    assert shown == ["Has two dogs.", "Lives in Pune."]
    assert len(json_of(run, "refusals", "--agent", "crm", "--limit", "1")) == 1


def test_recall_of_a_word_leaves_other_facts_out(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    run("add", *SCOPE, "Has two dogs.")
    found = json_of(run, "recall", *SCOPE, "dogs")
    assert [each["fact"]["text"] for each in found] == ["Has two dogs."]


def test_another_tenant_sees_nothing(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.", "--tenant", "acme")
    assert run("recall", *SCOPE)[:2] == (1, "")
    assert len(json_of(run, "recall", *SCOPE, "--tenant", "acme")) == 1


def test_import_reports_malformed_lines_and_goes_on(run: Run, tmp_path: Path) -> None:
    lines = ['{"text": "Lives in Pune."}', "not json", '{"text": ""}', '{"text": "Has a dog."}']
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    code, out, err = run("import", str(file), *SCOPE, "--json")
    outcome = json.loads(out)
    assert code == 1
    assert [error["line_number"] for error in outcome["errors"]] == [2, 3]
    assert "line 2" in err
    assert sum(each["count"] for each in outcome["decisions"]) == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"text": "Prefers café."}'.encode("latin-1"), "line 1: not valid UTF-8, but perhaps"),
        (b'{"contact_id": 12345, "text": "Likes tea."}', "line 1: contact_id must be a string"),
        (b'{"note": "Likes tea."}', "line 1: unknown keys ['note']"),
    ],
)
def test_import_of_one_wrong_line_names_its_fault(
    run: Run, tmp_path: Path, line: bytes, told: str
) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_bytes(line + b"\n")
    code, _, err = run("import", str(file), *SCOPE)
    assert code == 1
    assert told in " ".join(err.split())


@pytest.mark.parametrize("indent", [None, 1])
def test_import_without_any_note_names_the_other_systems(
    run: Run, tmp_path: Path, indent: int | None
) -> None:
    file = tmp_path / "mem0.json"
    found = [{"id": f"m-{number}", "memory": "Lives in Pune."} for number in range(9)]
    file.write_text(json.dumps({"results": found}, indent=indent), encoding="utf-8")
    code, _, err = run("import", str(file), *SCOPE)
    assert code == 1
    assert "say which: --from and one of mem0, graphiti" in " ".join(err.split())
    assert err.count("not JSON") <= 10


def test_import_of_a_csv_file_says_what_is_read_and_repeats_no_error(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "n.csv"
    file.write_text("contact_id,text\n" + "ann,Likes tea.\n" * 200, encoding="utf-8")
    code, out, err = run("import", str(file), *SCOPE)
    told = " ".join(err.split())
    assert (code, told.count("not JSON")) == (1, 1)
    assert "line 1, 2, 3, 4, 5, … (201 in all): not JSON" in told
    assert "A line must be one JSON object" in told
    assert "docs/importing.md" in told
    assert "0 added, 0 merged, 0 held, 0 refused, 0 already there; errors: 201" in out


def test_import_again_counts_the_lines_that_are_there(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"text": "Lives in Pune."}\n', encoding="utf-8")
    run("import", str(file), *SCOPE)
    assert "0 refused, 1 already there; errors: 0" in run("import", str(file), *SCOPE)[1]


@pytest.mark.parametrize("system", [(), ("--from", "mem0")])
def test_a_stopped_import_says_that_it_can_go_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: tuple[str, ...]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "import_notes", stopped)
    monkeypatch.setattr(ops, "import_from", stopped)
    file = tmp_path / "notes.jsonl"
    file.touch()
    code, _, err = run("import", str(file), *SCOPE, *system)
    assert (code, "What is stored stays; run the same command again" in err) == (130, True)


def test_import_says_that_it_found_nothing(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "empty.jsonl"
    file.touch()
    for given in ((), ("--from", "graphiti")):
        code, out, _ = run("import", str(file), *SCOPE, *given)
        assert (code, "0 added, 0 merged, 0 held, 0 refused" in out) == (0, True)


def test_import_says_what_a_systems_source_is(run: Run) -> None:
    asked = ("import", "http://127.0.0.1:17111", "--agent", "crm", "--from")
    for system, uri in (("graphiti", True), ("mem0", False)):
        code, _, err = run(*asked, system)
        assert (code, "export file" in err, "neo4j://" in err) == (2, True, uri)


def test_import_of_the_same_file_again_adds_nothing(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"text": "Lives in Pune."}\n{"text": "Lives in Pune."}\n', encoding="utf-8")
    first = json_of(run, "import", str(file), *SCOPE)
    again = json_of(run, "import", str(file), *SCOPE)
    assert (first["resumed"], again["resumed"], again["decisions"]) == (0, 2, [])


@pytest.mark.on_neo4j_too
def test_doctor_finds_a_working_memory_in_order(run: Run) -> None:
    run("init")
    checks = json_of(run, "doctor")
    assert [check["name"] for check in checks] == [
        "engine",
        "schema",
        "store",
        "hash key",
        "round trip",
        "model",
        "gate",
        "arbiter",
        "extractor",
        "jobs",
        "erasures",
    ]
    assert all(check["is_ok"] for check in checks)


@pytest.mark.on_neo4j_too
def test_doctor_fails_on_a_store_of_another_model(run: Run, engine: EngineUnderTest) -> None:
    with Memory.open(embedder=HashingEmbedder(), **engine.settings_arguments):
        pass
    code, out, _ = run("doctor", "--json")
    assert code == 1
    assert [check["name"] for check in json.loads(out) if not check["is_ok"]] == ["store"]


@every(
    ("arguments", "code", "mend"),
    [
        (("add", "--agent", "", "--contact", "alice", "x y"), 2, "agent_id is empty"),
        (("add", *SCOPE, "   "), 2, "blank"),
        (("add", *SCOPE, "x y", "--said-at", "2026-01-31T09:00:00"), 2, "no time zone"),
        (("add", *SCOPE, "x y", "--said-at", "soon"), 2, "not an ISO 8601 time"),
        (("add", *SCOPE, "x y", "--importance", "7"), 2, "from 0 to 1"),
        (("add", *SCOPE, "x y", "--valid-from", "soon"), 2, "--valid-from 'soon'"),
        (("add", *SCOPE, "x y", "--value", "Pune"), 2, "has no attribute"),
        (("add", *SCOPE, "x y", "--attribute", " "), 2, "attribute"),
        (("history", *SCOPE, "--fact", "nope"), 2, "no fact nope"),
        (("explain", "nope", *SCOPE), 2, "contact alice has no decision nope"),
        (("correct", "nope", *SCOPE, "same"), 2, "contact alice has no decision nope"),
        (("correct", "nope", *SCOPE, "alike"), 2, "alike"),
    ],
)
def test_bad_input_ends_with_one_line_and_nothing_written(
    run: Run, arguments: tuple[str, ...], code: int, mend: str
) -> None:
    run("init")
    ended, out, err = run(*arguments)
    assert (ended, out) == (code, "")
    assert mend in err
    code, _, err = run("contacts", "--agent", "crm")
    assert (code, "nothing is known about any contact of agent crm" in err) == (1, True)


def test_wrong_settings_end_with_exit_code_three(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    monkeypatch.setenv("RECONCILER_RECONCILE__COSINE_ADD_MAX", "0.99")
    code, _, err = run("contacts", "--agent", "crm")
    assert (code, "thresholds in the wrong order" in err) == (3, True)


def test_import_reads_a_pipe(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = '{"text": "Lives in Pune."}\n{"text": "Has a dog."}\n'
    writer = threading.Thread(target=pipe.write_text, args=(lines,), daemon=True)
    writer.start()
    outcome = json_of(run, "import", str(pipe), *SCOPE)
    writer.join(60)
    assert sum(each["count"] for each in outcome["decisions"]) == 2


def test_import_takes_a_byte_order_mark(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('\ufeff{"text": "Lives in Pune."}\n', encoding="utf-8")
    assert json_of(run, "import", str(file), *SCOPE)["errors"] == []


GRAPHITI = str(Path(__file__).parents[1] / "peer_exports" / "graphiti.jsonl")


def test_import_from_another_system_says_what_became_of_its_records(run: Run) -> None:
    outcome = json_of(run, "import", GRAPHITI, "--from", "graphiti", "--agent", "crm")
    told = {name: outcome[name] for name in ("added", "merged", "held", "refused", "not_carried")}
    assert told == {"added": 5, "merged": 0, "held": 0, "refused": 0, "not_carried": []}
    listed = json_of(run, "contacts", "--agent", "crm")
    assert {each["contact_id"]: each["live_facts"] for each in listed} == {"anna": 2, "ben": 1}


def test_import_from_another_system_shows_why_a_record_was_not_carried(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "edges.jsonl"
    file.write_text('{"uuid": "e-1", "fact": "", "group_id": "anna"}\n', encoding="utf-8")
    code, out, _ = run("import", str(file), "--from", "graphiti", "--agent", "crm")
    assert (code, "it has no text" in out, "record 1 (e-1)" in out) == (0, True, True)
    assert "0 added, 0 merged, 0 held, 0 refused" in out


@every(
    ("options", "mend"),
    [
        (("--from", "letta", "--agent", "crm"), "letta"),
        (("--from", "graphiti"), "--from needs --agent"),
        (("--contact-from", "user_id", *SCOPE), "need --from with the name"),
        (
            ("--from", "graphiti", "--contact-from", "user", "--agent", "crm"),
            "the record has no user",
        ),
        (("--from", "mem0", "--agent", "crm"), "must have the key memory"),
    ],
)
def test_a_wrong_import_ends_with_exit_code_two_and_nothing_written(
    run: Run, options: tuple[str, ...], mend: str
) -> None:
    code, out, err = run("import", GRAPHITI, *options)
    assert (code, out) == (2, "")
    assert mend in err
    assert run("contacts", "--agent", "crm")[0] in (1, 3)


def test_control_sequences_in_a_note_do_not_reach_the_terminal(run: Run) -> None:
    run("add", *SCOPE, "Likes \x1b[31mred\x1b[0m ink")
    for command in ("recall", "history", "decisions"):
        _, out, _ = run(command, *SCOPE)
        assert "\x1b" not in out


def test_no_command_shows_the_key_that_ids_are_made_of(run: Run, engine: EngineUnderTest) -> None:
    decision_id = json_of(run, "add", *SCOPE, "Lives in Pune.")["decision_id"]
    commands = (("init",), ("doctor",), ("decisions", *SCOPE), ("explain", decision_id, *SCOPE))
    shown = [run(*words, *form) for words in commands for form in ((), ("--json",))]
    [[key]] = raw_store.query(engine, "MATCH (store:Store) RETURN store.id_key")
    assert len(key) == 64
    assert key not in str(shown)


def test_the_version_can_be_asked_for(command_line: Run) -> None:
    code, out, _ = command_line("--version")
    assert (code, out) == (0, f"reconciler {metadata.version('graph-memory-reconciler')}\n")


def test_the_help_puts_every_command_under_a_heading_and_begins_with_the_demo(
    command_line: Run,
) -> None:
    code, out, _ = command_line("--help")
    names = re.findall(r"^│ (\w[\w-]*) ", out, re.MULTILINE)
    commands = {
        each.name or each.callback.__name__ for each in app.registered_commands if each.callback
    }
    assert code == 0
    assert "Others" not in out
    assert commands | {"policy"} <= set(names)
    assert names[:3] == ["demo", "add", "recall"]


def test_contacts_fit_a_narrow_terminal_without_a_broken_word(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    who = ("--agent", "crm", "--contact", "ingrid-solberg")
    json_of(run, "add", *who, "Lives in Oslo.", "--contact-name", "Ingrid Solberg")
    code, out, _ = run("contacts", "--agent", "crm")
    words = ("ingrid-solberg", "Ingrid Solberg", "live", "decision")
    assert (code, [word for word in words if word not in out]) == (0, [])
    assert "not live" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_help_of_add_cuts_nothing_off_on_a_narrow_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    code, out, _ = run("add", "--help")
    assert (code, "--source-reference" in out, "…" in out) == (0, True, False)


@pytest.mark.parametrize(
    "asked", [("history",), ("forget", "--by", "anna", "--reason", "Asked.")], ids=["read", "erase"]
)
def test_an_unknown_contact_ends_every_command_with_1(run: Run, asked: tuple[str, ...]) -> None:
    json_of(run, "add", *SCOPE, "Lives in Pune.")
    command, *options = asked
    code, _, err = run(command, "--agent", "crm", "--contact", "nobody", *options)
    assert (code, "nothing is known about contact nobody" in " ".join(err.split())) == (1, True)


def _installed(folder: Path, command: str, code: str) -> dict[str, str]:
    """The environment in which a package with a command of its own is installed."""
    (folder / "greeting.py").write_text(code, encoding="utf-8")
    told = folder / "greeting-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(f"[reconciler.commands]\n{command} = greeting:greet\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def _ended(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    called = [sys.executable, "-m", "reconciler", *words]
    return subprocess.run(called, env=environment, capture_output=True, text=True, check=False)


GREETING = '''
def greet(name: str) -> None:
    """Greet a person.

    Options:
        name: whom.
    """
    print(f"Hello, {name}.")
'''


def test_another_package_adds_a_command(tmp_path: Path) -> None:
    environment = _installed(tmp_path, "greet", GREETING)
    assert _ended(environment, "greet", "Priya").stdout == "Hello, Priya.\n"
    assert "Greet a person." in _ended(environment, "--help").stdout


def test_another_package_replaces_no_command(tmp_path: Path) -> None:
    ended = _ended(_installed(tmp_path, "policy", GREETING), "policy", "--help")
    assert "check" in ended.stdout


def test_a_broken_command_of_another_package_is_named_and_the_others_work(tmp_path: Path) -> None:
    ended = _ended(_installed(tmp_path, "greet", "1 / 0\n"), "--help")
    assert "command greet of greeting cannot be loaded: division by zero" in ended.stderr
    assert (ended.returncode, "recall" in ended.stdout) == (0, True)


def test_an_id_that_is_longer_than_the_frame_is_never_cut(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    contact = "account-of-" + "acme-" * 20 + "berlin"
    run("add", "--agent", "crm", "--contact", contact, "Lives in Pune.")
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run("decisions", "--agent", "crm")
    assert contact in re.sub(r"[│\s]", "", out)


def test_a_retried_job_says_what_reads_it(run: Run) -> None:
    _, out, _ = run("retry", "--all-dead", "--agent", "crm")
    assert out == "No such job is dead; there is nothing to retry.\n"
