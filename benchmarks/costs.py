"""What a thousand notes cost with an agent's own model, with a judge, and with an extractor.

No model is called. Counted are the characters of the shipped prompts, schemas and definitions, of
the questions that the live door puts to a judge, and of what is on record: twenty conversations of
a model as the agent (``tests/recordings/agents``), whose notes are the judge's questions and whose
turns are what an extractor reads, and a judge's whole answers. A token is taken for four
characters, and each call for one that no cache helps.

Besides: how many questions about one contact could share a call. One waits for those before it if
it is shown what they wrote, or what they were shown too, for they may end it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.engines import Engines
from benchmarks.sizes import sized
from reconciler import Memory
from reconciler.adapters.model_arbiter import ANSWER_SHAPE, arbiter_prompt, data_of
from reconciler.adapters.model_extractor import ANSWER_SHAPE as EXTRACTOR_SHAPE, extractor_prompt
from reconciler.adapters.structured_calls import fenced
from reconciler.config_files import load_prices
from reconciler.domain.records.decisions import Judgement
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, Relation
from reconciler.domain.records.notes import Note
from reconciler.settings import load_settings
from tests.recordings import FOLDER

CHARACTERS_A_TOKEN = 4
BUNDLE_MAX = 8
SLOT = ("subject", "attribute", "value", "single_valued")
KNOWN_COUNT = 20
"""Facts that an extractor is shown at most (``SessionReader``)."""
MODELS = (
    ("anthropic", "claude-haiku-4-5"),
    ("anthropic", "claude-haiku-5-5"),
    ("openai", "gpt-6-luna"),
)


@dataclass
class CountingJudge:
    """Keeps note and facts apart each time, and what it was asked.

    Attributes:
        asked: a question each: the note's text, the texts that were shown, its length.
    """

    name: str = field(default="counting/coexists", init=False)
    asked: list[tuple[str, frozenset[str], int]] = field(default_factory=list)

    def judge(self, note: Note, neighbours: Sequence[Neighbour]) -> Judgement:
        shown = frozenset(neighbour.text for neighbour in neighbours)
        self.asked.append((note.text, shown, len(fenced(data_of(note, neighbours)))))
        return Judgement(reasoning="", relation=Relation.COEXISTS, target=None, action=Action.ADD)

    def close(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True)
class Cost:
    """Calls, and characters in and out, about so many notes."""

    who: str
    notes: int
    calls: int
    read: float
    written: float

    def row(self) -> str:
        """What a thousand notes take, as a line of the table."""
        share = 1000 / self.notes
        tokens = [part / CHARACTERS_A_TOKEN for part in (self.read, self.written)]
        cells = [f"{self.calls * share:,.0f}"]
        cells += [f"{count / self.calls:,.0f}" for count in tokens]
        cells += [f"${_dollars(model, tokens) * share:.2f}" for model in MODELS]
        return f"| {self.who} | {' | '.join(cells)} |"


def main(engines: Engines) -> None:
    """Print calls, tokens and dollars a thousand notes."""
    paths = sorted(_agents())[: sized(1_000, 2)]
    recordings = [json.loads(path.read_text("utf-8")) for path in paths]
    judge, informed = CountingJudge(), CountingJudge()
    for recording in recordings:
        _tell(engines.fresh("embedded"), recording, informed, SLOT)
    notes = sum(_tell(engines.fresh("embedded"), recording, judge, ()) for recording in recordings)
    fixed = len(arbiter_prompt().text) + len(json.dumps(ANSWER_SHAPE.model_json_schema()))
    print("## what a thousand notes cost\n")
    print(f"of each question to the judge the same: {_tokens(fixed)} tokens; its own: ", end="")
    print(f"{_tokens(mean(length for *_, length in judge.asked))}\n")
    names = " | ".join(model for _, model in MODELS)
    print(f"| who | calls | tokens in a call | out | {names} |")
    print(f"|---|{'--:|' * (3 + len(MODELS))}")
    for cost in (
        _agent(recordings, notes),
        _judge("a judge", judge, notes, fixed),
        _judge("a judge, the agent's slots given", informed, notes, fixed),
        _extractor(recordings, notes),
    ):
        print(cost.row())
    sizes = list(_bundles(judge.asked))
    print(
        f"\n{len(judge.asked)} questions would be {len(sizes)} calls, {mean(sizes):.2f} in each\n"
    )


def _agents() -> Iterable[Path]:
    return (FOLDER / "agents").glob("*.json")


def _tell(
    store: dict[str, Any], recording: dict[str, Any], judge: CountingJudge, fields: Sequence[str]
) -> int:
    """How many notes of a recording were told, in their order, with those fields."""
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    told = 0
    with Memory.open(load_settings(**store), arbiter=judge, clock=lambda: now[0]) as memory:
        for session in recording["sessions"]:
            now[0] = datetime.fromisoformat(session["date"]).replace(hour=9, tzinfo=UTC)
            for call in session["calls"]:
                if call["name"] == "add_contact_note":
                    now[0] += timedelta(minutes=2)
                    given = {
                        name: each for name, each in call["arguments"].items() if name in fields
                    }
                    memory.add_contact_note(
                        "crm", recording["contact_id"], call["arguments"]["text"], **given
                    )
                    told += 1
    return told


def _agent(recordings: Sequence[dict[str, Any]], notes: int) -> Cost:
    """Each call of a tool has the agent's model read definitions and conversation once more."""
    definitions = len(json.dumps(_definitions()))
    read = written = calls = 0
    for session in _sessions(recordings):
        before = len("\n".join(session["turns"]))
        for call in session["calls"]:
            said = len(json.dumps(call["arguments"], ensure_ascii=False))
            read, written, calls = read + definitions + before, written + said, calls + 1
            before += said + len(call["reply"])
    return Cost("the agent's own model", notes, calls, read, written)


