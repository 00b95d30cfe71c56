"""A small life in a store, told to the package as it was at an older schema version.

``make.py`` runs it with that version on the path: ``life.py VERSION '{"graph": …}'``. Nothing here
may use what an older version lacks, unless it asks for the version.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reconciler import Memory
from reconciler.testing import HashingEmbedder

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


class Life:
    """Notes about two contacts, each a day after the one before."""

    def __init__(self, memory: Any, version: int) -> None:
        self._memory = memory
        self._version = version
        self._days = 0

    def say(self, text: str, contact: str = "alice", **given: Any) -> Any:
        self._days += 1
        said_at = NOON + timedelta(days=self._days)
        return self._memory.add_contact_note("crm", contact, text, said_at=said_at, **given)

    def live(self) -> None:
        slot = {"attribute": "city", "value": "Pune"} if self._version > 1 else {}
        self.say("Lives in Pune.", **slot)
        self.say("lives in Pune", **slot)
        self.say("Keeps two cats.", idempotency_key="k1")
        self.say("Likes tea.", contact="bob")
        if self._version > 1:
            self.say("Lives in Goa.", attribute="city", value="Goa")
            mumbai = {"attribute": "city", "value": "Mumbai", "source_kind": "operator"}
            self.say("Lives in Mumbai.", **mumbai)
        if self._version > 2:
            self._be_gated()
        if self._version > 3:
            self._talk()
        if self._version > 8:
            self._repeat()

    def _be_gated(self) -> None:
        held = self.say("Is diabetic.")
        self.say("Thanks a lot!")
        self.say("Was bankrupt once.")
        ended = self.say("Drives a lorry.").fact_id
        by = {"by" if self._version > 7 else "revoked_by": "dana"}
        self._memory.revoke("crm", "alice", ended, reason="A mix-up.", **by)
        whose = ("crm", "alice") if self._version > 3 else ()
        self._memory.confirm(*whose, held.decision_id, "contact")

    def _talk(self) -> None:
        from reconciler import Turn

        for contact, text in (
            ("alice", "Remember that I only take calls after 5 pm."),
            ("bob", "Please remember my dog is called Rex."),
        ):
            turn = Turn(role="contact", text=text)
            self._memory.submit_session("crm", contact, f"chat-{contact}", [turn])
            if contact == "alice":
                self._memory.drain()

    def _repeat(self) -> None:
        said = [self.say("Plays the cello.") for _ in range(5)]
        self._memory.revert("crm", "alice", said[-1].decision_id, by="dana", reason="A mix-up.")


if __name__ == "__main__":
    version, given = int(sys.argv[1]), json.loads(sys.argv[2])
    if "embedded_path" in given:
        given["embedded_path"] = Path(given["embedded_path"])
    with Memory.open(embedder=HashingEmbedder(16), **given) as memory:
        Life(memory, version).live()
