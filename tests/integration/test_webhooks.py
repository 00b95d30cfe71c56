"""Webhooks: real requests to a server on the loopback, or a command, from a real memory."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from reconciler import Memory, ops
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.ops import webhooks
from reconciler.ops.webhooks import sending
from reconciler.settings import Settings, load_settings
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest

SECRET = "whsec_" + "c2VjcmV0" * 4
FAST = {"backoff_seconds": 0.01, "backoff_seconds_max": 0.02, "timeout_seconds": 0.5}
NOBODY = "http://127.0.0.1:9/"


class Receiver:
    """A receiver that keeps what it gets, and answers as it is told."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.answer: Callable[[int], int | None] = lambda _: 204
        self.at_once = self.at_once_max = 0
        self._lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?of=crm"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.take(self)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def take(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.at_once += 1
            self.at_once_max = max(self.at_once_max, self.at_once)
        body = request.rfile.read(int(request.headers["content-length"])).decode()
        told = {"headers": dict(request.headers), "body": body, "path": request.path}
        with self._lock:
            self.got.append(told | {"event": json.loads(body)})
            number = len(self.got)
        status = self.answer(number)
        with self._lock:
            self.at_once -= 1
        if status is None:
            time.sleep(1.5)
            return
        request.send_response(status)
        request.send_header("location", self.url)
        request.end_headers()

    @property
    def ids(self) -> list[str]:
        return [each["headers"]["webhook-id"] for each in self.got]

    def until(self, count: int) -> None:
        end = time.monotonic() + 20
        while len(self.got) < count and time.monotonic() < end:
            time.sleep(0.01)
        assert len(self.got) >= count, self.got


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiving = Receiver()
    with receiving.server:
        thread = threading.Thread(target=receiving.server.serve_forever, args=(0.02,))
        thread.start()
        yield receiving
        receiving.server.shutdown()
        thread.join()


@contextmanager
def opened(
    engine: EngineUnderTest, hook: dict[str, Any], clock: Any = None, **more: Any
) -> Iterator[Memory]:
    settings = load_settings(
        **engine.settings_arguments,
        webhooks={"crm": FAST | {"secret": SECRET, "events": ["changes"]} | hook},
        jobs={"poll_seconds": 0.02},
        **more,
    )
    with Memory.open(settings, embedder=HashingEmbedder(), clock=clock) as memory:
        yield memory


def send_all(memory: Memory, name: str = "crm") -> None:
    """Send in this thread whatever is due."""
    sender, never = webhooks._Sender(memory, name), threading.Event()
    while sender.send_due(never):
        pass


def made(memory: Memory, count: int = 3, contact_id: str = "ada") -> list[str]:
    contact = memory.contact("crm", contact_id)
    return [contact.note(f"word{number}").decision_id for number in range(count)]


def state_of(memory: Memory) -> Any:
    return webhooks._store_of(memory).all()["crm"]


def test_each_decision_is_one_signed_event_in_order(
    one_of_each: EngineUnderTest, receiver: Receiver
) -> None:
    with opened(one_of_each, {"url": receiver.url}) as memory, sending(memory):
        ids = made(memory)
        receiver.until(3)
        erasure = memory.contact("crm", "ada").forget(by="contact", reason="She asked.")
        receiver.until(4)
    assert receiver.ids == [*ids, erasure.erasure_id]
    first, *_, last = receiver.got
    assert Webhook(SECRET).verify(first["body"], first["headers"]) == first["event"]
    assert first["path"] == "/hook?of=crm"
    assert (first["event"]["type"], last["event"]["type"]) == ("decision", "erasure")
    assert (first["event"]["tenant"], first["event"]["agent_id"]) == ("default", "crm")
    assert first["event"]["data"]["contact_id"] == "ada"
    assert first["event"]["data"]["action"] == "ADD"
    assert "word0" not in first["body"]
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(first["body"] + " ", first["headers"])


