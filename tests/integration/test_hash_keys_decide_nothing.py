"""What stands for personal data hangs on a key; what becomes of a note does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.adapters.street_address_finder import street_of
from reconciler.reading.guard import find_differences
from reconciler.reading.sensitive_data import SensitiveKind, keyed_token
from tests import faults
from tests.tables import every

NOTES = [
    "Saw 12 Elm Street on Saturday.",
    "Saw 14 Elm Street on Saturday.",
    "Saw 12 Elm Street, Springfield, IL 62701 on Saturday.",
    "Her mobile is +1 212 555 0187.",
    "Her mobile is +1 212 555 0188.",
    "Call him on 212 555 0187 after 6 pm.",
    "Write to ann@example.org about the invoice.",
    "Write to bob@example.org about the invoice.",
    "Pays with card 4111 1111 1111 1111.",
    "Pays with card 5500 0000 0000 0004.",
    "The server 10.0.0.17 is down on Mondays.",
    "The server 10.0.0.18 is down on Mondays.",
    "Passport number X1234567 expires in May 2031.",
    "Passport number Y7654321 expires in May 2031.",
    "Lives at 12 Elm Street.",
    "Lives at 12 Elm Street, Springfield, IL 62701.",
]


def _decided(folder: Path, number: int) -> list[tuple[str, str, float]]:
    key = f"the hash key of number {number}"
    with Memory.open(
        graph="embedded", embedded_path=folder / str(number), gate={"hash_key": key}
    ) as memory:
        decided = [memory.add_contact_note("crm", "ann", note) for note in NOTES]
    return [
        (str(each.action), str(each.decided_by), round(each.cosine or 0, 4)) for each in decided
    ]


@pytest.mark.timeout(300)
def test_the_same_notes_under_many_keys_give_the_same_decisions(tmp_path: Path) -> None:
    first, *others = [_decided(tmp_path, number) for number in range(faults.times(3, 6))]
    for other in others:
        assert other == first


def test_the_guard_reads_nothing_out_of_a_hash() -> None:
    found = set()
    for number in range(300):
        key = b"key %d" % number
        one, other = (
            keyed_token(key, SensitiveKind.IP_ADDRESS, address)
            for address in ("10.0.0.17", "10.0.0.18")
        )
        read = find_differences(f"Server {one} is down", f"Server {other} is down")
        found.add(tuple(str(each.kind) for each in read))
    assert len(found) == 1


@every(
    ("address", "street"),
    [
        ("12 Elm Street, Springfield, IL 62701", "12 Elm Street"),
        ("12 Elm Street", "12 Elm Street"),
        ("350 5th Avenue, New York", "350 5th Avenue"),
        ("Flat 3, 22 Elm Road, Leeds LS1 4AP", "Flat 3, 22 Elm Road"),
        ("22 Elm Road, Apt 4, Leeds LS1 4AP", "22 Elm Road, Apt 4"),
        ("Hauptstraße 5, 10115 Berlin", "Hauptstraße 5"),
        ("10 rue de la Paix, 75002 Paris", "10 rue de la Paix"),
        ("P.O. Box 1234, Springfield, IL 62701", "P.O. Box 1234"),
    ],
)
def test_an_address_is_one_with_its_place_and_without(address: str, street: str) -> None:
    assert street_of(address) == street


def test_a_memory_of_properties_keeps_their_addresses(tmp_path: Path) -> None:
    with Memory.open(
        graph="embedded", embedded_path=tmp_path / "m", gate={"domain": "real_estate"}
    ) as memory:
        decision = memory.add_contact_note("crm", "ann", "Saw 12 Elm Street on Saturday.")
    assert decision.text == "Saw 12 Elm Street on Saturday."
