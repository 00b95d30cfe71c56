"""Ids and names are kept as they are given, so what may not be kept is refused in them."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.bootstrap.chosen_models import build_secret_finder
from reconciler.errors import InvalidRequestError
from reconciler.service.writing.submissions import IdCheck
from tests.tables import every


@every(
    ("value", "what"),
    [
        ("DE49 3704 0044 4420 1300 01", "the number of a bank account"),
        ("GB29NWBK60161331926819", "the number of a bank account"),
        ("4111-1111-1111-1111", "the number of a card"),
        ("sk-proj-Quw0001xKpRzAbCdEfGh0123456789", "a secret"),
        ("the gate opens with 4711", "a secret"),
    ],
)
def test_an_id_that_gives_something_away_is_refused_and_says_what(value: str, what: str) -> None:
    with pytest.raises(InvalidRequestError, match=f"contact_id holds {what}"):
        IdCheck(build_secret_finder()).check([("contact_id", value)])


@every(
    "value",
    [
        "4111111111111111",  # as likely an id as a card
        "4917612345678",
        "5a1f0c4b-7d0b-4a39-9f5e-0a6d1f0c4b7a",
        "ann@mail.example",
        "door-12",
    ],
)
def test_an_id_that_only_might_be_something_else_passes(value: str) -> None:
    IdCheck(build_secret_finder()).check([("contact_id", value)])


@every("value", ["priya", "crm-1042", "4711471147", "PIN_4711", "pw-hunter2x"])
def test_a_short_id_has_room_for_no_secret_and_loads_no_rule(value: str) -> None:
    assert not list(build_secret_finder(of_ids=True).find(value))
    unasked: Any = None
    IdCheck(unasked).check([("contact_id", value)])