def test_a_position_outlives_its_process(one_of_each: EngineUnderTest, receiver: Receiver) -> None:
    with opened(one_of_each, {"url": receiver.url}) as memory:
        ids = made(memory)
        send_all(memory)
    with opened(one_of_each, {"url": receiver.url}) as memory:
        send_all(memory)
        assert receiver.ids == ids
        more = memory.contact("crm", "bob").note("One more.")
        send_all(memory)
    assert receiver.ids == [*ids, more.decision_id]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (500, "it answered 500"),
        (302, "it answered 302"),
        (404, "404"),
        (None, "too long|timed out"),
    ],
)
def test_what_is_not_taken_is_tried_again_then_given_up_and_told(
    kept_engine: EngineUnderTest, receiver: Receiver, answer: int | None, error: str
) -> None:
    receiver.answer = lambda number: answer if number <= 2 else 200
    with opened(kept_engine, {"url": receiver.url, "attempts_max": 2}) as memory:
        first, second, third = made(memory)
        with sending(memory):
            receiver.until(4)
        assert receiver.ids == [first, first, second, third]
        [letter] = state_of(memory).dead
        assert letter.event_id == first
        found = ops.digest(memory.agent("crm"))
        assert found.counts == {"dead letter": 1}
        [waiting] = found.oldest
        assert waiting.about.startswith("crm: ")
        assert re.search(error, waiting.about)
        assert ops.digest(memory.agent("desk")).counts == {}
        assert ops.resend(memory, "crm") == []
        assert receiver.ids[-1] == first
        assert ops.digest(memory.agent("crm")).counts == {}


def test_pauses_grow_and_the_order_waits(kept_engine: EngineUnderTest, receiver: Receiver) -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    receiver.answer = lambda _: 503
    hook = {"url": receiver.url, "backoff_seconds": 10, "backoff_seconds_max": 3600}
    with opened(kept_engine, hook, clock=lambda: now) as memory:
        [first] = made(memory, 1)
        pauses = []
        for _ in range(4):
            send_all(memory)
            pauses.append(state_of(memory).due_at - now)
            send_all(memory)  # which waits
            now += timedelta(hours=1)
    assert receiver.ids == [first] * 4
    assert pauses == sorted(pauses)
    assert pauses[-1] > 2 * pauses[0]


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"", "closed connection without response"),
        (b"\x00\xff nothing\r\n\r\n", "nothing"),
        (b"HTTP/1.1 200 OK\r\na: " + b"x" * 70_000 + b"\r\n\r\n", "more than 65536 bytes"),
        (b"HTTP/1.1 500 No\r\n", "it answered 500"),
    ],
)
def test_an_answer_that_breaks_off_is_an_attempt(
    kept_engine: EngineUnderTest, raw: bytes, error: str
) -> None:
    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            got = b""
            while not got.endswith(b"}}"):
                got += connection.recv(65_536)
            connection.sendall(raw)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        with opened(kept_engine, {"url": f"http://127.0.0.1:{server.getsockname()[1]}/"}) as memory:
            made(memory, 1)
            send_all(memory)
            state = state_of(memory)
        thread.join()
    assert (state.attempts, dict(state.cursors), state.dead) == (1, {}, ())
    assert re.search(error, state.error)


def test_each_event_has_all_attempts(kept_engine: EngineUnderTest, receiver: Receiver) -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    receiver.answer = lambda _: 503
    with opened(kept_engine, {"url": receiver.url, "attempts_max": 3}, lambda: now) as memory:
        made(memory, 2)
        first, second = [each.decision_id for each in memory.agent("crm").changes()]

        def tried(count: int) -> None:
            nonlocal now
            for _ in range(count):
                send_all(memory)
                now += timedelta(minutes=1)

        tried(5)
        assert receiver.ids == [first] * 3 + [second] * 2
        assert state_of(memory).attempts == 2
        # The events of another agent, which come first, have their own count.
        other = memory.contact("air", "ada").note("Of another agent.").decision_id
        tried(6)
        assert receiver.ids[5:] == [other] * 3 + [second] * 3
        assert [each.event_id for each in state_of(memory).dead] == [first, other, second]


