"""The commands about changes: list and follow them, and send a webhook's dead letters again."""

from __future__ import annotations

import sys

from reconciler import ops
from reconciler.entrypoints.options import Agent, AsJson, Limit, Tenant, reading, show
from reconciler.entrypoints.rendering import lines, record_panel, terminal
from reconciler.entrypoints.serving import stop_signals
from reconciler.memory import Memory
from reconciler.serve.wording import json_text

_POLL_SECONDS = 1.0


def changes(
    agent: Agent,
    after: str | None = None,
    limit: Limit = 50,
    follow: bool = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """List every decision and erasure of an agent, in one order; with --json, one line each.

    Options:
        after: the cursor of the last change that was read; default: begin with the first.
        follow: go on with all further changes, until SIGTERM or Ctrl-C.
    """
    with stop_signals() as asked, reading(agent, None, tenant) as memory:
        while asked.number is None:
            some = memory.agent(agent, tenant=tenant).changes(after=after, limit=limit)
            for change in some:
                after = change.cursor
                if as_json:
                    sys.stdout.write(json_text(change) + "\n")
                    sys.stdout.flush()
                else:
                    terminal().print(record_panel(change, change.decision_id))
            if not follow or (not some and asked.wait(_POLL_SECONDS)):
                break


def resend(name: str, as_json: AsJson = False) -> None:
    """Send a webhook's dead letters again; exit code 1 if one was not taken.

    Options:
        name: the webhook's name in the settings.
    """
    with Memory.open(must_exist=True) as memory:
        left = ops.resend(memory, name)
    told = [f"{each.event_id}: {each.error}" for each in left]
    show(as_json, left, lambda _: lines(*told or ["All were taken."]))
    if left:
        sys.exit(1)


COMMANDS = {"changes": changes, "resend": resend}
"""The commands of this module, by name."""
