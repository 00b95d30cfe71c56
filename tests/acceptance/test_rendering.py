"""A person is shown of stored text what stands there: nothing vanishes, hides or changes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reconciler import Memory, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.domain.records.candidates import Assessment, CheckFinding, ScorePart
from reconciler.domain.records.facts import Contact, Dispute, ExpiringFact
from reconciler.domain.records.kinds import Disposal, JobState
from reconciler.domain.records.notes import Scope
from reconciler.domain.records.sessions import Job, SessionRecord
from reconciler.entrypoints import (
    cli,
    doctor,
    import_command,
    job_commands,
    rendering,
)
from reconciler.errors import ReconcilerError
from reconciler.reading.visible_text import visible, without_widthless
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.access.tokens import AccessToken
from reconciler.service.writing.note_import import ImportReport, LeftOut
from tests.command_line import Run, json_of
from tests.tables import every

NAMED = "a:smile:b[bold]c[/]d\u202ee\u200bf\u2066g\ufeffh\U000e0041i\u00adj\u3164k\ufe01l"
"""An emoji's name, markup, and what turns, joins, hides or has no width; usable in an id."""

HOSTILE = f"{NAMED}\x1b[31mm\nn\\"
SHOWN_FIRST = r"a:smile:b[bold]c[/]d\u202ee"
"""As much as stands on the narrowest line."""

UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef\U0001f300-\U0001faff]"
)
IDENTIFIERS = {"tenant", "topic", "idempotency_key"}
NOW = datetime.now(UTC)
WHO = ("crm", "priya")
LONG_ID = "3f6d2f0e-7d0b-5a39-9f5e-0a6d1f0c4b7a"


def printed(*renderables: Any, width: int = 5000) -> str:
    """What a terminal shows, unless it is told otherwise one that is wide enough for any line."""
    console = rendering.terminal()
    console.file, console.width = io.StringIO(), width
    console.print(*renderables)
    return console.file.getvalue()


def drawn(draw: Any, items: Any) -> Any:
    """Each item as a command draws it."""
    return rendering.listed(draw, items, "")


def hostile(value: Any) -> Any:
    """The same with every free text in it replaced, and ids by what an id may be."""
    if isinstance(value, Scope):
        return Scope("acme", "crm", NAMED)
    if is_dataclass(value) and not isinstance(value, type):
        given = ((each.name, getattr(value, each.name)) for each in fields(value) if each.init)
        return replace(value, **{name: _hostile_field(name, each) for name, each in given})
    return tuple(map(hostile, value)) if isinstance(value, tuple) else value


def _hostile_field(name: str, value: Any) -> Any:
    if type(value) is not str:
        return hostile(value)
    return NAMED if name.endswith("_id") or name in IDENTIFIERS else HOSTILE


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every renderer prints of a real memory's records, with their texts replaced."""
    path = tmp_path_factory.mktemp("rendering") / "memory.lbug"
    with Memory.open(graph="embedded", embedded_path=path, embedder=NoopEmbedder()) as memory:
        return {name: printed(*made) for name, made in _rendered(memory)}


def _rendered(memory: Memory) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for city in ("Pune", "Delhi"):
        memory.add_contact_note(*WHO, f"Lives in {city}.", attribute="city", value=city)
    held = hostile(memory.add_contact_note(*WHO, "Has been diagnosed with diabetes."))
    memory.add_contact_note(*WHO, "ok")
    decisions = [hostile(each) for each in memory.contact(*WHO).decisions()]
    histories = [hostile(each) for each in memory.contact(*WHO).history()]
    ranked = [hostile(each) for each in memory.contact(*WHO).recall()]
    for place, decision in enumerate(decisions):
        yield f"decision_line {place}", (rendering.decision_line(decision),)
        yield f"explanation_panel {place}", (rendering.explanation_panel(_explained(decision)),)
    yield "decisions_view", (drawn(rendering.decision_panel, decisions),)
    yield "pending_view", (drawn(rendering.waiting_panel, [held]),)
    yield (
        "refusals_view",
        (drawn(rendering.refusal_line, list(map(hostile, memory.contact(*WHO).refusals()))),),
    )
    yield "ranked_facts", (rendering.ranked_facts(HOSTILE, ranked),)
    yield "history_tree", (rendering.history_tree(HOSTILE, histories),)
    yield (
        "contacts_view",
        (drawn(rendering.contact_line, list(map(hostile, memory.agent("crm").contacts()))),),
    )
    yield "assessment_view", (rendering.assessment_view(_assessment(memory)),)
    yield "decision_made", (rendering.decision_made(decisions[0]),)
    left = ImportReport(not_carried={HOSTILE: LeftOut(count=1, first=HOSTILE)})
    yield "import", (import_command._view(import_command._values(left, 1.0)),)
    yield from _rendered_by_commands(memory)
    check = doctor.DoctorCheck(name="engine", is_ok=False, finding=HOSTILE)
    yield "checks_view", (doctor.checks_view([check]),)
    yield from _rendered_jobs()
    yield "a string", (HOSTILE,)


