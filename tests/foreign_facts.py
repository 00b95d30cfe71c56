"""Twenty distinct facts about one contact in each of many languages, and denials of such facts.

Data alone: written for these tests, by hand, in the words that a person would use.
"""

from __future__ import annotations

__all__ = ["DENIED", "FACTS"]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


_TEXTS = {
    "Chinese": """
        他对坚果过敏。
        他对牛奶过敏。
        他对鱼过敏。
        他喜欢喝绿茶。
        他喜欢喝黑咖啡。
        他养了一只狗。
        他养了一只猫。
        他有两个女儿。
        他有一个儿子。
        他会弹钢琴。
        他会弹吉他。
        他会说法语。
        他会说西班牙语。
        他星期一上班。
        他星期二上班。
        他不喝葡萄酒。
        他不吃肉。
        他希望上午接电话。
        他开一辆红色的车。
        他在海边有一所房子。
    """,
    "Japanese": """
        ナッツにアレルギーがあります。
        牛乳にアレルギーがあります。
        魚にアレルギーがあります。
        緑茶が好きです。
        ブラックコーヒーが好きです。
        犬を飼っています。
        猫を飼っています。
        娘が二人います。
        息子が一人います。
        ピアノを弾きます。
        ギターを弾きます。
        フランス語を話します。
        スペイン語を話します。
        月曜日に働きます。
        火曜日に働きます。
        ワインは飲みません。
        肉は食べません。
        電話は午前中を希望します。
        赤い車に乗っています。
        海辺に家があります。
    """,
    "Thai": """
        เขาแพ้ถั่ว
        เขาแพ้นม
        เขาแพ้ปลา
        เขาชอบชาเขียว
        เขาชอบกาแฟดำ
        เขาเลี้ยงหมา
        เขาเลี้ยงแมว
        เขามีลูกสาวสองคน
        เขามีลูกชายหนึ่งคน
        เขาเล่นเปียโน
        เขาเล่นกีตาร์
        เขาพูดภาษาฝรั่งเศส
        เขาพูดภาษาสเปน
        เขาทำงานวันจันทร์
        เขาทำงานวันอังคาร
        เขาไม่ดื่มไวน์
        เขาไม่กินเนื้อ
        เขาอยากให้โทรตอนเช้า
        เขาขับรถสีแดง
        เขามีบ้านริมทะเล
    """,
    "Korean": """
        견과류 알레르기가 있다.
        우유 알레르기가 있다.
        생선 알레르기가 있다.
        녹차를 좋아한다.
        블랙커피를 좋아한다.
        개를 키운다.
        고양이를 키운다.
        딸이 둘 있다.
        아들이 하나 있다.
        피아노를 친다.
        기타를 친다.
        프랑스어를 한다.
        스페인어를 한다.
        월요일에 일한다.
        화요일에 일한다.
        와인을 마시지 않는다.
        고기를 먹지 않는다.
        오전 통화를 원한다.
        빨간 차를 몬다.
        바닷가에 집이 있다.
    """,
    "Arabic": """
        لديه حساسية من المكسرات.
        لديه حساسية من الحليب.
        لديه حساسية من السمك.
        يحب الشاي الأخضر.
        يحب القهوة السوداء.
        عنده كلب.
        عنده قطة.
        عنده ابنتان.
        عنده ابن واحد.
        يعزف على البيانو.
        يعزف على الغيتار.
        يتكلم الفرنسية.
        يتكلم الإسبانية.
        يعمل يوم الاثنين.
        يعمل يوم الثلاثاء.
        لا يشرب النبيذ.
        لا يأكل اللحم.
        يفضل الاتصال صباحا.
        يقود سيارة حمراء.
        عنده بيت على البحر.
    """,
    "Hindi": """
        उसे मेवों से एलर्जी है।
        उसे दूध से एलर्जी है।
        उसे मछली से एलर्जी है।
        उसे हरी चाय पसंद है।
        उसे काली कॉफ़ी पसंद है।
        उसके पास एक कुत्ता है।
        उसके पास एक बिल्ली है।
        उसकी दो बेटियाँ हैं।
        उसका एक बेटा है।
        वह पियानो बजाता है।
        वह गिटार बजाता है।
        वह फ़्रेंच बोलता है।
        वह स्पेनिश बोलता है।
        वह सोमवार को काम करता है।
        वह मंगलवार को काम करता है।
        वह शराब नहीं पीता।
        वह मांस नहीं खाता।
        वह सुबह फ़ोन चाहता है।
        वह लाल गाड़ी चलाता है।
        उसका समुद्र के पास घर है।
    """,
    "Russian": """
        У него аллергия на орехи.
        У него аллергия на молоко.
        У него аллергия на рыбу.
        Он любит зелёный чай.
        Он любит чёрный кофе.
        У него есть собака.
        У него есть кошка.
        У него две дочери.
        У него один сын.
        Он играет на пианино.
        Он играет на гитаре.
        Он говорит по-французски.
        Он говорит по-испански.
        Он работает по понедельникам.
        Он работает по вторникам.
        Он не пьёт вино.
        Он не ест мясо.
        Ему лучше звонить утром.
        Он ездит на красной машине.
        У него дом у моря.
    """,
    "Greek": """
        Έχει αλλεργία στα καρύδια.
        Έχει αλλεργία στο γάλα.
        Έχει αλλεργία στα ψάρια.
        Του αρέσει το πράσινο τσάι.
        Του αρέσει ο σκέτος καφές.
        Έχει έναν σκύλο.
        Έχει μια γάτα.
        Έχει δύο κόρες.
        Έχει έναν γιο.
        Παίζει πιάνο.
        Παίζει κιθάρα.
        Μιλάει γαλλικά.
        Μιλάει ισπανικά.
        Δουλεύει τη Δευτέρα.
        Δουλεύει την Τρίτη.
        Δεν πίνει κρασί.
        Δεν τρώει κρέας.
        Προτιμά κλήσεις το πρωί.
        Οδηγεί κόκκινο αυτοκίνητο.
        Έχει σπίτι στη θάλασσα.
    """,
    "Hebrew": """
        הוא אלרגי לאגוזים.
        הוא אלרגי לחלב.
        הוא אלרגי לדגים.
        הוא אוהב תה ירוק.
        הוא אוהב קפה שחור.
        יש לו כלב.
        יש לו חתול.
        יש לו שתי בנות.
        יש לו בן אחד.
        הוא מנגן בפסנתר.
        הוא מנגן בגיטרה.
        הוא מדבר צרפתית.
        הוא מדבר ספרדית.
        הוא עובד בימי שני.
        הוא עובד בימי שלישי.
        הוא לא שותה יין.
        הוא לא אוכל בשר.
        הוא מעדיף שיחות בבוקר.
        הוא נוהג במכונית אדומה.
        יש לו בית ליד הים.
    """,
    "German": """
        Ist gegen Nüsse allergisch.
        Ist gegen Milch allergisch.
        Ist gegen Fisch allergisch.
        Mag grünen Tee.
        Mag schwarzen Kaffee.
        Hat einen Hund.
        Hat eine Katze.
        Hat zwei Töchter.
        Hat einen Sohn.
        Spielt Klavier.
        Spielt Gitarre.
        Spricht Französisch.
        Spricht Spanisch.
        Arbeitet montags.
        Arbeitet dienstags.
        Trinkt keinen Wein.
        Isst kein Fleisch.
        Möchte morgens angerufen werden.
        Fährt ein rotes Auto.
        Hat ein Haus am Meer.
    """,
    "French": """
        Est allergique aux noix.
        Est allergique au lait.
        Est allergique au poisson.
        Aime le thé vert.
        Aime le café noir.
        A un chien.
        A un chat.
        A deux filles.
        A un fils.
        Joue du piano.
        Joue de la guitare.
        Parle anglais.
        Parle espagnol.
        Travaille le lundi.
        Travaille le mardi.
        Ne boit pas de vin.
        Ne mange pas de viande.
        Préfère les appels du matin.
        Conduit une voiture rouge.
        A une maison au bord de la mer.
    """,
    "Spanish": """
        Es alérgico a las nueces.
        Es alérgico a la leche.
        Es alérgico al pescado.
        Le gusta el té verde.
        Le gusta el café solo.
        Tiene un perro.
        Tiene un gato.
        Tiene dos hijas.
        Tiene un hijo.
        Toca el piano.
        Toca la guitarra.
        Habla francés.
        Habla inglés.
        Trabaja los lunes.
        Trabaja los martes.
        No bebe vino.
        No come carne.
        Prefiere llamadas por la mañana.
        Conduce un coche rojo.
        Tiene una casa junto al mar.
    """,
    "Polish": """
        Ma alergię na orzechy.
        Ma alergię na mleko.
        Ma alergię na ryby.
        Lubi zieloną herbatę.
        Lubi czarną kawę.
        Ma psa.
        Ma kota.
        Ma dwie córki.
        Ma jednego syna.
        Gra na pianinie.
        Gra na gitarze.
        Mówi po francusku.
        Mówi po hiszpańsku.
        Pracuje w poniedziałki.
        Pracuje we wtorki.
        Nie pije wina.
        Nie je mięsa.
        Woli telefony rano.
        Jeździ czerwonym samochodem.
        Ma dom nad morzem.
    """,
    "Turkish": """
        Fıstığa alerjisi var.
        Süte alerjisi var.
        Balığa alerjisi var.
        Yeşil çay sever.
        Sade kahve sever.
        Bir köpeği var.
        Bir kedisi var.
        İki kızı var.
        Bir oğlu var.
        Piyano çalar.
        Gitar çalar.
        Fransızca konuşur.
        İspanyolca konuşur.
        Pazartesi çalışır.
        Salı çalışır.
        Şarap içmez.
        Et yemez.
        Sabah aranmak ister.
        Kırmızı araba kullanır.
        Deniz kenarında evi var.
    """,
    "Ukrainian": """
        Має алергію на горіхи.
        Має алергію на молоко.
        Має алергію на рибу.
        Любить зелений чай.
        Любить чорну каву.
        Має собаку.
        Має кота.
        Має дві доньки.
        Має одного сина.
        Грає на піаніно.
        Грає на гітарі.
        Говорить французькою.
        Говорить іспанською.
        Працює щопонеділка.
        Працює щовівторка.
        Не п'є вина.
        Не їсть м'яса.
        Воліє дзвінки вранці.
        Їздить червоною машиною.
        Має будинок біля моря.
    """,
    "Vietnamese": """
        Anh ấy dị ứng với hạt.
        Anh ấy dị ứng với sữa.
        Anh ấy dị ứng với cá.
        Anh ấy thích trà xanh.
        Anh ấy thích cà phê đen.
        Anh ấy nuôi chó.
        Anh ấy nuôi mèo.
        Anh ấy có hai con gái.
        Anh ấy có một con trai.
        Anh ấy chơi đàn dương cầm.
        Anh ấy chơi đàn ghi ta.
        Anh ấy nói tiếng Pháp.
        Anh ấy nói tiếng Tây Ban Nha.
        Anh ấy làm việc thứ hai.
        Anh ấy làm việc thứ ba.
        Anh ấy không uống rượu.
        Anh ấy không ăn thịt.
        Anh ấy muốn được gọi buổi sáng.
        Anh ấy lái xe màu đỏ.
        Anh ấy có nhà bên biển.
    """,
}
FACTS = {language: _lines(text) for language, text in _TEXTS.items()}
"""By language, twenty facts of which each holds beside the others."""

