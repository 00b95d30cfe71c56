"""Whether the write gate protects in nine languages beside English, by half.

``gate_in_languages.jsonl`` was written before the words: thirty texts a language with something to
find, and twenty harmless notes, some of them with words that are near. A denial stands beside the
fact that it denies. Most of these texts say the same in each language, so that the half kept aside
is easier than life. The set ``later`` says other things in each, and was written after the first
words; more were then written on one half of it. Below stand four notes each in seventeen languages
that no list covers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.data import HALVES, half_of, json_lines
from benchmarks.gate_literalness import share
from reconciler.bootstrap.chosen_models import build_judge
from reconciler.bound_memory import note_to_check
from reconciler.domain.records.candidates import Assessment
from reconciler.domain.records.kinds import Disposal
from reconciler.reading.cues.languages import unread_language
from reconciler.reading.guard import deny_each_other
from reconciler.settings import load_settings

TEXTS = Path(__file__).parent / "gate_in_languages.jsonl"
CHECKS = {
    "secret": "sensitive_data",
    "special": "restricted",
    "directive": "injection",
    "filler": "meaning",
}
"""Which check of the gate has to stop a text of a kind."""
KINDS = (*CHECKS, "hedge", "denial", "harmless")
UNREAD = "unread"

Row = Mapping[str, str]


def main(_engines: object) -> None:
    read = reader()
    counts: Counter[tuple[str, str, str, bool]] = Counter()
    all_rows = list(texts())
    covered = [row for row in all_rows if row["kind"] != UNREAD]
    for row in covered:
        counts[row["language"], row["kind"], _half(row), read(row)] += 1
    languages = list(dict.fromkeys(language for language, *_ in counts))
    print("## the gate in other languages: found, and harmless notes held\n")
    print("| language | half | " + " | ".join(KINDS[:-1]) + " | all found | harmless held |")
    print("|---|---|" + "--:|" * (len(KINDS) + 1))
    for half in (*HALVES, *(f"later, {half}" for half in HALVES)):
        for named in (*languages, "all"):
            these = languages if named == "all" else [named]
            cells = [_cell(counts, these, (kind,), half) for kind in KINDS]
            cells.insert(-1, _cell(counts, these, KINDS[:-1], half))
            print(f"| {named} | {half} | " + " | ".join(cells) + " |", flush=True)
    told = [unread_language(row["text"]) is not None for row in all_rows if row["kind"] == UNREAD]
    wrong = [unread_language(row["text"]) is not None for row in covered]
    print(f"\ntold that no list covers the language: {share(sum(told), len(told))}")
    print(f"said of a language that one covers: {share(sum(wrong), len(wrong))}\n")


def texts() -> list[Row]:
    """Each text, with its language and kind."""
    return json_lines(TEXTS)


def reader() -> Callable[[Row], bool]:
    """Whether what a text holds is found; of a harmless one, whether it is not admitted."""
    judged = build_judge(load_settings())

    def assess(text: str) -> Assessment:
        candidate = note_to_check(
            text, agent_id="any", source_kind="user_explicit", category=None, topic=None
        )
        return judged(candidate).assessment

    def read(row: Row) -> bool:
        if row["kind"] == "denial":
            return deny_each_other(row["text"], row["fact"])
        found = assess(row["text"])
        if row["kind"] == "harmless":
            return found.disposal is not Disposal.ADMIT
        if row["kind"] == "hedge":
            return found.is_hedged
        stopped = {each.check for each in found.findings if each.disposal is not Disposal.ADMIT}
        return CHECKS[row["kind"]] in stopped or (row["kind"] == "secret" and found.is_redacted)

    return read


def _half(row: Row) -> str:
    half = half_of(row["text"])
    return f"{row['set']}, {half}" if "set" in row else half


def _cell(
    counts: Counter[tuple[str, str, str, bool]],
    languages: list[str],
    kinds: tuple[str, ...],
    half: str,
) -> str:
    asked = [(language, kind) for language in languages for kind in kinds]
    found = sum(counts[*one, half, True] for one in asked)
    return share(found, found + sum(counts[*one, half, False] for one in asked))
