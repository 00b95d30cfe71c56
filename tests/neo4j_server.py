"""A real Neo4j server for tests, or to look at: started, claimed with a password, stopped.

    with start("5.26") as server:
        GraphDatabase.driver(server.uri, auth=(server.username, server.password))

The server listens on 127.0.0.1 only, unless a test made an address for it, with authentication on.
It outlives no run: a guard process stops it and deletes its data, also when the run is killed
(``tests/neo4j_guard.py``).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import neo4j
import platformdirs
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from reconciler.entrypoints.browser_commands import server_settings, serving_pack
from tests.neo4j_artefacts import LINES, DockerParts, JavaParts, ServerNotAvailableError, prepare

__all__ = [
    "PORT_ATTEMPTS_MAX",
    "PORT_TAKEN",
    "Neo4jServer",
    "ServerFailedError",
    "ServerNotAvailableError",
    "free_ports",
    "say",
    "start",
]

LOOPBACK = "127.0.0.1"
START_SECONDS_MAX = 180
PORT_ATTEMPTS_MAX = 5
PORT_TAKEN = ("already in use", "BindException", "port is already allocated", "is taken")
GUARD = Path(__file__).with_name("neo4j_guard.py")
KEEPS_PLANS = {"dbms.cypher.min_replan_interval": "1h"}
"""A store that each test empties and fills looks like another one, and all would be planned again.

Half of a server's processor time went into that.
"""
TRIES_ANY_TIME = {"dbms.security.auth_max_failed_attempts": "0"}
"""Clients may try the password before the server has taken it, and are not locked out then.

It listens on the loopback only.
"""
STARTS_CHEAPLY = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
"""A run starts several servers: each took 15 seconds of processor time, and takes 11 with these.

Its classes are the publisher's own, and need no proof again.
"""
OPENED_PACKAGES = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


class ServerFailedError(Exception):
    """The parts are all here, yet the server did not start; the text ends with its log."""


@dataclass(frozen=True)
class Ports:
    """Where a server listens: Bolt on that host, the Browser on 127.0.0.1."""

    bolt: int
    http: int
    host: str = LOOPBACK


@dataclass(frozen=True)
class Neo4jServer:
    """A server that answers, and the guard that ends it."""

    uri: str
    browser_url: str
    username: str
    password: str
    home: Path
    guard: subprocess.Popen[bytes]
    is_throw_away: bool

    def ask_to_stop(self) -> None:
        """Begin to stop without waiting, so that several servers can stop at once."""
        if self.guard.poll() is None:
            self.guard.terminate()

    def stop(self) -> None:
        """Stop the server and wait for its end; a throw-away one leaves nothing behind."""
        self.ask_to_stop()
        self.guard.wait(90)
        if self.is_throw_away:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Neo4jServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def say(text: str) -> None:
    """Show a line of progress to the waiting user."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def start(line_name: str, *, full_speed: bool = False) -> Neo4jServer:
    """A fresh, empty server of a line, on random ports; its data goes when it stops.

    Args:
        line_name: a key of ``LINES``.
        full_speed: let the JVM optimise all it can, which costs twice the processor time until
            the server is up, and plan statements again as the store grows: for measurements, not
            for tests.

    Raises:
        ServerNotAvailableError: this machine lacks what it takes.
        ServerFailedError: it takes all that, and still does not start.
    """
    return start_prepared(prepare(LINES[line_name], say), full_speed=full_speed)


