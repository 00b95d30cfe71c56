"""Several people in one conversation: each keeps their own facts, and none of another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from reconciler import Memory, Turn
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.sessions.extraction import Citation, Extracted, Extraction
from reconciler.errors import InvalidScopeError, InvalidSessionError
from reconciler.reading.kinds import Category
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder, ScriptedExtractor
from tests.engines import EngineUnderTest
from tests.tables import every

OSLO, ROME = "I live in Oslo.", "I live in Rome."
TALK = [
    Turn(role="contact", name="Ines", text=OSLO),
    Turn(role="contact", name="Robert", text=ROME),
    Turn(role="contact", name="Tom", text="Ines moved to Lyon."),
]
WHO = {"Ines": "contact:ines", "Robert": "contact:robert", "Tom": "operator"}


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    settings = load_settings(**kept_engine.settings_arguments, extractor={"mode": "explicit"})
    with Memory.open(settings, embedder=HashingEmbedder()) as opened:
        yield opened


def cities(memory: Memory, contact_id: str) -> list[str | None]:
    return [each.value for each in memory.contact("crm", contact_id).value("city")]


def test_each_contact_keeps_only_their_own_words(memory: Memory) -> None:
    jobs = memory.agent("crm").submit_session("talk", TALK, speakers=WHO)
    memory.drain()
    assert list(jobs) == ["ines", "robert"]
    assert memory.contact("crm", "robert").job(jobs["robert"]).session_id == "talk"
    assert (cities(memory, "ines"), cities(memory, "robert")) == (["Oslo"], ["Rome"])


def test_handed_over_again_it_is_the_same_session(memory: Memory) -> None:
    submit = memory.agent("crm").submit_session
    assert submit("talk", iter(TALK), speakers=WHO) == submit("talk", TALK, speakers=WHO)


@every(
    ("who", "turns", "complaint"),
    [
        ({**WHO, "Robert": "robert"}, TALK, "the role of 'robert' 'robert' is not one of"),
        ({**WHO, "Robert": "user"}, TALK, "as contact:ID"),
        ({"Tom": "operator"}, TALK, "as contact:ID"),
        ([], TALK, "speakers must map each speaker's name"),
        ({**WHO, "INES": "contact:robert"}, TALK, "each name once"),
        ({"Ines": "contact:ines"}, TALK, "'Robert', 'Tom' has no role.*speakers"),
        (WHO, [Turn(role="contact", text=OSLO)], "no user turn says who speaks"),
        ({**WHO, "Robert": "contact:"}, TALK, "contact"),
        ({**WHO, "Robert": "contact:" + "x" * 999}, TALK, "contact"),
        (WHO, [], "the session is empty"),
    ],
)
def test_if_one_cannot_be_used_nothing_of_any_is_kept(
    memory: Memory, who: Mapping[str, str], turns: list[Turn], complaint: str
) -> None:
    with pytest.raises((InvalidSessionError, InvalidScopeError), match=complaint):
        memory.agent("crm").submit_session("talk", turns, speakers=who)
    assert memory.agent("crm").jobs() == []


def cited(number: int, words: str) -> Extraction:
    city = words.rpartition(" ")[2]
    found = Extracted(
        text=f"Lives in {city}.",
        category=Category.FACT,
        importance=0.6,
        confidence=0.99,
        citations=(Citation(episode=number, span=words),),
        attribute="city",
        value=city,
    )
    return Extraction(candidates=(found,))


@every(
    ("contact_id", "number", "words", "source_kind", "speakers"),
    [
        ("ines", 1, "I live in Oslo", SourceKind.USER_EXPLICIT, {"contact"}),
        ("robert", 1, "I live in Oslo", SourceKind.MODEL_GUESS, set()),
        ("ines", 2, "I live in Rome", SourceKind.MODEL_GUESS, set()),
        ("robert", 2, "I live in Rome", SourceKind.USER_EXPLICIT, {"contact"}),
        ("ines", 3, "Ines moved to Lyon", SourceKind.EXTRACTOR, {"operator"}),
    ],
)
def test_a_model_cannot_make_anothers_words_the_contacts(
    tmp_path: Path, contact_id: str, number: int, words: str, source_kind: str, speakers: set[str]
) -> None:
    """A colleague's word is a colleague's; another contact's is no evidence at all."""
    opened = Memory.open(
        embedded_path=tmp_path / f"{contact_id}-{number}.lbug",
        embedder=HashingEmbedder(),
        extractor=ScriptedExtractor([cited(number, words)] * 2),
    )
    with opened as memory:
        memory.agent("crm").submit_session("talk", TALK, speakers=WHO)
        memory.drain()
        about = memory.contact("crm", contact_id)
        kinds = {decision.note.source_kind for decision in about.decisions()}
        heard = {turn.speaker for each in about.evidence_about("city") for turn in each.turns}
    assert (kinds, heard) == ({source_kind}, speakers)


def test_one_contact_may_have_several_names_and_colleagues(memory: Memory) -> None:
    turns = [
        Turn(role="contact", name="Ines", text="My employer is Brightwave."),
        Turn(role="contact", name="+49 170", text=OSLO),
        Turn(role="contact", name="Robert", text=ROME),
    ]
    who = {"Ines": "contact", "+49 170": "contact", "Robert": "system"}
    memory.contact("crm", "ines").submit_session("talk", turns, speakers=who)
    memory.drain()
    assert cities(memory, "ines") == ["Oslo"]
    assert [each.value for each in memory.contact("crm", "ines").value("employer")] == [
        "Brightwave"
    ]


def test_a_name_or_roles_but_not_both(memory: Memory) -> None:
    ines = memory.contact("crm", "ines")
    with pytest.raises(InvalidSessionError, match="either contact_name or speakers"):
        ines.submit_session("talk", TALK, contact_name="Ines", speakers={"Ines": "contact"})
