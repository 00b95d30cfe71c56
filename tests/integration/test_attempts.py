"""Ten thousand attempts to reach what is another's: not one succeeds.

The tables of ``test_isolation`` say what there is to call and which ids it takes. Here everything
is called by everybody: by scopes that differ from the victim's in one letter, in case, in a
character that looks the same, or in where one part ends and the next begins; with the victim's real
ids, with some that are nearly theirs, and with guesses. An attempt succeeds if its answer differs
from that about an unused id, if it tells a word that is known of the victim, or if
anything of the victim's is another afterwards. ``make test`` takes a sample; ``make faults`` takes
all of them, on every engine, and prints how many that were.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client
from mcp_types import TextContent
from typer.main import get_command

from reconciler import AsyncMemory, Memory, Scope
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.bound_memory import ContactMemory
from reconciler.entrypoints.cli import app, main
from reconciler.errors import InvalidRequestError, InvalidScopeError
from reconciler.integrations.langgraph import ReconcilerStore, contact_namespace
from reconciler.serve.access.grants import AccessProfile, Grant
from reconciler.serve.http_api.app import api
from reconciler.serve.mcp_server.desk import Desk
from reconciler.serve.operator_page.acts import FORMS, READS
from reconciler.serve.operator_page.views import PAGES
from reconciler.testing import HashingEmbedder
from tests import faults
from tests.command_line import environment_of
from tests.conftest import ON_ANY_ONE
from tests.engines import EngineUnderTest
from tests.http_api import serving_api
from tests.integration.test_isolation import (
    CALLS,
    KEY,
    MARK,
    NOBODYS,
    OF_AGENT,
    OF_TENANT,
    OWN,
    REFUSED,
    TOOLS,
    VICTIM,
    WHOLE,
    World,
    arguments,
    guesses,
    needed,
    of,
    plant,
    public,
    told,
    view,
)
from tests.mcp_server import serving
from tests.operator_page import Browser
from tests.whole_graph import links_of, nodes_of

JOINED = Scope("t/e:u", "a/b:v", "c/d:w")
"""Another victim; its parts hold the characters that join keys, here or elsewhere."""

CONFUSABLE = str.maketrans("aceo", "асео")
ATTEMPTS_MIN = 10_000

EVERYTHING = [
    pytest.param(False, id="a sample"),
    pytest.param(True, id="everything", marks=pytest.mark.faults(only=True)),
]


# Who attacks, and with which ids


def near(part: str) -> list[str]:
    """Ids that a careless comparison takes for the part, or for all parts."""
    return [
        *(part[:-1], part + "x", part.upper(), part.capitalize(), part.translate(CONFUSABLE)),
        *("".join(chr(ord(each) + 0xFEE0) for each in part if "!" <= each <= "~"), part + "\u200d"),
        *(part + "/", part + "%2F", part + "%", f"{part}' OR '1'='1", part + "\\", f"{part} *"),
        *("%", "*", ".*", "_" * len(part), "None", "null"),
    ]


def scopes_near(victim: Scope) -> list[Scope]:
    """All scopes that differ in one part, and all that say the same letters cut elsewhere."""
    parts = (victim.tenant, victim.agent_id, victim.contact_id)
    varied = [
        (*parts[:at], each, *parts[at + 1 :])
        for at, part in enumerate(parts)
        for each in [*near(part), "another", *parts[:at], *parts[at + 1 :]]
    ]
    cut = [each for mark in "/:|" for each in _cuts(mark.join(parts), mark)]
    swapped = list(itertools.permutations(parts))
    made = (_scope(*each) for each in dict.fromkeys([*varied, *cut, *swapped]))
    return [each for each in made if each is not None and each != victim]


def _cuts(text: str, mark: str) -> Iterator[tuple[str, ...]]:
    """Every way to take a joined text for three parts."""
    pieces = text.split(mark)
    for one, other in itertools.combinations(range(1, len(pieces)), 2):
        cut = (pieces[:one], pieces[one:other], pieces[other:])
        yield tuple(mark.join(each) for each in cut)


def _scope(*parts: str) -> Scope | None:
    try:
        return Scope(*parts)
    except InvalidScopeError:
        return None


def tried(world: World) -> list[str]:
    """Real ids of every kind and of both victims, what is nearly one, and guesses."""
    real = list(dict.fromkeys(each for values in world.ids.values() for each in values))
    nearly = [each for value in real for each in (value[:-1], value.upper(), f"{value}%")]
    with_scope = [f"{VICTIM.contact_key}/{value}" for value in real]
    return list(dict.fromkeys([*real, *nearly, *with_scope, *guesses(), "1", "%", "*"]))


# Counting


class Attempts:
    """Counts what was tried, and keeps what succeeded."""

    def __init__(self) -> None:
        self.made: Counter[str] = Counter()
        self.succeeded: list[tuple[str, ...]] = []

    def refused(
        self, way: str, said: str | None, unknown: str | None, value: str, *about: str
    ) -> None:
        """An attempt that has to be answered like one with an unused id."""
        self.made[way] += 1
        if said is None or said not in answers(unknown, value) or MARK in said:
            self.succeeded.append((way, value, *about, str(said)))

    def silent(self, way: str, said: str, *about: str) -> None:
        """An attempt that may do something of its own, and must tell nothing of the victim."""
        self.made[way] += 1
        if MARK in said:
            self.succeeded.append((way, *about, said))

    def check(self) -> None:
        """None succeeded; how many there were is said at the end of the run."""
        assert self.succeeded == []
        faults.ATTEMPTS.update(self.made)


def answers(unknown: str | None, value: str) -> set[str]:
    """What may be said about an id: the answer about an unused one, with it in its place."""
    said = str(unknown)
    return {said.replace(NOBODYS, value), said.replace(NOBODYS, repr(value)[1:-1])}


@pytest.fixture
def attempts() -> Iterator[Attempts]:
    """Counted, and none of them may have succeeded."""
    counted = Attempts()
    yield counted
    counted.check()


def chosen(all_of_them: Sequence[Any], *, everything: bool, few: int) -> list[Any]:
    """All, or a few, always the same ones."""
    if everything or len(all_of_them) <= few:
        return list(all_of_them)
    return random.Random(few).sample(list(all_of_them), few)


# The store that is attacked


@pytest.fixture
def stored(one_of_each: EngineUnderTest) -> World:
    """A store with the victims', closed; the attacker opens it."""
    with opened(one_of_each) as memory:
        planted = [plant(memory, each) for each in (VICTIM, JOINED)]
        ids = {kind: [*planted[0][kind], *planted[1][kind]] for kind in planted[0]}
        return World(one_of_each, memory, ids, nodes_of(one_of_each), links_of(one_of_each))


