"""A permission ends when the contact takes it back, in whatever words, and no other one does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler import Memory
from reconciler.domain.records.kinds import Action
from tests.replaying import replay
from tests.tables import every


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("taken_back") / "memory.lbug"
    with Memory.open(graph="embedded", embedded_path=path) as opened:
        yield opened


PASSED = "You may pass my e-mail address on to your partners."
FILMS = "Agrees to be filmed at our events."


@every(
    ("given", "later", "ends"),
    [
        (PASSED, "Please stop passing my e-mail address on to partners.", True),
        (PASSED, "My address is not for your partners any more, I changed my mind.", True),
        (PASSED, "Your partners wrote to my e-mail address yesterday.", False),
        (PASSED, "Please stop calling me for surveys.", False),
        (FILMS, "Takes back the okay for filming her at events.", True),
        (FILMS, "Refuses to be filmed at events from today on.", True),
        (FILMS, "Asked when the film of the last event comes out.", False),
        (FILMS, "Does not want her postal address passed to partners.", False),
    ],
)
def test_a_permission_ends_by_a_withdrawal_of_its_own_and_by_nothing_else(
    memory: Memory, given: str, later: str, ends: bool
) -> None:
    contact = memory.contact("crm", str(abs(hash(later))))
    fact_id = contact.note(given).fact_id
    made = contact.note(later)
    live = {fact.fact_id for each in contact.history() for fact in each.facts if fact.is_live}
    assert (fact_id not in live) is ends
    if ends:
        assert (made.action, made.verdict.targets) == (Action.UPDATE, (fact_id,))
        policy = memory.contact("crm", "x")._services.policy
        assert replay(made, policy).is_same


def test_a_tool_takes_back_no_permission(memory: Memory) -> None:
    contact = memory.contact("crm", "tool")
    fact_id = contact.note(PASSED).fact_id
    contact.note("Please stop passing my address on to partners.", source_kind="tool_output")
    assert [fact.fact_id for each in contact.history() for fact in each.facts if fact.is_live] == [
        fact_id
    ]
