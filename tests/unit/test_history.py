from __future__ import annotations

import itertools
from datetime import UTC, datetime

from hypothesis import given, strategies as st

from reconciler.domain.recalling.history import chains
from reconciler.domain.records.facts import Fact, FactHistory, Supersession
from reconciler.domain.records.kinds import SourceKind
from tests.tables import every


def fact(fact_id: str, day: int = 1, recorded_day: int | None = None) -> Fact:
    said_at = datetime(2026, 1, day, tzinfo=UTC)
    return Fact(
        fact_id=fact_id,
        text=fact_id,
        importance=0.5,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=datetime(2026, 1, recorded_day or day, tzinfo=UTC),
        valid_from=said_at,
        valid_to=None,
        last_confirmed_at=said_at,
    )


def link(new_id: str, old_id: str) -> Supersession:
    return Supersession(
        new_id=new_id,
        old_id=old_id,
        cosine=0.96,
        decided_by="threshold",
        reason=f"{new_id} over {old_id}",
        at=datetime(2026, 2, 1, tzinfo=UTC),
    )


def ids(found: list[FactHistory]) -> list[list[str]]:
    return [[each.fact_id for each in chain.facts] for chain in found]


@every(
    ("facts", "links", "expected"),
    [
        ("", [], []),
        ("a", [], [["a"]]),
        ("ab", ["ba"], [["b", "a"]]),
        ("cab", ["ba", "cb"], [["c", "b", "a"]]),
        ("abc", ["ca"], [["c", "a"], ["b"]]),
        ("abcd", ["ba", "dc"], [["d", "c"], ["b", "a"]]),
    ],
)
def test_facts_and_links_make_one_chain_a_head_newest_first(
    facts: str, links: list[str], expected: list[list[str]]
) -> None:
    found = chains(
        [fact(each, day=ord(each) - 96) for each in facts], [link(*pair) for pair in links]
    )
    assert ids(found) == expected


def test_each_link_stands_between_the_two_facts_it_joins() -> None:
    [chain] = chains(map(fact, "abc"), [link("b", "a"), link("c", "b")])
    pairs = itertools.pairwise(chain.facts)
    assert [(new.fact_id, old.fact_id) for new, old in pairs] == [
        (each.new_id, each.old_id) for each in chain.supersessions
    ]


def test_the_chain_said_last_comes_first_also_when_it_was_recorded_first() -> None:
    found = chains([fact("late", 9, recorded_day=1), fact("early", 2, recorded_day=9)], [])
    assert ids(found) == [["late"], ["early"]]


def test_of_chains_said_at_once_the_one_recorded_last_comes_first() -> None:
    found = chains([fact("a", 1, recorded_day=1), fact("b", 1, recorded_day=2)], [])
    assert ids(found) == [["b"], ["a"]]


@given(st.lists(st.integers(1, 5), max_size=8))
def test_every_fact_stands_in_exactly_one_chain(lengths: list[int]) -> None:
    names = [[f"{row}.{place}" for place in range(length)] for row, length in enumerate(lengths)]
    links = [link(new, old) for row in names for new, old in itertools.pairwise(row)]
    found = chains([fact(name) for row in names for name in row], links)
    assert sorted(ids(found)) == sorted(names)
