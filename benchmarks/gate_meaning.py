"""Whether the write gate tells what lasts from what passes, by half.

Every text goes through the live door's gate as the contact's own word. Raw turns of conversations
are mostly requests to an assistant, some with a fact in a side clause; those that questions cite
must be kept. ``gate_texts.jsonl`` was written by somebody who had not seen the cues: small talk,
what is over in an hour, what lasts, what needs consent and what only sounds so. ``fillers.jsonl``
holds a hundred pleasantries that the first phrases were written from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import HALVES, half_of, json_lines, rows
from benchmarks.gate_literalness import share
from reconciler.bootstrap.chosen_models import build_judge
from reconciler.bound_memory import note_to_check
from reconciler.domain.records.candidates import Assessment
from reconciler.domain.records.kinds import Disposal
from reconciler.domain.records.notes import TEXT_LENGTH_MAX
from reconciler.errors import InvalidNoteError
from reconciler.reading.kinds import Category
from reconciler.settings import load_settings

FOLDER = Path(__file__).parent
NOTES = ("longmemeval_ku", "longmemeval_ms", "synthetic_persona")
OUTCOMES = ("refused", "held", "volatile", "admitted")
ADMITTED, VOLATILE, REFUSED, HELD = "admitted", "volatile", "refused", "held"

Judge = Callable[[str], str]
Half = str


def main(_engines: object) -> None:
    judge = _judge()
    print("## what lasts and what passes, by half; in brackets Wilson's 95 % interval\n")
    print("| texts | half | " + " | ".join(OUTCOMES) + " |")
    print("|---|---|" + "--:|" * len(OUTCOMES))
    for name, texts in _sets():
        for half in HALVES:
            found = Counter(judge(text) for of, text in texts if of == half)
            _print_row(name, half, found)
    print("\nconfidence of what is admitted or volatile, and importance as it was judged:\n")
    _print_spread(texts for name, texts in _sets() if name.startswith(("all user turns", "notes")))


def _sets() -> Iterator[tuple[str, Sequence[tuple[Half, str]]]]:
    """Each set of texts by its name, each text with its half."""
    conversations = rows("conversations.jsonl") or []
    if conversations:
        yield "all user turns", [(half, text) for half, text, _ in _turns(conversations)]
        cited = [(half, text) for half, text, is_cited in _turns(conversations) if is_cited]
        yield "of them those that questions cite", cited
    pairs = rows("note_pairs.jsonl") or []
    for source in NOTES if pairs else ():
        both = ((row, side) for row in pairs if row["source"] == source for side in ("a", "b"))
        yield (
            f"notes, {source}",
            list({row[side]: (half_of(row["a"]), row[side]) for row, side in both}.values()),
        )
    yield "fillers of our own making", [(HALVES[0], each["text"]) for each in _lines("fillers")]
    written = _lines("gate_texts")
    for kind in dict.fromkeys(each["kind"] for each in written):
        texts = [(half_of(each["text"]), each["text"]) for each in written if each["kind"] == kind]
        yield f"written apart: {kind}", texts


def _turns(conversations: Iterable[dict[str, Any]]) -> Iterator[tuple[Half, str, bool]]:
    for conversation in conversations:
        half = half_of(conversation["conv_id"])
        cited = {each for asked in conversation["qa"] for each in asked["evidence_turn_ids"]}
        for session in conversation["sessions"]:
            for turn in session["turns"]:
                if turn["role"] == "user":
                    yield half, turn["text"][:TEXT_LENGTH_MAX], turn["turn_id"] in cited


def _lines(name: str) -> list[dict[str, Any]]:
    path = FOLDER / f"{name}.jsonl"
    return json_lines(path) if path.is_file() else []


def _judge() -> Judge:
    judged = _assess()

    def judge(text: str) -> str:
        try:
            found = judged(text)
        except InvalidNoteError:  # "??" says nothing, and the door refuses it
            return REFUSED
        if found.disposal is Disposal.REJECT:
            return REFUSED
        if found.disposal is not Disposal.ADMIT:
            return HELD
        return VOLATILE if found.category is Category.VOLATILE else ADMITTED

    return judge


def _assess() -> Callable[[str], Assessment]:
    judged = build_judge(load_settings())

    def assess(text: str) -> Assessment:
        candidate = note_to_check(
            text, agent_id="any", source_kind="user_explicit", category=None, topic=None
        )
        return judged(candidate).assessment

    return assess


def _print_row(name: str, half: Half, found: Counter[str]) -> None:
    count = sum(found.values())
    if count:
        cells = " | ".join(share(found[each], count) for each in OUTCOMES)
        print(f"| {name} | {half} | {cells} |", flush=True)


def _print_spread(sets: Iterable[Sequence[tuple[Half, str]]]) -> None:
    assess = _assess()
    found = [assess(text) for texts in sets for _, text in texts]
    kept = [each for each in found if each.disposal is Disposal.ADMIT]
    for what, told in (
        ("confidence", Counter(f"{each.confidence:.2f}" for each in kept)),
        ("importance", Counter(f"{each.importance:.2f}" for each in kept)),
    ):
        shares = ", ".join(
            f"{value}: {100 * count / len(kept):.0f} %"
            for value, count in sorted(told.items())
            if count
        )
        print(f"{what}: {shares}")
    print(flush=True)
