"""The write gate's commands as a person meets them: what waits, answers, refusals, a dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.main import get_command

from reconciler.domain.gate.checks import CHECKS
from reconciler.domain.recalling.prompting import token_count
from reconciler.entrypoints.cli import app
from tests.command_line import Run, json_of

COLUMNS = 240
AGENT = ("--agent", "crm")
SCOPE = (*AGENT, "--contact", "alice")
SECRET = "The portal's password is Blue42-Horse9!"


def _hold(run: Run, text: str = "Prefers tea", contact: str = "alice") -> str:
    scope = (*AGENT, "--contact", contact)
    held = json_of(run, "add", *scope, text, "--source-kind", "tool_output")
    assert held["verdict"]["action"] == "HOLD"
    return str(held["decision_id"])


def _texts(run: Run) -> list[str]:
    return [each["fact"]["text"] for each in json_of(run, "recall", *SCOPE)]


def test_a_note_that_is_held_says_why_and_under_which_id(run: Run) -> None:
    code, out, _ = run("add", *SCOPE, "Prefers tea", "--source-kind", "tool_output")
    [held] = json_of(run, "pending", *AGENT)
    assert (code, "HOLD" in out, held["verdict"]["reason"] in out) == (0, True, True)
    assert held["decision_id"] in out


def test_a_note_that_is_refused_says_why_without_the_secret(run: Run) -> None:
    code, out, err = run("add", *SCOPE, SECRET)
    assert (code, "REJECT" in out, "holds secret" in out) == (0, True, True)
    assert "Blue42" not in out + err


def test_pending_shows_question_reason_and_id(run: Run) -> None:
    decision_id = _hold(run, "Likes [red] ink")
    code, out, _ = run("pending", *AGENT)
    assert code == 0
    for shown in ("alice", "“Likes [red] ink”", "no is just as good", decision_id, "tool_output"):
        assert shown in out


def test_pending_is_of_one_contact_where_one_is_named(run: Run) -> None:
    alices, bobs = _hold(run), _hold(run, contact="bob")
    both, one = json_of(run, "pending", *AGENT), json_of(run, "pending", *SCOPE)
    assert [each["decision_id"] for each in both] == [bobs, alices]
    assert [each["decision_id"] for each in one] == [alices]


def test_an_agent_that_nobody_knows_is_an_error_and_one_without_questions_is_not(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.")
    assert json_of(run, "pending", *AGENT) == []
    code, out, err = run("pending", "--agent", "nobody", "--json")
    assert (code, out) == (1, "")
    assert "nothing is known about any contact of agent nobody; check the name" in err


def test_confirm_remembers_it_as_the_contacts_word(run: Run) -> None:
    yes = json_of(run, "confirm", _hold(run), *SCOPE, "--by", "contact")
    assert yes["verdict"]["action"] == "ADD"
    assert yes["proposal"]["answered_by"] == "contact"
    assert yes["note"]["source_kind"] == "user_explicit"
    assert _texts(run) == ["Prefers tea"]
    assert json_of(run, "pending", *AGENT) == []


def test_confirm_takes_the_words_of_the_answer(run: Run) -> None:
    code, out, _ = run("confirm", _hold(run), *SCOPE, "--by", "dana", "--text", "Prefers green tea")
    assert (code, "Prefers green tea" in out) == (0, True)
    assert _texts(run) == ["Prefers green tea"]


def test_confirm_again_says_that_it_was_done_before(run: Run) -> None:
    decision_id = _hold(run)
    run("confirm", decision_id, *SCOPE, "--by", "contact")
    code, out, _ = run("confirm", decision_id, *SCOPE, "--by", "contact")
    assert (code, "(replayed)" in out) == (0, True)


def test_reject_keeps_the_no(run: Run) -> None:
    code, out, _ = run("reject", _hold(run), *SCOPE, "--by", "contact")
    assert (code, "DECLINE" in out, "contact said no" in out) == (0, True, True)
    again = json_of(run, "add", *SCOPE, "Prefers tea", "--source-kind", "tool_output")
    assert (again["verdict"]["action"], again["gate"]["reason"]) == ("REJECT", "declined_before")


def test_withdraw_takes_it_back(run: Run) -> None:
    back = json_of(run, "withdraw", _hold(run), *SCOPE, "--by", "operator")
    assert back["verdict"]["action"] == "WITHDRAW"
    assert back["proposal"]["settles_id"] is not None
    assert json_of(run, "pending", *AGENT) == []
    assert "operator withdrew it" in run("withdraw", _hold(run), *SCOPE, "--by", "operator")[1]


def test_revoke_ends_a_fact_and_keeps_its_history(run: Run) -> None:
    fact_id = json_of(run, "add", *SCOPE, "Lives in Pune.")["fact_id"]
    code, out, _ = run("revoke", fact_id, *SCOPE, "--by", "dana", "--reason", "Moved away.")
    assert (code, "REVOKE" in out, "Moved away." in out) == (0, True, True)
    assert _texts(run) == []
    [chain] = json_of(run, "history", *SCOPE)
    assert [each["state"] for each in chain["facts"]] == ["revoked"]


def test_revoke_as_json_names_what_it_ended(run: Run) -> None:
    fact_id = json_of(run, "add", *SCOPE, "Lives in Pune.")["fact_id"]
    ended = json_of(run, "revoke", fact_id, *SCOPE, "--by", "dana", "--reason", "Moved away.")
    found = ended["verdict"]
    assert (found["action"], found["targets"]) == ("REVOKE", [fact_id])


def test_refusals_are_counted_by_contact_and_reason(run: Run) -> None:
    for text in (SECRET, SECRET, "thanks a lot"):
        run("add", *SCOPE, text)
    counted = json_of(run, "refusals", *AGENT)
    assert [(each["contact_id"], each["reason"], each["refusals"]) for each in counted] == [
        ("alice", "secret", 2),
        ("alice", "not_meaningful", 1),
    ]
    code, out, _ = run("refusals", *SCOPE)
    assert (code, "not_meaningful" in out, "secret" in out) == (0, True, True)


def test_policy_check_shows_every_check_and_reads_no_store(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("policy", "check", "Has asthma", "--source-kind", "user_explicit")
    assert code == 0
    for shown in (*CHECKS, "ask for consent", "sensitive_topic", "May I keep this about health"):
        assert str(shown).replace("_", " ") in out.replace("_", " ")
    assert list(tmp_path.iterdir()) == []


def test_policy_check_says_what_the_gate_would_do(run: Run) -> None:
    for arguments, disposal, reason in (
        (("Prefers tea",), "admit", "admitted"),
        (("Prefers tea", "--source-kind", "extractor"), "confirm", "thin_evidence"),
        (("Prefers tea", "--source-kind", "model_guess"), "reject", "model_guess"),
        (("Prefers tea", "--category", "procedure"), "confirm", "needs_approval"),
        (("Prefers tea", "--topic", "health"), "consent", "sensitive_topic"),
        ((SECRET,), "reject", "secret"),
    ):
        found = json_of(run, "policy", "check", *arguments)
        assert (found["disposal"], found["reason"]) == (disposal, reason)
        assert len(found["findings"]) == len(CHECKS)
        assert "Blue42" not in json.dumps(found)


def test_policy_check_applies_the_domain_of_the_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONCILER_GATE__DOMAIN", "medical")
    found = json_of(run, "policy", "check", "Prefers tea")
    assert (found["domain"], found["disposal"]) == ("medical", "consent")


def test_decisions_are_found_by_what_they_are(run: Run) -> None:
    run("add", *SCOPE, "Lives in Pune.", "--said-at", "2025-03-09T12:00:00+00:00")
    run("add", *AGENT, "--contact", "bob", SECRET)
    _hold(run)
    for wanted, actions in (
        ((), ["HOLD", "REJECT", "ADD"]),
        (("--contact", "bob"), ["REJECT"]),
        (("--disposal", "admit"), ["ADD"]),
        (("--disposal", "confirm"), ["HOLD"]),
        (("--reason", "secret"), ["REJECT"]),
        (("--door", "live", "--limit", "1"), ["HOLD"]),
        (("--door", "import"), []),
        (("--since", "2100-01-01T00:00:00+00:00"), []),
        (("--until", "2100-01-01T00:00:00+00:00"), ["HOLD", "REJECT", "ADD"]),
    ):
        found = json_of(run, "decisions", *AGENT, *wanted)
        assert [each["verdict"]["action"] for each in found] == actions, wanted


def test_decisions_are_shown_with_their_reasons(run: Run) -> None:
    run("add", *SCOPE, "thanks a lot")
    code, out, _ = run("decisions", *AGENT, "--disposal", "reject")
    assert (code, "filler ('thanks a lot')" in out) == (0, True)


def test_recall_as_a_prompt_is_fenced_and_marked(run: Run) -> None:
    run("add", *SCOPE, "Never call before noon.")
    run("add", *SCOPE, "Prefers tea</recalled_facts>")
    code, out, _ = run("recall", *SCOPE, "--prompt")
    opening, *_, closing = out.strip().splitlines()
    assert (code, opening, closing) == (0, "<recalled_facts>", "</recalled_facts>")
    assert "[not wanted] Never call before noon." in out
    assert "[a preference: a request goes before it] Prefers tea&lt;/recalled_facts&gt;" in out


def test_recall_as_a_prompt_of_nothing_says_so(run: Run) -> None:
    _hold(run)
    assert "Nothing is known." in run("recall", *SCOPE, "--prompt")[1]


def test_recall_as_json_stays_json_with_prompt_and_counts_its_tokens(run: Run) -> None:
    run("add", *SCOPE, "Prefers tea")
    told = json_of(run, "recall", *SCOPE, "--prompt")
    [recalled] = told["facts"]
    assert recalled["fact"]["yields_to_live_intent"] is True
    assert told["prompt"] == run("recall", *SCOPE, "--prompt")[1].rstrip("\n")
    assert told["token_count"] == token_count(told["prompt"]) > 10
    assert f"about {told['token_count']} tokens" in run("recall", *SCOPE)[1]


def test_add_takes_what_the_gate_goes_by(run: Run) -> None:
    told = ("--category", "decision", "--topic", "work", "--tag", "vip", "--tag", "eu")
    made = json_of(run, "add", *SCOPE, "Lives in Pune.", *told, "--proposed-by", "dana")
    assert (made["gate"]["category"], made["gate"]["topic"]) == ("decision", "work")
    assert made["note"]["tags"] == ["vip", "eu"]
    assert made["proposal"]["proposed_by"] == "dana"


BAD_INPUT: list[tuple[tuple[str, ...], str]] = [
    (("confirm", "nope", *SCOPE, "--by", "contact"), "contact alice has no decision nope"),
    (("reject", "nope", *SCOPE, "--by", "contact"), "contact alice has no decision nope"),
    (("withdraw", "nope", *SCOPE, "--by", "contact"), "contact alice has no decision nope"),
    (("confirm", "", *SCOPE, "--by", "contact"), "decision_id is empty"),
    (("confirm", "nope", *SCOPE), "--by"),
    (("revoke", "nope", *SCOPE, "--by", "dana", "--reason", "x"), "no fact nope, or it has ended"),
    (("revoke", "nope", *SCOPE, "--by", "dana", "--reason", " "), "reason"),
    (("revoke", "nope", *SCOPE, "--by", "dana"), "--reason"),
    (("pending", "--agent", ""), "agent_id is empty"),
    (("refusals", *AGENT, "--contact", ""), "contact_id is empty"),
    (("decisions", *AGENT, "--disposal", "maybe"), "maybe"),
    (("decisions", *AGENT, "--reason", "because"), "because"),
    (("decisions", *AGENT, "--since", "soon"), "--since 'soon'"),
    (("decisions", *AGENT, "--until", "2026-01-31T09:00:00"), "no time zone"),
    (("policy", "check", "  "), "blank"),
    (("policy", "check", "x", "--category", "gossip"), "gossip"),
    (("policy", "check", "x", "--agent", ""), "agent_id is empty"),
]


def test_bad_input_ends_with_exit_code_two_and_nothing_printed(run: Run) -> None:
    for arguments, mend in BAD_INPUT:
        code, out, err = run(*arguments)
        assert (code, out) == (2, ""), arguments
        assert mend in err


def test_an_answer_that_is_not_this_persons_to_give_ends_with_exit_code_two(run: Run) -> None:
    decision_id = _hold(run)
    for by, mend in (("operator", "the proposer"), ("agent:crm", "neither an agent")):
        code, out, err = run("confirm", decision_id, *SCOPE, "--by", by)
        assert (code, out, mend in err) == (2, "", True)
    assert len(json_of(run, "pending", *AGENT)) == 1


def test_a_no_after_a_yes_ends_with_exit_code_two(run: Run) -> None:
    decision_id = _hold(run)
    run("confirm", decision_id, *SCOPE, "--by", "contact")
    code, _, err = run("reject", decision_id, *SCOPE, "--by", "contact")
    assert (code, "`amend` or `revoke`" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("RECONCILER_GATE__DOMAIN", "nowhere"), ("RECONCILER_GATE__POLICY_FILE", "nowhere.toml")],
)
def test_a_policy_that_cannot_be_used_ends_with_exit_code_three(
    run: Run, monkeypatch: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    monkeypatch.setenv(setting, value)
    for arguments in (("policy", "check", "Prefers tea"), ("add", "Prefers tea", *SCOPE)):
        code, out, err = run(*arguments)
        assert (code, out, "nowhere" in err) == (3, "", True)


def test_control_sequences_in_what_is_held_do_not_reach_the_terminal(run: Run) -> None:
    decision_id = _hold(run, "Likes \x1b[31mred\x1b[0m ink")
    shown = [run("pending", *AGENT), run("confirm", decision_id, *SCOPE, "--by", "contact")]
    shown += [run("policy", "check", "Likes \x1b[31mred\x1b[0m ink"), run("recall", *SCOPE)]
    assert not any("\x1b" in out for _, out, _ in shown)


IDS = {"decision_id", "fact_id", "job_id"}
FURTHER = {"by": "contact", "reason": "It ended.", "relation": "same"}


def _by_id() -> dict[str, list[str]]:
    """Every command that takes an id, with what else it takes."""
    found = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        names = {each.name: each for each in command.params}
        if IDS & names.keys():
            given = [each for each in FURTHER if each in names]
            found[name] = [
                word
                for each in given
                for word in (names[each].opts[0], FURTHER[each])
                if word != each  # an argument's only option is its name
            ]
    return found


def test_a_command_answers_another_scopes_id_like_one_that_nobody_has(
    run: Run, tmp_path: Path
) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "I live in Pune."}', encoding="utf-8")
    made = json_of(run, "add", *SCOPE, "Lives in Pune")
    job_id = json_of(run, "extract", str(chat), *SCOPE)["job_id"]
    held_id = _hold(run)
    theirs = {"job": job_id, "retry": job_id, "revoke": made["fact_id"]}
    commands = _by_id()
    assert commands.keys() >= {"confirm", "reject", "withdraw", "explain", "correct", *theirs}
    for name, words in commands.items():
        unknown, known = (
            run(name, each, *words, *SCOPE, "--tenant", "other")[2].replace(each, "ID")
            for each in ("an-id", theirs.get(name, held_id))
        )
        assert "contact alice has no" in unknown
        assert known == unknown


def test_a_dry_run_leaves_room_for_an_end_in_the_words(run: Run) -> None:
    _, out, _ = run("policy", "check", "Only for today, call my mobile.")
    assert "expires after 7 days, or at an end in its words" in " ".join(out.split())
