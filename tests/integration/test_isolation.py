"""No scope reaches into another: every public call, aimed at another owner's data.

The tables name every public method of a memory and of its parts, and every tool of an agent or an
MCP client; one that is missing fails a test. The attacker is another tenant, another agent, or
another contact of the same agent, and knows the ids of the victim's facts, decisions, jobs,
sessions, tasks and episodes, or guesses them.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import itertools
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reconciler import AsyncMemory, Memory, Scope, Turn, ops
from reconciler.async_memory import AsyncAgentMemory, AsyncContactMemory
from reconciler.bound_memory import AgentMemory, ContactMemory
from reconciler.config_files import load_tools
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Note
from reconciler.errors import InvalidRequestError
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.mcp_server.desk import Desk
from reconciler.service.tasks.memory_context import MemoryContext
from reconciler.service.tasks.task_memory import TaskMemory
from reconciler.service.tools.agent_tools import AgentTools
from reconciler.service.writing.doors import as_candidate
from reconciler.testing import HashingEmbedder
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest
from tests.ops_calls import OPS, call_of, ops_of
from tests.submissions import propose_to
from tests.whole_graph import links_of, nodes_of

VICTIM = Scope("acme", "crm", "ada")
ATTACKERS = {
    "another tenant": Scope("globex", "crm", "ada"),
    "another agent": Scope("acme", "desk", "ada"),
    "another contact": Scope("acme", "crm", "bob"),
}
MARK = "Xanthippe"
"""Stands in everything that is known of the victim, and nowhere else."""

KEY = "ticket-1"
NOBODYS = "00000000-0000-4000-8000-000000000000"

REFUSED, OWN = "refused", "own"
"""What comes of an id: the call is refused, or makes or finds the caller's own thing under it."""

SCOPED, OF_AGENT, OF_TENANT, WHOLE = "scoped", "of agent", "of tenant", "whole"
"""Without an id: what is asked of a contact, of all contacts of an agent or of a tenant, or of the
whole store by its operator."""

BOTH = (
    *("all_decisions", "archive", "check_known", "decisions", "disputes", "erasures", "expiring"),
    *("export", "health", "import_from", "jobs", "pending", "recall_about", "refusals", "rejudge"),
    *("report", "tasks"),
)
"""What an agent's memory has as well as a contact's."""

CALLS: Mapping[type, Mapping[str, tuple[str, ...]]] = {
    Memory: {
        **dict.fromkeys(("add_contact_note", "agent_tools"), (OWN, "session_id")),
        **dict.fromkeys(("contact", "import_notes"), (SCOPED,)),
        **dict.fromkeys(("account", "agent"), (OF_AGENT,)),
        **dict.fromkeys(("erasures", "export", "jobs"), (OF_TENANT,)),
        **dict.fromkeys(
            (
                *("backup", "cancel_reembed", "close", "describe", "drain", "finish_erasures"),
                *("agents", "model_move", "open", "queue", "reembed", "resend"),
                *("start_worker", "stop_workers", "warm_up", "worker"),
            ),
            (WHOLE,),
        ),
    },
    AgentMemory: {
        **dict.fromkeys((*BOTH, "check_policy", "contact", "contacts", "find"), (OF_AGENT,)),
        **dict.fromkeys(("changes", "digest"), (OF_AGENT,)),
        "submit_session": (OF_AGENT, "session_id"),
        **dict.fromkeys(("merge_contacts", "split_contacts"), (OF_AGENT, "keep")),
        "rename_contact": (OF_AGENT,),
    },
    ContactMemory: {
        **dict.fromkeys(("amend", "evidence", "history"), (REFUSED, "fact_id")),
        **dict.fromkeys(("revoke", "unarchive"), (REFUSED, "fact_id")),
        **dict.fromkeys(
            ("commit", "confirm", "correct", "decision", "explain", "reject", "revert", "withdraw"),
            (REFUSED, "decision_id"),
        ),
        **dict.fromkeys(("job", "retry"), (REFUSED, "job_id")),
        "forget": (REFUSED, "fact_id", "session_id"),
        "resolve": (REFUSED, "keep"),
        "relate": (REFUSED, "fact"),
        "impact": (REFUSED, "fact", "decision_id"),
        "record_answer": (REFUSED, "recall_id"),
        "session": (REFUSED, "session_id"),
        **dict.fromkeys(("note", "submit_session", "tools"), (OWN, "session_id")),
        "task": (OWN, "task_id", "session_id"),
        "propose": (OWN,),
        **dict.fromkeys(
            (*BOTH, "briefing", "context", "digest", "evidence_about", "contact_page", "profile"),
            (SCOPED,),
        ),
        **dict.fromkeys(("check", "recall", "value", "version"), (SCOPED,)),
        **dict.fromkeys(("accounts", "join_account", "leave_account"), (SCOPED,)),
    },
}
"""Every public method of a memory and of its views, and every function of ``ops``: what comes of
it, and the parameters that take an id."""

