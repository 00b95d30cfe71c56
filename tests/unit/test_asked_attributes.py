"""Questions meet attributes: which ones a question asks for, and what of a contact that brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reconciler.bootstrap.chosen_models import build_embedder
from reconciler.config_files import (
    BookChoice,
    load_attribute_book,
    load_attribute_sentences,
    load_own_questions,
    load_question_vectors,
)
from reconciler.domain.recalling.asking import AttributeQuestions, questions_of
from reconciler.domain.recalling.filtering import EVERYTHING, RecallFilter
from reconciler.domain.recalling.prompting import as_prompt
from reconciler.domain.recalling.recallable import Recallable, Recalling, RecallQuery
from reconciler.domain.recalling.recalled import Recalled, RecallOutcome
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Slot
from reconciler.domain.records.policies import RankingPolicy, RecallFloor
from reconciler.errors import ConfigurationError
from reconciler.ports.embedder import Embedder
from reconciler.reading.question_words import about_her, without_names
from reconciler.service.embedding import AskedAttributes
from reconciler.settings import load_settings
from reconciler.testing import HashingEmbedder
from tests.tables import every
from tools.write_question_vectors import TARGET, leanings_of, load_questions_in_languages, written

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
NORTH = np.array([1.0, 0.0], dtype=np.float32)
FAR = RecallFloor(base=0.9)
MODEL = "all-MiniLM-L6-v2@53aa5117"


# The file


def test_every_attribute_of_the_book_has_questions_and_facts_and_stands_first() -> None:
    book = [each.name for each in load_attribute_book(None)]
    assert sorted([*load_attribute_sentences()][: len(book)]) == sorted(book)


def test_no_attribute_has_the_same_sentence_twice() -> None:
    for name, each in load_attribute_sentences().items():
        assert len(set(each.questions)) == len(each.questions) >= 2, name
        assert len(set(each.facts)) == len(each.facts) >= 1, name


def test_the_shipped_vectors_are_what_the_packaged_model_gives() -> None:
    made = written()
    with np.load(TARGET) as shipped:
        assert str(shipped["digest"]) == str(made["digest"]), "run tools/write_question_vectors.py"
        assert shipped.keys() == made.keys()
        for name in ("names", "attributes", "ends"):
            assert shipped[name].tolist() == made[name].tolist()
        for name in ("vectors", "leanings", "least"):
            assert shipped[name].astype(float) == pytest.approx(made[name].astype(float), abs=2e-3)


def test_languages_ask_for_attributes_that_english_asks_for_too() -> None:
    known = load_attribute_sentences()
    for language, asked in load_questions_in_languages().items():
        assert asked.keys() <= known.keys(), language
        texts = [text for each in asked.values() for text in each]
        assert len(set(texts)) == len(texts), language


ASKED_IN_LANGUAGES = {
    "Where's the town I'm living in?": "city",
    "Which firm do you work for?": "employer",
    "What does my wife's name sound like?": "spouse",
    "In welcher Stadt wohnst du jetzt?": "city",
    "Wo arbeite ich denn?": "employer",
    "Où est-ce que j'habite maintenant ?": "city",
    "Pour quelle entreprise travaillez-vous ?": "employer",
    "¿Dónde vivo yo?": "city",
    "¿Para qué empresa trabajas?": "employer",
    "Was darf er denn nicht essen?": "diet",
    "Wer hat den Vertrag zu unterschreiben?": "decision_maker",
    "Wie lautet seine Telefonnummer?": "phone",
    "Comment peut-on la joindre ?": "phone",
    "Quelle est la date de naissance de son mari ?": "birthday",
    "¿En qué ciudad vive ahora?": "city",
}
UNRELATED = [
    "Wie hoch ist der Montblanc?",
    "Raconte-moi une blague.",
    "¿Qué hora es en Tokio?",
    "Schreib mir ein Gedicht über den Herbst.",
    "Which train goes to Ghent at noon?",
]


def test_the_packaged_model_meets_attributes_in_other_languages() -> None:
    shipped = load_question_vectors(MODEL)
    assert shipped is not None
    model = build_embedder(load_settings(embedder={"model": "minilm"}))
    try:
        asked = model.embed([*map(about_her, ASKED_IN_LANGUAGES)])
        unrelated = model.embed([*map(about_her, UNRELATED)])
    finally:
        model.close()
    for text, vector in zip(ASKED_IN_LANGUAGES, asked, strict=True):
        assert ASKED_IN_LANGUAGES[text] in shipped.asked_by(vector), text
    for text, vector in zip(UNRELATED, unrelated, strict=True):
        strange = shipped.strangeness(vector)
        assert all(clear <= strange for clear in shipped.asked_by(vector).values()), text


@every(
    ("said", "told"),
    [
        ("Where do I live?", "Where do she live?"),
        (
            "What's your e-mail, and when may I call you?",
            "What's her e-mail, and when may she call she?",
        ),
        ("Is he with his wife? I'm not.", "Is she with her wife? she is not."),
        ("Wo wohne ich, bei dir?", "Wo wohne ich, bei dir?"),
        ("Where is Ian's Myra?", "Where is Ian's Myra?"),
    ],
)
def test_a_question_of_any_person_is_one_about_her(said: str, told: str) -> None:
    assert about_her(said) == told


@every(
    ("said", "told"),
    [
        ("What is Leona's address?", "What is her address?"),
        ("Does Leona Varga fly?", "Does she fly?"),
        ("Where is leona?", "Where is she?"),
        ("Where is Leonard?", "Where is Leonard?"),
        ("Where is Petra?", "Where is Petra?"),
    ],
)
def test_a_question_by_the_contacts_name_is_one_about_her(said: str, told: str) -> None:
    assert without_names(said, ["Leona Varga"]) == told
    assert without_names(said, []) == said


def test_a_strange_question_needs_nearer_facts() -> None:
    known = AttributeQuestions(["city"], unit(0), generic=unit(90))
    assert known.strangeness(unit(90)[0]) > known.strangeness(unit(45)[0]) > 0.3
    assert (known.strangeness(NORTH), KNOWN.strangeness(unit(90)[0])) == (0.0, 0.0)
    floor = Recalling(ranking=RankingPolicy(), floor=RecallFloor(base=0.5))
    facts = Recallable(FACTS, unit(*range(len(FACTS))))
    for strange, fits in ((0.0, True), (0.6, False)):
        question = RecallQuery("Who signs?", NORTH, {}, strange=strange)
        found = facts.answer(question, EVERYTHING, floor, NOON, 3)
        assert any(hit.fits for hit in found) is fits


def test_vectors_of_other_sentences_or_another_model_are_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shipped = load_question_vectors(MODEL)
    assert shipped is not None
    assert shipped.names == load_attribute_sentences().keys()
    assert 0.45 < shipped.least < 0.6
    assert load_question_vectors("model@1") is None
    monkeypatch.setattr("reconciler.config_files.sentences_digest", lambda: "0")
    assert load_question_vectors(MODEL) is None


def test_own_attributes_bring_their_questions_or_are_asked_for_by_their_words(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own.toml"
    described = 'description = "Which wine she likes."\nholds = "many"\n'
    own.write_text(
        f'[favourite_wine]\n{described}questions = ["Which bottle do I bring?"]\n'
        f"[house_style]\n{described}",
        encoding="utf-8",
    )
    found = load_own_questions(BookChoice(own))
    assert list(found["favourite_wine"]) == ["Which bottle do I bring?"]
    assert list(found["house_style"]) == [
        "What is the house style?",
        "house style: Which wine she likes.",
    ]
    assert load_own_questions(None) == {}


@every("given", ['questions = "Which?"', "questions = [1]"])
def test_questions_that_are_no_list_of_texts_are_refused(tmp_path: Path, given: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(f'[wine]\ndescription = "Wine."\nholds = "many"\n{given}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="questions"):
        load_own_questions(BookChoice(own))


# What a question asks for


def unit(*angles: float) -> NDArray[np.float32]:
    """Vectors at these angles to the north, in degrees."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


