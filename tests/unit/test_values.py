from __future__ import annotations

import itertools
import subprocess
import sys
import tomllib
import warnings
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from babel import Locale
from hypothesis import example, given, strategies as st

from reconciler.domain.values import NORMALISERS
from reconciler.domain.values.attributes import AttributeBook
from reconciler.resources import resource_path
from tests.tables import every


@cache
def shipped() -> AttributeBook:
    path = resource_path("config") / "attributes.toml"
    return AttributeBook.from_mapping(tomllib.loads(path.read_text(encoding="utf-8")))


def key(attribute: str, value: Any) -> str | None:
    slot = shipped().slot(attribute=attribute, value=value)
    assert slot
    return slot.value_key


SAME = [
    ("name", "Dr. Jane Doe", "Jane Doe", "Doe, Jane", "Doe, Dr. Jane, PhD", "JANE  DOE."),
    ("name", "Max Doe Jr.", "Max Doe, Jr."),
    ("name", "Pat O’Brien", "O'Brien, Pat"),
    ("employer", "Acme", "ACME Corp.", "Acme, Inc.", "The Acme Company", "Acme Co Ltd", "Acme SpA"),
    ("employer", "Müller GmbH & Co. KG", "Müller", "müller gmbh"),
    ("employer", "Johnson & Johnson", "Johnson and Johnson"),
    ("employer", "Pilvi OÜ", "Pilvi", "PILVI oü"),
    ("employer", "Deniz Gıda A.Ş.", "Deniz Gıda", "Deniz Gıda Anonim Şirketi"),
    ("employer", "Deniz Gıda Ltd. Şti.", "Deniz Gıda"),
    ("employer", "Boulangerie Corbaz Sàrl", "Boulangerie Corbaz", "Boulangerie Corbaz SARL"),
    ("employer", "Nowy Młyn Spółka z o.o.", "Nowy Młyn Sp. z o.o.", "Nowy Młyn"),
    ("employer", "Vidrios del Sur, S.A. de C.V.", "Vidrios del Sur S.A.B. de C.V."),
    ("employer", "Padaria Ipanema S/A", "Padaria Ipanema SA", "Padaria Ipanema"),
    ("employer", "Fjällbo Kraft AB (publ)", "Fjällbo Kraft AB", "Fjällbo Kraft"),
    ("employer", "Banksia Pty Ltd", "Banksia Proprietary Limited", "Banksia"),
    ("employer", "Co", "CO", "co."),
    ("city", "Berlin", "berlin", " BERLIN. ", "Ｂｅｒｌｉｎ"),
    ("city", "Zoe\u0308ville", "Zoëville"),
    ("allergy", "gluten-free", "gluten free", "Gluten–Free!"),
    ("country", "Germany", "DE", "deu", "Deutschland", "GERMANY"),
    ("country", "US", "USA", "U.S.A.", "the United States", "United States of America"),
    ("country", "UK", "GB", "Great Britain", "the United Kingdom"),
    ("age", 42, "42", "42 years", "42 years old", "about 42"),
    ("company_size", "1,200", "1200", "1.2k", "1 200", "1'200", "1.200", "1,200 employees", 1200),
    ("company_size", "50-200", "50 – 200", "50–200"),
    ("budget", "€40,000", "40k EUR", "40.000 €", "40,000 euros", "EUR 40 000", "~€40k", "40K€"),
    ("budget", "40.000,00 €", "€40,000.00", "40 000 EUR", "40.000,- EUR", "40 thousand euros"),
    ("budget", "about 40k", "40,000", "40000", "~40k", 40000, 40000.0),
    ("budget", "$1.5 million", "1.5m USD", "US$ 1,500,000", "1,500,000 US dollars", "$1.5M USD"),
    ("budget", "€500 per month", "500 EUR/month", "EUR 500 monthly", "500 € a month"),
    ("contract_value", "40k EUR p.a.", "€40,000/yr", "€40,000 per year", "40 000 EUR annually"),
    ("budget", "$40,000 CAD", "40k CAD", "40,000 Canadian dollars", "CA$40,000"),
    ("contract_value", "1,00,000 INR", "INR 1 lakh", "100000 rupees"),
    ("currency", "EUR", "€", "euro", "Euros"),
    ("currency", "USD", "$", "US dollars", "dollars"),
    ("discount", "15%", "15 percent", "15 %", 15),
    ("birthday", "1990-03-01", "1 March 1990", "March 1st, 1990", "01.03.1990", "19900301"),
    ("birthday", "1 March", "March 1", "1st of March", "on the 1st of March", "--03-01"),
    ("birthday", "29 February", "Feb 29"),
    ("renewal_date", "March 2027", "2027-03", "Mar 2027", "03/2027"),
    ("renewal_date", "13/04/2027", "04/13/2027", "13 April 2027", "2027/04/13"),
    ("renewal_date", "03/03/2027", "2027-03-03"),
    ("renewal_date", "2027-03-01T00:00:00Z", "2027-03-01"),
    ("meeting_time", "2027-03-01 15:00", "1 March 2027, 3pm", "March 1st 2027 at 3:00 pm"),
    ("meeting_time", "2027-03-01T15:00Z", "2027-03-01 15:00 UTC", "2027-03-01T15:00:00+00:00"),
    ("phone", "+49 30 123456", "0049 30 123456", "+49 (0)30 12 34 56", "tel:+49-30-123456"),
    ("phone", "030 123456", "(030) 123-456", "030/123456", "030–123456"),
    ("phone", "+1 415 555 2671 ext. 12", "+1 (415) 555-2671 x12"),
    ("phone", "+49 40 123456 Durchwahl 31", "+49 40 123456 DW 31", "0049 40 123456 ext. 31"),
    ("phone", "+34 (0)91 555 01 23", "+34 91 555 01 23", "0034 (0) 91 5550123"),
    ("phone", "+52 1 55 5550 0123", "+52 55 5550 0123"),
    ("phone", "+54 11 15 5550 0134", "+54 9 11 5550 0134"),
    ("phone", "+39 06 5550 0178", "+39 (0)6 5550 0178"),
    ("email", "Jane@Example.COM", "jane@example.com", "mailto:jane@example.com"),
    ("email", "Jane Doe <jane@example.com>", "jane@example.com"),
    ("email", "jane@müller.de", "jane@xn--mller-kva.de", "jane@MÜLLER.de"),
    ("preferred_channel", "email", "E-mail", "mail", "by e-mail", "via email", "email only"),
    ("preferred_channel", "phone", "call", "telephone", "over the phone", "phone calls"),
    ("preferred_channel", "SMS", "text", "text message"),
    ("preferred_channel", "WhatsApp", "Whats App", "whatsapp"),
    ("language", "Deutsch", "German", "de", "deu", "de-DE"),
    ("language", "Chinese", "Mandarin", "zh", "zh-CN", "中文"),
    ("preferred_language", "English", "en", "en-US", "eng"),
    ("time_zone", "GMT+2", "UTC+02:00", "+02:00", "utc +2", "UTC+0200"),
    ("time_zone", "Europe/Berlin", "europe/berlin"),
    ("time_zone", "America/New_York", "America/New York", "Eastern Time", "ET"),
    ("linkedin", "https://www.linkedin.com/in/jane/", "linkedin.com/in/jane"),
    ("invoice", "1042", "#1042", "Invoice 1042", "invoice no. 1042", 1042),
    ("order", "INV-1042", "inv 1042", "Order #INV-1042"),
    ("marketing_consent", True, "yes", "Opted in", "true", "Y"),
    ("marital_status", "single", "Not married"),
    ("title", "CTO", "Chief Technology Officer"),
    ("favourite", "O'Hara", "o’hara"),
]  # fmt: skip

