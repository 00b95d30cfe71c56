"""The HTTP API end to end: who reaches what, each endpoint once, and what goes wrong in words."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import pytest

from reconciler import ContactMemory, Memory
from reconciler.domain.records.facts import handle_of
from reconciler.errors import GraphUnavailableError
from reconciler.service import records
from reconciler.service.stores import rows
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.http_api import PRIYA, Api, TenantApi, serving_api, serving_api_in
from tests.http_servers import certified
from tests.mcp_server import granted

PUNE = {"text": "Lives in Pune.", "attribute": "city", "value": "Pune"}
GOA = {"text": "Lives in Goa.", "attribute": "city", "value": "Goa"}
GUESS = {"text": "I guess I prefer window seats", "importance": 0.8}
CHANGES = "/v1/agents/crm/changes"
NOWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    with Memory.open(embedder=HashingEmbedder(), **kept_engine.settings_arguments) as opened:
        yield opened


@pytest.fixture(scope="module")
def still_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One server for all that is refused, changes nothing, or has a tenant of its own."""
    with serving_api_in(tmp_path_factory.mktemp("still")) as running:
        yield running


@pytest.fixture(scope="module")
def refused(still_api: Api) -> Iterator[httpx2.Client]:
    """An agent that is let do nothing."""
    with still_api.client(granted()) as client:
        yield client


@pytest.fixture
def api(request: pytest.FixtureRequest, still_api: Api, tmp_path: Path) -> Iterator[Api]:
    """A server of its own for a test that takes the memory; a tenant of its own for another."""
    if "memory" not in request.fixturenames:
        yield TenantApi(still_api.url, still_api.tokens, tmp_path.name)
        return
    with serving_api(request.getfixturevalue("memory"), tmp_path) as running:
        yield running


@pytest.fixture
def anna(api: Api) -> Iterator[httpx2.Client]:
    """An operator."""
    with api.client(granted("operator", name="anna")) as client:
        yield client


@pytest.fixture
def agent(api: Api) -> Iterator[httpx2.Client]:
    with api.client(granted()) as client:
        yield client


def done(answer: httpx2.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def noted(client: httpx2.Client, note: dict[str, Any], contact: str = PRIYA) -> Any:
    return done(client.post(f"{contact}/notes", json=note))


def problem(answer: httpx2.Response, status: int, kind: str) -> str:
    told = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, told["type"]) == (status, f"urn:reconciler:problem:{kind}"), told
    assert told["status"] == status
    return str(told["detail"])


@pytest.mark.on_neo4j_too
@pytest.mark.usefixtures("memory")
def test_an_operators_morning(agent: httpx2.Client, anna: httpx2.Client) -> None:
    first, held = noted(agent, PUNE), noted(agent, GUESS)
    moved = noted(agent, GOA)
    assert moved["superseded_ids"] == [first["fact_id"]]
    assert "Goa" in done(agent.get(f"{PRIYA}/recall", params={"query": "city"}))["prompt"]
    [waiting] = done(anna.get(f"{PRIYA}/pending"))["items"]
    assert waiting["decision_id"] == held["decision_id"]
    at = f"{PRIYA}/decisions/{held['decision_id']}"
    confirmed = done(anna.post(f"{at}/confirm", json={}))
    assert confirmed["proposal"]["answered_by"] == "anna"
    amended = done(anna.post(f"{PRIYA}/amendments", json={
        "text": "Lives in Rome.", "attribute": "city", "value": "Rome", "reason": "By phone.",
    }))  # fmt: skip
    at = f"{PRIYA}/decisions/{amended['decision_id']}"
    done(anna.post(f"{at}/revert", json={"reason": "Wrong person."}))
    [city] = done(anna.get(f"{PRIYA}/values/city"))
    assert city["value"] == "Goa"
    assert done(anna.get(f"{at}/explanation"))["outcome"]
    erased = done(anna.post(f"{PRIYA}/erasures", json={"reason": "She asked."}))
    assert (erased["state"], erased["receipt"]["remaining_ids"]) == ("done", [])
    assert done(agent.get(f"{PRIYA}/recall"))["facts"] == []


