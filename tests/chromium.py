"""A headless Chromium that tests look with: opened on a page, driven over its DevTools protocol.

    with Chromium(folder) as chromium:
        chromium.open("file:///…/report.html")
        chromium.evaluate("document.title")

Nothing is downloaded: it is the machine's own. It looks up no host, so a page that needs the
network fails here.
"""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.sync.client import ClientConnection, connect

__all__ = ["Chromium", "chromium_or_skip"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS_MAX = 60
ANSWER_SECONDS_MAX = 60


def chromium_or_skip() -> str:
    """Where Chromium is; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no Chromium on PATH, looked for {', '.join(NAMES)}: install one to run this")
    return found


class Chromium:
    """One page in a headless Chromium, which ends with the block.

    Args:
        folder: where its profile lies while it runs.
        width, height: of the page, in pixels.
    """

    def __init__(self, folder: Path, *, width: int = 1200, height: int = 900) -> None:
        self._folder = folder / "chromium"
        self._size = (width, height)
        self._number = 0
        self._binary = chromium_or_skip()
        self.said: list[str] = []
        self.asked_for: list[str] = []

    def __enter__(self) -> Chromium:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [
                self._binary,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                "--remote-debugging-port=0",
                "--remote-debugging-address=127.0.0.1",
                f"--user-data-dir={self._folder}",
                f"--window-size={self._size[0]},{self._size[1]}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._socket = self._connected()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._socket.close()
        self._end()

    def open(self, url: str) -> None:
        """Go to a page and wait until it is loaded."""
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, script: str) -> Any:
        """What an expression of JavaScript gives, as plain values."""
        answer = self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, script: str, seconds_max: float = 60) -> Any:
        """What an expression gives, as soon as that is true."""
        deadline = time.monotonic() + seconds_max
        while not (found := self.evaluate(script)):
            if time.monotonic() > deadline:
                text = self.evaluate("document.body.innerText.slice(0, 1500)")
                raise AssertionError(f"not within {seconds_max} s: {script}\n{text}")
            time.sleep(0.1)
        return found

    def type_text(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, code: int, *, control: bool = False) -> None:
        """Press a key, say ``Enter`` (13) or ``Tab`` (9)."""
        given = {
            "key": key,
            "code": key,
            "windowsVirtualKeyCode": code,
            "modifiers": 2 if control else 0,
        }
        text = {"text": "\r"} if key == "Enter" and not control else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **given, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def emulate(self, media: str, scheme: str) -> None:
        """Have the page believe that it is on a screen or on paper, in light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def screenshot(self, path: Path, *, height: int | None = None) -> None:
        """Write what is seen as a PNG, or the upper part of it, of so many pixels."""
        size = {"width": self._size[0], "height": height or self._size[1]}
        clip = {"x": 0, "y": 0, "scale": 1, **size}
        answer = self.call("Page.captureScreenshot", format="png", clip=clip)
        path.write_bytes(base64.b64decode(answer["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A call of the DevTools protocol; meanwhile, what the page asks for and says is kept."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(asked))
        while True:
            message = json.loads(self._socket.recv(timeout=ANSWER_SECONDS_MAX))
            if message.get("id") == self._number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        given = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.asked_for.append(given["request"]["url"])
        elif message.get("method") == "Log.entryAdded":
            self.said.append(given["entry"]["text"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.said.append(str(given["exceptionDetails"]))

    def _connected(self) -> ClientConnection:
        port_file = self._folder / "DevToolsActivePort"
        port = _wait(lambda: port_file.read_text().split("\n")[0] if port_file.exists() else "")
        with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            pages = json.load(answer)
        [page] = [each for each in pages if each["type"] == "page"][:1]
        self._socket = connect(page["webSocketDebuggerUrl"], max_size=None, proxy=None)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self._socket

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _wait(outcome: Callable[[], str]) -> str:
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        if found := outcome():
            return found
        time.sleep(0.05)
    raise AssertionError(f"Chromium did not start in {START_SECONDS_MAX} s")
