"""The commands about tokens: printed once, listed without, revoked for good."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reconciler.serve.access import http_door
from reconciler.serve.access.tokens import TokenFile
from tests.command_line import Run, json_of
from tests.mcp_server import granted


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def test_a_token_is_printed_once_alone_and_lets_in(run: Run, tokens: Path) -> None:
    code, out, err = run("token", "create", "--agent", "crm", "--tokens", str(tokens))
    assert code == 0
    assert "not shown again" in err
    found = TokenFile(tokens).find(out.strip())
    assert found is not None
    assert found.grant.agent_ids == ("crm",)
    assert found.grant.tenant == "default"


def test_a_list_says_what_each_may_reach_and_shows_no_token(run: Run, tokens: Path) -> None:
    made = json_of(
        run, "token", "create", "--agent", "crm", "--agent", "sales", "--contact", "priya",
        "--profile", "operator", "--name", "anna", "--tenant", "acme", "--expires", "90d",
        "--session", "chat-1", "--tokens", str(tokens),
    )  # fmt: skip
    assert made["session"] == "chat-1"
    for arguments in ((), ("--json",)):
        code, out, _ = run("token", "list", "--tokens", str(tokens), *arguments)
        assert code == 0
        assert all(each in out for each in ("anna", "operator", "acme", "sales", "priya", "good"))
        assert made["token"] not in out
        assert TokenFile(tokens).all()[0].hash not in out


def test_a_revoked_token_is_listed_as_that(run: Run, tokens: Path) -> None:
    made = json_of(run, "token", "create", "--agent", "crm", "--tokens", str(tokens))
    assert (
        json_of(run, "token", "revoke", made["id"], "--tokens", str(tokens))["state"] == "revoked"
    )
    [listed] = json_of(run, "token", "list", "--tokens", str(tokens))
    assert listed["state"] == "revoked"
    assert TokenFile(tokens).find(made["token"]) is None


def test_no_tokens_are_an_empty_list_and_make_no_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert json_of(run, "token", "list") == []
    assert not list(tmp_path.rglob("tokens.json"))


def test_a_file_that_is_named_and_not_there_is_no_empty_list(run: Run, tokens: Path) -> None:
    code, out, err = run("token", "list", "--tokens", str(tokens))
    assert (code, out, "does not exist" in err) == (2, "", True)


def test_a_folder_is_no_token_file(run: Run, tokens: Path) -> None:
    tokens.mkdir()
    code, _, err = run("token", "create", "--agent", "crm", "--tokens", str(tokens))
    assert (code, "it is a folder; name a file in it" in err) == (3, True)
    assert [path.name for path in tokens.parent.glob(f"{tokens.name}*")] == [tokens.name]


def test_a_server_says_where_it_listens_only_with_a_certificate_that_can_be_used(
    run: Run, tokens: Path
) -> None:
    pair = ("--tls-certificate", "/nope.pem", "--tls-key", "/nope.key")
    code, out, err = run("serve", "--port", "0", "--tokens", str(tokens), *pair)
    assert (code, out) == (3, "")
    assert "cannot be used: [Errno 2] No such file or directory: '/nope.pem'" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", "--agent", "crm", "--expires", "yesterday"), "ISO 8601"),
        (("create", "--agent", "crm", "--expires", "2027-01-01T09:00"), "zone"),
        (("create", "--agent", "crm", "--expires", "2020-01-01T00:00:00+00:00"), "future"),
        (("create", "--agent", "crm", "--expires", "0d"), "future"),
        (("create", "--agent", "crm", "--name", "contact"), "operator who answers"),
        (("create", "--agent", ""), "agent_id"),
        (("create",), "--agent"),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_no_token(
    run: Run, tokens: Path, arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = run("token", *arguments, "--tokens", str(tokens))
    assert (code, out) == (2, "")
    assert told in err
    assert not tokens.exists()


def test_a_token_that_is_not_there_is_named_and_so_is_a_file(run: Run, tokens: Path) -> None:
    code, out, err = run("token", "revoke", "none", "--tokens", str(tokens))
    assert (code, out) == (3, "")
    assert "--tokens" in err
    assert not tokens.exists()
    run("token", "create", "--agent", "crm", "--tokens", str(tokens))
    code, out, err = run("token", "revoke", "none", "--tokens", str(tokens))
    assert (code, out) == (2, "")
    assert "token list" in err


def test_a_damaged_file_is_the_operators_to_mend(run: Run, tokens: Path) -> None:
    tokens.write_text(json.dumps({"version": 7}))
    tokens.chmod(0o600)
    code, _, err = run("token", "list", "--tokens", str(tokens))
    assert code == 3
    assert "not a token file of this version" in err


@pytest.mark.parametrize("profile", ["agent", "operator"])
def test_a_token_without_a_name_is_called_by_its_profile(
    run: Run, tokens: Path, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    asked = ("--agent", "crm", "--profile", profile, "--tokens", str(tokens))
    assert json_of(run, "token", "create", *asked)["name"] == profile
    assert run("token", "list", "--tokens", str(tokens))[1].count(f" {profile} ") >= 2


def test_an_expiry_that_cannot_be_read_is_refused(run: Run, tokens: Path) -> None:
    asked = ("--agent", "crm", "--expires", "3weeks", "--tokens", str(tokens))
    code, _, err = run("token", "create", *asked)
    assert (code, "ISO 8601" in " ".join(err.split())) == (2, True)


@pytest.fixture
def serve(run: Run, tokens: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """What ``reconciler serve`` warns of until it would wait for requests."""
    monkeypatch.setattr(http_door, "serve_http", lambda *_: None)

    def until_it_listens() -> str:
        code, _, err = run("serve", "--port", "0", "--tokens", str(tokens))
        assert code == 0, err
        return err

    return until_it_listens


def test_a_server_without_a_token_says_that_it_admits_no_client(
    serve: Callable[[], str], run: Run, tokens: Path
) -> None:
    assert "`reconciler token create`" in serve()
    made = json_of(run, "token", "create", "--agent", "crm", "--tokens", str(tokens))
    assert "no client is admitted" not in serve()
    assert run("token", "revoke", made["id"], "--tokens", str(tokens))[0] == 0
    assert f"no good token is in the token file {tokens}" in serve()


def test_nor_does_a_token_count_that_has_expired(serve: Callable[[], str], tokens: Path) -> None:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    TokenFile(tokens, lambda: then).create(granted(), then + timedelta(days=1))
    assert "no client is admitted" in serve()