@pytest.fixture
def world(stored: World) -> Iterator[World]:
    """The same store, open."""
    with opened(stored.engine) as memory:
        yield World(stored.engine, memory, stored.ids, stored.nodes, stored.links)


def opened(engine: EngineUnderTest) -> Memory:
    arguments_ = {**engine.settings_arguments, "life": {"use_flush_seconds": 0.0}}
    return Memory.open(embedder=HashingEmbedder(), **arguments_)


def refusing() -> list[tuple[str, str]]:
    """Each method that refuses an id which the scope does not have, with the parameter."""
    calls = CALLS[ContactMemory].items()
    return [(name, each) for name, (kind, *taken) in calls if kind == REFUSED for each in taken]


# A memory


@pytest.mark.parametrize("everything", EVERYTHING)
@ON_ANY_ONE
def test_no_method_answers_anybody_about_an_id_of_the_victims(
    world: World, attempts: Attempts, everything: bool
) -> None:
    near_them = [each for victim in (VICTIM, JOINED) for each in scopes_near(victim)]
    whoever = chosen(near_them, everything=everything, few=3)
    world, others = world.with_notes_of(whoever), tried(world)
    for name, parameter in refusing():
        given = needed(public(ContactMemory)[name])
        for scope in whoever:
            call = getattr(world.memory.contact(**of(scope)), name)
            unknown = told(call, **given | {parameter: NOBODYS})
            assert NOBODYS in str(unknown), "what is refused is something else"
            dice, own = random.Random(f"{name} {scope}"), world.ids[parameter]
            aimed = {*dice.sample(own, min(3, len(own))), *dice.sample(others, 2)}
            for value in sorted(aimed):
                said = told(call, **given | {parameter: value})
                attempts.refused("method", said, unknown, value, name, repr(scope))
    assert attempts.made.total() > (ATTEMPTS_MIN if everything else 0)
    world.check_unchanged(own=False)


