"""Have any model answer what an extractor and a judge are asked about sessions; keep its answers.

python -m benchmarks.record_sessions write FOLDER    what has no recorded answer yet, as files
python -m benchmarks.record_sessions write FOLDER cust    the same of contacts whose ids begin so
python -m benchmarks.record_sessions read FOLDER     keeps the answers that were put beside them

In ``FOLDER/a/extractor`` and so on stands ``system.txt``, what the model is told and the schema of
its answer, and for each question ``NNN.prompt.txt``, what it is shown; ``NNN.answer.json`` is to be
the answer. Sessions of one contact go to different folders, so that a model which answers one of
them in one sitting knows a contact from one session only. A later question may depend on an answer:
write and read again, each time in a new folder, until nothing is left to ask.

The sessions are those of our own conversations (``tests/recordings/agents``) and the LongMemEval
conversations in which something changes. They are read in two ways: the extractor is shown nothing
that is known, and a judge says what a candidate does to a fact; or it is shown it, and says so.
"""

from __future__ import annotations

import json
import string
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmarks.data import rows
from benchmarks.natural import HASH_KEY, RECORDED, UNBOUNDED
from benchmarks.sessions import changed_conversations
from reconciler import Memory
from reconciler.adapters.answer_reading import UnreadableAnswerError, read_answer
from reconciler.adapters.model_arbiter import ANSWER_SHAPE as VERDICT, arbiter_prompt
from reconciler.adapters.model_extractor import ANSWER_SHAPE as READING, extractor_prompt
from reconciler.adapters.structured_calls import Prompt, fenced
from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.domain.records.candidates import Turn
from reconciler.ports.arbiter import Arbiter
from reconciler.ports.embedder import Embedder
from reconciler.ports.extractor import Extractor
from reconciler.settings import load_settings
from tests.agent_recordings import FOLDER as AGENTS
from tests.recordings import FOLDER, RecordedJudge, key_of_question
from tests.session_recordings import SESSIONS, Asked, RecordedExtractor, line_of

AGENT = "crm"
PARTS = 4
CONVERSATIONS_MAX = 30
HERE = Path(__file__).parent
READ_AFTER = timedelta(hours=1)
"""How long after its beginning a session is read."""

READINGS = {True: SESSIONS / "extractor.jsonl", False: HERE / "recorded_sessions.jsonl"}
"""Where an extractor's answers are: about our own sessions, whole; about others, sealed."""

VERDICTS = {True: SESSIONS / "judge.jsonl", False: HERE / "recorded_session_verdicts.jsonl"}
"""Where a judge's answers are: about our own sessions, whole; about others, without a word."""

ASKED_BEFORE = (FOLDER / "judge.jsonl", RECORDED)
ROLES = {"colleague": "operator", "tool": "tool"}
ENDS = (".prompt.txt", ".answer.json")


@dataclass(frozen=True)
class Contact:
    """A contact and what was said, in time order: ids, times and turns of sessions."""

    contact_id: str
    sessions: Sequence[tuple[str, datetime, Sequence[Turn]]]
    is_ours: bool


@dataclass(frozen=True)
class Kind:
    """What a model may be asked: what it is told, and the shape of its answer."""

    prompt: Prompt
    shape: type[BaseModel]

    @property
    def system(self) -> str:
        schema = json.dumps(self.shape.model_json_schema(), ensure_ascii=False, indent=1)
        return f"{self.prompt.text}\n\n# The JSON schema of your answer\n\n{schema}\n"


KINDS = {
    "extractor": Kind(extractor_prompt(), READING),
    "judge": Kind(arbiter_prompt(), VERDICT),
}


@dataclass(frozen=True)
class Open:
    """A question without an answer.

    Attributes:
        kind: extractor or judge.
        data: what is shown.
        of: the contact and the session that it first came up in.
    """

    kind: str
    data: Mapping[str, Any]
    contact: Contact
    of: str


