"""Frames of a conversation: what opens one, what closes it, and what it makes of a claim."""

from __future__ import annotations

from dataclasses import replace

from reconciler.adapters.explicit_extractor import ExplicitExtractor
from reconciler.domain.records.candidates import Role
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.domain.sessions.frames import frames_of
from reconciler.reading.kinds import Category, Speech
from tests.tables import every
from tests.unit.test_explicit_statements import BOOK, window

TOKYO = "I live in Tokyo."


def speech(*said: str | tuple[Role, str], cited: int | None = None) -> Speech:
    """How the last of the turns is meant, or the one that is cited."""
    shown = window(*said)
    found = Extracted(
        text="The contact lives in Tokyo.",
        category=Category.FACT,
        importance=0.6,
        confidence=0.9,
        citations=(Citation(episode=cited or len(said), span=TOKYO),),
    )
    meant = frames_of(shown.episodes).meant(shown, Extraction(candidates=(found,)))
    return meant.candidates[0].speech


@every(
    "opening",
    [
        "Imagine I am somebody else.",
        "Imagine, for a moment, that we met in Kyoto. Suppose I am Ken.",
        "Let's pretend I moved.",
        "Let us role-play.",
        "OK, let's role-play! I start.",
        "I play the part of a pilot.",
        "Hypothetically, I have a dog.",
        "For this exercise, I am Ken.",
        "Say I'm Ken.",
        "Pretend that we never met.",
        "In this scenario I run a bakery.",
        "What follows is fictional.",
    ],
)
def test_a_frame_holds_for_the_turns_that_follow(opening: str) -> None:
    assert speech(opening, (Role.AGENT, "Fine."), "Hello.", TOKYO) is not Speech.LITERAL


@every(
    "closing",
    [
        "Back to reality.",
        "End of role-play.",
        "OK, the game is over.",
        "Enough of this game!",
        "Stop pretending.",
        "I'm speaking as myself now.",
    ],
)
def test_a_frame_that_is_closed_holds_no_longer(closing: str) -> None:
    assert speech("Imagine I am Ken.", "Hello.", closing, TOKYO) is Speech.LITERAL


@every(
    "said",
    [
        "Suppose I order ten, what would it cost?",
        "I imagine so.",
        "My role is head of sales.",
        "I play the piano.",
        "They say I'm late.",
        "The exercise was fun.",
        "If I move, I cancel.",
    ],
)
def test_what_only_sounds_like_a_frame_is_none(said: str) -> None:
    assert speech(said, TOKYO) is Speech.LITERAL


@every("role", [Role.SYSTEM, Role.TOOL])
def test_the_software_around_a_conversation_frames_nothing(role: Role) -> None:
    assert speech((role, "Let's role-play."), TOKYO) is Speech.LITERAL


def test_what_the_agent_plays_is_played_and_what_it_supposes_is_not() -> None:
    assert speech((Role.AGENT, "Let's role-play!"), TOKYO) is Speech.ROLEPLAY
    assert speech((Role.AGENT, "Suppose you order ten."), TOKYO) is Speech.LITERAL


def test_what_was_said_in_front_of_a_frame_is_meant() -> None:
    assert speech(f"{TOKYO} Now imagine I am Ken.", "Hello.", cited=1) is Speech.LITERAL
    assert speech(f"Imagine I am Ken. {TOKYO}") is Speech.HYPOTHETICAL


@every(
    ("said", "meant"),
    [
        ("In this game, my name is Zorg.", Speech.ROLEPLAY),
        ("Imagine I'm a pilot. My name is Jack.", Speech.HYPOTHETICAL),
        ("My name is Jack.", Speech.LITERAL),
    ],
)
def test_what_is_read_without_a_model_is_meant_as_its_frame(said: str, meant: Speech) -> None:
    shown = window(said)
    found = frames_of(shown.episodes).meant(shown, ExplicitExtractor(BOOK).extract(shown))
    assert {each.speech for each in found.candidates} == {meant}


def test_a_claim_that_is_made_outside_too_rests_on_that_alone() -> None:
    shown = window("Imagine I am Ken.", TOKYO, "Back to reality.", TOKYO)
    cited = (Citation(episode=2, span=TOKYO), Citation(episode=4, span=TOKYO))
    found = Extracted(
        text="The contact lives in Tokyo.",
        category=Category.FACT,
        importance=0.6,
        confidence=0.9,
        citations=cited,
    )
    meant = frames_of(shown.episodes).meant(shown, Extraction(candidates=(found,)))
    assert meant.candidates == (replace(found, citations=cited[1:]),)
