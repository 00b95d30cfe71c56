"""Real input: the user turns of 141 conversations, imported with the real model.

``updates`` asks the questions whose answer has changed. Each such conversation is a memory of its
own, full of all that was said in it, told at the live door without an arbiter: whole turns, dated
as in the file, years ago, so that one is hardly older than another; the same, so that the last of
them is said now; or sentence by sentence. It counts how often the newest of two statements is
found, and whether the stale one is live beside it and above it. Of a turn, the statement is the
sentence that has most words in common with the question and its answer. Only counts are printed.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.data import HALVES, half_of, rows, user_turns
from benchmarks.engines import Engines
from benchmarks.full_memory import sentences_of
from benchmarks.rates import Rate
from benchmarks.sessions import words_of
from reconciler import Memory
from reconciler.domain.records.notes import TEXT_LENGTH_MAX

AGENT, FIRST = "benchmark", 5
TURNS, UNTIL_NOW, SENTENCES = "turns", "turns, said until now", "sentences"
KINDS = (TURNS, UNTIL_NOW, SENTENCES)
COLUMNS = (
    "newest stored",
    "newest among the first five",
    "stale stored",
    "stale live",
    "stale above the newest",
)


def main(available: Engines) -> None:
    conversations = rows("conversations.jsonl")
    if conversations is None:
        return
    lines = [json.dumps(turn, ensure_ascii=False) for turn in user_turns(conversations)]
    print(f"## {len(lines)} user turns of {len(conversations)} conversations, one contact each\n")
    print("| engine | outcome | decided by | notes |\n|---|---|---|--:|")
    for name in available.names:
        with Memory.open(**available.fresh(name)) as memory:
            memory.warm_up()
            started = time.perf_counter()
            report = memory.import_notes(lines)
            seconds = time.perf_counter() - started
        for (action, rule), count in sorted(report.decisions.items()):
            print(f"| {name} | {action} | {rule} | {count} |")
        print(f"| {name} | errors | | {len(report.errors)} |")
        print(f"| {name} | **wall time** | | **{seconds:.1f} s** |", flush=True)
    print()


def updates(available: Engines) -> None:
    """The newest and the stale statement of each update, asked for in a memory full of chat."""
    conversations = rows("conversations.jsonl")
    if conversations is None:
        return
    changed = [each for each in conversations if len(_evidence(each)) > 1]
    print(f"## {len(changed)} updates inside full memories, embedded\n")
    print(
        f"| profile | notes | half | {' | '.join(COLUMNS)} |\n|---|---|---|{'--:|' * len(COLUMNS)}"
    )
    for profile, kind in itertools.product(("seed", "minilm"), KINDS):
        settings = available.fresh("embedded") | {"reconcile": {"profile": profile}}
        with Memory.open(**settings) as memory:
            found = [(half_of(each["conv_id"]), _asked(memory, each, kind)) for each in changed]
        for half in HALVES:
            _print_shares(profile, kind, half, [each for other, each in found if other == half])
        _print_shares(profile, kind, "both", [each for _, each in found])
    print()


def _evidence(conversation: Mapping[str, Any]) -> list[str]:
    """The user turns that answer a question about what has changed, the oldest first."""
    [question] = conversation["qa"]
    if question["category"] != "knowledge-update":
        return []
    said = (turn["idempotency_key"] for turn in user_turns([dict(conversation)]))
    return [each for each in said if each in question["evidence_turn_ids"]]


def _asked(memory: Memory, conversation: Mapping[str, Any], kind: str) -> tuple[bool | None, ...]:
    """As in ``COLUMNS`` when all was told; None of what needs a fact that is not live."""
    contact, question = conversation["conv_id"], conversation["qa"][0]
    facts = dict(_told(memory, conversation, kind))
    newest, stale = (facts.get(each) for each in reversed(_evidence(conversation)[-2:]))
    found = memory.contact(AGENT, contact).recall(question["question"], limit=1000)
    places = {each.fact.fact_id: place for place, each in enumerate(found)}
    newest = None if newest == stale else newest  # it was taken for the stale one, said again
    both_live = newest in places and stale in places
    return (
        newest is not None,
        places.get(newest, FIRST) < FIRST,
        stale is not None,
        stale in places,
        places[stale] < places[newest] if both_live else None,
    )


def _told(
    memory: Memory, conversation: Mapping[str, Any], kind: str
) -> Iterator[tuple[str, str | None]]:
    """By turn the fact that its statement is in; None where the gate did not let it in."""
    said = list(user_turns([dict(conversation)]))
    last = max(datetime.fromisoformat(turn["said_at"]) for turn in said)
    since = datetime.now(UTC) - last if kind == UNTIL_NOW else timedelta()
    question = conversation["qa"][0]
    asked = words_of(f"{question['question']} {question['answer']}")
    for number, turn in enumerate(said):
        said_at = datetime.fromisoformat(turn["said_at"]) + since
        texts = _notes_of(turn["text"], kind)
        statement = max(texts, key=lambda text: len(asked & words_of(text)), default="")
        for place, text in enumerate(texts):
            before_end = timedelta(seconds=number - len(said), milliseconds=place)
            told = {"session_id": turn["session_id"], "said_at": said_at + before_end}
            decision = memory.add_contact_note(AGENT, turn["contact_id"], text, **told)
            if text == statement:
                yield turn["idempotency_key"], decision.fact_id


def _notes_of(turn: str, kind: str) -> list[str]:
    return list(sentences_of(turn)) if kind == SENTENCES else [turn[:TEXT_LENGTH_MAX]]


def _print_shares(profile: str, kind: str, half: str, asked: list[tuple[bool | None, ...]]) -> None:
    cells = []
    for column in zip(*asked, strict=True):
        counted = [each for each in column if each is not None]
        rate = Rate(count=sum(counted), of=len(counted))
        least, most = (round(100 * bound) for bound in rate.interval)
        cells.append(f"{rate.count} of {rate.of} ({least} to {most} %)")
    print(f"| {profile} | {kind} | {half} | {' | '.join(cells)} |", flush=True)
