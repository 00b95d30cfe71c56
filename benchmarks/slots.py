"""Slots read from plain sentences: how many are right, how many are found, whether a change ends.

The sentences of ``slot_sentences.jsonl`` were written and labelled by somebody who knew the
attributes and not the phrasings: states, changes, and look-alikes that give no slot away. The key
``set`` says which of them the phrasings were written from, and which were kept aside.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.engines import Engines
from benchmarks.error_rate import with_interval
from reconciler.config_files import load_attribute_book
from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.decisions import Action
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.notes import Note
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.domain.records.scope import Scope
from reconciler.domain.records.slots import CONTACT_SUBJECT, Slot
from reconciler.domain.review.calibration import Rate
from reconciler.domain.values.attributes import AttributeBook
from reconciler.domain.values.slot_reading import ReadSlot

SETS = ("written on", "kept aside")
SENTENCES = Path(__file__).with_name("slot_sentences.jsonl")
BOOK = load_attribute_book(None)
SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope("default", "benchmark", "one")
OTHER_VALUES = {"money": "1 EUR", "date": "1 January 1999", "number": "7777", "boolean": "maybe"}


def sentences() -> list[dict[str, Any]]:
    """The rows; empty, after saying so, where the file is not there."""
    if not SENTENCES.is_file():
        print(f"left out: {SENTENCES.name} is not there (see benchmarks/README.md)\n")
        return []
    return [json.loads(line) for line in SENTENCES.read_text("utf-8").split("\n") if line]


def slot_of(book: AttributeBook, read: ReadSlot) -> Slot | None:
    """What was read, whoever is called by a name being the contact, as the labels have it."""
    return book.slot_of(read, [read.name])


def is_right(row: Mapping[str, Any], read: ReadSlot) -> bool:
    """Whether attribute, value and subject are among those that the label accepts."""
    attributes = {row["attribute"], *row.get("acceptable_attributes", ())}
    subjects = {row["subject"], *row.get("acceptable_subjects", ())}
    slot = slot_of(BOOK, read)
    if slot is None or read.is_denied or slot.attribute not in attributes:
        return False
    accepted = [
        BOOK.slot(attribute=slot.attribute, value=each)
        for each in (row["value"], *row.get("acceptable_values", ()))
    ]
    keys = {each.value_key for each in accepted if each}
    return slot.value_key in keys and slot.subject in {each or CONTACT_SUBJECT for each in subjects}


def outcome(row: Mapping[str, Any]) -> str:
    """What became of a sentence: right, wrong, missed, left alone, or an end.

    An end names no value, and the labels have none for it; it is counted by itself.
    """
    read = BOOK.read_slot(row["text"])
    if row["attribute"] is None:
        if read is None:
            return "left alone"
        return "end" if read.is_denied else "wrong"
    if read is None:
        return "missed"
    return "right" if is_right(row, read) else "wrong"


def supersedes(text: str) -> bool:
    """Whether a change, told after another value of the same slot, ends that; at cosine 0.

    Of an attribute that holds many values, the other value is the one that the change names.
    """
    read = BOOK.read_slot(text)
    slot = slot_of(BOOK, read) if read else None
    if read is None or slot is None:
        return False
    attribute = BOOK.find(slot.attribute or "")
    before = OTHER_VALUES.get(attribute.normaliser if attribute else "text", "Something Else")
    before = (read.replaces if attribute and not attribute.is_single_valued else None) or before
    old = BOOK.slot(subject=read.subject, attribute=slot.attribute, value=before)
    text_before = f"{slot.attribute}: {before}"
    known = Neighbour(fact_id="fact", text=text_before, cosine=0.0, valid_from=SAID_AT, slot=old)
    note = Note(scope=SCOPE, text=text, said_at=SAID_AT + timedelta(days=1), slot=slot)
    verdict = decide(note, [known], ReconcilePolicy())
    return verdict.action is Action.UPDATE and not verdict.is_restatement


def can_supersede(row: Mapping[str, Any]) -> bool:
    """Whether a value can end by it: of an attribute that holds one, or the one that it names."""
    attribute, read = BOOK.find(row["attribute"]), BOOK.read_slot(row["text"])
    is_single = attribute is not None and attribute.is_single_valued
    return is_single or bool(read and read.replaces)


def _superseding(rows: list[dict[str, Any]]) -> Rate:
    return Rate(count=sum(supersedes(row["text"]) for row in rows), of=len(rows))


def main(_: Engines) -> None:
    """Print precision, recall, ends, and the share of changes that supersede, by set."""
    rows = sentences()
    if not rows:
        return
    print("| set | sentences | precision | recall | recall of changes | look-alikes read |")
    print("|---|--:|--:|--:|--:|--:|")
    superseded = {}
    for name in SETS:
        mine = [row for row in rows if row["set"] == name]
        if not mine:
            continue
        found = [(row, outcome(row)) for row in mine]
        count = Counter(made for _, made in found)
        plain = [(row, made) for row, made in found if row["attribute"]]
        changes = [(row, made) for row, made in plain if row["kind"] == "change"]
        alike = [made for row, made in found if row["attribute"] is None]
        cells = [
            Rate(count=count["right"], of=count["right"] + count["wrong"]),
            Rate(count=count["right"], of=len(plain)),
            Rate(count=sum(made == "right" for _, made in changes), of=len(changes)),
            Rate(count=alike.count("wrong"), of=len(alike)),
        ]
        print(f"| {name} | {len(mine)} | " + " | ".join(map(with_interval, cells)) + " |")
        read = [row for row, made in changes if made == "right"]
        of_these = [row for row in read if can_supersede(row)]
        superseded[name] = (_superseding(of_these), _superseding(read), count["end"])
    heads = "changes read that supersede, of what holds one value or names the old | of all"
    print(f"\n| set | {heads} | ends read |")
    print("|---|--:|--:|--:|")
    for name, (of_these, of_all, ends) in superseded.items():
        print(f"| {name} | {with_interval(of_these)} | {with_interval(of_all)} | {ends} |")
    texts = [row["text"] for row in rows]
    began = time.process_time()
    for text in texts:
        BOOK.read_slot(text)
    print(f"\n{(time.process_time() - began) / len(texts) * 1000:.2f} ms a sentence\n")
