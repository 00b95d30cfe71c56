"""What waits about an agent of many contacts is found in the whole store, and in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from reconciler import Memory, ops
from reconciler.testing import HashingEmbedder
from tests.engines import EngineUnderTest
from tests.integration.test_pages import asked_of

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
CONTACTS = ("ann", "ben", "cem", "Dora", "émile")
LOOKS: dict[str, Callable[[Memory], list[object]]] = {
    "pending": lambda memory: [*memory.agent("crm").pending()],
    "pending, silent": lambda memory: [*memory.agent("crm").pending(with_silent=True)],
    "disputes": lambda memory: [*memory.agent("crm").disputes()],
    "expiring": lambda memory: [*memory.agent("crm").expiring(days=400)],
    "expiring, one": lambda memory: [*memory.agent("crm").expiring(days=400, limit=1)],
    "expiring, three": lambda memory: [*memory.agent("crm").expiring(days=400, limit=3)],
    "expiring, soon": lambda memory: [*memory.agent("crm").expiring(days=6, limit=9)],
    "refusals": lambda memory: [*memory.agent("crm").refusals()],
    "contacts": lambda memory: [*memory.agent("crm").contacts()],
    "contacts, after one": lambda memory: [*memory.agent("crm").contacts(after="Dora")],
    "health": lambda memory: [*ops.health(memory.agent("crm")).contacts],
}
LIMITS = (
    *("service.records.FEW", "service.stores.binding_store.FEW", "service.stores.fact_store.FEW"),
    "ops.review.health.FEW",
)
pytestmark = pytest.mark.on_neo4j_too


@pytest.fixture
def memory(kept_engine: EngineUnderTest) -> Iterator[Memory]:
    """Two agents; contacts with a question, a dispute and facts with a lifetime, open or not."""
    now = [NOON]
    with Memory.open(
        embedder=HashingEmbedder(), clock=lambda: now[0], **kept_engine.settings_arguments
    ) as memory:
        for agent, contacts in (("crm", (*CONTACTS, "Ann")), ("sales", CONTACTS[:2])):
            for place, contact_id in enumerate(contacts):
                contact = memory.contact(agent, contact_id)
                contact.note("Has diabetes.")
                contact.note("Lives in Pune.")
                contact.note("Lives in Goa.", source_kind="operator")
                days = 1 if agent == "sales" else 5
                contact.note(f"Owns {place + 2} bicycles.", lifetime_days=days, said_at=NOON)
                contact.note("Prefers tea.", lifetime_days=90)
                for text in ("Thanks a lot!", "ok", "Thanks!")[: place % 4]:
                    contact.note(text)
                now[0] += timedelta(minutes=1)
        crm = memory.contact("crm", "ben")
        crm.confirm(crm.pending()[0].decision_id, by="contact")  # type: ignore[union-attr]
        [dispute] = memory.contact("crm", "cem").disputes()
        memory.contact("crm", "cem").resolve(
            keep=dispute.facts[0].fact_id, by="contact", reason="She said so."
        )
        memory.contact("crm", "Dora").forget(by="contact", reason="She asked.")
        memory.agent("crm").merge_contacts("ann", "Ann", by="operator")
        now[0] += timedelta(days=2)
        yield memory


@pytest.mark.parametrize("look", LOOKS)
def test_an_agent_of_many_contacts_has_the_same_open_things(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    of_few = LOOKS[look](memory)
    assert of_few
    for limit in LIMITS:
        monkeypatch.setattr(f"reconciler.{limit}", 1)
    asked = asked_of(memory, monkeypatch)
    assert LOOKS[look](memory) == of_few
    whole = {name for name in asked if name.endswith("_of_agent")}
    assert whole
    monkeypatch.setattr("reconciler.service.stores.decision_store._HELD_AT_ONCE", 1)
    assert LOOKS[look](memory) == of_few


def test_an_agent_with_a_small_part_of_the_store_is_read_by_its_links(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.service.stores.binding_store.FEW", 0)
    asked = asked_of(memory, monkeypatch)
    assert len(memory.agent("sales").contacts()) == 2
    assert memory.agent("sales").refusals()
    assert not [name for name in asked if name.endswith("_of_agent")]


def test_few_contacts_in_dispute_are_read_by_their_links(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.service.records.FEW", 0)
    of_whole_store = memory.agent("crm").disputes()
    asked = asked_of(memory, monkeypatch)
    assert memory.agent("crm").disputes() == of_whole_store
    assert {"list_disputing", "list_disputed"} <= {*asked}


@pytest.mark.parametrize("few", [0, 400])
def test_pages_of_open_things_of_many_contacts_are_the_whole_list(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("reconciler.service.records.FEW", few)
    agent = memory.agent("crm")
    disputes, after = [], None
    while page := agent.disputes(limit=1, after=after):
        disputes += page
        after = (*page[-1].place, page[-1].scope.contact_id)
    assert disputes == agent.disputes()
    pending, place = [], None
    while held := agent.pending(limit=1, after=place):
        pending += held
        if not hasattr(held[0], "decision_id"):
            break
        place = (held[0].at, held[0].decision_id)
    assert pending == agent.pending()[: len(pending)]
    assert len(pending) == 5


def test_pages_of_what_waits_go_on_where_many_wait_since_one_time(
    kept_engine: EngineUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in LIMITS:
        monkeypatch.setattr(f"reconciler.{limit}", 1)
    monkeypatch.setattr("reconciler.service.stores.decision_store._HELD_AT_ONCE", 3)
    with Memory.open(
        embedder=HashingEmbedder(), clock=lambda: NOON, **kept_engine.settings_arguments
    ) as memory:
        for number in range(11):
            memory.contact("crm", f"c{number}").note("Has diabetes.")
        listed, after = list[str](), None
        while page := memory.agent("crm").pending(limit=2, after=after):
            listed += [held.decision_id for held in page]
            after = (page[-1].at, page[-1].decision_id)
            assert len(listed) <= 11
        assert listed == [held.decision_id for held in memory.agent("crm").pending()]
        assert len({*listed}) == 11