@pytest.mark.faults(only=True)
def test_what_anybody_makes_or_asks_in_a_scope_of_their_own_tells_nothing_of_the_victims(
    world: World, attempts: Attempts
) -> None:
    near_them = chosen(scopes_near(VICTIM), everything=False, few=16)
    for scope, (kind, calls) in itertools.product(near_them, CALLS.items()):
        asked, signatures = view(world.memory, kind, scope), public(kind)
        for name, (comes, *taken) in calls.items():
            if comes in (REFUSED, WHOLE, *_of_the_victim(scope)) or name == "propose":
                continue
            parameters = signatures[name].parameters
            given = {each: it for each, it in of(scope).items() if each in parameters}
            given |= arguments(signatures[name]) | {each: world.ids[each][0] for each in taken}
            attempts.silent("method", _answer(getattr(asked, name), given), name)
    world.check_unchanged(own=True)


def _of_the_victim(scope: Scope) -> tuple[str, ...]:
    """What is asked of more than a contact there is for an operator, and includes the victim."""
    if scope.tenant != VICTIM.tenant:
        return ()
    return (OF_TENANT, OF_AGENT) if scope.agent_id == VICTIM.agent_id else (OF_TENANT,)


def _answer(call: Callable[..., Any], given: dict[str, Any]) -> str:
    try:
        answer = call(**given)
        return repr(list(answer) if hasattr(answer, "__next__") else answer)
    except InvalidRequestError as error:
        return str(error)


@pytest.mark.faults(only=True)
def test_a_memory_that_is_bound_to_a_contact_reaches_no_other(
    world: World, attempts: Attempts
) -> None:
    taking = CALLS[ContactMemory].keys() - {"propose"}
    for scope in scopes_near(VICTIM):
        world.memory.add_contact_note(**of(scope), text="Likes jazz.")
        bound = world.memory.contact(scope.agent_id, scope.contact_id, tenant=scope.tenant)
        for name in sorted(taking):
            kind, *parameters = CALLS[ContactMemory][name]
            given = needed(public(ContactMemory)[name])
            given |= {each: world.ids[each][0] for each in parameters if kind == OWN}
            for parameter in parameters:
                for value in world.ids[parameter]:
                    said = _answer(getattr(bound, name), given | {parameter: value})
                    attempts.silent("bound method", said, name, value)
                    assert kind != REFUSED or value in said, (name, said)
    world.check_unchanged(own=True)


@pytest.mark.faults(only=True)
def test_whoever_awaits_gets_no_further(stored: World, attempts: Attempts) -> None:
    async def attack() -> None:
        arguments_ = stored.engine.settings_arguments
        async with AsyncMemory.open(embedder=HashingEmbedder(), **arguments_) as memory:
            for name, parameter in refusing():
                call = getattr(memory.contact("crm", "bob", tenant="acme"), name)
                given = needed(public(ContactMemory)[name])
                for value in (*stored.ids[parameter], NOBODYS):
                    with pytest.raises(InvalidRequestError) as refused:
                        await call(**given | {parameter: value})
                    attempts.silent("awaited method", str(refused.value), name, value)

    asyncio.run(attack())
    stored.check_unchanged(own=False)


@pytest.mark.faults(only=True)
def test_a_task_a_job_and_a_session_of_anybody_find_nothing_of_the_victims(
    world: World, attempts: Attempts
) -> None:
    ids = tried(world)
    for scope in scopes_near(VICTIM):
        whose = world.memory.contact(**of(scope))
        for call in (whose.job, whose.retry, whose.session):
            unknown = told(call, NOBODYS)
            for value in random.Random(repr(scope)).sample(ids, 12):
                said = told(call, value)
                attempts.refused("job", said, unknown, value, call.__name__, repr(scope))
        task = world.memory.contact(**of(scope)).task(
            task_id="task-9", session_id="call-17", goal="Take"
        )
        asked = [task.procedures(), task.recall(MARK, budget_tokens=1000)]
        task.observed()
        asked += [task.recall_about(MARK, budget_tokens=1000), task.task_memory.checkpoint(())]
        for answer in asked:
            attempts.silent("task", repr(answer).replace(f"mentions {MARK}", ""), repr(scope))
    world.check_unchanged(own=True)


