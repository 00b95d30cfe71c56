"""A process that judges hostile notes, and prints how long each took it.

Run as ``python -m tests.hostile_notes``, which reads JSON from its input, a list of notes, and
writes the seconds of this process's time that each took, a line each.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reconciler import Memory
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.config_files import load_attribute_book
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.errors import InvalidNoteError
from reconciler.reading.cues.languages import unread_language
from reconciler.reading.guard import find_differences
from reconciler.reading.values.slot_reading import TEXT_LENGTH_MAX as SLOT_TEXT_LENGTH_MAX

__all__ = ["hostile_notes", "seconds_of"]

_PIECES = (
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~aAé中1 \n\t",
    *(
        "ha",
        "Aa",
        "aA1",
        "A1b/",
        "../",
        "/usr/Lib1/",
        "--- ",
        "a_b-",
        "\n\n",
        "hi ",
        "hi,  ",
        "not ",
    ),
    *(
        "a@b.co ",
        "+14155552671 ",
        "4111111111111111 ",
        "1.1.1.1 ",
        "12 High St, ",
        "AKIA0AAAAAAAA ",
    ),
    *("pwd:@", "://", "://a;sig=", "password=aA", "0x1F", "deadBeef01", "key_", "=:"),
    *("a, A, ", "1,2", "+1 (", "1-2-3 ", "A'", "A & ", "I work at A-", "i 0 ", "EUR 1.", "x@y "),
    *(" now instead", " as of this week", "please and ", "speaking of a, ", "12 Aaaa", "Anna's "),
    *("İ", "ſ", "😀", "中文", "ß", "\u0301"),
)


def hostile_notes() -> list[str]:
    """Notes as long as a note may be, of one piece many times, alone and behind harmless words."""
    pumped = [
        f"{before}{piece * TEXT_LENGTH_MAX}"[: TEXT_LENGTH_MAX - 1] + end
        for piece in _PIECES
        for before, end in (("", ""), ("Haha1", "!"), ("Lives in Pune. Her password is ", "\\"))
    ]
    return [f"Haha1{'ha' * 150} ok, call me after lunch.", *pumped]


def seconds_of(notes: list[str], timeout_seconds: float) -> list[float]:
    """What each note takes, of the time of a process of its own; one that hangs is killed."""
    judged = subprocess.run(
        [sys.executable, "-m", "tests.hostile_notes"],
        input=json.dumps(notes),
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=True,
    )
    return [float(line) for line in judged.stdout.split()]


def main() -> None:
    """Judge each note; then compare it with another, as the guard does, and read it as slots."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(
            graph="embedded", embedded_path=Path(folder) / "memory.lbug", embedder=NoopEmbedder()
        ) as memory,
    ):
        memory.warm_up()
        reader = load_attribute_book(None).reader
        unread_language("中" * 9)  # a process loads what tells languages once, for no note's sake
        for note in json.load(sys.stdin):
            started = time.process_time()
            with contextlib.suppress(InvalidNoteError):
                memory.agent("any").check_policy(note)
                find_differences(note, f"{note[:-2]} x")
                reader.read(note[:SLOT_TEXT_LENGTH_MAX])
            sys.stdout.write(f"{time.process_time() - started}\n")


if __name__ == "__main__":
    main()
