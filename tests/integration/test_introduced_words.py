"""What a turn marks as another's, or an extractor calls quoted, is no word of the contact's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reconciler import ContactMemory, Memory
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.reading.kinds import Category, Speech
from reconciler.testing import ScriptedExtractor

INTRODUCED = """
    Could you check the spelling? I run a kiosk in Porto. | I run a kiosk in Porto.
    Into Swedish, please: I run a kiosk in Porto. | I run a kiosk in Porto.
    My aunt texted me a minute ago: I run a kiosk in Porto. | I run a kiosk in Porto.
    My aunt goes I run a kiosk in Porto, can you believe it. | I run a kiosk in Porto
    Opening of a short story I'm writing. I run a kiosk in Porto. | I run a kiosk in Porto.
    Let's do a role-play, I'm the seller. I run a kiosk in Porto. | I run a kiosk in Porto.
    The lyrics of the second verse: I run a kiosk in Porto. | I run a kiosk in Porto.
    An applicant wrote in her cover letter¶¶I run a kiosk in Porto. | I run a kiosk in Porto.
    Example sentence: I run a kiosk in Porto. | I run a kiosk in Porto.
    I run a kiosk in Porto.¶¶Does this text sound natural? | I run a kiosk in Porto.
    Draft a letter for my uncle, he wants to say I run a kiosk in Porto. | I run a kiosk in Porto.
    Your file says I run a kiosk in Porto. | I run a kiosk in Porto.
    Kannst du den Text korrigieren? Ich führe einen Kiosk in Jena. | Ich führe einen Kiosk in Jena.
    Traduce esta frase: Llevo un quiosco en Cádiz. | Llevo un quiosco en Cádiz.
    My résumé: Eva Lind. Runs a kiosk in Porto. Speaks Dutch. | Runs a kiosk in Porto.
    Below is the profile: Eva Lind. Paints. Runs a kiosk in Porto. | Runs a kiosk in Porto.
"""
MARKED = """
    The leaflet has the line "I run a kiosk in Porto." on it. | I run a kiosk in Porto.
    Fwd: hello¶¶I run a kiosk in Porto. | I run a kiosk in Porto.
    A letter came. Dear Bo, I run a kiosk in Porto. Yours, Eva | I run a kiosk in Porto.
"""
OWN = """
    Do you deliver on Sundays? I run a kiosk in Porto. | I run a kiosk in Porto.
    Thanks for the catalogue. I run a kiosk in Porto. | I run a kiosk in Porto.
    Two things about me:¶I run a kiosk in Porto.¶I close at six. | I run a kiosk in Porto.
    Good morning,¶¶I run a kiosk in Porto.¶¶Which lamp is brighter? | I run a kiosk in Porto.
    My cousin told me about you. I run a kiosk in Porto. | I run a kiosk in Porto.
    My cousin opened the account, but I run a kiosk in Porto. | I run a kiosk in Porto
    Please remember: I run a kiosk in Porto. | I run a kiosk in Porto.
    I run a kiosk in Porto. Can you call me in the evening? | I run a kiosk in Porto.
    Haben Sie samstags offen? Ich führe einen Kiosk in Jena. | Ich führe einen Kiosk in Jena.
    ¿Tienen tienda aquí? Llevo un quiosco en Cádiz. | Llevo un quiosco en Cádiz.
"""

OWN_BEHIND_A_COLON = """
    Two things: I moved to Porto. I run a kiosk there. | I run a kiosk there.
    Two things: I run a kiosk in Porto. I also paint. | I run a kiosk in Porto.
    To sum up: I want two lamps. I run a kiosk in Porto. | I run a kiosk in Porto.
    Here is the thing: I hate forms. I run a kiosk in Porto. | I run a kiosk in Porto.
    Some background: I trained as a baker. I run a kiosk in Porto. | I run a kiosk in Porto.
    What happened: I broke my arm. I run the kiosk alone now. | I run the kiosk alone now.
    You asked for my job: I sell papers. I run a kiosk in Porto. | I run a kiosk in Porto.
    Sorry for the mix-up: I meant Porto. I run a kiosk there. | I run a kiosk there.
    My answer is no: I stay. I run a kiosk in Porto. | I run a kiosk in Porto.
    One question first: do you ship to Porto? I run a kiosk there. | I run a kiosk there.
    My address: 12 Lane, Porto. I run a kiosk there. | I run a kiosk there.
    My reasons: too dear, too far. I run a kiosk in Porto. | I run a kiosk in Porto.
    Kurz gesagt: ich ziehe um. Ich führe einen Kiosk in Jena. | Ich führe einen Kiosk in Jena.
