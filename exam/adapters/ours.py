"""Graph Memory Reconciler on its embedded engine, by the live door, with default settings."""

from __future__ import annotations

import json
import re
import urllib.request
import uuid
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from side import serve

from reconciler import Memory, as_prompt, load_settings

AGENT = "exam"
_READS = (
    "You answer a colleague's question about a contact in one short sentence, from the facts below "
    "alone, as they hold now. If they do not tell, say that you do not know."
)


class Ours:
    def __init__(self, config: dict[str, Any]) -> None:
        arbiter = config.get("arbiter", {})
        if "provider" in arbiter:
            arbiter |= {"base_url": config["model_url"]}
        path = Path(config["folder"]) / "memory.lbug"
        self._memory = Memory.open(
            load_settings(graph="embedded", embedded_path=path, arbiter=arbiter)
        )
        self._told: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
        self._reader_url = f"{config['model_url']}/chat/completions" if config.get("reads") else ""

    def tell(self, contact: str, person: str, text: str, at: datetime) -> None:
        session_id = f"{contact}-{at:%Y-%m-%d}-{uuid.uuid4()}"  # a conversation each
        decision = self._memory.contact(AGENT, contact).note(
            text, said_at=at, session_id=session_id, contact_name=person
        )
        self._told[contact].append((text, decision.fact_id))

    def live(self, contact: str) -> Iterator[tuple[str, str, str]]:
        """By the fact that a note's decision names; a restatement's link leads to the newer one."""
        known, told = self._memory.contact(AGENT, contact), self._told[contact]
        chains = known.history()
        facts = {fact.fact_id: fact for chain in chains for fact in chain.facts}
        links = [link for chain in chains for link in chain.supersessions if link.is_restatement]
        newer = {link.old_id: link.new_id for link in links}
        disputed = {side.fact_id for dispute in known.disputes() for side in dispute.facts}
        first_told = {fact_id: text for text, fact_id in reversed(told)}
        for text, fact_id in told:
            while fact_id in newer:
                fact_id = newer[fact_id]
            if fact_id in facts and not facts[fact_id].has_ended:
                yield text, "doubt" if fact_id in disputed else "true", first_told[fact_id]

    def recall(self, contact: str, question: str, limit: int) -> list[tuple[str, str]]:
        found = self._memory.contact(AGENT, contact).recall(question, limit=limit)
        if self._reader_url:
            return [(self._read(question, as_prompt(found)), "true")]
        return [(hit.fact.text, _state(hit)) for hit in found]

    def _read(self, question: str, facts: str) -> str:
        """What the agent's model answers when it sees the recalled facts."""
        asked = [
            {"role": "system", "content": f"{_READS}\n\n{facts}"},
            {"role": "user", "content": question},
        ]
        body = json.dumps({"model": "recorded", "messages": asked}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._reader_url, body, headers)
        with urllib.request.urlopen(request) as given:
            answer: str = json.loads(given.read())["choices"][0]["message"]["content"]
        return answer

    def erase(self, contact: str, about: str) -> None:
        """A fact by its id; what was never kept as a fact goes with its conversation."""
        known = self._memory.contact(AGENT, contact)
        why = {"by": "contact", "reason": "The contact wishes it."}
        for hit in list(known.recall(about, limit=1)):
            known.forget(fact_id=hit.fact.fact_id, **why)
        for each in known.decisions(disposal="consent"):
            if _words(about) & _words(each.note.text):
                known.forget(session_id=each.note.session_id, **why)

    def close(self) -> None:
        self._memory.close()


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def _state(hit: Any) -> str:
    if hit.fact.state != "live":
        return "over"
    return "doubt" if hit.disputed_with or hit.is_upcoming else "true"


serve(Ours)
