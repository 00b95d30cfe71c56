"""The command that serves Neo4j Browser the pack: style and guide.

The parts are in ``browser/``. The server listens on the loopback only and serves only these files:
Neo4j Browser fetches them from the page that it runs in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import reconciler
from reconciler.entrypoints.options import AsJson, Tenant, show
from reconciler.entrypoints.rendering import as_it_is
from reconciler.entrypoints.serving import Port, stop_signals
from reconciler.errors import ConfigurationError
from reconciler.frozen import Json, StringMap, Values, frozen
from reconciler.resources import resource_path

_BROWSER_PORT = 7474
_POLL_SECONDS = 0.2
PACK_HOST = "127.0.0.1"
_TRUSTED_ORIGINS = re.compile(
    r"https?://(127\.0\.0\.1|localhost|\[::1\]|([a-z0-9-]+\.)*neo4j\.(io|com))(:\d+)?",
    re.IGNORECASE,
)
"""Pages that may read the pack: a Browser on this machine, or the one of Neo4j."""


def browser(
    agent: str = "demo",
    contact: str = "dana",
    tenant: Tenant = None,
    port: Port = 8474,
    as_json: AsJson = False,
) -> None:
    """Serve style, guide and queries to Neo4j Browser until Ctrl-C.

    Options:
        agent: the agent that the guide's queries ask about.
        contact: the contact that the guide's queries ask about.
        port: the port on 127.0.0.1; 0 picks a free one.
    """
    whose = (agent, contact, tenant or reconciler.load_settings().tenant)
    with stop_signals() as asked, serving_pack(port, *whose) as base:
        show(as_json, _links(base), lambda told: as_it_is(f"{_text(told)}\n\nCtrl-C ends it."))
        while not asked.wait(_POLL_SECONDS):  # an endless wait would let no handler run
            pass


def _links(base_url: str) -> Json:
    """Return the address to open, the commands to type, and server settings that replace them."""
    server = reconciler.load_settings().neo4j
    host = urlsplit(server.uri).hostname or "localhost"
    return {
        "browser": f"http://{host}:{_BROWSER_PORT}/browser/?dbms={server.uri}",
        "style": f":style {base_url}style.grass",
        "guide": f":play {base_url}guide.html",
        "new_guide": f":guide {base_url}guide.adoc",
        "neo4j_conf": server_settings(base_url),
    }


def _text(told: Values) -> str:
    conf = "\n".join(f"{name}={value}" for name, value in told["neo4j_conf"].items())
    return (
        f"Open {told['browser']}, log in, and type\n  {told['style']}\n  {told['guide']}\n"
        f"In the Browser of the newer images:\n  {told['new_guide']}\n"
        "The server must allow the host, in neo4j.conf; then a login does all three:\n"
        f"{conf}\n"
        "Aura takes no guide from elsewhere: import these as saved queries:\n"
        f"  {resource_path('browser') / 'queries'}/*.cypher"
    )


@frozen
class SavedQuery:
    """One of the pack's queries.

    Attributes:
        name: its file's name, less the suffix; the files are in the order of the guide.
        title: its title.
        says: what it shows, in a sentence.
        shows: ``graph`` or ``table``.
        text: the Cypher, with ``$tenant``, ``$agent_id`` and ``$contact_id``.
    """

    name: str
    title: str
    says: str
    shows: str
    text: str


def saved_queries() -> list[SavedQuery]:
    """Read the pack's queries, in the order of the guide.

    Raises:
        ConfigurationError: the installation lacks them.
    """
    return [
        _read_query(path)
        for path in sorted((resource_path("browser") / "queries").glob("*.cypher"))
    ]


def pack_files(
    base_url: str, agent_id: str = "demo", contact_id: str = "dana", tenant: str = "default"
) -> dict[str, bytes]:
    """Read every file of the pack, by its path.

    Args:
        base_url: where they will be found, with a slash at the end; the guide names the style.
        agent_id: the guide asks about this agent's memory, until a reader puts another name in.
        contact_id: the contact that the guide asks about, likewise.
        tenant: the tenant that the guide asks about, likewise.

    Raises:
        ConfigurationError: the installation lacks them.
    """
    from jinja2 import Environment, FileSystemLoader

    folder = resource_path("browser")
    given = {
        "tenant": json.dumps(tenant),
        "agent_id": json.dumps(agent_id),
        "contact_id": json.dumps(contact_id),
        "base_url": base_url,
        "contacts_query": _body(folder / "contacts.cypher"),
        "queries": saved_queries(),
    }
    loader = FileSystemLoader(folder)
    files = {
        "guide.html": Environment(autoescape=True, loader=loader, trim_blocks=True),
        # AsciiDoc itself escapes the text of a listing, and knows no entities.
        "guide.adoc": Environment(loader=loader, trim_blocks=True),  # noqa: S701
    }
    made = {
        name: made_by.get_template(f"{name}.jinja").render(given).encode()
        for name, made_by in files.items()
    }
    made["style.grass"] = (folder / "style.grass").read_bytes()
    return made


def server_settings(base_url: str) -> StringMap:
    """List the settings that make a Neo4j server's Browser open with style, guide and a graph."""
    first = " ".join(_body(resource_path("browser") / "first_graph.cypher").split())
    commands = [f"style {base_url}style.grass", f"play {base_url}guide.html", f"auto {first}"]
    return {
        "browser.post_connect_cmd": "; ".join(commands),
        # The servers of both lines know it by this name, and compare host names without a port.
        "browser.remote_content_hostname_whitelist": str(urlsplit(base_url).hostname),
        "client.allow_telemetry": "false",
    }


