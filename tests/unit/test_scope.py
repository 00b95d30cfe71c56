from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from reconciler.domain.records.notes import SCOPE_PART_LENGTH_MAX, Scope
from reconciler.errors import InvalidScopeError
from tests.tables import every

PARTS = ("tenant", "agent_id", "contact_id")
GOOD = {"tenant": "acme", "agent_id": "crm", "contact_id": "alice"}

printable = st.text(
    st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=SCOPE_PART_LENGTH_MAX
)
identifiers = printable.filter(lambda text: text == text.strip())
tricky_identifiers = st.text("a/%2F \\", min_size=1, max_size=6).filter(lambda t: t == t.strip())
scopes = st.builds(Scope, *[identifiers | tricky_identifiers] * 3)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="missing"),
        pytest.param("", id="empty"),
        pytest.param(" \t\u3000", id="blank"),
        pytest.param(7, id="a number"),
        pytest.param(b"alice", id="bytes"),
        pytest.param(" alice", id="white space before"),
        pytest.param("alice\n", id="line end after"),
        pytest.param("a" * (SCOPE_PART_LENGTH_MAX + 1), id="one character too long"),
        pytest.param("ali\0ce", id="null byte"),
        pytest.param("ali\x7fce", id="control character"),
        pytest.param("ali\ud800ce", id="half a surrogate pair"),
    ],
)
def test_a_scope_with_an_unusable_part_is_refused_and_the_part_named(
    part: str, value: object
) -> None:
    with pytest.raises(InvalidScopeError, match=f"^{part} "):
        Scope(**GOOD | {part: value})


@every("part", PARTS)
@every("value", ["a", "a" * SCOPE_PART_LENGTH_MAX, "Zoë Müller", "+49 170/1", "李"])
def test_a_scope_takes_any_other_text_as_it_is(part: str, value: str) -> None:
    assert getattr(Scope(**GOOD | {part: value}), part) == value


def test_a_scope_cannot_be_changed_afterwards() -> None:
    with pytest.raises(AttributeError):
        Scope(**GOOD).tenant = "other"  # type: ignore[misc]


@given(scopes, scopes)
@example(Scope("a/b", "c", "d"), Scope("a", "b/c", "d"))
@example(Scope("a", "b", "c/d"), Scope("a", "b/c", "d"))
@example(Scope("a%2Fb", "c", "d"), Scope("a/b", "c", "d"))
def test_two_scopes_share_a_contact_key_only_when_they_are_equal(one: Scope, other: Scope) -> None:
    assert (one.contact_key == other.contact_key) == (one == other)


@given(scopes, scopes)
@example(Scope("a/b", "c", "d"), Scope("a", "b/c", "d"))
def test_two_scopes_share_an_agent_key_only_for_one_agent_of_one_tenant(
    one: Scope, other: Scope
) -> None:
    same_agent = (one.tenant, one.agent_id) == (other.tenant, other.agent_id)
    assert (one.agent_key == other.agent_key) == same_agent


@given(scopes, identifiers, scopes, identifiers)
@example(Scope("a", "b", "c"), "d/e", Scope("a", "b", "c/d"), "e")
def test_a_session_key_belongs_to_one_contact(
    one: Scope, session: str, other: Scope, other_session: str
) -> None:
    same = (one, session) == (other, other_session)
    assert (one.session_key(session) == other.session_key(other_session)) == same
