"""What a name says of its value, in every usual notation; and what is only said about a secret."""

from __future__ import annotations

import hashlib
import time

from reconciler.bootstrap.chosen_models import build_secret_finder
from reconciler.errors import InvalidNoteError
from reconciler.reading.named_secrets import kind_of_name, without_secrets
from reconciler.reading.named_secrets.grammar import is_made_up
from reconciler.reading.named_secrets.shapes import find_account_numbers
from reconciler.reading.sensitive_data import SensitiveKind, redact
from tests.tables import every, grouped

VALUE = "Quw7xKp-Rz41"
NOTATIONS = [
    '{"password": "%s"}',
    "{'api_key': '%s', 'user': 'ann'}",
    '{"access_token":"%s"}',
    '"client_secret" : "%s"',
    r"{\"password\": \"%s\"}",
    r"{\\\"password\\\": \\\"%s\\\"}",
    '{"a": {"b": [{"db_password": "%s"}]}}',
    '{"name": "DB_PASSWORD", "value": "%s"}',
    "“password”: “%s”",
    "password: '%s'",
    "- name: SMTP_PASSWORD\n  value: %s",
    "DB_PASSWORD=%s",
    "export PGPASSWORD=%s",
    'os.environ["DB_PASSWORD"] = "%s"',
    "dbPassword = '%s'",
    "clientSecret: %s",
    "x-api-key: %s",
    "Authorization: Bearer %s",
    '{"Authorization": "Basic %s"}',
    "Server=db;Password=%s;User Id=ann",
    "https://api.example/v1?token=%s&page=2",
    "%%22password%%22%%3A%%22%s%%22",
    "<password>%s</password>",
    "<ns:api_key>%s</ns:api_key>",
    '<add key="password" value="%s"/>',
    "<th>Password</th><td>%s</td>",
    "<b>Password:</b> %s",
    "**Password:** %s",
    "**Password**: %s",
    "`password`: `%s`",
    "| Password | %s |",
    "login --password %s now",
    "%s is my password",
    "Our token for the integration: %s",
    "the password for their test system: %s",
    "%s is the portal password.",
    '"secrets": ["%s", "b"]',
    '{"password": "[x]%s"}',
    '{"password": {"value": "%s"}}',
    "{'api_key': {'type': 'plain', 'secret': '%s'}}",
    r"{\"password\": {\"plain\": \"%s\"}}",
    '{"password": {"new": {"text": "%s"}}}',
    '{"password": ["old", {"code": "%s"}]}',
    "password: {value: %s}",
    r'{"pass\u0077ord": "%s"}',
    "portal password - %s",
    "password – %s",
    "password → %s",
    "Password\t%s",
    "password #1: %s",
    "uses %s as password",
    "uses %s as his portal password",
    "Das Passwort ist %s",
    "Das Passwort lautet %s.",
    "Das Kennwort war %s",
    "my new password will be %s",
    "Her password was changed to %s",
    "The API key we use is %s",
    "The access token for the shop is now %s",
    "user: ann pass: %s",
    "user: ann\npass: %s",
    r"\u0022password\u0022:\u0022%s\u0022",
]
DIGITS = [
    '{"pin": "4711"}',
    '{"pin": 4711}',
    "{'cvv': '4711'}",
    '"otp": "4711"',
    r"{\"security_code\": 4711}",
    "PIN=4711",
    "The PIN for the locker is 4711.",
    "The door code of the office is 4711",
    "4711 is my PIN",
    '{"pin": {"value": 4711}}',
    "Her PIN was changed to 4711",
    "OTP code 4711",
    "Die PIN lautet 4711",
    "PIN - 4711",
    "PIN → 4711",
    "PIN\t4711",
    "PIN #1: 4711",
    "The PIN will be 4711",
    "uses 4711 as her PIN",
    "uses 4711 as PIN",
    '{"pin": [4711, "4711"]}',
    "The password reset code is 4711",
    "The code for the front door is 4711.",
    "Entry code for the building: #4711",
    "The locker combination is 4711.",
    "My locker is number 12 and opens with 4711.",
    "To open the safe type 4711 and press the star.",
    "The key box by the garage opens with 4711.",
    "The alarm is turned off with 4711#.",
    "For the side door press 4711 then hash.",
    "Press 4711 to open the gate.",
    "Use code 4711 for the lift.",
    "You can let yourself in with 4711 at the front door.",
    "My bike lock is 47-11-56.",
    "Gate: 4711",
    '{"door": {"code": "4711"}}',
    '{"locker": 12, "code": 4711}',
    r"{\"access\": {\"code\": 4711, \"door\": \"north\"}}",
    '{"combination": "47-11-56", "lock": "bike"}',
    "The code you were sent is 471147.",
]
HARMLESS = [
    "Our token for the integration: expired",
    "Secret for the webhook: see below",
    "She forgot her password",
    "The password reset link expired",
    "Wants a secret gift",
    "A token of appreciation",
    "Asked about her pin number policy",
    "password is required",
    "Password: required",
    '{"password": "is too short"}',
    '{"errors": {"password": ["This field is required."]}}',
    '{"password": null, "has_password": true}',
    '{"max_tokens": 4096, "token": "hello"}',
    '{"pin": 13, "code": "IN-411001"}',
    "PIN code: 411001",
    "That is my password",
    "The meeting is about the password",
    "Key points: 4000 units by May",
    "Secret Santa: 25 euros",
    "Season pass: 1200 euros",
    "password = input('Password: ')",
    '{"password": "********"}',
    "password: [secret]",
    "Bitwarden is our password manager.",
    "LastPass is the password manager we use.",
    "1Password is my password vault.",
    "boarding pass: LH4711X",
    "Boarding-pass: LH4711X",
    "The password will be AES256 encrypted",
    "2024 was the PIN update year",
    "Verification code of conduct: 2019",
    "Our security code review is 12345 lines long.",
    "KeePass2 is her password app.",
    "Our PIN pad supplier is 4711 Systems.",
    "The password policy was changed to ISO27001.",
    "Uses Okta as identity provider, not as password manager",
    "Uses Bitwarden4 as password manager",
    "The security code audit of March: 4200 findings",
    "The access code list is 2400 rows long",
    "Das Passwort ist abgelaufen",
    "Das Passwort wurde am 12.03.2024 geändert",
    "Password - needs a reset",
    "The password will be sent by post",
    "Password reset → ask the help desk",
    "The API key we use is expired",
    "The password rules: 12 characters",
    "ski pass: 2024A",
    '{"password": {"type": "string", "minLength": 12}}',
    '{"secret": {"name": "Ann", "city": "Pune"}}',
    '{"password": {"type": "string"}, "text": "swordfish"}',
    "password reset requests: 1200 a month",
    "Her locker is number 4711.",
    "Gate 12 opens at 0917.",
    "The door is 2100 mm high.",
    "The door has 4711 screws.",
    "The discount code for the office chair is 4711.",
    "The postal code of the building is 47110.",
    "The office opens with 200 people.",
    "Type 4711 is the door that she ordered.",
    '{"door": "oak", "error": {"code": 404}}',
    "The safe weighs 4711 kg.",
    "My code has one or two bugs.",
    "https://shop.example/login/2024-catalogue",
    "https://shop.example/list?code=summer",
]
RUNS_AWAY = {
    "quotes": '"password":"',
    "open quotes": "password: “",
    "backslashes": "password" + "\\" * 9,
    "elements": "<password ",
    "tags": "password<b>",
    "blanks": "password" + " " * 7,
    "lists": 'password":["',
    "cells": "password |",
    "query": "?token=a&",
    "phrases": "passphrase: ",
    "remarks": 'password: "the ',
    "said": "abcd is my ",
    "codes": "pin a b c d ",
    "names": "pass-",
    "nested": '"password":{"value":',
    "keys": '"password":{"a":1,',
    "escapes": r"\u0070ass",
    "sentences": "password a b c ",
    "dashes": "password - ",
    "uses": "uses abcd1 as my new ",
    "locks": "code of the door is 47 ",
    "doors": "door opens with the ",
    "doors in JSON": '"door":{"code":',
    "digits in words": "pin is one two ",
    "remarks in a row": "password:x",
    "phrase lines": "password=ab cd ef ",
}


