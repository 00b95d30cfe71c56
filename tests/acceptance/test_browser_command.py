"""`reconciler browser`: a page server with the links to type."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import takewhile
from urllib.request import urlopen

from reconciler.entrypoints.browser_commands import server_settings
from tests.tables import every


@every("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_ended(number: signal.Signals) -> None:
    names = ("--tenant", "acme", "--agent", "crm", "--contact", "priya")
    command = [sys.executable, "-m", "reconciler", "browser", "--port", "0", *names]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "40"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        told = list(takewhile(lambda line: "Ctrl-C" not in line, lines))
        [guide] = [line.split()[-1] for line in told if line.startswith("  :play")]
        settings = server_settings(guide.removesuffix("guide.html"))
        assert {f"{name}={value}\n" for name, value in settings.items()} <= {*told}, "never wrapped"
        with urlopen(guide, timeout=10) as answer:
            page = answer.read().decode()
        assert "What superseded what" in page
        assert (
            "{tenant: &#34;acme&#34;, agent_id: &#34;crm&#34;, contact_id: &#34;priya&#34;}" in page
        )
        process.send_signal(number)
        assert process.wait(20) == 0
