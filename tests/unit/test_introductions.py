"""Introductions: quotations by their marks, and the claims that rest on them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from reconciler.domain.records.candidates import Role
from reconciler.domain.records.sessions import Episode
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction, Window
from reconciler.domain.sessions.frames import frames_of
from reconciler.reading.cues.introductions import is_marked_at
from reconciler.reading.kinds import Category
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


@every("piece", ['"a ', "'a ", "> a\n", "a: b\n", "„a “", "```\n", ". Hi Bo, ", ". A b,\n"])
def test_a_long_text_costs_as_it_is_long(piece: str) -> None:
    text = piece * 5_000
    began = time.perf_counter()
    for at in range(0, len(text), max(1, len(text) // 20)):
        is_marked_at(text, at, at + 1)
    assert time.perf_counter() - began < 3


def marked(*said: str) -> Extracted:
    """A claim that rests on these turns, as a reader gives it on."""
    turns = tuple(
        Episode(
            episode_id=f"e{place}",
            session_id="s",
            role=Role.CONTACT,
            text=text,
            said_at=datetime(2026, 1, 1, tzinfo=UTC),
            position=place,
        )
        for place, text in enumerate(said)
    )
    claim = Extracted(
        text=SAID,
        category=Category.FACT,
        importance=0.5,
        confidence=0.9,
        citations=tuple(Citation(episode=place + 1, span=SAID) for place in range(len(said))),
    )
    window = Window(episodes=turns, new_ids=frozenset(turn.episode_id for turn in turns))
    [read] = frames_of(turns).meant(window, Extraction(candidates=(claim,))).candidates
    return read


def test_a_claim_that_rests_on_a_quotation_alone_is_marked() -> None:
    assert marked(f"> {SAID}").is_introduced
    assert not marked(SAID).is_introduced


def test_a_claim_that_was_also_said_plainly_rests_on_the_plain_words() -> None:
    read = marked(f"> {SAID}", SAID)
    assert (read.is_introduced, [each.episode for each in read.citations]) == (False, [2])