def found(text: str) -> str:
    """The text without the secrets that the real finder sees."""
    return redact(text, build_secret_finder().find(text), lambda kind, _: f"[{kind}]")


@every("notation", NOTATIONS)
def test_a_named_value_is_found_in_every_notation(notation: str) -> None:
    text = f"He wrote {notation % VALUE} to her"
    assert not [part for part in ("Quw7", "Rz41") if part in found(text)]


@every("text", DIGITS)
def test_digits_are_a_secret_where_their_name_says_so(text: str) -> None:
    assert "4711" not in found(text).replace("-", "")


@every("text", HARMLESS)
def test_what_is_said_about_a_secret_is_none(text: str) -> None:
    assert found(text) == text


def test_a_pin_is_found_where_its_digits_are_words() -> None:
    assert found("My PIN is four eight three one.") == "My PIN is [secret]."


@every(
    "text",
    [
        "The Wi-Fi is Guest and the key is %s",
        "The wifi code is %s",
        "My password's %s",
        "https://api.example/v1?sig=%s&x=1",
        "https://shop.example/reset/%sQuw7xKp-Rz41",
    ],
)
def test_what_lets_in_whoever_has_it_is_a_secret(text: str) -> None:
    assert "Quw7xKp" not in found(text % VALUE)


def test_a_plain_word_is_a_secret_where_a_program_wrote_it_as_one() -> None:
    assert found('{"password": "swordfish"}') == '{"password": "[secret]"}'


