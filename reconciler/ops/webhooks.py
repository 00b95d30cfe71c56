"""Webhooks: sends an agent's changes, and once a day a digest of what waits for a person.

An event has ids and no words, because what has left the store cannot be erased. Of all workers one
sends to a webhook at a time, in order; its lease, its place and the events that were given up are
kept in the store. An event may come twice: its receiver tells it by its id, the decision's.

A request goes only to the address in the settings. It follows no redirect, and an address in a
private network is refused unless the settings name that host.
"""

from __future__ import annotations

import logging
import socket
import ssl
import subprocess
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic_core import to_json

from reconciler.bound_memory import AgentMemory
from reconciler.domain.records.decisions import Change
from reconciler.domain.records.facts import Dispute
from reconciler.domain.records.kinds import JobState, later
from reconciler.domain.records.notes import check_identifier
from reconciler.errors import InvalidRequestError, ReconcilerError
from reconciler.frozen import Json, frozen, in_order
from reconciler.memory import Memory
from reconciler.ops.parts import parts_of
from reconciler.reading.named_secrets import without_secrets

if TYPE_CHECKING:
    from reconciler.service.stores.webhook_store import DeadLetter, WebhookState, WebhookStore
    from reconciler.settings import WebhookSettings

_LOG = logging.getLogger(__name__)
_DAY = timedelta(days=1)
_ITEMS_MAX = 200
_JOBS_MAX = 1_000_000
_NAT64 = ip_network("64:ff9b::/32")
"""Its addresses end with the IPv4 address that they lead to. Source: RFC 6052 and 8215."""


@in_order
class WaitingItem:
    """One thing that waits for a person, without words.

    Attributes:
        kind: a held note, a dispute, a job that is dead or unfinished for a day, or an event that
            a webhook did not take.
        item_id: the id of the decision, the dispute's first fact, the job or the event.
        about: the contact; of a dead letter the webhook, and why it was not taken.
        since: since when it waits (UTC).
    """

    kind: Literal["question", "dispute", "job", "dead letter"]
    item_id: str
    about: str
    since: datetime


@frozen
class DailyDigest:
    """What waits for a person in an agent's memory.

    Attributes:
        counts: how many of each kind wait; empty if nothing does.
        oldest: those that wait longest, at most 200.
        link: the page with the questions; None without ``page_url`` in the settings.
    """

    counts: Mapping[str, int]
    oldest: tuple[WaitingItem, ...]
    link: str | None


def digest(memory: AgentMemory) -> DailyDigest:
    """What waits for a person: held notes, disputes, stuck jobs, and events that were given up.

    Args:
        memory: an agent's.
    """
    services = parts_of(memory, AgentMemory)
    long_ago = services.clock() - _DAY
    found = [
        WaitingItem("dispute", each.facts[0].fact_id, each.scope.contact_id, each.opened_at)
        if isinstance(each, Dispute)
        else WaitingItem("question", each.decision_id, each.scope.contact_id, each.at)
        for each in memory.pending()
    ]
    found += [
        WaitingItem("job", job.job_id, job.scope.contact_id, job.submitted_at)
        for state in (JobState.DEAD, JobState.WAITING, JobState.RUNNING)
        for job in memory.jobs(state=state, limit=_JOBS_MAX)
        if state is JobState.DEAD or job.submitted_at < long_ago
    ]
    found += [
        WaitingItem("dead letter", letter.event_id, f"{name}: {letter.error}", letter.at)
        for name, kept in _store_of(memory).all().items()
        for letter in kept.dead
        if letter.agent_key == memory._scope.agent_key
    ]
    page, agent = services.settings.page_url, quote(memory.agent_id, safe="")
    return DailyDigest(
        counts=Counter(each.kind for each in found),
        oldest=tuple(sorted(found, key=lambda each: each.since)[:_ITEMS_MAX]),
        link=f"{page.rstrip('/')}/questions?agent={agent}" if page else None,
    )


def resend(memory: Memory, name: str) -> list[DeadLetter]:
    """Send a webhook's dead letters again; returns those that were not taken this time either.

    Args:
        memory: an open memory.
        name: the webhook, as in the settings.

    Raises:
        InvalidRequestError: the settings have no such webhook, or a worker is sending to it.
    """
    services = parts_of(memory, Memory)
    check_identifier("name", name, InvalidRequestError)
    if name not in services.settings.webhooks:
        raise InvalidRequestError(f"there is no webhook {name!r} in the settings")
    sender = _Sender(memory, name)
    state = sender.lease()
    if state is None:
        raise InvalidRequestError(f"a worker is sending to {name} now; try again in a minute")
    for letter in state.dead:
        if _undelivered(sender.hook, letter.event_id, letter.body) is None:
            left = tuple(each for each in state.dead if each is not letter)
            state = replace(state, dead=left)
        sender.keep(state)
    sender.keep(state, is_last=True)
    return list(state.dead)