@pytest.mark.faults(only=True)
def test_no_namespace_of_a_graph_is_taken_for_another(world: World, attempts: Attempts) -> None:
    fact_id = world.ids["fact_id"][0]
    for scope in scopes_near(VICTIM):
        store = ReconcilerStore(world.memory, source_kind="user_explicit", tenant=scope.tenant)
        whose = contact_namespace(scope.agent_id, scope.contact_id)
        attempts.silent("LangGraph", repr(store.get(whose, fact_id)), repr(scope))
        attempts.silent("LangGraph", repr(store.search(whose, query="city")), repr(scope))
    world.check_unchanged(own=False)


# Tools


def grants(profile: AccessProfile) -> list[Grant]:
    """What attackers' clients may reach: each one contact, or all contacts of another's agent."""
    scopes = scopes_near(VICTIM)
    bound = [
        Grant(profile=profile, tenant=s.tenant, agent_ids=(s.agent_id,), contact_id=s.contact_id)
        for s in scopes
    ]
    others = [s for s in scopes if (s.tenant, s.agent_id) != (VICTIM.tenant, VICTIM.agent_id)]
    return [
        *bound,
        *(Grant(profile=profile, tenant=s.tenant, agent_ids=(s.agent_id,)) for s in others),
    ]


SENT: dict[str, Any] = {
    "answered_by": "contact",
    "text": "Likes tea",
    "source_kind": "user_explicit",
    "query": "city",
    "messages": [{"role": "user", "content": "I like tea."}],
}


