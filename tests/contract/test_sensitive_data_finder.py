"""The obligations of the port, for every finder there is and for all of them combined, and the
promises that only real ones can break: no network, no noise, nothing heavy imported, nothing global
changed.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from reconciler.adapters.personal_data_finder import find_personal_data, number_rules
from reconciler.adapters.phone_finder import find_phones
from reconciler.adapters.sensitive_data_finders import CombinedFinder, Find
from reconciler.adapters.street_address_finder import find_street_addresses
from reconciler.adapters.told_secrets_finder import find_told_secrets
from reconciler.ports.sensitive_data_finder import SensitiveDataFinder
from reconciler.reading.named_secrets import find_named_secrets, shapes
from reconciler.reading.sensitive_data import SensitiveKind
from tests.tables import every

SINGLE: dict[str, tuple[Find, ...]] = {
    "announced": (find_named_secrets, shapes.find_tokens),
    "told": (find_told_secrets,),
    "personal-data": (find_personal_data,),
    "phone": (find_phones,),
    "street-address": (find_street_addresses,),
}


def combined(*names: str) -> Callable[[], SensitiveDataFinder]:
    finds = [find for name in names for find in SINGLE[name]]
    return lambda: CombinedFinder(lambda: finds)


FINDERS = {name: combined(name) for name in SINGLE} | {"combined": combined(*SINGLE)}
PIECES = st.sampled_from(
    [
        "ada@example.com",
        "password: Blue42!",
        "the PIN is 4821",
        "call +44 20 7946 0018",
        "SSN 987-65-4321",
        "4111 1111 1111 1111",
        "GB82 WEST 1234 5698 7654 32",
        "12 High Street, Leeds LS1 4AP",
        "account number 55779911",
        "10.0.0.17",
        "\u200b",
        "４１１１",
        " ",
        "\n",
        "e\u0301",
        "Ⅷ",
        "½",
        "𝟙",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=8).map("".join)
TEXT = (
    "Ada (ada@example.com, +44 20 7946 0018) pays with 4111 1111 1111 1111; her password is "
    "Blue42!, her SSN 987-65-4321. Lives at 12 High Street, Leeds LS1 4AP."
)
TELLING = ("ada@", "7946", "4111", "Blue42", "4321", "High Street")
OBSERVER = """
import socket, sys, warnings
warnings.simplefilter("error")
def refuse(*arguments, **options):
    raise SystemExit("the test allows no network")
socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse
from reconciler.bootstrap.chosen_models import build_sensitive_data_finder
finder = build_sensitive_data_finder()
assert "phonenumbers" not in sys.modules
assert len(finder.find(sys.argv[1])) == 6
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


@cache
def finder(name: str) -> SensitiveDataFinder:
    return FINDERS[name]()


@every(
    ("name", "kinds"),
    [
        ("announced", {SensitiveKind.SECRET}),
        (
            "personal-data",
            {SensitiveKind.EMAIL, SensitiveKind.CREDIT_CARD, SensitiveKind.NATIONAL_ID},
        ),
        ("phone", {SensitiveKind.PHONE}),
        ("street-address", {SensitiveKind.STREET_ADDRESS}),
    ],
)
def test_each_finder_finds_only_its_own_kinds(name: str, kinds: set[SensitiveKind]) -> None:
    assert {span.kind for span in finder(name).find(TEXT)} == kinds


@pytest.mark.parametrize("name", FINDERS)
@given(text=TEXTS)
def test_spans_lie_within_the_text_and_are_not_empty(name: str, text: str) -> None:
    assert all(0 <= span.start < span.end <= len(text) for span in finder(name).find(text))


@pytest.mark.parametrize("name", FINDERS)
@given(text=TEXTS)
def test_spans_come_in_order_and_do_not_overlap(name: str, text: str) -> None:
    spans = finder(name).find(text)
    assert all(one.end <= other.start for one, other in pairwise(spans))


@pytest.mark.parametrize("name", FINDERS)
@given(text=TEXTS)
def test_the_same_text_gives_the_same_spans(name: str, text: str) -> None:
    assert finder(name).find(text) == finder(name).find(text)


@every("name", FINDERS)
def test_a_fresh_finder_gives_the_same_on_any_thread(name: str) -> None:
    fresh = FINDERS[name]()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fresh.find, [TEXT] * 32))
    assert found == [finder(name).find(TEXT)] * 32


