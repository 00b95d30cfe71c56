"""The exam's marks and stories: what is right, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
