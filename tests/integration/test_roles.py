"""What an auditor, a reviewer and an operator may do over HTTP and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from reconciler import Memory
from reconciler.entrypoints.serving import address_of
from reconciler.errors import InvalidRequestError
from reconciler.serve.access.http_door import Address
from reconciler.testing import HashingEmbedder
from tests.engines import embedded_engine
from tests.http_api import Api, serving_api
from tests.mcp_server import granted
from tests.operator_page import Browser
from tests.tables import every

PRIYA = "/v1/agents/crm/contacts/priya"
HEADER = "X-Forwarded-User"
PERSONS = ("auditor", "reviewer", "operator")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory with one open question."""
    given = embedded_engine(tmp_path).settings_arguments
    with Memory.open(embedder=HashingEmbedder(), **given) as memory:
        memory.add_contact_note("crm", "priya", "Lives in Pune.", attribute="city", value="Pune")
        memory.add_contact_note("crm", "priya", "I guess I prefer window seats", importance=0.8)
        yield memory


@pytest.fixture
def server(memory: Memory, tmp_path: Path) -> Iterator[Api]:
    """Its server, with a proxy that logs persons in."""
    address = Address(host="127.0.0.1", port=0, login_header=HEADER)
    with serving_api(memory, tmp_path, address=address) as server:
        yield server


@pytest.fixture
def plain(memory: Memory, tmp_path: Path) -> Iterator[Api]:
    """Its server, without a proxy."""
    with serving_api(memory, tmp_path) as server:
        yield server


def status(server: Api, profile: str, path: str, body: dict[str, object] | None = None) -> int:
    """The status of a request with a token of this profile; a body makes it a POST."""
    token = server.token(granted(profile, name="anna"))
    headers = {"Authorization": f"Bearer {token}"}
    method = "GET" if body is None else "POST"
    with httpx2.Client(base_url=server.url, headers=headers) as client:
        return client.request(method, path, json=body).status_code


@every("profile", PERSONS)
@every("path", ["/history", "/pending", "/decisions", "/recall?query=city"])
def test_every_person_reads(plain: Api, profile: str, path: str) -> None:
    assert status(plain, profile, PRIYA + path) == 200


@every(("profile", "expected"), [("auditor", 403), ("reviewer", 200), ("operator", 200)])
def test_a_reviewer_answers_and_an_auditor_does_not(
    plain: Api, memory: Memory, profile: str, expected: int
) -> None:
    about = memory.contact("crm", profile)
    held = about.note("I guess I prefer window seats", importance=0.8).decision_id
    path = f"/v1/agents/crm/contacts/{profile}/decisions/{held}/reject"
    assert status(plain, profile, path, {"answered_by": "contact"}) == expected
    assert len(about.pending()) == (expected == 403)


@every("profile", ["auditor", "reviewer"])
@every(
    ("path", "body"),
    [
        ("/notes", {"text": "Lives in Goa."}),
        ("/amendments", {"text": "Lives in Goa.", "attribute": "city", "value": "Goa"}),
        ("/erasures", {"reason": "She asked."}),
        ("/sessions", {"messages": [{"role": "user", "content": "I live in Goa."}]}),
        ("/decisions/confirm/revert", {"reason": "No."}),
        ("/facts/x/revoke", {"reason": "No."}),
    ],
)
def test_only_an_operator_changes_what_is_known(
    plain: Api, memory: Memory, profile: str, path: str, body: dict[str, object]
) -> None:
    before = len(memory.contact("crm", "priya").decisions())
    assert status(plain, profile, PRIYA + path, body) == 403
    assert len(memory.contact("crm", "priya").decisions()) == before


def test_an_auditor_sees_the_page_and_sends_no_form(plain: Api, memory: Memory) -> None:
    with Browser(plain.url) as browser:
        browser.log_in(plain.token(granted("auditor", name="anna")))
        page = browser.get("/contact", agent="crm", contact="priya")
        assert "Lives in Pune." in page.text
        refused = browser.send(page.form("/answer"), answer="yes")
        assert refused.status == 403
        assert "profile auditor" in refused.text
        assert browser.send(page.form("/logout")).status == 200
    assert len(memory.contact("crm", "priya").pending()) == 1


# A proxy that logs persons in


def test_the_person_whom_the_proxy_names_is_logged_in_by_the_token_of_that_name(
    server: Api,
) -> None:
    server.token(granted("operator", name="anna@example.com"))
    with Browser(server.url) as browser:
        browser.client.headers[HEADER] = "anna@example.com"
        page = browser.get("/contact", agent="crm", contact="priya")
        assert "Lives in Pune." in page.text
        done = browser.send(page.form("/answer"), answer="yes")
        assert done.status == 200


@every("named", [None, "", "bob@example.com", "agent@example.com"])
def test_a_person_without_a_token_sees_nothing(server: Api, named: str | None) -> None:
    server.token(granted("operator", name="anna@example.com"))
    server.token(granted(name="agent@example.com"))
    with Browser(server.url) as browser:
        if named is not None:
            browser.client.headers[HEADER] = named
        page = browser.get("/contact", agent="crm", contact="priya")
        assert "Pune" not in page.text


def test_two_names_are_none(server: Api) -> None:
    server.token(granted("operator", name="anna"))
    with httpx2.Client(base_url=server.url, follow_redirects=True) as client:
        headers = [(HEADER, "anna"), (HEADER, "anna")]
        assert "Pune" not in client.get("/contact?agent=crm&contact=priya", headers=headers).text


def test_a_cookie_does_not_pass_for_the_proxy(plain: Api) -> None:
    plain.token(granted("operator", name="anna"))
    with Browser(plain.url) as browser:
        browser.client.headers["Cookie"] = "reconciler=proxy:anna"
        browser.client.headers[HEADER] = "anna"  # this server has no proxy
        assert "Pune" not in browser.get("/contact", agent="crm", contact="priya").text


def test_a_form_of_another_site_is_refused_though_the_proxy_names_a_person(server: Api) -> None:
    server.token(granted("operator", name="anna"))
    with Browser(server.url) as browser:
        browser.client.headers[HEADER] = "anna"
        form = browser.get("/contact", agent="crm", contact="priya").form("/answer")
        assert browser.send(form, form_key="proxy:anna").status == 403
        other = browser.send(form, headers={"Sec-Fetch-Site": "cross-site"})
        assert other.status == 403


def test_a_reviewer_records_no_answer(plain: Api, memory: Memory) -> None:
    about = memory.contact("crm", "priya")
    recalled = about.recall()
    body: dict[str, object] = {
        "recall_id": recalled.recall_id,
        "reference": "ticket-1",
        "used": [recalled[0].fact.fact_id],
    }
    assert status(plain, "reviewer", f"{PRIYA}/answers", body) == 403
    assert about.impact(recalled[0].fact.fact_id) == []


def test_a_revoked_token_leaves_no_older_one_and_no_usual_name(server: Api) -> None:
    held = server.tokens
    held.create(granted("operator", name="dora"))
    newer, _ = held.create(granted("auditor", name="dora"))
    held.create(granted("operator"))
    assert held.find_named("dora") == newer
    held.revoke(newer.token_id)
    assert held.find_named("dora") is None
    assert held.find_named("operator") is None


@pytest.mark.parametrize("name", ["", "X User", "X-Forwarded-User:", "\r\n"])
def test_a_login_header_that_no_request_can_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError, match="must name a header, such as X-Forwarded-User"):
        address_of("127.0.0.1", 0, None, None, None, name)