@contextmanager
def serving_pack(port: int = 0, *whose: str) -> Iterator[str]:
    """Serve the pack on the loopback while the block runs; gives the address of its folder.

    Args:
        port: the port; 0 picks a free one.
        *whose: agent, contact and tenant, as for ``pack_files``.

    Raises:
        ConfigurationError: the port is taken.
    """
    from reconciler.ops.small_server import listening, running

    files: dict[str, bytes] = {}
    try:
        server = listening(PACK_HOST, port, partial(_answer, files))
    except OSError as error:
        raise ConfigurationError(
            f"port {port} of {PACK_HOST} is already in use: choose another"
        ) from error
    with running(server) as url:
        files |= pack_files(url, *whose)
        yield url


def _answer(
    files: Mapping[str, bytes], environ: Values, start: Callable[..., Any]
) -> Iterable[bytes]:
    """Answers GET, HEAD and the preflight request of a page from another host."""
    name, method = environ["PATH_INFO"].lstrip("/"), environ["REQUEST_METHOD"]
    status, content = "200 OK", files.get(name)
    if method == "OPTIONS":
        status, content = "204 No Content", b""
    elif content is None:
        status, content = "404 Not Found", b"There is no such file in the pack.\n"
    headers = {
        "Content-Type": f"text/{'html' if name.endswith('.html') else 'plain'}; charset=utf-8",
        "Content-Length": str(len(content)),
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
        "Vary": "Origin",
        **_permissions(environ.get("HTTP_ORIGIN", "")),
    }
    start(status, [*headers.items()])
    return [content] if method == "GET" else []


def _permissions(origin: str) -> StringMap:
    """Return the headers that let a Browser's page read the answer, and no other page."""
    if not _TRUSTED_ORIGINS.fullmatch(origin):
        return {}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
        "Access-Control-Allow-Headers": "cache-control, pragma, content-type",
        "Access-Control-Allow-Private-Network": "true",
        "Access-Control-Max-Age": "600",
    }


def _read_query(path: Path) -> SavedQuery:
    lines = path.read_text(encoding="utf-8").splitlines()
    title, _, says = lines[0].removeprefix("// ").partition(": ")
    return SavedQuery(
        name=path.stem,
        title=title,
        says=says,
        shows=lines[1].removeprefix("// shows: "),
        text=_body(path),
    )


def _body(path: Path) -> str:
    """Return the text without the comments above it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("//")).strip()


COMMANDS = {"browser": browser}
"""The commands of this module, by name."""
