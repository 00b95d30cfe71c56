"""The pack as it is served: complete, escaped, and read by a Browser's page only."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from http.client import HTTPConnection, HTTPResponse

import pytest

from reconciler.entrypoints.browser_commands import (
    pack_files,
    saved_queries,
    server_settings,
    serving_pack,
)
from reconciler.errors import ConfigurationError

EVIL = 'x"}</pre><script>alert(1)</script>'


@pytest.fixture(scope="module")
def pack() -> Iterator[str]:
    with serving_pack() as url:
        yield url


def asked(
    pack: str, method: str, path: str, origin: str | None = None
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", int(pack.rstrip("/").rpartition(":")[2]), 10)
    connection.request(method, path, headers={} if origin is None else {"Origin": origin})
    answer = connection.getresponse()
    try:
        return answer, answer.read()
    finally:
        connection.close()


def test_every_file_is_served_with_its_type(pack: str) -> None:
    types = {"html": "text/html", "adoc": "text/plain", "grass": "text/plain"}
    files = pack_files(pack)
    for name, content in files.items():
        answer, body = asked(pack, "GET", f"/{name}?fresh=1")
        assert (answer.status, body) == (200, content)
        kind = types.get(name.rpartition(".")[2], "text/plain")
        assert answer.headers["Content-Type"] == f"{kind}; charset=utf-8"
    assert {"guide.html", "guide.adoc", "style.grass"} == set(files)


@pytest.mark.parametrize("path", ["/", "/../pyproject.toml", "/queries/", "/guide.html/x"])
def test_nothing_else_is_served(pack: str, path: str) -> None:
    answer, _ = asked(pack, "GET", path)
    assert answer.status == 404


@pytest.mark.parametrize(
    ("origin", "is_let"),
    [
        ("http://127.0.0.1:7474", True),
        ("http://localhost:7474", True),
        ("http://[::1]:7474", True),
        ("https://browser.neo4j.io", True),
        ("https://neo4j.io.example.com", False),
        ("https://example.com", False),
        ("http://[::1", False),
        ("null", False),
        (None, False),
    ],
)
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "HEAD"])
def test_a_browsers_page_may_read_it_and_another_may_not(
    pack: str, method: str, origin: str | None, is_let: bool
) -> None:
    answer, _ = asked(pack, method, "/guide.html", origin)
    assert answer.status == (204 if method == "OPTIONS" else 200)
    assert answer.headers["Access-Control-Allow-Origin"] == (origin if is_let else None)
    if is_let:
        assert "pragma" in answer.headers["Access-Control-Allow-Headers"]


def test_a_taken_port_is_said(pack: str) -> None:
    port = int(pack.rstrip("/").rpartition(":")[2])
    told = f"port {port} of 127.0.0.1 is already in use"
    with pytest.raises(ConfigurationError, match=told), serving_pack(port):
        pass


def test_the_guides_hold_every_query_and_no_markup_of_anybodys() -> None:
    files = pack_files("http://127.0.0.1:1/", EVIL, EVIL)
    html, adoc = (files[name].decode() for name in ("guide.html", "guide.adoc"))
    for query in saved_queries():
        assert query.text in unescape(html)
        assert query.text in adoc
    assert "<script>" not in html
    assert adoc.count("----") == 2 * (len(saved_queries()) + 2)
    assert ':params {tenant: "default", agent_id: "x\\"}</pre><script>' in unescape(html)
    assert html.count("<slide") == html.count("</slide>") == len(saved_queries()) + 1


def test_a_server_is_told_in_three_settings() -> None:
    settings = server_settings("http://127.0.0.1:8474/")
    assert settings["browser.remote_content_hostname_whitelist"] == "127.0.0.1"
    assert settings["client.allow_telemetry"] == "false"
    assert len(settings["browser.post_connect_cmd"].split("; ")) == 3
