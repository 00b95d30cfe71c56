"""Tokens and rates: what is kept of a token, whom it lets in, and how often."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reconciler.errors import (
    ConfigurationError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidScopeError,
)
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.access.http_door import Rates
from reconciler.serve.access.tokens import TokenFile
from tests.clocks import Clock
from tests.tables import every

GRANT = Grant(
    profile=AccessProfile.AGENT, tenant="acme", agent_ids=("crm", "sales"), contact_id="priya",
    session_id="chat-1",
)  # fmt: skip
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def tokens(tmp_path: Path, clock: Clock) -> TokenFile:
    return TokenFile(tmp_path / "data" / "tokens.json", clock)


def test_a_token_grants_what_it_was_made_for_also_to_another_process(tokens: TokenFile) -> None:
    _, secret = tokens.create(GRANT)
    found = TokenFile(tokens.path).find(secret)
    assert found is not None
    assert found.grant == GRANT


def test_the_file_holds_no_token_and_belongs_to_its_owner(tokens: TokenFile) -> None:
    _, secret = tokens.create(GRANT)
    text = tokens.path.read_text()
    assert secret not in text
    assert secret.removeprefix("rcl_") not in text
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600


def test_two_tokens_share_nothing_and_neither_is_the_others_hash(tokens: TokenFile) -> None:
    (one, first), (other, second) = tokens.create(GRANT), tokens.create(GRANT)
    assert first != second
    assert one.hash != other.hash
    assert tokens.find(one.hash) is None


@pytest.mark.parametrize("presented", ["", "rcl_", "wrong", "rcl_" + "A" * 43, "x" * 100_000, "é"])
def test_what_is_no_token_lets_nobody_in(tokens: TokenFile, presented: str) -> None:
    tokens.create(GRANT)
    assert tokens.find(presented) is None


def test_a_token_with_a_letter_changed_lets_nobody_in(tokens: TokenFile) -> None:
    _, secret = tokens.create(GRANT)
    assert tokens.find(secret[:-1] + ("A" if secret[-1] != "A" else "B")) is None
    assert tokens.find(secret + "A") is None
    assert tokens.find(secret[:-1]) is None


def test_a_revoked_token_lets_nobody_in_at_once_also_in_another_process(tokens: TokenFile) -> None:
    server = TokenFile(tokens.path)
    made, secret = tokens.create(GRANT)
    _, others = tokens.create(GRANT)
    assert server.find(secret) is not None
    tokens.revoke(made.token_id)
    assert server.find(secret) is None
    assert server.find(others) is not None


def test_a_token_lets_in_until_it_expires_and_not_at_that_moment(
    tokens: TokenFile, clock: Clock
) -> None:
    _, secret = tokens.create(GRANT, NOW + timedelta(days=1))
    clock.now = NOW + timedelta(days=1) - timedelta(microseconds=1)
    assert tokens.find(secret) is not None
    clock.now = NOW + timedelta(days=1)
    assert tokens.find(secret) is None
    assert [each.state(clock.now) for each in tokens.all()] == ["expired"]


def test_a_token_that_has_expired_is_not_made(tokens: TokenFile) -> None:
    with pytest.raises(InvalidRequestError, match="must be in the future"):
        tokens.create(GRANT, NOW)
    assert not tokens.path.exists()


def test_revoking_a_token_that_is_not_there_says_where_to_look(tokens: TokenFile) -> None:
    tokens.create(GRANT)
    with pytest.raises(InvalidRequestError, match="reconciler token list"):
        tokens.revoke("1f3a09bc")


def test_revoking_without_a_file_says_how_to_name_it_and_makes_none(tmp_path: Path) -> None:
    path = tmp_path / "no" / "tokens.json"
    with pytest.raises(ConfigurationError, match=f"{path} holds no token.*--tokens"):
        TokenFile(path).revoke("1f3a09bc")
    assert not path.parent.exists()


def test_revoking_again_keeps_the_first_time(tokens: TokenFile, clock: Clock) -> None:
    made, _ = tokens.create(GRANT)
    tokens.revoke(made.token_id)
    clock.now = NOW + timedelta(days=1)
    assert tokens.revoke(made.token_id).revoked_at == NOW


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "[" * 9_999, '{"version": 2}'),
        '{"version": 1, "key": "zz", "tokens": []}',
        '{"version": 1, "key": 5, "tokens": []}',
    ],
)
def test_a_damaged_file_lets_nobody_in_and_is_not_written_over(
    tokens: TokenFile, text: str
) -> None:
    _, secret = tokens.create(GRANT)
    tokens.path.write_text(text)
    assert tokens.find(secret) is None
    with pytest.raises(ConfigurationError, match="the token file"):
        tokens.create(GRANT)
    assert tokens.path.read_text() == text


def test_a_file_that_others_may_write_lets_nobody_in(tokens: TokenFile) -> None:
    _, secret = tokens.create(GRANT)
    tokens.path.chmod(0o666)
    assert tokens.find(secret) is None
    with pytest.raises(ConfigurationError, match="chmod 600"):
        tokens.all()


def test_a_file_whose_grant_was_emptied_lets_nobody_in(tokens: TokenFile) -> None:
    _, secret = tokens.create(GRANT)
    held = json.loads(tokens.path.read_text())
    held["tokens"][0]["grant"]["agent_ids"] = []
    tokens.path.write_text(json.dumps(held))
    assert tokens.find(secret) is None


def test_a_file_with_a_time_without_its_zone_lets_nobody_in(tokens: TokenFile) -> None:
    _, secret = tokens.create(GRANT)
    held = json.loads(tokens.path.read_text())
    held["tokens"][0]["expires_at"] = "2999-01-01T00:00:00"
    tokens.path.write_text(json.dumps(held))
    assert tokens.find(secret) is None


def test_tokens_that_are_made_at_once_are_all_kept(tokens: TokenFile) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(lambda _: TokenFile(tokens.path).create(GRANT)[1], range(24)))
    assert all(tokens.find(secret) for secret in secrets)
    assert {each.name for each in tokens.path.parent.iterdir()} == {
        "tokens.json",
        "tokens.json.lock",
    }


def _grant(**changed: object) -> Callable[[], Grant]:
    given = {"profile": AccessProfile.OPERATOR, "tenant": "acme", "agent_ids": ("crm",)} | changed
    return lambda: Grant(**given)  # type: ignore[arg-type]


@every(
    ("made", "error"),
    [
        (_grant(agent_ids=()), InvalidRequestError),
        (_grant(agent_ids=("crm", "")), InvalidScopeError),
        (_grant(tenant=""), InvalidScopeError),
        (_grant(contact_id=""), InvalidScopeError),
        (_grant(name="contact"), InvalidRequestError),
        (_grant(name="Contact"), InvalidRequestError),
        (_grant(name=" "), InvalidRequestError),
        (_grant(session_id=""), InvalidNoteError),
    ],
)
def test_a_grant_that_cannot_be_used_is_not_made(
    made: Callable[[], Grant], error: type[Exception]
) -> None:
    with pytest.raises(error):
        made()


def test_a_rate_is_spent_and_comes_back_bit_by_bit() -> None:
    now = [0.0]
    rates = Rates(per_minute=3, clock=lambda: now[0])
    assert [rates.wait_seconds("a") for _ in range(3)] == [0, 0, 0]
    assert rates.wait_seconds("a") == pytest.approx(20)
    assert rates.wait_seconds("b") == 0
    now[0] = 20.0
    assert rates.wait_seconds("a") == 0
    assert rates.wait_seconds("a") == pytest.approx(20)


def test_a_rate_that_was_not_used_for_long_is_no_larger() -> None:
    now = [0.0]
    rates = Rates(per_minute=2, clock=lambda: now[0])
    now[0] = 1e6
    assert [rates.wait_seconds("a") > 0 for _ in range(3)] == [False, False, True]


def test_rates_of_many_keys_stay_within_bounds() -> None:
    rates = Rates(per_minute=1)
    for key in range(20_000):
        rates.wait_seconds(str(key))
    assert len(rates._free_at) == 10_000