def start_prepared(
    parts: JavaParts | DockerParts, *, full_speed: bool = False, host: str = LOOPBACK
) -> Neo4jServer:
    """The same, with the parts at hand. Another process may take a free port first: try again."""
    for attempts_left in reversed(range(PORT_ATTEMPTS_MAX)):
        home = Path(tempfile.mkdtemp(prefix="reconciler-neo4j-"))
        try:
            password, ports = secrets.token_urlsafe(18), replace(free_ports(), host=host)
            return _launch(parts, home, ports, password, discard=True, full_speed=full_speed)
        except ServerFailedError as error:
            if not attempts_left or not any(sign in str(error) for sign in PORT_TAKEN):
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _launch(
    parts: JavaParts | DockerParts,
    home: Path,
    ports: Ports,
    password: str,
    *,
    discard: bool,
    full_speed: bool,
    settings: Mapping[str, str] | None = None,
) -> Neo4jServer:
    container = f"reconciler-{secrets.token_hex(6)}"
    # Data that is thrown away needs no clean end, which takes Neo4j over ten seconds.
    options = ["--parent", str(os.getpid()), "--grace-seconds", "0" if discard else "60"]
    options += ["--discard", str(home)] if discard else []
    environment = dict(os.environ)
    more = {**({} if full_speed else KEEPS_PLANS), **(settings or {})}
    if isinstance(parts, JavaParts):
        command = _java_command(parts, home, ports, more, full_speed=full_speed)
    else:
        data = None if discard else home / "data"
        command = _docker_command(parts, ports, container, data, more)
        options += ["--container", container]
        environment["NEO4J_AUTH"] = f"neo4j/{password}"  # not in argv, which anyone can list
    with (home / "console.log").open("ab") as log:
        guard = subprocess.Popen(
            [sys.executable, "-I", str(GUARD), *options, "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
    browser_url = f"http://127.0.0.1:{ports.http}/browser/"
    uri = f"neo4j://{ports.host}:{ports.bolt}"
    server = Neo4jServer(uri, browser_url, "neo4j", password, home, guard, discard)
    try:
        _claim(server, ports)
    except BaseException:
        server.stop()
        raise
    return server


def _java_command(
    parts: JavaParts, home: Path, ports: Ports, more: Mapping[str, str], *, full_speed: bool
) -> list[str]:
    conf = home / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    settings = {
        "server.bolt.listen_address": f"{ports.host}:{ports.bolt}",
        # Without it, neo4j:// routes every client to port 7687.
        "server.bolt.advertised_address": f"{ports.host}:{ports.bolt}",
        "server.http.listen_address": f"127.0.0.1:{ports.http}",
        "server.http.advertised_address": f"127.0.0.1:{ports.http}",
        "server.memory.heap.initial_size": "256m",
        "server.memory.heap.max_size": "768m",
        "server.memory.pagecache.size": "128m",
        "db.tx_log.preallocate": "false",  # else half a gigabyte of zeros for an empty store
        "dbms.usage_report.enabled": "false",
        **more,
    }
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (conf / "neo4j.conf").write_text(text)
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES]
    # The entry point runs inside this JVM, so the heap in neo4j.conf binds only what we say here.
    machine = ["-Xms256m", "-Xmx768m", "--enable-native-access=ALL-UNNAMED"]
    machine += [] if full_speed else STARTS_CHEAPLY
    folders = [f"--home-dir={home}", f"--config-dir={conf}"]
    classes = ["-cp", f"{parts.jars}/*", parts.line.main_class]
    return [str(parts.java), *machine, *opens, *classes, *folders]


def _docker_name(setting: str) -> str:
    """The environment variable by which the Docker image reads a server's setting."""
    return "NEO4J_" + setting.replace("_", "__").replace(".", "_")


def _docker_command(
    parts: DockerParts, ports: Ports, container: str, data: Path | None, more: Mapping[str, str]
) -> list[str]:
    settings = {
        "NEO4J_server_bolt_advertised__address": f"127.0.0.1:{ports.bolt}",
        "NEO4J_server_http_advertised__address": f"127.0.0.1:{ports.http}",
        "NEO4J_server_memory_heap_initial__size": "256m",
        "NEO4J_server_memory_heap_max__size": "768m",
        "NEO4J_server_memory_pagecache_size": "128m",
        "NEO4J_dbms_usage__report_enabled": "false",
        **{_docker_name(name): value for name, value in more.items()},
    }
    given = [f"--env={name}={value}" for name, value in settings.items()]
    published = [f"-p=127.0.0.1:{ports.bolt}:7687", f"-p=127.0.0.1:{ports.http}:7474"]
    kept = [f"--volume={data}:/data"] if data else []
    name = ["--name", container, "--env=NEO4J_AUTH"]
    return [parts.docker, "run", "--rm", *name, *given, *published, *kept, parts.line.image]


def _claim(server: Neo4jServer, ports: Ports) -> None:
    """Wait until the server takes our password, given to it first where it is new."""
    deadline = time.monotonic() + START_SECONDS_MAX
    last: Exception | None = None
    while time.monotonic() < deadline:
        if server.guard.poll() is not None:
            raise ServerFailedError(f"Neo4j ended while it started:\n{_log_tail(server.home)}")
        try:
            if _is_open(ports.bolt, ports.host) and _is_open(ports.http):
                return _take_password(server)
        except AuthError as error:
            raise ServerFailedError(
                f"Neo4j in {server.home} has another password: give it as NEO4J_PASSWORD, or "
                f"delete that folder to start again"
            ) from error
        except (DriverError, Neo4jError) as error:
            last = error  # it listens before its databases are up
        time.sleep(0.1)
    raise ServerFailedError(
        f"Neo4j did not answer in {START_SECONDS_MAX} s ({last}):\n{_log_tail(server.home)}"
    )


def _take_password(server: Neo4jServer) -> None:
    change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"
    try:
        _query(server.uri, server.password, "neo4j", "RETURN 1")
    except AuthError:
        _query(server.uri, "neo4j", "system", change, password=server.password)
        _query(server.uri, server.password, "neo4j", "RETURN 1")


def _query(uri: str, as_password: str, database: str, text: str, **parameters: str) -> None:
    with (
        neo4j.GraphDatabase.driver(
            uri.replace("neo4j://", "bolt://"),
            auth=("neo4j", as_password),
            connection_timeout=5,
            notifications_min_severity="OFF",
        ) as driver,
        driver.session(database=database) as session,
    ):
        session.run(text, parameters).consume()


def _is_open(port: int, host: str = LOOPBACK) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def free_ports() -> Ports:
    """Two that are free at the moment."""
    with socket.socket() as bolt, socket.socket() as http:
        bolt.bind(("127.0.0.1", 0))
        http.bind(("127.0.0.1", 0))
        return Ports(bolt.getsockname()[1], http.getsockname()[1])


def _log_tail(home: Path) -> str:
    """What it said last, less stack frames: the JVM on its console, Neo4j in its own log."""
    lines: list[str] = []
    for log in (home / "console.log", home / "logs" / "neo4j.log"):
        with contextlib.suppress(OSError):
            said = log.read_text(errors="replace").splitlines()
            lines += [line for line in said if not line.startswith(("\t", "WARNING"))][-15:]
    return "\n".join(lines) or "(it left no log)"


def _main() -> int:
    """Start a Neo4j to look at; it keeps its data and runs until Ctrl-C."""
    parser = argparse.ArgumentParser(description=_main.__doc__)
    parser.add_argument("--line", choices=sorted(LINES), default="2026")
    parser.add_argument("--port", type=_port, default=7687, help="Bolt")
    parser.add_argument("--http-port", type=_port, default=7474, help="the Browser")
    parser.add_argument("--keep", type=Path, help="where its data stays (default: user data)")
    options = parser.parse_args()
    kept = platformdirs.user_data_path("reconciler") / f"neo4j-{options.line}"
    ports = Ports(options.port, options.http_port)
    try:
        _look_at(options.line, (options.keep or kept).expanduser().resolve(), ports)
    except (ServerNotAvailableError, ServerFailedError) as error:
        say(f"error: {error}")
        return 1
    return 0


def _port(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= 65_535:
        raise argparse.ArgumentTypeError(f"{given!r} is not a port; give a number from 1 to 65535")
    return int(given)


def _look_at(line_name: str, home: Path, ports: Ports) -> None:
    for port in (ports.bolt, ports.http):
        if _is_open(port):
            raise ServerFailedError(f"port {port} of 127.0.0.1 is taken: choose another")
    parts = prepare(LINES[line_name], say)
    home.mkdir(parents=True, exist_ok=True)
    say(f"starting Neo4j {parts.line.version}, about ten seconds, ...")
    password = _kept_password(home)
    with (
        serving_pack() as pack,
        _launch(
            parts,
            home,
            ports,
            password,
            discard=False,
            full_speed=True,
            settings={**server_settings(pack), **TRIES_ANY_TIME},
        ) as server,
    ):
        sys.stdout.write(_welcome(server, pack))
        sys.stdout.flush()
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            raise _ended_by_itself(home, server.guard.wait())
        say("\nstopping ...")


def _ended_by_itself(home: Path, status: int) -> ServerFailedError:
    """The error about a server that ended without being asked to."""
    by = f", by signal {status - 128}" if status > 128 else ""
    return ServerFailedError(
        f"Neo4j ended by itself, with exit status {status}{by}; its data stays in {home}. Its logs "
        f"are {home / 'console.log'} and {home / 'logs'}, and end with:\n{_log_tail(home)}"
    )


def _welcome(server: Neo4jServer, pack_url: str) -> str:
    return f"""
Browser   {server.browser_url}?dbms={server.uri.replace("://", "://neo4j@")}
user      {server.username}
password  {server.password}
guide     {pack_url}guide.html
data      {server.home}

export NEO4J_URI={server.uri}
export NEO4J_PASSWORD={shlex.quote(server.password)}

Ctrl-C stops it; the data stays.
"""


def _kept_password(home: Path) -> str:
    """NEO4J_PASSWORD, else what the last start in this folder used, else a new one."""
    if given := os.environ.get("NEO4J_PASSWORD"):
        return given
    file = home / "password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(12))
    return file.read_text().strip()


if __name__ == "__main__":
    sys.exit(_main())
