"""Introductions: quotations by their marks, and the parts of a turn that may introduce words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from reconciler.domain.records.candidates import Role
from reconciler.domain.records.sessions import Episode
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.reading.cues.introductions import is_marked_at, parts_around
from reconciler.reading.kinds import Category
from reconciler.service.sessions.introduced import Introduced
from tests.tables import every, grouped

SAID = "I live in Oslo and I paint."


def is_marked(text: str, span: str = SAID) -> bool:
    at = text.index(span)
    return is_marked_at(text, at, at + len(span))


@every(
    ("text", "expected"),
    grouped(
        {
            True: [
                # Words within marks are marked.
                f'The box says "{SAID}" in red.',
                f"The box says “{SAID}”",
                f"Auf der Schachtel steht „{SAID}“.",
                f"Sur la boîte : «{SAID}»",
                f"the box says\n'{SAID}'\nin red",
                f"> {SAID}\nIs that so?",
                f"```\n{SAID}\n```",
                f"bot: Hello.\nuser: {SAID}\nbot: Noted.\nuser: Thanks.",
                f"---------- Forwarded message ----------\nFrom: Bo\n\n{SAID}",
                f"Fwd: news\n\n{SAID}",
                f"This came by post. Dear Eva, {SAID} Yours, Bo",
                f"A mail reached us:\n\nHello Ms Lind,\n\nthanks. {SAID}\n\nKind regards,\nBo Berg",
                f"Von heute: Liebe Eva, {SAID} Viele Grüße\nBo",
                f"What should I reply? Hi Eva, {SAID} Best, Bo.\nThanks for your help.",
            ],
            False: [
                # Other marks mark nothing.
                SAID,
                f'My "office" is the kitchen. {SAID}',
                f'I love your "Plum" and your "Lemon". {SAID}',
                f"The dogs' bed isn't Tom's, it's ours. {SAID}",
                f'It is 5" wide.\n\n{SAID}',
                f"> Where do you live?\n{SAID}",
                f"Size: 43\nColour: red\n{SAID}",
                f"Dear team, {SAID} Yours, Bo",
                f"Hi Eva,\n\n{SAID}\n\nBest,\nBo",
                f"Subject: my move\n\nDear team,\n\n{SAID}\n\nThanks,\nBo",
                f"Good morning. Hi Eva, {SAID} Thanks, and see you soon.",
                f"This came by post. Dear Eva, buy now. Yours, Bo\n\n{SAID}",
            ],
        }
    ),
)
def test_words_within_marks_are_marked(text: str, expected: bool) -> None:
    assert is_marked(text) is expected


def test_a_sentence_that_quotes_is_marked_if_only_the_quoted_words_say_i() -> None:
    assert is_marked(whole := 'My boss wrote "I live in Oslo" there.', whole)
    assert not is_marked(whole := 'I wrote "I live in Oslo" there.', whole)


def test_the_parts_around_are_the_sentences_and_what_leads_to_the_words() -> None:
    text = f"One. Two. Three. Four. Five goes like {SAID} Six. Seven. Eight."
    said = [part.text for part in parts_around(text, SAID)]
    assert said == ["One.", "Two.", "Three.", "Four.", "Six.", "Seven.", "Five goes like"]


def test_a_colon_and_a_line_that_breaks_off_count_more_than_a_sentence() -> None:
    colon, broken, plain = (
        next(parts_around(f"{lead}{SAID}", SAID)).form
        for lead in ("The box says:\n", "what the box has on it\n\n", "The box is red. ")
    )
    assert colon > plain == 0 < broken


def test_who_returns_to_their_own_voice_is_not_introduced() -> None:
    said = f"By the way, {SAID}"
    assert not list(parts_around(f"Translate this letter. {said}", said))


def test_a_correction_of_ones_own_words_introduces_nothing() -> None:
    assert not list(parts_around("Correction: my city is Goa.", "my city is Goa"))
    other = "Translate this. Correction: my city is Goa."
    assert [each.text for each in parts_around(other, "my city is Goa")] == ["Translate this."]
    lead = "Correction of the essay:"
    assert [each.text for each in parts_around(f"{lead} my city is Goa.", "my city is Goa")] == [
        lead
    ]


@every("piece", ['"a ', "'a ", "> a\n", "a: b\n", "„a “", "```\n", ". Hi Bo, ", ". A b,\n"])
def test_a_long_text_costs_as_it_is_long(piece: str) -> None:
    text = piece * 5_000
    began = time.perf_counter()
    for at in range(0, len(text), max(1, len(text) // 20)):
        is_marked_at(text, at, at + 1)
    assert time.perf_counter() - began < 3


# What is marked so


def marked(text: str, span: str, value: float | None) -> bool:
    """Whether the turn introduces the span; each part of it has that value, None for no head."""
    turn = Episode(
        episode_id="e",
        session_id="s",
        role=Role.CONTACT,
        text=text,
        said_at=datetime(2026, 1, 1, tzinfo=UTC),
        position=0,
    )
    claim = Extracted(
        text=span,
        category=Category.FACT,
        importance=0.5,
        confidence=0.9,
        citations=(Citation(episode=1, span=span),),
    )

    def measure(texts: Sequence[str]) -> Sequence[float]:
        return [value or 0.0] * len(texts)

    reader = Introduced(None if value is None else measure)
    window = Window(episodes=(turn,), new_ids=frozenset("e"))
    [read] = reader.marked(window, Extraction(candidates=(claim,))).candidates
    return read.is_introduced


@every(
    ("text", "span"),
    [
        ("My landlord wrote:\nI live in Rome.", "I live in Rome."),
        ("Mein Vermieter schrieb: Ich wohne in Rom.", "Ich wohne in Rom."),
    ],
)
def test_a_colon_says_it_where_nothing_is_measured(text: str, span: str) -> None:
    assert marked(text, span, None)


def test_parts_in_another_language_are_not_measured() -> None:
    said = ("Ich habe zwei Kinder und wohne in Rom. Ich arbeite bei Acme.", "Ich arbeite bei Acme.")
    assert not marked(*said, 9.0)
    mixed = ("Translate this for me please. Ich wohne in Rom.", "Ich wohne in Rom.")
    assert marked(*mixed, 3.0)