DENIED = {
    "German": [
        ("Ist nicht gegen Nüsse allergisch.", "Ist gegen Nüsse allergisch."),
        ("Hat keine Allergie gegen Milch.", "Hat eine Allergie gegen Milch."),
        ("Wohnt nicht in Berlin.", "Wohnt in Berlin."),
    ],
    "French": [
        ("N'est pas allergique aux noix.", "Est allergique aux noix."),
        ("Elle ne mange jamais de viande.", "Elle mange de la viande."),
    ],
    "Spanish": [
        ("No es alérgico a las nueces.", "Es alérgico a las nueces."),
        ("Ya no trabaja en el banco.", "Trabaja en el banco."),
    ],
    "Italian": [
        ("Non è allergico alle noci.", "È allergico alle noci."),
        ("Non mangia carne.", "Mangia carne."),
    ],
    "Portuguese": [
        ("Não é alérgico a nozes.", "É alérgico a nozes."),
        ("Ela não come carne.", "Ela come carne."),
    ],
    "Dutch": [
        ("Is niet allergisch voor noten.", "Is allergisch voor noten."),
        ("Heeft geen allergie voor melk.", "Heeft een allergie voor melk."),
    ],
    "Polish": [
        ("Nie jest uczulony na orzechy.", "Jest uczulony na orzechy."),
        ("Nie lubi kawy.", "Lubi kawę."),
    ],
    "Russian": [
        ("У него нет аллергии на орехи.", "У него есть аллергия на орехи."),
        ("Он не ест мясо.", "Он ест мясо."),
    ],
    "Hindi": [
        ("उसे मेवों से एलर्जी नहीं है।", "उसे मेवों से एलर्जी है।"),
        ("वह मांस नहीं खाता।", "वह मांस खाता है।"),
    ],
    "Turkish": [
        ("Fıstığa alerjisi yok.", "Fıstığa alerjisi var."),
        ("Et yiyen biri değil.", "Et yiyen biri."),
    ],
    "Chinese": [("他对花生不过敏。", "他对花生过敏。"), ("他没有狗。", "他有狗。")],
    "Japanese": [
        ("ナッツにアレルギーがありません。", "ナッツにアレルギーがあります。"),
        ("肉は食べません。", "肉は食べます。"),
    ],
}
"""By language, what is denied and what is said plainly."""