def test_changes_come_page_by_page_and_a_cursor_is_the_agents_own(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    ids = [noted(agent, PUNE)["decision_id"], noted(agent, GOA)["decision_id"]]
    page = done(anna.get(f"{CHANGES}?limit=1"))
    assert [change["decision_id"] for change in page["items"]] == ids[:1]
    assert page["next"] == page["items"][0]["cursor"]
    page = done(anna.get(CHANGES, params={"after": page["next"]}))
    assert [change["decision_id"] for change in page["items"]] == ids[1:]
    assert page["next"] is None
    answer = anna.get(CHANGES, params={"after": "1~gone"})
    assert "give one that this list has given" in problem(answer, 422, "invalid-request")


def test_a_dispute_is_settled_in_the_operators_name(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    kept = noted(agent, PUNE)["fact_id"]
    noted(anna, GOA | {"source_kind": "operator"})
    [dispute] = done(anna.get(f"{PRIYA}/disputes"))["items"]
    assert kept in {fact["fact_id"] for fact in dispute["facts"]}
    body = {"keep": [kept], "reason": "She confirmed it on the phone."}
    assert done(anna.post(f"{PRIYA}/disputes/resolve", json=body))["proposal"]["answered_by"]
    assert done(anna.get("/v1/agents/crm/disputes"))["items"] == []


def test_that_neither_side_holds_is_one_decision(agent: httpx2.Client, anna: httpx2.Client) -> None:
    noted(agent, PUNE)
    noted(anna, GOA | {"source_kind": "operator"})
    at = f"{PRIYA}/disputes/resolve"
    [dispute] = done(anna.get(f"{PRIYA}/disputes"))["items"]
    sides = [fact["fact_id"] for fact in dispute["facts"]]
    problem(anna.post(at, json={"reason": "She moved."}), 409, "invalid-answer")
    problem(anna.post(at, json={"neither": [], "reason": "She moved."}), 422, "invalid-request")
    made = done(anna.post(at, json={"neither": sides, "reason": "She moved."}))
    assert sorted(made["superseded_ids"]) == sorted(sides)
    assert done(anna.get(f"{PRIYA}/profile")) == []
    done(anna.post(f"{PRIYA}/decisions/{made['decision_id']}/revert", json={"reason": "No."}))
    assert len(done(anna.get(f"{PRIYA}/disputes"))["items"]) == 1


def test_two_contacts_are_merged_split_and_renamed(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    noted(agent, PUNE)
    twin = PRIYA.replace("priya", "priya-2")
    done(agent.post(f"{twin}/notes", json=GOA))
    asked = {"act": "merge", "other": "priya-2", "reason": "The same number."}
    assert done(anna.post(f"{PRIYA}/identity", json=asked))["proposal"]["answered_by"] == "anna"
    assert len(done(anna.get(f"{twin}/disputes"))["items"]) == 1
    problem(anna.post(f"{PRIYA}/identity", json=asked | {"other": "priya"}), 422, "invalid-request")
    done(anna.post(f"{PRIYA}/identity", json=asked | {"act": "split"}))
    assert done(anna.get(f"{twin}/disputes"))["items"] == []
    done(anna.post(f"{PRIYA}/identity", json=asked | {"act": "rename", "other": "p-77"}))
    assert len(done(anna.get(f"{PRIYA.replace('priya', 'p-77')}/profile"))) == 1


def test_a_token_for_one_contact_undoes_no_merge_and_opens_no_account(
    api: Api, agent: httpx2.Client, anna: httpx2.Client
) -> None:
    plain = noted(agent, PUNE)["decision_id"]
    done(agent.post(f"{PRIYA.replace('priya', 'priya-2')}/notes", json=GOA))
    done(anna.post(f"{PRIYA.replace('priya', 'account:acme')}/notes", json=GOA))
    asked = {"act": "merge", "other": "priya-2", "reason": "The same number."}
    merged = done(anna.post(f"{PRIYA}/identity", json=asked))["decision_id"]
    joined = done(anna.post(f"{PRIYA}/accounts", json={"account": "acme"}))
    [membership] = done(anna.get(f"{PRIYA}/accounts"))
    at, why = f"{PRIYA}/facts/{membership['fact_id']}/revoke", {"reason": "Left."}
    left = done(anna.post(at, json=why))["decision_id"]
    with api.client(granted("operator", name="pat", contact_id="priya")) as pat:
        for decision_id in (left, joined["decision_id"], merged):
            answer = pat.post(f"{PRIYA}/decisions/{decision_id}/revert", json=why)
            assert "for one contact" in problem(answer, 403, "not-granted")
        assert done(pat.get(f"{PRIYA}/accounts")) == []
        done(pat.post(f"{PRIYA}/decisions/{plain}/revert", json=why | {"and_later": True}))
    done(anna.post(f"{PRIYA}/decisions/{left}/revert", json=why))


def test_a_token_for_one_contact_ends_no_membership(
    api: Api, agent: httpx2.Client, anna: httpx2.Client
) -> None:
    known = done(agent.post(f"{PRIYA}/notes", json=PUNE))["fact_id"]
    done(anna.post(f"{PRIYA.replace('priya', 'account:acme')}/notes", json=GOA))
    done(anna.post(f"{PRIYA}/accounts", json={"account": "acme"}))
    [membership] = done(anna.get(f"{PRIYA}/accounts"))
    asked = {"reason": "Left."}
    with api.client(granted("operator", name="pat", contact_id="priya")) as pat:
        for name in (membership["fact_id"], handle_of(membership["fact_id"])):
            answer = pat.post(f"{PRIYA}/facts/{quote(name)}/revoke", json=asked)
            assert "for one contact" in problem(answer, 403, "not-granted")
        answer = pat.post(f"{PRIYA}/erasures", json=asked | {"fact_id": membership["fact_id"]})
        assert "for one contact" in problem(answer, 403, "not-granted")
        done(pat.post(f"{PRIYA}/facts/{known}/revoke", json=asked))
        done(pat.post(f"{PRIYA}/erasures", json=asked | {"fact_id": known}))
    assert done(anna.get(f"{PRIYA}/accounts")) == [membership]


@pytest.mark.parametrize("act", ["reject", "withdraw"])
def test_what_waits_is_answered_once(agent: httpx2.Client, anna: httpx2.Client, act: str) -> None:
    at = f"{PRIYA}/decisions/{noted(agent, GUESS)['decision_id']}"
    done(anna.post(f"{at}/{act}", json={"answered_by": "operator"}))
    assert done(anna.get("/v1/agents/crm/pending"))["items"] == []
    problem(anna.post(f"{at}/confirm", json={}), 409, "invalid-answer")


def test_a_fact_is_looked_into_and_ended(agent: httpx2.Client, anna: httpx2.Client) -> None:
    fact_id = noted(agent, PUNE)["fact_id"]
    at = f"{PRIYA}/facts/{fact_id}"
    assert done(anna.get(f"{at}/evidence"))["has_contacts_words"]
    assert done(anna.get(f"{at}/history"))["facts"][0]["fact_id"] == fact_id
    assert done(anna.post(f"{at}/revoke", json={"reason": "It is over."}))["superseded_ids"] == [
        fact_id
    ]
    assert done(anna.get(f"{PRIYA}/profile")) == []
    problem(anna.post(f"{at}/revoke", json={"reason": "Again."}), 404, "unknown-fact")


def test_an_answer_is_kept_by_an_agent_and_found_by_an_operator(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    fact_id = agent.post(f"{PRIYA}/notes", json=PUNE).json()["fact_id"]
    recall_id = agent.get(f"{PRIYA}/recall").json()["recall_id"]
    answer = {"recall_id": recall_id, "reference": "ticket-17", "used": [fact_id]}
    assert agent.post(f"{PRIYA}/answers", json=answer).json()["verdict"]["action"] == "CITE"
    assert agent.post(f"{PRIYA}/answers", json=answer).json()["replayed"]
    assert agent.get(f"{PRIYA}/impact", params={"fact": fact_id}).status_code == 403
    [used] = anna.get(f"{PRIYA}/impact", params={"fact": fact_id}).json()
    assert (used["reference"], used["text"]) == ("ticket-17", "Lives in Pune.")
    wrong = {"reason": "It was typed wrongly."}
    revoked = anna.post(f"{PRIYA}/facts/{fact_id}/revoke", json=wrong).json()["decision_id"]
    assert anna.get(f"{PRIYA}/impact", params={"decision_id": revoked}).json() == [used]
    for changed in ({"recall_id": "x"}, {"used": ["x"]}, {"used": []}, {"reference": " "}):
        refused = agent.post(f"{PRIYA}/answers", json=answer | changed)
        assert refused.status_code in (404, 422), refused.json()


def test_history_is_told_as_of_an_instant(agent: httpx2.Client, anna: httpx2.Client) -> None:
    before = datetime.now(UTC)
    noted(agent, PUNE)
    then = done(anna.get(f"{PRIYA}/history", params={"at": before.isoformat()}))
    assert (then["items"], len(done(anna.get(f"{PRIYA}/history"))["items"])) == ([], 1)


def test_a_conversation_is_handed_over_once_and_its_job_told(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    said = {"messages": [{"role": "user", "content": "I live in Pune."}], "session_id": "chat-1"}
    jobs = [done(agent.post(f"{PRIYA}/sessions", json=said)) for _ in range(2)]
    assert jobs[0]["job_id"] == jobs[1]["job_id"]
    assert done(agent.get(f"{PRIYA}/jobs/{jobs[0]['job_id']}"))["state"] == "waiting"
    assert done(anna.get(f"{PRIYA}/sessions/chat-1"))["channel"] == "chat"
    assert len(done(anna.get("/v1/agents/crm/jobs"))["items"]) == 1


@pytest.mark.parametrize("contact", ["дима", "a%2Fb", "a%20b%3Fc"])
def test_the_location_of_a_job_leads_to_it(agent: httpx2.Client, contact: str) -> None:
    said = {"messages": [{"role": "user", "content": "I live in Pune."}]}
    answer = agent.post(f"/v1/agents/crm/contacts/{contact}/sessions", json=said)
    job_id = done(answer)["job_id"]
    assert done(agent.get(answer.headers["location"]))["job_id"] == job_id


def test_an_operator_says_who_belongs_to_an_account(
    api: Api, agent: httpx2.Client, anna: httpx2.Client
) -> None:
    acme, where = PRIYA.replace("priya", "account:acme"), f"{PRIYA}/accounts"
    limit = {"text": "Never call in August.", "source_kind": "operator"}
    assert anna.post(where, json={"account": "acme"}).status_code == 404
    done(anna.post(f"{acme}/notes", json=limit))
    assert agent.post(where, json={"account": "acme"}).status_code == 403
    with api.client(granted("operator", contact_id="priya")) as bound:
        assert bound.post(where, json={"account": "acme"}).status_code == 403
    joined = done(anna.post(where, json={"account": "acme"}))
    assert joined["proposal"]["answered_by"] == "anna"
    assert done(anna.post(where, json={"account": "acme"}))["replayed"]
    [member] = done(anna.get(where))
    assert member["slot"]["value"] == "account:acme"
    told = done(agent.get(f"{PRIYA}/recall"))
    assert [hit["account"] for hit in told["facts"]] == ["acme"]
    assert "[account acme]" in told["prompt"]
    done(anna.post(f"{PRIYA}/facts/{member['fact_id']}/revoke", json={"reason": "She left."}))
    assert done(anna.get(where)) == done(agent.get(f"{PRIYA}/recall"))["facts"] == []


@pytest.mark.usefixtures("memory")  # metrics are of a store that has one tenant
def test_contacts_find_health_and_metrics_are_told(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    noted(agent, PUNE)
    assert done(anna.get("/v1/agents/crm/contacts"))["items"][0]["contact_id"] == "priya"
    assert done(anna.get(PRIYA))["live_facts"] == 1
    found = done(anna.get("/v1/agents/crm/find", params={"query": "Lives in Pune."}))
    assert found[0]["contact_id"] == "priya"
    assert done(anna.get("/v1/agents/crm/health"))["total"]["live"] == 1
    assert "reconciler_decisions_total" in anna.get("/metrics").text
    assert done(agent.get(f"{PRIYA}/briefing"))["facts"]


def test_the_same_key_makes_one_decision(agent: httpx2.Client) -> None:
    first, again = (
        done(agent.post(f"{PRIYA}/notes", json=PUNE, headers={"Idempotency-Key": "k-1"}))
        for _ in range(2)
    )
    assert first["decision_id"] == again["decision_id"]
    assert (first["replayed"], again["replayed"]) == (False, True)


def test_the_key_of_another_note_is_refused(agent: httpx2.Client, anna: httpx2.Client) -> None:
    key = {"Idempotency-Key": "k-1"}
    done(agent.post(f"{PRIYA}/notes", json=PUNE, headers=key))
    other = agent.post(f"{PRIYA}/notes", json={"text": "Budget is 60 lakh."}, headers=key)
    assert "use a new key" in problem(other, 422, "invalid-note")
    assert done(anna.get(PRIYA))["live_facts"] == 1


def test_the_same_key_of_another_caller_is_another_key(
    api: Api, agent: httpx2.Client, anna: httpx2.Client
) -> None:
    key = {"Idempotency-Key": "k-1"}
    with api.client(granted(session_id="one")) as one, api.client(granted(session_id="two")) as two:
        clients = [anna, agent, one, two]
        made = [done(each.post(f"{PRIYA}/notes", json=PUNE, headers=key)) for each in clients]
    assert len({each["decision_id"] for each in made}) == 4
    assert not any(each["replayed"] for each in made)
    problem(anna.post(f"{PRIYA}/notes", json=PUNE, headers={"Idempotency-Key": "x" * 201}), 422,
            "invalid-request")  # fmt: skip


def test_a_correction_ends_what_is_known(
    memory: Memory, agent: httpx2.Client, anna: httpx2.Client
) -> None:
    noted(agent, PUNE)
    moved = noted(agent, GOA)["decision_id"]
    at = f"{PRIYA}/decisions/{moved}"
    memory.contact("crm", "priya").correct(moved, "coexists")
    assert done(anna.get(at))["correction"] == "coexists"
    noted(agent, PUNE)  # what decides on the version goes on


def test_metrics_are_for_a_token_of_the_whole_store(memory: Memory, api: Api) -> None:
    memory.add_contact_note("crm", "priya", "Lives in Rome.")
    with api.client(granted("operator")) as anna:
        assert "reconciler_decisions_total" in anna.get("/metrics").text
        memory.add_contact_note("crm", "tom", "Lives in Rome.", tenant="acme")
        assert "--metrics-port" in problem(anna.get("/metrics"), 403, "not-granted")
    with api.client(granted("operator", contact_id="priya")) as anna:
        problem(anna.get("/metrics"), 403, "not-granted")


def test_pages_lead_to_each_decision_once(memory: Memory, anna: httpx2.Client) -> None:
    lines = [f'{{"text": "Owns bicycle number {number}."}}' for number in range(7)]
    memory.import_notes(lines, agent_id="crm", contact_id="priya")
    for path in (f"{PRIYA}/decisions", "/v1/agents/crm/decisions"):
        ids: list[str] = []
        after: dict[str, str] | None = {}
        while after is not None:
            page = done(anna.get(path, params={"limit": "3", **after}))
            ids += [item["decision_id"] for item in page["items"]]
            after = {"after": page["next"]} if page["next"] else None
        assert len(ids) == len(set(ids)) == 7


def test_later_pages_of_what_waits_read_what_they_give(
    memory: Memory, anna: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        for contact in (f"ann~{number}", f"bo/{number}"):
            about = memory.contact("crm", contact)
            about.note("Has diabetes.")
            about.note("Lives in Pune.")
            about.note("Lives in Goa.", source_kind="operator")
            about.submit_session("chat", [{"role": "user", "content": "Lives in Pune."}])
    monkeypatch.setattr(rows, "_PAGE", 3)
    monkeypatch.setattr(records, "_HELD_AT_ONCE", 3)
    read = list[int]()
    real = memory._services.decision_store._decisions

    def counted(_: object, rows: Any) -> Any:
        read.append(len(rows))
        return real(rows)

    monkeypatch.setattr(type(memory._services.decision_store), "_decisions", counted)
    for name, count in (("pending", 16), ("disputes", 8), ("jobs", 8)):
        whole = done(anna.get(f"/v1/agents/crm/{name}"))["items"]
        read.clear()
        found: list[Any] = []
        asked: dict[str, Any] = {"limit": "2"}
        while "after" not in asked or asked["after"]:
            page = done(anna.get(f"/v1/agents/crm/{name}", params=asked))
            found += page["items"]
            asked |= {"after": page["next"]}
        assert found == whole
        assert len(whole) == count
        if name == "pending":
            assert sum(read) <= 3 * 4  # a page and one more, of the four that hold notes


def test_a_page_of_decisions_is_read_on_from_the_one_before(
    memory: Memory, anna: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f'{{"text": "Owns bicycle number {number}."}}' for number in range(30)]
    memory.import_notes(lines, agent_id="crm", contact_id="priya")  # all at the same instant
    store, read = memory._services.decision_store, list[int]()
    real = store._decisions

    def counted(_: object, rows: Any) -> Any:
        read.append(len(rows))
        return real(rows)

    monkeypatch.setattr(type(store), "_decisions", counted)
    asked: dict[str, Any] = {"limit": "5"}
    for _ in range(6):
        asked |= {"after": done(anna.get(f"{PRIYA}/decisions", params=asked))["next"]}
    assert asked["after"] is None
    assert read == [6, 6, 6, 6, 6, 5]


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (f"{PRIYA}/decisions?disposl=held", "disposl"),
        (f"{PRIYA}/history?limit=5&at_=x", "at_"),
        (f"{PRIYA}/recall?query=city&min_scor=0.5", "min_scor"),
        (f"{PRIYA}/briefing?if-none-match=x", "if-none-match"),
        ("/v1/access?x=1", "x"),
        (f"{PRIYA}/values/city?subject=self&subject=Rahul", "subject: this was given more than"),
        (f"{PRIYA}/decisions?after=yesterday~x", "after"),
        (f"{PRIYA}/pending?after=yesterday~x~y", "after"),
        (f"{PRIYA}/disputes?after=2026-01-31T09:00:00Z~x", "after"),
        (f"{PRIYA}/jobs?after=x", "after"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused(still_api: Api, path: str, wrong: str) -> None:
    with still_api.client(granted("operator")) as anna:
        assert wrong in problem(anna.get(path), 422, "invalid-request")


OPERATORS = [
    ("GET", f"{PRIYA}/{name}")
    for name in ("profile", "history", "decisions", "pending", "disputes", "jobs", "health")
] + [
    ("GET", "/v1/agents/crm/contacts"),
    ("GET", CHANGES),
    ("GET", "/v1/agents/crm/find?query=x"),
    ("GET", "/metrics"),
    ("POST", f"{PRIYA}/erasures"),
    ("POST", f"{PRIYA}/amendments"),
    ("POST", f"{PRIYA}/disputes/resolve"),
    *(("POST", f"{PRIYA}/decisions/{NOWHERE}/{act}") for act in ("confirm", "reject", "revert")),
]


@pytest.mark.parametrize(("method", "path"), OPERATORS)
def test_an_agents_token_opens_nothing_of_an_operators(
    refused: httpx2.Client, method: str, path: str
) -> None:
    body = {"json": {"reason": "x", "text": "x", "keep": ["x"]}} if method == "POST" else {}
    problem(refused.request(method, path, **body), 403, "not-granted")  # type: ignore[arg-type]


def test_an_agent_does_not_speak_as_an_operator(refused: httpx2.Client) -> None:
    for kind in ("operator", "approved_doc"):
        answer = refused.post(f"{PRIYA}/notes", json=PUNE | {"source_kind": kind})
        problem(answer, 403, "not-granted")
    assert done(refused.get(f"{PRIYA}/recall"))["facts"] == []


def test_an_agent_may_name_speakers_but_no_operator(
    agent: httpx2.Client, anna: httpx2.Client
) -> None:
    messages = [
        {"role": "user", "name": "Priya", "content": "I live in Pune."},
        {"role": "user", "name": "Tom", "content": "I live in Goa."},
    ]
    said = {"messages": messages, "speakers": {"Priya": "contact", "Tom": "operator"}}
    problem(agent.post(f"{PRIYA}/sessions", json=said), 403, "not-granted")
    done(anna.post(f"{PRIYA}/sessions", json=said))
    done(
        agent.post(
            f"{PRIYA}/sessions", json=said | {"speakers": {"Priya": "contact", "Tom": "system"}}
        )
    )


@pytest.mark.parametrize("role", ["operator", "system"])
def test_an_agent_hands_over_no_turn_of_an_operator(
    agent: httpx2.Client, anna: httpx2.Client, role: str
) -> None:
    said = {"messages": [{"role": "user", "content": "Hi."}, {"role": role, "content": "Goa."}]}
    problem(agent.post(f"{PRIYA}/sessions", json=said), 403, "not-granted")
    assert done(anna.get("/v1/agents/crm/jobs"))["items"] == []
    done(anna.post(f"{PRIYA}/sessions", json=said))


def test_a_grant_is_not_left(memory: Memory, api: Api) -> None:
    memory.add_contact_note("crm", "tom", "Lives in Rome.")
    memory.add_contact_note("crm", "priya", "Lives in Rome.", tenant="acme")
    with api.client(granted("operator", contact_id="priya")) as own:
        for path in ("/v1/agents/crm/contacts/tom/profile", "/v1/agents/sales/contacts/priya",
                     "/v1/agents/crm/contacts"):  # fmt: skip
            assert "Rome" not in problem(own.get(path), 403, "not-granted")
        assert done(own.get(f"{PRIYA}/recall"))["facts"] == []  # nor another tenant's
        memory.add_contact_note("crm", "tom", "Lives in Goa.", source_kind="operator")
        for name in ("disputes", "pending"):
            forged = {"after": "2040-01-01T00:00:00+00:00~x~tom"}
            told = problem(own.get(f"{PRIYA}/{name}", params=forged), 422, "invalid-request")
            assert "another contact" in told


def test_a_token_of_one_session_files_all_there(api: Api) -> None:
    with api.client(granted(session_id="chat-1")) as agent:
        assert noted(agent, PUNE)["note"]["session_id"] == "chat-1"
        other = agent.post(f"{PRIYA}/notes", json=GOA | {"session_id": "chat-2"})
        problem(other, 403, "not-granted")


def test_a_token_of_one_session_opens_no_job_of_another(api: Api, agent: httpx2.Client) -> None:
    said = {"messages": [{"role": "user", "content": "Hi."}]}
    other = done(agent.post(f"{PRIYA}/sessions", json=said))
    with api.client(granted(session_id="chat-1")) as fixed:
        own = done(fixed.post(f"{PRIYA}/sessions", json=said))
        assert done(fixed.get(f"{PRIYA}/jobs/{own['job_id']}"))["session_id"] == "chat-1"
        problem(fixed.get(f"{PRIYA}/jobs/{other['job_id']}"), 403, "not-granted")


def test_a_zero_byte_in_an_id_is_refused_and_is_no_slash(
    memory: Memory, agent: httpx2.Client
) -> None:
    for contact in ("x%00y", "x%2F%00"):
        answer = agent.post(f"/v1/agents/crm/contacts/{contact}/notes", json=PUNE)
        assert answer.status_code == 422, answer.text
    assert memory.contact("crm", "x/y").recall() == []


def test_bytes_that_are_no_utf_8_in_an_id_are_refused_and_do_not_meet(
    memory: Memory, agent: httpx2.Client
) -> None:
    for contact in ("x%ff", "x%fe", "x%2F%ff"):
        answer = agent.post(f"/v1/agents/crm/contacts/{contact}/notes", json=PUNE)
        assert (answer.status_code, "UTF-8" in answer.text) == (422, True), answer.text
    assert memory.agent("crm").contacts() == []


def test_a_slash_in_an_id_is_part_of_the_id(
    memory: Memory, agent: httpx2.Client, anna: httpx2.Client
) -> None:
    noted(agent, PUNE, "/v1/agents/crm/contacts/a%2Fb%20%C3%BC")
    assert len(memory.contact("crm", "a/b ü").recall()) == 1
    noted(agent, PUNE | {"attribute": "home/city"})
    assert done(anna.get(f"{PRIYA}/values/home%2Fcity"))[0]["value"] == "Pune"
    said = {"messages": [{"role": "user", "content": "Hi."}], "session_id": "2026/01"}
    done(agent.post(f"{PRIYA}/sessions", json=said))
    assert done(anna.get(f"{PRIYA}/sessions/2026%2F01"))["session_id"] == "2026/01"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"text": 5}, "text"),
        ({"text": "Lives.", "valid_from": "yesterday"}, "cannot be used: valid_from: give an ISO"),
        ({"text": "Lives.", "valid_from": "2026-01-31"}, "write it in full, as 2026-01-31T09:00"),
        ({"text": "Lives.", "proposed_by": "anna"}, "proposed_by"),
        ({"text": "Lives.", "single_valued": "yes"}, "single_valued"),
        ([], "cannot be used: the body must be one JSON object"),
        (None, "cannot be used: the body must be one JSON object"),
    ],
)
def test_a_wrong_body_is_told_what_is_wrong(refused: httpx2.Client, body: Any, told: str) -> None:
    assert told in problem(refused.post(f"{PRIYA}/notes", json=body), 422, "invalid-request")


@pytest.mark.parametrize(
    ("text", "remedy"), [("", "give it words"), (" ", "give it words"), ("x" * 2_001, "split it")]
)
def test_a_note_without_words_or_with_too_many_is_told_what_to_do(
    refused: httpx2.Client, text: str, remedy: str
) -> None:
    told = problem(refused.post(f"{PRIYA}/notes", json={"text": text}), 422, "invalid-note")
    assert remedy in told


@pytest.mark.parametrize("reason", ["", " ", "x" * 2_001])
def test_so_is_a_person_whose_reason_has_none(
    agent: httpx2.Client, anna: httpx2.Client, reason: str
) -> None:
    made = noted(agent, PUNE)
    body = {"reason": reason, "fact_id": made["fact_id"]}
    calls = {
        f"{PRIYA}/amendments": body | {"text": "Lives in Goa."},
        f"{PRIYA}/erasures": body,
        f"{PRIYA}/decisions/{made['decision_id']}/revert": {"reason": reason},
        f"{PRIYA}/facts/{made['fact_id']}/revoke": {"reason": reason},
    }
    for path, sent in calls.items():
        assert "reason" in problem(anna.post(path, json=sent), 422, "invalid-note")
    again = {"reason": "She moved.", "fact_id": made["fact_id"], "text": "", "value": "Goa"}
    assert "give it words" in problem(
        anna.post(f"{PRIYA}/amendments", json=again), 422, "invalid-note"
    )


def test_a_refused_body_is_not_repeated(refused: httpx2.Client) -> None:
    answer = refused.post(f"{PRIYA}/notes", json={"text": ["my password is hunter2"]})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


SECRET = "Hunter2's \n pass-word"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("notes", {"text": "Lives.", "value": SECRET}),
        ("notes", {"text": "Lives.", "subject": f" {SECRET} ", "attribute": "city"}),
        ("notes", {"text": "Lives.", "replaces": [SECRET]}),
        ("notes", {"text": "Lives.", "topic": SECRET * 50}),
        ("disputes/resolve", {"keep": [SECRET], "reason": "x"}),
        ("amendments", {"text": SECRET, "reason": SECRET, "fact_id": SECRET}),
        ("erasures", {"reason": "She asked.", "fact_id": SECRET}),
        ("sessions", {"messages": [{"role": "user", "content": SECRET, "id": SECRET}] * 2,
                      "contact_name": SECRET}),
        ("sessions", {"messages": [{"role": "user", "content": SECRET}], "session_id": SECRET}),
    ],
)  # fmt: skip
def test_no_error_repeats_what_was_sent(
    still_api: Api, caplog: pytest.LogCaptureFixture, path: str, body: Any
) -> None:
    with still_api.client(granted("operator")) as anna:
        answer = anna.post(f"{PRIYA}/{path}", json=body)
    assert answer.status_code >= 400, answer.text
    assert "hunter2" not in (answer.text + caplog.text).casefold()


def test_a_fault_is_logged_without_its_words(
    memory: Memory, agent: httpx2.Client, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(*_: object, **__: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr(ContactMemory, "recall", fail)
    problem(agent.get(f"{PRIYA}/recall"), 500, "fault")
    assert "KeyError" in caplog.text
    assert "Hunter2" not in caplog.text


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"text": "\\ud800"}'])
def test_what_is_no_json_is_refused(refused: httpx2.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = refused.post(f"{PRIYA}/notes", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"


def test_broken_json_is_told_where_it_breaks(refused: httpx2.Client) -> None:
    headers = {"Content-Type": "application/json"}
    answer = refused.post(f"{PRIYA}/notes", content=b'{\n"text": Lives}', headers=headers)
    told = "the body is not JSON: Expecting value: line 2 column 9"
    assert told in problem(answer, 422, "invalid-request")


@pytest.mark.parametrize("named", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_without_its_type_is_told_what_to_send(
    refused: httpx2.Client, named: str | None
) -> None:
    headers = {"Content-Type": named} if named else {}
    answer = refused.post(f"{PRIYA}/notes", content=b'{"text": "Lives."}', headers=headers)
    assert "Content-Type: application/json" in problem(answer, 422, "invalid-request")


def test_a_body_that_is_too_long_is_refused(refused: httpx2.Client) -> None:
    answer = refused.post(f"{PRIYA}/notes", json={"text": "x" * 5_000_000})
    problem(answer, 413, "too-large")


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Host", "evil.example", 421), ("Origin", "https://evil.example", 403),
     ("Origin", "null", 403), ("Origin", "http://localhost:3000", 200)],
)  # fmt: skip
def test_a_web_page_by_another_name_is_refused(
    refused: httpx2.Client, header: str, value: str, status: int
) -> None:
    assert refused.get("/v1/access", headers={header: value}).status_code == status


def test_without_a_good_token_there_are_the_probes_alone(still_api: Api) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert httpx2.get(still_api.url + path).status_code == 200
    for path in ("/v1/access", "/metrics", "/v1", "/v1/nope"):
        told = problem(httpx2.get(still_api.url + path), 401, "no-good-token")
        assert "`reconciler token list`" in told


def test_a_path_that_does_not_exist_is_told_where_the_paths_are(anna: httpx2.Client) -> None:
    told = problem(anna.get(f"{PRIYA}/nope"), 404, "no-such-path")
    assert "/openapi.json" in told


def test_the_document_describes_each_field_of_a_note_and_each_filter(still_api: Api) -> None:
    document = httpx2.get(f"{still_api.url}/openapi.json").json()
    fields = document["components"]["schemas"]["NoteBody"]["properties"]
    recall = document["paths"]["/v1/agents/{agent_id}/contacts/{contact_id}/recall"]["get"]
    filters = {each["name"]: each for each in recall["parameters"]}
    nothing_said = {"query", "limit", "budget_tokens", "as_of", "valid_at"}
    described = {**fields, **{k: v for k, v in filters.items() if k not in nothing_said}}
    assert [name for name, field in described.items() if not field.get("description")] == []


def test_an_expired_or_revoked_token_is_turned_away(still_api: Api) -> None:
    made, secret = still_api.tokens.create(granted())
    still_api.tokens.revoke(made.token_id)
    late = still_api.token(granted(), expires_at=datetime.now(UTC) + timedelta(seconds=1))
    anyio.run(anyio.sleep, 1.1)
    for each in (secret, late):
        answer = httpx2.get(
            f"{still_api.url}/v1/access", headers={"Authorization": f"Bearer {each}"}
        )
        problem(answer, 401, "no-good-token")


def test_a_token_that_comes_too_often_is_told_when_to_come_again(
    memory: Memory, tmp_path: Path
) -> None:
    with serving_api(memory, tmp_path, calls_per_minute=2) as api, api.client(granted()) as agent:
        answers = [agent.get("/v1/access") for _ in range(3)]
        assert "raise --calls-per-minute" in problem(answers[2], 429, "too-many")
        assert 1 <= int(answers[2].headers["retry-after"]) <= 30


def test_a_memory_that_does_not_answer_is_told_without_its_address(
    memory: Memory, api: Api, agent: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise GraphUnavailableError("bolt://10.0.0.7 is away")

    monkeypatch.setattr(ContactMemory, "recall", fail)
    monkeypatch.setattr(memory._services.binding_store.graph, "describe", fail)
    answer = agent.get(f"{PRIYA}/recall")
    told = problem(answer, 503, "graph-unavailable")
    assert "10.0.0.7" not in told
    assert answer.headers["retry-after"] == "1"
    assert httpx2.get(f"{api.url}/readyz").status_code == 503
    assert httpx2.get(f"{api.url}/healthz").status_code == 200


def test_half_a_request_does_not_keep_others_waiting(api: Api, agent: httpx2.Client) -> None:
    host, port = api.url.removeprefix("http://").split(":")
    clients = [socket.create_connection((host, int(port))) for _ in range(50)]
    for each in clients:
        each.sendall(b"POST /v1/agents/crm/contacts/priya/notes HTTP/1.1\r\nHost: localhost\r\n")
    assert agent.get("/v1/access").status_code == 200
    for each in clients:
        each.close()


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_an_open_path_waits_for_no_body(still_api: Api, path: str) -> None:
    host, port = still_api.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as client:
        client.sendall(
            f"GET {path} HTTP/1.1\r\nHost: any\r\nContent-Length: 4000000\r\n\r\n".encode()
        )
        assert client.recv(12) == b"HTTP/1.1 200"


def test_probes_of_anyone_ask_once_and_keep_no_thread(
    memory: Memory, api: Api, agent: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, is_over = [], threading.Event()

    def hang() -> None:
        asked.append(1)
        is_over.wait(60)
        raise GraphUnavailableError("away")

    monkeypatch.setattr(memory._services.binding_store.graph, "describe", hang)
    host, port = api.url.removeprefix("http://").split(":")
    with ExitStack() as opened:
        probes = [
            opened.enter_context(socket.create_connection((host, int(port)), timeout=60))
            for _ in range(320)
        ]
        for each in probes:
            each.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            assert httpx2.get(f"{api.url}/healthz", timeout=30).status_code == 200  # came after all
            assert agent.get(f"{PRIYA}/recall", timeout=30).status_code == 200
        finally:
            is_over.set()
        assert {each.recv(12) for each in probes} == {b"HTTP/1.1 503"}
    assert len(asked) <= 2


def _hanging(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> tuple[threading.Event, threading.Semaphore]:
    """Let each recall wait until the event is set; the semaphore counts those that wait."""
    is_over, waiting = threading.Event(), threading.Semaphore(0)

    def hang(*_: object, **__: object) -> None:
        waiting.release()
        is_over.wait(60)
        raise GraphUnavailableError("away")

    monkeypatch.setattr(ContactMemory, "recall", hang)
    return is_over, waiting


def test_one_token_leaves_room_for_others(
    memory: Memory, api: Api, agent: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, waiting = _hanging(memory, monkeypatch)
    with ThreadPoolExecutor(75) as pool, api.client(granted()) as other:
        agent = httpx2.Client(
            base_url=api.url, headers=agent.headers, timeout=60, limits=httpx2.Limits()
        )
        try:
            calls = [pool.submit(agent.get, f"{PRIYA}/recall") for _ in range(75)]
            assert all(waiting.acquire(timeout=20) for _ in calls)
            told = problem(agent.get("/v1/access"), 429, "too-many")
            assert "of this token" in told
            assert other.get("/v1/access", timeout=10).status_code == 200
        finally:
            is_over.set()
        assert {call.result().status_code for call in calls} == {503}
        agent.close()


def test_two_hundred_slow_callers_keep_no_probe_and_no_other_token_waiting(
    memory: Memory, api: Api, agent: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, waiting = _hanging(memory, monkeypatch)
    headers = [{"Authorization": f"Bearer {api.token(granted())}"} for _ in range(4)]
    with (
        ThreadPoolExecutor(200) as pool,
        httpx2.Client(base_url=api.url, timeout=60, limits=httpx2.Limits()) as client,
    ):
        calls = [
            pool.submit(client.get, f"{PRIYA}/recall", headers=headers[number % 4])
            for number in range(200)
        ]
        try:
            assert all(waiting.acquire(timeout=20) for _ in calls)
            assert httpx2.get(f"{api.url}/healthz", timeout=5).status_code == 200
            assert httpx2.get(f"{api.url}/readyz", timeout=5).status_code == 200
            assert done(agent.get("/v1/access", timeout=5))["tenant"]
        finally:
            is_over.set()
        assert {call.result().status_code for call in calls} == {503}


def test_the_api_is_served_over_tls(memory: Memory, tmp_path: Path) -> None:
    address = certified(tmp_path)
    assert address.certificate is not None
    with serving_api(memory, tmp_path, address=address) as api:
        assert api.url.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(address.certificate))
        headers = {"Authorization": f"Bearer {api.token(granted())}"}
        with httpx2.Client(base_url=api.url, headers=headers, verify=trusted, timeout=60) as client:
            assert noted(client, PUNE)["disposal"] == "admit"
        with pytest.raises(httpx2.ConnectError, match="certificate"):
            httpx2.get(f"{api.url}/healthz")
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{api.url.replace('https', 'http')}/healthz")