KNOWN = AttributeQuestions(["city", "city", "diet", "pet"], unit(0, 10, 80, 160))


def test_a_question_asks_for_the_attribute_that_one_of_its_questions_asks_for() -> None:
    assert KNOWN.asked_by(NORTH) == {"city": pytest.approx(1.0)}


def test_a_question_that_is_near_none_asks_for_nothing() -> None:
    assert KNOWN.asked_by(unit(-90)[0]) == {}
    assert AttributeQuestions([], np.zeros((0, 2), np.float32)).asked_by(NORTH) == {}


def test_another_language_has_a_measure_of_its_own() -> None:
    near = AttributeQuestions(["phone", "pet"], unit(90, 100), least=0.99)
    both = AttributeQuestions(["city", "pet"], unit(0, 80), in_languages=[near])
    assert both.asked_by(unit(90)[0])["phone"] == pytest.approx(1.0)
    assert "phone" not in both.asked_by(unit(70)[0])
    assert "phone" not in both.asked_by(unit(90)[0], among=KNOWN)


class CountingEmbedder(HashingEmbedder):
    """Counts the texts that it embedded."""

    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return super().embed(texts)


def asked_attributes(
    embedder: Embedder,
    own: Mapping[str, Sequence[str]] | None = None,
    shipped: AttributeQuestions | None = None,
) -> AskedAttributes:
    """With one question that is known, for a city."""
    return AskedAttributes(
        embedder, lambda: {"city": ["Where is home?"]}, lambda: own or {}, lambda: shipped
    )