"""


def rows(table: str) -> list[list[str]]:
    lines = table.strip().replace("¶", "\n").split("\n    ")
    return [[part.strip() for part in line.split(" | ")] for line in lines]


OWN_BESIDE_A_MODEL = """
    My aunt rang before. I run a kiosk in Porto. | I run a kiosk in Porto.
    Separate question, I run a kiosk in Porto. | I run a kiosk in Porto
    Zweitens: Ich führe einen Kiosk in Jena. | Ich führe einen Kiosk in Jena.
"""


def outcomes(
    folder: Path, told: Sequence[Sequence[str]], speech: Speech | None = None
) -> dict[str, tuple[list[str], list[str], bool]]:
    """What is live of each text, the gate's reasons, and whether the contact is asked anything."""
    read = ScriptedExtractor([reading(span, speech) for _, span in told])
    with Memory.open(embedded_path=folder / str(speech), extractor=read) as memory:
        return {
            text: outcome(memory, memory.contact("crm", f"ana-{number}"), text)
            for number, (text, _) in enumerate(told)
        }


def reading(span: str, speech: Speech | None) -> Extraction:
    found = Extracted(
        text="The contact runs a kiosk.",
        category=Category.FACT,
        importance=0.7,
        confidence=0.9,
        citations=(Citation(episode=1, span=span),),
        speech=speech or Speech.LITERAL,
    )
    return Extraction(candidates=(found,))


def outcome(memory: Memory, contact: ContactMemory, text: str) -> tuple[list[str], list[str], bool]:
    job = contact.submit_session("chat", [{"role": "user", "content": text}])
    memory.drain()
    assert contact.job(job).outcomes.candidates == 1
    live = [each.fact.text for each in contact.recall()]
    held = sum(contact.job(job).held_because.values())
    assert held == contact.job(job).outcomes.held
    reasons = [str(each.gate.reason) for each in contact.all_decisions() if each.gate]
    return live, reasons, any(each.question for each in contact.pending())


def test_marked_words_are_held_without_a_question(tmp_path: Path) -> None:
    told = outcomes(tmp_path, rows(MARKED))
    assert told == dict.fromkeys(told, ([], ["not_said_plainly"], False))


def test_words_that_an_extractor_calls_quoted_are_not_kept(tmp_path: Path) -> None:
    told = outcomes(tmp_path, [*rows(MARKED), *rows(INTRODUCED)], Speech.QUOTED)
    assert {(tuple(live), is_asked) for live, _, is_asked in told.values()} == {((), False)}


def test_plain_words_beside_other_sentences_are_the_contacts(tmp_path: Path) -> None:
    told = outcomes(tmp_path, [*rows(OWN), *rows(OWN_BEHIND_A_COLON)])
    kept = {text for text, (live, why, _) in told.items() if live and "not_said_plainly" not in why}
    assert kept == set(told)


def test_an_extractor_says_whose_words_they_are(tmp_path: Path) -> None:
    told = rows(OWN_BESIDE_A_MODEL)
    literal, quoted = (outcomes(tmp_path, told, how) for how in (Speech.LITERAL, Speech.QUOTED))
    assert all(live for live, _, _ in literal.values())
    assert [(live, is_asked) for live, _, is_asked in quoted.values()] == [([], False)] * len(told)


def test_what_was_introduced_is_known_once_the_contact_says_it_plainly(tmp_path: Path) -> None:
    said = "I live in Porto."
    with Memory.open(embedded_path=tmp_path / "store") as memory:
        contact = memory.contact("crm", "ana")
        for number, text in enumerate((f"Please translate: {said}", said)):
            contact.submit_session(f"s{number}", [{"role": "user", "content": text}])
            memory.drain()
            assert bool(contact.recall()) is bool(number)
