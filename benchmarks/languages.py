"""What recall finds, and what is decided, in languages that the packaged model does not read.

*Recall*: twenty notes of one contact in each language, a question about each, eight notes beside
them and six questions that nothing answers, in ``recall_in_languages.jsonl``. Question and note
share an inflected word, or a run of signs. They were written before recall read any language but
English; half of them was not looked at. *Words* is the keyword half alone, *recall* the whole with
the packaged model.

*Deciding*: twenty changes in each language and ten pairs that both hold, in
``changes_in_languages.jsonl``, each told to a contact of its own through the live door: without a
judge, and with recorded answers of a large language model to the shipped prompt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.data import HALVES, json_lines
from benchmarks.engines import Engines
from benchmarks.natural import BEGAN, HASH_KEY, UNBOUNDED, became
from reconciler import Memory
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.config_files import load_question_vectors, load_recall_floor
from reconciler.domain.recalling.filtering import EVERYTHING
from reconciler.domain.recalling.recallable import Recallable, Recalling
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.policies import RankingPolicy
from reconciler.ports.embedder import Embedder
from reconciler.service.embedding import question_of
from reconciler.settings import load_settings
from tests.recordings import FOLDER, RecordedJudge

ANSWERS = FOLDER / "languages.jsonl"
HERE = Path(__file__).parent


def lines_of(name: str) -> list[dict[str, Any]]:
    """The lines of a file beside this one."""
    return json_lines(HERE / name)


def main(engines: Engines) -> None:
    """Print what is found in each language, and what becomes of changes."""
    _print_recall(lines_of("recall_in_languages.jsonl"))
    _print_deciding(engines, changes())


def _print_recall(lines: Sequence[dict[str, Any]]) -> None:
    print("## questions in other languages that share a word with their note\n")
    print("| language | half | recall | questions | first | among five | unrelated get nothing |")
    print("|---|---|---|--:|--:|--:|--:|")
    with closing(build_embedder(load_settings(embedder={"model": "minilm"}))) as model:
        for language in dict.fromkeys(line["language"] for line in lines):
            told = [line for line in lines if line["language"] == language]
            notes = [line["note"] for line in told if "note" in line]
            facts = [_fact(number, note) for number, note in enumerate(notes)]
            ways = {"words": Recallable(facts), "recall": Recallable(facts, model.embed(notes))}
            for half, (way, known) in product(HALVES, ways.items()):
                asked = [line for line in told if line.get("half") == half]
                found = [_found(known, line["question"], model) for line in asked]
                print(f"| {language} | {half} | {way} | {_shares(asked, found)} |")
    print(flush=True)


def _shares(asked: Sequence[dict[str, Any]], found: Sequence[list[str]]) -> str:
    pairs = list(zip(asked, found, strict=True))
    own = [(line["note"], texts) for line, texts in pairs if "note" in line]
    others = [texts for line, texts in pairs if "note" not in line]
    first = sum(note in texts[:1] for note, texts in own)
    five = sum(note in texts for note, texts in own)
    empty = sum(not texts for texts in others)
    return f"{len(own)} | {first} | {five} | {empty} of {len(others)}"


def _found(known: Recallable, text: str, model: Embedder) -> list[str]:
    """The five best texts that fit; without vectors the question's is not looked at."""
    attributes, floor = load_question_vectors(model.model_id), load_recall_floor(model.model_id)
    assert attributes is not None, "run: python tools/write_question_vectors.py"
    question = question_of(model, text)
    assert question.vector is not None
    asks = attributes.asked_by(question.vector)
    question = replace(
        question,
        vector=attributes.leaning(question.vector, asks),
        asks=asks,
        strange=attributes.strangeness(question.vector),
    )
    how = Recalling(ranking=RankingPolicy(), floor=floor)
    hits = known.answer(question, EVERYTHING, how, BEGAN, 5)
    return [hit.fact.text for hit in hits if hit.fits]


def _fact(number: int, text: str) -> Fact:
    at = BEGAN - timedelta(days=100 - number)
    return Fact(
        fact_id=str(number),
        text=text,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=at,
        valid_from=at,
        last_confirmed_at=at,
    )


def changes() -> list[dict[str, Any]]:
    """Two notes of one contact each, which are a change or both hold."""
    return lines_of("changes_in_languages.jsonl")


def judged_memory(store: Mapping[str, Any], judge: RecordedJudge | None) -> Memory:
    """A memory as the recorded answers were asked for.

    Args:
        store: the settings of an empty one.
        judge: None for none.
    """
    settings = load_settings(**store, arbiter=UNBOUNDED, gate={"hash_key": HASH_KEY})
    return Memory.open(settings, arbiter=judge, clock=lambda: BEGAN)


def _print_deciding(engines: Engines, told: Sequence[dict[str, Any]]) -> None:
    print("## changes in other languages\n")
    print("| judge | language | label | pairs | ended | disputed | silent | said again | asked |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|")
    recorded = RecordedJudge(ANSWERS)
    missed = []
    for name, judge in (("none", None), ("recorded answers", recorded)):
        counts: dict[tuple[str, str], Counter[str]] = {}
        with judged_memory(engines.fresh("embedded"), judge) as memory:
            for row in told:
                before = judge.asked if judge else 0
                what = became(memory, row, judge)
                of = counts.setdefault((row["set"], row["label"]), Counter())
                of.update([what, *["asked"] * ((judge.asked if judge else 0) > before)])
                if judge and (what != "ended") is (row["label"] == "change"):
                    missed.append(f"- {what}: {row['a']} / {row['b']}")
        for (language, label), of in counts.items():
            became_of = [of[each] for each in ("ended", "disputed", "silent", "said again")]
            cells = (name, language, label, sum(became_of), *became_of, of["asked"])
            print(f"| {' | '.join(map(str, cells))} |")
    print(f"\nwithout a recorded answer: {len(recorded.missing)}\n")
    print("\n".join(missed), flush=True)
