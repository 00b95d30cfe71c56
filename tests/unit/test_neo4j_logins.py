"""After a refused password one call tries again, more and more rarely; all others send nothing."""

from __future__ import annotations

import pytest
from neo4j.exceptions import AuthError, ServiceUnavailable

from reconciler.adapters import neo4j_drivers
from reconciler.adapters.neo4j_drivers import LoginTries
from reconciler.errors import CredentialsRefusedError
from reconciler.ops.metrics import _probed
from reconciler.serve.access.problems import problem_of
from tests.tables import every


class Server:
    """Counts the logins that reach it; answers each with an error, or none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.logins = LoginTries("bolt://there", "agent")
        self.now, self.asked = 1000.0, 0
        monkeypatch.setattr(neo4j_drivers, "monotonic", lambda: self.now)

    def call(self, error: type[Exception] | None = AuthError) -> None:
        with self.logins.attempt():
            self.asked += 1
            if error is not None:
                raise error


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


def test_a_refused_password_is_sent_again_after_one_two_four_up_to_sixteen_minutes(
    server: Server,
) -> None:
    with pytest.raises(AuthError):
        server.call()
    for minutes in (1, 2, 4, 8, 16, 16):
        server.now += minutes * 60 - 1
        for _ in range(50):
            with pytest.raises(CredentialsRefusedError, match="min before it tries these again"):
                server.call()
        server.now += 1
        with pytest.raises(AuthError):
            server.call()
    assert server.asked == 7


def test_calls_that_were_under_way_at_a_refusal_change_nothing(server: Server) -> None:
    with server.logins.attempt():
        for error in (AuthError, AuthError):
            with pytest.raises((AuthError, CredentialsRefusedError)):
                server.call(error)
    server.now += 59
    with pytest.raises(CredentialsRefusedError):
        server.call(None)


@every("error", [None, ServiceUnavailable, AuthError])
def test_one_call_alone_finds_out_whether_the_password_is_right_now(
    error: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(monkeypatch)
    with pytest.raises(AuthError):
        server.call()
    server.now += 60

    def tried() -> None:
        with server.logins.attempt():
            with pytest.raises(CredentialsRefusedError):
                server.call()
            raise error or KeyError

    with pytest.raises((AuthError, ServiceUnavailable, KeyError)):
        tried()
    assert server.asked == 1


def test_once_it_is_accepted_all_calls_go_on(server: Server) -> None:
    with pytest.raises(AuthError):
        server.call()
    server.now += 60
    for _ in range(3):
        server.call(None)
    assert server.asked == 4


def test_a_probe_says_that_the_password_was_rejected() -> None:
    error = LoginTries("bolt://there", "agent").refusal()

    def report() -> None:
        raise error

    assert _probed("/readyz", report) == (  # type: ignore[arg-type]
        "503 Service Unavailable",
        "the graph rejected the password of this process, which waits; see its log",
    )
    problem = problem_of(error)
    assert (problem.status, problem.is_retryable) == (503, False)
    assert "rejected the password of this process" in problem.detail
    assert "agent" not in problem.detail
