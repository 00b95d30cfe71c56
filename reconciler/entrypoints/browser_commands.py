"""The command that gives Neo4j Browser the pack: style, guide and saved queries."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from reconciler.entrypoints.options import AsJson, Overwrite, Tenant, show
from reconciler.entrypoints.rendering import as_it_is
from reconciler.entrypoints.stopping import stop_signals
from reconciler.errors import ConfigurationError, InvalidRequestError
from reconciler.named_secrets import without_secrets

_BROWSER_PORT = 7474
_POLL_SECONDS = 0.2
_BASE_URL = "http://127.0.0.1:8474/"


def browser(
    agent: str = "demo",
    contact: str = "dana",
    tenant: Tenant = None,
    write: Path | None = None,
    base_url: str = _BASE_URL,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8474,
    open_: bool = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Serve style, guide and queries to Neo4j Browser until Ctrl-C, or write them to files.

    Options:
        agent: the agent that the guide's queries ask about.
        contact: the contact that the guide's queries ask about.
        write: write the files into this folder instead of serving them.
        base_url: with --write: the address that the files will be served from.
        port: the port on 127.0.0.1; 0 picks a free one.
        open_: also open Neo4j Browser.
    """
    from reconciler.entrypoints.browser_pack import serving_pack
    from reconciler.settings import load_settings

    whose = (agent, contact, tenant or load_settings().tenant)
    if write is not None:
        made = _write(write, _checked(base_url), whose, overwrite=overwrite)
        told = _links(base_url) | {"files": [without_secrets(str(path)) for path in made]}
        where = without_secrets(str(write))
        show(as_json, told, lambda _: as_it_is(f"{len(made)} files in {where}.\n{_text(told)}"))
        return
    with stop_signals() as asked, serving_pack(port, *whose) as base:
        told = _links(base)
        show(as_json, told, lambda _: as_it_is(f"{_text(told)}\n\nCtrl-C ends it."))
        if open_:
            webbrowser.open(told["browser"])
        while not asked.wait(_POLL_SECONDS):  # an endless wait would let no handler run
            pass


def _write(
    folder: Path, base_url: str, whose: tuple[str, str, str], *, overwrite: bool
) -> list[Path]:
    """Writes the files; none of them if one exists and may not be replaced."""
    from reconciler.bootstrap import write_new
    from reconciler.entrypoints.browser_pack import pack_files

    files = {folder / name: content for name, content in pack_files(base_url, *whose).items()}
    there = next((path for path in files if path.exists()), None)
    if there is not None and not overwrite:
        raise ConfigurationError(
            f"{there} already exists; name another folder, or give --overwrite"
        )
    try:
        (folder / "queries").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be written: {error.strerror}") from error
    for path, content in files.items():
        write_new(path, content, overwrite=overwrite)
    return list(files)


def _checked(base_url: str) -> str:
    split = urlsplit(base_url)
    if split.scheme not in {"http", "https"} or not split.hostname or not base_url.endswith("/"):
        raise InvalidRequestError(
            f"--base-url {base_url!r} is not a folder's address; give one such as "
            "https://host/pack/"
        )
    return base_url


def _links(base_url: str) -> dict[str, Any]:
    """The address to open, the commands to type there, and server settings that replace them."""
    from reconciler.entrypoints.browser_pack import docker_name, server_settings
    from reconciler.settings import load_settings

    server = load_settings().neo4j
    host = urlsplit(server.uri).hostname or "localhost"
    settings = server_settings(base_url)
    return {
        "browser": f"http://{host}:{_BROWSER_PORT}/browser/?dbms={server.uri}",
        "style": f":style {base_url}style.grass",
        "guide": f":play {base_url}guide.html",
        "new_guide": f":guide {base_url}guide.adoc",
        "neo4j_conf": settings,
        "docker": {docker_name(name): value for name, value in settings.items()},
    }


def _text(told: dict[str, Any]) -> str:
    conf = "\n".join(f"{name}={value}" for name, value in told["neo4j_conf"].items())
    docker = "\n".join(f"{name}: '{value}'" for name, value in told["docker"].items())
    return (
        f"Open {told['browser']}, log in, and type\n  {told['style']}\n  {told['guide']}\n"
        f"In the Browser of the newer images:\n  {told['new_guide']}\n"
        "The server must allow the host, in neo4j.conf; then a login does all three:\n"
        f"{conf}\nThe same for Docker:\n{docker}\n"
        "Aura takes no guide from elsewhere: import the files of `reconciler browser --write "
        "FOLDER`, queries/*.cypher, as saved queries."
    )


COMMANDS = {"browser": browser}
"""The commands of this module, by name."""
