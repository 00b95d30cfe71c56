"""What clients send to the HTTP API, and browsers to the page: bent requests of every address."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import pytest

from reconciler import Memory
from reconciler.domain.records.facts import handle_of
from reconciler.serve.http_api.app import api
from reconciler.serve.operator_page.acts import FORMS, READS
from reconciler.serve.operator_page.views import PAGES
from tests.fuzz.bench import Bench
from tests.fuzz.bending import bent, bent_bytes, bent_text
from tests.fuzz.texts import SENTENCES, WORDS
from tests.fuzz.trying import each_number
from tests.http_api import serving_api
from tests.mcp_server import granted
from tests.operator_page import Browser, Page

pytestmark = pytest.mark.faults

SCRIPT = "<script>alert(1)</script>"
ODD_WORDS = (
    *("", " ", "\0", "x" * 501, "x" * 5_000, "\ud800", "\u202e", "..", "../../x", "a/b", "%2F"),
    *("-1", "0", "1e9", "NaN", "true", "null", "{}", "2026-01-31", "9999-12-31T23:59:59-14:00"),
    *("*", 'W/"1-2026010109"', "yesterday~x", "0001-01-01T00:00:00+23:59~x", "🧨" * 90, SCRIPT),
)

Chance = random.Random


class Served:
    """The bench's memory behind an API with the page, started again whenever it is another."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self._folder = folder
        self._memory: Memory | None = None
        self._stack = ExitStack()
        document = api(bench.memory).openapi()
        self.operations = [
            (path, method.upper(), operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        ]

    def start(self) -> None:
        if self._memory is self.bench.memory:
            return
        self.close()
        self._memory = self.bench.memory
        folder = self._folder / "tokens"
        folder.mkdir(exist_ok=True)
        running = self._stack.enter_context(
            serving_api(self.bench.memory, folder, calls_per_minute=10**6)
        )
        grants = (granted(), granted("operator", name="dana"))
        self.clients = [self._stack.enter_context(running.client(each)) for each in grants]
        browser = self._stack.enter_context(Browser(running.url))
        first = browser.log_in(running.token(grants[1]))
        self.form_key = dict(first.form("/logout").fields)["form_key"]
        self.browser = browser.client

    def close(self) -> None:
        self._stack.close()
        self._memory = None

    def tried(self, door: str, ask: Callable[[], httpx2.Response]) -> httpx2.Response:
        """An answer without a fault; where it is a refusal, nothing was written."""
        answers: list[httpx2.Response] = []
        self.start()

        def call(_: Memory) -> None:
            writes = self.bench.writes
            answers.append(ask())
            [answer] = answers
            assert answer.status_code < 500, answer.text
            assert "Traceback" not in answer.text
            if answer.status_code >= 400:
                assert self.bench.writes == writes, f"written, then refused: {answer.text}"

        self.bench.attempt(door, call)
        if self._memory is not self.bench.memory:
            self.close()  # before the next one, for its memory is closed
        return answers[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Iterator[Served]:
    made = Served(bench, tmp_path_factory.mktemp("served"))
    yield made
    made.close()


def text(chance: Chance) -> str:
    """A sentence, the words that rules look for, or what no client should send."""
    drawn = chance.random()
    if drawn < 0.4:
        return bent_text(chance.choice(SENTENCES), chance)
    if drawn < 0.8:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
    return chance.choice(ODD_WORDS)


def value(name: str, served: Served, chance: Chance) -> str:
    """What a parameter, a field or a part of a path mostly gets."""
    ids = served.bench.ids
    handles = [handle_of(each) for each in ids["fact_id"]]
    cursors = [f"2026-01-31T09:00:00+00:00~{each}" for each in ids["decision_id"]]
    usual: dict[str, Sequence[str]] = {
        name_: values
        for names, values in (
            ("decision_id decision done again", ids["decision_id"]),
            ("fact_id", ids["fact_id"]),
            ("job_id", ids["job_id"]),
            ("fact side keep", (*ids["fact_id"], *handles, "both", "neither")),
            ("agent_id agent", (*["crm"] * 9, "sales")),
            ("contact_id contact confirm", (*["priya"] * 6, "bob", "nobody")),
            ("session_id session", ("chat-17", "chat-18")),
            ("after", (*ids["fact_id"], *ids["decision_id"], *ids["job_id"], *cursors, "priya")),
            ("answer", ("yes", "no", "withdraw", "words")),
            ("answered_by", ("contact", "operator")),
            ("attribute", ("city", "employer")),
            ("never and_later", ("yes", "")),
            ("limit from budget_tokens", ("1", "3", "20")),
            ("at since until true_from", ("2026-01-31", "2026-11-01", "2026-01-31T09:00:00Z")),
            ("as_of valid_at", ("2026-01-31T09:00:00Z",)),
        )
        for name_ in names.split()
    }
    if name in usual and chance.random() < 0.85:
        return chance.choice(usual[name])
    return text(chance)


def body(path: str, served: Served, chance: Chance) -> dict[str, Any]:
    """A body that fits an address, before it is bent."""
    said, ids = chance.choice(SENTENCES), served.bench.ids
    because = {"reason": "It has ended.", "answered_by": chance.choice(("contact", "operator"))}
    message = {"role": "user", "content": said, "timestamp": "2026-01-31T09:00:00Z"}
    bodies: dict[str, dict[str, Any]] = {
        "notes": {"text": said, "source_kind": "user_explicit", "tags": ["x"], "importance": 0.9},
        "sessions": {"messages": [message, {"role": "assistant", "content": "Noted."}]},
        "confirm": {"answered_by": "contact", "text": said},
        "revert": because | {"and_later": True},
        "resolve": because | {chance.choice(("keep", "neither")): chance.sample(ids["fact_id"], 2)},
        "amendments": {"text": said, "reason": "Wrong.", "fact_id": value("fact", served, chance)},
        "revoke": because | {"never": False},
        "erasures": because | {"dry_run": True, "attribute": "city"},
    }
    return bodies.get(path.rpartition("/")[2], {"answered_by": "operator"})


def called(seed: int, served: Served) -> None:
    served.start()
    chance = Chance(seed)
    path, method, operation = chance.choice(served.operations)
    for name in ("agent_id", "contact_id", "decision_id", "fact_id", "job_id", "session_id"):
        given = value(name, served, chance) if f"{{{name}}}" in path else ""
        path = path.replace(f"{{{name}}}", quoted(given))
    path = path.replace("{attribute}", quoted(value("attribute", served, chance)))
    known = [each for each in operation.get("parameters", ()) if each["in"] != "path"]
    some = chance.sample(known, min(len(known), chance.randint(0, 3)))
    query = [(each["name"], value(each["name"], served, chance)) for each in some
             if each["in"] == "query"]  # fmt: skip
    headers = {each["name"]: value(each["name"], served, chance).encode("utf-8", "replace")
               .replace(b"\0", b"").replace(b"\n", b" ").replace(b"\r", b" ").strip()
               for each in some if each["in"] == "header"}  # fmt: skip
    data = b""
    if "requestBody" in operation or chance.random() < 0.05:
        sent = body(path, served, chance)
        sent = bent(sent, chance) if chance.random() < 0.7 else sent
        data = json.dumps(sent).encode("utf-8", "surrogatepass")
        data = bent_bytes(data, chance) if chance.random() < 0.1 else data
        headers["content-type"] = b"application/json"
    client = chance.choice(served.clients[-1:] * 4 + served.clients[:1])
    asked = f"{path}?{encoded(query)}" if query else path
    answer = served.tried(
        "API requests",
        lambda: client.request(method, asked, content=data, headers=headers),
    )
    kind = answer.headers.get("content-type", "")
    if kind.endswith("json"):
        told = answer.json(parse_constant=refuse)
        assert answer.status_code < 400 or told["type"].startswith("urn:reconciler:problem:")
    else:
        assert kind.startswith("text/plain") or answer.status_code == 304, kind


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def quoted(part: str) -> str:
    return quote(part.encode("utf-8", "surrogatepass"), safe="") or "%20"


def encoded(fields: list[tuple[str, str]]) -> str:
    return urlencode(fields, errors="surrogatepass")


def test_a_request_to_the_api_is_answered_or_refused(served: Served) -> None:
    each_number(40, "API requests", lambda seed: called(seed, served))


FIELDS = {
    "/": ("agent", "after", "q", "from"),
    "/contact": ("agent", "contact", "at", "from", "done", "again"),
    "/fact": ("agent", "contact", "fact"),
    "/decision": ("agent", "contact", "decision"),
    "/decisions": (
        *("agent", "contact", "disposal", "gate_reason", "source", "since", "until", "from"),
    ),
    "/questions": ("agent", "contact", "after"),
    "/erase": ("agent", "contact", "fact", "session", "confirm", "reason", "answered_by"),
    "/erasure": ("agent", "contact", "erasure"),
    "/answer": ("agent", "contact", "decision", "answer", "answered_by", "text"),
    "/answers": ("agent", "contact", "ticked", "ticked", "answer", "answered_by"),
    "/settle": ("agent", "contact", "side", "side", "keep", "reason", "answered_by"),
    "/renew": ("agent", "contact", "fact", "answer", "reason", "answered_by"),
    "/note": ("agent", "contact", "decision", "text", "answered_by"),
    "/amend": ("agent", "contact", "fact", "text", "value", "reason", "true_from"),
    "/end": ("agent", "contact", "fact", "reason", "never", "answered_by"),
    "/undo": ("agent", "contact", "decision", "reason", "and_later", "answered_by"),
    "/merge": ("agent", "contact", "other", "reason"),
}
ASKED, SENT = (*PAGES, *READS), (*FORMS,)


def test_every_page_and_form_is_made_up() -> None:
    assert FIELDS.keys() == {*ASKED, *SENT}


def visited(seed: int, served: Served) -> None:
    served.start()
    chance = Chance(seed)
    is_sent = chance.random() < 0.6
    path = chance.choice(SENT if is_sent else ASKED)
    names = [each for each in FIELDS[path] if chance.random() < 0.9]
    fields = [(name, value(name, served, chance)) for name in names]
    chance.shuffle(fields)
    if is_sent:
        content = encoded([*fields, ("form_key", served.form_key)]).encode()
        content = bent_bytes(content, chance) if chance.random() < 0.1 else content
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = served.tried(
            "page forms", lambda: served.browser.post(path, content=content, headers=headers)
        )
    else:
        answer = served.tried("pages", lambda: served.browser.get(f"{path}?{encoded(fields)}"))
    assert SCRIPT not in answer.text
    assert Page(answer).text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_page_is_shown_and_a_form_settled_or_refused(served: Served) -> None:
    each_number(40, "pages", lambda seed: visited(seed, served))
