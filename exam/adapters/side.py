"""What every adapter shares: a process that drives one memory system as it is told.

It reads a JSON line ``{"do": name, …}`` from stdin and answers with one on stdout, so that each
system runs in an environment of its own. An adapter imports this file, its own system and what
comes with it, and nothing of the project. An adapter is a class with

* ``__init__(config)``: opens the system on ``config["folder"]``, with the loopback model at
  ``config["model_url"]`` and, for a system that needs it, the server in ``config["neo4j"]``;
* ``tell(contact, person, text, at)``: a note that the contact said; ``at`` is a datetime in UTC;
* ``recall(contact, question, limit)``: gives ``(text, state)`` pairs, the best first; state is
  ``"true"``, ``"doubt"`` or ``"over"``, as the system itself marks what it gives back;
* ``erase(contact, about)``: forgets what the words are about, as the system's documents say;
* ``live(contact)``, if it is there: the told notes that are still held as true, as ``(text, state,
  by)``: state as above; ``by`` is the note whose words carry it now, if the system says that it
  repeats another note or was absorbed by one, else the text itself;
* ``close()``.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import datetime
from typing import Any

__all__ = ["serve"]


def serve(opening: Callable[[dict[str, Any]], Any]) -> None:
    """Open the system that argv describes; answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    logging.disable(logging.WARNING)
    os.dup2(2, 1)  # what a package prints must not come between the answers
    side = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if side is None:
                side = opening(json.loads(sys.argv[1]))
            given = _DO[asked.pop("do")](side, **asked)
        except Exception as error:  # noqa: BLE001 (whatever a system raises is a result)
            traceback.print_exc()
            given = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(given) + "\n")
    if side is not None:
        side.close()


def _tell(side: Any, contact: str, person: str, text: str, at: str) -> dict[str, Any]:
    side.tell(contact, person, text, datetime.fromisoformat(at))
    return {}


def _tell_together(side: Any, notes: list[dict[str, str]]) -> dict[str, Any]:
    """A thread each, let go at once, or the system's own way to do it."""
    if hasattr(side, "tell_together"):
        side.tell_together(notes)
        return {}
    ready, errors = threading.Barrier(len(notes)), []

    def go(note: dict[str, str]) -> None:
        ready.wait()
        try:
            _tell(side, **note)
        except Exception as error:  # noqa: BLE001 (a failed writer is a result)
            errors.append(f"{type(error).__name__}: {error}"[:300])

    threads = [threading.Thread(target=go, args=(note,)) for note in notes]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return {"error": errors[0]} if errors else {}


def _recall(side: Any, contact: str, question: str, limit: int) -> dict[str, Any]:
    found = side.recall(contact, question, limit)
    return {"answers": [{"text": text, "state": state} for text, state in found]}


def _erase(side: Any, contact: str, about: str) -> dict[str, Any]:
    side.erase(contact, about)
    return {}


def _live(side: Any, contact: str) -> dict[str, Any]:
    if not hasattr(side, "live"):
        return {"live": None}
    held = side.live(contact)
    return {"live": [{"text": text, "state": state, "by": by} for text, state, by in held]}


def _ready(_: Any) -> dict[str, Any]:
    return {}


_DO: dict[str, Callable[..., dict[str, Any]]] = {
    "ready": _ready,
    "tell": _tell,
    "tell_together": _tell_together,
    "recall": _recall,
    "erase": _erase,
    "live": _live,
}
