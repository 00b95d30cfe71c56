"""The shapes of personal numbers: a published sample of each, and what its check turns down."""

from __future__ import annotations

import regex

from reconciler.adapters.personal_data_finder import _shape, has_luhn_digit
from reconciler.adapters.rules_finder import rules_of
from tests.tables import every

NAMES = (
    *("iban", "ipv4", "ipv6", "us_ssn", "uk_nino", "in_aadhaar", "es_nif", "it_fiscal_code"),
    *("fi_code", "kr_rrn", "se_number", "in_pan", "in_gstin", "card"),
)
SHAPES = rules_of("personal_data.toml", "shapes", _shape)


def is_found(name: str, number: str) -> bool:
    shape = SHAPES[NAMES.index(name)]
    match = regex.search(shape.pattern, number, regex.IGNORECASE)
    return bool(match) and any(
        shape.is_valid(match[0][: end - match.start()])
        for group in range(match.re.groups + 1)
        for end in match.ends(group)
    )


CASES = [
    ("iban", "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
    ("iban", "MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001T"),
    ("iban", "NO9386011117947", "NO93860111179470"),
    ("iban", "PL61 1090 1014 0000 0712 1981 2874 OK", "PL61 1090 1014 0000 0712 1981 OK"),
    ("ipv4", "192.0.2.17/24", "192.0.2.256"),
    ("ipv4", "192.0.2.17/99", "1.192.0.2.17"),
    ("ipv6", "2001:db8::8a2e:370:7334", "2001:db8::8a2e::7334"),
    ("ipv6", "from fe80::1%eth0/64: it", "from 12:30:45: it"),
    ("ipv6", "at 2001:db8::1: a router", "at 2001:db8:1: a router"),
    ("ipv6", "::ffff:192.0.2.17", "::ffff:192.0.2.256"),
    ("us_ssn", "536-90-4399", "666-90-4399"),
    ("us_ssn", "536-90-4398", "078-05-1120"),
    ("us_ssn", "536-90-4397", "123-45-6789"),
    ("us_ssn", "912-70-4399", "987-65-4320"),
    ("us_ssn", "536-90-4396", "333-33-3333"),
    ("uk_nino", "AB 12 34 56 C", "GB 12 34 56 C"),
    ("uk_nino", "ab123456c", "AO123456C"),
    ("uk_nino", "SK 123456 D", "SD 123456 D"),
    ("in_aadhaar", "2341 2341 2346", "2341 2341 2364"),
    ("in_aadhaar", "234123412346", "134123412346"),
    ("in_aadhaar", "2341-2341-2346", "23412341-2346"),
    ("es_nif", "12345678Z", "12345678A"),
    ("es_nif", "1234567-L", "1234567-A"),
    ("es_nif", "X1234567L", "Y1234567L"),
    ("it_fiscal_code", "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
    ("fi_code", "131052-308T", "131052-308U"),
    ("fi_code", "290296-011E", "290297-011P"),
    ("fi_code", "131052-900W", "131052-900X"),
    ("kr_rrn", "900101-1234567", "901301-1234567"),
    ("se_number", "811218-9876", "811218-9867"),
    ("se_number", "701063-2391", "701093-2391"),
    ("se_number", "19811218-9876", "90811218-9876"),
    ("in_pan", "ABCPE1234F", "ABCDE1234F"),
    ("in_gstin", "27AAPFU0939F1ZV", "27AAPFU0939F1ZW"),
    ("card", "4111 1111 1111 1111", "4111 1111 1111 1112"),
]


@every(("name", "number", "wrong"), CASES)
def test_a_number_is_found_and_one_that_fails_its_check_is_not(
    name: str, number: str, wrong: str
) -> None:
    assert is_found(name, number)
    assert not is_found(name, wrong)


def test_every_shape_has_a_sample() -> None:
    assert list(dict.fromkeys(name for name, *_ in CASES)) == list(NAMES)
    assert len(NAMES) == len(SHAPES)


@every("number", ["4111 1111 1111 1111", "3782-822463-10005"])
def test_luhns_rule_sees_a_wrong_digit_and_two_that_changed_places(number: str) -> None:
    assert has_luhn_digit(number)
    assert not has_luhn_digit(number[:-1] + "9")
    assert not has_luhn_digit("7" + number)