def test_questions_are_embedded_once_and_only_if_a_contact_has_an_attribute() -> None:
    embedder = CountingEmbedder()
    asked = asked_attributes(embedder)
    vector = HashingEmbedder(64).embed(["Where is home?"])[0]
    assert asked.asked_by(vector, []) == {}
    assert asked.leaning(vector, {"city": 1.0}) is vector
    assert embedder.texts == []
    for _ in range(3):
        assert asked.asked_by(vector, ["city", "shoe_size"])["city"] == pytest.approx(1.0)
    assert embedder.texts == ["Where is home?", "What is the shoe size?"]


def test_shipped_questions_are_not_embedded_and_ask_also_where_no_attribute_is_known() -> None:
    embedder = CountingEmbedder()
    asked = asked_attributes(embedder, shipped=KNOWN)
    assert asked.asked_by(NORTH, []) == {"city": pytest.approx(1.0)}
    assert embedder.texts == []


def test_an_own_attribute_is_asked_for_by_its_own_questions_alone() -> None:
    embedder = CountingEmbedder()
    [north] = embedder.embed(["Which town?"])
    asked = asked_attributes(
        embedder,
        own={"city": ["Which town?", "Which village?"]},
        shipped=AttributeQuestions(["city"], embedder.embed(["Where is home?"])),
    )
    assert asked.asked_by(north, ["city"]) == {"city": pytest.approx(1.0)}
    assert asked.asked_by(embedder.embed(["Where is home?"])[0], ["city"]) == {}


def test_an_attribute_that_nobody_described_is_asked_for_by_the_words_of_its_name() -> None:
    embedder = HashingEmbedder(64)
    asked = asked_attributes(embedder)
    vector = embedder.embed(["What is the shoe size?"])[0]
    assert asked.asked_by(vector, ["shoe_size"]) == {"shoe_size": pytest.approx(1.0)}
    assert questions_of("shoe_size", ()) == ["What is the shoe size?"]


def test_a_question_leans_towards_what_it_asks_for_the_more_the_clearer_it_asks() -> None:
    [east] = unit(90)
    known = AttributeQuestions(["city"], unit(0), 0.5, {"city": east})
    [slightly, clearly] = (known.leaning(NORTH, {"city": clear}) @ east for clear in (0.1, 1.0))
    assert 0 < slightly < clearly < 1
    assert known.leaning(NORTH, {"diet": 1.0}) is NORTH


def test_where_an_attributes_facts_lie_is_seen_from_the_middle_of_all() -> None:
    leanings = leanings_of([unit(0, 0), unit(180)])
    assert leanings == pytest.approx(np.array([[2 / 3, 0.0], [-4 / 3, 0.0]]), abs=1e-6)


# What that brings


def fact(fact_id: str, text: str, attribute: str | None = None, subject: str = "contact") -> Fact:
    slot = Slot(
        subject=subject, attribute=attribute, value=text, value_key=text, is_single_valued=False
    )
    times: dict[str, Any] = dict.fromkeys(("recorded_at", "valid_from", "last_confirmed_at"), NOON)
    return Fact(
        fact_id=fact_id,
        text=text,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        slot=slot if attribute else None,
        **times,
    )


FACTS = (
    fact("sesame", "Sesame gives her a rash", "allergy"),
    fact("oslo", "Has settled in Oslo", "city"),
    fact("goa", "Is in Goa", "city", subject="assistant"),
    fact("tea", "Drinks tea"),
)


