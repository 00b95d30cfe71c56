"""Hosts on a network of their own, for tests of several machines: network namespaces and a bridge.

Each host has a link to the bridge that can be cut, and its own folder for what it keeps. This
machine's own address on the bridge is what a server listens on. Needs root and iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests import faults

__all__ = ["Host", "Network", "NoNetworkError"]


class NoNetworkError(Exception):
    """This machine, or this account, cannot make hosts."""


class Host:
    """A host: a namespace, and what it keeps on its disk."""

    def __init__(self, name: str, link: str, folder: Path) -> None:
        self.name, self._link, self._folder = name, link, folder

    def start(self, environment: Mapping[str, str], *words: str) -> subprocess.Popen[str]:
        """A Python process on this host."""
        own = {"XDG_DATA_HOME": str(self._folder)}
        return subprocess.Popen(
            ["ip", "netns", "exec", self.name, sys.executable, *words],
            env=os.environ | environment | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def cut(self) -> None:
        """Take its link away: no side is told, and nothing arrives any more."""
        _ip("link", "set", self._link, "down")
        faults.count("working, a host's link")

    def mend(self) -> None:
        """Give its link back."""
        _ip("link", "set", self._link, "up")


class Network:
    """A network of this process's own, gone when the block ends.

    Args:
        folder: where its hosts keep what they keep.

    Raises:
        NoNetworkError: it cannot be made here.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bridge = f"rc{os.getpid()}"
        self._subnet = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self._hosts: list[Host] = []

    @property
    def address(self) -> str:
        """This machine's address on it."""
        return f"{self._subnet}.1"

    def host(self) -> Host:
        """One more host."""
        number = len(self._hosts) + 2
        name, link = f"{self._bridge}-{number}", f"{self._bridge}v{number}"
        self._hosts.append(Host(name, link, self._folder / name))
        _ip("netns", "add", name)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", link, "master", self._bridge, "up")
        _ip("-n", name, "address", "add", f"{self._subnet}.{number}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")
        return self._hosts[-1]

    def __enter__(self) -> Self:
        if shutil.which("ip") is None:
            raise NoNetworkError("there is no `ip`: install iproute2")
        try:
            _ip("link", "add", self._bridge, "type", "bridge")
            _ip("address", "add", f"{self.address}/24", "dev", self._bridge)
            _ip("link", "set", self._bridge, "up")
            self.host()  # whether namespaces can be made is known now
        except NoNetworkError:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for host in self._hosts:
            with suppress(NoNetworkError):
                _ip("netns", "delete", host.name)
        with suppress(NoNetworkError):
            _ip("link", "delete", self._bridge)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNetworkError(f"ip {' '.join(words)}: {done.stderr.strip()}")