def _rendered_by_commands(memory: Memory) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """What commands draw by themselves, without a renderer of ``rendering``."""
    for budget, kind in (("40", "user_explicit"), ("50", "approved_doc")):
        slot = {"attribute": "budget", "value": f"{budget},000 EUR", "source_kind": kind}
        memory.add_contact_note(*WHO, f"The budget is {budget} thousand euros.", **slot)
    memory.contact(*WHO).task("task-1", goal="Move the delivery")
    memory.add_contact_note("crm", "lars", "Rows on Sundays.")
    found = hostile(tuple(memory.contact(*WHO).recall_about("Delhi")))
    values = hostile(tuple(memory.contact(*WHO).profile()))
    faded = hostile(
        tuple(memory.contact(*WHO).archive(by="anna", reason="Old.", floor=1.0, dry_run=True))
    )
    fact_id = memory.contact(*WHO).recall()[0].fact.fact_id
    erased = hostile(
        memory.contact("crm", "lars").forget(
            by="operator:anna", reason="They asked for it.", dry_run=True
        )
    )
    facts = tuple(each.fact for each in found)
    dispute = Dispute(
        scope=Scope("acme", "crm", NAMED),
        facts=facts,
        question=HOSTILE,
        reasons=(HOSTILE,),
        opened_at=NOW,
    )
    soon = ExpiringFact(contact_id=NAMED, fact=found[0].fact, question=HOSTILE)
    yield "about", (drawn(rendering.found_panel, found),)
    [task] = hostile(tuple(memory.agent("crm").tasks()))
    yield "task", (rendering.record_panel(task, task.task_id),)
    yield "profile", (drawn(rendering.value_shown, values),)
    yield "archive", (drawn(rendering.archived_panel, faded),)
    yield (
        "evidence",
        (drawn(rendering.evidence_panel, [hostile(memory.contact(*WHO).evidence(fact_id))]),),
    )
    yield "disputes", (drawn(rendering.waiting_panel, [dispute]),)
    yield "expiring", (drawn(rendering.expiring_panel, [soon]),)
    yield "erasure", (drawn(rendering.erasure_panel, [erased]),)
    yield "health", (rendering.health_view(hostile(ops.health(memory.agent("crm")))),)
    yield "tokens", (rendering.record_panel(_token().to_dict(NOW), "1"),)


def _token() -> AccessToken:
    grant = Grant(
        profile=AccessProfile.AGENT,
        tenant=NAMED,
        agent_ids=(NAMED,),
        contact_id=NAMED,
        name=NAMED,
        session_id=None,
    )
    return AccessToken(token_id="0a1b2c3d", grant=grant, hash="", created_at=NOW, expires_at=None)


def _explained(decision: Any) -> Any:
    from reconciler.domain.explanation import explain

    return explain(decision)


def _assessment(memory: Memory) -> Assessment:
    found = memory.agent("any").check_policy("Has been diagnosed with diabetes.")
    return replace(
        found,
        detail=HOSTILE,
        question=HOSTILE,
        findings=(CheckFinding(check="injection", disposal=Disposal.CONFIRM, detail=HOSTILE),),
        parts=(ScorePart(name=HOSTILE, effect=0.1),),
    )


def _rendered_jobs() -> Iterator[tuple[str, tuple[Any, ...]]]:
    from reconciler.domain.records.sessions import Outcomes

    session = SessionRecord(
        session_id=NAMED,
        channel=HOSTILE,
        started_at=NOW,
        ended_at=NOW,
        summary=HOSTILE,
        outcomes=Outcomes(),
    )
    for state in JobState:
        job = Job(
            job_id=NAMED,
            scope=Scope(NAMED, NAMED, NAMED),
            session_id=NAMED,
            state=state,
            attempts=1,
            submitted_at=NOW,
            due_at=NOW,
            extractor=HOSTILE,
            last_error=HOSTILE,
        )
        yield f"job_words {state}", (job_commands.job_words(job),)
        yield f"jobs_view {state}", (job_commands.jobs_view([job, job]),)
        shown = {**job.to_dict(), "session": session}
        yield f"job {state}", (rendering.record_panel(shown, NAMED),)
        yield f"drained_view {state}", (job_commands.drained_view([job, job], HOSTILE),)


def test_no_renderer_prints_what_cannot_be_seen_or_an_emoji_for_its_name(
    shown: dict[str, str],
) -> None:
    unseen = {name: UNSEEN.findall(text) for name, text in shown.items()}
    assert {name: found for name, found in unseen.items() if found} == {}


