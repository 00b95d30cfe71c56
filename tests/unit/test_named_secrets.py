"""What a name says of its value, in every usual notation; and what is only said about a secret."""

from __future__ import annotations

import time

import pytest

from reconciler.bootstrap import build_secret_finder
from reconciler.domain.named_secrets import kind_of_name, without_named_secrets
from reconciler.domain.sensitive_data import SensitiveKind, redact
from reconciler.errors import InvalidNoteError

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
    "%s is the portal password.",
    '"secrets": ["%s", "b"]',
    '{"password": "[x]%s"}',
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
]
HARMLESS = [
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
}


def found(text: str) -> str:
    """The text without the secrets that the real finder sees."""
    return redact(text, build_secret_finder().find(text), lambda kind, _: f"[{kind}]")


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_named_value_is_found_in_every_notation(notation: str) -> None:
    text = f"He wrote {notation % VALUE} to her"
    assert not [part for part in ("Quw7", "Rz41") if part in found(text)]


@pytest.mark.parametrize("text", DIGITS)
def test_digits_are_a_secret_where_their_name_says_so(text: str) -> None:
    assert "4711" not in found(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_said_about_a_secret_is_none(text: str) -> None:
    assert found(text) == text


def test_a_plain_word_is_a_secret_where_a_program_wrote_it_as_one() -> None:
    assert found('{"password": "swordfish"}') == '{"password": "[secret]"}'


def test_what_stands_around_a_value_stays() -> None:
    text = '{"user": "ann", "password": "swordfish", "city": "Pune"}'
    assert found(text) == text.replace("swordfish", "[secret]")


@pytest.mark.parametrize("piece", RUNS_AWAY.values(), ids=RUNS_AWAY)
def test_no_text_holds_the_search_up(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    started = time.process_time()
    without_named_secrets(text)
    assert time.process_time() - started < 5  # 0.2 s where nothing else runs


def test_nesting_costs_nothing_of_the_stack() -> None:
    assert VALUE not in found('{"a":' * 5000 + f'{{"password":"{VALUE}"}}' + "}" * 5000)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("db_password", SensitiveKind.SECRET),
        ("clientSecret", SensitiveKind.SECRET),
        ("passport_number", SensitiveKind.PASSPORT),
        ("ip_address", SensitiveKind.IP_ADDRESS),
        ("shipping_address", SensitiveKind.STREET_ADDRESS),
        ("phone_model", None),
        ("boarding_pass", None),
        (None, None),
    ],
)
def test_a_name_says_what_its_value_is(name: str | None, kind: SensitiveKind | None) -> None:
    assert kind_of_name(name) == kind


def test_an_error_repeats_no_secret() -> None:
    assert VALUE not in str(InvalidNoteError(f"topic 'password={VALUE}' is too long"))
