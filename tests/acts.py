"""What is done to a memory that a process may be killed in the middle of, besides writing notes.

Each act says the ids of what it made, one after another, each after the call returned. They are for
the processes of ``worker`` and ``storage_crasher``; what has to hold afterwards is in their tests.
"""

from __future__ import annotations

import json
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
from tests.engines import EngineUnderTest
from tests.fuzz.bench import check_ledger
from tests.http_api import serving_api
from tests.mcp_server import granted
from tests.operator_page import Browser
from tests.whole_graph import links_of, nodes_of

__all__ = ["ACTS", "check", "made", "opened", "prepare"]

AGENT = "crm"
RENTED_AND_BOUGHT = ("Rents a house from Tom Meyer.", "Bought a new house.")
NOT_JUDGED = ("Likes short calls.", "She likes short calls best.", "Short calls suit her.")
OTHERS = ("Plays the cello.", "Lives in Delhi.", "Has a dog called Rex.")
"""What is known of the second record of the person: said of both, contradicted, and new."""

MOVED = ("ABOUT", "FOR", "WITH", "CONCERNS")
"""The links of a contact that a merge moves."""


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
    other = memory.contact(AGENT, second(contact_id))
    other.note(OTHERS[0])
    other.note(OTHERS[1], attribute="city", value="Delhi")
    other.note(OTHERS[2])
    other.note("Collects old stamps.", source_kind="tool_output")
    other.submit_session("call-7", [{"role": "user", "content": "I live in Goa."}])
    other.task("trip", goal="Book a trip.")


def second(contact_id: str) -> str:
    """The id of the person's second record."""
    return f"{contact_id}-2"


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


def merge(memory: Memory, contact_id: str, folder: Path) -> Iterator[str]:
    """An operator says that two contacts are one, and again, over a third id."""
    crm = memory.agent(AGENT)
    yield crm.merge_contacts(contact_id, second(contact_id), by="anna").decision_id
    yield memory.contact(AGENT, second(contact_id)).note("Sings in a choir.").decision_id
    yield memory.contact(AGENT, f"{contact_id}-3").note("Keeps bees.").decision_id
    yield crm.merge_contacts(f"{contact_id}-3", contact_id, by="anna").decision_id


def rename(memory: Memory, contact_id: str, folder: Path) -> Iterator[str]:
    """A contact gets another id, and another."""
    crm = memory.agent(AGENT)
    for old, new in (("2", "a"), ("a", "b"), ("b", "c")):
        renamed = crm.rename_contact(f"{contact_id}-{old}", f"{contact_id}-{new}", by="anna")
        yield renamed.decision_id


def split(memory: Memory, contact_id: str, folder: Path) -> Iterator[str]:
    """An operator merges two contacts, and takes it back, again and again."""
    crm = memory.agent(AGENT)
    for _ in range(3):
        yield crm.merge_contacts(contact_id, second(contact_id), by="anna").decision_id
        yield crm.split_contacts(contact_id, second(contact_id), by="anna").decision_id


ACTS: Mapping[str, Callable[[Memory, str, Path], Iterator[str]]] = {
    "relate": relate,
    "rejudge": rejudge,
    "settle": settle,
    "merge": merge,
    "rename": rename,
    "split": split,
}


def made(memory: Memory, contact_id: str) -> set[str]:
    """The ids of all decisions about the person, and of the jobs."""
    ids: set[str] = set()
    for each in (contact_id, second(contact_id), f"{contact_id}-3"):
        about = memory.contact(AGENT, each)
        ids |= {one.decision_id for one in about.decisions(limit=1000)}
        ids |= {one.job_id for one in about.jobs(limit=1000)}
    return ids


def check(engine: EngineUnderTest, contact_id: str, known: set[str], told: set[str]) -> None:
    """All that was answered is there, at most one thing beside it, and no half of anything."""
    with opened(engine.settings_arguments) as memory:
        found = made(memory, contact_id)
        other = memory.contact(AGENT, second(contact_id))
        at, decided = other.scope.contact_id, [*memory.contact(AGENT, contact_id).all_decisions()]
        merges = {each.decision_id for each in decided if each.action is Action.MERGE}
        if at in (contact_id, second(contact_id)):
            left = merges.difference(*(each.changes.decision_ids for each in decided))
            assert bool(left) is (at == contact_id)
        facts = {fact.text: fact for chain in other.history() for fact in chain.facts}
        assert {*OTHERS} <= facts.keys()
        assert {each.scope.contact_id for each in other.all_decisions()} == {at}
        assert other.jobs()
        assert [task.task_id for task in other.tasks()] == ["trip"]
    assert known | told <= found
    assert len(found) <= len(known) + len(told) + 1
    nodes, links = nodes_of(engine), links_of(engine)
    check_ledger(nodes, links)
    versions = {
        key: json.loads(held["record"])["version"]
        for (label, key), held in nodes.items()
        if label == "Decision"
    }
    joining = [
        versions[key]
        for (label, key), held in nodes.items()
        if label == "Decision" and held["action"] in ("MERGE", "REVERT")
    ]
    contacts = {
        held["contact_id"]: held for (label, _), held in nodes.items() if label == "Contact"
    }
    for each, held in contacts.items():
        key = held["contact_key"]
        own = [versions[start] for type_, start, end, _ in links if (type_, end) == ("FOR", key)]
        assert held["version"] in [max(own, default=0), *joining], f"{each} has another version"
        assert held["version"] >= max(own, default=0), f"{each} is behind its decisions"
        if held.get("absorbed_into"):
            left = [link for link in links if link[0] in MOVED and link[2] == key]
            assert left == [], f"{each} is merged, and still has {left}"
        else:
            merged = {one for one, of in contacts.items() if of.get("absorbed_into") == each}
            assert merged == {*(held.get("absorbed") or ())}