APART = [
    ("name", "Jane Doe", "John Doe", "Jane Smith", "Jane", "Doe"),
    ("name", "Max Doe", "Max Doe Jr."),
    ("decision_maker", "Mr. Smith", "Mrs. Smith", "Smith"),
    ("child", "Ann", "Anne", "Anna"),
    ("employer", "Acme", "Acme Labs", "Globex", "Co"),
    ("product_in_use", "C", "C++", "C#", "F#"),
    ("product_in_use", "v1.2", "v12", "v1.3"),
    ("city", "Zoëville", "Zoeville"),
    ("country", "Germany", "Austria", "Atlantis"),
    ("age", "42", "42 months", "24", "-42"),
    ("company_size", "1.2", "12", "1200", "50-200", "50200", "200+", "10²", "102"),
    ("budget", "€40,000", "$40,000", "40,000", "€4,000", "€40,000 per month", "€40,000 per year"),
    ("budget", "40k", "40-50k", "up to 40k", "over 40k", "-40k", "40m"),
    ("budget", "$40,000", "$40,000 CAD", "A$40,000", "10 kr", "10 SEK"),
    ("budget", "1" * 30, "1" * 29 + "2"),
    ("birthday", "1 March", "1 March 1990", "March 1990", "2 March", "1 April"),
    ("renewal_date", "03/04/2027", "2027-03-04", "2027-04-03", "04/03/2027"),
    ("renewal_date", "1 March 27", "2027-03-01", "1927-03-01", "1 March"),
    ("renewal_date", "2027-13-01", "2027-01-13"),
    ("renewal_date", "Monday", "3pm", "next week", "May", "10", "end of March 2027", "Q1 2027"),
    ("meeting_time", "2027-03-01", "2027-03-01 15:00", "2027-03-01 3:00", "2027-03-01 15:00 CET"),
    ("meeting_time", "1 March 3pm CET", "1 March 3pm PST", "1 March 3pm UTC", "1 March 3pm +02:00"),
    ("phone", "+49 30 123456", "+49 30 123457", "030 123456", "+43 30 123456"),
    ("phone", "+1 415 555 2671", "+1 415 555 2671 ext. 12", "ask Jane"),
    ("email", "jane@example.com", "jane@example.org", "jane.doe@example.com", "a@b.de or c@d.de"),
    ("preferred_channel", "email", "phone", "sms", "whatsapp", "slack", "carrier pigeon"),
    ("language", "German", "Swiss German", "Dutch", "English", "Elvish"),
    ("language", "Portuguese", "pt-PT"),
    ("time_zone", "UTC+2", "UTC-2", "UTC+2:30", "CET", "Europe/Berlin"),
    ("invoice", "1042", "1043", "10-42", "INV-1042"),
    ("marketing_consent", "yes", "no", "maybe"),
    ("favourite", "5", "-5", "1.5", "15", "1/5"),
]  # fmt: skip