def test_every_renderer_shows_every_character_of_a_text(shown: dict[str, str]) -> None:
    lost = [name for name, text in shown.items() if SHOWN_FIRST not in text]
    assert lost == []


def test_ids_stand_whole_where_a_terminal_is_narrow(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On 80 columns, as a pipe has them, each id can be copied into the next command."""
    who = ("--agent", "crm", "--contact", "priya@a-company-with-a-long-name.example")
    slot = ("--attribute", "budget", "--value")
    file = tmp_path / "chat.jsonl"
    monkeypatch.setenv("COLUMNS", "80")
    for text, *given in (
        ("Lives in the old mill by the river, behind the second gate, on the fourth floor.",),
        ("The budget is 40 thousand euros.", *slot, "40,000 EUR", "--source-kind", "user_explicit"),
        ("The budget is 50 thousand euros.", *slot, "50,000 EUR", "--source-kind", "approved_doc"),
        ("Has been diagnosed with diabetes.",),
    ):
        added = json_of(run, "add", text, *who, *given)
        assert added["decision_id"]
    file.write_text('{"role": "contact", "content": "Remember that I only take calls after 5 pm."}')
    job_id = json_of(run, "extract", str(file), *who)["job_id"]
    facts = {each["fact"]["fact_id"] for each in json_of(run, "recall", *who)}
    decisions = {each["decision_id"] for each in json_of(run, "decisions", *who)}
    assert len(facts) == 3
    assert len(decisions) == 4
    values = {each["fact_id"] for each in json_of(run, "profile", *who)}
    [held] = [
        each["decision_id"] for each in json_of(run, "pending", *who) if "decision_id" in each
    ]
    for command, ids in (
        (("recall",), facts),
        (("history",), facts),
        (("about", "budget"), values),
        (("profile",), values),
        (("value", "budget"), values),
        (("decisions",), decisions),
        (("pending",), {held}),
        (("jobs",), {job_id}),
        (("job", job_id), {job_id}),
    ):
        code, out, err = run(*command, *who)
        assert code == 0, err
        assert max(map(len, out.splitlines())) <= 80, command
        assert {each for each in ids if each not in out} == set(), command


def test_contacts_with_facts_in_every_state_fit_80_columns() -> None:
    states = ("live", "expired", "archived", "superseded", "revoked", "erased")
    contact = Contact(
        tenant="default",
        agent_id="crm",
        contact_id=LONG_ID,
        name="Priya",
        facts=600,
        last_decision_at=NOW,
        **dict.fromkeys((f"{state}_facts" for state in states), 100),
    )
    text = " ".join(printed(drawn(rendering.contact_line, [contact]), width=80).split())
    told = [LONG_ID, "Priya", *(f"100 {state}" for state in states[1:]), f"{NOW:%Y-%m-%d}"]
    assert [each for each in told if each not in text] == []


def test_a_contact_that_nobody_named_is_shown_once(tmp_path: Path) -> None:
    with Memory.open(embedded_path=tmp_path / "memory.lbug", embedder=NoopEmbedder()) as memory:
        memory.add_contact_note("crm", "lars", "Rows on Sundays.")
        text = printed(drawn(rendering.contact_line, memory.agent("crm").contacts()))
    assert text.count("lars") == 1


def test_an_error_is_shown_in_the_same_way(
    command_line: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ReconcilerError(HOSTILE)

    monkeypatch.setattr(cli, "_app_of", lambda _: fail)
    monkeypatch.setenv("COLUMNS", "5000")
    code, out, err = command_line()
    assert (code, out) == (1, "")
    assert SHOWN_FIRST in err
    assert not UNSEEN.search(err)


def test_json_keeps_every_character_but_marks_without_width(run: Run) -> None:
    text = NAMED.replace("\u202e", "")
    code, out, _ = run("add", text, "--agent", "crm", "--contact", NAMED, "--json")
    assert code == 0
    note = json.loads(out)["note"]
    assert note["scope"]["contact_id"] == NAMED
    assert note["text"] == without_widthless(text) != text


@every(
    "text",
    ["Prefers email.", "Zażółć gęślą jaźń", "東京に住む", "☎️ after 5 pm", "नमस्ते", "שלום"],
)
def test_what_can_be_seen_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_no_renderer_speaks_markup() -> None:
    folder = Path(rendering.__file__).parent
    speaking = [path.name for path in folder.glob("*.py") if "[/]" in path.read_text("utf-8")]
    assert speaking == []


def test_every_console_is_the_terminal() -> None:
    folder = Path(rendering.__file__).parent
    makers = [path.name for path in folder.glob("*.py") if "Console(" in path.read_text("utf-8")]
    assert makers == []  # rendering.py has a class of its own
