"""Slots read from plain sentences: how many are right, of texts that nobody wrote for the reader.

Texts: the notes, personas, user turns and other sentences of ``../shared/data``, and what a large
language model sent in the recorded conversations; each read slot was judged by hand, and stands in
``judged_slots.json`` under a hash of text, attribute, value and subject. The half kept aside was
looked at when the shapes were final.

``slot_sentences.jsonl`` was written and labelled by a writer who knew the attributes: states,
changes, and look-alikes that give no slot away. It was written for this reader's predecessor, so it
shows what is lost, and flatters.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.data import DATA, half_of, json_lines, rows, user_turns
from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from benchmarks.rates import Rate
from reconciler.config_files import load_attribute_book
from reconciler.domain.records.notes import CONTACT_SUBJECT
from reconciler.reading.values.slot_reading import ReadSlot

SENTENCES = Path(__file__).with_name("slot_sentences.jsonl")
JUDGED = Path(__file__).with_name("judged_slots.json")
CONVERSATIONS = Path(__file__).parents[1] / "tests" / "recordings" / "agents"
BOOK = load_attribute_book(None)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
WORDS_MAX = 40
NOTES, TEMPLATES = "notes and chats", "templates of personal data"


def texts() -> dict[str, tuple[str, str]]:
    """Each text, with its set and its half."""
    found: dict[str, tuple[str, str]] = {}
    for name, key, text in (*_notes(), *_turns(), *_others(), *_sent()):
        if len(text.split()) > 1:
            found.setdefault(text.strip(), (name, half_of(key)))
    return found


_Text = tuple[str, str, str]
"""The set, by what its half goes, and the text."""


def _notes() -> Iterator[_Text]:
    for row in rows("natural_changes.jsonl") or ():
        told = [row[key] for key in row if key not in ("id", "set", "label", "kind")]
        said = list(_strings(told))
        yield from ((NOTES, said[0], text) for text in said)
    for row in rows("note_pairs.jsonl") or ():
        if row["source"].startswith(("longmemeval", "synthetic_persona")):
            yield from ((NOTES, row["a"], row[key]) for key in "ab")


def _turns() -> Iterator[_Text]:
    for turn in user_turns(rows("conversations.jsonl") or []):
        yield from ((NOTES, turn["contact_id"], text) for text in _sentences(turn["text"]))


def _others() -> Iterator[_Text]:
    for file, name in (("literalness", NOTES), ("injection", NOTES), ("pii", TEMPLATES)):
        for row in rows(f"{file}.jsonl") or ():
            yield from ((name, row["text"], text) for text in _sentences(row["text"]))


def _sent() -> Iterator[_Text]:
    for path in CONVERSATIONS.glob("*.json"):
        for session in json.loads(path.read_text("utf-8"))["sessions"]:
            for call in session["calls"]:
                yield from ((NOTES, text, text) for text in _strings([*call["arguments"].values()]))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _sentences(text: str) -> Iterator[str]:
    yield from (part for part in SENTENCE_END.split(text) if len(part.split()) <= WORDS_MAX)


def key_of(text: str, read: ReadSlot) -> str:
    """Under which the judgement of a read slot stands."""
    said = "\n".join((text, read.attribute, read.value, read.subject or ""))
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def main(_: Engines) -> None:
    """Print how many of the read slots are right, by set and half, and what reading costs."""
    if DATA.is_dir():
        _print_judged(texts())
    if SENTENCES.is_file():
        _print_labelled(json_lines(SENTENCES))


def _print_judged(told: Mapping[str, tuple[str, str]]) -> None:
    judged = {key: name for name, keys in json.loads(JUDGED.read_text()).items() for key in keys}
    counts: dict[tuple[str, str], Counter[str]] = {}
    began = time.process_time()
    reads = [(place, text, BOOK.read_slot(text)) for text, place in told.items()]
    took = (time.process_time() - began) / len(reads)
    for place, text, read in reads:
        if read:
            made = judged.get(key_of(text, read), "not judged")
            counts.setdefault(place, Counter())[made] += 1
    print("| texts | half | right of the read slots | not judged |")
    print("|---|---|--:|--:|")
    for (name, half), count in sorted(counts.items()):
        right = Rate(count=count["right"], of=count["right"] + count["wrong"])
        print(f"| {name} | {half} | {with_interval(right)} | {count['not judged']} |")
    print(f"\n{len(reads)} texts, {took * 1000:.3f} ms each\n")


def _print_labelled(labelled: list[dict[str, Any]]) -> None:
    count = Counter(map(outcome, labelled))
    plain = sum(row["attribute"] is not None for row in labelled)
    alike = Rate(count=count["read"], of=len(labelled) - plain)
    print("| sentences of our own | precision | recall | look-alikes read |")
    print("|--:|--:|--:|--:|")
    cells = [
        Rate(count=count["right"], of=count["right"] + count["wrong"]),
        Rate(count=count["right"], of=plain),
        alike,
    ]
    print(f"| {len(labelled)} | " + " | ".join(map(with_interval, cells)) + " |\n")


def outcome(row: Mapping[str, Any]) -> str:
    """What became of a sentence: right, wrong, missed; a look-alike is read or left alone."""
    read = BOOK.read_slot(row["text"])
    slot = BOOK.slot_of(read) if read else None
    if row["attribute"] is None:
        return "read" if read and not read.is_denied else "left alone"
    if read is None or slot is None:
        return "missed"
    subjects = {row["subject"], *row.get("acceptable_subjects", ())}
    values = (row["value"], *row.get("acceptable_values", ()))
    accepted = [BOOK.slot(attribute=slot.attribute, value=value) for value in values]
    is_right = (
        slot.attribute in {row["attribute"], *row.get("acceptable_attributes", ())}
        and slot.value_key in {each.value_key for each in accepted if each}
        and slot.subject in {subject or CONTACT_SUBJECT for subject in subjects}
    )
    return "right" if is_right and not read.is_denied else "wrong"
