"""What the lines of one contact promise each other: what replaced what, and what wrote it."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.domain.records.kinds import FactState
from reconciler.service.checking.lines import Coherence, Link, Node
from tests.tables import every

ENDED = {"state": "superseded", "valid_to": "2026-03-09"}
LIVE = {"state": "live"}
ERASED = {"state": "erased"}
DECIDED = {"decided_by": "slot", "at": "2026-03-09"}
HELD: dict[str, dict[str, object]] = {
    "SUPERSEDES": {**DECIDED},
    "CONFLICTS_WITH": {**DECIDED},
    "COMPARED_WITH": {"cosine": 0.9, "rank": 1},
}


def fact(fact_id: str, held: dict[str, str]) -> list[Node | Link]:
    """A fact, the decision that wrote it, and the link between them."""
    made = {"decision_id": f"d-{fact_id}", "action": "ADD", "record": "{}"}
    return [
        Node(label="Fact", properties={"fact_id": fact_id, **held}),
        Node(label="Decision", properties=made),
        link("WROTE", f"d-{fact_id}", fact_id),
    ]


def link(kind: str, start: str, end: str) -> Link:
    return Link(kind=kind, from_id=start, to_id=end, properties=HELD.get(kind, {}))


def wrong(facts: dict[str, dict[str, str]], above: Iterable[str] = ()) -> str | None:
    """What is wrong with these facts; ``"ba"`` says that b took the place of a."""
    lines = [line for fact_id, held in facts.items() for line in fact(fact_id, held)]
    return wrong_with([*lines, *(link("SUPERSEDES", *pair) for pair in above)])


def wrong_with(lines: Iterable[Node | Link]) -> str | None:
    coherence = Coherence()
    for line in lines:
        is_node = isinstance(line, Node)
        take = coherence.wrong_with_node if is_node else coherence.wrong_with_link
        if (found := take(line)) is not None:  # type: ignore[arg-type]
            return found
    return coherence.wrong_at_the_end()


def test_a_history_with_branches_is_coherent() -> None:
    assert wrong({"a": ENDED, "b": ENDED, "c": ENDED, "d": LIVE}, ["ba", "db", "dc"]) is None


def test_history_from_the_start_needs_nothing_above_it() -> None:
    assert wrong({"a": ENDED}) is None


@every("state", ["superseded", "revoked"])
def test_what_ended_says_when_or_what_took_its_place(state: str) -> None:
    assert "a has ended, and nothing says when" in str(wrong({"a": {"state": state}}))
    assert wrong({"a": {"state": state}, "b": LIVE}, ["ba"]) is None


@every("state", ["live", "expired", "archived"])
def test_what_holds_was_not_superseded(state: str) -> None:
    assert "a still holds, although b" in str(wrong({"a": {"state": state}, "b": LIVE}, ["ba"]))


@every("state", ["live", "expired", "archived"])
def test_what_holds_has_not_ended(state: str) -> None:
    assert wrong({"a": ENDED | {"state": state}}) == f"fact a is {state}, and has ended"


def test_what_lay_beneath_erased_words_may_hold_and_give_way_again() -> None:
    assert wrong({"a": LIVE, "b": ERASED}, ["ba"]) is None
    assert wrong({"a": ENDED, "b": ERASED, "c": LIVE}, ["ba", "ca"]) is None


def test_what_an_unfinished_erasure_began_with_is_coherent() -> None:
    assert wrong({"a": {"state": "erased"}, "b": LIVE}, ["ba"]) is None


def test_a_fact_gives_way_once() -> None:
    assert wrong({"a": ENDED, "b": LIVE, "c": LIVE}, ["ba", "ca"]) == (
        "b and c both replaced fact a"
    )


@every("above", [["aa"], ["ba", "ab"], ["ba", "cb", "ac"]])
def test_a_history_has_a_beginning(above: list[str]) -> None:
    found = wrong({"a": ENDED, "b": ENDED, "c": ENDED}, above)
    assert str(found).startswith("each replaced the next: ")


def test_a_circle_through_erased_words_is_none_either() -> None:
    assert "each replaced the next" in str(wrong({"a": ERASED, "b": ERASED}, ["ba", "ab"]))


def test_a_long_circle_is_named_in_part() -> None:
    names = [f"f{number}" for number in range(3000)]
    lines = [line for name in names for line in fact(name, ENDED)]
    pairs = zip(names, names[1:] + names[:1], strict=True)
    found = str(wrong_with([*lines, *(link("SUPERSEDES", *pair) for pair in pairs)]))
    assert found.endswith(", …")
    assert len(found) < 100


def test_a_decision_that_writes_wrote_one_fact() -> None:
    lines = fact("a", LIVE)
    assert wrong_with(lines[:2]) == "no decision wrote fact a"
    assert wrong_with(lines[1:2]) == "decision d-a lacks the fact that it wrote"
    assert wrong_with([*lines, link("WROTE", "d-a", "a")]) == (
        "decision d-a writes no fact, or wrote another one"
    )
    other = fact("b", LIVE)
    assert wrong_with([*lines, other[1], link("WROTE", "d-b", "a")]) == "fact a was written twice"


def test_a_decision_that_refuses_wrote_nothing() -> None:
    written, decision, wrote = fact("a", LIVE)
    assert isinstance(decision, Node)
    refusing = Node(label="Decision", properties=decision.properties | {"action": "REJECT"})
    assert wrong_with([written, refusing, wrote]) == (
        "decision d-a writes no fact, or wrote another one"
    )
    assert wrong_with([refusing]) is None


@every(
    ("held", "is_whole"),
    [
        ({"action": "REJECT", "record": "{}"}, True),
        ({"action": "REJECT"}, False),
        ({"record": "{}"}, False),
    ],
)
def test_a_decision_is_kept_whole(held: dict[str, str], is_whole: bool) -> None:
    found = wrong_with([Node(label="Decision", properties={"decision_id": "d", **held})])
    assert found == (None if is_whole else "decision d has no record")


@every(("kind", "name"), [(kind, name) for kind, held in HELD.items() for name in held])
def test_a_link_holds_what_it_is_read_for(kind: str, name: str) -> None:
    held = {other: value for other, value in HELD[kind].items() if other != name}
    bent = Link(kind=kind, from_id="b", to_id="a", properties=held)
    facts = [*fact("a", ENDED), *fact("b", LIVE)]
    assert wrong_with([*facts, bent]) == f"a {kind} from b has no {name}"
    assert wrong_with([*facts, link(kind, "b", "a")]) is None


def test_a_session_of_a_task_needs_nobody() -> None:
    session = Node(label="Session", properties={"session_key": "s"})
    assert wrong_with([session]) == "Session s lacks its WITH or PART_OF"
    assert wrong_with([session, link("PART_OF", "s", "task")]) is None


def test_every_state_is_known_here() -> None:
    """A new state has to be placed: does such a fact hold, or has it ended?"""
    assert {str(state) for state in FactState} == {
        *("live", "expired", "archived"),
        *("superseded", "revoked", "erased"),
    }