PARTS: Mapping[type, set[str]] = {
    MemoryContext: {
        *("commit", "deciding", "episodes", "fail", "interrupt", "log_episode", "observed"),
        *("procedures", "propose_durable", "propose_procedure", "propose_reflection", "recall"),
        *("recall_about", "resume", "succeed", "tool_returned"),
    },
    TaskMemory: {"checkpoint", "load", "mark_done", "resume", "set_blocker"},
    AgentTools: {"call", "definitions"},
}
"""The public methods of what a contact's memory hands out, each tried below."""

TOOLS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("add_contact_note", "recall_contact", "hand_over_session"), ()),
    "relate_contact_note": ("note",),
    "check_before_acting": (),  # only if a builder gives it
}
"""Every tool of the MCP server, with the parameters that take an id."""

SCOPE_PARTS = {"agent_id", "contact_id", "tenant"}

GIVEN: Mapping[str, Any] = {
    **dict.fromkeys(("absorb", "absorbed"), "ada"),
    **{"old": "nobody", "new": "nobody-2"},
    "both_hold": ["10000000-0000-4000-8000-000000000000"],
    "account": "acme",
    "by": "olga",
    "text": "Lives in Goa",
    "relation": "same",
    "reference": "reply-7",
    "used": ["10000000-0000-4000-8000-000000000000"],
    "reason": "It has ended.",
    "query": MARK.lower()[:4],
    "about": "city",
    "attribute": "city",
    "name": "Tom",
    "profile": "seed",
    "goal": "Find the cat",
    "turns": [Turn(role="contact", text="I like tea.", name="Bea")],
    "speakers": {"Bea": "contact:bea"},
    "system": "mem0",
    "source": Path(__file__).parents[1] / "peer_exports" / "mem0.json",
}
"""What the methods take beside scope and ids."""

Ids = dict[str, list[str]]


@dataclass(frozen=True)
class World:
    """A memory in which everything that has an id belongs to the victim."""

    engine: EngineUnderTest
    memory: Memory
    ids: Ids
    nodes: dict[tuple[str, str], dict[str, Any]]
    links: list[tuple[Any, ...]]

    def one_of_each_id(self) -> list[str]:
        """An id of each kind, and guesses at that of the key."""
        return [*(values[0] for values in self.ids.values()), *guesses()]

    def with_notes_of(self, scopes: Iterable[Scope]) -> World:
        """The same after each of them added a note, so that there is something to look in."""
        for scope in scopes:
            self.memory.add_contact_note(**of(scope), text="Likes jazz.")
        return replace(self, nodes=nodes_of(self.engine), links=links_of(self.engine))

    def check_unchanged(self, *, own: bool) -> None:
        """What was there is there as it was; where ``own``, others may have made things beside."""
        nodes, links = nodes_of(self.engine), links_of(self.engine)
        assert {key: nodes.get(key) for key in self.nodes} == self.nodes
        assert [link for link in self.links if link not in links] == []
        if not own:
            assert (nodes.keys(), links) == (self.nodes.keys(), self.links)
        victims = {key for label, key in self.nodes if label != "Agent"}
        added = [link for link in links if link not in self.links]
        assert [link for link in added if victims & {link[1], link[2]}] == []