def answer(text: str, asks: Mapping[str, float], floor: RecallFloor | None = FAR) -> Recalled:
    """All facts lie across what is asked, so that no meaning brings them."""
    vectors = np.tile(np.array([[0.0, 1.0]], dtype=np.float32), (len(FACTS), 1))
    how = Recalling(ranking=RankingPolicy(), floor=floor)
    question = RecallQuery(text, NORTH, asks)
    return Recallable(FACTS, vectors).answer(question, EVERYTHING, how, NOON, 8)


def ids(found: Recalled) -> list[str]:
    """What fits; an allergy that does not stands behind it all the same."""
    return [hit.fact.fact_id for hit in found if hit.fits]


def test_what_is_asked_for_comes_whatever_its_words_and_its_meaning() -> None:
    found = answer("What can she not eat?", {"allergy": 0.8})
    assert (ids(found), found.outcome) == (["sesame"], RecallOutcome.FITS)
    assert found[0].similarity == pytest.approx(0.8)


def test_a_question_that_asks_for_nothing_known_is_told_what_is_known() -> None:
    found = answer("Who signs?", {"decision_maker": 0.8})
    assert (ids(found), found.outcome) == ([], RecallOutcome.NOTHING_FITS)
    assert (found.known, found.held) == (("city", "allergy"), 4)


@every("clearness, count", [(0.0, 0), (0.3, 0), (0.8, 4)])
def test_a_question_that_one_asks_about_contacts_needs_less(clearness: float, count: int) -> None:
    asks = {"decision_maker": clearness} if clearness else {}
    floor = RecallFloor(base=0.2, share=0.0, usual=0.5)
    assert answer("Who signs?", asks, floor).fitting == count


def test_an_allergy_is_told_whatever_is_asked_within_a_filter() -> None:
    found = answer("Who signs?", {})
    assert [(hit.fact.fact_id, hit.is_standing, hit.fits) for hit in found] == [
        ("sesame", True, False)
    ]
    rash = FACTS[0]
    plain = replace(rash, fact_id="plain", text="allergic to nuts; it is grave", slot=None)
    for none in (plain, replace(plain, fact_id="none", text="Not allergic to nuts.")):
        known = Recallable([none], np.array([[0.0, 1.0]], dtype=np.float32))
        how = Recalling(ranking=RankingPolicy(), floor=FAR)
        question = RecallQuery("Who signs?", NORTH, {})
        assert len(known.answer(question, EVERYTHING, how, NOON, 8)) == (none is plain)
        city = RecallFilter(attribute="city")
        assert not known.answer(question, city, how, NOON, 8)


def test_an_allergy_beyond_the_limit_is_told_and_counted_once() -> None:
    how = Recalling(ranking=RankingPolicy())
    found = Recallable(FACTS).answer(RecallQuery(""), EVERYTHING, how, NOON, 1)
    assert "sesame" in [hit.fact.fact_id for hit in found]
    assert (found.fitting, found.left_out) == (4, 4 - len(found))


def test_what_is_clearly_asked_for_comes_before_what_is_near() -> None:
    asks = {"allergy": 0.8, "city": 0.3}
    assert ids(answer("?", asks, floor=None))[:2] == ["sesame", "oslo"]


def test_a_question_that_names_a_person_is_about_that_person() -> None:
    assert ids(answer("Where does her assistant live?", {"city": 0.8})) == ["goa"]
    assert ids(answer("Where does she live?", {"city": 0.8})) == ["oslo", "goa"]
    assert ids(answer("What about the assistant?", {})) == ["goa"]


def test_a_filter_that_no_fact_passes_is_said_to_be_why() -> None:
    how = Recalling(ranking=RankingPolicy())

    def told(text: str, attribute: str) -> str:
        wanted = RecallFilter(attribute=attribute)
        return as_prompt(Recallable(FACTS).answer(RecallQuery(text), wanted, how, NOON, 8))

    nothing = "Nothing that is known passes the filters; leave one out. Known: city, allergy."
    assert nothing in told("tea", "budget")
    assert nothing in told("", "budget")
    assert "Nothing that is known fits the question. Known: city" in told("tea", "city")
    assert "Nothing that is known" not in told("", "city")