@contextmanager
def sending(memory: Memory) -> Iterator[None]:
    """Send to all webhooks of the settings while the block runs, each in a thread of its own."""
    stopping = threading.Event()
    threads = [
        threading.Thread(target=_run, args=(_Sender(memory, name), stopping), daemon=True)
        for name in memory.settings.webhooks
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def _run(sender: _Sender, stopping: threading.Event) -> None:
    complaint = ""
    while not stopping.is_set():
        has_sent, told = False, ""
        try:
            has_sent = sender.send_due(stopping)
        except Exception as error:  # noqa: BLE001  a bug must not end it
            told = str(error) if isinstance(error, ReconcilerError) else type(error).__name__
        if told not in ("", complaint):
            _LOG.warning("nothing can be sent to webhook %s: %s", sender.name, told)
        complaint = told
        if not has_sent:
            stopping.wait(sender.memory.settings.jobs.poll_seconds)


@in_order
class _Event:
    """An event, and the part of the state that moves when it is taken or given up."""

    event_id: str
    agent_key: str
    body: str
    part: str
    moved: Any


class _Sender:
    """Sends to one webhook."""

    def __init__(self, memory: Memory, name: str) -> None:
        self.memory, self.name = memory, name
        self.hook: WebhookSettings = memory.settings.webhooks[name]
        self._clock = parts_of(memory, Memory).clock
        self._store = _store_of(memory)

    def lease(self) -> WebhookState | None:
        """Take the webhook; None if another worker has it."""
        return self._store.lease(self.name, self._clock(), self._until)

    def keep(self, state: WebhookState, *, is_last: bool = False) -> bool:
        """Write the state, and keep the webhook or give it back; False if it is another's now."""
        return self._store.keep(self.name, state, self._clock() if is_last else self._until)

    def send_due(self, stopping: threading.Event) -> bool:
        """Send what is due, up to a page for each agent; true if there may be more."""
        from reconciler.service.stores.webhook_store import WebhookState

        seen = self._store.all().get(self.name, WebhookState())
        if not self._is_due(seen) or next(self._events(seen), None) is None:
            return False
        state = self.lease()
        if state is None:
            return False
        events = self._events(state) if self._is_due(state) else iter(())
        for event in events:
            if stopping.is_set():
                break
            state = self._after(state, event)
            if not self.keep(state):
                return False
            if state.error is not None:
                _LOG.warning("webhook %s, event %s: %s", self.name, event.event_id, state.error)
                break
        self.keep(state, is_last=True)
        return state.error is None

    @property
    def _until(self) -> datetime:
        held = self.hook.lease_seconds + self.hook.timeout_seconds
        return later(self._clock(), timedelta(seconds=held))

    def _is_due(self, state: WebhookState) -> bool:
        return state.due_at is None or state.due_at <= self._clock()

    def _after(self, state: WebhookState, event: _Event) -> WebhookState:
        """Send an event, and return the state after it."""
        error = _undelivered(self.hook, event.event_id, event.body) if event.body else None
        earlier = state.attempts if state.tried_id == event.event_id else 0
        attempts, now = earlier + 1, self._clock()
        state = replace(state, error=error, tried_id=event.event_id)
        if error is not None and attempts < self.hook.attempts_max:
            due_at = later(now, self.hook.wait(attempts, None))
            return replace(state, attempts=attempts, due_at=due_at)
        if error is not None:
            from reconciler.service.stores.webhook_store import DeadLetter

            letter = DeadLetter(
                event_id=event.event_id,
                agent_key=event.agent_key,
                body=event.body,
                at=now,
                error=error,
            )
            state = replace(state, dead=(*state.dead, letter))
        moved = {**getattr(state, event.part), event.agent_key: event.moved}
        part: Json = {event.part: moved}
        return replace(state, attempts=0, due_at=None, **part)

    def _events(self, state: WebhookState) -> Iterator[_Event]:
        """Return what is to be sent in this state, in order."""
        tenant, now = self.memory.settings.tenant, self._clock()
        known = (agent_id for owner, agent_id in self.memory.agents() if owner == tenant)
        for agent_id in self.hook.agents or known:
            agent = self.memory.agent(agent_id)
            key = agent._scope.agent_key
            after, last = state.cursors.get(key), state.digests.get(key)
            for change in self._changes(agent, after) if "changes" in self.hook.events else ():
                kind = "erasure" if change.action == "ERASE" else "decision"
                body = _body(kind, change.at, agent, change)
                yield _Event(change.decision_id, key, body, "cursors", change.cursor)
            if "digest" in self.hook.events and (last is None or now - last >= _DAY):
                found = digest(agent)
                event_id = uuid.uuid5(uuid.NAMESPACE_URL, f"digest/{key}/{now:%Y-%m-%d}")
                body = _body("digest", now, agent, found) if found.counts else ""
                yield _Event(str(event_id), key, body, "digests", now)

    def _changes(self, agent: AgentMemory, after: str | None) -> list[Change]:
        try:
            return agent.changes(after=after)
        except InvalidRequestError as error:  # the ids tell a receiver what it has already
            _LOG.warning("webhook %s starts again: %s", self.name, error)
            return agent.changes()


def _store_of(memory: Memory | AgentMemory) -> WebhookStore:
    from reconciler.service.stores.webhook_store import WebhookStore

    return WebhookStore(parts_of(memory, Memory, AgentMemory).archive_store.graph)


def _body(kind: str, at: datetime, agent: AgentMemory, data: Change | DailyDigest) -> str:
    whose = {"tenant": agent.tenant, "agent_id": agent.agent_id}
    return to_json({"type": kind, "timestamp": at, **whose, "data": data}).decode()


def _undelivered(hook: WebhookSettings, event_id: str, body: str) -> str | None:
    """Send an event; return why it was not taken, None if it was."""
    try:
        if hook.url is not None:
            status = _posted(hook, hook.url, event_id, body)
            is_taken, told = 200 <= status < 300, f"it answered {status}"
        else:
            ended = subprocess.run(  # noqa: S603  the operator's own
                hook.command,
                input=body.encode(),
                timeout=hook.timeout_seconds,
                check=False,
                # What it starts in the background may keep a pipe open.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            is_taken, told = ended.returncode == 0, f"it ended with code {ended.returncode}"
    except subprocess.TimeoutExpired:
        return "it took too long"
    except (OSError, HTTPException, ValueError) as error:
        return without_secrets(str(error) or type(error).__name__)
    return None if is_taken else told


def _posted(hook: WebhookSettings, url: str, event_id: str, body: str) -> int:
    """Post an event to an address that is allowed; return the status.

    Raises:
        OSError, HTTPException: no answer came.
    """
    from standardwebhooks import Webhook

    parts, now = urlsplit(url), datetime.now(UTC)
    host, is_plain = str(parts.hostname), parts.scheme == "http"
    secret = hook.secret.get_secret_value() if hook.secret else ""
    headers = {
        "content-type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(event_id, now, body),
    }
    made = (HTTPConnection if is_plain else HTTPSConnection)(host, parts.port)
    reached = socket.create_connection((made.host, made.port), hook.timeout_seconds)
    with closing(reached), closing(made):
        _check_address(hook, host, reached.getpeername()[0])
        made.sock = reached
        if not is_plain:
            context = ssl.create_default_context()
            made.sock = context.wrap_socket(reached, server_hostname=host)
        # A server that sends a byte now and then would never be silent for long enough.
        timer = threading.Timer(hook.timeout_seconds, _cut_off, [made.sock])
        timer.start()
        try:
            path = f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}"
            made.request("POST", path, body.encode(), headers)
            return made.getresponse().status
        except (OSError, HTTPException) as error:
            if datetime.now(UTC) >= now + timedelta(seconds=hook.timeout_seconds):
                raise TimeoutError("it took too long") from error
            raise
        finally:
            timer.cancel()


def _cut_off(reached: socket.socket) -> None:
    with suppress(OSError):  # it has ended by itself
        reached.shutdown(socket.SHUT_RDWR)


def _check_address(hook: WebhookSettings, host: str, reached: str) -> None:
    """Check the address that a name led to, before anything is sent there.

    Raises:
        OSError: it is in a private network, and the settings do not name the host.
    """
    from reconciler.settings import LOOPBACK_NAMES

    address = ip_address(reached)
    if address in _NAT64:
        address = IPv4Address(int(address) & 0xFFFFFFFF)
    for embedded in ("ipv4_mapped", "sixtofour"):
        address = getattr(address, embedded, None) or address
    is_own = address.is_loopback and host in LOOPBACK_NAMES
    if not (address.is_global or is_own or host in hook.private_hosts):
        raise OSError(
            f"{host} has the private address {address}; if it is yours, name it in private_hosts"
        )