def of(scope: Scope) -> dict[str, str]:
    return {"agent_id": scope.agent_id, "contact_id": scope.contact_id, "tenant": scope.tenant}


def plant(memory: Memory, victim: Scope = VICTIM) -> Ids:
    """One of everything that has an id, each about the victim."""
    whose, now = of(victim), datetime.now(UTC)
    held = memory.add_contact_note(
        **whose, text=f"Prefers {MARK} tea", source_kind="tool_output", idempotency_key=KEY
    )
    note = Note(
        scope=victim, text=f"Works at {MARK}", said_at=now, source_kind=SourceKind.EXTRACTOR
    )
    heard = Evidence(
        episode_id=str(uuid.uuid4()), session_id="call", scope=victim, text=note.text, said_at=now
    )
    admitted = propose_to(
        memory, Candidate(note=note, evidence=(heard,), proposed_by="reader", confidence=0.95)
    )
    city = {"attribute": "city", "value": f"{MARK}ville"}
    added = memory.add_contact_note(**whose, text=f"Lives in {MARK}ville.", **city)
    rival = memory.add_contact_note(
        **whose, text="Lives in Pune.", attribute="city", value="Pune", source_kind="approved_doc"
    )
    job_id = memory.contact(**whose).submit_session(
        session_id="call-17", turns=[Turn(role="contact", text=f"My cat is {MARK}.")]
    )
    memory.contact(**whose).task(task_id="task-9", goal=f"Find {MARK}")
    ids = {
        "decision_id": [each.decision_id for each in (held, admitted, added, rival)],
        "fact_id": [str(added.fact_id), *([str(rival.fact_id)] if rival.fact_id else [])],
        "session_id": ["call-17", "call"],
        "job_id": [job_id],
        "task_id": ["task-9"],
        "episode_id": [heard.episode_id],
        "batch_id": ["msgbatch_17"],
        "recall_id": [memory.contact(**whose).recall().recall_id],
    }
    ids["keep"] = ids["fact"] = ids["note"] = ids["fact_id"]
    return ids


def guesses() -> list[str]:
    """The tries of an attacker who knows scope, key and this package's source."""
    text = f"{VICTIM.contact_key}/{KEY}"
    return [str(uuid.uuid5(uuid.NAMESPACE_URL, text)), hashlib.sha256(text.encode()).hexdigest()]


@pytest.fixture
def world(one_of_each: EngineUnderTest) -> Iterator[World]:
    settings = {**one_of_each.settings_arguments, "life": {"use_flush_seconds": 0.0}}
    with Memory.open(embedder=HashingEmbedder(), **settings) as memory:
        ids = plant(memory)
        yield World(one_of_each, memory, ids, nodes_of(one_of_each), links_of(one_of_each))


def public(kind: type) -> dict[str, inspect.Signature]:
    found = {**dict(inspect.getmembers(kind, callable)), **ops_of(kind)}
    return {name: inspect.signature(found[name]) for name in found if not name.startswith("_")}


def view(memory: Memory, kind: type, scope: Scope) -> Memory | AgentMemory | ContactMemory:
    """The memory, or the view that is bound to that agent or contact."""
    if kind is Memory:
        return memory
    if kind is AgentMemory:
        return memory.agent(scope.agent_id, tenant=scope.tenant)
    return memory.contact(**of(scope))


def ids_taken(signature: inspect.Signature) -> set[str]:
    named = {
        each for each in signature.parameters if each.endswith("_id") or each in ("keep", "fact")
    }
    return named - SCOPE_PARTS


def needed(signature: inspect.Signature) -> dict[str, Any]:
    """What a method cannot do without, beside scope and ids: an attribute beside an id is none."""
    required = [each.name for each in signature.parameters.values() if each.default is each.empty]
    required.append("both_hold")  # a fact is related to something
    return {name: given for name, given in arguments(signature).items() if name in required}


