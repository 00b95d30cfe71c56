"""What is kept only with consent is recognised in ten languages; what is plain there is kept."""

from __future__ import annotations

from pathlib import Path

from reconciler import Memory
from reconciler.config_files import load_gate_policy
from reconciler.reading.cues.languages import unread_script
from tests.tables import every

DISCLOSURES = {
    "health": [
        "Sie ist im dritten Monat schwanger.",
        "Er hatte letztes Jahr einen Herzinfarkt.",
        "Ihre Mutter hat Brustkrebs.",
        "Está embarazada de su segundo hijo.",
        "Le diagnosticaron diabetes tipo 2.",
        "Está de baja médica por depresión.",
        "Elle est enceinte.",
        "Il est en arrêt maladie depuis mars.",
        "Son mari suit une chimiothérapie.",
        "È incinta di cinque mesi.",
        "Soffre di depressione.",
        "Ela está grávida.",
        "Ele está internado desde ontem.",
        "Ze is zwanger.",
        "Hij heeft kanker.",
        "Jest w ciąży.",
        "Choruje na cukrzycę.",
        "彼女は妊娠しています。",
        "糖尿病の治療を受けている。",
        "她怀孕了。",
        "他得了抑郁症。",
    ],
    "religion": [
        "Sie ist katholisch und geht jeden Sonntag in die Kirche.",
        "Er ist zum Islam konvertiert.",
        "Es musulmana y no come cerdo.",
        "Va a misa los domingos.",
        "Il est juif pratiquant.",
        "È cattolica.",
        "É testemunha de Jeová.",
        "Hij is moslim.",
        "Jest świadkiem Jehowy.",
        "彼はイスラム教徒です。",
        "她是佛教徒。",
    ],
    "politics": [
        "Er ist Mitglied der SPD.",
        "Sie wählt die Grünen.",
        "Vota a la izquierda.",
        "Está afiliado al partido socialista.",
        "Elle vote à droite.",
        "È iscritto al partito.",
        "Ele votou no PT.",
        "Hij stemt op de VVD.",
        "Głosuje na lewicę.",
        "彼は共産党の党員です。",
        "他是共产党员。",
    ],
    "orientation": [
        "Er ist schwul.",
        "Sie lebt mit ihrer Freundin und ist lesbisch.",
        "Es lesbiana.",
        "Il est homosexuel.",
        "È bisessuale.",
        "Ele é homossexual.",
        "Ze is lesbisch.",
        "Jest gejem.",
        "彼女はレズビアンです。",
        "他是同性恋。",
    ],
    "union": [
        "Sie ist Gewerkschaftsmitglied.",
        "Está afiliada al sindicato.",
        "Il est syndiqué à la CGT.",
        "È iscritta al sindacato.",
        "Ela é sindicalizada.",
        "Hij is lid van de vakbond.",
        "Należy do związku zawodowego.",
        "労働組合の組合員です。",
        "他加入了工会。",
    ],
    "legal": [
        "Er ist vorbestraft.",
        "Tiene antecedentes penales.",
        "Il a fait deux ans de prison.",
        "È stato condannato per furto.",
        "Ele foi preso em 2019.",
        "Hij heeft een strafblad.",
        "Była skazana za oszustwo.",
        "彼には前科がある。",
        "他坐过牢。",
    ],
    "ethnicity": [
        "Sie hat einen Migrationshintergrund.",
        "Es de etnia gitana.",
        "Elle est d'origine algérienne.",
        "È di origine marocchina.",
        "Ele é afrodescendente.",
        "Hij is van Turkse afkomst.",
        "Jest pochodzenia romskiego.",
        "彼はアイヌです。",
        "她是藏族人。",
    ],
}

ORDINARY = [
    "Bevorzugt Anrufe am Vormittag.",
    "Arbeitet als Krankenschwester in Bern.",
    "Wohnt in der Kirchgasse.",
    "Die Gewerkschaft verhandelt mit dem Konzern.",
    "Hat das Paket nicht erhalten.",
    "Möchte die Rechnung als PDF.",
    "Prefiere reuniones por la tarde.",
    "Trabaja como enfermera en Sevilla.",
    "Le gustan las judías verdes.",
    "El pedido llegó dañado.",
    "Vive cerca de la iglesia.",
    "Préfère être appelée le matin.",
    "Travaille à l'hôpital de Lyon comme infirmière.",
    "Le vin est d'appellation d'origine contrôlée.",
    "Habite rue de l'Église.",
    "La commande est arrivée en retard.",
    "Preferisce le riunioni di mattina.",
    "Lavora come infermiera a Torino.",
    "L'olio è di origine italiana.",
    "Il pacco non è arrivato.",
    "Prefere reuniões à tarde.",
    "Trabalha como enfermeira no Porto.",
    "A encomenda chegou com atraso.",
    "Geeft de voorkeur aan bellen in de ochtend.",
    "Werkt als verpleegkundige in Utrecht.",
    "Het pakket is niet aangekomen.",
    "Woli spotkania rano.",
    "Pracuje jako pielęgniarka w Krakowie.",
    "Paczka nie dotarła.",
    "午前中の電話を希望しています。",
    "ビル・ゲイツの本が好きです。",
    "がんばって勉強しています。",
    "東京に住んでいます。",
    "她喜欢早上开会。",
    "他住在上海。",
    "订单还没有到。",
    "Visited Rom in May.",
    "Gift vouchers are welcome.",
]
ROWS = [(topic, text) for topic, texts in DISCLOSURES.items() for text in texts]


@every(("topic", "text"), ROWS)
def test_a_disclosure_is_recognised(topic: str, text: str) -> None:
    assert topic in load_gate_policy(None, "general").topics.find(text)


UNREAD = {
    "Живёт в Москве и любит чай.": "Cyrillic script",
    "อาศัยอยู่ที่กรุงเทพ": "Thai script",
    "يسكن في القاهرة": "Arabic script",
    "पुणे में रहता है": "Devanagari script",
    "서울에 살고 있어요": "Hangul script",
    "Bydlí v Praze a má rád čaj, říká že často.": "words such as 'čaj'",
    "Sống ở Hà Nội và thích uống trà.": "words such as 'sống'",
}


@every(("text", "script"), UNREAD.items())
def test_a_text_in_a_language_that_no_list_covers_says_so(text: str, script: str) -> None:
    assert unread_script(text) == script


@every("text", [*ORDINARY, "Met Björn Åkesson in Malmö on Tuesday, and talked about rebates.", ""])
def test_a_text_in_a_language_that_is_read_says_nothing(text: str) -> None:
    assert unread_script(text) is None


def test_the_decision_says_that_a_text_was_not_read(tmp_path: Path) -> None:
    with Memory.open(graph="embedded", embedded_path=tmp_path / "m") as memory:
        decided = memory.add_contact_note("crm", "ann", "Живёт в Москве и любит чай.")
    assert "unread: no list of words covers its language (Cyrillic script)" in str(decided)


@every("text", ORDINARY)
def test_an_ordinary_note_is_about_no_restricted_topic(text: str) -> None:
    assert not load_gate_policy(None, "general").topics.find(text)