def contacts() -> list[Contact]:
    """All whose sessions are recorded; those of LongMemEval only where its data is."""
    ours = [_our_contact(path) for path in sorted(AGENTS.glob("*.json"))]
    found = changed_conversations(rows("conversations.jsonl") or [])
    chosen = [each for each in found if len(each.evidence) > 1][:CONVERSATIONS_MAX]
    return ours + [Contact(each.contact_id, each.sessions, is_ours=False) for each in chosen]


def recorded_extractor(*, reads_known: bool, goes_on: bool = False) -> RecordedExtractor:
    """The extractor with all answers that are on record."""
    return RecordedExtractor(*READINGS.values(), reads_known=reads_known, goes_on=goes_on)


def recorded_judge() -> RecordedJudge:
    """The judge with all answers that are on record."""
    return RecordedJudge(*VERDICTS.values(), *ASKED_BEFORE)


@contextmanager
def memory_of(
    contact: Contact, embedder: Embedder, extractor: Extractor, judge: Arbiter | None
) -> Iterator[tuple[Memory, Iterator[str]]]:
    """An empty memory, and the sessions' ids; each is handed over and read when it is asked for."""
    now = [contact.sessions[0][1]]
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            embedded_path=Path(folder) / "memory.lbug",
            arbiter=UNBOUNDED,
            gate={"hash_key": HASH_KEY},
        )
        with Memory.open(
            settings, embedder=embedder, extractor=extractor, arbiter=judge, clock=lambda: now[0]
        ) as memory:

            def _read() -> Iterator[str]:
                for session_id, at, turns in contact.sessions:
                    now[0] = at + READ_AFTER
                    memory.contact(AGENT, contact.contact_id).submit_session(
                        session_id, turns, started_at=at
                    )
                    memory.drain()
                    yield session_id

            yield memory, _read()


def open_questions(begin: str = "") -> list[Open]:
    """What both ways of reading ask that no answer is on record to, in the order of asking.

    Where the extractor is shown what is known, a contact's later sessions wait for answers about
    the earlier ones: they change what is known.

    Args:
        begin: only of contacts whose ids begin so.
    """
    embedder, found = build_embedder(load_settings()), {}
    try:
        for contact in (each for each in contacts() if each.contact_id.startswith(begin)):
            for reads_known in (False, True):
                found |= _open_of(contact, embedder, reads_known)
    finally:
        embedder.close()
    return list(found.values())


def _open_of(contact: Contact, embedder: Embedder, reads_known: bool) -> dict[Any, Open]:
    found: dict[Any, Open] = {}
    extractor, judge = recorded_extractor(reads_known=reads_known, goes_on=True), recorded_judge()
    with memory_of(contact, embedder, extractor, judge) as (_, sessions):
        for session_id in sessions:
            of = f"{contact.contact_id}/{session_id}"
            for key, asked in extractor.missing.items():
                found.setdefault(key, Open("extractor", asked.data, contact, of))
            for judged, data in judge.missing.items():
                found.setdefault(judged, Open("judge", data, contact, of))
            if reads_known and extractor.missing:
                break
    return found


def write(folder: Path, begin: str = "") -> None:
    """Write all open questions into a new folder, or those of contacts whose ids begin so."""
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty: take a folder of its own for each round")
    sizes = dict.fromkeys(string.ascii_lowercase[:PARTS], 0)
    having: dict[str, set[str]] = {part: set() for part in sizes}
    index = {}
    for number, asked in enumerate(open_questions(begin), start=1):
        shown = fenced(asked.data)
        part = min(sizes, key=lambda part: (asked.contact.contact_id in having[part], sizes[part]))
        having[part].add(asked.contact.contact_id)
        sizes[part] += len(shown)
        place = folder / part / asked.kind
        place.mkdir(parents=True, exist_ok=True)
        (place / "system.txt").write_text(KINDS[asked.kind].system, encoding="utf-8")
        (place / f"{number:03}{ENDS[0]}").write_text(shown, encoding="utf-8")
        index[f"{number:03}"] = {"of": asked.of, "is_ours": asked.contact.is_ours}
    if index:
        (folder / "index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")
    for part, size in sizes.items():
        count = len(list((folder / part).glob(f"*/*{ENDS[0]}")))
        print(f"{part}: {count} questions, {size:,} characters")
    print(f"{len(index)} questions have no recorded answer yet")


