"""Twenty conversations in which a language model was the agent, played again call by call.

What the model was told of the tools, what it sent and what came back are in
``tests/recordings/agents``. Definitions that change make the recordings stale: what a model would
send to the new ones has to be recorded again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.agent_recordings import FOLDER, hash_of_definitions, play

RECORDINGS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
}


AFFIRMED = {
    "caterer-01": {"excluded_ingredient": ["sesame"], "preferred_channel": ["WhatsApp"]},
    "clinic-02": {"latex_policy": ["latex-free"], "delivery_day": ["Thursday", "Wednesday"]},
    "machine-04": {"max_bar_length": ["3 m"], "collection_day": ["Thursday"]},
    "property-03": {
        "boiler_service_month": ["July 2026, week of the 20th"],
        "access_contact": ["Greta Pymont"],
        "flat_entry_notice": ["48 hours' written notice, except water through a ceiling"],
    },
    "travel-05": {
        "flight_departure_limit": ["no earlier than 09:00"],
        "room_preference": ["two connecting rooms, else one big family room"],
    },
}
"""Values that hold, in the words of a "not" or a "no"."""


LASTS_SINCE = "travel-05"
"""What the last hotel did was called passing when this was recorded; now it lasts, and stands among
the facts close to later notes."""


def said(reply: str) -> str:
    """A reply without what is close, and without how long it is kept."""
    return reply.partition(" It reads as")[0].partition(" Close to it")[0]


def test_there_are_twenty_conversations() -> None:
    assert sum(len(each["sessions"]) for each in RECORDINGS.values()) >= 20


def test_the_model_saw_the_definitions_of_today() -> None:
    assert {each["definitions"] for each in RECORDINGS.values()} == {hash_of_definitions()}


@pytest.fixture(scope="module")
def played_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """What comes of a recording, which is played once."""
    folder = tmp_path_factory.mktemp("played")
    return cache(lambda name: play(RECORDINGS[name], folder / f"{name}.lbug"))


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_same_calls_leave_the_same_memory(name: str, played_of: Callable[[str], Any]) -> None:
    recording: dict[str, Any] = RECORDINGS[name]
    played = played_of(name)
    calls = [call for session in recording["sessions"] for call in session["calls"]]
    # What a recall finds first may get better; what is noted and told about it may not change.
    pairs = [
        (reply, call["reply"])
        for reply, call in zip(played.replies, calls, strict=True)
        if call["name"] != "recall_contact"
    ]
    assert len(pairs) > len(calls) / 2
    if name == LASTS_SINCE:
        pairs = [(said(reply), said(recorded)) for reply, recorded in pairs]
    assert [reply for reply, _ in pairs] == [recorded for _, recorded in pairs]
    assert played.live == recording["live"]
    found = {name: sorted(values) for name, values in played.profile.items()}
    assert AFFIRMED.get(name, {}).items() <= found.items()


def test_a_limit_that_a_recorded_customer_set_leads_each_briefing(
    played_of: Callable[[str], Any],
) -> None:
    recording = RECORDINGS["machine-04"]
    played = played_of("machine-04")
    calls = [call for session in recording["sessions"] for call in session["calls"]]
    briefings = [
        reply
        for reply, call in zip(played.replies, calls, strict=True)
        if call["name"] == "recall_contact" and not any(call["arguments"].values())
    ]
    assert len(briefings) >= 2
    for briefing in briefings[1:]:  # the first is of a contact of whom nothing is known
        _, _, limits = briefing.partition("Always holds:\n")
        leading = limits.splitlines()[:3]
        assert any(line.startswith("- #a8vp Needs a 3.1 certificate") for line in leading)