def _judge(who: str, judge: CountingJudge, notes: int, fixed: int) -> Cost:
    lines = (FOLDER / "judge.jsonl").read_text("utf-8").splitlines()
    answer = mean(len(json.dumps(json.loads(line)["answer"])) for line in lines)
    read = sum(fixed + length for *_, length in judge.asked)
    return Cost(who, notes, len(judge.asked), read, answer * len(judge.asked))


def _extractor(recordings: Sequence[dict[str, Any]], notes: int) -> Cost:
    """A window a session; as many candidates as the agent made notes, as long as the examples."""
    prompt = extractor_prompt().text
    fixed = len(prompt) + len(json.dumps(EXTRACTOR_SHAPE.model_json_schema()))
    examples = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"reasoning"')]
    candidates = [len(json.dumps(one)) for example in examples for one in example["candidates"]]
    around = mean(len(json.dumps(example | {"candidates": []})) for example in examples)
    sessions = list(_sessions(recordings))
    known = mean(len(text) for recording in recordings for text in recording["live"]) + 120
    read = sum(fixed + len(json.dumps(session["turns"])) for session in sessions)
    read += KNOWN_COUNT * known * (len(sessions) - len(recordings))  # none before the first
    written = around * len(sessions) + mean(candidates) * notes
    return Cost("an extractor", notes, len(sessions), read, written)


def _sessions(recordings: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (session for recording in recordings for session in recording["sessions"])


def _definitions() -> list[Any]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(embedded_path=Path(folder) / "memory.lbug") as memory,
    ):
        return list(memory.agent_tools("crm", "anybody").definitions("anthropic"))


def _bundles(asked: Iterable[tuple[str, frozenset[str], int]]) -> Iterator[int]:
    """How many questions each call would hold; those of two contacts share no text."""
    touched: set[str] = set()
    size = 0
    for text, shown, _ in asked:
        if size == BUNDLE_MAX or not shown.isdisjoint(touched):
            yield size
            touched, size = set(), 0
        touched |= {text, *shown}
        size += 1
    if size:
        yield size


def _dollars(model: tuple[str, str], tokens: Sequence[float]) -> float:
    prices = load_prices(*model).values()
    return sum(count * price for count, price in zip(tokens, prices, strict=True)) / 1_000_000


def _tokens(characters: float) -> str:
    return f"{characters / CHARACTERS_A_TOKEN:,.0f}"