def arguments(signature: inspect.Signature) -> dict[str, Any]:
    """What a method takes beside scope and ids, where it is right."""
    given = {name: GIVEN[name] for name in signature.parameters if name in GIVEN}
    if "contact_name" in signature.parameters:  # one person speaks
        given.pop("speakers", None)
    if "out" in signature.parameters:
        given["out"] = io.BytesIO()
    if "lines" in signature.parameters:
        given["lines"] = [json.dumps({"text": "Likes tea."})]
    return given


def told(call: Callable[..., Any], *about: Any, **given: Any) -> str | None:
    """The answer to a caller who asks for an id; None if the call succeeds."""
    try:
        answer = call(*about, **given)
    except InvalidRequestError as error:
        return f"{type(error).__name__}: {error}"
    answer = list(answer) if inspect.isgenerator(answer) else answer
    assert MARK not in repr(answer), call
    if "out" in given:
        assert MARK not in given["out"].getvalue().decode(), call
    return None


# The tables are whole

every_view = pytest.mark.parametrize("kind", CALLS, ids=lambda kind: kind.__name__)


@every_view
def test_every_method_of_a_memory_is_in_the_table_with_the_ids_that_it_takes(kind: type) -> None:
    found = public(kind)
    assert found.keys() == CALLS[kind].keys()
    taken = {name: ids_taken(each) for name, each in found.items()}
    for name in taken.keys() & {"add_contact_note", "note"}:
        taken[name].add("session_id")  # it comes as a keyword, as all fields of a note do
    assert taken == {name: set(ids) for name, (_, *ids) in CALLS[kind].items()}


def test_a_call_of_a_memory_takes_the_scope_that_it_is_about() -> None:
    wanted = {OF_AGENT: {"agent_id", "tenant"}, OF_TENANT: {"tenant"}, WHOLE: set()}
    for name, signature in public(Memory).items():
        narrowed = {"contact_id"} if name == "jobs" else set()
        expected = wanted.get(CALLS[Memory][name][0], SCOPE_PARTS)
        assert SCOPE_PARTS & signature.parameters.keys() == expected | narrowed, name


def test_a_call_of_a_view_takes_no_scope_beside_its_own() -> None:
    for kind, (name, signature) in itertools.chain(
        itertools.product([AgentMemory], public(AgentMemory).items()),
        itertools.product([ContactMemory], public(ContactMemory).items()),
    ):
        narrows = kind is AgentMemory and name in ("contact", "contacts")
        narrowed = {"contact_id"} if narrows else {"tenant"} if name == "export" else set()
        assert SCOPE_PARTS & signature.parameters.keys() == narrowed, name


@pytest.mark.parametrize("kind", [AgentMemory, ContactMemory])
def test_an_export_of_a_view_takes_no_other_tenant(world: World, kind: type) -> None:
    part = view(world.memory, kind, VICTIM)
    with pytest.raises(InvalidRequestError, match="leave out tenant"):
        ops.export(part, io.BytesIO(), tenant="globex")


def test_the_memorys_own_two_calls_about_a_contact_only_add_whose_it_is() -> None:
    for own, bound in ((Memory.add_contact_note, "note"), (Memory.agent_tools, "tools")):
        whose = {"agent_id", "contact_id", "tenant"}
        taken = inspect.signature(own).parameters.values()
        theirs = inspect.signature(getattr(ContactMemory, bound)).parameters.values()
        assert [each for each in taken if each.name not in whose] == list(theirs)


def test_the_facade_stays_small() -> None:
    assert len([name for name in dir(Memory) if not name.startswith("_")]) <= 25


