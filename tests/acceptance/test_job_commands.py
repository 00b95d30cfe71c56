"""The background door's commands as a person meets them: hand over, look, retry, drain, work."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reconciler.domain.records.kinds import JobState
from reconciler.domain.records.sessions import Outcomes, QueueReport
from reconciler.errors import GraphUnavailableError
from reconciler.ops.metrics import QueueCollector
from tests.anthropic_server import EXTRACTOR_REPLIES, AnthropicServer, Reply, Request
from tests.command_line import Run, json_of

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 80
AGENT = ("--agent", "crm")
SCOPE = (*AGENT, "--contact", "alice")
CHAT = [
    {"role": "user", "content": "I live in Pune.", "timestamp": "2026-01-31T09:00:00+00:00"},
    {"role": "assistant", "content": "Thank you."},
]
NO_SERVER = {
    "RECONCILER_EXTRACTOR__API_KEY": "a-key",
    "RECONCILER_EXTRACTOR__BASE_URL": "http://127.0.0.1:9",
    "RECONCILER_EXTRACTOR__RETRIES_MAX": "0",
    "RECONCILER_JOBS__ATTEMPTS_MAX": "1",
}


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A conversation of two turns, as a chat export."""
    file = tmp_path / "call-17.jsonl"
    file.write_text("\n".join(map(json.dumps, CHAT)), encoding="utf-8")
    return file


@pytest.fixture
def job_id(run: Run, chat: Path) -> str:
    """A job that waits."""
    return str(json_of(run, "extract", str(chat), *SCOPE)["job_id"])


def _drained_in_vain(run: Run) -> None:
    """All waiting jobs die of an unreachable API."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in NO_SERVER.items():
            patch.setenv(name, value)
        code, _, err = run("drain", "--json")
        assert code == 1, err


@pytest.fixture
def dead_id(run: Run, job_id: str) -> str:
    """A job that is dead."""
    _drained_in_vain(run)
    return job_id


@pytest.fixture
def dead_ids(run: Run, chat: Path) -> list[str]:
    """Three that are dead, the oldest first: of alice, of bob, and of another agent's carol."""
    handed_over = [("crm", "alice"), ("crm", "bob"), ("sales", "carol")]
    ids = [
        json_of(run, "extract", str(chat), "--agent", agent, "--contact", contact)["job_id"]
        for agent, contact in handed_over
    ]
    _drained_in_vain(run)
    return ids


def test_extract_asks_who_of_several_people_is_the_contact(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "group.jsonl"
    said = [{"role": "user", "name": name, "content": "👍"} for name in ("Alice", "Bob")]
    file.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    code, _, err = run("extract", str(file), *SCOPE)
    assert code != 0
    assert "--contact-name" in err
    assert run("extract", str(file), *SCOPE, "--contact-name", "Alice")[0] == 0


SAMPLES = ROOT / "tests" / "transcripts"


WHATSAPP = (str(SAMPLES / "whatsapp.txt"), "--time-zone", "UTC")


def test_who_speaks_in_a_file_with_names_alone_has_to_be_said(run: Run) -> None:
    code, _, err = run("extract", *WHATSAPP, *SCOPE)
    assert code == 2
    assert "--speaker NAME=ROLE" in err
    assert "'Ana', 'Ben'" in err
    said = ("--speaker", "Ana=contact", "--speaker", "Ben=operator")
    assert run("extract", *WHATSAPP, *SCOPE, *said)[0] == 0


def test_a_talk_of_several_contacts_gives_each_a_job(run: Run) -> None:
    said = ("--speaker", "Ana=contact:ana", "--speaker", "Ben=contact:ben")
    jobs = json_of(run, "extract", *WHATSAPP, *AGENT, *said)
    assert [each["contact_id"] for each in jobs] == ["ana", "ben"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--time-zone", "Mars/Olympus"), "is not a time zone"),
        ((), "--time-zone Europe/Berlin"),
    ],
)
def test_what_a_chat_leaves_open_has_to_be_said(
    run: Run, arguments: tuple[str, ...], complaint: str
) -> None:
    code, _, err = run("extract", str(SAMPLES / "whatsapp.txt"), *SCOPE, *arguments)
    assert (code, complaint in " ".join(err.split())) == (2, True)


