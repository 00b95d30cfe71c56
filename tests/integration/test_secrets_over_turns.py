"""A secret that no turn gives away alone: it is never stored, nor given out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler import Memory, Turn, ops
from reconciler.adapters.noop_embedder import NoopEmbedder
from tests.engines import EngineUnderTest
from tests.secret_conversations import ORDINARY, TOLD_OVER_TURNS

SPEAKERS = ("assistant", "contact")
HandOver = Callable[[Memory, str, list[Turn]], None]


def at_once(memory: Memory, session_id: str, turns: list[Turn]) -> None:
    memory.contact("crm", "ann").submit_session(session_id, turns)


def turn_by_turn(memory: Memory, session_id: str, turns: list[Turn]) -> None:
    for turn in turns:
        memory.contact("crm", "ann").submit_session(session_id, [turn])


def read_in_between(memory: Memory, session_id: str, turns: list[Turn]) -> None:
    """What was told is read by a worker before the next turn says what it was."""
    for turn in turns:
        memory.contact("crm", "ann").submit_session(session_id, [turn])
        memory.drain()


def unnamed_and_growing(memory: Memory, session_id: str, turns: list[Turn]) -> None:
    for count in range(1, len(turns) + 1):
        memory.contact("crm", f"ann-{session_id}").submit_session(None, turns[:count])
        memory.drain()


def in_a_task(memory: Memory, session_id: str, turns: list[Turn]) -> None:
    task = memory.contact("crm", "ann").task(
        goal="Help.", task_id=session_id, session_id=session_id
    )
    task.observed()
    for turn in turns:
        task.log_episode(turn)


def _turns(texts: list[str]) -> list[Turn]:
    return [Turn(role=SPEAKERS[at % 2], text=text) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    "hand_over", [at_once, turn_by_turn, read_in_between, unnamed_and_growing, in_a_task]
)
def test_no_secret_of_a_conversation_is_kept_before_or_after_it_was_read(
    hand_over: HandOver, any_engine: EngineUnderTest, tmp_path: Path
) -> None:
    with Memory.open(**any_engine.settings_arguments, embedder=NoopEmbedder()) as memory:
        for number, (texts, _) in enumerate(TOLD_OVER_TURNS.values()):
            hand_over(memory, f"s{number}", _turns(texts))
        kept = []
        for name in ("unread", "read"):
            ops.export(memory, tmp_path / name)
            kept.append((tmp_path / name).read_text(encoding="utf-8"))
            memory.drain()
    folder = any_engine.settings_arguments.get("embedded_path")
    if folder:
        kept += [each.read_bytes().decode("latin-1") for each in folder.parent.iterdir()]
    words = [word for _, secrets in TOLD_OVER_TURNS.values() for word in secrets]
    assert not [word for word in words if any(word in text for text in kept)]


def test_an_ordinary_conversation_is_kept_word_for_word(
    kept_engine: EngineUnderTest, tmp_path: Path
) -> None:
    with Memory.open(**kept_engine.settings_arguments, embedder=NoopEmbedder()) as memory:
        for number, texts in enumerate(ORDINARY):
            at_once(memory, f"s{number}", _turns(texts))
        ops.export(memory, tmp_path / "all")
    lines = (tmp_path / "all").read_text(encoding="utf-8").splitlines()
    kept = json.dumps([json.loads(line) for line in lines], ensure_ascii=False)
    assert not [text for texts in ORDINARY for text in texts if text not in kept]


def test_a_turn_that_loses_a_secret_before_it_is_read_still_loses_personal_data(
    kept_engine: EngineUnderTest,
) -> None:
    with Memory.open(**kept_engine.settings_arguments, embedder=NoopEmbedder()) as memory:
        mail = "Bluebird77x or ann@example.org"
        turn_by_turn(memory, "s", _turns(["Good day.", mail, "Go on.", "That's my password."]))
        turn_by_turn(memory, "t", _turns([mail, "That's my password."]))
        store, scope = memory._services.session_store, memory.contact("crm", "ann").scope
        [first, _] = store.list_episodes(scope, "t")
        assert ("Bluebird" in first.text, first.is_cleaned) == (False, False)
        memory.drain()
        [first, _] = store.list_episodes(scope, "t")
        assert ("ann@" in first.text, first.is_cleaned) == (False, True)
