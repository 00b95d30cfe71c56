"""Made-up conversations: transcripts as files hold them, sessions as callers hand them over."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from reconciler import Memory, Turn
from reconciler.domain.records.candidates import EVIDENCE_LENGTH_MAX, Role
from reconciler.service.json_lines import read_lines
from reconciler.service.sessions.transcripts import read_conversations
from tests.fuzz.bench import WHO, Bench
from tests.fuzz.bending import bent, bent_bytes, bent_text
from tests.fuzz.texts import JSON_VALUES, ODD, SENTENCES, TEXTS, TIMES, long_texts, sometimes
from tests.fuzz.trying import each_number, each_of, refusal
from tests.transcript_turns import read_turns

pytestmark = pytest.mark.faults

ROLES = st.sampled_from(
    (*map(str, Role), "user", "assistant", "human", "ai", "developer", "function")
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {
            "type": sometimes(
                st.sampled_from(("text", "tool_result", "tool_use", "image")), JSON_VALUES
            )
        },
        optional={"text": TEXTS, "content": TEXTS | JSON_VALUES, "input": JSON_VALUES},
    ),
    max_size=3,
)
MESSAGES = st.fixed_dictionaries(
    {"role": sometimes(ROLES, JSON_VALUES), "content": sometimes(TEXTS | BLOCKS, JSON_VALUES)},
    optional={
        "timestamp": JSON_VALUES | st.just("2026-01-31T09:00:00Z"),
        "created_at": st.integers(-(10**15), 10**15),
        "id": JSON_VALUES,
        "tool_calls": JSON_VALUES,
    },
)

WHOLE: tuple[Any, ...] = (
    [
        {"role": "user", "content": said, "timestamp": "2026-01-31T09:00:00Z"}
        for said in SENTENCES[:4]
    ],
    {"messages": [{"role": "human", "content": [{"type": "text", "text": SENTENCES[0]}], "id": 7}]},
    {"turns": [{"role": "contact", "text": SENTENCES[5], "said_at": 1_769_850_000_000}]},
)
"""A conversation in each layout of plain messages."""
SAMPLES = sorted((Path(__file__).parents[1] / "transcripts").iterdir())
EXPORTS = tuple(
    json.loads(file.read_text("utf-8"))
    for file in SAMPLES
    if file.suffix == ".json" and "half" not in file.name
)
"""Those of other programs."""
IN_LINES = tuple(file.read_text("utf-8") for file in SAMPLES if file.suffix in (".jsonl", ".txt"))
"""Those that are no single document."""


def written(document: Any, chance: random.Random) -> bytes:
    """The conversation as a file, in one document or in lines, bent here and there."""
    if isinstance(document, list) and chance.random() < 0.4:
        text = "\n".join(map(json.dumps, document))
    else:
        text = json.dumps(document, indent=chance.choice((None, 1)))
    if chance.random() < 0.4:
        text = bent_text(text, chance)
    data = text.encode("utf-8", "surrogatepass")
    return bent_bytes(data, chance) if chance.random() < 0.3 else data


def transcript(seed: int) -> None:
    chance = random.Random(seed)
    if chance.random() < 0.2:
        data = bent_text(chance.choice(IN_LINES), chance).encode("utf-8", "surrogatepass")
        data = bent_bytes(data, chance) if chance.random() < 0.3 else data
    else:
        data = written(bent(chance.choice(WHOLE + EXPORTS), chance), chance)
    lines = data.decode("utf-8", "surrogateescape").splitlines(True)
    refusal("transcripts", lambda: [each.turns() for each in read_conversations(lines)])


def test_a_transcript_is_read_or_refused() -> None:
    each_number(170, "transcripts", transcript)


def test_so_are_the_lines_of_made_up_messages() -> None:
    each_of(
        40,
        "messages",
        st.lists(MESSAGES | JSON_VALUES, max_size=4),
        lambda said: refusal(
            "transcripts", lambda: read_turns([json.dumps(each) for each in said])
        ),
    )


TURN_LENGTHS = (EVIDENCE_LENGTH_MAX - 1, EVIDENCE_LENGTH_MAX, EVIDENCE_LENGTH_MAX + 1)
TURNS = st.builds(
    lambda **given: given,
    role=sometimes(ROLES),
    text=sometimes(TEXTS, long_texts(TURN_LENGTHS) | ODD),
    said_at=sometimes(st.none() | TIMES),
    reference=sometimes(st.none() | st.text(max_size=5)),
)
SESSIONS = st.fixed_dictionaries(
    {
        "session_id": sometimes(st.sampled_from(("chat-17", "chat-18", "new", None))),
        "turns": sometimes(st.lists(TURNS | MESSAGES, min_size=1, max_size=4)),
    },
    optional={
        "channel": sometimes(st.sampled_from(("chat", "email"))),
        "started_at": sometimes(TIMES),
    },
)


def handed_over(session: dict[str, Any], bench: Bench, drains: bool) -> None:
    def submit(memory: Memory) -> None:
        given, about = session["turns"], dict(session)
        if isinstance(given, list):
            about["turns"] = [
                Turn(**each)
                if isinstance(each, dict)
                and "text" in each
                and "type" not in each
                and "content" not in each
                else each
                for each in given
            ]
        memory.contact(*WHO).submit_session(**about)
        if drains:
            assert all(job.state in ("done", "dead") for job in memory.drain())

    bench.attempt("sessions", submit)


def test_a_session_is_kept_or_refused_as_a_whole(bench: Bench) -> None:
    each_of(8, "sessions", SESSIONS, lambda session: handed_over(session, bench, drains=False))


def test_what_was_kept_of_one_can_be_read(bench: Bench) -> None:
    each_of(2, "read sessions", SESSIONS, lambda session: handed_over(session, bench, drains=True))


def test_a_files_lines_are_read_whatever_its_bytes_are() -> None:
    import io

    each_of(
        10,
        "bytes",
        st.binary(max_size=200),
        lambda data: refusal("transcripts", lambda: read_turns(read_lines(io.BytesIO(data)))),
    )