def test_an_address_that_cannot_be_asked_is_an_attempt(
    kept_engine: EngineUnderTest,
) -> None:
    with opened(kept_engine, {"url": "https://hooks..example/"}) as memory:
        made(memory, 1)
        send_all(memory)
        assert "label" in state_of(memory).error
        assert state_of(memory).attempts == 1


def test_nothing_listens(kept_engine: EngineUnderTest) -> None:
    with opened(kept_engine, {"url": NOBODY}) as memory:
        made(memory)
        send_all(memory)
        assert "refused" in state_of(memory).error
        assert state_of(memory).attempts == 1


def test_a_server_that_sends_a_byte_now_and_then_is_not_waited_for(
    kept_engine: EngineUnderTest,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as stack:

        def drip() -> None:
            connection, _ = server.accept()
            stack.enter_context(connection)
            try:
                for sign in b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100:
                    connection.sendall(bytes([sign]))
                    time.sleep(0.1)
            except OSError:
                pass

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with opened(kept_engine, {"url": url}) as memory:
            made(memory, 1)
            began = time.monotonic()
            send_all(memory)
            assert time.monotonic() - began < 3
            assert state_of(memory).error == "it took too long"
            assert state_of(memory).attempts == 1
        thread.join()


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "127.0.0.1",
        "::1",
        "fd00::1",
        "::ffff:10.0.0.1",
        "100.64.0.1",
        "0.0.0.0",
        "64:ff9b::10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1:a00:0:100::",
        "2002:a00:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:0:5db8:d822::f5ff:fffe",  # Teredo
        "fe80::1%lo",
    ],
)
def test_a_private_address_is_refused_unless_its_host_is_named(address: str) -> None:
    hook = settings_with({"url": "https://hooks.example.com/"}).webhooks["crm"]
    with pytest.raises(OSError, match=r"private address .* name it in private_hosts"):
        webhooks._check_address(hook, "hooks.example.com", address)
    named = hook.model_copy(update={"private_hosts": ("hooks.example.com",)})
    webhooks._check_address(named, "hooks.example.com", address)
    webhooks._check_address(hook, "hooks.example.com", "93.184.216.34")


@pytest.mark.parametrize(
    "address",
    [
        "2606:2800:220:1::1",
        "::ffff:93.184.216.34",
        "64:ff9b::93.184.216.34",
        "2002:5db8:d822::1",
    ],
)
def test_a_public_address_is_allowed_in_any_form(address: str) -> None:
    hook = settings_with({"url": "https://hooks.example.com/"}).webhooks["crm"]
    webhooks._check_address(hook, "hooks.example.com", address)


