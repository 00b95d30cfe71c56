"""How words are found in languages other than English, and in scripts without spaces."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, strategies as st

from reconciler.reading.question_words import AskedWords, WordIndex, plain_words
from tests.tables import every

GERMAN = ["Sie hat zwei Katzen.", "Die Rechnungen gehen an den Vater.", "Er spielt nicht Schach."]
ENGLISH = ["She has two cats.", "The invoices go to her father.", "He does not play chess."]


def found(texts: Iterable[str], question: str) -> list[int]:
    return np.flatnonzero(WordIndex(texts).matches(question).scores).tolist()


def reading(question: str, notes: Iterable[str] = ()) -> AskedWords:
    said = [word for note in notes for word in plain_words(note)]
    return AskedWords(question, said.count)


@every(
    ("text", "words"),
    [
        ("Zwei Häuser", ["zwei", "häuser"]),
        ("腾讯云", ["腾讯", "讯云"]),
        ("猫", ["猫"]),
        ("横浜のAWS環境", ["横浜", "浜の", "aws", "環境"]),
        ("ลูกค้า VIP", ["ลู", "ูก", "กค", "ค้", "้า", "vip"]),
        ("SL-204をください", ["sl", "204", "をく", "くだ", "ださ", "さい"]),
        ("，。！", []),
    ],
)
def test_words_are_parted_by_spaces_and_else_come_in_pairs_of_letters(
    text: str, words: list[str]
) -> None:
    assert plain_words(text) == words


@every(
    ("question", "notes", "language"),
    [
        ("Wo wohnt sie jetzt?", [], "german"),
        ("¿Dónde trabajaba antes?", [], "spanish"),
        ("Où est son cheval ?", [], "french"),
        ("Dove ha lavorato sua figlia?", [], "italian"),
        ("Onde está o contrato dela?", [], "portuguese"),
        ("Waar staat het huis nu?", [], "dutch"),
        ("Gdzie jest jego umowa?", [], "polish"),
        ("Where is the die cast?", GERMAN, "english"),
        ("Katze", GERMAN, "german"),
        ("Katze", ENGLISH, "english"),
        ("los angeles, flight", ENGLISH, "english"),
        ("腾讯云", [], "english"),
        ("", [], "english"),
    ],
)
def test_a_question_is_in_the_language_of_its_function_words_or_of_the_notes(
    question: str, notes: list[str], language: str
) -> None:
    assert reading(question, notes).language == language


@every(
    ("note", "question"),
    [
        ("Sie hat zwei Häuser geerbt.", "Wo steht das Haus?"),
        ("Trabaja en una fábrica.", "¿Dónde trabajaba antes?"),
        ("Ses filles étudient le droit.", "Qu'étudie sa fille ?"),
        ("Le fatture vanno a Torino.", "Dove va la fattura?"),
        ("Os contratos são curtos.", "Onde está o contrato?"),
        ("De facturen gaan naar Gent.", "Waar gaat de factuur naar toe?"),
        ("Lubi kanapki z serem.", "Czy to jest z kanapką?"),
        ("公司的网站部署在腾讯云上海机房。", "腾讯云"),
        ("她养了两只猫。", "她的猫几岁？"),
        ("猫を二匹飼っています。", "猫は？"),
        ("請求書は佐藤さんに送ってください。", "請求書は誰に？"),
    ],
)
def test_a_question_finds_the_note_that_holds_another_form_of_its_word(
    note: str, question: str
) -> None:
    assert found(["Likes tea", "Il mange", note], question) == [2]


@every(
    "question",
    ["Wie hoch ist der Turm?", "¿Quién ganó la carrera?", "谁赢了比赛？", "月は何色ですか？"],
)
def test_function_words_of_other_languages_find_nothing(question: str) -> None:
    texts = [*GERMAN, "Ella vive en la costa.", "她对谁的问题？", "何が好きですか？"]
    assert found(texts, question) == []


def test_a_name_is_found_across_languages_by_its_plain_form() -> None:
    assert found(["Her brother lives in Toledo."], "¿Quién vive en Toledo?") == [0]
    assert found(["Su hermano vive en Toledo."], "Who is in Toledo?") == [0]


def test_a_word_in_two_forms_counts_as_one_of_the_question() -> None:
    matches = WordIndex([*GERMAN, "Mag Tee."]).matches("Hat sie eine Katze?")
    assert matches.shares.tolist() == pytest.approx([1, 0, 0, 0])


def test_keywords_without_spaces_name_what_holds_them_and_sentences_do_not() -> None:
    index = WordIndex(["部署在腾讯云。", "付款用信用卡。"])
    assert index.matches("腾讯云").named.astype(bool).tolist() == [True, False]
    assert not index.matches("他的云是什么？").named.any()


def test_a_number_beside_letters_without_spaces_names_what_holds_it() -> None:
    texts = ["SL-204 の請求書", "住所は東京です"]
    assert WordIndex(texts).matches("SL-204はどこですか").named.tolist() == [True, False]


def test_words_that_come_after_a_language_was_read_are_found_in_it_too() -> None:
    index = WordIndex(["Mag Tee."])
    assert not index.matches("Wo ist das Haus?").scores.any()
    index.add("Hat zwei Häuser.")
    assert index.matches("Wo ist das Haus?").scores.nonzero()[0].tolist() == [1]


ODD = "的吗猫犬のですか、。ãéß A1-,ั้ก\u0301\ud83d"
ANY = st.text(max_size=30) | st.text(alphabet=ODD, max_size=15)


@given(st.lists(ANY, max_size=6), ANY)
def test_no_text_crashes_and_shares_lie_from_0_to_1(texts: list[str], asked: str) -> None:
    matches = WordIndex(texts).matches(asked)
    assert all(0 <= share <= 1 + 1e-9 for share in matches.shares)
    assert ((matches.scores > 0) == (matches.shares > 0)).all()
