"""The longest turns that are taken, made to be slow: each is read in a bounded time."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from reconciler import Memory, Turn, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from reconciler.settings import load_settings

LENGTH = 20_000
SECONDS_MAX = 2.0
"""Of processor time, for a turn, at the hand-over and again in the worker."""


def full(text: str) -> str:
    return (text * (LENGTH // len(text) + 1))[:LENGTH].strip()


HOSTILE = {
    "a letter": ["a"],
    "letters and digits": ["aB1"],
    "dashes": ["-"],
    "dots": [". "],
    "conditions": ["if I "],
    "quotes": ["\"'“‘("],
    "emoji": ["👨‍👩‍👧 1️⃣"],
    "marks": ["a\u0301\u0302\u200b"],
    "digits": ["1,000.5 "],
    "dates": ["2031-05-01 "],
    "addresses": ["a@b.c "],
    "names of secrets": ["password="],
    "questions": ["what is your password? ", "word and ", "I live in Oslo. "],
    "several questions": ["what is your PIN? what is your password? ", "aB1/"],
    "pieces": ["my password: first half is ", "the rest is aB3dE5 "],
    "what refers back": ["Blue42Sky ", "that's my password. "],
    "keys": ["-----BEGIN RSA PRIVATE KEY-----\n", "abcdefghijklmnop\n"],
    "frames": ["Let's pretend you are a pirate. "] * 2,
    "requests": ["Remember that my dog's name is Max and "],
    "speech": ['"I live in Oslo," he said. '],
    "lines": ["Alice says: I\n"],
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("long") / "memory.lbug"
    settings = load_settings(embedded_path=path, extractor={"mode": "explicit"})
    with Memory.open(settings, embedder=NoopEmbedder()) as opened:
        warm = "I live in Oslo, the rest is +49 30 1234567. That's my password."
        opened.contact("crm", "warm").submit_session("s", [Turn(role="contact", text=warm)])
        opened.drain()
        yield opened


def read(memory: Memory, name: str, texts: list[str]) -> list[float]:
    """The seconds that the hand-over and the worker took for each of the turns."""
    turns = [Turn(role="contact", text=text) for text in texts]
    began = time.process_time()
    job_id = memory.contact("crm", name).submit_session("s", turns)
    kept = time.process_time()
    memory.drain()
    done = time.process_time()
    assert memory.contact("crm", name).job(job_id).state == "done"
    return [(kept - began) / len(turns), (done - kept) / len(turns)]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_turn_of_full_length_is_read_in_a_bounded_time(memory: Memory, name: str) -> None:
    assert max(read(memory, name, [full(text) for text in HOSTILE[name]])) < SECONDS_MAX


def test_random_words_of_full_length_are_too(memory: Memory, tmp_path: Path) -> None:
    drawn = b64encode(Random(3).randbytes(LENGTH)).decode()
    words = [drawn[:LENGTH], " ".join(drawn[at : at + 7] for at in range(0, LENGTH, 8))[:LENGTH]]
    assert max(read(memory, "random", [word.strip() for word in words])) < SECONDS_MAX
    began = time.process_time()
    ops.export(memory.contact("crm", "random"), tmp_path / "all")
    assert time.process_time() - began < SECONDS_MAX


def test_many_turns_that_are_all_the_same_are_read_in_a_bounded_time(memory: Memory) -> None:
    assert sum(read(memory, "same", ["ok"] * 1_500)) < SECONDS_MAX / 100
