"""Tokens in the store: what one host makes and revokes, the others see within a minute."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reconciler.errors import ConfigurationError
from reconciler.ports.graph import Graph
from reconciler.serve.access import tokens
from reconciler.serve.access.tokens import StoreTokens
from reconciler.service.stores.binding_store import BindingStore
from tests.mcp_server import granted


@pytest.fixture
def store(graph: Graph) -> BindingStore:
    """The bindings of a store that has been opened."""
    store = BindingStore(graph)
    store.open("hashing-64@test", 8, datetime.now(UTC))
    return store


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that have passed, as a list of one."""
    passed = [0.0]
    monkeypatch.setattr(tokens, "monotonic", lambda: passed[0])
    return passed


def test_a_token_of_one_host_lets_in_on_another(store: BindingStore) -> None:
    made, secret = StoreTokens(store).create(granted("operator", name="anna"))
    found = StoreTokens(store).find(secret)
    assert found == made
    assert secret not in store.tokens()


def test_a_token_that_is_revoked_on_one_host_is_refused_on_another_within_a_minute(
    store: BindingStore, seconds: list[float]
) -> None:
    here, there = StoreTokens(store), StoreTokens(store)
    made, secret = here.create(granted())
    assert there.find(secret) is not None
    here.revoke(made.token_id)
    assert here.find(secret) is None
    seconds[0] = 60.0
    assert there.find(secret) is None


def test_what_another_host_makes_meanwhile_is_not_lost(store: BindingStore) -> None:
    here, there = StoreTokens(store), StoreTokens(store)
    _, first = here.create(granted())
    with here._changing() as contents:
        _, second = there.create(granted())
        with pytest.raises(ConfigurationError, match="try again"):
            here._write(contents, contents.tokens)
    assert all(StoreTokens(store).find(each) for each in (first, second))


def test_a_person_is_found_by_name_but_no_agent_is(store: BindingStore) -> None:
    held = StoreTokens(store)
    held.create(granted(name="anna"))
    assert held.find_named("anna") is None
    made, _ = held.create(granted("auditor", name="anna"))
    assert held.find_named("anna") == made
    held.revoke(made.token_id)
    assert held.find_named("anna") is None