@every_view
def test_whoever_awaits_takes_the_same(kind: type) -> None:
    awaited = {
        Memory: AsyncMemory,
        AgentMemory: AsyncAgentMemory,
        ContactMemory: AsyncContactMemory,
    }
    made = public(awaited[kind])
    assert made.keys() - {"run"} == CALLS[kind].keys() - {*OPS[kind]}
    for name in made.keys() - {"run"}:
        signature = public(kind)[name]
        assert ids_taken(made[name]) == ids_taken(signature), name
        parts = SCOPE_PARTS & made[name].parameters.keys()
        assert parts == SCOPE_PARTS & signature.parameters.keys(), name


@pytest.mark.parametrize("kind", PARTS, ids=lambda kind: kind.__name__)
def test_every_method_of_what_a_memory_hands_out_is_in_the_table(kind: type) -> None:
    assert public(kind).keys() == PARTS[kind]
    for signature in public(kind).values():
        named = {"subtask_id", "call_id", "message_id"}  # what a call is about, and no contact
        assert ids_taken(signature) <= named, "it is bound to one contact"


def test_every_tool_is_in_the_table_with_the_ids_that_it_takes(world: World) -> None:
    assert load_tools().keys() == TOOLS.keys()
    agents = AccessProfile.AGENT
    grant = Grant(profile=agents, tenant="acme", agent_ids=("crm",), contact_id="ada")
    for tool in Desk(world.memory).tools(grant):
        named = ("note",) if tool["name"] == "relate_contact_note" else ()
        taken = {
            each
            for each in tool["inputSchema"]["properties"]
            if each.endswith("_id") or each in named
        }
        assert taken == set(TOOLS[tool["name"]]), tool["name"]


# No attacker gets in


@ON_ANY_ONE
def test_no_id_of_another_scope_is_answered_otherwise_than_one_that_nobody_has(
    world: World,
) -> None:
    world, attempts, succeeded = world.with_notes_of(ATTACKERS.values()), 0, []
    for name, (kind, *taken) in CALLS[ContactMemory].items():
        if kind != REFUSED:
            continue
        given = needed(public(ContactMemory)[name])
        for parameter, scope in itertools.product(taken, ATTACKERS.values()):
            call = getattr(world.memory.contact(**of(scope)), name)
            unknown = told(call, **given | {parameter: NOBODYS})
            assert NOBODYS in str(unknown), (name, "refuses something else than the id")
            for value in {*world.ids[parameter], *world.one_of_each_id()}:
                attempts += 1
                said = told(call, **given | {parameter: value})
                if said is None or said.replace(value, "ID") != str(unknown).replace(NOBODYS, "ID"):
                    succeeded.append((name, scope, value, said))
    assert succeeded == []
    assert attempts > 300
    world.check_unchanged(own=False)


OF_THE_VICTIM = {
    "another tenant": (),
    "another agent": (OF_TENANT,),
    "another contact": (OF_TENANT, OF_AGENT),
}
"""What is asked of more than the attacker, the victim included, and is for an operator."""


def test_what_is_made_or_asked_in_one_scope_touches_and_tells_nothing_of_another(
    world: World,
) -> None:
    for whose, (kind, calls) in itertools.product(ATTACKERS, CALLS.items()):
        scope, signatures = ATTACKERS[whose], public(kind)
        asked = view(world.memory, kind, scope)
        for name, (comes, *taken) in calls.items():
            if comes in (REFUSED, WHOLE, *OF_THE_VICTIM[whose]) or name == "propose":
                continue
            parameters = signatures[name].parameters
            given = {part: value for part, value in of(scope).items() if part in parameters}
            given |= arguments(signatures[name]) | {each: world.ids[each][0] for each in taken}
            told(call_of(asked, name), **given)
    world.check_unchanged(own=True)


def test_a_contact_is_proposed_nothing_about_another(world: World) -> None:
    note = Note(
        scope=VICTIM,
        text="Likes tea",
        said_at=datetime.now(UTC),
        source_kind=SourceKind.USER_EXPLICIT,
    )
    for scope in ATTACKERS.values():
        attacker = world.memory.contact(**of(scope))
        assert told(attacker.propose, as_candidate(note, "attacker")) is not None
    world.check_unchanged(own=False)


