"""Where a Neo4j server's parts come from: Java, the jars by Maven, or a Docker image.

Nothing is started here. Whatever takes long, a first fetch above all, says so in one line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from filelock import FileLock

__all__ = ["LINES", "DockerParts", "JavaParts", "ReleaseLine", "ServerNotAvailableError", "prepare"]

Say = Callable[[str], None]

POM = Path(__file__).with_name("neo4j_pom.xml")
FETCH_SECONDS_MAX = 1800
JAVA_HOME_PATTERNS = (
    (Path("/"), "usr/lib/jvm/*"),
    (Path("/"), "usr/java/*"),
    (Path("/"), "opt/java/*"),
    (Path("/"), "opt/homebrew/opt/openjdk*"),
    (Path("/"), "Library/Java/JavaVirtualMachines/*/Contents/Home"),
    (Path.home(), ".sdkman/candidates/java/*"),
    (Path.home(), ".jdks/*"),
)


class ServerNotAvailableError(Exception):
    """This machine lacks what a Neo4j server needs; the text names what to install."""


@dataclass(frozen=True)
class ReleaseLine:
    """One line of Neo4j releases, pinned."""

    name: str
    version: str
    java_version_min: int
    main_class: str
    size_megabytes: int

    @property
    def image(self) -> str:
        return f"neo4j:{self.version}-community"

    @property
    def mend(self) -> str:
        return (
            f"install a JDK {self.java_version_min} or later (found by JAVA_HOME or on PATH) and "
            f"Maven (mvn), or start Docker"
        )


LINES = {
    "5.26": ReleaseLine("5.26", "5.26.30", 17, "org.neo4j.server.CommunityEntryPoint", 140),
    "2026": ReleaseLine("2026", "2026.08.1", 21, "org.neo4j.server.Neo4jCommunity", 170),
}


@dataclass(frozen=True)
class JavaParts:
    """A Java that is new enough, and the folder with the server's jars."""

    line: ReleaseLine
    java: Path
    jars: Path


@dataclass(frozen=True)
class DockerParts:
    """A Docker daemon that answers and holds the image."""

    line: ReleaseLine
    docker: str


def prepare(line: ReleaseLine, say: Say) -> JavaParts | DockerParts:
    """Everything on disk that a server of the line needs, fetched once for each version.

    Raises:
        ServerNotAvailableError: neither Java with Maven nor Docker can give it.
    """
    try:
        java = find_java(line)
        return JavaParts(line, java, fetched_jars(line, java, say))
    except ServerNotAvailableError as lack:
        docker = shutil.which("docker")
        if docker is None or not _answers(docker, "info"):
            raise
        _pull(docker, line, say, lack)
        return DockerParts(line, docker)


def find_java(line: ReleaseLine) -> Path:
    """The oldest Java that the line can run on: a far newer one was never tried with it."""
    versions = {java: _java_version(java) for java in dict.fromkeys(_javas())}
    fitting = {java: v for java, v in versions.items() if v >= line.java_version_min}
    if fitting:
        return min(fitting, key=lambda java: fitting[java])
    found = ", ".join(f"Java {v} at {java}" for java, v in versions.items() if v) or "no Java"
    raise ServerNotAvailableError(
        f"Neo4j {line.version} needs Java {line.java_version_min} or later, found {found}: "
        f"{line.mend}"
    )


def fetched_jars(line: ReleaseLine, java: Path, say: Say) -> Path:
    """The folder of the server's jars, whole; two runs at once fetch it once."""
    cache = platformdirs.user_cache_path("reconciler") / "neo4j"
    folder = cache / line.version
    if _is_whole(folder):
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerNotAvailableError(f"Neo4j {line.version} is fetched by Maven: {line.mend}")
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / "fetch.lock", timeout=FETCH_SECONDS_MAX):
        if not _is_whole(folder):
            _fetch(line, maven, java, folder, say)
    return folder


def _fetch(line: ReleaseLine, maven: str, java: Path, folder: Path, say: Say) -> None:
    say(f"fetching Neo4j {line.version} by Maven, about {line.size_megabytes} MB, once, ...")
    began = time.monotonic()
    prefix = f".{line.version}-"
    for left_by_a_killed_run in folder.parent.glob(f"{prefix}*"):
        shutil.rmtree(left_by_a_killed_run, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    try:
        _copy_dependencies(line, maven, java, partial)
        sizes = {jar.name: jar.stat().st_size for jar in sorted(partial.glob("*.jar"))}
        (partial / "manifest.json").write_text(json.dumps(sizes, indent=1))
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"fetched Neo4j {line.version} in {time.monotonic() - began:.0f} s into {folder}")


def _copy_dependencies(line: ReleaseLine, maven: str, java: Path, target: Path) -> None:
    command = [maven, "-B", "-q", "-C", "-f", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={target}"]
    command += [f"-Dneo4j.version={line.version}"]
    environment = {**os.environ, "JAVA_HOME": str(java.parent.parent)}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=FETCH_SECONDS_MAX,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServerNotAvailableError(
            f"Maven did not fetch Neo4j {line.version} in {FETCH_SECONDS_MAX} s: try again later"
        ) from error
    if done.returncode != 0:
        raise ServerNotAvailableError(
            f"Maven could not fetch Neo4j {line.version}; run the same again with a network, or "
            f"start Docker. Maven said: {' '.join(done.stdout.split())[-600:]}"
        )


def _is_whole(folder: Path) -> bool:
    """Whether each jar that was fetched is still there, in its full size."""
    try:
        sizes = json.loads((folder / "manifest.json").read_text())
        return bool(sizes) and all((folder / jar).stat().st_size == n for jar, n in sizes.items())
    except (OSError, ValueError):
        return False


def _javas() -> Iterator[Path]:
    name = "java.exe" if os.name == "nt" else "java"
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / name
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve()
    for folder, pattern in JAVA_HOME_PATTERNS:
        for found in sorted(folder.glob(pattern)):
            yield (found / "bin" / name).resolve()


def _java_version(java: Path) -> int:
    """The major version; 0 where the file is no Java that runs."""
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return int(found.group(1)) if found and done.returncode == 0 else 0


def _pull(docker: str, line: ReleaseLine, say: Say, lack: ServerNotAvailableError) -> None:
    if _answers(docker, "image", "inspect", line.image):
        return
    say(f"{lack}; pulling {line.image} by Docker instead, once, ...")
    if not _answers(docker, "pull", "--quiet", line.image, seconds_max=FETCH_SECONDS_MAX):
        raise ServerNotAvailableError(f"{lack}; Docker could not pull {line.image} either")


def _answers(docker: str, *arguments: str, seconds_max: float = 15) -> bool:
    try:
        done = subprocess.run(
            [docker, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds_max,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
