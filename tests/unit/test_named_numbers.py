"""Personal numbers after their names: found if their check digits are right, in many countries."""

from __future__ import annotations

from reconciler.adapters.rules_finder import _number_rules, find_named_numbers, stdnum_module
from tests.tables import every

FOUND = [
    ("Mon NIR, c'est le {}", "2 84 07 69 123 023 20"),
    ("Die Steuer-ID meiner Frau lautet {}", "53861042705"),
    ("Ihre SV-Nummer: {}", "3730 14 06 82"),
    ("Rentenversicherungsnummer {}", "65 170839 J 003"),
    ("AHV-Nr. von Herrn Frei: {}.", "756.2619.9204.36"),
    ("Numer PESEL klienta to {}", "79112303613"),
    ("CPF dela: {}, diz o marido", "582.726.085-10"),
    ("La CURP de mi esposa es {}", "LOGM870316MJCPRR04"),
    ("Il mio codice fiscale è {}", "brtlne81d52f205w"),
    ("El DNI del cliente es {}", "81926613S"),
    ("Her BSN, as told by phone, is {}", "241197132"),
    ("Personnumret är {}", "760921-8131"),
    ("Fødselsnummer hans: {}", "11077941012"),
    ("NHS number of his son: {}", "906 635 9951"),
    ("Aadhaar of the applicant: {}", "5667 9103 2791"),
    ("Rodné číslo je {}", "710319/2745"),
    ("Tc kimlik no: {}", "17291716060"),
    ("South African ID number {}", "7503305044089"),
    ("身份证号码是{}", "11010519491231002X"),
]
KEPT = [
    "Her PESEL is on file, order 79112303614 is late.",
    "Za 14 dni przyjdzie zamówienie 81926613.",
    "The CPF form has 11 fields and costs 12.50.",
    "BSN is not known yet.",
    "Invoice 241197132 is unpaid.",
    "Born on 17 September 1968.",
]


@every(("text", "number"), FOUND)
def test_a_number_is_found_after_its_name(text: str, number: str) -> None:
    told = text.format(number)
    assert [told[span.start : span.end] for span in find_named_numbers(told)] == [number]


@every("text", KEPT)
def test_a_number_of_something_else_is_left_alone(text: str) -> None:
    assert list(find_named_numbers(text)) == []


def test_every_check_is_one_that_the_library_has() -> None:
    assert all(
        callable(stdnum_module(name).is_valid)
        for rule, _ in _number_rules()
        for name in rule.checks
    )
