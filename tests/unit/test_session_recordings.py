"""Recorded sessions: an answer fits its question, its facts by their texts, and nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks import record_sessions
from reconciler.adapters import model_extractor
from reconciler.adapters.model_extractor import ANSWER_SHAPE, extractor_prompt
from reconciler.adapters.structured_calls import Prompt, fenced
from reconciler.domain.records.candidates import Role
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.sessions import Episode
from reconciler.domain.sessions.extraction import Extracted, Window
from reconciler.errors import ExtractionUnavailableError
from tests.session_recordings import Asked, RecordedExtractor, line_of

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = "Bring it at ten, nine is too early for us."
EPISODE = Episode(
    episode_id="one", session_id="chat", role=Role.CONTACT, text=SAID, said_at=AT, position=0
)
NINE, RAMP, MONDAY = ("Delivery is at nine.", "The ramp is broken.", "Delivery is on Mondays.")


def window(*known: str) -> Window:
    facts = tuple(
        Fact(
            fact_id=text,
            text=text,
            trust=SourceKind.USER_EXPLICIT,
            observations=1,
            valid_from=AT,
            recorded_at=AT,
            last_confirmed_at=AT,
        )
        for text in known
    )
    return Window(episodes=(EPISODE,), new_ids=frozenset({"one"}), known=facts)


def answer(**relations: Any) -> dict[str, Any]:
    claim = {
        "text": "Delivery is at ten.",
        "category": "fact",
        "speech": "literal",
        "importance": 0.8,
        "confidence": 0.95,
        "topic": None,
        "subject": None,
        "attribute": None,
        "value": None,
        "single_valued": None,
        "citations": [{"episode": 1, "span": "Bring it at ten"}],
    }
    return {"reasoning": "New.", "summary": "A time.", "candidates": [claim | relations]}


def asked(*known: str) -> Asked:
    """What the shipped extractor asks about the window."""
    extractor = RecordedExtractor(goes_on=True)
    extractor.extract(window(*known))
    [question] = extractor.missing.values()
    return question


@pytest.fixture
def recorded(tmp_path: Path) -> Any:
    def record(*known: str, is_sealed: bool = False, **relations: Any) -> Path:
        path = tmp_path / "recordings.jsonl"
        said = ANSWER_SHAPE.model_validate(answer(**relations)).model_dump(mode="json")
        line = line_of(asked(*known), said, is_sealed=is_sealed)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return path

    return record


def first(extractor: RecordedExtractor, *known: str) -> Extracted:
    [candidate] = extractor.extract(window(*known)).candidates
    return candidate


def test_facts_are_found_by_their_texts_wherever_they_stand_now(recorded: Any) -> None:
    extractor = RecordedExtractor(recorded(NINE, RAMP, MONDAY, replaces=[1], ends=[3]))
    candidate = first(extractor, MONDAY, NINE, RAMP)
    assert (candidate.replaces, candidate.ends) == ((2,), (1,))
    assert (extractor.shown_otherwise, extractor.dropped) == (0, 0)


def test_a_relation_to_a_fact_that_is_not_shown_any_more_is_dropped_and_counted(
    recorded: Any,
) -> None:
    extractor = RecordedExtractor(recorded(NINE, RAMP, replaces=[1, 2]))
    assert first(extractor, RAMP).replaces == (1,)
    assert (extractor.shown_otherwise, extractor.dropped) == (1, 1)


def test_a_number_that_named_no_fact_names_none_now(recorded: Any) -> None:
    extractor = RecordedExtractor(recorded(NINE, repeats=2))
    assert first(extractor, RAMP, NINE).repeats == -1
    assert extractor.dropped == 0


def test_an_answer_that_was_shown_nothing_is_none_where_something_is_known(recorded: Any) -> None:
    path = recorded()
    assert first(RecordedExtractor(path)).text == "Delivery is at ten."
    with pytest.raises(ExtractionUnavailableError):
        RecordedExtractor(path).extract(window(NINE))


def test_the_answer_is_taken_that_was_shown_most_of_the_same_facts(recorded: Any) -> None:
    recorded(NINE, replaces=[1])
    path = recorded(NINE, MONDAY, ends=[2])
    assert first(RecordedExtractor(path), MONDAY, NINE, RAMP).ends == (1,)
    assert first(RecordedExtractor(path), NINE).replaces == (1,)


@pytest.mark.parametrize("changed", ["prompt", "schema"])
def test_another_prompt_or_schema_leaves_its_recordings_behind(
    recorded: Any, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded()
    if changed == "prompt":
        prompt = Prompt(name="extractor-v99", text=f"{extractor_prompt().text} Be brief.")
        monkeypatch.setattr(model_extractor, "extractor_prompt", lambda: prompt)
    else:
        monkeypatch.setattr(
            ANSWER_SHAPE, "model_json_schema", classmethod(lambda _: {"type": "object"})
        )
    extractor = RecordedExtractor(path, goes_on=True)
    assert extractor.extract(window()).candidates == ()
    assert len(extractor.missing) == 1


def test_what_is_sealed_holds_no_word_and_opens_with_the_turns_alone(recorded: Any) -> None:
    path = recorded(NINE, is_sealed=True, replaces=[1])
    assert "Delivery" not in path.read_text(encoding="utf-8")
    assert first(RecordedExtractor(path), NINE).replaces == (1,)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the question about the window, and nothing on record."""
    place = tmp_path / "round" / "a" / "extractor"
    place.mkdir(parents=True)
    (place / "system.txt").write_text(record_sessions.KINDS["extractor"].system)
    (place / "001.prompt.txt").write_text(fenced(asked().data))
    index = {"001": {"of": "alice/chat", "is_ours": True}}
    (tmp_path / "round" / "index.json").write_text(json.dumps(index))
    monkeypatch.setitem(record_sessions.READINGS, True, tmp_path / "kept" / "extractor.jsonl")
    return tmp_path / "round"


def test_an_answer_that_is_read_is_played_again(folder: Path) -> None:
    (folder / "a" / "extractor" / "001.answer.json").write_text(json.dumps(answer()))
    record_sessions.read(folder)
    record_sessions.read(folder)  # which keeps it once
    kept = record_sessions.READINGS[True]
    assert first(RecordedExtractor(kept)).text == "Delivery is at ten."
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("I found nothing.", "no whole JSON object"),
        (json.dumps(answer(importance=7)), "candidates.0.importance"),
        (json.dumps({"summary": "", "candidates": []}), "reasoning: Field required"),
    ],
)
def test_an_answer_in_another_form_is_refused_by_its_place(
    folder: Path, said: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a" / "extractor" / "001.answer.json").write_text(said)
    with pytest.raises(SystemExit, match="1 answers cannot be used"):
        record_sessions.read(folder)
    assert fault in capsys.readouterr().out
    assert not record_sessions.READINGS[True].exists()


def test_answers_to_another_prompt_are_not_kept(folder: Path) -> None:
    (folder / "a" / "extractor" / "001.answer.json").write_text(json.dumps(answer()))
    (folder / "a" / "extractor" / "system.txt").write_text("An older prompt.")
    with pytest.raises(SystemExit, match="another one by now"):
        record_sessions.read(folder)