def test_evidence_under_an_id_of_another_is_kept_apart_from_it(world: World) -> None:
    for whose in ATTACKERS:
        scope, now = ATTACKERS[whose], datetime.now(UTC)
        note = Note(scope=scope, text="Likes tea", said_at=now, source_kind=SourceKind.EXTRACTOR)
        for episode_id in world.ids["episode_id"]:
            heard = Evidence(
                episode_id=episode_id,
                session_id="call-17",
                scope=scope,
                text="Likes tea",
                said_at=now,
            )
            told(
                partial(propose_to, world.memory),
                Candidate(note=note, evidence=(heard,), proposed_by="reader", confidence=0.95),
            )
        world.check_unchanged(own=True)


def test_a_task_reaches_no_task_decision_or_episode_of_another(world: World) -> None:
    for whose in ATTACKERS:
        scope = ATTACKERS[whose]
        theirs = world.memory.contact(**of(VICTIM)).decision(
            decision_id=world.ids["decision_id"][1]
        )
        aimed = {"task_id": "task-9", "session_id": "call-17"}
        task = world.memory.contact(**of(scope)).task(**aimed, goal="Take theirs")
        told(task.procedures)
        told(task.recall, MARK, budget_tokens=1000)
        task.observed()
        told(task.recall_about, MARK, budget_tokens=1000)
        task.log_episode(Turn(role="contact", text="Remember that I work at Siemens."))
        task.task_memory.mark_done("subtask")
        task.succeed()
        [mine, *_] = task.propose_durable(task.episodes())
        assert told(task.commit, mine.candidate, theirs) is not None
        world.check_unchanged(own=True)


# Tools


def grants(profile: AccessProfile) -> dict[str, Grant]:
    """What an attacker's client may reach: all contacts of its agent, or its own one."""
    made = {
        whose: Grant(profile=profile, tenant=each.tenant, agent_ids=(each.agent_id,))
        for whose, each in ATTACKERS.items()
    }
    made["another contact"] = Grant(
        profile=profile, tenant="acme", agent_ids=("crm",), contact_id="bob"
    )
    return made


@ON_ANY_ONE
def test_no_tool_reaches_beyond_its_grant(world: World) -> None:
    for whose in ATTACKERS:
        desk, grant = Desk(world.memory), grants(AccessProfile.AGENT)[whose]
        sent = {
            "answered_by": "contact",
            "text": "Likes tea",
            "source_kind": "user_explicit",
            "query": "city",
            "messages": [{"role": "user", "content": "I like tea."}],
        }
        for tool in desk.tools(grant):
            name, known = tool["name"], tool["inputSchema"]["properties"]
            usual = {each: sent[each] for each in known if each in sent}
            values = world.one_of_each_id() if TOOLS[name] else [""]
            for value, (parameter, contact) in itertools.product(
                values, [(each, it) for each in TOOLS[name] or ("",) for it in ("ada", "bob")]
            ):
                given = usual | {parameter: value} if parameter else usual
                reply = desk.call(grant, name, given | {"contact_id": contact})
                assert MARK not in reply.text, name
                is_own = parameter in ("", "session_id")
                assert reply.is_error or is_own, (name, value)
        world.check_unchanged(own=True)


def test_the_tools_of_a_model_reach_no_other_contact(world: World) -> None:
    for whose in ATTACKERS:
        tools = world.memory.agent_tools(**of(ATTACKERS[whose]), session_id="call-17")
        assert all(
            "_id" not in json.dumps(each["input_schema"]) for each in tools.definitions("anthropic")
        )
        sent = {"text": "Likes tea", "source_kind": "user_explicit"}
        for more in ({}, *({name: of(VICTIM)[name]} for name in of(VICTIM))):
            for name, given in (("add_contact_note", sent), ("recall_contact", {"query": MARK})):
                assert MARK not in tools.call(name, given | more).text
        world.check_unchanged(own=True)