def read(folder: Path) -> None:
    """Keep the answers in a folder; say of each that cannot be used what is wrong with it."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    kept, faults, unanswered = 0, [], []
    for prompt in sorted(folder.glob(f"*/*/*{ENDS[0]}")):
        number = prompt.name.removesuffix(ENDS[0])
        answer = prompt.with_name(f"{number}{ENDS[1]}")
        if not answer.is_file():
            unanswered.append(number)
            continue
        try:
            kept += _keep(prompt, answer.read_text(encoding="utf-8"), index[number])
        except (UnreadableAnswerError, UnicodeDecodeError) as error:
            faults.append(f"{answer}: {error}")
    print(f"{kept} answers were new and are kept; {len(unanswered)} questions are unanswered")
    print("\n".join([" ".join(unanswered), *faults]).strip())
    if faults:
        raise SystemExit(f"{len(faults)} answers cannot be used, and were left out")


def _keep(prompt: Path, said: str, about: Mapping[str, Any]) -> bool:
    kind = KINDS[prompt.parent.name]
    if (prompt.parent / "system.txt").read_text(encoding="utf-8") != kind.system:
        raise SystemExit(f"{prompt.parent}: the prompt or the schema is another one by now")
    answer = read_answer(said, kind.shape).model_dump(mode="json")
    data = json.loads(
        prompt.read_text(encoding="utf-8").removeprefix("<data>").removesuffix("</data>")
    )
    is_ours = about["is_ours"]
    if kind is KINDS["extractor"]:
        asked = Asked(kind.prompt.text, kind.shape.model_json_schema(), data)
        line = line_of(asked, answer, is_sealed=not is_ours)
        return add_line(READINGS[is_ours], {"of": about["of"], **line} if is_ours else line)
    key = key_of_question(kind.prompt.text, kind.shape.model_json_schema(), data)
    if not is_ours:
        return add_line(VERDICTS[False], {"key": key, "answer": answer | {"reasoning": ""}})
    return add_line(VERDICTS[True], {"key": key, "question": data, "answer": answer})


def add_line(path: Path, line: Mapping[str, Any]) -> bool:
    """Add a line to a file, whose lines stay in order; False where it has that line."""
    path.parent.mkdir(exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    new = json.dumps(line, ensure_ascii=False)
    if new in lines:
        return False
    path.write_text("\n".join(sorted([*lines, new])) + "\n", encoding="utf-8")
    return True


def _our_contact(path: Path) -> Contact:
    recording = json.loads(path.read_text(encoding="utf-8"))
    sessions = [
        _our_session(f"session-{number}", session)
        for number, session in enumerate(recording["sessions"], start=1)
    ]
    return Contact(recording["contact_id"], sessions, is_ours=True)


def _our_session(session_id: str, session: Mapping[str, Any]) -> tuple[str, datetime, list[Turn]]:
    """What the contact said, then what a colleague or a tool did; replies were not recorded."""
    at = datetime.fromisoformat(session["date"]).replace(hour=9, tzinfo=UTC)
    said = [("contact", text) for text in session["turns"]]
    said += [(ROLES[each["who"]], each["says"]) for each in session.get("colleague_or_tool") or ()]
    turns = [
        Turn(role=role, text=text, said_at=at + timedelta(minutes=2 * number))
        for number, (role, text) in enumerate(said)
    ]
    return session_id, at, turns


def main() -> None:
    match sys.argv[1:]:
        case ["write", folder, *begin]:
            write(Path(folder), *begin)
        case ["read", folder]:
            read(Path(folder))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