@pytest.mark.parametrize("name", FINDERS)
def test_nothing_of_a_text_is_logged(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    finder(name).find(TEXT)
    assert not any(word in caplog.text for word in TELLING)


@every("token", ["npm_" + "aB3" * 12, "0f1e2d3c-" * 3 + "0123456789"])
@every("before", ["//registry.npmjs.org/", "@acme:registry=https://x.org//a/", ""])
def test_a_token_of_npm_is_found_wherever_its_registry_is(before: str, token: str) -> None:
    text = f"always-auth=true\n{before}:_authToken={token}\nstrict-ssl=true"
    (span,) = finder("announced").find(text)
    assert text[: span.start].endswith(before)
    assert text[span.start : span.end].endswith(token)


@pytest.mark.parametrize("shape", shapes._compiled(), ids=lambda shape: shape.pattern)
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_text_that_holds_a_secrets_shape_is_passed_over(
    shape: re.Pattern[str], data: st.DataObject
) -> None:
    flags = shape.flags & (re.IGNORECASE | re.DOTALL | re.ASCII)
    text = data.draw(st.from_regex(re.compile(shape.pattern, flags), fullmatch=True))
    assert any(literal in text.casefold() for literal in shapes.NEEDED.split())


@every(
    ("before", "piece"),
    [("password", ":"), ("password a", "="), ("password:", "."), ("apikey", ":"), ("PIN", " =")],
)
def test_no_text_holds_the_search_for_what_is_said_of_secrets_up(before: str, piece: str) -> None:
    text = (before + piece * 20_000)[:20_000]
    finder("combined").find(before)  # so that all is compiled
    started = time.process_time()
    finder("combined").find(text)
    assert time.process_time() - started < 1  # 0.1 s where nothing else runs


@every("signs", ["=", ":"])
@every("count", [1, 4, 19, 20, 21, 22, 100, 5_000])
@every("name", ["password", "the password for the portal", "api key", "PIN"])
def test_a_secret_is_found_behind_any_number_of_signs(name: str, count: int, signs: str) -> None:
    value = "482193" if name == "PIN" else "Blue42abc"
    text = f"{name}{signs * count}{value}, since May"
    found = [text[span.start : span.end] for span in finder("combined").find(text)]
    assert [each.lstrip(signs) for each in found if each.strip(signs)] == [value]


def test_loading_a_finder_leaves_logging_as_it_was() -> None:
    shows, level = warnings.showwarning, logging.getLogger().level
    FINDERS["combined"]().find(TEXT)
    assert (warnings.showwarning, logging.getLogger().level) == (shows, level)


def test_finders_need_no_network_no_language_model_and_make_no_noise() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", OBSERVER, TEXT], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert not {"huggingface_hub", "spacy", "torch", "transformers"} & set(ran.stdout.split())
    assert ran.stderr == ""


def _rules_without_context() -> list[str]:
    """The patterns of numbers' shapes; an IPv6 address may have letters alone."""
    written = [rule.pattern for rule in number_rules()]
    return [each for each in written if "\\K" not in each and "A-F]{0,4}" not in each]


@settings(max_examples=60)
@given(st.data())
def test_whatever_a_recogniser_matches_has_a_digit_for_which_it_is_asked(
    data: st.DataObject,
) -> None:
    pattern = data.draw(st.sampled_from(_rules_without_context()))
    found = re.search(pattern, data.draw(st.from_regex(pattern)), re.IGNORECASE)
    assume(found is not None)  # what is looked at behind the match is not always drawn with it
    assert any(map(str.isdigit, found[0]))


def test_many_addresses_cost_no_more_than_there_are_of_them() -> None:
    started = time.process_time()
    found = list(find_personal_data("10.0.0.17 " * 10_000))
    assert len(found) == 10_000
    assert time.process_time() - started < 5.0


def test_a_long_word_that_is_called_an_account_does_not_hold_the_search_up() -> None:
    list(find_personal_data("IBAN 1"))  # so that all is compiled
    started = time.process_time()
    list(find_personal_data("IBAN AA11" + "A" * 60 + "a"))
    assert time.process_time() - started < 1


@every(
    "number",
    [
        "DE89370400440532013001",
        "DE89 3704 0044 0532 0130 01",
        "GB82-WEST-1234-5698-7654-33",
        "MT84MALT011000012345MTLCAST001T",
        "de89370400440532013001",
    ],
)
@every("after", ["", ".", " and more", " AB1c", ", IBAN"])
def test_an_announced_account_is_found_as_a_whole(number: str, after: str) -> None:
    text = f"Her IBAN is {number}{after}"
    (span,) = finder("personal-data").find(text)
    assert text[span.start : span.end] == number


@every("before", ["version ", "v", "Build  "])
def test_a_version_number_is_no_address(before: str) -> None:
    assert list(find_personal_data(f"runs {before} 10.0.0.17")) == []
