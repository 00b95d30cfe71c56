"""Processes that move a store to another model until they are killed, or write with the old one.

Here: what such a process does. Never here: what has to hold afterwards.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from reconciler import Memory
from reconciler.errors import SchemaError
from reconciler.ops.store_moves import opened_reembedding
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder

__all__ = ["NEW", "OLD", "SEED", "move_on", "write_and_recall", "write_on"]

OLD, NEW = HashingEmbedder(16), HashingEmbedder(24)
BREATH_SECONDS = 0.05
"""Between two notes of a writer: without any pause no switch finds its moment, as documented."""
SEED = {"reconcile": {"profile": "seed"}}


def move_on(told: Connection, arguments: dict[str, Any]) -> None:
    """Move the store to where it is going, or else to the other model; say that, and each batch."""
    with opened_reembedding(load_settings(**arguments)) as reembedding:
        found = reembedding.status()
        wanted = found.next_model or (OLD if found.model == NEW.model_id else NEW).model_id
        told.send("moving")
        reembedding.run(
            NEW if wanted == NEW.model_id else OLD,
            batch_size=2,
            on_progress=lambda *_: told.send("embedding"),
        )
        told.send("moved")


def write_on(told: Connection, arguments: dict[str, Any], writer: int) -> None:
    """Write with the old model until that is refused, saying each text that was kept."""
    with Memory.open(embedder=OLD, **SEED, **arguments) as memory:
        write_and_recall(memory, writer, told.send)


def write_and_recall(memory: Memory, writer: int, say: Callable[[Any], None]) -> None:
    """Write about a contact of all writers', one of its own and one that is new each time."""
    for number in itertools.count():
        time.sleep(BREATH_SECONDS)
        contact_id = ("shared", f"own-{writer}", f"new-{writer}-{number}")[number % 3]
        text = f"Owns item{writer}x{number}, colour{number % 7}."
        try:
            decision = memory.add_contact_note("crm", contact_id, text)
            say(("kept", decision.fact_id, text))
            found = memory.contact("crm", contact_id).recall(text)
            if decision.action != "NOOP" and text not in [each.fact.text for each in found]:
                say(("missed", contact_id, text))
        except SchemaError as error:
            say(("refused", str(error), ""))
            return