def test_extract_needs_a_contact_or_several(run: Run, chat: Path) -> None:
    code, _, err = run("extract", str(chat), *AGENT)
    assert (code, "or --contact for one" in " ".join(err.split())) == (2, True)


def test_extract_prints_the_job_and_what_to_run_next(run: Run, chat: Path) -> None:
    code, out, _ = run("extract", str(chat), *SCOPE)
    [job] = json_of(run, "jobs")
    assert (code, job["session_id"], job["state"]) == (0, "call-17", "waiting")
    assert all(shown in out for shown in (job["job_id"], "reconciler drain", "worker"))


def test_what_was_handed_over_is_recalled_once_it_is_drained(run: Run, job_id: str) -> None:
    drained = json_of(run, "drain")
    facts = [each["fact"]["text"] for each in json_of(run, "recall", *SCOPE)]
    assert [each["job_id"] for each in drained["jobs"]] == [job_id]
    assert (len(facts), "Pune" in facts[0]) == (1, True)


def test_drain_says_who_read_and_what_became_of_it(run: Run, job_id: str) -> None:
    code, out, _ = run("drain")
    assert (code, "1 added" in out, "done" in out) == (0, True, True)
    assert "explicit-statements-v3: no ANTHROPIC_API_KEY" in out


def test_drain_of_an_empty_queue_says_so(run: Run) -> None:
    code, out, _ = run("drain")
    assert (code, "Nothing waited" in out) == (0, True)


def test_handed_over_again_it_is_the_same_job(run: Run, chat: Path, job_id: str) -> None:
    run("drain")
    code, out, _ = run("extract", str(chat), *SCOPE)
    assert (code, job_id in out, "is done: 1 added" in out) == (0, True, True)


def test_handed_over_again_a_dead_job_says_why_and_how_to_retry(
    run: Run, chat: Path, dead_id: str
) -> None:
    code, out, _ = run("extract", str(chat), *SCOPE)
    assert (code, "is dead" in out, "no connection" in out) == (0, True, True)
    assert (f"reconciler retry {dead_id}" in out, "drain" in out) == (True, False)


def test_standard_input_is_read_under_the_session_that_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CHAT).encode())))
    made = json_of(run, "extract", "-", *SCOPE, "--session", "s1", "--channel", "phone")
    assert (made["session_id"], made["turns"], made["state"]) == ("s1", 2, "waiting")
    assert json_of(run, "job", made["job_id"], *SCOPE)["session"]["channel"] == "phone"


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("", "empty"),
        ('{"role": "user", "content": "Hello."}\nnonsense', "line 2: not JSON"),
        ('{"role": "owner", "content": "Hello."}', "line 1: role 'owner' is not one of"),
        (
            '{"role": "user", "content": "Hello.", "timestamp": "2026-01-31T09:00:00"}',
            "no time zone",
        ),
        ("[]", "empty"),
        ("\xff\xfe", "UTF-8"),
    ],
)
def test_a_conversation_that_cannot_be_read_opens_no_memory(
    run: Run, tmp_path: Path, text: str, mend: str
) -> None:
    file = tmp_path / "call.jsonl"
    file.write_bytes(text.encode("latin-1"))
    code, out, err = run("extract", str(file), *SCOPE)
    assert (code, out, mend in err) == (2, "", True)
    assert not (tmp_path / "memory.lbug").exists()


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        (("nowhere.jsonl", *SCOPE), "No such file"),
        ((".", *SCOPE), "Is a directory"),
        (("FILE", "--contact", "alice"), "--agent"),
        (("FILE", *AGENT), "--contact"),
        (("FILE", *SCOPE, "--session", " "), "session_id is empty"),
        (("FILE", *SCOPE, "--started-at", "soon"), "--started-at 'soon'"),
        (("FILE", *SCOPE, "--started-at", "2026-01-31T09:00:00"), "no time zone"),
        (("-", *SCOPE), "--session"),
    ],
)
def test_wrong_arguments_end_with_exit_code_two(
    run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], mend: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CHAT).encode())))
    given = [str(chat) if each == "FILE" else each for each in arguments]
    code, out, err = run("extract", *given)
    assert (code, out, mend in err) == (2, "", True)