@every(
    "text",
    [
        "password=correct horse battery staple",
        "DB_PASSWORD=correct horse battery staple\nHOST=db",
        "password=correct horse battery staple; host=db",
        '{"note": "password=correct horse battery staple"}',
        "Portal password: purple horse battery staple",
    ],
)
def test_a_phrase_of_words_is_found_to_its_end(text: str) -> None:
    assert not [word for word in ("correct", "purple", "horse", "staple") if word in found(text)]


def test_a_sentence_that_goes_on_after_a_secret_stays() -> None:
    text = f"password={VALUE} and she lives in Pune"
    assert found(text) == text.replace(VALUE, "[secret]")


def test_all_of_a_secret_is_found_however_it_is_nested() -> None:
    text = f'{{"password": {{"type": "plain", "value": "{VALUE}"}}, "city": "Pune"}}'
    assert found(text) == text.replace(VALUE, "[secret]")


def test_what_stands_around_a_value_stays() -> None:
    text = '{"user": "ann", "password": "swordfish", "city": "Pune"}'
    assert found(text) == text.replace("swordfish", "[secret]")


@every("piece", RUNS_AWAY.values())
def test_no_text_holds_the_search_up(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    started = time.process_time()
    without_secrets(text)
    assert time.process_time() - started < 5  # 0.2 s where nothing else runs


def test_nesting_costs_nothing_of_the_stack() -> None:
    assert VALUE not in found('{"a":' * 5000 + f'{{"password":"{VALUE}"}}' + "}" * 5000)


@every(
    ("name", "kind"),
    [
        ("db_password", SensitiveKind.SECRET),
        ("clientSecret", SensitiveKind.SECRET),
        ("passport_number", SensitiveKind.PASSPORT),
        ("ip_address", SensitiveKind.IP_ADDRESS),
        ("shipping_address", SensitiveKind.STREET_ADDRESS),
        ("phone_model", None),
        ("form_of_address", None),
        ("change_of_address", SensitiveKind.STREET_ADDRESS),
        ("boarding_pass", None),
        (None, None),
    ],
)
def test_a_name_says_what_its_value_is(name: str | None, kind: SensitiveKind | None) -> None:
    assert kind_of_name(name) == kind


@every(
    "value",
    [
        "4739 2156 0000 3333",
        "4111111111111111",
        "DE49 3704 0044 4420 1300 01",
        "GB29NWBK60161331926819",
        "sk-proj-Quw0001xKpRzAbCdEfGh0123456789",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----",
        "https://ann:Quw7xKp-Rz41@files.example/a",
        "The gate opens with 4711.",
    ],
)
def test_an_error_repeats_nothing_whose_shape_gives_it_away(value: str) -> None:
    said = str(InvalidNoteError(f"the contact has no fact {value!r}"))
    kept = [
        word for word in ("4739", "1111", "3704", "NWBK", "Quw", "MIIE", "4711") if word in said
    ]
    assert (kept, "the contact has no fact" in said) == ([], True)


@every(
    "text",
    [
        "no decision 5a1f0c4b-7d0b-4a39-9f5e-0a6d1f0c4b7a",
        "order 4111111111111112",
        "key ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12",
        "at most 2,000 characters, not 16,384",
        "the contact is at version 1234567890123456789012",
    ],
)
def test_an_error_repeats_the_ids_that_it_is_about(text: str) -> None:
    assert str(InvalidNoteError(text)) == text


def test_an_error_repeats_no_secret() -> None:
    assert VALUE not in str(InvalidNoteError(f"topic 'password={VALUE}' is too long"))


def test_no_digest_passes_for_the_number_of_an_account() -> None:
    digests = [hashlib.sha256(b"%d" % number).hexdigest()[:32] for number in range(20_000)]
    assert not [each for each in digests if list(find_account_numbers(f"line:{each}:1"))]


@every(
    ("value", "expected"),
    grouped(
        {
            True: [
                # A value that mixes what no word mixes is made up.
                "Kettle42",  # blue", "kettle#", "KettleBlue", "aBcDeF", "ab!!cd"])
                "4711-b",  # blue", "kettle#", "KettleBlue", "aBcDeF", "ab!!cd"])
                "kettle#blue",  # ", "KettleBlue", "aBcDeF", "ab!!cd"])
                "kettle#",
                "KettleBlue",
                "aBcDeF",
                "ab!!cd",
            ],
            False: [
                # A word a brand and a number are not made up.
                "kettle",
                "Kettle",
                "KETTLE",
                "iPhone",
                "4711",
                "1_000_000",
                "great!",
                "and/or",
            ],
        }
    ),
)
def test_a_value_that_mixes_what_no_word_mixes_is_made_up(value: str, expected: bool) -> None:
    assert is_made_up(value) is expected


@every("told", ["My PIN code is 411001.", "pin_code: 411001"])
def test_an_indian_postcode_is_no_pin_however_it_is_told(told: str) -> None:
    assert found(told) == told