def _pairs(rows: list[Any]) -> list[Any]:
    return [
        (name, one, other)
        for name, *values in rows
        for one, other in itertools.combinations(values, 2)
    ]


@every(("name", "one", "other"), _pairs(SAME))
def test_two_ways_of_saying_it_are_equal(name: str, one: Any, other: Any) -> None:
    assert key(name, one) == key(name, other)


@every(("name", "one", "other"), _pairs(APART))
def test_two_things_said_are_not_equal(name: str, one: Any, other: Any) -> None:
    assert key(name, one) != key(name, other)


@every(
    ("name", "value", "read"),
    [
        ("budget", "40k EUR", "40000 EUR"),
        ("budget", "about 40k", "40000"),
        ("budget", "€40k a month", "40000 EUR/month"),
        ("budget", "0.012345k EUR", "12.3450 EUR"),
        ("birthday", "1 March", "--03-01"),
        ("birthday", "1 March 90", "1 march 90"),
        ("renewal_date", "March 2027", "2027-03"),
        ("meeting_time", "March 1 2027, 3pm", "2027-03-01T15:00"),
        ("phone", "+49 (0)30 123456", "+4930123456"),
        ("language", "Deutsch", "de"),
        ("country", "Germany", "DE"),
        ("time_zone", "GMT-5:30", "utc-05:30"),
        ("city", "nobody knows ", "nobody knows"),
    ],
)
def test_a_value_is_read_as(name: str, value: str, read: str) -> None:
    assert key(name, value) == read


