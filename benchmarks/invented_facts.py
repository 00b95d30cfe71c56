"""A list of contradicting facts in FactConsolidation's format, about people and places of our own.

The data set itself is not shipped. What is here has its format, its sentence frames
(``consolidation.FRAMES``) and its proportions; names, values and questions are invented.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

SOURCE = "invented"

_ASKED = {
    "{subject} was born in the city of {value}": ("person", "city", "In which city was {} born?"),
    "{subject} died in the city of {value}": ("person", "city", "In which city did {} die?"),
    "{subject} worked in the city of {value}": ("person", "city", "Which city did {} work in?"),
    "{subject} is a citizen of {value}": ("person", "country", "Of which country is {} a citizen?"),
    "{subject} is married to {value}": ("person", "person", "Who is {} married to?"),
    "{subject}'s child is {value}": ("person", "person", "Who is the child of {}?"),
    "{subject} is employed by {value}": ("person", "firm", "Who is the employer of {}?"),
    "{subject} is famous for {value}": ("person", "work", "What is {} famous for?"),
    "{subject} plays the position of {value}": (
        "person",
        "position",
        "What position does {} play?",
    ),
    "{subject} works in the field of {value}": ("person", "field", "In which field does {} work?"),
    "{subject} speaks the language of {value}": (
        "person",
        "language",
        "Which language does {} speak?",
    ),
    "{subject} is affiliated with the religion of {value}": (
        "person",
        "religion",
        "With which religion is {} affiliated?",
    ),
    "{subject} is associated with the sport of {value}": (
        "team",
        "sport",
        "Which sport is {} associated with?",
    ),
    "The author of {subject} is {value}": ("work", "person", "Who is the author of {}?"),
    "{subject} was performed by {value}": ("work", "person", "Who performed {}?"),
    "{subject} was written in the language of {value}": (
        "work",
        "language",
        "In which language was {} written?",
    ),
    "{subject} was created in the country of {value}": (
        "work",
        "country",
        "In which country was {} created?",
    ),
    "The company that produced {subject} is {value}": (
        "work",
        "firm",
        "Which company produced {}?",
    ),
    "{subject} was founded by {value}": ("firm", "person", "Who founded {}?"),
    "The chief executive officer of {subject} is {value}": (
        "firm",
        "person",
        "Who is the chief executive officer of {}?",
    ),
    "The chairperson of {subject} is {value}": ("firm", "person", "Who is the chairperson of {}?"),
    "The headquarters of {subject} is located in the city of {value}": (
        "firm",
        "city",
        "In which city is the headquarters of {}?",
    ),
    "The capital of {subject} is {value}": ("country", "city", "What is the capital of {}?"),
    "The official language of {subject} is {value}": (
        "country",
        "language",
        "What is the official language of {}?",
    ),
    "The name of the current head of state in {subject} is {value}": (
        "country",
        "person",
        "Who is the current head of state in {}?",
    ),
}
"""The kinds of subject and value of 25 frames, and what is asked about them."""

_WORDS = {
    "position": "goalkeeper, midfielder, shortstop, point guard, quarterback, prop, winger",
    "field": "botany, cartography, dentistry, seismology, typography, ethics, shipbuilding",
    "language": "Welsh, Estonian, Tamil, Quechua, Maltese, Basque, Zulu, Icelandic, Khmer",
    "religion": "Buddhism, Jainism, Methodism, Shinto, Islam, Quakerism",
    "sport": "curling, fencing, water polo, hurling, judo, badminton, rowing",
}
_SYLLABLES = (
    "bra dor el fen gar hol is jor kel lum mar nev os pel quin ros sil tav ul ver wim yor zan"
)
_ENDS = {
    "person": ("a", "in", "o", "ek"),
    "city": ("burg", "stad", "mouth"),
    "country": ("ia", "land"),
}
_COUNTS = {"person": 60, "city": 30, "country": 14, "firm": 24, "work": 40, "team": 12}


def invented_row(
    seed: int, facts: int = 450, conflicts: int = 160, questions: int = 100
) -> dict[str, Any]:
    """A row of the data set: ``conflicts`` of the facts contradict one that stands above them.

    Args:
        seed: the same seed gives the same row.
        facts: numbered lines in all.
        conflicts: lines that contradict an earlier one.
        questions: each about a fact that was contradicted; its answer is the newer value.
    """
    random = Random(seed)
    pools = _pools(random)
    asked = [
        (frame, subject, value_kind, question)
        for frame, (subject_kind, value_kind, question) in _ASKED.items()
        for subject in pools[subject_kind]
    ]
    chosen = random.sample(asked, facts - conflicts)
    told: list[tuple[float, str]] = []
    newest: list[tuple[str, str]] = []
    for number, (frame, subject, value_kind, question) in enumerate(chosen):
        older, newer = random.sample([name for name in pools[value_kind] if name != subject], 2)
        first, second = sorted((random.random(), random.random()))
        told.append((first, frame.format(subject=subject, value=older)))
        if number < conflicts:
            told.append((second, frame.format(subject=subject, value=newer)))
            newest.append((question.format(subject), newer))
    lines = (f"{serial}. {text}. " for serial, (_, text) in enumerate(sorted(told)))
    return {
        "context": "\n".join(("Here is a list of facts:", *lines)),
        "questions": [question for question, _ in newest[:questions]],
        "answers": [[answer] for _, answer in newest[:questions]],
        "metadata": {"source": SOURCE},
    }


def _pools(random: Random) -> dict[str, list[str]]:
    """The names of each kind; none stands for two things."""
    names = _names(random)
    pools = {kind: words.split(", ") for kind, words in _WORDS.items()}
    for kind, count in _COUNTS.items():
        pools[kind] = [_named(kind, names, random) for _ in range(count)]
    return pools


def _names(random: Random) -> Iterator[str]:
    given = set()
    while True:
        name = "".join(random.sample(_SYLLABLES.split(), 2)).capitalize()
        if name not in given:
            given.add(name)
            yield name


def _named(kind: str, names: Iterator[str], random: Random) -> str:
    name = next(names) + random.choice(_ENDS.get(kind, ("",)))
    if kind == "person":
        return f"{name} {next(names)}"
    if kind == "firm":
        return f"{name} {random.choice(('Works', 'Group', 'Radio', 'Foundation'))}"
    if kind == "work":
        return f"The {random.choice(('Last', 'Silent', 'Glass', 'Winter'))} {name}"
    return f"{name} Rovers" if kind == "team" else name