def test_nothing_is_sent_to_a_name_that_leads_into_this_machine(
    kept_engine: EngineUnderTest, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.create_connection
    port = receiver.server.server_port
    monkeypatch.setattr(
        socket, "create_connection", lambda _, *more: real(("127.0.0.1", port), *more)
    )
    with opened(kept_engine, {"url": "https://hooks.example.com/"}) as memory:
        made(memory, 1)
        send_all(memory)
        assert "private address 127.0.0.1" in state_of(memory).error
    assert receiver.got == []


def settings_with(hook: dict[str, Any]) -> Settings:
    return load_settings(webhooks={"crm": {"secret": SECRET} | hook})


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ({}, "either url or command"),
        ({"url": "https://a.example", "command": ["cat"]}, "either url or command"),
        ({"url": "http://hooks.example.com/"}, "must begin with https://"),
        ({"url": "ftp://localhost/"}, "must begin with https://"),
        ({"url": "https:///x"}, "must begin with https://"),
        ({"url": "https://user:word@a.example/"}, "without a user"),
        ({"url": "https://a.example:65536/"}, "Port out of range"),
        ({"url": "https://a.example:0/"}, "must begin with https://"),
        ({"url": "https://a.example:x/"}, "Port could not be cast"),
        ({"url": "https://[::1/"}, "Invalid IPv6 URL"),
        ({"url": "https://a.example/a b"}, "webhooks.crm.url"),
        ({"url": "https://a.example/ü"}, "webhooks.crm.url"),
        ({"url": "https://a.example", "secret": None}, "secret must be whsec_"),
        ({"url": "https://a.example", "secret": "plain"}, "secret must be whsec_"),
        ({"url": "https://a.example", "secret": "whsec_!!!!"}, "secret must be whsec_"),
        ({"url": "https://a.example", "secret": "whsec_c2hvcnQ="}, "24 to 64 bytes"),
        ({"url": "https://a.example", "events": ["all"]}, "webhooks.crm.events"),
        ({"url": "https://a.example", "path": "x"}, "is not a setting"),
        ({"url": "https://a.example", "attempts_max": 0}, "attempts_max"),
    ],
)
def test_a_webhook_that_cannot_be_sent_to_is_refused(hook: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as refused:
        settings_with(hook)
    assert "c2hvcnQ" not in str(refused.value)


def test_a_secret_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[webhooks.crm]\nurl = "https://a.example/"\nagents = ["crm"]\n')
    monkeypatch.setenv("RECONCILER_CONFIG_FILE", str(file))
    monkeypatch.setenv("RECONCILER_WEBHOOKS__CRM__SECRET", SECRET)
    hook = load_settings().webhooks["crm"]
    assert (hook.url, hook.agents) == ("https://a.example/", ("crm",))
    assert hook.secret is not None
    assert hook.secret.get_secret_value() == SECRET
    assert caplog.records == []
    assert SECRET not in repr(hook)


def test_two_senders_never_send_at_once(one_of_each: EngineUnderTest, receiver: Receiver) -> None:
    receiver.answer = lambda _: time.sleep(0.02) or 200
    with opened(one_of_each, {"url": receiver.url}) as memory:
        ids = made(memory, 12)
        with sending(memory), sending(memory), sending(memory):
            receiver.until(12)
            time.sleep(0.1)
    assert receiver.ids == ids
    assert receiver.at_once_max == 1


def test_a_lease_of_a_killed_worker_ends(kept_engine: EngineUnderTest, receiver: Receiver) -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    with opened(kept_engine, {"url": receiver.url}, clock=lambda: now) as memory:
        ids = made(memory)
        assert webhooks._Sender(memory, "crm").lease() is not None
        send_all(memory)
        assert receiver.got == []
        with pytest.raises(InvalidRequestError, match="a worker is sending to crm now"):
            ops.resend(memory, "crm")
        now += timedelta(minutes=2)
        send_all(memory)
    assert sorted(receiver.ids) == sorted(ids)


def test_who_lost_the_lease_writes_nothing(
    kept_engine: EngineUnderTest, receiver: Receiver
) -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    with opened(kept_engine, {"url": receiver.url}, clock=lambda: now) as memory:
        late, other = webhooks._Sender(memory, "crm"), webhooks._Sender(memory, "crm")
        state = late.lease()
        assert state is not None
        now += timedelta(minutes=2)
        assert other.lease() is not None
        assert not late.keep(state)
        assert other.keep(state)


def test_a_webhook_gets_its_agents_only(kept_engine: EngineUnderTest, receiver: Receiver) -> None:
    with opened(kept_engine, {"url": receiver.url, "agents": ["desk"]}) as memory:
        made(memory)
        own = memory.contact("desk", "ada").note("Of the desk.")
        memory.contact("desk", "ada", tenant="globex").note("Of another tenant.")
        send_all(memory)
    assert receiver.ids == [own.decision_id]


def test_a_restored_store_begins_again_with_the_same_ids(
    kept_engine: EngineUnderTest, receiver: Receiver
) -> None:
    with opened(kept_engine, {"url": receiver.url}) as memory:
        ids = made(memory)
        send_all(memory)
        sender = webhooks._Sender(memory, "crm")
        state = sender.lease()
        assert state is not None
        lost = dict.fromkeys(state.cursors, "1~gone")
        sender.keep(webhooks.replace(state, cursors=lost), is_last=True)
        send_all(memory)
    assert receiver.ids == [*ids, *ids]


def test_a_digest_comes_once_a_day_and_only_if_something_waits(
    one_of_each: EngineUnderTest, receiver: Receiver
) -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    hook = {"url": receiver.url, "events": ["digest"]}
    page = "https://memory.example.com/"
    with opened(one_of_each, hook, clock=lambda: now, page_url=page) as memory:
        contact = memory.contact("crm", "ada")
        contact.note("word1")
        send_all(memory)
        assert receiver.got == []
        now += timedelta(days=1)
        held = contact.note("Is diabetic.")
        assert held.action == "HOLD"
        for _ in range(3):
            send_all(memory)
        now += timedelta(hours=23)
        send_all(memory)
        [first] = receiver.got
        assert first["event"]["type"] == "digest"
        data = first["event"]["data"]
        assert data["counts"] == {"question": 1}
        assert data["oldest"][0]["item_id"] == held.decision_id
        assert data["link"] == "https://memory.example.com/questions?agent=crm"
        assert "diabetic" not in first["body"]
        now += timedelta(hours=1)
        send_all(memory)
        assert len(set(receiver.ids)) == len(receiver.got) == 2
        contact.reject(held.decision_id, by="contact")
        now += timedelta(days=1)
        send_all(memory)
    assert len(receiver.got) == 2


def test_a_digest_tells_of_disputes_and_stuck_jobs(kept_engine: EngineUnderTest) -> None:
    now = datetime(2026, 3, 9, 12, tzinfo=UTC)
    with opened(kept_engine, {"url": NOBODY}, clock=lambda: now) as memory:
        contact = memory.contact("crm", "ada")
        job_id = contact.submit_session("s1", [{"role": "contact", "text": "I live in Pune."}])
        assert ops.digest(memory.agent("crm")).counts == {}
        now += timedelta(days=2)
        found = ops.digest(memory.agent("crm"))
        assert found.counts == {"job": 1}
        assert (found.oldest[0].item_id, found.oldest[0].about) == (job_id, "ada")
        assert found.link is None


def test_a_command_gets_events_on_its_standard_input(
    kept_engine: EngineUnderTest, tmp_path: Path
) -> None:
    out = tmp_path / "events"
    command = ["sh", "-c", f"cat >> {out}; echo >> {out}"]
    with opened(kept_engine, {"command": command, "secret": None}) as memory:
        ids = made(memory, 2)
        send_all(memory)
        assert state_of(memory).error is None
    told = [json.loads(line) for line in out.read_text().splitlines()]
    assert [each["data"]["decision_id"] for each in told] == ids


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (["false"], "it ended with code 1"),
        (["/nowhere/to-be-found"], "No such file"),
        (["sleep", "5"], "it took too long"),
    ],
)
def test_a_command_that_fails_is_tried_again(
    kept_engine: EngineUnderTest, command: Sequence[str], error: str
) -> None:
    with opened(kept_engine, {"command": command}) as memory:
        made(memory, 1)
        send_all(memory)
        assert error in state_of(memory).error
        assert state_of(memory).attempts == 1


def test_what_a_command_starts_in_the_background_is_not_waited_for(
    kept_engine: EngineUnderTest,
) -> None:
    with opened(kept_engine, {"command": ["sh", "-c", "cat; sleep 3 & exit 0"]}) as memory:
        made(memory, 1)
        send_all(memory)
        assert state_of(memory).error is None


def test_to_resend_to_an_unknown_webhook_says_so(kept_engine: EngineUnderTest) -> None:
    with (
        opened(kept_engine, {"url": NOBODY}) as memory,
        pytest.raises(InvalidRequestError, match="no webhook 'other' in the settings"),
    ):
        ops.resend(memory, "other")
