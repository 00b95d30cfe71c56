"""The webhook store: how far each webhook has got, and who may send to it. Decides nothing."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from reconciler.frozen import frozen, in_order
from reconciler.ports.graph import Graph
from reconciler.service.stores.rows import Queries, adapter_of


@frozen
class DeadLetter:
    """An event that was not taken after all attempts.

    Attributes:
        event_id: the ``webhook-id`` that it was sent under.
        agent_key: the agent that it is about.
        body: what was sent.
        at: the last attempt (UTC).
        error: why that failed.
    """

    event_id: str
    agent_key: str
    body: str
    at: datetime
    error: str


@frozen
class WebhookState:
    """How far a webhook has got.

    Attributes:
        cursors: the cursor of the last change that was sent, by the agent's key.
        digests: when it was last looked whether something waits, by the agent's key (UTC).
        attempts: how often the event that was tried last was tried.
        tried_id: that event.
        due_at: not before this time it is tried again (UTC); None for now.
        error: why the last attempt failed; None after one that succeeded.
        dead: the events that were given up.
    """

    cursors: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, datetime] = field(default_factory=dict)
    attempts: int = 0
    tried_id: str = ""
    due_at: datetime | None = None
    error: str | None = None
    dead: tuple[DeadLetter, ...] = ()


_STATES = adapter_of(WebhookState)


@in_order
class WebhookStore(Queries):
    """The state of each webhook, by its name in the settings.

    Invariant: of all processes only the holder of a lease writes a state.
    """

    graph: Graph
    lease_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def lease(self, name: str, now: datetime, until: datetime) -> WebhookState | None:
        """Take a webhook until then; None if another process has it."""
        given = {"lease_id": self.lease_id, "now": now, "until": until}
        rows = self.rows("lease_webhook", name=name, **given)
        return _STATES.validate_json(rows[0]["state"] or "{}") if rows else None

    def keep(self, name: str, state: WebhookState, until: datetime) -> bool:
        """Write a state, and keep the webhook until then; False if another process has it now."""
        kept = _STATES.dump_json(state).decode()
        given = {"lease_id": self.lease_id, "state": kept, "until": until}
        return bool(self.rows("keep_webhook", name=name, **given))

    def all(self) -> dict[str, WebhookState]:
        """Return the state of each webhook that was sent to."""
        rows = self.rows("list_webhooks")
        return {row["name"]: _STATES.validate_json(row["state"] or "{}") for row in rows}