@pytest.mark.parametrize("command", ["job", "retry"])
def test_a_job_that_nobody_knows_ends_with_exit_code_two(run: Run, command: str) -> None:
    run("init")
    code, out, err = run(command, "no-such-job", *SCOPE)
    assert (code, out, "no job no-such-job" in err) == (2, "", True)


def test_jobs_are_those_that_were_asked_for(run: Run, chat: Path, job_id: str) -> None:
    bobs = json_of(run, "extract", str(chat), *AGENT, "--contact", "bob")["job_id"]
    asked = [
        (*AGENT, "--contact", "bob"),
        ("--limit", "1"),
        ("--state", "waiting"),
        ("--state", "dead"),
    ]
    found = [[each["job_id"] for each in json_of(run, "jobs", *filters)] for filters in asked]
    assert found == [[bobs], [bobs], [bobs, job_id], []]


def test_jobs_shows_how_each_stands(run: Run, job_id: str) -> None:
    code, out, _ = run("jobs")
    for shown in (job_id, "alice · call-17", "is waiting after 0 attempts", "handed over 20"):
        assert shown in out
    assert code == 0


def test_a_state_that_no_job_has_is_refused(run: Run) -> None:
    code, _, err = run("jobs", "--state", "asleep")
    assert (code, "waiting" in err) == (2, True)


def test_a_job_shows_its_session_and_numbers(run: Run, job_id: str) -> None:
    run("drain")
    code, out, _ = run("job", job_id, *SCOPE)
    for shown in (job_id, "done", "call-17", "added: 1", "explicit-statements-v3"):
        assert shown in out
    assert code == 0


def test_a_dead_job_says_why_and_how_to_retry(run: Run, dead_id: str) -> None:
    for arguments in (("job", dead_id, *SCOPE), ("jobs", "--state", "dead")):
        _, out, _ = run(*arguments)
        assert "no connection" in out
        assert f"reconciler retry {dead_id}" in out


def test_a_dead_job_that_is_retried_is_read(run: Run, dead_id: str) -> None:
    code, out, _ = run("retry", dead_id, *SCOPE)
    drained = json_of(run, "drain")["jobs"]
    assert (code, "is waiting after 0 attempts" in out) == (0, True)
    assert [(each["job_id"], each["state"]) for each in drained] == [(dead_id, "done")]


def test_the_dead_jobs_that_were_asked_for_are_begun_anew_the_oldest_first(
    run: Run, dead_ids: list[str]
) -> None:
    for filters, begun in (
        (("--agent", "crm"), [0, 1]),
        (("--agent", "crm", "--contact", "bob"), [1]),
        (("--agent", "sales", "--contact", "bob"), []),
        (("--tenant", "default"), [0, 1, 2]),
        (("--tenant", "other"), []),
        ((), [0, 1, 2]),
    ):
        found = json_of(run, "retry", "--all-dead", *filters)
        assert [each["job_id"] for each in found] == [dead_ids[each] for each in begun], filters
        assert {(each["state"], each["attempts"]) for each in found} <= {("waiting", 0)}, filters
        assert len(json_of(run, "jobs", "--state", "dead")) == 3 - len(begun), filters
        if begun:
            _drained_in_vain(run)


def test_retry_of_all_dead_jobs_says_how_many_there_were(run: Run, dead_ids: list[str]) -> None:
    asked = [(*AGENT, "--contact", "bob"), (), ()]
    said = [run("retry", "--all-dead", *filters)[1] for filters in asked]
    assert said[0].count("is waiting after 0 attempts") == 1
    assert said[1].count("is waiting after 0 attempts") == 2
    assert said[2].startswith("No such job is dead")


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        ((), "--all-dead"),
        (("a-job", "--all-dead"), "give either"),
        (("a-job",), "needs --agent and --contact"),
        (("a-job", "--agent", "crm"), "needs --agent and --contact"),
        (("a-job", "--contact", "alice"), "needs --agent and --contact"),
        (("--agent", "crm"), "give either"),
    ],
)
def test_retry_needs_one_job_or_all_that_are_dead(
    run: Run, arguments: tuple[str, ...], mend: str
) -> None:
    code, out, err = run("retry", *arguments)
    assert (code, out, mend in " ".join(err.split())) == (2, "", True)


