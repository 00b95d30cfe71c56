"""The exam's marks and stories: what is right, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exam.ends import Carried, Count, Note, Stream, count, ends_table, read_streams, wilson
from exam.marking import Answer, mark
from exam.sitting import FOLDER, systems
from exam.stories import KINDS, Ask, StoryError, read_stories

HOME = Ask(contact="ana", ask="Where does Ana live?", right=[["Lisbon"]], wrong=["Porto"])


def told(*texts: str, state: str = "true") -> list[Answer]:
    return [{"text": text, "state": state} for text in texts]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (told("Lives in Lisbon."), "right"),
        (told("Moved from Porto to Lisbon."), "right"),
        (told("Lives in Lisbon.", "Lives in Porto."), "both"),
        (told("Lives in Porto."), "wrong"),
        (told("Likes jazz."), "lost"),
        (told("Lives in Lisbonne."), "lost"),
        ([], "lost"),
        (told("Lives in Lisbon.", state="doubt"), "doubt"),
        (told("Lives in Lisbon.") + told("Lives in Porto.", state="doubt"), "doubt"),
        (told("Lives in Lisbon.") + told("Lives in Porto.", state="over"), "right"),
        (told("a", "b", "c", "d", "e", "Lives in Lisbon."), "lost"),
        (told("a", "b", "c", "d", state="over") + told("e", "Lives in Lisbon."), "right"),
    ],
)
def test_a_mark_says_what_the_first_five_answers_tell(answers: list[Answer], expected: str) -> None:
    assert mark(HOME, answers) == expected


def test_of_two_that_hold_both_are_asked_for() -> None:
    both = Ask(contact="ana", ask="Children?", right=[["Tim"], ["Lea", "Leah"]])
    assert mark(both, told("Has a son, Tim.", "Leah is the younger one.")) == "right"
    assert mark(both, told("Has a son, Tim.")) == "lost"


def test_nothing_known_is_right_where_nothing_is() -> None:
    gone = Ask(contact="ana", ask="Which gym?", wrong=["Volta"])
    assert mark(gone, told("Likes jazz.")) == "right"
    assert mark(gone, told("Trains at Volta.")) == "wrong"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "riddle"}, "kind is one of"),
        ({"steps": [{"contact": "ana"}]}, "a step says, erases or kills"),
        ({"asks": [{"contact": "ana", "ask": "Where?"}]}, "nothing is right or wrong"),
        ({"asks": [{"contact": "ana", "ask": "Where?", "right": ["Rome"]}]}, "a list of lists"),
        ({"asks": [{"contact": "ana", "question": "Where?"}]}, "question"),
    ],
)
def test_a_line_that_is_no_story_is_named(
    tmp_path: Path, change: dict[str, object], says: str
) -> None:
    story = {
        "id": "one",
        "kind": "change",
        "steps": [{"contact": "ana", "person": "Ana", "say": "I live in Rome."}],
        "asks": [{"contact": "ana", "ask": "Where?", "right": [["Rome"]]}],
    }
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps(story) + "\n" + json.dumps(story | change) + "\n")
    with pytest.raises(StoryError, match=f"line 2: .*{says}"):
        read_stories(path)


def test_two_stories_of_one_id_are_refused(tmp_path: Path) -> None:
    line = json.dumps(
        {"id": "one", "kind": "late", "steps": [{"kill": True}], "asks": [
            {"contact": "ana", "ask": "Where?", "wrong": ["Rome"]}]}
    )  # fmt: skip
    path = tmp_path / "stories.jsonl"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(StoryError, match="two stories have the id one"):
        read_stories(path)


def test_the_exam_has_stories_of_every_kind_and_an_adapter_for_every_system() -> None:
    stories = read_stories(FOLDER / "stories.jsonl")
    assert {each.kind for each in stories} == set(KINDS)
    for system in systems():
        assert (FOLDER / "adapters" / f"{system.adapter}.py").is_file()


def test_the_exam_imports_nothing_of_the_package() -> None:
    for path in FOLDER.rglob("*.py"):
        if path.name != "ours.py":
            assert "import reconciler" not in path.read_text()
            assert "from reconciler" not in path.read_text()


MOVES = Stream(
    id="one",
    half="seen",
    contact="Ana",
    notes=[
        Note(n=1, days_ago=9, say="Ana lives in Porto.", ends=[]),
        Note(n=2, days_ago=8, say="Ana's home is in Porto, by the river.", ends=[]),
        Note(n=3, days_ago=7, say="Ana moved to Lisbon.", ends=[1, 2]),
    ],
)


def held(*numbers: int, by: int | None = None, state: str = "true") -> list[Carried]:
    """The notes of these numbers, each in its own words or in those of another."""
    say = {note.n: note.say for note in MOVES.notes}
    return [{"text": say[n], "state": state, "by": say[by or n]} for n in numbers]


@pytest.mark.parametrize(
    ("lives", "rights", "done"),
    [
        ([held(1), held(1, 2), held(3)], [True, True], 2),
        ([held(1), held(1, 2), held(1, 2, 3)], [], 0),
        ([held(1), held(2), held(3)], [False, True], 2),
        ([held(1), held(1, 2), held(2, 3)], [True], 1),
        ([held(1), held(1, by=2) + held(2), held(3)], [True, True], 2),  # absorbed, then over
        ([held(1), held(1, 2), held(1, 2, 3, by=3)], [True, True], 2),  # absorbed by what ends it
        ([held(1), held(1) + held(2, by=1), held(3)], [True, True], 2),  # took it for a repetition
        ([held(2)[:0], held(2), held(2, 3)], [], 0),  # never kept, so never ended
    ],
)
def test_an_end_is_right_if_the_note_was_over_by_then(
    lives: list[list[Carried]], rights: list[bool], done: int
) -> None:
    counted = count(MOVES, lives)
    assert [end.is_right for end in counted.ended] == rights
    assert counted.done == done


def test_an_end_that_is_only_doubted_is_counted_as_in_doubt() -> None:
    counted = count(MOVES, [held(1), held(1, 2), held(1, 3, state="doubt") + held(2)])
    assert (counted.due, counted.done, counted.in_doubt, counted.doubted) == (2, 0, 1, 1)


def test_the_table_has_a_line_for_each_system() -> None:
    total = Count()
    for lives in ([held(1), held(1, 2), held(3)], [held(1), held(2), held(3)]):
        total.add(count(MOVES, lives))
    assert list(ends_table({"Ours": total}))[2:] == [
        "| Ours | 6 of 6 | 4 | 3: 75% (30%–95%) | 0 | 4 of 4 | 0 | 0 |"
    ]


def test_an_interval_of_wilson_is_as_in_the_books() -> None:
    assert wilson(10, 20) == "50% (30%–70%)"


def test_every_stream_ends_only_what_was_told_before() -> None:
    streams = read_streams(FOLDER / "ends.jsonl")
    assert {each.half for each in streams} == {"seen", "aside"}
    for stream in streams:
        assert len({note.say for note in stream.notes}) == len(stream.notes)
        for note in stream.notes:
            assert all(0 < n < note.n for n in note.ends)
    assert len(read_streams(FOLDER / "ends.jsonl", "seen", first=8)) == 8