SCRAP_WORDS = """
40 000 1.200,5 k m EUR € $ per month /yr + - 0049 (0) ext 12 : T15:00 3pm March 1st 2027 03/04/2027
29 Feb UTC Z GMT+2 the of Inc. & Co. Ltd Dr. Doe, PhD jane@ x.de @ # no. invoice INV-1 ' ’ ´ ² ٤ ẞ
İ — % des de-DE null unknown www. https:// / only by wife's . , ½ 10:20
"""
SCRAPS = st.lists(st.sampled_from([*SCRAP_WORDS.split(), "\u00a0", "\u200b", "\u0301"]), max_size=6)
TEXTS = (
    st.text(st.characters(exclude_categories=["Cc"]), max_size=60)
    | SCRAPS.map("".join)
    | SCRAPS.map(" ".join)
)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@given(said=TEXTS)
def test_a_normaliser_reads_any_text_without_a_word(normaliser: str, said: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = NORMALISERS[normaliser](said)
    assert read or not any(map(str.isalnum, said))


FOLDING = ["text", "name", "identifier", "country", "currency", "language", "boolean"]


@pytest.mark.parametrize("normaliser", FOLDING)
@given(said=TEXTS)
def test_a_folded_text_folds_to_itself(normaliser: str, said: str) -> None:
    read = NORMALISERS[normaliser](said)
    assert NORMALISERS[normaliser](read) == read


@every(("name", "value"), [(row[0], value) for row in SAME for value in row[1:]])
def test_a_key_is_its_own_key(name: str, value: Any) -> None:
    assert key(name, key(name, value)) == key(name, value)


@given(st.decimals(0, 10**12, places=2), st.sampled_from(["", " EUR", " USD/month"]))
def test_so_is_that_of_any_amount(amount: Decimal, unit: str) -> None:
    said = f"{amount:,}{unit}"
    read = NORMALISERS["money"](said)
    assert NORMALISERS["money"](read) == read
    assert Decimal(read.split(" ")[0].split("/")[0]) == amount


@given(st.datetimes(datetime(1000, 1, 1)), st.sampled_from(["%d %B %Y", "%Y-%m-%d", "%B %d, %Y"]))
def test_a_day_is_read_from_any_way_of_writing_it(day: datetime, form: str) -> None:
    assert NORMALISERS["date"](day.strftime(form)) == f"{day:%Y-%m-%d}"


@given(st.datetimes(datetime(2000, 1, 1)).map(lambda at: at.replace(second=0, microsecond=0)))
def test_so_is_a_minute(at: datetime) -> None:
    read = NORMALISERS["date_time"](at.isoformat(" "))
    assert read == f"{at:%Y-%m-%dT%H:%M}"
    assert NORMALISERS["date_time"](read) == read


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_ascii_is_folded_as_any_other_text(said: str) -> None:
    assert NORMALISERS["text"](said) == NORMALISERS["text"](said + "\u200b")


def test_languages_are_known_by_their_own_name_as_babel_has_it() -> None:
    for code in ("de", "fr", "vi", "hi", "zh", "nb", "uk"):
        assert NORMALISERS["language"](Locale(code).languages[code]) == code


@given(st.text("0123456789.,' -+€$km", max_size=500))
@example("1," * 250)
@example("1 " * 250)
@example("9" * 500)
def test_a_long_run_of_digits_is_read_or_left(said: str) -> None:
    for normaliser in ("money", "number", "percent", "phone", "date_time"):
        NORMALISERS[normaliser](said)


def test_reading_the_module_loads_none_of_its_libraries() -> None:
    code = (
        "import sys, reconciler.domain.values\n"
        "print(*({'babel', 'cleanco', 'dateutil', 'phonenumbers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
