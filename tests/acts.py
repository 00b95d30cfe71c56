"""What is done to a memory that a process may be killed in the middle of, besides writing notes.

Each act says the ids of what it made, one after another, each after the call returned. They are for
the processes of ``worker`` and ``storage_crasher``; what has to hold afterwards is in their tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2

from reconciler import Memory, load_settings
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour, handle_of
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.errors import ArbiterUnavailableError
from reconciler.testing import HashingEmbedder
from tests.http_api import serving_api
from tests.mcp_server import granted
from tests.operator_page import Browser

__all__ = ["ACTS", "made", "opened", "prepare"]

AGENT = "crm"
RENTED_AND_BOUGHT = ("Rents a house from Tom Meyer.", "Bought a new house.")
NOT_JUDGED = ("Likes short calls.", "She likes short calls best.", "Short calls suit her.")


class Judge:
    """Away at first; once it is back, each note replaces the first fact that it is shown."""

    name = "scripted/arbiter"

    def __init__(self) -> None:
        self.is_away = True

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        if self.is_away:
            raise ArbiterUnavailableError("no answer within 10 s")
        return Judgement(
            reasoning="Read later.", relation=Relation.REPLACES, target=1, action=Action.UPDATE
        )

    def close(self) -> None:
        """Nothing to close."""


JUDGE = Judge()
"""The judge of this process; it is back for ``rejudge``."""


def opened(settings: Mapping[str, Any]) -> Memory:
    """A memory with the judge."""
    given = load_settings(**settings, arbiter={"reach": 0.4})
    return Memory.open(given, embedder=HashingEmbedder(16), arbiter=JUDGE)


def prepare(memory: Memory, contact_id: str) -> None:
    """Tell the memory what the acts need: facts, a question, a dispute, and notes not judged."""
    about = memory.contact(AGENT, contact_id)
    for text in (*RENTED_AND_BOUGHT, *NOT_JUDGED, "Plays the cello."):
        about.note(text)
    about.note("Prefers window seats.", source_kind="tool_output")
    about.note("Lives in Pune.", attribute="city", value="Pune")
    about.note("Lives in Goa.", attribute="city", value="Goa", source_kind="operator")


def relate(memory: Memory, contact_id: str, folder: Path) -> Iterator[str]:
    """An agent's model says of facts that they are replaced, over, repeated, or both hold."""
    tools = memory.agent_tools(AGENT, contact_id, session_id="chat-1")

    def called(name: str, **sent: Any) -> str:
        reply = tools.call(name, sent)
        assert reply.decision is not None, reply.text
        return reply.decision.decision_id

    tools.call("recall_contact", {})  # which shows the handles
    about = memory.contact(AGENT, contact_id)
    texts = {fact.text: fact.fact_id for chain in about.history() for fact in chain.facts}
    handles = {text: handle_of(fact_id) for text, fact_id in texts.items()}
    flat, house = (handles[text] for text in RENTED_AND_BOUGHT)
    yield called("relate_contact_note", note=house, replaces=[flat])
    yield called(
        "add_contact_note",
        text="Plays the flute now.",
        source_kind="user_explicit",
        replaces=[handles["Plays the cello."]],
    )


def rejudge(memory: Memory, contact_id: str, folder: Path) -> Iterator[str]:
    """A judge that was away is asked later."""
    JUDGE.is_away = False
    for each in memory.contact(AGENT, contact_id).rejudge():
        if each.amendment is not None:
            yield each.amendment.decision_id


def settle(memory: Memory, contact_id: str, folder: Path) -> Iterator[str]:
    """A client of the API notes and settles, and a person on the page goes on."""
    with ExitStack() as stack:
        running = stack.enter_context(serving_api(memory, folder))
        operator = granted("operator", name="anna")
        client = stack.enter_context(running.client(operator))
        browser = stack.enter_context(Browser(running.url))
        key = dict(browser.log_in(running.token(operator)).form("/logout").fields)["form_key"]
        at = f"/v1/agents/{AGENT}/contacts/{contact_id}"

        def asked(path: str, **body: Any) -> Any:
            answer = client.post(f"{at}/{path}", json=body)
            assert answer.is_success, answer.text
            return answer.json()

        def sent(path: str, **fields: str) -> str:
            given = {"agent": AGENT, "contact": contact_id, "form_key": key, **fields}
            answer = browser.client.post(path, data=given, follow_redirects=False)
            assert answer.status_code == 303, answer.text
            return httpx2.URL(answer.headers["location"]).params["done"]

        noted = asked("notes", text="Keeps bees.")
        yield noted["decision_id"]
        message = {"role": "user", "content": "I keep two hives."}
        yield asked("sessions", session_id="call-1", messages=[message])["job_id"]
        [held] = [each for each in client.get(f"{at}/pending").json()["items"] if "note" in each]
        yield asked(f"decisions/{held['decision_id']}/confirm", answered_by="contact")[
            "decision_id"
        ]
        fact_id = noted["fact_id"]
        yield asked("amendments", text="Keeps wasps.", fact_id=fact_id, reason="Heard wrong.")[
            "decision_id"
        ]
        [dispute] = client.get(f"{at}/disputes").json()["items"]
        sides = [each["fact_id"] for each in dispute["facts"]]
        neither = sent("/settle", side=sides, keep="neither")  # type: ignore[arg-type]
        yield neither
        yield sent("/undo", decision=neither)
        yield sent("/settle", side=sides, keep=sides[0], answered_by="contact")  # type: ignore[arg-type]
        ended = sent("/end", fact=sides[0], reason="Moved away.")
        yield ended
        yield sent("/undo", decision=ended)


ACTS: Mapping[str, Callable[[Memory, str, Path], Iterator[str]]] = {
    "relate": relate,
    "rejudge": rejudge,
    "settle": settle,
}


def made(memory: Memory, contact_id: str) -> set[str]:
    """The ids of all decisions about a contact, and of the jobs."""
    about = memory.contact(AGENT, contact_id)
    decisions = {each.decision_id for each in about.decisions(limit=1000)}
    return decisions | {each.job_id for each in about.jobs(limit=1000)}