def calls_of(tool: dict[str, Any], ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A tool's calls for the victim, and with no contact named, with each of the ids."""
    known = tool["inputSchema"]["properties"]
    usual = {name: SENT[name] for name in known if name in SENT}
    for parameter in TOOLS[tool["name"]] or ("",):
        for value in ids if parameter else [""]:
            given = usual | ({parameter: value} if parameter else {})
            yield given | {"contact_id": VICTIM.contact_id}
            yield given


@pytest.mark.faults(only=True)
@pytest.mark.parametrize("profile", AccessProfile)
def test_no_tool_tells_a_client_beyond_its_grant_anything(
    world: World, attempts: Attempts, profile: AccessProfile
) -> None:
    desk, ids = Desk(world.memory), world.one_of_each_id()
    for grant in chosen(grants(profile), everything=False, few=40):
        for tool in desk.tools(grant):
            for given in calls_of(tool, ids):
                reply = desk.call(grant, tool["name"], given)
                attempts.silent("tool", reply.text, tool["name"], repr(given))
                has_id = any(name in given for name in TOOLS[tool["name"]])
                assert reply.is_error or not has_id, (tool["name"], given, reply.text)
    world.check_unchanged(own=True)


@pytest.mark.parametrize("everything", EVERYTHING)
@ON_ANY_ONE
def test_no_token_of_another_is_answered_over_http(
    world: World, attempts: Attempts, everything: bool, tmp_path: Path
) -> None:
    ids = chosen(world.one_of_each_id(), everything=everything, few=3)
    agents = grants(AccessProfile.AGENT)
    with serving(world.memory, tmp_path, calls_per_minute=100_000) as server:
        for grant in chosen(agents, everything=False, few=12 if everything else 2):
            calls = [
                (tool["name"], given)
                for tool in Desk(world.memory).tools(grant)
                for given in calls_of(tool, ids)
            ]

            async def ask(client: Client) -> None:
                for name, given in calls:  # noqa: B023
                    result = await client.call_tool(name, given)
                    [said] = result.content
                    assert isinstance(said, TextContent)
                    attempts.silent("MCP over HTTP", said.text, name, repr(given))
                    assert result.is_error or not any(each in given for each in TOOLS[name])

            server.asked(server.token(grant), ask)
    world.check_unchanged(own=True)


# The API and the page


def bodies(path: str, ids: Sequence[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """What is sent to an address of the API, with each id where the body takes one."""
    because = {"reason": "It has ended."}
    usual, *names = {
        "notes": ({"text": "Likes tea", "source_kind": "user_explicit"}, "session_id"),
        "sessions": ({"messages": SENT["messages"]}, "session_id"),
        "resolve": (because, "keep"),
        "revert": (because,),
        "revoke": (because,),
        "amendments": ({"text": "Likes tea", **because}, "fact_id"),
        "erasures": (because, "fact_id", "session_id"),
    }.get(path.rpartition("/")[2], ({"answered_by": "contact"},))
    for name in names:
        for value in ids:
            yield usual | {name: [value] if name == "keep" else value}, value
    if not names:
        yield usual, ""


OWN_BY_NAME = ("/notes", "/sessions")
"""Addresses that make something of the caller's own under an id of a session."""

Asking = tuple[str, str, dict[str, Any], str]
"""A method, an address with the scope's place in braces, what else is sent, and the id in it."""


def requests(document: dict[str, Any], ids: Sequence[str]) -> Iterator[Asking]:
    """Every operation of the API with each of the ids, wherever it takes one.

    What makes something of the caller's own under an id comes last, for then the caller has it.
    """
    operations = [
        (path, method, {each["name"] for each in operation.get("parameters", ())})
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if path.startswith("/v1/agents")
    ]
    for path, method, taken in sorted(operations, key=lambda each: each[0].endswith(OWN_BY_NAME)):
        yield from _with_ids(path, method, ids)
        cursors = [*ids, *(f"2026-01-31T09:00:00+00:00~{each}" for each in ids)]
        for after in cursors if "after" in taken else ():
            yield method, path, {"params": {"after": after}}, after
        for key in (KEY, *ids) if "idempotency-key" in taken else ():
            sent = {"text": "Likes tea", "source_kind": "user_explicit"}
            yield method, path, {"json": sent, "headers": {"Idempotency-Key": key}}, key


def _with_ids(path: str, method: str, ids: Sequence[str]) -> Iterator[Asking]:
    """An operation with each of the ids in its address, or else in its body."""
    place = re.search(r"{(decision_id|fact_id|job_id|session_id)}", path)
    asked = {"params": {"query": "city"} if path.endswith("find") else {}}
    for body, value in [({}, "")] if method == "get" else bodies(path, ids):
        given = asked | ({"json": body} if body else {})
        for each in ids if place else [value]:
            at = path.replace(place[0], quote(each, safe="")) if place else path
            yield method, at.replace("{attribute}", "city"), given, each


def about(path: str, scope: Scope) -> str:
    named = {"agent_id": scope.agent_id, "contact_id": scope.contact_id}
    for name, value in named.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


@pytest.mark.parametrize("everything", EVERYTHING)
@pytest.mark.parametrize("profile", AccessProfile)
@ON_ANY_ONE
def test_no_token_of_another_is_answered_by_the_api(
    world: World, attempts: Attempts, profile: AccessProfile, everything: bool, tmp_path: Path
) -> None:
    real = {f'"{each}"' for each in world.one_of_each_id()}
    ids = chosen(world.one_of_each_id(), everything=everything, few=2)
    document = api(world.memory).openapi()
    tag = f'W/"{world.memory.contact(**of(VICTIM)).version()}-{datetime.now(UTC):%Y%m%d%H}"'
    with serving_api(world.memory, tmp_path, calls_per_minute=10**6) as running:
        for grant in chosen(grants(profile), everything=False, few=12 if everything else 1):
            own = Scope(grant.tenant, grant.agent_ids[0], grant.contact_id or "ada")
            with running.client(grant) as client:

                def ask(method: str, path: str, **given: Any) -> Any:
                    answer = client.request(method, path, **given)
                    assert answer.status_code < 500, answer.text
                    return answer

                for method, path, given, value in requests(document, [*ids, NOBODYS]):
                    answer = ask(method, about(path, VICTIM), **given)
                    attempts.silent("API", answer.text, method, path, value, repr(grant))
                    given_tag = {**given, "headers": {"If-None-Match": f"{tag}, *"}}
                    answer = ask(method, about(path, own), **(given_tag if value else given))
                    attempts.silent("API", answer.text, method, path, value, repr(grant))
                    is_named = value and value not in (KEY, NOBODYS)
                    if is_named and "after" not in str(given) and path.endswith(OWN_BY_NAME):
                        assert '"replayed": true' not in answer.text
                    elif is_named and "after" not in str(given):
                        assert answer.status_code in (403, 404, 422), (method, path, value)
                    elif is_named and answer.status_code == 200:
                        found = json.dumps(answer.json()["items"])
                        assert not any(each in found for each in real), (path, value, found)
    world.check_unchanged(own=True)


PLACES: Mapping[str, Mapping[str, Any]] = {
    "/": {"after": "", "q": "city"},
    "/contact": {"done": ""},
    "/fact": {"fact": ""},
    "/decision": {"decision": ""},
    "/decisions": {},
    "/questions": {},
    "/erase": {"fact": "", "session": "", "confirm": "{contact}", "reason": "It has ended."},
    "/erasure": {"erasure": ""},
    "/answer": {"decision": "", "answer": "yes"},
    "/answers": {"ticked": "", "answer": "yes"},
    "/settle": {"side": "", "keep": "both"},
    "/renew": {"fact": "", "answer": "yes"},
    "/note": {"decision": "", "text": "Likes tea."},
    "/amend": {"fact": "", "text": "Likes tea.", "reason": "Wrong."},
    "/end": {"fact": "", "reason": "It has ended."},
    "/undo": {"decision": "", "and_later": "yes"},
    "/merge": {"other": "", "reason": "One person."},
}
"""Each page and form with what it takes: an empty string where that is an id."""


def visits(ids: Sequence[str]) -> Iterator[tuple[str, dict[str, str], str]]:
    """Every page and form with each of the ids in each place of one."""
    for path, taken in PLACES.items():
        usual = {name: value for name, value in taken.items() if value}
        places = [name for name, value in taken.items() if not value]
        for place, value in itertools.product(places or [""], ids if places else [""]):
            yield path, usual | ({place: value} if place else {}), value


@pytest.mark.parametrize("everything", EVERYTHING)
@ON_ANY_ONE
def test_no_login_of_another_sees_or_settles_anything_on_the_page(
    world: World, attempts: Attempts, everything: bool, tmp_path: Path
) -> None:
    reads, writes = {*PAGES, *READS}, {*FORMS}
    assert PLACES.keys() == reads | writes
    ids = chosen(world.one_of_each_id(), everything=everything, few=2)
    operators = chosen(
        grants(AccessProfile.OPERATOR), everything=False, few=12 if everything else 1
    )
    scopes = [Scope(each.tenant, each.agent_ids[0], each.contact_id or "ada") for each in operators]
    world = world.with_notes_of(scopes)
    with serving_api(world.memory, tmp_path, calls_per_minute=10**6) as running:
        for grant, own in zip(operators, scopes, strict=True):
            with Browser(running.url) as browser:
                browser.client.follow_redirects = True
                first = browser.log_in(running.token(grant))
                key = dict(first.form("/logout").fields)["form_key"]
                for path, given, value in visits(ids):
                    for scope in (VICTIM, own):
                        named = {"agent": scope.agent_id, "contact": scope.contact_id}
                        fields = {
                            name: each.format(**named) for name, each in given.items()
                        } | named
                        answers = []
                        if path in reads:
                            answers.append(browser.client.get(path, params=fields))
                        if path in writes:
                            sent = fields | {"form_key": key}
                            answers.append(browser.client.post(path, data=sent))
                        for answer in answers:
                            said = answer.text.replace(value, "") if value else answer.text
                            attempts.silent("page", said, path, value, repr(grant))
                            is_open = path == "/" or not value
                            assert is_open or answer.status_code in (403, 404, 409, 422), (
                                path,
                                fields,
                                answer.text,
                            )
    world.check_unchanged(own=True)


# Commands

IDS = {
    "decision_id": "decision_id",
    "fact_id": "fact_id",
    "fact": "fact_id",
    "job_id": "job_id",
    "session": "session_id",
    "keep": "keep",
}
"""What takes an id on the command line, and of which kind it is."""

WORDS = {
    **{"by": "olga", "reason": "It has ended.", "text": "Lives in Goa.", "relation": "same"},
    **{"profile": "minilm", "out": "written"},
}
USUAL_WORD = "city"
OF_WHOEVER_RUNS_IT = {
    *("backup", "browser", "calibrate", "demo", "doctor", "drain", "erasures", "extract"),
    *("import", "init", "mcp", "policy", "reembed", "restore", "serve", "token", "worker"),
}
"""Commands about a whole store, that stay, or that read a file; none takes an id of these."""


def commands() -> dict[str, Any]:
    """Each command about a contact or an agent; ``add`` last, since it makes what is found then."""
    found = get_command(app).commands  # type: ignore[attr-defined]
    names = sorted(found, key=lambda name: name == "add")
    return {name: found[name] for name in names if name not in OF_WHOEVER_RUNS_IT}


def aimed(command: Any) -> list[tuple[list[str], str]]:
    """The words of a command beside its scope, once for each id that it takes, and the id's kind.

    The id's place is held by its kind in braces. A command that takes none has its words once.
    """
    asked = [each for each in command.params if each.required and each.name not in of(VICTIM)]
    asked = [each for each in asked if each.name not in ("agent", "contact", "tenant")]
    targets = [each for each in command.params if each.name in IDS]
    targets = [each for each in targets if each.required] or targets or [None]
    return [
        (
            [word for each in dict.fromkeys([*asked, target]) if each for word in typing(each)],
            IDS[target.name] if target else "",
        )
        for target in targets
    ]


def typing(param: Any) -> list[str]:
    kind = IDS.get(param.name)
    value = f"{{{kind}}}" if kind else WORDS.get(param.name, USUAL_WORD)
    return [param.opts[0], value] if param.param_type_name == "option" else [value]


def whose(command: Any, scope: Scope) -> list[str]:
    given = {"agent": scope.agent_id, "contact": scope.contact_id, "tenant": scope.tenant}
    taken = {each.name for each in command.params}
    return [word for each, it in given.items() if each in taken for word in (f"--{each}", it)]


@pytest.fixture
def kept(one_of_each: EngineUnderTest) -> World:
    """A store of facts without vectors, closed: to load no model with each command."""
    with Memory.open(embedder=NoopEmbedder(), **one_of_each.settings_arguments) as memory:
        ids = plant(memory)
    return World(one_of_each, memory, ids, nodes_of(one_of_each), links_of(one_of_each))


@pytest.fixture
def environment(kept: World) -> dict[str, str]:
    return environment_of(kept.engine) | {"RECONCILER_EMBEDDER__MODEL": "noop", "COLUMNS": "400"}


@pytest.fixture
def typed(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Callable[..., str]:
    """Runs a command in this process: all that it printed and wrote."""
    folder = tmp_path / "written"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["reconciler", *words])
        with pytest.raises(SystemExit):
            main()
        written = [each for each in folder.iterdir() if each.is_file()]
        said = "".join([*capsys.readouterr(), *(each.read_text() for each in written)])
        for each in written:
            each.unlink()
        return said

    return run


@pytest.mark.parametrize("everything", EVERYTHING)
@ON_ANY_ONE
def test_no_command_tells_anybody_anything_of_the_victims(
    kept: World, typed: Callable[..., str], attempts: Attempts, everything: bool
) -> None:
    whoever = chosen(scopes_near(VICTIM), everything=False, few=6 if everything else 1)
    for name, command in commands().items():
        for (words, kind), scope in itertools.product(aimed(command), whoever):
            if not kind:
                if "contact" in {each.name for each in command.params if each.required} or (
                    (scope.tenant, scope.agent_id) != (VICTIM.tenant, VICTIM.agent_id)
                ):
                    attempts.silent("command", typed(name, *words, *whose(command, scope)), name)
                continue
            place, about = f"{{{kind}}}", whose(command, scope)
            unknown = typed(name, *_put(words, place, NOBODYS), *about)
            for value in chosen(kept.ids[kind], everything=everything, few=1):
                said = typed(name, *_put(words, place, value), *about)
                if name == "add":
                    attempts.silent("command", said, name, value)
                else:
                    attempts.refused("command", said, unknown, value, name)
    kept.check_unchanged(own=True)


def _put(words: Sequence[str], place: str, value: str) -> list[str]:
    return [value if word == place else word for word in words]


@pytest.mark.faults(only=True)
def test_no_process_tells_anybody_anything_of_the_victims(
    kept: World, environment: dict[str, str], attempts: Attempts, tmp_path: Path
) -> None:
    for name, command in commands().items():
        about = whose(command, Scope("acme", "crm", "bob"))
        for words, kind in aimed(command):
            if not kind:
                continue
            given = _put(words, f"{{{kind}}}", kept.ids[kind][0])
            ended = subprocess.run(
                [sys.executable, "-m", "reconciler", name, *given, *about],
                cwd=tmp_path,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                check=False,
            )
            attempts.silent("process", ended.stdout + ended.stderr, name)
            assert (ended.returncode != 0) is (name != "add"), (name, ended)
    kept.check_unchanged(own=True)