def test_a_job_that_is_done_is_not_retried(run: Run, job_id: str) -> None:
    run("drain")
    code, out, _ = run("retry", job_id, *SCOPE)
    assert (code, "is done: 1 added" in out) == (0, True)
    assert json_of(run, "job", job_id, *SCOPE)["state"] == "done"


def test_a_drain_in_which_a_job_dies_says_why_and_ends_with_exit_code_one(
    run: Run, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in NO_SERVER.items():
        monkeypatch.setenv(name, value)
    code, out, _ = run("drain")
    assert (code, "dead" in out, "no connection" in out) == (1, True, True)
    assert f"reconciler retry {job_id}" in out


def test_the_doctor_counts_jobs_and_names_the_extractor(run: Run, job_id: str) -> None:
    checks = {each["name"]: each for each in json_of(run, "doctor")}
    assert checks["extractor"]["finding"] == "explicit-statements-v3: no ANTHROPIC_API_KEY"
    assert checks["jobs"]["is_ok"]
    assert re.search(r"\b1 waiting\b.* the oldest of them is \d+ s old", checks["jobs"]["finding"])


def test_the_doctor_finds_a_dead_job_wrong(run: Run, dead_id: str) -> None:
    code, out, _ = run("doctor", "--json")
    [jobs] = [each for each in json.loads(out) if not each["is_ok"]]
    assert (code, jobs["name"]) == (1, "jobs")
    assert "1 dead" in jobs["finding"]
    assert "reconciler jobs --state dead" in jobs["finding"]


@contextmanager
def _process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a process of its own, ended whatever the test does."""
    command = [sys.executable, "-W", "error", "-m", "reconciler", *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _metrics_address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    found = (re.search(r"metrics at (http\S+)", line) for line in process.stderr)
    return next(match[1] for match in found if match)


@pytest.mark.usefixtures("own_file")
def test_a_worker_reads_counts_and_ends_gracefully_at_a_signal(run: Run, job_id: str) -> None:
    with _process("worker", "--json", "--metrics-port", "0") as process:
        address = _metrics_address(process)
        assert process.stdout is not None
        done = json.loads(process.stdout.readline())
        scraped = urllib.request.urlopen(address, timeout=60).read().decode()
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=60)
    assert (process.returncode, done["job_id"], done["state"]) == (0, job_id, "done")
    assert {"reconciler_up 1.0", 'reconciler_jobs{state="done"} 1.0'} <= set(scraped.splitlines())
    assert (f"job {job_id} is done: 1 added" in logged, "Pune" in logged) == (True, False)


@pytest.mark.usefixtures("own_file")
@pytest.mark.parametrize(("command", "code"), [("worker", 0), ("drain", 128 + signal.SIGTERM)])
def test_who_waits_for_an_answer_gives_the_job_back_at_a_signal(
    run: Run, job_id: str, monkeypatch: pytest.MonkeyPatch, command: str, code: int
) -> None:
    asked = threading.Event()

    def late(_: Request) -> Reply:
        asked.set()
        return EXTRACTOR_REPLIES["late"]

    with AnthropicServer() as server, monkeypatch.context() as patch:
        server.answers_with(late)
        patch.setenv("RECONCILER_EXTRACTOR__API_KEY", "a-key")
        patch.setenv("RECONCILER_EXTRACTOR__BASE_URL", server.base_url)
        with _process(command) as process:
            assert asked.wait(30)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    job = json_of(run, "job", job_id, *SCOPE)
    assert (process.returncode, job["state"], job["attempts"]) == (code, "waiting", 0)


def _report(attempts: int) -> QueueReport:
    jobs = dict.fromkeys(JobState, 0)
    return QueueReport(jobs=jobs, attempts=attempts, outcomes=Outcomes(), oldest_unfinished_at=None)


def _samples(collector: QueueCollector) -> dict[str, float]:
    return {each.name: each.value for metric in collector.collect() for each in metric.samples}


def test_where_the_graph_is_away_a_scrape_says_only_that() -> None:
    def away() -> QueueReport:
        raise GraphUnavailableError("away")

    assert _samples(QueueCollector(away)) == {"reconciler_up": 0.0}


def test_the_count_of_attempts_never_falls() -> None:
    reports = iter([_report(5), _report(2), _report(6)])
    collector = QueueCollector(lambda: next(reports))
    seen = [_samples(collector)["reconciler_job_attempts_total"] for _ in range(3)]
    assert seen == [5, 5, 6]


EXPORTS = ROOT / "tests" / "transcripts"
THREE = EXPORTS / "chatgpt_three.json"


def test_an_export_with_one_conversation_keeps_its_id(run: Run) -> None:
    made = json_of(run, "extract", str(EXPORTS / "claude_one.json"), *SCOPE)
    assert (made["session_id"], made["turns"]) == ("22222222-bbbb-4bbb-8bbb-000000000001", 3)


def test_of_an_export_with_several_one_is_chosen(run: Run, tmp_path: Path) -> None:
    code, out, err = run("extract", str(THREE), *SCOPE)
    assert (code, out) == (2, "")
    assert "3 conversations" in err
    assert not (tmp_path / "memory.lbug").exists()
    made = json_of(run, "extract", str(THREE), *SCOPE, "--conversation", "A dog")
    assert made["session_id"] == "11111111-aaaa-4aaa-8aaa-000000000002"


def test_all_of_an_export_are_handed_over_each_as_its_own_session(run: Run, tmp_path: Path) -> None:
    file = tmp_path / THREE.name
    file.write_text(THREE.read_text("utf-8").replace("I moved to", "I live in"), "utf-8")
    made = json_of(run, "extract", str(file), *SCOPE, "--all-conversations")
    assert [each["turns"] for each in made["sessions"]] == [3, 2]
    assert made["refused"] == {}
    run("drain")
    facts = " ".join(each["fact"]["text"] for each in json_of(run, "recall", *SCOPE))
    assert ("Leeds" in facts, "Bergen" in facts, "moon" in facts) == (True, False, False)
    code, out, _ = run("extract", str(file), *SCOPE, "--all-conversations")
    assert (code, "2 handed over" in out) == (0, True)
    assert len(json_of(run, "jobs")) == 2


def test_one_that_is_refused_keeps_none_of_the_others(run: Run, tmp_path: Path) -> None:
    said = json.loads(THREE.read_text("utf-8"))
    said[0]["mapping"]["u1"]["message"]["create_time"] = "yesterday"
    said[2]["mapping"]["p"]["message"]["content"]["parts"] = ["I like tea."]
    said[2]["mapping"]["p"]["message"]["create_time"] = 99_999_999_999.0
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    code, out, _ = run("extract", str(file), *SCOPE, "--all-conversations", "--json")
    made = json.loads(out)
    assert (code, len(made["sessions"]), len(made["refused"])) == (1, 1, 2)
    assert ["yesterday" in each for each in made["refused"].values()] == [True, False]
    assert len(json_of(run, "jobs")) == 1


def test_conversations_without_ids_are_numbered(run: Run) -> None:
    file = EXPORTS / "fine_tuning_lines.jsonl"
    made = json_of(run, "extract", str(file), *SCOPE, "--all-conversations")
    assert [each["session_id"][-2:] for each in made["sessions"]] == ["-1", "-2"]


def test_all_conversations_take_no_session_of_their_own(run: Run) -> None:
    code, _, err = run("extract", str(THREE), *SCOPE, "--all-conversations", "--session", "s")
    assert (code, "leave out --session" in " ".join(err.split())) == (2, True)
